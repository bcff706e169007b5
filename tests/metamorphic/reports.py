# SPDX-License-Identifier: GPL-2.0-or-later
"""Reports of changed captures, and what the original's becomes by the change.

    Kinds(stamp=lambda ns: ns + day).of(report)

is the report that has to come of a capture that is a day later.  Whatever a report says
is of one of few kinds, by its key: a time stamp, the number of a frame, a QPN, a PSN, a
text.  A change maps some of them, and all else has to stay.
"""

import dataclasses
import json
import re
import subprocess
import typing

from bounded import BINARY

STAMPS = re.compile(r".*_ts_ns|(.*_)?start_ns|(end|time|from|until|first_fired|pause|mark)_ns")
FRAMES = re.compile(r"(\w+_)?frames?")
NOT_FRAMES = ("more_frames", "pfc_frames", "pause_frames", "frames_of_other_ports")
QPNS = re.compile(r"(src_|dst_)?qpn")
PSNS = re.compile(r"psn|starting_psn_\w+")


def same(value):
    return value


@dataclasses.dataclass(frozen=True)
class Kinds:
    """What becomes of values; null stays null."""
    stamp: typing.Callable = same
    frame: typing.Callable = same
    qpn: typing.Callable = same
    psn: typing.Callable = same
    text: typing.Callable = same

    def _by_key(self, key):
        for pattern, of in ((STAMPS, self.stamp), (QPNS, self.qpn), (PSNS, self.psn)):
            if pattern.fullmatch(key):
                return of
        return self.frame if FRAMES.fullmatch(key) and key not in NOT_FRAMES else same

    def of(self, value, key=""):
        if isinstance(value, dict):
            return {self.text(k): self.of(item, k) for k, item in value.items()}
        if isinstance(value, list):
            return [self.of(item, key) for item in value]
        if isinstance(value, str):
            return self.text(value)
        return value if value is None or isinstance(value, bool) else self._by_key(key)(value)


class Room:
    """A directory, files in it, and the reports of them."""

    def __init__(self, folder):
        self.folder = folder

    def report(self, files, *options):
        """`files`: name -> bytes, in the order of the command line."""
        for name, data in files.items():
            (self.folder / name).write_bytes(data)
        done = subprocess.run(
            [BINARY, "--quiet", "--json", "-", "--events", "1000000", *options, *files],
            cwd=self.folder, capture_output=True, timeout=600)
        assert done.returncode == 0, f"status {done.returncode}: {done.stderr[-500:]!r}"
        for name in files:
            (self.folder / name).unlink()
        return json.loads(done.stdout)

    def of(self, sample, *options):
        return self.report({sample.file_name: sample.bytes()}, *options)


def differences(got, want, where=""):
    """(path, what it is, what it should be) of each leaf that differs."""
    if isinstance(got, dict) and isinstance(want, dict):
        for key in sorted(got.keys() | want.keys()):
            yield from differences(got.get(key), want.get(key),
                                   f"{where}.{key}" if where else key)
    elif isinstance(got, list) and isinstance(want, list) and len(got) == len(want):
        for i, (g, w) in enumerate(zip(got, want)):
            yield from differences(g, w, f"{where}.{i}")
    elif got != want or type(got) is not type(want):
        yield where, got, want


def unexplained(got, want, may_differ=()):
    """Lines for the differences of two reports; `may_differ` are patterns of paths, each
    with all below it."""
    pattern = re.compile("|".join(rf"(?:{p})(?:\..*)?" for p in may_differ) or r"(?!)")
    return [f"{path}: {str(g)[:150]}, not {str(w)[:150]}" for path, g, w in differences(got, want)
            if not pattern.fullmatch(path)]
