#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Plugin and analyzer say the same of every sample capture.

Both stand on the same core; what tshark shows packet by packet through the plugin, summed
here, has to be what the report counts: packets per stream and opcode, NAKs by code, ICRC
results.  Of ECN, the codepoint of the innermost IP header comes from Wireshark's own IP
dissector, so it is checked independently.
"""

import collections
import os
import shutil
import sys

import reports

SOURCE = reports.SOURCE
PLUGIN = os.environ.get("ROCESCOPE_PLUGIN", str(SOURCE / "build/release/plugin/rocescope.so"))
sys.path.insert(0, str(SOURCE / "tests/plugin"))

if shutil.which("tshark") is None:
    print("tshark is not installed")
    sys.exit(77)
if not reports.available():
    print("no analyzer, and no reports that it made elsewhere")
    sys.exit(77)

import tshark  # noqa: E402

FIELDS = ["frame.interface_name", "ip.src", "ip.dst", "ipv6.src", "ipv6.dst",
          "rocev2.bth.destqp", "rocev2.bth.opcode", "rocev2.aeth.syndrome",
          "rocev2.icrc.status", "rocev2.payload_length", "ip.dsfield.ecn",
          "ipv6.tclass.ecn", "rocev2.ecn"]
NAK_KINDS = {0: "psn_sequence", 1: "invalid_request", 2: "remote_access",
             3: "remote_operational"}
ICRC = {0: "bad", 1: "good", 2: "unchecked"}
CONTROL = {0x11, 0x31, 0x51, 0x71, 0x81, 0xb1}
failures = 0


def check(row, got, want):
    global failures
    if got != want:
        failures += 1
        print(f"{row}: plugin {got}, analyzer {want}")


def first(row, *names):
    """The first value of the first of these fields that the packet has."""
    for name in names:
        if row[name]:
            return row[name][0]
    return None


def innermost(row, *names):
    """The last value of the first of these fields: what a tunnel carries."""
    for name in names:
        if row[name]:
            return row[name][-1]
    return None


def number(text):
    return int(text or "0", 0)


def interface_name(name):
    """A classic file names none, and its reader may say so in its own words."""
    return name if name and not name.startswith("unknown") else ""


def nak_of(syndrome):
    if syndrome >> 5 & 3 == 1:
        return "rnr"
    return NAK_KINDS.get(syndrome & 31) if syndrome >> 5 & 3 == 3 else None


def by_plugin(runner, path):
    seen = collections.Counter()
    rows = runner.fields(path, FIELDS, "-Y", "rocev2.bth")
    for row in rows:
        key = (interface_name(first(row, "frame.interface_name")),
               innermost(row, "ip.src", "ipv6.src"),
               innermost(row, "ip.dst", "ipv6.dst"), number(first(row, "rocev2.bth.destqp")))
        opcode = number(first(row, "rocev2.bth.opcode"))
        length = number(first(row, "rocev2.payload_length"))
        syndrome = first(row, "rocev2.aeth.syndrome")
        seen[key + ("packets",)] += 1
        seen[key + ("payload",)] += length
        seen[("icrc", ICRC[number(first(row, "rocev2.icrc.status"))])] += 1
        if syndrome and nak_of(number(syndrome)):
            seen[key + ("nak", nak_of(number(syndrome)))] += 1
        ecn = number(innermost(row, "ip.dsfield.ecn", "ipv6.tclass.ecn"))
        check(f"{path.name}: ECN", number(first(row, "rocev2.ecn")), ecn)
        data = opcode not in CONTROL and length > 0
        seen[key + ("ecn" if data else "ecn_control", ecn)] += 1
    return seen


def by_analyzer(path):
    report = reports.report(path)
    seen = collections.Counter()
    # Points are numbered as they are met, interfaces as the file lists them.
    points = {p["id"]: interface_name(p["interface"]) for p in report["capture"]["points"]}
    for s in report["streams"]:
        key = (points[s["point"]], s["src"], s["dst"], s["dst_qpn"])
        seen[key + ("packets",)] += s["packets"]
        seen[key + ("payload",)] += s["payload_bytes"]
        for kind, n in s["naks_sent"].items():
            seen[key + ("nak", kind)] += n
        for space in ("ecn", "ecn_control"):
            for value, name in enumerate(("not_ect", "ect1", "ect0", "ce")):
                seen[key + (space, value)] += s[space][name]
        icrc = s["icrc"]
        bad = icrc["bad"] + icrc["cnp_bad"] + icrc["flush_bad"]
        seen[("icrc", "bad")] += bad
        seen[("icrc", "good")] += icrc["checked"] - bad
    return seen, report["capture"]["capture_duplicates"]


def compare(runner, capture):
    name = str(capture.relative_to(SOURCE / "captures"))
    copy = runner.copy(capture, name.replace("/", "-"))
    plugin = by_plugin(runner, copy)
    analyzer, repeats = by_analyzer(capture)
    if repeats:
        # Wireshark shows the second copies of a mirror, which the report leaves out.
        shown, counted = (sum(n for key, n in seen.items() if key[-1] == "packets")
                          for seen in (plugin, analyzer))
        check(f"{name}: packets but for second copies", shown - repeats, counted)
        return
    for key in sorted(set(plugin) | set(analyzer), key=str):
        if key == ("icrc", "unchecked"):
            continue  # cut packets: the analyzer counts them as truncated
        check(f"{name} {key}", plugin[key], analyzer[key])
    if not plugin:
        check(f"{name}: anything at all", 0, "some")


runner = tshark.Tshark(PLUGIN)
try:
    captures = reports.captures()
    for one in captures:
        compare(runner, one)
finally:
    runner.close()
print(f"{failures} rows differ" if failures else f"{len(captures)} captures agree")
sys.exit(1 if failures or not captures else 0)
