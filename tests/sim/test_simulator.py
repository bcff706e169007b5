#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The simulator itself: do its packets obey the standard, does its truth add up?

The rules are checked on the capture files, with a reader of their own that knows nothing
of the simulator, for every way to recover and every service, over a rough network.  What
the truth says is held against the same files.

    tests/sim/test_simulator.py [CASE...]
"""

import collections
import dataclasses
import ipaddress
import random
import struct
import sys

import artefacts
import roce
from sim import (
    ACKS, HOST_A, HOST_B, OUT_OF_ORDER, REQUESTS, RESPONSES, SELECTIVE, Impairment, Point,
    QueuePair, Scenario, Side, Work, path_of, simulate)

# --- an independent reader -----------------------------------------------------------

READ_REQUEST, ACKNOWLEDGE, ATOMIC_ACK, GSI = 0x0C, 0x11, 0x12, 1
FIRSTS, MIDDLES = (0x00, 0x06), (0x01, 0x07)
LASTS, ONLYS = (0x02, 0x03, 0x08, 0x09, 0x16), (0x04, 0x05, 0x0A, 0x0B, 0x17)
SINGLES = (READ_REQUEST, 0x13, 0x14, 0x1C, 0x1D)
RESPONSE_DATA = (0x0D, 0x0E, 0x0F, 0x10, ATOMIC_ACK)
# Bytes behind the BTH before a RETH or an AETH, by the three high bits of the opcode.
SERVICE_BYTES = {0: 0, 1: 0, 2: 16, 3: 8, 5: 4}


@dataclasses.dataclass
class Packet:
    time_ns: int
    src: str
    qpn: int
    psn: int
    operation: int
    service: int
    ack_request: bool
    read_bytes: int              # of a READ request
    syndrome: int                # -1 without an AETH
    msn: int
    good: bool                   # its ICRC
    payload: int                 # of a response

    def span(self, pmtu):
        if self.operation != READ_REQUEST:
            return 1
        return max(1, -(-self.read_bytes // pmtu))

    def is_request(self):
        return self.operation in FIRSTS + MIDDLES + LASTS + ONLYS + SINGLES


def read_pcap(data):
    return ((time_ns, frame) for time_ns, _, frame in roce.pcap_packets(data))


def packet_of(time_ns, frame):
    ip = frame[14:]
    src = str(ipaddress.ip_address(ip[12:16] if ip[0] >> 4 == 4 else ip[8:24]))
    bth = ip[28:] if ip[0] >> 4 == 4 else ip[48:]
    operation, service = bth[0] & 31, bth[0] >> 5
    has_aeth = operation in (0x0D, 0x0F, 0x10, ACKNOWLEDGE, ATOMIC_ACK)
    read_bytes, aeth = 0, 0xFF << 24
    if operation == READ_REQUEST:
        read_bytes, = struct.unpack_from(">I", bth, 12 + SERVICE_BYTES[service] + 12)
    if has_aeth:
        aeth, = struct.unpack_from(">I", bth, 12)
    good = ip[-4:] == roce.icrc(ip[:-4]).to_bytes(4, "little")
    payload = len(bth) - 12 - 4 * has_aeth - 4 - (bth[1] >> 4 & 3)
    return Packet(time_ns, src, int.from_bytes(bth[5:8], "big"),
                  int.from_bytes(bth[9:12], "big"), operation, service,
                  bool(bth[8] & 0x80), read_bytes, aeth >> 24 if has_aeth else -1,
                  aeth & 0xFFFFFF, good, payload)


def packets_of(data):
    """Without QP 1 and CNPs."""
    packets = [packet_of(*record) for record in read_pcap(data)]
    return [p for p in packets if p.qpn != GSI and p.service != 4]


REACH = 400                      # no request is further ahead of what is missing


def unwrap(psn, near):
    """The number closest to `near` that is `psn` modulo 2^24."""
    return near + (psn - near + (1 << 23)) % (1 << 24) - (1 << 23)


# --- rules of the standard -----------------------------------------------------------


class Half:
    """The requests of one side and the answers to them, in one file."""

    def __init__(self, packets, pair, side, peer, src):
        self.pair, self.side, self.peer = pair, side, peer
        near = side.start_psn
        self.events = []         # (Packet, PSN without wrap)
        for p in packets:
            mine = p.src == src
            request = mine and p.is_request() and p.qpn == peer.qpn
            answer = not mine and not p.is_request() and p.qpn == side.qpn
            if p.good and (request or answer):
                psn = unwrap(p.psn, near)
                near = max(near, psn)
                self.events.append((p, psn))

    def requests(self):
        return [(p, psn) for p, psn in self.events if p.is_request()]


def new_requests(half):
    """In the order of sending, without copies."""
    next_psn = half.side.start_psn
    for p, psn in half.requests():
        if psn >= next_psn:
            yield p, psn, next_psn
            next_psn = psn + p.span(half.pair.pmtu)


def psns_without_holes(near, _far):
    for p, psn, expected in new_requests(near):
        if psn != expected:
            yield f"new request {psn}, {expected} is next"


def message_grammar(near, _far):
    inside = False
    for p, psn, _ in new_requests(near):
        if (p.operation in MIDDLES + LASTS) != inside:
            yield f"operation {p.operation:#x} at {psn}"
        inside = p.operation in FIRSTS + MIDDLES
    if inside:
        yield "a message has no end"


def acceptance(half):
    """PSN -> when it, and all before it, could have been accepted at the latest: a
    responder that keeps nothing takes PSNs in order alone."""
    accepted, kept, expected = {}, {}, half.side.start_psn
    for p, psn in half.requests():
        kept[psn] = p.span(half.pair.pmtu)
        while expected in kept:
            end = expected + kept[expected]
            accepted.update((i, p.time_ns) for i in range(expected, end))
            expected = end
        if half.peer.beyond_gap == "discard":
            kept.clear()
    return accepted


def answers_tell_the_truth(_near, far):
    """At the responder's NIC: what an answer acknowledges was accepted, and what a NAK
    asks for was missing when something behind it came.  Who refuses requests has accepted
    less than can be told here."""
    accepted = acceptance(far)
    refuses = any(p.syndrome >> 5 == 1 for p, _ in far.events if p.syndrome >= 0)
    overtaken = set()
    for p, psn in far.events:
        if p.is_request():
            overtaken.update(i for i in range(psn - REACH, psn)
                             if accepted.get(i, p.time_ns + 1) > p.time_ns)
            continue
        kind = p.syndrome >> 5 if p.syndrome >= 0 else 0
        last, decided = psn - bool(kind), p.time_ns - far.peer.turnaround_ns
        if last >= far.side.start_psn and accepted.get(last, decided + 1) > decided:
            yield f"answer {psn} ({p.syndrome:#x}), yet {last} was not accepted"
        if kind == 3 and not refuses and psn not in overtaken:
            yield f"NAK for {psn}, which nothing had overtaken"


def message_numbers_rise(_near, far):
    newest = 0
    for p, psn in far.events:
        if p.syndrome >= 0:
            if p.msn < newest:
                yield f"MSN {p.msn} at {psn} after {newest}"
            newest = max(newest, p.msn)


def responses_were_asked_for(_near, far):
    """And the first answers to a READ hold as many bytes as it wants."""
    asked, got = {}, {}
    for p, psn in far.events:
        if p.is_request() and p.operation in SINGLES:
            for i in range(psn, psn + p.span(far.pair.pmtu)):
                asked[i] = psn, p
        elif p.operation in RESPONSE_DATA:
            if psn not in asked:
                yield f"response {psn} to nothing"
            got[psn] = p.payload
    for psn, (start, p) in asked.items():
        first_copy = p.operation == READ_REQUEST and start == psn
        if first_copy and all(psn + i in got for i in range(p.span(far.pair.pmtu))):
            total = sum(got[psn + i] for i in range(p.span(far.pair.pmtu)))
            if total != p.read_bytes:
                yield f"READ {psn} of {p.read_bytes} got {total} bytes"


def reads_are_answered(near, _far):
    """At the requester's NIC, all of it."""
    got = {psn for p, psn in near.events if p.operation in RESPONSE_DATA}
    for p, psn, _ in new_requests(near):
        missing = set(range(psn, psn + p.span(near.pair.pmtu))) - got
        if p.operation in SINGLES and missing:
            yield f"request {psn} has no response {min(missing)}"


