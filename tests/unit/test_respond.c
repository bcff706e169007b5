/* SPDX-License-Identifier: GPL-2.0-or-later */
/* READ responses and atomic acknowledgements: order, losses, copies. */
#include "scenario.h"

/* First and last of a WRITE teach the path MTU: 1024. */
#define TEACH "all len=1024; a write.first 0; a write.last 1; b ack 1; "
#define SLOW "all len=1024; a write 0; +100; b ack 0; a write 1; +100; b ack 1; "
#define READ_4 TEACH "a read 2 len=4096; "
#define ALL_4 "b resp.first 2; b resp.middle 3..4; b resp.last 5; "

/* clang-format off */
/* One response of each of two READs is asked for again, and new READs go on. */
#define PART_AGAIN \
    READ_4 "a read 6 len=4096; " ALL_4 "b resp.first 6; b resp.middle 7..8; b resp.last 9; " \
           "+10; a read 2 len=1024; b resp 2; +10; a read 6 len=1024; a read 10; " \
           "b resp 6; b resp 10; "
/* Of the first READ the first response, which alone tells whose it is, is overtaken. */
#define BEFORE_PAIRING \
    "all len=1024; a read 2 len=4096; a read 6..13; b resp.first 2 drop; " \
    "b resp.middle 3..4; b resp.last 5; b resp 6..13; b resp.first 2 copy; "
/* Three READs, the second not seen, of which a response to the first is lost, so that all are
 * asked for again, while the first answers to the others are on their way. */
#define ALL_AGAIN \
    READ_4 "a read 6 len=4096 drop; a read 10 len=4096; b resp.first 2; " \
           "b resp.middle 3 drop; b resp.middle 4; b resp.last 5; " \
           "+10; a read 3 len=3072; a read 6,10 len=4096; " \
           "b resp.first 6; b resp.middle 7..8; b resp.last 9; " \
           "b resp.first 10; b resp.middle 11..12; b resp.last 13; " \
           "b resp.first 3; b resp.middle 4; b resp.last 5; "
/* The last two are asked for once more from the second response on. */
#define ONCE_MORE \
    "b resp.middle 8; b resp.last 9; +10; a read 7 len=3072; a read 10 len=4096; " \
    "b resp.first 10; b resp.middle 11..12; b resp.last 13; " \
    "b resp.first 7; b resp.middle 8; b resp.last 9; " \
    "b resp.first 10; b resp.middle 11..12; b resp.last 13; a write 14; b ack 14"

