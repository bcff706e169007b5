#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes the simulated sample captures: captures/sim_*, each with its truth.json; of two
hosts {sender,receiver,mirror}.pcap.gz, of a fabric what its scenario says.  The same
sources give the same bytes.

    tests/sim/make_captures.py [DIRECTORY]      default: captures/ of this tree
    tests/sim/make_captures.py --check [DIRECTORY]   says what differs; exit status 1
    tests/sim/make_captures.py --large N DIRECTORY   the same with N times the work
"""

import dataclasses
import gzip
import json
import pathlib
import sys

import fabric_scenarios
import roce
from artefacts import DeliverTwice, Encapsulate, MergedQueues
from fabric import FabricScenario, simulate_fabric
from sim import (
    SELECTIVE, Impairment, Point, QueuePair, Scenario, Segment, Side, Work, path_of,
    simulate)

CLEAN = path_of(Impairment(), Impairment(), delay_ns=4_000, jitter_ns=500)

# One ACK for every ten packets, wherever messages of six packets end.
ACK_EVERY_10 = Scenario(
    "sim_ack_every_10",
    (QueuePair(Side(0x101, start_psn=0x0A0000, depth=64, ack_request_every=10,
                    work=(Work("WRITE", 6000),) * 120),
               Side(0x202, start_psn=0x0B0000)),),
    seed=10, segments=CLEAN)

# Ten READs of 1 MiB, four at a time, each of 256 responses of 4096 bytes.  No CM, so that
# the path MTU has to be learned; headers only, as many a capture is.
READ_1MIB = Scenario(
    "sim_read_1mib",
    (QueuePair(Side(0x303, start_psn=0xFFFC00, max_rd_atomic=4,
                    work=(Work("READ", 1 << 20),) * 10),
               Side(0x404, start_psn=0x123456), pmtu=4096),),
    seed=20, segments=CLEAN, cm=False,
    points=(Point("sender", snap_length=128), Point("receiver", snap_length=128)))

# Both sides are requester and responder at once: in each direction WRITEs of the one
# stand between READ responses to the other, in two PSN spaces that overlap.
_MIXED = tuple(
    Work(("WRITE", "READ", "WRITE", "SEND", "READ", "FADD")[i % 6],
         (5000, 12000, 900, 3000, 4096, 8)[i % 6]) for i in range(120))
DUPLEX = Scenario(
    "sim_duplex",
    (QueuePair(Side(0x505, start_psn=0x700000, depth=16, work=_MIXED),
               Side(0x606, start_psn=0x700010, depth=16, work=_MIXED[1:] + _MIXED[:1])),),
    seed=30, segments=CLEAN)

WRITES = (Work("WRITE", 8192),) * 60

# The responder keeps what comes beyond a gap, and only what is missing is sent again: one
# packet for each NAK, with new ones before and behind it.
SELECTIVE_REPEAT = Scenario(
    "sim_selective",
    (QueuePair(Side(0x707, start_psn=0xFFFF00, work=WRITES, **SELECTIVE),
               Side(0x808, start_psn=0x333333, **SELECTIVE)),),
    seed=40, segments=path_of(forward=Impairment(loss=0.02)))

# UC: a packet that is lost takes the rest of its message with it; nothing asks for it.
UC_LOSS = Scenario(
    "sim_uc_loss",
    (QueuePair(Side(0x909, start_psn=0x10, work=WRITES),
               Side(0xA0A, start_psn=0x20, work=(Work("SEND", 3000),) * 40),
               transport="UC"),),
    seed=50, segments=path_of(forward=Impairment(loss=0.02)))

# XRC: requests carry the number of a receive queue, answers do not.
XRC_LOSS = Scenario(
    "sim_xrc",
    (QueuePair(Side(0xB0B, start_psn=0x5000, work=_MIXED[:60]),
               Side(0xC0C, start_psn=0x6000), transport="XRC"),),
    seed=60, segments=path_of(forward=Impairment(loss=0.01)))


def _mirrored(name, seed, *artefacts):
    """A switch between the hosts, which loses packets on the way out to B, and mirrors
    what comes in."""
    return Scenario(
        name, (QueuePair(Side(0xD0D, start_psn=0x1000, work=WRITES),
                         Side(0xE0E, start_psn=0x2000, work=WRITES[:10])),), seed=seed,
        points=(Point("mirror", artefacts=artefacts),),
        segments=(Segment(3_000), Segment(3_000, forward=Impairment(loss=0.01))))


# A mirror of both the way in and the way out of a switch.
MIRROR_TWICE = _mirrored("sim_mirror_twice", 70, DeliverTwice())

# A mirror in another network: GRE, ERSPAN type III.
ERSPAN_III = _mirrored("sim_erspan_iii", 86, Encapsulate("erspan_iii"))

# Two receive queues, merged 16 packets at a time; the network did nothing.  No jitter: it
# lets packets arrive in the same nanosecond, and of equal stamps nobody knows the order.
MERGED_QUEUES = Scenario(
    "sim_merged_queues",
    (QueuePair(Side(0x111, start_psn=0x4000, work=WRITES),
               Side(0x222, start_psn=0x8000, work=WRITES[:20])),),
    seed=90, segments=path_of(delay_ns=4_000), points=tuple(
        Point(name, artefacts=(MergedQueues(16),)) for name in ("sender", "receiver")))

# As collective libraries do it: six queue pairs without CM that begin at the same time
# and at the same PSN, which therefore tells nobody who talks to whom.
EQUAL_PSNS = Scenario(
    "sim_equal_psns",
    tuple(QueuePair(Side(0x1000 + 0x11 * i, start_psn=0, work=WRITES[:8]),
                    Side(0x2000 + 0x35 * i, start_psn=0, work=WRITES[:8]))
          for i in range(6)),
    seed=100, cm=False, segments=path_of(forward=Impairment(loss=0.01)))


def fabric(name, kind, n=None, **changes):
    """A scenario of fabric_scenarios.py under the name of its sample; with `n` messages of
    each flow, so that the files stay small."""
    base = fabric_scenarios.scenario(kind)
    flows = tuple(dataclasses.replace(flow, pair=dataclasses.replace(
        flow.pair, a=dataclasses.replace(flow.pair.a, work=flow.pair.a.work[:n])))
        for flow in base.flows)
    return dataclasses.replace(base, name=name, flows=flows, **changes)


# Three senders to h3.  PFC before ECN, seen at two ports of the switch and at h3.
INCAST_PFC = fabric("sim_incast_pfc", "incast_pfc")
# The same with ECN before PFC, CNPs and DCQCN; at h0 and at h3.
INCAST_ECN = fabric("sim_incast_ecn", "incast_ecn", n=12, points=(
    fabric_scenarios.at_nic("h0"), fabric_scenarios.at_nic("h3")))
# A host that stops to take packets in, and how its pause goes on to the senders.
CASCADE = fabric("sim_cascade", "cascade", n=28)
# A NIC that hangs and asks for a pause for a quarter of a second.
PAUSE_STORM = fabric("sim_pause_storm", "storm_beside")

SAMPLES = (ACK_EVERY_10, READ_1MIB, DUPLEX, SELECTIVE_REPEAT, UC_LOSS, XRC_LOSS,
           MIRROR_TWICE, ERSPAN_III, MERGED_QUEUES, EQUAL_PSNS, INCAST_PFC, INCAST_ECN,
           CASCADE, PAUSE_STORM)


def times(n, scenario):
    """The same with n times the work on each side."""
    def more(pair):
        return dataclasses.replace(pair, **{
            name: dataclasses.replace(side, work=side.work * n)
            for name, side in (("a", pair.a), ("b", pair.b))})
    if isinstance(scenario, FabricScenario):
        return dataclasses.replace(
            scenario, duration_ns=scenario.duration_ns * n,
            flows=tuple(dataclasses.replace(flow, pair=more(flow.pair))
                        for flow in scenario.flows))
    return dataclasses.replace(scenario, queue_pairs=tuple(
        map(more, scenario.queue_pairs)))


def files_of(scenario):
    """Path -> uncompressed bytes of one sample."""
    if isinstance(scenario, FabricScenario):
        simulation = simulate_fabric(scenario)
        truth = fabric_scenarios.to_json(simulation.truth())
        files = {f"{name}.gz": data for name, data in simulation.captures().items()}
    else:
        simulation = simulate(scenario)
        truth = json.dumps(simulation.truth(), indent=1, sort_keys=True) + "\n"
        files = {f"{name}.pcap.gz": data for name, data in simulation.captures().items()}
    return {f"{scenario.name}/{name}": data
            for name, data in {**files, "truth.json": truth.encode()}.items()}


def write(samples, root):
    for scenario in samples:
        for name, data in files_of(scenario).items():
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(roce.gzipped(data) if path.suffix == ".gz" else data)


def differing(samples, root):
    """Compressed bytes may differ between releases of zlib; contents may not."""
    for scenario in samples:
        for name, data in files_of(scenario).items():
            path = root / name
            found = path.read_bytes() if path.exists() else b""
            if (gzip.decompress(found) if path.suffix == ".gz" else found) != data:
                yield path


def main(arguments):
    default = pathlib.Path(__file__).resolve().parents[2] / "captures"
    if arguments[:1] == ["--large"]:
        if len(arguments) != 3 or not arguments[1].isdecimal():
            print(__doc__, file=sys.stderr)
            return 2
        write([times(int(arguments[1]), sample) for sample in SAMPLES],
              pathlib.Path(arguments[2]))
        return 0
    check = arguments[:1] == ["--check"]
    root = pathlib.Path((arguments[check:] + [default])[0])
    if not check:
        write(SAMPLES, root)
        return 0
    paths = list(differing(SAMPLES, root))
    for path in paths:
        print(f"differs: {path}")
    return 1 if paths else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
