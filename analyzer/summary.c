/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "summary.h"

#include "alloc.h"
#include "arrays.h"
#include "format.h"
#include "further.h"
#include "sorting.h"
#include "spreading.h"
#include "twins.h"

#include "roce/hash.h"

#include <string.h>

#define NO_LINK G_MAXUINT32
/* Of the PSNs that the best point saw, that much tells as well. */
#define MOST_PSNS_PERCENT 95

static const roce_stream *
stream_of(const rs_analysis *analysis, guint32 id)
{
    return roce_tracker_stream(analysis->tracker, id);
}

static rs_space_counters
space_of(const roce_stream *s, roce_space space)
{
    const roce_disorder_counters *disorder =
        &roce_stream_trouble_of(s)->disorder[space];
    return (rs_space_counters){
        .packets = s->space[space].packets,
        .unique_psns = s->space[space].unique_psns,
        .gaps = disorder->gaps,
        .missing_psns = disorder->missing_psns,
        .reordered = disorder->reordered,
        .duplicates = disorder->duplicates,
        .capture_repeats = disorder->capture_repeats,
        .resent = disorder->resent,
    };
}

static rs_icrc_counters
icrc_of(const roce_stream *s)
{
    const roce_stream_trouble *trouble = roce_stream_trouble_of(s);
    return (rs_icrc_counters){
        .checked = s->icrc_checked,
        .bad = trouble->icrc_bad,
        .unchecked_truncated = s->icrc_truncated,
        .cnp_bad = trouble->icrc_cnp_bad,
        .flush_bad = trouble->icrc_flush_bad,
    };
}

void
rs_counters_of_stream(rs_counters *c, const roce_stream *s)
{
    const roce_stream_trouble *trouble = roce_stream_trouble_of(s);
    const roce_stream_congestion *congestion = roce_stream_congestion_of(s);
    gboolean paired = roce_stream_is_paired(s);
    *c = (rs_counters){
        .streams = 1,
        .paired_streams = paired ? 1 : 0,
        .packets = s->packets,
        .wire_bytes = s->wire_bytes,
        .payload_bytes = s->payload_bytes,
        .space = {space_of(s, ROCE_SPACE_REQUESTS), space_of(s, ROCE_SPACE_RESPONSES)},
        .retransmissions = trouble->retransmissions,
        .cnps_received = paired ? congestion->cnps_received : 0,
        .cnps_sent = congestion->cnps_sent,
        .rnr_waits_kept = trouble->rnr_waits_kept,
        .rnr_waits_broken = trouble->rnr_waits_broken,
        .ecn = {.transitions = congestion->transitions,
                .ce_episodes = congestion->n_episodes},
        .icrc = icrc_of(s),
        .messages = s->messages_completed,
        .message_bytes = s->message_bytes,
    };
    memcpy(c->ecn.codepoint, s->ecn.codepoint, sizeof c->ecn.codepoint);
    memcpy(c->losses, trouble->losses, sizeof c->losses);
    memcpy(c->ecn_control, roce_stream_control_of(s)->ecn, sizeof c->ecn_control);
    memcpy(c->naks_sent, trouble->naks_sent, sizeof c->naks_sent);
    if (paired) {
        memcpy(c->naks, trouble->naks_received, sizeof c->naks);
    }
}

static void
add_array(guint64 *sum, const guint64 *other, gsize n)
{
    for (gsize i = 0; i < n; i++) {
        sum[i] += other[i];
    }
}

/* The struct is guint64s through and through, so that a sum is a sum of arrays. */
G_STATIC_ASSERT(sizeof(rs_counters) % sizeof(guint64) == 0);
G_STATIC_ASSERT(sizeof(rs_space_counters) == 8 * sizeof(guint64));
G_STATIC_ASSERT(sizeof(roce_retransmission_counters) ==
                (5 + ROCE_N_CAUSES) * sizeof(guint64));
G_STATIC_ASSERT(sizeof(rs_ecn_counters) == 6 * sizeof(guint64));
G_STATIC_ASSERT(sizeof(rs_icrc_counters) == 5 * sizeof(guint64));

void
rs_counters_add(rs_counters *sum, const rs_counters *other)
{
    guint64 to[sizeof *sum / sizeof(guint64)];
    guint64 from[sizeof *sum / sizeof(guint64)];
    memcpy(to, sum, sizeof to);
    memcpy(from, other, sizeof from);
    add_array(to, from, G_N_ELEMENTS(to));
    memcpy(sum, to, sizeof to);
}

