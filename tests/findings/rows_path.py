# SPDX-License-Identifier: GPL-2.0-or-later
"""Time to live, path MTU, what both ends agree on, and rails."""

import roce
from captures import wire
from row import CANNOT, FIRES, NOT, Row, both
from rows_dcb import framed, titled
from rows_priority import detailed


def ttls(*hops, **how):
    """A WRITE with each of these times to live."""
    @wire
    def talk(on):
        for psn, ttl in enumerate(hops):
            on.write(psn, ip={"ttl": ttl}, **how)
    return talk


def both_sides_of_a_router(on):
    for psn in range(20):
        for ttl in (64, 63):
            on.ident = psn
            on.write(psn, ip={"ttl": ttl})


def cnp_from_a_switch(on):
    on.exchange(5).packet("b", "CNP", 0, payload=bytes(16), becn=True, ip={"ttl": 255})
    on.exchange(5, 5)


def one_is_damaged(on):
    on.exchange(3).write(3, icrc_xor=1, p_key=0x8002, ip={"ttl": 3}).exchange(3, 3)


def its_header_is_damaged(on, **ip):
    on.exchange(9).write(9, ip={"checksum_xor": 1, **ip}).write(9).ack(9, 10)
    on.exchange(9, 10)


TTL = [
    Row("ttl_changed", FIRES, "once for good", ttls(*10 * [63], *10 * [62]), "note",
        also=titled("changed its length")),
    Row("ttl_changed", FIRES, "from packet to packet", ttls(*20 * [63, 62]), "note",
        also=titled("in turn")),
    Row("ttl_changed", FIRES, "in stretches", ttls(*4 * (20 * [63] + 20 * [62])), "note",
        also=titled("change between paths")),
    Row("ttl_changed", FIRES, "with the last packet", ttls(63, 63, 62), "note",
        also=framed(2, 3)),
    Row("ttl_changed", NOT, "always the same", ttls(*20 * [63])),
    Row("ttl_changed", NOT, "each direction has its own",
        wire(lambda on: [on.write(i, ip={"ttl": 63}).ack(i, i + 1, ip={"ttl": 61})
                         for i in range(9)])),
    Row("ttl_changed", NOT, "a CNP of a switch", wire(cnp_from_a_switch)),
    Row("ttl_changed", NOT, "a damaged packet", wire(one_is_damaged)),
    Row("ttl_changed", NOT, "its header is damaged",
        wire(lambda on: its_header_is_damaged(on, ttl=3))),
    Row("dscp_changed", NOT, "its header is damaged",
        wire(lambda on: its_header_is_damaged(on, tos=48 << 2 | 2))),
    Row("roce_priorities", NOT, "its header is damaged",
        wire(lambda on: its_header_is_damaged(on, tos=48 << 2 | 2))),
    Row("not_ect", NOT, "its header is damaged",
        wire(lambda on: its_header_is_damaged(on, tos=26 << 2))),
    Row("ttl_changed", CANNOT, "the point sees both sides of a router",
        wire(both_sides_of_a_router)),
]


def messages(*streams):
    """WRITEs of two packets, each (QPN, bytes of the first)."""
    @wire
    def talk(on):
        for qpn, mtu in streams:
            on.packet("a", "RC RDMA WRITE First", 0, qpn=qpn, payload=bytes(mtu),
                      headers=roce.reth(0, 7, mtu + 64))
            on.packet("a", "RC RDMA WRITE Last", 1, qpn=qpn, payload=bytes(64))
    return talk


def too_long(n=20, before=512, repeats=5, nak=True, last=True, first=True, acked=True,
             came=False):
    """So many WRITEs, and a message whose first packet of 2,108 bytes of IP never comes: a NAK
    asks for it as its last one does."""
    @wire
    def talk(on):
        def message():
            if first:
                on.packet("a", "RC RDMA WRITE First", n, payload=bytes(2048),
                          headers=roce.reth(0, 7, 2048 + 64))
            if last:
                on.packet("a", "RC RDMA WRITE Last", n + 1, payload=bytes(64),
                          ack_request=True)
        for i in range(n):
            on.write(i, length=before)
            if acked:
                on.ack(i, i + 1)
        for i in range(repeats + 1):
            message()
            if nak and i == 0:
                on.ack(n, n, syndrome=roce.NAK_PSN_SEQUENCE).wait(10_000)
                message()
            on.wait(5_000_000)
        if came:
            on.ack(n + 1, n + 1)
        on.wait(10**9).write(0, qpn=0x99)
    return talk


def points_to_the_mtu(_report, found):
    if "All of them are of queue pairs that stopped with a packet too long" not in \
            found[0]["detail"]:
        yield found[0]["detail"]
    if found[0]["advice"] != "Find the port whose MTU is too small first.":
        yield found[0]["advice"]


