# SPDX-License-Identifier: GPL-2.0-or-later
"""The sample captures that captures/README.md calls clean, as they are and cut in ways
that leave nothing wrong: a later beginning, an earlier end, shorter packets, two files of
one, both points at once."""

import functools
import gzip
import re
import struct

from test_clean import SOURCE

HEADER_BYTES, RECORD_BYTES = 24, 16


@functools.lru_cache
def samples():
    """Directory -> its captures."""
    table = (SOURCE / "captures/README.md").read_text()
    names = re.findall(r"^\| `([^`]+)` \|.*\| *clean\b.*\|$", table, re.MULTILINE)
    return {name: sorted((SOURCE / "captures" / name).glob("*.pcap*.gz"))
            for name in names}


def split(data):
    """A classic pcap's header and its records, each [header, bytes]."""
    records, at = [], HEADER_BYTES
    while at < len(data):
        seconds, fraction, kept, wire = struct.unpack_from("<IIII", data, at)
        at += RECORD_BYTES
        records.append([seconds, fraction, wire, data[at:at + kept]])
        at += kept
    return data[:HEADER_BYTES], records


def joined(header, records, snap_length=1 << 18):
    out = bytearray(header)
    for seconds, fraction, wire, data in records:
        kept = data[:snap_length]
        out += struct.pack("<IIII", seconds, fraction, len(kept), wire) + kept
    return bytes(out)


def changed(random, data):
    """One or two files of it."""
    header, records = split(data)
    first = random.choice((0, 0, 1, 7, 100, len(records) // 2))
    last = len(records) - random.choice((0, 0, 1, 7, 100))
    snap_length = random.choice((1 << 18, 1 << 18, 70, 96, 128))
    records = records[first:last]
    if random.random() < 0.3:
        middle = len(records) // 2
        return {"0.pcap": joined(header, records[:middle], snap_length),
                "1.pcap": joined(header, records[middle:], snap_length)}
    return {"0.pcap": joined(header, records, snap_length)}


def make(random):
    name, paths = random.choice(sorted(samples().items()))
    if random.random() < 0.3:
        return {path.name: path.read_bytes() for path in paths}, ()
    path = random.choice(paths)
    data = gzip.decompress(path.read_bytes())
    if ".pcapng" in path.name or random.random() < 0.3:
        return {path.name: path.read_bytes()}, ()
    return {f"{name}-{part}": made for part, made in changed(random, data).items()}, ()
