#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What a batch finds, how it names it, and what its directory says."""

import gzip
import json
import os
import pathlib
import shutil
import subprocess
from urllib.parse import quote

from batching import (BINARY, CLEAN, LOSSY, Rows, SOURCE, batch, differences, files_of,
                      folder, pieces, small)

rows = Rows()
check = rows.check


def layout():
    """A batch leaves one report for each capture, and what they come to."""
    with folder() as work:
        caps = pathlib.Path(work, "caps")
        (caps / "below").mkdir(parents=True)
        shutil.copy(LOSSY, caps / "lossy.pcap.gz")
        shutil.copy(CLEAN, caps / "below/clean.pcap.gz")
        (caps / "notes.txt").write_text("of the operator")
        done = batch("caps", out="out", cwd=work)
        check("layout: status", done.status, 0)
        check("layout: nothing to complain of", done.stderr, "")
        names = ["caps/below/clean.pcap.gz", "caps/lossy.pcap.gz"]
        for name in names:
            alone = subprocess.run([BINARY, "--quiet", "--json", "-", name], cwd=work,
                                   capture_output=True, timeout=120)
            check(f"layout: report of {name}", done.report(name),
                  json.loads(alone.stdout))
        check("layout: files", [f for f in files_of(done.out)
                                if not f.startswith((".rocescope", "captures"))],
              ["index.html", "rocescope.sqlite", "summary.csv", "summary.json"])
        summary = done.summary
        check("layout: complete", summary["complete"])
        check("layout: ranked", [c["name"] for c in summary["captures"]], names[::-1])
        check("layout: no captures", [(c["path"], c["bytes"])
                                      for c in summary["no_captures"]],
              [("caps/notes.txt", 15)])
        check("layout: CSV", [row["name"] for row in done.table], names[::-1])
        check("layout: CSV agrees", done.table[0]["totals_packets"],
              str(done.report(names[1])["totals"]["packets"]))
        check("layout: streams", {s["name"] for s in summary["streams"]}, set(names))
        index = (done.out / "index.html").read_text()
        check("layout: index links", all(f"captures/{name}." in index for name in names))
        check("layout: index lists what is none", "caps/notes.txt" in index)


def sets():
    """Rotated files of all three kinds are one capture, and its report is that of the
    whole."""
    whole = pieces(1)[0]
    names = {
        "tcpdump -C": ["x.pcap", "x.pcap1", "x.pcap2"],
        "tcpdump -W": ["x.pcap00", "x.pcap01", "x.pcap02"],
        "a ring that wrapped": ["x.pcap2", "x.pcap0", "x.pcap1"],
        "dumpcap": [f"x_0000{i}_2026112110000{i}.pcapng" for i in (1, 2, 3)],
        "compressed": ["x.pcap.gz", "x.pcap1.gz", "x.pcap2"],
    }
    for row, files in names.items():
        with folder() as work:
            for name, content in zip(files, pieces(3)):
                packed = gzip.compress(content) if name.endswith(".gz") else content
                pathlib.Path(work, name).write_bytes(packed)
            pathlib.Path(work, "whole").write_bytes(whole)
            done = batch(*sorted(files), "whole", out="out", cwd=work)
            check(f"sets: {row}: captures", sorted(done.ended),
                  sorted([files[0], "whole"]))
            parts = done.report(files[0])
            check(f"sets: {row}: files", [f["path"] for f in parts["capture"]["files"]],
                  files)
            check(f"sets: {row}: totals", parts["totals"],
                  done.report("whole")["totals"])
            check(f"sets: {row}: one row", done.ask(
                "SELECT n_files FROM captures ORDER BY n_files"), [(1,), (3,)])


def no_sets():
    """What only looks like a set is captures of their own."""
    first, second, third = pieces(3)
    cases = {
        "numbers only": {"1": first, "2": second, "3": third},
        "times that overlap": {"x.pcap": first, "x.pcap1": first, "x.pcap2": second},
        "a number is missing": {"x.pcap": first, "x.pcap2": second, "x.pcap4": third},
        "number before the extension": {"x0.pcap": first, "x1.pcap": second},
    }
    for row, files in cases.items():
        with folder() as work:
            for name, content in files.items():
                pathlib.Path(work, name).write_bytes(content)
            done = batch(*files, out="out", cwd=work)
            n_sets = 2 if row == "times that overlap" else len(files)
            check(f"no sets: {row}", len(done.ended), n_sets)


