#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""How often the analyzer is right: precision and recall of each verdict.

    tests/sim/accuracy.py                  everything, as a table on the terminal
    tests/sim/accuracy.py --page FILE      everything, into docs/accuracy.md
    tests/sim/accuracy.py --quick          one seed, identification rising alone
    tests/sim/accuracy.py --list           names of cells: IMPAIRMENT-RATE-IDENTIFICATION
    tests/sim/accuracy.py PART...          cells whose names contain PART
    tests/sim/accuracy.py --cell NAME [--seed S] [--point P] [--drop D] [--keep DIR]
        one simulation, with every false positive and false negative: PSN, frame, what
        the report said and why, and what had happened to the copies of that PSN.  DIR
        keeps captures, truth and reports: NAME-S-POINT-DROP.pcap and .json.

ROCESCOPE names the program, else build/release/bin/rocescope is taken.

How it works.  A cell (accuracy_cells.py) is simulated once for each seed, and looked at
from three points, by captures that miss 0, 0.1, 1 or 5 % of the frames.  What happened
becomes Facts (accuracy_truth.py), what the report says becomes Claims
(accuracy_claims.py), each about one packet; both are matched by stream, PSN space, kind
and PSN.  Then
    precision  claims that match a fact, of all claims
    recall     decidable facts that match a claim, of all decidable facts
A claim about what is not decidable is right or wrong like any other.

