# SPDX-License-Identifier: GPL-2.0-or-later
"""Captures in which stages have to meet: points that are found to be one when much of both
has been told already, and pauses between packets."""

import ipaddress
import struct

MACS = {name: bytes.fromhex("0200000000" + number) for name, number in
        (("requester", "0a"), ("responder", "0b"), ("other", "1a"), ("switch", "1b"),
         ("stranger", "33"))}
FIRST_SURVEY = 8192  # frames that decide what a point is


class Pcapng:
    """Two interfaces of one file, with stamps of nanoseconds that only grow."""

    def __init__(self):
        self.parts = []
        self.time_ns = 1700000000 * 10**9
        self.ident = 0
        self._block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1))
        for name in (b"eth0", b"eth1"):
            options = b"".join(struct.pack("<HH", code, len(value)) + value
                               + bytes(-len(value) % 4)
                               for code, value in ((2, name), (9, b"\x09"), (0, b"")))
            self._block(1, struct.pack("<HHI", 1, 0, 65535) + options)

    def _block(self, kind, body):
        body += bytes(-len(body) % 4)
        length = struct.pack("<I", len(body) + 12)
        self.parts.append(struct.pack("<I", kind) + length + body + length)

    def frame(self, interface, data, after_ns=1000):
        self.time_ns += after_ns
        self._block(6, struct.pack("<IIIII", interface, self.time_ns >> 32,
                                   self.time_ns & 0xFFFFFFFF, len(data), len(data)) + data)

    def udp(self, ends, hosts, port, payload):
        """Ethernet, IPv4 and UDP around it."""
        self.ident = (self.ident + 1) & 0xFFFF
        source, destination = (ipaddress.ip_address(host).packed for host in hosts)
        header = struct.pack(">BBHHHBBH", 0x45, 0, 28 + len(payload), self.ident, 0x4000, 64,
                             17, 0) + source + destination
        return (MACS[ends[1]] + MACS[ends[0]] + b"\x08\x00" + header
                + struct.pack(">HHHH", 50000, port, 8 + len(payload), 0) + payload)

    def bytes(self):
        return b"".join(self.parts)


def bth(opcode, qpn, psn):
    return struct.pack(">BBHII", opcode, 0, 0xFFFF, qpn, 1 << 31 | psn & 0xFFFFFF)


def write(out, psn):
    return out.udp(("requester", "responder"), ("10.0.0.1", "10.0.0.2"), 4791,
                   bth(0x0A, 0x11, psn) + struct.pack(">QII", 4096 * psn, 1, 64) + bytes(68))


def ack(out, psn):
    return out.udp(("responder", "requester"), ("10.0.0.2", "10.0.0.1"), 4791,
                   bth(0x11, 0x12, psn) + struct.pack(">I", 0x1F << 24 | psn) + bytes(4))


def other(out):
    return out.udp(("other", "switch"), ("10.0.1.1", "10.0.1.2"), 5000, b"hello" * 10)


def pfc(sender, quanta):
    return (bytes.fromhex("0180c2000001") + MACS[sender] + b"\x88\x08"
            + struct.pack(">HH8H", 0x0101, 1, quanta, *[0] * 7) + bytes(26))


def joined_late(first_pause):
    """Points that share a stream, of which one has too little for the first survey.
    `first_pause` is a frame, or None."""
    out = Pcapng()
    n_before = FIRST_SURVEY - 200
    for psn in range(n_before):
        out.frame(0, pfc("stranger", 0) if psn == first_pause else write(out, psn))
    for _ in range(200):
        out.frame(1, other(out))
    out.frame(1, ack(out, n_before - 1))
    for psn in range(n_before, n_before + 24):
        out.frame(0, write(out, psn))
        out.frame(1, ack(out, psn), 300)
    out.frame(1, pfc("switch", 65535))
    for _ in range(3):
        out.frame(1, other(out), 1000000)
    return out.bytes()


def paused_often(n_pauses, n_between):
    out = Pcapng()
    for i in range(n_pauses):
        out.frame(0, pfc("switch", 0 if i % 2 else 100), 100)
        for k in range(n_between):
            out.frame(0, write(out, i * n_between + k), 100)
    return out.bytes()


CAPTURES = {
    "points joined late": lambda: joined_late(None),
    "points joined late, pauses known": lambda: joined_late(10),
    "every other frame a pause": lambda: paused_often(1000, 1),
    "a pause now and then": lambda: paused_often(40, 150),
    "a pause seldom": lambda: paused_often(6, 1000),
}
