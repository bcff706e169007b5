#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Reliable connections over an imperfect network, with exact truth.

An event-driven simulator: two hosts, queue pairs between them, a path with capture
points.  It gives one capture for each point and says what really happened.  The same
scenario and seed give the same bytes.  It knows IBTA Vol. 1, 9.7, and nothing of the
analyzer: what it calls lost was dropped, not inferred.

How it works
  1. A Scheduler runs callbacks in time order.
  2. A Host has a Nic.  The Nic asks its sources in turn (each queue pair's Requester and
     Responder, and the host's notices) for the next packet and takes the time that the
     link needs to send it.
  3. A packet as sent is a Tx: one copy of a PSN, with its number among the copies.  What
     travels is a Flight of it; the network may make more flights of one Tx.
  4. A Path hands flights from node to node: host, point, ..., point, host.  Between two
     nodes lies a Segment, which delays, drops, repeats, reorders, marks and spoils,
     with a random sequence of its own for each direction; no draw depends on another.
  5. Requester and Responder follow IBTA 9.7:
       responder: PSN == ePSN is executed; beyond it one NAK (PSN = ePSN) until ePSN
       comes; before it is a duplicate (acknowledged again, READ executed again, atomic
       replayed).  No receive buffer: RNR NAK.
       requester: an ACK completes what is before it, but never a READ or atomic, whose
       response alone does; a response or an ACK that passes over a missing response is
       an implied NAK.  NAK, RNR NAK, implied NAK and timeout go back to one PSN and send
       everything from there again; a READ that was answered in part is asked for from
       the missing PSN on.
  6. truth() looks at every Tx and its flights and writes down what became of them.

What comes next replaces a part and leaves the others: a fabric is another Path, selective
repeat another Requester and Responder, a rate control a Requester's pacing.

Truth (JSON)
  streams[]: one for each direction of a queue pair, as the analyzer's streams:
    sent, resent{requests,responses}: copies as sent; a copy is [kind, psn, number]
    rounds[]: cause, psn, packets, delivered (how many of them the responder had already
      executed), ack_sent (an ACK or response for `psn` had been sent by then),
      first_was_late (it answers a NAK for a first copy that came after that NAK)
    naks_sent[]: psn, code, asked_for (the newest copy by then), its fate, and late
    fates: what the receiving host did with the copies
    points{name}: for each of requests, responses, acks: packets, resent and
      resent_evident (copies sent again that came here), repeats (arrivals of a PSN seen
      here before), lost_before, lost_after, not_captured, corrupt, network_duplicates,
      reordered; and missed_evident (requests), naks by code, cnps, rounds by cause (how
      many left a trace here, and an evident one), ecn and ecn_control by codepoint,
      ecn_transitions
  `evident` is what whoever sees this point alone can know, see _find_evident().
"""

import dataclasses
import heapq
import itertools
import random

import roce

START_NS = 1_795_000_000 * 10**9

REQUESTS, RESPONSES, ACKS, CNPS, CM = "requests", "responses", "acks", "cnps", "cm"
DATA_SPACES = (REQUESTS, RESPONSES, ACKS)

# --- what a scenario consists of -----------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Impairment:
    """What a segment does to flights of one direction.  Rates are per flight."""
    loss: float = 0.0
    duplicate: float = 0.0
    duplicate_lag_ns: int = 2_000
    reorder: float = 0.0         # these flights are late by reorder_ns
    reorder_ns: int = 30_000
    mark: float = 0.0            # ECT becomes CE
    corrupt: float = 0.0         # a payload bit flips: the ICRC no longer fits
    spaces: tuple = DATA_SPACES  # what loss, duplicate, reorder and corrupt apply to
    # Exactly these copies are dropped, these late by reorder_ns:
    # (space, PSN - starting PSN, copy number).
    drop: tuple = ()
    late: tuple = ()


@dataclasses.dataclass(frozen=True)
class Segment:
    delay_ns: int = 0
    jitter_ns: int = 0           # keeps the order
    forward: Impairment = Impairment()
    backward: Impairment = Impairment()


@dataclasses.dataclass(frozen=True)
class Point:
    name: str
    drop: float = 0.0            # of the capture, not of the network
    snap_length: int = 262144
    nanoseconds: bool = True


@dataclasses.dataclass(frozen=True)
class HostConfig:
    address: str
    mac: str
    ident: str = "rising"        # or "constant" or "random"
    ident_start: int = 0x1000
    link_bps: int = 100 * 10**9
    tos: int = 26 << 2 | roce.ECN_ECT0
    cnp_interval_ns: int = 0     # between CNPs for one queue pair; 0: it sends none


@dataclasses.dataclass(frozen=True)
class Work:
    """One message."""
    op: str                      # WRITE WRITE_IMM SEND SEND_IMM SEND_INV READ CAS FADD
    length: int = 0
    at_ns: int = 0               # not before, counted from the start of traffic
    nak: int = 0                 # the responder answers with this fatal syndrome


@dataclasses.dataclass(frozen=True)
class Side:
    """One end of a queue pair: its own requests, and how it answers the peer's."""
    qpn: int
    start_psn: int = 100
    work: tuple = ()
    # as requester
    depth: int = 32              # messages outstanding
    max_rd_atomic: int = 16
    ack_request_every: int = 0   # packets; 0: with the last one of each message
    gap_ns: int = 0              # pacing between request packets
    timeout_ns: int = 4_096 << 14  # local ACK timeout 14, as perftest has it
    timeout_backoff: float = 2.0
    retry_count: int = 7
    # as responder
    turnaround_ns: int = 1_500
    ack_every: int = 1           # one ACK for so many that are asked for ...
    ack_delay_ns: int = 20_000   # ... or after this time
    receives: int = -1           # buffers for SEND; -1: never short of them
    receive_batch: int = 4       # more come in batches ...
    receive_interval_ns: int = 400_000  # ... at this interval
    rnr_timer: int = 12          # code: 0.64 ms
    nak_after_rnr: bool = False  # soft-RoCE: also a sequence NAK for what follows


@dataclasses.dataclass(frozen=True)
class QueuePair:
    a: Side
    b: Side
    pmtu: int = 1024


HOST_A = HostConfig("10.9.0.1", "02:00:00:00:0a:01")
HOST_B = HostConfig("10.9.0.2", "02:00:00:00:0a:02", ident_start=0x8000)
HOST_A6 = dataclasses.replace(HOST_A, address="fd09::1")
HOST_B6 = dataclasses.replace(HOST_B, address="fd09::2")


@dataclasses.dataclass(frozen=True)
class Scenario:
    name: str
    queue_pairs: tuple
    seed: int = 1
    host_a: HostConfig = HOST_A
    host_b: HostConfig = HOST_B
    points: tuple = (Point("sender"), Point("receiver"))
    segments: tuple = ()         # one more than points; see path_of()
    cm: bool = True              # connect and disconnect by CM
    vlans: tuple = ()


def path_of(forward=Impairment(), backward=Impairment(), delay_ns=5_000, jitter_ns=0):
    """Segments for two points at the two hosts: everything happens between them."""
    return (Segment(), Segment(delay_ns, jitter_ns, forward, backward), Segment())


# --- machinery -----------------------------------------------------------------------


class Scheduler:
    def __init__(self):
        self.now = START_NS
        self._heap, self._order = [], itertools.count()

    def at(self, time_ns, call, *args):
        heapq.heappush(self._heap, (max(time_ns, self.now), next(self._order), call, args))

    def after(self, delay_ns, call, *args):
        self.at(self.now + delay_ns, call, *args)

    def run(self):
        while self._heap:
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
    # set when it is sent
    copy: int = 0
    ident: int = 0
    time_ns: int = 0
    serial: int = 0
    passes: dict = dataclasses.field(default_factory=dict)  # node -> how many came
    captured: dict = dataclasses.field(default_factory=dict)  # node -> [Flight]
    fates: list = dataclasses.field(default_factory=list)
    evident: set = dataclasses.field(default_factory=set)  # nodes, see _find_evident()

    @property
    def kind(self):
        return roce.OPCODE_NAME[self.opcode]

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

    def ip_bytes(self, ce=False, corrupt=False):
        """The packet from its IP header on, as it is at some place of its way."""
        body = self.payload or bytes([self.psn & 0xFF]) * self.payload_bytes
        ib = roce.transport(self.opcode, dest_qpn=self.dest_qpn, psn=self.psn,
                            headers=self.headers, payload=body, becn=self.becn,
                            ack_request=self.ack_request)
        host = self.end.host
        tos = host.config.tos | (roce.ECN_CE if ce else 0)
        ip = roce.Ip(host.config.address, host.peer.config.address, tos=tos,
                     ident=self.ident)
        return roce.rocev2(ip, self.end.udp_port, ib, icrc_xor=0x10 if corrupt else 0)


@dataclasses.dataclass(eq=False)
class Flight:
    """A copy of a Tx that travels."""
    tx: Tx
    forward: bool
    ce: bool = False
    corrupt: bool = False
    number: int = -1             # where it was captured: in which place


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
        draws = [self._random[key].random() for _ in range(6)]
        tx = flight.tx
        applies = tx.space in impairment.spaces
        name = tx.space, tx.psn - tx.end.first_psn(tx.space), tx.copy
        if name in impairment.drop or applies and draws[0] < impairment.loss:
            return
        if applies and draws[1] < impairment.corrupt and tx.carries_data():
            flight.corrupt = True
        if (draws[2] < impairment.mark and tx.space != CM
                and tx.end.host.config.tos & 3):
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
            self.sim.taps[node - 1].see(flight, node)
            self._cross(flight, node)


class Tap:
    """A capture point at work."""

    def __init__(self, sim, point):
        self.sim, self.point = sim, point
        self._random = random.Random(f"{sim.scenario.seed}/tap/{point.name}")
        self.pcap = roce.Pcap(nanoseconds=point.nanoseconds,
                              snap_length=point.snap_length)
        self.seen = []           # captured flights in order
        self.n_dropped = 0

    def see(self, flight, node):
        if self._random.random() < self.point.drop:
            self.n_dropped += 1
            return
        flight = dataclasses.replace(flight)  # as it is here; it may change on its way
        flight.number = len(self.seen)
        flight.tx.captured.setdefault(node, []).append(flight)
        self.seen.append(flight)
        ends = [roce.mac(h.config.mac) for h in (self.sim.host_a, self.sim.host_b)]
        src, dst = ends if flight.forward else reversed(ends)
        self.pcap.add(self.sim.now, roce.ethernet(
            flight.tx.ip_bytes(flight.ce, flight.corrupt), src=src, dst=dst,
            vlans=self.sim.scenario.vlans))


class Nic:
    """Sends what its sources have, one packet after the other, sources in turn.

    A source has ready(), which says whether it has a packet now, and pull(), which gives
    it.  Whoever becomes ready calls kick().
    """

    def __init__(self, host):
        self.host = host
        self.sources = []
        self._turn = 0
        self._free_at = 0
        self._woken = False

    def kick(self):
        if not self._woken:
            self._woken = True
            self.host.sim.at(self._free_at, self._send_next)

    def _send_next(self):
        self._woken = False
        n = len(self.sources)
        for i in range(n):
            source = self.sources[(self._turn + i) % n]
            if source.ready():
                self._turn = (self._turn + i + 1) % n
                self._send(source.pull())
                self.kick()
                return

    def _send(self, tx):
        sim = self.host.sim
        tx.ident = self.host.next_ident()
        tx.time_ns = sim.now
        wire_bytes = 38 + 58 + len(tx.headers) + tx.payload_bytes
        self._free_at = sim.now + max(
            1, wire_bytes * 8 * 10**9 // self.host.config.link_bps)
        sim.record(tx)
        sim.path.send(Flight(tx, forward=self.host is sim.host_a))


class Host:
    """A machine: a NIC, its ends of the queue pairs, and QP 1."""

    udp_port = 0xC0A1            # of QP 1

    def __init__(self, sim, config):
        self.sim, self.config = sim, config
        self.host = self         # as the `end` of a Tx from QP 1
        self.nic = Nic(self)
        self.nic.sources.append(self)
        self.ends = {}           # by QPN
        self.peer = None
        self._notices = []
        self._random = random.Random(f"{sim.scenario.seed}/ident/{config.address}")
        self._ident = config.ident_start
        self._last_cnp = {}

    @staticmethod
    def first_psn(_space):
        return 0

    def next_ident(self):
        if self.config.ident == "rising":
            self._ident += 1
        elif self.config.ident == "random":
            return self._random.getrandbits(16)
        return self._ident & 0xFFFF

    def ready(self):
        return bool(self._notices)

    def pull(self):
        return self._notices.pop(0)

    def notify(self, tx):
        """Sends a packet that belongs to no requester and no responder."""
        self._notices.append(tx)
        self.nic.kick()

    def receive(self, flight):
        tx = flight.tx
        if flight.corrupt:
            tx.fates.append("corrupt")
            return
        if flight.ce and tx.carries_data():
            self._answer_ce(tx)
        if tx.space in (CNPS, CM):
            tx.fates.append("accepted")
            return
        end = self.ends[tx.dest_qpn]
        (end.responder if tx.space == REQUESTS else end.requester).receive(tx)

    def _answer_ce(self, tx):
        interval, now = self.config.cnp_interval_ns, self.sim.now
        if not interval or now - self._last_cnp.get(tx.dest_qpn, 0) < interval:
            return
        self._last_cnp[tx.dest_qpn] = now
        end = self.ends[tx.dest_qpn]
        self.notify(Tx(end, CNPS, roce.OPCODE["CNP"], payload=bytes(16), becn=True,
                       payload_bytes=16, dest_qpn=end.peer.side.qpn))


class QueuePairEnd:
    """One side of a queue pair on its host."""

    def __init__(self, host, side, pmtu, udp_port):
        self.host, self.side, self.pmtu, self.udp_port = host, side, pmtu, udp_port
        self.peer = None
        self.requester, self.responder = Requester(self), Responder(self)
        host.ends[side.qpn] = self
        host.nic.sources += [self.responder, self.requester]

    def first_psn(self, space):
        return (self if space == REQUESTS else self.peer).side.start_psn


# --- requester (IBTA 9.7.5, 9.7.7) ---------------------------------------------------

# op -> opcodes for First, Middle, Last, Only; READ and atomics have but one packet.
_RC = {name[3:]: value for name, value in roce.OPCODE.items() if name.startswith("RC ")}
_SEGMENTED = {
    "WRITE": ("RDMA WRITE First", "RDMA WRITE Middle", "RDMA WRITE Last",
              "RDMA WRITE Only"),
    "WRITE_IMM": ("RDMA WRITE First", "RDMA WRITE Middle",
                  "RDMA WRITE Last with Immediate", "RDMA WRITE Only with Immediate"),
    "SEND": ("SEND First", "SEND Middle", "SEND Last", "SEND Only"),
    "SEND_IMM": ("SEND First", "SEND Middle", "SEND Last with Immediate",
                 "SEND Only with Immediate"),
    "SEND_INV": ("SEND First", "SEND Middle", "SEND Last with Invalidate",
                 "SEND Only with Invalidate"),
}
_READ_RESPONSE = ("RDMA READ Response First", "RDMA READ Response Middle",
                  "RDMA READ Response Last", "RDMA READ Response Only")
_ATOMIC = {"CAS": "CmpSwap", "FADD": "FetchAdd"}
ADDRESS, R_KEY = 0x7F0000000000, 0x1234


def _part(opcodes, i, n):
    """The opcode of packet i of n."""
    if n == 1:
        return _RC[opcodes[3]]
    return _RC[opcodes[0 if i == 0 else 2 if i == n - 1 else 1]]


def _packets(length, pmtu):
    return max(1, -(-length // pmtu))


@dataclasses.dataclass(eq=False)
class Message:
    """A message that has PSNs."""
    work: Work
    psn: int
    n_psns: int
    address: int

    @property
    def end(self):
        return self.psn + self.n_psns

    def waits_for_response(self):
        return self.work.op == "READ" or self.work.op in _ATOMIC


class Requester:
    def __init__(self, end):
        self.end, self.side = end, end.side
        self.waiting = list(self.side.work)  # without PSNs yet
        self.open = []                       # with PSNs, not complete
        # first_unacked <= cursor <= sent_end <= next_new: what awaits an answer, what is
        # sent next, what was ever sent, what belongs to a message.
        self.first_unacked = self.cursor = self.side.start_psn
        self.sent_end = self.next_new = self.side.start_psn
        self.failed = False
        self.n_completed, self.completed_bytes = 0, 0
        self.rounds = []
        self._round_due = None
        self._hold_until = 0                 # RNR
        self._pace_until = 0
        self._implied_nak_at = None
        self._retries = 0
        self._deadline = None

    @property
    def sim(self):
        return self.end.host.sim

    # sending

    def ready(self):
        if self.failed or not self.sim.traffic_runs:
            return False
        now = self.sim.now
        for limit in (self._hold_until, self._pace_until):
            if now < limit:
                self.sim.at(limit, self.end.host.nic.kick)
                return False
        return self.cursor < self.next_new or self._may_start()

    def _may_start(self):
        if not self.waiting or len(self.open) >= self.side.depth:
            return False
        work = self.waiting[0]
        due = self.sim.traffic_starts + work.at_ns
        if self.sim.now < due:
            self.sim.at(due, self.end.host.nic.kick)
            return False
        n_reads = sum(m.waits_for_response() for m in self.open)
        reads = work.op == "READ" or work.op in _ATOMIC
        return not reads or n_reads < self.side.max_rd_atomic

    def pull(self):
        if self.cursor == self.next_new:
            self._start_message()
        message = next(m for m in self.open if m.psn <= self.cursor < m.end)
        tx = self._make(message, self.cursor)
        tx.resent = tx.psn < self.sent_end
        self.cursor += tx.n_psns
        self.sent_end = max(self.sent_end, self.cursor)
        tx.ack_request = self._asks_for_ack(message, tx)
        if tx.resent:
            self._count_in_round(tx)
        self._pace_until = self.sim.now + self.side.gap_ns
        if self._deadline is None:
            self._arm()
        return tx

    def _start_message(self):
        work = self.waiting.pop(0)
        n = 1 if work.op in _ATOMIC else _packets(work.length, self.end.pmtu)
        self.open.append(Message(work, self.next_new, n, ADDRESS))
        self.next_new += n

    def _make(self, message, psn):
        op, pmtu = message.work.op, self.end.pmtu
        skipped = psn - message.psn
        rest = message.work.length - skipped * pmtu
        tx = Tx(self.end, REQUESTS, 0, psn, dest_qpn=self.end.peer.side.qpn,
                work=message.work)
        if op == "READ":
            tx.opcode, tx.n_psns = _RC["RDMA READ Request"], message.end - psn
            tx.read_bytes = rest
            tx.headers = roce.reth(message.address + skipped * pmtu, R_KEY, rest)
        elif op in _ATOMIC:
            tx.opcode = _RC[_ATOMIC[op]]
            tx.headers = roce.atomiceth(message.address, R_KEY, psn, 0)
        else:
            tx.opcode = _part(_SEGMENTED[op], skipped, message.n_psns)
            tx.payload_bytes = min(rest, pmtu)
            tx.headers = _request_headers(tx.kind, message)
        tx.is_last = psn + tx.n_psns == message.end
        return tx

    def _asks_for_ack(self, message, tx):
        if message.waits_for_response():
            return True
        if not (self.cursor < self.next_new or self._may_start()):
            return True          # nothing may follow until this is answered
        every = self.side.ack_request_every
        if every:
            return (tx.psn - self.side.start_psn) % every == every - 1
        return tx.is_last

    # rounds

    def _go_back(self, psn, cause, nak=None):
        if psn >= self.cursor:
            return
        self.cursor = psn
        self._round_due = {"cause": cause, "psn": psn & 0xFFFFFF,
                           "time_ns": self.sim.now, "packets": 0, "delivered": 0,
                           "requested_bytes": 0, "nak": nak,
                           "ack_sent": self.end.peer.responder.answered > psn}
        self._arm()
        self.end.host.nic.kick()

    def _count_in_round(self, tx):
        if self._round_due is not None:
            self._round_due["psn"] = tx.psn & 0xFFFFFF  # answers may have moved it on
            self.rounds.append(self._round_due)
            self._round_due = None
        last = self.rounds[-1]
        last["packets"] += 1
        tx.round_i = len(self.rounds) - 1
        tx.needless = tx.psn < self.end.peer.responder.expected
        last["delivered"] += tx.needless
        last["requested_bytes"] += tx.read_bytes

    # answers

    def receive(self, tx):
        known = self.first_unacked <= tx.psn < self.sent_end
        tx.fates.append("accepted" if known and not self.failed else "ignored")
        if self.failed or not known:
            return
        if tx.space == RESPONSES:
            self._take_response(tx)
        elif tx.syndrome >> 5 == 0:
            self._acknowledge(tx.psn + 1)
        else:
            self._take_nak(tx)
        self.end.host.nic.kick()

    def _first_unanswered(self):
        return next((m for m in self.open if m.waits_for_response()), None)

    def _acknowledge(self, before):
        """Everything before that PSN was executed; False if a response is missing."""
        asked = self._first_unanswered()
        if asked is None or before <= asked.psn:
            self._advance(before)
            return True
        self._advance(asked.psn)
        self._imply_nak()
        return False

    def _take_response(self, tx):
        asked = self._first_unanswered()
        if asked is None or tx.psn < asked.psn:
            tx.fates[-1] = "ignored"
            return
        self._advance(asked.psn)
        if tx.psn == self.first_unacked:
            self._advance(tx.psn + 1)
        elif tx.psn > self.first_unacked:
            tx.fates[-1] = "discarded"
            self._imply_nak()

    def _imply_nak(self):
        """Once for each missing response, until it comes or time runs out."""
        if self._implied_nak_at != self.first_unacked:
            self._implied_nak_at = self.first_unacked
            self._go_back(self.first_unacked, "read_reissue")

    def _take_nak(self, tx):
        if not self._acknowledge(tx.psn):
            return
        if tx.syndrome == roce.NAK_PSN_SEQUENCE:
            if self.sim.now >= self._hold_until:
                self._go_back(tx.psn, "nak_sequence", tx)
        elif tx.syndrome >> 5 == 1:
            wait = roce.RNR_TIMER_10US[tx.syndrome & 31] * 10_000
            self._hold_until = self.sim.now + wait
            self._go_back(tx.psn, "rnr", tx)
        else:
            self.failed = True

    def _advance(self, psn):
        if psn <= self.first_unacked:
            return
        self.first_unacked = psn
        self.cursor = max(self.cursor, psn)
        if self.cursor == self.sent_end:
            self._round_due = None   # answered before anything was sent again
        self._retries = 0
        while self.open and self.open[0].end <= psn:
            self.n_completed += 1
            self.completed_bytes += self.open.pop(0).work.length
        self._deadline = None
        if psn < self.sent_end:
            self._arm()

    # time

    def _arm(self):
        wait = self.side.timeout_ns * self.side.timeout_backoff ** self._retries
        self._deadline = max(self.sim.now, self._hold_until) + int(wait)
        self.sim.at(self._deadline, self._expire, self._deadline)

    def _expire(self, deadline):
        if deadline != self._deadline or self.failed:
            return               # moved or stopped since
        self._deadline = None
        if self._retries == self.side.retry_count:
            self.failed = True
            return
        self._retries += 1
        self._implied_nak_at = None
        self._go_back(self.first_unacked, "timeout")


def _request_headers(kind, message):
    headers = b""
    if "WRITE First" in kind or "WRITE Only" in kind:
        headers += roce.reth(message.address, R_KEY, message.work.length)
    if "Immediate" in kind:
        headers += roce.immdt(message.psn & 0xFFFFFFFF)
    if "Invalidate" in kind:
        headers += roce.ieth(R_KEY)
    return headers


# --- responder (IBTA 9.7.4, 9.7.5.2) -------------------------------------------------


@dataclasses.dataclass(eq=False)
class Answer:
    """What waits to be sent: an acknowledgement, an atomic's result or READ data."""
    ready_ns: int
    psn: int
    end_psn: int
    syndrome: int = roce.ACK_NO_CREDIT_LIMIT
    msn: int = 0
    length: int = -1             # READ: bytes in all
    original: int = None         # atomic
    sent: int = 0                # READ: packets already sent


@dataclasses.dataclass(eq=False)
class Nak:
    """Truth about a NAK that was sent."""
    tx: Tx
    missing: Tx                  # the newest copy of its PSN by then
    n_fates: int                 # how often that copy had arrived by then

    def is_late(self):
        return self.missing is not None and len(self.missing.fates) > self.n_fates

    def truth(self):
        missing = self.missing
        return {"psn": self.tx.psn & 0xFFFFFF, "code": nak_name(self.tx.syndrome),
                "time_ns": self.tx.time_ns, "late": self.is_late(),
                "asked_for": missing.name() if missing else None,
                "fate": missing.fates or ["lost"] if missing else None}


class Responder:
    def __init__(self, end):
        self.end, self.side = end, end.side
        self.expected = 0        # ePSN, set when the peer is known
        self.answered = 0        # every PSN before it has been answered on the wire
        self.naks = []           # truth, of type Nak
        self._msn = 0
        self._nak_sent = False
        self._failed = False
        self._queue = []
        self._atomics = {}
        self._memory = 0
        self._receives = self.side.receives
        self._acks_due, self._ack_timer = 0, 0

    @property
    def sim(self):
        return self.end.host.sim

    def start(self):
        self.expected = self.answered = self.end.peer.side.start_psn
        if self._receives >= 0:
            self.sim.after(self.side.receive_interval_ns, self._post_receives)

    def _post_receives(self):
        self._receives = min(self._receives + self.side.receive_batch,
                             4 * self.side.receive_batch)
        if self.end.peer.requester.open or self.end.peer.requester.waiting:
            if not self.end.peer.requester.failed:
                self.sim.after(self.side.receive_interval_ns, self._post_receives)

    # requests

    def receive(self, tx):
        if self._failed:
            tx.fates.append("ignored")
        elif tx.psn > self.expected:
            tx.fates.append("discarded")
            if not self._nak_sent:
                self._nak_sent = True
                self._nak(roce.NAK_PSN_SEQUENCE)
        elif tx.psn < self.expected:
            tx.fates.append("duplicate")
            self._repeat(tx)
        else:
            self._nak_sent = False
            self._execute(tx)

    def _execute(self, tx):
        if self._is_short_of_receives(tx):
            tx.fates.append("refused")
            self._nak_sent = not self.side.nak_after_rnr
            self._nak(roce.rnr_nak(self.side.rnr_timer))
            return
        if tx.work.nak:
            tx.fates.append("refused")
            self._failed = True
            self._nak(tx.work.nak)
            return
        tx.fates.append("accepted")
        self.expected += tx.n_psns
        if tx.is_last:
            self._msn += 1
        if tx.work.op == "READ":
            self._read(tx)
        elif tx.work.op in _ATOMIC:
            self._atomics[tx.psn] = self._memory
            self._memory += 1
            self._atomic(tx)
        elif tx.ack_request:
            self._acks_due += 1
            if self._acks_due >= self.side.ack_every:
                self._ack()
            else:
                self._ack_timer += 1
                self.sim.after(self.side.ack_delay_ns, self._ack_late, self._ack_timer)

    def _is_short_of_receives(self, tx):
        if self._receives < 0:
            return False
        takes = ("SEND First" in tx.kind or "SEND Only" in tx.kind
                 or "WRITE" in tx.kind and "Immediate" in tx.kind)
        if takes and self._receives == 0:
            return True
        self._receives -= takes
        return False

    def _repeat(self, tx):
        """A duplicate request (IBTA 9.7.4.1.2, 9.7.5.1.2)."""
        if tx.work.op == "READ":
            self._read(tx)
        elif tx.work.op in _ATOMIC:
            self._atomic(tx)
        else:
            self._ack()

    # answers

    def _answer(self, psn, end_psn, **more):
        ready = self.sim.now + self.side.turnaround_ns
        self._queue.append(Answer(ready, psn, end_psn, msn=self._msn, **more))
        self.sim.at(ready, self.end.host.nic.kick)

    def _ack(self):
        self._acks_due = 0
        self._ack_timer += 1
        self._answer(self.expected - 1, self.expected)

    def _ack_late(self, timer):
        if timer == self._ack_timer and self._acks_due:
            self._ack()

    def _nak(self, syndrome):
        self._acks_due = 0
        self._answer(self.expected, self.expected, syndrome=syndrome)

    def _read(self, tx):
        self._acks_due = 0
        self._answer(tx.psn, tx.psn + tx.n_psns, length=tx.read_bytes)

    def _atomic(self, tx):
        self._acks_due = 0
        self._answer(tx.psn, tx.psn + 1, original=self._atomics[tx.psn])

    def ready(self):
        return bool(self._queue) and self._queue[0].ready_ns <= self.sim.now

    def pull(self):
        answer = self._queue[0]
        if answer.length < 0:
            self._queue.pop(0)
            tx = self._make_ack(answer)
        else:
            tx = self._make_read_response(answer)
            answer.sent += 1
            if answer.psn + answer.sent == answer.end_psn:
                self._queue.pop(0)
        if tx.space == RESPONSES or answer.syndrome >> 5 == 0:
            self.answered = max(self.answered, tx.psn + 1)
        return tx

    def _make_ack(self, answer):
        atomic = answer.original is not None
        headers = roce.aeth(answer.syndrome, answer.msn)
        if atomic:
            headers += roce.atomicack(answer.original)
        tx = Tx(self.end, RESPONSES if atomic else ACKS,
                _RC["ATOMIC Acknowledge" if atomic else "Acknowledge"], answer.psn,
                headers=headers, syndrome=answer.syndrome,
                dest_qpn=self.end.peer.side.qpn)
        if answer.syndrome >> 5:
            missing = self.sim.newest_request(self.end.peer, answer.psn)
            self.naks.append(Nak(tx, missing, len(missing.fates) if missing else 0))
        return tx

    def _make_read_response(self, answer):
        n = answer.end_psn - answer.psn
        opcode = _part(_READ_RESPONSE, answer.sent, n)
        has_aeth = opcode != _RC["RDMA READ Response Middle"]
        pmtu = self.end.pmtu
        return Tx(self.end, RESPONSES, opcode, answer.psn + answer.sent,
                  headers=roce.aeth(answer.syndrome, answer.msn) if has_aeth else b"",
                  payload_bytes=min(pmtu, answer.length - answer.sent * pmtu),
                  dest_qpn=self.end.peer.side.qpn)


# --- the simulation ------------------------------------------------------------------


class Simulation(Scheduler):
    def __init__(self, scenario):
        super().__init__()
        self.scenario = scenario
        self.all_tx = []
        self._copies = {}        # (end, space, kind of answer, psn) -> how many
        self._newest = {}        # (end, psn) -> Tx of the newest request that starts there
        self.traffic_runs = False
        self.traffic_starts = 0
        self.host_a = Host(self, scenario.host_a)
        self.host_b = Host(self, scenario.host_b)
        self.host_a.peer, self.host_b.peer = self.host_b, self.host_a
        self.taps = [Tap(self, point) for point in scenario.points]
        self.path = Path(self)
        self.ends = []
        for pair in scenario.queue_pairs:
            port = roce.entropy_port(pair.a.qpn, pair.b.qpn)
            a = QueuePairEnd(self.host_a, pair.a, pair.pmtu, port)
            b = QueuePairEnd(self.host_b, pair.b, pair.pmtu, port)
            a.peer, b.peer = b, a
            self.ends += [a, b]

    def record(self, tx):
        """A host sends it now: it gets its number among the copies of its PSN.  An ACK
        is no copy of a NAK, and an ACK that says the same again is a copy."""
        tx.serial = len(self.all_tx)
        self.all_tx.append(tx)
        for psn in range(tx.psn, tx.psn + tx.n_psns):
            key = (tx.end, tx.space, tx.syndrome, psn)
            self._copies[key] = self._copies.get(key, 0) + 1
            if tx.space == REQUESTS:
                self._newest[tx.end, psn] = tx
        tx.copy = self._copies[tx.end, tx.space, tx.syndrome, tx.psn]
        if tx.space == RESPONSES:
            tx.resent = tx.copy > 1

    def newest_request(self, end, psn):
        return self._newest.get((end, psn))

    def run(self):
        if self.scenario.cm:
            self._connect()
        self.after(100_000 if self.scenario.cm else 0, self._start)
        super().run()
        if self.scenario.cm:
            self._disconnect()
            super().run()
        return self

    def _start(self):
        self.traffic_runs, self.traffic_starts = True, self.now
        for end in self.ends:
            end.responder.start()
        for host in (self.host_a, self.host_b):
            host.nic.kick()

    def _mads(self, make):
        """Sends make(index of the pair, its side A, its side B) of each pair, in turn."""
        for i, pair in enumerate(self.scenario.queue_pairs):
            for step, (host, body) in enumerate(make(i, pair)):
                tx = Tx(host, CM, roce.OPCODE["UD SEND Only"], 10 * i + step,
                        headers=roce.deth(roce.GSI_Q_KEY, roce.GSI_QPN), payload=body,
                        payload_bytes=len(body), dest_qpn=roce.GSI_QPN,
                        ack_request=True)
                self.after(20_000 * step, host.notify, tx)

    def _connect(self):
        a, b = self.host_a, self.host_b
        self._mads(lambda i, pair: [
            (a, roce.cm_req(0x1000 + i, comm_id=2 * i + 1, qpn=pair.a.qpn, mtu=pair.pmtu,
                            starting_psn=pair.a.start_psn & 0xFFFFFF,
                            retry_count=min(7, pair.a.retry_count), src=a.config.address,
                            dst=b.config.address)),
            (b, roce.cm_rep(0x1000 + i, comm_id=2 * i + 2, remote_comm_id=2 * i + 1,
                            qpn=pair.b.qpn,
                            starting_psn=pair.b.start_psn & 0xFFFFFF)),
            (a, roce.cm_rtu(0x1000 + i, comm_id=2 * i + 1, remote_comm_id=2 * i + 2)),
        ])

    def _disconnect(self):
        a, b = self.host_a, self.host_b
        self._mads(lambda i, pair: [
            (a, roce.cm_dreq(0x2000 + i, comm_id=2 * i + 1, remote_comm_id=2 * i + 2,
                             remote_qpn=pair.b.qpn)),
            (b, roce.cm_drep(0x2000 + i, comm_id=2 * i + 2, remote_comm_id=2 * i + 1)),
        ])

    def captures(self):
        return {tap.point.name: tap.pcap.bytes() for tap in self.taps}

    # truth

    def truth(self):
        points = {t.point.name: {"packets": len(t.seen), "not_captured": t.n_dropped}
                  for t in self.taps}
        return {"scenario": self._scenario_truth(), "points": points,
                "streams": [self._stream_truth(end) for end in self.ends]}

    @staticmethod
    def _missed_evident(end, requests, node, tap):
        """Requests that the capture missed, with others around them that it did not, and
        an acknowledgement that it saw."""
        seen = [f.tx.psn for f in tap.seen if f.tx.end is end and f.tx.space == REQUESTS]
        answers = [f.tx.psn for f in tap.seen if f.tx.end is end.peer
                   and f.tx.space in (ACKS, RESPONSES) and f.tx.syndrome >> 5 == 0]
        low, high = min(seen, default=0), min(max(seen, default=0), max(answers, default=0))
        return sum(tx.passes.get(node, 0) > 0 and node not in tx.captured
                   and not tx.resent and low < tx.psn < high for tx in requests)

    def _scenario_truth(self):
        out = dataclasses.asdict(self.scenario)
        for pair in out["queue_pairs"]:
            for side in (pair["a"], pair["b"]):
                side["work"] = _count(w["op"] for w in side["work"])
        return out

    def _stream_truth(self, end):
        mine = [tx for tx in self.all_tx if tx.end is end]
        by_space = {s: [t for t in mine if t.space == s] for s in DATA_SPACES + (CNPS,)}
        for space in (REQUESTS, RESPONSES):
            _find_evident(by_space[space], len(self.taps))
        requester = end.requester
        return {
            "src": end.host.config.address, "dst": end.host.peer.config.address,
            "dst_qpn": end.peer.side.qpn, "src_qpn": end.side.qpn, "pmtu": end.pmtu,
            "direction": "a_to_b" if end.host is self.host_a else "b_to_a",
            "sent": {space: len(txs) for space, txs in by_space.items()},
            "resent": {s: [t.name() for t in by_space[s] if t.resent]
                       for s in (REQUESTS, RESPONSES)},
            "rounds": [self._round_truth(end, entry) for entry in requester.rounds],
            "messages": {"completed": requester.n_completed,
                         "bytes": requester.completed_bytes,
                         "failed": requester.failed},
            "naks_sent": [nak.truth() for nak in end.responder.naks],
            "fates": {s: _count(f for t in by_space[s] for f in t.fates or ["lost"])
                      for s in DATA_SPACES},
            "points": {tap.point.name: self._point_truth(end, by_space, i + 1, tap)
                       for i, tap in enumerate(self.taps)},
        }

    @staticmethod
    def _round_truth(end, entry):
        late = any(nak.tx is entry["nak"] and nak.is_late() and nak.missing.copy == 1
                   for nak in end.peer.responder.naks)
        return {**{k: v for k, v in entry.items() if k != "nak"}, "first_was_late": late}

    def _point_truth(self, end, by_space, node, tap):
        last = self.path.last_node if end.host is self.host_a else 0
        out = {s: _space_truth(by_space[s], node, last,
                               [f for f in tap.seen if f.tx.end is end
                                and f.tx.space == s]) for s in DATA_SPACES}
        out["missed_evident"] = self._missed_evident(end, by_space[REQUESTS], node, tap)
        out["rounds"] = _rounds_seen(by_space[REQUESTS], end.requester.rounds, node)
        seen = [f for f in tap.seen if f.tx.end is end and not f.corrupt]
        out["naks"] = _count(nak_name(f.tx.syndrome) for f in seen
                             if f.tx.space == ACKS and f.tx.syndrome >> 5)
        out["cnps"] = sum(f.tx.space == CNPS for f in seen)
        # Data is what carries a payload; CNPs stand by themselves.
        marks = [_codepoint(f) for f in seen if f.tx.carries_data()]
        out["ecn"] = _count(marks)
        out["ecn_transitions"] = sum(a != b for a, b in zip(marks, marks[1:]))
        out["ecn_control"] = _count(_codepoint(f) for f in seen if f.tx.space == ACKS)
        return out


def _rounds_seen(txs, rounds, node):
    """cause -> [rounds of which something came here, and of which that can be known]."""
    out = {}
    for i, entry in enumerate(rounds):
        of_round = [tx for tx in txs if tx.round_i == i and tx.came_to(node)]
        counts = out.setdefault(entry["cause"], [0, 0])
        counts[0] += bool(of_round)
        counts[1] += any(node in tx.evident for tx in of_round)
    return out


def _codepoint(flight):
    ecn = flight.tx.end.host.config.tos & 3 | (roce.ECN_CE if flight.ce else 0)
    return ("not_ect", "ect1", "ect0", "ce")[ecn]


def nak_name(syndrome):
    if syndrome >> 5 == 1:
        return "rnr"
    return {roce.NAK_PSN_SEQUENCE: "psn_sequence",
            roce.NAK_INVALID_REQUEST: "invalid_request",
            roce.NAK_REMOTE_ACCESS: "remote_access",
            roce.NAK_REMOTE_OPERATIONAL: "remote_operational"}[syndrome]


def _count(names):
    out = {}
    for name in names:
        out[name] = out.get(name, 0) + 1
    return dict(sorted(out.items()))


def _find_evident(txs, n_points):
    """Marks each Tx with the nodes where what it is can be known.

    That it is missing: it was needed, a later one of the same run came there, and its PSN
    was sent again; a run is a row of rising PSNs.  That it was sent again: it came there
    after an earlier copy, or the lack of one is evident itself."""
    runs, resent_last = [], {}
    for tx in txs:
        if not runs or tx.psn <= runs[-1][-1].psn:
            runs.append([])
        runs[-1].append(tx)
        for psn in range(tx.psn, tx.psn + tx.n_psns):
            resent_last[psn] = tx.serial
    for run in runs:
        for node in range(1, n_points + 1):
            later_came = False
            for tx in reversed(run):
                came = tx.came_to(node)
                if (later_came and not came and not tx.needless
                        and resent_last[tx.psn] > tx.serial):
                    tx.evident.add(node)
                later_came |= came
    for node in range(1, n_points + 1):
        known = {}               # PSN -> when an earlier copy became known here
        for tx in txs:
            number = tx.number_at(node)
            if tx.resent and number is not None and known.get(tx.psn, number) < number:
                tx.evident.add(node)
            if number is None and node in tx.evident:
                number = -1
            if number is not None:
                for psn in range(tx.psn, tx.psn + tx.n_psns):
                    known[psn] = min(number, known.get(psn, number))


def _space_truth(txs, node, last_node, seen):
    """What happened to the Tx of one space, seen from one node.  `packets` are all;
    corrupt ones, which move no state, are in no other count but their own."""
    n_packets = len(seen)
    seen = [f for f in seen if not f.corrupt]
    lost_before, lost_after, not_captured, corrupt = [], [], [], []
    duplicates = []
    for tx in txs:
        passes, captured = tx.passes.get(node, 0), tx.captured.get(node, [])
        if not passes:
            lost_before.append({"copy": tx.name(), "evident": node in tx.evident})
        elif not captured:
            not_captured.append(tx.name())
        if passes and last_node not in tx.passes:
            lost_after.append(tx.name())
        if any(f.corrupt for f in captured):
            corrupt.append(tx.name())
        duplicates += [tx.name()] * (len(captured) - 1)
    resent = {f.tx.serial: f.tx for f in seen if f.tx.resent}.values()
    return {"packets": n_packets, "resent": len(resent),
            "resent_evident": sum(node in tx.evident for tx in resent),
            "repeats": _repeats(seen), "lost_before": lost_before,
            "lost_after": lost_after, "not_captured": not_captured, "corrupt": corrupt,
            "network_duplicates": duplicates, "reordered": _reordered(seen)}


def _repeats(seen):
    psns = [f.tx.psn for f in seen]
    return len(psns) - len(set(psns))


def _reordered(seen):
    """Copies that came after a packet of higher PSN that had been sent later;
    `first_here`: no other copy of the PSN had come before."""
    out, came, psns = [], set(), {}   # psns: of what came, by serial
    newest = -1
    for f in seen:
        tx = f.tx
        if tx.serial in psns:
            continue             # made by the network
        if tx.serial < newest and any(
                serial > tx.serial and psn > tx.psn for serial, psn in psns.items()):
            out.append({"copy": tx.name(), "first_here": tx.psn not in came})
        psns[tx.serial] = tx.psn
        newest = max(newest, tx.serial)
        came.add(tx.psn)
    return out


def simulate(scenario):
    """The finished Simulation: ask it for captures() and truth()."""
    return Simulation(scenario).run()
