# SPDX-License-Identifier: GPL-2.0-or-later
"""Hostile files: formats whose numbers overflow, stamps that no clock shows, and
compressed input that grows without end.

`make(folder)` writes the file; `truth(report)` asserts, or is None where there is
nothing to be reported.
"""

import gzip
import lzma
import struct
import zlib

import roce
from bounded import MIB, SMALLER, equal
from hostile_rows import Row, Rows
from traffic import CAPTURE_HEADER, START_S, Template, capture, record

YEAR_S = 365 * 24 * 3600
LAST_S = (1 << 32) - 1
ROWS = Rows()


def row(what, *, status, most_mib=64):
    return ROWS.of(what, status=status, most_mib=most_mib)


def frames(n):
    send = Template("RC SEND Only", payload=b"abcd")
    return [send.frame(0x11, i) for i in range(n)]


def packets(report, n):
    equal("packets", report["capture"]["packets"], n)


# --- time ----------------------------------------------------------------------------


@row("stamps at 0, at the last second of the format, and 30 years back, in turn", status=0)
def stamps():
    times_s = (0, LAST_S, START_S, START_S - 30 * YEAR_S)
    return CAPTURE_HEADER + b"".join(
        record(times_s[i % 4] * 10**9, frame) for i, frame in enumerate(frames(4000)))


@stamps.truth
def _(report):
    packets(report, 4000)
    found = report["capture"]
    equal("range", (found["first_ts_ns"], found["last_ts_ns"]), (0, LAST_S * 10**9))
    equal("steps back", found["time_steps_back"], 2999)
    equal("missing", report["totals"]["requests"]["missing_psns"], 0)


@row("fractions of a second above a second", status=0)
def fractions():
    return CAPTURE_HEADER + b"".join(
        struct.pack("<IIII", LAST_S, LAST_S, len(f), len(f)) + f for f in frames(100))


@fractions.truth
def _(report):
    packets(report, 100)


def _ticks(resolution, offset_s, stamps_of):
    """A pcapng file with one interface of that resolution, and raw stamps."""
    out = roce.Pcapng(())
    out.block(out.IDB, struct.pack("<HHI", 1, 0, 262144), [
        (9, bytes([resolution])), (14, struct.pack("<q", offset_s))])
    for ticks, frame in zip(stamps_of, frames(len(stamps_of))):
        out.block(out.EPB, struct.pack("<IIIII", 0, ticks >> 32, ticks & 0xFFFFFFFF,
                                       len(frame), len(frame)) + roce._pad4(frame))
    return out.bytes()


@row("pcapng stamps of 2^64 - 1 seconds, and an offset of -2^63", status=0)
def ticks():
    return _ticks(0, -2**63, [0, 2**64 - 1, 2**63, 1, 2**64 - 1])


@ticks.truth
def _(report):
    packets(report, 5)


@row("pcapng stamps in units of 10^-127 s and an offset of 2^63 - 1", status=3)
def fine_ticks():
    return _ticks(127, 2**63 - 1, [0, 2**64 - 1, 2**63, 1])


@fine_ticks.truth
def _(report):
    """No clock ticks like that: the interface is refused, and what follows it."""
    packets(report, 0)


@row("pcapng stamps in units of 2^-127 s", status=3)
def binary_ticks():
    return _ticks(0xFF, 0, [2**64 - 1, 0, 2**63, 1])


@binary_ticks.truth
def _(report):
    """No clock ticks like that: the interface is refused, and what follows it."""
    packets(report, 0)


# --- pcapng --------------------------------------------------------------------------


@row("70,000 interfaces of one name", status=3, most_mib=256)
def interfaces():
    block = roce.Pcapng((roce.Interface(name="eth0"),)).bytes()[28:]
    out = roce.Pcapng(()).bytes() + block * 70_000
    return out


@interfaces.truth
def _(report):
    """What is beyond the limit of interfaces is said to be unread."""
    packets(report, 0)
    assert report["capture"]["files"][0]["damaged_at"] is not None


@row("3,000 sections, each with an interface of the same name and number", status=0,
     most_mib=128)
def sections():
    send = frames(3000)
    return b"".join(roce.Pcapng((roce.Interface(name="eth0"),)).add(
        START_S * 10**9 + i * 1000, send[i]).bytes() for i in range(3000))


@sections.truth
def _(report):
    packets(report, 3000)
    equal("RoCE", report["capture"]["roce_packets"], 3000)


