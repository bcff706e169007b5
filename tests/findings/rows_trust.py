# SPDX-License-Identifier: GPL-2.0-or-later
"""How far to trust a capture, and what else stands on the RoCE port."""

import gzip
import json
import os
import pathlib

import roce
import tunnels
from artefacts import DeliverTwice, Drop, MergedQueues, OnePerDirection, PartialPath
from captures import (
    ADDRESS, START_NS, Path, Wire, changed, drop, two_hosts, udp_packet, wire)
from row import CANNOT, FIRES, NOT, Row, both
from rows_loss import detailed
from sim import OUT_OF_ORDER, Impairment, QueuePair, Side, Work

SOURCE = pathlib.Path(os.environ.get("ROCESCOPE_SOURCE",
                                     pathlib.Path(__file__).resolve().parents[2]))
WRITES = (Work("WRITE", 8192),) * 20
SPRAYED = {"a": OUT_OF_ORDER, "b": OUT_OF_ORDER}


def called(text):
    """The title says so."""
    def look(_report, found):
        yield from (f"{text!r} is not in {f['title']!r}" for f in found if text not in f["title"])
    return look


# --- packets -------------------------------------------------------------------------


LENGTH_AT, FRAGMENT_AT, CHECKSUM_AT = 2, 6, 10   # in an IPv4 header
MORE_FRAGMENTS = 0x20


def in_ethernet(on, **fields):
    """RoCE in an IP packet, whole or not."""
    ib = roce.transport(roce.OPCODE["RC RDMA WRITE Only"], dest_qpn=0x22, psn=20,
                        headers=roce.reth(0, 0, 64), payload=bytes(64))
    return roce.ethernet(roce.rocev2(on.ip("a", **fields), 50_000, ib))


def fragments(**fields):
    return lambda on: on.exchange(20).frame(in_ethernet(on, dont_fragment=False, **fields))


def damaged(at, bits, has_checksum=True):
    """Bits of its IPv4 header are turned over."""
    def talk(on):
        frame = bytearray(in_ethernet(on))
        frame[14 + at] ^= bits
        if not has_checksum:
            frame[14 + CHECKSUM_AT:14 + CHECKSUM_AT + 2] = bytes(2)
        on.exchange(20).frame(bytes(frame))
    return talk


def says(*texts, never=()):
    """Title, detail or advice have these, and none of those."""
    def look(_report, found):
        said = f"{found[0]['title']}\n{found[0]['detail']}\n{found[0]['advice']}"
        yield from (f"{text!r} is not in {said!r}" for text in texts if text not in said)
        yield from (f"{text!r} is in {said!r}" for text in never if text in said)
    return look


def on_roce_port(payload):
    def talk(on):
        on.exchange(20)
        on.frame(udp_packet(*ADDRESS.values(), 50_000, roce.ROCE_PORT, payload))
    return talk


def stranger_with(spoil, psn=5, cut=None):
    """A packet of a queue pair that nobody else speaks to."""
    def talk(on):
        on.exchange(20).write(psn, qpn=0x99, icrc_xor=spoil)
    return talk


def promises_more(on):
    """A RETH is to follow, and there is none."""
    on.exchange(20)
    ib = roce.transport(roce.OPCODE["RC RDMA WRITE Only"], dest_qpn=0x22, psn=20)
    on.frame(roce.ethernet(roce.rocev2(on.ip("a"), 50_000, ib)))


def mirrored(snap=None):
    """Each frame in ERSPAN, cut by the mirror or not."""
    def make():
        plain = Wire()
        frames = []
        plain.frame = lambda frame, wire_length=None: frames.append(frame) or plain
        plain.exchange(20)
        out = roce.Pcap()
        for i, frame in enumerate(frames):
            kept = frame[:snap] if snap else frame
            carried = tunnels.gre(tunnels.GRE_ERSPAN,
                                  tunnels.erspan2(kept, truncated=bool(snap)), sequence=i)
            out.add(START_NS + 1000 * i, roce.ethernet(
                tunnels.OUTER4.wrap(tunnels.IPPROTO_GRE, carried),
                **tunnels.OUTER_MACS))
        return out.bytes()
    return make


