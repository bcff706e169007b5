#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Findings of several files name the frames of each by its own numbers.

What a finding is made of stands among the events: a frame that it names has, in its file, the
stamp of an event that was seen there.
"""

import gzip
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = pathlib.Path(os.environ.get("ROCESCOPE_SOURCE", HERE.parents[1]))
BINARY = os.environ.get("ROCESCOPE", str(SOURCE / "build/dev/bin/rocescope"))
sys.path[:0] = [str(SOURCE / "tests/extract")]

import records  # noqa: E402

# Kinds whose frames are all of events, and what these are called.
OF_EVENTS = {"lost_before_capture": {"loss"}, "undelivered_after_capture": {"loss"},
             "data_or_ack_lost": {"loss"}, "ack_lost": {"loss"}, "timeout": {"round"},
             "unexplained_round": {"round"}, "reordered": {"late"}, "pfc": {"pause_xoff"}}

# Captures of one path, or of several ports, and others beside them.
ROOMS = (
    ("03a_loss_data_0.5pct/sender.pcap", "03a_loss_data_0.5pct/receiver.pcap"),
    ("03c_loss_ack/receiver.pcap", "03c_loss_ack/sender.pcap"),
    ("11_pcapng_switch/sender.pcap", "11_pcapng_switch/switch.pcapng",
     "11_pcapng_switch/receiver.pcap"),
    ("sim_cascade/fabric.pcapng", "03d_loss_read_resp/sender.pcap"),
)


def unpacked(name, directory):
    path = directory / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(gzip.decompress((SOURCE / "captures" / f"{name}.gz").read_bytes()))
    return path


def run(arguments, directory):
    done = subprocess.run([BINARY, *arguments], cwd=directory,
                          stdin=subprocess.DEVNULL, capture_output=True, timeout=300)
    assert done.returncode in (0, 1), done.stderr
    return done.stdout


def stamps_of(directory, name):
    return [r.time_ns for r in records.read(directory / name).records]


def wrong_frames(report, stamps):
    """Frames that are none of the finding's, by the events."""
    file_of = {p["id"]: p["file"] for p in report["capture"]["points"]}
    for finding in report["findings"]:
        kinds = OF_EVENTS.get(finding["kind"], ())
        seen = {(file_of[e["point"]], e["time_ns"]) for e in report["events"]
                if e["kind"] in kinds and e["frame"] is not None}
        for part in finding["files"] if kinds else ():
            for number in part["frames"]:
                if (part["file"], stamps[part["file"]][number - 1]) not in seen:
                    yield f"{finding['id']}: {number} of {part['file']}"


def check_room(names, directory):
    for name in names:
        unpacked(name, directory)
    stamps = {name: stamps_of(directory, name) for name in names}
    for order in (names, names[::-1]):
        report = json.loads(run(["--json", "-", "--events", "1000000", *order], directory))
        yield from wrong_frames(report, stamps)
        named = [f for f in report["findings"] if f["files"]]
        if not any(f["kind"] in OF_EVENTS for f in named):
            yield f"{order}: no finding names a frame of an event"
        for finding in named:
            files = [part["file"] for part in finding["files"]]
            if files != [name for name in order if name in files] or finding["frames"]:
                yield f"{finding['id']}: {files}, {finding['frames']}"


def check_text(directory):
    """Each file with its frames and their filter, by a name that no other file has."""
    names = ROOMS[0]
    other = directory / "other" / "sender.pcap"
    other.parent.mkdir()
    other.write_bytes((directory / ROOMS[1][1]).read_bytes())
    arguments = [*names, "other/sender.pcap"]
    report = json.loads(run(["--json", "-", *arguments], directory))
    text = run(arguments, directory).decode()
    want = {names[0]: "03a_loss_data_0.5pct/sender.pcap", names[1]: "receiver.pcap",
            "other/sender.pcap": "other/sender.pcap"}
    shown = 0
    for part in (part for f in report["findings"] if f["severity"] != "note"
                 for part in f["files"]):
        line = " ".join(["frames of", want[part["file"]], *map(str, part["frames"][:10])])
        shown += 1
        if line not in text:
            yield f"no line {line!r}"
    if not shown or not re.search(r"Wireshark: frame\.number in", text):
        yield "nothing is shown"


def main():
    with tempfile.TemporaryDirectory(prefix="rocescope-") as scratch:
        directory = pathlib.Path(scratch)
        problems = [p for names in ROOMS for p in check_room(names, directory)]
        problems += check_text(directory)
    for problem in problems:
        print(f"FAILED {problem}")
    print(f"{len(ROOMS)} captures of several files, {len(problems)} failures")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
