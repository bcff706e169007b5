#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Batches that are killed at many moments, and batches that grow: however the directory
came about, it is the same in the end."""

import random
import shutil
import subprocess
import sys
import time

from faults import BINARY, PAUSED, SANITIZED, Rows, equal, files_below
from batching import batch, differences, small

ROWS = Rows()
N = 6
MOMENTS = 6 if SANITIZED else 24


def make_captures(directory):
    """Rotated files and a pcapng file are among them."""
    caps = directory / "caps"
    caps.mkdir()
    for i in range(N):
        (caps / f"c{i:02}x.pcap").write_bytes(small(shift=1000 * i))
    for i in range(3):
        (caps / f"ring.pcap{i}").write_bytes(small(n=100, start=100 * i))
    shutil.copy(PAUSED, caps)
    return caps


def killed_after(seconds, directory, out):
    """Runs a batch and kills it then.  Whether it had ended before."""
    process = subprocess.Popen([BINARY, "batch", "--quiet", "-j", "2", "caps", "-o", out],
                               cwd=directory, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        return process.wait(seconds) == 0
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        return False


def gone_on(directory, out):
    """The next batch, at once: it lets the workers of the killed one die with it."""
    return batch("caps", out=out, cwd=directory)


def check_whole(name, out, fresh):
    """What stands there under its own name is what it will be."""
    for path in files_below(out) if out.exists() else ():
        if path.startswith("captures/"):
            equal(f"{name}: {path}", (out / path).read_bytes(), (fresh / path).read_bytes())


def fresh_batch(directory):
    begun = time.monotonic()
    fresh = batch("caps", "-j", "2", out="fresh", cwd=directory)
    return fresh.out, time.monotonic() - begun


@ROWS.of
def killed_once(directory):
    """At moments from the beginning to the end, each in a directory of its own."""
    make_captures(directory)
    fresh, seconds = fresh_batch(directory)
    for i in range(MOMENTS):
        name = f"out{i}"
        killed_after(seconds * i / MOMENTS, directory, name)
        check_whole(name, directory / name, fresh)
        done = gone_on(directory, name)
        equal(f"{name}: status", (done.status, done.stderr), (0, ""))
        equal(f"{name}: as a fresh batch", differences(directory / name, fresh), [])
        shutil.rmtree(directory / name)


@ROWS.of
def killed_again_and_again(directory):
    """It comes a little further each time."""
    make_captures(directory)
    fresh, seconds = fresh_batch(directory)
    for i in range(MOMENTS):
        if killed_after(seconds * (i + 1) / MOMENTS, directory, "out"):
            break
        check_whole(f"run {i}", directory / "out", fresh)
    done = gone_on(directory, "out")
    equal("status", (done.status, done.stderr), (0, ""))
    equal("as a fresh batch", differences(directory / "out", fresh), [])


@ROWS.of
def grown(directory):
    """Captures come one after the other, in whatever order and grouping."""
    caps = make_captures(directory)
    fresh, _ = fresh_batch(directory)
    names = [f"caps/{path.name}" for path in sorted(caps.glob("[cs]*"))]
    names += ["caps/ring*"] # one capture, found as one
    draw = random.Random(1)
    for i in range(2 if SANITIZED else 6):
        draw.shuffle(names)
        n = draw.randrange(1, len(names))
        for some in (names[:n], names[n // 2:], names[:1] + names[n:]):
            equal("status", batch(*some, out=f"out{i}", cwd=directory).status, 0)
        done = batch("caps", out=f"out{i}", cwd=directory)
        equal(f"grouping {i}: as a fresh batch", differences(done.out, fresh), [])


sys.exit(ROWS.main("batches end as if nothing had been"))
