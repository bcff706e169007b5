# SPDX-License-Identifier: GPL-2.0-or-later
"""docs/accuracy.md, from scores."""

import collections

from accuracy_cells import CELLS, DROPS, IMPAIRED, VANTAGE, VARIANTS, percent
from accuracy_match import Score

VERDICTS = ("lost_before_capture", "undelivered_after_capture", "ack_lost",
            "data_or_ack_lost", "not_captured", "corrupt", "reordered", "duplicates",
            "retransmitted", "round nak_sequence", "round rnr", "round timeout",
            "round read_reissue", "ce", "pause")
NAMES = {"reordered": "`reordered`", "duplicates": "`duplicates`",
         "retransmitted": "packets sent again", "ce": "CE marks", "pause": "pauses"}
TITLES = {name: impaired.title for name, impaired in IMPAIRED.items()}
TITLES["pause"] = "Pauses"
VANTAGES = (*VANTAGE.values(), "link")
OTHER_VARIANTS = {"random": "random identification", "constant": "constant",
                  "ipv6": "IPv6", "selective": "selective repeat"}

HEAD = """# Accuracy

How often the reports are right. Traffic is simulated with an exact record of what became of every packet, impaired in one way at a time, and captured at three points; each thing that a report says of a packet is then held against that record. `make accuracy` runs it all again and writes this page, always the same for the same program; a few minutes on two cores. `tests/sim/accuracy.py --help` tells how to look at a single case, with every mistake of it.

## How to read the tables

Each entry is **precision / recall (claims / decidable)**.

- *Precision*: of what reports claim, the share that is true. A claim is about one packet: the verdict, the stream, the PSN space and the PSN have to be right, as often as it is claimed. Claims about what could not be known count like any other.
- *Recall*: of what is true and *decidable*, the share that is claimed. Decidable is what whoever has this one capture can know; see the next table.
- `-`: nothing was claimed, or nothing was decidable.

All numbers are rounded down. A table's columns are the share of frames that the capture missed, each at random and by itself, as a busy tcpdump does. Rates are shares of packets; *requester*, *middle* and *responder* say where the point stands, *middle* between two segments that do the same harm. Traffic: WRITE, SEND and READ of several packets on two queue pairs, one with a single message at a time and one with several; 25 Gb/s, a round trip of about 12 µs, local ACK timeout 67 ms.

## What is right, and what is decidable

| verdict | right if | decidable if |
|---|---|---|
| `lost_before_capture` | this copy never came to the point | one sent after it in the same run was captured, and later a copy of it; if the capture missed frames, a NAK or a READ sent again asked for it as well |
| `undelivered_after_capture` | this copy was captured, and behind the point lost, damaged or overtaken | a NAK or a READ sent again asked for it, and it was the newest copy captured by then |
| `ack_lost` | an ACK for it had been sent when a timeout repeated it | such an ACK and the copy before were captured |
| `data_or_ack_lost` | that, or the copy before was lost or overtaken | no ACK for it was captured, and everything before it was |
| `not_captured` | this copy passed the point, and is not in the capture | no copy of it is, packets before and behind it are, and so is an answer to it |
| `corrupt` | captured with damage | as for `lost_before_capture` |
| `reordered` | an original, and one sent later with a higher PSN came before it | that one was captured; without a rising identification also: it came before its copies, and the packet behind does not run on from it |
| `duplicates` | the same copy came once more | the identification differs from copy to copy, or the PSN was sent once and the packet behind does not run on from it |
| packets sent again | the sender had sent that PSN before | an earlier copy was captured, or the lack of one shows |
| rounds by cause | a round that the requester began for this cause | one of its packets is decidable as sent again; the NAK, or the answer beyond the missing one, was captured before |
| CE marks | this packet carried CE | always |
| pauses | priority, start, end, and whether it was ended or ran out | all of its frames were captured |
"""

LIMITS = """## What no analyzer can know

- A request that is missing and comes again, and that nobody asked for, may have been lost or may have been missed by the capture. Reports take it for lost while the point misses little. Where it misses more, so that too many of these verdicts would be wrong, they say `unknown`, which claims nothing here.
- A frame that the capture missed *and* that was lost behind the point looks as if it had been lost before.
- A timeout repeats all that is not acknowledged, though often just one packet or one ACK was lost. Which, is not to be seen from the requester's side; reports give the verdict `data_or_ack_lost` to the one that the silence is most likely about, and where it was another one that counts as wrong here.
- An XON that the capture missed: the pause seems to run out. An XOFF: it seems to begin with its refresh.
- Where the identification tells nothing, a network duplicate of a packet that was also sent again looks like the latter.
- Frames are missed one by one here; captures also lose them in bursts, and then whole rounds go unseen.

The simulator (`tests/sim/sim.py`) follows the IBTA specification and no device. What devices do otherwise is not in these numbers; the next table is about one implementation.
"""


def page(scores, kernel_rows):
    parts = [HEAD, *_summary(scores), *_by_impairment(scores), *_other_senders(scores),
             LIMITS, *_kernel(kernel_rows)]
    return "\n".join(parts).rstrip("\n") + "\n"