def _with_block(block):
    out = roce.Pcapng()
    for i, frame in enumerate(frames(3)):
        out.add(START_S * 10**9 + i, frame)
    return out.bytes() + block


def _after_three(report):
    packets(report, 3)
    assert report["capture"]["files"][0]["damaged_at"] is not None


for length in (0, 4, 11, 13, 0x7FFFFFFC, 0x80000000, 0xFFFFFFF0, 0xFFFFFFFC, 0xFFFFFFFF):
    for kind in (6, 0x0A0D0D0A, 0xBAD):
        ROWS.append(Row(
            f"block_{kind:x}_of_{length:x}", "",
            lambda kind=kind, length=length: _with_block(
                struct.pack("<II", kind, length) + b"\x4d\x3c\x2b\x1a" + bytes(60)),
            _after_three, most_mib=64, status=3))
for captured in (0x7FFFFFFF, 0x80000000, 0xFFFFFFF0, 0xFFFFFFFF):
    ROWS.append(Row(
        f"captured_{captured:x}", "",
        lambda captured=captured: _with_block(
            struct.pack("<IIIIIII", 6, 96, 0, 0, 0, captured, captured) + bytes(64)
            + struct.pack("<I", 96)), _after_three, most_mib=64, status=3))


@row("options that say they are longer than their block", status=3)
def options():
    option = struct.pack("<HH", 1, 0xFFFF)
    body = struct.pack("<HHI", 1, 0, 0) + option
    idb = struct.pack("<II", 1, 12 + len(body)) + body + struct.pack("<I", 12 + len(body))
    return _with_block(idb)


options.truth(_after_three)


# --- compressed ----------------------------------------------------------------------

N_ZEROS = 64 * MIB // SMALLER   # what the bombs become


def _gzip_bomb(head):
    squeeze = zlib.compressobj(9, zlib.DEFLATED, 31)
    zeros = bytes(MIB)
    return squeeze.compress(head) + b"".join(
        squeeze.compress(zeros) for _ in range(N_ZEROS // MIB)) + squeeze.flush()


@row("64 MiB of empty packets in 64 KiB of gzip", status=0)
def gzip_bomb():
    return _gzip_bomb(CAPTURE_HEADER)


@gzip_bomb.truth
def _(report):
    packets(report, N_ZEROS // MIB * MIB // 16)
    equal("captured", report["capture"]["bytes"], 0)


@row("64 MiB of zeros in gzip, behind the head of a pcapng file", status=3)
def gzip_bomb_pcapng():
    return _gzip_bomb(roce.Pcapng().bytes())


@gzip_bomb_pcapng.truth
def _(report):
    packets(report, 0)


@row("64 MiB of zeros in xz that are no capture", status=3)
def xz_bomb():
    return lzma.compress(bytes(N_ZEROS), preset=0)


@xz_bomb.truth
def _(report):
    packets(report, 0)


@row("xz that asks for a dictionary of 4 GiB", status=3)
def xz_dictionary():
    """The size of the dictionary is the byte behind filter id and its size (.xz format
    5.3.1), followed by padding and the CRC of the block's header."""
    data = bytearray(lzma.compress(capture(frames(100))))
    header_bytes = (data[12] + 1) * 4
    at = data.index(b"\x21\x01", 12)
    data[at + 2] = 40
    end = 12 + header_bytes - 4
    data[end:end + 4] = struct.pack("<I", zlib.crc32(bytes(data[12:end])))
    return bytes(data)


@xz_dictionary.truth
def _(report):
    packets(report, 0)


@row("zstd that asks for a window of 2 TiB", status=3)
def zstd_window():
    """RFC 8878, 3.1.1.1: no single segment, a window descriptor with exponent 31."""
    return b"\x28\xb5\x2f\xfd" + b"\x00" + b"\xf8" + b"\x01\x00\x00" + bytes(64)


@zstd_window.truth
def _(report):
    packets(report, 0)


@row("gzip in gzip, a thousand times", status=3)
def gzip_in_gzip():
    data = capture(frames(10))
    for _ in range(1000):
        data = gzip.compress(data, 1, mtime=0)
    return data


@gzip_in_gzip.truth
def _(report):
    packets(report, 0)


@row("20,000 gzip members of one packet each", status=0)
def gzip_members():
    items = [CAPTURE_HEADER] + [record(START_S * 10**9 + i, f)
                                for i, f in enumerate(frames(20_000 // SMALLER))]
    return b"".join(gzip.compress(item, 1, mtime=0) for item in items)


@gzip_members.truth
def _(report):
    packets(report, 20_000 // SMALLER)
