# SPDX-License-Identifier: GPL-2.0-or-later
"""Pauses: how long, of whom, who obeys them, and how they go on."""

import dataclasses
from functools import partial

import fabric_scenarios
import roce
from captures import MAC, START_NS, Wire, wire
from dcqcn import Notification
from fabric import FabricHost, simulate_fabric
from row import CANNOT, FIRES, NOT, Row, both
from rows_loss import advises, details, dropped_behind, missed_before
from switch import Routing

US, MS, S = 1_000, 1_000_000, 1_000_000_000
SPEED = ("--link-speed", "100G")
LONGEST_NS = 335_539             # of 0xFFFF quanta at 100 Gb/s
SWITCH = b"\2\1\0\0\0\1"
ROUTER = (b"\2\1\0\0\0\x0a", b"\2\1\0\0\0\x0b")     # its ports
MAC_CONTROL = b"\x88\x08"  # EtherType
XOFF, XON = (partial(roce.pfc, {3: quanta}) for quanta in (0xFFFF, 0))


# --- fabrics -------------------------------------------------------------------------


def again(records, times):
    """The same so many times, one after the other; all but the first time pauses alone."""
    span_ns = max(r.time_ns for r in records) - min(r.time_ns for r in records) + 100_000
    return [dataclasses.replace(r, time_ns=r.time_ns + i * span_ns)
            for i in range(times) for r in records
            if i == 0 or r.frame[12:14] == MAC_CONTROL]


def fabric(name, at=None, later_ns=0, times=1, **changes):
    """A scenario, changed, as captured at some of its points: in one file, which begins so
    much later, and has its pauses so many times."""
    def make():
        base = fabric_scenarios.scenario(name)
        names = at or tuple(p.name for p in base.points)
        run = simulate_fabric(dataclasses.replace(
            base, **{"points": tuple(p for p in base.points if p.name in names),
                     "files": {"fabric.pcapng": names}, **changes}))
        for tap in run.taps:
            tap.records = again([r for r in tap.records
                                 if r.time_ns >= START_NS + later_ns], times)
        return run.captures()
    return make


def another(flow):
    """A second queue pair of the same hosts."""
    a, b = flow.pair.a, flow.pair.b
    return dataclasses.replace(flow, pair=dataclasses.replace(
        flow.pair, a=dataclasses.replace(a, qpn=a.qpn + 1),
        b=dataclasses.replace(b, qpn=b.qpn + 1)))


def cnps_later(*which):
    """Of two queue pairs of h0, in front of the switch: CNPs about these come 300 us later."""
    def make():
        base = fabric_scenarios.scenario("marks_before_pauses")
        names = ("leaf0_h0",)
        run = simulate_fabric(dataclasses.replace(
            base, flows=base.flows + (another(base.flows[0]),),
            host=dataclasses.replace(base.host, notification=Notification()),
            points=tuple(p for p in base.points if p.name in names),
            files={"fabric.pcapng": names}))
        late = {base.flows[0].pair.a.qpn + i for i in which}
        for tap in run.taps:
            tap.records = sorted((
                dataclasses.replace(r, time_ns=r.time_ns + 300 * US)
                if is_cnp(r) and int.from_bytes(r.frame[47:50], "big") in late else r
                for r in tap.records), key=lambda r: r.time_ns)
        return run.captures()
    return make


def is_cnp(record):
    return record.frame[12:14] == b"\x08\0" and record.frame[42] == 0x81


# --- by hand -------------------------------------------------------------------------


def named(*ids):
    def look(_report, found):
        if sorted(f["id"] for f in found) != sorted(ids):
            yield f"{[f['id'] for f in found]}"
    return look


