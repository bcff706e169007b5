# SPDX-License-Identifier: GPL-2.0-or-later
"""What a report must say of a stream, given what happened: one function for each kind of
story.  Where the truth cannot be known from a point alone, only bounds are tested: never
more than happened (precision), at least what is evident there (recall).
"""

from sim import ACKS, REQUESTS, RESPONSES

LOST = ("lost_before_capture", "undelivered_after_capture", "ack_lost",
        "data_or_ack_lost", "not_captured", "corrupt")


class View:
    """One direction of a queue pair at one point: truth beside report.

    `group` has (stream, peer) of the truth for each queue pair whose packets are the same
    stream: of one QPN's lives, or of one DCT's initiators.  Most checks look at the first.
    """

    def __init__(self, name, point, group, report, found, peer_found):
        self.name, self.point, self.group, self.report = name, point, group, report
        self.stream, self.peer = group[0]
        self.truth = self.stream["points"][name]
        self.peer_truth = self.peer["points"][name]
        self._found, self._peer_found = found, peer_found
        self.got, self.peer_got = (f[0] if f else None for f in (found, peer_found))
        # At its own NIC a host's packets are seen before anything happens to them.
        self.at_source = self.truth["vantage"] == "requester"

    def missing(self):
        """What keeps the two from being compared."""
        for truth, found in ((self.truth, self._found), (self.peer_truth, self._peer_found)):
            sent = truth["cnps"] + sum(truth[space]["packets"]
                                       for space in (REQUESTS, RESPONSES, ACKS))
            if len(found) != bool(sent):
                return f"{len(found)} streams in the report for {sent} packets"
        return None

    def is_empty(self):
        """Nothing of it came here, and the report has none of it."""
        return not self._found

    def peer_naks(self):
        return self.peer["naks_sent"]

    def total(self, space, what):
        """Over all that share the stream: packets, or the length of a list."""
        values = [stream["points"][self.name][space][what] for stream, _ in self.group]
        return sum(v if isinstance(v, int) else len(v) for v in values)

    def bounds(self, space, what):
        """What is evident, and what happened."""
        copies = self.truth[space][what]
        return sum(c["evident"] for c in copies), len(copies)


class Complaints(list):
    def equal(self, what, got, want):
        if got != want:
            self.append(f"{what}: {got}, truth {want}")

    def between(self, what, got, low, high):
        if got is None or not low <= got <= high:
            self.append(f"{what}: {got}, truth {low}..{high}")


def zero_but(say, what, losses, allowed):
    """No verdict but those allowed."""
    for verdict in LOST:
        if verdict not in allowed:
            say.equal(f"{what} {verdict}", losses[verdict], 0)


def wire(view, say):
    """What needs no judgement: counts of what was captured."""
    counted(view, say)
    if view.got["naks"] is None:
        say.append("not paired")


def counted(view, say):
    """As above, of a stream that may lack its other direction."""
    truth, got = view.truth, view.got
    # A packet with a bad ICRC moves no state and belongs to a stream as a hint only.
    requests = truth[REQUESTS]
    say.equal("requests", got["requests"]["packets"],
              requests["packets"] - len(requests["corrupt"]))
    say.equal("ECN", {k: v for k, v in got["ecn"].items() if k in CODEPOINTS and v},
              truth["ecn"])
    say.equal("ECN transitions", got["ecn"]["transitions"], truth["ecn_transitions"])
    say.equal("CNPs sent", got["cnps_sent"], truth["cnps"])
    # ACKs and NAKs at least; whatever else has no payload is nowhere said.
    for codepoint, n in truth["ecn_control"].items():
        say.between(f"control {codepoint}", got["ecn_control"][codepoint], n,
                    got["packets"])
    say.equal("NAKs sent", {k: v for k, v in got["naks_sent"].items() if v},
              truth["naks"])
    vantage = "requester" if view.at_source else "responder"
    if requests["packets"] and got["vantage"] not in (vantage, "unknown"):
        say.append(f"vantage: {got['vantage']}, truth {vantage}")
    if got["naks"] is not None:
        say.equal("NAKs received", {k: v for k, v in got["naks"].items() if v},
                  view.peer_truth["naks"])
    if got["icrc"]["unchecked_truncated"] == 0:
        say.equal("damaged", got["icrc"]["bad"] + got["ip_checksum_bad"],
                  sum(len(truth[s]["corrupt"]) for s in (REQUESTS, RESPONSES)))


