# SPDX-License-Identifier: GPL-2.0-or-later
"""The responder of a reliable connection (IBTA 9.7.4, 9.7.5.2): takes PSNs in order."""

import dataclasses

import roce
from network import Tx
from operations import ATOMICS, READ_RESPONSE, SINGLE, opcode, part
from scenario import ACKS, RESPONSES


@dataclasses.dataclass(eq=False)
class Answer:
    """What waits to be sent: an acknowledgement, an atomic's result or READ data."""
    ready_ns: int
    psn: int
    end_psn: int
    syndrome: int = roce.ACK_NO_CREDIT_LIMIT
    msn: int = 0
    length: int = -1             # READ: bytes in all
    original: int = None         # atomic
    sent: int = 0                # READ: packets already sent
    gap_end: int = 0             # sequence NAK: what is missing ends there; 0: unknown


@dataclasses.dataclass(eq=False)
class Nak:
    """Truth about a NAK that was sent."""
    tx: Tx
    missing: Tx                  # the newest copy of its PSN by then
    n_fates: int                 # how often that copy had arrived by then

    def is_late(self):
        return self.missing is not None and len(self.missing.fates) > self.n_fates

    def truth(self):
        missing = self.missing
        return {"psn": self.tx.psn & 0xFFFFFF, "code": nak_name(self.tx.syndrome),
                "time_ns": self.tx.time_ns, "late": self.is_late(),
                "asked_for": missing.name() if missing else None,
                "fate": missing.fates or ["lost"] if missing else None}


