#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Latencies and the time line against what the packets of a simulated capture say.

Each scenario is reported at both of its points.  What the report has to say is reckoned
here from the capture's stamps and from what the simulator knows of each packet: which
copy it is, and which round it belongs to.  Counts, least and greatest have to be the
same, means and deviations to a ns, quantiles within 1/256.

    tests/sim/test_measures.py [ROW...]     some rows alone
"""

import collections
import dataclasses
import json
import math
import os
import pathlib
import struct
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(os.environ.get("ROCESCOPE_SOURCE",
                                     pathlib.Path(__file__).resolve().parents[2]))
BINARY = os.environ.get("ROCESCOPE", str(SOURCE / "build/dev/bin/rocescope"))

import roce  # noqa: E402
from sim import (  # noqa: E402
    ACKS, CNPS, HOST_A, HOST_B, REQUESTS, RESPONSES, Impairment, QueuePair, Scenario,
    Side, Work, path_of, simulate)

LATENCIES = ("message_completion_ns", "ack_latency_ns", "read_first_ns",
             "read_latency_ns", "nak_generation_ns", "nak_reaction_ns", "recovery_ns",
             "cnp_delay_ns", "cnp_interval_ns")
ANSWERED = ("READ", "CAS", "FADD")   # by a response, not by an ACK
PATIENCE_NS = 16 * 10**6     # how long a missing response keeps READs from being timed
CNP_WITHIN_NS = 200_000
MOST_BINS = 512

# --- what was captured ---------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Seen:
    """A captured packet."""
    time_ns: int
    tx: object
    ce: bool
    ip_payload_bits: int


def captured(tap):
    """What a point saw, in order, with the stamps that stand in its file."""
    out = []
    packets = roce.pcap_packets(tap.pcap.bytes())
    for flight, (time_ns, _, frame) in zip(tap.seen, packets, strict=True):
        # Ethernet, IPv4 without options
        payload = struct.unpack_from(">H", frame, 16)[0] - 20
        out.append(Seen(time_ns, flight.tx, flight.ce, payload * 8))
    return out


def messages_of(end):
    """(first PSN, PSN behind the last, operation) of each message."""
    psn, out = end.side.start_psn, []
    for work in end.side.work:
        n = 1
        if work.op not in ("CAS", "FADD"):
            n = max(1, -(-work.length // end.pmtu))
        out.append((psn, psn + n, work.op))
        psn += n
    return out


# --- what a point can measure of one direction ---------------------------------------


class Measured:
    """Walks through a capture as the requests of `end` and their answers go by."""

    def __init__(self, end, seen):
        self.end = end
        self.samples = {name: [] for name in LATENCIES}
        self.copies = collections.defaultdict(list)  # PSN -> (when, Tx, number) seen
        self.n_requests = 0
        self.unclear = set()     # PSNs of requests that were late
        self.una = None
        self.highest = -1        # PSN behind the highest request seen
        self.messages = {m[0]: m for m in messages_of(end)}
        self.open = sorted(self.messages)
        self.settled = {}        # PSN -> whether it was clean when it was acknowledged
        self.responses = collections.defaultdict(list)
        self.owed = {}           # PSN of a missing response -> when it was noticed
        self.last_response = self.newest_response = None
        self.broken = set()      # READs whose responses did not come in order
        self.gaps = {}           # expected PSN -> when a request beyond it came
        self.by_gap = set()      # NAKs that such a request provoked
        self.expected = end.side.start_psn
        self.repair = None       # (PSN, since when, whether a response ends it)
        self.noticed = {}        # PSN of a missing request -> when
        self.naks = {}           # Tx of a NAK -> when it was seen
        self.rounds = set()
        self.round_i, self.next = -1, None   # the newest round; behind the newest request
        self.ce_ns = self.cnp_ns = None
        for one in seen:
            self.take(one)

    def take(self, one):
        tx = one.tx
        if tx.space == CNPS:
            if tx.dest_qpn == self.end.side.qpn:
                self.take_cnp(one.time_ns)
            return
        if tx.end is self.end and one.ce and tx.carries_data():
            if self.ce_ns is None or one.time_ns > self.ce_ns + CNP_WITHIN_NS:
                self.ce_ns = one.time_ns
        if tx.end is self.end and tx.space == REQUESTS:
            self.take_request(one.time_ns, tx)
        elif tx.end is self.end.peer and tx.space == ACKS:
            self.take_ack(one.time_ns, tx)
        elif tx.end is self.end.peer and tx.space == RESPONSES:
            self.take_response(one.time_ns, tx)

    def add(self, name, ns):
        self.samples[name].append(ns)

    # congestion

    def take_cnp(self, now):
        if self.ce_ns is not None and now <= self.ce_ns + CNP_WITHIN_NS:
            self.add("cnp_delay_ns", now - self.ce_ns)
        self.ce_ns = None
        if self.cnp_ns is not None:
            self.add("cnp_interval_ns", now - self.cnp_ns)
        self.cnp_ns = now

    # requests

    def take_request(self, now, tx):
        if self.una is None:
            self.una = self.highest = self.next = tx.psn
        if tx.resent and tx.round_i not in self.rounds and tx.psn < self.highest:
            self.begin_round(now, tx)
        # What is sent runs on; what it skips went unseen.
        if tx.resent and tx.round_i > self.round_i:
            self.round_i, self.next = tx.round_i, tx.psn
        for psn in range(max(self.next, self.una), tx.psn):
            self.noticed.setdefault(psn, now)
        if self.repair and self.repair[0] == tx.psn and not tx.resent:
            self.repair = None   # it was merely late
        self.next = max(self.next, tx.psn + tx.n_psns)
        if tx.psn < self.highest and tx.psn not in self.copies:
            self.unclear.add(tx.psn)         # late, or a first copy never came
        self.n_requests += 1
        self.copies[tx.psn].append((now, tx, self.n_requests))
        for psn in range(tx.psn, tx.psn + tx.n_psns):
            self.noticed.pop(psn, None)
        self.highest = max(self.highest, tx.psn + tx.n_psns)
        self.execute(now, tx)

    def execute(self, now, tx):
        """A responder that stood here."""
        if tx.psn > self.expected:
            self.gaps.setdefault(self.expected, now)
        elif tx.psn == self.expected:
            self.expected += tx.n_psns

    def begin_round(self, now, tx):
        self.rounds.add(tx.round_i)
        entry = self.end.requester.rounds[tx.round_i]
        cause, nak, psn = entry["cause"], entry["nak"], tx.psn
        if cause == "rnr":
            return
        evident = None
        if cause == "nak_sequence":
            if nak.psn == psn and nak in self.naks:
                self.add("nak_reaction_ns", now - self.naks[nak])
            psn = nak.psn
            evident = self.naks.get(nak)
        elif psn in self.copies:
            evident = self.copies[psn][-1][0]
        by_response = tx.work.op in ANSWERED
        if by_response:
            answers = self.responses.get(psn)
            asked = self.copies[self.asked_for(psn)[0]]
            evident = answers[-1] if answers else asked[-1][0] if asked else None
            evident = self.owed.get(psn, evident)
        elif cause == "nak_sequence" and psn not in self.noticed and nak in self.by_gap:
            return               # what was asked for has come late
        evident = self.noticed.get(psn, evident)
        if self.repair and (self.repair[0] == psn
                            or self.repair[0] < psn and not self.repair[2]):
            return               # it goes on
        if evident is not None:
            self.repair = (psn, evident, by_response)

    def is_clean(self, psn):
        """Seen once, on time, the first copy; no round has gone back behind it."""
        copies = self.copies.get(psn, [])
        if len(copies) != 1 or copies[0][1].copy != 1 or psn in self.unclear:
            return False
        return not any(tx.resent and tx.psn <= psn and number > copies[0][2]
                       for several in self.copies.values() for _, tx, number in several)

    # answers

    def cover(self, now, una, *, by_response=False):
        if self.repair and una > self.repair[0] and self.repair[2] == by_response:
            self.add("recovery_ns", now - self.repair[1])
            self.repair = None
        if una <= self.una:
            return
        for psn in range(self.una, una):
            self.settled[psn] = self.is_clean(psn)
        while self.open and self.messages[self.open[0]][1] <= una:
            first, end, op = self.messages[self.open.pop(0)]
            if op in ANSWERED:
                continue
            if all(self.settled.get(psn) for psn in range(first, end)):
                self.add("message_completion_ns", now - self.copies[first][0][0])
        self.una = una

    def take_ack(self, now, tx):
        if self.una is None:
            return
        if tx.syndrome >> 5:
            if tx.syndrome == roce.NAK_PSN_SEQUENCE:
                self.naks[tx] = now
                if tx.psn in self.gaps:
                    self.by_gap.add(tx)
                    self.add("nak_generation_ns", now - self.gaps.pop(tx.psn))
            self.cover(now, tx.psn)
            return
        if tx.psn >= self.una and self.is_clean(tx.psn):
            request = self.copies[tx.psn][0]
            if request[1].work.op not in ANSWERED:
                self.add("ack_latency_ns", now - request[0])
        self.cover(now, tx.psn + 1)

    def asked_for(self, psn):
        """The READ or atomic that holds this PSN."""
        return next((m for m in self.messages.values() if m[0] <= psn < m[1]), None)

    def notice_owed(self, now, psn):
        """Responses passed over that requests seen here have asked for."""
        start = self.last_response
        start = self.end.side.start_psn if start is None else start + 1
        for missing in range(start, psn):
            message = self.asked_for(missing)
            if message[2] in ANSWERED and message[0] in self.copies:
                self.owed.setdefault(missing, now)

    def take_response(self, now, tx):
        first, end, op = self.asked_for(tx.psn)
        fresh = self.newest_response is None or tx.psn > self.newest_response
        self.notice_owed(now, tx.psn)
        self.last_response = tx.psn
        if fresh:
            self.newest_response = tx.psn
        else:
            self.broken.add(first)
        disturbed = any(now <= when + PATIENCE_NS for when in self.owed.values())
        self.owed.pop(tx.psn, None)
        repaired = self.repair and self.repair[2] and self.repair[0] == tx.psn
        if repaired:
            self.cover(now, tx.psn + 1, by_response=True)
        clean = fresh and not disturbed and self.is_clean(first)
        if not clean or tx.psn > first and not self.responses[tx.psn - 1]:
            self.broken.add(first)
        self.responses[tx.psn].append(now)
        if clean:
            asked_ns = self.copies[first][0][0]
            if op == "READ" and tx.psn == first:
                self.add("read_first_ns", now - asked_ns)
            if tx.psn == end - 1 and first not in self.broken:
                self.add("message_completion_ns", now - asked_ns)
                if op == "READ":
                    self.add("read_latency_ns", now - asked_ns)
        self.cover(now, tx.psn + (tx.psn == end - 1))


# --- comparing -----------------------------------------------------------------------


def check_dist(got, samples):
    """What is wrong with a distribution."""
    if not samples:
        return [] if got is None else [f"{got['count']} samples, truth none"]
    if got is None:
        return [f"no samples, truth {len(samples)}"]
    samples = sorted(samples)
    n = len(samples)
    mean = sum(samples) // n
    deviation = math.sqrt(sum((x - sum(samples) / n) ** 2 for x in samples) / n)
    problems = [f"{key} {got[key]}, truth {want}" for key, want in
                (("count", n), ("min", samples[0]), ("max", samples[-1]), ("mean", mean))
                if got[key] != want]
    if abs(got["stddev"] - deviation) > 1:
        problems.append(f"stddev {got['stddev']}, truth {deviation:.1f}")
    for key, permille in (("p50", 500), ("p90", 900), ("p99", 990)):
        want = samples[max(1, -(-n * permille // 1000)) - 1]
        if abs(got[key] - want) > want / 256:
            problems.append(f"{key} {got[key]}, truth {want}")
    return problems


def expected_bins(seen, timeline, keep, amount):
    bins = [0] * len(timeline["series"][0]["bits"])
    for one in seen:
        if keep(one):
            bins[(one.time_ns - timeline["start_ns"]) // timeline["bin_ns"]] += amount(one)
    return bins


def check_series(series, seen, timeline, keep):
    """Traffic and marks of a series against the packets that belong to it."""
    marked = [one for one in seen if one.ce and one.tx.carries_data()]
    problems = []
    for key, packets, amount in (("bits", seen, lambda one: one.ip_payload_bits),
                                 ("ce", marked, lambda one: 1)):
        if series[key] != expected_bins(packets, timeline, keep, amount):
            problems.append(f"time line: {key} of {series['of']} {series['id']}")
    return problems


def check_timeline(report, seen, ends):
    """The time line of one point against its packets and against the counters."""
    timeline = report["timeline"]
    total, point, *streams = timeline["series"]
    problems = []
    if not 0 < len(total["bits"]) <= MOST_BINS or timeline["start_ns"] % timeline["bin_ns"]:
        problems.append("time line: bins")
    problems += check_series(point, seen, timeline, lambda one: True)
    if {**total, "of": "point", "id": 0} != point:
        problems.append("time line: the total is not that of the only point")
    by_id = {s["id"]: s for s in report["streams"]}
    for series in streams:
        stream = by_id[series["id"]]
        for key, want in (("ce", stream["ecn"]["ce"]), ("cnps", stream["cnps_received"]),
                          ("retransmissions", stream["retransmissions"]["packets"])):
            if (series[key] and sum(series[key])) != want:
                problems.append(f"time line: {key} of {series['id']}, counted {want}")
        end = ends.get((stream["src"], stream["dst_qpn"]))
        if end is not None:
            problems += check_series(series, seen, timeline,
                                     lambda one, end=end: one.tx.end is end)
    if len(streams) != len(by_id):
        problems.append("time line: not all streams")
    return problems


def report_of(data, stem, directory):
    path = pathlib.Path(directory, f"{stem}.pcap")
    path.write_bytes(data)
    done = subprocess.run([BINARY, "--quiet", "--json", "-", str(path)], check=True,
                          capture_output=True, timeout=300)
    return json.loads(done.stdout)


# --- scenarios -----------------------------------------------------------------------

WRITES = (Work("WRITE", 8192),) * 100
READS = (Work("READ", 12000),) * 60
MIXED = tuple(Work(op, size) for op, size in (
    ("WRITE", 5000), ("READ", 9000), ("SEND_IMM", 1500), ("FADD", 8), ("WRITE_IMM", 64),
    ("SEND_INV", 2500), ("CAS", 8), ("READ", 100), ("WRITE", 0))) * 12


def pair(work, peer_work=(), *, pmtu=1024, a=None, b=None):
    return QueuePair(
        Side(0x111, start_psn=0xF000, work=tuple(work), **(a or {})),
        Side(0x222, start_psn=0x400000, work=tuple(peer_work), **(b or {})), pmtu=pmtu)


@dataclasses.dataclass(frozen=True)
class Row:
    name: str
    pairs: tuple
    measures: tuple          # of these there have to be samples, or the row tests nothing
    forward: Impairment = Impairment()
    backward: Impairment = Impairment()
    seeds: int = 3
    cnp_interval_ns: int = 0


ROWS = (
    Row("writes", (pair(WRITES),), ("ack_latency_ns", "message_completion_ns")),
    Row("coalesced", (pair(WRITES, a={"ack_request_every": 10}, b={"ack_every": 3}),),
        ("ack_latency_ns", "message_completion_ns")),
    Row("reads", (pair(READS),),
        ("read_first_ns", "read_latency_ns", "message_completion_ns")),
    Row("both directions", (pair(MIXED, MIXED),),
        ("read_latency_ns", "ack_latency_ns", "message_completion_ns")),
    Row("requests lost", (pair(WRITES * 3),),
        ("nak_generation_ns", "nak_reaction_ns", "recovery_ns"),
        forward=Impairment(loss=0.01, spaces=(REQUESTS,))),
    Row("acknowledgements lost", (pair(WRITES, a={"depth": 1}),), ("recovery_ns",),
        backward=Impairment(loss=0.05, spaces=(ACKS,))),
    Row("responses lost", (pair(READS * 3),), ("read_latency_ns", "recovery_ns"),
        backward=Impairment(loss=0.004, spaces=(RESPONSES,))),
    Row("late requests", (pair(WRITES),), ("nak_generation_ns", "nak_reaction_ns"),
        forward=Impairment(reorder=0.01, spaces=(REQUESTS,))),
    Row("duplicates", (pair(WRITES),), ("ack_latency_ns",),
        forward=Impairment(duplicate=0.05, spaces=(REQUESTS,))),
    Row("short of receives", (pair((Work("SEND", 3000),) * 100, b={"receives": 8}),),
        ("ack_latency_ns",), seeds=1),
    Row("marked", (pair(WRITES * 4),), ("cnp_delay_ns", "cnp_interval_ns"),
        forward=Impairment(mark=0.02), cnp_interval_ns=50_000),
)


def run_row(row, directory):
    problems, taken = [], collections.Counter()
    for seed in range(1, row.seeds + 1):
        simulation = simulate(Scenario(
            row.name, row.pairs, seed=seed, cm=True,
            segments=path_of(row.forward, row.backward, jitter_ns=300),
            host_a=dataclasses.replace(HOST_A, cnp_interval_ns=row.cnp_interval_ns),
            host_b=dataclasses.replace(HOST_B, cnp_interval_ns=row.cnp_interval_ns)))
        for tap in simulation.taps:
            seen = captured(tap)
            where = f"seed {seed}, {tap.point.name}"
            report = report_of(tap.pcap.bytes(), f"{row.name}-{seed}", directory)
            found = {(s["src"], s["dst_qpn"]): s for s in report["streams"]}
            ends = {}
            for end in simulation.ends:
                key = end.host.config.address, end.peer.side.qpn
                ends[key] = end
                measured = Measured(end, seen)
                for name, samples in measured.samples.items():
                    taken[name] += len(samples)
                    problems += [f"{where}, {key[0]}: {name}: {problem}" for problem in
                                 check_dist(found[key][name], samples)]
            problems += [f"{where}: {p}" for p in check_timeline(report, seen, ends)]
    return problems + [f"no {name}: the row tests nothing" for name in row.measures
                       if not taken[name]]


# --- the clock and pauses ------------------------------------------------------------


def write_frames(times):
    """A capture of WRITEs at these times, and how many bits of IP payload each has."""
    capture = roce.Pcap()
    for i, time_ns in enumerate(times):
        ib = roce.transport(roce.OPCODE["RC RDMA WRITE Only"], dest_qpn=5, psn=i,
                            headers=roce.reth(0, 1, 64), payload=bytes(64))
        ip = roce.rocev2(roce.Ip("10.0.0.1", "10.0.0.2", ident=i), 50000, ib)
        capture.add(time_ns, roce.ethernet(ip))
    return capture.bytes(), (len(ip) - 20) * 8


def check_clock(directory):
    """Whatever the clock does, every bit is in a bin, and bins are few."""
    start, year = 1_795_000_000 * 10**9, 365 * 86400 * 10**9
    for name, times, most_ns in (
            ("steady", [start + i * 1000 for i in range(512)], 2000),
            ("a long capture", [start + i * 10**9 for i in range(3000)], 16 * 10**9),
            ("backwards", [start - i * 1000 for i in range(900)], 4000),
            ("years back", [start, start - 20 * year, start + 1], year),
            ("the beginning of time", [start, 0, start], year)):
        data, bits = write_frames(times)
        timeline = report_of(data, "clock", directory)["timeline"]
        want = collections.Counter((t - timeline["start_ns"]) // timeline["bin_ns"]
                                   for t in times)
        rows = [series["bits"] for series in timeline["series"]]
        if (len(rows) != 3 or not 0 < len(rows[0]) <= MOST_BINS
                or timeline["bin_ns"] > most_ns
                or any(row != [bits * want[i] for i in range(len(row))] for row in rows)):
            yield f"{name}: {timeline['bin_ns']}, {rows}"[:300]


def overlap(intervals, low, high):
    return sum(max(0, min(end, high) - max(start, low)) for start, end in intervals)


def check_pauses(directory):
    """Pauses that XON, expiry and the end of the capture end, cut at the bins' borders."""
    start, quantum = 1_795_000_000 * 10**9, 5.12
    capture = roce.Pcapng((roce.Interface(name="p", speed_bps=100 * 10**9),
                           roce.Interface(name="q")))
    lasting = int(10000 * quantum)
    for at, frame in ((0, roce.pfc({3: 10000})), (7_777, roce.pfc({3: 0})),
                      (20_000, roce.pfc({3: 10000, 4: 1000})),
                      (100_001, roce.pause(10000)), (200_003, roce.pfc({5: 0xFFFF})),
                      (300_000, roce.pfc({3: 0}))):
        capture.add(start + at, frame)
    for at in (0, 1000):
        capture.add(start + at, roce.pfc({3: 5 if at == 0 else 0}), interface=1)
    intervals = {3: [(0, 7_777), (20_000, 20_000 + lasting)], 4: [(20_000, 25_120)],
                 5: [(200_003, 300_000)]}
    by_pause = (100_001, 100_001 + lasting)
    path = pathlib.Path(directory, "pauses.pcapng")
    path.write_bytes(capture.bytes())
    done = subprocess.run([BINARY, "--quiet", "--json", "-", str(path)], check=True,
                          capture_output=True, timeout=300)
    timeline = json.loads(done.stdout)["timeline"]
    width, first = timeline["bin_ns"], timeline["start_ns"] - start
    points = [s for s in timeline["series"] if s["of"] == "point"]
    for priority in range(8):
        spans = intervals.get(priority, []) + [by_pause]
        row = points[0]["paused_ns"][priority]
        want = [overlap(spans, first + i * width, first + (i + 1) * width)
                for i in range(len(row))]
        if row != want:
            yield f"priority {priority}: {row}, truth {want}"[:400]
    if points[1]["paused_ns"] != [[0] * len(row)] * 3 + [None] + [[0] * len(row)] * 4:
        yield f"without speed: {points[1]['paused_ns']}"[:400]
    if timeline["series"][0]["paused_ns"] is not None:
        yield "the total has pauses"


def main(arguments):
    failed = []

    def say(name, problems):
        if problems:
            failed.append(name)
            print(f"FAILED {name}")
            for problem in problems[:12]:
                print(f"    {problem}")

    with tempfile.TemporaryDirectory() as directory:
        if not arguments:
            say("clock", list(check_clock(directory)))
            say("pauses", list(check_pauses(directory)))
        rows = [row for row in ROWS if not arguments or row.name in arguments]
        for row in rows:
            try:
                say(row.name, run_row(row, directory))
            except Exception as error:  # a row that breaks must not hide the next
                say(row.name, [f"{type(error).__name__}: {error}"])
    print(f"{len(failed)} failed: {' '.join(failed)}" if failed
          else f"{len(rows)} rows passed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
