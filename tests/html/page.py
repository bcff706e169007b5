# SPDX-License-Identifier: GPL-2.0-or-later
"""An HTML page taken apart as a browser without scripts sees it."""

import base64
import hashlib
import html.parser
import json

VOID = {"meta", "br", "img", "input", "link", "hr"}
RAW = {"script", "style"}
# What a browser ends by itself is not relied upon: every element is closed.


class Page(html.parser.HTMLParser):
    """elements: (tag, attributes) of all; text: all that is seen, without scripts;
    blocks: (tag, attributes, content) of scripts and styles; faults: what is not well
    formed; tables: by id, rows as lists of (text, attributes)."""

    def __init__(self, markup):
        super().__init__(convert_charrefs=True)
        self.elements, self.blocks, self.faults = [], [], []
        self.tables, self.details = {}, []
        self.open, self.seen = [], []
        self.table = self.cell = None
        self.feed(markup)
        self.close()
        self.faults += [f"<{tag}> is never closed" for tag, _ in self.open]
        self.text = " ".join("".join(self.seen).split())
        self.ids = {a["id"] for _, a in self.elements if "id" in a}

    def handle_starttag(self, tag, attributes):
        names = [name for name, _ in attributes]
        if len(set(names)) != len(names):
            self.faults.append(f"<{tag}> has an attribute twice")
        attributes = dict(attributes)
        self.elements.append((tag, attributes))
        if tag not in VOID:
            self.open.append((tag, attributes))
        if tag in RAW:
            self.blocks.append((tag, attributes, ""))
        if tag == "table":
            self.table = self.tables[attributes["id"]] = []
        elif tag == "tr" and self.table is not None:
            self.table.append([])
        elif tag in ("td", "th") and self.table is not None:
            self.cell = [[], attributes]

    def handle_startendtag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        if not self.open or self.open[-1][0] != tag:
            self.faults.append(f"</{tag}> does not close {self.open[-1:]}")
            return
        self.open.pop()
        if tag in ("td", "th") and self.cell is not None:
            text, attributes = self.cell
            self.table[-1].append((" ".join("".join(text).split()), attributes))
            self.cell = None
        elif tag == "table":
            self.table = None

    def handle_data(self, data):
        if self.open and self.open[-1][0] in RAW:
            tag, attributes, content = self.blocks[-1]
            self.blocks[-1] = (tag, attributes, content + data)
            return
        self.seen.append(data)
        if self.cell is not None:
            self.cell[0].append(data)

    def scripts(self):
        """Contents of the scripts that run."""
        return [content for tag, attributes, content in self.blocks
                if tag == "script" and "type" not in attributes]

    def data(self, name):
        """The block of data of that name."""
        found = [content for tag, attributes, content in self.blocks
                 if attributes.get("id") == f"data-{name}"]
        return json.loads(found[0]) if found else None

    def policy(self):
        """The Content-Security-Policy: directive -> its sources."""
        content = [a["content"] for tag, a in self.elements
                   if tag == "meta" and a.get("http-equiv") == "Content-Security-Policy"]
        words = [part.split() for part in content[0].split(";")]
        return {directive: sources for directive, *sources in words}

    def rows(self, table):
        """The rows of a table: heading -> (text, attributes)."""
        head, *body = self.tables[table]
        names = [text for text, _ in head]
        return [dict(zip(names, row)) for row in body]


def source_of(content):
    """How a policy names an inline script or style."""
    digest = hashlib.sha256(content.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"
