#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What the plugin shows on packets is what the report says of them, for captures that
are simulated: the rows of sim/rows.py and the scenarios of sim/fabric_scenarios.py, each
file by itself.

    tests/agreement/test_simulated.py              one of every kind, one file of each
    tests/agreement/test_simulated.py --all        all of them, all seeds: ten minutes
    tests/agreement/test_simulated.py NAME...      some, all seeds
    tests/agreement/test_simulated.py --list
"""

import sys
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
# The simulator's come before the plugin's, which has a checks.py as well.
sys.path[:0] = [str(TESTS / name) for name in ("agreement", "sim", "plugin")]

import batch  # noqa: E402
import fabric_scenarios  # noqa: E402
import rows  # noqa: E402
from fabric import simulate_fabric  # noqa: E402
from sim import simulate  # noqa: E402

ROWS = {row.name: row for row in rows.ROWS}
# The large ones take minutes to simulate.
FABRICS = [name for name in fabric_scenarios.SCENARIOS if not name.startswith("large_")]

# One of every kind, so that all of rows.py is met in the time that a test may take.
CHOSEN = """
    clean_duplex_no_cm clean_vlan loss_write loss_ipv6 loss_with_back_off
    loss_read_request ack_loss_depth_1 response_loss_read response_loss_atomic
    reorder_some reorder_ident_constant duplicate rnr_with_sequence_nak marks_with_cnps
    fatal_nak rough_duplex selective_loss out_of_order_loss_and_late uc_loss ud_many_peers
    xrc_loss dc_two_initiators qpn_reused_no_cm equal_psns_loss loss_ident_shared corrupt
    capture_drops_bursts stamps_step_back merged_queues_loss mirror_twice_loss
    one_spine_packets erspan_iii vxlan bond_packets direction_interfaces
    psns_damaged_write psns_damaged_read psns_damaged_loss incast_ecn incast_pfc incast_pause cascade spray""".split()


def seeds_of(name):
    return range(1, ROWS[name].seeds + 1) if name in ROWS else (1,)


def captures_of(job):
    name, seed, which = job
    if name in ROWS:
        simulation = simulate(ROWS[name].scenario(seed))
    else:
        simulation = simulate_fabric(fabric_scenarios.scenario(name, seed))
    files = list(simulation.captures().items())
    if which is not None:
        files = [files[which % len(files)]]
    return {f"{name}-{seed}-{file}": (data, ()) for file, data in files}


def jobs_of(arguments):
    """What to simulate: name, seed, and which of its files to look at, None for all."""
    if not arguments:
        return [(name, 1, i) for i, name in enumerate(CHOSEN)]
    wanted = [*ROWS, *FABRICS] if arguments == ["--all"] else arguments
    return [(name, seed, None) for name in wanted for seed in seeds_of(name)]


def main(arguments):
    if arguments == ["--list"]:
        print("\n".join([*ROWS, *FABRICS]))
        return 0
    return batch.run(jobs_of(arguments), captures_of)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
