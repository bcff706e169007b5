# SPDX-License-Identifier: GPL-2.0-or-later
"""Headers of tunnels and mirrors around a frame, byte by byte, for tests.

As roce.py it shares no code with the analyzer.  A kind of KINDS makes of a frame (an
Ethernet frame, bytes) and its number the frame that carries it.  Sources: RFC 2784, 2890
(GRE), 7348 (VXLAN), 8926 (Geneve), 7637 (NVGRE), 3032 (MPLS), draft-foschiano-erspan-03.
"""

import dataclasses
import struct

import roce

IPPROTO_IPIP, IPPROTO_IPV6, IPPROTO_GRE = 4, 41, 47
PORT_VXLAN, PORT_GPE, PORT_GENEVE = 4789, 4790, 6081
ETHERTYPE_MPLS = 0x8847
GRE_BRIDGING, GRE_ERSPAN, GRE_ERSPAN3, GRE_SPECTRUM = 0x6558, 0x88BE, 0x22EB, 0x8949
OUTER_MACS = {"src": roce.mac("02:00:00:00:0f:01"), "dst": roce.mac("02:00:00:00:0f:02")}
OUTER4 = roce.Ip("192.0.2.1", "192.0.2.2", tos=10 << 2)
OUTER6 = roce.Ip("fc00::1", "fc00::2", tos=10 << 2)


# --- headers -------------------------------------------------------------------------


def gre(protocol, payload, *, checksum=None, key=None, sequence=None):
    flags, fields = 0, b""
    if checksum is not None:
        flags, fields = flags | 0x8000, fields + struct.pack(">HH", checksum, 0)
    if key is not None:
        flags, fields = flags | 0x2000, fields + struct.pack(">I", key)
    if sequence is not None:
        flags, fields = flags | 0x1000, fields + struct.pack(">I", sequence)
    return struct.pack(">HH", flags, protocol) + fields + payload


def erspan2(frame, *, session=0x155, vlan=0, cos=0, encapsulation=3, truncated=False,
            index=0):
    return struct.pack(">HHI", 1 << 12 | vlan,
                       cos << 13 | encapsulation << 11 | truncated << 10 | session,
                       index) + frame


def erspan3(frame, *, session=0x155, truncated=False, time=0, frame_type=0, hardware=0,
            egress=False, granularity=2, subheader=None):
    flags = (1 << 15 | frame_type << 10 | hardware << 4 | egress << 3 | granularity << 1
             | (subheader is not None))
    return struct.pack(">HHIHH", 2 << 12, truncated << 10 | session, time & 0xFFFFFFFF, 0,
                       flags) + (subheader or b"") + frame


def vxlan(vni, payload):
    return struct.pack(">II", 0x08 << 24, vni << 8) + payload


def gpe(vni, protocol, payload):
    """`protocol`: 1 IPv4, 2 IPv6, 3 Ethernet."""
    return struct.pack(">II", 0x0C << 24 | protocol, vni << 8) + payload