CODEPOINTS = ("not_ect", "ect0", "ect1", "ce")


def nothing_happened(view, say):
    """No gap, repeat, round or loss of any kind."""
    got = view.got
    for space, more in ((REQUESTS, "capture_repeats"), (RESPONSES, "resent")):
        for key in ("gaps", "missing_psns", "reordered", "duplicates", more):
            say.equal(f"{space} {key}", got[space][key], 0)
        zero_but(say, space, got["losses"][space], ())
        say.equal(f"{space} unknown", got["losses"][space]["unknown"], 0)
    say.equal("retransmissions", got["retransmissions"]["packets"], 0)
    say.equal("rounds", got["retransmissions"]["rounds"], 0)


def calm(view, say):
    """No finding that would worry an operator."""
    bad = [f["id"] for f in view.report["findings"] if f["severity"] != "note"]
    say.equal("findings", bad, [])


def clean(view, say):
    nothing_happened(view, say)
    calm(view, say)


def rounds(view, say):
    """Rounds by cause and packets sent again: exact at the requester's NIC, where all of
    them are seen; elsewhere those that left a trace."""
    got = view.got["retransmissions"]
    truth = view.truth["rounds"]
    for cause, n in got["by_cause"].items():
        seen, evident = truth.get(cause, (0, 0))
        say.between(f"rounds {cause}", n, evident, seen)
    say.equal("sum of causes", sum(got["by_cause"].values()), got["rounds"])
    requests = view.truth[REQUESTS]
    say.between("sent again", got["packets"], requests["resent_evident"],
                requests["resent"])


def rounds_by_timer(view, say):
    """Of rounds of each cause there are no more than left a trace, but for the first few:
    how long the requester takes to answer a NAK has to be learned."""
    got = view.got["retransmissions"]["by_cause"]
    for cause, n in got.items():
        seen = view.truth["rounds"].get(cause, (0, 0))[1]
        to_learn = 4 if cause == "nak_sequence" else 0
        say.between(f"rounds {cause}", n, 0, seen + to_learn)


def no_duplicates(view, say):
    say.equal("network duplicates", view.got["requests"]["duplicates"], 0)
    say.equal("network duplicates of responses", view.got["responses"]["duplicates"], 0)


def lost_requests(view, say):
    """Requests of this stream were dropped, and nothing else happened."""
    losses = view.got["losses"][REQUESTS]
    if view.at_source:
        zero_but(say, "requests", losses,
                 ("undelivered_after_capture", "data_or_ack_lost"))
        say.equal("gaps", view.got["requests"]["gaps"], 0)
        asked = [n for n in view.peer_naks() if n["fate"] == ["lost"]]
        # Selective repeat may tell more: what is sent again beside it was missing, too.
        most = (len(asked) if view.stream["recovery"] == "go_back_n"
                else len(view.truth[REQUESTS]["lost_after"]))
        say.between("undelivered", losses["undelivered_after_capture"], len(asked), most)
        by_timeout = sum(r["packets"] for r in view.stream["rounds"]
                         if r["cause"] == "timeout")
        n_timeouts = view.truth["rounds"].get("timeout", (0, 0))[0]
        say.between("data or ACK lost", losses["data_or_ack_lost"], n_timeouts, by_timeout)
    else:
        zero_but(say, "requests", losses, ("lost_before_capture",))
        say.between("lost before", losses["lost_before_capture"],
                    *view.bounds(REQUESTS, "lost_before"))
    zero_but(say, "responses", view.got["losses"][RESPONSES], ())


def lost_acks(view, say):
    """ACKs to this stream's requests were dropped; no data was."""
    losses = view.got["losses"][REQUESTS]
    needless = sum(r["delivered"] for r in view.stream["rounds"])
    say.equal("gaps", view.got["requests"]["gaps"], 0)
    if view.at_source:
        zero_but(say, "requests", losses, ("ack_lost", "data_or_ack_lost"))
        claimed = losses["ack_lost"] + losses["data_or_ack_lost"]
        say.between("ACK, or data or ACK lost", claimed, min(1, needless), needless)
    else:
        zero_but(say, "requests", losses, ("ack_lost",))
        say.equal("ACK lost", losses["ack_lost"], needless)


