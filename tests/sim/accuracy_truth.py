# SPDX-License-Identifier: GPL-2.0-or-later
"""What really happened, in the words of a report: a list of Facts.

A Fact is one thing that is true of a capture, "the packet with PSN 7 was lost before it
came here".  It is `decidable` if whoever has this capture alone can know it; by which
rule, each function here says, and docs/accuracy.md in short.

A Look is what one capture has: that of one point, without the frames that it missed.
Sent is what one end sent in one PSN space, and Lane what of it can be seen in a Look.
All is taken from the simulator's Tx and Flights, and nothing from the analyzer.
"""

import bisect
import collections
import dataclasses
import functools
import random

import roce
from sim import ACKS, REQUESTS, RESPONSES

PCAP_HEADER, RECORD_HEADER = 24, 16
WITH_RESPONSE = ("READ", "CAS", "FADD")  # requests whose acknowledgement is a response


@dataclasses.dataclass(eq=False)
class Fact:
    what: str
    end: object                  # whose stream it is about
    space: str
    tx: object                   # the transmission it is about
    psns: frozenset              # each of which names it; 24 bits
    decidable: bool


class Look:
    """One capture: `seen` are its packets in order, `pcap` its bytes."""

    def __init__(self, sim, point_name, drop):
        names = [tap.point.name for tap in sim.taps]
        self.sim, self.node, self.drop = sim, names.index(point_name) + 1, drop
        tap = sim.taps[self.node - 1]
        whole = tap.pcap.bytes()
        records = _records(whole)
        draw = random.Random(f"{sim.scenario.seed}/{point_name}/{drop}")
        kept = [i for i in range(len(records)) if not drop or draw.random() >= drop]
        self.pcap = whole[:PCAP_HEADER] + b"".join(records[i] for i in kept)
        self.seen = [tap.seen[i] for i in kept]
        self.all_at, self.whole_at = {}, {}  # Tx -> where it stands in `seen`
        for i, flight in enumerate(self.seen):
            self.all_at.setdefault(flight.tx, []).append(i)
            if not flight.corrupt:
                self.whole_at.setdefault(flight.tx, []).append(i)
        self._find_ident(sim.scenario.host_a)

    def _find_ident(self, host):
        """What the IPv4 identification tells: the order of sending, copies apart."""
        is_ipv6 = ":" in host.address
        self.tells_order = host.ident.startswith("rising") and not is_ipv6
        self.tells_copies = host.ident != "constant" and not is_ipv6

    def at(self, tx):
        """Where the first whole copy stands; None if there is none."""
        places = self.whole_at.get(tx)
        return places[0] if places else None

    def passed(self, tx):
        return tx.passes.get(self.node, 0) > 0


def _records(pcap):
    out, at = [], PCAP_HEADER
    while at < len(pcap):
        end = at + RECORD_HEADER + int.from_bytes(pcap[at + 8:at + 12], "little")
        out.append(pcap[at:end])
        at = end
    return out


