# SPDX-License-Identifier: GPL-2.0-or-later
"""What really happened, as an analyzer could have said it: a list of Facts.

A Fact is one thing that is true of a capture: "the packet with PSN 7 was lost before this
point".  It is `decidable` if whoever has this capture alone can know it, by the rules
that stand in each function here (and, in words, in docs/accuracy.md).

A Look is the capture of one point, of which frames may be missing.  Everything is taken
from the simulator's Tx and Flights, and nothing from the analyzer.
"""

import bisect
import collections
import dataclasses
import random

import roce
from sim import ACKS, REQUESTS, RESPONSES

WITH_RESPONSE = ("READ", "CAS", "FADD")
PCAP_HEADER, RECORD_HEADER = 24, 16


@dataclasses.dataclass(eq=False)
class Fact:
    what: str
    end: object                  # whose stream
    space: str
    psns: frozenset              # any of which names it, 24 bits
    decidable: bool
    tx: object                   # the transmission it is about


class Look:
    """The capture at one point, without the frames that it dropped."""

    def __init__(self, sim, point_name, drop):
        names = [tap.point.name for tap in sim.taps]
        self.sim, self.node, self.drop = sim, names.index(point_name) + 1, drop
        self.ident_tells = sim.scenario.host_a.ident == "rising"
        self.ident_tells_copies = sim.scenario.host_a.ident != "constant"
        if ":" in sim.scenario.host_a.address:
            self.ident_tells = self.ident_tells_copies = False
        draw = random.Random(f"{sim.scenario.seed}/{point_name}/{drop}")
        tap = sim.taps[self.node - 1]
        whole = tap.pcap.bytes()
        records = _records(whole)
        kept = [i for i in range(len(records)) if not drop or draw.random() >= drop]
        self.pcap = whole[:PCAP_HEADER] + b"".join(records[i] for i in kept)
        self.seen = [tap.seen[i] for i in kept]
        self.all_at, self.whole_at = {}, {}  # Tx -> where it stands in `seen`
        for i, flight in enumerate(self.seen):
            self.all_at.setdefault(flight.tx, []).append(i)
            if not flight.corrupt:
                self.whole_at.setdefault(flight.tx, []).append(i)

    def at(self, tx):
        """Where the first whole copy stands; None if there is none."""
        return self.whole_at.get(tx, [None])[0]

    def passed(self, tx):
        return tx.passes.get(self.node, 0) > 0


def _records(pcap):
    out, at = [], PCAP_HEADER
    while at < len(pcap):
        end = at + RECORD_HEADER + int.from_bytes(pcap[at + 8:at + 12], "little")
        out.append(pcap[at:end])
        at = end
    return out


def facts_of(look):
    facts = []
    for end in look.sim.ends:
        for space in (REQUESTS, RESPONSES):
            facts += Lane(look, end, space).facts()
    return facts


