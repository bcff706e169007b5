/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Between which two points data was marked.
 *
 * A packet was marked between the last point on its way that saw it ECT and the first that
 * saw it CE.  The table has brought together the packets of a stream that were ECT and CE at
 * the same points (rs_mark_pattern); of those points only the ones with the least hop limit
 * (ECT) and the greatest (CE) are left.  Where several are, as between routers, pairs of them
 * are put in the order of the way, by what is the first of these to tell:
 *
 *   1. the clock that stamped both: the point whose copies came later is the later one;
 *   2. marks: nobody takes them off, so that a point which saw packets CE that another one
 *      saw ECT is the later one;
 *   3. where the points stand, and when answers come (rs_further()).
 *
 * Where nothing tells, or two streams of the same queue pair are at one point, the marks are
 * counted nowhere, and the stream is said to be undecided.
 */
#include "twins_parts.h"

#include "further.h"
#include "sorting.h"

static gint
by_point(gconstpointer a, gconstpointer b)
{
    const rs_marked *x = a;
    const rs_marked *y = b;
    return rs_by_number(x->from, y->from);
}

/* A stream at its points. */
typedef struct way {
    rs_twins *twins;
    const roce_tracker *tracker; /* NULL: it tells nothing */
    guint32 root;
    guint32 at[RS_TWIN_POINTS];    /* the stream at a point, + 1 */
    guint64 later[RS_TWIN_POINTS]; /* of a point: those that saw CE where it saw ECT */
    guint64 several;               /* bits that are of several of its points */
} way;

/* Below 0: the stream comes to p first; above 0, to q; 0: nobody can tell. */
static gint
compare_points(const way *w, guint p, guint q)
{
    if (w->at[p] == 0 || w->at[q] == 0) {
        return 0;
    }
    gboolean p_after =
        (rs_twin_stream_of(w->twins, w->at[p] - 1)->after & rs_twin_bit(q)) != 0;
    gboolean q_after =
        (rs_twin_stream_of(w->twins, w->at[q] - 1)->after & rs_twin_bit(p)) != 0;
    if (p_after != q_after) {
        return q_after ? -1 : 1;
    }
    gboolean q_later = (w->later[p] & rs_twin_bit(q)) != 0;
    gboolean p_later = (w->later[q] & rs_twin_bit(p)) != 0;
    if (p_later != q_later) {
        return q_later ? -1 : 1;
    }
    return w->tracker == NULL
               ? 0
               : rs_further(roce_tracker_stream(w->tracker, w->at[p] - 1),
                            roce_tracker_stream(w->tracker, w->at[q] - 1));
}

typedef enum way_end {
    WAY_FIRST,
    WAY_LAST,
} way_end;

/* The first of some points on the way, or the last; RS_TWIN_POINTS: nobody can tell. */
static guint
extreme_of(const way *w, guint64 points, way_end end)
{
    for (guint p = 0; p < RS_TWIN_POINTS; p++) {
        gboolean is_it = (points & rs_twin_bit(p)) != 0;
        for (guint q = 0; q < RS_TWIN_POINTS && is_it; q++) {
            if (q != p && (points & rs_twin_bit(q)) != 0) {
                gint order = compare_points(w, p, q);
                is_it = end == WAY_LAST ? order > 0 : order < 0;
            }
        }
        if (is_it) {
            return p;
        }
    }
    return RS_TWIN_POINTS;
}

static void
count_marked(rs_twin_stream *s, guint from, guint32 from_stream, guint64 packets)
{
    if (s->marked == NULL) {
        s->marked = g_array_new(FALSE, FALSE, sizeof(rs_marked));
    }
    for (guint i = 0; i < s->marked->len; i++) {
        rs_marked *known = &g_array_index(s->marked, rs_marked, i);
        if (known->from == from) {
            known->packets += packets;
            return;
        }
    }
    const rs_marked fresh = {
        .from = from, .from_stream = from_stream, .packets = packets};
    g_array_append_val(s->marked, fresh);
}

static void
decide(const way *w, const rs_mark_pattern *seen)
{
    guint from = seen->ect != 0 ? extreme_of(w, seen->ect, WAY_LAST) : RS_TWIN_POINTS;
    guint to = extreme_of(w, seen->ce, WAY_FIRST);
    gboolean known = to != RS_TWIN_POINTS && w->at[to] != 0 &&
                     (seen->ect == 0 || (from != RS_TWIN_POINTS && w->at[from] != 0)) &&
                     ((seen->ect | seen->ce) & w->several) == 0;
    if (!known) {
        rs_twin_stream_of(w->twins, w->root)->undecided = TRUE;
        return;
    }
    rs_twin_stream *s = rs_twin_stream_of(w->twins, w->at[to] - 1);
    if (seen->ect == 0) {
        s->marked_before += seen->packets;
    } else {
        guint32 from_stream = w->at[from] - 1;
        count_marked(s, rs_twin_stream_of(w->twins, from_stream)->point, from_stream,
                     seen->packets);
    }
}

static void
take_patterns(way *w, const GArray *patterns)
{
    for (guint i = 0; i < patterns->len; i++) {
        const rs_mark_pattern *seen = &g_array_index(patterns, rs_mark_pattern, i);
        for (guint p = 0; p < RS_TWIN_POINTS; p++) {
            w->later[p] |= (seen->ect & rs_twin_bit(p)) != 0 ? seen->ce : 0;
        }
    }
}

static void
add_stream(way *w, guint32 stream)
{
    const rs_twin_stream *s = rs_twin_stream_of(w->twins, stream);
    guint at = MIN(s->point, RS_TWIN_POINTS - 1);
    w->several |= w->at[at] != 0 ? rs_twin_bit(at) : 0;
    w->at[at] = stream + 1;
    if (s->patterns != NULL) {
        take_patterns(w, s->patterns);
    }
}

void
rs_twins_find_marks(rs_twins *twins, const roce_tracker *tracker, guint32 root,
                    const GArray *members)
{
    way w = {.twins = twins, .tracker = tracker, .root = root};
    for (guint i = 0; i < members->len; i++) {
        add_stream(&w, g_array_index(members, guint32, i));
    }
    for (guint i = 0; i < members->len; i++) {
        const GArray *patterns =
            rs_twin_stream_of(twins, g_array_index(members, guint32, i))->patterns;
        for (guint k = 0; patterns != NULL && k < patterns->len; k++) {
            decide(&w, &g_array_index(patterns, rs_mark_pattern, k));
        }
    }
    for (guint i = 0; i < members->len; i++) {
        GArray *marked =
            rs_twin_stream_of(twins, g_array_index(members, guint32, i))->marked;
        if (marked != NULL) {
            g_array_sort(marked, by_point);
        }
    }
}

const GArray *
rs_twins_marked(const rs_twins *twins, guint32 stream)
{
    return stream < twins->streams->len
               ? g_array_index(twins->streams, rs_twin_stream, stream).marked
               : NULL;
}

guint64
rs_twins_marked_before(const rs_twins *twins, guint32 stream)
{
    return stream < twins->streams->len
               ? g_array_index(twins->streams, rs_twin_stream, stream).marked_before
               : 0;
}

gboolean
rs_twins_marks_known(const rs_twins *twins, guint32 stream)
{
    return stream >= twins->streams->len ||
           !g_array_index(twins->streams, rs_twin_stream, stream).undecided;
}
