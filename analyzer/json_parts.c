/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "json_parts.h"

#include "json_paths.h"
#include "json_priorities.h"

#include "format.h"
#include "json_congestion.h"
#include "twins.h"

#include "roce/aeth.h"
#include "roce/psn.h"

#define MAX_SIBLINGS 64

#define NO_LINK G_MAXUINT32

json_t *
rs_json_count(guint64 n)
{
    return json_integer(n > G_MAXINT64 ? G_MAXINT64 : (json_int_t)n);
}

json_t *
rs_json_known(guint64 n, gboolean known)
{
    return known ? rs_json_count(n) : json_null();
}

json_t *
rs_json_time(const rs_analysis *analysis, guint64 ns)
{
    return rs_json_known(ns, rs_analysis_has_stamps(analysis));
}

json_t *
rs_json_priorities_set(guint8 priorities)
{
    json_t *json = json_array();
    for (guint i = 0; i < 8; i++) {
        if ((priorities & 1u << i) != 0) {
            json_array_append_new(json, json_integer((json_int_t)i));
        }
    }
    return json;
}

json_t *
rs_json_text(const char *text)
{
    if (text == NULL) {
        return json_null();
    }
    g_autofree char *valid = g_utf8_make_valid(text, -1);
    return json_string(valid);
}

json_t *
rs_json_host(const rs_host *host)
{
    if (host == NULL) {
        return json_null();
    }
    json_t *json = json_object();
    json_object_set_new(json, "name", rs_json_text(host->name));
    json_object_set_new(json, "rail", rs_json_text(host->rail));
    json_object_set_new(json, "port", rs_json_text(host->port));
    return json;
}

static json_t *
named_counts(const guint64 *counts, guint n, const char *const *names)
{
    json_t *json = json_object();
    for (guint i = 0; i < n; i++) {
        json_object_set_new(json, names[i], rs_json_count(counts[i]));
    }
    return json;
}

static json_t *
losses_json(const guint64 losses[ROCE_N_VERDICTS])
{
    const char *names[ROCE_N_VERDICTS];
    for (guint i = 0; i < ROCE_N_VERDICTS; i++) {
        names[i] = roce_verdict_name((roce_verdict)i);
    }
    return named_counts(losses, ROCE_N_VERDICTS, names);
}

static json_t *
naks_json(const guint64 naks[ROCE_N_NAKS])
{
    static const char *const names[ROCE_N_NAKS] = {
        [ROCE_NAKS_PSN_SEQUENCE] = "psn_sequence",
        [ROCE_NAKS_INVALID_REQUEST] = "invalid_request",
        [ROCE_NAKS_REMOTE_ACCESS] = "remote_access",
        [ROCE_NAKS_REMOTE_OPERATIONAL] = "remote_operational",
        [ROCE_NAKS_RNR] = "rnr",
    };
    return named_counts(naks, ROCE_N_NAKS, names);
}

static json_t *
space_json(const rs_space_counters *c, roce_space space)
{
    json_t *json = json_object();
    json_object_set_new(json, "packets", rs_json_count(c->packets));
    json_object_set_new(json, "unique_psns", rs_json_count(c->unique_psns));
    json_object_set_new(json, "gaps", rs_json_count(c->gaps));
    json_object_set_new(json, "missing_psns", rs_json_count(c->missing_psns));
    json_object_set_new(json, "reordered", rs_json_count(c->reordered));
    json_object_set_new(json, "duplicates", rs_json_count(c->duplicates));
    if (space == ROCE_SPACE_REQUESTS) {
        json_object_set_new(json, "capture_repeats", rs_json_count(c->capture_repeats));
    } else {
        json_object_set_new(json, "resent", rs_json_count(c->resent));
    }
    return json;
}

static json_t *
retransmissions_json(const roce_retransmission_counters *r)
{
    const char *names[ROCE_N_CAUSES];
    for (guint i = 0; i < ROCE_N_CAUSES; i++) {
        names[i] = roce_cause_name((roce_cause)i);
    }
    json_t *json = json_object();
    json_object_set_new(json, "packets", rs_json_count(r->packets));
    json_object_set_new(json, "bytes", rs_json_count(r->bytes));
    json_object_set_new(json, "requested_bytes", rs_json_count(r->requested_bytes));
    json_object_set_new(json, "rounds", rs_json_count(r->rounds));
    json_object_set_new(json, "spurious_rounds", rs_json_count(r->spurious_rounds));
    json_object_set_new(json, "by_cause",
                        named_counts(r->by_cause, ROCE_N_CAUSES, names));
    return json;
}

static const char *const codepoints[4] = {"not_ect", "ect1", "ect0", "ce"};

