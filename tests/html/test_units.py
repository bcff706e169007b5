#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Times on the axes of the report's charts, as analyzer/html/units.js writes them."""

import json
import os
import pathlib
import shutil
import subprocess
import sys

SOURCE = pathlib.Path(os.environ.get("ROCESCOPE_SOURCE",
                                     pathlib.Path(__file__).resolve().parents[2]))
S, MS = 10**9, 10**6
# A time, how far labels are apart, and the label.
CASES = (
    (0, S, "0"),
    (12_500_000, MS // 10, "12.5 ms"),
    (59 * S, S, "59 s"),
    (60 * S, S, "1:00 min"),
    (-90 * S, S, "-1:30 min"),
    (61_250 * MS, 10 * MS, "1:01.25 min"),
    (1_000 * S, 500 * S, "16:40 min"),
    (3_599 * S, S, "59:59 min"),
    (3_600 * S, S, "1:00:00 h"),
    (3_599_960 * MS, 100 * MS, "1:00:00.0 h"),   # rounded up
    (7_200 * S, 900 * S, "2:00:00 h"),
    (86_400 * S, 3_600 * S, "24:00:00 h"),
)


def main():
    if shutil.which("node") is None:
        print("skipped: there is no node")
        return 77
    script = "var rocescope = {};\n" + (SOURCE / "analyzer/html/units.js").read_text() + (
        f"\nconst cases = {json.dumps(CASES)};\n"
        "console.log(JSON.stringify(cases.map((c) => rocescope.units.onAxis(c[0], c[1]))));")
    done = subprocess.run(["node", "-"], input=script, capture_output=True, text=True,
                          check=True)
    failed = [(case, got) for case, got in zip(CASES, json.loads(done.stdout))
              if case[2] != got]
    for case, got in failed:
        print(f"FAILED {case}: {got}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
