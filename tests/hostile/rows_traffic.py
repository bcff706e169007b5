# SPDX-License-Identifier: GPL-2.0-or-later
"""Hostile traffic: each row makes its packets, and knows what the report has to say.

`most_mib` is promised in docs/limits.md for as many packets as stand there.
"""

import random
import struct

import roce
from bounded import equal
from hostile_rows import Rows
from traffic import Template

A, B = "10.0.0.1", "10.0.0.2"
RESTART_GAP = (1 << 23) - 1      # the widest that still is one, forwards
ROWS = Rows()


def row(what, n, most_mib):
    """What it registers gives about n frames, `truth(report, frames)` asserts."""
    return ROWS.of(what, n=n, most_mib=most_mib)


def streams_of(report):
    return len(report["streams"]) + report["streams_omitted"]


def all_counted(report, frames, n_streams):
    capture = report["capture"]
    equal("packets", (capture["packets"], capture["roce_packets"]), (len(frames),) * 2)
    equal("malformed", capture["malformed_packets"], 0)
    equal("streams", streams_of(report), n_streams)
    equal("bad ICRC", report["totals"]["icrc"]["bad"], 0)


def host(i):
    return f"10.{i >> 16 & 255}.{i >> 8 & 255}.{i & 255}"


def mac(i):
    return struct.pack(">HI", 0x0200, i)


def requests(**more):
    return Template("RC SEND Only", payload=b"abcd", **more)


# --- queue pairs ---------------------------------------------------------------------


@row("a queue pair for each packet", 30_000, 160)
def queue_pairs(n):
    send = requests()
    return [send.frame(0x100 + i, 7 * i) for i in range(n)]


@queue_pairs.truth
def _(report, frames):
    all_counted(report, frames, len(frames))
    equal("requests", report["totals"]["requests"]["packets"], len(frames))


@row("a sender for each packet, all to one receiver", 12_000, 128)
def senders(n):
    return [roce.ethernet(roce.rocev2(
        roce.Ip(host(i), "10.200.0.1", ident=i), i & 0xFFFF,
        roce.transport(roce.OPCODE["RC SEND Only"], dest_qpn=5, psn=i, payload=b"abcd")),
        src=mac(i)) for i in range(n)]


@senders.truth
def _(report, frames):
    all_counted(report, frames, len(frames))


@row("a CNP for a queue pair of its own in each packet", 12_000, 64)
def cnps(n):
    return [roce.ethernet(roce.cnp(roce.Ip(host(i), "10.200.0.1"), i & 0xFFFF, i))
            for i in range(n)]


@cnps.truth
def _(report, frames):
    equal("CNPs", report["capture"]["cnp_packets"], len(frames))
    equal("CNP events", report["event_totals"]["cnp"], len(frames))


@row("one stream with a source port and DSCP for each packet", 20_000, 64)
def source_ports(n):
    return [requests(src_port=i & 0xFFFF, tos=i & 0xFC).frame(0x11, i) for i in range(n)]


@source_ports.truth
def _(report, frames):
    all_counted(report, frames, 1)
    equal("missing", report["totals"]["requests"]["missing_psns"], 0)


# --- sequence numbers ----------------------------------------------------------------


@row("PSNs that jump by 2^23 - 1 at each packet", 40_000, 64)
def psn_jumps(n):
    write = Template("RC RDMA WRITE Only", headers=roce.reth(0, 1, 4), payload=b"abcd")
    return [write.frame(0x11, i * RESTART_GAP) for i in range(n)]


@psn_jumps.truth
def _(report, frames):
    """A jump that wide is no loss: the queue pair began anew."""
    all_counted(report, frames, 1)
    equal("restarts", report["event_totals"]["stream_restart"], len(frames) - 1)
    equal("gaps", report["totals"]["requests"]["gaps"], 0)


@row("every other PSN missing", 40_000, 64)
def every_other(n):
    send = requests()
    return [send.frame(0x11, 2 * i) for i in range(n)]


@every_other.truth
def _(report, frames):
    all_counted(report, frames, 1)
    n, sent = len(frames), report["totals"]["requests"]
    equal("gaps and missing PSNs", (sent["gaps"], sent["missing_psns"]), (n - 1, n - 1))
    told = any(f["id"].startswith("tables_full") for f in report["findings"])
    equal("evictions are told", told, report["event_totals"].get("evicted", 0) > 0)
    assert told or n < 10_000, "nothing was evicted"


