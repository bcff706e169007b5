#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""docs/limits.md says what tests/hostile checks, and what the source has: its tables are
those that `test_limits.py --write` makes."""

import pathlib
import re
import sys

from bounded import SOURCE
import rows_files
import rows_traffic

PAGE = SOURCE / "docs/limits.md"

# What is kept, the constant that bounds it, and how the report says that it was reached.
CAPS = (
    ("streams", "core/tracker.c", r"\.max_streams = (.+),", "`evicted`, finding `tables_full`"),
    ("connections", "core/connection.c", "MAX_CONNECTIONS", "`evicted`, finding `tables_full`"),
    ("sources of pauses: a point, MAC address and priority", "core/stop.c", "MAX_SOURCES",
     "`evicted`, finding `tables_full`"),
    ("ways that CNPs take", "core/pacing.c", "MAX_WAYS", "`evicted`, finding `tables_full`"),
    ("tunnels and mirrors around a packet", "include/roce/packet.h", "ROCE_MAX_TUNNELS",
     "what is deeper is no RoCE packet"),
    ("VLAN tags of a packet", "include/roce/packet.h", "ROCE_MAX_VLANS",
     "what is behind more is no RoCE packet"),
    ("MPLS labels of a packet", "core/tunnel.c", "MPLS_MAX_LABELS",
     "what is behind more is no RoCE packet"),
    ("extension headers of an IPv6 packet", "core/network.c", "IPV6_MAX_EXTENSIONS",
     "what is behind more is no RoCE packet"),
    ("points that the headers of mirrors make", "include/roce/origin.h", "ROCE_MAX_ORIGINS",
     "the rest counts for the interface it came through"),
    ("interfaces of a pcapng file", "analyzer/reader_pcapng.c", "MAX_INTERFACES",
     "`damaged_at`, exit status 3"),
    ("bytes of a pcapng block", "analyzer/reader_pcapng.c", "MAX_BLOCK_BYTES",
     "`damaged_at`, exit status 3"),
    ("captured bytes of a packet", "analyzer/reader.h", "RS_MAX_CAPTURED_BYTES",
     "`damaged_at`, exit status 3"),
    ("flows of other traffic", "analyzer/background.c", "MAX_FLOWS",
     "the rest is added up as one"),
    ("ports that send LLDP", "analyzer/dcb.c", "MAX_PORTS", "the rest is not listed"),
    ("streams of which it is told what slowed them down", "analyzer/receiver.c", "MAX_STREAMS",
     "`not_counted`"),
    ("receivers whose incast is told", "analyzer/incast.c", "MAX_RECEIVERS", "`not_counted`"),
    ("bytes of how several files take turns", "analyzer/file_frames.h", "RS_FILE_FRAMES_BYTES",
     "findings name no frames of what is read later"),
)


def value_of(path, name):
    """A constant of the source, by name or by a pattern."""
    text = (SOURCE / path).read_text(encoding="utf-8")
    pattern = name if "(" in name else rf"#define {name} (.+)"
    expression = re.search(pattern, text)[1].split("/*")[0]
    if not re.fullmatch(r"[0-9u()*< ]+", expression):
        raise ValueError(f"{path}: {name} is {expression}")
    return eval(expression.replace("u", "")) # numbers and operators alone


def table(head, rows):
    lines = [head, ["---"] + ["--:" if cell[:1].isdigit() else "---" for cell in rows[0][1:]], *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def tables():
    caps = [(what, f"{value_of(path, name):,}", said) for what, path, name, said in CAPS]
    traffic = [(r.what, f"{r.n:,}", f"{r.most_mib} MiB") for r in rows_traffic.ROWS]
    files = [(r.what, str(r.status), f"{r.most_mib} MiB") for r in rows_files.ROWS if r.what]
    return {"caps": table(("of", "at most", "beyond it"), caps),
            "traffic": table(("traffic", "packets", "memory at most"), traffic),
            "files": table(("file", "exit status", "memory at most"), files)}


def written(page):
    for name, content in tables().items():
        page, n = re.subn(rf"(<!-- {name}, by test_limits.py --write -->\n).*?(<!-- end -->)",
                          lambda found, content=content: f"{found[1]}{content}\n{found[2]}",
                          page, flags=re.DOTALL)
        if n != 1:
            raise ValueError(f"{PAGE}: no place for {name}")
    return page


def main():
    page = PAGE.read_text(encoding="utf-8")
    if sys.argv[1:] == ["--write"]:
        PAGE.write_text(written(page), encoding="utf-8")
    elif written(page) != page:
        print(f"{PAGE} is out of date; run {pathlib.Path(__file__).name} --write")
        return 1
    return 0


sys.exit(main())
