# SPDX-License-Identifier: GPL-2.0-or-later
"""Pauses: what a switch asks for by PFC, and what a report makes of it.

There is one point, the link between both.  A pause is right if its priority, its start,
its end and how it ended are right.  It is decidable if the capture has all of its frames:
one that missed an XON must take the pause for one that ran out.
"""

import collections
import dataclasses
import json
import pathlib
import random

import roce
from accuracy_match import Score

LINK_BPS = 100 * 10**9
QUANTUM_BITS = 512
LONGEST = 0xFFFF                 # quanta
PRIORITIES = (3, 4)
N_PAUSES = 150                   # of a priority
REFRESH_NS = 200_000
XON_SHARE = 0.7                  # of the pauses; the others run out
START_NS = 1_795_000_000 * 10**9


@dataclasses.dataclass(frozen=True)
class Frame:
    time_ns: int
    priority: int
    quanta: int

    @property
    def until_ns(self):
        return self.time_ns + self.quanta * QUANTUM_BITS * 10**9 // LINK_BPS


@dataclasses.dataclass(frozen=True)
class Pause:
    priority: int
    start_ns: int
    end_ns: int
    how: str


@dataclasses.dataclass(frozen=True)
class PauseCell:
    rate: float                  # the share of time
    impairment = "pause"
    variant = "rising"           # as the others are without anything particular
    points = ("link",)
    seeds = (1, 2)

    @property
    def name(self):
        return f"pause-{100 * self.rate:g}%-rising"

    def matches(self, seed, directory, points, drops, report_of):
        frames, pauses = simulate(self.rate, seed)
        for drop in drops:
            draw = random.Random(f"{seed}/{drop}")
            kept = [frame for frame in frames if draw.random() >= drop]
            path = pathlib.Path(directory, f"{self.name}-{seed}-link-{100 * drop:g}%.pcap")
            path.write_bytes(_pcap(kept))
            report = report_of(path, "--link-speed", "100G")
            path.with_suffix(".json").write_text(json.dumps(report, indent=1))
            yield "link", drop, PauseMatch(pauses, set(kept), report)


def simulate(share, seed):
    """Frames in the order of time, and Pause -> its frames."""
    draw = random.Random(f"pause/{share}/{seed}")
    frames, pauses = [], {}
    for priority in PRIORITIES:
        now = START_NS
        for _ in range(N_PAUSES):
            mine, length = [], draw.randrange(20_000, 900_000)
            now += int(draw.expovariate(share / 460_000)) + 1
            for at in range(now, now + length, REFRESH_NS):
                mine.append(Frame(at, priority, LONGEST))
            if draw.random() < XON_SHARE:
                mine.append(Frame(now + length, priority, 0))
                end, how = now + length, "xon"
            else:
                end, how = mine[-1].until_ns, "expired"
            pauses[Pause(priority, now, end, how)] = mine
            frames += mine
            now = end
    return sorted(frames, key=lambda frame: (frame.time_ns, frame.priority)), pauses


def _pcap(frames):
    pcap = roce.Pcap()
    for frame in frames:
        pcap.add(frame.time_ns, roce.pfc({frame.priority: frame.quanta}))
    other = roce.Ip("10.9.0.1", "10.9.0.2").wrap(17, roce.udp(1, 2, b"the end"))
    return pcap.add(frames[-1].time_ns + 10**9, roce.ethernet(other)).bytes()


class PauseMatch:
    def __init__(self, pauses, kept, report):
        self.pauses, self.kept = pauses, kept
        self.claims = [Pause(of["priority"], i["start_ns"], i["end_ns"], i["end"])
                       for of in report["pauses"] for i in of["intervals"]]
        if len(self.claims) != sum(of["n_intervals"] for of in report["pauses"]):
            raise ValueError("the report does not list all pauses")
        self.decidable = [pause for pause, frames in pauses.items()
                          if self.kept.issuperset(frames)]

    def scores(self):
        claimed = collections.Counter(self.claims)
        return {"pause": Score(
            len(self.claims), sum(pause in self.pauses for pause in claimed),
            len(self.decidable), sum(claimed[pause] > 0 for pause in self.decidable))}

    def mistakes(self):
        for claim in self.claims:
            if claim not in self.pauses:
                yield f"FP {claim}"
        for pause in self.decidable:
            if pause not in self.claims:
                yield f"FN {pause}"
