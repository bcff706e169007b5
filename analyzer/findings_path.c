/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Findings about paths: time to live, MTU, rails, and what both ends of a connection have
 * to agree on.
 */
#include "findings_parts.h"
#include "format.h"
#include "pairs.h"
#include "paths.h"
#include "rails.h"

static const rs_stream_path *
path_of(const rs_findings *all, guint32 stream)
{
    return rs_paths_stream(all->analysis->watchers.paths, stream);
}

/* ---- time to live ---- */

static rs_ttl_pattern
pattern_of(const rs_findings *all, const roce_stream *s)
{
    const rs_stream_path *path = path_of(all, s->id);
    rs_ttl_pattern pattern =
        path != NULL ? rs_ttl_pattern_of(path, s) : RS_TTL_CONSTANT;
    return pattern == RS_TTL_COPIES ? RS_TTL_CONSTANT : pattern;
}

static gboolean
changes_ttl(const rs_findings *all, const roce_stream *s)
{
    return pattern_of(all, s) != RS_TTL_CONSTANT;
}

static char *
ttl_words(const rs_stream_path *path)
{
    return rs_finding_values(path->ttls, path->ttl_packets, path->n_ttls,
                             path->more_ttls);
}

static void
say_ttl(rs_finding *f, rs_ttl_pattern pattern, const char *ends, const char *values)
{
    switch (pattern) {
    case RS_TTL_SPRAYED:
        rs_finding_say(
            f,
            g_strdup_printf("Packets from %s take paths of several lengths in turn",
                            ends),
            g_strdup_printf(
                "Times to live alternate from packet to packet, as spraying "
                "makes them: %s.",
                values));
        return;
    case RS_TTL_MIXED:
        rs_finding_say(
            f,
            g_strdup_printf("Packets from %s change between paths of several lengths",
                            ends),
            g_strdup_printf("Times to live come and go in stretches, as flowlets, a "
                            "flapping route or a mixture of senders make them: %s.",
                            values));
        return;
    case RS_TTL_CHANGED:
        rs_finding_say(f, g_strdup_printf("The path from %s changed its length", ends),
                       g_strdup_printf("The time to live was one for a while, and then "
                                       "another for good: %s.",
                                       values));
        return;
    case RS_TTL_CONSTANT:
    case RS_TTL_COPIES:
        break;
    }
    rs_finding_say(f, g_strdup(ends), g_strdup(values));
}

/* The stream of the pair whose paths change most often in kind; its pattern speaks for
 * all. */
static guint32
restless_of(const rs_findings *all, const rs_pair *pair)
{
    const roce_tracker *tracker = all->analysis->tracker;
    guint32 found = g_array_index(pair->streams, guint32, 0);
    for (guint i = 1; i < pair->streams->len; i++) {
        guint32 id = g_array_index(pair->streams, guint32, i);
        if (pattern_of(all, roce_tracker_stream(tracker, id)) >
            pattern_of(all, roce_tracker_stream(tracker, found))) {
            found = id;
        }
    }
    return found;
}

void
rs_find_ttl_changed(rs_findings *all, const rs_finding_row *row)
{
    g_autoptr(GPtrArray) pairs = rs_pairs_of(all, RS_PAIRS_AT_ANY, changes_ttl);
    for (guint i = 0; i < pairs->len; i++) {
        const rs_pair *pair = g_ptr_array_index(pairs, i);
        guint32 restless = restless_of(all, pair);
        g_autofree char *ends = rs_pair_label(all, pair);
        g_autofree char *values = ttl_words(path_of(all, restless));
        rs_finding *f = rs_finding_add(all, row, RS_SEVERITY_NOTE);
        rs_pair_name(f, pair);
        say_ttl(f,
                pattern_of(all, roce_tracker_stream(all->analysis->tracker, restless)),
                ends, values);
        for (guint k = 0; k < pair->streams->len; k++) {
            guint32 id = g_array_index(pair->streams, guint32, k);
            const rs_path_changes *c = rs_path_changes_of(path_of(all, id));
            f->weight += c->ttl_changes;
            g_array_append_val(f->streams, id);
            rs_finding_add_frame(f, c->before_change);
            rs_finding_add_frame(f, c->at_change);
        }
        rs_finding_add_filter(f, rs_finding_stream_filter(all, f));
        f->more_frames = f->weight > pair->streams->len;
    }
}

