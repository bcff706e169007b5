/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the tracker must stand: full tables, no memory, absurd PSNs, clocks that step
 * back; and that the same input gives the same events.
 */
#include "scenario.h"

#include <stdarg.h>

/* A script that grows. */
typedef struct play {
    char *text;
    size_t used, size;
} play;

__attribute__((format(printf, 2, 3))) static void
add(play *p, const char *format, ...)
{
    if (p->size - p->used < 256) {
        p->size = p->size == 0 ? 65536 : p->size * 2;
        char *grown = realloc(p->text, p->size);
        if (grown == NULL) {
            abort();
        }
        p->text = grown;
    }
    va_list arguments;
    va_start(arguments, format);
    int n = vsnprintf(p->text + p->used, p->size - p->used, format, arguments);
    va_end(arguments);
    p->used += n > 0 ? (size_t)n : 0;
}

/* A bit of everything: losses, NAKs, READs, atomics, CM, CNPs, pauses, two points. */
static const char everything[] =
    "a cm.req comm=1 qpn=0x100 psn=0; b cm.rep comm=2 rcomm=1 qpn=0x200 psn=9;"
    "a cm.rtu comm=1 rcomm=2;"
    "a write.first 0 len=1024; a write.middle 1..8 len=1024 ce; a write.last 9; b ack "
    "9;"
    "b cnp; a write 10 drop; a write 11..14; b nak 10; a write 10; a write 11 drop;"
    "a write 12..14; b nak 11; a write 11..14; a write 10 copy=1; b ack 14;"
    "a read 15 len=4096; b resp.first 15 len=1024; b resp.middle 16 drop len=1024;"
    "b resp.middle 17 len=1024; b resp.last 18 len=1024; a read 16 len=3072;"
    "b resp.first 16 len=1024; b resp.middle 17 len=1024; b resp.last 18 len=1024;"
    "a add 19; b atomack 19; +100000; a add 19; b atomack 19; a send 20..22; b rnr 20;"
    "+20; a send 20..22; b ack 22; a write 23 bad; a write 24; b nak 23; a write "
    "23..24;"
    "b ack 24; a write 25 drop; a write 26..30; b access 29;"
    "a write 0x100000..0x100009; b ack 0x100009; b write 7..20; a ack 12; a nak 13;"
    "b write 13..20; a ack 20; a2 write 5..9; b2 ack 9; a uc.write 100 dqpn=0x999;"
    "a uc.write 102 dqpn=0x999; a ud.send 1; x cnp; s pfc 3,4 q=60000; +9; s pfc 3 q=0;"
    "s1 pause q=100; a write 0..9 point=1; b ack 9 point=1; a flush 0x10000a;"
    "b resp 0x10000a len=0; a unknown 0x10000b; a send 0x10000b; a cas 0x10000c;"
    "a atomwrite 0x10000d; a write.first 0x10000e; a send.first 0x10000f";

