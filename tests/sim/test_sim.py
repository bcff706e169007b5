#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The analyzer's verdicts against what really happened.

Each row is a scenario, its seeds and what must hold of the two reports (one for each
capture point).  Where the truth cannot be known from a point alone, only bounds are
tested: never more than happened (precision), at least what is evident there (recall).

    tests/sim/test_sim.py [ROW...]     some rows alone
    tests/sim/test_sim.py --list
    tests/sim/test_sim.py --keep DIR   leaves captures, truth and reports there
"""

import collections
import dataclasses
import json
import os
import pathlib
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(os.environ.get("ROCESCOPE_SOURCE",
                                     pathlib.Path(__file__).resolve().parents[2]))
BINARY = os.environ.get("ROCESCOPE", str(SOURCE / "build/dev/bin/rocescope"))

import make_captures  # noqa: E402
import roce  # noqa: E402
from sim import (  # noqa: E402
    ACKS, HOST_A, HOST_A6, HOST_B, HOST_B6, REQUESTS, RESPONSES, Impairment, Point,
    QueuePair, Scenario, Side, Work, path_of, simulate)

LOST = ("lost_before_capture", "undelivered_after_capture", "ack_lost",
        "data_or_ack_lost", "not_captured", "corrupt")

# --- scenarios -----------------------------------------------------------------------

WRITES = (Work("WRITE", 8192),) * 120
SENDS = (Work("SEND", 3000),) * 150
READS = (Work("READ", 12000),) * 60
ATOMICS = tuple(Work(op) for op in ("CAS", "FADD")) * 60
MIXED = tuple(Work(op, size) for op, size in (
    ("WRITE", 5000), ("READ", 9000), ("SEND_IMM", 1500), ("FADD", 8), ("WRITE_IMM", 64),
    ("SEND_INV", 2500), ("CAS", 8), ("READ", 100), ("WRITE", 0))) * 12


def pair(work, peer_work=(), *, pmtu=1024, start=0x00F000, peer_start=0x400000, a=None,
         b=None):
    return QueuePair(Side(0x000111, start_psn=start, work=tuple(work), **(a or {})),
                     Side(0x000222, start_psn=peer_start, work=tuple(peer_work),
                          **(b or {})), pmtu=pmtu)


def hosts(ident="rising", ipv6=False, **more):
    a, b = (HOST_A6, HOST_B6) if ipv6 else (HOST_A, HOST_B)
    return {"host_a": dataclasses.replace(a, ident=ident, **more),
            "host_b": dataclasses.replace(b, ident=ident, **more)}


def forward(**how):
    return path_of(forward=Impairment(**how))


def backward(**how):
    return path_of(backward=Impairment(**how))


# --- looking at reports --------------------------------------------------------------


class View:
    """One direction of a queue pair at one point: truth beside report."""

    def __init__(self, name, stream, peer, report, reported, peer_reported):
        self.name, self.stream, self.report = name, stream, report
        self.truth, self.peer_truth = stream["points"][name], peer["points"][name]
        self.got, self.peer_got = reported, peer_reported
        # At its own NIC a host's packets are seen before anything happens to them.
        self.at_source = (name == "sender") == (stream["direction"] == "a_to_b")

    def bounds(self, space, what):
        """What is evident, and what happened."""
        copies = self.truth[space][what]
        return sum(c["evident"] for c in copies), len(copies)


class Complaints(list):
    def equal(self, what, got, want):
        if got != want:
            self.append(f"{what}: {got}, truth {want}")

    def between(self, what, got, low, high):
        if got is None or not low <= got <= high:
            self.append(f"{what}: {got}, truth {low}..{high}")


def zero_but(say, what, losses, allowed):
    """No verdict but those allowed."""
    for verdict in LOST:
        if verdict not in allowed:
            say.equal(f"{what} {verdict}", losses[verdict], 0)


def wire(view, say):
    """What needs no judgement: counts of what was captured."""
    truth, got = view.truth, view.got
    # A packet with a bad ICRC moves no state and belongs to a stream as a hint only.
    requests = truth[REQUESTS]
    say.equal("requests", got["requests"]["packets"],
              requests["packets"] - len(requests["corrupt"]))
    say.equal("ECN", {k: v for k, v in got["ecn"].items() if k in CODEPOINTS and v},
              truth["ecn"])
    say.equal("ECN transitions", got["ecn"]["transitions"], truth["ecn_transitions"])
    say.equal("CNPs sent", got["cnps_sent"], truth["cnps"])
    # ACKs and NAKs at least; whatever else has no payload is nowhere said.
    for codepoint, n in truth["ecn_control"].items():
        say.between(f"control {codepoint}", got["ecn_control"][codepoint], n,
                    got["packets"])
    say.equal("NAKs sent", {k: v for k, v in got["naks_sent"].items() if v},
              truth["naks"])
    vantage = "requester" if view.at_source else "responder"
    if requests["packets"] and got["vantage"] not in (vantage, "unknown"):
        say.append(f"vantage: {got['vantage']}, truth {vantage}")
    if got["naks"] is None:
        say.append("not paired")
    else:
        say.equal("NAKs received", {k: v for k, v in got["naks"].items() if v},
                  view.peer_truth["naks"])
    if got["icrc"]["unchecked_truncated"] == 0:
        say.equal("bad ICRC", got["icrc"]["bad"],
                  sum(len(truth[s]["corrupt"]) for s in (REQUESTS, RESPONSES)))


CODEPOINTS = ("not_ect", "ect0", "ect1", "ce")


def nothing_happened(view, say):
    """No gap, repeat, round or loss of any kind."""
    got = view.got
    for space, more in ((REQUESTS, "capture_repeats"), (RESPONSES, "resent")):
        for key in ("gaps", "missing_psns", "reordered", "duplicates", more):
            say.equal(f"{space} {key}", got[space][key], 0)
        zero_but(say, space, got["losses"][space], ())
        say.equal(f"{space} unknown", got["losses"][space]["unknown"], 0)
    say.equal("retransmissions", got["retransmissions"]["packets"], 0)
    say.equal("rounds", got["retransmissions"]["rounds"], 0)


def calm(view, say):
    """No finding that would worry an operator."""
    bad = [f["id"] for f in view.report["findings"] if f["severity"] != "note"]
    say.equal("findings", bad, [])


def clean(view, say):
    nothing_happened(view, say)
    calm(view, say)


def rounds(view, say):
    """Rounds by cause and packets sent again: exact at the requester's NIC, where all of
    them are seen; elsewhere those that left a trace."""
    got = view.got["retransmissions"]
    truth = view.truth["rounds"]
    for cause, n in got["by_cause"].items():
        seen, evident = truth.get(cause, (0, 0))
        say.between(f"rounds {cause}", n, evident, seen)
    say.equal("sum of causes", sum(got["by_cause"].values()), got["rounds"])
    requests = view.truth[REQUESTS]
    say.between("sent again", got["packets"], requests["resent_evident"],
                requests["resent"])


def no_duplicates(view, say):
    say.equal("network duplicates", view.got["requests"]["duplicates"], 0)
    say.equal("network duplicates of responses", view.got["responses"]["duplicates"], 0)


def lost_requests(view, say):
    """Requests of this stream were dropped, and nothing else happened."""
    losses = view.got["losses"][REQUESTS]
    if view.at_source:
        zero_but(say, "requests", losses,
                 ("undelivered_after_capture", "data_or_ack_lost"))
        say.equal("gaps", view.got["requests"]["gaps"], 0)
        asked = [n for n in view.peer_naks() if n["fate"] == ["lost"]]
        say.equal("undelivered", losses["undelivered_after_capture"], len(asked))
        by_timeout = sum(r["packets"] for r in view.stream["rounds"]
                         if r["cause"] == "timeout")
        n_timeouts = view.truth["rounds"].get("timeout", (0, 0))[0]
        say.between("data or ACK lost", losses["data_or_ack_lost"], n_timeouts, by_timeout)
    else:
        zero_but(say, "requests", losses, ("lost_before_capture",))
        say.between("lost before", losses["lost_before_capture"],
                    *view.bounds(REQUESTS, "lost_before"))
    zero_but(say, "responses", view.got["losses"][RESPONSES], ())


def lost_acks(view, say):
    """ACKs to this stream's requests were dropped; no data was."""
    losses = view.got["losses"][REQUESTS]
    needless = sum(r["delivered"] for r in view.stream["rounds"])
    say.equal("gaps", view.got["requests"]["gaps"], 0)
    if view.at_source:
        zero_but(say, "requests", losses, ("ack_lost", "data_or_ack_lost"))
        claimed = losses["ack_lost"] + losses["data_or_ack_lost"]
        say.between("ACK, or data or ACK lost", claimed, min(1, needless), needless)
    else:
        zero_but(say, "requests", losses, ("ack_lost",))
        say.equal("ACK lost", losses["ack_lost"], needless)


