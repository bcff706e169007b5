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

What comes next replaces a part and leaves the others: a fabric is another Path, other ways
to recover are other Requesters and Responders, a rate control a Requester's pacing.

Truth (JSON)
  points{name}: packets, not_captured, capture_duplicates, artefacts and what they changed
  streams[]: one for each direction of a queue pair, as the analyzer's streams:
    transport, recovery (go_back_n, selective), start_ns of its queue pair
    sent, resent{requests,responses}: copies as sent; a copy is [kind, psn, number]
    rounds[]: cause, psn, packets, delivered (how many of them the responder had already
      executed), ack_sent (an ACK or response for `psn` had been sent by then),
      first_was_late (it answers a NAK for a first copy that came after that NAK)
    naks_sent[]: psn, code, asked_for (the newest copy by then), its fate, and late
    fates: what the receiving host did with the copies
    messages: completed at the requester, executed at the responder
    points{name}: vantage; for each of requests, responses, acks: packets, resent and
      resent_evident (copies sent again that came here), repeats (arrivals of a PSN seen
      here before), lost_before, lost_after, not_captured, corrupt, network_duplicates,
      reordered; and missed_evident (requests), naks by code, cnps, rounds by cause (how
      many left a trace here, and an evident one), ecn and ecn_control by codepoint,
      ecn_transitions
  `evident` is what whoever sees this point alone can know, see truth._find_evident().

sightings() has what each point saw, with its times.

