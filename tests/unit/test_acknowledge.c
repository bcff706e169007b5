/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What ACKs, NAKs and RNR NAKs say: rounds, their causes, and verdicts on requests. */
#include "scenario.h"

/* Of every five requests the third is asked for, and sent again so long after. */
#define FOUR_ANSWERED(after)                                                           \
    "a write 39; b ack 39; "                                                           \
    "a write 40..44; b nak 42; " after "a write 42..44; b ack 44; "                    \
    "a write 45..49; b nak 47; " after "a write 47..49; b ack 49; "                    \
    "a write 50..54; b nak 52; " after "a write 52..54; b ack 54; "                    \
    "a write 55..59; b nak 57; " after "a write 57..59; b ack 59; "

/* What shows that A repeats selectively; what is answered takes longer than 20 us. */
#define LEARNED "a write 0..14; +20; b nak 10; a write 10; +20; b ack 14; "

/* clang-format off */
static const scenario naks[] = {
    {.name = "NAK: seen here in order, then asked for: lost or late behind this point",
     .script = "a write 0..14; b nak 10; a write 10..14; b ack 14",
     .want = "A: again=5 repeats=5 rounds=1 by_nak=1 undelivered=1 naks=1 recovery=gbn",
     .events = "nak A frame=16 psn=10; loss A frame=16 psn=10 detail=undelivered"
               " evidence=asked_for rel=11; round A psn=10 rel=16; no nak B"},
    {.name = "NAK: of a pair whose requests are not captured, told where it was carried",
     .script = "a ack 0; b nak 10; b rnr 11",
     .want = "A: naks=1 rnrs=1 B: naks_sent=1 rnrs_sent=1",
     .events = "nak B frame=2 psn=10; rnr_nak B frame=3 psn=11 us=10; no nak A"},
    {.name = "NAK: of what no queue pair can have outstanding, told likewise",
     .script = "a write 0..3; b nak 0x800000; a write 4; b ack 4",
     .want = "A: unique=5 naks=1 B: naks_sent=1",
     .events = "nak B frame=5 psn=0x800000; no nak A"},
    {.name = "NAK: the newest copy is judged, not the first",
     .script = "a write 0..14; b nak 10; a write 10..14; b nak 12; a write 12..14; "
               "b ack 14",
     .want = "A: again=8 repeats=8 rounds=2 by_nak=2 undelivered=2",
     .events = "loss A psn=10 rel=11; loss A psn=12 rel=19"},
    {.name = "NAK: a copy lost again before this point",
     .script = "a write 0..9; b ack 9; a write 10 drop; a write 11..14; b nak 10;"
               "a write 10..11; a write 12 drop; a write 13..14; b nak 12; "
               "a write 12..14; b ack 14",
     .want = "A: gaps=1 missing=1 again=7 repeats=6 rounds=2 by_nak=2 lost_before=2"},
    {.name = "NAK: the same copy lost twice before this point",
     .script = "a write 0..9; b ack 9; a write 10 drop; a write 11..12; b nak 10; "
               "a write 10 drop;"
               "a write 11..12; b nak 10; a write 10..12; b ack 12",
     .want = "A: gaps=1 missing=1 again=5 repeats=4 rounds=2 by_nak=2 lost_before=2"},
    {.name = "NAK: the whole answer is lost, a timeout repairs it",
     .script = "a write 0..9; b ack 9; a write 10 drop; a write 11; b nak 10; "
               "a write 10..11 drop;"
               "+100000; a write 10..11; b ack 11",
     .want = "A: gaps=1 missing=1 again=2 repeats=1 rounds=1 lost_before=* by_nak=* "
               "by_timeout=*"},
    {.name = "NAK: the same copy lost twice behind this point",
     .script = "a write 0..14; b nak 10; a write 10..14; b nak 10; a write 10..14; "
               "b ack 14",
     .want = "A: again=10 repeats=10 rounds=2 by_nak=2 undelivered=2"},
    {.name = "NAK: captured a little before what it speaks of",
     .script = "a write 0..4; b ack 4; b nak 7; a write 5..8; a write 7..8; b ack 8",
     .want = "A: again=2 repeats=2 rounds=1 by_nak=1 undelivered=*"},
    {.name = "NAK: two holes before this point",
     .script = "a write 0..9; b ack 9; a write 10 drop; a write 11..12; "
               "a write 13 drop; a write 14;"
               "b nak 10; a write 10..14; b ack 14",
     .want = "A: gaps=2 missing=2 again=5 repeats=3 rounds=1 by_nak=1 lost_before=2",
     .events = "loss A psn=10 evidence=asked_for; loss A psn=13 evidence=resent_only"},
    {.name = "NAK: network duplicates in the gap and in the round",
     .script = "a write 0..9; b ack 9; a write 10 drop; a write 11; a write 11 copy; "
               "a write 12; b nak 10;"
               "a write 10; a write 10 copy; a write 11..12; b ack 12",
     .want = "A: gaps=1 missing=1 duplicates=2 again=3 repeats=4 rounds=1 by_nak=1 "
               "lost_before=1"},
    {.name = "NAK: the late original of a discarded packet, after its copy",
     .script = "a write 0..9; b ack 9; a write 10..11 drop; a write 12; b nak 10; "
               "a write 10..12;"
               "a write 11 copy=1; b ack 12",
     .want = "A: gaps=1 missing=2 reordered=1 again=3 repeats=2 rounds=1 by_nak=1 "
               "lost_before=1 spurious=*"},
    {.name = "NAK: what was discarded here is not lost",
     .script = "a write 0..9; b ack 9; a write 10 drop; a write 11..29; b nak 10; "
               "a write 10..29;"
               "b ack 29",
     .want = "A: gaps=1 missing=1 again=20 repeats=19 rounds=1 by_nak=1 lost_before=1"},
    {.name = "NAK: sent twice by the responder, one consequence",
     .script = "a write 0..14; b nak 10; b nak 10; a write 10..14; b ack 14",
     .want = "A: again=5 repeats=5 rounds=1 by_nak=1 undelivered=1 naks=2"},
    {.name = "NAK: delivered twice by the network counts once",
     .script = "b ack 0; b ack 1; a write 0..14; b ack 2; b ack 3; b nak 10; "
               "b nak 10 copy;"
               "a write 10..14; b ack 14",
     .want = "A: again=5 repeats=5 rounds=1 by_nak=1 undelivered=1 naks=1 B: "
               "r.duplicates=1"},
    {.name = "NAK: an old one, everything is acknowledged",
     .script = "a write 0..9; b ack 9; b nak 5; a write 10..14; b ack 14",
     .want = "A: naks=1"},
    {.name = "NAK: its requester never answers",
     .script = "a write 0..9; b nak 5", .want = "A: naks=1 undelivered=1"},
    {.name = "NAK: for a PSN behind everything seen: its copy cannot be told from the first",
     .script = "a write 0..9; b ack 9; a write 10..11 drop; b nak 10; a write 10..11; "
               "b ack 11",
     .want = "A: unique=12 naks=1"},
    {.name = "NAK: it crosses packets on their way",
     .script = "a write 0..9; b ack 9; a write 10 drop; a write 11; b nak 10; "
               "a write 12..13;"
               "a write 10..13; b ack 13",
     .want = "A: gaps=1 missing=1 again=4 repeats=3 rounds=1 by_nak=1 lost_before=1"},
    {.name = "NAK: its round comes long after, still its round",
     .script = "a write 0..14; b nak 10; +30000; a write 10..14; b ack 14",
     .want = "A: again=5 repeats=5 rounds=1 by_nak=1 undelivered=1"},
    {.name = "NAK: unpaired, it is nobody's",
     .script = "a write 0..14; b nak 500; a write 10..14",
     .pairs = SCENARIO_PAIRS_UNKNOWN,
     .want = "A: again=5 repeats=5 rounds=1 by_unknown=1 unknown=1 naks=0 B: "
               "naks_sent=1"
             " T: unattributed_naks=1",
     .events = "loss A psn=10 detail=verdict_unknown evidence=no_acknowledgements"},
    {.name = "NAK: the ICRC was cut, weak identities will do",
     .script = "all weak; a write 0..9; b ack 9; a write 10 drop; a write 11..12; "
               "b nak 10;"
               "a write 10..12; b ack 12",
     .want = "A: gaps=1 missing=1 again=3 repeats=2 rounds=1 by_nak=1 lost_before=1"},
    {.name = "NAK: by XRC",
     .script = "a xrc.send 0..14; b xrc.nak 10; a xrc.send 10..14; b xrc.ack 14",
     .want = "A: again=5 repeats=5 rounds=1 by_nak=1 undelivered=1"},
    {.name = "NAK: everything before it arrived, seen here or not",
     .script = "a write 0..9; a write 10 drop; a write 11..14; b nak 13; a write 13..14",
     .want = "A: gaps=1 missing=1 again=2 repeats=2 rounds=1 by_nak=1 undelivered=1 "
               "not_captured=1",
     .events = "loss A psn=10 detail=not_captured evidence=acknowledged"},
    {.name = "NAK: for a gap that was seen, and the late original before it: nothing lost",
     .script = "a write 0..9; b ack 9; a write 10 drop; a write 11..12; a write 10 copy; "
               "b nak 10; a write 10..12; b ack 12",
     .want = "A: gaps=1 missing=1 reordered=1 again=3 repeats=3 rounds=1 by_nak=1",
     .events = "nak A psn=10 rel=12; round A psn=10; no loss"},
    {.name = "NAK: sooner than any answer it speaks of the copy before",
     .script = "a write 0..4; +50; b ack 4; a write 5..9; +50; b nak 7; a write 7..9; "
               "b nak 7; +50; b ack 9",
     .want = "A: again=3 repeats=3 rounds=1 by_nak=1 undelivered=1 naks=2"},
    {.name = "NAK: captured before what shows the gap, it asks for it all the same",
     .script = "a write 0..9; b ack 9; a write 10 drop; b nak 10; a write 11..12; "
               "a write 10..12; b ack 12",
     .want = "A: gaps=1 missing=1 again=3 repeats=2 rounds=1 by_nak=1 lost_before=1",
     .events = "gap A psn=10; loss A psn=10 detail=lost_before evidence=asked_for"},
    {.name = "a reserved syndrome says nothing",
     .script = "a write 0..9; b reserved 5; a write 10; b ack 10", .want = "A: naks=0"},
};

