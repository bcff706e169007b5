/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Findings about RoCE data that rides where it is not lossless, though others do. */
#include "findings_filter.h"
#include "findings_parts.h"
#include "format.h"
#include "lossless.h"
#include "priorities.h"

static const rs_stream_priorities *
priorities_of(const rs_findings *all, guint32 stream)
{
    return rs_priorities_stream(all->analysis->watchers.priorities, stream);
}

static guint64
losses_of(const roce_stream *s)
{
    return rs_flow_verdicts(s, ROCE_VERDICT_LOST_BEFORE_CAPTURE) +
           rs_flow_verdicts(s, ROCE_VERDICT_UNDELIVERED_AFTER_CAPTURE);
}

/* Packets lost of streams at a point whose data all rides in one priority. */
static guint64
losses_in(const rs_findings *all, guint32 point, guint priority)
{
    guint64 n = 0;
    const roce_tracker *tracker = all->analysis->tracker;
    for (guint32 id = 0; id < roce_tracker_n_streams(tracker); id++) {
        const roce_stream *s = roce_tracker_stream(tracker, id);
        const rs_stream_priorities *p = priorities_of(all, id);
        if (s->point == point && p != NULL && p->priorities == 1u << priority) {
            n += losses_of(s);
        }
    }
    return n;
}

/* Streams at a point with data in a priority: guint32; g_array_unref(). */
static GArray *
streams_in(const rs_findings *all, guint32 point, guint priority)
{
    GArray *streams = g_array_new(FALSE, FALSE, sizeof(guint32));
    const roce_tracker *tracker = all->analysis->tracker;
    for (guint32 id = 0; id < roce_tracker_n_streams(tracker); id++) {
        const rs_stream_priorities *p = priorities_of(all, id);
        if (roce_tracker_stream(tracker, id)->point == point && p != NULL &&
            (p->priorities & 1u << priority) != 0) {
            g_array_append_val(streams, id);
        }
    }
    return streams;
}

static void
say_without_pfc(const rs_findings *all, rs_finding *f, guint priority, guint32 at,
                char *why)
{
    const rs_point_priorities *point =
        rs_priorities_point(all->analysis->watchers.priorities, at);
    const rs_priority_data *data = &point->data[priority];
    g_autoptr(GArray) streams = streams_in(all, at, priority);
    g_autofree char *who = rs_findings_senders(all, streams);
    g_autofree char *sent =
        streams->len > 0 ? g_strdup_printf("  Sent by %s.", who) : g_strdup("");
    g_autofree char *n = rs_finding_count(data->packets, "packet of RoCE data rides",
                                          "packets of RoCE data ride");
    g_autofree char *reason = why;
    g_autofree char *what = g_strdup_printf("%u:%u", at, priority);
    rs_finding_about(f, what);
    rs_finding_say(f, g_strdup_printf("%s in priority %u, without PFC", n, priority),
                   g_strdup_printf("%s%s  %s", reason, sent,
                                   rs_findings_priority_words(all, point->tagged > 0)));
    f->weight = data->packets;
    rs_finding_add_kept(f, &data->frames);
    rs_finding_add_filter(f, rs_filter_of_priority(all, at, priority));
}

/* "  20 packets of it were lost or did not arrive." */
static char *
loss_words(guint64 lost)
{
    g_autofree char *n = rs_finding_packets(lost);
    return lost == 0 ? g_strdup("")
                     : g_strdup_printf("  %s of it %s lost or did not arrive.", n,
                                       lost == 1 ? "was" : "were");
}

