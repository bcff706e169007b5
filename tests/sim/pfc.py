#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Priority flow control (IEEE 802.1Q, 36) and 802.3x pause: who stops whom.

A link has two ends.  At the receiving one a Meter counts the bytes that came in through
it and are still stored, by class; above XOFF it asks for a pause, repeats that while it
holds, and takes it back below XON.  At the sending one a Gate runs a timer for each
class: a time starts or replaces it, 0 ends it, and otherwise it runs out.

A class is a priority, or GLOBAL for a pause of the whole link.

What is left out: thresholds that move with what is free of the buffer; one frame for
several priorities at once (each has its own here, with one bit set).
"""

import collections
import dataclasses

import roce

GLOBAL = 8                       # the class of an 802.3x pause, as the analyzer has it
QUANTUM_BITS = 512
CONTROL_FRAME_BYTES = 64         # with its check sequence
WIRE_OVERHEAD_BYTES = 20         # preamble, start of frame, gap


def quanta_ns(quanta, link_bps):
    return quanta * QUANTUM_BITS * 10**9 // link_bps


def wire_ns(frame_bytes, link_bps):
    """How long a frame takes the link; no link is faster than it is said to be."""
    return -(-(frame_bytes + WIRE_OVERHEAD_BYTES) * 8 * 10**9 // link_bps)


@dataclasses.dataclass(frozen=True)
class PauseConfig:
    kind: str = "pfc"            # or "802.3x", or "none": nobody is ever paused
    priorities: tuple = (3,)     # that are lossless; 802.3x: all
    xoff_bytes: int = 40_000
    xon_bytes: int = 20_000
    headroom_bytes: int = 40_000  # above XOFF
    quanta: int = 0xFFFF
    refresh_ns: int = 0          # 0: half the time that the quanta last
    release: str = "xon"         # or "expiry": the pause just runs out
    reaction_ns: int = 200       # from the frame's arrival until its class has stopped


def headroom_needed(link_bps, delay_ns, reaction_ns, frame_bytes):
    """What still comes in after XOFF: the frame that is being sent before the PFC frame
    can be; what is on the way in the time that it takes there, the reaction, and the way
    back; and the frame that is being sent when its class is to stop."""
    way_ns = (wire_ns(frame_bytes, link_bps) + wire_ns(CONTROL_FRAME_BYTES, link_bps)
              + 2 * delay_ns + reaction_ns)
    return way_ns * link_bps // (8 * 10**9) + 2 * frame_bytes


@dataclasses.dataclass(eq=False)
class Pause:
    """Truth: from the first XOFF to the XON, as the one who asks for it sees it."""
    serial: int
    port: object                 # that sends the frames
    traffic_class: int
    start_ns: int
    cause: dict
    says_xon: bool               # or it lets the time run out
    end_ns: int = None           # None: still asked for when the simulation ended
    frames: int = 0              # XOFF and its repetitions


@dataclasses.dataclass(frozen=True)
class PauseFrame:
    """A MAC control frame on its way over one link."""
    pause: Pause
    src_mac: bytes
    quanta: int                  # 0: XON

    @property
    def traffic_class(self):
        return self.pause.traffic_class

    def bytes(self):
        if self.traffic_class == GLOBAL:
            return roce.pause(self.quanta, src=self.src_mac)
        return roce.pfc({self.traffic_class: self.quanta}, src=self.src_mac)


class Meter:
    """Counts at the receiving end of a link.  `why(class)` says what a pause is due to."""

    def __init__(self, port, config, why):
        self.port, self.config = port, config
        self.stored = collections.Counter()     # class -> bytes
        self.peak = collections.Counter()
        self._why = why
        self._asked = {}                        # class -> Pause in force
        refresh = config.refresh_ns or quanta_ns(config.quanta, port.link.bps) // 2
        self._refresh_ns = max(1, refresh)

    def class_of(self, priority):
        """None: of this priority nothing is paused, and it may be dropped."""
        if self.config.kind == "802.3x":
            return GLOBAL
        lossless = self.config.kind == "pfc" and priority in self.config.priorities
        return priority if lossless else None

    def has_room(self, priority, n_bytes):
        key = self.class_of(priority)
        limit = self.config.xoff_bytes + self.config.headroom_bytes
        return key is None or self.stored[key] + n_bytes <= limit

    def add(self, priority, n_bytes):
        key = self.class_of(priority)
        if key is None:
            return
        self.stored[key] += n_bytes
        self.peak[key] = max(self.peak[key], self.stored[key])
        if self.stored[key] > self.config.xoff_bytes and key not in self._asked:
            self.ask(key, self._why(key))

    def remove(self, priority, n_bytes):
        key = self.class_of(priority)
        if key is None:
            return
        self.stored[key] -= n_bytes
        assert self.stored[key] >= 0
        if self.stored[key] <= self.config.xon_bytes and key in self._asked:
            self.take_back(key)

    def ask(self, key, cause):
        sim = self.port.sim
        pause = Pause(len(sim.pauses), self.port, key, sim.now, cause,
                      says_xon=self.config.release == "xon")
        sim.pauses.append(pause)
        self._asked[key] = pause
        self._send_xoff(pause)

    def _send_xoff(self, pause):
        if self._asked.get(pause.traffic_class) is not pause:
            return
        pause.frames += 1
        self.port.send_control(PauseFrame(pause, self.port.mac, self.config.quanta))
        if not pause.says_xon:
            ends_ns = quanta_ns(self.config.quanta, self.port.link.bps)
            self.port.sim.after(ends_ns, self._let_expire, pause)
        else:
            self.port.sim.after(self._refresh_ns, self._send_xoff, pause)

    def _let_expire(self, pause):
        """Nothing is said; if there is still too much, it is asked for anew."""
        key = pause.traffic_class
        self._asked.pop(key)
        pause.end_ns = self.port.sim.now
        if self.stored[key] > self.config.xoff_bytes:
            self.ask(key, self._why(key))

    def take_back(self, key):
        if not self._asked[key].says_xon:
            return
        pause = self._asked.pop(key)
        pause.end_ns = self.port.sim.now
        self.port.send_control(PauseFrame(pause, self.port.mac, 0))


@dataclasses.dataclass(eq=False)
class Stop:
    """Truth: a class of a sending port was paused."""
    traffic_class: int
    start_ns: int                # when the frame came
    blocked_ns: int              # when nothing more was begun
    until_ns: int                # when the timer runs out
    serials: list                # of the Pauses that caused it
    refreshes: int = 0
    end_ns: int = None
    end: str = "still_paused"    # or "xon" or "expired"


class Gate:
    """The sending end of a link: what it may not send."""

    def __init__(self, port, reaction_ns):
        self.port = port
        self.stops = []
        self._in_force = {}      # class -> Stop
        self.reaction_ns = reaction_ns

    def stop_of(self, priority):
        """What holds a priority back now; None if nothing does."""
        for key in (priority, GLOBAL):
            stop = self._in_force.get(key)
            if stop is not None and self.port.sim.now >= stop.blocked_ns:
                return stop
        return None

    def take(self, frame):
        now, key = self.port.sim.now, frame.traffic_class
        stop = self._in_force.get(key)
        if frame.quanta == 0:
            if stop is not None:
                self._end(stop, "xon")
            return
        until = now + quanta_ns(frame.quanta, self.port.link.bps)
        if stop is None:
            stop = Stop(key, now, now + self.reaction_ns, until, [])
            self._in_force[key] = stop
            self.stops.append(stop)
        else:
            stop.refreshes += 1
            stop.until_ns = until
        if frame.pause.serial not in stop.serials:
            stop.serials.append(frame.pause.serial)
        self.port.sim.at(until, self._expire, stop, until)

    def _expire(self, stop, until):
        if stop.end_ns is None and stop.until_ns == until:
            self._end(stop, "expired")

    def _end(self, stop, how):
        stop.end_ns, stop.end = self.port.sim.now, how
        del self._in_force[stop.traffic_class]
        self.port.kick()
