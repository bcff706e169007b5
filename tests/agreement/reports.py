#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What the analyzer reports of the sample captures, for comparison with the plugin.

Where the analyzer is not built, the reports that it made elsewhere do: ROCESCOPE_REPORTS
names their directory, and `reports.py --make DIRECTORY` makes them, with ROCESCOPE.  The
one rule: both ways a report is of the same command line."""

import json
import os
import subprocess
import sys
from pathlib import Path

SOURCE = Path(os.environ.get("ROCESCOPE_SOURCE", Path(__file__).resolve().parents[2]))
ANALYZER = Path(os.environ.get("ROCESCOPE", SOURCE / "build/release/bin/rocescope"))
MADE = os.environ.get("ROCESCOPE_REPORTS")

# More events than any sample has: none is left out.
OPTIONS = ("--quiet", "--json", "-", "--events", "1000000")


def captures():
    """Every sample capture."""
    return sorted((SOURCE / "captures").glob("*/*.pcap*.gz"))


def available():
    """Whether there is anything that report() could answer from."""
    return MADE is not None or ANALYZER.exists()


def report(path):
    """The report on one of captures(), as its JSON says it."""
    return json.loads(_made(Path(MADE), path).read_bytes()) if MADE else fresh(path)


def fresh(path):
    """The report on any capture: this takes the analyzer."""
    return json.loads(_run(path))


def _made(directory, path):
    return directory / f"{path.relative_to(SOURCE / 'captures')}.json"


def _run(path):
    return subprocess.run([ANALYZER, *OPTIONS, path], check=True,
                          stdout=subprocess.PIPE).stdout


def make(directory):
    for path in captures():
        to = _made(directory, path)
        to.parent.mkdir(parents=True, exist_ok=True)
        to.write_bytes(_run(path))


if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[1] != "--make":
        sys.exit(f"usage: {sys.argv[0]} --make DIRECTORY")
    make(Path(sys.argv[2]))
