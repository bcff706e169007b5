#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Every report is what docs/report.schema.json says.

Reports of all sample captures and of some bad inputs are validated.  That validation can
fail is shown by mutations of one report that each have to fail.  Needs python3-jsonschema;
exit status 77 without it.
"""

import copy
import json
import os
import pathlib
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(os.environ.get("ROCESCOPE_SOURCE",
                                     pathlib.Path(__file__).resolve().parents[2]))
BINARY = os.environ.get("ROCESCOPE", str(SOURCE / "build/dev/bin/rocescope"))
sys.path.insert(0, str(SOURCE / "tests/sim"))

try:
    import jsonschema
except ImportError:
    print("python3-jsonschema is not installed: reports are not validated")
    sys.exit(77)

import roce  # noqa: E402

SCHEMA = json.loads((SOURCE / "docs/report.schema.json").read_text())
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)


def report_of(path):
    """What --json - wrote (None for nothing), and the exit status."""
    done = subprocess.run([BINARY, "--quiet", "--json", "-", str(path)],
                          stdin=subprocess.DEVNULL, capture_output=True, timeout=300)
    return (json.loads(done.stdout) if done.stdout else None), done.returncode


def problems_of(report):
    return [f"{'/'.join(map(str, error.absolute_path)) or '(top)'}: {error.message[:150]}"
            for error in VALIDATOR.iter_errors(report)]


def captures():
    found = [path for pattern in ("**/*.pcap.gz", "**/*.pcapng.gz")
             for path in (SOURCE / "captures").glob(pattern)]
    return sorted(found)


# --- inputs that few sample captures have --------------------------------------------


def odd_inputs():
    """Name -> (bytes of the file, whether a report has to come)."""
    ip = roce.Ip("10.0.0.1", "10.0.0.2", ident=1)
    ack = roce.ethernet(roce.rocev2(ip, 50000, roce.transport(
        roce.OPCODE["RC Acknowledge"], dest_qpn=5, psn=9,
        headers=roce.aeth(roce.NAK_PSN_SEQUENCE, 1))))
    vendor = roce.ethernet(roce.rocev2(ip, 50000, roce.transport(
        0xC1, dest_qpn=5, psn=9)))
    one = roce.Pcap().add(1, ack).bytes()
    pauses = roce.Pcap()
    for i, frame in enumerate((roce.pfc({3: 0xFFFF, 4: 100}), roce.pause(0xFFFF),
                               roce.pfc({3: 0}), roce.pfc({3: 9}))):
        pauses.add(10**15 + i * 1000, frame)
    fast = roce.Pcapng((roce.Interface(name="eth0", speed_bps=100 * 10**9),
                        roce.Interface(roce.LINKTYPE_SLL2, 128)))
    fast.add(10**15, roce.pfc({3: 0xFFFF})).add(10**15 + 9, roce.sll2(ack[14:]),
                                                interface=1)
    fast.add_statistics(10**15 + 10, interface=1, received=1, dropped=7)
    marked = roce.Ip("fd00::1", "fd00::2", tos=roce.ECN_CE)
    others = roce.Pcap()
    for i, frame in enumerate((
            vendor, roce.ethernet(roce.cnp(ip, 0, 6)), roce.ethernet(b"\x45garbage"),
            roce.ethernet(roce.rocev2(marked, 1, roce.transport(
                roce.OPCODE["UC SEND Only"], dest_qpn=7, psn=1, payload=b"x"))),
            roce.ethernet(roce.rocev1(marked, roce.transport(
                roce.OPCODE["RC SEND Only"], dest_qpn=7, psn=1)),
                ethertype=roce.ETHERTYPE_ROCEV1),
            roce.ethernet(ip.wrap(17, roce.udp(1, 4791, b"no transport"))))):
        others.add(10**15 + i, frame)
    return {
        "empty": (b"", False),
        "no_capture": (b"this is no capture\n" * 10, False),
        "header_only": (roce.Pcap().bytes(), True),
        "truncated": (one[:-7], True),
        "one_nak": (one, True),
        "pauses": (pauses.bytes(), True),
        "speeds_and_drops": (fast.bytes(), True),
        "odd_packets": (others.bytes(), True),
    }


# --- that validation can fail --------------------------------------------------------


def _drop(path):
    def mutate(report):
        *way, last = path
        for key in way:
            report = report[key]
        del report[last]
    return mutate


def _set(path, value):
    def mutate(report):
        *way, last = path
        for key in way:
            report = report[key]
        report[last] = value
    return mutate


MUTATIONS = {
    "no_findings_key": _drop(["findings"]),
    "no_stream_vantage": _drop(["streams", 0, "vantage"]),
    "no_stream_counter": _drop(["streams", 0, "requests", "gaps"]),
    "no_verdict": _drop(["totals", "losses", "responses", "ack_lost"]),
    "no_cause": _drop(["totals", "retransmissions", "by_cause", "rnr"]),
    "no_latency_key": _drop(["streams", 0, "ack_latency_ns"]),
    "other_version": _set(["schema_version"], 2),
    "fractional_count": _set(["capture", "packets"], 1.5),
    "negative_count": _set(["totals", "packets"], -1),
    "count_as_text": _set(["capture", "roce_packets"], "7"),
    "null_count": _set(["capture", "roce_packets"], None),
    "unknown_transport": _set(["streams", 0, "transport"], "TCP"),
    "unknown_severity": _set(["findings"], [{
        "id": "x", "severity": "bad", "title": "x", "detail": "", "advice": "",
        "streams": [], "frames": [], "wireshark_filter": ""}]),
    "half_a_distribution": _set(["streams", 0, "ack_latency_ns"], {"count": 1}),
    "event_without_frame": _set(["events"], [{"kind": "gap", "time_ns": 1}]),
    "qpn_beyond_24_bits": _set(["streams", 0, "dst_qpn"], 1 << 24),
    "naks_sent_null": _set(["streams", 0, "naks_sent"], None),
}
ALLOWED = {
    "more_keys": _set(["streams", 0, "something_new"], {"a": 1}),
    "unpaired": _set(["streams", 0, "naks"], None),
}


def main():
    failed = []

    def row(name, problems):
        if problems:
            failed.append(name)
            print(f"FAILED {name}")
            for problem in problems[:8]:
                print(f"    {problem}")

    VALIDATOR.check_schema(SCHEMA)
    sample = None
    for path in captures():
        report, status = report_of(path)
        if report is None:
            row(str(path), [f"no report, exit status {status}"])
            continue
        row(str(path.relative_to(SOURCE)), problems_of(report))
        if sample is None and report["streams"]:
            sample = report
    with tempfile.TemporaryDirectory() as directory:
        for name, (data, must_report) in odd_inputs().items():
            path = pathlib.Path(directory, name)
            path.write_bytes(data)
            report, status = report_of(path)
            if report is not None:
                row(name, problems_of(report))
            elif must_report:
                row(name, [f"no report, exit status {status}"])
    if sample is None:
        row("mutations", ["no sample capture gave a report with a stream"])
    else:
        for name, mutate in {**MUTATIONS, **ALLOWED}.items():
            report = copy.deepcopy(sample)
            mutate(report)
            found = problems_of(report)
            if name in ALLOWED:
                row(name, found)
            else:
                row(name, [] if found else ["was not found wrong"])
    print(f"{len(failed)} failed: {' '.join(failed)}" if failed else "all reports valid")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
