# SPDX-License-Identifier: GPL-2.0-or-later
"""What accuracy.py simulates: a Cell for each impairment, rate and identification.

Two segments do harm, and a capture point stands at each end of each:

    requester A --- sender --[segment]-- middle --[segment]-- receiver --- B responder

All work is A's, so that `sender` is the requester's point for requests and for the
responses to them.  A rate is that of the whole way: each segment has half of it.
"""

import dataclasses
import random

from sim import (
    ACKS, HOST_A, HOST_A6, HOST_B, HOST_B6, REQUESTS, RESPONSES, Impairment, Path, Point,
    QueuePair, Scenario, Segment, Side, Simulation, Work)

VANTAGE = {"sender": "requester", "middle": "middle", "receiver": "responder"}
IDENTS = ("rising", "random", "constant", "ipv6")
DROPS = (0.0, 0.001, 0.01, 0.05)  # of frames, by the capture
RATES = (0.001, 0.01, 0.05)
HIGH_RATES = (0.01, 0.05, 0.1)
BASE_LOSS = 0.01                 # of first copies, where the harm is to the repair

DELAY_NS = 2_000                 # of a segment
LINK_BPS = 25 * 10**9
SHORT_NS, LONG_NS = 4_000, 40_000  # how late: some packets; longer than a repair takes


@dataclasses.dataclass(frozen=True)
class Harm(Impairment):
    """Losses of one kind of packet besides those of an Impairment."""
    loss_resent: float = 0.0     # of requests sent again
    loss_nak: float = 0.0

    def more_loss_of(self, tx):
        if tx.space == REQUESTS and tx.resent:
            return self.loss_resent
        return self.loss_nak if tx.space == ACKS and tx.syndrome >> 5 else 0.0


class WatchedPath(Path):
    """A path that knows Harm, and remembers in which order packets came to a node."""

    def __init__(self, sim):
        super().__init__(sim)
        self.order = {node: {} for node in range(self.last_node + 1)}  # Tx -> place
        self._more = random.Random(f"{sim.scenario.seed}/harm")

    def _cross(self, flight, node):
        segment = self.segments[node if flight.forward else node - 1]
        harm = segment.forward if flight.forward else segment.backward
        rate = harm.more_loss_of(flight.tx) if isinstance(harm, Harm) else 0.0
        if not rate or self._more.random() >= rate:
            super()._cross(flight, node)

    def _arrive(self, flight, node):
        order = self.order[node]
        order.setdefault(flight.tx, len(order))
        super()._arrive(flight, node)


# --- work ----------------------------------------------------------------------------


def _pair(i, work, depth, **more):
    return QueuePair(Side(0x100 + i, start_psn=0x00F000 + 0x100000 * i, depth=depth,
                          work=tuple(work)),
                     Side(0x200 + i, start_psn=0x400000, **more), pmtu=1024)


def writes():
    return (_pair(1, (Work("WRITE", 8192), Work("SEND", 3000)) * 220, 16),
            _pair(2, (Work("WRITE", 2048),) * 600, 1))


def small_writes():
    """An ACK for every packet, and one for every other of them."""
    return (_pair(1, (Work("WRITE", 512),) * 1500, 1),
            _pair(2, (Work("WRITE", 2048),) * 1000, 4))


def reads():
    return (_pair(1, (Work("READ", 4096),) * 700, 8),
            _pair(2, (Work("READ", 9000),) * 150, 1))


def many_reads():
    return (_pair(1, (Work("READ", 1024),) * 1200, 8),
            _pair(2, (Work("READ", 2048),) * 600, 1))


def writes_and_reads():
    return (_pair(1, (Work("WRITE", 8192), Work("SEND", 3000)) * 150, 16),
            _pair(2, (Work("READ", 9000),) * 250, 4))


def sends_short_of_receives():
    return (_pair(1, (Work("SEND", 3000),) * 700, 8, receives=8),
            _pair(2, (Work("SEND", 1500),) * 400, 1, receives=4))


# --- impairments ---------------------------------------------------------------------


def _both(how):
    """The same to both segments and both directions."""
    return lambda rate: ((how(rate), how(rate)),) * 2


def _forward(how):
    return lambda rate: ((how(rate), Impairment()),) * 2


def _backward(how):
    return lambda rate: ((Impairment(), how(rate)),) * 2


