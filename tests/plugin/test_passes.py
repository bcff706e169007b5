#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The analysis of a packet does not depend on how it is looked at: in one pass or two,
behind a filter, in any order of clicking, or again after a preference has changed."""

import gzip
import os
import random
import shutil
import struct
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from checks import PLUGIN, TS, Check, capture, main  # noqa: E402
from sharkd import Sharkd  # noqa: E402
from tshark import Tshark, number  # noqa: E402

IGNORE_FRAME = os.environ.get("ROCESCOPE_IGNORE_FRAME")

CAPTURES = ("03a_loss_data_0.5pct", "04a_reorder", "05a_rnr", "03d_loss_read_resp")
PREFIX = "rocev2.analysis."

# What is known of a packet when it arrives ...
AT_ONCE = [PREFIX + name for name in (
    "stream", "expected_psn", "gap", "gap.psn", "gap.behind", "late", "late.passed_by",
    "duplicate", "duplicate.of", "retransmission", "retransmission.of",
    "retransmission.nak", "round", "round.nak", "nak", "nak.provoked_by", "rnr_nak",
    "rnr_wait", "read_reissue", "response_resent", "ecn_transition", "cnp",
    "request_in", "acked", "acked.psn", "ack_latency", "read_latency", "nak_generation",
    "nak_reaction", "recovery", "loss.psn", "loss.evidence", "message.first_frame")]
# ... and what only later packets tell.
LATER = [PREFIX + name for name in (
    "retransmitted_in", "nak_in", "nak.answered_in", "acked_in", "response_in", "fate",
    "message.last_frame")]


class Passes(Check):
    def test_one_pass_and_two(self):
        for name in CAPTURES:
            for end in ("sender", "receiver"):
                with self.subTest(f"{name}/{end}"):
                    path = capture(name, end)
                    columns = ["frame.number", *AT_ONCE]
                    once = TS.fields(path, columns)
                    twice = TS.fields(path, columns, "-2")
                    self.assertEqual(once, twice)
                    self.assertTrue(any(row[PREFIX + "acked"] for row in once))

    def test_later_packets_tell_in_the_second_pass(self):
        rows = {1: [], 2: []}
        for name, end in (("03a_loss_data_0.5pct", "sender"), ("05a_rnr", "receiver"),
                          ("03a_loss_data_0.5pct", "receiver"), ("02a_read_bw", "sender")):
            rows[1] += TS.fields(capture(name, end), LATER)
            rows[2] += TS.fields(capture(name, end), LATER, "-2")
        for name in LATER:
            with self.subTest(name):
                early = sum(len(row[name]) for row in rows[1])
                late = sum(len(row[name]) for row in rows[2])
                self.assertGreater(late, early)
                self.assertTrue(early == 0 or name.endswith("last_frame"))

    def test_behind_a_filter(self):
        path = capture("03a_loss_data_0.5pct", "receiver")
        columns = ["frame.number", *AT_ONCE, *LATER]
        every = {row["frame.number"][0]: row for row in TS.fields(path, columns, "-2")}
        for text in ("rocev2.analysis.retransmission", "rocev2.analysis.nak",
                     "frame.number > 800", "rocev2.analysis.fate || rocev2.analysis.loss"):
            with self.subTest(text):
                rows = TS.fields(path, columns, "-2", "-Y", text)
                self.assertGreater(len(rows), 0)
                self.assertEqual(rows, [every[row["frame.number"][0]] for row in rows])

    def test_behind_a_read_filter(self):
        """What a read filter drops was analysed; its number goes to another packet."""
        columns = [name for name in AT_ONCE if not name.endswith(
            (".of", ".nak", ".behind", ".passed_by", ".provoked_by", "request_in",
             "first_frame"))]
        for name, text in (("05a_rnr", "infiniband.aeth"), ("05a_rnr", "rocev2"),
                           ("03a_loss_data_0.5pct", "frame.len > 100")):
            with self.subTest(f"{name}: {text}"):
                path = capture(name, "receiver")
                every = {row["frame.time_epoch"][0]: row for row in
                         TS.fields(path, ["frame.time_epoch", *columns], "-2")}
                rows = TS.fields(path, ["frame.time_epoch", *columns], "-2", "-R", text)
                self.assertGreater(len(rows), 10)
                self.assertEqual(rows, [every[row["frame.time_epoch"][0]] for row in rows])

    def test_an_ignored_frame(self):
        """Of TCP, of RoCE, the first and the last: the others are analysed as they were, and
        what stands on frames behind it as well."""
        path = capture("03a_loss_data_0.5pct", "receiver")
        columns = ["frame.number", PREFIX + "stream", PREFIX + "loss"]
        rows = TS.fields(path, columns, "-2")
        strangers = [i for i, row in enumerate(rows) if not row[PREFIX + "stream"]]
        self.assertGreater(len(strangers), 3)
        for at in (strangers[1], 1000, 0, len(rows) - 1):
            number = rows[at]["frame.number"][0]
            with self.subTest(number):
                got = self.ignoring(number, path, columns)
                self.assertEqual([row[PREFIX + "stream"] for row in got],
                                 [[] if i == at else row[PREFIX + "stream"]
                                  for i, row in enumerate(rows)])
                self.assertGreaterEqual(sum(len(row[PREFIX + "loss"]) for row in got), 11)

    def ignoring(self, number, path, columns):
        tshark = Tshark(PLUGIN, IGNORE_FRAME, {"ROCESCOPE_IGNORE": number})
        try:
            return tshark.fields(tshark.copy(path, path.name), columns, "-2")
        finally:
            tshark.close()

    def test_links_behind_a_read_filter(self):
        """They lead to what is still shown, by its new number, or nowhere."""
        path = capture("05a_rnr", "receiver")
        rows = TS.fields(path, ["frame.number", "rocev2.bth.psn", "rocev2.analysis.rnr_nak",
                                PREFIX + "rnr_wait.nak", PREFIX + "rnr_nak.request"],
                         "-2", "-R", "infiniband.aeth || rocev2.analysis.rnr_wait")
        numbered = {row["frame.number"][0]: row for row in rows}
        links = [numbered[number] for row in rows for number in row[PREFIX + "rnr_wait.nak"]]
        self.assertGreater(len(links), 10)
        self.assertTrue(all(row["rocev2.analysis.rnr_nak"] for row in links))

    def test_packets_without_stamps(self):
        """What has none (a Simple Packet Block) came with the packet before: no timeout of
        years is seen, and causes are those of the same capture with all stamps."""
        def block(kind, body):
            body += bytes(-len(body) % 4)
            size = struct.pack("<I", len(body) + 12)
            return struct.pack("<I", kind) + size + body + size

        data = gzip.decompress(capture("03a_loss_data_0.5pct", "sender").read_bytes())
        out, at, n = [block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1)),
                      block(1, struct.pack("<HHIHHB", 1, 0, 0, 9, 1, 9))], 24, 0
        while at < len(data):
            seconds, ns, kept, wire = struct.unpack_from("<4I", data, at)
            stamp = seconds * 10**9 + ns
            body = data[at + 16:at + 16 + kept]
            out.append(block(3, struct.pack("<I", wire) + body) if n % 5 == 0 else block(
                6, struct.pack("<5I", 0, stamp >> 32, stamp & 0xFFFFFFFF, kept, wire) + body))
            at, n = at + 16 + kept, n + 1
        path = TS.path("unstamped.pcapng")
        path.write_bytes(b"".join(out))
        path.chmod(0o644)
        causes = [PREFIX + name for name in ("retransmission", "round", "round.nak")]
        rows = TS.fields(path, causes)
        whole = TS.fields(capture("03a_loss_data_0.5pct", "sender"), causes)
        self.assertEqual([i for i, row in enumerate(whole) if row != rows[i]], [])
        self.assertEqual(TS.frames(path, PREFIX + "round.duration > 1000"), [])


class Messages(Check):
    # Opcodes that end a message: Last and Only of SENDs and WRITEs, then of READ responses.
    REQUESTS, RESPONSES = {2, 3, 4, 5, 8, 9, 10, 11}, {0x0f, 0x10}

    def test_what_is_sent_again_is_not_the_last_packet(self):
        first, last = PREFIX + "message.first_frame", PREFIX + "message.last_frame"
        n_again = 0
        for name in ("03a_loss_data_0.5pct", "03d_loss_read_resp", "03c_loss_ack"):
            ends = {}  # first frame of a message -> frames that carry its last packet
            path = capture(name, "sender")
            rows = TS.fields(path, ["frame.number", "rocev2.bth.opcode", first, last], "-2",
                             "-Y", first)
            for row in rows:
                if number(row["rocev2.bth.opcode"][0]) in self.REQUESTS | self.RESPONSES:
                    ends.setdefault(row[first][0], []).append(row["frame.number"][0])
            for row in rows:
                if row[first][0] in ends:
                    self.assertEqual(row[last], ends[row[first][0]][:1], f"{name} {row}")
            n_again += sum(len(frames) > 1 for frames in ends.values())
        self.assertGreater(n_again, 20)


@unittest.skipUnless(shutil.which("sharkd"), "no sharkd")
class Clicking(Check):
    def setUp(self):
        self.sharkd = Sharkd(TS)
        self.addCleanup(self.sharkd.close)

    def load(self, path):
        self.sharkd.ask("load", file=str(path))

    def test_any_order(self):
        for name in CAPTURES:
            with self.subTest(name):
                self.load(capture(name, "receiver"))
                numbers = list(range(1, 400))
                in_order = {n: self.sharkd.tree(n) for n in numbers}
                self.assertTrue(any(in_order.values()))
                random.Random(1).shuffle(numbers)
                for number in numbers:
                    self.assertEqual(self.sharkd.tree(number), in_order[number])

    def test_a_preference_that_changes(self):
        """sharkd reads a capture anew as the window does; test_places.py has the ports."""
        path = capture("03a_loss_data_0.5pct", "receiver")
        self.load(path)
        tree = self.sharkd.tree(878)

        def good(n):
            """sharkd remembers what a filter matched: each time another text."""
            return self.sharkd.ask("frames", filter='rocev2.icrc.status == "Good" && '
                                   f"rocev2.analysis && frame.number > {n}")

        before = good(0)
        self.assertGreater(len(before), 10)
        for n, (value, want) in enumerate((("FALSE", []), ("TRUE", before))):
            self.sharkd.ask("setconf", name="rocev2.check_icrc", value=value)
            self.load(path)
            self.assertEqual(good(n + 1), want)
            self.assertEqual(self.sharkd.tree(878), tree)

    def test_one_capture_leaves_nothing_to_the_next(self):
        path = capture("03a_loss_data_0.5pct", "receiver")
        self.load(path)
        tree = self.sharkd.tree(878)
        for other in CAPTURES:
            self.load(capture(other, "sender"))
        self.load(path)
        self.assertEqual(self.sharkd.tree(878), tree)

    def test_a_file_that_has_grown(self):
        """It is opened, and opened again when there is more in it."""
        path = capture("03a_loss_data_0.5pct", "receiver")
        self.load(path)
        tree = self.sharkd.tree(878)
        self.assertTrue(tree)
        data = gzip.decompress(path.read_bytes())
        growing = TS.path("growing.pcap")
        for n_packets in (100, 500, None):
            growing.write_bytes(data[:end_of(data, n_packets)])
            growing.chmod(0o644)
            self.load(growing)
            self.sharkd.tree(50)
        self.assertEqual(self.sharkd.tree(878), tree)


def end_of(pcap, n_packets):
    """Where so many packets end; None: all of them."""
    at = 24
    for _ in range(n_packets or 0):
        at += 16 + struct.unpack_from("<I", pcap, at + 8)[0]
    return at if n_packets else len(pcap)


if __name__ == "__main__":
    sys.exit(main())
