#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Where the plugin stands: on whatever port the user puts it the analysis is the same, and
where it was put away nothing of it is left, and Wireshark shows what it shows without."""

import shutil
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import packets as pk  # noqa: E402
from checks import QUANTA, SOURCE, TS, Check, main, write  # noqa: E402
from sharkd import Sharkd  # noqa: E402

PORT, OTHER_PORT = 4791, 5000
N_FRAMES = 900                   # with the first loss, and what follows from it
PASSES = ((), ("-2",))
PUT_THERE = (("-d", f"udp.port=={OTHER_PORT},rocev2"),
             ("-o", f"rocev2.udp.port:{OTHER_PORT}"),
             ("-o", f"rocev2.udp.port:4000,{OTHER_PORT - 1}-{OTHER_PORT + 1}"),
             ("-o", f"infiniband.rroce.port:{OTHER_PORT}"))
PUT_AWAY = (("-d", f"udp.port=={PORT},data"),
            ("-o", f"infiniband.rroce.port:{OTHER_PORT}"),
            ("--disable-protocol", "rocev2"),
            ("--disable-protocol", "infiniband"),
            ("--disable-protocol", "udp"))


def is_roce(frame):
    return frame[12:14] == b"\x08\0" and frame[23] == 17 and \
        frame[36:38] == PORT.to_bytes(2, "big")


def moved(frame, port):
    """RoCE to another port, with an ICRC that fits."""
    if not is_roce(frame):
        return frame
    head, body = frame[:36] + port.to_bytes(2, "big") + frame[38:42], frame[42:-4]
    return head + body + pk.icrc(head[14:], body)


class Places(Check):
    @classmethod
    def setUpClass(cls):
        frames = [frame for frame, _ in pk.read_pcap(
            SOURCE / "captures/03a_loss_data_0.5pct/receiver.pcap.gz")[:N_FRAMES]]
        cls.here = write("here.pcap", frames)
        cls.there = write("there.pcap", [moved(frame, OTHER_PORT) for frame in frames])
        cls.mixed = write("both.pcap", [moved(frame, (PORT, OTHER_PORT)[n % 3 == 0])
                                        for n, frame in enumerate(frames)])
        fields = (line.split("\t") for line in TS.run("-G", "fields").splitlines())
        cls.columns = ["frame.number", "rocev2.icrc.status"] + sorted(
            row[2] for row in fields if row[2].startswith("rocev2.analysis."))

    def analysis(self, path, *arguments):
        return TS.fields(path, self.columns, *arguments, "-Y", "rocev2")

    def test_the_same_on_every_port(self):
        for passes in PASSES:
            want = self.analysis(self.here, *passes)
            self.assertGreater(len(want), N_FRAMES // 2)
            self.assertTrue(any(row["rocev2.analysis.retransmission"] for row in want))
            for put in PUT_THERE:
                with self.subTest(" ".join((*put, *passes))):
                    self.assertEqual(self.analysis(self.there, *put, *passes), want)

    @unittest.skipUnless(shutil.which("sharkd"), "no sharkd")
    def test_put_there_at_run_time(self):
        """sharkd applies our port preference at once, that of the built-in never."""
        sharkd = Sharkd(TS)
        self.addCleanup(sharkd.close)
        some = range(860, 890)
        sharkd.ask("load", file=str(self.here))
        want = [sharkd.tree(n) for n in some]
        self.assertTrue(all(want))
        sharkd.ask("load", file=str(self.there))
        self.assertEqual([sharkd.tree(n) for n in some], [[] for _ in some])
        sharkd.ask("setconf", name="rocev2.udp.port", value=str(OTHER_PORT))
        for path in (self.there, self.here, self.mixed):
            sharkd.ask("load", file=str(path))
            self.assertEqual([sharkd.tree(n) for n in some], want)

    def test_on_two_ports_at_once(self):
        want = self.analysis(self.here, "-2")
        for put in PUT_THERE[:2]:
            with self.subTest(" ".join(put)):
                self.assertEqual(self.analysis(self.mixed, "-2", *put), want)

    def test_nowhere_else(self):
        self.assertEqual(TS.frames(self.there, "rocev2"), [])
        self.same_text(TS.run("-r", self.there, "-V"),
                       TS.run("-r", self.there, "-V", stock=True))

    def test_put_away(self):
        for put in PUT_AWAY:
            stock = () if "rocev2" in put else put
            for passes in PASSES:
                with self.subTest(" ".join((*put, *passes))):
                    self.same_text(TS.run("-r", self.here, "-V", *put, *passes),
                                   TS.run("-r", self.here, "-V", *stock, *passes,
                                          stock=True))
            with self.subTest(f"fields: {' '.join(put)}"):
                if "rocev2" not in put:
                    self.assertEqual(TS.frames(self.here, "rocev2", "-2", *put), [])

    def test_without_the_builtin(self):
        """Decode As asks for ours, whatever has become of the built-in."""
        self.assertEqual(
            self.analysis(self.here, "-2", "--disable-protocol", "infiniband", "-d",
                          f"udp.port=={PORT},rocev2"),
            self.analysis(self.here, "-2"))

    def test_each_protocol_by_itself(self):
        path = write("two.pcap", [pk.roce(pk.bth(0x04) + bytes(64)), pk.pfc(8, QUANTA),
                                  pk.roce(pk.bth(0x04, psn=8) + bytes(64))])
        self.assertEqual(TS.frames(path, "rocev2.analysis", "-2", "--disable-protocol",
                                   "pfc"), [1, 3])
        self.assertEqual(TS.frames(path, "pfc.analysis.paused_since", "-2",
                                   "--disable-protocol", "rocev2"), [2])
        for name, twin, others in (("pfc", "macc", "eth.type == 0x8808"),
                                   ("rocev2", "infiniband", "ip")):
            with self.subTest(name):
                arguments = ("-r", path, "-V", "-2", "-Y", others)
                self.same_text(TS.run(*arguments, "--disable-protocol", name),
                               TS.run(*arguments, stock=True))
                self.assertEqual(TS.frames(path, twin, "--disable-protocol", name),
                                 TS.frames(path, twin, stock=True))

    def test_heuristics(self):
        """What claims payloads does not touch the analysis."""
        off = [part for name in ("rpcrdma_infiniband", "smb_direct_infiniband",
                                 "nvme_rdma", "iser_infiniband")
               for part in ("--disable-heuristic", name)]
        self.assertEqual(self.analysis(self.here, "-2", *off),
                         self.analysis(self.here, "-2"))


if __name__ == "__main__":
    sys.exit(main())