static const scenario reads[] = {
    {.name = "the clock was set back: what is missing is waited for by what it shows now",
     .script = "t=20000000; a read 0..9; b resp 0..9; t=1000; a read 10..19; b resp 10..14; "
               "b resp 15 drop; b resp 16..19; a read 15..19; b resp 15..19",
     .want = "A: again=5 repeats=5 rounds=1 by_reissue=1 B: r.gaps=1 r.missing=1 r.again=5 "
               "r.lost_before=1"},
    {.name = "READ answered in order",
     .script = READ_4 ALL_4 "a write 6; b ack 6",
     .want = "A: messages=3 B: r.unique=4 responses=6"},
    {.name = "an answer comes again, of which a network has doubled a packet",
     .script = READ_4 ALL_4 "+10; b resp.first 2; b resp.middle 3,3,4; b resp.last 5; "
               "a write 6; b ack 6",
     .ident = SCENARIO_IDENT_CONSTANT,
     .want = "B: r.unique=4 r.again=4 r.duplicates=1 responses=*"},
    {.name = "who asks for a part of a READ again keeps what is behind that",
     .script = TEACH "a read 2 len=8192; b resp.first 2; b resp.middle 3..8; b resp.last 9; "
               "+10; a read 3; b resp 3; +10; a read 6; b resp 6; a write 10; b ack 10",
     .want = "A: again=2 repeats=2 rounds=2 by_reissue=2 recovery=selective "
               "B: r.unique=8 r.again=2 r.undelivered=2 responses=*"},
    {.name = "a part of a READ that is asked for again is answered as far as it goes",
     .script = PART_AGAIN, .ident = SCENARIO_IDENT_CONSTANT,
     .want = "A: again=2 repeats=2 rounds=2 by_reissue=2 recovery=* "
               "B: r.unique=9 r.again=2 r.undelivered=2 responses=*"},
    {.name = "many parts of a READ that are asked for again",
     .script = TEACH "a read 2 len=16384; b resp.first 2; b resp.middle 3..16; b resp.last 17; "
               "+10; a read 2; b resp 2; +10; a read 4; b resp 4; +10; a read 6; b resp 6; "
               "+10; a read 8; b resp 8; +10; a read 10; b resp 10; +10; a read 12; a read 18; "
               "b resp 12; b resp 18; +10; a read 13 len=5120; b resp.first 13; "
               "b resp.middle 14..16; b resp.last 17; a write 19; b ack 19",
     .ident = SCENARIO_IDENT_CONSTANT,
     .want = "A: again=7 repeats=7 rounds=7 by_reissue=7 recovery=* "
             "B: r.unique=17 r.again=11 r.undelivered=7 responses=*"},
    {.name = "a part of a READ that is asked for again, overtaken by what is asked for anew",
     .script = READ_4 ALL_4 "+10; a read 2 len=1024 drop; a read 6 len=2048; "
               "a read 2 len=1024 copy; b resp 2; b ack 1,1,1 drop; b resp.first 6; "
               "b resp.last 7; +10; "
               "a read 3 len=3072; b resp.first 3; b resp.middle 4; b resp.last 5; "
               "a write 8; b ack 8",
     .want = "A: again=2 repeats=2 rounds=1 by_reissue=1 recovery=* "
             "B: r.unique=6 r.again=4 r.undelivered=1 responses=*"},
    {.name = "late, and one too many, though a part was asked for before",
     .script = TEACH "a read 2 len=8192; b resp.first 2; b resp.middle 3..4; "
               "b resp.middle 5 drop; b resp.middle 6..8; b resp.last 9; +10; a read 2; "
               "b resp 2; +10; a read 4 len=6144; b resp.first 4; b resp.middle 5..8; "
               "b resp.last 9; +10; a read 7 len=3072; b resp.middle 5 copy; b resp.first 7; "
               "b resp.middle 8; b resp.last 9; a write 10; b ack 10",
     .ident = SCENARIO_IDENT_CONSTANT,
     .want = "A: again=3 repeats=3 rounds=3 by_reissue=3 recovery=* B: r.gaps=1 r.missing=1 "
             "r.unique=8 r.again=10 r.reordered=1 r.undelivered=3 responses=*"},
    {.name = "a part of a READ that is asked for again is lost as far as it goes",
     .script = TEACH "a read 2 len=8192; b resp.first 2; b resp.middle 3..8; b resp.last 9; "
               "+10; a read 2; b resp 2; +10; a read 4 len=2048; b resp.first 4; "
               "b resp.last 5 drop; a read 10; b resp 10; +10; a read 5 len=4096; "
               "b resp.first 5; b resp.middle 6..7; b resp.last 8; a write 11; b ack 11",
     .ident = SCENARIO_IDENT_CONSTANT,
     .want = "A: again=3 repeats=3 rounds=3 by_reissue=3 recovery=* B: r.unique=9 r.again=6 "
             "r.undelivered=3 r.lost_before=1 responses=*"},
    {.name = "the same where numbers have room for no more",
     .script = READ_4 ALL_4 "+10; a read 2 len=1024; b resp 2; +10; a read 4 len=1024; "
               "a read 6; b resp 4 drop; b resp 6; +10; a read 4 len=2048; b resp.first 4; "
               "b resp.last 5; a write 7; b ack 7",
     .want = "A: again=3 repeats=3 rounds=3 by_reissue=3 recovery=* B: r.unique=5 r.again=3 "
             "r.undelivered=2 r.lost_before=1 responses=*"},
    {.name = "all of a READ comes again after a part of it did",
     .script = PART_AGAIN "+100000; a read 6 len=4096; b resp.first 6; b resp.middle 7..8; "
                          "b resp.last 9; a write 11; b ack 11",
     .ident = SCENARIO_IDENT_CONSTANT,
     .want = "A: again=3 repeats=3 rounds=3 by_reissue=2 by_timeout=1 recovery=* "
               "B: r.unique=9 r.again=6 r.undelivered=3 responses=*"},
    {.name = "answers that are sent again have overtaken a new response, and go on",
     .script = READ_4 "a read 6; b resp.first 2; b resp.middle 3 drop; b resp.middle 4; "
               "b resp.last 5; b resp 6 drop; +10; a read 3 len=3072; a read 6; "
               "b resp.first 3; b resp 6 copy; b resp.middle 4; b resp.last 5; b resp 6; "
               "a write 7; b ack 7",
     .want = "A: again=2 repeats=2 rounds=1 by_reissue=1 "
               "B: r.unique=5 r.gaps=1 r.missing=1 r.again=4 r.lost_before=1 responses=*"},
    {.name = "two READs, and a WRITE between them",
     .script = READ_4 "a write 6; a read 7 len=2048; " ALL_4 "b ack 6; "
               "b resp.first 7; b resp.last 8",
     .want = "A: unique=5 B: r.unique=6"},
    {.name = "duplex: WRITEs of one side among READ responses to the other",
     .script = READ_4 "b write 100; b resp.first 2; b write 101; b resp.middle 3; "
               "a ack 101;"
               "b write 102; b resp.middle 4; b resp.last 5; a ack 102",
     .want = "A: unique=3 B: unique=3 r.unique=4"},
    {.name = "response lost before this point: asked again from there, inside the READ",
     .script = READ_4 "b resp.first 2; b resp.middle 3 drop; b resp.middle 4; "
               "b resp.last 5; +10;"
               "a read 3 len=3072; b resp.first 3; b resp.middle 4; b resp.last 5; "
               "a write 6; b ack 6",
     .want = "A: again=1 repeats=1 rounds=1 by_reissue=1 asked_bytes=3072"
             " B: r.gaps=1 r.missing=1 r.lost_before=1 r.again=3",
     .events = "gap B psn=3 n=1 space=responses; round A psn=3 detail=read_reissue;"
               "read_reissue A psn=3 n=3072;"
               "loss B psn=3 detail=lost_before evidence=asked_for space=responses"},
    {.name = "response lost behind this point: seen here, asked again",
     .script = READ_4 ALL_4 "+10; a read 3 len=3072; b resp.first 3; b resp.middle 4; "
               "b resp.last 5;"
               "a write 6; b ack 6",
     .want = "A: again=1 repeats=1 rounds=1 by_reissue=1 B: r.undelivered=1 r.again=3",
     .events = "loss B psn=3 detail=undelivered evidence=asked_for"},
    {.name = "the last response is lost before this point, a timeout repairs it",
     .script = READ_4 "b resp.first 2; b resp.middle 3..4; b resp.last 5 drop; +100000;"
               "a read 5 len=1024; b resp 5; a write 6; b ack 6",
     .want = "A: again=1 repeats=1 rounds=1 by_timeout=1"
             " B: r.lost_before=1 r.gaps=* r.missing=* r.again=*"},
    {.name = "the last response is lost behind this point, a timeout repairs it",
     .script = READ_4 ALL_4 "+100000; a read 5 len=1024; b resp 5; a write 6; b ack 6",
     .want = "A: again=1 repeats=1 rounds=1 by_timeout=1 B: r.undelivered=1 r.again=1"},
    {.name = "the tail is lost before this point, and the READ begins anew",
     .script = READ_4 "b resp.first 2; b resp.middle 3; b resp.middle 4 drop; "
               "b resp.last 5 drop;"
               "+100000; a read 4 len=2048; b resp.first 4; b resp.last 5; a write 6; "
               "b ack 6",
     .want = "A: again=1 repeats=1 rounds=1 by_timeout=1"
             " B: r.lost_before=* r.gaps=* r.missing=* r.again=*",
     .events = "loss B psn=4 detail=lost_before space=responses"},
    {.name = "the first response is lost before this point",
     .script = READ_4 "b resp.first 2 drop; b resp.middle 3..4; b resp.last 5; +10; "
               "a read 2 len=4096;"
               ALL_4 "a write 6; b ack 6",
     .want = "A: again=1 repeats=1 rounds=1 by_reissue=1 B: r.gaps=1 r.missing=1 "
               "r.lost_before=1 r.again=4"},
    {.name = "the first response of all is lost before this point",
     .script = "all len=1024; a read 0 len=4096; b resp.first 0 drop; "
               "b resp.middle 1..2; b resp.last 3;"
               "+10; a read 0 len=4096; b resp.first 0; b resp.middle 1..2; "
               "b resp.last 3",
     .want = "A: again=1 repeats=1 rounds=1 by_reissue=1 B: r.gaps=1 r.missing=1 "
               "r.lost_before=1 r.again=4"},
    {.name = "responses came before the two were paired",
     .script = "all len=1024; b resp.middle 4; a read 2 len=4096; b resp.last 5; +10; "
               ALL_4 "a write 6; b ack 6",
     .want = "A: messages=2 B: r.again=4"},
    {.name = "the first response of all came late, and with it the pairing: it is not sent again",
     .script = BEFORE_PAIRING "a write 14; b ack 14", .pairs = SCENARIO_PAIRS_UNKNOWN,
     .want = "A: messages=10 B: r.unique=12 r.reordered=1 responses=*"},
    {.name = "responses that came before the two were paired are not lost when they come again",
     .script = BEFORE_PAIRING
               "+10; a read 2 len=4096; a read 6..13; b resp 6..13; " ALL_4
               "a write 14; b ack 14",
     .pairs = SCENARIO_PAIRS_UNKNOWN, .ident = SCENARIO_IDENT_IPV6,
     .want = "A: again=9 repeats=9 rounds=1 by_reissue=1 "
               "B: r.unique=15 r.again=13 r.undelivered=1 responses=*"},
    {.name = "what was asked for before the capture is still coming",
     .script = "all len=1024; a read 2 len=4096; b resp.middle 4; b resp.last 5; +10; "
               ALL_4 "a write 6; b ack 6",
     .want = "A: messages=2 B: r.gaps=1 r.missing=2 r.again=2"},
    {.name = "the whole answer is lost, or the request: that cannot be told",
     .script = READ_4 "b resp.first 2 drop; b resp.middle 3..4 drop; "
               "b resp.last 5 drop; +100000;"
               "a read 2 len=4096; " ALL_4 "a write 6; b ack 6",
     .want = "A: again=1 repeats=1 rounds=1 by_timeout=1 data_or_ack_lost=1"},
    {.name = "nothing is lost: both copies of the READ are answered, the first late",
     .script = READ_4 "+100000; a read 2 len=4096; " ALL_4 ALL_4 "a write 6; b ack 6",
     .want = "A: again=1 repeats=1 rounds=1 by_timeout=1 spurious=1 B: r.again=4",
     .events = "loss A psn=2 detail=data_or_ack_lost; "
               "loss_withdrawn A psn=2 detail=data_or_ack_lost; spurious_round A psn=2"},
    {.name = "the answer is lost again before this point",
     .script = READ_4 "b resp.first 2; b resp.middle 3 drop; b resp.middle 4; "
               "b resp.last 5; +10;"
               "a read 3 len=3072; b resp.first 3 drop; b resp.middle 4; "
               "b resp.last 5; +10;"
               "a read 3 len=3072; b resp.first 3; b resp.middle 4; b resp.last 5; "
               "a write 6; b ack 6",
     .want = "A: again=2 repeats=2 rounds=2 by_reissue=2"
             " B: r.lost_before=2 r.again=5 r.gaps=* r.missing=*"},
    {.name = "the answer is lost again behind this point",
     .script = READ_4 ALL_4 "+10; a read 3 len=3072; b resp.first 3; b resp.middle 4; "
               "b resp.last 5; +10;"
               "a read 3 len=3072; b resp.first 3; b resp.middle 4; b resp.last 5; "
               "a write 6; b ack 6",
     .want = "A: again=2 repeats=2 rounds=2 by_reissue=2 B: r.undelivered=2 r.again=6"},
    {.name = "the READ is answered anew: its tail of before went unseen",
     .script = READ_4 "b resp.first 2; b resp.middle 3; b resp.middle 4 drop; "
               "b resp.last 5 drop; +100000; a read 2 len=4096; " ALL_4
               "a write 6; b ack 6",
     .want = "A: again=1 repeats=1 rounds=1 by_timeout=1"
             " B: r.gaps=1 r.missing=2 r.lost_before=2 r.undelivered=1 r.again=4",
     .events = "gap B psn=4 n=2 space=responses"},
    {.name = "asked for anew, then from where the answer broke off: what is behind is not due",
     .ident = SCENARIO_IDENT_CONSTANT,
     .script = READ_4 "b resp.first 2; b resp.middle 3; b resp.middle 4 drop; "
               "b resp.last 5 drop; +100000; a read 2 len=4096; b resp.first 2; "
               "b resp.middle 3 drop; +100000; a read 4 len=2048; b resp.first 4; "
               "b resp.last 5; a write 6; b ack 6",
     .want = "A: again=2 repeats=2 rounds=2 by_timeout=2"
             " B: r.gaps=1 r.missing=2 r.lost_before=* r.undelivered=1 r.again=*",
     .events = "gap B psn=4 n=2 space=responses"},
    {.name = "the only response came with a bad ICRC, a timeout repairs it",
     .script = TEACH "a read 2 len=64; b resp 2 bad; +100000; a read 2 len=64; b resp 2; "
               "a write 3; b ack 3",
     .want = "A: again=1 repeats=1 rounds=1 by_timeout=1 messages=3"
             " B: r.corrupt=1 bad=1 r.unique=1"},
    {.name = "all of them did",
     .script = READ_4 "b resp.first 2 bad; b resp.middle 3..4 bad; b resp.last 5 bad; "
               "+100000; a read 2 len=4096; " ALL_4 "a write 6; b ack 6",
     .want = "A: again=1 repeats=1 rounds=1 by_timeout=1 messages=3"
             " B: r.corrupt=4 bad=4 r.unique=4"},
    {.name = "answers that nobody saw, and an ACK beyond them: not captured",
     .script = READ_4 "a read 6 len=1024; a write 7; b ack 7",
     .want = "A: messages=4 B: r.not_captured=5"},
    {.name = "the same behind one that was seen",
     .script = READ_4 "a write 6; " ALL_4 "b ack 6; a read 7 len=2048; a write 9; b ack 9",
     .want = "A: messages=5 B: r.not_captured=2"},
    {.name = "no ACK beyond them: on their way",
     .script = READ_4 "a write 6; " ALL_4 "b ack 6; a read 7 len=2048; a write 9",
     .want = "A: messages=3 B: r.not_captured=0"},
    {.name = "the responder leaves off when the READ is asked for again",
     .script = TEACH "a read 2 len=16384; b resp.first 2; b resp.middle 3..5; "
               "b resp.middle 6 drop; b resp.middle 7..9; a read 6 len=12288; "
               "b resp.first 6; b resp.middle 7..16; b resp.last 17; a write 18; b ack 18",
     .want = "A: again=1 repeats=1 rounds=1 by_reissue=1"
             " B: r.gaps=1 r.missing=1 r.lost_before=1 r.again=4"},
    {.name = "the same, IPv6: there was no time for the rest",
     .script = TEACH "a read 2 len=16384; b resp.first 2; b resp.middle 3..5; "
               "b resp.middle 6 drop; b resp.middle 7..9; a read 6 len=12288; "
               "b resp.first 6; b resp.middle 7..16; b resp.last 17; a write 18; b ack 18",
     .ident = SCENARIO_IDENT_IPV6,
     .want = "A: again=1 repeats=1 rounds=1 by_reissue=1"
             " B: r.gaps=1 r.missing=1 r.lost_before=1 r.again=4"},
    {.name = "the responder left off after two that went unseen",
     .script = TEACH "a read 2 len=16384; b resp.first 2; b resp.middle 3..5; "
               "b resp.middle 6 drop; b resp.middle 7..9; b resp.middle 10..11 drop; "
               "a read 6 len=12288; "
               "b resp.first 6; b resp.middle 7..16; b resp.last 17; a write 18; b ack 18",
     .want = "A: again=1 repeats=1 rounds=1 by_reissue=1"
             " B: r.gaps=2 r.missing=3 r.lost_before=3 r.again=6"},
    {.name = "two READs asked for again, twice: the requester discards beyond the first gap",
     .script = READ_4 "a read 6 len=4096; " ALL_4 "b resp.first 6; b resp.middle 7..8; "
               "b resp.last 9; +10; a read 3 len=3072; a read 6 len=4096; "
               "b resp.first 3; b resp.middle 4 drop; b resp.last 5 drop; "
               "b resp.first 6 drop; b resp.middle 7..8 drop; b resp.last 9; +10; "
               "a read 4 len=2048; a read 6 len=4096; b resp.first 4; b resp.last 5; "
               "b resp.first 6; b resp.middle 7..8; b resp.last 9; a write 10; b ack 10",
     .want = "A: again=4 repeats=4 rounds=2 by_reissue=2"
             " B: r.undelivered=1 r.lost_before=5 r.again=8",
     .events = "loss B psn=3 detail=undelivered; loss B psn=4 detail=lost_before"},
    {.name = "asked again while the answer is on its way: no other loss",
     .script = READ_4 ALL_4 "+800; a read 3 len=3072; b resp.first 3; b resp.middle 4; "
               "b resp.last 5; +20; a read 3 len=3072; b resp.first 3; b resp.middle 4; "
               "b resp.last 5; a write 6; b ack 6",
     .want = "A: again=2 repeats=2 rounds=2 by_reissue=2 B: r.undelivered=1 r.again=6"},
    {.name = "what came behind the gap was discarded, not lost",
     .script = READ_4 "b resp.first 2; b resp.middle 3 drop; b resp.middle 4; "
               "b resp.last 5; +10;"
               "a read 3 len=3072; b resp.first 3; b resp.middle 4 drop; "
               "b resp.last 5; +10;"
               "a read 4 len=2048; b resp.first 4; b resp.last 5; a write 6; b ack 6",
     .want = "A: again=2 repeats=2 rounds=2 by_reissue=2"
             " B: r.lost_before=2 r.again=4 r.gaps=* r.missing=*"},
    {.name = "two READs outstanding, the first's answer has a hole",
     .script = READ_4 "a read 6 len=4096; b resp.first 2; b resp.middle 3 drop; "
               "b resp.middle 4;"
               "b resp.last 5; b resp.first 6; b resp.middle 7..8; b resp.last 9; +10;"
               "a read 3 len=3072; a read 6 len=4096; b resp.first 3; "
               "b resp.middle 4; b resp.last 5;"
               "b resp.first 6; b resp.middle 7..8; b resp.last 9; a write 10; "
               "b ack 10",
     .want = "A: again=2 repeats=2 rounds=1 by_reissue=1 B: r.gaps=1 r.missing=1 "
               "r.lost_before=1 r.again=7"},
    {.name = "the answer to a READ is missing whole, the next one's is there",
     .script = TEACH "a read 2 len=1024; a read 3 len=1024; b resp 2 drop; b resp 3; "
               "+10;"
               "a read 2 len=1024; a read 3 len=1024; b resp 2..3; a write 4; b ack 4",
     .want = "A: again=2 repeats=2 rounds=1 by_reissue=1 B: r.gaps=1 r.missing=1 "
               "r.lost_before=1 r.again=2"},
    {.name = "IPv6: one that comes late amid other answers is not where one is sent again",
     .script = TEACH
               "all len=1024; a read 2 len=4096; a read 6 len=4096; b resp.first 2 drop; "
               "b resp.middle 3..4; b resp.last 5; a read 2 len=4096; a read 6 len=4096; "
               "+100; b resp.first 2 copy; b resp.first 6; b resp.middle 7..8; "
               "b resp.last 9; b resp.first 2; b resp.middle 3..4; b resp.last 5; "
               "b resp.first 6; b resp.middle 7..8; b resp.last 9; a write 10; b ack 10",
     .ident = SCENARIO_IDENT_IPV6,
     .want = "A: again=2 repeats=2 rounds=1 by_reissue=1 "
             "B: r.gaps=1 r.missing=1 r.again=9"},
    {.name = "IPv6: nor is what stands between that and the answer under way missing",
     .script = TEACH
               "all len=1024; a read 2 len=4096; a read 6 len=4096; b resp.first 2 drop; "
               "b resp.middle 3..4; b resp.last 5; b resp.first 6; b resp.middle 7; "
               "b resp.middle 8 drop; b resp.last 9; a read 2 len=4096; a read 6 len=4096; "
               "+100; b resp.first 2; b resp.middle 3; b resp.middle 8 copy; "
               "b resp.middle 4; b resp.last 5; b resp.first 6; b resp.middle 7..8; "
               "b resp.last 9; a write 10; b ack 10",
     .ident = SCENARIO_IDENT_IPV6,
     .want = "A: again=2 repeats=2 rounds=1 by_reissue=1 "
             "B: r.gaps=2 r.missing=2 r.lost_before=1 r.again=9"},
    {.name = "IPv6: nor where one more is missing of the answer under way",
     .script = TEACH
               "all len=1024; a read 2 len=4096; a read 6 len=4096; b resp.first 2; "
               "b resp.middle 3 drop; b resp.middle 4; b resp.last 5; b resp.first 6; "
               "b resp.middle 7..8; b resp.last 9; a read 3 len=3072; a read 6 len=4096; "
               "+100; b resp.first 3; b resp.middle 4 drop; b resp.last 5; b resp.first 6; "
               "b resp.middle 4 copy; b resp.middle 7 drop; b resp.middle 8; b resp.last 9; "
               "a write 10; b ack 10; a read 7 len=3072; +100; b resp.first 7; "
               "b resp.middle 8; b resp.last 9; a write 11; b ack 11",
     .ident = SCENARIO_IDENT_IPV6,
     .want = "A: again=3 repeats=3 rounds=2 by_reissue=2 "
             "B: r.gaps=1 r.missing=1 r.lost_before=2 r.again=9",
     .events = "loss B psn=3 detail=lost_before; loss B psn=7 detail=lost_before"},
    {.name = "IPv6: nor has the answer under way been left off",
     .script = TEACH
               "all len=1024; a read 2 len=4096; b resp.first 2 drop; b resp.middle 3..4; "
               "b resp.last 5; a read 2 len=4096; a read 6 len=4096; +100; b resp.first 2; "
               "b resp.middle 3; b resp.middle 4 drop; b resp.last 5; b resp.first 6; "
               "b resp.middle 4 copy; b resp.middle 7..8; b resp.last 9; a write 10; b ack 10",
     .ident = SCENARIO_IDENT_IPV6,
     .want = "A: again=1 repeats=1 rounds=1 by_reissue=1 "
             "B: r.gaps=1 r.missing=1 r.lost_before=1 r.again=4"},
    {.name = "IPv6: what is asked for once more is missing before the one that just came",
     .script = TEACH
               "all len=1024; a read 2 len=4096; b resp.first 2 drop; b resp.middle 3..4; "
               "b resp.last 5; a read 2 len=4096; +100; b resp.first 2; "
               "b resp.middle 3 drop; b resp.middle 4; a read 3 len=3072; b resp.last 5; "
               "+100; b resp.first 3; b resp.middle 4; b resp.last 5; a write 6; b ack 6",
     .ident = SCENARIO_IDENT_IPV6,
     .want = "A: again=2 repeats=2 rounds=2 by_reissue=2 "
             "B: r.gaps=1 r.missing=1 r.lost_before=2 r.again=6",
     .events = "loss B psn=3 detail=lost_before evidence=asked_for"},
    {.name = "IPv6: the last of an answer that is sent again, and never came before",
     .script = TEACH
               "all len=1024; a read 2 len=4096; a read 6 len=4096; b resp.first 2; "
               "b resp.middle 3 drop; b resp.middle 4; b resp.last 5 drop; b resp.first 6; "
               "b resp.middle 7..8; b resp.last 9; a read 3 len=3072; a read 6 len=4096; "
               "+100; b resp.first 3; a read 4 len=2048; a read 6 len=4096; "
               "b resp.middle 4 drop; b resp.last 5; "
               "+100; b resp.first 4; b resp.last 5; b resp.first 6; b resp.middle 7..8; "
               "b resp.last 9; a write 10; b ack 10",
     .ident = SCENARIO_IDENT_IPV6,
     .want = "A: again=4 repeats=4 rounds=2 by_reissue=2 "
             "B: r.gaps=2 r.missing=2 r.lost_before=3 r.again=8"},
    {.name = "IPv6: one of an answer that is sent again, behind one more that is missing",
     .script = SLOW
               "all len=1024; a read 2 len=4096; a read 6 len=4096; +100; b resp.first 2 drop; "
               "b resp.middle 3..4; b resp.last 5; b resp.first 6; b resp.middle 7; "
               "b resp.middle 8 drop; b resp.last 9; a read 2 len=4096; a read 6 len=4096; "
               "+100; b resp.first 2; a read 2 len=4096; a read 6 len=4096; "
               "b resp.middle 3..4; b resp.last 5; b resp.first 6; b resp.middle 7 drop; "
               "b resp.middle 8; b resp.last 9; +100; b resp.first 2; b resp.middle 3..4; "
               "b resp.last 5; b resp.first 6; b resp.middle 7..8; b resp.last 9; "
               "a write 10; b ack 10",
     .ident = SCENARIO_IDENT_IPV6,
     .want = "A: again=4 repeats=4 rounds=2 by_reissue=2 "
             "B: r.gaps=2 r.missing=2 r.lost_before=3 r.undelivered=1 r.again=15"},
    {.name = "IPv6: and one beyond all that were seen",
     .script = SLOW
               "all len=1024; a read 2 len=4096; +100; b resp.first 2 drop; "
               "b resp.middle 3..4; b resp.last 5 drop; a read 2 len=4096; +100; "
               "b resp.first 2; a read 2 len=4096; b resp.middle 3..4; b resp.last 5; "
               "+100; b resp.first 2; b resp.middle 3..4; b resp.last 5; a write 6; b ack 6",
     .ident = SCENARIO_IDENT_IPV6,
     .want = "A: again=2 repeats=2 rounds=2 by_reissue=2 "
             "B: r.gaps=2 r.missing=2 r.lost_before=2 r.undelivered=1 r.again=8"},
    {.name = "one response is lost beside WRITEs: once; what came behind it was discarded",
     .script = "a read 0; b resp 0; a write 1; a read 2; a write 3; a read 4; a write 5; "
               "b ack 1; b resp 2 drop; b ack 3; a read 2; b resp 4; a write 3; b ack 5; "
               "a read 4; a write 5; b resp 2; b ack 5; a read 4; b resp 4; a write 5; "
               "b ack 5",
     .want = "A: again=6 repeats=6 rounds=2 by_reissue=2 "
             "B: r.gaps=1 r.missing=1 r.lost_before=1 r.again=2"},
    {.name = "a NAK for the next request covers an atomic without a response",
     .script = "all len=1024; a cas 0; b atomack 0; a cas 1; b atomack 1 drop; "
               "a write 2 drop; a write 3; b nak 2; +5; a cas 1; a write 2..3; "
               "b atomack 1; b ack 3",
     .want = "A: gaps=1 missing=1 again=3 repeats=2 rounds=1 by_reissue=1 lost_before=1 "
             "naks=1 B: r.gaps=1 r.missing=1 r.lost_before=1 r.again=1"},
    {.name = "an ACK of that very PSN comes instead of its response",
     .script = "a cas 0; b atomack 0; a cas 1; b atomack 1 drop; b ack 1; +5; a cas 1; "
               "b atomack 1; a write 2; b ack 2",
     .want = "A: again=1 repeats=1 rounds=1 by_reissue=1 "
             "B: r.gaps=1 r.missing=1 r.lost_before=1 r.again=1"},
    {.name = "the response behind an ACK that covers it need not be lost",
     .script = "a cas 0; b atomack 0; a cas 1; b ack 1; b atomack 1; +5; a cas 1; "
               "b atomack 1; a write 2; b ack 2",
     .want = "A: again=1 repeats=1 rounds=1 by_reissue=1 B: r.again=1"},
    {.name = "but the one before it is",
     .script = "a cas 0; b atomack 0; a cas 1; b atomack 1; b ack 1; +5; a cas 1; "
               "b atomack 1; a write 2; b ack 2",
     .want = "A: again=1 repeats=1 rounds=1 by_reissue=1 B: r.undelivered=1 r.again=1"},
    {.name = "and one that an ACK had covered before it was asked for, if later ones come",
     .script = "a cas 0; b atomack 0; a cas 1; b ack 1; b atomack 1; +5; a cas 1..2; "
               "b atomack 1..2; +5; a cas 1..2; b atomack 1..2; a write 3; b ack 3",
     .want = "A: again=3 repeats=3 rounds=2 by_reissue=2 B: r.undelivered=1 r.again=3"},
    {.name = "nor is one that a timer has asked for again",
     .script = "a cas 0; b atomack 0; a cas 1; b ack 1; b atomack 1; +100000; a cas 1; "
               "b atomack 1; a write 2; b ack 2",
     .want = "A: again=1 repeats=1 rounds=1 by_timeout=1 B: r.undelivered=1 r.again=1"},
    {.name = "what is asked for again behind a READ is not due before its answer",
     .script = "a read 0; b resp 0; a read 1..2; b resp 1 drop; b resp 2; a read 1; "
               "a read 2 drop; a read 3; b resp 1; a read 2; b resp 3; b resp 2; "
               "a write 4; b ack 4",
     .want = "A: again=2 repeats=2 rounds=* by_reissue=* by_unknown=* undelivered=* "
             "B: r.gaps=1 r.missing=1 r.lost_before=1 r.again=2 r.undelivered=*"},
    {.name = "nor if that is asked for again as well, just before the first answer comes",
     .script = "a read 0; +10; b resp 0; a read 1..2; +10; b resp 1 drop; b resp 2; a read 1; "
               "a read 2 drop; a read 3; +10; b resp 1; a read 2..3; b resp 3; +10; "
               "b resp 2..3; a write 4; +10; b ack 4",
     .want = "A: again=3 repeats=3 rounds=* by_reissue=* by_unknown=* undelivered=* "
             "B: r.gaps=1 r.missing=1 r.lost_before=1 r.again=3 r.undelivered=*"},
    {.name = "a copy of what the requester had got is lost: nothing is missing",
     .script = "a read 0..3; b resp 0; b resp 1 drop; b resp 2..3; a read 1..3; +9; b resp 1; "
               "b resp 2 drop; b resp 3; a read 4; b resp 4; +1000000; a read 5; b resp 5; "
               "a read 6..8; b resp 6; b resp 7 drop; b resp 8; a read 7..8; +9; b resp 7..8",
     .want = "A: again=5 repeats=5 rounds=2 by_reissue=2 "
             "B: r.gaps=2 r.missing=2 r.lost_before=2 r.again=4"},
    {.name = "what is behind a READ that timed out is repeated for that, acknowledged or not",
     .script = "a read 0; b resp 0; a read 1; a write 2..4; b resp 1 drop; b ack 4; "
               "+100000; a read 1; a write 2..4; b resp 1; b ack 4",
     .want = "A: again=4 repeats=4 rounds=1 by_timeout=1 "
             "B: r.gaps=1 r.missing=1 r.lost_before=1 r.again=1"},
    {.name = "READ asked for again from within, late: what was said is withdrawn once",
     .script = "all len=1024; a write.first 0; a write.last 1; b ack 1; a write 2; "
               "a read 3 len=4096; a read 7 len=1024; +100000; a write 2; "
               "a read 3 len=4096 drop; a read 4 len=3072 drop; a read 7 len=1024; "
               "a read 4 len=3072; a read 4 len=3072 copy=1; "
               "b ack 2; b resp.first 3; b resp.middle 4..5; b resp.last 6; b resp 7; "
               "a write 8 drop; a write 9; b ack 9",
     .want = "A: gaps=1 missing=1 again=4 repeats=4 rounds=2 by_timeout=2 ack_lost=* "
             "data_or_ack_lost=* not_captured=1"},
    {.name = "nobody asks again and life goes on: the capture missed it",
     .script = READ_4 "b resp.first 2; b resp.middle 3 drop; b resp.middle 4; "
               "b resp.last 5; a write 6;"
               "b ack 6; +50000; a write 7; b ack 7",
     .want = "B: r.gaps=1 r.missing=1 r.not_captured=1"},
    {.name = "behind it the requester takes what comes next",
     .script = READ_4 "b resp.first 2; b resp.middle 3 drop; b resp.middle 4; "
               "b resp.last 5; +50000; a read 6 len=2048; b resp.first 6; b resp.last 7; "
               "+100000; a read 6 len=2048; b resp.first 6; b resp.last 7; "
               "a write 8; b ack 8",
     .want = "A: again=1 repeats=1 rounds=1 by_timeout=1 "
             "B: r.gaps=1 r.missing=1 r.not_captured=1 r.undelivered=1 r.again=2"},
    {.name = "the capture ends in the gap",
     .script = READ_4 "b resp.first 2; b resp.middle 3 drop; b resp.middle 4; "
               "b resp.last 5",
     .want = "B: r.gaps=1 r.missing=1 r.unknown=1",
     .events = "loss B psn=3 detail=verdict_unknown evidence=capture_end"},
    {.name = "late response, by identification",
     .script = READ_4 "b ack 1; b ack 1; b resp.first 2; b resp.middle 3 drop; "
               "b resp.middle 4;"
               "b resp.middle 3 copy; b resp.last 5; a write 6; b ack 6",
     .want = "B: r.gaps=1 r.missing=1 r.reordered=1"},
    {.name = "late response, random identification, nobody had asked",
     .script = READ_4 "b ack 1; b ack 1; b resp.first 2; b resp.middle 3 drop; "
               "b resp.middle 4;"
               "b resp.middle 3 copy; b resp.last 5; a write 6; b ack 6",
     .ident = SCENARIO_IDENT_RANDOM,
     .want = "B: r.gaps=1 r.missing=1 r.reordered=1",
     .events = "late B psn=3 evidence=time"},
    {.name = "late response, IPv6, nobody had asked",
     .script = READ_4 "b ack 1; b ack 1; b resp.first 2; b resp.middle 3 drop; "
               "b resp.middle 4;"
               "b resp.middle 3 copy; b resp.last 5; a write 6; b ack 6",
     .ident = SCENARIO_IDENT_IPV6, .want = "B: r.gaps=1 r.missing=1 r.reordered=1"},
    {.name = "late response after its copy: the verdict is withdrawn",
     .script = READ_4 "b ack 1; b ack 1; b resp.first 2; b resp.middle 3 drop; "
               "b resp.middle 4; b resp.last 5;"
               "+10; a read 3 len=3072; b resp.first 3; b resp.middle 4; "
               "b resp.middle 3 copy; b resp.last 5;"
               "a write 6; b ack 6",
     .want = "A: again=1 repeats=1 rounds=1 by_reissue=1 spurious=*"
             " B: r.gaps=1 r.missing=1 r.reordered=1 r.again=3",
     .events = "loss_withdrawn B psn=3 space=responses"},
    {.name = "a response sent again and overtaken is sent again, and neither late nor lost",
     .script = READ_4 "b resp.first 2; b resp.middle 3 drop; b resp.middle 4; "
               "b resp.last 5; +10; a read 3 len=3072; b resp.first 3; "
               "b resp.middle 4 drop; b resp.last 5; b resp.middle 4 copy; "
               "a write 6; b ack 6",
     .want = "A: again=1 repeats=1 rounds=1 by_reissue=1"
             " B: r.gaps=1 r.missing=1 r.lost_before=1 r.again=3",
     .events = "response_resent B psn=5; response_resent B psn=4 rel=6"},
    {.name = "network duplicate of a response",
     .script = READ_4 ALL_4 "b resp.middle 3 copy; a write 6; b ack 6",
     .want = "B: r.duplicates=1",
     .events = "duplicate B psn=3 space=responses"},
    {.name = "network duplicate of a response, IPv6: of unknown origin",
     .script = READ_4 ALL_4 "b resp.middle 3 copy; a write 6; b ack 6",
     .ident = SCENARIO_IDENT_IPV6,
     .want = "B: r.duplicates=1"},
    {.name = "asked again, IPv6: responses sent again",
     .script = READ_4 "b resp.first 2; b resp.middle 3 drop; b resp.middle 4; "
               "b resp.last 5; +10;"
               "a read 3 len=3072; b resp.first 3; b resp.middle 4; b resp.last 5; "
               "a write 6; b ack 6",
     .ident = SCENARIO_IDENT_IPV6,
     .want = "A: again=1 repeats=1 rounds=1 by_reissue=1 B: r.gaps=1 r.missing=1 "
               "r.lost_before=1 r.again=3"},
    {.name = "asked again, IPv6: an answer of which nothing comes was not asked for",
     .script = READ_4 "a read 6 len=2048; a read 8 len=2048; b resp.first 2; "
               "b resp.middle 3 drop; b resp.middle 4; b resp.last 5; b resp.first 6; "
               "b resp.last 7; b resp.first 8; b resp.last 9; +10;"
               "a read 3 len=3072; a read 6 len=2048; a read 8 len=2048; "
               "b resp.first 3; b resp.middle 4; b resp.last 5; b resp.first 8; "
               "b resp.last 9; +10; a read 6 len=2048; b resp.first 6; b resp.last 7; "
               "a write 10; b ack 10",
     .ident = SCENARIO_IDENT_IPV6,
     .want = "A: again=4 repeats=4 rounds=2 by_reissue=2 "
             "B: r.gaps=1 r.missing=1 r.lost_before=1 r.again=7"},
    {.name = "asked again, IPv6: one response missing of an answer was sent",
     .script = READ_4 "a read 6 len=2048; a read 8 len=2048; b resp.first 2; "
               "b resp.middle 3 drop; b resp.middle 4; b resp.last 5; b resp.first 6; "
               "b resp.last 7; b resp.first 8; b resp.last 9; +10;"
               "a read 3 len=3072; a read 6 len=2048; a read 8 len=2048; "
               "b resp.first 3; b resp.middle 4; b resp.last 5; b resp.first 6; "
               "b resp.last 7 drop; b resp.first 8; b resp.last 9; +10; "
               "a read 7 len=1024; b resp 7; a write 10; b ack 10",
     .ident = SCENARIO_IDENT_IPV6,
     .want = "A: again=4 repeats=4 rounds=2 by_reissue=2 "
             "B: r.gaps=1 r.missing=1 r.lost_before=2 r.again=7"},
    {.name = "what runs on from a response sent again is no late one, IPv6",
     .script = READ_4 "b resp.first 2; b resp.middle 3..4 drop; b resp.last 5; +10;"
               "a read 3 len=3072; b resp.first 3; a read 5 len=1024; b resp.middle 4; "
               "b resp.last 5; a write 6; b ack 6",
     .ident = SCENARIO_IDENT_IPV6,
     .want = "A: again=2 repeats=2 rounds=2 by_reissue=1 by_unknown=1 "
             "B: r.gaps=1 r.missing=2 r.lost_before=2 r.again=3"},
    {.name = "answers go on in the midst of the first, IPv6: known from what follows",
     .script = TEACH
               "a read 2 len=4096; b resp.first 2; b resp.middle 3 drop; "
               "b resp.middle 4; b resp.last 5; +10000; a read 3 len=3072; +100; "
               "b resp.middle 3; b resp.middle 4; b resp.last 5; a write 6; b ack 6; "
               "a read 7 len=4096; b resp.first 7; b resp.middle 8 drop; "
               "b resp.middle 9; b resp.last 10; +10000; a read 8 len=3072; +100; "
               "b resp.middle 8; b resp.middle 9; b resp.last 10; a write 11; b ack 11",
     .ident = SCENARIO_IDENT_IPV6,
     .want = "A: again=2 repeats=2 rounds=2 by_reissue=* by_timeout=* B: r.gaps=2 "
             "r.missing=2 r.lost_before=2 r.again=6"},
    {.name = "an answer that begins in the midst of the first is none that is late, IPv6",
     .script = "all len=1024; a write.first 0; a write.last 1; a read 2 len=4096; +20; "
               "b resp.first 2; b resp.middle 3 drop; b resp.middle 4; "
               "b resp.last 5; +10;"
               "a read 3 len=3072; b resp.first 3; b resp.middle 4; b resp.last 5; "
               "a write 6; b ack 6",
     .ident = SCENARIO_IDENT_IPV6,
     .want = "A: again=1 repeats=1 rounds=1 by_reissue=1 "
             "B: r.gaps=1 r.missing=1 r.lost_before=1 r.again=3"},
    {.name = "late response after the one that was asked for, IPv6: by copies",
     .script = READ_4 "b resp.first 2; b resp.middle 3 drop; b resp.middle 4; "
               "b resp.last 5; +10;"
               "a read 3 len=3072; b resp.first 3; b resp.middle 4; b resp.last 5; "
               "b resp.middle 3 copy=1; a write 6; b ack 6",
     .ident = SCENARIO_IDENT_IPV6,
     .want = "A: again=1 repeats=1 rounds=1 by_reissue=1 "
             "B: r.gaps=1 r.missing=1 r.reordered=1 r.again=3",
     .events = "loss B psn=3; late B psn=3 evidence=copies; loss_withdrawn B psn=3"},
    {.name = "two late responses after those that were asked for, IPv6: none was lost",
     .script = READ_4 "b resp.first 2; b resp.middle 3..4 drop; b resp.last 5; +10;"
               "a read 3 len=3072; b resp.first 3; b resp.middle 4; b resp.last 5; "
               "b resp.middle 3..4 copy=1; a write 6; b ack 6",
     .ident = SCENARIO_IDENT_IPV6,
     .want = "A: again=1 repeats=1 rounds=1 by_reissue=1 "
             "B: r.gaps=1 r.missing=2 r.lost_before=0 r.reordered=* r.again=*",
     .events = "loss B psn=3; loss B psn=4; loss_withdrawn B psn=3; "
               "loss_withdrawn B psn=4"},
    {.name = "an answer to a READ that the capture missed, IPv6: what was lost stays so",
     .script = READ_4 "b resp.first 2; b resp.middle 3 drop; b resp.middle 4; "
               "b resp.last 5; +10;"
               "a read 3 len=3072; b resp.first 3; b resp.middle 4; b resp.last 5; +10; "
               "a read 3 len=3072 drop; b resp.first 3; b resp.middle 4; b resp.last 5; "
               "a write 6; b ack 6",
     .ident = SCENARIO_IDENT_IPV6,
     .want = "A: again=1 repeats=1 rounds=1 by_reissue=1 "
             "B: r.gaps=1 r.missing=1 r.lost_before=1 r.again=6"},
    {.name = "late responses of a READ asked again, none of which had come, IPv6",
     .script = "all len=1024; a write.first 0; a write.last 1; +20; b ack 1; "
               "a read 2 len=2048; b resp.first 2 drop; b resp.last 3 drop; a write 4; "
               "+20; b ack 4; a read 2 len=2048; b resp.first 2 copy; b resp.last 3 copy; "
               "a write 5; +20; b ack 5",
     .ident = SCENARIO_IDENT_IPV6,
     .want = "A: again=* repeats=* rounds=* by_reissue=* B: r.gaps=* r.missing=* "
             "r.reordered=2 r.lost_before=0"},
    {.name = "three questions, two answers, IPv6: the first was lost",
     .script = READ_4 "b resp.first 2; b resp.middle 3..4 drop; "
               "b resp.last 5; +10;"
               "a read 3 len=3072; b resp.first 3; b resp.middle 4; b resp.last 5; "
               "a read 3 len=3072; b resp.first 3; b resp.middle 4; b resp.last 5; "
               "a write 6; b ack 6",
     .ident = SCENARIO_IDENT_IPV6,
     .want = "A: again=2 repeats=2 rounds=2 by_reissue=2 "
             "B: r.gaps=1 r.missing=2 r.lost_before=2 r.undelivered=1 r.again=6"},
    {.name = "a READ sent again, which the request behind it shows, is answered again, IPv6",
     .script = READ_4 "a write 6; a read 2 len=4096; a write 6; " ALL_4 ALL_4
               "b ack 6; a write 7; b ack 7",
     .ident = SCENARIO_IDENT_IPV6,
     .want = "A: again=2 repeats=2 rounds=1 by_unknown=1 undelivered=1 B: r.again=4"},
    {.name = "the READ itself is duplicated by the network and answered twice",
     .script = READ_4 "a read 2 len=4096 copy; " ALL_4 ALL_4 "a write 6; b ack 6",
     .want = "A: duplicates=1 repeats=1 B: r.again=4"},
    {.name = "responses across the wrap of the PSN",
     .script = "all len=1024; a write.first 0xfffffc; a write.last 0xfffffd; "
               "b ack 0xfffffd;"
               "a read 0xfffffe len=4096; b resp.first 0xfffffe; "
               "b resp.middle 0xffffff drop;"
               "b resp.middle 0; b resp.last 1; +10; a read 0xffffff len=3072; "
               "b resp.first 0xffffff;"
               "b resp.middle 0; b resp.last 1; a write 2; b ack 2",
     .want = "A: again=1 repeats=1 rounds=1 by_reissue=1 B: r.gaps=1 r.missing=1 "
               "r.lost_before=1 r.again=3"},
    {.name = "a corrupt response, then asked again",
     .script = READ_4 "b resp.first 2; b resp.middle 3 bad; b resp.middle 4; "
               "b resp.last 5; +10;"
               "a read 3 len=3072; b resp.first 3; b resp.middle 4; b resp.last 5; "
               "a write 6; b ack 6",
     .want = "A: again=1 repeats=1 rounds=1 by_reissue=1"
             " B: bad=1 r.gaps=1 r.missing=1 r.corrupt=1 r.again=3"},
    {.name = "the first request for it was not seen: its second answer comes corrupt",
     .script = ALL_AGAIN "b resp.first 6; b resp.middle 7 bad; " ONCE_MORE,
     .at = 'a',
     .want = "A: gaps=1 missing=4 not_captured=1 again=5 rounds=2 by_reissue=2 repeats=4 "
               "asked_bytes=* B: bad=1 r.gaps=1 r.missing=1 r.corrupt=1 r.lost_before=1 r.again=*",
     .events = "loss B psn=3 detail=lost_before; loss B psn=7 detail=corrupt"},
    {.name = "no request for its second answer was seen, of which one is lost",
     .script = READ_4 ALL_4 "b resp.first 2; b resp.middle 3 drop; b resp.middle 4; b resp.last 5; "
               "+10; a read 3 len=3072; b resp.first 3; b resp.middle 4; b resp.last 5; "
               "a write 6; b ack 6",
     .at = 'a',
     .want = "A: again=1 rounds=1 by_reissue=1 repeats=1 asked_bytes=* "
             "B: r.undelivered=1 r.lost_before=1 r.again=*",
     .events = "loss B psn=3 detail=lost_before"},
    {.name = "likewise, and is lost",
     .script = ALL_AGAIN "b resp.first 6; b resp.middle 7 drop; " ONCE_MORE,
     .at = 'a',
     .want = "A: gaps=1 missing=4 not_captured=1 again=5 rounds=2 by_reissue=2 repeats=4 "
               "asked_bytes=* B: r.gaps=1 r.missing=1 r.lost_before=2 r.again=*",
     .events = "loss B psn=3 detail=lost_before; loss B psn=7 detail=lost_before"},
};