static json_t *
ecn_json(const rs_ecn_counters *ecn)
{
    json_t *json = named_counts(ecn->codepoint, 4, codepoints);
    json_object_set_new(json, "transitions", rs_json_count(ecn->transitions));
    json_object_set_new(json, "ce_episodes", rs_json_count(ecn->ce_episodes));
    return json;
}

static json_t *
icrc_json(const rs_icrc_counters *icrc)
{
    json_t *json = json_object();
    json_object_set_new(json, "checked", rs_json_count(icrc->checked));
    json_object_set_new(json, "bad", rs_json_count(icrc->bad));
    json_object_set_new(json, "unchecked_truncated",
                        rs_json_count(icrc->unchecked_truncated));
    json_object_set_new(json, "cnp_bad", rs_json_count(icrc->cnp_bad));
    json_object_set_new(json, "flush_bad", rs_json_count(icrc->flush_bad));
    return json;
}

/* Adds the members that streams and totals have in common. */
static void
set_counters(json_t *json, const rs_counters *c)
{
    gboolean paired = c->paired_streams > 0 || c->streams == 0;
    json_object_set_new(json, "packets", rs_json_count(c->packets));
    json_object_set_new(json, "wire_bytes", rs_json_count(c->wire_bytes));
    json_object_set_new(json, "payload_bytes", rs_json_count(c->payload_bytes));
    json_object_set_new(
        json, "requests",
        space_json(&c->space[ROCE_SPACE_REQUESTS], ROCE_SPACE_REQUESTS));
    json_object_set_new(
        json, "responses",
        space_json(&c->space[ROCE_SPACE_RESPONSES], ROCE_SPACE_RESPONSES));
    json_object_set_new(json, "retransmissions",
                        retransmissions_json(&c->retransmissions));
    json_t *losses = json_object();
    json_object_set_new(losses, "requests",
                        losses_json(c->losses[ROCE_SPACE_REQUESTS]));
    json_object_set_new(losses, "responses",
                        losses_json(c->losses[ROCE_SPACE_RESPONSES]));
    json_object_set_new(json, "losses", losses);
    json_object_set_new(json, "naks", paired ? naks_json(c->naks) : json_null());
    json_object_set_new(json, "naks_sent", naks_json(c->naks_sent));
    json_object_set_new(json, "cnps_received", rs_json_known(c->cnps_received, paired));
    json_object_set_new(json, "cnps_sent", rs_json_count(c->cnps_sent));
    json_object_set_new(json, "rnr_waits_kept",
                        rs_json_known(c->rnr_waits_kept, paired));
    json_object_set_new(json, "rnr_waits_broken",
                        rs_json_known(c->rnr_waits_broken, paired));
    json_object_set_new(json, "ecn", ecn_json(&c->ecn));
    json_object_set_new(json, "ecn_control",
                        named_counts(c->ecn_control, 4, codepoints));
    json_object_set_new(json, "icrc", icrc_json(&c->icrc));
    json_object_set_new(json, "ip_checksum_bad", rs_json_count(c->ip_checksum_bad));
    json_object_set_new(json, "psn_bad", rs_json_count(c->psn_bad));
    json_t *messages = json_object();
    json_object_set_new(messages, "completed", rs_json_count(c->messages));
    json_object_set_new(messages, "bytes", rs_json_count(c->message_bytes));
    json_object_set_new(json, "messages", messages);
}

json_t *
rs_json_dist(const roce_histogram *h, guint64 resolution_ns)
{
    if (h == NULL || h->count == 0 || resolution_ns >= RS_NO_STAMPS_NS) {
        return json_null();
    }
    const struct {
        const char *name;
        guint64 ns;
    } values[] = {
        {"min", h->min_ns},
        {"p50", roce_histogram_quantile_of_stamps(h, 500, resolution_ns)},
        {"p90", roce_histogram_quantile_of_stamps(h, 900, resolution_ns)},
        {"p99", roce_histogram_quantile_of_stamps(h, 990, resolution_ns)},
        {"max", h->max_ns},
        {"mean", roce_histogram_mean(h)},
        {"stddev", roce_histogram_stddev(h)},
    };
    guint64 step_ns = MAX(resolution_ns, 1);
    json_t *json = json_object();
    json_object_set_new(json, "count", rs_json_count(h->count));
    for (guint i = 0; i < G_N_ELEMENTS(values); i++) {
        json_object_set_new(json, values[i].name,
                            rs_json_count(values[i].ns / step_ns * step_ns));
    }
    return json;
}

