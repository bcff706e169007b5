#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Congestion notification and rate control: DCQCN (Zhu et al., SIGCOMM 2015).

A NotificationPoint answers marked data with CNPs, no oftener than an interval that is
kept in one of four scopes.  A ReactionPoint holds one queue pair's rate: a CNP cuts it,
timer and byte counter let it rise again, by halving the way to the last good rate, then
by a fixed amount, then by more and more.  A SwitchNotifier sends CNPs from a switch.

The defaults of Dcqcn are the paper's; a simulation of a millisecond wants shorter timers
and larger steps, see SMALL.

What is left out: a NIC's rate limiter in bursts, rate limits in hardware steps, a clamp of
the target rate, and what vendors added since.
"""

import dataclasses

import roce
from sim import CNPS, Tx

CNP_DSCP = 48


@dataclasses.dataclass(frozen=True)
class Notification:
    """The notification point of a NIC."""
    scope: str = "qp"            # of the interval: "qp", "pair", "destination", "port"
    interval_ns: int = 50_000
    delay_ns: int = 1_000        # until the NIC has made one
    tos: int = CNP_DSCP << 2
    src_port: int = None         # None: the queue pair's; some NICs have 0
    on_nak: str = "never"        # or "always": a CNP with each sequence NAK


@dataclasses.dataclass(frozen=True)
class Dcqcn:
    """The reaction point of a NIC."""
    g: float = 1 / 256
    alpha_ns: int = 55_000       # K: without a CNP for so long, alpha falls
    timer_ns: int = 55_000
    byte_counter: int = 10_000_000
    fast_recovery: int = 5       # F
    additive_bps: int = 40 * 10**6
    hyper_bps: int = 400 * 10**6
    least_bps: int = 100 * 10**6


# For simulations of about a millisecond.
SMALL = Dcqcn(g=1 / 16, alpha_ns=6_000, timer_ns=6_000, byte_counter=300_000,
              additive_bps=500 * 10**6, hyper_bps=2 * 10**9, least_bps=500 * 10**6)


@dataclasses.dataclass(eq=False)
class Cnp(Tx):
    """A congestion notification packet, and why it was sent."""
    notification: Notification = None
    trigger: object = None       # the marked Transit; None: it went with a NAK
    trigger_ns: int = 0

    @property
    def tos(self):
        return self.notification.tos

    @property
    def udp_port(self):
        port = self.notification.src_port
        return self.end.udp_port if port is None else port


def make_cnp(end, notification, trigger, now):
    """From `end`, or from a switch in the place of it, to the sender of marked data."""
    return Cnp(end, CNPS, roce.OPCODE["CNP"], payload=bytes(16), payload_bytes=16,
               becn=True, dest_qpn=end.peer.side.qpn, notification=notification,
               trigger=trigger, trigger_ns=now)


class NotificationPoint:
    def __init__(self, host, config):
        self.host, self.config = host, config
        self._last = {}          # by scope_key()

    def scope_key(self, end):
        """CNPs of one key keep their distance."""
        return {"qp": (end.side.qpn,),
                "pair": (end.host.config.address, end.peer.host.config.address),
                "destination": (end.peer.host.config.address,),
                "port": ()}[self.config.scope]

    def answer(self, end, trigger):
        """Marked data came to this end; or (None) it sends a NAK."""
        now, key = self.host.sim.now, self.scope_key(end)
        if key in self._last and now - self._last[key] < self.config.interval_ns:
            return
        self._last[key] = now
        self.host.sim.after(self.config.delay_ns, self.host.notify,
                            make_cnp(end, self.config, trigger, now))


class ReactionPoint:
    """Of one queue pair end: how fast it may send what carries data."""

    def __init__(self, sim, config, line_bps):
        self.sim, self.config, self.line_bps = sim, config, line_bps
        self.rate_bps = self.target_bps = line_bps
        self.alpha = 1.0
        self.steps = []          # truth: (time_ns, rate_bps) whenever it changes
        self.n_cnps = 0
        self.allowed_ns = 0      # the next packet may go then
        self._bytes = 0
        self._timer_rounds = self._byte_rounds = 0
        self._generation = 0     # timers of an older one are void

    def sent(self, n_bytes):
        self.allowed_ns = self.sim.now + int(n_bytes * 8 * 10**9 / self.rate_bps)
        if not self._is_limited():
            return
        self._bytes += n_bytes
        if self._bytes >= self.config.byte_counter:
            self._bytes = 0
            self._byte_rounds += 1
            self._rise()

    def cut(self):
        """A CNP came."""
        self.n_cnps += 1
        self.target_bps = self.rate_bps
        self._set(max(self.config.least_bps, self.rate_bps * (1 - self.alpha / 2)))
        self.alpha = (1 - self.config.g) * self.alpha + self.config.g
        self._bytes = self._timer_rounds = self._byte_rounds = 0
        self._generation += 1
        self.sim.after(self.config.alpha_ns, self._alpha_falls, self._generation)
        self.sim.after(self.config.timer_ns, self._timer, self._generation)

    def _is_limited(self):
        return self.rate_bps < self.line_bps

    def _alpha_falls(self, generation):
        if generation == self._generation and self.sim.has_work():
            self.alpha *= 1 - self.config.g
            self.sim.after(self.config.alpha_ns, self._alpha_falls, generation)

    def _timer(self, generation):
        if (generation != self._generation or not self._is_limited()
                or not self.sim.has_work()):
            return
        self._timer_rounds += 1
        self._rise()
        self.sim.after(self.config.timer_ns, self._timer, generation)

    def _rise(self):
        rounds = (self._timer_rounds, self._byte_rounds)
        beyond = min(rounds) - self.config.fast_recovery
        if beyond > 0:
            self.target_bps += beyond * self.config.hyper_bps
        elif max(rounds) > self.config.fast_recovery:
            self.target_bps += self.config.additive_bps
        self.target_bps = min(self.target_bps, self.line_bps)
        rate = (self.rate_bps + self.target_bps) / 2
        self._set(self.line_bps if rate > 0.999 * self.line_bps else rate)

    def _set(self, rate_bps):
        if int(rate_bps) != self.rate_bps:
            self.rate_bps = int(rate_bps)
            self.steps.append((self.sim.now, self.rate_bps))


@dataclasses.dataclass(frozen=True)
class _SwitchEnd:
    """Stands for a receiver: CNPs come from the switch's address instead of its own."""
    host: object
    peer: object
    udp_port: int
    transport: str


class SwitchNotifier:
    """Sends a CNP for data that the switch marked.  It knows the sender's QPN, as a switch
    does that follows connections.  `host` has config.address and next_ident(end)."""

    def __init__(self, sim, host, notification):
        self.sim, self.host, self.notification = sim, host, notification
        self._ends, self._last = {}, {}

    def answer(self, transit):
        """A CNP that is due for a marked transit; None if it came too soon."""
        receiver, now = transit.tx.end.peer, self.sim.now
        last = self._last.get(receiver)
        if last is not None and now - last < self.notification.interval_ns:
            return None
        self._last[receiver] = now
        end = self._ends.setdefault(receiver, _SwitchEnd(
            self.host, receiver.peer, receiver.udp_port, receiver.transport))
        cnp = make_cnp(end, self.notification, transit, now)
        cnp.ident, cnp.time_ns = self.host.next_ident(end), now
        return cnp
