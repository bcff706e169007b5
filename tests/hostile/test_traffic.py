#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Traffic that wants to break the program: each row of rows_traffic.py is analyzed with
every kind of report, compared, extracted and run through a batch, within its bounds of
memory and time, and the report says what is true of it."""

import sys

from bounded import MIB, SANITIZED, SMALLER, Run, analyzed, equal, read_report
import rows_traffic
import traffic

LEAST = 400                      # packets of a row that a sanitizer slows down


def everywhere(folder, path, most_bytes):
    """The commands beside analyze."""
    other = folder / "y.pcap"
    other.write_bytes(path.read_bytes())
    done = Run("compare", path, other, "--json", folder / "c.json", most_bytes=2 * most_bytes)
    compared = read_report((folder / "c.json").read_text()) if done.status == 0 else None
    if compared:
        equal("lost between copies", sum(s["lost"] or 0 for s in compared["segments"]), 0)
    Run("extract", path, "--stream", "0", "-w", folder / "o.pcapng", most_bytes=most_bytes)
    Run("batch", path, "-o", folder / "batch", most_bytes=most_bytes)


def check_growth(path, frames, whole):
    """Half the packets take hardly less than half the memory: it grows with their number,
    or not at all."""
    half = Run(traffic.write(path, frames[:len(frames) // 2]), "--quiet")
    if not SANITIZED:
        assert whole.peak_bytes <= 2.5 * half.peak_bytes, \
            f"{half.peak_bytes // MIB} MiB for half, {whole.peak_bytes // MIB} for all"


def check(row, folder):
    n = max(min(row.n, LEAST), row.n // SMALLER)
    frames = row.make(n)
    path = traffic.write(folder / "x.pcap", frames)
    most_bytes = row.most_mib * MIB
    done, report = analyzed(folder, path, most_bytes=most_bytes)
    equal("status", done.status, 0)
    row.truth(report, frames)
    check_growth(path, frames, done)
    everywhere(folder, traffic.write(path, frames[:min(n, 2000)]), most_bytes)
    return done


sys.exit(rows_traffic.ROWS.main(check, "hostile traffic is reported honestly"))
