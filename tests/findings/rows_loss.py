# SPDX-License-Identifier: GPL-2.0-or-later
"""What did not arrive, and where it went."""

import gzip
import pathlib

import roce
from artefacts import OnePerDirection, PartialPath
from captures import Path, changed, drop, first, in_tenants, late, shifted, two_hosts, wire
from row import CANNOT, FIRES, NOT, Row, both
from sim import ACKS, OUT_OF_ORDER, Impairment, Work

FEW = (Work("WRITE", 8192),) * 5       # 40 packets
TIMEOUT = {"timeout_ns": 500_000}
SPEED = ("--link-speed=100G",)
SPRAYED = {"a": OUT_OF_ORDER, "b": OUT_OF_ORDER}


def about(text, counted=None):
    """The title says so, and the totals that so many did not arrive."""
    def look(report, found):
        if not any(text in finding["title"] for finding in found):
            yield f"{text!r} is not in {[f['title'] for f in found]}"
        lost = sum(space["lost_before_capture"] + space["undelivered_after_capture"]
                   for space in report["totals"]["losses"].values())
        if counted not in (None, lost):
            yield f"{lost} were lost in all, not {counted}"
    return look


def beside_another(n):
    """One packet of 42 is lost, and nothing of as many as that of another queue pair."""
    def talk(on):
        for i in range(n):
            on.write(1000 + i, qpn=0x99).ack(1000 + i, i + 1, qpn=0x98)
        on.exchange(20).write(21).ack(20, 20, syndrome=0x60).write(20).write(21).ack(20, 21)
        on.ack(21, 22).exchange(20, 22)
    return talk


def told_of_each(_report, found):
    """One of each tenant, with an id of its own."""
    want = {("lost_before_capture:10.9.0.1>10.9.0.2@vxlan-100", "in vxlan 100"),
            ("lost_before_capture:10.9.0.1>10.9.0.2@vxlan-200", "in vxlan 200")}
    got = {(f["id"], f["title"][f["title"].find("in vxlan"):].split(",")[0]) for f in found
           if f["title"].startswith("1 packet lost")}
    if got != want:
        yield f"{[(f['id'], f['title']) for f in found]}"


def of_one(_report, found):
    yield from (f["title"] for f in found if "vxlan" in f["title"] or "@" in f["id"])


def lies(text):
    """How what was lost lies together; None: nothing of that is said."""
    def look(_report, found):
        said = found[0]["detail"]
        if not said.endswith(text or "of what was sent."):
            yield f"{said!r} does not end with {text!r}"
    return look


def advises(text):
    def look(_report, found):
        if text not in found[0]["advice"]:
            yield f"{text!r} is not in {found[0]['advice']!r}"
    return look


def detailed(text):
    """The detail says so."""
    def look(_report, found):
        yield from (f["detail"] for f in found if text not in f["detail"])
    return look


def retry(on):
    """Everything is acknowledged, and one packet is sent again all the same."""
    on.exchange(50).write(50).wait(5_000).ack(50, 51).wait(50_000_000).write(50)
    on.ack(50, 51).exchange(50, 51)


def retry_not_acknowledged(on):
    on.exchange(50).write(50).wait(50_000_000).write(50).ack(50, 51).exchange(50, 51)


def hold(on, ns):
    """The NIC of b pauses what comes to it, by refreshes."""
    start = on.now
    for at in range(0, ns, 300_000):
        on.now = start + at
        on.frame(roce.pfc({3: 0xFFFF}, src=roce.MAC_B))
    on.now = start + ns
    return on.frame(roce.pfc({3: 0}, src=roce.MAC_B))


def retry_held(ns):
    """The same as retry(), and so long of the 50 ms it was paused."""
    def talk(on):
        on.exchange(50).write(50).wait(5_000).ack(50, 51)
        hold(on, ns).wait(50_000_000 - ns)
        on.write(50).ack(50, 51).exchange(50, 51)
    return talk


