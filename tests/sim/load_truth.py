# SPDX-License-Identifier: GPL-2.0-or-later
"""What a report has to say about load, reckoned from what a simulated point saw.

Nothing here is reckoned the way the analyzer does it: degrees come from the ends of
intervals, bursts from all windows at once, the most loaded of links from all ways to spread
flows, as fractions.
"""

import collections
import dataclasses
import fractions
import itertools
import math

from sim import CM, CNPS

WINDOW_NS, LEAST_SENDERS = 50_000, 3
BURST_NS = 10_000
RUNGS_NS = [1_000 << i for i in range(16)]


@dataclasses.dataclass(frozen=True)
class Seen:
    """A captured packet."""
    time_ns: int
    tx: object
    ce: bool
    frame: int                   # its number

    @property
    def stream(self):
        return self.tx.src, self.tx.dst, self.tx.dest_qpn

    @property
    def udp_bytes(self):
        return 8 + 12 + len(self.tx.headers) + -(-self.tx.payload_bytes // 4) * 4 + 4

    @property
    def link_bytes(self):
        """With preamble, padding, FCS and gap."""
        return max(14 + 20 + self.udp_bytes, 60) + 24

    def is_data(self):
        return self.tx.carries_data()


def seen_at(tap, frames):
    """What a tap saw; `frames` are the numbers of its packets in its file."""
    return [Seen(flight.time_ns, flight.tx, flight.ce, frames[flight.number])
            for flight in tap.seen if flight.tx.space != CM]


def by(key, items):
    out = collections.defaultdict(list)
    for item in items:
        out[key(item)].append(item)
    return out


def life(seen, intervals):
    """How long a stream lasts of which these packets were seen: to its last one, or, where
    that leaves a message unfinished, to the end of a pause that lasts to the capture's."""
    until_ns = seen[-1].time_ns
    data = [p for p in seen if p.is_data()]
    if data and data[-1].tx.work is not None and not data[-1].tx.is_last:
        until_ns = max([until_ns, *(end for _, end, how in intervals if how == "capture_end")])
    return seen[0].time_ns, until_ns


def paused_in(life, intervals):
    """How many pauses there were in a time, and for how long."""
    first_ns, until_ns = life
    lengths = [min(end, until_ns) - max(start, first_ns) for start, end, _ in intervals
               if start <= until_ns and end >= first_ns]
    return len(lengths), sum(lengths)


# --- incast --------------------------------------------------------------------------


def _active(packets):
    """The times [start, end) in which one sender is active."""
    out = []
    for p in packets:
        if out and p.time_ns < out[-1][1]:
            out[-1][1] = p.time_ns + WINDOW_NS
        else:
            out.append([p.time_ns, p.time_ns + WINDOW_NS])
    return out


def incast(seen):
    """Receiver -> degrees {degree: ns}, max_degree, episodes."""
    return {dst: _incast_to(packets) for dst, packets in
            by(lambda p: p.tx.dst, filter(Seen.is_data, seen)).items()}


def _incast_to(packets):
    senders = {src: _active(own) for src, own in by(lambda p: p.tx.src, packets).items()}
    steps = collections.Counter()
    for start, end in itertools.chain.from_iterable(senders.values()):
        steps[start] += 1
        steps[end] -= 1
    degree, before, degrees, episodes, most = 0, 0, collections.Counter(), [], 0
    for time_ns, step in sorted(steps.items()):
        degrees[degree] += time_ns - before
        before, was = time_ns, degree
        degree += step
        most = max(most, degree)
        if degree >= LEAST_SENDERS > was:
            episodes.append([time_ns, None, degree])
        elif was >= LEAST_SENDERS > degree:
            episodes[-1][1] = time_ns
        elif degree >= LEAST_SENDERS:
            episodes[-1][2] = max(episodes[-1][2], degree)
    del degrees[0]
    out = [_episode(e, packets, senders) for e in episodes]
    marked = {p.tx.src for p in packets for e in out
              if p.ce and e["start_ns"] <= p.time_ns < e["end_ns"]}
    return {"senders": len(senders), "max_degree": most, "degrees": dict(degrees),
            "senders_met": len({src for e in out for src in e["senders"]}),
            "senders_marked": len(marked), "episodes": out}


def _episode(episode, packets, senders):
    start, end, degree = episode
    inside = [p for p in packets if start <= p.time_ns < end]
    there = {src for src, active in senders.items()
             if any(a < end and b > start for a, b in active)}
    return {"start_ns": start, "end_ns": end, "degree": degree,
            "n_senders": len(there), "senders": sorted(there),
            "data_packets": len(inside), "ce": sum(p.ce for p in inside)}


def _sent_by_the_only_host(data):
    """How much of it the one host sends that is an end of all of it, if nothing of that is
    marked: it has met no queue yet."""
    hosts = set.intersection(*({p.tx.src, p.tx.dst} for p in data)) if data else ()
    own = [p for p in data if len(hosts) == 1 and p.tx.src in hosts]
    return 0 if any(p.ce for p in own) else len(own)


def add_signs(receivers, seen, xoffs, span):
    """Adds to what incast() gives the CNPs and the pauses of each episode, and signs:
    (inside, outside, of inside, of outside) of each sign, of receivers with episodes.
    `span` is from the first data packet to the last one, at all points of the capture."""
    cnps = by(lambda p: p.tx.end.peer.peer.host.config.address,
              (p for p in seen if p.tx.space == CNPS))
    data = [p for p in seen if p.is_data()]
    loose = collections.Counter()    # in no episode of their own receiver
    for dst, r in receivers.items():
        own = [p for p in data if p.tx.dst == dst]
        loose["data"] += len(own) - sum(e["data_packets"] for e in r["episodes"])
        loose["ce"] += sum(p.ce for p in own) - sum(e["ce"] for e in r["episodes"])
        for e in r["episodes"]:
            e["cnps"] = e["pauses"] = 0
        for p in cnps.get(dst, ()):
            # Of two that reach so far, the later one.
            around = [e for e in r["episodes"]
                      if e["start_ns"] <= p.time_ns < e["end_ns"] + WINDOW_NS]
            if around:
                around[-1]["cnps"] += 1
        loose["cnps"] += len(cnps.get(dst, ())) - sum(e["cnps"] for e in r["episodes"])
    for dst, r in receivers.items():
        _add_pauses(r, [ns for ns, asker in xoffs if asker != dst], span)
        inside = sum(e["data_packets"] for e in r["episodes"])
        markable = loose["data"] - _sent_by_the_only_host(data)
        r["signs"].update({key: (sum(e[name] for e in r["episodes"]), loose[name], inside,
                                 outside)
                           for key, name, outside in (("ce", "ce", markable),
                                                      ("cnp", "cnps", loose["data"]))})


def _add_pauses(receiver, starts, span):
    first, end = span[0], span[1] + WINDOW_NS
    for e in receiver["episodes"]:
        e["pauses"] = sum(e["start_ns"] <= ns < e["end_ns"] for ns in starts)
    inside = sum(e["pauses"] for e in receiver["episodes"])
    long = sum(e["end_ns"] - e["start_ns"] for e in receiver["episodes"])
    receiver["signs"] = {"pause": (
        inside, sum(first <= ns < end for ns in starts) - inside, long,
        end - first - long)}


# --- bursts --------------------------------------------------------------------------


def bursts(seen, rate_bps):
    """Receiver -> bytes, peak in a window, bursts."""
    out = {}
    for dst, packets in by(lambda p: p.tx.dst, seen).items():
        windows = collections.Counter()
        for p in packets:
            windows[p.time_ns // BURST_NS] += p.link_bytes
        hot = sorted(w for w, n in windows.items()
                     if n * 8 * 10**9 >= rate_bps * BURST_NS)
        runs = [list(run) for _, run in itertools.groupby(
            enumerate(hot), lambda entry: entry[1] - entry[0])]
        out[dst] = {
            "bytes": sum(windows.values()),
            "peak_bps": max(windows.values()) * 8 * 10**9 // BURST_NS,
            "bursts": [_burst([w for _, w in run], windows) for run in runs]}
    return out


def _burst(run, windows):
    sizes = [windows[w] for w in run]
    return {"start_ns": run[0] * BURST_NS, "end_ns": (run[-1] + 1) * BURST_NS,
            "bytes": sum(sizes), "peak_bps": max(sizes) * 8 * 10**9 // BURST_NS}


# --- elephants -----------------------------------------------------------------------


def elephants(seen):
    sizes = sorted((sum(p.tx.payload_bytes for p in packets) for packets in
                    by(lambda p: p.stream, filter(Seen.is_data, seen)).values()),
                   reverse=True)
    n = len(sizes)
    tops = {"1": 1, "10": 10, "1_percent": -(-n // 100), "10_percent": -(-n // 10)}
    return {"streams": n, "bytes": sum(sizes), "top": {
        name: {"streams": min(top, n), "bytes": sum(sizes[:top]),
               "share": sum(sizes[:top]) / sum(sizes) if sizes else None}
        for name, top in tops.items()}}


# --- spreading -----------------------------------------------------------------------


def entropy_bits(ports):
    n = len(ports)
    return sum(math.log2(n / k) * k / n for k in collections.Counter(ports).values())


def pairs(seen, bin_ns):
    """(src, dst) -> queue pairs, ports, entropy, siblings; bins are the timeline's."""
    everything = by(lambda p: p.stream, seen)
    out = {}
    data = by(lambda p: p.stream, filter(Seen.is_data, seen))
    for ends, streams in by(lambda s: s[:2], data).items():
        ports = [data[s][0].tx.udp_port for s in streams]
        shared = [p for p, n in collections.Counter(ports).items() if n > 1]
        out[ends] = {
            "queue_pairs": len(streams), "udp_src_ports": len(set(ports)),
            "entropy_bits": entropy_bits(ports), "possible_bits": math.log2(len(ports)),
            "shared": {port: sorted(s[2] for s, p in zip(streams, ports) if p == port)
                       for port in shared},
            "siblings": _siblings([everything[s] for s in streams], bin_ns)}
    return out


def _mean_payload(packets):
    payloads = [p.tx.payload_bytes for p in filter(Seen.is_data, packets)]
    return sum(payloads) / len(payloads)


def _siblings(streams, bin_ns):
    first = -(-max(packets[0].time_ns for packets in streams) // bin_ns)
    end = min(packets[-1].time_ns for packets in streams) // bin_ns
    if len(streams) < 2 or end - first < 8:
        return None
    bins = [collections.Counter() for _ in streams]
    for counter, packets in zip(bins, streams):
        for p in packets:
            if first <= p.time_ns // bin_ns < end:
                counter[p.time_ns // bin_ns] += p.udp_bytes
    sums = [sum(counter.values()) for counter in bins]
    means = [_mean_payload(packets) for packets in streams]
    jain = fractions.Fraction(sum(sums)**2, len(sums) * sum(x * x for x in sums))
    return {"jain": float(jain), "start_ns": first * bin_ns, "end_ns": end * bin_ns,
            "all_busy": all(10 * len(c) >= 9 * (end - first) for c in bins) and
                        2 * min(means) >= max(means),  # they have one MTU
            "least_bytes": min(sums), "most_bytes": max(sums)}


def flow_bytes(seen):
    """Payload of each five-tuple."""
    return [sum(p.tx.payload_bytes for p in packets) for packets in
            by(lambda p: (*p.stream[:2], p.tx.udp_port),
               filter(Seen.is_data, seen)).values()]


def spreads(flows, links):
    """How flows can lie on links: (the number on each, in descending order, chance)."""
    chances = collections.Counter({(0,) * links: fractions.Fraction(1)})
    for _ in range(flows):
        step = collections.Counter()
        for loads, chance in chances.items():
            for i in range(links):
                more = sorted((*loads[:i], loads[i] + 1, *loads[i + 1:]), reverse=True)
                step[tuple(more)] += chance / links
        chances = step
    return chances.items()


def ecmp(sizes, links):
    """By looking at every way to spread the flows."""
    ways = spreads(len(sizes), links)
    square = sum(x * x for x in sizes)
    whole = sum(sizes)
    # The link of a byte carries its own flow, and of each other one the share 1/links.
    load = sum(fractions.Fraction(x, whole) * (x + fractions.Fraction(whole - x, links))
               for x in sizes) * links / whole
    assert load == 1 + fractions.Fraction((links - 1) * square, whole * whole)
    return {"flows_sharing": sum(c * sum(n for n in loads if n > 1) for loads, c in ways),
            "links_used": sum(c * sum(n > 0 for n in loads) for loads, c in ways),
            "most_flows": sum(c * loads[0] for loads, c in ways), "load": load}


# --- flowlets ------------------------------------------------------------------------


def gaps(seen):
    """Flowlets by the gap that ends one, over all streams with data."""
    counts = [0] * len(RUNGS_NS)
    with_data = {p.stream for p in seen if p.is_data()}
    streams = by(lambda p: p.stream, (p for p in seen if p.tx.space != CNPS))
    for stream in with_data:
        times = [p.time_ns for p in streams[stream]]
        idle = [b - a for a, b in zip(times, times[1:])]
        for i, rung in enumerate(RUNGS_NS):
            counts[i] += 1 + sum(gap >= rung for gap in idle)
    return counts


def late_originals(seen):
    """(lateness, gap before what passed it) of each request that a later one had passed,
    if it is the first copy here."""
    out = []
    for packets in by(lambda p: p.stream, seen).values():
        requests = [p for p in packets if p.tx.space == "requests"]
        before = {p.frame: p.time_ns - q.time_ns for q, p in zip(packets, packets[1:])}
        have = set()
        for i, p in enumerate(requests):
            passed = next((q for q in requests[:i] if q.tx.psn > p.tx.psn), None)
            if passed is not None and p.tx.psn not in have and p.tx.copy == 1:
                out.append((p.time_ns - passed.time_ns, before.get(passed.frame, 0)))
            have.add(p.tx.psn)
    return out