/* clang-format off */
static const scenario caps[] = {
    {.name = "streams: the last that has room",
     .script = "a write 0; a2 write 0; a3 write 0", .max_streams = 3,
     .want = "A3: unique=1"},
    {.name = "streams: one too many is counted and told of",
     .script = "a write 0; a2 write 0; a3 write 0..4; a write 1", .max_streams = 2,
     .want = "A: unique=2 T: untracked=5 evicted_streams=* roce=8",
     .events = "evicted"},
    {.name = "streams: the other direction has no room",
     .script = "a write 0..9; b ack 9; a write 5..9; b nak 5", .max_streams = 1,
     .want = "A: paired=none again=5 repeats=5 rounds=1 by_unknown=1 unknown=1 T: "
               "untracked=2 evicted_streams=*"},
    {.name = "history: 64 outstanding fit",
     .script = "a write 0..63; b nak 0; a write 0..63; "
               "b ack 63", .max_history_packets = 64,
     .want = "A: again=64 repeats=64 rounds=1 by_nak=1 undelivered=1"},
    {.name = "history: more outstanding than it holds is counted and told of",
     .script = "a write 0; b ack 0; a write 1..200", .max_history_packets = 64,
     .want = "A: unique=201 T: evicted_history=136", .events = "evicted"},
    {.name = "history: what nobody acknowledges is not wanted for ever",
     .script = "a write 0..199", .max_history_packets = 64, .want = "A: unique=200"},
    {.name = "history: what is acknowledged may go and is no eviction",
     .script = "a write 0..49; b ack 49; a write 50..99; b ack 99; a write 100..149; "
               "b ack 149",
     .max_history_packets = 64, .want = "A: unique=150"},
    {.name = "history: a copy of what is forgotten is still sent again",
     .script = "a write 0..199; b nak 0; a write 0..199; "
               "b ack 199", .max_history_packets = 64,
     .want = "A: again=200 rounds=1 by_nak=1 repeats=* undelivered=* T: "
               "evicted_history=*"},
    {.name = "room of histories: just enough for one",
     .script = "a write 0; b ack 0; a write 1..200", .history_room_packets = 256,
     .want = "A: unique=201"},
    {.name = "room of histories: a history that is too long loses its oldest entries",
     .script = "a write 0; b ack 0; a write 1..200", .history_room_packets = 64,
     .want = "A: unique=201 T: evicted_history=136", .events = "evicted"},
    {.name = "room of histories: half of it goes, and no more than has to",
     .script = "a write 0; b ack 0; a write 1..200; b nak 100; a write 100; b ack 100",
     .history_room_packets = 130,
     .want = "A: again=1 repeats=1 rounds=1 by_nak=1 undelivered=1 T: evicted_history=72",
     .events = "evicted A n=1; evicted A n=2; evicted A n=4; evicted A n=64"},
    {.name = "room of histories: a history that is cut for another one says so",
     .script = "a write 0; b ack 0; a write 1..120; a2 write 0; b2 ack 0; "
               "a2 write 1..120; a3 write 0; b nak 100; a write 100; b ack 100",
     .history_room_packets = 130,
     .want = "A: again=1 repeats=1 rounds=1 by_nak=1 undelivered=1 T: evicted_history=59",
     .events = "evicted A n=1; evicted A2 n=2"},
    {.name = "room of histories: of responses as well, which nobody wants any more",
     .script = "a write.first 0 len=256; a write.last 1; b ack 1; a read 2 len=51200; "
               "b resp.first 2 len=256; b resp.middle 3..200 len=256; "
               "b resp.last 201 len=256; a write 202; b ack 202",
     .history_room_packets = 130,
     .want = "A: unique=4 B: r.unique=200"},
    {.name = "room of histories: what nobody wants goes first",
     .script = "a write 0..99; b ack 99; a write 100; a2 write 0..99; b2 ack 99; "
               "a2 write 100..131; b nak 100; a write 100; b ack 100",
     .history_room_packets = 128,
     .want = "A: again=1 repeats=1 rounds=1 by_nak=1 undelivered=1"},
    {.name = "a jump of 2^23 and back, again and again",
     .script = "a write 0; a write 0x800000; a write 0; a write 0x800000; "
               "a write 0x7fffff; a write 0x800001"},
    {.name = "ACKs 2^23 away",
     .script = "a write 0..9; b ack 0x800005; b ack 0x800006; b nak 0x7fffff; "
               "b ack 9; b rnr 0x800000;"
               "b nak 0x800009"},
    {.name = "NAKs for every PSN there is",
     .script = "a write 0x1000..0x1009; b nak 0; b nak 0xfff; b nak 0x100a; "
               "b nak 0x10100; b nak 0x11009;"
               "b nak 0x1100a; b nak 0x800000; b nak 0xffffff; b nak 0x1005; "
               "a write 0x1005..0x1009; b ack 0x1009"},
    {.name = "a READ of 4 GiB",
     .script = "a write.first 0 len=256; a write.last 1; a read 2 len=0xffffffff; "
               "a write 3; b ack 1;"
               "b resp.first 2 len=256; b resp.middle 0x800000 len=256; "
               "a read 2 len=0xffffffff; a write 2"},
    {.name = "a READ that takes all PSNs there are, and then its last one",
     .script = "a write.first 0 len=256; a write.last 1; b ack 1; "
               "a read 2 len=0xffffffff; a write 1; b ack 2",
     .want = "A: unique=3 repeats=1 again=1 rounds=1 by_unknown=1 undelivered=1"},
    {.name = "a READ of 4 GiB while the PMTU is unknown",
     .script = "a read 2 len=0xffffffff; a write 3; b resp.first 2 len=256; "
               "b resp.middle 0xffffff len=256;"
               "a read 4 len=0xffffffff; a read 4 len=0xffffffff; "
               "b resp.last 0x7fffff"},
    {.name = "the clock steps back between a NAK and its round",
     .script = "t=9000; a write 0..14; b nak 10; t=1000; a write 10..14; b ack 14",
     .want = "A: again=5 repeats=5 rounds=1 by_nak=1 undelivered=1"},
    {.name = "the clock steps back between a packet and its ACK",
     .script = "t=9000; a write 0..14; t=1000; b ack 14; t=500; a write 15..19; t=0; "
               "b ack 19",
     .want = "A: unique=20"},
    {.name = "the clock steps back in an RNR wait",
     .script = "t=9000; a send 0; b rnr 0; t=100; a send 0; b ack 0",
     .want = "A: again=1 repeats=1 rounds=1 by_rnr=1 waits_broken=*  waits_kept=*"},
    {.name = "the clock steps back in a gap",
     .script = "t=9000; a write 0..9; a write 10 drop; a write 11; t=10; "
               "a write 10 copy; a write 12; b ack 12",
     .want = "A: gaps=1 missing=1 reordered=1"},
    {.name = "the clock stands still at its end",
     .script = "t=18446743073709000; a write 0..14; b nak 10; a write 10..14; "
               "b ack 14; s pfc 3 q=100"},
    {.name = "the same PSN a thousand times",
     .script = "a write 5; a write 5; a write 5; a write 5; a write 5; a write 5; "
               "b nak 5; b nak 5; a write 5"},
    {.name = "everything at once", .script = everything},
    {.name = "everything, constant identification", .script = everything,
     .ident = SCENARIO_IDENT_CONSTANT},
    {.name = "everything, random identification", .script = everything,
     .ident = SCENARIO_IDENT_RANDOM},
    {.name = "everything, IPv6", .script = everything, .ident = SCENARIO_IDENT_IPV6},
    {.name = "everything, nobody is paired by the user", .script = everything,
     .pairs = SCENARIO_PAIRS_UNKNOWN},
    {.name = "everything, three streams and 64 packets",
     .script = everything, .max_streams = 3, .max_history_packets = 64},
    {.name = "everything, 100G", .script = everything, .link_speed_bps = 100000000000},
    {.name = "everything, at the requester", .script = everything, .at = 'a'},
    {.name = "everything, at the responder", .script = everything, .at = 'b'},
};
/* clang-format on */