@row("PSNs at random", 40_000, 64)
def psn_random(n):
    send, draw = requests(), random.Random(2)
    return [send.frame(0x11, draw.randrange(1 << 24)) for _ in range(n)]


@psn_random.truth
def _(report, frames):
    all_counted(report, frames, 1)


@row("PSNs that only go down", 40_000, 64)
def psn_backwards(n):
    send = requests()
    return [send.frame(0x11, -i) for i in range(n)]


@psn_backwards.truth
def _(report, frames):
    all_counted(report, frames, 1)
    equal("missing", report["totals"]["requests"]["missing_psns"], 0)


@row("one packet again and again", 40_000, 64)
def repeated(n):
    return [requests().frame(0x11, 5)] * n


@repeated.truth
def _(report, frames):
    equal("packets", report["capture"]["packets"], len(frames))
    equal("copies", report["capture"]["capture_duplicates"]
          + report["totals"]["requests"]["duplicates"], len(frames) - 1)


THIRD = (1 << 24) // 3          # odd, so that no PSN comes twice


@row("READ requests of 4 GiB, a third of all PSNs apart", 40_000, 64)
def reads(n):
    ask = Template("RC RDMA READ Request", headers=roce.reth(0, 1, 0xFFFFFFFF))
    first = Template("RC RDMA READ Response First", src=B, dst=A,
                     headers=roce.aeth(roce.ACK_NO_CREDIT_LIMIT, 0), payload=bytes(256))
    more = Template("RC RDMA READ Response Middle", src=B, dst=A, payload=bytes(256))
    return [ask.frame(0x11, 0), first.frame(0x22, 0),
            *(more.frame(0x22, i) for i in range(1, 50)),
            *(ask.frame(0x11, i * THIRD) for i in range(n - 51))]


@reads.truth
def _(report, frames):
    all_counted(report, frames, 2)
    equal("lost requests", report["totals"]["losses"]["requests"]["lost_before_capture"], 0)
    assert report["totals"]["messages"]["bytes"] < len(frames) << 32


# --- acknowledgements ----------------------------------------------------------------


def ack(syndrome=roce.ACK_NO_CREDIT_LIMIT):
    return Template("RC Acknowledge", src=B, dst=A, headers=roce.aeth(syndrome, 0))


@row("one ACK again and again", 40_000, 64)
def ack_storm(n):
    return [requests(ack_request=True).frame(0x11, 0)] + [ack().frame(0x22, 0)] * (n - 1)


@ack_storm.truth
def _(report, frames):
    equal("packets", report["capture"]["packets"], len(frames))
    equal("streams", streams_of(report), 2)
    equal("retransmitted", report["totals"]["retransmissions"]["packets"], 0)


@row("ACKs of PSNs at random", 40_000, 64)
def acks_of_anything(n):
    send, answer, draw = requests(ack_request=True), ack(), random.Random(1)
    return [*(send.frame(0x11, i) for i in range(100)),
            *(answer.frame(0x22, draw.randrange(1 << 24)) for _ in range(n - 100))]


@acks_of_anything.truth
def _(report, frames):
    all_counted(report, frames, 2)
    equal("losses", sum(report["totals"]["losses"]["requests"].values()), 0)


@row("a pair of hosts for every six packets, each of which repeats in vain at the same time",
     12_000, 128)
