#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Packets and capture files, byte by byte, for tests.

Builds what the analyzer reads: link layers, IP, UDP, InfiniBand transport, PFC, CM, and
the files that hold them.  It shares no code with the analyzer on purpose: what both get
right was written twice.  Everything is bytes in and bytes out; nothing keeps state but
the two writers.

A RoCEv2 packet is made from the inside out:

    ib = transport(OPCODE["RC RDMA WRITE Only"], dest_qpn=0x11, psn=7,
                   headers=reth(0x1000, 0x55, 64), payload=bytes(64))
    ip = rocev2(Ip("10.0.0.1", "10.0.0.2", ident=1), 49152, ib)
    frame = ethernet(ip, vlans=[Vlan(100, pcp=3)])

Sources: IBTA Vol. 1, 9 (transport), 12 (CM), 13.4 (MAD), A14, A17, A19; IEEE 802.1Q,
802.3 annex 31B and D; RFC 791, 8200; pcap and pcapng (IETF opsawg drafts).
"""

import dataclasses
import functools
import gzip
import io
import ipaddress
import struct
import zlib

ROCE_PORT = 4791
ETHERTYPE_IPV4, ETHERTYPE_IPV6 = 0x0800, 0x86DD
ETHERTYPE_VLAN, ETHERTYPE_QINQ = 0x8100, 0x88A8
ETHERTYPE_MAC_CONTROL, ETHERTYPE_ROCEV1 = 0x8808, 0x8915
IPPROTO_UDP, IPPROTO_IBA = 17, 0x1B

LINKTYPE_ETHERNET, LINKTYPE_RAW, LINKTYPE_SLL = 1, 101, 113
LINKTYPE_IPV4, LINKTYPE_IPV6, LINKTYPE_SLL2 = 228, 229, 276
LINKTYPE_NULL, LINKTYPE_LOOP = 0, 108
LINKTYPE_PPP, LINKTYPE_PPP_HDLC = 9, 50

ECN_NOT_ECT, ECN_ECT1, ECN_ECT0, ECN_CE = 0, 1, 2, 3

# --- opcodes -------------------------------------------------------------------------

# Low five bits: what a reliable or unreliable connection does (IBTA table 38).
_OPERATIONS = {
    0x00: "SEND First", 0x01: "SEND Middle", 0x02: "SEND Last",
    0x03: "SEND Last with Immediate", 0x04: "SEND Only",
    0x05: "SEND Only with Immediate",
    0x06: "RDMA WRITE First", 0x07: "RDMA WRITE Middle", 0x08: "RDMA WRITE Last",
    0x09: "RDMA WRITE Last with Immediate", 0x0A: "RDMA WRITE Only",
    0x0B: "RDMA WRITE Only with Immediate",
    0x0C: "RDMA READ Request", 0x0D: "RDMA READ Response First",
    0x0E: "RDMA READ Response Middle", 0x0F: "RDMA READ Response Last",
    0x10: "RDMA READ Response Only", 0x11: "Acknowledge", 0x12: "ATOMIC Acknowledge",
    0x13: "CmpSwap", 0x14: "FetchAdd", 0x15: "RESYNC",
    0x16: "SEND Last with Invalidate", 0x17: "SEND Only with Invalidate",
    0x1C: "FLUSH", 0x1D: "ATOMIC WRITE",
}
_TRANSPORTS = {
    "RC": (0x00, [o for o in _OPERATIONS if o != 0x15]),
    "UC": (0x20, list(range(0x00, 0x0C))),
    "RD": (0x40, list(range(0x00, 0x16))),
    "UD": (0x60, [0x04, 0x05]),
    "XRC": (0xA0, [o for o in _OPERATIONS if o not in (0x15, 0x1C, 0x1D)]),
}
# "RC SEND First" -> 0x00 ... for every opcode that is defined.
OPCODE = {
    f"{name} {_OPERATIONS[low]}": base | low
    for name, (base, lows) in _TRANSPORTS.items() for low in lows
}
OPCODE["CNP"] = 0x81
OPCODE_NAME = {value: name for name, value in OPCODE.items()}

# --- link layers ---------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Vlan:
    vid: int
    pcp: int = 0
    dei: int = 0
    tpid: int = ETHERTYPE_VLAN


def mac(text):
    """02:00:00:00:01:01 -> six bytes."""
    return bytes(int(part, 16) for part in text.split(":"))


MAC_A, MAC_B = mac("02:00:00:00:01:01"), mac("02:00:00:00:01:02")


def _ethertype_of(payload):
    return ETHERTYPE_IPV6 if payload[:1] and payload[0] >> 4 == 6 else ETHERTYPE_IPV4


def ethernet(payload, *, src=MAC_A, dst=MAC_B, ethertype=None, vlans=()):
    """`vlans` outermost first; the ethertype of an IP packet is seen from its version."""
    if ethertype is None:
        ethertype = _ethertype_of(payload)
    tags = b"".join(
        struct.pack(">HH", v.tpid, v.pcp << 13 | v.dei << 12 | v.vid) for v in vlans)
    return dst + src + tags + struct.pack(">H", ethertype) + payload


# Packet types of cooked captures: to us, broadcast, multicast, to others, by us.
COOKED_TO_US, COOKED_FROM_US = 0, 4


def sll(payload, *, packet_type=COOKED_TO_US, address=MAC_A, ethertype=None):
    """Linux cooked capture v1 (LINKTYPE_SLL), 16 bytes."""
    return struct.pack(">HHH8sH", packet_type, 1, len(address), address,
                       ethertype or _ethertype_of(payload)) + payload


def sll2(payload, *, packet_type=COOKED_TO_US, address=MAC_A, ethertype=None,
         if_index=2):
    """Linux cooked capture v2 (LINKTYPE_SLL2), 20 bytes."""
    return struct.pack(">HHIHBB8s", ethertype or _ethertype_of(payload), 0, if_index, 1,
                       packet_type, len(address), address) + payload


# --- network layers ------------------------------------------------------------------


@functools.lru_cache
def _packed(address):
    return ipaddress.ip_address(address).packed


@dataclasses.dataclass(frozen=True)
class Ip:
    """An IPv4 or IPv6 header to be: which one, the addresses tell.

    `options` are IPv4's (padded to four bytes); `extensions` IPv6's, as a list of
    (type, bytes without the first two), see ipv6_fragment() for the odd one out.
    """
    src: str
    dst: str
    tos: int = 0              # DSCP << 2 | ECN; the traffic class of IPv6
    ttl: int = 64
    ident: int = 0
    dont_fragment: bool = True
    more_fragments: bool = False
    fragment_offset: int = 0  # in units of 8 bytes
    options: bytes = b""
    flow_label: int = 0
    extensions: tuple = ()
    checksum_xor: int = 0  # of IPv4

    def wrap(self, protocol, payload):
        if ":" in self.src:
            return self._wrap6(protocol, payload)
        options = self.options + bytes(-len(self.options) % 4)
        flags = (0x4000 * self.dont_fragment | 0x2000 * self.more_fragments
                 | self.fragment_offset)
        header = struct.pack(
            ">BBHHHBBH4s4s", 0x45 + len(options) // 4, self.tos,
            20 + len(options) + len(payload), self.ident & 0xFFFF, flags, self.ttl,
            protocol, 0, _packed(self.src), _packed(self.dst)) + options
        checksum = internet_checksum(header) ^ self.checksum_xor
        return header[:10] + struct.pack(">H", checksum) + header[12:] + payload

    def _wrap6(self, protocol, payload):
        for kind, body in reversed(self.extensions):
            if kind == IPV6_FRAGMENT:
                payload = bytes([protocol, 0]) + body + payload
            else:
                body = body + bytes(-(len(body) + 2) % 8)
                payload = bytes([protocol, (len(body) + 2) // 8 - 1]) + body + payload
            protocol = kind
        return struct.pack(
            ">IHBB16s16s", 6 << 28 | self.tos << 20 | self.flow_label, len(payload),
            protocol, self.ttl, _packed(self.src), _packed(self.dst)) + payload


IPV6_HOP_BY_HOP, IPV6_ROUTING, IPV6_FRAGMENT, IPV6_DESTINATION = 0, 43, 44, 60


def ipv6_padding(n_bytes=4):
    """A PadN option for a hop-by-hop or destination header, of n_bytes in all."""
    return bytes([1, n_bytes - 2]) + bytes(n_bytes - 2)


def ipv6_fragment(offset=0, more=False, ident=0):
    """The extension (IPV6_FRAGMENT, ...); `offset` in units of 8 bytes."""
    return IPV6_FRAGMENT, struct.pack(">HI", offset << 3 | more, ident)


@functools.lru_cache(4096)
def _packed(address):
    return ipaddress.ip_address(address).packed


def internet_checksum(data):
    """The Internet checksum, RFC 1071."""
    total = sum(struct.unpack(f">{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def udp(src_port, dst_port, payload, checksum=0):
    return struct.pack(">HHHH", src_port, dst_port, 8 + len(payload),
                       checksum) + payload


def entropy_port(qpn_a, qpn_b):
    """The UDP source port that Linux derives from a pair of QPNs when there is no flow
    label (rdma_flow_label_to_udp_sport(), rdma_calc_flow_label())."""
    v = qpn_a * qpn_b
    v ^= v >> 20
    v ^= v >> 40
    label = v & 0xFFFFF
    return (label & 0x3FFF) ^ ((label & 0xFC000) >> 14) | 0xC000


# --- InfiniBand transport ------------------------------------------------------------


def bth(opcode, *, dest_qpn, psn, solicited=False, migration=True, pad_bytes=0,
        version=0, p_key=0xFFFF, fecn=False, becn=False, ack_request=False):
    """Base Transport Header, 12 bytes (IBTA 9.2)."""
    return struct.pack(
        ">BBHII", opcode,
        0x80 * solicited | 0x40 * migration | pad_bytes << 4 | version, p_key,
        (0x80 * fecn | 0x40 * becn) << 24 | dest_qpn & 0xFFFFFF,
        (0x80 * ack_request) << 24 | psn & 0xFFFFFF)


def reth(address, r_key, length):
    return struct.pack(">QII", address, r_key, length)


def atomiceth(address, r_key, swap_add, compare=0):
    return struct.pack(">QIQQ", address, r_key, swap_add, compare)


def aeth(syndrome, msn):
    return struct.pack(">I", syndrome << 24 | msn & 0xFFFFFF)


def atomicack(original):
    return struct.pack(">Q", original)


def immdt(value):
    return struct.pack(">I", value)


def ieth(r_key):
    return struct.pack(">I", r_key)


def deth(q_key, src_qpn):
    return struct.pack(">II", q_key, src_qpn)


def rdeth(ee_context):
    return struct.pack(">I", ee_context)


def xrceth(srq):
    return struct.pack(">I", srq)


def feth(selectivity, placement):
    """FLUSH: selectivity (0 range, 1 whole region) and placement (1 visible, 2
    persistent), IBTA A19."""
    return struct.pack(">I", selectivity << 4 | placement)


# AETH syndromes (IBTA 9.7.5.1.1).
ACK_NO_CREDIT_LIMIT = 0x1F
NAK_PSN_SEQUENCE, NAK_INVALID_REQUEST = 0x60, 0x61
NAK_REMOTE_ACCESS, NAK_REMOTE_OPERATIONAL = 0x62, 0x63


def rnr_nak(timer_code):
    return 0x20 | timer_code


# RNR timer codes 0..31 in units of 10 us (IBTA table 45).
RNR_TIMER_10US = (
    65536, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768,
    1024, 1536, 2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152)


def transport(opcode, *, dest_qpn, psn, headers=b"", payload=b"", **bits):
    """BTH, extension headers and padded payload; the ICRC is not yet there."""
    pad = -len(payload) % 4
    bits.setdefault("pad_bytes", pad)
    return bth(opcode, dest_qpn=dest_qpn, psn=psn, **bits) + headers + payload + bytes(pad)


def icrc(packet):
    """The invariant CRC of an IP packet or a GRH with what follows, without the four
    bytes of the ICRC itself (IBTA 7.8.1, A17.3.3); little-endian on the wire.

    Every field that a router may change counts as ones.  Options of IPv4 and extension
    headers of IPv6 are covered as they are.
    """
    masked = bytearray(packet)
    if packet[0] >> 4 == 4:
        transport_at = (packet[0] & 15) * 4
        masked[1] = masked[8] = masked[10] = masked[11] = 0xFF
        is_udp = True
    else:
        masked[0] |= 0x0F
        masked[1] = masked[2] = masked[3] = masked[7] = 0xFF
        transport_at, is_udp = _ipv6_transport(packet)
    if is_udp:
        masked[transport_at + 6] = masked[transport_at + 7] = 0xFF
        transport_at += 8
    masked[transport_at + 4] = 0xFF
    return zlib.crc32(bytes(masked), zlib.crc32(b"\xff" * 8))


def _ipv6_transport(packet):
    """Where UDP or, behind a GRH, the BTH starts; and which of them it is."""
    kind, at = packet[6], 40
    while kind in (IPV6_HOP_BY_HOP, IPV6_ROUTING, IPV6_DESTINATION, IPV6_FRAGMENT):
        size = 8 if kind == IPV6_FRAGMENT else 8 * (packet[at + 1] + 1)
        kind, at = packet[at], at + size
    return at, kind == IPPROTO_UDP


def _with_icrc(packet, xor):
    """Fills the last four bytes; `xor` other than 0 spoils it."""
    body = packet[:-4]
    return body + struct.pack("<I", icrc(body) ^ xor)


def rocev2(ip, src_port, ib, *, dst_port=ROCE_PORT, checksum=0, icrc_xor=0):
    """An IP packet around what transport() made."""
    datagram = udp(src_port, dst_port, ib + bytes(4), checksum)
    return _with_icrc(ip.wrap(IPPROTO_UDP, datagram), icrc_xor)


def rocev1(ip, ib, *, icrc_xor=0):
    """A GRH (the layout of IPv6, IBTA 8.3) around it, for ethertype 0x8915."""
    return _with_icrc(ip.wrap(IPPROTO_IBA, ib + bytes(4)), icrc_xor)


def cnp(ip, src_port, dest_qpn, *, psn=0, fecn=False, becn=True, icrc_xor=0):
    """Congestion notification (IBTA A17.9.3): 60 bytes of IPv4."""
    ib = transport(OPCODE["CNP"], dest_qpn=dest_qpn, psn=psn, fecn=fecn, becn=becn,
                   payload=bytes(16))
    return rocev2(ip, src_port, ib, icrc_xor=icrc_xor)


# --- MAC control ---------------------------------------------------------------------

MAC_PAUSE = mac("01:80:c2:00:00:01")


def pfc(quanta, *, src=MAC_A, enabled=None):
    """Priority flow control frame, 60 bytes.  `quanta` maps a priority to its time; the
    class-enable vector has those bits unless `enabled` says otherwise."""
    if enabled is None:
        enabled = sum(1 << priority for priority in quanta)
    times = [quanta.get(priority, 0) for priority in range(8)]
    body = struct.pack(">HH8H", 0x0101, enabled, *times)
    return ethernet(body + bytes(46 - len(body)), src=src, dst=MAC_PAUSE,
                    ethertype=ETHERTYPE_MAC_CONTROL)


def pause(quanta, *, src=MAC_A):
    """802.3x global pause frame, 60 bytes."""
    body = struct.pack(">HH", 0x0001, quanta)
    return ethernet(body + bytes(46 - len(body)), src=src, dst=MAC_PAUSE,
                    ethertype=ETHERTYPE_MAC_CONTROL)


# --- LLDP and DCBX (IEEE 802.1AB; 802.1Q annex D.2) ----------------------------------

ETHERTYPE_LLDP = 0x88CC
MAC_NEAREST_BRIDGE = mac("01:80:c2:00:00:0e")
APP_ETHERTYPE, APP_TCP, APP_UDP, APP_PORT, APP_DSCP = 1, 2, 3, 4, 5
TSA_STRICT, TSA_ETS = 0, 2


def lldp_tlv(kind, value):
    return struct.pack(">H", kind << 9 | len(value)) + value


def lldp(*tlvs, src=MAC_A, dst=MAC_NEAREST_BRIDGE, port="swp1", ttl_s=120, system="",
         chassis=None, vlans=()):
    """An LLDP frame: who the port is, then these TLVs.  The chassis has the port's MAC
    address, unless another is given."""
    name = [lldp_tlv(5, system.encode())] if system else []
    body = b"".join([lldp_tlv(1, b"\x04" + (chassis or src)), lldp_tlv(2, b"\x05" + port.encode()),
                     lldp_tlv(3, struct.pack(">H", ttl_s)), *name, *tlvs, lldp_tlv(0, b"")])
    return ethernet(body + bytes(max(0, 46 - len(body))), src=src, dst=dst,
                    ethertype=ETHERTYPE_LLDP, vlans=vlans)


def _ieee(subtype, value):
    return lldp_tlv(127, b"\x00\x80\xc2" + bytes([subtype]) + value)


def _set_of(priorities):
    return sum(1 << priority for priority in priorities)


def _classes(class_of_priority):
    return bytes(class_of_priority[i] << 4 | class_of_priority[i + 1]
                 for i in range(0, 8, 2))


def dcb_pfc(priorities, *, willing=False, capability=8, mbc=False):
    return _ieee(11, bytes([0x80 * willing | 0x40 * mbc | capability & 0xF,
                            _set_of(priorities)]))


def dcb_ets(class_of_priority, shares, algorithms=(TSA_ETS,) * 8, *, willing=False,
            n_classes=8, recommended=False):
    """`shares` and `algorithms` by class."""
    head = 0 if recommended else 0x80 * willing | n_classes & 7
    return _ieee(10 if recommended else 9, bytes([head]) + _classes(class_of_priority)
                 + bytes(shares) + bytes(algorithms))


def dcb_apps(*apps):
    """Each is (priority, selector, protocol)."""
    return _ieee(12, b"\0" + b"".join(struct.pack(">BH", priority << 5 | selector, protocol)
                                      for priority, selector, protocol in apps))


def dcb_app_vlans(*apps):
    """Each is (vlan, selector, protocol)."""
    return _ieee(16, b"".join(struct.pack(">HH", vlan << 4 | selector, protocol)
                              for vlan, selector, protocol in apps))


def cee(*features):
    """The TLV of DCBX before IEEE's, around what the following make."""
    control = lldp_tlv(1, bytes(2) + struct.pack(">II", 1, 1))
    return lldp_tlv(127, b"\x00\x1b\x21\x02" + control + b"".join(features))


