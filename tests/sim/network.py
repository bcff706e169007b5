# SPDX-License-Identifier: GPL-2.0-or-later
"""What travels, and what it travels over: see the top of sim.py."""

import dataclasses
import heapq
import itertools
import random

import artefacts
import roce
from artefacts import Record
from scenario import CM, HARMLESS, REQUESTS, RESPONSES, START_NS, Work, path_of


class Scheduler:
    def __init__(self):
        self.now = START_NS
        self._heap, self._order = [], itertools.count()

    def at(self, time_ns, call, *args):
        heapq.heappush(self._heap, (max(time_ns, self.now), next(self._order), call, args))

    def after(self, delay_ns, call, *args):
        self.at(self.now + delay_ns, call, *args)

    def run(self, until_ns=None):
        """Until nothing is left to be done, or that time has come."""
        while self._heap and (until_ns is None or self._heap[0][0] <= until_ns):
            self.now, _, call, args = heapq.heappop(self._heap)
            call(*args)


@dataclasses.dataclass(eq=False)
class Tx:
    """One packet as a host sent it."""
    end: object                  # the QueuePairEnd or Host it comes from
    space: str
    opcode: int
    psn: int = 0                 # unwrapped
    n_psns: int = 1
    headers: bytes = b""
    payload_bytes: int = 0
    payload: bytes = b""         # instead of a pattern, for CM
    ack_request: bool = False
    syndrome: int = 0
    dest_qpn: int = 0
    resent: bool = False
    round_i: int = -1            # requests sent again: index into Requester.rounds
    read_bytes: int = 0          # READ requests: how much is asked for
    work: Work = None            # requests: the message it belongs to
    is_last: bool = False        # requests: the last packet of its message
    needless: bool = False       # requests: already executed when it was sent
    becn: bool = False
    gap_end: int = 0             # sequence NAKs of who keeps what is beyond a gap
    # set when it is sent
    copy: int = 0
    ident: int = 0
    time_ns: int = 0
    serial: int = 0
    passes: dict = dataclasses.field(default_factory=dict)  # node -> how many came
    captured: dict = dataclasses.field(default_factory=dict)  # node -> [Flight]
    fates: list = dataclasses.field(default_factory=list)
    evident: set = dataclasses.field(default_factory=set)  # nodes, see _find_evident()
    _bytes: dict = dataclasses.field(default_factory=dict)  # by what makes them differ

    @property
    def kind(self):
        name = roce.OPCODE_NAME[self.opcode]
        return "DC" + name[2:] if self.end.transport == "DC" else name

    def name(self):
        return [self.kind, self.psn & 0xFFFFFF, self.copy]

    def came_to(self, node):
        """Whether a whole copy was captured there."""
        return self.number_at(node) is not None

    def number_at(self, node):
        """The place of the first whole copy in the capture; None if there is none."""
        return next((f.number for f in self.captured.get(node, []) if not f.corrupt), None)

    def carries_data(self):
        return self.space in (REQUESTS, RESPONSES) and self.payload_bytes > 0

    # What another kind of packet says differently.

    @property
    def src(self):
        return self.end.host.config.address

    @property
    def dst(self):
        return self.end.peer.host.config.address

    @property
    def tos(self):
        return self.end.host.config.tos

    @property
    def udp_port(self):
        return self.end.udp_port

    def ip_bytes(self, ce=False, corrupt=False, ttl=64):
        """The packet from its IP header on, as it is at some place of its way."""
        key = ce, corrupt, ttl
        if key not in self._bytes:
            self._bytes[key] = self._build(*key)
        return self._bytes[key]

    def _build(self, ce, corrupt, ttl):
        body = self.payload or bytes([self.psn & 0xFF]) * self.payload_bytes
        ib = roce.transport(self.opcode, dest_qpn=self.dest_qpn, psn=self.psn,
                            headers=self.headers, payload=body, becn=self.becn,
                            ack_request=self.ack_request)
        in_header = corrupt and self.psn % 2 == 1 and ":" not in self.src
        ip = roce.Ip(self.src, self.dst, tos=self.tos | (roce.ECN_CE if ce else 0),
                     ttl=ttl, ident=self.ident, checksum_xor=0x10 if in_header else 0)
        return roce.rocev2(ip, self.udp_port, ib,
                           icrc_xor=0x10 if corrupt and not in_header else 0)


@dataclasses.dataclass(eq=False)
class Flight:
    """A copy of a Tx that travels."""
    tx: Tx
    forward: bool
    ce: bool = False
    corrupt: bool = False
    # where it was captured: which it was to come, its place in the file and its stamp
    arrival: int = -1
    number: int = -1
    time_ns: int = 0


NO_DRAWS = (1.0,) * 6