def lost_responses(view, say):
    """Response data to this stream's requests was dropped, and nothing else happened."""
    requests, responses = view.got["requests"], view.peer_got
    say.equal("gaps in requests", requests["gaps"], 0)
    losses = responses["losses"][RESPONSES]
    truth = view.peer_truth[RESPONSES]
    if view.at_source:
        zero_but(say, "responses", losses, ("lost_before_capture",))
        evident = sum(c["evident"] for c in truth["lost_before"])
        say.between("responses lost before", losses["lost_before_capture"], evident,
                    len(truth["lost_before"]))
    else:
        zero_but(say, "responses", losses, ("undelivered_after_capture",))
        say.between("responses undelivered", losses["undelivered_after_capture"],
                    min(1, len(truth["lost_after"])), len(truth["lost_after"]))
        say.equal("responses sent again", responses["responses"]["resent"],
                  truth["resent"])
    zero_but(say, "requests", view.got["losses"][REQUESTS], ())


def requested_bytes(view, say):
    if view.at_source:
        say.equal("requested bytes", view.got["retransmissions"]["requested_bytes"],
                  sum(r["requested_bytes"] for r in view.stream["rounds"]))


def late_requests(view, say):
    """Some came late, none was lost."""
    got = view.got["requests"]
    losses = view.got["losses"][REQUESTS]
    if view.at_source:
        n_rounds = view.got["retransmissions"]["rounds"]
        zero_but(say, "requests", losses, ("undelivered_after_capture",))
        say.between("undelivered", losses["undelivered_after_capture"], 0, n_rounds)
        say.equal("reordered", got["reordered"], 0)
    else:
        zero_but(say, "requests", losses, ())
        late = view.truth[REQUESTS]["reordered"]
        firsts = [c for c in late if c["first_here"] and c["copy"][2] == 1]
        say.between("reordered", got["reordered"], len(firsts), len(late))
        n_late = sum(r["first_was_late"] for r in view.stream["rounds"])
        say.between("spurious rounds", view.got["retransmissions"]["spurious_rounds"],
                    n_late, view.got["retransmissions"]["rounds"])


