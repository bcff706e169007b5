/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Packets at several points that wait for their twins.
 *
 * A packet as captured at a point is a sighting; sightings of one wire identity make an
 * entry.  Each point keeps its sightings in the order of its file, and they leave in that
 * order; an entry is gone when its last sighting is.
 *
 * The one rule: memory is bounded.  When the table is full, somebody has to leave before
 * another one comes.
 */
#ifndef RS_MATCH_TABLE_H
#define RS_MATCH_TABLE_H

#include "roce/wire_identity.h"

#include <glib.h>

#define RS_NO_SIGHTING G_MAXUINT32
#define RS_NO_ENTRY G_MAXUINT32

/* What is known of a sighting. */
#define RS_SIGHTING_WEAK (1u << 0)    /* its ICRC was cut off */
#define RS_SIGHTING_CORRUPT (1u << 1) /* its ICRC does not fit */
#define RS_SIGHTING_SETTLED (1u << 2) /* it is decided what became of it */

typedef struct rs_sighting {
    guint64 frame;      /* number in its file */
    guint64 stamp_ns;   /* by its own clock */
    gint64 at_ns;       /* by the path's */
    guint64 order;      /* of those that the point has handed on */
    guint64 from_order; /* of the same copy at the point before; 0: not seen there */
    guint32 entry;
    guint32 next;        /* of the entry, in order of arrival here */
    guint32 place;       /* interface of the point, where it has several */
    guint32 same_bucket; /* the table's */
    guint8 point;
    guint8 dscp, ecn, hops;
    guint8 flags;
    guint8 known; /* see path_known.h */
} rs_sighting;

typedef struct rs_match_entry {
    roce_wire_identity identity;
    gint64 newest_ns;    /* of its sightings */
    guint32 first, last; /* sightings */
    guint32 other;       /* the newest at another point than the last */
    guint32 n;           /* of them, that have not left */
    guint32 chain;       /* the table's */
    guint32 flow;
    guint32 psn24;
    guint8 opcode;
    gboolean resolved; /* takes no further sighting */
    gboolean parted;   /* others of this identity came before, or come after */
    gboolean vague;    /* a sighting without an ICRC may be of another entry */
} rs_match_entry;

typedef struct rs_match_table rs_match_table;

rs_match_table *
rs_match_table_new(guint n_points, guint max_sightings);

void
rs_match_table_free(rs_match_table *table);

gboolean
rs_match_table_is_full(const rs_match_table *table);

rs_sighting *
rs_match_sighting(const rs_match_table *table, guint32 sighting);

rs_match_entry *
rs_match_entry_of(const rs_match_table *table, guint32 entry);

/* A packet of this identity will be looked for soon, see approach.h; and once that has come
 * near. */
void
rs_match_approach(const rs_match_table *table, const roce_wire_identity *identity);
void
rs_match_approach_entry(const rs_match_table *table,
                        const roce_wire_identity *identity);

/* The entry of this identity that takes a sighting of a point, or RS_NO_ENTRY.  Without an
 * ICRC it may be that of several packets: then it is the oldest of which the point has
 * fewer sightings than another one. */
guint32
rs_match_find(const rs_match_table *table, const roce_wire_identity *identity,
              guint point);

/* Notes that a sighting of this identity may be of any of several entries, if it may. */
void
rs_match_doubt(rs_match_table *table, const roce_wire_identity *identity);

/* A new entry without sightings: one has to follow at once. */
guint32
rs_match_open(rs_match_table *table, const roce_wire_identity *identity);

/* Adds a sighting, whose `entry` is set and whose `next` is not, behind those of its
 * entry and of its point.  The table is not full. */
guint32
rs_match_add(rs_match_table *table, const rs_sighting *sighting);

/* The entry takes no more. */
void
rs_match_resolve(rs_match_table *table, guint32 entry);

/* Likewise, and those of its sightings that are not settled go to a new entry of the same
 * identity.  None of them has left. */
void
rs_match_part(rs_match_table *table, guint32 entry);

/* The oldest of a point, or RS_NO_SIGHTING. */
guint32
rs_match_oldest(const rs_match_table *table, guint point);

/* The oldest of a point leaves; with the last one of an entry the entry is gone. */
void
rs_match_drop_oldest(rs_match_table *table, guint point);

/* Sightings that a point has, oldest first. */
guint
rs_match_n(const rs_match_table *table, guint point);

guint32
rs_match_nth(const rs_match_table *table, guint point, guint i);

/* The sighting of a frame that has not left, or RS_NO_SIGHTING; in whatever order frames
 * of the point came. */
guint32
rs_match_of_frame(const rs_match_table *table, guint point, guint64 frame);

#endif
