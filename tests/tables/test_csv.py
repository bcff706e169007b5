#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""--csv: the same as the JSON report for every sample capture, read by Python's csv; what
names and captures may hold; where it cannot write."""

import csv
import json
import os
import pathlib
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(os.environ.get("ROCESCOPE_SOURCE",
                                     pathlib.Path(__file__).resolve().parents[2]))
BINARY = os.environ.get("ROCESCOPE", str(SOURCE / "build/dev/bin/rocescope"))
LOSSY = SOURCE / "captures/03a_loss_data_0.5pct/receiver.pcap.gz"
MARKED = SOURCE / "captures/06a_ecn_netem/receiver.pcap.gz"
PAIRED = SOURCE / "captures/02h_multiqp/sender.pcap.gz"
sys.path[:0] = [str(SOURCE / "tests/sim"), str(SOURCE / "tests")]

import roce  # noqa: E402
import sheets as tables  # noqa: E402

SHEETS = tables.of_program(BINARY)
FORMULA = "=+-@＝＋－＠"
failures = 0


def check(row, got, want=True):
    global failures
    if got != want:
        failures += 1
        print(f"{row}: got {got!r}, want {want!r}")


def run(*arguments):
    return subprocess.run([BINARY, *map(str, arguments), "--quiet"], text=True,
                          capture_output=True, stdin=subprocess.DEVNULL, timeout=120)


def read(directory):
    """Name of a table -> its records, the names first."""
    found = {}
    for path in pathlib.Path(directory).iterdir():
        with path.open(encoding="utf-8", newline="") as file:
            found[path.name.removesuffix(".csv")] = list(csv.reader(file, strict=True))
    return found


def field(value, column):
    """What a value is in CSV; a real is compared as one."""
    if value is None:
        return ""
    if column.type == "boolean":
        return "true" if value else "false"
    if column.type == "text":
        safe = "".join(c if c.isprintable() else f"\\x{ord(c):02x}" for c in value)
        return "'" + safe if safe.startswith(tuple(FORMULA)) else safe
    return value if column.type == "real" else str(value)


def same(got, want):
    return float(got) == want if isinstance(want, (int, float)) and got else got == want


def compare(row, report, directory, sheets=SHEETS, rows_of=None):
    """Every table is what follows from the report."""
    found = read(directory)
    rows_of = rows_of or (lambda sheet, report: tables.rows(SHEETS, sheet, report))
    check(f"{row}: tables", sorted(found), sorted(sheets))
    for name, sheet in sheets.items():
        names, *records = found[name]
        check(f"{row}: {name}: names", names, [c.name for c in sheet.columns])
        want = [[field(tables.value(r, c), c) for c in sheet.columns]
                for r in rows_of(sheet, report)]
        check(f"{row}: {name}: records", len(records), len(want))
        wrong = [(i, c.name, g[j], w[j]) for i, (g, w) in enumerate(zip(records, want))
                 for j, c in enumerate(sheet.columns) if not same(g[j], w[j])]
        check(f"{row}: {name}: values", wrong[:3], [])
    return found


def written(directory, *arguments):
    """The report of a run that also writes CSV files."""
    report = pathlib.Path(directory, "r.json")
    target = pathlib.Path(directory, "csv")
    check(f"{arguments}: status", run("--json", report, "--csv", target,
                                      *arguments).returncode in (0, 3))
    return json.loads(report.read_text()), target


def sample_captures():
    used = set()
    for path in sorted(SOURCE.glob("captures/*/*.pcap*.gz")):
        with tempfile.TemporaryDirectory() as directory:
            report, target = written(directory, path)
            found = compare(path.relative_to(SOURCE), report, target)
            used |= {name for name, records in found.items() if len(records) > 1}
    with tempfile.TemporaryDirectory() as directory:
        both = [MARKED.parent / "sender.pcap.gz", MARKED.parent / "receiver.pcap.gz"]
        found = compare("two points", *written(directory, *both, "--max-streams", "3"))
        check("--max-streams", len(found["streams"]), 4)
        used |= {name for name, records in found.items() if len(records) > 1}
    check("tables without a row in any sample", sorted(set(SHEETS) - used), [])


def comparisons():
    """Tables of `rocescope compare`."""
    sheets, used = tables.of_comparison(BINARY), set()
    check("comparison: tables", sorted(sheets), ["lost_packets", "segments", "streams"])
    switch = SOURCE / "captures/11_pcapng_switch/switch.pcapng.gz"
    for points in ([LOSSY.parent / "sender.pcap.gz", LOSSY],
                   [MARKED.parent / "sender.pcap.gz", MARKED],
                   [f"{switch}#sA", f"{switch}#sB"], [LOSSY, MARKED]):
        with tempfile.TemporaryDirectory() as directory:
            report, target = pathlib.Path(directory, "r.json"), pathlib.Path(directory, "c")
            done = run("compare", "--json", report, "--csv", target, *points)
            check(f"compare {points}: status", done.returncode, 0)
            found = compare(f"compare {points}", json.loads(report.read_text()), target,
                            sheets, tables.rows_of_comparison)
            used |= {name for name, records in found.items() if len(records) > 1}
            check(f"compare {points}: into a file", run("compare", "--csv", report,
                                                        *points).returncode, 3)
    check("comparison: tables without a row", sorted(set(sheets) - used), [])


# --- what others may have written into names -------------------------------------------

HOSTILE = ['=cmd|"/c calc"!A0', "+1", "-1+1", "@SUM(A1)", 'a"b', "＝1", "<script>",
           "'; DROP TABLE streams; --", "\\x41", "=", "gpu01", "häuser"]


def hosts_and_files():
    """Names of hosts and of files."""
    for i, name in enumerate(HOSTILE):
        with tempfile.TemporaryDirectory() as directory:
            hosts = pathlib.Path(directory, "hosts")
            hosts.write_text(f"10.77.1.1,{name}\n")
            capture = pathlib.Path(directory, f"{name.replace('/', ' ')}\r\n\x1b[31m\t.gz")
            capture.write_bytes(PAIRED.read_bytes())
            report, target = written(directory, "--hosts", hosts, capture)
            found = compare(f"hostile {i}", report, target)
            check(f"hostile {i}: the name arrives", name in
                  {(s["src_host"] or s["dst_host"])["name"] for s in report["streams"]})
            for file in target.iterdir():
                raw = file.read_bytes()
                check(f"hostile {i}: one line for each record",
                      raw.count(b"\n"), len(found[file.stem]))
                check(f"hostile {i}: nothing for a terminal",
                      [c for c in raw if c < 32 and c != 10 or c == 127], [])
            begins = {cell[0] for records in found.values() for record in records
                      for cell in record if cell and not _is_number(cell)}
            check(f"hostile {i}: no formula", begins & set(FORMULA), set())


def _is_number(text):
    try:
        float(text)
        return True
    except ValueError:
        return False


def interfaces():
    """Names of interfaces, which a capture brings with it."""
    capture = roce.Pcapng(tuple(roce.Interface(name=name)
                                for name in (*HOSTILE, "a\nb", "a,b", "\t=1", "\r@x")))
    ip = roce.Ip("10.0.0.1", "10.0.0.2", ident=1)
    for i in range(len(HOSTILE) + 4):
        capture.add(10**15 + i, roce.ethernet(roce.cnp(ip, 0, 6)), interface=i)
    with tempfile.TemporaryDirectory() as directory:
        path = pathlib.Path(directory, "x.pcapng")
        path.write_bytes(capture.bytes())
        found = compare("interfaces", *written(directory, path))
        names = [record[2] for record in found["points"][1:]]
        check("interfaces: a formula is guarded", "'" + HOSTILE[0] in names)


# --- where it is written -----------------------------------------------------------------


def targets():
    with tempfile.TemporaryDirectory() as directory:
        top = pathlib.Path(directory)
        (top / "file").write_text("x")
        (top / "blocked/streams.csv").mkdir(parents=True)
        (top / "full").mkdir()
        (top / "full/pauses.csv").symlink_to("/dev/full")
        for row, target, status in (
                ("made with its parents", top / "a/b", 0), ("there already", top / "a/b", 0),
                ("a file", top / "file", 3), ("below a file", top / "file/x", 3),
                ("a device", "/dev/null", 3), ("a table is a directory", top / "blocked", 3),
                ("no room", top / "full", 3),
                ("standard output", "-", 2), ("no name", "", 2)):
            done = run("--csv", target, LOSSY)
            check(f"{row}: status", done.returncode, status)
            check(f"{row}: one line", done.stderr.count("\n"), int(status != 0))
            check(f"{row}: it says which", str(target) in done.stderr, status != 0)
        check("the file is as it was", (top / "file").read_text(), "x")
        check("nothing half written", [str(p) for p in top.rglob("*") if p.is_file()
                                       and p.suffix not in (".csv", "")], [])
        check("blocked: nothing appears", os.listdir(top / "blocked"), ["streams.csv"])


def twice():
    """A second run leaves nothing of the first, and touches nothing else."""
    with tempfile.TemporaryDirectory() as directory:
        target, fresh = pathlib.Path(directory, "csv"), pathlib.Path(directory, "fresh")
        run("--csv", target, PAIRED)
        (target / "notes.txt").write_text("mine")
        run("--csv", target, LOSSY)
        run("--csv", fresh, LOSSY)
        check("twice: notes stay", (target / "notes.txt").read_text(), "mine")
        (target / "notes.txt").unlink()
        check("twice", read(target) == read(fresh))
        check("the text report comes all the same", "What is wrong" in subprocess.run(
            [BINARY, "--csv", fresh, LOSSY], capture_output=True, text=True).stdout)


for part in (sample_captures, comparisons, hosts_and_files, interfaces, targets, twice):
    part()
print(f"{failures} rows failed" if failures else "the tables say what the report says")
sys.exit(1 if failures else 0)