def flush(syndrome_xor):
    def talk(on):
        on.exchange(20)
        on.packet("a", "RC FLUSH", 20, headers=roce.feth(0, 1) + roce.reth(0, 0, 4096),
                  icrc_xor=syndrome_xor)
        on.exchange(20, 21)
    return talk


def cnp(spoil):
    def talk(on):
        on.exchange(20)
        on.frame(roce.ethernet(roce.cnp(on.ip("b", tos=48 << 2), 0, 0x11, icrc_xor=spoil)))
    return talk


def commented(text):
    """Somebody comments on the capture, in which some packets are missing."""
    on, out = Wire(), roce.Pcapng(comment=text)
    frames = []
    on.frame = lambda frame, wire_length=None: frames.append(frame) or on
    on.exchange(20)
    for i, frame in enumerate(frames):
        if i not in (4, 6):
            out.add(START_NS + 1000 * i, frame)
    return out.bytes()


def drops(n):
    """What the capture says of itself."""
    def make():
        out = roce.Pcapng()
        plain = roce.Pcap()
        on = Wire()
        on.pcap = plain
        frames = []
        on.frame = lambda frame, wire_length=None: frames.append(frame) or on
        on.exchange(20)
        for i, frame in enumerate(frames):
            out.add(START_NS + 1000 * i, frame)
        if n is not None:
            out.add_statistics(START_NS + 10**6, received=40 + n, dropped=n)
        return out.bytes()
    return make


def stepping(*steps):
    """Waits between exchanges, backwards as well."""
    def talk(on):
        for i, step in enumerate(steps):
            on.exchange(10, 10 * i).wait(step)
    return talk


def request(comm_id=1):
    return roce.cm_req(0x1000 + comm_id, comm_id=comm_id, qpn=0x10 + comm_id, mtu=1024,
                       starting_psn=0, retry_count=7, src=ADDRESS["a"], dst=ADDRESS["b"])


def mads(*messages, apart_ns=0):
    """(sender, message) each; None: it is missing."""
    def talk(on):
        for psn, (sender, mad) in enumerate(messages):
            if mad is None:
                continue
            packet = roce.rocev2(on.ip(sender), 50_000, roce.gsi(mad, psn))
            on.frame(roce.ethernet(packet)).wait(apart_ns)
    return talk


def cm(answer):
    return mads(("a", request()), ("b", answer))


def many_ask(on):
    for n in range(8):
        on.frame(roce.ethernet(roce.rocev2(
            on.ip("a", src=f"10.0.0.{11 + n % 4}"), 50_000, roce.gsi(request(), n))))


def refused(comm_id, reason=8):
    return (("a", request(comm_id)), ("b", roce.cm_rej(
        0x1000 + comm_id, remote_comm_id=comm_id, reason=reason)))


def services(*requests):
    """Each of a host, a request id, and the status of the REP to it."""
    service = 0x0000000001111D2F
    hosts = {"a": "10.0.0.1", "c": "10.0.0.3"}

    def talk(on):
        for n, (host, request_id, status) in enumerate(requests):
            asker, asked = hosts[host], "10.0.0.2"
            on.frame(roce.ethernet(roce.rocev2(
                roce.Ip(asker, asked, ident=n), 50_000, roce.gsi(roce.cm_sidr_req(
                    n, request_id=request_id, service_id=service), n))))
            if status is not None:
                on.frame(roce.ethernet(roce.rocev2(
                    roce.Ip(asked, asker, ident=n), 50_000, roce.gsi(roce.cm_sidr_rep(
                        n, request_id=request_id, qpn=0, service_id=service,
                        status=status), n))))
    return talk


def given_up(comm_id):
    return ("a", roce.cm_rej(0x1000 + comm_id, comm_id=comm_id, remote_comm_id=0, reason=4))


def says_nothing_of(kind):
    return lambda report, _found: [f"there is {kind}" for f in report["findings"]
                                   if f["kind"] == kind]


def titles(*wanted):
    def also(_report, found):
        got = [f["title"] for f in found]
        return [] if got == list(wanted) else [f"{got}, not {list(wanted)}"]
    return also


