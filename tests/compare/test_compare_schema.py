#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What `rocescope compare --json` writes is what docs/compare.schema.json says, and what
docs/compare.md describes key by key.

That validation can fail is shown by mutations that each have to fail.  Needs
python3-jsonschema; exit status 77 without it.
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
BINARY = os.environ.get("ROCESCOPE", str(SOURCE / "build/release/bin/rocescope"))

try:
    import jsonschema
except ImportError:
    print("python3-jsonschema is not installed: reports are not validated")
    sys.exit(77)

SCHEMA = json.loads((SOURCE / "docs/compare.schema.json").read_text())
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)
failures = 0


def check(what, problems):
    global failures
    if problems:
        failures += 1
        print(f"FAILED {what}")
        for problem in problems[:5]:
            print(f"    {problem}")


def report_of(*points):
    done = subprocess.run([BINARY, "compare", "--quiet", "--json", "-", *map(str, points)],
                          capture_output=True, timeout=120)
    return json.loads(done.stdout)


def problems_of(report):
    return [f"{'/'.join(map(str, e.absolute_path)) or '(top)'}: {e.message[:150]}"
            for e in VALIDATOR.iter_errors(report)]


def reports():
    """name -> report, of many kinds."""
    captures = SOURCE / "captures"
    out = {d.name: report_of(d / "sender.pcap.gz", d / "receiver.pcap.gz")
           for d in sorted(captures.iterdir()) if (d / "sender.pcap.gz").is_file()}
    switch = captures / "11_pcapng_switch/switch.pcapng.gz"
    out["one file"] = report_of(*(f"{switch}#{port}" for port in ("sA", "sB")))
    out["nothing in common"] = report_of(captures / "02e_ud/sender.pcap.gz",
                                         captures / "08_vlan/receiver.pcap.gz")
    with tempfile.TemporaryDirectory() as directory:
        missing = pathlib.Path(directory, "missing \x1b[31m\udcff")
        out["missing"] = report_of(captures / "02e_ud/sender.pcap.gz", missing)
    return out


def mutations(report):
    """name -> a report that must not validate."""
    def changed(change):
        other = copy.deepcopy(report)
        change(other)
        return other
    return {
        "no segments": changed(lambda r: r.pop("segments")),
        "a count is a text": changed(lambda r: r["segments"][0].update(lost="11")),
        "a count is negative": changed(lambda r: r["segments"][0].update(marked=-1)),
        "a direction of its own": changed(lambda r: r["streams"][0].update(direction="up")),
        "a loss without its frame": changed(
            lambda r: r["segments"][0]["lost_packets"][0].pop("frame")),
        "a clock without offset": changed(lambda r: r["segments"][0]["clock"].pop(
            "offset_ns")),
    }


def documented():
    """Keys of the schema that docs/compare.md does not name."""
    keys = set()

    def walk(node):
        if isinstance(node, dict):
            keys.update(node.get("properties", {}))
            for value in node.values():
                walk(value)
        elif isinstance(node, list):
            for value in node:
                walk(value)
    walk(SCHEMA)
    page = (SOURCE / "docs/compare.md").read_text()
    return sorted(key for key in keys if f"`{key}`" not in page)


def main():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    all_reports = reports()
    for name, report in all_reports.items():
        check(name, problems_of(report))
    lossy = all_reports["03a_loss_data_0.5pct"]
    for name, report in mutations(lossy).items():
        check(f"{name} is found", [] if problems_of(report) else ["it validates"])
    check("keys without a description", documented())
    print(f"{len(all_reports)} reports, {failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
