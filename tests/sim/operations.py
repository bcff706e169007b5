# SPDX-License-Identifier: GPL-2.0-or-later
"""Operations and the packets that they become."""

import dataclasses

import roce
from scenario import Work

# op -> opcodes for First, Middle, Last, Only; all others have but one packet.
SEGMENTED = {
    "WRITE": ("RDMA WRITE First", "RDMA WRITE Middle", "RDMA WRITE Last",
              "RDMA WRITE Only"),
    "WRITE_IMM": ("RDMA WRITE First", "RDMA WRITE Middle",
                  "RDMA WRITE Last with Immediate", "RDMA WRITE Only with Immediate"),
    "SEND": ("SEND First", "SEND Middle", "SEND Last", "SEND Only"),
    "SEND_IMM": ("SEND First", "SEND Middle", "SEND Last with Immediate",
                 "SEND Only with Immediate"),
    "SEND_INV": ("SEND First", "SEND Middle", "SEND Last with Invalidate",
                 "SEND Only with Invalidate"),
}
READ_RESPONSE = ("RDMA READ Response First", "RDMA READ Response Middle",
                  "RDMA READ Response Last", "RDMA READ Response Only")
SINGLE = {"READ": "RDMA READ Request", "CAS": "CmpSwap", "FADD": "FetchAdd",
          "ATOMIC_WRITE": "ATOMIC WRITE", "FLUSH": "FLUSH"}
ATOMICS = ("CAS", "FADD")
ADDRESS, R_KEY = 0x7F0000000000, 0x1234
Q_KEY, SRQ, DC_KEY = 0x11111111, 0x000777, 0xDC00000000000001


def opcode(transport, name):
    """DC has the code points of RD."""
    return roce.OPCODE[f"{'RD' if transport == 'DC' else transport} {name}"]


def part(names, i, n):
    """The operation of packet i of n."""
    if n == 1:
        return names[3]
    return names[0 if i == 0 else 2 if i == n - 1 else 1]


def n_packets(length, pmtu):
    return max(1, -(-length // pmtu))


@dataclasses.dataclass(eq=False)
class Message:
    """A message that has PSNs."""
    work: Work
    psn: int
    n_psns: int
    address: int

    @property
    def end(self):
        return self.psn + self.n_psns

    def waits_for_response(self):
        return self.work.op in SINGLE


def service_header(end):
    """What every request of a service has behind its BTH.  DC's is not public: here it
    is sixteen bytes that begin with a key, as no header of RD does."""
    if end.transport in ("RC", "UC"):
        return b""
    return {"XRC": roce.xrceth(SRQ), "UD": roce.deth(Q_KEY, end.side.qpn),
            "DC": roce.atomicack(DC_KEY) + roce.deth(0, end.side.qpn)}[end.transport]


def single_headers(message, skipped_bytes, length):
    """Of an operation that is one packet; a READ may ask for a part."""
    address = message.address + skipped_bytes
    if message.work.op in ATOMICS:
        return roce.atomiceth(address, R_KEY, message.psn, 0)
    if message.work.op == "ATOMIC_WRITE":
        return roce.reth(address, R_KEY, 8)
    placement = roce.feth(0, 1) if message.work.op == "FLUSH" else b""
    return placement + roce.reth(address, R_KEY, length)


def segment_headers(kind, message):
    """Of a packet of a message in several."""
    headers = b""
    if "WRITE First" in kind or "WRITE Only" in kind:
        headers += roce.reth(message.address, R_KEY, message.work.length)
    if "Immediate" in kind:
        headers += roce.immdt(message.psn & 0xFFFFFFFF)
    if "Invalidate" in kind:
        headers += roce.ieth(R_KEY)
    return headers
