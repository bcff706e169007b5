/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Findings about a DSCP that is another one at another point: between which it is rewritten, and
 * to what. */
#include "findings_parts.h"
#include "format.h"
#include "further.h"
#include "pairs.h"
#include "sorting.h"
#include "twins.h"

static gboolean
is_rewritten(const rs_findings *all, const roce_stream *s)
{
    return rs_twins_rewriting(all->analysis->twins, s->id) != NULL;
}

/* Below 0: the stream comes to the point of `a` first; 0: nobody can tell.  Where packets come
 * by with more of their time to live left, their sender is nearer. */
static gint
compare_places(const rs_findings *all, guint32 a, guint32 b)
{
    const rs_analysis *analysis = all->analysis;
    const rs_stream_path *at_a = rs_paths_stream(analysis->watchers.paths, a);
    const rs_stream_path *at_b = rs_paths_stream(analysis->watchers.paths, b);
    if (at_a != NULL && at_b != NULL && at_a->ttls[0] != at_b->ttls[0]) {
        return at_a->ttls[0] > at_b->ttls[0] ? -1 : 1;
    }
    return rs_further(roce_tracker_stream(analysis->tracker, a),
                      roce_tracker_stream(analysis->tracker, b));
}

/* Where packets were rewritten, and what became what. */
typedef struct rewritten {
    rs_place from,
        to;        /* those that are in no known order by the numbers of their points */
    guint was, is; /* DSCPs */
    gboolean ordered;
    guint64 packets;
} rewritten;

static rewritten
locate(const rs_findings *all, guint32 stream, const rs_rewriting *r)
{
    const rs_analysis *analysis = all->analysis;
    guint32 here = roce_tracker_stream(analysis->tracker, stream)->point;
    guint32 there = roce_tracker_stream(analysis->tracker, r->other_stream)->point;
    gint order = compare_places(all, r->other_stream, stream);
    /* Both copies of one clock come in the order of their way. */
    if (order == 0 && rs_analysis_share_file(analysis, here, there)) {
        order = -1; /* the other one came first */
    }
    gboolean swapped = order > 0 || (order == 0 && there > here);
    guint32 first = swapped ? stream : r->other_stream;
    guint32 second = swapped ? r->other_stream : stream;
    return (rewritten){
        .from = rs_stream_place(analysis, first),
        .to = rs_stream_place(analysis, second),
        .was = swapped ? r->dscp_here : r->dscp_there,
        .is = swapped ? r->dscp_there : r->dscp_here,
        .ordered = order != 0,
        .packets = r->packets,
    };
}

static gboolean
same_rewriting(const rewritten *a, const rewritten *b)
{
    return a->from == b->from && a->to == b->to && a->was == b->was && a->is == b->is &&
           a->ordered == b->ordered;
}

static void
add_rewriting(GArray *all, const rewritten *one)
{
    for (guint i = 0; i < all->len; i++) {
        rewritten *known = &g_array_index(all, rewritten, i);
        if (same_rewriting(known, one)) {
            known->packets += one->packets;
            return;
        }
    }
    g_array_append_vals(all, one, 1);
}

static gint
most_rewritten_first(gconstpointer a, gconstpointer b)
{
    const rewritten *x = a;
    const rewritten *y = b;
    gint order = rs_by_number(y->packets, x->packets);
    order = order != 0 ? order : rs_by_number(x->from, y->from);
    order = order != 0 ? order : rs_by_number(x->to, y->to);
    return order != 0 ? order : rs_by_number(x->was, y->was);
}

/* Adds all streams of a pair: rewritten, most packets first; g_array_unref(). */
static GArray *
add_rewritten(const rs_findings *all, rs_finding *f, const rs_pair *pair)
{
    GArray *places = g_array_new(FALSE, FALSE, sizeof(rewritten));
    for (guint i = 0; i < pair->streams->len; i++) {
        guint32 id = g_array_index(pair->streams, guint32, i);
        const rs_rewriting *one = rs_twins_rewriting(all->analysis->twins, id);
        const rewritten where = locate(all, id, one);
        add_rewriting(places, &where);
        g_array_append_val(f->streams, id);
        rs_finding_add_frame(f, one->frame_there);
        rs_finding_add_frame(f, one->frame_here);
        f->weight += one->packets;
    }
    rs_finding_add_filter(f, rs_finding_stream_filter(all, f));
    f->more_frames = f->weight > pair->streams->len;
    g_array_sort(places, most_rewritten_first);
    return places;
}

