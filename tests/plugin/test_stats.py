#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The plugin's statistics: tshark -z.

The tables are compared with the analyzer's report, number by number; what is counted by
packet with what tshark has on the packets; and all of it in one pass and in two."""

import collections
import functools
import gzip
import re
import struct
import subprocess
import sys
from decimal import Decimal
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parent),
                str(Path(__file__).resolve().parents[1] / "agreement")]
import packets as pk  # noqa: E402
import reports  # noqa: E402
from checks import SOURCE, TS, Check, main, write  # noqa: E402
from tshark import number  # noqa: E402

# Loss, reordering, RNR, refusals, READs, atomics, ECN with CNPs, PFC, one direction,
# IPv6, several QPs, UD, UC, CM, XRC, PSNs that are all equal, mirrors.
SAMPLES = ("03a_loss_data_0.5pct/receiver.pcap.gz", "03a_loss_data_0.5pct/sender.pcap.gz",
           "03c_loss_ack/sender.pcap.gz", "03d_loss_read_resp/receiver.pcap.gz",
           "04a_reorder/receiver.pcap.gz", "04b_duplicate/receiver.pcap.gz",
           "05a_rnr/sender.pcap.gz", "07a_nak_remote_access/sender.pcap.gz",
           "02a_read_bw/sender.pcap.gz", "02d_atomic_bw/sender.pcap.gz",
           "02e_ud/sender.pcap.gz", "02f_uc/sender.pcap.gz", "02g_ipv6/sender.pcap.gz",
           "02h_multiqp/sender.pcap.gz", "02k_allops/sender.pcap.gz",
           "06a_ecn_netem/receiver.pcap.gz", "13_cm_reject/sender.pcap.gz",
           "sim_incast_ecn/h0.pcapng.gz", "sim_incast_ecn/h3.pcapng.gz",
           "sim_incast_pfc/h3.pcap.gz", "sim_incast_pfc/switch.pcapng.gz",
           "sim_equal_psns/sender.pcap.gz", "sim_uc_loss/receiver.pcap.gz",
           "sim_xrc/sender.pcap.gz", "sim_erspan_iii/mirror.pcap.gz",
           # What the survey has to put right: second copies, order, one link in two files.
           "sim_mirror_twice/mirror.pcap.gz", "sim_merged_queues/receiver.pcap.gz",
           "11_pcapng_switch/switch.pcapng.gz")
PAUSED = ("sim_incast_pfc/switch.pcapng.gz", "sim_cascade/fabric.pcapng.gz")
PASSES = ([], ["-2"])
STATISTICS = ("rocev2,qp", "pfc,pauses", "rocev2,tree", "rocev2,srt", "conv,rocev2",
              "endpoints,rocev2")

# The columns of the tables, and where the report has them.
QP_COLUMNS = {
    "stream": "id", "source": "src", "destination": "dst", "dest. QP": "dst_qpn",
    "source QP": "src_qpn", "service": "transport", "packets": "packets",
    "payload bytes": "payload_bytes", "messages": "messages.completed",
    "message bytes": "messages.bytes",
    "gaps": "requests.gaps", "missing PSNs": "requests.missing_psns",
    "reordered": "requests.reordered", "duplicates": "requests.duplicates",
    "response gaps": "responses.gaps", "missing response PSNs": "responses.missing_psns",
    "reordered responses": "responses.reordered",
    "duplicate responses": "responses.duplicates",
    "responses sent again": "responses.resent",
    "retransmitted packets": "retransmissions.packets",
    "retransmitted bytes": "retransmissions.bytes", "rounds": "retransmissions.rounds",
    "spurious rounds": "retransmissions.spurious_rounds",
    "after NAK": "retransmissions.by_cause.nak_sequence",
    "after RNR NAK": "retransmissions.by_cause.rnr",
    "after timeout": "retransmissions.by_cause.timeout",
    "READ again": "retransmissions.by_cause.read_reissue",
    "cause unknown": "retransmissions.by_cause.unknown",
    "lost before capture": "losses.requests.lost_before_capture",
    "undelivered after capture": "losses.requests.undelivered_after_capture",
    "ACK lost": "losses.requests.ack_lost",
    "data or ACK lost": "losses.requests.data_or_ack_lost",
    "not captured": "losses.requests.not_captured", "corrupt": "losses.requests.corrupt",
    "fate unknown": "losses.requests.unknown",
    "responses lost before capture": "losses.responses.lost_before_capture",
    "responses undelivered after capture": "losses.responses.undelivered_after_capture",
    "responses not captured": "losses.responses.not_captured",
    "responses corrupt": "losses.responses.corrupt",
    "fate of responses unknown": "losses.responses.unknown",
    "sequence NAKs": "naks.psn_sequence", "invalid request NAKs": "naks.invalid_request",
    "remote access NAKs": "naks.remote_access",
    "remote operational NAKs": "naks.remote_operational", "RNR NAKs": "naks.rnr",
    "RNR waits kept": "rnr_waits_kept", "RNR waits broken": "rnr_waits_broken",
    "CE": "ecn.ce", "ECN transitions": "ecn.transitions",
    "CE episodes": "ecn.ce_episodes", "CNPs received": "cnps_received",
    "CNPs sent": "cnps_sent", "bad ICRC": "icrc.bad",
    "bad IPv4 checksum": "ip_checksum_bad", "damaged PSN": "psn_bad",
    "ACK p50 ns": "ack_latency_ns.p50", "ACK p99 ns": "ack_latency_ns.p99",
    "completion p50 ns": "message_completion_ns.p50",
    "completion p99 ns": "message_completion_ns.p99",
}
PAUSE_COLUMNS = {
    "source": "src_mac", "priority": "priority", "link bit/s": "link_speed_bps",
    "XOFF": "xoff", "refresh": "refresh", "XON": "xon", "expired": "expired",
    "intervals": "n_intervals", "paused ns": "total_ns", "longest ns": "longest_ns",
    "quanta": "total_quanta",
}
TEXTS = {"source", "destination", "service"}

# The rows of the tree that streams have counters of: theirs, then the report's.
LOST = {"Verdicts on requests": "losses.requests",
        "Verdicts on responses": "losses.responses",
        "Rounds of retransmission": "retransmissions.by_cause"}
CODEPOINTS = ("Not-ECT", "ECT(1)", "ECT(0)", "CE")

# What begins a message, by the operation that response times have a row for.
ROWS = {"WRITE": "RDMA WRITE", "SEND": "SEND", "READ": "RDMA READ Request",
        "Atomic": "Compare and Swap|Fetch and Add", "FLUSH": "FLUSH", "ATOMIC WRITE": "ATOMIC WRITE"}


def sample(name):
    """A sample capture where tshark may read it."""
    copy = TS.path(name.replace("/", "."))
    if not copy.exists():
        TS.copy(SOURCE / "captures" / name, copy.name)
    return copy


def torn(name, more):
    """A sample in which every other frame is of another interface, eth1, of one section;
    `more` are frames behind the n-th: (n, interface, frame)."""
    def block(kind, body):
        body += bytes(-len(body) % 4)
        size = struct.pack("<I", len(body) + 12)
        return struct.pack("<I", kind) + size + body + size

    def interface(number):
        return block(1, struct.pack("<HHIHH4sHHBxxxI", 1, 0, 0, 2, 4, b"eth%d" % number,
                                    9, 1, 9, 0))

    def packet(number, stamp, wire, frame):
        return block(6, struct.pack("<5I", number, stamp >> 32, stamp & 0xFFFFFFFF,
                                    len(frame), wire) + frame)

    data = gzip.decompress(sample(name).read_bytes())
    out, at, n = [block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1)),
                  interface(0), interface(1)], 24, 0
    while at < len(data):
        seconds, ns, kept, wire = struct.unpack_from("<4I", data, at)
        stamp, n = seconds * 10**9 + ns, n + 1
        out.append(packet(n % 2, stamp, wire, data[at + 16:at + 16 + kept]))
        out += [packet(number, stamp, len(frame), frame)
                for behind, number, frame in more if behind == n]
        at += 16 + kept
    path = TS.path("torn.pcapng")
    path.write_bytes(b"".join(out))
    path.chmod(0o644)
    return path


@functools.lru_cache(maxsize=None)
def report(name):
    return reports.report(SOURCE / "captures" / name)


def at(tree, path):
    """The value of a report that a dotted path leads to; None below what is null."""
    for key in path.split("."):
        tree = None if tree is None else tree[key]
    return tree


def show(path, *statistics, options=()):
    """What tshark shows of statistics."""
    asked = [part for one in statistics for part in ("-z", one)]
    return TS.run("-r", path, "-q", *options, *asked)


@functools.lru_cache(maxsize=None)
def show_all(name, *options):
    """All statistics of a sample at once, but for the flow graph, which is long.  Links of
    samples with pauses are of 100 Gbit/s, which their captures say and Wireshark does
    not."""
    return show(sample(name), *STATISTICS,
                options=("-o", "pfc.link_speed:100", *options))


def table(out, title):
    """The rows of a table: dicts by the columns' titles."""
    lines = iter(out.splitlines())
    for line in lines:
        if line == f"{title}:":
            break
    else:
        raise AssertionError(f"no table {title} in:\n{out}")
    next(lines)  # the filter
    titles, rows = [cell.strip() for cell in next(lines).split("|")[:-1]], []
    for line in lines:
        if line.startswith("==="):
            return rows
        cells = [cell.strip() for cell in line.split("|")[:-1]]
        if len(cells) == len(titles):
            rows.append(dict(zip(titles, cells)))
    raise AssertionError(f"table {title} does not end")


