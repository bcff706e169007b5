# SPDX-License-Identifier: GPL-2.0-or-later
"""Two hosts and nothing wrong with them or between them, drawn at random.

What is drawn: transport, operations, how both ends pace and acknowledge, how many queue
pairs there are and whether they share a five-tuple, the way, where and how it is captured
and what that leaves out, and how the analyzer is called.
"""

import dataclasses

import artefacts
import roce
import tunnels
from sim import (
    HOST_A, HOST_A6, HOST_B, HOST_B6, OUT_OF_ORDER, SELECTIVE, Point, QueuePair, Scenario,
    Segment, Side, Work, simulate)

PACKETS = 500                    # of requests and responses, at most

RELIABLE = ("WRITE", "WRITE_IMM", "SEND", "SEND_IMM", "SEND_INV", "READ", "CAS", "FADD",
            "ATOMIC_WRITE", "FLUSH")
OPERATIONS = {
    "RC": RELIABLE,
    "XRC": ("WRITE", "SEND", "READ", "FADD"),
    "UC": ("WRITE", "WRITE_IMM", "SEND", "SEND_IMM"),
    "UD": ("SEND",),
    "DC": ("WRITE", "SEND", "READ"),
}
FIXED_BYTES = {"CAS": 8, "FADD": 8, "ATOMIC_WRITE": 8}
TRANSPORTS = ("RC",) * 8 + ("UC", "UD", "XRC", "DC")


def size_of(random, op, pmtu):
    largest = pmtu if op == "UD" else 60_000
    return FIXED_BYTES.get(op) or int(largest ** random.random()) - random.randrange(2)


