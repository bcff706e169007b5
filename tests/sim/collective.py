# SPDX-License-Identifier: GPL-2.0-or-later
"""What many hosts do together, with exact truth: collectives, admission, and what is
neither.

A Network has hosts at one switch.  A NIC sends its messages one after the other, packet
by packet at the speed of its link; whoever waits for a message goes on when its last
packet has come.  So sends depend on what was received, as in a collective; nothing is
ever lost, marked or late.  Queues are not modelled: two senders to one receiver share its
link as if there were two.

The capture is a mirror of the switch, which sees each packet half of the delay after it
has left its NIC, or a host's own, which sees what it sends at once and what it receives
after the whole delay.  Truth has the times of the capture.
"""

import dataclasses
import heapq
import itertools
import random

import roce

START_NS = 1_795_000_000 * 10**9
SIGNAL_BYTES = 64                # a clear-to-send, as NCCL has it
MIRROR = None                    # where to capture: at the switch


@dataclasses.dataclass
class Message:
    """One message, in the times of the NIC that sent it."""
    src: int
    dst: int
    bytes: int
    kind: str
    asked_ns: int                # when it was given to the NIC
    first_ns: int = 0            # when its first and its last packet left
    last_ns: int = 0


class QueuePair:
    """A reliable connection of two hosts; either may send."""
    def __init__(self, network, a, b):
        self.network, self.hosts = network, (a, b)
        number = network.next_qpn
        network.next_qpn += 2
        self.qpn = {a: number, b: number + 1}
        self.psn = {a: 1000 + number, b: 500_000 + number}
        self.acked = dict(self.psn)
        self.port = roce.entropy_port(number, number + 1)

    def send(self, src, n_bytes, then=None, kind="WRITE"):
        """Gives a message to the NIC of `src`; then() is called once it has arrived."""
        dst = self.hosts[self.hosts[0] == src]
        message = Message(src, dst, n_bytes, kind, self.network.now)
        self.network.messages.append(message)
        self.network.nics[src].add(self, message, then)
        return message


