#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Reports are the same bytes with any number of threads.

Under the preset `threads` (make check-threads) the same runs tell of data races.
"""

import gzip
import os
import pathlib
import subprocess
import sys
import tempfile

import late_points

SOURCE = pathlib.Path(os.environ.get("ROCESCOPE_SOURCE",
                                     pathlib.Path(__file__).resolve().parents[2]))
BUILD = pathlib.Path(os.environ.get("ROCESCOPE_BUILD", SOURCE / "build/release"))
BINARY = os.environ.get("ROCESCOPE", str(BUILD / "bin/rocescope"))
MAKER = str(BUILD / "tests/bench_captures")
THREADS = (1, 2, 3, 64)
FAILED = []
# GLib's own allocator, which TSan does not see into, hands memory from thread to thread.
TSAN = {"G_SLICE": "always-malloc", "TSAN_OPTIONS": "history_size=4"}

# What comes in several files; each sample alone is looked at as well.
TOGETHER = {
    "two ends": ["03a_loss_data_0.5pct/sender.pcap.gz",
                 "03a_loss_data_0.5pct/receiver.pcap.gz"],
    "strangers": ["01_write_rc_cm/sender.pcap.gz", "sim_incast_pfc/switch.pcapng.gz",
                  "06a_ecn_netem/receiver.pcap.gz", "13_cm_reject/sender.pcap.gz"],
}
MADE = {"headers": (20000, 256), "lossy": (20000, 64), "reads": (20000, 64),
        "full": (4000, 32)}


def report(arguments, threads, processors=None):
    """JSON, text and HTML of one run."""
    with tempfile.TemporaryDirectory() as directory:
        json_path, html_path = f"{directory}/report.json", f"{directory}/report.html"
        pinned = ["taskset", "-c", processors] if processors is not None else []
        done = subprocess.run(
            [*pinned, BINARY, "--threads", str(threads), "--events", "100000", "--json",
             json_path, "--html", html_path, *map(str, arguments)], check=False,
            cwd=SOURCE, capture_output=True, timeout=600,
            env=dict(os.environ, COLUMNS="100", LC_ALL="C.UTF-8", **TSAN))
        if done.returncode != 0:
            FAILED.append("status")
            print(f"FAILED {arguments}, {threads} threads: {done.stderr.decode()}")
            return None
        return (pathlib.Path(json_path).read_bytes(), done.stdout,
                pathlib.Path(html_path).read_bytes())


def compare(name, arguments):
    alone = report(arguments, 1)
    others = [(f"{n} threads", report(arguments, n)) for n in THREADS[1:]]
    others.append(("3 threads on one processor", report(arguments, 3, one_processor())))
    for what, other in others:
        if other != alone:
            FAILED.append(name)
            print(f"FAILED {name}: with {what} the report is another")


def one_processor():
    return str(min(os.sched_getaffinity(0)))


def samples():
    for path in sorted((SOURCE / "captures").glob("*/*.gz")):
        yield path.relative_to(SOURCE / "captures"), [path]
    for name, paths in TOGETHER.items():
        yield name, [SOURCE / "captures" / path for path in paths]


def made(directory):
    for kind, (packets, qps) in MADE.items():
        path = f"{directory}/{kind}.pcap"
        subprocess.run([MAKER, kind, "--packets", str(packets), "--qps", str(qps), path],
                       check=True)
        yield kind, [path]
        yield f"{kind}, filtered", ["--filter", "greater 60", path]
        packed = pathlib.Path(f"{path}.gz")  # one of the threads unpacks
        packed.write_bytes(gzip.compress(pathlib.Path(path).read_bytes(), 1))
        yield f"{kind}, packed", [packed]
    for name, make in late_points.CAPTURES.items():
        path = pathlib.Path(directory, name.replace(" ", "_") + ".pcapng")
        path.write_bytes(make())
        yield name, ["--icrc", "off", "--link-speed", "100G", path]


def main():
    n = 0
    with tempfile.TemporaryDirectory() as directory:
        for name, arguments in [*samples(), *made(directory)]:
            compare(name, arguments)
            n += 1
    print(f"{n} captures, {len(FAILED)} failures")
    return 1 if FAILED else 0


if __name__ == "__main__":
    sys.exit(main())
