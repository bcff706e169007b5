#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Captures whose bytes were changed at random, and that were cut: no crash, no dissector
bug, no endless work.  With ROCESCOPE_SANITIZED_PLUGIN, the plugin built with ASan and
UBSan, and ROCESCOPE_ASAN, their runtime, nothing undefined either.

    tests/plugin/test_mutated.py [SECONDS [SEED]]    seeds from this one on, for so long

The one rule: what a seed does never changes, so that one that fails can be run again."""

import os
import random
import shutil
import subprocess
import sys
import time
from pathlib import Path

SOURCE = Path(os.environ.get("ROCESCOPE_SOURCE", Path(__file__).resolve().parents[2]))
SANITIZED = os.environ.get("ROCESCOPE_SANITIZED_PLUGIN")
PLUGIN = Path(SANITIZED or os.environ.get("ROCESCOPE_PLUGIN",
                                          SOURCE / "build/release/plugin/rocescope.so"))
RUNTIME = os.environ.get("ROCESCOPE_ASAN") if SANITIZED else None
sys.path.insert(0, str(Path(__file__).resolve().parent))

import tshark  # noqa: E402

N_SEEDS = 6                      # when no time is given
SKIPPED = 77
MOST_PACKETS = 600
# Chances of a byte to change: what tracks packets is met with few, what decodes with many.
RATES = (0.0005, 0.004, 0.02)
SNAP_LENGTHS = (None, None, 42, 54, 58, 62, 74, 96, 128)
SHOWS = (("-V", "-2"), ("-V",), ("-2", "-T", "json"), ("-2", "-Y", "rocev2.analysis || pfc"))


def captures():
    return sorted((SOURCE / "captures").glob("*/*.pcap*.gz"))


def mutate(source, target, seed, pick):
    """A part of a capture, changed and cut; says how."""
    rate, snap = pick.choice(RATES), pick.choice(SNAP_LENGTHS)
    whole = target.with_suffix(".part")
    cut = [] if snap is None else ["-s", str(snap)]
    first = pick.choice((1, 1, 300))
    for command in (["-r", *cut, source, whole, f"{first}-{first + MOST_PACKETS}"],
                    ["-E", str(rate), "--seed", str(seed), whole, target]):
        subprocess.run(["editcap", *map(str, command)], check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    target.chmod(0o644)
    return f"bytes changed {rate}, snap length {snap}, from packet {first}"


def try_seed(runner, seed):
    """What went wrong, or None."""
    pick = random.Random(seed)
    source, show = pick.choice(captures()), pick.choice(SHOWS)
    target = runner.path(f"mutated-{seed}.pcap")
    how = mutate(source, target, seed, pick)
    try:
        runner.run("-r", target, *show)
    except RuntimeError as error:
        name = source.relative_to(SOURCE / "captures")
        return f"seed {seed}: {name}, {how}, {' '.join(show)}: {error}"
    return None


def seeds(arguments):
    first = int(arguments[1]) if len(arguments) > 1 else 1
    if not arguments:
        yield from range(first, first + N_SEEDS)
        return
    end = time.monotonic() + float(arguments[0])
    while time.monotonic() < end:
        yield first
        first += 1


def main(arguments):
    if any(shutil.which(program) is None for program in ("tshark", "editcap")):
        print("skipped: no tshark, or no editcap")
        return SKIPPED
    runner = tshark.Tshark(PLUGIN, preload=RUNTIME)
    try:
        tried = [try_seed(runner, seed) for seed in seeds(arguments)]
    finally:
        runner.close()
    problems = [problem for problem in tried if problem is not None]
    print("\n".join(problems) or f"{len(tried)} seeds, nothing found")
    return 1 if problems or not tried else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
