/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * For how long queue pairs stood still before their timers sent something again, and which
 * went on with it until they stopped.
 *
 * The one rule: a stall is the time since the newest copy of what is sent again, as the
 * event of its round has it; nothing is made up for rounds that were not told.
 *
 * Rounds in a row that begin with the same packet are one standstill: nothing answered it in
 * between.  The first RS_STANDSTILLS are kept.
 */
#ifndef RS_STALLS_H
#define RS_STALLS_H

#include "roce/event.h"
#include "roce/stream.h"

#include <glib.h>

/* Of one stream. */
typedef struct rs_stall {
    guint64 n; /* rounds by timeout that were told */
    guint64 longest_ns, sum_ns;
    guint64 longest_until_ns; /* the longest ended */
    /* The last rounds, as far as all of them began with the same packet. */
    gint64 psn;
    guint repeats;
    guint64 since_ns;             /* the first of them began */
    guint64 newest_ns, waited_ns; /* the last one began, after so much silence */
    guint standstill;             /* index + 1 of the one under way, 0: none */
} rs_stall;

#define RS_STANDSTILLS 65536

typedef struct rs_standstill {
    guint32 stream;
    guint repeats;    /* rounds */
    guint64 from_ns;  /* the copy that went unanswered first was sent */
    guint64 tried_ns; /* the newest copy that is known to have, before the last round */
    guint64 until_ns; /* the last round began */
    guint64 first_frame, last_frame; /* of these rounds */
    guint64 losses[ROCE_N_VERDICTS]; /* told of what they sent again */
    gboolean excused; /* what they sent again was late and came, or was of a queue pair
                       * that had been made anew */
} rs_standstill;

typedef struct rs_stalls rs_stalls;

rs_stalls *
rs_stalls_new(void);

/* NULL is fine. */
void
rs_stalls_free(rs_stalls *stalls);

void
rs_stalls_event(rs_stalls *stalls, const roce_event *event);

/* NULL: no timeout of this stream was told. */
const rs_stall *
rs_stalls_of(const rs_stalls *stalls, guint32 stream);

/* Whether a stream's rounds of unknown cause are several, began with the same packet each, and
 * it did not go on for longer behind the newest than the silence before that: nothing answered
 * it, on whatever way. */
gboolean
rs_stalls_is_stuck(const rs_stalls *stalls, const roce_stream *stream);
/* The PSN of that packet, where a stream is stuck. */
gint64
rs_stalls_stuck_at(const rs_stalls *stalls, guint32 stream);
/* How often it has repeated that packet, and how long it waited for the last time; 0: it is not
 * stuck. */
guint
rs_stalls_stuck_for(const rs_stalls *stalls, const roce_stream *stream,
                    guint64 *waited_ns);

/* rs_standstill, in the order in which they began to be told. */
const GArray *
rs_stalls_standstills(const rs_stalls *stalls);

#endif