def refused_ones_wait(near, _far):
    """At the requester's NIC: as long as the RNR NAK asks.  What leaves in the nanosecond
    in which it comes is on its way."""
    until = {}
    for p, psn in near.events:
        if p.is_request():
            came, end = until.get(psn, (0, 0))
            if came < p.time_ns < end:
                yield f"{psn} sent again too early"
        elif p.syndrome >> 5 == 1:
            wait = roce.RNR_TIMER_10US[p.syndrome & 31] * 10_000
            until[psn] = p.time_ns, p.time_ns + wait


def acknowledged_is_done(near, _far):
    """Without READs and atomics, what an ACK covered is not sent again."""
    if any(p.operation in SINGLES for p, _ in near.requests()):
        return
    done = {}
    for p, psn in near.events:
        if p.is_request() and done.get(psn, p.time_ns) < p.time_ns:
            yield f"{psn} sent again, though acknowledged"
        if p.operation == ACKNOWLEDGE:
            psn += p.syndrome >> 5 == 0
            while (psn := psn - 1) >= near.side.start_psn and psn not in done:
                done[psn] = p.time_ns


RULES = (psns_without_holes, message_grammar, answers_tell_the_truth,
         message_numbers_rise, responses_were_asked_for, reads_are_answered,
         refused_ones_wait, acknowledged_is_done)
