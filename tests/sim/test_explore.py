#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What the analyzer says of traffic of chance (explore.py) does not get worse.

Held against explore.bounds: how many false claims and missed facts of each verdict there were
when that file was written.  After an improvement

    tests/sim/test_explore.py --update

writes it anew; the difference is for a person to read.
"""

import pathlib
import sys

import explore

BOUNDS = pathlib.Path(__file__).with_name("explore.bounds")
# The first ones, and such as show what single rules are good for.
SEEDS = (*range(1, 61), 129, 164, 234, 259, 263, 341, 365, 388)


def name_of(what):
    return what.replace(" ", ":")


def write_bounds(sums):
    lines = ["# verdict, false claims, missed facts"]
    lines += [f"{name_of(what)} {false} {missed}"
              for what, (false, missed) in sorted(sums.items())]
    BOUNDS.write_text("\n".join(lines) + "\n")


def read_bounds():
    rows = (line.split() for line in BOUNDS.read_text().splitlines()
            if not line.startswith("#"))
    return {what: tuple(map(int, numbers)) for what, *numbers in rows}


def check(sums, bounds):
    """A list of what is worse than it was."""
    out = [f"{what}: nothing any more" for what in bounds
           if what not in map(name_of, sums)]
    for what, got in sums.items():
        most = bounds.get(name_of(what), (0, 0))
        out += [f"{what}: {n} {kind}, were {least}"
                for n, kind, least in zip(got, ("false claims", "missed facts"), most)
                if n > least]
    return out


def check_checks(sums, bounds):
    """That the check can fail."""
    lower = {what: tuple(n - 1 for n in most) for what, most in bounds.items()}
    if len(check(sums, lower)) < len(bounds):
        yield "lower bounds pass"
    if not check({}, bounds):
        yield "bounds without claims pass"


def main(arguments):
    sums = explore.sums_of(explore.explore(SEEDS))
    if arguments == ["--update"]:
        write_bounds(sums)
        return 0
    bounds = read_bounds()
    failed = check(sums, bounds) or list(check_checks(sums, bounds))
    print("\n".join(failed) if failed else f"{len(sums)} verdicts are no worse")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
