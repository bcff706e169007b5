#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Each kind of finding fires, just does not fire, and cannot tell.

Rows are in rows_*.py, a list ROWS each.  Of every row's report all findings are looked at:
they are kinds of the table, no worse than it allows, and their filter shows their frames.

    tests/findings/test_findings.py [KIND...]     some kinds alone
    tests/findings/test_findings.py --keep DIR    leaves captures and reports there
"""

import collections
import importlib
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = pathlib.Path(os.environ.get("ROCESCOPE_SOURCE", HERE.parents[1]))
BINARY = os.environ.get("ROCESCOPE", str(SOURCE / "build/dev/bin/rocescope"))
sys.path[:0] = [str(HERE), str(SOURCE / "tests/sim")]

from row import CASES, FIRES  # noqa: E402

SEVERITIES = (None, "note", "warning", "critical")


def table():
    """Kind -> the worst severity that its rule names, from the program's own table."""
    text = subprocess.run([BINARY, "--list-findings"], check=True, capture_output=True,
                          text=True).stdout
    kinds = {}
    for kind, body in re.findall(r"^## `([^`]+)`\n(.*?)(?=^## |\Z)", text,
                                 re.MULTILINE | re.DOTALL):
        rule = re.search(r"\*\*Severity\*\*: (.*)", body)[1]
        kinds[kind] = max((s for s in SEVERITIES[1:] if re.search(rf"\b{s}\b", rule)),
                          key=SEVERITIES.index)
    return kinds


def all_rows():
    names = sorted(path.stem for path in HERE.glob("rows_*.py"))
    return [row for name in names for row in importlib.import_module(name).ROWS]


def files_of(made, directory):
    if isinstance(made, (str, pathlib.Path)):
        return [SOURCE / "captures" / made]
    if isinstance(made, bytes):
        magic = made[:4] == b"\x0a\x0d\x0d\x0a"
        made = {"capture.pcapng" if magic else "capture.pcap": made}
    for name, data in made.items():
        (directory / name).write_bytes(data)
    return [directory / name for name in made if name.endswith((".pcap", ".pcapng"))]


def report_of(row, directory):
    paths = files_of(row.make(), directory)
    arguments = [argument.replace("{dir}", str(directory)) for argument in row.args]
    done = subprocess.run([BINARY, "--quiet", *arguments, "--json", "-",
                           *map(str, paths)], stdin=subprocess.DEVNULL,
                          capture_output=True, timeout=300)
    (directory / "report.json").write_bytes(done.stdout)
    if done.returncode not in (0, 1, 3) or not done.stdout:
        raise RuntimeError(f"exit status {done.returncode}: "
                           f"{done.stderr.decode(errors='replace')[:500]}")
    return json.loads(done.stdout)


# What is counted is called "1 packet" and "12,345 packets".
THINGS = (r"([A-Za-z]+ )?(packets|frames|CNPs|ACKs|copies|times|episodes|pauses|streams|steps|"
          r"units)\b")
WRONG_COUNTS = [re.compile(rf"(?<![\w.,:-]){number} {THINGS}") for number in ("1", r"\d{4,}")]


def check_counts(finding):
    for key in ("title", "detail"):
        for wrong in WRONG_COUNTS:
            yield from (f"{finding['id']}: {key} has {match[0]!r}"
                        for match in wrong.finditer(finding[key]))


