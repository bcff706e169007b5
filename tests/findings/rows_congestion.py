# SPDX-License-Identifier: GPL-2.0-or-later
"""Marks, CNPs, and what senders make of them."""

import dataclasses
import functools
import itertools

import fabric_scenarios
import roce
from captures import (
    ADDRESS, MAC, PORT, START_NS, Path, Wire, in_tenants, two_hosts, wire)
from fabric import simulate_fabric
from row import CANNOT, FIRES, NOT, Row, both
from sim import Impairment, Work

CE = {"tos": 26 << 2 | roce.ECN_CE}
NOT_ECT = {"tos": 26 << 2}
CNP_TOS = 48 << 2
SWITCH = {"src": "10.9.9.9", "tos": CNP_TOS}
AT_SENDER = (f"--captured-at={ADDRESS['a']}",)
AT_RECEIVER = (f"--captured-at={ADDRESS['b']}",)
INSIDE = ("--captured-at=network",)

SPEED = ("--link-speed=100G",)


def marked_in_turn(on):
    """Every third packet is marked."""
    for psn in range(60):
        on.write(psn, ip=CE if psn % 3 == 0 else None).ack(psn, psn + 1)


@functools.lru_cache
def simulated(name):
    return simulate_fabric(fabric_scenarios.scenario(name)).captures()


def fabric(name, point):
    """What a point sees in a scenario of the fabric."""
    return lambda: simulated(name)[f"{point}.pcapng"]


def says(*texts):
    """The details, or the titles, say so."""
    def look(_report, found):
        said = [f"{f['title']}: {f['detail']}" for f in found]
        for text in texts:
            if not any(text in one for one in said):
                yield f"{text!r} is not in {said}"
    return look


def ahead_of(kind):
    """The findings, and those of another kind that follows from them, are both there, and
    these stand first."""
    def look(report, found):
        kinds = [f["kind"] for f in report["findings"]]
        if kind not in kinds or kinds.index(found[0]["kind"]) > kinds.index(kind):
            yield f"{found[0]['kind']} is not in front of {kind}: {kinds}"
    return look


def cnp(on, sender="b", **ip):
    return on.packet(sender, "CNP", 0, payload=bytes(16), becn=True,
                     ip={"tos": CNP_TOS, **ip})


def marked(on, n, first=0, of=1):
    """So many marked WRITEs with their ACKs, the first of each `of`."""
    for i in range(first, first + n * of):
        on.write(i, ip=CE if (i - first) % of == 0 else {}).ack(i, i + 1)
    return on


def marked_beside_another(on):
    """One in fifty is marked of a queue pair; between the hosts, less than one in a hundred."""
    for i in range(51):
        on.write(1000 + i, qpn=0x99).ack(1000 + i, i + 1, qpn=0x98)
    marked(on, 1, of=50)


def marked_and_silent(n, wait_ns=300_000):
    """The capture goes on for a while behind the last mark."""
    def talk(on):
        marked(on.exchange(5), n, 5).wait(wait_ns).exchange(5, 5 + n)
    return talk


def marked_another_answered(on):
    """The receiver does send CNPs, about another queue pair."""
    marked_and_silent(40)(on)
    for i in range(20):
        on.write(i, qpn=0x99).ack(i, i + 1, qpn=0x98)
    on.packet("b", "CNP", 0, payload=bytes(16), becn=True, qpn=0x98, ip={"tos": CNP_TOS})


def silent_in(priority):
    """A receiver whose notification point is on for priority 3 alone, or for all."""
    def talk(on):
        of_one, of_other = {"qpn": 0x99}, {"tos": priority << 5 | roce.ECN_CE}
        for i in range(40):
            on.write(1000 + i, **of_one).ack(1000 + i, i + 1, qpn=0x98)
            on.write(i, ip=of_other).ack(i, i + 1)
        on.write(1040, ip=CE, **of_one)
        on.packet("b", "CNP", 0, payload=bytes(16), becn=True, qpn=0x98, ip={"tos": CNP_TOS})
        on.wait(300_000).write(1041, **of_one).ack(1041, 42, qpn=0x98).exchange(5, 40)
    return talk


def marked_one_way(on):
    for i in range(40):
        on.write(i, ip=CE)
    on.wait(300_000).write(40)