def _feature(kind, value, on, willing):
    return lldp_tlv(kind, bytes([0, 0, 0x80 * on | 0x40 * willing, 0]) + value)


def cee_groups(group_of_priority, shares, *, on=True, willing=False):
    return _feature(2, _classes(group_of_priority) + bytes(shares) + b"\x08", on, willing)


def cee_pfc(priorities, *, on=True, willing=False):
    return _feature(3, bytes([_set_of(priorities), 8]), on, willing)


def cee_apps(*apps, on=True, willing=False):
    """Each is (priority, is a port, protocol)."""
    return _feature(4, b"".join(
        struct.pack(">HBHB", protocol, int(is_port), 0x1B21, 1 << priority)
        for priority, is_port, protocol in apps), on, willing)


# --- communication management (IBTA 12.6) --------------------------------------------

CM_REQ, CM_MRA, CM_REJ, CM_REP, CM_RTU = 0x10, 0x11, 0x12, 0x13, 0x14
CM_DREQ, CM_DREP, CM_SIDR_REQ, CM_SIDR_REP = 0x15, 0x16, 0x17, 0x18
GSI_QPN, GSI_Q_KEY = 1, 0x80010000
MTU_CODE = {256: 1, 512: 2, 1024: 3, 2048: 4, 4096: 5}