How to read --cell.  FP is a claim that no fact matches; behind it stand all copies of
that PSN as they were sent: number, where it was lost, arrived, in which frame it was
captured here.  FN is a decidable fact that no claim matches.
"""

import argparse
import collections
import dataclasses
import json
import multiprocessing
import os
import pathlib
import subprocess
import sys
import tempfile

import accuracy_truth
from accuracy_cells import CELLS, DROPS, VANTAGE, percent
from accuracy_claims import Claims

SOURCE = pathlib.Path(os.environ.get("ROCESCOPE_SOURCE",
                                     pathlib.Path(__file__).resolve().parents[2]))
BINARY = os.environ.get("ROCESCOPE", str(SOURCE / "build/release/bin/rocescope"))
N_EVENTS = "1000000"
N_SEEDS = {"rising": 4}          # of the others 2

# A fact that is found if either was claimed: an ACK that never came here and was lost
# may be told as lost, and so may data that was asked for.
ALSO = {"data_or_ack_lost": ("ack_lost", "undelivered_after_capture")}


@dataclasses.dataclass
class Score:
    claims: int = 0
    right: int = 0
    decidable: int = 0
    found: int = 0

    def __iadd__(self, other):
        for field in dataclasses.fields(self):
            setattr(self, field.name,
                    getattr(self, field.name) + getattr(other, field.name))
        return self

    @property
    def precision(self):
        return self.right / self.claims if self.claims else None

    @property
    def recall(self):
        return self.found / self.decidable if self.decidable else None


class Match:
    """Claims and facts of one capture, matched."""

    def __init__(self, look, all_sent, report):
        self.look = look
        self.facts = accuracy_truth.facts_of(look, all_sent)
        # A round of unknown cause claims nothing: it is found wanting by recall.
        self.claims = [c for c in Claims(report).claims if c.what != "round unknown"]
        self.right, self.found = set(), set()
        self.end_of = self._name_streams(report)
        open_facts = collections.defaultdict(list)
        for fact in self.facts:
            for psn in fact.psns:
                open_facts[fact.what, fact.end, fact.space, psn].append(fact)
        for claim in self.claims:
            self._match(claim, open_facts)
        self._match_others()

    def end_of_claim(self, claim):
        return self.end_of.get(claim.stream)

    def _name_streams(self, report):
        ends = {(end.host.config.address, end.host.peer.config.address,
                 end.peer.side.qpn): end for end in self.look.sim.ends}
        return {s["id"]: ends.get((s["src"], s["dst"], s["dst_qpn"]))
                for s in report["streams"]}

    def _match(self, claim, open_facts):
        """The fact it names before one that its range holds, a decidable one before
        luck."""
        end = self.end_of_claim(claim)
        if claim.psn is None:    # of a plain ACK, which is in no sequence
            claim.psn = self.look.seen[claim.frame - 1].tx.psn & 0xFFFFFF
        for psn in range(claim.psn, claim.psn + claim.n_psns):
            facts = [fact for fact in open_facts[claim.what, end, claim.space,
                                                 psn & 0xFFFFFF]
                     if fact not in self.found]
            if facts:
                self.right.add(claim)
                self.found.add(min(facts, key=lambda f: (f.tx.psn & 0xFFFFFF != psn & 0xFFFFFF,
                                                    not f.decidable, f.tx.serial)))
                return

    def _match_others(self):
        spare = collections.Counter((claim.what, self.end_of_claim(claim), claim.psn)
                                    for claim in self.claims)
        for fact in self.facts:
            for what in ALSO.get(fact.what, ()):
                key = what, fact.end, fact.tx.psn & 0xFFFFFF
                if fact not in self.found and spare[key]:
                    spare[key] -= 1
                    self.found.add(fact)

    def scores(self):
        out = collections.defaultdict(Score)
        for claim in self.claims:
            out[claim.what] += Score(claims=1, right=claim in self.right)
        for fact in self.facts:
            if fact.decidable:
                out[fact.what] += Score(decidable=1, found=fact in self.found)
        return out

    def false_positives(self):
        return [claim for claim in self.claims if claim not in self.right]

    def false_negatives(self):
        return [fact for fact in self.facts
                if fact.decidable and fact not in self.found]


# --- running -------------------------------------------------------------------------


def report_of(path):
    done = subprocess.run([BINARY, "--quiet", "--events", N_EVENTS, "--json", "-",
                           str(path)], stdin=subprocess.DEVNULL, capture_output=True,
                          timeout=600)
    if done.returncode not in (0, 1) or not done.stdout:
        raise RuntimeError(f"exit status {done.returncode}: "
                           f"{done.stderr.decode(errors='replace')[:500]}")
    return json.loads(done.stdout)


def matches(cell, seed, directory, points=tuple(VANTAGE), drops=DROPS):
    """(point, drop, Match) of each capture of one simulation."""
    simulation = cell.simulate(seed)
    all_sent = accuracy_truth.sent_of(simulation)
    for point in points:
        for drop in drops:
            look = accuracy_truth.Look(simulation, point, drop)
            path = pathlib.Path(directory,
                                f"{cell.name}-{seed}-{point}-{percent(drop)}.pcap")
            path.write_bytes(look.pcap)
            report = report_of(path)
            path.with_suffix(".json").write_text(json.dumps(report, indent=1))
            yield point, drop, Match(look, all_sent, report)


def score_simulation(job):
    """(cell, point, drop, what) -> Score, of one cell and seed."""
    name, seed = job
    out = collections.defaultdict(Score)
    with tempfile.TemporaryDirectory() as directory:
        for point, drop, match in matches(CELLS[name], seed, directory):
            for what, score in match.scores().items():
                out[name, point, drop, what] += score
    return dict(out)


def score_all(jobs):
    out = collections.defaultdict(Score)
    with multiprocessing.Pool() as pool:
        for scores in pool.imap(score_simulation, jobs):
            for key, score in scores.items():
                out[key] += score
    return out


def jobs_of(names, quick):
    return [(name, seed) for name in names
            for seed in range(1, 2 if quick else 1 + N_SEEDS.get(CELLS[name].ident, 2))]


# --- one cell in detail --------------------------------------------------------------


def explain(cell, seed, directory, points, drops):
    print(f"{cell.name}, seed {seed}; files in {directory}")
    for point, drop, match in matches(cell, seed, directory, points, drops):
        print(f"\n=== {point}, {percent(drop)} of the frames missing")
        for what, score in sorted(match.scores().items()):
            print(f"{what:26} {describe(score)}")
        for claim in match.false_positives():
            end = match.end_of_claim(claim)
            event = {k: v for k, v in claim.event.items()
                     if k in ("kind", "detail", "count", "evidence", "related_frame")
                     and v is not None}
            print(f"FP {claim.what}: {claim.space} PSN {claim.psn} frame {claim.frame} "
                  f"stream {claim.stream} {event}")
            _print_copies(match.look, end, claim.space, {claim.psn})
        for fact in match.false_negatives():
            print(f"FN {fact.what}: {fact.space} PSN {fact.tx.psn & 0xFFFFFF} "
                  f"copy {fact.tx.copy}")
            _print_copies(match.look, fact.end, fact.space, {fact.tx.psn & 0xFFFFFF})


def _print_copies(look, end, space, psns):
    """What became of the copies of these PSNs, and of the NAKs that named them."""
    for tx in look.sim.all_tx:
        if end is None or tx.psn & 0xFFFFFF not in psns:
            continue
        mine = tx.end is end and (tx.space == space
                                  or {tx.space, space} == {"acks", "responses"})
        nak = space == "requests" and tx.end is end.peer and tx.syndrome >> 5
        if not mine and not nak:
            continue
        frames = [i + 1 for i in look.all_at.get(tx, [])]
        where = f"frames {frames}" if frames else (
            "dropped by the capture" if look.passed(tx) else "lost before")
        why = ""
        if mine and tx.round_i >= 0:
            why = f", round {tx.round_i} {end.requester.rounds[tx.round_i]['cause']}"
        print(f"     {'NAK' if nak else tx.kind} copy {tx.copy} at {tx.time_ns % 10**10}"
              f"{why}: {where}; then {', '.join(tx.fates) or 'lost'}"
              f"{', needless' if tx.needless else ''}")


def describe(score):
    def ratio(part, of):
        return f"{part}/{of}" + (f" = {part / of:.4f}" if of else "")
    return (f"precision {ratio(score.right, score.claims):24} "
            f"recall {ratio(score.found, score.decidable)}")


# --- main ----------------------------------------------------------------------------


def print_table(scores):
    keys = list(dict.fromkeys((name, point, what) for name, point, _, what in scores))
    keys.sort(key=lambda key: (list(CELLS).index(key[0]), key[2],
                               list(VANTAGE).index(key[1])))
    print(f"{'cell':32} {'verdict':26} {'vantage':10}"
          + "".join(f"{percent(drop) + ' dropped':>28}" for drop in DROPS))
    for name, point, what in keys:
        columns = ""
        for drop in DROPS:
            columns += f"{short(scores.get((name, point, drop, what), Score())):>28}"
        print(f"{name:32} {what:26} {VANTAGE[point]:10}{columns}")


def short(score):
    def number(value):
        return "-" if value is None else f"{value:.3f}".rstrip("0").rstrip(".")
    return (f"{number(score.precision)} / {number(score.recall)} "
            f"({score.claims}/{score.decidable})")


def arguments_of(argv):
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("parts", nargs="*", metavar="PART")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--cell", choices=list(CELLS), metavar="NAME")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--point", choices=list(VANTAGE))
    parser.add_argument("--drop", type=float, choices=DROPS)
    parser.add_argument("--keep", type=pathlib.Path, metavar="DIR")
    return parser.parse_args(argv)


def main(argv):
    arguments = arguments_of(argv)
    if arguments.list:
        print("\n".join(CELLS))
        return 0
    if arguments.cell:
        points = (arguments.point,) if arguments.point else tuple(VANTAGE)
        drops = DROPS if arguments.drop is None else (arguments.drop,)
        with tempfile.TemporaryDirectory() as temporary:
            directory = arguments.keep or pathlib.Path(temporary)
            directory.mkdir(parents=True, exist_ok=True)
            explain(CELLS[arguments.cell], arguments.seed, directory, points, drops)
        return 0
    names = [name for name in CELLS
             if (not arguments.parts or any(part in name for part in arguments.parts))
             and (not arguments.quick or CELLS[name].ident == "rising")]
    print_table(score_all(jobs_of(names, arguments.quick)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
