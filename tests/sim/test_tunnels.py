#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What is carried is judged as if it had been captured plain.

Each packet of a capture is wrapped in one kind of tunnel or mirror (tunnels.KINDS); the
report must be that of the plain capture but for the keys that speak of the wrapping.  A
mirror that cuts is compared with a snap length, marks of an underlay with marks of the
packets themselves, and a mirrored point of two with a plain one.

    tests/sim/test_tunnels.py [ROW...]     some rows alone
    tests/sim/test_tunnels.py --list
"""

import gzip
import json
import os
import pathlib
import re
import struct
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(os.environ.get("ROCESCOPE_SOURCE",
                                     pathlib.Path(__file__).resolve().parents[2]))
BINARY = os.environ.get("ROCESCOPE", str(SOURCE / "build/dev/bin/rocescope"))

import roce  # noqa: E402
import tunnels  # noqa: E402

KINDS = {kind.name: kind for kind in tunnels.KINDS}

# Every kind meets these; the others go round the kinds.
FOR_ALL = ("02k_allops/receiver", "08_vlan/sender")
IN_TURN = (
    "02d_atomic_bw/receiver", "02e_ud/sender", "02f_uc/receiver", "02g_ipv6/sender",
    "02l_psnwrap/receiver", "03a_loss_data_0.5pct/receiver", "03c_loss_ack/sender",
    "04a_reorder/receiver", "04b_duplicate/receiver", "05a_rnr/sender",
    "06a_ecn_netem/receiver", "07a_nak_remote_access/receiver", "13_cm_reject/sender",
    "sim_duplex/sender")

# Keys that say how much of a file or point there was, not what happened in it.
OF_THE_FILE = (r"capture\.files\.\d+\.(path|bytes)", r"capture\.points\.\d+\.file",
               r"capture\.bytes", r"findings\.\d+\.files\.\d+\.file")
OF_TUNNELS = (r"capture\.(tunnelled|mirrored)_packets", r"capture\.points\.\d+\.mirror",
              r"streams\.\d+\.(ecn_source|tenant)", r"findings\.\d+\.wireshark_filter_all",
              r"(bursts\.receivers|spreading\.pairs|incast\.receivers)\.\d+\.tenant")
WIRE_BYTES = (r"(totals|streams\.\d+)\.wire_bytes", r"background\.\d+\.bytes",
              r"bursts\.receivers\.\d+\.(bytes|peak_bps)",
              r"priorities\.points\.\d+\.data\.\d+\.bytes")
OF_CUTS = (r"capture\.(snaplen_truncated|mirror_cut)_packets",)
VLANS = (r"streams\.\d+\.vlans(\.\d+)?",)
# Without its tag a packet has the priority of its DSCP.
TAGS = (r"priorities", r"streams\.\d+\.(data_priorities|congestion\.priorities)",
        r"findings")
# What a packet is queued by stands around it: tunnels.py has a tag of priority 5 around UDP,
# and DSCP 10 without a tag around everything else.
OF_PRIORITIES = (r"priorities\.points\.\d+\.(data|tags)",
                 r"streams\.\d+\.(data_priorities|congestion\.priorities)",
                 r"background\.\d+\.(by_priority|in_lossless_priority)")
BY_PRIORITY = ("pcp_dscp", "roce_priorities", "cnp_class")
LABELS = ("mpls", "pseudowire")


# --- captures and reports ------------------------------------------------------------


def read_capture(name):
    """The frames of a sample capture: time in ns, bytes."""
    data = gzip.decompress((SOURCE / "captures" / f"{name}.pcap.gz").read_bytes())
    magic, link_type = struct.unpack_from("<I16xI", data)
    assert magic == 0xA1B23C4D and link_type == roce.LINKTYPE_ETHERNET, name
    packets = list(roce.pcap_packets(data))
    assert all(wire == len(frame) for _, wire, frame in packets), name
    return [(time_ns, frame) for time_ns, _, frame in packets]


def pcap_of(frames, snap_length=262144):
    out = roce.Pcap(snap_length=snap_length)
    for time_ns, frame in frames:
        out.add(time_ns, frame)
    return out.bytes()


def wrapped(frames, wrap):
    return [(time_ns, wrap(frame, n)) for n, (time_ns, frame) in enumerate(frames)]


class Runner:
    """Reports of captures, each made once."""

    def __init__(self, directory):
        self.directory = pathlib.Path(directory)
        self.plain = {}

    def report(self, *captures):
        paths = []
        for i, data in enumerate(captures):
            paths.append(self.directory / f"{i}.pcap")
            paths[-1].write_bytes(data)
        run = subprocess.run(
            [BINARY, "--quiet", "--json", "-", "--events", "100000", *map(str, paths)],
            capture_output=True, check=False)
        assert run.returncode == 0, run.stderr.decode()
        report = json.loads(run.stdout)
        report["streams"].sort(key=lambda stream: stream["id"])  # not by wire_bytes
        return report

    def report_of(self, name):
        if name not in self.plain:
            self.plain[name] = self.report(pcap_of(read_capture(name)))
        return self.plain[name]


def leaves(value, path=""):
    if isinstance(value, dict):
        items = value.items()
    elif isinstance(value, list):
        items = enumerate(value)
    else:
        yield path, value
        return
    yield path, type(value)  # so that an empty one is seen as well
    for key, inner in items:
        yield from leaves(inner, f"{path}.{key}" if path else str(key))


def in_order(report):
    """With the time line's series by number: they stand in the order of bytes on the wire."""
    series = report["timeline"] and sorted(report["timeline"]["series"],
                                           key=lambda s: (s["of"], s["id"] or 0))
    return report | {"timeline": report["timeline"] and report["timeline"] | {"series": series}}


