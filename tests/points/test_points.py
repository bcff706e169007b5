#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What a capture says does not depend on how it was captured.

Each row takes a capture, real or simulated, does to it what a mirror, a rotation, a bond
or a second host would have done, and compares the report with that of the original.

    tests/points/test_points.py [ROW...]   some rows alone
    tests/points/test_points.py --list
    tests/points/test_points.py --keep DIR leaves the captures of rows that fail there
"""

import dataclasses
import gzip
import itertools
import json
import os
import pathlib
import random
import shutil
import struct
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(os.environ.get("ROCESCOPE_SOURCE",
                                     pathlib.Path(__file__).resolve().parents[2]))
BINARY = os.environ.get("ROCESCOPE", str(SOURCE / "build/release/bin/rocescope"))
sys.path.insert(0, str(SOURCE / "tests/sim"))

import roce  # noqa: E402
from sim import (  # noqa: E402
    HOST_A, HOST_A6, HOST_B, HOST_B6, Impairment, Point, QueuePair, Scenario, Segment,
    Side, Work, path_of, simulate)

US, MS, S, H = 10**3, 10**6, 10**9, 3600 * 10**9

# --- packets -------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Packet:
    time_ns: int
    frame: bytes
    wire_bytes: int

    def after(self, lag_ns):
        return dataclasses.replace(self, time_ns=self.time_ns + lag_ns)

    @property
    def ip_at(self):
        """Where the IP header begins, behind Ethernet and at most one VLAN tag."""
        return 14 + 4 * (self.frame[12:14] == b"\x81\x00")

    @property
    def is_ip(self):
        return self.frame[self.ip_at - 2:self.ip_at] in (b"\x08\x00", b"\x86\xdd")

    @property
    def source(self):
        """IPv4 address."""
        return self.frame[self.ip_at + 12:self.ip_at + 16]

    @property
    def flow(self):
        """UDP source port over IPv4: soft-RoCE has the same in both directions."""
        return int.from_bytes(self.frame[self.ip_at + 20:self.ip_at + 22], "big")


def parse(data):
    """The packets of a classic capture with stamps in nanoseconds."""
    packets, at = [], 24
    while at < len(data):
        seconds, fraction, kept, wire = struct.unpack_from("<IIII", data, at)
        packets.append(Packet(seconds * 10**9 + fraction, data[at + 16:at + 16 + kept],
                              wire))
        at += 16 + kept
    return packets


def sample(name):
    return parse(gzip.decompress((SOURCE / f"captures/{name}.pcap.gz").read_bytes()))


def one_by_one(packets):
    """The same with no stamp twice: their order can be had from the stamps alone."""
    out, newest = [], 0
    for p in packets:
        newest = max(newest + 1, p.time_ns)
        out.append(dataclasses.replace(p, time_ns=newest))
    return out


def pcap(packets):
    out = roce.Pcap()
    for p in packets:
        out.add(p.time_ns, p.frame, p.wire_bytes)
    return out.bytes()


def pcapng(packets, n_interfaces, interface_of, names=("port{}",), nanoseconds=True):
    """`interface_of` gives the interface of the n-th packet."""
    out = roce.Pcapng([roce.Interface(name=names[0].format(i), nanoseconds=nanoseconds)
                       for i in range(n_interfaces)])
    for i, p in enumerate(packets):
        out.add(p.time_ns, p.frame, p.wire_bytes, interface=interface_of(i, p))
    return out.bytes()


def simulated(**how):
    """Packets by point of a simulated scenario."""
    scenario = Scenario("points", **how)
    return {name: parse(data) for name, data in simulate(scenario).captures().items()}


WRITES = (Work("WRITE", 8192),) * 60
MIXED = tuple(Work(op, size) for op, size in (
    ("WRITE", 5000), ("READ", 9000), ("SEND_IMM", 1500), ("FADD", 8), ("WRITE_IMM", 64),
    ("SEND_INV", 2500), ("CAS", 8), ("READ", 100), ("WRITE", 0))) * 6


def pair(n=0, work=WRITES, peer_work=(), **a):
    return QueuePair(Side(0x100 + n, start_psn=0xF000 + 977 * n, work=tuple(work), **a),
                     Side(0x800 + n, start_psn=0x400000 + 31 * n, work=tuple(peer_work)))


def hosts(ident="rising", ipv6=False):
    a, b = (HOST_A6, HOST_B6) if ipv6 else (HOST_A, HOST_B)
    return {"host_a": dataclasses.replace(a, ident=ident),
            "host_b": dataclasses.replace(b, ident=ident)}


# --- reports -------------------------------------------------------------------------


class Room:
    """A directory, files in it, and the reports that the analyzer makes of them."""

    def __init__(self, directory):
        self.directory = pathlib.Path(directory)

    def report(self, files, *options):
        """`files`: name -> bytes, in the order of the command line."""
        for name, data in files.items():
            (self.directory / name).parent.mkdir(parents=True, exist_ok=True)
            (self.directory / name).write_bytes(data)
        done = subprocess.run(
            [BINARY, "--quiet", "--json", "-", "--events", "0", *options, *files],
            cwd=self.directory, capture_output=True, text=True, timeout=120)
        if done.returncode != 0:
            raise RuntimeError(f"status {done.returncode}: {done.stderr.strip()}")
        return json.loads(done.stdout)

    def text(self, files):
        """The lines of the text report of files that were written."""
        done = subprocess.run([BINARY, *files], cwd=self.directory,
                              capture_output=True, text=True, timeout=120)
        return done.stdout.splitlines()

    def one(self, packets, name="one.pcap"):
        return self.report({name: pcap(packets)})


# What may differ where packets came by other files, points or at other times.
BY_POINT = ("only_here_packets", "same_stream_at", "same_as", "point", "id", "connection")


def counters(report):
    """What has to be the same however the packets were captured."""
    streams = [{k: v for k, v in s.items() if k not in BY_POINT}
               for s in report["streams"]]
    order = sorted(streams, key=lambda s: (s["src"], s["dst"], s["dst_qpn"],
                                           s["src_qpn"] or 0))
    return {"totals": report["totals"], "unattributed": report["unattributed"],
            "events": report["event_totals"], "streams": order}


def findings(report):
    return {f["id"].split(":")[0] for f in report["findings"]}


def differences(got, want, where=""):
    """One line for each leaf that differs."""
    if isinstance(got, dict) and isinstance(want, dict):
        for key in sorted(got.keys() | want.keys()):
            yield from differences(got.get(key), want.get(key), f"{where}.{key}")
    elif isinstance(got, list) and isinstance(want, list) and len(got) == len(want):
        for i, (g, w) in enumerate(zip(got, want)):
            yield from differences(g, w, f"{where}[{i}]")
    elif got != want:
        yield f"{where}: {got}, not {want}"


class Complaints(list):
    def equal(self, what, got, want):
        if got != want:
            self.append(f"{what}: {got}, not {want}")

    def same(self, what, got, want, but=()):
        """The counters of two reports; `but` names endings of keys that may differ."""
        for line in differences(counters(got), counters(want)):
            if not line.split(":")[0].endswith(tuple(but) or ("\0",)):
                self.append(f"{what}: {line}")

    def points(self, what, report, groups):
        """`groups` of joined points there are, and nothing is taken for doubled."""
        self.equal(f"{what}: groups", n_groups(report), groups)
        self.equal(f"{what}: capture duplicates", report["capture"]["capture_duplicates"],
                   0)


def n_groups(report):
    return sum(p["joined_with"] is None for p in report["capture"]["points"])


# --- every packet twice --------------------------------------------------------------

# Clean, lossy, reordered, doubled by the network, with strangers, all operations.
DOUBLED = ("01_write_rc_cm/receiver", "02k_allops/sender", "03a_loss_data_0.5pct/receiver",
           "03d_loss_read_resp/sender", "04a_reorder/receiver", "04b_duplicate/receiver",
           "08_vlan/sender", "sim_duplex/sender")


def doubled(packets, lag_ns, change=lambda frame: frame, share=1.0):
    """With a second copy of each, or of a share of them, in the order of time."""
    draw = random.Random(1)
    second = [dataclasses.replace(p.after(lag_ns), frame=change(p.frame))
              for p in packets if draw.random() < share]
    return in_time(packets, second)


def in_time(*lists):
    """Merged by time; the order within each list stays, as do its steps back."""
    heads = []
    for which, packets in enumerate(lists):
        clock = 0
        for i, p in enumerate(packets):
            clock = max(clock, p.time_ns)
            heads.append((clock, which, i, p))
    return [head[3] for head in sorted(heads, key=lambda head: head[:3])]


def other_link(frame):
    """As it looks on the mirrored switch's other port: MACs, TTL, TOS and a VLAN."""
    at = Packet(0, frame, 0).ip_at
    if frame[at - 2:at] != b"\x08\x00":
        return frame
    ip = bytearray(frame[at:])
    ip[1] |= 0x80
    ip[8] -= 1
    header = bytearray(ip[:4 * (ip[0] & 15)])
    header[10:12] = bytes(2)
    ip[10:12] = roce.internet_checksum(header).to_bytes(2, "big")
    return roce.ethernet(bytes(ip), src=roce.mac("02:00:00:00:99:01"),
                         dst=roce.mac("02:00:00:00:99:02"), vlans=[roce.Vlan(7, pcp=3)])


