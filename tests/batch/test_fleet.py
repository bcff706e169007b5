#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Hosts, links, rails and days over all captures: what is captured twice counts once, what
follows one another adds up."""

import json
import pathlib
import re
import shutil
import struct
import subprocess

from batching import BINARY, LOSSY, PAUSED, Rows, SOURCE, batch, folder, records, shifted, small

rows = Rows()
check = rows.check

DAY = 86400
A, B = "10.77.1.1", "10.77.1.2"

UDP = 17
LONGER_THAN_CM = 1000  # bytes, of a record with data
# Behind a record's header, Ethernet, IPv4, UDP, BTH, Q_Key and a reserved byte.
DETH_SRC_QPN = slice(16 + 14 + 20 + 8 + 12 + 5, 16 + 14 + 20 + 8 + 12 + 8)


def rows_of(done, table, key):
    names = [r[1] for r in done.ask(f"PRAGMA table_info({table})")]
    return {tuple(row[names.index(k)] for k in key): dict(zip(names, row))
            for row in done.ask(f"SELECT * FROM {table}")}


def pair(done, src=A, dst=B):
    return rows_of(done, "host_pairs", ("src", "dst")).get((src, dst))


def numbers(row):
    return {k: row[k] for k in ("streams", "packets", "payload_bytes", "lost", "resent",
                                "data_packets", "ce", "cnps", "held_ns")}


def scaled(row, n):
    return {k: v * n for k, v in row.items()}


def of_report(work):
    """The same numbers from the report of the capture alone."""
    text = subprocess.run([BINARY, "--quiet", "--json", "-", "x.pcap"], cwd=work,
                          capture_output=True, check=False, timeout=60).stdout
    verdicts = ("lost_before_capture", "undelivered_after_capture", "ack_lost",
                "data_or_ack_lost", "corrupt")
    streams = [s for s in json.loads(text)["streams"]
               if (s["src"], s["dst"]) == (A, B)]
    return {
        "streams": len(streams),
        "packets": sum(s["packets"] for s in streams),
        "payload_bytes": sum(s["payload_bytes"] for s in streams),
        "lost": sum(s["losses"][space][v] for s in streams
                    for space in ("requests", "responses") for v in verdicts),
        "resent": sum(s["retransmissions"]["packets"] for s in streams),
        "data_packets": sum(s["ecn"][c] for s in streams
                            for c in ("not_ect", "ect0", "ect1", "ce")),
        "ce": sum(s["ecn"]["ce"] for s in streams),
        "cnps": sum(s["cnps_received"] or 0 for s in streams),
        "held_ns": 0,
    }


def later(record, ns):
    second, fraction = struct.unpack_from("<II", record)
    carried, fraction = divmod(fraction + ns, 10**9)
    return struct.pack("<II", second + carried, fraction) + record[8:]


def once():
    """One capture, twice at once, then later, then on another day."""
    with folder() as work:
        work = pathlib.Path(work)
        whole = small(4000)
        (work / "x.pcap").write_bytes(whole)
        alone = batch("x.pcap", out="out", cwd=work)
        one = numbers(pair(alone))
        check("once: what the report says", one, of_report(work))
        check("once: there is something to count", one["lost"] > 0 and one["resent"] > 0)

        (work / "y.pcap").write_bytes(whole)
        twice = batch("x.pcap", "y.pcap", out="out", cwd=work)
        check("once: two captures of it", numbers(pair(twice)), one)

        (work / "y.pcap").write_bytes(small(4000, shift=1000))
        later = numbers(pair(batch("x.pcap", "y.pcap", out="out", cwd=work)))
        # One after the other on one day is the same stream.
        check("once: another one later", later, scaled(one, 2) | {"streams": 1})

        (work / "y.pcap").write_bytes(small(4000, shift=DAY))
        days = batch("x.pcap", "y.pcap", out="out", cwd=work)
        check("once: on another day", numbers(pair(days)), scaled(one, 2))
        of_day = rows_of(days, "days", ("day",))
        check("once: two days", len(of_day), 2)
        check("once: days are alike", *(numbers(row) for row in of_day.values()))
        check("once: captures of days", days.ask("SELECT captures FROM ranked_days"),
              [(1,), (1,)])


def short():
    """What is over in less than a clock steps back by counts once as well: seen twice in one
    capture, in two, by a clock that is a little late, and of one packet alone."""
    with folder() as work:
        work = pathlib.Path(work)
        for name in ("sender", "receiver"):
            shutil.copy(SOURCE / f"captures/sim_duplex/{name}.pcap.gz", work)
        src, dst = "10.9.0.1", "10.9.0.2"
        ends = [pair(batch(f"{name}.pcap.gz", out=name, cwd=work), src, dst)["packets"]
                for name in ("sender", "receiver")]
        both = batch("sender.pcap.gz", "receiver.pcap.gz", out="both", cwd=work)
        check("short: both ends", pair(both, src, dst)["packets"], max(ends))

        done = batch(SOURCE / "captures/sim_cascade/fabric.pcapng.gz", out="hops", cwd=work)
        seen = done.ask("SELECT max(packets), count(DISTINCT point) FROM streams"
                        " WHERE src = '10.9.0.1' AND dst = '10.9.1.8'")
        check("short: points of one capture", [n > 1 for _, n in seen], [True])
        row = pair(done, src, "10.9.1.8")
        check("short: the greatest point counts", row["packets"] / row["streams"], seen[0][0])

        header, some = records(LOSSY)
        one = next(r for r in some if r[16 + 23] == UDP and len(r) > LONGER_THAN_CM)
        (work / "x.pcap").write_bytes(header + one)
        for late_ns in (0, 3000, 3000000):
            (work / "y.pcap").write_bytes(header + later(one, late_ns))
            done = batch("x.pcap", "y.pcap", out="one", cwd=work)
            check(f"short: a packet, {late_ns} ns later", pair(done)["packets"], 1)


def datagrams():
    """Of UD, who sends to one queue pair are streams of their own, also at the same time."""
    with folder() as work:
        work = pathlib.Path(work)
        header, some = records(SOURCE / "captures/02e_ud/receiver.pcap.gz")
        some = [r for r in some if r[16 + 23] == UDP and r[DETH_SRC_QPN] == b"\0\0\x27"]
        # Another ICRC as well, else the capture would hold each packet twice.
        others = [r[:DETH_SRC_QPN.start] + b"\0\0\x99" + r[DETH_SRC_QPN.stop:-1] +
                  bytes([r[-1] ^ 1]) for r in some]
        both = [r for two in zip(some, others) for r in two]
        (work / "x.pcap").write_bytes(header + b"".join(both))
        done = batch("--icrc", "off", "x.pcap", out="out", cwd=work)
        check("datagrams: both senders", (len(some) > 1, pair(done)["packets"]),
              (True, 2 * len(some)))


def laid_into_lanes():
    """Captures at one place that follow on, beside others that are cut elsewhere: the sum of
    the better place counts, and not the greatest piece of all."""
    with folder() as work:
        work = pathlib.Path(work)
        header, some = records(LOSSY)
        some = [shifted(r, 0) for r in some[:600]]
        cuts = {"a": [0, 200, 400, 600], "b": [0, 100, 300, 500, 600]}
        for place, at in cuts.items():
            for i, (begin, end) in enumerate(zip(at, at[1:])):
                name = f"{place}-{'uvwx'[i]}.pcap"   # no rotated set
                (work / name).write_bytes(header + b"".join(some[begin:end]))
        done = batch(*(f"a-{c}.pcap" for c in "uvw"), out="a", cwd=work)
        place_a = numbers(pair(done))
        done = batch(*(f"b-{c}.pcap" for c in "uvwx"), out="b", cwd=work)
        place_b = numbers(pair(done))
        both = numbers(pair(batch(".", out="both", cwd=work)))
        check("lanes: packets of both places", (place_a["packets"], place_b["packets"]),
              (both["packets"],) * 2)
        for key in ("lost", "resent", "payload_bytes"):
            check(f"lanes: {key}", both[key], max(place_a[key], place_b[key]))


def midnight():
    """A capture that goes on past midnight, and the same in a piece for each day."""
    with folder() as work:
        work = pathlib.Path(work)
        header, some = records(LOSSY)
        data = [r for r in some if len(r) > LONGER_THAN_CM]
        second, fraction = struct.unpack_from("<II", data[len(data) // 2])
        wait = (-second % DAY - 1) * 10**9 + 10**9 - fraction
        some = [later(r, wait) for r in some]
        days = [[r for r in some if struct.unpack_from("<I", r)[0] < second + wait // 10**9 + 1],
                [r for r in some if struct.unpack_from("<I", r)[0] > second + wait // 10**9]]
        check("midnight: there is some on both days", all(days))
        (work / "x.pcap").write_bytes(header + b"".join(some))
        for name, of_day in zip(("y", "z"), days):
            (work / f"{name}.pcap").write_bytes(header + b"".join(of_day))
        whole = numbers(pair(batch("x.pcap", out="whole", cwd=work)))
        in_days = batch("y.pcap", "z.pcap", out="days", cwd=work)
        check("midnight: by days", numbers(pair(in_days)), whole | {"streams": 2})
        both = batch("x.pcap", "y.pcap", "z.pcap", out="both", cwd=work)
        check("midnight: both", numbers(pair(both)), whole)
        check("midnight: belongs to the first day",
              len(rows_of(both, "days", ("day",))), 1)


def named():
    """Hosts, rails and ports by --hosts; two addresses of a host are one host."""
    with folder() as work:
        work = pathlib.Path(work)
        shutil.copy(LOSSY, work / "x.pcap.gz")
        (work / "hosts").write_text(f"{A} one rail0 mlx5_0\n{B} two rail1 mlx5_1\n")
        done = batch("--hosts", "hosts", "x.pcap.gz", out="out", cwd=work)
        row = pair(done, "one", "two")
        check("named: hosts", row is not None)
        rails = rows_of(done, "rail_pairs", ("src_rail", "dst_rail"))
        check("named: rails", set(rails), {("rail0", "rail1"), ("rail1", "rail0")})
        check("named: a rail's numbers", numbers(rails["rail0", "rail1"]), numbers(row))
        links = rows_of(done, "links", ("addr", "way"))
        check("named: links", {k: (r["host"], r["rail"], r["port"]) for k, r in links.items()},
              {(A, "sends"): ("one", "rail0", "mlx5_0"),
               (A, "receives"): ("one", "rail0", "mlx5_0"),
               (B, "sends"): ("two", "rail1", "mlx5_1"),
               (B, "receives"): ("two", "rail1", "mlx5_1")})
        check("named: what one sends the other receives",
              numbers(links[A, "sends"]), numbers(links[B, "receives"]))
        check("named: in the summary", [p["src"] for p in done.summary["host_pairs"]],
              ["one", "two"])
        (work / "hosts").write_text(f"{A} one\n{B} one\n")
        done = batch("--hosts", "hosts", "x.pcap.gz", out="out", cwd=work)
        check("named: one host of two addresses",
              set(rows_of(done, "host_pairs", ("src", "dst"))), {("one", "one")})
        check("named: no rails", done.summary["rail_pairs"], [])


def held():
    """Streams that pauses held are held between their hosts."""
    with folder() as work:
        done = batch(PAUSED, out="out", cwd=work)
        total, = done.ask("SELECT sum(held_ns) FROM host_pairs")[0]
        most, = done.ask("SELECT max(held_ns) FROM pause_victims")[0]
        check("held: something was", most > 0 and total >= most)
        page = (done.out / "index.html").read_text()
        check("held: the matrix is there", 'id="data-hosts"' in page)


def trend():
    """Bars are for each packet, so that a day with twice as much is no worse; days without
    a capture have an empty place, and one day alone is no trend."""
    with folder() as work:
        work = pathlib.Path(work)
        (work / "a.pcap").write_bytes(small(4000))
        alone = batch("a.pcap", out="out", cwd=work)
        check("trend: of one day", 'id="trend"' in (alone.out / "index.html").read_text(), False)
        (work / "b.pcap").write_bytes(small(4000, shift=3 * DAY))
        (work / "c.pcap").write_bytes(small(4000, shift=3 * DAY + 1000))
        (work / "d.pcap").write_bytes(small(300, shift=9 * DAY))
        done = batch("a.pcap", "b.pcap", "c.pcap", "d.pcap", out="out", cwd=work)
        page = (done.out / "index.html").read_text()
        section = page[page.index('id="trend"'):page.index('id="days"')]
        names = [row[0] for row in done.ask("SELECT day FROM days ORDER BY day")]
        bars = {}
        for row in re.findall(r"<tr><th scope=.row.>.*?</tr>", section):
            of_days = re.findall(r'<rect x="([\d.]+)%" y="[\d.]+" width="[\d.]+%" height="([\d.]+)">'
                                 r"<title>([\d-]+): ([^<]*)</title>", row)
            bars[re.search(">([^<]*)</th>", row)[1]] = of_days
        check("trend: measures", {"lost", "sent again"} <= set(bars))
        lost = done.ask("SELECT lost * 1e6 / packets FROM days ORDER BY day")
        for name, of_days in bars.items():
            check(f"trend: days of {name}", [day for _x, _height, day, _text in of_days], names)
            check(f"trend: places of {name}", [float(x) for x, *_ in of_days], [0.0, 30.0, 90.0])
            check(f"trend: twice as much of {name}", of_days[0][1], of_days[1][1])
            check(f"trend: the highest of {name}", max(float(bar[1]) for bar in of_days), 28.0)
        for (share,), (_x, height, _day, text) in zip(lost, bars["lost"]):
            said = float(text.split(" ")[0].replace(",", ""))
            check("trend: what is said", abs(said - share) <= 0.5, True)
            most = max(row[0] for row in lost)
            check("trend: how high", abs(float(height) - max(28 * share / most, 1.5)) < 0.01, True)


def shown():
    """The page has the sections, and nothing in names is markup."""
    with folder() as work:
        work = pathlib.Path(work)
        shutil.copytree(SOURCE / "captures/sim_alltoall", work / "caps") \
            if (SOURCE / "captures/sim_alltoall").exists() else \
            shutil.copytree(PAUSED, work / "caps")
        shutil.copy(LOSSY, work / "caps")
        evil = "</script><b>"
        (work / "hosts").write_text(f"{A} {evil}\n")
        done = batch("--hosts", "hosts", "caps", out="out", cwd=work)
        page = (done.out / "index.html").read_text()
        for section in ("hosts", "links", "pairs", "days"):
            check(f"shown: section {section}", f'id="{section}"' in page)
        check("shown: no markup of names", evil not in page)


for part in (once, short, datagrams, laid_into_lanes, midnight, named, held, trend,
             shown):
    part()
rows.finish()
