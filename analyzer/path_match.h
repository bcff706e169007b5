/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What became of each packet on its way along a path of capture points.
 *
 * A copy of a packet makes a journey: it is seen at some of the points.  When all points
 * have been read for so long beyond it that nothing of it can come any more, its journey
 * is decided:
 *
 *   seen at neighbours            matched; marks, DSCPs and order are compared
 *   not seen between two others   the capture in between missed it
 *   not seen from some point on   lost behind the last that saw it; but if that point
 *                                 saw it acknowledged and not sent again, or, of a
 *                                 response, that the requester went on, the captures
 *                                 behind missed it
 *   not seen up to some point     the captures before missed it; but if another copy of
 *                                 the same packet came from there, the network made two
 *
 * Copies that cannot be told apart (an identification that never changes, IPv6) are
 * matched in their order, those left out that make the times fit best.
 *
 * The one rule: a copy counts as lost only where the capture that should have it had
 * begun and not ended, and where nothing of the window slipped away.
 */
#ifndef RS_PATH_MATCH_H
#define RS_PATH_MATCH_H

#include "clock_match.h"
#include "frames.h"
#include "path_known.h"
#include "path_ways.h"

#include "roce/icrc.h"
#include "roce/packet.h"
#include "roce/relation.h"

#include <glib.h>

#define RS_PATH_MAX_POINTS 16
#define RS_PATH_DSCPS 64

/* Of one flow, at one point.  What depends on the way holds for the flow's. */
typedef struct rs_flow_point {
    guint64 packets;
    guint64 shared;      /* copies that another point saw as well */
    guint64 passed_over; /* not seen here, but before and behind */
    guint64 came;        /* copies seen here that were acknowledged, or got */
    guint64 resent;      /* and such as were sent again, for whatever was lost */
    guint64 asked;       /* and such as their receiver has not got */
} rs_flow_point;

/* Copies that were last seen at a point, and not at another one behind it. */
typedef struct rs_leg_ends {
    guint64 n[RS_N_LOSS_STATES];
    guint64 ambiguous; /* of these: which of several equal copies is unknown */
} rs_leg_ends;

/* Of one flow, between any two points: what holds if it passes both and none between.
 * Which points it passes is known only in the end. */
typedef struct rs_flow_leg {
    rs_leg_ends ended;
    rs_leg_ends idle;    /* likewise, but the second shows nothing since: path_idle.c */
    guint64 appeared;    /* first seen at the second */
    guint64 extra;       /* likewise, a copy more than at the first */
    guint64 extra_equal; /* likewise, but others that are equal were there */
    guint64 over;        /* seen at the second, not at the first, but before it */
    guint64 outside[2]; /* seen at the first and not at the second (0), or at the second
                           * and not at the first (1), whose capture had not begun or had
                           * ended */
    guint64 undecided[2]; /* likewise, but they slipped out of the window */
    /* Seen at both, and not between them: */
    guint64 marked;    /* ECT before, CE behind */
    guint64 ecn_other; /* any other change of the codepoint */
    guint64 rewritten; /* DSCP */
    guint64 corrupted; /* ICRC or IPv4 header fits before and not behind */
    guint64 hops_rose; /* a greater hop limit behind than before */
    /* Frames, at the lower (0) and the higher point (1), of what came first and last by
     * the other one: both captures were on between them.  Not the first and the last of
     * these here: what is late on its way comes to the other point after what was sent
     * behind it, and may be the only one of its time that found that capture on. */
    guint64 first_shared[2], last_shared[2];
    guint64 first_there[2], last_there[2]; /* their frames at the other point */
} rs_flow_leg;

/* Of one flow, between point i and i + 1. */
typedef struct rs_flow_segment {
    guint64 matched;
    guint64 weak;      /* of those, without an ICRC at one of both */
    guint64 reordered; /* came behind one of the flow that had been before it later */
    guint64 newest_from_order, newest_cnp_from_order;
    gboolean storm_known; /* what CNPs take that are equal */
    guint storm_tries;    /* to find that */
    gint64 storm_ns;
} rs_flow_segment;

