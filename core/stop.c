/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * PFC and PAUSE: who stops which priority for how long.
 *
 * Per point, source MAC and priority a timer runs: a time above 0 starts or replaces
 * it, 0 stops it, and otherwise it runs out.  Without the link's speed quanta cannot be
 * told in time; an interval then lasts until the XON, or is given no length at all.
 */
#include "track.h"

#include "roce/hash.h"

#include <string.h>

#define MAX_SOURCES 4096

typedef struct roce_pause_state pause_state;

static uint64_t
source_hash(uint32_t point, const uint8_t mac[6], uint8_t priority)
{
    uint64_t bytes = 0;
    memcpy(&bytes, mac, 6);
    return roce_hash_mix(roce_hash_mix(0, bytes), (uint64_t)point << 8 | priority);
}

uint32_t
roce_tracker_find_pause(const roce_tracker *t, uint32_t point, const uint8_t mac[6],
                        uint8_t priority)
{
    uint32_t i = roce_index_first(&t->pause_index, source_hash(point, mac, priority));
    while (i != ROCE_INDEX_END) {
        const roce_pause_source *p = &t->pauses[i].pub;
        if (p->point == point && p->priority == priority &&
            memcmp(p->src_mac, mac, 6) == 0) {
            return i;
        }
        i = roce_index_next(&t->pause_index, i);
    }
    return ROCE_NO_PAUSE;
}

/* The one that is there, else a new one; NULL where there is no room for it. */
static pause_state *
find_source(roce_tracker *t, const roce_frame *frame, const roce_packet *packet,
            uint8_t priority)
{
    uint32_t known =
        roce_tracker_find_pause(t, frame->point, packet->src_mac, priority);
    if (known != ROCE_NO_PAUSE) {
        return &t->pauses[known];
    }
    if (t->n_pauses == MAX_SOURCES) {
        const roce_arrival a = {.frame = frame, .packet = packet};
        roce_track_evicted(t, ROCE_TABLE_PAUSES, NULL, &a);
        return NULL;
    }
    if (!roce_track_reserve(t, (void **)&t->pauses, &t->pauses_capacity, t->n_pauses,
                            sizeof *t->pauses) ||
        !roce_index_add(&t->pause_index, &t->alloc,
                        source_hash(frame->point, packet->src_mac, priority))) {
        return NULL;
    }
    pause_state *s = &t->pauses[t->n_pauses++];
    *s = (pause_state){.pub = {.point = frame->point,
                               .priority = priority,
                               .first_frame = frame->number}};
    memcpy(s->pub.src_mac, packet->src_mac, 6);
    if (t->config.link_speed_bps != NULL) {
        s->pub.link_speed_bps = t->config.link_speed_bps(t->config.ctx, frame->point);
        s->pub.speed_known = s->pub.link_speed_bps != 0;
    }
    return s;
}

static void
emit(roce_tracker *t, const pause_state *s, const roce_frame *frame,
     roce_event_kind kind, uint64_t time_ns, uint32_t quanta, uint64_t duration_ns)
{
    bool of_pause = s->pub.paused && kind != ROCE_EVENT_PAUSE_XOFF;
    roce_event e = {
        .kind = kind,
        .detail = s->pub.priority,
        .point = s->pub.point,
        .stream = ROCE_NO_STREAM,
        .frame = frame != NULL ? frame->number : 0,
        .related_frame = of_pause ? s->pub.xoff_frame : 0,
        .time_ns = time_ns,
        .duration_ns = duration_ns,
        .psn = ROCE_NO_PSN,
        .count = quanta,
    };
    roce_track_emit(t, &e);
}

static void
keep_interval(roce_tracker *t, pause_state *s, const roce_pause_interval *interval)
{
    uint64_t length = interval->end_ns - interval->start_ns;
    s->pub.total_ns += length;
    s->pub.longest_ns = length > s->pub.longest_ns ? length : s->pub.longest_ns;
    s->pub.newest = *interval;
    s->pub.n_intervals++;
    uint64_t n = s->pub.n_listed;
    bool is_behind = n == 0 || s->pub.intervals[n - 1].end_ns <= interval->start_ns;
    if (n == ROCE_PAUSE_INTERVALS || !is_behind) {
        return;
    }
    if (roce_track_reserve(t, (void **)&s->pub.intervals, &s->intervals_capacity,
                           (uint32_t)n, sizeof *s->pub.intervals)) {
        s->pub.intervals[s->pub.n_listed++] = *interval;
    } else {
        s->pub.n_intervals--;
    }
}

static void
end_pause(roce_tracker *t, pause_state *s, uint64_t end_ns, roce_pause_end how)
{
    roce_pause_interval interval = {
        .start_ns = s->pub.start_ns,
        .end_ns = end_ns > s->pub.start_ns ? end_ns : s->pub.start_ns,
        .end = how,
    };
    s->pub.paused = false;
    s->ended_ns = interval.end_ns;
    keep_interval(t, s, &interval);
}

