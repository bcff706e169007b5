/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a tracker tells while it runs, added up, and what must hold of it whatever the
 * packets were: events, relations, sightings and counters are four ways to say the same.
 *
 * The one rule: whatever does not hold ends the program, with an assert that says what.
 */
#ifndef ACCOUNTS_H
#define ACCOUNTS_H

#include "roce/tracker.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ACCOUNTS_STREAMS 1024
#define ACCOUNTS_FRAMES 1024

/* What was told of one stream. */
typedef struct account {
    uint64_t events[ROCE_N_EVENTS];
    uint64_t of_space[ROCE_N_SPACES][ROCE_N_EVENTS];
    uint64_t missing[ROCE_N_SPACES];
    int64_t losses[ROCE_N_SPACES][ROCE_N_VERDICTS];
    uint64_t by_cause[ROCE_N_CAUSES];
    uint64_t round_frame; /* of the newest; */
    uint64_t resent_before;
    uint8_t round_cause;
    uint64_t samples[ROCE_N_LATENCIES];
} account;

typedef struct accounts {
    roce_tracker *tracker; /* the caller's; set once it is there */
    bool memory_fails;     /* what is told need not have been counted */
    uint64_t first_ns, last_ns;
    bool is_set_back; /* some frame came far behind a later stamp */
    uint64_t n_frames;
    uint64_t pauses[ROCE_N_EVENTS];
    uint64_t n_pairings, n_partings, n_cnps, n_naks;
    uint64_t digest; /* of everything that was told, in its order */
    uint64_t seen_ns[ACCOUNTS_FRAMES + 1]; /* by number */
    uint8_t point[ACCOUNTS_FRAMES + 1];
    uint64_t
        gap_at[ACCOUNTS_FRAMES + 1]; /* PSNs that a gap before it has; of requests */
    account of[ACCOUNTS_STREAMS];
} accounts;

/* Empty ones; only as much is cleared as a tracker of `max_streams` can fill. */
void
accounts_open(accounts *a, uint32_t max_streams);

/* A frame that comes next: its number, up to ACCOUNTS_FRAMES. */
uint64_t
accounts_note_frame(accounts *a, uint32_t point, uint64_t time_ns);

/* To be given to the tracker, with the accounts as ctx. */
void
accounts_take_event(void *ctx, const roce_event *event);
void
accounts_take_relation(void *ctx, const roce_relation *relation);

/* Checks where the tracker says that the packet stands that it took just now. */
void
accounts_check_sighting(accounts *a, const roce_packet *packet);

/* Checks everything once the tracker has finished. */
void
accounts_close(const accounts *a);

#endif