def tree(out):
    """The rows of the tree of counts: (row above, row) -> count."""
    rows, above = {}, None
    lines = iter(out.splitlines())
    while not next(lines).endswith("Counts:"):
        pass
    titles, rule = next(lines), next(lines)
    assert titles.startswith("Topic") and rule.startswith("---"), titles
    for line in lines:
        if not line or line.startswith("---"):
            return rows
        indent, name, count = re.match(r"( ?)(\S.*?) {2,}(-?\d+) ", line).groups()
        above = above if indent else name
        rows[above, name if indent else None] = int(count)
    raise AssertionError("the tree does not end")


def said(row, columns):
    """A row's cells as the report would have them."""
    cells = {}
    for title in columns:
        text = row[title]
        cells[title] = None if text == "-" else text if title in TEXTS else int(text, 0)
    return cells


class Tables(Check):
    def test_every_counter_of_every_stream(self):
        for name in SAMPLES:
            want = report(name)
            by_id = {s["id"]: s for s in want["streams"]}
            for options in PASSES:
                with self.subTest(f"{name} {options}"):
                    rows = table(show_all(name, *options), "RoCEv2 Queue Pairs")
                    self.assertEqual(sorted(int(row["stream"]) for row in rows),
                                     sorted(by_id))
                    for row in rows:
                        stream = by_id[int(row["stream"])]
                        self.assertEqual(
                            said(row, QP_COLUMNS),
                            {title: at(stream, path) for title, path in
                             QP_COLUMNS.items()})

    def test_quantiles_have_the_digits_of_the_stamps(self):
        name, = reports.CUT
        path = TS.path("microseconds.pcap")
        path.write_bytes(reports.in_microseconds(name))
        by_id = {s["id"]: s for s in reports.cut_report(name)["streams"]}
        for options in PASSES:
            rows = table(show(path, "rocev2,qp", options=options), "RoCEv2 Queue Pairs")
            self.assertGreater(len(rows), 1)
            for row in rows:
                for title in ("ACK p50 ns", "ACK p99 ns", "completion p50 ns"):
                    want = at(by_id[int(row["stream"])], QP_COLUMNS[title])
                    self.assertEqual(said(row, [title]), {title: want}, f"{options}")

    def test_the_columns_are_the_reports(self):
        row = table(show_all(SAMPLES[0]), "RoCEv2 Queue Pairs")[0]
        columns = [title for title in row if title not in ("interface", "tenant")]
        self.assertEqual(columns, list(QP_COLUMNS))

    def test_an_unpaired_stream_has_no_zeros_for_what_is_unknown(self):
        path = write("unpaired.pcap", [pk.roce(pk.bth(0x0a, psn=n) + pk.reth() + bytes(64))
                                       for n in range(3)])
        row, = table(show(path, "rocev2,qp"), "RoCEv2 Queue Pairs")
        self.assertEqual(row["packets"], "3")
        for title in ("source QP", "sequence NAKs", "RNR NAKs", "RNR waits kept",
                      "CNPs received", "ACK p50 ns"):
            self.assertEqual(row[title], "-", title)
        self.assertEqual(row["CNPs sent"], "0")

    def test_pauses(self):
        for name in PAUSED:
            want = report(name)
            interface = {p["id"]: p["interface"] for p in want["capture"]["points"]}
            for options in PASSES:
                with self.subTest(f"{name} {options}"):
                    rows = table(show_all(name, *options), "RoCEv2 Pauses")
                    self.assertEqual(
                        [(row["interface"], said(row, PAUSE_COLUMNS)) for row in rows],
                        [(interface[p["point"]],
                          {title: at(p, path) for title, path in PAUSE_COLUMNS.items()})
                         for p in want["pauses"]])
                    self.assertGreater(len(rows), 0)

    def test_pauses_of_interfaces_that_share_streams(self):
        """They are one point to streams, and two links to pauses."""
        path = torn("02h_multiqp/sender.pcap.gz", [(50, 1, pk.pfc(8, [9] * 8)),
                                                   (60, 0, pk.pfc(8, [7] * 8)),
                                                   (70, 1, pk.pfc(8, [0] * 8))])
        for options in PASSES:
            with self.subTest(f"{options}"):
                rows = table(show(path, "pfc,pauses", options=options), "RoCEv2 Pauses")
                self.assertEqual([(row["interface"], row["quanta"], row["XON"])
                                  for row in rows], [("eth1", "9", "1"), ("eth0", "7", "0")])

    def test_pauses_of_a_link_of_unknown_speed(self):
        path = write("pauses.pcap", [pk.pause(100), pk.pause(0), pk.pfc(8, [9] * 8)])
        rows = table(show(path, "pfc,pauses", options=["-o", "pfc.link_speed:0"]),
                     "RoCEv2 Pauses")
        self.assertEqual([row["priority"] for row in rows], ["802.3x", "3"])
        for row in rows:
            self.assertEqual((row["XOFF"], row["paused ns"], row["expired"]),
                             ("1", "-", "-"))

    def test_a_filter_chooses_rows_and_not_what_they_count(self):
        path = sample("02h_multiqp/sender.pcap.gz")
        rows = table(show(path, "rocev2,qp"), "RoCEv2 Queue Pairs")
        row = rows[1]
        for options in PASSES:
            some = show(path, "rocev2,qp,rocev2.bth.destqp == " + row["dest. QP"] +
                        " && ip.dst == " + row["destination"], options=options)
            self.assertEqual(table(some, "RoCEv2 Queue Pairs"), [row])

    def test_all_at_once_are_as_one_by_one(self):
        statistics = (*STATISTICS, "flow,rocev2,standard")
        path = sample("sim_incast_pfc/switch.pcapng.gz")
        for options in PASSES:
            alone = [show(path, one, options=options) for one in statistics]
            together = show(path, *statistics, options=options)
            for one, out in zip(statistics, alone):
                with self.subTest(f"{one} {options}"):
                    self.assertGreater(len(out.splitlines()), 4)
                    self.assertIn(out.strip(), together)

    def test_sessions_are_captures_of_their_own(self):
        """tshark -M forgets what was before, at every so many frames."""
        name, n = "03a_loss_data_0.5pct/receiver.pcap.gz", 1000
        path = sample(name)
        subprocess.run(["editcap", "-c", str(n), path, TS.path("session.pcap")], check=True)
        parts = sorted(TS.dir.glob("session_*.pcap"))
        for part in parts:
            part.chmod(0o644)
        self.assertEqual(len(parts), 3)
        out = show(path, *STATISTICS, options=("-M", str(n)))
        want = [table(show(part, "rocev2,qp"), "RoCEv2 Queue Pairs") for part in parts]
        self.assertEqual(table(out, "RoCEv2 Queue Pairs"), sum(want, []))
        streams = report(name)["streams"]
        self.assertEqual([int(n) for n in Conversations.CONVERSATION.findall(out)[0][2:]],
                         [streams[1]["packets"], streams[0]["packets"]])
        rounds = sum(int(row["rounds"]) for rows in want for row in rows)
        self.assertRegex(out, rf"(?m)^Rounds of retransmission +{rounds} ")

    def test_nothing_to_count(self):
        strangers = [pk.ethernet(0x0800, pk.ipv4_header(8) + pk.udp_header(0, 1, 2))]
        for frames in ([], strangers):
            path = write("nothing.pcap", frames)
            for options in PASSES:
                out = show(path, *STATISTICS, options=options)
                self.assertEqual(table(out, "RoCEv2 Queue Pairs"), [])
                self.assertEqual(table(out, "RoCEv2 Pauses"), [])


