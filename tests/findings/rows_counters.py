# SPDX-License-Identifier: GPL-2.0-or-later
"""Counters of a NIC beside what was captured of its host.

Captures of soft-RoCE have the kernel's own counters beside them (captures/*/truth.json):
at its own NIC a host counted exactly what was captured there.
"""

import json
import pathlib

import roce
from captures import wire
from row import CANNOT, FIRES, NOT, Row
from test_findings import SOURCE

A, B = "10.77.1.1", "10.77.1.2"
DIR = {"rxeA": A, "rxeB": B}


def given(before, after, capture, name="capture.pcap"):
    """Two files of counters beside a capture."""
    return lambda: {name: capture(), "before": before.encode(), "after": after.encode()}


def naks(n):
    """So many packets asked for again; the NAKs go to 10.0.0.1."""
    @wire
    def talk(on):
        for i in range(n):
            on.write(3 * i).ack(3 * i, 3 * i + 1)
            on.write(3 * i + 2).ack(3 * i + 1, 3 * i + 1, syndrome=roce.NAK_PSN_SEQUENCE)
            for psn in (3 * i + 1, 3 * i + 2):
                on.write(psn).ack(psn, psn + 1)
    return talk


def text(**counters):
    return "link mlx5_0/1 " + " ".join(f"{k} {v}" for k, v in counters.items())


BOTH = ("--counters-before", "{dir}/before", "--counters-after", "{dir}/after")


def of(address):
    return ("--counters-before", address + "={dir}/before",
            "--counters-after", address + "={dir}/after")


def risen(capture, **rise):
    """Counters that were 7 before."""
    return given(text(**dict.fromkeys(rise, 7)),
                 text(**{name: 7 + n for name, n in rise.items()}), capture)


def missed(name, n):
    def also(report, _found):
        got = [row["missed"] for check in report["counters"] for row in check["counters"]
               if row["name"] == name]
        if got != [n]:
            yield f"{name}: missed {got}, not {n}"
    return also


def kernel(scenario, host, point, address=None):
    """A sample, and what the kernel of a host counted meanwhile."""
    directory = pathlib.Path(SOURCE) / "captures" / scenario
    counted = json.loads((directory / "truth.json").read_text())["hw_counters"][host]
    rise = counted["delta_nonzero"]

    def make():
        suffix = "pcap.gz"
        data = (directory / f"{point}.{suffix}").read_bytes()
        names = ("sent_pkts", "rcvd_pkts", "out_of_seq_request", "rcvd_seq_err",
                 "rcvd_rnr_err", "send_rnr_err", "duplicate_request", "completer_retry_err")
        return {"capture.pcap": data,
                "before": json.dumps({host: dict.fromkeys(names, 1000)}).encode(),
                "after": json.dumps({host: {name: 1000 + rise.get(name, 0)
                                            for name in names}}).encode()}
    return make, of(address or DIR[host])


def agrees(scenario):
    for host, point in (("rxeA", "sender"), ("rxeB", "receiver")):
        make, args = kernel(scenario, host, point)
        yield Row("counters", NOT, f"{scenario}: {host} at its own NIC", make, args=args,
                  also=all_compared)


def all_compared(report, _found):
    for row in report["counters"][0]["counters"]:
        if row["verdict"] != "agrees":
            yield str(row)


def lost_on_the_way():
    make, args = kernel("03a_loss_data_0.5pct", "rxeA", "receiver")
    return Row("counters", FIRES, "11 packets were lost before they came here", make,
               "note", args, missed("sent_pkts", 11))


