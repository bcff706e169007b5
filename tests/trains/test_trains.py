#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Reports say the same whether packets are tracked in trains or one by one."""

import os
import pathlib
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(os.environ.get("ROCESCOPE_SOURCE",
                                     pathlib.Path(__file__).resolve().parents[2]))
sys.path.insert(0, str(SOURCE / "tests/sim"))

# pylint: disable=wrong-import-position
import chatter  # noqa: E402
from rows import ROWS  # noqa: E402
from sim import simulate  # noqa: E402

BUILD = pathlib.Path(os.environ.get("ROCESCOPE_BUILD", SOURCE / "build/release"))
BINARY = os.environ.get("ROCESCOPE", str(BUILD / "bin/rocescope"))
MAKER = str(BUILD / "tests/bench_captures")
ONE_BY_ONE = ("--one-by-one",)
SANITIZED = b"__asan" in pathlib.Path(BINARY).read_bytes()
N_CHATTERS = 120
OPTIONS = ((), ("--icrc", "off"), ("--icrc", "sample"), ("--threads", "1"),
           ("--dscp-map", "26:3,48:6"), ("--link-speed", "100G"))
MADE = {"headers": (20000, 64), "lossy": (60000, 32), "reads": (10000, 32),
        "full": (4000, 32), "sprayed": (20000, 32),
        "sprayed-reads": (20000, 32)}
DAMAGED = [row for row in ROWS if row.name.startswith("psns_damaged")]
SHARE = 4 if SANITIZED else 1  # of that in what takes ten times as long


def report(paths, options):
    """JSON, text and HTML."""
    with tempfile.TemporaryDirectory() as directory:
        json_path, html_path = f"{directory}/report.json", f"{directory}/report.html"
        done = subprocess.run(
            [BINARY, "--quiet", "--events", "100000", "--json", json_path, "--html", html_path,
             *options, *paths], check=False, capture_output=True, timeout=600,
            env=dict(os.environ, COLUMNS="100", LC_ALL="C.UTF-8"))
        if done.returncode != 0:
            return done.returncode, done.stderr
        return (pathlib.Path(json_path).read_bytes(), done.stdout,
                pathlib.Path(html_path).read_bytes())


def split(path, seed):
    for i, data in enumerate(chatter.in_files(path.read_bytes(), seed)):
        part = path.with_name(f"{path.stem}-{i}.pcap")
        part.write_bytes(data)
        yield part


def captures(directory):
    """Lists of files that make one capture."""
    for path in sorted((SOURCE / "captures").glob("*/*.gz")):
        yield [path]
    for kind, (packets, qps) in MADE.items():
        path = f"{directory}/{kind}.pcap"
        subprocess.run([MAKER, kind, "--packets", str(packets // SHARE), "--qps", str(qps), path],
                       check=True)
        yield [path]
    for row in DAMAGED:
        for name, data in simulate(row.scenario(1)).captures().items():
            path = pathlib.Path(directory, f"{row.name}-{name}.pcap")
            path.write_bytes(data)
            yield [path]
    path = pathlib.Path(directory, "unpaired.pcap")
    path.write_bytes(chatter.unpaired())
    yield [path]
    for seed in range(int(os.environ.get("ROCESCOPE_CHATTERS", N_CHATTERS // SHARE))):
        path = pathlib.Path(directory, f"chatter-{seed}.pcap")
        path.write_bytes(chatter.chatter(seed))
        yield [path]
        if seed % 3 == 0:
            yield list(split(path, seed))
        elif seed % 3 == 1:
            path.write_bytes(chatter.mirrored(path.read_bytes(), seed))
            yield [path]
        else:
            path.write_bytes(chatter.with_directions(path.read_bytes(), seed))
            yield [path]


def main():
    n = failed = 0
    with tempfile.TemporaryDirectory() as directory:
        for n, paths in enumerate(captures(directory), 1):
            options = OPTIONS[n % len(OPTIONS)]
            if report(paths, options) != report(paths, (*options, *ONE_BY_ONE)):
                failed += 1
                print(f"FAILED {' '.join(map(str, (*options, *paths)))}: one by one the"
                      " report is another")
    print(f"{n} captures, {failed} failures")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