def answered(on):
    """A mark and its CNP."""
    cnp(marked(on.exchange(20), 1, 20)).exchange(20, 21)


def cnps_only(on):
    """Nobody's data was seen."""
    for _ in range(5):
        cnp(on)


def notified(n=3, **ip):
    """CNPs about data that is not marked here."""
    def talk(on):
        on.exchange(20)
        for i in range(n):
            cnp(on.exchange(1, 20 + i), **ip)
        on.exchange(20, 20 + n)
    return talk


def notified_not_ect(on):
    for i in range(20):
        on.write(i, ip=NOT_ECT).ack(i, i + 1)
    cnp(on)


def notified_with_naks(on):
    on.exchange(20)
    for i in range(20, 26, 2):
        on.write(i + 1).ack(i, i, syndrome=roce.NAK_PSN_SEQUENCE)
        cnp(on).write(i).write(i + 1).ack(i + 1, i + 2)


def cnp_beside_nak(wait_ns, first="nak"):
    """One CNP and one NAK, so far apart and a microsecond more."""
    def talk(on):
        on.exchange(20).write(21)
        nak = (lambda: on.ack(20, 20, syndrome=roce.NAK_PSN_SEQUENCE))
        for say in ((nak, lambda: cnp(on)) if first == "nak" else (lambda: cnp(on), nak)):
            say()
            on.wait(wait_ns)
        on.write(20).write(21).ack(21, 22)
    return talk


def not_capable(n, of, sign=None):
    """n of `of` are Not-ECT; a sign of congestion or none."""
    def talk(on):
        for i in range(of):
            on.write(i, ip=NOT_ECT if i < n else {}).ack(i, i + 1)
        if sign is not None:
            sign(on)
    return talk


def short_pause(on):
    """100 quanta are half a microsecond."""
    on.frame(roce.pfc({3: 100}))


def long_pause(on):
    """They hold for 25 of some 500 us."""
    for _ in range(50):
        on.frame(roce.pfc({3: 100}))


def acks_alone(on):
    for i in range(20):
        on.ack(i, i + 1, ip=NOT_ECT)


# --- classes -------------------------------------------------------------------------


def in_class(dscp, way="free"):
    """A CNP in some class; the way that it takes is free, or marks."""
    def talk(on):
        marked(on.exchange(20), 1, 20)
        ecn = roce.ECN_CE if way == "marks" else 0
        cnp(on, tos=dscp << 2 | ecn).exchange(20, 21)
    return talk


def marked_on_the_way():
    """Three points of different clocks and equal hop limits; 5 of 60 packets are marked between
    the first two, 8 between the last two."""
    path = Path(one=0, two=-3_000_000_000, three=-9_000_000_000)
    for n in range(60):
        marked_at = (("two", "three") if n % 12 == 0 else
                     ("three",) if n % 8 == 1 else ())
        path.send(lambda on, name: on.write(n, ip=CE if name in marked_at else {}))
        path.send(lambda on, _: on.ack(n, n + 1))
    return path.bytes()


def marked_between(*want):
    """(from, to, packets), points by their files."""
    def look(report, _found):
        name = {p["id"]: p["file"].rsplit("/")[-1] for p in report["capture"]["points"]}
        got = [[(name[s["from"]], name[s["to"]], s["packets"]) for s in of["segments"]]
               for of in (s["congestion"]["marked_between"] for s in report["streams"])
               if of["segments"]]
        if not got or any(sorted(one) != sorted(want) for one in got):
            yield f"{got}, not {want}"
    return look


def pausing_itself(kind):
    """The receiver, whose CNPs are in the data's class, pauses what comes to it."""
    def talk(on):
        in_class(26)(on)
        on.frame(kind).wait(20_000).exchange(20, 41)
    return talk


def ambiguous(on):
    """CNPs come back, and of four queue pairs in step nobody can tell which answers which."""
    for n in range(40):
        for i in range(4):
            on.write(n, qpn=0x20 + i, ip=CE if n % 10 == 0 else {})
        for i in range(4):
            on.packet("b", "RC Acknowledge", n, qpn=0x10 + i,
                      headers=roce.aeth(roce.ACK_NO_CREDIT_LIMIT, n + 1))
        if n % 10 == 0:
            cnp(on)