class Experts(Check):
    """Expert information: of Wireshark's own statistic rows with the same text are one."""

    def test_a_row_for_each_kind_of_event(self):
        name = "03a_loss_data_0.5pct/receiver.pcap.gz"
        want = collections.Counter(event["kind"] for event in report(name)["events"])
        titles = {"gap": "Gap: PSNs missing", "nak": "NAK", "retransmission": "Retransmission",
                  "round": "Round of retransmissions", "loss": "Lost before the capture point"}
        for options in PASSES:
            out = show(sample(name), "expert", options=options)
            rows = re.findall(r"^ +(\d+) +\w+ +RoCEv2  (.*)$", out, re.MULTILINE)
            have = {title: int(count) for count, title in rows}
            self.assertEqual(len(have), len(rows), rows)
            self.assertEqual({kind: have.get(title) for kind, title in titles.items()},
                             {kind: want[kind] for kind in titles}, options)

    def test_the_packet_has_the_words_of_the_event(self):
        out = TS.run("-r", sample("03a_loss_data_0.5pct/receiver.pcap.gz"), "-O", "rocev2",
                     "-Y", "frame.number == 863")
        self.assertIn("[Gap: 1 PSN missing from 231386 on]", out)
        self.assertIn("[Expert Info (Warning/Sequence): Gap: PSNs missing]", out)


