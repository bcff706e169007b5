# SPDX-License-Identifier: GPL-2.0-or-later
"""Captures made at random in which queue pairs write, send and read for long, and now and
then something happens that ends or forbids a train: chatter(seed) gives the bytes of one;
in_files(data, seed) those of several, as a rotated capture or two points of one path have
it; mirrored(data, seed) those of the same in a mirror."""

import copy
import dataclasses
import random
import struct

import roce
import tunnels

START_NS = 1_700_000_000 * 10**9
PAYLOAD = 256
SNAP_LENGTHS = (96, 128, 262144)
N_SURVEYED = 8192                # frames that tell what a point is; none of them has a train
STEPS = 400
NEVER = (0,)
RESTS_NS = (0,) * 40 + (300_000, 4_000_000, 16_000_000, 1_000_000_000)
STEPS_BACK_NS = (0,) * 60 + (500, 200_000, 16_000_000)  # of one stamp
STRANGER = roce.mac("02:99:00:00:00:01")


class Pair:
    """A queue pair that requests, and the one that answers."""

    def __init__(self, rng, number):
        self.rng = rng
        self.macs = {"src": roce.MAC_A, "dst": roce.MAC_B}
        hosts = ("10.0.{}.1", "10.0.{}.2") if rng.random() < 0.7 else ("fd00::{}:1", "fd00::{}:2")
        self.src, self.dst = (host.format(number % 3) for host in hosts)
        self.qpn, self.answering_qpn = 0x100 + number, 0x200 + number
        self.port = 49152 + number
        self.psn = rng.choice((0, 100, 0xFFFFF0, 0x7FFFFE))
        self.ident = rng.choice((0, 1, 0xFFF0))
        self.ident_step = rng.choice((0, 1, 1, 3))
        self.tos = 26 << 2 | rng.choice((0, 2))  # priority 3
        self.vlans = self.tag(number, 3) if rng.random() < 0.3 else ()
        self.left = 0                # packets of the message that goes on
        self.role = "SEND"
        self.sent = []               # frames of the newest requests, for sending them again
        self.answer_port, self.answer_macs = self.port ^ 1, reversed_macs(self.macs)
        self.heard_from = rng.choice((0, 0, 0, STEPS // 2, STEPS))  # answers pass the point
        self.is_heard = False
        self.answer_ident, self.answer_ident_step = 0, rng.choice((None, 0, 1, 1))
        self.back_psn = 0x500
        self.read_disturbed = rng.choice((0, 0, 0.02, 0.2))

    def reverse(self):
        """The other way round: what requests carries the acknowledgements of the other."""
        pair = copy.copy(self)
        pair.src, pair.dst = self.dst, self.src
        pair.qpn, pair.answering_qpn = self.answering_qpn, self.qpn
        pair.macs, pair.answer_macs = self.answer_macs, self.macs
        pair.port, pair.answer_port = self.answer_port, self.port
        pair.psn = self.rng.choice((0, 0xFFFFF0, 0x7FFFFE))
        return pair

    @staticmethod
    def tag(vid, pcp):
        return (roce.Vlan(vid=vid, pcp=pcp),)

    def request(self, opcode, headers=b"", payload=PAYLOAD, tos=None, **bits):
        self.ident = self.ident + self.ident_step & 0xFFFF
        ib = roce.transport(roce.OPCODE[opcode], dest_qpn=self.answering_qpn, psn=self.psn,
                            headers=headers, payload=bytes(payload), **bits)
        ip = roce.Ip(self.src, self.dst, tos=self.tos if tos is None else tos,
                     ident=self.ident)
        frame = roce.ethernet(roce.rocev2(ip, self.port, ib), vlans=self.vlans, **self.macs)
        self.psn = self.psn + 1 & 0xFFFFFF
        self.sent = [*self.sent[-7:], frame]
        return frame

    def ip(self):
        """Of a packet that is none of its stream's."""
        return roce.Ip(self.src, self.dst, tos=self.rng.choice((0, self.tos)),
                       ident=self.rng.randrange(65536))

    def written(self, payload):
        """A request that does not count."""
        return roce.transport(roce.OPCODE["RC SEND Only"], dest_qpn=self.answering_qpn,
                              psn=self.psn, payload=payload)

    def answer(self, opcode, psn, headers=b"", payload=0, **how):
        """None where it takes another way, so that nothing pairs the streams."""
        if not self.is_heard:
            return None
        ib = roce.transport(roce.OPCODE[opcode], dest_qpn=self.qpn, psn=psn & 0xFFFFFF,
                            headers=headers, payload=bytes(payload))
        return self.carry_back(ib, **how)

    def carry_back(self, ib, tos=None, ttl=64):
        step = self.answer_ident_step
        self.answer_ident = (self.rng.randrange(65536) if step is None
                             else self.answer_ident + step & 0xFFFF)
        ip = roce.Ip(self.dst, self.src, tos=self.tos if tos is None else tos, ttl=ttl,
                     ident=self.answer_ident)
        return roce.ethernet(roce.rocev2(ip, self.answer_port, ib), vlans=self.vlans,
                             **self.answer_macs)

    def response(self, psn, is_first, is_last, **how):
        part = {(True, True): "Only", (True, False): "First", (False, True): "Last",
                (False, False): "Middle"}[is_first, is_last]
        headers = b"" if part == "Middle" else roce.aeth(roce.ACK_NO_CREDIT_LIMIT, 1)
        payload = self.rng.choice((1, 37, PAYLOAD)) if is_last else PAYLOAD
        return self.answer(f"RC RDMA READ Response {part}", psn, headers, payload, **how)

    def data(self, **how):
        """The next packet of a message, or the first of another one."""
        starts = self.left == 0
        if starts:
            self.role = self.rng.choice(("SEND", "RDMA WRITE"))
            self.left = self.rng.choice((1, 2, 5, 12, 40))
        self.left -= 1
        ends = self.left == 0
        part = {(True, True): "Only", (True, False): "First", (False, True): "Last",
                (False, False): "Middle"}[starts, ends]
        immediate = ends and self.rng.random() < 0.2
        headers = b""
        if starts and self.role == "RDMA WRITE":
            headers += roce.reth(0x1000 * self.psn, 7, PAYLOAD * (self.left + 1))
        if immediate:
            headers += roce.immdt(self.psn)
        payload = self.rng.choice((1, 37, PAYLOAD)) if ends else PAYLOAD
        opcode = f"RC {self.role} {part}{' with Immediate' if immediate else ''}"
        return self.request(opcode, headers, payload, ack_request=ends, **how)

    def ack(self, behind=1, syndrome=roce.ACK_NO_CREDIT_LIMIT, **how):
        return self.answer("RC Acknowledge", self.psn - behind, roce.aeth(syndrome, self.psn),
                           **how)


def reversed_macs(macs):
    return {"src": macs["dst"], "dst": macs["src"]}


def nothing(_pair):
    return []


def plain(pair):
    return [pair.data() for _ in range(pair.rng.choice((1, 4, 4, 20)))]


def acknowledged(pair):
    return [*plain(pair), pair.ack()]


def lost(pair):
    """A packet is not seen, is asked for, and comes again with those behind it."""
    psn, left, role = pair.psn, pair.left, pair.role
    pair.data()
    seen = plain(pair)
    back = pair.psn - psn & 0xFFFFFF
    nak = pair.answer("RC Acknowledge", psn, roce.aeth(0x60, 1))
    pair.psn, pair.left, pair.role = psn, left, role
    return [*seen, nak, *(pair.data() for _ in range(back))]


def missed(pair):
    """What the point has not seen is acknowledged, and never sent again."""
    seen = plain(pair)
    pair.data()
    return [*seen, *plain(pair), pair.ack()]


def marked(pair):
    return [pair.data(tos=pair.tos | 3), *plain(pair)]


def other_class(pair):
    pair.tos = pair.rng.choice((0, 26 << 2 | 2, 46 << 2 | 2))
    return plain(pair)


def other_pcp(pair):
    if pair.vlans:
        pair.vlans = pair.tag(pair.vlans[0].vid, pair.rng.choice((3, 5)))
    return plain(pair)


def notified(pair):
    ip = roce.Ip(pair.dst, pair.src, tos=48 << 2, ident=pair.rng.randrange(65536))
    return [roce.ethernet(roce.cnp(ip, pair.port, pair.qpn), vlans=pair.vlans,
                          **pair.answer_macs), *plain(pair)]


def doubled(pair):
    return [*plain(pair), pair.rng.choice(pair.sent)]


def late(pair):
    frames = [pair.data() for _ in range(6)]
    frames.insert(5, frames.pop(2))
    return frames


def sprayed(pair):
    """Packets take several paths, and what comes back tells of some of them."""
    frames = []
    for _ in range(pair.rng.choice((10, 30))):
        frames.append(pair.data())
        if pair.rng.random() < 0.2:
            frames.append(pair.ack(pair.rng.choice((1, 2, 5)), pair.rng.choice(
                (roce.ACK_NO_CREDIT_LIMIT, roce.ACK_NO_CREDIT_LIMIT, 0x60))))
    for i in range(len(frames) - 3):
        if pair.rng.random() < 0.15:
            frames.insert(i + pair.rng.choice((1, 1, 2, 3)), frames.pop(i))
    return frames


def answered(pair):
    """READs, asked one after the other, and their answers, with writes and READs that go
    the other way between them."""
    asked, frames = [], []
    for _ in range(pair.rng.choice((1, 1, 3))):
        n = pair.rng.choice((1, 2, 3, 9, 30))
        asked.append((pair.psn, n))
        frames.append(pair.request("RC RDMA READ Request", roce.reth(0, 1, n * PAYLOAD), 0))
        pair.psn = pair.psn + n - 1 & 0xFFFFFF
    for first, n in asked:
        for i in range(n):
            frames.append(pair.response(first + i, i == 0, i == n - 1))
            if pair.rng.random() < pair.read_disturbed:
                frames += pair.rng.choice(BETWEEN_RESPONSES)(pair, first + i, frames)
    return frames


def response_doubled(_pair, _psn, frames):
    return frames[-1:]


def response_lost(_pair, _psn, frames):
    frames.pop()
    return []


def response_late(_pair, _psn, frames):
    return [frames.pop(-2)] if len(frames) > 1 else []


def response_marked(pair, psn, frames):
    frames[-1] = pair.response(psn, False, False, tos=pair.tos | 3)
    return []


def response_of_other_part(pair, psn, frames):
    """An answer that begins or ends in its midst."""
    frames[-1] = pair.response(psn, pair.rng.random() < 0.5, pair.rng.random() < 0.5)
    return []


def response_with_credits(pair, psn, frames):
    """With some, or with none left, or no ACK at all."""
    syndrome = pair.rng.choice((0x00, 0x01, 0x05, 0x1E, 0x20, 0x60))
    part = pair.rng.choice(("First", "Last", "Only"))
    frames[-1] = pair.answer(f"RC RDMA READ Response {part}", psn, roce.aeth(syndrome, 1),
                             PAYLOAD)
    return []


def acknowledged_madly(pair, psn, _frames):
    """Of what was never sent: whoever was thought to be the other direction is not."""
    return [pair.answer("RC Acknowledge", psn + 0x300000 * i,
                        roce.aeth(roce.ACK_NO_CREDIT_LIMIT, 1)) for i in (1, 2, 3, 4)]


def asked_behind(pair, _psn, _frames):
    """The requester asks for more, while answers are on their way."""
    frame = pair.request("RC RDMA READ Request", roce.reth(0, 1, 2 * PAYLOAD), 0)
    pair.psn = pair.psn + 1 & 0xFFFFFF
    return [frame]


def asked_again(pair, psn, _frames):
    pair.psn, now = psn & 0xFFFFFF, pair.psn
    frame = pair.request("RC RDMA READ Request", roce.reth(0, 1, PAYLOAD), 0)
    pair.psn = now
    return [frame]


def acknowledged_early(pair, _psn, _frames):
    return [pair.ack()]


def acknowledged_within(pair, psn, _frames):
    return [pair.answer("RC Acknowledge", psn + pair.rng.choice((0, 0, 1, 2)),
                        roce.aeth(roce.ACK_NO_CREDIT_LIMIT, 1))]


def requested_back(pair, _psn, _frames):
    """The stream that answers has requests of its own."""
    ib = roce.transport(roce.OPCODE["RC RDMA READ Request"], dest_qpn=pair.qpn,
                        psn=pair.back_psn, headers=roce.reth(0, 1, PAYLOAD))
    pair.back_psn = pair.back_psn + 1 & 0xFFFFFF
    return [pair.carry_back(ib)]


def written_back(pair, _psn, _frames):
    ib = roce.transport(roce.OPCODE["RC SEND Only"], dest_qpn=pair.qpn, psn=pair.back_psn,
                        payload=bytes(PAYLOAD))
    pair.back_psn = pair.back_psn + 1 & 0xFFFFFF
    return [pair.carry_back(ib)]


def paused_between(pair, _psn, _frames):
    return [roce.pfc({3: 1000}, src=pair.macs["src"])]


def paused_by_stranger(_pair, _psn, _frames):
    """Such as the port of a switch."""
    return [roce.pfc({3: 1000}, src=STRANGER)]


BETWEEN_RESPONSES = (response_doubled, response_lost, response_late, response_marked,
                     response_of_other_part, response_with_credits, acknowledged_madly,
                     asked_behind, asked_again, acknowledged_early, acknowledged_within,
                     requested_back, written_back, paused_between, paused_by_stranger)


def without_credits(pair):
    return [pair.ack(1, 0), pair.ack(1, 3), *plain(pair)]


def other_ack(pair):
    """One that is not like the data beside it."""
    how = {"tos": pair.rng.choice((pair.tos, pair.tos | 3, 0)), "ttl": pair.rng.choice((63, 64)),
           "payload": pair.rng.choice((0, 0, 4))}
    return [*plain(pair), pair.ack(**how)]


def doubled_ack(pair):
    return [*plain(pair), *[pair.ack()] * 2]


def not_ready(pair):
    frames = plain(pair)
    return [*frames, pair.answer("RC Acknowledge", pair.psn - 1, roce.aeth(0x21, 1)),
            pair.sent[-1]]


def spoilt(pair):
    frame = bytearray(pair.data())
    frame[-5] ^= 1
    return [bytes(frame)]


def empty(pair):
    return [pair.request("RC SEND Only", payload=0)] if pair.left == 0 else []


def other_ident(pair):
    pair.ident = pair.rng.randrange(65536)
    return plain(pair)


def paused(pair):
    """The receiver's NIC, or a switch, stops what comes, which some packets do later than
    others."""
    who = pair.rng.choice((pair.macs["dst"], STRANGER))
    return [roce.pfc({3: pair.rng.choice((1000, 65535))}, src=who), *plain(pair), *plain(pair),
            roce.pfc({3: 0}, src=who)]


def foreign(_pair):
    return [roce.ethernet(bytes(60), ethertype=0x88B5)]


def of_another_protocol(pair):
    tcp = struct.pack(">HHIIBBHHH", 40000 + pair.qpn, 179, 1, 1, 0x50, 0x10, 500, 0, 0)
    return roce.ethernet(pair.ip().wrap(6, tcp + bytes(pair.rng.choice((0, 99)))),
                         vlans=pair.vlans, **pair.macs)


def of_another_port(pair):
    return roce.ethernet(pair.ip().wrap(roce.IPPROTO_UDP, roce.udp(pair.port, 123, bytes(48))),
                         **pair.macs)


def not_of_infiniband(pair):
    ib = bytearray(pair.written(bytes(1)))
    ib[1] |= 5                       # of no version that there is
    return roce.ethernet(roce.rocev2(pair.ip(), pair.port, bytes(ib)), **pair.macs)


def fragment(pair):
    """The first of a packet."""
    ip = dataclasses.replace(
        pair.ip(), dont_fragment=False, more_fragments=True,
        extensions=(roce.ipv6_fragment(more=True),))
    return roce.ethernet(ip.wrap(roce.IPPROTO_UDP, roce.udp(
        pair.port, roce.ROCE_PORT, pair.written(bytes(PAYLOAD)))), **pair.macs)


def malformed(pair):
    """A request without the header that says where to write."""
    ib = roce.transport(roce.OPCODE["RC RDMA WRITE Only"], dest_qpn=pair.answering_qpn,
                        psn=pair.psn)
    return roce.ethernet(roce.rocev2(pair.ip(), pair.port, ib), **pair.macs)


def neighbour(pair):
    return roce.lldp(src=pair.rng.choice((pair.macs["src"], STRANGER)))


def other_mac_control(pair):
    return roce.ethernet(bytes((0, 2)) + bytes(44), src=pair.macs["src"], dst=roce.MAC_PAUSE,
                         ethertype=roce.ETHERTYPE_MAC_CONTROL)


BYSTANDERS = (of_another_protocol, of_another_port, not_of_infiniband, fragment, malformed,
              neighbour, other_mac_control)


def beside_others(pair):
    """What is of no stream stands among what is."""
    return [frame for data in plain(pair)
            for frame in (data, pair.rng.choice(BYSTANDERS)(pair))]


RARE = (lost, marked, other_class, other_pcp, notified, doubled, late, answered,
        without_credits, other_ack, doubled_ack, not_ready, spoilt, empty, other_ident, foreign,
        beside_others, beside_others, missed, missed, sprayed, sprayed)


def chatter(seed):
    rng = random.Random(seed)
    pairs = [Pair(rng, number) for number in range(1, rng.choice((2, 4, 9)))]
    if rng.random() < 0.5:
        pairs += [pair.reverse() for pair in pairs]
    what = (nothing, plain, *rng.choices(RARE, k=rng.choice((0, 1, 2, 5))))
    often = rng.choice(((acknowledged,), (acknowledged,), (answered,),
                        (answered, acknowledged))) * rng.choice((2, 10, 30)) + what
    out = roce.Pcap(snap_length=rng.choice(SNAP_LENGTHS))
    now_ns = START_NS
    pauses_at = rng.choice(((), (), (STEPS // 2,), range(STEPS // 8, STEPS, STEPS // 8)))
    rests_ns = rng.choice((NEVER, NEVER, RESTS_NS))
    back_ns = rng.choice((NEVER, STEPS_BACK_NS))
    for frame in foreign(None) * N_SURVEYED:
        out.add(now_ns, frame)
    for step in range(STEPS):
        pair = rng.choice(pairs)
        pair.is_heard = step >= pair.heard_from
        frames = rng.choice(often)(pair) if step not in pauses_at else paused(pair)
        now_ns += rng.choice(rests_ns)
        for frame in filter(None, frames):
            now_ns += rng.choice((0, 80, 400, 400, 400, 90000)) - rng.choice((0,) * 50 + (5000,))
            out.add(now_ns - rng.choice(back_ns), frame)
    return out.bytes()


def read_by(pair, n, parts=()):
    """A READ with its answer, of which some packets are of another part than their place is."""
    first = pair.psn
    yield pair.request("RC RDMA READ Request", roce.reth(0, 1, n * PAYLOAD), 0)
    pair.psn = first + n
    for i in range(n):
        yield pair.response(first + i, *dict(parts).get(i, (i == 0, i == n - 1)))


def unpaired():
    """A requester that loses its other half and finds it by a response without an AETH; its
    fastest acknowledgement is the first one behind that."""
    pair = Pair(random.Random(1), 1)
    pair.psn, pair.ident_step, pair.answer_ident_step, pair.is_heard = 1000, 1, 1, True
    out = roce.Pcap()
    now_ns = START_NS
    for frame in foreign(None) * N_SURVEYED:
        out.add(now_ns, frame)

    def add(frames, answered_ns):
        nonlocal now_ns
        for i, frame in enumerate(frames):
            now_ns += answered_ns if i % 2 == 1 else 1000
            out.add(now_ns, frame)

    def send(**how):
        return [pair.request("RC SEND Only", ack_request=True, **how), pair.ack()]

    for _ in range(3):
        add(read_by(pair, 40), 1000)
    for _ in range(6):
        add(send(), 20000)
    add([pair.ack(-5_000_000) for _ in range(4)], 1000)
    pair.psn += 1_000_000
    add(read_by(pair, 40, {0: (False, False)}.items()), 1000)
    for _ in range(2):
        add(read_by(pair, 40), 1000)
    add(send(), 777)
    for _ in range(10):
        add(send(), 20000)
    for _ in range(3):
        add(send(tos=pair.tos | 3), 20000)
    return out.bytes()


def farther(rng, frame, dscp):
    """The packet of a frame behind a hop: another hop limit, and maybe a mark or a DSCP."""
    frame = bytearray(frame)
    at = 18 if frame[12:14] == bytes((0x81, 0)) else 14
    mark = 3 if rng.random() < 0.02 else 0
    if frame[at] >> 4 == 4:
        frame[at + 8] -= 1
        frame[at + 1] = (dscp << 2 | frame[at + 1] & 3 if dscp else frame[at + 1]) | mark
    elif frame[at] >> 4 == 6:
        frame[at + 7] -= 1
        frame[at + 1] |= mark << 4
    return bytes(frame)


def in_files(data, seed):
    """The files of a rotated capture, of which later ones begin amid the conversation, or
    those of two points of one path, of which the later one sees most packets a little
    later."""
    rng = random.Random(seed)
    snap_length = struct.unpack_from("<I", data, 16)[0]
    is_rotated = rng.random() < 0.5
    outs = [roce.Pcap(snap_length=snap_length)
            for _ in range(rng.choice((2, 3, 5)) if is_rotated else 2)]
    dscp = rng.choice((0, 0, 10))
    packets = list(roce.pcap_packets(data))
    for i, (time_ns, length, frame) in enumerate(packets):
        if is_rotated:
            talk = max(0, i - N_SURVEYED)
            outs[talk * len(outs) // max(1, len(packets) - N_SURVEYED)].add(
                time_ns, frame, length)
            continue
        outs[0].add(time_ns, frame, length)
        if rng.random() > 0.001:
            changed = farther(rng, frame, dscp) if i >= N_SURVEYED else frame
            outs[1].add(time_ns + 700, changed, length)
    return [out.bytes() for out in outs]


def with_directions(data, seed):
    """The same from the adapter of a host: of each packet is known which way it went."""
    rng = random.Random(seed)
    snap_length = struct.unpack_from("<I", data, 16)[0]
    speed_bps = rng.choice((0, 10**11, 10**11))
    out = roce.Pcapng((roce.Interface(snap_length=snap_length, speed_bps=speed_bps),))
    for time_ns, length, frame in roce.pcap_packets(data):
        is_ours = frame[6:12] == roce.MAC_A
        known = rng.random() > 0.01
        out.add(time_ns, frame, direction=("out" if is_ours else "in") if known else "",
                wire_length=length)
    return out.bytes()


GRE_TYPES = {"I": tunnels.GRE_ERSPAN, "II": tunnels.GRE_ERSPAN, "III": tunnels.GRE_ERSPAN3,
             "GRE": tunnels.GRE_BRIDGING, "Arista": 0xD28B}


def around(how, number):
    """The headers between a mirror's IP header and a frame that it copied."""
    session = 5 + number % how["sessions"]
    own = {"II": tunnels.erspan2(b"", session=session, encapsulation=how["tagged"]),
           "III": tunnels.erspan3(b"", session=session, time=number * 1000, egress=True),
           "Arista": struct.pack(">6HII", 9, 1, 7, 9, session, 0, number // 1000, number)}
    return tunnels.gre(GRE_TYPES[how["kind"]], own.get(how["kind"], b""), key=how["key"],
                       sequence=number if how["kind"] in ("II", "III") else None)


def mirrored(data, seed):
    """The same as a switch sends it in GRE: whole, cut by the switch, or by the snap length;
    with the FCS or without; in one session or two."""
    rng = random.Random(seed)
    how = {"kind": rng.choice(("I", "II", "II", "III", "GRE", "Arista")),
           "key": rng.choice((None, None, 77)), "tagged": rng.choice((0, 0, 0, 2)),
           "sessions": rng.choice((1, 1, 2))}
    fcs = bytes(rng.choice((0, 0, 4)))
    cuts = rng.random() < 0.3
    out = roce.Pcap(snap_length=262144)
    for number, (time_ns, length, frame) in enumerate(roce.pcap_packets(data)):
        if rng.random() < 0.002:
            out.add(time_ns, frame, length)     # not of the mirror
            continue
        frame += fcs if len(frame) == length else b""
        missing = 0 if cuts else max(0, length + len(fcs) - len(frame))
        outer = tunnels.carry(
            tunnels.IPPROTO_GRE, around(how, number) + frame + bytes(missing),
            dataclasses.replace(tunnels.OUTER4, ident=number & 0xFFFF))
        out.add(time_ns, outer[:len(outer) - missing], len(outer))
    return out.bytes()
