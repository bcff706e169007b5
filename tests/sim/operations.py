# SPDX-License-Identifier: GPL-2.0-or-later
"""Operations and the packets that they become."""

import dataclasses

import roce
from scenario import Work

# op -> opcodes for First, Middle, Last, Only; READ and atomics have but one packet.
OPCODES = {name[3:]: value for name, value in roce.OPCODE.items() if name.startswith("RC ")}
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
ATOMIC = {"CAS": "CmpSwap", "FADD": "FetchAdd"}
ADDRESS, R_KEY = 0x7F0000000000, 0x1234


def part(opcodes, i, n):
    """The opcode of packet i of n."""
    if n == 1:
        return OPCODES[opcodes[3]]
    return OPCODES[opcodes[0 if i == 0 else 2 if i == n - 1 else 1]]


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
        return self.work.op == "READ" or self.work.op in ATOMIC


def request_headers(kind, message):
    headers = b""
    if "WRITE First" in kind or "WRITE Only" in kind:
        headers += roce.reth(message.address, R_KEY, message.work.length)
    if "Immediate" in kind:
        headers += roce.immdt(message.psn & 0xFFFFFFFF)
    if "Invalidate" in kind:
        headers += roce.ieth(R_KEY)
    return headers
