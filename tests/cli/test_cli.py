#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The command line as a user meets it: options, rotated files, terminals, signals."""

import gzip
import json
import lzma
import os
import pathlib
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time

SOURCE = pathlib.Path(os.environ.get("ROCESCOPE_SOURCE",
                                     pathlib.Path(__file__).resolve().parents[2]))
BINARY = os.environ.get("ROCESCOPE", str(SOURCE / "build/dev/bin/rocescope"))
LOSSY = SOURCE / "captures/03a_loss_data_0.5pct/receiver.pcap.gz"
DUPLICATED = SOURCE / "captures/04b_duplicate/receiver.pcap.gz"
CLEAN = SOURCE / "captures/01_write_rc_cm/sender.pcap.gz"
READS = SOURCE / "captures/03d_loss_read_resp/sender.pcap.gz"
MARKED = SOURCE / "captures/06a_ecn_netem/receiver.pcap.gz"
failures = 0


def check(row, got, want=True):
    global failures
    if got != want:
        failures += 1
        print(f"{row}: got {got!r}, want {want!r}")


def run(*arguments, **options):
    return subprocess.run([BINARY, *map(str, arguments)], capture_output=True, text=True,
                          timeout=120, errors="replace", **options)


def report(*arguments):
    done = run("--quiet", "--json", "-", *arguments)
    return json.loads(done.stdout)


def records(path):
    """File header and records of a little-endian classic capture."""
    data = gzip.decompress(path.read_bytes())
    at, out = 24, []
    while at < len(data):
        captured = struct.unpack_from("<I", data, at + 8)[0]
        out.append(data[at:at + 16 + captured])
        at += 16 + captured
    return data[:24], out


def over_loopback(header, all_records, link_type, order, families):
    """The same IP packets, as a loopback has them: behind an address family in that byte
    order.  families: of an ethertype."""
    out = [header[:20] + struct.pack("<I", link_type)]
    for record in all_records:
        family = families.get(record[28:30])
        if family is not None:
            captured, wire = struct.unpack_from("<II", record, 8)
            out += [record[:8], struct.pack("<II", captured - 10, wire - 10),
                    struct.pack(order + "I", family), record[30:]]
    return b"".join(out)


def loopback():
    """Filters are the same whatever system captured: libpcap's own look for the family of
    this machine, in its byte order."""
    ipv6 = SOURCE / "captures/02g_ipv6/sender.pcap.gz"
    for source, expression in ((LOSSY, "src host 10.77.1.1 and udp"), (ipv6, "ip6 and udp")):
        header, all_records = records(source)
        want = report("--filter", expression, source)["totals"]
        for link_type, order, family in ((0, "<", 30), (0, ">", 28), (0, "<", 10),
                                         (108, ">", 24)):
            with tempfile.TemporaryDirectory() as folder:
                path = pathlib.Path(folder, "x.pcap")
                path.write_bytes(over_loopback(header, all_records, link_type, order, {
                    b"\x08\x00": 2, b"\x86\xdd": family}))
                got = report("--filter", expression, path)["totals"]
                check(f"loopback {link_type} {order} {family}: packets",
                      got["packets"] == want["packets"] and got["packets"] > 100)