# What holds of services without answers, and of UD, whose PSNs several peers share.
ONE_WAY = {"UC": (psns_without_holes, message_grammar), "UD": (message_grammar,)}


# --- the truth against the files -----------------------------------------------------


def work_is_done(simulation):
    """Every message completes, and the responder executes each request once."""
    for end in simulation.ends:
        name = f"{end.transport} {end.side.qpn:#x}"
        if end.requester.n_completed != len(end.side.work):
            yield f"{name}: {end.requester.n_completed} of {len(end.side.work)} completed"
        if end.transport in ONE_WAY:
            continue
        if end.peer.responder.n_executed != len(end.side.work):
            yield f"{name}: {end.peer.responder.n_executed} executed"
        executed = sorted(tx.psn for tx in simulation.all_tx if tx.end is end
                          and tx.space == REQUESTS for fate in tx.fates
                          if fate == "accepted")
        if len(set(executed)) != len(executed):
            yield f"{name}: executed twice"


def messages_arrived(half):
    """Of UC: messages of which each packet stands behind the one before it."""
    n, expected, inside = 0, half.side.start_psn, False
    for p, psn in half.requests():
        if p.operation in FIRSTS + ONLYS:
            inside = True
        elif psn != expected:
            inside = False
        expected = psn + 1
        if p.operation in LASTS + ONLYS:
            n, inside = n + inside, False
    return n


def counts_add_up(simulation, files):
    """sent = captured at the sender; minus lost, plus duplicates = at the receiver."""
    truth = simulation.truth()
    n_files = {name: sum(1 for _ in read_pcap(data)) for name, data in files.items()}
    for name, n in n_files.items():
        if truth["points"][name]["packets"] != n:
            yield f"{name}: {n} packets in the file"
    for stream in truth["streams"]:
        near, far = "sender", "receiver"
        if stream["direction"] == "b_to_a":
            near, far = far, near
        for space in (REQUESTS, RESPONSES, ACKS):
            here, there = stream["points"][near][space], stream["points"][far][space]
            sent = stream["sent"][space]
            arrived = sent - len(there["lost_before"]) + len(there["network_duplicates"])
            fates = sum(n for fate, n in stream["fates"][space].items() if fate != "lost")
            # A damaged packet that the network doubled is a duplicate in no count.
            for what, got, want in (
                    ("sent", here["packets"], sent), ("arrived", fates, there["packets"]),
                    ("lost after", len(here["lost_after"]), len(there["lost_before"])),
                    ("came", there["packets"], arrived)):
                if got != want:
                    yield f"{stream['src_qpn']:#x} {space} {what}: {got}, not {want}"


