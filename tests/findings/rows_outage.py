# SPDX-License-Identifier: GPL-2.0-or-later
"""Queue pairs that nothing answers, all at once."""

import dataclasses

import roce
from captures import PORT, Wire
from row import CANNOT, FIRES, NOT, Row, both

TIMER_NS = 10_000_000


@dataclasses.dataclass
class QueuePair:
    """Of two hosts, by number; the second one answers."""
    src: int
    dst: int
    number: int
    psn: int
    length: int = 64


class Network:
    """WRITEs of some queue pairs, at one point that sees them all."""

    def __init__(self, *ends, answers=True):
        self.on = Wire()
        self.answers = answers
        self.pairs = [QueuePair(src, dst, 0x100 + i, 1000 * (i + 1))
                      for i, (src, dst) in enumerate(ends)]

    def packet(self, src, dst, opcode, qpn, psn, **how):
        self.on.ident += 1
        ip = roce.Ip(f"10.0.0.{src}", f"10.0.0.{dst}", ident=self.on.ident & 0xFFFF,
                     tos=26 << 2 | roce.ECN_ECT0)
        ib = roce.transport(roce.OPCODE[opcode], psn=psn, dest_qpn=qpn, **how)
        self.on.frame(roce.ethernet(roce.rocev2(ip, PORT, ib)))

    def write(self, pair, psn=None):
        self.packet(pair.src, pair.dst, "RC RDMA WRITE Only", pair.number,
                    pair.psn if psn is None else psn, ack_request=True,
                    headers=roce.reth(0x1000, 7, pair.length), payload=bytes(pair.length))

    def ack(self, pair):
        if self.answers:
            self.packet(pair.dst, pair.src, "RC Acknowledge", pair.number | 0x10000, pair.psn,
                        headers=roce.aeth(roce.ACK_NO_CREDIT_LIMIT, pair.psn & 0xFFF))
        pair.psn += 1

    def of(self, numbers):
        return self.pairs if numbers is None else [self.pairs[i] for i in numbers]

    def run(self, n=20, pairs=None, after_ns=0):
        """Each packet is answered."""
        for _ in range(n):
            for pair in self.of(pairs):
                self.write(pair)
                self.on.wait(after_ns)
                self.ack(pair)
        return self

    def silence(self, repeats, pairs=None, seen=None):
        """One packet of each goes unanswered, and so do its repeats but the last one.  Of some
        only the last repeat comes by."""
        for pair in self.of(pairs):
            self.write(pair)
        return self.repeat(repeats, pairs, seen)

    def repeat(self, repeats, pairs=None, seen=None):
        for i in range(repeats):
            self.on.wait(TIMER_NS)
            for at, pair in enumerate(self.pairs):
                if pair in self.of(pairs) and (seen is None or at in seen or i + 1 == repeats):
                    self.write(pair)
        return self

    def answer(self, pairs=None):
        for pair in self.of(pairs):
            self.ack(pair)
        return self

    def bytes(self):
        return self.on.bytes()


STAR = ((1, 2), (1, 3), (4, 1))  # what host 1 has to do with three others
ONE_PAIR = ((1, 2),) * 4
APART = ((1, 2), (3, 4), (5, 6))


def outage(*ends, repeats=3, **how):
    def make():
        return Network(*ends).run().silence(repeats, **how).answer().run().bytes()
    return make


def by_hand(ends, talk, **how):
    def make():
        network = Network(*ends, **how)
        talk(network)
        return network.bytes()
    return make


def twice(on):
    on.run().silence(2).answer().run().silence(4).answer().run()


def more_later(on):
    """Of host 1 with two others, and longer with three."""
    on.run().silence(2, pairs=(0, 1, 2)).answer(pairs=(0, 1, 2)).run()
    on.silence(4).answer().run()


def silent_through_two(on):
    """The fourth one sends nothing again until the end of a second outage of the others."""
    others = (0, 1, 2)
    on.run().write(on.pairs[3])
    for _ in range(2):
        on.silence(3, pairs=others).answer(pairs=others).run(pairs=others)
    on.write(on.pairs[3])
    on.answer(pairs=(3,)).run()


def one_goes_on(on):
    """A fourth queue pair of the same hosts is answered all the while."""
    on.run().silence(3, pairs=(0, 1, 2))
    on.run(5, pairs=(3,)).answer(pairs=(0, 1, 2)).run()


def one_gives_up(on):
    on.run().silence(5).answer(pairs=(0, 1, 2))
    on.run(40, pairs=(0, 1, 2)).on.wait(10**9)
    on.run(1, pairs=(0, 1, 2))


def give_up_with_longer_ones(on):
    """Two give up with packets that are longer than those before, and one of them is shorter than
    what the other one had sent: it was no MTU."""
    on.pairs[1].length = 512
    on.run()
    on.pairs[0].length, on.pairs[1].length = 256, 1024
    on.silence(5).answer(pairs=(2, 3))
    on.run(40, pairs=(2, 3)).on.wait(10**9)
    on.run(1, pairs=(2, 3))


def nobody_goes_on(on):
    on.run().silence(5).on.wait(10**9)
    on.pairs.append(QueuePair(8, 9, 0x900, 5))
    on.run(3, pairs=(len(on.pairs) - 1,))


def one_after_the_other(on):
    on.run()
    for i in range(len(on.pairs)):
        on.silence(3, pairs=(i,)).answer(pairs=(i,)).run()


