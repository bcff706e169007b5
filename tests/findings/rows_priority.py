# SPDX-License-Identifier: GPL-2.0-or-later
"""In which priorities RoCE data and other traffic ride."""

import roce
import tunnels
from captures import START_NS, Path, Wire, wire
from row import CANNOT, FIRES, NOT, Row
from rows_dcb import NIC, SWITCH, data, framed, link, pauses, pfc, titled


def tos(dscp):
    return {"ip": {"tos": dscp << 2 | roce.ECN_ECT0}}


def detailed(*texts):
    def also(_report, found):
        for text in texts:
            if text not in found[0]["detail"]:
                yield f"{text!r} is not in {found[0]['detail']!r}"
    return also


def losing(dscp):
    """A packet in 20 is lost, and priority 3 is paused."""
    @wire
    def talk(on):
        pauses(3)(on)
        on.exchange(5, **tos(dscp))
        on.write(6, **tos(dscp)).ack(5, 5, syndrome=roce.NAK_PSN_SEQUENCE)
        for psn in (5, 6):
            on.write(psn, **tos(dscp)).ack(psn, psn + 1)
        on.exchange(10, 7, **tos(dscp))
    return talk


def overlaid(make, dscp, vlans=()):
    """The same in VXLAN, whose own headers have this DSCP and these tags."""
    def carried():
        out = roce.Pcap()
        outer = roce.Ip("192.0.2.1", "192.0.2.2", tos=dscp << 2 | roce.ECN_ECT0)
        for time_ns, _, frame in roce.pcap_packets(make()):
            if tunnels.network_of(frame)[0] is not None:
                frame = tunnels.carry(roce.IPPROTO_UDP, roce.udp(
                    50_000, tunnels.PORT_VXLAN, tunnels.vxlan(7, frame)), outer, vlans)
            out.add(time_ns, frame)
        return out.bytes()
    return carried


def one_by_one(*makes):
    """Captures of one link, one behind the other."""
    def made():
        out = roce.Pcap()
        for n, make in enumerate(makes):
            for time_ns, _, frame in roce.pcap_packets(make()):
                out.add(time_ns + n * 10**9, frame)
        return out.bytes()
    return made


def ports(dscp, beside=26, paused=3, lossy=True):
    """Two ports of a switch: one pauses, the other one has data of this DSCP, of which some
    is lost, beside data of another one."""
    def make():
        at_host, at_other = Wire(START_NS), Wire(START_NS + 100)
        pauses(paused)(at_host)
        at_host.exchange(20, qpn=0x99, **tos(26))
        for on in (at_host, at_other):
            on.wait(10_000)
        at_other.exchange(5, **tos(dscp))
        if lossy:
            at_other.write(6, **tos(dscp)).ack(5, 5, syndrome=roce.NAK_PSN_SEQUENCE)
        for psn in (5, 6):
            at_other.write(psn, **tos(dscp)).ack(psn, psn + 1)
        for psn in range(9):
            at_other.write(psn, qpn=0x99, ip={"src": "10.0.0.7", **tos(beside)["ip"]})
        return {"host.pcap": at_host.bytes(), "other.pcap": at_other.bytes()}
    return make


