#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""However a packet was carried and captured, the plugin says of it what the report says:
in tunnels and mirrors, behind VLAN tags and cooked headers, as IP alone, with options and
extension headers, as RoCEv1; and what is no packet of its own, it takes for none.

    tests/agreement/test_carried.py              each way with one sample
    tests/agreement/test_carried.py --all        each with all of them: minutes
    tests/agreement/test_carried.py WAY...
    tests/agreement/test_carried.py --list
"""

import dataclasses
import ipaddress
import random
import struct
import sys
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
# The simulator's come before the plugin's, which has a checks.py as well.
sys.path[:0] = [str(TESTS / name) for name in ("agreement", "sim", "plugin")]

import artefacts  # noqa: E402
import batch  # noqa: E402
import roce  # noqa: E402
import tunnels  # noqa: E402
from test_tunnels import read_capture  # noqa: E402

SAMPLES = ("03a_loss_data_0.5pct/receiver", "05a_rnr/sender", "02k_allops/receiver",
           "06a_ecn_netem/receiver", "02g_ipv6/sender", "03d_loss_read_resp/receiver")
FCS_OF_4_BYTES = 2 << 28 | 1 << 26  # of a classic file's link type


@dataclasses.dataclass(frozen=True)
class Way:
    """`carry(records)`: what comes of them; records are (time in ns, frame).  `arguments`
    are what tshark has to be told about it; the link's speed makes a pcapng file."""
    name: str
    carry: object
    link_type: int = roce.LINKTYPE_ETHERNET
    arguments: tuple = ()
    speed_bps: int = 0


def each(wrap):
    """wrap(frame, n) gives the frames that carry it: one, several, or none."""
    return lambda records: [(time_ns, frame) for n, (time_ns, one) in enumerate(records)
                            for frame in wrap(one, n)]


# --- one by one ----------------------------------------------------------------------


def in_tunnel(kind):
    return each(lambda frame, n: [kind.wrap(frame, n)])


def ip_alone(wrap):
    """wrap(packet, ethertype, source MAC) of what is IP; all else is left out."""
    def carry(frame, _n):
        packet, kind = tunnels.network_of(frame)
        return [] if packet is None else [wrap(packet, kind, frame[6:12])]
    return each(carry)


def cooked(make):
    """What hosts with an odd address send, the capture's own host sent."""
    return ip_alone(lambda packet, kind, mac: make(
        packet, ethertype=kind, address=mac,
        packet_type=roce.COOKED_FROM_US if mac[-1] & 1 else roce.COOKED_TO_US))


def loopback(order, ipv6):
    """BSD's: an address family in a byte order (of struct) in front of IP, that of IPv6 as
    some system has it."""
    return ip_alone(lambda packet, kind, mac: struct.pack(
        order + "I", ipv6 if kind == roce.ETHERTYPE_IPV6 else 2) + packet)


def ppp(front, ipv4=b"\x00\x21", ipv6=b"\x00\x57"):
    """Behind that, and a protocol of PPP or a type of Ethernet's."""
    return ip_alone(lambda packet, kind, mac: front + (
        ipv6 if kind == roce.ETHERTYPE_IPV6 else ipv4) + packet)


def tagged(*vlans):
    tags = b"".join(struct.pack(">HH", v.tpid, v.pcp << 13 | v.vid) for v in vlans)
    return each(lambda frame, _n: [frame[:12] + tags + frame[12:]])


def parts_of(packet):
    """Of RoCEv2: what it takes to make it anew, as roce.Ip, UDP port and transport; or
    None."""
    four = packet[0] >> 4 == 4
    rest = packet[20:] if four else packet[40:]
    if packet[9 if four else 6] != roce.IPPROTO_UDP or rest[2:4] != PORT:
        return None
    size = 4 if four else 16
    ends = [str(ipaddress.ip_address(packet[at:at + size]))
            for at in ((12, 16) if four else (8, 24))]
    tos = packet[1] if four else (packet[0] & 15) << 4 | packet[1] >> 4
    ident = int.from_bytes(packet[4:6], "big") if four else 0
    return (roce.Ip(*ends, tos=tos, ident=ident), int.from_bytes(rest[:2], "big"),
            rest[8:-4])