class Responder:
    def __init__(self, end):
        self.end, self.side = end, end.side
        self.expected = 0        # ePSN, set when the peer is known
        self.answered = 0        # every PSN before it has been answered on the wire
        self.naks = []           # truth, of type Nak
        self.n_executed = 0      # messages; the MSN of the wire
        self._nak_sent = False
        self._failed = False
        self._queue = []
        self._atomics = {}
        self._memory = 0
        self._receives = self.side.receives
        self._acks_due, self._ack_timer = 0, 0

    @property
    def sim(self):
        return self.end.host.sim

    def start(self):
        self.expected = self.answered = self.end.peer.requester.first_unacked
        if self._receives >= 0:
            self.sim.after(self.side.receive_interval_ns, self._post_receives)

    def _post_receives(self):
        self._receives = min(self._receives + self.side.receive_batch,
                             4 * self.side.receive_batch)
        if self.end.peer.requester.open or self.end.peer.requester.waiting:
            if not self.end.peer.requester.failed:
                self.sim.after(self.side.receive_interval_ns, self._post_receives)

    # requests

    def has(self, psn):
        """Whether it needs no copy of that request."""
        return psn < self.expected

    def receive(self, tx):
        if self._failed:
            tx.fates.append("ignored")
        elif tx.psn > self.expected:
            tx.fates.append("discarded")
            if not self._nak_sent:
                self._nak_sent = True
                self._nak(roce.NAK_PSN_SEQUENCE)
        elif tx.psn < self.expected:
            tx.fates.append("duplicate")
            self._repeat(tx)
        else:
            self._nak_sent = False
            self._execute(tx)

    def _execute(self, tx):
        if self._is_short_of_receives(tx):
            tx.fates.append("refused")
            self._nak_sent = not self.side.nak_after_rnr
            self._nak(roce.rnr_nak(self.side.rnr_timer))
            return
        if tx.work.nak:
            tx.fates.append("refused")
            self._failed = True
            self._nak(tx.work.nak)
            return
        tx.fates.append("accepted")
        self.expected += tx.n_psns
        if tx.is_last:
            self.n_executed += 1
        if tx.work.op in ATOMICS:
            self._atomics[tx.psn] = self._memory
            self._memory += 1
        if tx.work.op in SINGLE:
            self._respond(tx)
        elif tx.ack_request:
            self._acks_due += 1
            if self._acks_due >= self.side.ack_every:
                self._ack()
            else:
                self._ack_timer += 1
                self.sim.after(self.side.ack_delay_ns, self._ack_late, self._ack_timer)

    def _is_short_of_receives(self, tx):
        if self._receives < 0:
            return False
        takes = ("SEND First" in tx.kind or "SEND Only" in tx.kind
                 or "WRITE" in tx.kind and "Immediate" in tx.kind)
        if takes and self._receives == 0:
            return True
        self._receives -= takes
        return False

    def _repeat(self, tx):
        """A duplicate request (IBTA 9.7.4.1.2, 9.7.5.1.2)."""
        if tx.work.op in SINGLE:
            self._respond(tx)
        else:
            self._ack()

    # answers

    def _answer(self, psn, end_psn, **more):
        ready = self.sim.now + self.side.turnaround_ns
        self._queue.append(Answer(ready, psn, end_psn, msn=self.n_executed,
                                  **more))
        self.sim.at(ready, self.end.host.nic.kick)

    def _ack(self):
        self._acks_due = 0
        self._ack_timer += 1
        self._answer(self.expected - 1, self.expected)

    def _ack_late(self, timer):
        if timer == self._ack_timer and self._acks_due:
            self._ack()

    def _nak(self, syndrome, gap_end=0):
        self._acks_due = 0
        self._answer(self.expected, self.expected, syndrome=syndrome, gap_end=gap_end)

    def _respond(self, tx):
        """With data, with what an atomic found, or with a response that has none, as
        ATOMIC WRITE and FLUSH get."""
        self._acks_due = 0
        if tx.work.op in ATOMICS:
            self._answer(tx.psn, tx.psn + 1, original=self._atomics[tx.psn])
        else:
            self._answer(tx.psn, tx.psn + tx.n_psns, length=tx.read_bytes)

    def ready(self):
        return bool(self._queue) and self._queue[0].ready_ns <= self.sim.now

    def pull(self):
        answer = self._queue[0]
        if answer.length < 0:
            self._queue.pop(0)
            tx = self._make_ack(answer)
        else:
            tx = self._make_read_response(answer)
            answer.sent += 1
            if answer.psn + answer.sent == answer.end_psn:
                self._queue.pop(0)
        if tx.space == RESPONSES or answer.syndrome >> 5 == 0:
            self.answered = max(self.answered, tx.psn + 1)
        return tx

    def _make_ack(self, answer):
        atomic = answer.original is not None
        headers = roce.aeth(answer.syndrome, answer.msn)
        if atomic:
            headers += roce.atomicack(answer.original)
        name = "ATOMIC Acknowledge" if atomic else "Acknowledge"
        tx = Tx(self.end, RESPONSES if atomic else ACKS,
                opcode(self.end.transport, name), answer.psn, headers=headers,
                syndrome=answer.syndrome, dest_qpn=self.end.peer.side.qpn,
                gap_end=answer.gap_end)
        if answer.syndrome >> 5:
            missing = self.sim.newest_request(self.end.peer, answer.psn)
            self.naks.append(Nak(tx, missing, len(missing.fates) if missing else 0))
        return tx

    def _make_read_response(self, answer):
        n = answer.end_psn - answer.psn
        name = part(READ_RESPONSE, answer.sent, n)
        has_aeth = "Middle" not in name
        pmtu = self.end.pmtu
        return Tx(self.end, RESPONSES, opcode(self.end.transport, name),
                  answer.psn + answer.sent,
                  headers=roce.aeth(answer.syndrome, answer.msn) if has_aeth else b"",
                  payload_bytes=min(pmtu, answer.length - answer.sent * pmtu),
                  dest_qpn=self.end.peer.side.qpn)


def nak_name(syndrome):
    if syndrome >> 5 == 1:
        return "rnr"
    return {roce.NAK_PSN_SEQUENCE: "psn_sequence",
            roce.NAK_INVALID_REQUEST: "invalid_request",
            roce.NAK_REMOTE_ACCESS: "remote_access",
            roce.NAK_REMOTE_OPERATIONAL: "remote_operational"}[syndrome]
