# SPDX-License-Identifier: GPL-2.0-or-later
"""What really happened, for the JSON that sim.py describes at its top."""

import dataclasses

import roce
from responder import nak_name
from scenario import ACKS, CNPS, DATA_SPACES, REQUESTS, RESPONSES


class Truth:
    """The part of a Simulation that tells what happened."""

    def truth(self):
        points = {t.point.name: {"packets": len(t.seen), "not_captured": t.n_dropped,
                                 **self.capture_changes.get(t.point.name, {})}
                  for t in self.taps}
        return {"scenario": self._scenario_truth(), "points": points,
                "streams": [self._stream_truth(end) for end in self.ends]}

    def sightings(self):
        """name of a point -> [time_ns, stream, space, kind, psn, copy, codepoint] of each
        packet captured there, in the order of the file; `stream` is an index into
        streams[], None for CM.  From it whoever tests a measure of time computes what it
        must be."""
        stream_of = {end: i for i, end in enumerate(self.ends)}
        return {tap.point.name: [
            [f.time_ns, stream_of.get(f.tx.end), f.tx.space, *f.tx.name(), _codepoint(f)]
            for f in tap.seen if not f.corrupt] for tap in self.taps}

    def _scenario_truth(self):
        out = dataclasses.asdict(self.scenario)
        for point, config in zip(out["points"], self.scenario.points):
            point["artefacts"] = [repr(artefact) for artefact in config.artefacts]
        for pair in out["queue_pairs"]:
            for side in (pair["a"], pair["b"]):
                side["work"] = _count(w["op"] for w in side["work"])
        return out

    def _stream_truth(self, end):
        mine = [tx for tx in self.all_tx if tx.end is end]
        by_space = {s: [t for t in mine if t.space == s] for s in DATA_SPACES + (CNPS,)}
        for space in (REQUESTS, RESPONSES):
            _find_evident(by_space[space], len(self.taps))
        requester = end.requester
        return {
            "src": end.host.config.address, "dst": end.peer.host.config.address,
            "dst_qpn": end.peer.side.qpn, "src_qpn": end.side.qpn, "pmtu": end.pmtu,
            "transport": end.transport, "recovery": recovery_of(end),
            "start_ns": end.start_ns,
            "direction": "a_to_b" if end.host is self.hosts[0] else "b_to_a",
            "sent": {space: len(txs) for space, txs in by_space.items()},
            "resent": {s: [t.name() for t in by_space[s] if t.resent]
                       for s in (REQUESTS, RESPONSES)},
            "rounds": [self._round_truth(end, entry) for entry in requester.rounds],
            "messages": {"completed": requester.n_completed,
                         "bytes": requester.completed_bytes,
                         "executed": end.peer.responder.n_executed,
                         "failed": requester.failed},
            "naks_sent": [nak.truth() for nak in end.responder.naks],
            "fates": {s: _count(f for t in by_space[s] for f in t.fates or ["lost"])
                      for s in DATA_SPACES},
            "points": {tap.point.name: self._point_truth(end, by_space, i + 1, tap)
                       for i, tap in enumerate(self.taps)},
        }

    @staticmethod
    def _round_truth(end, entry):
        late = any(nak.tx is entry["nak"] and nak.is_late() and nak.missing.copy == 1
                   for nak in end.peer.responder.naks)
        return {**{k: v for k, v in entry.items() if k != "nak"}, "first_was_late": late}

    def _destination_of(self, end):
        """The node to which this end's packets go."""
        return self.path.last_node if end.host is self.host_a else 0

    def _vantage(self, end, node):
        return self.path and self.path.vantage(end.host is self.hosts[0], node)

    def _point_truth(self, end, by_space, node, tap):
        last = self._destination_of(end)
        out = {s: _space_truth(by_space[s], node, last,
                               [f for f in tap.seen if f.tx.end is end
                                and f.tx.space == s]) for s in DATA_SPACES}
        out["vantage"] = self._vantage(end, node)
        out["missed_evident"] = _missed_evident(end, by_space[REQUESTS], node, tap)
        out["rounds"] = _rounds_seen(by_space[REQUESTS], end.requester.rounds, node)
        seen = [f for f in tap.seen if f.tx.end is end and not f.corrupt]
        out["naks"] = _count(nak_name(f.tx.syndrome) for f in seen
                             if f.tx.space == ACKS and f.tx.syndrome >> 5)
        out["cnps"] = sum(f.tx.space == CNPS for f in seen)
        # Data is what carries a payload; CNPs stand by themselves.
        marks = [_codepoint(f) for f in seen if f.tx.carries_data()]
        out["ecn"] = _count(marks)
        out["ecn_transitions"] = sum(a != b for a, b in zip(marks, marks[1:]))
        out["ecn_control"] = _count(_codepoint(f) for f in seen if f.tx.space == ACKS)
        return out


def recovery_of(end):
    """As the analyzer's recovery_model; None where nothing is sent again."""
    if end.transport in ("UC", "UD"):
        return None
    return {"all": "go_back_n", "missing": "selective"}[end.side.resend]