class Lane:
    """The transmissions of one stream and space, in the order of sending."""

    def __init__(self, look, end, space):
        sim = look.sim
        self.look, self.end, self.space, self.node = look, end, space, look.node
        from_a = end.host is sim.host_a
        self.source, self.sink = ((0, sim.path.last_node) if from_a
                                  else (sim.path.last_node, 0))
        self.txs = [tx for tx in sim.all_tx if tx.end is end and tx.space == space]
        self.copies = collections.defaultdict(list)   # PSN -> its Tx
        for tx in self.txs:
            for psn in range(tx.psn, tx.psn + tx.n_psns):
                self.copies[psn].append(tx)
        self.requester = end if space == REQUESTS else end.peer
        self.responder = self.requester.peer
        self.missing, self.asked_for = self._find_missing(), self._find_asked_for()
        self.late_here = self._overtaken(self.source, self.node)
        self.late_behind = self._overtaken(self.node, self.sink)
        self.acks = [tx for tx in sim.all_tx if tx.end is self.responder
                     and tx.space in (ACKS, RESPONSES)]
        self.answers = _rising(sorted((self.at(tx), _covers(tx)) for tx in self.acks
                                      if self.at(tx) is not None))

    def facts(self):
        out = [*self.lost_before(), *self.undelivered(), *self.corrupt(),
               *self.not_captured(), *self.reordered(), *self.duplicates(),
               *self.retransmitted()]
        if self.space == REQUESTS:
            out += [*self.timeouts(), *self.rounds()]
        return out

    def fact(self, what, tx, decidable, psns=None):
        psns = frozenset(psn & 0xFFFFFF for psn in psns or (tx.psn,))
        return Fact(what, self.end, self.space, psns, bool(decidable), tx)

    # what others ask

    def at(self, tx):
        return self.look.at(tx)

    def _find_missing(self):
        """Transmissions whose lack shows: they were needed, a later one of the same run
        is there, and so is a later copy of the PSN.  A run is a row of rising PSNs."""
        runs, out = [], set()
        for tx in self.txs:
            if not runs or tx.psn <= runs[-1][-1].psn:
                runs.append([])
            runs[-1].append(tx)
        for run in runs:
            later = False
            for tx in reversed(run):
                if self.at(tx) is not None:
                    later = True
                elif later and not tx.needless and any(
                        copy.serial > tx.serial and self.at(copy) is not None
                        for copy in self.copies[tx.psn]):
                    out.add(tx)
        return out

    def _order(self, node):
        if node == self.source:
            return {tx: i for i, tx in enumerate(self.txs)}
        return self.look.sim.path.order[node]

    def _overtaken(self, before, after):
        """Those that a higher PSN passed between two nodes."""
        place, order = self._order(before), self._order(after)
        return _passed(sorted((tx for tx in self.txs if tx in place and tx in order),
                              key=order.get), place)

    def overtaken_in_capture(self):
        order = {tx: i for i, tx in enumerate(self.txs)}
        here = [tx for tx in self.txs if self.at(tx) is not None]
        return _passed(sorted(here, key=self.at), order)

    def arrived(self, tx):
        """At the other end, whole."""
        return any(fate != "corrupt" for fate in tx.fates)

    def newest_before(self, psn, i):
        """The copy of the PSN that was captured last before frame i."""
        there = [tx for tx in self.copies[psn]
                 if self.at(tx) is not None and self.at(tx) < i]
        return max(there, key=self.at, default=None)

    # facts

    def lost_before(self):
        """Never came by.  Decidable if its lack shows; and if it was asked for, where
        the capture missed frames: else it may be one of those."""
        for tx in self.txs:
            if not self.look.passed(tx):
                yield self.fact("lost_before_capture", tx, tx in self.missing
                                and (not self.look.drop or tx in self.asked_for))

    def corrupt(self):
        """Captured with damage.  Decidable if its lack shows."""
        for tx in self.txs:
            if tx in self.look.all_at and tx not in self.look.whole_at:
                yield self.fact("corrupt", tx, tx in self.missing)

    def not_captured(self):
        """Came by, and is not in the capture.  Decidable if no copy is there, PSNs on
        both sides of it are, and so is an answer that covers it."""
        here = [tx.psn for tx in self.txs if self.at(tx) is not None]
        low, high, known = min(here, default=0), max(here, default=0), set()
        covered = self.answers[-1][1] if self.answers else 0
        for tx in self.txs:
            if not self.look.passed(tx) or tx in self.look.all_at:
                continue
            none = not any(copy in self.look.all_at for copy in self.copies[tx.psn])
            decidable = (none and low < tx.psn < min(high, covered)
                         and tx.psn not in known)
            if self.space == RESPONSES:
                decidable = decidable and self._was_asked_once(tx.psn)
            if decidable:
                known.add(tx.psn)
            yield self.fact("not_captured", tx, decidable)

    def _was_asked_once(self, psn):
        asked = [tx for tx in self.look.sim.all_tx
                 if tx.end is self.requester and tx.space == REQUESTS
                 and tx.psn <= psn < tx.psn + tx.n_psns]
        return len(asked) == 1 and asked[0] in self.look.whole_at

    def reordered(self):
        """An original that others passed on the way here.  Decidable if one of those is
        in the capture; and, where the identification does not tell, if it is the first
        of its PSN there and the next packet does not go on from it."""
        passed = self.overtaken_in_capture()
        for tx in self.late_here:
            if tx.resent or self.at(tx) is None:
                continue
            decidable = tx in passed and (self.look.ident_tells or self._is_alone(
                tx, self.at(tx)) and self._is_first(tx))
            yield self.fact("reordered", tx, decidable)

    def _is_first(self, tx):
        return all(copy is tx or self.at(copy) is None or self.at(copy) > self.at(tx)
                   for copy in self.copies[tx.psn])

    def _is_alone(self, tx, i):
        """Whether the next packet of the lane does not follow on it."""
        after = next((f.tx for f in self.look.seen[i + 1:]
                      if f.tx.end is self.end and f.tx.space == self.space
                      and not f.corrupt), None)
        return after is None or after.psn != tx.psn + tx.n_psns

    def duplicates(self):
        """The same transmission once more.  Decidable if the identification tells copies
        apart, or else if the PSN was sent once and the packet stands alone.  Plain ACKs
        count as responses; they may repeat themselves."""
        for tx in self.txs:
            for i in self.look.whole_at.get(tx, [])[1:]:
                yield self.fact("duplicates", tx, self.look.ident_tells_copies or (
                    len(self.copies[tx.psn]) == 1 and self._is_alone(tx, i)))
        if self.space == RESPONSES:
            for tx in self.look.sim.all_tx:
                if tx.end is self.end and tx.space == ACKS:
                    for _ in self.look.whole_at.get(tx, [])[1:]:
                        yield self.fact("duplicates", tx, self.look.ident_tells_copies)

    def retransmitted(self):
        """A copy that was sent again and is here.  Decidable if an earlier one is, or
        if the lack of one shows."""
        for tx in self.txs:
            if tx.resent and self.at(tx) is not None:
                yield self.fact("retransmitted", tx, self._is_known_copy(tx))

    def _is_known_copy(self, tx):
        return any(copy.serial < tx.serial and (
            copy in self.missing or self.at(copy) is not None
            and self.at(copy) < self.at(tx)) for copy in self.copies[tx.psn])

    def _is_undelivered(self, tx):
        return self.at(tx) is not None and (not self.arrived(tx)
                                            or tx in self.late_behind)

    def _find_asked_for(self):
        """The newest copies of what a NAK names, or a READ that begins a round; where
        that was captured."""
        if self.space == REQUESTS:
            asking = [(nak.tx, nak.missing) for nak in self.responder.responder.naks
                      if nak.tx.syndrome == roce.NAK_PSN_SEQUENCE]
        else:
            first = {}
            for tx in self.look.sim.all_tx:
                if (tx.end is self.requester and tx.space == REQUESTS
                        and tx.round_i >= 0):
                    first.setdefault(tx.round_i, tx)
            asking = [(tx, max((copy for copy in self.copies[tx.psn]
                                if copy.serial < tx.serial), default=None,
                               key=lambda copy: copy.serial)) for tx in first.values()]
        return {asked: self.at(by) for by, asked in asking
                if asked is not None and self.at(by) is not None}

    def undelivered(self):
        """Captured, then lost or late.  Decidable if it was asked for when it was the
        newest copy."""
        for tx in self.txs:
            if self._is_undelivered(tx):
                i = self.asked_for.get(tx)
                yield self.fact("undelivered_after_capture", tx, i is not None
                                and self.newest_before(tx.psn, i) is tx)

    def timeouts(self):
        """What a timeout repeats.  ack_lost: an ACK for it had been sent; decidable if
        an earlier copy and such an ACK are in the capture.  data_or_ack_lost: that, or
        the newest copy here had been lost behind; decidable if no ACK for it is in the
        capture, and all before it is.  The ACK of a READ or atomic is its response,
        whose loss is judged by itself where something of it is seen."""
        sent = _rising((tx.serial, _covers(tx)) for tx in self.acks)
        in_order = self._accepted_here()
        for tx in self.txs:
            if tx.round_i < 0 or self.cause_of(tx) != "timeout":
                continue
            i = self.at(tx)
            before = None if i is None else self.newest_before(tx.psn, i)
            ack_lost = any(at < tx.serial and covers > tx.psn for at, covers in sent)
            ack_here = before is not None and any(
                at < i and covers > tx.psn for at, covers in self.answers)
            if ack_lost and tx.work.op not in WITH_RESPONSE:
                yield self.fact("ack_lost", tx, ack_here)
            if before is not None and (ack_lost or self._is_undelivered(before)):
                newest = not any(before.serial < copy.serial < tx.serial
                                 for copy in self.copies[tx.psn])
                yield self.fact("data_or_ack_lost", tx,
                                newest and not ack_here and before in in_order)

    def cause_of(self, tx):
        return self.requester.requester.rounds[tx.round_i]["cause"]

    def _accepted_here(self):
        """What a responder would have taken that stands here."""
        expected, out = self.requester.side.start_psn, set()
        for flight in self.look.seen:
            tx = flight.tx
            if (tx.end is self.end and tx.space == REQUESTS and not flight.corrupt
                    and tx.psn <= expected):
                expected = max(expected, tx.psn + tx.n_psns)
                out.add(tx)
            elif tx.end is self.responder and tx.space in (ACKS, RESPONSES):
                expected = max(expected, _covers(tx))
                if tx.syndrome == roce.NAK_PSN_SEQUENCE:
                    expected = tx.psn
                    out = {other for other in out if other.psn < tx.psn}
        return out

    def rounds(self):
        """Decidable if a packet of it is decidable as sent again, and what caused it was
        captured before."""
        of_round = collections.defaultdict(list)
        for tx in self.txs:
            if tx.round_i >= 0 and self.at(tx) is not None:
                of_round[tx.round_i].append(tx)
        for i, txs in of_round.items():
            entry = self.requester.requester.rounds[i]
            first = min(txs, key=self.at)
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
        return any(at < self.at(first) and covers > first.psn + 1
                   for at, covers in self.answers)


def _covers(answer):
    """An ACK or response: all before this PSN is acknowledged."""
    return answer.psn + (answer.syndrome >> 5 == 0)


def _rising(steps):
    """Of (when, how far), those that go further than all before."""
    out = []
    for when, far in steps:
        if not out or far > out[-1][1]:
            out.append((when, far))
    return out


def _passed(arrivals, place):
    """Of Tx in the order of arrival, those that came behind one of a later place and a
    higher PSN."""
    out, places, there = [], [], []
    for tx in arrivals:
        i = bisect.bisect(places, place[tx])
        if any(other.psn > tx.psn for other in there[i:]):
            out.append(tx)
        places.insert(i, place[tx])
        there.insert(i, tx)
    return set(out)
