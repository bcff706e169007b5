/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which streams are the same one, seen at several capture points, and which of them stands
 * for all.
 */
#include "summary_parts.h"

#include "arrays.h"
#include "further.h"
#include "twins.h"

#include "roce/hash.h"

/* Of the PSNs that the best point saw, that much tells as well. */
#define MOST_PSNS_PERCENT 95

static guint
hash_stream(gconstpointer data)
{
    const roce_stream *s = data;
    guint32 src_qpn = s->transport == ROCE_TRANSPORT_UD ? s->src_qpn : 0;
    guint64 hash = roce_hash_mix(roce_hash_tenant(src_qpn, &s->tenant), s->dst_qpn);
    return (guint)roce_hash_addr(roce_hash_addr(hash, &s->src), &s->dst);
}

static gboolean
same_stream(gconstpointer a, gconstpointer b)
{
    const roce_stream *x = a;
    const roce_stream *y = b;
    gboolean ud = x->transport == ROCE_TRANSPORT_UD;
    return x->dst_qpn == y->dst_qpn && roce_tenant_equal(&x->tenant, &y->tenant) &&
           roce_addr_equal(&x->src, &y->src) && roce_addr_equal(&x->dst, &y->dst) &&
           (!ud || (y->transport == ROCE_TRANSPORT_UD && x->src_qpn == y->src_qpn));
}

/* Puts a stream into the group of the first one that is the same. */
static void
join_group(rs_summary *summary, guint32 first, guint32 id)
{
    if (summary->members->len == 0) {
        g_ptr_array_set_size(summary->members, (gint)summary->group->len);
    }
    gpointer *members = &summary->members->pdata[first];
    if (*members == NULL) {
        *members = g_array_new(FALSE, FALSE, sizeof(guint32));
        g_array_append_val((GArray *)*members, first);
    }
    g_array_append_val((GArray *)*members, id);
}

/* All of one group become members of an earlier one. */
static void
merge_group(rs_summary *summary, guint32 first, guint32 other)
{
    GArray *members =
        other < summary->members->len ? summary->members->pdata[other] : NULL;
    if (members == NULL) {
        join_group(summary, first, other);
        return;
    }
    for (guint i = 0; i < members->len; i++) {
        join_group(summary, first, g_array_index(members, guint32, i));
    }
    summary->members->pdata[other] = NULL;
    g_array_unref(members);
}

guint64
rs_summary_n_psns(const roce_stream *s)
{
    return s->space[ROCE_SPACE_REQUESTS].unique_psns +
           s->space[ROCE_SPACE_RESPONSES].unique_psns;
}

/* Whether one point knows the other direction of a stream and another one does not, and has
 * seen nearly all that that one has: the rest may have been lost between the two, and come
 * when it was sent again. */
static gboolean
knows_more(const roce_stream *s, const roce_stream *than)
{
    return roce_stream_is_paired(s) && !roce_stream_is_paired(than) &&
           rs_summary_n_psns(s) * 100 >= rs_summary_n_psns(than) * MOST_PSNS_PERCENT;
}

/* Whether a stream stands for the same one at another point, rather than that for it.  What
 * decides, in this order:
 *
 *   1. it knows its other direction, and not much less of itself;
 *   2. it has more packets;
 *   3. it is the later one on the way, which shows what arrived and what was marked;
 *   4. its file was given first. */
static gboolean
is_better(const rs_analysis *analysis, const roce_stream *s, const roce_stream *than)
{
    if (knows_more(s, than) || knows_more(than, s)) {
        return knows_more(s, than);
    }
    if (s->packets != than->packets) {
        return s->packets > than->packets;
    }
    gint order = rs_further(s, than);
    return order != 0 ? order > 0
                      : rs_analysis_point(analysis, s->point)->file_i <
                            rs_analysis_point(analysis, than->point)->file_i;
}

/* Has the best of a group stand for it; so far it is the first one. */
static void
elect(rs_summary *summary, const rs_analysis *analysis, guint32 first)
{
    GArray *members = summary->members->pdata[first];
    if (members == NULL) {
        return;
    }
    guint32 best = g_array_index(members, guint32, 0);
    for (guint i = 1; i < members->len; i++) {
        guint32 id = g_array_index(members, guint32, i);
        if (is_better(analysis, rs_summary_stream(analysis, id),
                      rs_summary_stream(analysis, best))) {
            best = id;
        }
    }
    for (guint i = 0; i < members->len; i++) {
        g_array_index(summary->group, guint32, g_array_index(members, guint32, i)) =
            best;
    }
    summary->members->pdata[first] = NULL;
    summary->members->pdata[best] = members;
}

/* Whether a stream was seen while one of the group was, or has packets of it. */
static gboolean
is_of_group(const rs_summary *summary, const rs_analysis *analysis, guint32 first,
            const roce_stream *s)
{
    const GArray *members =
        first < summary->members->len ? summary->members->pdata[first] : NULL;
    guint n = members != NULL ? members->len : 1;
    for (guint i = 0; i < n; i++) {
        guint32 id = members != NULL ? g_array_index(members, guint32, i) : first;
        const roce_stream *other = rs_summary_stream(analysis, id);
        gboolean beside = other->first_time_ns <= s->last_time_ns &&
                          s->first_time_ns <= other->last_time_ns;
        if (beside || rs_twins_have_met(analysis->twins, other->id, s->id)) {
            return TRUE;
        }
    }
    return FALSE;
}

