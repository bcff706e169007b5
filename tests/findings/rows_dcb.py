# SPDX-License-Identifier: GPL-2.0-or-later
"""What ports say of their priorities (DCBX), and what is on the wire."""

import roce
import tunnels
from captures import MAC, wire
from row import CANNOT, FIRES, NOT, Row

SWITCH, NIC = MAC["b"], MAC["a"]
SHARED = (50, 50, 0, 0, 0, 0, 0, 0)
CLASS_3 = (0, 0, 0, 1, 0, 0, 0, 0)   # priority 3 in a class of its own


def link(*frames, then=lambda on: None):
    """LLDP frames of a link, each (sender, TLV...); then what else there is."""
    @wire
    def talk(on):
        for sender, *tlvs in frames:
            on.frame(roce.lldp(*tlvs, src=sender, system="leaf1" if sender == SWITCH
                               else ""))
        then(on)
    return talk


def pfc(sender, *priorities, **how):
    return sender, roce.dcb_pfc(priorities, **how)


def ets(sender, *of):
    return sender, roce.dcb_ets(*of)


def mirrored(*frames):
    """Seen where a third port speaks as well: of which link, nobody knows."""
    return link(*frames, (roce.mac("02:00:00:00:01:03"), roce.dcb_pfc([3])))


def erspan(*frames, cut=0):
    """The same as a switch mirrors it."""
    @wire
    def talk(on):
        for n, (sender, *tlvs) in enumerate(frames):
            inner = roce.lldp(*tlvs, src=sender)
            inner = inner[:len(inner) - cut]
            on.frame(tunnels.carry(47, tunnels.gre(0x88BE, tunnels.erspan2(inner),
                                                   sequence=n)))
    return talk


def pauses(priority, sender=NIC, n=3):
    def then(on):
        for _ in range(n):
            on.frame(roce.pfc({priority: 0xFFFF}, src=sender))
    return then


def data(dscp, vlans=(), n=12):
    return lambda on: on.exchange(n, ip={"tos": dscp << 2 | 2}, vlans=vlans)


def titled(text):
    def also(_report, found):
        for finding in found:
            if text not in finding["title"]:
                yield f"{text!r} is not in {finding['title']!r}"
    return also


def framed(*frames):
    def also(_report, found):
        if [finding["frames"] for finding in found] != [list(frames)]:
            yield f"frames {[finding['frames'] for finding in found]}, not {frames}"
    return also


def all_cut(report, _found):
    if [(port["truncated"], port["malformed"]) for port in report["dcb"]["ports"]] != \
            2 * [(1, 0)]:
        yield str(report["dcb"]["ports"])


def ports(*pfcs, chassis=SWITCH):
    """Ports of a switch, by what each has PFC on for; None: it does not say."""
    @wire
    def talk(on):
        for i, on_for in enumerate(pfcs):
            tlvs = [] if on_for is None else [roce.dcb_pfc(on_for)]
            on.frame(roce.lldp(*tlvs, src=roce.mac(f"02:00:00:00:02:{i:02x}"),
                               port=f"swp{i}", system="leaf1",
                               chassis=chassis or bytes([2, 0, 0, 0, 3, i])))
    return talk