def same_packets(simulation, files):
    """What is in one file and not in the other is what the truth says was lost."""
    frames = {name: collections.Counter(f for _, f in read_pcap(d))
              for name, d in files.items()}
    for config, near, far, direction in ((HOST_A, "sender", "receiver", "a_to_b"),
                                         (HOST_B, "receiver", "sender", "b_to_a")):
        gone = sum(n for frame, n in (frames[near] - frames[far]).items()
                   if frame[6:12] == roce.mac(config.mac))
        lost = sum(len(s["points"][far][space]["lost_before"])
                   for s in simulation.truth()["streams"] if s["direction"] == direction
                   for space in (REQUESTS, RESPONSES, ACKS))
        if gone != lost:
            yield f"{direction}: {gone} packets are gone, truth {lost}"


# --- cases ---------------------------------------------------------------------------

ALL_OPERATIONS = tuple(Work(op, size) for op, size in (
    ("WRITE", 5000), ("READ", 9000), ("SEND_IMM", 1500), ("FADD", 8), ("WRITE_IMM", 64),
    ("SEND_INV", 2500), ("CAS", 8), ("READ", 100), ("WRITE", 0), ("ATOMIC_WRITE", 8),
    ("FLUSH", 4096))) * 5
XRC_OPERATIONS = tuple(w for w in ALL_OPERATIONS if w.op not in ("ATOMIC_WRITE", "FLUSH"))
DC_OPERATIONS = tuple(w for w in XRC_OPERATIONS if w.op != "SEND_INV")
WRITES = (Work("WRITE", 8192),) * 40
SENDS = (Work("SEND", 900),) * 120

# Marked and spoilt packets stand apart: whether two frames are the same is told by bytes.
ROUGH = path_of(Impairment(loss=0.03, duplicate=0.03, reorder=0.03),
                Impairment(loss=0.03, duplicate=0.03, reorder=0.03))
SPOILT = path_of(Impairment(loss=0.03, duplicate=0.03, reorder=0.03, corrupt=0.02,
                            mark=0.1), Impairment(loss=0.03, reorder=0.03, corrupt=0.02))


def pair(work, peer_work=(), transport="RC", start=0xFFFF80, **how):
    how = {"retry_count": 1000, **how}
    return QueuePair(Side(0x111, start, tuple(work), **how),
                     Side(0x222, 0x400000, tuple(peer_work), **how), transport=transport)


@dataclasses.dataclass(frozen=True)
class Case:
    name: str
    queue_pairs: tuple
    segments: tuple = ROUGH
    exact_frames: bool = True    # same_packets() holds


CASES = (
    Case("go_back_n", (pair(ALL_OPERATIONS, ALL_OPERATIONS),)),
    Case("go_back_n_writes", (pair(WRITES, SENDS),)),
    Case("go_back_n_few_receives", (pair(SENDS, SENDS, receives=8),)),
    Case("go_back_n_coalesced", (pair(WRITES, WRITES, ack_every=8),)),
    Case("selective", (pair(ALL_OPERATIONS, ALL_OPERATIONS, **SELECTIVE),)),
    Case("selective_writes", (pair(WRITES, SENDS, **SELECTIVE),)),
    Case("selective_insistent", (pair(WRITES, SENDS, **SELECTIVE, nak_again_ns=40_000),)),
    Case("selective_few_receives", (pair(SENDS, SENDS, receives=8, **SELECTIVE),)),
    Case("kept_but_all_sent_again", (pair(WRITES, SENDS, beyond_gap="keep"),)),
    Case("out_of_order", (pair(ALL_OPERATIONS, ALL_OPERATIONS, **OUT_OF_ORDER),)),
    Case("spoilt", (pair(ALL_OPERATIONS, ALL_OPERATIONS),), SPOILT, exact_frames=False),
    Case("spoilt_selective", (pair(ALL_OPERATIONS, WRITES, **SELECTIVE),), SPOILT,
         exact_frames=False),
    Case("xrc", (pair(XRC_OPERATIONS, transport="XRC"),)),
    Case("dc", (pair(DC_OPERATIONS, transport="DC"),)),
    Case("uc", (pair(WRITES, SENDS, transport="UC"),)),
    Case("ud", (pair(SENDS, SENDS, transport="UD"),
                QueuePair(Side(0x111, work=SENDS), Side(0x333), transport="UD"))),
    Case("qpn_reused", (pair(WRITES, SENDS), dataclasses.replace(
        pair(WRITES, SENDS, start=0x123456), start_ns=2 * 10**9))),
)


