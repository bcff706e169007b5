#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Shares of a batch, and what is merged of them: the same directory as one machine's, in any
order and grouping; what is missing or damaged is named, and the rest is there."""

import fcntl
import json
import os
import pathlib
import random
import shutil
import subprocess
import time

from batching import (BINARY, CLEAN, LOSSY, PAUSED, Rows, batch, differences, files_of,
                      folder, pieces, small)

rows = Rows()
check = rows.check


def merge(*parts, out, cwd, more=()):
    done = subprocess.run([BINARY, "merge", *more, *parts, "-o", out], cwd=cwd,
                          capture_output=True, text=True, timeout=300)
    return done


def fill(caps):
    """Captures of many kinds and sizes: whole, cut, none, rotated, of two severities."""
    (caps / "below").mkdir(parents=True)
    shutil.copy(LOSSY, caps / "lossy.pcap.gz")
    shutil.copy(CLEAN, caps / "below/clean.pcap.gz")
    for path in PAUSED.glob("*.pcap*"):
        shutil.copy(path, caps / "below" / path.name)
        break
    (caps / "notes.txt").write_text("of the operator")
    (caps / "cut.pcap").write_bytes(small(50)[:-7])
    (caps / "empty.pcap").write_bytes(b"")
    for i in range(7):
        (caps / f"c{i}x.pcap").write_bytes(small(20 + 40 * i, shift=1000 * i))
    for i, piece in enumerate(pieces(4)):
        (caps / f"rotated.pcap{i or ''}").write_bytes(piece)


def shares(caps, n, cwd, prefix="part", more=()):
    """Does all shares; names of their directories."""
    names = []
    for i in range(1, n + 1):
        name = f"{prefix}{i}of{n}"
        batch("--shard", f"{i}/{n}", caps, *more, out=name, cwd=cwd)
        names.append(name)
    return names


def record(out):
    return json.loads((out / ".rocescope/batch.json").read_text())


def same():
    """Merged shares are what one machine makes, whatever their number, order, grouping."""
    with folder() as work:
        work = pathlib.Path(work)
        fill(work / "caps")
        one = batch("caps", out="one", cwd=work)
        check("same: status of one", one.status, 3)
        check("same: is whole", record(one.out)["batches"][0]["shares"], None)
        draw = random.Random(7)
        for n in (1, 2, 5, 20):
            parts = shares("caps", n, work)
            for order in range(2):
                draw.shuffle(parts)
                out = f"all{n}.{order}"
                done = merge(*parts, out=out, cwd=work)
                check(f"same: {n} shares: status", done.returncode, 3)
                check(f"same: {n} shares: complaints", done.stderr, "")
                check(f"same: {n} shares", differences(work / "one", work / out), [])
        parts = [f"part{i}of5" for i in range(1, 6)]
        for groups in ([[0, 1], [2, 3, 4]], [[4], [0, 2], [1, 3]], [[0, 1, 2], [2, 3, 4]]):
            middle = []
            for i, group in enumerate(groups):
                middle.append(f"middle{i}")
                merge(*(parts[k] for k in group), out=f"middle{i}", cwd=work)
            merge(*middle, out="grouped", cwd=work)
            check(f"same: grouped as {groups}",
                  differences(work / "one", work / "grouped"), [])
        # A batch that was never divided adds nothing to itself, nor do its shares.
        merge("one", *parts[:2], out="more", cwd=work)
        check("same: with some of it twice", differences(work / "one", work / "more"), [])
        merge("one", out="again", cwd=work)
        check("same: merged twice over", merge("one", out="again", cwd=work).returncode, 3)
        check("same: again", differences(work / "one", work / "again"), [])
        check("same: goes on as a batch",
              batch("caps", out="all5.0", cwd=work).analyzed, [])


def divided():
    """Each capture is in one share, rotated files together, and shares weigh the same."""
    with folder() as work:
        work = pathlib.Path(work)
        fill(work / "caps")
        for i in range(40):
            (work / f"caps/s{i}x.pcap").write_bytes(small(30 + i, shift=5000 + 1000 * i))
        whole = set(batch("caps", out="one", cwd=work).ended)
        seen, weights = [], []
        for part in shares("caps", 4, work):
            names = {str(p.relative_to(work / part / ".rocescope/parts"))[:-6]
                     for p in (work / part / ".rocescope/parts").rglob("*.jsonl")}
            seen += sorted(names)
            found = record(work / part)["batches"][0]
            (number, inputs, size), = found["shares"]["have"]
            weights.append(size)
            check(f"divided: {part} is of all", found["bytes"], sum(
                p.stat().st_size for p in (work / "caps").rglob("*") if p.is_file()))
            check(f"divided: {part} has no common files",
                  [f for f in files_of(work / part)
                   if not f.startswith((".rocescope", "captures"))], [])
        check("divided: each once", sorted(seen), sorted(whole))
        check("divided: a rotated set together", "caps/rotated.pcap" in seen)
        largest = max(p.stat().st_size for p in (work / "caps").rglob("*") if p.is_file())
        check("divided: balanced", max(weights) - min(weights) <= largest)


def missing():
    """What is missing or damaged is named; the rest is merged, and is whole once it comes."""
    with folder() as work:
        work = pathlib.Path(work)
        fill(work / "caps")
        batch("caps", out="one", cwd=work)
        parts = shares("caps", 3, work)
        done = merge(parts[0], parts[2], out="two", cwd=work)
        check("missing: a share: status", done.returncode, 3)
        check("missing: a share is named", "share 2 of 3 is missing" in done.stderr)
        summary = json.loads((work / "two/summary.json").read_text())
        (_, inputs, _), = record(work / parts[1])["batches"][0]["shares"]["have"]
        check("missing: not complete", summary["complete"], False)
        check("missing: how much", summary["inputs_missing"], inputs)
        check("missing: the page says so",
              "Parts are missing" in (work / "two/index.html").read_text())
        merge("two", parts[1], out="whole", cwd=work)
        check("missing: comes later", differences(work / "one", work / "whole"), [])

        done = merge(*parts, "nowhere", out="without", cwd=work)
        check("missing: a directory: status", done.returncode, 3)
        check("missing: a directory is named",
              done.stderr, "rocescope: nowhere: there is no such directory\n")
        os.mkdir(work / "stranger")
        done = merge(parts[0], "stranger", out="strange", cwd=work)
        check("missing: a stranger is named",
              "stranger: is no directory that a batch has made" in done.stderr)
        done = merge("nowhere", "stranger", out="nothing", cwd=work)
        check("missing: nothing at all", (done.returncode, "nothing to merge" in done.stderr),
              (3, True))


def changing():
    """Shares that found different files are of different batches: what there is is merged,
    and a line says why the rest is missed."""
    with folder() as work:
        work = pathlib.Path(work)
        fill(work / "caps")
        batch("--shard", "1/2", "caps", out="part1", cwd=work)
        (work / "caps/new.pcap").write_bytes(small(20, shift=9000))
        batch("--shard", "2/2", "caps", out="part2", cwd=work)
        done = merge("part1", "part2", out="both", cwd=work)
        check("changing: status", done.returncode, 3)
        check("changing: told", "shares of 2 batches, none of them whole" in done.stderr)
        check("changing: not of one batch", "share 1 of 2 is missing" in done.stderr and
              "share 2 of 2 is missing" in done.stderr)
        done = merge("part1", out="alone", cwd=work)
        check("changing: not where it is one", "none of them whole" in done.stderr, False)


def damaged():
    """Each file of a part, cut or changed or gone, is noticed, and costs no other capture."""
    with folder() as work:
        work = pathlib.Path(work)
        fill(work / "caps")
        parts = shares("caps", 2, work)
        victim = work / parts[0]
        name = sorted(files_of(victim / "captures"))[0][:-5]
        for file in (f"captures/{name}.json", f"captures/{name}.html",
                     f".rocescope/parts/{name}.jsonl"):
            for how in ("changed", "cut", "gone"):
                path = victim / file
                before = path.read_bytes()
                if how == "changed":
                    path.write_bytes(before[:9] + bytes([before[9] ^ 1]) + before[10:])
                elif how == "cut":
                    path.write_bytes(before[:-5])
                else:
                    path.unlink()
                shutil.rmtree(work / "out", ignore_errors=True)
                done = merge(*parts, out="out", cwd=work)
                check(f"damaged: {file} {how}: status", done.returncode, 3)
                # A part that is not there is that of a capture nobody came to.
                named = name in done.stderr or (how == "gone" and file.endswith(".jsonl"))
                check(f"damaged: {file} {how}: named", named)
                summary = json.loads((work / "out/summary.json").read_text())
                check(f"damaged: {file} {how}: missing", summary["captures_missing"], 1)
                path.write_bytes(before)
        for how, content in (("empty", b""), ("cut", None), ("changed", None)):
            path = victim / ".rocescope/batch.json"
            before = path.read_bytes()
            path.write_bytes(content if content is not None else before[:-9]
                             if how == "cut" else before.replace(b'"of":2', b'"of":3'))
            shutil.rmtree(work / "out", ignore_errors=True)
            done = merge(*parts, out="out", cwd=work)
            check(f"damaged: record {how}: named", f"{parts[0]}/.rocescope" in done.stderr)
            check(f"damaged: record {how}: its share", "share 1 of 2" in done.stderr)
            path.write_bytes(before)
        shutil.rmtree(work / "out", ignore_errors=True)
        # A part of the right form must not make the merge take any other file.
        part = victim / f".rocescope/parts/{name}.jsonl"
        other = next(p for p in (work / parts[1] / ".rocescope/parts").rglob("*.jsonl"))
        shutil.copy(other, part)
        done = merge(*parts, out="out", cwd=work)
        check("damaged: another's part", f"{name}: its part is of another" in done.stderr)


def contradicting():
    """Two directories have a capture by the same name: one is taken, whatever the order."""
    with folder() as work:
        work = pathlib.Path(work)
        for host, packets in (("a", 100), ("b", 150)):
            (work / host).mkdir()
            (work / host / "x.pcap").write_bytes(small(packets))
            batch("x.pcap", out="out", cwd=work / host)
        results = []
        for order in (("a/out", "b/out"), ("b/out", "a/out")):
            out = "merged-" + order[0][0]
            done = merge(*order, out=out, cwd=work)
            check("contradicting: told", "x.pcap: " in done.stderr and
                  "not the same" in done.stderr)
            check("contradicting: status", done.returncode, 3)
            results.append(files_of(work / out / "captures"))
        check("contradicting: in any order", results[0], results[1])


def what_is_in(path):
    return files_of(path) if path.is_dir() else path.read_bytes()


def told_apart():
    """The table names captures with their labels."""
    with folder() as work:
        work = pathlib.Path(work)
        (work / "caps").mkdir()
        shutil.copy(LOSSY, work / "caps/x.pcap.gz")
        for host in ("a", "b"):
            batch("--label", host, "caps", out=host, cwd=work)
        table = merge("a", "b", out="both", cwd=work).stdout
        for name in ("a/caps/x.pcap.gz", "b/caps/x.pcap.gz"):
            check(f"told apart: {name}", table.count(name), 1)


def labelled():
    """Hosts whose captures lie at the same path, each with its label: all are kept, and merged
    they are what one batch after the other makes."""
    with folder() as work:
        work = pathlib.Path(work)
        (work / "caps").mkdir()
        for host in ("a", "b"):
            # The same size, so that only the label tells what was found on one from the other.
            (work / "caps/x.pcap").write_bytes(small(100, shift=10 * ord(host)))
            batch("--label", f"rack 1/{host}", "caps", out=host, cwd=work)
            one = batch("--append", "--label", f"rack 1/{host}", "caps", out="one", cwd=work)
        done = merge("a", "b", out="both", cwd=work)
        check("labelled: nothing to tell", done.stderr, "")
        check("labelled: status", done.returncode, 0)
        check("labelled: names", [row[0] for row in
                                  one.ask("SELECT name FROM captures ORDER BY name")],
              ["rack~201/a/caps/x.pcap", "rack~201/b/caps/x.pcap"])
        check("labelled: paths", one.ask("SELECT DISTINCT path FROM captures"),
              [("caps/x.pcap",)])
        for what in ("captures", "index.html", "summary.json"):
            check(f"labelled: {what} as of one after the other",
                  *(what_is_in(work / out / what) for out in ("both", "one")))
        summary = json.loads((work / "both/summary.json").read_text())
        check("labelled: whole", summary["complete"], True)
        check("labelled: inputs", record(work / "both")["batches"][0]["inputs"], 1)
        check("labelled: batches", len(record(work / "both")["batches"]), 2)
        refused = batch("--label", "", "caps", out="none", cwd=work)
        check("labelled: by nothing", refused.status, 2)


def among_captures():
    """Directories of batches are not searched, unless they are named."""
    with folder() as work:
        work = pathlib.Path(work)
        (work / "caps").mkdir()
        (work / "caps/x.pcap").write_bytes(small(50))
        batch("caps", out="caps/reports", cwd=work)
        (work / "caps/reports/y.pcap").write_bytes(small(60))
        check("among captures: not searched", batch("caps", out="out", cwd=work).statuses,
              {"caps/x.pcap": "complete"})
        named = batch("caps", "caps/reports", out="out", cwd=work).statuses
        check("among captures: searched if named", named.get("caps/reports/y.pcap"),
              "complete")


def failing_first():
    """A capture that failed in one place and was done in another is done."""
    with folder() as work:
        work = pathlib.Path(work)
        (work / "caps").mkdir()
        for i in range(3):
            (work / f"caps/c{i}x.pcap").write_bytes(small(200 + i))
        batch("--timeout", "1", "--memory", "4096", "caps", out="bad", cwd=work)
        statuses = batch("caps", out="good", cwd=work).statuses
        check("failing: all are done in one", set(statuses.values()), {"complete"})
        for order in (("bad", "good"), ("good", "bad")):
            shutil.rmtree(work / "out", ignore_errors=True)
            done = merge(*order, out="out", cwd=work)
            check("failing: not missing", (done.returncode, done.stderr), (0, ""))


def appended():
    """--append keeps what earlier batches left; a capture of the same name is replaced."""
    with folder() as work:
        work = pathlib.Path(work)
        for day in ("mon", "tue"):
            (work / day).mkdir()
            for i in range(2):
                (work / day / f"c{i}x.pcap").write_bytes(
                    small(60 + 10 * i, shift=86400 * (day == "tue")))
        batch("mon", out="out", cwd=work)
        done = batch("--append", "tue", out="out", cwd=work)
        check("append: does its own", done.analyzed, ["tue/c0x.pcap", "tue/c1x.pcap"])
        both = batch("mon", "tue", out="both", cwd=work)
        record_file = ".rocescope/batch.json"
        check("append: is what both together are",
              differences(work / "out", work / "both"), [record_file])
        check("append: tells of both", len(record(work / "out")["batches"]), 2)
        (work / "tue/c1x.pcap").write_bytes(small(90, shift=86400))
        done = batch("--append", "tue", out="out", cwd=work)
        check("append: replaced", done.analyzed, ["tue/c1x.pcap"])
        check("append: still four", len(done.summary["captures"]), 4)
        done = batch("--append", "--fail-on", "note", "nosuch", out="out", cwd=work)
        check("append: keeps when nothing comes", len(done.summary["captures"]), 5)
        done = batch("mistyped", out="out", cwd=work)
        done = batch("--append", "tue", out="out", cwd=work)
        check("append: behind a batch of which nothing came", (
            done.status, done.summary["captures_missing"], len(done.summary["captures"])),
              (0, 0, 6))
        batch("tue", out="out", cwd=work)
        done = batch("tue", out="out", cwd=work)
        check("append: a plain batch takes the old away", len(done.summary["captures"]), 2)
        done = batch("--append", "--shard", "1/2", "tue", out="x", cwd=work)
        check("append: not of a share", (done.status, "--append" in done.stderr), (2, True))


def interrupted_share():
    """A share that was not done to its end says so when it is merged."""
    with folder() as work:
        work = pathlib.Path(work)
        fill(work / "caps")
        parts = shares("caps", 2, work)
        lost = sorted((work / parts[0] / ".rocescope/parts").rglob("*.jsonl"))[:2]
        for path in lost:
            path.unlink()
        done = merge(*parts, out="out", cwd=work)
        summary = json.loads((work / "out/summary.json").read_text())
        check("interrupted share: status", done.returncode, 3)
        check("interrupted share: counted", summary["captures_missing"], len(lost))
        check("interrupted share: told", "no part has them" in done.stdout)
        batch("--shard", "1/2", "caps", out=parts[0], cwd=work)
        batch("caps", out="one", cwd=work)
        merge(*parts, out="out", cwd=work)
        check("interrupted share: is whole then", differences(work / "one", work / "out"),
              [])


def unfinished():
    """What a batch did not come to is of before: it counts as missing, when it is merged and
    when another batch is added to it."""
    with folder() as work:
        work = pathlib.Path(work)
        fill(work / "caps")
        (work / "other").mkdir()
        (work / "other/x.pcap").write_bytes(small(60))
        batch("caps", out="one", cwd=work)
        process = subprocess.Popen([BINARY, "batch", "--progress", "json", "-j", "1", "--port",
                                    "4444", "caps", "-o", "one"], cwd=work,
                                   stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        while b'"event":"capture"' not in process.stdout.readline():
            pass
        process.kill()
        process.communicate()
        time.sleep(0.1)  # its worker dies with it
        done = merge("one", out="out", cwd=work)
        missing = json.loads((work / "out/summary.json").read_text())["captures_missing"]
        check("unfinished: merged", (done.returncode, missing > 0), (3, True))
        check("unfinished: named", "one: caps/" in done.stderr, True)
        done = batch("--append", "--port", "4444", "other", out="one", cwd=work)
        check("unfinished: added to", (done.status, done.summary["captures_missing"]),
              (3, missing))
        done = batch("--append", "other", out="out", cwd=work)
        check("unfinished: merged and added to",
              (done.status, done.summary["captures_missing"]), (3, missing))
        batch("--port", "4444", "caps", out="one", cwd=work)
        batch("--port", "4444", "caps", out="fresh", cwd=work)
        check("unfinished: is whole then", differences(work / "fresh", work / "one"), [])
        done = merge("one", out="whole", cwd=work)
        check("unfinished: merges then", "no part has it" in done.stderr, False)
        check("unfinished: the same", differences(work / "fresh", work / "whole"), [])


def appended_to_damage():
    """An earlier capture whose part is damaged is named and counts as missing; its reports
    stay, since the capture itself may be gone."""
    with folder() as work:
        work = pathlib.Path(work)
        for name in ("old", "new"):
            (work / name).mkdir()
            for i in range(2):
                (work / name / f"c{i}x.pcap").write_bytes(small(60 + 10 * i))
        batch("old", out="out", cwd=work)
        with open(work / "out/.rocescope/parts/old/c0x.pcap.jsonl", "a") as part:
            part.write("{}\n")
        for _ in range(2):
            done = batch("--append", "new", out="out", cwd=work)
            check("damaged part: status", done.status, 3)
            check("damaged part: named", "old/c0x.pcap: an earlier batch" in done.stderr)
            check("damaged part: counted", (done.summary["captures_missing"],
                                            len(done.summary["captures"])), (1, 3))
            check("damaged part: its reports stay",
                  sorted(p.name for p in (work / "out/captures/old").iterdir()),
                  [f"c{i}x.pcap.{form}" for i in range(2) for form in ("html", "json")])
        lacking = merge(*shares(work / "new", 2, work)[:1], out="half", cwd=work)
        done = batch("--append", "old", out="half", cwd=work)
        check("a share is missing: still said", (lacking.returncode, done.status,
                                                 done.summary["complete"]), (3, 3, False))


def appended_to_a_damaged_manifest():
    """Parts are there: nothing of them is forgotten, and nobody is told less."""
    whole = b"".join(f"captures/old/c{i}x.pcap.html\n".encode() for i in range(2))
    for name, damage in (("missing", None), ("empty", b""), ("no text", bytes(range(256)) * 9),
                         ("cut", whole[:-20])):
        with folder() as work:
            work = pathlib.Path(work)
            for day in ("old/deep", "new"):
                (work / day).mkdir(parents=True)
                for i in range(2):
                    (work / day / f"c{i}x.pcap").write_bytes(small(60 + 10 * i))
            batch("old", out="out", cwd=work)
            batch("old", "new", out="both", cwd=work)
            manifest = work / "out/.rocescope/manifest"
            manifest.unlink()
            if damage is not None:
                manifest.write_bytes(damage)
            done = batch("--append", "new", out="out", cwd=work)
            check(f"manifest {name}: status", done.status, 0)
            check(f"manifest {name}: is what both together are",
                  differences(work / "out", work / "both"), [".rocescope/batch.json"])
            batch("new", out="out", cwd=work)
            check(f"manifest {name}: is known again",
                  list((work / "out/captures").glob("old/**/*.json")), [])


def killed():
    """A merge that was killed at any moment leaves nothing that looks whole and is not; the
    next one makes everything."""
    with folder() as work:
        work = pathlib.Path(work)
        fill(work / "caps")
        batch("caps", out="one", cwd=work)
        parts = shares("caps", 3, work)
        draw = random.Random(5)
        for _ in range(8):
            process = subprocess.Popen([BINARY, "merge", "-q", *parts, "-o", "out"], cwd=work)
            time.sleep(draw.uniform(0, 0.06))
            process.kill()
            process.wait()
            whole = work / "one"
            for path in (work / "out").rglob("*"):
                name = path.relative_to(work / "out")
                if path.is_file() and name.parts[0] == "captures":
                    check(f"killed: {name}", path.read_bytes(), (whole / name).read_bytes())
        merge(*parts, out="out", cwd=work)
        check("killed: whole at last", differences(whole, work / "out"), [])
        check("killed: no drafts", os.listdir(work / "out/.rocescope/tmp"), [])


def locked():
    """A part that is being written is named and left out."""
    with folder() as work:
        work = pathlib.Path(work)
        (work / "x.pcap").write_bytes(small(50))
        (work / "y.pcap").write_bytes(small(60))
        batch("x.pcap", out="one", cwd=work)
        batch("y.pcap", out="two", cwd=work)
        with open(work / "two/.rocescope/lock", encoding="ascii") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            done = merge("one", "two", out="out", cwd=work)
        check("locked: status", done.returncode, 3)
        check("locked: told", "two: another batch is writing" in done.stderr)
        check("locked: the other is there", (work / "out/captures/x.pcap.json").exists())


def command_line():
    with folder() as work:
        work = pathlib.Path(work)
        (work / "x.pcap").write_bytes(small(50))
        for text in ("", "1", "0/2", "3/2", "1/0", "a/b", "1/2/3", "-1/2", "1/4097", "1/2x"):
            done = batch("--shard", text, "x.pcap", out="out", cwd=work)
            check(f"shard {text!r}: status", done.status, 2)
            check(f"shard {text!r}: told", "--shard: I/N wanted" in done.stderr)
        slurm = {"SLURM_ARRAY_TASK_ID": "14", "SLURM_ARRAY_TASK_MIN": "10",
                 "SLURM_ARRAY_TASK_MAX": "16", "SLURM_ARRAY_TASK_COUNT": "4",
                 "SLURM_ARRAY_TASK_STEP": "2"}
        done = batch("--shard", "slurm", "x.pcap", out="slurm", cwd=work,
                     env=os.environ | slurm)
        shares_of = record(work / "slurm")["batches"][0]["shares"]
        check("slurm: share 3 of 4", (shares_of["of"], shares_of["have"][0][0]), (4, 3))
        for change in ({"SLURM_ARRAY_TASK_COUNT": "3"}, {"SLURM_ARRAY_TASK_ID": "15"},
                       {"SLURM_ARRAY_TASK_ID": "9"}, {"SLURM_ARRAY_TASK_STEP": "0"}):
            done = batch("--shard", "slurm", "x.pcap", out="slurm2", cwd=work,
                         env=os.environ | slurm | change)
            check(f"slurm: {change}", (done.status, "gaps" in done.stderr), (2, True))
        done = batch("--shard", "slurm", "x.pcap", out="slurm3", cwd=work)
        check("slurm: no task", (done.status, "no task of a Slurm array" in done.stderr),
              (2, True))
        batch("x.pcap", out="one", cwd=work)
        for arguments, wanted in ((["one"], "-o DIR is wanted"), ([], "no PART given"),
                                  (["one", "-o", "one"], "is both a part and where")):
            done = subprocess.run([BINARY, "merge", *arguments], cwd=work,
                                  capture_output=True, text=True, timeout=60)
            check(f"merge {arguments}", (done.returncode, wanted in done.stderr), (2, True))
        (work / "mine").mkdir()
        (work / "mine/file").write_text("x")
        done = merge("one", out="mine", cwd=work)
        check("merge: into what is not ours", (done.returncode, "not empty" in done.stderr),
              (2, True))


for part in (same, divided, missing, changing, damaged, contradicting, told_apart, labelled,
             among_captures, failing_first, appended, interrupted_share,
             unfinished, appended_to_damage, appended_to_a_damaged_manifest, killed, locked,
             command_line):
    part()
rows.finish()
