# SPDX-License-Identifier: GPL-2.0-or-later
"""What the plugin shows on the packets of a capture beside what the report says of them.

The one rule: everything is compared, packet by packet; what one side has and the other
has not is a difference."""

import collections
from decimal import Decimal

import tshark

# Fields of the plugin for each key of an event of the report, by kind; of those without
# a key that the field's own value stands for, the presence is compared.
VALUE = {"stream_start": None, "stream_restart": None, "gap": "count", "late": None,
         "duplicate": None, "retransmission": "detail", "round": "detail",
         "spurious_round": None, "nak": "detail", "rnr_nak": "duration_ns",
         "rnr_wait": "duration_ns", "read_reissue": "count", "response_resent": None,
         "loss": "detail", "loss_withdrawn": "detail", "ecn_transition": "detail",
         "ce_episode": "count", "cnp": None, "icrc_bad": None,
         "ip_checksum_bad": None, "psn_bad": None, "connected": "detail",
         "disconnected": "detail", "cm": "detail", "evicted": "detail"}
LEAVES = {"psn": "stream_restart gap late retransmission round spurious_round nak rnr_nak "
                 "read_reissue response_resent loss loss_withdrawn icrc_bad "
                 "ip_checksum_bad psn_bad",
          "count": "rnr_wait loss connected evicted", "last_psn": "gap",
          "duration": "round ce_episode", "evidence": "late loss",
          "stream": " ".join(VALUE)}
LINKS = {"gap": "behind", "late": "passed_by", "duplicate": "of", "retransmission": "of",
         "round": "nak", "spurious_round": "round", "nak": "provoked_by",
         "rnr_nak": "request", "rnr_wait": "nak", "response_resent": "of",
         "loss": "packet", "ce_episode": "first", "cnp": "ce_packet"}
# A field of an earlier packet, for events on later ones.
BACK = {"duplicate": "duplicated_in", "retransmission": "retransmitted_in",
        "round": "nak.answered_in", "spurious_round": "spurious_round_by", "nak": "nak_in",
        "rnr_nak": "rnr_nak_in", "rnr_wait": "rnr_nak.answered_in",
        "response_resent": "response_resent_in", "ce_episode": "ce_episode_ends_in",
        "cnp": "cnp_in"}
KEYS = {"duration": "duration_ns"}
LATENCIES = {"message_completion": "message_completion_ns",
             "ack_latency": "ack_latency_ns", "read_first": "read_first_ns",
             "read_latency": "read_latency_ns", "nak_generation": "nak_generation_ns",
             "nak_reaction": "nak_reaction_ns", "recovery": "recovery_ns",
             "cnp_delay": "cnp_delay_ns", "cnp_interval": "cnp_interval_ns"}
PREFIX = "rocev2.analysis."
# Addresses by the protocol that has them; a GRH is RoCEv1's.
ADDRESSES = {"ip": ("ip.src", "ip.dst"), "ipv6": ("ipv6.src", "ipv6.dst"),
             "infiniband": ("infiniband.grh.sgid", "infiniband.grh.dgid")}
STREAM_FIELDS = [*(field for pair in ADDRESSES.values() for field in pair),
                 "frame.protocols", "rocev2.bth.destqp", "rocev2.icrc.bad", "rocev2.ecn",
                 PREFIX + "stream", PREFIX + "peer_stream", PREFIX + "connection"]
CODEPOINTS = {"Not-ECT": "not_ect", "ECT(1)": "ect1", "ECT(0)": "ect0", "CE": "ce"}
PAUSE_FIELDS = ["frame.time_epoch", "pfc.kind", "pfc.analysis.ended_by",
                "pfc.analysis.paused_for", "pfc.analysis.ended_in"]


class Names:
    """The words of fields that are numbers."""

    def __init__(self, runner):
        self.words = collections.defaultdict(dict)
        for line in runner.run("-G", "values").splitlines():
            cells = line.split("\t")
            if cells[0] == "V" and cells[1].startswith(("rocev2.", "pfc.")):
                self.words[cells[1]][int(cells[2], 0)] = cells[3]

    def of(self, field, text):
        number = tshark.number(text)
        return self.words[field].get(number, number)


def nanoseconds(text):
    return int(Decimal(text) * 1000000000)