def inputs():
    """Files, directories, patterns and links find each file once, whatever their order."""
    with folder() as work:
        caps = pathlib.Path(work, "caps")
        (caps / "deep/deeper").mkdir(parents=True)
        for name in ("b.pcap", "deep/a.pcap", "deep/deeper/c.pcap"):
            (caps / name).write_bytes(small())
        (caps / "deep/deeper/up").symlink_to("../..")
        (caps / "a_link.pcap").symlink_to("b.pcap")
        (caps / "gone.pcap").symlink_to("nowhere")
        os.mkfifo(caps / "fifo.pcap")
        names = ["caps/b.pcap", "caps/deep/a.pcap", "caps/deep/deeper/c.pcap"]
        done = batch("caps", out="out", cwd=work)
        check("inputs: a directory", sorted(done.ended), names)
        check("inputs: status", done.status, 0)
        for row, paths in {
                "twice": ["caps", "caps/b.pcap", "./caps/deep"],
                "the other way round": ["./caps/deep", "caps/b.pcap", "caps/"],
                "patterns": ["caps/b.*", "caps/d*"],
        }.items():
            other = batch(*paths, out="other", cwd=work)
            check(f"inputs: {row}", sorted(other.ended), names)
            check(f"inputs: {row}: the same directory",
                  differences(done.out, other.out), [])
        none = batch("caps/*.zip", out="none", cwd=work)
        check("inputs: a pattern of nothing", (none.status, len(none.ended)), (3, 1))
        own = batch(".", out="caps/out", cwd=work)
        again = batch(".", out="caps/out", cwd=work)
        check("inputs: nothing below its own directory", sorted(again.ended),
              sorted(own.ended))


def unreadable():
    """What cannot be read is told, counted, and costs nothing else."""
    whole = small()
    cases = [
        # name, content, named by a PATH: status of the capture, exit status
        ("cut.pcap", whole[:-5], False, "incomplete", 3),
        ("garbage.pcap", b"garbage", False, "no_capture", 0),
        ("garbage.pcap", b"garbage", True, "unreadable", 3),
        ("empty.pcap", b"", False, "no_capture", 0),
        ("empty.pcap", b"", True, "unreadable", 3),
        ("missing.pcap", None, True, "unreadable", 3),
        ("whole.pcap", whole, True, "complete", 0),
    ]
    for name, content, named, want, status in cases:
        with folder() as work:
            caps = pathlib.Path(work, "caps")
            caps.mkdir()
            if content is not None:
                (caps / name).write_bytes(content)
            (caps / "good.pcap").write_bytes(small(shift=1000))
            paths = [f"caps/{name}", "caps"] if named else ["caps"]
            done = batch(*paths, out="out", cwd=work)
            row = f"unreadable: {name} {'named' if named else 'found'}"
            check(f"{row}: status", done.statuses[f"caps/{name}"], want)
            check(f"{row}: exit", done.status, status)
            check(f"{row}: the other", done.statuses["caps/good.pcap"], "complete")
            check(f"{row}: told", f"caps/{name}" in done.stderr, status == 3)
            reason = {c["path"]: c["reason"] for c in
                      done.summary["captures"] + done.summary["no_captures"]}
            check(f"{row}: reason", reason[f"caps/{name}"] is None, want == "complete")
            check(f"{row}: report", (done.out / f"captures/caps/{name}.json").exists(),
                  want in ("complete", "incomplete"))


