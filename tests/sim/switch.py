#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Ports, links and switches of a fabric.

A Port is one end of a full-duplex link.  It sends one frame after the other: MAC control
first, then what its owner (a Switch, or a host's NIC) gives it.  A frame arrives as a
whole, when its last bit does.

A Switch is output-queued: a frame that comes in is routed, admitted to the shared buffer,
marked or not, and stored in the queue of its port and priority until it has left.  In
order, a frame is refused where
  1. the lossless class of its ingress port has used up its headroom ("headroom"),
  2. the shared buffer is full ("buffer"),
  3. its egress queue is at its limit ("queue_limit"),
  4. WRED picks it and it cannot be marked ("wred").
The strict priority goes first, the others take turns frame by frame.

What is left out: cut-through, cells, dynamic thresholds, weights, shapers, what a switch
needs to look a route up.
"""

import collections
import dataclasses
import random
import zlib

import roce
from pfc import Gate, Meter, PauseConfig, PauseFrame, wire_ns
from sim import CM, Flight

# DSCP -> priority; what is not listed has 0.
PRIORITY_OF_DSCP = {24: 3, 26: 3, 48: 6}
STRICT_PRIORITY = 6
FCS_BYTES = 4


def priority_of(tos):
    return PRIORITY_OF_DSCP.get(tos >> 2, 0)


@dataclasses.dataclass(frozen=True)
class Link:
    """One link; `loss` is per frame that carries no MAC control, each way."""
    bps: int = 100 * 10**9
    delay_ns: int = 500
    loss: float = 0.0


@dataclasses.dataclass(frozen=True)
class Routing:
    """Which of several equal ways."""
    how: str = "ecmp"            # or "flowlets", "random", "round_robin"
    flowlet_gap_ns: int = 20_000


@dataclasses.dataclass(frozen=True)
class SwitchConfig:
    buffer_bytes: int = 8_000_000
    queue_limit_bytes: int = 8_000_000   # of one egress queue
    pause: PauseConfig = PauseConfig()
    marked_priorities: tuple = (3,)
    kmin_bytes: int = 5_000
    kmax_bytes: int = 200_000
    pmax: float = 0.01
    routing: Routing = Routing()
    macs: str = "per_port"       # or "shared": one for all ports
    notification: object = None  # dcqcn.Notification: it sends CNPs itself


@dataclasses.dataclass(eq=False)
class Transit(Flight):
    """A packet on its way through the fabric."""
    n_bytes: int = 0             # of its frame, with check sequence
    priority: int = 0
    ttl: int = 64
    ingress: object = None       # the Port it came in by, of the node where it is now
    ports: list = dataclasses.field(default_factory=list)  # egress ports, in order
    marked_by: object = None     # egress Port
    marked_ns: int = 0
    drop: object = None


@dataclasses.dataclass(frozen=True)
class Drop:
    """Truth: where and why a packet ended."""
    time_ns: int
    # Egress Port of the queue; of a "link" the sending one, of a "receive_buffer" the host's
    port: object
    reason: str                  # see above
    transit: Transit


class Port:
    def __init__(self, sim, owner, name, mac, link, pause):
        self.sim, self.owner, self.name, self.mac, self.link = sim, owner, name, mac, link
        self.peer = None
        self.gate = Gate(self, pause.reaction_ns)
        self.watchers = {"in": [], "out": []}   # taps
        self.busy_ns = 0
        self._control = collections.deque()
        self._is_busy = self._is_woken = False
        self._random = random.Random(f"{sim.scenario.seed}/link/{name}")

    def kick(self):
        """There may be something to send."""
        if not self._is_busy and not self._is_woken:
            self._is_woken = True
            self.sim.at(self.sim.now, self._wake)

    def send_control(self, frame):
        self._control.append(frame)
        self.kick()

    def _wake(self):
        self._is_woken = False
        if not self._is_busy:
            self._send_next()

    def _send_next(self):
        item = self._control.popleft() if self._control else self.owner.next_for(self)
        if item is None:
            return
        self._is_busy = True
        is_control = isinstance(item, PauseFrame)
        for tap in self.watchers["out"]:
            tap.see(item, self, self)
        duration = wire_ns(64 if is_control else item.n_bytes, self.link.bps)
        self.busy_ns += duration
        self.sim.after(duration, self._sent, item)

    def _sent(self, item):
        self._is_busy = False
        if not isinstance(item, PauseFrame):
            self.owner.has_left(self, item)
            if self.link.loss and self._random.random() < self.link.loss:
                self.sim.drop(item, self, "link")
                self._send_next()
                return
        self.sim.after(self.link.delay_ns, self.peer._arrive, item)
        self._send_next()

    def _arrive(self, item):
        for tap in self.watchers["in"]:
            tap.see(item, self, self.peer)
        if isinstance(item, PauseFrame):
            self.gate.take(item)
        else:
            self.owner.receive(self, item)


class EgressQueues:
    """Of one port: a queue for each priority."""

    def __init__(self):
        self.frames = [collections.deque() for _ in range(8)]
        self.bytes = [0] * 8
        self.peak = [0] * 8
        self._order = [p for p in range(7, -1, -1) if p != STRICT_PRIORITY]
        self._turn = 0

    def put(self, transit):
        p = transit.priority
        self.frames[p].append(transit)
        self.bytes[p] += transit.n_bytes
        self.peak[p] = max(self.peak[p], self.bytes[p])

    def take(self, gate):
        """The next that the gate lets through; None if there is none."""
        n = len(self._order)
        for i in range(-1, n):
            p = STRICT_PRIORITY if i < 0 else self._order[(self._turn + i) % n]
            if self.frames[p] and gate.stop_of(p) is None:
                self._turn = (self._turn + i + 1) % n if i >= 0 else self._turn
                transit = self.frames[p].popleft()
                self.bytes[p] -= transit.n_bytes
                return transit
        return None


class Switch:
    def __init__(self, sim, name, index, config):
        self.sim, self.name, self.config = sim, name, config
        self.ports = []
        self.routes = {}         # address -> ports, all as good
        self.queues = {}         # Port -> EgressQueues
        self.meters = {}         # Port -> Meter of what came in through it
        self.buffered_bytes = self.peak_bytes = 0
        self.marks = {}          # (Port, priority) -> [count, time of the first]
        self.notifier = None     # dcqcn.SwitchNotifier
        self._index = index
        self._random = random.Random(f"{sim.scenario.seed}/switch/{name}")
        self._flowlets = {}      # flow -> [port, time of its newest packet]
        self._round_robin = {}

    def add_port(self, name, link):
        number = len(self.ports) if self.config.macs == "per_port" else 0
        mac = roce.mac(f"02:01:00:00:{self._index:02x}:{number:02x}")
        port = Port(self.sim, self, name, mac, link, self.config.pause)
        self.ports.append(port)
        self.queues[port] = EgressQueues()
        self.meters[port] = Meter(port, self.config.pause,
                                  lambda key: self._why_full(port, key))
        return port

    # in

    def receive(self, port, transit):
        transit.ttl -= 1
        transit.ingress = port
        self.forward(transit)

    def forward(self, transit):
        """Also for what the switch itself sends: that has no ingress."""
        out = self.choose(transit)
        transit.ports.append(out)
        reason = self._refuse(transit, out) or self._mark(transit, out)
        if reason:
            self.sim.drop(transit, out, reason)
            return
        self.buffered_bytes += transit.n_bytes
        self.peak_bytes = max(self.peak_bytes, self.buffered_bytes)
        self.queues[out].put(transit)
        if transit.ingress is not None:
            self.meters[transit.ingress].add(transit.priority, transit.n_bytes)
        out.kick()

    def _refuse(self, transit, out):
        n, p = transit.n_bytes, transit.priority
        if transit.ingress and not self.meters[transit.ingress].has_room(p, n):
            return "headroom"
        if self.buffered_bytes + n > self.config.buffer_bytes:
            return "buffer"
        if self.queues[out].bytes[p] + n > self.config.queue_limit_bytes:
            return "queue_limit"
        return None

    def _mark(self, transit, out):
        """RED on the length of the egress queue: ECT becomes CE, the rest is dropped."""
        p, config = transit.priority, self.config
        depth = self.queues[out].bytes[p] + transit.n_bytes
        if p not in config.marked_priorities or depth <= config.kmin_bytes:
            return None
        if depth < config.kmax_bytes:
            slope = (depth - config.kmin_bytes) / (config.kmax_bytes - config.kmin_bytes)
            if self._random.random() >= config.pmax * slope:
                return None
        if transit.tx.space == CM or not transit.tx.tos & 3:
            lossless = self.meters[out].class_of(p) is not None
            return None if lossless else "wred"
        if not transit.ce:
            transit.ce, transit.marked_by, transit.marked_ns = True, out, self.sim.now
            entry = self.marks.setdefault((out, p), [0, self.sim.now])
            entry[0] += 1
            if self.notifier is not None and transit.tx.carries_data():
                self._notify(transit)
        return None

    def _notify(self, transit):
        cnp = self.notifier.answer(transit)
        if cnp is not None:
            self.sim.record(cnp)
            self.sim.at(self.sim.now, self.forward, self.sim.transit_of(cnp))

    def _why_full(self, ingress, key):
        """The egress port for which most of what came in there waits; and if that is
        paused itself, which pause it is."""
        waiting = collections.Counter()
        for port, queues in self.queues.items():
            for p, frames in enumerate(queues.frames):
                if self.meters[ingress].class_of(p) == key:
                    waiting[port] += sum(t.n_bytes for t in frames
                                         if t.ingress is ingress)
        port = max(self.ports, key=lambda p: waiting[p])
        stop = next((s for p in range(8) if self.meters[ingress].class_of(p) == key
                     and (s := port.gate.stop_of(p))), None)
        if stop is not None:
            return {"kind": "pause", "port": port.name, "pause": stop.serials[-1]}
        return {"kind": "congestion", "port": port.name}

    # out

    def next_for(self, port):
        return self.queues[port].take(port.gate)

    def has_left(self, _port, transit):
        self.buffered_bytes -= transit.n_bytes
        if transit.ingress is not None:
            self.meters[transit.ingress].remove(transit.priority, transit.n_bytes)

    # routes

    def choose(self, transit):
        ports = self.routes[transit.tx.dst]
        if len(ports) == 1:
            return ports[0]
        how = self.config.routing.how
        if how == "random":
            return ports[self._random.randrange(len(ports))]
        if how == "round_robin":
            turn = self._round_robin.get(ports, 0)
            self._round_robin[ports] = turn + 1
            return ports[turn % len(ports)]
        if how == "flowlets":
            return self._choose_by_flowlet(transit, ports)
        return ports[self.hash_of(transit.tx) % len(ports)]

    def only_way(self, transit):
        """What choose() will say, if that is sure beforehand; else None."""
        ports = self.routes[transit.tx.dst]
        sure = len(ports) == 1 or self.config.routing.how == "ecmp"
        return self.choose(transit) if sure else None

    def hash_of(self, tx):
        flow = f"{self.name}/{tx.src}/{tx.dst}/{tx.udp_port}"
        return zlib.crc32(flow.encode()) >> 8   # its low bits are too regular

    def _choose_by_flowlet(self, transit, ports):
        tx, now = transit.tx, self.sim.now
        entry = self._flowlets.setdefault((tx.src, tx.dst, tx.udp_port), [None, 0])
        if entry[0] is None or now - entry[1] > self.config.routing.flowlet_gap_ns:
            entry[0] = ports[self._random.randrange(len(ports))]
        entry[1] = now
        return entry[0]