def anew(make):
    """RoCE with other headers, and an ICRC that fits: make(ip, port, transport) gives
    what stands behind the MAC addresses.  All else is left out."""
    def carry(frame, _n):
        packet, _ = tunnels.network_of(frame)
        parts = parts_of(packet) if packet is not None else None
        return [] if parts is None else [frame[:12] + body for body in make(*parts)]
    return each(carry)


def to_ipv6(ip, **more):
    src, dst = (a if ":" in a else f"fd00::{a}" for a in (ip.src, ip.dst))
    return roce.Ip(src, dst, tos=ip.tos, **more)


def to_ipv4(ip, **more):
    src, dst = (a if ":" not in a else "10.6.0." + a[-1] for a in (ip.src, ip.dst))
    return dataclasses.replace(ip, src=src, dst=dst, **more)


def ethertype(number, packet):
    return struct.pack(">H", number) + packet


def with_options(ip, port, transport):
    ip = to_ipv4(ip, options=b"\x94\x04\0\0")
    return [ethertype(roce.ETHERTYPE_IPV4, roce.rocev2(ip, port, transport))]


def with_extensions(*extensions):
    return lambda ip, port, transport: [ethertype(roce.ETHERTYPE_IPV6, roce.rocev2(
        to_ipv6(ip, extensions=extensions), port, transport))]


def as_v1(ip, _port, transport):
    return [ethertype(roce.ETHERTYPE_ROCEV1, roce.rocev1(to_ipv6(ip), transport))]


def as_v1_in_vlan(*parts):
    return [ethertype(roce.ETHERTYPE_VLAN, b"\x60\x64" + body) for body in as_v1(*parts)]


def fragmented(ip, port, transport):
    """Whoever carries more than 200 bytes comes in two parts; nobody tracks those."""
    packet = roce.rocev2(to_ipv4(ip), port, transport)
    if len(packet) <= 200:
        return [ethertype(roce.ETHERTYPE_IPV4, packet)]
    parts = ((packet[20:164], {"more_fragments": True}), (packet[164:], {"fragment_offset": 18}))
    return [ethertype(roce.ETHERTYPE_IPV4, to_ipv4(
        ip, dont_fragment=False, **how).wrap(roce.IPPROTO_UDP, body)) for body, how in parts]


# --- with other traffic --------------------------------------------------------------


def with_errors(frame, _n):
    """Behind each packet an ICMP error that quotes it, from a router."""
    packet, kind = tunnels.network_of(frame)
    if kind != roce.ETHERTYPE_IPV4:
        return [frame]
    router = roce.Ip("192.0.2.9", str(ipaddress.ip_address(packet[12:16])))
    body = b"\3\4\0\0\0\0\4\0" + packet[:400]
    return [frame, frame[6:12] + frame[:6] + ethertype(kind, router.wrap(1, body))]


def with_stranger_last(records):
    """Behind the last packet comes one of somebody else, and time goes on with it."""
    stranger = roce.ethernet(roce.Ip("192.0.2.1", "192.0.2.2").wrap(
        roce.IPPROTO_UDP, roce.udp(9, 9, bytes(20))))
    return [*records, (records[-1][0] + 100_000, stranger)]


def by_artefact(artefact):
    def carry(records):
        records = [artefacts.Record(time_ns, frame, len(frame))
                   for time_ns, frame in records]
        changed, _ = artefact(records, random.Random(1))
        return [(r.time_ns, r.frame) for r in changed]
    return carry


def with_open_pause(records):
    """Of 336 us; the capture ends before it."""
    return [*records, (records[-1][0], roce.pfc({3: 0xffff}))]


def in_turn(*steps):
    def carry(records):
        for step in steps:
            records = step(records)
        return records
    return carry


# --- the table -----------------------------------------------------------------------

PORT = struct.pack(">H", roce.ROCE_PORT)
PADDING = roce.ipv6_padding()
# Kinds that Wireshark has to be told of, and those that it cannot look into.
TOLD = {"pseudowire": ("-d", "mpls.label==16,pwethcw")}
UNKNOWN = {"spectrum", "own_type"}