def _twice(short, long):
    """Little in the first segment, much in the second."""
    return lambda rate: ((short(rate), short(rate)), (long(rate), long(rate)))


DATA = (REQUESTS, RESPONSES)


@dataclasses.dataclass(frozen=True)
class Impaired:
    title: str
    work: object                 # gives the queue pairs
    segments: object             # rate of a segment -> (forward, backward) of each
    rates: tuple = RATES


IMPAIRED = {
    "clean": Impaired(
        "Nothing", writes_and_reads, _both(lambda rate: Impairment()), (0.0,)),
    "loss": Impaired(
        "Loss of requests", writes,
        _forward(lambda rate: Impairment(loss=rate, spaces=(REQUESTS,)))),
    "re_loss": Impaired(
        "Loss of what is sent again, after a loss of 1 %", writes,
        _forward(lambda rate: Harm(loss=BASE_LOSS / 2, loss_resent=rate,
                                   spaces=(REQUESTS,))), HIGH_RATES),
    "ack_loss": Impaired(
        "Loss of ACKs and NAKs", small_writes,
        _backward(lambda rate: Impairment(loss=rate, spaces=(ACKS,)))),
    "nak_loss": Impaired(
        "Loss of NAKs, after a loss of 1 % of the requests", writes,
        lambda rate: ((Impairment(loss=BASE_LOSS / 2, spaces=(REQUESTS,)),
                       Harm(loss_nak=rate)),) * 2, HIGH_RATES),
    "read_request_loss": Impaired(
        "Loss of READ requests", many_reads,
        _forward(lambda rate: Impairment(loss=rate, spaces=(REQUESTS,)))),
    "read_response_loss": Impaired(
        "Loss of READ responses", reads,
        _backward(lambda rate: Impairment(loss=rate, spaces=(RESPONSES,)))),
    "any_loss": Impaired(
        "Loss of all kinds of packets", writes_and_reads,
        _both(lambda rate: Impairment(loss=rate))),
    "reorder": Impaired(
        "Reordering", writes_and_reads, _twice(
            lambda rate: Impairment(reorder=rate, reorder_ns=SHORT_NS, spaces=DATA),
            lambda rate: Impairment(reorder=rate, reorder_ns=LONG_NS, spaces=DATA))),
    "duplicate": Impaired(
        "Duplication", writes_and_reads, _twice(
            lambda rate: Impairment(duplicate=rate, duplicate_lag_ns=SHORT_NS),
            lambda rate: Impairment(duplicate=rate, duplicate_lag_ns=LONG_NS))),
    "corrupt": Impaired(
        "Damage to the payload", writes_and_reads,
        _both(lambda rate: Impairment(corrupt=rate, spaces=DATA))),
    "marking": Impaired(
        "Marking", writes_and_reads, _both(lambda rate: Impairment(mark=rate))),
    "rnr": Impaired(
        "Want of receive requests, and loss of requests", sends_short_of_receives,
        _forward(lambda rate: Impairment(loss=rate, spaces=(REQUESTS,)))),
}


@dataclasses.dataclass(frozen=True)
class Cell:
    impairment: str
    rate: float
    ident: str

    @property
    def name(self):
        return f"{self.impairment}-{percent(self.rate)}-{self.ident}"

    def simulate(self, seed):
        impaired = IMPAIRED[self.impairment]
        harmed = [Segment(DELAY_NS, 0, forward, backward)
                  for forward, backward in impaired.segments(self.rate / 2)]
        simulation = Simulation(Scenario(
            self.name, impaired.work(), seed=seed, points=tuple(map(Point, VANTAGE)),
            segments=(Segment(), *harmed, Segment()), **_hosts(self.ident)))
        simulation.path = WatchedPath(simulation)
        return simulation.run()


def _hosts(ident):
    a, b = (HOST_A6, HOST_B6) if ident == "ipv6" else (HOST_A, HOST_B)
    kind = "rising" if ident == "ipv6" else ident
    return {"host_a": dataclasses.replace(a, ident=kind, link_bps=LINK_BPS),
            "host_b": dataclasses.replace(b, ident=kind, link_bps=LINK_BPS)}


def percent(rate):
    return f"{100 * rate:g}%"


CELLS = {cell.name: cell for cell in (
    Cell(impairment, rate, ident) for impairment, impaired in IMPAIRED.items()
    for rate in impaired.rates for ident in IDENTS)}