static void
check_script(const char *name, play *p, const char *want, const char *events)
{
    scenario row = {.name = name, .script = p->text, .want = want, .events = events};
    scenario_check(&row, __FILE__, __LINE__);
    p->used = 0;
}

/* More holes than the table of what is missing has room for. */
static void
check_missing_ranges(void)
{
    play p = {0};
    add(&p, "a write 0; b ack 0; ");
    for (unsigned i = 1; i <= 512; i += 2) {
        add(&p, "a write %u drop; a write %u; ", i, i + 1);
    }
    check_script("256 holes fit", &p, "A: gaps=256 missing=256 unknown=256",
                 "no evicted");
    add(&p, "a write 0; b ack 0; ");
    for (unsigned i = 1; i <= 2000; i += 2) {
        add(&p, "a write %u drop; a write %u; ", i, i + 1);
    }
    check_script("1000 holes are too many: evicted, judged all the same", &p,
                 "A: gaps=1000 missing=1000 unknown=1000 T: evicted_missing=744",
                 "evicted");
    add(&p, "a write 0; b ack 0; ");
    for (unsigned i = 1; i <= 1024; i += 4) {
        add(&p, "a write %u..%u drop; a write %u; ", i, i + 2, i + 3);
    }
    add(&p, "b ack 1024; a write 2; a write 6; a write 10");
    check_script(
        "256 holes, and three become two each", &p,
        "A: gaps=256 missing=768 not_captured=768 again=3 rounds=1 by_unknown=1 "
        "partial=* T: evicted_missing=3",
        "evicted");
    free(p.text);
}