def one_is_held(n):
    """Of so many that are sent again by timeout, 20 ms each, one was paused for 40 ms of 50."""
    def talk(on):
        at = 0
        for _ in range(n):
            on.exchange(50, at).write(at + 50).wait(5_000).ack(at + 50, at + 51)
            on.wait(20_000_000).write(at + 50).ack(at + 50, at + 51)
            at += 51
        on.exchange(50, at).write(at + 50).wait(5_000).ack(at + 50, at + 51)
        hold(on, 40_000_000).wait(10_000_000)
        on.write(at + 50).ack(at + 50, at + 51)
    return talk


def dropped_behind(ns, later_ns=0):
    """Five packets do not come, after a pause of so long, and so much later."""
    def talk(on):
        hold(on.exchange(20), ns).wait(later_ns)
        on.write(25)
        on.ack(20, 20, syndrome=roce.NAK_PSN_SEQUENCE).exchange(30, 20)
    return talk


def missed_before(ns):
    """The same, and what does not come is missed before that pause and comes again behind it."""
    def talk(on):
        on.exchange(20).write(25)
        hold(on, ns)
        on.ack(20, 20, syndrome=roce.NAK_PSN_SEQUENCE).exchange(30, 20)
    return talk


def came_in_spite_of(n):
    """The first of two points sees packets come though the port that they come to has paused
    them, and of the last two the second sees none."""
    path = Path(one=0, two=1_000)
    path.send(lambda on, _: on.exchange(20))
    path.send(lambda on, _: on.frame(roce.pfc({3: 0xFFFF}, src=roce.MAC_B)).wait(20_000),
              at=["one"])
    for i in range(n):
        path.send(lambda on, _, i=i: on.write(20 + i), at=["one"] if i >= n - 2 else None)
    path.send(lambda on, _: on.frame(roce.pfc({3: 0}, src=roce.MAC_B)), at=["one"])
    path.send(lambda on, _: on.write(20 + n))
    path.send(lambda on, _: on.ack(18 + n, 18 + n, syndrome=roce.NAK_PSN_SEQUENCE))
    for i in range(18 + n, 40 + n):
        path.send(lambda on, _, i=i: on.write(i).ack(i, i + 1))
    return path.bytes()


def spilled(n, before_ns=0):
    """So many times a port pauses, and the packet that was on its way by then is lost; or the
    one that came so much before."""
    def talk(on):
        for psn in range(0, 52 * n, 52):
            on.exchange(50, psn)
            if before_ns > 0:
                on.write(psn + 50).wait(before_ns)
            on.frame(roce.pfc({3: 0xFFFF}, src=roce.MAC_B))
            if before_ns == 0:
                on.write(psn + 50)
            on.wait(20_000).frame(roce.pfc({3: 0}, src=roce.MAC_B))
            on.write(psn + 51)
            on.ack(psn + 50, psn + 50, syndrome=roce.NAK_PSN_SEQUENCE)
            on.exchange(2, psn + 50)
    return talk


def spilled_between(n):
    """The same, where a second point never sees the packets that were on their way."""
    path = Path(one=0, two=1_000)
    for psn in range(0, 52 * n, 52):
        path.send(lambda on, _, psn=psn: on.exchange(50, psn))
        for part in (lambda on, _: on.frame(roce.pfc({3: 0xFFFF}, src=roce.MAC_B)),
                     lambda on, _, psn=psn: on.write(psn + 50).wait(20_000),
                     lambda on, _: on.frame(roce.pfc({3: 0}, src=roce.MAC_B))):
            path.send(part, at=["one"])
        path.points["two"].wait(20_000)
        path.send(lambda on, _, psn=psn: on.write(psn + 51).ack(
            psn + 50, psn + 50, syndrome=roce.NAK_PSN_SEQUENCE).exchange(2, psn + 50))
    return path.bytes()


def spilled_often(n, every=1):
    """Three in ten packets come behind an XOFF; each time one of them is lost, or one that came
    at another time; but every so many times."""
    def talk(on):
        for i in range(n):
            psn = 13 * i
            lost = psn + (9 if i % every == 0 else 5)
            on.write(psn).write(psn + 1).write(psn + 2).write(psn + 3).write(psn + 4)
            on.write(psn + 5).frame(roce.pfc({3: 0xFFFF}, src=roce.MAC_B))
            on.write(psn + 6).write(psn + 7).write(psn + 8).write(psn + 9)
            on.wait(20_000).frame(roce.pfc({3: 0}, src=roce.MAC_B))
            on.ack(lost, lost, syndrome=roce.NAK_PSN_SEQUENCE)
            on.exchange(psn + 13 - lost, lost)
    return talk