/* A READ that was asked for again in its midst while its first answer was on its way. */
static const scenario overtaken[] = {
    {.name = "the rest of the first answer is late",
     .script = "a write.first 0 len=1024; a write.last 1; +30; b ack 1; a read 2..20 len=1024; +30; "
               "b resp 2..20 len=1024; a read 21 len=4096; +30; b resp.first 21 len=1024; "
               "+100000; a read 22 len=3072; b resp.middle 22..23 len=1024; +50; "
               "b resp.last 24 len=1024; b resp.first 22 len=1024; "
               "b resp.middle 23 len=1024; b resp.last 24 len=1024; a read 25 len=1024; "
               "+30; b resp 25 len=1024",
     .want = "A: again=1 repeats=1 rounds=1 by_timeout=1 asked_bytes=3072 "
               "B: r.gaps=1 r.missing=3 r.reordered=3 r.again=3",
     .events = "late B psn=22; late B psn=23; late B psn=24; response_resent B psn=22"},
    {.name = "the new answer begins where it was asked for: the rest was lost",
     .script = "a write.first 0 len=1024; a write.last 1; +30; b ack 1; a read 2..20 len=1024; +30; "
               "b resp 2..20 len=1024; a read 21 len=4096; +30; b resp.first 21 len=1024; "
               "+100000; a read 22 len=3072; b resp.first 22 len=1024; "
               "b resp.middle 23 len=1024; b resp.last 24 len=1024",
     .want = "A: again=1 repeats=1 rounds=1 by_timeout=1 asked_bytes=3072 "
               "B: r.gaps=1 r.missing=3 r.lost_before=3 r.again=3"},
    {.name = "what the first answer had lost comes with the second, which is asked for again",
     .script = "a write.first 0 len=1024; a write.last 1; +30; b ack 1; a read 2..20 len=1024; +30; "
               "b resp 2..20 len=1024; a read 21 len=4096; +30; b resp.first 21 len=1024; "
               "b resp.middle 22..23 drop len=1024; b resp.last 24 len=1024; "
               "a read 22 len=3072; +30; b resp.first 22 len=1024 drop; a read 22 len=3072; "
               "b resp.middle 23 len=1024; b resp.last 24 len=1024; +30; "
               "b resp.first 22 len=1024; b resp.middle 23 len=1024; b resp.last 24 len=1024",
     .events = "no late B"},
    {.name = "its beginning was lost as well: what comes no sooner than an answer is of it",
     .script = "a write.first 0 len=1024; a write.last 1; +30; b ack 1; a read 2..20 len=1024; +30; "
               "b resp 2..20 len=1024; a read 21 len=4096; +30; b resp.first 21 len=1024; "
               "+100000; a read 22 len=3072; +50; b resp.first 22 len=1024 drop; "
               "b resp.middle 23 len=1024; b resp.last 24 len=1024",
     .want = "A: again=1 repeats=1 rounds=1 by_timeout=1 asked_bytes=3072 "
               "B: r.gaps=1 r.missing=3 r.lost_before=2 r.unknown=* r.again=2"},
};