class Sent:
    """What one end sent in one space, in the order of sending."""

    def __init__(self, sim, end, space):
        self.sim, self.end, self.space = sim, end, space
        forward = end.host is sim.host_a
        self.source = 0 if forward else sim.path.last_node
        self.sink = sim.path.last_node if forward else 0
        self.requester = end if space == REQUESTS else end.peer
        self.responder = self.requester.peer
        self.txs = [tx for tx in sim.all_tx if tx.end is end and tx.space == space]
        self.plain_acks = [tx for tx in sim.all_tx
                           if tx.end is end and tx.space == ACKS]
        self.answers = [tx for tx in sim.all_tx if tx.end is self.responder
                        and tx.space in (ACKS, RESPONSES)]
        self.copies = collections.defaultdict(list)   # PSN -> its Tx
        for tx in self.txs:
            for psn in range(tx.psn, tx.psn + tx.n_psns):
                self.copies[psn].append(tx)
        self.requests = collections.defaultdict(list)  # PSN of a response -> its Tx
        for tx in sim.all_tx if space == RESPONSES else ():
            if tx.end is self.requester and tx.space == REQUESTS:
                for psn in range(tx.psn, tx.psn + tx.n_psns):
                    self.requests[psn].append(tx)
        self.asking = self._find_asking()

    def _find_asking(self):
        """(who asks, the newest copy of what it asks for): NAKs; for responses the READ
        that begins a round."""
        if self.space == REQUESTS:
            return [(nak.tx, nak.missing) for nak in self.responder.responder.naks
                    if nak.tx.syndrome == roce.NAK_PSN_SEQUENCE
                    and nak.missing is not None]
        first = {}
        for tx in self.sim.all_tx:
            if tx.end is self.requester and tx.space == REQUESTS and tx.round_i >= 0:
                first.setdefault(tx.round_i, tx)
        out = []
        for tx in first.values():
            before = [copy for copy in self.copies[tx.psn] if copy.serial < tx.serial]
            out += [(tx, before[-1])] if before else []
        return out

    @functools.cached_property
    def runs(self):
        """Rows of rising PSNs."""
        out = []
        for tx in self.txs:
            if not out or tx.psn <= out[-1][-1].psn:
                out.append([])
            out[-1].append(tx)
        return out

    @functools.cache
    def overtaken(self, before, after):
        """Those that a higher PSN passed between two nodes."""
        place, order = self._order(before), self._order(after)
        there = [tx for tx in self.txs if tx in place and tx in order]
        return passed(sorted(there, key=order.get), place)

    def _order(self, node):
        if node == self.source:
            return {tx: i for i, tx in enumerate(self.txs)}
        return self.sim.path.order[node]

    def keeps_beyond_gap(self):
        return getattr(self.responder.side, "beyond_gap", "discard") == "keep"


def passed(arrivals, place):
    """Of Tx in the order of arrival, those that came behind one of a later place and a
    higher PSN."""
    out, places, there = set(), [], []
    for tx in arrivals:
        i = bisect.bisect(places, place[tx])
        if any(other.psn > tx.psn for other in there[i:]):
            out.add(tx)
        places.insert(i, place[tx])
        there.insert(i, tx)
    return out


def covers(answer):
    """All before this PSN is acknowledged."""
    return answer.psn + (answer.syndrome >> 5 == 0)


def _rising(steps):
    """Of (when, how far), those that go further than all before."""
    out = []
    for when, far in steps:
        if not out or far > out[-1][1]:
            out.append((when, far))
    return out


def sent_of(sim):
    return [Sent(sim, end, space) for end in sim.ends for space in (REQUESTS, RESPONSES)]


def facts_of(look, all_sent):
    return [fact for sent in all_sent for fact in Lane(look, sent).facts()]


