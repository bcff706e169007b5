#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A finding's filters show its frames, in Wireshark with the plugin: the one exactly those
that it names, the other those and more.  For every sample capture, and for the captures
that tests/findings makes.

    tests/agreement/test_filters.py [KIND...]    findings of these kinds alone"""

import gzip
import json
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys

SOURCE = pathlib.Path(os.environ.get("ROCESCOPE_SOURCE",
                                     pathlib.Path(__file__).resolve().parents[2]))
BINARY = os.environ.get("ROCESCOPE", str(SOURCE / "build/release/bin/rocescope"))
PLUGIN = pathlib.Path(os.environ.get("ROCESCOPE_PLUGIN",
                                     SOURCE / "build/release/plugin/rocescope.so"))
sys.path[:0] = [str(SOURCE / name) for name in
                ("tests/agreement", "tests/plugin", "tests/findings", "tests/sim")]

import packets  # noqa: E402
import reports  # noqa: E402
import tshark  # noqa: E402
from sharkd import Sharkd  # noqa: E402

# Findings whose title says of how many packets they are, and those whose table does.
COUNTED = {"pcp_dscp": r"on ([\d,]+) packets?", "roce_without_pfc": r"^([\d,]+) packets?"}
OF_PAUSES = {"pfc", "pause_storm", "pause_802.3x"}
MOST = 50    # findings of one capture: there is one with thousands


def made_captures():
    """(name, bytes, arguments): what findings are tested with, if it is one file."""
    import test_findings as of_findings
    for i, row in enumerate(of_findings.all_rows()):
        if row.finding == "capture_duplicates" and row.args:
            continue  # nobody tells the plugin that no mirror is there: it leaves copies out
        made = row.make()
        if isinstance(made, dict):
            made = next(iter(made.values())) if len(made) == 1 else None
        if isinstance(made, bytes):
            yield f"{row.finding}-{i}", made, row.args


def damaged_first(name):
    """A sample, a pcap file, behind a packet whose ICRC is wrong: who does not look at that has
    one stream more."""
    data = gzip.decompress((SOURCE / "captures" / name).read_bytes())
    frame = packets.roce(packets.bth(0x04, qp=0x99) + bytes(64), bad_icrc=True)
    return b"".join((data[:32], struct.pack("<II", len(frame), len(frame)), frame, data[24:]))


def captures(runner):
    """(name, path, arguments)"""
    path = runner.path("damaged_first.pcap")
    path.write_bytes(damaged_first("03a_loss_data_0.5pct/receiver.pcap.gz"))
    path.chmod(0o644)
    for icrc in ("all", "off", "sample"):
        yield f"damaged_first_{icrc}", path, (f"--icrc={icrc}",)
    for capture in reports.captures():
        name = str(capture.relative_to(SOURCE / "captures")).replace("/", "-")
        yield name, runner.copy(capture, name), ()
    for name, data, arguments in made_captures():
        path = runner.path(name + ".pcap")
        path.write_bytes(data)
        path.chmod(0o644)
        yield name, path, arguments


def report_of(path, arguments):
    done = subprocess.run([BINARY, "--quiet", *arguments, "--json", "-", str(path)],
                          capture_output=True, timeout=300)
    return json.loads(done.stdout)


def packets_of(report, finding):
    """How many frames it speaks of, where it says so; None: it does not, or of more."""
    text = COUNTED.get(finding["kind"])
    if text is not None:
        found = re.search(text, finding["title"])
        return int(found.group(1).replace(",", "")) if found else None
    if finding["kind"] not in OF_PAUSES or "priorities" in finding["title"] or \
            not finding["wireshark_filter_all"]:
        return None
    mac, _, priority = re.match(r"[a-z_0-9.]+:((?:..:){5}..)(:(\d))?",
                                finding["id"]).groups()
    same = [p for p in report["pauses"] if p["src_mac"] == mac and
            p["priority"] == (None if priority is None else int(priority))]
    return sum(same[0][key] for key in ("xoff", "refresh", "xon")) if len(same) == 1 else None


def differences(sharkd, report, finding):
    frames, all_of_them = finding["frames"], finding["wireshark_filter_all"]
    shown = sharkd.frames(finding["wireshark_filter"]) if finding["wireshark_filter"] else []
    if frames and shown != frames:
        yield f"{finding['wireshark_filter']} shows {shown[:30]}, named are {frames}"
    if not frames and finding["wireshark_filter"] and not shown:
        yield f"{finding['wireshark_filter']} shows nothing"
    if frames and all_of_them:
        shown = sharkd.frames(all_of_them)
        if not set(frames) < set(shown):
            yield f"{all_of_them} shows {len(shown)}: {shown[:30]}, named are {frames}"
        n = packets_of(report, finding)
        if n is not None and n != len(shown):
            yield f"{all_of_them} shows {len(shown)}, and there are {n}"


def main():
    if shutil.which("sharkd") is None or not reports.available():
        print("skipped: no sharkd, or no reports")
        return 77
    only = sys.argv[1:]
    runner = tshark.Tshark(PLUGIN)
    sharkd = None
    n_findings = n_wrong = 0
    try:
        for name, path, arguments in captures(runner):
            report = report_of(path, arguments)
            chosen = [f for f in report["findings"]
                      if not only or f["kind"] in only][:MOST]
            if not chosen:
                continue
            sharkd = sharkd or Sharkd(runner)
            sharkd.load(path)
            for finding in chosen:
                n_findings += 1
                for text in differences(sharkd, report, finding):
                    n_wrong += 1
                    print(f"{name} {finding['id']}: {text}")
    finally:
        if sharkd is not None:
            sharkd.close()
        runner.close()
    print(f"{n_findings} findings, {n_wrong} differences")
    return 1 if n_wrong or n_findings < 10 else 0


sys.exit(main())
