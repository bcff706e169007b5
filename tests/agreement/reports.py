#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What the analyzer reports of the sample captures, for comparison with the plugin.

Where the analyzer is not built, the reports that it made elsewhere do: ROCESCOPE_REPORTS
names their directory, and `reports.py --make DIRECTORY` makes them, with ROCESCOPE.  The
one rule: both ways a report is of the same command line.  fresh() alone takes the
analyzer, so tests that run without it do not call it."""

import gzip
import json
import os
import struct
import subprocess
import sys
from pathlib import Path

SOURCE = Path(os.environ.get("ROCESCOPE_SOURCE", Path(__file__).resolve().parents[2]))
ANALYZER = Path(os.environ.get("ROCESCOPE", SOURCE / "build/release/bin/rocescope"))
MADE = os.environ.get("ROCESCOPE_REPORTS")

# More events than any sample has: none is left out.
OPTIONS = ("--quiet", "--json", "-", "--events", "1000000")

# Samples of which there is a report with stamps cut to the microsecond, too.
CUT = ("02h_multiqp/sender.pcap.gz",)


def captures():
    """Every sample capture."""
    return sorted((SOURCE / "captures").glob("*/*.pcap*.gz"))


def available():
    """Whether there is anything that report() could answer from."""
    return MADE is not None or ANALYZER.exists()


def report(path):
    """The report on one of captures(), as its JSON says it."""
    return json.loads(_made(Path(MADE), path).read_bytes()) if MADE else fresh(path)


def cut_report(name):
    """The report on one of CUT, as in_microseconds() has it."""
    return json.loads(_made_cut(Path(MADE), name).read_bytes() if MADE else _run_cut(name))


def fresh(path):
    """The report on any capture: this takes the analyzer."""
    return json.loads(_run(path))


def in_microseconds(name):
    """The bytes of a sample, a pcap file, with stamps that are cut to the microsecond."""
    data = bytearray(gzip.decompress((SOURCE / "captures" / name).read_bytes()))
    assert data[:4] == struct.pack("<I", 0xa1b23c4d), "a pcap file with nanoseconds"
    struct.pack_into("<I", data, 0, 0xa1b2c3d4)
    at = 24
    while at < len(data):
        ns, captured = struct.unpack_from("<II", data, at + 4)
        struct.pack_into("<I", data, at + 4, ns // 1000)
        at += 16 + captured
    return bytes(data)


def _made(directory, path):
    return directory / f"{path.relative_to(SOURCE / 'captures')}.json"


def _made_cut(directory, name):
    return directory / f"{name}.microseconds.json"


def _run(path, data=None):
    return subprocess.run([ANALYZER, *OPTIONS, path], check=True, input=data,
                          stdout=subprocess.PIPE).stdout


def _run_cut(name):
    return _run("-", in_microseconds(name))


def make(directory):
    for path in captures():
        to = _made(directory, path)
        to.parent.mkdir(parents=True, exist_ok=True)
        to.write_bytes(_run(path))
    for name in CUT:
        _made_cut(directory, name).write_bytes(_run_cut(name))


if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[1] != "--make":
        sys.exit(f"usage: {sys.argv[0]} --make DIRECTORY")
    make(Path(sys.argv[2]))
