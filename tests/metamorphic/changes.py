# SPDX-License-Identifier: GPL-2.0-or-later
"""What is done to a capture, and what has to become of its report.

A change is a function of a Sample and its report, and gives Cases: files to analyze, the
report that has to come of them, and the paths where it may differ for the reason that
stands beside them.  Nothing else may.
"""

import dataclasses
import datetime
import functools
import ipaddress
import itertools
import re
import struct

import frames
import reports
import roce
import tunnels
from captured import SOURCE, Packet, sample
from reports import Kinds

S = 10**9
# Cells of time begin at multiples of their width: bins, which double from 1 us on, windows
# of 10 us, and of 50 us.  By multiples of this they all move along, up to bins of a second.
GRID_NS = 50_000 * 2**20
DAY_NS = 24 * 3600 * S // GRID_NS * GRID_NS
BEYOND_2038_NS = 2_200_000_000 * S // GRID_NS * GRID_NS

FILTERS = (r"findings\.\d+\.(files\.\d+\.)?wireshark_filter(_all)?",)
FILES = (r"capture\.files\.\d+\.(path|bytes)", r"capture\.points\.\d+\.file", r"capture\.bytes",
         r"findings\.\d+\.files\.\d+\.file")


@dataclasses.dataclass(frozen=True)
class Case:
    what: str
    files: dict                  # name -> bytes, in the order of the command line
    want: object                 # the report
    may_differ: tuple = ()       # patterns of paths, with all below them
    view: object = reports.same  # the part of both reports that is compared


def one_file(what, changed, want, may_differ=(), **how):
    return Case(what, {changed.file_name: changed.bytes()}, want, may_differ, **how)


# --- time ----------------------------------------------------------------------------

# What is counted in cells of time, whose edges stay where they are.
CELLS = (r"timeline", r"bursts\.receivers", r"spreading\.pairs\.\d+\.siblings")
IN_WORDS = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{9} UTC")
EPOCH = datetime.datetime(1970, 1, 1)