WITHOUT_PFC = [
    Row("roce_without_pfc", FIRES, "3 is paused at another port, which data in 3 passes too",
        ports(0), "warning", also=detailed("Sent by 10.0.0.1.")),
    Row("roce_without_pfc", NOT, "nothing of 0 was lost", ports(0, lossy=False)),
    Row("roce_without_pfc", NOT, "3 is paused where no other data goes: another network",
        ports(0, beside=8)),
    Row("roce_without_pfc", NOT, "what was lost is of the priority that is paused",
        ports(0, paused=0)),
    Row("roce_without_pfc", FIRES, "DCBX has PFC on for 3, data is in 0",
        link(pfc(SWITCH, 3), then=data(0)), "warning",
        also=titled("priority 0, without PFC")),
    Row("roce_without_pfc", FIRES, "by its tag",
        link(pfc(SWITCH, 3), then=data(26, [roce.Vlan(1, pcp=5)])), "warning",
        also=titled("priority 5, without PFC")),
    Row("roce_without_pfc", FIRES, "3 is paused, data in 0 is lost", losing(0), "warning",
        also=detailed("1 packet of it was lost", "Sent by 10.0.0.1.")),
    Row("roce_without_pfc", NOT, "the same in an overlay, whose headers have it ride in 3",
        overlaid(losing(0), 26)),
    Row("roce_without_pfc", NOT, "by their tag",
        overlaid(losing(0), 0, [roce.Vlan(1, pcp=3)])),
    Row("roce_without_pfc", FIRES, "data in 3, but in an overlay whose headers say 0",
        overlaid(losing(26), 0), "warning", also=titled("priority 0, without PFC")),
    Row("roce_without_pfc", FIRES, "data in 0, beside the same in an overlay that rides in 3",
        one_by_one(link(pfc(SWITCH, 3), then=data(0, n=30)), overlaid(wire(data(0)), 26)),
        "warning", also=titled("30 packets")),
    Row("roce_without_pfc", FIRES, "data in 0 by its tag, beside an overlay that has no tag",
        one_by_one(link(pfc(SWITCH, 3), then=data(26, [roce.Vlan(1)], n=30)),
                   overlaid(wire(data(26, [roce.Vlan(1)])), 26)),
        "warning", also=titled("30 packets")),
    Row("roce_without_pfc", FIRES, "DCBX has PFC on for nothing",
        link(pfc(SWITCH), then=data(26)), "note"),
    Row("roce_without_pfc", NOT, "one end has it on",
        link(pfc(SWITCH, 3), pfc(NIC), then=data(26))),
    Row("roce_without_pfc", NOT, "3 is paused, data in 3 is lost", losing(26)),
    Row("roce_without_pfc", NOT, "3 is paused, data in 0 is not lost",
        link(then=lambda on: (pauses(3)(on), data(0)(on)))),
    Row("roce_without_pfc", NOT, "CNPs and ACKs elsewhere",
        link(pfc(SWITCH, 3), then=lambda on: on.write(0).ack(0, ip={"tos": 48 << 2}))),
    Row("roce_without_pfc", CANNOT, "nobody speaks of PFC, nothing is paused",
        link((SWITCH,), then=data(0))),
    Row("roce_without_pfc", CANNOT, "no packet has payload",
        link(pfc(SWITCH, 3), then=lambda on: on.ack(1, **tos(0)))),
]


def streams(*of):
    """WRITEs of several queue pairs, each (QPN, DSCP of its packets in turn)."""
    @wire
    def talk(on):
        for qpn, *dscps in of:
            for psn, dscp in enumerate(dscps):
                on.write(psn, qpn=qpn, **tos(dscp))
    return talk


def retagged(*pcps):
    """A queue pair whose DSCP is 26 and then 0, and whose tags have these PCPs."""
    return wire(lambda on: [on.write(psn, vlans=[roce.Vlan(7, pcp=pcp)], **tos(dscp))
                            for psn, (pcp, dscp) in enumerate(zip(pcps, (26, 0)))])


def both_sides(on):
    """Each packet in front of a router and behind it, where its class is another."""
    for psn in range(40):
        for dscp in (26, 0):
            on.ident = psn
            on.write(psn, **tos(dscp))
        if psn % 4 == 0:
            on.wait(10**6).ack(psn, psn)


def says(*texts):
    """The title or the detail has these."""
    def look(_report, found):
        said = found[0]["title"] + "\n" + found[0]["detail"]
        yield from (f"{text!r} is not in {said!r}" for text in texts if text not in said)
    return look


SEVERAL = [
    Row("roce_priorities", CANNOT, "the point sees both sides of a router",
        wire(both_sides)),
    Row("dscp_changed", CANNOT, "the point sees both sides of a router", wire(both_sides)),
    Row("roce_priorities", FIRES, "one queue pair in 3 and 0",
        streams((0x22, 26, 26, 0, 26)), "warning", also=framed(2, 3)),
    Row("roce_priorities", FIRES, "one of two queue pairs in 3 and 0",
        streams((0x22, 26, 26, 0, 26), (0x23, 26)), "warning",
        also=says("Queue pairs whose own data does so: 1 of 2.",
                  "The DSCP changes 2 times; in all it is 26 (3 packets), 0 (1 packet).")),
    Row("roce_priorities", FIRES, "both of two queue pairs in 3 and 0",
        streams((0x22, 26, 26, 0), (0x23, 0, 28, 0)), "warning",
        also=says("The DSCP changes 3 times; in the first of them it is 26 (2 packets), 0 (1 "
                  "packet).")),
    Row("roce_priorities", FIRES, "two queue pairs", streams((0x22, 26), (0x23, 34)),
        "note", also=titled("3 and 4")),
    Row("roce_priorities", NOT, "two DSCPs of one priority",
        streams((0x22, 26, 24), (0x23, 26))),
    Row("roce_priorities", NOT, "ACKs are no data",
        wire(lambda on: on.write(0).ack(0, **tos(48)))),
    Row("roce_priorities", CANNOT, "a CNP alone, which is no data",
        wire(lambda on: on.packet("b", "CNP", 0, payload=bytes(16), becn=True,
                                  **tos(48)))),

    Row("dscp_changed", FIRES, "within one priority", streams((0x22, 26, 26, 24, 24)),
        "note", also=framed(2, 3)),
    Row("dscp_changed", FIRES, "and how often", streams((0x22, 26, 26, 24, 24)), "note",
        also=says("It changes 1 time; in all it is 26 (2 packets), 24 (2 packets).")),
    Row("dscp_changed", FIRES, "beside a queue pair that is told of as in 3 and 0",
        streams((0x22, 26, 0), (0x23, 26, 24)), "note", also=framed(3, 4)),
    Row("dscp_changed", FIRES, "26, then 0, in one priority by the tags", retagged(3, 3),
        "note"),
    Row("dscp_changed", NOT, "and in another one by them: roce_priorities tells of it",
        retagged(3, 0)),
    Row("dscp_changed", NOT, "without a tag as well", streams((0x22, 26, 26, 0, 0))),
    Row("dscp_changed", NOT, "each queue pair has one", streams((0x22, 26), (0x23, 0))),
    Row("dscp_changed", NOT, "only ECN changes",
        wire(lambda on: on.write(0, ip={"tos": 26 << 2 | 2})
             .write(1, ip={"tos": 26 << 2 | 3}))),
    Row("dscp_changed", CANNOT, "the queue pair number was used again",
        wire(lambda on: on.exchange(30).wait(10**9)
             .exchange(30, 0x800000, **tos(0)))),
]