static const scenario selective[] = {
    {.name = "selective repeat: only what is missing is sent again, then it is "
               "acknowledged",
     .script = "a write 0..9; b ack 9; a write 10 drop; a write 11..14; b nak 10; "
               "a write 10; b ack 14;"
               "a write 15..19; b ack 19",
     .want = "A: gaps=1 missing=1 again=1 rounds=1 by_nak=1 lost_before=1 "
               "recovery=selective"},
    {.name = "selective repeat: new data before the ACK",
     .script = "a write 0..9; b ack 9; a write 10 drop; a write 11..14; b nak 10; "
               "a write 10;"
               "a write 15..16; b ack 16; a write 17; b ack 17",
     .want = "A: gaps=1 missing=1 again=1 rounds=1 by_nak=1 lost_before=1 "
               "recovery=selective"},
    {.name = "selective repeat: two holes in one go",
     .script = "a write 0..9; b ack 9; a write 10 drop; a write 11; a write 12 drop; "
               "a write 13..14;"
               "b nak 10; a write 10; a write 12; b ack 14; a write 15; b ack 15",
     .want = "A: gaps=2 missing=2 again=2 rounds=1 by_nak=1 lost_before=2 "
               "recovery=selective"},
    {.name = "selective repeat: a hole behind this point",
     .script = "a write 0..14; b nak 10; a write 10; b ack 14; a write 15..19; "
               "b ack 19",
     .want = "A: again=1 repeats=1 rounds=1 by_nak=1 undelivered=1 recovery=selective"},
    {.name = "selective repeat, constant identification: it was the answer, for no "
               "other came",
     .script = "a write 0..9; b ack 9; a write 10 drop; a write 11..14; b nak 10; "
               "a write 10; b ack 14;"
               "a write 15..19; b ack 19",
     .ident = SCENARIO_IDENT_CONSTANT,
     .want = "A: gaps=1 missing=1 again=1 rounds=1 by_nak=1 lost_before=1",
     .events = "loss A psn=10 detail=lost_before evidence=asked_for"},
    {.name = "selective repeat, constant identification: more answers than can be waited for",
     .script = "a write 0..9; b ack 9; "
               "a write 10 drop; a write 11..19; b nak 10; a write 10; "
               "a write 20 drop; a write 21..29; b nak 20; a write 20; "
               "a write 30 drop; a write 31..39; b nak 30; a write 30; "
               "a write 40 drop; a write 41..49; b nak 40; a write 40; "
               "a write 50 drop; a write 51..59; b nak 50; a write 50; "
               "a write 60; b ack 60",
     .ident = SCENARIO_IDENT_CONSTANT,
     .want = "A: gaps=5 missing=5 again=5 rounds=5 by_nak=5 lost_before=5",
     .events = "loss A psn=10; loss A psn=20; loss A psn=50"},
    {.name = "selective repeat, IPv6: a hole behind this point",
     .script = "a write 0..14; b nak 10; a write 10; b ack 14; a write 15..19; "
               "b ack 19",
     .ident = SCENARIO_IDENT_IPV6,
     .want = "A: again=1 repeats=1 rounds=1 by_nak=1 undelivered=1"},
    {.name = "selective repeat: holes in a row behind this point, asked for one by one, and "
               "nothing else to send",
     .script = "a write 0..14; +20; b nak 10; a write 10; +20; b nak 11; a write 11; +20; "
               "b nak 12; a write 12; +20; b ack 14",
     .want = "A: again=3 repeats=3 rounds=3 by_nak=3 undelivered=3 recovery=selective"},
    {.name = "selective repeat: holes in a row behind this point, new data between",
     .script = "a write 0..14; +20; b nak 10; a write 10; a write 15..16; +20; b nak 11; "
               "a write 11; a write 17..18; +20; b nak 12; a write 12; +20; b ack 18",
     .want = "A: again=3 repeats=3 rounds=3 by_nak=3 undelivered=3 recovery=selective"},
    {.name = "a round goes on with what a NAK asks for that is the first to acknowledge what "
               "is between: that NAK's own round",
     .script = "a write 0..14; b nak 5; a write 5..6; b nak 9; a write 9; +20; b ack 14",
     .want = "A: again=3 repeats=3 rounds=2 by_nak=2 undelivered=1 recovery=*"},
    {.name = "selective repeat: several NAKs on their way at once, each has its round",
     .script = "a write 0..19; b nak 5; b nak 9; b nak 13; +50; a write 5,9,13; +20; "
               "b ack 19",
     .want = "A: again=3 repeats=3 rounds=3 by_nak=3 undelivered=* recovery=selective",
     .events = "round A psn=5 detail=nak_sequence; round A psn=9 detail=nak_sequence; "
               "round A psn=13 detail=nak_sequence"},
    {.name = "selective repeat, once learned: what came late here as well was asked for since",
     .script = LEARNED "a write 15; a write 16 drop; a write 17; a write 18 drop; a write 19; "
               "+3; a write 16,18 copy; a write 20; +20; b nak 16; b nak 18; a write 16,18; "
               "+20; b ack 20",
     .want = "A: gaps=2 missing=2 reordered=2 again=3 repeats=3 rounds=3 by_nak=3 "
               "undelivered=1 spurious=* recovery=selective"},
    {.name = "selective repeat, IPv6: an answer that comes sooner than others did",
     .script = "a write 0..14; b nak 10; +20; a write 10; +20; b ack 14; a write 15..24; "
               "b nak 20; +20; a write 20; +20; b ack 24; a write 25..34; b nak 30; "
               "a write 30; +20; b ack 34; a write 35; b ack 35",
     .ident = SCENARIO_IDENT_IPV6,
     .want = "A: again=3 repeats=3 rounds=3 by_nak=3 undelivered=3 recovery=*"},
    {.name = "the first copy of a round may have been overtaken as another packet was: none was "
               "missed for sure",
     .script = "a write 0..9; b nak 2; a write 2..5; a write 6 drop; a write 7..9; b nak 4; "
               "a write 4..9; +20; b ack 9; a write 10 drop; a write 11; a write 10 copy; "
               "a write 12..19; b nak 15; a write 15 drop; a write 16..19; +20; b ack 19",
     .want = "A: gaps=1 missing=1 reordered=1 again=* repeats=* rounds=3 by_nak=3 "
               "undelivered=* lost_before=1 unknown=0 recovery=*"},
    {.name = "no packet comes late: the first copy of a round was missed, and so may others be",
     .script = "a write 0..9; b nak 2; a write 2..5; a write 6 drop; a write 7..9; b nak 4; "
               "a write 4..9; +20; b ack 9; a write 10..19; b nak 15; a write 15 drop; "
               "a write 16..19; +20; b ack 19",
     .want = "A: again=* repeats=* rounds=3 by_nak=3 undelivered=* lost_before=0 unknown=1 "
               "recovery=*"},
    {.name = "go-back-N: what is sent again behind a gap may be lost, and its first copy was "
               "discarded",
     .script = "a write 0; b ack 0; a write 1 drop; a write 2..4; b nak 1; a write 1; "
               "a write 2 drop; a write 3..4; b nak 2; a write 2..4; b ack 4",
     .want = "A: gaps=1 missing=1 again=* repeats=* rounds=2 by_nak=2 lost_before=2 "
               "undelivered=0 recovery=gbn"},
    {.name = "go-back-N, of which the point missed what shows it",
     .script = "a write 0..14; b nak 10; a write 10; b ack 14; a write 15 drop; "
               "a write 16..18; b nak 15; a write 15; a write 16 drop; a write 17..18; "
               "b nak 16; a write 16..18; b ack 18",
     .want = "A: gaps=* missing=* again=* repeats=* rounds=3 by_nak=3 lost_before=* "
               "undelivered=1 recovery=*"},
    {.name = "go-back-N: the late original came, and the next hole is asked for at once",
     .script = "a write 0..4; +20; b ack 4; a write 5..14; +20; b nak 10; a write 10; "
               "b nak 11; a write 11..14; +20; b ack 14",
     .want = "A: again=5 repeats=5 rounds=* by_nak=* undelivered=* recovery=gbn"},
    {.name = "the rest of a message was lost: what had come is answered at once, sooner than "
               "an ACK that waited for more",
     .script = "a write 0..9; +20; b ack 9; a write.first 10; a write.middle 11; "
               "a write.last 12 drop; +100000; a write.first 10; +12; b ack 11; "
               "a write.middle 11; a write.last 12; +20; b ack 12",
     .want = "A: again=2 repeats=2 rounds=1 by_timeout=1 spurious=0"},
    {.name = "selective repeat, once learned: nothing is discarded, each NAK is a loss",
     .script = "a write 0..14; b nak 10; a write 10; b ack 14; a write 15..20; "
               "b ack 20;"
               "a write 21..25; b nak 22; a write 22; b nak 24; a write 24; b ack 25; "
               "a write 26; b ack 26",
     .want = "A: again=3 repeats=3 rounds=3 by_nak=3 undelivered=3 recovery=selective"},
    {.name = "selective repeat, once learned: what a round leaves out was not lost",
     .script = "a write 0..14; b nak 10; a write 10; b ack 14; a write 15..19; b ack 19; "
               "a write 20..25; b nak 22; a write 22; a write 24; b nak 23; a write 23; "
               "b ack 25; a write 26; b ack 26",
     .ident = SCENARIO_IDENT_RANDOM,
     .want = "A: again=4 repeats=4 rounds=3 by_nak=3 undelivered=* lost_before=0 "
               "recovery=selective"},
    {.name = "selective repeat, once learned: a timer that goes off for each of two PSNs "
               "begins two rounds",
     .script = LEARNED "a write.first 15; a write.middle 16; a write.last 17; +100000; "
               "a write.first 15; +20; b ack 15; +100000; a write.middle 16; +20; b ack 17",
     .want = "A: again=3 repeats=3 rounds=3 by_nak=1 by_timeout=2 undelivered=1 "
               "data_or_ack_lost=1 recovery=selective",
     .events = "round A psn=15 detail=timeout; round A psn=16 detail=timeout"},
    {.name = "selective repeat, once learned: a pause in a timeout's round is none",
     .script = LEARNED "a write.first 15; a write.middle 16; a write.last 17; +100000; "
               "a write.first 15; +20; b ack 15; +20000; a write.middle 16; +20; b ack 17",
     .want = "A: again=3 repeats=3 rounds=2 by_nak=1 by_timeout=1 undelivered=1 "
               "data_or_ack_lost=1 recovery=selective"},
    {.name = "selective repeat, once learned: the timer goes off behind a round that a NAK "
               "had asked for",
     .script = LEARNED "a write 15..19; b nak 16; a write 16; +20; b ack 16; +100000; "
               "a write 17; +20; b ack 19",
     .want = "A: again=3 repeats=3 rounds=3 by_nak=2 by_timeout=1 undelivered=2 "
               "data_or_ack_lost=1 recovery=selective"},
    {.name = "selective repeat, once learned: in doubt is what was repeated, though no ACK "
               "was due of it",
     .script = LEARNED "a write.first 15; a write.middle 16; a write.last 17; +100000; "
               "a write.first 15; +20; b ack 15; b ack 17",
     .want = "A: again=2 repeats=2 rounds=2 by_nak=1 by_timeout=1 undelivered=1 "
               "data_or_ack_lost=1 recovery=selective",
     .events = "loss A psn=15 detail=data_or_ack_lost"},
    {.name = "selective repeat, once learned: until the timer goes off for the next one",
     .script = LEARNED "a write.first 15; a write.last 16; +100000; "
               "a write.first 15; +20; b ack 15; +100000; a write.last 16; +20; b ack 16",
     .want = "A: again=3 repeats=3 rounds=3 by_nak=1 by_timeout=2 undelivered=1 "
               "data_or_ack_lost=1 recovery=selective",
     .events = "loss A psn=15 detail=data_or_ack_lost; loss_withdrawn A psn=15; "
               "loss A psn=16 detail=data_or_ack_lost"},
    {.name = "selective repeat, once learned: not where what wants an ACK never came here",
     .script = LEARNED "a write.first 15; a write.last 16 drop; +100000; "
               "a write.first 15; +20; b ack 15; +100000; a write.last 16; +20; b ack 16",
     .want = "A: again=2 repeats=2 rounds=2 by_nak=1 by_timeout=1 undelivered=1 "
               "recovery=selective"},
    {.name = "selective repeat, once learned: a NAK that comes sooner than any answer has "
               "speaks of the copy before",
     .script = LEARNED "a write 15..19; +20; b nak 16; a write 16; b nak 16; +20; b ack 19",
     .want = "A: again=2 repeats=2 rounds=2 by_nak=2 undelivered=2 recovery=selective"},
    {.name = "go back N: everything from the PSN asked for is sent again",
     .script = "a write 0..14; b nak 10; a write 10..14; b ack 14", .want =
     "A: again=5 repeats=5 rounds=1 by_nak=1 undelivered=1 recovery=gbn"},
    {.name = "selective: between two numbers there was no room for the rest of the run",
     .script = "a write 0..9; b ack 9; a write 10..19; b nak 10; a write 10; "
               "a write 20..24; b ack 24",
     .want = "A: again=1 repeats=1 rounds=1 by_nak=1 undelivered=1 naks=1 "
               "recovery=selective"},
    {.name = "go-back-N: there was room, and the rest of the run was lost",
     .script = "a write 0..9; b ack 9; a write 10..14; b nak 10; a write 10; "
               "a write 11..14 drop; a write 15; b nak 11; a write 11..15; b ack 15",
     .want = "A: again=6 repeats=6 rounds=2 by_nak=2 undelivered=1 lost_before=4 "
               "naks=2 recovery=gbn gaps=* missing=*"},
    {.name = "selective: what there was no room for was not lost, and is judged itself",
     .script = "a write 0..9; b ack 9; a write 10..19; b nak 10; a write 10; a write 15; "
               "b nak 12; a write 12..19; b ack 19",
     .want = "A: again=10 repeats=10 rounds=2 by_nak=2 undelivered=2 naks=2",
     .events = "loss A psn=10 rel=12; loss A psn=12 rel=14"},
    {.name = "recovery cannot be told without a NAK",
     .script = "a write 0..4; b ack 4; a write 5..9; +100000; a write 5..9; b ack 9",
     .want = "A: again=5 repeats=5 rounds=1 by_timeout=1 data_or_ack_lost=1 "
               "recovery=unknown"},
    {.name = "recovery cannot be told from a round of the last packet alone",
     .script = "a write 0..14; b nak 14; a write 14; b ack 14",
     .want = "A: again=1 repeats=1 rounds=1 by_nak=1 undelivered=1 recovery=unknown"},
};