def spilled_in_front(n):
    """As spilled_between(), and the ACKs are seen at the second point alone."""
    path = Path(one=0, two=1_000)
    for psn in range(0, 52 * n, 52):
        for i in range(50):
            path.send(lambda on, _, psn=psn + i: on.write(psn))
        for part in (lambda on, _: on.frame(roce.pfc({3: 0xFFFF}, src=roce.MAC_B)),
                     lambda on, _, psn=psn: on.write(psn + 50).wait(20_000),
                     lambda on, _: on.frame(roce.pfc({3: 0}, src=roce.MAC_B))):
            path.send(part, at=["one"])
        path.points["two"].wait(20_000)
        path.send(lambda on, _, psn=psn: on.write(psn + 51))
        path.send(lambda on, _, psn=psn: on.ack(psn + 50, psn + 50,
                                                syndrome=roce.NAK_PSN_SEQUENCE), at=["two"])
        path.send(lambda on, _, psn=psn: on.write(psn + 50).write(psn + 51))
        path.send(lambda on, _, psn=psn: on.ack(psn + 51, psn + 52), at=["two"])
    return path.bytes()


def spilled_of_several(pairs, each=2):
    """So many queue pairs, each of which loses so few."""
    def talk(on):
        for i in range(each):
            for qpn in range(0x100, 0x100 + pairs):
                psn = 52 * i
                for k in range(50):
                    on.write(psn + k, qpn=qpn)
                on.ack(psn + 49, psn + 50, qpn=qpn + 0x1000)
                on.frame(roce.pfc({3: 0xFFFF}, src=roce.MAC_B)).write(psn + 50, qpn=qpn)
                on.wait(20_000).frame(roce.pfc({3: 0}, src=roce.MAC_B))
                on.write(psn + 51, qpn=qpn)
                on.ack(psn + 50, psn + 50, syndrome=roce.NAK_PSN_SEQUENCE, qpn=qpn + 0x1000)
                on.write(psn + 50, qpn=qpn).write(psn + 51, qpn=qpn)
                on.ack(psn + 51, psn + 52, qpn=qpn + 0x1000)
    return talk


def details(*words, but=()):
    """All of the former stand in the detail, and none of the latter."""
    def look(_report, found):
        text = found[0]["detail"]
        yield from (f"{word!r} is not in {text!r}" for word in words if word not in text)
        yield from (f"{word!r} is in {text!r}" for word in but if word in text)
    return look


def tail_lost(on):
    """A message of eight packets, the last of which does not come here; the responder
    acknowledges all that it has when they come again."""
    def part(kind, psn, **how):
        on.packet("a", f"RC SEND {kind}", psn, payload=bytes(1024), **how)
    on.exchange(20)
    for first_time in (True, False):
        part("First", 20)
        for psn in range(21, 27):
            if psn == 23 and not first_time:
                on.ack(26, 20)
            part("Middle", psn)
        on.wait(70_000_000 if first_time else 0)
    part("Last", 27, ack_request=True)
    on.ack(27, 21).exchange(20, 28)


def spoilt(on):
    """Asked for again."""
    on.exchange(20).write(20, icrc_xor=1).write(21).ack(20, 20, syndrome=0x60)
    on.write(20).write(21).ack(21, 22).exchange(20, 22)


def by_its_header(report, found):
    """What the finding and the totals say of spoilt_header()."""
    title = found[0]["title"]
    if not (title.startswith("1 packet") and title.endswith("IPv4 header checksum")):
        yield title
    totals = report["totals"]
    counts = (totals["ip_checksum_bad"], totals["icrc"]["bad"],
              totals["losses"]["requests"]["corrupt"])
    if counts != (1, 0, 1):
        yield f"bad headers, bad ICRCs and losses by damage: {counts}"