/* Whether IPv4 identifications differ, so that no two packets are equal. */
typedef struct rs_numbering {
    gboolean known, numbered;
    guint16 ident; /* of the first packet; valid if known */
} rs_numbering;

/* What one address sends to a queue pair of another. */
typedef struct rs_flow {
    guint32 id;
    roce_addr src, dst;
    guint32 dst_qpn;
    guint32 route;
    gboolean way_known;
    rs_way way;
    rs_way_by way_by;
    rs_numbering data, cnps;
    guint64 *first_frame; /* by point; 0: not seen there */
    rs_flow_point *point;
    rs_flow_segment *segment; /* one fewer */
    rs_flow_leg *leg;         /* see rs_flow_leg_of() */
} rs_flow;

/* How many pairs of so many points there are. */
static inline guint
rs_n_legs(guint n_points)
{
    return n_points * (n_points - 1) / 2;
}

/* Between two points, in whatever order. */
static inline rs_flow_leg *
rs_flow_leg_of(const rs_flow *flow, guint a, guint b)
{
    return &flow->leg[rs_n_legs(MAX(a, b)) + MIN(a, b)];
}

/* A copy that was not seen behind some point. */
typedef struct rs_path_loss {
    guint32 flow;
    guint point;    /* the last that saw it */
    guint32 behind; /* points that had to see it next, if the flow passes them: bits */
    guint32 idle;   /* of these: if they show another frame */
    rs_loss_state state;
    gboolean ambiguous;
    guint64 frames[RS_PATH_MAX_POINTS]; /* 0: not seen there */
    guint64 stamp_ns;                   /* at `point` */
    guint32 psn24;
    guint8 opcode;
} rs_path_loss;

/* A frame that shows something if the flow comes from one of some points. */
typedef struct rs_path_trace {
    guint64 frame;
    guint32 flow;
    guint32 from; /* points: bits */
} rs_path_trace;

/* A DSCP before, and behind what a flow comes through from some point. */
typedef struct rs_path_rewrite {
    guint32 flow;
    guint8 from, dscp[2];
} rs_path_rewrite;

typedef enum rs_trace_kind {
    RS_TRACE_MARKED,
    RS_TRACE_REWRITTEN,
    RS_TRACE_CORRUPTED,
    RS_TRACE_DUPLICATED,
    RS_TRACE_APPEARED,
    RS_N_TRACES,
} rs_trace_kind;

/* Frames that show what happened in front of a point, one way; at that point.  What
 * changed since the point that is next to it happened there; since another one, it did if
 * the flow passes none between. */
typedef struct rs_path_evidence {
    rs_frames reordered;
    rs_frames frames[RS_N_TRACES]; /* of what certainly counts */
    GArray *traces[RS_N_TRACES];   /* of all else: rs_path_trace, the first of them */
    guint64 rewrites[RS_PATH_DSCPS]
                    [RS_PATH_DSCPS]; /* packets, by DSCP before, behind */
    GHashTable *far_rewrites;        /* since another one: rs_path_rewrite -> packets */
} rs_path_evidence;

/* When a point's capture ran, on the path's clock; kept by whoever reads it. */
typedef struct rs_path_span {
    gboolean begun, ended;
    gint64 first_ns, last_ns; /* of all its frames, RoCE or not */
    gint64 now_ns;            /* what has come in up to then */
} rs_path_span;

typedef struct rs_path_config {
    guint n_points;
    guint clock_of[RS_PATH_MAX_POINTS]; /* points of the same number share a clock */
    guint max_sightings;
    guint64 window_ns;
    /* A packet was seen at two points, and goes this way as far as is known yet; from
     * within rs_path_see(). */
    void (*matched)(void *ctx, guint low, guint high, rs_way way, gint64 difference_ns);
    void *ctx;
} rs_path_config;

/* A packet as a point saw it.  `frame->number` is its number in its file. */
typedef struct rs_path_sight {
    guint point;
    guint32 place; /* where a point has several interfaces: which */
    const roce_frame *frame;
    const roce_packet *packet;
    const roce_sighting *tracked;
    roce_icrc_status icrc;
    gint64 at_ns;
} rs_path_sight;