class _Fields:
    """The 232 bytes behind a MAD header, filled field by field."""

    def __init__(self):
        self.bits = 0

    def put(self, byte, width, value, bit=0):
        """`bit` counts from the most significant one of `byte`, as IBTA's tables do."""
        if value >> width:
            raise ValueError(f"{value:#x} does not fit {width} bits")
        self.bits |= value << (232 * 8 - byte * 8 - bit - width)
        return self

    def bytes(self):
        return self.bits.to_bytes(232, "big")


def mad(attribute, transaction, data):
    """A CM MAD, 256 bytes: common MAD header (IBTA 13.4.3) and data."""
    return struct.pack(">BBBBHHQHHI", 1, 7, 2, 3, 0, 0, transaction, attribute, 0,
                       0) + data


def cm_req(transaction, *, comm_id, qpn, starting_psn, service_id=0x0000000001060000,
           mtu=1024, retry_count=7, rnr_retry_count=7, ack_timeout=14,
           transport_type=0, responder_resources=16, initiator_depth=16, src="",
           dst=""):
    f = _Fields().put(0, 32, comm_id).put(8, 64, service_id).put(16, 64, 0xFE000101)
    f.put(32, 24, qpn).put(35, 8, responder_resources).put(39, 8, initiator_depth)
    f.put(43, 5, 20).put(43, 2, transport_type, bit=5)
    f.put(44, 24, starting_psn).put(47, 5, 20).put(47, 3, retry_count, bit=5)
    f.put(48, 16, 0xFFFF).put(50, 4, MTU_CODE[mtu]).put(50, 3, rnr_retry_count, bit=5)
    f.put(51, 4, 15).put(52, 16, 0xFFFF).put(54, 16, 0xFFFF)
    f.put(56, 128, _gid(src)).put(72, 128, _gid(dst)).put(93, 8, 64)
    f.put(95, 5, ack_timeout)
    return mad(CM_REQ, transaction, f.bytes())


