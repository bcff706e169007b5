#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The analyzer's reports of fabrics against what really happened there.

Each row is a scenario of fabric_scenarios.py with the warnings that it deserves at each
point; all else holds of every row: pauses to the nanosecond, marks and CNPs by count, and
of losses, late packets and rounds never more than happened and at least what is evident.

    tests/sim/test_fabric.py [ROW...]     some rows alone
    tests/sim/test_fabric.py --keep DIR   leaves captures, truth and reports there

KNOWN lists where the analyzer is wrong today, and why.  A row of it that comes right
fails the test, so that the mark is removed with the fault.
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
from sim import ACKS, REQUESTS, RESPONSES

SOURCE = pathlib.Path(os.environ.get("ROCESCOPE_SOURCE",
                                     pathlib.Path(__file__).resolve().parents[2]))
BINARY = os.environ.get("ROCESCOPE", str(SOURCE / "build/dev/bin/rocescope"))

CODEPOINTS = ("not_ect", "ect0", "ect1", "ce")
PAUSE_COUNTS = ("xoff", "refresh", "xon", "expired", "total_ns", "longest_ns")
# So much of a stream on other ways, and the analyzer has to say that it sees a part.
PARTIAL_SHARE, PARTIAL_PACKETS = 0.05, 7


@dataclasses.dataclass(frozen=True)
class Row:
    name: str
    # Point -> kinds of findings of severity warning or worse; points that are not named
    # have none.
    warnings: dict = dataclasses.field(default_factory=dict)
    # Counts of the truth that must not be 0, or the row tests nothing.
    happens: tuple = ()
    seeds: int = 1
    # What came first, marks or the pause, as far as the report knows it.
    orders: tuple = ()


# Marks that came with an incast that is told are a note.
INCAST = {"h3": {"incast"}, "leaf0_h3": {"incast"}}
UNANSWERED = {p: {"ce_without_cnp", "incast"} for p in INCAST}
LOSSY = {"h1": {"undelivered_after_capture"}, "h3": {"lost_before_capture"},
         "leaf0_h1": {"undelivered_after_capture"}}
PFC = {"leaf0_h0": {"pfc"}, "leaf0_h1": {"pfc"}}

