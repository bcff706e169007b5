/* SPDX-License-Identifier: GPL-2.0-or-later */
/* In order, gap, late, seen before; READ spans; messages; restarts; UC and UD. */
#include "scenario.h"

/* clang-format off */
static const scenario in_order[] = {
    {.name = "in order",
     .script = "a write 0..9; b ack 9",
     .want = "A: requests=10 unique=10 messages=10 paired=user B: acks_sent=1"},
    {.name = "in order, an ACK for every tenth",
     .script = "a write 0..9; b ack 9; a write 10..19; b ack 19; a write 20..29; "
               "b ack 29",
     .want = "A: requests=30 unique=30"},
    {.name = "in order, one direction only",
     .script = "a write 0..9", .want = "A: requests=10 unique=10 paired=none"},
    {.name = "the same packets at two points are nobody's duplicates",
     .script = "a write 0..9; a write 0..9 copy point=1; b ack 9; b ack 9 copy point=1",
     .want = "A: unique=10 A@1: unique=10"},
    {.name = "gap: at one point of two",
     .script = "a write 0..9; a write 0..4 copy point=1; a write 6..9 copy point=1; "
               "b ack 9;"
               "b ack 9 copy point=1",
     .want = "A: unique=10 A@1: gaps=1 missing=1 not_captured=1 partial=*"},
    {.name = "gap: one PSN",
     .script = "a write 0..9; b ack 9; a write 10 drop; a write 11..12; b nak 10;"
               "a write 10..12; b ack 12",
     .want = "A: gaps=1 missing=1 again=3 repeats=2 rounds=1 by_nak=1 lost_before=1 "
               "naks=1"
             " recovery=gbn unique=13",
     .events = "gap A frame=12 psn=10 n=1 rel=10; nak A frame=14 psn=10 rel=12;"
               "round A frame=15 psn=10 detail=nak_sequence rel=14;"
               "loss A psn=10 detail=lost_before evidence=asked_for;"
               "retransmission A frame=16 psn=11 rel=12"},
    {.name = "gap: five PSNs, each transmission has its verdict",
     .script = "a write 0..9; b ack 9; a write 10..14 drop; a write 15; b nak 10;"
               "a write 10..15; b ack 15",
     .want = "A: gaps=1 missing=5 again=6 repeats=1 rounds=1 by_nak=1 lost_before=5",
     .events = "gap A psn=10 n=5; loss A psn=10 evidence=asked_for;"
               "loss A psn=11 evidence=resent_only"},
    {.name = "gap: two of them",
     .script = "a write 0..9; b ack 9; a write 10 drop; a write 11; a write 12 drop;"
               "a write 13; b nak 10; a write 10..13; b ack 13",
     .want = "A: gaps=2 missing=2 again=4 repeats=2 rounds=1 by_nak=1 lost_before=2"},
    {.name = "gap: never sent again, one direction only",
     .script = "a write 0..9; a write 10 drop; a write 11..19",
     .want = "A: gaps=1 missing=1 unknown=1",
     .events = "loss A psn=10 detail=verdict_unknown evidence=no_acknowledgements"},
    {.name = "gap: the capture ends in it",
     .script = "a write 0..9; b ack 9; a write 10 drop; a write 11",
     .want = "A: gaps=1 missing=1 unknown=1",
     .events = "loss A psn=10 n=1 detail=verdict_unknown evidence=capture_end"},
    {.name = "gap: sent again, one direction only",
     .script = "a write 0..9; a write 10 drop; a write 11..12; a write 10..12",
     .want = "A: gaps=1 missing=1 again=3 repeats=2 rounds=1 by_unknown=1 lost_before=1"
             " unknown=*",
     .events = "loss A psn=10 detail=lost_before evidence=resent_only"},
    {.name = "gap: a READ that would reach beyond it ends with it",
     .script = "a write.middle 0..3 len=1024; b ack 3; a write.middle 4..7 drop len=1024; "
               "a write.middle 8..9 len=1024; a read 4 len=8192; "
               "a write.middle 8 len=1024",
     .want = "A: gaps=1 missing=4 again=2 repeats=1 rounds=2 by_unknown=2 lost_before=1",
     .events = "round A frame=8 psn=4; retransmission A frame=9 psn=8 rel=6"},
    {.name = "mid-stream start: no gap before the first packet",
     .script = "b ack 499; a write 500..503; b ack 503", .want = "A: unique=4"},
    {.name = "mid-stream start: within a message",
     .script = "a write.middle 500..503 len=1024; a write.last 504; b ack 504",
     .want = "A: unique=5 messages=1 pmtu=1024"},
    {.name = "mid-stream start: the first packet was overtaken on its way",
     .script = "a write 4 drop; a write 5; a write 4 copy; a write 6..9; b ack 9",
     .want = "A: unique=6 requests=6", .events = "no round; no loss; no late"},
    {.name = "mid-stream start: within a round",
     .script = "a write 500..509; b nak 498; a write 498..509; b ack 509",
     .want = "A: again=12 repeats=10 rounds=1 by_nak=1 naks=1 unknown=*"},
    {.name = "wrap: in order across 2^24",
     .script = "a write 0xfffffb..0x1000004; b ack 4", .want = "A: unique=10"},
    {.name = "wrap: gap across 2^24",
     .script = "a write 0xfffff0..0xfffffd; b ack 0xfffffd;"
               "a write 0xfffffe..0x1000001 drop; a write 2..5;"
               "b nak 0xfffffe; a write 0xfffffe..0x1000005; b ack 5",
     .want = "A: gaps=1 missing=4 again=8 repeats=4 rounds=1 by_nak=1 lost_before=4",
     .events = "gap A psn=0xfffffe n=4"},
    {.name = "wrap: round across 2^24",
     .script = "a write 0xfffff0..0xfffffe; b ack 0xfffffe; "
               "a write 0xffffff..0x1000003;"
               "b nak 0xffffff; a write 0xffffff..0x1000003; b ack 3",
     .want = "A: again=5 repeats=5 rounds=1 by_nak=1 undelivered=1"},
    {.name = "wrap: first PSN is 0 and the NAK names the one before",
     .script = "a write 0..9; b nak 0xffffff; a write 0xffffff..0x1000009; b ack 9",
     .want = "A: again=11 repeats=10 rounds=1 by_nak=1 unknown=*"},
};

