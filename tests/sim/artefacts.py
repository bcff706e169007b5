# SPDX-License-Identifier: GPL-2.0-or-later
"""What captures do to the truth: a capture as it should have been becomes the one that
somebody has.

An artefact is data (a frozen dataclass) and a pure function: called with the records of
a point in the order of the file and a random.Random, it gives other records and a dict
that says what it changed.  It looks at nothing but the records, so it works on those of
any source.  Point.artefacts of a scenario are applied in turn, each with a random
sequence of its own:

    Point("receiver", artefacts=(DeliverTwice(lag_ns=300), Drop(0.01)))

A record's `part` says which file or interface it goes to: all others stand in part 0.
"""

import dataclasses
import heapq
import itertools
import zlib

import tunnels


IPV4_PSN = 14 + 20 + 8 + 9      # where it stands in an untagged frame


@dataclasses.dataclass(frozen=True)
class Record:
    """One record of a capture file."""
    time_ns: int
    frame: bytes                 # as far as it was captured
    wire_bytes: int              # of the whole frame
    flight: object = None        # what it is, in a simulation; for the truth alone
    part: int = 0
    repeated: bool = False       # the capture delivered it before


def source_mac(record):
    return record.frame[6:12]


def flow_hash(record):
    """Of addresses and UDP ports as a switch or a NIC would hash them, one direction
    apart from the other; of what is not IP, of its MAC addresses."""
    frame, at = record.frame, 12
    while frame[at:at + 2] in (b"\x81\x00", b"\x88\xa8"):
        at += 4
    ip = at + 2
    if frame[at:ip] == b"\x08\x00":
        ports = ip + (frame[ip] & 15) * 4
        key = frame[ip + 12:ip + 20] + frame[ports:ports + 4]
    elif frame[at:ip] == b"\x86\xdd":
        key = frame[ip + 8:ip + 44]
    else:
        key = frame[:12]
    # CRCs of two flows differ in the same bits as those of two others: mixed here.
    return zlib.crc32(key) * 0x9E3779B1 >> 16 & 0xFFFF


def _way_of(record, by, ways, random):
    """Which of several ways it takes, "flow" by flow or "packet" by packet."""
    return {"flow": lambda: flow_hash(record),
            "packet": lambda: random.getrandbits(32)}[by]() % ways


# --- what is not there, or not whole -------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Drop:
    """The capture misses packets."""
    rate: float

    def __call__(self, records, random):
        kept = [r for r in records if not random.random() < self.rate]
        return kept, {"dropped": len(records) - len(kept)}


@dataclasses.dataclass(frozen=True)
class DropBursts:
    """The capture misses packets in rows, as when a buffer is full."""
    every: int                   # packets between two rows, about
    length: int                  # packets in a row

    def __call__(self, records, random):
        kept, skip = [], 0
        for record in records:
            if not skip and random.random() < 1 / self.every:
                skip = self.length
            if skip:
                skip -= 1
            else:
                kept.append(record)
        return kept, {"dropped": len(records) - len(kept)}


@dataclasses.dataclass(frozen=True)
class Snap:
    length: int

    def __call__(self, records, _random):
        out = [dataclasses.replace(r, frame=r.frame[:self.length]) for r in records]
        return out, {"cut": sum(len(r.frame) > self.length for r in records)}


