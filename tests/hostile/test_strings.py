#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Strings from captures and from files of the user are text, wherever they appear.

Each string of STRINGS is put into every place that one can come from: names, descriptions
and comments of a pcapng file, LLDP names of systems and ports, names of hosts and of
processes, names of files and directories.  Then every output is looked at: what steers a
terminal, markup, formulas, statements and format strings have to have become text.
"""

import csv
import json
import pathlib
import sqlite3
import struct
import sys

from bounded import Run, analyzed, check_plain, equal, scratch, steering
import page as pages
import records
import roce
from traffic import START_S, Template

STRINGS = {
    "plain": b"spine1",
    "escape": b"\x1b[31m\x1b]0;title\x07\x1b[2J",
    "c1": "\u009b31m\u009d0;x\u009c".encode(),
    "bidi": "\u202egnp.exe\u2066\u200f\u200b\ufeff".encode(),
    "lines": b"a\nwarning   all is lost\r\n\x0b\x0c\x08\tb",
    "separators": "a\u2028b\u2029c\u0085d".encode(),
    "invalid": b"\xff\xfe\xc0\x80\xed\xa0\x80\xf5\x80",
    "script": b"</script><script>alert(1)</script>",
    "image": b"<img src=x onerror=alert(1)>",
    "attribute": b"\" onmouseover=\"alert(1)\" x='",
    "entity": b"&quot;&lt;img&gt;&#60;b&#62;",
    "comment": b"--><!-- ]]> <![CDATA[",
    "formula": b"=cmd|'/c calc'!A0",
    "plus": b"+1+cmd()",
    "at": b"@SUM(A1)",
    "minus": b"-1+cmd()",
    "tab": b"\t=1+1",
    "sql": b"'; DROP TABLE captures; --",
    "quotes": b"'\"\\`\\'\\\"",
    "separated": b"a;b,c|d",
    "format": b"%s%n%x%%{}{0}",
    "shell": b"${HOME}$(id)`id`",
    "path": b"../../../../etc/passwd",
    "long": b"A" * 20_000,
    "nothing": b"",
}
PLAIN = {}                       # page -> its (element, attribute)
FORMULA = tuple("=+-@\t\r＝＋－＠")
A, B = "10.0.0.1", "10.0.0.2"


# --- what is written into a capture, and beside it -----------------------------------


def captured(text):
    """A pcapng file with that text in each place that holds one."""
    out = roce.Pcapng(())
    out.block(out.SHB, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1),
              [(code, text) for code in (1, 2, 3, 4)])   # comment, hardware, system, program
    out.block(out.IDB, struct.pack("<HHI", 1, 0, 262144),
              [(code, text) for code in (1, 2, 3, 11, 12, 15)] + [(9, b"\x09")])
    out.interfaces.append(roce.Interface())
    send = Template("RC SEND Only", payload=b"abcd")
    name = text[:400]
    for i, port in enumerate((name, b"swp2")):           # one that pauses, and others
        tlvs = (roce.lldp_tlv(1, b"\x07" + name[:255]), roce.lldp_tlv(2, b"\x05" + port[:255]),
                roce.lldp_tlv(3, b"\0\x78"), roce.lldp_tlv(5, name), roce.lldp_tlv(4, name),
                roce.lldp_tlv(6, name), roce.dcb_pfc([3 + i]), roce.lldp_tlv(0, b""))
        out.add(START_S * 10**9 + i, roce.ethernet(
            b"".join(tlvs), src=roce.MAC_A[:5] + bytes([i]), dst=roce.MAC_NEAREST_BRIDGE,
            ethertype=roce.ETHERTYPE_LLDP))
    for i in range(20):
        out.add(START_S * 10**9 + 1000 * (i + 2), send.frame(0x11, 2 * i))
        frame = roce.pfc({3: 0xFFFF})
        out.block(out.EPB, struct.pack(
            "<IIIII", 0, *divmod(START_S * 10**9 + 1000 * (i + 2) + 1, 1 << 32),
            len(frame), len(frame)) + roce._pad4(frame), [(1, text)])
    out.block(4, struct.pack("<HH", 1, 4 + len(name) + 1) + b"\x0a\0\0\x01" + name + b"\0"
              + bytes(-(5 + len(name)) % 4) + bytes(4))   # name resolution
    return out.bytes()


def told(folder, text):
    """Options with tables that have the text as a name."""
    hosts, qps = folder / "hosts", folder / "qps"
    word = text.replace(b"\n", b" ").replace(b"\r", b" ").replace(b",", b" ")
    hosts.write_bytes(A.encode() + b"," + (word.strip() or b"x")[:250] + b"\n")
    row = {"ifname": "mlx5_0", "type": "RC", "state": "RTS", "lqpn": 0x22, "rqpn": 0x11,
           "pid": 7, "comm": text.decode("utf-8", "replace")}
    qps.write_text(json.dumps([row]))
    return ("--hosts", hosts, "--qp-map", f"{A}={qps}")


def file_name(text):
    """The same for names of files, that know no / and no NUL, and not more than 255 bytes."""
    return (text.replace(b"/", b"_").replace(b"\0", b"_")[:200] or b"x") + b".pcapng"


# --- what every output is looked at for ----------------------------------------------


def check_page(path):
    markup = path.read_bytes().decode("utf-8")
    seen = pages.Page(markup)
    equal(f"{path.name}: faults", seen.faults, [])
    made = {(tag, name) for tag, attributes in seen.elements for name in ("", *attributes)}
    plain = PLAIN.setdefault(path.name, made) # the first row's strings are harmless
    equal(f"{path.name}: elements and attributes that plain names do not make",
          made - plain, set())
    equal(f"{path.name}: links", [a["href"] for _, a in seen.elements if a.get(
        "href", "").lower().startswith(("javascript:", "data:text"))], [])
    equal(f"{path.name}: policy", seen.policy()["script-src"],
          [pages.source_of(script) for script in seen.scripts()])
    equal(f"{path.name}: controls", steering(markup) - {"\t"}, set())


def is_number(cell):
    try:
        float(cell)
    except ValueError:
        return False
    return True


def check_table(path):
    check_plain(path.name, path.read_bytes())
    with path.open(encoding="utf-8", newline="") as file:
        head, *rows = csv.reader(file, strict=True)
    equal(f"{path.name}: rows of another width",
          [row for row in rows if len(row) != len(head)], [])
    equal(f"{path.name}: formulas", [cell for row in rows for cell in row
                                     if cell.startswith(FORMULA) and not is_number(cell)], [])


def schema_of(database):
    with sqlite3.connect(f"file:{database}?mode=ro", uri=True) as connection:
        equal("integrity", connection.execute("PRAGMA integrity_check").fetchall(), [("ok",)])
        return connection.execute("SELECT type, name, sql FROM sqlite_master").fetchall()


def check_reports(folder, path, tables):
    done, report = analyzed(folder, path, more=tables)
    check_page(folder / "r.html")
    for table in (folder / "csv").iterdir():
        check_table(table)
    equal("path", report["capture"]["files"][0]["path"].encode("utf-8", "replace")[-7:],
          b".pcapng")
    equal("packets", report["capture"]["packets"], 42)
    return done


def check_others(folder, path, tables):
    other = folder / "y.pcapng"
    other.write_bytes(path.read_bytes())
    done = Run("compare", path, other, "--html", folder / "c.html", "--csv", folder / "ccsv")
    check_plain("compare", done.out)
    equal("compare", done.status, 0)
    check_page(folder / "c.html")
    for table in (folder / "ccsv").iterdir():
        check_table(table)
    copy = folder / "o.pcapng"
    equal("extract", Run("extract", path, "--stream", "0", *tables, "-w", copy).status, 0)
    made = [c for r in records.read(copy).records for c in r.comments if c.startswith("frame ")]
    check_plain("remarks", "".join(c + "\n" for c in made).encode())


def check_batch(folder, path, tables):
    """The capture in a directory that is called as it is."""
    inner = pathlib.Path(folder, "caps", path.stem or "x")
    inner.mkdir(parents=True)
    (inner / path.name).write_bytes(path.read_bytes())
    out = folder / "batch"
    done = Run("batch", folder / "caps", "-o", out, *tables)
    equal("batch", done.status, 0)
    check_plain("batch", done.out)
    for name in out.rglob("*"):
        name = str(name.relative_to(out))
        assert name.isascii() and name.isprintable() and ".." not in name.split("/"), name
    check_page(out / "index.html")
    check_table(out / "summary.csv")
    json.loads((out / "summary.json").read_text(encoding="utf-8"))
    with sqlite3.connect(f"file:{out}/rocescope.sqlite?mode=ro", uri=True) as connection:
        equal("captures", connection.execute(
            "SELECT count(*), sum(totals_packets) FROM captures").fetchall(), [(1, 20)])
    return schema_of(out / "rocescope.sqlite")


def check_missing(folder, name):
    """What cannot be read is told in one line, whatever it is called."""
    for command in ((), ("compare", "x"), ("extract", "-w", "o", "--stream", "0")):
        done = Run(*command, folder / "no" / name)
        equal(f"{command} of nothing", done.status, 3)


def check(text, folder, schemas):
    path = pathlib.Path(folder, file_name(text).decode("utf-8", "surrogateescape"))
    path.write_bytes(captured(text))
    tables = told(folder, text)
    check_reports(folder, path, tables)
    check_others(folder, path, tables)
    schemas.append(check_batch(folder, path, tables))
    equal("schema of the database", schemas[-1], schemas[0])
    check_missing(folder, path.name)


def main():
    failures, schemas = 0, []
    for name, text in STRINGS.items():
        if sys.argv[1:] and name not in ("plain", *sys.argv[1:]):
            continue
        with scratch() as folder:
            try:
                check(text, pathlib.Path(folder), schemas)
            except (AssertionError, ValueError, TypeError, LookupError, OSError,
                    sqlite3.Error, csv.Error) as problem:
                failures += 1
                print(f"{name}: FAILED: {type(problem).__name__}: {problem}")
    print(f"{failures} rows failed" if failures else "strings are text everywhere")
    return 1 if failures else 0


sys.exit(main())
