# SPDX-License-Identifier: GPL-2.0-or-later
"""What accuracy.py simulates: a Cell for each impairment, rate and variant.

Two segments do harm, and a capture point stands at each end of each:

    requester A --- sender --[segment]-- middle --[segment]-- receiver --- B responder

All work is A's, so that `sender` is the requester's point for requests and for the
responses to them.  A rate is that of the whole way: each segment has half of it.
"""

import dataclasses
import json
import pathlib
import random

import sim
from accuracy_match import Match
from accuracy_pauses import PauseCell
from accuracy_truth import Look, sent_of
from sim import (
    ACKS, HOST_A, HOST_A6, HOST_B, HOST_B6, REQUESTS, RESPONSES, Impairment, Path, Point,
    QueuePair, Scenario, Segment, Side, Simulation, Work)

# name of a point -> where it stands for requests, and for the responses to them
VANTAGE = {"sender": "requester", "middle": "middle", "receiver": "responder"}
# What the senders are like: their IPv4 identification, all of them going back to what was
# lost (go-back-N); and selective repeat, with a rising identification.
IDENTS = ("rising", "random", "constant", "ipv6")
SELECTIVE = getattr(sim, "SELECTIVE", None)  # what a Side needs for it
VARIANTS = IDENTS + (("selective",) if SELECTIVE else ())
DROPS = (0.0, 0.001, 0.01, 0.05)  # of frames, by the capture
RATES = (0.001, 0.01, 0.05)
HIGH_RATES = (0.01, 0.05, 0.1)
BASE_LOSS = 0.01                 # of first copies, where the harm is to the repair
# Rising shows what a verdict can do, the others what it loses; little harm needs more
# traffic to show at all.
N_SEEDS = (4, 2, 1)              # at the lowest rate, the next ...; of other variants 1

DELAY_NS = 2_000                 # of a segment
LINK_BPS = 25 * 10**9
AFTERWARDS_NS = 50_000_000
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


def _pair(i, depth, *work, **responder):
    """The last message comes when all else is long over: captures do not end at once."""
    last = Work("WRITE", 64, at_ns=AFTERWARDS_NS)
    return QueuePair(Side(0x100 + i, start_psn=0x00F000 + 0x100000 * i, depth=depth,
                          work=(*work, last)),
                     Side(0x200 + i, start_psn=0x400000, **responder), pmtu=1024)


