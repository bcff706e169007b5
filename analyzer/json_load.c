/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "json_load.h"

#include "elephants.h"
#include "format.h"
#include "json_parts.h"

#define MAX_RECEIVERS 256 /* listed, of incast and of bursts */
#define MAX_STREAMS 1000  /* listed, with what held them up */

static json_t *
address_json(const roce_addr *addr)
{
    g_autofree char *text = rs_format_addr(addr);
    return json_string(text);
}

/* Where a destination is, as the first keys of an object. */
static json_t *
destination_json(const rs_analysis *a, const rs_destination *at)
{
    json_t *json = json_object();
    json_object_set_new(json, "point", rs_json_count(at->point));
    json_object_set_new(json, "tenant", rs_json_tenant(&at->host.tenant));
    json_object_set_new(json, "receiver", address_json(&at->host.addr));
    json_object_set_new(json, "receiver_host",
                        rs_json_host(rs_hosts_find(a->told->hosts, &at->host.addr)));
    return json;
}

static json_t *
frame_json(guint64 frame)
{
    return rs_json_known(frame, frame != 0);
}

/* ---- incast ---- */

static json_t *
degrees_json(const rs_incast_receiver *r)
{
    json_t *degrees = json_array();
    for (guint degree = 1; degree <= r->max_degree; degree++) {
        json_t *one = json_object();
        json_object_set_new(one, "degree", json_integer(degree));
        json_object_set_new(
            one, "ns", rs_json_count(g_array_index(r->degree_ns, guint64, degree)));
        json_array_append_new(degrees, one);
    }
    return degrees;
}

static json_t *
episode_json(const rs_incast_episode *e, gboolean pauses_known)
{
    json_t *senders = json_array();
    for (guint i = 0; i < MIN(e->n_senders, RS_INCAST_EPISODE_SENDERS); i++) {
        json_array_append_new(senders, address_json(&e->senders[i]));
    }
    json_t *json = json_object();
    json_object_set_new(json, "start_ns", rs_json_count(e->start_ns));
    json_object_set_new(json, "end_ns", rs_json_count(e->end_ns));
    json_object_set_new(json, "frame", rs_json_count(e->frame));
    json_object_set_new(json, "degree", rs_json_count(e->degree));
    json_object_set_new(json, "n_senders", rs_json_count(e->n_senders));
    json_object_set_new(json, "senders", senders);
    json_object_set_new(json, "data_packets", rs_json_count(e->data_packets));
    json_object_set_new(json, "ce", rs_json_count(e->ce));
    json_object_set_new(json, "cnps", rs_json_count(e->cnps));
    json_object_set_new(json, "pauses", rs_json_known(e->pauses, pauses_known));
    return json;
}

static json_t *
sign_json(const rs_incast_receiver *r, rs_incast_sign sign)
{
    const rs_incast_share *s = &r->signs[sign];
    gboolean known = sign != RS_INCAST_PAUSE || r->pauses_known;
    const char *word = rs_coincidence_name(rs_incast_judge(r, sign));
    json_t *json = json_object();
    json_object_set_new(json, "inside", rs_json_known(s->inside, known));
    json_object_set_new(json, "outside", rs_json_known(s->outside, known));
    json_object_set_new(json, "of_inside", rs_json_count(s->of_inside));
    json_object_set_new(json, "of_outside", rs_json_count(s->of_outside));
    json_object_set_new(json, "coincides", json_string(word));
    return json;
}

static json_t *
incast_receiver_json(const rs_analysis *a, const rs_incast_receiver *r)
{
    json_t *episodes = json_array();
    for (guint i = 0; i < r->episodes->len; i++) {
        const rs_incast_episode *e = &g_array_index(r->episodes, rs_incast_episode, i);
        json_array_append_new(episodes, episode_json(e, r->pauses_known));
    }
    json_t *signs = json_object();
    for (guint sign = 0; sign < RS_INCAST_N_SIGNS && r->n_episodes > 0; sign++) {
        json_object_set_new(signs, rs_incast_sign_name((rs_incast_sign)sign),
                            sign_json(r, (rs_incast_sign)sign));
    }
    json_t *json = destination_json(a, &r->at);
    json_object_set_new(json, "senders", rs_json_count(r->n_senders));
    json_object_set_new(json, "senders_met", rs_json_count(r->n_met));
    json_object_set_new(json, "senders_marked", rs_json_count(r->n_marked));
    json_object_set_new(json, "max_degree", rs_json_count(r->max_degree));
    json_object_set_new(json, "max_degree_ts_ns", rs_json_count(r->max_degree_ns));
    json_object_set_new(json, "degrees", degrees_json(r));
    json_object_set_new(json, "n_episodes", rs_json_count(r->n_episodes));
    json_object_set_new(json, "episodes_ns", rs_json_count(r->inside_ns));
    json_object_set_new(json, "episodes", episodes);
    json_object_set_new(json, "congestion", signs);
    return json;
}