def _gid(address):
    """A GID of an address: IPv6 as it is, IPv4 mapped."""
    if not address:
        return 0
    ip = ipaddress.ip_address(address)
    return int(ip) if ip.version == 6 else 0xFFFF << 32 | int(ip)


def cm_mra(transaction, *, comm_id, remote_comm_id, message=0, timeout=20):
    """`message`: 0 a REQ was received, 1 a REP, 2 a LAP."""
    f = _Fields().put(0, 32, comm_id).put(4, 32, remote_comm_id)
    f.put(8, 2, message).put(9, 5, timeout)
    return mad(CM_MRA, transaction, f.bytes())


def cm_rej(transaction, *, comm_id=0, remote_comm_id, reason, message=0):
    f = _Fields().put(0, 32, comm_id).put(4, 32, remote_comm_id)
    f.put(8, 2, message).put(10, 16, reason)
    return mad(CM_REJ, transaction, f.bytes())


def cm_rep(transaction, *, comm_id, remote_comm_id, qpn, starting_psn,
           rnr_retry_count=7, responder_resources=16, initiator_depth=16):
    f = _Fields().put(0, 32, comm_id).put(4, 32, remote_comm_id).put(12, 24, qpn)
    f.put(20, 24, starting_psn).put(24, 8, responder_resources)
    f.put(25, 8, initiator_depth).put(26, 5, 15).put(27, 3, rnr_retry_count)
    f.put(28, 64, 0xFE000102)
    return mad(CM_REP, transaction, f.bytes())


