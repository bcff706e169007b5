#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What the report says of marks, CNPs and rates, against what really happened.

Each row is a scenario of fabric_scenarios.py and what there is to compare at its points;
that marks are all accounted for, and what episodes hold, is compared in every row.

    tests/sim/test_congestion.py [ROW...]     some rows alone

Tolerances, and what they follow from:
  interval      a CNP waits for the next mark, and may wait for one packet of data on its
                port: no shorter than the truth, no longer by more than that wait
  first cut     a window of 16 packets at one rate; on the wire a packet at line rate takes
                its preamble and gap with it, which a limiter does not count: 4 %
  lowest rate   likewise, absolutely
  recovery      is seen when a window lies behind it: 16 packets at the recovered rate
"""

import dataclasses
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import fabric_scenarios
from fabric import simulate_fabric
from sim import CNPS

SOURCE = pathlib.Path(os.environ.get("ROCESCOPE_SOURCE",
                                     pathlib.Path(__file__).resolve().parents[2]))
BINARY = os.environ.get("ROCESCOPE", str(SOURCE / "build/dev/bin/rocescope"))

WINDOW_PACKETS = 16
CUT_TOLERANCE = 0.04
RECOVERED = 0.95
PREAMBLE_AND_GAP = 20            # bytes
PATIENCE_NS = 200_000            # twice the pacing interval is less in the rows compared
UNPAIRED_CNPS = 6                # a queue pair is known by its first ACK
# What cannot be told apart with one address for each host.
SAME_SCOPE = {"pair": {"pair", "destination"}, "destination": {"pair", "destination"}}


@dataclasses.dataclass(frozen=True)
class Row:
    name: str
    # Point -> scopes that its CNPs leave possible; None: no interval can be told.
    scopes: dict = dataclasses.field(default_factory=dict)
    slack_ns: int = 300          # two marks are no further apart
    segments: tuple = ()         # points in the order of the way, all in one file
    cuts_at: str = None          # point that sees the sender's rate as it is
    unanswered: tuple = ()       # points where all marks wait in vain, the last 200 us
                                 # of them till the end
    with_nak: tuple = ()         # points where all CNPs go with NAKs
    by_switch: tuple = ()        # points where a switch sends them


WIDE = {"pair", "destination"}
ROWS = (
    Row("incast_qp", {"h3": {"qp"}, "leaf0_h3": {"qp"}, "h0": {"qp"}}),
    Row("incast_pair", {"h3": WIDE, "h0": WIDE | {"port"}}),
    Row("incast_destination", {"h3": WIDE, "leaf0_h3": WIDE, "h0": WIDE | {"port"}}),
    Row("incast_port", {"h3": {"port"}, "leaf0_h3": {"port"}}),
    Row("incast_ecn", {"h3": {"qp"} | WIDE, "h0": {"qp", "port"} | WIDE}),
    Row("incast_read", {"h3": {"qp"} | WIDE}),
    Row("incast_switch_cnps", {"h0": None}, by_switch=("h0", "leaf0_h0"),
        unanswered=("h3", "leaf0_h3")),
    Row("reaction_off", {"h3": {"qp"} | WIDE}),
    Row("notification_off", unanswered=("h3", "leaf0_h3")),
    Row("lossy_cnp_on_nak", {"h3": None}, with_nak=("h1", "h3", "leaf0_h1")),
    Row("rate_cuts", {"leaf0_h3": {"qp", "port"} | WIDE}, slack_ns=1_000, cuts_at="h0"),
    Row("marked_twice", {"leaf1_h4": {"qp"} | WIDE},
        segments=("h0", "leaf0_spine0", "leaf1_h4")),
)


# --- who sends CNPs ------------------------------------------------------------------


def notification_of(truth):
    """Of the hosts; all have the same."""
    return next(iter(truth["fabric"]["notification"].values()), {"interval_ns": 0})


def check_pacing(row, point, notifiers, truth):
    """Interval and scope of the host that sends CNPs, or of the switch."""
    if point not in row.scopes:
        return
    senders = {cnp["src"] for cnp in truth["fabric"]["cnps"]}
    found = [n for n in notifiers if n["src"] in senders]
    want = row.scopes[point]
    if len(found) != 1:
        yield f"{len(found)} sources of CNPs"
    elif want is None:
        if found[0]["interval_ns"] is not None:
            yield f"interval {found[0]['interval_ns']}, of {found[0]['cnps']} CNPs"
    else:
        yield from check_interval(row, found[0], truth)
        if set(found[0]["possible_scopes"]) != want:
            yield f"scopes {found[0]['possible_scopes']}, not {sorted(want)}"
        scope = notification_of(truth)["scope"]
        if not SAME_SCOPE.get(scope, {scope}) & set(found[0]["possible_scopes"]):
            yield f"scope {scope} is not among {found[0]['possible_scopes']}"


def check_interval(row, notifier, truth):
    interval = notification_of(truth)["interval_ns"]
    got = notifier["interval_ns"]
    if got is None or not 0.995 * interval <= got <= interval + row.slack_ns:
        yield f"interval {got}, truth {interval}"


# --- marks ---------------------------------------------------------------------------


def marks_at(tap, end):
    """Data of one stream at a point: whether each packet was marked, and by which port."""
    return [(f.time_ns, f.ce, f.marked_by.name if f.ce else None) for f in tap.seen
            if f.tx.end is end and f.tx.carries_data()]


def check_episodes(stream, marks):
    """One episode, as long as there is no pause of a millisecond; from mark to mark."""
    at = [i for i, (_time, ce, _by) in enumerate(marks) if ce]
    got = stream["congestion"]["episodes"]
    if not at:
        if got:
            yield f"{len(got)} episodes of no mark"
        return
    want = {"start_ns": marks[at[0]][0], "end_ns": marks[at[-1]][0], "marked": len(at),
            "data_packets": at[-1] - at[0] + 1}
    if len(got) != 1 or any(got[0][key] != value for key, value in want.items()):
        yield f"episodes {got}, not {want}"


def check_answers(row, point, stream):
    got = stream["congestion"]["ce_answers"]
    if got is None:
        yield "not paired"
        return
    if sum(got.values()) != stream["ecn"]["ce"]:
        yield f"{got} for {stream['ecn']['ce']} marks"
    if point in row.unanswered and got["unanswered"] < 0.4 * stream["ecn"]["ce"]:
        yield f"{got}, and no CNP was sent"
    if point not in row.unanswered and got["unanswered"]:
        yield f"{got}, and all were answered in time"


def check_segments(row, fabric, report, ids):
    """Where each packet was marked, from its marking port: the first point that the port
    lies before."""
    taps = {tap.point.name: tap for tap in fabric.taps}
    for end in fabric.ends:
        streams = [s for s in report["streams"] if s["src"] == end.host.config.address
                   and s["dst_qpn"] == end.peer.side.qpn]
        seen = {name: {f.tx.serial: f.ce for f in taps[name].seen if f.tx.end is end
                       and f.tx.carries_data()} for name in row.segments}
        want = {}
        for serial in set().union(*seen.values()):
            way = [name for name in row.segments if serial in seen[name]]
            marked = [name for name in way if seen[name][serial]]
            unmarked = [name for name in way if not seen[name][serial]]
            if marked and unmarked:
                key = ids[unmarked[-1]], ids[marked[0]]
                want[key] = want.get(key, 0) + 1
        for stream in streams:
            between = stream["congestion"]["marked_between"]
            got = {} if between is None else {
                (s["from"], s["to"]): s["packets"] for s in between["segments"]}
            if got != want:
                yield f"{end.host.name}: marked between {got}, truth {want}"


# --- CNPs ----------------------------------------------------------------------------


def check_cnps(row, point, stream, n_for):
    """By whom, and with what."""
    got = stream["congestion"]["cnps"]
    if got is None or not n_for:
        return
    receiver, others = got["by_receiver"], got["by_others"]
    n = stream["cnps_received"]
    if sum(receiver.values()) + sum(others.values()) != n:
        yield f"{got} of {n} CNPs"
    if sum(others.values()) != (n if point in row.by_switch else 0):
        yield f"by others {others} of {n}"
    if receiver["with_nak"] != (n if point in row.with_nak else 0):
        yield f"with NAKs {receiver} of {n}"


def delays_of(marks, cnps, n_unknown):
    """From the first mark that waits to each CNP, the first n_unknown of which came before
    anybody knew whose data they are about."""
    events = sorted([(time, 1, None) for time, ce, _by in marks if ce]
                    + [(time, 0, i) for i, time in enumerate(cnps)])
    waiting, out = None, []
    for time, is_mark, i in events:
        if is_mark:
            waiting = time if waiting is None or time > waiting + PATIENCE_NS else waiting
        elif i >= n_unknown:
            if waiting is not None and time <= waiting + PATIENCE_NS:
                out.append(time - waiting)
            waiting = None
    return out


def check_delays(stream, marks, cnps):
    """Exact, but for the CNPs before the streams were paired."""
    got = stream["cnp_delay_ns"]
    if got is None or not cnps:
        return
    for n_unknown in range(min(UNPAIRED_CNPS, len(cnps)) + 1):
        want = delays_of(marks, cnps, n_unknown)
        if want and (len(want), min(want), max(want), sum(want) // len(want)) == (
                got["count"], got["min"], got["max"], got["mean"]):
            return
    yield f"delays {got}, truth {sorted(delays_of(marks, cnps, 0))}"


# --- rates ---------------------------------------------------------------------------


def limits(stream, line_bps):
    """(time, bit/s) of frames without preamble and gap, the line's rate first."""
    return [(0, line_bps), *map(tuple, stream["rates"])]


