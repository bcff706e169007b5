#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The analyzer's verdicts against what really happened.

Each row of rows.py is a scenario, its seeds and what must hold of the reports (one for
each capture point).  Rows of KNOWN fail today for a known reason: how often is printed,
and one that passes fails the test until its mark is taken away.

    tests/sim/test_sim.py [ROW...]     some rows alone, with what is known to be wrong
    tests/sim/test_sim.py --list
    tests/sim/test_sim.py --keep DIR   leaves captures, truth and reports there
"""

import collections
import functools
import json
import multiprocessing
import os
import pathlib
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(os.environ.get("ROCESCOPE_SOURCE",
                                     pathlib.Path(__file__).resolve().parents[2]))
BINARY = os.environ.get("ROCESCOPE", str(SOURCE / "build/dev/bin/rocescope"))

import make_captures  # noqa: E402
from checks import Complaints, View  # noqa: E402
from rows import KNOWN, ROWS  # noqa: E402
from sim import ACKS, REQUESTS, RESPONSES, simulate  # noqa: E402

PROCESSES = 2
SHOWN = 12                       # complaints of a row


def report_of(files, stem, directory):
    """The report of the files of one point, given together."""
    paths = []
    for name, data in files.items():
        paths.append(pathlib.Path(directory, f"{stem}-{name}.pcap"))
        paths[-1].write_bytes(data)
    done = subprocess.run([BINARY, "--quiet", "--json", "-", *map(str, paths)],
                          stdin=subprocess.DEVNULL, capture_output=True, timeout=300)
    if done.returncode not in (0, 1) or not done.stdout:
        raise RuntimeError(f"exit status {done.returncode}: "
                           f"{done.stderr.decode(errors='replace')[:500]}")
    paths[0].with_suffix(".json").write_bytes(done.stdout)
    return json.loads(done.stdout)


def reports_of(simulation, stem, directory):
    """Name of a point -> its report; of one in parts from all of them."""
    points = collections.defaultdict(dict)
    for name, data in simulation.captures().items():
        points[name.split(".")[0]][name] = data
    return {name: report_of(files, stem, directory) for name, files in points.items()}


def key_of(stream):
    """What makes a stream of the report; queue pairs may share one."""
    src_qpn = stream["src_qpn"] if stream["transport"] == "UD" else None
    return stream["src"], stream["dst"], stream["dst_qpn"], src_qpn


def views_of(truth, reports):
    groups = collections.defaultdict(list)
    for i, stream in enumerate(truth["streams"]):
        groups[key_of(stream)].append((stream, truth["streams"][i ^ 1]))
    for name, report in reports.items():
        found = collections.defaultdict(list)
        for stream in report["streams"]:
            found[key_of(stream)].append(stream)
        for key, group in groups.items():
            yield View(name, truth["points"][name], group, report, found[key],
                       found[key_of(group[0][1])])


def happened(truth):
    """Counts of what the scenario was for."""
    counts = collections.Counter()
    for stream in truth["streams"]:
        for point in stream["points"].values():
            for space in (REQUESTS, RESPONSES, ACKS):
                counts["lost"] += len(point[space]["lost_before"])
                for what in ("reordered", "network_duplicates", "corrupt",
                             "not_captured"):
                    counts[what] += len(point[space][what])
            counts["ce"] += point["ecn"].get("ce", 0)
            counts.update(point["naks"])
    for point in truth["points"].values():
        counts["capture_duplicates"] += point["capture_duplicates"]
        for changes in point["artefacts"]:
            counts.update({k: v for k, v in changes.items() if isinstance(v, int)})
    return counts


def check_view(view, row):
    say = Complaints()
    missing = view.missing()
    if missing:
        say.append(missing)
    elif not view.is_empty():
        for check in row.checks:
            check(view, say)
    return say


def run_row(row, directory):
    complaints, counts = [], collections.Counter()
    for seed in range(1, row.seeds + 1):
        simulation = simulate(row.scenario(seed))
        truth = simulation.truth()
        counts += happened(truth)
        stem = f"{row.name}-{seed}"
        pathlib.Path(directory, f"{stem}.truth.json").write_text(json.dumps(truth))
        reports = reports_of(simulation, stem, directory)
        for view in views_of(truth, reports):
            if view.stream["direction"] == "b_to_a" and not row.both:
                continue
            where = (f"seed {seed}, {view.name}, {view.stream['direction']} "
                     f"{view.stream['dst_qpn']:#x}")
            complaints += [f"{where}: {text}" for text in check_view(view, row)]
    if row.happens and not counts[row.happens]:
        complaints.append(f"no {row.happens} in any seed: the row tests nothing")
    return complaints


def try_row(row, directory):
    try:
        return row, run_row(row, directory)
    except Exception as error:  # a row that breaks must not hide the next
        return row, [f"{type(error).__name__}: {error}"]


def verdict(row, problems, shown):
    """The problems of a row once its mark is considered."""
    if row.name not in KNOWN:
        return problems
    if not problems:
        return ["fixed: remove the mark"]
    print(f"known  {row.name}: {len(problems)} mismatches: {KNOWN[row.name]}")
    print("".join(f"    {problem}\n" for problem in problems[:shown]), end="")
    return []


def run_rows(rows, directory, shown):
    failed = []
    with multiprocessing.Pool(PROCESSES) as pool:
        for row, found in pool.imap(functools.partial(try_row, directory=directory),
                                    rows):
            problems = verdict(row, found, shown)
            if problems:
                failed.append(row.name)
                print(f"FAILED {row.name}")
                print("\n".join(f"    {problem}" for problem in problems[:SHOWN]))
    return failed


def main(arguments):
    if arguments[:1] == ["--list"]:
        print("\n".join(row.name for row in ROWS))
        return 0
    keep = None
    if arguments[:1] == ["--keep"]:
        keep, arguments = arguments[1], arguments[2:]
        pathlib.Path(keep).mkdir(parents=True, exist_ok=True)
    rows = [row for row in ROWS if not arguments or row.name in arguments]
    unknown = set(arguments) - {row.name for row in rows} | set(KNOWN) - {
        row.name for row in ROWS}
    failed = [f"no such row: {name}" for name in sorted(unknown)]
    if not arguments and make_captures.main(["--check", SOURCE / "captures"]):
        print("captures/sim_* are not what make_captures.py writes now")
        failed.append("samples")
    with tempfile.TemporaryDirectory() as temporary:
        failed += run_rows(rows, keep or temporary, SHOWN if arguments else 0)
    print(f"{len(failed)} failed: {' '.join(failed)}" if failed
          else f"{len(rows)} rows passed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
