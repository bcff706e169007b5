# SPDX-License-Identifier: GPL-2.0-or-later
"""What the tests of the plugin share: one tshark, captures for it, comparisons.

The one rule: only captures of the tree are read; whatever else is needed is built by
packets.py.  ROCESCOPE_PLUGIN is the plugin, ROCESCOPE_SOURCE the source tree; a test ends
with 77, skipped, where there is no tshark."""

import itertools
import os
import shutil
import unittest
from pathlib import Path

import packets as pk
from tshark import Tshark, number

SOURCE = Path(os.environ.get("ROCESCOPE_SOURCE", Path(__file__).resolve().parents[2]))
PLUGIN = Path(os.environ.get("ROCESCOPE_PLUGIN", SOURCE / "build/plugin/rocescope.so"))
SKIPPED = 77

# Eight quanta for a PFC frame.
QUANTA = [10, 0, 0, 65535, 0, 0, 0, 7]


class Lazy:
    """Stands for the one Tshark, which main() opens and closes."""

    def __init__(self):
        self.tshark = None

    def __getattr__(self, name):
        return getattr(self.tshark, name)


TS = Lazy()


def write(name, frames, **options):
    path = TS.path(name)
    pk.write_pcap(path, frames, **options)
    path.chmod(0o644)
    return path


def capture(name, end="sender"):
    """A capture of the tree, where tshark may read it."""
    copy = TS.path(f"{name}.{end}.pcap.gz")
    if not copy.exists():
        TS.copy(SOURCE / "captures" / name / f"{end}.pcap.gz", copy.name)
    return copy


def only(frame, names, *arguments, **options):
    """The fields of a single frame."""
    rows = TS.fields(write("one.pcap", [frame]), names, *arguments, **options)
    return rows[0]


class Check(unittest.TestCase):
    maxDiff = 4000

    def values(self, frame, want, *arguments):
        """A frame's fields are as `want` says: a number, a text or None for none."""
        row = only(frame, list(want), *arguments)
        for name, value in want.items():
            with self.subTest(name):
                if value is None:
                    self.assertEqual(row[name], [])
                elif isinstance(value, int):
                    self.assertEqual([number(v) for v in row[name]], [value])
                else:
                    self.assertEqual(row[name], [value])

    def same_text(self, got, want):
        """As assertEqual, but it takes no minutes to find out how long texts differ."""
        lines = list(itertools.zip_longest(got.splitlines(), want.splitlines()))
        for number, (one, other) in enumerate(lines, 1):
            if one != other:
                self.fail(f"line {number}: {one!r}, not {other!r}")


def main():
    """Runs the tests of the module that was started; its exit status."""
    if shutil.which("tshark") is None:
        print("skipped: no tshark")
        return SKIPPED
    if not PLUGIN.exists():
        print(f"{PLUGIN} is not there")
        return 1
    os.umask(0o022)
    TS.tshark = Tshark(PLUGIN)
    try:
        done = unittest.main(module="__main__", exit=False)
        return 0 if done.result.wasSuccessful() else 1
    finally:
        TS.close()
