# SPDX-License-Identifier: GPL-2.0-or-later
"""What a report says happened: a list of Claims, from its events."""

import collections
import dataclasses

from sim import REQUESTS, RESPONSES

SIMPLE = {"late": "reordered", "duplicate": "duplicates",
          "retransmission": "retransmitted", "response_resent": "retransmitted"}


@dataclasses.dataclass(eq=False)
class Claim:
    what: str
    stream: int                  # id in the report
    space: str
    psn: int
    frame: int                   # 0: none
    n_psns: int = 1              # it speaks of one packet in [psn, psn + n_psns)
    event: dict = None


class Claims:
    """Collects them: later events may take back what earlier ones said."""

    def __init__(self, report):
        self.claims = []
        for event in report["events"]:
            self._take(event)
        if len(report["events"]) != sum(report["event_totals"].values()):
            raise ValueError("the report does not list all events")
        for stream in report["streams"]:
            self._compare(stream)

    def _take(self, event):
        kind = event["kind"]
        if kind == "loss" and event["detail"] != "unknown":
            for _ in range(event["count"]):
                self._add(event["detail"], event, n_psns=event["count"])
        elif kind == "loss_withdrawn":
            self._remove(event["detail"], event, psn=event["psn"])
        elif kind in SIMPLE:
            self._add(SIMPLE[kind], event)
        elif kind == "round":
            self._add(f"round {event['detail']}", event)

    def _add(self, what, event, n_psns=1):
        if what != "not_captured":
            n_psns = 1           # as many copies of one PSN
        self.claims.append(Claim(what, event["stream"], event["space"], event["psn"],
                                 event["frame"] or 0, n_psns, event))

    def _remove(self, what, event, **like):
        """Takes back the newest one of its kind."""
        for i in range(len(self.claims) - 1, -1, -1):
            claim = self.claims[i]
            if (claim.what == what and claim.stream == event["stream"]
                    and claim.space == event["space"]
                    and all(getattr(claim, k) == v for k, v in like.items())):
                del self.claims[i]
                return True
        return False

    @staticmethod
    def _was_told_later(key, got, want):
        """The newest round, of an unknown cause by its event, has one since a later packet."""
        unknown = REQUESTS, "round unknown"
        if not key[1].startswith("round ") or got[unknown] != want[unknown] + 1:
            return False
        return key == unknown or got[key] == want[key] - 1

    def _compare(self, stream):
        """Events and counters of a stream say the same, or this file is wrong."""
        got = collections.Counter(
            (c.space, c.what) for c in self.claims if c.stream == stream["id"])
        want = {(REQUESTS, "retransmitted"): stream["retransmissions"]["packets"],
                (RESPONSES, "retransmitted"): stream["responses"]["resent"]}
        for space in (REQUESTS, RESPONSES):
            for what in ("reordered", "duplicates"):
                want[space, what] = stream[space][what]
            for verdict, n in stream["losses"][space].items():
                if verdict != "unknown":
                    want[space, verdict] = n
        for cause, n in stream["retransmissions"]["by_cause"].items():
            want[REQUESTS, f"round {cause}"] = n
        for key, n in want.items():
            if got[key] != n and not self._was_told_later(key, got, want):
                raise ValueError(f"stream {stream['id']}: {' '.join(key)}: events say "
                                 f"{got[key]}, the counter {n}")
