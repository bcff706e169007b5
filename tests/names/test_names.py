#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What the user tells beside the captures: --qp-map, --hosts, --captured-at and --counters-before.

02h_multiqp.a.json and .b.json are what "rdma -j resource show qp" (iproute2 6.1) prints at
hosts A and B of that sample, with the queue pairs of its truth.json.
"""

import copy
import json
import os
import pathlib
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(os.environ.get("ROCESCOPE_SOURCE",
                                     pathlib.Path(__file__).resolve().parents[2]))
BINARY = os.environ.get("ROCESCOPE", str(SOURCE / "build/dev/bin/rocescope"))
HERE = SOURCE / "tests/names"
MULTIQP = SOURCE / "captures/02h_multiqp/sender.pcap.gz"
SENDER = SOURCE / "captures/03a_loss_data_0.5pct/sender.pcap.gz"
RECEIVER = SOURCE / "captures/03a_loss_data_0.5pct/receiver.pcap.gz"
A, B = "10.77.1.1", "10.77.1.2"
WRITE, ACK = 0x0A, 0x11

sys.path[:0] = [str(SOURCE / "tests/sim")]

import roce  # noqa: E402

failures = 0


def check(row, got, want=True):
    global failures
    if got != want:
        failures += 1
        print(f"{row}: got {got!r}, want {want!r}")


def run(*arguments):
    return subprocess.run([BINARY, *map(str, arguments)], capture_output=True, text=True,
                          timeout=120)


def report(*arguments):
    return json.loads(run("--quiet", "--json", "-", *arguments).stdout)


class Folder(tempfile.TemporaryDirectory):
    """A directory for one test's files."""

    def __enter__(self):
        super().__enter__()
        return self

    def put(self, name, content):
        path = pathlib.Path(self.name, name)
        if isinstance(content, (list, dict)):
            content = json.dumps(content)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path


def queue_pairs(of):
    """(QPN at A, QPN at B) of the connections."""
    return sorted((c["a"]["qpn"], c["b"]["qpn"]) if c["a"]["addr"] == A else
                  (c["b"]["qpn"], c["a"]["qpn"]) for c in of["connections"])


def paired_by(of):
    return sorted({c["paired_by"] for c in of["connections"]})


def kinds(of):
    return {f["id"].split(":")[0] for f in of["findings"]}


def end(connection, address):
    return next(connection[e] for e in "ab" if connection[e]["addr"] == address)


def maps_of_the_sample():
    """With one side's map or both, everything is paired by it, and as before."""
    truth = json.loads((SOURCE / "captures/02h_multiqp/truth.json").read_text())
    want = sorted((qp["qpn"], qp["qpn"]) for run_ in truth["tool_output"]
                  for qp in run_["qps"] if (qp["printed_by"], qp["whose"]) ==
                  ("client", "local"))
    a, b = (f"{HERE}/02h_multiqp.{side}.json" for side in "ab")
    plain = report(MULTIQP)
    check("without a map", paired_by(plain), ["psn"])
    check("without a map: no process", {c[e]["process"] is None for c in
                                        plain["connections"] for e in "ab"}, {True})
    owners = {A: {"comm": "ib_write_bw", "pid": 2101},
              B: {"comm": "ib_write_bw", "pid": 2044}}
    for name, told_of, options in (
            ("A's map", (A,), [f"{A}={a}"]), ("B's map", (B,), [f"{B}={b}"]),
            ("both", (A, B), [f"{A}={a}", f"{B}={b}"]),
            ("by GID", (A,), [f"fd00::1,::ffff:{A}={a}"]),
            ("twice", (A,), [f"{A}={a}", f"{A}={a}"])):
        told = report(*(word for o in options for word in ("--qp-map", o)), MULTIQP)
        check(f"{name}: pairs", queue_pairs(told), want)
        check(f"{name}: paired by", paired_by(told), ["user"])
        check(f"{name}: trust", {c["trust"] for c in told["connections"]}, {"high"})
        check(f"{name}: totals", told["totals"] == plain["totals"])
        check(f"{name}: findings", kinds(told), kinds(plain))
        for address, owner in owners.items():
            process = next(end(c, address)["process"] for c in told["connections"]
                           if c["a"]["qpn"] == 50)
            check(f"{name}: process at {address}", process,
                  owner if address in told_of else None)
    check("a map of another host", paired_by(report("--qp-map", f"10.9.9.9={a}", MULTIQP)),
          ["psn"])
    text = run("--no-color", "--qp-map", f"{A}={a}", MULTIQP).stdout
    check("the text names the process", "ib_send_bw (2108)" in text)


