#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Upper layers decode behind the plugin as they do behind the built-in alone: field by
field what stock Wireshark shows of them, in one pass and in two.

The one rule: stock has to see the protocol, or there is nothing to compare with."""

import json
import struct
import sys
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TESTS / "plugin"))
sys.path.append(str(TESTS / "sim"))  # behind: it has a checks.py as well
import packets as pk  # noqa: E402
import roce  # noqa: E402
from checks import TS, Check, main, write  # noqa: E402

HOST, TARGET = (pk.ADDR_A, 0x111), (pk.ADDR_B, 0x222)  # address, QPN
SEND_ONLY, SEND_FIRST, SEND_LAST = 0x04, 0x00, 0x02
REQ_PRIVATE, REP_PRIVATE = 24 + 140, 24 + 36  # in a MAD (IBTA 12.6.5, 12.6.8)


class Wire:
    """Frames between two hosts."""

    def __init__(self):
        self.frames, self.psn = [], 0

    def add(self, source, qp, opcode, body, headers=b""):
        self.psn += 1
        pad = -len(body) % 4
        transport = pk.bth(opcode, qp=qp, psn=self.psn, pad=pad) + headers + body + bytes(pad)
        frame = pk.roce(transport)
        if source == TARGET:  # pk.roce() sends from A to B
            ip = frame[14:26] + frame[30:34] + frame[26:30] + frame[34:42]
            frame = frame[:14] + ip + transport + pk.icrc(ip, transport)
        self.frames.append(frame)
        return self

    def send(self, source, body):
        return self.add(source, (TARGET if source == HOST else HOST)[1], SEND_ONLY, body)

    def mad(self, source, message, private=b"", at=0):
        message = message[:at] + private + message[at + len(private):]
        return self.add(source, 1, 0x64, message, pk.deth(0x80010000, 1))

    def connect(self, port, request=b"", reply=b""):
        """By RDMA-CM to a TCP port number (IBTA A11: service ID and private data)."""
        ends = b"".join(bytes(12) + bytes(map(int, address.split(".")))
                        for address, _ in (HOST, TARGET))
        self.mad(HOST, roce.cm_req(1, comm_id=1, qpn=HOST[1], starting_psn=1,
                                   service_id=0x01060000 | port, src=HOST[0],
                                   dst=TARGET[0]),
                 struct.pack("!BBH", 0, 0x40, 50000) + ends + request, REQ_PRIVATE)
        self.mad(TARGET, roce.cm_rep(1, comm_id=2, remote_comm_id=1, qpn=TARGET[1],
                                     starting_psn=1), reply, REP_PRIVATE)
        return self.mad(HOST, roce.cm_rtu(1, comm_id=1, remote_comm_id=2))


class Upper(Check):
    def compare(self, name, frames, protocols):
        """What both show of these protocols, which stock has to know."""
        path = write(f"{name}.pcap", frames)
        names = protocols.split()
        for passes in ((), ("-2",)):
            ours, stock = (TS.fields(path, names, *passes, stock=which)
                           for which in (False, True))
            self.assertEqual(ours, stock)
            for protocol in names:
                self.assertTrue(any(row[protocol] for row in stock), protocol)
            shown = [self.layers(path, protocols, *passes, stock=stock)
                     for stock in (False, True)]
            self.assertEqual(*shown)
        for ours, theirs in zip(TS.infos(path), TS.infos(path, stock=True)):
            end = theirs.split(" QP=")[-1].partition(" ")[2].strip()
            self.assertTrue(ours.rstrip().endswith(end), (ours, theirs))

    def layers(self, path, protocols, *arguments, stock):
        """Of each packet what -V shows of these, all fields of it."""
        packets = json.loads(TS.run("-r", path, "-T", "json", "-J", protocols, *arguments,
                                    stock=stock))
        return [{name: value for name, value in packet["_source"]["layers"].items()
                 if name in protocols.split()} for packet in packets]

    def test_nvme_over_rdma(self):
        """NVMe over Fabrics: Connect, its completion, a READ command and its data."""
        wire = Wire().connect(4420, struct.pack("<HHHHH", 0, 1, 128, 127, 1) + bytes(22),
                              struct.pack("<HH", 0, 128) + bytes(28))
        connect = struct.pack("<BBHB", 0x7f, 0x40, 7, 1) + bytes(59)
        read = struct.pack("<BBHI", 0x02, 0x40, 8, 1) + bytes(16) + \
            struct.pack("<Q3sIB", 0x1000, b"\0\x10\0", 0x99, 0x40) + bytes(24)
        wire.send(HOST, connect).send(TARGET, struct.pack("<QHHHH", 0, 0, 0, 7, 0))
        wire.send(HOST, read)
        wire.add(TARGET, HOST[1], 0x0a, bytes(512), pk.reth(0x1000, 0x99, 512))
        wire.send(TARGET, struct.pack("<QHHHH", 0, 0, 1, 8, 0))
        self.compare("nvme", wire.frames, "nvme-rdma nvme")

    def test_iser(self):
        """A login request and its answer, each behind an iSER header (RFC 7145)."""
        wire = Wire().connect(3260, b"\0" * 4, b"\0" * 4)
        hello = b"\x10" + bytes(27)
        login = b"\x43\x87" + bytes(46)
        wire.send(HOST, hello + login).send(TARGET, hello + b"\x23\x87" + bytes(46))
        self.compare("iser", wire.frames, "iser iscsi")

    def test_smb_direct(self):
        """MS-SMBD: negotiation, and an SMB2 NEGOTIATE as one message."""
        negotiate = struct.pack("<HHHHIII", 0x0100, 0x0100, 0, 255, 1364, 8192, 1 << 20)
        answer = struct.pack("<HHHHHHIIIII", 0x0100, 0x0100, 0x0100, 0, 255, 255, 0,
                             1 << 20, 1364, 8192, 1 << 20)
        smb2 = b"\xfeSMB" + struct.pack("<HHIHHIIQIIQ16s", 64, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0,
                                        bytes(16))
        smb2 += struct.pack("<HHHHI16sQ", 36, 1, 1, 0, 0, bytes(16), 0) + struct.pack("<HH", 0x0202, 0)
        data = struct.pack("<HHHHIII", 255, 1, 0, 0, 0, 24, len(smb2)) + bytes(4) + smb2
        wire = Wire().send(HOST, negotiate).send(TARGET, answer).send(HOST, data)
        self.compare("smb", wire.frames, "smb_direct smb2")

    def test_smc_r(self):
        """RFC 7609: its text in Info begins in brackets, as the built-in's remarks do."""
        confirm = b"\x01\x2c" + bytes(42)
        self.compare("smc", Wire().send(HOST, confirm).send(TARGET, confirm).frames, "smc")
        self.assertTrue(TS.infos(TS.path("smc.pcap"))[0].endswith("| [SMC-R] Confirm Link"))

    def rpc(self):
        """RPC-over-RDMA of an NFS NULL call (RFC 8166, 5531)."""
        call = struct.pack("!10I", 0x1234, 0, 2, 100003, 3, 0, 0, 0, 0, 0)
        return struct.pack("!4I", 0x1234, 1, 32, 0) + bytes(12) + call

    def test_rpc_over_rdma(self):
        reply = struct.pack("!4I", 0x1234, 1, 32, 0) + bytes(12) + \
            struct.pack("!6I", 0x1234, 1, 0, 0, 0, 0)
        wire = Wire().send(HOST, self.rpc()).send(TARGET, reply)
        self.compare("rpc", wire.frames, "rpcordma rpc nfs")
        self.assertTrue(TS.infos(TS.path("rpc.pcap"))[0].startswith(
            "RC SEND Only QP=0x000222 PSN=1 Len=68 | "))

    def test_rpc_over_rdma_in_parts(self):
        wire = Wire()
        wire.add(HOST, TARGET[1], SEND_FIRST, self.rpc()[:60])
        wire.add(HOST, TARGET[1], SEND_LAST, self.rpc()[60:])
        self.compare("parts", wire.frames, "rpcordma rpc")


if __name__ == "__main__":
    sys.exit(main())