Files: scenario.py says what can be simulated; network.py has what travels, the path and
the capture points; hosts.py the NICs; requester.py and responder.py the two halves of a
queue pair, selective.py and unreliable.py other ways to play them, operations.py what all
know; artefacts.py what a capture may be like; truth.py writes down what happened.  All public names can be had from here.
"""

import roce
from hosts import Host, Nic, QueuePairEnd
from network import Flight, Path, Scheduler, Tap, Tx
from operations import Message
from requester import Requester
from responder import Answer, Nak, Responder
from scenario import (
    ACKS, CM, CNPS, DATA_SPACES, HOST_A, HOST_A6, HOST_B, HOST_B6, OUT_OF_ORDER, REQUESTS,
    RESPONSES, SELECTIVE, START_NS, HostConfig, Impairment, Point, QueuePair, Scenario,
    Segment, Side, Work, path_of)
from truth import Truth

__all__ = [
    "ACKS", "Answer", "CM", "CNPS", "DATA_SPACES", "Flight", "HOST_A", "HOST_A6",
    "HOST_B", "HOST_B6", "Host", "HostConfig", "Impairment", "Message", "Nak", "Nic",
    "OUT_OF_ORDER", "Path", "Point", "QueuePair", "QueuePairEnd", "REQUESTS", "RESPONSES",
    "Requester", "Responder", "SELECTIVE", "START_NS", "Scenario", "Scheduler", "Segment",
    "Side", "Simulation", "Tap", "Tx", "Work", "path_of", "simulate"]


CM_NS = 100_000                  # connecting and disconnecting take no longer


class Simulation(Truth, Scheduler):
    def __init__(self, scenario):
        super().__init__()
        self.scenario = scenario
        self.all_tx = []
        self._copies = {}        # (end, space, kind of answer, psn) -> how many
        self._newest = {}        # (end, psn) -> Tx of the newest request that starts there
        self.traffic_runs = False
        self.traffic_starts = 0
        self.ends = []           # those of one queue pair behind each other
        self.path = None
        self.capture_changes = {}  # name of a point -> what its artefacts did
        self._build()

    def _build(self):
        """Hosts, what lies between them, the capture points, and the queue pairs.
        Another network replaces this."""
        scenario = self.scenario
        self.host_a = Host(self, scenario.host_a)
        self.host_b = Host(self, scenario.host_b)
        self.host_a.peer, self.host_b.peer = self.host_b, self.host_a
        self.hosts = [self.host_a, self.host_b]
        self.taps = [Tap(self, point, i + 1) for i, point in enumerate(scenario.points)]
        self.path = Path(self)
        for pair in scenario.queue_pairs:
            port = roce.entropy_port(pair.a.qpn, pair.b.qpn)
            a, b = (QueuePairEnd(host, side, pair.pmtu, port, pair.transport,
                                 pair.start_ns)
                    for host, side in ((self.host_a, pair.a), (self.host_b, pair.b)))
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
        pairs = list(enumerate(self.scenario.queue_pairs))
        if self.scenario.cm:
            self._connect([(i, pair) for i, pair in pairs if not pair.start_ns])
        self.after(CM_NS if self.scenario.cm else 0, self._start)
        super().run()
        if self.scenario.cm:
            self._disconnect([(i, pair) for i, pair in pairs
                              if self._successor(i) is None])
            super().run()
        for tap in self.taps:
            tap.finish()
        return self

    def _start(self):
        self.traffic_runs, self.traffic_starts = True, self.now
        for i, end in enumerate(self.ends[::2]):
            self.after(end.start_ns, self._start_pair, i)
            successor = self._successor(i)
            if successor is not None:
                start_ns = self.ends[2 * successor].start_ns
                self.after(start_ns - 2 * CM_NS, self._succeed, i, successor)

    def _start_pair(self, i):
        for end in self.ends[2 * i:2 * i + 2]:
            end.responder.start()
            end.host.nic.kick()

    def _successor(self, i):
        """The index of the queue pair that gets the QPNs of this one, if any."""
        def key(end):
            return end.host, end.side.qpn, end.peer.host, end.peer.side.qpn
        firsts = self.ends[::2]
        return next((j for j in range(i + 1, len(firsts))
                     if key(firsts[j]) == key(firsts[i])), None)

    def _succeed(self, i, successor):
        for end in self.ends[2 * i:2 * i + 2]:
            assert end.requester.is_done(), "its QPN is wanted, and it is not done"
        if self.scenario.cm:
            pairs = self.scenario.queue_pairs
            self._disconnect([(i, pairs[i])])
            self.after(CM_NS, self._connect, [(successor, pairs[successor])])

    def _mads(self, pairs, make):
        """Sends make(index of the pair, the pair) of each of them, in turn."""
        for i, pair in pairs:
            for step, (host, body) in enumerate(make(i, pair)):
                tx = Tx(host, CM, roce.OPCODE["UD SEND Only"], 10 * i + step,
                        headers=roce.deth(roce.GSI_Q_KEY, roce.GSI_QPN), payload=body,
                        payload_bytes=len(body), dest_qpn=roce.GSI_QPN,
                        ack_request=True)
                self.after(20_000 * step, host.notify, tx)

    def _connect(self, pairs):
        """Each side names the PSN that it will receive first."""
        a, b = self.host_a, self.host_b
        self._mads(pairs, lambda i, pair: [
            (a, roce.cm_req(0x1000 + i, comm_id=2 * i + 1, qpn=pair.a.qpn, mtu=pair.pmtu,
                            starting_psn=pair.b.start_psn & 0xFFFFFF,
                            retry_count=min(7, pair.a.retry_count), src=a.config.address,
                            dst=b.config.address)),
            (b, roce.cm_rep(0x1000 + i, comm_id=2 * i + 2, remote_comm_id=2 * i + 1,
                            qpn=pair.b.qpn,
                            starting_psn=pair.a.start_psn & 0xFFFFFF)),
            (a, roce.cm_rtu(0x1000 + i, comm_id=2 * i + 1, remote_comm_id=2 * i + 2)),
        ])

    def _disconnect(self, pairs):
        a, b = self.host_a, self.host_b
        self._mads(pairs, lambda i, pair: [
            (a, roce.cm_dreq(0x2000 + i, comm_id=2 * i + 1, remote_comm_id=2 * i + 2,
                             remote_qpn=pair.b.qpn)),
            (b, roce.cm_drep(0x2000 + i, comm_id=2 * i + 2, remote_comm_id=2 * i + 1)),
        ])

    def captures(self):
        """Name of a point -> its file; of parts "sender.0" and "sender.1"."""
        return {name: data for tap in self.taps for name, data in tap.captures().items()}


def simulate(scenario):
    """The finished Simulation: ask it for captures() and truth()."""
    return Simulation(scenario).run()