def lost_responses(view, say):
    """Response data to this stream's requests was dropped, and nothing else happened."""
    requests, responses = view.got["requests"], view.peer_got
    say.equal("gaps in requests", requests["gaps"], 0)
    losses = responses["losses"][RESPONSES]
    truth = view.peer_truth[RESPONSES]
    if view.at_source:
        zero_but(say, "responses", losses, ("lost_before_capture",))
        evident = sum(c["evident"] for c in truth["lost_before"])
        say.between("responses lost before", losses["lost_before_capture"], evident,
                    len(truth["lost_before"]))
    else:
        zero_but(say, "responses", losses, ("undelivered_after_capture",))
        say.between("responses undelivered", losses["undelivered_after_capture"],
                    min(1, len(truth["lost_after"])), len(truth["lost_after"]))
        say.equal("responses sent again", responses["responses"]["resent"],
                  truth["resent"])
    zero_but(say, "requests", view.got["losses"][REQUESTS], ())


def requested_bytes(view, say):
    if view.at_source:
        say.equal("requested bytes", view.got["retransmissions"]["requested_bytes"],
                  sum(r["requested_bytes"] for r in view.stream["rounds"]))


def late_requests(view, say):
    """Some came late, none was lost."""
    got = view.got["requests"]
    losses = view.got["losses"][REQUESTS]
    if view.at_source:
        n_rounds = view.got["retransmissions"]["rounds"]
        zero_but(say, "requests", losses, ("undelivered_after_capture",))
        say.between("undelivered", losses["undelivered_after_capture"], 0, n_rounds)
        say.equal("reordered", got["reordered"], 0)
    else:
        zero_but(say, "requests", losses, ())
        late = view.truth[REQUESTS]["reordered"]
        firsts = [c for c in late if c["first_here"] and c["copy"][2] == 1]
        say.between("reordered", got["reordered"], len(firsts), len(late))
        n_late = sum(r["first_was_late"] for r in view.stream["rounds"])
        say.between("spurious rounds", view.got["retransmissions"]["spurious_rounds"],
                    n_late, view.got["retransmissions"]["rounds"])


def late_requests_unnumbered(view, say):
    """As above, where nothing tells a late original from a copy that the network made:
    at most one verdict for each late packet."""
    losses = view.got["losses"][REQUESTS]
    if view.at_source:
        late_requests(view, say)
    else:
        zero_but(say, "requests", losses, ("lost_before_capture",))
        say.between("lost before", losses["lost_before_capture"], 0,
                    len(view.truth[REQUESTS]["reordered"]))


def late_resent(view, say):
    """One packet was lost; of those sent again with it, one was late."""
    losses = view.got["losses"][REQUESTS]
    if view.at_source:
        zero_but(say, "requests", losses, ("undelivered_after_capture",))
    else:
        zero_but(say, "requests", losses, ("lost_before_capture",))
        say.equal("lost before", losses["lost_before_capture"], 1)


def network_duplicates(view, say):
    truth = view.truth[REQUESTS]
    say.equal("duplicates", view.got["requests"]["duplicates"],
              len(truth["network_duplicates"]))
    say.equal("repeats", view.got["requests"]["capture_repeats"], truth["repeats"])
    say.equal("retransmissions", view.got["retransmissions"]["packets"], 0)
    say.equal("rounds", view.got["retransmissions"]["rounds"], 0)
    for space in (REQUESTS, RESPONSES):
        zero_but(say, space, view.got["losses"][space], ())


def repeats_alone(view, say):
    """As above, where nothing tells a duplicate from a packet sent again."""
    truth = view.truth[REQUESTS]
    say.equal("repeats", view.got["requests"]["capture_repeats"], truth["repeats"])
    say.equal("retransmissions", view.got["retransmissions"]["packets"], 0)
    zero_but(say, "requests", view.got["losses"][REQUESTS], ())


def nothing_lost(view, say):
    for space in (REQUESTS, RESPONSES):
        zero_but(say, space, view.got["losses"][space], ())


def nothing_lost_on_the_way(view, say):
    if not view.at_source:
        nothing_lost(view, say)


