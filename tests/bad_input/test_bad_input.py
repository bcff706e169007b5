#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What the command does with input that is missing, damaged or odd, and with wrong usage.

design.md, Command line: one line on standard error for each bad input, with the file and
the byte; exit status 2 usage, 3 not read in full, 1 a finding at or above --fail-on, 0;
what stands before the damage is reported; --json to a regular file appears whole or not
at all.  Each row is a function; a failure prints its name.
"""

import fcntl
import json
import os
import pathlib
import random
import re
import resource
import signal
import stat
import subprocess
import sys
import tempfile
import threading
import time

SOURCE = pathlib.Path(os.environ.get("ROCESCOPE_SOURCE",
                                     pathlib.Path(__file__).resolve().parents[2]))
BINARY = os.environ.get("ROCESCOPE", str(SOURCE / "build/dev/bin/rocescope"))
sys.path.insert(0, str(SOURCE / "tests/sim"))

import roce  # noqa: E402
import sim  # noqa: E402

START_NS = sim.START_NS
N_PACKETS = 10


# --- running -------------------------------------------------------------------------


class Run:
    def __init__(self, *arguments, stdin=subprocess.DEVNULL, data=None):
        how = {"input": data} if data is not None else {"stdin": stdin}
        done = subprocess.run([BINARY, *map(str, arguments)], capture_output=True,
                              timeout=120, **how)
        self.status, self.out = done.returncode, done.stdout
        self.errors = done.stderr.decode(errors="replace").splitlines()

    def report(self):
        return json.loads(self.out)


def analyze(path, *more, **how):
    return Run("--quiet", "--json", "-", *more, path, **how)


ROWS = []


def row(function):
    """Registers a row; it gets an empty directory of its own."""
    ROWS.append(function)
    return function


def equal(what, got, want):
    assert got == want, f"{what}: {got!r}, not {want!r}"


def check_bad(run, path, damaged_at=None):
    """Status 3 and one line with the file; `damaged_at` is the range of bytes that the
    line and the report may name."""
    equal("exit status", run.status, 3)
    equal("lines on standard error", len(run.errors), 1)
    line = run.errors[0]
    assert str(path) in line, f"file is not named: {line}"
    if damaged_at:
        numbers = [int(n) for n in re.findall(r"\b\d+\b", line.replace(str(path), ""))]
        assert any(n in damaged_at for n in numbers), \
            f"no byte of {damaged_at} is named: {line}"


def check_damaged(run, path, n_packets, damaged_at):
    check_bad(run, path, damaged_at)
    capture = run.report()["capture"]
    equal("packets before the damage", capture["packets"], n_packets)
    equal("packets of the file", capture["files"][0]["packets"], n_packets)
    at = capture["files"][0]["damaged_at"]
    assert at in damaged_at, f"damaged_at: {at!r}, not in {damaged_at}"


# --- inputs --------------------------------------------------------------------------


def frames(n=N_PACKETS):
    """A row of WRITEs; payloads that do not compress."""
    draw = random.Random(4)
    ip = [roce.Ip("10.0.0.1", "10.0.0.2", ident=i, tos=2) for i in range(n)]
    return [roce.ethernet(roce.rocev2(ip[i], 50000, roce.transport(
        roce.OPCODE["RC RDMA WRITE Only"], dest_qpn=0x11, psn=i,
        headers=roce.reth(0, 1, 1000), payload=draw.randbytes(1000),
        ack_request=True))) for i in range(n)]


def pcap(items=None, **how):
    out = roce.Pcap(**how)
    for i, frame in enumerate(frames() if items is None else items):
        out.add(START_NS + i * 1000, frame)
    return out.bytes()


def pcapng(items=None):
    out = roce.Pcapng()
    for i, frame in enumerate(frames() if items is None else items):
        out.add(START_NS + i * 1000, frame)
    return out.bytes()


def record_at(i, frame_bytes=None):
    """Where record i of pcap() starts."""
    return 24 + i * (16 + (frame_bytes or len(frames(1)[0])))


def lossy():
    """Both captures of WRITEs of which one packet was lost: name -> bytes."""
    drop = ((sim.REQUESTS, 50, 1),)
    return sim.simulate(sim.Scenario(
        "lossy", (sim.QueuePair(sim.Side(0x11, work=(sim.Work("WRITE", 8192),) * 40),
                                sim.Side(0x22)),),
        segments=sim.path_of(sim.Impairment(drop=drop)))).captures()


def clean():
    return sim.simulate(sim.Scenario(
        "clean", (sim.QueuePair(sim.Side(0x11, work=(sim.Work("WRITE", 8192),) * 40),
                                sim.Side(0x22)),))).captures()


def put(directory, name, data):
    path = directory / name
    path.write_bytes(data)
    return path


# --- rows: what is no capture --------------------------------------------------------


@row
def empty_file(directory):
    path = put(directory, "empty.pcap", b"")
    check_bad(analyze(path), path)


@row
def no_capture(directory):
    path = put(directory, "text.pcap", b"These are no packets.\n" * 20)
    check_bad(analyze(path), path)


@row
def no_capture_short(directory):
    path = put(directory, "short.pcap", b"\xd4\xc3")
    check_bad(analyze(path), path)


@row
def header_cut(directory):
    path = put(directory, "cut.pcap", pcap()[:20])
    check_bad(analyze(path), path)


@row
def missing_file(directory):
    path = directory / "nowhere.pcap"
    check_bad(analyze(path), path)


@row
def a_directory(directory):
    check_bad(analyze(directory), directory)


@row
def no_permission(directory):
    path = put(directory, "secret.pcap", pcap())
    path.chmod(0)
    if os.access(path, os.R_OK):
        return                   # root reads everything
    check_bad(analyze(path), path)


@row
def unknown_link_type(directory):
    for link_type in (147, 65000):
        path = put(directory, f"link{link_type}.pcap", pcap(link_type=link_type))
        check_bad(analyze(path), path)


@row
def one_of_three_missing(directory):
    first, last = put(directory, "1.pcap", pcap()), put(directory, "3.pcap", pcap())
    missing = directory / "2.pcap"
    run = Run("--quiet", "--json", "-", first, missing, last)
    check_bad(run, missing)
    equal("packets of the others", run.report()["capture"]["packets"], 2 * N_PACKETS)


# --- rows: damage --------------------------------------------------------------------


@row
def truncated_last_packet(directory):
    data = pcap()
    path = put(directory, "cut.pcap", data[:-100])
    check_damaged(analyze(path), path, N_PACKETS - 1,
                  range(record_at(N_PACKETS - 1), len(data)))


@row
def truncated_by_one_byte(directory):
    data = pcap()
    path = put(directory, "cut1.pcap", data[:-1])
    check_damaged(analyze(path), path, N_PACKETS - 1,
                  range(record_at(N_PACKETS - 1), len(data)))


@row
def truncated_record_header(directory):
    path = put(directory, "cut.pcap", pcap()[:record_at(6) + 7])
    check_damaged(analyze(path), path, 6, range(record_at(6), record_at(6) + 8))


@row
def truncated_between_packets(directory):
    """A file that ends after a whole record is a whole file."""
    path = put(directory, "whole.pcap", pcap()[:record_at(6)])
    run = analyze(path)
    equal("exit status", (run.status, run.errors), (0, []))
    equal("damaged_at", run.report()["capture"]["files"][0]["damaged_at"], None)


@row
def absurd_record_length(directory):
    for length in (0x7FFFFFFF, 0xFFFFFFFF, 0x80000000):
        data = bytearray(pcap())
        data[record_at(5) + 8:record_at(5) + 12] = length.to_bytes(4, "little")
        path = put(directory, f"absurd{length}.pcap", bytes(data))
        check_damaged(analyze(path), path, 5, range(record_at(5), record_at(5) + 17))


@row
def absurd_big_endian(directory):
    data = bytearray(pcap(big_endian=True, nanoseconds=False))
    data[record_at(5) + 8:record_at(5) + 12] = b"\x7f\xff\xff\xff"
    path = put(directory, "absurd.pcap", bytes(data))
    check_damaged(analyze(path), path, 5, range(record_at(5), record_at(5) + 17))


def _blocks(data):
    """Where each block of a little-endian pcapng starts."""
    at, out = 0, []
    while at < len(data):
        out.append(at)
        at += int.from_bytes(data[at + 4:at + 8], "little")
    return out


@row
def pcapng_truncated_block(directory):
    data = pcapng()
    sixth = _blocks(data)[2 + 5]
    path = put(directory, "cut.pcapng", data[:sixth + 50])
    check_damaged(analyze(path), path, 5, range(sixth, sixth + 51))


@row
def pcapng_absurd_block_length(directory):
    for length in (0xFFFFFFFC, 5, 0):
        data = bytearray(pcapng())
        sixth = _blocks(data)[2 + 5]
        data[sixth + 4:sixth + 8] = length.to_bytes(4, "little")
        path = put(directory, f"block{length}.pcapng", bytes(data))
        check_damaged(analyze(path), path, 5, range(sixth, sixth + 9))


@row
def pcapng_captured_beyond_block(directory):
    data = bytearray(pcapng())
    sixth = _blocks(data)[2 + 5]
    data[sixth + 20:sixth + 24] = (100_000).to_bytes(4, "little")
    path = put(directory, "beyond.pcapng", bytes(data))
    check_damaged(analyze(path), path, 5, range(sixth, sixth + 25))


@row
def pcapng_unknown_interface(directory):
    data = bytearray(pcapng())
    sixth = _blocks(data)[2 + 5]
    data[sixth + 8:sixth + 12] = (7).to_bytes(4, "little")
    path = put(directory, "interface.pcapng", bytes(data))
    check_damaged(analyze(path), path, 5, range(sixth, sixth + 13))


@row
def pcapng_unknown_block_is_skipped(directory):
    out = roce.Pcapng().add(START_NS, frames(1)[0])
    out.block(0x0BAD, b"anything").add(START_NS + 1, frames(2)[1])
    run = analyze(put(directory, "unknown.pcapng", out.bytes()))
    equal("exit status", (run.status, run.errors), (0, []))
    equal("packets", run.report()["capture"]["packets"], 2)


@row
def gzip_truncated(directory):
    zipped = roce.gzipped(pcap(frames(400)))
    path = put(directory, "cut.pcap.gz", zipped[:len(zipped) // 2])
    run = analyze(path)
    check_bad(run, path)
    n = run.report()["capture"]["packets"]
    assert 150 <= n <= 200, f"packets before the damage: {n}"
    assert run.report()["capture"]["files"][0]["damaged_at"] is not None


@row
def gzip_damaged(directory):
    zipped = bytearray(roce.gzipped(pcap(frames(400))))
    for i in range(len(zipped) // 2, len(zipped) // 2 + 40):
        zipped[i] ^= 0xFF
    path = put(directory, "damaged.pcap.gz", bytes(zipped))
    run = analyze(path)
    check_bad(run, path)
    assert run.report()["capture"]["files"][0]["damaged_at"] is not None


@row
def gzip_of_nothing(directory):
    path = put(directory, "nothing.gz", roce.gzipped(b""))
    check_bad(analyze(path), path)


@row
def damage_in_the_first_of_two(directory):
    first = put(directory, "1.pcap", pcap()[:-100])
    second = put(directory, "2.pcap", pcap())
    run = Run("--quiet", "--json", "-", first, second)
    check_bad(run, first)
    files = run.report()["capture"]["files"]
    equal("packets", [f["packets"] for f in files], [N_PACKETS - 1, N_PACKETS])
    equal("the second", files[1]["damaged_at"], None)


# --- rows: packets that are cut or wrong ---------------------------------------------


def _counts(path):
    run = analyze(path)
    equal("exit status", (run.status, run.errors), (0, []))
    capture = run.report()["capture"]
    return capture["snaplen_truncated_packets"], capture["malformed_packets"]


@row
def bth_cut_by_snap_length(directory):
    """Every cut of a whole packet is truncation, wherever it falls."""
    whole = frames(1)[0]
    for length in range(14, len(whole)):
        if length > 90 and length < len(whole) - 6:
            continue
        path = put(directory, "snap.pcap", pcap([whole], snap_length=length))
        equal(f"(truncated, malformed) at {length} bytes", _counts(path), (1, 0))


@row
def not_cut(directory):
    path = put(directory, "whole.pcap", pcap(frames(1)))
    equal("(truncated, malformed)", _counts(path), (0, 0))


@row
def bth_short_on_the_wire(directory):
    """The datagram itself has but 6 bytes of BTH; the capture has all of it."""
    ip = roce.Ip("10.0.0.1", "10.0.0.2")
    bth = roce.transport(roce.OPCODE["RC SEND Only"], dest_qpn=1, psn=1)
    frame = roce.ethernet(ip.wrap(17, roce.udp(50000, 4791, bth[:6])))
    path = put(directory, "wire.pcap", pcap([frame]))
    equal("(truncated, malformed)", _counts(path), (0, 1))


@row
def extension_header_short_on_the_wire(directory):
    ip = roce.Ip("10.0.0.1", "10.0.0.2")
    ib = roce.transport(roce.OPCODE["RC RDMA READ Request"], dest_qpn=1, psn=1,
                        headers=roce.reth(0, 1, 2)[:9])
    path = put(directory, "wire.pcap", pcap([roce.ethernet(roce.rocev2(ip, 50000, ib))]))
    equal("(truncated, malformed)", _counts(path), (0, 1))


@row
def wire_shorter_than_ip_says(directory):
    """Cut on its way as long as UDP says the same, and else malformed."""
    frame = frames(1)[0][:50]
    path = put(directory, "wire.pcap", pcap([frame]))
    equal("(truncated, malformed)", _counts(path), (1, 0))
    other_length = frame[:39] + bytes([frame[39] ^ 1]) + frame[40:]
    other_checksum = other_length[:24] + bytes([frame[24] ^ 1]) + other_length[25:]
    path = put(directory, "wire.pcap", pcap([other_checksum]))
    equal("(truncated, malformed)", _counts(path), (0, 1))


def _of_links(*link_types, packets=1):
    """A pcapng file with an interface of each link type, and so many packets at each."""
    out = roce.Pcapng([roce.Interface(name=f"if{i}", link_type=link_type)
                       for i, link_type in enumerate(link_types)])
    for i, frame in enumerate(frames(packets)):
        for interface in range(len(link_types)):
            out.add(START_NS + i * 1000, frame, interface=interface)
    return out.bytes()


@row
def pcapng_of_no_known_link(directory):
    path = put(directory, "radio.pcapng", _of_links(127, 147, packets=3))
    run = analyze(path)
    equal("(status, lines)", (run.status, len(run.errors)), (3, 1))
    assert "has link type 127 (IEEE802_11_RADIO), which is not supported" in run.errors[0]
    file = json.loads(run.out)["capture"]["files"][0]
    equal("packets, damaged at", (file["packets"], file["damaged_at"]), (6, None))
    equal("error", f"rocescope: {file['error']}", run.errors[0])
    for row, out in (("text", Run(path).out), ("page", Run("--html", "-", path).out)):
        assert b"packets, " in out and b"not supported" in out, row
        assert b"damaged)" not in out and b", damaged" not in out, row
    equal("compare", Run("compare", "-q", path, put(directory, "x.pcap", pcap())).status, 3)


@row
def pcapng_with_another_link(directory):
    path = put(directory, "both.pcapng", _of_links(1, 127, packets=N_PACKETS))
    run = analyze(path)
    equal("(status, lines)", (run.status, len(run.errors)), (0, 1))
    said = (f"{N_PACKETS} packets were passed over: interface 1 (if1) has link type 127 "
            "(IEEE802_11_RADIO), which is not supported.")
    assert said in run.errors[0], run.errors[0]
    capture = json.loads(run.out)["capture"]
    equal("RoCE packets", capture["roce_packets"], N_PACKETS)
    equal("error", capture["files"][0]["error"], None)
    equal("link types", [point["link_type"] for point in capture["points"]],
          ["EN10MB", "IEEE802_11_RADIO"])
    assert said in " ".join(Run(path).out.decode().split())
    silent = roce.Pcapng([roce.Interface(), roce.Interface(link_type=127)])
    silent.add(START_NS, frames(1)[0])
    run = analyze(put(directory, "silent.pcapng", silent.bytes()))
    equal("without packets", (run.status, run.errors), (0, []))


@row
def captures_in_one_file(directory):
    """What `cat` makes of two captures is read to the end of the first, without a packet that
    nobody sent."""
    first, second = pcap(), pcap()
    for row, data, at in (("pcap", first + second, len(first)),
                          ("pcapng before pcap", pcapng() + second, len(pcapng()))):
        for run in (analyze(put(directory, "both.pcap", data)), analyze("-", data=data)):
            equal(f"{row}: (status, lines)", (run.status, len(run.errors)), (3, 1))
            assert "another capture begins here" in run.errors[0], run.errors[0]
            capture = json.loads(run.out)["capture"]
            equal(f"{row}: packets", capture["packets"], N_PACKETS)
            equal(f"{row}: damaged at", capture["files"][0]["damaged_at"], at)


# --- rows: exit status and streams of output -----------------------------------------


@row
def usage_errors(directory):
    good = put(directory, "good.pcap", pcap())
    for arguments in (
            (), ("analyze",), ("--no-such-option", good), ("--json",),
            ("--link-speed", "fast", good), ("--link-speed", "0", good),
            ("--link-speed", "100", good), ("--burst", "25", good),
            ("--port", "0", good), ("--port", "65536", good), ("--port", "x", good),
            ("--icrc", "perhaps", good), ("--fail-on", "disaster", good),
            ("--events", "-1", good), ("--events", "many", good),
            ("--dscp-map", "", good), ("--dscp-map", "26:3,", good),
            ("--dscp-map", "64:3", good), ("--dscp-map", "26:8", good),
            ("--dscp-map", "26:3,26:4", good), ("-", "-"), ("-", good, "-"),
            ("extract", "-", "-", "--time", "-", "-w", directory / "none"),
            ("compare", "-", "-"),
            ("--watchdog", "", good), ("--watchdog", "0", good),
            ("--watchdog", "99999999999999999999", good),
            ("--burst", "0", good), ("--burst", "nan", good), ("--burst", "inf", good),
            ("--counters-before", "=", good), ("--counters-before", good, good)):
        run = Run(*arguments)
        equal(f"exit status of {arguments}", run.status, 2)
        assert run.errors, f"{arguments}: nothing on standard error"
        equal(f"standard output of {arguments}", run.out, b"")


@row
def usage_before_input(directory):
    """2 is the first that applies."""
    equal("exit status", Run("--icrc", "perhaps", directory / "nowhere").status, 2)


@row
def help_and_version(directory):
    for option in ("--help", "--version"):
        run = Run(option)
        equal(option, (run.status, run.errors), (0, []))
        assert run.out, f"{option}: nothing on standard output"


@row
def fail_on(directory):
    bad = put(directory, "lossy.pcap", lossy()["receiver"])
    good = put(directory, "clean.pcap", clean()["receiver"])
    equal("lossy, no --fail-on", analyze(bad).status, 0)
    equal("lossy, warning", analyze(bad, "--fail-on", "warning").status, 1)
    equal("lossy, note", analyze(bad, "--fail-on", "note").status, 1)
    equal("clean, warning", analyze(good, "--fail-on", "warning").status, 0)
    equal("clean, critical", analyze(good, "--fail-on", "critical").status, 0)


@row
def fail_on_is_after_damage(directory):
    bad = put(directory, "lossy.pcap", lossy()["receiver"][:-5])
    run = analyze(bad, "--fail-on", "note")
    check_bad(run, bad)


@row
def quiet_says_nothing(directory):
    run = Run("--quiet", put(directory, "good.pcap", pcap()))
    equal("(status, out, errors)", (run.status, run.out, run.errors), (0, b"", []))


@row
def quiet_still_says_errors(directory):
    path = directory / "nowhere.pcap"
    run = Run("--quiet", path)
    check_bad(run, path)
    equal("standard output", run.out, b"")


@row
def no_progress_into_a_pipe(directory):
    run = Run(put(directory, "good.pcap", pcap()))
    equal("(status, errors)", (run.status, run.errors), (0, []))
    assert run.out and b"\x1b" not in run.out and b"\r" not in run.out


@row
def text_report_of_damage(directory):
    path = put(directory, "cut.pcap", pcap()[:-100])
    run = Run(path)
    check_bad(run, path)
    assert run.out, "no report of what was read"


# --- rows: standard input, places to write to ----------------------------------------


def _without_paths(report):
    for file in report["capture"]["files"]:
        file["path"] = ""
    for point in report["capture"]["points"]:
        point["file"] = ""
    for part in (part for finding in report["findings"] for part in finding["files"]):
        part["file"] = ""
    return report


@row
def standard_input(directory):
    for name, data in (("a.pcap", pcap()), ("b.pcapng", pcapng()),
                       ("c.pcap.gz", roce.gzipped(pcap())),
                       ("d.pcapng.gz", roce.gzipped(pcapng()))):
        path = put(directory, name, data)
        from_file, from_pipe = analyze(path), analyze("-", data=data)
        equal(f"{name}: status", (from_pipe.status, from_pipe.errors), (0, []))
        equal(name, _without_paths(from_pipe.report()), _without_paths(from_file.report()))


@row
def standard_input_damaged(directory):
    run = analyze("-", data=pcap()[:-100])
    equal("(status, lines)", (run.status, len(run.errors)), (3, 1))
    equal("packets", run.report()["capture"]["packets"], N_PACKETS - 1)


@row
def standard_input_empty(directory):
    run = analyze("-", data=b"")
    equal("(status, lines)", (run.status, len(run.errors)), (3, 1))


@row
def json_to_file(directory):
    good, target = put(directory, "good.pcap", pcap()), directory / "out" / "report.json"
    target.parent.mkdir()
    target.write_text("old")
    run = Run("--quiet", "--json", target, good)
    equal("(status, out, errors)", (run.status, run.out, run.errors), (0, b"", []))
    equal("packets", json.loads(target.read_text())["capture"]["packets"], N_PACKETS)
    equal("files left", [p.name for p in target.parent.iterdir()], ["report.json"])


@row
def json_to_impossible_place(directory):
    good, target = put(directory, "good.pcap", pcap()), directory / "no" / "report.json"
    run = Run("--quiet", "--json", target, good)
    assert run.status != 0, "exit status 0 though nothing was written"
    equal("lines on standard error", len(run.errors), 1)
    assert str(target) in run.errors[0], f"file is not named: {run.errors[0]}"
    assert not target.parent.exists()


@row
def json_to_full_device(directory):
    run = Run("--quiet", "--json", "/dev/full", put(directory, "good.pcap", pcap()))
    assert run.status != 0, "exit status 0 though nothing could be written"
    equal("lines on standard error", len(run.errors), 1)
    assert stat.S_ISCHR(os.stat("/dev/full").st_mode)


@row
def json_to_device(directory):
    run = Run("--quiet", "--json", "/dev/null", put(directory, "good.pcap", pcap()))
    equal("(status, errors)", (run.status, run.errors), (0, []))
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode), "/dev/null was replaced"


@row
def json_to_fifo(directory):
    good, fifo, got = put(directory, "good.pcap", pcap()), directory / "fifo", []
    os.mkfifo(fifo)
    reader = threading.Thread(target=lambda: got.append(fifo.read_bytes()), daemon=True)
    reader.start()
    run = Run("--quiet", "--json", fifo, good)
    reader.join(20)
    equal("(status, errors)", (run.status, run.errors), (0, []))
    assert stat.S_ISFIFO(os.stat(fifo).st_mode), "the FIFO was replaced"
    equal("packets", json.loads(got[0])["capture"]["packets"], N_PACKETS)


def _interrupt(directory, *numbers):
    """Starts on standard input, gives it half a capture, and sends signals; the target,
    which was there before, and the exit status."""
    target = directory / "out" / "report.json"
    target.parent.mkdir(exist_ok=True)
    target.write_text("old")
    with open(directory / "errors", "wb") as errors:
        process = subprocess.Popen([BINARY, "--quiet", "--json", str(target), "-"],
                                   stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                                   stderr=errors)
    process.stdin.write(pcap()[:record_at(5) + 3])
    process.stdin.flush()
    time.sleep(1.0)              # long enough to have read it and to wait for more
    for number in numbers:       # or how long to wait before the next one, in seconds
        if isinstance(number, float):
            time.sleep(number)
        else:
            process.send_signal(number)
    try:
        status = process.wait(20)
    finally:
        process.kill()
        process.stdin.close()
    return target, status


@row
def killed_leaves_the_old_file(directory):
    target, _ = _interrupt(directory, signal.SIGKILL)
    equal("target", target.read_text(), "old")


@row
def interrupted_reports_what_it_has(directory):
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        target, status = _interrupt(directory, number)
        equal(f"{number}: status", status, 3)
        equal(f"{number}: packets",
              json.loads(target.read_text())["capture"]["packets"], 5)
        told = (directory / "errors").read_text()
        assert told.count("\n") == 1 and "interrupted" in told, told
        equal("files left", [p.name for p in target.parent.iterdir()], ["report.json"])


@row
def told_twice_at_once(directory):
    """timeout(1) tells a process, and then all of its group: that is one request."""
    for pause_s in (0.0005, 0.001, 0.002, 0.004):
        target, status = _interrupt(directory, signal.SIGTERM, pause_s, signal.SIGTERM)
        equal(f"{pause_s}: status", status, 3)
        equal(f"{pause_s}: packets",
              json.loads(target.read_text())["capture"]["packets"], 5)


@row
def told_twice(directory):
    """Who insists, later, has his way: here the report waits for a reader."""
    path, fifo = put(directory, "x.pcap", pcap()), directory / "report.json"
    os.mkfifo(fifo)
    with open(os.open(fifo, os.O_RDONLY | os.O_NONBLOCK), "rb") as reader:
        fcntl.fcntl(reader, fcntl.F_SETPIPE_SZ, 4096)   # a pipe with more in it is busy
        process = subprocess.Popen([BINARY, "--quiet", "--json", fifo, path])
        time.sleep(1.0)
        for pause_s, status in ((0.1, None), (0.6, None), (2.0, -signal.SIGTERM)):
            process.send_signal(signal.SIGTERM)
            try:
                equal(f"after {pause_s}", process.wait(pause_s), status)
            except subprocess.TimeoutExpired:
                equal(f"after {pause_s}", None, status)
    process.kill()


@row
def interrupted_while_it_writes(directory):
    """As by Ctrl-C in a pager: what is being written goes on once it is read."""
    path, fifo = SOURCE / "captures/sim_cascade/fabric.pcapng.gz", directory / "pipe"
    os.mkfifo(fifo)
    for arguments in (["--quiet", "--json"], ["--quiet", "--html"], ["--top", "0"]):
        to_stdout = arguments[0] == "--top"
        want = subprocess.run([BINARY, *arguments, *([] if to_stdout else ["-"]), path],
                              stdout=subprocess.PIPE).stdout
        assert len(want) > 4096, len(want)
        with open(os.open(fifo, os.O_RDONLY | os.O_NONBLOCK), "rb") as reader:
            fcntl.fcntl(reader, fcntl.F_SETPIPE_SZ, 4096)
            os.set_blocking(reader.fileno(), True)
            with open(fifo, "wb") if to_stdout else open(os.devnull, "wb") as stdout:
                process = subprocess.Popen(
                    [BINARY, *arguments, *([] if to_stdout else [fifo]), path],
                    stdout=stdout, stderr=subprocess.PIPE)
            time.sleep(1.0)      # as _interrupt()
            process.send_signal(signal.SIGINT)
            time.sleep(0.2)
            got = reader.read()
        equal(f"{arguments}: the report is whole", got == want, True)
        equal(f"{arguments}: status", (process.wait(20), process.stderr.read()), (0, b""))


@row
def hang_up_twice(directory):
    """The kernel and the shell may both say that the terminal is gone."""
    target, status = _interrupt(directory, signal.SIGHUP, signal.SIGHUP)
    equal("status", status, 3)
    equal("packets", json.loads(target.read_text())["capture"]["packets"], 5)


@row
def nohup(directory):
    """A hang-up that is ignored when the program starts stays so."""
    process = subprocess.Popen(
        [BINARY, "--quiet", "--json", directory / "report.json", "-"],
        stdin=subprocess.PIPE, preexec_fn=lambda: signal.signal(signal.SIGHUP,
                                                                signal.SIG_IGN))
    data = pcap()
    process.stdin.write(data[:record_at(5)])
    process.stdin.flush()
    time.sleep(1.0)              # as _interrupt()
    process.send_signal(signal.SIGHUP)
    process.stdin.write(data[record_at(5):])
    process.stdin.close()
    equal("status", process.wait(20), 0)
    equal("packets", json.loads((directory / "report.json").read_text())
          ["capture"]["packets"], N_PACKETS)


@row
def no_memory(directory):
    """Too little for the program: it says so in a line of its own, wherever it finds out."""
    if b"__asan" in pathlib.Path(BINARY).read_bytes():
        return                   # which takes terabytes of addresses
    statuses = set()
    for mib in (*range(24, 48, 2), 400):
        limit = (mib << 20, mib << 20)
        done = subprocess.run(
            [BINARY, "--json", directory / "report.json",
             SOURCE / "captures/03a_loss_data_0.5pct/receiver.pcap.gz"], capture_output=True,
            preexec_fn=lambda limit=limit: resource.setrlimit(resource.RLIMIT_AS, limit))
        if b"shared libraries" in done.stderr:
            continue             # the loader's own words
        said = b"rocescope: out of memory\n" if done.returncode == 3 else b""
        equal(f"{mib} MiB", done.stderr, said)
        statuses.add(done.returncode)
    equal("statuses", statuses, {0, 3})


def main(wanted):
    failed = []
    for test in ROWS:
        if wanted and test.__name__ not in wanted:
            continue
        with tempfile.TemporaryDirectory() as directory:
            try:
                test(pathlib.Path(directory))
            except Exception as error:  # a row that breaks must not hide the next
                failed.append(test.__name__)
                print(f"FAILED {test.__name__}: {type(error).__name__}: {error}")
    print(f"{len(failed)} of {len(ROWS)} failed: {' '.join(failed)}" if failed
          else f"{len(ROWS)} rows passed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