def halves(case, files):
    """(near, far) of each direction of the pairs that share no QPN with another."""
    qpns = collections.Counter(p.a.qpn for p in case.queue_pairs)
    packets = {name: packets_of(data) for name, data in files.items()}
    for p in case.queue_pairs:
        if qpns[p.a.qpn] == 1:
            yield tuple(Half(packets[name], p, p.a, p.b, HOST_A.address)
                        for name in ("sender", "receiver"))
            yield tuple(Half(packets[name], p, p.b, p.a, HOST_B.address)
                        for name in ("receiver", "sender"))


def check_case(case):
    scenario = Scenario(case.name, case.queue_pairs, seed=3, segments=case.segments)
    simulation = simulate(scenario)
    files = simulation.captures()
    again = simulate(scenario)
    if files != again.captures() or simulation.truth() != again.truth():
        yield "the same seed gives something else"
    if files == simulate(dataclasses.replace(scenario, seed=4)).captures():
        yield "another seed gives the same"
    yield from work_is_done(simulation)
    yield from counts_add_up(simulation, files)
    if case.exact_frames:
        yield from same_packets(simulation, files)
    if not any(tx.space == REQUESTS and not tx.fates for tx in simulation.all_tx):
        yield "nothing was lost: the case tests nothing"
    executed = iter([end.peer.responder.n_executed for end in simulation.ends])
    for near, far in halves(case, files):
        n_executed = next(executed)
        for rule in ONE_WAY.get(near.pair.transport, RULES):
            for problem in list(rule(near, far))[:3]:
                yield f"{near.side.qpn:#x} {rule.__name__}: {problem}"
        if near.pair.transport == "UC" and messages_arrived(far) != n_executed:
            yield f"UC: {messages_arrived(far)} messages arrived, truth {n_executed}"


# --- artefacts -----------------------------------------------------------------------


def sample_records():
    simulation = simulate(Scenario("records", tuple(QueuePair(
        Side(0x300 + i, work=WRITES[:20]), Side(0x400 + 7 * i, work=SENDS[:50]))
        for i in range(6))))
    return simulation.taps[1].records


def frames_of(records):
    return [r.frame for r in records]


def is_sorted(records):
    return all(a.time_ns <= b.time_ns for a, b in zip(records, records[1:]))


def most_moved(before, after):
    place = {id(r.flight): i for i, r in enumerate(before)}
    return max(abs(i - place[id(r.flight)]) for i, r in enumerate(after))


def flows_whole(before, after):
    """Each flow is there or it is not."""
    n_before, n_after = (collections.Counter(map(artefacts.flow_hash, records))
                         for records in (before, after))
    return all(n_before[flow] == n for flow, n in n_after.items())


def by_part(records, key):
    parts = collections.defaultdict(set)
    for r in records:
        parts[key(r)].add(r.part)
    return list(parts.values())