def corrupt_requests(view, say):
    losses = view.got["losses"][REQUESTS]
    if view.at_source:
        lost_requests_at_source = ("undelivered_after_capture", "data_or_ack_lost")
        zero_but(say, "requests", losses, lost_requests_at_source)
    else:
        asked = [n for n in view.peer_naks() if n["fate"] == ["corrupt"]]
        zero_but(say, "requests", losses, ("corrupt",))
        say.between("corrupt", losses["corrupt"], len(asked),
                    len(view.truth[REQUESTS]["corrupt"]))


def missed_by_capture(view, say):
    """The network was perfect, the capture was not."""
    losses = view.got["losses"][REQUESTS]
    zero_but(say, "requests", losses, ("not_captured",))
    say.between("not captured", losses["not_captured"], view.truth["missed_evident"],
                len(view.truth[REQUESTS]["not_captured"]))
    say.equal("retransmissions", view.got["retransmissions"]["packets"], 0)
    say.equal("repeats", view.got["requests"]["capture_repeats"], 0)
    zero_but(say, "responses", view.got["losses"][RESPONSES], ("not_captured",))


# --- any story -----------------------------------------------------------------------


def precise(view, say):
    """Whatever happened: nothing is said more often than it did."""
    got, stream, truth = view.got, view.stream, view.truth
    n_rounds = {}
    for entry in stream["rounds"]:
        n_rounds[entry["cause"]] = n_rounds.get(entry["cause"], 0) + 1
    for space in (REQUESTS, RESPONSES):
        here, losses = truth[space], got["losses"][space]
        late = len(here["reordered"]) + len(here["network_duplicates"])
        most = {"lost_before_capture": len(here["lost_before"]),
                "undelivered_after_capture": len(here["lost_after"]) + late_after(view),
                "not_captured": len(here["not_captured"]),
                "corrupt": len(here["corrupt"])}
        for verdict, n in most.items():
            say.between(f"{space} {verdict}", losses[verdict], 0, n)
        say.between(f"{space} reordered", got[space]["reordered"], 0, late)
        say.between(f"{space} duplicates", got[space]["duplicates"], 0,
                    len(here["network_duplicates"]) + (space == RESPONSES) * len(
                        truth[ACKS]["network_duplicates"]))
    say.between("sent again", got["retransmissions"]["packets"], 0,
                truth[REQUESTS]["resent"])
    for cause, n in got["retransmissions"]["by_cause"].items():
        if cause != "unknown":
            say.between(f"rounds {cause}", n, 0, n_rounds.get(cause, 0))
    needless = sum(r["delivered"] for r in stream["rounds"])
    claimed = got["losses"][REQUESTS]["ack_lost"]
    say.between("ACK lost", claimed, 0, needless)


def late_after(view):
    """From this point on late is as good as lost: what a NAK asked for, and came."""
    return sum(nak["late"] for nak in view.peer_naks())


def recovery(view, say):
    got = view.got["recovery_model"]
    if got not in (view.stream["recovery"], "unknown"):
        say.append(f"recovery model: {got}, truth {view.stream['recovery']}")


def recovery_known(view, say):
    say.equal("recovery model", view.got["recovery_model"], view.stream["recovery"])


def late_and_welcome(view, say):
    """Packets came late to a responder that waits for them: no round, nothing lost."""
    zero_but(say, "requests", view.got["losses"][REQUESTS], ())
    say.equal("rounds", view.got["retransmissions"]["rounds"], 0)
    say.equal("sent again", view.got["retransmissions"]["packets"], 0)
    late = len(view.truth[REQUESTS]["reordered"])
    say.between("reordered", view.got["requests"]["reordered"],
                0 if view.at_source else 1, late)


# --- services without answers, and streams that several share ------------------------


def counts_alone(view, say):
    """Packets and codepoints, of all who share the stream; no verdict of any kind."""
    got = view.got
    say.equal("requests", got["requests"]["packets"], view.total(REQUESTS, "packets"))
    for space in (REQUESTS, RESPONSES):
        zero_but(say, space, got["losses"][space], ())
    say.equal("retransmissions", got["retransmissions"]["packets"], 0)
    say.equal("rounds", got["retransmissions"]["rounds"], 0)


def transport(view, say):
    say.equal("transport", view.got["transport"], view.stream["transport"])