class Path:
    """Nodes in a row: host A, the points, host B; see the top of this file."""

    def __init__(self, sim):
        scenario = sim.scenario
        self.sim = sim
        self.segments = scenario.segments or path_of()
        assert len(self.segments) == len(scenario.points) + 1
        self.last_node = len(scenario.points) + 1
        self._random = {}
        self._busy_until = {}

    def vantage(self, forward, node):
        """Where a point stands for requests of one direction, as the analyzer's word."""
        delays = [segment.delay_ns for segment in self.segments]
        before, after = sum(delays[:node]), sum(delays[node:])
        if not forward:
            before, after = after, before
        return "middle" if before and after else "responder" if before else "requester"

    def send(self, flight):
        self._cross(flight, 0 if flight.forward else self.last_node)

    def _cross(self, flight, node):
        i = node if flight.forward else node - 1
        segment = self.segments[i]
        impairment = segment.forward if flight.forward else segment.backward
        key = (i, flight.forward)
        if key not in self._random:
            self._random[key] = random.Random(
                f"{self.sim.scenario.seed}/{i}/{flight.forward}")
        draw = self._random[key].random
        # Without harm and jitter nothing depends on chance.
        draws = (NO_DRAWS if impairment is HARMLESS and not segment.jitter_ns
                 else [draw() for _ in range(6)])
        tx = flight.tx
        applies = tx.space in impairment.spaces
        name = tx.space, tx.psn - tx.end.first_psn(tx.space), tx.copy
        if name in impairment.drop or applies and draws[0] < impairment.loss:
            return
        if applies and draws[1] < impairment.corrupt and tx.carries_data():
            flight.corrupt = True
        if draws[2] < impairment.mark and tx.space != CM and tx.tos & 3:
            flight.ce = True
        arrival = self.sim.now + segment.delay_ns + int(draws[3] * segment.jitter_ns)
        if name in impairment.late or applies and draws[4] < impairment.reorder:
            arrival += impairment.reorder_ns
        else:
            arrival = max(arrival, self._busy_until.get(key, 0))
            self._busy_until[key] = arrival
        next_node = node + 1 if flight.forward else node - 1
        self.sim.at(arrival, self._arrive, flight, next_node)
        if applies and draws[5] < impairment.duplicate:
            self.sim.at(arrival + impairment.duplicate_lag_ns, self._arrive,
                        dataclasses.replace(flight), next_node)

    def _arrive(self, flight, node):
        flight.tx.passes[node] = flight.tx.passes.get(node, 0) + 1
        if node in (0, self.last_node):
            (self.sim.host_b if flight.forward else self.sim.host_a).receive(flight)
        else:
            self.sim.taps[node - 1].see(flight)
            self._cross(flight, node)


class Tap:
    """A capture point at work."""

    def __init__(self, sim, point, node):
        self.sim, self.point, self.node = sim, point, node
        self.records = []        # as a perfect capture has them, then as they are
        self.seen = []           # captured flights in order, each once
        self.n_dropped = 0

    def see(self, flight):
        ends = [roce.mac(h.config.mac) for h in (self.sim.host_a, self.sim.host_b)]
        src, dst = ends if flight.forward else reversed(ends)
        frame = roce.ethernet(flight.tx.ip_bytes(flight.ce, flight.corrupt), src=src,
                              dst=dst, vlans=self.sim.scenario.vlans)
        # As it is here; it may change on its way.
        self.see_frame(frame, dataclasses.replace(flight, arrival=len(self.records)))

    def see_frame(self, frame, flight=None):
        """Any frame, now; without a flight it is in no truth but the point's."""
        self.records.append(Record(self.sim.now, frame, len(frame), flight))

    def finish(self):
        """The capture ends: what became of what was seen?"""
        n_seen, name = len(self.records), f"{self.sim.scenario.seed}/tap/{self.point.name}"
        self.records, changes = artefacts.apply(
            (artefacts.Drop(self.point.drop), *self.point.artefacts), self.records,
            lambda i: random.Random(f"{name}/{i}" if i else name))
        n_repeated = sum(r.repeated for r in self.records)
        self.n_dropped = n_seen - (len(self.records) - n_repeated)
        self.sim.capture_changes[self.point.name] = {
            "capture_duplicates": n_repeated, "artefacts": changes[1:]}
        for number, record in enumerate(self.records):
            flight = record.flight
            if flight is not None and not record.repeated:
                flight.number, flight.time_ns = number, record.time_ns
                flight.tx.captured.setdefault(self.node, []).append(flight)
                self.seen.append(flight)

    def captures(self):
        """Name of a file -> its bytes; several if an artefact made parts."""
        parts = sorted({r.part for r in self.records}) or [0]
        if len(parts) > 1 and self.point.parts == "interfaces":
            return {self.point.name: self._pcapng(parts)}
        suffix = "{}.{}" if len(parts) > 1 else "{}"
        return {suffix.format(self.point.name, part): self._pcap(part).bytes()
                for part in parts}

    @property
    def pcap(self):
        """The file, or the one of part 0."""
        return self._pcap(0)

    def _pcap(self, part):
        pcap = roce.Pcap(nanoseconds=self.point.nanoseconds,
                         snap_length=self.point.snap_length)
        for record in self.records:
            if record.part == part:
                pcap.add(record.time_ns, record.frame, record.wire_bytes)
        return pcap

    def _pcapng(self, parts):
        pcapng = roce.Pcapng([
            roce.Interface(snap_length=self.point.snap_length, name=f"part{part}",
                           nanoseconds=self.point.nanoseconds) for part in parts])
        for record in self.records:
            pcapng.add(record.time_ns, record.frame, record.wire_bytes,
                       interface=parts.index(record.part))
        return pcapng.bytes()
