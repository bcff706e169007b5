#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Batches that are interrupted, repeated, changed, or meet each other; workers that come to
a bad end."""

import fcntl
import json
import os
import pathlib
import shutil
import signal
import subprocess
import time

from batching import (BINARY, LOSSY, Rows, SANITIZED, batch, differences, folder, records, small)

rows = Rows()
check = rows.check

N = 8


def make_captures(where, n=N):
    where.mkdir()
    for i in range(n):
        (where / f"c{i:02}x.pcap").write_bytes(small(shift=1000 * i))


def large(path, copies=40):
    """A capture that takes seconds to analyze."""
    header, some = records(LOSSY)
    body = b"".join(some)
    with open(path, "wb") as out:
        out.write(header)
        for i in range(copies):
            second = i * 1000
            at = 0
            piece = bytearray(body)
            for record in some:
                stamp = int.from_bytes(record[:4], "little") + second
                piece[at:at + 4] = stamp.to_bytes(4, "little")
                at += len(record)
            out.write(piece)


def start(work, *arguments):
    return subprocess.Popen([BINARY, "batch", "--progress", "json", *arguments], cwd=work,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def until(process, n):
    """Reads events until so many captures have ended."""
    seen = []
    while len(seen) < n:
        line = process.stdout.readline()
        if not line:
            break
        event = json.loads(line)
        if event["event"] == "capture":
            seen.append(event["name"])
    return seen


def children(pid):
    found = []
    for path in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue
        if int(fields[1]) == pid:
            found.append(int(path.parent.name))
    return found


def stands_still(pid):
    """Stops a process; whether it had not ended before."""
    try:
        os.kill(pid, signal.SIGSTOP)
        while True:
            stat = pathlib.Path(f"/proc/{pid}/stat").read_text()
            state = stat.rsplit(")", 1)[1].split()[0]
            if state in "TZX":
                return state == "T"
            time.sleep(0.001)
    except (ProcessLookupError, FileNotFoundError):
        return False


def go_on(pids):
    for pid in pids:
        os.kill(pid, signal.SIGCONT)


def stop_workers(process, report):
    """Stops a batch's workers while this report is not there; their ids.  None: it came
    first."""
    while process.poll() is None:
        pids = [pid for pid in children(process.pid) if stands_still(pid)]
        if report.exists():
            go_on(pids)
            break
        if pids:
            return pids
        time.sleep(0.005)
    return []


def held(out, report, *arguments, after=0):
    """A batch whose workers stand still, so many captures after its start and before a
    report: the process, the captures, the workers.  Where the report comes first, as it may
    on a machine that has much to do, that batch is none of those meant here: another one."""
    for _ in range(20):
        process = start(out.parent, *arguments, "-o", out.name)
        seen = until(process, after)
        pids = stop_workers(process, out / "captures" / report)
        if pids:
            return process, seen, pids
        process.communicate(timeout=120)
        shutil.rmtree(out)
    raise AssertionError(f"no worker was met before {report}")


def drafts(out):
    return os.listdir(out / ".rocescope/tmp")


def repeated():
    """Nothing is done twice; what changed is done again."""
    with folder() as work:
        caps, out = pathlib.Path(work, "caps"), pathlib.Path(work, "out")
        make_captures(caps)
        first = batch("caps", out="out", cwd=work)
        check("repeated: all at first", len(first.analyzed), N)
        shutil.copytree(out, pathlib.Path(work, "before"))
        check("repeated: none again", batch("caps", out="out", cwd=work).analyzed, [])
        check("repeated: the same directory",
              differences(out, pathlib.Path(work, "before")), [])

        touched = caps / "c01x.pcap"
        os.utime(touched, (0, 0))
        check("repeated: another time stamp", batch("caps", out="out", cwd=work).analyzed,
              [])
        stamps = (touched.stat().st_atime_ns, touched.stat().st_mtime_ns)
        content = bytearray(touched.read_bytes())
        content[-1] ^= 1
        touched.write_bytes(content)
        os.utime(touched, ns=stamps)
        check("repeated: another content with the same stamp and size",
              batch("caps", out="out", cwd=work).analyzed, ["caps/c01x.pcap"])

        report = out / "captures/caps/c02x.pcap.json"
        report.write_text("changed")
        check("repeated: a report that was changed",
              batch("caps", out="out", cwd=work).analyzed, ["caps/c02x.pcap"])
        report.unlink()
        check("repeated: a report that is gone",
              batch("caps", out="out", cwd=work).analyzed, ["caps/c02x.pcap"])
        part = out / ".rocescope/parts/caps/c03x.pcap.jsonl"
        part.write_bytes(part.read_bytes()[:-100])
        check("repeated: a part that is damaged",
              batch("caps", out="out", cwd=work).analyzed, ["caps/c03x.pcap"])

        (caps / "c04x.pcap").rename(caps / "d.pcap")
        renamed = batch("caps", out="out", cwd=work)
        check("repeated: renamed", renamed.report("caps/d.pcap")["capture"]["files"][0]
              ["path"], "caps/d.pcap")
        check("repeated: its old report", (out / "captures/caps/c04x.pcap.json").exists(),
              False)
        fresh = batch("caps", out="fresh", cwd=work)
        check("repeated: as a fresh batch", differences(out, fresh.out), [])


def options():
    """Every option that changes a report has it made again, and no other does."""
    values = {
        "--filter": "udp", "--port": "4792", "--icrc": "off", "--link-speed": "25G",
        "--burst": "1G", "--hosts": "hosts", "--qp-map": "10.77.1.1=qps",
        "--captured-at": "10.77.1.1", "--dscp-map": "26:4", "--watchdog": "sonic",
        "--events": "7", "--max-streams": "5", "--label": "node1",
    }
    neutral = {"--top": "3", "--fail-on": "critical", "--jobs": "1", "--timeout": "100",
               "--memory": "8G", "--no-color": None, "--quiet": None,
               "--progress": "json", "--output": None, "--append": None,
               "--shard": "1/1"}
    text = subprocess.run([BINARY, "batch", "--help-all"], capture_output=True, text=True,
                          check=True, timeout=60).stdout
    listed = {word.strip(",").split("=")[0] for line in text.splitlines()
              for word in line.split()[:2] if word.startswith("--")
              and line.startswith("  ")}
    check("options: all of --help-all are known here",
          sorted(listed - set(values) - set(neutral) - {"--help", "--help-all"}), [])
    with folder() as work:
        pathlib.Path(work, "x.pcap").write_bytes(small())
        hosts = pathlib.Path(work, "hosts")
        hosts.write_text("10.77.1.1 one\n")
        pathlib.Path(work, "qps").write_text("[]")
        for option, value in values.items():
            batch("x.pcap", out="out", cwd=work)
            done = batch("x.pcap", option, value, out="out", cwd=work)
            name = f"{value}/x.pcap" if option == "--label" else "x.pcap"
            check(f"options: {option}", done.analyzed, [name])
            again = batch("x.pcap", option, value, out="out", cwd=work)
            check(f"options: {option} again", again.analyzed, [])
        batch("x.pcap", "--hosts", "hosts", out="out", cwd=work)
        hosts.write_text("10.77.1.1 two\n")
        before = batch("x.pcap", "--hosts", "hosts", out="out", cwd=work)
        check("options: another content of --hosts", before.analyzed, ["x.pcap"])
        for option, value in neutral.items():
            if option in ("--output", "--progress") or \
                    (option == "--memory" and SANITIZED):
                continue
            words = [option] if value is None else [option, value]
            done = batch("x.pcap", "--hosts", "hosts", *words, out="out", cwd=work)
            check(f"options: {option}", done.analyzed, [])


def other_inputs():
    """A second batch leaves what a fresh one would, and nothing of the user's goes."""
    with folder() as work:
        caps, out = pathlib.Path(work, "caps"), pathlib.Path(work, "out")
        make_captures(caps)
        batch("caps", out="out", cwd=work)
        (out / "captures/caps/notes.txt").write_text("by hand")
        second = batch("caps/c00x.pcap", "caps/c01x.pcap", out="out", cwd=work)
        check("other inputs: none again", second.analyzed, [])
        check("other inputs: notes stay", (out / "captures/caps/notes.txt").exists())
        (out / "captures/caps/notes.txt").unlink()
        fresh = batch("caps/c00x.pcap", "caps/c01x.pcap", out="fresh", cwd=work)
        check("other inputs: as a fresh batch", differences(out, fresh.out), [])
        manifest = out / ".rocescope/manifest"
        victim = pathlib.Path(work, "victim")
        victim.write_text("not to be removed")
        (out / "captures/mine").write_text("nor this")
        manifest.write_text(manifest.read_text() + "../victim\ncaptures/../../victim\n"
                            + str(victim) + "\n")
        batch("caps/c00x.pcap", out="out", cwd=work)
        check("other inputs: a manifest that lies", victim.exists())
        check("other inputs: what no manifest has", (out / "captures/mine").exists())


