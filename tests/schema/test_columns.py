#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Every column is a path into the schema and of its type, and whatever the schema has of a
kind of row is a column, but for what stands in LEFT_OUT with the reason."""

import json
import os
import pathlib
import sys

SOURCE = pathlib.Path(os.environ.get("ROCESCOPE_SOURCE",
                                     pathlib.Path(__file__).resolve().parents[2]))
BINARY = os.environ.get("ROCESCOPE", str(SOURCE / "build/dev/bin/rocescope"))
sys.path.insert(0, str(SOURCE / "tests"))

import sheets as tables  # noqa: E402

SCHEMA = json.loads((SOURCE / "docs/report.schema.json").read_text())
TYPES = {"integer": "integer", "number": "real", "string": "text", "boolean": "boolean"}
FAILED = []

# Where the schema says what a row of a table is.
ROWS = {
    "captures": "", "streams": "streams.*", "connections": "connections.*",
    "pauses": "pauses.*", "background": "background.*", "findings": "findings.*",
    "events": "events.*", "timeline": "timeline.series.*",
}

# Path below a row -> why it is no column.  "…" at the end: and what is below.
LEFT_OUT = {
    "captures": {
        **{f"{key}…": "a table of its own, or a part of the report that is no table"
           for key in ("streams.", "connections.", "pauses.", "congestion.", "pause_cycle.",
                       "timeline.", "incast.", "receivers.", "spreading.", "elephants.",
                       "bursts.", "background.", "dcb.", "priorities.", "paths.",
                       "counters.", "rhythm.", "collective.", "admission.",
                       "collective_omitted.", "events.", "event_totals.", "findings.")},
        "schema_version": "of the JSON report", "tool.name": "always the same",
        "capture.files…": "files", "capture.points…": "points",
    },
    "streams": {"data_dscps.*.packets": "a list of two values is no text",
                "path.ttls.*.packets": "the same", "opcodes…": "stream_opcodes",
                "congestion.episodes.…": "ce_episodes",
                "congestion.marked_between.segments…": "ce_segments",
                "congestion.cnp_bursts.…": "cnp_bursts"},
    "pauses": {"intervals…": "pause_intervals", "causes…": "pause_causes",
               "victims.streams…": "pause_victims", "bystanders…": "pause_bystanders",
               "watchdogs…": "pause_watchdogs"},
    "pause_watchdogs": {"source": "a sentence; docs/report.md has it"},
    "findings": {"thresholds…": "the same for all findings of a kind",
                 "look_at…": "the same", "streams…": "finding_streams",
                 "files…": "finding_files"},
}


def check(name, problems):
    if problems:
        FAILED.append(name)
        print(f"FAILED {name}")
        for problem in problems:
            print(f"    {problem}")


def resolved(node):
    while "$ref" in node:
        node = {**{k: v for k, v in node.items() if k != "$ref"},
                **SCHEMA["$defs"][node["$ref"].rsplit("/", 1)[1]]}
    return node


def branches(node):
    """A node, and what anyOf and allOf add to it."""
    node = resolved(node)
    yield node
    for word in ("anyOf", "allOf"):
        for branch in node.get(word, []):
            yield from branches(branch)


def child(node, key):
    """The schemas below a key of a schema, or below "*" for elements; maybe none."""
    found = []
    for branch in branches(node):
        if key == "*" or key.isdigit():
            found += [branch["items"]] if "items" in branch else []
        elif key in branch.get("properties", {}):
            found.append(branch["properties"][key])
    return {"anyOf": found} if found else None


def below(node, path):
    for key in path:
        node = child(node, key) if node else None
    return node


def types(node):
    """The JSON types that a schema allows."""
    found = set()
    for branch in branches(node):
        named = branch.get("type", [])
        found |= {named} if isinstance(named, str) else set(named)
        for value in branch.get("enum", [branch["const"]] if "const" in branch else []):
            found.add("null" if value is None else {int: "integer", str: "string"}[type(value)])
    return found


def leaves(node, path=()):
    """The paths of all values below a schema."""
    kinds = types(node)
    if kinds & {"string", "integer", "number", "boolean"}:
        yield ".".join(path)
    for branch in branches(node):
        for key, value in branch.get("properties", {}).items():
            yield from leaves(value, (*path, key))
        if "items" in branch:
            yield from leaves(branch["items"], (*path, "*"))
        if isinstance(branch.get("additionalProperties"), dict):
            yield ".".join((*path, "?"))


def row_schema(sheets, sheet):
    """What the schema says of a table's rows; of one that belongs to another, of `item`."""
    if sheet.of is None:
        return below(SCHEMA, [key for key in ROWS[sheet.name].split(".") if key])
    found = below(row_schema(sheets, sheets[sheet.of]), sheet.list.split("."))
    inside = [branch[word] for branch in branches(found or {}) for word in
              ("items", "additionalProperties") if isinstance(branch.get(word), dict)]
    return {"anyOf": inside} if inside else None