ROWS = [
    Row("dcb_ports_differ", FIRES, "3 and 4", ports([3], [3], [4]), "note",
        also=framed(1, 3)),
    Row("dcb_ports_differ", NOT, "all 3", ports([3], [3], [3])),
    Row("dcb_ports_differ", NOT, "of different switches", ports([3], [3], [4], chassis=None)),
    Row("dcb_ports_differ", CANNOT, "one does not say", ports([3], None)),

    Row("dcb_pfc_mismatch", FIRES, "nobody is willing", link(pfc(NIC, 3), pfc(SWITCH, 4)),
        "warning", also=framed(1, 2)),
    Row("dcb_pfc_mismatch", FIRES, "one has one more",
        link(pfc(NIC, 3), pfc(SWITCH, 3, 4)), "warning", also=titled("3 and 4")),
    Row("dcb_pfc_mismatch", FIRES, "CEE at both ends",
        link((NIC, roce.cee(roce.cee_pfc([3]))), (SWITCH, roce.cee(roce.cee_pfc([4])))),
        "warning"),
    Row("dcb_pfc_mismatch", FIRES, "CEE: the one is not enabled",
        link((NIC, roce.cee(roce.cee_pfc([3], on=False))),
             (SWITCH, roce.cee(roce.cee_pfc([3])))), "warning"),
    Row("dcb_pfc_mismatch", FIRES, "a willing end did not follow",
        link(*2 * [pfc(NIC, 4, willing=True), pfc(SWITCH, 3)]), "warning",
        also=framed(3, 4)),
    Row("dcb_pfc_mismatch", FIRES, "seen in a mirror", erspan(pfc(NIC, 3), pfc(SWITCH, 4)),
        "warning", also=framed(1, 2)),
    Row("dcb_pfc_mismatch", NOT, "a willing end may still follow",
        link(pfc(NIC, 4, willing=True), pfc(SWITCH, 3)), "note"),
    Row("dcb_pfc_mismatch", NOT, "it has followed",
        link(pfc(NIC, 4, willing=True), pfc(SWITCH, 3), pfc(NIC, 3, willing=True))),
    Row("dcb_pfc_mismatch", NOT, "the same in either language",
        link(pfc(NIC, 3), (SWITCH, roce.cee(roce.cee_pfc([3]))))),
    Row("dcb_pfc_mismatch", CANNOT, "one end does not speak of PFC",
        link(pfc(NIC, 3), (SWITCH,))),
    Row("dcb_pfc_mismatch", CANNOT, "one end alone", link(pfc(NIC, 3))),
    Row("dcb_pfc_mismatch", CANNOT, "three ports", mirrored(pfc(NIC, 3), pfc(SWITCH, 4))),
    Row("dcb_pfc_mismatch", CANNOT, "what says so is cut",
        wire(lambda on: on.frame(roce.lldp(roce.dcb_pfc([3]), src=NIC))
             .frame(roce.lldp(roce.dcb_pfc([4]), src=SWITCH)[:40], 60))),

    Row("dcb_pfc_mismatch", CANNOT, "a mirror cut it",
        erspan(pfc(NIC, 3), pfc(SWITCH, 4), cut=23), also=all_cut),

    Row("dcb_ets_mismatch", FIRES, "other shares",
        link(ets(NIC, CLASS_3, SHARED), ets(SWITCH, CLASS_3, (10, 90) + 6 * (0,))), "note",
        also=framed(1, 2)),
    Row("dcb_ets_mismatch", FIRES, "other groups",
        link(ets(NIC, CLASS_3, SHARED), ets(SWITCH, (0, 0, 0, 0, 1, 0, 0, 0), SHARED)),
        "note"),
    Row("dcb_ets_mismatch", FIRES, "one serves it first",
        link(ets(NIC, CLASS_3, SHARED),
             ets(SWITCH, CLASS_3, SHARED, (roce.TSA_ETS, roce.TSA_STRICT) + 6 * (2,))),
        "note"),
    Row("dcb_ets_mismatch", NOT, "the same under other numbers",
        link(ets(NIC, CLASS_3, (40, 60) + 6 * (0,)),
             ets(SWITCH, (5, 5, 5, 2, 5, 5, 5, 5), (0, 0, 60, 0, 0, 40, 0, 0)))),
    Row("dcb_ets_mismatch", CANNOT, "one end alone", link(ets(NIC, CLASS_3, SHARED))),

    Row("dcb_pause_not_enabled", FIRES, "it says itself that PFC is off",
        link(pfc(NIC, 3), then=pauses(4)), "warning",
        also=titled("says that it has PFC off")),
    Row("dcb_pause_not_enabled", FIRES, "the other end has it off",
        link(pfc(SWITCH, 3), then=pauses(4)), "warning",
        also=titled("leaf1 swp1 has PFC off")),
    Row("dcb_pause_not_enabled", NOT, "both have it on",
        link(pfc(NIC, 3, 4), pfc(SWITCH, 3, 4), then=pauses(4))),
    Row("dcb_pause_not_enabled", NOT, "an XOFF that asks for nothing of it",
        link(pfc(NIC, 3), pfc(SWITCH, 3), then=pauses(3))),
    Row("dcb_pause_not_enabled", CANNOT, "nobody speaks of PFC",
        link((NIC,), (SWITCH,), then=pauses(4))),
    Row("dcb_pause_not_enabled", CANNOT, "three ports, and not the one that pauses",
        mirrored(pfc(NIC, 3), pfc(SWITCH, 3),
                 pfc(roce.mac("02:00:00:00:01:04"), 3)), None),

    Row("dcb_application", FIRES, "wanted in 3, seen in 0",
        link((SWITCH, roce.dcb_pfc([3]), roce.dcb_apps((3, roce.APP_UDP, 4791))),
             then=data(0)), "warning"),
    Row("dcb_application", FIRES, "and no PFC for either",
        link((SWITCH, roce.dcb_apps((3, roce.APP_PORT, 4791))), then=data(0)), "note"),
    Row("dcb_application", FIRES, "CEE",
        link((SWITCH, roce.cee(roce.cee_pfc([3]), roce.cee_apps((3, True, 4791)))),
             then=data(0)), "warning"),
    Row("dcb_application", NOT, "wanted in 3, seen in 3",
        link((SWITCH, roce.dcb_pfc([3]), roce.dcb_apps((3, roce.APP_UDP, 4791))),
             then=data(26))),
    Row("dcb_application", NOT, "wanted in 3, tagged 3",
        link((SWITCH, roce.dcb_pfc([3]), roce.dcb_apps((3, roce.APP_UDP, 4791))),
             then=data(0, [roce.Vlan(100, pcp=3)]))),
    Row("dcb_application", NOT, "the map of the network has it in 3",
        link((SWITCH, roce.dcb_pfc([3]), roce.dcb_apps((3, roce.APP_UDP, 4791))),
             then=data(8)), args=("--dscp-map", "8:3")),
    Row("dcb_application", CANNOT, "the table has other ports alone",
        link((SWITCH, roce.dcb_apps((3, roce.APP_UDP, 4420), (3, roce.APP_TCP, 4791))),
             then=data(0))),
    Row("dcb_application", CANNOT, "CEE's table is not enabled",
        link((SWITCH, roce.cee(roce.cee_apps((3, True, 4791), on=False))), then=data(0))),

    Row("dcb_dscp_map", FIRES, "26 in 4",
        link((SWITCH, roce.dcb_apps((4, roce.APP_DSCP, 26))), then=data(26)), "note",
        also=titled("DSCP 26 in priority 4")),
    Row("dcb_dscp_map", NOT, "26 in 3",
        link((SWITCH, roce.dcb_apps((3, roce.APP_DSCP, 26))), then=data(26))),
    Row("dcb_dscp_map", NOT, "the report was told",
        link((SWITCH, roce.dcb_apps((4, roce.APP_DSCP, 26))), then=data(26)),
        args=("--dscp-map", "26:4")),
    Row("dcb_dscp_map", CANNOT, "no data with that DSCP",
        link((SWITCH, roce.dcb_apps((4, roce.APP_DSCP, 26))), then=data(24))),
]
