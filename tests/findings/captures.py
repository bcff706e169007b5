# SPDX-License-Identifier: GPL-2.0-or-later
"""Captures for the rows: two simulated hosts, and packets by hand."""

import dataclasses
import functools
import itertools

import roce
import tunnels
from sim import (
    HOST_A, HOST_B, REQUESTS, Impairment, Point, QueuePair, Scenario, Side, Work, path_of,
    simulate)

START_PSN, PEER_PSN = 0xF000, 0x400000
WRITES = (Work("WRITE", 8192),) * 60   # 480 packets


def side(qpn, start_psn, work, how):
    return Side(qpn, start_psn=start_psn, work=tuple(work), **(how or {}))


def two_hosts(work=WRITES, *, at="receiver", forward=None, backward=None, peer_work=(),
              a=None, b=None, transport="RC", pmtu=1024, host=None, addresses=None,
              artefacts=(), pairs=None, cm=True, **point):
    """A function that simulates a queue pair between two hosts and gives the captures at
    `at` (one point, or several): `forward` and `backward` are Impairments of the path
    between them, what else is given belongs to the point."""
    names = (at,) if isinstance(at, str) else at

    def make():
        queue_pair = QueuePair(side(0x111, START_PSN, work, a),
                               side(0x222, PEER_PSN, peer_work, b), pmtu=pmtu,
                               transport=transport)
        hosts = {"host_a": dataclasses.replace(HOST_A, **(host or {})),
                 "host_b": dataclasses.replace(HOST_B, **(host or {}))}
        for name, address in zip(hosts, addresses or ()):
            hosts[name] = dataclasses.replace(hosts[name], address=address)
        points = tuple(Point(name, artefacts=tuple(artefacts), **point)
                       for name in ("sender", "receiver"))
        scenario = Scenario(
            "finding", pairs or (queue_pair,), points=points, cm=cm,
            segments=path_of(forward or Impairment(), backward or Impairment()), **hosts)
        captures = simulate(scenario).captures()
        chosen = {f"{name}.pcap": data for name, data in captures.items()
                  if name.split(".")[0] in names}
        return next(iter(chosen.values())) if len(chosen) == 1 else chosen
    return make


def drop(*psns, space=REQUESTS, copy=1):
    """The first copies of these packets are lost, counted from the first one."""
    return Impairment(drop=tuple((space, psn, copy) for psn in psns))


def late(*psns, by_ns=30_000, space=REQUESTS):
    return Impairment(late=tuple((space, psn, 1) for psn in psns), reorder_ns=by_ns)


# --- files that are changed afterwards --------------------------------------------------


def changed(make, **how):
    """The captures of `make`, where those named so ("receiver", …) are changed by a function
    of their packets: (time_ns, wire length, bytes) of each, in a list."""
    def change():
        files = dict(make())
        for name, function in how.items():
            pcap = roce.Pcap()
            for time_ns, length, frame in function(list(roce.pcap_packets(
                    files[f"{name}.pcap"]))):
                pcap.add(time_ns, frame, length)
            files[f"{name}.pcap"] = pcap.bytes()
        return files
    return change


def first(share):
    """That capture ended early."""
    return lambda packets: packets[:int(len(packets) * share)]


def shifted(by_ns):
    """By another clock."""
    return lambda packets: [(time_ns + by_ns, length, frame)
                            for time_ns, length, frame in packets]


def in_tenants(makes):
    """Captures one after the other, each in a network of its own: {VXLAN number: make}.  What
    was cut off of a packet is zeros."""
    def carry():
        pcap = roce.Pcap()
        for i, (number, make) in enumerate(makes.items()):
            for time_ns, length, frame in roce.pcap_packets(make()):
                pcap.add(time_ns + i * 10**9, tunnels.carry_udp(
                    tunnels.PORT_VXLAN, tunnels.vxlan(number, frame.ljust(length, b"\0"))))
        return pcap.bytes()
    return carry


# --- by hand -------------------------------------------------------------------------

MAC = {"a": roce.MAC_A, "b": roce.MAC_B}
ADDRESS = {"a": "10.0.0.1", "b": "10.0.0.2"}
QPN = {"a": 0x11, "b": 0x22}
PORT = 50_000
START_NS = 1_795_000_000 * 10**9