class Counts(Check):
    """The tree."""

    def test_what_packets_say(self):
        fields = ["rocev2.bth.opcode", "rocev2.payload_length", "ip.dsfield.ecn",
                  "ipv6.tclass.ecn", "rocev2.aeth.syndrome.opcode",
                  "rocev2.aeth.syndrome.error_code"]
        words = collections.defaultdict(dict)
        for line in TS.run("-G", "values").splitlines():
            cells = line.split("\t")
            if cells[0] == "V" and cells[1] in fields:
                words[cells[1]][int(cells[2], 0)] = cells[3]
        for name in SAMPLES:
            rows = TS.fields(sample(name), fields, "-Y", "rocev2.bth")
            want = collections.Counter()
            for row in rows:
                self.count(want, row, words)
            for options in PASSES:
                with self.subTest(f"{name} {options}"):
                    have = tree(show_all(name, *options))
                    have = {(above, re.sub(":.*", "", below)): n
                            for (above, below), n in have.items()
                            if below is not None and above not in (*LOST, "CNPs")}
                    self.assertEqual(have, dict(want))

    def count(self, want, row, words):
        opcode = number(row["rocev2.bth.opcode"][0])
        title = words["rocev2.bth.opcode"][opcode]
        want["Opcodes", title] += 1
        ecn = (row["ip.dsfield.ecn"] or row["ipv6.tclass.ecn"])[-1]
        data = int(row["rocev2.payload_length"][0]) > 0 if row["rocev2.payload_length"] else False
        want["ECN of data" if data else "ECN of control packets",
             CODEPOINTS[int(ecn)]] += 1
        kind = row["rocev2.aeth.syndrome.opcode"]
        if kind and number(kind[0]) == 3:
            code = number(row["rocev2.aeth.syndrome.error_code"][0])
            want["NAKs", words["rocev2.aeth.syndrome.error_code"][code]] += 1
        elif kind and number(kind[0]) == 1:
            want["NAKs", "RNR NAK"] += 1

    def test_what_streams_count(self):
        for name in SAMPLES:
            streams = report(name)["streams"]
            want = {}
            for above, path in LOST.items():
                sums = collections.Counter()
                for stream in streams:
                    sums.update(at(stream, path))
                want.update({(above, key.replace("_", " ")): n
                             for key, n in sums.items() if n != 0})
                want[above, None] = sum(sums.values())
            want["Retransmitted packets", None] = sum(
                s["retransmissions"]["packets"] for s in streams)
            for options in PASSES:
                with self.subTest(f"{name} {options}"):
                    have = tree(show_all(name, *options))
                    self.assertEqual({(above, below): n for (above, below), n in
                                      have.items() if above in LOST or (above, below) in want},
                                     want)

    def test_cnps_are_those_of_the_report(self):
        for name in SAMPLES:
            whole = report(name)
            want = {f"about stream {s['id']}": s["cnps_received"]
                    for s in whole["streams"] if s["cnps_received"]}
            if whole["capture"]["cnp_packets"] > sum(want.values()):
                want["about an unknown stream"] = (whole["capture"]["cnp_packets"] -
                                                   sum(want.values()))
            for options in PASSES:
                with self.subTest(f"{name} {options}"):
                    have = tree(show_all(name, *options))
                    self.assertEqual(have["CNPs", None], sum(want.values()))
                    self.assertEqual({below.split(":")[0]: n for (above, below), n in
                                      have.items() if above == "CNPs" and below},
                                     want)


    def test_a_filter_chooses_what_is_counted(self):
        path, some = sample("03a_loss_data_0.5pct/receiver.pcap.gz"), "frame.number < 900"
        events = [e for e in report("03a_loss_data_0.5pct/receiver.pcap.gz")["events"]
                  if e["frame"] < 900]
        want = collections.Counter(e["kind"] for e in events)
        self.assertEqual((want["round"], want["loss"]), (1, 1))
        for options in PASSES:
            have = tree(show(path, f"rocev2,tree,{some}", options=options))
            self.assertEqual(have["Retransmitted packets", None], want["retransmission"])
            self.assertEqual(have["Rounds of retransmission", None], want["round"])
            self.assertEqual(have["Rounds of retransmission", "nak sequence"], want["round"])
            self.assertEqual(have["Verdicts on requests", "lost before capture"], want["loss"])


