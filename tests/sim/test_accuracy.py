#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Precision and recall do not fall, and docs/accuracy.md has all of them.

A part of what accuracy.py runs is run here, and held against accuracy.floors: what was
reached when that file was written, rounded down.  After an improvement

    tests/sim/test_accuracy.py --update

writes it anew; the difference is for a person to read.
"""

import copy
import pathlib
import sys
import tempfile

import accuracy
import accuracy_page
from accuracy_cells import CELLS, VANTAGE, percent
from accuracy_match import Match
from accuracy_truth import Look, sent_of

FLOORS = pathlib.Path(__file__).with_name("accuracy.floors")
PAGE = accuracy.SOURCE / "docs/accuracy.md"

failures = 0


def complain(text):
    global failures
    failures += 1
    print(text)


def key_text(key):
    name, point, drop, what = key
    return f"{name} {percent(drop)} {VANTAGE.get(point, point)} {what.replace(' ', ':')}"


# --- floors --------------------------------------------------------------------------


def floor(value):
    return "-" if value is None else f"{int(value * 1000) / 1000:.3f}"


def write_floors(scores):
    lines = ["# cell, frames missing, point, verdict, precision, recall"]
    lines += [f"{key_text(key)} {floor(score.precision)} {floor(score.recall)}"
              for key, score in scores.items()]
    FLOORS.write_text("\n".join(lines) + "\n")


def read_floors():
    rows = (line.split() for line in FLOORS.read_text().splitlines()
            if not line.startswith("#"))
    return {" ".join(row[:4]): tuple(None if text == "-" else float(text)
                                     for text in row[4:]) for row in rows}


def check_floors(scores, floors):
    """A list of what is lower than it was."""
    out = []
    got = {key_text(key): (score.precision, score.recall) for key, score in scores.items()}
    for row, values in got.items():
        if row not in floors:
            if values[0] not in (None, 1.0) or values[1] not in (None, 1.0):
                out.append(f"{row}: {values}, and has no floor")
            continue
        for what, value, least in zip(("precision", "recall"), values, floors[row]):
            if value is not None and least is not None and value < least:
                out.append(f"{row}: {what} {value:.4f}, was {least}")
    for row, (_, least) in floors.items():
        if least is not None and got.get(row, (None, None))[1] is None:
            out.append(f"{row}: nothing decidable any more")
    return out


# --- the page ------------------------------------------------------------------------


def rows_of_page():
    """(title of the section, first three columns) of every row."""
    title, out = "", set()
    for line in PAGE.read_text().splitlines():
        if line.startswith("#"):
            title = line.lstrip("# ")
        elif line.startswith("| "):
            out.add((title, *(cell.strip() for cell in line.split("|")[1:4])))
    return out


def check_page(scores):
    rows = rows_of_page()
    for key, score in scores.items():
        name, point, _, what = key
        cell = CELLS[name]
        title = accuracy_page.TITLES[cell.impairment]
        where = accuracy_page.name_of(what), VANTAGE.get(point, point)
        if cell.variant != "rising":
            found = any(row[0] == f"{title}, other senders" and row[1:3] == where
                        for row in rows)
        else:
            found = (title, percent(cell.rate), *where) in rows
        if not found and accuracy_page.entry(score):
            complain(f"{PAGE.name} lacks {key_text(key)}: make accuracy")


# --- that these checks can fail ------------------------------------------------------


def check_matching():
    """Claims that are left out, are wrong or say too much are found out."""
    simulation = CELLS["loss-1%-rising"].simulate(1)
    look, all_sent = Look(simulation, "receiver", 0.0), sent_of(simulation)
    with tempfile.TemporaryDirectory() as directory:
        path = pathlib.Path(directory, "receiver.pcap")
        path.write_bytes(look.pcap)
        report = accuracy.report_of(path)

    def score_with(change, n):
        changed = copy.deepcopy(report)
        event = next(e for e in changed["events"]
                     if e["detail"] == "lost_before_capture")
        stream = next(s for s in changed["streams"] if s["id"] == event["stream"])
        stream["losses"]["requests"]["lost_before_capture"] += n
        change(changed["events"], event)
        changed["event_totals"] = {"all": len(changed["events"])}
        return Match(look, all_sent, changed).scores()["lost_before_capture"]

    def shift(_, event):
        event["psn"] += 1

    whole = score_with(lambda *_: None, 0)
    less = score_with(lambda events, event: events.remove(event), -1)
    more = score_with(lambda events, event: events.append(event), 1)
    moved = score_with(shift, 0)
    for what, got, want in (
            ("some are there", whole.claims > 5 and whole.precision == 1, True),
            ("one left out", (less.claims, less.found),
             (whole.claims - 1, whole.found - 1)),
            ("one twice", (more.claims, more.right, more.found),
             (whole.claims + 1, whole.right, whole.found)),
            ("one moved", (moved.claims, moved.right), (whole.claims, whole.right - 1))):
        if got != want:
            complain(f"matching, {what}: {got}, not {want}")
    try:
        score_with(lambda events, event: events.remove(event), 0)
        complain("events that contradict the counters pass")
    except ValueError:
        pass


def check_checks(scores, floors):
    if check_floors(scores, floors):
        return
    higher = {row: tuple(None if v is None else v + 0.01 for v in values)
              for row, values in floors.items()}
    if len(check_floors(scores, higher)) < len(floors):
        complain("higher floors pass")
    if not check_floors({}, floors):
        complain("floors without scores pass")


def main(arguments):
    scores = accuracy.score_quick()
    if arguments == ["--update"]:
        write_floors(scores)
        return 0
    floors = read_floors()
    for line in check_floors(scores, floors):
        complain(line)
    check_page(scores)
    check_checks(scores, floors)
    check_matching()
    print(f"{failures} failed" if failures else f"{len(scores)} scores have not fallen")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