def by_its_psn(report, found):
    """What the finding and the totals say of spoilt_psn()."""
    title = found[0]["title"]
    if not (title.startswith("1 packet") and title.endswith("with a bad PSN")):
        yield title
    totals = report["totals"]
    counts = (totals["psn_bad"], totals["icrc"]["bad"],
              totals["losses"]["requests"]["corrupt"],
              totals["requests"]["missing_psns"])
    if counts != (1, 0, 1, 1):
        yield f"bad PSNs, bad ICRCs, losses by damage and missing: {counts}"


def spoilt_psn(on, bit=13):
    """A bit of it is turned over: discarded for its ICRC, and asked for again."""
    on.exchange(20).write(20 ^ 1 << bit).write(21).ack(20, 20, syndrome=0x60)
    on.write(20).write(21).ack(21, 22).exchange(20, 22)


def spoilt_header(on, first=0):
    """Discarded by the host that it is for, and asked for again."""
    lost = first + 20
    on.exchange(20, first).write(lost, ip={"ttl": 32, "checksum_xor": 1}).write(lost + 1)
    on.ack(lost, lost, syndrome=0x60).write(lost).write(lost + 1)
    on.ack(lost + 1, lost + 2).exchange(20, lost + 2)


BOTH = ("sender", "receiver")
MINUTE_NS = 60 * 10**9
SAMPLES = pathlib.Path(__file__).resolve().parents[2] / "captures"


def nothing_lost(report, found):
    """Nobody says "lost between", nor tells of losses."""
    for finding in report["findings"]:
        if "lost between" in finding["title"] or finding["kind"] == "lost_before_capture":
            yield finding["title"]


def three_points():
    path = Path(one=0, two=MINUTE_NS, three=-MINUTE_NS)
    for n in range(20):
        path.send(lambda on, _: on.write(n)).send(lambda on, _: on.ack(n, n + 1))
    path.lose(20, until="one").lose(22, until="two").lose(24, until="two")
    for n in range(26, 60):
        path.send(lambda on, _: on.write(n)).send(lambda on, _: on.ack(n, n + 1))
    return path.bytes()


def lost_twice():
    """A packet is lost, asked for, and lost once more behind the first of two points."""
    path = Path(one=0, two=0)
    path.send(lambda on, _: on.exchange(20))
    path.send(lambda on, _: on.write(20), at=("one",)).send(lambda on, _: on.write(21))
    path.send(lambda on, _: on.ack(20, 20, syndrome=0x60))
    path.send(lambda on, _: on.write(20), at=("one",)).send(lambda on, _: on.write(21))
    path.send(lambda on, _: on.wait(50_000_000).write(20)).send(lambda on, _: on.write(21))
    path.send(lambda on, _: on.ack(21, 22)).send(lambda on, _: on.exchange(30, 22))
    return path.bytes()


def lost_behind_all():
    """Both points saw what is lost behind the second of them."""
    path = Path(one=0, two=0)
    path.send(lambda on, _: on.exchange(20))
    path.lose(20, until="two").lose(22, until="two")
    path.send(lambda on, _: on.exchange(30, 24))
    return path.bytes()


def lost_at_two_places():
    """One is lost between the points, another one behind both."""
    path = Path(one=0, two=0)
    path.send(lambda on, _: on.exchange(20))
    path.lose(20, until="one").lose(22, until="two")
    path.send(lambda on, _: on.exchange(30, 24))
    return path.bytes()


def forth_and_back():
    """The same on two links, of which one has what goes there and one what comes back, and so
    further on: which are taken together is open, and each packet was seen at one of them."""
    names = ("two_forth", "one_back", "one_forth", "two_back")
    out = roce.Pcapng([roce.Interface(name=name) for name in names])
    frames = [(time_ns, f"{name[:3]}_{'back' if frame[6:12] == roce.MAC_B else 'forth'}", frame)
              for name, data in lost_at_two_places().items()
              for time_ns, _length, frame in roce.pcap_packets(data)]
    for time_ns, name, frame in sorted(frames, key=lambda record: record[0]):
        out.add(time_ns, frame, interface=names.index(name))
    return out.bytes()


