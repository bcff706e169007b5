# SPDX-License-Identifier: GPL-2.0-or-later
"""Builds RoCE and MAC control frames from the standards' field layouts, and pcap files.

The one rule: nothing here is shared with core, so that the two can disagree."""

import gzip
import socket
import struct
import zlib

MAC_A, MAC_B = bytes.fromhex("020000000101"), bytes.fromhex("020000000102")
MAC_PAUSE = bytes.fromhex("0180c2000001")
ADDR_A, ADDR_B = "10.0.0.1", "10.0.0.2"
ADDR6_A, ADDR6_B = "2001:db8::1", "2001:db8::2"
ONES8 = b"\xff" * 8


def u24(n):
    return struct.pack("!I", n)[1:]


def bth(opcode, qp=0x12, psn=7, se=0, m=0, pad=0, tver=0, p_key=0xffff, fecn=0, becn=0,
        ack=0):
    return (struct.pack("!BBHB", opcode, se << 7 | m << 6 | pad << 4 | tver, p_key,
                        fecn << 7 | becn << 6)
            + u24(qp) + bytes([ack << 7]) + u24(psn))


def reth(va=0x1122334455667788, r_key=0x99aabbcc, length=64):
    return struct.pack("!QII", va, r_key, length)


def aeth(syndrome, msn=3):
    return bytes([syndrome]) + u24(msn)


def atomiceth(va=1, r_key=2, swap=3, compare=4):
    return struct.pack("!QIQQ", va, r_key, swap, compare)


def deth(q_key=0x11111111, qp=0x1c):
    return struct.pack("!I", q_key) + b"\0" + u24(qp)


def rdeth(ee=5):
    return b"\0" + u24(ee)


def xrceth(srq=0x77):
    return b"\0" + u24(srq)


def feth(sel=1, plt=2):
    return struct.pack("!I", sel << 4 | plt)


def icrc(network, transport):
    """The invariant CRC of an IP header (or GRH) with UDP, and a BTH and what follows."""
    net, tr = bytearray(network), bytearray(transport)
    if net[0] >> 4 == 4:
        net[1] = net[8] = net[10] = net[11] = 0xff
    else:
        net[0] |= 0x0f
        net[1] = net[2] = net[3] = net[7] = 0xff
    if net[6] != 0x1b:  # a GRH has no UDP header behind it
        net[-2] = net[-1] = 0xff
    tr[4] = 0xff
    return struct.pack("<I", zlib.crc32(ONES8 + bytes(net) + bytes(tr)))


def ipv4_header(payload_bytes, protocol=17, tos=2, ident=1, fragment=0, options=b"",
                src=ADDR_A, dst=ADDR_B):
    head = struct.pack("!BBHHHBBH4s4s", 0x45 + len(options) // 4, tos,
                       20 + len(options) + payload_bytes, ident, fragment, 64, protocol,
                       0, socket.inet_aton(src), socket.inet_aton(dst)) + options
    total = sum(struct.unpack(f"!{len(head) // 2}H", head))
    total = (total & 0xffff) + (total >> 16)
    total = (total & 0xffff) + (total >> 16)
    return head[:10] + struct.pack("!H", ~total & 0xffff) + head[12:]


def ipv6_header(payload_bytes, next_header=17, extensions=b"", tos=2):
    return struct.pack("!IHBB16s16s", 6 << 28 | tos << 20, len(extensions) + payload_bytes,
                       next_header, 64, socket.inet_pton(socket.AF_INET6, ADDR6_A),
                       socket.inet_pton(socket.AF_INET6, ADDR6_B)) + extensions


def ethernet(ethertype, payload, dst=MAC_B, src=MAC_A, vlan=None):
    tag = b"" if vlan is None else struct.pack("!HH", 0x8100, vlan)
    return dst + src + tag + struct.pack("!H", ethertype) + payload


def udp_header(payload_bytes, sport, dport):
    return struct.pack("!HHHH", sport, dport, 8 + payload_bytes, 0)


def udp(body, sport, dport):
    """Of any protocol."""
    return ethernet(0x0800, ipv4_header(8 + len(body)) + udp_header(len(body), sport, dport)
                    + body)