ROWS = (
    Row("incast_ecn", INCAST, ("ce", "cnps"), seeds=2),
    Row("incast_qp", INCAST, ("ce", "cnps")),
    Row("incast_destination", INCAST, ("ce", "cnps")),
    Row("incast_port", INCAST, ("ce", "cnps")),
    Row("incast_cnp_port_0", INCAST, ("ce", "cnps")),
    Row("incast_read", INCAST, ("ce", "cnps")),
    Row("incast_switch_cnps", UNANSWERED, ("ce", "cnps")),
    Row("notification_off", UNANSWERED, ("ce",)),
    Row("reaction_off", {p: {"incast", "no_reaction"} for p in INCAST},
        ("ce", "cnps")),
    Row("cnp_in_data_class", {
        "h0": {"ce"}, "leaf0_h0": {"ce"}, "h3": {"cnp_class", "incast"},
        "leaf0_h3": {"cnp_class", "incast"}}, ("ce", "cnps")),
    Row("rate_cuts", {"leaf0_h3": {"ce"}}, ("ce", "cnps")),
    Row("marked_twice", {"h0": {"ce", "incast"}}, ("ce", "cnps")),
    Row("incast_pfc", PFC, ("pauses",)),
    Row("incast_pfc_10g", PFC, ("pauses",)),
    Row("incast_pfc_25g", PFC, ("pauses",)),
    Row("incast_pfc_200g", PFC, ("pauses",)),
    Row("incast_pfc_400g", PFC, ("pauses",)),
    Row("incast_pfc_800g", {}, ("pauses",)),    # for less than 10 us in all
    Row("incast_pause", {p: {"pause_802.3x"} for p in PFC}, ("pauses",)),
    Row("incast_expiry", PFC, ("pauses", "expired")),
    Row("incast_short_headroom", {
        "leaf0_h0": {"pfc", "undelivered_after_capture"},
        "leaf0_h1": {"pfc", "undelivered_after_capture"},
        "h3": {"lost_before_capture", "timeout"}}, ("pauses", "lost")),
    Row("pauses_alone", {**PFC, "leaf0_h3": {"pause_before_ecn"}}, ("pauses",),
        orders=("pause",)),
    Row("marks_before_pauses", {**PFC, "leaf0_h3": {"incast"}}, ("pauses", "ce"),
        orders=("ce",)),
    Row("deaf", {"leaf0_h0": {"pfc", "pause_ignored"}, "leaf0_h1": {"pfc"}},
        ("pauses", "late")),
    Row("long_storm", {"leaf0_h3": {"pause_storm", "slow_receiver"},
                       "leaf0_h0": {"pause_storm"}}, ("pauses",)),
    Row("storm_beside", {
        "leaf0_h3": {"pause_storm", "slow_receiver", "pause_cascade",
                     "pause_bystanders"},
        "leaf0_h0": {"pause_storm"}}, ("pauses", "caused")),
    Row("both_ways", {p: {"pfc", "slow_receiver"} for p in ("leaf0_h0", "leaf0_h3")},
        ("pauses",)),
    Row("shared_mac", {"leaf0": {"pfc"}, "leaf0_h0": {"pfc"}}, ("pauses",)),
    Row("storm", {"leaf0_h3": {"slow_receiver"}, "leaf0_h0": {"pfc"}},
        ("pauses",)),
    Row("cascade", {"leaf1_h7": {"slow_receiver", "pause_cascade", "pause_bystanders"}},
        ("pauses", "caused")),
    Row("deadlock", {"spine0_leaf0": {"pause_deadlock", "pause_cascade", "pause_before_ecn"}},
        ("pauses", "caused")),
    Row("ecmp", {"h4": {"ce"}, "spine0": {"ce"}}, ("ce",)),
    Row("spray", {"h0": {"undelivered_after_capture"}, "h4": {"reordered"}},
        ("reordered",), seeds=2),
    Row("round_robin", {"h0": {"undelivered_after_capture"}, "h4": {"reordered"}},
        ("reordered",)),
    Row("spray_out_of_order", {}, ("reordered",)),
    Row("spray_selective", {"h0": {"undelivered_after_capture"}, "h4": {"reordered"}},
        ("reordered",)),
    Row("flowlets", {}, ("elsewhere",)),
    Row("one_spine", {}, ("elsewhere",)),
    Row("one_spine_out_of_order", {}, ("elsewhere",)),
    Row("lossy", LOSSY, ("lost",)),
    Row("lossy_cnp_on_nak", LOSSY, ("lost", "cnps")),
    Row("lossy_links", {"h0": {"undelivered_after_capture"},
                        "h4": {"ce", "lost_before_capture"},
                        "spine0": {"ce", "lost_before_capture"}}, ("lost",)),
)

_FIRST_FOUR = ("of the first four packets nobody knows yet that the identification rises; "
               "a late one among them is not told")
_ROUNDS = "rounds that overtake each other are not told apart, nor their NAKs"
_COMB = "every second PSN is seen and no ACK for one of them: nothing can be paired"
_LATE_AS_ANSWER = "a late original right behind a NAK is taken for the answer to it"
_UNKNOWN_ROUND = ("rounds: unknown", "warnings")

# (row, point, what) -> why.
KNOWN = {(row, point, what): why for row, point, whats, why in (
    ("spray", "h4", ("reordered",), _FIRST_FOUR),
    ("spray", "h4", ("rounds: nak_sequence", *_UNKNOWN_ROUND), _ROUNDS),
    ("spray_selective", "h4", ("reordered",), _FIRST_FOUR),
    ("spray_selective", "h4", ("warnings",), _ROUNDS),
    ("spray_selective", "h4", ("vantage",), _LATE_AS_ANSWER),
    ("spray_out_of_order", "h4", ("reordered",), _FIRST_FOUR),
    ("round_robin", "h4", ("rounds: nak_sequence", *_UNKNOWN_ROUND), _ROUNDS),
    ("one_spine", "spine0", ("pairing",), _COMB),
) for what in whats}


