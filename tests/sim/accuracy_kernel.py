# SPDX-License-Identifier: GPL-2.0-or-later
"""Real captures: what the kernel's RoCE and its queueing disciplines counted, and what
the reports say (captures/*/truth.json)."""

import dataclasses
import json

POINTS = {"sender": "rxeA", "receiver": "rxeB"}  # each at the NIC of that device


@dataclasses.dataclass(frozen=True)
class Counter:
    name: str
    means: str                   # what of a report it is held against
    of_report: object            # (report, point) -> that number; None: cannot be said
    of_truth: object             # (truth, point) -> the kernel's number
    captures: tuple = ()         # (): all but those of `besides`
    besides: tuple = ()


def _summed(counter):
    """Over the hosts: each answers some requests."""
    return lambda truth, _: sum(host["delta_nonzero"].get(counter, 0)
                                for host in truth["hw_counters"].values())


def _at_own_nic(counter):
    return lambda truth, point: truth["hw_counters"][POINTS[point]]["delta_nonzero"].get(
        counter, 0)


def _netem_drops(truth, _):
    return sum(queue.get("drops", 0) for name, queues in truth["qdisc"].items()
               if name.endswith("_json") for queue in queues if queue["kind"] == "netem")


def _naks(code):
    return lambda report, _: (report["totals"]["naks"] or {}).get(code, 0)


def _packets(from_here):
    """Sent by the host whose NIC the capture was taken at, or by others."""
    def count(report, point):
        mine = ".1" if point == "sender" else ".2"
        return sum(s["packets"] for s in report["streams"]
                   if s["src"].replace("::", ".").endswith(mine) == from_here)
    return count


def _lost(space):
    return lambda report, point: (
        report["totals"]["losses"][space]["lost_before_capture"])


def _only(point, count):
    """It shows at one of the points alone."""
    return lambda report, at: count(report, at) if at == point else None


COUNTERS = (
    Counter("sent_pkts", "packets from this host", _packets(True),
            _at_own_nic("sent_pkts")),
    Counter("rcvd_pkts", "packets to this host", _packets(False),
            _at_own_nic("rcvd_pkts")),
    Counter("out_of_seq_request", "`naks.psn_sequence`", _naks("psn_sequence"),
            _summed("out_of_seq_request")),
    Counter("send_rnr_err", "`naks.rnr`", _naks("rnr"), _summed("send_rnr_err")),
    # The kernel counts some of the rounds that an RNR NAK begins elsewhere.
    Counter("completer_retry_err", "`retransmissions.rounds`",
            lambda report, _: report["totals"]["retransmissions"]["rounds"],
            _summed("completer_retry_err"), besides=("05a_rnr",)),
    # It counts what the responder had carried out before: all that was sent again only
    # where every request arrived in order.
    Counter("duplicate_request", "`retransmissions.packets`",
            lambda report, _: report["totals"]["retransmissions"]["packets"],
            _summed("duplicate_request"), ("03c_loss_ack", "03d_loss_read_resp")),
    Counter("duplicate_request", "`requests.duplicates`",
            _only("receiver", lambda report, _: report["totals"]["requests"]["duplicates"]),
            _summed("duplicate_request"), ("04b_duplicate",)),
    Counter("drops of netem", "`losses.requests.lost_before_capture`",
            _only("receiver", _lost("requests")), _netem_drops,
            ("03a_loss_data_0.5pct",)),
    Counter("drops of netem", "`losses.responses.lost_before_capture`",
            _only("sender", _lost("responses")), _netem_drops, ("03d_loss_read_resp",)),
)
# Requests of host C do not pass A.
NOT_ALL_THERE = {("11_pcapng_switch", "sender")}


def rows(captures, report_of):
    """(capture, counter, what it means, {point: (kernel's, report's)})"""
    for path in sorted(captures.glob("*/truth.json")):
        truth, name = json.loads(path.read_text()), path.parent.name
        if "hw_counters" not in truth:
            continue
        reports = {point: report_of(path.parent / f"{point}.pcap.gz") for point in POINTS
                   if (name, point) not in NOT_ALL_THERE}
        for counter in COUNTERS:
            if name in counter.besides or counter.captures and name not in counter.captures:
                continue
            pairs = {point: (counter.of_truth(truth, point),
                             counter.of_report(report, point))
                     for point, report in reports.items()}
            pairs = {point: pair for point, pair in pairs.items() if pair[1] is not None}
            if any(any(pair) for pair in pairs.values()):
                yield name, counter.name, counter.means, pairs