/* ---- MTU ---- */

static gboolean
has_pmtu(const rs_findings *all, const roce_stream *s)
{
    (void)all;
    return s->pmtu_bytes != 0;
}

static guint32
largest_pmtu(const rs_findings *all, const rs_pair *pair)
{
    guint32 largest = 0;
    for (guint i = 0; pair != NULL && i < pair->streams->len; i++) {
        guint32 id = g_array_index(pair->streams, guint32, i);
        largest =
            MAX(largest, roce_tracker_stream(all->analysis->tracker, id)->pmtu_bytes);
    }
    return largest;
}

static guint32
smallest_pmtu(const rs_findings *all, const rs_pair *pair)
{
    guint32 smallest = G_MAXUINT32;
    for (guint i = 0; i < pair->streams->len; i++) {
        guint32 id = g_array_index(pair->streams, guint32, i);
        smallest =
            MIN(smallest, roce_tracker_stream(all->analysis->tracker, id)->pmtu_bytes);
    }
    return smallest;
}

static void
report_small_mtu(rs_findings *all, const rs_finding_row *row, const rs_pair *pair,
                 guint32 smallest, guint32 largest)
{
    const roce_tracker *tracker = all->analysis->tracker;
    rs_finding *f = rs_finding_add(all, row, RS_SEVERITY_NOTE);
    for (guint i = 0; i < pair->streams->len; i++) {
        guint32 id = g_array_index(pair->streams, guint32, i);
        if (roce_tracker_stream(tracker, id)->pmtu_bytes < largest) {
            g_array_append_val(f->streams, id);
        }
    }
    g_autofree char *ends = rs_pair_label(all, pair);
    g_autofree char *n = rs_finding_count(f->streams->len, "stream", "streams");
    rs_pair_name(f, pair);
    f->weight = f->streams->len;
    rs_finding_say(
        f,
        g_strdup_printf("%s from %s with a path MTU of %u, where %u goes", n, ends,
                        smallest, largest),
        g_strdup_printf("Other streams between these hosts have packets with "
                        "%u bytes of payload.",
                        largest));
}

/* Where all streams have one, as they should, nothing has to be sorted by pairs. */
static gboolean
have_several_mtus(const roce_tracker *tracker)
{
    guint32 known = 0;
    for (guint32 id = 0; id < roce_tracker_n_streams(tracker); id++) {
        guint32 pmtu_bytes = roce_tracker_stream(tracker, id)->pmtu_bytes;
        if (known != 0 && pmtu_bytes != 0 && pmtu_bytes != known) {
            return TRUE;
        }
        known = pmtu_bytes != 0 ? pmtu_bytes : known;
    }
    return FALSE;
}

void
rs_find_small_mtu(rs_findings *all, const rs_finding_row *row)
{
    if (!have_several_mtus(all->analysis->tracker)) {
        return;
    }
    g_autoptr(GPtrArray) pairs = rs_pairs_of(all, RS_PAIRS_ONCE, has_pmtu);
    g_autoptr(GHashTable) index = g_hash_table_new(rs_pair_hash, rs_pair_equal);
    for (guint i = 0; i < pairs->len; i++) {
        g_hash_table_add(index, g_ptr_array_index(pairs, i));
    }
    for (guint i = 0; i < pairs->len; i++) {
        const rs_pair *pair = g_ptr_array_index(pairs, i);
        const rs_pair back = {
            .tenant = pair->tenant, .src = pair->dst, .dst = pair->src};
        guint32 largest = MAX(largest_pmtu(all, pair),
                              largest_pmtu(all, g_hash_table_lookup(index, &back)));
        guint32 smallest = smallest_pmtu(all, pair);
        if (smallest < largest) {
            report_small_mtu(all, row, pair, smallest, largest);
        }
    }
}

/* ---- what both ends have to agree on ---- */

/* Whether a stream stands for its connection: the one from the lesser address, of whose
 * headers and of whose peer's something is known. */
static gboolean
is_connection(const rs_findings *all, const roce_stream *s)
{
    int order = roce_addr_compare(&s->src, &s->dst);
    return roce_stream_is_paired(s) && s->peer != ROCE_NO_STREAM &&
           (order < 0 || (order == 0 && s->id < s->peer)) &&
           path_of(all, s->id) != NULL && path_of(all, s->peer) != NULL;
}