def is_damaged(row):
    return bool(row["rocev2.icrc.bad"] or row[PREFIX + "ip_checksum_bad"])


def ends_of(row):
    """Source and destination of the innermost header that has them."""
    for protocol in reversed(row["frame.protocols"][0].split(":")):
        src, dst = (row[field] for field in ADDRESSES.get(protocol, ADDRESSES["ip"]))
        if protocol in ADDRESSES and src:
            return src[-1], dst[-1]
    return None, None


def fields_of(kind):
    """The fields of a kind of event: key of the report -> field."""
    fields = {leaf: f"{PREFIX}{kind}.{leaf}" for leaf, kinds in LEAVES.items()
              if kind in kinds.split()}
    if VALUE[kind] is not None:
        fields["value"] = PREFIX + kind
    if kind in LINKS:
        fields["link"] = f"{PREFIX}{kind}.{LINKS[kind]}"
    return fields


def wanted(event, kind, key):
    """What an event of the report has for a key of fields_of(); None: nothing."""
    if key == "value":
        return event[VALUE[kind]]
    if key == "link":
        return event["related_frame"]
    if key == "last_psn":
        return (event["psn"] + event["count"] - 1) % (1 << 24)
    return event[KEYS.get(key, key)]


def shown(names, kind, key, field, text):
    """The value that a field's text stands for, as the report has it."""
    if key == "duration" or (key == "value" and VALUE[kind] == "duration_ns"):
        return nanoseconds(text)
    if key == "evidence" or (key == "value" and VALUE[kind] == "detail" and
                             kind != "ecn_transition"):
        return names.of(field, text)
    return tshark.number(text)


