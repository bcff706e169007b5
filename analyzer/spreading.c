/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "spreading.h"

#include "sorting.h"

#include "roce/hash.h"

#include <math.h>

/* ---- pairs ---- */

static guint
hash_pair(gconstpointer data)
{
    const rs_address_pair *p = data;
    guint64 hash = roce_hash_addr(roce_hash_tenant(0, &p->tenant), &p->src);
    return (guint)roce_hash_addr(hash, &p->dst);
}

static gboolean
same_pair(gconstpointer a, gconstpointer b)
{
    const rs_address_pair *x = a;
    const rs_address_pair *y = b;
    return roce_tenant_equal(&x->tenant, &y->tenant) &&
           roce_addr_equal(&x->src, &y->src) && roce_addr_equal(&x->dst, &y->dst);
}

static void
free_shared(gpointer data)
{
    rs_shared_port *shared = data;
    g_array_unref(shared->streams);
    g_free(shared);
}

static void
free_pair(gpointer data)
{
    rs_address_pair *pair = data;
    g_clear_pointer(&pair->shared, g_ptr_array_unref);
    g_free(pair->siblings);
    g_free(pair);
}

static rs_address_pair *
pair_of(GPtrArray *pairs, GHashTable *by_addresses, const roce_stream *s)
{
    const rs_address_pair key = {.tenant = s->tenant, .src = s->src, .dst = s->dst};
    rs_address_pair *pair = g_hash_table_lookup(by_addresses, &key);
    if (pair == NULL) {
        pair = g_memdup2(&key, sizeof key);
        g_ptr_array_add(pairs, pair);
        g_hash_table_add(by_addresses, pair);
    }
    return pair;
}

/* ---- source ports ---- */

/* A port of one stream of a pair. */
typedef struct member {
    guint16 port;
    guint32 stream;
    guint64 bytes;
} member;

static gint
by_port(gconstpointer a, gconstpointer b)
{
    const member *x = a;
    const member *y = b;
    if (x->port != y->port) {
        return x->port < y->port ? -1 : 1;
    }
    return rs_by_number(x->stream, y->stream);
}

/* All members of a pair, those with one port side by side. */
static GArray *
members_of(const rs_analysis *analysis, const rs_address_pair *pair)
{
    GArray *members = g_array_new(FALSE, FALSE, sizeof(member));
    for (guint i = 0; i < pair->n_streams; i++) {
        guint32 id = pair->streams[i];
        const rs_ports *ports = analysis->watchers.ports;
        for (guint j = 0; j < rs_ports_n(ports, id); j++) {
            const rs_port_use *use = rs_ports_at(ports, id, j);
            const member m = {.port = use->port, .stream = id, .bytes = use->bytes};
            g_array_append_val(members, m);
        }
    }
    g_array_sort(members, by_port);
    return members;
}

/* The end of the run of members with the port of member `i`. */
static guint
run_end(const GArray *members, guint i)
{
    guint16 port = g_array_index(members, member, i).port;
    guint end = i;
    while (end < members->len && g_array_index(members, member, end).port == port) {
        end++;
    }
    return end;
}

static void
add_shared(rs_address_pair *pair, const GArray *members, guint start, guint end)
{
    rs_shared_port *shared = g_new0(rs_shared_port, 1);
    shared->port = g_array_index(members, member, start).port;
    shared->streams = g_array_new(FALSE, FALSE, sizeof(guint32));
    for (guint i = start; i < end; i++) {
        g_array_append_val(shared->streams, g_array_index(members, member, i).stream);
    }
    if (pair->shared == NULL) {
        pair->shared = g_ptr_array_new_with_free_func(free_shared);
    }
    g_ptr_array_add(pair->shared, shared);
}

static void
measure_ports(const rs_analysis *analysis, rs_address_pair *pair)
{
    g_autoptr(GArray) members = members_of(analysis, pair);
    pair->members = members->len;
    pair->possible_bits = log2(members->len);
    for (guint i = 0; i < members->len;) {
        guint end = run_end(members, i);
        double share = (double)(end - i) / members->len;
        pair->ports++;
        pair->entropy_bits -= share * log2(share);
        if (end - i > 1) {
            add_shared(pair, members, i, end);
        }
        i = end;
    }
}