def rotated():
    """A capture split anywhere into rotated files is the same capture."""
    for source in (LOSSY, READS):
        header, all_records = records(source)
        whole = report(source)
        for cut in (1, len(all_records) // 3, len(all_records) - 1):
            with tempfile.TemporaryDirectory() as folder:
                parts = [pathlib.Path(folder, f"x.pcap{i}") for i in range(3)]
                middle = (cut + len(all_records)) // 2
                for part, some in zip(parts, (all_records[:cut], all_records[cut:middle],
                                              all_records[middle:])):
                    part.write_bytes(header + b"".join(some))
                split = report(*parts)
            row = f"rotated {source.parent.name} at {cut}"
            check(f"{row}: totals", split["totals"] == whole["totals"])
            check(f"{row}: streams", split["streams"] == whole["streams"])
            check(f"{row}: points", len(split["capture"]["points"]), 1)
            check(f"{row}: files", len(split["capture"]["files"]), 3)


def many_files():
    """The verdict does not stand behind a list of hundreds of files; damaged ones are told."""
    header, some = records(LOSSY)
    with tempfile.TemporaryDirectory() as folder:
        parts = [pathlib.Path(folder, f"x{i:02}.pcap") for i in range(25)]
        for i, part in enumerate(parts):
            part.write_bytes(header + b"".join(some[100 * i:100 * i + 100]))
        with parts[11].open("ab") as damaged:
            damaged.write(b"cut")

        def named(*arguments):
            lines = run("--no-color", *arguments, env=dict(os.environ, COLUMNS="300")).stdout
            head = lines.split("\nHow far")[0].splitlines()[1:]
            return [line.split("/")[-1].split("  ")[0] if "/" in line else line.strip()
                    for line in head if ".pcap" in line or "more" in line]

        names = [part.name for part in parts]
        check("many files", named(*parts),
              names[:3] + [names[11], "… and 20 more; --top 0 shows all", names[24]])
        check("many files: the damaged one", "x11.pcap: damaged at byte" in run(*parts).stdout)
        check("many files: --top 0", named("--top", 0, *parts), names)
        check("as many as a table has rows", named(*parts[5:]), names[5:])


def one_of_each():
    """One packet is "1 packet", and thousands are grouped alike in all lines."""
    header, some = records(LOSSY)
    with tempfile.TemporaryDirectory() as folder:
        single = pathlib.Path(folder, "single.pcap")
        single.write_bytes(header + some[19])
        one = run("--no-color", single, env=dict(os.environ, COLUMNS="300")).stdout
        check("a single packet", ("single.pcap  pcap-ns, 1 packet, " in one, " 1 packets" in one),
              (True, False))
    many = run("--no-color", LOSSY, env=dict(os.environ, COLUMNS="300")).stdout
    head = many.split("What is wrong")[0]
    check("thousands", "RoCE 2,479 " in head and "ICRC: 2,479 checked" in head)


def flows():
    """What is said of flows where one stream takes a source port for each packet."""
    header, some = records(LOSSY)
    patched = (r[:50] + struct.pack(">H", 0xC000 + n) + r[52:] for n, r in enumerate(some))
    with tempfile.NamedTemporaryFile(suffix=".pcap") as file:
        file.write(header + b"".join(patched))
        file.flush()
        text = run("--no-color", "--icrc=off", file.name,
                   env=dict(os.environ, COLUMNS="300")).stdout
    check("more flows than are told apart", "Predicted, of 256 and more flows" in text)
    check("one stream is not the largest of them", " streams with data" in text, False)


def handshakes():
    """What is told of a connection of which CM messages were missed."""
    rtu, rep = 0x14, 0x13
    for missed, others, want in (((), 8, "up in"), ((rtu,), 8, "no RTU seen"),
                                 ((rtu, rep), 8, "no REP seen"), ((rep,), 8, "up in")):
        head, of = records(CLEAN)
        kept = [r for r in of if not is_cm(r[16:], missed)]
        with tempfile.NamedTemporaryFile(suffix=".pcap") as file:
            file.write(head + b"".join(kept))
            file.flush()
            text = run("--no-color", file.name, env=dict(os.environ, COLUMNS="300")).stdout
        check(f"CM messages that were missed: {missed}", text.count(f"  {want}"), others)


def is_cm(frame, kinds):
    """Whether it is such a MAD on QP 1, without options and tags."""
    return frame[42:43] == b"\x64" and frame[47:50] == b"\0\0\1" and frame[79] in kinds


def options():
    whole = report(LOSSY)
    check("analyze may stand first", report("analyze", LOSSY)["totals"] == whole["totals"])
    some = report("--filter", "udp port 4791 and src host 10.77.1.1", LOSSY)
    check("--filter: other packets", some["capture"]["other_packets"], 0)
    check("--filter: RoCE packets", some["capture"]["roce_packets"], 2219)
    check("--filter: left out", some["capture"]["filtered_out"], 2517 - 2219)
    check("--filter: one direction, so NAKs are not known", some["totals"]["naks"], None)
    for text, filter in (("no RoCE packet passes the filter", ("--filter", "host 9.9.9.9")),
                         ("no RoCE packet passes the filter", ("--filter", "udp port 4792"))):
        check(f"{filter}", text in run("--no-color", *filter, LOSSY).stdout)
    check("--events 0", report("--events", 0, LOSSY)["events"], [])
    check("--events 5", len(report("--events", 5, LOSSY)["events"]), 5)
    few = report("--max-streams", 1, CLEAN)
    check("--max-streams", (len(few["streams"]), few["streams_omitted"]), (1, 17))
    check("--max-streams: totals are exact", few["totals"] == report(CLEAN)["totals"])
    again = report("--max-streams", 1, DUPLICATED)["streams"][0]
    check("--max-streams: the worst one, by its READ responses as well",
          (again["responses"]["resent"], again["requests"]["packets"]), (4, 0))
    check("--icrc off", report("--icrc", "off", LOSSY)["totals"]["icrc"]["checked"], 0)
    sampled = report("--icrc", "sample", LOSSY)["totals"]["icrc"]["checked"]
    check("--icrc sample", 900 < sampled < 1200)
    for mode, checked in ("all", 2479), ("sample", sampled), ("off", 0):
        told = " ".join(run("--no-color", "--icrc", mode, LOSSY).stdout.split())
        passed_over = 2479 - checked
        check(f"--icrc {mode}: what was checked", f"ICRC: {checked:,} checked, 0 bad" + (
            f", {passed_over:,} passed over (--icrc {mode})." if passed_over else ".") in told)
    moved = LOSSY.parent.parent / "02k_allops/sender.pcap.gz"
    check("--port adds", report("--port", "4791,5000", moved)["totals"]
          == report(moved)["totals"])
    for status, arguments in ((0, [CLEAN, "--fail-on", "warning"]),
                              (1, [CLEAN, "--fail-on", "note"]),
                              (1, [LOSSY, "--fail-on", "warning"]),
                              (0, [LOSSY, "--fail-on", "critical"]), (0, [LOSSY]),
                              (2, []), (2, ["--no-such-option", LOSSY]),
                              (2, ["--icrc", "some", LOSSY]), (2, ["--port", "x", LOSSY]),
                              (2, ["--link-speed", "fast", LOSSY]),
                              (2, ["--watchdog", "soon", LOSSY]),
                              (2, ["--watchdog", "0", LOSSY]),
                              (0, ["--watchdog", "SONiC", LOSSY]),
                              (0, ["--watchdog", "400", LOSSY]),
                              (2, ["--filter", "no such thing", LOSSY]),
                              (2, ["--fail-on", "never", LOSSY])):
        done = run("--quiet", *arguments)
        check(f"status of {arguments}", done.returncode, status)
        check(f"one line for {arguments}", done.stderr.count("\n"), int(status == 2))
        check(f"no output of {arguments}", done.stdout, "")
    rows = run("--no-color", "--top", "1", CLEAN).stdout
    check("--top 1", "and 17 more" in rows)


def version():
    """Every library that the program loads is told, with the version that is installed and a
    licence; the first line is for programs, and nothing depends on when or where."""
    text = run("--version").stdout
    check("--version: first line", bool(re.fullmatch(r"rocescope \d+\.\d+\.\d+",
                                                     text.splitlines()[0])))
    rows = {cells[0].lower().removeprefix("lib"): cells[1:] for cells in
            (re.split(r"  +", line.strip()) for line in
             text.split("\n\n")[2].splitlines()[1:])}
    needed = subprocess.run(["readelf", "-dW", BINARY], capture_output=True, text=True)
    loaded = set(re.findall(r"\(NEEDED\).*\[lib([\w.-]+?)(?:-2\.0)?\.so", needed.stdout))
    own = {"c", "m", "dl", "rt", "pthread", "resolv",  # of the C library, of the compiler,
           "gcc_s", "asan", "ubsan", "tsan", "gcov",
           "gcrypt"}  # and what pkg-config names for nDPI, where linkers keep what is not used
    names = {"z": "zlib", "sqlite3": "sqlite"}
    check("--version: libraries", set(rows), {names.get(name, name) for name in loaded - own})
    modules = {"deflate": "libdeflate", "glib": "glib-2.0", "sqlite": "sqlite3"}
    for name, (built, running, licence) in rows.items():
        module = modules.get(name, name)
        for prefix in ("", "lib"):
            done = subprocess.run(["pkg-config", "--modversion", prefix + module],
                                  capture_output=True, text=True)
            if done.returncode == 0:
                break
        check(f"--version: {name} built with", built, done.stdout.strip())
        check(f"--version: {name} runs with",
              running in (built, built + ".0") or running == "not told" and name == "deflate")
        check(f"--version: {name} has a licence", licence != "")
    with_ndpi = "ndpi" in rows
    check("--version: nDPI", f"Names other traffic (nDPI): {'yes' if with_ndpi else 'no'}" in text)
    check("--version: licence of the binary", re.findall(r"conveyed under (\S+)\.", text),
          ["GPL-3.0-or-later" if with_ndpi else "GPL-2.0-or-later"])
    with tempfile.TemporaryDirectory() as folder:
        page = pathlib.Path(folder, "page.html")
        run("--quiet", "--html", page, CLEAN)
        carried = re.search(r"dygraphs/blob/v([\d.]+)/", page.read_text()).group(1)
    check("--version: dygraphs", f"dygraphs {carried} (MIT)" in text)
    elsewhere = run("--version", cwd="/", env={**os.environ, "LC_ALL": "C", "COLUMNS": "40",
                                               "TZ": "Asia/Tokyo"})
    check("--version: the same anywhere", elsewhere.stdout, text)
    check("--version: no directory of the build", str(SOURCE) in text, False)


def helps():
    """Help fits a screen of 24 lines and 80 columns; all options do not, but fit its width."""
    overview = run("--help").stdout
    commands = re.findall(r"^  (\w+) ", overview.split("Commands:")[1], re.MULTILINE)
    check("--help lists commands", "analyze" in commands)
    check("-h", run("-h").stdout, overview)
    for words in ([], *([command] for command in commands)):
        row = " ".join(["rocescope", *words])
        short, full = run(*words, "--help"), run(*words, "--help-all")
        check(f"{row} --help: status", (short.returncode, full.returncode), (0, 0))
        check(f"{row} --help: nothing wrong", short.stderr + full.stderr, "")
        check(f"{row} --help: lines", short.stdout.count("\n") <= 24)
        check(f"{row} --help: columns", max(map(len, short.stdout.splitlines())) <= 80)
        check(f"{row} --help-all: columns", max(map(len, full.stdout.splitlines())) <= 80)
        option = r"^  (?:-\w, |    )(--[\w-]+)"
        few, every = (re.findall(option, done.stdout, re.MULTILINE) for done in (short, full))
        check(f"{row} --help-all has no option twice", len(every), len(set(every)))
        check(f"{row} --help has no other options", set(few) - set(every), set())
        check(f"{row} --help-all has more", "--help" in every and len(every) > len(few))
    with tempfile.TemporaryDirectory() as folder:
        for words, want in ((["help"], overview), (["help", "no such"], overview),
                            (["help", "batch"], run("batch", "--help").stdout)):
            done = run(*words, cwd=folder)
            check(f"{words}", (done.returncode, done.stdout == want, done.stderr),
                  (0, True, ""))
        mistyped = run("watch", cwd=folder)
        check("a word that is no command: status", mistyped.returncode, 3)
        check("a word that is no command", "watch: is no command" in mistyped.stderr)
        for word in ("help", "watch"):
            pathlib.Path(folder, word).write_bytes(LOSSY.read_bytes())
            done = run(word, cwd=folder)
            check(f"a capture of the name {word}", (done.returncode, done.stderr), (0, ""))
    check("help comes before files", run("--help", "/no/such/file").returncode, 0)
    check("--help does not hide a mistake", run("--help", "--no-such").returncode, 2)


def json_targets():
    with tempfile.TemporaryDirectory() as folder:
        target = pathlib.Path(folder, "r.json")
        check("--json FILE", run("--quiet", "--json", target, LOSSY).returncode, 0)
        check("--json FILE: whole", json.loads(target.read_text())["schema_version"], 1)
        check("--json FILE: nothing beside it", os.listdir(folder), ["r.json"])
        check("--json into nowhere", run("--quiet", "--json", f"{folder}/no/r.json",
                                         LOSSY).returncode != 0)
        twice = run("--quiet", "--json", f"{folder}/./both", "--html", f"{folder}/both", LOSSY)
        check("two outputs of one name that is new", (
            twice.returncode, "cannot both have" in twice.stderr), (2, True))
        check("--json /dev/null", run("--quiet", "--json", "/dev/null", LOSSY).returncode, 0)
        check("/dev/null is still a device", os.path.isfile("/dev/null"), False)
        fifo = pathlib.Path(folder, "fifo")
        os.mkfifo(fifo)
        got = []
        reader = threading.Thread(target=lambda: got.append(fifo.read_text()))
        reader.start()
        run("--quiet", "--json", fifo, LOSSY)
        reader.join(30)
        check("--json FIFO", json.loads(got[0])["totals"]["packets"] > 0)
        capture = pathlib.Path(folder, "c.pcap.gz")
        capture.write_bytes(LOSSY.read_bytes())
        link = pathlib.Path(folder, "hard.pcap.gz")
        os.link(capture, link)
        for row, arguments in (
                ("--json onto its input", ("--json", capture)),
                ("--html onto a link to its input", ("--html", link)),
                ("two reports in one file", ("--json", f"{folder}/x", "--html", f"{folder}/x")),
                ("two reports on standard output", ("--json", "-", "--html", "-")),
                ("a name that is empty", ("--json=",))):
            check(row, run("--quiet", *arguments, capture).returncode, 2)
        check("and the input is as it was", capture.read_bytes(), LOSSY.read_bytes())
        check("two reports to nowhere", run("--quiet", "--json", "/dev/null", "--html",
                                            "/dev/null", capture).returncode, 0)
        said = run("--quiet", "--json", f"{capture}/r.json", LOSSY).stderr
        check("why it cannot be written", "Not a directory" in said)
    text = run("--json", "/dev/null", LOSSY).stdout
    check("text beside --json FILE", "What is wrong" in text)
    check("--json - is all of standard output", run("--json", "-", LOSSY).stdout[0], "{")


def replaced():
    """A file that is written over keeps its mode, and the links to it; a new one has the
    usual mode."""
    with tempfile.TemporaryDirectory() as folder:
        room = pathlib.Path(folder)
        old, fresh, link, chain, dangling, loop = (
            room / name for name in ("old", "fresh", "link", "chain", "dangling", "loop"))
        old.write_text("old")
        old.chmod(0o640)
        (room / "sub").mkdir()
        link.symlink_to("sub/../old")
        chain.symlink_to(link)
        dangling.symlink_to("sub/new")
        loop.symlink_to("loop")
        for target, becomes, mode in ((old, old, 0o640), (link, old, 0o640),
                                      (chain, old, 0o640), (fresh, fresh, 0o644),
                                      (dangling, room / "sub/new", 0o644)):
            old.write_text("old")
            done = run("--quiet", "--html", target, LOSSY, umask=0o022)
            check(f"{target.name}: status", done.returncode, 0)
            check(f"{target.name}: written", "<html" in becomes.read_text())
            check(f"{target.name}: mode", becomes.stat().st_mode & 0o777, mode)
        check("links stay", [path.is_symlink() for path in (link, chain, dangling, loop)],
              [True] * 4)
        done = run("--quiet", "--json", loop, LOSSY)
        check("a link that leads nowhere", (done.returncode, "symbolic links" in done.stderr),
              (3, True))
        (room / "sub/new").unlink()
        twice = run("--quiet", "--json", dangling, "--html", room / "sub/new", LOSSY)
        check("two names of one file that is new", twice.returncode, 2)
        check("nothing is left", sorted(os.listdir(room)),
              ["chain", "dangling", "fresh", "link", "loop", "old", "sub"])


def refused_early():
    """What cannot be written is told before anything is read."""
    with tempfile.TemporaryDirectory() as folder:
        room = pathlib.Path(folder)
        (room / "file").write_text("")
        missing, inputs = room / "no/out", (room / "no.pcap", room / "none.pcap")
        in_file = room / "file/out"
        for arguments in (("--json", missing), ("--html", missing), ("--csv", in_file),
                          ("--csv", room / "file"), ("compare", "--json", missing),
                          ("compare", "--csv", in_file),
                          ("extract", "--time", "-", "-w", missing)):
            done = run(*arguments, *inputs)
            check(f"{arguments}: status", (done.returncode, done.stdout), (3, ""))
            check(f"{arguments}: one line", (done.stderr.count("\n"),
                                            str(arguments[-1]) in done.stderr), (1, True))
        run("--quiet", "--csv", room / "a/b", "--filter", "no such thing", LOSSY)
        check("a directory is made when there is something for it", os.listdir(room), ["file"])


def packed(content):
    """Name -> the content compressed so, by the commands where Python has no module."""
    def command(*words):
        return subprocess.run(words, input=content, capture_output=True, timeout=120,
                              check=True).stdout
    half = len(content) // 2
    return {
        "gzip": gzip.compress(content), "xz": lzma.compress(content),
        "zstd": command("zstd", "-qc"), "zstd --long": command("zstd", "-qc", "--long=27"),
        "lz4": command("lz4", "-qc"), "lz4 -9 -BD": command("lz4", "-qc", "-9", "-BD", "-BX"),
        "two xz streams": lzma.compress(content[:half]) + bytes(8)
        + lzma.compress(content[half:], check=lzma.CHECK_SHA256),
        "two zstd frames": command("zstd", "-qc", "--no-check") + b"\x50\x2a\x4d\x18\0\0\0\0",
    }


def without_names(text):
    """A report without what says where the capture was read from."""
    out = json.loads(text)
    for file in out["capture"]["files"]:
        del file["path"]
    for point in out["capture"]["points"]:
        del point["file"]
    for part in (part for finding in out["findings"] for part in finding["files"]):
        del part["file"]
    return out


def compressed():
    """A capture says the same however it is compressed and whatever its name."""
    content = gzip.decompress(LOSSY.read_bytes())
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "x.pcap")
        path.write_bytes(content)
        whole = without_names(run("--quiet", "--json", "-", path).stdout)
        check("plain", whole["totals"]["packets"], 2479)
        for name, data in packed(content).items():
            path.write_bytes(data)
            done = run("--quiet", "--json", "-", path)
            check(f"{name}: status", (done.returncode, done.stderr), (0, ""))
            check(f"{name}: report", without_names(done.stdout) == whole)
            piped = subprocess.run([BINARY, "--quiet", "--json", "-", "-"], input=data,
                                   capture_output=True, timeout=120)
            check(f"{name}: pipe", without_names(piped.stdout) == whole)
        old = subprocess.run(["lz4", "-qlc"], input=content, capture_output=True, check=True)
        path.write_bytes(old.stdout)
        done = run("--quiet", path)
        check("lz4 -l: status", (done.returncode, done.stderr.count("\n")), (3, 1))
        check("lz4 -l: refused", "is compressed with lz4 -l" in done.stderr)