def geneve(vni, protocol, payload, options=b""):
    return struct.pack(">BBHI", len(options) // 4, 0, protocol, vni << 8) + options + payload


def mpls(labels, payload):
    last = len(labels) - 1
    return b"".join(struct.pack(">I", label << 12 | (i == last) << 8 | 64)
                    for i, label in enumerate(labels)) + payload


# --- carrying ------------------------------------------------------------------------


def carry(protocol, payload, ip=OUTER4, vlans=()):
    return roce.ethernet(ip.wrap(protocol, payload), vlans=vlans, **OUTER_MACS)


def carry_udp(port, payload, ip=OUTER4):
    return carry(roce.IPPROTO_UDP, roce.udp(50000, port, payload), ip,
                 vlans=(roce.Vlan(7, pcp=5),))


def network_of(frame):
    """The IP packet in a frame and its ethertype, or (None, None) where there is none."""
    at = 12
    while frame[at:at + 2] == b"\x81\x00":
        at += 4
    kind = int.from_bytes(frame[at:at + 2], "big")
    if kind not in (roce.ETHERTYPE_IPV4, roce.ETHERTYPE_IPV6):
        return None, None
    return frame[at + 2:], kind


def _bare(wrap):
    """A kind that carries IP without Ethernet; what is not IP stays as it is."""
    def carry_packet(frame, n):
        packet, kind = network_of(frame)
        return frame if packet is None else wrap(packet, kind, n)
    return carry_packet


def _ip_in(ip):
    def wrap(packet, kind, _n):
        inner = IPPROTO_IPIP if kind == roce.ETHERTYPE_IPV4 else IPPROTO_IPV6
        return carry(inner, packet, ip)
    return _bare(wrap)


@dataclasses.dataclass(frozen=True)
class Kind:
    """`tenant` as the report has it; `bare`: the inner Ethernet header is not carried;
    `mirror`: the wire bytes of what it carries do not change."""
    name: str
    wrap: object
    tenant: dict = None
    bare: bool = False
    mirror: bool = False


def _tenant(name):
    return {"kind": name, "id": 5000}


def _mirror(name, protocol, make=lambda frame, n: frame, ip=OUTER4, **fields):
    def wrap(frame, n):
        values = {k: v(n) if callable(v) else v for k, v in fields.items()}
        return carry(IPPROTO_GRE, gre(protocol, make(frame, n), **values), ip)
    return Kind(name, wrap, mirror=True)


KINDS = (
    _mirror("erspan_i", GRE_ERSPAN),
    _mirror("erspan_i_ipv6", GRE_ERSPAN, ip=OUTER6),
    _mirror("erspan_ii", GRE_ERSPAN, lambda f, n: erspan2(f, index=n & 0xFFFFF),
            sequence=lambda n: n),
    _mirror("erspan_ii_fcs", GRE_ERSPAN, lambda f, n: erspan2(f) + b"\xfc\x5f\xc5\xfc",
            sequence=lambda n: n),
    _mirror("erspan_ii_ipv6", GRE_ERSPAN, lambda f, n: erspan2(f), sequence=lambda n: n,
            ip=OUTER6),
    _mirror("erspan_iii", GRE_ERSPAN3, lambda f, n: erspan3(f, time=n, egress=True),
            sequence=lambda n: n),
    # A session of both directions of a port: what one host sends enters there.
    _mirror("erspan_iii_both", GRE_ERSPAN3,
            lambda f, n: erspan3(f, time=n, egress=f[6:12] < f[:6]), sequence=lambda n: n),
    _mirror("erspan_iii_subheader", GRE_ERSPAN3,
            lambda f, n: erspan3(f, subheader=struct.pack(">II", 3 << 26 | n & 0x3FFF, n)),
            sequence=lambda n: n),
    _mirror("spectrum", GRE_SPECTRUM, lambda f, n: bytes(22) + f),
    _mirror("bridged", GRE_BRIDGING),
    _mirror("own_type", 0x1234, key=lambda n: n),
    Kind("vxlan", lambda f, n: carry_udp(PORT_VXLAN, vxlan(5000, f)), _tenant("vxlan")),
    Kind("vxlan_ipv6", lambda f, n: carry_udp(PORT_VXLAN, vxlan(5000, f), OUTER6),
         _tenant("vxlan")),
    Kind("gpe", lambda f, n: carry_udp(PORT_GPE, gpe(5000, 3, f)), _tenant("vxlan")),
    Kind("geneve", lambda f, n: carry_udp(
        PORT_GENEVE, geneve(5000, GRE_BRIDGING, f, b"\x01\x02\x80\x01opt.")),
         _tenant("geneve")),
    Kind("nvgre", lambda f, n: carry(IPPROTO_GRE, gre(GRE_BRIDGING, f,
                                                      key=5000 << 8 | n & 0xFF)),
         _tenant("nvgre")),
    Kind("gre", _bare(lambda p, kind, n: carry(IPPROTO_GRE, gre(kind, p))), bare=True),
    Kind("gre_all", _bare(lambda p, kind, n: carry(
        IPPROTO_GRE, gre(kind, p, checksum=0xBEEF, key=9, sequence=n))), bare=True),
    Kind("ip_in_ip", _ip_in(OUTER4), bare=True),
    Kind("ip_in_ipv6", _ip_in(OUTER6), bare=True),
    Kind("mpls", _bare(lambda p, kind, n: roce.ethernet(
        mpls((16, 17), p), ethertype=ETHERTYPE_MPLS, **OUTER_MACS)), bare=True),
    Kind("pseudowire", lambda f, n: roce.ethernet(
        mpls((16,), struct.pack(">I", n & 0xFFFF) + f), ethertype=ETHERTYPE_MPLS,
        **OUTER_MACS)),
    Kind("vxlan_in_erspan_ii", lambda f, n: carry(
        IPPROTO_GRE, gre(GRE_ERSPAN, erspan2(carry_udp(PORT_VXLAN, vxlan(5000, f))),
                         sequence=n)), _tenant("vxlan")),
)
