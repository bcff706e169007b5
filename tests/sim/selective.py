# SPDX-License-Identifier: GPL-2.0-or-later
"""Selective repeat: a responder that keeps what comes beyond a gap, and a requester that
sends again what is missing and nothing else.

The standard's NAK names the first PSN that is missing.  How far the gap goes reaches the
requester as well, by means of the NIC's own that no capture shows (Tx.gap_end).  READ
responses are kept in the same way: what is missing of them is asked for again.

With a NAK that waits (Side.nak_delay_ns) it is what NICs do that expect their packets on
several paths: what is overtaken comes before anybody complains.
"""

from requester import Requester
from responder import Responder
import roce


class SelectiveRequester(Requester):
    def __init__(self, end):
        super().__init__(end)
        self._missing = []           # [PSN, end, round] to send again
        self._resent_at = {}         # PSN -> when
        self._kept = set()           # PSNs of responses beyond a gap

    # sending

    def _repeats(self):
        return bool(self._missing) or super()._repeats()

    def pull(self):
        if not self._missing:
            return super().pull()
        gap = self._missing[0]
        psn, end, entry = gap
        message = self._message_at(psn)
        tx = self._make(message, psn, min(end, message.end))
        tx.resent = tx.ack_request = True
        if not entry["packets"]:
            entry["psn"] = psn & 0xFFFFFF
            self.rounds.append(entry)
        self._note_resent(tx, next(i for i, e in enumerate(self.rounds) if e is entry))
        self._resent_at[psn] = self.sim.now
        gap[0] += tx.n_psns
        if gap[0] >= end:
            self._missing.pop(0)
        self._pace_until = self.sim.now + self.side.gap_ns
        return tx

    # rounds

    def _go_back(self, psn, cause, nak=None):
        if cause == "rnr":
            self._missing.clear()    # the responder has dropped what it kept
            super()._go_back(psn, cause, nak)
            return
        if psn >= self.sent_end or any(p <= psn < end for p, end, _ in self._missing):
            return
        since = self.sim.now - self._resent_at.get(psn, 0)
        if nak is not None and since < self.side.resend_after_ns:
            return
        end = nak.gap_end if nak is not None else self._missing_to(psn)
        entry = self._new_round(psn, cause, nak)
        self._missing.append([psn, min(end, self.sent_end), entry])
        self._arm()
        self.end.host.nic.kick()

    def _missing_to(self, psn):
        """The end of what is missing from `psn` on: of a READ, what was not answered."""
        message = self._message_at(psn)
        if not message.waits_for_response():
            return psn + 1
        return min([message.end] + [p for p in self._kept if p > psn])

    # answers

    def _take_response(self, tx):
        asked = self._first_unanswered()
        if asked is None or tx.psn < self.first_unacked:
            tx.fates[-1] = "ignored"
            return
        self._advance(asked.psn)
        if tx.psn > self.first_unacked:
            tx.fates[-1] = "duplicate" if tx.psn in self._kept else "accepted"
        self._kept.add(tx.psn)
        self._use_kept()

    def _use_kept(self):
        """Takes what has been waiting; asks for what is missing before the rest."""
        while self._kept:
            asked = self._first_unanswered()
            if asked is not None and self.first_unacked < asked.psn <= min(self._kept):
                self._advance(asked.psn)
            if self.first_unacked not in self._kept:
                self._imply_nak()
                return
            self._kept.discard(self.first_unacked)
            self._advance(self.first_unacked + 1)

    def _advance(self, psn):
        self._missing = [[max(p, psn), end, entry] for p, end, entry in self._missing
                         if end > psn]
        self._resent_at = {p: t for p, t in self._resent_at.items() if p >= psn}
        self._kept = {p for p in self._kept if p >= psn}
        super()._advance(psn)


class KeepingResponder(Responder):
    def __init__(self, end):
        super().__init__(end)
        self._kept = {}              # PSN -> Tx
        self._complaint = 0          # number of the newest; an older timer is void

    def has(self, psn):
        return super().has(psn) or psn in self._kept

    def receive(self, tx):
        if self._failed or tx.psn < self.expected:
            super().receive(tx)
        elif tx.psn in self._kept:
            tx.fates.append("duplicate")
        elif tx.psn > self.expected:
            tx.fates.append("kept")
            self._kept[tx.psn] = tx
            self._complain()
        else:
            self._execute_from(tx)

    def _execute_from(self, tx):
        """Executes what fills a gap, and what has been waiting behind it."""
        self._nak_sent = False
        self._complaint += 1
        while tx is not None:
            before = self.expected
            self._execute(tx)
            if self.expected == before:
                self._drop_kept()    # refused
                return
            tx = self._kept.pop(self.expected, None)
            if tx is not None:
                tx.fates.remove("kept")
        if self._kept:
            self._complain()

    def _drop_kept(self):
        for tx in self._kept.values():
            tx.fates[tx.fates.index("kept")] = "discarded"
        self._kept.clear()

    def _complain(self):
        """About a gap, once; now or if it is still there after a while."""
        if self._nak_sent:
            return
        self._nak_sent = True
        self._complaint += 1
        if self.side.nak_delay_ns:
            self.sim.after(self.side.nak_delay_ns, self._nak_gap, self._complaint)
        else:
            self._nak_gap(self._complaint)

    def _nak_gap(self, complaint):
        if complaint != self._complaint or not self._kept or self._failed:
            return
        self._nak(roce.NAK_PSN_SEQUENCE, min(self._kept))
        if self.side.nak_again_ns and not self.end.peer.requester.failed:
            self.sim.after(self.side.nak_again_ns, self._nak_gap, complaint)