class ResponseTimes(Check):
    ROW = re.compile(r" +\d+ +(\S.*?) {2,}(\d+) +([\d.]+) +([\d.]+) +([\d.]+)")

    def shown(self, name, options):
        out = show_all(name, *options)
        rows = (self.ROW.match(line) for line in out.splitlines())
        return {m.group(1): (int(m.group(2)), Decimal(m.group(3)), Decimal(m.group(4)))
                for m in rows if m}

    def test_counts_and_times_are_those_of_the_report(self):
        for name in SAMPLES:
            times = [s["message_completion_ns"] for s in report(name)["streams"]
                     if s["message_completion_ns"] is not None]
            want = (sum(t["count"] for t in times), min((t["min"] for t in times), default=0),
                    max((t["max"] for t in times), default=0))
            for options in PASSES:
                with self.subTest(f"{name} {options}"):
                    rows = self.shown(name, options).values()
                    self.assertEqual(sum(row[0] for row in rows), want[0])
                    if rows:  # tshark shows whole microseconds
                        self.near(min(row[1] for row in rows), want[1])
                        self.near(max(row[2] for row in rows), want[2])

    def near(self, seconds, want_ns):
        self.assertLessEqual(abs(seconds * 1000000000 - want_ns), 1000)

    def test_each_operation_has_its_row(self):
        fields = ["rocev2.bth.opcode", "rocev2.analysis.message.completion",
                  "rocev2.analysis.message.first_frame", "frame.number"]
        for name in ("02k_allops/sender.pcap.gz", "02a_read_bw/sender.pcap.gz",
                     "02d_atomic_bw/sender.pcap.gz", "sim_xrc/sender.pcap.gz"):
            first = TS.fields(sample(name), [*fields, "_ws.col.Info"], "-2", "-Y",
                              "rocev2.analysis.message.completion")
            want = collections.Counter()
            for row in first:
                if row["rocev2.analysis.message.first_frame"] == row["frame.number"]:
                    info = row["_ws.col.Info"][0]
                    want.update(title for title, words in ROWS.items()
                                if re.search(rf"^\w+ ({words})\b", info))
            with self.subTest(name):
                self.assertGreater(len(want), 0)
                self.assertEqual({title: row[0] for title, row in
                                  self.shown(name, []).items()}, dict(want))


