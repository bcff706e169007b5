#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What `compare` says of two points depends on what passed them, and on nothing else: both
captures of every sample are changed, or one of them, and the comparison is that of the
originals but for what the change says.

    tests/metamorphic/test_path.py [SAMPLE...]   some of them alone
"""

import dataclasses
import itertools
import json
import pathlib
import re
import subprocess
import sys

from captured import sample, samples # first: it says where the others are
import changes
import frames
import roce
import tunnels
from bounded import BINARY, SMALLER, scratch
from reports import Kinds, differences, unexplained

HOUR_NS = 3600 * 10**9
NAMES = ("near.pcap", "far.pcap")
KINDS = {kind.name: kind for kind in tunnels.KINDS}
BYTES = (r"points\.\d+\.bytes",)
# What is fitted to stamps of two clocks is as exact as this, and far from its uncertainty.
RECKONED = re.compile(r"segments\.\d+\.(clock|delay_variation_ns)\.\w+")
LEAST_ROUNDING, ROUNDING = 20, 0.01 # ns or ppb; a share


@dataclasses.dataclass(frozen=True)
class Case:
    what: str
    near: object                 # a Sample each
    far: object
    want: object                 # the comparison
    may_differ: tuple = ()


def compared(folder, near, far):
    for name, capture in zip(NAMES, (near, far)):
        (folder / name).write_bytes(capture.bytes())
    done = subprocess.run([BINARY, "compare", "--quiet", "--json", "-", *NAMES], cwd=folder,
                          capture_output=True, timeout=600)
    assert done.returncode == 0, f"status {done.returncode}: {done.stderr[-500:]!r}"
    return json.loads(done.stdout)


def pairs():
    """Both ends of each sample that has two."""
    by_folder = itertools.groupby(samples(), key=lambda path: path.parent)
    for folder, paths in by_folder:
        by_name = {path.name: path for path in paths}
        if "sender.pcap.gz" in by_name:
            near, far = (sample(by_name[f"{end}.pcap.gz"]) for end in ("sender", "receiver"))
            yield folder.name, near, far


def moved(capture, by_ns):
    return capture.but(p.but(time_ns=p.time_ns + by_ns) for p in capture.packets)


# --- changes -------------------------------------------------------------------------


def times(near, far, want):
    first = min(p.time_ns for p in near.packets + far.packets)
    for what, by_ns in (("beyond 2038", changes.BEYOND_2038_NS), ("from 0 on", -first)):
        yield Case(what, moved(near, by_ns), moved(far, by_ns),
                   Kinds(stamp=lambda ns, by_ns=by_ns: ns + by_ns).of(want))


def _ahead(want, by_ns):
    """The comparison if the far point's clock shows so much more."""
    points = [want["points"][0], Kinds(stamp=lambda ns: ns + by_ns).of(want["points"][1])]
    segments = []
    for segment in want["segments"]:
        clock = segment["clock"]
        if clock["offset_ns"] is not None:
            offset_ns = clock["offset_ns"] + (by_ns if segment["to"] == 1 else -by_ns)
            clock = clock | {"offset_ns": offset_ns}
        # What was lost on the way back was last seen there.
        lost = [Kinds(stamp=lambda ns: ns + by_ns * packet["last_seen_at"]).of(packet)
                for packet in segment["lost_packets"]]
        segments.append(segment | {"clock": clock, "lost_packets": lost})
    return want | {"points": points, "segments": segments}


def clocks(near, far, want):
    """One clock is hours behind or ahead: the offset says so, and nothing else."""
    for by_ns in (HOUR_NS + 37, -HOUR_NS - 37):
        yield Case(f"far clock {by_ns:+} ns", near, moved(far, by_ns), _ahead(want, by_ns))


def names(near, far, want):
    """Addresses and numbers, the same ones at both points."""
    both = near.but(near.packets + far.packets)
    renamed = changes.renaming(both, backwards=True)
    yield Case("addresses", *(c.each(lambda f: frames.with_addresses(f, renamed))
                              for c in (near, far)),
               Kinds(text=changes.in_texts(renamed)).of(want))
    yield Case("QPNs", *(c.each(lambda f: frames.with_qpns(f, changes.other_qpn))
                         for c in (near, far)), Kinds(qpn=changes.other_qpn).of(want))

    def half_way(psn):
        return psn + (1 << 23) & 0xFFFFFF
    yield Case("PSNs", *(c.each(lambda f: frames.with_psns(f, half_way)) for c in (near, far)),
               Kinds(psn=half_way).of(want))


def links(near, far, want):
    """One of the points is on a link with tags, or is a mirror of another network."""
    yield Case("tagged near", near.each(
        lambda f: frames.tagged(f, roce.Vlan(77, pcp=frames.priority_of(f)))), far, want, BYTES)
    numbers = itertools.count()
    yield Case("mirrored far", near, far.each(
        lambda f: KINDS["erspan_ii"].wrap(f, next(numbers))), want, BYTES)


def rounded(got, want):
    """Whether two numbers are the same but for rounding."""
    if got is None or want is None:
        return False
    return abs(got - want) <= max(LEAST_ROUNDING, ROUNDING * abs(want))


def beyond_rounding(got, want):
    """The comparison with reckoned numbers as they are wanted, where they nearly are."""
    for path, g, w in list(differences(got, want)):
        if RECKONED.fullmatch(path) and rounded(g, w):
            _, i, part, key = path.split(".")
            got["segments"][int(i)][part][key] = w
    return got


CHANGES = (times, clocks, names, links)


def check(folder, name, near, far):
    want = compared(folder, near, far)
    problems, n = [], 0
    for change in CHANGES:
        for case in change(near, far, want):
            n += 1
            got = beyond_rounding(compared(folder, case.near, case.far), case.want)
            differing = unexplained(got, case.want, case.may_differ)
            if differing:
                problems += [f"FAILED {name}, {change.__name__}, {case.what}:",
                             *(f"    {line}" for line in differing[:12])]
    return problems, n


def main(wanted):
    n_problems = n_cases = 0
    with scratch() as folder:
        chosen = [p for p in pairs() if not wanted or any(w in p[0] for w in wanted)]
        for name, near, far in chosen if wanted else chosen[::SMALLER]:
            problems, n = check(pathlib.Path(folder), name, near, far)
            print("\n".join(problems), end="\n" if problems else "")
            n_problems, n_cases = n_problems + len(problems), n_cases + n
    print("FAILED" if n_problems else f"{n_cases} changed paths, each compared as it must be")
    return 1 if n_problems or n_cases == 0 else 0


sys.exit(main(sys.argv[1:]))