static const scenario acks[] = {
    {.name = "ack_lost: a covering ACK was seen long before",
     .script = "a write 0..9; b ack 9; +100000; a write 5..9; b ack 9",
     .want = "A: again=5 repeats=5 rounds=1 by_timeout=1 ack_lost=5",
     .events = "round A psn=5 detail=timeout; "
               "loss A psn=5 detail=ack_lost evidence=ack_seen"},
    {.name = "ack_lost: not when the ACK may still have been on its way",
     .script = "a write 0..4; b ack 4; a write 5..9; +100000; b ack 9; a write 5..9; "
               "b ack 9",
     .want = "A: again=5 repeats=5 rounds=1 by_timeout=1"},
    {.name = "ack_lost: an older ACK behind the newer one takes nothing back",
     .script = "a write 0..9; b ack 9; b ack 5; +100000; a write 7..9; b ack 9",
     .want = "A: again=3 repeats=3 rounds=1 by_timeout=1 ack_lost=3"},
    {.name = "ack_lost: not where none was due, for the last packet alone asks for one",
     .script = "all len=1024; a write 0..4; b ack 4; a write.first 5; "
               "a write.middle 6..8; a write.last 9; +100000; a write.first 5; b ack 8; "
               "a write.middle 6..8; a write.last 9; b ack 9",
     .want = "A: again=5 repeats=5 rounds=1 by_timeout=1 data_or_ack_lost=1",
     .events = "loss A psn=9 detail=data_or_ack_lost; no loss_withdrawn"},
    {.name = "data_or_ack_lost: no ACK was seen",
     .script = "a write 0..4; b ack 4; a write 5..9; +100000; a write 5..9; b ack 9",
     .want = "A: again=5 repeats=5 rounds=1 by_timeout=1 data_or_ack_lost=1",
     .events = "loss A psn=5 detail=data_or_ack_lost evidence=no_ack_seen rel=7"},
    {.name = "data_or_ack_lost: about the first that was to be answered",
     .script = "a write 0..4; b ack 4; a write.first 5 len=1024; "
               "a write.middle 6 len=1024; a write.last 7; a write 8; +100000;"
               "a write.first 5 len=1024; a write.middle 6 len=1024; a write.last 7; "
               "a write 8; b ack 8",
     .want = "A: again=4 repeats=4 rounds=1 by_timeout=1 data_or_ack_lost=1",
     .events = "loss A psn=7 detail=data_or_ack_lost"},
    {.name = "data_or_ack_lost: about the PSN of a NAK that the round before answered",
     .script = "a write 0..4; b ack 4; a write 5 drop; a write 6..8; b nak 5; "
               "a write.middle 5 len=1024; a write 6..8; +100000;"
               "a write.middle 5 len=1024; a write 6..8; b ack 8",
     .want = "A: gaps=1 missing=1 again=8 repeats=7 rounds=2 by_nak=1 by_timeout=1 "
               "lost_before=1 data_or_ack_lost=1 naks=1",
     .events = "loss A psn=5 detail=data_or_ack_lost"},
    {.name = "data_or_ack_lost becomes ack_lost: the ACK covers what was not yet sent "
               "again",
     .script = "a write 0..4; b ack 4; a write 5..9; +100000; a write 5..6; b ack 9",
     .want = "A: again=2 repeats=2 rounds=1 by_timeout=1 ack_lost=2",
     .events = "loss A psn=5 detail=data_or_ack_lost; loss_withdrawn A psn=5"
               " detail=data_or_ack_lost; loss A psn=5 detail=ack_lost "
               "evidence=ack_jumped"},
    {.name = "neither was lost: a second ACK jumps as well, so that the first copies are "
             "arriving",
     .script = "a write 0..4; b ack 4; a write 5..9; +100000; a write 5; b ack 7; b ack 9",
     .want = "A: again=1 repeats=1 rounds=1 by_timeout=1 spurious=1",
     .events = "loss A psn=5 detail=ack_lost evidence=ack_jumped; loss_withdrawn A psn=5 "
               "detail=ack_lost; spurious_round A psn=5"},
    {.name = "nor where the ACK comes sooner than any answer to what was sent again",
     .script = "a write 0; +30; b ack 0; a write 1..5; +100000; a write 1; b ack 5",
     .want = "A: again=1 repeats=1 rounds=1 by_timeout=1 spurious=1",
     .events = "loss A psn=1 detail=data_or_ack_lost; spurious_round A psn=1; "
               "loss_withdrawn A psn=1 detail=data_or_ack_lost"},
    {.name = "data_or_ack_lost stays: the ACK covers just what was sent again",
     .script = "a write 0..4; b ack 4; a write 5..9; +100000; a write 5..6; b ack 6; "
               "a write 7..9;"
               "b ack 9",
     .want = "A: again=5 repeats=5 rounds=1 by_timeout=1 data_or_ack_lost=1"},
    {.name = "data_or_ack_lost stays: one packet, nothing to jump over",
     .script = "a write 0..4; b ack 4; a write 5; +100000; a write 5; b ack 5",
     .want = "A: again=1 repeats=1 rounds=1 by_timeout=1 data_or_ack_lost=1"},
    {.name = "neither was lost: one packet, and both copies are answered",
     .script = "a write 0..4; b ack 4; a write 5; +100000; a write 5; b ack 5; b ack 5",
     .want = "A: again=1 repeats=1 rounds=1 by_timeout=1 spurious=1",
     .events = "loss A psn=5 detail=data_or_ack_lost; "
               "loss_withdrawn A psn=5 detail=data_or_ack_lost; spurious_round A psn=5"},
    {.name = "data_or_ack_lost stays: some responders answer each packet that came before",
     .script = "all len=1024; a write.first 0; a write.last 1; b ack 1; a write.first 2; "
               "a write.last 3; +100000; a write.first 2; a write.last 3; b ack 3; "
               "b ack 3; a write 4; b ack 4",
     .want = "A: again=2 repeats=2 rounds=1 by_timeout=1 data_or_ack_lost=1",
     .events = "loss A psn=3 detail=data_or_ack_lost; no loss_withdrawn"},
    {.name = "data_or_ack_lost stays: two ACKs, one of which answers what was not sent again",
     .script = "a write 0..4; b ack 4; a write 5..9; +100000; a write 5; b ack 5; b ack 8; "
               "a write 10; b ack 10",
     .want = "A: again=1 repeats=1 rounds=1 by_timeout=1 data_or_ack_lost=1",
     .events = "loss A psn=5 detail=data_or_ack_lost; no loss_withdrawn"},
    {.name = "data_or_ack_lost stays: of eight packets one asked for an ACK, and two came",
     .script = "all len=1024; a write 1; b ack 1; a write.first 2; a write.middle 3..8; "
               "a write.last 9; +100000; a write.first 2; a write.middle 3..8; "
               "a write.last 9; b ack 9; +100000; b ack 9; a write 10; b ack 10",
     .want = "A: again=8 repeats=8 rounds=1 by_timeout=1 data_or_ack_lost=1"},
    {.name = "data_or_ack_lost stays: this point missed the first of two copies",
     .script = "a write 0..4; b ack 4; a write 5; a write 6; +100000; a write 5 drop; "
               "a write 6; b ack 6; b ack 6; a write 7; b ack 7",
     .events = "loss A psn=6 detail=data_or_ack_lost; no loss_withdrawn"},
    {.name = "data_or_ack_lost stays: the network doubled the copy",
     .script = "a write 0..4; b ack 4; a write 5; +100000; a write 5; a write 5 copy; "
               "b ack 5; b ack 5; a write 6; b ack 6",
     .events = "loss A psn=5 detail=data_or_ack_lost; no loss_withdrawn"},
    {.name = "nothing was lost: three timeouts, and all four transmissions are answered",
     .script = "a write 0..4; b ack 4; a write 5; +100000; a write 5; +100000; a write 5; "
               "+100000; a write 5; b ack 5; b ack 5; b ack 5; b ack 5; a write 6; b ack 6",
     .want = "A: again=3 repeats=3 rounds=3 by_timeout=3 spurious=3",
     .events = "spurious_round A psn=5 rel=10; spurious_round A psn=5 rel=9; "
               "spurious_round A psn=5 rel=8"},
    {.name = "nothing was lost: two timeouts of two packets, and all six are answered",
     .script = "a write 0..4; b ack 4; a write 5..6; +100000; a write 5..6; +100000; "
               "a write 5..6; b ack 5..6; b ack 6; b ack 6; b ack 6; b ack 6; a write 7; "
               "b ack 7",
     .want = "A: again=4 repeats=4 rounds=2 by_timeout=2 spurious=2"},
    {.name = "data_or_ack_lost stays: of six two may be answers to the last copies, and two "
             "to those before",
     .script = "a write 0..4; b ack 4; a write 5..6; +100000; a write 5..6; +100000; "
               "a write 5..6; b ack 5..6; b ack 6; b ack 6; a write 7; b ack 7",
     .want = "A: again=4 repeats=4 rounds=2 by_timeout=2 spurious=1 data_or_ack_lost=1",
     .events = "spurious_round A psn=5 rel=11"},
    {.name = "data_or_ack_lost stays: the last of two timeouts has not repeated all yet",
     .script = "a write 0..4; b ack 4; a write 5..6; +100000; a write 5..6; +100000; "
               "a write 5; b ack 5; b ack 5; a write 6; a write 7; b ack 7",
     .want = "A: again=4 repeats=4 rounds=2 by_timeout=2 data_or_ack_lost=2"},
    {.name = "nothing was lost: three timeouts, and the first copies arrive at last",
     .script = "a write 0..4; b ack 4; a write 5..9; +100000; a write 5..9; +100000; "
               "a write 5..9; +100000; a write 5; b ack 7; b ack 9; a write 10; b ack 10",
     .want = "A: again=11 repeats=11 rounds=3 by_timeout=3 spurious=3"},
    {.name = "the ACK was lost, and of the copies of the first timeout one cannot tell",
     .script = "a write 0..4; b ack 4; a write 5..9; +100000; a write 5..9; +100000; "
               "a write 5..6; b ack 9; a write 10; b ack 10",
     .want = "A: again=7 repeats=7 rounds=2 by_timeout=2 ack_lost=5 data_or_ack_lost=1"},
    {.name = "one was lost: three timeouts, and three answers",
     .script = "a write 0..4; b ack 4; a write 5; +100000; a write 5; +100000; a write 5; "
               "+100000; a write 5; b ack 5; b ack 5; b ack 5; a write 6; b ack 6",
     .want = "A: again=3 repeats=3 rounds=3 by_timeout=3 spurious=2 data_or_ack_lost=1"},
    {.name = "timeout: what lay beyond a gap was discarded",
     .script = "a write 0..9; b ack 9; a write 10 drop; a write 11; +100000; "
               "a write 10..11; b ack 11",
     .want = "A: gaps=1 missing=1 again=2 repeats=1 rounds=1 by_timeout=1 "
               "lost_before=1",
     .events = "loss A psn=10 detail=lost_before evidence=resent_only"},
    {.name = "timeout: a tail that was never seen cannot be told",
     .script = "a write 0..9; b ack 9; a write 10..11 drop; +100000; a write 10..11; "
               "b ack 11",
     .want = "A: unique=12"},
    {.name = "timeout: too soon for one",
     .script = "a write 0..4; b ack 4; a write 5..9; +10; a write 5..9; b ack 9",
     .want = "A: again=5 repeats=5 rounds=1 by_unknown=1 undelivered=1"},
    {.name = "timeout: not within four times of what ACKs differ by",
     .script = "a write 0; +500; b ack 0; a write 1; +1000; a write 1; b ack 1",
     .want = "A: again=1 repeats=1 rounds=1 by_unknown=1 undelivered=1"},
    {.name = "timeout: beyond that",
     .script = "a write 0; +500; b ack 0; a write 1; +1600; a write 1; b ack 1",
     .want = "A: again=1 repeats=1 rounds=1 by_timeout=1 data_or_ack_lost=1"},
    {.name = "timeout: what an ACK of either copy takes tells no round trip, and a round "
               "is a timeout's once the other direction is known",
     .script = "a write 0..4; +100000; a write 0..4; b ack 4; a write 5..9; +500; "
               "a write 5..9; b ack 9",
     .want = "A: again=10 repeats=10 rounds=2 by_timeout=1 by_unknown=1 undelivered=1 "
               "data_or_ack_lost=1",
     .events = "round A psn=0 detail=cause_unknown; loss A psn=0 detail=verdict_unknown; "
               "loss_withdrawn A psn=0; loss A psn=0 rel=1; round A psn=5 detail=cause_unknown"},
    {.name = "timeout: what is missing and not acknowledged it repeats as well, unseen",
     .script = "a write 0..9; b ack 9; a write 10 drop; a write 11..12; +100000; "
               "a write 10 drop; a write 11..12; +200000; a write 10..12; b ack 12",
     .want = "A: gaps=1 missing=1 again=5 repeats=4 rounds=2 by_timeout=2 lost_before=2",
     .events = "loss A psn=10 n=2 detail=lost_before"},
    {.name = "timeout: one direction only, nobody can be heard",
     .script = "a write 0..9; +100000; a write 5..9",
     .want = "A: again=5 repeats=5 rounds=1 by_unknown=1 unknown=1"},
    {.name = "timeout: only what no ACK covers",
     .script = "a write 0..4; b ack 4; a write 5..9; b ack 6; +100000; a write 7..9; "
               "b ack 9",
     .want = "A: again=3 repeats=3 rounds=1 by_timeout=1 data_or_ack_lost=1"},
    {.name = "timeout: the copies get lost again before this point",
     .script = "a write 0..4; b ack 4; a write 5..7; +100000; a write 5; "
               "a write 6 drop; a write 7; b nak 6;"
               "a write 6..7; b ack 7",
     .want = "A: again=4 repeats=4 rounds=2 by_timeout=1 by_nak=1 data_or_ack_lost=* "
               "lost_before=1"},
    {.name = "timeout: what it repeats is no longer remembered, and it is one round",
     .script = "a write 0..199; b ack 199; +100000; a write 0..199; b ack 199",
     .max_history_packets = 64,
     .want = "A: again=200 repeats=* rounds=1 by_timeout=* by_unknown=* ack_lost=* "
               "T: evicted_history=*"},
    {.name = "timeout: twice in a row",
     .script = "a write 0..4; b ack 4; a write 5; +100000; a write 5; +200000; "
               "a write 5; b ack 5",
     .want = "A: again=2 repeats=2 rounds=2 by_timeout=2 data_or_ack_lost=2"},
    {.name = "timeout: a request was posted just before the timer of others ran out",
     .script = "a write 0..4; b ack 4; a write 5; +100000; a write 6; a write 5..6; "
               "b ack 6",
     .want = "A: again=2 repeats=2 rounds=1 by_timeout=1 data_or_ack_lost=1",
     .events = "round A psn=5 detail=timeout; loss A psn=5 detail=data_or_ack_lost"},
    {.name = "timeout, IPv6: likewise",
     .script = "a write 0..4; b ack 4; a write 5; +100000; a write 6; a write 5..6; "
               "b ack 6; a write 7; b ack 7",
     .ident = SCENARIO_IDENT_IPV6,
     .want = "A: again=2 repeats=2 rounds=1 by_timeout=1 data_or_ack_lost=1"},
    {.name = "timeout: the ACK of the others, which was seen, did not get there",
     .script = "a write 0..4; b ack 4; a write 5; b ack 5; +100000; a write 6; "
               "a write 5..6; b ack 6",
     .want = "A: again=2 repeats=2 rounds=1 by_timeout=1 ack_lost=1"},
    {.name = "timeout: a NAK, which was seen, did not get there: four were answered at once",
     .script = FOUR_ANSWERED("") "a write 60..64; b nak 62; +300; a write 62..64; b ack 64",
     .want = "A: again=15 repeats=15 rounds=5 by_nak=4 by_timeout=1 undelivered=5"},
    {.name = "not where it may have been as slow as it can be",
     .script = FOUR_ANSWERED("+60; ") "a write 60..64; b nak 62; +200; a write 62..64; b ack 64",
     .want = "A: again=15 repeats=15 rounds=5 by_nak=5 undelivered=5"},
    {.name = "nor where it sent requests until it went back",
     .script = FOUR_ANSWERED("") "a write 60..64; b nak 62; +300; a write 65; "
               "a write 62..65; b ack 65",
     .want = "A: again=16 repeats=16 rounds=5 by_nak=5 undelivered=5"},
    {.name = "nor while it is not known how soon it answers",
     .script = "a write 0..4; b ack 4; a write 5..9; b nak 7; +300; a write 7..9; b ack 9",
     .want = "A: again=3 repeats=3 rounds=1 by_nak=1 undelivered=1"},
    {.name = "timeout: not soon after an ACK, which starts the timer anew",
     .script = "a write 0..4; b ack 4; a write 5..14; +100000; b ack 9; +50000; a write 15; "
               "a write 10..15; b ack 15",
     .want = "A: again=6 repeats=6 rounds=1 by_unknown=1 undelivered=1"},
    {.name = "timeout: but soon after one that did not get there",
     .script = "a write 0..4; b ack 4; a write 5; +100000; b ack 5; +50000; a write 6; "
               "a write 5..6; b ack 6",
     .want = "A: again=2 repeats=2 rounds=1 by_timeout=1 ack_lost=1"},
    {.name = "timeout: not of what is behind the oldest",
     .script = "a write 0..4; b ack 4; a write 5..6; +100000; a write 7; a write 6..7; "
               "b ack 7",
     .want = "A: again=2 repeats=2 rounds=1 by_unknown=1 undelivered=1"},
    {.name = "no timeout, IPv6: one packet alone is a copy that the network made",
     .script = "a write 0..4; b ack 4; a write 5; +100000; a write 6; a write 5 copy; "
               "a write 7; b ack 7",
     .ident = SCENARIO_IDENT_IPV6,
     .want = "A: duplicates=1 repeats=1"},
    {.name = "timeout: a NAK before it explains the round",
     .script = "a write 0..14; b nak 10; +31000; a write 10..14; b ack 14",
     .want = "A: again=5 repeats=5 rounds=1 by_nak=1 undelivered=1"},
    {.name = "timeout: the NAK before it was too long ago to have arrived",
     .script = "a write 0..14; b nak 10; +33000; a write 10..14; b ack 14",
     .want = "A: again=5 repeats=5 rounds=1 by_timeout=1 undelivered=1"},
    {.name = "timeout, IPv6: a run after a long silence",
     .script = "a write 0..4; b ack 4; a write 5..9; +100000; a write 5..9; b ack 9",
     .ident = SCENARIO_IDENT_IPV6,
     .want = "A: again=5 repeats=5 rounds=1 by_timeout=1 data_or_ack_lost=1"},
    {.name = "not_captured: never seen, never sent again, acknowledged",
     .script = "a write 0..9; a write 10 drop; a write 11..19; b ack 19; "
               "a write 20..29; b ack 29",
     .want = "A: gaps=1 missing=1 not_captured=1",
     .events = "loss A psn=10 detail=not_captured evidence=acknowledged"},
    {.name = "not_captured: the ACK was captured before the packets behind it",
     .script = "a write 0..9; b ack 12; a write 10; a write 11 drop; a write 12..13",
     .want = "A: gaps=1 missing=1 not_captured=1",
     .events = "loss A psn=11 detail=not_captured evidence=acknowledged"},
    {.name = "not_captured: not when it came late",
     .script = "a write 0..9; a write 10 drop; a write 11; b ack 11; a write 10 copy; "
               "a write 12; b ack 12",
     .want = "A: gaps=1 missing=1 reordered=1"},
    {.name = "not_captured: not when the ACK ends before it",
     .script = "a write 0..9; a write 10 drop; a write 11..19; b ack 9",
     .want = "A: gaps=1 missing=1 unknown=1"},
    {.name = "an ACK storm moves nothing", .ident = SCENARIO_IDENT_IPV6,
     .script = "a write 0..9; b ack 9; b ack 9; b ack 9; b ack 9; b ack 5; b ack 9; "
               "a write 10; b ack 10",
     .want = "A: unique=11 B: acks_sent=7"},
    {.name = "an ACK for a PSN not yet seen waits for it",
     .script = "a write 0..4; b ack 6; a write 5..9; b ack 9", .want = "A: unique=10"},
    {.name = "an ACK beyond an unanswered READ does not complete it",
     .script = "a read 0; a write 1; b resp 0 drop; b ack 1; +10; a read 0; "
               "a write 1; b resp 0; b ack 1",
     .want = "A: again=2 repeats=2 rounds=1 by_reissue=1 asked_bytes=64 B: "
               "r.lost_before=1"
             " r.again=* r.gaps=* r.missing=*"},
};

