/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who is late in the iterations of a rhythm.
 *
 * In each iteration the host whose first packet of data comes last begins last, by the
 * time since the last but one began; the host whose last packet comes last ends last,
 * likewise.  Only hosts of one group are compared.
 *
 * The one rule: being last is a fact, being late is not.  Somebody is always last, and
 * in a tree the parents have to be; who may be called a straggler, findings decide.
 */
#ifndef RS_STRAGGLERS_H
#define RS_STRAGGLERS_H

#include "frames.h"
#include "rhythm.h"
#include "rhythm_shape.h"

#include <glib.h>

typedef enum rs_last_kind {
    RS_LAST_TO_BEGIN,
    RS_LAST_TO_END,
    RS_N_LAST_KINDS,
} rs_last_kind;

/* How often a host was last, and by how much. */
typedef struct rs_lastness {
    guint times;
    rs_dist by;       /* ns behind the last but one, where it was last */
    rs_frames frames; /* its first, or last, packets there */
} rs_lastness;

/* A host that sends in the rhythm. */
typedef struct rs_performer {
    guint32 node;
    guint group;      /* index into the groups */
    guint iterations; /* that it took part in, and that are whole */
    rs_dist period;   /* ns, from its first packet to its first packet of the next */
    rs_dist length;   /* ns, from its first packet to its last */
    rs_lastness last[RS_N_LAST_KINDS];
} rs_performer;

/* One for each host that sends in the rhythm, by node; rs_performer.  None where there is
 * no rhythm. */
GArray *
rs_performers_new(const rs_edges *edges, const rs_rhythm *rhythm,
                  const GPtrArray *groups);

/* The host that was last in an iteration. */
typedef struct rs_last_one {
    guint32 node;  /* RS_NO_NODE: nobody, or not by itself; nothing else holds then */
    guint32 edge;  /* of its first, or last, packet */
    guint64 by_ns; /* behind the last but one */
    guint64 frame; /* that packet */
} rs_last_one;

/* Who was last among the hosts of a group. */
rs_last_one
rs_last_of(const rs_rhythm *rhythm, const rs_group *group, guint iteration,
           rs_last_kind kind);

#endif