static void
check_storms(void)
{
    play p = {0};
    add(&p, "a write 0..9; ");
    for (unsigned i = 0; i < 20000; i++) {
        add(&p, "b ack %u; ", i % 10);
    }
    check_script("a storm of ACKs", &p, "A: unique=10 B: acks_sent=20000", NULL);
    add(&p, "a write 0..9; ");
    for (unsigned i = 0; i < 5000; i++) {
        add(&p, "b nak 5; ");
    }
    add(&p, "a write 5..9; b ack 9");
    check_script(
        "a storm of NAKs is one round", &p,
        "A: again=5 repeats=5 rounds=1 by_nak=1 undelivered=1 naks=5000 unique=10",
        NULL);
    add(&p, "a write 0..4; b ack 4; ");
    for (unsigned i = 0; i < 5000; i++) {
        add(&p, "+100000; a write 5; ");
    }
    check_script("a timeout for ever", &p,
                 "A: again=4999 repeats=4999 rounds=4999 by_timeout=4999"
                 " data_or_ack_lost=4999",
                 NULL);
    for (unsigned i = 0; i < 3000; i++) {
        add(&p, "a write %u; b ack %u; ", i * 5000 % 0xffffff, i * 77777 % 0xffffff);
    }
    check_script("PSNs all over the place", &p, NULL, NULL);
    free(p.text);
}

/* More sources of pause frames than there is room for. */
static void
check_pause_sources(void)
{
    play p = {0};
    for (unsigned i = 0; i < 4200; i++) {
        add(&p, "s pfc 3 q=100 point=%u; ", i);
    }
    check_script("4200 sources of pause frames", &p, "T: pfc=4200 evicted_pauses=104",
                 "evicted");
    free(p.text);
}

/* Many streams, each with its own history. */
static void
check_many_streams(void)
{
    play p = {0};
    for (unsigned i = 0; i < 3000; i++) {
        add(&p, "a write 0..3 dqpn=%u; ", 0x1000 + i * 256);
    }
    scenario row = {.name = "3000 streams", .script = p.text};
    scenario_outcome out;
    check_row(row.name);
    scenario_play(&row, &out);
    CHECK_STR(out.trouble, "");
    CHECK_INT(roce_tracker_n_streams(out.tracker), 3000);
    CHECK_INT(roce_tracker_totals_get(out.tracker)->untracked_packets, 0);
    scenario_outcome_clear(&out);
    check_row(NULL);
    free(p.text);
}

static uint32_t
draw(uint64_t *seed, uint32_t below)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*seed >> 33) % below;
}