def differences(plain, other, *allowed):
    """Paths where the reports differ, but for those allowed."""
    pattern = re.compile("|".join(f"(?:{p})(?:\\..*)?" for group in (OF_THE_FILE, *allowed)
                                  for p in group))
    a, b = dict(leaves(in_order(plain))), dict(leaves(in_order(other)))
    return [f"{path}: {a.get(path)} became {b.get(path)}"
            for path in sorted(a.keys() | b.keys())
            if a.get(path) != b.get(path) and not pattern.fullmatch(path)]


def is_queued_by_outer(kind):
    return not kind.mirror and kind.name not in LABELS


def apart_from_priorities(*reports):
    return [report | {"findings": [f for f in report["findings"]
                                   if f["kind"] not in BY_PRIORITY]} for report in reports]


def wrong_priorities(kind, report):
    """Of RoCE data, where the headers around it say which one it has."""
    want = 1 if kind.tenant is None or kind.name == "nvgre" else 5
    got = {data["priority"] for point in report["priorities"]["points"]
           for data in point["data"]}
    return [f"priorities {got}"] if got not in (set(), {want}) else []


def overhead(kind):
    """Bytes that this kind puts around a frame (what is bare leaves the MACs out)."""
    frame = roce.ethernet(roce.Ip("10.0.0.1", "10.0.0.2").wrap(17, bytes(64)))
    return len(kind.wrap(frame, 0)) - len(frame)


# --- rows ----------------------------------------------------------------------------


