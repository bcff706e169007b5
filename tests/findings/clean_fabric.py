# SPDX-License-Identifier: GPL-2.0-or-later
"""Fabrics that are well: load that they carry, few marks with their CNPs, short pauses."""

import dataclasses

from dcqcn import Dcqcn, Notification
from fabric import FabricHost, FabricScenario, simulate_fabric
from fabric_scenarios import (
    FOUR_HOSTS, NO_MARKS, NO_PAUSE, TWO_LEAVES, at_nic, at_port, flow, mirror_of, pause)
from sim import OUT_OF_ORDER, Work
from switch import Routing, SwitchConfig

FEW_MARKS_PERCENT, SHORT_PAUSES_PERCENT = 0.8, 0.8


def steady(random, op, n_messages, share=1.0, bps=100 * 10**9):
    """Messages at a share of the link's speed."""
    n_bytes = random.choice((1_024, 4_096, 16_384))
    every_ns = int(n_bytes * 8 * 10**9 / bps / share)
    start_ns = random.randrange(20_000)
    return tuple(Work(op, n_bytes, at_ns=start_ns + i * every_ns)
                 for i in range(n_messages))


def one_to_one(random):
    """Each host has a receiver of its own; over two spines, by one way or another."""
    how, recovery = random.choice((
        (Routing("ecmp"), {}), (Routing("flowlets", flowlet_gap_ns=20_000), {}),
        (Routing("random"), OUT_OF_ORDER), (Routing("round_robin"), OUT_OF_ORDER)))
    op = random.choice(("WRITE", "SEND", "READ"))
    flows = tuple(flow(a, 4 + a, steady(random, op, 20, random.choice((0.1, 0.4))),
                       to=recovery, **recovery) for a in range(random.choice((1, 2, 4))))
    points = (at_nic("h0"), at_nic("h4"), mirror_of("spine0"), at_port("leaf0:spine0"))
    return FabricScenario("one_to_one", flows, (random.choice(points),), TWO_LEAVES,
                          SwitchConfig(routing=how, **NO_MARKS))


def several_points(random):
    """The whole way in one file, or in one file for each point."""
    points = (at_nic("h0"), at_port("leaf0:spine0"), at_port("leaf1:h4"))
    files = {"way.pcapng": tuple(p.name for p in points)} if random.random() < 0.5 else {}
    return dataclasses.replace(
        one_to_one(random), points=points, files=files,
        topology=dataclasses.replace(TWO_LEAVES, n_spines=1),
        flows=(flow(0, 4, steady(random, "WRITE", 30, 0.5)),
               flow(4, 0, steady(random, "READ", 10, 0.1), number=1)))


def shared_receiver(random, n_senders, share):
    return tuple(flow(a, 3, steady(random, random.choice(("WRITE", "SEND")), 120, share),
                      number=random.choice((0, a))) for a in range(n_senders))


def few_marks(random):
    """Senders share a receiver that keeps up; where they meet, a packet is marked now and
    then, and its CNP comes."""
    host = FabricHost(notification=Notification(
        interval_ns=random.choice((4_000, 50_000)),
        scope=random.choice(("qp", "pair", "destination", "port"))), reaction=Dcqcn())
    points = (at_nic("h0"), at_nic("h3"), at_port("leaf0:h3"))
    n_senders = random.choice((2, 3))
    return FabricScenario(
        "few_marks", shared_receiver(random, n_senders, 0.8 / n_senders),
        (random.choice(points),), FOUR_HOSTS,
        SwitchConfig(kmin_bytes=random.choice((3_000, 8_000)), kmax_bytes=200_000,
                     pmax=random.choice((0.01, 0.1, 0.3)), pause=NO_PAUSE), host)


def short_pauses(random):
    """A receiver that stands still for a moment, once in some milliseconds."""
    slow = FabricHost(pause=pause(), receives_at=(
        (0, None), (100_000, 10**9), (104_000, None)))
    flows = tuple(flow(a, 3, steady(random, "WRITE", 200, 0.2)
                       + tuple(Work("WRITE", 1024, at_ns=3_000_000 + i * 10_000)
                               for i in range(20))) for a in range(2))
    points = tuple(map(at_port, ("leaf0:h3", "leaf0:h0")))
    return FabricScenario(
        "short_pauses", flows, points, FOUR_HOSTS,
        SwitchConfig(pause=pause(), **NO_MARKS), FabricHost(), {3: slow},
        files={"fabric.pcapng": tuple(p.name for p in points)})


KINDS = (one_to_one, several_points, few_marks, few_marks, short_pauses)


def is_clean(fabric, scenario):
    """Marks and pauses are as few as the scenario is meant to have."""
    truth = fabric.truth()
    sent = sum(stream["sent"]["requests"] for stream in truth["streams"]) or 1
    marks = len(truth["fabric"]["marks"])
    return 100 * marks <= FEW_MARKS_PERCENT * sent and not truth["fabric"]["drops"]


def make(random):
    while True:
        scenario = dataclasses.replace(random.choice(KINDS)(random),
                                       seed=random.getrandbits(30))
        fabric = simulate_fabric(scenario)
        if is_clean(fabric, scenario):
            return fabric.captures(), ()