# --- senders -------------------------------------------------------------------------

MESSAGE = 64                     # packets


def part_of(i):
    if i % MESSAGE == 0:
        return "RC RDMA WRITE First"
    return f"RC RDMA WRITE {'Last' if i % MESSAGE == MESSAGE - 1 else 'Middle'}"


def stream(n_cnps, gap_ns=lambda n: 0, opcode=part_of, every=20, tell=cnp):
    """Messages of 64 packets, a microsecond apart and gap_ns(CNPs so far) more, and a CNP
    behind each `every` packets from the hundredth on: tell(Wire) sends it."""
    def talk(on):
        so_far = 0
        for i in range(100 + every * n_cnps + 100):
            name = opcode(i)
            first = "First" in name or "Only" in name
            on.wait(gap_ns(so_far)).packet(
                "a", name, i, payload=bytes(1024),
                headers=roce.reth(0, 7, 1024 * MESSAGE) if first else b"")
            if i % MESSAGE == MESSAGE - 1:
                on.ack(i)
            if i >= 100 and i % every == 0 and so_far < n_cnps:
                tell(on)
                so_far += 1
    return talk


def elsewhere(on):
    """A packet that does not come by here."""
    on.ident += 1
    on.wait(1_000)


def at_both_ends(tell, others=False):
    """The CNPs leave the receiver; tell(Wire) says what comes to the other point, which
    may have other traffic."""
    def make():
        ends = {"receiver.pcap": Wire(START_NS), "sender.pcap": Wire(START_NS + 5)}
        stream(64)(ends["receiver.pcap"])
        stream(64, tell=tell)(ends["sender.pcap"])
        if others:
            ends["sender.pcap"].write(7, ip={"src": "10.0.0.7"}, sender="a", qpn=0x77)
        return {name: on.bytes() for name, on in ends.items()}
    return make


def some(on):
    """Half of them come."""
    (cnp if on.ident % 2 else elsewhere)(on)


def few(on):
    """One of sixteen comes."""
    (elsewhere if on.ident % 16 else cnp)(on)


def answered_at_another_point():
    """The point that sees the marks sees nothing of what comes back; the one in front of the
    queue that marks does."""
    path = Path(near=0, far=700)
    for i in range(40):
        path.send(lambda on, name, i=i: on.write(i, ip=CE if name == "far" else {}))
        path.send(lambda on, _, i=i: on.ack(i, i + 1), at=["near"])
        path.send(lambda on, _: cnp(on), at=["near"])
    return path.bytes()