@dataclasses.dataclass(frozen=True)
class DamagePsns:
    """A mirror turns over a bit of some PSNs, of data over IPv4, and cuts the ICRC off."""
    rate: float = 0.01
    lowest_bit: int = 7          # what it stands for is more than reordering does
    length: int = 96
    first: int = 100             # packets that stay as they are, and the last ones
    last: int = 20

    def __call__(self, records, random):
        out, damaged = [], 0
        for i, record in enumerate(records):
            frame = bytearray(record.frame)
            if (self.first <= i < len(records) - self.last and record.wire_bytes > self.length + 4 and
                    frame[12:14] == b"\x08\x00" and random.random() < self.rate):
                bit = random.randrange(self.lowest_bit, 24)
                frame[IPV4_PSN + 2 - bit // 8] ^= 1 << bit % 8
                damaged += 1
            out.append(dataclasses.replace(record, frame=bytes(frame[:self.length])))
        return out, {"psns_damaged": damaged}


@dataclasses.dataclass(frozen=True)
class PartialPath:
    """A mirror of one of several spines: the others carry the rest."""
    ways: int = 4
    seen: tuple = (0,)
    by: str = "flow"             # or "packet", where switches spray

    def __call__(self, records, random):
        kept = [r for r in records
                if _way_of(r, self.by, self.ways, random) in self.seen]
        return kept, {"dropped": len(records) - len(kept)}


@dataclasses.dataclass(frozen=True)
class Cut:
    """The capture begins after the first packets, and ends before the last ones."""
    first: int = 0               # so many are left out
    last: int = 0

    def __call__(self, records, _random):
        kept = records[self.first:max(self.first, len(records) - self.last)]
        return kept, {"dropped": len(records) - len(kept)}


@dataclasses.dataclass(frozen=True)
class OneWay:
    """What one host sends: it is the first to speak, or the other one."""
    first: bool = True

    def __call__(self, records, _random):
        first = source_mac(records[0]) if records else b""
        kept = [r for r in records if (source_mac(r) == first) == self.first]
        return kept, {"dropped": len(records) - len(kept)}


# --- what is there twice, or in another place ----------------------------------------


@dataclasses.dataclass(frozen=True)
class DeliverTwice:
    """A mirror of both the way in and the way out of a switch."""
    lag_ns: int = 700
    jitter_ns: int = 200
    share: float = 1.0

    def __call__(self, records, random):
        heap, out, order = [], [], itertools.count()
        for record in records:
            while heap and heap[0][0] <= record.time_ns:
                out.append(heapq.heappop(heap)[2])
            out.append(record)
            if random.random() < self.share:
                time_ns = record.time_ns + self.lag_ns + random.randrange(
                    self.jitter_ns + 1)
                copy = dataclasses.replace(record, time_ns=time_ns, repeated=True)
                heapq.heappush(heap, (time_ns, next(order), copy))
        out += [copy for _, _, copy in sorted(heap)]
        return out, {"repeated": len(out) - len(records)}


@dataclasses.dataclass(frozen=True)
class MergedQueues:
    """Two receive queues, each in order, are emptied in turn into one file: of every
    `block` packets, those of one queue stand first."""
    block: int = 16
    by: str = "packet"           # how the NIC chooses the queue, or "flow", "direction"

    def __call__(self, records, random):
        if self.by == "direction":  # who speaks first stands first
            queue = [source_mac(r) != source_mac(records[0]) for r in records]
        else:
            queue = [_way_of(r, self.by, 2, random) for r in records]
        order = sorted(range(len(records)), key=lambda i: (i // self.block, queue[i], i))
        return [records[i] for i in order], {
            "moved": sum(i != j for i, j in enumerate(order)),
            "steps_back": _steps_back([records[i] for i in order])}


# --- files ---------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class BondMembers:
    """Each member of a bond was captured by itself."""
    by: str = "flow"             # or "packet"

    def __call__(self, records, random):
        return _in_parts(records, lambda r: _way_of(r, self.by, 2, random))


@dataclasses.dataclass(frozen=True)
class OnePerDirection:
    """What is sent stands in one file, what is received in another."""

    def __call__(self, records, _random):
        first = source_mac(records[0]) if records else b""
        return _in_parts(records, lambda r: int(source_mac(r) != first))


def _in_parts(records, part_of):
    out = [dataclasses.replace(r, part=part_of(r)) for r in records]
    return out, {"parts": [sum(r.part == part for r in out) for part in (0, 1)]}


# --- clocks --------------------------------------------------------------------------


def _steps_back(records):
    return sum(b.time_ns < a.time_ns for a, b in zip(records, records[1:]))


def _stamped(records, times):
    return [dataclasses.replace(r, time_ns=t) for r, t in zip(records, times)]


@dataclasses.dataclass(frozen=True)
class Clock:
    """A clock that is wrong, and may be set back once, in the middle of the file."""
    offset_ns: int = 0
    drift_ppb: int = 0
    set_back_ns: int = 0

    def __call__(self, records, _random):
        if not records:
            return records, {}
        start, middle = records[0].time_ns, len(records) // 2
        out = _stamped(records, [
            r.time_ns + self.offset_ns + (r.time_ns - start) * self.drift_ppb // 10**9
            - (self.set_back_ns if i >= middle else 0) for i, r in enumerate(records)])
        return out, {"offset_ns": self.offset_ns, "drift_ppb": self.drift_ppb,
                     "steps_back": _steps_back(out)}


@dataclasses.dataclass(frozen=True)
class StepsBack:
    """Some stamps are too early, as those of processors whose clocks differ."""
    rate: float = 0.02
    by_ns: int = 200_000

    def __call__(self, records, random):
        out = _stamped(records, [
            r.time_ns - (random.randrange(1, self.by_ns + 1)
                         if random.random() < self.rate else 0) for r in records])
        return out, {"steps_back": _steps_back(out)}


@dataclasses.dataclass(frozen=True)
class Bunch:
    """Stamps by software that looks for packets now and then: all that has come since
    gets (nearly) the time when it looks."""
    poll_ns: int = 50_000
    apart_ns: int = 20           # from one packet of a bunch to the next

    def __call__(self, records, _random):
        times, newest = [], 0
        for record in records:
            polled = -(-record.time_ns // self.poll_ns) * self.poll_ns
            newest = max(polled, newest + self.apart_ns)
            times.append(newest)
        bunches = len({r.time_ns // self.poll_ns for r in records})
        return _stamped(records, times), {"bunches": bunches}


# --- outer headers -------------------------------------------------------------------

TUNNELS = {kind.name: kind.wrap for kind in tunnels.KINDS}


@dataclasses.dataclass(frozen=True)
class Encapsulate:
    """As remote mirrors and overlays do it.  Sequence numbers are the mirror's: what a
    capture drops before this leaves no hole in them, what it drops after this does."""
    kind: str                    # of tunnels.KINDS

    def __call__(self, records, _random):
        out = []
        for i, record in enumerate(records):
            frame = TUNNELS[self.kind](record.frame, i)
            out.append(dataclasses.replace(
                record, frame=frame,
                wire_bytes=record.wire_bytes + len(frame) - len(record.frame)))
        return out, {"kind": self.kind}


def apply(artefacts, records, random_of):
    """All in turn; random_of(i) is the random sequence of the i-th.  Gives the records
    and what each changed."""
    changes = []
    for i, artefact in enumerate(artefacts):
        records, changed = artefact(records, random_of(i))
        changes.append({"artefact": type(artefact).__name__, **changed})
    return records, changes
