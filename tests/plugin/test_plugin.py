#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The plugin, loaded by tshark, and what it decodes."""

import re
import struct
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import packets as pk  # noqa: E402
from checks import QUANTA, SOURCE, TS, Check, capture, main, only, write  # noqa: E402
from tshark import number  # noqa: E402

# Captures of the tree that most checks go over.
CAPTURES = ("02k_allops", "03a_loss_data_0.5pct", "07a_nak_remote_access", "05a_rnr",
            "02g_ipv6", "08_vlan", "13_cm_reject")


class Loading(Check):
    def test_listed(self):
        lines = [line.split("\t") for line in TS.run("-G", "plugins").splitlines()]
        ours = [line for line in lines if line[0].strip() == "rocescope.so"]
        self.assertEqual(len(ours), 1, lines)
        self.assertEqual(ours[0][2], "dissector")
        self.assertRegex(ours[0][1], r"^\d+\.\d+\.\d+ \(GPL-2\.0-or-later; built with Wireshark "
                         + re.escape(TS.version) + r"\.\d+ by (gcc|clang) \d[\d.]*\)$")

    def test_fields_of_the_contract_exist(self):
        known = {line.split("\t")[2] for line in TS.run("-G", "fields").splitlines()
                 if line[:2] in ("F\t", "P\t") and line.count("\t") >= 2}
        want = [f"rocev2.bth.{leaf}" for leaf in
                "opcode se m padcnt tver p_key fecn becn destqp a psn".split()]
        want += [f"rocev2.{leaf}" for leaf in
                 "reth aeth atomiceth atomicack immdt ieth deth rdeth xrceth feth cnp "
                 "payload_length icrc icrc.status ecn dscp "
                 "queue.dscp queue.pcp tenant".split()]
        want += ["rocev2", "pfc", "pfc.cev", "pfc.quanta", "pfc.time", "pfc.kind",
                 "pfc.opcode"]
        self.assertEqual([name for name in want if name not in known], [])