/* A step that may or may not make sense, around PSN `at`. */
static void
add_random_step(play *p, uint64_t *seed, uint32_t at)
{
    static const char *const of_a[] = {
        "write",
        "write.first len=256",
        "write.middle len=256",
        "write.last",
        "send",
        "read",
        "read len=700",
        "read len=3000",
        "add",
        "flush",
        "atomwrite",
        "write ce",
        "send",
        "write",
        "ack",
        "nak",
    };
    static const char *const of_b[] = {
        "ack",         "ack",  "ack",       "nak",     "nak",
        "rnr",         "resp", "resp.last", "atomack", "resp.first len=256",
        "resp.middle", "cnp",  "access",    "write",
    };
    const char *how = "";
    uint32_t luck = draw(seed, 12);
    how = luck == 0 ? "drop" : luck == 1 ? "bad" : luck == 2 ? "weak" : "";
    uint32_t psn = (at + 0x1000000 + draw(seed, 24) - 12) & 0xffffff;
    if (draw(seed, 40) == 0) {
        add(p, "+%u; ", draw(seed, 200000));
    }
    if (draw(seed, 60) == 0) {
        add(p, "t=%u; ", draw(seed, 200000));
    }
    if (draw(seed, 2) == 0) {
        add(p, "a %s %u %s; ", of_a[draw(seed, sizeof of_a / sizeof of_a[0])], psn,
            how);
    } else {
        add(p, "b %s %u %s; ", of_b[draw(seed, sizeof of_b / sizeof of_b[0])], psn,
            how);
    }
    if (draw(seed, 4) == 0) {
        uint32_t n = draw(seed, 8);
        add(p, "a write %u..%u; b ack %u; ", psn, psn + n, (psn + n) & 0xffffff);
    } else if (draw(seed, 8) == 0) {
        uint32_t n = draw(seed, 4);
        add(p, "+%u; a send %u..%u; b ack %u msn=%u; ", draw(seed, 2) * 100000, psn,
            psn + n, (psn + n) & 0xffffff, draw(seed, 2) == 0 ? n + 1 : 200);
    }
}

/* Whatever comes, counters and events agree and no duration is negative. */
static void
check_nonsense(void)
{
    play p = {0};
    for (unsigned i = 0; i < 400; i++) {
        uint64_t seed = i + 1;
        uint32_t at = i % 3 == 0 ? 0 : i % 3 == 1 ? 0xfffffe : 5000;
        char name[64];
        for (unsigned k = 0; k < 300; k++) {
            add_random_step(&p, &seed, at);
            at = (at + draw(&seed, 3)) & 0xffffff;
        }
        snprintf(name, sizeof name, "nonsense %u", i);
        scenario row = {.name = name,
                        .script = p.text,
                        .ident = (scenario_ident)(i % 4),
                        .pairs =
                            i % 5 == 0 ? SCENARIO_PAIRS_UNKNOWN : SCENARIO_PAIRS_KNOWN,
                        .max_history_packets = i % 7 == 0 ? 64 : 0};
        scenario_check(&row, __FILE__, __LINE__);
        p.used = 0;
    }
    free(p.text);
}

/* Holes in a round, as many as there is room for; a NAK and an ACK split two of them. */
static const char holes[] =
    "a write 0; b ack 0; a write 1; b ack 1; a write 2..30; +100000; a write 2; "
    "a write 3..6 drop; a write 7; a write 8 drop; a write 9; a write 10 drop; "
    "a write 11; a write 12 drop; a write 13; a write 14..18 drop; a write 19; "
    "b nak 4; b ack 15";

/* Paired by PSN, and then otherwise by CM; and what the new pairing leaves behind. */
static const char paired_again[] =
    "a write 500; b2 ack 500; b nak 400; b cnp; a cm.req comm=1 qpn=0x100 psn=500; "
    "b cm.rep comm=2 rcomm=1 qpn=0x200 psn=600; a cm.rtu comm=1 rcomm=2; b ack 500; "
    "a write 501 ce; b ack 501; b cnp; b write 600..602; a nak 600; b write 600..602; "
    "a ack 602; a cm.dreq comm=1 rcomm=2 qpn=0x200; a write 0; b ack 0";