def paused(ns, of_ns, kind=roce.pfc):
    """Two hosts; port SWITCH pauses priority 3 once, or the link: so long, in a capture
    of that length."""
    quanta = -(-ns * 1000 // 5120)

    def talk(on):
        on.exchange(10)
        on.frame(kind({3: quanta} if kind is roce.pfc else quanta, src=SWITCH))
        on.now = on.start_ns + of_ns
        on.write(10)
    return talk


def paused_alone(kind):
    """No RoCE at all."""
    def talk(on):
        on.frame(kind(100, src=SWITCH))
        on.wait(10 * MS)
        on.frame(kind(0, src=SWITCH))
    return talk


def held(*lengths_ns, gap_ns=0, refresh_ns=300 * US):
    """Pauses of these lengths, held by refreshes and ended by XON."""
    def talk(on):
        on.exchange(3)
        for length_ns in lengths_ns:
            start = on.now
            for at in range(0, length_ns, refresh_ns):
                on.now = start + at
                on.frame(roce.pfc({3: 0xFFFF}, src=SWITCH))
            on.now = start + length_ns
            on.frame(roce.pfc({3: 0}, src=SWITCH))
            on.now = start + length_ns + gap_ns
        on.write(10)
    return talk


def held_in_several(on):
    """Priorities 3 and 4 at once, by the same frames; 4 until 30 ms later."""
    on.exchange(3)
    start = on.now
    for at in range(0, 280 * MS, 300 * US):
        on.now = start + at
        on.frame(roce.pfc({3: 0xFFFF, 4: 0xFFFF} if at < 250 * MS else {4: 0xFFFF}, src=SWITCH))
    on.write(10)


def held_beside(on):
    """Priority 3 for 200 ms, and 4 for the last 20 ms of that."""
    on.exchange(3)
    start = on.now
    for at in range(0, 200 * MS, 300 * US):
        on.now = start + at
        on.frame(roce.pfc({3: 0xFFFF, **({4: 0xFFFF} if at >= 180 * MS else {})}, src=SWITCH))
    on.now = start + 200 * MS
    on.frame(roce.pfc({3: 0, 4: 0}, src=SWITCH)).write(10)


def on_both_sides(talk):
    """As the mirror of a router has it: all that comes in, and what goes out to b, with another
    pair of MAC addresses and a lower hop limit."""
    def routed(on):
        frame = on.frame

        def twice(data, wire_length=None):
            if data[12:14] != b"\x08\0" or data[:6] != MAC["b"]:
                return frame(data, wire_length)
            frame(ROUTER[0] + data[6:], wire_length)
            ip = bytearray(data[14:34])
            ip[8] -= 1
            ip[10:12] = bytes(2)
            ip[10:12] = roce.internet_checksum(bytes(ip)).to_bytes(2, "big")
            return frame(data[:6] + ROUTER[1] + data[12:14] + bytes(ip) + data[34:], wire_length)
        on.frame = twice
        talk(on)
    return routed


def fired(name, n, after_ns):
    """How often a watchdog fired, and how long after the first XOFF for the first time."""
    def look(report, _found):
        (pause,) = report["pauses"]
        (rating,) = (w for w in pause["watchdogs"] if w["name"] == name)
        first = pause["intervals"][0]["start_ns"] + after_ns if n else None
        if (rating["fired"], rating["first_fired_ns"]) != (n, first):
            yield f"{rating}, not {n} times, first at {first}"
    return look


def sent_anyway(n, *, after_ns=10 * US, mac=roce.MAC_B):
    """So many packets to a host that has paused; each takes a microsecond."""
    def talk(on):
        on.exchange(20)
        on.frame(roce.pfc({3: 0xFFFF}, src=mac))
        on.wait(after_ns - US)
        for i in range(n):
            on.write(20 + i)
        on.wait(MS)
        on.write(20 + n)
    return talk


def to_third_host(on):
    """A packet of host a, which all have then: it is at the other end of the link."""
    packet = roce.rocev2(on.ip("a"), 50_001, roce.transport(
        roce.OPCODE["RC Acknowledge"], psn=0, headers=roce.aeth(0, 0), dest_qpn=0x33))
    on.frame(roce.ethernet(packet, src=roce.MAC_A, dst=b"\2\0\0\0\0\x33"))


def held_by_both(*frames, ns=0):
    """A port of the network pauses host a for 300 ms; before, so far apart, the NIC of a sent
    these frames."""
    def talk(on):
        to_third_host(on)
        for frame in frames:
            on.frame(frame(src=roce.MAC_A)).wait(ns - US)
        held(300 * MS)(on.wait(US))
    return wire(talk)


def bridged(n, sender="a", third=True):
    """The port of a bridge pauses host a, of which so many packets come all the same; or
    of host b, which it does not pause.  A third host tells who is at the other end."""
    def talk(on):
        on.exchange(20)
        if third:
            to_third_host(on)
        on.frame(roce.pfc({3: 0xFFFF}, src=SWITCH))
        on.wait(9 * US)
        for i in range(n):
            on.write(20 + i, sender=sender)
        on.wait(MS).write(20 + n, sender=sender)
    return talk


def behind_router(n, sender="a"):
    """A router has one MAC address for what it forwards, and another one for its port,
    which pauses host a."""
    def talk(on):
        for i in range(10):
            on.write(i).ack(i, i + 1, ip={"ttl": 62})
        on.frame(roce.pfc({3: 0xFFFF}, src=SWITCH))
        on.wait(9 * US)
        for i in range(n + 1):
            on.wait(MS if i == n else 0)
            on.write(10 + i, sender=sender, ip={"ttl": 64 if sender == "a" else 62})
    return talk


def behind_another(own_ns):
    """Data goes through a router to a next one, whose port pauses for 1 ms; the router's own
    port pauses the sender in consequence, and for so long once more later."""
    port, out, following = (b"\2\0\0\0\3" + bytes([i]) for i in (2, 3, 4))

    def make():
        file = roce.Pcapng([roce.Interface(name=name) for name in ("in", "out")])
        frames = []

        def pause(at_ns, ns, interface, mac):
            for ahead in range(0, ns, 300 * US):
                frames.append((at_ns + ahead, interface, roce.pfc({3: 0xFFFF}, src=mac)))
            frames.append((at_ns + ns, interface, roce.pfc({3: 0}, src=mac)))

        def write(at_ns, psn):
            for interface, src, dst in ((0, MAC["a"], port), (1, out, following)):
                ip = roce.Ip("10.0.0.1", "10.0.0.2", ident=psn + 1, ttl=64 - interface,
                             tos=26 << 2 | roce.ECN_ECT0)
                ib = roce.transport(roce.OPCODE["RC RDMA WRITE Only"], psn=psn, dest_qpn=0x22,
                                    headers=roce.reth(0, 7, 1024), payload=bytes(1024))
                frames.append((at_ns + interface * US, interface, roce.ethernet(
                    roce.rocev2(ip, 50_000, ib), src=src, dst=dst)))

        start = START_NS
        for psn in range(400):
            write(start + psn * 5 * US + (2 * MS if psn >= 200 else 0)
                  + (2 * MS if psn >= 300 else 0), psn)
        pause(start + 1_001 * US, MS, 1, following)
        pause(start + 1_011 * US, 990 * US, 0, port)
        pause(start + 3_520 * US, own_ns, 0, port)
        for at_ns, interface, frame in sorted(frames):
            file.add(at_ns, frame, interface=interface)
        return file.bytes()
    return make


def shared(talk):
    """The port that pauses forwards, by its MAC address, to several others: it is several
    ports."""
    def several(on):
        for i, receiver in enumerate((b"\2\0\0\0\0\x41", b"\2\0\0\0\0\x42")):
            packet = roce.rocev2(on.ip("a", ttl=62), 50_001, roce.transport(
                roce.OPCODE["RC Acknowledge"], psn=0, headers=roce.aeth(0, 0),
                dest_qpn=0x40 + i))
            on.frame(roce.ethernet(packet, src=SWITCH, dst=receiver))
            on.frame(roce.ethernet(packet, src=receiver, dst=SWITCH))
        talk(on)
    return several


def by_switch(talk):
    """What is bound for host b goes by the port that pauses."""
    def rerouted(on):
        plain = on.frame
        on.frame = lambda frame: plain(
            SWITCH + frame[6:] if frame[:6] == roce.MAC_B else frame)
        talk(on)
    return rerouted


class TwoWayWire(Wire):
    """Captured at host a, by an interface that knows what it sends and takes in."""

    def __init__(self):
        super().__init__()
        self.pcap = roce.Pcapng([roce.Interface(speed_bps=100 * 10**9)])

    def frame(self, frame, wire_length=None):
        direction = "out" if frame[6:12] == roce.MAC_A else "in"
        self.pcap.add(self.now, frame, direction=direction)
        self.now += US
        return self


def two_way(talk):
    def make():
        on = TwoWayWire()
        talk(on)
        return on.bytes()
    return make


def hold_link(on):
    """By 802.3x, for 200 ms."""
    on.exchange(3)
    start = on.now
    for at in range(0, 200 * MS, 300 * US):
        on.now = start + at
        on.frame(roce.pause(0xFFFF, src=SWITCH))
    on.now = start + 200 * MS
    on.frame(roce.pause(0, src=SWITCH)).write(10)


def all_frames(by):
    """The filter that shows all frames, of which the finding names some."""
    def look(_report, found):
        if found[0]["wireshark_filter_all"] != by:
            yield found[0]["wireshark_filter_all"]
    return look


def n_frames(n):
    def look(_report, found):
        if len(found[0]["frames"]) != n:
            yield f"{len(found[0]['frames'])} frames, not {n}: {found[0]['frames']}"
    return look


def captured(way):
    def look(report, _found):
        (pause,) = report["pauses"]
        if (pause["captured"], pause["direction_by"]) != (way, "absence"):
            yield f"{pause['captured']}, {pause['direction_by']}"
    return look


def says(*words):
    """All of these stand in title or detail."""
    def look(_report, found):
        text = found[0]["title"] + " " + found[0]["detail"]
        yield from (f"{word!r} is not in {text!r}" for word in words if word not in text)
    return look


def told_once(report, found):
    """What stands in these details, no finding of pauses tells again."""
    for other in report["findings"]:
        if other["kind"] == "pfc" and other["title"].split()[0] in found[0]["detail"]:
            yield other["title"]


def held_streams(*ends):
    """(from, to) of the streams named, at whatever point."""
    def look(report, found):
        by_id = {s["id"]: (s["src"], s["dst"]) for s in report["streams"]}
        got = {by_id[i] for i in found[0]["streams"]}
        if got != set(ends):
            yield f"{sorted(got)}, not {sorted(ends)}"
    return look


def order_unknown(why):
    def look(report, _found):
        got = {p["order"]["unknown"] for p in report["pauses"]}
        if got != {why}:
            yield f"{got}, not {why}"
    return look


CASCADE = fabric_scenarios.scenario("cascade")
NOT_ECT = FabricHost(tos=26 << 2)
EDGES = ("leaf1_h7", "leaf0_h0")
# Packet by packet over two spines, one hop captured on the one way, one on the other.
SPRAYED = {"topology": fabric_scenarios.TWO_LEAVES,
           "switch": dataclasses.replace(CASCADE.switch, routing=Routing("random"))}
OTHER_SPINE = tuple(map(fabric_scenarios.at_port, ("leaf0:spine0", "spine1:leaf1")))
SAME_SPINE = tuple(map(fabric_scenarios.at_port, ("leaf0:spine0", "spine0:leaf1")))
FIRST_PAUSE_NS = 6_500           # of pauses_alone: both ports pause, and nobody sends

@wire
def moment(on):
    """b pauses for a microsecond, and a goes on to send."""
    on.exchange(2).frame(roce.pfc({3: 200}, src=MAC["b"])).write(2).ack(2, 3)


def victims(*want):
    """(stops, held_ns, late_packets) of what each source stops, or None, in the report's
    order; and of a source's streams the longest is held as long."""
    def look(report, _found):
        got = []
        for pause in report["pauses"]:
            of = pause["victims"]
            got.append(of and (of["stops"], of["held_ns"], of["late_packets"]))
            if of and of["held_ns"] != max(
                    (s["held_ns"] for s in of["streams"]), default=0):
                yield f"its streams: {of['streams']}"
        if got != list(want):
            yield f"{got}, not {list(want)}"
    return look


def held_up(*want):
    """For how long receivers held streams up, in the order of the list."""
    def look(report, _found):
        got = [s["held_ns"] for s in report["receivers"]["streams"]]
        if got != list(want):
            yield f"held up for {got}, not {list(want)}"
    return look


def obeyed(kind=roce.pfc, ns=300 * US, also=()):
    """b pauses, and a waits; `also`, other priorities in the same frame."""
    def talk(on):
        on.exchange(50).frame(kind({3: 0xFFFF, **dict(also)} if kind is roce.pfc else 0xFFFF,
                                   src=roce.MAC_B))
        on.wait(ns - US).frame(kind({3: 0} if kind is roce.pfc else 0, src=roce.MAC_B))
        on.exchange(50, 50)
    return talk


def obeyed_two_ways(on):
    """The same by packets of two hop limits, as those that are sprayed have them."""
    for n in range(50):
        on.write(n, ip={"ttl": 64 - n % 2}).ack(n, n + 1)
    on.frame(roce.pfc({3: 0xFFFF}, src=roce.MAC_B))
    on.wait(300 * US - US).frame(roce.pfc({3: 0}, src=roce.MAC_B))
    for n in range(50, 100):
        on.write(n, ip={"ttl": 64 - n % 2}).ack(n, n + 1)


def clock_steps_back(on):
    """By ten milliseconds, and then 300 us are paused."""
    on.exchange(2).wait(-10 * MS)
    obeyed()(on)


def no_more_than_all(report, _found):
    (pause,) = report["pauses"]
    if not 0 < pause["paused_share"] <= 1:
        yield f"paused for {pause['paused_share']} of the time"


def not_obeyed(on):
    """b pauses for 40 us, and a goes on to send."""
    on.exchange(50).frame(roce.pfc({3: 0xFFFF}, src=roce.MAC_B))
    on.exchange(20, 50).frame(roce.pfc({3: 0}, src=roce.MAC_B)).exchange(50, 70)


def between_lives(on):
    """b pauses when no queue pair has anything to send."""
    on.exchange(50).wait(MS).frame(roce.pfc({3: 0xFFFF}, src=roce.MAC_B)).wait(5 * MS)
    for n in range(50):
        on.write(n, qpn=0x44).packet("b", "RC Acknowledge", n, qpn=0x33,
                                     headers=roce.aeth(roce.ACK_NO_CREDIT_LIMIT, n + 1))


def both_kinds(ns, then):
    """PFC of a moment, then 802.3x; and what a does then."""
    def talk(on):
        on.exchange(20).frame(roce.pfc({3: 10}, src=roce.MAC_B)).exchange(5, 20)
        on.frame(roce.pause(0xFFFF, src=roce.MAC_B))
        then(on)
        on.wait(ns).frame(roce.pause(0, src=roce.MAC_B)).write(90).ack(90, 91)
    return talk


def send_anyway(on):
    on.wait(9 * US)
    for n in range(25, 35):
        on.write(n)


def hangs(on):
    """In the midst of a message b pauses for good."""
    on.exchange(20)
    on.packet("a", "RC SEND First", 20, payload=bytes(1024))
    on.packet("a", "RC SEND Middle", 21, payload=bytes(1024))
    for _ in range(20):
        on.frame(roce.pfc({3: 0xFFFF}, src=roce.MAC_B)).wait(100 * US - US)
    on.frame(roce.pfc({3: 0xFFFF}, src=roce.MAC_B))


def port_pauses(on):
    """The port of a bridge pauses host a for 100 us, which obeys."""
    third = roce.ethernet(roce.rocev2(on.ip("a"), 50_001, roce.transport(
        roce.OPCODE["RC Acknowledge"], psn=0, headers=roce.aeth(0, 0), dest_qpn=0x33)),
        src=roce.MAC_A, dst=b"\2\0\0\0\0\x33")
    on.exchange(20).frame(third).frame(roce.pfc({3: 0xFFFF}, src=SWITCH))
    on.wait(100 * US - US).frame(roce.pfc({3: 0}, src=SWITCH)).exchange(20, 20)


def quiet_interface():
    """Two interfaces for ten milliseconds; on the one nothing but a pause of 20 us."""
    pcap = roce.Pcapng([roce.Interface(name="p0", speed_bps=100 * 10**9),
                        roce.Interface(name="p1", speed_bps=100 * 10**9)])
    other = Wire()
    other.exchange(2).wait(10 * MS).exchange(2, 2)
    frames = [(time_ns, frame, 1) for time_ns, _length, frame in
              roce.pcap_packets(other.bytes())]
    start = other.start_ns + 5 * MS
    frames += [(start, roce.pfc({3: 0xFFFF}, src=SWITCH), 0),
               (start + 20 * US, roce.pfc({3: 0}, src=SWITCH), 0)]
    for time_ns, frame, interface in sorted(frames):
        pcap.add(time_ns, frame, interface=interface)
    return pcap.bytes()


def in_sections():
    """One port of each of two sections, which a switch pauses by one address."""
    data = b""
    for i, name in enumerate(("p0", "p1")):
        section = roce.Pcapng([roce.Interface(name=name, speed_bps=100 * 10**9)])
        for k in range(20):
            at_ns = START_NS + i * 10 * MS + k * 100 * US
            section.add(at_ns, roce.pfc({3: 0xFFFF}, src=SWITCH))
            section.add(at_ns + 20 * US, roce.pfc({3: 0}, src=SWITCH))
        data += section.bytes()
    return data


def filters(*texts):
    """Of all frames, in any order."""
    return lambda _report, found: [] if sorted(
        f["wireshark_filter_all"] for f in found) == sorted(texts) else [
            str([f["wireshark_filter_all"] for f in found])]


def several_priorities(on):
    """One port, by the same frames, and of another one longer."""
    on.exchange(10).frame(roce.pfc({3: 0xFFFF, 4: 0xFFFF}, src=SWITCH)).wait(100 * US)
    on.frame(roce.pfc({3: 0}, src=SWITCH)).wait(100 * US).frame(roce.pfc({4: 0}, src=SWITCH))
    on.exchange(10, 10)


def held_at_end(on):
    """A port pauses for the last millisecond."""
    on.exchange(10)
    for _ in range(10):
        on.frame(roce.pfc({3: 0xFFFF}, src=SWITCH)).wait(100 * US - US)
    on.frame(roce.pfc({3: 0xFFFF}, src=SWITCH))


def set_back_in_pause(on):
    """The clock is set back by two seconds in a pause of a port, which an XON ends."""
    on.exchange(10)
    for _ in range(10):
        on.frame(roce.pfc({3: 0xFFFF}, src=SWITCH)).wait(100 * US - US)
    on.frame(roce.pfc({3: 0xFFFF}, src=SWITCH)).wait(-2 * S)
    on.frame(roce.pfc({3: 0}, src=SWITCH)).exchange(10, first=10)


def says_not(word):
    def look(_report, found):
        if word in found[0]["detail"]:
            yield found[0]["detail"]
    return look


def obeyed_by_two(on):
    """The NIC of b has another address as well."""
    packet = roce.rocev2(on.ip("b", src="10.0.0.9"), 50_001, roce.transport(
        roce.OPCODE["RC Acknowledge"], psn=0, headers=roce.aeth(0, 0), dest_qpn=0x33))
    on.frame(roce.ethernet(packet, src=roce.MAC_B, dst=roce.MAC_A))
    obeyed()(on)


def xon_alone(kind):
    def talk(on):
        on.exchange(10).frame(kind({3: 0} if kind is roce.pfc else 0, src=SWITCH))
        on.exchange(10, 10)
    return talk


ROWS = [
    Row("pfc", FIRES, "20 us of ten milliseconds, on an interface that has nothing else",
        quiet_interface, "note", also=says("for 20 µs (0.20 %)")),
    Row("pfc", FIRES, "interfaces of two sections, each the first of its own", in_sections, "warning",
        also=filters(*(f"eth.src == {SWITCH.hex(':')} && macc.cbfc.enbv.c3 == 1 && "
                       f"frame.section_number == {i} && frame.interface_id == 0"
                       for i in (1, 2)))),
    Row("slow_receiver", FIRES, "in the midst of a message, and for good", wire(hangs), "warning", SPEED,
        also=victims((1, 2 * MS, 0))),
    Row("pfc", FIRES, "a bridge's port, whose first pause counts", wire(port_pauses),
        "warning", SPEED, also=victims((1, 100 * US, 0))),
    Row("pfc", NOT, "an XON ends nothing", wire(xon_alone(roce.pfc)), None, SPEED),
    Row("pause_802.3x", NOT, "an XON ends nothing", wire(xon_alone(roce.pause)), None, SPEED),
    Row("pause_802.3x", FIRES, "which holds, though PFC held before",
        wire(both_kinds(200 * US, lambda on: on)), "warning", SPEED,
        also=victims((1, 51, 0), (1, 201 * US, 0))),
    Row("pause_ignored", FIRES, "802.3x, though PFC paused before",
        wire(both_kinds(200 * US, send_anyway)), "warning", SPEED, also=n_frames(10)),
    Row("slow_receiver", FIRES, "it pauses, and the sender waits", wire(obeyed()), "warning",
        SPEED, also=held_up(300 * US)),
    Row("slow_receiver", FIRES, "and so does what comes two ways, which it holds once",
        wire(obeyed_two_ways), "warning", SPEED, also=held_up(300 * US)),
    Row("slow_receiver", FIRES, "and the clock steps back", wire(clock_steps_back), "warning",
        SPEED, also=no_more_than_all),
    Row("slow_receiver", FIRES, "it tells all that pfc would", wire(obeyed()), "warning", SPEED,
        also=lambda report, found: [
            *says("Its own NIC asked for 1 pause, for 300 µs.  02:00:00:00:01:02 pauses priority "
                  "3: XOFF 1, refresh 0, XON 1, expired 0; paused for 300 µs (60 %), at most 300 "
                  "µs at once.", "silent for 300 µs of that, in 1 stop.")(report, found),
            *n_frames(1)(report, found),
            *all_frames("eth.src == 02:00:00:00:01:02 && macc.cbfc.enbv.c3 == 1")(report, found)]),
    Row("pfc", NOT, "of a slow receiver's pauses slow_receiver tells", wire(obeyed()), None,
        SPEED),
    Row("pfc", FIRES, "of a slow receiver's NIC, in a priority of which it receives nothing",
        wire(obeyed(also={4: 10_000})), "warning", SPEED, also=lambda report, found: [
            *named("pfc:02:00:00:00:01:02:4")(report, found),
            *says("pauses priority 4", "paused for 51.2 µs")(report, found)]),
    Row("pfc", FIRES, "of a slow receiver's NIC: for how long, pfc says is not known",
        wire(obeyed()), "warning", also=says("for how long is not known")),
    Row("slow_receiver", FIRES, "by a storm, of which pause_storm tells",
        fabric("storm_beside"), "warning", also=lambda _report, found:
            [found[0]["detail"]] if "XOFF" in found[0]["detail"] else []),
    Row("slow_receiver", FIRES, "the whole link", wire(obeyed(roce.pause)), "warning", SPEED,
        also=held_up(300 * US)),
    Row("slow_receiver", NOT, "it pauses, and the sender goes on", wire(not_obeyed),
        args=SPEED, also=held_up(2 * US)),  # from the last packet in the pause to the XON
    Row("slow_receiver", NOT, "it pauses when nobody sends", wire(between_lives), args=SPEED,
        also=held_up()),
    Row("pfc", FIRES, "several priorities of one port: the one that is paused longest names it",
        wire(several_priorities), "warning", SPEED,
        also=lambda report, found: [
            *named(f"pfc:{SWITCH.hex(':')}:4")(report, found),
            *says("pauses priorities 3 and 4", "Priority 4: XOFF 1", "Priority 3: XOFF 1")(report, found)]),
    Row("pfc", FIRES, "it goes on when the capture ends", wire(held_at_end), "warning", SPEED,
        also=says("at most 1 ms at once, and still when the capture ended.")),
    Row("pfc", FIRES, "it does not go on where the clock was set back",
        wire(set_back_in_pause), "warning", SPEED, also=both(
            says("at most 1 ms at once"), says_not("when the capture ended"))),
    Row("slow_receiver", FIRES, "two addresses at its NIC: it is a host's", wire(obeyed_by_two),
        "warning", SPEED, also=says("It is a host's NIC: ")),
    Row("pfc", NOT, "what comes of the pauses of another port, but for very little, is told "
        "with those", fabric("cascade")),
    Row("pfc", FIRES, "what comes of them for no more than two thirds of its time is not",
        behind_another(500 * US), "warning", SPEED, also=named("pfc:02:00:00:00:03:02:3")),
    Row("pfc", NOT, "and what does for nine tenths is", behind_another(100 * US), None, SPEED),
    Row("pfc", FIRES, "1 % of the time", wire(paused(10_000, 990 * US)), "warning", SPEED,
        also=says("paused for 10.0 µs (1.0 %)")),
    Row("pfc", FIRES, "an incast", fabric("incast_pfc"), "warning",
        also=says("a port of the network", "Seen at leaf0_h1.",
                  "No pause of the other end of the link was seen.")),
    Row("slow_receiver", FIRES, "and pauses of its own switch", fabric("both_ways", ("leaf0_h3",)),
        "warning", also=says("It is the NIC of 10.9.0.4: the switch", "paused it for 47.0 µs")),
    Row("pfc", FIRES, "one MAC address of several ports",
        fabric("shared_mac", ("leaf0",)), "warning", also=says("Several ports")),
    Row("pfc", FIRES, "the same at two points: each is to be named", fabric("shared_mac"),
        "warning", also=named("pfc:02:01:00:00:00:00:3@point-0",
                              "pfc:02:01:00:00:00:00:3@point-1")),
    Row("pfc", FIRES, "a microsecond in a capture of six: a note", moment, "note",
        SPEED),
    Row("slow_receiver", NOT, "a microsecond in a capture of six", moment, args=SPEED),
    Row("pfc", NOT, "of a storm pause_storm tells", wire(held(200 * MS)), None, SPEED),
    Row("pfc", FIRES, "beside a storm of the same port, in another priority",
        wire(held_beside), "warning", SPEED, also=lambda report, found: [
            *named(f"pfc:{SWITCH.hex(':')}:4")(report, found),
            *says("pauses priority 4", "paused for 20 ms (10.0 %)")(report, found)]),
    Row("pfc", NOT, "less than 1 %", wire(paused(10_000, 1_010 * US)), "note", SPEED),
    Row("pfc", NOT, "802.3x is none", wire(paused(10_000, 990 * US, roce.pause)), None,
        SPEED),
    Row("pfc", FIRES, "1 % of the time on the fastest link that there is",
        wire(paused(100_000, 900 * US)), "warning",
        also=says("priority 3 for 12.5 µs at least; for how long is not known without "
                  "--link-speed", "paused for 12.5 µs (1.4 %) and more")),
    Row("pfc", FIRES, "ended by XON sooner than it can have run out on any link",
        wire(held(30 * US, 30 * US, gap_ns=100 * US)), "warning",
        also=says("for 60 µs at least")),
    Row("pfc", CANNOT, "the speed of the link is not known",
        wire(paused(10_000, 990 * US)), "note",
        also=says("priority 3; for how long is not known without --link-speed", "quanta")),

    Row("pause_802.3x", FIRES, "where there is RoCE",
        wire(paused(1_000, 10 * MS, roce.pause)), "warning", SPEED),
    Row("pause_802.3x", FIRES, "an incast", fabric("incast_pause"), "warning"),
    Row("pause_802.3x", FIRES, "the speed of the link is not known",
        wire(paused(1_000, 10 * MS, roce.pause)), "warning",
        also=says("not known without --link-speed")),
    Row("pause_802.3x", NOT, "where there is none", wire(paused_alone(roce.pause)), "note",
        SPEED),
    Row("pause_802.3x", NOT, "PFC is none", wire(paused(10_000, 990 * US)), None, SPEED),
    Row("pause_802.3x", CANNOT, "the frame was cut before the opcode",
        wire(paused(1_000, 10 * MS, roce.pause), snap_length=15), None, SPEED),

    Row("pause_storm", FIRES, "200 ms, held by refreshes", wire(held(200 * MS)),
        "critical", SPEED, also=fired("sonic", 1, 200 * MS)),
    Row("pause_storm", FIRES, "a watchdog drops what waits for the port that it stops",
        wire(dropped_behind(250 * MS)), "critical", SPEED,
        also=both(details("5 packets that had to leave by the port that it stops"),
                  advises("does its part"))),
    Row("lost_before_capture", FIRES, "in front of a router that such a pause stops",
        wire(on_both_sides(dropped_behind(250 * MS))), "critical", SPEED,
        also=details(but=["had to leave"])),
    Row("pause_storm", FIRES, "what is lost was lost in front of the router that it stops",
        wire(on_both_sides(dropped_behind(250 * MS))), "critical", SPEED,
        also=both(details(but=["had to leave"]), advises("have a watchdog"))),
    Row("pause_storm", FIRES, "what is lost there was lost before",
        wire(missed_before(250 * MS)), "critical", SPEED,
        also=both(details(but=["had to leave"]), advises("have a watchdog"))),
    *(Row("pause_storm", FIRES, f"the other end of the link pauses {what}",
          held_by_both(*frames, ns=ns), "critical", SPEED, also=says(words))
      for what, frames, ns, words in (
          ("nothing", (), 0, "No pause of the other end of the link was seen."),
          ("as well", (XOFF, XON), 2 * US, "The other end of the link paused it for 2 µs."),
          ("between two stamps", (XOFF, XON), 0, "The other end of the link paused it too."),
          ("another priority", (partial(roce.pfc, {4: 9}),), US,
           "The other end of the link paused priority 4 alone."),
          ("two other priorities", (partial(roce.pfc, {4: 9, 5: 9}),), US,
           "The other end of the link paused priorities 4 and 5 alone."),
          ("by 802.3x", (partial(roce.pause, 9),), US,
           "The other end of the link paused it as a whole (802.3x)."))),
    Row("pause_storm", FIRES, "a NIC that pauses for ever",
        fabric("long_storm", ("leaf0_h3",)), "critical",
        also=says("sonic", "1 time", "juniper", "mlx5", "never")),
    Row("pause_storm", FIRES, "as the user says", wire(held(50 * MS)), "critical",
        (*SPEED, "--watchdog", "50"), also=fired("user", 1, 50 * MS)),
    Row("pause_storm", FIRES, "twice, after the watchdog was restored",
        wire(held(210 * MS, 210 * MS, gap_ns=210 * MS)), "critical",
        (*SPEED, "--watchdog", "sonic"), also=fired("sonic", 2, 200 * MS)),
    Row("pause_storm", FIRES, "once, the second before it was",
        wire(held(210 * MS, 210 * MS, gap_ns=190 * MS)), "critical",
        (*SPEED, "--watchdog", "juniper"), also=fired("juniper", 1, 200 * MS)),
    Row("pause_storm", FIRES, "XON and XOFF at once are no gap",
        wire(held(120 * MS, 120 * MS)), "critical", SPEED,
        also=fired("juniper", 1, 200 * MS)),
    Row("pause_storm", FIRES, "several priorities of one port: the one held longest names it",
        wire(held_in_several), "critical", SPEED, also=lambda report, found: [
            *named(f"pause_storm:{SWITCH.hex(':')}:4")(report, found),
            *says("held priorities 3 and 4 without a gap, for 280 ms at most",
                  "Priority 4 held from", "Priority 3 held for 250 ms, from",
                  ": sonic 1 time, juniper 1 time, mlx5 never.")(report, found),
            *n_frames(1)(report, found)]),
    Row("pause_storm", FIRES, "it tells all that pfc would", fabric("storm_beside"), "critical",
        also=lambda report, found: [
            *says("XOFF 1, refresh 149, XON 1, expired 0; paused for 250 ms (89 %), at "
                  "most 250 ms at once.  What it stops was silent for 250 ms of that, in 1 stop.  "
                  "Seen at leaf0_h3.  It is the NIC of 10.9.0.4: ")(report, found),
            *all_frames("eth.src == 02:00:00:00:00:04 && macc.cbfc.enbv.c3 == 1 && "
                        "frame.interface_id == 0")(report, found)]),
    Row("pause_storm", FIRES, "after many short pauses: its frame is named first of all",
        wire(held(*[10 * US] * 30, 200 * MS, gap_ns=20 * US)), "critical", SPEED,
        also=lambda report, found: [
            *n_frames(13)(report, found), *says("XOFF 31")(report, found)]),
    Row("pause_storm", FIRES, "the whole link: pause_802.3x has the rest", wire(hold_link),
        "critical", SPEED, also=lambda _report, found:
            [found[0]["detail"]] if "XOFF" in found[0]["detail"] else []),
    Row("pause_storm", NOT, "1 us less", wire(held(200 * MS - US)), None, SPEED,
        also=fired("sonic", 0, 0)),
    Row("pause_storm", NOT, "with gaps that let packets through",
        wire(held(120 * MS, 120 * MS, gap_ns=20 * US)), None, SPEED),
    Row("pause_storm", NOT, "the user's watchdog waits longer", wire(held(300 * MS)), None,
        (*SPEED, "--watchdog", "400")),
    Row("pause_storm", NOT, "the refreshes come too late",
        wire(held(400 * MS, refresh_ns=LONGEST_NS + 20 * US)), None, SPEED),
    Row("pause_storm", CANNOT, "the speed of the link is not known",
        wire(held(300 * MS))),
    Row("pause_storm", CANNOT, "several ports pause by one MAC address, in turn",
        wire(shared(held(300 * MS))), None, SPEED),

    Row("pause_ignored", FIRES, "a NIC that stops 20 us late",
        fabric("deaf", ("leaf0_h0", "leaf0_h1")), "warning", also=lambda report, found: [
            *n_frames(20)(report, found),
            *([found[0]["detail"]] if "XON" in found[0]["detail"] else [])]),
    Row("pause_ignored", FIRES, "10 packets", wire(sent_anyway(10)), "warning", SPEED,
        also=lambda report, found: [
            *n_frames(10)(report, found),
            *says("1 pause ran out without an XON: if there was one and the capture missed it")(
                report, found)]),
    Row("pause_ignored", FIRES, "over a bridge, from the host that all packets have",
        wire(bridged(10)), "warning", SPEED, also=n_frames(10)),
    Row("pause_ignored", FIRES, "over a bridge, from where it was captured",
        wire(bridged(10, third=False)), "warning", (*SPEED, "--captured-at", "10.0.0.1"),
        also=n_frames(10)),
    Row("pause_ignored", FIRES, "over a bridge, by the directions of the capture",
        two_way(bridged(10, third=False)), "warning", also=captured("in")),
    Row("pause_ignored", FIRES, "a router's port has a MAC address of its own",
        wire(behind_router(10)), "warning", SPEED, also=n_frames(10)),
    Row("pause_ignored", FIRES, "a router's port forwards by the one that it pauses by",
        wire(by_switch(sent_anyway(10, mac=SWITCH))), "warning", SPEED),
    Row("pause_ignored", NOT, "what comes from the router is not what it stops",
        wire(behind_router(20, sender="b")), None, SPEED),
    Row("pause_ignored", NOT, "over a bridge, from the other host",
        wire(bridged(20, sender="b")), None, SPEED),
    Row("pause_ignored", NOT, "the capture says that they came from the other end",
        two_way(bridged(20, sender="b", third=False))),
    Row("pause_ignored", NOT, "9 packets", wire(sent_anyway(9)), None, SPEED),
    Row("pause_ignored", NOT, "they were on their way", fabric("incast_pfc")),
    Row("pause_ignored", NOT, "they are of another priority",
        wire(sent_anyway(20)), None, (*SPEED, "--dscp-map", "26:4")),
    Row("pause_ignored", CANNOT, "the speed of the link is not known",
        wire(sent_anyway(20))),
    Row("pause_ignored", CANNOT, "who is stopped is not known",
        wire(sent_anyway(20, mac=SWITCH)), None, SPEED),
    Row("pause_ignored", CANNOT, "the MAC address that pauses is several ports",
        wire(shared(by_switch(sent_anyway(20, mac=SWITCH)))), None, SPEED),

    Row("pause_cascade", FIRES, "from a slow host to the senders", fabric("cascade"),
        "warning", also=says("3 other ports", "3 hops", "all of its pauses (",
                             "at leaf0_h0, 2 of its 4 pauses (")),
    Row("pause_cascade", FIRES, "the first of them is told of there, and not once more",
        behind_another(100 * US), "warning", SPEED,
        also=both(says("The first of them: XOFF 1, refresh 3, XON 1"), told_once)),
    Row("pause_cascade", FIRES, "of many pauses the first ones are looked at, and said so",
        fabric("cascade", times=80), "warning",
        also=says("of its first 256 pauses (", "), of 320 (")),
    Row("pause_cascade", NOT, "two ports that pause for the same congestion",
        fabric("incast_pfc")),
    Row("pause_cascade", NOT, "one alone", fabric("cascade", ("leaf1_h7",))),
    Row("pause_cascade", FIRES, "half of it goes this way, and is seen twice",
        fabric("cascade", ("leaf0_spine0", "spine0_leaf1"), points=SAME_SPINE, **SPRAYED),
        "warning"),
    Row("pause_cascade", CANNOT, "half of it goes another way, and is seen there",
        fabric("cascade", ("leaf0_spine0", "spine1_leaf1"), points=OTHER_SPINE, **SPRAYED)),
    Row("pause_cascade", CANNOT, "what lies between was not captured",
        fabric("cascade", EDGES)),

    Row("pause_bystanders", FIRES, "they share links with what is bound for a slow host",
        fabric("cascade"), "warning",
        also=held_streams(("10.9.0.1", "10.9.1.5"), ("10.9.0.2", "10.9.1.6"))),
    Row("pause_bystanders", FIRES, "and are named", fabric("cascade"), "warning",
        also=says("10.9.0.1 to 10.9.1.5 (QP 0x", "10.9.0.2 to 10.9.1.6 (QP 0x")),
    Row("pause_bystanders", NOT, "all is bound for it",
        fabric("cascade", flows=CASCADE.flows[:1])),
    Row("pause_bystanders", CANNOT, "who paused first was not captured",
        fabric("cascade", ("spine0_leaf1", "leaf0_spine0", "leaf0_h0"))),

    Row("pause_deadlock", FIRES, "four switches in a circle", fabric("deadlock"),
        "critical", also=both(n_frames(4), told_once)),
    Row("pause_deadlock", NOT, "for less than 100 us",
        fabric("deadlock", duration_ns=120_000)),
    Row("pause_deadlock", NOT, "pauses that end somewhere", fabric("cascade")),
    Row("pause_deadlock", CANNOT, "one of them was not captured",
        fabric("deadlock", ("spine0_leaf0", "leaf1_spine0", "spine1_leaf1"))),

    Row("pause_before_ecn", FIRES, "Kmin is far above XOFF", fabric("pauses_alone"),
        "warning", also=says("was ever seen with CE")),
    Row("pause_before_ecn", NOT, "it marks first", fabric("marks_before_pauses")),
    Row("pause_before_ecn", NOT, "another pause is the cause",
        fabric("cascade", ("leaf0_h0", "leaf0_spine0", "spine0_leaf1", "leaf1_h7"))),
    Row("pause_before_ecn", CANNOT, "another pause may be the cause, on a link of unknown speed",
        fabric("long_storm", files=fabric_scenarios.scenario("long_storm").files)),
    Row("pause_before_ecn", CANNOT, "behind the switch nothing was captured",
        fabric("pauses_alone", ("leaf0_h0", "leaf0_h1")), also=order_unknown(
            "out_of_sight")),
    Row("pause_before_ecn", FIRES, "all CNPs come long behind the pause", cnps_later(0, 1),
        "warning"),
    Row("pause_before_ecn", CANNOT, "one comes soon: the mark may be from before",
        cnps_later(1), also=order_unknown("out_of_sight")),
    Row("pause_before_ecn", CANNOT, "the data is not ECN-capable",
        fabric("pauses_alone", host=NOT_ECT), also=order_unknown("not_ecn_capable")),
    Row("pause_before_ecn", CANNOT, "the capture begins in the pause",
        fabric("pauses_alone", later_ns=FIRST_PAUSE_NS), also=order_unknown("no_data")),
]
