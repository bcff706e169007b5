/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the headers of a stream's packets tell of its path: the time to live they arrive
 * with, and what both ends of a connection have to agree on: MigReq and P_Key.
 *
 * The one rule: packets of one sender to one queue pair.  CNPs play no part, since a
 * switch may have sent them, nor does connection management, nor a packet with a bad
 * ICRC.
 */
#ifndef RS_PATHS_H
#define RS_PATHS_H

#include "sight.h"

#include <glib.h>

#define RS_PATHS_STREAMS 262144 /* watched; nothing is known of those behind them */
#define RS_PATHS_TTLS 4         /* told apart of one stream */

typedef struct rs_paths rs_paths;

/* What changed about a stream. */
typedef struct rs_path_changes {
    guint64 ttl_changes; /* how often a packet had another than the one before */
    guint64 before_change, at_change; /* frames around the first change; 0: none */
    guint16 other_p_key; /* the first that was another; valid if other_p_key_frame */
    guint64 other_p_key_frame; /* 0: none */
} rs_path_changes;

typedef struct rs_stream_path {
    guint8 n_ttls;
    guint8 newest_ttl;
    guint8 migration;           /* bit 0: MigReq 0 was seen, bit 1: MigReq 1 */
    guint8 ttls[RS_PATHS_TTLS]; /* TTL or hop limit, in the order in which they came */
    guint16 p_key;              /* of the first packet */
    gboolean more_ttls;         /* than are told apart: those count for none */
    guint64 ttl_packets[RS_PATHS_TTLS];
    guint64 first_frame, newest_frame;
    rs_path_changes *changed; /* NULL: nothing did */
} rs_stream_path;

rs_paths *
rs_paths_new(void);

void
rs_paths_free(rs_paths *paths);

void
rs_paths_packet(rs_paths *paths, const rs_sight *sight);

/* NULL: a stream of connection management, or one beyond RS_PATHS_STREAMS. */
const rs_stream_path *
rs_paths_stream(const rs_paths *paths, guint32 stream);

/* What changed about it; all zero where nothing did. */
const rs_path_changes *
rs_path_changes_of(const rs_stream_path *path);

/* Whether two ends with these P_Keys hear one another: the same partition, and one of
 * them a full member at least (IBTA 10.9.3). */
gboolean
rs_p_keys_match(guint16 a, guint16 b);

/* How a stream's time to live behaves. */
typedef enum rs_ttl_pattern {
    RS_TTL_CONSTANT,
    RS_TTL_CHANGED, /* each value for one stretch: the path changed */
    RS_TTL_MIXED,   /* values come again: several paths, turn by turn */
    RS_TTL_SPRAYED, /* they do so all the time: several paths, packet by packet */
    RS_TTL_COPIES,  /* as many copies came: the point sees both sides of a router */
} rs_ttl_pattern;

rs_ttl_pattern
rs_ttl_pattern_of(const rs_stream_path *path, const roce_stream *stream);

/* "constant", "changed", "mixed", "sprayed", "copies". */
const char *
rs_ttl_pattern_name(rs_ttl_pattern pattern);

#endif