class Wire:
    """Packets between two hosts, "a" and "b", one by one; each takes a microsecond.  No two
    captures begin at the same time: Wireshark, shown one after the other, would take a
    capture that goes on where another one ended for that one dissected anew."""

    made = itertools.count()

    def __init__(self, start_ns=None, **how):
        self.pcap = roce.Pcap(**how)
        self.start_ns = (START_NS + next(Wire.made) * 10**9 if start_ns is None
                         else start_ns)
        self.now = self.start_ns
        self.ident = 1

    def wait(self, ns):
        self.now += ns
        return self

    def frame(self, frame, wire_length=None):
        self.pcap.add(self.now, frame, wire_length)
        self.now += 1_000
        return self

    def ip(self, sender, **fields):
        receiver = "b" if sender == "a" else "a"
        self.ident += 1
        return roce.Ip(fields.pop("src", ADDRESS[sender]), ADDRESS[receiver],
                       **{"ident": self.ident, "tos": 26 << 2 | roce.ECN_ECT0, **fields})

    def packet(self, sender, opcode, psn, *, headers=b"", payload=b"", ip=None, qpn=None,
               icrc_xor=0, vlans=(), **bits):
        receiver = "b" if sender == "a" else "a"
        ib = roce.transport(roce.OPCODE.get(opcode, opcode), psn=psn, headers=headers,
                            payload=payload,
                            dest_qpn=QPN[receiver] if qpn is None else qpn, **bits)
        packet = roce.rocev2(self.ip(sender, **(ip or {})), PORT, ib, icrc_xor=icrc_xor)
        return self.frame(roce.ethernet(packet, src=MAC[sender], dst=MAC[receiver],
                                        vlans=vlans))

    def write(self, psn, *, sender="a", length=1024, **how):
        """A WRITE of one packet, which asks for an ACK."""
        return self.packet(sender, "RC RDMA WRITE Only", psn,
                           headers=roce.reth(0x1000, 7, length), payload=bytes(length),
                           **{"ack_request": True, **how})

    def ack(self, psn, msn=1, *, sender="b", syndrome=roce.ACK_NO_CREDIT_LIMIT, **how):
        return self.packet(sender, "RC Acknowledge", psn, headers=roce.aeth(syndrome, msn),
                           **how)

    def exchange(self, n, first=0, **how):
        """So many WRITEs, each with its ACK."""
        for i in range(first, first + n):
            self.write(i, **how).ack(i, i + 1)
        return self

    def bytes(self):
        return self.pcap.bytes()


def wire(talk, **how):
    """A function that gives the capture of what talk(Wire) says."""
    def make():
        on = Wire(**how)
        talk(on)
        return on.bytes()
    return functools.wraps(talk)(make)


class Path:
    """The same packets at several points, each of which has a file."""

    def __init__(self, **later_ns):
        """By name, how late the clock of each is."""
        self.points = {name: Wire(start_ns=START_NS + ns) for name, ns in later_ns.items()}

    def send(self, do, at=None):
        """What every point sees, or those that are named; do(Wire, name)."""
        for name, on in self.points.items():
            if at is None or name in at:
                do(on, name)
            else:
                on.ident += 1
                on.now += 1_000
        return self

    def lose(self, psn, until):
        """A packet that the points up to `until` see, and those behind do not; it is asked for
        and sent again."""
        names = list(self.points)
        return (self.send(lambda on, _: on.write(psn), at=names[:names.index(until) + 1])
                .send(lambda on, _: on.write(psn + 1))
                .send(lambda on, _: on.ack(psn, psn, syndrome=0x60))
                .send(lambda on, _: on.write(psn)).send(lambda on, _: on.write(psn + 1))
                .send(lambda on, _: on.ack(psn + 1, psn + 2)))

    def bytes(self):
        return {f"{name}.pcap": on.bytes() for name, on in self.points.items()}


def udp_packet(src, dst, src_port, dst_port, payload, **ip):
    """An Ethernet frame around UDP."""
    return roce.ethernet(roce.Ip(src, dst, **ip).wrap(
        17, roce.udp(src_port, dst_port, payload)))