static const scenario late[] = {
    {.name = "late original, by identification",
     .script = "a write 0..9; a write 10 drop; a write 11; a write 10 copy; "
               "a write 12; b ack 12",
     .want = "A: gaps=1 missing=1 reordered=1 unique=13 requests=13",
     .events = "late A frame=12 psn=10 rel=11 evidence=identification; no loss"},
    {.name = "late originals, two of every three packets: still by identification",
     .script = "a write 0..3; a write 4..5 drop; a write 6; a write 4..5 copy;"
               "a write 7..8 drop; a write 9; a write 7..8 copy; a write 10..11 drop;"
               "a write 12; a write 10..11 copy; a write 13; b ack 13",
     .want = "A: gaps=3 missing=6 reordered=6 unique=14 requests=14",
     .events = "late A psn=4 evidence=identification; "
               "late A psn=11 evidence=identification; no loss; no retransmission"},
    {.name = "late originals, two of every three packets, identification random",
     .script = "a write 0..3; a write 4..5 drop; a write 6; a write 4..5 copy;"
               "a write 7..8 drop; a write 9; a write 7..8 copy; a write 10; b ack 10",
     .ident = SCENARIO_IDENT_RANDOM,
     .want = "A: gaps=2 missing=4 reordered=* lost_before=* again=* rounds=* "
             "by_unknown=*",
     .events = "no late A evidence=identification"},
    {.name = "late original, identification random, nobody asked",
     .script = "a write 0..9; b ack 9; a write 10 drop; a write 11; a write 10 copy; "
               "b ack 11",
     .ident = SCENARIO_IDENT_RANDOM,
     .want = "A: gaps=1 missing=1 reordered=1", .events = "late A evidence=time"},
    {.name = "late original, identification constant, nobody asked",
     .script = "a write 0..9; b ack 9; a write 10 drop; a write 11; a write 10 copy; "
               "b ack 11",
     .ident = SCENARIO_IDENT_CONSTANT,
     .want = "A: gaps=1 missing=1 reordered=1", .events = "late A evidence=time"},
    {.name = "late original, IPv6, nobody asked",
     .script = "a write 0..9; b ack 9; a write 10 drop; a write 11; a write 10 copy; "
               "b ack 11",
     .ident = SCENARIO_IDENT_IPV6,
     .want = "A: gaps=1 missing=1 reordered=1"},
    {.name = "not late: asked for, constant",
     .script = "a write 0..9; b ack 9; a write 10 drop; a write 11; b nak 10; +10;"
               "a write 10..11; b ack 11",
     .ident = SCENARIO_IDENT_CONSTANT,
     .want = "A: gaps=1 missing=1 again=2 repeats=1 rounds=1 by_nak=1 lost_before=1"},
    {.name = "late originals in a run, IPv6, nobody asked",
     .script = "a write 0..9; b ack 9; a write 10..12 drop; a write 13; a write 10..12 copy; "
               "a write 14; b ack 14",
     .ident = SCENARIO_IDENT_IPV6,
     .want = "A: gaps=1 missing=3 reordered=3"},
    {.name = "late in a run, IPv6, and what the other side says is not known",
     .script = "a write 0..9; a write 10..12 drop; a write 13; a write 10..12 copy; "
               "a write 14",
     .ident = SCENARIO_IDENT_IPV6,
     .pairs = SCENARIO_PAIRS_UNKNOWN,
     .want = "A: gaps=1 missing=3 again=3 rounds=1 by_unknown=1 lost_before=3"},
    {.name = "not late: asked for, IPv6",
     .script = "a write 0..9; b ack 9; a write 10 drop; a write 11; b nak 10; +10;"
               "a write 10..11; b ack 11",
     .ident = SCENARIO_IDENT_IPV6,
     .want = "A: gaps=1 missing=1 again=2 repeats=1 rounds=1 by_nak=1 lost_before=1"},
    {.name = "not late: a timeout later, one direction only, constant",
     .script = "a write 0..9; a write 10 drop; a write 11; +100000; a write 10..11",
     .ident = SCENARIO_IDENT_CONSTANT,
     .want = "A: gaps=1 missing=1 again=2 repeats=1 rounds=1 by_unknown=1 lost_before=1"
             " unknown=*"},
    {.name = "late original between the NAK and the round: spurious",
     .script = "a write 0..9; b ack 9; a write 10 drop; a write 11..12; b nak 10;"
               "a write 10 copy; a write 10..12; b ack 12",
     .want = "A: gaps=1 missing=1 reordered=1 again=3 repeats=3 rounds=1 by_nak=1 "
               "spurious=1",
     .events = "late A psn=10; round A psn=10; spurious_round A; no loss"},
    {.name = "late original between the NAK and the round, random: by copies",
     .script = "a write 0..9; b ack 9; a write 10 drop; a write 11..12; b nak 10;"
               "a write 10 copy; a write 10..12; b ack 12",
     .ident = SCENARIO_IDENT_RANDOM,
     .want = "A: gaps=1 missing=1 reordered=1 again=3 repeats=3 rounds=1 by_nak=1 "
               "spurious=1"},
    {.name = "late original between the NAK and the round, constant: by copies",
     .script = "a write 0..9; b ack 9; a write 10 drop; a write 11..12; b nak 10;"
               "a write 10 copy; a write 10..12; b ack 12",
     .ident = SCENARIO_IDENT_CONSTANT,
     .want = "A: gaps=1 missing=1 reordered=1 again=3 repeats=3 rounds=1 by_nak=1 "
               "spurious=1"},
    {.name = "late original after the copy: the verdict is withdrawn",
     .script = "a write 0..9; b ack 9; a write 10 drop; a write 11..12; b nak 10;"
               "a write 10..12; a write 10 copy=1; b ack 12",
     .want = "A: gaps=1 missing=1 reordered=1 again=3 repeats=3 rounds=1 by_nak=1 "
               "spurious=1",
     .events = "loss A psn=10 detail=lost_before; "
               "loss_withdrawn A psn=10 detail=lost_before;"
               "late A psn=10 evidence=identification"},
    {.name = "late original after the copy, constant: cannot be told from a duplicate",
     .script = "a write 0..9; b ack 9; a write 10 drop; a write 11..12; b nak 10;"
               "a write 10..12; a write 10 copy=1; b ack 12",
     .ident = SCENARIO_IDENT_CONSTANT,
     .want = "A: gaps=1 missing=1 duplicates=1 again=3 repeats=3 rounds=1 by_nak=1 "
               "lost_before=1"},
    {.name = "late original, then another one never comes",
     .script = "a write 0..9; b ack 9; a write 10..11 drop; a write 12; "
               "a write 10 copy;"
               "b nak 11; a write 11..12; b ack 12",
     .want = "A: gaps=1 missing=2 reordered=1 again=2 repeats=1 rounds=1 by_nak=1 "
               "lost_before=1"},
    {.name = "copies of a round in another order are no reordering of originals",
     .script = "a write 0..9; b ack 9; a write 10 drop; a write 11..13; b nak 10;"
               "a write 10; a write 11 drop; a write 12; a write 11 copy; a write 13; "
               "b ack 13",
     .want = "A: gaps=1 missing=1 again=4 repeats=3 rounds=1 by_nak=1 lost_before=1"},
    {.name = "a copy is lost again, asked for again, and sent again, IPv6",
     .script = "a write 0..9; b ack 9; a write 10 drop; a write 11..15; b nak 10; "
               "a write 10; a write 11 drop; a write 12..15; b nak 11; a write 11..15; "
               "b ack 15",
     .ident = SCENARIO_IDENT_IPV6,
     .want = "A: gaps=1 missing=1 again=10 repeats=9 rounds=2 by_nak=2 lost_before=2"},
    {.name = "a copy is asked for and comes late, then its answer, IPv6",
     .script = "a write 0..9; b ack 9; a write 10 drop; a write 11..15; b nak 10; "
               "a write 10; a write 11 drop; a write 12..15; b nak 11; a write 11 copy=1; "
               "a write 11..15; b ack 15",
     .ident = SCENARIO_IDENT_IPV6,
     .want = "A: gaps=1 missing=1 again=11 repeats=10 rounds=2 by_nak=2 lost_before=1"},
    {.name = "an original and its copy are lost, and the capture missed none, IPv6",
     .script = "a write 0..9; b ack 9; a write 10..11 drop; a write 12; a write 13 drop; "
               "a write 14..15; b nak 10; a write 10; a write 11 drop; a write 12..15; "
               "b nak 11; a write 11..15; b ack 15",
     .ident = SCENARIO_IDENT_IPV6,
     .want = "A: gaps=2 missing=3 again=10 repeats=7 rounds=2 by_nak=2 lost_before=4"},
    {.name = "a round with a hole fills a gap behind it, IPv6",
     .script = "a write 0..9; b ack 9; a write 10 drop; a write 11; a write 12 drop; "
               "a write 13..15; b nak 10; a write 10; a write 11 drop; a write 12..15; "
               "b nak 11; a write 11..15; b ack 15",
     .ident = SCENARIO_IDENT_IPV6,
     .want = "A: gaps=2 missing=2 again=10 repeats=8 rounds=2 by_nak=2 lost_before=3"},
    {.name = "late originals while a round of one packet is under way, IPv6",
     .script = "a write 0..9; b ack 9; a write 10 drop; a write 11; a write 12..13 drop; "
               "a write 14..16; b nak 10; a write 10; a write 12 copy; a write 13 copy; "
               "a write 17..19; b ack 19",
     .ident = SCENARIO_IDENT_IPV6,
     .want = "A: gaps=2 missing=3 reordered=2 again=1 rounds=1 by_nak=1 lost_before=1 "
             "recovery=*"},
    {.name = "two copies of a round are overtaken by more than the NAK takes, IPv6",
     .script = "a write 0..9; b ack 9; a write 10 drop; a write 11..19; b nak 10; +40; "
               "a write 10; a write 11..12 drop; a write 13..15; b nak 11; "
               "a write 11..12 copy; a write 16..19; +40; a write 11..19; b ack 19",
     .ident = SCENARIO_IDENT_IPV6,
     .want = "A: gaps=1 missing=1 again=19 repeats=18 rounds=2 by_nak=2 lost_before=1"},
    {.name = "one packet between two holes of a round, IPv6",
     .script = "a write 0..9; b ack 9; a write 10 drop; a write 11..19; b nak 10; "
               "a write 10; a write 11 drop; a write 12; a write 13 drop; a write 14..19; "
               "b nak 11; a write 11..19; b ack 19",
     .ident = SCENARIO_IDENT_IPV6,
     .want = "A: gaps=1 missing=1 again=17 repeats=16 rounds=2 by_nak=2 lost_before=3"},
    {.name = "a round is cut short by a NAK behind its hole, IPv6",
     .script = "a write 0..9; b ack 9; a write 10 drop; a write 11..19; b nak 10; "
               "a write 10; a write 11 drop; a write 12..14; b nak 11; a write 15 drop; "
               "a write 16; a write 11..19; b ack 19",
     .ident = SCENARIO_IDENT_IPV6,
     .want = "A: gaps=1 missing=1 again=14 repeats=13 rounds=2 by_nak=2 lost_before=3"},
    {.name = "one of an earlier round comes in the next, far ahead of it, IPv6",
     .script = "a write 0..9; b ack 9; a write 10 drop; a write 11..19; b nak 10; "
               "a write 10..11; a write 19 copy; a write 12..18; b ack 19",
     .ident = SCENARIO_IDENT_IPV6,
     .want = "A: gaps=1 missing=1 again=9 repeats=9 rounds=1 by_nak=1 duplicates=1 "
               "lost_before=1"},
    {.name = "late original after the copy, constant: the next request settles it",
     .script = "a write 0..9; b ack 9; a write 10 drop; a write 11..12; b nak 10;"
               "a write 10..12; a write 10 copy=1; a write 13; b ack 13",
     .ident = SCENARIO_IDENT_CONSTANT,
     .want = "A: gaps=1 missing=1 reordered=1 again=3 repeats=3 rounds=1 by_nak=1 "
               "spurious=1",
     .events = "loss A psn=10 detail=lost_before; "
               "loss_withdrawn A psn=10 detail=lost_before; late A psn=10 evidence=copies"},
    {.name = "late by 15 ms: the identification still tells",
     .script = "a write 0..9; b ack 9; a write 10 drop; a write 11; +15000; "
               "a write 10 copy; a write 12; b ack 12",
     .want = "A: gaps=1 missing=1 reordered=1"},
    {.name = "late by 17 ms: its counter may have gone round",
     .script = "a write 0..9; b ack 9; a write 10 drop; a write 11; +17000; "
               "a write 10 copy; a write 12; b ack 12",
     .want = "A: gaps=1 missing=1 again=1 rounds=1 by_timeout=1 lost_before=1"},
    {.name = "a copy that its round left out comes late, random: the round goes on",
     .script = "a write 0..9; b ack 4; b nak 5; a write 5; a write 6 drop; a write 7; "
               "a write 6 copy; a write 8..10; b ack 10",
     .ident = SCENARIO_IDENT_RANDOM,
     .want = "A: again=5 repeats=5 rounds=1 by_nak=1 undelivered=1"},
    {.name = "late by a long way: 100 packets",
     .script = "a write 0..9; a write 10 drop; a write 11..110; a write 10 copy; "
               "b ack 110",
     .want = "A: gaps=1 missing=1 reordered=1"},
    {.name = "late across the wrap of the identification",
     .script = "a write 0 ident=0xfff6; a write 1..9; a write 10 drop; a write 11; "
               "a write 10 copy;"
               "b ack 11",
     .want = "A: gaps=1 missing=1 reordered=1"},
    {.name = "constant identification: late packets make no round of which much is lost",
     .script = "a write 0..4; a write 5 drop; a write 6..40; b nak 5; +20; a write 5 copy; "
               "a write 20 copy; a write 41; +100000; a write 6..41; b ack 41",
     .ident = SCENARIO_IDENT_CONSTANT,
     .want = "A: gaps=1 missing=1 duplicates=1 repeats=37 again=37 rounds=2 by_nak=1 "
             "by_timeout=1 lost_before=1"},
};

