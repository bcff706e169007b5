#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Incast, bursts, elephants and load spreading of simulated fabrics, as load_truth.py
reckons them: times to the ns, counts and bytes exact, predictions to 1e-4.

    tests/sim/test_load.py [ROW...]     some rows alone
"""

import collections
import dataclasses
import json
import os
import pathlib
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(os.environ.get("ROCESCOPE_SOURCE",
                                     pathlib.Path(__file__).resolve().parents[2]))
BINARY = os.environ.get("ROCESCOPE", str(SOURCE / "build/dev/bin/rocescope"))

import fabric_scenarios  # noqa: E402
import load_scenarios  # noqa: E402
import load_truth  # noqa: E402
from fabric import simulate_fabric  # noqa: E402
from fabric_truth import pauses_heard  # noqa: E402

NEAR = 0.6e-4                    # predictions are rounded to four digits
MOST_FLOWS = 9                   # of which every spread is looked at


@dataclasses.dataclass(frozen=True)
class Row:
    name: str
    happens: tuple = ()          # what must not be missing in the truth
    args: tuple = ()
    rate_bps: int = 0            # of bursts; 0: 80 % of the link's speed


ROWS = (
    Row("incast_ecn", ("episodes", "bursts")),
    Row("incast_qp", ("episodes", "bursts", "siblings")),
    Row("incast_read", ("episodes",)),
    Row("incast_pfc", ("episodes",)),
    Row("gusts", ("episodes",)),
    Row("gusts", ("episodes", "bursts"), ("--burst", "25G"), 25 * 10**9),
    Row("two_at_once"),
    Row("gusts_with_pauses", ("episodes",)),
    Row("paced_cnps", ("episodes",)),
    Row("uplink_marks", ("episodes",)),
    Row("siblings", ("siblings",)),
    Row("unfair_siblings", ("siblings",)),
    Row("shy_sibling", ("siblings",)),
    Row("small_sibling", ("siblings",)),
    Row("same_port", ("shared",)),
    Row("ecmp"),
    Row("flowlets", ("gaps",)),
    Row("one_spine", ("gaps",)),
    Row("flowlets_too_short", ("late", "late_after")),
    Row("spray_out_of_order", ("late",)),
    Row("round_robin", ("late",)),
    Row("cascade", ("host pauses",)),
    Row("slow_host", ("host pauses",)),
    Row("gusts_to_a_slow_host", ("episodes", "host pauses")),
    Row("incast_switch_cnps", ("episodes",)),
    Row("marked_twice", ("episodes",)),
    Row("incast_pause", ("episodes",)),
    Row("spray", ("late",)),
    Row("spray_selective", ("late",)),
    Row("one_spine_out_of_order"),
    Row("storm"),
    Row("long_storm", ("host pauses",)),
    Row("deadlock"),
    Row("lossy", ("episodes",)),
)


def scenario_of(name):
    if name in load_scenarios.SCENARIOS:
        return dataclasses.replace(load_scenarios.SCENARIOS[name](), name=name)
    return fabric_scenarios.scenario(name)


def report_of(path, args):
    done = subprocess.run([BINARY, "--quiet", *args, "--json", "-", str(path)],
                          stdin=subprocess.DEVNULL, capture_output=True, check=True,
                          timeout=300)
    return json.loads(done.stdout)


class Comparison:
    """Of one point."""

    def __init__(self, where):
        self.where, self.texts = where, []

    def equal(self, what, got, want):
        if got != want:
            self.texts.append(f"{self.where}: {what}: {got}, truth {want}")

    def near(self, what, got, want):
        if got is None or abs(got - float(want)) > NEAR:
            self.texts.append(f"{self.where}: {what}: {got}, truth {float(want)}")


# --- at each point -------------------------------------------------------------------


def xoffs_heard(taps, fabric):
    """(time, address of the host that asks, None for a switch) of each pause's begin, at
    all points."""
    hosts = {host.name: host.config.address for host in fabric.hosts}
    out = []
    for tap in taps:
        for pauses in pauses_heard(tap, fabric.now, fabric.pauses):
            out += [(start, hosts.get(pauses["from"]))
                    for start, _end, _how in pauses["intervals"]]
    return out


def check_signs(say, dst, got, want):
    for sign, numbers in want.items():
        say.equal(f"{dst}: {sign}", tuple(got[sign][key] for key in (
            "inside", "outside", "of_inside", "of_outside")), numbers)


def check_incast(say, seen, xoffs, span, report, point_id):
    got = {r["receiver"]: r for r in report["incast"]["receivers"]
           if r["point"] == point_id}
    want = load_truth.incast(seen)
    load_truth.add_signs(want, seen, xoffs, span)
    want = {dst: r for dst, r in want.items() if r["max_degree"] > 1}
    say.equal("receivers of several", sorted(got), sorted(want))
    for dst in set(got) & set(want):
        g, w = got[dst], want[dst]
        for key in ("senders", "senders_met", "senders_marked", "max_degree"):
            say.equal(f"{dst}: {key}", g[key], w[key])
        say.equal(f"{dst}: degrees", {d["degree"]: d["ns"] for d in g["degrees"] if d["ns"]},
                  {d: ns for d, ns in w["degrees"].items() if ns})
        say.equal(f"{dst}: episodes", g["n_episodes"], len(w["episodes"]))
        for one, other in zip(g["episodes"], w["episodes"]):
            say.equal(f"{dst}: episode", {**{k: one[k] for k in other},
                                          "senders": sorted(one["senders"])}, other)
        check_signs(say, dst, g["congestion"], w["signs"] if w["episodes"] else {})
        say.equal(f"{dst}: time in episodes", g["episodes_ns"],
                  sum(e["end_ns"] - e["start_ns"] for e in w["episodes"]))
    return sum(len(r["episodes"]) for r in want.values())


def check_bursts(say, seen, report, point_id, rate_bps):
    got = {r["receiver"]: r for r in report["bursts"]["receivers"]
           if r["point"] == point_id}
    want = load_truth.bursts(seen, rate_bps)
    say.equal("receivers", sorted(got), sorted(want))
    for dst in set(got) & set(want):
        g, w = got[dst], want[dst]
        say.equal(f"{dst}: rate", g["rate_bps"], rate_bps or None)
        for key in ("bytes", "peak_bps"):
            say.equal(f"{dst}: {key}", g[key], w[key])
        if not rate_bps:
            say.equal(f"{dst}: bursts", g["n_bursts"], None)
            continue
        say.equal(f"{dst}: bursts", g["n_bursts"], len(w["bursts"]))
        say.equal(f"{dst}: bytes of bursts", g["burst_bytes"],
                  sum(b["bytes"] for b in w["bursts"]))
        say.equal(f"{dst}: longest", g["longest_ns"],
                  max((b["end_ns"] - b["start_ns"] for b in w["bursts"]), default=0))
        longest = sorted(w["bursts"], key=lambda b: (b["start_ns"] - b["end_ns"],
                                                     -b["bytes"], b["start_ns"]))[:16]
        say.equal(f"{dst}: the longest", [{k: b[k] for k in longest[0]}
                                          for b in g["bursts"]],
                  sorted(longest, key=lambda b: b["start_ns"]))
    return sum(len(r["bursts"]) for r in want.values()) if rate_bps else 0


def check_host_pauses(say, tap, fabric, seen, report, point_id):
    """What receivers' own NICs asked for while a stream to them lasted."""
    hosts = {host.name: host.config.address for host in fabric.hosts}
    streams = {s["id"]: s for s in report["streams"] if s["point"] == point_id}
    packets = load_truth.by(lambda p: p.stream, seen)
    heard = {hosts[p["from"]]: p for p in pauses_heard(
        tap, fabric.last_captured_ns(tap), fabric.pauses) if p["from"] in hosts}
    speed = report["capture"]["points"][point_id]["link_speed_bps"]
    found = 0
    for stream in report["receivers"]["streams"]:
        if stream["stream"] not in streams:
            continue
        src, dst, qpn = (streams[stream["stream"]][key] for key in ("src", "dst", "dst_qpn"))
        intervals = heard[dst]["intervals"] if dst in heard else []
        life = load_truth.life(packets[src, dst, qpn], intervals)
        n, total_ns = load_truth.paused_in(life, intervals)
        got = stream["evidence"]
        say.equal(f"pauses by {dst}", got["host_pauses"], n)
        say.equal(f"paused by {dst}", got["host_pause_ns"],
                  total_ns if speed or n == 0 else None)
        found += n
    return found