class Decode(Check):
    def test_allops_has_nothing_unknown_or_malformed(self):
        for end in ("sender", "receiver"):
            path = capture("02k_allops", end)
            for word in ("Malformed", "malformed", "Unknown", "unknown"):
                with self.subTest(f"{end}: {word}"):
                    self.assertNotIn(word, TS.run("-r", path))
                    tree = TS.run("-r", path, "-V", "-Y", "rocev2")
                    self.assertNotIn(word, tree)

    def test_info_is_readable(self):
        rows = TS.fields(capture("02k_allops"), ["rocev2.bth.destqp", "rocev2.bth.psn",
                                                 "_ws.col.Info"], "-Y", "rocev2")
        for row in rows:
            info = row["_ws.col.Info"][0]
            self.assertIn(f"QP={row['rocev2.bth.destqp'][0]}", info)
            self.assertIn(f"PSN={row['rocev2.bth.psn'][0]} ", info + " ")

    def test_info_of_naks(self):
        infos = TS.infos(capture("07a_nak_remote_access"), "-Y",
                         "rocev2.aeth.syndrome.error_code == 2")
        self.assertEqual(len(infos), 5)
        for info in infos:
            self.assertIn("Acknowledge NAK (remote access error) QP=", info)
        rnr = TS.infos(capture("05a_rnr"), "-Y", "rocev2.aeth.syndrome.opcode == 1")
        self.assertEqual(len(rnr), 59)
        for info in rnr:
            self.assertRegex(info, r"RNR NAK \(wait [0-9.]+ (µs|ms)\)")

    def test_cnp(self):
        for fecn, becn, flags in ((0, 1, " BECN"), (1, 0, " FECN"), (1, 1, " FECN BECN"),
                                  (0, 0, "")):
            with self.subTest(flags):
                self.values(pk.cnp(qp=0x1234, fecn=fecn, becn=becn, sport=0), {
                    "rocev2.bth.opcode": 0x81, "rocev2.bth.fecn": fecn,
                    "rocev2.bth.becn": becn, "rocev2.bth.destqp": 0x1234,
                    "rocev2.cnp": "00" * 16, "rocev2.payload_length": 0,
                    "rocev2.icrc.status": 1, "rocev2.malformed": None,
                    "_ws.col.Info": "CNP QP=0x001234" + flags,
                    "infiniband.bth.opcode": 0x81})

    def test_xrc(self):
        self.values(pk.roce(pk.bth(0xaa) + pk.xrceth(0x77) + pk.reth() + bytes(64)), {
            "rocev2.xrceth.srq": 0x77, "rocev2.reth.dmalen": 64,
            "rocev2.payload_length": 64, "rocev2.icrc.status": 1,
            "_ws.col.Info": "XRC RDMA WRITE Only QP=0x000012 PSN=7 DMA=64 Len=64"})

    def test_flush(self):
        self.values(pk.roce(pk.bth(0x1c) + pk.feth(1, 2) + pk.reth(length=4096)), {
            "rocev2.feth.sel": 1, "rocev2.feth.plt": 2, "rocev2.reth.dmalen": 4096,
            "rocev2.payload_length": 0, "rocev2.icrc.status": 1,
            "_ws.col.Info": "RC FLUSH QP=0x000012 PSN=7 DMA=4096 Len=0"})
        # Above SEL, bits 5 and 4, all are reserved.
        self.values(pk.roce(pk.bth(0x1c) + struct.pack("!I", 0xffffffdf) + pk.reth()),
                    {"rocev2.feth.sel": 1, "rocev2.feth.plt": 15})

    def test_atomic_write(self):
        self.values(pk.roce(pk.bth(0x1d) + pk.reth(length=8) + bytes(8)), {
            "rocev2.reth.va": 0x1122334455667788, "rocev2.payload_length": 8,
            "_ws.col.Info": "RC ATOMIC WRITE QP=0x000012 PSN=7 DMA=8 Len=8"})

    def test_atomics(self):
        self.values(pk.roce(pk.bth(0x13) + pk.atomiceth(5, 6, 7, 8)), {
            "rocev2.atomiceth.va": 5, "rocev2.atomiceth.r_key": 6,
            "rocev2.atomiceth.swapdt": 7, "rocev2.atomiceth.cmpdt": 8})
        self.values(pk.roce(pk.bth(0x12) + pk.aeth(0x1f) + struct.pack("!Q", 9)), {
            "rocev2.atomicack.origremdt": 9, "rocev2.aeth.syndrome": 0x1f,
            "rocev2.aeth.syndrome.credit_count": 0x1f, "rocev2.aeth.msn": 3})

    def test_pad(self):
        self.values(pk.roce(pk.bth(0x04, pad=3) + b"\1" * 5 + b"\2\3\4"), {
            "rocev2.payload_length": 5, "rocev2.pad": "020304", "rocev2.icrc.status": 1})
        self.values(pk.roce(pk.bth(0x04) + b"\1" * 8), {"rocev2.pad": None})
        frame = pk.roce(pk.bth(0x04, pad=3) + b"\1" * 5 + b"\2\3\4")
        self.values((frame[:-5], len(frame)), {"rocev2.payload_length": 5, "rocev2.pad": None})

    def test_immediate_and_invalidate(self):
        self.values(pk.roce(pk.bth(0x0b) + pk.reth() + b"\1\2\3\4" + bytes(64)), {
            "rocev2.immdt": "01020304", "rocev2.immdt.data": 0x01020304,
            "rocev2.reth.dmalen": 64, "rocev2.payload_length": 64})
        self.values(pk.roce(pk.bth(0x17) + b"\1\2\3\4" + bytes(64)), {
            "rocev2.ieth": "01020304", "rocev2.ieth.r_key": 0x01020304})

    def test_rd_and_dc_share_opcodes(self):
        self.values(pk.roce(pk.bth(0x4a) + pk.rdeth(5) + pk.deth(1, 2) + pk.reth()
                            + bytes(32)), {
            "rocev2.rdeth.eecnxt": 5, "rocev2.deth.q_key": 1, "rocev2.deth.srcqp": 2,
            "rocev2.payload_length": 32,
            "_ws.col.Info": "RD RDMA WRITE Only QP=0x000012 PSN=7 DMA=64 Len=32"})
        row = only(pk.roce(pk.bth(0x44) + b"\x99" * 64), ["rocev2.rdeth", "_ws.col.Info"])
        self.assertEqual(row["rocev2.rdeth"], [])
        self.assertIn("DC SEND Only QP=0x000012", row["_ws.col.Info"][0])

    def test_rd_and_dc_are_not_malformed_for_the_builtins_sake(self):
        """It takes all of them for DC, with a header that these do not have."""
        datagram, ack = pk.rdeth(5) + pk.deth(1, 2), pk.aeth(0x1f)
        path = write("rd.pcap", [pk.roce(transport) for transport in (
            pk.bth(0x4c) + datagram + pk.reth(), pk.bth(0x53) + datagram + pk.atomiceth(),
            pk.bth(0x50) + pk.rdeth(5) + ack, pk.bth(0x52) + pk.rdeth(5) + ack + bytes(8),
            pk.bth(0x4c) + b"\x99" * 16, pk.bth(0x0c) + bytes(12))])
        self.assertEqual(TS.frames(path, "infiniband.bth"), [1, 2, 3, 4, 5, 6])
        self.assertEqual(TS.frames(path, "_ws.malformed"), [6])
        self.assertEqual(TS.frames(path, "rocev2.malformed"), [6])
        for info in TS.infos(path)[:5]:
            self.assertRegex(info, r"^(RD|DC) .* Len=\d+$")

    def test_syndromes(self):
        for syndrome, leaf, value in ((0x05, "credit_count", 5), (0x2e, "timer", 14),
                                      (0x41, "reserved_value", 1), (0x60, "error_code", 0),
                                      (0x64, "error_code", 4), (0x7f, "error_code", 31)):
            with self.subTest(f"{syndrome:#x}"):
                self.values(pk.roce(pk.bth(0x11) + pk.aeth(syndrome)), {
                    "rocev2.aeth.syndrome": syndrome,
                    "rocev2.aeth.syndrome.opcode": syndrome >> 5,
                    f"rocev2.aeth.syndrome.{leaf}": value})

    def test_reserved_bits(self):
        transport = bytearray(pk.bth(0x11) + pk.aeth(0x9f))
        transport[4] |= 0x3f
        transport[8] |= 0x7f
        self.values(pk.roce(bytes(transport)), {
            "rocev2.bth.reserved6": 0x3f, "rocev2.bth.reserved7": 0x7f,
            "rocev2.bth.fecn": 0, "rocev2.bth.a": 0, "rocev2.aeth.syndrome.reserved": 1})

    def test_ecn_and_dscp(self):
        body = pk.bth(0x04) + bytes(64)
        ect0, ce, ect1 = 26 << 2 | 2, 26 << 2 | 3, 26 << 2 | 1
        for name, frame, ecn in (
                ("ipv4", pk.roce(body, tos=ce), 3),
                ("ipv4, ECT(1)", pk.roce(body, tos=ect1), 1),
                ("ipv6", pk.roce(body, tos=ce, version=6), 3),
                ("GRH", pk.roce_v1(body, tos=ce), 3),
                ("not ECN-capable", pk.roce(body, tos=26 << 2), 0),
                # A mirror's own headers were never on the packet's way, ...
                ("mirror", pk.erspan(pk.roce(body, tos=ect0), tos=3), 2),
                ("marked, in a mirror", pk.erspan(pk.roce(body, tos=ce, version=6)), 3),
                # ... a tunnel's are, by RFC 6040.
                ("tunnel", pk.vxlan(pk.roce(body, tos=ect0), tos=2), 2),
                ("tunnel, marked", pk.vxlan(pk.roce(body, tos=ect0), tos=3), 3),
                ("marked, in a tunnel", pk.vxlan(pk.roce(body, tos=ce)), 3),
                ("mirror of a tunnel",
                 pk.erspan(pk.vxlan(pk.roce(body, tos=ect0), tos=2), tos=3), 2)):
            with self.subTest(name):
                self.values(frame, {"rocev2.ecn": ecn, "rocev2.dscp": 26,
                                    "rocev2.bth.psn": 7})

    def test_what_it_is_queued_by(self):
        """The headers around a tunnel, where there is one; never those of a mirror."""
        tag = b"\x81\0\xa0\x07"

        def tagged(frame):
            return frame[:12] + tag + frame[12:]

        inner = pk.roce(pk.bth(0x04) + bytes(64), tos=26 << 2)
        for name, frame, dscp, pcp in (
                ("alone", inner, 26, None),
                ("tagged", tagged(inner), 26, 5),
                ("GRH", pk.roce_v1(pk.bth(0x04) + bytes(64), tos=26 << 2), 26, None),
                ("tunnel", pk.vxlan(inner, tos=10 << 2), 10, None),
                ("tagged, in a tunnel", pk.vxlan(tagged(inner), tos=10 << 2), 10, None),
                ("tunnel, tagged", tagged(pk.vxlan(inner, tos=10 << 2)), 10, 5),
                ("mirror", pk.erspan(inner, tos=10 << 2), 26, None),
                ("mirror, tagged", tagged(pk.erspan(inner, tos=10 << 2)), 26, None),
                ("mirror of a tagged one", pk.erspan(tagged(inner)), 26, 5),
                ("mirror of a tunnel",
                 pk.erspan(pk.vxlan(inner, tos=10 << 2), tos=3 << 2), 10, None)):
            with self.subTest(name):
                self.values(frame, {"rocev2.queue.dscp": dscp, "rocev2.queue.pcp": pcp,
                                    "rocev2.dscp": 26})

    def test_ecn_by_its_name(self):
        path = write("ecn.pcap", [pk.roce(pk.bth(0x04) + bytes(64), tos=tos)
                                  for tos in range(4)])
        for n, name in enumerate(("Not-ECT", "ECT(1)", "ECT(0)", "CE"), 1):
            self.assertEqual(TS.frames(path, f'rocev2.ecn == "{name}"'), [n])

    def test_ecn_of_what_was_reassembled_is_not_known(self):
        path = write("fragments.pcap", pk.fragments(pk.roce(pk.bth(0x04) + bytes(64))))
        self.assertEqual(len(TS.frames(path, "rocev2")), 1)
        self.assertEqual(TS.frames(path, "rocev2.ecn || rocev2.dscp"), [])

    def test_quoted(self):
        """An ICMP error quotes the beginning of a packet: it is cut, and has no ICRC here."""
        whole = pk.roce(pk.bth(0x04) + bytes(1000))
        for quoted in (28 + 12, 28 + 12 + 68, 28 + 12 + 500):
            with self.subTest(quoted):
                ip = whole[14:14 + quoted]
                icmp = b"\x03\x04\0\0\0\0\0\0" + ip
                total = (20 + len(icmp)).to_bytes(2, "big")
                outer = ip[:2] + total + ip[4:9] + b"\x01\0\0" + ip[16:20] + ip[12:16]
                self.values(whole[:14] + outer + icmp, {
                    "rocev2.payload_length": 1000, "rocev2.icrc": None,
                    "rocev2.malformed": None, "rocev2.bth.psn": 7,
                    "rocev2.analysis.stream": None})
                out = TS.run("-r", TS.path("one.pcap"), "-q", "-z", "rocev2,tree")
                self.assertNotRegex(out, "SEND Only")

    def test_roce_v1(self):
        self.values(pk.roce_v1(pk.bth(0x04) + bytes(64)), {
            "rocev2.bth.psn": 7, "rocev2.payload_length": 64, "rocev2.icrc.status": 1,
            "infiniband.bth.psn": 7, "infiniband.grh.nxthdr": 0x1b,
            "_ws.col.Info": "RC SEND Only QP=0x000012 PSN=7 Len=64"})
        path = write("grh.pcap", [pk.roce_v1(pk.bth(0x04) + bytes(64))])
        for column in ("_ws.col.Source", "_ws.col.Destination"):
            ours, stock = (TS.fields(path, [column], stock=which) for which in (False, True))
            self.assertEqual(ours, stock)
            self.assertIn("GID", ours[0][column][0])
        self.values(pk.roce_v1(pk.bth(0x04) + bytes(64), bad_icrc=True),
                    {"rocev2.icrc.status": 0})

    def test_malformed(self):
        for name, transport in (("pad", pk.bth(0x04, pad=3) + bytes(2)),
                                ("reth", pk.bth(0x0a) + bytes(12)),
                                ("aeth", pk.bth(0x11))):
            with self.subTest(name):
                row = only(pk.roce(transport), ["rocev2.malformed", "_ws.col.Info",
                                                "_ws.expert.message"])
                self.assertEqual(len(row["rocev2.malformed"]), 1)
                self.assertIn("[malformed]", row["_ws.col.Info"][0])

    def test_what_is_no_infiniband_is_the_builtins_alone(self):
        frames = [pk.roce(pk.bth(0x04, tver=1) + bytes(64)),
                  pk.roce(bytes(8), crc=False), pk.roce(b"\x04" * 6000)]
        path = write("no-ib.pcap", frames)
        self.assertEqual(TS.frames(path, "rocev2"), [])
        self.assertEqual(TS.run("-r", path, "-V"), TS.run("-r", path, "-V", stock=True))

    def test_unknown_opcode_is_named_so(self):
        row = only(pk.roce(pk.bth(0x1f) + bytes(64)), ["_ws.col.Info"])
        self.assertIn("unknown RC opcode 0x1f QP=0x000012 PSN=7", row["_ws.col.Info"][0])