/* clang-format off */
static const scenario starved[] = {
    {.name = "everything", .script = everything},
    {.name = "everything, pairs are found out", .script = everything,
     .pairs = SCENARIO_PAIRS_UNKNOWN},
    {.name = "everything, by a host's table", .script = everything,
     .pairs = SCENARIO_PAIRS_TABLE},
    {.name = "everything, by a wrong table", .script = everything,
     .pairs = SCENARIO_PAIRS_WRONG_TABLE},
    {.name = "everything, IPv6, at the responder", .script = everything,
     .ident = SCENARIO_IDENT_IPV6, .at = 'b'},
    {.name = "everything, little room", .script = everything, .max_streams = 4,
     .max_history_packets = 64, .history_room_packets = 64},
    {.name = "holes", .script = holes},
    {.name = "paired again", .script = paired_again, .pairs = SCENARIO_PAIRS_UNKNOWN},
    {.name = "paired again, against a table", .script = paired_again,
     .pairs = SCENARIO_PAIRS_WRONG_TABLE},
    {.name = "a stream begins with a bad CNP", .script = "b cnp bad; a write 0; b ack 0; "
     "a write 1; b ack 1; b2 cnp bad; a2 write 0; b2 ack 0; a2 write 1; b2 ack 1"},
};
/* clang-format on */

/* An event of a stream names a frame that has come. */
static void
check_frames(const scenario_outcome *out)
{
    for (size_t i = 0; i < out->n_events; i++) {
        CHECK(out->events[i].frame != 0 ||
              out->events[i].kind == ROCE_EVENT_PAUSE_EXPIRED);
    }
}

/* Each allocation of a play fails in its turn, alone or with all that follow. */
static void
check_allocations(const scenario *fed)
{
    static char why[8192];
    scenario row = *fed;
    scenario_outcome out;
    scenario_play(&row, &out);
    uint64_t n = out.n_allocations;
    scenario_outcome_clear(&out);
    CHECK(n > 8);
    for (uint64_t i = 1; i <= 2 * n; i++) {
        char name[96];
        row.fail_at = (i + 1) / 2;
        row.fail_on = i % 2 == 0;
        snprintf(name, sizeof name, "%s: allocation %u fails%s", fed->name,
                 (unsigned)row.fail_at, row.fail_on ? ", and all behind it" : "");
        check_row(name);
        scenario_play(&row, &out);
        if (out.tracker != NULL && scenario_judge(&row, &out, why, sizeof why) > 0) {
            check_fail(__FILE__, __LINE__);
            fprintf(stderr, "\n%s", why);
        }
        check_frames(&out);
        scenario_outcome_clear(&out);
        CHECK_INT(out.n_live, 0);
    }
    check_row(NULL);
}

/* So many queue pairs, gaps, sources of pauses and of CNPs that every table grows. */
static void
check_allocations_of_crowd(void)
{
    play p = {0};
    for (unsigned i = 0; i < 40; i++) {
        unsigned qpn = 0x1000 + i;
        add(&p,
            "a write 0..9 dqpn=%u ce; a write 12..14 dqpn=%u vni=%u; x cnp dqpn=%u; ",
            qpn, qpn, i % 3, qpn);
        add(&p, "s%u pfc 3 q=100 point=%u; a write 10 dqpn=%u point=%u; ", i % 10, i,
            qpn, i % 4);
        add(&p,
            "a cm.req comm=%u qpn=%u psn=0; b cm.rep comm=%u rcomm=%u qpn=%u psn=9; ",
            i + 1, 0x2000 + i, 1000 + i, i + 1, 0x3000 + i);
    }
    check_allocations(&(scenario){.name = "a crowd", .script = p.text});
    free(p.text);
}

/* A packet that was not tracked for lack of memory is told to the caller. */
static void *
no_memory(void *ctx, void *old, size_t size)
{
    unsigned *left = ctx;
    if (*left == 0) {
        return NULL;
    }
    (*left)--;
    return realloc(old, size);
}

static void
give_back(void *ctx, void *old)
{
    (void)ctx;
    free(old);
}