class CnpPath:
    """Messages from a to b past two points, of which `lost` of 40 CNPs come to the one nearer
    the receiver alone."""

    def __init__(self, lost, *, others=True, nearer=True, ack_lost=False, data_lost=False,
                 dropped=None, early=False):
        self.lost, self.others, self.nearer, self.early = lost, others, nearer, early
        self.ack_lost, self.data_lost, self.dropped = ack_lost, data_lost, dropped

    def __call__(self):
        path = Path(near=0, far=700)
        if self.others:
            path.send(lambda on, _: on.write(7, ip={"src": "10.0.0.7"}, qpn=0x77), at=["near"])
        for i in range(80):
            # Which the receiver's own point has, and the one in front of it missed.
            path.send(lambda on, _, i=i: on.write(i), at=["far"] if self.data_lost and i == 50
                      else None)
            if self.early and i == 0:   # when no answer has told yet what belongs to what
                path.send(lambda on, _: cnp(on))
            path.send(lambda on, name, i=i: on.wait(
                5_000 if self.nearer and name == "near" else 0).ack(i, i + 1),
                at=["far"] if self.ack_lost and i == 50 else None)
            if i % 2:
                path.send(lambda on, _: cnp(on), at=["far"] if i // 2 < self.lost else None)
        files = path.bytes()
        if self.dropped is not None:
            files = {"near.pcapng": self._with_drops(files["near.pcap"]),
                     "far.pcap": files["far.pcap"]}
        return files

    def _with_drops(self, data):
        out = roce.Pcapng()
        for time_ns, wire_bytes, frame in roce.pcap_packets(data):
            out.add(time_ns, frame, wire_bytes)
        return out.add_statistics(START_NS + 10**9, received=200,
                                  dropped=self.dropped).bytes()


def answers_on_another_link():
    """What a sends passes a switch port, and what answers it another one of that switch, as
    equal-cost paths have it.  That these two belong together is not known before ACKs come:
    of 40 CNPs, 20 came before."""
    out = roce.Pcapng([roce.Interface(name=name) for name in ("host", "data", "answers")])
    now, ident = START_NS, itertools.count(1)

    def seen(points, sender, opcode, psn, qpn, src=None, headers=b"", tos=None, late_ns=0):
        nonlocal now
        src = src or ADDRESS[sender]
        to = "b" if sender == "a" else "a"
        ip = roce.Ip(src, ADDRESS[to], ident=next(ident),
                     tos=26 << 2 | roce.ECN_ECT0 if tos is None else tos)
        bits = {"becn": True} if opcode == "CNP" else {}
        ib = roce.transport(roce.OPCODE[opcode], psn=psn, headers=headers, dest_qpn=qpn, **bits)
        frame = roce.ethernet(roce.rocev2(ip, PORT, ib), src=MAC[sender], dst=MAC[to])
        for at, point in enumerate(points):
            out.add(now + at * late_ns, frame, interface=point)
        now += 1_000

    def write(psn, qpn=0x22, src=None):
        seen((0, 1), "a", "RC RDMA WRITE Only", psn, qpn, src, roce.reth(0, 7, 0))

    def told(i, step):
        if i % step == 0:
            seen((0, 2), "b", "CNP", 0, 0x11, headers=bytes(16), tos=CNP_TOS)

    for i in range(4_400):
        write(i, 0x77, "10.0.0.7")
        told(i, 220)
    for i in range(4_400):
        write(i)
        seen((0, 2), "b", "RC Acknowledge", i, 0x11, headers=roce.aeth(0x1f, i + 1),
             late_ns=400)
        told(i, 220)
    return {"ports.pcapng": out.bytes()}


def slower(n):
    return 1_000 if n else 0


def only(_i):
    return "RC RDMA WRITE Only"


def idle_sender(on):
    """Ten messages of four packets, each when the application has one."""
    for i in range(1_500):
        part = ("First", "Middle", "Middle", "Last")[i % 4]
        on.packet("a", f"RC RDMA WRITE {part}", i, payload=bytes(1024),
                  headers=roce.reth(0, 7, 4096) if part == "First" else b"")
        if part == "Last":
            on.ack(i).wait(30_000)
        if i > 100 and i % 8 == 0:
            cnp(on)


@dataclasses.dataclass(frozen=True)
class _Reacting:
    """reaction_off, with a reaction."""

    def __call__(self):
        base = fabric_scenarios.scenario("reaction_off")
        host = dataclasses.replace(base.host, reaction=fabric_scenarios.SMALL)
        captures = simulate_fabric(dataclasses.replace(base, host=host)).captures()
        return captures["h3.pcapng"]


BOTH_ENDS = two_hosts([Work("WRITE", 8192, at_ns=i * 20_000) for i in range(60)],
                      at=("sender", "receiver"), forward=Impairment(mark=0.2))

def shown_by(*frames):
    def look(_report, found):
        if found[0]["frames"] != list(frames):
            yield f"{found[0]['frames']}, not {frames}"
    return look


ROWS = [
    Row("ce", FIRES, "in two tenant networks of the same addresses",
        in_tenants({7: wire(marked_in_turn), 8: wire(marked_in_turn)}), "warning",
        also=lambda _report, found: [
            f["wireshark_filter_all"] for f in found
            if f"vxlan.vni == {f['id'][-1]}" not in f["wireshark_filter_all"]]),
    Row("ce", FIRES, "one in a hundred is marked",
        wire(lambda on: marked(on, 1, of=100)), "warning"),
    Row("ce", FIRES, "the first that is marked shows it, not what came behind",
        wire(lambda on: on.exchange(20).write(20, ip=CE).write(21, ip=CE).ack(21, 22)
             .exchange(20, 22)), "warning", also=shown_by(41)),
    Row("ce", FIRES, "less than one in a hundred",
        wire(lambda on: marked(on, 1, of=101)), "note"),
    Row("ce", FIRES, "less than that of all between the hosts", wire(marked_beside_another),
        "note"),
    Row("ce", FIRES, "behind the queue that marks, in an incast that is told",
        fabric("incast_ecn", "h3"), "note",
        also=says("They came with the incast to 10.9.0.4, of which another finding tells.")),
    Row("ce", FIRES, "some of them elsewhere on the way", fabric("marked_twice", "fabric"),
        "warning",
        also=says("Marked between")),
    Row("ce", FIRES, "in front of the queue that marks, and behind it", BOTH_ENDS,
        "warning"),
    Row("ce_without_cnp", FIRES, "both ends saw that data, and one of them its marks",
        BOTH_ENDS, "warning"),
    Row("ce", FIRES, "on two ways of three points, whose clocks differ",
        marked_on_the_way, "warning",
        also=both(marked_between(("one.pcap", "two.pcap", 5), ("two.pcap", "three.pcap", 8)),
                  says("Marked between two.pcap and three.pcap (8 packets), between one.pcap and "
                       "two.pcap (5 packets).  CNPs seen"))),
    Row("ce", FIRES, "and whether it is answered nobody knows", wire(ambiguous), "warning",
        also=says("Whether CNPs came in return is not known")),
    Row("ce", FIRES, "another point than that of the marks knows that it is answered",
        answered_at_another_point, "warning", also=says("CNPs seen in return: 40.")),
    Row("cnp", FIRES, "another point than that of the CNPs saw the marks",
        answered_at_another_point, "note"),
    Row("cnp_without_ce", NOT, "another point than that of the CNPs saw the marks",
        answered_at_another_point),
    Row("ce", NOT, "ACKs and CNPs are marked, and no data",
        wire(lambda on: cnp(on.exchange(20).ack(19, 20, ip=CE), tos=CNP_TOS | 3))),
    Row("ce", CANNOT, "before the queue that marks", fabric("incast_ecn", "h0")),

    Row("not_ect", FIRES, "more than half, and a CNP",
        wire(not_capable(11, 20, cnp)), "warning"),
    Row("not_ect", FIRES, "more than half, and nothing is congested",
        wire(not_capable(11, 20)), "note"),
    Row("not_ect", FIRES, "and a CNP about 200 packets: a note",
        wire(not_capable(150, 200, cnp)), "note"),
    Row("not_ect", FIRES, "and a pause of a moment: a note",
        wire(not_capable(150, 200, short_pause)), "note", ("--link-speed=100G",)),
    Row("not_ect", FIRES, "and pauses for a good part of the time",
        wire(not_capable(150, 200, long_pause)), "warning", ("--link-speed=100G",)),
    Row("not_ect", NOT, "one half", wire(not_capable(10, 20, cnp))),
    Row("not_ect", CANNOT, "the data was not captured", wire(acks_alone)),

    Row("ce_without_cnp", FIRES, "16 marks wait in vain", wire(marked_and_silent(16)),
        "warning", also=says("16 packets")),
    Row("ce_without_cnp", FIRES, "no receiver sends any",
        fabric("notification_off", "h3"), "warning", also=ahead_of("ce")),
    Row("ce_without_cnp", FIRES, "a switch sends them, where this point does not see them",
        fabric("incast_switch_cnps", "h3"), "warning"),
    Row("ce_without_cnp", FIRES, "seen inside the network",
        wire(marked_and_silent(16)), "note", args=INSIDE, also=says("another way")),
    Row("ce_without_cnp", FIRES, "in one priority, while there are CNPs in another",
        wire(silent_in(5)), "warning", also=says("about priority 5")),
    Row("ce_without_cnp", FIRES, "though a host with this address does in another network",
        in_tenants({100: wire(marked_and_silent(40)), 200: wire(answered)}), "warning",
        also=says("10.0.0.2 in vxlan 100 sends no CNPs: 40 packets from 1 sender")),
    Row("ce_without_cnp", NOT, "two queue pairs of one priority, and CNPs about one",
        wire(silent_in(3))),
    Row("ce_without_cnp", NOT, "15 marks", wire(marked_and_silent(15))),
    Row("ce_without_cnp", NOT, "CNPs come",
        wire(lambda on: cnp(marked(on.exchange(5), 40, 5)).wait(300_000).exchange(5, 45))),
    Row("ce_without_cnp", NOT, "the receiver sends them about others",
        wire(marked_another_answered)),
    Row("ce_without_cnp", CANNOT, "the direction of the CNPs was not captured",
        wire(marked_one_way)),
    Row("ce_without_cnp", CANNOT, "the capture ends too soon",
        wire(lambda on: marked(on.exchange(5), 40, 5).exchange(20, 45))),
    Row("ce_without_cnp", CANNOT, "a filter may have kept them out",
        wire(marked_and_silent(40)), args=("--filter=udp",)),

    Row("cnp_lost", FIRES, "10 of 40", CnpPath(10), "warning", also=says(
        "10 of 40 CNPs about data from 10.0.0.1 to 10.0.0.2 were lost between far.pcap and "
        "near.pcap", "CNPs in priority 6, data in priority 3")),
    Row("cnp_lost", FIRES, "all of them", CnpPath(40), "warning", also=says(
        "All 40 CNPs about data", "10.0.0.1 is not told of the congestion")),
    Row("cnp_lost", FIRES, "and one came before the first ACK", CnpPath(10, early=True),
        "warning"),
    Row("cnp_lost", FIRES, "4 of 40", CnpPath(4), "warning"),
    Row("cnp_lost", FIRES, "3 of 40 are less than a tenth", CnpPath(3), "note"),
    Row("cnp_lost", FIRES, "at the sender as well, which shows the others",
        CnpPath(30, others=False), "warning"),
    Row("cnp_lost", FIRES, "the capture tells that it dropped nothing",
        CnpPath(10, dropped=0), "warning"),
    Row("cnp_lost", NOT, "2 of 40, which may be behind the end of a capture", CnpPath(2)),
    Row("cnp_lost", NOT, "all came", CnpPath(0)),
    Row("cnp_lost", NOT, "all came, by a port that was found later to belong to it",
        answers_on_another_link),
    Row("cnp_lost", CANNOT, "the sender's NIC may take them in", CnpPath(40, others=False)),
    Row("cnp_lost", CANNOT, "nobody knows which point comes first", CnpPath(10, nearer=False)),
    Row("cnp_lost", CANNOT, "an ACK is missing there, too", CnpPath(10, ack_lost=True)),
    Row("cnp_lost", CANNOT, "data is missing there, too", CnpPath(10, data_lost=True)),
    Row("cnp_lost", CANNOT, "the capture dropped packets", CnpPath(10, dropped=3)),

    Row("no_reaction", FIRES, "64 CNPs, and not a bit slower", wire(stream(64)),
        "warning", also=says("64 CNPs in a row")),
    Row("no_reaction", FIRES, "reaction points are off", fabric("reaction_off", "h3"),
        "warning", also=ahead_of("ce")),
    Row("no_reaction", FIRES, "none of them came to the sender",
        at_both_ends(elsewhere), "warning",
        also=says("None of 64 CNPs about data from 10.0.0.1 to 10.0.0.2 was seen at 10.0.0.1",
                  "came by at receiver.pcap and not at sender.pcap")),
    Row("no_reaction", FIRES, "all of them did", at_both_ends(cnp), "warning",
        also=says("10.0.0.1 does not slow down")),
    Row("no_reaction", FIRES, "hardly any of them did", at_both_ends(few), "warning",
        also=says("1 of 64 CNPs about data from 10.0.0.1 to 10.0.0.2 was seen at 10.0.0.1",
                  "The others came by at receiver.pcap")),
    Row("no_reaction", FIRES, "some of them did", at_both_ends(some), "warning",
        also=says("10.0.0.1 does not slow down")),
    Row("no_reaction", FIRES, "inside the network they may take another way",
        at_both_ends(elsewhere, others=True), "warning",
        also=says("10.0.0.1 does not slow down")),
    Row("no_reaction", NOT, "63 CNPs", wire(stream(63))),
    Row("no_reaction", NOT, "the rate is halved", wire(stream(64, slower))),
    Row("no_reaction", NOT, "reaction points are on", _Reacting()),
    Row("no_reaction", CANNOT, "messages of one packet have no rate",
        wire(stream(64, opcode=only))),
    Row("no_reaction", CANNOT, "CNPs too far apart",
        wire(stream(64, lambda _n: 500, every=80))),
    Row("no_reaction", CANNOT, "the sender waits for its application",
        wire(idle_sender)),
    Row("no_reaction", CANNOT, "stamps too coarse to tell a rate",
        wire(stream(64), nanoseconds=False)),
    Row("no_reaction", CANNOT, "so slow that it may be the least it goes down to",
        wire(stream(64, lambda _n: 9_000, every=8))),

    Row("cnp_class", FIRES, "in the data's own, which is free", wire(in_class(26)),
        "note", also=says("CNPs in priority 3, data in priority 3")),
    Row("cnp_class", FIRES, "in the data's own, which marks",
        wire(in_class(26, "marks")), "warning", also=says("1 CNP about data from 10.0.0.1 to "
                                                          "10.0.0.2 travels in no higher")),
    Row("cnp_class", FIRES, "in the data's own, which the receiver pauses for what comes",
        wire(pausing_itself(roce.pfc({3: 0xFFFF}, src=roce.MAC_B))), "note", SPEED),
    Row("cnp_class", FIRES, "in a lower one", wire(in_class(8)), "note",
        also=says("CNPs in priority 1")),
    Row("cnp_class", FIRES, "by the user's map", wire(in_class(48)), "note",
        args=("--dscp-map=26:5,48:5",)),
    Row("cnp_class", FIRES, "and queues that mark",
        fabric("cnp_in_data_class", "h3"), "warning", also=ahead_of("ce")),
    Row("cnp_class", NOT, "one above", wire(in_class(32))),
    Row("cnp_class", CANNOT, "nobody's data was seen", wire(cnps_only)),

    Row("cnp", FIRES, "a mark, and its CNP", wire(answered), "note"),
    Row("cnp", FIRES, "and how many marks are of the queue pair that it is about, where others "
        "are marked too", wire(silent_in(5)), "note",
        also=says("on data of the queue pair that it is about: 1.")),
    Row("cnp", NOT, "a mark alone", wire(lambda on: marked(on.exchange(20), 1, 20))),
    Row("cnp", CANNOT, "nobody's data was seen", wire(cnps_only)),

    Row("cnp_without_ce", FIRES, "captured at the sender", wire(notified()), "note",
        args=AT_SENDER, also=says("3 CNPs", "made behind this point")),
    Row("cnp_without_ce", FIRES, "captured at the receiver", wire(notified()), "note",
        args=AT_RECEIVER, also=says("undecidable from here")),
    Row("cnp_without_ce", FIRES, "captured nobody knows where", wire(notified()), "note",
        also=says("undecidable from here")),
    Row("cnp_without_ce", FIRES, "about data that cannot be marked",
        wire(notified_not_ect), "note", args=AT_SENDER, also=says("undecidable")),
    Row("cnp_without_ce", FIRES, "from a switch", wire(notified(src=SWITCH["src"])),
        "note", also=says("did not come from the receiver")),
    Row("cnp_without_ce", FIRES, "with NAKs", wire(notified_with_naks), "note",
        also=says("next to a NAK")),
    Row("cnp_without_ce", FIRES, "10 us behind a NAK", wire(cnp_beside_nak(9_000)),
        "note", also=says("1 stands next to a NAK")),
    Row("cnp_without_ce", FIRES, "more than 10 us behind one",
        wire(cnp_beside_nak(9_001)), "note", also=says("1 is undecidable")),
    Row("cnp_without_ce", FIRES, "10 us before a NAK, which it overtook",
        wire(cnp_beside_nak(9_000, "cnp")), "note", also=says("next to a NAK")),
    Row("cnp_without_ce", FIRES, "more than 10 us before one",
        wire(cnp_beside_nak(9_001, "cnp")), "note", also=says("undecidable")),
    Row("cnp_without_ce", FIRES, "about one queue pair, while another is marked",
        wire(marked_another_answered), "note",
        also=says("1 CNP about data from 10.0.0.1 to 10.0.0.2 that has no mark here")),
    Row("cnp_without_ce", NOT, "a mark was captured", wire(answered)),
    Row("cnp_without_ce", NOT, "there are none", wire(lambda on: on.exchange(20))),
    Row("cnp_without_ce", CANNOT, "nobody's data was seen", wire(cnps_only)),
]