/* A READ that is answered, and asked for again 10 us after that, together with others. */
#define ASKED_TWICE(first, last)                                                       \
    "a read " #first ".." #last " len=64; b resp " #first ".." #last "; +10; "          \
    "a read " #first ".." #last " len=64; b resp " #first ".." #last "; "
#define ASKED_FOUR_TIMES                                                               \
    ASKED_TWICE(0, 3) ASKED_TWICE(4, 7) ASKED_TWICE(8, 11) ASKED_TWICE(12, 15)

/* What more copies than one of a READ make of its responses. */
static const scenario copies[] = {
    {.name = "asked for again sooner than any response was: it was still on its way",
     .script = ASKED_FOUR_TIMES ASKED_TWICE(16, 19) "a read 16..19 len=64; b resp 16..19",
     .want = "A: again=24 repeats=24 rounds=6 by_reissue=6 asked_bytes=* "
             "B: r.again=24 r.undelivered=5"},
    {.name = "no sooner: the answer did not get there either",
     .script = ASKED_FOUR_TIMES ASKED_TWICE(16, 19) "+10; a read 16..19 len=64; "
               "b resp 16..19",
     .want = "A: again=24 repeats=24 rounds=6 by_reissue=6 asked_bytes=* "
             "B: r.again=24 r.undelivered=6"},
    {.name = "asked for again sooner than the first ones were, of which there are few",
     .script = ASKED_TWICE(0, 3) ASKED_TWICE(4, 7) "a read 4..7 len=64; b resp 4..7",
     .want = "A: again=12 repeats=12 rounds=3 by_reissue=3 asked_bytes=* "
             "B: r.again=12 r.undelivered=3"},
    {.name = "the network makes copies of READs, which are answered as well, IPv6",
     .script = "a read 0 len=64; a read 0 len=64 copy; b resp 0; b resp 0; "
               "a read 1 len=64; b resp 1",
     .ident = SCENARIO_IDENT_IPV6,
     .want = "A: duplicates=1 repeats=1 B: r.again=1"},
    {.name = "the first answer's comes after a new answer that began there, with more asked "
             "for since, IPv6",
     .script = READ_4 "b resp.first 2; b resp.middle 3 drop; b resp.middle 4; b resp.last 5; "
               "+10; a read 3 len=3072; b resp.first 3; b resp.middle 4 drop; b resp.last 5; "
               "+10; a read 4 len=2048; b resp.first 4; b resp.last 5; +10; "
               "b resp.middle 3 copy=1; a write 6; b ack 6",
     .ident = SCENARIO_IDENT_IPV6,
     .want = "A: again=2 repeats=2 rounds=2 by_reissue=2 asked_bytes=* "
             "B: r.gaps=1 r.missing=* r.lost_before=1 r.reordered=1 r.again=*",
     .events = "loss B psn=3; late B psn=3 evidence=copies; loss_withdrawn B psn=3"},
    {.name = "the same of its first packet: it was asked for twice, and further on since",
     .script = READ_4 "b resp.first 2 drop; b resp.middle 3..4; b resp.last 5; "
               "+10; a read 2 len=4096; b resp.first 2; b resp.middle 3 drop; "
               "b resp.middle 4; b resp.last 5; "
               "+10; a read 3 len=3072; b resp.first 3; b resp.middle 4; b resp.last 5; "
               "+10; b resp.first 2 copy=1; a write 6; b ack 6",
     .ident = SCENARIO_IDENT_IPV6,
     .want = "A: again=2 repeats=2 rounds=2 by_reissue=2 asked_bytes=* "
             "B: r.gaps=1 r.missing=* r.lost_before=1 r.reordered=1 r.again=*",
     .events = "loss B psn=2; late B psn=2 evidence=copies; loss_withdrawn B psn=2"},
    {.name = "the same where the new answer's first packet did not get there either",
     .script = READ_4 "b resp.first 2; b resp.middle 3 drop; b resp.middle 4; b resp.last 5; "
               "+10; a read 3 len=3072; b resp.first 3; b resp.middle 4; b resp.last 5; "
               "+10; a read 3 len=3072; b resp.middle 3 copy=1; +10; b resp.first 3; "
               "b resp.middle 4; b resp.last 5; a write 6; b ack 6",
     .ident = SCENARIO_IDENT_IPV6,
     .want = "A: again=2 repeats=2 rounds=2 by_reissue=* by_timeout=* asked_bytes=* "
             "B: r.gaps=1 r.missing=1 r.reordered=1 r.again=* r.undelivered=*",
     .events = "loss B psn=3; late B psn=3 evidence=copies; loss_withdrawn B psn=3"},
    {.name = "a response that was sent again and called lost comes after all",
     .script = READ_4 "b resp.first 2; b resp.middle 3..4; b resp.last 5; "
               "+10; a read 2 len=4096; b resp.first 2; b resp.middle 3 drop; "
               "b resp.middle 4; b resp.last 5; "
               "+10; a read 2 len=4096; b resp.first 2; b resp.middle 3..4; b resp.last 5; "
               "+10; a read 4 len=2048; b resp.first 4; b resp.last 5; "
               "+10; b resp.middle 3 copy=2; a write 6; b ack 6",
     .ident = SCENARIO_IDENT_IPV6,
     .want = "A: again=3 repeats=3 rounds=3 by_reissue=* by_timeout=* asked_bytes=* "
             "B: r.again=10 r.undelivered=*",
     .events = "loss B psn=3 detail=lost_before; loss_withdrawn B psn=3; no late"},
    {.name = "and so it does where more was asked for than is known to have been answered",
     .script = READ_4 "b resp.first 2; b resp.middle 3..4; b resp.last 5; "
               "+10; a read 2 len=4096; b resp.first 2; b resp.middle 3 drop; "
               "b resp.middle 4; b resp.last 5; "
               "+10; a read 2 len=4096; b resp.first 2; b resp.middle 3..4; b resp.last 5; "
               "+10; b resp.middle 3 copy=2; a write 6; b ack 6",
     .ident = SCENARIO_IDENT_IPV6,
     .want = "A: again=2 repeats=2 rounds=2 by_reissue=* by_timeout=* asked_bytes=* "
             "B: r.again=8 r.undelivered=*",
     .events = "loss B psn=3 detail=lost_before; loss_withdrawn B psn=3; no late"},
};