class Conversations(Check):
    CONVERSATION = re.compile(r"(\S+ QP \S+) +<-> (\S+ QP \S+) +(\d+) +[\d.]+ \S+ +(\d+) ")
    ENDPOINT = re.compile(r"^(\S+ QP \S+)" + 3 * r" +(\d+) +\d+(?: \w+)?",
                          re.MULTILINE)

    def ends(self, stream):
        source = stream["src_qpn"]
        return (f"{stream['src']} QP " + ("?" if source is None else f"0x{source:06x}"),
                f"{stream['dst']} QP 0x{stream['dst_qpn']:06x}")

    def test_directions_of_a_pair_are_one_conversation(self):
        for name in SAMPLES:
            want = collections.Counter()
            for stream in report(name)["streams"]:
                want[self.ends(stream)] += stream["packets"]
            for options in PASSES:
                with self.subTest(f"{name} {options}"):
                    out = show_all(name, *options)
                    have, pairs = collections.Counter(), []
                    for a, b, to_a, to_b in self.CONVERSATION.findall(out):
                        have.update({(a, b): int(to_b), (b, a): int(to_a)})
                        pairs.append(frozenset((a, b)))
                    self.assertEqual(+have, want)
                    self.assertEqual(len(pairs), len(set(pairs)))

    def test_endpoints(self):
        for name in SAMPLES:
            want = collections.defaultdict(lambda: [0, 0])
            for stream in report(name)["streams"]:
                source, destination = self.ends(stream)
                want[source][0] += stream["packets"]
                want[destination][1] += stream["packets"]
            for options in PASSES:
                with self.subTest(f"{name} {options}"):
                    out = show_all(name, *options)
                    have = {name: [int(sent), int(received)] for name, _, sent, received
                            in self.ENDPOINT.findall(out)}
                    self.assertEqual(have, dict(want))

    def test_filters_that_name_endpoints(self):
        path = sample("02h_multiqp/sender.pcap.gz")
        rows = self.CONVERSATION.findall(show(path, "conv,rocev2"))
        self.assertGreater(len(rows), 3)
        for a, b, to_a, to_b in rows[:3]:
            with self.subTest(f"{a} {b}"):
                source, destination = (f"rocev2.analysis.endpoint.{end} == "
                                       for end in ("source", "destination"))
                both = (f'rocev2.analysis.endpoint == "{a}" && '
                        f'rocev2.analysis.endpoint == "{b}"')
                there = f'{source}"{a}" && {destination}"{b}"'
                self.assertEqual(len(TS.frames(path, both, "-2")), int(to_a) + int(to_b))
                self.assertEqual(len(TS.frames(path, there, "-2")), int(to_b))