static const scenario rnr[] = {
    {.name = "RNR: what is sent again is answered by nothing: it waits for the first",
     .script = "a send 0..4; b ack 4; a send.first 5 len=1024; a send.middle 6 len=1024; "
               "a send.last 7; b rnr 5; +20; a send.first 5 len=1024; "
               "a send.middle 6 len=1024; a send.last 7; +200000; "
               "a send.first 5 len=1024; a send.middle 6 len=1024; a send.last 7; b ack 7",
     .want = "A: again=6 repeats=6 rounds=2 by_rnr=1 by_timeout=1 rnrs=1 waits_kept=1 "
             "data_or_ack_lost=1",
     .events = "loss A psn=5 detail=data_or_ack_lost; no loss A psn=7"},
    {.name = "RNR: the requester waits and sends again, nothing is lost",
     .script = "a send 0..4; b ack 4; a send 5..7; b rnr 5; +20; a send 5..7; b ack 7",
     .want = "A: again=3 repeats=3 rounds=1 by_rnr=1 rnrs=1 waits_kept=1",
     .events = "rnr_nak A frame=10 psn=5 us=10 rel=7; round A psn=5 detail=rnr rel=10;"
               "rnr_wait A psn=5 rel=10 us=21 n=1"},
    {.name = "what follows a refused request provokes the NAK behind it, not what comes later",
     .script = "a send 0..4; b ack 4; a send 5..7; b rnr 5; a send 8; b nak 5; +20; "
               "a send 5..8; b ack 8",
     .want = "A: again=4 repeats=4 rounds=1 by_rnr=1 naks=1 rnrs=1 waits_kept=1",
     .events = "rnr_nak A frame=10 psn=5 rel=7; nak A frame=12 psn=5 rel=8"},
    {.name = "RNR: it waits exactly as long as asked",
     .script = "a send 0..4; b ack 4; a send 5; b rnr 5; +9; a send 5; b ack 5",
     .want = "A: again=1 repeats=1 rounds=1 by_rnr=1 waits_kept=1"},
    {.name = "RNR: it waits a microsecond too short",
     .script = "a send 0..4; b ack 4; a send 5; b rnr 5; +8; a send 5; b ack 5",
     .want = "A: again=1 repeats=1 rounds=1 by_rnr=1 waits_broken=1",
     .events = "rnr_wait A n=0 us=9"},
    {.name = "RNR: it never comes back, that cannot be told",
     .script = "a send 0..4; b ack 4; a send 5; b rnr 5", .want = "A: rnrs=1"},
    {.name = "RNR: a timer of 491 ms",
     .script = "a send 0..4; b ack 4; a send 5; b rnr 5 timer=31; +500000; a send 5; "
               "b ack 5",
     .want = "A: again=1 repeats=1 rounds=1 by_rnr=1 waits_kept=1",
     .events = "rnr_nak A us=491520"},
    {.name = "RNR: timer code 0 is the longest, 655 ms",
     .script = "a send 0..4; b ack 4; a send 5; b rnr 5 timer=0; +500000; a send 5; "
               "b ack 5",
     .want = "A: again=1 repeats=1 rounds=1 by_rnr=1 waits_broken=1"},
    {.name = "RNR: the sequence NAK behind it is its consequence",
     .script = "a send 0..4; b ack 4; a send 5..7; b rnr 5; b nak 5; +20; "
               "a send 5..7; b ack 7",
     .want = "A: again=3 repeats=3 rounds=1 by_rnr=1 rnrs=1 naks=1 waits_kept=1"},
    {.name = "RNR: a sequence NAK after the copy was seen is a loss of its own",
     .script = "a send 0..4; b ack 4; a send 5..7; b rnr 5; +20; a send 5..7; "
               "b nak 5; a send 5..7; b ack 7",
     .want = "A: again=6 repeats=6 rounds=2 by_rnr=1 by_nak=1 undelivered=1 "
               "waits_kept=1"},
    {.name = "RNR: again and again",
     .script = "a send 0..4; b ack 4; a send 5..7; b rnr 5; +20; a send 5..7; "
               "b rnr 5; +20; a send 5..7;"
               "b ack 7",
     .want = "A: again=6 repeats=6 rounds=2 by_rnr=2 rnrs=2 waits_kept=2"},
    {.name = "RNR: the request had not been seen here",
     .script = "a send 0..4; b ack 4; a send 5 drop; a send 6; b rnr 5; +20; "
               "a send 5..6; b ack 6",
     .want = "A: gaps=1 missing=1 again=2 repeats=1 rounds=1 by_rnr=1 waits_kept=1"
             " not_captured=1"},
    {.name = "RNR: unpaired",
     .script = "a send 0..7; b rnr 500; +20; a send 5..7",
     .pairs = SCENARIO_PAIRS_UNKNOWN,
     .want = "A: again=3 repeats=3 rounds=1 by_unknown=1 unknown=1 B: rnrs_sent=1 T: "
               "unattributed_rnr=1"},
};