# What the report says of the way by which a packet came.
OF_A_LINK = (".dscps", ".vlans", ".wire_bytes", ".congestion.priorities.data",
             ".data_dscps", ".data_dscp_changes", ".data_priorities", ".path.ttls",
             ".path.ttl_changes", ".path.ttl_pattern")


def twice(room, say):
    for name in DOUBLED:
        packets = sample(name)
        original = room.one(packets)
        for what, copies in (("at once", doubled(packets, 0)),
                             ("20 us later", doubled(packets, 20 * US)),
                             ("other port", doubled(packets, 5 * US, other_link))):
            got = room.one(copies)
            say.equal(f"{name} {what}: duplicates", got["capture"]["capture_duplicates"],
                      sum(p.is_ip for p in packets))
            # Which of four copies stay is not told.
            say.same(f"{name} {what}", got, original, (".last_ts_ns",) + (
                OF_A_LINK if what == "other port" else ()))
            say.equal(f"{name} {what}: told", "capture_duplicates" in findings(got), True)


def nearly_twice(room, say):
    """The mirror loses some of its second copies: nothing else changes."""
    for name in ("01_write_rc_cm/receiver", "03a_loss_data_0.5pct/receiver"):
        packets = sample(name)
        copies = doubled(packets, 20 * US, share=0.98)
        got = room.one(copies)
        say.equal(f"{name}: duplicates", got["capture"]["capture_duplicates"],
                  sum(p.is_ip for p in copies) - sum(p.is_ip for p in packets))
        say.same(name, got, room.one(packets), (".last_ts_ns",))


def twice_weakly(room, say):
    """Where the identification tells nothing."""
    for what, how in (("IPv6", hosts(ipv6=True)), ("constant", hosts("constant"))):
        packets = simulated(queue_pairs=(pair(0, MIXED, MIXED),), **how)["sender"]
        got = room.one(doubled(packets, 2 * US))
        say.equal(f"{what}: duplicates", got["capture"]["capture_duplicates"],
                  len(packets))
        say.same(what, got, room.one(packets), (".last_ts_ns",))