class Tenants(Check):
    """Two overlay networks with the same addresses, queue pairs and PSNs, and one that is
    in none."""

    @classmethod
    def setUpClass(cls):
        frames = [pk.roce(pk.bth(0x0a, psn=n) + pk.reth() + bytes(64)) for n in range(4)]
        cls.path = write("tenants.pcap", [carried for frame in frames for carried in
                                          (pk.vxlan(frame, 7), pk.vxlan(frame, 8), frame)])

    def test_each_has_its_row(self):
        rows = table(show(self.path, "rocev2,qp"), "RoCEv2 Queue Pairs")
        self.assertEqual([(row["tenant"], row["packets"]) for row in rows],
                         [("vxlan 7", "4"), ("vxlan 8", "4"), ("", "4")])
        self.assertEqual({row["destination"] for row in rows}, {"10.0.0.2"})

    def test_each_has_its_conversation_and_endpoints(self):
        out = show(self.path, "conv,rocev2", "endpoints,rocev2")
        for tenant in (" in vxlan 7", " in vxlan 8", ""):
            source, destination = (re.escape(end + tenant) for end in
                                   ("10.0.0.1 QP ?", "10.0.0.2 QP 0x000012"))
            self.assertRegex(out, rf"(?m)^({source} +<-> {destination}|"
                                  rf"{destination} +<-> {source}) ")
            self.assertRegex(out, rf"(?m)^{source} +4 ")

    def test_filters(self):
        self.assertEqual(TS.frames(self.path, 'rocev2.tenant == "vxlan 8"'), [2, 5, 8, 11])
        self.assertEqual(TS.frames(self.path, "rocev2 && !rocev2.tenant"), [3, 6, 9, 12])
        self.assertEqual(TS.frames(self.path, "rocev2.analysis.endpoint.destination == "
                                   '"10.0.0.2 QP 0x000012 in vxlan 7"', "-2"), [1, 4, 7, 10])