static const scenario fatal[] = {
    {.name = "remote access error, with the request that met it",
     .script = "a write 0..4; b access 3", .want = "A: accesses=1",
     .events = "nak A frame=6 psn=3 detail=2 rel=4; no loss; no round"},
    {.name = "invalid request", .script = "a send 0..4; b invalid 4",
     .want = "A: invalids=1",
     .events = "nak A psn=4 detail=1 rel=5; no loss"},
    {.name = "remote operational error", .script = "a send 0..4; b operational 0",
     .want = "A: operationals=1", .events = "nak A psn=0 detail=3 rel=1; no loss"},
    {.name = "remote access error, the request was not seen",
     .script = "a write 0..2; a write 3 drop; a write 4; b access 3",
     .want = "A: accesses=1 gaps=1 missing=1 unknown=* not_captured=*",
     .events = "nak A psn=3 detail=2 rel=0"},
    {.name = "remote access error by a READ",
     .script = "a write.first 0 len=1024; a write.last 1; b ack 1; a read 2 len=8192; "
               "a write 10; b access 2",
     .want = "A: accesses=1", .events = "nak A psn=2 rel=4"},
    {.name = "remote access error: what comes again behind it, nobody has asked for",
     .script = "a write 0..4; b access 3; a write 3..4",
     .want = "A: accesses=1 again=2 repeats=2 rounds=1 by_unknown=1"},
    {.name = "remote access error, unpaired",
     .script = "a write 0..4; b access 500", .pairs = SCENARIO_PAIRS_UNKNOWN,
     .want = "A: accesses=0 T: unattributed_naks=1", .events = "nak B psn=500"},
    {.name = "what a NAK asks for was lost, also where it never comes again",
     .script = "a write 0..3; a write 4 drop; a write 5..6; b nak 4",
     .want = "A: gaps=1 missing=1 naks=1 lost_before=1", .events = "loss A psn=4 n=1"},
    {.name = "a message that is refused is not complete, nor one that is left unanswered",
     .script = "a write 0; b access 0; a write 1", .want = "A: accesses=1 messages=0"},
    {.name = "a fatal NAK is followed by the QPN's next life",
     .script = "a write 0..4; b access 3; a write 0x200000..0x200004; b ack 0x200004",
     .want = "A: accesses=1 restarts=1"},
};