static void
check_memory_error(void)
{
    unsigned left = 4; /* enough for the tracker, not for a stream */
    roce_alloc alloc = {.resize = no_memory, .release = give_back, .ctx = &left};
    roce_tracker_config config;
    roce_tracker_config_init(&config);
    roce_tracker *t = NULL;
    check_row("no memory for a stream");
    if (!CHECK_INT(roce_tracker_new(&t, &alloc, &config), ROCE_OK)) {
        return;
    }
    uint8_t bytes[4] = {0};
    roce_frame frame = {
        .bytes = bytes, .captured_bytes = 4, .wire_bytes = 66, .number = 1};
    roce_packet packet = {.outcome = ROCE_DECODED,
                          .kind = ROCE_CLASS_ROCE,
                          .src = {.bytes = {10, 0, 0, 1}, .family = 4},
                          .dst = {.bytes = {10, 0, 0, 2}, .family = 4},
                          .has_bth = true,
                          .transport = ROCE_TRANSPORT_RC,
                          .end_offset = 4,
                          .bth = {.opcode = 0x04, .dest_qpn = 7, .psn24 = 1}};
    CHECK_INT(roce_tracker_add(t, &frame, &packet, ROCE_ICRC_GOOD), ROCE_ERROR_MEMORY);
    CHECK_INT(roce_tracker_totals_get(t)->roce_packets, 1);
    CHECK_INT(roce_tracker_totals_get(t)->untracked_packets, 1);
    CHECK_INT(roce_tracker_last_stream(t), ROCE_NO_STREAM);
    left = 1000;
    CHECK_INT(roce_tracker_add(t, &frame, &packet, ROCE_ICRC_GOOD), ROCE_OK);
    CHECK_INT(roce_tracker_n_streams(t), 1);
    CHECK_INT(roce_tracker_last_stream(t), 0);
    roce_tracker_finish(t);
    roce_tracker_free(t);
    check_row(NULL);
}

static void
check_configurations(void)
{
    static const struct {
        const char *name;
        uint32_t max_streams, max_history;
        int want;
    } cases[] = {
        {"no stream", 0, 64, ROCE_ERROR_INVALID},
        {"one stream", 1, 64, ROCE_OK},
        {"history too short", 1, 63, ROCE_ERROR_INVALID},
        {"history as short as can be", 1, 64, ROCE_OK},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        unsigned left = 1000;
        roce_alloc alloc = {.resize = no_memory, .release = give_back, .ctx = &left};
        roce_tracker_config config;
        roce_tracker *t = NULL;
        roce_tracker_config_init(&config);
        config.max_streams = cases[i].max_streams;
        config.max_history_packets = cases[i].max_history;
        check_row(cases[i].name);
        CHECK_INT(roce_tracker_new(&t, &alloc, &config), cases[i].want);
        CHECK((t != NULL) == (cases[i].want == ROCE_OK));
        roce_tracker_free(t);
    }
    check_row("no memory for a tracker");
    for (unsigned n = 0; n < 2; n++) {
        unsigned left = n;
        roce_alloc alloc = {.resize = no_memory, .release = give_back, .ctx = &left};
        roce_tracker_config config;
        roce_tracker *t = NULL;
        roce_tracker_config_init(&config);
        CHECK_INT(roce_tracker_new(&t, &alloc, &config), ROCE_ERROR_MEMORY);
        CHECK(t == NULL);
    }
    roce_tracker_free(NULL);
    check_row(NULL);
}

int
main(void)
{
    SCENARIO_CHECK(caps);
    check_missing_ranges();
    check_storms();
    check_pause_sources();
    check_many_streams();
    check_nonsense();
    for (size_t i = 0; i < sizeof starved / sizeof starved[0]; i++) {
        check_allocations(&starved[i]);
    }
    check_allocations_of_crowd();
    check_memory_error();
    check_configurations();
    return check_status();
}