def tagged(pcp, dscp, *frames):
    """`frames` first, then data with this tag."""
    return link(*frames, then=lambda on: data(dscp, [roce.Vlan(7, pcp=pcp)])(on))


def one_of_two():
    """Its tags say 5, and those of the other host what the DSCP says."""
    on = Wire()
    on.exchange(12, vlans=[roce.Vlan(7, pcp=5)], **tos(26))
    for psn in range(12):
        on.write(psn, sender="b", vlans=[roce.Vlan(7, pcp=3)], **tos(26))
    return on.bytes()


def at_two_points(beyond=()):
    """The same packets at two points, and what comes by the second alone."""
    path = Path(one=0, two=0)
    for psn in range(12):
        path.send(lambda on, _: on.write(psn, vlans=[roce.Vlan(7, pcp=3)], **tos(0)))
    for qpn in beyond:
        path.send(lambda on, _: on.write(0, qpn=qpn, vlans=[roce.Vlan(7, pcp=3)], **tos(0)),
                  at=("two",))
    return path.bytes()


def n_findings(n):
    def also(_report, found):
        if len(found) != n:
            yield f"{len(found)} findings, not {n}: {[f['title'] for f in found]}"
    return also


TAGS = [
    Row("pcp_dscp", FIRES, "once, though two points see it", at_two_points, "note",
        also=n_findings(1)),
    Row("pcp_dscp", FIRES, "at both, of which the second sees more",
        lambda: at_two_points(beyond=(0x99,)), "note", also=n_findings(2)),
    Row("pcp_dscp", FIRES, "PCP 3, DSCP 0", tagged(3, 0), "note",
        also=titled("on 12 packets of RoCE data from 10.0.0.1")),
    Row("pcp_dscp", FIRES, "one of two hosts: it is named", one_of_two, "note",
        also=titled("on 12 packets of RoCE data from 10.0.0.1")),
    Row("pcp_dscp", FIRES, "PCP 0, DSCP 26, and 3 is lossless",
        tagged(0, 26, pfc(SWITCH, 3)), "warning"),
    Row("pcp_dscp", NOT, "PCP 3, DSCP 0, and 3 is lossless: no DSCP was chosen",
        tagged(3, 0, pfc(SWITCH, 3)), "note"),
    Row("pcp_dscp", NOT, "PCP 3, DSCP 26", tagged(3, 26)),
    Row("pcp_dscp", NOT, "the map says so", tagged(3, 8), args=("--dscp-map", "8:3")),
    Row("pcp_dscp", CANNOT, "no tags", link(then=data(0))),
]


def two_points(there, here, ttl=63):
    """The same packets at two points, behind one another."""
    def make():
        files = {}
        for name, dscp, hops in (("a.pcap", there, 64), ("b.pcap", here, ttl)):
            on = Wire(START_NS)
            for psn in range(40):
                on.write(psn, ip={"tos": dscp << 2 | 2, "ttl": hops})
            files[name] = on.bytes()
        return files
    return make


def notices_rewritten(acks):
    """CNPs lose their priority between two points, and so do as many ACKs beside them."""
    files = {}
    for name, dscp, ttl in (("a.pcap", 48, 64), ("b.pcap", 0, 63)):
        on = Wire(START_NS)
        for psn in range(40):
            on.write(psn, ip={"tos": 26 << 2 | 3, "ttl": ttl})
            on.packet("b", "CNP", 0, payload=bytes(16), becn=True,
                      ip={"tos": dscp << 2, "ttl": ttl})
            if acks:
                on.ack(psn, psn + 1, ip={"tos": dscp << 2, "ttl": ttl})
        files[name] = on.bytes()
    return files