guint64
rs_losses_of(const guint64 losses[ROCE_N_VERDICTS])
{
    return losses[ROCE_VERDICT_LOST_BEFORE_CAPTURE] +
           losses[ROCE_VERDICT_UNDELIVERED_AFTER_CAPTURE] +
           losses[ROCE_VERDICT_ACK_LOST] + losses[ROCE_VERDICT_DATA_OR_ACK_LOST] +
           losses[ROCE_VERDICT_CORRUPT];
}

char *
rs_point_name(const rs_analysis *analysis, guint32 point)
{
    const rs_point *p = rs_analysis_point(analysis, point);
    const rs_file *file = g_ptr_array_index(analysis->files, p->file_i);
    g_autofree char *base = g_path_get_basename(file->path);
    g_autofree char *name = rs_format_safe(p->interface != NULL ? p->interface : base);
    g_autofree char *source = rs_hosts_label(analysis->told->hosts, &p->origin.source);
    g_autofree char *session =
        roce_origin_has_session(&p->origin)
            ? g_strdup_printf("mirror session %u of %s", p->origin.number, source)
            : g_strdup_printf("mirror of %s", source);
    gboolean has_direction = p->origin.direction != ROCE_MIRROR_DIRECTION_UNKNOWN;
    switch (p->origin.kind) {
    case ROCE_ORIGIN_INTERFACE:
        break;
    case ROCE_ORIGIN_IFINDEX:
        return g_strdup_printf("%s, interface %u", name, p->origin.number);
    case ROCE_ORIGIN_MIRROR:
        return g_strdup_printf(
            "%s, %s%s%s", name, session, has_direction ? ", " : "",
            has_direction ? roce_mirror_direction_name(p->origin.direction) : "");
    }
    return g_steal_pointer(&name);
}

char *
rs_point_group_name(const rs_analysis *analysis, guint32 point)
{
    const rs_point *p = rs_analysis_point(analysis, point);
    guint n = 0;
    gboolean one_file = TRUE;
    for (guint32 i = 0; i < rs_points_n(analysis->points); i++) {
        const rs_point *other = rs_analysis_point(analysis, i);
        gboolean joined = other->survey.group == p->survey.group;
        n += joined ? 1 : 0;
        one_file &= !joined || other->file_i == p->file_i;
    }
    g_autofree char *name = rs_point_name(analysis, point);
    if (n < 2 || !one_file) {
        return n < 2 ? g_steal_pointer(&name)
                     : g_strdup_printf("%s and %u more", name, n - 1);
    }
    const rs_file *file = g_ptr_array_index(analysis->files, p->file_i);
    g_autofree char *base = g_path_get_basename(file->path);
    g_autofree char *safe = rs_format_safe(base);
    return g_strdup_printf("%s (%u points)", safe, n);
}

/* ---- the same stream at several points ---- */

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

/* Whether one point knows the other direction of a stream, and missed little of what another
 * one saw, which does not: what was lost before it was sent again, and came. */
static gboolean
knows_more(const roce_stream *s, const roce_stream *than)
{
    return roce_stream_is_paired(s) && !roce_stream_is_paired(than) &&
           rs_summary_n_psns(s) * 100 >= rs_summary_n_psns(than) * MOST_PSNS_PERCENT;
}

/* Whether the same stream is told of by another point rather than this one: by one that knows
 * its other direction, and not much less of it; of others by the one that saw most; of such
 * by the one that it comes to last, which knows what arrived and what was marked; of such by
 * that of the file that was given first. */
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
        if (is_better(analysis, stream_of(analysis, id), stream_of(analysis, best))) {
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
        const roce_stream *other = stream_of(
            analysis, members != NULL ? g_array_index(members, guint32, i) : first);
        gboolean beside = other->first_time_ns <= s->last_time_ns &&
                          s->first_time_ns <= other->last_time_ns;
        if (beside || rs_twins_have_met(analysis->twins, other->id, s->id)) {
            return TRUE;
        }
    }
    return FALSE;
}

/* What is seen of one stream at several interfaces of a file is nearly always the same
 * packets.  But where all packets are known, none was seen twice, and one interface saw
 * nothing any more when the other began, it goes on there, as in files that were merged:
 * then each stands for itself. */
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
    const roce_stream *s = stream_of(analysis, id);
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

