# SPDX-License-Identifier: GPL-2.0-or-later
"""What else there is on a link where nothing is wrong, packet by packet: DCBX whose ends
agree, other traffic in other priorities, a pause of a moment, a CNP now and then, idle
times, and captures of a few packets."""

import roce
from captures import MAC, START_NS, Wire

HOUR_NS = 3600 * 10**9
LOSSLESS = 26 << 2 | roce.ECN_ECT0


def dcbx(random, on):
    """Both ends say the same, in either language; one of them may take it over."""
    apps = roce.dcb_apps((3, roce.APP_UDP, 4791), (3, roce.APP_DSCP, 26))
    shares = roce.dcb_ets((0, 0, 0, 1, 0, 0, 0, 0), (50, 50) + 6 * (0,))
    willing = random.random() < 0.5
    for _ in range(random.choice((1, 2))):
        if random.random() < 0.3:
            on.frame(roce.lldp(roce.cee(roce.cee_pfc([3])), src=MAC["a"]))
        else:
            on.frame(roce.lldp(roce.dcb_pfc([3], willing=willing), shares, src=MAC["a"]))
        on.frame(roce.lldp(roce.dcb_pfc([3]), shares, apps, src=MAC["b"], system="leaf1"))


def tcp(on, dst_port, n, size, tos=0):
    for i in range(n):
        header = (b"\xc3\x50" + dst_port.to_bytes(2, "big") + (i * size).to_bytes(4, "big")
                  + bytes(4) + b"\x50\x10\xff\xff\x00\x00\x00\x00")
        ip = roce.Ip("10.0.0.1", "10.0.0.9", tos=tos, ident=i)
        on.frame(roce.ethernet(ip.wrap(6, header + bytes(size)), src=MAC["a"],
                               dst=MAC["b"]))


def background(random, on):
    """SSH, HTTPS and NTP, none of them in priority 3."""
    tcp(on, random.choice((22, 443)), random.choice((1, 40)), random.choice((0, 1400)),
        random.choice((0, 16 << 2, 48 << 2)))
    ntp = roce.Ip("10.0.0.1", "10.0.0.9", tos=48 << 2).wrap(
        17, roce.udp(123, 123, bytes(48)))
    on.frame(roce.ethernet(ntp, src=MAC["a"], dst=MAC["b"]))


def short_pause(_random, on):
    """A tenth of a microsecond at 100 Gb/s, and taken back."""
    on.frame(roce.pfc({3: 200}, src=MAC["b"])).frame(roce.pfc({3: 0}, src=MAC["b"]))


def notified(_random, on, psn):
    """One mark, and its CNP: see `talk`."""
    on.write(psn, ip={"tos": LOSSLESS | roce.ECN_CE}).packet(
        "b", "CNP", 0, payload=bytes(16), becn=True, ip={"tos": 48 << 2})
    on.ack(psn, psn + 1)


def idle(random, on):
    on.wait(random.choice((10**6, 10**9, HOUR_NS, 30 * HOUR_NS)))


ASIDES = (dcbx, background, short_pause, idle)


def talk(random):
    """WRITEs and their ACKs, with something else in between; a CNP for 400 of them."""
    on = Wire(START_NS, snap_length=random.choice((262144, 96, 128)),
              nanoseconds=random.random() < 0.8)
    asides = random.sample(ASIDES, random.randrange(len(ASIDES) + 1))
    n = random.choice((1, 2, 5, 20, 420))
    at = {random.randrange(n): aside for aside in asides}
    tag = random.choice(((), (roce.Vlan(7, pcp=3),)))
    for psn in range(n):
        if psn in at:
            at[psn](random, on)
        if psn == 400:
            notified(random, on, psn)
        else:
            on.write(psn, vlans=tag).ack(psn, psn + 1, vlans=tag)
    return on.bytes(), n


def fragment(random):
    """A few packets of a message that began before, and maybe some of its answers."""
    on = Wire(START_NS)
    kind = random.choice(("RC RDMA WRITE Middle", "RC SEND Middle", "UC SEND Middle"))
    answers = random.choice((0, 1, 3)) if kind.startswith("RC") else 0
    for psn in range(random.randrange(1, 12)):
        on.packet("a", kind, 0xFFFFFA + psn, payload=bytes(1024))
        if answers and psn % answers == 0:
            on.ack(0xFFFFFA + psn, 9)
    return on.bytes()


def counters(rise):
    return ("link mlx5_0/1 " + " ".join(f"{name} {100 + n}" for name, n in rise.items())
            ).encode()


def make(random):
    """The files and the arguments: counters and a map may be given as well."""
    if random.random() < 0.2:
        return {"few.pcap": fragment(random)}, ()
    capture, n = talk(random)
    files, arguments = {"link.pcap": capture}, ("--link-speed=100G",)
    if random.random() < 0.3:
        names = ("packet_seq_err", "out_of_sequence", "rnr_nak_retry_err",
                 "local_ack_timeout_err", "implied_nak_seq_err")
        files |= {"before": counters(dict.fromkeys(names, 0)),
                  "after": counters(dict.fromkeys(names, 0))}
        arguments += ("--counters-before", "10.0.0.1={dir}/before",
                      "--counters-after", "10.0.0.1={dir}/after")
    if random.random() < 0.3:
        arguments += ("--dscp-map=26:3,48:6",)
    if random.random() < 0.3:
        arguments += (random.choice(("--captured-at=10.0.0.1", "--captured-at=network",
                                     "--watchdog=sonic")),)
    return files, arguments