def pausing(n, **how):
    """So many ports that pause somebody."""
    def talk(on):
        on.exchange(20)
        for i in range(n):
            on.frame(roce.pfc({3: 100}, src=b"\2\1" + i.to_bytes(4, "big")))
    return wire(talk, **how)


# --- files ---------------------------------------------------------------------------


def two_files(first, second, wait_ns):
    """The second goes on behind the first."""
    on, then = Wire(), Wire()
    on.exchange(first)
    then.now, then.ident = on.now + wait_ns, on.ident
    then.exchange(second, first)
    return {"x_1.pcap": on.bytes(), "x_2.pcap": then.bytes()}


def with_map(made, rows):
    """A table of queue pairs beside the capture."""
    def make():
        table = json.dumps([{"ifname": "dev", "lqpn": lqpn, "rqpn": rqpn, "type": "RC",
                             "state": "RTS"} for lqpn, rqpn in rows])
        return {"capture.pcap": made(), "map.json": table.encode()}
    return make


def sliced(n):
    """Frames that were cut before they came to the capture, which knows of no other length."""
    def cut(packets):
        return [(time_ns, min(length, n), frame[:n]) for time_ns, length, frame in packets]
    return changed(lambda: {"tap.pcap": wire(lambda on: on.exchange(20))()}, tap=cut)


def as_much_as_with_a_snap_length(report, found):
    """Streams, and how long their packets were."""
    [data] = [s for s in report["streams"] if s["payload_bytes"] > 0]
    counts = (data["packets"], data["payload_bytes"], data["wire_bytes"])
    if counts != (20, 20 * 1024, 20 * (14 + 20 + 8 + 12 + 16 + 1024 + 4)):
        yield f"packets, payload and bytes: {counts}"
    if report["capture"]["snaplen_truncated_packets"] != 20:
        yield f"{report['capture']['snaplen_truncated_packets']} cut"
    if not found[0]["title"].endswith("cut before they were captured"):
        yield found[0]["title"]


def two_ports(ways=("a", "b")):
    """The ports of a and b are mirrored, both as packets come in and as they go out, and
    that to c is not: between the copies the switch marks every other packet."""
    def copy(frame, mark):
        return frame[:15] + bytes([frame[15] | (roce.ECN_CE if mark else 0)]) + frame[16:]

    def mirror(packets):
        senders = [bytes(map(int, ADDRESS[way].split("."))) for way in ways]
        for i, (time_ns, length, frame) in enumerate(packets):
            yield time_ns, length, frame
            if frame[26:30] in senders:
                yield time_ns + 300, length, copy(frame, i % 2 == 0)

    def talk(on):
        for psn in range(30):
            on.write(psn).ack(psn, psn + 1)
            on.write(psn, ip={"src": "10.0.0.3"}, qpn=0x33)
    return changed(lambda: {"mirror.pcap": wire(talk)()}, mirror=mirror)


def tunnel_begins():
    """Of a host's two devices, packets come bare by one and in VXLAN by the other."""
    def mirror(packets):
        for time_ns, length, frame in packets:
            inside = tunnels.carry_udp(tunnels.PORT_VXLAN, tunnels.vxlan(5000, frame))
            copies = [(length, frame), (length + len(inside) - len(frame), inside)]
            goes_in = frame[26:30] == bytes(map(int, ADDRESS["a"].split(".")))
            for i, copy in enumerate(copies if goes_in else reversed(copies)):
                yield time_ns + 300 * i, *copy
    return changed(lambda: {"any.pcap": wire(lambda on: on.exchange(30))()}, any=mirror)


def one_network(report, found):
    """Both directions are of the network outside, and a pair."""
    tenants = [s["tenant"] for s in report["streams"]]
    if any(tenants) or len(report["connections"]) != 1:
        yield f"tenants {tenants}, {len(report['connections'])} connections"
    if "in a tunnel" not in found[0]["detail"]:
        yield found[0]["detail"]


