#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What really happened in a fabric, as JSON.

streams[] and points{} are those of sim.py's truth, with these differences:
  A point of a stream speaks of the packets whose way leads through it; a stream that has
    none there is left out.  `elsewhere` counts requests that were delivered by another
    way, `way_unknown` those that were lost before a switch had chosen one.
  points{name}: pauses[] as the frames tell them that came there, whatever the capture
    made of them (see PausesHeard): `caused_by`, of each interval the MAC address of the
    port whose pause caused it, `marked_before`, whether some packet that came to that
    port before its first pause was marked, and what they stop (see fabric_victims.py); `mac_control`
    frames.
  streams[].points{name}: cnps_for: CNPs that complain of this stream's data, whoever sent
    them; ce_by: which port marked the CE data that was captured.
  streams[]: ways{space}: for each packet, in the order of sending, the number of its
    spine, -1 for none; dropped[]: [space, copy, where, reason]; rates[]: [time, bit/s] of
    DCQCN.

fabric:
  pauses[]: each from XOFF to XON, as the port that asks for it sees it.  `cause` makes
    them a tree: {"kind": "pause", "port", "pause"} is the consequence of another one,
    that held back the port which most of the waiting bytes want to leave by; "congestion",
    "slow_receiver" and "storm" are roots.
  stopped[]: each port that was paused: total time in which nothing was begun, and
    intervals [from the frame on, blocked from, end, how it ended, refreshes, pauses].
  asked[]: XOFF, refresh and XON frames by sending port and class.
  marks[], drops[]: by egress queue, with the time of the first.
  cnps[]: who sent it when, and which packet was to blame: [kind, PSN, copy], `marked_by`
    and the delay since that came; without one it went with a NAK.
  peaks: the most that each switch had stored.
  notification: by host, scope and interval of its CNPs, and what else they are like.
