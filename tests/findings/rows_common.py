# SPDX-License-Identifier: GPL-2.0-or-later
"""What all losses, or all marks, have in common: an end of their way, or a class."""

import roce
from captures import PORT, Wire, in_tenants
from row import CANNOT, FIRES, NOT, Row

HOSTS = range(1, 6)
CNP_DSCP = 48


class Fabric:
    """Hosts that WRITE to one another, at one point that sees them all; by pairs of
    numbers."""

    def __init__(self, hop_limits=None):
        """`hop_limits` of data, and of what answers it."""
        self.on = Wire()
        self.next = {}
        self.hop_limits = hop_limits

    def packet(self, src, dst, opcode, qpn, psn, *, dscp=26, ecn=roce.ECN_ECT0, **how):
        self.on.ident += 1
        back = self.hop_limits is not None and opcode == "RC Acknowledge"
        ip = roce.Ip(f"10.0.0.{src}", f"10.0.0.{dst}", ident=self.on.ident & 0xFFFF,
                     tos=dscp << 2 | ecn,
                     ttl=(self.hop_limits or (64, 64))[back])
        ib = roce.transport(roce.OPCODE[opcode], psn=psn, dest_qpn=qpn, **how)
        ends = (roce.MAC_B, roce.MAC_A) if back else (roce.MAC_A, roce.MAC_B)
        self.on.frame(roce.ethernet(roce.rocev2(ip, PORT, ib), src=ends[0], dst=ends[1]))

    def write(self, src, dst, psn, **how):
        self.packet(src, dst, "RC RDMA WRITE Only", src << 8 | dst, psn, ack_request=True,
                    headers=roce.reth(0x1000, 7, 64), payload=bytes(64), **how)

    def ack(self, src, dst, psn, syndrome=roce.ACK_NO_CREDIT_LIMIT, heard=True):
        """Of what `src` sent."""
        if heard:
            self.packet(dst, src, "RC Acknowledge", src << 8 | dst | 1 << 16, psn, dscp=CNP_DSCP,
                        headers=roce.aeth(syndrome, psn & 0xFFF))

    def unseen(self):
        """A packet that another point sees."""
        self.on.ident += 1
        self.on.now += 1_000

    def send(self, src, dst, n, lost=0, marked=0, heard=True, ecn=roce.ECN_ECT0, behind=False,
             seen_before=False, paused=False, **how):
        """So many packets; behind each of those that are lost, one more.  They are lost
        behind the point, or before it, behind another one; or came behind an XOFF."""
        psn = self.next.setdefault((src, dst), src * 1_000_000 + dst * 50_000)
        for i in range(n):
            self.write(src, dst, psn, ecn=roce.ECN_CE if i < marked else ecn, **how)
            self.ack(src, dst, psn, heard=heard)
            psn += 1
        for _ in range(lost):
            if seen_before:
                self.unseen()
            if paused:
                self.on.frame(roce.pfc({3: 0xFFFF}, src=roce.MAC_B))
            for first in (psn, psn + 1) if behind else (psn + 1,):
                self.write(src, dst, first, **how)
                if paused and first == psn:
                    self.on.wait(20_000).frame(roce.pfc({3: 0}, src=roce.MAC_B))
            self.ack(src, dst, psn, roce.NAK_PSN_SEQUENCE)
            for again in (psn, psn + 1):
                self.write(src, dst, again, **how)
                self.ack(src, dst, again)
            psn += 2
        self.next[src, dst] = psn
        return self

    def bytes(self):
        return self.on.bytes()


# On a link between routers, and on one to hosts.
BETWEEN_ROUTERS, TO_HOSTS = (63, 62), (62, 64)


def met(what, n, towards=None, sender=None, others=(), each=50, hop_limits=None):
    """Each sends to each; of what goes to a host, or comes from one, so many packets of each
    pair are lost, or marked.  So it is between `others`."""
    def make():
        fabric = Fabric(hop_limits)
        for src in HOSTS:
            for dst in HOSTS:
                there = dst == towards or src == sender or (src, dst) in others
                if src != dst:
                    fabric.send(src, dst, each, **{what: n if there else 0})
        return fabric.bytes()
    return make


def pairs(*of):
    """So many packets each: (sender, receiver, packets, lost)."""
    def make():
        fabric = Fabric()
        for src, dst, n, lost in of:
            fabric.send(src, dst, n, lost)
        return fabric.bytes()
    return make


def on_a_hop(lost, *of, each=50, marked=0, paused=False):
    """Two points on the way of all; between them so many of each pair are lost, or marked; or
    come to the first one behind an XOFF."""
    def make():
        near, far = Fabric(BETWEEN_ROUTERS), Fabric(BETWEEN_ROUTERS)
        for src, dst in of:
            near.send(src, dst, each, lost, behind=True, paused=paused)
            far.send(src, dst, each, lost, marked=marked, seen_before=True)
        return {"near.pcap": near.bytes(), "far.pcap": far.bytes()}
    return make


