# SPDX-License-Identifier: GPL-2.0-or-later
"""What a simulated path did to each copy of a packet, segment by segment, as `rocescope
compare` is to find it.

It is made of what the simulator knows (which copies passed which point, in which order,
with which mark) and of nothing that was captured wrongly: what a capture missed is told
apart from what the network lost.
"""

import collections
import dataclasses


@dataclasses.dataclass
class Truth:
    lost: int = 0                # copies that passed `from` and not `to`
    duplicated: int = 0
    matched: int = 0             # copies that both captures have
    marked: int = 0              # of those
    reordered: int = 0           # of those, first copies
    missed_from: int = 0         # passed both, and only `to` has it
    missed_to: int = 0


def _flow(tx):
    return tx.src, tx.dst, tx.dest_qpn


def _captured(tx, node):
    return len(tx.captured.get(node, []))


def _reordered(txs, low, high):
    """Copies that came behind one that had been before them at `low`."""
    flows = collections.defaultdict(list)
    for tx in txs:
        if _captured(tx, low) and _captured(tx, high):
            flows[_flow(tx)].append((tx.captured[high][0].number,
                                     tx.captured[low][0].number))
    n = 0
    for pairs in flows.values():
        newest = -1
        for _, number in sorted(pairs):
            n += number < newest
            newest = max(newest, number)
    return n


def segment(sim, from_node, to_node):
    """Truth between two neighbouring nodes (points count from 1), in the direction of
    those who send from `from_node` to `to_node`."""
    out = Truth()
    first = sim.host_a if from_node < to_node else sim.host_b
    txs = [tx for tx in sim.all_tx if (tx.end if tx.space == "cm" else tx.end.host) is first]
    for tx in txs:
        before, after = tx.passes.get(from_node, 0), tx.passes.get(to_node, 0)
        out.lost += max(0, before - after)
        out.duplicated += max(0, after - before)
        a, b = _captured(tx, from_node), _captured(tx, to_node)
        out.matched += min(a, b)
        if before and after:
            out.missed_from += bool(b and not a)
            out.missed_to += bool(a and not b)
        if a and b:
            out.marked += (not tx.captured[from_node][0].ce
                           and tx.captured[to_node][0].ce)
    out.reordered = _reordered(txs, from_node, to_node)
    return out
