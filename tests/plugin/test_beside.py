#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The plugin and the built-in dissectors beside each other: ports, preferences, what
disabling ours gives back; and captures that were cut, and bytes that an attacker chose."""

import random
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import packets as pk  # noqa: E402
from checks import QUANTA, SOURCE, TS, Check, capture, main, only, write  # noqa: E402

# Fields that a cut leaves as they are, or takes away.
LEAVES = [f"rocev2.{name}" for name in (
    "bth.opcode bth.padcnt bth.p_key bth.destqp bth.psn reth.va reth.r_key reth.dmalen "
    "aeth.syndrome aeth.msn atomiceth.va atomiceth.swapdt atomiceth.cmpdt "
    "atomicack.origremdt deth.q_key deth.srcqp immdt ieth feth icrc").split()]

# Fields that one packet alone has.
DECODED = ("rocev2.", "pfc.", "infiniband.bth", "infiniband.reth", "infiniband.aeth",
           "infiniband.deth", "infiniband.atomic", "infiniband.invariant", "macc.")
ANALYSED = re.compile(r"\.(analysis|expert)\b")


class SnapLength(Check):
    """A cut capture is truncated, never malformed."""

    def test_allops(self):
        whole = pk.read_pcap(SOURCE / "captures/02k_allops/sender.pcap.gz")
        names = ["frame.number", "rocev2.malformed", "_ws.col.Info", *LEAVES]
        want = TS.fields(write("whole.pcap", whole), names)
        for snap in (42, 46, 53, 54, 58, 60, 64, 70, 86, 96, 128, 256):
            rows = TS.fields(write("cut.pcap", whole, snap=snap), names)
            for row, full in zip(rows, want):
                with self.subTest(f"snap length {snap}, frame {row['frame.number'][0]}"):
                    self.check_row(row, full, snap)

    def check_row(self, row, full, snap):
        if not full["rocev2.bth.psn"]:
            return
        info = row["_ws.col.Info"][0] if row["_ws.col.Info"] else ""
        self.assertNotIn("Malformed", info)
        self.assertNotIn("Invalid Packet Length", info)
        self.assertEqual(row["rocev2.malformed"], [])
        for name in LEAVES:
            if row[name]:
                self.assertEqual(row[name], full[name], name)
        if snap >= 54:
            self.assertEqual(row["rocev2.bth.psn"], full["rocev2.bth.psn"])
            start = full["_ws.col.Info"][0].split(" MSN")[0].split(" DMA")[0].split(" Len")[0]
            if "NAK" not in start:
                self.assertTrue(info.startswith(start), (info, start))


class Beside(Check):
    """Ours and the built-in live beside each other."""

    def mixed(self):
        """One of everything."""
        frames = [pk.roce(pk.bth(op) + bytes(60)) for op in range(256)]
        frames += [pk.cnp(), pk.pfc(0x18, QUANTA), pk.pause(9),
                   pk.roce_v1(pk.bth(0x04) + bytes(64)), pk.roce(pk.bth(0x04), sport=69),
                   (frames[4][:50], len(frames[4])), (frames[4][:60], len(frames[4]))]
        return write("mixed.pcap", frames)

    def test_disabled_is_stock(self):
        paths = [self.mixed(), capture("02k_allops"), capture("13_cm_reject")]
        for path in paths:
            for show in ([], ["-V"], ["-V", "-2"]):
                with self.subTest(f"{path.name} {show}"):
                    self.same_text(
                        TS.run("-r", path, *show, "--disable-protocol", "rocev2",
                               "--disable-protocol", "pfc"),
                        TS.run("-r", path, *show, stock=True))

    def test_builtin_disabled_is_as_without_us(self):
        off = ["--disable-protocol", "infiniband", "--disable-protocol", "macc"]
        path = self.mixed()
        self.same_text(TS.run("-r", path, "-V", *off),
                       TS.run("-r", path, "-V", *off, stock=True))

    def test_two_passes_decode_as_one(self):
        """What a second pass adds is analysis: test_passes.py has that."""
        fields = (line.split("\t") for line in TS.run("-G", "fields").splitlines())
        names = sorted(row[2] for row in fields if row[0] == "F" and
                       row[2].startswith(DECODED) and not ANALYSED.search(row[2]))
        self.assertGreater(len(names), 100)
        for path in (self.mixed(), capture("02k_allops"), capture("03a_loss_data_0.5pct")):
            once, twice = (TS.fields(path, ["_ws.malformed", *names], *passes)
                           for passes in ((), ("-2",)))
            self.assertEqual(len(once), len(twice))
            for number, (row, again) in enumerate(zip(once, twice), 1):
                with self.subTest(f"{path.name}, frame {number}"):
                    self.assertEqual(again, row)

    def test_builtin_tree_is_hidden_by_default(self):
        path = capture("02k_allops")
        arguments = ["-r", path, "-V", "-Y", "rocev2"]
        shown = TS.run(*arguments, "-o", "rocev2.show_builtin_tree:TRUE")
        hidden = TS.run(*arguments)
        self.assertNotIn("\nInfiniBand\n", hidden)
        self.assertIn("\nInfiniBand\n", shown)
        macc = write("pfc.pcap", [pk.pfc(0x08, QUANTA)])
        self.assertNotIn("MAC Control\n", TS.run("-r", macc, "-V"))
        self.assertIn("MAC Control\n", TS.run("-r", macc, "-V", "-o",
                                              "pfc.show_builtin_tree:TRUE"))

    def test_cm_messages_stay_the_builtins(self):
        path = capture("13_cm_reject")
        arguments = ("-Y", "infiniband.cm.req")
        rows = TS.fields(path, ["infiniband.cm.req.localqpn", "_ws.col.Info", "ip.src",
                                "_ws.col.Source"], *arguments)
        self.assertGreater(len(rows), 0)
        for row in rows:
            self.assertIn("UD SEND Only QP=0x000001", row["_ws.col.Info"][0])
            self.assertIn("| CM: ConnectRequest", row["_ws.col.Info"][0])
            self.assertEqual(row["_ws.col.Source"], row["ip.src"])
        self.assertIn("CM ConnectRequest", TS.run("-r", path, "-V", *arguments))

    def test_stock_info_by_preference(self):
        path = capture("03a_loss_data_0.5pct")
        self.assertEqual(TS.infos(path, "-o", "rocev2.readable_info:FALSE"),
                         TS.infos(path, stock=True))

    def test_layers(self):
        row = only(pk.roce(pk.bth(0x0a) + pk.reth() + bytes(64)), ["frame.protocols"])
        self.assertEqual(row["frame.protocols"],
                         ["eth:ethertype:ip:udp:infiniband:rocev2:data"])


class Ports(Check):
    BODY = pk.bth(0x11) + pk.aeth(0x1f)

    def test_destination_port_wins_against_every_source_port(self):
        """The source port is what a queue pair has, whatever it is registered to.  One
        frame is built, and its ICRC is that of one port."""
        frame = pk.roce(self.BODY)
        frames = (frame[:34] + port.to_bytes(2, "big") + frame[36:]
                  for port in range(65536))
        path = write("ports.pcap", frames)
        rows = TS.fields(path, ["udp.srcport"], "-Y", "!rocev2")
        self.assertEqual([row["udp.srcport"][0] for row in rows], [])

    def test_tftp_steals_without_us(self):
        path = write("tftp.pcap", [pk.roce(self.BODY, sport=69)])
        self.assertEqual(TS.frames(path, "tftp", stock=True), [1])
        self.assertEqual(TS.frames(path, "tftp"), [])
        self.assertEqual(TS.frames(path, "tftp", "--disable-protocol", "rocev2"), [1])

    def test_decode_as_with_the_builtin_disabled(self):
        path = write("named.pcap", [pk.roce(self.BODY)])
        row = TS.fields(path, ["rocev2.bth.psn", "infiniband", "_ws.col.Info"],
                        "--disable-protocol", "infiniband", "-d",
                        "udp.port==4791,rocev2")[0]
        self.assertEqual(row["rocev2.bth.psn"], ["7"])
        self.assertEqual(row["infiniband"], [])
        self.assertEqual(row["_ws.col.Info"],
                         ["RC Acknowledge QP=0x000012 PSN=7 MSN=3"])

    def test_source_port_alone_is_the_builtins(self):
        path = write("reverse.pcap", [pk.roce(self.BODY, sport=4791, dport=50000)])
        self.assertEqual(TS.frames(path, "rocev2"), [])
        self.same_text(TS.run("-r", path, "-V"), TS.run("-r", path, "-V", stock=True))

    def test_lower_port_is_asked_first_as_without_us(self):
        """DNS, NTP, VXLAN and TFTP from port 4791, and to it what is no RoCE (its version
        of the transport is 1): UDP asks the lower port's dissector, and what that one
        declines goes where it goes without us."""
        query = bytes.fromhex("1231 0100 0001 0000 0000 0000 0161 0000 0100 01")
        vxlan = bytes.fromhex("08000000 00000700") + pk.udp(query, sport=40000, dport=53)
        frames = [pk.udp(body, sport=4791, dport=lower) for lower, body in (
            (53, query), (123, b"\x23\1" + bytes(46)), (4789, vxlan), (53, b"\x11\0\xff"),
            (69, bytes(20)), (53, self.BODY))]
        frames += [pk.udp(body, sport=lower, dport=4791) for lower, body in (
            (53, query), (123, b"\x23\1" + bytes(46)), (53, b"\x11\1\xff"),
            (69, b"\0\1" + bytes(18)))]
        path = write("lower.pcap", frames)
        shown = ("-T", "fields", "-e", "frame.protocols", "-e", "_ws.col.Info")
        for passes in ((), ("-2",)):
            with self.subTest(passes):
                self.same_text(TS.run("-r", path, *shown, *passes),
                               TS.run("-r", path, *shown, *passes, stock=True))

    def test_port_preferences_and_decode_as(self):
        path = write("5000.pcap", [pk.roce(self.BODY, dport=4791),
                                   pk.roce(self.BODY, dport=15000)])
        stock = ("-o", "infiniband.rroce.port:15000")
        self.assertEqual(TS.frames(path, "infiniband", *stock, stock=True), [2])
        for arguments, frames in (
                ((), [1]), (stock, [2]),
                (("-o", "rocev2.udp.port:15000"), [1, 2]),
                (("-d", "udp.port==15000,rocev2"), [1, 2])):
            with self.subTest(" ".join(arguments)):
                for text in ("rocev2", "infiniband", "rocev2.icrc.status == 1"):
                    self.assertEqual(TS.frames(path, text, *arguments), frames, text)


class ShortSends(Check):
    """Heuristics claim nothing that cannot be theirs; test_upper.py has what can."""

    def short_sends(self):
        pick = random.Random(1)
        frames = []
        for opcode, header in ((0x04, b""), (0x05, b"\1\2\3\4"), (0x17, b"\1\2\3\4"),
                               (0x24, b""), (0x64, pk.deth())):
            for size in range(0, 20):
                for fill in (bytes(size), b"\xff" * size, pick.randbytes(size)):
                    pad = -size % 4
                    frames.append(pk.roce(pk.bth(opcode, pad=pad, psn=len(frames)) + header
                                          + fill + bytes(pad)))
        return write("short.pcap", frames)

    def test_tail_of_a_message_whose_start_was_not_captured(self):
        frames = [pk.roce(pk.bth(0x02, psn=psn, pad=-psn % 4) + bytes(psn + -psn % 4))
                  for psn in range(1, 20)]
        path = write("tails.pcap", frames)
        self.assertEqual(TS.frames(path, "_ws.malformed"), [])
        self.assertEqual(TS.frames(path, "infiniband && rocev2.icrc.status == 1"),
                         list(range(1, 20)))
        self.assertNotEqual(TS.frames(path, "_ws.malformed", stock=True), [])

    def test_short_sends_are_not_malformed(self):
        path = self.short_sends()
        self.assertEqual(TS.frames(path, "_ws.malformed"), [])
        self.assertEqual(TS.frames(path, "rpcordma || infiniband.eoib"), [])
        off = ("-o", "rocev2.limit_heuristics:FALSE")
        self.assertNotEqual(TS.frames(path, "_ws.malformed", *off), [])
        self.assertEqual(TS.frames(path, "_ws.malformed", *off),
                         TS.frames(path, "_ws.malformed", stock=True))


class Hostile(Check):
    """Every byte is an attacker's: no crash, no dissector bug, no endless work."""

    def frames(self, n, seed):
        pick = random.Random(seed)
        seeds = [pk.roce(pk.bth(op) + bytes(60)) for op in range(256)]
        seeds += [pk.roce(pk.bth(op) + bytes(60), version=6) for op in range(0, 256, 5)]
        seeds += [pk.roce_v1(pk.bth(op) + bytes(60)) for op in range(0, 256, 5)]
        seeds += [pk.pfc(0xff, [pick.randrange(65536)] * 8), pk.pause(5)] * 20
        for _ in range(n):
            frame = bytearray(pick.choice(seeds))
            for _ in range(pick.randrange(6)):
                frame[pick.randrange(12, len(frame))] = pick.randrange(256)
            if pick.random() < 0.5:
                frame += pick.randbytes(pick.randrange(40))
            cut = pick.randrange(len(frame) + 1) if pick.random() < 0.4 else len(frame)
            yield bytes(frame[:cut]), len(frame)

    def test_random(self):
        path = write("random.pcap", self.frames(20000, 20250101))
        self.assertEqual(len(TS.infos(path)), 20000)
        TS.run("-r", path, "-V", "-2", "-c", "5000")


if __name__ == "__main__":
    sys.exit(main())
