# SPDX-License-Identifier: GPL-2.0-or-later
"""What pauses did to the packets that a point saw, as its records tell.

A packet is one that a pause stops if it has its class and is bound for the port that
pauses.  A gap between two of them in which a pause ended is a stop, and the time paused in
it is the time held.  Behind the last one only what was in the midst of a message counts.
"""

import bisect
import collections
import dataclasses

from pfc import GLOBAL
from roce import OPCODE

IN_MESSAGE = {code for name, code in OPCODE.items() if name.endswith(("First", "Middle"))}
NO_DATA = {code for name, code in OPCODE.items() if "cknowledge" in name or name == "CNP"}
OPCODE_AT = 14 + 20 + 8          # Ethernet, IPv4, UDP

# What may still come: reaction (IEEE 802.1Q 36.1.3.3), 100 m of cable, PHYs, a frame.
REACTION_NS, CABLE_NS, PHY_NS, FRAME_BYTES = 615, 1_000, 2_000, 9_238


@dataclasses.dataclass
class Held:
    """Packets of one sequence, and the pauses that they met."""
    intervals: list              # [start, end, how], one after the other
    times: list = dataclasses.field(default_factory=list)
    in_message: bool = False

    def __post_init__(self):
        self._ends = [end for _start, end, _how in self.intervals]
        self._starts = [start for start, _end, _how in self.intervals]

    def paused_until(self, time_ns):
        return sum(min(end, time_ns) - start
                   for start, end, _how in self.intervals if start < time_ns)

    def take(self, record):
        self.times.append(record.time_ns)
        opcode = record.frame[OPCODE_AT]
        if opcode not in NO_DATA and record.flight.tx.payload_bytes:
            self.in_message = opcode in IN_MESSAGE

    def gaps(self, in_message):
        """Time held in each of them."""
        for before, after in zip(self.times, self.times[1:]):
            n = bisect.bisect_right(self._ends, after) - bisect.bisect_right(
                self._ends, before)
            held_ns = self.paused_until(after) - self.paused_until(before)
            if n and held_ns:
                yield held_ns
        if self.intervals and self.intervals[-1][2] == "capture_end" and in_message:
            held_ns = self.paused_until(self._ends[-1]) - self.paused_until(self.times[-1])
            if held_ns:
                yield held_ns

    def late(self, after_ns):
        """Packets that came in a pause, so long after it began."""
        n = 0
        for time_ns in self.times:
            i = bisect.bisect_right(self._starts, time_ns) - 1
            n += i >= 0 and time_ns < self._ends[i] and (
                time_ns > self._starts[i] + after_ns)
        return n


def late_after_ns(link_bps, stamps):
    step = 1 if any(stamp % 1_000 for stamp in stamps) else 1_000
    return (REACTION_NS + CABLE_NS + PHY_NS + FRAME_BYTES * 8 * 10**9 // link_bps + 1
            + step)


def victims(tap, port, traffic_class, intervals):
    """Of one port that pauses, at one point; None if it stops nothing there."""
    stamps = [heard.time_ns for heard in tap.heard
              if heard.frame.pause.port is port
              and heard.frame.traffic_class == traffic_class]
    lane, streams = Held(intervals), collections.defaultdict(lambda: Held(intervals))
    has_paused, n_since, known = False, 0, set()
    for record in tap.records:
        flight = record.flight
        if flight is None:
            has_paused |= record.frame[6:12] == port.mac
        elif record.frame[:6] == port.mac and traffic_class in (flight.priority, GLOBAL):
            key = flight.tx.src, flight.tx.dst, flight.tx.dest_qpn
            lane.take(record)
            streams[key].take(record)
            n_since += has_paused
            known |= {key} if has_paused else set()
    if not n_since:
        return None
    # Streams that sent nothing since it paused first were not stopped by anything seen.
    streams = {key: streams[key] for key in sorted(known)}
    held = list(lane.gaps(any(s.in_message for s in streams.values())))
    return {"packets": n_since, "stops": len(held), "held_ns": sum(held),
            "late_packets": lane.late(late_after_ns(port.link.bps, stamps)),
            "streams": [[*key, len(gaps), sum(gaps)] for key, s in streams.items()
                        for gaps in [list(s.gaps(s.in_message))]]}


def marked_before(tap, port):
    """Whether some packet that had passed on its way to a port, before the port's first
    pause frame, was or came to be marked."""
    for record in tap.records:
        if record.flight is None and record.frame[6:12] == port.mac:
            return False
        if record.flight is not None and record.frame[:6] == port.mac:
            transit = tap.sim.transit_of(record.flight.tx)
            if transit.ce and record.flight.tx.carries_data():
                return True
    return False
