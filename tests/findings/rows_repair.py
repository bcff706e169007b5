# SPDX-License-Identifier: GPL-2.0-or-later
"""Retransmission, refusals, and what came more than once or late."""

import roce
from artefacts import DeliverTwice, OnePerDirection
from captures import PORT, START_NS, Path, Wire, drop, late, two_hosts, wire
from row import CANNOT, FIRES, NOT, Row, both
from rows_loss import detailed, retry_held
from sim import ACKS, Impairment, Work

WRITES = (Work("WRITE", 4096),) * 10
REFUSED = (*WRITES, Work("WRITE", 4096, nak=roce.NAK_REMOTE_ACCESS))
SENDS = (Work("SEND", 1000),) * 40
SHORT = {"timeout_ns": 500_000}
IPV6 = ("fd00::1", "fd00::2")


def refusal(syndrome):
    def talk(on):
        on.exchange(20).write(20).ack(20, 20, syndrome=syndrome)
    return talk


def fires_frames(n):
    def look(_report, found):
        if len(found[0]["frames"]) != n:
            yield f"{len(found[0]['frames'])} frames, not {n}: {found[0]['frames']}"
    return look


def came_twice(_report, found):
    """Nobody says who made the copies."""
    yield from (f["title"] for f in found if not f["title"].endswith("came twice"))


def again(wait_ns):
    """A packet is sent again though nobody asked for it."""
    def talk(on):
        on.exchange(50).write(50).wait(wait_ns).write(50).ack(50, 51).exchange(50, 51)
    return talk


def unheard(on):
    """Two rounds before anything is heard of the receiver: the newer one was a timeout, as soon
    as it is known that no NAK asked for it."""
    on.write(0).write(1).wait(50_000_000).write(0).wait(3_000).write(1)
    on.wait(50_000_000).write(1).exchange(20, 2)


def shown_by(*frames):
    def look(_report, found):
        if found[0]["frames"] != list(frames):
            yield f"{found[0]['frames']}, not {frames}"
    return look


def repeats(n, wait_ns=5_000_000, then=lambda on: on.wait(10**9).write(0, qpn=0x99)):
    """A packet that is sent again and again; then what?"""
    def talk(on):
        on.exchange(50).write(50)
        for _ in range(n):
            on.wait(wait_ns).write(50)
        then(on)
    return talk


def of_others(psn, ahead):
    """A third host that was heard of, and if so many repeats are still to come once more."""
    def talk(on):
        third = {"ip": {"src": "10.0.0.3"}, "sender": "b", "qpn": 0x77}
        on.exchange(50).write(psn, **third).write(50)
        for left in range(3, 0, -1):
            on.wait(5_000_000)
            if left == ahead:
                on.write(psn + 1, **third)
            on.write(50)
        on.wait(10**9).write(0, qpn=0x99)
    return talk


def others_are_answered(on):
    on.wait(10**9).write(0, qpn=0x99).ack(0, 1, qpn=0x98)


def held_up_on_the_way():
    """Between two points a link stands still for longer than the sender waits."""
    path = Path(one=0, two=0)
    path.send(lambda on, _: on.exchange(50))
    one, two = path.points.values()
    one.write(50).wait(5_000_000).write(50)
    two.now = one.now
    two.write(50).write(50)
    one.now = two.now
    path.send(lambda on, _: on.ack(50, 51)).send(lambda on, _: on.ack(50, 51))
    path.send(lambda on, _: on.exchange(50, 51))
    return path.bytes()


def silent_at_two(held_ns):
    """A timeout that both points know, and so long of its 50 ms a link between them held the
    first copy up."""
    path = Path(two=0, one=0)
    two, one = path.points.values()

    def acknowledge(psn):
        path.send(lambda on, _: on.wait(3_000 if on is one else 0).ack(psn, psn + 1)
                  .wait(3_000 if on is two else 0))

    for i in range(100):
        two.wait(held_ns if i == 50 else 0)
        path.send(lambda on, _, i=i: on.write(i))
        if i == 50:
            one.wait(50_000_000).write(50)
            two.wait(50_000_000 - held_ns).write(50)
        acknowledge(i)
    return path.bytes()


def late_tail(on):
    """A sender is paused for longer than it waits for ACKs."""
    on.exchange(50)
    for psn in range(50, 58):
        on.write(psn)
    on.wait(50_000_000).write(50).ack(52, 53).ack(57, 58).exchange(20, 58)


def answered(on):
    """The last repeat gets through, and nothing is left to do."""
    on.ack(50, 51).wait(10**9).write(0, qpn=0x99)


