# SPDX-License-Identifier: GPL-2.0-or-later
"""Collectives of hosts that all keep up, iteration after iteration, and receivers that
clear their senders in time."""

from collective import (
    MIRROR, Admission, Mesh, Network, ParameterServer, Plan, Ring, Tree)

CHUNK = 16_384


def ring(random, net):
    order = list(range(net.n_hosts))
    random.shuffle(order)
    return Ring(net, order, CHUNK, kind=random.choice(("WRITE", "WRITE_IMM", "SEND")),
                pieces=random.choice((1, 4)))


def tree(random, net):
    return Tree(net, {rank: (rank - 1) // 2 for rank in range(1, net.n_hosts)}, 2 * CHUNK)


def all_to_all(random, net):
    edges = [(a, b) for a in range(net.n_hosts) for b in range(net.n_hosts) if a != b]
    return Mesh(net, edges, CHUNK // 4)


def server(random, net):
    return ParameterServer(net, 0, range(1, net.n_hosts), CHUNK)


def iterations(random):
    """Each host begins a little sooner or later each time, none of them always."""
    net = Network(random.choice((3, 4, 6)), seed=random.getrandbits(30),
                  bps=random.choice((25, 100, 400)) * 10**9)
    plan = Plan(iterations=random.choice((1, 3, 8, 14)), period_ns=800_000,
                jitter_ns=random.choice((0, 20_000)),
                skew_ns=random.choice((0, 2_000, 15_000)))
    plan.run(net, random.choice((ring, tree, all_to_all, server))(random, net))
    at = random.choice((MIRROR, MIRROR, 0, net.n_hosts - 1))
    begin_ns = random.choice((0, 0, 1_000_000))
    return net.capture(at, from_ns=begin_ns)


def admission(random):
    """The sender never waits, for its receiver posts at once."""
    net = Network(2, seed=random.getrandbits(30))
    Admission(net, 0, 1, random.choice((5, 40)), 65_536, slots=random.choice((4, 8)),
              prepare_ns=random.choice((0, 2_000, 30_000)),
              spare=random.random() < 0.5, parts=random.choice((1, 2)),
              closing=random.random() < 0.3).start()
    net.run()
    return net.capture(random.choice((MIRROR, 0, 1)))


def hosts_file(n):
    return "".join(f"{Network.address(host)} node{host} {host % 2} mlx5_{host}\n"
                   for host in range(n)).encode()


def make(random):
    """The files, and the arguments: the hosts may have names."""
    capture = random.choice((iterations, iterations, admission))(random)
    if random.random() < 0.5:
        return {"collective.pcap": capture}, ()
    return ({"collective.pcap": capture, "hosts": hosts_file(6)},
            ("--hosts", "{dir}/hosts"))
