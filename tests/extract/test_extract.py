#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""rocescope extract: what is written is what was read, and is what was asked for."""

import fcntl
import html
import json
import os
import pathlib
import re
import shlex
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time

SOURCE = pathlib.Path(os.environ.get("ROCESCOPE_SOURCE",
                                     pathlib.Path(__file__).resolve().parents[2]))
BINARY = os.environ.get("ROCESCOPE", str(SOURCE / "build/dev/bin/rocescope"))
sys.path[:0] = [str(SOURCE / "tests/sim"), str(SOURCE / "tests/findings")]

import captures  # noqa: E402
import records  # noqa: E402
import roce  # noqa: E402
import sim  # noqa: E402

CAPTURES = SOURCE / "captures"
LOSSY = CAPTURES / "03a_loss_data_0.5pct/receiver.pcap.gz"
LOSSY_SENDER = CAPTURES / "03a_loss_data_0.5pct/sender.pcap.gz"
CM = CAPTURES / "01_write_rc_cm/sender.pcap.gz"
SWITCH = CAPTURES / "11_pcapng_switch/switch.pcapng.gz"
TWICE = CAPTURES / "sim_mirror_twice/mirror.pcap.gz"
LOST = "lost_before_capture:10.77.1.1>10.77.1.2"
START_NS = sim.START_NS


def run(*arguments, **options):
    return subprocess.run([BINARY, *map(str, arguments)], capture_output=True,
                          timeout=300, **options)


def report(*arguments):
    return json.loads(run("--quiet", "--json", "-", "--events", 10**6, *arguments).stdout)


def extracted(room, *arguments, name="out.pcapng", status=0, **options):
    """The capture that was written; its path is room / name."""
    done = run("extract", "-w", room / name, *arguments, **options)
    equal(f"status of {arguments}: {done.stderr.decode()}", done.returncode, status)
    return records.read(room / name)


def refused(room, *arguments, status=2):
    """What is said instead of writing anything."""
    done = run("extract", *arguments)
    lines = done.stderr.decode().splitlines()
    equal(f"{arguments}: status, lines", (done.returncode, len(lines)), (status, 1))
    assert not (room / "out.pcapng").exists(), f"{arguments}: something was written"
    return lines[0]


def equal(what, got, want):
    assert got == want, f"{what}: {got!r}, not {want!r}"


def until_full(process, pipe=None):
    """Waits until a process waits for room in the pipe that it writes to."""
    waiting_since = None
    for _ in range(100):
        state = pathlib.Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
        number = fcntl.ioctl(pipe or process.stdout.fileno(), termios.FIONREAD, b"\0" * 4)
        waiting = (number,) if state == "S" and any(number) else None
        if waiting is not None and waiting == waiting_since:
            return
        waiting_since = waiting
        time.sleep(0.1)
    raise AssertionError("the pipe is never full")


def frame_numbers(capture):
    """The original numbers, from what the last comment says."""
    return [int(re.match(r"frame (\d+)", r.comments[-1]).group(1)) for r in capture.records]


def put(room, name, data):
    (room / name).write_bytes(data)
    return room / name


ROWS = []


def row(function):
    """Registers a row; it gets an empty directory of its own."""
    ROWS.append(function)
    return function


# --- what is written is what was read --------------------------------------------------


@row
def everything_is_the_capture(room):
    """All frames, and each with its bytes, lengths, time and interface."""
    for path in sorted(CAPTURES.glob("*/*.pcap*.gz")):
        original = records.read(path)
        copy = extracted(room, path, "--time", "-")
        equal(path.name, [r.core() for r in copy.records],
              [r.core() for r in original.records])
        equal(f"{path}: interfaces", copy.interfaces, original.interfaces)
        equal(f"{path}: numbers", frame_numbers(copy),
              list(range(1, len(original.records) + 1)))
        if len(original.interfaces) == 1:
            short = extracted(room, path, "--time", "-", name="out.pcap")
            equal(f"{path}: as pcap", [r.core() for r in short.records],
                  [r.core() for r in original.records])