def one_unanswered(on):
    """Another queue pair sends a message again and again, and nothing is said of it."""
    on.exchange(20)
    for _ in range(5):
        on.write(0, qpn=0x99).wait(5_000_000)
    on.exchange(20, 20)


def answered_elsewhere(on):
    """The same, but its packets are answered on another way: it goes on, and repeats others."""
    on.exchange(20)
    for psn in range(40):
        on.write(psn, qpn=0x99)
        if psn % 10 == 9:
            on.wait(20_000).write(psn, qpn=0x99)
    on.exchange(20, 20)


def answered_in_the_end(on):
    """It repeats one packet, and goes on once that is answered on another way."""
    on.exchange(20)
    for _ in range(3):
        on.write(0, qpn=0x99).wait(5_000_000)
    on.write(1, qpn=0x99).exchange(20, 20).wait(50_000_000).write(2, qpn=0x99)


def connected_in_vain(on):
    """CM answers, and the queue pair that it named does not."""
    for psn, (sender, mad) in enumerate((
            ("a", roce.cm_req(1, comm_id=1, qpn=0x11, mtu=1024, starting_psn=9)),
            ("b", roce.cm_rep(1, comm_id=2, remote_comm_id=1, qpn=0x22, starting_psn=0)))):
        on.frame(roce.ethernet(roce.rocev2(on.ip(sender), PORT, roce.gsi(mad, psn))))
    for _ in range(5):
        on.write(0).wait(5_000_000)


def given_up(on):
    """The other queue pair repeats no more, and the capture goes on."""
    one_unanswered(on)
    on.wait(30_000_000).exchange(20, 40)


def given_up_unnumbered(on):
    """Likewise of two packets that nothing numbers."""
    on.exchange(20)
    for _ in range(5):
        for psn in range(2):
            on.write(psn, qpn=0x99, ip={"ident": 7})
        on.wait(5_000_000)
    on.exchange(20, 20).wait(30_000_000).exchange(20, 40)


def given_up_later(on):
    """It had gone on before, so that somebody answered."""
    on.exchange(20)
    for psn in (0, 1, 2, 3, 3, 3, 3, 3):
        on.write(psn, qpn=0x99).wait(5_000_000)
    on.exchange(20, 20).wait(30_000_000).exchange(20, 40)


def given_up_anew(on):
    """The queue pair that has its number now."""
    on.exchange(20).write(0, qpn=0x99).write(1, qpn=0x99).wait(5_000_000)
    for _ in range(5):
        on.write(0x500000, qpn=0x99).wait(5_000_000)
    on.exchange(20, 20).wait(30_000_000).exchange(20, 40)


def disconnected(on):
    """What nobody answered is taken down again."""
    connected_in_vain(on)
    mad = roce.cm_dreq(2, comm_id=1, remote_comm_id=2, remote_qpn=0x22)
    on.frame(roce.ethernet(roce.rocev2(on.ip("a"), PORT, roce.gsi(mad, 2))))


def says(*texts, never=()):
    """Title or detail have these, and the detail none of those."""
    def look(_report, found):
        said = found[0]["title"] + "\n" + found[0]["detail"]
        yield from (f"{text!r} is not in {said!r}" for text in texts if text not in said)
        yield from (f"{text!r} is in {found[0]['detail']!r}" for text in never
                    if text in found[0]["detail"])
    return look


def advises(text):
    """What to do has it."""
    def look(_report, found):
        yield from (f["advice"] for f in found if text not in f["advice"])
    return look


def tail_loss(on):
    on.exchange(50).write(50)


def one_way(made, name="sender.0.pcap"):
    return lambda: {"sent.pcap": made()[name]}


DIRECTIONS = (OnePerDirection(),)


def side_by_side():
    """A few packets at three points, two of which see one direction and the third the
    other one: each file begins a moment before another one ends."""
    files = {}
    for name, sender, later_ns in (("a.pcap", "a", 0), ("b.pcap", "b", 200),
                                   ("c.pcap", "b", 1_200)):
        on = Wire(START_NS + later_ns)
        for psn in range(3):
            if sender == "a":
                on.packet("a", "RC RDMA READ Request", psn, headers=roce.reth(0, 7, 64))
            else:
                on.packet("b", "RC RDMA READ Response Only", psn, payload=bytes(64),
                          headers=roce.aeth(roce.ACK_NO_CREDIT_LIMIT, psn))
            on.wait(100_000)
        files[name] = on.bytes()
    return files


def restarted(on):
    """The queue pair is set up anew, far away."""
    on.exchange(50).wait(10**9).exchange(50, 0x800000)


