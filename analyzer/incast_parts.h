/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the two files of incast.h share: senders, and receivers while they are watched.
 *
 * The one rule: nobody else includes it.
 */
#ifndef RS_INCAST_PARTS_H
#define RS_INCAST_PARTS_H

#include "incast.h"
#include "xoffs.h"

#include <glib.h>

typedef struct rs_incast_sender_key {
    guint32 receiver;
    roce_addr addr;
} rs_incast_sender_key;

/* A receiver while it is watched. */
typedef struct rs_incast_watch rs_incast_watch;

struct rs_incast_sender {
    rs_incast_sender *before, *behind; /* in the row; NULL: none */
    rs_incast_watch *receiver;
    guint64 newest_ns;           /* its newest packet */
    guint64 episode;             /* the newest that names it, counted from 1 */
    guint64 outside, ce_outside; /* its data in no episode, and that of it with marks */
    gboolean active;
    gboolean markable, marked; /* some of its data, in an episode */
    gboolean complained;       /* of its data, by CNPs then */
    rs_incast_sender_key key;
};

/* An episode, also one that is not kept. */
typedef struct rs_incast_span {
    guint64 start_ns, end_ns;
} rs_incast_span;

struct rs_incast_watch {
    rs_incast_receiver pub;
    rs_incast_sender *oldest, *newest; /* the ends of the row; NULL: it is empty */
    guint n_active;                    /* senders in it */
    guint64 quiet_until_ns;            /* nobody falls silent before */
    guint64 clock_ns;
    guint64
        settled_ns; /* until then degrees are counted; no matter while nobody is active */
    guint64 behind_ns; /* when a packet came that was stamped long before */
    gboolean inside;   /* an episode goes on */
    guint64 ended_ns;  /* the episode before */
    rs_incast_episode episode;
    GArray *spans; /* rs_incast_span: all episodes */
};

struct rs_incast {
    rs_destinations *destinations;
    GPtrArray *receivers; /* rs_incast_watch, by destination */
    GPtrArray *senders;   /* rs_incast_sender; numbers of them count from 1 */
    GHashTable *by_key;   /* rs_incast_sender_key -> its number */
    GArray *of_stream; /* guint32 by stream: likewise; 0 not asked for yet; or NOBODY */
    guint64 first_ns, last_ns; /* of all data; valid once a receiver is there */
    rs_xoffs *xoffs;
    guint n_spans;
    gboolean spans_omitted;
    gboolean is_set_back; /* a clock was: times may lie in several episodes, or none */
    guint64 senders_omitted; /* streams of theirs */
    gboolean known;
};

static inline rs_incast_sender *
rs_incast_sender_at(const rs_incast *incast, guint32 i)
{
    return g_ptr_array_index(incast->senders, i);
}

/* incast_signs.c: nothing more comes.  Compares what was inside of episodes with what was
 * outside: the pauses of one receiver, which has had some; and marks and CNPs of all. */
void
rs_incast_compare_pauses(const rs_incast *incast, rs_incast_watch *r);
void
rs_incast_compare_with_points(const rs_incast *incast);

#endif
