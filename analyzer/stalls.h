/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * For how long queue pairs stood still before their timers sent something again, and which
 * went on with it until they stopped.
 *
 * The one rule: a stall is the time since the newest copy of what is sent again, as the
 * event of its round has it; nothing is made up for rounds that were not told.
 */
#ifndef RS_STALLS_H
#define RS_STALLS_H

#include "roce/event.h"

#include <glib.h>

/* Of one stream. */
typedef struct rs_stall {
    guint64 n; /* rounds by timeout that were told */
    guint64 longest_ns, sum_ns;
    /* The last rounds, as far as all of them began with the same packet. */
    gint64 psn;
    guint repeats;
    guint64 since_ns;             /* the first of them began */
    guint64 newest_ns, waited_ns; /* the last one began, after so much silence */
} rs_stall;

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

#endif
