# SPDX-License-Identifier: GPL-2.0-or-later
"""The scenarios of test_sim.py, and what must hold of their reports."""

import dataclasses

import roce
import checks
from artefacts import (
    BondMembers, Bunch, Clock, DamagePsns, DeliverTwice, DropBursts, Encapsulate, MergedQueues,
    OnePerDirection, PartialPath, StepsBack)
from checks import (
    clean, corrupt_requests, counted, counts_alone, late_requests,
    late_requests_unnumbered, late_resent, lost_acks, lost_requests, lost_responses,
    missed_by_capture, network_duplicates, no_duplicates, nothing_happened, nothing_lost,
    nothing_lost_on_the_way, precise, recovery, repeats_alone, requested_bytes, rounds,
    wire)
from sim import (
    ACKS, HOST_A, HOST_A6, HOST_B, HOST_B6, OUT_OF_ORDER, REQUESTS, RESPONSES, SELECTIVE,
    Impairment, Point, QueuePair, Scenario, Side, Work, path_of)

# --- what scenarios are made of ------------------------------------------------------

WRITES = (Work("WRITE", 8192),) * 120
SENDS = (Work("SEND", 3000),) * 150
DATAGRAMS = (Work("SEND", 900),) * 150
PLACED = tuple(Work(op, size) for op, size in (
    ("ATOMIC_WRITE", 8), ("WRITE", 3000), ("FLUSH", 4096), ("READ", 5000))) * 15
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


def of(transport, *args, **how):
    return dataclasses.replace(pair(*args, **how), transport=transport)


def selective(work, peer_work=(), *, how=SELECTIVE, a=None, b=None, **more):
    return pair(work, peer_work, a={**how, **(a or {})}, b={**how, **(b or {})}, **more)


def many(n, work, peer_work=(), start=0, step=0, first=(0x300, 0x400)):
    """Queue pairs that start at the same time; with step 0 at the same PSN as well."""
    return tuple(QueuePair(Side(first[0] + i, start + i * step, tuple(work)),
                           Side(first[1] + 3 * i, start + i * step, tuple(peer_work)))
                 for i in range(n))


def hosts(ident="rising", ipv6=False, **more):
    a, b = (HOST_A6, HOST_B6) if ipv6 else (HOST_A, HOST_B)
    return {"host_a": dataclasses.replace(a, ident=ident, **more),
            "host_b": dataclasses.replace(b, ident=ident, **more)}


def forward(**how):
    return path_of(forward=Impairment(**how))


def backward(**how):
    return path_of(backward=Impairment(**how))


def both_ways(**how):
    return path_of(Impairment(**how), Impairment(**how))


