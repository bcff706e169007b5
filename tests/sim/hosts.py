# SPDX-License-Identifier: GPL-2.0-or-later
"""The machines at both ends: NIC, QP 1, and the ends of queue pairs."""

import itertools

import random

import roce
from network import Flight, Tx
from requester import Requester
from responder import Responder
from scenario import CM, CNPS, REQUESTS
from selective import KeepingResponder, SelectiveRequester
from unreliable import (
    ConnectedReceiver, ConnectedSender, DatagramReceiver, DatagramSender)


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
        tx.ident = self.host.next_ident(tx.end)
        tx.time_ns = sim.now
        wire_bytes = 38 + 58 + len(tx.headers) + tx.payload_bytes
        self._free_at = sim.now + max(
            1, wire_bytes * 8 * 10**9 // self.host.config.link_bps)
        sim.record(tx)
        sim.path.send(Flight(tx, forward=self.host is sim.host_a))


class Host:
    """A machine: a NIC, its ends of the queue pairs, and QP 1."""

    udp_port = 0xC0A1            # of QP 1
    transport = "UD"

    def __init__(self, sim, config):
        self.sim, self.config = sim, config
        self.host = self         # as the `end` of a Tx from QP 1
        self.nic = Nic(self)
        self.nic.sources.append(self)
        self.ends = {}           # by QPN: the newest
        self.datagram_psn = {}   # by QPN: what UD sends next
        self.peer = None
        self._notices = []
        self._random = random.Random(f"{sim.scenario.seed}/ident/{config.address}")
        self._ident = itertools.count(config.ident_start + 1)
        self._idents = {}        # by whom it belongs to: "rising_per_qp"
        self._last_cnp = {}

    @staticmethod
    def first_psn(_space):
        return 0

    def next_ident(self, end=None):
        """The IPv4 identification of the next packet of a queue pair, or of QP 1."""
        kind = self.config.ident
        if kind == "constant":
            return self.config.ident_start
        if kind == "random":
            return self._random.getrandbits(16)
        counter = self._ident
        if kind == "rising_per_qp":
            start = self.config.ident_start + 0x3331 * len(self._idents)
            counter = self._idents.setdefault(end, itertools.count(start))
        return next(counter) & 0xFFFF

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
            self.answer_ce(tx)
        if tx.space in (CNPS, CM):
            tx.fates.append("accepted")
            return
        end = tx.end.peer
        (end.responder if tx.space == REQUESTS else end.requester).receive(tx)

    def answer_ce(self, tx):
        """The notification point: marked data came."""
        interval, now = self.config.cnp_interval_ns, self.sim.now
        if not interval or now - self._last_cnp.get(tx.dest_qpn, 0) < interval:
            return
        self._last_cnp[tx.dest_qpn] = now
        end = tx.end.peer
        self.notify(Tx(end, CNPS, roce.OPCODE["CNP"], payload=bytes(16), becn=True,
                       payload_bytes=16, dest_qpn=end.peer.side.qpn))


class QueuePairEnd:
    """One side of a queue pair on its host."""

    def __init__(self, host, side, pmtu, udp_port, transport="RC", start_ns=0):
        self.host, self.side, self.pmtu, self.udp_port = host, side, pmtu, udp_port
        self.transport, self.start_ns = transport, start_ns
        self.peer = None
        requester, responder = _halves(side, transport)
        self.requester, self.responder = requester(self), responder(self)
        host.ends[side.qpn] = self
        host.nic.sources += [self.responder, self.requester]

    def first_psn(self, space):
        return (self if space == REQUESTS else self.peer).side.start_psn


def _halves(side, transport):
    """The classes that play a side's two parts."""
    if transport == "UD":
        return DatagramSender, DatagramReceiver
    if transport == "UC":
        return ConnectedSender, ConnectedReceiver
    return ({"all": Requester, "missing": SelectiveRequester}[side.resend],
            {"discard": Responder, "keep": KeepingResponder}[side.beyond_gap])