"""

import collections
import dataclasses

from fabric_victims import marked_before, victims
from pfc import GLOBAL, quanta_ns
from sim import CNPS, REQUESTS, RESPONSES, START_NS, Simulation
from switch import Switch


def class_name(traffic_class):
    return None if traffic_class == GLOBAL else traffic_class


class PausesHeard:
    """The pauses of one sender and class, told by the frames that a point saw: a time
    starts or replaces the timer, 0 ends it, and otherwise it runs out."""

    def __init__(self):
        self.xoff = self.refresh = self.xon = self.expired = 0
        self.intervals = []
        self.pauses = []         # of each interval, the first Pause that it is due to
        self._start = self._until = None

    def take(self, heard):
        self._let_expire(heard.time_ns)
        if heard.frame.quanta == 0:
            self.xon += 1
            self._end(heard.time_ns, "xon")
            return
        if self._start is None:
            self.xoff += 1
            self._start = heard.time_ns
            self.pauses.append(heard.frame.pause)
        else:
            self.refresh += 1
        self._until = heard.time_ns + quanta_ns(heard.frame.quanta, heard.link_bps)

    def finish(self, time_ns):
        self._let_expire(time_ns)
        self._end(time_ns, "capture_end")

    def _let_expire(self, time_ns):
        if self._start is not None and self._until <= time_ns:
            self.expired += 1
            self._end(self._until, "expired")

    def _end(self, time_ns, how):
        if self._start is not None:
            self.intervals.append([self._start, time_ns, how])
            self._start = None

    def truth(self):
        lengths = [end - start for start, end, _how in self.intervals]
        return {"xoff": self.xoff, "refresh": self.refresh, "xon": self.xon,
                "expired": self.expired, "intervals": self.intervals,
                "total_ns": sum(lengths), "longest_ns": max(lengths, default=0)}


def pauses_heard(tap, end_ns, all_pauses):
    """By sending port and class; `end_ns` is when the capture ends."""
    by_sender = collections.defaultdict(PausesHeard)
    for heard in tap.heard:
        key = heard.frame.pause.port, heard.frame.traffic_class
        by_sender[key].take(heard)
    out = []
    for (port, traffic_class), pauses in by_sender.items():
        pauses.finish(end_ns)
        causes = [all_pauses[pause.cause["pause"]].port.mac.hex(":")
                  if pause.cause["kind"] == "pause" else None for pause in pauses.pauses]
        out.append({"from": port.name, "to": port.peer.name,
                    "src_mac": port.mac.hex(":"), "dst_mac": port.peer.mac.hex(":"),
                    "priority": class_name(traffic_class), **pauses.truth(),
                    "marked_before": marked_before(tap, port),
                    "caused_by": causes,
                    "victims": victims(tap, port, traffic_class, pauses.intervals)})
    return out


class FabricTruth(Simulation):
    """The part of a Fabric that tells what happened."""

    def truth(self):
        truth = super().truth()
        for tap in self.taps:
            point = truth["points"][tap.point.name]
            point["mac_control"] = len(tap.heard)
            point["link_bps"] = tap.link_bps()
            point["pauses"] = pauses_heard(tap, self.last_captured_ns(tap), self.pauses)
        truth["start_ns"], truth["end_ns"] = START_NS, self.now
        truth["fabric"] = {
            "pauses": [self._pause_truth(pause) for pause in self.pauses],
            "stopped": self._stopped(), "asked": self._asked(), "marks": self._marks(),
            "drops": self._drops(), "cnps": self._cnps(),
            "peaks": {s.name: s.peak_bytes for s in self.switches.values()},
            "notification": {host.name: dataclasses.asdict(host.features.notification)
                             for host in self.hosts if host.features.notification}}
        return truth

    def _scenario_truth(self):
        scenario = self.scenario
        return {"name": scenario.name, "seed": scenario.seed,
                "topology": repr(scenario.topology), "switch": repr(scenario.switch),
                "host": repr(scenario.host),
                "hosts": {f"h{i}": repr(host) for i, host in scenario.hosts.items()},
                "files": scenario.files_of_points()}

    # streams

    def _stream_truth(self, end):
        out = super()._stream_truth(end)
        del out["direction"]
        out["from"], out["to"] = end.host.name, end.peer.host.name
        out["points"] = {k: v for k, v in out["points"].items() if v is not None}
        mine = [self.transit_of(tx) for tx in self.all_tx if tx.end is end]
        out["ways"] = {space: [self._spine_of(t) for t in mine if t.tx.space == space]
                       for space in (REQUESTS, RESPONSES)}
        out["dropped"] = [[t.tx.space, t.tx.name(), t.drop.port.name, t.drop.reason]
                          for t in mine if t.drop is not None]
        reaction = self.reactions.get(end)
        out["rates"] = [list(step) for step in reaction.steps] if reaction else []
        return out

    def _vantage(self, end, node):
        """Of a point at one host's link alone; of one inside the fabric "middle"."""
        ports = {port for port, _direction in self.taps[node - 1].crossings}
        ports |= {port.peer for port in ports if len(ports) == 1}
        for host, word in ((end.host, "requester"), (end.peer.host, "responder")):
            if host.nic.port in ports and len(ports) == 2:
                return word
        return "middle"

    def _spine_of(self, transit):
        return next((int(port.name.split(":spine")[1]) for port in transit.ports
                     if ":spine" in port.name), -1)

    def _point_truth(self, end, by_space, node, tap):
        here = {space: [tx for tx in txs if self._leads_through(tx, tap)]
                for space, txs in by_space.items()}
        if not any(here.values()):
            return None
        out = super()._point_truth(end, here, node, tap)
        serials = {tx.serial for tx in here[REQUESTS]}
        not_here = [self.transit_of(tx) for tx in by_space[REQUESTS]
                    if tx.serial not in serials]
        destination = self._destination_of(end)
        out["elsewhere"] = sum(destination in t.tx.passes for t in not_here)
        out["way_unknown"] = sum(t.drop is not None and self._way(t)[1] is None
                                 for t in not_here)
        out["cnps_for"] = sum(f.tx.space == CNPS and f.tx.end.peer is end
                              for f in tap.seen)
        marked_by = [f.marked_by for f in tap.seen
                     if f.tx.end is end and f.ce and f.tx.carries_data()]
        out["ce_by"] = dict(collections.Counter(p.name for p in marked_by))
        return out

    def _leads_through(self, tx, tap):
        """Whether it came to a point, or would have, had it not been dropped."""
        transit = self.transit_of(tx)
        if tx.passes.get(tap.node):
            return True
        if transit.drop is None:
            return False
        crossings, _known = self._way(transit)
        return bool(crossings & tap.crossings)

    def _way(self, transit):
        """The crossings of a packet's way, to its end even if it did not come so far; and
        the last port, None where a switch would have had the choice."""
        crossings, port = set(), transit.ports[0]
        ports = iter(transit.ports[1:])
        while True:
            crossings |= {(port, "out"), (port.peer, "in")}
            if not isinstance(port.peer.owner, Switch):
                return crossings, port
            port = next(ports, None) or port.peer.owner.only_way(transit)
            if port is None:
                return crossings, None

    # the fabric

    def last_captured_ns(self, tap):
        """When the capture ends: with the last frame of its file."""
        (points,) = (p for p in self.scenario.files_of_points().values()
                     if tap.point.name in p)
        return max((t.records[-1].time_ns for t in self.taps
                    if t.point.name in points and t.records), default=0)

    @staticmethod
    def _pause_truth(pause):
        return {"pause": pause.serial, "from": pause.port.name,
                "stops": pause.port.peer.name, "src_mac": pause.port.mac.hex(":"),
                "priority": class_name(pause.traffic_class), "start_ns": pause.start_ns,
                "end_ns": pause.end_ns, "frames": pause.frames, "cause": pause.cause}

    def _stopped(self):
        out = []
        for port in self.ports.values():
            for key in sorted({stop.traffic_class for stop in port.gate.stops}):
                stops = [s for s in port.gate.stops if s.traffic_class == key]
                ends = [self.now if s.end_ns is None else s.end_ns for s in stops]
                out.append({
                    "port": port.name, "by": port.peer.name, "priority": class_name(key),
                    "total_ns": sum(max(0, end - s.blocked_ns)
                                    for s, end in zip(stops, ends)),
                    "intervals": [[s.start_ns, s.blocked_ns, s.end_ns, s.end, s.refreshes,
                                   s.serials] for s in stops]})
        return out

    def _asked(self):
        out = {}
        for pause in self.pauses:
            entry = out.setdefault((pause.port, pause.traffic_class), {
                "from": pause.port.name, "src_mac": pause.port.mac.hex(":"),
                "priority": class_name(pause.traffic_class),
                "first_ns": pause.start_ns, "xoff": 0, "refresh": 0, "xon": 0})
            entry["xoff"] += 1
            entry["refresh"] += pause.frames - 1
            entry["xon"] += pause.says_xon and pause.end_ns is not None
        return list(out.values())

    def _marks(self):
        return [{"port": port.name, "priority": priority, "packets": n, "first_ns": first}
                for switch in self.switches.values()
                for (port, priority), (n, first) in switch.marks.items()]

    def _drops(self):
        out = {}
        for drop in self.drops:
            key = drop.port.name, drop.transit.priority, drop.reason
            entry = out.setdefault(key, {"port": key[0], "priority": key[1],
                                         "reason": key[2], "packets": 0,
                                         "first_ns": drop.time_ns})
            entry["packets"] += 1
        return list(out.values())

    def _cnps(self):
        out = []
        for tx in self.all_tx:
            if tx.space == CNPS:
                trigger = tx.trigger
                out.append({
                    "src": tx.src, "dst": tx.dst, "dst_qpn": tx.dest_qpn,
                    "time_ns": tx.time_ns, "delay_ns": tx.time_ns - tx.trigger_ns,
                    "for": trigger.tx.name() if trigger else None,
                    "marked_by": trigger.marked_by.name if trigger else None})
        return out