def response_too_long(n=20, before=512, repeats=5, tail=0, came=False, shown=True):
    """So many READs, and one whose responses of 2,048 bytes never come; the last one does, if it
    is of `tail` bytes, and has the READ asked for at once."""
    @wire
    def talk(on):
        def response(part, psn, length):
            headers = b"" if part == "Middle" else roce.aeth(roce.ACK_NO_CREDIT_LIMIT, 1)
            on.packet("b", f"RC RDMA READ Response {part}", psn, headers=headers,
                      payload=bytes(length))

        def read(psn, *lengths):
            on.packet("a", "RC RDMA READ Request", psn,
                      headers=roce.reth(0x1000, 7, sum(lengths)))
            for i, length in enumerate(lengths):
                part = ("Only" if len(lengths) == 1 else "First" if i == 0 else
                        "Last" if i == len(lengths) - 1 else "Middle")
                if shown or length < 2048:
                    response(part, psn + i, length)
        for i in range(n):
            read(i, before)
            on.wait(20_000)
        for _ in range(repeats + 1):
            read(n, 2048, 2048, *((tail,) if tail else ()))
            on.wait(20_000 if tail else 70_000_000)
        if came:
            read(n + 3, 512)
        on.wait(10**9).write(0, qpn=0x99)
    return talk


def unreliable(n, longer=0):
    """So many WRITEs on UC, of each of which the last packet alone comes; and that in front of
    some."""
    @wire
    def talk(on):
        for i in range(n):
            if i < longer:
                on.packet("a", "UC RDMA WRITE First", 2 * i, payload=bytes(2048),
                          headers=roce.reth(0, 7, 2048 + 64))
            on.packet("a", "UC RDMA WRITE Last", 2 * i + 1, payload=bytes(64))
    return talk


MTU = [
    Row("mtu_black_hole", FIRES, "a NAK asks for it as the last of its message comes",
        too_long(), "critical",
        also=titled("Packets of 2,108 bytes and more from 10.0.0.1 to 10.0.0.2 do not come")),
    Row("mtu_black_hole", FIRES, "nothing comes that would be asked for",
        too_long(nak=False, last=False), "warning",
        also=detailed("20 packets of up to 572 bytes before it were.")),
    Row("timeout", FIRES, "of a packet that is too long for its way",
        too_long(nak=False, last=False), "critical",
        also=points_to_the_mtu),
    Row("timeout", FIRES, "of a response that is too long for its way",
        response_too_long(), "warning", also=points_to_the_mtu),
    Row("mtu_black_hole", NOT, "too few shorter ones before",
        too_long(n=15, nak=False, last=False)),
    Row("mtu_black_hole", NOT, "as long ones came before", too_long(before=2048)),
    Row("mtu_black_hole", NOT, "it is sent again twice", too_long(nak=False, repeats=2)),
    Row("mtu_black_hole", NOT, "it comes in the end", too_long(came=True)),
    Row("mtu_black_hole", CANNOT, "the point is behind that port, and sees the last alone",
        too_long(first=False)),
    Row("mtu_black_hole", CANNOT, "the other direction was not captured",
        too_long(nak=False, acked=False)),
    Row("mtu_black_hole", FIRES, "a response to a READ, of which the last one comes",
        response_too_long(tail=100, repeats=12), "critical",
        also=both(titled("Packets of 2,096 bytes and more from 10.0.0.2 to 10.0.0.1 do not come"),
                  detailed("READs at once asked for it 12 times"))),
    Row("mtu_black_hole", FIRES, "none of them comes", response_too_long(), "warning",
        also=detailed("it was asked for again each time, and 20 packets of up to 560 bytes "
                      "before it were not.")),
    Row("mtu_black_hole", NOT, "too few shorter ones before", response_too_long(n=15)),
    Row("mtu_black_hole", NOT, "a response as long came before", response_too_long(before=2048)),
    Row("mtu_black_hole", NOT, "it is asked for again twice", response_too_long(repeats=2)),
    Row("mtu_black_hole", NOT, "READs go on behind it", response_too_long(came=True)),
    Row("mtu_black_hole", CANNOT, "the point is behind that port, and sees shorter ones alone",
        response_too_long(tail=100, shown=False)),
    Row("mtu_black_hole", FIRES, "last packets of messages alone come, on UC", unreliable(13),
        "warning",
        also=both(titled("Of messages of several packets from 10.0.0.1 to 10.0.0.2 only the last"),
                  detailed("the longest that came has 108 bytes of IP"))),
    Row("mtu_black_hole", FIRES, "the last response to a READ alone",
        response_too_long(tail=100, shown=False, repeats=12), "warning",
        also=titled("Of messages of several packets from 10.0.0.2 to 10.0.0.1 only the last")),
    Row("mtu_black_hole", NOT, "a few of them alone", unreliable(12)),
    Row("mtu_black_hole", NOT, "one long packet comes", unreliable(40, longer=1)),
    Row("small_mtu", FIRES, "1024 beside 4096", messages((5, 4096), (6, 1024)), "note",
        also=titled("path MTU of 1024, where 4096 goes")),
    Row("small_mtu", FIRES, "two of three", messages((5, 1024), (6, 2048), (7, 2048),
                                                     (8, 1024)), "note",
        also=titled("2 streams")),
    Row("small_mtu", NOT, "all 1024", messages((5, 1024), (6, 1024))),
    Row("small_mtu", CANNOT, "messages of one packet tell no MTU",
        wire(lambda on: on.write(0, length=1024, qpn=5).write(0, length=4096, qpn=6))),
]