/* Four NAKs that are each answered 9 us later. */
#define ANSWERED(psn, behind)                                                          \
    "a write " #psn " drop; a write " #behind "; b nak " #psn "; +8; a write " #psn \
    ".." #behind "; b ack " #behind "; "
#define REACTIONS                                                                      \
    "a write 0..9; b ack 9; " ANSWERED(10, 11) ANSWERED(12, 13) ANSWERED(14, 15)        \
        ANSWERED(16, 17)
#define AFTER_REACTIONS "A: gaps=5 missing=* again=* repeats=* rounds=* by_nak=* "

/* Copies that come late where nothing numbers packets. */
static const scenario overtaken[] = {
    {.name = "late originals in a run, sooner behind the NAK than one was ever answered",
     .script = REACTIONS "a write 18..19 drop; a write 20; b nak 18; a write 18..19 copy; "
               "a write 21; +8; a write 18..21; b ack 21",
     .ident = SCENARIO_IDENT_IPV6,
     .want = AFTER_REACTIONS "reordered=2 lost_before=4 spurious=*"},
    {.name = "no sooner: they were sent again, and go on as a round",
     .script = REACTIONS "a write 18..19 drop; a write 20; b nak 18; +8; "
               "a write 18..20; b ack 20",
     .ident = SCENARIO_IDENT_IPV6,
     .want = AFTER_REACTIONS "lost_before=6"},
    {.name = "a copy that its round went past, sooner than an answer, the round being over",
     .script = REACTIONS "a write 18 drop; a write 19..20; b nak 18; +8; a write 18; "
               "a write 19 drop; a write 20..21; b nak 19; a write 19 copy; "
               "+8; a write 19..22; b ack 22",
     .ident = SCENARIO_IDENT_IPV6,
     .want = AFTER_REACTIONS "lost_before=5", .events = "no duplicate; no late"},
    {.name = "how soon a NAK is answered counts from the older of two that wait",
     .script = REACTIONS "a write 18 drop; a write 19; a write 20 drop; a write 21; b nak 18; "
               "+5; b nak 20; +2; a write 18..21; b ack 21; "
               "a write 22..23 drop; a write 24; b nak 22; +3; a write 22..23 copy; "
               "a write 25; +8; a write 22..25; b ack 25",
     .ident = SCENARIO_IDENT_IPV6,
     .want = "A: gaps=* missing=* again=* repeats=* rounds=* by_nak=* reordered=2 "
             "lost_before=* not_captured=* spurious=*"},
    {.name = "a copy that its round went past, below what had been acknowledged",
     .script = "a write 0..9; b nak 2; +50; a write 2..3; b ack 8; a write 5..9; +20; a write 4; "
               "a write 10; b ack 10",
     .ident = SCENARIO_IDENT_CONSTANT,
     .want = "A: naks=1 undelivered=1 again=8 repeats=8 rounds=1 by_nak=1"},
    {.name = "in doubt when another round begins, and of a round all the same",
     .script = "a write 0..9; b nak 2; +50; a write 2..4; a write 5 drop; a write 6; +100000; "
               "a write 2; a write 3..6 drop; a write 7..9; b ack 9",
     .ident = SCENARIO_IDENT_CONSTANT,
     .want = "A: naks=1 undelivered=1 again=8 repeats=8 rounds=2 by_nak=1 by_timeout=1 "
             "data_or_ack_lost=1"},
    {.name = "what is late itself tells nothing of the packet of a round before it",
     .script = "a write 0..9; b nak 2; +50; a write 2..4; a write 5 drop; a write 6; a write 1 copy; "
               "a write 7..9; b ack 9",
     .ident = SCENARIO_IDENT_CONSTANT,
     .want = "A: naks=1 undelivered=1 again=7 repeats=8 rounds=1 by_nak=1 duplicates=1"},
    {.name = "a copy that its round went past comes when that is over: not twice, not lost",
     .script = "a write 0..9; b ack 9; a write 10 drop; a write 11..13; b nak 10; +5; "
               "a write 10; a write 11 drop; a write 12..14; a write 11 copy; a write 15; "
               "b ack 15",
     .ident = SCENARIO_IDENT_IPV6,
     .want = "A: gaps=1 missing=1 again=4 repeats=3 rounds=1 by_nak=1 lost_before=1"},
    {.name = "the same, identification random",
     .script = "a write 0..9; b ack 9; a write 10 drop; a write 11..13; b nak 10; +5; "
               "a write 10; a write 11 drop; a write 12..14; a write 11 copy; a write 15; "
               "b ack 15",
     .ident = SCENARIO_IDENT_RANDOM,
     .want = "A: gaps=1 missing=1 again=4 repeats=3 rounds=1 by_nak=1 lost_before=1"},
    {.name = "the same where an ACK has come meanwhile",
     .script = "a write 0..9; b ack 9; a write 10 drop; a write 11..13; b nak 10; +5; "
               "a write 10; a write 11 drop; a write 12..14; b ack 14; a write 11 copy; "
               "a write 15; b ack 15",
     .ident = SCENARIO_IDENT_IPV6,
     .want = "A: gaps=1 missing=1 again=4 repeats=3 rounds=1 by_nak=1 lost_before=1 "
             "recovery=*"},
    {.name = "the same amid a newer round",
     .script = "a write 0..9; b ack 9; a write 10 drop; a write 11..15; b nak 10; +5; "
               "a write 10..13; a write 14 drop; a write 15; b nak 12; +5; a write 12; "
               "a write 14 copy=2; a write 13..16; b ack 16",
     .ident = SCENARIO_IDENT_IPV6,
     .want = "A: gaps=1 missing=1 again=10 repeats=9 rounds=2 by_nak=2 lost_before=1 "
             "undelivered=*",
     .events = "no duplicate"},
    {.name = "what was called lost comes after all: the copy that was sent again",
     .script = "a write 0..9; b ack 9; a write 10..13; b nak 10; +5; a write 10; "
               "a write 11 drop; a write 12..13; b nak 11; +5; a write 11..13; b ack 13; "
               "a write 14; a write 11 copy=2; a write 15; b ack 15",
     .ident = SCENARIO_IDENT_IPV6,
     .want = "A: again=7 repeats=7 rounds=2 by_nak=2 spurious=1 undelivered=*",
     .events = "loss A psn=11 detail=lost_before; loss_withdrawn A psn=11; no late"},
    {.name = "and the original: it was late",
     .script = "a write 0..9; b ack 9; a write 10..11 drop; a write 12; b nak 10; +5; "
               "a write 10..12; b ack 12; a write 13; a write 11 copy=1; a write 14; b ack 14",
     .ident = SCENARIO_IDENT_IPV6,
     .want = "A: gaps=1 missing=2 again=3 repeats=* rounds=1 by_nak=1 lost_before=1 "
             "reordered=1 spurious=*",
     .events = "loss A psn=11 detail=lost_before; late A psn=11 evidence=copies"},
    {.name = "a READ that was called lost comes after all, and others are behind it",
     .script = "a read 0..2 len=64; b resp 0..2; a read 3 len=64 drop; a read 4..5 len=64; "
               "b nak 3; +5; a read 3..5 len=64; b resp 3..5; +5; a read 3 len=64 copy=1; "
               "a read 6 len=64; b resp 3; b resp 6",
     .ident = SCENARIO_IDENT_IPV6,
     .want = "A: gaps=1 missing=1 again=3 repeats=* rounds=1 by_nak=1 reordered=1 "
             "asked_bytes=* spurious=* B: r.again=1",
     .events = "late A psn=3 evidence=copies; no round A psn=3 detail=read_reissue"},
};

