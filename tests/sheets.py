# SPDX-License-Identifier: GPL-2.0-or-later
"""The program's tables as `rocescope --list-columns` prints them, and their rows as they
follow from a JSON report.  Written a second time, on purpose: tests compare with it."""

import dataclasses
import re
import subprocess

SEPARATOR = " "


@dataclasses.dataclass
class Column:
    name: str
    path: list      # keys, indices, "*"
    type: str       # integer, real, text, boolean
    what: str
    refers: str     # a sheet, or None


@dataclasses.dataclass
class Sheet:
    name: str
    what: str
    of: str         # the sheet it belongs to, or None
    list: str       # path in a row of that one
    columns: list


def parse(text, level="##"):
    """Name -> Sheet, in their order: those with headings of a level."""
    sheets = {}
    for part in re.split(rf"^{level} ", text, flags=re.MULTILINE)[1:]:
        heading = re.match(r"`(\w+)`\n", part)
        if not heading:
            continue    # about the database
        name = heading.group(1)
        belongs = re.search(r"Belong to `(\w+)`: the elements of `([\w.]+)`", part)
        columns = []
        for line in re.findall(r"^\| `.*\|$", part, flags=re.MULTILINE):
            cells = [cell.strip() for cell in line.strip("|").split("|")]
            refers = re.search(r"; refers to `(\w+)`$", cells[3])
            columns.append(Column(cells[0].strip("`"), cells[1].strip("`").split("."),
                                  cells[2], cells[3], refers and refers.group(1)))
        sheets[name] = Sheet(name, part.split("\n\n")[1], belongs and belongs.group(1),
                             belongs and belongs.group(2), columns)
    return sheets


def _listed(binary):
    return subprocess.run([binary, "--list-columns"], check=True, capture_output=True,
                          text=True).stdout


def of_program(binary):
    return parse(_listed(binary))


def of_comparison(binary):
    return parse(_listed(binary).split("\n## Of a comparison\n")[1], "###")


def look_up(node, path):
    """What a path leads to; of an array a list.  KeyError or IndexError: nowhere."""
    for i, key in enumerate(path):
        if node is None:
            return None
        if key == "*":
            return [look_up(item, path[i + 1:]) for item in node]
        node = node[int(key) if isinstance(node, list) else key]
    return node


def value(row, column):
    """As a database has it: a list is a text, its elements joined."""
    found = look_up(row, column.path)
    if isinstance(found, list):
        return SEPARATOR.join(map(str, found))
    if column.type == "text" and isinstance(found, int):
        return str(found)
    return found


def _bins(series, bin_i):
    """One bin of a series of the time line."""
    def at(node):
        if not isinstance(node, list):
            return node
        return [at(row) for row in node] if node and not isinstance(node[0], int) \
            else node[bin_i]
    return {key: at(node) for key, node in series.items()}


def _timeline(report):
    timeline = report["timeline"] or {"series": []}
    for series in timeline["series"]:
        for i in range(len(series["bits"])):
            yield {**_bins(series, i), "bin_ns": timeline["bin_ns"],
                   "start_ns": timeline["start_ns"] + i * timeline["bin_ns"]}


def rows(sheets, sheet, report):
    """The objects that a sheet's rows are made of."""
    if sheet.name == "captures":
        yield report
    elif sheet.name == "timeline":
        yield from _timeline(report)
    elif sheet.of is None:
        yield from report[sheet.name] or []
    else:
        for parent in rows(sheets, sheets[sheet.of], report):
            found = look_up(parent, sheet.list.split(".")) or []
            pairs = found.items() if isinstance(found, dict) else [(None, x) for x in found]
            for key, item in pairs:
                yield {"of": parent.get("id"), "key": key, "item": item}


def rows_of_comparison(sheet, report):
    """Likewise, of what `rocescope compare` writes."""
    for parent in report[sheet.of or sheet.name]:
        if sheet.of is None:
            yield parent
        else:
            yield from ({"of": parent, "item": item} for item in parent[sheet.list])