/* Names all connections of a pair, by both of their streams. */
static void
add_connections(const rs_findings *all, rs_finding *f, const rs_pair *pair)
{
    const roce_tracker *tracker = all->analysis->tracker;
    for (guint i = 0; i < pair->streams->len; i++) {
        guint32 id = g_array_index(pair->streams, guint32, i);
        const roce_stream *s = roce_tracker_stream(tracker, id);
        g_array_append_val(f->streams, id);
        g_array_append_val(f->streams, s->peer);
        rs_finding_add_frame(f, path_of(all, id)->first_frame);
        rs_finding_add_frame(f, path_of(all, s->peer)->first_frame);
        f->weight += s->packets + roce_tracker_stream(tracker, s->peer)->packets;
    }
    rs_finding_add_filter(f, rs_finding_stream_filter(all, f));
    f->more_frames = TRUE;
}

/* One end that changed it migrates its path, which is what it is there for. */
static gboolean
differs_in_migreq(const rs_findings *all, const roce_stream *s)
{
    if (!is_connection(all, s)) {
        return FALSE;
    }
    guint8 there = path_of(all, s->id)->migration;
    guint8 back = path_of(all, s->peer)->migration;
    return (there | back) == 3 && (there & back) == 0;
}

static guint64
losses_of_stream(const roce_stream *s)
{
    const roce_stream_trouble *trouble = roce_stream_trouble_of(s);
    return rs_losses_of(trouble->losses[0]) + rs_losses_of(trouble->losses[1]);
}

static guint64
losses_of(const rs_findings *all, const rs_pair *pair)
{
    guint64 n = 0;
    const roce_tracker *tracker = all->analysis->tracker;
    for (guint i = 0; i < pair->streams->len; i++) {
        const roce_stream *s =
            roce_tracker_stream(tracker, g_array_index(pair->streams, guint32, i));
        const roce_stream *peer = roce_tracker_stream(tracker, s->peer);
        n += losses_of_stream(s) + losses_of_stream(peer);
    }
    return n;
}

void
rs_find_migreq(rs_findings *all, const rs_finding_row *row)
{
    g_autoptr(GPtrArray) pairs = rs_pairs_of(all, RS_PAIRS_ONCE, differs_in_migreq);
    for (guint i = 0; i < pairs->len; i++) {
        const rs_pair *pair = g_ptr_array_index(pairs, i);
        guint32 first = g_array_index(pair->streams, guint32, 0);
        guint there = path_of(all, first)->migration >> 1;
        guint64 lost = losses_of(all, pair);
        g_autofree char *ends = rs_pair_label(all, pair);
        g_autofree char *n =
            rs_finding_count(pair->streams->len, "connection", "connections");
        g_autofree char *n_lost = rs_finding_packets(lost);
        rs_finding *f =
            rs_finding_add(all, row, lost > 0 ? RS_SEVERITY_WARNING : RS_SEVERITY_NOTE);
        rs_pair_name(f, pair);
        add_connections(all, f, pair);
        rs_finding_say(
            f,
            g_strdup_printf("MigReq is %u from %s and %u back", there, ends, 1 - there),
            g_strdup_printf("On %s; %s of %s %s lost.", n, n_lost,
                            pair->streams->len == 1 ? "it" : "them",
                            lost == 1 ? "was" : "were"));
    }
}

static gboolean
differs_in_p_key(const rs_findings *all, const roce_stream *s)
{
    return is_connection(all, s) &&
           !rs_p_keys_match(path_of(all, s->id)->p_key, path_of(all, s->peer)->p_key);
}

static void
find_p_keys_between(rs_findings *all, const rs_finding_row *row, const rs_pair *pair)
{
    guint32 first = g_array_index(pair->streams, guint32, 0);
    guint32 peer = roce_tracker_stream(all->analysis->tracker, first)->peer;
    guint16 there = path_of(all, first)->p_key;
    guint16 back = path_of(all, peer)->p_key;
    g_autofree char *ends = rs_pair_label(all, pair);
    g_autofree char *n =
        rs_finding_count(pair->streams->len, "connection", "connections");
    rs_finding *f = rs_finding_add(all, row, RS_SEVERITY_WARNING);
    rs_pair_name(f, pair);
    add_connections(all, f, pair);
    rs_finding_say(
        f, g_strdup_printf("P_Key 0x%04x from %s and 0x%04x back", there, ends, back),
        g_strdup_printf("On %s.  %s", n,
                        (there & 0x7fff) == (back & 0x7fff)
                            ? "Both ends are limited members of the partition; two of "
                              "these do not hear one another."
                            : "These are different partitions."));
}