def late_requests_unnumbered(view, say):
    """As above, where nothing tells a late original from a copy that the network made:
    at most one verdict for each late packet."""
    losses = view.got["losses"][REQUESTS]
    if view.at_source:
        late_requests(view, say)
    else:
        zero_but(say, "requests", losses, ("lost_before_capture",))
        say.between("lost before", losses["lost_before_capture"], 0,
                    len(view.truth[REQUESTS]["reordered"]))


def late_resent(view, say):
    """One packet was lost; of those sent again with it, one was late."""
    losses = view.got["losses"][REQUESTS]
    if view.at_source:
        zero_but(say, "requests", losses, ("undelivered_after_capture",))
    else:
        zero_but(say, "requests", losses, ("lost_before_capture",))
        say.equal("lost before", losses["lost_before_capture"], 1)


def network_duplicates(view, say):
    truth = view.truth[REQUESTS]
    say.equal("duplicates", view.got["requests"]["duplicates"],
              len(truth["network_duplicates"]))
    say.equal("repeats", view.got["requests"]["capture_repeats"], truth["repeats"])
    say.equal("retransmissions", view.got["retransmissions"]["packets"], 0)
    say.equal("rounds", view.got["retransmissions"]["rounds"], 0)
    for space in (REQUESTS, RESPONSES):
        zero_but(say, space, view.got["losses"][space], ())


