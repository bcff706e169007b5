/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the point itself misses, and which verdicts that spoils. */
#include "scenario.h"

#define MISSED "a write 0..9; b ack 9; a write 10 drop; a write 11..19; b ack 19; "
#define SEEN "a write 0..19; b ack 19; "
#define LOSS                                                                           \
    "a write 20 drop; a write 21; a write 22 drop; a write 23..24; b nak 20; "         \
    "a write 20..24; b ack 24; "

/* clang-format off */
static const scenario misses[] = {
    {.name = "nothing was missed: what was sent again unasked was lost",
     .script = SEEN LOSS,
     .want = "A: gaps=2 missing=2 again=5 repeats=3 rounds=1 by_nak=1 naks=1 "
               "lost_before=2"},
    {.name = "the point misses packets: what was not asked for may have gone by",
     .script = MISSED LOSS,
     .want = "A: gaps=3 missing=3 again=5 repeats=3 rounds=1 by_nak=1 naks=1 "
               "lost_before=1 unknown=1 not_captured=1",
     .events = "loss A psn=20 detail=lost_before evidence=asked_for; "
               "loss A psn=22 detail=verdict_unknown evidence=capture_misses"},
    {.name = "known too late: the claim is taken back",
     .script = SEEN LOSS "a write 25 drop; a write 26..34; b ack 34",
     .want = "A: gaps=3 missing=3 again=5 repeats=3 rounds=1 by_nak=1 naks=1 "
               "lost_before=1 unknown=1 not_captured=1",
     .events = "loss A psn=22 detail=lost_before evidence=resent_only; "
               "loss_withdrawn A psn=22 detail=lost_before; "
               "loss A psn=22 detail=verdict_unknown evidence=capture_misses"},
    {.name = "another point's misses spoil nothing here",
     .script = "a write 0..9; a write 0..9 copy point=1; a write 10; "
               "a write 11..19; a write 11..19 copy point=1; b ack 19; "
               "b ack 19 copy point=1; " LOSS,
     .want = "A: gaps=2 missing=2 again=5 repeats=3 rounds=1 by_nak=1 naks=1 "
               "lost_before=2 A@1: gaps=1 missing=1 not_captured=1 partial=*"},
    {.name = "one direction only: nothing tells that a packet was missed",
     .script = "a write 0..9; a write 10 drop; a write 11..19; a write 20 drop; "
               "a write 21..24; a write 20..24",
     .pairs = SCENARIO_PAIRS_UNKNOWN,
     .want = "A: gaps=2 missing=2 again=5 repeats=4 rounds=1 by_unknown=1 "
               "lost_before=1 unknown=*"},
    {.name = "what is seen behind a missed packet was accepted, and may be lost later",
     .script = "a write 0..9; b ack 9; a write 10 drop; a write 11..14; b nak 12; "
               "a write 12..14; b ack 14",
     .want = "A: gaps=1 missing=1 again=3 repeats=3 rounds=1 by_nak=1 naks=1 "
               "undelivered=1 not_captured=1",
     .events = "loss A psn=12 detail=undelivered evidence=asked_for"},
    {.name = "partial path: a comb, no ACKs, and nothing is sent again",
     .script = "a write 0,2,4,6,8,10,12,14,16", .pairs = SCENARIO_PAIRS_UNKNOWN,
     .want = "A: gaps=8 missing=8 unknown=8 partial=yes"},
    {.name = "partial path: seven gaps are too few to tell",
     .script = "a write 0,2,4,6,8,10,12,14", .pairs = SCENARIO_PAIRS_UNKNOWN,
     .want = "A: gaps=7 missing=7 unknown=7 partial=no"},
    {.name = "partial path: something was sent again, so that losses are repaired",
     .script = "a write 0,2,4,6,8,10,12,14,16; +100000; a write 15..16",
     .pairs = SCENARIO_PAIRS_UNKNOWN,
     .want = "A: gaps=8 missing=8 unknown=* partial=no again=2 repeats=1 rounds=1 "
               "by_unknown=1 lost_before=1"},
    {.name = "partial path: a hole in the capture is none",
     .script = "a write 0..9; a write 10..29 drop; a write 30..99; b ack 99",
     .want = "A: gaps=1 missing=20 not_captured=20 partial=no"},
    {.name = "partial path: UC repairs nothing, so that a comb may be loss",
     .script = "a uc.write 0,2,4,6,8,10,12,14,16", .pairs = SCENARIO_PAIRS_UNKNOWN,
     .want = "A: gaps=8 missing=8 unknown=8 partial=no"},
};
/* clang-format on */

int
main(void)
{
    SCENARIO_CHECK(misses);
    return check_status();
}