def problem_of(column, node):
    """What is wrong with a column whose path leads to a node."""
    if node is None:
        return "the schema has no such path"
    kinds = types(node) - {"null"}
    if column.type == "text":
        allowed = {"string", "integer", "array"}
    else:
        allowed = {kind for kind, name in TYPES.items() if name == column.type}
        allowed |= {"integer"} if column.type == "real" else set()
    return None if kinds and kinds <= allowed else f"is {sorted(kinds)}, not {column.type}"


def check_sheet(sheets, sheet):
    schema, covered, problems = row_schema(sheets, sheet), set(), []
    if schema is None:
        check(sheet.name, ["the schema has no such rows"])
        return
    for column in sheet.columns:
        path = column.path
        if sheet.of is not None:
            if path in (["of"], ["key"]):
                continue
            path = path[1:] if path[0] == "item" else ["(not below item)"]
        if sheet.name == "timeline" and path in (["start_ns"], ["bin_ns"]):
            node = below(SCHEMA, ["timeline", *path])
        elif sheet.name == "timeline" and path != ["of"] and path != ["id"]:
            node = below(schema, [*path, "*"])     # a row of bins; here one of them
            path = [key if not key.isdigit() else "*" for key in [*path, "*"]]
        else:
            node = below(schema, path)
        problem = problem_of(column, node)
        if problem:
            problems.append(f"{column.name}: {'.'.join(path)}: {problem}")
        way = ".".join(path)
        covered |= {way, way + ".*"}
    check(f"{sheet.name}: columns", problems)
    left_out = LEFT_OUT.get(sheet.name, {})
    missing = [leaf for leaf in leaves(schema) if leaf not in covered
               and not any(leaf == rule or rule.endswith("…") and leaf.startswith(rule[:-1])
                           for rule in left_out)]
    check(f"{sheet.name}: in the schema and no column", missing)
    every = list(leaves(schema))
    check(f"{sheet.name}: left out and not in the schema",
          [rule for rule in left_out if rule.rstrip("…") and not
           any(leaf.startswith(rule.rstrip("…").rstrip(".")) for leaf in every)])


def check_checks(sheets):
    """That these checks can fail."""
    packets = tables.Column("x", ["packets"], "integer", "", None)
    stream = row_schema(sheets, sheets["streams"])
    for row, path, kind, fails in (
            ("an integer", ["packets"], "integer", False),
            ("no such path", ["packet"], "integer", True),
            ("an integer as a boolean", ["packets"], "boolean", True),
            ("a text as an integer", ["src"], "integer", True),
            ("a share as an integer", ["congestion", "marked_share"], "integer", True),
            ("an object", ["requests"], "text", True),
            ("a list", ["vlans"], "text", False), ("a list as an integer", ["vlans"],
                                                   "integer", True)):
        packets.type = kind
        check(f"check: {row}", [] if bool(problem_of(packets, below(stream, path))) == fails
              else ["is not told"])
    check("check: leaves", [] if "requests.gaps" in set(leaves(stream)) else ["too few"])


def main():
    sheets = tables.of_program(BINARY)
    check("sheets", [] if len(sheets) > 10 and "streams" in sheets else [list(sheets)])
    check_checks(sheets)
    for sheet in sheets.values():
        check_sheet(sheets, sheet)
    print(f"{len(FAILED)} failed" if FAILED else "every column is a path into the schema")
    return 1 if FAILED else 0


if __name__ == "__main__":
    sys.exit(main())