static const scenario corrupt[] = {
    {.name = "corrupt: a bad ICRC, then asked for again",
     .script = "a write 0..9; b ack 9; a write 10 bad; a write 11; b nak 10; "
               "a write 10..11; b ack 11",
     .want = "A: gaps=1 missing=1 again=2 repeats=1 rounds=1 by_nak=1 corrupt=1 bad=1",
     .events = "icrc_bad A frame=12 psn=10; loss A psn=10 detail=corrupt rel=12"},
    {.name = "corrupt: a bad ICRC, never asked for again: no verdict",
     .script = "a write 0..9; b ack 9; a write 10 bad; a write 11; b ack 11; "
               "a write 12; b ack 12",
     .want = "A: gaps=1 missing=1 bad=1"},
    {.name = "corrupt: a bad copy of what had come is nothing",
     .script = "a write 0..9; a write 5 copy bad; b ack 9",
     .want = "A: bad=1 unique=10"},
    {.name = "corrupt: the copy sent again is corrupt as well",
     .script = "a write 0..9; b ack 9; a write 10 bad; a write 11; b nak 10; "
               "a write 10 bad; a write 11;"
               "b nak 10; a write 10..11; b ack 11",
     .want = "A: gaps=1 missing=1 again=3 repeats=2 rounds=2 by_nak=2 corrupt=2 bad=2"},
    {.name = "corrupt: and a later copy of the same packet was lost",
     .script = "a write 0..9; b ack 9; a write 10 bad; a write 11; b nak 10; "
               "a write 10; a write 11; b nak 10; a write 10 drop; a write 11; "
               "b nak 10; a write 10; a write 11; b ack 11",
     .want = "A: gaps=1 missing=1 again=5 repeats=4 rounds=3 by_nak=3 corrupt=1 bad=1 "
             "lost_before=1 undelivered=1"},
    {.name = "corrupt: of two copies that did not come whole one was lost",
     .script = "a write 0..9; b ack 9; a write 10 drop; a write 11; b nak 10; "
               "a write 10 bad; a write 11;"
               "b nak 10; a write 10..11; b ack 11",
     .want = "A: gaps=1 missing=1 again=3 repeats=2 rounds=2 by_nak=2 corrupt=1 bad=1 "
             "lost_before=1"},
    {.name = "corrupt: a lost packet is not blamed on a bad one of another PSN",
     .script = "a write 0..9; b ack 9; a write 10 drop; a write 11; a write 12 bad; "
               "b nak 10;"
               "a write 10..12; b ack 12",
     .want = "A: gaps=1 missing=1 again=2 repeats=1 rounds=1 by_nak=1 lost_before=1 "
               "bad=1 corrupt=*"},
    {.name = "corrupt: a bad ICRC opens no stream",
     .script = "a write 0..4 bad", .want = "T: untracked=* icrc_bad=5",
     .events = "no stream_start"},
    {.name = "corrupt: a bad NAK asks for nothing",
     .script = "b ack 0; a write 0..9; b nak 5 bad; b ack 9",
     .want = "A: naks=0 B: bad=1"},
    {.name = "corrupt: a bad ACK acknowledges nothing",
     .script = "a write 0..4; b ack 4; a write 5..9; b ack 9 bad; +100000; "
               "a write 5..9; b ack 9",
     .want = "A: again=5 repeats=5 rounds=1 by_timeout=1 data_or_ack_lost=1 B: bad=1"},
    {.name = "corrupt: soft-RoCE's FLUSH is exempt",
     .script = "a flush 0 bad; b resp 0 len=0; a write 1; b ack 1",
     .want = "A: flush_bad=1 unique=2"},
    {.name = "corrupt: the ICRC was cut, that cannot be told",
     .script = "all weak; a write 0..9; b ack 9", .want = "A: checked=0 unchecked=10"},
};