def points(*artefacts, **how):
    return tuple(Point(name, artefacts=artefacts, **how)
                 for name in ("sender", "receiver"))


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

    def scenario(self, seed):
        return Scenario(self.name, self.queue_pairs, seed=seed, cm=self.cm,
                        segments=self.segments, points=self.points, vlans=self.vlans,
                        **self.hosts)


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
    Row("clean_placement", (pair(PLACED, PLACED),), CLEAN, both=True),
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
    # Again and again: the time until the next attempt doubles.
    Row("loss_with_back_off", (pair(WRITES),), LOSS,
        forward(drop=tuple((REQUESTS, 100, copy) for copy in (1, 2, 3, 4))),
        happens="lost"),
    Row("loss_with_back_off_read", (pair(READS, a={"depth": 1}),), (wire, precise),
        forward(drop=tuple((REQUESTS, 12 * 20, copy) for copy in (1, 2, 3))),
        happens="lost"),
    Row("loss_first_packet", (pair(WRITES, a={"depth": 1}),), (wire, no_duplicates),
        forward(drop=((REQUESTS, 0, 1),)), happens="lost"),
    # The first packet of a stream: the NAK names it.
    Row("loss_first_asked_for", (pair(WRITES),), LOSS,
        forward(drop=((REQUESTS, 0, 1),)), happens="lost"),
    Row("loss_tail", (pair(WRITES, a={"depth": 1}),), (wire, rounds, no_duplicates),
        forward(drop=((REQUESTS, 15, 1), (REQUESTS, 47, 1))), happens="lost"),
    Row("loss_burst", (pair(WRITES),), LOSS,
        forward(drop=tuple((REQUESTS, p, 1) for p in range(200, 212))), happens="lost"),
    Row("loss_nak", (pair(WRITES),), (wire, rounds, no_duplicates), path_of(
        Impairment(drop=((REQUESTS, 100, 1),)), Impairment(drop=((ACKS, 100, 1),))),
        happens="lost"),
    # A timer goes off where NAKs were lost, twenty round trips after: where the NAK was
    # captured, that the requester answers others sooner tells so.
    *(Row(f"loss_naks_short_timeout{name}",
          (pair((Work("WRITE", 8192),) * 300, a={"timeout_ns": 200_000}),),
          (wire, no_duplicates, precise, checks.rounds_by_timer), path_of(
              Impairment(loss=0.004, spaces=(REQUESTS,)),
              Impairment(loss=0.15, spaces=(ACKS,))),
          hosts=how, seeds=2, happens="lost")
      for name, how in (("", hosts()), ("_constant", hosts("constant")),
                        ("_ipv6", hosts(ipv6=True)))),
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
    Row("duplicate_as_late_as_a_timeout", (pair(
        [Work("WRITE", 8192, at_ns=i * 50_000) for i in range(400)]),),
        (wire, network_duplicates), forward(duplicate=0.01, duplicate_lag_ns=2_000_000),
        hosts=hosts("constant"), happens="network_duplicates"),
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

    # everything at once
    Row("rough_write", (pair(WRITES),), (wire, precise),
        both_ways(loss=0.01, duplicate=0.01, reorder=0.01), seeds=2, happens="lost"),
    Row("rough_duplex", (pair(MIXED, MIXED),), (wire, precise),
        both_ways(loss=0.01, duplicate=0.01, reorder=0.01), seeds=1, both=True,
        happens="lost"),
    Row("rough_selective", (selective(WRITES),), (wire, precise, recovery),
        both_ways(loss=0.01, duplicate=0.01, reorder=0.01), seeds=2, happens="lost"),
    Row("loss_duplex", (pair(MIXED, MIXED),), (wire, precise, no_duplicates),
        both_ways(loss=0.01), seeds=2, both=True, happens="lost"),
    Row("loss_placement", (pair(PLACED, PLACED),), (wire, precise, no_duplicates),
        both_ways(loss=0.02), both=True, happens="lost"),

    # selective repeat
    Row("selective_clean", (selective(MIXED, MIXED),), (*CLEAN, recovery), both=True),
    Row("selective_loss", (selective(WRITES),), (*LOSS, checks.recovery_known),
        forward(loss=0.01), seeds=2, happens="lost"),
    Row("selective_loss_heavy", (selective(WRITES),), (*LOSS, checks.recovery_known),
        forward(loss=0.05), seeds=1, happens="lost"),
    Row("selective_loss_one", (selective(WRITES),), (*LOSS, recovery),
        forward(drop=((REQUESTS, 100, 1),)), happens="lost"),
    Row("selective_loss_burst", (selective(WRITES),), (*LOSS, recovery),
        forward(drop=tuple((REQUESTS, p, 1) for p in range(200, 212))), happens="lost"),
    Row("selective_loss_of_repair", (selective(WRITES),), (*LOSS, recovery),
        forward(drop=((REQUESTS, 100, 1), (REQUESTS, 100, 2))), happens="lost"),
    # The responder asks again while the gap is there.
    Row("selective_insistent", (selective(WRITES, b={"nak_again_ns": 40_000}),),
        (*LOSS, recovery), forward(drop=((REQUESTS, 100, 1), (REQUESTS, 100, 2))),
        happens="lost"),
    Row("selective_loss_nak", (selective(WRITES),),
        (wire, rounds, no_duplicates, precise), path_of(
            Impairment(drop=((REQUESTS, 100, 1),)), Impairment(drop=((ACKS, 100, 1),))),
        happens="lost"),
    Row("selective_loss_send", (selective(SENDS),), (*LOSS, recovery),
        forward(loss=0.01), seeds=2, happens="lost"),
    Row("selective_loss_constant", (selective(WRITES),), (*LOSS, recovery),
        forward(loss=0.01), hosts=hosts("constant"), seeds=1, happens="lost"),
    Row("selective_loss_ipv6", (selective(WRITES),), (*LOSS, recovery),
        forward(loss=0.01), hosts=hosts(ipv6=True), seeds=1, happens="lost"),
    Row("selective_ack_loss", (selective(WRITES, a={"depth": 1}),),
        (wire, rounds, no_duplicates, lost_acks), backward(loss=0.1, spaces=(ACKS,)),
        seeds=2, happens="lost"),
    Row("selective_response_loss", (selective(READS),),
        (wire, rounds, no_duplicates, lost_responses, requested_bytes),
        backward(loss=0.01, spaces=(RESPONSES,)), seeds=2, happens="lost"),
    Row("selective_read_request", (selective(READS, a={"depth": 8}),), LOSS,
        forward(drop=((REQUESTS, 12 * 20, 1),)), happens="lost"),
    Row("selective_late_by_30_us", (selective(WRITES),),
        (wire, rounds, late_requests, no_duplicates),
        forward(late=((REQUESTS, 100, 1),)), happens="reordered"),
    Row("selective_rnr", (selective(SENDS, b={"receives": 8}),),
        (wire, nothing_lost, no_duplicates, precise), happens="rnr"),

    # placement out of order: who expects several ways waits before it complains
    Row("out_of_order_clean", (selective(WRITES, how=OUT_OF_ORDER),), CLEAN, both=True),
    Row("out_of_order_late", (selective(WRITES, how=OUT_OF_ORDER),),
        (wire, checks.late_and_welcome, no_duplicates), forward(reorder=0.03), seeds=2,
        happens="reordered"),
    Row("out_of_order_late_constant", (selective(WRITES, how=OUT_OF_ORDER),),
        (wire, checks.late_and_welcome, no_duplicates), forward(reorder=0.03),
        hosts=hosts("constant"), seeds=2, happens="reordered"),
    *(Row(f"out_of_order_sprayed_{name}", (selective(WRITES, how=OUT_OF_ORDER),),
          (wire, checks.late_and_welcome, no_duplicates), forward(reorder=0.3),
          hosts=how, seeds=4, happens="reordered")
      for name, how in (("ipv6", hosts(ipv6=True)), ("constant", hosts("constant")),
                        ("random", hosts("random")))),
    Row("out_of_order_loss", (selective(WRITES, how=OUT_OF_ORDER),), LOSS,
        forward(loss=0.01), seeds=1, happens="lost"),
    Row("out_of_order_loss_and_late", (selective(WRITES, how=OUT_OF_ORDER),),
        (wire, precise, no_duplicates), forward(loss=0.01, reorder=0.03), seeds=2,
        happens="lost"),

    # services without answers
    Row("uc_clean", (of("UC", WRITES, SENDS),),
        (counted, counts_alone, checks.no_gaps, checks.transport, checks.calm), both=True),
    Row("uc_one_way", (of("UC", WRITES),),
        (counted, counts_alone, checks.no_gaps, checks.calm), cm=False),
    Row("uc_loss", (of("UC", WRITES, SENDS),),
        (counted, counts_alone, checks.unjudged_losses), forward(loss=0.02), seeds=2,
        happens="lost"),
    Row("uc_late", (of("UC", WRITES, SENDS),),
        (counted, counts_alone, checks.unjudged_losses), forward(reorder=0.02),
        happens="reordered"),
    Row("ud_clean", (of("UD", DATAGRAMS, DATAGRAMS),),
        (counted, counts_alone, checks.no_gaps, checks.transport, checks.calm),
        both=True, cm=False),
    # One UD queue pair talks to four, and its PSNs are shared out among them.
    Row("ud_many_peers", tuple(
        QueuePair(Side(0x111, 77, DATAGRAMS), Side(0x200 + i, 0x1000 * i, DATAGRAMS[:40]),
                  transport="UD") for i in range(4)),
        (counted, counts_alone, checks.no_gaps, checks.transport, checks.calm),
        both=True, cm=False),
    Row("ud_loss", (of("UD", DATAGRAMS, DATAGRAMS),), (counted, counts_alone),
        both_ways(loss=0.05), both=True, cm=False, happens="lost"),

    # XRC and DC
    Row("xrc_clean", (of("XRC", MIXED),), (*CLEAN, checks.transport)),
    Row("xrc_clean_no_cm", (of("XRC", MIXED),), CLEAN, cm=False),
    Row("xrc_loss", (of("XRC", WRITES),), LOSS, forward(loss=0.01), seeds=2,
        happens="lost"),
    Row("xrc_response_loss", (of("XRC", READS),),
        (wire, rounds, no_duplicates, lost_responses, requested_bytes),
        backward(loss=0.01, spaces=(RESPONSES,)), seeds=2, happens="lost"),
    Row("dc_clean", (of("DC", tuple(w for w in MIXED if w.op != "SEND_INV")),),
        (counts_alone, checks.transport, checks.calm), cm=False),
    Row("dc_loss", (of("DC", WRITES),), (counts_alone, checks.transport),
        forward(loss=0.02), cm=False, happens="lost"),
    # Two initiators write to one target: their PSNs meet in one stream.
    Row("dc_two_initiators", tuple(
        QueuePair(Side(0x111 + i, 0x5000 * i, WRITES), Side(0x222), transport="DC")
        for i in range(2)), (counts_alone, checks.transport), cm=False),

    # QPNs that are given out again
    Row("qpn_reused", (pair(WRITES), dataclasses.replace(
        pair(WRITES, start=0x800000), start_ns=3_000_000)),
        (counts_alone, checks.no_gaps, checks.paired, checks.calm)),
    Row("qpn_reused_backwards", (pair(WRITES), dataclasses.replace(
        pair(WRITES, start=0x00E000), start_ns=3_000_000)),
        (counts_alone, checks.no_gaps, checks.paired, checks.calm)),
    Row("qpn_reused_no_cm", (pair(WRITES), dataclasses.replace(
        pair(WRITES, start=0x800000), start_ns=300_000_000)),
        (counts_alone, checks.paired, checks.calm), cm=False),
    Row("qpn_reused_same_psn_no_cm", (pair(WRITES), dataclasses.replace(
        pair(WRITES), start_ns=300_000_000)),
        (counts_alone, checks.paired, checks.calm), cm=False),
    Row("qpn_reused_near_no_cm", (pair(WRITES), dataclasses.replace(
        pair(WRITES, start=0x013000), start_ns=300_000_000)),
        (counts_alone, checks.no_gaps, checks.paired, checks.calm), cm=False),
    Row("qpn_reused_loss", (pair(WRITES), dataclasses.replace(
        pair(WRITES, start=0x800000), start_ns=20_000_000)),
        (checks.sent_again_in_all, checks.paired), forward(loss=0.01), seeds=1,
        happens="lost"),

    # applications that start every queue pair at one PSN, and set them up by themselves
    Row("equal_psns", many(8, WRITES[:30]), (counted, nothing_happened,
        checks.paired_rightly, checks.calm), cm=False, both=True),
    Row("equal_psns_duplex", many(6, WRITES[:30], WRITES[:30]), (counted,
        nothing_happened, checks.paired_rightly, checks.calm), cm=False, both=True),
    # Linux derives the source port of both directions from both QPNs.
    Row("equal_psns_told_by_port", many(6, WRITES[:30], WRITES[:30]), (checks.paired,),
        cm=False, both=True),
    Row("equal_psns_loss", many(8, WRITES[:40]), (counted, precise, no_duplicates,
        checks.paired_rightly), forward(loss=0.01), cm=False, seeds=1, happens="lost"),
    Row("equal_psns_cm", many(6, WRITES[:30], WRITES[:30]), CLEAN, both=True),
    Row("near_psns_loss", many(4, WRITES[:60], start=0x7000, step=32), (counted, precise,
        no_duplicates, checks.paired_rightly), forward(loss=0.01), cm=False,
        happens="lost"),

    # identification: a counter for each queue pair, or one that several share
    Row("loss_ident_per_qp", (pair(WRITES),), LOSS, forward(loss=0.01),
        hosts=hosts("rising_per_qp"), seeds=2, happens="lost"),
    Row("loss_ident_shared", many(4, WRITES[:60], step=0x10000), LOSS,
        forward(loss=0.007), seeds=2, happens="lost"),
    Row("reorder_ident_shared", many(4, WRITES[:60], step=0x10000),
        (wire, rounds, late_requests, no_duplicates), forward(reorder=0.003), seeds=2,
        happens="reordered"),

    # spoilt, or not captured
    Row("corrupt", (pair(WRITES),), (wire, rounds, no_duplicates, corrupt_requests),
        forward(corrupt=0.01), seeds=3, happens="corrupt"),
    Row("capture_drops", (pair(WRITES),), (counted, missed_by_capture),
        points=points(drop=0.01), seeds=2, happens="not_captured"),
    Row("capture_drops_5_percent", (pair(WRITES),), (counted, missed_by_capture),
        points=points(drop=0.05), seeds=1, happens="not_captured"),
    Row("capture_drops_bursts", (pair(WRITES),), (counted, missed_by_capture),
        points=points(DropBursts(300, 12)), seeds=1, happens="not_captured"),
    Row("capture_drops_read", (pair(READS),), (counted, missed_by_capture),
        points=points(drop=0.01), seeds=2, happens="not_captured"),
    Row("capture_drops_and_loss", (pair(WRITES),), (counted, precise), forward(loss=0.01),
        points=points(drop=0.01), seeds=2, happens="not_captured"),
    Row("capture_drops_selective", (selective(WRITES),), (counted, precise), forward(loss=0.01),
        points=points(drop=0.01), seeds=2, happens="not_captured"),

    # captures that are not as they should be
    Row("stamps_step_back", (pair(WRITES),), (*LOSS, checks.stamps_step_back),
        forward(loss=0.01), points=points(StepsBack()), seeds=2, happens="steps_back"),
    Row("clock_set_back", (pair(WRITES),), (*LOSS, checks.stamps_step_back),
        forward(loss=0.01), points=points(Clock(set_back_ns=5_000_000)),
        happens="steps_back"),
    Row("clock_drifts", (pair(WRITES),), LOSS, forward(loss=0.01),
        points=points(Clock(offset_ns=-10**9, drift_ppb=200_000)), happens="lost"),
    Row("stamps_in_bunches", (pair(WRITES),), LOSS, forward(loss=0.01),
        points=points(Bunch()), seeds=2, happens="lost"),
    Row("stamps_in_bunches_clean", (pair(MIXED, MIXED),), CLEAN, both=True,
        points=points(Bunch())),
    Row("merged_queues", (pair(WRITES),),
        (wire, nothing_lost, no_duplicates, checks.whole, checks.calm),
        points=points(MergedQueues(16)), happens="moved"),
    Row("merged_queues_duplex", (pair(MIXED, MIXED),),
        (wire, nothing_lost, no_duplicates, checks.whole, checks.calm),
        points=points(MergedQueues(16)), both=True, happens="moved"),
    # Each direction in a queue of its own: an ACK may stand before what it covers.
    Row("merged_queues_flows", (pair(MIXED, MIXED),), (*CLEAN, checks.whole),
        points=points(MergedQueues(64, by="flow")), both=True, happens="moved"),
    Row("merged_queues_loss", (pair(WRITES),), (wire, precise, no_duplicates),
        forward(loss=0.01), points=points(MergedQueues(16)), happens="moved"),
    Row("merged_directions_loss", (pair(WRITES),), LOSS, forward(loss=0.01),
        points=points(MergedQueues(64, by="direction")), happens="lost"),
    Row("mirror_twice", (pair(MIXED, MIXED),), (*CLEAN, checks.delivered_twice),
        points=points(DeliverTwice()), both=True, happens="capture_duplicates"),
    Row("mirror_twice_loss", (pair(WRITES),), (*LOSS, checks.delivered_twice),
        forward(loss=0.01), points=points(DeliverTwice()), happens="capture_duplicates"),
    Row("mirror_nearly_twice", (pair(WRITES),), (*CLEAN, checks.delivered_twice),
        points=points(DeliverTwice(share=0.98)), happens="capture_duplicates"),
    Row("mirror_twice_constant", (pair(WRITES),), (*CLEAN, checks.delivered_twice),
        points=points(DeliverTwice()), hosts=hosts("constant"),
        happens="capture_duplicates"),
    # Without the ICRC what comes behind them tells.
    Row("psns_damaged_write", (pair(WRITES),), (checks.psns_damaged,),
        points=points(DamagePsns()), seeds=3, happens="psns_damaged"),
    Row("psns_damaged_constant", (pair(WRITES),), (checks.psns_damaged,),
        points=points(DamagePsns()), hosts=hosts("constant"), happens="psns_damaged"),
    Row("psns_damaged_read", (pair(READS),), (checks.psns_damaged,),
        points=points(DamagePsns()), seeds=3, happens="psns_damaged"),
    Row("psns_damaged_loss", (pair(WRITES),), (checks.psns_damaged_amid_losses,),
        forward(loss=0.01), points=points(DamagePsns()), seeds=2, happens="psns_damaged"),
    # Of some flows one direction passes here, of some both, of some none.
    Row("one_spine_flows", many(8, WRITES[:30], step=0x10000),
        (counted, nothing_happened, checks.paired_rightly, checks.calm), cm=False,
        points=points(PartialPath(ways=2)), both=True, happens="dropped"),
    Row("one_spine_packets", (pair(WRITES),), (counted, checks.partial),
        points=points(PartialPath(ways=2, by="packet")), happens="dropped"),
    Row("one_spine_packets_loss", (pair(WRITES),), (counted, precise), forward(loss=0.005),
        points=points(PartialPath(ways=2, by="packet")), happens="dropped"),
    Row("erspan_ii", (pair(WRITES),), LOSS, forward(loss=0.01),
        points=points(Encapsulate("erspan_ii")), happens="lost"),
    Row("erspan_iii", (pair(WRITES),), LOSS, forward(loss=0.01),
        points=points(Encapsulate("erspan_iii")), happens="lost"),
    Row("vxlan", (pair(WRITES),), LOSS, forward(loss=0.01),
        points=points(Encapsulate("vxlan")), happens="lost"),
    Row("bond_flows", many(4, WRITES[:60], step=0x10000), LOSS, forward(loss=0.007),
        points=points(BondMembers("flow"), parts="interfaces"), happens="lost"),
    Row("bond_packets", (pair(WRITES),), (wire, precise, no_duplicates),
        forward(loss=0.01), points=points(BondMembers("packet"), parts="interfaces"),
        happens="lost"),
    Row("direction_interfaces", (pair(WRITES),), LOSS, forward(loss=0.01),
        points=points(OnePerDirection(), parts="interfaces"), happens="lost"),
    Row("direction_files", (pair(WRITES),), LOSS, forward(loss=0.01),
        points=points(OnePerDirection()), happens="lost"),
)

_SELECTIVE = "a single packet sent again, with new ones behind it, is read as a new run"

# Rows that fail today: name -> why.
KNOWN = {
    "rough_duplex": "READ answers to duplicated requests open gaps where nothing is lost",
    "rough_selective": _SELECTIVE,
    "loss_duplex": "a response lost once is counted twice after a second re-issued READ",
    "selective_loss": _SELECTIVE,
    "selective_loss_heavy": _SELECTIVE,
    "selective_loss_nak": "two timeouts, one after the other, are one round",
    "selective_loss_send": _SELECTIVE,
    "selective_loss_constant": _SELECTIVE,
    "selective_loss_ipv6": _SELECTIVE,
    "stamps_step_back": "one packet that a NAK asked for is not told",
    **{f"out_of_order_sprayed_{name}": "before the first acknowledgement nobody knows what the "
       "other side says: late packets are taken for sent again"
       for name in ("ipv6", "constant", "random")},
    "out_of_order_loss": _SELECTIVE,
    "one_spine_packets_loss": "losses are told although half of the packets go elsewhere",
}