@row
def gaps_are_told(room):
    """Where packets of a connection are left out, nothing is said to be lost; where the
    rest of it is whole, the file is a capture like any other."""
    rnr = CAPTURES / "05a_rnr/receiver.pcap.gz"
    connections = [c for c in report(CM)["connections"] if len(c["streams"]) == 2]
    for what, arguments, gaps in (
            ("around a finding", (LOSSY, "--finding", LOST, "--context", 10), True),
            ("packets that others came in between",
             (rnr, "--finding", "rnr:10.77.1.1>10.77.1.2", "--context", 10), True),
            ("one direction of all connections, for a finding",
             (rnr, "--finding", "not_ect:10.77.1.1>10.77.1.2"), True),
            ("one direction, as asked for", (LOSSY, "--stream", 0), False),
            ("a connection", (CM, "--connection", connections[0]["id"]), False),
            ("a stretch of time", (LOSSY, "--time", "0.5-1"), False),
            ("packets that stand together", (LOSSY, "--around", 1000), False)):
        extracted(room, *arguments)
        got = report(room / "out.pcapng")
        equal(f"{what}: told", got["capture"]["files"][0]["extract_with_gaps"], gaps)
        kinds = {f["kind"] for f in got["findings"]}
        equal(f"{what}: found", "extract" in kinds, gaps)
        if gaps:
            equal(f"{what}: nothing else", kinds - {"clock_steps_back"}, {"extract"})
            text = run(room / "out.pcapng").stdout.decode()
            assert "\nNothing to judge: this is an extract" in text, text
    # An extract of an extract has its gaps, too.
    extracted(room, LOSSY, "--finding", LOST, "--context", 10, name="first.pcapng")
    extracted(room, room / "first.pcapng", "--time", "-")
    equal("again", report(room / "out.pcapng")["capture"]["files"][0]["extract_with_gaps"], True)


@row
def everything_says_the_same(room):
    """The report of all frames of a capture is that of the capture, to the last key."""
    def without_files(of):
        for file in of["capture"]["files"]:
            del file["path"], file["format"]
        for point in of["capture"]["points"]:
            del point["file"]
        for part in (part for finding in of["findings"] for part in finding["files"]):
            del part["file"]
        return of

    for path in sorted(CAPTURES.glob("*/*.pcap*.gz")):
        extracted(room, path, "--time", "-")
        whole, part = without_files(report(path)), without_files(report(room / "out.pcapng"))
        for key, value in whole.items():
            equal(f"{path}: {key}", part[key], value)


@row
def drops_of_rotated_files(room):
    """What the capture dropped adds up over its files."""
    paths = []
    for i, dropped in enumerate((3, 0, 4)):
        out = roce.Pcapng((roce.Interface(name="eth0"),))
        out.add(START_NS + i * 10**9, frame(i)).add_statistics(
            START_NS + i * 10**9 + 5, received=9, dropped=dropped)
        paths.append(put(room, f"x_{i}.pcapng", out.bytes()))
    extracted(room, *paths, "--time", "-")
    points = report(room / "out.pcapng")["capture"]["points"]
    equal("dropped", [p["dropped_by_capture"] for p in points], [7])


def frame(i, size=60):
    """No RoCE, and no two alike."""
    return (bytes(12) + b"\x88\xb5" + i.to_bytes(4, "big")).ljust(size, b"\xaa")


@row
def classic_files(room):
    """Both byte orders and resolutions, cut packets, a declared FCS."""
    for big_endian in (False, True):
        for nanoseconds in (False, True):
            for link_type in (roce.LINKTYPE_ETHERNET, 1 | 0x04000000 | 2 << 28):
                out = roce.Pcap(big_endian=big_endian, nanoseconds=nanoseconds,
                                link_type=link_type, snap_length=100)
                for i in range(3):
                    out.add(START_NS + i * 123456, frame(i, 64 + 30 * i))
                path = put(room, "in.pcap", out.bytes())
                for name in ("out.pcap", "out.pcapng"):
                    copy = extracted(room, path, "--time", "-", name=name)
                    equal(f"{name}, {link_type:x}: interface",
                          copy.interfaces, records.read(path).interfaces)
                    equal(f"{name}, {link_type:x}", copy.named(), records.read(path).named())
                if not big_endian:
                    equal("the same bytes", (room / "out.pcap").read_bytes(), out.bytes())