def _missed_evident(end, requests, node, tap):
    """Requests that the capture missed, with others around them that it did not, and
    an acknowledgement that it saw."""
    seen = [f.tx.psn for f in tap.seen if f.tx.end is end and f.tx.space == REQUESTS]
    answers = [f.tx.psn for f in tap.seen if f.tx.end is end.peer
               and f.tx.space in (ACKS, RESPONSES) and f.tx.syndrome >> 5 == 0]
    low, high = min(seen, default=0), min(max(seen, default=0), max(answers, default=0))
    return sum(tx.passes.get(node, 0) > 0 and node not in tx.captured
               and not tx.resent and low < tx.psn < high for tx in requests)


def _rounds_seen(txs, rounds, node):
    """cause -> [rounds of which something came here, and of which that can be known]."""
    out, came = {}, {}           # by index of the round: whether one of it is evident
    for tx in txs:
        if tx.round_i >= 0 and tx.came_to(node):
            came[tx.round_i] = came.get(tx.round_i, False) or node in tx.evident
    for i, entry in enumerate(rounds):
        counts = out.setdefault(entry["cause"], [0, 0])
        counts[0] += i in came
        counts[1] += came.get(i, False)
    return out


def _codepoint(flight):
    ecn = flight.tx.tos & 3 | (roce.ECN_CE if flight.ce else 0)
    return ("not_ect", "ect1", "ect0", "ce")[ecn]


def _count(names):
    out = {}
    for name in names:
        out[name] = out.get(name, 0) + 1
    return dict(sorted(out.items()))


def _find_evident(txs, n_points):
    """Marks each Tx with the nodes where what it is can be known.

    That it is missing: it was needed, a later one of the same run came there, and its PSN
    was sent again; a run is a row of rising PSNs.  What selective repeat sends again is
    no run: that such a copy is missing nobody can know.  That it was sent again: it came
    there after an earlier copy, or the lack of one is evident itself."""
    runs, resent_last = [], {}
    for tx in txs:
        if not runs or tx.psn <= runs[-1][-1].psn:
            runs.append([])
        runs[-1].append(tx)
        for psn in range(tx.psn, tx.psn + tx.n_psns):
            resent_last[psn] = tx.serial
    for run in runs:
        for node in range(1, n_points + 1):
            later_came = False
            for tx in reversed(run):
                came = tx.came_to(node)
                in_run = not tx.resent or recovery_of(tx.end) == "go_back_n"
                if (later_came and not came and not tx.needless and in_run
                        and resent_last[tx.psn] > tx.serial):
                    tx.evident.add(node)
                later_came |= came
    for node in range(1, n_points + 1):
        known = {}               # PSN -> when an earlier copy became known here
        for tx in txs:
            number = tx.number_at(node)
            if tx.resent and number is not None and known.get(tx.psn, number) < number:
                tx.evident.add(node)
            if number is None and node in tx.evident:
                number = -1
            if number is not None:
                for psn in range(tx.psn, tx.psn + tx.n_psns):
                    known[psn] = min(number, known.get(psn, number))


def _space_truth(txs, node, last_node, seen):
    """What happened to the Tx of one space, seen from one node.  `packets` are all;
    corrupt ones, which move no state, are in no other count but their own."""
    n_packets = len(seen)
    seen = [f for f in seen if not f.corrupt]
    lost_before, lost_after, not_captured, corrupt = [], [], [], []
    duplicates = []
    for tx in txs:
        passes, captured = tx.passes.get(node, 0), tx.captured.get(node, [])
        if not passes:
            lost_before.append({"copy": tx.name(), "evident": node in tx.evident})
        elif not captured:
            not_captured.append(tx.name())
        if passes and last_node not in tx.passes:
            lost_after.append(tx.name())
        if any(f.corrupt for f in captured):
            corrupt.append(tx.name())
        duplicates += [tx.name()] * (len(captured) - 1)
    resent = {f.tx.serial: f.tx for f in seen if f.tx.resent}.values()
    return {"packets": n_packets, "resent": len(resent),
            "resent_evident": sum(node in tx.evident for tx in resent),
            "repeats": _repeats(seen), "lost_before": lost_before,
            "lost_after": lost_after, "not_captured": not_captured, "corrupt": corrupt,
            "network_duplicates": duplicates, "reordered": _reordered(seen)}


def _repeats(seen):
    psns = [f.tx.psn for f in seen]
    return len(psns) - len(set(psns))


def _arrival(flight):
    """In the order of the file, where nothing else is known."""
    return flight.arrival if flight.arrival >= 0 else flight.number


def _reordered(seen):
    """Copies that came after a packet of higher PSN that had been sent later;
    `first_here`: no other copy of the PSN had come before."""
    out, came, psns = [], set(), {}   # psns: of what came, by serial
    newest = -1
    for f in sorted(seen, key=_arrival):
        tx = f.tx
        if tx.serial in psns:
            continue             # made by the network
        if tx.serial < newest and any(
                serial > tx.serial and psn > tx.psn for serial, psn in psns.items()):
            out.append({"copy": tx.name(), "first_here": tx.psn not in came})
        psns[tx.serial] = tx.psn
        newest = max(newest, tx.serial)
        came.add(tx.psn)
    return out
