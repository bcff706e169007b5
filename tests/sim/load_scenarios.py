# SPDX-License-Identifier: GPL-2.0-or-later
"""Scenarios about load: who sends to whom at once, which ways it takes, who holds it up.

Fabrics as in fabric_scenarios.py, each a function; and conversations packet by packet where
the simulator's hosts would not do what is wanted (credits, WRITE Only in chains).
"""

import dataclasses

import roce
from dcqcn import SMALL, Notification
from fabric import FabricHost, FabricScenario, Flow
from fabric_scenarios import (
    FOUR_HOSTS, NO_MARKS, TWO_LEAVES, at_nic, at_port, flow, pause, spray, writes)
from pfc import PauseConfig
from sim import OUT_OF_ORDER, START_NS, QueuePair, Side, Work
from switch import Link, Routing, SwitchConfig

MARKS_EARLY = {"kmin_bytes": 10_000, "kmax_bytes": 80_000, "pmax": 0.5,
               "pause": PauseConfig(xoff_bytes=900_000)}


def at_times(times, length=32_768):
    return tuple(Work("WRITE", length, at_ns=t) for t in times)


# --- incast --------------------------------------------------------------------------


def gusts(n_senders=6, rounds=3, **switch):
    """h0 sends to the last host all the time, and slowly; every 300 us the others join in
    with a message each."""
    receiver = n_senders
    steady = flow(0, receiver, writes(300 * rounds // 2, 2_048, 2_000), number=1)
    joined = tuple(flow(a, receiver, at_times([100_000 + 300_000 * i for i in range(rounds)],
                                              65_536)) for a in range(1, n_senders))
    return FabricScenario(
        "gusts", (steady, *joined), (at_nic(f"h{receiver}"),),
        dataclasses.replace(FOUR_HOSTS, hosts_per_leaf=n_senders + 1),
        SwitchConfig(**{**MARKS_EARLY, **switch}),
        FabricHost(notification=Notification(interval_ns=8_000), reaction=SMALL))


def gusts_without_marks():
    return gusts(**NO_MARKS)


def marked_throughout():
    """As gusts; but every packet is marked."""
    return gusts(kmin_bytes=0, kmax_bytes=1)


def paced_cnps():
    """Every packet is marked, of one that sends all the time, fast, and of five more that send
    a packet now and then, each with a CNP of its own."""
    base = marked_throughout()
    fast = flow(0, 6, writes(80, 32_768))
    rare = tuple(flow(a, 6, at_times(range(150_000, 230_000, 9_000), 512))
                 for a in range(1, 6))
    return dataclasses.replace(base, flows=(fast, *rare), host=dataclasses.replace(
        base.host, reaction=None))


def uplink_marks():
    """Two hosts share a slow uplink, which marks, and meet two of the receiver's own leaf, of
    whose data nothing is marked.  The receiver itself sends as well."""
    times = [100_000 + 300_000 * i for i in range(3)]
    far = tuple(flow(a, 4, at_times(times, 131_072)) for a in (0, 1))
    near = tuple(flow(a, 4, writes(450, 1_024, 2_000)) for a in (5, 6))
    back = flow(4, 7, writes(60, 16_384, 15_000))
    base = gusts()
    return dataclasses.replace(
        base, flows=(*far, *near, back), points=(at_nic("h4"),),
        topology=dataclasses.replace(TWO_LEAVES, n_spines=1, links=(
            ("leaf0:spine0", Link(25 * 10**9)),)))


def gusts_with_pauses():
    """As gusts; but the switch pauses and does not mark.  One file has the receiver's link
    and that of one sender."""
    base = gusts(pause=pause(), **NO_MARKS)
    points = (at_nic("h6"), at_port("leaf0:h1"))
    return dataclasses.replace(base, points=points, host=FabricHost(),
                               files={"fabric.pcapng": ("h6", "leaf0_h1")})


def gusts_to_a_slow_host():
    """As gusts, without marks; but it is the receiver itself that asks for pauses."""
    base = gusts(pause=PauseConfig(xoff_bytes=900_000), **NO_MARKS)
    slow = FabricHost(pause=pause(), receives_at=((0, 40 * 10**9),))
    return dataclasses.replace(base, points=(at_port("leaf0:h6"),), host=FabricHost(),
                               hosts={6: slow})


def flowlets_too_short():
    """Ways that differ by 6 us, and a new one after each pause of 2 us: flowlets overtake
    each other."""
    slower = (("leaf0:spine1", Link(100 * 10**9, delay_ns=6_500)),)
    work = tuple(Work("WRITE", 4_096, at_ns=t) for i in range(60)
                 for t in (i * 40_000, i * 40_000 + 4_000))
    return dataclasses.replace(
        spray(OUT_OF_ORDER), flows=(flow(0, 4, work, to=OUT_OF_ORDER, **OUT_OF_ORDER),),
        topology=dataclasses.replace(TWO_LEAVES, links=slower), points=(at_nic("h4"),),
        switch=SwitchConfig(routing=Routing("flowlets", flowlet_gap_ns=2_000),
                            **NO_MARKS))


def two_at_once():
    """Two senders are no incast."""
    return dataclasses.replace(gusts(2), name="two_at_once")


# --- siblings and source ports -------------------------------------------------------


def _sides(qpns, n_messages, length, gap_ns=0):
    a, b = qpns
    return Flow(0, 3, QueuePair(
        Side(a, start_psn=0x10000 + a, depth=8, gap_ns=gap_ns,
             work=writes(n_messages, length)), Side(b, start_psn=0x400000 + b)))


def siblings(gaps_ns=(1_000, 1_000), n_messages=30, length=16_384):
    """Queue pairs of two hosts, each paced."""
    flows = tuple(_sides((0x101 + 0x10 * i, 0x307 + 0x30 * i), n_messages, length, gap)
                  for i, gap in enumerate(gaps_ns))
    return FabricScenario("siblings", flows, (at_nic("h0"), at_nic("h3")), FOUR_HOSTS,
                          SwitchConfig(**NO_MARKS))


def unfair_siblings():
    return siblings((500, 4_000, 4_000))


def nearly_fair_siblings():
    """2.5 : 1, Jain's index 0.845."""
    return siblings((1_000, 2_500))


def shy_sibling():
    """One of two sends a message now and then: it has nothing more to send."""
    base = siblings((1_000, 1_000), 60)
    shy = dataclasses.replace(base.flows[1].pair, a=dataclasses.replace(
        base.flows[1].pair.a, work=at_times(range(0, 900_000, 100_000), 2_048)))
    return dataclasses.replace(base, flows=(
        base.flows[0], dataclasses.replace(base.flows[1], pair=shy)))


def small_sibling():
    """One of two sends nothing but small messages, one behind another."""
    base = siblings((1_000, 1_000), 60)
    small = dataclasses.replace(base.flows[1].pair, a=dataclasses.replace(
        base.flows[1].pair.a, work=at_times(range(0, 900_000, 2_000), 64)))
    return dataclasses.replace(base, flows=(
        base.flows[0], dataclasses.replace(base.flows[1], pair=small)))


def same_port(n=2, others=2, **switch):
    """n queue pairs whose QPNs have the same product, and with it the same source port;
    and others with ports of their own."""
    alike = [(0x200 << i, 0x30000 >> i) for i in range(n)]
    own = [(0x1001 + 0x35 * i, 0x2003 + 0x77 * i) for i in range(others)]
    return FabricScenario(
        "same_port", tuple(_sides(qpns, 6, 8_192, 2_000) for qpns in alike + own),
        (at_nic("h0"), at_nic("h3")), FOUR_HOSTS,
        SwitchConfig(**{**NO_MARKS, **switch}))


# --- slow receivers ------------------------------------------------------------------


def slow_host(rate_bps=20 * 10**9, marks=NO_MARKS):
    """h3 takes packets in at a fraction of its link's speed, and asks for pauses."""
    slow = FabricHost(pause=pause(), receives_at=((0, None), (30_000, rate_bps)))
    return FabricScenario(
        "slow_host", (flow(0, 3, writes(20, 16_384, 3_000)),),
        (at_port("leaf0:h3"), at_port("leaf0:h0")), FOUR_HOSTS,
        SwitchConfig(pause=pause(), **marks), hosts={3: slow})


SCENARIOS = {
    "gusts": gusts,
    "gusts_without_marks": gusts_without_marks,
    "marked_throughout": marked_throughout,
    "paced_cnps": paced_cnps,
    "uplink_marks": uplink_marks,
    "gusts_with_pauses": gusts_with_pauses,
    "gusts_to_a_slow_host": gusts_to_a_slow_host,
    "flowlets_too_short": flowlets_too_short,
    "two_at_once": two_at_once,
    "siblings": siblings,
    "unfair_siblings": unfair_siblings,
    "nearly_fair_siblings": nearly_fair_siblings,
    "shy_sibling": shy_sibling,
    "small_sibling": small_sibling,
    "same_port": same_port,
    "same_port_4": lambda: same_port(4, 0),
    "slow_host": slow_host,
}


# --- packet by packet ----------------------------------------------------------------


class Conversation:
    """A queue pair at h0 and one at h1, captured at one place; a pcap in memory."""

    QPN_A, QPN_B = 0x11, 0x22
    PSN, ADDRESS = 1000, 0x7F0000000000

    def __init__(self, src_port=0xC123):
        self.pcap = roce.Pcap()
        self.src_port = src_port
        self.now = START_NS
        self.n_answers = 0

    def _add(self, sender, qpn, ident, ib):
        hosts = ("10.9.0.1", "10.9.0.2")
        macs = (roce.MAC_A, roce.MAC_B)
        a, b = (0, 1) if sender == "a" else (1, 0)
        ip = roce.Ip(hosts[a], hosts[b], tos=26 << 2 | roce.ECN_ECT0, ident=ident)
        self.pcap.add(self.now, roce.ethernet(roce.rocev2(ip, self.src_port, ib),
                                              src=macs[a], dst=macs[b]))

    def wait(self, ns):
        self.now += ns
        return self

    def request(self, op, n, length=1024, *, headers=b"", ack=True):
        """Request number n, from 0, as it was sent: its identification rises with n."""
        self._add("a", self.QPN_B, n + 1, roce.transport(
            roce.OPCODE[f"RC {op}"], dest_qpn=self.QPN_B, psn=self.PSN + n,
            headers=headers, payload=bytes(length), ack_request=ack))
        return self

    def write_only(self, n, length=1024, **how):
        """As part n of a message."""
        return self.request("RDMA WRITE Only", n, length, headers=roce.reth(
            self.ADDRESS + n * 1024, 0x55, length), **how)

    def ack(self, n, syndrome=roce.ACK_NO_CREDIT_LIMIT):
        self.n_answers += 1
        self._add("b", self.QPN_A, self.n_answers, roce.transport(
            roce.OPCODE["RC Acknowledge"], dest_qpn=self.QPN_A, psn=self.PSN + n,
            headers=roce.aeth(syndrome, n + 1)))
        return self

    def bytes(self):
        return self.pcap.bytes()


def credits(waits=8, wait_ns=40_000, resume_ns=3_000, limited=True):
    """SENDs one by one; after each fourth the receiver has no more receives (credit code
    0), and posts some later.  The sender goes on soon after that."""
    talk = Conversation()
    n = 0
    for _ in range(waits):
        for i in range(4):
            last = i == 3
            talk.request("SEND Only", n).wait(2_000)
            talk.ack(n, (0 if last else 3 - i) if limited else 31).wait(2_000)
            n += 1
        talk.wait(wait_ns)
        talk.ack(n - 1, 3 if limited else 31).wait(resume_ns)
    talk.request("SEND Only", n).wait(2_000).ack(n, 2 if limited else 31)
    return talk.bytes()


def chain(order, acked=True):
    """A message in WRITE Only packets that arrive in that order, a microsecond apart."""
    talk = Conversation()
    for n in order:
        talk.write_only(n, ack=n == max(order)).wait(1_000)
    if acked:
        talk.wait(3_000).ack(max(order))
    return talk.bytes()
