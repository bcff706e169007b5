# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads captures record by record, with nothing of the analyzer in it."""

import dataclasses
import gzip
import struct


@dataclasses.dataclass
class Interface:
    link_type: int
    snap_length: int
    name: str = None
    description: str = None
    speed_bps: int = None
    resolution: int = 6      # as if_tsresol has it
    fcs: int = 0
    offset_s: int = 0

    def time_ns(self, ticks):
        exponent = self.resolution & 0x7F
        rate = 2**exponent if self.resolution & 0x80 else 10**exponent
        return self.offset_s * 10**9 + ticks * 10**9 // rate


@dataclasses.dataclass
class Record:
    interface: int
    time_ns: int
    wire_bytes: int
    data: bytes
    comments: list = dataclasses.field(default_factory=list)
    flags: int = 0

    def core(self):
        """What no copy may change, whatever its format."""
        return self.time_ns, self.wire_bytes, self.data


@dataclasses.dataclass
class Capture:
    interfaces: list
    records: list

    def named(self):
        """Each record's core with the interface that it is on."""
        return [(self.interfaces[r.interface], *r.core()) for r in self.records]


def read(source):
    data = source if isinstance(source, bytes) else source.read_bytes()
    if data[:2] == b"\x1f\x8b":
        data = gzip.decompress(data)
    return read_pcapng(data) if data[:4] == b"\x0a\x0d\x0d\x0a" else read_pcap(data)


def read_pcap(data):
    order = "<" if data[0] in (0xD4, 0x4D) else ">"
    magic, _, _, _, _, snap_length, link = struct.unpack_from(order + "IHHiIII", data)
    scale = {0xA1B2C3D4: 1000, 0xA1B23C4D: 1}[magic]
    fcs = (link >> 28) * 2 if link & 0x04000000 else 0
    out = Capture([Interface(link & 0x03FFFFFF, snap_length, fcs=fcs,
                             resolution=6 if scale == 1000 else 9)], [])
    at = 24
    while at < len(data):
        seconds, fraction, kept, wire = struct.unpack_from(order + "IIII", data, at)
        out.records.append(Record(0, seconds * 10**9 + fraction * scale, wire,
                                  data[at + 16:at + 16 + kept]))
        at += 16 + kept
    return out


def options_of(data, order):
    at = 0
    while at < len(data):
        code, length = struct.unpack_from(order + "HH", data, at)
        if code == 0:
            return
        yield code, data[at + 4:at + 4 + length]
        at += 4 + length + -length % 4


def interface_of(body, order):
    link_type, _, snap_length = struct.unpack_from(order + "HHI", body)
    out = Interface(link_type, snap_length)
    for code, value in options_of(body[8:], order):
        if code == 2:
            out.name = value.decode()
        elif code == 3:
            out.description = value.decode()
        elif code == 8:
            out.speed_bps = struct.unpack(order + "Q", value)[0]
        elif code == 9:
            out.resolution = value[0]
        elif code == 13:
            out.fcs = value[0]
        elif code == 14:
            out.offset_s = struct.unpack(order + "q", value)[0]
    return out


def packet_of(body, order, interfaces, first):
    local, high, low, kept, wire = struct.unpack_from(order + "IIIII", body)
    out = Record(first + local, interfaces[first + local].time_ns(high << 32 | low), wire,
                 body[20:20 + kept])
    for code, value in options_of(body[20 + kept + -kept % 4:], order):
        if code == 1:
            out.comments.append(value.decode())
        elif code == 2:
            out.flags = struct.unpack(order + "I", value)[0]
    return out


def read_pcapng(data):
    out, at, order, first = Capture([], []), 0, "<", 0
    while at < len(data):
        if data[at:at + 4] == b"\x0a\x0d\x0d\x0a":
            order = "<" if data[at + 8:at + 12] == b"\x4d\x3c\x2b\x1a" else ">"
            first = len(out.interfaces)
        kind, length = struct.unpack_from(order + "II", data, at)
        body = data[at + 8:at + length - 4]
        assert struct.unpack_from(order + "I", data, at + length - 4)[0] == length
        if kind == 1:
            out.interfaces.append(interface_of(body, order))
        elif kind == 6:
            out.records.append(packet_of(body, order, out.interfaces, first))
        at += length
    return out