def repeats_alone(view, say):
    """As above, where nothing tells a duplicate from a packet sent again."""
    truth = view.truth[REQUESTS]
    say.equal("repeats", view.got["requests"]["capture_repeats"], truth["repeats"])
    say.equal("retransmissions", view.got["retransmissions"]["packets"], 0)
    zero_but(say, "requests", view.got["losses"][REQUESTS], ())


def nothing_lost(view, say):
    for space in (REQUESTS, RESPONSES):
        zero_but(say, space, view.got["losses"][space], ())


def nothing_lost_on_the_way(view, say):
    if not view.at_source:
        nothing_lost(view, say)


def corrupt_requests(view, say):
    losses = view.got["losses"][REQUESTS]
    if view.at_source:
        lost_requests_at_source = ("undelivered_after_capture", "data_or_ack_lost")
        zero_but(say, "requests", losses, lost_requests_at_source)
    else:
        asked = [n for n in view.peer_naks() if n["fate"] == ["corrupt"]]
        zero_but(say, "requests", losses, ("corrupt",))
        say.between("corrupt", losses["corrupt"], len(asked),
                    len(view.truth[REQUESTS]["corrupt"]))


def missed_by_capture(view, say):
    """The network was perfect, the capture was not."""
    losses = view.got["losses"][REQUESTS]
    zero_but(say, "requests", losses, ("not_captured",))
    say.between("not captured", losses["not_captured"], view.truth["missed_evident"],
                len(view.truth[REQUESTS]["not_captured"]))
    say.equal("retransmissions", view.got["retransmissions"]["packets"], 0)
    say.equal("repeats", view.got["requests"]["capture_repeats"], 0)
    zero_but(say, "responses", view.got["losses"][RESPONSES], ("not_captured",))


# --- the table -----------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Row:
    name: str
    queue_pairs: tuple
    checks: tuple
    segments: tuple = ()
    hosts: dict = dataclasses.field(default_factory=hosts)
    seeds: int = 1
    cm: bool = True
    points: tuple = (Point("sender"), Point("receiver"))
    vlans: tuple = ()
    both: bool = False           # checks hold for B's requests too, not for A's alone
    # A scenario in which what it is about does not happen tests nothing: a count of the
    # truth that must not be 0, over all seeds.
    happens: str = ""


CLEAN = (wire, clean)
LOSS = (wire, rounds, no_duplicates, lost_requests)