def maps_from_reports():
    """A host's map with the connections that are known anyway changes nothing."""
    for path in sorted((SOURCE / "captures").glob("*/receiver.pcap.gz")):
        plain = report(path)
        for address in sorted({c[e]["addr"] for c in plain["connections"] for e in "ab"}):
            table = []
            for connection in plain["connections"]:
                for near, far in ("ab", "ba"):
                    near, far = connection[near], connection[far]
                    if near["addr"] == address and None not in (near["qpn"], far["qpn"]):
                        table.append({"lqpn": near["qpn"], "rqpn": far["qpn"],
                                      "type": "RC", "state": "RTS"})
            with Folder() as folder:
                told = report("--qp-map", f"{address}={folder.put('map.json', table)}", path)
            row = f"{path.parent.name}, the map of {address}"
            check(f"{row}: totals", told["totals"] == plain["totals"])
            for of in (told, plain):  # numbered as found, which a map is faster at
                of["connections"].sort(key=lambda c: (str(c["a"]), str(c["b"])))
            check(f"{row}: findings", told["findings"] == plain["findings"])
            check(f"{row}: connections", [(c["a"], c["b"]) for c in told["connections"]],
                  [(c["a"], c["b"]) for c in plain["connections"]])
            check(f"{row}: paired by", [c["paired_by"] for c in told["connections"]],
                  ["user" if c["paired_by"] == "psn" and
                   address in (c["a"]["addr"], c["b"]["addr"]) else c["paired_by"]
                   for c in plain["connections"]])


def wrong_maps():
    """A map that contradicts the capture does so visibly."""
    table = json.loads((HERE / "02h_multiqp.a.json").read_text())
    with Folder() as folder:
        turned = copy.deepcopy(table)
        connected = [row for row in turned if "rqpn" in row][:8]
        rqpns = [row["rqpn"] for row in connected]
        for row, rqpn in zip(connected, rqpns[1:] + rqpns[:1]):
            row["rqpn"] = rqpn
        got = report("--qp-map", f"{A}={folder.put('turned.json', turned)}", MULTIQP)
        check("turned: found", "qp_map_contradicted" in kinds(got))
        note = next(f for f in got["findings"]
                    if f["id"].startswith("qp_map_contradicted"))
        check("turned: severity", note["severity"], "note")
        check("turned: streams", len(note["streams"]), 8)
        check("turned: trust", sorted(c["trust"] for c in got["connections"]),
              ["high"] * 8 + ["low"] * 8)
        stale = [{**row, "rqpn": row["rqpn"] + 1000} if "rqpn" in row else row
                 for row in table]
        got = report("--qp-map", f"{A}={folder.put('stale.json', stale)}", MULTIQP)
        check("stale: nothing is paired against the map", got["connections"], [])
        check("stale: found", "qp_map_contradicted" in kinds(got))


def packet(src, dst, opcode, qpn, psn, ident):
    headers = roce.aeth(0x1F, 0) if opcode == ACK else roce.reth(0, 1, 4)
    payload = b"" if opcode == ACK else b"data"
    return roce.ethernet(roce.rocev2(
        roce.Ip(src, dst, ident=ident), 0xC001,
        roce.transport(opcode, dest_qpn=qpn, psn=psn, headers=headers, payload=payload)))


def two_peers(folder):
    """Two peers of 10.0.0.1 with the same QPN and the same PSNs, which no PSN tells."""
    capture, t = roce.Pcap(), 10**18
    for psn in range(8):
        for src, dst, opcode, qpn in (("10.0.0.1", "10.0.0.2", WRITE, 9),
                                      ("10.0.0.1", "10.0.0.2", WRITE, 8),
                                      ("10.0.0.1", "10.0.0.3", WRITE, 9),
                                      ("10.0.0.2", "10.0.0.1", ACK, 5),
                                      ("10.0.0.2", "10.0.0.1", ACK, 6),
                                      ("10.0.0.3", "10.0.0.1", ACK, 5)):
            t += 1000
            capture.add(t, packet(src, dst, opcode, qpn, psn, psn * 7 + qpn))
    return folder.put("two.pcap", capture.bytes())


