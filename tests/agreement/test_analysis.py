#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What the plugin shows on packets is what the report says of them: the same streams,
connections, events, latencies and pauses, for every sample capture.

    tests/agreement/test_analysis.py [DIRECTORY...]    of captures/; all of them"""

import os
import shutil
import sys
from pathlib import Path

SOURCE = Path(os.environ.get("ROCESCOPE_SOURCE", Path(__file__).resolve().parents[2]))
PLUGIN = Path(os.environ.get("ROCESCOPE_PLUGIN",
                             SOURCE / "build/release/plugin/rocescope.so"))
sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.path.insert(0, str(SOURCE / "tests/plugin"))

import reports  # noqa: E402
import tshark  # noqa: E402
from comparison import Comparison, Names  # noqa: E402


def differences_of(runner, names, capture):
    name = str(capture.relative_to(SOURCE / "captures"))
    copy = runner.copy(capture, name.replace("/", "-"))
    return Comparison(runner, names, name, copy, reports.report(capture)).run()


def main():
    if shutil.which("tshark") is None or not reports.available():
        print("skipped: no tshark, or no reports")
        return 77
    only = sys.argv[1:]
    runner = tshark.Tshark(PLUGIN)
    try:
        names = Names(runner)
        differences = []
        captures = [c for c in reports.captures() if not only or c.parent.name in only]
        for capture in captures:
            differences += differences_of(runner, names, capture)
    finally:
        runner.close()
    for line in differences[:200]:
        print(line)
    print(f"{len(differences)} differences" if differences
          else f"{len(captures)} captures agree")
    return 1 if differences or not captures else 0


sys.exit(main())