def limit_at(steps, time_ns):
    return [bps for start, bps in steps if start <= time_ns][-1]


def check_cuts(truth_stream, stream, packet_bytes, line_bps):
    """Each CNP is a burst of its own: its cut, its lowest rate and the time until the
    rate is back, from the steps of the sender's limit."""
    frame_bytes = packet_bytes + 14 + 4 + 20        # Ethernet, FCS, IPv4
    wire = frame_bytes / (frame_bytes + PREAMBLE_AND_GAP)
    steps = limits(truth_stream, line_bps)
    bursts = stream["congestion"]["cnp_bursts"]
    if len(bursts) < 3:
        yield f"{len(bursts)} bursts"
    for burst in bursts:
        cut = next((step for step in steps if step[0] >= burst["start_ns"]), None)
        if cut is None or burst["first_cut"] is None:
            continue             # the last one: nothing is sent behind it
        before = min(limit_at(steps, burst["start_ns"] - 1), line_bps * wire)
        after = min(cut[1], line_bps * wire)
        if abs(burst["first_cut"] - after / before) > CUT_TOLERANCE * after / before:
            yield f"first cut {burst['first_cut']}, truth {after / before}"
        payload = packet_bytes / frame_bytes
        if abs(burst["lowest_bps"] - after * payload) > CUT_TOLERANCE * after:
            yield f"lowest {burst['lowest_bps']}, truth {after * payload}"
        yield from check_recovery(burst, steps, before, frame_bytes)


