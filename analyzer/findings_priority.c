/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Findings about priorities: whether RoCE data stays in one, by its tag as by its DSCP, as seen
 * at each point.
 */
#include "findings_filter.h"
#include "findings_parts.h"
#include "format.h"
#include "keys.h"
#include "lossless.h"
#include "pairs.h"
#include "priorities.h"

static const rs_stream_priorities *
priorities_of(const rs_findings *all, guint32 stream)
{
    return rs_priorities_stream(all->analysis->watchers.priorities, stream);
}

const char *
rs_findings_priority_words(const rs_findings *all, gboolean tagged)
{
    if (all->analysis->options->dscp_map_given) {
        return "Priorities are those of --dscp-map.";
    }
    return tagged
               ? "Priorities are those of the VLAN tags."
               : "Priorities are DSCP / 8 where no VLAN tag has one, as most devices "
                 "map them unless told otherwise; --dscp-map tells the report.";
}

/* ---- data of one pair of hosts in several priorities ---- */

/* Copies of a packet that are more than odd ones: the point sees both sides of a router,
 * which may have set another class. */
#define COPIES_PERCENT 25

static gboolean
sees_copies(const roce_stream *s)
{
    const roce_stream_trouble *trouble = roce_stream_trouble_of(s);
    guint64 copies = trouble->disorder[ROCE_SPACE_REQUESTS].duplicates +
                     trouble->disorder[ROCE_SPACE_RESPONSES].duplicates;
    return copies * 100 >= s->packets * COPIES_PERCENT;
}

static gboolean
has_data(const rs_findings *all, const roce_stream *s)
{
    return priorities_of(all, s->id) != NULL && !sees_copies(s);
}

/* A queue pair number that was used again may have got another class with it. */
static gboolean
is_reused(const rs_findings *all, guint32 stream)
{
    const roce_stream *s = roce_tracker_stream(all->analysis->tracker, stream);
    return roce_stream_trouble_of(s)->restarts > 0;
}

static gboolean
is_mixed(const rs_stream_priorities *p)
{
    return (p->priorities & (p->priorities - 1)) != 0;
}

/* "changes 3 times; in all it is 26 (900 packets), 0 (100 packets)", of `n` streams. */
static char *
change_words(const rs_stream_priorities *first, guint n, guint64 changes)
{
    g_autofree char *times = rs_finding_count(changes, "time", "times");
    g_autofree char *values = rs_finding_values(first->dscps, first->dscp_packets,
                                                first->n_dscps, first->more_dscps);
    return g_strdup_printf("changes %s; %s it is %s", times,
                           n == 1 ? "in all" : "in the first of them", values);
}

/* "  The DSCP changes ...", of those whose data rides in several, if it is that of some. */
static char *
mixed_dscps(const rs_findings *all, const rs_pair *pair)
{
    const rs_stream_priorities *first = NULL;
    guint n = 0;
    guint64 changes = 0;
    for (guint i = 0; i < pair->streams->len; i++) {
        guint32 id = g_array_index(pair->streams, guint32, i);
        const rs_stream_priorities *p = priorities_of(all, id);
        guint64 its = rs_priority_changes_of(p)->changes;
        if (its > 0 && is_mixed(p) && !is_reused(all, id)) {
            first = first != NULL ? first : p;
            changes += its;
            n++;
        }
    }
    if (n == 0) {
        return g_strdup("");
    }
    g_autofree char *words = change_words(first, n, changes);
    return g_strdup_printf("  The DSCP %s.", words);
}

/* Whether single queue pairs do so: `n_mixed`, and `n_reused` of whose number several may
 * have had it. */
static char *
in_several_detail(const rs_findings *all, const rs_pair *pair, guint n_mixed,
                  guint n_reused)
{
    if (n_mixed > 0) {
        g_autofree char *dscps = mixed_dscps(all, pair);
        return g_strdup_printf(
            "Queue pairs whose own data does so: %u of %u.  Packets of "
            "one queue pair that are queued apart may overtake one "
            "another.%s",
            n_mixed, pair->streams->len, dscps);
    }
    return g_strdup(n_reused > 0
                        ? "Each queue pair keeps to one, as far as is known: a "
                          "number that was used again was that of several."
                        : "Each queue pair keeps to one.");
}

