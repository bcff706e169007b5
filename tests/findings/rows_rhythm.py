# SPDX-License-Identifier: GPL-2.0-or-later
"""Who keeps the others waiting."""

import roce
from captures import in_tenants
from collective import MIRROR, Admission, Mesh, Network, Plan, Ring, Tree
from row import CANNOT, FIRES, NOT, Row

CHUNK = 32_768
TREE = {1: 0, 2: 0, 3: 1, 4: 1}


def iterations(make=lambda net: Ring(net, range(4), CHUNK), at=MIRROR, n=5, hosts=4,
               slow=None, **plan):
    def capture():
        net = Network(hosts, slow=slow)
        Plan(iterations=n, **plan).run(net, make(net))
        return net.capture(at)
    return capture


def tapped(files=1, **plan):
    """A tap on each host's link, in one file with an interface for each, or in a file for
    each."""
    def capture():
        net = Network(4)
        Plan(iterations=5, **plan).run(net, Ring(net, range(4), CHUNK))
        if files > 1:
            return {f"{host}.pcap": net.capture(host) for host in range(4)}
        out = roce.Pcapng([roce.Interface(name=f"h{host}") for host in range(4)])
        seen = sorted((time_ns, host, frame, length) for host in range(4)
                      for time_ns, length, frame in roce.pcap_packets(net.capture(host)))
        for time_ns, host, frame, length in seen:
            out.add(time_ns, frame, length, interface=host)
        return out.bytes()
    return capture


def in_turn():
    """In each iteration another host begins late."""
    net = Network(4)
    ring = Ring(net, range(4), CHUNK)
    for i in range(8):
        at = 50_000 + 400_000 * i
        ring.start({r: at + (60_000 if r == i % 4 else 0) for r in range(4)})
    return net.run().capture()


def incast(net):
    return Mesh(net, [(a, 4) for a in range(4)], CHUNK)


def with_stranger(make):
    """Something that has nothing to do with the receiver: this is not its own capture."""
    def made(net):
        net.at(10, net.pair(0, 1).send, 0, 64, None, "SEND")
        return make(net)
    return made


def one_way(make, center):
    """What this host sends is not seen: not what the others wait for."""
    def capture():
        pcap = roce.Pcap()
        for time_ns, length, frame in roce.pcap_packets(make()):
            if frame[29] != center + 1:
                pcap.add(time_ns, frame, length)
        return pcap.bytes()
    return capture


class Unlike:
    """One of those that send to one host sends twice as much."""

    def __init__(self, net):
        self.parts = [Mesh(net, [(a, 4) for a in range(1, 4)], CHUNK),
                      Mesh(net, [(0, 4)], 2 * CHUNK)]

    def start(self, ready_ns):
        for part in self.parts:
            part.start(ready_ns)


def admission(at=MIRROR, n=30, only=None, **how):
    def capture():
        net = Network(2)
        Admission(net, 0, 1, n, CHUNK, **how).start()
        net.run()
        if only is not None:
            net.records = [r for r in net.records if r[2] == only]
        return net.capture(at)
    return capture


def in_microseconds(make):
    """The same capture, by stamps of a microsecond, and not quite as regular."""
    def capture():
        pcap = roce.Pcap(nanoseconds=False)
        for i, (time_ns, length, frame) in enumerate(roce.pcap_packets(make())):
            pcap.add(time_ns + 150 * (i % 7), frame, length)
        return pcap.bytes()
    return capture


def whole_microseconds(report, _found):
    """Nor is a mean finer than the stamps."""
    for one in report["admission"]:
        for key in ("delay_ns", "wait_ns"):
            fine = {k: v for k, v in one[key].items() if k != "count" and v % 1000}
            if fine:
                yield f"{key}: {fine}"
    if not report["admission"]:
        yield "there is no admission"


def about(text, frames, advice=""):
    def look(_report, found):
        if advice not in found[0]["advice"]:
            yield f"{advice!r} is not in {found[0]['advice']!r}"
        if text not in found[0]["title"]:
            yield f"{text!r} is not in {found[0]['title']!r}"
        if len(found[0]["frames"]) != frames:
            yield f"{len(found[0]['frames'])} frames, not {frames}"
    return look