json_t *
rs_json_spread(const rs_dist *spread)
{
    const struct {
        const char *name;
        guint64 n;
    } values[] = {
        {"count", spread->count}, {"min", spread->min},       {"p50", spread->p50},
        {"p90", spread->p90},     {"p99", spread->p99},       {"max", spread->max},
        {"mean", spread->mean},   {"stddev", spread->stddev},
    };
    if (spread->count == 0) {
        return json_null();
    }
    json_t *json = json_object();
    for (guint i = 0; i < G_N_ELEMENTS(values); i++) {
        json_object_set_new(json, values[i].name, rs_json_count(values[i].n));
    }
    return json;
}

json_t *
rs_json_totals(const rs_analysis *analysis, const rs_summary *summary)
{
    json_t *json = json_object();
    set_counters(json, &summary->totals);
    for (guint i = 0; i < ROCE_N_LATENCIES; i++) {
        json_object_set_new(
            json, roce_latency_name((roce_latency)i),
            rs_json_dist(&summary->latencies[i], analysis->resolution_ns));
    }
    return json;
}

static json_t *
opcodes_json(const roce_stream *s)
{
    json_t *json = json_object();
    for (guint opcode = 0; opcode < 256; opcode++) {
        guint64 n = roce_stream_opcode_packets(s, (guint8)opcode);
        if (n == 0) {
            continue;
        }
        const char *name = roce_opcode_name((guint8)opcode, s->transport);
        if (roce_opcode_get((guint8)opcode)->role == ROCE_ROLE_UNKNOWN) {
            g_autofree char *numbered = g_strdup_printf("%s 0x%02x", name, opcode);
            json_object_set_new(json, numbered, rs_json_count(n));
        } else {
            json_object_set_new(json, name, rs_json_count(n));
        }
    }
    return json;
}

/* The first of them: streams at very many points would list each other. */
static json_t *
siblings_json(const rs_summary *summary, guint32 id)
{
    json_t *json = json_array();
    guint32 standing = rs_summary_group(summary, id);
    const GArray *members = rs_summary_members(summary, standing);
    for (guint i = 0;
         members != NULL && i < members->len && json_array_size(json) < MAX_SIBLINGS;
         i++) {
        guint32 other = g_array_index(members, guint32, i);
        if (other != id) {
            json_array_append_new(json, rs_json_count(other));
        }
    }
    return json;
}

static json_t *
dscps_json(const roce_stream *s)
{
    json_t *json = json_array();
    for (guint i = 0; i < 64; i++) {
        if ((s->dscps & (guint64)1 << i) != 0) {
            json_array_append_new(json, json_integer((json_int_t)i));
        }
    }
    return json;
}

static json_t *
numbers_json(const guint16 *numbers, guint n)
{
    json_t *json = json_array();
    for (guint i = 0; i < n; i++) {
        json_array_append_new(json, json_integer(numbers[i]));
    }
    return json;
}

json_t *
rs_json_tenant(const roce_tenant *tenant)
{
    if (tenant->kind == ROCE_TENANT_NONE) {
        return json_null();
    }
    json_t *json = json_object();
    json_object_set_new(json, "kind", json_string(roce_tenant_kind_name(tenant->kind)));
    json_object_set_new(json, "id", rs_json_count(tenant->id));
    return json;
}

static void
set_identity(json_t *json, const rs_analysis *analysis, const rs_summary *summary,
             const roce_stream *s)
{
    const rs_hosts *hosts = analysis->told->hosts;
    g_autofree char *src = rs_format_addr(&s->src);
    g_autofree char *dst = rs_format_addr(&s->dst);
    guint32 link = g_array_index(summary->link_of, guint32, s->id);
    json_object_set_new(json, "id", rs_json_count(s->id));
    json_object_set_new(json, "point", rs_json_count(s->point));
    json_object_set_new(json, "same_stream_at", siblings_json(summary, s->id));
    json_object_set_new(json, "same_as",
                        rs_json_count(rs_summary_group(summary, s->id)));
    json_object_set_new(json, "tenant", rs_json_tenant(&s->tenant));
    json_object_set_new(json, "src", json_string(src));
    json_object_set_new(json, "dst", json_string(dst));
    json_object_set_new(json, "src_host", rs_json_host(rs_hosts_find(hosts, &s->src)));
    json_object_set_new(json, "dst_host", rs_json_host(rs_hosts_find(hosts, &s->dst)));
    json_object_set_new(json, "dst_qpn", rs_json_count(s->dst_qpn));
    json_object_set_new(json, "src_qpn", rs_json_known(s->src_qpn, s->has_src_qpn));
    json_object_set_new(json, "transport",
                        json_string(roce_transport_name(s->transport)));
    json_object_set_new(json, "connection", rs_json_known(link, link != NO_LINK));
    json_object_set_new(json, "vantage", json_string(roce_vantage_name(s->vantage)));
    json_object_set_new(json, "recovery_model",
                        json_string(roce_recovery_name(s->recovery)));
    json_object_set_new(json, "partial_path", json_boolean(s->partial_path));
    json_object_set_new(json, "udp_src_ports",
                        numbers_json(s->udp_src_port, s->n_udp_src_ports));
    json_object_set_new(json, "vlans", numbers_json(s->vlan, s->n_vlans));
    json_object_set_new(json, "dscps", dscps_json(s));
    json_object_set_new(json, "ecn_source",
                        json_string(roce_ecn_source_name(s->ecn_source)));
    json_object_set_new(json, "pmtu", rs_json_known(s->pmtu_bytes, s->pmtu_bytes != 0));
    json_object_set_new(json, "first_ts_ns", rs_json_time(analysis, s->first_time_ns));
    json_object_set_new(json, "last_ts_ns", rs_json_time(analysis, s->last_time_ns));
    json_object_set_new(json, "opcodes", opcodes_json(s));
}