/* ---- siblings ---- */

/* Where the common time of all streams of a pair begins and ends, in bins of the timeline;
 * FALSE: too short, or not all have bins. */
static gboolean
common_bins(const rs_analysis *analysis, const rs_address_pair *pair, guint *first,
            guint *end)
{
    const rs_timeline *timeline = analysis->watchers.timeline;
    guint64 start_ns = 0;
    guint64 end_ns = G_MAXUINT64;
    for (guint i = 0; i < pair->n_streams; i++) {
        guint32 id = pair->streams[i];
        const roce_stream *s = roce_tracker_stream(analysis->tracker, id);
        if (!rs_timeline_has_stream(timeline, id)) {
            return FALSE;
        }
        start_ns = MAX(start_ns, s->first_time_ns);
        end_ns = MIN(end_ns, s->last_time_ns);
    }
    guint64 zero_ns = rs_timeline_start_ns(timeline);
    guint64 bin_ns = rs_timeline_bin_ns(timeline);
    if (pair->n_streams < 2 || start_ns < zero_ns || end_ns <= start_ns) {
        return FALSE;
    }
    *first = (guint)((start_ns - zero_ns + bin_ns - 1) / bin_ns);
    *end = (guint)MIN((end_ns - zero_ns) / bin_ns, rs_timeline_n_bins(timeline));
    return *first + RS_SIBLINGS_LEAST_BINS <= *end;
}

/* What a data packet of a stream carries on average. */
static guint64
mean_payload(const roce_stream *s)
{
    guint64 n =
        s->space[ROCE_SPACE_REQUESTS].packets + s->space[ROCE_SPACE_RESPONSES].packets;
    return n > 0 ? s->payload_bytes / n : 0;
}

/* Whether all streams of a pair fill their packets, at least by half.  One that does not,
 * such as a clear-to-send's, has no more to send, as often as it does. */
static gboolean
fill_their_packets(const rs_analysis *analysis, const rs_address_pair *pair)
{
    guint64 most = 0;
    for (guint i = 0; i < pair->n_streams; i++) {
        most =
            MAX(most,
                mean_payload(roce_tracker_stream(analysis->tracker, pair->streams[i])));
    }
    for (guint i = 0; i < pair->n_streams; i++) {
        const roce_stream *s = roce_tracker_stream(analysis->tracker, pair->streams[i]);
        if (2 * mean_payload(s) < (s->pmtu_bytes > 0 ? s->pmtu_bytes : most)) {
            return FALSE;
        }
    }
    return TRUE;
}

/* Adds one sibling: what it sent in common time, and in how many bins. */
static void
add_sibling(const rs_analysis *analysis, rs_siblings *siblings, guint32 id, guint first,
            guint end, double sums[2])
{
    const rs_timeline *timeline = analysis->watchers.timeline;
    g_autofree guint64 *bits = g_new0(guint64, rs_timeline_n_bins(timeline));
    rs_timeline_add_stream(timeline, id, RS_TIMELINE_BITS, bits);
    guint64 bytes = 0;
    guint busy = 0;
    for (guint i = first; i < end; i++) {
        bytes += bits[i] / 8;
        busy += bits[i] > 0 ? 1 : 0;
    }
    sums[0] += (double)bytes;
    sums[1] += (double)bytes * (double)bytes;
    siblings->all_busy &= busy * 100 >= (end - first) * RS_SIBLINGS_BUSY_PERCENT;
    if (bytes < siblings->least_bytes) {
        siblings->least_bytes = bytes;
        siblings->least = id;
    }
    if (bytes > siblings->most_bytes) {
        siblings->most_bytes = bytes;
        siblings->most = id;
    }
}