static const scenario atomics[] = {
    {.name = "atomics answered",
     .script = "a add 0..4; b atomack 0..4; a cas 5; b atomack 5",
     .want = "A: messages=6 B: r.unique=6"},
    {.name = "atomic: its response is lost behind this point and replayed",
     .script = "a write 0..3; b ack 3; a add 4; b atomack 4; +100000; a add 4; "
               "b atomack 4",
     .want = "A: again=1 repeats=1 rounds=1 by_timeout=1 B: r.undelivered=1 r.again=1",
     .events = "loss B psn=4 detail=undelivered; response_resent B psn=4"},
    {.name = "atomic: its response is lost before this point, a later one tells",
     .script = "a write 0..3; b ack 3; a add 4..5; b atomack 4 drop; b atomack 5; "
               "+100000; a add 4..5;"
               "b atomack 4..5",
     .want = "A: again=2 repeats=2 rounds=1 by_timeout=1 B: r.gaps=1 r.missing=1 "
               "r.lost_before=1 r.again=2"},
    {.name = "atomic: asked again soon after the gap: an implied NAK",
     .script = "a write 0..3; b ack 3; a add 4..5; b atomack 4 drop; b atomack 5; "
               "+10; a add 4..5;"
               "b atomack 4..5",
     .want = "A: again=2 repeats=2 rounds=1 by_reissue=1 B: r.gaps=1 r.missing=1 "
               "r.lost_before=1 r.again=2"},
    {.name = "atomic: request or response lost, that cannot be told",
     .script = "a write 0..3; b ack 3; a add 4; b atomack 4 drop; +100000; a add 4; "
               "b atomack 4",
     .want = "A: again=1 repeats=1 rounds=1 by_timeout=1 data_or_ack_lost=1"},
    {.name = "atomic: the request is lost before this point",
     .script = "a write 0..3; b ack 3; a add 4 drop; a add 5; b nak 4; a add 4..5; "
               "b atomack 4..5",
     .want = "A: gaps=1 missing=1 again=2 repeats=1 rounds=1 by_nak=1 lost_before=1"},
    {.name = "atomic: the network makes copies of requests, which are answered as well",
     .script = "a add 0..1; b atomack 0..1; a add 0 copy; b atomack 0; a add 2; b atomack 2; "
               "a add 1 copy; b atomack 1; a add 3; b atomack 3",
     .want = "A: duplicates=2 repeats=2 B: r.again=2",
     .events = "response_resent B psn=0; response_resent B psn=1; no loss"},
    {.name = "atomic: likewise one after the other, and behind a round",
     .script = "a write 0; b ack 0; a add 1..4; b atomack 1..4; +100000; a add 3..4; "
               "b atomack 3..4; a add 1 copy; a add 3 copy; b atomack 1; b atomack 3; "
               "a add 5; b atomack 5 ident=20000; a add 4 copy; b atomack 4; a add 6; b atomack 6",
     .want = "A: duplicates=3 again=2 repeats=5 rounds=1 by_timeout=1 B: r.again=5 "
               "r.undelivered=1",
     .events = "no loss B detail=lost_before"},
    {.name = "atomic: likewise behind a round that repeats what was lost",
     .script = "a write 0; b ack 0; a add 1..2; b atomack 1..2; a add 3 drop; a write 4; "
               "b nak 3; a add 3; a write 4; b atomack 3; b ack 4; a add 1 copy; b atomack 1; "
               "a add 5; b atomack 5 ident=20000; a write 6; b ack 6; a add 3 copy; b atomack 3",
     .want = "A: gaps=1 missing=1 lost_before=1 again=2 duplicates=2 repeats=3 rounds=1 "
               "by_nak=1 naks=* B: r.again=2",
     .events = "no loss B"},
    {.name = "no identification: an answer comes again, and nobody was seen asking",
     .script = "all len=1024; a write.first 0; a write.last 1; b ack 1; a read 2 len=4096; "
               "b resp.first 2; b resp.middle 3..4; b resp.last 5; +9; "
               "b resp.first 2; b resp.middle 3..4; b resp.last 5; a read 6; b resp 6",
     .ident = SCENARIO_IDENT_IPV6, .want = "B: r.again=4"},
    {.name = "no identification: the first of an answer comes again alone",
     .script = "all len=1024; a write.first 0; a write.last 1; b ack 1; a read 2 len=4096; "
               "b resp.first 2; b resp.middle 3..4; b resp.last 5; +9; "
               "b resp.first 2; a read 6; b resp 6",
     .ident = SCENARIO_IDENT_IPV6, .want = "B: r.duplicates=1",
     .events = "duplicate B psn=2"},
    {.name = "no identification: one response that was asked for in the midst of a READ",
     .script = "all len=1024; a write.first 0; a write.last 1; b ack 1; a read 2 len=8192; "
               "a read 10 len=4096; b resp.first 2; b resp.middle 3; b resp.middle 4 drop; "
               "b resp.middle 5; a read 4 len=1024; b resp.middle 6..8; b resp.last 9; "
               "b resp.first 10; b resp.middle 11..12; b resp.last 13; b resp 4; a read 14; "
               "b resp 14",
     .ident = SCENARIO_IDENT_IPV6, .want = "A: again=1 repeats=1 rounds=1 by_reissue=1 "
               "B: r.gaps=1 r.missing=1 r.again=1 r.lost_before=1"},
    {.name = "FLUSH and ATOMIC WRITE are answered by an empty response",
     .script = "a flush 0; b resp 0 len=0; a atomwrite 1; b resp 1 len=0; a write 2; "
               "b ack 2",
     .want = "A: unique=3 B: r.unique=2"},
    {.name = "a SEND among atomics is answered by an ACK: no hole among responses",
     .script = "a add 0; a send 1..2; a add 3; b atomack 0; b ack 2; b atomack 3",
     .want = "B: r.unique=2"},
};