def odd_pcapng(big_endian):
    """Interfaces that differ in all they can, comments and flags."""
    order = ">" if big_endian else "<"
    out = roce.Pcapng((), big_endian=big_endian)

    def interface(link_type, snap_length, *options):
        out.block(1, struct.pack(order + "HHI", link_type, 0, snap_length),
                  [(code, struct.pack(order + form, *values)) for code, form, *values in options])

    def packet(number, ticks, data, wire, *options):
        out.block(6, struct.pack(order + "IIIII", number, ticks >> 32, ticks & 0xFFFFFFFF,
                                 len(data), wire) + data + bytes(-len(data) % 4), options)

    interface(1, 0, (2, "4s", b"eth0"), (3, "5s", b"a tap"), (8, "Q", 10**11), (9, "B", 9),
              (13, "B", 4))
    interface(101, 64, (9, "B", 0x80 | 20), (14, "q", 1_700_000_000))
    interface(1, 128, (2, "6s", b"silent"))
    interface(276, 262144)
    packet(0, START_NS, frame(0, 64), 64, (1, b"first"), (2, struct.pack(order + "I", 1)))
    packet(1, 12345678, b"\x45" + bytes(63), 900)
    packet(3, START_NS // 1000 + 5, bytes(80), 80, (1, b"two"), (1, b"comments"))
    packet(0, START_NS + 9, frame(1, 61), 64)
    interface(1, 96, (2, "4s", b"late"))
    packet(4, START_NS // 1000 + 9, frame(3), 60, (2, struct.pack(order + "I", 2 | 4 << 5)))
    return out.bytes()


@row
def many_interfaces(room):
    for big_endian in (False, True):
        path = put(room, "in.pcapng", odd_pcapng(big_endian))
        original = records.read(path)
        copy = extracted(room, path, "--time", "-")
        equal("interfaces", copy.interfaces, original.interfaces)
        equal("records", copy.named(), original.named())
        equal("flags", [r.flags for r in copy.records], [r.flags for r in original.records])
        equal("comments", [r.comments[:-1] for r in copy.records],
              [["\n".join(r.comments)] if r.comments else [] for r in original.records])
        again = extracted(room, room / "out.pcapng", "--time", "-", name="again.pcapng")
        equal("again", again.named(), original.named())
        assert "several interfaces" in refused(
            room / "no", path, "--time", "-", "-w", room / "x.pcap")
        assert not (room / "x.pcap").exists()


@row
def one_interface_of_many_as_pcap(room):
    """A format without room for silent interfaces does without them."""
    stream = report(SWITCH)["streams"][0]["id"]
    ng = extracted(room, SWITCH, "--stream", stream)
    short = extracted(room, SWITCH, "--stream", stream, name="out.pcap")
    equal("records", [r.core() for r in short.records], [r.core() for r in ng.records])
    equal("interfaces", ng.interfaces, records.read(SWITCH).interfaces)


@row
def to_standard_output(room):
    done = run("extract", LOSSY, "--stream", 1, "-w", "-")
    extracted(room, LOSSY, "--stream", 1)
    equal("-w -", done.stdout, (room / "out.pcapng").read_bytes())


@row
def from_standard_input(room):
    whole = extracted(room, LOSSY, "--connection", 0)
    data = LOSSY.read_bytes()
    piped = extracted(room, "-", "--connection", 0, input=data, name="piped.pcapng")
    equal("a pipe", piped, whole)
    with open(LOSSY, "rb") as file:
        given = extracted(room, "-", "--connection", 0, stdin=file, name="given.pcapng")
    equal("a file", given, whole)


@row
def standard_input_of_others(room):
    """What is no input of ours is neither read nor moved."""
    whole = extracted(room, LOSSY, "--connection", 0)
    beside = extracted(room, LOSSY, "--connection", 0, input=b"no capture", name="b.pcapng")
    equal("beside a pipe", beside, whole)
    list_of_others = put(room, "list", b"0\n1\n")
    with open(list_of_others, "rb") as file:
        file.seek(2)
        extracted(room, LOSSY, "--connection", 0, stdin=file, name="c.pcapng")
        equal("where a file stands", os.lseek(file.fileno(), 0, os.SEEK_CUR), 2)


# --- what is written is what was asked for -------------------------------------------


@row
def streams(room):
    """All packets of a stream, by the report's own count, and of no other."""
    for path in (LOSSY, SWITCH, TWICE, CAPTURES / "sim_incast_ecn/h3.pcapng.gz"):
        seen = []
        for stream in report(path)["streams"]:
            copy = extracted(room, path, "--stream", stream["id"])
            equal(f"{path}: stream {stream['id']}", len(copy.records), stream["packets"])
            assert all(f": stream {stream['id']}" in r.comments[-1] for r in copy.records)
            seen += frame_numbers(copy)
        equal(f"{path}: each once", len(set(seen)), len(seen))
    both = extracted(room, LOSSY, "--stream", "0,1")
    again = extracted(room, LOSSY, "--stream", 1, "--stream", 0)
    equal("two", both, again)
    ones = [frame_numbers(extracted(room, LOSSY, "--stream", i)) for i in (0, 1)]
    equal("two are the sum", frame_numbers(both), sorted(ones[0] + ones[1]))


COUNTERS = ("packets", "requests", "responses", "retransmissions", "losses", "naks", "naks_sent",
            "cnps_received", "cnps_sent", "ecn", "ecn_control", "icrc", "messages", "opcodes")


def counters(of, connection):
    """Of a connection's streams, by what names them in every capture."""
    out = {}
    for stream in of["streams"]:
        if stream["id"] in connection["streams"]:
            where = of["capture"]["points"][stream["point"]]["interface"]
            key = (where, stream["src"], stream["dst"], stream["dst_qpn"])
            out[key] = {name: stream[name] for name in COUNTERS}
    return out


def ends(connection):
    return sorted((end["addr"], end["qpn"] or 0) for end in
                  (connection["a"], connection["b"]))


def check_connections(room, name, *paths):
    """The analysis of a connection's packets says what that of the capture said of it."""
    whole = report(*paths)
    assert whole["connections"], f"{name}: no connection"
    for connection in whole["connections"][:4]:
        extracted(room, *paths, "--connection", connection["id"])
        part = report(room / "out.pcapng")
        same = [c for c in part["connections"] if ends(c) == ends(connection)]
        what = f"{name}: connection {connection['id']}"
        equal(what, len(same), 1)
        got, want = counters(part, same[0]), counters(whole, connection)
        equal(f"{what}: streams", sorted(got, key=str), sorted(want, key=str))
        for key, values in want.items():
            for name in COUNTERS:
                equal(f"{what}: {key}: {name}", got[key][name], values[name])
        if connection["cm"]:
            equal(f"{what}: CM", same[0]["cm"], connection["cm"])
            equal(f"{what}: by", same[0]["paired_by"], connection["paired_by"])


@row
def connections(room):
    for path in (LOSSY, CM, SWITCH, CAPTURES / "03d_loss_read_resp/sender.pcap.gz",
                 CAPTURES / "05a_rnr/sender.pcap.gz", CAPTURES / "02h_multiqp/sender.pcap.gz",
                 CAPTURES / "13_cm_reject/sender.pcap.gz",  # it never had a packet
                 CAPTURES / "sim_incast_ecn/h3.pcapng.gz"):
        check_connections(room, path.parent.name, path)


@row
def simulated_connections(room):
    """Three queue pairs of two hosts, and everything that can happen to packets."""
    work = (sim.Work("WRITE", 8192), sim.Work("SEND", 3000), sim.Work("READ", 9000)) * 25
    pairs = tuple(sim.QueuePair(sim.Side(0x11 + i, start_psn=1000 * i, work=work),
                                sim.Side(0x22 + i, start_psn=77 * i)) for i in range(3))
    for seed in (1, 2, 3):
        bad = sim.Impairment(loss=0.004, corrupt=0.004, duplicate=0.004, reorder=0.004,
                             mark=0.1)
        done = sim.simulate(sim.Scenario("bad", pairs, seed=seed,
                                         segments=sim.path_of(bad, bad)))
        paths = [put(room, f"{name}.pcap", data) for name, data in done.captures().items()]
        for path in paths:
            check_connections(room, f"{path.name}, seed {seed}", path)
        whole = report(*paths)
        assert any(s["icrc"]["bad"] for s in whole["streams"])
        assert any(s["ip_checksum_bad"] for s in whole["streams"])
        assert any(s["retransmissions"]["packets"] for s in whole["streams"])
        for connection in whole["connections"]:
            extracted(room, *paths, "--connection", connection["id"])
            part = report(room / "out.pcapng")
            data = sum(s["packets"] + s["icrc"]["bad"] + s["ip_checksum_bad"]
                       for s in whole["streams"] if s["id"] in connection["streams"])
            setup = [e["detail"] for e in part["events"] if e["kind"] == "cm"]
            equal("messages at both points", sorted(set(setup)),
                  ["DREP", "DREQ", "REP", "REQ", "RTU"])
            equal("packets at both points", part["capture"]["packets"], data + len(setup))


@row
def cnps_of_a_switch(room):
    """A connection has the CNPs about its data, whoever sent them."""
    path = CAPTURES / "sim_incast_ecn/h3.pcapng.gz"
    whole = report(path)
    about = {e["frame"]: e["stream"] for e in whole["events"] if e["kind"] == "cnp"}
    assert about
    for connection in whole["connections"]:
        got = set(frame_numbers(extracted(room, path, "--connection", connection["id"])))
        want = {n for n, stream in about.items() if stream in connection["streams"]}
        assert want <= got, f"missing CNPs: {sorted(want - got)}"


@row
def findings(room):
    """Every finding of samples can be extracted, and its frames are among the packets."""
    for path in (LOSSY, SWITCH, TWICE, CAPTURES / "05a_rnr/sender.pcap.gz",
                 CAPTURES / "06a_ecn_netem/receiver.pcap.gz",
                 CAPTURES / "sim_incast_pfc/switch.pcapng.gz"):
        whole = report(path)
        for finding in whole["findings"]:
            copy = extracted(room, path, "--finding", finding["id"])
            got = frame_numbers(copy)
            assert set(finding["frames"]) <= set(got), \
                f"{path}: {finding['id']} lacks {set(finding['frames']) - set(got)}"
            if finding["frames"]:
                bare = frame_numbers(extracted(room, path, "--finding", finding["id"],
                                               "--context", 0))
                assert set(finding["frames"]) <= set(bare) <= set(got)
            elif finding["streams"]:
                assert got, f"{path}: {finding['id']} gives nothing"


@row
def all_frames_of_a_finding(room):
    """Not only the twenty that are named."""
    path = CAPTURES / "05a_rnr/sender.pcap.gz"
    whole = report(path)
    finding = next(f for f in whole["findings"] if f["kind"] == "rnr")
    assert finding["more_frames"]
    naks = {e["frame"] for e in whole["events"]
            if e["kind"] == "rnr_nak" and e["stream"] in finding["streams"]}
    got = frame_numbers(extracted(room, path, "--finding", finding["id"], "--context", 0))
    assert len(naks) > 20 and naks <= set(got), f"missing {sorted(naks - set(got))}"


@row
def streams_of_a_finding(room):
    """Of what no event tells, all packets of its streams: those that show it are there."""
    path = CAPTURES / "sim_incast_ecn/h3.pcapng.gz"
    whole = report(path)
    finding = next(f for f in whole["findings"] if f["kind"] == "incast")
    assert finding["more_frames"]
    copy = extracted(room, path, "--finding", finding["id"], "--context", 0)
    want = sum(s["packets"] for s in whole["streams"] if s["id"] in finding["streams"])
    equal("packets of the streams", len(frame_numbers(copy)), want)


@row
def context(room):
    """So many packets of the connection on either side, or so much time."""
    original = records.read(LOSSY)
    link = frame_numbers(extracted(room, LOSSY, "--connection", 0))
    for around in (1, 700, 876, link[-1]):
        for n in (0, 1, 7):
            got = frame_numbers(extracted(room, LOSSY, "--around", around, "--context", n))
            if around in link:
                at = link.index(around)
                equal(f"around {around}, {n}", got, link[max(at - n, 0):at + n + 1])
            assert around in got
    time_ns = {i + 1: r.time_ns for i, r in enumerate(original.records)}
    got = frame_numbers(extracted(room, LOSSY, "--around", 876, "--context", "1.5ms"))
    equal("time", got, [n for n in link if abs(time_ns[n] - time_ns[876]) <= 1_500_000])
    assert 1 < len(got) < len(link)
    default = frame_numbers(extracted(room, LOSSY, "--around", 876))
    equal("default", default,
          frame_numbers(extracted(room, LOSSY, "--around", 876, "--context", 50)))


@row
def times(room):
    original = records.read(LOSSY)
    first = min(r.time_ns for r in original.records)
    third = original.records[2].time_ns

    def check(text, from_ns, to_ns, *more):
        got = extracted(room, LOSSY, "--time", text, *more)
        equal(f"--time {text}", [r.core() for r in got.records if not more],
              [r.core() for r in original.records
               if from_ns <= r.time_ns <= to_ns and not more])
        return got

    def seconds(ns):
        return f"{ns // 10**9}.{ns % 10**9:09d}"

    check("-", 0, 2**63)
    check(f"{seconds(third - first)}-", third, 2**63)
    check(f"-{seconds(third - first)}", 0, third)
    check(f"{seconds(third - first)}-{seconds(third - first)}", third, third)
    check("1.2-1.3", first + 12 * 10**8, first + 13 * 10**8)
    check(f"{seconds(third)}-{seconds(third + 5 * 10**6)}", third, third + 5 * 10**6)
    import datetime
    whole = datetime.datetime.fromtimestamp(third // 10**9, datetime.timezone.utc)
    iso = f"{whole:%Y-%m-%dT%H:%M:%S}.{third % 10**9:09d}"
    check(f"{iso}-", third, 2**63)
    check(f"{iso}Z-{iso}+00:00", third, third)
    check(f"{iso.replace('T', ' ')} UTC-", third, 2**63)
    cut = frame_numbers(check("1.2-1.3", 0, 0, "--stream", "1"))
    stream = frame_numbers(extracted(room, LOSSY, "--stream", 1))
    equal("time cuts", cut, [n for n in stream if first + 12 * 10**8
                             <= original.records[n - 1].time_ns <= first + 13 * 10**8])
    assert 0 < len(cut) < len(stream)


@row
def comments_say_what_the_events_say(room):
    whole = report(LOSSY)
    copy = extracted(room, LOSSY, "--connection", 0)
    said = dict(zip(frame_numbers(copy), (r.comments[-1] for r in copy.records)))
    for kind, words in (("retransmission", "Retransmission (nak sequence)"),
                        ("gap", "missing from"), ("nak", "PSN sequence error"),
                        ("loss", "lost before capture")):
        events = [e for e in whole["events"] if e["kind"] == kind]
        assert events
        for event in events:
            assert words in said[event["frame"]], f"{kind}: {said[event['frame']]}"
            if event["related_frame"]:
                assert f"frame {event['related_frame']}" in said[event["frame"]]
    naks = [e for e in whole["events"] if e["kind"] == "nak" and e["related_frame"]]
    for event in naks:
        assert f"NAK in frame {event['frame']}" in said[event["related_frame"]]
    quiet = [t for n, t in said.items() if n not in {e["frame"] for e in whole["events"]}
             and n not in {e["related_frame"] for e in whole["events"]}]
    assert quiet and all(re.fullmatch(r"frame \d+: stream \d+, connection 0", t)
                         for t in quiet)


def lost_or_late(n):
    """So many packets that come too late for their NAK, and as many that never come."""
    on = captures.Wire().exchange(20)
    for i in range(2 * n):
        first = 20 + 5 * i
        on.ident += 1
        overtaken = on.ident
        for psn in range(first + 1, first + 5):
            on.write(psn)
        on.ack(first, syndrome=roce.NAK_PSN_SEQUENCE).write(first)
        if i < n:
            on.write(first, ip={"ident": overtaken})
        for psn in range(first + 1, first + 5):
            on.write(psn)
        on.ack(first + 4, i)
    return on.bytes()


@row
def taken_back(room):
    """A verdict that was taken back is told with its end, and shows no finding."""
    path = put(room, "late.pcap", lost_or_late(25))
    whole = report(path)
    finding = next(f for f in whole["findings"] if f["kind"] == "lost_before_capture")
    verdicts = [e["frame"] for e in whole["events"] if e["kind"] == "loss"]
    equal("verdicts", len(verdicts), 50)
    shown = frame_numbers(extracted(room, path, "--finding", finding["id"], "--context", 0))
    equal("of the finding", shown, verdicts[25:])
    assert "rocev2.expert.loss.lost_before_capture" in finding["wireshark_filter_all"]
    copy = extracted(room, path, "--connection", 0)
    said = dict(zip(frame_numbers(copy), (r.comments[-1] for r in copy.records)))
    equal("taken back", [frame for frame in verdicts if "taken back later" in said[frame]],
          verdicts[:25])


@row
def second_copies(room):
    """Of a mirror that delivers twice: by time with a word about it, by stream not at all."""
    copy = extracted(room, TWICE, "--time", "-")
    left_out = report(TWICE)["capture"]["capture_duplicates"]
    assert left_out > 0
    equal("second copies", sum("second copy" in r.comments[-1] for r in copy.records), left_out)


@row
def several_files(room):
    """Points stay apart, rotated files together, and numbers are told of both."""
    whole = report(LOSSY_SENDER, LOSSY)
    equal("points", len(whole["capture"]["points"]), 2)
    for stream in whole["streams"]:
        copy = extracted(room, LOSSY_SENDER, LOSSY, "--stream", stream["id"])
        equal("packets", len(copy.records), stream["packets"])
        used = {copy.interfaces[r.interface].name for r in copy.records}
        equal("interface", used, {("sender", "receiver")[stream["point"]] + ".pcap.gz"})
        assert re.match(r"frame \d+ \(\d+ of (sender|receiver).pcap.gz\): ",
                        copy.records[0].comments[-1])
    connection = whole["connections"][0]
    extracted(room, LOSSY_SENDER, LOSSY, "--connection", connection["id"])
    part = report(room / "out.pcapng")
    equal("packets", part["capture"]["packets"],
          sum(s["packets"] for s in whole["streams"] if s["id"] in connection["streams"]))
    equal("points of the extract", len(part["capture"]["points"]), 2)
    equal("losses", part["totals"]["losses"], whole["totals"]["losses"])


@row
def rotated_files(room):
    data = records.read(LOSSY)
    half = len(data.records) // 2
    paths = []
    for i, some in enumerate((data.records[:half], data.records[half:])):
        out = roce.Pcap()
        for r in some:
            out.add(r.time_ns, r.data, r.wire_bytes)
        paths.append(put(room, f"x.pcap{i}", out.bytes()))
    copy = extracted(room, *paths, "--time", "-")
    equal("records", [r.core() for r in copy.records], [r.core() for r in data.records])
    equal("one interface", [i.name for i in copy.interfaces], ["x.pcap0"])
    extracted(room, *paths, "--time", "-", name="out.pcap")


@row
def filters_hold(room):
    some = extracted(room, LOSSY, "--time", "-", "--filter", "src host 10.77.1.1")
    equal("filtered", len(some.records),
          report(LOSSY, "--filter", "src host 10.77.1.1")["capture"]["packets"]
          - report(LOSSY, "--filter", "src host 10.77.1.1")["capture"]["filtered_out"])
    assert 0 < len(some.records) < len(records.read(LOSSY).records)


@row
def tshark_opens_it(room):
    """And shows both comments and interfaces."""
    if not shutil.which("tshark"):
        print("skipped: no tshark")
        return
    extracted(room, put(room, "in.pcapng", odd_pcapng(False)), "--time", "-")
    shown = subprocess.run(["tshark", "-r", room / "out.pcapng", "-T", "fields", "-e",
                            "frame.interface_name", "-e", "frame.comment"], check=True,
                           capture_output=True, text=True).stdout.splitlines()
    equal("packets", len(shown), 5)
    equal("the first", shown[0], "eth0\tfirst,frame 1: of no stream")
    assert shown[4].startswith("late\tframe 5"), shown[4]


# --- what cannot be ------------------------------------------------------------------


@row
def usage(room):
    out = ["-w", room / "out.pcapng"]
    for arguments, words in (
            ([LOSSY, "--stream", "0"], "-w"),
            ([*out, "--stream", "0"], "no capture file"),
            ([LOSSY, *out], "nothing is selected"),
            ([LOSSY, *out, "--stream", "99"], "there is no such stream"),
            ([LOSSY, *out, "--stream", "0,99"], "there is no such stream"),
            ([LOSSY, *out, "--connection", "1"], "there is no such connection"),
            ([LOSSY, *out, "--finding", "nothing"], "there is no such finding"),
            ([LOSSY, *out, "--around", "0"], "there is no such frame"),
            ([LOSSY, *out, "--around", "99999"], "count from 1 to 2517"),
            ([LOSSY, *out, "--stream", "x"], "not a number"),
            ([LOSSY, *out, "--stream", ""], "not a number"),
            ([LOSSY, *out, "--stream", "1,"], "not a number"),
            ([LOSSY, *out, "--stream", "-1"], "not a number"),
            ([LOSSY, *out, "--time", "soon"], "--time"),
            ([LOSSY, *out, "--time", "2-1"], "--time"),
            ([LOSSY, *out, "--time", "1.5"], "--time"),
            ([LOSSY, *out, "--around", "5", "--context", "much"], "--context"),
            ([LOSSY, *out, "--around", "5", "--context", "-1"], "--context"),
            ([LOSSY, "--stream", "0", "-w", room / "x.pcap.gz"], "compressed"),
            ([LOSSY, *out, "--stream", "0", "--filter", "no such thing"], "--filter")):
        line = refused(room, *arguments)
        assert words in line, f"{arguments}: {line}"


@row
def never_onto_its_input(room):
    data = roce.Pcap().add(START_NS, frame(0)).bytes()
    path = put(room, "in.pcap", data)
    (room / "link.pcap").symlink_to(path)
    os.link(path, room / "hard.pcap")
    for name in ("in.pcap", "link.pcap", "hard.pcap"):
        assert "is one of the files" in refused(room, path, "--time", "-", "-w", room / name)
    equal("the input", path.read_bytes(), data)


@row
def pipes_that_cannot_be_read_twice(room):
    os.mkfifo(room / "fifo")
    assert "read twice" in refused(room, room / "fifo", "--time", "-", "-w", room / "x.pcap")


@row
def damaged_input(room):
    """What could be read is extracted."""
    data = records.read(LOSSY)
    out = roce.Pcap()
    for r in data.records:
        out.add(r.time_ns, r.data, r.wire_bytes)
    path = put(room, "cut.pcap", out.bytes()[:-10])
    copy = extracted(room, path, "--time", "-", status=3)
    equal("records", [r.core() for r in copy.records], [r.core() for r in data.records[:-1]])
    done = run("extract", room / "missing.pcap", "--time", "-", "-w", room / "no.pcap")
    equal("missing", (done.returncode, done.stderr.count(b"\n")), (3, 1))
    assert not (room / "no.pcap").exists()


@row
def nothing_selected(room):
    for name in ("out.pcapng", "out.pcap"):
        done = run("extract", LOSSY, "--stream", 0, "--time", "1000-", "-w", room / name)
        equal("status", done.returncode, 0)
        equal("lines", done.stderr.decode().count("\n"), 1)
        equal("records", records.read(room / name).records, [])


@row
def output_is_whole_or_absent(room):
    done = run("extract", LOSSY, "--stream", 0, "-w", "/dev/full")
    equal("a full disk", (done.returncode, done.stderr.count(b"\n")), (3, 1))
    done = run("extract", LOSSY, "--stream", 0, "-w", room / "no/out.pcap")
    equal("nowhere", (done.returncode, done.stderr.count(b"\n")), (3, 1))
    equal("nothing is left", list(room.iterdir()), [])


@row
def interrupted(room):
    """An interrupt while standard input goes on: nothing is written, and one line says so."""
    started = subprocess.Popen([BINARY, "extract", "-", "--time", "-", "-w", room / "out.pcap"],
                               stdin=subprocess.PIPE, stderr=subprocess.PIPE)
    started.stdin.write(LOSSY.read_bytes())
    started.stdin.flush()
    time.sleep(0.5)
    started.send_signal(signal.SIGINT)
    error = started.stderr.read().decode()
    equal("status", (started.wait(60), error.count("\n")), (3, 1))
    assert "interrupted" in error, error
    started.stdin.close()
    equal("nothing is left", list(room.iterdir()), [])


@row
def interrupted_while_nobody_reads(room):
    """A pipe is full when the signal comes: what stands in it is said to be no whole capture."""
    started = subprocess.Popen([BINARY, "extract", LOSSY, "--time", "-", "-w", "-"],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    until_full(started)
    started.send_signal(signal.SIGTERM)
    out, error = started.communicate(timeout=60)
    equal("status", (started.returncode, error.decode()),
          (3, "rocescope: interrupted; what has been written is not whole\n"))
    assert 0 < len(out) < len(run("extract", LOSSY, "--time", "-", "-w", "-").stdout), len(out)


@row
def interrupted_at_the_very_end(room):
    """All is read, and its last bytes wait for room in a pipe: they are written."""
    command = ["extract", LOSSY, "--around", 862, "-w", "-"]
    whole = run(*command).stdout
    reader, writer = os.pipe()
    n_bytes, room_left = 1 << 20, len(whole) - 1 & ~4095
    fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, n_bytes)
    os.write(writer, bytes(n_bytes - room_left))
    started = subprocess.Popen([BINARY, *map(str, command)], stdout=writer,
                               stderr=subprocess.PIPE)
    os.close(writer)
    until_full(started, reader)
    started.send_signal(signal.SIGTERM)
    time.sleep(0.2)
    with os.fdopen(reader, "rb") as pipe:
        out = pipe.read()[n_bytes - room_left:]
    equal("status", (started.wait(60), started.stderr.read().decode()), (0, ""))
    assert out == whole, f"{len(out)} bytes of {len(whole)}"


@row
def hostile_file_names(room):
    """What a file is called starts no line of a comment, and steers no terminal."""
    names = ["a\nframe 99: stream 7\x1b[31m.pcap", "b.pcap"]
    for i, name in enumerate(names):
        put(room, name, roce.Pcap().add(START_NS + i, frame(i)).bytes())
    copy = extracted(room, *(room / name for name in names), "--time", "-")
    equal("comments", [r.comments for r in copy.records], [
        ["frame 1 (1 of a\\x0aframe 99: stream 7\\x1b[31m.pcap): of no stream"],
        ["frame 2 (1 of b.pcap): of no stream"]])
    equal("interface", copy.interfaces[0].name, "a\\x0aframe 99: stream 7\\x1b[31m.pcap")


@row
def no_place_for_temporary_files(room):
    done = run("extract", LOSSY, "--stream", 0, "-w", room / "out.pcap",
               env=dict(os.environ, TMPDIR=str(room / "no")))
    equal("status", (done.returncode, done.stderr.count(b"\n")), (3, 1))


@row
def as_reports_say(room):
    """What the text and the HTML report say of a finding writes its packets, as it stands."""
    pause_storm = CAPTURES / "sim_pause_storm/fabric.pcapng.gz"
    for files in ([LOSSY], [LOSSY_SENDER, LOSSY], [pause_storm]):
        text = run("--top", 0, *files).stdout.decode()
        options = re.findall(r"^ +extract: (.*)$", text, re.MULTILINE)
        run("--html", room / "report.html", *files)
        page = html.unescape((room / "report.html").read_text())
        assert options, f"{files}: nothing is said"
        for option in options:
            assert f"<code>{option}</code>" in page, f"{option}: not in the page"
            words = " ".join(shlex.quote(str(word)) for word in [BINARY, "extract", *files])
            copy = subprocess.run(f"{words} -w - --context=0 {option}", shell=True,
                                  capture_output=True, timeout=300)
            equal(f"{option}: {copy.stderr.decode()}", copy.returncode, 0)
            (room / "copy.pcapng").write_bytes(copy.stdout)
            assert records.read(room / "copy.pcapng").records, f"{option}: no packets"


def main():
    failures = 0
    wanted = sys.argv[1:]
    for function in ROWS:
        if wanted and function.__name__ not in wanted:
            continue
        with tempfile.TemporaryDirectory() as room:
            try:
                function(pathlib.Path(room))
            except (AssertionError, OSError, subprocess.SubprocessError, ValueError,
                    IndexError, struct.error) as problem:
                failures += 1
                print(f"{function.__name__}: {type(problem).__name__}: {problem}")
    print(f"{failures} rows failed" if failures else "extracts are what was asked for")
    return 1 if failures else 0


sys.exit(main())
