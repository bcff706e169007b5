# SPDX-License-Identifier: GPL-2.0-or-later
"""What the tests of batches share: captures to run them on, and what came of it."""

import csv
import gzip
import hashlib
import json
import os
import pathlib
import sqlite3
import struct
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(os.environ.get("ROCESCOPE_SOURCE",
                                     pathlib.Path(__file__).resolve().parents[2]))
BINARY = os.environ.get("ROCESCOPE", str(SOURCE / "build/dev/bin/rocescope"))
LOSSY = SOURCE / "captures/03a_loss_data_0.5pct/receiver.pcap.gz"
CLEAN = SOURCE / "captures/01_write_rc_cm/sender.pcap.gz"
PAUSED = SOURCE / "captures/sim_incast_pfc"

# AddressSanitizer has memory of its own, more than any limit.
SANITIZED = b"__asan" in pathlib.Path(BINARY).read_bytes()


class Rows:
    """Counts checks that do not hold."""

    def __init__(self):
        self.failed = 0

    def check(self, row, got, want=True):
        if got != want:
            self.failed += 1
            print(f"{row}: got {got!r}, want {want!r}")

    def finish(self):
        print(f"{self.failed} rows failed" if self.failed else "batches hold")
        sys.exit(1 if self.failed else 0)


def records(path):
    """Header and records of a little-endian classic capture with ns stamps."""
    data = path.read_bytes()
    data = gzip.decompress(data) if path.suffix == ".gz" else data
    at, out = 24, []
    while at < len(data):
        captured = struct.unpack_from("<I", data, at + 8)[0]
        out.append(data[at:at + 16 + captured])
        at += 16 + captured
    return data[:24], out


def shifted(record, seconds):
    second, = struct.unpack_from("<I", record)
    return struct.pack("<I", second + seconds) + record[4:]


def small(n=300, shift=0, start=0):
    """A capture of n packets, later by so many seconds."""
    header, all_records = records(LOSSY)
    return header + b"".join(shifted(r, shift) for r in all_records[start:start + n])


def pieces(n):
    """A capture cut into n that follow on."""
    header, some = records(LOSSY)
    size = (len(some) + n - 1) // n
    return [header + b"".join(some[i * size:(i + 1) * size]) for i in range(n)]


class Batch:
    """A batch that has ended."""

    def __init__(self, arguments, out, cwd=None, env=None, timeout=300):
        self.out = pathlib.Path(out) if cwd is None else pathlib.Path(cwd, out)
        command = [BINARY, "batch", "--progress", "json", *arguments, "-o", out]
        done = subprocess.run(command, capture_output=True, cwd=cwd, env=env,
                              timeout=timeout)
        self.status = done.returncode
        self.stderr = done.stderr.decode("utf-8", "replace")
        self.events = [json.loads(line) for line in done.stdout.splitlines()]

    @property
    def ended(self):
        """Event of each capture, by its name."""
        return {e["name"]: e for e in self.events if e["event"] == "capture"}

    @property
    def statuses(self):
        return {name: event["status"] for name, event in self.ended.items()}

    @property
    def analyzed(self):
        """Names of captures whose reports were made anew."""
        return sorted(name for name, event in self.ended.items()
                      if event["findings"] and not event["reused"])

    @property
    def summary(self):
        return json.loads((self.out / "summary.json").read_text())

    @property
    def table(self):
        with open(self.out / "summary.csv", newline="", encoding="utf-8") as lines:
            return list(csv.DictReader(lines))

    def report(self, name):
        return json.loads((self.out / "captures" / (name + ".json")).read_text())

    def ask(self, sql):
        database = sqlite3.connect(f"file:{self.out}/rocescope.sqlite?mode=ro", uri=True)
        try:
            return database.execute(sql).fetchall()
        finally:
            database.close()


def batch(*arguments, out, **more):
    return Batch([str(a) if isinstance(a, pathlib.Path) else a for a in arguments],
                 str(out), **more)


def files_of(out):
    """Every file below a directory, by its path: digest of the content, and of the
    database of what it holds."""
    found = {}
    for path in sorted(pathlib.Path(out).rglob("*")):
        if path.is_dir():
            continue
        content = path.read_bytes()
        if path.name == "rocescope.sqlite":
            database = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
            content = "\n".join(database.iterdump()).encode()
            database.close()
        found[str(path.relative_to(out))] = hashlib.sha256(content).hexdigest()
    return found


def differences(one, other):
    """Names of files that differ or that only one directory has."""
    a, b = files_of(one), files_of(other)
    return sorted(name for name in a.keys() | b.keys() if a.get(name) != b.get(name))


def folder():
    return tempfile.TemporaryDirectory(prefix="rocescope-batch-")