static void
find_pair_in_several(rs_findings *all, const rs_finding_row *row, const rs_pair *pair)
{
    guint8 united = 0;
    guint n_mixed = 0;
    guint n_reused = 0;
    for (guint i = 0; i < pair->streams->len; i++) {
        guint32 id = g_array_index(pair->streams, guint32, i);
        const rs_stream_priorities *p = priorities_of(all, id);
        united |= p->priorities;
        if (is_mixed(p)) {
            n_mixed += is_reused(all, id) ? 0 : 1;
            n_reused += is_reused(all, id) ? 1 : 0;
        }
    }
    if ((united & (united - 1)) == 0) {
        return;
    }
    g_autofree char *ends = rs_pair_label(all, pair);
    g_autofree char *list = rs_format_priorities(united);
    rs_finding *f =
        rs_finding_add(all, row, n_mixed > 0 ? RS_SEVERITY_WARNING : RS_SEVERITY_NOTE);
    rs_pair_name(f, pair);
    rs_finding_say(
        f, g_strdup_printf("Data from %s rides in several priorities: %s", ends, list),
        in_several_detail(all, pair, n_mixed, n_reused));
    for (guint i = 0; i < pair->streams->len; i++) {
        guint32 id = g_array_index(pair->streams, guint32, i);
        const rs_priority_changes *c = rs_priority_changes_of(priorities_of(all, id));
        if (n_mixed == 0 || c->at_second != 0) {
            g_array_append_val(f->streams, id);
        }
        if (c->at_second != 0) {
            rs_finding_add_frame(f, c->before_second);
            rs_finding_add_frame(f, c->at_second);
        }
    }
}

/* Where all data rides in one, as it should, nothing has to be sorted by pairs. */
static gboolean
ride_in_several(const rs_findings *all)
{
    guint united = 0;
    for (guint32 id = 0; id < roce_tracker_n_streams(all->analysis->tracker); id++) {
        const rs_stream_priorities *p = priorities_of(all, id);
        united |= p != NULL ? p->priorities : 0;
    }
    return (united & (united - 1)) != 0;
}

void
rs_find_roce_priorities(rs_findings *all, const rs_finding_row *row)
{
    if (!ride_in_several(all)) {
        return;
    }
    g_autoptr(GPtrArray) pairs = rs_pairs_of(all, RS_PAIRS_ONCE, has_data);
    for (guint i = 0; i < pairs->len; i++) {
        find_pair_in_several(all, row, g_ptr_array_index(pairs, i));
    }
}

/* ---- tag against DSCP ---- */

typedef struct disagreement {
    guint64 packets; /* all */
    guint64 most;    /* of the commonest kind */
    guint pcp, dscp; /* of that */
    gboolean worse;  /* one of the two is lossless, and the DSCP was chosen */
} disagreement;

static disagreement
sum_disagreement(const rs_point_priorities *point, const rs_options *options,
                 guint8 lossless)
{
    disagreement sum = {0};
    for (guint pcp = 0; pcp < 8; pcp++) {
        for (guint dscp = 0; dscp < RS_N_DSCPS; dscp++) {
            guint64 n = point->pcps[pcp][dscp];
            guint mapped = options->dscp_map[dscp];
            if (n == 0 || mapped == pcp) {
                continue;
            }
            sum.packets += n;
            sum.worse |= dscp != 0 && ((lossless >> pcp ^ lossless >> mapped) & 1) != 0;
            if (n > sum.most) {
                sum.most = n;
                sum.pcp = pcp;
                sum.dscp = dscp;
            }
        }
    }
    return sum;
}

#define TAGS_IN_FILTER 8

/* NULL: too many to be named. */
static char *
filter_of_disagreement(const rs_findings *all, guint32 id,
                       const rs_point_priorities *point)
{
    const rs_options *options = all->analysis->options;
    guint n = 0;
    g_autoptr(GString) tags = g_string_new(NULL);
    for (guint pcp = 0; pcp < 8; pcp++) {
        for (guint dscp = 0; dscp < RS_N_DSCPS; dscp++) {
            if (point->pcps[pcp][dscp] == 0 || options->dscp_map[dscp] == pcp) {
                continue;
            }
            g_string_append_printf(
                tags, "%s(rocev2.queue.pcp == %u && rocev2.queue.dscp == %u)",
                n++ > 0 ? " || " : "", pcp, dscp);
        }
    }
    return n > TAGS_IN_FILTER ? NULL : rs_filter_of_data(all, id, tags->str);
}

/* guint32; g_array_unref(). */
static GArray *
disagreeing_streams(const rs_findings *all, guint32 point)
{
    GArray *streams = g_array_new(FALSE, FALSE, sizeof(guint32));
    const roce_tracker *tracker = all->analysis->tracker;
    for (guint32 id = 0; id < roce_tracker_n_streams(tracker); id++) {
        const rs_stream_priorities *p = priorities_of(all, id);
        if (roce_tracker_stream(tracker, id)->point == point && p != NULL &&
            p->named != p->priorities) {
            g_array_append_val(streams, id);
        }
    }
    return streams;
}

/* Whether all of them were told of at another point, and nothing else or worse of them; notes
 * what is told here. */
static gboolean
is_told(const rs_findings *all, GHashTable *told, const GArray *streams,
        const disagreement *sum)
{
    guint32 kind = (guint32)sum->worse << 9 | sum->pcp << 6 | sum->dscp;
    gboolean is_new = streams->len == 0;
    for (guint i = 0; i < streams->len; i++) {
        guint32 id = g_array_index(streams, guint32, i);
        is_new |=
            rs_keys_add(told, rs_key_of(kind, rs_summary_group(all->summary, id)));
    }
    return !is_new;
}