def classes(*of, what="lost"):
    """(sender, receiver, DSCP, packets, those of them that are lost or marked)."""
    def make():
        fabric = Fabric()
        for src, dst, dscp, n, how_many in of:
            fabric.send(src, dst, n, dscp=dscp, **{what: how_many})
        return fabric.bytes()
    return make


def says(title, *details):
    def look(_report, found):
        if found[0]["title"] != title:
            yield f"{found[0]['title']!r} is not {title!r}"
        yield from (f"{text!r} is not in {found[0]['detail']!r}" for text in details
                    if text not in found[0]["detail"])
        if not found[0]["frames"] and not found[0].get("files"):
            yield "no frames"
    return look


def on_the_way(near, far):
    """Two points, both of which saw all of it."""
    return lambda: {"near.pcap": near(), "far.pcap": far()}


def at_two_points(make):
    return on_the_way(make, make)


def shows_hosts(*wanted):
    """The filter for all files has each of these pairs of hosts."""
    def look(_report, found):
        hosts = " || ".join(f"(ip.addr == 10.0.0.{a} && ip.addr == 10.0.0.{b})" for a, b in wanted)
        if f" && ({hosts})" not in found[0]["wireshark_filter"]:
            yield f"{hosts!r} is not in {found[0]['wireshark_filter']!r}"
    return look


ONE_LINK = [
    Row("one_hop", FIRES, "of two senders to two receivers", on_a_hop(5, (1, 3), (2, 4)),
        "critical",
        also=says("10 packets from 2 senders to 2 receivers lost between near.pcap and far.pcap",
                  "7.1 % of what came", "No two of them in a row",
                  "No packet was marked CE between the two, of 140 packets that may be: if queues")),
    Row("one_hop", FIRES, "fewer than 1 %", on_a_hop(5, (1, 3), (2, 4), each=600), "warning"),
    Row("one_hop", FIRES, "and marks", on_a_hop(5, (1, 3), (2, 4), marked=3), "critical",
        also=says("10 packets from 2 senders to 2 receivers lost between near.pcap and far.pcap",
                  "6 packets were marked CE between the two, of 140 packets that may be.")),
    Row("one_hop", FIRES, "behind the XOFFs of a port", on_a_hop(8, (1, 3), (2, 4), paused=True),
        "critical", ("--link-speed", "100G"),
        also=says("16 packets from 2 senders to 2 receivers lost between near.pcap and far.pcap",
                  "16 of them had come to a port right behind its XOFF")),
    Row("one_hop", NOT, "too few", on_a_hop(4, (1, 3), (2, 4))),
    Row("one_hop", NOT, "of one sender: it may be at its end", on_a_hop(5, (1, 3), (1, 4))),
    Row("one_hop", NOT, "to one receiver", on_a_hop(5, (1, 3), (2, 3))),
    Row("one_hop", CANNOT, "one point alone", pairs((1, 3, 50, 5), (2, 4, 50, 5))),
    Row("one_link", FIRES, "all that is lost is on its way to one of five",
        met("lost", 5, towards=3), "critical",
        also=says("All 20 packets lost were on their way to 10.0.0.3",
                  "From 4 hosts; 7.1 % of what was sent there.  Of 600 packets between other "
                  "hosts it was none; at that rate it would have been 42.")),
    Row("one_link", FIRES, "fewer than 1 %", met("lost", 3, towards=3, each=400), "warning"),
    Row("one_link", FIRES, "all of it comes from one", met("lost", 5, sender=2), "critical",
        also=says("All 20 packets lost were from 10.0.0.2", "To 4 hosts",
                  "the beginning of their way, at 10.0.0.2")),
    Row("one_link", FIRES, "one of 21 elsewhere",
        pairs(*[(src, 3, 50, 10) for src in (1, 2)], (1, 2, 300, 0), (4, 5, 50, 1)), "critical",
        also=says("20 of 21 packets lost were on their way to 10.0.0.3", "it was 1;")),
    Row("one_link", FIRES, "lost behind the point, or late", lambda: (
        Fabric().send(1, 3, 50, 10, behind=True).send(2, 3, 50, 10, behind=True)
        .send(4, 5, 900).bytes()), "warning",
        also=says("All 20 packets lost or late were on their way to 10.0.0.3")),
    Row("one_link", FIRES, "at two points: the filter has all that sent there",
        at_two_points(met("lost", 5, towards=3)), "critical",
        also=shows_hosts((1, 3), (2, 3), (4, 3), (5, 3))),
    Row("one_link", NOT, "as much is lost elsewhere",
        met("lost", 5, towards=3, others=((1, 2), (4, 5)))),
    Row("one_link", NOT, "too few", pairs((1, 3, 50, 5), (2, 3, 50, 4), (4, 5, 900, 0))),
    Row("one_link", FIRES, "and one more", pairs((1, 3, 50, 5), (2, 3, 50, 5), (4, 5, 900, 0)),
        "critical"),
    Row("one_link", NOT, "one sender is spared that sent as much as all others",
        pairs((1, 3, 50, 10), (2, 3, 50, 10), (4, 3, 300, 0), (4, 5, 900, 0))),
    Row("one_link", NOT, "one pair of hosts: it may be anywhere between them",
        pairs((1, 3, 50, 20), (2, 3, 20, 0), (4, 5, 900, 0))),
    Row("one_link", CANNOT, "too little was sent elsewhere",
        pairs((1, 3, 50, 10), (2, 3, 50, 10), (4, 5, 50, 0))),
    Row("one_link", CANNOT, "nothing was captured that does not go to that host or comes from "
        "it", pairs((1, 3, 50, 10), (2, 3, 50, 10), (3, 1, 900, 0), (3, 2, 900, 0))),
    Row("one_link", FIRES, "marks", met("marked", 5, towards=3), "warning",
        also=says("All 20 packets marked CE were on their way to 10.0.0.3")),
    *(Row("one_link", CANNOT, f"{what} by where a router has yet to take it on: not at that end",
          met(what, 5, towards=3, hop_limits=BETWEEN_ROUTERS)) for what in ("lost", "marked")),
    Row("one_link", CANNOT, "marked there, as one of two points tells",
        on_the_way(met("marked", 5, towards=3, hop_limits=BETWEEN_ROUTERS),
                   met("marked", 5, towards=3, hop_limits=TO_HOSTS))),
    Row("one_link", FIRES, "marked behind the last router, as one of two points tells",
        on_the_way(met("marked", 0, towards=3, hop_limits=BETWEEN_ROUTERS),
                   met("marked", 5, towards=3, hop_limits=TO_HOSTS)), "warning"),
    Row("one_link", NOT, "what is not ECN-capable is not marked elsewhere",
        lambda: Fabric().send(1, 3, 50, marked=10).send(2, 3, 50, marked=10)
        .send(4, 5, 900, ecn=0).bytes()),
    Row("one_link", CANNOT, "nobody is heard elsewhere: marks may be made behind the point",
        lambda: Fabric().send(1, 3, 50, marked=10).send(2, 3, 50, marked=10)
        .send(4, 5, 900, heard=False).bytes()),
]