/* What each vantage may claim. */
static const scenario vantage[] = {
    {.name = "at the requester nothing is lost before the capture",
     .script = "a write 0..9; b ack 9; a write 10 drop; a write 11; b nak 10; "
               "a write 10..11; b ack 11",
     .at = 'a',
     .want = "A: vantage=requester gaps=1 missing=1 again=2 repeats=1 rounds=1 "
               "by_nak=1 not_captured=*"
             " undelivered=* unknown=* B: vantage=responder"},
    {.name = "at the responder",
     .script = "a write 0..9; b ack 9; a write 10 drop; a write 11; b nak 10; "
               "a write 10..11; b ack 11",
     .at = 'b',
     .want = "A: vantage=responder gaps=1 missing=1 again=2 repeats=1 rounds=1 "
               "by_nak=1 lost_before=1"
             " B: vantage=requester"},
    {.name = "in between: lost on the way here and behind",
     .script = "a write 0..9; b ack 9; a write 10 drop; a write 11; b nak 10; "
               "a write 10..11; b ack 11;"
               "a write 12..19; b nak 15; a write 15..19; b ack 19",
     .want = "A: vantage=middle gaps=1 missing=1 again=7 repeats=6 rounds=2 by_nak=2 "
               "lost_before=1"
             " undelivered=1"},
    {.name = "at the requester, as the user says",
     .script = "a write 0..9; b ack 9; a write 10 drop; a write 11; b nak 10; "
               "a write 10..11; b ack 11",
     .told_at = 'a',
     .want = "A: vantage=requester gaps=1 missing=1 again=2 repeats=1 rounds=1 "
               "by_nak=1 not_captured=1 B: vantage=responder"},
    {.name = "at the responder, as the user says",
     .script = "a write 0..9; b ack 9; a write 10 drop; a write 11; b nak 10; "
               "a write 10..11; b ack 11",
     .told_at = 'b',
     .want = "A: vantage=responder gaps=1 missing=1 again=2 repeats=1 rounds=1 "
               "by_nak=1 lost_before=1 B: vantage=requester"},
    {.name = "in the network, as the user says, whatever the port calls out",
     .script = "a write 0..9; b ack 9; a write 10 drop; a write 11; b nak 10; "
               "a write 10..11; b ack 11",
     .at = 'a', .told_at = 'n',
     .want = "A: vantage=middle gaps=1 missing=1 again=2 repeats=1 rounds=1 "
               "by_nak=1 lost_before=1 B: vantage=middle"},
    {.name = "at the responder's side responses cannot be lost before the capture",
     .script = "a read 0 len=4096; b resp.first 0 len=1024; b resp.middle 1 drop len=1024; "
               "b resp.middle 2 len=1024; b resp.last 3 len=1024; a read 1 len=3072; "
               "b resp.first 1 len=1024; b resp.middle 2 len=1024; b resp.last 3 len=1024",
     .told_at = 'b',
     .want = "A: vantage=responder again=* repeats=* rounds=* by_reissue=*"
             " B: vantage=requester r.gaps=1 r.missing=1 r.again=3 r.not_captured=1"},
    {.name = "lost on the way here alone: at the responder or in between",
     .script = "a write 0..9; b ack 9; a write 10 drop; a write 11; b nak 10; "
               "a write 10..11; b ack 11",
     .want = "A: vantage=unknown gaps=1 missing=1 again=2 repeats=1 rounds=1 by_nak=1 "
               "lost_before=1"},
    {.name = "lost behind alone: at the requester or in between",
     .script = "a write 0..9; b nak 5; a write 5..9; b ack 9",
     .want = "A: vantage=unknown again=5 repeats=5 rounds=1 by_nak=1 undelivered=1"},
    {.name = "nothing happened: nobody can tell",
     .script = "a write 0..9; b ack 9", .want = "A: vantage=unknown"},
};
/* clang-format on */

