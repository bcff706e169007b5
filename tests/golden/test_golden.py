#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Reports of the sample captures, word for word.

The expected reports lie beside this file.  `tests/golden/test_golden.py --update` (or
`make golden`) writes them anew; the difference is then for a person to read, and to
believe or not.
"""

import difflib
import json
import os
import pathlib
import subprocess
import sys

SOURCE = pathlib.Path(os.environ.get("ROCESCOPE_SOURCE",
                                     pathlib.Path(__file__).resolve().parents[2]))
BINARY = os.environ.get("ROCESCOPE", str(SOURCE / "build/release/bin/rocescope"))
GOLDEN = SOURCE / "tests/golden"
EVENTS = "40"  # enough to see each kind, little enough to read

# One end of each kind of story; tests/truth covers the rest.
CAPTURES = ["01_write_rc_cm/sender.pcap", "02k_allops/receiver.pcap",
            "03a_loss_data_0.5pct/receiver.pcap", "03c_loss_ack/sender.pcap",
            "03d_loss_read_resp/sender.pcap", "04a_reorder/receiver.pcap",
            "04b_duplicate/receiver.pcap", "05a_rnr/sender.pcap",
            "06a_ecn_netem/receiver.pcap", "07a_nak_remote_access/receiver.pcap",
            "08_vlan/sender.pcap", "11_pcapng_switch/switch.pcapng",
            "13_cm_reject/sender.pcap", "sim_duplex/sender.pcap",
            "sim_uc_loss/receiver.pcap", "sim_xrc/receiver.pcap",
            "sim_incast_pfc/switch.pcapng", "sim_incast_ecn/h0.pcapng",
            "sim_cascade/fabric.pcapng", "sim_pause_storm/fabric.pcapng"]
# Both ends of a path together.
PAIRS = ["03a_loss_data_0.5pct", "03d_loss_read_resp", "04a_reorder"]


def run(*arguments):
    environment = dict(os.environ, COLUMNS="100", LC_ALL="C.UTF-8")
    return subprocess.run([BINARY, *arguments], cwd=SOURCE, env=environment,
                          capture_output=True, text=True, timeout=300)


def condense(timeline):
    """Rows of bins become how many there are and what they sum up to."""
    def bins(row):
        return row and f"{len(row)} bins, {sum(row)} in all"

    for series in timeline["series"]:
        for key in ("bits", "data", "ce", "cnps", "retransmissions"):
            series[key] = bins(series[key])
        series["paused_ns"] = series["paused_ns"] and [bins(r) for r in series["paused_ns"]]


def text_report(stem, *paths):
    """(file, text)"""
    text = run("--no-color", *paths).stdout.split("\nWhat else is on the wire")[0] + "\n"
    return f"{stem}.txt", "rocescope -\n" + text.split("\n", 1)[1]


def reports_of_pair(name):
    yield text_report(f"{name}.both", *(f"captures/{name}/{end}.pcap.gz"
                                        for end in ("sender", "receiver")))


def reports(capture):
    """What is expected of a capture: (file, text) of its JSON and of its text report."""
    path = f"captures/{capture}.gz"
    stem = capture.replace("/", ".").rsplit(".", 1)[0]
    done = run("--quiet", "--events", EVENTS, "--json", "-", path)
    report = json.loads(done.stdout)
    report["tool"]["version"] = "-"
    # nDPI's tables differ from release to release.
    report["background"] = None
    if report["timeline"]:
        condense(report["timeline"])
    yield f"{stem}.json", json.dumps(report, indent=1, ensure_ascii=False) + "\n"
    yield text_report(stem, path)


def main():
    update = "--update" in sys.argv
    all_reports = [report for of, names in ((reports, CAPTURES), (reports_of_pair, PAIRS))
                   for name in names for report in of(name)]
    failures = 0
    for name, got in all_reports:
        path = GOLDEN / name
        if update:
            path.write_text(got)
            continue
        want = path.read_text() if path.exists() else ""
        if got != want:
            failures += 1
            lines = difflib.unified_diff(want.splitlines(), got.splitlines(),
                                         f"{name} (expected)", f"{name} (got)",
                                         lineterm="", n=1)
            print("\n".join(list(lines)[:40]))
    if not update:
        print(f"{failures} reports differ" if failures else
              f"{len(all_reports)} reports as expected")
    return 1 if failures else 0


sys.exit(main())
