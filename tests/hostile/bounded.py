# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs the program on hostile input, and checks what holds whatever the input is: one of
the documented exit statuses, plain lines on standard error, memory and time within
bounds, and a report without a number that cannot be."""

import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile
import unicodedata

SOURCE = pathlib.Path(os.environ.get("ROCESCOPE_SOURCE",
                                     pathlib.Path(__file__).resolve().parents[2]))
BINARY = os.environ.get("ROCESCOPE", str(SOURCE / "build/dev/bin/rocescope"))
for folder in ("sim", "html", "extract"):
    sys.path.insert(0, str(SOURCE / "tests" / folder))

try:
    import jsonschema
    VALIDATORS = {key: jsonschema.Draft202012Validator(
        json.loads((SOURCE / "docs" / name).read_text())) for key, name in (
            ("streams", "report.schema.json"), ("segments", "compare.schema.json"))}
except ImportError:
    VALIDATORS = {}              # tests/schema says so

# AddressSanitizer has memory of its own, more than any bound, and takes its time.
SANITIZED = b"__asan" in pathlib.Path(BINARY).read_bytes()
SMALLER = 10 if SANITIZED else 1
MIB = 1 << 20
# Ten times what the longest row takes, and more: what reaches it hangs.
LONGEST_S = 1200 if SANITIZED else 240
STATUSES = {"analyze": (0, 3), "compare": (0, 3), "batch": (0, 3), "extract": (0, 2, 3)}
SHORT = ("--max-streams", "40", "--events", "200", "--link-speed", "100G")
SCRATCH = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


def equal(what, got, want):
    assert got == want, f"{what}: {got!r}, not {want!r}"


def scratch():
    return tempfile.TemporaryDirectory(prefix="rocescope-hostile-", dir=SCRATCH)


class Run:
    """One call of the program, at its end; `peak_bytes` is its largest resident set,
    `seconds` what it took of the processor."""

    def __init__(self, *arguments, most_bytes=0, **how):
        self.arguments = tuple(map(os.fspath, arguments))
        with tempfile.NamedTemporaryFile("r") as measured:
            done = subprocess.run(
                [sys.executable, "-I", "-S", SOURCE / "tests/hostile/measure.py", measured.name,
                 BINARY, *self.arguments],
                stdin=subprocess.DEVNULL, capture_output=True, timeout=LONGEST_S, **how)
            status, peak_bytes, seconds = measured.read().split()
        self.status, self.peak_bytes = int(status), int(peak_bytes)
        self.seconds = float(seconds)
        self.out, self.errors = done.stdout, done.stderr
        self.check(most_bytes)

    def check(self, most_bytes):
        command = self.arguments[0] if self.arguments[0] in STATUSES else "analyze"
        assert self.status in STATUSES[command], \
            f"{self}: status {self.status} after {self.seconds:.1f} s: {self.errors[-2000:]!r}"
        check_plain(f"standard error of {self}", self.errors)
        if most_bytes and not SANITIZED:
            assert self.peak_bytes <= most_bytes, \
                f"{self}: {self.peak_bytes / MIB:.0f} MiB, not at most {most_bytes / MIB:.0f}"

    def __str__(self):
        return " ".join(a if len(a) < 60 else a[:60] + "..." for a in self.arguments)


def steering(text):
    """Characters of a text that may steer who shows it: controls, formats (as those that
    turn its direction), separators of lines, and what is no character; ends of lines are
    not among them."""
    return {c for c in set(text) - {"\n"}
            if unicodedata.category(c) in ("Cc", "Cf", "Cs", "Cn", "Zl", "Zp")}


def check_plain(what, text):
    """Text for people: whole lines of UTF-8 without anything that steers a terminal."""
    lines = text.decode("utf-8") # strict: what is not UTF-8 does not pass
    odd = sorted(steering(lines))
    assert not odd, f"{what}: {odd!r} in {text[:300]!r}"
    assert not lines or lines.endswith("\n"), f"{what}: {lines[-100:]!r} is no whole line"


# Keys of the report whose numbers may be below zero, by their meaning.
SIGNED = {"offset_ns", "drift_ppb", "clock_offset_ns", "slope"}


def impossible(value, path=""):
    """Where a report has a number that cannot be."""
    if isinstance(value, dict):
        return [x for key, item in value.items() for x in impossible(item, f"{path}/{key}")]
    if isinstance(value, list):
        return [x for i, item in enumerate(value) for x in impossible(item, f"{path}/{i}")]
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return []
    signed = path.rsplit("/", 1)[-1] in SIGNED
    least = -2**63 if signed else 0
    wrong = not math.isfinite(value) or not least <= value < 2**63
    return [f"{path}: {value}"] if wrong else []


def shortened(value):
    """A report with the first and the last elements of its lists: they are alike, and
    validating takes its time."""
    if isinstance(value, dict):
        return {key: shortened(item) for key, item in value.items()}
    if isinstance(value, list):
        return [shortened(item) for item in (value if len(value) < 60
                                             else value[:50] + value[-10:])]
    return value


def no_constant(name):
    raise ValueError(f"{name} in JSON")


def read_report(text):
    """A report, checked: valid by its schema, with possible numbers alone."""
    report = json.loads(text, parse_constant=no_constant)
    equal("impossible numbers", impossible(report)[:5], [])
    faults = [f"{list(e.absolute_path)}: {e.message[:120]}"
              for key, validator in VALIDATORS.items() if (key == "segments") == (
                  "segments" in report) for e in validator.iter_errors(shortened(report))]
    equal("against the schema", faults[:5], [])
    return report


def analyzed(folder, *files, most_bytes=0, more=()):
    """Every form of the report at once; gives the JSON one, the page and the tables are
    left in `folder`."""
    done = Run(*files, *SHORT, *more, "--json", folder / "r.json", "--html",
               folder / "r.html", "--csv", folder / "csv", most_bytes=most_bytes)
    check_plain("the text report", done.out)
    return done, read_report((folder / "r.json").read_text(encoding="utf-8"))