static const scenario seen_before[] = {
    {.name = "the newest comes twice, and what is new behind it proves nothing, IPv6",
     .script = "a write 0..9; b ack 9; a write 10; a write 10 copy; a write 11; b ack 11",
     .ident = SCENARIO_IDENT_IPV6,
     .want = "A: duplicates=1 repeats=1", .events = "no retransmission; no loss"},
    {.name = "the newest comes twice, constant",
     .script = "a write 0..9; b ack 9; a write 10; a write 10 copy; a write 11; b ack 11",
     .ident = SCENARIO_IDENT_CONSTANT,
     .want = "A: duplicates=1 repeats=1", .events = "no retransmission; no loss"},
    {.name = "every one comes twice, IPv6",
     .script = "a write 0; a write 0 copy; a write 1; a write 1 copy; a write 2; "
               "a write 2 copy; b ack 2",
     .ident = SCENARIO_IDENT_IPV6,
     .want = "A: duplicates=3 repeats=3", .events = "no retransmission; no loss"},
    {.name = "every one comes twice, identifications rise, and one is lost",
     .script = "a write 0; a write 0 copy; a write 1; a write 1 copy; a write 2; "
               "a write 2 copy; a write 3; a write 3 copy; a write 4; a write 4 copy; b ack 4; "
               "a write 5 drop; a write 6; a write 6 copy; b nak 5; "
               "a write 5; a write 5 copy; a write 6; a write 6 copy; b ack 6",
     .want = "A: duplicates=8 repeats=9 gaps=1 missing=1 again=2 rounds=1 by_nak=1 "
             "lost_before=1"},
    {.name = "a READ comes twice, IPv6",
     .script = "a write 0..9; b ack 9; a read 10 len=64; a read 10 len=64 copy; "
               "a write 11; b resp 10; b ack 11",
     .ident = SCENARIO_IDENT_IPV6,
     .want = "A: duplicates=1 repeats=1", .events = "no retransmission; no loss"},
    {.name = "two are sent again, and nobody can tell why, IPv6",
     .script = "a write 0..9; b ack 9; a write 10..11; a write 10..11; a write 12; b ack 12",
     .ident = SCENARIO_IDENT_IPV6,
     .want = "A: again=2 repeats=2 rounds=1 by_unknown=1 undelivered=1"},
    {.name = "two in a row, sooner than anything was ever answered, IPv6",
     .script = "a write 0; +20; b ack 0; a write 1; +20; b ack 1; a write 2..3; "
               "a write 2..3; a write 4; +20; b ack 4",
     .ident = SCENARIO_IDENT_IPV6,
     .want = "A: duplicates=2 repeats=2", .events = "no retransmission; no loss"},
    {.name = "a copy as late as a timeout, of what has been acknowledged, and nothing "
             "behind it, constant",
     .script = "a write 0..9; +20; b ack 9; a write 10; +20; b ack 10; +100000; "
               "a write 3 copy; a write 11; +20; b ack 11",
     .ident = SCENARIO_IDENT_CONSTANT,
     .want = "A: duplicates=1 repeats=1", .events = "no round; no loss"},
    {.name = "but the newest one was sent again, constant",
     .script = "a write 0..9; +20; b ack 9; +100000; a write 9; +20; b ack 9",
     .ident = SCENARIO_IDENT_CONSTANT,
     .want = "A: again=1 repeats=1 rounds=1 by_timeout=1 ack_lost=1"},
    {.name = "a timeout among the first packets, constant",
     .script = "a write 0; b ack 0; a write 1; +100000; a write 1; b ack 1",
     .ident = SCENARIO_IDENT_CONSTANT,
     .want = "A: again=1 repeats=1 rounds=1 by_timeout=1 data_or_ack_lost=1"},
    {.name = "the capture begins in a round: a NAK had asked for it, and nothing was lost",
     .script = "a write 40..49; b nak 20; a write 20..49; b ack 49; a write 50; b ack 50",
     .pairs = SCENARIO_PAIRS_UNKNOWN,
     .want = "A: again=10 repeats=10 rounds=1 by_nak=1", .events = "no loss"},
    {.name = "the NAK asks for another one: why nobody knows",
     .script = "a write 40..49; b nak 21; a write 20..49; b ack 49; a write 50; b ack 50",
     .pairs = SCENARIO_PAIRS_UNKNOWN,
     .want = "A: again=10 repeats=10 rounds=1 by_unknown=1", .events = "no loss"},
    {.name = "the capture begins in a round that a NAK had asked for, IPv6",
     .script = "a write 40..49; b nak 20; a write 20..49; b ack 49; a write 50; b ack 50",
     .ident = SCENARIO_IDENT_IPV6,
     .pairs = SCENARIO_PAIRS_UNKNOWN,
     .want = "A: again=10 repeats=10 rounds=1 by_nak=1", .events = "no loss"},
    {.name = "the capture begins in a round that comes late: that is no timeout",
     .script = "a write 49; +100000; a write 40..49; b ack 49; a write 50; b ack 50",
     .pairs = SCENARIO_PAIRS_UNKNOWN,
     .want = "A: again=1 repeats=1 rounds=1 by_unknown=1", .events = "no loss"},
    {.name = "a NAK of before the two were paired: that is no timeout",
     .script = "a write 5..9; b nak 3; +100000; a write 5..9; b ack 9; a write 10; b ack 10",
     .pairs = SCENARIO_PAIRS_UNKNOWN,
     .want = "A: again=5 repeats=5 rounds=1 by_unknown=1 unknown=*"},
    {.name = "of a round that a NAK asks for the last one alone, and the next new one, IPv6",
     .script = "a write 0..9; b ack 9; a write 10 drop; a write 11..12; b nak 10; "
               "a write 10..11 drop; a write 12; a write 13; b nak 10; a write 10..13; b ack 13",
     .ident = SCENARIO_IDENT_IPV6,
     .want = "A: gaps=1 missing=1 again=5 repeats=4 rounds=2 by_nak=2 lost_before=3"},
    {.name = "behind a hole of a round its last one, and the next new one, IPv6",
     .script = "a write 0..9; b ack 9; a write 10 drop; a write 11..14; b nak 10; "
               "a write 10..12; a write 13 drop; a write 14; a write 15; b nak 13; "
               "a write 13..15; b ack 15",
     .ident = SCENARIO_IDENT_IPV6,
     .want = "A: gaps=1 missing=1 again=7 repeats=6 rounds=2 by_nak=2 lost_before=2"},
    {.name = "network duplicate",
     .script = "a write 0..9; a write 5 copy; b ack 9",
     .want = "A: duplicates=1 repeats=1 unique=10 requests=11",
     .events = "duplicate A frame=11 psn=5 rel=6; no round; no loss"},
    {.name = "network duplicate, random identification",
     .script = "a write 0..9; a write 5 copy; b ack 9", .ident = SCENARIO_IDENT_RANDOM,
     .want = "A: duplicates=1 repeats=1"},
    {.name = "network duplicate, constant identification: of unknown origin",
     .script = "a write 0..9; a write 5 copy; b ack 9",
     .ident = SCENARIO_IDENT_CONSTANT,
     .want = "A: duplicates=1 repeats=1"},
    {.name = "network duplicate, IPv6: of unknown origin",
     .script = "a write 0..9; a write 5 copy; b ack 9", .ident = SCENARIO_IDENT_IPV6,
     .want = "A: duplicates=1 repeats=1"},
    {.name = "network duplicate, the ICRC was cut: a weak identity will do",
     .script = "all weak; a write 0..9; a write 5 copy; b ack 9",
     .want = "A: duplicates=1 repeats=1 unchecked=11 checked=0"},
    {.name = "network duplicate of a copy",
     .script = "a write 0..9; b ack 4; b nak 5; a write 5..9; a write 7 copy; b ack 9",
     .want = "A: duplicates=1 repeats=6 again=5 rounds=1 by_nak=1 undelivered=1"},
    {.name = "network duplicate of each of many",
     .script = "a write 0; a write 0 copy; a write 1; a write 1 copy; a write 2; "
               "a write 2 copy;"
               "a write 3; a write 3 copy; a write 4; a write 4 copy; b ack 4",
     .want = "A: duplicates=5 repeats=5 unique=5"},
    {.name = "sent again: another identity, no cause seen",
     .script = "a write 0..4; b ack 4; a write 5..9; a write 5; b ack 9",
     .want = "A: again=1 repeats=1 rounds=1 by_unknown=1 undelivered=1",
     .events = "loss A psn=5 detail=undelivered evidence=resent_only"},
    {.name = "sent again: weak identity, the identification differs",
     .script = "all weak; a write 0..4; b ack 4; a write 5..9; a write 5; b ack 9",
     .want = "A: again=1 repeats=1 rounds=1 by_unknown=1 undelivered=1"},
    {.name = "sent again although acknowledged this moment: nothing was lost",
     .script = "a write 0..9; b ack 9; a write 5; b ack 9",
     .want = "A: again=1 repeats=1 rounds=1 by_unknown=1"},
    {.name = "constant: a run that restarts at one PSN is sent again",
     .script = "a write 0..9; b ack 3; a write 4..9; b ack 9",
     .ident = SCENARIO_IDENT_CONSTANT,
     .want = "A: again=6 repeats=6 rounds=1 by_unknown=1 undelivered=1",
     .events = "round A psn=4"},
    {.name = "IPv6: a run that restarts at one PSN is sent again",
     .script = "a write 0..9; b ack 3; a write 4..9; b ack 9",
     .ident = SCENARIO_IDENT_IPV6,
     .want = "A: again=6 repeats=6 rounds=1 by_unknown=1 undelivered=1"},
    {.name = "constant: two copies that do not run on are duplicates",
     .script = "a write 0..9; b ack 3; a write 4 copy; a write 7 copy; b ack 9",
     .ident = SCENARIO_IDENT_CONSTANT,
     .want = "A: duplicates=2 repeats=2"},
    {.name = "constant: a NAK precedes, sent again",
     .script = "a write 0..9; b ack 3; b nak 4; a write 4..9; b ack 9",
     .ident = SCENARIO_IDENT_CONSTANT,
     .want = "A: again=6 repeats=6 rounds=1 by_nak=1 undelivered=1"},
    {.name = "constant: an RNR NAK precedes, sent again",
     .script = "a send 0..9; b ack 3; b rnr 4; +20; a send 4..9; b ack 9",
     .ident = SCENARIO_IDENT_CONSTANT,
     .want = "A: again=6 repeats=6 rounds=1 by_rnr=1 waits_kept=1"},
    {.name = "constant: a timeout precedes, sent again",
     .script = "a write 0..3; b ack 3; a write 4; +100000; a write 4; b ack 4",
     .ident = SCENARIO_IDENT_CONSTANT,
     .want = "A: again=1 repeats=1 rounds=1 by_timeout=1 data_or_ack_lost=1"},
    {.name = "constant: one direction only, a single copy cannot be told",
     .script = "a write 0..9; +100000; a write 5 copy",
     .ident = SCENARIO_IDENT_CONSTANT,
     .want = "A: duplicates=1 repeats=1"},
    {.name = "a few packets only: too few to know how identifications go",
     .script = "a write 0..1; a write 1 copy; b ack 1",
     .want = "A: duplicates=1 repeats=1"},
};