# name, artefact, what must hold of (records before, records after, what it says)
ARTEFACTS = (
    ("drop nothing", artefacts.Drop(0.0), lambda b, a, c: a == b and c["dropped"] == 0),
    ("drop", artefacts.Drop(0.05), lambda b, a, c:
     len(a) == len(b) - c["dropped"] and 0.03 < c["dropped"] / len(b) < 0.07),
    ("drop bursts", artefacts.DropBursts(200, 10), lambda b, a, c:
     len(a) == len(b) - c["dropped"] and 0.02 < c["dropped"] / len(b) < 0.09),
    ("snap", artefacts.Snap(96), lambda b, a, c:
     max(map(len, frames_of(a))) == 96 and c["cut"] > 0
     and [r.wire_bytes for r in a] == [r.wire_bytes for r in b]),
    ("one spine of four, flows", artefacts.PartialPath(ways=4, seen=(0, 1)),
     lambda b, a, c: 0 < len(a) < len(b) and flows_whole(b, a)),
    ("one spine of four, packets", artefacts.PartialPath(ways=4, by="packet"),
     lambda b, a, c: 0.2 < len(a) / len(b) < 0.3),
    ("twice", artefacts.DeliverTwice(), lambda b, a, c:
     len(a) == 2 * len(b) and is_sorted(a) and c["repeated"] == len(b)
     and [r for r in a if not r.repeated] == b),
    ("nearly all twice", artefacts.DeliverTwice(share=0.98), lambda b, a, c:
     0.97 < c["repeated"] / len(b) < 0.99),
    ("merged queues", artefacts.MergedQueues(16), lambda b, a, c:
     sorted(map(id, frames_of(a))) == sorted(map(id, frames_of(b)))
     and 0 < most_moved(b, a) < 16 and c["steps_back"] > 0),
    ("bond, flows", artefacts.BondMembers(), lambda b, a, c:
     frames_of(a) == frames_of(b) and min(c["parts"]) > 0
     and all(len(p) == 1 for p in by_part(a, artefacts.flow_hash))),
    ("bond, packets", artefacts.BondMembers("packet"), lambda b, a, c:
     all(0.4 < n / len(b) < 0.6 for n in c["parts"])),
    ("one file per direction", artefacts.OnePerDirection(), lambda b, a, c:
     all(len(p) == 1 for p in by_part(a, artefacts.source_mac)) and min(c["parts"]) > 0),
    ("clock", artefacts.Clock(offset_ns=-5_000, drift_ppb=20_000), lambda b, a, c:
     is_sorted(a) and a[0].time_ns == b[0].time_ns - 5_000
     and a[-1].time_ns - a[0].time_ns > b[-1].time_ns - b[0].time_ns),
    ("clock set back", artefacts.Clock(set_back_ns=10**6), lambda b, a, c:
     c["steps_back"] == 1 and frames_of(a) == frames_of(b)),
    ("steps back", artefacts.StepsBack(), lambda b, a, c:
     c["steps_back"] > 0 and frames_of(a) == frames_of(b)),
    ("bunches", artefacts.Bunch(50_000), lambda b, a, c:
     is_sorted(a) and all(0 <= y.time_ns - x.time_ns < 55_000 for x, y in zip(b, a))
     and len({y.time_ns // 50_000 for y in a}) <= c["bunches"] + 1),
) + tuple((f"encapsulated {kind}", artefacts.Encapsulate(kind), lambda b, a, c: all(
    y.frame.endswith(x.frame) and len(y.frame) == y.wire_bytes > x.wire_bytes
    for x, y in zip(b, a))) for kind in ("erspan_ii", "erspan_iii", "vxlan"))


def check_artefacts():
    records = sample_records()
    for name, artefact, holds in ARTEFACTS:
        after, changed = artefact(list(records), random.Random(name))
        if not holds(records, after, changed):
            yield f"{name}: {changed}"
        if (after, changed) != artefact(list(records), random.Random(name)):
            yield f"{name}: not the same again"


def check_capture_truth():
    """What a point says of its capture fits its files."""
    points = (Point("sender", drop=0.02, artefacts=(artefacts.DeliverTwice(),)),
              Point("receiver", artefacts=(artefacts.BondMembers("packet"),)))
    simulation = simulate(Scenario("points", (pair(WRITES),), points=points))
    truth, files = simulation.truth()["points"], simulation.captures()
    sender = truth["sender"]
    n = sum(1 for _ in read_pcap(files["sender"]))
    if n != sender["packets"] + sender["capture_duplicates"] or not sender["not_captured"]:
        yield f"{n} packets in a file of {sender}"
    parts = [sum(1 for _ in read_pcap(files[f"receiver.{i}"])) for i in (0, 1)]
    if [parts] != [a["parts"] for a in truth["receiver"]["artefacts"]]:
        yield f"{parts} packets in parts, truth {truth['receiver']['artefacts']}"
    seen = simulation.sightings()["sender"]
    if len(seen) != sender["packets"] or seen != sorted(seen, key=lambda s: s[0]):
        yield f"{len(seen)} sightings of {sender['packets']} packets"


def main(arguments):
    checks = [(case.name, lambda case=case: check_case(case)) for case in CASES]
    checks += [("artefacts", check_artefacts), ("capture_truth", check_capture_truth)]
    chosen = [(name, check) for name, check in checks if name in (arguments or [name])]
    failed = 0
    for name, check in chosen:
        problems = list(check())
        failed += bool(problems)
        for problem in problems[:12]:
            print(f"{name}: {problem}")
    print(f"{failed} of {len(chosen)} cases failed" if failed
          else f"{len(chosen)} cases passed")
    return 1 if failed or not chosen else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
