# SPDX-License-Identifier: GPL-2.0-or-later
"""Frames of RoCEv2, changed in place of what made them: a field is another, and the ICRC
is as right, or as wrong, as it was.

Nothing of the analyzer is in it.  Frames that are cut stay as they are behind the cut.
"""

import dataclasses
import ipaddress
import re
import struct

import roce

IPV4, IPV6 = b"\x08\x00", b"\x86\xdd"
TAGS = (b"\x81\x00", b"\x88\xa8")
ERSPAN_II, ERSPAN_III = b"\x88\xbe", b"\x22\xeb"
IPPROTO_GRE = 47
GSI_QPN, UD = 1, 3
BTH_BYTES, MAD_DATA = 12, 12 + 8 + 24 # from the BTH: behind DETH and the header of a MAD
CNP = 0x81

# Where MADs of communication management have QPNs and PSNs, from their data on (IBTA 12.6).
CM_QPNS = {roce.CM_REQ: (32,), roce.CM_REP: (12,), roce.CM_DREQ: (8,), roce.CM_SIDR_REP: (8,)}
CM_PSNS = {roce.CM_REQ: (44,), roce.CM_REP: (20,)}


@dataclasses.dataclass(frozen=True)
class Layout:
    """Where headers of a RoCEv2 packet begin, and where its IP packet ends."""
    ip: int
    bth: int
    end: int

    def icrc_is_in(self, frame):
        return self.end <= len(frame)


def _behind_ethernet(frame, at):
    """Where the ethertype is, behind tags."""
    at += 12
    while frame[at:at + 2] in TAGS:
        at += 4
    return at


def _of_ip(frame, at, kind):
    """Protocol and payload of an IP packet, and where it ends."""
    if kind == IPV4:
        size, = struct.unpack_from(">H", frame, at + 2)
        return frame[at + 9], at + 4 * (frame[at] & 15), at + size
    size, = struct.unpack_from(">H", frame, at + 4)
    return frame[at + 6], at + 40, at + 40 + size


def _in_mirror(frame, at):
    """Where the frame begins that GRE carries at `at`; None: it is no mirror's."""
    kind = frame[at + 2:at + 4]
    gre = 4 + 4 * bin(frame[at] >> 4).count("1")
    return {ERSPAN_II: at + gre + 8, ERSPAN_III: at + gre + 12}.get(kind)


def layout(frame, at=0):
    """Of the packet in a frame, or in what a mirror carries; None if it is no RoCEv2."""
    kind_at = _behind_ethernet(frame, at)
    kind, ip = frame[kind_at:kind_at + 2], kind_at + 2
    if kind not in (IPV4, IPV6) or len(frame) < ip + 40:
        return None
    protocol, inner, end = _of_ip(frame, ip, kind)
    if protocol == IPPROTO_GRE:
        carried = _in_mirror(frame, inner)
        return None if carried is None else layout(frame, carried)
    port, = struct.unpack_from(">H", frame, inner + 2)
    if protocol != roce.IPPROTO_UDP or port != roce.ROCE_PORT:
        return None
    return Layout(ip, inner + 8, end)


def _icrc_error(frame, at):
    """What the ICRC differs by from the right one."""
    right = roce.icrc(frame[at.ip:at.end - 4])
    return struct.unpack_from("<I", frame, at.end - 4)[0] ^ right


def changed(frame, change):
    """The frame after change(bytearray, Layout); what is no RoCEv2 stays."""
    at = layout(frame)
    if at is None:
        return frame
    out = bytearray(frame)
    error = _icrc_error(frame, at) if at.icrc_is_in(frame) else None
    change(out, at)
    if error is not None:
        out[at.end - 4:at.end] = struct.pack("<I", roce.icrc(bytes(out[at.ip:at.end - 4])) ^ error)
    return bytes(out)


# --- fields --------------------------------------------------------------------------


def _read24(frame, at):
    return int.from_bytes(frame[at:at + 3], "big")


def _map24(frame, at, of):
    frame[at:at + 3] = of(_read24(frame, at)).to_bytes(3, "big")


