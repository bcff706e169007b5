#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Reliable connections over a fabric of leaves and spines, with exact truth.

The queue pairs are sim.py's; between them lie switches instead of a row of segments:

    sim.py       clock, queue pairs, what a packet is
    pfc.py       pauses: who asks for them, whom they stop
    dcqcn.py     CNPs, and the rates that they control
    switch.py    ports, links, switches: queues, marks, drops, routes
    fabric.py    the scenario, hosts and their NICs, capture points, the simulation
    fabric_truth.py      what really happened, as JSON
    fabric_scenarios.py  scenarios with a name

A scenario names hosts h0, h1, ..., leaves leaf0, ..., spines spine0, ...; a port is
"h3", "leaf0:h3", "leaf0:spine1" or "spine1:leaf0".  Where a point stands at several ports
it is a mirror: all that it sees is in one place, in order of time.

A frame is stamped when its last bit has come in, or its first bit goes out.

How to add a scenario: a function in fabric_scenarios.py that returns a FabricScenario,
and a row in SCENARIOS there; tests/sim/test_fabric.py compares the analyzer's report with
its truth, tests/sim/test_fabric_model.py what any scenario has to keep.

What the model leaves out, besides what the parts say: CM (queue pairs exist at once), more
than two tiers, IPv6, VLANs, forward error correction, a NIC's transmit queues (a pause
stops all that has its priority), the rate control of ACKs (they wait behind the READ
responses of their queue pair).
"""

import dataclasses
import heapq

import roce
from dcqcn import Notification, NotificationPoint, ReactionPoint, SwitchNotifier
from fabric_truth import FabricTruth
from pfc import Meter, PauseConfig, PauseFrame
from sim import (
    ACKS, CNPS, START_NS, Host, HostConfig, Point, QueuePair, QueuePairEnd, Scheduler,
    Tap)
from switch import (
    FCS_BYTES, Drop, Link, Port, Switch, SwitchConfig, Transit, priority_of)

DELIVERED = "delivered"          # the node where every packet wants to go


@dataclasses.dataclass(frozen=True)
class FabricHost:
    """What all hosts have in common, unless a scenario changes one of them."""
    ident: str = "rising"
    tos: int = 26 << 2 | roce.ECN_ECT0
    notification: Notification = None    # None: it sends no CNPs
    reaction: object = None              # dcqcn.Dcqcn; None: it sends at the link's speed
    pause: PauseConfig = PauseConfig()   # that it asks for as a slow receiver
    # (from, bit/s): how fast it takes packets in, from when on; 0: it stands still, None:
    # as fast as they come.
    receives_at: tuple = ()
    # (from, to): it is broken, and asks for a pause of its first lossless class.
    storm_ns: tuple = ()


@dataclasses.dataclass(frozen=True)
class Clos:
    n_leaves: int = 1
    n_spines: int = 0            # 0 for one leaf alone
    hosts_per_leaf: int = 4
    host_link: Link = Link()
    spine_link: Link = Link()
    # Links that differ: (name of the port at the lower end, Link).
    links: tuple = ()
    # Routes that do: (switch, host, port); as after a failure that was repaired badly.
    detours: tuple = ()


@dataclasses.dataclass(frozen=True)
class Flow:
    """A queue pair between hosts; side a is at `a`."""
    a: int
    b: int
    pair: QueuePair


@dataclasses.dataclass(frozen=True)
class FabricPoint(Point):
    """Artefacts apply; those that make parts do not, a file is what `files` says."""
    ports: tuple = ()            # names; that of a switch stands for all its ports
    sees: tuple = ("in", "out")  # what comes in there, what goes out there
    mac_control: str = "seen"    # or "absorbed" by the MAC, as at most NICs


@dataclasses.dataclass(frozen=True)
class FabricScenario:
    name: str
    flows: tuple
    points: tuple
    topology: Clos = Clos()
    switch: SwitchConfig = SwitchConfig()
    host: FabricHost = FabricHost()
    hosts: dict = dataclasses.field(default_factory=dict)  # index -> FabricHost
    # Which points share a file: file name -> names of points, each of them an interface.
    # Empty: each point has a pcapng of its own.  A .pcap has one point and no link speed.
    files: dict = dataclasses.field(default_factory=dict)
    seed: int = 1
    duration_ns: int = 20_000_000  # at most

    def files_of_points(self):
        return self.files or {f"{p.name}.pcapng": (p.name,) for p in self.points}


# --- hosts ---------------------------------------------------------------------------


class FabricNic:
    """Gives a host's port what its sources have, in turn, and takes in what comes."""

    def __init__(self, host):
        self.host, self.sources = host, [host]
        self.port = None         # once it is plugged in
        self.reactions = {}      # source -> ReactionPoint
        self._turn = 0
        self._wake_ns = 0
        self._stored = []        # what came in and is not yet taken
        self._is_taking = False
        self.meter = None

    def plug(self, port):
        self.port = port
        pause = self.host.features.pause
        self.meter = Meter(port, pause, lambda _key: {"kind": "slow_receiver"})
        if self.host.features.storm_ns:
            start, end = self.host.features.storm_ns
            key = self.meter.class_of(pause.priorities[0])
            self.host.sim.at(START_NS + start, self.meter.ask, key, {"kind": "storm"})
            self.host.sim.at(START_NS + end, self.meter.take_back, key)

    def kick(self):
        self.port.kick()

    # out

    def next_for(self, port):
        n = len(self.sources)
        for i in range(n):
            source = self.sources[(self._turn + i) % n]
            if port.gate.stop_of(self._priority_of(source)) or not self._is_due(source):
                continue
            if source.ready():
                self._turn = (self._turn + i + 1) % n
                return self._launch(source, source.pull())
        return None

    def _priority_of(self, source):
        notification = self.host.features.notification
        if source is self.host and notification is not None:
            return priority_of(notification.tos)
        return priority_of(self.host.config.tos)

    def _is_due(self, source):
        reaction, now = self.reactions.get(source), self.host.sim.now
        if reaction is None or reaction.allowed_ns <= now:
            return True
        if self._wake_ns <= now or reaction.allowed_ns < self._wake_ns:
            self._wake_ns = reaction.allowed_ns
            self.host.sim.at(self._wake_ns, self.kick)
        return False

    def _launch(self, source, tx):
        sim = self.host.sim
        tx.ident, tx.time_ns = self.host.next_ident(tx.end), sim.now
        sim.record(tx)
        transit = sim.transit_of(tx)
        transit.ports.append(self.port)
        if source in self.reactions and tx.space not in (ACKS, CNPS):
            self.reactions[source].sent(transit.n_bytes)
        if tx.space == ACKS and tx.syndrome == roce.NAK_PSN_SEQUENCE:
            self.host.notify_nak(tx.end)
        return transit

    def has_left(self, _port, _transit):
        pass

    # in

    def receive(self, port, transit):
        if not self.host.features.receives_at:
            self._deliver(transit)
        elif not self.meter.has_room(transit.priority, transit.n_bytes):
            self.host.sim.drop(transit, port, "receive_buffer")
        else:
            self._stored.append(transit)
            self.meter.add(transit.priority, transit.n_bytes)
            if not self._is_taking:
                self._is_taking = True
                self._take_next()

    def _take_next(self):
        if not self._stored:
            self._is_taking = False
            return
        sim = self.host.sim
        rate, until = self._rate_now()
        if rate == 0:
            if until is not None:
                sim.at(until, self._take_next)
            return
        wait = -(-self._stored[0].n_bytes * 8 * 10**9 // rate) if rate else 0
        sim.after(wait, self._taken)

    def _taken(self):
        transit = self._stored.pop(0)
        self.meter.remove(transit.priority, transit.n_bytes)
        self._deliver(transit)
        self._take_next()

    def _rate_now(self):
        """What it takes now, and until when; None: without limit."""
        rate, until = None, None
        for start, step_rate in self.host.features.receives_at:
            if START_NS + start > self.host.sim.now:
                until = START_NS + start
                break
            rate = step_rate
        return rate, until

    def _deliver(self, transit):
        passes = transit.tx.passes
        passes[DELIVERED] = passes.get(DELIVERED, 0) + 1
        self.host.receive(transit)


class FabricMachine(Host):
    """A host with the NIC of a fabric."""

    def __init__(self, sim, index, config, features):
        super().__init__(sim, config)
        self.name, self.features = f"h{index}", features
        self.nic = FabricNic(self)
        self.notification_point = features.notification and NotificationPoint(
            self, features.notification)

    def receive(self, flight):
        if flight.tx.space == CNPS:
            reaction = self.sim.reactions.get(flight.tx.end.peer)
            if reaction is not None:
                reaction.cut()
        super().receive(flight)

    def answer_ce(self, tx):
        if self.notification_point is not None:
            self.notification_point.answer(tx.end.peer, self.sim.transit_of(tx))

    def notify_nak(self, end):
        point = self.notification_point
        if point is not None and point.config.on_nak == "always":
            point.answer(end, None)


@dataclasses.dataclass(eq=False)
class SwitchAgent:
    """What a switch sends packets as."""
    config: HostConfig
    n_sent: int = 0

    def next_ident(self, _end):
        self.n_sent += 1
        return self.n_sent & 0xFFFF


# --- capture points ------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Heard:
    """Truth: a MAC control frame that a point saw."""
    time_ns: int
    frame: PauseFrame
    link_bps: int


class FabricTap(Tap):
    """A capture point at work."""

    def __init__(self, sim, point, node):
        super().__init__(sim, point, node)
        self.crossings = set()   # (Port, "in" or "out")
        self.heard = []

    def watch(self, ports):
        for port in ports:
            for direction in self.point.sees:
                port.watchers[direction].append(self)
                self.crossings.add((port, direction))

    def link_bps(self):
        """Of the links it stands at; 0 where they differ."""
        speeds = {port.link.bps for port, _direction in self.crossings}
        return speeds.pop() if len(speeds) == 1 else 0

    def interface(self):
        return roce.Interface(name=self.point.name, snap_length=self.point.snap_length,
                              speed_bps=self.link_bps(),
                              nanoseconds=self.point.nanoseconds)

    def see(self, item, port, sender):
        """`port` is where it stands; the frame left the Port `sender`."""
        is_control = isinstance(item, PauseFrame)
        if not is_control:
            item.tx.passes[self.node] = item.tx.passes.get(self.node, 0) + 1
            frame = roce.ethernet(item.tx.ip_bytes(item.ce, item.corrupt, item.ttl),
                                  src=sender.mac, dst=sender.peer.mac)
            self.see_frame(frame, dataclasses.replace(item, arrival=len(self.records)))
        elif self.point.mac_control == "seen":
            self.heard.append(Heard(self.sim.now, item, port.link.bps))
            self.see_frame(item.bytes())


# --- the simulation ------------------------------------------------------------------


class Fabric(FabricTruth):
    """Made of a FabricScenario; see the top of this file and of sim.py."""

    def __init__(self, scenario):
        self.ports, self.switches = {}, {}
        self.reactions = {}      # QueuePairEnd -> ReactionPoint
        self.pauses, self.drops = [], []
        self._transits = {}
        super().__init__(scenario)

    def _build(self):
        topology = self.scenario.topology
        n_hosts = topology.n_leaves * topology.hosts_per_leaf
        self.hosts = [self._make_host(i) for i in range(n_hosts)]
        for i in range(topology.n_leaves + topology.n_spines):
            n = i - topology.n_leaves
            name = f"leaf{i}" if n < 0 else f"spine{n}"
            self.switches[name] = Switch(self, name, i, self.scenario.switch)
        self._plug_cables()
        for i, name in enumerate(self.switches):
            self._set_up_switch(name, i)
        self._make_taps()
        for flow in self.scenario.flows:
            self._make_queue_pair(flow)

    def _make_host(self, i):
        leaf = i // self.scenario.topology.hosts_per_leaf
        features = self.scenario.hosts.get(i, self.scenario.host)
        config = HostConfig(f"10.9.{leaf}.{i + 1}", f"02:00:00:00:{leaf:02x}:{i + 1:02x}",
                            ident=features.ident, tos=features.tos,
                            ident_start=0x1000 * i & 0xFFFF)
        return FabricMachine(self, i, config, features)

    def _plug_cables(self):
        topology = self.scenario.topology
        special = dict(topology.links)
        for i, host in enumerate(self.hosts):
            leaf = f"leaf{i // topology.hosts_per_leaf}"
            link = special.get(host.name, topology.host_link)
            port = Port(self, host.nic, host.name, roce.mac(host.config.mac), link,
                        host.features.pause)
            host.nic.plug(port)
            self._connect_ports(port, self.switches[leaf].add_port(
                f"{leaf}:{host.name}", link))
        for leaf in range(topology.n_leaves):
            for spine in range(topology.n_spines):
                up, down = f"leaf{leaf}:spine{spine}", f"spine{spine}:leaf{leaf}"
                link = special.get(up, topology.spine_link)
                self._connect_ports(self.switches[f"leaf{leaf}"].add_port(up, link),
                                    self.switches[f"spine{spine}"].add_port(down, link))

    def _connect_ports(self, a, b):
        a.peer, b.peer = b, a
        self.ports[a.name], self.ports[b.name] = a, b

    def _set_up_switch(self, name, index):
        switch = self.switches[name]
        for i, host in enumerate(self.hosts):
            leaf = f"leaf{i // self.scenario.topology.hosts_per_leaf}"
            near = self.ports.get(f"{name}:{host.name}",
                                  self.ports.get(f"{name}:{leaf}"))
            switch.routes[host.config.address] = (near,) if near else tuple(
                port for port in switch.ports if ":spine" in port.name)
        for at, host, port in self.scenario.topology.detours:
            if at == name:
                switch.routes[self.hosts[host].config.address] = (self.ports[port],)
        if switch.config.notification is not None:
            agent = SwitchAgent(HostConfig(f"10.255.0.{index + 1}", ""))
            switch.notifier = SwitchNotifier(self, agent, switch.config.notification)

    def _make_taps(self):
        self.taps = [FabricTap(self, p, i + 1) for i, p in enumerate(self.scenario.points)]
        for tap in self.taps:
            for name in tap.point.ports:
                tap.watch(self.switches[name].ports if name in self.switches
                          else [self.ports[name]])

    def _make_queue_pair(self, flow):
        pair = flow.pair
        udp_port = roce.entropy_port(pair.a.qpn, pair.b.qpn)
        a, b = (QueuePairEnd(self.hosts[host], side, pair.pmtu, udp_port, pair.transport,
                             pair.start_ns)
                for host, side in ((flow.a, pair.a), (flow.b, pair.b)))
        a.peer, b.peer = b, a
        self.ends += [a, b]
        for end in (a, b):
            host = end.host
            if host.features.reaction is not None:
                reaction = ReactionPoint(self, host.features.reaction,
                                         host.nic.port.link.bps)
                self.reactions[end] = reaction
                host.nic.reactions[end.requester] = reaction
                host.nic.reactions[end.responder] = reaction

    # while it runs

    def transit_of(self, tx):
        """The one flight of a packet that was recorded."""
        if tx.serial not in self._transits:
            self._transits[tx.serial] = Transit(
                tx, True, n_bytes=len(tx.headers) + _fixed_bytes(tx),
                priority=priority_of(tx.tos))
        return self._transits[tx.serial]

    def drop(self, transit, port, reason):
        transit.drop = Drop(self.now, port, reason, transit)
        self.drops.append(transit.drop)

    def has_work(self):
        return not all(end.requester.is_done() for end in self.ends)

    def run(self):
        self.after(0, self._start)
        Scheduler.run(self, START_NS + self.scenario.duration_ns)
        for tap in self.taps:
            tap.finish()
        return self

    def captures(self):
        """File name -> bytes."""
        by_name = {tap.point.name: tap for tap in self.taps}
        return {name: _file_of(name, [by_name[point] for point in points])
                for name, points in self.scenario.files_of_points().items()}

    def _destination_of(self, _end):
        return DELIVERED


def _file_of(name, taps):
    if name.endswith(".pcap"):
        (tap,) = taps
        return tap.pcap.bytes()
    file = roce.Pcapng([tap.interface() for tap in taps])
    by_time = heapq.merge(*([(record.time_ns, i, record) for record in tap.records]
                            for i, tap in enumerate(taps)), key=lambda entry: entry[:2])
    for time_ns, i, record in by_time:
        file.add(time_ns, record.frame, record.wire_bytes, interface=i)
    return file.bytes()


def _fixed_bytes(tx):
    """Ethernet, IPv4, UDP, BTH, payload and its pad, ICRC, check sequence."""
    return 14 + 20 + 8 + 12 + (tx.payload_bytes + 3) // 4 * 4 + 4 + FCS_BYTES


def simulate_fabric(scenario):
    """The finished Fabric: ask it for captures() and truth()."""
    return Fabric(scenario).run()