typedef struct rs_path {
    rs_path_config config;
    gboolean clocks_known; /* times of all points can be compared */
    gboolean side_by_side; /* points are read in the order of time */
    rs_path_span span[RS_PATH_MAX_POINTS];
    gint64 tolerance_ns; /* what delays differ by, about; whoever reads says */
    /* By how much at_ns is usually more behind a segment than before it. */
    gint64 usual_ns[RS_PATH_MAX_POINTS - 1][RS_N_WAYS];
    guint n_doubtful[RS_PATH_MAX_POINTS - 1][RS_N_WAYS]; /* in a row */
    struct rs_match_table *table;
    rs_ways *ways;
    GArray *unsure;   /* packets of which nothing is learned yet */
    GPtrArray *flows; /* rs_flow */
    GHashTable *by_key;
    GArray *losses; /* rs_path_loss, the first of them */
    GArray *suspects[RS_PATH_MAX_POINTS];
    struct rs_path_again *again; /* path_again.h */
    GArray *journeys, *here;     /* of the entry that is decided on */
    gboolean several_places[RS_PATH_MAX_POINTS];
    guint32 first_place[RS_PATH_MAX_POINTS];
    rs_clock *clock[RS_PATH_MAX_POINTS - 1]; /* of point i and i + 1 */
    rs_path_evidence *evidence[RS_PATH_MAX_POINTS - 1][RS_N_WAYS];
    guint64 untracked_packets;               /* of flows beyond those that fit */
    guint64 seen_inside[RS_PATH_MAX_POINTS]; /* at another place of the point */
    guint64 n_seen[RS_PATH_MAX_POINTS];      /* sightings so far */
    guint32 idle; /* points that may have ended, and count as if not: bits */
    guint64 losses_unlisted;
    guint64 early; /* decisions before the window had passed */
} rs_path;

rs_path *
rs_path_new(const rs_path_config *config);

void
rs_path_free(rs_path *path);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(rs_path, rs_path_free)

/* A packet will be taken soon, see approach.h. */
void
rs_path_approach(const rs_path *path, const roce_frame *frame,
                 const roce_packet *packet);

/* Takes a RoCE packet; each point's in the order of its file. */
void
rs_path_see(rs_path *path, const rs_path_sight *sight);

/* What a point learned of an earlier frame of its own: bits of path_known.h. */
void
rs_path_know(rs_path *path, guint point, guint64 frame, guint8 bits);

/* Learns from all packets that wait, as far as it can be told which copies are the same;
 * none comes for now. */
void
rs_path_learn(rs_path *path);

/* Whether a packet that two points saw is known to be the same and no equal one. */
struct rs_match_entry;
gboolean
rs_path_may_be_one(const rs_path *path, const struct rs_match_entry *entry);

/* A point's clock was set or was known wrong: what waits gets its time anew, from its
 * stamp and the offset. */
void
rs_path_retime(rs_path *path, guint point, gint64 offset_ns);

/* Of the first and of the last packet that waits of a point. */
typedef struct rs_path_offsets {
    gint64 first_ns, last_ns;
} rs_path_offsets;

/* Gives what waits of a point its time by that of packets that points of `clock` saw as
 * well, for there are no others to go by yet; where these say nothing, by `offset_ns`.
 * Returns the offsets. */
rs_path_offsets
rs_path_align(rs_path *path, guint point, guint clock, gint64 offset_ns);

/* Clocks are known: from now on times decide.  What they usually are is learned from what
 * waits. */
void
rs_path_begin(rs_path *path);

/* To be called when times of sightings have changed. */
void
rs_path_refresh(rs_path *path);

/* A point whose file has frames of others shows one more, or has none any more. */
void
rs_path_wake(rs_path *path, guint point);
void
rs_path_end(rs_path *path, guint point);

/* Decides on what the window has left behind. */
void
rs_path_advance(rs_path *path);

/* Nothing more comes: decides on everything. */
void
rs_path_finish(rs_path *path);

/* Whether two points or more saw packets of the flow that were the same. */
gboolean
rs_flow_is_compared(const rs_flow *flow, guint n_points);

/* Stamps of packets that `low` and `high` saw once each, among those that wait now: how
 * far apart (gint64, high minus low). */
GArray *
rs_path_differences(const rs_path *path, guint low, guint high);

#endif