# --- of a file with one point --------------------------------------------------------


def check_pairs(say, seen, report):
    spreading = report["spreading"]
    qpn_of = {s["id"]: s["dst_qpn"] for s in report["streams"]}
    want = load_truth.pairs(seen, report["timeline"]["bin_ns"])
    got = {(p["src"], p["dst"]): p for p in spreading["pairs"]}
    say.equal("pairs", sorted(got), sorted(want))
    for ends in set(got) & set(want):
        g, w = got[ends], want[ends]
        for key in ("queue_pairs", "udp_src_ports"):
            say.equal(f"{ends}: {key}", g[key], w[key])
        for key in ("entropy_bits", "possible_bits"):
            say.near(f"{ends}: {key}", g[key], w[key])
        say.equal(f"{ends}: shared", {
            s["udp_src_port"]: sorted(qpn_of[i] for i in s["streams"])
            for s in g["shared_five_tuples"]}, w["shared"])
        check_siblings(say, ends, g["siblings"], w["siblings"])
    return (sum(w["siblings"] is not None for w in want.values()),
            sum(len(w["shared"]) for w in want.values()))


def check_siblings(say, ends, got, want):
    if got is None or want is None:
        say.equal(f"{ends}: siblings", got, want)
        return
    say.near(f"{ends}: Jain's index", got["jain"], want["jain"])
    say.equal(f"{ends}: siblings", {k: got[k] for k in want if k != "jain"},
              {k: v for k, v in want.items() if k != "jain"})