ONE_CLASS = [
    Row("one_class", FIRES, "who sends with DSCP 0 loses, and nobody else to the same host",
        classes((1, 3, 0, 50, 12), (2, 3, 26, 200, 0)), "critical",
        also=says("All 12 packets lost were of data with DSCP 0 (priority 0)",
                  "Sent by 10.0.0.1; 12 % of what was sent there.  Of 200 packets in other "
                  "classes, most often DSCP 26 (priority 3), from the same senders or to the "
                  "same receivers it was none; at that rate it would have been 24.")),
    Row("one_class", FIRES, "the same host, to others in another class",
        classes((1, 3, 0, 50, 12), (1, 2, 26, 200, 0)), "critical"),
    Row("one_class", FIRES, "hosts of one address in two networks are two", in_tenants(
        dict.fromkeys((100, 200), classes((1, 3, 0, 50, 12), (2, 3, 26, 200, 0)))), "critical",
        also=says("All 24 packets lost were of data with DSCP 0 (priority 5)",
                  "Sent by 10.0.0.1 in vxlan 100 and 10.0.0.1 in vxlan 200;")),
    Row("one_class", FIRES, "fewer than 1 %",
        classes((1, 3, 0, 1500, 10), (2, 3, 26, 3500, 0)), "warning"),
    Row("one_class", NOT, "both classes lose", classes((1, 3, 0, 50, 12), (2, 3, 26, 200, 20))),
    Row("one_class", NOT, "too few", classes((1, 3, 0, 50, 9), (2, 3, 26, 900, 0))),
    Row("one_class", NOT, "all data has the same one",
        classes((1, 3, 0, 50, 12), (2, 3, 0, 900, 0))),
    Row("one_class", CANNOT, "the other class goes between others",
        classes((1, 3, 0, 50, 12), (2, 4, 26, 900, 0))),
    Row("one_class", CANNOT, "too little of the other class",
        classes((1, 3, 0, 50, 12), (2, 3, 26, 50, 0))),
    Row("one_class", CANNOT, "the queue pair's data has both", lambda: (
        Fabric().send(1, 3, 50, dscp=26).send(1, 3, 50, 12, dscp=0).send(2, 3, 900).bytes())),
    Row("one_class", FIRES, "marks",
        classes((1, 3, 0, 50, 12), (2, 3, 26, 200, 0), what="marked"), "warning",
        also=says("All 12 packets marked CE were of data with DSCP 0 (priority 0)")),
]

ROWS = ONE_LINK + ONE_CLASS
