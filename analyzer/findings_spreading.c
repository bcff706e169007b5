/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Findings about how load spreads over paths, and over the queue pairs of two hosts. */
#include "findings_parts.h"
#include "format.h"
#include "spreading.h"
#include "thresholds.h"

/* A finding about a pair of addresses and its streams, with their first packets. */
static rs_finding *
add_about_pair(rs_findings *all, const rs_finding_row *row, rs_severity severity,
               const rs_address_pair *pair, const guint32 *streams, guint n)
{
    g_autofree char *about = rs_format_ends(&pair->src, &pair->dst);
    rs_finding *f = rs_finding_add(all, row, severity);
    rs_finding_about(f, about);
    rs_finding_in(f, &pair->tenant);
    f->weight = n;
    g_array_append_vals(f->streams, streams, n);
    return f;
}

static void
add_first_frames(const rs_findings *all, rs_finding *f)
{
    for (guint i = 0; i < f->streams->len; i++) {
        guint32 id = g_array_index(f->streams, guint32, i);
        const roce_stream *s = roce_tracker_stream(all->analysis->tracker, id);
        rs_finding_add_frame(f, s->first_frame);
        f->more_frames |= s->packets > 1;
    }
}

/* Spreading matters where there is congestion: else it is worth a note. */
static rs_severity
severity_of(const rs_findings *all, const rs_address_pair *pair)
{
    return rs_findings_is_congested(all, &pair->tenant, &pair->src, &pair->dst)
               ? RS_SEVERITY_WARNING
               : RS_SEVERITY_NOTE;
}

static gboolean
has_low_entropy(const rs_address_pair *pair)
{
    return pair->n_streams >= RS_LOW_ENTROPY_QUEUE_PAIRS &&
           pair->entropy_bits * 100 < pair->possible_bits * RS_LOW_ENTROPY_PERCENT;
}

static void
report_low_entropy(rs_findings *all, const rs_finding_row *row,
                   const rs_address_pair *pair)
{
    g_autofree char *who = rs_findings_ends(all, &pair->tenant, &pair->src, &pair->dst);
    rs_finding *f = add_about_pair(all, row, severity_of(all, pair), pair,
                                   pair->streams, pair->n_streams);
    rs_finding_say(
        f,
        g_strdup_printf("%u queue pairs from %s have %u UDP source %s", f->streams->len,
                        who, pair->ports, pair->ports == 1 ? "port" : "ports"),
        g_strdup_printf("Their source ports have %.1f bits of entropy; %.1f are "
                        "possible for so many.  To a switch that hashes addresses and "
                        "ports they are %u %s.",
                        pair->entropy_bits, pair->possible_bits, pair->ports,
                        pair->ports == 1 ? "flow, on one path" : "flows"));
    add_first_frames(all, f);
}

/* Streams of a pair that have one source port, and share it with another such stream; and how
 * many ports that are.  One with several ports takes several ways, whatever it shares. */
static GArray *
tied_streams(const rs_analysis *a, const rs_address_pair *pair, guint *ports)
{
    GArray *streams = g_array_new(FALSE, FALSE, sizeof(guint32));
    *ports = 0;
    for (guint i = 0; i < rs_address_pair_n_shared(pair); i++) {
        const rs_shared_port *shared = g_ptr_array_index(pair->shared, i);
        guint before = streams->len;
        for (guint k = 0; k < shared->streams->len; k++) {
            guint32 id = g_array_index(shared->streams, guint32, k);
            if (rs_ports_n(a->watchers.ports, id) == 1) {
                g_array_append_val(streams, id);
            }
        }
        if (streams->len - before == 1) {
            g_array_set_size(streams, before);
        }
        *ports += streams->len > before ? 1 : 0;
    }
    return streams;
}

static void
report_shared(rs_findings *all, const rs_finding_row *row, const rs_address_pair *pair,
              const GArray *streams, guint ports)
{
    g_autofree char *who = rs_findings_ends(all, &pair->tenant, &pair->src, &pair->dst);
    rs_finding *f = add_about_pair(all, row, RS_SEVERITY_NOTE, pair,
                                   &g_array_index(streams, guint32, 0), streams->len);
    rs_finding_say(
        f,
        g_strdup_printf("%u of %u queue pairs from %s share a five-tuple with another",
                        streams->len, pair->n_streams, who),
        g_strdup_printf("%u UDP source %s more than one of them; those take one path "
                        "together where switches hash addresses and ports alone.",
                        ports, ports == 1 ? "port has" : "ports have"));
    add_first_frames(all, f);
}

static void
report_unfair(rs_findings *all, const rs_finding_row *row, const rs_address_pair *pair)
{
    const rs_siblings *s = pair->siblings;
    const roce_tracker *tracker = all->analysis->tracker;
    g_autofree char *who = rs_findings_ends(all, &pair->tenant, &pair->src, &pair->dst);
    g_autofree char *least = rs_format_bytes(s->least_bytes);
    g_autofree char *most = rs_format_bytes(s->most_bytes);
    g_autofree char *common = rs_format_duration(s->end_ns - s->start_ns, 0);
    rs_finding *f = add_about_pair(all, row, severity_of(all, pair), pair,
                                   pair->streams, pair->n_streams);
    rs_finding_say(
        f,
        g_strdup_printf("%u queue pairs from %s share unevenly", pair->n_streams, who),
        g_strdup_printf(
            "Jain's index is %.2f, where 1 is even and %.2f is one alone.  In %s that "
            "they have in common QP 0x%x got %s and QP 0x%x %s, and each of them sent "
            "in nearly all of that time.",
            s->jain, 1.0 / pair->n_streams, common,
            roce_tracker_stream(tracker, s->most)->dst_qpn, most,
            roce_tracker_stream(tracker, s->least)->dst_qpn, least));
    add_first_frames(all, f);
}