ROWS = (
    # nothing happens
    Row("clean_write", (pair(WRITES),), CLEAN, both=True),
    Row("clean_send", (pair(SENDS),), CLEAN, both=True),
    Row("clean_read", (pair(READS),), CLEAN, both=True),
    Row("clean_atomic", (pair(ATOMICS),), CLEAN, both=True),
    Row("clean_duplex", (pair(MIXED, MIXED[4:] + MIXED[:4]),), CLEAN, both=True),
    Row("clean_duplex_same_psns", (pair(MIXED, MIXED, peer_start=0xF000),), CLEAN,
        both=True),
    Row("clean_no_cm", (pair(WRITES),), CLEAN, cm=False, both=True),
    Row("clean_duplex_no_cm", (pair(MIXED, MIXED),), CLEAN, cm=False, both=True),
    Row("clean_read_no_cm", (pair(READS, pmtu=4096),), CLEAN, cm=False, both=True),
    Row("clean_psn_wrap", (pair(MIXED, MIXED, start=0xFFFFF0, peer_start=0xFFFFF8),),
        CLEAN, both=True),
    Row("clean_jitter", (pair(MIXED, MIXED),), CLEAN, path_of(jitter_ns=20_000),
        both=True, seeds=2),
    Row("clean_ack_coalescing", (pair(WRITES, b={"ack_every": 8}),), CLEAN, both=True),
    Row("clean_ack_every_10", (pair(WRITES, a={"ack_request_every": 10}),), CLEAN,
        both=True),
    Row("clean_ipv6", (pair(MIXED, MIXED),), CLEAN, hosts=hosts(ipv6=True), both=True),
    Row("clean_ident_constant", (pair(MIXED, MIXED),), CLEAN, hosts=hosts("constant"),
        both=True),
    Row("clean_ident_random", (pair(MIXED, MIXED),), CLEAN, hosts=hosts("random"),
        both=True),
    Row("clean_not_ect", (pair(WRITES),), CLEAN, hosts=hosts(tos=26 << 2), both=True),
    Row("clean_vlan", (pair(MIXED, MIXED),), CLEAN, vlans=(roce.Vlan(100, pcp=3),),
        both=True),
    Row("clean_headers_only", (pair(MIXED, MIXED),), CLEAN, both=True,
        points=(Point("sender", snap_length=96),
                Point("receiver", snap_length=96, nanoseconds=False))),
    Row("clean_four_pairs", tuple(
        dataclasses.replace(pair(MIXED, MIXED), a=Side(0x300 + i, start_psn=0x1000 * i,
                                                       work=MIXED),
                            b=Side(0x400 + i, start_psn=0x1000 * i + 7, work=MIXED))
        for i in range(4)), CLEAN, both=True),

    # requests are lost
    Row("loss_write", (pair(WRITES),), LOSS, forward(loss=0.01), seeds=4,
        happens="lost"),
    Row("loss_write_one_in_1000", (pair(WRITES),), LOSS, forward(loss=0.001), seeds=4,
        happens="lost"),
    Row("loss_write_heavy", (pair(WRITES),), LOSS, forward(loss=0.05), seeds=3,
        happens="lost"),
    Row("loss_send", (pair(SENDS),), LOSS, forward(loss=0.01), seeds=2, happens="lost"),
    Row("loss_no_cm", (pair(WRITES),), LOSS, forward(loss=0.01), cm=False, seeds=2,
        happens="lost"),
    Row("loss_ident_constant", (pair(WRITES),), LOSS, forward(loss=0.01),
        hosts=hosts("constant"), seeds=3, happens="lost"),
    Row("loss_ident_random", (pair(WRITES),), LOSS, forward(loss=0.01),
        hosts=hosts("random"), seeds=2, happens="lost"),
    Row("loss_ipv6", (pair(WRITES),), LOSS, forward(loss=0.01), hosts=hosts(ipv6=True),
        seeds=3, happens="lost"),
    Row("loss_psn_wrap", (pair(WRITES, start=0xFFFE00),), LOSS, forward(loss=0.01),
        seeds=2, happens="lost"),
    Row("loss_headers_only", (pair(WRITES),), LOSS, forward(loss=0.01), happens="lost",
        points=(Point("sender", snap_length=96), Point("receiver", snap_length=96))),
    # The repair is lost as well: the responder stays silent, time runs out.
    Row("loss_of_repair", (pair(WRITES),), LOSS,
        forward(drop=((REQUESTS, 100, 1), (REQUESTS, 100, 2))), happens="lost"),
    Row("loss_first_packet", (pair(WRITES, a={"depth": 1}),), (wire, no_duplicates),
        forward(drop=((REQUESTS, 0, 1),)), happens="lost"),
    Row("loss_tail", (pair(WRITES, a={"depth": 1}),), (wire, rounds, no_duplicates),
        forward(drop=((REQUESTS, 15, 1), (REQUESTS, 47, 1))), happens="lost"),
    Row("loss_burst", (pair(WRITES),), LOSS,
        forward(drop=tuple((REQUESTS, p, 1) for p in range(200, 212))), happens="lost"),
    Row("loss_nak", (pair(WRITES),), (wire, rounds, no_duplicates), path_of(
        Impairment(drop=((REQUESTS, 100, 1),)), Impairment(drop=((ACKS, 100, 1),))),
        happens="lost"),
    # A lost READ request skips many PSNs and is one packet.
    Row("loss_read_request", (pair(READS, a={"depth": 8}),), LOSS, forward(loss=0.1),
        seeds=2, happens="lost"),
    Row("loss_one_read_request", (pair(READS, a={"depth": 8}),), LOSS,
        forward(drop=((REQUESTS, 12 * 20, 1),)), happens="lost"),

    # ACKs are lost
    Row("ack_loss_depth_1", (pair(WRITES, a={"depth": 1}),),
        (wire, rounds, no_duplicates, lost_acks),
        backward(loss=0.1, spaces=(ACKS,)), seeds=3, happens="lost"),
    # Adaptive retransmission: eighty round trips, which no ACK takes.
    Row("ack_loss_short_timeout", (pair(WRITES, a={"depth": 1, "timeout_ns": 1_000_000}),),
        (wire, rounds, no_duplicates, lost_acks),
        backward(loss=0.1, spaces=(ACKS,)), seeds=2, happens="lost"),
    Row("ack_loss_depth_32", (pair(WRITES),), (wire, rounds, no_duplicates, lost_acks),
        backward(loss=0.1, spaces=(ACKS,)), seeds=3),
    # What was acknowledged long ago comes again.
    Row("ack_loss_large", (pair((Work("WRITE", 1 << 20),) * 3, a={"depth": 1}),),
        (wire, rounds, no_duplicates, lost_acks),
        backward(drop=((ACKS, 1023, 1), (ACKS, 3071, 1))), happens="lost"),
    Row("ack_loss_ident_constant", (pair(WRITES, a={"depth": 1}),),
        (wire, rounds, no_duplicates, lost_acks),
        backward(loss=0.1, spaces=(ACKS,)), hosts=hosts("constant"), seeds=2),
    Row("ack_loss_ipv6", (pair(WRITES, a={"depth": 1}),),
        (wire, rounds, no_duplicates, lost_acks),
        backward(loss=0.1, spaces=(ACKS,)), hosts=hosts(ipv6=True), seeds=2),
    Row("ack_loss_send", (pair(SENDS, a={"depth": 1}),),
        (wire, rounds, no_duplicates, lost_acks),
        backward(loss=0.1, spaces=(ACKS,)), seeds=2),

    # responses are lost
    Row("response_loss_read", (pair(READS),),
        (wire, rounds, no_duplicates, lost_responses, requested_bytes),
        backward(loss=0.01, spaces=(RESPONSES,)), seeds=4, happens="lost"),
    Row("response_loss_read_depth_1", (pair(READS, a={"depth": 1}),),
        (wire, rounds, no_duplicates, lost_responses, requested_bytes),
        backward(loss=0.02, spaces=(RESPONSES,)), seeds=3, happens="lost"),
    Row("response_loss_read_large",
        (pair((Work("READ", 1 << 20),) * 6, a={"depth": 3}, pmtu=4096),),
        (wire, rounds, no_duplicates, lost_responses, requested_bytes),
        backward(loss=0.002, spaces=(RESPONSES,)), seeds=2, happens="lost"),
    Row("response_loss_read_constant", (pair(READS),),
        (wire, rounds, no_duplicates, lost_responses),
        backward(loss=0.01, spaces=(RESPONSES,)), hosts=hosts("constant"), seeds=2,
        happens="lost"),
    Row("response_loss_read_ipv6", (pair(READS),),
        (wire, rounds, no_duplicates, lost_responses),
        backward(loss=0.01, spaces=(RESPONSES,)), hosts=hosts(ipv6=True), seeds=2,
        happens="lost"),
    Row("response_loss_atomic", (pair(ATOMICS, a={"depth": 1}),),
        (wire, rounds, no_duplicates),
        backward(loss=0.05, spaces=(RESPONSES,)), seeds=2, happens="lost"),
    Row("response_loss_atomic_short_timeout",
        (pair(ATOMICS, a={"depth": 1, "timeout_ns": 1_000_000}),),
        (wire, rounds, no_duplicates),
        backward(loss=0.05, spaces=(RESPONSES,)), seeds=2, happens="lost"),

    # nothing is lost
    # One packet is late: by 5 packets, so that the NAK is on its way already; until about
    # the time when its copy comes; until long after that.
    Row("reorder_one_by_400_ns", (pair(WRITES),),
        (wire, rounds, late_requests, no_duplicates),
        forward(late=((REQUESTS, 100, 1),), reorder_ns=400), happens="reordered"),
    Row("reorder_one_by_12_us", (pair(WRITES),),
        (wire, rounds, late_requests, no_duplicates),
        forward(late=((REQUESTS, 100, 1),), reorder_ns=12_000), happens="reordered"),
    Row("reorder_one_by_30_us", (pair(WRITES),),
        (wire, rounds, late_requests, no_duplicates),
        forward(late=((REQUESTS, 100, 1),)), happens="reordered"),
    Row("reorder_one_by_400_ns_constant", (pair(WRITES),),
        (wire, rounds, late_requests, no_duplicates),
        forward(late=((REQUESTS, 100, 1),), reorder_ns=400), hosts=hosts("constant"),
        happens="reordered"),
    # Asked for once, sent again once, and two copies came: both are accounted for.
    Row("reorder_one_by_30_us_constant", (pair(WRITES),),
        (wire, rounds, late_requests_unnumbered, nothing_lost_on_the_way, no_duplicates),
        forward(late=((REQUESTS, 100, 1),)), hosts=hosts("constant"),
        happens="reordered"),
    Row("reorder_sent_again", (pair(WRITES),), (wire, rounds, late_resent),
        forward(drop=((REQUESTS, 100, 1),), late=((REQUESTS, 110, 2),), reorder_ns=1_000),
        happens="reordered"),
    Row("reorder_some", (pair(WRITES),), (wire, rounds, late_requests, no_duplicates),
        forward(reorder=0.003), seeds=4, happens="reordered"),
    # So much of it that the packets a round starts with are late themselves.
    Row("reorder", (pair(WRITES),), (wire, late_requests, no_duplicates),
        forward(reorder=0.02), seeds=4, happens="reordered"),
    Row("reorder_little", (pair(WRITES),), (wire, late_requests, no_duplicates),
        forward(reorder=0.02, reorder_ns=400), seeds=3, happens="reordered"),
    Row("reorder_ident_constant", (pair(WRITES),), (wire, late_requests_unnumbered),
        forward(reorder=0.02), hosts=hosts("constant"), seeds=2, happens="reordered"),
    Row("reorder_ipv6", (pair(WRITES),), (wire, late_requests_unnumbered),
        forward(reorder=0.02), hosts=hosts(ipv6=True), seeds=2, happens="reordered"),
    Row("duplicate", (pair(WRITES),), (wire, network_duplicates),
        forward(duplicate=0.03), seeds=3, happens="network_duplicates"),
    Row("duplicate_late", (pair(WRITES),), (wire, network_duplicates),
        forward(duplicate=0.03, duplicate_lag_ns=60_000), seeds=2,
        happens="network_duplicates"),
    Row("duplicate_ident_constant", (pair(WRITES),), (wire, repeats_alone),
        forward(duplicate=0.03), hosts=hosts("constant"), happens="network_duplicates"),
    Row("rnr", (pair(SENDS, b={"receives": 8}),),
        (wire, rounds, nothing_lost, no_duplicates), happens="rnr"),
    Row("rnr_with_sequence_nak", (pair(SENDS, b={"receives": 8, "nak_after_rnr": True}),),
        (wire, rounds, nothing_lost, no_duplicates), happens="rnr"),
    Row("rnr_ident_constant", (pair(SENDS, b={"receives": 8}),),
        (wire, rounds, nothing_lost), hosts=hosts("constant"), happens="rnr"),
    Row("marks", (pair(WRITES),), (wire, nothing_happened), forward(mark=0.05), seeds=2,
        both=True, happens="ce"),
    Row("marks_with_cnps", (pair(WRITES),), (wire, nothing_happened),
        forward(mark=0.2), hosts=hosts(cnp_interval_ns=5_000), both=True, happens="ce"),
    Row("fatal_nak", (pair(WRITES[:5] + (Work("WRITE", 3000,
                                              nak=roce.NAK_REMOTE_ACCESS),)),),
        (wire, nothing_lost), happens="remote_access"),

    # spoilt, or not captured
    Row("corrupt", (pair(WRITES),), (wire, rounds, no_duplicates, corrupt_requests),
        forward(corrupt=0.01), seeds=3, happens="corrupt"),
    Row("capture_drops", (pair(WRITES),), (missed_by_capture,),
        points=(Point("sender", drop=0.01), Point("receiver", drop=0.01)), seeds=2),
)