static void
measure_siblings(const rs_analysis *analysis, rs_address_pair *pair)
{
    const rs_timeline *timeline = analysis->watchers.timeline;
    guint first;
    guint end;
    if (!common_bins(analysis, pair, &first, &end)) {
        return;
    }
    guint64 zero_ns = rs_timeline_start_ns(timeline);
    guint64 bin_ns = rs_timeline_bin_ns(timeline);
    double sums[2] = {0}; /* of bytes, and of their squares */
    rs_siblings siblings = {
        .start_ns = zero_ns + first * bin_ns,
        .end_ns = zero_ns + end * bin_ns,
        .all_busy = fill_their_packets(analysis, pair),
        .least_bytes = G_MAXUINT64,
    };
    for (guint i = 0; i < pair->n_streams; i++) {
        add_sibling(analysis, &siblings, pair->streams[i], first, end, sums);
    }
    if (sums[0] > 0) {
        siblings.jain = sums[0] * sums[0] / (pair->n_streams * sums[1]);
        pair->siblings = g_memdup2(&siblings, sizeof siblings);
    }
}

/* Gives each pair its part of the array of their streams, which has room for all. */
static void
share_out(GPtrArray *pairs, guint32 *streams)
{
    for (guint i = 0; i < pairs->len; i++) {
        rs_address_pair *pair = g_ptr_array_index(pairs, i);
        pair->streams = streams;
        streams += pair->n_streams;
        pair->n_streams = 0;
    }
}

/* The streams of all pairs are in one array: of many pairs, most have a single one. */
static void
find_pairs(rs_summary *summary, const rs_analysis *analysis)
{
    const roce_tracker *tracker = analysis->tracker;
    guint32 n = roce_tracker_n_streams(tracker);
    guint n_members = 0;
    g_autofree rs_address_pair **of_stream = g_new0(rs_address_pair *, n);
    g_autoptr(GHashTable) by_addresses = g_hash_table_new(hash_pair, same_pair);
    for (guint32 id = 0; id < n; id++) {
        if (rs_summary_stands(summary, id) &&
            !g_hash_table_contains(summary->later, GUINT_TO_POINTER(id)) &&
            rs_ports_n(analysis->watchers.ports, id) > 0) {
            of_stream[id] =
                pair_of(summary->pairs, by_addresses, roce_tracker_stream(tracker, id));
            of_stream[id]->n_streams++;
            n_members++;
        }
    }
    summary->pair_streams = g_new(guint32, n_members);
    share_out(summary->pairs, summary->pair_streams);
    for (guint32 id = 0; id < n; id++) {
        rs_address_pair *pair = of_stream[id];
        if (pair != NULL) {
            pair->streams[pair->n_streams++] = id;
        }
    }
}

void
rs_spreading_find(rs_summary *summary, const rs_analysis *analysis)
{
    summary->pairs = g_ptr_array_new_with_free_func(free_pair);
    find_pairs(summary, analysis);
    for (guint i = 0; i < summary->pairs->len; i++) {
        measure_ports(analysis, g_ptr_array_index(summary->pairs, i));
        measure_siblings(analysis, g_ptr_array_index(summary->pairs, i));
    }
}

void
rs_spreading_flows(rs_spread_flows *flows, const rs_analysis *analysis,
                   const GPtrArray *pairs)
{
    *flows = (rs_spread_flows){0};
    for (guint p = 0; p < pairs->len; p++) {
        g_autoptr(GArray) members = members_of(analysis, g_ptr_array_index(pairs, p));
        for (guint i = 0; i < members->len;) {
            guint end = run_end(members, i);
            double bytes = 0;
            for (; i < end; i++) {
                bytes += (double)g_array_index(members, member, i).bytes;
            }
            flows->flows++;
            flows->bytes += bytes;
            flows->squares += bytes * bytes;
        }
    }
}

guint64
rs_spreading_flowlets(rs_flowlet_sum *sum, const rs_analysis *analysis,
                      const rs_summary *summary)
{
    guint64 streams = 0;
    *sum = (rs_flowlet_sum){0};
    for (guint32 id = 0; id < roce_tracker_n_streams(analysis->tracker); id++) {
        rs_flowlet_stream f;
        if (rs_summary_stands(summary, id) &&
            rs_flowlets_get(analysis->watchers.flowlets, id, &f) &&
            f.data_packets > 0) {
            streams++;
            rs_flowlets_add(sum, &f);
        }
    }
    return streams;
}
