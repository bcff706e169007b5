# SPDX-License-Identifier: GPL-2.0-or-later
"""Rows about load: incast, slow receivers, spreading."""

import dataclasses
import struct

import fabric_scenarios
import load_scenarios
import roce
import rows
from captures import Path, wire
from fabric import simulate_fabric
from load_scenarios import Conversation, chain, credits, same_port, slow_host
from row import CANNOT, FIRES, NOT, Row
from sim import START_NS, QueuePair, Scenario, Side, Work, path_of, simulate


def at(point, scenario):
    """What a point of a fabric captured, as a pcapng of its own."""
    alone = dataclasses.replace(scenario, files={"one.pcapng": (point,)}, points=tuple(
        p for p in scenario.points if p.name == point))
    return simulate_fabric(alone).captures()["one.pcapng"]


def classic(point, scenario):
    """The same as a classic pcap: nobody knows the speed of the link."""
    alone = dataclasses.replace(scenario, files={"one.pcap": (point,)}, points=tuple(
        p for p in scenario.points if p.name == point))
    return simulate_fabric(alone).captures()["one.pcap"]


def files(name):
    return simulate_fabric(load_scenarios.SCENARIOS[name]()).captures()


def simulated(name, point):
    """A row of tests/sim/rows.py."""
    row = next(row for row in rows.ROWS if row.name == name)
    return simulate(row.scenario(1)).captures()[point]


def named(point, name):
    return lambda: at(point, load_scenarios.SCENARIOS[name]())


# --- incast --------------------------------------------------------------------------


def coincides(word, sign="ce"):
    def also(report, found):
        (receiver,) = (r for r in report["incast"]["receivers"] if r["n_episodes"])
        if receiver["congestion"][sign]["coincides"] != word:
            yield f"{sign}: {receiver['congestion'][sign]}"
        (finding,) = found
        if not finding["streams"]:
            yield "no streams are named"
        frames = {e["frame"] for e in receiver["episodes"]}
        if not frames <= set(finding["frames"]):
            yield f"frames {finding['frames']}, episodes begin with {frames}"
    return also