WAYS = {way.name: way for way in (
    Way("plain", each(lambda frame, n: [frame])),
    Way("vlan", tagged(roce.Vlan(100, pcp=3))),
    Way("vlan_in_vlan", tagged(roce.Vlan(7, tpid=roce.ETHERTYPE_QINQ), roce.Vlan(100))),
    Way("cooked_1", cooked(roce.sll), roce.LINKTYPE_SLL),
    Way("cooked_2", cooked(roce.sll2), roce.LINKTYPE_SLL2),
    Way("raw", ip_alone(lambda packet, kind, mac: packet), roce.LINKTYPE_RAW),
    Way("null_little", loopback("<", 30), roce.LINKTYPE_NULL),
    Way("null_big", loopback(">", 28), roce.LINKTYPE_NULL),
    Way("null_ipv6", in_turn(anew(with_extensions()), loopback("<", 24)),
        roce.LINKTYPE_NULL),
    Way("loop", loopback(">", 24), roce.LINKTYPE_LOOP),
    Way("ppp", ppp(b""), roce.LINKTYPE_PPP),
    Way("ppp_hdlc_like", ppp(b"\xff\x03"), roce.LINKTYPE_PPP),
    Way("ppp_hdlc", ppp(b"\xff\x03"), roce.LINKTYPE_PPP_HDLC),
    Way("ppp_short_protocol", ppp(b"\xff\x03", b"\x21", b"\x57"), roce.LINKTYPE_PPP_HDLC),
    Way("cisco_hdlc", ppp(b"\x0f\x00", b"\x08\x00", b"\x86\xdd"), roce.LINKTYPE_PPP_HDLC),
    Way("ppp_ipv6", in_turn(anew(with_extensions()), ppp(b"\xff\x03")), roce.LINKTYPE_PPP),
    Way("with_fcs", each(lambda frame, n: [frame + b"\xfc\x5f\xc5\xfc"]),
        roce.LINKTYPE_ETHERNET | FCS_OF_4_BYTES),
    Way("ip_options", anew(with_options)),
    Way("ipv6", anew(with_extensions())),
    Way("ipv6_extensions", anew(with_extensions(
        (roce.IPV6_HOP_BY_HOP, PADDING), (roce.IPV6_DESTINATION, PADDING)))),
    Way("ipv6_atomic_fragment", anew(with_extensions(roce.ipv6_fragment()))),
    Way("v1", anew(as_v1)),
    Way("v1_in_vlan", anew(as_v1_in_vlan)),
    Way("fragments", anew(fragmented)),
    Way("icmp_errors", each(with_errors)),
    *(Way(kind.name, in_tunnel(kind), arguments=TOLD.get(kind.name, ()))
      for kind in tunnels.KINDS if kind.name not in UNKNOWN),
    *(Way(f"stranger_{name}", in_turn(
        by_artefact(artefact), with_open_pause, with_stranger_last), speed_bps=100 * 10**9)
      for name, artefact in (("merged", artefacts.MergedQueues(16)),
                             ("twice", artefacts.DeliverTwice()))),
)}


# --- captures ------------------------------------------------------------------------


def captures_of(job):
    name, sample = job
    way = WAYS[name]
    out = roce.Pcap(link_type=way.link_type)
    if way.speed_bps:
        out = roce.Pcapng((roce.Interface(way.link_type, speed_bps=way.speed_bps),))
    for time_ns, frame in way.carry(read_capture(sample)):
        out.add(time_ns, frame)
    return {f"{name}-{sample.replace('/', '-')}": (out.bytes(), way.arguments)}


def jobs_of(arguments):
    if not arguments:
        return [(name, SAMPLES[i % len(SAMPLES)]) for i, name in enumerate(WAYS)]
    wanted = WAYS if arguments == ["--all"] else arguments
    return [(name, sample) for name in wanted for sample in SAMPLES]


def main(arguments):
    if arguments == ["--list"]:
        print("\n".join(WAYS))
        return 0
    return batch.run(jobs_of(arguments), captures_of)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
