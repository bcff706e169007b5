# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares the plugin and the analyzer on captures that are made for it.

The one rule: a job that breaks is a difference and hides no other."""

import functools
import multiprocessing
import os
import shutil
from pathlib import Path

import reports
import tshark
from comparison import Comparison, Names

PLUGIN = Path(os.environ.get("ROCESCOPE_PLUGIN",
                             reports.SOURCE / "build/release/plugin/rocescope.so"))
PROCESSES = 2
SHOWN = 12                       # differences of a capture
SKIPPED = 77


def _compare(job, captures_of, runner, names):
    """Title of each capture of a job -> differences."""
    differences = {}
    for title, (data, arguments) in captures_of(job).items():
        path = runner.path(title)
        path.write_bytes(data)
        path.chmod(0o644)
        differences[title] = Comparison(runner, names, title, path,
                                        reports.fresh(path), *arguments).run()
        path.unlink()
    return differences


def _try_to_compare(job, captures_of, runner, names):
    try:
        return _compare(job, captures_of, runner, names)
    except Exception as error:
        return {str(job): [f"{type(error).__name__}: {error}"]}


def _compare_all(jobs, captures_of):
    """How many captures there were, and the titles of those that differ."""
    n_captures, different = 0, []
    runner = tshark.Tshark(PLUGIN)
    try:
        one = functools.partial(_try_to_compare, captures_of=captures_of, runner=runner,
                                names=Names(runner))
        with multiprocessing.Pool(PROCESSES) as pool:
            for found in pool.imap(one, jobs):
                n_captures += len(found)
                for title, lines in found.items():
                    if lines:
                        different.append(title)
                        print("\n    ".join([f"{title}: {len(lines)} differences",
                                             *lines[:SHOWN]]), flush=True)
    finally:
        runner.close()
    return n_captures, different


def run(jobs, captures_of):
    """The exit status of a test.  captures_of(job): title -> bytes of a capture,
    and arguments that tshark needs for it."""
    if shutil.which("tshark") is None or not reports.ANALYZER.exists():
        print("skipped: no tshark, or no analyzer")
        return SKIPPED
    n_captures, different = _compare_all(jobs, captures_of)
    print(f"{len(different)} of {n_captures} captures differ: {' '.join(different)}"
          if different else f"{n_captures} captures agree")
    return 1 if different or not n_captures else 0
