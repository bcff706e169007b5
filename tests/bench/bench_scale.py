#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What a batch of thousands of hosts takes, by what one host and a merge of thousands of
parts take here.

    tests/bench/bench_scale.py [--hosts N] [--page docs/scale.md]

Each host has a capture of its own, with addresses of its own, that is made, analysed as a
batch of one capture, and removed; what it leaves is a part.  Then all parts are merged, and
a quarter and a half of them: what grows faster than they do would show.

--page puts the tables into docs/scale.md."""

import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

import page

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = pathlib.Path(os.environ.get("ROCESCOPE_SOURCE", HERE.parents[1]))
BUILD = pathlib.Path(os.environ.get("ROCESCOPE_BUILD", SOURCE / "build/release"))
BINARY = os.environ.get("ROCESCOPE", str(BUILD / "bin/rocescope"))
MAKER = str(BUILD / "tests/bench_captures")

# What each host's capture is: the host and eight others, with so many queue pairs.
PEERS = 9
QUEUE_PAIRS = 64
PACKETS = 5_000
# One capture that is long enough for what a packet takes.
LONG_PACKETS = 2_000_000
RECORD_BYTES = 140  # of the captures with headers alone, records' own headers included

FLEET = 10_000  # hosts
HOUR_S = 3600
RATES = (10_000, 100_000, 1_000_000)  # packets a second, at each host


def timed(command, cwd):
    """Seconds of processor time and by the clock, and bytes of memory at the peak."""
    begin = time.monotonic()
    child = subprocess.Popen(command, cwd=cwd, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode not in (0, 1):
        sys.exit(f"{command} ended with {child.returncode}")
    return (usage.ru_utime + usage.ru_stime, time.monotonic() - begin,
            usage.ru_maxrss * 1024)


def make(path, packets, first_host):
    subprocess.run([MAKER, "lossy", "--packets", str(packets), "--qps", str(QUEUE_PAIRS),
                    "--hosts", str(PEERS), "--first-host", str(first_host), path], check=True)


def size_of(directory):
    return sum(p.stat().st_size for p in pathlib.Path(directory).rglob("*") if p.is_file())


def of_a_packet(work):
    """Processor time for each packet, and memory, of a batch with one worker."""
    make(work / "long.pcap", LONG_PACKETS, 0)
    cpu, _, memory = timed([BINARY, "batch", "--quiet", "-j1", "long.pcap", "-o", "long"], work)
    size = (work / "long.pcap").stat().st_size
    (work / "long.pcap").unlink()
    return cpu / LONG_PACKETS, memory, size / LONG_PACKETS


def make_parts(work, n):
    for i in range(n):
        host = work / f"host{i:05}"
        host.mkdir()
        make(host / "x.pcap", PACKETS, PEERS * i)
        timed([BINARY, "batch", "--quiet", "-j1", host.name, "-o", f"parts/{i:05}"], work)
        shutil.rmtree(host)


def merged(work, n):
    parts = [f"parts/{i:05}" for i in range(n)]
    cpu, clock, memory = timed([BINARY, "merge", "--quiet", *parts, "-o", "merged"], work)
    size = sum(p.stat().st_size for p in (work / "merged").iterdir() if p.is_file())
    shutil.rmtree(work / "merged")
    return {"parts": n, "cpu": cpu, "clock": clock, "memory": memory, "size": size}


def mega(n_bytes):
    return f"{n_bytes / 1e6:,.1f} MB" if n_bytes < 1e9 else f"{n_bytes / 1e9:,.1f} GB"


def merge_rows(merges):
    return [[f"{m['parts']:,}", f"{m['parts'] * QUEUE_PAIRS:,}", f"{m['cpu']:.1f} s",
             f"{1e3 * m['cpu'] / m['parts']:.1f} ms", f"{m['clock']:.1f} s",
             mega(m["memory"]), mega(m["size"])] for m in merges]


def fleet_rows(packet_s, record_bytes):
    rows = []
    for rate in RATES:
        packets = rate * HOUR_S * FLEET
        core_s = packets * packet_s
        size = packets * record_bytes
        rows.append([f"{rate:,}", f"{rate * HOUR_S / 1e6:,.0f} million",
                     mega(rate * HOUR_S * record_bytes), f"{size / 1e12:,.0f} TB",
                     f"{core_s / HOUR_S:,.0f}", f"{size / HOUR_S / 1e9:,.1f} GB/s"])
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--hosts", type=int, default=2000, metavar="N")
    parser.add_argument("--page", type=pathlib.Path, metavar="FILE")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="rocescope-scale-", dir=BUILD) as name:
        work = pathlib.Path(name)
        packet_s, memory, record_bytes = of_a_packet(work)
        make_parts(work, arguments.hosts)
        part_bytes = size_of(work / "parts") / arguments.hosts
        kept_bytes = sum(size_of(p / ".rocescope") for p in (work / "parts").iterdir())
        merges = [merged(work, arguments.hosts // k) for k in (4, 2, 1)]
    one = [["a packet, processor time", f"{packet_s * 1e9:,.0f} ns"],
           ["a worker's memory at its peak", mega(memory)],
           [f"reports and part of a capture of {QUEUE_PAIRS} queue pairs", mega(part_bytes)],
           ["of them, what the merge reads line by line",
            mega(kept_bytes / arguments.hosts)]]
    tables = {
        "one": page.table(["one host", "takes"], one),
        "merge": page.table(["parts", "streams", "processor time", "for each", "by the clock",
                             "memory", "index, summaries, database"], merge_rows(merges)),
        "fleet": page.table(["packets/s at each host", "packets", "capture",
                             f"all {FLEET:,} captures", "core-hours", "to read in an hour"],
                            fleet_rows(packet_s, record_bytes)),
    }
    for name, table in tables.items():
        print(table, "\n")
        if arguments.page:
            page.put(arguments.page, name, table)


main()