static const scenario one_way[] = {
    {.name = "responses only: a hole within a message",
     .script = "b resp.first 2; b resp.middle 3 drop; b resp.middle 4; b resp.last 5",
     .pairs = SCENARIO_PAIRS_UNKNOWN,
     .want = "B: paired=none r.gaps=1 r.missing=1 r.unknown=1"},
    {.name = "responses only: between messages nothing can be told",
     .script = "b resp 2; b resp 9; b resp.first 20; b resp.last 21; b resp 30",
     .pairs = SCENARIO_PAIRS_UNKNOWN, .want = "B: r.unique=5"},
    {.name = "responses only: the capture starts within a message",
     .script = "b resp.middle 2..4; b resp.last 5; b resp.first 9; b resp.last 10",
     .pairs = SCENARIO_PAIRS_UNKNOWN, .want = "B: r.unique=6"},
    {.name = "requests only: READs",
     .script = "a write.first 0 len=1024; a write.last 1; a read 2 len=4096; "
               "a read 6 len=4096; a write 10",
     .want = "A: unique=5"},
    {.name = "the capture starts while a READ is being answered",
     .script = "all len=1024; b resp.middle 7..8; b resp.last 9; a read 10 len=2048; "
               "b resp.first 10;"
               "b resp.last 11",
     .want = "A: unique=1 B: r.unique=5"},
    {.name = "responses at 2^23 from each other do no harm",
     .script = "b resp 0; b resp 0x800000; b resp 0; b resp 0x7fffff; b resp 0x800001",
     .pairs = SCENARIO_PAIRS_UNKNOWN},
};
/* clang-format on */

int
main(void)
{
    SCENARIO_CHECK(reads);
    SCENARIO_CHECK(overtaken);
    SCENARIO_CHECK(copies);
    SCENARIO_CHECK(atomics);
    SCENARIO_CHECK(one_way);
    return check_status();
}