def check_recovery(burst, steps, before, frame_bytes):
    if burst["first_cut"] >= RECOVERED:
        return                   # it never fell so low
    back = next((time for time, bps in steps
                 if time > burst["start_ns"] and bps >= RECOVERED * before
                 and limit_at(steps, time - 1) < RECOVERED * before), None)
    window = (WINDOW_PACKETS + 2) * frame_bytes * 8e9 / (RECOVERED * before)
    got = burst["recovery_ns"]
    if got is None or not 0 <= got - (back - burst["start_ns"]) <= window:
        yield f"recovery {got}, truth {back - burst['start_ns']} and up to {window:.0f}"


# --- rows ----------------------------------------------------------------------------


def report_of(path):
    done = subprocess.run([BINARY, "--quiet", "--json", "-", str(path)],
                          stdin=subprocess.DEVNULL, capture_output=True, timeout=300)
    if done.returncode not in (0, 1) or not done.stdout:
        raise RuntimeError(done.stderr.decode(errors="replace")[:500])
    return json.loads(done.stdout)


def check_point(row, tap, fabric, truth, report, point_id):
    point = tap.point.name
    notifiers = [n for n in report["congestion"]["notifiers"] if n["point"] == point_id]
    yield from check_pacing(row, point, notifiers, truth)
    for end, truth_stream in zip(fabric.ends, truth["streams"]):
        stream = next((s for s in report["streams"] if s["point"] == point_id
                       and s["src"] == end.host.config.address
                       and s["dst_qpn"] == end.peer.side.qpn), None)
        marks = marks_at(tap, end)
        if stream is None or not marks:
            continue
        cnps = [f.time_ns for f in tap.seen
                if f.tx.space == CNPS and f.tx.dest_qpn == end.side.qpn]
        yield from check_episodes(stream, marks)
        yield from check_answers(row, point, stream)
        yield from check_cnps(row, point, stream, len(cnps))
        if 2 * notification_of(truth)["interval_ns"] <= PATIENCE_NS:
            yield from check_delays(stream, marks, cnps)
        if point == row.cuts_at:
            packet_bytes = 8 + 12 + end.pmtu + 4    # UDP, BTH, payload, ICRC
            yield from check_cuts(truth_stream, stream, packet_bytes,
                                  end.host.nic.port.link.bps)


def run_row(row, directory):
    scenario = fabric_scenarios.scenario(row.name)
    fabric = simulate_fabric(scenario)
    truth = fabric.truth()
    taps = {tap.point.name: tap for tap in fabric.taps}
    for name, points in scenario.files_of_points().items():
        path = pathlib.Path(directory, name)
        path.write_bytes(fabric.captures()[name])
        report = report_of(path)
        ids = {p["interface"] or points[0]: p["id"] for p in report["capture"]["points"]}
        for point in points:
            for text in check_point(row, taps[point], fabric, truth, report, ids[point]):
                yield f"{point}: {text}"
        if row.segments:
            yield from check_segments(row, fabric, report, ids)


def main(arguments):
    n_failed = n_rows = 0
    for row in ROWS:
        if arguments and row.name not in arguments:
            continue
        n_rows += 1
        with tempfile.TemporaryDirectory(prefix="rocescope-") as directory:
            problems = list(run_row(row, directory))
        if problems:
            n_failed += 1
            print(f"FAILED {row.name}")
            print("".join(f"    {problem}\n" for problem in problems[:12]), end="")
    print(f"{n_rows} rows, {n_failed} failed")
    return 1 if n_failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