/* Ends a pause whose timer ran out before `now_ns`. */
static void
expire(roce_tracker *t, pause_state *s, uint64_t now_ns)
{
    if (s->pub.paused && s->pub.speed_known && now_ns >= s->pub.until_ns) {
        s->pub.expired++;
        emit(t, s, NULL, ROCE_EVENT_PAUSE_EXPIRED, s->pub.until_ns, 0,
             s->pub.until_ns - s->pub.start_ns);
        end_pause(t, s, s->pub.until_ns, ROCE_PAUSE_EXPIRED);
    }
}

/* What the newest frame asked for has gone on until then at least, or until it ran out. */
static void
count_least(pause_state *s, uint64_t now_ns)
{
    uint64_t since_ns = now_ns > s->asked_ns ? now_ns - s->asked_ns : 0;
    s->pub.least_ns += since_ns < s->asked_for_ns ? since_ns : s->asked_for_ns;
    s->asked_for_ns = 0;
}

static void
ask(pause_state *s, uint64_t now_ns, uint32_t quanta)
{
    s->asked_ns = now_ns;
    s->asked_for_ns = roce_quanta_to_ns(quanta, ROCE_FASTEST_LINK_BPS);
}

/* A clock was set back: what it showed before says nothing of what it shows now.  How long a
 * pause went on that held then is known up to the newest frame before. */
static void
set_back(roce_tracker *t, pause_state *s)
{
    expire(t, s, s->seen_ns);
    count_least(s, s->seen_ns);
    if (s->pub.paused && s->pub.speed_known) {
        end_pause(t, s, s->seen_ns, ROCE_PAUSE_CAPTURE_END);
    }
    s->pub.paused = false;
    s->ended_ns = 0;
}

static void
take_time(roce_tracker *t, pause_state *s, const roce_frame *frame, uint32_t quanta)
{
    uint64_t now = frame->time_ns;
    bool is_set_back = roce_is_set_back(now, s->seen_ns);
    if (is_set_back) {
        set_back(t, s);
    }
    s->seen_ns = is_set_back || now > s->seen_ns ? now : s->seen_ns;
    expire(t, s, now);
    count_least(s, now);
    ask(s, now, quanta);
    if (quanta == 0) {
        s->pub.xon++;
        uint64_t length =
            s->pub.paused && now > s->pub.start_ns ? now - s->pub.start_ns : 0;
        emit(t, s, frame, ROCE_EVENT_PAUSE_XON, now, 0, length);
        if (s->pub.paused) {
            end_pause(t, s, now, ROCE_PAUSE_XON);
        }
        return;
    }
    s->pub.total_quanta += quanta;
    if (s->pub.paused) {
        s->pub.refresh++;
        emit(t, s, frame, ROCE_EVENT_PAUSE_REFRESH, now, quanta, 0);
    } else {
        s->pub.xoff++;
        s->pub.paused = true;
        s->pub.xoff_frame = frame->number;
        s->pub.start_ns =
            now > s->ended_ns ? now : s->ended_ns; /* the clock steps back */
        emit(t, s, frame, ROCE_EVENT_PAUSE_XOFF, now, quanta, 0);
    }
    if (s->pub.speed_known) {
        uint64_t until = now + roce_quanta_to_ns(quanta, s->pub.link_speed_bps);
        s->pub.until_ns = until > s->pub.start_ns ? until : s->pub.start_ns;
    }
}

int
roce_stop_packet(roce_tracker *t, const roce_frame *frame, const roce_packet *packet)
{
    if (packet->kind == ROCE_CLASS_PAUSE) {
        pause_state *s = find_source(t, frame, packet, ROCE_PRIORITY_GLOBAL);
        if (s != NULL) {
            take_time(t, s, frame, packet->pause.quanta[0]);
        }
        return ROCE_OK;
    }
    for (uint8_t priority = 0; priority < 8; priority++) {
        if ((packet->pause.enabled & 1u << priority) == 0) {
            continue;
        }
        pause_state *s = find_source(t, frame, packet, priority);
        if (s != NULL) {
            take_time(t, s, frame, packet->pause.quanta[priority]);
        }
    }
    return ROCE_OK;
}

void
roce_stop_finish(roce_tracker *t)
{
    for (uint32_t i = 0; i < t->n_pauses; i++) {
        pause_state *s = &t->pauses[i];
        uint64_t end_ns = t->config.last_ns != NULL
                              ? t->config.last_ns(t->config.ctx, s->pub.point)
                              : t->latest_ns;
        expire(t, s, end_ns);
        count_least(s, end_ns);
        if (s->pub.paused && s->pub.speed_known) {
            end_pause(t, s, end_ns, ROCE_PAUSE_CAPTURE_END);
            s->pub.lasts = true;
        }
    }
}
