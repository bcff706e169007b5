#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Memory that rocescope takes for each stream more.

    tests/bench/memory.py [ROW...]

Each row is measured with some streams and with many more.  What the second run has more at
its peak, divided by how many streams more there were, may not be more than the row's bound.
Unlike times, that does not depend on what else the machine does: it is what was reached,
and a twentieth for what allocators and libraries differ in; but a kilobyte of each of a
million, and of streams beyond those that every topic looks at, which is promised.

What all streams share, such as the room for histories, the first thousand fill where
streams are long, and so do not count for those behind them.

Sanitizers take memory of their own, so that this is a test of the preset release alone."""

import argparse
import functools
import json
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = pathlib.Path(os.environ.get("ROCESCOPE_SOURCE", HERE.parents[1]))
BUILD = pathlib.Path(os.environ.get("ROCESCOPE_BUILD", SOURCE / "build/release"))
BINARY = os.environ.get("ROCESCOPE", str(BUILD / "bin/rocescope"))
MAKER = str(BUILD / "tests/bench_captures")

FIRST = 1000  # queue pairs; of a few no packet comes

# Name -> queue pairs at first, and packets of each; queue pairs in all, and packets of each;
# bytes for each stream more.  Arrays that double have their room in the last row as often as
# in its first run: both have the same place between two powers of two.
ROWS = {
    "short": (FIRST, 4, 100_000, 4, 1750),
    "short, many": (FIRST, 4, 300_000, 4, 1350),
    "a million": (FIRST, 4, 1_000_000, 4, 1024),
    "long": (FIRST, 1200, 30_000, 80, 3870),
    "further": (300_000, 4, 600_000, 4, 1024),
}


def make(path, queue_pairs, packets):
    """How many streams are in it."""
    out = subprocess.run([MAKER, "many", "--qps", str(queue_pairs), "--packets",
                          str(packets), "--truth", path], check=True,
                         capture_output=True, text=True).stdout
    return json.loads(out)["senders"]


def peak_bytes(path):
    """The largest resident set, as the kernel counts it."""
    process = subprocess.Popen([BINARY, "--quiet", path])
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"{BINARY} {path}: exit status {process.returncode}")
    return usage.ru_maxrss * 1024


@functools.cache
def measure(directory, queue_pairs, packets):
    """Streams, and bytes at the peak; several rows begin where another one does or ends."""
    path = os.path.join(directory, "streams.pcap")
    streams = make(path, queue_pairs, packets)
    try:
        return streams, peak_bytes(path)
    finally:
        os.unlink(path)


def per_stream(directory, first, first_packets, queue_pairs, packets):
    few, least = measure(directory, first, first * first_packets)
    many, most = measure(directory, queue_pairs, queue_pairs * packets)
    return (most - least) / (many - few)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("rows", nargs="*", metavar="ROW", help=", ".join(ROWS))
    rows = parser.parse_args().rows or list(ROWS)
    failed = False
    with tempfile.TemporaryDirectory() as directory:
        for name in rows:
            *plan, most = ROWS[name]
            got = per_stream(directory, *plan)
            failed |= got > most
            print(f"{'FAILED ' if got > most else ''}{name}: {got:,.0f} bytes of each "
                  f"stream more, at most {most:,}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