class Gaps(Check):
    def test_the_gap_that_a_psn_is_missing_in(self):
        path = write("gaps.pcap", [pk.roce(pk.bth(0x0a, psn=psn) + pk.reth() + bytes(64))
                                   for psn in (10, 11, 15, 16, 18)])
        for psn, frames in ((11, []), (12, [3]), (13, [3]), (14, [3]), (15, []), (17, [5])):
            with self.subTest(psn):
                self.assertEqual(TS.frames(path, f"rocev2.analysis.gap.psn <= {psn} && "
                                           f"rocev2.analysis.gap.last_psn >= {psn}"), frames)

    def test_a_gap_from_the_highest_psn_on(self):
        path = write("gaps.pcap", [pk.roce(pk.bth(0x0a, psn=psn) + pk.reth() + bytes(64))
                                   for psn in (0xfffffd, 0xfffffe, 2)])
        names = ["rocev2.analysis." + name for name in ("gap", "gap.psn", "gap.last_psn")]
        self.assertEqual([row[name][0] for row in TS.fields(path, names)[2:] for name in names],
                         ["3", "16777215", "1"])


class Icrc(Check):
    def status(self, frame, *arguments):
        values = only(frame, ["rocev2.icrc.status"], *arguments)["rocev2.icrc.status"]
        return [number(v) for v in values]

    def test_of_the_kernel(self):
        for name in CAPTURES:
            with self.subTest(name):
                rows = TS.fields(capture(name), ["rocev2.icrc.status", "rocev2.bth.opcode"],
                                 "-Y", "rocev2")
                self.assertGreater(len(rows), 0)
                for row in rows:
                    flush = number(row["rocev2.bth.opcode"][0]) == 0x1c
                    self.assertEqual(number(row["rocev2.icrc.status"][0]),
                                     0 if flush else 1)

    def test_good_and_bad(self):
        body = pk.bth(0x04, pad=1) + bytes(35)
        hop_by_hop = bytes([17, 0, 1, 4, 0, 0, 0, 0])
        for name, options in (
                ("ipv4", {}), ("vlan", {"vlan": 100}),
                ("options", {"options": b"\x94\x04\0\0"}),
                ("many options", {"options": b"\1" * 40}),
                ("ipv6", {"version": 6}),
                ("extension", {"version": 6, "extensions": hop_by_hop, "next_header": 0})):
            with self.subTest(name):
                self.assertEqual(self.status(pk.roce(body, **options)), [1])
                self.assertEqual(self.status(pk.roce(body, bad_icrc=True, **options)), [0])

    def test_masked_fields_do_not_matter(self):
        frame = bytearray(pk.roce(pk.bth(0x04) + bytes(36)))
        for at in (15, 22, 24, 25, 40, 41, 46):  # TOS, TTL, checksums, BTH byte 4
            frame[at] ^= 0x55
        self.assertEqual(self.status(bytes(frame)), [1])
        frame[18] ^= 1  # the identification
        self.assertEqual(self.status(bytes(frame)), [0])

    def test_expert(self):
        body = pk.bth(0x04) + bytes(64)
        path = write("icrc.pcap", [pk.roce(body), pk.roce(body, bad_icrc=True),
                                   pk.cnp(bad_icrc=True)])
        self.assertEqual(TS.frames(path, "rocev2.icrc.bad"), [2])
        self.assertEqual(TS.frames(path, "rocev2.icrc.odd"), [3])
        self.assertEqual(TS.frames(path, 'rocev2.icrc.status == "Bad"'), [2, 3])
        self.assertEqual(TS.frames(path, 'rocev2.icrc.status == "Good"'), [1])
        row = TS.fields(path, ["rocev2.icrc", "rocev2.icrc.calculated"])[1]
        self.assertEqual(number(row["rocev2.icrc"][0]) ^
                         number(row["rocev2.icrc.calculated"][0]), 1 << 24)

    def test_unchecked(self):
        frame = pk.roce(pk.bth(0x04) + bytes(64))
        path = write("fragments.pcap", pk.fragments(frame))
        rows = TS.fields(path, ["rocev2.icrc.status", "rocev2.bth.psn"], "-Y", "rocev2")
        self.assertEqual([number(r["rocev2.icrc.status"][0]) for r in rows], [2],
                         "behind a reassembly no IP header stands")
        self.assertEqual(self.status((frame[:-1], len(frame))), [2])
        self.assertEqual(self.status((frame[:60], len(frame))), [2])
        self.assertEqual(self.status(frame, "-o", "rocev2.check_icrc:FALSE"), [2])


