#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Scenarios of a fabric that have a name.  But for the large ones, which no test runs,
each lasts about a millisecond or less.

    tests/sim/fabric_scenarios.py                 lists them
    tests/sim/fabric_scenarios.py NAME [SEED]     simulates one, and says what happened
    tests/sim/fabric_scenarios.py NAME SEED DIR   and leaves captures and truth.json there
"""

import dataclasses
import json
import pathlib
import re
import sys

import roce
from dcqcn import SMALL, Dcqcn, Notification
from fabric import (
    Clos, FabricHost, FabricPoint, FabricScenario, Flow, simulate_fabric)
from pfc import PauseConfig, headroom_needed
from sim import OUT_OF_ORDER, SELECTIVE, QueuePair, Side, Work
from switch import Link, Routing, SwitchConfig

FOUR_HOSTS = Clos(hosts_per_leaf=4)
TWO_LEAVES = Clos(n_leaves=2, n_spines=2, hosts_per_leaf=4)
TIMEOUT_NS = 500_000             # a scenario has no time for 67 ms

NO_PAUSE = PauseConfig(kind="none")
NO_MARKS = {"marked_priorities": ()}
# Marks early, pauses late.
ECN_FIRST = {"kmin_bytes": 10_000, "kmax_bytes": 80_000, "pmax": 0.2,
             "pause": PauseConfig(xoff_bytes=300_000)}


def flow(a, b, work, *, number=0, pmtu=1024, to=None, **side):
    """A queue pair from host a to host b; its QPNs tell which.  `to` is Side b's."""
    side = {"depth": 8, "timeout_ns": TIMEOUT_NS, **side}
    from_, to_ = (0x10000 * (a + 1) + 0x100 * (b + 1) + number,
                  0x10000 * (b + 1) + 0x100 * (a + 1) + 0x80 + number)
    return Flow(a, b, QueuePair(
        Side(from_, start_psn=0x10000 * (a + 1) + 0x100000 * number, work=tuple(work),
             **side),
        Side(to_, start_psn=0x400000 + to_ % 1000, timeout_ns=TIMEOUT_NS, **(to or {})),
        pmtu=pmtu))


def writes(n, length=32_768, every_ns=0):
    return tuple(Work("WRITE", length, at_ns=i * every_ns) for i in range(n))


def at_port(name):
    return FabricPoint(name.replace(":", "_"), ports=(name,))


def at_nic(name):
    return FabricPoint(name, ports=(name,), mac_control="absorbed")


def mirror_of(switch, sees=("in",)):
    """All ports of a switch, each packet once."""
    return FabricPoint(switch, ports=(switch,), sees=sees)


def pause(**how):
    """XOFF at 30 kB, XON at 20 kB, and pauses of 5 us at 100 Gb/s, often refreshed."""
    return PauseConfig(**{"xoff_bytes": 30_000, "xon_bytes": 20_000, "quanta": 1000,
                          **how})


# --- incast --------------------------------------------------------------------------


def incast(senders, receiver, n_messages):
    return tuple(flow(a, receiver, writes(n_messages), depth=4) for a in senders)


def incast_ecn(**notification):
    """Three to one: switches mark, receivers send CNPs, senders slow down."""
    point = Notification(**{"interval_ns": 8_000, **notification})
    return FabricScenario(
        "incast_ecn", incast(range(3), 3, 20),
        (at_nic("h0"), at_nic("h3"), at_port("leaf0:h3")), FOUR_HOSTS,
        SwitchConfig(**ECN_FIRST), FabricHost(notification=point, reaction=SMALL))


def incast_scopes(scope):
    """Two queue pairs of each of three senders, so that scopes differ."""
    base = incast_ecn(scope=scope, interval_ns=4_000)
    return dataclasses.replace(base, flows=tuple(
        flow(a, 3, writes(12), number=i, depth=4) for a in range(3) for i in range(2)))


def incast_read():
    """h3 READs from three at once: it is the responses that meet."""
    base = incast_ecn()
    reads = (Work("READ", 32_768),) * 20
    return dataclasses.replace(base, flows=tuple(
        flow(3, b, reads, depth=4) for b in range(3)))


def incast_switch_cnps():
    """The switch sends CNPs from its own address, receivers send none."""
    base = incast_ecn()
    return dataclasses.replace(
        base, points=base.points + (at_port("leaf0:h0"),),
        host=FabricHost(reaction=SMALL), switch=dataclasses.replace(
            base.switch, notification=Notification(interval_ns=8_000)))


