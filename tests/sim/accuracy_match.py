# SPDX-License-Identifier: GPL-2.0-or-later
"""Claims of a report held against the facts of its capture, one to one."""

import collections
import dataclasses

import accuracy_truth
from accuracy_claims import Claims
from sim import ACKS, REQUESTS, RESPONSES

# A fact that is also found if one of these was claimed of the same PSN: of data or its
# ACK it may be known which, and data may have been asked for.
ALSO = {"data_or_ack_lost": ("ack_lost", "undelivered_after_capture")}
CE = 3                           # the codepoint


@dataclasses.dataclass
class Score:
    claims: int = 0
    right: int = 0
    decidable: int = 0
    found: int = 0

    def __iadd__(self, other):
        for field in dataclasses.fields(self):
            setattr(self, field.name,
                    getattr(self, field.name) + getattr(other, field.name))
        return self

    @property
    def precision(self):
        return self.right / self.claims if self.claims else None

    @property
    def recall(self):
        return self.found / self.decidable if self.decidable else None


class Match:
    """One capture, of which `all_sent` is all that was sent."""

    def __init__(self, look, all_sent, report):
        self.look = look
        self.facts = accuracy_truth.facts_of(look, all_sent)
        # A round of unknown cause claims nothing: recall finds it wanting.
        self.claims = [c for c in Claims(report).claims if c.what != "round unknown"]
        self.right, self.found = set(), set()
        ends = {(end.host.config.address, end.host.peer.config.address,
                 end.peer.side.qpn): end for end in look.sim.ends}
        self._end_of = {s["id"]: ends.get((s["src"], s["dst"], s["dst_qpn"]))
                        for s in report["streams"]}
        self._match_all()
        self.marks = self._score_marks(report)

    def end_of(self, claim):
        return self._end_of.get(claim.stream)

    def _match_all(self):
        facts = collections.defaultdict(list)
        for fact in self.facts:
            for psn in fact.psns:
                facts[fact.what, fact.end, fact.space, psn].append(fact)
        for claim in self.claims:
            if claim.psn is None:  # of a plain ACK, which is in no sequence
                claim.psn = self.look.seen[claim.frame - 1].tx.psn & 0xFFFFFF
            for psn in range(claim.psn, claim.psn + claim.n_psns):
                key = claim.what, self.end_of(claim), claim.space, psn & 0xFFFFFF
                if self._take(claim, facts[key], psn & 0xFFFFFF):
                    break
        self._find_also()

    def _take(self, claim, facts, psn):
        """The one that begins there first, a decidable one before luck."""
        fitting = [fact for fact in facts if fact not in self.found]
        if not fitting:
            return False
        self.right.add(claim)
        self.found.add(min(fitting, key=lambda fact: (
            fact.tx.psn & 0xFFFFFF != psn, not fact.decidable, fact.tx.serial)))
        return True

    def _find_also(self):
        spare = collections.Counter((claim.what, self.end_of(claim), claim.psn)
                                    for claim in self.claims)
        for fact in self.facts:
            for what in ALSO.get(fact.what, ()):
                key = what, fact.end, fact.tx.psn & 0xFFFFFF
                if fact not in self.found and spare[key]:
                    spare[key] -= 1
                    self.found.add(fact)

    def _score_marks(self, report):
        """CE marks, packet by packet: the report names the packets where the codepoint
        changes."""
        score = Score()
        for stream in report["streams"]:
            changes = {e["frame"]: e["detail"] for e in report["events"]
                       if e["kind"] == "ecn_transition" and e["stream"] == stream["id"]}
            only_ce = stream["ecn"]["ce"] and not changes
            claimed_ce = (next(iter(changes.values())) >> 2 == CE if changes else only_ce)
            for i, flight in enumerate(self.look.seen):
                if (flight.tx.end is not self._end_of[stream["id"]] or flight.corrupt
                        or not flight.tx.carries_data()):
                    continue
                if i + 1 in changes:
                    claimed_ce = changes[i + 1] & 3 == CE
                score += Score(right=claimed_ce and flight.ce, decidable=flight.ce,
                               found=claimed_ce and flight.ce)
            score.claims += stream["ecn"]["ce"]
        return score

    def scores(self):
        out = collections.defaultdict(Score)
        for claim in self.claims:
            out[claim.what] += Score(claims=1, right=claim in self.right)
        for fact in self.facts:
            if fact.decidable:
                out[fact.what] += Score(decidable=1, found=fact in self.found)
        if self.marks != Score():
            out["ce"] = self.marks
        return out

    # in words

    def mistakes(self):
        """A line for each false positive and negative, and for each copy concerned."""
        for claim in self.claims:
            if claim not in self.right:
                event = {key: claim.event[key] for key in
                         ("kind", "detail", "count", "evidence", "related_frame")
                         if claim.event[key] not in (None, 0)}
                yield (f"FP {claim.what}: {claim.space} PSN {claim.psn}, "
                       f"frame {claim.frame}, stream {claim.stream}, {event}")
                yield from self._copies(self.end_of(claim), claim.space, claim.psn)
        for fact in self.facts:
            if fact.decidable and fact not in self.found:
                psn = fact.tx.psn & 0xFFFFFF
                yield f"FN {fact.what}: {fact.space} PSN {psn}, copy {fact.tx.copy}"
                yield from self._copies(fact.end, fact.space, psn)

    def _copies(self, end, space, psn):
        """What became of the copies of a PSN, and of the NAKs that named it."""
        for tx in self.look.sim.all_tx:
            if end is None or tx.psn & 0xFFFFFF != psn:
                continue
            is_copy = tx.end is end and (tx.space == space
                                         or {tx.space, space} == {ACKS, RESPONSES})
            is_nak = tx.end is end.peer and tx.syndrome >> 5 and space == REQUESTS
            if is_copy or is_nak:
                yield "     " + self._fate(tx, "NAK" if is_nak else tx.kind)

    def _fate(self, tx, kind):
        frames = [i + 1 for i in self.look.all_at.get(tx, [])]
        here = (f"frames {frames}" if frames else "dropped by the capture"
                if self.look.passed(tx) else "lost before")
        why = ""
        if tx.round_i >= 0:
            why = f", round {tx.round_i} {tx.end.requester.rounds[tx.round_i]['cause']}"
        return (f"{kind} copy {tx.copy} sent at {tx.time_ns % 10**10}{why}: {here}; then "
                f"{', '.join(tx.fates) or 'lost'}{', needless' if tx.needless else ''}")