def check_wrapped(runner, kind, name):
    plain, frames = runner.report_of(name), read_capture(name)
    carried = wrapped(frames, kind.wrap)
    got = runner.report(pcap_of(carried))
    allowed = [OF_TUNNELS]
    if not kind.mirror:
        allowed.append(WIRE_BYTES)
    if kind.bare:
        allowed.append(VLANS)
    if kind.bare and name.startswith("08_vlan"):
        allowed.append(TAGS)
    problems = []
    if is_queued_by_outer(kind):
        allowed.append(OF_PRIORITIES)
        problems = wrong_priorities(kind, got)
        plain, got = apart_from_priorities(plain, got)
    if kind.name in ("erspan_ii_fcs", "own_type"):
        # Where no IP says how long a frame was, what the mirror added cannot be told;
        # and under a type that says nothing, a frame of IP alone is recognised.
        allowed.append((r"background",))
    if kind.name == "own_type":
        # What is not recognised came by no mirror, and so not by that point.
        allowed.append((r"capture\.points", r"timeline\.series\.\d+\.id", r"(events|streams)\.\d+\.point",
                        r"findings\.\d+\.(detail|id)", r"priorities\.points",
                        r"bursts\.receivers\.\d+\.point",
                        r"collective\.\d+\.edges\.\d+\.point"))
    problems += differences(plain, got, *allowed)
    n_wrapped = sum(a != b for a, b in zip(frames, carried))
    if kind.name == "own_type":
        n_wrapped = sum(tunnels.network_of(frame)[0] is not None for _, frame in frames)
    mirrored = n_wrapped if got["capture"]["mirrored_packets"] else 0
    for key, want in (("tunnelled_packets", n_wrapped), ("mirrored_packets", mirrored)):
        if got["capture"][key] != want:
            problems.append(f"{key} is {got['capture'][key]}, not {want}")
    if kind.mirror and not mirrored:
        problems.append("no packet was mirrored")
    more = overhead(kind)
    if "in_erspan" in kind.name:  # the overlay alone was on the mirrored link
        more = overhead(KINDS["vxlan"])
    for before, after in zip(plain["streams"], got["streams"]):
        if after["tenant"] != kind.tenant or after["ecn_source"] != "inner":
            problems.append(f"stream of {after['tenant']} by {after['ecn_source']}")
        tags = 4 * len(before["vlans"]) if kind.bare else 0
        added = 0 if kind.mirror else (more - tags) * before["packets"]
        if after["wire_bytes"] != before["wire_bytes"] + added:
            problems.append(f"wire_bytes {after['wire_bytes']}, not "
                            f"{before['wire_bytes']} + {added}")
    return problems


def check_cut(runner, name, length, late):
    """A mirror that sends so many bytes of a frame is like such a snap length, whether
    it cuts the frame or, `late`, the packet that it made of it."""
    frames = read_capture(name)
    around = overhead(KINDS["erspan_ii"])
    snapped = runner.report(pcap_of(frames, snap_length=length))
    cut = runner.report(pcap_of(wrapped(
        frames, lambda f, n: KINDS["erspan_ii"].wrap(f, n)[:length + around] if late
        else KINDS["erspan_ii"].wrap(f[:length], n))))
    n_cut = sum(len(frame) > length for _, frame in frames)
    roce_cut = cut["capture"]["mirror_cut_packets"]
    problems = differences(strip(snapped, "truncated"), strip(cut, "mirror_cut"),
                           OF_TUNNELS, OF_CUTS, (r"background\.\d+\.bytes",))
    if not 0 < roce_cut <= n_cut:
        problems.append(f"{roce_cut} packets cut by the mirror, {n_cut} frames were")
    if cut["capture"]["malformed_packets"] or cut["capture"]["snaplen_truncated_packets"]:
        problems.append("cut packets are malformed, or cut by the capture")
    return problems


def strip(report, kind):
    """Without the finding of this kind, which must be there."""
    findings = [f for f in report["findings"] if not f["id"].startswith(kind)]
    assert len(findings) == len(report["findings"]) - 1, kind
    return {**report, "findings": findings}


def mark(frame, outer=False):
    """CE on the first IPv4 header of a frame, which is spared if it is Not-ECT."""
    at = 14
    while frame[at - 2:at] == b"\x81\x00":
        at += 4
    if frame[at - 2:at] != b"\x08\x00" or (not outer and frame[at + 1] & 3 == 0):
        return frame
    return frame[:at + 1] + bytes([frame[at + 1] | 3]) + frame[at + 2:]


def check_marks(runner, name, kind, every=3):
    """CE around every third packet: as if the packet itself bore it, or, around what a
    mirror carries, as if there were none."""
    frames = read_capture(name)
    bears = (lambda f, n: f) if kind.mirror else (
        lambda f, n: mark(f) if n % every == 0 else f)
    plain = runner.report(pcap_of(wrapped(frames, bears)))
    got = runner.report(pcap_of(wrapped(frames, lambda f, n: (
        mark(kind.wrap(f, n), outer=True) if n % every == 0 else kind.wrap(f, n)))))
    priorities = OF_PRIORITIES if is_queued_by_outer(kind) else ()
    problems = differences(*apart_from_priorities(plain, got), OF_TUNNELS, WIRE_BYTES, VLANS,
                           priorities)
    sources = {stream["ecn_source"] for stream in got["streams"]}
    if sources != ({"inner"} if kind.mirror else {"outer"}):
        problems.append(f"ECN was read from {sources}")
    if not kind.mirror and plain["totals"]["ecn"]["ce"] < 100:
        problems.append("too few marks to tell")
    return problems