def notification_off():
    """Data is marked, again and again for 400 us, and nobody says so."""
    work = writes(20, every_ns=20_000)
    return dataclasses.replace(incast_ecn(), host=FabricHost(), flows=tuple(
        flow(a, 3, work, depth=4) for a in range(3)))


def reaction_off():
    """Senders take no notice of CNPs."""
    base = incast_ecn(interval_ns=3_000)
    return dataclasses.replace(
        base, flows=incast(range(3), 3, 40),
        host=FabricHost(notification=base.host.notification))


def cnp_in_data_class():
    """CNPs wait behind data; h3 sends as well, into a queue that marks."""
    base = incast_ecn(tos=26 << 2 | roce.ECN_ECT0)
    back = tuple(flow(a, 0, writes(20), number=1, depth=4) for a in (1, 3))
    return dataclasses.replace(base, flows=base.flows + back,
                               points=base.points + (at_port("leaf0:h0"),))


def rate_cuts():
    """One sender and a slower link to its receiver: a CNP each 300 us, far apart enough
    for the rate to come back, and a sender that only its rate holds back."""
    reaction = Dcqcn(g=1 / 16, alpha_ns=20_000, timer_ns=20_000, byte_counter=10**9,
                     additive_bps=10**9, least_bps=10**9)
    host = FabricHost(notification=Notification(interval_ns=300_000), reaction=reaction)
    return FabricScenario(
        "rate_cuts", (flow(0, 3, (Work("WRITE", 1024),) + tuple(
            Work("WRITE", 131_072, at_ns=20_000) for _ in range(30)),
            depth=31, timeout_ns=10**8),),
        (at_nic("h0"), at_port("leaf0:h3")),
        dataclasses.replace(FOUR_HOSTS, host_link=Link(25 * 10**9),
                            links=(("h3", Link(10 * 10**9)),)),
        SwitchConfig(kmin_bytes=10_000, kmax_bytes=20_000, pmax=1.0, pause=NO_PAUSE,
                     queue_limit_bytes=8_000_000), host)


def marked_twice():
    """Three senders share an uplink, which marks, and meet a fourth at their receiver's
    port, which marks as well.  One file has all points of the way."""
    points = (at_nic("h0"), at_port("leaf0:spine0"), at_port("leaf1:h4"))
    return FabricScenario(
        "marked_twice", incast(range(3), 4, 20) + (flow(5, 4, writes(20), depth=4),),
        points, dataclasses.replace(TWO_LEAVES, n_spines=1), SwitchConfig(**ECN_FIRST),
        FabricHost(notification=Notification(interval_ns=8_000), reaction=SMALL),
        files={"fabric.pcapng": tuple(p.name for p in points)})