json_t *
rs_json_stream(const rs_analysis *analysis, const rs_summary *summary, guint32 id)
{
    const roce_stream *s = roce_tracker_stream(analysis->tracker, id);
    json_t *json = json_object();
    set_identity(json, analysis, summary, s);
    rs_counters counters;
    rs_counters_of_stream(&counters, s);
    set_counters(json, &counters);
    for (guint i = 0; i < ROCE_N_LATENCIES; i++) {
        json_object_set_new(json, roce_latency_name((roce_latency)i),
                            rs_json_dist(roce_stream_latency(s, (roce_latency)i),
                                         analysis->resolution_ns));
    }
    rs_json_set_stream_priorities(json, analysis, id);
    rs_json_set_stream_path(json, analysis, id);
    guint32 standing = rs_summary_group(summary, id);
    const GArray *members = rs_summary_members(summary, standing);
    gboolean twins = analysis->twins != NULL && rs_twins_complete(analysis->twins) &&
                     members != NULL && members->len > 1;
    json_object_set_new(
        json, "only_here_packets",
        rs_json_known(twins ? rs_twins_only_here(analysis->twins, id) : 0, twins));
    json_object_set_new(json, "congestion",
                        rs_json_congestion_of_stream(analysis, summary, id));
    return json;
}

json_t *
rs_json_streams_omitted(const rs_analysis *analysis, const rs_summary *summary)
{
    guint n = summary->worst_first->len;
    return rs_json_count(n - MIN(n, analysis->options->max_streams));
}

json_t *
rs_json_event(const rs_analysis *analysis, const roce_event *e)
{
    gboolean has_psn = e->psn != ROCE_NO_PSN;
    const char *detail = roce_event_detail_name(e);
    json_t *json = json_object();
    json_object_set_new(json, "kind", json_string(roce_event_kind_name(e->kind)));
    json_object_set_new(json, "time_ns", rs_json_time(analysis, e->time_ns));
    json_object_set_new(json, "frame", rs_json_known(e->frame, e->frame != 0));
    json_object_set_new(json, "point", rs_json_count(e->point));
    json_object_set_new(json, "stream",
                        rs_json_known(e->stream, e->stream != ROCE_NO_STREAM));
    json_object_set_new(
        json, "space",
        json_string(e->space == ROCE_SPACE_REQUESTS ? "requests" : "responses"));
    json_object_set_new(json, "psn",
                        rs_json_known(has_psn ? roce_psn_wrap(e->psn) : 0, has_psn));
    json_object_set_new(json, "count", rs_json_count(e->count));
    json_object_set_new(json, "detail",
                        detail != NULL ? json_string(detail) : json_integer(e->detail));
    json_object_set_new(json, "evidence",
                        e->evidence != ROCE_EVIDENCE_NONE
                            ? json_string(roce_evidence_name(e->evidence))
                            : json_null());
    json_object_set_new(json, "related_frame",
                        rs_json_known(e->related_frame, e->related_frame != 0));
    json_object_set_new(json, "duration_ns", rs_json_time(analysis, e->duration_ns));
    return json;
}

json_t *
rs_json_event_totals(const rs_analysis *analysis)
{
    json_t *json = json_object();
    for (guint kind = 0; kind < ROCE_N_EVENTS; kind++) {
        json_object_set_new(json, roce_event_kind_name((roce_event_kind)kind),
                            rs_json_count(analysis->event_totals[kind]));
    }
    return json;
}
