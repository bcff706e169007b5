# SPDX-License-Identifier: GPL-2.0-or-later
"""The parts of docs/performance.md and docs/scale.md that are measured: each stands between two comments,

    <!-- NAME, by make bench -->
    ...
    <!-- end -->

and is put there anew by whoever measures it; the rest of the page is written by hand."""

import re


def _pattern(name):
    return re.compile(rf"(<!-- {re.escape(name)}, by make bench -->\n).*?(<!-- end -->)",
                      re.S)


def has(path, name):
    return _pattern(name).search(path.read_text()) is not None


def put(path, name, text):
    """Raises ValueError if the page has no such part."""
    new, n = _pattern(name).subn(lambda found: f"{found[1]}{text.rstrip()}\n{found[2]}",
                                 path.read_text())
    if n != 1:
        raise ValueError(f"{path}: not one part \"{name}\"")
    path.write_text(new)


def table(head, rows):
    """In Markdown; the first column is text, the others are numbers or words."""
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join(lines) + "\n"
