#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Reports are a function of the capture, whatever the locale, the time zone and the year:
decimal commas, dotless i, zones with half hours, and stamps that 31 bits do not hold."""

import datetime
import os
import re
import shutil
import struct
import subprocess
import sys

from faults import AT_SENDER, LOSSY, PAUSED, Rows, Run, Skip, equal, unpacked
from batching import batch, differences, records

ROWS = Rows()
CAPTURES = (LOSSY, PAUSED)
ZONES = ("America/St_Johns", "Asia/Kathmandu", "XXX-13:45", ":/nowhere")
LOCALES = ("de_DE", "tr_TR")
STAMP = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?")


def outputs(directory, env):
    """Bytes of every kind of output, by name."""
    out = directory / "out"
    out.mkdir()
    found = {}
    for i, capture in enumerate(CAPTURES):
        done = Run(capture, "--no-color", "--json", out / f"{i}.json", "--html", out / f"{i}.html",
                   "--csv", out / f"{i}", env=env)
        equal("status", (done.status, done.errors), (0, []))
        found[f"{i}.txt"] = done.out
    done = Run("compare", AT_SENDER, LOSSY, "--json", out / "c.json", "--html", out / "c.html",
               "--csv", out / "c", env=env)
    found["c.txt"] = done.out
    Run("extract", LOSSY, "--stream", "0", "-w", out / "x.pcapng", env=env)
    found |= {str(p.relative_to(out)): p.read_bytes() for p in out.rglob("*") if p.is_file()}
    shutil.rmtree(out)
    return found


def check_same(what, got, want):
    equal(f"{what}: outputs", sorted(got), sorted(want))
    equal(f"{what}: what differs", [name for name in want if got[name] != want[name]], [])


def compiled(directory):
    """A directory of locales, made for the test."""
    if shutil.which("localedef") is None:
        raise Skip("no localedef")
    locales = directory / "locales"
    locales.mkdir()
    for name in LOCALES:
        done = subprocess.run(["localedef", "-i", name, "-f", "UTF-8", locales / f"{name}.UTF-8"],
                              capture_output=True)
        if not (locales / f"{name}.UTF-8").exists():
            raise Skip(f"{name} cannot be compiled: {done.stderr.decode()[-100:]}")
    return locales


@ROWS.of
def locales(directory):
    plain = outputs(directory, {"LC_ALL": "C.UTF-8"})
    check_same("C", outputs(directory, {"LC_ALL": "C"}), plain)
    where = compiled(directory)
    for name in LOCALES:
        env = {"LC_ALL": f"{name}.UTF-8", "LANGUAGE": name[:2], "LOCPATH": str(where)}
        check_same(name, outputs(directory, env), plain)


@ROWS.of
def zones(directory):
    plain = outputs(directory, {"TZ": "UTC"})
    for zone in ZONES:
        check_same(zone, outputs(directory, {"TZ": zone}), plain)


@ROWS.of
def batches(directory):
    """The database and the common files as well."""
    caps = directory / "caps"
    caps.mkdir()
    for i, capture in enumerate(CAPTURES):
        shutil.copy(capture, caps / f"{i}{capture.name}")
    where = compiled(directory)
    plain = batch("caps", out="plain", cwd=directory, env=dict(os.environ, TZ="UTC", LC_ALL="C"))
    other = batch("caps", out="other", cwd=directory, env=dict(
        os.environ, TZ=ZONES[0], LC_ALL="de_DE.UTF-8", LOCPATH=str(where)))
    equal("what differs", differences(plain.out, other.out), [])


@ROWS.of
def options_are_read_alike(directory):
    """A speed and a span of time have points, whatever is the custom."""
    env = {"LC_ALL": "de_DE.UTF-8", "LOCPATH": str(compiled(directory)), "TZ": ZONES[0]}
    for options in (("--link-speed", "2.5G"), ("--burst", "1.5G")):
        texts = [Run(PAUSED, "--no-color", *options, env=e).out
                 for e in ({"LC_ALL": "C.UTF-8"}, env)]
        equal(f"{options}", texts[1], texts[0])
    files = []
    for e in ({"LC_ALL": "C.UTF-8", "TZ": "UTC"}, env):
        out = directory / "x.pcap"
        done = Run("extract", LOSSY, "--time=2026-11-21T08:28:59.9-2026-11-21T08:29:00.1", "-w",
                   out, env=e)
        equal("--time", (done.status, done.errors), (0, []))
        files.append(out.read_bytes())
        out.unlink()
    equal("--time", files[1], files[0])


def later(path, seconds, out):
    """The capture with all stamps later; classic files count them without a sign."""
    header, some = records(path)
    moved = [struct.pack("<I", struct.unpack_from("<I", r)[0] + seconds) + r[4:] for r in some]
    out.write_bytes(header + b"".join(moved))
    return struct.unpack_from("<II", moved[0])


@ROWS.of
def years(directory):
    """What is said of a capture is the same in any year, but for the date."""
    unpacked(LOSSY, directory).rename(directory / "x.pcap")
    path = directory / "x.pcap"
    plain = Run(path, "--no-color").out.decode()
    original = path.read_bytes()
    first_s = struct.unpack_from("<I", original, 24)[0]
    for what, begin_s in (("1970", 0), ("before 2038", 2**31 - 2), ("behind 2038", 2**31),
                          ("2106", 2**32 - 3)):
        path.write_bytes(original)
        s, ns = later(path, begin_s - first_s, path)
        got = Run(path, "--no-color").out.decode()
        equal(f"{what}: text", STAMP.sub("", got), STAMP.sub("", plain))
        date = datetime.datetime(1970, 1, 1) + datetime.timedelta(seconds=s)
        assert f"{date:%Y-%m-%d %H:%M:%S}.{ns:09} UTC" in got, f"{what}: {got[:300]}"
        for name in ("y.pcap", "y.pcapng"):
            out = directory / name
            Run("extract", path, "--stream", "0", "-w", out)
            again = Run(out, "--no-color").out.decode()
            assert f"{date:%Y}-" in again.split("How far")[0], f"{what}: {name}: {again[:300]}"
            out.unlink()


sys.exit(ROWS.main("reports are the same everywhere and at any time"))