def _writes(n):
    return (_pair(1, 16, *(Work("WRITE", 8192), Work("SEND", 3000)) * (n // 2)),
            _pair(2, 1, *(Work("WRITE", 2048),) * n))


def _small_writes(n):
    """An ACK for every packet, and for every other one."""
    return (_pair(1, 1, *(Work("WRITE", 512),) * (3 * n)),
            _pair(2, 4, *(Work("WRITE", 2048),) * (2 * n)))


def _reads(n):
    return (_pair(1, 8, *(Work("READ", 4096),) * n),
            _pair(2, 1, *(Work("READ", 9000),) * (n // 4)))


def _small_reads(n):
    return (_pair(1, 8, *(Work("READ", 1024),) * (2 * n)),
            _pair(2, 1, *(Work("READ", 2048),) * n))


def _writes_and_reads(n):
    return (_pair(1, 16, *(Work("WRITE", 8192), Work("SEND", 3000)) * (n // 3)),
            _pair(2, 4, *(Work("READ", 9000),) * (n // 2)))


def _sends_short_of_receives(n):
    return (_pair(1, 8, *(Work("SEND", 3000),) * n, receives=8),
            _pair(2, 1, *(Work("SEND", 1500),) * (n // 2), receives=4))


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
    work: object                 # about how many messages -> queue pairs
    segments: object             # rate of a segment -> (forward, backward) of each
    rates: tuple = RATES
    variants: tuple = VARIANTS


IMPAIRED = {
    "clean": Impaired(
        "Nothing", _writes_and_reads, _both(lambda rate: Impairment()), (0.0,)),
    "loss": Impaired(
        "Loss of requests", _writes,
        _forward(lambda rate: Impairment(loss=rate, spaces=(REQUESTS,)))),
    "re_loss": Impaired(
        "Loss of what is sent again, after a loss of 1 %", _writes,
        _forward(lambda rate: Harm(loss=BASE_LOSS / 2, loss_resent=rate,
                                   spaces=(REQUESTS,))), HIGH_RATES),
    "ack_loss": Impaired(
        "Loss of ACKs and NAKs", _small_writes,
        _backward(lambda rate: Impairment(loss=rate, spaces=(ACKS,)))),
    "nak_loss": Impaired(
        "Loss of NAKs, after a loss of 1 % of the requests", _writes,
        lambda rate: ((Impairment(loss=BASE_LOSS / 2, spaces=(REQUESTS,)),
                       Harm(loss_nak=rate)),) * 2, HIGH_RATES),
    "read_request_loss": Impaired(
        "Loss of READ requests", _small_reads,
        _forward(lambda rate: Impairment(loss=rate, spaces=(REQUESTS,)))),
    "read_response_loss": Impaired(
        "Loss of READ responses", _reads,
        _backward(lambda rate: Impairment(loss=rate, spaces=(RESPONSES,)))),
    "any_loss": Impaired(
        "Loss of all kinds of packets", _writes_and_reads,
        _both(lambda rate: Impairment(loss=rate))),
    "reorder": Impaired(
        "Reordering", _writes_and_reads, _twice(
            lambda rate: Impairment(reorder=rate, reorder_ns=SHORT_NS, spaces=DATA),
            lambda rate: Impairment(reorder=rate, reorder_ns=LONG_NS, spaces=DATA))),
    "duplicate": Impaired(
        "Duplication", _writes_and_reads, _twice(
            lambda rate: Impairment(duplicate=rate, duplicate_lag_ns=SHORT_NS),
            lambda rate: Impairment(duplicate=rate, duplicate_lag_ns=LONG_NS))),
    "corrupt": Impaired(
        "Damage to the payload", _writes_and_reads,
        _both(lambda rate: Impairment(corrupt=rate, spaces=DATA))),
    "marking": Impaired(
        "Marking", _writes_and_reads, _both(lambda rate: Impairment(mark=rate)),
        variants=("rising", "ipv6")),
    "rnr": Impaired(
        "Want of receive requests, and loss of requests", _sends_short_of_receives,
        _forward(lambda rate: Impairment(loss=rate, spaces=(REQUESTS,)))),
}


def matches_of(simulation, name, directory, points, drops, report_of):
    """(point, share of frames missing, Match) of each capture of a finished simulation, which
    stay in the directory with their reports."""
    all_sent = sent_of(simulation)
    for point in points:
        for drop in drops:
            look = Look(simulation, point, drop)
            path = pathlib.Path(directory, f"{name}-{point}-{percent(drop)}.pcap")
            path.write_bytes(look.pcap)
            report = report_of(path)
            path.with_suffix(".json").write_text(json.dumps(report, indent=1))
            yield point, drop, Match(look, all_sent, report)


@dataclasses.dataclass(frozen=True)
class Cell:
    impairment: str
    rate: float
    variant: str

    @property
    def name(self):
        return f"{self.impairment}-{percent(self.rate)}-{self.variant}"

    points = tuple(VANTAGE)

    @property
    def seeds(self):
        rates = IMPAIRED[self.impairment].rates
        n = N_SEEDS[rates.index(self.rate)] if self.variant == "rising" else 1
        return range(1, n + 1)

    def simulate(self, seed):
        """The finished Simulation."""
        impaired = IMPAIRED[self.impairment]
        n_messages = 300 if self.rate == impaired.rates[-1] else 500
        harmed = [Segment(DELAY_NS, 0, forward, backward)
                  for forward, backward in impaired.segments(self.rate / 2)]
        simulation = Simulation(Scenario(
            self.name, self._recover(impaired.work(n_messages)), seed=seed,
            points=tuple(map(Point, VANTAGE)),
            segments=(Segment(), *harmed, Segment()), **self._hosts()))
        simulation.path = WatchedPath(simulation)
        return simulation.run()

    def matches(self, seed, directory, points, drops, report_of):
        """(point, share of frames missing, Match) of each capture of one simulation."""
        return matches_of(self.simulate(seed), f"{self.name}-{seed}", directory, points,
                          drops, report_of)

    def _recover(self, pairs):
        if self.variant != "selective":
            return pairs
        return tuple(dataclasses.replace(
            pair, a=dataclasses.replace(pair.a, **SELECTIVE),
            b=dataclasses.replace(pair.b, **SELECTIVE)) for pair in pairs)

    def _hosts(self):
        a, b = (HOST_A6, HOST_B6) if self.variant == "ipv6" else (HOST_A, HOST_B)
        ident = self.variant if self.variant in ("random", "constant") else "rising"
        return {"host_a": dataclasses.replace(a, ident=ident, link_bps=LINK_BPS),
                "host_b": dataclasses.replace(b, ident=ident, link_bps=LINK_BPS)}


def percent(rate):
    return f"{100 * rate:g}%"


CELLS = {cell.name: cell for cell in (
    Cell(impairment, rate, variant) for impairment, impaired in IMPAIRED.items()
    for rate in impaired.rates for variant in impaired.variants)}
CELLS |= {cell.name: cell for cell in map(PauseCell, (0.01, 0.05, 0.2))}

# Some of each, with one seed, for a test.
QUICK_DROPS = (0.0, 0.01)
_QUICK_VARIANTS = {"loss": ("rising", "constant", "ipv6"), "reorder": ("rising", "ipv6"),
                   "duplicate": ("rising", "constant")}
QUICK = [f"{impairment}-{percent(impaired.rates[len(impaired.rates) // 2])}-{variant}"
         for impairment, impaired in IMPAIRED.items()
         for variant in _QUICK_VARIANTS.get(impairment, ("rising",))] + ["pause-5%-rising"]