def usage():
    with folder() as work:
        pathlib.Path(work, "x.pcap").write_bytes(small())
        pathlib.Path(work, "mine").mkdir()
        pathlib.Path(work, "mine/thesis.txt").write_text("years of work")
        for row, arguments in {
                "no PATH": ["-o", "out"],
                "no DIR": ["x.pcap"],
                "an empty PATH": ["", "-o", "out"],
                "standard input": ["-", "-o", "out"],
                "memory": ["x.pcap", "-o", "out", "--memory", "much"],
                "jobs": ["x.pcap", "-o", "out", "-j", "-1"],
                "no jobs": ["x.pcap", "-o", "out", "-j", "0"],
                "timeout": ["x.pcap", "-o", "out", "--timeout", "-1"],
                "progress": ["x.pcap", "-o", "out", "--progress", "loud"],
                "filter": ["x.pcap", "-o", "out", "--filter", "no such"],
                "captured-at": ["x.pcap", "-o", "out", "--captured-at", "10.0.0.1=y.pcap"],
                "a directory of the user's": ["x.pcap", "-o", "mine"],
                "a file for a directory": ["x.pcap", "-o", "x.pcap"],
        }.items():
            done = subprocess.run([BINARY, "batch", *arguments], cwd=work,
                                  capture_output=True, text=True, timeout=60)
            check(f"usage: {row}", done.returncode, 2)
            check(f"usage: {row}: one line", len(done.stderr.splitlines()), 1)
        run_here = lambda *a: subprocess.run([BINARY, "batch", "--quiet", *a], cwd=work,
                                             capture_output=True, timeout=60).returncode
        check("usage: a batch", run_here("x.pcap", "-o", "kept"), 0)
        check("usage: a PATH mistyped", run_here("y.pcap", "-o", "kept"), 3)
        check("usage: and reports are kept",
              pathlib.Path(work, "kept/captures/x.pcap.html").exists())
        check("usage: nothing was touched", os.listdir(pathlib.Path(work, "mine")),
              ["thesis.txt"])


def short_options():
    """Values of short options stand behind them, with and without a blank."""
    with folder() as work:
        pathlib.Path(work, "-j3").write_bytes(small())
        for arguments in (["-j2", "-oout", "--", "-j3"], ["-j", "2", "-o", "out", "./-j3"]):
            done = subprocess.run([BINARY, "batch", "-q", *arguments], cwd=work,
                                  capture_output=True, text=True, timeout=60)
            check(f"short options: {arguments}", (done.returncode, done.stderr), (0, ""))
            summary = json.loads(pathlib.Path(work, "out/summary.json").read_text())
            check(f"short options: {arguments}: the file",
                  [c["path"] for c in summary["captures"]], ["-j3"])


def fail_on():
    with folder() as work:
        shutil.copy(LOSSY, pathlib.Path(work, "x.pcap.gz"))
        for severity, status in (("note", 1), ("warning", 1)):
            done = batch("x.pcap.gz", "--fail-on", severity, out="out", cwd=work)
            check(f"--fail-on {severity}", done.status, status)
        pathlib.Path(work, "cut.pcap").write_bytes(small()[:-5])
        done = batch("x.pcap.gz", "cut.pcap", "--fail-on", "note", out="out", cwd=work)
        check("--fail-on: unread goes before", done.status, 3)


def tables_of_the_user():
    """A table with a mistake is told once, and captures are read without it."""
    with folder() as work:
        for i in range(3):
            pathlib.Path(work, f"x{i}y.pcap").write_bytes(small(shift=1000 * i))
        pathlib.Path(work, "hosts").write_text("nonsense\n")
        done = batch("x0y.pcap", "x1y.pcap", "x2y.pcap", "--hosts", "hosts", out="out",
                     cwd=work)
        check("tables: status", done.status, 3)
        check("tables: told once", len(done.stderr.splitlines()), 1)
        check("tables: captures are complete", set(done.statuses.values()), {"complete"})


def hostile_names():
    """Names of files are text wherever they appear."""
    with folder() as work:
        caps = pathlib.Path(work, "caps")
        caps.mkdir()
        names = ["<script>alert(1)</script>", "a\nb\x1b[31mred", "-rf", "=cmd|calc", "'; --",
                 "..%2f..%2fx", "a b&c#d?e", "x.json", "~2Drf", ".hidden", "\"quoted\""]
        for i, name in enumerate(names):
            (caps / name.replace("/", "_")).write_bytes(small(shift=1000 * i))
        raw = os.fsencode(caps) + b"/\xff\xfe.pcap"
        with open(raw, "wb") as out:
            out.write(small(shift=99999))
        (caps / "x.json.d").mkdir()
        (caps / "x.json.d/y").write_bytes(small(shift=5))
        done = batch("caps", out="out", cwd=work)
        check("hostile: status", done.status, 0)
        check("hostile: all of them", len(done.ended), len(names) + 2)
        check("hostile: all have reports", len(list(done.out.glob("captures/**/*.json"))),
              len(names) + 2)
        check("hostile: names", all(set(n) <= set(
            "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._+=,@-~/")
            for n in done.ended), True)
        index = (done.out / "index.html").read_text()
        check("hostile: no markup", "<script>alert" in index, False)
        check("hostile: no escapes", "\x1b" in index, False)
        check("hostile: links", [n for n in done.ended if "./captures/" + quote(
            n, safe="/~") + ".html" not in index], [])
        check("hostile: CSV has a row for each", len(done.table), len(names) + 2)
        check("hostile: no formula", any(row["path"].startswith("=")
                                         for row in done.table), False)
        bad = subprocess.run([BINARY, "batch", "caps\x1b[31m", "-o", "out"], cwd=work,
                             capture_output=True, timeout=60)
        check("hostile: terminal", b"\x1b" in bad.stderr, False)