def is_gsi(frame, at):
    """Whether a packet carries a MAD."""
    return _read24(frame, at.bth + 5) == GSI_QPN and frame[at.bth] >> 5 == UD


def _cm_fields(frame, at, table):
    """Where the fields of a table are in a frame, if it is a MAD of communication
    management."""
    if not is_gsi(frame, at):
        return ()
    attribute, = struct.unpack_from(">H", frame, at.bth + BTH_BYTES + 8 + 16)
    return [at.bth + MAD_DATA + field for field in table.get(attribute, ())]


def with_qpns(frame, of):
    """Every QPN q becomes of(q)."""
    def change(out, at):
        fields = [at.bth + 5, *_cm_fields(out, at, CM_QPNS)]
        if out[at.bth] >> 5 == UD:
            fields.append(at.bth + BTH_BYTES + 5) # source QPN of the DETH
        for field in fields:
            _map24(out, field, of)
    return changed(frame, change)


def with_psns(frame, of):
    """Every PSN; that of CNPs is none."""
    def change(out, at):
        fields = _cm_fields(out, at, CM_PSNS)
        if out[at.bth] != CNP:
            fields = [at.bth + 9, *fields]
        for field in fields:
            _map24(out, field, of)
    return changed(frame, change)


def psn_of(frame):
    return _read24(frame, layout(frame).bth + 9)


def with_source_port(frame, ports):
    """The UDP source port becomes ports[destination QPN, port], if that is there."""
    def change(out, at):
        old, = struct.unpack_from(">H", out, at.bth - 8)
        new = ports.get((_read24(out, at.bth + 5), old), old)
        struct.pack_into(">H", out, at.bth - 8, new)
    return changed(frame, change)


def _network(frame, at=0):
    """Where IP is in a frame, and in what a mirror carries."""
    kind_at = _behind_ethernet(frame, at)
    kind, ip = frame[kind_at:kind_at + 2], kind_at + 2
    if kind in (IPV4, IPV6):
        yield at, ip, kind
        protocol, inner, _ = _of_ip(frame, ip, kind)
        if protocol == IPPROTO_GRE and (carried := _in_mirror(frame, inner)) is not None:
            yield from _network(frame, carried)
    else:
        yield at, None, kind


def _of_one_host(address):
    """Neither of several, nor of nobody."""
    if len(address) == 6:
        return not address[0] & 1
    ip = ipaddress.ip_address(address)
    return not ip.is_multicast and not ip.is_unspecified and ip.packed != b"\xff" * 4


def addresses_of(frame):
    """MAC and IP addresses of hosts in the headers of a frame."""
    found = []
    for at, ip, kind in _network(frame):
        found += [frame[at:at + 6], frame[at + 6:at + 12]]
        if kind == IPV4:
            found += [frame[ip + 12:ip + 16], frame[ip + 16:ip + 20]]
        elif kind == IPV6:
            found += [frame[ip + 8:ip + 24], frame[ip + 24:ip + 40]]
    return [address for address in found if _of_one_host(address)]


def with_addresses(frame, of):
    """Every address becomes another, wherever it stands: in headers, in ARP, in what CM
    says.  `of` maps bytes to bytes of the same length."""
    pattern = re.compile(b"|".join(map(re.escape, sorted(of, key=len, reverse=True))), re.DOTALL)

    def change(out, _):
        out[:] = pattern.sub(lambda found: of[found[0]], bytes(out))
    if layout(frame) is not None:
        return changed(frame, change)
    return pattern.sub(lambda found: of[found[0]], frame)


def tagged(frame, vlan):
    """With a VLAN tag, outermost."""
    return frame[:12] + struct.pack(">HH", vlan.tpid, vlan.pcp << 13 | vlan.vid) + frame[12:]


def is_tagged(frame):
    return frame[12:14] in TAGS


def priority_of(frame):
    """By its tag, else by its DSCP, eight of which are one priority."""
    if is_tagged(frame):
        return frame[14] >> 5
    if frame[12:14] == IPV4:
        return frame[15] >> 5
    return frame[14] >> 1 & 7 if frame[12:14] == IPV6 else 0
