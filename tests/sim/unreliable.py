# SPDX-License-Identifier: GPL-2.0-or-later
"""The two services that answer nothing: UC (IBTA 9.8.2) and UD (9.8.3).

What is sent is done with.  A receiver of UC drops the rest of a message in which a PSN
is not the next one; UD has one packet to a message and looks at no PSN.
"""

from requester import Requester
from responder import Responder


class ConnectedSender(Requester):
    """UC."""

    def pull(self):
        tx = super().pull()
        tx.ack_request = False
        if tx.is_last:
            self._advance(tx.psn + 1)
        return tx

    def _arm(self):
        """Nothing is waited for."""


class DatagramSender(ConnectedSender):
    """UD: all that one QPN sends, to whomever, shares its PSNs."""

    def _start_message(self):
        psns, qpn = self.end.host.datagram_psn, self.side.qpn
        psn = psns.get(qpn, self.side.start_psn)
        self.first_unacked = self.cursor = self.sent_end = self.next_new = psn
        super()._start_message()
        psns[qpn] = self.next_new


class ConnectedReceiver(Responder):
    """UC."""

    def __init__(self, end):
        super().__init__(end)
        self._in_message = False

    def receive(self, tx):
        starts = tx.psn == self._message_start(tx)
        if starts:
            self._in_message = True
        elif tx.psn != self.expected:
            self._in_message = False
        self.expected = tx.psn + 1
        tx.fates.append("accepted" if self._in_message else "discarded")
        if tx.is_last:
            self.n_executed += self._in_message
            self._in_message = False

    @staticmethod
    def _message_start(tx):
        return tx.psn if "First" in tx.kind or "Only" in tx.kind else None


class DatagramReceiver(Responder):
    """UD."""

    def receive(self, tx):
        tx.fates.append("accepted")
        self.n_executed += 1