def coarse(resolution, ticks_per_second):
    """Four senders, one after the other in the same millisecond or a tenth of it."""
    file = roce.Pcapng(())
    file.block(file.IDB, struct.pack("<HHI", roce.LINKTYPE_ETHERNET, 0, 0),
               [(file.IF_TSRESOL, bytes([resolution]))])
    for i in range(400):
        ticks = (START_NS + i * 80_000) * ticks_per_second // 10**9
        ip = roce.Ip(f"10.0.1.{i % 4}", "10.0.0.9", ident=i // 4, tos=106)
        frame = roce.ethernet(roce.rocev2(ip, 50_000 + i % 4, roce.transport(
            roce.OPCODE["RC SEND Only"], dest_qpn=0x100 + i % 4, psn=i // 4,
            payload=bytes(64))))
        file.block(file.EPB, struct.pack(
            "<IIIII", 0, ticks >> 32, ticks & 0xFFFFFFFF, len(frame), len(frame))
            + frame + bytes(-len(frame) % 4))
    return file.bytes()


def in_turn_set_back():
    """Four senders one after the other, some of whose packets are marked; early on the clock
    is set back by a minute."""
    pcap = roce.Pcap()
    psns = [0] * 4
    for turn in range(60):
        sender = turn % 4
        for n in range(10):
            ip = roce.Ip(f"10.0.1.{sender}", "10.0.0.9", ident=turn * 10 + n,
                         tos=26 << 2 | (roce.ECN_CE if turn > 10 and n == 0 else roce.ECN_ECT0))
            packet = roce.rocev2(ip, 50_000 + sender, roce.transport(
                roce.OPCODE["RC RDMA WRITE Only"], dest_qpn=0x11 + sender, psn=psns[sender],
                headers=roce.reth(0x1000, 7, 1024), payload=bytes(1024)))
            psns[sender] += 1
            pcap.add(START_NS + turn * 10**6 + n * 1000 - (60 * 10**9 if turn > 5 else 0),
                     roce.ethernet(packet))
    return pcap.bytes()


def no_burst(report, _found):
    """Ten packets came in ten microseconds, at the most."""
    (receiver,) = report["bursts"]["receivers"]
    if receiver["n_bursts"] or receiver["peak_bps"] > 10**10:
        yield f"{receiver}"


def incast_is(known):
    def also(report, _found):
        if (report["incast"] is not None) != known:
            yield f"{report['incast']}"
    return also


def one_ect():
    """incast_ecn without rate control, where two of the three senders cannot be marked."""
    base = fabric_scenarios.scenario("incast_ecn")
    host = dataclasses.replace(base.host, reaction=None)
    plain = dataclasses.replace(host, tos=26 << 2)
    return dataclasses.replace(base, host=host, hosts={1: plain, 2: plain})


def few_marks():
    """As gusts, but in them one packet in some hundred is marked."""
    return load_scenarios.gusts(kmin_bytes=100_000, kmax_bytes=800_000, pmax=0.05)


def more_frequent_and_rare(report, found):
    yield from coincides("yes")(report, found)
    if "rare all the same" not in found[0]["detail"]:
        yield found[0]["detail"]


def of_some(report, found):
    """The queue is not the one in front of the receiver."""
    yield from coincides("yes")(report, found)
    if "data of 2 of 4 senders alone" not in found[0]["detail"]:
        yield found[0]["detail"]


def against_the_marks(report, found):
    yield from coincides("no")(report, found)
    yield from coincides("yes", "cnp")(report, found)


def answering():
    """incast_ecn, and the receiver sends as much as it gets."""
    base = fabric_scenarios.scenario("incast_ecn")
    return dataclasses.replace(base, flows=base.flows + (
        fabric_scenarios.flow(3, 0, fabric_scenarios.writes(20), number=1),))


def nothing_outside(report, found):
    yield from coincides("undecidable")(report, found)
    (receiver,) = (r for r in report["incast"]["receivers"] if r["n_episodes"])
    signs = receiver["congestion"]
    if not signs["ce"]["of_outside"] < 100 < signs["cnp"]["of_outside"]:
        yield f"{signs}"


INCAST = (
    Row("incast", FIRES, "marks come with the gusts of five more senders",
        named("h6", "gusts"), "warning", also=coincides("yes")),
    Row("incast", FIRES, "eight gusts, but no mark: a note",
        named("h6", "gusts_without_marks"), "note", also=coincides("absent")),
    Row("incast", FIRES, "pauses of the senders' links come with it",
        lambda: files("gusts_with_pauses"), "warning", also=coincides("yes", "pause")),
    Row("incast", FIRES, "marks come with the gusts, on few packets: a note",
        lambda: at("h6", few_marks()), "note", also=more_frequent_and_rare),
    Row("incast", NOT, "it is the receiver that asks for the pauses: a note",
        named("leaf0_h6", "gusts_to_a_slow_host"), "note",
        also=coincides("absent", "pause")),
    Row("incast", NOT, "two senders at once are none", named("h2", "two_at_once")),
    Row("incast", NOT, "one sender alone is marked as often: incast, and no warning",
        named("h6", "marked_throughout"), "note", also=coincides("no")),
    Row("incast", FIRES, "there is nothing outside to compare with, and all are marked",
        lambda: at("h3", fabric_scenarios.scenario("incast_ecn")), "warning",
        also=coincides("undecidable")),
    Row("incast", FIRES, "what the receiver sends itself is nothing to compare with",
        lambda: at("h3", answering()), "warning", also=nothing_outside),
    Row("incast", NOT, "the marks are of an uplink that some of them share: a note",
        named("h4", "uplink_marks"), "note", also=of_some),
    Row("incast", NOT, "CNPs are more frequent with it, and marks are not: a note",
        named("h6", "paced_cnps"), "note", also=against_the_marks),
    Row("incast", CANNOT, "all send at once, and one of the three is marked",
        lambda: at("h3", one_ect()), "note", also=coincides("undecidable")),
    Row("incast", NOT, "one after the other, 80 us apart", lambda: coarse(6, 10**6),
        also=incast_is(True)),
    Row("incast", NOT, "one after the other, and the clock is set back", in_turn_set_back,
        args=("--link-speed", "100G"), also=no_burst),
    Row("incast", CANNOT, "the same by stamps of a millisecond", lambda: coarse(3, 10**3),
        also=incast_is(False)),
    Row("incast", CANNOT, "at one sender's NIC the others are not seen",
        lambda: at("h0", fabric_scenarios.scenario("incast_ecn"))),
)

# --- slow receivers ------------------------------------------------------------------


def blames(word, **evidence):
    def also(report, _found):
        streams = report["receivers"]["streams"]
        if [s["slow"] for s in streams] != [word] * len(streams) or not streams:
            yield f"not {word}: {streams}"
        for key, value in evidence.items():
            if [s["evidence"][key] for s in streams] != [value]:
                yield f"{key}: not {value}: {streams}"
    return also


def receive_buffers(batch, interval_ns, n=40, beside=()):
    """SENDs to a receiver that is short of receive requests, beside other queue pairs."""
    a = Side(0x11, work=tuple(Work("SEND", 4096, at_ns=i * 20_000) for i in range(n)))
    b = Side(0x22, receives=batch, receive_batch=batch, receive_interval_ns=interval_ns,
             rnr_timer=1)
    simulation = simulate(Scenario("short", (QueuePair(a, b), *beside), segments=path_of()))
    return simulation.captures()["sender"]


def short_of_receives(lost):
    """At two points; a packet may be lost between them, which a timer sends again."""
    path = Path(one=0, two=0).send(lambda on, _: on.exchange(50))
    for psn in range(50, 60):
        path.send(lambda on, _, psn=psn: on.write(psn).ack(
            psn, psn, syndrome=roce.rnr_nak(1)).wait(20_000).write(psn).ack(psn, psn + 1))
    path.send(lambda on, _: on.write(60), at=("one",) if lost else None)
    path.send(lambda on, _: on.wait(5_000_000).write(60).ack(60, 61).exchange(20, 61))
    return path.bytes()


def says(text):
    def look(_report, found):
        yield from (f["detail"] for f in found if text not in f["detail"])
    return look


def in_one_of_two():
    """And another queue pair, of WRITEs, which nothing holds up."""
    writes = Side(0x33, work=tuple(Work("WRITE", 4096, at_ns=i * 20_000) for i in range(40)))
    return receive_buffers(4, 100_000, beside=(QueuePair(writes, Side(0x44)),))


def told_of_one(_report, found):
    yield from (f["title"] for f in found if "up in 1 of 2 queue pairs, for" not in f["title"])


def one_way(data, source):
    """The packets of a classic pcap that come from this address."""
    out, at_byte = bytearray(data[:24]), 24
    while at_byte < len(data):
        size = int.from_bytes(data[at_byte + 8:at_byte + 12], "little")
        record = data[at_byte:at_byte + 16 + size]
        if record[16 + 26:16 + 30] == source:
            out += record
        at_byte += 16 + size
    return bytes(out)


def credits_in_a_pause():
    """And its NIC pauses when the first of them run out."""
    pcap = roce.Pcap()
    packets = list(roce.pcap_packets(credits()))
    for i, (time_ns, _length, frame) in enumerate(packets):
        pcap.add(time_ns, frame)
        if i == 7:
            pcap.add(time_ns + 1_000, roce.pfc({3: 4_000}, src=roce.MAC_B))
    return pcap.bytes()


def pauses_behind_a_cnp(on):
    """The first packet of the NIC that pauses is a CNP, and only what it sends of that queue
    pair later shows that no router has forwarded it."""
    on.packet("b", "CNP", 0, payload=bytes(16), becn=True, ip={"tos": 48 << 2})
    for i in range(40):
        on.exchange(1, i).frame(roce.pfc({3: 4_000}, src=roce.MAC_B)).wait(21_000)


def slow_acks(at_receiver_ns, n=80):
    """ACKs that come ever later behind their requests."""
    talk = Conversation()
    for i in range(n):
        talk.request("SEND Only", i).wait(2_000 + i * at_receiver_ns).ack(i).wait(2_000)
    return talk.bytes()


def pauses_and_network(report, found):
    yield from blames("both")(report, found)
    if "in queues that its pauses fill" not in found[0]["detail"]:
        yield found[0]["detail"]


AT_RECEIVER = ("--captured-at", "10.9.0.2")

SLOW = (
    Row("slow_receiver", FIRES, "its NIC asks for pauses",
        lambda: at("leaf0_h3", slow_host()), "warning"),
    Row("slow_receiver", FIRES, "its NIC asks for pauses, and the switch marks: both",
        lambda: at("leaf0_h3", slow_host(marks={"kmin_bytes": 5_000, "kmax_bytes": 20_000})),
        "warning", also=pauses_and_network),
    Row("slow_receiver", FIRES, "its NIC asks for pauses, and the first that it sends is a CNP",
        wire(pauses_behind_a_cnp), "warning", ("--link-speed", "100G")),
    Row("slow_receiver", FIRES, "RNR NAKs for a quarter of the time",
        lambda: receive_buffers(4, 100_000), "warning"),
    Row("slow_receiver", FIRES, "the same at two points", lambda: short_of_receives(False), "warning",
        also=says("Nothing speaks of the network.")),
    Row("slow_receiver", FIRES, "and the last packet is lost between them",
        lambda: short_of_receives(True), "warning", also=says("the network has its part.")),
    Row("slow_receiver", FIRES, "the same, of one queue pair of two", in_one_of_two,
        "warning", also=told_of_one),
    Row("slow_receiver", FIRES, "credits run out, and the sender waits for them",
        credits, "warning", also=blames("receiver", credit_waits=8, credits_out=8,
                                        credit_wait_ns=8 * (2_000 + 40_000 + 3_000))),
    Row("slow_receiver", FIRES, "and it pauses: no filter finds all of the frames",
        credits_in_a_pause, "warning", ("--link-speed", "100G"),
        also=lambda _report, found: [found[0]["wireshark_filter_all"]]
        if found[0]["wireshark_filter_all"] or "XOFF 1" not in found[0]["detail"] else []),
    Row("slow_receiver", FIRES, "it goes on just soon enough to have waited",
        lambda: credits(resume_ns=100_000), "warning"),
    Row("slow_receiver", FIRES, "at its NIC ACKs take ever longer: for how long it held the "
        "sender up is not known", lambda: slow_acks(2_000), "note", AT_RECEIVER,
        blames("receiver", at_receiver=True, slow_acks=52)),
    Row("slow_receiver", NOT, "marks and CNPs alone speak of the network",
        lambda: at("h3", fabric_scenarios.scenario("incast_ecn")),
        also=blames("network")),
    Row("slow_receiver", NOT, "its NIC pauses another priority",
        lambda: at("leaf0_h3", slow_host()), None, ("--dscp-map", "26:4")),
    Row("slow_receiver", NOT, "the same waits, and no limit of credits",
        lambda: credits(limited=False)),
    Row("slow_receiver", NOT, "credits run out, but the sender has nothing more to send",
        lambda: credits(resume_ns=100_001)),
    Row("slow_receiver", NOT, "one short wait in a long stream",
        lambda: receive_buffers(39, 600_000, 200)),
    Row("slow_receiver", NOT, "at its NIC, ACKs take a little longer",
        lambda: slow_acks(500), None, AT_RECEIVER),
    Row("slow_receiver", CANNOT, "what a switch asks of its sender may have any cause",
        lambda: at("leaf0_h0", slow_host())),
    Row("slow_receiver", CANNOT, "pauses, but the speed of the link is not known: a note",
        lambda: classic("leaf0_h3", slow_host()), "note"),
    Row("slow_receiver", CANNOT, "ACKs that grow slow elsewhere may be a queue",
        lambda: slow_acks(2_000), also=blames("undecidable")),
    Row("slow_receiver", CANNOT, "of the credits nothing was captured",
        lambda: one_way(credits(), bytes([10, 9, 0, 1]))),
)

# --- source ports --------------------------------------------------------------------


def entropy(bits, possible, shared):
    def also(report, _found):
        pair = next(p for p in report["spreading"]["pairs"] if p["dst"] == "10.9.0.4")
        got = (pair["entropy_bits"], pair["possible_bits"],
               [len(s["streams"]) for s in pair["shared_five_tuples"]])
        if got != (bits, possible, shared):
            yield f"{got}, not {bits} of {possible} bits, shared by {shared}"
    return also


def marked(n, others):
    return same_port(n, others, kmin_bytes=0, kmax_bytes=1, marked_priorities=(3,))


def without_ports():
    """RoCEv1 has no ports: two queue pairs."""
    pcap = roce.Pcap()
    for n in range(20):
        ip = roce.Ip("fd00::1", "fd00::2")
        ib = roce.transport(roce.OPCODE["RC SEND Only"], dest_qpn=0x10 + n % 2, psn=n // 2,
                            payload=bytes(256))
        pcap.add(10**18 + n * 1_000, roce.ethernet(
            roce.rocev1(ip, ib), ethertype=roce.ETHERTYPE_ROCEV1))
    return pcap.bytes()


def ports_in_turn(*of):
    """Queue pairs of two hosts; the data of each has these source ports, in turn."""
    pcap = roce.Pcap()
    for n in range(120):
        qp, turn = n % len(of), n // len(of)
        ib = roce.transport(roce.OPCODE["RC SEND Only"], dest_qpn=0x10 + qp, psn=turn,
                            payload=bytes(256))
        pcap.add(10**18 + n * 1_000, roce.ethernet(roce.rocev2(
            roce.Ip("10.0.0.1", "10.0.0.2", ident=n), of[qp][turn % len(of[qp])], ib)))
    return pcap.bytes()


PORTS = (
    Row("low_entropy", FIRES, "four queue pairs with one port",
        lambda: at("h3", same_port(4, 0)), "note", also=entropy(0, 2, [4])),
    Row("low_entropy", FIRES, "the same, and marks",
        lambda: at("h3", marked(4, 0)), "warning"),
    Row("low_entropy", NOT, "1.5 bits of 2", lambda: at("h3", same_port(2, 2)),
        also=entropy(1.5, 2, [2])),
    Row("low_entropy", CANNOT, "of three queue pairs a shared port may be chance",
        lambda: at("h3", same_port(3, 0))),
    Row("low_entropy", CANNOT, "RoCEv1 has no ports", without_ports),
    Row("shared_five_tuple", FIRES, "two of four", lambda: at("h3", same_port(2, 2)),
        "note", also=lambda _report, found: () if len(found[0]["streams"]) == 2
        else ["not two streams"]),
    Row("shared_five_tuple", FIRES, "two of four, and one of these two changes its port",
        lambda: ports_in_turn([50_000], [50_000], [50_001], [50_001, 50_002]), "note",
        also=lambda _report, found: () if found[0]["title"].startswith("2 of 4 queue pairs")
        else [found[0]["title"]]),
    Row("shared_five_tuple", NOT, "each has several ports in turn, and shares each of them",
        lambda: ports_in_turn([50_000, 50_001, 50_002], [50_001, 50_002, 50_003],
                              [50_003, 50_000])),
    Row("shared_five_tuple", NOT, "each has its own", named("h3", "siblings")),
    Row("shared_five_tuple", NOT, "low_entropy says it",
        lambda: at("h3", same_port(4, 0))),
    Row("shared_five_tuple", CANNOT, "RoCEv1 has no ports", without_ports),
)

# --- siblings ------------------------------------------------------------------------


SIBLINGS = (
    Row("unfair_siblings", FIRES, "one gets much more than each of two",
        named("h3", "unfair_siblings"), "note"),
    Row("unfair_siblings", NOT, "2.5 : 1", named("h3", "nearly_fair_siblings")),
    Row("unfair_siblings", CANNOT, "one of them may have had nothing to send",
        named("h3", "shy_sibling")),
    Row("unfair_siblings", CANNOT, "one of them fills no packets, however many it sends",
        named("h3", "small_sibling")),
)

# --- order ---------------------------------------------------------------------------

# Two late ones, and three.
LATE_2 = (0, 1, 2, 3, 5, 4, 6, 7, 9, 8, *range(10, 40))
LATE_3 = (0, 1, 2, 3, 5, 4, 6, 7, 9, 8, 11, 10, *range(12, 40))


def order_is(word, writes_only):
    def also(report, _found):
        got = [(s["order"], s["writes_only"]) for s in report["spreading"]["order"]]
        if got != [(word, writes_only)]:
            yield f"{got}, not {word}, {writes_only}"
    return also


def retransmitted_too(report, found):
    """Another finding tells of a retransmission that had nothing to do with spraying."""
    if not any(f["kind"] == "unexplained_round" for f in report["findings"]):
        yield "nothing was retransmitted: the row tests nothing"
    if "neither a NAK nor a retransmission came of that" not in found[0]["detail"]:
        yield found[0]["detail"]


ORDER = (
    Row("spraying", FIRES, "three late, and the receiver took them",
        lambda: chain(LATE_3), "note", also=order_is("out_of_order", True)),
    Row("reordered", NOT, "spraying tells of what came late", lambda: chain(LATE_3)),
    Row("spraying", FIRES, "each packet takes a spine at random",
        lambda: at("h4", fabric_scenarios.scenario("spray_out_of_order")), "note"),
    Row("spraying", FIRES, "and something else was sent again",
        lambda: simulated("out_of_order_sprayed_constant", "receiver"), "note",
        also=retransmitted_too),
    Row("spraying", NOT, "two late: their NAKs may have been missed",
        lambda: chain(LATE_2), also=order_is("undecidable", True)),
    Row("spraying", NOT, "the receiver answers with NAKs, and the sender goes back",
        lambda: at("h4", fabric_scenarios.scenario("spray")),
        also=order_is("go_back_n", False)),
    Row("spraying", NOT, "all in order", lambda: chain(range(40)),
        also=order_is("in_order", True)),
    Row("spraying", CANNOT, "the receiver was not captured",
        lambda: chain(LATE_3, acked=False), also=order_is("undecidable", True)),
)

ROWS = [*INCAST, *SLOW, *PORTS, *SIBLINGS, *ORDER]
