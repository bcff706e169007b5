# SPDX-License-Identifier: GPL-2.0-or-later
"""What did not arrive, and where it went."""

from artefacts import OnePerDirection, PartialPath
from captures import drop, late, two_hosts, wire
from row import CANNOT, FIRES, NOT, Row
from sim import ACKS, OUT_OF_ORDER, Impairment, Work

FEW = (Work("WRITE", 8192),) * 5       # 40 packets
TIMEOUT = {"timeout_ns": 500_000}
SPRAYED = {"a": OUT_OF_ORDER, "b": OUT_OF_ORDER}


def about(text):
    """The title says so."""
    def look(_report, found):
        if not any(text in finding["title"] for finding in found):
            yield f"{text!r} is not in {[f['title'] for f in found]}"
    return look


def retry(on):
    """Everything is acknowledged, and one packet is sent again all the same."""
    on.exchange(50).write(50).wait(5_000).ack(50, 51).wait(50_000_000).write(50)
    on.ack(50, 51).exchange(50, 51)


def retry_not_acknowledged(on):
    on.exchange(50).write(50).wait(50_000_000).write(50).ack(50, 51).exchange(50, 51)


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



ROWS = [
    Row("lost_before_capture", FIRES, "one of 480 is lost on the way here",
        two_hosts(forward=drop(100)), "warning", also=about("1 packet lost")),
    Row("lost_before_capture", FIRES, "one of 40 is more than 1 %",
        two_hosts(FEW, forward=drop(20)), "critical", also=about("1 packet lost")),
    Row("lost_before_capture", NOT, "it was late",
        two_hosts(forward=late(100))),
    Row("lost_before_capture", NOT, "it was lost behind this point",
        two_hosts(at="sender", forward=drop(100))),
    Row("lost_before_capture", CANNOT, "the point sees one way of several",
        two_hosts(artefacts=(PartialPath(2, by="packet"),), **SPRAYED)),

    Row("undelivered_after_capture", FIRES, "lost behind this point",
        two_hosts(at="sender", forward=drop(100)), "warning",
        also=about("did not arrive in order behind this point")),
    Row("undelivered_after_capture", FIRES, "a second point never saw it",
        two_hosts(FEW, at=("sender", "receiver"), forward=drop(20)), "critical",
        also=about("1 packet lost between")),
    Row("undelivered_after_capture", NOT, "nothing is lost", two_hosts(at="sender")),
    Row("undelivered_after_capture", CANNOT, "nobody is heard asking for it",
        two_hosts(at="sender", forward=drop(100), transport="UC")),

    Row("ack_lost", FIRES, "it was acknowledged long before it came again",
        wire(retry), "warning",
        also=about("because acknowledgements were lost")),
    Row("ack_lost", FIRES, "and the ACK had come back to where it was waited for",
        wire(retry), "warning", ("--captured-at", "10.0.0.1"),
        also=about("although acknowledgements had come")),
    Row("ack_lost", NOT, "the last packet of a message is lost, and no ACK was due before",
        wire(tail_lost)),
    Row("ack_lost", NOT, "no ACK was seen before", wire(retry_not_acknowledged)),
    Row("ack_lost", CANNOT, "the direction of the ACKs was not captured",
        lambda: {"sent.pcap": two_hosts(
            FEW, at="sender", a=TIMEOUT, artefacts=(OnePerDirection(),),
            backward=drop(7, space=ACKS))()["sender.0.pcap"]}),

    Row("data_or_ack_lost", FIRES, "no ACK was captured before it came again",
        wire(retry_not_acknowledged), "warning"),
    Row("data_or_ack_lost", NOT, "an ACK was", wire(retry)),
    Row("data_or_ack_lost", CANNOT, "the direction of the ACKs was not captured",
        lambda: {"sent.pcap": two_hosts(
            FEW, at="sender", a=TIMEOUT, artefacts=(OnePerDirection(),),
            backward=drop(7, space=ACKS))()["sender.0.pcap"]}),

    Row("corrupt", FIRES, "a payload bit flips on the way", wire(spoilt), "warning",
        also=about("1 packet")),
    Row("corrupt", NOT, "all are good", wire(lambda on: on.exchange(50))),
    Row("corrupt", CANNOT, "the ICRC was cut off", wire(spoilt, snap_length=96)),
    Row("corrupt", CANNOT, "nobody is to look", wire(spoilt), args=("--icrc=off",)),
]