/* First and last of a WRITE teach the path MTU: 1024. */
#define TEACH "a write.first 0 len=1024; a write.last 1; b ack 1; "
static const scenario reads[] = {
    {.name = "READ span, PMTU known",
     .script = TEACH "a read 2 len=10240; a write 12; b resp.first 2 len=1024;"
               "b resp.middle 3..10 len=1024; b resp.last 11 len=1024; b ack 12",
     .want = "A: pmtu=1024 unique=4 messages=3 B: r.unique=10"},
    {.name = "READ span, one byte more is one PSN more",
     .script = TEACH "a read 2 len=10241; a write 13", .want = "A: unique=4"},
    {.name = "READ span, one PSN beyond it is a gap",
     .script = TEACH "a read 2 len=10240; a write 13",
     .want = "A: gaps=1 missing=1 unknown=1", .events = "gap A psn=12 n=1"},
    {.name = "READ span, a byte less and the same PSN beyond is a gap",
     .script = TEACH "a read 2 len=10239; a write 12; a write 14",
     .want = "A: gaps=1 missing=1 unknown=1", .events = "gap A psn=13 n=1"},
    {.name = "READ of nothing takes one PSN",
     .script = TEACH "a read 2 len=0; a write 3", .want = "A: unique=4"},
    {.name = "READ span, PMTU unknown: the next request resynchronises",
     .script = "a read 0 len=10240; a write 10; a write 11",
     .want = "A: unique=3 pmtu=0"},
    {.name = "READ span, PMTU unknown and 4096",
     .script = "a read 0 len=1048576; a write 256; a write 257", .want = "A: unique=3"},
    {.name = "READ spans, PMTU unknown: no smaller than a response of one packet",
     .script = "all len=1000; a read 0; b resp 0; a read 1; a read 2 drop; a read 3; "
               "b nak 2; a read 2; a read 3; b resp 1; b resp 2; b resp 3",
     .want = "A: gaps=1 missing=1 unique=4 lost_before=1 again=2 repeats=1 rounds=1 "
             "by_nak=1"},
    {.name = "READ spans, PMTU unknown: no smaller than a WRITE of one packet",
     .script = "a write 0 len=513; a read 1 len=1024; a read 3 len=1025; a write 5",
     .want = "A: gaps=1 missing=1 unknown=1"},
    {.name = "READ spans, PMTU unknown, one behind the other",
     .script = "a read 0 len=8192; a read 8 len=8192; a read 16 len=8192; a write 24",
     .want = "A: unique=4"},
    {.name = "READ span, PMTU unknown: as far as the smallest goes",
     .script = "a read 0 len=1024; a write 4; a write 5", .want = "A: unique=3"},
    {.name = "READ span, PMTU unknown: one beyond it",
     .script = "a read 0 len=1024; a write 5; a write 6",
     .want = "A: gaps=1 missing=4 unknown=4", .events = "gap A psn=1 n=4"},
    {.name = "a READ request that never came is one packet of many PSNs",
     .script = TEACH "all len=1024; a read 2 len=10240 drop; b resp.first 2; "
               "b resp.middle 3..10; b resp.last 11; a write 12; b ack 12",
     .want = "A: gaps=1 missing=10 not_captured=1"},
    {.name = "READ of 256 bytes has a span that is known",
     .script = "a read 0 len=256; a write 1; a write 3",
     .want = "A: gaps=1 missing=1 unknown=1", .events = "gap A psn=2 n=1"},
    {.name = "PMTU learned from the response",
     .script = "a read 0 len=4096; b resp.first 0 len=1024; "
               "b resp.middle 1..2 len=1024;"
               "b resp.last 3 len=1024; a read 4 len=4096; a write 8",
     .want = "A: pmtu=1024 unique=3"},
    {.name = "PMTU learned from the response, then a real gap",
     .script = "a read 0 len=4096; b resp.first 0 len=1024; "
               "b resp.middle 1..2 len=1024;"
               "b resp.last 3 len=1024; a read 4 len=4096; a write 9",
     .want = "A: gaps=1 missing=1 unknown=1", .events = "gap A psn=8 n=1"},
    {.name = "an odd length of payload teaches no PMTU",
     .script = "a write.first 0 len=1000; a write.last 1", .want = "A: pmtu=0"},
    {.name = "a lost READ request is many PSNs and one packet",
     .script = TEACH "a read 2 len=10240 drop; a write 12; b nak 2; a read 2 len=10240;"
               "a write 12; b resp.first 2 len=1024; b resp.middle 3..10 len=1024;"
               "b resp.last 11 len=1024; b ack 12",
     .want = "A: gaps=1 missing=10 again=2 repeats=1 rounds=1 by_nak=1 lost_before=1"
             " asked_bytes=10240"},
    {.name = "a READ request that came late is one packet",
     .script = TEACH "a write 2..9; b ack 9; a read 10 len=10240 drop; a write 20; "
               "b nak 10;"
               "a read 10 len=10240 copy; a read 10 len=10240; a write 20; "
               "b resp.first 10 len=1024;"
               "b resp.middle 11..18 len=1024; b resp.last 19 len=1024; b ack 20",
     .want = "A: gaps=1 missing=10 reordered=1 again=2 repeats=2 rounds=1 by_nak=1 "
               "spurious=1"},
    {.name = "READ cut short of its length: the next request resynchronises",
     .script = TEACH "a read 2 len=10240 cut; a write 12; b ack 12",
     .want = "A: T: untracked=* B: r.not_captured=10"},
    {.name = "READ cut short of its length, and its answer tells the PMTU: no span by that",
     .script = "a read 0 cut; b resp.first 0 len=1024; b resp.middle 1..2 len=1024; "
               "b resp.last 3 len=1024; a write 4; a write 6",
     .want = "A: pmtu=1024 gaps=1 missing=1 unknown=1", .events = "gap A psn=5 n=1"},
    {.name = "ten READs of 1 MiB at 4096",
     .script = "a write.first 0 len=4096; a write.last 1; a read 2 len=1048576;"
               "a read 258 len=1048576; a read 514 len=1048576; a write 770",
     .want = "A: unique=6 pmtu=4096"},
    {.name = "a span across the wrap of the PSN",
     .script = "a write.first 0xfffff0 len=1024; a write.last 0xfffff1; "
               "a read 0xfffff2 len=20480;"
               "a write 6",
     .want = "A: unique=4"},
};

static const scenario messages[] = {
    {.name = "message of three packets",
     .script = "a send.first 0 len=1024; a send.middle 1 len=1024; a send.last 2; "
               "b ack 2",
     .want = "A: messages=1 message_bytes=2112"},
    {.name = "message not acknowledged is not complete",
     .script = "a send.first 0 len=1024; a send.middle 1 len=1024; b ack 1; "
               "a send.last 2",
     .want = "A: messages=0"},
    {.name = "message without its end",
     .script = "a send.first 0 len=1024; a send.middle 1 len=1024; b ack 1",
     .want = "A: messages=0"},
    {.name = "message sent again counts once",
     .script = "a send 0..4; b nak 2; a send 2..4; b ack 4",
     .want = "A: messages=5 message_bytes=320 again=3 repeats=3 rounds=1 by_nak=1 "
               "undelivered=1"},
    {.name = "message by network duplicates counts once",
     .script = "a send 0..4; a send 4 copy; b ack 4",
     .want = "A: messages=5 duplicates=1 repeats=1"},
    {.name = "READ, atomic, WRITE and SEND are messages",
     .script = "a write 0 len=100; a send 1 len=10; a read 2 len=200; a add 3; b ack 1;"
               "b resp 2 len=200; b atomack 3",
     .want = "A: messages=4 message_bytes=318"},
    {.name = "a NAK in mid-message: the copy starts with Middle",
     .script = "a send.first 0 len=1024; a send.middle 1..2 len=1024; a send.last 3; "
               "b nak 1;"
               "a send.middle 1..2 len=1024; a send.last 3; b ack 3",
     .want = "A: messages=1 message_bytes=3136 again=3 repeats=3 rounds=1 by_nak=1 "
               "undelivered=1"},
};