class Pause(Check):
    def test_pfc(self):
        row = only(pk.pfc(0x0018, QUANTA),
                   ["pfc.opcode", "pfc.cev", "pfc.quanta", "pfc.kind", "pfc.time",
                    "_ws.col.Info", *(f"pfc.cev.p{i}" for i in range(8)),
                    *(f"pfc.quanta.p{i}" for i in range(8)),
                    *(f"macc.cbfc.pause_time.c{i}" for i in range(8)),
                    *(f"macc.cbfc.enbv.c{i}" for i in range(8))],
                   "-o", "pfc.link_speed:100")
        self.assertEqual(number(row["pfc.opcode"][0]), 0x0101)
        self.assertEqual(number(row["pfc.cev"][0]), 0x18)
        self.assertEqual(row["pfc.quanta"], ["65535", "0"])
        self.assertEqual([number(v) for v in row["pfc.kind"]], [1, 0])
        self.assertEqual([float(v) for v in row["pfc.time"]], [0.000335539, 0])
        for i in range(8):
            self.assertEqual(number(row[f"pfc.cev.p{i}"][0]), int(i in (3, 4)))
            self.assertEqual(number(row[f"pfc.quanta.p{i}"][0]), QUANTA[i])
            self.assertEqual(row[f"pfc.cev.p{i}"], row[f"macc.cbfc.enbv.c{i}"])
            self.assertEqual(row[f"pfc.quanta.p{i}"], row[f"macc.cbfc.pause_time.c{i}"])
        self.assertEqual(row["_ws.col.Info"][0],
                         "PFC XOFF p3 (65535 quanta, 335.5 µs) XON p4")

    def test_link_speed(self):
        for gbps, seconds in ((10, [0.003355392]), (200, [0.000167769]),
                              (400, [0.000083884]), (0, [])):
            with self.subTest(gbps):
                row = only(pk.pfc(0x0008, QUANTA), ["pfc.time"],
                           "-o", f"pfc.link_speed:{gbps}")
                self.assertEqual([float(v) for v in row["pfc.time"]], seconds)

    def test_link_speed_of_an_interface(self):
        """What is no speed leaves it unknown: no time is wrong."""
        path = TS.copy(SOURCE / "captures/sim_incast_pfc/switch.pcapng.gz", "switch.pcapng.gz")
        first = 'frame.interface_name == "leaf0_h0" && pfc.quanta == 1000'
        for text, seconds in (("leaf0_h0=100", 5.12e-6), ("x=1,leaf0_h0=400G", 1.28e-6),
                              ("leaf0_h0=2.5", 0.0002048), ("leaf0_h1=100", 2.56e-6),
                              ("leaf0_h0=0", None), ("leaf0_h0=-5", None),
                              ("leaf0_h0=100M", None), ("leaf0_h0=fast", None),
                              ("leaf0_h0=", None), ("leaf0_h0=100001", None),
                              (" leaf0_h0 = 100 ", 5.12e-6),
                              ("x = 1, leaf0_h0 =\t400G ; y = 2", 1.28e-6),
                              ("x=1 leaf0_h0=100 y=2", 5.12e-6),
                              ("leaf0_h0=100 G", 5.12e-6), ("leaf0_h0=, x=100", None),
                              ("my_leaf0_h0=100", 2.56e-6), ("leaf0_h0x=100", 2.56e-6),
                              ("leaf0_h0=400, leaf0_h0=100", 5.12e-6),
                              ("my leaf0_h0=100", 2.56e-6),
                              ("x=1 my leaf0_h0=100, leaf0_h0=400", 1.28e-6),
                              ("x = 1 leaf0_h0=100", 5.12e-6)):
            with self.subTest(text):
                row = TS.fields(path, ["pfc.time"], "-Y", first, "-c", "2000",
                                "-o", "pfc.link_speed:200",
                                "-o", f"pfc.link_speed_by_interface:{text}")[0]
                self.assertEqual([round(float(v), 9) for v in row["pfc.time"][:1]],
                                 [] if seconds is None else [seconds])

    def test_global_pause(self):
        for quanta, kind, info in ((65535, 2, "PAUSE of all priorities (65535 quanta)"),
                                   (0, 3, "PAUSE of all priorities (0 quanta): resume")):
            with self.subTest(quanta):
                self.values(pk.pause(quanta), {
                    "pfc.opcode": 1, "pfc.quanta": quanta, "pfc.kind": kind,
                    "pfc.cev": None, "macc.pause_time": quanta, "_ws.col.Info": info})

    def test_filters(self):
        path = write("pause.pcap", [pk.pfc(0x08, QUANTA), pk.pfc(0x10, QUANTA),
                                    pk.pause(100), pk.pfc(0, QUANTA)])
        for text, frames in (("pfc", [1, 2, 3, 4]), ("pfc.cev", [1, 2, 4]),
                             ("pfc.cev.p3 == 1", [1]), ('pfc.kind == "XOFF"', [1]),
                             ('pfc.kind == "XON"', [2]), ("pfc.time > 0.0001", [1]),
                             ('pfc.kind == "802.3x pause"', [3]),
                             ("macc.cbfc.enbv.c3 == 1", [1]), ("macc", [1, 2, 3, 4])):
            with self.subTest(text):
                self.assertEqual(TS.frames(path, text, "-o", "pfc.link_speed:100"), frames)

    def lengths(self, step_ns, quanta, *arguments):
        """Of pause frames for priority 3: what is said of each, and Info's last words."""
        path = write("lengths.pcap", [pk.pfc(8, [0, 0, 0, q] + [0] * 4) for q in quanta],
                     step_ns=step_ns)
        names = ["pfc.analysis." + name for name in
                 ("paused_for", "paused_at_least", "ended_by", "ended_in")]
        rows = TS.fields(path, [*names, "_ws.col.Info"], "-2", *arguments)
        return [[*(row[name][0] if row[name] else None for name in names),
                 re.search(r"(\[.*\])?$", row["_ws.col.Info"][0])[0]] for row in rows]

    def test_how_long_a_pause_lasts_without_the_links_speed(self):
        # 65,535 quanta take 41.942 us at 800 Gbit/s.
        least, sum_of_two = "0.000041942", "0.000083884"
        nothing = [None] * 4 + [""]
        self.assertEqual(self.lengths(41942, [65535, 0]), [
            [least, None, "0", "2", "[paused 41.94 µs, xon]"],
            [least, None, "0", None, "[was paused 41.94 µs]"]])
        self.assertEqual(self.lengths(41943, [65535, 0]), [
            [None, least, None, "2", "[paused at least 41.94 µs]"],
            [None, least, None, None, "[was paused at least 41.94 µs]"]])
        self.assertEqual(self.lengths(1000000, [65535, 65535, 0]), [
            [None, sum_of_two, None, "3", "[paused at least 83.88 µs]"], nothing,
            [None, sum_of_two, None, None, "[was paused at least 83.88 µs]"]])
        # Nobody ends it: it went on until the refresh, if not longer.
        self.assertEqual(self.lengths(10000, [65535, 65535]), [
            [None, "0.000010000", None, None, "[paused at least 10 µs]"], nothing])
        self.assertEqual(self.lengths(1000000, [65535]), [nothing])

    def test_how_long_a_pause_lasts_by_the_links_speed(self):
        self.assertEqual(
            [row[:3] for row in self.lengths(1000000, [65535, 0], "-o", "pfc.link_speed:100")],
            [["0.000335539", None, "1"], [None] * 3])
        self.assertEqual(
            [row[:3] for row in self.lengths(100000, [65535, 0], "-o", "pfc.link_speed:100")],
            [["0.000100000", None, "0"], ["0.000100000", None, "0"]])

    def test_sources_that_there_is_no_room_for(self):
        """The first that is one too many, the second, the fourth, ..."""
        macs = [bytes.fromhex("02feed") + n.to_bytes(3, "big") for n in range(514)]
        frame = pk.pfc(0xff, [100] * 8)
        path = write("evicted.pcap", [frame[:6] + mac + frame[12:] for mac in macs])
        for passes in ([], ["-2"]):
            with self.subTest(passes):
                rows = TS.fields(path, ["frame.number", "rocev2.analysis.evicted.count"],
                                 "-Y", 'rocev2.analysis.evicted == "pauses"', *passes)
                self.assertEqual([list(row.values()) for row in rows],
                                 [[["513"], ["1", "2", "4", "8"]], [["514"], ["16"]]])
                self.assertEqual(TS.frames(path, "rocev2.expert.evicted", *passes),
                                 [513, 514])

    def test_other_mac_control_is_the_builtins_alone(self):
        path = write("epon.pcap", [pk.ethernet(0x8808, b"\0\2" + bytes(44))])
        self.assertEqual(TS.frames(path, "pfc"), [])
        self.assertEqual(TS.run("-r", path, "-V"), TS.run("-r", path, "-V", stock=True))

    def test_cut(self):
        frame = pk.pfc(0x08, QUANTA)
        row = only((frame[:20], len(frame)), ["pfc.truncated", "pfc.cev", "_ws.col.Info"])
        self.assertEqual(len(row["pfc.truncated"]), 1)
        self.assertIn("PFC [cut]", row["_ws.col.Info"][0])


if __name__ == "__main__":
    sys.exit(main())
