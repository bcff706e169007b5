#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Outputs that cannot be written: one line that says which and why, exit status 3, and no
file that looks whole and is not.

A disk is full where a limit of the size of files is reached, at /dev/full, and on a small
file system of its own where one may be mounted.
"""

import contextlib
import os
import shutil
import subprocess
import sys

from faults import AT_SENDER, LOSSY, PAUSED, Rows, Run, Skip, equal, files_below
from batching import batch, differences

ROWS = Rows()
OLD = b"what was there before\n"

# What each writes: the name of the file, and what is in front of it.
REPORTS = {
    "a.json": ("--quiet", PAUSED, "--json"),
    "a.html": ("--quiet", PAUSED, "--html"),
    "c.json": ("compare", "--quiet", AT_SENDER, LOSSY, "--json"),
    "c.html": ("compare", "--quiet", AT_SENDER, LOSSY, "--html"),
}
FILES = REPORTS | {
    "x.pcap": ("extract", LOSSY, "--stream", "0", "-w"),
    "x.pcapng": ("extract", LOSSY, "--stream", "0", "-w"),
}
DIRECTORIES = (
    ("csv", ("--quiet", PAUSED, "--csv")),
    ("compare csv", ("compare", "--quiet", AT_SENDER, LOSSY, "--csv")),
)


def whole_size(directory, name):
    """How long the file is when nothing goes wrong."""
    path = directory / name
    equal("status", Run(*FILES[name], path).status, 0)
    return path.stat().st_size


def check_full(where, name, why, **how):
    """What was there before stays, and nothing comes beside it."""
    where.mkdir(exist_ok=True)
    target = where / name
    target.write_bytes(OLD)
    Run(*FILES[name], target, **how).check_trouble(target, why)
    equal(f"{name}, {how}", target.read_bytes(), OLD)
    equal(f"{name}, {how}: files", files_below(where), [name])
    target.unlink()


@ROWS.of
def full_disk(directory):
    """Whatever byte is the last one that there is room for: of none, of the first buffer,
    of half, and of all but the last byte."""
    for name in REPORTS:
        size = whole_size(directory, name)
        for limit in sorted({0, 1, 4096, size // 2, size - 1}):
            check_full(directory / "out", name, "File too large", most_file_bytes=limit)


@ROWS.of
def no_room_for_temporary_files(directory):
    """Extraction writes down what it learns of each frame."""
    out = directory / "x.pcap"
    for limit in (0, 4096):
        Run(*FILES["x.pcap"], out, most_file_bytes=limit, env={
            "TMPDIR": str(directory)}).check_trouble(directory, "File too large")
        equal("files", files_below(directory), [])
    Run(*FILES["x.pcap"], out, env={"TMPDIR": "/no"}).check_trouble("/no", "No such file")


@ROWS.of
def full_disk_for_tables(directory):
    """Tables that could be written are whole, and the others are not there."""
    for name, arguments in DIRECTORIES:
        whole = directory / f"{name} whole"
        equal("status", Run(*arguments, whole).status, 0)
        sizes = sorted({path.stat().st_size for path in whole.iterdir()})
        for limit in (0, sizes[len(sizes) // 2] - 1, sizes[-1] - 1):
            out = directory / f"{name} {limit}"
            Run(*arguments, out, most_file_bytes=limit).check_trouble(out, "File too large")
            for path in out.iterdir():
                equal(path.name, path.read_bytes(), (whole / path.name).read_bytes())


@ROWS.of
def full_device(_):
    for arguments in FILES.values():
        Run(*arguments, "/dev/full").check_trouble("/dev/full", "No space left")


@ROWS.of
def full_standard_output(directory):
    """Also of what is a few lines long."""
    for arguments in ((LOSSY,), ("--quiet", "--json", "-", LOSSY), ("--list-columns",),
                      ("--list-findings",), ("--help",), ("--help-all",), ("--version",),
                      ("compare", AT_SENDER, LOSSY),
                      ("compare", "--quiet", "--json", "-", AT_SENDER, LOSSY),
                      ("extract", LOSSY, "--stream", "0", "-w", "-"),
                      ("batch", LOSSY, "-o", directory / "out"),
                      ("batch", LOSSY, "-o", directory / "told", "--progress=json")):
        with open("/dev/full", "wb") as full:
            done = Run(*arguments, stdout=full)
        done.check_trouble("standard output", "cannot be written")


@ROWS.of
def no_place(directory):
    """Directories that are none, or not there, or not to be written; names that are too
    long."""
    (directory / "file").write_bytes(b"")
    for arguments in FILES.values():
        for target, why in ((directory / "file/x", "Not a directory"),
                            (directory / "no/x", "No such file"),
                            (directory, "Is a directory"),
                            (directory / ("x" * 300), "File name too long"),
                            ("/proc/x", "")):
            Run(*arguments, target).check_trouble(target, why)
    equal("files left", files_below(directory), ["file"])


@ROWS.of
def no_place_for_tables(directory):
    (directory / "file").write_bytes(b"")
    for _, arguments in DIRECTORIES:
        for target in (directory / "file", directory / "file/x", "/proc/x"):
            Run(*arguments, target).check_trouble(target)
    equal("files left", files_below(directory), ["file"])


def capture_folder(directory, n=3):
    caps = directory / "caps"
    caps.mkdir()
    for i in range(n):
        shutil.copy((LOSSY, PAUSED, AT_SENDER)[i], caps / f"c{i}{(LOSSY, PAUSED)[i == 1].name}")
    return caps


def check_batch(directory, name, done, fresh):
    """What is there is whole, and the next batch ends as if nothing had been."""
    equal(f"{name}: status", done.status, 3)
    assert done.errors and not [e for e in done.errors if "Success" in e], f"{name}: {done.errors}"
    whole = fresh.out
    for path in files_below(directory / name):
        if path.startswith("captures/"):
            equal(f"{name}: {path}", (directory / name / path).read_bytes(),
                  (whole / path).read_bytes())
    again = batch("caps", out=name, cwd=directory)
    equal(f"{name}: next status", (again.status, again.stderr), (0, ""))
    equal(f"{name}: next directory", differences(again.out, whole), [])


@ROWS.of
def full_disk_for_a_batch(directory):
    capture_folder(directory)
    fresh = batch("caps", out="fresh", cwd=directory)
    sizes = sorted(path.stat().st_size for path in fresh.out.rglob("*") if path.is_file())
    for limit in (0, 10, sizes[len(sizes) // 2], sizes[-2], sizes[-1] - 1):
        name = f"limit {limit}"
        done = Run("batch", "--quiet", "caps", "-o", name, most_file_bytes=limit, cwd=directory)
        if limit == 0 and not (directory / name).exists():
            equal("a batch that cannot begin", (done.status, len(done.errors)), (3, 1))
            continue
        check_batch(directory, name, done, fresh)


@contextlib.contextmanager
def small_file_system(directory, size):
    """A file system of so many bytes; it is seen by what is run within alone."""
    directory.mkdir(exist_ok=True)
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "rocescope",
                              directory], capture_output=True)
    if mounted.returncode != 0:
        raise Skip("no file system may be mounted here")
    try:
        yield
    finally:
        subprocess.run(["umount", directory], check=True)


@ROWS.of
def full_file_system(directory):
    """The same as it happens to people."""
    for name in FILES:
        size = whole_size(directory, name)
        with small_file_system(directory / "disk", size * 3 // 4):
            check_full(directory / "disk/out", name, "No space left")


@ROWS.of
def full_file_system_for_a_batch(directory):
    """There is room for some reports, then for none, and then for all."""
    caps = capture_folder(directory)
    fresh = batch("caps", out="fresh", cwd=directory)
    n_bytes = sum(p.stat().st_size for p in fresh.out.rglob("*") if p.is_file())
    for share in (5, 30, 60, 90):
        disk = directory / f"disk{share}"
        with small_file_system(disk, n_bytes * share // 100):
            done = Run("batch", "--quiet", caps.name, "-o", disk / "out", cwd=directory)
            equal(f"{share} %: status", done.status, 3)
            assert any("No space left" in e or "disk is full" in e for e in done.errors), \
                done.errors
            subprocess.run(["mount", "-o", "remount,size=64m", disk], check=True)
            check_batch(directory, f"disk{share}/out", done, fresh)


if __name__ == "__main__":
    if os.environ.get("ROCESCOPE_OWN_MOUNTS") is None and shutil.which("unshare"):
        # Mounts that nobody else sees, and that end with the test.
        probe = subprocess.run(["unshare", "-m", "true"], capture_output=True)
        if probe.returncode == 0:
            os.environ["ROCESCOPE_OWN_MOUNTS"] = "1"
            os.execvp("unshare", ["unshare", "-m", sys.executable, *sys.argv])
    sys.exit(ROWS.main("what cannot be written is told, and nothing is half there"))
