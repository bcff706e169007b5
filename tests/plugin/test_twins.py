#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The built-in dissectors as an oracle that shares nothing with core: where they are right,
every field of ours equals its twin of theirs, on every packet of every sample capture."""

import collections
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from checks import SOURCE, TS, Check, capture, main  # noqa: E402
from tshark import number  # noqa: E402

# Our name for a thing and the built-in's; a header's value is its bytes.
TWINS = {f"rocev2.{name}": f"infiniband.{name}" for name in (
    "bth bth.opcode bth.se bth.m bth.padcnt bth.tver bth.p_key bth.destqp bth.a bth.psn "
    "reth reth.va reth.r_key reth.dmalen aeth aeth.syndrome aeth.syndrome.opcode "
    "aeth.syndrome.credit_count aeth.syndrome.timer aeth.syndrome.error_code aeth.msn "
    "atomiceth atomiceth.swapdt atomiceth.cmpdt deth deth.q_key deth.srcqp immdt ieth"
).split()}
TWINS["rocev2.atomicack"] = "infiniband.atomicacketh"
TWINS["rocev2.atomicack.origremdt"] = "infiniband.atomicacketh.origremdt"
TWINS["rocev2.icrc"] = "infiniband.invariant.crc"
TWINS["pfc.opcode"] = "macc.opcode"
TWINS["pfc.cev"] = "macc.cbfc.enbv"
TWINS.update({f"pfc.cev.p{i}": f"macc.cbfc.enbv.c{i}" for i in range(8)})
TWINS.update({f"pfc.quanta.p{i}": f"macc.cbfc.pause_time.c{i}" for i in range(8)})

# The built-in knows the FLUSH header from 4.4 on.  Not feth.sel: it reads bits 4 and 3;
# Linux writes bits 5 and 4, and 02k_allops has an 0x11 of a whole region (SEL 1, PLT 1).
FLUSH_TWINS = {f"rocev2.{name}": f"infiniband.{name}" for name in ("feth", "feth.plt")}

# The built-in has no names of their own for these.
ATOMIC = {"rocev2.reth.va": "rocev2.atomiceth.va",
          "rocev2.reth.r_key": "rocev2.atomiceth.r_key"}

# The built-in shows these twice, as a header and as its only field.
TWICE = ("infiniband.immdt", "infiniband.ieth")

FLUSH, ATOMIC_WRITE, CNP = 0x1c, 0x1d, 0x81
XRC = range(0xa0, 0xc0)

# Filters that must match the same frames, whoever's name they use; {} is the prefix.
FILTERS = ("{}", "{}.bth", "{}.bth.opcode == 17", "{}.bth.a == 1", "{}.bth.psn % 2 == 1",
           "{}.bth.destqp == 0x1a", "{}.aeth", "{}.aeth.syndrome.opcode == 3",
           "{}.deth", "{}.immdt", "{}.ieth")


def knows_flush():
    return tuple(int(part) for part in TS.version.split(".")) >= (4, 4)


def builtin_decodes(opcode):
    """Whether it takes apart what stands behind the BTH, rather than show it as bytes."""
    if opcode in (FLUSH, ATOMIC_WRITE):
        return knows_flush()
    # Its table has the CNP at 0x80, and names XRC but not the headers that follow.
    return opcode != CNP and opcode not in XRC


def plain(texts):
    """Numbers whatever their base, bytes as they are."""
    try:
        return [number(text) for text in texts]
    except ValueError:
        return texts


class Values(Check):
    def test_every_capture(self):
        twins = {**TWINS, **FLUSH_TWINS} if knows_flush() else TWINS
        compared = collections.Counter()
        for path in sorted((SOURCE / "captures").glob("*/*.pcap*.gz")):
            name = str(path.relative_to(SOURCE / "captures"))
            with self.subTest(name):
                copy = TS.copy(path, name.replace("/", "-"))
                self.compare(copy, twins, compared)
        self.assertEqual([ours for ours in twins if compared[ours] == 0], [])

    def compare(self, path, twins, compared):
        names = ["frame.number", *twins, *twins.values(), *ATOMIC.values()]
        rows = TS.fields(path, names, "-Y", "rocev2 || infiniband || pfc || macc")
        self.assertGreater(len(rows), 0)
        for row in rows:
            opcode = row["rocev2.bth.opcode"]
            whole = not opcode or builtin_decodes(number(opcode[0]))
            for ours, theirs in twins.items():
                if not whole and not ours.startswith("rocev2.bth"):
                    continue
                got = row[ours] + row.get(ATOMIC.get(ours), [])
                want = row[theirs][::2] if theirs in TWICE else row[theirs]
                if got != want:
                    self.assertEqual(plain(got), plain(want), (row["frame.number"], ours))
                compared[ours] += len(got)


class Filters(Check):
    def test_filters(self):
        for name in ("02k_allops", "03a_loss_data_0.5pct"):
            for text in FILTERS:
                with self.subTest(f"{name}: {text}"):
                    path = capture(name)
                    self.assertEqual(TS.frames(path, text.format("rocev2")),
                                     TS.frames(path, text.format("infiniband")))

    def test_filters_of_the_builtin_match_as_without_us(self):
        path = capture("02k_allops")
        for text in ("infiniband", "infiniband.reth", "infiniband.atomiceth",
                     "infiniband.bth.opcode == 4", "infiniband.aeth.msn > 4"):
            with self.subTest(text):
                self.assertEqual(TS.frames(path, text),
                                 TS.frames(path, text, stock=True))
        # Stock loses the ICRC where a heuristic throws; with us none does.
        text = "infiniband.invariant.crc"
        lost = set(TS.frames(path, text)) - set(TS.frames(path, text, stock=True))
        self.assertEqual(lost, set(TS.frames(path, "_ws.malformed", stock=True)))


if __name__ == "__main__":
    sys.exit(main())