def silent_pairs(n):
    """One that is answered, one that is sent three times before it is."""
    sends = [Template("RC SEND Only", src=host(2 * i), dst=host(2 * i + 1), payload=b"abcd",
                      ack_request=True) for i in range(n // 6)]
    answers = [Template("RC Acknowledge", src=host(2 * i + 1), dst=host(2 * i),
                        headers=roce.aeth(roce.ACK_NO_CREDIT_LIMIT, 0)) for i in range(n // 6)]
    again = [send.frame(0x11, 1000 * i + 1) for i, send in enumerate(sends)]
    return [*(frame for i, send in enumerate(sends) for frame in
              (send.frame(0x11, 1000 * i), answers[i].frame(0x22, 1000 * i))),
            *again, *again, *again,
            *(answer.frame(0x22, 1000 * i + 1) for i, answer in enumerate(answers))]


@silent_pairs.truth
def _(report, frames):
    n = len(frames) // 6
    all_counted(report, frames, 2 * n)
    equal("timeouts", report["totals"]["retransmissions"]["by_cause"]["timeout"], 2 * n)
    equal("outages", [f["kind"] for f in report["findings"]].count("outage"), 1)


@row("a NAK of a PSN at random after each request", 40_000, 64)
def nak_storm(n):
    send, refuse, draw = requests(), ack(roce.NAK_PSN_SEQUENCE), random.Random(1)
    return [frame for i in range(n // 2) for frame in
            (send.frame(0x11, i), refuse.frame(0x22, draw.randrange(i + 1)))]


@nak_storm.truth
def _(report, frames):
    """Some of them are the same packet once more."""
    equal("packets", report["capture"]["packets"], len(frames))
    n = len(frames) // 2
    assert 0.99 * n <= report["event_totals"]["nak"] <= n, report["event_totals"]
    assert sum(report["totals"]["losses"]["requests"].values()) <= n


# --- pauses --------------------------------------------------------------------------


@row("all priorities paused and never released, by 10,000 MAC addresses", 20_000, 64)
def pauses(n):
    return [roce.pfc({p: 0xFFFF for p in range(8)}, src=mac(i % 10_000))
            for i in range(n)]


@pauses.truth
def _(report, frames):
    equal("PFC frames", report["capture"]["pfc_frames"], len(frames))
    equal("sources kept", len(report["pauses"]), min(4096, 8 * len(set(frames))))
    ends = {i["end"] for p in report["pauses"] for i in p["intervals"]}
    assert ends <= {"capture_end", "expired", "xon"}, ends
    assert any(f["id"].startswith("tables_full") for f in report["findings"])
    equal("told", report["event_totals"]["evicted"] > 0, True)


def _mac_control(body, src=roce.MAC_A):
    return roce.MAC_PAUSE + src + b"\x88\x08" + body


@row("MAC control with every bit set", 4_000, 64)
def mac_control(n):
    kinds = (_mac_control(b"\x01\x01" + b"\xff" * 44),      # PFC, all classes, all times
             _mac_control(b"\x00\x01" + b"\xff" * 44),      # 802.3x
             _mac_control(b"\xff" * 46),                    # an opcode that nobody has
             _mac_control(b"\xff" * 46, src=b"\xff" * 6))
    return [kinds[i % 4] for i in range(n)]


@mac_control.truth
def _(report, frames):
    capture, n = report["capture"], len(frames) // 4
    equal("pauses", (capture["pfc_frames"], capture["pause_frames"]), (n, n))
    equal("others", capture["other_packets"], 2 * n)
    equal("still paused", sorted({p["intervals"][-1]["end"] for p in report["pauses"]}),
          ["capture_end"])
    equal("priorities", sorted(p["priority"] for p in report["pauses"]
                               if p["kind"] == "pfc"), list(range(8)))


# --- connection management -----------------------------------------------------------


def _managed(src, dst, message, i):
    return roce.ethernet(roce.rocev2(roce.Ip(src, dst, ident=i & 0xFFFF), 50000,
                                     roce.gsi(message, i)))


def _connect(i, a, b, qpn_a, qpn_b):
    """REQ, REP, RTU, and a packet of what they connected."""
    other = i + (1 << 28)
    yield _managed(a, b, roce.cm_req(i, comm_id=i, qpn=qpn_a, starting_psn=i), i)
    yield _managed(b, a, roce.cm_rep(i, comm_id=other, remote_comm_id=i, qpn=qpn_b,
                                     starting_psn=5), i)
    yield _managed(a, b, roce.cm_rtu(i, comm_id=i, remote_comm_id=other), i)
    yield roce.ethernet(roce.rocev2(
        roce.Ip(a, b, ident=i & 0xFFFF), 50000,
        roce.transport(roce.OPCODE["RC SEND Only"], dest_qpn=qpn_b, psn=i,
                       payload=b"abcd")))


@row("CM messages that connect a queue pair with itself", 8_000, 64)
def cm_with_itself(n):
    return [f for i in range(n // 4) for f in _connect(i, A, A, 0x11, 0x11)]


@cm_with_itself.truth
def _(report, frames):
    equal("packets", report["capture"]["roce_packets"], len(frames))
    equal("CM messages", report["event_totals"]["cm"], len(frames) // 4 * 3)


@row("CM messages that connect a queue pair with another one each time", 8_000, 64)
def cm_again(n):
    return [f for i in range(n // 4) for f in _connect(i, A, B, 0x11, 0x1000 + i)]


@cm_again.truth
def _(report, frames):
    equal("packets", report["capture"]["roce_packets"], len(frames))
    equal("CM messages", report["event_totals"]["cm"], len(frames) // 4 * 3)
    mine = [c for c in report["connections"] if 0x11 in (c["a"]["qpn"], c["b"]["qpn"])]
    assert len(mine) <= len(frames) // 4, len(mine)


@row("CM requests that nobody answers", 8_000, 64)
def cm_open(n):
    return [_managed(A, B, roce.cm_req(i, comm_id=i, qpn=i, starting_psn=i), i)
            for i in range(n)]


@cm_open.truth
def _(report, frames):
    equal("CM messages", report["event_totals"]["cm"], len(frames))
    equal("established", [c for c in report["connections"] if c["cm"]["established"]], [])
    equal("streams but QP 1's", [s for s in report["streams"] if s["dst_qpn"] != 1], [])


# --- headers -------------------------------------------------------------------------

N_NESTED = 60


def _inner(i):
    return roce.rocev2(roce.Ip(A, B, ident=i & 0xFFFF), 50000, roce.transport(
        roce.OPCODE["RC SEND Only"], dest_qpn=0x11, psn=i, payload=b"abcd"))


def _vxlan(packet):
    return roce.Ip(A, B).wrap(17, roce.udp(1, 4789, struct.pack(">II", 8 << 24, 5 << 8)
                                           + roce.ethernet(packet)))


def _ip_in_ip(packet):
    return roce.Ip(A, B).wrap(4, packet)


def _gre(packet):
    return roce.Ip(A, B).wrap(47, b"\0\0\x08\0" + packet)


def nested(packet, wrap, depth):
    for _ in range(depth):
        packet = wrap(packet)
    return packet


@row(f"tunnels in tunnels, {N_NESTED} deep", 3_000, 64)
def tunnels(n):
    wraps = (_vxlan, _ip_in_ip, _gre)
    return [roce.ethernet(nested(_inner(i), wraps[i % 3], N_NESTED)) for i in range(n)]


@tunnels.truth
def _(report, frames):
    """Beyond what is looked into nothing is seen, and nothing is called RoCE."""
    equal("packets", report["capture"]["packets"], len(frames))
    equal("RoCE", report["capture"]["roce_packets"], 0)
    equal("streams", report["streams"], [])


@row("headers to the limit: VLAN tags, MPLS labels, IPv6 extensions, IPv4 options", 3_000, 64)
def headers(n):
    extensions = ((roce.IPV6_DESTINATION, roce.ipv6_padding(254)),) * 200
    labels = struct.pack(">I", 5 << 12 | 64) * 300 + struct.pack(">I", 5 << 12 | 1 << 8 | 64)
    kinds = (
        lambda i: roce.ethernet(_inner(i), vlans=(roce.Vlan(7),) * 300),
        lambda i: roce.ethernet(labels + _inner(i), ethertype=0x8847),
        lambda i: roce.ethernet(roce.Ip("fd00::1", "fd00::2", extensions=extensions).wrap(
            17, roce.udp(1, 4791, bytes(40)))),
        lambda i: roce.ethernet(roce.rocev2(
            roce.Ip(A, B, ident=i & 0xFFFF, options=b"\x01" * 40), 50000, roce.transport(
                roce.OPCODE["RC SEND Only"], dest_qpn=0x11, psn=i // 4, payload=b"abcd"))))
    return [kinds[i % 4](i) for i in range(n)]


@headers.truth
def _(report, frames):
    """IPv4's options are in bounds and count; of the rest none is taken for RoCE."""
    equal("packets", report["capture"]["packets"], len(frames))
    equal("RoCE", report["capture"]["roce_packets"], len(frames) // 4)
    equal("missing", report["totals"]["requests"]["missing_psns"], 0)


@row("a port and switch of its own in each LLDP frame", 8_000, 64)
def lldp(n):
    return [roce.lldp(roce.dcb_pfc([3]), src=mac(i), port=f"p{i}", system=f"s{i}")
            for i in range(n)]


@lldp.truth
def _(report, frames):
    equal("packets", report["capture"]["packets"], len(frames))