def copies_left_out(report, found):
    """They are those of 30 WRITEs, of which 15 were marked, and their ACKs."""
    n = report["capture"]["capture_duplicates"]
    if n != 60:
        yield f"{n} copies were left out, not 60"
    if "2 hosts" not in found[0]["title"]:
        yield found[0]["title"]
    marked = report["totals"]["ecn"]["ce"]
    if marked != 15:
        yield f"{marked} are marked, not 15"


def missing_at_the_receiver(report, found):
    """The sender's capture has more packets, and none of them missing."""
    n = sum(s["losses"]["requests"]["unknown"] for s in report["streams"])
    titles = [f["title"] for f in found]
    if not titles[0].startswith(f"{n} packets lost between "):
        yield f"{n} were lost, and {titles}"
    missing = [s["requests"]["missing_psns"] for s in report["streams"]
               if s["requests"]["packets"] > 0]
    if 0 not in missing or max(missing) < 3:
        yield f"{missing} are missing"
    if report["totals"]["requests"]["missing_psns"] != max(missing):
        yield f"{report['totals']['requests']['missing_psns']} are, in all"


def both_points(sample):
    """A sample at both of its points."""
    def make():
        return {f"{point}.pcap": gzip.decompress(
                    (SOURCE / "captures" / sample / f"{point}.pcap.gz").read_bytes())
                for point in ("sender", "receiver")}
    return make


# What nobody acknowledges, beside what is.
UC_AND_RC = two_hosts(at=("sender", "receiver"), cm=False, pairs=tuple(
    QueuePair(Side(0x111 + i, work=WRITES), Side(0x222 + i), transport=transport)
    for i, transport in enumerate(("UC", "RC"))))
UC_ALONE = two_hosts(transport="UC", at=("sender", "receiver"), cm=False)


def missed(*numbers):
    """A capture without these packets, counted from 0."""
    return lambda packets: [p for i, p in enumerate(packets) if i not in numbers]


def missed_of(qpn, *numbers):
    """The same, counted among those to a queue pair."""
    def change(packets):
        of_it = [p for p in packets if p[2][47:50] == qpn.to_bytes(3, "big")]
        left_out = [of_it[n] for n in numbers]
        return [p for p in packets if p not in left_out]
    return change


def either(report, found):
    """It is not said that anything was lost."""
    yield from called("missing, and nothing is sent again")(report, found)
    yield from (f["detail"] for f in found if "lost or only not captured" not in f["detail"])


def behind_the_gaps(report, found):
    """The frames are those of the gaps, and nothing is to be had of the other direction."""
    gaps = [e["frame"] for e in report["events"] if e["kind"] == "gap"]
    if found[0]["frames"] != gaps:
        yield f"{found[0]['frames']}, not {gaps}"
    if "both directions" in found[0]["advice"]:
        yield found[0]["advice"]


def one_direction(missed=()):
    """What one host sends, at two points.  Three packets are lost between these, and are sent
    again with what is near them; `missed` is not captured at the second."""
    path = Path(one=0, two=0)
    for psn in range(60):
        lost = psn in (20, 30, 32)
        path.send(lambda on, _: on.write(psn), at=("one",) if lost or psn in missed else None)
        if psn in (22, 32):
            for again in range(psn - 2, psn + 1):
                path.send(lambda on, _: on.wait(5_000_000 if psn == again + 2 else 0)
                          .write(again))
    return path.bytes()


def counted(undelivered, unknown):
    """The totals say so."""
    def look(report, _found):
        lost = report["totals"]["losses"]["requests"]
        got = lost["undelivered_after_capture"], lost["unknown"]
        if got != (undelivered, unknown) or sum(lost.values()) != sum(got):
            yield f"{lost}"
    return look


def there_is(kind):
    """Another finding tells of it."""
    def look(report, _found):
        kinds = {f["kind"] for f in report["findings"]}
        if kind not in kinds:
            yield f"no {kind}: {kinds}"
    return look


def shown(_report, found):
    """Frames show it."""
    yield from (f["title"] for f in found if not f["frames"])