class Complaints:
    """About one point of one row."""

    def __init__(self, where):
        self.where, self.texts = where, []

    def equal(self, what, got, want):
        if got != want:
            self.texts.append((what, f"{got}, truth {want}"))

    def between(self, what, got, low, high):
        if got is None or not low <= got <= high:
            self.texts.append((what, f"{got}, truth {low}..{high}"))


# --- pauses --------------------------------------------------------------------------


def has_shared_mac(pauses):
    return len({(p["src_mac"], p["priority"]) for p in pauses}) < len(pauses)


def check_pauses(say, truth, reported, streams):
    """Exact, by sending MAC and priority."""
    if has_shared_mac(truth):
        check_shared_mac(say, truth, reported)
        return
    found = {(p["src_mac"], p["priority"]): p for p in reported}
    say.equal("senders of pauses", sorted(found, key=str),
              sorted(((p["src_mac"], p["priority"]) for p in truth), key=str))
    for want in truth:
        got = found.get((want["src_mac"], want["priority"]))
        if got is None:
            continue
        for key in PAUSE_COUNTS:
            say.equal(f"pauses: {key}", got[key], want[key])
        say.equal("pauses: intervals", [[i["start_ns"], i["end_ns"], i["end"]]
                                        for i in got["intervals"]],
                  want["intervals"][:len(got["intervals"])])
        say.equal("pauses: how many", got["n_intervals"], len(want["intervals"]))
        lengths = [end - start for start, end, _how in want["intervals"]]
        say.equal("pauses: lengths", lengths_of(got["lengths_ns"]), lengths_of(
            lengths and {"count": len(lengths), "min": min(lengths), "max": max(lengths),
                         "mean": sum(lengths) // len(lengths)}))
        say.equal("pauses: direction", got["direction"],
                  "from_network" if ":" in want["from"] else "from_host")
        check_victims(say, want["victims"], got["victims"], streams)
        say.equal("pauses: partner", got["partner_mac"], want["dst_mac"])
        say.equal("pauses: of the partner", got["partner_total_ns"], sum(
            p["total_ns"] for p in truth if p["from"] == want["to"]
            and p["priority"] == want["priority"]))
        if got["order"]["first"] is not None:
            say.equal("pauses: order", got["order"]["first"],
                      "ce" if want["marked_before"] else "pause")


def lengths_of(dist):
    return dist and [dist[key] for key in ("count", "min", "max", "mean")]


def check_victims(say, want, got, streams):
    if want is None or got is None:
        say.equal("victims", got, want)
        return
    for key in ("packets", "stops", "held_ns", "late_packets"):
        say.equal(f"victims: {key}", got[key], want[key])
    by_id = {s["id"]: (s["src"], s["dst"], s["dst_qpn"]) for s in streams}
    found = [[*by_id[s["stream"]], s["stops"], s["held_ns"]] for s in got["streams"]]
    say.equal("victims: streams", sorted(found), sorted(want["streams"]))
    of_streams = sum(stream["packets"] for stream in got["streams"])
    say.equal("victims: no more packets of streams", min(of_streams, got["packets"]), of_streams)


def check_causes(say, truth, report, points, ids):
    """Which pause comes of which: exact, as far as the other one was captured."""
    captured = {(p["src_mac"], p["priority"]) for p in report["pauses"]}
    by_id = {p["id"]: p["src_mac"] for p in report["pauses"]}
    for point in points:
        for want in truth["points"][point]["pauses"]:
            (got,) = (p for p in report["pauses"] if p["point"] == ids.get(point)
                      and p["src_mac"] == want["src_mac"]
                      and p["priority"] == want["priority"])
            causes = [mac if (mac, want["priority"]) in captured else None
                      for mac in want["caused_by"]]
            say.equal(f"causes of {want['from']}",
                      [by_id.get(i["caused_by"]) for i in got["intervals"]],
                      causes[:len(got["intervals"])])


def check_shared_mac(say, truth, reported):
    """Frames of several ports that nothing tells apart: what can be counted is, and that
    it is ambiguous is said."""
    for mac in {p["src_mac"] for p in truth}:
        of_mac = [p for p in truth if p["src_mac"] == mac]
        got = [p for p in reported if p["src_mac"] == mac]
        for keys in (("xoff", "refresh"), ("xon",)):
            say.equal(f"shared MAC: {' and '.join(keys)}",
                      sum(p[key] for p in got for key in keys),
                      sum(p[key] for p in of_mac for key in keys))
        say.equal("shared MAC: direction", {p["direction"] for p in got}, {"ambiguous"})


# --- streams -------------------------------------------------------------------------


@dataclasses.dataclass
class View:
    """One direction of a queue pair at one point: truth beside report."""
    stream: dict
    truth: dict                  # of this stream at the point
    peer_truth: dict             # of the other direction there; None: it goes elsewhere
    got: dict
    unattributed: dict

    def is_partial(self):
        return self.truth["elsewhere"] + self.truth["way_unknown"] > 0


def check_stream(say, view):
    check_counts(say, view)
    check_answers(say, view)
    check_losses(say, view)
    check_order(say, view)


def check_counts(say, view):
    truth, got = view.truth, view.got
    for space, key in ((REQUESTS, "requests"), (RESPONSES, "responses")):
        n = truth[space]["packets"] + (truth[ACKS]["packets"] if space == RESPONSES else 0)
        say.between(f"{key}: packets", got[key]["packets"], truth[space]["packets"], n)
    say.equal("ECN", {k: got["ecn"][k] for k in CODEPOINTS if got["ecn"][k]}, truth["ecn"])
    say.equal("CE by the ports that marked", got["ecn"]["ce"],
              sum(truth["ce_by"].values()))
    say.equal("ECN transitions", got["ecn"]["transitions"], truth["ecn_transitions"])
    for codepoint, n in truth["ecn_control"].items():
        say.between(f"control {codepoint}", got["ecn_control"][codepoint], n,
                    got["packets"])
    say.equal("CNPs sent", got["cnps_sent"], truth["cnps"])
    if truth[REQUESTS]["packets"] and got["vantage"] != "unknown":
        say.equal("vantage", got["vantage"], truth["vantage"])


def check_answers(say, view):
    """NAKs and CNPs about this stream; where the other direction goes elsewhere, nobody
    can know of them."""
    truth, got = view.truth, view.got
    say.equal("NAKs sent", {k: v for k, v in got["naks_sent"].items() if v}, truth["naks"])
    if view.peer_truth is None or view.is_partial():
        return
    if got["naks"] is None:
        say.texts.append(("pairing", "none"))
        return
    say.equal("NAKs received", {k: v for k, v in got["naks"].items() if v},
              view.peer_truth["naks"])
    # What a switch said before the pair was known stays unattributed.
    say.between("CNPs received", got["cnps_received"],
                truth["cnps_for"] - view.unattributed["cnps"], truth["cnps_for"])


def n_dropped(stream, space):
    return sum(entry[0] == space for entry in stream["dropped"])


def check_losses(say, view):
    truth, stream = view.truth, view.stream
    naks = len(stream["naks_for"])
    needless = sum(r["delivered"] for r in stream["rounds"])
    for space in (REQUESTS, RESPONSES):
        got, want = view.got["losses"][space], truth[space]
        before, after = len(want["lost_before"]), len(want["lost_after"])
        evident = sum(c["evident"] for c in want["lost_before"])
        evident = 0 if view.is_partial() else evident
        say.between(f"{space}: lost before", got["lost_before_capture"], evident, before)
        # Lost or late, nobody can tell here; each NAK asks for one.
        say.between(f"{space}: undelivered", got["undelivered_after_capture"], 0,
                    max(after, naks))
        say.between(f"{space}: ACK lost", got["ack_lost"], 0,
                    needless if stream["acks_dropped"] else 0)
        say.between(f"{space}: data or ACK lost", got["data_or_ack_lost"], 0,
                    n_dropped(stream, space) + needless)
        say.between(f"{space}: not captured", got["not_captured"], 0,
                    len(want["not_captured"]) + truth["elsewhere"])
        say.equal(f"{space}: corrupt", got["corrupt"], 0)
    n_here, elsewhere = truth[REQUESTS]["packets"], truth["elsewhere"]
    if not elsewhere:
        say.equal("partial path", view.got["partial_path"], False)
    elif elsewhere > max(PARTIAL_PACKETS, 2 * PARTIAL_SHARE * n_here):
        say.equal("partial path", view.got["partial_path"], True)


def check_order(say, view):
    truth, got = view.truth, view.got
    late = truth[REQUESTS]["reordered"]
    firsts = [c for c in late if c["first_here"] and c["copy"][2] == 1]
    low = 0 if view.is_partial() else len(firsts)
    say.between("reordered", got["requests"]["reordered"], low, len(late))
    again = got["retransmissions"]
    if view.is_partial():
        say.between("sent again", again["packets"], 0, truth[REQUESTS]["resent"])
        return
    say.between("sent again", again["packets"], truth[REQUESTS]["resent_evident"],
                truth[REQUESTS]["resent"])
    for cause, n in again["by_cause"].items():
        seen, evident = truth["rounds"].get(cause, (0, 0))
        say.between(f"rounds: {cause}", n, evident, seen)
    if not late and not truth[REQUESTS]["lost_before"]:
        say.equal("gaps", got["requests"]["gaps"], 0)
    say.equal("network duplicates", got["requests"]["duplicates"], 0)


# --- rows ----------------------------------------------------------------------------


def report_of(path, speed_bps):
    """A classic file does not know the link's speed."""
    speed = [f"--link-speed={speed_bps // 10**9}G"] if path.suffix == ".pcap" else []
    done = subprocess.run([BINARY, "--quiet", *speed, "--json", "-", str(path)],
                          stdin=subprocess.DEVNULL, capture_output=True, timeout=300)
    if done.returncode not in (0, 1) or not done.stdout:
        raise RuntimeError(f"exit status {done.returncode}: "
                           f"{done.stderr.decode(errors='replace')[:500]}")
    path.with_suffix(".json").write_bytes(done.stdout)
    return json.loads(done.stdout)


def complete(truth):
    """What the checks want to know of a stream's other direction."""
    by_qpn = {(s["src"], s["src_qpn"]): s for s in truth["streams"]}
    for stream in truth["streams"]:
        peer = stream["peer"] = by_qpn[stream["dst"], stream["dst_qpn"]]
        stream["naks_for"] = peer["naks_sent"]
        stream["acks_dropped"] = n_dropped(peer, ACKS)


def views_at(point, truth, report, point_id):
    found = {(s["src"], s["dst"], s["dst_qpn"]): s for s in report["streams"]
             if s["point"] == point_id}
    for stream in truth["streams"]:
        here = stream["points"].get(point)
        key = stream["src"], stream["dst"], stream["dst_qpn"]
        if here is not None and (key in found or here[REQUESTS]["packets"]):
            yield View(stream, here, stream["peer"]["points"].get(point), found.get(key),
                       report["unattributed"])


def check_point(say, truth, report, point_id):
    point = say.where
    check_pauses(say, truth["points"][point]["pauses"],
                 [p for p in report["pauses"] if p["point"] == point_id],
                 [s for s in report["streams"] if s["point"] == point_id])
    for view in views_at(point, truth, report, point_id):
        if view.got is None:
            say.texts.append(("streams", "one is not in the report"))
        else:
            check_stream(say, view)


def check_warnings(say, row, report, points):
    want = {kind for point in points for kind in row.warnings.get(point, ())}
    got = {f["id"].split(":")[0] for f in report["findings"] if f["severity"] != "note"}
    say.equal("warnings", sorted(got), sorted(want))


def happened(truth):
    fabric = truth["fabric"]
    counts = {"cnps": len(fabric["cnps"]), "pauses": len(fabric["pauses"]),
              "lost": len(fabric["drops"]), "elsewhere": 0, "ce": 0, "reordered": 0,
              "expired": 0, "late": 0,
              "caused": sum(p["cause"]["kind"] == "pause" for p in fabric["pauses"])}
    for stream in truth["streams"]:
        for point in stream["points"].values():
            counts["elsewhere"] += point["elsewhere"]
            counts["reordered"] += len(point[REQUESTS]["reordered"])
            counts["ce"] += point["ecn"].get("ce", 0)
    for point in truth["points"].values():
        counts["expired"] += sum(pauses["expired"] for pauses in point["pauses"])
        counts["late"] += sum(pauses["victims"]["late_packets"]
                              for pauses in point["pauses"] if pauses["victims"])
    return counts


def run_seed(row, seed, directory):
    """Yields (point, what, text) of all that is wrong."""
    scenario = fabric_scenarios.scenario(row.name, seed)
    fabric = simulate_fabric(scenario)
    truth = fabric.truth()
    stem = pathlib.Path(directory, f"{row.name}-{seed}")
    stem.mkdir(exist_ok=True)
    (stem / "truth.json").write_text(fabric_scenarios.to_json(truth))
    counts = happened(truth)
    for what in row.happens:
        if not counts[what]:
            yield "scenario", what, "does not happen: the row tests nothing"
    complete(truth)
    for name, points in scenario.files_of_points().items():
        path = stem / name
        path.write_bytes(fabric.captures()[name])
        report = report_of(path, truth["points"][points[0]]["link_bps"])
        says = [Complaints(point) for point in points]
        # A classic file does not know the name of its only point.
        ids = {p["interface"] or points[0]: p["id"] for p in report["capture"]["points"]}
        for say in says:
            check_point(say, truth, report, ids.get(say.where))
        check_warnings(says[0], row, report, points)
        if not any(has_shared_mac(truth["points"][p]["pauses"]) for p in points):
            check_causes(says[0], truth, report, points, ids)
        orders = {p["order"]["first"] for p in report["pauses"]} - {None}
        says[0].equal("orders", orders, set(row.orders) or orders)
        for say in says:
            yield from ((say.where, *text) for text in say.texts)


def run_row(row, directory):
    """(complaints that are news, keys of KNOWN that came up)."""
    news, known = [], set()
    for seed in range(1, row.seeds + 1):
        for point, what, text in run_seed(row, seed, directory):
            key = row.name, point, what
            if key in KNOWN:
                known.add(key)
            else:
                news.append(f"seed {seed}, {point}: {what}: {text}")
    fixed = {key for key in KNOWN if key[0] == row.name} - known
    news += [f"fixed: remove the mark {key}" for key in sorted(fixed)]
    return news, known


def main(arguments):
    keep = None
    if arguments[:1] == ["--keep"]:
        keep, arguments = arguments[1], arguments[2:]
        pathlib.Path(keep).mkdir(parents=True, exist_ok=True)
    failed, n_known, n_rows = [], 0, 0
    with tempfile.TemporaryDirectory() as temporary:
        for row in ROWS:
            if arguments and row.name not in arguments:
                continue
            n_rows += 1
            try:
                news, known = run_row(row, keep or temporary)
            except Exception as error:  # a row that breaks must not hide the next
                news, known = [f"{type(error).__name__}: {error}"], ()
            n_known += len(known)
            if news:
                failed.append(row.name)
                print(f"FAILED {row.name}")
                print("".join(f"    {text}\n" for text in news[:12]), end="")
    print(f"{len(failed)} failed: {' '.join(failed)}" if failed
          else f"{n_rows} rows passed, {n_known} faults are known")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