# --- running -------------------------------------------------------------------------


def report_of(data, name, directory):
    path = pathlib.Path(directory, name + ".pcap")
    path.write_bytes(data)
    done = subprocess.run([BINARY, "--quiet", "--json", "-", str(path)],
                          stdin=subprocess.DEVNULL, capture_output=True, timeout=300)
    if done.returncode not in (0, 1) or not done.stdout:
        raise RuntimeError(f"exit status {done.returncode}: "
                           f"{done.stderr.decode(errors='replace')[:500]}")
    path.with_suffix(".json").write_bytes(done.stdout)
    return json.loads(done.stdout)


def views_of(truth, reports):
    for name, report in reports.items():
        found = {(s["src"], s["dst"], s["dst_qpn"]): s for s in report["streams"]}
        by_qpn = {(s["src"], s["src_qpn"]): s for s in truth["streams"]}
        for stream in truth["streams"]:
            peer = by_qpn[stream["dst"], stream["dst_qpn"]]
            keys = [(s["src"], s["dst"], s["dst_qpn"]) for s in (stream, peer)]
            view = View(name, stream, peer, report, *map(found.get, keys))
            view.peer_naks = lambda peer=peer: peer["naks_sent"]
            yield view


def happened(truth):
    """Counts of what the scenario was for."""
    counts = collections.Counter()
    for stream in truth["streams"]:
        for point in stream["points"].values():
            for space in (REQUESTS, RESPONSES, ACKS):
                counts["lost"] += len(point[space]["lost_before"])
                for what in ("reordered", "network_duplicates", "corrupt"):
                    counts[what] += len(point[space][what])
            counts["ce"] += point["ecn"].get("ce", 0)
            counts.update(point["naks"])
    return counts