def ambiguous_maps():
    with Folder() as folder:
        capture = two_peers(folder)
        one = folder.put("1.json", [{"lqpn": 5, "rqpn": 9, "type": "RC"},
                                    {"lqpn": 6, "rqpn": 8, "type": "RC"}])
        two = folder.put("2.json", [{"lqpn": 9, "rqpn": 5, "type": "RC"},
                                    {"lqpn": 8, "rqpn": 6, "type": "RC"}])

        def user_pairs(*maps):
            got = report(*(w for m in maps for w in ("--qp-map", m)), capture)
            return sorted(tuple(sorted((c[e]["addr"], c[e]["qpn"]) for e in "ab"))
                          for c in got["connections"] if c["paired_by"] == "user")

        six = (("10.0.0.1", 6), ("10.0.0.2", 8))
        five = (("10.0.0.1", 5), ("10.0.0.2", 9))
        check("two peers fit: none is taken", user_pairs(f"10.0.0.1={one}"), [six])
        check("the peer's own map decides",
              user_pairs(f"10.0.0.1={one}", f"10.0.0.2={two}"), [five, six])


def host_names():
    with Folder() as folder:
        hosts = folder.put("hosts", f"# comment\n{A} gpu01 3\n{B},gpu02\033[31m,rail5,1\n"
                                    "02:00:00:00:0a:01 leaf1 - swp7\n")
        plain, told = report(RECEIVER), report("--hosts", hosts, RECEIVER)
        stream = told["streams"][0]
        check("src_host", stream["src_host"], {"name": "gpu01", "rail": "3", "port": None})
        check("dst_host", stream["dst_host"],
              {"name": "gpu02\033[31m", "rail": "rail5", "port": "1"})
        check("addresses stay", (stream["src"], stream["dst"]), (A, B))
        check("host of an end", end(told["connections"][0], A)["host"], stream["src_host"])
        check("without --hosts", plain["streams"][0]["src_host"], None)
        findings = [f for f in told["findings"] if f["kind"] != "cross_rail"]
        for key in ("id", "wireshark_filter", "frames"):
            check(f"{key} of findings stays", [f[key] for f in findings],
                  [f[key] for f in plain["findings"]])
        check("findings name hosts", told["findings"][0]["title"].count("gpu01/rail3"), 1)
        check("counters stay", told["totals"] == plain["totals"])
        marked = folder.put("marked", b"\xef\xbb\xbf" + hosts.read_bytes())
        check("a byte order mark is no text", report("--hosts", marked, RECEIVER) == told)
        text = run("--no-color", "--hosts", hosts, RECEIVER).stdout
        check("names in the text", "gpu01/rail3" in text.split("\nStreams")[1])
        check("nothing for the terminal", "\033" in text, False)
        check("no address is left in tables", A in text.split("\nStreams")[1], False)

        capture = roce.Pcap()
        capture.add(10**18, roce.pfc({3: 100}, src=roce.mac("02:00:00:00:0a:01")))
        path = folder.put("pause.pcap", capture.bytes())
        got = report("--hosts", hosts, path)
        check("src_host of pauses", got["pauses"][0]["src_host"],
              {"name": "leaf1", "rail": None, "port": "swp7"})
        check("pauses in findings", got["findings"][0]["title"],
              "leaf1/swp7 pauses priority 3; for how long is not known without --link-speed")
        check("pauses in text", "leaf1/swp7" in
              run("--no-color", "--hosts", hosts, path).stdout.split("\nPauses")[1])
        if pathlib.Path("/etc/hosts").exists():
            check("/etc/hosts will do",
                  run("--quiet", "--hosts", "/etc/hosts", RECEIVER).returncode, 0)


