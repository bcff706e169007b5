#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""How often the analyzer is wrong about traffic of chance.

    tests/sim/explore.py FIRST LAST       captures made from these seeds, the worst first
    tests/sim/explore.py --seed S [--point P] [--keep DIR]
        one of them, with every mistake, as accuracy.py --cell tells them

accuracy.py looks at one kind of traffic, which every impairment meets at several rates.  Here
everything else varies: path MTU, speed, distance, timeout, how many queue pairs do what and how
much of it at once, how a responder acknowledges, how a requester repeats, and how hosts number
their packets.  That is where rules show that had the one kind of traffic in mind.

A seed whose simulation takes too long, as where nearly everything has to be sent again, is
passed over; which these are does not depend on the machine.

ROCESCOPE names the program, else build/release/bin/rocescope is taken.
"""

import argparse
import collections
import dataclasses
import multiprocessing
import pathlib
import random
import sys
import tempfile

import accuracy
from accuracy_cells import DATA, VANTAGE, Harm, WatchedPath, matches_of
from sim import (
    ACKS, HOST_A, HOST_A6, HOST_B, HOST_B6, REQUESTS, RESPONSES, SELECTIVE, Impairment,
    Point, QueuePair, Scenario, Segment, Side, Simulation, Work)

PSNS = 1 << 24
AFTERWARDS_NS = 2_000_000_000    # the last message comes when all else is long over
LEAST_TIMEOUT_NS = 2_000_000
MOST_PACKETS = 60_000            # that hosts send: more takes too long
# A timeout casts doubt on all that it repeats, and is told as one doubt: what was due by the
# facts and is not claimed says nothing.
ONE_FOR_ALL = ("ack_lost", "data_or_ack_lost")


class TooMuch(Exception):
    pass


class BoundedPath(WatchedPath):
    """Gives up when there is no end to it."""

    def _arrive(self, flight, node):
        if len(self.order[node]) > MOST_PACKETS:
            raise TooMuch
        super()._arrive(flight, node)


# --- traffic -------------------------------------------------------------------------


def _work_of(chance, kind, pmtu):
    """The next message of a queue pair of that kind."""
    if kind == "writes":
        return Work("WRITE", chance.choice((8 * pmtu, 3 * pmtu + 100, 40 * pmtu)))
    if kind == "sends":
        return Work("SEND", chance.choice((2 * pmtu, pmtu // 2, 5 * pmtu)))
    if kind == "reads":
        return Work("READ", chance.choice((4 * pmtu, 16 * pmtu, pmtu // 2)))
    if kind == "small":
        return Work(chance.choice(("WRITE", "SEND")), chance.choice((64, pmtu)))
    if kind == "atomics":
        return Work(chance.choice(("FADD", "CAS", "READ", "WRITE")), 8)
    return Work(chance.choice(("WRITE", "SEND", "READ", "WRITE_IMM")),
                chance.choice((64, 2 * pmtu, 7 * pmtu)))


def _pair(chance, i, packets, pmtu, timeout_ns, recovery):
    kind = chance.choice(("writes", "writes", "sends", "reads", "reads", "mixed", "small",
                          "atomics"))
    work, n = [], 0
    while n < packets:
        work.append(_work_of(chance, kind, pmtu))
        n += max(1, -(-work[-1].length // pmtu))
    work.append(Work("WRITE", 64, at_ns=AFTERWARDS_NS))
    requester = Side(
        0x100 + i, work=tuple(work), timeout_ns=timeout_ns,
        start_psn=chance.choice((0, 0xFFFF00, 0xF000, chance.randrange(PSNS))),
        depth=chance.choice((1, 2, 8, 32)), gap_ns=chance.choice((0, 0, 0, 2000)),
        ack_request_every=chance.choice((0, 0, 0, 1, 4)), **recovery)
    responder = Side(
        0x200 + i, start_psn=chance.randrange(PSNS),
        ack_every=chance.choice((1, 1, 1, 2, 8)), ack_delay_ns=chance.choice((5000, 20000)),
        turnaround_ns=chance.choice((500, 1500, 10000)), **recovery)
    return QueuePair(requester, responder, pmtu=pmtu)


def _harm(kind, rate, late_ns):
    """What a segment does to requests and what comes with them, and to the other direction."""
    late = {"reorder_ns": late_ns, "duplicate_lag_ns": late_ns}
    harms = {
        "loss": (Impairment(loss=rate, spaces=(REQUESTS,)),
                 Impairment(loss=rate, spaces=(RESPONSES,))),
        "any_loss": (Impairment(loss=rate),) * 2,
        "ack_loss": (Impairment(), Impairment(loss=3 * rate, spaces=(ACKS,))),
        "re_loss": (Harm(loss=0.005, loss_resent=4 * rate, spaces=(REQUESTS,)),
                    Impairment()),
        "nak_loss": (Impairment(loss=0.005, spaces=(REQUESTS,)), Harm(loss_nak=4 * rate)),
        "reorder": (Impairment(reorder=rate, spaces=DATA, **late),) * 2,
        "duplicate": (Impairment(duplicate=rate, **late),) * 2,
        "corrupt": (Impairment(corrupt=rate, spaces=DATA),) * 2,
        "mixture": (Impairment(loss=rate / 2, reorder=rate / 2, duplicate=rate / 4,
                               corrupt=rate / 8, **late),) * 2,
    }
    return harms[kind]


@dataclasses.dataclass(frozen=True)
class Chance:
    """What one seed makes."""
    seed: int
    title: str
    scenario: Scenario

    @property
    def name(self):
        return f"chance-{self.seed}"

    def simulate(self):
        simulation = Simulation(self.scenario)
        simulation.path = BoundedPath(simulation)
        return simulation.run()

    def matches(self, seed, directory, points, drops, report_of):
        """As accuracy_cells.Cell has it."""
        return matches_of(self.simulate(), self.name, directory, points, drops, report_of)


def chance_of(seed):
    chance = random.Random(f"explore/{seed}")
    ident = chance.choice(("rising", "rising", "rising_per_qp", "random", "constant", "ipv6"))
    recovery = SELECTIVE if chance.random() < 0.25 else {}
    pmtu = chance.choice((256, 1024, 1024, 4096))
    link_gbps = chance.choice((1, 10, 25, 100, 400))
    delay_ns = chance.choice((200, 1000, 5000, 50_000, 500_000))
    n_pairs = chance.choice((1, 1, 2, 3, 6))
    timeout_ns = max(4096 << chance.choice((8, 10, 12, 14)), 16 * delay_ns + LEAST_TIMEOUT_NS)
    packets = chance.choice((1000, 2000)) // n_pairs
    pairs = tuple(_pair(chance, i, packets, pmtu, timeout_ns, recovery)
                  for i in range(n_pairs))
    kind = chance.choice(("loss", "loss", "any_loss", "ack_loss", "re_loss", "reorder",
                          "duplicate", "corrupt", "nak_loss", "mixture"))
    rate = chance.choice((0.002, 0.01, 0.03))
    forward, backward = _harm(kind, rate / 2, chance.choice((3000, 20_000, 4 * delay_ns)))
    hosts = (HOST_A6, HOST_B6) if ident == "ipv6" else (HOST_A, HOST_B)
    host_a, host_b = (
        dataclasses.replace(host, ident="rising" if ident == "ipv6" else ident,
                            link_bps=link_gbps * 10**9) for host in hosts)
    segment = Segment(delay_ns, 0, forward, backward)
    title = (f"{kind} {100 * rate:g}%, {ident}, {'selective' if recovery else 'go-back-N'}, "
             f"MTU {pmtu}, {link_gbps} Gb/s, {delay_ns / 1000:g} µs, {n_pairs} queue pairs, "
             f"timeout {timeout_ns / 1e6:.1f} ms")
    return Chance(seed, title, Scenario(
        f"chance-{seed}", pairs, seed=seed, host_a=host_a, host_b=host_b,
        points=tuple(map(Point, VANTAGE)),
        segments=(Segment(), segment, segment, Segment()), cm=chance.random() < 0.7))


# --- mistakes ------------------------------------------------------------------------


def mistakes_of(seed):
    """(title, verdict -> [false claims, missed facts]); None: it takes too long."""
    made, out = chance_of(seed), collections.defaultdict(lambda: [0, 0])
    try:
        with tempfile.TemporaryDirectory() as directory:
            for _, _, match in made.matches(seed, directory, VANTAGE, (0.0,),
                                            accuracy.report_of):
                for what, score in match.scores().items():
                    out[what][0] += score.claims - score.right
                    if what not in ONE_FOR_ALL:
                        out[what][1] += score.decidable - score.found
    except TooMuch:
        return None
    return made.title, dict(out)


def explore(seeds):
    """seed -> what mistakes_of() says of it."""
    seeds = list(seeds)
    with multiprocessing.Pool() as pool:
        told = zip(seeds, pool.imap(mistakes_of, seeds))
        return {seed: one for seed, one in told if one is not None}


def sums_of(told):
    """verdict -> [false claims, missed facts], of all seeds."""
    sums = collections.defaultdict(lambda: [0, 0])
    for _, mistakes in told.values():
        for what, (false, missed) in mistakes.items():
            sums[what][0] += false
            sums[what][1] += missed
    return dict(sums)


def print_worst(told):
    def n_mistakes(item):
        return sum(map(sum, item[1][1].values()))
    for seed, (title, mistakes) in sorted(told.items(), key=n_mistakes, reverse=True):
        wrong = {what: pair for what, pair in sorted(mistakes.items()) if sum(pair)}
        if wrong:
            print(f"{seed}: {title}")
            print("    " + ", ".join(f"{what} {false} false {missed} missed"
                                     for what, (false, missed) in wrong.items()))


def main(argv):
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("seeds", nargs="*", type=int, metavar="FIRST LAST")
    parser.add_argument("--seed", type=int)
    parser.add_argument("--point", choices=list(VANTAGE))
    parser.add_argument("--keep", type=pathlib.Path, metavar="DIR")
    arguments = parser.parse_args(argv)
    if arguments.seed is None:
        if len(arguments.seeds) != 2:
            parser.error("FIRST and LAST, or --seed, are needed")
        print_worst(explore(range(arguments.seeds[0], arguments.seeds[1] + 1)))
        return 0
    made = chance_of(arguments.seed)
    print(made.title)
    with tempfile.TemporaryDirectory() as temporary:
        directory = arguments.keep or pathlib.Path(temporary)
        directory.mkdir(parents=True, exist_ok=True)
        points = (arguments.point,) if arguments.point else tuple(VANTAGE)
        accuracy.explain(made, arguments.seed, directory, points, (0.0,))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