def cm_rtu(transaction, *, comm_id, remote_comm_id):
    f = _Fields().put(0, 32, comm_id).put(4, 32, remote_comm_id)
    return mad(CM_RTU, transaction, f.bytes())


def cm_dreq(transaction, *, comm_id, remote_comm_id, remote_qpn):
    f = _Fields().put(0, 32, comm_id).put(4, 32, remote_comm_id).put(8, 24, remote_qpn)
    return mad(CM_DREQ, transaction, f.bytes())


def cm_drep(transaction, *, comm_id, remote_comm_id):
    f = _Fields().put(0, 32, comm_id).put(4, 32, remote_comm_id)
    return mad(CM_DREP, transaction, f.bytes())


def cm_sidr_req(transaction, *, request_id, service_id):
    f = _Fields().put(0, 32, request_id).put(4, 16, 0xFFFF).put(8, 64, service_id)
    return mad(CM_SIDR_REQ, transaction, f.bytes())


def cm_sidr_rep(transaction, *, request_id, qpn, service_id, q_key=0, status=0):
    f = _Fields().put(0, 32, request_id).put(4, 8, status).put(8, 24, qpn)
    f.put(12, 64, service_id).put(20, 32, q_key)
    return mad(CM_SIDR_REP, transaction, f.bytes())


