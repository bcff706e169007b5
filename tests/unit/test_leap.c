/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Packets that were damaged in their PSN, where their ICRC was cut off. */
#include "scenario.h"

#define BITS 24

/* The one that is damaged: half of its bits are set, so that half of the leaps go back. */
#define DUE 0x555555

/* ---- each bit, whatever tells packets apart ---- */

static void
play_bit(const char *name, unsigned bit, scenario_ident ident, const char *behind,
         const char *want)
{
    char script[512];
    snprintf(script, sizeof script,
             "all weak; a write %d..%d; b ack %d; a write %d; %s", DUE - 300, DUE - 1,
             DUE - 20, DUE ^ (1 << bit), behind);
    char title[64];
    snprintf(title, sizeof title, "%s: bit %u, identification %d", name, bit,
             (int)ident);
    const scenario row = {
        .name = title, .script = script, .want = want, .ident = ident};
    scenario_check(&row, __FILE__, __LINE__);
}

static bool
is_known(unsigned bit, scenario_ident ident)
{
    return bit >= (ident == SCENARIO_IDENT_RISING ? 4 : 7);
}

static void
test_bits(void)
{
    char sent_again[160];
    char next_lost[160];
    char goes_on[160];
    snprintf(sent_again, sizeof sent_again,
             "a write %d..%d; b nak %d; a write %d..%d; b ack %d", DUE + 1, DUE + 8,
             DUE, DUE, DUE + 20, DUE + 20);
    snprintf(next_lost, sizeof next_lost,
             "a write %d drop; a write %d..%d; b nak %d; a write %d..%d; b ack %d",
             DUE + 1, DUE + 2, DUE + 8, DUE, DUE, DUE + 20, DUE + 20);
    snprintf(goes_on, sizeof goes_on, "a write %d..%d; b ack %d", DUE + 1, DUE + 20,
             DUE + 20);
    for (scenario_ident ident = 0; ident <= SCENARIO_IDENT_IPV6; ident++) {
        for (unsigned bit = 0; bit < BITS; bit++) {
            bool known = is_known(bit, ident);
            play_bit("sent again", bit, ident, sent_again,
                     known ? "A: psn_bad=1 gaps=1 missing=1 again=9 repeats=8 rounds=1 "
                             "by_nak=1 naks=1 corrupt=1"
                           : NULL);
            play_bit("the next one lost as well", bit, ident, next_lost,
                     known ? "A: psn_bad=1 gaps=1 missing=2 again=9 repeats=7 rounds=1 "
                             "by_nak=1 naks=1 corrupt=1 lost_before=1"
                           : NULL);
            play_bit("only its copy was damaged", bit, ident, goes_on,
                     known ? "A: psn_bad=1 gaps=1 missing=1" : NULL);
        }
    }
}

/* ---- what shows it, and what does not ---- */