def _in_words(ns):
    date = EPOCH + datetime.timedelta(seconds=ns // S)
    return f"{date:%Y-%m-%d %H:%M:%S}.{ns % S:09} UTC"


def _from_words(text):
    date = datetime.datetime.strptime(text[:19], "%Y-%m-%d %H:%M:%S")
    return (date - EPOCH) // datetime.timedelta(seconds=1) * S + int(text[20:29])


def _later(report, by_ns):
    return Kinds(stamp=lambda ns: ns + by_ns, text=lambda text: IN_WORDS.sub(
        lambda found: _in_words(_from_words(found[0]) + by_ns), text)).of(report)


def time(original, report):
    """At any time since 1970 the same happens."""
    first = min(p.time_ns for p in original.packets)
    for what, by_ns, may_differ in (
            ("a day later", DAY_NS, ()),
            ("beyond 2038", BEYOND_2038_NS - first // GRID_NS * GRID_NS, ()),
            ("in 1970", -(first // GRID_NS * GRID_NS), ()),
            ("from 0 on", -first, CELLS)):
        moved = original.but(p.but(time_ns=p.time_ns + by_ns) for p in original.packets)
        yield one_file(what, moved, _later(report, by_ns), may_differ)


# --- numbers -------------------------------------------------------------------------


def other_qpn(qpn):
    """One to one, and out of order; 0, 1 and 0xffffff are special."""
    return qpn if qpn in (0, 1, 0xFFFFFF) else 2 + ((qpn - 2) * 7919 + 4242) % (0xFFFFFF - 2)


def _derived_ports(report):
    """(destination QPN, port) -> port: what senders derive from a pair of QPNs is derived
    from the new ones."""
    out = {}
    for stream in report["streams"]:
        pair = stream["dst_qpn"], stream["src_qpn"]
        if stream["connection"] is not None and pair[1] is not None:
            port = roce.entropy_port(*pair)
            out[stream["dst_qpn"], port] = roce.entropy_port(*map(other_qpn, pair))
    return out


def _with_ports(report, ports):
    """The report with the ports of its streams changed."""
    streams = []
    for stream in report["streams"]:
        changed = [ports.get((stream["dst_qpn"], p), p) for p in stream["udp_src_ports"]]
        streams.append(stream | {"udp_src_ports": sorted(changed)})
    return report | {"streams": streams}


def _other_qpn_in_text(text):
    """Details and filters name queue pairs by their QPN, in hexadecimal."""
    return re.sub(r"\b(QP|destqp ==) (0x[0-9a-f]+(, )?)+", lambda named: re.sub(
        "0x([0-9a-f]+)", lambda one: f"0x{other_qpn(int(one[1], 16)):x}", named[0]), text)


def qpns(original, report):
    """QPNs are names: other ones, one to one, change nothing."""
    ports = _derived_ports(report)
    changed = original.each(
        lambda frame: frames.with_qpns(frames.with_source_port(frame, ports), other_qpn))
    yield one_file("other ones", changed, Kinds(qpn=other_qpn, text=_other_qpn_in_text).of(
        _with_ports(report, ports)))


def psns(original, report):
    """Where PSNs begin does not matter, nor where they pass 2^24."""
    seen = sorted(frames.psn_of(p.frame) for p in original.packets if frames.layout(p.frame))
    for what, by in (("by half of them", 1 << 23),
                     ("passing 2^24", -seen[len(seen) // 2] & 0xFFFFFF)):
        def of(psn, by=by):
            return psn + by & 0xFFFFFF
        yield one_file(what, original.each(lambda frame, of=of: frames.with_psns(frame, of)),
                       Kinds(psn=of).of(report))


# --- addresses -----------------------------------------------------------------------


def _new_address(old, net, i):
    """Of the same kind, of hosts that were not there."""
    if len(old) == 4:
        return bytes([10, net, 0, 10 + i])
    if len(old) == 6:
        return b"\x06\xaa\0\0" + bytes([net, 16 + i])
    return old[:8] + struct.pack(">BBHI", 2, net, 0xFF, 16 * i)


def renaming(original, backwards, net=123):
    """All addresses of a capture -> new ones."""
    hosts = {a for p in original.packets for a in frames.addresses_of(p.frame)}
    out = {}
    for n_bytes in (4, 6, 16):
        names = sorted(h for h in hosts if len(h) == n_bytes)
        new = [_new_address(name, net, i) for i, name in enumerate(names, 1)]
        out |= zip(names, new[::-1] if backwards else new)
    return out


def _text_of(address):
    return address.hex(":") if len(address) == 6 else str(ipaddress.ip_address(address))


def in_texts(renamed):
    """The same for texts, as a function."""
    words = {_text_of(old): _text_of(new) for old, new in renamed.items()}
    pattern = re.compile(r"(?<![\w.])(" + "|".join(map(re.escape, words)) + r")(?!\w|\.\d)")
    return lambda text: pattern.sub(lambda found: words[found[0]], text)


def _whatever_the_order(report):
    """What is alike in all else is ordered by its address, and what nDPI makes of a flow
    that it does not know depends on addresses."""
    bursts, background = report["bursts"], report["background"]
    if bursts:
        bursts = bursts | {"receivers": sorted(bursts["receivers"], key=lambda r: (
            r["point"], r["receiver"]))}
    if background:
        background = {key: sum(b[key] for b in background)
                      for key in ("flows", "packets", "bytes")}
    return report | {"bursts": bursts, "background": background,
                     "findings": sorted(report["findings"], key=lambda f: f["id"])}


def addresses(original, report):
    """Addresses are names as well."""
    for what, backwards in (("in order", False), ("backwards", True)):
        renamed = renaming(original, backwards)
        changed = original.each(lambda frame, of=renamed: frames.with_addresses(frame, of))
        yield one_file(what, changed, Kinds(text=in_texts(renamed)).of(report),
                       view=_whatever_the_order)


# --- headers around it ---------------------------------------------------------------

# Rates of bytes on the wire; and which receivers stand first by them.
RATES = (r"bursts\.receivers\.\d+\.(bytes|peak_bps|peak_ts_ns|burst_bytes)",
         r"bursts\.receivers\.\d+\.bursts\.\d+\.(bytes|peak_bps)")


def _wider(report, more_bytes):
    """With so many bytes more on the wire for each packet; of what a mirror carried, the
    wire was another."""
    more_bytes = 0 if report["capture"]["mirrored_packets"] else more_bytes

    def grown(row, key="bytes"):
        return row | {key: row[key] + more_bytes * row["packets"]}
    priorities = report["priorities"]
    points = [point | {"data": list(map(grown, point["data"]))} for point in priorities["points"]]
    return report | {
        "totals": grown(report["totals"], "wire_bytes"),
        "streams": [grown(stream, "wire_bytes") for stream in report["streams"]],
        "background": report["background"] and list(map(grown, report["background"])),
        "priorities": priorities | {"points": points}}


def _by_number(report):
    """The order of streams, and of their series, is that of bytes on the wire."""
    series = report["timeline"] and sorted(report["timeline"]["series"],
                                           key=lambda s: (s["of"], s["id"] or 0))
    return report | {"streams": sorted(report["streams"], key=lambda s: s["id"]),
                     "timeline": report["timeline"] and report["timeline"] | {"series": series}}


def vlan(original, report):
    """A tag that says the same priority as what was there says where it is, no more."""
    of_tags = (r"streams\.\d+\.vlans",)
    if not frames.is_tagged(original.packets[0].frame):
        of_tags += (r"priorities\.points\.\d+\.tags",)
    yield one_file("tagged", original.each(
        lambda frame: frames.tagged(frame, roce.Vlan(77, pcp=frames.priority_of(frame)))),
        _wider(report, 4), (*FILES, *RATES, *of_tags), view=_by_number)


KINDS = {kind.name: kind for kind in tunnels.KINDS}
OF_TUNNELS = (r"capture\.(tunnelled|mirrored)_packets", r"capture\.points\.\d+\.mirror",
              r"streams\.\d+\.(ecn_source|tenant)", r"findings\.\d+\.wireshark_filter_all",
              r"(bursts\.receivers|spreading\.pairs|incast\.receivers)\.\d+\.tenant")


def _in_vxlan(frame, _n):
    """In an overlay whose headers have it queued as its own would: the same tag and DSCP."""
    packet, kind = tunnels.network_of(frame)
    tos = 0
    if packet is not None:
        tos = packet[1] if kind == roce.ETHERTYPE_IPV4 else (packet[0] << 4 | packet[1] >> 4) & 0xFF
    vlans = [roce.Vlan(7, pcp=frame[14] >> 5)] if frame[12:14] == b"\x81\x00" else []
    return tunnels.carry(
        roce.IPPROTO_UDP, roce.udp(50_000, tunnels.PORT_VXLAN, tunnels.vxlan(5000, frame)),
        roce.Ip("192.0.2.1", "192.0.2.2", tos=tos & 0xFC), vlans)


def tunnelled(original, report):
    """What is carried is judged as if it had been captured plain: tests/sim/test_tunnels
    has all kinds, this all captures."""
    if report["pauses"] or report["capture"]["snaplen_truncated_packets"]:
        return # pauses are of the link itself, and what is cut cannot be carried whole
    # A mirror's session is a point of its own, whose speed no interface tells.
    for name in ("vxlan", *(("erspan_ii",) if not original.interfaces else ())):
        numbers = itertools.count()
        wrap = KINDS[name].wrap if KINDS[name].mirror else _in_vxlan
        changed = original.each(lambda frame, wrap=wrap, n=numbers: wrap(frame, next(n)))
        more = 0 if KINDS[name].mirror else len(changed.packets[0].frame) - len(
            original.packets[0].frame)
        yield one_file(name, changed, _wider(report, more), (*FILES, *RATES, *OF_TUNNELS),
                       view=_by_number)


# --- files ---------------------------------------------------------------------------


def _names(original, n):
    """As dumpcap -b and tcpdump -C -W name their files."""
    if original.interfaces:
        return [f"x_{i:05}_202611211200{i:02}.pcapng" for i in range(1, n + 1)]
    return [f"x.pcap{i:02}" for i in range(n)]


def _pieces(packets, n):
    """Cut where no packet that follows is older: of several interfaces, whose packets are
    written in turn, stamps step back by milliseconds; and behind the first packet of
    each, as points are numbered when they are met."""
    met = max(next(i for i, p in enumerate(packets, 1) if p.interface == interface)
              for interface in {p.interface for p in packets})
    oldest = list(itertools.accumulate((p.time_ns for p in reversed(packets)), min))[::-1]
    newest = list(itertools.accumulate((p.time_ns for p in packets), max))
    clean = [i for i in range(1, len(packets)) if i >= met and newest[i - 1] < oldest[i]]
    size = -(-len(packets) // n)
    cuts = sorted({next((c for c in clean if c >= size * i), len(packets)) for i in range(n + 1)})
    return [packets[a:b] for a, b in zip([0, *cuts], cuts)]


def _in_files(report, files, parts, file_of_interface, places):
    """As of several files: findings name their frames by the numbers of the files."""
    capture = report["capture"]
    rows = [capture["files"][0] | {"path": name, "packets": len(part),
                                   "bytes": sum(len(p.frame) for p in part)}
            for name, part in zip(files, parts)]
    points = [point | {"file": file_of_interface[point["interface"]]}
              for point in capture["points"]]
    return report | {
        "capture": capture | {"files": rows, "points": points},
        "findings": [finding | {"frames": [], "files": _where(finding["frames"], files, places)}
                     for finding in report["findings"]]}


def _where(numbers, files, places):
    """Frames of a finding by the files that they stand in, `files` in their order."""
    own = {name: [number for file, number in (places[n - 1] for n in numbers) if file == name]
           for name in files}
    return [{"file": name, "frames": found,
             "wireshark_filter": f"frame.number in {{{', '.join(map(str, found))}}}"}
            for name, found in own.items() if found]


def rotated(original, report):
    """Rotated files are one capture, in whatever order they are named."""
    parts = _pieces(original.packets, 3)
    names = _names(original, len(parts))
    first_file = {}
    for name, part in zip(names, parts):
        for p in part:
            first_file.setdefault(original.name_of(p), name)
    files = [(name, original.bytes(part), part) for name, part in zip(names, parts)]
    places = [(name, number) for name, part in zip(names, parts)
              for number in range(1, len(part) + 1)]
    for what, order in (("in order", files), ("backwards", files[::-1])):
        yield Case(what, {name: data for name, data, _ in order},
                   _in_files(report, [f[0] for f in order], [f[2] for f in order], first_file,
                             places),
                   (r"findings\.\d+\.wireshark_filter(_all)?",))


def _sums(report):
    """Of all points together: of an interface that goes on in the next file before the
    others have ended in the one before, that is a point of its own."""
    return {key: report[key] for key in ("totals", "event_totals", "unattributed")} | {
        "twins": report["capture"]["twin_packets"]}


def torn(original, report):
    """Interfaces of one file are written in turn, so that one file begins with packets
    that are older than the last ones of the file before."""
    if len(original.interfaces) < 2:
        return
    names = _names(original, 2)
    for at in range(1, len(original.packets), len(original.packets) // 20):
        halves = original.packets[:at], original.packets[at:]
        yield Case(f"at packet {at}", dict(zip(names, map(original.bytes, halves))), report,
                   view=_sums)


# --- more, and less ------------------------------------------------------------------

STRANGERS = "captures/sim_duplex/sender.pcap.gz"


def _other_frames():
    """What other hosts talk about: RoCE, TCP, DNS and ARP."""
    strangers = sample(SOURCE / STRANGERS)
    out = [p.frame for p in strangers.each(functools.partial(
        frames.with_addresses, of=renaming(strangers, False, 200))).packets]
    a, b = "10.200.9.1", "10.200.9.2"
    macs = {"src": b"\x06\xbb\0\0\0\1", "dst": b"\x06\xbb\0\0\0\2"}
    tcp = struct.pack(">HHIIBBHHH", 40000, 443, 1, 1, 0x50, 0x18, 512, 0, 0) + bytes(200)
    dns = b"\x12\x34\1\0\0\1\0\0\0\0\0\0\7example\3com\0\0\1\0\1"
    arp = struct.pack(">HHBBH", 1, 0x0800, 6, 4, 1) + bytes(20)
    more = [roce.ethernet(roce.Ip(a, b).wrap(6, tcp), **macs),
            roce.ethernet(roce.Ip(a, b).wrap(17, roce.udp(40000, 53, dns)), **macs),
            roce.ethernet(arp, ethertype=0x0806, **macs)]
    for i in range(0, len(out), 7):
        out[i:i] = more
    return out


def _mixed(original):
    """With other traffic in the meantime, evenly in time; where the packets that were
    there stand now."""
    others = _other_frames()
    own = list(itertools.accumulate((p.time_ns for p in original.packets), max))
    first, last = own[0], own[-1]
    packets, places = [], []
    for frame_time, which, i in sorted(
            [(t, 0, i) for i, t in enumerate(own)]
            + [(first + (last - first) * i // len(others), 1, i) for i in range(len(others))]):
        if which == 0:
            packets.append(original.packets[i])
            places.append(len(packets))
        else: # at a point that there is
            packets.append(Packet(frame_time, others[i], len(others[i]), packets[-1].interface))
    return original.but(packets), places


COMPARED = ("one_link", "one_class")  # with what others meet: without them nothing is said


def _about(hosts, places):
    """The part of a report that is about hosts and packets, with streams and connections
    in the order of what they are."""
    places = {None, *places}

    def view(report):
        streams = sorted((s for s in report["streams"] if s["src"] in hosts), key=lambda s: (
            s["point"], s["src"], s["dst"], s["dst_qpn"], s["src_qpn"] or 0, s["first_ts_ns"]))
        numbers = {s["id"]: i for i, s in enumerate(streams)}
        connections = [c for c in report["connections"] if c["a"]["addr"] in hosts]
        links = {c["id"]: i for i, c in enumerate(connections)}
        of = functools.partial(_renumbered, numbers=numbers, links=links)
        events = [e for e in report["events"] if e["frame"] in places]
        # What incast is compared with is all other data.
        findings = [f | {"detail": None} if f["kind"] == "incast" else f
                    for f in report["findings"] if f["kind"] not in COMPARED
                    and f["streams"] and set(f["streams"]) <= numbers.keys()]
        receivers = [r for r in report["receivers"]["streams"] if r["stream"] in numbers]
        return {"streams": of(streams), "connections": of(connections), "events": of(events),
                "pauses": of(report["pauses"]), "findings": of(findings),
                "receivers": sorted(of(receivers), key=lambda r: r["stream"])}
    return view


def _renumbered(row, numbers, links):
    """With streams and connections by other numbers, wherever a row names them."""
    if isinstance(row, list):
        return [_renumbered(item, numbers, links) for item in row]
    if not isinstance(row, dict):
        return row
    out = {key: _renumbered(value, numbers, links) for key, value in row.items()}
    for key, names in (("stream", numbers), ("connection", links)):
        out |= {key: names.get(row[key])} if key in row else {}
    for key in ("streams", "same_stream_at"):
        if key in row and all(isinstance(i, int) for i in row[key]):
            out[key] = [numbers[i] for i in row[key]]
    if row.get("kind") in ("connected", "disconnected"):
        out["count"] = numbers[row["count"]]
    names = links if "paired_by" in row else numbers if "opcodes" in row else None
    out |= {"same_as": numbers[row["same_as"]]} if "opcodes" in row else {}
    return out | ({"id": names[row["id"]]} if names else {})


def unrelated(original, report):
    """What other hosts do beside it changes nothing of these."""
    if report["capture"]["capture_duplicates"]:
        return # the mirror would have delivered these twice, too
    changed, places = _mixed(original)
    hosts = {_text_of(a) for p in original.packets for a in frames.addresses_of(p.frame)}
    want = Kinds(frame=lambda number: places[number - 1]).of(report)
    yield one_file("mixed in", changed, want, (
        *FILTERS, # have numbers of frames or streams
        r"pauses\.\d+\.paused_share"), # of the time from the first packet to the last
        view=_about(hosts, places))


HEADERS_BEHIND_BTH = 28 # at most: AtomicETH


def _headers_of(frame):
    """What is not RoCE stays as it is, as does what CM says."""
    at = frames.layout(frame)
    if at is None or frames.is_gsi(frame, at):
        return frame
    return frame[:at.bth + frames.BTH_BYTES + HEADERS_BEHIND_BTH]


def _what_headers_tell(report):
    """Without what says that the rest is missing: whether ICRCs were checked."""
    def of(row):
        icrc = row["icrc"]
        return row | {"icrc": icrc | {"checked": icrc["checked"] + icrc["unchecked_truncated"],
                                      "unchecked_truncated": 0}}
    return report | {
        "totals": of(report["totals"]), "streams": list(map(of, report["streams"])),
        "findings": [f for f in report["findings"] if f["kind"] != "truncated"]}


def cut(original, report):
    """The headers alone tell the same, but for what only payload and ICRC can tell."""
    changed = original.but(p.but(frame=_headers_of(p.frame)) for p in original.packets)
    n_cut = sum(len(p.frame) < p.wire_bytes for p in changed.packets)
    capture = report["capture"] | {"snaplen_truncated_packets": n_cut}
    yield one_file("headers alone", changed, report | {"capture": capture}, FILES,
                   view=_what_headers_tell)


CHANGES = (time, qpns, psns, addresses, vlan, tunnelled, rotated, torn, unrelated, cut)