def run_row(row, directory):
    complaints, counts = [], collections.Counter()
    for seed in range(1, row.seeds + 1):
        scenario = Scenario(row.name, row.queue_pairs, seed=seed, cm=row.cm,
                            segments=row.segments, points=row.points, vlans=row.vlans,
                            **row.hosts)
        simulation = simulate(scenario)
        truth = simulation.truth()
        counts += happened(truth)
        stem = f"{row.name}-{seed}"
        pathlib.Path(directory, f"{stem}.truth.json").write_text(json.dumps(truth))
        reports = {name: report_of(data, f"{stem}-{name}", directory)
                   for name, data in simulation.captures().items()}
        for view in views_of(truth, reports):
            if view.stream["direction"] == "b_to_a" and not row.both:
                continue
            say = Complaints()
            if view.got is None or view.peer_got is None:
                say.append("no such stream in the report")
            else:
                for check in row.checks:
                    check(view, say)
            where = f"seed {seed}, {view.name}, {view.stream['direction']}"
            complaints += [f"{where}: {text}" for text in say]
    if row.happens and not counts[row.happens]:
        complaints.append(f"no {row.happens} in any seed: the row tests nothing")
    return complaints


def main(arguments):
    if arguments[:1] == ["--list"]:
        print("\n".join(row.name for row in ROWS))
        return 0
    keep = None
    if arguments[:1] == ["--keep"]:
        keep, arguments = arguments[1], arguments[2:]
        pathlib.Path(keep).mkdir(parents=True, exist_ok=True)
    failed = []

    def say(name, problems):
        if problems:
            failed.append(name)
            print(f"FAILED {name}")
            for problem in problems[:12]:
                print(f"    {problem}")

    if not arguments:
        if make_captures.main(["--check", SOURCE / "captures"]):
            say("samples", ["captures/sim_* are not what make_captures.py writes now"])
    with tempfile.TemporaryDirectory() as temporary:
        for row in ROWS:
            if arguments and row.name not in arguments:
                continue
            try:
                say(row.name, run_row(row, keep or temporary))
            except Exception as error:  # a row that breaks must not hide the next
                say(row.name, [f"{type(error).__name__}: {error}"])
    print(f"{len(failed)} failed: {' '.join(failed)}" if failed
          else f"{len(arguments) or len(ROWS) + 1} rows passed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