class Lane:
    """What of a Sent is in a Look, and what can be known of it there."""

    def __init__(self, look, sent):
        self.look, self.sent, self.at = look, sent, look.at
        self.late_here = sent.overtaken(sent.source, look.node)
        self.late_behind = sent.overtaken(look.node, sent.sink)
        self.answers = _rising(sorted((self.at(tx), covers(tx)) for tx in sent.answers
                                      if self.at(tx) is not None))
        self.asked_for = {asked: self.at(by) for by, asked in sent.asking
                          if self.at(by) is not None}
        self.missing = self._find_missing()

    def facts(self):
        yield from self.lost_before()
        yield from self.undelivered()
        yield from self.corrupt()
        yield from self.not_captured()
        yield from self.reordered()
        yield from self.duplicates()
        yield from self.retransmitted()
        if self.sent.space == REQUESTS:
            yield from self.timeouts()
            yield from self.rounds()

    def fact(self, what, tx, decidable, psns=None):
        psns = frozenset(psn & 0xFFFFFF for psn in psns or (tx.psn,))
        return Fact(what, self.sent.end, self.sent.space, tx, psns, bool(decidable))

    # what others ask

    def _find_missing(self):
        """Transmissions whose lack shows: they were needed, a later one of the same run
        is there, and so is a later copy.  Who sends again what is missing alone makes no
        runs: there the lack of a repair shows only if it was asked for once more."""
        out, selective = set(), self.sent.keeps_beyond_gap()
        for run in self.sent.runs:
            later = False
            for tx in reversed(run):
                if self.at(tx) is not None:
                    later = True
                elif (later and not tx.needless and self._came_later(tx)
                        and (not selective or not tx.resent or tx in self.asked_for)):
                    out.add(tx)
        return out

    def _came_later(self, tx):
        return any(copy.serial > tx.serial and self.at(copy) is not None
                   for copy in self.sent.copies[tx.psn])

    def newest_before(self, psn, i):
        """The copy of the PSN that was captured last before frame i."""
        there = [tx for tx in self.sent.copies[psn]
                 if self.at(tx) is not None and self.at(tx) < i]
        return max(there, key=self.at, default=None)

    def _is_followed(self, tx, i):
        """Whether the next packet of the lane runs on from it."""
        for flight in self.look.seen[i + 1:]:
            after = flight.tx
            if (after.end is self.sent.end and after.space == self.sent.space
                    and not flight.corrupt):
                return after.psn == tx.psn + tx.n_psns
        return False

    def _is_undelivered(self, tx):
        arrived = any(fate != "corrupt" for fate in tx.fates)
        return self.at(tx) is not None and (not arrived or tx in self.late_behind)

    def _is_known_copy(self, tx):
        return any(copy.serial < tx.serial and (
            copy in self.missing or self.at(copy) is not None
            and self.at(copy) < self.at(tx)) for copy in self.sent.copies[tx.psn])

    # losses

    def lost_before(self):
        """Never came by.  Decidable if its lack shows; where the capture missed frames,
        if it was asked for as well: else it may be one of those."""
        for tx in self.sent.txs:
            if not self.look.passed(tx):
                yield self.fact("lost_before_capture", tx, tx in self.missing
                                and (not self.look.drop or tx in self.asked_for))

    def undelivered(self):
        """Captured, then lost or late.  Decidable if it was asked for when it was the
        newest copy."""
        for tx in self.sent.txs:
            if self._is_undelivered(tx):
                i = self.asked_for.get(tx)
                yield self.fact("undelivered_after_capture", tx, i is not None
                                and self.newest_before(tx.psn, i) is tx)

    def corrupt(self):
        """Captured with damage.  Decidable if its lack shows."""
        for tx in self.sent.txs:
            if tx in self.look.all_at and tx not in self.look.whole_at:
                yield self.fact("corrupt", tx, tx in self.missing)

    def not_captured(self):
        """Came by, and is not in the capture.  Decidable if no copy is there, PSNs on
        both sides of it are, and so is an answer that covers it; a response, if the
        request for it is there, and was sent once."""
        here = [tx.psn for tx in self.sent.txs if self.at(tx) is not None]
        low, high, known = min(here, default=0), max(here, default=0), set()
        high = min(high, self.answers[-1][1] if self.answers else 0)
        for tx in self.sent.txs:
            if not self.look.passed(tx) or tx in self.look.all_at:
                continue
            decidable = low < tx.psn < high and tx.psn not in known and not any(
                copy in self.look.all_at for copy in self.sent.copies[tx.psn])
            if self.sent.space == RESPONSES:
                decidable = decidable and self._was_asked_once(tx.psn)
            if decidable:
                known.add(tx.psn)
            yield self.fact("not_captured", tx, decidable)

    def _was_asked_once(self, psn):
        asked = self._asked(psn)
        return len(asked) == 1 and asked[0] in self.look.whole_at

    def _asked(self, psn):
        """The requests for a response."""
        return self.sent.requests.get(psn, [])

    def timeouts(self):
        """What a timeout repeats.  ack_lost: an ACK for it had been sent; decidable if
        an earlier copy and such an ACK are in the capture.  data_or_ack_lost: that, or
        the newest copy here was lost behind; decidable if no ACK for it is in the
        capture, and all before it is.  The ACK of a READ or atomic is its response,
        which is judged by itself where some of it is here."""
        sent = _rising((tx.serial, covers(tx)) for tx in self.sent.answers)
        in_order = self._find_accepted()
        for tx in self.sent.txs:
            if tx.round_i < 0 or self._round_of(tx)["cause"] != "timeout":
                continue
            i = self.at(tx)
            before = None if i is None else self.newest_before(tx.psn, i)
            ack_lost = any(at < tx.serial and far > tx.psn for at, far in sent)
            covered = before if tx.work.op in WITH_RESPONSE else tx
            ack_here = before is not None and any(
                at < i and far > covered.psn for at, far in self.answers)
            if ack_lost and tx.work.op not in WITH_RESPONSE:
                yield self.fact("ack_lost", tx, ack_here)
            if before is not None and (ack_lost or self._is_undelivered(before)):
                newest = not any(before.serial < copy.serial < tx.serial
                                 for copy in self.sent.copies[tx.psn])
                yield self.fact("data_or_ack_lost", tx,
                                newest and not ack_here and before in in_order)

    def _find_accepted(self):
        """What a responder would have taken that stands here."""
        expected, out = self.sent.requester.side.start_psn, set()
        keeps = self.sent.keeps_beyond_gap()
        for flight in self.look.seen:
            tx = flight.tx
            if (tx.end is self.sent.end and tx.space == REQUESTS and not flight.corrupt
                    and (keeps or tx.psn <= expected)):
                expected = max(expected, tx.psn + tx.n_psns)
                out.add(tx)
            elif tx.end is self.sent.responder and tx.space in (ACKS, RESPONSES):
                expected = max(expected, covers(tx))
                if tx.syndrome == roce.NAK_PSN_SEQUENCE and not keeps:
                    expected = tx.psn
                    out = {other for other in out if other.psn < tx.psn}
        return out

    # order and copies

    def reordered(self):
        """An original that others passed on the way here.  Decidable if one of those is
        in the capture; and, where the identification does not tell the order, if it is
        the first of its PSN there and the next packet does not run on from it."""
        if not self.late_here:
            return
        here = [tx for tx in self.sent.txs if self.at(tx) is not None]
        overtaken = passed(sorted(here, key=self.at),
                           {tx: i for i, tx in enumerate(self.sent.txs)})
        for tx in here:
            if tx in self.late_here and not tx.resent:
                alone = self._is_first(tx) and not self._is_followed(tx, self.at(tx))
                yield self.fact("reordered", tx, tx in overtaken
                                and (self.look.tells_order or alone))

    def _is_first(self, tx):
        return all(copy is tx or self.at(copy) is None or self.at(copy) > self.at(tx)
                   for copy in self.sent.copies[tx.psn])

    def duplicates(self):
        """The same transmission once more.  Decidable if the identification tells copies
        apart, or else if the PSN was sent once and the next packet does not run on from
        it.  Plain ACKs count as responses; they may repeat themselves."""
        for tx in self.sent.txs:
            for i in self.look.whole_at.get(tx, [])[1:]:
                yield self.fact("duplicates", tx, self.look.tells_copies or (
                    len(self.sent.copies[tx.psn]) == 1 and not self._is_followed(tx, i)))
        if self.sent.space == RESPONSES:
            for tx in self.sent.plain_acks:
                for _ in self.look.whole_at.get(tx, [])[1:]:
                    yield self.fact("duplicates", tx, self.look.tells_copies)

    def retransmitted(self):
        """A copy that was sent again and is here.  Decidable if an earlier one is, or
        if the lack of one shows.  Where nothing tells copies apart, a response is
        decidable only if its request came here twice as well."""
        for tx in self.sent.txs:
            if tx.resent and self.at(tx) is not None:
                yield self.fact("retransmitted", tx, self._is_known_copy(tx) and (
                    self.sent.space == REQUESTS or self.look.tells_copies
                    or self._was_asked_twice(tx.psn)))

    def _was_asked_twice(self, psn):
        return sum(len(self.look.whole_at.get(tx, [])) for tx in self._asked(psn)) > 1

    # rounds

    def _round_of(self, tx):
        return self.sent.requester.requester.rounds[tx.round_i]

    def rounds(self):
        """Decidable if one of its packets is, as sent again, and what caused it was
        captured before."""
        of_round = collections.defaultdict(list)
        for tx in self.sent.txs:
            if tx.round_i >= 0 and self.at(tx) is not None:
                of_round[tx.round_i].append(tx)
        for txs in of_round.values():
            first = min(txs, key=self.at)
            entry = self._round_of(first)
            decidable = (any(self._is_known_copy(tx) for tx in txs)
                         and self._shows_cause(entry, first))
            yield self.fact(f"round {entry['cause']}", first, decidable,
                            [tx.psn for tx in txs])

    def _shows_cause(self, entry, first):
        """A timeout shows by itself; else the NAK, or a later answer, is there before."""
        if entry["cause"] == "timeout":
            return True
        if entry["nak"] is not None:
            at = self.at(entry["nak"])
            return at is not None and at < self.at(first)
        return any(at < self.at(first) and far > first.psn + 1
                   for at, far in self.answers)
