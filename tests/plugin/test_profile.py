#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The configuration profile: Wireshark reads it without a complaint, every filter in it
matches something, every colour is used and can be read.

What tshark does not read (buttons, graphs, widths) is held against the formats that
Wireshark 4.0 to 4.6 share."""

import csv
import os
import re
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import packets as pk  # noqa: E402
from checks import PLUGIN, SOURCE, TS, Check, capture, main, write  # noqa: E402

PROFILE = SOURCE / "plugin/profile/RoCEv2"
LEAST_CONTRAST = 4.5  # of text, by WCAG 2.1, 1.4.3

# Captures of the tree that have something of all that filters look for.
CAPTURES = (
    ("03a_loss_data_0.5pct", "receiver.pcap.gz"),
    ("03d_loss_read_resp", "sender.pcap.gz"),
    ("04b_duplicate", "receiver.pcap.gz"),
    ("05a_rnr", "receiver.pcap.gz"),
    ("07a_nak_remote_access", "receiver.pcap.gz"),
    ("01_write_rc_cm", "sender.pcap.gz"),
    ("sim_incast_ecn", "h3.pcapng.gz"),
    ("sim_incast_pfc", "switch.pcapng.gz"),
)

STYLES = ("Line", "Impulse", "Bar", "Stacked Bar", "Dot", "Square", "Diamond", "Cross",
          "Plus", "Circle")
UNITS = ("Packets", "Bytes", "Bits", "SUM(Y Field)", "COUNT FRAMES(Y Field)",
         "COUNT FIELDS(Y Field)", "MAX(Y Field)", "MIN(Y Field)", "AVG(Y Field)",
         "LOAD(Y Field)")

RULE = re.compile(r"@([^@]+)@([^@]+)@\[(\d+),(\d+),(\d+)\]\[(\d+),(\d+),(\d+)\]")


def lines_of(name):
    """Without comments and empty lines."""
    text = (PROFILE / name).read_text(encoding="utf-8")
    return [line for line in text.splitlines() if line and not line.startswith("#")]


def records_of(name):
    """The rows of a table of Wireshark's: quoted, with \\x22 for a quote."""
    return [[cell.replace(r"\x22", '"') for cell in row] for row in csv.reader(lines_of(name))]


def rules():
    """(name, filter, background, foreground); colours of 16 bits each."""
    found = []
    for line in lines_of("colorfilters"):
        match = RULE.fullmatch(line)
        if match is None:
            raise ValueError(f"no colour rule: {line}")
        colours = [int(part) for part in match.groups()[2:]]
        found.append((match[1], match[2], colours[:3], colours[3:]))
    return found


def columns():
    """(title, format) of each column, shown or hidden."""
    text = "\n".join(lines_of("preferences"))
    block = re.search(r"^gui\.column\.format:\n((?:\t.*\n?)+)", text, re.MULTILINE)[1]
    return re.findall(r'\t"([^"]+)", "([^"]+)"', block)


def hidden():
    """Formats of the columns that are hidden at first."""
    line = next(l for l in lines_of("preferences") if l.startswith("gui.column.hidden: "))
    return line.split(": ", 1)[1].split(",")


def luminance(colour):
    parts = [part / 65535 for part in colour]
    linear = [p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear))


def contrast(one, other):
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def filters():
    """Every filter of the profile, with where it stands."""
    found = {text: f"colour rule {name}" for name, text, *_ in rules()}
    found |= {row[2]: f"button {row[1]}" for row in records_of("dfilter_buttons")}
    found |= {row[2]: f"graph {row[1]}" for row in records_of("io_graphs")}
    return found


def built():
    """What no capture of the tree has: damage, and an error of another protocol."""
    write_only = pk.bth(0x0a) + pk.reth() + bytes(64)
    short_ip = pk.ethernet(0x0800, b"\x45\x00\x00\x05" + pk.ipv4_header(0)[4:])
    return write("built.pcap", [pk.roce(write_only, bad_icrc=True), short_ip])


def samples():
    for name, file_name in CAPTURES:
        copy = TS.path(f"{name}.{file_name}")
        if not copy.exists():
            TS.copy(SOURCE / "captures" / name / file_name, copy.name)
        yield copy
    yield built()


def count(path, wanted):
    """Frames that each filter matches, when all that comes later is known."""
    out = TS.run("-q", "-2", "-r", path, "-z", ",".join(["io,stat,0", *wanted]))
    row = [line for line in out.splitlines() if "<>" in line][-1]
    numbers = [int(cell) for cell in row.split("|")[2:] if cell.strip()]
    return dict(zip(wanted, numbers[::2]))


