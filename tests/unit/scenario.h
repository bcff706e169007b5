/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tests of the tracker as small plays: a script says which packets a capture point
 * sees, a row says what the tracker must make of them.
 *
 * The one rule: a row is judged as a whole.  Every counter of scenario_judge.c that is
 * marked strict must be 0 unless the row names it, so that nothing is said falsely; and
 * every row is played twice and must give the same events.
 *
 * A script is a list of steps, separated by ";" or a new line:
 *
 *   WHO WHAT [NUMBERS] [OPTION...]   one packet for each of NUMBERS: "3", "0..9", "1,4"
 *   +N                               N microseconds pass (1 passes before each packet)
 *   t=N                              the clock says N microseconds (it may go back)
 *   all OPTION...                    options of every packet from here on
 *
 * WHO is `a` or `b`, the hosts; `x`, a switch that speaks to `a`; `s`, the source of
 * pause frames; with a digit for another queue pair, or another MAC of `s`.  Queue pair
 * k has QPN 0x100 + k at a and 0x200 + k at b.
 *
 * WHAT is a packet of the table in scenario.c: write, write.first, read, resp.last,
 * ack, nak, rnr, ...  Numbers are PSNs; those of pause frames are priorities, enabled
 * in one frame.
 *
 * OPTION
 *   drop      sent, but not seen at this point
 *   copy      the newest packet just like it that was sent before, once more: the same
 *             wire identity; copy=1: the first such
 *   len=N     bytes of payload, or those that a READ asks for; 64 unless said
 *   ect0 ect1 ce notect   its ECN codepoint; ECT(0) unless said
 *   bad       the ICRC is wrong
 *   cut       the snap length left the BTH and nothing behind it
 *   weak      the snap length cut the ICRC off
 *   timer=N   RNR timer code; 1 (10 us) unless said
 *   q=N       quanta
 *   point=N   the capture point
 *   dqpn=N    another destination QPN
 *   port=N    UDP source port
 *   ident=N   IPv4 identifications go on from N (rising ones)
 *   vni=N     in a VXLAN of this number
 *   va=N      the address in a RETH; 0 unless said, the PSN of a READ
 *   msn=N     the MSN in an AETH; 0 unless said
 *   around=N  the codepoint that the headers around it leave
 *   qpn= psn= comm= rcomm= reason=   fields of a CM message
 *
 * What is wanted is a list of "name=number" (or a word) behind the stream it is about,
 * "A:" for the packets from a to b, "B:", "A2:", "X:" for the switch's, or "T:" for the
 * totals: "A: gaps=1 missing=2 B: acks=1".  With "@1" behind its letter it is the
 * stream at point 1, with "%7" that in VXLAN 7.  "name=*" lets a strict counter be
 * anything.  Names are in scenario_judge.c.
 *
 * Wanted events are a list with ";" of "kind [STREAM] [key=number...]"; each must
 * occur, in this order; others may stand between them.  Keys: frame psn n rel us
 * detail.  "no kind" wants none of a kind.
 */
#ifndef SCENARIO_H
#define SCENARIO_H

#include "check.h"
#include "roce/tracker.h"

#include <stddef.h>

typedef enum scenario_ident {
    SCENARIO_IDENT_RISING,
    SCENARIO_IDENT_RANDOM, /* differs from packet to packet */
    SCENARIO_IDENT_CONSTANT,
    SCENARIO_IDENT_IPV6,
} scenario_ident;

typedef enum scenario_pairs {
    SCENARIO_PAIRS_KNOWN, /* the user told of the queue pairs 0 to 9 */
    SCENARIO_PAIRS_UNKNOWN,
    SCENARIO_PAIRS_TABLE,       /* the user gave the table of a's queue pairs 0 to 9 */
    SCENARIO_PAIRS_WRONG_TABLE, /* and it has other peers for them */
} scenario_pairs;

typedef struct scenario {
    const char *name;
    const char *script;
    const char *want;   /* NULL: only the invariants */
    const char *events; /* NULL: none in particular */
    scenario_ident ident;
    scenario_pairs pairs;
    char at;      /* 'a' or 'b': captured at that host, which tells directions */
    char told_at; /* 'a' or 'b': the user says so; 'n': in the network; 0: nothing */

    /* 0: the default */
    uint32_t max_streams, max_history_packets, history_room_packets;
    uint32_t histogram_room_buckets;
    uint64_t ce_episode_pause_us, path_delay_us;
    uint64_t link_speed_bps;
    /* The allocation that fails, from 1 on, and whether all behind it do. */
    uint64_t fail_at;
    bool fail_on;
} scenario;

/* What came of playing a scenario. */
typedef struct scenario_outcome {
    roce_tracker *tracker; /* finished; NULL when it could not be made */
    roce_event *events;
    size_t n_events, events_capacity;
    uint64_t link_speed_bps;
    char told_at;
    uint64_t n_allocations; /* asked for */
    uint64_t n_live;        /* not yet given back */
    uint64_t fail_at;
    bool fail_on;
    uint64_t first_ns, last_ns; /* of the packets seen */
    char trouble[256];          /* what is wrong with the script; "" if nothing */
    char relations[2048]; /* "3 covers 1; 3 ack 2us 1; ...": all of them, in order */
} scenario_outcome;

/* Plays the script into a new tracker and finishes it. */
void
scenario_play(const scenario *row, scenario_outcome *out);

void
scenario_outcome_clear(scenario_outcome *out);

/* Writes a line into `why` for all that is not as the row and the invariants want it.
 * Returns how many lines there are. */
unsigned
scenario_judge(const scenario *row, const scenario_outcome *out, char *why,
               size_t size);

/* The stream of a label such as "A", "B2" or "A@1"; NULL when there is none. */
const roce_stream *
scenario_stream(const scenario_outcome *out, const char *label);

/* Whether two outcomes have the same events. */
bool
scenario_same_events(const scenario_outcome *a, const scenario_outcome *b);

/* Plays a row twice and checks it. */
static inline void
scenario_check(const scenario *row, const char *file, int line)
{
    static char why[16384];
    scenario_outcome once;
    scenario_outcome twice;
    check_row(row->name);
    scenario_play(row, &once);
    scenario_play(row, &twice);
    if (scenario_judge(row, &once, why, sizeof why) > 0) {
        check_fail(file, line);
        fprintf(stderr, "\n%s", why);
    }
    check_true(scenario_same_events(&once, &twice), "same input, same events", file,
               line);
    scenario_outcome_clear(&once);
    scenario_outcome_clear(&twice);
    check_true(once.n_live == 0, "all memory was given back", file, line);
    check_row(NULL);
}

/* Checks every row of a table. */
#define SCENARIO_CHECK(rows)                                                           \
    do {                                                                               \
        for (size_t row_i = 0; row_i < sizeof(rows) / sizeof(rows)[0]; row_i++) {      \
            scenario_check(&(rows)[row_i], __FILE__, __LINE__);                        \
        }                                                                              \
    } while (0)

#endif