/* Whether a stream may go on at another interface where it ended at one.  Several interfaces
 * of a file nearly always see the same packets of a stream.  But in files that were merged it
 * may be the next packets instead: then no packet was seen at both, and the one interface saw
 * nothing any more when the other began.  That none was is known only where all packets are
 * remembered.  Such streams are no group: each stands for itself. */
static gboolean
may_go_on(const rs_analysis *analysis)
{
    return analysis->files->len == 1 && analysis->twins != NULL &&
           rs_twins_complete(analysis->twins);
}

/* Puts a stream among those that are the same: into the first group that it belongs to, with
 * all others that it belongs to as well. */
static void
add_to_groups(rs_summary *summary, const rs_analysis *analysis, GArray *firsts,
              guint32 id)
{
    const roce_stream *s = rs_summary_stream(analysis, id);
    gboolean apart = may_go_on(analysis);
    guint32 joined = ROCE_NO_STREAM;
    for (guint i = 0; i < firsts->len;) {
        guint32 first = g_array_index(firsts, guint32, i);
        if (apart && !is_of_group(summary, analysis, first, s)) {
            i++;
        } else if (joined == ROCE_NO_STREAM) {
            joined = first;
            join_group(summary, first, id);
            i++;
        } else {
            merge_group(summary, joined, first);
            g_array_remove_index(firsts, i);
        }
    }
    if (joined == ROCE_NO_STREAM) {
        g_array_append_val(firsts, id);
    }
}

/* Those that go on with another one; `groups` has the first ones of each stream that was seen
 * more than once. */
static void
find_later(const rs_summary *summary, GHashTable *groups)
{
    GHashTableIter iter;
    gpointer firsts;
    g_hash_table_iter_init(&iter, groups);
    while (g_hash_table_iter_next(&iter, NULL, &firsts)) {
        for (guint i = 1; i < ((GArray *)firsts)->len; i++) {
            guint32 first = g_array_index((GArray *)firsts, guint32, i);
            guint32 standing = g_array_index(summary->group, guint32, first);
            g_hash_table_add(summary->later, GUINT_TO_POINTER(standing));
        }
    }
}

void
rs_summary_find_groups(rs_summary *summary, const rs_analysis *analysis)
{
    guint n = roce_tracker_n_streams(analysis->tracker);
    summary->group = g_array_new(FALSE, TRUE, sizeof(guint32));
    g_array_set_size(summary->group, n);
    summary->members = g_ptr_array_new_with_free_func(rs_unref_array);
    summary->later = g_hash_table_new(NULL, NULL);
    g_autoptr(GHashTable) first = g_hash_table_new(hash_stream, same_stream);
    g_autoptr(GHashTable) groups =
        g_hash_table_new_full(NULL, NULL, NULL, rs_unref_array);
    for (guint32 id = 0; id < n; id++) {
        gpointer s = (gpointer)(guintptr)rs_summary_stream(analysis, id);
        const roce_stream *known = g_hash_table_lookup(first, s);
        g_array_index(summary->group, guint32, id) = id;
        if (known == NULL) {
            g_hash_table_add(first, s);
            continue;
        }
        gpointer key = GUINT_TO_POINTER(known->id);
        GArray *firsts = g_hash_table_lookup(groups, key);
        if (firsts == NULL) {
            firsts = g_array_new(FALSE, FALSE, sizeof(guint32));
            g_array_append_val(firsts, known->id);
            g_hash_table_insert(groups, key, firsts);
        }
        add_to_groups(summary, analysis, firsts, id);
    }
    for (guint32 id = 0; id < summary->members->len; id++) {
        elect(summary, analysis, id);
    }
    find_later(summary, groups);
}

const GArray *
rs_summary_members(const rs_summary *summary, guint32 stream)
{
    return stream < summary->members->len ? summary->members->pdata[stream] : NULL;
}

const GArray *
rs_summary_members_with(const rs_summary *summary, guint32 stream)
{
    return rs_summary_members(summary, rs_summary_group(summary, stream));
}

guint32
rs_summary_group(const rs_summary *summary, guint32 stream)
{
    return g_array_index(summary->group, guint32, stream);
}

gboolean
rs_summary_stands(const rs_summary *summary, guint32 stream)
{
    return rs_summary_group(summary, stream) == stream;
}

guint32
rs_summary_most_at(const rs_summary *summary, const roce_tracker *tracker, guint32 id,
                   guint64 (*measure)(const roce_stream *stream))
{
    const GArray *members = rs_summary_members(summary, id);
    guint32 most = id;
    for (guint i = 0; members != NULL && i < members->len; i++) {
        guint32 other = g_array_index(members, guint32, i);
        if (measure(roce_tracker_stream(tracker, other)) >
            measure(roce_tracker_stream(tracker, most))) {
            most = other;
        }
    }
    return most;
}
