#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Clean captures have no finding above note.

Kinds of captures are modules clean_*.py, each with make(random.Random), which gives the
files of one logical capture and the arguments to look at them with; by hand and by chance.
The same seed gives the same bytes.

    tests/findings/test_clean.py                    what the test runs
    tests/findings/test_clean.py KIND FIRST LAST    seeds of one kind: a sweep
    tests/findings/test_clean.py --keep DIR KIND FIRST LAST   leaves the captures there
"""

import functools
import importlib
import json
import multiprocessing
import os
import pathlib
import random
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = pathlib.Path(os.environ.get("ROCESCOPE_SOURCE", HERE.parents[1]))
BINARY = os.environ.get("ROCESCOPE", str(SOURCE / "build/dev/bin/rocescope"))
sys.path[:0] = [str(HERE), str(SOURCE / "tests/sim")]

PROCESSES = 2
SEEDS = {"two_hosts": 90, "by_hand": 90, "samples": 40, "collective": 20, "fabric": 14}


def warnings_of(files, arguments, directory):
    """The findings above note, by two ways that must agree."""
    paths = []
    for name, data in files.items():
        path = directory / name
        path.write_bytes(data)
        if ".pcap" in name:
            paths.append(str(path))
    arguments = [argument.replace("{dir}", str(directory)) for argument in arguments]
    command = [BINARY, "--quiet", "--fail-on", "warning", *arguments, "--json", "-", *paths]
    (directory / "command").write_text(" ".join(command) + "\n")
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True,
                          timeout=300)
    if done.returncode not in (0, 1) or not done.stdout:
        return [f"exit status {done.returncode}: "
                f"{done.stderr.decode(errors='replace')[:500]}"]
    findings = json.loads(done.stdout)["findings"]
    found = [f"{f['severity']} {f['id']}: {f['title']}: {f['detail']}" for f in findings
             if f["severity"] != "note"]
    if done.returncode != bool(found):
        found.append(f"exit status {done.returncode}")
    return found


def try_one(case, keep=None):
    kind, seed = case
    with tempfile.TemporaryDirectory(prefix="rocescope-") as scratch:
        directory = pathlib.Path(scratch)
        if keep is not None:
            directory = keep / f"{kind}-{seed}"
            directory.mkdir(parents=True, exist_ok=True)
        made = importlib.import_module(f"clean_{kind}").make(random.Random(seed))
        return case, warnings_of(*made, directory)


def main(arguments):
    keep = None
    if arguments[:1] == ["--keep"]:
        keep, arguments = pathlib.Path(arguments[1]), arguments[2:]
    cases = [(kind, seed) for kind, n in SEEDS.items() for seed in range(n)]
    if arguments:
        kind, first, last = arguments
        cases = [(kind, seed) for seed in range(int(first), int(last) + 1)]
    failed = 0
    with multiprocessing.Pool(PROCESSES) as pool:
        for (kind, seed), found in pool.imap(functools.partial(try_one, keep=keep), cases):
            if found:
                failed += 1
                print(f"FAILED {kind} {seed}")
                print("\n".join(f"    {text}" for text in found), flush=True)
    print(f"{len(cases)} clean captures, {failed} with a warning")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