def incast_pfc(bps=100 * 10**9, **how):
    """Three to one, and PFC long before ECN: Kmin is far above XOFF."""
    link = Link(bps, delay_ns=300)
    needed = headroom_needed(bps, link.delay_ns, PauseConfig.reaction_ns, 1100)
    how = {"quanta": max(1000, bps // 10**8), "headroom_bytes": needed, **how}
    return FabricScenario(
        "incast_pfc", incast(range(3), 3, 8),
        (at_port("leaf0:h0"), at_port("leaf0:h1"), at_nic("h3")),
        dataclasses.replace(FOUR_HOSTS, host_link=link),
        SwitchConfig(kmin_bytes=400_000, kmax_bytes=800_000, pause=pause(**how)),
        files={"switch.pcapng": ("leaf0_h0", "leaf0_h1"), "h3.pcap": ("h3",)})


def pauses_alone():
    """As above, and captured behind the switch as well: nothing is marked."""
    points = tuple(map(at_port, ("leaf0:h0", "leaf0:h1", "leaf0:h3")))
    return dataclasses.replace(incast_pfc(), points=points,
                               files={"fabric.pcapng": tuple(p.name for p in points)})


def marks_before_pauses():
    """It marks all that finds more than 8 kB, and pauses later."""
    base = pauses_alone()
    return dataclasses.replace(base, switch=dataclasses.replace(
        base.switch, kmin_bytes=8_000, kmax_bytes=8_000))


def deaf():
    """h0 takes 20 us to stop, and by then the pause is over."""
    base = incast_pfc(headroom_bytes=400_000)
    return dataclasses.replace(base, hosts={0: FabricHost(
        pause=PauseConfig(reaction_ns=20_000))})


def incast_short_headroom():
    """As above, with a quarter of the headroom: a lossless class that loses."""
    base = incast_pfc()
    config = base.switch.pause
    return dataclasses.replace(base, switch=dataclasses.replace(
        base.switch, pause=dataclasses.replace(
            config, headroom_bytes=config.headroom_bytes // 4)))


def shared_mac():
    """A switch with one MAC for all ports; a mirror of all of them, egress alone."""
    base = incast_pfc()
    return dataclasses.replace(
        base, points=(mirror_of("leaf0", ("out",)), at_port("leaf0:h0")), files={},
        switch=dataclasses.replace(base.switch, macs="shared"))


# --- pauses --------------------------------------------------------------------------


def cascade():
    """h7 stops to take anything in, twice.  Its pause goes on to leaf1, a spine, leaf0
    and at last to h0, whose other flow, to h4, is the victim; so is h1's."""
    slow = FabricHost(pause=pause(), receives_at=(
        (0, None), (20_000, 0), (60_000, None), (110_000, 2 * 10**9), (150_000, None)))
    points = tuple(map(at_port, ("leaf1:h7", "spine0:leaf1", "leaf0:spine0", "leaf0:h0")))
    return FabricScenario(
        "cascade", (flow(0, 7, writes(40, 16_384, 4_000)),
                    flow(0, 4, writes(40, 4_096, 5_000), number=1),
                    flow(1, 5, writes(40, 4_096, 5_000))),
        points, dataclasses.replace(TWO_LEAVES, n_spines=1),
        SwitchConfig(pause=pause(), **NO_MARKS), hosts={7: slow},
        files={"fabric.pcapng": tuple(p.name for p in points)})


def storm():
    """The NIC of h3 asks for a pause for ever."""
    broken = FabricHost(pause=pause(), storm_ns=(40_000, 10**9))
    return FabricScenario(
        "storm", (flow(0, 3, writes(40, 8_192, 2_000)), flow(1, 2, writes(40, 8_192))),
        (at_port("leaf0:h3"), at_port("leaf0:h0")), FOUR_HOSTS,
        SwitchConfig(pause=pause(), **NO_MARKS), hosts={3: broken},
        files={"leaf0_h3.pcap": ("leaf0_h3",), "leaf0_h0.pcapng": ("leaf0_h0",)},
        duration_ns=400_000)


def long_storm():
    """As above, at 10 Gb/s and for 250 ms: longer than watchdogs wait."""
    broken = FabricHost(pause=pause(quanta=0xFFFF), storm_ns=(40_000, 250_040_000))
    return dataclasses.replace(
        storm(), topology=dataclasses.replace(FOUR_HOSTS, host_link=Link(10 * 10**9)),
        flows=(flow(0, 3, writes(12, 8_192), timeout_ns=10**9),), hosts={3: broken},
        switch=SwitchConfig(pause=pause(quanta=0xFFFF), **NO_MARKS),
        duration_ns=260_000_000)


def storm_beside():
    """The long storm, and others.  h0 writes to h2 as well and is paused with all that it
    sends; h1 writes to h2 and shares no queue with the storm."""
    points = tuple(map(at_port, ("leaf0:h3", "leaf0:h0", "leaf0:h2")))
    now_and_then = writes(15, 4_096, 20_000_000)
    return dataclasses.replace(
        long_storm(), flows=(
            flow(0, 3, writes(12, 8_192), timeout_ns=10**9),
            flow(0, 2, now_and_then, number=1, timeout_ns=10**9),
            flow(1, 2, now_and_then, timeout_ns=10**9)),
        points=points, files={"fabric.pcapng": tuple(p.name for p in points)},
        duration_ns=320_000_000)


def both_ways():
    """h0 and h3 send to each other and take in slowly, h3 more so: both ends of a link
    pause, one of them much more."""
    steps = {0: 60 * 10**9, 3: 20 * 10**9}
    return FabricScenario(
        "both_ways", (flow(0, 3, writes(12)), flow(3, 0, writes(12), number=1),
                      flow(1, 0, writes(6))),
        (at_port("leaf0:h0"), at_port("leaf0:h3")), FOUR_HOSTS,
        SwitchConfig(pause=pause(), **NO_MARKS),
        hosts={i: FabricHost(pause=pause(), receives_at=((0, bps),))
               for i, bps in steps.items()})


def deadlock():
    """Two detours make a cycle: what goes to h4 takes leaf0, spine0, leaf1, spine1, what
    goes to h5 takes leaf1, spine1, leaf0, spine0.  h4 and h5 stand still for a while, and
    when they go on, each switch of the cycle waits for the next one for ever."""
    slow = FabricHost(pause=pause(), receives_at=((0, None), (10_000, 0), (40_000, None)))
    detours = (("leaf0", 4, "leaf0:spine0"), ("spine0", 4, "spine0:leaf1"),
               ("leaf1", 4, "leaf1:spine1"), ("leaf1", 5, "leaf1:spine1"),
               ("spine1", 5, "spine1:leaf0"), ("leaf0", 5, "leaf0:spine0"))
    points = tuple(map(at_port, ("spine0:leaf0", "leaf1:spine0", "spine1:leaf1",
                                 "leaf0:spine1")))
    return FabricScenario(
        "deadlock", tuple(flow(a, b, writes(10), number=n)
                          for a, b in ((0, 4), (2, 5)) for n in range(2)),
        points, Clos(n_leaves=3, n_spines=2, hosts_per_leaf=2, detours=detours),
        SwitchConfig(pause=pause(xon_bytes=5_000), **NO_MARKS), hosts={4: slow, 5: slow},
        files={"fabric.pcapng": tuple(p.name for p in points)}, duration_ns=300_000)


# --- ways ----------------------------------------------------------------------------


def _over_spines(name, how, points, work, n_flows=4, spines=2, recovery=None, **topology):
    recovery = recovery or {}
    return FabricScenario(
        name, tuple(flow(a, 4 + a, work, to=recovery, **recovery)
                    for a in range(n_flows)), points,
        dataclasses.replace(TWO_LEAVES, n_spines=spines, **topology),
        SwitchConfig(routing=how, kmin_bytes=30_000, kmax_bytes=120_000, pmax=0.1))


def ecmp():
    """Each flow has its spine."""
    return _over_spines("ecmp", Routing("ecmp"),
                        (at_nic("h0"), at_nic("h4"), mirror_of("spine0")),
                        writes(20, every_ns=5_000))


def spray(recovery=None):
    """Each packet has its spine, taken at random; one of them is slower: reordering."""
    slower = (("leaf0:spine1", Link(100 * 10**9, delay_ns=900)),)
    return _over_spines("spray", Routing("random"), (at_nic("h0"), at_nic("h4")),
                        writes(60, 4_096, 10_000), n_flows=2, recovery=recovery,
                        links=slower)


def round_robin():
    """Each packet takes the next spine; one flow alone, or they would fall into step."""
    base = spray()
    return dataclasses.replace(base, flows=base.flows[:1], switch=SwitchConfig(
        routing=Routing("round_robin")))


def flowlets():
    """A new spine after each pause of a flow: longer than any difference of ways, so that
    nothing is overtaken."""
    return _over_spines("flowlets", Routing("flowlets", flowlet_gap_ns=10_000),
                        (at_nic("h0"), at_nic("h4"), mirror_of("spine0")),
                        writes(30, 8_192, 20_000))


def one_spine(how="round_robin", recovery=None):
    """The mirror of one of two spines sees half of each flow that is sprayed; the ways are
    equally long and there is little load: nearly nothing is overtaken, nothing is lost."""
    return dataclasses.replace(
        _over_spines("one_spine", Routing(how),
                     (mirror_of("spine0"), at_nic("h4")),
                     writes(20, 16_384, 20_000), n_flows=1, recovery=recovery),
        switch=SwitchConfig(routing=Routing(how), **NO_MARKS))


# --- losses --------------------------------------------------------------------------


def lossy(host=FabricHost()):
    """No PFC and short queues: incast ends in tail drops.  h0, always a little earlier
    than the others, loses nothing."""
    return FabricScenario(
        "lossy", tuple(flow(a, 3, writes(12, 16_384, 10_000)) for a in range(3)),
        (at_nic("h1"), at_nic("h3"), at_port("leaf0:h1")), FOUR_HOSTS,
        SwitchConfig(pause=NO_PAUSE, queue_limit_bytes=32_000, **NO_MARKS), host)


def lossy_links():
    """One cable between leaf and spine is bad."""
    bad = (("leaf0:spine0", Link(loss=0.01)),)
    return dataclasses.replace(
        ecmp(), name="lossy_links",
        topology=dataclasses.replace(TWO_LEAVES, links=bad))


# --- large ones ----------------------------------------------------------------------

MANY_HOSTS = Clos(n_leaves=3, n_spines=4, hosts_per_leaf=16)


def large_incast():
    """Fifteen hosts of one leaf to a host of another one; 40,000 packets."""
    return dataclasses.replace(
        incast_ecn(), topology=MANY_HOSTS, duration_ns=10**9,
        flows=incast(range(16, 31), 0, 80), points=(at_nic("h0"), at_nic("h16")))


def large_spray():
    """Forty flows over four spines, packet by packet; 50,000 packets."""
    return dataclasses.replace(
        spray(OUT_OF_ORDER), topology=MANY_HOSTS, duration_ns=10**9,
        flows=tuple(flow(a, (a + 17) % 48, writes(20, 65_536), to=OUT_OF_ORDER,
                         **OUT_OF_ORDER) for a in range(40)),
        points=(at_nic("h17"), mirror_of("spine0")))


SCENARIOS = {
    "incast_ecn": incast_ecn,
    "incast_qp": lambda: incast_scopes("qp"),
    "incast_pair": lambda: incast_scopes("pair"),
    "incast_destination": lambda: incast_scopes("destination"),
    "incast_port": lambda: incast_scopes("port"),
    "incast_cnp_port_0": lambda: incast_ecn(src_port=0),
    "incast_read": incast_read,
    "incast_switch_cnps": incast_switch_cnps,
    "notification_off": notification_off,
    "reaction_off": reaction_off,
    "cnp_in_data_class": cnp_in_data_class,
    "rate_cuts": rate_cuts,
    "marked_twice": marked_twice,
    "incast_pfc": incast_pfc,
    "incast_pfc_10g": lambda: incast_pfc(10 * 10**9),
    "incast_pfc_25g": lambda: incast_pfc(25 * 10**9),
    "incast_pfc_200g": lambda: incast_pfc(200 * 10**9),
    "incast_pfc_400g": lambda: incast_pfc(400 * 10**9),
    "incast_pfc_800g": lambda: incast_pfc(800 * 10**9),
    "incast_pause": lambda: incast_pfc(kind="802.3x"),
    "incast_expiry": lambda: incast_pfc(release="expiry", quanta=2000),
    "incast_short_headroom": incast_short_headroom,
    "pauses_alone": pauses_alone,
    "marks_before_pauses": marks_before_pauses,
    "deaf": deaf,
    "shared_mac": shared_mac,
    "cascade": cascade,
    "storm": storm,
    "long_storm": long_storm,
    "storm_beside": storm_beside,
    "both_ways": both_ways,
    "deadlock": deadlock,
    "ecmp": ecmp,
    "spray": spray,
    "spray_out_of_order": lambda: spray(OUT_OF_ORDER),
    "spray_selective": lambda: spray(SELECTIVE),
    "round_robin": round_robin,
    "flowlets": flowlets,
    "one_spine": one_spine,
    "one_spine_out_of_order": lambda: one_spine("random", OUT_OF_ORDER),
    "lossy": lossy,
    "lossy_cnp_on_nak": lambda: lossy(FabricHost(notification=Notification(
        interval_ns=4_000, on_nak="always"))),
    "lossy_links": lossy_links,
    "large_incast": large_incast,
    "large_spray": large_spray,
}


def scenario(name, seed=1):
    return dataclasses.replace(SCENARIOS[name](), name=name, seed=seed)


def to_json(truth):
    """For people: one line for each list of plain values."""
    text = json.dumps(truth, indent=1, sort_keys=True)
    return re.sub(r"\[\s+([^\[\]{}]*?)\s+\]",
                  lambda m: "[" + re.sub(r"\s+", " ", m[1]) + "]", text) + "\n"


def main(arguments):
    if not arguments:
        print("\n".join(SCENARIOS))
        return 0
    fabric = simulate_fabric(scenario(arguments[0], int((arguments[1:] + [1])[0])))
    truth = fabric.truth()
    summary = {key: truth["fabric"][key] for key in ("asked", "marks", "drops", "peaks")}
    print(to_json({**summary, "packets": len(fabric.all_tx),
                   "cnps": len(truth["fabric"]["cnps"]),
                   "messages": [s["messages"] for s in truth["streams"]
                                if s["sent"]["requests"]],
                   "ns": truth["end_ns"] - truth["start_ns"]}))
    if arguments[2:]:
        directory = pathlib.Path(arguments[2])
        directory.mkdir(parents=True, exist_ok=True)
        (directory / "truth.json").write_text(to_json(truth))
        for name, data in fabric.captures().items():
            (directory / name).write_bytes(data)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