class Comparison:
    """Of a capture that lies where the runner may read it, and the report on it."""

    def __init__(self, runner, names, name, path, report, *arguments):
        self.name, self.path, self.report = name, path, report
        self.arguments = arguments  # of tshark
        self.runner, self.names = runner, names
        self.differences = []
        self.frames = self.read()

    def check(self, what, got, want):
        if got != want:
            self.differences.append(f"{self.name}: {what}: plugin {got}, report {want}")

    def read(self):
        """Each packet that has an analysis: frame -> fields.  Once for all comparisons."""
        columns = {field for kind in VALUE for field in fields_of(kind).values()}
        columns |= {PREFIX + name for name in (*VALUE, *BACK.values(), *LATENCIES)}
        columns |= {*STREAM_FIELDS, *PAUSE_FIELDS}
        speeds = {p["link_speed_bps"] for p in self.report["pauses"]}
        self.check("one link speed at most", len(speeds) <= 1, True)
        gbps = (speeds.pop() if speeds else 0) or 0
        rows = self.runner.fields(
            self.path, ["frame.number", *sorted(columns)], "-2", "-o",
            f"pfc.link_speed:{gbps // 1000000000}", *self.arguments, "-Y", "rocev2.analysis || pfc")
        return {int(row["frame.number"][0]): row for row in rows}

    # ---- events ----

    def events(self):
        by_kind = {kind: fields_of(kind) for kind in VALUE}
        events = collections.defaultdict(list)
        for event in self.report["events"]:
            if event["kind"] in VALUE and event["frame"] is not None:
                events[event["frame"], event["kind"]].append(event)
        for number, row in self.frames.items():
            for kind, fields in by_kind.items():
                self.compare_kind(number, row, kind, fields, events.pop((number, kind), []))
        self.check("events on frames that show none", sorted(events), [])
        self.compare_back()

    def compare_kind(self, number, row, kind, fields, events):
        self.check(f"frame {number}: {kind}", len(row[PREFIX + kind]), len(events))
        for key, field in fields.items():
            got = [shown(self.names, kind, key, field, text) for text in row[field]]
            want = [wanted(event, kind, key) for event in events]
            want = [value for value in want if value is not None]
            self.check(f"frame {number}: {field}", sorted(got, key=str),
                       sorted(want, key=str))

    def compare_back(self):
        """Earlier packets name the later ones that are about them."""
        want = collections.Counter()
        for event in self.report["events"]:
            if event["kind"] in BACK and event["related_frame"] is not None and \
                    event["related_frame"] != event["frame"]:
                want[event["related_frame"], BACK[event["kind"]], event["frame"]] += 1
        got = collections.Counter()
        for number, row in self.frames.items():
            for field in BACK.values():
                for text in row[PREFIX + field]:
                    got[number, field, int(text)] += 1
        self.check("links back", sorted((got - want).items())[:5],
                   sorted((want - got).items())[:5])

    # ---- streams, connections, latencies ----

    def streams(self):
        got, pairs = collections.Counter(), {}
        for row in self.frames.values():
            if not row[PREFIX + "stream"] or is_damaged(row):
                continue
            stream = int(row[PREFIX + "stream"][0])
            got[stream, *ends_of(row), tshark.number(row["rocev2.bth.destqp"][0])] += 1
            if row[PREFIX + "connection"]:
                pairs.setdefault(int(row[PREFIX + "connection"][0]), set()).add(stream)
                pairs[int(row[PREFIX + "connection"][0])].add(
                    int(row[PREFIX + "peer_stream"][0]))
        want = {(s["id"], s["src"], s["dst"], s["dst_qpn"]): s["packets"]
                for s in self.report["streams"] if s["packets"] > 0}
        self.check("streams", dict(got), want)
        connections = {c["id"]: sorted(c["streams"]) for c in self.report["connections"]
                       if c["streams"]}
        self.check("connections", {number: sorted(streams) for number, streams
                                   in pairs.items()}, connections)

    def codepoints(self):
        got, want = collections.Counter(), collections.Counter()
        for row in self.frames.values():
            if row[PREFIX + "stream"] and not is_damaged(row):
                got[int(row[PREFIX + "stream"][0]),
                    CODEPOINTS[self.names.of("rocev2.ecn", row["rocev2.ecn"][0])]] += 1
        for stream in self.report["streams"]:
            for name in CODEPOINTS.values():
                want[stream["id"], name] += stream["ecn"][name] + stream["ecn_control"][name]
        self.check("ECN codepoints", sorted((got - want).items()),
                   sorted((want - got).items()))

    def latencies(self):
        got = collections.defaultdict(list)
        for row in self.frames.values():
            for name in LATENCIES:
                got[name] += [nanoseconds(text) for text in row[PREFIX + name]]
        for name, key in LATENCIES.items():
            dists = [s[key] for s in self.report["streams"] if s[key] is not None and s[key]["count"]]
            self.check(f"{name} samples", len(got[name]), sum(d["count"] for d in dists))
            if dists and got[name]:
                self.check(f"{name}: least", min(got[name]), min(d["min"] for d in dists))
                self.check(f"{name}: most", max(got[name]), max(d["max"] for d in dists))

    # ---- pauses ----

    def intervals_from(self, row):
        """What the frame of an XOFF shows of the pauses that it began: start, length, end.
        Without the link's speed the report lists how long nothing but an XON ended them,
        and the plugin says what is sure."""
        start = nanoseconds(row["frame.time_epoch"][0])
        if any(p["link_speed_bps"] is None for p in self.report["pauses"]):
            for number in row["pfc.analysis.ended_in"]:
                xon = self.frames[int(number)]
                yield start, nanoseconds(xon["frame.time_epoch"][0]) - start, "xon"
            return
        for end, length in zip(row["pfc.analysis.ended_by"], row["pfc.analysis.paused_for"]):
            yield start, nanoseconds(length), self.names.of("pfc.analysis.ended_by", end)

    def pauses(self):
        got = collections.Counter()
        kinds = collections.Counter()
        for row in self.frames.values():
            kinds.update(self.names.of("pfc.kind", text) for text in row["pfc.kind"])
            if any(self.names.of("pfc.kind", k) in ("XOFF", "802.3x pause")
                   for k in row["pfc.kind"]):
                got.update(self.intervals_from(row))
        want = collections.Counter()
        for pause in self.report["pauses"]:
            for i in pause["intervals"]:
                want[i["start_ns"], i["end_ns"] - i["start_ns"], i["end"]] += 1
        self.check("pause intervals", sorted((got - want).items())[:5],
                   sorted((want - got).items())[:5])
        for words, key in (("XOFF", "xoff"), ("XOFF refresh", "refresh"), ("XON", "xon")):
            self.check(f"pauses: {key}", kinds[words], sum(
                p[key] for p in self.report["pauses"] if p["kind"] == "pfc"))

    def run(self):
        self.events()
        self.streams()
        self.codepoints()
        self.latencies()
        self.pauses()
        return self.differences
