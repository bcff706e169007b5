# SPDX-License-Identifier: GPL-2.0-or-later
"""What a simulated scenario consists of: data alone, nothing that runs."""

import dataclasses

import roce

START_NS = 1_795_000_000 * 10**9

REQUESTS, RESPONSES, ACKS, CNPS, CM = "requests", "responses", "acks", "cnps", "cm"
DATA_SPACES = (REQUESTS, RESPONSES, ACKS)


@dataclasses.dataclass(frozen=True)
class Impairment:
    """What a segment does to flights of one direction.  Rates are per flight."""
    loss: float = 0.0
    duplicate: float = 0.0
    duplicate_lag_ns: int = 2_000
    reorder: float = 0.0         # these flights are late by reorder_ns
    reorder_ns: int = 30_000
    mark: float = 0.0            # ECT becomes CE
    corrupt: float = 0.0         # a bit flips: the ICRC, or the IPv4 header, no longer fits
    spaces: tuple = DATA_SPACES  # what loss, duplicate, reorder and corrupt apply to
    # Exactly these copies are dropped, these late by reorder_ns:
    # (space, PSN - starting PSN, copy number).
    drop: tuple = ()
    late: tuple = ()


HARMLESS = Impairment()


@dataclasses.dataclass(frozen=True)
class Segment:
    delay_ns: int = 0
    jitter_ns: int = 0           # keeps the order
    forward: Impairment = HARMLESS
    backward: Impairment = HARMLESS


@dataclasses.dataclass(frozen=True)
class Point:
    name: str
    drop: float = 0.0            # of the capture, not of the network
    snap_length: int = 262144
    nanoseconds: bool = True
    artefacts: tuple = ()        # see artefacts.py; after `drop`
    # Where an artefact makes parts: "files", or "interfaces" of one pcapng file.
    parts: str = "files"


@dataclasses.dataclass(frozen=True)
class HostConfig:
    address: str
    mac: str
    # "rising": one counter for all, as the network stack's or a NIC's; "rising_per_qp",
    # as soft-RoCE has it; "constant"; "random"
    ident: str = "rising"
    ident_start: int = 0x1000
    link_bps: int = 100 * 10**9
    tos: int = 26 << 2 | roce.ECN_ECT0
    cnp_interval_ns: int = 0     # between CNPs for one queue pair; 0: it sends none


@dataclasses.dataclass(frozen=True)
class Work:
    """One message."""
    # WRITE WRITE_IMM SEND SEND_IMM SEND_INV READ CAS FADD ATOMIC_WRITE FLUSH
    op: str
    length: int = 0
    at_ns: int = 0               # not before, counted from the start of traffic
    nak: int = 0                 # the responder answers with this fatal syndrome


@dataclasses.dataclass(frozen=True)
class Side:
    """One end of a queue pair: its own requests, and how it answers the peer's."""
    qpn: int
    start_psn: int = 100
    work: tuple = ()
    # as requester
    depth: int = 32              # messages outstanding
    max_rd_atomic: int = 16
    ack_request_every: int = 0   # packets; 0: with the last one of each message
    gap_ns: int = 0              # pacing between request packets
    timeout_ns: int = 4_096 << 14  # local ACK timeout 14, as perftest has it
    timeout_backoff: float = 2.0
    retry_count: int = 7
    # What it sends again after a NAK, a timeout or a gap in the answers: "all" from there
    # on (go-back-N), or what is "missing" alone (selective repeat).
    resend: str = "all"
    resend_after_ns: int = 20_000  # "missing": an older NAK's repair is on its way
    # as responder
    beyond_gap: str = "discard"  # or "keep", for the time when the gap is filled
    nak_delay_ns: int = 0        # "keep": a gap that fills sooner gets no NAK
    nak_again_ns: int = 0        # "keep": another NAK so long after one; 0: one alone
    turnaround_ns: int = 1_500
    ack_every: int = 1           # one ACK for so many that are asked for ...
    ack_delay_ns: int = 20_000   # ... or after this time
    receives: int = -1           # buffers for SEND; -1: never short of them
    receive_batch: int = 4       # more come in batches ...
    receive_interval_ns: int = 400_000  # ... at this interval
    rnr_timer: int = 12          # code: 0.64 ms
    nak_after_rnr: bool = False  # soft-RoCE: also a sequence NAK for what follows


# Ways to recover, for both sides of a queue pair: Side(..., **SELECTIVE).
SELECTIVE = {"resend": "missing", "beyond_gap": "keep"}
# As NICs do it that expect packets to take several paths.
OUT_OF_ORDER = {**SELECTIVE, "nak_delay_ns": 60_000}


@dataclasses.dataclass(frozen=True)
class QueuePair:
    """RC, UC, XRC, DC or UD.  Several UD or DC pairs may share a QPN at one end: then it
    is one queue pair that talks to several; those of UD share its PSNs as well.  XRC
    and DC are driven by `a`: `b` has no work."""
    a: Side
    b: Side
    pmtu: int = 1024
    transport: str = "RC"
    # It begins so long after the start of traffic.  If its QPNs are those of an earlier
    # one, that has done all its work by then, and its QPNs are given out anew.
    start_ns: int = 0


HOST_A = HostConfig("10.9.0.1", "02:00:00:00:0a:01")
HOST_B = HostConfig("10.9.0.2", "02:00:00:00:0a:02", ident_start=0x8000)
HOST_A6 = dataclasses.replace(HOST_A, address="fd09::1")
HOST_B6 = dataclasses.replace(HOST_B, address="fd09::2")


@dataclasses.dataclass(frozen=True)
class Scenario:
    name: str
    queue_pairs: tuple
    seed: int = 1
    host_a: HostConfig = HOST_A
    host_b: HostConfig = HOST_B
    points: tuple = (Point("sender"), Point("receiver"))
    segments: tuple = ()         # one more than points; see path_of()
    cm: bool = True              # connect and disconnect by CM
    vlans: tuple = ()


def path_of(forward=HARMLESS, backward=HARMLESS, delay_ns=5_000, jitter_ns=0):
    """Segments for two points at the two hosts: everything happens between them."""
    return (Segment(), Segment(delay_ns, jitter_ns, forward, backward), Segment())