/* clang-format off */
static const scenario rows[] = {
    {.name = "bit 6: may be reordering where nothing is numbered",
     .script = "all weak; a write 0..3; a write 68; a write 5..9",
     .ident = SCENARIO_IDENT_CONSTANT, .want = NULL, .events = "no psn_bad"},
    {.name = "the event stands on the damaged packet, with the PSN that it had",
     .script = "all weak; a write 0..3; a write 132; a write 5..7; b nak 4; a write 4..7; b ack 7",
     .want = "A: psn_bad=1 gaps=1 missing=1 again=4 repeats=3 rounds=1 by_nak=1 naks=1 corrupt=1",
     .events = "psn_bad A frame=5 psn=4; gap A frame=6 n=1; "
               "loss A psn=4 detail=corrupt evidence=bad_psn rel=5"},
    {.name = "captured whole: the ICRC has the word",
     .script = "a write 0..3; a write 132; a write 5..7; b ack 7",
     .want = NULL, .events = "no psn_bad; gap A n=128"},
    {.name = "it goes on from there: so many were lost",
     .script = "all weak; a write 0..3; a write 4..131 drop; a write 132..140; b ack 140",
     .want = "A: gaps=1 missing=128 not_captured=128", .events = "gap A frame=5 psn=4 n=128"},
    {.name = "a NAK shows that it had come: so many were lost",
     .script = "all weak; a write 0..3; a write 4..131 drop; a write 132; b nak 4; "
               "a write 4..140; b ack 140",
     .want = "A: gaps=1 missing=128 again=129 repeats=1 rounds=1 by_nak=1 naks=1 "
             "lost_before=128"},
    {.name = "so does an ACK",
     .script = "all weak; a write 0..3; a write 4..131 drop; a write 132; b ack 132; "
               "a write 133..140; b ack 140",
     .want = "A: gaps=1 missing=128 not_captured=128"},
    {.name = "so does an ACK behind the last one",
     .script = "all weak; a write 0..3; a write 4..131 drop; a write 132; b ack 132",
     .want = "A: gaps=1 missing=128 not_captured=128"},
    {.name = "an ACK for what came before it shows nothing",
     .script = "all weak; a write 0..3; a write 132; b ack 3; a write 5..9",
     .want = "A: psn_bad=1 gaps=1 missing=1"},
    {.name = "identifications tell that it was not overtaken, but overtook",
     .script = "all weak; a write 0 ident=100; a write 1..3; a write 4 drop; a write 20 ident=120; "
               "a write 5 ident=105; a write 6..19; a write 21 ident=121; a write 22..30; b ack 30",
     .want = "A: gaps=1 missing=16 reordered=15 not_captured=1"},
    {.name = "it comes again without being asked for: it had not come",
     .script = "all weak; a write 0..3; b ack 3; a write 132; +500000; a write 4..9; b ack 9",
     .want = "A: psn_bad=1"},
    {.name = "soon, and nothing tells: it may have been overtaken",
     .script = "all weak; a write 0..3; b ack 3; a write 132; a write 4..8",
     .ident = SCENARIO_IDENT_RANDOM, .want = NULL, .events = "gap A n=128; no psn_bad"},
    {.name = "two, one after the other",
     .script = "all weak; a write 0..3; a write 132; a write 1029; a write 6..9; b nak 4; "
               "a write 4..9; b ack 9",
     .want = "A: psn_bad=2 gaps=1 missing=2 again=6 repeats=4 rounds=1 by_nak=1 naks=1 "
             "corrupt=2"},
    {.name = "two, of which the second looks as if it went on from the first",
     .script = "all weak; a write 0..3; a write 132; a write 133; a write 6..9",
     .want = NULL, .events = "no psn_bad"},
    {.name = "back for one packet, in a round",
     .script = "all weak; a write 0..599; b nak 400; a write 400..449; a write 962; "
               "a write 451..600; b nak 450; a write 450..600; b ack 600",
     .want = "A: psn_bad=1 again=* repeats=* rounds=2 by_nak=2 naks=2 undelivered=1 "
             "corrupt=1"},
    {.name = "a timeout goes back by a power of two",
     .script = "all weak; a write 0..10; b ack 3; a write 11..131; +500000; a write 4..140; b ack 140",
     .want = "A: again=128 repeats=128 rounds=1 by_timeout=1 data_or_ack_lost=1"},
    {.name = "no restart for one packet",
     .script = "all weak; a write 100..103; a write 131176; a write 105..109; b ack 109",
     .want = "A: psn_bad=1 gaps=1 missing=1"},
    {.name = "no restart for one packet behind which the requester goes back",
     .script = "all weak; a write 100..149; a write 131222; b nak 120; a write 120..169; b ack 169",
     .want = "A: psn_bad=1 again=30 repeats=30 rounds=1 by_nak=1 naks=1 undelivered=1"},
    {.name = "a restart that goes on",
     .script = "all weak; a write 131072..131099; b ack 131099; a write 28..40; b ack 40",
     .want = "A: restarts=1", .events = "stream_restart A frame=30"},
    {.name = "the last packet: nobody knows",
     .script = "all weak; a write 0..3; a write 132",
     .want = "A: gaps=1 missing=128 unknown=128"},
    {.name = "the last packet, and what was due is acknowledged",
     .script = "all weak; a write 0..3; a write 132; b ack 4", .want = "A: psn_bad=1"},
    {.name = "the first packet, far away",
     .script = "all weak; a write 131072; a write 1..9; b ack 9",
     .want = "A: psn_bad=1", .events = "psn_bad A frame=1 psn=0; no stream_restart"},
    {.name = "the first packet, nearer, and nothing was sent in between",
     .script = "all weak; a write 0; a write 129..140; b ack 140",
     .want = "A: psn_bad=1", .events = "psn_bad A frame=1 psn=128; no gap"},
    {.name = "the first packet, nearer, and others may have been sent in between",
     .script = "all weak; a write 0; a write 129..140; b ack 140",
     .ident = SCENARIO_IDENT_RANDOM, .want = "A: gaps=1 missing=128 not_captured=128"},
    {.name = "UC asks for nothing",
     .script = "all weak; a uc.write 0..3; a uc.write 132; a uc.write 5..9",
     .pairs = SCENARIO_PAIRS_UNKNOWN, .want = "A: psn_bad=1 gaps=1 missing=1"},
    {.name = "the queue pair is set up anew: nothing is said of what is held",
     .script = "a cm.req qpn=256 psn=0 comm=1; b cm.rep qpn=512 psn=0 comm=2 rcomm=1; all weak; "
               "a write 0..3; a write 132; a cm.req qpn=256 psn=0 comm=3; "
               "b cm.rep qpn=512 psn=0 comm=4 rcomm=3; a write 0..9",
     .pairs = SCENARIO_PAIRS_UNKNOWN, .want = NULL, .events = "no psn_bad; no gap"},
    {.name = "a response ahead",
     .script = "all weak; a read 0 len=1024000; b resp.first 0 len=1024; "
               "b resp.middle 1..99 len=1024; b resp.middle 612 len=1024; b resp.middle 101..200 len=1024; "
               "a read 100 len=921600; b resp.first 100 len=1024; b resp.middle 101..998 len=1024; "
               "b resp.last 999 len=1024",
     .want = "A: again=* repeats=* rounds=1 by_reissue=1 B: psn_bad=1 r.gaps=1 r.missing=1 "
             "r.again=101 r.corrupt=1"},
    {.name = "a response back",
     .script = "all weak; a read 0 len=1024000; b resp.first 0 len=1024; "
               "b resp.middle 1..299 len=1024; b resp.middle 44 len=1024; b resp.middle 301..400 len=1024; "
               "a read 300 len=716800; b resp.first 300 len=1024; b resp.middle 301..998 len=1024; "
               "b resp.last 999 len=1024",
     .want = "A: again=* repeats=* rounds=1 by_reissue=1 B: psn_bad=1 r.gaps=1 r.missing=1 "
             "r.again=101 r.corrupt=1"},
    {.name = "a response that answers nothing",
     .script = "all weak; a read 0 len=102400; b resp.first 0 len=1024; "
               "b resp.middle 1..49 len=1024; b resp.middle 562 len=1024; +500000; "
               "a read 50 len=51200; b resp.first 50 len=1024; b resp.middle 51..98 len=1024; "
               "b resp.last 99 len=1024",
     .want = NULL, .events = "psn_bad B psn=50"},
    {.name = "responses that go on from there",
     .script = "all weak; a read 0 len=1024000; b resp.first 0 len=1024; "
               "b resp.middle 1..99 len=1024; b resp.middle 100..611 drop len=1024; "
               "b resp.middle 612..998 len=1024; b resp.last 999 len=1024",
     .want = NULL, .events = "no psn_bad; gap B n=512"},
    {.name = "no memory to hold it", .script = "all weak; a write 0..3; a write 132; a write 5..9",
     .fail_at = 12, .want = NULL},
};
/* clang-format on */

int
main(void)
{
    test_bits();
    SCENARIO_CHECK(rows);
    return check_status();
}
