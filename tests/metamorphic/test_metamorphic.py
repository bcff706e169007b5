#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The report of a changed capture differs from the original's in what it must, and in
nothing else.

Every sample is changed in each way of changes.py, and what comes of it is compared with
what the original's report becomes by the same change, leaf by leaf: the one in trains and
with several threads, the other packet by packet with one.

    tests/metamorphic/test_metamorphic.py [CHANGE...] [SAMPLE...]   some of them alone
    tests/metamorphic/test_metamorphic.py --list
"""

import pathlib
import sys

from captured import sample, samples # first: it says where the others are
from bounded import SMALLER, scratch
from changes import CHANGES
from reports import Room, unexplained

SHOWN = 12 # differences of one case


def check(room, original, report, change):
    """Lines for what is wrong, and how many cases there were."""
    problems, n = [], 0
    for n, case in enumerate(change(original, report), 1):
        got = room.report(case.files, "--threads", "3")
        differing = unexplained(case.view(got), case.view(case.want), case.may_differ)
        if differing:
            problems.append(f"FAILED {original.name}, {change.__name__}, {case.what}:")
            problems += [f"    {line}" for line in differing[:SHOWN]]
            problems.append(f"    {len(differing)} differences")
    return problems, n


def check_sample(room, path, changes):
    original = sample(path)
    report = room.of(original, "--threads", "1", "--one-by-one")
    assert report["capture"]["packets"] == len(original.packets)
    problems, n_cases = [], 0
    for change in changes:
        try:
            found, n = check(room, original, report, change)
        except (AssertionError, LookupError, ValueError, TypeError) as problem:
            found, n = [f"FAILED {original.name}, {change.__name__}: "
                        f"{type(problem).__name__}: {problem}"], 1
        problems += found
        n_cases += n
    print("\n".join(problems), end="\n" if problems else "")
    return len(problems), n_cases


def main(arguments):
    if arguments == ["--list"]:
        print("\n".join(f"{change.__name__}: {change.__doc__}" for change in CHANGES))
        return 0
    known = {change.__name__: change for change in CHANGES}
    wanted = [known[name] for name in arguments if name in known] or CHANGES
    names = [name for name in arguments if name not in known]
    paths = [path for path in samples() if not names or any(n in str(path) for n in names)]
    n_problems = n_cases = 0
    with scratch() as folder:
        room = Room(pathlib.Path(folder))
        for path in paths if names else paths[::SMALLER]:
            found, n = check_sample(room, path, wanted)
            n_problems, n_cases = n_problems + found, n_cases + n
    print("FAILED" if n_problems else f"{n_cases} changed captures, each reported as it must be")
    return 1 if n_problems or n_cases == 0 else 0


sys.exit(main(sys.argv[1:]))
