#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Rhythm, shapes and admission against what really happened.

Each row simulates hosts (collective.py) and says what the report has to have.  Times are
compared to the nanosecond where nothing else is on the wire; where something is, to the
width of the cells that the rhythm was found in.

    tests/sim/test_rhythm.py [ROW...]     some rows alone
    tests/sim/test_rhythm.py --keep DIR   leaves captures and reports there
"""

import dataclasses
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import typing

from collective import (
    MIRROR, START_NS, Admission, ClearedRing, Mesh, Network, ParameterServer, Plan, Ring, Tree)

SOURCE = pathlib.Path(os.environ.get("ROCESCOPE_SOURCE",
                                     pathlib.Path(__file__).resolve().parents[2]))
BINARY = os.environ.get("ROCESCOPE", str(SOURCE / "build/dev/bin/rocescope"))

try:                             # reports are what the schema says
    import jsonschema
    VALIDATOR = jsonschema.Draft202012Validator(
        json.loads((SOURCE / "docs/report.schema.json").read_text()))
except ImportError:
    VALIDATOR = None

CHUNK = 32_768
MS = 1_000_000


@dataclasses.dataclass(frozen=True)
class Row:
    name: str
    # Gives what is captured, bytes or {file name: bytes}, and a function that yields what
    # is wrong with the report of it.
    make: typing.Callable
    text: tuple = ()             # stands in the text report, however its lines are broken
    never: tuple = ()            # does not stand there


def address(host):
    return Network.address(host)


def rank(values, percent):
    """As the report's quantiles are defined."""
    ordered = sorted(values)
    return ordered[max(0, -(-len(ordered) * percent // 100) - 1)]


def differ(what, found, wanted, tolerance=0):
    if found is None or abs(found - wanted) > tolerance:
        yield f"{what}: {found}, not {wanted}"


# --- rhythm --------------------------------------------------------------------------


def check_spread(what, found, values, tolerance=0):
    if found is None:
        yield f"{what} is null"
        return
    yield from differ(f"{what}, count", found["count"], len(values))
    for key, wanted in (("min", min(values)), ("p50", rank(values, 50)),
                        ("p90", rank(values, 90)), ("max", max(values))):
        yield from differ(f"{what}, {key}", found[key], wanted, tolerance)
    yield from differ(f"{what}, stddev", found["stddev"], statistics.pstdev(values),
                      tolerance + 1)


def lastness(times):
    """Who was last, and by how much: of {host: time}."""
    *_, second, last = sorted(times.values())
    return max(times, key=times.get), last - second


def check_lasts(rhythm, truth):
    """Who was last in each iteration; those that were last together do not count."""
    for kind, attribute in (("last_to_begin", "first_ns"), ("last_to_end", "last_ns")):
        counts = {}
        for i, iteration in enumerate(truth):
            host, by_ns = lastness(getattr(iteration, attribute))
            if i < len(rhythm["first_iterations"]):
                found = rhythm["first_iterations"][i][kind]
            else:
                found = {"host": address(host), "by_ns": by_ns} if by_ns else None
            if by_ns == 0:
                if found is not None:
                    yield f"iteration {i}: {kind} {found}, and nobody was"
                continue
            counts[address(host)] = counts.get(address(host), 0) + 1
            if (found or {}).get("host") != address(host) or found["by_ns"] != by_ns:
                yield f"iteration {i}: {kind} {found}, not {address(host)} by {by_ns}"
        for host in rhythm["hosts"]:
            yield from differ(f"{host['host']}: {kind}", host[kind]["times"],
                              counts.get(host["host"], 0))


def check_hosts(rhythm, truth):
    """What each host does by itself."""
    for host in rhythm["hosts"]:
        (number,) = (h for h in truth[0].first_ns if address(h) == host["host"])
        first = [t.first_ns[number] for t in truth]
        lengths = [t.last_ns[number] - t.first_ns[number] for t in truth]
        yield from differ("iterations of a host", host["iterations"], len(truth))
        yield from check_spread("burst of a host", host["burst_ns"], lengths)
        intervals = [b - a for a, b in zip(first, first[1:])]
        yield from check_spread("period of a host", host["period_ns"], [
            i for i in intervals if i < 1.5 * rank(intervals, 50)])


def check_rhythm(report, truth, missing=0, tolerance=0, lasts=True):
    rhythm = report["rhythm"]
    if rhythm is None:
        yield "there is no rhythm"
        return
    yield from differ("iterations", rhythm["iterations"], len(truth))
    yield from differ("missing iterations", rhythm["missing_iterations"], missing)
    starts = [t.start_ns for t in truth]
    intervals = [b - a for a, b in zip(starts, starts[1:])]
    single = [i for i in intervals if i < 1.5 * rank(intervals, 50)]
    yield from check_spread("period", rhythm["period_ns"], single, tolerance)
    yield from check_spread("burst", rhythm["burst_ns"],
                            [t.end_ns - t.start_ns for t in truth], tolerance)
    if tolerance == 0:
        yield from check_spread("bytes", rhythm["burst_bytes"], [t.bytes for t in truth])
        idle = sum(b.start_ns - a.end_ns for a, b in zip(truth, truth[1:]))
        yield from differ("idle", rhythm["idle_ns"], idle)
    for found, wanted in zip(rhythm["first_iterations"], truth):
        yield from differ("start", found["start_ns"], START_NS + wanted.start_ns,
                          tolerance)
        yield from differ("end", found["end_ns"], START_NS + wanted.end_ns, tolerance)
    if lasts and tolerance == 0:
        yield from check_lasts(rhythm, truth)
        yield from check_hosts(rhythm, truth)


def no_rhythm(report):
    if report["rhythm"] is not None:
        found = {k: v for k, v in report["rhythm"].items() if k != "first_iterations"}
        yield f"a rhythm: {found}"


def warnings(report, *wanted):
    found = {f["kind"] for f in report["findings"] if f["severity"] != "note"}
    if found != set(wanted):
        yield f"warnings {sorted(found)}, not {sorted(wanted)}"


def ring(plan=None, n=4, chunk=CHUNK, at=MIRROR, missing=0, found=(), from_ns=0,
         until_ns=None, **network):
    """A ring of n hosts; `found` are the warnings that it deserves."""
    plan = plan or Plan()

    def make():
        net = Network(n, **network)
        plan.run(net, Ring(net, range(n), chunk))

        def check(report):
            yield from check_rhythm(report, plan.truth(net, at), missing)
            yield from warnings(report, *found)
        return net.capture(at, from_ns, until_ns), check
    return make


def begun_within():
    """The capture begins and ends within a burst."""
    plan = Plan()
    net = Network(4)
    plan.run(net, Ring(net, range(4), CHUNK))
    truth = plan.truth(net)
    middle = [(t.start_ns + t.end_ns) // 2 for t in truth]

    def check(report):
        rhythm = report["rhythm"]
        if rhythm is None:
            yield "there is no rhythm"
            return
        yield from differ("iterations", rhythm["iterations"], len(truth))
        partial = [i["partial"] for i in rhythm["first_iterations"]]
        if partial != [True] + [False] * (len(truth) - 2) + [True]:
            yield f"partial: {partial}"
        yield from check_spread("period", rhythm["period_ns"], [plan.period_ns] * (
            len(truth) - 2))
        yield from check_spread("burst", rhythm["burst_ns"],
                                [t.end_ns - t.start_ns for t in truth[1:-1]])
    return net.capture(from_ns=middle[0], until_ns=middle[-1]), check


def beside(talk, n=4, hosts=4, exact=False, chunk=CHUNK):
    """A ring with something else: talk(network) makes it."""
    def make():
        plan, net = Plan(), Network(hosts)
        collective = Ring(net, range(n), chunk)
        talk(net)
        plan.run(net, collective)
        truth = plan.truth(net, among=range(n))

        def check(report):
            tolerance = 0 if exact else (report["rhythm"] or {}).get("resolution_ns", 0)
            # A packet of the background may stand in the first and last cell of a burst.
            yield from check_rhythm(report, truth, tolerance=2 * tolerance, lasts=False)
        return net.capture(), check
    return make


def every(interval_ns, a, b, n_bytes, until_ns=5 * MS, kind="SEND"):
    def talk(net):
        pair = net.pair(a, b)
        for at in range(0, until_ns, interval_ns):
            net.at(at, pair.send, a, n_bytes, None, kind)
    return talk


def nothing(talk, hosts=2):
    """Traffic that has no rhythm and no shape."""
    def make():
        net = Network(hosts)
        talk(net)
        net.run()

        def check(report):
            yield from no_rhythm(report)
            yield from warnings(report)
            for group in report["collective"]:
                if group["shape"] not in ("pair", "other", None):
                    yield f"a shape: {group['shape']}"
        return net.capture(), check
    return make


def poisson(net):
    pair, at = net.pair(0, 1), 0
    for _ in range(300):
        at += int(net.random.expovariate(1 / 40_000))
        net.at(at, pair.send, 0, 65_536)


def bursts_at_random(net):
    for a, b in ((0, 1), (1, 2), (2, 3), (3, 0), (0, 2)):
        pair, at = net.pair(a, b), 0
        for _ in range(20):
            at += int(net.random.expovariate(1 / 200_000))
            for _ in range(4):
                net.at(at, pair.send, a, CHUNK)


def one_off(net):
    pair = net.pair(0, 1)
    for at in (10_000, 400_000, 460_000, 3 * MS):
        for _ in range(8):
            net.at(at, pair.send, 0, CHUNK)


def back_to_back(n_bytes, depth):
    """As a bandwidth test does: the next WRITE when one has been acknowledged."""
    def talk(net):
        pair = net.pair(0, 1)
        left = [400]

        def send():
            if left[0]:
                left[0] -= 1
                pair.send(0, n_bytes, lambda: net.at(
                    net.now + net.delay_ns + net.turnaround_ns + 200, send))
        for _ in range(depth):
            net.at(1_000, send)
    return talk


def ping_pong(net):
    pair = net.pair(0, 1)
    left = [600]

    def send(src):
        if left[0]:
            left[0] -= 1
            pair.send(src, 64, lambda: net.at(net.now + 900, send, 1 - src))
    net.at(1_000, send, 0)


# --- shapes --------------------------------------------------------------------------


def shape(hosts, *collectives, wanted, steps=None, at=MIRROR, plan=None, extra=None,
          slow=None):
    """`collectives` make them from a network; `wanted` checks the groups."""
    def make():
        net = Network(hosts, slow=slow)
        made = [c(net) for c in collectives]
        for talk in extra or ():
            talk(net)
        (plan or Plan()).run(net, *made)

        def check(report):
            yield from wanted(report["collective"])
            late = slow or plan and plan.late
            yield from warnings(report, *(("straggler",) if late else ()))
            for i, group in enumerate(report["collective"]):
                if steps is not None:
                    yield from check_steps(group["steps"], made[i], steps)
        return net.capture(at), check
    return make


def of(kind, **values):
    """One group of that shape; `values` are its keys."""
    def wanted(groups):
        if len(groups) != 1:
            yield f"{len(groups)} groups: {[g['shape'] for g in groups]}"
        for key, value in {"shape": kind, **values}.items():
            if groups and groups[0][key] != value:
                yield f"{key}: {groups[0][key]}, not {value}"
    return wanted


def rings(*orders):
    def wanted(groups):
        found = [r for g in groups for r in g["rings"] or ()]
        turned = [sorted_ring([address(h) for h in order]) for order in orders]
        if sorted(sorted_ring(r) for r in found) != sorted(turned):
            yield f"rings {found}, not {turned}"
        if any(g["shape"] != "ring" for g in groups):
            yield f"shapes {[g['shape'] for g in groups]}"
    return wanted


def sorted_ring(order):
    at = order.index(min(order))
    return list(order[at:]) + list(order[:at])


def trees(*parents):
    def wanted(groups):
        yield from of("tree", up=True, down=True)(groups)
        found = [t["parents"] for t in groups[0]["trees"] or ()]
        named = [{address(c): address(p) for c, p in tree.items()} for tree in parents]
        if sorted(map(str, map(sorted, map(dict.items, found)))) != sorted(
                map(str, map(sorted, map(dict.items, named)))):
            yield f"trees {found}, not {named}"
        for tree in groups[0]["trees"] or ():
            if tree["root"] in tree["parents"]:
                yield f"the root {tree['root']} has a parent"
    return wanted


def check_steps(found, made, steps):
    """Against the log of the ring."""
    if found is None:
        yield "there are no steps"
        return
    yield from differ("steps", found["count"], steps)
    yield from differ("messages per step", found["messages_per_step"], made.pieces)
    yield from differ("collectives", found["collectives"], 1)
    yield from differ("sends in their place", found["sends_after_receipt"],
                      found["sends_checked"])
    ring_of = {address(r): r for r in made.order}
    before = {n: r for r, n in made.next.items()}
    all_steps = []
    for hop in found["hops"]:
        host = ring_of[hop["src"]]
        transfers, turns = [], []
        for sent in made.log:
            mine, received = sent[host], sent[before[host]]
            starts = [step[0].first_ns for step in mine]
            all_steps += [b - a for a, b in zip(starts, starts[1:])]
            transfers += [step[-1].last_ns - step[0].first_ns for step in mine]
            turns += [b[0].first_ns - a[-1].last_ns for a, b in zip(received, mine[1:])]
        yield from check_spread(f"{hop['src']}: transfer", hop["transfer_ns"], transfers)
        yield from check_spread(f"{hop['src']}: turnaround", hop["turnaround_ns"], turns)
    yield from check_spread("step", found["step_ns"], all_steps)
    slowest = min(made.net.bps[r] for r in made.order)
    if made.net.bps[ring_of[found["slowest_hop"]["src"]]] != slowest:
        yield f"the slowest hop is {found['slowest_hop']}"


def make_ring(order, **how):
    return lambda net: Ring(net, order, CHUNK, **how)


def make_tree(parents):
    return lambda net: Tree(net, parents, 2 * CHUNK)


def make_mesh(*edges):
    return lambda net: Mesh(net, edges, CHUNK)


def stranger(a, b):
    """Shows that the point is not the host's own."""
    return lambda net: net.at(10, net.pair(a, b).send, a, 64, None, "SEND")


ALL_OF_5 = [(a, b) for a in range(5) for b in range(5) if a != b]
SEVEN = {1: 0, 2: 0, 3: 1, 4: 1, 5: 2, 6: 2}
# As NCCL makes two trees of four and of eight: each host is a parent in one alone.
FOUR = ({2: 0, 1: 2, 3: 2}, {1: 3, 2: 1, 0: 1})
EIGHT = ({4: 0, 2: 4, 6: 4, 1: 2, 3: 2, 5: 6, 7: 6},
         {3: 7, 5: 3, 1: 3, 6: 5, 4: 5, 2: 1, 0: 1})


def at_three_hosts():
    """Each host's own capture, and their clocks do not agree."""
    net = Network(3)
    Plan(iterations=4).run(net, Ring(net, [0, 2, 1], CHUNK))

    def check(report):
        yield from rings([0, 2, 1])(report["collective"])
    return {f"h{h}.pcap": net.capture(h, shift_ns=h * 3_000 * MS) for h in range(3)}, check


# --- admission -----------------------------------------------------------------------


def admission(found=(), at=MIRROR, n=60, waited=None, **how):
    """`waited`: how many units the sender waited for, where that is certain."""
    def make():
        net = Network(2)
        made = Admission(net, 0, 1, n, CHUNK, **how)
        made.start()
        net.run()

        def check(report):
            yield from warnings(report, *found)
            yield from no_rhythm(report)
            if len(report["admission"]) != 1:
                yield f"{len(report['admission'])} admissions"
                return
            (one,) = report["admission"]
            yield from check_admission(one, made, net, at)
            if waited is not None:
                yield from differ("waited", one["waited"], waited)
        return net.capture(at), check
    return make


def check_admission(one, made, net, at):
    if (one["receiver"], one["sender"]) != (address(1), address(0)):
        yield f"{one['receiver']} clears {one['sender']}"
    for key in ("signals", "units", "pairs"):
        yield from differ(key, one[key], len(made.log))
    yield from differ("queue pairs per unit", one["queue_pairs_per_unit"],
                      len(made.pairs))
    yield from differ("window", one["window"], made.slots)
    delays = [net.seen_ns(e.unit[0].first_ns, 0, at)
              - net.seen_ns(e.signal.last_ns, 1, at) for e in made.log]
    yield from check_spread("delay", one["delay_ns"], delays)
    sums = one["ahead"] + one["waited"] + one["unready"]
    yield from differ("all pairs but the first",
                      sums + one["not_judged"], len(made.log) - 1)


def cleared_ring(found=(), plan=None, hosts=4, **how):
    """As NCCL does it: rhythm, ring, steps and admission all at once."""
    def make():
        net = Network(hosts)
        ring_of = ClearedRing(net, range(hosts), CHUNK, **how)
        timing = plan or Plan()
        timing.run(net, ring_of)

        def check(report):
            yield from check_rhythm(report, timing.truth(net))
            yield from rings(range(hosts))(report["collective"])
            yield from check_steps(report["collective"][0]["steps"], ring_of,
                                   2 * (hosts - 1))
            yield from warnings(report, *found)
            yield from differ("admissions", len(report["admission"]), hosts)
            for one in report["admission"]:
                n = timing.iterations * ring_of.steps
                yield from differ("signals", one["signals"], n)
                yield from differ("pairs", one["pairs"], n)
        return net.capture(), check
    return make


def admission_from_the_middle():
    net = Network(2)
    made = Admission(net, 0, 1, 60, CHUNK, slots=4)
    made.start()
    net.run()
    begin = net.seen_ns(made.log[20].signal.first_ns, 1) + 1

    def check(report):
        (one,) = report["admission"] or [None]
        if one is None:
            yield "there is no admission"
            return
        if not 1 <= one["units_before"] <= 4:
            yield f"{one['units_before']} units from before"
        if one["delay_ns"]["max"] > 20_000:
            yield f"units go with signals of others: {one['delay_ns']}"
    return net.capture(from_ns=begin), check


def not_admitted(talk):
    def make():
        net = Network(2)
        talk(net)
        net.run()

        def check(report):
            if report["admission"]:
                yield f"an admission: {report['admission']}"
            yield from warnings(report)
        return net.capture(), check
    return make


def signals_at_random(net):
    """Small WRITEs one way and data the other, and neither knows of the other."""
    pair, at = net.pair(0, 1), [0, 0]
    for _ in range(200):
        for host, n_bytes in ((0, CHUNK), (1, 64)):
            at[host] += int(net.random.expovariate(1 / 20_000))
            net.at(at[host], pair.send, host, n_bytes)


def without_signals(net):
    net_ring = every(20_000, 0, 1, CHUNK, kind="WRITE_IMM")
    net_ring(net)


ROWS = (
    Row("ring", ring(), (
        "What hosts do together",
        "12 iterations, one every 400 µs (90 % within 400 µs, standard deviation 0 ns): "
        "bursts of 26.5 µs, 786 kB each; idle 93 % of the time.",
        "Ring of 4 hosts: 10.8.0.1 → 10.8.0.2 → 10.8.0.3 → 10.8.0.4. 6 steps of 4.84 µs, "
        "of all hops alike.")),
    Row("ring of eight", ring(n=8)),
    Row("ring of three", ring(n=3)),
    Row("a period of 100 us", ring(Plan(period_ns=100_000, iterations=300), n=3,
                                    chunk=8_192)),
    Row("a period of a second", ring(Plan(period_ns=1_000 * MS))),
    Row("a period of two minutes", ring(Plan(period_ns=120_000 * MS))),
    Row("it does not begin on time", ring(Plan(jitter_ns=20_000, skew_ns=10_000,
                                               iterations=20))),
    Row("five iterations", ring(Plan(iterations=5))),
    Row("iterations left out", ring(Plan(left_out=(4, 5, 9), iterations=16), missing=3),
        ("13 iterations, 3 left out, one every 400 µs",)),
    Row("one begins late", ring(Plan(late={2: 80_000}), found=("straggler",))),
    Row("one begins late by half a period", ring(Plan(late={2: 150_000}),
                                                 found=("straggler",))),
    Row("one has a slow link", ring(slow={2: 25 * 10**9}, found=("straggler",))),
    Row("at one host", ring(at=1)),
    Row("begun and ended within", begun_within),
    Row("four iterations are too few", lambda: (
        ring(Plan(iterations=4))()[0], no_rhythm), ("Ring of 4 hosts",)),
    Row("a trickle between the same hosts", beside(every(11_000, 0, 1, 256))),
    Row("whole packets now and then", beside(every(47_000, 0, 1, 4_096))),
    Row("a stream of half the speed between the same hosts", beside(
        every(2_300, 0, 1, 8_192))),
    Row("a third of the link between two hosts", beside(
        every(2_000, 0, 1, 8_192), n=2, hosts=2)),
    Row("a stream between others", beside(every(11_000, 4, 5, CHUNK), hosts=6,
                                          exact=True)),
    Row("nearly all is between others", beside(every(11_000, 4, 5, 2 * CHUNK), hosts=6,
                                               exact=True, chunk=8_192),
        never=("What hosts do together",)),
    Row("a large part is between others", beside(every(11_000, 4, 5, CHUNK), hosts=6,
                                                 exact=True, chunk=8_192),
        ("What hosts do together",)),
    Row("Poisson", nothing(poisson)),
    Row("bursts at random", nothing(bursts_at_random, hosts=4)),
    Row("bursts once", nothing(one_off)),
    Row("a stream that is paced", nothing(every(10_000, 0, 1, CHUNK))),
    Row("packets that are paced", nothing(every(100_000, 0, 1, 1_024))),
    Row("one WRITE after the other", nothing(back_to_back(65_536, 1))),
    Row("WRITEs in a window", nothing(back_to_back(65_536, 8))),
    Row("large WRITEs", nothing(back_to_back(1_000_000, 2))),
    Row("ping-pong", nothing(ping_pong)),

    Row("steps of a ring", shape(4, make_ring(range(4)), wanted=rings(range(4)),
                                 steps=6)),
    Row("in another order, in pieces", shape(
        5, make_ring([0, 3, 1, 4, 2], pieces=4), wanted=rings([0, 3, 1, 4, 2]), steps=8)),
    Row("two channels", shape(4, make_ring(range(4)), make_ring(range(4)),
                              wanted=rings(range(4)))),
    Row("both ways", shape(5, make_ring(range(5)), make_ring([0, 4, 3, 2, 1]),
                           wanted=rings(range(5), [0, 4, 3, 2, 1]))),
    Row("both ways among three", shape(3, make_ring(range(3)), make_ring([0, 2, 1]),
                                       wanted=rings(range(3), [0, 2, 1]))),
    Row("all to all among three is not told from that", shape(
        3, make_mesh(*((a, b) for a in range(3) for b in range(3) if a != b)),
        wanted=of("other"))),
    Row("two rings apart", shape(6, make_ring([0, 2, 1]), make_ring([3, 5, 4]),
                                 wanted=rings([0, 2, 1], [3, 5, 4]), steps=4)),
    Row("two orders", shape(6, make_ring(range(6)), make_ring([0, 2, 4, 1, 5, 3]),
                            wanted=of("ring", n_rings=2, rings=None))),
    Row("a slow hop", shape(4, make_ring(range(4)), wanted=rings(range(4)), steps=6,
                            slow={2: 40 * 10**9})),
    Row("a late host", shape(4, make_ring(range(4)), wanted=rings(range(4)), steps=6,
                             plan=Plan(late={1: 60_000}))),
    Row("one iteration", shape(4, make_ring(range(4)), wanted=rings(range(4)), steps=6,
                               plan=Plan(iterations=1))),
    Row("the captures of three hosts", at_three_hosts),
    Row("tree", shape(7, make_tree(SEVEN), wanted=trees(SEVEN)),
        ("Tree of 7 hosts: root 10.8.0.1; up and down.",)),
    Row("two trees of four", shape(4, *map(make_tree, FOUR), wanted=trees(*FOUR)),
        ("Two trees of 4 hosts: root",)),
    Row("two trees of eight", shape(8, *map(make_tree, EIGHT), wanted=trees(*EIGHT))),
    Row("all to all", shape(5, make_mesh(*ALL_OF_5), wanted=of("all_to_all"))),
    Row("chain", shape(4, make_mesh((0, 1), (1, 2), (2, 3)), wanted=of("chain"))),
    Row("parameter server", shape(
        5, lambda net: ParameterServer(net, 0, range(1, 5), CHUNK),
        wanted=of("parameter_server", center=address(0)), extra=[stranger(2, 3)])),
    Row("incast", shape(5, make_mesh(*((a, 0) for a in range(1, 5))),
                        wanted=of("incast", center=address(0)), extra=[stranger(2, 3)])),
    Row("fan out", shape(5, make_mesh(*((0, a) for a in range(1, 5))),
                         wanted=of("fan_out", center=address(0)), extra=[stranger(2, 3)])),
    Row("incast, seen at the receiver", shape(
        5, make_mesh(*((a, 0) for a in range(1, 5))), at=0,
        wanted=of(None, undecidable="one_host", center=address(0)))),
    Row("a ring, seen at one host", shape(
        5, make_ring(range(5)), at=3,
        wanted=of(None, undecidable="one_host", center=address(3),
                  sends_to=[address(4)], receives_from=[address(2)])),
        ("All data is sent or received by 10.8.0.4: the shape cannot be told from here",)),

    Row("cleared in time", admission(waited=0), (
        "Receivers that clear senders to send", "10.8.0.2 10.8.0.1 60 4 6.35 µs")),
    Row("cleared one by one", admission(slots=1, waited=0)),
    Row("cleared late", admission(("waits_for_receiver",), slots=1, post_ns=200_000,
                                  waited=59)),
    Row("cleared late, four at once", admission(("waits_for_receiver",), post_ns=200_000,
                                                waited=14)),
    Row("cleared late, at the sender", admission(
        ("waits_for_receiver",), 0, slots=1, post_ns=150_000, waited=59)),
    Row("cleared late, at the receiver", admission(
        ("waits_for_receiver",), 1, slots=1, post_ns=150_000, waited=59)),
    Row("on a queue pair of its own", admission(
        ("waits_for_receiver",), slots=1, post_ns=200_000, spare=True, waited=59)),
    Row("units over two queue pairs", admission(parts=2, slots=2, waited=0)),
    Row("immediate data apart", admission(closing=True, waited=0)),
    Row("cleared, and not ready", admission(slots=1, prepare_ns=150_000, waited=0)),
    Row("both are late", admission(slots=1, prepare_ns=150_000, post_ns=300_000,
                                   waited=0)),
    Row("a ring that is cleared", cleared_ring()),
    Row("a ring that is cleared one by one", cleared_ring(slots=1)),
    Row("a ring that is cleared late", cleared_ring(
        ("waits_for_receiver",), Plan(period_ns=4 * MS), slots=1, post_ns=100_000)),
    Row("admission from the middle", admission_from_the_middle),
    Row("small WRITEs at random", not_admitted(signals_at_random)),
    Row("data without signals", not_admitted(without_signals)),
)


def reports_of(captures, directory):
    """The JSON report, and the text with one blank between words."""
    if isinstance(captures, bytes):
        captures = {"capture.pcap": captures}
    for name, data in captures.items():
        (directory / name).write_bytes(data)
    done = subprocess.run([BINARY, "--no-color", "--json", str(directory / "report.json"),
                           *(str(directory / name) for name in captures)],
                          capture_output=True, timeout=300, text=True,
                          env=dict(os.environ, COLUMNS="100", LC_ALL="C.UTF-8"))
    (directory / "report.txt").write_text(done.stdout)
    if done.returncode != 0:
        raise RuntimeError(f"exit status {done.returncode}: {done.stderr[:500]}")
    return (json.loads((directory / "report.json").read_text()),
            " ".join(done.stdout.split()))


def check_row(row, directory):
    captures, check = row.make()
    report, text = reports_of(captures, directory)
    yield from check(report)
    for wanted in row.text:
        if wanted not in text:
            yield f"the text does not say: {wanted}"
    yield from (f"the text says: {words}" for words in row.never if words in text)
    for error in VALIDATOR.iter_errors(report) if VALIDATOR else ():
        yield f"schema: {'/'.join(map(str, error.absolute_path))}: {error.message[:150]}"


def main(arguments):
    keep = None
    if arguments[:1] == ["--keep"]:
        keep, arguments = pathlib.Path(arguments[1]), arguments[2:]
    rows = [row for row in ROWS if not arguments or row.name in arguments]
    failed = 0
    for row in rows:
        with tempfile.TemporaryDirectory(prefix="rocescope-") as scratch:
            directory = keep / row.name if keep is not None else pathlib.Path(scratch)
            directory.mkdir(parents=True, exist_ok=True)
            problems = list(check_row(row, directory))
        if problems:
            failed += 1
            print(f"FAILED {row.name}")
            print("\n".join(f"    {problem}" for problem in problems[:12]))
    print(f"{len(rows)} rows, {failed} failures")
    return 1 if failed or not rows else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