class Files(Check):
    def test_nothing_else_is_in_it(self):
        self.assertEqual(sorted(p.name for p in PROFILE.iterdir()),
                         ["colorfilters", "dfilter_buttons", "io_graphs", "preferences",
                          "recent"])

    def test_texts_can_be_read_on_their_colours(self):
        for name, _, background, text in rules():
            with self.subTest(name):
                self.assertGreaterEqual(contrast(background, text), LEAST_CONTRAST)

    def test_buttons(self):
        for shown, label, text, tip in records_of("dfilter_buttons"):
            with self.subTest(label):
                self.assertEqual(shown, "TRUE")
                self.assertTrue(text and tip)

    def test_graphs(self):
        for row in records_of("io_graphs"):
            shown, name, _, colour, style, unit, field, average, factor = row
            with self.subTest(name):
                self.assertIn(shown, ("Enabled", "Disabled"))
                self.assertRegex(colour, "^#[0-9a-f]{6}$")
                self.assertIn(style, STYLES)
                self.assertIn(unit, UNITS)
                self.assertEqual(field == "", "Y Field" not in unit)
                self.assertEqual((average, factor), ("None", "1"))

    def test_every_column_has_a_width(self):
        widths = re.findall(r'^\t"?([^",]+)"?, \d+,?$', "\n".join(lines_of("recent")),
                            re.MULTILINE)
        # Of a column of our own, what stands before occurrence and kind.
        formats = [re.sub(r":\d+:[RU]$", "", form) for _, form in columns()]
        self.assertEqual(widths, formats)

    def test_what_is_hidden_is_there(self):
        self.assertLessEqual(set(hidden()), {form for _, form in columns()})


class Filters(Check):
    def test_every_filter_matches_something(self):
        left = filters()
        self.assertGreater(len(left), 20)
        # The statistics that count them split a list of filters at commas.
        self.assertEqual([text for text in left if "," in text], [])
        for path in samples():
            found = count(path, list(left))
            left = {text: place for text, place in left.items() if found[text] == 0}
            if not left:
                break
        self.assertEqual(left, {})


class Loaded(Check):
    """In tshark with -C RoCEv2."""

    @classmethod
    def setUpClass(cls):
        personal = TS.path("home-plugin/.config/wireshark/profiles/RoCEv2")
        shutil.copytree(PROFILE, personal, dirs_exist_ok=True)

    def test_without_a_complaint(self):
        self.assertEqual(TS.complaints("-C", "RoCEv2", "--color", "-r", built()), "")

    def test_columns(self):
        out = TS.run("-C", "RoCEv2", "-r", capture("03a_loss_data_0.5pct", "receiver"),
                     "-2", "-Y", "frame.number in {872, 878}", "-T", "tabs")
        ack, lost = [[cell.strip() for cell in line.split("\t")] for line in out.splitlines()]
        shown = [title for title, form in columns() if form not in hidden()]
        # Between source and destination tshark puts an arrow.
        ack, lost = ([c for c in row if c != "\u2192"] for row in (ack, lost))
        ack, lost = dict(zip(shown, ack)), dict(zip(shown, lost))
        self.assertEqual(
            {title: lost[title] for title in shown[2:]},
            {"Source": "10.77.1.1", "Destination": "10.77.1.2", "Stream": "0",
             "From QP": "0x000047", "To QP": "0x000047", "PSN": "231386", "Latency": "",
             "Length": "1082",
             "Info": "RC RDMA WRITE Middle QP=0x000047 PSN=231386 Len=1024 "
                     "[PSN 231386 lost before capture] [retransmission: nak sequence]"})
        self.assertEqual(ack["Latency"], "0.001306950")

    def colours(self, path, *arguments):
        """Frame number -> name of its rule."""
        rows = TS.fields(path, ["frame.number", "frame.coloring_rule.name"], "-C", "RoCEv2",
                         "--color", "-2", *arguments)
        return {int(row["frame.number"][0]): row["frame.coloring_rule.name"][0]
                for row in rows}

    def test_the_worst_rule_colours_a_packet(self):
        found = self.colours(capture("03a_loss_data_0.5pct", "receiver"))
        want = {1: "Everything else", 862: "RoCE", 863: "RoCE: PSNs missing",
                872: "RoCE: acknowledgement", 876: "RoCE: NAK, PSN sequence error",
                878: "RoCE: lost", 879: "RoCE: sent again"}
        self.assertEqual({number: found[number] for number in want}, want)

    def test_every_rule_colours_something(self):
        used = set()
        for path in samples():
            used |= set(self.colours(path).values())
        self.assertEqual({name for name, *_ in rules()} - used, set())


def documented_command():
    """How docs/wireshark.md installs for one user."""
    text = (SOURCE / "docs/wireshark.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```sh[^\n]*\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    return next(block for block in blocks if "/.config/wireshark/profiles" in block)


class ByHand(Check):
    @unittest.skipUnless(shutil.which("pkg-config"), "no pkg-config")
    def test_the_documented_command(self):
        """In a tree as `make` leaves it; both are then found in the user's directories."""
        tree, home = TS.path("tree"), TS.path("home-by-hand")
        (tree / "build/release/plugin").mkdir(parents=True)
        shutil.copy(PLUGIN, tree / "build/release/plugin/rocescope.so")
        (tree / "plugin").symlink_to(SOURCE / "plugin")
        home.mkdir()
        subprocess.run(["sh", "-ec", documented_command()], cwd=tree, check=True,
                       env={**os.environ, "HOME": str(home)})
        installed = [str(p.relative_to(home)) for p in home.rglob("*") if p.is_file()]
        self.assertCountEqual(installed, [
            f".local/lib/wireshark/plugins/{TS.version}/epan/rocescope.so",
            *(f".config/wireshark/profiles/RoCEv2/{p.name}" for p in PROFILE.iterdir())])


if __name__ == "__main__":
    sys.exit(main())
