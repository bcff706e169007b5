/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A frame that the survey holds, as far as its decisions need it.
 *
 * The one rule: decisions look at one point's frames at a time, or at all, in an order of
 * their own; rs_held_sorted() gives it, and frames that are equal in it stay in the order
 * in which they came.
 */
#ifndef RS_HELD_H
#define RS_HELD_H

#include "points.h"

#include "roce/packet.h"
#include "roce/wire_identity.h"

#include <glib.h>

typedef enum rs_held_kind {
    RS_HELD_OTHER,
    RS_HELD_REQUEST,
    RS_HELD_RESPONSE, /* with data, or of an atomic */
    RS_HELD_ACK,
} rs_held_kind;

/* Who may send the same bytes again. */
typedef enum rs_held_class {
    RS_HELD_STRANGER,   /* not RoCE: not known */
    RS_HELD_RELIABLE,   /* sends again what was lost */
    RS_HELD_UNRELIABLE, /* sends nothing again: UC, UD */
    RS_HELD_CNP,        /* all of one queue pair say the same */
} rs_held_class;

typedef struct rs_held {
    roce_frame frame; /* its bytes are at `at` */
    gsize at;
    roce_wire_identity identity;
    gboolean has_identity;
    guint64 sender; /* hash of the source address */
    guint64 stream; /* hash of addresses and destination QPN; 0 none */
    guint64 way;    /* hash of addresses, from source to destination */
    guint64 back;   /* the same of the other direction */
    guint32 psn24;
    guint16 ipv4_ident; /* 0 for IPv6 */
    rs_held_kind kind;
    rs_held_class class;
} rs_held;

/* Less than, equal to or greater than 0. */
typedef gint (*rs_held_compare)(const rs_held *a, const rs_held *b);

/* Indices (guint) into `frames`, an array of rs_held. */
GArray *
rs_held_sorted(const GArray *frames, rs_held_compare compare);

/* Frames of one point, or all: a part of such an order. */
typedef struct rs_held_slice {
    const GArray *frames; /* rs_held */
    const GArray *order;  /* guint */
    guint begin, end;
} rs_held_slice;

static inline const rs_held *
rs_held_nth(const rs_held_slice *slice, guint i)
{
    guint index = g_array_index(slice->order, guint, i);
    return &g_array_index(slice->frames, rs_held, index);
}

static inline gint
rs_compare_u64(guint64 a, guint64 b)
{
    return a < b ? -1 : a > b;
}

/* By point, then identity; time; arrival. */
gint
rs_held_by_identity(const rs_held *a, const rs_held *b);

gint
rs_held_by_time(const rs_held *a, const rs_held *b);

gint
rs_held_by_arrival(const rs_held *a, const rs_held *b);

/* How far the stamps of a point, in the order in which they came, lie behind the newest
 * before them, at most. */
guint64
rs_held_largest_step_ns(const rs_held_slice *by_arrival);

static inline gboolean
rs_reaches(guint part, guint whole, guint percent)
{
    return (guint64)part * 100 >= (guint64)whole * percent;
}

#endif
