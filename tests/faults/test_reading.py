#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Inputs that cannot be read, or that change while they are read: what was read is
reported, one line says which file, at which byte and why, and a batch goes on from there.

reads.c, loaded before the C library, has the reads of one file go wrong at a chosen byte.
"""

import json
import os
import shutil
import subprocess
import sys
import threading

from faults import (AT_SENDER, LOSSY, SANITIZED, SOURCE, TROUBLE, Rows, Run, Skip, equal, unpacked)
from batching import batch, differences, records

ROWS = Rows()


def shim(directory):
    """The library that makes reads fail."""
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        raise Skip("no C compiler")
    if SANITIZED:
        raise Skip("AddressSanitizer wants to be loaded first")
    library = directory / "reads.so"
    subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-D_GNU_SOURCE", "-Wall", "-Werror", "-o",
                    library, SOURCE / "tests/faults/reads.c", "-ldl"], check=True)
    return library


def wrong(library, path, how, at, **more):
    """The environment in which a read of the file goes wrong at this byte."""
    return {"LD_PRELOAD": str(library), "FAULT_PATH": str(path), "FAULT_HOW": how,
            "FAULT_AT": str(at), **{f"FAULT_{k.upper()}": str(v) for k, v in more.items()}}


def report_of(*files, **how):
    done = Run("--quiet", "--json", "-", *files, **how)
    return done, json.loads(done.out)


def ends(path):
    """Where each record of a capture ends."""
    header, some = records(path)
    out = [len(header)]
    for record in some:
        out.append(out[-1] + len(record))
    return out


def whole_records(path, n_bytes):
    return sum(end <= n_bytes for end in ends(path)) - 1


@ROWS.of
def read_error(directory):
    """What stands in front of a bad sector is reported, and where it is."""
    library, path = shim(directory), unpacked(LOSSY, directory)
    for at in (0, 24, 30, 4096, 1_000_000):
        done = Run("--quiet", "--json", "-", path, env=wrong(library, path, "error", at))
        done.check_trouble(path, f"byte {at}", "Input/output error")
        if done.out:
            file = json.loads(done.out)["capture"]["files"][0]
            equal(f"packets before byte {at}", file["packets"],
                  max(0, whole_records(path, at)))
            equal("damaged at", file["damaged_at"] is not None, at >= 24)


@ROWS.of
def read_error_in_compressed(directory):
    library = shim(directory)
    for at in (10, 20_000):
        done, report = report_of(LOSSY, env=wrong(library, LOSSY, "error", at))
        done.check_trouble(LOSSY, f"byte {at}", "Input/output error")
        equal("some packets", at > 10, report["capture"]["packets"] > 0)


@ROWS.of
def read_error_of_one_file(directory):
    """The other one is read to its end."""
    library, path = shim(directory), unpacked(LOSSY, directory)
    done, report = report_of(path, AT_SENDER, env=wrong(library, path, "error", 100_000))
    done.check_trouble(path, "byte 100000")
    equal("packets of the other", report["capture"]["files"][1]["packets"], 2528)


@ROWS.of
def read_error_elsewhere(directory):
    """compare and extract tell the same, and so does what is read beside captures."""
    library, path = shim(directory), unpacked(LOSSY, directory)
    env = wrong(library, path, "error", 100_000)
    Run("compare", "--quiet", path, AT_SENDER, "--json", directory / "c.json",
        env=env).check_trouble(path, "byte 100000", "Input/output error")
    Run("extract", path, "--stream", "0", "-w", directory / "x.pcap", env=env).check_trouble(
        path, "byte 100000", "Input/output error")
    done = Run("--hosts", "/proc/self/mem", "--quiet", path)
    equal("a table that cannot be read", (done.status, len(done.errors)), (TROUBLE, 1))
    assert "Input/output error" in done.errors[0], done.errors


@ROWS.of
def no_files(directory):
    """What can be opened and is nothing to read."""
    for path in (directory, "/proc/self/mem", "/proc/self/task"):
        for command in (("--quiet",), ("compare", AT_SENDER), (
                "extract", "-w", directory / "x.pcap", "--stream", "0")):
            Run(*command, path).check_trouble(path)
    Run("--quiet", "/dev/null").check_trouble("/dev/null")
    equal("extracted", (directory / "x.pcap").exists(), False)


@ROWS.of
def pipe_that_ends_early(directory):
    """Whoever writes into a FIFO is killed in the middle of a packet."""
    data, fifo = unpacked(LOSSY, directory).read_bytes(), directory / "fifo"
    for n_bytes in (0, 10, 24, 100, 1_000_000):
        os.mkfifo(fifo)
        writer = threading.Thread(target=lambda n=n_bytes: fifo.write_bytes(data[:n]), daemon=True)
        writer.start()
        done = Run("--quiet", "--json", "-", fifo)
        writer.join(20)
        fifo.unlink()
        if n_bytes == 24:
            equal("a capture without packets", done.status, 0)
            continue
        done.check_trouble(fifo)
        if n_bytes > 24:
            equal("packets", json.loads(done.out)["capture"]["packets"],
                  whole_records(directory / LOSSY.stem, n_bytes))


@ROWS.of
def shrinking(directory):
    """The file is cut while it is read, in front of where it is being read or there."""
    library = shim(directory)
    for at in (600_000, 1_200_000):
        for to in (0, 24, 1000, at):
            path = unpacked(LOSSY, directory)
            done, report = report_of(path, env=wrong(library, path, "shrink", at, to=to))
            done.check_trouble(path)
            equal(f"cut to {to} at {at}: packets", report["capture"]["packets"],
                  whole_records(unpacked(LOSSY, directory), at))


@ROWS.of
def growing(directory):
    """What is put behind a file while it is read belongs to it."""
    library, whole = shim(directory), unpacked(LOSSY, directory)
    at = ends(whole)[1000]
    rest = directory / "rest"
    rest.write_bytes(whole.read_bytes()[at:])
    path = directory / "growing.pcap"
    for when in (0, 600_000, at):
        path.write_bytes(whole.read_bytes()[:at])
        done, report = report_of(path, env=wrong(library, path, "grow", when, **{"with": rest}))
        equal(f"at {when}", (done.status, done.errors), (0, []))
        equal(f"at {when}: packets", report["capture"]["packets"], 2517)


# A batch reads a capture to see whether it is one, for its digest, and to analyze it.
TIMES = (1, 2, 3)


def changed_in_batch(directory, how, at, time, **more):
    """A batch of two captures, one of which changes when it is read for this time; what
    came of it."""
    library, caps = shim(directory), directory / "caps"
    caps.mkdir(exist_ok=True)
    path = unpacked(LOSSY, caps)
    shutil.copy(AT_SENDER, caps / "other.pcap.gz")
    out = directory / f"out {how} {at} {time}"
    done = batch("caps", out=out.name, cwd=directory, env={
        **os.environ, **wrong(library, path, how, at, time=time, **more)})
    equal(f"{out.name}: the other", done.statuses["caps/other.pcap.gz"], "complete")
    return path, done


@ROWS.of
def batch_of_changing(directory):
    """Whenever it changes, the next batch ends as a fresh one does."""
    rest = directory / "rest"
    _, some = records(LOSSY)
    rest.write_bytes(b"".join(some[-10:]))
    for how, more in (("shrink", {"to": 1000}), ("grow", {"with": rest})):
        for time in TIMES:
            path, done = changed_in_batch(directory, how, 600_000, time, **more)
            again = batch("caps", out=done.out.name, cwd=directory)
            fresh = batch("caps", out="fresh", cwd=directory)
            equal(f"{how} {time}: as a fresh batch", differences(again.out, fresh.out), [])
            shutil.rmtree(fresh.out)
            path.unlink()


@ROWS.of
def batch_of_unreadable(directory):
    """A read error costs the rest of that capture, which is tried again the next time."""
    for time in TIMES:
        path, done = changed_in_batch(directory, "error", 600_000, time)
        name = f"caps/{path.name}"
        equal("status", done.status, TROUBLE)
        equal("what was read is reported", done.statuses[name], "incomplete")
        assert "byte 600000: Input/output error" in done.stderr, done.stderr
        again = batch("caps", out=done.out.name, cwd=directory)
        equal("next status", (again.status, again.statuses[name]), (0, "complete"))
        fresh = batch("caps", out="fresh", cwd=directory)
        equal(f"{time}: as a fresh batch", differences(again.out, fresh.out), [])
        shutil.rmtree(fresh.out)


sys.exit(ROWS.main("what is wrong with an input is told, and what was read of it reported"))
