#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Instructions that rocescope executes for each packet, and whether they became more.

    tests/bench/instructions.py [ROW...]        measure and compare; a minute or two
    tests/bench/instructions.py --record        and keep the figures in instructions.json
    tests/bench/instructions.py --profile       and say which files and functions they are of
    tests/bench/instructions.py --page FILE     and put tables of it into docs/performance.md

Unlike times, instructions do not depend on what else the machine does.  Each row is
measured twice, with few packets and with many, and the difference is divided by how many
more there were: what a run takes for its beginning and its end drops out.  `own` is what
the program's own code executes, `all` includes libraries; either may be a tenth above what
is recorded before this fails.  The figures hold for one compiler: with another, or without
valgrind, nothing is compared (exit status 77)."""

import argparse
import concurrent.futures
import json
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import tempfile

import callgrind
import page

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = pathlib.Path(os.environ.get("ROCESCOPE_SOURCE", HERE.parents[1]))
BUILD = pathlib.Path(os.environ.get("ROCESCOPE_BUILD", SOURCE / "build/release"))
BINARY = os.environ.get("ROCESCOPE", str(BUILD / "bin/rocescope"))
MAKER = str(BUILD / "tests/bench_captures")
RECORD = HERE / "instructions.json"

FEW, MANY = 20_000, 100_000
SLACK = 0.10
WHERE_SHOWN = 25  # files in a profile
SKIPPED = 77

# Row -> kind of capture, options of rocescope.
ROWS = {
    "headers": ("headers", ()),
    "many": ("many", ()),
    "full": ("full", ("--icrc=all",)),
    "full, no ICRC": ("full", ("--icrc=off",)),
    "lossy": ("lossy", ()),
    "reads": ("reads", ()),
    "mixed": ("mixed", ()),
    "missed": ("missed", ()),
    "missed-reads": ("missed-reads", ()),
    "small": ("small", ()),
    "sprayed": ("sprayed", ()),
    "sprayed-reads": ("sprayed-reads", ()),
}
# As many packets for each queue pair as in the whole capture, so that making a stream has
# its share; elsewhere the few packets already reach every queue pair.
PACKETS_OF_QP = {"many": 77}


# --- measuring -------------------------------------------------------------------------


def compiler():
    """Which one built the program, e.g. "x86_64, gcc 12"."""
    cache = (BUILD / "CMakeCache.txt").read_text()
    program = re.search(r"^CMAKE_C_COMPILER:\w+=(.*)$", cache, re.M).group(1)
    banner = subprocess.run([program, "--version"], capture_output=True, text=True,
                            check=True).stdout.splitlines()[0]
    name = "clang" if "clang" in banner else "gcc"
    major = subprocess.run([program, "-dumpversion"], capture_output=True, text=True,
                           check=True).stdout.split(".")[0].strip()
    return f"{platform.machine()}, {name} {major}"


def fixed_options():
    """One thread, if there is a choice."""
    text = subprocess.run([BINARY, "--help-all"], capture_output=True, text=True,
                          check=True).stdout
    return ("--threads=1",) if "--threads" in text else ()


def measure(row):
    """Counts per packet."""
    kind, options = ROWS[row]
    counts = {}
    for n_packets in (FEW, MANY):
        with tempfile.NamedTemporaryFile(prefix="bench-", suffix=".pcap") as capture:
            qps = (("--qps", str(n_packets // PACKETS_OF_QP[kind]))
                   if kind in PACKETS_OF_QP else ())
            subprocess.run([MAKER, kind, "--packets", str(n_packets), *qps, capture.name],
                           check=True)
            counts[n_packets] = callgrind.count(
                [BINARY, "--quiet", *fixed_options(), *options, capture.name])
    return counts[MANY].per_packet(counts[FEW], MANY - FEW)


def measure_all(rows):
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return dict(zip(rows, pool.map(measure, rows)))


# --- comparing -------------------------------------------------------------------------


def figures_of(counts):
    return {"own": round(counts.own, 1), "all": round(counts.total, 1)}


def verdict(now, recorded):
    """Of one figure."""
    if recorded is None:
        return "FAILED: not recorded"
    change = now / recorded - 1
    if change > SLACK:
        return f"FAILED: {change:+.1%}"
    if change < -SLACK:
        return f"{change:+.1%}: record it anew"
    return f"{change:+.1%}"


def compare(measured, recorded):
    """Prints a table; what failed."""
    failed = []
    print(f"{'row':<16}{'':>5}{'recorded':>10}{'now':>10}  change")
    for row, counts in measured.items():
        for which, now in figures_of(counts).items():
            before = recorded.get(row, {}).get(which)
            said = verdict(now, before)
            print(f"{row:<16}{which:>5}{before if before is not None else '-':>10}"
                  f"{now:>10}  {said}")
            if said.startswith("FAILED"):
                failed.append(f"{row}, {which}")
    return failed


def load_record():
    return json.loads(RECORD.read_text()) if RECORD.exists() else {}


def save_record(measured, built_by):
    kept = load_record()
    if kept.get("built_by") != built_by:
        kept = {"built_by": built_by, "per_packet": {}}
    kept["per_packet"].update({row: figures_of(c) for row, c in measured.items()})
    kept["per_packet"] = {row: kept["per_packet"][row] for row in ROWS
                          if row in kept["per_packet"]}
    RECORD.write_text(json.dumps(kept, indent=2) + "\n")


# --- saying where ----------------------------------------------------------------------


def places(counts):
    """(file or library, instructions per packet, its foremost functions), most first."""
    rows = []
    for where, functions in counts.by_file.items():
        n = sum(functions.values())
        rows.append((where, n, [name for name, part in functions.most_common(3)
                                if part >= n / 10 and not name.startswith("0x")]))
    rows.sort(key=lambda row: -row[1])
    rest = sum(n for _, n, _ in rows[WHERE_SHOWN:])
    return [*rows[:WHERE_SHOWN], ("the rest", rest, [])]


def print_profile(row, counts):
    print(f"\n{row}: {counts.total:.0f} instructions per packet")
    for where, n, functions in places(counts):
        print(f"{n:>8.1f} {n / counts.total:>6.1%}  {where:<28} {', '.join(functions)}")


def figures_table(measured):
    return page.table(
        ["capture", "instructions per packet", "of them in libraries"],
        ([row, f"{c.total:,.0f}", f"{c.total - c.own:,.0f}"]
         for row, c in measured.items()))


def profile_table(counts):
    return page.table(
        ["file or library", "instructions per packet", "share", "foremost functions"],
        ([where, f"{n:,.0f}", f"{n / counts.total:.1%}",
          ", ".join(f"`{name}`" for name in functions)]
         for where, n, functions in places(counts)))


# --- main ------------------------------------------------------------------------------


def arguments_of(argv):
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", nargs="*", metavar="ROW", help=", ".join(ROWS))
    parser.add_argument("--record", action="store_true")
    parser.add_argument("--profile", action="store_true")
    parser.add_argument("--page", type=pathlib.Path, metavar="FILE")
    arguments = parser.parse_args(argv)
    for row in arguments.rows:
        if row not in ROWS:
            parser.error(f"{row}: none of {', '.join(ROWS)}")
    return arguments


def main(argv):
    arguments = arguments_of(argv)
    if shutil.which("valgrind") is None:
        print("skipped: valgrind is not installed")
        return SKIPPED
    built_by, record = compiler(), load_record()
    only_compares = not (arguments.record or arguments.profile or arguments.page)
    if only_compares and record.get("built_by") != built_by:
        print(f"skipped: recorded for {record.get('built_by', 'none')}, this is {built_by}")
        return SKIPPED
    measured = measure_all(arguments.rows or list(ROWS))
    if arguments.record:
        save_record(measured, built_by)
    failed = compare(measured, load_record().get("per_packet", {}))
    if arguments.profile:
        for row, counts in measured.items():
            print_profile(row, counts)
    if arguments.page:
        page.put(arguments.page, "instructions", figures_table(measured))
        for row, counts in measured.items():
            if page.has(arguments.page, f"profile {row}"):
                page.put(arguments.page, f"profile {row}", profile_table(counts))
    for name in failed:
        print(f"not recorded, or more than {SLACK:.0%} above: {name}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