def standard_input():
    data = gzip.decompress(LOSSY.read_bytes())
    for name, content in (("plain", data), ("gzip", LOSSY.read_bytes())):
        done = subprocess.run([BINARY, "--quiet", "--json", "-", "-"], input=content,
                              capture_output=True, timeout=120)
        check(f"stdin {name}", json.loads(done.stdout)["totals"]["packets"], 2479)


def on_terminal(arguments, feed=None, interrupt_after=None, term="xterm"):
    """Runs on a pseudo-terminal; what it printed, and its status."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.environ["TERM"] = term
        os.environ.pop("NO_COLOR", None)
        os.execv(BINARY, [BINARY, *map(str, arguments)])
    out, start, interrupted = b"", time.monotonic(), False
    writer = threading.Thread(target=feed) if feed else None
    if writer:
        writer.start()
    while time.monotonic() - start < 60:
        ready = select.select([terminal], [], [], 0.2)[0]
        if ready:
            try:
                piece = os.read(terminal, 65536)
            except OSError:
                break
            if not piece:
                break
            out += piece
        if interrupt_after and not interrupted and \
                time.monotonic() - start > interrupt_after:
            interrupted = True
            os.kill(pid, signal.SIGINT)
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    if writer:
        writer.join(30)
    return out.decode("utf-8", "replace"), status


def terminals():
    out, status = on_terminal([LOSSY])
    check("terminal: colour", "\x1b[33;1m" in out)
    check("terminal: status", status, 0)
    out, _ = on_terminal(["--no-color", LOSSY])
    check("terminal: --no-color", "\x1b" not in out)
    for term in ("dumb", ""):
        out, _ = on_terminal([LOSSY], term=term)
        check(f"terminal: {term!r}: no colour", "\x1b" not in out)
    check("pipe: no colour", "\x1b" not in run(LOSSY).stdout)
    narrow = run("--no-color", CLEAN, env=dict(os.environ, COLUMNS="60")).stdout
    tables = narrow.split("\nStreams")[1]
    check("narrow: tables fit", max(map(len, tables.splitlines())) <= 60)


def slow_capture(path):
    """Feeds a FIFO with a capture, pausing in the middle for the user to lose patience."""
    header, some = records(LOSSY)
    try:
        with open(path, "wb", buffering=0) as pipe:
            pipe.write(header + b"".join(some[:1200]))
            for record in some[1200:]:
                time.sleep(0.01)
                pipe.write(record)
    except BrokenPipeError:
        pass


def closed_streams():
    """Messages never go into files that have a closed stream's number."""
    with tempfile.TemporaryDirectory() as folder:
        capture = pathlib.Path(folder, "x.pcap")
        header, some = records(LOSSY)
        capture.write_bytes(header + b"".join(some[:200]) + some[200][:20])
        for fds in ((0,), (1,), (2,), (1, 2), (0, 1, 2)):
            for command in ([capture], ["extract", capture, "--time", "-", "-w", "-"],
                            ["batch", capture, "-o", pathlib.Path(folder, f"out{len(fds)}")]):
                def close(fds=fds):
                    for fd in fds:
                        os.close(fd)
                row = f"closed {fds}: {pathlib.Path(str(command[0])).name}"
                done = run(*command, preexec_fn=close)
                check(row, done.returncode >= 0 and (1 not in fds or done.returncode == 3))
        for lock in pathlib.Path(folder).glob("out*/.rocescope/lock"):
            check("closed: the lock is empty", lock.read_bytes(), b"")


def interrupts():
    with tempfile.TemporaryDirectory() as folder:
        fifo = pathlib.Path(folder, "capture")
        os.mkfifo(fifo)
        out, status = on_terminal([fifo], feed=lambda: slow_capture(fifo),
                                  interrupt_after=4)
    plain = re.sub(r"\x1b\[[0-9;]*[A-Za-z]", "", out)
    check("SIGINT: what was found so far", "Interrupted" in plain and "Streams" in plain)
    check("SIGINT: status", status, 3)
    check("progress is shown on a terminal", "packets" in plain.split("rocescope 0")[0])


for part in (loopback, rotated, many_files, one_of_each, flows, handshakes, options, version,
             helps, json_targets, replaced, refused_early, compressed, standard_input,
             terminals, closed_streams, interrupts):
    part()
print(f"{failures} rows failed" if failures else "the command line holds")
sys.exit(1 if failures else 0)
