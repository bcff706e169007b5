#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The sample captures and the truth beside them.

What the kernel counted and what the queueing disciplines dropped or marked was recorded
when the captures were made (captures/*/truth.json); here the analyzer's answers are
compared with it.  A row is a claim with a name; what fails is named and both sides shown.
"""

import json
import os
import pathlib
import subprocess
import sys

SOURCE = pathlib.Path(os.environ.get("ROCESCOPE_SOURCE",
                                     pathlib.Path(__file__).resolve().parents[2]))
BINARY = os.environ.get("ROCESCOPE", str(SOURCE / "build/dev/bin/rocescope"))
CAPTURES = SOURCE / "captures"

CLEAN = ["01_write_rc_cm", "02a_read_bw", "02d_atomic_bw", "02e_ud", "02f_uc", "02g_ipv6",
         "02h_multiqp", "02k_allops", "02l_psnwrap", "08_vlan", "13_cm_reject",
         "sim_ack_every_10", "sim_read_1mib", "sim_duplex"]
LOSSY = ["03a_loss_data_0.5pct", "03c_loss_ack", "03d_loss_read_resp", "04a_reorder",
         "04b_duplicate", "05a_rnr", "06a_ecn_netem", "07a_nak_remote_access",
         "11_pcapng_switch"]
WRONG = ("lost_before_capture", "undelivered_after_capture", "ack_lost",
         "data_or_ack_lost", "corrupt")

failures = 0
reports = {}


def check(row, got, want):
    global failures
    if got != want:
        failures += 1
        print(f"{row}: got {got}, want {want}")


def report(name, *points):
    """Of one point, or of several together."""
    key = (name, *points)
    if key not in reports:
        paths = [CAPTURES / name / f"{point}.{'pcapng' if point == 'switch' else 'pcap'}.gz"
                 for point in points]
        done = subprocess.run([BINARY, "--quiet", "--events", "100000", "--json", "-",
                               *map(str, paths)], capture_output=True, timeout=300)
        if done.returncode != 0:
            print(f"{name}/{points}: exit status {done.returncode}: {done.stderr.decode()}")
            sys.exit(1)
        reports[key] = json.loads(done.stdout)
    return reports[key]


def truth(name):
    return json.loads((CAPTURES / name / "truth.json").read_text())


def responder_counter(name, counter):
    """A counter's increase, summed over the hosts (each answers some requests)."""
    hosts = truth(name)["hw_counters"].values()
    return sum(host["delta_nonzero"].get(counter, 0) for host in hosts)


def losses(of, space="requests"):
    return {k: v for k, v in of["totals"]["losses"][space].items() if v}


def causes(of):
    return {k: v for k, v in of["totals"]["retransmissions"]["by_cause"].items() if v}


def naks(of):
    return {k: v for k, v in (of["totals"]["naks"] or {}).items() if v}


def both_points(name):
    return [(point, report(name, point)) for point in ("sender", "receiver")]


def clean():
    for name in CLEAN:
        for point, r in both_points(name):
            row, t = f"clean {name}/{point}", r["totals"]
            for space in ("requests", "responses"):
                for key in ("gaps", "missing_psns", "reordered", "duplicates"):
                    check(f"{row}: {space}.{key}", t[space][key], 0)
                check(f"{row}: losses.{space}", losses(r, space), {})
            check(f"{row}: capture_repeats", t["requests"]["capture_repeats"], 0)
            check(f"{row}: resent", t["responses"]["resent"], 0)
            check(f"{row}: retransmissions", t["retransmissions"]["packets"], 0)
            check(f"{row}: NAKs", naks(r), {})
            check(f"{row}: bad ICRC", t["icrc"]["bad"], 0)
            check(f"{row}: findings",
                  [f["title"] for f in r["findings"] if f["severity"] != "note"], [])


def nak_counters():
    for name in CLEAN + LOSSY:
        if name.startswith("sim_"):
            continue
        for point, r in both_points(name):
            if name == "11_pcapng_switch" and point == "sender":
                continue  # C's requests do not pass A
            row = f"counters {name}/{point}"
            check(f"{row}: out_of_seq_request", naks(r).get("psn_sequence", 0),
                  responder_counter(name, "out_of_seq_request"))
            check(f"{row}: send_rnr_err", naks(r).get("rnr", 0),
                  responder_counter(name, "send_rnr_err"))


def queue_pairs():
    """Where the tools printed their QPNs and first PSNs, pairing says the same."""
    for name in ("02h_multiqp", "02l_psnwrap", "03a_loss_data_0.5pct"):
        printed = set()
        for tool in truth(name)["tool_output"]:
            mine = [q["qpn"] for q in tool["qps"]
                    if q["printed_by"] == "client" and q["whose"] == "local"]
            theirs = [q["qpn"] for q in tool["qps"]
                      if q["printed_by"] == "client" and q["whose"] == "remote"]
            printed |= set(zip(mine, theirs))
        for point, r in both_points(name):
            found = {(c["a"]["qpn"], c["b"]["qpn"]) if c["a"]["addr"].endswith(".1")
                     else (c["b"]["qpn"], c["a"]["qpn"]) for c in r["connections"]}
            check(f"pairs {name}/{point}", sorted(found), sorted(printed))
            check(f"pairs {name}/{point}: paired by",
                  {c["paired_by"] for c in r["connections"]}, {"psn"})
    for name in ("01_write_rc_cm", "02a_read_bw"):
        for point, r in both_points(name):
            by = {c["paired_by"] for c in r["connections"]}
            check(f"pairs {name}/{point}: some by CM or by PSN", by <= {"cm", "psn"}, True)
    for point, r in both_points("01_write_rc_cm"):
        cms = [c["cm"] for c in r["connections"] if c["cm"]]
        check(f"cm 01/{point}: connections", len(cms), 8)
        check(f"cm 01/{point}: established", {c["established"] for c in cms}, {True})
    for point, r in both_points("13_cm_reject"):
        cms = [c["cm"] for c in r["connections"]]
        check(f"cm 13/{point}", [(c["rejected"], c["established"]) for c in cms],
              [(True, False)])


def data_loss():
    s, r = (report("03a_loss_data_0.5pct", p) for p in ("sender", "receiver"))
    for point, rep, resent, repeats in (("sender", s, 230, 230), ("receiver", r, 228, 219)):
        t = rep["totals"]
        check(f"03a/{point}: re-sent", t["retransmissions"]["packets"], resent)
        check(f"03a/{point}: repeats", t["requests"]["capture_repeats"], repeats)
        check(f"03a/{point}: causes", causes(rep), {"nak_sequence": 10})
        check(f"03a/{point}: rounds", t["retransmissions"]["rounds"], 10)
        check(f"03a/{point}: spurious", t["retransmissions"]["spurious_rounds"], 0)
        check(f"03a/{point}: NAKs", naks(rep), {"psn_sequence": 10})
        check(f"03a/{point}: responses", losses(rep, "responses"), {})
        check(f"03a/{point}: model", rep["streams"][0]["recovery_model"], "go_back_n")
    check("03a/receiver: losses", losses(r), {"lost_before_capture": 11})
    check("03a/sender: losses", losses(s), {"undelivered_after_capture": 10})
    check("03a/receiver: gaps", r["totals"]["requests"]["gaps"], 9)
    check("03a/sender: gaps", s["totals"]["requests"]["gaps"], 0)
    evidence = [e["evidence"] for e in r["events"] if e["kind"] == "loss"]
    check("03a/receiver: asked for", evidence.count("asked_for"), 10)
    check("03a/receiver: sent again only", evidence.count("resent_only"), 1)


def ack_loss():
    s, r = (report("03c_loss_ack", p) for p in ("sender", "receiver"))
    for point, rep in (("sender", s), ("receiver", r)):
        t = rep["totals"]
        check(f"03c/{point}: no NAK", naks(rep), {})
        check(f"03c/{point}: re-sent", t["retransmissions"]["packets"],
              responder_counter("03c_loss_ack", "duplicate_request"))
        check(f"03c/{point}: rounds", t["retransmissions"]["rounds"],
              responder_counter("03c_loss_ack", "completer_retry_err"))
        # Atomics without their response are asked for again as soon as a later response
        # comes (an implied NAK), or by timeout; everything else by timeout.
        check(f"03c/{point}: causes", set(causes(rep)) <= {"timeout", "read_reissue"}, True)
        check(f"03c/{point}: gaps", t["requests"]["gaps"], 0)
    check("03c/receiver: verdicts", set(losses(r)), {"ack_lost"})
    check("03c/receiver: responses", set(losses(r, "responses")),
          {"undelivered_after_capture"})
    check("03c/sender: verdicts", set(losses(s)) <= {"ack_lost", "data_or_ack_lost"}, True)
    # Of the 44 packets that the network dropped, 6 were atomic responses.
    check("03c/sender: responses", losses(s, "responses"), {"lost_before_capture": 6})
    atomics = {st["dst_qpn"] for st in r["streams"] if "RC Fetch and Add" in st["opcodes"]}
    for rep, point in ((s, "sender"), (r, "receiver")):
        requests = [sum(st["losses"]["requests"][v] for v in WRONG)
                    for st in rep["streams"] if st["dst_qpn"] in atomics
                    and "RC Fetch and Add" in st["opcodes"]]
        check(f"03c/{point}: atomics lose responses, not requests", requests, [0])


def response_loss():
    s, r = (report("03d_loss_read_resp", p) for p in ("sender", "receiver"))
    for point, rep in (("sender", s), ("receiver", r)):
        t = rep["totals"]
        check(f"03d/{point}: gaps in requests", t["requests"]["gaps"], 0)
        check(f"03d/{point}: NAKs", naks(rep), {})
        check(f"03d/{point}: rounds", t["retransmissions"]["rounds"],
              responder_counter("03d_loss_read_resp", "completer_retry_err"))
        check(f"03d/{point}: re-sent", t["retransmissions"]["packets"],
              responder_counter("03d_loss_read_resp", "duplicate_request"))
        check(f"03d/{point}: causes", set(causes(rep)) <= {"read_reissue", "timeout"}, True)
        check(f"03d/{point}: mostly re-issues", causes(rep)["read_reissue"] >= 15, True)
        check(f"03d/{point}: requests lost", losses(rep), {})
    check("03d/sender: responses", losses(s, "responses"), {"lost_before_capture": 30})
    check("03d/receiver: responses", losses(r, "responses"),
          {"undelivered_after_capture": 16})
    booked = {st["src"] for st in s["streams"]
              if any(st["losses"]["responses"].values())}
    check("03d/sender: booked to the responder's stream", booked, {"10.77.1.2"})


def reordering():
    s, r = (report("04a_reorder", p) for p in ("sender", "receiver"))
    check("04a/receiver: nothing lost", losses(r), {})
    check("04a/receiver: late", r["totals"]["requests"]["reordered"] > 0, True)
    check("04a/receiver: spurious",
          r["totals"]["retransmissions"]["spurious_rounds"] > 0, True)
    check("04a/receiver: named", any("late" in f["title"] for f in r["findings"]), True)
    # Each NAK names a packet that this point had seen: lost or late cannot be told.
    check("04a/sender: verdicts", set(losses(s)), {"undelivered_after_capture"})
    check("04a/sender: no more than NAKs",
          losses(s)["undelivered_after_capture"] <= naks(s)["psn_sequence"], True)
    check("04a/sender: called undecidable",
          any("cannot be told" in f["detail"] for f in s["findings"]), True)
    for point, rep in (("sender", s), ("receiver", r)):
        check(f"04a/{point}: rounds", rep["totals"]["retransmissions"]["rounds"],
              responder_counter("04a_reorder", "completer_retry_err"))
        check(f"04a/{point}: causes", set(causes(rep)), {"nak_sequence"})
    # 1,203 requests of which 960 are different
    check("04a: re-sent", [x["totals"]["retransmissions"]["packets"] for x in (s, r)],
          [243, 243])


def others():
    s, r = (report("04b_duplicate", p) for p in ("sender", "receiver"))
    check("04b/receiver: duplicates", r["totals"]["requests"]["duplicates"],
          responder_counter("04b_duplicate", "duplicate_request"))
    check("04b/sender: duplicates", s["totals"]["requests"]["duplicates"], 0)
    for point, rep in (("sender", s), ("receiver", r)):
        check(f"04b/{point}: re-sent", rep["totals"]["retransmissions"]["packets"], 0)
        check(f"04b/{point}: lost", losses(rep), {})
    for point, rep in both_points("05a_rnr"):
        check(f"05a/{point}: causes", set(causes(rep)), {"rnr"})
        check(f"05a/{point}: lost", losses(rep), {})
        check(f"05a/{point}: responses", losses(rep, "responses"), {})
        check(f"05a/{point}: sequence NAKs", naks(rep), {"psn_sequence": 57, "rnr": 59})
    s, r = (report("06a_ecn_netem", p) for p in ("sender", "receiver"))
    check("06a: CE", [x["totals"]["ecn"]["ce"] for x in (s, r)], [0, 72])
    check("06a: ECT(0)", [x["totals"]["ecn"]["ect0"] for x in (s, r)], [800, 728])
    for point, rep in both_points("07a_nak_remote_access"):
        check(f"07a/{point}: NAKs", naks(rep), {"remote_access": 5})
        events = [e for e in rep["events"] if e["kind"] == "nak"]
        offending = [e["related_frame"] for e in events]
        check(f"07a/{point}: the offending requests", all(offending), True)
        check(f"07a/{point}: each its own", len(set(offending)), 5)
    for point, rep in both_points("08_vlan"):
        check(f"08/{point}: VLAN", {tuple(st["vlans"]) for st in rep["streams"]}, {(100,)})


def switch():
    r = report("11_pcapng_switch", "switch")
    check("11: points", [p["interface"] for p in r["capture"]["points"]], ["sA", "sB", "sC"])
    check("11: twins", r["capture"]["twin_packets"], 1292)
    check("11: duplicates", r["totals"]["requests"]["duplicates"], 0)
    check("11: each packet once", r["totals"]["packets"], 1297)
    only = sum(st["only_here_packets"] or 0 for st in r["streams"])
    check("11: copies that came by one port only", only, 5)
    titles = " ".join(f["title"] for f in r["findings"])
    check("11: localised", "lost between sA and sB" in titles
          and "lost between sC and sB" in titles, True)
    by_point = {}
    for st in r["streams"]:
        for verdict, n in st["losses"]["requests"].items():
            if n:
                point = r["capture"]["points"][st["point"]]["interface"]
                by_point[(point, verdict)] = by_point.get((point, verdict), 0) + n
    check("11: verdicts by port", by_point,
          {("sA", "undelivered_after_capture"): 4, ("sC", "undelivered_after_capture"): 1,
           ("sB", "lost_before_capture"): 5})


def dropped(name):
    """Packets that the network dropped, by the disciplines that do."""
    return sum(row["drops"] for key, rows in truth(name)["qdisc"].items()
               if key.endswith("_json") for row in rows if row["kind"] == "netem")


def points_together():
    """Two points know each packet that was lost between them, and that what was late was
    not."""
    for name, space in (("03a_loss_data_0.5pct", "requests"),
                        ("03d_loss_read_resp", "responses")):
        for points in (("sender", "receiver"), ("receiver", "sender")):
            check(f"{name}: lost between {points}", losses(report(name, *points), space),
                  {"undelivered_after_capture": dropped(name)})
    for points in (("sender", "receiver"), ("receiver", "sender")):
        check(f"04a: lost between {points}", losses(report("04a_reorder", *points)), {})
        check(f"03c: responses lost between {points}",
              losses(report("03c_loss_ack", *points), "responses"),
              {"undelivered_after_capture": 6})
    for points in (("switch",), ("sender", "switch", "receiver")):
        r = report("11_pcapng_switch", *points)
        check(f"11: each stream once, of {points}", r["totals"]["packets"],
              sum(st["packets"] for st in r["streams"] if st["same_as"] == st["id"]))
        check(f"11: lost, of {points}", losses(r),
              {"undelivered_after_capture": dropped("11_pcapng_switch")})


for part in (clean, nak_counters, queue_pairs, data_loss, ack_loss, response_loss,
             reordering, others, switch, points_together):
    part()
print(f"{failures} rows failed" if failures else "the samples agree with their truth")
sys.exit(1 if failures else 0)