static gboolean
is_unfair(const rs_address_pair *pair)
{
    const rs_siblings *s = pair->siblings;
    return s != NULL && s->all_busy && s->jain * 100 < RS_UNFAIR_JAIN_PERCENT;
}

gboolean
rs_is_sprayed(const rs_analysis *a, guint32 stream)
{
    rs_flowlet_stream f;
    return rs_flowlets_get(a->watchers.flowlets, stream, &f) &&
           rs_flowlet_order(&f, roce_tracker_stream(a->tracker, stream)) ==
               RS_ORDER_OUT_OF_ORDER;
}

/* Streams of a pair whose receiver takes packets out of order. */
static GArray *
sprayed_streams(const rs_analysis *a, const rs_address_pair *pair)
{
    GArray *streams = g_array_new(FALSE, FALSE, sizeof(guint32));
    for (guint i = 0; i < pair->n_streams; i++) {
        guint32 id = pair->streams[i];
        if (rs_is_sprayed(a, id)) {
            g_array_append_val(streams, id);
        }
    }
    return streams;
}

static void
report_spraying(rs_findings *all, const rs_finding_row *row,
                const rs_address_pair *pair, const GArray *streams)
{
    g_autofree char *who = rs_findings_ends(all, &pair->tenant, &pair->src, &pair->dst);
    guint64 late = 0;
    guint64 latest_ns = 0;
    guint writes_only = 0;
    for (guint i = 0; i < streams->len; i++) {
        rs_flowlet_stream one;
        if (rs_flowlets_get(all->analysis->watchers.flowlets,
                            g_array_index(streams, guint32, i), &one)) {
            late += one.late;
            latest_ns = MAX(latest_ns, one.lateness_ns);
            writes_only += rs_flowlet_writes_only(&one) ? 1 : 0;
        }
    }
    g_autofree char *latest = rs_format_duration(latest_ns, 0);
    g_autofree char *packets = rs_finding_packets(late);
    g_autofree char *queue_pairs =
        rs_finding_count(streams->len, "queue pair", "queue pairs");
    g_autofree char *messages =
        writes_only == 0
            ? g_strdup("")
            : g_strdup_printf("  Messages are WRITE Only packets in %u of %s.",
                              writes_only, queue_pairs);
    rs_finding *f = add_about_pair(all, row, RS_SEVERITY_NOTE, pair,
                                   &g_array_index(streams, guint32, 0), streams->len);
    f->weight = late;
    rs_finding_say(
        f,
        g_strdup_printf("Packets from %s take several paths, and the receiver is made "
                        "for it",
                        who),
        g_strdup_printf("%s came late, by at most %s, and neither a NAK nor a "
                        "retransmission came of that.%s",
                        packets, latest, messages));
    rs_finding_add_events(all, f, KIND(LATE));
}

/* ---- what the table names ---- */

typedef void (*report_pair)(rs_findings *all, const rs_finding_row *row,
                            const rs_address_pair *pair);

static void
find_pairs(rs_findings *all, const rs_finding_row *row,
           gboolean (*applies)(const rs_address_pair *), report_pair report)
{
    const GPtrArray *pairs = all->summary->pairs;
    for (guint i = 0; i < pairs->len; i++) {
        const rs_address_pair *pair = g_ptr_array_index(pairs, i);
        if (applies(pair)) {
            report(all, row, pair);
        }
    }
}

void
rs_find_low_entropy(rs_findings *all, const rs_finding_row *row)
{
    find_pairs(all, row, has_low_entropy, report_low_entropy);
}

void
rs_find_shared_five_tuple(rs_findings *all, const rs_finding_row *row)
{
    const GPtrArray *pairs = all->summary->pairs;
    for (guint i = 0; i < pairs->len; i++) {
        const rs_address_pair *pair = g_ptr_array_index(pairs, i);
        guint ports;
        g_autoptr(GArray) streams = tied_streams(all->analysis, pair, &ports);
        if (streams->len > 0 && !has_low_entropy(pair)) {
            report_shared(all, row, pair, streams, ports);
        }
    }
}

void
rs_find_unfair_siblings(rs_findings *all, const rs_finding_row *row)
{
    find_pairs(all, row, is_unfair, report_unfair);
}

void
rs_find_spraying(rs_findings *all, const rs_finding_row *row)
{
    const GPtrArray *pairs = all->summary->pairs;
    for (guint i = 0; i < pairs->len; i++) {
        const rs_address_pair *pair = g_ptr_array_index(pairs, i);
        g_autoptr(GArray) streams = sprayed_streams(all->analysis, pair);
        if (streams->len > 0) {
            report_spraying(all, row, pair, streams);
        }
    }
}