/* The most senders at once first; receivers that ever had two of them. */
static gint
by_degree(gconstpointer a, gconstpointer b)
{
    const rs_incast_receiver *x = *(rs_incast_receiver *const *)a;
    const rs_incast_receiver *y = *(rs_incast_receiver *const *)b;
    if (x->max_degree != y->max_degree) {
        return x->max_degree > y->max_degree ? -1 : 1;
    }
    if (x->inside_ns != y->inside_ns) {
        return x->inside_ns > y->inside_ns ? -1 : 1;
    }
    if (x->at.point != y->at.point) {
        return x->at.point < y->at.point ? -1 : 1;
    }
    return roce_addr_compare(&x->at.host.addr, &y->at.host.addr);
}

json_t *
rs_json_incast(const rs_analysis *a)
{
    const rs_incast *incast = a->watchers.incast;
    if (!rs_incast_known(incast)) {
        return json_null();
    }
    g_autoptr(GPtrArray) met = g_ptr_array_new();
    for (guint i = 0; i < rs_incast_n_receivers(incast); i++) {
        const rs_incast_receiver *r = rs_incast_receiver_at(incast, i);
        if (r->max_degree > 1) {
            g_ptr_array_add(met, (gpointer)(guintptr)r);
        }
    }
    g_ptr_array_sort(met, by_degree);
    guint n = MIN(met->len, MAX_RECEIVERS);
    json_t *receivers = json_array();
    for (guint i = 0; i < n; i++) {
        json_array_append_new(receivers,
                              incast_receiver_json(a, g_ptr_array_index(met, i)));
    }
    json_t *json = json_object();
    json_object_set_new(json, "window_ns", json_integer(RS_INCAST_WINDOW_NS));
    json_object_set_new(json, "least_senders", json_integer(RS_INCAST_SENDERS));
    json_object_set_new(json, "receivers", receivers);
    json_object_set_new(json, "receivers_omitted", rs_json_count(met->len - n));
    json_object_set_new(json, "not_counted", rs_json_count(rs_incast_omitted(incast)));
    return json;
}

/* ---- receivers ---- */

static json_t *
evidence_json(const rs_analysis *a, const rs_receiver_evidence *e)
{
    gboolean timed = e->ack_samples > 0 && rs_analysis_has_stamps(a);
    json_t *json = json_object();
    json_object_set_new(json, "rnr_naks", rs_json_count(e->rnr_naks));
    json_object_set_new(json, "rnr_wait_ns", rs_json_time(a, e->rnr_wait_ns));
    json_object_set_new(json, "acks_with_credits", rs_json_count(e->acks_with_credits));
    json_object_set_new(json, "credits_out", rs_json_count(e->credits_out));
    json_object_set_new(json, "credit_waits", rs_json_count(e->credit_waits));
    json_object_set_new(json, "credit_wait_ns", rs_json_time(a, e->credit_wait_ns));
    json_object_set_new(json, "host_pauses", rs_json_count(e->host_pauses));
    json_object_set_new(json, "host_pause_ns",
                        rs_json_known(e->host_pause_ns, e->host_pause_known &&
                                                            rs_analysis_has_stamps(a)));
    json_object_set_new(json, "acks_timed", rs_json_count(e->ack_samples));
    json_object_set_new(json, "fastest_ack_ns",
                        rs_json_known(e->fastest_ack_ns, timed));
    json_object_set_new(json, "slow_acks", rs_json_known(e->slow_acks, timed));
    json_object_set_new(json, "slow_acks_marked",
                        rs_json_known(e->slow_acks_marked, timed));
    json_object_set_new(json, "at_receiver", json_boolean(e->at_receiver));
    json_object_set_new(json, "ce", rs_json_count(e->ce));
    json_object_set_new(json, "cnps", rs_json_count(e->cnps));
    json_object_set_new(json, "lost", rs_json_count(e->lost));
    return json;
}

json_t *
rs_json_receivers(const rs_analysis *a, const rs_summary *summary)
{
    json_t *streams = json_array();
    guint64 omitted = 0;
    for (guint i = 0; i < summary->worst_first->len; i++) {
        guint32 id = g_array_index(summary->worst_first, guint32, i);
        rs_receiver_evidence e;
        if (!rs_receivers_get(a->watchers.receivers, id, &e) ||
            e.culprit == RS_CULPRIT_NONE) {
            continue;
        }
        if (json_array_size(streams) == MAX_STREAMS) {
            omitted++;
            continue;
        }
        json_t *json = json_object();
        json_object_set_new(json, "stream", rs_json_count(id));
        json_object_set_new(json, "slow", json_string(rs_culprit_name(e.culprit)));
        json_object_set_new(json, "held_ns", rs_json_time(a, rs_receiver_held_ns(&e)));
        json_object_set_new(json, "evidence", evidence_json(a, &e));
        json_array_append_new(streams, json);
    }
    json_t *json = json_object();
    json_object_set_new(json, "streams", streams);
    json_object_set_new(json, "streams_omitted", rs_json_count(omitted));
    json_object_set_new(json, "not_counted",
                        rs_json_count(rs_receivers_omitted(a->watchers.receivers)));
    return json;
}