ROWS = [
    Row("counters", FIRES, "120 NAKs received, 100 captured",
        risen(naks(100), packet_seq_err=120), "warning", of("10.0.0.1"),
        missed("packet_seq_err", 20)),
    Row("counters", FIRES, "11 in 110, a tenth", risen(naks(99), packet_seq_err=110),
        "warning", of("10.0.0.1")),
    Row("counters", FIRES, "12 in 122, not a tenth", risen(naks(110), packet_seq_err=122),
        "note", of("10.0.0.1")),
    Row("counters", FIRES, "9 more, not many", risen(naks(3), packet_seq_err=12), "note",
        of("10.0.0.1")),
    Row("counters", FIRES, "fewer than captured", risen(naks(9), packet_seq_err=4), "note",
        of("10.0.0.1"), missed("packet_seq_err", 0)),
    Row("counters", FIRES, "no traffic was captured that is counted",
        risen(naks(2), sent_pkts=10**6), "note", of("10.0.0.1")),
    Row("counters", FIRES, "PFC frames that no capture at a host sees",
        risen(naks(2), rx_prio3_pause=5000), "note", of("10.0.0.1"),
        missed("rx_prio3_pause", 5000)),
    Row("counters", FIRES, "a counter of 32 bits passed its end",
        given(text(packet_seq_err=2**32 - 6), text(packet_seq_err=94), naks(70)),
        "warning", of("10.0.0.1"), missed("packet_seq_err", 30)),
    Row("counters", NOT, "as many as captured", risen(naks(9), packet_seq_err=9,
                                                      duplicate_request=0),
        args=of("10.0.0.1")),
    Row("counters", NOT, "more packets too early than NAKs",
        risen(naks(9), out_of_sequence=40), args=of("10.0.0.2")),
    Row("counters", NOT, "ethtool, of which nothing has to do with it",
        given("NIC statistics:\n  rx_packets: 1\n  tx_prio0_pause: 4\n",
              "NIC statistics:\n  rx_packets: 9\n  tx_prio0_pause: 4\n", naks(2)),
        args=of("10.0.0.1")),
    *agrees("03a_loss_data_0.5pct"), *agrees("05a_rnr"), *agrees("03c_loss_ack"),
    *agrees("03d_loss_read_resp"), *agrees("04a_reorder"), *agrees("01_write_rc_cm"),
    lost_on_the_way(),
    Row("counters", CANNOT, "whose they are", risen(naks(3), packet_seq_err=99),
        args=BOTH),
    Row("counters", CANNOT, "it was reset", given(text(packet_seq_err=9),
                                                  text(packet_seq_err=1), naks(3)),
        args=of("10.0.0.1")),

    Row("counters_unplaced", FIRES, "two hosts, and nobody says which",
        risen(naks(3), packet_seq_err=3), "note", BOTH),
    Row("counters_unplaced", FIRES, "nothing of that host was captured",
        risen(naks(3), packet_seq_err=3), "note", of("10.9.9.9")),
    Row("counters_unplaced", NOT, "captured at one of them",
        risen(naks(3), packet_seq_err=3), args=(*BOTH, "--captured-at", "10.0.0.1")),
    Row("counters_unplaced", NOT, "one host is an end of all",
        risen(wire(lambda on: on.exchange(3).frame(roce.ethernet(roce.rocev2(
            roce.Ip("10.0.0.3", "10.0.0.1", ident=5), 50_000, roce.transport(
                roce.OPCODE["RC RDMA WRITE Only"], dest_qpn=9, psn=0, payload=bytes(64),
                headers=roce.reth(0, 7, 64)))))), packet_seq_err=0), args=BOTH),
    Row("counters_unplaced", CANNOT, "no counters were given", naks(3)),

    Row("counters_reset", FIRES, "lower than before",
        given(text(packet_seq_err=9), text(packet_seq_err=8), naks(3)), "note",
        of("10.0.0.1")),
    Row("counters_reset", NOT, "the same as before",
        given(text(packet_seq_err=9), text(packet_seq_err=9), naks(3)),
        args=of("10.0.0.1")),
    Row("counters_reset", NOT, "it passed the end of its 32 bits",
        given(text(packet_seq_err=2**32 - 1), text(packet_seq_err=2), naks(3)),
        args=of("10.0.0.1")),
    Row("counters_reset", CANNOT, "it is in one of the files alone",
        given(text(out_of_sequence=9), text(packet_seq_err=1), naks(3)),
        args=of("10.0.0.1")),
]
