#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""`rocescope compare` against what is known: what queueing disciplines dropped and marked
in the sample captures, and what the simulator did to every copy.

    tests/compare/test_compare.py [ROW...]   some rows alone
    tests/compare/test_compare.py --list
"""

import csv
import dataclasses
import gzip
import json
import os
import pathlib
import random
import re
import struct
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(os.environ.get("ROCESCOPE_SOURCE",
                                     pathlib.Path(__file__).resolve().parents[2]))
BINARY = os.environ.get("ROCESCOPE", str(SOURCE / "build/release/bin/rocescope"))
BUILD = pathlib.Path(os.environ.get("ROCESCOPE_BUILD", SOURCE / "build/release"))
MAKER = str(BUILD / "tests/bench_captures")
sys.path[:0] = [str(SOURCE / "tests/sim"), str(SOURCE / "tests/html")]

import page as pages  # noqa: E402
import path_truth  # noqa: E402
import roce  # noqa: E402
from artefacts import (  # noqa: E402
    Clock, Cut, DeliverTwice, Drop, DropBursts, Encapsulate, MergedQueues, Snap, StepsBack)
from sim import (  # noqa: E402
    HOST_A, HOST_A6, HOST_B, HOST_B6, Impairment, Point, QueuePair, Scenario, Segment,
    Side, Simulation, Work, path_of)

US, MS, S, H = 10**3, 10**6, 10**9, 3600 * 10**9


# --- running it ----------------------------------------------------------------------


class Room:
    """A directory with the captures of a row."""

    def __init__(self, directory):
        self.directory = pathlib.Path(directory)

    def write(self, files):
        for name, data in files.items():
            (self.directory / name).write_bytes(data)

    def run(self, *points, options=(), stdin=None):
        return subprocess.run(
            [BINARY, "compare", "--quiet", "--json", "-", *options, *points],
            cwd=self.directory, capture_output=True, timeout=120, stdin=stdin)

    def compare(self, *points, options=(), status=0):
        done = self.run(*points, options=options)
        if done.returncode != status:
            raise RuntimeError(f"status {done.returncode}: {done.stderr.decode().strip()}")
        return json.loads(done.stdout)


class Say:
    def __init__(self, row):
        self.row, self.failures = row, 0

    def equal(self, what, got, want):
        if got != want:
            self.failures += 1
            print(f"{self.row}: {what}: got {got!r}, want {want!r}")

    def within(self, what, got, want, off):
        if got is None or abs(got - want) > off:
            self.failures += 1
            print(f"{self.row}: {what}: got {got!r}, want {want!r} within {off!r}")


def segment(report, from_point, to_point):
    return next(s for s in report["segments"]
                if (s["from"], s["to"]) == (from_point, to_point))


def sample(name):
    """The sample's two ends, or another of its files, unpacked."""
    return gzip.decompress((SOURCE / "captures" / f"{name}.gz").read_bytes())


# --- simulated paths -----------------------------------------------------------------

WRITES = (Work("WRITE", 8192),) * 60
READS = (Work("READ", 16384),) * 30
MIXED = tuple(Work(op, size) for op, size in (
    ("WRITE", 5000), ("READ", 9000), ("SEND_IMM", 1500), ("FADD", 8), ("WRITE_IMM", 64),
    ("SEND_INV", 2500), ("CAS", 8), ("READ", 100), ("WRITE", 0))) * 8


def pair(n=0, work=WRITES, peer_work=(), transport="RC", **a):
    return QueuePair(Side(0x100 + n, start_psn=0xF000 + 977 * n, work=tuple(work), **a),
                     Side(0x800 + n, start_psn=0x400000 + 31 * n, work=tuple(peer_work)),
                     transport=transport)


def hosts(ident="rising", ipv6=False):
    a, b = (HOST_A6, HOST_B6) if ipv6 else (HOST_A, HOST_B)
    return {"host_a": dataclasses.replace(a, ident=ident),
            "host_b": dataclasses.replace(b, ident=ident)}


def run_sim(simulation=Simulation, **how):
    how.setdefault("queue_pairs", (pair(0, MIXED, MIXED), pair(1)))
    return simulation(Scenario("compare", **how)).run()


COUNTS = ("matched", "lost", "marked", "reordered", "duplicated")


def check_segments(say, sim, report, names=None, skip=()):
    """Every segment and direction against the truth."""
    n = len(sim.taps)
    for low in range(n - 1):
        for a, b in ((low, low + 1), (low + 1, low)):
            truth = path_truth.segment(sim, a + 1, b + 1)
            got = segment(report, a, b)
            for key in COUNTS:
                if key not in skip:
                    say.equal(f"{a} -> {b}: {key}", got[key] or 0, getattr(truth, key))
            if "missed" not in skip:
                say.equal(f"{a} -> {b}: missed", got["missed_by_capture"],
                          {"from": truth.missed_from, "to": truth.missed_to})
            listed = got["lost_packets"]
            say.equal(f"{a} -> {b}: listed", len(listed), got["lost"] or 0)
            check_losses(say, sim, a, b, listed)


def check_losses(say, sim, a, b, listed):
    """The frames of what was lost are those of copies that were."""
    by_number = {f.number + 1: f.tx for f in sim.taps[a].seen}
    for loss in listed:
        tx = by_number.get(loss["frames"][a])
        if tx is None or loss["ambiguous"]:
            continue
        say.equal(f"{a} -> {b}: frame {loss['frame']}: psn", loss["psn"],
                  tx.psn & 0xFFFFFF)
        say.equal(f"{a} -> {b}: frame {loss['frame']} is lost",
                  tx.passes.get(b + 1, 0) < tx.passes.get(a + 1, 0), True)


def compare_sim(room, sim, *options):
    files = {f"{name}.pcap": data for name, data in sim.captures().items()}
    room.write(files)
    return room.compare(*files, options=options)


LOSSY = Impairment(loss=0.02)
BOTH_LOSSY = path_of(forward=LOSSY, backward=LOSSY, jitter_ns=3_000)


def sim_rows():
    """name -> (what the simulator is told, what is not compared)."""
    def receiver(*artefacts, **more):
        return (Point("sender"), Point("receiver", artefacts=artefacts, **more))

    rows = {
        "clean": {},
        "lost both ways": {"segments": BOTH_LOSSY},
        "marked": {"segments": path_of(forward=Impairment(mark=0.1),
                                       backward=Impairment(mark=0.05))},
        "reordered": {"segments": path_of(forward=Impairment(reorder=0.03))},
        "made two": {"segments": path_of(forward=Impairment(duplicate=0.03))},
        "everything": {"segments": path_of(
            forward=Impairment(loss=0.01, reorder=0.02, mark=0.05, duplicate=0.01),
            backward=Impairment(loss=0.01, reorder=0.02, mark=0.05, duplicate=0.01),
            jitter_ns=2_000)},
        "corrupt": {"segments": path_of(forward=Impairment(corrupt=0.02))},
        "UC": {"queue_pairs": (pair(0, WRITES, WRITES, transport="UC"),),
               "segments": BOTH_LOSSY},
        "ten queue pairs": {"queue_pairs": tuple(pair(n, MIXED) for n in range(10)),
                            "segments": BOTH_LOSSY},
        "VLAN": {"vlans": (roce.Vlan(100, pcp=3),), "segments": BOTH_LOSSY},
        "IPv6": {**hosts(ipv6=True), "segments": BOTH_LOSSY},
        "IPv6, made two": {**hosts(ipv6=True),
                           "segments": path_of(forward=Impairment(duplicate=0.03))},
        "constant identification": {**hosts("constant"), "segments": BOTH_LOSSY},
        "constant identification, everything": {**hosts("constant"), "segments": path_of(
            forward=Impairment(loss=0.01, mark=0.05),
            backward=Impairment(loss=0.01, mark=0.05))},
        "random identification": {**hosts("random"), "segments": BOTH_LOSSY},
        "no ICRC": {"points": receiver(Snap(66)), "segments": BOTH_LOSSY},
        "no ICRC anywhere": {
            "points": (Point("sender", artefacts=(Snap(66),)),
                       Point("receiver", artefacts=(Snap(66),))),
            "segments": BOTH_LOSSY},
        "a mirror that delivers twice": {
            "points": receiver(DeliverTwice()), "segments": BOTH_LOSSY},
        "queues merged out of order": {
            "points": receiver(MergedQueues()), "segments": BOTH_LOSSY},
        "stamps that step back": {
            "points": receiver(StepsBack()), "segments": BOTH_LOSSY},
        "stamps in microseconds": {
            "points": receiver(nanoseconds=False), "segments": BOTH_LOSSY},
        "ERSPAN at one point": {
            "points": receiver(Encapsulate("erspan_ii")), "segments": BOTH_LOSSY},
        "VXLAN at one point": {
            "points": receiver(Encapsulate("vxlan")), "segments": BOTH_LOSSY},
    }
    slow = tuple(Work(op, 6000, at_ns=i * 60 * MS) for i, op in enumerate(
        ("WRITE", "READ", "SEND") * 60))
    for name, artefacts, more in (
            ("", (), {}), (", drifting", (Clock(-3 * H, 100_000),), {}),
            (", set back by a minute", (Clock(5 * S, -20_000, 60 * S),), {}),
            (", constant identification", (), hosts("constant"))):
        rows[f"eleven seconds{name}"] = {
            "queue_pairs": (pair(0, slow), pair(1, slow)), **more,
            "points": receiver(*artefacts), "segments": path_of(
                forward=Impairment(loss=0.02), backward=Impairment(loss=0.02),
                jitter_ns=20_000)}
    for name, clock in CLOCKS.items():
        rows[f"clock: {name}"] = {"points": receiver(clock), "segments": BOTH_LOSSY}
    for name in ("set back by 2 s", "set back by an hour", "slow"):
        rows[f"clock of the sender: {name}"] = {
            "points": (Point("sender", artefacts=(CLOCKS[name],)), Point("receiver")),
            "segments": BOTH_LOSSY}
    rows["clock: set back, constant identification"] = {
        **hosts("constant"), "points": receiver(CLOCKS["set back by 2 s"]),
        "segments": BOTH_LOSSY}
    return rows


CLOCKS = {
    "an hour ahead": Clock(H),
    "nine hours behind": Clock(-9 * H),
    "a year ahead, and fast": Clock(8760 * H, 100_000),
    "slow": Clock(3 * MS, -100_000),
    "40 us behind": Clock(-40 * US),
    "set back by 5 ms": Clock(0, 0, 5 * MS),
    "set back by 2 s": Clock(S, 20_000, 2 * S),
    "set back by an hour": Clock(-H, -50_000, H),
}


def simulated(room, say, how):
    sim = run_sim(**how)
    report = compare_sim(room, sim)
    check_segments(say, sim, report)
    say.equal("nothing alone", report["seen_at_one_point_only"]["streams"], 0)
    clock = segment(report, 0, 1)["clock"]
    for artefact in how.get("points", (None, Point("")))[1].artefacts:
        if isinstance(artefact, Clock):
            say.within("offset", clock["offset_ns"], artefact.offset_ns,
                       clock["offset_uncertainty_ns"])
            back = segment(report, 1, 0)["clock"]
            say.equal("the other way round", back["offset_ns"], -clock["offset_ns"])
            if not artefact.set_back_ns:
                say.within("drift", clock["drift_ppb"], artefact.drift_ppb,
                           max(2000, clock["drift_uncertainty_ppb"]))
            else:
                say.equal("set once", len(clock["steps"]), 1)
                for step in clock["steps"]:
                    say.within("set by", step["by_ns"], -artefact.set_back_ns, 100 * US)


# --- three points and more -----------------------------------------------------------


def row_of_points(n, **each):
    names = [f"p{i}" for i in range(n)]
    return tuple(Point(name, **each.get(name, {})) for name in names)


def several_points(room, say):
    for n in (3, 4):
        harm = Impairment(loss=0.01, mark=0.02, reorder=0.01)
        sim = run_sim(points=row_of_points(n), segments=(
            Segment(), *[Segment(4 * US, US, harm, harm)] * (n - 1), Segment()))
        check_segments(say, sim, compare_sim(room, sim))


def clocks_of_several(room, say):
    points = row_of_points(4, p1={"artefacts": (Clock(-2 * H, 30_000),)},
                           p2={"artefacts": (Clock(40 * MS),)},
                           p3={"artefacts": (Clock(26 * H, -80_000),)})
    sim = run_sim(points=points, segments=(
        Segment(), *[Segment(4 * US, US, LOSSY, LOSSY)] * 3, Segment()))
    report = compare_sim(room, sim)
    check_segments(say, sim, report)
    for a, want in ((0, -2 * H), (1, 2 * H + 40 * MS), (2, 26 * H - 40 * MS)):
        clock = segment(report, a, a + 1)["clock"]
        say.within(f"offset {a}", clock["offset_ns"], want, 20 * US)


