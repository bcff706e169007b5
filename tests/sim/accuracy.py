#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""How often the analyzer is right: precision and recall of each verdict.

    tests/sim/accuracy.py                  everything, as a table on the terminal
    tests/sim/accuracy.py PART...          cells whose names contain one of these
    tests/sim/accuracy.py --quick          what test_accuracy.py runs
    tests/sim/accuracy.py --worst N        below the table, the N worst of it
    tests/sim/accuracy.py --list           names of cells: IMPAIRMENT-RATE-VARIANT
    tests/sim/accuracy.py --page FILE      everything, into docs/accuracy.md
    tests/sim/accuracy.py --cell NAME [--seed S] [--point P] [--drop D] [--keep DIR]
        one simulation, with every false positive and false negative: PSN, frame, what
        the report said and why, and what had happened to the copies of that PSN.  DIR
        keeps captures and reports: NAME-SEED-POINT-DROP.pcap and .json.

ROCESCOPE names the program, else build/release/bin/rocescope is taken.

How it works.  A cell (accuracy_cells.py) is simulated once for each seed, and looked at
from three points, by captures that miss 0, 0.1, 1 or 5 % of the frames.  What happened
becomes Facts (accuracy_truth.py), what the report says becomes Claims
(accuracy_claims.py), each about one packet; both are matched by stream, PSN space, kind
and PSN (accuracy_match.py).  Then
    precision  claims that match a fact, of all claims
    recall     decidable facts that match a claim, of all decidable facts
A claim about what is not decidable is right or wrong like any other.

How to read --cell.  FP is a claim that no fact matches, FN a decidable fact that no claim
matches.  Below it stand all copies of that PSN as they were sent: number, when, why; in
which frames of this capture they are, or that they were lost before or dropped by the
capture; then what the host at the other end did with each that came, or that none came.
"""

import argparse
import collections
import json
import multiprocessing
import os
import pathlib
import subprocess
import sys
import tempfile

import accuracy_kernel
import accuracy_page
from accuracy_cells import CELLS, DROPS, QUICK, QUICK_DROPS, VANTAGE, percent
from accuracy_match import Score

SOURCE = pathlib.Path(os.environ.get("ROCESCOPE_SOURCE",
                                     pathlib.Path(__file__).resolve().parents[2]))
BINARY = os.environ.get("ROCESCOPE", str(SOURCE / "build/release/bin/rocescope"))
N_EVENTS = "1000000"

# --- running -------------------------------------------------------------------------


def report_of(path, *options):
    done = subprocess.run([BINARY, "--quiet", "--events", N_EVENTS, "--json", "-",
                           *options, str(path)], stdin=subprocess.DEVNULL,
                          capture_output=True, timeout=600)
    if done.returncode not in (0, 1) or not done.stdout:
        raise RuntimeError(f"exit status {done.returncode}: "
                           f"{done.stderr.decode(errors='replace')[:500]}")
    return json.loads(done.stdout)


def score_simulation(job):
    """(cell, point, drop, what) -> Score, of one cell and seed."""
    name, seed, drops = job
    cell, out = CELLS[name], collections.defaultdict(Score)
    with tempfile.TemporaryDirectory() as directory:
        try:
            for point, drop, match in cell.matches(seed, directory, cell.points, drops,
                                                   report_of):
                for what, score in match.scores().items():
                    out[name, point, drop, what] += score
        except Exception as error:
            raise RuntimeError(f"{name}, seed {seed}: {error}") from error
    return dict(out)


def score_all(names, drops=DROPS, most_seeds=None):
    """The same of many cells, in an order that is always the same."""
    jobs = [(name, seed, drops) for name in names
            for seed in list(CELLS[name].seeds)[:most_seeds]]
    out = collections.defaultdict(Score)
    with multiprocessing.Pool() as pool:
        for scores in pool.imap(score_simulation, jobs):
            for key, score in scores.items():
                out[key] += score
    return out


def score_quick():
    return score_all(QUICK, QUICK_DROPS, most_seeds=1)


# --- on the terminal -----------------------------------------------------------------


def short(score):
    def number(value):
        return "-" if value is None else f"{value:.3f}".rstrip("0").rstrip(".")
    return (f"{number(score.precision)} / {number(score.recall)} "
            f"({score.claims}/{score.decidable})")


def print_table(scores):
    """precision / recall (claims / decidable facts)"""
    rows = {(name, point, what) for name, point, _, what in scores}
    order = list(CELLS), list(VANTAGE) + ["link"]
    print(f"{'cell':30} {'verdict':26} {'vantage':10}"
          + "".join(f"{percent(drop) + ' missing':>26}" for drop in DROPS))
    for name, point, what in sorted(rows, key=lambda row: (
            order[0].index(row[0]), row[2], order[1].index(row[1]))):
        columns = "".join(f"{short(scores.get((name, point, drop, what), Score())):>26}"
                          for drop in DROPS)
        print(f"{name:30} {what:26} {VANTAGE.get(point, point):10}{columns}")


def print_worst(scores, n):
    """By the number of mistakes."""
    def mistakes(score):
        return score.claims - score.right + score.decidable - score.found
    print(f"\nthe {n} with the most mistakes")
    for key, score in sorted(scores.items(), key=lambda item: -mistakes(item[1]))[:n]:
        name, point, drop, what = key
        print(f"{name:30} {what:26} {VANTAGE.get(point, point):10} "
              f"{percent(drop):>5} {short(score):>26}")


def explain(cell, seed, directory, points, drops):
    for point, drop, match in cell.matches(seed, directory, points, drops, report_of):
        print(f"\n=== {cell.name}, seed {seed}, {point}, {percent(drop)} of the frames "
              "missing")
        for what, score in sorted(match.scores().items()):
            print(f"{what:26} {short(score)}")
        for line in match.mistakes():
            print(line)


# --- main ----------------------------------------------------------------------------


def arguments_of(argv):
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="PART")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--page", type=pathlib.Path, metavar="FILE")
    parser.add_argument("--worst", type=int, default=0, metavar="N")
    parser.add_argument("--cell", choices=list(CELLS), metavar="NAME")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--point")
    parser.add_argument("--drop", type=float, choices=DROPS)
    parser.add_argument("--keep", type=pathlib.Path, metavar="DIR")
    return parser.parse_args(argv)


def main(argv):
    arguments = arguments_of(argv)
    if arguments.list:
        print("\n".join(CELLS))
        return 0
    if arguments.cell:
        cell = CELLS[arguments.cell]
        points = (arguments.point,) if arguments.point else cell.points
        drops = DROPS if arguments.drop is None else (arguments.drop,)
        with tempfile.TemporaryDirectory() as temporary:
            directory = arguments.keep or pathlib.Path(temporary)
            directory.mkdir(parents=True, exist_ok=True)
            explain(cell, arguments.seed, directory, points, drops)
        return 0
    names = [name for name in CELLS if not arguments.parts
             or any(part in name for part in arguments.parts)]
    scores = score_quick() if arguments.quick else score_all(names)
    if arguments.page:
        arguments.page.write_text(accuracy_page.page(scores, accuracy_kernel.rows(
            SOURCE / "captures", report_of)))
        return 0
    print_table(scores)
    if arguments.worst:
        print_worst(scores, arguments.worst)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