def given_up():
    """A packet is repeated until its sender gives up, and never comes to the second of two
    points, where others are seen all the time."""
    path = Path(one=0, two=0)
    path.send(lambda on, _: on.exchange(50))
    path.send(lambda on, _: on.write(50), at=("one",))
    for _ in range(5):
        path.send(lambda on, _: on.wait(5_000_000))
        path.send(lambda on, _: on.write(50), at=("one",))
        path.send(lambda on, _: on.write(7, qpn=0x99))
    path.send(lambda on, _: on.wait(10**9).write(8, qpn=0x99))
    return path.bytes()


def repeated_at_both():
    """The first copies of three packets come to one of two points alone; the copies come to
    both."""
    path = Path(one=0, two=0)
    path.send(lambda on, _: on.exchange(50))
    path.send(lambda on, _: on.write(50).write(51).write(52), at=("one",))
    path.send(lambda on, _: on.wait(50_000_000))
    path.send(lambda on, _: on.write(50).write(51).write(52).ack(52, 53))
    return path.bytes()


def response(on, part, psn, length=1024, **how):
    headers = b"" if part == "Middle" else roce.aeth(roce.ACK_NO_CREDIT_LIMIT, 1)
    return on.packet("b", f"RC RDMA READ Response {part}", psn, headers=headers,
                     payload=bytes(length), **how)


def read(on, psn, n, done=0, **how):
    """Asks for n packets, of which the first `done` have come."""
    return on.packet("a", "RC RDMA READ Request", psn + done,
                     headers=roce.reth(0x1000 + 1024 * done, 7, 1024 * (n - done)), **how)


def answer(on, psn, n, skip=(), first_part="First", **how):
    for i in range(n):
        part = "Last" if i == n - 1 else first_part if i == 0 else "Middle"
        if i not in skip:
            response(on, part, psn + i, **how)


def read_again_midway(on, first_part="First", skip=3, **how):
    """READs of 8 packets, of each of which a response is lost; they are asked for again from
    there on."""
    for psn in range(0, 160, 8):
        read(on, psn, 8, **how)
        answer(on, psn, 8, skip=(skip,), **how)
        on.wait(1_000_000)
        read(on, psn, 8, done=skip, **how)
        on.wait(5_000)
        answer(on, psn + skip, 8 - skip, first_part=first_part, **how)


def goes_on_midway(on):
    """So does soft-RoCE, and nothing tells its copies apart."""
    read_again_midway(on, first_part="Middle", ip={"ident": 0})


def n_lost(least, most, late, others=0):
    def look(report, _found):
        spaces = [s["losses"]["responses"] for s in report["streams"]]
        lost = sum(s["lost_before_capture"] for s in spaces)
        moved = sum(s["responses"]["reordered"] for s in report["streams"])
        other = sum(sum(s.values()) for s in spaces) - lost
        if not least <= lost <= most or moved > late or other > others:
            yield f"{lost} lost, {moved} late, {other} others"
    return look


def without_head(name, n):
    """A sample that begins so many packets later."""
    def make():
        data = gzip.decompress((SAMPLES / name).read_bytes())
        pcap = roce.Pcap()
        for time_ns, length, frame in list(roce.pcap_packets(data))[n:]:
            pcap.add(time_ns, frame, length)
        return pcap.bytes()
    return make