def missed_in_between(room, say):
    """What the middle capture drops, the others prove; and it is no loss."""
    sim = run_sim(points=row_of_points(3, p1={"artefacts": (Drop(0.05),)}),
                  segments=(Segment(), Segment(4 * US, US), Segment(4 * US, US),
                            Segment()))
    report = compare_sim(room, sim)
    for a, b in ((0, 1), (1, 2), (2, 1), (1, 0)):
        truth = path_truth.segment(sim, a + 1, b + 1)
        got = segment(report, a, b)
        say.equal(f"{a} -> {b}: lost", got["lost"], 0)
        say.equal(f"{a} -> {b}: missed", got["missed_by_capture"],
                  {"from": truth.missed_from, "to": truth.missed_to})


def begun_late_in_between(room, say):
    """What came by before the middle capture began, or after it had ended, it has not
    missed; and what is lost elsewhere stays lost, not undecidable."""
    for cut in (Cut(400), Cut(0, 400)):
        sim = run_sim(points=row_of_points(3, p1={"artefacts": (cut,)}), segments=(
            Segment(), Segment(4 * US, US), Segment(4 * US, US, LOSSY, LOSSY), Segment()))
        report = compare_sim(room, sim)
        for a, b in ((0, 1), (1, 2), (2, 1), (1, 0)):
            got = segment(report, a, b)
            say.equal(f"{cut} {a} -> {b}: missed", got["missed_by_capture"],
                      {"from": 0, "to": 0})
            say.equal(f"{cut} {a} -> {b}: undecidable", got["undecidable"], 0)
            say.equal(f"{cut} {a} -> {b}: outside", got["outside_common_time"] > 20, True)


def four_points(order, hidden, extra_behind=None):
    """A stream along four points: from each the packets are hidden that it did not see.  The
    last packets are made two in front of the point `extra_behind`."""
    seen = Seen(4)
    src, dst = (HOST_A, HOST_B) if order[0] == 0 else (HOST_B, HOST_A)
    for i in range(200):
        for hop, point in enumerate(order):
            if i in hidden.get(hop, ()):
                continue
            frame = wire("UC RDMA WRITE Middle", src, dst, i, bytes(8), ttl=64 - hop)
            seen.add(point, (i * 10 + hop * 5) * US, frame)
            if extra_behind is not None and hop >= extra_behind and i in (100, 197):
                seen.add(point, (i * 10 + hop * 5 + 1) * US, frame)
    return seen


def missed_by_two_in_a_row(room, say):
    """What neither end of a segment saw counts there neither as missed by the capture where
    it begins nor as outside; and which of two copies came in which way is not known."""
    for order in ((0, 1, 2, 3), (3, 2, 1, 0)):
        ways = tuple(zip(order, order[1:]))
        both = range(90, 110)
        report = four_points(order, {1: both, 2: both}).compare(room)
        say.equal(f"{order}: missed", [tuple(segment(report, *way)["missed_by_capture"][key]
                                             for key in ("from", "to")) for way in ways],
                  [(0, 20), (0, 20), (20, 0)])
        report = four_points(order, {1: range(190, 200), 2: range(180, 200)}).compare(room)
        say.equal(f"{order}: outside", [segment(report, *way)["outside_common_time"]
                                        for way in ways], [10, 10, 20])
        for hop, want in ((1, [(2, 0), (0, 0), (0, 0)]), (2, [(0, 0), (2, 0), (0, 0)])):
            report = four_points(order, {}, hop).compare(room)
            say.equal(f"{order}, made two in front of {hop}", two(report, ways), want)
        # The second capture has missed one of these packets, and had ended at the other.
        for hop in (1, 2):
            report = four_points(order, {1: (100, *range(190, 200))}, hop).compare(room)
            say.equal(f"{order}, not known behind which of two", two(report, ways),
                      [(0, 0), (0, 1), (0, 0)])


def two(report, ways):
    got = [segment(report, *way) for way in ways]
    return [(one["duplicated"], one["duplicated_or_missed"]) for one in got]


def another_way(room, say):
    """A stream that does not come by the point in the middle: what is lost of it counts
    in front of the next point that it does come by, and no capture missed anything."""
    sim = run_sim(queue_pairs=(pair(0), pair(1)), points=row_of_points(3), cm=False,
                  segments=(Segment(), *[Segment(4 * US, US, LOSSY, LOSSY)] * 2, Segment()))
    data = sim.captures()
    room.write({"p0.pcap": data["p0"], "p2.pcap": data["p2"],
                "p1.pcap": map_frames(data["p1"], without_second)})
    report = room.compare("p0.pcap", "p1.pcap", "p2.pcap")
    kept = {0x100, 0x800}
    wants = {}
    for tx in sim.all_tx:
        a, b = (1, 2) if tx.end.host is sim.host_a else (3, 2)
        c = 4 - a
        passes = [tx.passes.get(node, 0) for node in (a, b, c)]
        key = (a - 1, b - 1) if tx.dest_qpn in kept and passes[1] < passes[0] \
            else (b - 1, c - 1) if passes[2] < passes[0] else None
        wants[key] = wants.get(key, 0) + 1
    for a, b in ((0, 1), (1, 2), (2, 1), (1, 0)):
        got = segment(report, a, b)
        say.equal(f"{a} -> {b}: lost", got["lost"] + got["outside_common_time"],
                  wants.get((a, b), 0))
        frames = [loss["frame"] for loss in got["lost_packets"] if loss["last_seen_at"] == a]
        shown = re.findall(r"\d+", got["lost_filter"] or "")
        say.equal(f"{a} -> {b}: shown", [int(n) for n in shown], frames[:20])
        say.equal(f"{a} -> {b}: missed", got["missed_by_capture"], {"from": 0, "to": 0})


def without_second(_i, frame):
    """All but the second queue pair."""
    return None if int.from_bytes(frame[47:50], "big") in (0x101, 0x801) else frame


def without_roce(_i, frame):
    """Other traffic in their place: UDP to another port."""
    return frame[:36] + b"\0\x35" + frame[38:]


# --- packets one by one ---------------------------------------------------------------


class Seen:
    """What each point of a path sees: frames, each at a time of its own."""

    def __init__(self, n_points):
        self.points = [[] for _ in range(n_points)]

    def add(self, point, time_ns, frame):
        self.points[point].append((1_700_000_000 * S + time_ns, frame))

    def within(self, point, first_ns, last_ns):
        """The capture at a point ran from then to then."""
        self.points[point] = [one for one in self.points[point]
                              if first_ns <= one[0] - 1_700_000_000 * S <= last_ns]

    def compare(self, room, **how):
        names = [f"{name}.pcap" for name, _ in zip("abcdef", self.points)]
        for name, seen in zip(names, self.points):
            capture = roce.Pcap(**how.get(name[0], {}))
            for time_ns, frame in sorted(seen, key=lambda one: one[0]):
                capture.add(time_ns, frame)
            room.write({name: capture.bytes()})
        return room.compare(*names)


def round_b(back, n=200):
    """Two streams from A to C, of which one goes round B and loses one of 20 packets there;
    the other way, if `back`."""
    seen, order = Seen(3), (2, 1, 0) if back else (0, 1, 2)
    src, dst = (HOST_B, HOST_A) if back else (HOST_A, HOST_B)
    for i in range(n):
        for k, qpn in enumerate((0x11, 0x12)):
            for hop, point in enumerate(order):
                if (hop == 1 and qpn == 0x12) or (hop == 2 and k == 1 and i % 20 == 9):
                    continue
                seen.add(point, (i * 10 + k * 3 + hop * 5) * US,
                         wire("RC RDMA WRITE Middle", src, dst, i, bytes(8), qpn=qpn,
                              ttl=64 - hop))
    return seen


def round_and_times(room, say):
    """A stream that goes round the point in the middle is judged by the captures between
    which it goes, whenever that one ran."""
    for back in (False, True):
        last = 0 if back else 2
        for what, point, first_ns, last_ns, lost, hidden in (
                ("all run", 1, 0, S, 10, 0), ("it ends early", 1, 0, 500 * US, 10, 0),
                ("it begins late", 1, 1500 * US, S, 10, 0),
                ("it sees nothing", 1, S, S, 10, 0),
                ("the last ends early", last, 0, 1000 * US, 5, 5),
                ("the last begins late", last, 1000 * US, S, 5, 5)):
            seen = round_b(back)
            seen.within(point, first_ns, last_ns)
            report = seen.compare(room)
            got = segment(report, 1, last)
            what = f"{what}, back: {back}"
            say.equal(f"{what}: lost", got["lost"], lost)
            say.equal(f"{what}: listed", len(got["lost_packets"]), lost)
            say.equal(f"{what}: undecidable", got["undecidable"], 0)
            say.equal(f"{what}: missed", [p["missed"] for p in report["points"]], [0, 0, 0])
            say.equal(f"{what}: outside", got["outside_common_time"] >= hidden, True)
            say.equal(f"{what}: in front of it", segment(report, 2 - last, 1)["lost"] or 0, 0)


def merged(room, seen):
    """What two points have seen, compared as interfaces of one file."""
    file = roce.Pcapng([roce.Interface(name="a"), roce.Interface(name="b")])
    for time_ns, frame, i in sorted((*one, i) for i, point in enumerate(seen.points)
                                    for one in point):
        file.add(time_ns, frame, interface=i)
    room.write({"both.pcapng": file.bytes()})
    return room.compare("both.pcapng#a", "both.pcapng#b")