def damaged_between():
    """Of one packet the type of service is, on its way."""
    files = {}
    for name, at in (("a.pcap", None), ("b.pcap", 20)):
        on = Wire(START_NS)
        for psn in range(40):
            spoilt = {"tos": 48 << 2 | 3, "checksum_xor": 0x10} if psn == at else {}
            on.write(psn, ip=spoilt)
        files[name] = on.bytes()
    return files


def one_is_damaged(report, _found):
    damaged = [stream["ip_checksum_bad"] for stream in report["streams"]]
    marked = [stream["ecn"]["ce"] for stream in report["streams"]]
    if sorted(damaged) != [0, 1] or any(marked):
        yield f"{damaged} damaged, {marked} marked"


REWRITTEN = [
    Row("dscp_rewritten", FIRES, "26 becomes 0", two_points(26, 0), "warning",
        also=titled("between a.pcap and b.pcap: 26 becomes 0")),
    Row("dscp_rewritten", FIRES, "26 becomes 24, of the same priority", two_points(26, 24),
        "note"),
    Row("dscp_rewritten", FIRES, "of CNPs alone", lambda: notices_rewritten(False), "warning",
        also=says("DSCP of 40 packets", "All of them are CNPs.")),
    Row("dscp_rewritten", FIRES, "of CNPs and of ACKs", lambda: notices_rewritten(True),
        "warning", also=says("DSCP of 80 packets", "40 of them are CNPs.")),
    Row("dscp_rewritten", NOT, "26 stays", two_points(26, 26)),
    Row("dscp_rewritten", NOT, "one is damaged between the points", damaged_between,
        also=one_is_damaged),
    Row("dscp_rewritten", CANNOT, "one point", streams((0x22, 26, 0))),
]


def talk_tcp(on, dscp, n=30, size=1400, vlans=()):
    """TCP between the hosts, half a connection."""
    for i in range(n):
        header = b"\xc3\x50\x00\x16" + (i * size).to_bytes(4, "big") + bytes(4) \
            + b"\x50\x10\xff\xff\x00\x00\x00\x00"
        ip = roce.Ip("10.0.0.1", "10.0.0.9", tos=dscp << 2)
        on.frame(roce.ethernet(ip.wrap(6, header + bytes(size)), vlans=vlans))


def beside(dscp, n=30, size=1400, lossless=pauses(3), roce_packets=40, vlans=()):
    @wire
    def talk(on):
        lossless(on)
        on.exchange(roce_packets)
        talk_tcp(on, dscp, n, size, vlans)
    return talk


def flow_named(report, found):
    if "10.0.0.9" not in found[0]["detail"] or "TCP ports" not in found[0]["detail"]:
        yield found[0]["detail"]
    if not any(row["in_lossless_priority"] == 30 for row in report["background"]):
        yield str(report["background"])


def at_both(make):
    """The same at two points, of which the second has a clock of its own."""
    def seen():
        later = roce.Pcap()
        whole = make()
        for time_ns, length, frame in roce.pcap_packets(whole):
            later.add(time_ns + 5 * 10**9, frame, length)
        return {"one.pcap": whole, "two.pcap": later.bytes()}
    return seen


BACKGROUND = [
    Row("lossless_background", FIRES, "TCP in 3, which is paused", beside(26), "warning",
        also=flow_named),
    Row("lossless_background", FIRES, "seen at two points, it counts once, as RoCE does",
        at_both(beside(26)), "warning", also=says("30 packets that are no RoCE", "50 % of")),
    Row("lossless_background", FIRES, "by DCBX",
        beside(26, lossless=lambda on: on.frame(roce.lldp(roce.dcb_pfc([3]), src=SWITCH))),
        "warning"),
    Row("lossless_background", FIRES, "by its tag",
        beside(0, vlans=[roce.Vlan(5, pcp=3)]), "warning"),
    Row("lossless_background", NOT, "a packet of it in a thousand bytes of RoCE",
        beside(26, n=1, size=40), "note",
        also=says("1 packet that is no RoCE in lossless priority 3")),
    Row("lossless_background", NOT, "no RoCE rides there", beside(26, roce_packets=0),
        "note"),
    Row("lossless_background", NOT, "TCP in 0", beside(0)),
    Row("lossless_background", CANNOT, "nobody knows what is lossless",
        beside(26, lossless=lambda on: None)),
    Row("lossless_background", CANNOT, "one end of the link has PFC off",
        beside(26, lossless=lambda on: on.frame(roce.lldp(roce.dcb_pfc([3]), src=SWITCH))
               .frame(roce.lldp(roce.dcb_pfc([]), src=NIC)))),
]

ROWS = WITHOUT_PFC + SEVERAL + TAGS + REWRITTEN + BACKGROUND