class Flow(Check):
    def test_an_arrow_for_each_packet(self):
        for name in ("03a_loss_data_0.5pct/receiver.pcap.gz", "02k_allops/sender.pcap.gz",
                     "sim_incast_ecn/h0.pcapng.gz"):
            packets = TS.fields(sample(name), ["rocev2.bth.psn", "_ws.col.Info"], "-2", "-Y",
                                "rocev2.bth")
            for options in PASSES:
                with self.subTest(f"{name} {options}"):
                    out = show(sample(name), "flow,rocev2,standard", options=options)
                    arrows = re.findall(r"^\|\d[\d.]*\s*\|(.*)\|([^|]*)$", out, re.MULTILINE)
                    self.assertEqual(len(arrows), len(packets))
                    for (label, comment), packet in zip(arrows, packets):
                        self.check_arrow(label.strip(" |"), comment, packet)
                    self.assertIn(" QP 0x", out.splitlines()[0])

    def check_arrow(self, label, comment, packet):
        info = " ".join(packet["_ws.col.Info"])
        psn = "CNP" if info.startswith("CNP") else packet["rocev2.bth.psn"][0]
        self.assertTrue(label.startswith(psn), (label, psn))
        of_analysis = re.findall(r"\[(?!CE\]|bad ICRC|headers cut|malformed)[^\]]*\]",
                                 info.split(" | ")[0])
        for said in of_analysis:
            self.assertIn(said, comment)

    def test_of_some_packets(self):
        path = sample(SAMPLES[0])
        out = show(path, "flow,rocev2,network,rocev2.aeth.syndrome.opcode == 3")
        self.assertEqual(len(re.findall(r"^\|\d", out, re.MULTILINE)),
                         len(TS.frames(path, "rocev2.aeth.syndrome.opcode == 3")))


if __name__ == "__main__":
    sys.exit(main())