/* "between sA and sB: 26 becomes 0" */
static char *
rewriting_words(const rs_findings *all, const rewritten *r)
{
    g_autofree char *from = rs_place_name(all->analysis, r->from);
    g_autofree char *to = rs_place_name(all->analysis, r->to);
    return r->ordered ? g_strdup_printf("between %s and %s: %u becomes %u", from, to,
                                        r->was, r->is)
                      : g_strdup_printf("between %s and %s: %u at the one, %u at the "
                                        "other",
                                        from, to, r->was, r->is);
}

static void
append_other_rewritings(const rs_findings *all, GString *text, const GArray *places)
{
    for (guint i = 1; i < places->len; i++) {
        const rewritten *r = &g_array_index(places, rewritten, i);
        g_autofree char *n = rs_finding_packets(r->packets);
        g_autofree char *words = rewriting_words(all, r);
        g_string_append_printf(text, "  %s %s.", n, words);
    }
}

/* Whether any of them is another priority by then. */
static gboolean
moves_priority(const rs_findings *all, const GArray *places)
{
    const guint8 *map = all->analysis->options->dscp_map;
    for (guint i = 0; i < places->len; i++) {
        const rewritten *where = &g_array_index(places, rewritten, i);
        if (map[where->was] != map[where->is]) {
            return TRUE;
        }
    }
    return FALSE;
}

/* How many are CNPs, which have a priority of their own so that senders hear of marks soon. */
static void
append_cnps(const rs_findings *all, GString *text, const rs_pair *pair)
{
    guint64 packets = 0;
    guint64 cnps = 0;
    for (guint i = 0; i < pair->streams->len; i++) {
        const rs_rewriting *r = rs_twins_rewriting(
            all->analysis->twins, g_array_index(pair->streams, guint32, i));
        packets += r->packets;
        cnps += r->cnps;
    }
    if (cnps > 0 && cnps == packets) {
        g_string_append(text, "  All of them are CNPs.");
    } else if (cnps > 0) {
        g_autofree char *n = rs_format_count(cnps);
        g_string_append_printf(text, "  %s of them %s.", n,
                               cnps == 1 ? "is a CNP" : "are CNPs");
    }
}

static char *
rewritten_detail(const rs_findings *all, const rs_pair *pair, gboolean moved,
                 const GArray *places)
{
    const rs_rewriting *first = rs_twins_rewriting(
        all->analysis->twins, g_array_index(pair->streams, guint32, 0));
    GString *detail = g_string_new(NULL);
    g_string_append_printf(detail,
                           "The same packets have one DSCP at one point and another at "
                           "the other, the first of them frames %" G_GUINT64_FORMAT
                           " and %" G_GUINT64_FORMAT ".%s",
                           first->frame_there, first->frame_here,
                           moved ? "  It is another priority." : "");
    append_cnps(all, detail, pair);
    append_other_rewritings(all, detail, places);
    return g_string_free(detail, FALSE);
}

void
rs_find_dscp_rewritten(rs_findings *all, const rs_finding_row *row)
{
    g_autoptr(GPtrArray) pairs = rs_pairs_of(all, RS_PAIRS_EVERYWHERE, is_rewritten);
    for (guint i = 0; i < pairs->len; i++) {
        const rs_pair *pair = g_ptr_array_index(pairs, i);
        rs_finding *f = rs_finding_add(all, row, RS_SEVERITY_NOTE);
        rs_pair_name(f, pair);
        g_autoptr(GArray) places = add_rewritten(all, f, pair);
        gboolean moved = moves_priority(all, places);
        f->severity = moved ? RS_SEVERITY_WARNING : RS_SEVERITY_NOTE;
        const rewritten *most = &g_array_index(places, rewritten, 0);
        g_autofree char *packets = rs_finding_packets(most->packets);
        g_autofree char *ends = rs_pair_label(all, pair);
        g_autofree char *words = rewriting_words(all, most);
        rs_finding_say(f,
                       g_strdup_printf("The DSCP of %s from %s is rewritten %s",
                                       packets, ends, words),
                       rewritten_detail(all, pair, moved, places));
    }
}