def gsi(payload, psn):
    """A MAD on its way: UD SEND Only from QP 1 to QP 1."""
    return transport(OPCODE["UD SEND Only"], dest_qpn=GSI_QPN, psn=psn,
                     headers=deth(GSI_Q_KEY, GSI_QPN), payload=payload)


# --- capture files -------------------------------------------------------------------


class Pcap:
    """A classic pcap file in memory; bytes() gives it."""

    def __init__(self, *, link_type=LINKTYPE_ETHERNET, nanoseconds=True,
                 big_endian=False, snap_length=262144):
        self.order = ">" if big_endian else "<"
        self.nanoseconds = nanoseconds
        self.snap_length = snap_length
        self.out = bytearray(struct.pack(
            self.order + "IHHiIII", 0xA1B23C4D if nanoseconds else 0xA1B2C3D4, 2, 4, 0,
            0, snap_length, link_type))

    def add(self, time_ns, frame, wire_length=None):
        """Cuts at the snap length; `wire_length` where the frame itself is cut."""
        kept = frame[:self.snap_length]
        fraction = time_ns % 10**9 // (1 if self.nanoseconds else 1000)
        self.out += struct.pack(
            self.order + "IIII", time_ns // 10**9, fraction, len(kept),
            len(frame) if wire_length is None else wire_length) + kept
        return self

    def bytes(self):
        return bytes(self.out)