def any_number_of_workers():
    """The same inputs make the same directory with any -j."""
    with folder() as work:
        source = SOURCE / "captures"
        one = batch(source, "-j", "1", out=pathlib.Path(work, "one"))
        four = batch(source, "-j", "4", out=pathlib.Path(work, "four"))
        check("-j: status", (one.status, four.status), (0, 0))
        check("-j: the same directory", differences(one.out, four.out), [])
        check("-j: not empty", len(one.summary["captures"]) > 50)
        check("-j: the dump of sqlite3", *(subprocess.run(
            ["sqlite3", done.out / "rocescope.sqlite", ".dump"], capture_output=True,
            check=True, timeout=120).stdout for done in (one, four)))


def database():
    """The database agrees with the reports, table by table."""
    with folder() as work:
        done = batch(SOURCE / "captures", out=pathlib.Path(work, "out"))
        names = dict(done.ask("SELECT id, name FROM captures"))
        check("database: integrity", done.ask("PRAGMA integrity_check"), [("ok",)])
        for table in ("streams", "connections", "pauses", "findings"):
            counts = dict(done.ask(
                f"SELECT capture, count(*) FROM {table} GROUP BY capture"))
            for number, name in names.items():
                check(f"database: {table} of {name}", counts.get(number, 0),
                      len(done.report(name)[table]))
        for number, name, packets, critical in done.ask(
                "SELECT id, name, totals_packets, critical FROM captures"):
            report = done.report(name)
            check(f"database: packets of {name}", packets, report["totals"]["packets"])
            check(f"database: critical of {name}", critical, sum(
                f["severity"] == "critical" for f in report["findings"]))
        ranks = done.ask("SELECT critical, warning FROM ranked_captures ORDER BY rank")
        check("database: ranked", ranks, sorted(ranks, reverse=True))
        schema = done.ask("SELECT sql FROM sqlite_master WHERE type = 'table'")
        undocumented = [line for sql, in schema for line in sql.splitlines()
                        if line.startswith("  ") and " -- " not in line]
        check("database: every column is explained", undocumented, [])


def out_of_reach():
    """What stands in a directory and cannot be looked at may be a capture."""
    with folder() as work:
        here, name = os.open(work, os.O_RDONLY), "d" * 200
        os.mkdir("deep", dir_fd=here)
        inner = os.open("deep", os.O_RDONLY, dir_fd=here)
        for _ in range(25):                      # longer than any path may be
            os.mkdir(name, dir_fd=inner)
            inner, outer = os.open(name, os.O_RDONLY, dir_fd=inner), inner
            os.close(outer)
        with open(os.open("x.pcap", os.O_WRONLY | os.O_CREAT, dir_fd=inner), "wb") as file:
            file.write(small())
        os.close(inner)
        os.close(here)
        closed = pathlib.Path(work, "closed")    # its names are told, and nothing else
        closed.mkdir()
        closed.joinpath("x.pcap").write_bytes(small())
        pathlib.Path(work, "links").mkdir()
        pathlib.Path(work, "links/x.pcap").symlink_to("../closed/x.pcap")
        pathlib.Path(work, "links/nowhere").symlink_to("../closed/y.pcap")
        closed.chmod(0o644)
        rows_of = {"deep": "File name too long"}
        if os.geteuid() != 0:                    # who may look everywhere
            rows_of |= {"closed": "Permission denied", "links": "Permission denied"}
        for path, why in rows_of.items():
            done = subprocess.run([BINARY, "batch", "-q", path, "-o", f"out.{path}"], cwd=work,
                                  capture_output=True, text=True, timeout=60)
            check(f"out of reach: {path}: status", done.returncode, 3)
            check(f"out of reach: {path}: told", why in done.stderr)
        closed.chmod(0o755)


for part in (layout, sets, no_sets, inputs, unreadable, usage, short_options, fail_on,
             tables_of_the_user, hostile_names, out_of_reach, any_number_of_workers, database):
    part()
rows.finish()