# --- entries -------------------------------------------------------------------------


def _floor(value):
    """Three digits at most, never more than it is: 1 is all of them."""
    return "-" if value is None else f"{int(value * 1000) / 1000:g}"


def entry(score):
    if not score.claims and not score.decidable:
        return ""
    return (f"{_floor(score.precision)} / {_floor(score.recall)} "
            f"({score.claims}/{score.decidable})")


def name_of(what):
    if what.startswith("round "):
        return f"rounds, `{what[6:]}`"
    return NAMES.get(what, f"`{what}`")


def _pooled(scores, key_of):
    """Sums over what key_of() leaves out; it gives None for what is not wanted."""
    out = collections.defaultdict(Score)
    for (name, point, drop, what), score in scores.items():
        key = key_of(CELLS[name], VANTAGE.get(point, point), drop, what)
        if key is not None:
            out[key] += score
    return out


def _table(head, rows):
    """Rows of text; one whose entries are all empty is left out."""
    yield "| " + " | ".join(head) + " |"
    yield "|" + "---|" * len(head)
    for label, entries in rows:
        if any(entries):
            yield "| " + " | ".join([*label, *entries]) + " |"
    yield ""


def _by_drop(pooled, key):
    return [entry(pooled.get((*key, drop), Score())) for drop in DROPS]


MISSING = [f"{percent(drop)} missing" for drop in DROPS]

# --- tables --------------------------------------------------------------------------


def _summary(scores):
    pooled = _pooled(scores, lambda cell, vantage, drop, what: (
        (what, vantage, drop) if cell.variant == "rising" else None))
    yield "## All impairments together\n"
    yield "Senders with a rising IPv4 identification that go back to what was lost.\n"
    yield from _table(["verdict", "point", *MISSING], (
        ([name_of(what), vantage], _by_drop(pooled, (what, vantage)))
        for what in VERDICTS for vantage in VANTAGES))


def _by_impairment(scores):
    pooled = _pooled(scores, lambda cell, vantage, drop, what: (
        (cell.impairment, cell.rate, what, vantage, drop)
        if cell.variant == "rising" else None))
    yield "## By impairment\n"
    yield "The same senders.\n"
    for impairment, title in TITLES.items():
        rates = dict.fromkeys(c.rate for c in CELLS.values() if c.impairment == impairment)
        yield f"### {title}\n"
        yield from _table(["rate", "verdict", "point", *MISSING], (
            ([percent(rate), name_of(what), vantage],
             _by_drop(pooled, (impairment, rate, what, vantage)))
            for rate in rates for what in VERDICTS for vantage in VANTAGES))


def _other_senders(scores):
    shown = [(variant, drop) for variant in VARIANTS if variant in OTHER_VARIANTS
             for drop in (0.0, 0.01)]
    pooled = _pooled(scores, lambda cell, vantage, drop, what: (
        cell.impairment, what, vantage, cell.variant, drop))
    yield "## Other senders\n"
    yield ("All rates together. The last word of the column: the share of frames that the "
           "capture missed.\n")
    head = [f"{OTHER_VARIANTS[variant]}, {percent(drop)}" for variant, drop in shown]
    for impairment, title in TITLES.items():
        rows = [([name_of(what), vantage],
                 [entry(pooled.get((impairment, what, vantage, *key), Score()))
                  for key in shown])
                for what in VERDICTS for vantage in VANTAGES]
        if any(any(entries) for _, entries in rows):
            yield f"### {title}, other senders\n"
            yield from _table(["verdict", "point", *head], rows)


def _kernel(rows):
    yield "## The kernel's counters\n"
    yield ("Captures of Linux soft-RoCE ([captures/](../captures/README.md)): what its "
           "devices and the queues on the way counted, and what the report of each point "
           "says. `sent_pkts` and `rcvd_pkts` are those of the host at whose NIC the "
           "point is. Not compared: `completer_retry_err` where RNR NAKs begin rounds, of "
           "which the kernel counts some; `duplicate_request` where requests were lost or "
           "overtaken, since it counts what had been carried out before; drops of ACKs; "
           "`rcvd_seq_err`, which counts the NAKs that acknowledge something; bytes.\n")
    rows = list(rows)

    def both(pair):
        if pair is None:
            return ""
        return f"{pair[0]} = {pair[1]}" if pair[0] == pair[1] else f"{pair[0]} ≠ {pair[1]}"
    yield from _table(
        ["capture", "counter", "is", "sender: kernel, report", "receiver: kernel, report"],
        (([name, f"`{counter}`" if "_" in counter else counter, means],
          [both(pairs.get("sender")), both(pairs.get("receiver"))])
         for name, counter, means, pairs in rows))
    n_all = sum(len(pairs) for *_, pairs in rows)
    n_equal = sum(a == b for *_, pairs in rows for a, b in pairs.values())
    yield f"{n_equal} of {n_all} agree."