def check_form(finding, kinds):
    """What holds of every finding."""
    kind = finding["kind"]
    if kind not in kinds:
        yield f"{kind} is not in the table"
    elif SEVERITIES.index(finding["severity"]) > SEVERITIES.index(kinds[kind]):
        yield f"{kind} is {finding['severity']}, which its rule does not name"
    if finding["id"].split(":")[0] != kind:
        yield f"{finding['id']} is of kind {kind}"
    for key in ("title", "detail", "advice", "meaning", "rule"):
        if not finding[key] or "  %" in finding[key]:
            yield f"{finding['id']}: {key} {finding[key]!r}"
    yield from check_counts(finding)
    named = re.fullmatch(r"frame\.number in \{([\d, ]+)\}", finding["wireshark_filter"])
    if finding["frames"] and (
            not named or [int(n) for n in named[1].split(",")] != finding["frames"]):
        yield f"{finding['id']}: {finding['wireshark_filter']} for {finding['frames']}"
    for part in finding["files"]:
        filters = f"frame.number in {{{', '.join(map(str, part['frames']))}}}"
        if part["wireshark_filter"] != filters or part["frames"] != sorted(set(part["frames"])):
            yield f"{finding['id']}: {part}"


def check_files(report):
    """Frames are of their files; those of a single one are those of the finding."""
    packets = {f["path"]: f["packets"] for f in report["capture"]["files"]}
    for finding in report["findings"]:
        named = [part["frames"] for part in finding["files"]]
        if len(packets) == 1 and named != [finding["frames"]] * bool(finding["frames"]):
            yield f"{finding['id']}: {named}, not {finding['frames']}"
        yield from (f"{finding['id']}: {part}" for part in finding["files"]
                    if part["frames"][-1] > packets[part["file"]])


def check_order(findings, kinds):
    """Worst first; of one severity in the order of the table."""
    ranks = [(-SEVERITIES.index(f["severity"]), list(kinds).index(f["kind"]))
             for f in findings if f["kind"] in kinds]
    if ranks != sorted(ranks):
        yield f"out of order: {[f['id'] for f in findings]}"


def check_row(row, directory, kinds):
    report = report_of(row, directory)
    for finding in report["findings"]:
        yield from check_form(finding, kinds)
    yield from check_order(report["findings"], kinds)
    yield from check_files(report)
    ids = [f["id"] for f in report["findings"]]
    yield from (f"{n} findings are {i}" for i, n in collections.Counter(ids).items() if n > 1)
    found = [f for f in report["findings"] if f["kind"] == row.finding]
    worst = max((f["severity"] for f in found), key=SEVERITIES.index, default=None)
    if worst != row.worst:
        others = sorted(f["id"] for f in report["findings"])
        yield f"{worst}, not {row.worst}; there are {others}"
    elif row.also is not None:
        yield from row.also(report, found)


def missing_rows(rows, kinds):
    """Kinds without one of the three cases, and rows about kinds that do not exist."""
    have = {(row.finding, row.case) for row in rows}
    for kind in kinds:
        lacking = [case for case in CASES if (kind, case) not in have]
        if lacking:
            yield f"{kind}: no row for {lacking}"
        if any(row.finding == kind and row.case == FIRES and row.worst is None
               for row in rows):
            yield f"{kind}: a row fires without a severity"
    yield from (f"{kind}: there is no such finding" for kind, _case in sorted(have)
                if kind not in kinds)


def main(arguments):
    keep = None
    if arguments[:1] == ["--keep"]:
        keep, arguments = pathlib.Path(arguments[1]), arguments[2:]
    kinds, rows = table(), all_rows()
    failed = list(missing_rows(rows, kinds)) if not arguments else []
    for problem in failed:
        print(f"FAILED {problem}")
    chosen = [row for row in rows if not arguments or row.finding in arguments]
    for i, row in enumerate(chosen):
        with tempfile.TemporaryDirectory(prefix="rocescope-") as scratch:
            directory = pathlib.Path(scratch)
            if keep is not None:
                directory = keep / f"{row.finding}-{i}"
                directory.mkdir(parents=True, exist_ok=True)
            problems = list(check_row(row, directory, kinds))
        if problems:
            failed.append(row)
            print(f"FAILED {row.finding}, {row.case}: {row.why}")
            print("\n".join(f"    {problem}" for problem in problems))
    print(f"{len(chosen)} rows of {len(kinds)} kinds, {len(failed)} failures")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