def message(on, psn, size, qpn=None):
    """Of two packets of that size."""
    kinds = {"qpn": qpn} if qpn else {}
    on.packet("a", "RC RDMA WRITE First", psn, headers=roce.reth(0x1000, 7, 2 * size),
              payload=bytes(size), **kinds)
    on.packet("a", "RC RDMA WRITE Last", psn + 1, payload=bytes(size), ack_request=True,
              **kinds)
    return on


def too_large(dead, alive):
    """A queue pair is answered, another one with packets of another size never."""
    def talk(on):
        for i in range(0, 40, 2):
            message(on, i, alive).ack(i + 1, i // 2 + 1)
        for _ in range(5):
            message(on.wait(1_000_000), 5_000, dead, qpn=0x99)
        for i in range(40, 60, 2):
            message(on, i, alive).ack(i + 1, i // 2 + 1)
    return talk


ROWS = [
    Row("fatal_nak", FIRES, "remote access error",
        two_hosts(REFUSED), "critical", also=fires_frames(2)),
    Row("fatal_nak", FIRES, "invalid request",
        wire(refusal(roce.NAK_INVALID_REQUEST)), "critical",
        also=says("NAKs: 1 invalid request.")),
    Row("fatal_nak", FIRES, "remote operational error",
        wire(refusal(roce.NAK_REMOTE_OPERATIONAL)), "critical",
        also=advises("An error inside the receiving host")),
    Row("fatal_nak", NOT, "a sequence NAK refuses nothing",
        wire(refusal(roce.NAK_PSN_SEQUENCE))),
    Row("fatal_nak", NOT, "nor does an RNR NAK", wire(refusal(roce.rnr_nak(1)))),
    Row("fatal_nak", CANNOT, "the syndrome was cut off",
        wire(refusal(roce.NAK_REMOTE_ACCESS), snap_length=54)),

    Row("rnr", FIRES, "each time the requester waits for as long as it has to",
        two_hosts(SENDS, b={"receives": 4, "rnr_timer": 5}), "warning",
        also=says("The requester waited for as long as it was asked to 51 times.")),
    Row("rnr", FIRES, "nothing follows", wire(refusal(roce.rnr_nak(1))), "warning",
        also=says("No round of retransmission followed.", never=("waited", "0"))),
    Row("rnr", NOT, "there are receives enough",
        two_hosts(SENDS, b={"receives": 40, "rnr_timer": 5})),
    Row("rnr", CANNOT, "the direction of the NAKs was not captured",
        one_way(two_hosts(SENDS, at="sender", b={"receives": 4, "rnr_timer": 5},
                          artefacts=(OnePerDirection(),)))),

    Row("timeout", FIRES, "the last packet is lost",
        two_hosts(WRITES, a=SHORT, forward=drop(39)), "warning"),
    Row("timeout", FIRES, "once, for as long as it says",
        wire(again(50_000_000)), "warning",
        also=says("for that long: 50.0 ms.", never=("in all", "stopped"))),
    Row("timeout", FIRES, "three repeats without an answer, and nothing more",
        wire(repeats(3)), "critical",
        also=says("5.00 ms at the longest, 15.0 ms in all.",
                  "1 queue pair stopped after 3 unanswered repeats (to QP 0x",
                  "10.0.0.2 has sent no RoCE packet since")),
    Row("timeout", FIRES, "then nothing came from anyone but the sender: its link may be it",
        wire(of_others(5, 0)), "critical",
        also=says("10.0.0.2 has sent no RoCE packet since",
                  "Nor did any other host but 10.0.0.1")),
    Row("timeout", FIRES, "another host is heard of while it repeats",
        wire(of_others(5, 1)), "critical",
        also=says("10.0.0.2 has sent no RoCE packet since", never=("Nor did",))),
    Row("timeout", FIRES, "the receiver speaks to others, but to this queue pair no more",
        wire(repeats(3, then=others_are_answered)), "critical",
        also=says("1 queue pair stopped", "10.0.0.2 was heard of later.", never=("has sent no",))),
    Row("timeout", FIRES, "two are too few to say that it stopped",
        wire(repeats(2)), "warning", also=says(never=("stopped",))),
    Row("timeout", FIRES, "the last one is answered", wire(repeats(5, then=answered)),
        "warning", also=says(never=("stopped", "ended"))),
    Row("timeout", FIRES, "whether it stopped is not known: the capture ends",
        wire(repeats(7, then=lambda on: on.wait(5_000_000).write(0, qpn=0x99))), "critical",
        also=says("1 queue pair had, when the capture ended, 7 unanswered", never=("stopped",))),
    Row("timeout", FIRES, "and whether the receiver is gone is not, either",
        wire(repeats(7, then=lambda on: on.wait(5_000_000).write(0, qpn=0x99, sender="b"))),
        "warning", also=says("when the capture ended, 7 unanswered", never=("has sent no",))),
    Row("timeout", FIRES, "known at one of two points: what was sent came, only late",
        held_up_on_the_way, "warning",
        also=says("1 was needless: what it repeated was late and came.",
                  "All that was sent came to two.pcap.")),
    Row("timeout", FIRES, "known at both, of which the one behind a pause saw less silence",
        lambda: silent_at_two(40_000_000), "warning",
        also=says("for that long: 50.0 ms.")),
    Row("timeout", FIRES, "the first copies come while they are sent again",
        wire(late_tail), "warning", also=advises("longer than the ACK timeout")),
    Row("timeout", FIRES, "a pause held it up for most of the silence before",
        wire(retry_held(40_000_000)), "warning", ("--link-speed=100G",),
        also=both(says("paused priority 3 for 40 ms of the longest silence"),
                  advises("why the port that paused did so"))),
    Row("timeout", FIRES, "a pause held it up for less than half of it",
        wire(retry_held(10_000_000)), "warning", ("--link-speed=100G",),
        also=advises("remove the loss")),
    Row("timeout", NOT, "a NAK asked for it", two_hosts(WRITES, forward=drop(20))),
    Row("timeout", CANNOT, "the capture ends before it is sent again", wire(tail_loss)),

    Row("unexplained_round", FIRES, "too soon for a timeout, and no NAK",
        wire(again(3_000)), "warning", also=advises("the requester's own NIC")),
    Row("unexplained_round", FIRES, "the other direction was not captured",
        lambda: {"sent.pcap": two_hosts(
            WRITES, at="sender", forward=drop(20), artefacts=DIRECTIONS)()["sender.0.pcap"]},
        "warning", also=advises("both directions")),
    Row("unexplained_round", FIRES, "nothing answers one queue pair, though others are",
        wire(one_unanswered), "warning",
        also=both(says("and not QP 0x99 (UDP source port"),
                  advises("one of several paths"))),
    Row("unexplained_round", FIRES, "nothing answers, though the receiver answered CM",
        wire(connected_in_vain), "warning",
        also=both(says("10.0.0.2 was heard here, and did not answer QP 0x22"),
                  advises("one of several paths"))),
    Row("unexplained_round", FIRES, "nothing answered one, and it gave up",
        wire(given_up), "critical",
        also=says("1 queue pair stopped after 4 unanswered repeats")),
    Row("unexplained_round", FIRES, "the same where nothing numbers packets",
        wire(given_up_unnumbered), "critical",
        also=says("1 queue pair stopped after 4 unanswered repeats")),
    Row("unexplained_round", FIRES, "what was sent before was answered on another way",
        wire(given_up_later), "warning", also=says(never=("stopped after",))),
    Row("unexplained_round", FIRES, "nothing answered one that was made anew, and it gave up",
        wire(given_up_anew), "critical",
        also=says("1 queue pair stopped after 4 unanswered repeats")),
    Row("unexplained_round", FIRES, "nothing answered it until its connection was ended",
        wire(disconnected), "critical",
        also=says("1 queue pair stopped after 4 unanswered repeats")),
    Row("unexplained_round", FIRES, "the answers take another way, for it goes on",
        wire(answered_elsewhere), "warning", also=advises("both directions")),
    Row("unexplained_round", FIRES, "the same, of one that repeated one packet for a while",
        wire(answered_in_the_end), "warning", also=advises("both directions")),
    Row("unexplained_round", FIRES, "of a path MTU that nobody is answered with",
        wire(too_large(2048, 1024)), "warning",
        also=both(says("Their path MTU is 2048 bytes", "have no more than 1024"),
                  advises("a port on the way whose MTU is too small"))),
    Row("unexplained_round", FIRES, "of a path MTU that others are answered with",
        wire(too_large(2048, 2048)), "warning",
        also=says(never=["have no more than"])),
    Row("unexplained_round", FIRES, "of two, the newer one turned out to be a timeout",
        wire(unheard), "warning", also=shown_by(3)),
    Row("timeout", FIRES, "and is shown as one", wire(unheard), "warning", also=shown_by(5)),
    Row("unexplained_round", NOT, "another point knows that it was a timeout",
        held_up_on_the_way),
    Row("unexplained_round", NOT, "after a long silence", wire(again(50_000_000))),
    Row("unexplained_round", NOT, "the first of a stream was overtaken on its way here",
        wire(lambda on: on.write(1).write(0).ack(1, 2).exchange(20, 2))),
    Row("unexplained_round", CANNOT, "nothing is sent again", wire(tail_loss)),

    Row("reordered", FIRES, "one is late", two_hosts(WRITES, forward=late(20)),
        "warning", also=fires_frames(1)),
    Row("reordered", FIRES, "one is late, and the receiver takes it",
        wire(lambda on: on.exchange(20).write(21, ip={"ident": 43}).write(20, ip={"ident": 42})
             .ack(21, 22).exchange(20, 22)), "note", also=fires_frames(1)),
    Row("reordered", FIRES, "behind the point that saw most, since one was lost",
        two_hosts(WRITES, forward=Impairment(late=(("requests", 20, 1),), reorder_ns=30_000,
                                             drop=(("requests", 90, 1),)),
                  at=("sender", "receiver")), "warning"),
    Row("reordered", FIRES, "of UC, and a message is dropped for it",
        two_hosts((Work("WRITE", 8192),) * 20, transport="UC", forward=late(20)), "warning",
        also=detailed("1 message or more was not whole and in order here.")),
    Row("reordered", FIRES, "of UC, messages of one packet each",
        two_hosts((Work("SEND", 64),) * 60, transport="UC", forward=late(20)), "note",
        also=detailed("receivers take messages of one packet in any order")),
    Row("reordered", NOT, "one is lost", two_hosts(WRITES, forward=drop(20))),
    Row("reordered", CANNOT, "it is late behind this point",
        two_hosts(WRITES, at="sender", forward=late(20))),

    Row("duplicated", FIRES, "the network makes a copy",
        two_hosts(WRITES, forward=Impairment(duplicate=0.05)), "warning", also=says(
            "from 10.9.0.1 to 10.9.0.2 delivered twice by the network",
            "with the IPv4 identification of the first")),
    Row("duplicated", FIRES, "or whoever it is, where no identification tells",
        two_hosts(WRITES, forward=Impairment(duplicate=0.05), addresses=IPV6), "warning",
        also=says("from fd00::1 to fd00::2 came twice\n",
                  "IPv6 has no identification")),
    Row("duplicated", FIRES, "of nearly all, or whoever captured does",
        two_hosts(WRITES, forward=Impairment(duplicate=0.97)), "warning",
        also=came_twice),
    Row("duplicated", FIRES, "behind the point that saw most, since one was lost",
        two_hosts(forward=Impairment(duplicate=0.05, drop=(("requests", 30, 1),)),
                  at=("sender", "receiver")), "warning"),
    Row("duplicated", NOT, "the sender sends again, after a NAK",
        two_hosts(WRITES, forward=drop(20))),
    Row("duplicated", NOT, "both ends have a file for each direction",
        two_hosts(at=("sender", "receiver"), artefacts=DIRECTIONS)),
    Row("duplicated", NOT, "both ends have an interface for each direction",
        two_hosts(at=("sender", "receiver"), artefacts=DIRECTIONS, parts="interfaces")),
    Row("duplicated", NOT, "three points, and few packets at each", side_by_side),
    Row("duplicated", CANNOT, "all of five packets came twice: a note",
        two_hosts((Work("WRITE", 64),) * 5, transport="UC", cm=False,
                  artefacts=(DeliverTwice(),)), "note"),
    Row("duplicated", CANNOT, "the capture begins between the two",
        wire(lambda on: on.write(7).ack(7).exchange(40, 8))),

    Row("unattributed_nak", FIRES, "the requests were not captured",
        lambda: {"answers.pcap": two_hosts(
            WRITES, at="receiver", forward=drop(20), cm=False,
            artefacts=(OnePerDirection(),))()["receiver.1.pcap"]}, "warning"),
    Row("unattributed_nak", NOT, "they were", two_hosts(WRITES, forward=drop(20))),
    Row("unattributed_nak", CANNOT, "its syndrome was cut off",
        lambda: {"answers.pcap": two_hosts(
            WRITES, at="receiver", forward=drop(20), cm=False, snap_length=54,
            artefacts=(OnePerDirection(),))()["receiver.1.pcap"]}),

    Row("qpn_reused", FIRES, "PSNs begin anew far away", wire(restarted), "note",
        also=says("PSNs started anew 1 time.")),
    Row("qpn_reused", NOT, "PSNs wrap",
        wire(lambda on: on.exchange(50, 0xFFFFF0 - 0x1000000))),
    Row("qpn_reused", CANNOT, "a gap as wide as a capture may miss",
        wire(lambda on: on.exchange(50).exchange(50, 60))),
]