def vantages():
    def of(*arguments):
        got = report(*arguments)
        lost = {k: v for k, v in got["totals"]["losses"]["requests"].items() if v}
        return got["streams"][0]["vantage"], lost, got["findings"][0]["title"]

    check("at the receiver", of("--captured-at", B, RECEIVER)[:2],
          ("responder", {"lost_before_capture": 11}))
    check("in the network", of("--captured-at", "network", RECEIVER)[0], "middle")
    check("of a file", of("--captured-at", f"{B}={RECEIVER}", RECEIVER)[0], "responder")
    vantage, lost, title = of("--captured-at", A, RECEIVER)
    check("at the sender nothing is lost before", (vantage, lost),
          ("requester", {"not_captured": 11}))
    vantage, lost, title = of("--captured-at", B, SENDER)
    check("at the receiver nothing is lost behind", title,
          f"10 packets from {A} to {B} dropped or taken out of order inside the receiver")
    got = report("--captured-at", f"{A}={SENDER}", "--captured-at", f"{B}={RECEIVER}",
                 SENDER, RECEIVER)
    check("each its own", {s["point"]: s["vantage"] for s in got["streams"]
                           if s["src"] == A}, {0: "requester", 1: "responder"})
    check("known in the text", "Vantage: requester for 1 stream." in
          run("--captured-at", A, SENDER).stdout)


def strangers():
    """A host of which there is nothing may be a slip, and is told of."""
    def told(*arguments):
        words = "no stream is from or to this host"
        done, quiet = (run(*more, *arguments, RECEIVER) for more in ((), ("--quiet",)))
        check(f"{arguments}: status", (done.returncode, quiet.returncode), (0, 0))
        check(f"{arguments}: on standard error as well",
              (words in done.stderr, words in quiet.stderr), (words in done.stdout,) * 2)
        return words in done.stdout
    for where, wanted in ((A, False), (B, False), (f"{A},10.9.9.9", False),
                          ("network", False), ("10.77.1.111", True), ("10.9.9.9,fd00::1", True)):
        check(f"stranger {where}", told("--captured-at", where), wanted)
    check("no stranger", told(), False)


def counters():
    """--counters-before and -after, in each form, and whose they are."""
    with Folder() as folder:
        forms = {
            "text": "link rxeA/1 sent_pkts {} rcvd_pkts {}\n",
            "json": '[{{"ifindex":0,"ifname":"rxeA","port":1,"sent_pkts":{},"rcvd_pkts":{}}}]',
            "ethtool": "NIC statistics:\n     sent_pkts: {}\n     rcvd_pkts: {}\n",
            "sysfs": '{{"rxeA":{{"ports":{{"1":{{"hw_counters":{{"sent_pkts":{},'
                     '"rcvd_pkts":"{}"}}}}}}}}}}'}
        for form, text in forms.items():
            before = folder.put(f"{form}.before", text.format(7, 7))
            after = folder.put(f"{form}.after", text.format(7 + 2230, 7 + 260))
            got = report("--counters-before", f"{A}={before}", "--counters-after",
                         f"{A}={after}", SENDER)["counters"]
            check(f"{form}: the user says whose", got[0]["host_from"], "user")
            got = report("--captured-at", A, "--counters-before", before,
                         "--counters-after", after, SENDER)["counters"]
            check(f"{form}: whose", (got[0]["host_from"], got[0]["addresses"],
                                     got[0]["captured_there"]), ("captured_at", [A], True))
            check(f"{form}: rise", [(c["name"], c["increase"], c["captured"], c["missed"])
                                    for c in got[0]["counters"]],
                  [("sent_pkts", 2230, 2230, 0), ("rcvd_pkts", 260, 260, 0)])
            got = report("--counters-before", before, "--counters-after", after,
                         SENDER)["counters"]
            check(f"{form}: nobody knows whose", (got[0]["host_from"], got[0]["addresses"],
                                                  got[0]["counters"][0]["verdict"]),
                  (None, None, "unknown"))
        check("without the options", report(SENDER)["counters"], None)