/* ---- elephants ---- */

json_t *
rs_json_elephants(const rs_analysis *a, const rs_summary *summary)
{
    rs_elephants elephants;
    rs_elephants_find(&elephants, a, summary);
    json_t *top = json_object();
    for (guint i = 0; i < RS_N_ELEPHANTS; i++) {
        double share = (double)elephants.top[i].bytes / (double)elephants.bytes;
        json_t *one = json_object();
        json_object_set_new(one, "streams", rs_json_count(elephants.top[i].streams));
        json_object_set_new(one, "bytes", rs_json_count(elephants.top[i].bytes));
        json_object_set_new(one, "share",
                            elephants.bytes > 0 ? json_real(share) : json_null());
        json_object_set_new(top, rs_elephant_top_name((rs_elephant_top)i), one);
    }
    json_t *json = json_object();
    json_object_set_new(json, "streams", rs_json_count(elephants.streams));
    json_object_set_new(json, "bytes", rs_json_count(elephants.bytes));
    json_object_set_new(json, "top", top);
    return json;
}

/* ---- bursts ---- */

static json_t *
burst_json(const rs_burst *b)
{
    json_t *json = json_object();
    json_object_set_new(json, "start_ns", rs_json_count(b->start_ns));
    json_object_set_new(json, "end_ns", rs_json_count(b->end_ns));
    json_object_set_new(json, "bytes", rs_json_count(b->bytes));
    json_object_set_new(json, "peak_bps", rs_json_count(rs_burst_bps(b->peak_bytes)));
    json_object_set_new(json, "frame", frame_json(b->frame));
    return json;
}

static json_t *
target_json(const rs_analysis *a, const rs_burst_target *t)
{
    json_t *longest = json_array();
    for (guint i = 0; i < t->longest->len; i++) {
        json_array_append_new(longest,
                              burst_json(&g_array_index(t->longest, rs_burst, i)));
    }
    gboolean rated = t->rate_bps != 0;
    json_t *json = destination_json(a, &t->at);
    json_object_set_new(json, "rate_bps", rs_json_known(t->rate_bps, rated));
    json_object_set_new(json, "rate_source",
                        json_string(t->rate_told ? "user"
                                    : rated      ? "link_speed"
                                                 : "unknown"));
    json_object_set_new(json, "bytes", rs_json_count(t->bytes));
    json_object_set_new(json, "peak_bps", rs_json_count(rs_burst_bps(t->peak_bytes)));
    json_object_set_new(json, "peak_ts_ns", rs_json_count(t->peak_ns));
    json_object_set_new(json, "n_bursts", rs_json_known(t->n_bursts, rated));
    json_object_set_new(json, "burst_bytes", rs_json_known(t->burst_bytes, rated));
    json_object_set_new(json, "longest_ns", rs_json_known(t->longest_ns, rated));
    json_object_set_new(json, "bursts", longest);
    return json;
}

static gint
by_burst_bytes(gconstpointer a, gconstpointer b)
{
    const rs_burst_target *x = *(rs_burst_target *const *)a;
    const rs_burst_target *y = *(rs_burst_target *const *)b;
    if (x->burst_bytes != y->burst_bytes) {
        return x->burst_bytes > y->burst_bytes ? -1 : 1;
    }
    if (x->peak_bytes != y->peak_bytes) {
        return x->peak_bytes > y->peak_bytes ? -1 : 1;
    }
    if (x->at.point != y->at.point) {
        return x->at.point < y->at.point ? -1 : 1;
    }
    return roce_addr_compare(&x->at.host.addr, &y->at.host.addr);
}

json_t *
rs_json_bursts(const rs_analysis *a)
{
    const rs_bursts *bursts = a->watchers.bursts;
    if (!rs_bursts_known(bursts)) {
        return json_null();
    }
    g_autoptr(GPtrArray) targets = g_ptr_array_new();
    for (guint i = 0; i < rs_bursts_n_targets(bursts); i++) {
        g_ptr_array_add(targets, (gpointer)(guintptr)rs_bursts_target_at(bursts, i));
    }
    g_ptr_array_sort(targets, by_burst_bytes);
    guint n = MIN(targets->len, MAX_RECEIVERS);
    json_t *list = json_array();
    for (guint i = 0; i < n; i++) {
        json_array_append_new(list, target_json(a, g_ptr_array_index(targets, i)));
    }
    json_t *json = json_object();
    json_object_set_new(json, "window_ns", json_integer(RS_BURST_WINDOW_NS));
    json_object_set_new(json, "receivers", list);
    json_object_set_new(json, "receivers_omitted", rs_json_count(targets->len - n));
    json_object_set_new(json, "not_counted", rs_json_count(rs_bursts_omitted(bursts)));
    return json;
}
