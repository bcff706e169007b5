/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How long histories may be, and how fine distributions of latencies: all histories share
 * one room, and all distributions another, so that memory depends neither on the length
 * of a capture nor, beyond a little for each, on the number of its streams.
 *
 * A history grows as its stream needs it.  When the room is used up, no history may be
 * longer than half of what was allowed before, those that are forget their oldest
 * entries, and so on until all fit: the longest pay first.  Below LEAST_PACKETS nobody
 * goes; from then on streams add to what the room holds.  Distributions likewise: what
 * they have beyond the least number of buckets has a room, and those of too many become
 * coarser.  They lose no sample.
 *
 * The one rule: histories are cut before a packet is tracked and never while one is,
 * because rules hold entries.
 */
#include "track.h"

#define LEAST_PACKETS 8

void
roce_room_init(roce_tracker *t)
{
    /* A history has a power of two of entries: the greatest one allowed. */
    t->history_max = t->config.max_history_packets;
    while ((t->history_max & (t->history_max - 1)) != 0) {
        t->history_max &= t->history_max - 1;
    }
    t->histogram_max = ROCE_HISTOGRAM_BUCKETS;
}

/* ---- histories ---- */

static void
count_growth(roce_tracker *t, const roce_history *history, uint32_t before)
{
    t->history_packets += history->capacity - before;
}

roce_slot *
roce_room_take(roce_tracker *t, roce_history *history, int64_t psn, int64_t keep_from,
               uint64_t *forgot)
{
    uint32_t before = history->capacity;
    roce_slot *slot =
        roce_history_insert(history, &t->alloc, psn, keep_from, t->history_max, forgot);
    count_growth(t, history, before);
    return slot;
}

bool
roce_room_may_grow(const roce_tracker *t, const roce_history *history)
{
    return (uint64_t)history->capacity * 2 <= t->history_max;
}

bool
roce_room_grow(roce_tracker *t, roce_history *history)
{
    uint32_t before = history->capacity;
    bool grown = roce_history_grow(history, &t->alloc, t->history_max);
    count_growth(t, history, before);
    return grown;
}

void
roce_room_give_back(roce_tracker *t, roce_lane *lane)
{
    t->history_packets -= lane->history.capacity;
    roce_history_clear(&lane->history, &t->alloc);
    roce_missing_clear(&lane->missing, &t->alloc);
    *lane = (roce_lane){0};
}

static int64_t
keep_from(const roce_stream_state *s, roce_space space)
{
    return space == ROCE_SPACE_REQUESTS ? roce_sequence_keep_from(s)
                                        : roce_answers_of(s)->lane.max_next;
}

static void
cut(roce_tracker *t, roce_stream_state *s, roce_space space)
{
    roce_history *history = &roce_lane_at(s, space)->history;
    uint32_t before = history->capacity;
    uint64_t forgot = 0;
    roce_history_shrink(history, &t->alloc, t->history_max, keep_from(s, space),
                        &forgot);
    t->history_packets -= before - history->capacity;
    if (forgot > 0) {
        roce_track_evicted(t, ROCE_TABLE_HISTORY, s, NULL);
    }
}

bool
roce_room_may_cut(const roce_tracker *t)
{
    return t->history_max / 2 >= LEAST_PACKETS;
}

static void
cut_histories(roce_tracker *t)
{
    while (t->history_packets > t->config.history_room_packets &&
           roce_room_may_cut(t)) {
        t->history_max /= 2;
        for (uint32_t i = 0; i < t->n_streams; i++) {
            roce_stream_state *s = roce_state_at(t, i);
            cut(t, s, ROCE_SPACE_REQUESTS);
            if (s->answers != NULL) {
                cut(t, s, ROCE_SPACE_RESPONSES);
            }
        }
    }
}

/* ---- distributions ---- */

/* Buckets that count: what each may have in any case takes no room. */
static uint32_t
counted_of(const roce_histogram *h)
{
    return h->capacity > ROCE_HISTOGRAM_LEAST_BUCKETS
               ? h->capacity - ROCE_HISTOGRAM_LEAST_BUCKETS
               : 0;
}

void
roce_room_sample(roce_tracker *t, roce_histogram *h, uint64_t sample_ns)
{
    uint32_t before = counted_of(h);
    roce_histogram_add_within(h, &t->alloc, sample_ns, t->histogram_max);
    t->histogram_buckets += counted_of(h) - before;
}

void
roce_room_forget_samples(roce_tracker *t, roce_histogram *h)
{
    t->histogram_buckets -= counted_of(h);
    roce_histogram_clear(h, &t->alloc);
}

static void
shrink_histograms_of(roce_tracker *t, const roce_stream *s)
{
    for (unsigned i = 0; s->latencies != NULL && i < ROCE_N_LATENCIES; i++) {
        roce_histogram *h = s->latencies->of[i];
        if (h != NULL) {
            uint32_t before = counted_of(h);
            roce_histogram_shrink(h, &t->alloc, t->histogram_max);
            t->histogram_buckets -= before - counted_of(h);
        }
    }
}

static void
shrink_histograms(roce_tracker *t)
{
    while (t->histogram_buckets > t->config.histogram_room_buckets &&
           t->histogram_max / 2 >= ROCE_HISTOGRAM_LEAST_BUCKETS) {
        t->histogram_max /= 2;
        for (uint32_t i = 0; i < t->n_streams; i++) {
            shrink_histograms_of(t, &roce_state_at(t, i)->pub);
        }
    }
}

/* ---- both ---- */

void
roce_room_make(roce_tracker *t)
{
    cut_histories(t);
    shrink_histograms(t);
}