static void
find_disagreement(rs_findings *all, const rs_finding_row *row, guint32 point,
                  const rs_point_priorities *p, GHashTable *told)
{
    const rs_options *options = all->analysis->options;
    rs_lossless lossless;
    rs_lossless_at(all->analysis, point, &lossless);
    disagreement sum = sum_disagreement(p, options, rs_lossless_known(&lossless));
    if (sum.packets == 0) {
        return;
    }
    g_autoptr(GArray) streams = disagreeing_streams(all, point);
    if (is_told(all, told, streams, &sum)) {
        return;
    }
    g_autofree char *what = g_strdup_printf("%u", point);
    g_autofree char *n = rs_finding_packets(sum.packets);
    g_autofree char *who = rs_findings_senders(all, streams);
    rs_finding *f =
        rs_finding_add(all, row, sum.worse ? RS_SEVERITY_WARNING : RS_SEVERITY_NOTE);
    rs_finding_about(f, what);
    f->weight = sum.packets;
    rs_finding_say(
        f,
        g_strdup_printf("Tag and DSCP name different priorities on %s of RoCE data%s%s",
                        n, streams->len > 0 ? " from " : "", who),
        g_strdup_printf("%sPCP %u beside DSCP %u, which is priority %u%s.%s",
                        sum.most < sum.packets ? "Most often " : "", sum.pcp, sum.dscp,
                        options->dscp_map[sum.dscp],
                        options->dscp_map_given ? " by --dscp-map" : " by default",
                        sum.worse
                            ? "  One of the two is lossless and the other is not: "
                              "what a switch trusts decides."
                            : ""));
    rs_finding_add_kept(f, &p->disagreeing);
    char *filter = filter_of_disagreement(all, point, p);
    if (filter != NULL) {
        rs_finding_add_filter(f, filter);
    }
}

void
rs_find_pcp_dscp(rs_findings *all, const rs_finding_row *row)
{
    g_autoptr(GHashTable) told = rs_keys_new(NULL);
    for (guint point = 0; point < rs_points_n(all->analysis->points); point++) {
        const rs_point_priorities *p =
            rs_priorities_point(all->analysis->watchers.priorities, point);
        if (p != NULL) {
            find_disagreement(all, row, point, p, told);
        }
    }
}

/* ---- a DSCP that does not stay what it was ---- */

static gboolean
has_changes(const rs_findings *all, const roce_stream *s)
{
    const rs_stream_priorities *p = priorities_of(all, s->id);
    return p != NULL && rs_priority_changes_of(p)->changes > 0 &&
           roce_stream_trouble_of(s)->restarts == 0 && !sees_copies(s);
}

/* Whether it changes and roce_priorities does not tell of it, by the stream that stands for
 * this one. */
static gboolean
changes_dscp(const rs_findings *all, const roce_stream *s)
{
    const roce_stream *standing = roce_tracker_stream(
        all->analysis->tracker, rs_summary_group(all->summary, s->id));
    gboolean is_told =
        has_changes(all, standing) && is_mixed(priorities_of(all, standing->id));
    return has_changes(all, s) && !is_told;
}

void
rs_find_dscp_changed(rs_findings *all, const rs_finding_row *row)
{
    g_autoptr(GPtrArray) pairs = rs_pairs_of(all, RS_PAIRS_AT_ANY, changes_dscp);
    for (guint i = 0; i < pairs->len; i++) {
        const rs_pair *pair = g_ptr_array_index(pairs, i);
        g_autofree char *ends = rs_pair_label(all, pair);
        const rs_stream_priorities *first =
            priorities_of(all, g_array_index(pair->streams, guint32, 0));
        guint64 changes = 0;
        rs_finding *f = rs_finding_add(all, row, RS_SEVERITY_NOTE);
        rs_pair_name(f, pair);
        for (guint k = 0; k < pair->streams->len; k++) {
            guint32 id = g_array_index(pair->streams, guint32, k);
            const rs_priority_changes *c =
                rs_priority_changes_of(priorities_of(all, id));
            changes += c->changes;
            g_array_append_val(f->streams, id);
            rs_finding_add_frame(f, c->before_change);
            rs_finding_add_frame(f, c->at_change);
        }
        f->weight = changes;
        rs_finding_add_filter(f, rs_finding_stream_filter(all, f));
        f->more_frames = changes > pair->streams->len;
        g_autofree char *n = rs_finding_count(pair->streams->len, "stream", "streams");
        g_autofree char *words = change_words(first, pair->streams->len, changes);
        rs_finding_say(
            f, g_strdup_printf("The DSCP of data from %s changes within %s", ends, n),
            g_strdup_printf("It %s.", words));
    }
}
