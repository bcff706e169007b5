#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""How much longer tshark takes with the plugin than without: the same commands, side by
side, turn by turn, as ratios of processor time.  The least of all turns counts, since
other work on the machine only adds.

    tests/bench/bench_plugin.py [--turns N] [--profile] [CAPTURE]

Without a capture one is simulated: WRITEs, SENDs and READs of whole packets, one in a
thousand of them lost.  With --profile, `perf` says where the time goes.  Nothing here
fails on a time; the exit status tells only whether everything ran."""

import argparse
import os
import resource
import shutil
import subprocess
import sys
from pathlib import Path

SOURCE = Path(os.environ.get("ROCESCOPE_SOURCE", Path(__file__).resolve().parents[2]))
PLUGIN = Path(os.environ.get("ROCESCOPE_PLUGIN",
                             SOURCE / "build/release/plugin/rocescope.so"))
sys.path[:0] = [str(SOURCE / "tests/sim"), str(SOURCE / "tests/plugin")]

from sim import Impairment, QueuePair, Scenario, Side, Work, path_of, simulate  # noqa: E402
from tshark import Tshark  # noqa: E402

# What people do with a capture.
COMMANDS = {
    "packet list": (),
    "one field": ("-T", "fields", "-e", "infiniband.bth.psn"),
    "filter": ("-Y", "infiniband.bth.opcode == 17"),
    "two passes": ("-2", "-Y", "infiniband.bth.opcode == 17"),
    "all details": ("-V",),
}


def make_capture(path):
    kinds = (Work("WRITE", 65536), Work("SEND", 4096), Work("READ", 32768),
             Work("WRITE", 256))
    work = kinds * 150
    scenario = Scenario(
        "bench", tuple(QueuePair(Side(0x100 + i, start_psn=0x1000 * i, work=work),
                                 Side(0x200 + i, start_psn=0x2000 * i))
                       for i in range(2)),
        seed=1, segments=path_of(Impairment(loss=0.001), Impairment(), delay_ns=4000))
    path.write_bytes(simulate(scenario).captures()["receiver"])


def processor_seconds(runner, arguments, stock):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    runner.run(*arguments, stock=stock)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime + after.ru_stime) - (before.ru_utime + before.ru_stime)


def measure(runner, capture, turns):
    """Rows of command, seconds without, seconds with."""
    for name, arguments in COMMANDS.items():
        seconds = {True: [], False: []}
        for _ in range(turns):
            for stock in (True, False):
                seconds[stock].append(processor_seconds(
                    runner, ("-r", capture, *arguments), stock))
        yield name, min(seconds[True]), min(seconds[False])


def profile(runner, capture):
    """Where the time of a packet list goes, by shared object and by function."""
    data = runner.path("perf.data")
    environment = {"PATH": os.environ["PATH"], "HOME": str(runner.dir / "home-plugin"),
                   "WIRESHARK_PLUGIN_DIR": str(runner.dir / "plugins")}
    subprocess.run(["perf", "record", "-q", "-o", data, "setpriv", "--reuid=65534",
                    "--regid=65534", "--clear-groups", "tshark", "-r", capture],
                   env=environment, stdout=subprocess.DEVNULL, check=True)
    for key in ("dso", "symbol"):
        print(subprocess.run(["perf", "report", "-i", data, "--stdio", "--sort", key],
                             capture_output=True, text=True, check=True).stdout[:4000])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--profile", action="store_true")
    parser.add_argument("capture", nargs="?", type=Path)
    options = parser.parse_args()
    if shutil.which("tshark") is None:
        sys.exit("tshark is not installed")
    runner = Tshark(PLUGIN)
    try:
        capture = runner.path("bench.pcap")
        if options.capture is None:
            make_capture(capture)
        else:
            shutil.copy(options.capture, capture)
        capture.chmod(0o644)
        print(f"{'command':<16}{'stock':>9}{'plugin':>9}{'ratio':>8}")
        for name, stock, plugin in measure(runner, capture, options.turns):
            print(f"{name:<16}{stock:>8.2f}s{plugin:>8.2f}s{plugin / stock:>8.2f}")
        if options.profile:
            profile(runner, capture)
    finally:
        runner.close()


if __name__ == "__main__":
    main()