def connection(forward, back, n=12, ends=lambda on: None):
    """WRITEs and their ACKs, with these bits in either direction."""
    @wire
    def talk(on):
        for i in range(n):
            on.write(i, **forward)
            if back is not None:
                on.ack(i, i + 1, **back)
        ends(on)
    return talk


def lost_with(forward, back):
    """A packet is asked for again."""
    @wire
    def talk(on):
        for i in range(12):
            on.write(i, **forward).ack(i, i + 1, **back)
        on.write(13, **forward).ack(12, 12, syndrome=roce.NAK_PSN_SEQUENCE, **back)
        for i in (12, 13):
            on.write(i, **forward).ack(i, i + 1, **back)
    return talk


def both(key, a, b):
    return {key: a}, {key: b}


AGREEMENT = [
    Row("migreq", FIRES, "0 and 1", connection(*both("migration", False, True)), "note",
        also=framed(1, 2)),
    Row("migreq", FIRES, "and a packet was lost",
        lost_with(*both("migration", False, True)), "warning",
        also=detailed("On 1 connection; 1 packet of it was lost.")),
    Row("migreq", NOT, "0 and 0", connection(*both("migration", False, False))),
    Row("migreq", NOT, "one end migrates", wire(
        lambda on: on.exchange(9).exchange(9, 9, migration=False))),
    Row("migreq", CANNOT, "one direction alone", connection({"migration": False}, None)),

    Row("p_key", FIRES, "other partitions", connection(*both("p_key", 0xFFFF, 0x8001)),
        "warning", also=framed(1, 2)),
    Row("p_key", FIRES, "limited members both", connection(*both("p_key", 0x7FFF, 0x7FFF)),
        "warning", also=titled("0x7fff")),
    Row("p_key", FIRES, "changes within a stream",
        connection(*both("p_key", 0xFFFF, 0xFFFF),
                   ends=lambda on: on.write(12, p_key=0x8005)), "warning",
        also=framed(1, 25)),
    Row("p_key", NOT, "a limited member and a full one",
        connection(*both("p_key", 0xFFFF, 0x7FFF))),
    Row("p_key", NOT, "a damaged packet", wire(one_is_damaged)),
    Row("p_key", CANNOT, "one direction alone", connection({"p_key": 0x8001}, None)),
]

def between(*lines):
    """An exchange of packets, and beside it the names of the hosts."""
    def make():
        return {"capture.pcap": wire(lambda on: on.exchange(9))(),
                "hosts": "\n".join(lines).encode()}
    return make


HOSTS = ("--hosts", "{dir}/hosts")


def all_across(report, found):
    rails = report["paths"]["rails"]
    if rails["within_bytes"] or rails["across_bytes"] != report["totals"]["wire_bytes"]:
        yield str(rails)
    if "100 %" not in found[0]["title"]:
        yield found[0]["title"]


RAILS = [
    Row("cross_rail", FIRES, "rail 0 to rail 1",
        between("10.0.0.1 gpu01 0", "10.0.0.2 gpu02 1"), "note", HOSTS, all_across),
    Row("cross_rail", NOT, "within rail 1",
        between("10.0.0.1 gpu01 1", "10.0.0.2 gpu02 1"), args=HOSTS),
    Row("cross_rail", NOT, "two ports of one host",
        between("10.0.0.1 gpu01 0", "10.0.0.2 gpu01 1"), args=HOSTS),
    Row("cross_rail", CANNOT, "an end without a rail",
        between("10.0.0.1 gpu01 0", "10.0.0.2 gpu02"), args=HOSTS),
    Row("cross_rail", CANNOT, "no names", between("10.0.0.1 gpu01 0", "10.0.0.2 gpu02 1")),
]

ROWS = TTL + MTU + AGREEMENT + RAILS