static const scenario restarts[] = {
    {.name = "restart: the QPN is used anew, far ahead",
     .script = "a write 0..9; b ack 9; a write 0x100000..0x100009; b ack 0x100009",
     .want = "A: restarts=1 unique=20",
     .events = "stream_restart A psn=0x100000 n=1; no loss"},
    {.name = "restart: what was sent again before it had been acknowledged",
     .script = "a write 0..8; b ack 8; a write 9; +100000; a write 9; b ack 9; "
               "a write 0x100000..0x100009; b ack 0x100009",
     .want = "A: restarts=1 unique=20 again=1 repeats=1 rounds=1 by_timeout=1 "
               "data_or_ack_lost=1",
     .events = "stream_restart A psn=0x100000 n=1"},
    {.name = "restart: it had not",
     .script = "a write 0..8; b ack 8; a write 9; +100000; a write 9; "
               "a write 0x100000..0x100009; b ack 0x100009",
     .want = "A: restarts=1 unique=20 again=1 repeats=1 rounds=1 by_timeout=1 "
               "data_or_ack_lost=1",
     .events = "stream_restart A psn=0x100000 n=0"},
    {.name = "restart: the path MTU is another one",
     .script = "a write.first 0 len=1024; a write.last 1; b ack 1; "
               "a write.first 0x100000 len=4096; a write.last 0x100001; b ack 0x100001; "
               "a read 0x100002 len=8192; b resp.first 0x100002 len=4096; "
               "b resp.last 0x100003 len=4096; a write 0x100004; b ack 0x100004",
     .want = "A: restarts=1 unique=* pmtu=4096 messages=4"},
    {.name = "restart: far behind",
     .script = "a write 0x100000..0x100009; b ack 0x100009; a write 0..9; b ack 9",
     .want = "A: restarts=1 unique=20"},
    {.name = "no restart: a jump of a thousand is a gap",
     .script = "a write 0..9; b ack 9; a write 1010; b ack 1010",
     .want = "A: gaps=1 missing=1000 not_captured=1000 partial=*"},
    {.name = "restart: the PSNs are those of before, the requests are others",
     .script = "a write 0..9; b ack 9; +100000; a read 0; b resp 0; a write 1..9; b ack 9",
     .want = "A: restarts=1 unique=20 messages=20",
     .events = "stream_restart A psn=0; no round; no loss"},
    {.name = "restart: they are longer",
     .script = "a write 0..9; b ack 9; +100000; a write 0..9 len=128; b ack 9",
     .want = "A: restarts=1 unique=20 messages=20"},
    {.name = "restart: messages are shorter",
     .script = "a write.first 0; a write.last 1; b ack 1; +100000; a write 0..1; b ack 1",
     .want = "A: restarts=1 unique=4 messages=3"},
    {.name = "restart: they write elsewhere",
     .script = "a write 0..9 va=0x1000; b ack 9; +100000; a write 0..9 va=0x5000; b ack 9",
     .want = "A: restarts=1 unique=20 messages=20",
     .events = "stream_restart A psn=0; no round; no loss"},
    {.name = "restart: they read elsewhere",
     .script = "a read 0..3; b resp 0..3; +100000; a read 0..3 va=0x5000; b resp 0..3",
     .want = "A: restarts=1 unique=8 messages=8 B: r.unique=8",
     .events = "stream_restart A psn=0; no round; no loss"},
    {.name = "restart: they read elsewhere, and nothing numbers packets",
     .script = "a read 0..3; b resp 0..3; +100000; a read 0..3 va=0x5000; b resp 0..3",
     .ident = SCENARIO_IDENT_IPV6, .want = "A: restarts=1 unique=8 messages=8 B: r.unique=8"},
    {.name = "no restart: they read the same, for the second time and the third",
     .script = "a read 0..3; b resp 0..3; +100000; a read 0..3; b resp 0..3; +100000; "
               "a read 0..3; b resp 0..3",
     .want = "A: again=8 repeats=8 rounds=2 by_timeout=2 B: r.again=8 r.undelivered=*"},
    {.name = "no restart: of READs that were cut nothing tells where they read",
     .script = "a read 0; b resp 0; +100000; a read 0 va=0x5000 weak; b resp 0",
     .want = "A: again=1 repeats=1 rounds=1 by_timeout=1 B: r.again=1 r.undelivered=1"},
    {.name = "no restart: the first one was cut",
     .script = "a read 0 weak; b resp 0; +100000; a read 0; b resp 0",
     .want = "A: again=1 repeats=1 rounds=1 by_timeout=1 B: r.again=1 r.undelivered=1"},
    {.name = "no restart: it goes by another UDP source port",
     .script = "a read 0; b resp 0; +100000; a read 0 port=0xc111; b resp 0",
     .want = "A: again=1 repeats=1 rounds=1 by_timeout=1 B: r.again=1 r.undelivered=1"},
    {.name = "restart: they ask for more",
     .script = "a read 0; b resp 0; +100000; a read 0 len=128; b resp 0 len=128",
     .want = "A: restarts=1 unique=2 messages=2 B: r.unique=2"},
    {.name = "restart: they ask for less, which ends with no packet",
     .script = "a read 0 len=128; b resp 0 len=128; +100000; a read 0; b resp 0",
     .want = "A: restarts=1 unique=2 messages=2 B: r.unique=2"},
    {.name = "restart: they begin in the midst of one, and go beyond it",
     .script = "all len=1024; a write.first 0; a write.last 1; b ack 1; a read 2 len=4096; "
               "b resp.first 2; b resp.middle 3..4; b resp.last 5; +100000; a read 4 len=4096; "
               "b resp.first 4; b resp.middle 5..6; b resp.last 7",
     .want = "A: restarts=1 unique=* messages=3 B: r.unique=8"},
    {.name = "no restart: one is asked for again from its midst",
     .script = "all len=1024; a write.first 0; a write.last 1; b ack 1; a read 2 len=4000; "
               "b resp.first 2; b resp.middle 3; b resp.middle 4 drop; b resp.last 5 len=928; +10; "
               "a read 4 len=1952; b resp.first 4; b resp.last 5 len=928",
     .want = "A: again=1 repeats=1 rounds=1 by_reissue=1 "
             "B: r.gaps=1 r.missing=1 r.lost_before=1 r.again=2"},
    {.name = "restart by MSN: a gap that was none, of READs alone",
     .script = "a read 0..9; b resp 0..8 msn=100; b resp 9 msn=101; a read 1010..1012; "
               "b resp 1010 msn=1; b resp 1011 msn=2; b resp 1012 msn=3",
     .want = "A: restarts=1 unique=13 messages=13 B: r.unique=13",
     .events = "gap A psn=10 n=1000; stream_restart A psn=1010 rel=21; no loss"},
    {.name = "no restart by MSN: READs whose MSN goes on",
     .script = "a read 0..9; b resp 0..8 msn=100; b resp 9 msn=101; a read 1010..1012; "
               "b resp 1010 msn=1102",
     .want = "A: gaps=1 missing=1000 not_captured=1000 partial=*"},
    {.name = "no restart by MSN: responses that do not count",
     .script = "a write 0..9; b ack 9 msn=110; a read 1010..1012; b resp 1010..1012",
     .want = "A: gaps=1 missing=1000 not_captured=1000 partial=*"},
    {.name = "no restart by MSN: a READ that is answered again with the MSN of before",
     .script = "a write 0..9; b ack 9 msn=10; a read 10; b resp 10 msn=11; a write 11..19; "
               "b ack 19 msn=20; a write 20 drop; a write 21; +100000; a read 10; b resp 10 msn=11",
     .want = "A: gaps=* missing=* again=* repeats=* rounds=* by_timeout=* by_unknown=* "
             "by_reissue=* unknown=* B: r.again=* r.undelivered=*"},
    {.name = "restart: they were cut, and write elsewhere by more than a bit",
     .script = "all weak; a write 0..9 va=0x1000; b ack 9; +100000; "
               "a write 0..9 va=0x6000; b ack 9",
     .want = "A: restarts=1 unique=20 messages=20"},
    {.name = "no restart: they were cut, and one bit differs",
     .script = "all weak; a write 0 va=0x1000; b ack 0; +100000; a write 0 va=0x3000; "
               "b ack 0",
     .want = "A: again=1 repeats=1 rounds=1 by_timeout=1 ack_lost=1"},
    {.name = "no restart: nobody says where they wrote",
     .script = "a write 0; b ack 0; +100000; a write 0 va=0x6000; b ack 0",
     .want = "A: again=1 repeats=1 rounds=1 by_timeout=1 ack_lost=1"},
    {.name = "no restart: a WRITE is sent again, and once more",
     .script = "a write 0..2 va=0x7000; b ack 2; +100000; a write 0..2 va=0x7000; b ack 2; "
               "+100000; a write 0..2 va=0x7000; b ack 2",
     .want = "A: again=6 repeats=6 rounds=2 by_timeout=2 ack_lost=6"},
    {.name = "no restart: the same requests are sent again",
     .script = "a write 0..9; b ack 9; +100000; a write 0..9; b ack 9",
     .want = "A: again=10 repeats=10 rounds=1 by_timeout=1 ack_lost=10"},
    {.name = "no restart: what was cut may be damaged",
     .script = "all weak; a write 0..9; b ack 9; +100000; a write 0..9 len=128; b ack 9",
     .want = "A: again=10 repeats=10 rounds=1 by_timeout=1 ack_lost=10"},
    {.name = "no restart: less is asked for of a READ",
     .script = "all len=1024; a write.first 0; a write.last 1; b ack 1; a read 2 len=4096; "
               "b resp.first 2 drop; b resp.middle 3..4 drop; b resp.last 5; +10; "
               "a read 2 len=3072; b resp.first 2; b resp.middle 3; b resp.last 4; "
               "a write 6; b ack 6",
     .want = "A: again=1 repeats=1 rounds=1 by_reissue=1 "
             "B: r.gaps=* r.missing=* r.lost_before=* r.again=3"},
    {.name = "no identification: NAKs are answered one packet each, all as soon",
     .script = "a write 0..9; b ack 9; a write 10 drop; a write 11; a write 12 drop; "
               "a write 13..14; +9; b nak 10; +9; a write 10; b nak 12; +9; a write 12; b ack 14; +6000; "
               "a write 15 drop; a write 16..19; b nak 15; +9; a write 15; b ack 19; "
               "a write 20 drop; a write 21..24; b nak 20; +9; a write 20; b ack 24; "
               "a write 25 drop; a write 26..29; b nak 25; +9; a write 25; b ack 29; "
               "+100000; a write 30; b ack 30",
     .ident = SCENARIO_IDENT_IPV6, .want = "A: gaps=* missing=5 again=5 repeats=* "
               "rounds=* by_nak=* lost_before=5"},
    {.name = "no identification: the copy before a lone answer came damaged",
     .script = "a write 0..9; b ack 9; a write 10 bad; a write 11..14; b nak 10; +9; "
               "a write 10; b ack 14; +100000; a write 15; b ack 15",
     .ident = SCENARIO_IDENT_IPV6, .want = "A: gaps=1 missing=1 again=1 repeats=* rounds=1 "
               "by_nak=1 bad=1 corrupt=1"},
    {.name = "no identification: of two damaged ones before a lone answer one is missing",
     .script = "a write 0..9; b ack 9; a write 10,10 bad; a write 11..14; b nak 10; +9; "
               "a write 10; b ack 14; +100000; a write 15; b ack 15",
     .ident = SCENARIO_IDENT_IPV6, .want = "A: gaps=1 missing=1 again=1 repeats=* rounds=1 "
               "by_nak=1 bad=2 corrupt=1"},
    {.name = "numbered: likewise",
     .script = "a write 0..9; b ack 9; a write 10,10 bad; a write 11..14; b nak 10; +9; "
               "a write 10; b ack 14; +100000; a write 15; b ack 15",
     .want = "A: gaps=1 missing=1 again=1 repeats=* rounds=1 by_nak=1 bad=2 corrupt=1"},
    {.name = "no identification: a lone answer, and after all it was late",
     .script = "a write 0..9; b ack 9; a write 10 drop; a write 11..14; b nak 10; +9; "
               "a write 10; b ack 14; a write 15 drop; a write 16; b nak 15; +9; a write 10..16; "
               "b ack 16",
     .ident = SCENARIO_IDENT_IPV6, .want = "A: gaps=2 missing=2 reordered=1 again=* repeats=* "
               "rounds=* by_nak=* spurious=* lost_before=1"},
    {.name = "no identification: repeats that run on were sent again, whoever asked",
     .script = "a write 0..9; +50; b ack 9; a write 10..19; a write 12..19; +50; b ack 19",
     .ident = SCENARIO_IDENT_IPV6,
     .want = "A: duplicates=2 again=6 repeats=8 rounds=1 by_unknown=1 undelivered=*"},
    {.name = "a NAK explains what it names, though an ACK has passed it",
     .script = "a write 0..2; a add 3 drop; a write 4..5; b nak 3; a add 3; a write 4..5; b nak 3; "
               "b atomack 3; b ack 5; a add 3; a write 4..5; b atomack 3; b ack 5",
     .want = "A: gaps=1 missing=1 again=* repeats=* rounds=2 by_nak=2 lost_before=1 "
             "spurious=* undelivered=* naks=* B: r.again=1"},
    {.name = "READs asked for again, but not to their end",
     .script = "all len=1024; a write.first 0; a write.last 1; b ack 1; a read 2 len=8192; "
               "b resp.first 2; b resp.middle 3; b resp.middle 4 drop; b resp.middle 5; "
               "b resp.middle 6 drop; b resp.middle 7..8; b resp.last 9; a read 4 len=1024; "
               "b resp 4; a read 6 len=1024; b resp 6",
     .want = "A: again=2 repeats=2 rounds=2 by_reissue=2 B: r.gaps=2 r.missing=2 r.again=2 "
             "r.lost_before=2"},
    {.name = "of many packets that came damaged each is what is missing",
     .script = "a write 0..9; a write 10..29 bad; a write 30; b nak 10; a write 10..30; b ack 30",
     .want = "A: gaps=1 missing=20 again=21 repeats=1 rounds=1 by_nak=1 bad=20 corrupt=20"},
    {.name = "restart by MSN: a gap that was none",
     .script = "a write 0..9; b ack 4 msn=105; b ack 9 msn=110; a write 1010..1012; "
               "b ack 1012 msn=3",
     .want = "A: restarts=1 unique=13 messages=13",
     .events = "gap A psn=10 n=1000; stream_restart A psn=1010 rel=13; no loss"},
    {.name = "no restart by MSN: it goes on, and so does the queue pair",
     .script = "a write 0..9; b ack 9 msn=110; a write 1010..1012; b ack 1012 msn=1113",
     .want = "A: gaps=1 missing=1000 not_captured=1000 partial=*"},
    {.name = "no restart by MSN: some never count",
     .script = "a write 0..9; b ack 9; a write 1010..1012; b ack 1012",
     .want = "A: gaps=1 missing=1000 not_captured=1000 partial=*"},
    {.name = "no restart by MSN: it is more than a new queue pair can have completed",
     .script = "a write 0..9; b ack 9 msn=110; a write 1010..1012; b ack 1012 msn=4",
     .want = "A: gaps=1 missing=1000 not_captured=1000 partial=*"},
    {.name = "no restart by MSN: the gap is in the midst of a message",
     .script = "a write.first 8; a write.middle 9; b ack 9 msn=110; "
               "a write.middle 1010; a write.last 1011; b ack 1011 msn=1",
     .want = "A: gaps=1 missing=1000 not_captured=1000 partial=*"},
    {.name = "no restart by MSN: it was overtaken",
     .script = "a write 0..9; b ack 9 msn=110; b ack 4 msn=105; a write 10..12; "
               "b ack 12 msn=113",
     .want = "A: unique=13"},
    {.name = "no restart by MSN: it goes around",
     .script = "a write 0..9; b ack 9 msn=0xffffff; a write 1010; b ack 1010 msn=1",
     .want = "A: gaps=1 missing=1000 not_captured=1000 partial=*"},
    {.name = "restart by MSN: what is like that of before was not sent again",
     .script = "a send 0..9; b ack 9 msn=110; +100000; a send 0..3; b ack 2 msn=3; "
               "a send 4..12; b ack 12 msn=13",
     .want = "A: restarts=1 unique=23 messages=23 message_bytes=1472",
     .events = "round A; loss A psn=0; loss_withdrawn A psn=0; loss_withdrawn A psn=3; "
               "stream_restart A psn=0 rel=12; no gap"},
    {.name = "restart by MSN: likewise where nothing numbers packets",
     .script = "a send 0..9; b ack 9 msn=110; +100000; a send 0..3; b ack 2 msn=3; "
               "a send 4..12; b ack 12 msn=13; +100000; a send 0..3; b ack 3 msn=4",
     .ident = SCENARIO_IDENT_IPV6, .want = "A: restarts=2 unique=27 messages=27"},
    {.name = "restart by MSN: and something of it is lost",
     .script = "a send 0..9; b ack 9 msn=110; +100000; a send 0..3; b ack 3 msn=4; "
               "a send 4 drop; a send 5,6; b nak 4 msn=4; a send 4..6; b ack 6 msn=7",
     .want = "A: restarts=1 unique=17 messages=17 gaps=1 missing=1 again=3 repeats=2 "
               "rounds=1 by_nak=1 lost_before=1"},
    {.name = "no restart by MSN: a responder says what it has",
     .script = "a send 0..9; b ack 9 msn=110; +100000; a send 0..9; b ack 9 msn=110",
     .want = "A: again=10 repeats=10 rounds=1 by_timeout=1 ack_lost=10"},
    {.name = "no restart by MSN: or what it said to the first copy",
     .script = "a send 0..9; b ack 9 msn=110; +100000; a send 5..9; b ack 6 msn=107; "
               "b ack 9 msn=110",
     .want = "A: again=5 repeats=5 rounds=1 by_timeout=1 ack_lost=5"},
    {.name = "restart in a round: requests of another length show that it was none",
     .script = "a send 0..9; b ack 9; +100000; a send 0..2; a send 3..9 len=128; b ack 9",
     .want = "A: restarts=1 unique=20 messages=20",
     .events = "round A; stream_restart A psn=0 frame=15 rel=12"},
    {.name = "restart in a round: and what came before those is asked for",
     .script = "a send 0..9; b ack 9; +100000; a send 0..1; a send 2 drop; a send 3..4; "
               "a send 5..9 len=128; b nak 2; a send 2..4; a send 5..9 len=128; b ack 9",
     .want = "A: restarts=1 unique=20 messages=20 gaps=1 missing=1 again=8 repeats=7 rounds=1 "
             "by_nak=1 lost_before=1"},
    {.name = "restart by MSN: the first ACK covers what is new as well",
     .script = "a send 0..9; b ack 9 msn=110; +100000; a send 0..12; b ack 12 msn=13; "
               "a send 13; b ack 13 msn=14",
     .want = "A: restarts=1 unique=24 messages=24 message_bytes=1536",
     .events = "round A; stream_restart A psn=0 rel=12; no gap"},
    {.name = "restart by MSN: it does, where nothing numbers packets",
     .script = "a send 0..9; b ack 9 msn=110; +100000; a send 0..12; b ack 12 msn=13; "
               "a send 13; b ack 13 msn=14",
     .ident = SCENARIO_IDENT_IPV6, .want = "A: restarts=1 unique=24 messages=24"},
    {.name = "restart by MSN: one of before had not been captured",
     .script = "a send 0..3; a send 4 drop; a send 5..9; b ack 9 msn=110; +100000; a send 0..9; "
               "b ack 9 msn=10",
     .want = "A: restarts=1 unique=19 messages=19 message_bytes=1216 gaps=1 missing=1 "
             "not_captured=1 partial=*"},
    {.name = "no restart by MSN: all was sent again, and the MSN goes on",
     .script = "a send 0..9; b ack 9 msn=110; +100000; a send 0..12; b ack 12 msn=113",
     .want = "A: again=10 repeats=10 rounds=1 by_timeout=1 ack_lost=10"},
    {.name = "restart by MSN: the losses are withdrawn that were told",
     .script = "a send 0..9; b ack 4 msn=105; b ack 9 msn=110 drop; +95000; b ack 9 msn=110; "
               "+3000; a send 0..9; b ack 9 msn=10",
     .want = "A: restarts=1 unique=20 messages=20",
     .events = "round A; loss A psn=0; loss A psn=4; loss_withdrawn A psn=0; "
               "loss_withdrawn A psn=4; stream_restart A psn=0"},
    {.name = "restart by 2^23 - 1",
     .script = "a write 0; b ack 0; a write 0x7fffff; b ack 0x7fffff",
     .want = "A: restarts=1"},
    {.name = "restart by 2^23",
     .script = "a write 0; b ack 0; a write 0x800000; b ack 0x800000",
     .want = "A: restarts=1"},
    {.name = "restart by 2^23 + 1",
     .script = "a write 0; b ack 0; a write 0x800001; b ack 0x800001",
     .want = "A: restarts=1"},
    {.name = "restart with READs: responses start anew as well",
     .script = "a read 0; b resp 0; a read 1; b resp 1; a read 0x100000; "
               "b resp 0x100000;"
               "a read 0x100001; b resp 0x100001",
     .want = "A: restarts=1 B: r.unique=4"},
    {.name = "restart: no round of before asks for what is answered again",
     .script = "all len=1024; a write.first 0; a write.last 1; b ack 1; "
               "a read 2 len=2048; b resp.first 2; b resp.last 3; +10; "
               "a read 2 len=2048; b resp.first 2; b resp.last 3; "
               "a read 0x100000 len=1024; a read 0x100001 len=1024; "
               "b resp 0x100000; b resp 0x100001; b resp 0x100001; b resp 0x100000",
     .want = "A: restarts=1 again=1 repeats=1 rounds=1 by_timeout=* by_unknown=* "
             "by_reissue=* undelivered=* B: r.again=4 r.undelivered=*"},
    {.name = "restart: what came damaged before is no copy of what is missing now",
     .script = "a write 0..4; a write 5 bad; a write 6..9; b nak 5; a write 5..9; "
               "b ack 9; a write 0x100000..0x100009; b ack 0x100009; "
               "a write 0..4; a write 5 drop; a write 6..9; b nak 5; a write 5..9; "
               "b ack 9",
     .want = "A: restarts=2 gaps=2 missing=2 again=10 repeats=8 rounds=2 by_nak=2 "
             "corrupt=1 bad=1 lost_before=1"},
    {.name = "restart: what a NAK asked for before explains nothing behind it",
     .script = "a write 0..9; b nak 5; a write 0x100000..0x100009; "
               "a write 0x100005..0x100009; b ack 0x100009",
     .want = "A: restarts=1 again=5 repeats=5 rounds=1 by_unknown=1 undelivered=2"},
    {.name = "restart: CM gives the QPNs out again, and nearby PSNs",
     .script = "a cm.req comm=1 qpn=0x100 psn=500; "
               "b cm.rep comm=2 rcomm=1 qpn=0x200 psn=600; a write 500..509; b ack 509; "
               "a cm.req comm=3 qpn=0x100 psn=520; "
               "b cm.rep comm=4 rcomm=3 qpn=0x200 psn=620; a write 520..529; b ack 529",
     .pairs = SCENARIO_PAIRS_UNKNOWN, .want = "A: restarts=1 unique=20 paired=cm",
     .events = "stream_restart A psn=520; no gap"},
    {.name = "restart: CM has ended the queue pair of before, in one direction alone",
     .script = "a write 500..509; a cm.dreq comm=1 rcomm=2 qpn=0x200; +10000; a write 520..529",
     .pairs = SCENARIO_PAIRS_UNKNOWN, .want = "A: restarts=1 unique=20",
     .events = "stream_restart A psn=520; no gap"},
    {.name = "restart: it has, and the requests are the same",
     .script = "a write 500..509; a cm.dreq comm=1 rcomm=2 qpn=0x200; +10000; a write 500..509",
     .pairs = SCENARIO_PAIRS_UNKNOWN, .want = "A: restarts=1 unique=20"},
    {.name = "restart: it has, and the other direction begins anew as well",
     .script = "a write 500..509; b ack 509; b write 0..9; a ack 9; "
               "a cm.dreq comm=1 rcomm=2 qpn=0x200; +10000; a write 500..509; b ack 509; "
               "b write 0..9; a ack 9",
     .want = "A: restarts=1 unique=20 B: restarts=1 unique=20"},
    {.name = "restart: it has, at each of two points",
     .script = "a cm.req comm=1 qpn=0x100 psn=600; b cm.rep comm=2 rcomm=1 qpn=0x200 psn=500; "
               "b cm.rep comm=2 rcomm=1 qpn=0x200 psn=500 point=1; a write 500..509; "
               "a write 500..509 point=1; b ack 509; b ack 509 point=1; "
               "a cm.dreq comm=1 rcomm=2 qpn=0x200; a cm.dreq comm=1 rcomm=2 qpn=0x200 point=1; "
               "+10000; a write 520..529; a write 520..529 point=1; b ack 529; b ack 529 point=1",
     .pairs = SCENARIO_PAIRS_UNKNOWN,
     .want = "A: restarts=1 unique=20 paired=cm A@1: restarts=1 unique=20 paired=cm"},
    {.name = "no restart: the DREQ is sent again when the next queue pair is there",
     .script = "a cm.req comm=1 qpn=0x100 psn=600; b cm.rep comm=2 rcomm=1 qpn=0x200 psn=500; "
               "a write 500..509; b ack 509; a cm.dreq comm=1 rcomm=2 qpn=0x200; "
               "+10000; a write 520..529; b ack 529; a cm.dreq comm=1 rcomm=2 qpn=0x200; "
               "+10000; a write 530 drop; a write 531; b nak 530; a write 530..531; b ack 531",
     .pairs = SCENARIO_PAIRS_UNKNOWN,
     .want = "A: restarts=1 unique=22 gaps=1 missing=1 naks=1 again=2 repeats=1 rounds=1 "
             "by_nak=1 lost_before=1 paired=cm"},
    {.name = "restart: CM had named what the queue pair of before began with",
     .script = "a cm.req comm=1 qpn=0x100 psn=600; b cm.rep comm=2 rcomm=1 qpn=0x200 psn=500; "
               "a write 500..509; b ack 509; a cm.dreq comm=1 rcomm=2 qpn=0x200; +10000; "
               "a write 520..529; b ack 529",
     .pairs = SCENARIO_PAIRS_UNKNOWN, .want = "A: restarts=1 unique=20 paired=cm"},
    {.name = "no restart: what was on its way beside a DREQ",
     .script = "a write 500..504; a write 505 drop; a cm.dreq comm=1 rcomm=2 qpn=0x200; "
               "a write 506..509",
     .pairs = SCENARIO_PAIRS_UNKNOWN, .want = "A: gaps=1 missing=1 unknown=1"},
    {.name = "no restart: a DREQ names another",
     .script = "a write 500..509; a cm.dreq comm=1 rcomm=2 qpn=0x201; +10000; a write 520..529",
     .pairs = SCENARIO_PAIRS_UNKNOWN, .want = "A: gaps=1 missing=10 unknown=10"},
    {.name = "no restart: the queue pair goes on for long behind a DREQ",
     .script = "a write 500..509; a cm.dreq comm=1 rcomm=2 qpn=0x200; +10000; a write 510; "
               "+10000; a write 520",
     .pairs = SCENARIO_PAIRS_UNKNOWN, .want = "A: gaps=1 missing=9 unknown=9"},
    {.name = "restart in a gap: what was missing is unknown",
     .script = "a write 0..4; b ack 4; a write 5 drop; a write 6; "
               "a write 0x100000..0x100004;"
               "b ack 0x100004",
     .want = "A: restarts=1 gaps=1 missing=1 unknown=1"},
    {.name = "restart, one direction only",
     .script = "a write 0..9; a write 0x100000..0x100009", .want = "A: restarts=1"},
    {.name = "an old NAK after a restart is none of its business",
     .script = "a write 0..9; b nak 5; a write 0x100000..0x100009; b ack 0x100009",
     .want = "A: restarts=1 undelivered=1"},
};