def made_anew(on):
    """A process is gone, and its successor has queue pairs of the same numbers."""
    on.run().silence(4)
    on.on.wait(10**9)
    for pair in on.pairs:
        pair.psn += 0x400000
    on.run(40)


def made_anew_later(on):
    """The next job, after an outage that was over."""
    on.run().silence(3).answer().run()
    on.on.wait(10**9)
    for pair in on.pairs:
        pair.psn += 0x400000
    on.run(40)


def all_late(on):
    """Of three packets each the answer comes behind the third repeat of the first one, sooner
    than that can be answered, and is about all of them."""
    on.run(after_ns=100_000)
    for pair in on.pairs:
        for ahead in range(3):
            on.write(pair, pair.psn + ahead)
    on.repeat(3)
    for pair in on.pairs:
        pair.psn += 2
    on.answer().run()


def says(*texts, never=()):
    """Title or detail have these, and none of those."""
    def look(_report, found):
        said = found[0]["title"] + "\n" + found[0]["detail"]
        yield from (f"{text!r} is not in {said!r}" for text in texts if text not in said)
        yield from (f"{text!r} is in {said!r}" for text in never if text in said)
    return look


def is_once(name):
    def look(_report, found):
        if [one["id"] for one in found] != [name]:
            yield f"{[one['id'] for one in found]}, not {name}"
    return look


def other_says(kind, text, advice):
    """What comes of it says so."""
    def look(report, _found):
        others = [one for one in report["findings"] if one["kind"] == kind]
        if not others:
            yield f"there is no {kind}"
        for one in others:
            if text not in one["detail"] or advice not in one["advice"]:
                yield f"{one['detail']!r}, {one['advice']!r}"
    return look


ROWS = [
    Row("outage", FIRES, "three queue pairs of one host, with three others", outage(*STAR),
        "critical", also=both(
            is_once("outage:10.0.0.1"),
            says("3 queue pairs between 10.0.0.1 and 3 hosts for 20.0 ms or longer",
                 "They stood still for 30.0 ms",
                 "10.0.0.1 with 10.0.0.2, 10.0.0.1 with 10.0.0.3 and 10.0.0.1 with 10.0.0.4",
                 "No other queue pair in use", never=("did not go on", "in vain", "times")),
            other_says("timeout", "All of them fall into the time of the outage that is told.",
                       "what was down"))),
    Row("outage", FIRES, "of two hosts", outage(*ONE_PAIR), "critical",
        also=both(is_once("outage:10.0.0.1-10.0.0.2"),
                  says("4 queue pairs between 10.0.0.1 and 10.0.0.2"))),
    Row("outage", FIRES, "with no host in common", outage(*APART), "critical",
        also=both(is_once("outage"), says("3 queue pairs between 3 pairs of hosts"))),
    Row("outage", FIRES, "twice, and the second time was longer", by_hand(STAR, twice),
        "critical", also=both(is_once("outage:10.0.0.1"),
                              says("for 30.0 ms or longer, all at once, the longest of 2 times"))),
    Row("outage", FIRES, "twice, of more hosts the second time",
        by_hand(((1, 2), (1, 2), (1, 3), (1, 4)), more_later), "critical", also=both(
            is_once("outage:10.0.0.1"),
            says("4 queue pairs between 10.0.0.1 and 3 hosts for 30.0 ms"))),
    Row("outage", FIRES, "one is silent through two of them, and of the first",
        by_hand(ONE_PAIR, silent_through_two), "critical",
        also=says("for 20.0 ms or longer, all at once, the longest of 2 times",
                  "of the other one no repeat came by")),
    Row("outage", FIRES, "one of several paths", by_hand(ONE_PAIR, one_goes_on), "critical",
        also=says("3 queue pairs", "1 other queue pair between the same hosts had no timeout")),
    Row("outage", FIRES, "one of them gives up", by_hand(ONE_PAIR, one_gives_up), "critical",
        also=says("4 queue pairs", "1 queue pair did not go on.")),
    Row("outage", FIRES, "of those that give up, packets were longer than before by chance",
        by_hand(ONE_PAIR, give_up_with_longer_ones), "critical",
        also=says("4 queue pairs between 10.0.0.1 and 10.0.0.2")),
    Row("outage", FIRES, "what one of them repeats is lost on its way here",
        outage(*ONE_PAIR, seen=(0, 1, 2)), "critical",
        also=says("4 queue pairs", "3 of them repeated here in vain",
                  "of the other one no repeat")),
    Row("outage", NOT, "of two queue pairs both may have lost a repeat by chance",
        outage(*STAR[:2])),
    Row("outage", NOT, "the first repeat gets through: a tail was lost, or a moment of all",
        outage(*STAR, repeats=1)),
    Row("outage", NOT, "one after the other", by_hand(STAR, one_after_the_other)),
    Row("outage", NOT, "nobody goes on: somebody is gone", by_hand(STAR, nobody_goes_on)),
    Row("outage", FIRES, "queue pairs are made anew when it is over",
        by_hand(STAR, made_anew_later), "critical"),
    Row("outage", NOT, "queue pairs made anew: what they had asked was gone",
        by_hand(STAR, made_anew)),
    Row("outage", NOT, "all of it was late, and came", by_hand(STAR, all_late)),
    Row("outage", CANNOT, "whether anything was answered was not captured",
        by_hand(STAR, lambda on: on.run().silence(3).answer().run(), answers=False)),
]