def twice_but_held(room, say):
    """A pause holds the way out of the switch for longer than any second copy was behind its
    first: some packets have come in by then, and the sender waits as well."""
    points = simulated(queue_pairs=(pair(0, tuple(
        Work("WRITE", 8192, at_ns=i * 20 * US) for i in range(400)), depth=512),),
        segments=path_of(forward=Impairment(loss=0.002)), cm=False)
    near, far = points["sender"], points["receiver"]
    requester = near[0].source
    middle = near[len(near) // 2].time_ns

    def in_order(packets):
        return sorted(packets, key=lambda p: p.time_ns)

    def waited(packets):
        return [p.after(150 * MS * (p.time_ns > middle)) for p in packets]

    requests = [p for p in near if p.source == requester]
    before = [p for p in requests if p.time_ns <= middle]
    second = waited([p for p in far if p.source == requester] +
                    [p for p in near if p.source != requester])
    for n_held in (20, 600):
        come_in = len(before) + n_held
        first = in_order(requests[:come_in] + waited(
            requests[come_in:] + [p for p in far if p.source != requester]))
        got = room.one(in_time(first, in_order(second)))
        say.equal(f"{n_held}: duplicates", got["capture"]["capture_duplicates"],
                  len(second))
        say.same(f"{n_held}", got, room.one(first), (".last_ts_ns",))


def merged_far(room, say):
    """The captures of two points, merged: thousands of packets lie between two copies."""
    dense = simulated(queue_pairs=tuple(pair(n) for n in range(16)), cm=False)
    first = dense["receiver"]
    span_ns = first[-1].time_ns - first[0].time_ns
    original = room.one(first)
    for share, twice in ((0.2, True), (1.1, False)):
        got = room.one(doubled(first, int(span_ns * share)))
        say.equal(f"{share}: left out", got["capture"]["capture_duplicates"],
                  len(first) if twice else 0)
        if twice:
            say.same(f"{share}", got, original, (".last_ts_ns",))
            continue
        titles = [f["title"] for f in got["findings"] if f["id"].startswith("duplicated")]
        say.equal(f"{share}: what is said of them",
                  [title.endswith("came twice") for title in titles], [True])


def not_twice(room, say):
    """What repeats for other reasons than a mirror."""
    for point in ("sender", "receiver"):
        got = room.one(sample(f"04b_duplicate/{point}"))
        say.points(f"04b {point}", got, 1)
    mostly = simulated(queue_pairs=(pair(),), segments=path_of(
        forward=Impairment(duplicate=0.97)), cm=False)["receiver"]
    say.points("network makes two of data", room.one(mostly), 1)
    for quanta in ({3: 0xFFFF}, {3: 0}):
        storm = [Packet(roce_time(i * US), roce.pfc(quanta), 60) for i in range(2000)]
        got = room.one(storm)
        say.points(f"PFC storm {quanta}", got, 1)
        say.equal("PFC frames", got["capture"]["pfc_frames"], 2000)


def roce_time(offset_ns):
    return 1_795_000_000 * S + offset_ns


# Packets of hosts whose identification tells nothing repeat as they are.
def sent_again(room, say):
    """The same bytes sent again are no second copies of a mirror."""
    for what, how in (("IPv6", hosts(ipv6=True)), ("constant", hosts("constant"))):
        for timeout_ns in (1 * MS, 8 * MS, 20 * MS):
            dead = simulated(
                queue_pairs=tuple(pair(n, (Work("WRITE", 1024),) * 8,
                                       timeout_ns=timeout_ns, timeout_backoff=1.0)
                                  for n in range(4)),
                segments=path_of(forward=Impairment(loss=1.0)), cm=False, **how)["sender"]
            got = room.one(dead)
            say.points(f"dead peer, {what}, {timeout_ns} ns", got, 1)
            say.equal(f"dead peer, {what}: all counted",
                      got["capture"]["roce_packets"], len(dead))
        for n in (12, 20, 40):
            back = simulated(
                queue_pairs=(pair(0, (Work("WRITE", n * 1024),)),),
                segments=path_of(forward=Impairment(drop=(("requests", 0, 0),))),
                cm=False, **how)["sender"]
            say.points(f"{n} gone back for, {what}", room.one(back), 1)


def cnps_alone(room, say):
    """All CNPs of one queue pair are alike where the identification is."""
    packets = [Packet(roce_time(i * 50 * US), roce.ethernet(roce.cnp(
        roce.Ip(f"10.0.0.{2 + i % 3}", "10.0.0.1"), 0, 0x11)), 74) for i in range(600)]
    got = room.one(packets)
    say.points("CNPs", got, 1)
    say.equal("CNPs", got["capture"]["cnp_packets"], 600)


def heartbeats(room, say):
    """Strangers may well send the same again and again."""
    packets = [Packet(roce_time(i * MS), roce.ethernet(roce.Ip(
        f"10.0.0.{1 + i % 2}", "10.0.0.9").wrap(17, roce.udp(5000, 5000, b"alive!" * 4))),
        66) for i in range(400)]
    say.points("heartbeats", room.one(packets), 1)


# --- shared between points -----------------------------------------------------------

SHARED = ("01_write_rc_cm/sender", "02k_allops/receiver", "03a_loss_data_0.5pct/receiver",
          "03d_loss_read_resp/sender", "sim_duplex/receiver", "sim_ack_every_10/sender")


def shares(packets, n, share_of):
    out = [[] for _ in range(n)]
    for i, p in enumerate(packets):
        out[share_of(i, p)].append(p)
    return out


def split_by_direction(room, say):
    for name in SHARED:
        packets = sample(name)
        first = packets[0].source
        there, back = shares(packets, 2, lambda i, p: int(p.source != first))
        original = room.one(packets)
        for files in ({"a.pcap": pcap(there), "b.pcap": pcap(back)},
                      {"b.pcap": pcap(back), "a.pcap": pcap(there)},
                      {"c.pcapng": pcapng(packets, 2,
                                          lambda i, p: int(p.source != first))}):
            got = room.report(files)
            say.equal(f"{name}, {len(files)} files: groups", n_groups(got), 1)
            say.same(f"{name}, {len(files)} files", got, original)


def split_by_packet(room, say):
    draw = random.Random(2)
    for name in SHARED:
        packets = one_by_one(sample(name))
        original = room.one(packets)
        which = [draw.randrange(2) for _ in packets]
        for what, choose in (("in turn", lambda i, p: i % 2),
                             ("at random", lambda i, p: which[i])):
            halves = shares(packets, 2, choose)
            for files in ({"a.pcap": pcap(halves[0]), "b.pcap": pcap(halves[1])},
                          {"b.pcap": pcap(halves[1]), "a.pcap": pcap(halves[0])},
                          {"c.pcapng": pcapng(packets, 2, choose)}):
                got = room.report(files)
                say.equal(f"{name} {what}, {len(files)} files: groups", n_groups(got), 1)
                say.same(f"{name} {what}, {len(files)} files", got, original)


def split_by_flow(room, say):
    packets = sample("02h_multiqp/sender")
    original = room.one(packets)
    halves = shares(packets, 2, lambda i, p: p.flow % 2)
    for files in ({"a.pcap": pcap(halves[0]), "b.pcap": pcap(halves[1])},
                  {"c.pcapng": pcapng(packets, 2, lambda i, p: p.flow % 2)}):
        say.same(f"{len(files)} files", room.report(files), original)


def late_share(room, say):
    """The second interface is new when the survey of the first is nearly done."""
    packets = simulated(queue_pairs=(pair(0, (Work("WRITE", 65536),) * 200),))["sender"]
    packets = one_by_one(packets)
    for begin in (8180, 8191, 8192, 9000):
        got = room.report({"x.pcapng": pcapng(
            packets, 2, lambda i, p: int(i >= begin and i % 2))})
        say.equal(f"from {begin} on: groups", n_groups(got), 1)


def two_of_three(room, say):
    """Two points share what a third sees whole."""
    for name in ("sim_duplex", "03a_loss_data_0.5pct"):
        near, far = sample(f"{name}/sender"), sample(f"{name}/receiver")
        halves = shares(far, 2, lambda i, p: i % 2)
        whole, original = room.one(near), room.one(far)
        for order in (("a", "b", "w"), ("w", "b", "a"), ("a", "w", "b")):
            data = {"a": halves[0], "b": halves[1], "w": near}
            got = room.report({f"{k}.pcap": pcap(data[k]) for k in order})
            by_file = {p["file"]: p for p in got["capture"]["points"]}
            ids = {k: by_file[f"{k}.pcap"] for k in order}
            say.equal(f"{name} {order}: groups", n_groups(got), 2)
            say.equal(f"{name} {order}: whole one alone", ids["w"]["joined_with"], None)
            say.equal(f"{name} {order}: twins", got["capture"]["twin_packets"],
                      room.report({"w.pcap": pcap(near), "f.pcap": pcap(far)})
                      ["capture"]["twin_packets"])
            for point, want in (("w", whole), ("a", original)):
                at = ids[point]["joined_with"]
                at = ids[point]["id"] if at is None else at
                say.equal(f"{name} {order}: streams at {point}",
                          sorted(s["packets"] for s in got["streams"]
                                 if s["point"] == at),
                          sorted(s["packets"] for s in want["streams"]))


# --- one path, several points --------------------------------------------------------


def shifted(packets, by_ns):
    return [p.after(by_ns) for p in packets]


# And how many packets of each.
PATHS = (("01_write_rc_cm", None), ("02e_ud", None), ("02g_ipv6", None),
         ("03a_loss_data_0.5pct", None), ("sim_duplex", None), ("02k_allops", 20),
         ("sim_duplex", 3))
OFFSETS = (0, MS, -MS, 37 * MS, S, -S, H, -H)


def never_joined(room, say):
    """What stands behind each other on a path, whatever the clocks say."""
    for name, n in PATHS:
        near, far = (sample(f"{name}/{p}")[:n] for p in ("sender", "receiver"))
        apart = [sorted(s["packets"] for s in room.one(p)["streams"]) for p in (near, far)]
        for offset in OFFSETS:
            data = {"s": pcap(near), "r": pcap(shifted(far, offset))}
            for order in ("sr", "rs"):
                got = room.report({f"{k}.pcap": data[k] for k in order})
                what = f"{name} {n or ''} {order} {offset:+}"
                say.points(what, got, 2)
                say.equal(f"{what}: points", len(got["capture"]["points"]), 2)
                say.equal(f"{what}: streams",
                          sorted(s["packets"] for s in got["streams"]),
                          sorted(apart[0] + apart[1]))


def three_in_a_row(room, say):
    points = simulated(
        queue_pairs=tuple(pair(n, MIXED, MIXED) for n in range(3)),
        points=(Point("near"), Point("middle"), Point("far")),
        segments=(Segment(), Segment(3 * US), Segment(3 * US), Segment()))
    for order in (("near", "middle", "far"), ("far", "near", "middle")):
        got = room.report({f"{k}.pcap": pcap(points[k]) for k in order})
        say.points(f"{order}", got, 3)
        say.equal(f"{order}: twins", got["capture"]["twin_packets"],
                  2 * len(points["near"]))


def slow_streams(room, say):
    """Clocks differ by more than the survey looks at, and PSNs are near each other."""
    fast = pair(0, (Work("WRITE", 65536),) * 60)
    slow = [pair(1 + n, tuple(Work("WRITE", 64, at_ns=i * 100 * US) for i in range(60)))
            for n in range(4)]
    points = simulated(queue_pairs=(fast, *slow))
    for offset in (200 * US, MS, 3 * MS, 5 * MS):
        for by in (offset, -offset):
            got = room.report({"s.pcap": pcap(points["sender"]),
                               "r.pcap": pcap(shifted(points["receiver"], by))})
            say.points(f"{by:+}", got, 2)


def one_direction_beside(room, say):
    """What the sender alone sends beside the receiver's capture, which tells of losses, and
    beside it once more, with each direction at an interface of its own."""
    points = simulated(queue_pairs=(pair(), pair(1)), cm=False,
                       segments=path_of(forward=Impairment(loss=0.2)))
    near, far = points["sender"], points["receiver"]
    first = near[0].source
    there = [p for p in near if p.source == first]
    want = room.one(far)["totals"]["losses"]["requests"]
    say.equal("losses", want["lost_before_capture"] > 8, True)
    for order in ("sr", "rs"):
        data = {"s": pcap(there), "r": pcap(far)}
        got = room.report({f"{k}.pcap": data[k] for k in order})
        say.points(order, got, 2)
        say.equal(f"{order}: losses", got["totals"]["losses"]["requests"], want)
        say.equal(f"{order}: lost", "lost_before_capture" in findings(got), True)
    ports = pcapng(near, 2, lambda i, p: int(p.source != first))
    for files in ({"a.pcapng": ports, "r.pcap": pcap(far)},
                  {"r.pcap": pcap(far), "a.pcapng": ports}):
        got = room.report(files)
        say.points(f"ports and {len(files)}", got, 2)
        say.equal("where", any("between port0 and r.pcap" in f["title"]
                               for f in got["findings"]), True)


def one_direction_before(room, say):
    """What one host sends, by a clock so far behind that the other file, with both directions,
    looks like one that goes on with it."""
    points = simulated(queue_pairs=(pair(0, MIXED, MIXED), pair(1)), cm=False)
    near, far = points["sender"], points["receiver"]
    for sender in {p.source for p in far}:
        there = [p for p in far if p.source == sender]
        got = room.report({"a.pcap": pcap(shifted(there, -S)), "b.pcap": pcap(near)})
        say.points(f"{sender}", got, 2)
        say.equal(f"{sender}: twins", got["capture"]["twin_packets"], len(there))


FETCHES = tuple(Work(op, size) for op, size in (
    ("READ", 9000), ("READ", 100), ("FADD", 8), ("READ", 20000))) * 12


def equal_ones_lost_before(room, say):
    """What is sent again with the same bytes, and what both points saw of it, is lost in no
    place between them: it was before the first of them."""
    for seed in (11, 15, 21, 24, 25, 32, 37):
        points = simulated(
            queue_pairs=(pair(0, FETCHES, timeout_ns=3 * MS),
                         pair(1, FETCHES, FETCHES, timeout_ns=3 * MS)),
            segments=(Segment(1000, 300), Segment(2000, 300),
                      Segment(1000, 300, forward=Impairment(loss=0.015),
                              backward=Impairment(loss=0.03))),
            seed=seed, cm=False, **hosts(ipv6=True))
        got = room.report({f"{k}.pcap": pcap(points[k]) for k in points})
        say.equal(f"{seed}: between", [f["title"] for f in got["findings"]
                                       if " between " in f["title"]], [])
        say.equal(f"{seed}: lost", "lost_before_capture" in findings(got), True)


def tail_lost(room, say):
    """The last packets of a message: the timeout tells of the first one alone."""
    for n in (1, 4, 8):
        points = simulated(queue_pairs=(pair(
            work=(Work("WRITE", 8192),) * 4, timeout_ns=20 * MS),), segments=path_of(
                forward=Impairment(drop=tuple(
                    ("requests", p, 1) for p in range(32 - n, 32)))))
        data = {k: pcap(points[v]) for k, v in (("s", "sender"), ("r", "receiver"))}
        for order in ("sr", "rs"):
            got = room.report({f"{k}.pcap": data[k] for k in order})
            titles = [f["title"] for f in got["findings"] if f["severity"] != "note"]
            text = "1 packet lost" if n == 1 else f"{n} packets lost"
            say.equal(f"{n} {order}: {titles}",
                      any(t.startswith(f"{text} between s.pcap and r.pcap")
                          for t in titles), True)


# --- rotated -------------------------------------------------------------------------


def cut(packets, n):
    size = -(-len(packets) // n)
    return [packets[i:i + size] for i in range(0, len(packets), size)]


def rotated(room, say):
    draw = random.Random(3)
    for name in ("01_write_rc_cm/sender", "03a_loss_data_0.5pct/receiver",
                 "04a_reorder/receiver", "sim_duplex/sender"):
        packets = sample(name)
        original = room.one(packets)
        for n in (2, 3, 100):
            files = {f"trace_{i:05}.pcap": pcap(part)
                     for i, part in enumerate(cut(packets, n))}
            shuffled = list(files)
            draw.shuffle(shuffled)
            for what, order in (("in order", list(files)), ("backwards", list(files)[::-1]),
                                ("shuffled", shuffled)):
                got = room.report({k: files[k] for k in order})
                say.equal(f"{name} {n} {what}: groups", n_groups(got), 1)
                say.same(f"{name} {n} {what}", got, original)


def rotated_in_a_round(room, say):
    """Where nothing numbers packets, those that are sent again are the same bytes: the next
    file may begin with nothing else."""
    for what, how in (("IPv6", hosts(ipv6=True)), ("constant", hosts("constant"))):
        packets = simulated(queue_pairs=(pair(depth=32),), segments=path_of(
            forward=Impairment(loss=0.02, spaces=("requests",))), cm=False,
            **how)["sender"]
        original = room.one(packets)
        for at in range(100, len(packets), 150):
            got = room.report({"x_00001.pcap": pcap(packets[:at]),
                               "x_00002.pcap": pcap(packets[at:])})
            say.equal(f"{what} {at}: groups", n_groups(got), 1)
            say.same(f"{what} {at}", got, original)


def not_numbered_by_another_clock(room, say):
    """Nor does it hide a second point, by a clock that makes it look like the next file."""
    for what, how in (("IPv6", hosts(ipv6=True)), ("constant", hosts("constant"))):
        points = simulated(queue_pairs=(pair(), pair(1, MIXED, MIXED)), cm=False, **how)
        near, far = points["sender"], points["receiver"]
        for first, behind in ((0, 0), (300, 0), (0, 300)):
            got = room.report({"a.pcap": pcap(shifted(near[first:], -H)),
                               "b.pcap": pcap(far[behind:])})
            say.points(f"{what} {first} {behind}", got, 2)


def sections(room, say):
    """Files put together as they are: each is a section of its own."""
    for name in ("01_write_rc_cm/sender", "03a_loss_data_0.5pct/receiver",
                 "sim_duplex/sender"):
        packets = sample(name)
        for n, called in itertools.product((2, 5), ("eth0", "")):
            got = room.report({"x.pcapng": b"".join(
                pcapng(part, 1, lambda i, p: 0, (called,)) for part in cut(packets, n))})
            say.equal(f"{name} {n} {called}: points", len(got["capture"]["points"]), 1)
            say.same(f"{name} {n} {called}", got, room.one(packets))


def merged_files(room, say):
    """Files that were merged, with an interface for each: nobody can know that one has ended,
    but nothing is left out, and nothing counted twice."""
    packets = sample("03a_loss_data_0.5pct/receiver")
    original = room.one(packets)
    half = packets[len(packets) // 2].time_ns
    got = room.report({"x.pcapng": pcapng(packets, 2, lambda i, p: int(p.time_ns >= half),
                                          names=("eth0",))})
    say.equal("points", len(got["capture"]["points"]), 2)
    for key in ("packets", "naks", "losses", "ecn"):
        say.equal(key, got["totals"][key], original["totals"][key])
    say.equal("spreading", [(p["queue_pairs"], p["shared_five_tuples"]) for p in got["spreading"]["pairs"]],
              [(p["queue_pairs"], p["shared_five_tuples"]) for p in original["spreading"]["pairs"]])


def rotated_at_two_hosts(room, say):
    """Each file goes on with the one of its own host, whichever ended last."""
    near, far = sample("sim_duplex/sender"), sample("sim_duplex/receiver")
    original = room.report({"s.pcap": pcap(near), "r.pcap": pcap(far)})
    for host in ("h1_{:02}.pcap h2_{:02}.pcap", "a/{}.pcap b/{}.pcap",
                 "{:02}-x.pcap {:02}-y.pcap", "eth1.pcap{} eth2.pcap{}"):
        files = {}
        for pattern, packets in zip(host.split(), (near, far)):
            for i, part in enumerate(cut(packets, 12)):
                files[pattern.format(i)] = pcap(part)
        for order in (list(files), list(files)[::-1], sorted(files)):
            got = room.report({k: files[k] for k in order})
            say.equal(f"{host}: groups", n_groups(got), 2)
            say.same(host, got, original)


def named(room, say):
    """Two points never have one name, as when both hosts captured at an eth0."""
    near, far = (sample(f"03a_loss_data_0.5pct/{host}") for host in ("sender", "receiver"))
    both = in_time(near, far)
    is_far = {id(p) for p in far}

    def merged(*names):
        return pcapng(both, 2, lambda i, p: int(id(p) in is_far), names)

    def alone(packets, name):
        return pcapng(packets, 1, lambda i, p: 0, (name,))

    for files, want in (
            ({"a.pcapng": alone(near, "eth0"), "b.pcapng": alone(far, "eth0")},
             ["a.pcapng, eth0", "b.pcapng, eth0"]),
            ({"a/x.pcapng": alone(near, "eth0"), "b/x.pcapng": alone(far, "eth0")},
             ["a/x.pcapng, eth0", "b/x.pcapng, eth0"]),
            ({"a.pcapng": alone(near, "eth0"), "b.pcapng": alone(far, "eth1")},
             ["eth0", "eth1"]),
            ({"a.pcapng": alone(near, "eth0"), "b.pcap": pcap(far)}, ["eth0", "b.pcap"]),
            ({"x.pcapng": merged("port{}")}, ["port0", "port1"]),
            ({"x.pcapng": merged("eth0")}, ["eth0, interface 0", "eth0, interface 1"]),
            ({"x.pcapng": merged("")}, ["x.pcapng, interface 0", "x.pcapng, interface 1"])):
        report, lines = room.report(files), room.text(files)
        found = [line.split(": ", 1)[1].rsplit(", EN10MB", 1)[0]
                 for line in lines if line.startswith("  point ")]
        say.equal(f"{list(files)}: names", found, want)
        lost = [f["title"] for f in report["findings"]
                if f["id"].startswith("undelivered_after_capture")]
        say.equal(f"{list(files)}: titles", [f" between {want[0]} and {want[1]}," in title
                                             for title in lost], [True] * len(lost))
        say.equal(f"{list(files)}: is any lost", len(lost) > 0, True)


def rotated_ports(room, say):
    """Rotated files of several ports, whose frames are written some time after their stamps,
    so that a port's stand in the next file already: it is called by its name all the same."""
    near, far = (sample(f"03a_loss_data_0.5pct/{host}") for host in ("sender", "receiver"))
    is_far = {id(p) for p in far}
    written = sorted(near + far, key=lambda p: p.time_ns + 3 * MS * (id(p) in is_far))
    files = {f"x_{i:05}.pcapng": pcapng(part, 2, lambda i, p: int(id(p) in is_far))
             for i, part in enumerate(cut(written, 12))}
    got = room.report(files)
    say.equal("groups", n_groups(got), 2)
    say.equal("is any port several points", len(got["capture"]["points"]) > 2, True)
    say.equal("title", [f["title"] for f in got["findings"]
                        if f["id"].startswith("undelivered_after_capture")],
              ["11 packets lost between port0 and port1, from 10.77.1.1 to 10.77.1.2"])


# --- out of order --------------------------------------------------------------------


def merged_by_blocks(packets, block_ns):
    """Two queues, read in turn, a block of time from each: the second queue's packets
    stand behind the first's."""
    begin, out = packets[0].time_ns, []
    for half in sorted({(p.time_ns - begin) // block_ns for p in packets}):
        of_block = [p for p in packets if (p.time_ns - begin) // block_ns == half]
        out += of_block[1::2] + of_block[0::2]
    return out


def merged_queues(room, say):
    for name in ("03a_loss_data_0.5pct/receiver", "02a_read_bw/receiver",
                 "sim_duplex/sender"):
        packets = one_by_one(sample(name))
        original = room.one(packets)
        for block_ns in (50 * US, 300 * US, 2 * MS):
            got = room.one(merged_by_blocks(packets, block_ns))
            what = f"{name} {block_ns}"
            if block_ns > 50 * US:  # else little is out of order
                say.equal(f"{what}: order",
                          [p["order"] for p in got["capture"]["points"]], ["time"])
            say.same(what, got, original)
    for path in sorted(SOURCE.glob("captures/sim_merged_queues/*.pcap.gz")):
        got = room.report({"x.pcap": gzip.decompress(path.read_bytes())})
        say.equal(f"{path.name}: order", [p["order"] for p in got["capture"]["points"]],
                  ["time"])
        say.equal(f"{path.name}: worse than a note",
                  [f["id"] for f in got["findings"] if f["severity"] != "note"], [])


def file_order(room, say):
    """Stamps that step back where the file is right change nothing."""
    draw = random.Random(4)
    for name in ("03a_loss_data_0.5pct/receiver", "04a_reorder/receiver",
                 "sim_duplex/sender"):
        packets = sample(name)
        bent = [p.after(-draw.choice((0, 0, 0, 30 * US))) for p in packets]
        got, original = room.one(bent), room.one(packets)
        say.equal(f"{name}: order", [p["order"] for p in got["capture"]["points"]],
                  ["file"])
        for space in ("requests", "responses"):
            for key in ("gaps", "missing_psns"):
                say.equal(f"{name}: {space}.{key}", got["totals"][space][key],
                          original["totals"][space][key])


def order_of_files(room, say):
    """Which file was given first changes nothing that counts."""
    for name in ("02a_read_bw", "02d_atomic_bw", "03a_loss_data_0.5pct", "03c_loss_ack",
                 "03d_loss_read_resp", "sim_read_1mib"):
        near, far = sample(f"{name}/sender"), sample(f"{name}/receiver")
        got = [room.report({"a.pcap": pcap(x), "b.pcap": pcap(y)})
               for x, y in ((near, far), (far, near))]
        for line in differences(got[0]["totals"], got[1]["totals"]):
            say.append(f"{name}: {line}")


# --- small and strange ---------------------------------------------------------------


def tiny(room, say):
    """A few packets alone are enough for nothing but their counts."""
    for name in ("02k_allops/sender", "07a_nak_remote_access/sender", "02g_ipv6/sender",
                 "02f_uc/receiver", "02e_ud/sender", "sim_duplex/sender"):
        packets = sample(name)
        for n in (1, 2, 3, 5, 8, 13, 20):
            got = room.one(packets[:n])
            say.points(f"{name} {n}", got, 1)
            say.equal(f"{name} {n}: packets", got["capture"]["packets"], n)


def every_transport(room, say):
    """No decision about any capture that needs none."""
    needs_one = {"sim_merged_queues", "sim_mirror_twice"}
    for path in sorted(SOURCE.glob("captures/*/*.pcap.gz")):
        if path.parent.name in needs_one:
            continue
        got = room.report({"x.pcap": gzip.decompress(path.read_bytes())})
        what = path.parent.name + " " + path.name
        say.points(what, got, 1)
        say.equal(f"{what}: order", got["capture"]["points"][0]["order"], "file")


def pauses_alone(room, say):
    """No address, no stream, nothing to decide on."""
    frames = [Packet(roce_time(i * 10 * US), roce.pfc({3: 0xFFFF if i % 2 == 0 else 0}),
                     60) for i in range(100)]
    original = room.one(frames)
    say.points("one file", original, 1)
    say.equal("pauses", original["pauses"][0]["xoff"], 50)
    got = room.report({f"{i}.pcap": pcap(part) for i, part in enumerate(cut(frames, 3))})
    say.equal("three files", got["pauses"], original["pauses"])
    got = room.report({"x.pcapng": pcapng(frames, 2, lambda i, p: i % 2)})
    say.points("two interfaces", got, 2)


def wild_stamps(room, say):
    """Stamps that jump by years, both ways, or that are all the same."""
    packets = sample("sim_duplex/sender")
    original = room.one(packets)
    draw = random.Random(5)
    wild = [p.after(draw.choice((0, 0, 0, 5000 * H, -5000 * H))) for p in packets]
    got = room.one(wild)
    for space in ("requests", "responses"):
        say.equal(f"jumps: {space}", got["totals"][space]["packets"],
                  original["totals"][space]["packets"])
        say.equal(f"jumps: {space} gaps", got["totals"][space]["gaps"],
                  original["totals"][space]["gaps"])
    same = [dataclasses.replace(p, time_ns=packets[0].time_ns) for p in packets]
    got = room.one(same)
    say.points("all the same", got, 1)
    say.equal("all the same: gaps", got["totals"]["requests"]["gaps"],
              original["totals"]["requests"]["gaps"])


def simple_blocks(packets, is_simple=lambda i: True):
    """A pcapng file of Simple Packet Blocks, which have no time stamps, or with some."""
    out = roce.Pcapng()
    for i, p in enumerate(packets):
        if is_simple(i):
            out.block(out.SPB, struct.pack("<I", p.wire_bytes) +
                      p.frame + bytes(-len(p.frame) % 4))
        else:
            out.add(p.time_ns, p.frame, p.wire_bytes)
    return out.bytes()


def stamps_in(report, path=""):
    """What a report says of times."""
    if isinstance(report, dict):
        for key, value in report.items():
            if key.endswith("_ns") and value is not None and key not in OF_OPTIONS:
                yield f"{path}.{key}", value
            yield from stamps_in(value, f"{path}.{key}")
    elif isinstance(report, list):
        for value in report:
            yield from stamps_in(value, path)


OF_OPTIONS = ("detect_ns", "restore_ns", "gap_ns", "late_after_ns")


def no_stamps(room, say):
    """What packets say stays, and nothing is said of times."""
    points = simulated(queue_pairs=(pair(0, MIXED, MIXED), pair(1)), segments=path_of(
        forward=Impairment(loss=0.01, mark=0.02)))
    for name in ("sender", "receiver"):
        packets = points[name] + [Packet(0, roce.pfc({3: quanta}), 60)
                                  for quanta in (0xFFFF, 0)]
        files = {"x.pcapng": simple_blocks(packets)}
        got = room.report(files, "--link-speed", "100G", "--events", "1000")
        stamped = room.one(packets)
        for key in ("packets", "losses", "naks", "ecn", "messages"):
            say.equal(f"{name} {key}", got["totals"][key], stamped["totals"][key])
        for key in ("timeline", "incast", "bursts"):
            say.equal(f"{name} {key}", got[key], None)
        say.equal(f"{name} times", list(stamps_in(got)), [])
        text = subprocess.run([BINARY, "--link-speed", "100G", *files], cwd=room.directory,
                              capture_output=True, text=True, timeout=120).stdout
        say.equal(f"{name} told", "have no time stamps" in text, True)
        say.equal(f"{name} 1970", "1970" in text, False)


def clock_stands_still(room, say):
    """One stamp for many packets says nothing of times, whichever point has it; for a few it
    may be true, and beside other stamps for as many as come in that time."""
    packets = sample("03a_loss_data_0.5pct/sender")
    same = [dataclasses.replace(p, time_ns=packets[0].time_ns) for p in packets]
    got = room.one(same)
    say.equal("all: times", list(stamps_in(got)), [])
    say.equal("all: packets", got["totals"]["packets"], room.one(packets)["totals"]["packets"])
    room.report({"x.pcap": pcap(same)})
    say.equal("all: told", f"all {len(same):,} packets have the same one" in
              " ".join(room.text(["x.pcap"])), True)
    for n, is_known in ((15, True), (16, False)):
        got = room.one(same[:n])
        say.equal(f"{n}: known", got["capture"]["first_ts_ns"] is not None, is_known)
    two = {"x.pcap": pcap(same), "y.pcap": pcap(sample("03a_loss_data_0.5pct/receiver"))}
    say.equal("one of two: times", list(stamps_in(room.report(two))), [])
    say.equal("one of two: told", f"all {len(same):,} packets at x.pcap have" in
              " ".join(room.text(list(two))), True)
    for n, is_known in ((1190, True), (1191, False)):  # of 84 bytes at 800 Gb/s: 1 us
        in_one_us = [Packet(roce_time(0), roce.pfc({3: 1}), 60)] * n
        got = room.report({"x.pcapng": pcapng(in_one_us, 1, lambda i, p: 0, nanoseconds=False),
                           "y.pcap": pcap(packets)})
        say.equal(f"{n} in 1 us: known", got["capture"]["first_ts_ns"] is not None, is_known)


def a_stamp_missing(room, say):
    """One packet among many costs what it leaves open, and no more."""
    packets = sample("03a_loss_data_0.5pct/sender")
    stamped = room.one(packets)
    for name, at in (("early", 30), ("late", len(packets) - 2)):
        got = room.report({"x.pcapng": simple_blocks(packets, lambda i, at=at: i == at)})
        apart = packets[at + 1].time_ns - packets[at - 1].time_ns
        capture = got["capture"]
        say.equal(f"{name}: unstamped", capture["unstamped_packets"], 1)
        say.equal(f"{name}: resolution", capture["timestamp_resolution_ns"], apart)
        for key in ("first_ts_ns", "last_ts_ns"):
            say.equal(f"{name}: {key}", capture[key], stamped["capture"][key])
        for key in ("retransmissions", "losses"):
            say.equal(f"{name}: {key}", got["totals"][key], stamped["totals"][key])
        most = (stamped["totals"]["recovery_ns"]["max"] - got["totals"]["recovery_ns"]["max"])
        say.equal(f"{name}: recovery to {apart} ns", 0 <= most <= apart, True)
    for name, at in (("first", 0), ("last", len(packets) - 1)):
        files = {"x.pcapng": simple_blocks(packets, lambda i, at=at: i == at)}
        got = room.report(files)
        say.equal(f"{name}: times", list(stamps_in(got)), [])
        text = subprocess.run([BINARY, *files], cwd=room.directory,
                              capture_output=True, text=True, timeout=120).stdout
        say.equal(f"{name}: told", "none on 1 packet" in text, True)
        say.equal(f"{name}: all", "Packets have no time stamps" in text, False)


def clock_is_set(room, say):
    """The clock of a machine with two interfaces is set while it captures."""
    packets = sample("01_write_rc_cm/sender")
    original = room.report({"x.pcapng": pcapng(packets, 2, lambda i, p: i % 2)})
    half = len(packets) // 2
    for by in (H, -H, 5 * S, -5 * S):
        bent = packets[:half] + shifted(packets[half:], by)
        got = room.report({"x.pcapng": pcapng(bent, 2, lambda i, p: i % 2)})
        say.equal(f"{by:+}: groups", n_groups(got), 1)
        for space in ("requests", "responses"):
            for key in ("packets", "gaps", "reordered", "missing_psns"):
                say.equal(f"{by:+}: {space}.{key}", got["totals"][space][key],
                          original["totals"][space][key])


ROWS = (twice, nearly_twice, twice_weakly, twice_but_held, merged_far, not_twice, sent_again, cnps_alone,
        heartbeats, split_by_direction, split_by_packet, split_by_flow, late_share,
        two_of_three, never_joined, three_in_a_row, slow_streams, rotated,
        rotated_in_a_round, not_numbered_by_another_clock, sections, merged_files, named, rotated_ports,
        rotated_at_two_hosts, merged_queues, file_order, tiny, every_transport,
        pauses_alone, wild_stamps, no_stamps, clock_stands_still, a_stamp_missing, clock_is_set,
        order_of_files, one_direction_beside, one_direction_before, equal_ones_lost_before,
        tail_lost)


def main(arguments):
    if arguments[:1] == ["--list"]:
        print("\n".join(row.__name__ for row in ROWS))
        return 0
    keep = None
    if arguments[:1] == ["--keep"]:
        keep, arguments = arguments[1], arguments[2:]
    failed = []
    for row in ROWS:
        if arguments and row.__name__ not in arguments:
            continue
        say = Complaints()
        with tempfile.TemporaryDirectory() as directory:
            try:
                row(Room(directory), say)
            except Exception as error:  # a row that breaks must not hide the next
                say.append(f"{type(error).__name__}: {error}")
            if say and keep:
                shutil.copytree(directory, pathlib.Path(keep) / row.__name__,
                                dirs_exist_ok=True)
        if say:
            failed.append(row.__name__)
            print(f"FAILED {row.__name__}: {len(say)}")
            for line in say[:12]:
                print(f"    {line[:300]}")
    print(f"{len(failed)} failed: {' '.join(failed)}" if failed
          else f"{len(arguments) or len(ROWS)} rows passed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