def killed():
    """kill -9 at any moment: the next batch goes on, and ends as if nothing had been."""
    with folder() as work:
        caps = pathlib.Path(work, "caps")
        make_captures(caps)
        fresh = batch("caps", out="fresh", cwd=work)
        for n in (0, 1, 3, N - 1, N):
            out = pathlib.Path(work, f"out{n}")
            process = start(work, "caps", "-o", out.name, "-j", "2")
            seen = until(process, n)
            process.kill()
            process.wait()
            time.sleep(0.1)  # its workers die with it
            done = batch("caps", out=out.name, cwd=work)
            check(f"killed after {n}: nothing twice",
                  sorted(set(done.analyzed) & set(seen)), [])
            check(f"killed after {n}: as a fresh batch", differences(out, fresh.out), [])
            check(f"killed after {n}: no drafts", drafts(out), [])


def interrupted():
    """Ctrl-C ends the batch in order: what is done is there, and says that it is not all."""
    with folder() as work:
        caps = pathlib.Path(work, "caps")
        make_captures(caps)
        large(caps / "y_large.pcap")
        large(caps / "z_large.pcap")
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            name = signal.Signals(number).name
            out = pathlib.Path(work, name)
            process, seen, _ = held(out, "caps/z_large.pcap.json", "caps", "-j", "1", after=N)
            process.send_signal(number)
            rest, _ = process.communicate(timeout=60)
            end = json.loads(rest.splitlines()[-1])
            check(f"{name}: status", process.returncode, 3)
            check(f"{name}: said", (end["complete"], end["exit_status"]), (False, 3))
            summary = json.loads((out / "summary.json").read_text())
            check(f"{name}: what is done", len(summary["captures"]) >= len(seen))
            check(f"{name}: what is missing", summary["captures_missing"],
                  N + 2 - len(summary["captures"]))
            check(f"{name}: the index says so",
                  "interrupted" in (out / "index.html").read_text())
            check(f"{name}: no drafts", drafts(out), [])
            done = batch("caps", out=name, cwd=work)
            check(f"{name}: nothing twice", sorted(set(done.analyzed) & set(seen)), [])
            check(f"{name}: complete", done.summary["complete"])