/* A queue pair number that is used again may get another partition with it. */
static gboolean
changes_p_key(const rs_findings *all, const roce_stream *s)
{
    const rs_stream_path *path = path_of(all, s->id);
    return path != NULL && rs_path_changes_of(path)->other_p_key_frame != 0 &&
           roce_stream_trouble_of(s)->restarts == 0 &&
           s->transport != ROCE_TRANSPORT_UD &&
           (path->p_key & 0x7fff) != (rs_path_changes_of(path)->other_p_key & 0x7fff);
}

static void
find_p_keys_within(rs_findings *all, const rs_finding_row *row, const rs_pair *pair)
{
    guint32 first = g_array_index(pair->streams, guint32, 0);
    const rs_stream_path *path = path_of(all, first);
    g_autofree char *ends = rs_pair_label(all, pair);
    g_autofree char *n = rs_finding_count(pair->streams->len, "stream", "streams");
    rs_finding *f = rs_finding_add(all, row, RS_SEVERITY_WARNING);
    g_autofree char *src = rs_format_addr(&pair->src);
    g_autofree char *dst = rs_format_addr(&pair->dst);
    g_autofree char *what = g_strdup_printf("%s>%s:changed", src, dst);
    rs_finding_about(f, what);
    rs_finding_say(
        f,
        g_strdup_printf("The P_Key from %s changes within %s, from 0x%04x to "
                        "0x%04x",
                        ends, n, path->p_key, rs_path_changes_of(path)->other_p_key),
        g_strdup("A queue pair has one partition for as long as it is "
                 "connected."));
    for (guint i = 0; i < pair->streams->len; i++) {
        guint32 id = g_array_index(pair->streams, guint32, i);
        g_array_append_val(f->streams, id);
        rs_finding_add_frame(f, path_of(all, id)->first_frame);
        rs_finding_add_frame(f,
                             rs_path_changes_of(path_of(all, id))->other_p_key_frame);
        f->weight += roce_tracker_stream(all->analysis->tracker, id)->packets;
    }
    rs_finding_add_filter(f, rs_finding_stream_filter(all, f));
    f->more_frames = TRUE;
}

void
rs_find_p_key(rs_findings *all, const rs_finding_row *row)
{
    g_autoptr(GPtrArray) between = rs_pairs_of(all, RS_PAIRS_ONCE, differs_in_p_key);
    for (guint i = 0; i < between->len; i++) {
        find_p_keys_between(all, row, g_ptr_array_index(between, i));
    }
    g_autoptr(GPtrArray) within = rs_pairs_of(all, RS_PAIRS_ONCE, changes_p_key);
    for (guint i = 0; i < within->len; i++) {
        find_p_keys_within(all, row, g_ptr_array_index(within, i));
    }
}

/* ---- rails ---- */

void
rs_find_cross_rail(rs_findings *all, const rs_finding_row *row)
{
    g_autoptr(rs_rails) rails = rs_rails_new(all->analysis, all->summary);
    if (rails->crossings->len == 0) {
        return;
    }
    const rs_rail_crossing *most = g_ptr_array_index(rails->crossings, 0);
    g_autofree char *share =
        rs_format_share(rails->across_bytes, rails->across_bytes + rails->within_bytes);
    g_autofree char *across = rs_format_bytes(rails->across_bytes);
    g_autofree char *bytes = rs_format_bytes(most->bytes);
    rs_finding *f = rs_finding_add(all, row, RS_SEVERITY_NOTE);
    f->weight = rails->across_bytes;
    rs_finding_say(f,
                   g_strdup_printf("%s of the traffic between hosts crosses rails (%s)",
                                   share, across),
                   g_strdup_printf("Between %u pairs of ports; most from %s to %s: %s.",
                                   rails->crossings->len, most->src->label,
                                   most->dst->label, bytes));
    for (guint i = 0; i < rails->crossings->len; i++) {
        const rs_rail_crossing *crossing = g_ptr_array_index(rails->crossings, i);
        g_array_append_vals(f->streams, crossing->streams->data,
                            crossing->streams->len);
    }
}
