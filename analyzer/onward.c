/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "onward.h"

#include "macs.h"
#include "pausing.h"

#include <string.h>

/* What a point saw of a stream. */
typedef struct seen {
    guint8 least, greatest; /* hop limit */
    gboolean any;
    gboolean
        ends; /* some of it was bound for what is not known to be a router's port */
} seen;

static gboolean
is_routers(const rs_macs *macs, const rs_mac *mac)
{
    rs_sender_evidence evidence;
    (void)rs_macs_sender(macs, mac, &evidence);
    return evidence == RS_SENDER_BY_FORWARDING || evidence == RS_SENDER_BY_WAY ||
           evidence == RS_SENDER_BY_PARTNERS;
}

static void
add_passage(seen *s, const rs_passage *passage, const rs_macs *macs)
{
    s->least = s->any ? MIN(s->least, passage->hop_limit) : passage->hop_limit;
    s->greatest = MAX(s->greatest, passage->hop_limit);
    s->any = TRUE;
    s->ends |= passage->dst == NULL || !is_routers(macs, passage->dst);
}

/* By stream. */
static GArray *
all_seen(const rs_analysis *analysis)
{
    const rs_passages *passages = rs_pausing_passages(analysis->watchers.pausing);
    const rs_macs *macs = rs_pausing_macs(analysis->watchers.pausing);
    GArray *all = g_array_new(FALSE, TRUE, sizeof(seen));
    g_array_set_size(all, roce_tracker_n_streams(analysis->tracker));
    for (guint i = 0; i < rs_passages_n(passages); i++) {
        const rs_passage *one = rs_passages_at(passages, i);
        add_passage(&g_array_index(all, seen, one->stream), one, macs);
    }
    return all;
}

/* Of the stream that stands for all points: the lowest of the hop limits that it had at most at
 * one of them. */
static GArray *
all_farthest(const GArray *all, const rs_summary *summary)
{
    GArray *farthest = g_array_new(FALSE, FALSE, sizeof(guint8));
    g_array_set_size(farthest, all->len);
    memset(farthest->data, G_MAXUINT8, all->len);
    for (guint32 id = 0; id < all->len; id++) {
        const seen *there = &g_array_index(all, seen, id);
        guint8 *least = &g_array_index(farthest, guint8, rs_summary_group(summary, id));
        *least = there->any ? MIN(*least, there->greatest) : *least;
    }
    return farthest;
}

/* A point that saw both sides of a router, and of which one copy of each packet was left out,
 * does not show on which side the other one was. */
static gboolean
is_one_side(const rs_analysis *analysis, guint32 stream)
{
    guint32 point = roce_tracker_stream(analysis->tracker, stream)->point;
    return !rs_analysis_point(analysis, point)->survey.delivers_twice;
}

GArray *
rs_onward_streams(const rs_analysis *analysis, const rs_summary *summary)
{
    g_autoptr(GArray) all = all_seen(analysis);
    g_autoptr(GArray) farthest = all_farthest(all, summary);
    GArray *onward = g_array_new(FALSE, TRUE, sizeof(gboolean));
    g_array_set_size(onward, all->len);
    for (guint32 id = 0; id < all->len; id++) {
        const seen *here = &g_array_index(all, seen, id);
        /* whether another point saw it behind a router that is behind this one */
        gboolean goes_on = g_array_index(farthest, guint8,
                                         rs_summary_group(summary, id)) < here->least;
        g_array_index(onward, gboolean, id) =
            here->any && is_one_side(analysis, id) && (!here->ends || goes_on);
    }
    return onward;
}

guint64
rs_onward_most(const GArray *onward, const rs_summary *summary,
               const roce_tracker *tracker, guint32 stream,
               guint64 (*measure)(const roce_stream *stream))
{
    const GArray *members = rs_summary_members_with(summary, stream);
    guint n = members != NULL ? members->len : 1;
    guint64 most = 0;
    for (guint i = 0; i < n; i++) {
        guint32 id = members != NULL ? g_array_index(members, guint32, i) : stream;
        if (g_array_index(onward, gboolean, id)) {
            most = MAX(most, measure(roce_tracker_stream(tracker, id)));
        }
    }
    return most;
}
