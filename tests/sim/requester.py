# SPDX-License-Identifier: GPL-2.0-or-later
"""The requester of a reliable connection (IBTA 9.7.5, 9.7.7): go-back-N."""

import roce
from network import Tx
from operations import (
    ADDRESS, SEGMENTED, SINGLE, Message, n_packets, opcode, part, segment_headers,
    service_header, single_headers)
from scenario import REQUESTS, RESPONSES


class Requester:
    def __init__(self, end):
        self.end, self.side = end, end.side
        self.waiting = list(self.side.work)  # without PSNs yet
        self.open = []                       # with PSNs, not complete
        # first_unacked <= cursor <= sent_end <= next_new: what awaits an answer, what is
        # sent next, what was ever sent, what belongs to a message.
        self.first_unacked = self.cursor = self.side.start_psn
        self.sent_end = self.next_new = self.side.start_psn
        self.failed = False
        self.n_completed, self.completed_bytes = 0, 0
        self.rounds = []
        self._round_due = None
        self._hold_until = 0                 # RNR
        self._pace_until = 0
        self._implied_nak_at = None
        self._retries = 0
        self._deadline = None

    @property
    def sim(self):
        return self.end.host.sim

    # sending

    def ready(self):
        if self.failed or not self.sim.traffic_runs:
            return False
        now = self.sim.now
        for limit in (self._hold_until, self._pace_until):
            if now < limit:
                self.sim.at(limit, self.end.host.nic.kick)
                return False
        return self._repeats() or self.cursor < self.next_new or self._may_start()

    def _repeats(self):
        """Whether something waits to be sent again."""
        return self.cursor < self.sent_end

    def _may_start(self):
        if not self.waiting or len(self.open) >= self.side.depth:
            return False
        work = self.waiting[0]
        due = self.sim.traffic_starts + self.end.start_ns + work.at_ns
        if self.sim.now < due:
            self.sim.at(due, self.end.host.nic.kick)
            return False
        n_reads = sum(m.waits_for_response() for m in self.open)
        return work.op not in SINGLE or n_reads < self.side.max_rd_atomic

    def pull(self):
        if self.cursor == self.next_new:
            self._start_message()
        message = self._message_at(self.cursor)
        tx = self._make(message, self.cursor, message.end)
        tx.resent = tx.psn < self.sent_end
        self.cursor += tx.n_psns
        self.sent_end = max(self.sent_end, self.cursor)
        tx.ack_request = self._asks_for_ack(message, tx)
        if tx.resent:
            self._count_in_round(tx)
        self._pace_until = self.sim.now + self.side.gap_ns
        if self._deadline is None:
            self._arm()
        return tx

    def _start_message(self):
        work = self.waiting.pop(0)
        single = work.op in SINGLE and work.op != "READ"
        n = 1 if single else n_packets(work.length, self.end.pmtu)
        self.open.append(Message(work, self.next_new, n, ADDRESS))
        self.next_new += n

    def _message_at(self, psn):
        return next(m for m in self.open if m.psn <= psn < m.end)

    def _make(self, message, psn, end_psn):
        """The packet of that PSN; a READ asks for what is before `end_psn`."""
        op, pmtu = message.work.op, self.end.pmtu
        skipped = psn - message.psn
        rest = message.work.length - skipped * pmtu
        tx = Tx(self.end, REQUESTS, 0, psn, dest_qpn=self.end.peer.side.qpn,
                work=message.work)
        if op == "READ":
            tx.n_psns = end_psn - psn
            tx.read_bytes = min(rest, tx.n_psns * pmtu)
        if op in SINGLE:
            name = SINGLE[op]
            tx.payload_bytes = 8 if op == "ATOMIC_WRITE" else 0
            tx.headers = single_headers(message, skipped * pmtu, tx.read_bytes or rest)
        else:
            name = part(SEGMENTED[op], skipped, message.n_psns)
            tx.payload_bytes = min(rest, pmtu)
            tx.headers = segment_headers(name, message)
        tx.opcode = opcode(self.end.transport, name)
        tx.headers = service_header(self.end) + tx.headers
        tx.is_last = psn + tx.n_psns == message.end
        return tx

    def _asks_for_ack(self, message, tx):
        if message.waits_for_response():
            return True
        if not (self.cursor < self.next_new or self._may_start()):
            return True          # nothing may follow until this is answered
        every = self.side.ack_request_every
        if every:
            return (tx.psn - self.side.start_psn) % every == every - 1
        return tx.is_last

    def is_done(self):
        return not self.waiting and not self.open

    # rounds

    def _go_back(self, psn, cause, nak=None):
        if psn >= self.cursor:
            return
        self.cursor = psn
        self._round_due = self._new_round(psn, cause, nak)
        self._arm()
        self.end.host.nic.kick()

    def _new_round(self, psn, cause, nak):
        return {"cause": cause, "psn": psn & 0xFFFFFF, "time_ns": self.sim.now,
                "packets": 0, "delivered": 0, "requested_bytes": 0, "nak": nak,
                "ack_sent": self.end.peer.responder.answered > psn}

    def _count_in_round(self, tx):
        if self._round_due is not None:
            self._round_due["psn"] = tx.psn & 0xFFFFFF  # answers may have moved it on
            self.rounds.append(self._round_due)
            self._round_due = None
        self._note_resent(tx, len(self.rounds) - 1)

    def _note_resent(self, tx, round_i):
        entry = self.rounds[round_i]
        entry["packets"] += 1
        tx.round_i = round_i
        tx.needless = self.end.peer.responder.has(tx.psn)
        entry["delivered"] += tx.needless
        entry["requested_bytes"] += tx.read_bytes

    # answers

    def receive(self, tx):
        known = self.first_unacked <= tx.psn < self.sent_end
        tx.fates.append("accepted" if known and not self.failed else "ignored")
        if self.failed or not known:
            return
        if tx.space == RESPONSES:
            self._take_response(tx)
        elif tx.syndrome >> 5 == 0:
            self._acknowledge(tx.psn + 1)
        else:
            self._take_nak(tx)
        self.end.host.nic.kick()

    def _first_unanswered(self):
        return next((m for m in self.open if m.waits_for_response()), None)

    def _acknowledge(self, before):
        """Everything before that PSN was executed; False if a response is missing."""
        asked = self._first_unanswered()
        if asked is None or before <= asked.psn:
            self._advance(before)
            return True
        self._advance(asked.psn)
        self._imply_nak()
        return False

    def _take_response(self, tx):
        asked = self._first_unanswered()
        if asked is None or tx.psn < asked.psn:
            tx.fates[-1] = "ignored"
            return
        self._advance(asked.psn)
        if tx.psn == self.first_unacked:
            self._advance(tx.psn + 1)
        elif tx.psn > self.first_unacked:
            tx.fates[-1] = "discarded"
            self._imply_nak()

    def _imply_nak(self):
        """Once for each missing response, until it comes or time runs out."""
        if self._implied_nak_at != self.first_unacked:
            self._implied_nak_at = self.first_unacked
            self._go_back(self.first_unacked, "read_reissue")

    def _take_nak(self, tx):
        if not self._acknowledge(tx.psn):
            return
        if tx.syndrome == roce.NAK_PSN_SEQUENCE:
            if self.sim.now >= self._hold_until:
                self._go_back(tx.psn, "nak_sequence", tx)
        elif tx.syndrome >> 5 == 1:
            wait = roce.RNR_TIMER_10US[tx.syndrome & 31] * 10_000
            self._hold_until = self.sim.now + wait
            self._go_back(tx.psn, "rnr", tx)
        else:
            self.failed = True

    def _advance(self, psn):
        if psn <= self.first_unacked:
            return
        self.first_unacked = psn
        self.cursor = max(self.cursor, psn)
        if not self._repeats():
            self._round_due = None   # answered before anything was sent again
        self._retries = 0
        while self.open and self.open[0].end <= psn:
            self.n_completed += 1
            self.completed_bytes += self.open.pop(0).work.length
        self._deadline = None
        if psn < self.sent_end:
            self._arm()

    # time

    def _arm(self):
        wait = self.side.timeout_ns * self.side.timeout_backoff ** self._retries
        self._deadline = max(self.sim.now, self._hold_until) + int(wait)
        self.sim.at(self._deadline, self._expire, self._deadline)

    def _expire(self, deadline):
        if deadline != self._deadline or self.failed:
            return               # moved or stopped since
        self._deadline = None
        if self._retries == self.side.retry_count:
            self.failed = True
            return
        self._retries += 1
        self._implied_nak_at = None
        self._go_back(self.first_unacked, "timeout")
