#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What any fabric has to keep, whatever the scenario; the analyzer plays no part.

    tests/sim/test_fabric_model.py [CHECK...]

Each check is a function that takes a Complaints.  Watch stands at every port and writes
down what goes out and comes in, so that what ports and switches say of themselves is
compared with what they did.
"""

import collections
import dataclasses
import sys

import roce
from dcqcn import SMALL, Dcqcn, ReactionPoint
from fabric import Fabric, FabricHost, FabricPoint, FabricScenario, simulate_fabric
from fabric_scenarios import (
    ECN_FIRST, FOUR_HOSTS, Notification, flow, scenario, writes)
from pfc import GLOBAL, PauseConfig, PauseFrame, wire_ns
from sim import CNPS, REQUESTS, START_NS, Scheduler
from switch import SwitchConfig


class Complaints(list):
    def true(self, what, holds):
        if not holds:
            self.append(what)

    def equal(self, what, got, want):
        if got != want:
            self.append(f"{what}: {got}, not {want}")


@dataclasses.dataclass
class Watch:
    """Stands at one port in the place of a tap."""
    sim: Fabric
    out: list = dataclasses.field(default_factory=list)      # (time, item)
    control: list = dataclasses.field(default_factory=list)  # PauseFrames that came in

    def see(self, item, port, sender):
        if sender is port:
            self.out.append((self.sim.now, item))
        elif isinstance(item, PauseFrame):
            self.control.append((self.sim.now, item))


def watched(name, seed=1, points=()):
    """A finished simulation and its watches by port."""
    fabric = Fabric(dataclasses.replace(scenario(name, seed), points=points, files={}))
    watches = {}
    for port in fabric.ports.values():
        watches[port] = Watch(fabric)
        for direction in ("in", "out"):
            port.watchers[direction].append(watches[port])
    return fabric.run(), watches


# Every kind of thing that happens, once: pauses of each kind, marks, losses, each way.
VARIED = ("incast_ecn", "incast_pfc", "incast_pause", "incast_expiry",
          "incast_short_headroom", "cascade", "spray", "flowlets", "lossy", "lossy_links")


def check_each(say):
    for name in VARIED + ("storm", "deadlock"):
        fabric, watches = watched(name)
        of_this = Complaints()
        ends_of_packets(fabric, of_this)
        buffers(fabric, of_this, is_done=name in VARIED)
        links(fabric, watches, of_this)
        gates(fabric, watches, of_this)
        marks(fabric, watches, of_this)
        say += [f"{name}: {text}" for text in of_this[:4]]


def ends_of_packets(fabric, say):
    """Each packet has one end: delivered, or dropped in one place."""
    if fabric.has_work():
        return                   # cut short, some are on their way
    for tx in fabric.all_tx:
        delivered = tx.passes.get("delivered", 0)
        dropped = fabric.transit_of(tx).drop is not None
        say.equal(f"ends of {tx.name()}", delivered + dropped, 1)
    say.equal("drops", len(fabric.drops), sum(
        fabric.transit_of(tx).drop is not None for tx in fabric.all_tx))
    for end in fabric.ends:
        say.equal("messages", end.requester.n_completed, len(end.side.work))


def buffers(fabric, say, *, is_done):
    """Never beyond their limits, and empty in the end."""
    for switch in fabric.switches.values():
        config = switch.config
        say.true(f"{switch.name}: buffer", switch.peak_bytes <= config.buffer_bytes)
        limit = config.pause.xoff_bytes + config.pause.headroom_bytes
        for port in switch.ports:
            queues, meter = switch.queues[port], switch.meters[port]
            say.true(f"{port.name}: queue", max(queues.peak) <= config.queue_limit_bytes)
            stored = max(meter.peak.values(), default=0)
            say.true(f"{port.name}: headroom", stored <= limit)
            if is_done:
                say.equal(f"{port.name}: left over", (sum(queues.bytes), sum(
                    meter.stored.values())), (0, 0))
        if is_done:
            say.equal(f"{switch.name}: left over", switch.buffered_bytes, 0)


def links(fabric, watches, say):
    """No frame begins before the last one has ended, and each has its own length."""
    for port, watch in watches.items():
        free = 0
        for time, item in watch.out:
            say.true(f"{port.name}: faster than its link", time >= free)
            size = 64 if isinstance(item, PauseFrame) else item.n_bytes
            free = time + wire_ns(size, port.link.bps)
    for tx in fabric.all_tx[:100]:
        say.equal(f"bytes of {tx.name()}", fabric.transit_of(tx).n_bytes,
                  len(roce.ethernet(tx.ip_bytes())) + 4)


def timers(frames, link_bps, reaction_ns):
    """(class, blocked from, end) by the frames that came in, one class after the other."""
    out = []
    for key in {frame.traffic_class for _time, frame in frames}:
        start = until = None
        for time, frame in frames:
            if frame.traffic_class != key:
                continue
            if start is not None and time >= until:
                out.append((key, start + reaction_ns, until))
                start = None
            if frame.quanta:
                start = time if start is None else start
                until = time + frame.quanta * 512 * 10**9 // link_bps
            elif start is not None:
                out.append((key, start + reaction_ns, time))
                start = None
        if start is not None:
            out.append((key, start + reaction_ns, until))
    return out


def gates(fabric, watches, say):
    """Nothing of a paused class begins after the reaction time, and no pause is longer
    than the frames that came say."""
    for port, watch in watches.items():
        stops = timers(watch.control, port.link.bps, port.gate.reaction_ns)
        said = [(s.traffic_class, s.blocked_ns,
                 s.until_ns if s.end_ns is None else s.end_ns) for s in port.gate.stops]
        say.equal(f"{port.name}: stops", sorted(said), sorted(stops))
        for time, item in watch.out:
            if not isinstance(item, PauseFrame):
                say.true(f"{port.name}: sent while it was paused", not any(
                    key in (item.priority, GLOBAL) and start <= time < end
                    for key, start, end in stops))


def marks(fabric, watches, say):
    """What was marked was ECT, is counted by one queue, and left by it."""
    counted = {key: n for switch in fabric.switches.values()
               for key, (n, _first) in switch.marks.items()}
    found = collections.Counter()
    for tx in fabric.all_tx:
        transit = fabric.transit_of(tx)
        if transit.ce:
            found[transit.marked_by, transit.priority] += 1
            say.equal("marked Not-ECT", tx.tos & 3, 2)
            say.true("marked elsewhere", transit.marked_by in transit.ports)
    say.equal("marks", dict(found), counted)


def check_headroom(say):
    """With what is needed nothing is lost at any speed, with a quarter of it something."""
    for name in ("incast_pfc_10g", "incast_pfc", "incast_pfc_400g", "incast_pfc_800g"):
        fabric, _watches = watched(name)
        say.equal(f"{name}: drops", len(fabric.drops), 0)
        say.true(f"{name}: no pause", fabric.pauses)
    cascade = scenario("cascade")
    config = dataclasses.replace(cascade.hosts[7].pause, headroom_bytes=4_000)
    fabric = simulate_fabric(dataclasses.replace(
        cascade, hosts={7: dataclasses.replace(cascade.hosts[7], pause=config)}))
    say.equal("drops of a slow receiver", {d.reason for d in fabric.drops},
              {"receive_buffer"})
    fabric, _watches = watched("incast_short_headroom")
    say.equal("drops for lack of headroom", {d.reason for d in fabric.drops}, {"headroom"})


def check_ways(say):
    """ECMP gives each flow one way and flowlets a few, and neither overtakes anything;
    spraying gives all ways, and does."""
    want = {"ecmp": (1, "none"), "flowlets": (2, "none"), "spray": (2, "some"),
            "round_robin": (2, "some"), "one_spine": (2, "none")}
    for name, (n_ways, overtaken) in want.items():
        truth = simulate_fabric(scenario(name)).truth()
        streams = [s for s in truth["streams"] if s["sent"][REQUESTS]]
        ways = {len(set(s["ways"][REQUESTS])) for s in streams}
        say.equal(f"{name}: ways", max(ways), n_ways)
        late = sum(len(s["points"].get("h4", {}).get(REQUESTS, {}).get("reordered", ()))
                   for s in streams)
        say.equal(f"{name}: overtaken", "some" if late else "none", overtaken)
    both = {tuple(s["ways"][REQUESTS])[0] for s in simulate_fabric(
        scenario("ecmp")).truth()["streams"] if s["sent"][REQUESTS]}
    say.equal("ECMP: spines in use", both, {0, 1})


def check_rates(say):
    """DCQCN: three flows that begin one after the other share a link about evenly, and
    keep it busy, without a pause or a loss."""
    host = FabricHost(notification=Notification(interval_ns=8_000), reaction=SMALL)
    flows = tuple(flow(a, 3, writes(90, every_ns=0) if a == 0 else tuple(
        dataclasses.replace(work, at_ns=60_000 * a) for work in writes(90)), depth=8)
        for a in range(3))
    fabric = simulate_fabric(FabricScenario(
        "share", flows, (FabricPoint("h3", ports=("h3",), sees=("in",), snap_length=64),),
        FOUR_HOSTS, SwitchConfig(**ECN_FIRST), host, duration_ns=600_000))
    (tap,) = fabric.taps
    late = [t for t in tap.seen if t.tx.time_ns > fabric.now - 300_000]
    shares = collections.Counter()
    for transit in late:
        shares[transit.tx.end.host.name] += transit.n_bytes
    total = sum(shares.values())
    for name, n_bytes in sorted(shares.items()):
        say.true(f"{name} has {n_bytes / total:.2f} of the link",
                 0.2 < n_bytes / total < 0.47)
    say.true(f"the link carries {total * 8 / 300_000:.0f} of 100 Gb/s",
             total * 8 > 0.7 * 300_000 * 100)
    say.equal("pauses and drops", (len(fabric.pauses), len(fabric.drops)), (0, 0))


def check_cnp_spacing(say):
    """No two CNPs of one scope are closer than the interval; of a wider one some are."""
    keys = {"qp": lambda tx: (tx.end.side.qpn, tx.dest_qpn),
            "destination": lambda tx: tx.dst, "port": lambda _tx: 0}
    closest = {}
    for scope in keys:
        fabric = simulate_fabric(scenario(f"incast_{scope}"))
        cnps = [tx for tx in fabric.all_tx if tx.space == CNPS]
        say.true(f"{scope}: {len(cnps)} CNPs", len(cnps) > 10)
        for kept, key in keys.items():
            last, least = {}, 10**9
            for tx in cnps:
                least = min(least, tx.trigger_ns - last.get(key(tx), 0))
                last[key(tx)] = tx.trigger_ns
            closest[scope, kept] = least
    for scope, kept in closest:
        is_wider = list(keys).index(kept) > list(keys).index(scope)
        say.equal(f"interval of scope {scope} kept by {kept}",
                  closest[scope, kept] >= 4_000, not is_wider)
    say.equal("pair and destination, one address each", simulate_fabric(
        scenario("incast_pair")).captures() == simulate_fabric(dataclasses.replace(
            scenario("incast_destination"), name="incast_pair")).captures(), True)


def check_cascade(say):
    """Each pause that has another for its cause followed it, and the slow receiver's go on
    to the hosts, hop by hop."""
    fabric, _watches = watched("cascade")
    chains = collections.Counter()
    for pause in fabric.pauses:
        chain, at = [], pause
        while at.cause["kind"] == "pause":
            chain.append(at.port.name)
            cause = fabric.pauses[at.cause["pause"]]
            say.true("its cause came first", cause.start_ns < at.start_ns)
            say.equal("its cause stops the port that is waited for",
                      cause.port.peer.name, at.cause["port"])
            at = cause
        chains[" ".join(chain + [at.cause["kind"]])] += 1
    say.true(f"chain to h0: {dict(chains)}",
             chains["leaf0:h0 spine0:leaf0 leaf1:spine0 slow_receiver"])


def check_deadlock(say):
    """Four switches wait for each other, and nothing goes any more: not even after the
    hosts that caused it have gone on."""
    fabric, watches = watched("deadlock")
    cycle = ("leaf0:spine0", "spine0:leaf1", "leaf1:spine1", "spine1:leaf0")
    for name in cycle:
        port = fabric.ports[name]
        say.equal(f"{name}: its newest pause", port.gate.stops[-1].end, "still_paused")
        newest = max(time for time, item in watches[port].out
                     if not isinstance(item, PauseFrame))
        say.true(f"{name}: still sends", newest < fabric.now - 200_000)
    slow = [s for host in (4, 5) for s in fabric.ports[f"leaf2:h{host}"].gate.stops]
    say.equal("those who caused it", {stop.end for stop in slow}, {"xon"})


def check_marking(say):
    """Where Kmin is Kmax a packet is marked just when its queue is longer; what cannot be
    marked is dropped, unless its class is lossless."""
    step = {"kmin_bytes": 20_000, "kmax_bytes": 20_000}
    base = scenario("lossy")
    for tos, kind, reasons in ((base.host.tos, "none", set()),
                               (base.host.tos & ~3, "none", {"wred"}),
                               (base.host.tos & ~3, "pfc", set())):
        fabric = simulate_fabric(dataclasses.replace(
            base, host=FabricHost(tos=tos),
            switch=SwitchConfig(pause=PauseConfig(kind, xoff_bytes=10**6), **step)))
        queue = fabric.switches["leaf0"].queues[fabric.ports["leaf0:h3"]]
        say.equal(f"drops, TOS {tos}, {kind}", {d.reason for d in fabric.drops}, reasons)
        say.true(f"queue of {queue.peak[3]}, TOS {tos}, {kind}",
                 (queue.peak[3] > 20_000) == (not reasons))
        say.equal(f"marks, TOS {tos}, {kind}", bool(fabric.switches["leaf0"].marks),
                  tos & 3 != 0)


def check_reaction(say):
    """The reaction point, step by step as the paper has it."""
    class Clock(Scheduler):
        busy_until = START_NS + 100_000

        def has_work(self):
            return self.now < self.busy_until

    clock, line = Clock(), 100 * 10**9
    point = ReactionPoint(clock, Dcqcn(g=1 / 4, alpha_ns=3_000, timer_ns=10_000,
                                       byte_counter=10**9, fast_recovery=2,
                                       additive_bps=10**9), line)
    point.cut()
    say.equal("the first CNP halves", (point.rate_bps, point.alpha), (line // 2, 1.0))
    clock.run(START_NS + 6_000)
    say.equal("alpha falls twice", point.alpha, 0.75 ** 2)
    point.cut()
    want = int(line / 2 * (1 - 0.75 ** 2 / 2))
    say.equal("the second cuts by half of alpha", point.rate_bps, want)
    target = line / 2
    for round_i in range(1, 5):
        clock.run(START_NS + 6_000 + 10_000 * round_i)
        target += 10**9 if round_i > 2 else 0
        want = int((want + target) / 2)
        say.equal(f"round {round_i} goes half the way", point.rate_bps, want)
    clock.run()
    say.true("timers stop with the traffic", clock.now < clock.busy_until + 20_000)


def check_seed(say):
    for name in ("spray", "incast_ecn"):
        one, two, other = (simulate_fabric(scenario(name, seed)) for seed in (3, 3, 4))
        say.true(f"{name}: captures of one seed", one.captures() == two.captures())
        say.true(f"{name}: truth of one seed", one.truth() == two.truth())
        say.true(f"{name}: captures of two seeds", one.captures() != other.captures())


CHECKS = {name[6:]: check for name, check in sorted(globals().items())
          if name.startswith("check_")}


def main(arguments):
    failed = []
    for name, check in CHECKS.items():
        if arguments and name not in arguments:
            continue
        say = Complaints()
        check(say)
        if say:
            failed.append(name)
            print(f"FAILED {name}")
            print("".join(f"    {text}\n" for text in say[:12]), end="")
    print(f"{len(failed)} failed: {' '.join(failed)}" if failed
          else f"{len(arguments) or len(CHECKS)} checks passed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