def work_of(random, transport, pmtu, packets):
    """Messages: of one kind or of many, one behind the other or now and then."""
    ops = OPERATIONS[transport]
    if random.random() < 0.6:
        ops = (random.choice(ops),)
    same_bytes = random.random() < 0.5 and size_of(random, ops[0], pmtu)
    every_ns = random.choice((0, 0, 0, 5_000, 40_000, 900_000, 30_000_000))
    work, at_ns = [], 0
    while packets > 0 and len(work) < 150:
        op = random.choice(ops)
        n_bytes = min(same_bytes or size_of(random, op, pmtu),
                      pmtu if transport == "UD" else 1 << 20)
        n_bytes = FIXED_BYTES.get(op, n_bytes)
        work.append(Work(op, n_bytes, at_ns=at_ns))
        at_ns += random.randrange(every_ns + 1)
        packets -= max(1, -(-n_bytes // pmtu)) + 1
    return tuple(work)


def side_of(random, qpn, work):
    how = random.choice(({}, {}, {}, SELECTIVE, OUT_OF_ORDER))
    return Side(
        qpn, start_psn=random.choice((0, 100, 0xFFFFF0, random.getrandbits(24))),
        work=work, depth=random.choice((1, 2, 8, 32)),
        max_rd_atomic=random.choice((1, 4, 16)),
        ack_request_every=random.choice((0, 0, 0, 10)),
        gap_ns=random.choice((0, 0, 0, 2_000, 20_000)),
        turnaround_ns=random.choice((500, 1_500, 30_000)),
        ack_every=random.choice((1, 1, 4, 16)),
        ack_delay_ns=random.choice((5_000, 20_000)), **how)


def qpns_of(random, n):
    """Each its own; or all with the same product, and with it the same source port."""
    if random.random() < 0.2:
        return [(0x100 << i, 0x8000 >> i) for i in range(n)]
    first, second = random.randrange(2, 1 << 20), random.randrange(2, 1 << 20)
    return [(first + i, second + i * 3) for i in range(n)]


def pairs_of(random, transport, pmtu):
    n = random.choice((1, 1, 1, 2, 4, 8))
    packets = random.choice((1, 3, 12, PACKETS, PACKETS)) // n + 1
    two_sided = transport in ("RC", "UC", "UD") and random.random() < 0.5
    pairs = []
    for i, (a, b) in enumerate(qpns_of(random, n)):
        work = work_of(random, transport, pmtu, packets)
        back = work_of(random, transport, pmtu, packets) if two_sided else ()
        start_ns = i * random.choice((0, 0, 10_000, 300_000))
        pairs.append(QueuePair(side_of(random, a, work), side_of(random, b, back),
                               pmtu=pmtu, transport=transport, start_ns=start_ns))
    return tuple(pairs)


def hosts_of(random):
    a, b = random.choice(((HOST_A, HOST_B), (HOST_A, HOST_B), (HOST_A6, HOST_B6)))
    dscp = random.choice((26, 26, 24, 0, 34))
    how = {"ident": random.choice(("rising", "rising_per_qp", "constant", "random")),
           "tos": dscp << 2 | random.choice((roce.ECN_ECT0, roce.ECN_ECT0, 1, 0)),
           "link_bps": random.choice((10, 100, 400)) * 10**9}
    return {"host_a": dataclasses.replace(a, **how),
            "host_b": dataclasses.replace(b, **how)}


def spoilers(random, transport):
    """What captures do to clean traffic without anything being wrong with that."""
    if random.random() < 0.4:
        return ()
    found = []
    if random.random() < 0.5:
        found.append(artefacts.Cut(random.choice((0, 1, 2, 7, 50, 200)),
                                   random.choice((0, 1, 2, 7, 50))))
    stamps = (artefacts.Bunch(), artefacts.StepsBack(), artefacts.Clock(set_back_ns=10**6),
              artefacts.DeliverTwice(), artefacts.MergedQueues(by="flow"),
              artefacts.OneWay(), artefacts.OneWay(False),
              artefacts.OnePerDirection(), artefacts.BondMembers())
    found.append(random.choice(stamps))
    if random.random() < 0.2:
        found.append(artefacts.Encapsulate(random.choice(tunnels.KINDS).name))
    return tuple(found)


def points_of(random, transport):
    how = {"snap_length": random.choice((262144,) * 3 + (54, 58, 64, 74, 78, 96, 128)),
           "nanoseconds": random.random() < 0.7}
    spoil = spoilers(random, transport)
    names = random.choice((("sender", "receiver"), ("sender", "middle", "receiver")))
    return tuple(Point(name, artefacts=spoil, parts=random.choice(("files", "interfaces")),
                       **how) for name in names)


def segments_of(random, n_points):
    jitter_ns = random.choice((0, 0, 3_000, 40_000))
    between = tuple(Segment(random.choice((1_000, 5_000, 200_000)), jitter_ns)
                    for _ in range(n_points - 1))
    return (Segment(), *between, Segment())


def tags_of(random):
    return random.choice(((),) * 4 + ((roce.Vlan(100, pcp=3),), (roce.Vlan(7, pcp=0),),
                                      (roce.Vlan(9, pcp=5), roce.Vlan(100, pcp=3))))


def arguments_of(random, scenario, at):
    """How somebody would call it who knows what the capture is."""
    addresses = {"sender": scenario.host_a.address, "receiver": scenario.host_b.address}
    arguments = random.choice(((), (), ("--link-speed=100G",),
                               ("--dscp-map=26:3,48:6,24:3,34:4",), ("--watchdog=sonic",),
                               ("--icrc=off",), ("--burst=5G",)))
    if random.random() < 0.3:
        arguments += ("--captured-at=" + addresses.get(at, "network"),)
    return arguments


def make(random):
    """The files of what one looks at, and the arguments."""
    transport = random.choice(TRANSPORTS)
    pmtu = random.choice((256, 1024, 1024, 4096))
    points = points_of(random, transport)
    scenario = Scenario(
        "clean", pairs_of(random, transport, pmtu), seed=random.getrandbits(30),
        points=points, segments=segments_of(random, len(points)), vlans=tags_of(random),
        cm=transport not in ("UD", "DC") and random.random() < 0.6, **hosts_of(random))
    captures = simulate(scenario).captures()
    at = random.choice([point.name for point in points] + ["all"])
    files = {name if name.endswith("pcapng") else f"{name}.pcap": data
             for name, data in captures.items() if at in ("all", name.split(".")[0])}
    return files, () if at == "all" else arguments_of(random, scenario, at)