def check_two_points(runner, name, kind):
    """The requester's file plain, the responder's carried: twins all the same."""
    files = [read_capture(f"{name}/{point}") for point in ("sender", "receiver")]
    plain = runner.report(*map(pcap_of, files))
    got = runner.report(pcap_of(files[0]), pcap_of(wrapped(files[1], kind.wrap)))
    if kind.tenant is None:
        # Each direction of a mirror's session is a point, and both are taken together.
        joined = [point["joined_with"] for point in got["capture"]["points"]]
        problems = [f"joined {joined}"] if joined not in ([None, None, 1], [None, None, 0]) else []
        return problems + [f"{key}: {value} became {got['totals'][key]}"
                           for key, value in plain["totals"].items()
                           if key != "wire_bytes" and value != got["totals"][key]]
    twins = [report["capture"]["twin_packets"] for report in (plain, got)]
    return [f"twins {twins}"] if twins[0] != twins[1] or twins[0] < 100 else []


def check_pauses(runner, kind):
    """A mirror can carry pause frames, and an overlay that bridges as well."""
    frames = [(1_000_000 * n, frame) for n, frame in enumerate((
        roce.pfc({3: 0xFFFF}), roce.pfc({3: 0xFFFF, 4: 100}), roce.pfc({3: 0, 4: 0}),
        roce.pause(1000), roce.pause(0)), 1)]
    plain = runner.report(pcap_of(frames))
    got = runner.report(pcap_of(wrapped(frames, kind.wrap)))
    problems = differences(plain, got, OF_TUNNELS)
    if got["capture"]["pfc_frames"] != 3 or got["capture"]["pause_frames"] != 2:
        problems.append("pause frames were missed")
    return problems


def rows():
    """Name and check of every row."""
    kinds = [kind for kind in KINDS.values() if kind.name != "erspan_iii_both"]
    for i, kind in enumerate(kinds):
        for name in (*FOR_ALL, *(IN_TURN[(i + 3 * j) % len(IN_TURN)] for j in range(5))):
            yield (f"{kind.name}:{name}",
                   lambda runner, k=kind, n=name: check_wrapped(runner, k, n))
    for name, length in (("03a_loss_data_0.5pct/receiver", 128), ("05a_rnr/sender", 64),
                         ("02k_allops/receiver", 70), ("02g_ipv6/sender", 90)):
        for how, late in (("cut", False), ("cut_late", True)):
            yield (f"{how}_{length}:{name}", lambda runner, n=name, at=length, late=late:
                   check_cut(runner, n, at, late))
    for kind in ("vxlan", "geneve", "nvgre", "gre", "ip_in_ip", "erspan_i", "bridged"):
        yield (f"marks:{kind}", lambda runner, k=KINDS[kind]: check_marks(
            runner, "06a_ecn_netem/receiver", k))
    for kind in ("erspan_iii_both", "vxlan"):
        yield (f"two_points:{kind}", lambda runner, k=KINDS[kind]: check_two_points(
            runner, "03a_loss_data_0.5pct", k))
    for kind in ("erspan_ii", "erspan_iii_subheader", "spectrum", "vxlan", "pseudowire"):
        yield f"pauses:{kind}", lambda runner, k=KINDS[kind]: check_pauses(runner, k)


def main(arguments):
    if arguments[:1] == ["--list"]:
        print("\n".join(name for name, _ in rows()))
        return 0
    failed, n_rows = [], 0
    with tempfile.TemporaryDirectory() as temporary:
        runner = Runner(temporary)
        for name, check in rows():
            if arguments and name not in arguments:
                continue
            n_rows += 1
            try:
                problems = check(runner)
            except Exception as error:  # a row that breaks must not hide the next
                problems = [f"{type(error).__name__}: {error}"]
            if problems:
                failed.append(name)
                print(f"FAILED {name}")
                for problem in problems[:12]:
                    print(f"    {problem}")
    print(f"{len(failed)} failed: {' '.join(failed)}" if failed else f"{n_rows} rows passed")
    return 1 if failed or n_rows == 0 else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
