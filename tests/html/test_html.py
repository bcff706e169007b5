#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The HTML report as a browser without scripts sees it: whole, harmless, small, and with
the numbers of the JSON report.  tests/browser runs its scripts."""

import gzip
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ["ROCESCOPE_SOURCE"])
BINARY = os.environ["ROCESCOPE"]
sys.path[:0] = [str(SOURCE / "tests/html"), str(SOURCE / "tests/sim")]

import roce  # noqa: E402
import tunnels  # noqa: E402
from fabric import simulate_fabric  # noqa: E402
from fabric_scenarios import scenario  # noqa: E402
from page import Page, source_of  # noqa: E402

CAPTURES = ("03a_loss_data_0.5pct/receiver.pcap.gz", "01_write_rc_cm/sender.pcap.gz",
            "03d_loss_read_resp/sender.pcap.gz", "05a_rnr/sender.pcap.gz",
            "02k_allops/receiver.pcap.gz", "sim_cascade/fabric.pcapng.gz",
            "sim_incast_ecn/h3.pcapng.gz", "sim_incast_pfc/switch.pcapng.gz",
            "11_pcapng_switch/switch.pcapng.gz")
MOST_BYTES = 5_000_000
HOSTILE = "</script><img src=x onerror=alert(1)>&lt;'\"\u2028"


def run(*arguments):
    return subprocess.run([BINARY, *map(str, arguments)], capture_output=True, text=True,
                          timeout=300)


def report(*arguments):
    """The page and the JSON report of one run."""
    with tempfile.TemporaryDirectory() as folder:
        page, data = pathlib.Path(folder, "r.html"), pathlib.Path(folder, "r.json")
        done = run("--quiet", "--html", page, "--json", data, *arguments)
        if done.returncode != 0:
            raise AssertionError(done.stderr)
        return page.read_text(encoding="utf-8"), json.loads(data.read_text())


def samples():
    for name in CAPTURES:
        path = SOURCE / "captures" / name
        if path.exists():
            yield name, *report(path)


def count(text):
    return int(text.replace(",", ""))


def of_each(check):
    """A test of every sample."""
    def test(self):
        for name, markup, page, data in self.all:
            with self.subTest(name):
                check(self, markup, page, data)
    return test


class Samples(unittest.TestCase):
    """What holds of every page."""

    maxDiff = 2000

    @classmethod
    def setUpClass(cls):
        cls.all = [(name, markup, Page(markup), data) for name, markup, data in samples()]

    def test_there_are_samples(self):
        self.assertEqual(len(self.all), len(CAPTURES))

    @of_each
    def test_well_formed(self, markup, page, data):
        self.assertEqual(page.faults, [])
        self.assertTrue(markup.startswith("<!DOCTYPE html>"))
        ids = re.findall(r'<[^>]* id="([^"]*)"', re.sub(r"(?s)<script.*?</script>", "",
                                                        markup))
        self.assertEqual(sorted(ids), sorted(set(ids)))

    @of_each
    def test_policy_allows_what_is_there_and_nothing_else(self, markup, page, data):
        policy = page.policy()
        self.assertEqual(policy["default-src"], ["'none'"])
        self.assertEqual(policy["base-uri"], ["'none'"])
        self.assertEqual(policy["form-action"], ["'none'"])
        self.assertEqual(policy["script-src"], list(map(source_of, page.scripts())))
        styles = [content for tag, _, content in page.blocks if tag == "style"]
        self.assertEqual(policy["style-src"], list(map(source_of, styles)))
        self.assertEqual(set(policy), {"default-src", "base-uri", "form-action",
                                       "script-src", "style-src"})

    @of_each
    def test_needs_no_other_file(self, markup, page, data):
        for tag, attributes in page.elements:
            self.assertNotIn("src", attributes, tag)
            self.assertNotIn("srcset", attributes, tag)
            self.assertNotIn("style", attributes, tag)
            self.assertEqual([a for a in attributes if a.startswith("on")], [], tag)
            if "href" in attributes:
                self.assertTrue(attributes["href"].startswith("#"), attributes)
        for tag, _, content in page.blocks:
            if tag == "style":
                self.assertNotRegex(content, r"url\(|@import")
        self.assertNotIn("sourceMappingURL", markup)

    @of_each
    def test_links_lead_somewhere(self, markup, page, data):
        for _, attributes in page.elements:
            if "href" in attributes:
                self.assertIn(attributes["href"][1:], page.ids)

    @of_each
    def test_findings_stand_in_their_order(self, markup, page, data):
        at = page.text.index("What is wrong")
        for finding in data["findings"]:
            for part in ("severity", "title", "detail", "advice", "meaning",
                         "wireshark_filter"):
                text = " ".join(finding[part].split())
                found = page.text.find(text, at)
                self.assertGreaterEqual(found, at, (part, text))
            at = page.text.index(" ".join(finding["title"].split()), at) + 1
            for stream in finding["streams"]:
                self.assertIn(f"streams-{stream}", page.ids)

    @of_each
    def test_tables_are_tables(self, markup, page, data):
        for rows in page.tables.values():
            head, *body = rows
            self.assertTrue(all(a.get("scope") == "col" for _, a in head))
            self.assertTrue(all(row[0][1].get("scope") == "row" for row in body))
            self.assertTrue(all(len(row) == len(head) for row in body))

    @of_each
    def test_streams_say_what_json_says(self, markup, page, data):
        def lost(s):
            return sum(s["losses"][space][verdict] for space in ("requests", "responses")
                       for verdict in ("lost_before_capture", "undelivered_after_capture",
                                       "ack_lost", "data_or_ack_lost", "corrupt"))
        rows = page.rows("streams-table")
        self.assertEqual(len(rows), len(data["streams"]))
        for row, s in zip(rows, data["streams"]):
            self.assertEqual(row["#"][0], str(s["id"]))
            self.assertEqual((row["from"][0], row["to"][0]), (s["src"], s["dst"]))
            self.assertEqual(row["QP"][0], hex(s["dst_qpn"]))
            self.assertEqual(count(row["packets"][0]), s["packets"])
            self.assertEqual(int(row["payload"][1]["data-sort"]), s["payload_bytes"])
            self.assertEqual(count(row["lost"][0]), lost(s))
            self.assertEqual(count(row["resent"][0]), s["retransmissions"]["packets"]
                             + s["responses"]["resent"])
            self.assertEqual(int(row["start"][1]["data-sort"]),
                             s["first_ts_ns"] - data["capture"]["first_ts_ns"])
            if "CNPs back" in row:
                got = row["CNPs back"][0]
                want = s["cnps_received"]
                self.assertEqual(None if got == "–" else count(got), want)

    @of_each
    def test_pauses_and_connections_say_what_json_says(self, markup, page, data):
        pauses = page.rows("pauses-table") if data["pauses"] else []
        for row, p in zip(pauses, data["pauses"], strict=True):
            self.assertEqual(count(row["XOFF"][0]), p["xoff"])
            if p["total_ns"] is None:
                self.assertEqual(row["paused"][0], "–")
            else:
                self.assertEqual(int(row["paused"][1]["data-sort"]), p["total_ns"])
        links = page.rows("connections-table") if data["connections"] else []
        for row, c in zip(links, data["connections"], strict=True):
            self.assertEqual(row["paired by"][0], c["paired_by"])
            self.assertEqual(row["streams"][0], ", ".join(map(str, c["streams"])))

    @of_each
    def test_time_line_says_what_json_says(self, markup, page, data):
        shown, all_of_it = page.data("timeline"), data["timeline"]
        self.assertEqual(shown["bin_ns"], all_of_it["bin_ns"])
        self.assertEqual(int(shown["origin_ns"]), data["capture"]["first_ts_ns"])
        self.assertEqual(int(shown["origin_ns"]) + shown["start_ns"],
                         all_of_it["start_ns"])
        for one, want in zip(shown["series"], all_of_it["series"], strict=True):
            self.assertEqual({key: one[key] for key in want}, want)

    @of_each
    def test_latencies_say_what_json_says(self, markup, page, data):
        dists = [value for name, value in data["totals"].items()
                 if isinstance(value, dict) and "p99" in value]
        rows = page.rows("latencies-table") if dists else []
        got = sorted((count(row["samples"][0]), int(row["99 %"][1]["data-sort"]))
                     for row in rows)
        self.assertEqual(got, sorted((d["count"], d["p99"]) for d in dists))

    @of_each
    def test_hosts_add_up(self, markup, page, data):
        shown = page.data("hosts")
        standing = [s for s in data["streams"] if not any(i < s["id"]
                                                          for i in s["same_stream_at"])]
        hosts = {s[end] for s in standing for end in ("src", "dst")}
        self.assertEqual(shown is not None, len(hosts) >= 3)
        if shown is None:
            return
        self.assertEqual(set(shown["hosts"]), hosts)
        self.assertEqual(sum(cell[2] for cell in shown["cells"]),
                         data["totals"]["packets"])
        self.assertEqual(sum(cell[3] for cell in shown["cells"]),
                         data["totals"]["payload_bytes"])
        self.assertEqual(sum(cell[5] for cell in shown["cells"]),
                         data["totals"]["ecn"]["ce"])
        self.assertEqual(sum(cell[7] for cell in shown["cells"]),
                         data["totals"]["retransmissions"]["packets"]
                         + data["totals"]["responses"]["resent"])
        if len(data["capture"]["points"]) == 1:
            for src, dst, packets, *_ in shown["cells"]:
                ends = (shown["hosts"][src], shown["hosts"][dst])
                self.assertEqual(packets, sum(s["packets"] for s in data["streams"]
                                              if (s["src"], s["dst"]) == ends))

    @of_each
    def test_plots_have_all_faults(self, markup, page, data):
        plots = page.data("psn")
        for plot in plots["plots"]:
            n = len(plot["time"])
            self.assertTrue(all(len(plot[k]) == n for k in ("psn", "kind", "frame",
                                                            "span")))
            self.assertTrue(all(step >= 0 for step in plot["time"][1:]))
            stream = next(s for s in data["streams"] if s["id"] == plot["stream"])
            if "requests" in plot["label"] and stream["naks"] is not None:
                naks = plot["kind"].count(plots["kinds"].index("nak"))
                self.assertEqual(naks, sum(v for k, v in stream["naks"].items()
                                           if k != "rnr"))

    @of_each
    def test_filters_say_what_they_need(self, markup, page, data):
        filters = [f["wireshark_filter_all"] or "" for f in data["findings"]]
        self.assertEqual(page.text.count("all, with the plugin"),
                         sum("rocev2." in text for text in filters))

    def test_clean_says_so_on_top(self):
        _, _, page, _ = next(one for one in self.all if one[0].startswith("01_"))
        self.assertIn("Healthy no loss, no retransmission, no congestion", page.text)
        _, _, page, _ = next(one for one in self.all if one[0].startswith("03a"))
        self.assertNotIn("Healthy", page.text)

    @of_each
    def test_licence_of_the_library(self, markup, page, data):
        self.assertIn("Permission is hereby granted, free of charge", page.text)
        self.assertIn("Dan Vanderkam", page.text)


class SeveralPoints(unittest.TestCase):
    """What others than the point that stands for all saw counts in both."""

    def test_hosts_add_up(self):
        for name in ("incast_read", "incast_switch_cnps"):
            with self.subTest(name), tempfile.TemporaryDirectory() as folder:
                captures = simulate_fabric(scenario(name)).captures()
                for file, data in captures.items():
                    pathlib.Path(folder, file).write_bytes(data)
                markup, data = report(*(pathlib.Path(folder, file) for file in captures))
                cells = Page(markup).data("hosts")["cells"]
                totals = data["totals"]
                self.assertGreater(totals["ecn"]["ce"], 0)
                self.assertGreater(totals["cnps_received"], 0)
                self.assertEqual(sum(c[5] for c in cells), totals["ecn"]["ce"])
                self.assertEqual(sum(c[8] or 0 for c in cells), totals["cnps_received"])


class Tenants(unittest.TestCase):
    """The same address in two networks is two hosts."""

    def test_hosts(self):
        out = roce.Pcap()
        packets = list(roce.pcap_packets(
            gzip.decompress((SOURCE / "captures" / CAPTURES[0]).read_bytes())))
        for n in 100, 200:
            for time_ns, _length, frame in packets:
                out.add(time_ns + n * 10**9, tunnels.carry_udp(
                    tunnels.PORT_VXLAN, tunnels.vxlan(n, frame)))
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "x.pcap")
            path.write_bytes(out.bytes())
            markup, _ = report(path)
        self.assertEqual(Page(markup).data("hosts")["hosts"],
                         [f"10.77.1.{host} in vxlan {n}" for host in (1, 2)
                          for n in (100, 200)])


def write_packets(out, n_streams, **add):
    """A WRITE of one packet on each of so many queue pairs, all from one host."""
    for i in range(n_streams):
        ip = roce.Ip(f"10.{i >> 14 & 63}.{i >> 7 & 127}.{i & 127 | 128}", "10.200.0.1")
        ib = roce.transport(roce.OPCODE["RC RDMA WRITE Only"], dest_qpn=0x100 + i, psn=i,
                            headers=roce.reth(0, 1, 4), payload=b"data")
        for copy in range(2):
            out.add(10**18 + 1000 * (2 * i + copy),
                    roce.ethernet(roce.rocev2(ip, 0xC000, ib)), **add)
    return out.bytes()


class Hostile(unittest.TestCase):
    """Names that want to be markup."""

    def check(self, markup, least):
        page = Page(markup)
        self.assertEqual(page.faults, [])
        self.assertNotIn("img", {tag for tag, _ in page.elements})
        self.assertEqual(len(page.scripts()), 3)
        self.assertGreaterEqual(page.text.count("<img src=x onerror=alert(1)>"), least)
        self.assertEqual(page.policy()["script-src"], list(map(source_of, page.scripts())))
        for tag, attributes, content in page.blocks:
            if attributes.get("type") == "application/json":
                self.assertTrue(content.isascii())
                self.assertNotRegex(content, "[<>&]")

    def test_names_of_interfaces_files_and_hosts(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, HOSTILE.replace("/", "\u2215") + ".pcapng")
            out = roce.Pcapng([roce.Interface(name=HOSTILE), roce.Interface(name="b")],
                              comment=HOSTILE)
            write_packets(out, 4, interface=0, comment=HOSTILE)
            path.write_bytes(write_packets(out, 4, interface=1))
            hosts = pathlib.Path(folder, "hosts")
            hosts.write_text(f"10.200.0.1,{HOSTILE}\n10.0.0.128,{HOSTILE} 2\n",
                             encoding="utf-8")
            markup, _ = report("--hosts", hosts, path)
        self.check(markup, 8)

    def test_names_of_systems(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "x.pcap")
            out = roce.Pcap()
            for port, priorities in ((HOSTILE, [3]), ("swp2", [4])):
                src = roce.mac("02:00:00:00:00:0" + str(priorities[0]))
                out.add(10**18, roce.lldp(roce.dcb_pfc(priorities), src=src, port=port,
                                          system=HOSTILE))
            path.write_bytes(write_packets(out, 2))
            markup, data = report(path)
        self.check(markup, 1 if "onerror" in json.dumps(data["findings"]) else 0)


class Budget(unittest.TestCase):
    def test_very_many_streams(self):
        n = 30_000
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "x.pcap")
            path.write_bytes(write_packets(roce.Pcap(), n))
            hosts = pathlib.Path(folder, "hosts")
            hosts.write_text(f"10.200.0.1,{'<' * 250}\n", encoding="utf-8")
            markup, data = report("--events", 0, "--hosts", hosts, path)
        page = Page(markup)
        self.assertEqual(len(data["streams"]), n)
        self.assertEqual(page.faults, [])
        self.assertLess(len(markup.encode()), MOST_BYTES)
        rows = page.rows("streams-table")
        self.assertEqual([row["#"][0] for row in rows],
                         [str(s["id"]) for s in data["streams"][:len(rows)]])
        self.assertGreaterEqual(len(rows), 300)
        self.assertIn(f"and {n - len(rows):,} more streams", page.text)
        self.assertEqual(len(page.data("hosts")["hosts"]), 64)
        self.assertIn(f"and {n + 1 - 64:,} more hosts", page.text)

    def test_very_many_points(self):
        n = 300 # more than have a time line, or are listed
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "x.pcapng")
            out = roce.Pcapng([roce.Interface(name=f"port{i}", speed_bps=10**11)
                               for i in range(n)])
            for i in range(n):
                for k in range(200):
                    time_ns = 10**18 + 10**6 * k + i
                    out.add(time_ns, roce.pfc({p: 0xFFFF for p in range(8)}), interface=i)
            path.write_bytes(write_packets(out, 2))
            markup, data = report("--events", 0, path)
        page = Page(markup)
        self.assertLess(len(markup.encode()), MOST_BYTES)
        shown = page.data("timeline")["series"]
        omitted = len(data["timeline"]["series"]) - len(shown)
        self.assertGreater(omitted, 0)
        self.assertIn(f"and {omitted} more points and streams", page.text)
        self.assertIn(f"and {n - 100} more points", page.text)
        self.assertEqual(page.faults, [])


class Files(unittest.TestCase):
    CAPTURE = SOURCE / "captures/03a_loss_data_0.5pct/receiver.pcap.gz"

    def test_standard_output(self):
        done = run("--html", "-", self.CAPTURE)
        self.assertTrue(done.stdout.startswith("<!DOCTYPE html>"))
        self.assertTrue(done.stdout.endswith("</html>\n"))

    def test_only_one_has_standard_output(self):
        done = run("--html", "-", "--json", "-", self.CAPTURE)
        self.assertEqual((done.returncode, done.stdout), (2, ""))

    def test_text_beside_a_file(self):
        self.assertIn("What is wrong", run("--html", "/dev/null", self.CAPTURE).stdout)

    def test_the_same_capture_gives_the_same_page(self):
        self.assertEqual(run("--html", "-", self.CAPTURE).stdout,
                         run("--html", "-", self.CAPTURE).stdout)

    def test_why_values_are_not_known(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "x.pcap")
            out = roce.Pcap()
            for i in range(3):
                out.add(10**18 + 1000 * i, roce.pfc({3: 0xFFFF}))
            path.write_bytes(out.bytes())
            page = Page(report(path)[0])
            told = Page(report("--link-speed", "100G", path)[0])
        why = "the speed of the link is not known; see --link-speed"
        self.assertIn(f"paused, share, longest, link: {why}.", page.text)
        self.assertEqual(page.rows("pauses-table")[0]["paused"][0], "–")
        self.assertNotIn(why, told.text)

    def test_no_packets(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "x.pcap")
            path.write_bytes(roce.Pcap().bytes())
            markup, _ = report(path)
        page = Page(markup)
        self.assertEqual(page.faults, [])
        self.assertIn("Nothing to judge", page.text)
        self.assertIsNone(page.data("timeline"))


if __name__ == "__main__":
    unittest.main()