def roce(transport, sport=0xc123, dport=4791, bad_icrc=False, vlan=None, options=b"",
         version=4, extensions=b"", next_header=17, crc=True, tos=2):
    """A RoCEv2 frame of a BTH and what follows, with its ICRC."""
    size = len(transport) + (4 if crc else 0)
    udp = udp_header(size, sport, dport)
    if version == 4:
        net = ipv4_header(8 + size, options=options, tos=tos) + udp
    else:
        net = ipv6_header(8 + size, next_header, extensions, tos) + udp
    tail = icrc(net, transport) if crc else b""
    if bad_icrc:
        tail = bytes([tail[0] ^ 1]) + tail[1:]
    return ethernet(0x0800 if version == 4 else 0x86dd, net + transport + tail, vlan=vlan)


def roce_v1(transport, bad_icrc=False, tos=2):
    grh = ipv6_header(len(transport) + 4, next_header=0x1b, tos=tos)
    tail = icrc(grh, transport)
    if bad_icrc:
        tail = bytes([tail[0] ^ 1]) + tail[1:]
    return ethernet(0x8915, grh + transport + tail)


def vxlan(frame, vni=42, tos=0):
    """A frame in an overlay network (RFC 7348)."""
    body = struct.pack("!II", 0x08000000, vni << 8) + frame
    return ethernet(0x0800, ipv4_header(8 + len(body), tos=tos, src="192.0.2.1",
                                        dst="192.0.2.2")
                    + udp_header(len(body), 0xc000, 4789) + body)


def erspan(frame, tos=0):
    """The copy of a frame that a switch sends: ERSPAN type II in GRE."""
    body = struct.pack("!HHIHHI", 0x1000, 0x88be, 1, 0x1000, 0x155, 0) + frame
    return ethernet(0x0800, ipv4_header(len(body), 47, tos=tos, src="192.0.2.1",
                                        dst="192.0.2.2") + body)


def fragments(frame, size=40):
    """An IPv4 frame in two fragments."""
    ip, body = frame[14:34], frame[34:]
    ident = struct.unpack("!H", ip[4:6])[0]
    return [ethernet(0x0800, ipv4_header(len(part), ident=ident, fragment=flags) + part)
            for part, flags in ((body[:size], 0x2000), (body[size:], size // 8))]


def cnp(qp=0x12, fecn=0, becn=1, **options):
    return roce(bth(0x81, qp=qp, psn=0, fecn=fecn, becn=becn) + bytes(16), **options)


def pfc(vector, quanta):
    """`quanta`: eight of them."""
    body = struct.pack("!HH8H", 0x0101, vector, *quanta)
    return ethernet(0x8808, body.ljust(46, b"\0"), dst=MAC_PAUSE)


def pause(quanta):
    return ethernet(0x8808, struct.pack("!HH", 1, quanta).ljust(46, b"\0"), dst=MAC_PAUSE)


def write_pcap(path, frames, snap=None, step_ns=1000000):
    """`frames`: bytes, or (bytes, length on the wire); one each `step_ns`."""
    with open(path, "wb") as out:
        out.write(struct.pack("<IHHiIII", 0xa1b23c4d, 2, 4, 0, 0, 262144, 1))
        for i, frame in enumerate(frames):
            data, wire = frame if isinstance(frame, tuple) else (frame, len(frame))
            data = data if snap is None else data[:snap]
            seconds, ns = divmod(i * step_ns, 1000000000)
            out.write(struct.pack("<IIII", 1000 + seconds, ns, len(data), wire) + data)


def read_pcap(path):
    """(bytes, length on the wire) of each packet of a classic pcap, gzipped or not."""
    opener = gzip.open if str(path).endswith(".gz") else open
    with opener(path, "rb") as file:
        data = file.read()
    order = "<" if data[:4] in (b"\x4d\x3c\xb2\xa1", b"\xd4\xc3\xb2\xa1") else ">"
    frames, at = [], 24
    while at + 16 <= len(data):
        captured, wire = struct.unpack(order + "II", data[at + 8:at + 16])
        frames.append((data[at + 16:at + 16 + captured], wire))
        at += 16 + captured
    return frames