def interrupted_while_nobody_reads():
    """A line of progress waits for room in a pipe when the signal comes: it is not cut."""
    with folder() as work:
        pathlib.Path(work, "x.pcap").write_bytes(small())
        reader, writer = os.pipe()
        full = fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, 4096)
        os.write(writer, bytes(full))
        process = subprocess.Popen([BINARY, "batch", "--progress", "json", "x.pcap", "-o", "out"],
                                   cwd=work, stdout=writer, stderr=subprocess.PIPE)
        os.close(writer)
        time.sleep(1)
        process.send_signal(signal.SIGTERM)
        time.sleep(0.2)
        with os.fdopen(reader, "rb") as pipe:
            events = [json.loads(line)["event"] for line in pipe.read()[full:].splitlines()]
        check("nobody reads: first, last", (events[0], events[-1]), ("start", "end"))
        check("nobody reads: said", process.stderr.read(), b"")
        check("nobody reads: status", process.wait(60) in (0, 3))


def two_at_once():
    """A second batch into the same directory is refused while the first one runs."""
    with folder() as work:
        pathlib.Path(work, "x.pcap").write_bytes(small())
        large(pathlib.Path(work, "large.pcap"))
        process, _, workers = held(pathlib.Path(work, "out"), "large.pcap.json", "large.pcap")
        second = batch("x.pcap", out="out", cwd=work)
        check("two at once: refused", second.status, 2)
        check("two at once: said", "another batch" in second.stderr)
        go_on(workers)
        process.communicate(timeout=120)
        check("two at once: the first one", process.returncode, 0)
        check("two at once: afterwards", batch("x.pcap", out="out", cwd=work).status, 0)