def mistakes():
    """Exit status, and one line that names what is wrong."""
    with Folder() as folder:
        counted = folder.put("counted", "sent_pkts: 1\n")
        uncounted = folder.put("uncounted", "sent_pkts: 1\nrcvd_pkts\n")
        good = folder.put("good.json", [])
        broken = folder.put("broken.json", '[{"lqpn":\n5')
        lines = folder.put("hosts", "10.0.0.1 a\nb 10.0.0.2\n")
        huge = folder.put("huge.json", "[" * 100000)
        for status, arguments, what in (
                (2, ["--qp-map", good], "ADDRESS[,ADDRESS…]=FILE is wanted"),
                (2, ["--qp-map", f"{A}="], "is wanted"),
                (2, ["--qp-map", f"={good}"], '"" is no IP address'),
                (2, ["--qp-map", f"gpu01={good}"], '"gpu01" is no IP address'),
                (2, ["--qp-map", f"{A},={good}"], '"" is no IP address'),
                (2, ["--qp-map", f"{A}={good}", "--qp-map", f"{B}={good}",
                     "--qp-map", f"{A},{B}={good}"], "different hosts"),
                (2, ["--captured-at", "gpu01"], '"gpu01" is no IP address'),
                (2, ["--captured-at", f"{A}=x.pcap"], "not the name of a capture file"),
                (2, ["--captured-at", A, "--captured-at", "network"], "or in the network"),
                (2, ["--counters-before", counted], "no --counters-after was given for"),
                (2, ["--counters-after", counted], "no --counters-before was given for"),
                (2, ["--counters-before", f"{A}={counted}", "--counters-after", counted],
                 "was given for the same host"),
                (2, ["--counters-before", counted, "--counters-before", counted,
                     "--counters-after", counted], "given twice for this host"),
                (2, ["--counters-before", f"{A}=", "--counters-after", counted],
                 "FILE is wanted"),
                (2, ["--counters-before", f"gpu01={counted}", "--counters-after",
                     f"gpu01={counted}"], '"gpu01" is no IP address'),
                (3, ["--counters-before", counted, "--counters-after", uncounted],
                 'uncounted: line 2: "rcvd_pkts" is no counter'),
                (3, ["--counters-before", "/nonexistent", "--counters-after", counted],
                 "/nonexistent: No such file"),
                (3, ["--counters-before", counted, "--counters-after", "/dev/null"],
                 "/dev/null: is empty"),
                (3, ["--qp-map", f"{A}={broken}"], "broken.json: line 2, column 1: is no"),
                (3, ["--qp-map", f"{A}={huge}"], "huge.json: line 1, column 2049: is no"),
                (3, ["--qp-map", f"{A}=/nonexistent"], "/nonexistent: No such file"),
                (3, ["--qp-map", f"{A}=/"], "/: Is a directory"),
                (3, ["--hosts", lines], "hosts: line 2 does not begin with"),
                (3, ["--hosts", "/nonexistent"], "/nonexistent: No such file"),
                (3, ["--hosts", "/dev/null"], "/dev/null: is empty")):
            done = run("--quiet", "--json", "-", *arguments, MULTIQP)
            check(f"status of {arguments}", done.returncode, status)
            check(f"one line for {arguments}", done.stderr.count("\n"), 1)
            check(f"{arguments}: {done.stderr}", what in done.stderr)
            check(f"what was read is reported: {arguments}",
                  done.stdout != "" and len(json.loads(done.stdout)["streams"]) == 32,
                  status == 3)


def tables_stay():
    """Nothing is written over a table that is read."""
    with Folder() as folder:
        hosts, link = folder.put("hosts", f"{A} gpu01\n"), pathlib.Path(folder.name, "link")
        qps, counted = folder.put("qps.json", []), folder.put("counted", "sent_pkts: 1\n")
        link.symlink_to(hosts)
        for arguments, table in (
                (("--hosts", hosts, "--json", hosts), hosts),
                (("--hosts", link, "--html", hosts), hosts),
                (("--hosts", hosts, "--json", link), hosts),
                (("--qp-map", f"{A}={qps}", "--json", qps), qps),
                (("--counters-before", counted, "--counters-after", counted, "--json", counted),
                 counted),
                (("extract", "--hosts", hosts, "--stream", "0", "-w", hosts), hosts)):
            before, done = table.read_bytes(), run(*arguments, RECEIVER)
            check(f"status of {arguments}", done.returncode, 2)
            check(f"{arguments}: {done.stderr}", "one of the files that are read" in done.stderr)
            check(f"stays: {arguments}", table.read_bytes(), before)


for part in (tables_stay, maps_of_the_sample, maps_from_reports, wrong_maps, ambiguous_maps, host_names,
             vantages, strangers, counters, mistakes):
    part()
print(f"{failures} rows failed" if failures else "what the user tells is taken as told")
sys.exit(1 if failures else 0)