/* Blocks of 20 packets of which the last is not seen, and everything is acknowledged;
 * then `more` such packets of which the second is not. */
static void
check_partial_path(const char *name, unsigned blocks, unsigned more, const char *want)
{
    static char script[65536];
    size_t at = 0;
    uint32_t psn = 0;
    for (unsigned i = 0; i < blocks; i++, psn += 20) {
        at += (size_t)snprintf(script + at, sizeof script - at,
                               "a write %u..%u; a write %u drop; ", psn, psn + 18,
                               psn + 19);
    }
    for (unsigned i = 0; i < more; i++, psn += 2) {
        at += (size_t)snprintf(script + at, sizeof script - at,
                               "a write %u; a write %u drop; ", psn, psn + 1);
    }
    snprintf(script + at, sizeof script - at, "a write %u; b ack %u", psn, psn);
    scenario row = {.name = name, .script = script, .want = want};
    scenario_check(&row, __FILE__, __LINE__);
}

/* Sixteen times an ACK after `answer_us`, a loss on one side of the point, its NAK, and
 * the round that answers it after `reaction_us`. */
static void
check_who_answers(const char *name, const char *loss, unsigned answer_us,
                  unsigned reaction_us, const char *want)
{
    static char script[16384];
    char all[256];
    size_t at = 0;
    for (unsigned psn = 0; psn < 64; psn += 4) {
        at += (size_t)snprintf(
            script + at, sizeof script - at,
            "a write %u..%u; +%u; b ack %u; a write %u%s; a write %u; "
            "+%u; b nak %u; +%u; a write %u..%u; +%u; b ack %u; ",
            psn, psn + 1, answer_us - 1, psn + 1, psn + 2, loss, psn + 3, answer_us - 1,
            psn + 2, reaction_us - 1, psn + 2, psn + 3, answer_us - 1, psn + 3);
    }
    snprintf(all, sizeof all,
             "A: %s rounds=16 by_nak=16 again=* repeats=* gaps=* missing=*", want);
    scenario row = {.name = name, .script = script, .want = all};
    scenario_check(&row, __FILE__, __LINE__);
}

int
main(void)
{
    SCENARIO_CHECK(naks);
    SCENARIO_CHECK(selective);
    SCENARIO_CHECK(acks);
    SCENARIO_CHECK(rnr);
    SCENARIO_CHECK(fatal);
    SCENARIO_CHECK(corrupt);
    SCENARIO_CHECK(vantage);
    check_who_answers("the responder answers in less than an eighth", " drop", 10, 81,
                      "vantage=responder lost_before=16");
    check_who_answers("the responder answers in an eighth", " drop", 10, 80,
                      "vantage=unknown lost_before=16");
    check_who_answers("the requester answers in less than an eighth", "", 81, 10,
                      "vantage=requester undelivered=16");
    check_who_answers("the requester answers in an eighth", "", 80, 10,
                      "vantage=unknown undelivered=16");
    check_partial_path("partial path: just not, 5 %", 20, 0,
                       "A: gaps=20 missing=20 not_captured=20");
    check_partial_path("partial path: a little more than 5 %", 20, 2,
                       "A: gaps=22 missing=22 not_captured=22 partial=yes");
    return check_status();
}