def crashed():
    """A worker that is killed costs its own report only."""
    with folder() as work:
        caps = pathlib.Path(work, "caps")
        caps.mkdir()
        large(caps / "large.pcap")
        (caps / "small.pcap").write_bytes(small())
        out = pathlib.Path(work, "out")
        process, seen, workers = held(out, "caps/large.pcap.json", "caps", "-j", "2", after=1)
        check("crashed: while the other was done", seen, ["caps/small.pcap"])
        for pid in workers:
            os.kill(pid, signal.SIGSEGV)
        go_on(workers)
        process.communicate(timeout=120)
        check("crashed: status", process.returncode, 3)
        summary = json.loads((out / "summary.json").read_text())
        by_name = {c["name"]: c for c in summary["captures"]}
        check("crashed: the other", by_name["caps/small.pcap"]["status"], "complete")
        bad = by_name["caps/large.pcap"]
        check("crashed: listed", bad["status"], "failed")
        check("crashed: why", "signal 11" in bad["reason"] or "status 1" in bad["reason"])
        check("crashed: in the index", "signal 11" in (out / "index.html").read_text()
              or "status 1" in (out / "index.html").read_text())
        check("crashed: no report", (out / "captures/caps/large.pcap.json").exists(), False)
        done = batch("caps", out="out", cwd=work)
        check("crashed: tried again", done.analyzed, ["caps/large.pcap"])
        fresh = batch("caps", out="fresh", cwd=work)
        check("crashed: as a fresh batch", differences(out, fresh.out), [])


def limits():
    """What takes too long, or too much memory, is given up and said to be."""
    with folder() as work:
        large(pathlib.Path(work, "large.pcap"))
        pathlib.Path(work, "small.pcap").write_bytes(small())
        process, _, _ = held(pathlib.Path(work, "out"), "large.pcap.json", "large.pcap",
                             "small.pcap", "-j", "1", "--timeout", "5")
        process.communicate(timeout=120)
        summary = json.loads(pathlib.Path(work, "out/summary.json").read_text())
        late = {c["name"]: c for c in summary["captures"]}
        check("--timeout: status", process.returncode, 3)
        check("--timeout: given up", late["large.pcap"]["status"], "failed")
        check("--timeout: why", late["large.pcap"]["reason"], "took longer than 5 s")
        check("--timeout: the other", late["small.pcap"]["status"], "complete")
        if SANITIZED:
            return
        done = batch("small.pcap", "--memory", "3M", out="out2", cwd=work)
        check("--memory: status", done.status, 3)
        check("--memory: why", done.summary["captures"][0]["reason"], "out of memory")
        for enough in ("1G", "1048576K"):
            done = batch("small.pcap", "--memory", enough, out=f"out {enough}", cwd=work)
            check(f"--memory={enough}", done.status, 0)


def full_disk():
    """A report that cannot be written is a failure that is told."""
    with folder() as work:
        pathlib.Path(work, "x.pcap").write_bytes(small())
        out = pathlib.Path(work, "out")
        (out / ".rocescope").mkdir(parents=True)
        (out / "captures").write_text("in the way")
        done = batch("x.pcap", out="out", cwd=work)
        check("in the way: status", done.status, 3)
        check("in the way: said", "captures" in done.stderr)
        check("in the way: stays", (out / "captures").read_text(), "in the way")


for part in (repeated, options, other_inputs, killed, interrupted,
             interrupted_while_nobody_reads, two_at_once, crashed,
             limits, full_disk):
    part()
rows.finish()