def check_ecmp(say, seen, report):
    sizes = load_truth.flow_bytes(seen)
    got = report["spreading"]["ecmp"]
    say.equal("flows", got["flows"], len(sizes))
    say.equal("links", [row["links"] for row in got["predicted"]],
              [2, 4, 8, 16, 32, 64] if sizes else [])
    for row in got["predicted"]:
        if len(sizes) <= MOST_FLOWS:
            for key, value in load_truth.ecmp(sizes, row["links"]).items():
                say.near(f"{row['links']} links: {key}", row[key], value)


def check_flowlets(say, seen, report):
    got = report["spreading"]["flowlets"]
    want = load_truth.gaps(seen)
    say.equal("flowlets", [(g["gap_ns"], g["flowlets"]) for g in got["gaps"]],
              list(zip(load_truth.RUNGS_NS, want)))
    late = load_truth.late_originals(seen)
    # Of the first packets nobody knows yet that the identification rises, and with two
    # copies on the way, which of them is late.
    if got["late"] != len(late):
        say.equal("late, at most", max(got["late"], len(late)), len(late))
        return want, late
    say.equal("latest", got["latest_ns"], max((ns for ns, _ in late), default=None))
    for row in got["gaps"]:
        say.equal(f"late after {row['gap_ns']} ns", row["late_after"],
                  sum(gap >= row["gap_ns"] for _, gap in late))
    if late:
        latest = max(ns for ns, _ in late)
        say.equal("suitable gap", got["suitable_gap_ns"],
                  min(r for r in load_truth.RUNGS_NS if r > latest))
    return want, late


def check_alone(say, seen, report):
    """What is brought together over points, of a file that has one."""
    say.equal("elephants", report["elephants"], load_truth.elephants(seen))
    siblings, shared = check_pairs(say, seen, report)
    check_ecmp(say, seen, report)
    flowlets, late = check_flowlets(say, seen, report)
    return {"siblings": siblings, "shared": shared, "late": len(late),
            "gaps": flowlets[0] - flowlets[-1],
            "late_after": sum(gap >= 1_000 for _, gap in late)}


def check_file(row, fabric, points, report, texts):
    happened = collections.Counter()
    ids = {p["interface"]: p["id"] for p in report["capture"]["points"]}
    taps = {t.point.name: t for t in fabric.taps if t.point.name in points}
    numbers = numbers_of(fabric, points)
    seen = {p: load_truth.seen_at(taps[p], numbers[p]) for p in points}
    data = [p.time_ns for packets in seen.values() for p in packets if p.is_data()]
    xoffs = xoffs_heard(taps.values(), fabric)
    for point in points:
        say, tap = Comparison(point), taps[point]
        at = report, ids.get(point, 0)
        happened["episodes"] += check_incast(say, seen[point], xoffs,
                                             (min(data), max(data)), *at)
        happened["host pauses"] += check_host_pauses(say, tap, fabric, seen[point],
                                                     *at)
        # A classic file, whose point has no name, does not know its link's speed.
        rate = row.rate_bps or (tap.link_bps() // 100 * 80 if point in ids else 0)
        happened["bursts"] += check_bursts(say, seen[point], *at, rate)
        if len(points) == 1:
            happened.update(check_alone(say, seen[point], report))
        texts += say.texts
    return happened


def numbers_of(fabric, points):
    """Point -> frame numbers by the place in its own records."""
    taps = [t for t in fabric.taps if t.point.name in points]
    taps.sort(key=lambda t: points.index(t.point.name))
    order = sorted((record.time_ns, i, k) for i, tap in enumerate(taps)
                   for k, record in enumerate(tap.records))
    numbers = {tap.point.name: {} for tap in taps}
    for number, (_time, i, k) in enumerate(order, 1):
        numbers[taps[i].point.name][k] = number
    return numbers


def run_row(row, directory):
    scenario = scenario_of(row.name)
    fabric = simulate_fabric(scenario)
    texts, happened = [], collections.Counter()
    for name, points in scenario.files_of_points().items():
        path = pathlib.Path(directory, name)
        path.write_bytes(fabric.captures()[name])
        happened += check_file(row, fabric, points, report_of(path, row.args), texts)
    texts += [f"no {what}: the row tests nothing" for what in row.happens
              if not happened[what]]
    return texts


def main(arguments):
    failed = 0
    rows = [row for row in ROWS if not arguments or row.name in arguments]
    for row in rows:
        with tempfile.TemporaryDirectory(prefix="rocescope-") as directory:
            texts = run_row(row, directory)
        if texts:
            failed += 1
            print(f"FAILED {row.name}")
            print("".join(f"    {text}\n" for text in texts[:12]), end="")
    print(f"{len(rows)} rows, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
