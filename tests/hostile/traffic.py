# SPDX-License-Identifier: GPL-2.0-or-later
"""Very many packets, fast: everything of a packet that stays the same is made once, and
the ICRC is continued from there."""

import struct
import zlib

import roce

START_S = 1_700_000_000
CAPTURE_HEADER = roce.Pcap().bytes()
IP_AT, BTH_AT = 14, 42
QP_AT, QP_END = BTH_AT + 4, BTH_AT + 12


class Template:
    """A RoCEv2 frame over IPv4, made again with another QPN, PSN and extension headers."""

    def __init__(self, opcode, *, src="10.0.0.1", dst="10.0.0.2", tos=2, payload=b"",
                 headers=b"", ident=1, src_port=50000, ack_request=False):
        ib = roce.transport(roce.OPCODE[opcode], dest_qpn=0, psn=0, headers=headers,
                            payload=payload, ack_request=ack_request)
        frame = roce.ethernet(roce.rocev2(roce.Ip(src, dst, tos=tos, ident=ident), src_port, ib))
        self.head, self.tail = frame[:QP_AT], frame[QP_END:-4]
        self.flags = frame[QP_AT + 4] << 24
        masked = bytearray(frame[IP_AT:QP_AT])
        for at in (1, 8, 10, 11, 26, 27): # what routers change: tos, ttl, checksums
            masked[at] = 0xFF
        self.seed = zlib.crc32(bytes(masked), zlib.crc32(b"\xff" * 8))
        self.size = len(frame)

    def frame(self, qpn, psn, tail=None):
        """`tail` is as long as the template's headers and payload."""
        tail = self.tail if tail is None else tail
        numbers = struct.pack(">II", qpn, self.flags | psn & 0xFFFFFF)
        crc = zlib.crc32(tail, zlib.crc32(b"\xff" + numbers[1:], self.seed))
        return self.head + numbers + tail + struct.pack("<I", crc)


def record(time_ns, frame, wire_bytes=None):
    """Of a classic capture with nanoseconds."""
    return struct.pack("<IIII", time_ns // 10**9, time_ns % 10**9, len(frame),
                       len(frame) if wire_bytes is None else wire_bytes) + frame


def capture(frames, *, step_ns=1000, start_ns=START_S * 10**9):
    """A capture of frames, evenly in time."""
    return CAPTURE_HEADER + b"".join(
        record(start_ns + i * step_ns, frame) for i, frame in enumerate(frames))


def write(path, frames, **how):
    path.write_bytes(capture(frames, **how))
    return path