def unjudged_losses(view, say):
    """UC: PSNs are missing, and nobody can know where.  What came late fills its gap."""
    lost = len(view.truth[REQUESTS]["lost_before"])
    say.between("missing", view.got["requests"]["missing_psns"], max(0, lost - 1),
                lost + len(view.truth[REQUESTS]["reordered"]))
    say.between("unknown", view.got["losses"][REQUESTS]["unknown"], 0, lost)


def no_gaps(view, say):
    for space in (REQUESTS, RESPONSES):
        for key in ("gaps", "missing_psns", "reordered", "duplicates"):
            say.equal(f"{space} {key}", view.got[space][key], 0)
        say.equal(f"{space} unknown", view.got["losses"][space]["unknown"], 0)


def sent_again_in_all(view, say):
    """Of several lives of one QPN: the sums."""
    say.equal("requests", view.got["requests"]["packets"],
              view.total(REQUESTS, "packets"))
    evident = view.total(REQUESTS, "resent_evident")
    say.between("sent again", view.got["retransmissions"]["packets"], evident,
                view.total(REQUESTS, "resent"))
    losses = view.got["losses"][REQUESTS]
    say.between("lost before", losses["lost_before_capture"], 0,
                view.total(REQUESTS, "lost_before"))
    zero_but(say, "requests", losses, ("lost_before_capture",) if not view.at_source
             else ("undelivered_after_capture", "data_or_ack_lost"))


def paired_rightly(view, say):
    """Every connection that is told is one; where it is not told, nothing is said that
    only the other direction could tell."""
    ends = {frozenset(((s["src"], s["src_qpn"]), (s["dst"], s["dst_qpn"])))
            for s, _ in view.group}
    mine = (view.stream["dst"], view.stream["dst_qpn"])
    for connection in view.report["connections"]:
        told = frozenset((connection[side]["addr"], connection[side]["qpn"])
                         for side in ("a", "b"))
        if mine in told and told not in ends:
            say.append(f"wrong pair: {sorted(told)}")


def paired(view, say):
    paired_rightly(view, say)
    if view.got["naks"] is None:
        say.append("not paired")


# --- captures that are not as they should be -----------------------------------------


def stamps_step_back(view, say):
    want = view.point["artefacts"][-1]["steps_back"]
    say.equal("steps back", view.report["capture"]["time_steps_back"], want)


def delivered_twice(view, say):
    """Each frame of the capture stands there twice, and is counted once."""
    say.equal("capture duplicates", view.report["capture"]["capture_duplicates"],
              view.point["capture_duplicates"])
    no_duplicates(view, say)


def psns_damaged(view, say):
    """Each packet whose PSN was damaged in the mirror is one that did not come whole, and
    nothing follows from what it said."""
    got, n = view.got, 0
    for space in (REQUESTS, RESPONSES):
        n += got[space]["missing_psns"]
        for key in ("reordered", "duplicates"):
            say.equal(f"{space} {key}", got[space][key], 0)
        zero_but(say, space, got["losses"][space], ("not_captured",))
    say.equal("missing PSNs", n, got["psn_bad"])
    say.equal("retransmissions", got["retransmissions"]["packets"], 0)
    psns_damaged_amid_losses(view, say)


def psns_damaged_amid_losses(view, say):
    """As far as what is sent again anyway has nothing to do with it."""
    say.equal("restarts", view.report["event_totals"].get("stream_restart", 0), 0)
    say.equal("damaged", view.report["totals"]["psn_bad"],
              sum(changes.get("psns_damaged", 0) for changes in view.point["artefacts"]))
    say.between("lost before", view.got["losses"][REQUESTS]["lost_before_capture"], 0,
                len(view.truth[REQUESTS]["lost_before"]))


def one_way_of_several(view, say):
    """The mirror of one way: what is not there is not lost."""
    for space in (REQUESTS, RESPONSES):
        zero_but(say, space, view.got["losses"][space], ("not_captured",))
        say.between(f"{space} not captured", view.got["losses"][space]["not_captured"], 0,
                    len(view.truth[space]["not_captured"]))
    say.equal("retransmissions", view.got["retransmissions"]["packets"], 0)


def partial(view, say):
    one_way_of_several(view, say)
    say.equal("partial path", view.got["partial_path"], True)


def whole(view, say):
    say.equal("partial path", bool(view.got["partial_path"]), False)
