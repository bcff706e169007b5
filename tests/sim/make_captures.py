#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes the simulated sample captures: captures/sim_*/{sender,receiver}.pcap.gz and
truth.json.  The same sources give the same bytes.

    tests/sim/make_captures.py [DIRECTORY]      default: captures/ of this tree
    tests/sim/make_captures.py --check [DIRECTORY]   says what differs; exit status 1
"""

import gzip
import json
import pathlib
import sys

import roce
from sim import Impairment, Point, QueuePair, Scenario, Side, Work, path_of, simulate

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

SAMPLES = (ACK_EVERY_10, READ_1MIB, DUPLEX)


def files_of(scenario):
    """Path -> uncompressed bytes of one sample."""
    simulation = simulate(scenario)
    truth = json.dumps(simulation.truth(), indent=1, sort_keys=True) + "\n"
    files = {f"{name}.pcap.gz": data for name, data in simulation.captures().items()}
    return {f"{scenario.name}/{name}": data
            for name, data in {**files, "truth.json": truth.encode()}.items()}


def main(arguments):
    check = arguments[:1] == ["--check"]
    default = pathlib.Path(__file__).resolve().parents[2] / "captures"
    root = pathlib.Path((arguments[check:] + [default])[0])
    differing = []
    for scenario in SAMPLES:
        for name, data in files_of(scenario).items():
            path = root / name
            zipped = path.suffix == ".gz"
            if check:
                # Compressed bytes may differ between releases of zlib; contents may not.
                found = path.read_bytes() if path.exists() else b""
                if (gzip.decompress(found) if zipped and found else found) != data:
                    differing.append(str(path))
                continue
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(roce.gzipped(data) if zipped else data)
    for path in differing:
        print(f"differs: {path}")
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