def pcap_packets(data):
    """(time_ns, wire length, bytes) of each packet of a little-endian pcap file with stamps
    in nanoseconds."""
    at = 24
    while at < len(data):
        seconds, nanoseconds, kept, length = struct.unpack_from("<IIII", data, at)
        yield seconds * 10**9 + nanoseconds, length, data[at + 16:at + 16 + kept]
        at += 16 + kept


@dataclasses.dataclass(frozen=True)
class Interface:
    link_type: int = LINKTYPE_ETHERNET
    snap_length: int = 262144
    name: str = ""
    speed_bps: int = 0       # 0: the option is left out
    nanoseconds: bool = True


class Pcapng:
    """A pcapng file in memory: one section, any number of interfaces."""

    SHB, IDB, SPB, ISB, EPB = 0x0A0D0D0A, 1, 3, 5, 6
    COMMENT, IF_NAME, IF_SPEED, IF_TSRESOL, ISB_IFRECV, ISB_IFDROP = 1, 2, 8, 9, 4, 5
    EPB_FLAGS, DIRECTIONS = 2, {"in": 1, "out": 2}

    def __init__(self, interfaces=(Interface(),), *, big_endian=False, comment=""):
        self.order = ">" if big_endian else "<"
        self.interfaces = []
        self.out = bytearray()
        options = [(self.COMMENT, comment.encode())] if comment else []
        self.block(self.SHB, self._pack("IHHq", 0x1A2B3C4D, 1, 0, -1), options)
        for interface in interfaces:
            self.add_interface(interface)

    def _pack(self, form, *values):
        return struct.pack(self.order + form, *values)

    def block(self, kind, body, options=()):
        """Any block; each option is (code, bytes)."""
        for code, value in options:
            body += self._pack("HH", code, len(value)) + _pad4(value)
        if options:
            body += self._pack("HH", 0, 0)
        size = 12 + len(body)
        self.out += self._pack("II", kind, size) + body + self._pack("I", size)
        return self

    def add_interface(self, interface):
        options = [(self.IF_TSRESOL, bytes([9 if interface.nanoseconds else 6]))]
        if interface.name:
            options.append((self.IF_NAME, interface.name.encode()))
        if interface.speed_bps:
            options.append((self.IF_SPEED, self._pack("Q", interface.speed_bps)))
        self.interfaces.append(interface)
        return self.block(
            self.IDB,
            self._pack("HHI", interface.link_type, 0, interface.snap_length), options)

    def _stamp(self, interface_id, time_ns):
        ticks = time_ns if self.interfaces[interface_id].nanoseconds else time_ns // 1000
        return ticks >> 32, ticks & 0xFFFFFFFF

    def add(self, time_ns, frame, wire_length=None, *, interface=0, comment="",
            direction=""):
        kept = frame[:self.interfaces[interface].snap_length or None]
        options = [(self.COMMENT, comment.encode())] if comment else []
        if direction:
            options.append((self.EPB_FLAGS, self._pack("I", self.DIRECTIONS[direction])))
        return self.block(self.EPB, self._pack(
            "IIIII", interface, *self._stamp(interface, time_ns), len(kept),
            len(frame) if wire_length is None else wire_length) + _pad4(kept), options)

    def add_statistics(self, time_ns, *, interface=0, received=0, dropped=0):
        return self.block(
            self.ISB, self._pack("III", interface, *self._stamp(interface, time_ns)),
            [(self.ISB_IFRECV, self._pack("Q", received)),
             (self.ISB_IFDROP, self._pack("Q", dropped))])

    def bytes(self):
        return bytes(self.out)


def _pad4(data):
    return data + bytes(-len(data) % 4)


def gzipped(data):
    """The same bytes in give the same bytes out: no name, no time."""
    out = io.BytesIO()
    with gzip.GzipFile(filename="", mode="wb", compresslevel=9, fileobj=out,
                       mtime=0) as file:
        file.write(data)
    return out.getvalue()