static void
find_groups(rs_summary *summary, const rs_analysis *analysis)
{
    guint n = roce_tracker_n_streams(analysis->tracker);
    g_array_set_size(summary->group, n);
    g_autoptr(GHashTable) first = g_hash_table_new(hash_stream, same_stream);
    g_autoptr(GHashTable) groups =
        g_hash_table_new_full(NULL, NULL, NULL, rs_unref_array);
    for (guint32 id = 0; id < n; id++) {
        gpointer s = (gpointer)(guintptr)stream_of(analysis, id);
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

gboolean
rs_summary_stands(const rs_summary *summary, guint32 stream)
{
    return g_array_index(summary->group, guint32, stream) == stream;
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

static guint64
count_ce(const roce_stream *s)
{
    return s->ecn.codepoint[ROCE_ECN_CE];
}

static guint64
count_cnps(const roce_stream *s)
{
    return roce_stream_congestion_of(s)->cnps_sent;
}

/* The point that counts for a row of the time line: as rs_summary_count_once() has it. */
static guint32
speaks_for(const rs_summary *summary, const rs_analysis *analysis, guint32 id,
           rs_timeline_row row)
{
    return row == RS_TIMELINE_CE
               ? rs_summary_most_at(summary, analysis->tracker, id, count_ce)
           : row == RS_TIMELINE_CNPS
               ? rs_summary_most_at(summary, analysis->tracker, id, count_cnps)
               : id;
}

gboolean
rs_summary_add_timeline(const rs_summary *summary, const rs_analysis *analysis,
                        rs_timeline_row row, guint64 *sum)
{
    const rs_timeline *timeline = analysis->watchers.timeline;
    guint n = roce_tracker_n_streams(analysis->tracker);
    if (rs_points_n(analysis->points) == 1 && rs_timeline_has_point(timeline, 0)) {
        rs_timeline_add_point(timeline, 0, row, sum);
        return TRUE;
    }
    if (n > RS_TIMELINE_STREAMS) {
        return FALSE;
    }
    for (guint32 id = 0; id < n; id++) {
        guint32 at = speaks_for(summary, analysis, id, row);
        if (rs_summary_stands(summary, id) && rs_timeline_has_stream(timeline, at)) {
            rs_timeline_add_stream(timeline, at, row, sum);
        }
    }
    return TRUE;
}

/* ---- connections ---- */

static void
free_link(gpointer data)
{
    rs_link *link = data;
    g_array_unref(link->streams);
    g_free(link);
}

gboolean
rs_link_process(const rs_link *link, guint side, const rs_qp_maps *maps,
                rs_process *process)
{
    guint other = 1 - side;
    return link->qpn_known[side] &&
           rs_qp_maps_process(maps, &link->addr[side], link->qpn[side],
                              link->qpn_known[other] ? &link->qpn[other] : NULL,
                              process);
}

static rs_link *
add_link(rs_summary *summary)
{
    rs_link *link = g_new0(rs_link, 1);
    link->streams = g_array_new(FALSE, FALSE, sizeof(guint32));
    g_ptr_array_add(summary->links, link);
    return link;
}

static const char *
trust_of(const roce_stream *s, const roce_stream *peer)
{
    guint32 evidence = MAX(s->pairing_evidence, peer->pairing_evidence);
    if (s->paired_by == ROCE_PAIRING_USER &&
        (s->table_contradicted || peer->table_contradicted)) {
        return "low";
    }
    if (s->paired_by != ROCE_PAIRING_PSN || s->paired_ports_agree || evidence >= 16) {
        return "high";
    }
    return evidence >= 3 ? "medium" : "low";
}

static void
join_link(rs_summary *summary, const rs_analysis *analysis, guint32 id, guint link_i)
{
    rs_link *link = g_ptr_array_index(summary->links, link_i);
    const roce_stream *s = stream_of(analysis, id);
    g_array_append_val(link->streams, id);
    g_array_index(summary->link_of, guint32, id) = link_i;
    link->paired_by = MAX(link->paired_by, s->paired_by);
    if (s->connection != ROCE_NO_STREAM) {
        link->cm = roce_tracker_connection(analysis->tracker, s->connection);
    }
}

/* Where the connection between two ends is found. */
typedef struct signpost {
    roce_ends ends;
    guint link_i;
} signpost;

static guint
hash_signpost(gconstpointer data)
{
    const signpost *post = data;
    const roce_ends *ends = &post->ends;
    guint64 hash = roce_hash_tenant(0, &ends->tenant);
    hash = roce_hash_addr(roce_hash_addr(hash, &ends->addr[0]), &ends->addr[1]);
    return (guint)roce_hash_mix(hash, (guint64)ends->qpn[0] << 32 | ends->qpn[1]);
}

static gboolean
same_ends(gconstpointer a, gconstpointer b)
{
    const roce_ends *x = &((const signpost *)a)->ends;
    const roce_ends *y = &((const signpost *)b)->ends;
    return x->qpn[0] == y->qpn[0] && x->qpn[1] == y->qpn[1] &&
           roce_tenant_equal(&x->tenant, &y->tenant) &&
           roce_addr_equal(&x->addr[0], &y->addr[0]) &&
           roce_addr_equal(&x->addr[1], &y->addr[1]);
}

static guint
find_link(rs_summary *summary, const roce_stream *s, GHashTable *signposts)
{
    signpost post = {.link_i = summary->links->len};
    roce_stream_ends(s, &post.ends);
    const signpost *found = g_hash_table_lookup(signposts, &post);
    if (found != NULL) {
        return found->link_i;
    }
    rs_link *link = add_link(summary);
    link->addr[0] = s->src;
    link->addr[1] = s->dst;
    link->qpn[0] = s->src_qpn;
    link->qpn[1] = s->dst_qpn;
    link->qpn_known[0] = link->qpn_known[1] = TRUE;
    g_hash_table_add(signposts, g_memdup2(&post, sizeof post));
    return post.link_i;
}

/* Connections that CM told of and that no captured stream belongs to. */
static void
add_bare_connections(rs_summary *summary, const rs_analysis *analysis)
{
    guint n = roce_tracker_n_connections(analysis->tracker);
    g_autoptr(GHashTable) used = g_hash_table_new(NULL, NULL);
    for (guint i = 0; i < summary->links->len; i++) {
        const rs_link *link = g_ptr_array_index(summary->links, i);
        g_hash_table_add(used, (gpointer)(guintptr)link->cm);
    }
    for (guint i = 0; i < n; i++) {
        const roce_connection *c = roce_tracker_connection(analysis->tracker, i);
        if (g_hash_table_contains(used, c)) {
            continue;
        }
        rs_link *link = add_link(summary);
        for (guint side = 0; side < 2; side++) {
            link->addr[side] = c->addr[side];
            link->qpn[side] = c->qpn[side];
            link->qpn_known[side] = (c->known & 1u << side) != 0;
        }
        link->paired_by = ROCE_PAIRING_CM;
        link->trust = "high";
        link->cm = c;
    }
}

typedef struct paired_stream {
    guint32 paired_as, id;
} paired_stream;

static gint
by_pairing(gconstpointer a, gconstpointer b)
{
    const paired_stream *x = a;
    const paired_stream *y = b;
    if (x->paired_as != y->paired_as) {
        return x->paired_as < y->paired_as ? -1 : 1;
    }
    return rs_by_number(x->id, y->id);
}

/* Connections are numbered in the order in which they were found, as in the plugin. */
static void
find_links(rs_summary *summary, const rs_analysis *analysis)
{
    guint n = roce_tracker_n_streams(analysis->tracker);
    g_autoptr(GHashTable) signposts =
        g_hash_table_new_full(hash_signpost, same_ends, g_free, NULL);
    g_autoptr(GArray) paired = g_array_new(FALSE, FALSE, sizeof(paired_stream));
    g_array_set_size(summary->link_of, n);
    for (guint32 id = 0; id < n; id++) {
        g_array_index(summary->link_of, guint32, id) = NO_LINK;
        const paired_stream entry = {stream_of(analysis, id)->paired_as, id};
        if (roce_stream_is_paired(stream_of(analysis, id))) {
            g_array_append_val(paired, entry);
        }
    }
    g_array_sort(paired, by_pairing);
    for (guint i = 0; i < paired->len; i++) {
        guint32 id = g_array_index(paired, paired_stream, i).id;
        const roce_stream *s = stream_of(analysis, id);
        guint link_i = find_link(summary, s, signposts);
        rs_link *link = g_ptr_array_index(summary->links, link_i);
        link->trust = trust_of(s, stream_of(analysis, s->peer));
        join_link(summary, analysis, id, link_i);
    }
    for (guint i = 0; i < summary->links->len; i++) {
        const rs_link *link = g_ptr_array_index(summary->links, i);
        g_array_sort(link->streams, rs_by_u32);
    }
    add_bare_connections(summary, analysis);
}

/* ---- order ---- */

static guint64
badness(const roce_stream *s)
{
    const roce_stream_trouble *trouble = roce_stream_trouble_of(s);
    guint64 fatal = 0;
    for (guint i = ROCE_NAKS_INVALID_REQUEST; i <= ROCE_NAKS_REMOTE_OPERATIONAL; i++) {
        fatal += trouble->naks_received[i];
    }
    guint64 bad = fatal * 1000000 + trouble->retransmissions.packets * 10 +
                  trouble->icrc_bad + s->ecn.codepoint[ROCE_ECN_CE];
    for (guint i = 0; i < ROCE_N_SPACES; i++) {
        const roce_disorder_counters *disorder = &trouble->disorder[i];
        bad += rs_losses_of(trouble->losses[i]) * 1000 + disorder->reordered +
               disorder->duplicates;
    }
    return bad + trouble->disorder[ROCE_SPACE_RESPONSES].resent * 10;
}

static gint
worse(gconstpointer a, gconstpointer b, gpointer data)
{
    const rs_analysis *analysis = data;
    const roce_stream *x = stream_of(analysis, *(const guint32 *)a);
    const roce_stream *y = stream_of(analysis, *(const guint32 *)b);
    guint64 bad_x = badness(x);
    guint64 bad_y = badness(y);
    if (bad_x != bad_y) {
        return bad_x > bad_y ? -1 : 1;
    }
    if (x->wire_bytes != y->wire_bytes) {
        return x->wire_bytes > y->wire_bytes ? -1 : 1;
    }
    return rs_by_number(x->id, y->id);
}

static void
add_latencies(rs_summary *summary, const roce_stream *s)
{
    roce_alloc alloc = rs_alloc_make();
    for (guint i = 0; i < ROCE_N_LATENCIES; i++) {
        const roce_histogram *h = roce_stream_latency(s, (roce_latency)i);
        if (h != NULL) {
            roce_histogram_merge(&summary->latencies[i], &alloc, h);
        }
    }
}

/* Of the points that saw as much of a stream as the one that stands for all, the one that it
 * comes to first: nearest to who waits for answers. */
static const roce_stream *
first_on_way(const rs_summary *summary, const rs_analysis *analysis, guint32 id)
{
    const GArray *members = rs_summary_members(summary, id);
    const roce_stream *first = stream_of(analysis, id);
    for (guint i = 0; members != NULL && i < members->len; i++) {
        const roce_stream *s = stream_of(analysis, g_array_index(members, guint32, i));
        if (s->packets == first->packets && rs_further(s, first) < 0) {
            first = s;
        }
    }
    return first;
}

/* Another point saw more of them marked: as many are that here still were not. */
static void
take_marks(guint64 mine[4], const guint64 theirs[4])
{
    guint64 more = theirs[ROCE_ECN_CE] - MIN(mine[ROCE_ECN_CE], theirs[ROCE_ECN_CE]);
    for (guint i = 0; i < ROCE_ECN_CE && more > 0; i++) {
        guint ect = ROCE_ECN_CE - 1 - i; /* what is not capable of ECN comes last */
        guint64 n = MIN(mine[ect], more);
        mine[ect] -= n;
        mine[ROCE_ECN_CE] += n;
        more -= n;
    }
}

/* What becomes of packets on their way is seen behind where it happens, and there one may
 * see fewer of them than in front of it: of that, the point counts that saw most. */
static void
take_most(rs_counters *c, const rs_counters *other, gboolean acknowledged)
{
    for (guint space = 0; space < ROCE_N_SPACES; space++) {
        rs_space_counters *mine = &c->space[space];
        const rs_space_counters *theirs = &other->space[space];
        mine->reordered = MAX(mine->reordered, theirs->reordered);
        mine->duplicates = MAX(mine->duplicates, theirs->duplicates);
    }
    rs_space_counters *requests = &c->space[ROCE_SPACE_REQUESTS];
    const rs_space_counters *requests_there = &other->space[ROCE_SPACE_REQUESTS];
    if (!acknowledged && requests_there->missing_psns > requests->missing_psns) {
        requests->missing_psns = requests_there->missing_psns;
        requests->gaps = requests_there->gaps;
        memcpy(c->losses, other->losses, sizeof c->losses);
    }
    c->icrc.bad = MAX(c->icrc.bad, other->icrc.bad);
    c->icrc.checked = MAX(c->icrc.checked, c->icrc.bad);
    if (other->ecn.codepoint[ROCE_ECN_CE] > c->ecn.codepoint[ROCE_ECN_CE]) {
        c->ecn.transitions = other->ecn.transitions;
        c->ecn.ce_episodes = other->ecn.ce_episodes;
    }
    take_marks(c->ecn.codepoint, other->ecn.codepoint);
    take_marks(c->ecn_control, other->ecn_control);
    c->cnps_sent = MAX(c->cnps_sent, other->cnps_sent);
    c->cnps_received = MAX(c->cnps_received, other->cnps_received);
}

void
rs_summary_count_once(const rs_summary *summary, const rs_analysis *analysis,
                      guint32 id, rs_counters *counters)
{
    const GArray *members = rs_summary_members(summary, id);
    const roce_stream *standing = stream_of(analysis, id);
    rs_counters_of_stream(counters, standing);
    for (guint i = 0; members != NULL && i < members->len; i++) {
        rs_counters other;
        guint32 member = g_array_index(members, guint32, i);
        if (member != id) {
            rs_counters_of_stream(&other, stream_of(analysis, member));
            take_most(counters, &other, roce_stream_is_reliable(standing));
        }
    }
}

static void
add_unattributed(rs_unattributed *n, const rs_summary *summary,
                 const rs_analysis *analysis, const roce_stream *s)
{
    const GArray *members = rs_summary_members(summary, s->id);
    gboolean paired = roce_stream_is_paired(s);
    for (guint i = 0; members != NULL && i < members->len; i++) {
        paired |= roce_stream_is_paired(
            stream_of(analysis, g_array_index(members, guint32, i)));
    }
    if (paired) {
        return;
    }
    const roce_stream_congestion *congestion = roce_stream_congestion_of(s);
    const uint64_t *naks_sent = roce_stream_trouble_of(s)->naks_sent;
    n->acks += roce_stream_control_of(s)->acks_sent;
    n->cnps += congestion->cnps_sent - congestion->cnps_attributed;
    for (guint i = 0; i < ROCE_N_NAKS; i++) {
        *(i == ROCE_NAKS_RNR ? &n->rnr : &n->naks) += naks_sent[i];
    }
}

rs_summary *
rs_summary_new(const rs_analysis *analysis)
{
    rs_summary *summary = g_new0(rs_summary, 1);
    guint n = roce_tracker_n_streams(analysis->tracker);
    summary->group = g_array_new(FALSE, TRUE, sizeof(guint32));
    summary->members = g_ptr_array_new_with_free_func(rs_unref_array);
    summary->later = g_hash_table_new(NULL, NULL);
    summary->worst_first = g_array_sized_new(FALSE, FALSE, sizeof(guint32), n);
    summary->links = g_ptr_array_new_with_free_func(free_link);
    summary->link_of = g_array_new(FALSE, TRUE, sizeof(guint32));
    find_groups(summary, analysis);
    for (guint32 id = 0; id < n; id++) {
        g_array_append_val(summary->worst_first, id);
        if (rs_summary_stands(summary, id)) {
            rs_counters counters;
            rs_summary_count_once(summary, analysis, id, &counters);
            rs_counters_add(&summary->totals, &counters);
            add_latencies(summary, first_on_way(summary, analysis, id));
            add_unattributed(&summary->unattributed, summary, analysis,
                             stream_of(analysis, id));
        }
    }
    guint64 orphans = roce_tracker_totals_get(analysis->tracker)->icrc_orphans;
    summary->totals.icrc.checked += orphans;
    summary->totals.icrc.bad += orphans;
    gpointer data = (gpointer)(guintptr)analysis;
    g_array_sort_with_data(summary->worst_first, worse, data);
    find_links(summary, analysis);
    rs_spreading_find(summary, analysis);
    return summary;
}

void
rs_summary_free(rs_summary *summary)
{
    if (summary == NULL) {
        return;
    }
    g_array_unref(summary->group);
    g_ptr_array_unref(summary->members);
    g_hash_table_unref(summary->later);
    g_array_unref(summary->worst_first);
    g_ptr_array_unref(summary->links);
    roce_alloc alloc = rs_alloc_make();
    for (guint i = 0; i < ROCE_N_LATENCIES; i++) {
        roce_histogram_clear(&summary->latencies[i], &alloc);
    }
    g_array_unref(summary->link_of);
    g_ptr_array_unref(summary->pairs);
    g_free(summary->pair_streams);
    g_free(summary);
}
