#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The captures that speed is measured with: small ones of each kind say what they are meant
to say, so that `make bench` measures an analysis that has something to do and gets it
right."""

import collections
import json
import os
import pathlib
import struct
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(os.environ.get("ROCESCOPE_SOURCE",
                                     pathlib.Path(__file__).resolve().parents[2]))
BUILD = pathlib.Path(os.environ.get("ROCESCOPE_BUILD", SOURCE / "build/release"))
BINARY = os.environ.get("ROCESCOPE", str(BUILD / "bin/rocescope"))
MAKER = str(BUILD / "tests/bench_captures")
sys.path.insert(0, str(SOURCE / "tests/sim"))

import roce  # noqa: E402

# Kind -> packets, queue pairs.
SIZES = {"headers": (6000, 128), "many": (12000, 400), "full": (3000, 32),
         "jumbo": (1500, 32), "lossy": (6000, 32), "reads": (6000, 64),
         "mixed": (6000, 128), "missed": (6000, 128), "missed-reads": (6000, 64),
         "small": (6000, 64), "sprayed": (6000, 64), "sprayed-reads": (6000, 64)}
WHOLE = ("full", "jumbo")
SNAP_BYTES = 128
ETHERNET_BYTES = 14
FAILED = []


def check(name, got, want):
    if got != want:
        FAILED.append(name)
        print(f"FAILED {name}: {got}, not {want}")


def make(kind, path, *options):
    out = subprocess.run([MAKER, kind, *map(str, options), "--truth", path], check=True,
                         capture_output=True, text=True).stdout
    return json.loads(out)


def report_of(path):
    done = subprocess.run([BINARY, "--quiet", "--json", "-", path], check=True,
                          capture_output=True, text=True)
    return json.loads(done.stdout)


def records(data):
    magic, *_ = struct.unpack_from("<IHHiIII", data)
    assert magic == 0xA1B23C4D
    return roce.pcap_packets(data)


# --- what is asked of each -------------------------------------------------------------


def check_frames(kind, data, n_packets):
    """Length, order, and the ICRC by another implementation."""
    before, n, n_icrcs, payloads = 0, 0, 0, collections.Counter()
    for time_ns, wire, frame in records(data):
        n += 1
        check(f"{kind}: time of frame {n} rises", time_ns > before, True)
        before = time_ns
        want = wire if kind in WHOLE else min(wire, SNAP_BYTES)
        check(f"{kind}: captured of frame {n}", len(frame), want)
        if len(frame) == wire:
            n_icrcs += 1
            body = frame[ETHERNET_BYTES:-4]
            check(f"{kind}: ICRC of frame {n}", struct.unpack("<I", frame[-4:])[0],
                  roce.icrc(body))
        if wire > 1000:
            payloads[frame[70:128]] += 1
    check(f"{kind}: frames", n, n_packets)
    check(f"{kind}: some ICRCs are there", n_icrcs > n_packets // 50, True)
    check(f"{kind}: payloads differ", len(payloads) > 100, True)


def check_clean(kind, truth, report):
    totals = report["totals"]
    check(f"{kind}: findings", [f["id"] for f in report["findings"]
                                if f["severity"] in ("warning", "critical")], [])
    check(f"{kind}: losses",
          sum(n for side in totals["losses"].values() for n in side.values()), 0)
    check(f"{kind}: sent again", totals["retransmissions"]["packets"], 0)
    check(f"{kind}: truth", {key: truth[key] for key in ("lost", "naks", "ce", "cnps")},
          dict.fromkeys(("lost", "naks", "ce", "cnps"), 0))


def check_lossy(kind, truth, report):
    totals = report["totals"]
    losses = {**totals["losses"]["requests"]}
    check(f"{kind}: something was lost", truth["lost"] > 10, True)
    check(f"{kind}: losses", losses.pop("lost_before_capture"), truth["lost"])
    check(f"{kind}: no other losses", set(losses.values()), {0})
    check(f"{kind}: sent again", totals["retransmissions"]["packets"],
          truth["retransmitted"])
    check(f"{kind}: NAKs", totals["naks"]["psn_sequence"], truth["naks"])
    check(f"{kind}: CE", totals["ecn"]["ce"], truth["ce"])
    check(f"{kind}: some CNPs", truth["cnps"] > 5, True)
    check(f"{kind}: CNPs", report["capture"]["cnp_packets"], truth["cnps"])


def check_missed(kind, truth, report):
    """Nothing was lost, whatever the capture lacks."""
    totals = report["totals"]
    losses = collections.Counter(totals["losses"]["requests"])
    losses.update(totals["losses"]["responses"])
    n_lost = sum(losses.values())
    check(f"{kind}: some were missed", truth["missed"] > 40, True)
    check(f"{kind}: gaps", truth["missed"] // 2 < n_lost <= truth["missed"], True)
    check(f"{kind}: no losses", n_lost - losses["not_captured"] - losses["unknown"], 0)
    check(f"{kind}: most are understood", losses["not_captured"] > n_lost // 2, True)
    check(f"{kind}: sent again", totals["retransmissions"]["packets"], 0)


def check_sprayed(kind, truth, report):
    """Late, and nothing else."""
    packets = report["totals"]["responses" if "reads" in kind else "requests"]
    check(f"{kind}: some were overtaken", truth["overtaken"] > 500, True)
    check(f"{kind}: late", packets["reordered"], truth["overtaken"])
    check(f"{kind}: duplicates", packets["duplicates"], 0)
    check_clean(kind, truth, report)


def check_report(kind, truth, report, n_qps):
    capture, totals = report["capture"], report["totals"]
    check(f"{kind}: packets", capture["roce_packets"], truth["packets"] - truth["others"])
    check(f"{kind}: others", capture["other_packets"], truth["others"])
    check(f"{kind}: some others", truth["others"] > 500, kind == "mixed")
    check(f"{kind}: senders", truth["senders"], n_qps)
    check(f"{kind}: streams", len(report["streams"]), n_qps)
    check(f"{kind}: connections", len(report["connections"]), n_qps // 2)
    check(f"{kind}: malformed", capture["malformed_packets"], 0)
    check(f"{kind}: bad ICRCs", totals["icrc"]["bad"], 0)
    check(f"{kind}: READ responses", totals["responses"]["unique_psns"] > 0,
          "reads" in kind)
    check(f"{kind}: missed", truth["missed"] > 0, "missed" in kind)
    checks = {"lossy": check_lossy, "missed": check_missed, "missed-reads": check_missed,
              "sprayed": check_sprayed, "sprayed-reads": check_sprayed}
    checks.get(kind, check_clean)(kind, truth, report)


def check_timeline(directory):
    """More streams than have bins of their own: the point's bins have all of them."""
    path = f"{directory}/timeline.pcap"
    truth = make("lossy", path, "--packets", 60000, "--qps", 1500)
    report = report_of(path)
    totals = report["totals"]
    series = next(s for s in report["timeline"]["series"] if s["of"] == "point")
    check("time line: senders", truth["senders"] > 1024, True)
    check("time line: data packets", sum(series["data"]), totals["requests"]["packets"])
    check("time line: CE", sum(series["ce"]), truth["ce"])
    check("time line: CNPs", sum(series["cnps"]), truth["cnps"])
    check("time line: sent again", sum(series["retransmissions"]),
          truth["retransmitted"])
    ip_bits = 8 * sum(wire - ETHERNET_BYTES - 20 for _, wire, _ in
                      records(pathlib.Path(path).read_bytes()))
    check("time line: bits", sum(series["bits"]), ip_bits)


def check_repeatable(directory):
    """The same again; and what is shorter is what the longer one begins with."""
    files = [f"{directory}/{name}.pcap" for name in ("one", "same", "short")]
    for path, n_packets in zip(files, (2000, 2000, 500)):
        make("headers", path, "--packets", n_packets, "--qps", 64)
    one, same, short = (pathlib.Path(path).read_bytes() for path in files)
    check("same again", one == same, True)
    check("a shorter one", one.startswith(short), True)


def main():
    with tempfile.TemporaryDirectory() as directory:
        for kind, (n_packets, n_qps) in SIZES.items():
            path = f"{directory}/{kind}.pcap"
            truth = make(kind, path, "--packets", n_packets, "--qps", n_qps)
            check(f"{kind}: packets asked for", truth["packets"], n_packets)
            check_frames(kind, pathlib.Path(path).read_bytes(), n_packets)
            check_report(kind, truth, report_of(path), n_qps)
        check_timeline(directory)
        check_repeatable(directory)
    return 1 if FAILED else 0


if __name__ == "__main__":
    sys.exit(main())