def sections_of(data, n):
    """A capture as `cat` makes it of the pcapng files that it was rotated into."""
    frames, out = frames_of(data), b""
    for k in range(n):
        part = roce.Pcapng([roce.Interface(name="eth0")])
        for time_ns, frame, _ in frames[len(frames) * k // n:len(frames) * (k + 1) // n]:
            part.add(time_ns, frame)
        out += part.bytes()
    return out


def rotated(room, say):
    """Files of one interface that were put together as they are show what one file does,
    also where packets that were sent again, and CNPs, are equal to those before."""
    harm = Impairment(loss=0.003)
    sim = run_sim(queue_pairs=[pair(n) for n in range(4)], **hosts(ipv6=True),
                  segments=path_of(forward=harm, backward=harm, jitter_ns=3_000))
    whole = compare_sim(room, sim)
    room.write({"receiver.pcapng": sections_of(sim.captures()["receiver"], 3)})
    report = room.compare("sender.pcap", "receiver.pcapng")
    say.equal("several interfaces", report["points"][1]["seen_at_several_interfaces"], 0)
    for got, want in zip(report["segments"], whole["segments"]):
        for key in (*COUNTS, "lost_sent_again", "ambiguous", "outside_common_time"):
            say.equal(f"{got['from']} -> {got['to']}: {key}", got[key], want[key])


def some_lost(back, every_us):
    """A stream between two points that loses one of 20 packets; before it, where it began,
    come more other frames than are read before anything is decided."""
    seen, order = Seen(2), (1, 0) if back else (0, 1)
    src, dst = (HOST_B, HOST_A) if back else (HOST_A, HOST_B)
    other = without_roce(0, wire("RC SEND Only", src, dst, 0))
    for i in range(20_000):
        seen.add(order[0], (i - 20_000) * US, other)
    for i in range(200):
        for hop, point in enumerate(order):
            if hop == 0 or i % 20 != 9:
                seen.add(point, (i * every_us + hop * 5) * US, wire(
                    "RC RDMA WRITE Middle", src, dst, i, bytes(8), ttl=64 - hop))
    return seen


def interfaces_of_other_times(room, say):
    """Captures of other times that were merged into one file have run when they had."""
    for back in (False, True):
        for every_us in (10, 50_000):
            for first, last in ((0, 200), (50, 200), (0, 150), (50, 150)):
                seen = some_lost(back, every_us)
                seen.within(1, first * every_us * US, last * every_us * US)
                apart, got = seen.compare(room), merged(room, seen)
                for i in (0, 1):
                    for key in ("matched", "lost", "missed_by_capture",
                                "outside_common_time"):
                        say.equal(f"{back}, {every_us}, {first} to {last}, {i}: {key}",
                                  got["segments"][i][key], apart["segments"][i][key])
                    say.equal(f"{back}, {every_us}, {first} to {last}, {i}: listed",
                              len(got["segments"][i]["lost_packets"]),
                              got["segments"][i]["lost"] or 0)


def interface_that_is_silent(room, say):
    """Where an interface shows nothing for seconds, all was lost in between if it shows
    something again."""
    for back in (False, True):
        seen, far = some_lost(back, 50_000), 0 if back else 1
        silent = [one for one in seen.points[far]
                  if not 60 * 50 * MS < one[0] - 1_700_000_000 * S < 120 * 50 * MS]
        seen.points[far] = silent
        got = segment(merged(room, seen), 1 - far, far)
        say.equal(f"{back}: lost", got["lost"], 200 - len(silent))
        say.equal(f"{back}: listed", len(got["lost_packets"]), 200 - len(silent))


def sent_before_the_other_began(room, say):
    """Where copies sent again are equal, the first of two may have been sent when the other
    capture had not begun: it is not lost."""
    for a, b in ((HOST_A, HOST_B), (HOST_A6, HOST_B6)):
        for order in ((0, 1), (1, 0)):
            seen = Seen(2)

            def send(i, time_us, src, dst, kind, points):
                for hop, point in enumerate(points):
                    seen.add(point, (time_us + hop * 5) * US,
                             wire(kind, src, dst, i, ident=0, ttl=64 - hop))
            for i in range(60):
                time_us = 2 * i if i < 40 else 500 + 20 * i
                send(i, time_us, a, b, "RC SEND Only", order)
            for i in range(40):
                send(i, 400 + 2 * i, a, b, "RC SEND Only", order)
            for i in range(39, 60):
                send(i, 510 + 20 * i, b, a, "RC Acknowledge", order[::-1])
            seen.within(order[1], 200 * US, S)
            report = seen.compare(room)
            got = segment(report, *order)
            what = f"{a.address}, {order}"
            say.equal(f"{what}: matched", got["matched"], 60)
            say.equal(f"{what}: lost", got["lost"], 0)
            say.equal(f"{what}: outside", got["outside_common_time"], 40)


def sent_again_after_the_first_began(room, say):
    """Likewise, of a packet that was sent twice the first capture may have only the second
    copy: the network did not make two of it.  It did where the capture was on."""
    for twice in (False, True):
        seen = Seen(2)
        for i in range(40):
            packet = wire("RC SEND Only", HOST_A, HOST_B, i, ident=0)
            for k, time_us in enumerate((20 * i, 2000 + 20 * i) if i < 10 else (20 * i,)):
                seen.add(0, time_us * US, packet)
                seen.add(1, (time_us + 5) * US, packet)
            if twice and i % 20 == 15:
                seen.add(1, (20 * i + 8) * US, packet)
            answer = wire("RC Acknowledge", HOST_B, HOST_A, i, ident=0)
            seen.add(1, (20 * i + 10) * US, answer)
            seen.add(0, (20 * i + 15) * US, answer)
        seen.within(0, 150 * US, S)
        got = segment(seen.compare(room), 0, 1)
        say.equal(f"{twice}: duplicated", got["duplicated"], 2 if twice else 0)
        say.equal(f"{twice}: outside", got["outside_common_time"], 8)


def late_when_the_other_began(room, say):
    """What is very late on its way and finds a capture on that had just begun says nothing of
    what overtook it before, nor of how long others take."""
    for n_late in (1, 4):
        for order in ((0, 1), (1, 0)):
            seen, there, back = Seen(2), *order
            for i in range(400):
                packet = wire("RC RDMA WRITE Middle", HOST_A, HOST_B, i, bytes(8), ttl=64)
                late_us = 5000 if i < 200 and i % 20 == 10 and i >= 200 - 20 * n_late else 0
                seen.add(there, 20 * i * US, packet)
                seen.add(back, (20 * i + 5 + late_us) * US, packet)
                answer = wire("RC Acknowledge", HOST_B, HOST_A, i, ident=i, ttl=64)
                seen.add(back, (20 * i + 10) * US, answer)
                seen.add(there, (20 * i + 15) * US, answer)
            seen.within(back, 4002 * US, S)
            got = segment(seen.compare(room), *order)
            what = f"{n_late} late, {order}"
            say.equal(f"{what}: lost", (got["lost"], got["undecidable"]), (0, 0))
            say.equal(f"{what}: outside", got["outside_common_time"], 200 - n_late)
            say.equal(f"{what}: matched", got["matched"], 200 + n_late)


def damaged_beyond_recognition(room, say):
    """What comes with a bad ICRC and another PSN is no packet that the first point missed."""
    seen = Seen(2)
    for i in range(100):
        packet = wire("RC SEND Only", HOST_A, HOST_B, i, bytes(8), ttl=64)
        seen.add(0, 20 * i * US, packet)
        damaged = bytearray(wire("RC SEND Only", HOST_A, HOST_B, i, bytes(8), ttl=63))
        if i == 50:
            damaged[14 + 20 + 8 + 10] ^= 0x10 # the PSN
        seen.add(1, (20 * i + 5) * US, bytes(damaged))
    report = seen.compare(room)
    got = segment(report, 0, 1)
    say.equal("matched", got["matched"], 99)
    say.equal("lost", got["lost"], 1)
    say.equal("missed", got["missed_by_capture"], {"from": 0, "to": 0})
    say.equal("of the point", report["points"][0]["missed"], 0)


def which_of_two_is_lost(room, say):
    """Of two copies that the network made one is lost.  That it is the one that looks as if
    it had come round the point in the middle is no proof that this one missed it."""
    for acked in (False, True):
        seen = Seen(3)
        for i in range(200):
            late_us = 1 if i == 100 else 0
            for hop in range(3):
                packet = wire("RC SEND Only", HOST_A, HOST_B, i, bytes(8), ttl=64 - hop)
                time_us = 20 * i + 5 * hop
                if hop == 0 or i % 10 != 5 or acked:
                    seen.add(hop, (time_us + (late_us if hop == 2 else 0)) * US, packet)
                if hop == 0 and i == 100:
                    seen.add(0, (time_us + 1) * US, packet)
                if acked:
                    seen.add(hop, (20 * i + 18 - 2 * hop) * US, wire(
                        "RC Acknowledge", HOST_B, HOST_A, i, ttl=62 + hop))
        report = seen.compare(room)
        for a, b, lost in ((0, 1, 1 if acked else 21), (1, 2, 0)):
            got = segment(report, a, b)
            say.equal(f"{acked}, {a} -> {b}: lost", got["lost"], lost)
            say.equal(f"{acked}, {a} -> {b}: undecidable", got["undecidable"], 0)
            say.equal(f"{acked}, {a} -> {b}: missed", got["missed_by_capture"],
                      {"from": 0, "to": 0})


def told_apart_by_icrcs(room, say):
    """RNR NAKs and acknowledgements of one PSN, one capture of which has no ICRCs, where
    nothing else tells packets apart."""
    for ident in (0, 7):
        seen = Seen(2)
        for i in range(150):
            for k, syndrome in enumerate((0x21, 0x1F) if i % 3 == 0 else (0x1F,)):
                time_us = 200 * i + 100 * k
                request = wire("RC SEND Only", HOST_A, HOST_B, i, ident=ident)
                ib = roce.transport(roce.OPCODE["RC Acknowledge"], dest_qpn=0x457, psn=i,
                                    headers=roce.aeth(syndrome, i))
                answer = roce.ethernet(roce.rocev2(
                    roce.Ip(HOST_B.address, HOST_A.address, ident=ident), 50_000, ib))
                for hop in range(2):
                    seen.add(hop, (time_us + 5 * hop) * US, request)
                    seen.add(1 - hop, (time_us + 20 + 5 * hop) * US, answer)
        for cut in "ab":
            report = seen.compare(room, **{cut: {"snap_length": 58}})
            for a, b in ((0, 1), (1, 0)):
                got = segment(report, a, b)
                what = f"{ident}, cut at {cut}, {a} -> {b}"
                say.equal(f"{what}: matched", got["matched"], 200)
                say.equal(f"{what}: missed", got["missed_by_capture"], {"from": 0, "to": 0})
                for key in ("lost", "duplicated", "outside_common_time"):
                    say.equal(f"{what}: {key}", got[key], 0)


def not_told_apart_without_icrcs(room, say):
    """Of two packets that ICRCs alone tell apart one is lost, and the capture behind it has
    none: which is not known, and nothing has come in another order."""
    for cut in ({"b": {"snap_length": 60}}, {}):
        seen = Seen(2)
        for i in range(200):
            for k in range(2 if i % 20 == 3 else 1):
                frame = wire("RC SEND Only", HOST_A, HOST_B, i, bytes([k] * 8), ident=0)
                for hop in range(1 if i % 20 == 3 and k == 0 else 2):
                    seen.add(hop, (i * 10 + k * 52 + hop * 5) * US, frame)
                    seen.add(1 - hop, (i * 10 + k * 52 + 6 + hop * 5) * US,
                             wire("RC RDMA WRITE Middle", HOST_B, HOST_A, 2 * i + k,
                                  bytes(8), ident=0))
        got = segment(seen.compare(room, **cut), 0, 1)
        for key, want in (("matched", 200), ("lost", 10), ("reordered", 0),
                          ("ambiguous", 10 if cut else 0)):
            say.equal(f"{cut}: {key}", got[key], want)


def way_of_what_is_sent_again(room, say):
    """Nearly all data were sent twice, and are equal; which way they go is found by those
    copies that both points saw, whichever capture is read first."""
    for order in ((0, 1), (1, 0)):
        seen = Seen(2)
        near, far = order
        for k in range(2):
            for i in range(200):
                packet = wire("RC SEND Only", HOST_A, HOST_B, i, ident=0)
                answer = wire("RC Acknowledge", HOST_B, HOST_A, i, ident=0)
                for hop, point in enumerate((near, far)):
                    seen.add(point, (4000 * k + 10 * i + 5 * hop) * US, packet)
                    if k == 1 and i % 8 == 7:
                        seen.add(point, (4000 + 10 * i + 13 - 5 * hop) * US, answer)
        seen.within(far, 3000 * US, S)
        report = seen.compare(room)
        for stream in report["streams"]:
            forward = (stream["src"] == HOST_A.address) == (near == 0)
            say.equal(f"{order}: {stream['src']}",
                      (stream["direction"], stream["direction_by"]),
                      ("forward" if forward else "backward", "both_directions"))
        got = segment(report, near, far)
        say.equal(f"{order}: matched", got["matched"], 200)
        say.equal(f"{order}: lost", got["lost"], 0)


def coarse_stamps(room, say):
    """What stamps of microseconds cannot tell is not said."""
    for what, coarse, drift_ppm in (("at one", "b", 0), ("at both", "ab", 40),
                                    ("at none", "", 40)):
        seen = Seen(2)
        for i in range(1500):
            time_ns = i * 7777
            drift_ns = time_ns * drift_ppm // 10**6
            delay_ns = 300 + i * 7919 % 2000
            request = wire("RC SEND Only", HOST_A, HOST_B, i, ttl=64)
            seen.add(0, time_ns, request)
            seen.add(1, time_ns + drift_ns + delay_ns, request)
            answer = wire("RC Acknowledge", HOST_B, HOST_A, i, ttl=64)
            seen.add(1, time_ns + drift_ns + 3000, answer)
            seen.add(0, time_ns + 3000 + delay_ns, answer)
        report = seen.compare(room, **{name: {"nanoseconds": False} for name in coarse})
        clock = segment(report, 0, 1)["clock"]
        say.within(f"{what}: offset", clock["offset_ns"], 0, clock["offset_uncertainty_ns"])
        if clock["drift_ppb"] is not None:
            say.within(f"{what}: drift", clock["drift_ppb"], drift_ppm * 1000,
                       clock["drift_uncertainty_ppb"])


def written(frames, stamped):
    """A pcapng file of frames and their times, or one that leaves these out."""
    capture = roce.Pcapng()
    for time_ns, frame in sorted(frames, key=lambda one: one[0]):
        if stamped:
            capture.add(time_ns, frame)
        else:
            capture.block(capture.SPB, struct.pack("<I", len(frame)) +
                          frame + bytes(-len(frame) % 4))
    return capture.bytes()


def without_stamps(room, say):
    """Packets are compared in the order of the files, and nothing is said of clocks."""
    seen = Seen(2)
    for i in range(400):
        for hop, point in enumerate((0, 1)):
            if hop == 0 or i != 200:
                seen.add(point, (i * 20 + hop * 5) * US,
                         wire("RC RDMA WRITE Middle", HOST_A, HOST_B, i, bytes(8), ttl=64 - hop))
        for hop, point in enumerate((1, 0)):
            seen.add(point, (i * 20 + hop * 5 + 2) * US,
                     wire("RC RDMA WRITE Middle", HOST_B, HOST_A, i, bytes(8), ttl=64 - hop))
    for what, bare in (("at none", "ab"), ("at the second alone", "a")):
        for name, frames in zip("ab", seen.points):
            room.write({name: written(frames, name not in bare)})
        report = room.compare("a", "b")
        say.equal(f"{what}: lost", [segment(report, *way)["lost"] for way in ((0, 1), (1, 0))],
                  [1, 0])
        for way in ((0, 1), (1, 0)):
            got = segment(report, *way)
            clock = got["clock"]
            say.equal(f"{what}: clock", [clock[key] for key in (
                "offset_ns", "offset_uncertainty_ns", "drift_ppb", "residual_ns",
                "least_round_trip_ns", "by")], [None] * 5 + ["unknown"])
            say.equal(f"{what}: delays", got["delay_variation_ns"], None)
        say.equal(f"{what}: stamps", [point["first_ts_ns"] is None
                                      for point in report["points"]],
                  [name in bare for name in "ab"])
        lost = segment(report, 0, 1)["lost_packets"]
        say.equal(f"{what}: when lost", [packet["time_ns"] is None for packet in lost],
                  ["a" in bare])


def changed_in_front_of_b(room, say):
    """What changes between the first two points is not said to change behind the second
    where that one did not see the packet; of a stream that goes round it, it is."""
    for first_ns in (0, 1000 * US):
        seen = Seen(3)
        for i in range(200):
            for k, qpn in enumerate((0x11, 0x12)):
                for hop in (0, 2) if qpn == 0x12 else (0, 1, 2):
                    changes = hop > 0 and i % 4 == 0
                    tos = 46 << 2 | 3 if changes else 26 << 2 | 2
                    seen.add(hop, (i * 10 + k * 3 + hop * 5) * US, wire(
                        "RC RDMA WRITE Middle", HOST_A, HOST_B, i, bytes(8), qpn=qpn,
                        ttl=64 - hop, tos=tos))
        seen.within(1, first_ns, S)
        report = seen.compare(room)
        want = 50 if first_ns == 0 else 25
        for a, b, n in ((0, 1, want), (1, 2, 50)):
            got = segment(report, a, b)
            what = f"begins at {first_ns}, {a} -> {b}"
            say.equal(f"{what}: counted", (got["marked"], got["dscp_rewritten"]), (n, n))
            say.equal(f"{what}: rewrites", got["dscp_rewrites"],
                      [{"from": 26, "to": 46, "packets": n}])
            say.equal(f"{what}: shown", [len(got["frames_at_to"][key])
                                         for key in ("marked", "dscp_rewritten")], [20, 20])
        # Every fourth of the stream that goes round: it is the second there.
        frames = segment(report, 1, 2)["frames_at_to"]["marked"]
        say.equal("those of it", {n % 8 for n in frames}, {2})


def first_frames(room, say):
    """What shows what happened are the first frames, also where equal packets are decided on
    together that came far apart."""
    seen = Seen(2)
    for i in range(200):
        for hop in range(2):
            tos = 26 << 2 | (3 if hop == 1 and i % 2 == 0 else 2)
            frame = wire("RC RDMA WRITE Middle", HOST_A, HOST_B, i, bytes(8), ident=0,
                         ttl=64 - hop, tos=tos)
            seen.add(hop, (i * 10 + hop * 2) * US, frame)
            if i < 20:
                seen.add(hop, (3000 + i * 10 + hop * 2) * US, frame)
    got = segment(seen.compare(room), 0, 1)
    say.equal("marked", got["marked"], 110)
    say.equal("shown", got["frames_at_to"]["marked"], list(range(1, 40, 2)))


def damaged_headers(room, say):
    """What is damaged tells of neither marks nor DSCPs, also where it is seen on its way on."""
    seen = Seen(3)
    for i in range(200):
        for hop in range(3):
            damaged = hop > 0 and i % 4 == 3
            seen.add(hop, (i * 10 + hop * 2) * US, wire(
                "RC RDMA WRITE Middle", HOST_A, HOST_B, i, bytes(8), ttl=64 - hop,
                tos=46 << 2 | 3 if damaged else 26 << 2 | 2,
                checksum_xor=0x100 if damaged else 0))
    report = seen.compare(room)
    for a, b, n in ((0, 1, 50), (1, 2, 0)):
        got = segment(report, a, b)
        say.equal(f"{a} -> {b}", [got[key] for key in ("matched", "corrupted", "marked",
                                                       "dscp_rewritten")],
                  [200, n, 0, 0])


def made_two_and_not_reordered(room, say):
    """What the network makes two of has not overtaken what comes between both, also where the
    second fits the time better and nothing numbers packets."""
    for numbered in (True, False):
        seen = Seen(2)
        for i in range(200):
            frame = wire("UC RDMA WRITE Middle", HOST_A, HOST_B, i, bytes(8),
                         ident=i if numbered else 0)
            late_ns = {3: 4000, 4: 4500}.get(i % 20, 8000)
            seen.add(0, i * 5 * US, frame)
            seen.add(1, i * 5 * US + late_ns, frame)
            if i % 20 == 3:  # behind the next one
                seen.add(1, i * 5 * US + 10_000, frame)
        got = segment(seen.compare(room), 0, 1)
        say.equal(f"numbered: {numbered}", [got[key] for key in COUNTS], [200, 0, 0, 0, 10])


def shown_twice(n, lost_copies=0):
    """A stream through A, a switch that is mirrored on both sides, and C: the second copies at
    B come when the packets leave the queue, which grows and marks.  Of so many packets in a
    hundred the mirror loses the second copy."""
    seen, left_ns = Seen(3), 0
    for way, (src, dst) in enumerate(((HOST_A, HOST_B), (HOST_B, HOST_A))):
        left_ns = 0
        for i in range(n):
            at_ns = i * US + 300 * way
            held_ns = (i % 100) * 400 if way == 0 else 600
            left_ns = max(at_ns + 600 + held_ns, left_ns + 10)
            def frame(ttl, marked, src=src, dst=dst, i=i):
                return wire("UC SEND Only", src, dst, i, bytes(8), ttl=ttl,
                            tos=26 << 2 | (3 if marked else 2))
            marked = way == 0 and i % 100 > 50
            before, behind = (0, 2) if way == 0 else (2, 0)
            seen.add(before, at_ns, frame(64, False))
            seen.add(1, at_ns + 500, frame(64, False))
            if i % 100 >= lost_copies:
                seen.add(1, left_ns + 500, frame(63, marked))
            seen.add(behind, left_ns + 1000, frame(63, marked))
    return seen


def marked_between_two_copies(room, say):
    """Of a packet that a mirror shows before and behind a switch the marked copy counts; it
    keeps its place among those that show no mark."""
    report = shown_twice(1000).compare(room)
    say.equal("left out", report["points"][1]["capture_duplicates"], 2000)
    for a, b in ((0, 1), (1, 2), (2, 1), (1, 0)):
        got = segment(report, a, b)
        say.equal(f"{a} -> {b}", [got[key] for key in COUNTS],
                  [1000, 0, 490 if (a, b) == (0, 1) else 0, 0, 0])


def both_sides_of_a_router(room, say):
    """Where the mirror loses too many of the second copies for it to be known as one that
    shows each packet twice, hop limits tell that nobody made two of a packet."""
    report = shown_twice(1000, lost_copies=20).compare(room)
    say.equal("left out", report["points"][1]["capture_duplicates"], 0)
    say.equal("counted once", report["points"][1]["seen_at_several_interfaces"], 1600)
    for a, b in ((0, 1), (1, 2), (2, 1), (1, 0)):
        got = segment(report, a, b)
        say.equal(f"{a} -> {b}", [got[key] for key in COUNTS],
                  [1000, 0, 490 if (a, b) == (1, 2) else 0, 0, 0])


def no_icrc_fits(room, say):
    """Where addresses were changed in all captures no ICRC fits any more: what changes is
    told all the same, and nothing was corrupted on the way."""
    seen = Seen(3)
    for i in range(200):
        for hop in range(3):
            tos = 46 << 2 | 3 if hop == 2 and i % 4 == 3 else 26 << 2 | 2
            frame = wire("RC RDMA WRITE Middle", HOST_A, HOST_B, i, bytes(8), ttl=64 - hop,
                         tos=tos)
            seen.add(hop, (i * 10 + hop * 2) * US, frame[:-1] + bytes([frame[-1] ^ 1]))
    report = seen.compare(room)
    for a, b, n in ((0, 1, 0), (1, 2, 50)):
        got = segment(report, a, b)
        say.equal(f"{a} -> {b}", [got[key] for key in ("matched", "corrupted", "marked",
                                                       "dscp_rewritten")],
                  [200, 0, n, n])


# --- captures that miss packets ------------------------------------------------------


def missed_by_from(room, say):
    sim = run_sim(points=(Point("sender", drop=0.03), Point("receiver")))
    report = compare_sim(room, sim)
    truth = path_truth.segment(sim, 1, 2)
    got = segment(report, 0, 1)
    say.equal("lost", got["lost"], 0)
    say.equal("missed", got["missed_by_capture"], {"from": truth.missed_from, "to": 0})


def missed_by_from_alone(room, say):
    """A copy more at the second point: where the first capture missed others, of whichever
    stream, it may have missed this one as well."""
    sim = run_sim(queue_pairs=tuple(pair(n, WRITES[:10]) for n in range(60)),
                  **hosts(ipv6=True), points=(Point("sender", drop=0.01), Point("receiver")),
                  segments=path_of(forward=Impairment(loss=0.03)))
    got = segment(compare_sim(room, sim), 0, 1)
    say.equal("some are more", got["duplicated_or_missed"] > 0, True)
    say.equal("duplicated", got["duplicated"], 0)


def missed_by_to(room, say):
    """WRITEs and SENDs that were acknowledged and not sent again were delivered; of what
    is not acknowledged nobody can say."""
    for drop in (Drop(0.03), DropBursts(200, 8)):
        sim = run_sim(queue_pairs=(pair(0), pair(1)),
                      points=(Point("sender"), Point("receiver", artefacts=(drop,))))
        report = compare_sim(room, sim)
        truth, got = path_truth.segment(sim, 1, 2), segment(report, 0, 1)
        say.equal("lost", got["lost"], 0)
        say.equal("missed or undecidable",
                  got["missed_by_capture"]["to"] + got["undecidable"], truth.missed_to)
        say.within("missed", got["missed_by_capture"]["to"], truth.missed_to,
                   truth.missed_to // 10 + 1)


def records_of(capture):
    """A pcap's header, and its records."""
    records, at = [], 24
    while at < len(capture):
        end = at + 16 + int.from_bytes(capture[at + 8:at + 12], "little")
        records.append(capture[at:end])
        at = end
    return capture[:24], records


def by_direction(capture, block):
    """A pcap of IPv4 in Ethernet as two receive queues write it: of each `block` packets
    those of one direction stand first."""
    header, records = records_of(capture)
    order = sorted(range(len(records)), key=lambda i: (
        i // block, records[i][16 + 26:16 + 30] > records[i][16 + 30:16 + 34], i))
    return header + b"".join(records[i] for i in order)


def slower(records, times):
    """The same with `times` as much time between packets."""
    stamps = [s * 10**9 + ns for s, ns in (struct.unpack("<II", r[:8]) for r in records)]
    slow = (stamps[0] + (stamp - stamps[0]) * times for stamp in stamps)
    return [struct.pack("<II", *divmod(stamp, 10**9)) + r[8:]
            for stamp, r in zip(slow, records)]


def missed_out_of_order(room, say):
    """What was acknowledged was delivered, however far from its place its frame stands, and
    however late that is known."""
    path = room.directory / "made.pcap"
    for kind, pairs, packets, drop, times in (("lossy", 60, 20_000, 400, 1),
                                              ("many", 500, 30_000, 9, 20_000)):
        subprocess.run([MAKER, kind, "--qps", str(pairs), "--packets", str(packets), path],
                       check=True, capture_output=True)
        header, records = records_of(path.read_bytes())
        records = slower(records, times)
        files = {"from.pcap": header + b"".join(records),
                 "to.pcap": header + b"".join(
                     r for i, r in enumerate(records) if i % drop != drop - 1)}
        room.write(files)
        in_order = segment(room.compare(*files), 0, 1)
        say.equal(f"{kind}: some were missed", in_order["missed_by_capture"]["to"] > 20, True)
        room.write({name: by_direction(data, 300) for name, data in files.items()})
        merged = segment(room.compare(*files), 0, 1)
        for key in ("missed_by_capture", "undecidable", "lost"):
            say.equal(f"{kind}: {key}", merged[key], in_order[key])


def missed_and_lost(room, say):
    """Both at once: what is called missed was, and so what is called lost, but for a tenth
    where the capture missed few; what was sent again behind it may have come."""
    for name, rate, drop, share in (("few missed", 0.02, 0.002, 0.9),
                                    ("as many missed", 0.02, 0.02, 0.3),
                                    ("more missed", 0.002, 0.02, 0.5)):
        loss = Impairment(loss=rate)
        for op, work, a, b in (("WRITE", WRITES, 1, 2), ("READ", READS, 2, 1)):
            ways = {"forward" if op == "WRITE" else "backward": loss}
            points = (Point("sender", drop=0 if op == "WRITE" else drop),
                      Point("receiver", drop=drop if op == "WRITE" else 0))
            sim = run_sim(queue_pairs=tuple(pair(n, work * 3) for n in range(3)),
                          segments=path_of(**ways), points=points)
            truth = path_truth.segment(sim, a, b)
            got = segment(compare_sim(room, sim), a - 1, b - 1)
            label, missed = f"{name}, {op}", got["missed_by_capture"]["to"]
            say.equal(f"{label}: no more missed than there were",
                      missed <= truth.missed_to, True)
            say.equal(f"{label}: hardly more lost than there were",
                      got["lost"] <= 1.1 * truth.lost, True)
            if op == "WRITE":
                say.equal(f"{label}: some of the lost are found",
                          got["lost"] >= share * truth.lost, True)
            say.equal(f"{label}: all are booked", got["lost"] + got["undecidable"] + missed,
                      truth.lost + truth.missed_to)


def round_a_capture(before, behind):
    """Three points, of which the one in the middle misses packets, with losses on both sides
    of it."""
    return run_sim(queue_pairs=tuple(pair(n, WRITES * 3) for n in range(3)),
                   points=row_of_points(3, p1={"artefacts": (Drop(0.03),)}),
                   segments=(Segment(), Segment(4 * US, US, Impairment(loss=before)),
                             Segment(4 * US, US, Impairment(loss=behind)), Segment()))


def missed_and_lost_behind(room, say):
    """Of what was asked for, a capture that misses packets may have missed some that were lost
    behind it: these were not lost in front of it for certain."""
    for name, before, behind in (("behind", 0, 0.03), ("in front", 0.03, 0), ("both", 0.03, 0.01)):
        sim = round_a_capture(before, behind)
        truth, got = path_truth.segment(sim, 1, 2), segment(compare_sim(room, sim), 0, 1)
        say.equal(f"{name}: hardly more lost than there were",
                  got["lost"] <= 1.1 * truth.lost, True)
        if before > behind:
            say.equal(f"{name}: those that were asked for are found",
                      got["lost"] >= 0.1 * truth.lost > 0, True)


def missed_when_sent_again(room, say):
    """What was lost and sent again is no proof that a capture behind missed it, where the one
    that saw it first missed only that it was sent again."""
    sim = round_a_capture(0.03, 0.01)
    truth, got = path_truth.segment(sim, 2, 3), segment(compare_sim(room, sim), 1, 2)
    say.equal("missed", got["missed_by_capture"], {"from": truth.missed_from, "to": 0})
    say.equal("undecidable", got["undecidable"], 0)
    say.within("lost", got["lost"], truth.lost, truth.lost // 10)
    say.equal("listed", len(got["lost_packets"]), got["lost"])


def missed_both_ways(room, say):
    """Two captures that miss packets, of data both ways whose PSNs are near each other: what
    acknowledges a PSN is no copy of what was sent with it, and nothing was lost."""
    near = tuple(QueuePair(Side(0x100 + n, start_psn=0xF000, work=WRITES * 3),
                           Side(0x800 + n, start_psn=0xF000 + off, work=WRITES * 3))
                 for n, off in enumerate((0, 1, 40)))
    sim = run_sim(queue_pairs=near, points=(Point("sender", artefacts=(Drop(0.03),)),
                                            Point("receiver", artefacts=(Drop(0.03),))))
    report = compare_sim(room, sim)
    for a, b in ((0, 1), (1, 0)):
        truth, got = path_truth.segment(sim, a + 1, b + 1), segment(report, a, b)
        say.equal(f"{a} -> {b}: lost", got["lost"], truth.lost)
        say.equal(f"{a} -> {b}: none was sent again",
                  [x["psn"] for x in got["lost_packets"] if x["sent_again"]], [])
        say.equal(f"{a} -> {b}: some were missed", got["missed_by_capture"]["to"] > 50, True)


def missed_and_not_heard(room, say):
    """What the last point that saw it saw acknowledged before it was sent again has come,
    though in front of it the ACK was lost, and what was sent again is all that was seen."""
    sim = run_sim(queue_pairs=tuple(pair(n, WRITES * 3, depth=1, timeout_ns=1_000_000)
                                    for n in range(3)),
                  points=row_of_points(3, p2={"artefacts": (Drop(0.05),)}),
                  segments=(Segment(), Segment(4 * US, US, backward=Impairment(loss=0.3)),
                            Segment(), Segment()))
    truth, got = path_truth.segment(sim, 2, 3), segment(compare_sim(room, sim), 1, 2)
    say.equal("lost", got["lost"], truth.lost)
    say.equal("all are booked", got["missed_by_capture"]["to"] + got["undecidable"],
              truth.missed_to)
    say.equal("most are missed", got["missed_by_capture"]["to"] > truth.missed_to // 2, True)


def missed_answers(room, say):
    """Of READs: nothing is called lost that was not, nor the other way round."""
    work = {"queue_pairs": tuple(pair(n, (Work("READ", 20000), Work("FADD", 8)) * 60)
                                 for n in range(2))}
    back = path_of(backward=LOSSY)
    for name, how, drop in (("missed", {}, 0.04), ("lost", {"segments": back}, 0)):
        for ident in ("rising", "constant"):
            sim = run_sim(**work, **how, **hosts(ident), points=(
                Point("sender", drop=drop), Point("receiver")))
            truth = path_truth.segment(sim, 2, 1)
            got = segment(compare_sim(room, sim), 1, 0)
            label, missed = f"{name}, {ident}", got["missed_by_capture"]["to"]
            say.equal(f"{label}: lost", got["lost"], truth.lost)
            say.equal(f"{label}: the others", missed + got["undecidable"], truth.missed_to)


def missed_answers_alone(room, say):
    """Real READs, of whose answers alone one capture has not all."""
    header, records = records_of(sample("02a_read_bw/sender.pcap"))
    answers = [r for r in records if r[16 + 36:16 + 38] == b"\x12\xb7" and r[16 + 42] in
               range(13, 17)]
    gone = set(answers[5::25])
    room.write({"from.pcap": sample("02a_read_bw/receiver.pcap"),
                "to.pcap": header + b"".join(r for r in records if r not in gone)})
    got = segment(room.compare("from.pcap", "to.pcap"), 0, 1)
    say.equal("lost", (got["lost"], got["lost_packets"]), (0, []))
    say.equal("all are booked", got["undecidable"] + got["missed_by_capture"]["to"],
              len(gone))
    say.equal("missed", got["missed_by_capture"]["to"] * 2 > len(gone), True)


def answered_twice(room, say):
    """Of a READ that was answered twice the requester may have the first answer, or leave the
    second one to its timer: that it does not ask again is no proof that this one came."""
    def to_b(i, opcode, headers, payload=b""):
        ib = roce.transport(roce.OPCODE[opcode], dest_qpn=0x456, psn=i, headers=headers,
                            payload=payload)
        ip = roce.Ip(HOST_B.address, HOST_A.address, ident=next(idents))
        return roce.ethernet(roce.rocev2(ip, 50_000, ib))

    def ask(at_us, i):
        ib = roce.transport(roce.OPCODE["RC RDMA READ Request"], dest_qpn=0x123, psn=i,
                            headers=roce.reth(4096 * i, 1, 256))
        frame = roce.ethernet(roce.rocev2(
            roce.Ip(HOST_A.address, HOST_B.address, ident=next(idents)), 50_000, ib))
        seen.add(1, at_us * US, frame)
        seen.add(0, (at_us + 5) * US, frame)

    def answer(at_us, i, lost=False):
        frame = to_b(i, "RC RDMA READ Response Only", roce.aeth(0, i), bytes(256))
        seen.add(0, at_us * US, frame)
        if not lost:
            seen.add(1, (at_us + 5) * US, frame)

    for name, first_is_lost in (("late", False), ("lost", True)):
        seen, idents = Seen(2), iter(range(1, 2000))
        for i in range(100):
            at_us = 50 * i + (2000 if i > 20 else 0)
            ask(at_us, i)
            if i == 20:
                answer(at_us + (1012 if name == "late" else 10), i, first_is_lost)
                ask(at_us + 1000, i)
                answer(at_us + 1020, i, lost=True)
            else:
                answer(at_us + 10, i)
        got = segment(seen.compare(room), 0, 1)
        say.equal(f"{name}: lost", got["lost"], 2 if first_is_lost else 1)
        say.equal(f"{name}: missed", got["missed_by_capture"], {"from": 0, "to": 0})


def lost_before_a_queue_was_gone(room, say):
    """Of two equal copies the second took less time than was usual, and came to the last point
    when the first would have, which was lost in front of the one in the middle."""
    seen = Seen(3)

    def send(at_us, i, delay_us, lost=False):
        for hop in range(1 if lost else 3):
            packet = wire("RC SEND Only", HOST_A6, HOST_B6, i, bytes(64), ttl=64 - hop)
            seen.add(hop, (at_us + 2 * hop + (delay_us if hop == 2 else 0)) * US, packet)

    def nak(at_us, i):
        ib = roce.transport(roce.OPCODE["RC Acknowledge"], dest_qpn=0x123, psn=i,
                            headers=roce.aeth(0x60, i))
        for hop in range(3):
            frame = roce.ethernet(roce.rocev2(
                roce.Ip(HOST_B6.address, HOST_A6.address, ttl=62 + hop), 50_000, ib))
            seen.add(hop, (at_us - 5 * hop) * US, frame)

    for i in range(200):
        send(20 * i, i, 300 + i % 3)
    send(4000, 200, 300, lost=True)
    send(4020, 201, 150)
    nak(4190, 200)
    send(4200, 200, 100)
    send(4201, 201, 101)
    for i in range(202, 300):
        send(400 + 20 * i, i, 100 + i % 3)
    report = seen.compare(room)
    for a, b, lost in ((0, 1, 1), (1, 2, 0)):
        got = segment(report, a, b)
        say.equal(f"{a} -> {b}: lost", got["lost"], lost)
        say.equal(f"{a} -> {b}: missed", got["missed_by_capture"], {"from": 0, "to": 0})


def equal_copies_of_which_each_missed_one(room, say):
    """One point saw the first of two equal copies, the other one the second: taken for one, it
    would have come before it was sent, which says nothing of clocks."""
    seen, delay_us = Seen(2), 100
    for i in range(400):
        packet = wire("RC SEND Only", HOST_A6, HOST_B6, i, bytes(64))
        answer = wire("RC Acknowledge", HOST_B6, HOST_A6, i)
        again_us = 430 if i == 200 else 0
        seen.add(0, (20 * i + again_us) * US, packet)
        seen.add(1, (20 * i + delay_us + i % 3) * US, packet)
        seen.add(1, (20 * i + delay_us + 10) * US, answer)
        seen.add(0, (20 * i + 2 * delay_us + 10 + i % 3) * US, answer)
    got = segment(seen.compare(room), 0, 1)
    say.within("offset", got["clock"]["offset_ns"], 0, 2 * US)
    say.within("least round trip", got["clock"]["least_round_trip_ns"], 2 * delay_us * US, US)
    say.within("delay", got["delay_variation_ns"]["p50"], US, US)


def missed_and_not_ready(room, say):
    """What was sent again since its receiver was not ready may have come; where the other
    capture missed nothing, it did not."""
    header, records = records_of(sample("05a_rnr/receiver.pcap"))
    source = bytes([10, 77, 1, 1])

    def without(is_kept):
        files = {"from.pcap": sample("05a_rnr/sender.pcap"), "to.pcap": header + b"".join(
            r for i, r in enumerate(records) if i % 25 != 7 or is_kept(r))}
        room.write(files)
        left_out = [r for i, r in enumerate(records) if i % 25 == 7 and not is_kept(r)
                    and r[16 + 26:16 + 30] == source]
        return len(left_out), segment(room.compare(*files), 0, 1)
    n, got = without(lambda record: False)
    say.equal("missed: lost", (got["lost"], got["lost_packets"]), (0, []))
    say.equal("missed: either", got["undecidable"] + got["missed_by_capture"]["to"], n)
    n, got = without(lambda record: record[16 + 26:16 + 30] != source)
    say.equal("lost", (got["lost"], got["undecidable"]), (n, 0))
    say.equal("sent again", got["lost_sent_again"],
              sum(packet["sent_again"] for packet in got["lost_packets"]))
    say.equal("most were", got["lost_sent_again"] * 2 > n, True)


def other_times(room, say):
    """One capture began later and ended earlier: what lies outside is not lost."""
    for cuts in ((400, 0), (0, 400), (300, 300)):
        for which in ("sender", "receiver"):
            points = tuple(Point(name, artefacts=(Cut(*cuts),) if name == which else ())
                           for name in ("sender", "receiver"))
            sim = run_sim(points=points)
            report = compare_sim(room, sim)
            for a, b in ((0, 1), (1, 0)):
                got = segment(report, a, b)
                say.equal(f"{which} {cuts} {a} -> {b}: lost", got["lost"], 0)
                say.equal(f"{which} {cuts} {a} -> {b}: missed",
                          got["missed_by_capture"], {"from": 0, "to": 0})


def long_before(room, say):
    """The captures overlap late, by more than is looked at in the beginning."""
    work = (Work("WRITE", 65536),) * 700
    points = (Point("sender"), Point("receiver", artefacts=(Cut(35_000), Clock(5 * H))))
    sim = run_sim(queue_pairs=(pair(0, work),), points=points)
    got = segment(compare_sim(room, sim), 0, 1)
    truth = path_truth.segment(sim, 1, 2)
    say.equal("matched", got["matched"], truth.matched)
    say.equal("lost", got["lost"], 0)
    say.within("offset", got["clock"]["offset_ns"], 5 * H, 20 * US)


# --- packets that are all the same ---------------------------------------------------


def equal_copies(room, say):
    """CNPs of one queue pair are equal to the last bit where a NIC does not number its
    packets: thousands of them come within the second that packets wait."""
    for every_ns, delay_ns, n in ((4 * US, 300 * US, 30_000), (20 * US, 100 * US, 30_000),
                                  (50 * US, 50 * US, 24_000), (50 * US, 5 * MS, 12_000),
                                  (1 * MS, 20 * MS, 4_000), (300 * MS, 1 * MS, 60)):
        what = f"one in {every_ns} ns, {delay_ns} ns away"
        got, n_lost = compare_equal(room, every_ns, delay_ns, n)
        # Which is which rests on times, and these on a clock that is followed.
        say.within(f"{what}: lost", got["lost"], n_lost, 2)
        say.within(f"{what}: matched", got["matched"], n - n_lost + (n + 4) // 5, 2)
        say.within(f"{what}: more", got["duplicated_or_missed"], 0, 2)
        for key in ("duplicated", "reordered", "slipped_out_of_window"):
            say.equal(f"{what}: {key}", got[key], 0)
        say.equal(f"{what}: missed", got["missed_by_capture"], {"from": 0, "to": 0})


def wire(opcode, src, dst, n, payload=b"", qpn=0x456, **ip):
    """A packet of a queue pair, the n-th and with that number."""
    headers = roce.aeth(0, n) if opcode.endswith("Acknowledge") else b""
    ib = roce.transport(roce.OPCODE[opcode], dest_qpn=qpn, psn=n, headers=headers,
                        payload=payload)
    ip.setdefault("ident", n & 0xFFFF)
    return roce.ethernet(roce.rocev2(roce.Ip(src.address, dst.address, **ip), 50_000, ib))


def equal_copies_cut(room, say):
    """One capture begins later or ends earlier, amid thousands of equal CNPs: those that
    only the other one can have are neither lost nor missed."""
    for every_ns in (4 * US, 50 * US):
        cut_ns = 3000 * every_ns
        for cuts in (((cut_ns, 0), (0, 0)), ((0, cut_ns), (0, 0)),
                     ((0, 0), (cut_ns, 0)), ((0, 0), (0, cut_ns))):
            check_equal(say, f"one in {every_ns} ns, cut {cuts}",
                        *compare_equal(room, every_ns, 5 * US, 12_000, cuts=cuts))


def equal_copies_apart(room, say):
    """CNPs have a priority of their own: what other packets take says nothing of them.
    How they follow each other does."""
    for every_ns, delay_ns, others_ns in (
            (4 * US, 5 * US, 500 * US), (4 * US, 500 * US, 5 * US),
            (50 * US, 5 * US, 500 * US), (50 * US, 500 * US, 5 * US),
            (50 * US, 5 * US, 5 * MS)):
        for cuts in (((0, 0), (0, 0)), ((600 * every_ns, 0), (0, 900 * every_ns))):
            check_equal(say, f"{delay_ns} ns away, others {others_ns} ns, cut {cuts}",
                        *compare_equal(room, every_ns, delay_ns, 12_000, cuts=cuts,
                                       others_ns=others_ns, even=False))


def equal_copies_of_three(room, say):
    """Of equal CNPs the point where they come from has the later ones alone."""
    draw, time_ns, n = random.Random(4), 1_700_000_000 * S, 12_000
    notice = roce.ethernet(roce.cnp(roce.Ip(HOST_B.address, HOST_A.address, ident=0),
                                    50_000, 0x123))
    seen = [[], [], []]
    for i in range(n):
        time_ns += int(draw.expovariate(1 / (20 * US)))
        data = wire("RC RDMA WRITE Middle", HOST_A, HOST_B, i, bytes(8))
        answer = wire("RC Acknowledge", HOST_B, HOST_A, i)
        for k in range(3):
            late_ns = k * 5 * US + draw.randrange(500)
            if k > 0 or i >= n // 4:
                seen[2 - k].append((time_ns + late_ns, notice))
            if i % 3 == 0:
                seen[k].append((time_ns + late_ns, data))
                seen[2 - k].append((time_ns + late_ns, answer))
    # The last one has nothing from before that.
    seen[2] = [one for one in seen[2] if one[0] >= next(
        at for at, frame in seen[2] if frame == notice)]
    for name, packets, offset in zip("abc", seen, (0, 2 * H, -5 * H)):
        capture = roce.Pcap()
        for at_ns, frame in sorted(packets, key=lambda one: one[0]):
            capture.add(at_ns + offset, frame)
        room.write({f"{name}.pcap": capture.bytes()})
    report = room.compare("a.pcap", "b.pcap", "c.pcap")
    for a, b in ((2, 1), (1, 0)):
        got = segment(report, a, b)
        for key in ("lost", "undecidable", "duplicated_or_missed", "duplicated"):
            say.within(f"{a} -> {b}: {key}", got[key], 0, 4)
        for side in ("from", "to"):
            say.within(f"{a} -> {b}: missed by {side}", got["missed_by_capture"][side], 0, 4)


def overtaken_by_notices(room, say):
    """CNPs overtake the data and the ACKs of their stream that wait in a queue: nothing
    came out of order but two of each kind."""
    here, there, queue_ns = [], [], 0
    for i in range(3000):
        time_ns = 1_700_000_000 * S + i * US
        queue_ns = max(queue_ns + 200, time_ns + (200 if i // 300 % 2 else 5) * US)
        kind = "RC Acknowledge" if i % 2 else "RC RDMA WRITE Middle"
        there.append((time_ns, wire(kind, HOST_B, HOST_A, i)))
        here.append((queue_ns + (3 * US if i in (100, 2500) else 0), there[-1][1]))
        if i % 10 == 0:
            ip = roce.Ip(HOST_B.address, HOST_A.address, ident=0x9000 + i)
            there.append((time_ns + 300, roce.ethernet(roce.cnp(ip, 50_000, 0x456))))
            late_ns = 30 * US if i in (90, 2790) else 5 * US
            here.append((time_ns + 300 + late_ns, there[-1][1]))
    for name, packets in (("a.pcap", here), ("b.pcap", there)):
        capture = roce.Pcap()
        for time_ns, frame in sorted(packets, key=lambda one: one[0]):
            capture.add(time_ns, frame)
        room.write({name: capture.bytes()})
    want = sum(overtaken(there, here, cnps) for cnps in (True, False))
    say.equal("lost", segment(room.compare("b.pcap", "a.pcap"), 0, 1)["lost"], 0)
    say.equal("reordered", segment(room.compare("b.pcap", "a.pcap"), 0, 1)["reordered"], want)
    say.equal("as many as are late", want, 4)


def overtaken(there, here, cnps):
    """How many came behind one that had been behind them."""
    place = {frame: i for i, (_, frame) in enumerate(sorted(there, key=lambda one: one[0]))
             if (frame[42] == roce.OPCODE["CNP"]) == cnps}
    n, newest = 0, -1
    for _, frame in sorted(here, key=lambda one: one[0]):
        if frame in place:
            n += place[frame] < newest
            newest = max(newest, place[frame])
    return n


def check_equal(say, what, got, n_lost):
    say.within(f"{what}: lost", got["lost"], n_lost, 8)
    for key in ("duplicated_or_missed", "duplicated", "undecidable",
                "slipped_out_of_window"):
        say.within(f"{what}: {key}", got[key], 0, 4)
    for side in ("from", "to"):
        say.within(f"{what}: missed by {side}", got["missed_by_capture"][side], 0, 4)


def compare_equal(room, every_ns, delay_ns, n, cuts=((0, 0), (0, 0)), others_ns=None,
                  even=True):
    """What is said of equal CNPs the one way, beside WRITEs the other way and their
    acknowledgements; and how many CNPs were lost while both captures were on.  `cuts` are
    what the capture of each host lacks at its beginning and at its end."""
    draw = random.Random(11)
    others_ns = delay_ns if others_ns is None else others_ns
    start_ns = time_ns = 1_700_000_000 * S
    spans = [(start_ns + first, start_ns + n * every_ns - last) for first, last in cuts]
    notice = roce.ethernet(roce.cnp(roce.Ip(HOST_B.address, HOST_A.address, ident=0),
                                    50_000, 0x123))
    here, there, n_lost = [], [], 0
    for i in range(n):
        if even:
            time_ns = start_ns + i * every_ns + draw.randrange(every_ns // 4)
        else:
            time_ns += int(draw.expovariate(1 / every_ns))
        late_ns = draw.randrange(every_ns // 4)
        there.append((time_ns, notice))
        if i % 97 == 45:
            n_lost += (spans[1][0] <= time_ns <= spans[1][1]
                       and spans[0][0] <= time_ns + delay_ns <= spans[0][1])
        else:
            here.append((time_ns + delay_ns + late_ns, notice))
        if i % 5 == 0:
            back_ns = time_ns + others_ns + late_ns
            here.append((time_ns, wire("RC RDMA WRITE Middle", HOST_A, HOST_B, i, bytes(8))))
            there.append((back_ns, here[-1][1]))
            there.append((time_ns, wire("RC Acknowledge", HOST_B, HOST_A, i)))
            here.append((back_ns, there[-1][1]))
    for name, packets, (first, last), offset in (("a.pcap", here, spans[0], 0),
                                                 ("b.pcap", there, spans[1], 3 * H)):
        capture = roce.Pcap()
        for time_ns, frame in sorted(packets):
            if (first, last) == (start_ns, start_ns + n * every_ns) \
                    or first <= time_ns <= last:
                capture.add(time_ns + offset, frame)
        room.write({name: capture.bytes()})
    return segment(room.compare("a.pcap", "b.pcap"), 1, 0), n_lost


# --- frames that change on their way -------------------------------------------------


def few_equal_copies_at_the_beginning(room, say):
    """CNPs that overtake data, too few to tell how long they take: of as many as both points
    saw none is lost, though the first came before data of its time would have."""
    seen, draw, time_us = Seen(2), random.Random(3), 13
    for i in range(400):
        data = wire("RC SEND Only", HOST_A6, HOST_B6, i, bytes(64))
        answer = wire("RC Acknowledge", HOST_B6, HOST_A6, i)
        for hop in range(2):
            seen.add(hop, (13 * i + 36 * hop) * US, data)
            seen.add(1 - hop, (13 * i + 40 + 36 * hop) * US, answer)
    for k in range(15):
        notice = roce.ethernet(roce.cnp(roce.Ip(HOST_A6.address, HOST_B6.address),
                                        50_000, 0x456))
        for hop in range(2):
            seen.add(hop, (time_us + 2 * hop) * US, notice)
        time_us += 55 if k == 0 else 53 + int(draw.expovariate(1 / 120))
    got = segment(seen.compare(room), 0, 1)
    say.equal("matched", got["matched"], 415)
    say.equal("lost", got["lost"], 0)


def equal_copies_lost_and_made_two(room, say):
    """Of equal CNPs one is lost behind B and another one made two behind C, where as many
    come as to B: that proves of no capture that it missed one."""
    draw, time_ns, seen = random.Random(7), 0, Seen(4)
    notice = roce.ethernet(roce.cnp(roce.Ip(HOST_B.address, HOST_A.address, ident=0),
                                    50_000, 0x123))
    for i in range(200):
        time_ns += 200 * US + int(draw.expovariate(1 / (60 * US)))
        for hop in range(4):
            at_ns = time_ns + hop * 5 * US + draw.randrange(500)
            if i != 60 or hop < 2:
                seen.add(3 - hop, at_ns, notice)
            if i == 150 and hop == 3:
                seen.add(0, at_ns + US, notice)
            if i % 20 != 9 or hop < 2:  # not acknowledged
                seen.add(hop, at_ns, wire("RC RDMA WRITE Middle", HOST_A, HOST_B, i, bytes(8),
                                          ttl=64 - hop))
    report = seen.compare(room)
    say.equal("missed", [point["missed"] for point in report["points"]], [0] * 4)
    got = segment(report, 1, 2)
    say.equal("lost", (got["lost"], got["undecidable"]), (10, 0))


def frames_of(data):
    """Stamps and frames of a capture, and how long they were on the wire."""
    at, out = 24, []
    while at < len(data):
        seconds, fraction, kept, wire = (int.from_bytes(data[at + k:at + k + 4], "little")
                                         for k in (0, 4, 8, 12))
        out.append((seconds * 10**9 + fraction, data[at + 16:at + 16 + kept], wire))
        at += 16 + kept
    return out


def map_frames(data, change):
    """A capture whose frames are changed; `change(i, frame)` gives another, or None."""
    out = roce.Pcap()
    for i, (time_ns, old, wire) in enumerate(frames_of(data)):
        frame = change(i, old)
        if frame is not None:
            out.add(time_ns, frame, wire + len(frame) - len(old))
    return out.bytes()


def checksummed(ip):
    """The IPv4 header with its checksum made anew."""
    ip = bytearray(ip)
    ip[10:12] = b"\0\0"
    total = sum(int.from_bytes(ip[i:i + 2], "big") for i in range(0, 20, 2))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    ip[10:12] = (~total & 0xFFFF).to_bytes(2, "big")
    return bytes(ip)


def routed(hops, dscp=None):
    """As another link shows it: MACs, TTL, perhaps another DSCP."""
    def change(_i, frame):
        if frame[12:14] != b"\x08\x00":
            return frame
        ip = bytearray(frame[14:])
        ip[8] -= hops
        ip[1] = ip[1] & 3 | dscp << 2 if dscp is not None else ip[1]
        return roce.ethernet(checksummed(ip), src=roce.mac("02:00:00:00:99:01"),
                             dst=roce.mac("02:00:00:00:99:02"),
                             vlans=[roce.Vlan(7, pcp=3)])
    return change


def of_host(host, change):
    """Changed only if it comes from this host."""
    address = bytes(int(part) for part in host.address.split("."))

    def only(i, frame):
        return change(i, frame) if frame[26:30] == address else frame
    return only


def routers_between(room, say):
    """MACs, VLAN, TTL and DSCP change; the TTL says which way traffic goes, even if the
    points are given the wrong way round and clocks differ."""
    sim = run_sim(segments=BOTH_LOSSY)
    data = sim.captures()
    forward, backward = path_truth.segment(sim, 1, 2), path_truth.segment(sim, 2, 1)
    room.write({
        "sender.pcap": map_frames(data["sender"], of_host(HOST_B, routed(2))),
        "receiver.pcap": map_frames(data["receiver"], of_host(HOST_A, routed(2, dscp=8)))})
    for order in (("sender.pcap", "receiver.pcap"), ("receiver.pcap", "sender.pcap")):
        report = room.compare(*order)
        a = order.index("sender.pcap")
        there, back = segment(report, a, 1 - a), segment(report, 1 - a, a)
        say.equal("there: lost", there["lost"], forward.lost)
        say.equal("back: lost", back["lost"], backward.lost)
        say.equal("rewritten", there["dscp_rewritten"], forward.matched)
        say.equal("as what", there["dscp_rewrites"],
                  [{"from": 26, "to": 8, "packets": forward.matched}])
        say.equal("back: rewritten", back["dscp_rewritten"], 0)
        say.equal("ways", {s["direction_by"] for s in report["streams"]}, {"hop_limit"})


def wrong_way_round(room, say):
    """Points in the other order: the same segments under other names."""
    sim = run_sim(segments=BOTH_LOSSY, points=(
        Point("sender"), Point("receiver", artefacts=(Clock(7 * H, 20_000),))))
    room.write({f"{n}.pcap": d for n, d in sim.captures().items()})
    one = room.compare("sender.pcap", "receiver.pcap")
    other = room.compare("receiver.pcap", "sender.pcap")
    for a, b in ((0, 1), (1, 0)):
        for key in COUNTS:
            say.equal(f"{a} -> {b}: {key}", segment(other, b, a)[key],
                      segment(one, a, b)[key])


def points_in_another_order(room, say):
    """Where hop limits say that two points were given the wrong way round, so does the
    report; of points in their order it says nothing."""
    for order, rose in (((0, 1, 2, 3), []), ((3, 2, 1, 0), []), ((0, 2, 1, 3), [(1, 2), (2, 1)])):
        seen = Seen(4)
        for way, (src, dst) in enumerate(((HOST_A, HOST_B), (HOST_B, HOST_A))):
            for i in range(200):
                for hop in range(4):
                    place = hop if way == 0 else 3 - hop
                    seen.add(order.index(place), (i * 20 + way * 9 + hop * 2) * US,
                             wire("RC RDMA WRITE Middle", src, dst, i, bytes(8), ttl=64 - hop))
        report = seen.compare(room)
        say.equal(f"{order}: where they rise",
                  sorted((s["from"], s["to"]) for s in report["segments"]
                         if s["hop_limit_rose"]), rose)
        done = subprocess.run([BINARY, "compare", "a.pcap", "b.pcap", "c.pcap", "d.pcap"],
                              cwd=room.directory, capture_output=True, text=True, timeout=60)
        said = " ".join(done.stdout.split())
        say.equal(f"{order}: in words", "On B → C hop limits rise: packets come by C before "
                  "they come by B, and the points are not in the order" in said, bool(rose))


def rising_round_a_point(room, say):
    """Of what goes round a point it is not known on which side of it hop limits rose."""
    seen = Seen(3)
    for i in range(200):
        for hop in range(3):
            seen.add(hop, (i * 20 + hop * 2) * US,
                     wire("RC RDMA WRITE Middle", HOST_A, HOST_B, i, bytes(8), ttl=64 - hop))
        for hop in (0, 2):
            seen.add(hop, (i * 20 + 9 + hop * 2) * US,
                     wire("RC RDMA WRITE Middle", HOST_A, HOST_B, i, bytes(8), qpn=0x789,
                          ttl=60 + hop))
    report = seen.compare(room)
    say.equal("rose", [segment(report, a, a + 1)["hop_limit_rose"] for a in range(2)], [0, 0])


def one_direction_alone(room, say):
    """Data alone: the order given counts, and the offset includes the delay."""
    sim = run_sim(queue_pairs=(pair(0),), segments=path_of(forward=LOSSY), cm=False)
    address = bytes(int(part) for part in HOST_A.address.split("."))
    room.write({f"{n}.pcap": map_frames(d, lambda _i, f: f if f[26:30] == address
                                        else None)
                for n, d in sim.captures().items()})
    report = room.compare("sender.pcap", "receiver.pcap")
    got, truth = segment(report, 0, 1), path_truth.segment(sim, 1, 2)
    # What was lost before the first packet that came is outside of what is known.
    say.equal("lost", got["lost"] + got["outside_common_time"], truth.lost)
    say.equal("by", got["clock"]["by"], "one_direction")
    say.equal("how sure", got["clock"]["offset_uncertainty_ns"], None)
    say.equal("nothing the other way", segment(report, 1, 0)["lost"], None)
    say.equal("way", {s["direction_by"] for s in report["streams"]}, {"order_given"})


def strangers(room, say):
    """Traffic that takes another way is no loss, even between the same hosts."""
    work = WRITES[:20]
    sim = run_sim(queue_pairs=(pair(0), pair(1, work)), segments=BOTH_LOSSY, cm=False)
    data = sim.captures()

    room.write({"sender.pcap": data["sender"],
                "receiver.pcap": map_frames(data["receiver"], without_second)})
    report = room.compare("sender.pcap", "receiver.pcap")
    kept = {0x100, 0x800}
    lost = sum(tx.passes.get(1, 0) > 0 and not tx.passes.get(2, 0)
               for tx in sim.all_tx
               if tx.end.host is sim.host_a and tx.dest_qpn in kept)
    got = segment(report, 0, 1)
    say.equal("lost", got["lost"] + got["outside_common_time"], lost)
    say.equal("alone", report["seen_at_one_point_only"]["streams"], 2)


def nothing_in_common(room, say):
    one = run_sim(queue_pairs=(pair(0),), segments=BOTH_LOSSY).captures()
    other = run_sim(queue_pairs=(pair(5),), cm=False,
                    host_a=dataclasses.replace(HOST_A, address="10.9.7.1"),
                    host_b=dataclasses.replace(HOST_B, address="10.9.7.2")).captures()
    room.write({"a.pcap": one["sender"], "b.pcap": other["receiver"]})
    report = room.compare("a.pcap", "b.pcap")
    for s in report["segments"]:
        say.equal("matched", s["matched"], 0)
        say.equal("unknown", (s["lost"], s["clock"]["offset_ns"]), (None, None))
    done = subprocess.run([BINARY, "compare", "a.pcap", "b.pcap"], cwd=room.directory,
                          capture_output=True, text=True, timeout=60)
    say.equal("told", "No packet was seen at both" in done.stdout, True)
    say.equal("status", done.returncode, 0)


# --- sample captures -----------------------------------------------------------------

SAMPLES = {  # name: what there is between sender and receiver: there, back
    "01_write_rc_cm": ({}, {}), "02a_read_bw": ({}, {}), "02d_atomic_bw": ({}, {}),
    "02e_ud": ({}, {}), "02f_uc": ({}, {}), "02g_ipv6": ({}, {}),
    "02h_multiqp": ({}, {}), "02k_allops": ({}, {}), "02l_psnwrap": ({}, {}),
    "03a_loss_data_0.5pct": ({"lost": 11}, {}),
    "03c_loss_ack": ({}, {"lost": 44}),
    "03d_loss_read_resp": ({}, {"lost": 30}),
    "04b_duplicate": ({"duplicated": 42}, {}),
    "05a_rnr": ({}, {}),
    "06a_ecn_netem": ({"marked": 72, "matched": 800}, {}),
    "07a_nak_remote_access": ({}, {}), "08_vlan": ({}, {}),
}


def samples(room, say):
    for name, wants in SAMPLES.items():
        room.write({f"{p}.pcap": sample(f"{name}/{p}.pcap")
                    for p in ("sender", "receiver")})
        report = room.compare("sender.pcap", "receiver.pcap")
        for (a, b), want in zip(((0, 1), (1, 0)), wants):
            got = segment(report, a, b)
            for key in ("lost", "marked", "reordered", "duplicated"):
                say.equal(f"{name} {a} -> {b}: {key}", got[key] or 0, want.get(key, 0))
            if "matched" in want:
                say.equal(f"{name} {a} -> {b}: matched", got["matched"], want["matched"])
            say.equal(f"{name} {a} -> {b}: missed",
                      [n or 0 for n in got["missed_by_capture"].values()], [0, 0])


def reordered_sample(room, say):
    room.write({f"{p}.pcap": sample(f"04a_reorder/{p}.pcap")
                for p in ("sender", "receiver")})
    got = segment(room.compare("sender.pcap", "receiver.pcap"), 0, 1)
    say.equal("lost", got["lost"], 0)
    say.equal("reordered", got["reordered"] > 20, True)
    # netem holds them back for 2 ms
    say.within("delay of those", got["delay_variation_ns"]["p99"], 2.4 * MS, 500 * US)


def merged_at_both_ends(room, say):
    """Two queues that were merged out of order at the first point are no order of packets, and
    the network has reordered none."""
    files = {f"{p}.pcap": sample(f"sim_merged_queues/{p}.pcap") for p in ("sender", "receiver")}
    room.write(files)
    for got in room.compare(*files)["segments"]:
        say.equal(f"{got['from']} -> {got['to']}: lost and reordered",
                  (got["lost"], got["reordered"]), (0, 0))


def switch_sample(room, say):
    """The port where each of five was lost: all on the way out of sB."""
    room.write({"switch.pcapng": sample("11_pcapng_switch/switch.pcapng"),
                "sender.pcap": sample("11_pcapng_switch/sender.pcap"),
                "receiver.pcap": sample("11_pcapng_switch/receiver.pcap")})
    for port, lost in (("sA", 4), ("sC", 1), ("0", 4), ("2", 1)):
        for other in ("sB", "1"):
            report = room.compare(f"switch.pcapng#{port}", f"switch.pcapng#{other}")
            say.equal(f"{port} to {other}", segment(report, 0, 1)["lost"], lost)
            say.equal(f"{other} to {port}", segment(report, 1, 0)["lost"], 0)
            clock = segment(report, 0, 1)["clock"]
            say.equal("one clock", (clock["by"], clock["offset_ns"], clock["drift_ppb"]),
                      ("one_file", 0, 0))
    report = room.compare("sender.pcap", "switch.pcapng#sA", "switch.pcapng#sB",
                          "receiver.pcap")
    say.equal("where they were lost", [s["lost"] for s in report["segments"]],
              [0, 4, 0, 0, 0, 0])
    for loss in segment(report, 1, 2)["lost_packets"]:
        say.equal("frames", [n is not None for n in loss["frames"]],
                  [True, True, False, False])


def round_a_point(room, say):
    """What a stream loses that does not pass a point counts where it is missing."""
    room.write({"switch.pcapng": sample("11_pcapng_switch/switch.pcapng"),
                "sender.pcap": sample("11_pcapng_switch/sender.pcap"),
                "receiver.pcap": sample("11_pcapng_switch/receiver.pcap")})
    report = room.compare("sender.pcap", "switch.pcapng#sC", "receiver.pcap")
    whole = segment(report, 1, 2)
    say.equal("lost", whole["lost"], 5)
    say.equal("of these round the point", whole["lost_round"], 4)
    said = subprocess.run([BINARY, "compare", "sender.pcap", "switch.pcapng#sC",
                           "receiver.pcap"], cwd=room.directory, capture_output=True,
                          text=True, timeout=60).stdout
    room.run("sender.pcap", "switch.pcapng#sC", "receiver.pcap", options=("--html", "p.html"))
    say.equal("on the page", "Lost round first" in (room.directory / "p.html").read_text(), True)
    say.equal("in words", "Of the 5 packets lost from B to C, 4 are of streams that do not "
              "come by B" in said, True)
    parts = [s for stream in report["streams"] for s in stream["segments"]
             if (s["from"], s["to"]) == (1, 2)]
    say.equal("streams add up", sum(s["lost"] or 0 for s in parts), 5)
    rounds = [s for s in parts if s["matched"] == 0 and s["lost"] is not None]
    say.equal("of the stream that is not seen there",
              [(s["lost"], s["marked"]) for s in rounds], [(4, None)])
    say.equal("where they were seen last",
              sorted(loss["last_seen_at"] for loss in whole["lost_packets"]), [0, 0, 0, 0, 1])


def switch_as_a_whole(room, say):
    """A file whose interfaces saw the same packets is one point, each packet once."""
    room.write({"switch.pcapng": sample("11_pcapng_switch/switch.pcapng"),
                "receiver.pcap": sample("11_pcapng_switch/receiver.pcap")})
    report = room.compare("switch.pcapng", "receiver.pcap")
    say.equal("lost", segment(report, 0, 1)["lost"], 5)
    say.equal("made two", segment(report, 0, 1)["duplicated"], 0)
    say.equal("told", report["points"][0]["seen_at_several_interfaces"] > 1000, True)


# --- the command line ----------------------------------------------------------------


def all_round_a_point(room, say):
    """Nothing is matched where all traffic goes round a point: there is no delay to tell
    of, and no heading for it."""
    sim = run_sim(queue_pairs=(pair(0),), segments=BOTH_LOSSY, cm=False)
    data = sim.captures()
    room.write({"a.pcap": data["sender"], "c.pcap": data["receiver"],
                "b.pcap": map_frames(data["sender"], without_roce)})
    points = ("a.pcap", "b.pcap", "c.pcap")
    report = room.compare(*points)
    say.equal("matched", {s["matched"] for s in report["segments"]}, {0})
    done = subprocess.run([BINARY, "compare", *points], cwd=room.directory,
                          capture_output=True, text=True, timeout=60)
    say.equal("segments", "What happened between them" in done.stdout, True)
    say.equal("delays", "One-way delay" in done.stdout, False)


def names(room, say):
    """A file of the whole name wins over an interface."""
    data = {p: sample(f"03a_loss_data_0.5pct/{p}.pcap") for p in ("sender", "receiver")}
    room.write({"x.pcap#1": data["sender"], "x.pcap": data["receiver"],
                "y#z": data["receiver"]})
    for points in (("x.pcap#1", "y#z"), ("x.pcap#1", "x.pcap"), ("x.pcap#1", "y#z#0")):
        report = room.compare(*points)
        say.equal(f"{points}", segment(report, 0, 1)["lost"], 11)


def named_by_numbers(room, say):
    """An interface that is called "1" wins over the one whose number that is, whichever
    has the first frames, and if it has none."""
    sim = run_sim(segments=BOTH_LOSSY)
    frames = {name: frames_of(data) for name, data in sim.captures().items()}
    for silent in (False, True):
        file = roce.Pcapng([roce.Interface(name="1"), roce.Interface(name="eth1")])
        seen = [(1, *frame) for frame in frames["sender"]]
        seen += [] if silent else [(0, *frame) for frame in frames["receiver"]]
        for i, time_ns, frame, wire in sorted(seen, key=lambda one: one[1]):
            file.add(time_ns, frame, wire, interface=i)
        room.write({"x.pcapng": file.bytes()})
        report = room.compare("x.pcapng#eth1", "x.pcapng#1")
        say.equal(f"packets, silent: {silent}", [p["packets"] for p in report["points"]],
                  [len(frames["sender"]), 0 if silent else len(frames["receiver"])])
        say.equal(f"lost, silent: {silent}", segment(report, 0, 1)["lost"],
                  None if silent else path_truth.segment(sim, 1, 2).lost)


def names_with_marks(room, say):
    """"#" in names of interfaces and of files: the file is the longest part that is one."""
    sim = run_sim(segments=BOTH_LOSSY)
    frames = {name: frames_of(data) for name, data in sim.captures().items()}
    file = roce.Pcapng([roce.Interface(name="a#1"), roce.Interface(name="#b#"),
                        roce.Interface(name="1")])
    seen = [(i, *frame) for i, name in enumerate(("sender", "receiver"))
            for frame in frames[name]]
    for i, time_ns, frame, wire in sorted(seen, key=lambda one: one[1]):
        file.add(time_ns, frame, wire, interface=i)
    lost = path_truth.segment(sim, 1, 2).lost
    room.write({name: file.bytes() for name in ("x.pcapng", "y#.pcapng#c")})
    for name in ("x.pcapng", "y#.pcapng#c"):
        report = room.compare(f"{name}#a#1", f"{name}##b#")
        say.equal(f"{name}: files", [(p["file"], p["interface"]) for p in report["points"]],
                  [(name, "a#1"), (name, "#b#")])
        say.equal(f"{name}: lost", segment(report, 0, 1)["lost"], lost)
    room.write({"x.pcapng#a": file.bytes()})
    say.equal("the longest", [(p["file"], p["interface"]) for p in
                              room.compare("x.pcapng#a#1", "x.pcapng#a##b#")["points"]],
              [("x.pcapng#a", "1"), ("x.pcapng#a", "#b#")])


def refusals(room, say):
    data = sample("03a_loss_data_0.5pct/sender.pcap")
    room.write({"s.pcap": data, "r.pcap": sample("03a_loss_data_0.5pct/receiver.pcap"),
                "cut.pcap": data[:len(data) // 2 + 3], "no.pcap": b"nothing\n" * 9})
    for points, status in (((), 2), (("s.pcap",), 2), (("s.pcap", "s.pcap"), 2),
                           (("s.pcap", "./s.pcap"), 2), (("s.pcap", "s.pcap#0"), 2),
                           (("s.pcap#7", "r.pcap"), 2), (("s.pcap#eth0", "r.pcap"), 2),
                           (("s.pcap#0abc", "r.pcap"), 2), (("s.pcap#", "r.pcap"), 2),
                           (("s.pcap", "r.pcap"), 0), (("cut.pcap", "r.pcap"), 3),
                           (("s.pcap", "missing.pcap"), 3), (("s.pcap", "no.pcap"), 3),
                           (tuple(f"{i}.pcap" for i in range(17)), 2)):
        done = room.run(*points)
        say.equal(f"{points}: status", done.returncode, status)
        say.equal(f"{points}: says why", bool(done.stderr.strip()), status != 0)
        say.equal(f"{points}: one line", len(done.stderr.splitlines()) <= 1, True)
    report = room.compare("cut.pcap", "r.pcap", status=3)
    say.equal("what was read counts", segment(report, 0, 1)["matched"] > 500, True)
    say.equal("damaged", report["points"][0]["damaged_at"] is not None, True)
    done = room.run("s.pcap", "r.pcap", options=("--filter", "udp port"))
    say.equal("bad filter", done.returncode, 2)


def piped(room, say):
    """Standard input cannot be read twice, and need not be."""
    room.write({"s.pcap": sample("03a_loss_data_0.5pct/sender.pcap"),
                "r.pcap": sample("03a_loss_data_0.5pct/receiver.pcap")})
    for points in (("s.pcap", "-"), ("-", "r.pcap")):
        name = "r.pcap" if points[1] == "-" else "s.pcap"
        with subprocess.Popen(["cat", name], cwd=room.directory,
                              stdout=subprocess.PIPE) as cat:
            done = room.run(*points, stdin=cat.stdout)
        say.equal(f"{points}", segment(json.loads(done.stdout), 0, 1)["lost"], 11)


def written_files(room, say):
    """Page and tables say what the JSON report says, whatever the files are called."""
    name = "=1+1</script><img src=x onerror=alert(1)>,\x1b[31m.pcap"
    room.write({"s.pcap": sample("03a_loss_data_0.5pct/sender.pcap"),
                name.replace("/", ""): sample("03a_loss_data_0.5pct/receiver.pcap")})
    points = ("s.pcap", name.replace("/", ""))
    report = room.compare(*points)
    done = subprocess.run([BINARY, "compare", "--html", "x.html", "--csv", "tables", *points],
                          cwd=room.directory, capture_output=True, text=True, timeout=60)
    say.equal("text is there as well", "What happened between them" in done.stdout, True)
    say.equal("no escape", "\x1b" in done.stdout, False)
    markup = (room.directory / "x.html").read_text()
    page = pages.Page(markup)
    say.equal("faults", page.faults, [])
    say.equal("policy", page.policy()["script-src"],
              [pages.source_of(s) for s in page.scripts()])
    say.equal("no image", [tag for tag, _ in page.elements if tag == "img"], [])
    say.equal("lost on the page", [row["Lost"][0] for row in page.rows("segment-table")],
              [str(s["lost"]) for s in report["segments"]])
    say.equal("frames on the page", [row["Frame"][0] for row in page.rows("loss-table")],
              [str(x["frame"]) for s in report["segments"] for x in s["lost_packets"]])
    rows = {f.name: list(csv.DictReader(f.open())) for f in
            (room.directory / "tables").iterdir()}
    say.equal("tables", sorted(rows), ["lost_packets.csv", "segments.csv", "streams.csv"])
    say.equal("lost in the table", [int(r["lost"]) for r in rows["segments.csv"]],
              [s["lost"] for s in report["segments"]])
    say.equal("no formula", rows["segments.csv"][0]["to_point"].startswith("'="), True)
    say.equal("frames in the table", [int(r["frame"]) for r in rows["lost_packets.csv"]],
              [x["frame"] for s in report["segments"] for x in s["lost_packets"]])
    say.equal("streams", sum(int(r["lost"]) for r in rows["streams.csv"]), 11)
    both = room.run(*points, options=("--html", "-"))
    say.equal("one has standard output", both.returncode, 2)


def same_again(room, say):
    """The same input gives the same bytes."""
    room.write({"s.pcap": sample("03c_loss_ack/sender.pcap"),
                "r.pcap": sample("03c_loss_ack/receiver.pcap")})
    runs = [room.run("s.pcap", "r.pcap").stdout for _ in range(2)]
    say.equal("twice", runs[0] == runs[1], True)


def hostile(room, say):
    """Stamps that jump by years neither hang it nor make losses."""
    draw = random.Random(3)
    sim = run_sim()
    data = sim.captures()

    def wild(capture):
        out, at = bytearray(capture[:24]), 24
        while at < len(capture):
            kept = int.from_bytes(capture[at + 8:at + 12], "little")
            seconds = int.from_bytes(capture[at:at + 4], "little")
            seconds = draw.choice((seconds,) * 30 + (0, 2**32 - 1, seconds + 10**6))
            out += seconds.to_bytes(4, "little") + capture[at + 4:at + 16 + kept]
            at += 16 + kept
        return bytes(out)
    room.write({"s.pcap": data["sender"], "r.pcap": wild(data["receiver"])})
    report = room.compare("s.pcap", "r.pcap")
    matched = sum(s["matched"] for s in report["segments"])
    say.equal("most is found", matched > 0.9 * len(sim.taps[0].seen), True)


ROWS = {f.__name__: f for f in (
    samples, reordered_sample, merged_at_both_ends, switch_sample, round_a_point, round_and_times,
    sent_before_the_other_began, sent_again_after_the_first_began,
    late_when_the_other_began,
    damaged_beyond_recognition, which_of_two_is_lost,
    coarse_stamps, without_stamps, told_apart_by_icrcs, not_told_apart_without_icrcs,
    way_of_what_is_sent_again,
    changed_in_front_of_b, first_frames, damaged_headers, no_icrc_fits,
    made_two_and_not_reordered, marked_between_two_copies, both_sides_of_a_router,
    rotated, interfaces_of_other_times, interface_that_is_silent, switch_as_a_whole, several_points,
    clocks_of_several, another_way, missed_in_between, missed_by_two_in_a_row,
    begun_late_in_between,
    missed_by_from, missed_by_from_alone, missed_by_to, missed_out_of_order, missed_and_lost,
    missed_and_lost_behind, missed_when_sent_again,
    missed_both_ways, missed_and_not_heard,
    missed_answers, missed_answers_alone, answered_twice, missed_and_not_ready,
    lost_before_a_queue_was_gone, equal_copies_of_which_each_missed_one,
    other_times, long_before, equal_copies, equal_copies_cut,
    equal_copies_apart, few_equal_copies_at_the_beginning, equal_copies_of_three, equal_copies_lost_and_made_two,
    overtaken_by_notices, routers_between, wrong_way_round, points_in_another_order,
    rising_round_a_point,
    one_direction_alone,
    strangers, nothing_in_common, all_round_a_point, names, named_by_numbers, names_with_marks, refusals,
    piped, written_files, same_again, hostile)}


def main():
    rows = {**ROWS, **{name: (lambda room, say, how=how: simulated(room, say, how))
                       for name, how in sim_rows().items()}}
    wanted = sys.argv[1:]
    if wanted == ["--list"]:
        print(*rows, sep="\n")
        return 0
    failures = 0
    for name in wanted or rows:
        say = Say(name)
        with tempfile.TemporaryDirectory() as directory:
            try:
                rows[name](Room(directory), say)
            except Exception as problem:  # the row fails, the others run
                say.equal("runs", f"{type(problem).__name__}: {problem}", None)
        failures += say.failures
    print(f"{len(wanted or rows)} rows, {failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
