#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""docs/report.md explains every number, and in its place.

  - Every key of the schema stands in a section about the part of the report it belongs to.
  - No row of a table names something without a word about it.
  - Every section about a part of the report says what that part cannot show.
  - Every heading of the text report, and every column of its tables, is explained; of a
    comparison in docs/compare.md, of which every key of its schema is.
"""

import json
import os
import pathlib
import re
import sys

SOURCE = pathlib.Path(os.environ.get("ROCESCOPE_SOURCE",
                                     pathlib.Path(__file__).resolve().parents[2]))
PAGE = (SOURCE / "docs/report.md").read_text()
SCHEMA = json.loads((SOURCE / "docs/report.schema.json").read_text())
TOP = "JSON: the top level"
LEAST_WORDS = 3
# Where the text of another report than that of one capture is explained.
PAGES = {"text_compare.c": "docs/compare.md"}
failed = []

# Part of the report -> the sections that explain what is in it.
SECTIONS = {
    "schema_version": [TOP], "tool": [TOP], "unattributed": [TOP], "streams_omitted": [TOP],
    "capture": ["Capture"], "totals": ["Counters"],
    "streams": ["Streams", "Counters", "Congestion", "Priorities", "Paths"],
    "connections": ["Connections"], "pauses": ["Pauses"], "pause_cycle": ["Pauses"],
    "congestion": ["Congestion"], "timeline": ["Timeline"], "incast": ["Incast"],
    "receivers": ["Receiver or network"], "spreading": ["Load spreading"],
    "elephants": ["Elephants"], "bursts": ["Bursts"], "background": ["Background"],
    "dcb": ["Ports and their priorities (DCBX)"], "priorities": ["Priorities"],
    "paths": ["Paths"], "counters": ["Counters of NICs"], "rhythm": ["Rhythm"],
    "collective": ["Collective"], "admission": ["Admission"],
    "collective_omitted": ["Admission"], "events": ["Events"], "event_totals": [TOP],
    "findings": ["Findings"],
}
# What prints the report of another command -> the page that explains it.
PAGE_OF = {"text_compare.c": "compare.md"}
# What many parts have, explained once.
SHARED = ["Rules that hold everywhere", "Latencies", "Streams"]


def check(name, problems):
    if problems:
        failed.append(name)
        print(f"FAILED {name}")
        for problem in problems:
            print(f"    {problem}")


def section(page, heading):
    """The text below a heading, with the headings below it; "" if there is none."""
    found = re.search(rf"^(#+) {re.escape(heading)}$", page, re.MULTILINE)
    if not found:
        return ""
    rest = page[found.end():]
    end = re.search(rf"^#{{1,{len(found.group(1))}}} ", rest, re.MULTILINE)
    return rest[:end.start()] if end else rest


def code_words(text):
    spans = re.findall(r"`([^`\n]+)`", text)
    return {word for span in spans for word in re.findall(r"[\w.]*\w", span)}


def keys_below(node, definitions=SCHEMA["$defs"], seen=()):
    """Every key that a part of a schema may have."""
    keys = set()
    if isinstance(node, list):
        return keys.union(*(keys_below(item, definitions, seen) for item in node))
    if not isinstance(node, dict):
        return keys
    reference = node.get("$ref")
    if reference and reference not in seen:
        keys |= keys_below(definitions[reference.rsplit("/", 1)[1]], definitions,
                           (*seen, reference))
    for key, value in node.get("properties", {}).items():
        keys |= {key} | keys_below(value, definitions, seen)
    for word in ("items", "anyOf", "allOf", "additionalProperties"):
        keys |= keys_below(node.get(word), definitions, seen)
    return keys


def check_keys():
    shared = set().union(*(code_words(section(PAGE, heading)) for heading in SHARED))
    hosts = keys_below(SCHEMA["$defs"]["host"])
    dist = keys_below(SCHEMA["$defs"]["dist"])
    for part, node in SCHEMA["properties"].items():
        if part not in SECTIONS:
            check(part, ["this part of the report has no section in SECTIONS"])
            continue
        texts = [section(PAGE, heading) for heading in SECTIONS[part]]
        check(f"{part}: its sections", [heading for heading, text in
                                        zip(SECTIONS[part], texts) if not text])
        words = set().union(*map(code_words, texts)) | (shared & (hosts | dist))
        keys = keys_below(node)
        check(f"{part}: keys that its sections do not explain", sorted(keys - words))
    check("parts of SECTIONS that the schema does not have",
          sorted(set(SECTIONS) - set(SCHEMA["properties"])))


def rows(text):
    """The rows of all tables but their heads, as lists of cells."""
    lines = text.splitlines()
    for line, below in zip(lines, [*lines[1:], ""]):
        if line.startswith("|") and not any(re.fullmatch(r"[|\-: ]+", x) for x in (line, below)):
            yield [cell.strip() for cell in line.strip().strip("|").split(" | ")]


def check_rows():
    problems = []
    for cells in rows(PAGE):
        explained = max((len(cell.split()) for cell in cells[1:]), default=0)
        if cells[0].startswith("`") and explained < LEAST_WORDS:
            problems.append(" | ".join(cells))
    check("rows that name something and hardly explain it", problems)


def check_comparison():
    schema = json.loads((SOURCE / "docs/compare.schema.json").read_text())
    words = code_words((SOURCE / "docs/compare.md").read_text())
    keys = keys_below(schema, schema["$defs"])
    check("compare.md: some keys to look for", [] if "lost_sent_again" in keys else [keys])
    check("compare.md: keys that it does not explain", sorted(keys - words))


def check_limits():
    headings = sorted({heading for part in SECTIONS.values() for heading in part} - {TOP})
    check("sections that do not say what they cannot show",
          [heading for heading in headings if "annot show" not in section(PAGE, heading)])


def check_text_report():
    sources = [*sorted((SOURCE / "analyzer").glob("text_*.c")),
               SOURCE / "analyzer/report_text.c"]
    for source in sources:
        page = (SOURCE / PAGES.get(source.name, "docs/report.md")).read_text()
        text = section(page, "The text report")
        words = set(re.findall(r"`([^`\n]+)`", text))
        code = source.read_text()
        page = SOURCE / "docs" / PAGE_OF.get(source.name, "report.md")
        text = section(page.read_text(), "The text report")
        words = set(re.findall(r"`([^`\n]+)`", text))
        titles = set(re.findall(r'\{"([^"]+)", (?:TRUE|FALSE), \d, (?:TRUE|FALSE)\}', code))
        check(f"{source.name}: columns", sorted(titles - words))
        headings = re.findall(r'rs_text_heading\(\w+,\s*"([^"]+)"', code)
        check(f"{source.name}: headings",
              [heading for heading in headings if not re.search(
                  rf"^(\| {re.escape(heading)} \||#+ {re.escape(heading)}$)"
                  rf"|\*{re.escape(heading)}\*", text, re.MULTILINE)])
    check("columns of the text report: some to look for", [] if "marks held back" in
          "".join(s.read_text() for s in sources) else ["none"])


def check_checks():
    page = ("# A\nx\n## B\n`b.c` d\n### C\ny\n## D\n| a | b |\n|---|---|\n"
            "| `k` | |\n| `l` | a b c |\n")
    for row, got, want in (
            ("section", section(page, "B"), "\n`b.c` d\n### C\ny\n"),
            ("section, below", section(page, "C"), "\ny\n"),
            ("section, none", section(page, "E"), ""),
            ("code_words", code_words("`b.c` d `e f`"), {"b.c", "e", "f"}),
            ("rows", list(rows(page)), [["`k`", ""], ["`l`", "a b c"]])):
        check(f"check: {row}", [] if got == want else [got])
    check("check: keys_below", [] if {"requests", "gaps", "marked_share", "id"} <=
          keys_below(SCHEMA["properties"]["streams"]) else ["too few"])


for part in (check_checks, check_keys, check_rows, check_comparison, check_limits,
             check_text_report):
    part()
print(f"{len(failed)} failed" if failed else "every number is explained")
sys.exit(1 if failed else 0)