static const scenario datagrams[] = {
    {.name = "UC: in order", .script = "a uc.write 0..9", .want = "A: unique=10"},
    {.name = "UC: gap, and nobody will ask",
     .script = "a uc.write 0..4; a uc.write 5 drop; a uc.write 6..9",
     .want = "A: gaps=1 missing=1 unknown=1",
     .events = "loss A psn=5 detail=verdict_unknown evidence=no_acknowledgements"},
    {.name = "UC: late",
     .script = "a uc.write 0..4; a uc.write 5 drop; a uc.write 6; a uc.write 5 copy; "
               "a uc.write 7",
     .want = "A: gaps=1 missing=1 reordered=1"},
    {.name = "UC: a message is complete that was seen whole",
     .script = "a uc.write.first 0; a uc.write.middle 1,2; a uc.write.last 3; "
               "a uc.write.first 4; a uc.write.middle 6; a uc.write.last 7; "
               "a uc.write.middle 9; a uc.write.last 10; a uc.write 12; "
               "a uc.write.first 13; a uc.write.last 14",
     .want = "A: gaps=3 missing=3 unknown=3 messages=3 broken=2"},
    {.name = "UC: a packet that comes late breaks its message",
     .script = "a uc.write.first 0; a uc.write.middle 1 drop; a uc.write.last 2; "
               "a uc.write.middle 1 copy; a uc.write.first 3; a uc.write.last 4 drop; "
               "a uc.write.first 5; a uc.write.last 4 copy; a uc.write.last 6",
     .want = "A: gaps=2 missing=2 reordered=2 messages=0 broken=3"},
    {.name = "UC: a message of one packet is taken whenever it comes",
     .script = "a uc.write 0; a uc.write 1 drop; a uc.write 2; a uc.write 1 copy; a uc.write 3",
     .want = "A: gaps=1 missing=1 reordered=1 messages=4 broken=0"},
    {.name = "UC: and breaks the one that it comes into",
     .script = "a uc.write 0; a uc.write 1 drop; a uc.write.first 2; a uc.write 1 copy; "
               "a uc.write.last 3; a uc.write.first 4; a uc.write.last 5",
     .want = "A: gaps=1 missing=1 reordered=1 messages=3 broken=1"},
    {.name = "UC: so does a copy that the network makes",
     .script = "a uc.write.first 0; a uc.write.middle 1; a uc.write.middle 1 copy; "
               "a uc.write.last 2; a uc.write 3; a uc.write 3 copy",
     .want = "A: duplicates=2 repeats=2 messages=1 broken=1"},
    {.name = "UC: nor is one broken that the end of the capture cuts, or one of a packet that "
               "comes twice",
     .script = "a uc.write 0; a uc.write 1,2; a uc.write 1,2 copy; a uc.write.first 3; "
               "a uc.write.middle 4",
     .want = "A: duplicates=2 repeats=2 messages=3 broken=0"},
    {.name = "UC: what comes late is of the message that was broken without it",
     .script = "a uc.write 0..7; a uc.write.first 8; a uc.write.middle 9,10 drop; "
               "a uc.write.last 11; a uc.write.middle 9,10 copy; a uc.write 12",
     .want = "A: gaps=1 missing=2 reordered=2 messages=9 broken=1"},
    {.name = "UC: late long after, random identification: nobody sends again",
     .script = "a uc.write 0..4; a uc.write 5 drop; a uc.write 6; +100000; "
               "a uc.write 5 copy",
     .ident = SCENARIO_IDENT_RANDOM, .want = "A: gaps=1 missing=1 reordered=1"},
    {.name = "UC: network duplicate",
     .script = "a uc.write 0..4; a uc.write 3 copy",
     .want = "A: duplicates=1 repeats=1"},
    {.name = "UC: gap within a message",
     .script = "a uc.write.first 0 len=1024; a uc.write.middle 1 len=1024 drop;"
               "a uc.write.middle 2 len=1024; a uc.write.last 3; a uc.write 4",
     .want = "A: gaps=1 missing=1 unknown=1"},
    {.name = "UD: PSNs are not checked",
     .script = "a ud.send 0; a ud.send 7; a ud.send 7; a ud.send 3",
     .want = "A: packets=4"},
    {.name = "an unknown opcode moves nothing",
     .script = "a write 0..4; a unknown 77; a write 5; b ack 5", .want = "A: unique=6"},
};
/* clang-format on */

int
main(void)
{
    SCENARIO_CHECK(in_order);
    SCENARIO_CHECK(late);
    SCENARIO_CHECK(overtaken);
    SCENARIO_CHECK(seen_before);
    SCENARIO_CHECK(reads);
    SCENARIO_CHECK(messages);
    SCENARIO_CHECK(restarts);
    SCENARIO_CHECK(datagrams);
    return check_status();
}