/* Whether there is one. */
static gboolean
find_data_without_pfc(rs_findings *all, const rs_finding_row *row, guint32 point,
                      guint priority, const rs_lossless *lossless)
{
    const rs_point_priorities *p =
        rs_priorities_point(all->analysis->watchers.priorities, point);
    guint8 bit = (guint8)(1u << priority);
    if (p->data[priority].packets == 0 || (lossless->paused & bit) != 0 ||
        (lossless->some_port & bit) != 0) {
        return FALSE;
    }
    gboolean dcbx =
        lossless->by_dcbx && rs_dcb_one_link(all->analysis->watchers.dcb, point);
    if (!dcbx && (lossless->paused == 0 || lossless->by_dcbx)) {
        return FALSE;
    }
    guint64 lost = losses_in(all, point, priority);
    if (!dcbx && lost == 0) {
        return FALSE;
    }
    gboolean worse = lost > 0 || lossless->some_port != 0;
    rs_finding *f =
        rs_finding_add(all, row, worse ? RS_SEVERITY_WARNING : RS_SEVERITY_NOTE);
    g_autofree char *others =
        rs_format_priorities(dcbx ? lossless->some_port : lossless->paused);
    g_autofree char *loss = loss_words(lost);
    say_without_pfc(
        all, f, priority, point,
        dcbx ? g_strdup_printf("DCBX on this link has PFC on for these priorities: "
                               "%s.%s",
                               others, loss)
             : g_strdup_printf("Pauses were seen of these priorities alone: %s.%s  "
                               "Nothing says that PFC is off for it, but no pause "
                               "protected it here.",
                               others, loss));
    return TRUE;
}

/* ---- the same, where pauses were seen at other points ---- */

/* The point with most data of a priority, of those that data of a paused one passes as well:
 * what other points saw of pauses is of the same fabric then.  -1: there is none. */
static gint64
beside_paused(const rs_findings *all, guint priority, guint8 paused)
{
    gint64 best = -1;
    guint64 most = 0;
    for (guint i = 0; i < rs_points_n(all->analysis->points); i++) {
        const rs_point_priorities *p =
            rs_priorities_point(all->analysis->watchers.priorities, i);
        guint64 beside = 0;
        for (guint k = 0; p != NULL && k < 8; k++) {
            beside += (paused & 1u << k) != 0 ? p->data[k].packets : 0;
        }
        if (beside > 0 && p->data[priority].packets > most) {
            most = p->data[priority].packets;
            best = i;
        }
    }
    return best;
}

/* The same at any point; of a stream that several saw, the one that saw most of it lost. */
static guint64
losses_anywhere(const rs_findings *all, guint priority)
{
    guint64 n = 0;
    const roce_tracker *tracker = all->analysis->tracker;
    for (guint32 id = 0; id < roce_tracker_n_streams(tracker); id++) {
        const rs_stream_priorities *p = priorities_of(all, id);
        if (rs_summary_stands(all->summary, id) && p != NULL &&
            p->priorities == 1u << priority) {
            n += losses_of(
                roce_tracker_stream(tracker, rs_finding_most_at(all, id, losses_of)));
        }
    }
    return n;
}

static void
find_beside_paused(rs_findings *all, const rs_finding_row *row, guint priority,
                   guint8 paused)
{
    gint64 point = beside_paused(all, priority, paused);
    guint64 lost = point >= 0 ? losses_anywhere(all, priority) : 0;
    if (lost == 0) {
        return;
    }
    rs_finding *f = rs_finding_add(all, row, RS_SEVERITY_WARNING);
    g_autofree char *others = rs_format_priorities(paused);
    g_autofree char *loss = loss_words(lost);
    say_without_pfc(
        all, f, priority, (guint32)point,
        g_strdup_printf("Pauses were seen of these priorities alone, whose "
                        "data comes by here as well: %s.%s  Nothing says "
                        "that PFC is off for it, but no pause protected it.",
                        others, loss));
}

void
rs_find_roce_without_pfc(rs_findings *all, const rs_finding_row *row)
{
    guint8 told = 0;    /* of these is told already */
    guint8 paused = 0;  /* at any point */
    guint8 enabled = 0; /* by DCBX, at any port */
    for (guint point = 0; point < rs_points_n(all->analysis->points); point++) {
        rs_lossless lossless;
        rs_lossless_at(all->analysis, point, &lossless);
        paused |= lossless.paused;
        enabled |= lossless.some_port;
        if (rs_priorities_point(all->analysis->watchers.priorities, point) == NULL) {
            continue;
        }
        for (guint priority = 0; priority < 8; priority++) {
            if (find_data_without_pfc(all, row, point, priority, &lossless)) {
                told |= (guint8)(1u << priority);
            }
        }
    }
    for (guint priority = 0; priority < 8; priority++) {
        if (((told | paused | enabled) & 1u << priority) == 0) {
            find_beside_paused(all, row, priority, paused);
        }
    }
}