ROWS = [
    Row("straggler", FIRES, "one begins late in each of five iterations",
        iterations(late={2: 20_000}), "warning",
        also=about("10.8.0.3 begins last in 5 of 5 iterations, by 20 µs", 5,
                   "Look at the host")),
    Row("straggler", FIRES, "and one with its address in another network does not",
        in_tenants({100: iterations(late={2: 20_000}), 200: iterations()}), "warning",
        ("--icrc=off",),
        also=about("10.8.0.3 in vxlan 100 begins last in 5 of 5 iterations", 5)),
    Row("straggler", FIRES, "one has a link of half the speed",
        iterations(slow={1: 50 * 10**9}), "warning",
        also=about("10.8.0.2 to 10.8.0.3 is the slowest hop", 20, "Look at its link")),
    Row("straggler", FIRES, "one takes long to reduce what it has received",
        iterations(lambda net: Ring(net, range(4), CHUNK, slow_ns={2: 6_000})), "warning",
        also=about("10.8.0.3 takes longest in its ring to pass on what it has received", 20)),
    Row("straggler", NOT, "one takes a little longer to reduce what it has received",
        iterations(lambda net: Ring(net, range(4), CHUNK, slow_ns={2: 1_500}))),
    Row("straggler", FIRES, "one of those that send to one host ends late",
        iterations(with_stranger(incast), hosts=5, slow={3: 50 * 10**9}), "warning",
        also=about("10.8.0.4 ends last in 5 of 5 iterations", 5)),
    Row("straggler", FIRES, "one of those that send to one host begins late",
        iterations(with_stranger(incast), hosts=5, late={2: 20_000}), "warning",
        also=about("10.8.0.3 begins last in 5 of 5 iterations", 5)),
    Row("straggler", CANNOT, "the same, where nothing that comes to them is seen",
        one_way(iterations(with_stranger(incast), hosts=5, late={2: 20_000}), 4)),
    Row("straggler", CANNOT, "the same, where one of them sends twice as much",
        iterations(with_stranger(Unlike), hosts=5, late={2: 20_000})),
    Row("straggler", FIRES, "no point sees all of them, but the taps of a file do",
        tapped(late={2: 20_000}), "warning",
        also=about("10.8.0.3 begins last in 5 of 5 iterations", 5)),
    Row("straggler", NOT, "no point sees all of them, and none is late", tapped()),
    Row("straggler", CANNOT, "each tap has a file, and so a clock, of its own",
        tapped(4, late={2: 20_000})),
    Row("straggler", NOT, "by less than a tenth of the burst",
        iterations(late={2: 2_500})),
    Row("straggler", NOT, "each is late in its turn", in_turn),
    Row("straggler", NOT, "a link that is a little slower",
        iterations(slow={1: 70 * 10**9})),
    Row("straggler", CANNOT, "four iterations show no rhythm",
        iterations(n=4, late={2: 20_000})),
    Row("straggler", CANNOT, "in a tree parents have to be late",
        iterations(lambda net: Tree(net, TREE, 2 * CHUNK), hosts=5)),
    Row("straggler", CANNOT, "seen at one host, the others cannot be compared",
        iterations(late={2: 20_000}, at=3)),

    Row("waits_for_receiver", FIRES, "cleared 100 us after each unit",
        admission(slots=1, post_ns=100_000), "warning",
        also=about("10.8.0.1 waits for 10.8.0.2 to clear it to send", 20)),
    Row("waits_for_receiver", FIRES, "the same, by coarser stamps",
        in_microseconds(admission(slots=1, post_ns=100_000)), "warning",
        also=whole_microseconds),
    Row("waits_for_receiver", FIRES, "seen at the receiver",
        admission(at=1, slots=1, post_ns=100_000), "warning"),
    Row("waits_for_receiver", NOT, "cleared ahead", admission()),
    Row("waits_for_receiver", NOT, "one by one, at once", admission(slots=1)),
    Row("waits_for_receiver", NOT, "cleared late, and the sender is later still",
        admission(slots=1, post_ns=100_000, prepare_ns=200_000)),
    Row("waits_for_receiver", CANNOT, "the receiver's direction was not captured",
        admission(slots=1, post_ns=100_000, only=0)),
    Row("waits_for_receiver", CANNOT, "seven signals prove nothing",
        admission(n=7, slots=1, post_ns=100_000)),
]