class Nic:
    """Sends messages one after the other."""

    def __init__(self, network, host):
        self.network, self.host = network, host
        self.free_ns = 0
        self.ident = 0

    def add(self, pair, message, then):
        net = self.network
        # What is in the queue goes first: the NIC's time is given away in order.
        at = max(net.now, self.free_ns)
        n = max(1, -(-message.bytes // net.pmtu))
        sizes = [min(net.pmtu, message.bytes - i * net.pmtu) for i in range(n)]
        message.first_ns = at
        for i, size in enumerate(sizes):
            message.last_ns = at
            net.packet(at, pair, message.src, self.opcode(message, i, n), size,
                       message.bytes, ack_request=i == n - 1)
            at += net.wire_ns(message.src, size + 80)
        self.free_ns = at
        arrived = message.last_ns + net.delay_ns
        net.at(arrived + net.turnaround_ns, net.acknowledge, pair, message)
        if then is not None:
            net.at(arrived, then)

    @staticmethod
    def opcode(message, i, n):
        part = ("Only" if n == 1 else "First" if i == 0 else
                "Last" if i == n - 1 else "Middle")
        immediate = message.kind == "WRITE_IMM" and part in ("Only", "Last")
        name = "SEND" if message.kind == "SEND" else "RDMA WRITE"
        return f"RC {name} {part}{' with Immediate' if immediate else ''}"


class Network:
    """Hosts 0, 1, ... at one switch."""

    def __init__(self, n_hosts, *, bps=100 * 10**9, slow=None, delay_ns=2_000,
                 turnaround_ns=300, pmtu=4096, snap=96, seed=1):
        self.now = 0
        self.n_hosts, self.pmtu, self.snap = n_hosts, pmtu, snap
        self.delay_ns, self.turnaround_ns = delay_ns, turnaround_ns
        self.bps = {h: bps for h in range(n_hosts)} | (slow or {})
        self.nics = [Nic(self, h) for h in range(n_hosts)]
        self.messages, self.records = [], []
        self.next_qpn = 0x100
        self.random = random.Random(seed)
        self._events, self._order = [], itertools.count()

    @staticmethod
    def address(host):
        return f"10.8.0.{host + 1}"

    def wire_ns(self, host, n_bytes):
        return max(1, n_bytes * 8 * 10**9 // self.bps[host])

    def at(self, time_ns, what, *args):
        heapq.heappush(self._events, (time_ns, next(self._order), what, args))

    def run(self):
        while self._events:
            self.now, _, what, args = heapq.heappop(self._events)
            what(*args)
        return self

    # packets

    def packet(self, at, pair, src, opcode, size, length=0, ack_request=False):
        dst = pair.hosts[pair.hosts[0] == src]
        headers = b""
        if "WRITE First" in opcode or "WRITE Only" in opcode:
            headers += roce.reth(0x10000, 0x55, length)
        if "Immediate" in opcode:
            headers += roce.immdt(length & 0xFFFFFFFF)
        psn = pair.psn[src]
        pair.psn[src] += 1
        self._record(at, pair, src, dst, roce.transport(
            roce.OPCODE[opcode], dest_qpn=pair.qpn[dst], psn=psn, headers=headers,
            payload=bytes(size), ack_request=ack_request))

    def acknowledge(self, pair, message):
        """Messages of a queue pair arrive in the order in which they were sent."""
        pair.acked[message.src] += max(1, -(-message.bytes // self.pmtu))
        self._record(self.now, pair, message.dst, message.src, roce.transport(
            roce.OPCODE["RC Acknowledge"], dest_qpn=pair.qpn[message.src],
            psn=pair.acked[message.src] - 1,
            headers=roce.aeth(roce.ACK_NO_CREDIT_LIMIT, 1)))

    def _record(self, at, pair, src, dst, ib):
        nic = self.nics[src]
        nic.ident = nic.ident + 1 & 0xFFFF
        ip = roce.rocev2(roce.Ip(self.address(src), self.address(dst), ident=nic.ident,
                                 tos=26 << 2 | roce.ECN_ECT0), pair.port, ib)
        frame = roce.ethernet(ip, src=bytes((2, 0, 0, 0, 8, src + 1)),
                              dst=bytes((2, 0, 0, 0, 8, dst + 1)))
        self.records.append((at, len(self.records), src, dst, frame))

    def pair(self, a, b):
        return QueuePair(self, a, b)

    # captures

    def seen_ns(self, sent_ns, src, at=MIRROR):
        """When a point sees what left its NIC then."""
        return sent_ns + (self.delay_ns // 2 if at is MIRROR
                          else 0 if at == src else self.delay_ns)

    def capture(self, at=MIRROR, from_ns=0, until_ns=None, shift_ns=0):
        """A pcap of what the point sees in [from, until) of the scenario's time, by a
        clock that is wrong by `shift_ns`."""
        file = roce.Pcap(snap_length=self.snap)
        seen = sorted((self.seen_ns(sent, src, at), order, frame)
                      for sent, order, src, dst, frame in self.records
                      if at is MIRROR or at in (src, dst))
        for time_ns, _order, frame in seen:
            if time_ns >= from_ns and (until_ns is None or time_ns < until_ns):
                file.add(START_NS + shift_ns + time_ns, frame)
        return file.bytes()


# --- collectives ---------------------------------------------------------------------


class Ring:
    """All-reduce over a ring: 2(n - 1) steps; in each, a rank sends a chunk to the next
    one, once it has received the chunk of the step before and reduced it.  `slow_ns`: what
    that takes some ranks more."""

    def __init__(self, network, order, chunk_bytes, *, reduce_ns=500, kind="WRITE",
                 pieces=1, slow_ns=None):
        self.net, self.order, self.chunk = network, list(order), chunk_bytes
        self.slow_ns = slow_ns or {}
        self.reduce_ns, self.kind, self.pieces = reduce_ns, kind, pieces
        n = len(self.order)
        self.next = {r: self.order[(i + 1) % n] for i, r in enumerate(self.order)}
        self.pairs = {r: network.pair(r, self.next[r]) for r in self.order}
        self.steps = 2 * (n - 1)
        self.log = []            # per iteration: {rank: [the Messages of each step]}

    def start(self, ready_ns):
        """`ready_ns`: rank -> when it begins."""
        state = {"sent": {r: [] for r in self.order}, "ready": dict.fromkeys(
            self.order, False), "got": dict.fromkeys(self.order, 0)}
        self.state = state
        self.log.append(state["sent"])
        for rank in self.order:
            self.net.at(ready_ns[rank], self._ready, state, rank)

    def _ready(self, state, rank):
        state["ready"][rank] = True
        self._go_on(state, rank)

    def _go_on(self, state, rank):
        sent = state["sent"][rank]
        while (state["ready"][rank] and len(sent) < self.steps
               and len(sent) <= state["got"][rank] and self._may_send(state, rank)):
            size = self.chunk // self.pieces
            messages = [self.pairs[rank].send(
                rank, size, self._arrived(state, rank) if i == self.pieces - 1 else None,
                self.kind) for i in range(self.pieces)]
            sent.append(messages)

    def _may_send(self, _state, _rank):
        return True

    def _took(self, state, rank):
        """It has taken a chunk in."""

    def _arrived(self, state, rank):
        to = self.next[rank]

        def then():
            self.net.at(self.net.now + self.reduce_ns + self.slow_ns.get(to, 0), taken)

        def taken():
            state["got"][to] += 1
            self._took(state, to)
            self._go_on(state, to)

        return then


class ClearedRing(Ring):
    """A ring in which each rank clears the one before it to send, as NCCL's do: `slots`
    chunks when an iteration begins for it, and another one when it has taken one in."""

    def __init__(self, network, order, chunk_bytes, *, slots=4, post_ns=0, **how):
        super().__init__(network, order, chunk_bytes, kind="WRITE_IMM", **how)
        self.slots, self.post_ns = slots, post_ns
        self.before = {n: r for r, n in self.next.items()}
        self.n_signals = dict.fromkeys(self.order, 0)

    def start(self, ready_ns):
        super().start(ready_ns)
        self.state["cleared"] = dict.fromkeys(self.order, 0)
        self.state["posted"] = dict.fromkeys(self.order, 0)
        for rank in self.order:
            for _ in range(self.slots):
                self.net.at(ready_ns[rank], self._post, self.state, rank)

    def _post(self, state, rank):
        if state["posted"][rank] < self.steps:
            state["posted"][rank] += 1
            self.n_signals[rank] += 1
            sender = self.before[rank]

            def come():
                state["cleared"][sender] += 1
                self._go_on(state, sender)

            self.pairs[sender].send(rank, SIGNAL_BYTES, come)

    def _may_send(self, state, rank):
        return len(state["sent"][rank]) < state["cleared"][rank]

    def _took(self, state, rank):
        self.net.at(self.net.now + self.post_ns, self._post, state, rank)


class Tree:
    """All-reduce over a tree: what children send meets at their parent and goes on up;
    from the root the sum comes down again.  In pieces, which follow one another."""

    def __init__(self, network, parents, n_bytes, *, pieces=4, reduce_ns=500):
        self.net, self.parents, self.pieces = network, parents, pieces
        self.size, self.reduce_ns = n_bytes // pieces, reduce_ns
        self.children = {}
        for child, parent in parents.items():
            self.children.setdefault(parent, []).append(child)
        (self.root,) = set(parents.values()) - set(parents)
        self.pairs = {child: network.pair(child, parent)
                      for child, parent in parents.items()}

    def start(self, ready_ns):
        waiting = {(r, p): 1 + len(self.children.get(r, ()))
                   for r in (*self.parents, self.root) for p in range(self.pieces)}
        for rank in (*self.parents, self.root):
            for piece in range(self.pieces):
                self.net.at(ready_ns[rank], self._have, waiting, rank, piece)

    def _have(self, waiting, rank, piece):
        waiting[rank, piece] -= 1
        if waiting[rank, piece]:
            return
        if rank == self.root:
            self._send_down(rank)
        else:
            parent = self.parents[rank]
            self.pairs[rank].send(rank, self.size, lambda: self.net.at(
                self.net.now + self.reduce_ns, self._have, waiting, parent, piece))

    def _send_down(self, rank):
        for child in self.children.get(rank, ()):
            self.pairs[child].send(rank, self.size, lambda c=child: self._send_down(c))


class Mesh:
    """Messages from some hosts to some others, all at once: all-to-all, incast."""

    def __init__(self, network, edges, n_bytes, messages=1):
        self.net, self.size, self.messages = network, n_bytes, messages
        self.pairs = {edge: network.pair(*edge) for edge in edges}

    def start(self, ready_ns):
        for (src, _dst), pair in self.pairs.items():
            self.net.at(ready_ns[src], self._send, pair, src)

    def _send(self, pair, src):
        for _ in range(self.messages):
            pair.send(src, self.size)


class ParameterServer:
    """Workers send to a server; it answers each once it has heard all."""

    def __init__(self, network, server, workers, n_bytes):
        self.net, self.server, self.size = network, server, n_bytes
        self.pairs = {w: network.pair(w, server) for w in workers}

    def start(self, ready_ns):
        left = set(self.pairs)

        def heard(worker):
            left.discard(worker)
            if not left:
                for pair in self.pairs.values():
                    pair.send(self.server, self.size)

        for worker, pair in self.pairs.items():
            self.net.at(ready_ns[worker], lambda w=worker, p=pair: p.send(
                w, self.size, lambda: heard(w)))


@dataclasses.dataclass
class Iteration:
    """Truth, in the times of a point."""
    start_ns: int
    end_ns: int
    bytes: int
    first_ns: dict               # host -> of its data
    last_ns: dict


@dataclasses.dataclass
class Plan:
    """When iterations begin."""
    iterations: int = 12
    period_ns: int = 400_000
    jitter_ns: int = 0           # of each beginning, either way
    skew_ns: int = 0             # of each rank, up to
    late: dict = dataclasses.field(default_factory=dict)  # rank -> ns, always
    left_out: tuple = ()         # iterations that do not take place
    first_ns: int = 50_000

    def run(self, network, *collectives):
        """Simulates; truth() tells what happened."""
        self.starts = []
        for i in range(self.iterations):
            at = self.first_ns + i * self.period_ns + network.random.randint(
                -self.jitter_ns, self.jitter_ns)
            if i in self.left_out:
                continue
            ready = {r: at + network.random.randint(0, self.skew_ns)
                     + self.late.get(r, 0) for r in range(network.n_hosts)}
            self.starts.append(at)
            for collective in collectives:
                collective.start(ready)
        network.run()
        return network

    def truth(self, network, at=MIRROR, among=None):
        """An Iteration for each, of the WRITEs between the hosts `among` that the point
        sees; none may reach into the next one."""
        iterations = []
        ends = self.starts[1:] + [float("inf")]
        for start, end in zip(self.starts, ends):
            mine = [m for m in network.messages
                    if start <= m.asked_ns < end and m.kind != "SEND"
                    and m.bytes != SIGNAL_BYTES
                    and (among is None or {m.src, m.dst} <= set(among))
                    and (at is MIRROR or at in (m.src, m.dst))]
            first, last = {}, {}
            for m in mine:
                begins, stops = (network.seen_ns(t, m.src, at)
                                 for t in (m.first_ns, m.last_ns))
                first[m.src] = min(begins, first.get(m.src, begins))
                last[m.src] = max(stops, last.get(m.src, stops))
            iterations.append(Iteration(min(first.values()), max(last.values()),
                                        sum(m.bytes for m in mine), first, last))
        return iterations


# --- admission -----------------------------------------------------------------------


@dataclasses.dataclass
class Admitted:
    """Truth: a unit of data with the signal that admitted it, in the NIC's times."""
    signal: Message
    unit: list = None            # Messages


class Admission:
    """A receiver clears its sender to send, `slots` units at once: a signal for each
    receive that it posts, and it posts the next one `post_ns` after a unit has come.
    The sender has everything ready, or needs `prepare_ns` for each unit."""

    def __init__(self, network, sender, receiver, n_units, n_bytes, *, slots=4, post_ns=0,
                 prepare_ns=0, spare=False, parts=1, closing=False):
        self.net, self.sender, self.receiver = network, sender, receiver
        self.left, self.size, self.slots = n_units, n_bytes, slots
        self.post_ns, self.prepare_ns, self.closing = post_ns, prepare_ns, closing
        self.pairs = [network.pair(sender, receiver) for _ in range(parts)]
        # NCCL's come on the queue pair of the data; others have one for them alone.
        self.back = network.pair(sender, receiver) if spare else self.pairs[0]
        self.cleared, self.log = 0, []
        self.busy = False

    def start(self, at_ns=10_000):
        for _ in range(min(self.slots, self.left)):
            self.net.at(at_ns, self._post)

    def _post(self):
        if not self.left:
            return
        self.left -= 1
        entry = Admitted(None)
        self.log.append(entry)
        entry.signal = self.back.send(self.receiver, SIGNAL_BYTES, self._clear)

    def _clear(self):
        self.cleared += 1
        self._go_on()

    def _go_on(self):
        if not self.cleared or self.busy:
            return
        self.cleared -= 1
        self.busy = True
        self.net.at(self.net.now + self.prepare_ns, self._send)

    def _send(self):
        entry = next(e for e in self.log if e.unit is None)
        waiting = len(self.pairs)
        entry.unit = []
        size = self.size // len(self.pairs)

        def part_came():
            nonlocal waiting
            waiting -= 1
            if not waiting:
                self.net.at(self.net.now + self.post_ns, self._post)

        for pair in self.pairs:
            if self.closing:     # the data, and then immediate data without any
                entry.unit.append(pair.send(self.sender, size))
                entry.unit.append(pair.send(self.sender, 0, part_came, "WRITE_IMM"))
            else:
                entry.unit.append(pair.send(self.sender, size, part_came, "WRITE_IMM"))
        self.net.at(self.net.nics[self.sender].free_ns, self._sent)

    def _sent(self):
        self.busy = False
        self._go_on()