ROWS = [
    Row("lost_before_capture", FIRES, "one of 480 is lost on the way here",
        two_hosts(forward=drop(100)), "warning", also=about("1 packet lost")),
    Row("lost_before_capture", FIRES, "two, far from each other",
        two_hosts(forward=drop(9, 300)), "warning",
        also=lies("No two of them in a row.")),
    Row("lost_before_capture", FIRES, "a link that is down for a moment",
        two_hosts(forward=drop(*range(100, 140))), "critical",
        also=lies("All of them in a row.")),
    Row("lost_before_capture", FIRES, "for two moments",
        two_hosts(forward=drop(*range(100, 140), *range(300, 305))), "critical",
        also=lies("In 2 stretches, at most 40 packets in a row.")),
    Row("lost_before_capture", FIRES, "behind a pause for which a watchdog drops what waits",
        wire(dropped_behind(250_000_000)), "critical", SPEED,
        also=both(details("5 of them had to leave by a port that was paused for too long",
                          "paused priority 3 for 250 ms"),
                  advises("See whether the pause watchdog"))),
    Row("lost_before_capture", FIRES, "long after such a pause",
        wire(dropped_behind(250_000_000, 10_000_000_000)), "critical", SPEED,
        also=details(but=["paused"])),
    Row("lost_before_capture", FIRES, "missed before such a pause, and told behind it",
        wire(missed_before(250_000_000)), "critical", SPEED,
        also=details(but=["paused"])),
    Row("lost_before_capture", FIRES, "behind a pause for which none does",
        wire(dropped_behind(150_000_000)), "critical", SPEED,
        also=details(but=["paused"])),
    Row("lost_before_capture", FIRES, "between two points, behind the XOFFs of a port",
        lambda: spilled_in_front(6), "critical", SPEED,
        also=both(about("6 packets lost between one"),
                  details("6 of them had come to a port right behind its XOFF"),
                  advises("See first whether the headroom"))),
    Row("lost_before_capture", FIRES, "two READ requests, one behind the other",
        two_hosts((Work("READ", 4096),) * 60, forward=drop(40, 44)), "critical",
        also=lies(None)),
    Row("lost_before_capture", FIRES, "one alone lies by nothing",
        two_hosts(forward=drop(9)), "warning", also=lies(None)),
    Row("lost_before_capture", FIRES, "one of 40 is more than 1 %",
        two_hosts(FEW, forward=drop(20)), "critical", also=about("1 packet lost")),
    Row("lost_before_capture", FIRES, "one of a queue pair's 44, which is 1 % of the hosts' 100",
        wire(beside_another(56)), "critical", also=detailed("; 1.0 % of what was sent")),
    Row("lost_before_capture", FIRES, "and one of 101: less than that",
        wire(beside_another(57)), "warning", also=detailed("; 0.99 % of what was sent")),
    Row("lost_before_capture", FIRES, "between the same addresses of two tenants",
        in_tenants(dict.fromkeys((100, 200), two_hosts(forward=drop(100)))), "warning",
        also=told_of_each),
    Row("lost_before_capture", FIRES, "of one, which nobody is to be told from",
        in_tenants({100: two_hosts(forward=drop(100))}), "warning", also=of_one),
    Row("lost_before_capture", NOT, "it was late",
        two_hosts(forward=late(100))),
    Row("lost_before_capture", NOT, "it was lost behind this point",
        two_hosts(at="sender", forward=drop(100))),
    Row("lost_before_capture", FIRES, "responses, of READs asked for again midway",
        wire(read_again_midway), "critical", also=n_lost(20, 20, 0)),
    Row("lost_before_capture", FIRES, "and the responder goes on midway", wire(goes_on_midway),
        "critical", also=n_lost(19, 20, 1)),
    Row("lost_before_capture", NOT, "the answer had begun before the capture",
        without_head("03d_loss_read_resp/receiver.pcap.gz", 720)),
    Row("lost_before_capture", FIRES, "and so at the other end, where others were lost",
        without_head("03d_loss_read_resp/sender.pcap.gz", 990), "critical",
        also=n_lost(17, 17, 0, others=1)),
    Row("lost_before_capture", CANNOT, "the point sees one way of several",
        two_hosts(artefacts=(PartialPath(2, by="packet"),), **SPRAYED)),

    Row("undelivered_after_capture", FIRES, "each time right behind the XOFF of a port",
        wire(spilled(6)), "warning", SPEED,
        also=both(details("6 of them had come to a port right behind its XOFF",
                          "02:00:00:00:01:02 paused priority 3"),
                  advises("See first whether the headroom"))),
    Row("undelivered_after_capture", FIRES, "the same, where it is known where they were lost",
        lambda: spilled_between(6), "critical", SPEED,
        also=both(details("6 of them had come to a port right behind its XOFF"),
                  advises("See first whether the headroom"))),
    Row("undelivered_after_capture", FIRES, "each time right before it",
        wire(spilled(6, 1_000)), "warning", SPEED, also=details(but=["XOFF"])),
    Row("undelivered_after_capture", FIRES, "where three in ten packets come so",
        wire(spilled_often(14)), "warning", SPEED,
        also=both(details("14 of them had come to a port right behind its XOFF"),
                  advises("See first whether the headroom"))),
    Row("undelivered_after_capture", FIRES, "where they do, and so do half of those lost",
        wire(spilled_often(28, every=2)), "warning", SPEED, also=details(but=["XOFF"])),
    Row("undelivered_after_capture", FIRES, "too few of each queue pair, and enough of all",
        wire(spilled_of_several(4)), "warning", SPEED,
        also=details("8 of them had come to a port right behind its XOFF")),
    Row("undelivered_after_capture", FIRES, "behind it, too few times to rule out chance",
        wire(spilled(2)), "warning", SPEED, also=details(but=["XOFF"])),
    Row("undelivered_after_capture", FIRES, "lost behind this point",
        two_hosts(at="sender", forward=drop(100)), "warning",
        also=about("did not arrive in order behind this point")),
    Row("undelivered_after_capture", FIRES, "a second point never saw it",
        two_hosts(FEW, at=("sender", "receiver"), forward=drop(20)), "critical",
        also=about("1 packet lost between", counted=1)),
    Row("undelivered_after_capture", FIRES, "nor what was sent for it",
        lost_twice, "critical",
        also=about("2 packets lost between one.pcap and two.pcap", counted=2)),
    Row("undelivered_after_capture", FIRES, "a second point never saw it, by another clock",
        changed(two_hosts(FEW, at=BOTH, forward=drop(20)), receiver=shifted(-MINUTE_NS)),
        "critical",
        also=about("1 packet lost between sender.pcap and receiver.pcap", counted=1)),
    Row("undelivered_after_capture", FIRES, "three points, and losses between each two",
        three_points, "critical",
        also=about("2 packets lost between two.pcap and three.pcap, 1 packet between "
                   "one.pcap and two.pcap", counted=3)),
    Row("undelivered_after_capture", FIRES, "two links, and what comes back on others",
        forth_and_back, "critical",
        also=about("1 packet lost between one_forth and two_forth")),
    Row("undelivered_after_capture", FIRES, "it came to both points, and no further",
        lost_behind_all, "warning",
        also=about("did not arrive in order behind this point", counted=2)),
    Row("undelivered_after_capture", FIRES, "one came to both points, and another did not",
        lost_at_two_places, "critical",
        also=detailed("1 more packet did not arrive in order: lost or late, which")),
    Row("undelivered_after_capture", FIRES, "the second capture ended before it",
        changed(two_hosts(at=BOTH, forward=late(400)), receiver=first(0.7)),
        "warning", also=nothing_lost),
    Row("undelivered_after_capture", NOT, "the second point saw it late, by another clock",
        changed(two_hosts(at=BOTH, forward=late(100)), receiver=shifted(-MINUTE_NS)),
        also=nothing_lost),
    Row("undelivered_after_capture", NOT, "what is asked for came before the capture as well",
        without_head("04a_reorder/receiver.pcap.gz", 253)),
    Row("undelivered_after_capture", NOT, "nothing is lost", two_hosts(at="sender")),
    Row("undelivered_after_capture", FIRES, "it came though its link was paused, and is gone",
        lambda: came_in_spite_of(15), "critical", SPEED,
        also=both(details("2 of them had come in by a link that its far end had paused"),
                  advises("See first why what is paused is sent all the same"))),
    Row("undelivered_after_capture", FIRES, "so few came so that a long cable explains them",
        lambda: came_in_spite_of(9), "critical", SPEED, also=details(but=["paused"])),
    Row("undelivered_after_capture", CANNOT, "nobody is heard asking for it",
        two_hosts(at="sender", forward=drop(100), transport="UC")),

    Row("ack_lost", FIRES, "it was acknowledged long before it came again",
        wire(retry), "warning",
        also=about("because acknowledgements were lost")),
    Row("ack_lost", FIRES, "and the ACK had come back to where it was waited for",
        wire(retry), "warning", ("--captured-at", "10.0.0.1"),
        also=about("although acknowledgements had come")),
    Row("ack_lost", FIRES, "a pause held it up: it, or its ACK, was late or lost",
        wire(retry_held(40_000_000)), "warning", SPEED,
        also=both(about("sent again by timeout, though they came"),
                  details("paused priority 3 for 40 ms of the longest silence, 50.0 ms"),
                  advises("why the port that paused did so"))),
    Row("ack_lost", FIRES, "a pause held one up, and nine others were not",
        wire(one_is_held(9)), "critical", SPEED,
        also=about("because acknowledgements were lost")),
    Row("ack_lost", FIRES, "a pause held it up for a fifth of that time",
        wire(retry_held(10_000_000)), "warning", SPEED,
        also=about("because acknowledgements were lost")),
    Row("ack_lost", NOT, "the last packet of a message is lost, and no ACK was due before",
        wire(tail_lost)),
    Row("ack_lost", NOT, "no ACK was seen before", wire(retry_not_acknowledged)),
    Row("ack_lost", CANNOT, "the direction of the ACKs was not captured",
        lambda: {"sent.pcap": two_hosts(
            FEW, at="sender", a=TIMEOUT, artefacts=(OnePerDirection(),),
            backward=drop(7, space=ACKS))()["sender.0.pcap"]}),

    Row("data_or_ack_lost", FIRES, "no ACK was captured before it came again",
        wire(retry_not_acknowledged), "warning"),
    Row("data_or_ack_lost", FIRES, "it was given up, and came to no second point",
        given_up, "critical",
        also=about("6 packets lost between one.pcap and two.pcap", counted=6)),
    Row("data_or_ack_lost", FIRES, "the captures of two points together tell more",
        repeated_at_both, "critical", also=advises("rocescope compare")),
    Row("data_or_ack_lost", NOT, "an ACK was", wire(retry)),
    Row("data_or_ack_lost", NOT, "it was lost, asked for and lost again: that is told",
        lost_twice),
    Row("data_or_ack_lost", CANNOT, "the direction of the ACKs was not captured",
        lambda: {"sent.pcap": two_hosts(
            FEW, at="sender", a=TIMEOUT, artefacts=(OnePerDirection(),),
            backward=drop(7, space=ACKS))()["sender.0.pcap"]}),

    Row("corrupt", FIRES, "a payload bit flips on the way", wire(spoilt), "warning",
        also=about("1 packet")),
    Row("corrupt", FIRES, "a payload bit of the last packet does, which nobody asks for",
        wire(lambda on: on.exchange(20).write(20, icrc_xor=1)), "warning",
        also=detailed("It was not asked for again.")),
    Row("corrupt", FIRES, "payload bits of the last two do",
        wire(lambda on: on.exchange(20).write(20, icrc_xor=1).write(21, icrc_xor=1)),
        "warning", also=detailed("None of them was asked for again.")),
    Row("corrupt", FIRES, "behind the point that saw most",
        two_hosts(forward=Impairment(corrupt=0.02), at=("sender", "receiver")), "warning"),
    Row("corrupt", FIRES, "a bit of the IP header does", wire(spoilt_header), "warning",
        also=by_its_header),
    Row("corrupt", FIRES, "of one here and of the other there",
        wire(lambda on: (spoilt(on), spoilt_header(on, 22))), "warning",
        also=about("with a bad ICRC or IPv4 header checksum", counted=0)),
    Row("corrupt", FIRES, "nobody is to look at the ICRC", wire(spoilt_header), "warning",
        args=("--icrc=off",)),
    Row("corrupt", FIRES, "the ICRC was cut off, the header was not",
        wire(spoilt_header, snap_length=96), "warning"),
    Row("corrupt", FIRES, "the ICRC was cut off, and a PSN jumps for one packet",
        wire(spoilt_psn, snap_length=96), "warning", also=by_its_psn),
    Row("corrupt", NOT, "all are good", wire(lambda on: on.exchange(50))),
    Row("corrupt", CANNOT, "the sender leaves header checksums to its hardware",
        wire(lambda on: [on.write(i, ip={"checksum_xor": 0x1234}).ack(i, i + 1)
                         for i in range(50)])),
    Row("corrupt", CANNOT, "the ICRC was cut off", wire(spoilt, snap_length=96)),
    Row("corrupt", CANNOT, "a PSN jumps no further than packets are overtaken",
        wire(lambda on: spoilt_psn(on, 3), snap_length=96)),
    Row("corrupt", CANNOT, "nobody is to look", wire(spoilt), args=("--icrc=off",)),
]