ROWS = [
    Row("partial_path", FIRES, "a mirror of one of two spines",
        two_hosts(artefacts=(PartialPath(2, by="packet"),), **SPRAYED), "note", also=shown),
    Row("partial_path", NOT, "the capture misses 1 in 100",
        two_hosts(artefacts=(Drop(0.01),))),
    Row("partial_path", CANNOT, "it saw a handful of packets",
        two_hosts((Work("WRITE", 4096),), artefacts=(PartialPath(2, by="packet"),),
                  **SPRAYED)),

    Row("not_captured", FIRES, "the capture misses some",
        two_hosts(artefacts=(Drop(0.02),)), "note"),
    Row("not_captured", FIRES, "where they are sent, and one is asked for again",
        wire(lambda on: on.exchange(20).write(21).ack(20, 20, syndrome=0x60).write(20).write(21)
             .ack(20, 21).ack(21, 22).exchange(20, 22)), "note",
        ("--captured-at", "10.0.0.1"), also=called("sent but not captured")),
    Row("not_captured", NOT, "they were lost, and sent again",
        two_hosts(forward=drop(100))),
    Row("not_captured", CANNOT, "nothing acknowledges",
        two_hosts(transport="UC", artefacts=(Drop(0.02),))),

    Row("undecided", FIRES, "UC acknowledges nothing",
        two_hosts(transport="UC", forward=Impairment(loss=0.02)), "warning",
        also=detailed("the receiver drops the whole message")),
    Row("undecided", FIRES, "so says the receiver's capture, beside that of the sender",
        two_hosts(transport="UC", forward=Impairment(loss=0.02), at=("sender", "receiver")),
        "warning", also=missing_at_the_receiver),
    Row("undecided", FIRES, "UC acknowledges nothing, although CM tells of both directions",
        lambda: "sim_uc_loss/receiver.pcap.gz", "warning", ("--events", "1000"),
        also=behind_the_gaps),
    Row("undecided", FIRES, "so says the receiver's capture of these, beside that of the sender",
        both_points("sim_uc_loss"), "warning", also=called("8 packets lost between")),
    Row("undecided", FIRES, "each of two captures lacks what the other one has",
        changed(UC_ALONE, sender=missed(20, 50), receiver=missed(30, 60, 90)), "warning",
        also=either),
    Row("undecided", FIRES, "what is missing at the sender's NIC came further on",
        changed(UC_ALONE, sender=missed(20, 50)), "warning",
        ("--captured-at", "10.9.0.1={dir}/sender.pcap"), also=either),
    Row("undecided", FIRES, "what is missing at the receiver's NIC may have been lost",
        changed(UC_ALONE, receiver=missed(20, 50)), "warning",
        ("--captured-at", "10.9.0.1={dir}/sender.pcap"),
        also=called("2 packets lost between sender.pcap and receiver.pcap")),
    Row("undecided", FIRES, "the capture missed what others acknowledged",
        changed(changed(UC_AND_RC, receiver=missed_of(0x222, 20, 50)),
                receiver=missed_of(0x223, 30)), "warning", also=either),
    Row("undecided", FIRES, "two points with one direction, all that was sent came to both",
        one_direction, "warning",
        also=both(called("3 packets lost between one.pcap and two.pcap"), counted(3, 0))),
    Row("undecided", FIRES, "the capture ends before the gap is filled",
        wire(lambda on: on.exchange(20).write(21).write(22)), "note",
        also=called("1 packet from 10.0.0.1 to 10.0.0.2 missing, and nothing tells why")),
    Row("undecided", NOT, "the second point misses some of what was sent once, and what was "
                          "sent again has a finding of its own",
        lambda: one_direction(missed=(50,)),
        also=both(there_is("unexplained_round"), counted(0, 2))),
    Row("undecided", NOT, "RC does", two_hosts(forward=drop(100))),
    Row("undecided", CANNOT, "the last packets are the ones that are missing",
        wire(lambda on: on.exchange(40))),

    Row("qp_map_contradicted", FIRES, "the map names another peer",
        with_map(two_hosts(peer_work=WRITES), [(0x111, 0x333)]), "note",
        args=("--qp-map=10.9.0.1={dir}/map.json",)),
    Row("qp_map_contradicted", NOT, "it names the right one",
        with_map(two_hosts(peer_work=WRITES), [(0x111, 0x222)]),
        args=("--qp-map=10.9.0.1={dir}/map.json",)),
    Row("qp_map_contradicted", CANNOT, "it is of a host that is not there",
        with_map(two_hosts(peer_work=WRITES), [(0x111, 0x333)]),
        args=("--qp-map=10.9.0.77={dir}/map.json",)),

    Row("cm_unanswered", FIRES, "asked three times",
        wire(mads(*[("a", request())] * 3, apart_ns=10**9)), "warning",
        also=titles("10.0.0.1 asks 10.0.0.2 for a connection, and nothing answers")),
    Row("cm_unanswered", FIRES, "and given up: of two, one at once",
        wire(mads(*[("a", request())] * 2, given_up(1), ("a", request(2)), given_up(2))),
        "warning", also=both(
            titles("10.0.0.1 asks 10.0.0.2 for 2 connections, and nothing answers"),
            says_nothing_of("cm_rejected"))),
    Row("cm_unanswered", FIRES, "of four hosts that ask one, all are told in one",
        wire(many_ask), "warning", also=titles(
            "10.0.0.11, 10.0.0.12 and 2 more ask 10.0.0.2 for 4 connections, and nothing "
            "answers")),
    Row("cm_unanswered", NOT, "asked again, and then refused",
        wire(mads(("a", request()), *refused(1)))),
    Row("cm_unanswered", NOT, "asked again, told to wait",
        wire(mads(("a", request()), ("a", request()), ("b", roce.cm_mra(
            0x1001, comm_id=2, remote_comm_id=1))))),
    Row("cm_unanswered", NOT, "the answer was not captured, but that it came shows",
        wire(mads(("a", request()), ("a", request()), ("a", roce.cm_rtu(
            0x1001, comm_id=1, remote_comm_id=2))))),
    Row("cm_unanswered", CANNOT, "asked once, and the capture ends", wire(cm(None))),

    Row("cm_rejected", FIRES, "REJ", wire(cm(roce.cm_rej(
        0x1000, comm_id=2, remote_comm_id=1, reason=28))), "note",
        also=titles("10.0.0.2 rejected a connection from 10.0.0.1: consumer reject")),
    Row("cm_rejected", FIRES, "of three, two for one reason",
        wire(mads(*refused(1), *refused(2, 28), *refused(3))), "note",
        also=titles("10.0.0.2 rejected 2 connections from 10.0.0.1: invalid service ID",
                    "10.0.0.2 rejected a connection from 10.0.0.1: consumer reject")),
    Row("cm_rejected", FIRES, "who asked does not want what it gets",
        wire(mads(("a", request()),
                  ("b", roce.cm_rep(0x1001, comm_id=2, remote_comm_id=1, qpn=0x22,
                                    starting_psn=0)),
                  ("a", roce.cm_rej(0x1001, comm_id=1, remote_comm_id=2, reason=28)))),
        "note", also=titles("10.0.0.1 gave up a connection to 10.0.0.2: consumer reject")),
    Row("service_refused", FIRES, "two hosts ask, one of them twice, and the REP comes again",
        wire(services(("a", 1, 1), ("c", 2, 1), ("a", 3, 1), ("a", 3, 1))), "note",
        also=titles("10.0.0.2 refused 3 requests from 10.0.0.1 and 10.0.0.3 for port 7471: "
                    "service ID not supported")),
    Row("service_refused", FIRES, "for two reasons",
        wire(services(("a", 1, 1), ("a", 2, 3))), "note",
        also=titles("10.0.0.2 refused 1 request from 10.0.0.1 for port 7471: "
                    "service ID not supported",
                    "10.0.0.2 refused 1 request from 10.0.0.1 for port 7471: "
                    "no QP available")),
    Row("service_refused", NOT, "it gives its queue pair", wire(services(("a", 1, 0)))),
    Row("service_refused", CANNOT, "the answer is missing", wire(services(("a", 1, None)))),
    Row("cm_rejected", NOT, "REP", wire(cm(roce.cm_rep(
        0x1000, comm_id=2, remote_comm_id=1, qpn=0x22, starting_psn=0)))),
    Row("cm_rejected", CANNOT, "the answer is missing", wire(cm(None))),

    Row("clock_steps_back", FIRES, "a microsecond back",
        wire(stepping(-2_000, 0)), "note"),
    Row("clock_steps_back", NOT, "two packets with one stamp", wire(stepping(-1_000, 0))),
    Row("clock_steps_back", CANNOT, "one packet alone", wire(lambda on: on.write(1))),

    Row("truncated", FIRES, "cut behind the headers",
        wire(lambda on: on.exchange(20), snap_length=96), "note"),
    Row("truncated", FIRES, "a tap aggregator cut them", sliced(96), "note",
        also=as_much_as_with_a_snap_length),
    Row("malformed", NOT, "a tap aggregator cut them", sliced(96)),
    Row("truncated", NOT, "the snap length is the longest packet's",
        wire(lambda on: on.exchange(20), snap_length=14 + 20 + 8 + 12 + 16 + 1024 + 4)),
    Row("truncated", CANNOT, "the mirror cut, and its frames are whole", mirrored(96)),

    Row("mirror_cut", FIRES, "the mirror carries 96 bytes", mirrored(96), "note"),
    Row("mirror_cut", NOT, "it carries whole frames", mirrored()),
    Row("mirror_cut", CANNOT, "there is no mirror",
        wire(lambda on: on.exchange(20), snap_length=96)),

    Row("headers_cut", FIRES, "ACKs without their syndrome",
        wire(lambda on: on.exchange(20), snap_length=54), "note"),
    Row("headers_cut", NOT, "with it", wire(lambda on: on.exchange(20), snap_length=58)),
    Row("headers_cut", FIRES, "not even the BTH is there",
        wire(lambda on: on.exchange(20), snap_length=50), "note"),
    Row("headers_cut", CANNOT, "nor the UDP header",
        wire(lambda on: on.exchange(20), snap_length=40)),

    Row("malformed", FIRES, "a RETH is promised", wire(promises_more), "warning",
        also=says("1 malformed packet", never=("damaged:",))),
    Row("malformed", FIRES, "a bit of its length was turned over",
        wire(damaged(LENGTH_AT, 0x40)), "warning", also=says("1 was damaged: the checksum")),
    Row("malformed", FIRES, "and its checksum was left out",
        wire(damaged(LENGTH_AT, 0x40, has_checksum=False)), "warning", also=says(never=("damaged:",))),
    Row("malformed", NOT, "all is there", wire(lambda on: on.exchange(20))),
    Row("malformed", CANNOT, "the snap length cut where it would be",
        wire(lambda on: on.exchange(20), snap_length=60)),

    Row("fragments", FIRES, "the first of more", wire(fragments(more_fragments=True)),
        "warning", also=says("1 IP fragment\n", "Raise the IP MTU", never=("damaged",))),
    Row("fragments", FIRES, "a bit of a packet was turned over, which is none",
        wire(damaged(FRAGMENT_AT, MORE_FRAGMENTS)), "warning", also=says(
            "1 damaged packet looks like an IP fragment", "It is none", "No MTU is to blame")),
    Row("fragments", FIRES, "and its checksum was left out: nobody knows",
        wire(damaged(FRAGMENT_AT, MORE_FRAGMENTS, has_checksum=False)), "warning",
        also=says("1 IP fragment\n", never=("damaged",))),
    Row("fragments", FIRES, "one of two is damaged", wire(lambda on: (
        fragments(fragment_offset=100)(on), damaged(FRAGMENT_AT + 1, 1)(on))), "warning",
        also=says("2 IP fragments\n", "1 is a damaged packet and no fragment",
                  "Raise the IP MTU")),
    Row("fragments", FIRES, "the last", wire(fragments(fragment_offset=100)), "warning"),
    Row("fragments", NOT, "it may be fragmented and is not", wire(fragments())),
    Row("fragments", CANNOT, "the IP header was cut off",
        wire(fragments(more_fragments=True), snap_length=18)),

    Row("icrc_orphans", FIRES, "a bad ICRC, and nothing else of that stream",
        wire(stranger_with(1)), "warning"),
    Row("icrc_orphans", NOT, "a good one opens a stream", wire(stranger_with(0))),
    Row("icrc_orphans", CANNOT, "the ICRC was cut off",
        wire(stranger_with(1), snap_length=96)),

    Row("extract", FIRES, "rocescope extract says that it left packets out",
        lambda: commented("rocescope extract with gaps: of 40 packets"), "note"),
    Row("extract", NOT, "somebody says something else",
        lambda: commented("extract with gaps")),
    Row("extract", CANNOT, "the format has no comments", wire(lambda on: on.exchange(20))),

    Row("capture_drops", FIRES, "the capture dropped one", drops(1), "warning"),
    Row("capture_drops", NOT, "it dropped none", drops(0)),
    Row("capture_drops", CANNOT, "it does not say", drops(None)),

    Row("capture_duplicates", FIRES, "a mirror of the way in and the way out",
        two_hosts(artefacts=(DeliverTwice(),)), "note"),
    Row("capture_duplicates", NOT, "the network makes copies",
        two_hosts(forward=Impairment(duplicate=0.05))),
    Row("capture_duplicates", FIRES, "two ports of a switch, which marks between the copies",
        two_ports(), "warning", also=copies_left_out),
    Row("capture_duplicates", FIRES, "a tunnel begins between the copies", tunnel_begins(),
        "note", also=one_network),
    Row("capture_duplicates", NOT, "two hosts' packets come twice to a host, where no switch "
        "is that could mirror", two_ports(), args=("--captured-at=10.0.0.2",)),
    Row("capture_duplicates", NOT, "the copies go one way, so that the network may make them",
        two_ports(ways=("a",))),
    Row("capture_duplicates", CANNOT, "too few packets to tell",
        two_hosts((Work("WRITE", 64),), cm=False, artefacts=(DeliverTwice(),))),

    Row("merged_queues", FIRES, "queues that were written one after the other",
        two_hosts(artefacts=(MergedQueues(),), peer_work=WRITES), "note"),
    Row("merged_queues", NOT, "packets come late, and their stamps are in order",
        two_hosts(forward=Impairment(reorder=0.1, reorder_ns=20_000))),
    Row("merged_queues", CANNOT, "stamps step back, and PSNs do not",
        wire(stepping(-5_000, 0))),

    Row("overlapping_files", FIRES, "two points of one path",
        two_hosts(at=("sender", "receiver")), "note"),
    Row("overlapping_files", NOT, "the second goes on behind the first",
        lambda: two_files(40, 40, 1_000)),
    Row("overlapping_files", CANNOT, "there is one file",
        wire(lambda on: on.exchange(20))),

    Row("tables_full", FIRES, "more senders of pauses than fit", pausing(4097), "note"),
    Row("tables_full", NOT, "as many as fit", pausing(4096)),
    Row("tables_full", CANNOT, "their frames were cut off", pausing(4097, snap_length=16)),

    Row("not_infiniband", FIRES, "header version 7",
        wire(on_roce_port(b"\x04\x07" + bytes(40))), "note"),
    Row("not_infiniband", NOT, "header version 0", wire(lambda on: on.exchange(20))),
    Row("not_infiniband", CANNOT, "the port is another one",
        wire(lambda on: on.exchange(20).frame(udp_packet(
            *ADDRESS.values(), 50_000, 4792, b"\x04\x07" + bytes(40))))),

    Row("flush_icrc", FIRES, "as soft-RoCE reckons it", wire(flush(1)), "note"),
    Row("flush_icrc", NOT, "as the standard has it", wire(flush(0))),
    Row("flush_icrc", CANNOT, "nobody is to look", wire(flush(1)), args=("--icrc=off",)),

    Row("cnp_icrc", FIRES, "an ICRC of its own", wire(cnp(1)), "note"),
    Row("cnp_icrc", NOT, "the ICRC of the standard", wire(cnp(0))),
    Row("cnp_icrc", CANNOT, "nobody is to look", wire(cnp(1)), args=("--icrc=off",)),
]
