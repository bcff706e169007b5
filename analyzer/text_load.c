/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "text_load.h"

#include "ecmp.h"
#include "elephants.h"
#include "format.h"
#include "spreading.h"

/* Fewer flows are seen at a glance in the table of streams. */
#define LEAST_FLOWS 8

/* ---- incast ---- */

/* clang-format off */
static const rs_column incast_columns[] = {
    {"at", TRUE, 4, RS_COLUMN_UNLESS_EMPTY}, {"to", FALSE, 0, FALSE},
    {"at once", TRUE, 0, FALSE},
    {"senders", TRUE, 3, FALSE}, {"episodes", TRUE, 1, FALSE}, {"in all", TRUE, 1, FALSE},
    {"CE inside", TRUE, 2, FALSE}, {"CE outside", TRUE, 2, FALSE},
    {"congestion with it", FALSE, 0, FALSE},
};
/* clang-format on */

/* "CE, pauses"; "cannot be told"; "no". */
static char *
congestion_text(const rs_incast_receiver *receiver)
{
    static const char *const names[RS_INCAST_N_SIGNS] = {
        [RS_INCAST_CE] = "CE",
        [RS_INCAST_CNP] = "CNPs",
        [RS_INCAST_PAUSE] = "pauses",
    };
    gboolean undecidable = FALSE;
    g_autoptr(GStrvBuilder) signs = g_strv_builder_new();
    for (guint i = 0; i < RS_INCAST_N_SIGNS; i++) {
        rs_coincidence one = rs_incast_judge(receiver, (rs_incast_sign)i);
        if (!rs_incast_counts(receiver, (rs_incast_sign)i)) {
            continue;
        }
        undecidable |= one == RS_COINCIDENCE_UNDECIDABLE;
        if (one == RS_COINCIDENCE_YES) {
            g_strv_builder_add(signs, names[i]);
        }
    }
    g_auto(GStrv) list = g_strv_builder_end(signs);
    return *list != NULL ? g_strjoinv(", ", list)
                         : g_strdup(undecidable ? "cannot be told" : "no");
}

static void
add_incast(const rs_text *r, rs_table *table, const rs_incast_receiver *receiver)
{
    const rs_incast_share *ce = &receiver->signs[RS_INCAST_CE];
    rs_table_add(table, rs_text_point(r, receiver->at.point));
    rs_table_add(table,
                 rs_hosts_label(r->analysis->told->hosts, &receiver->at.host.addr));
    rs_text_add_count(table, receiver->max_degree);
    rs_text_add_count(table, receiver->n_senders);
    rs_text_add_count(table, receiver->n_episodes);
    rs_table_add(table, rs_format_duration(receiver->inside_ns, 0));
    rs_table_add(table, rs_format_share(ce->inside, ce->of_inside));
    rs_table_add(table, ce->of_outside > 0
                            ? rs_format_share(ce->outside, ce->of_outside)
                            : g_strdup("-"));
    rs_table_add(table, congestion_text(receiver));
}

static void
print_incast(const rs_text *r)
{
    const rs_incast *incast = r->analysis->watchers.incast;
    g_autoptr(rs_table) table =
        rs_table_new(incast_columns, G_N_ELEMENTS(incast_columns));
    guint n = 0;
    guint limit = rs_text_rows_shown(r, G_MAXUINT);
    for (guint i = 0; i < rs_incast_n_receivers(incast); i++) {
        const rs_incast_receiver *receiver = rs_incast_receiver_at(incast, i);
        if (receiver->n_episodes > 0 && n++ < limit) {
            add_incast(r, table, receiver);
        }
    }
    if (n > 0) {
        rs_text_heading(r, "Incast");
        rs_table_print(table, r->out, r->width);
        rs_text_say_more(r, n, MIN(n, limit));
    }
}

/* ---- slow receivers ---- */

/* clang-format off */
static const rs_column slow_columns[] = {
    {"#", TRUE, 2, FALSE}, {"from", FALSE, 0, FALSE}, {"to", FALSE, 0, FALSE},
    {"QP", FALSE, 1, FALSE}, {"slow is", FALSE, 0, FALSE}, {"held up", TRUE, 0, FALSE},
    {"RNR", TRUE, 1, TRUE}, {"credit waits", TRUE, 1, TRUE}, {"host pauses", TRUE, 1, TRUE},
    {"slow ACKs", TRUE, 1, TRUE}, {"CE", TRUE, 2, TRUE}, {"CNPs", TRUE, 3, TRUE},
    {"lost", TRUE, 2, TRUE},
};
/* clang-format on */

static void
add_slow(const rs_text *r, rs_table *table, const roce_stream *s,
         const rs_receiver_evidence *e)
{
    const rs_hosts *hosts = r->analysis->told->hosts;
    rs_text_add_count(table, s->id);
    rs_table_add(table, rs_hosts_label(hosts, &s->src));
    rs_table_add(table, rs_hosts_label(hosts, &s->dst));
    rs_table_add(table, g_strdup_printf("0x%x", s->dst_qpn));
    rs_table_add(table, g_strdup(rs_culprit_name(e->culprit)));
    rs_table_add(table, rs_format_duration(rs_receiver_held_ns(e), 0));
    rs_text_add_count(table, e->rnr_naks);
    rs_text_add_count(table, e->credit_waits);
    rs_text_add_count(table, e->host_pauses);
    rs_text_add_count(table, e->slow_acks);
    rs_text_add_count(table, e->ce);
    rs_text_add_count(table, e->cnps);
    rs_text_add_count(table, e->lost);
}

/* Streams that the network alone slows down have their own section; where it cannot be
 * told, there is nothing to say.  Of one that several points saw, the worst of them. */
static void
print_slow(const rs_text *r)
{
    g_autoptr(rs_table) table = rs_table_new(slow_columns, G_N_ELEMENTS(slow_columns));
    g_autoptr(GHashTable) told = g_hash_table_new(NULL, NULL); /* groups */
    guint n = 0;
    guint limit = rs_text_rows_shown(r, G_MAXUINT);
    for (guint i = 0; i < r->summary->worst_first->len; i++) {
        guint32 id = g_array_index(r->summary->worst_first, guint32, i);
        rs_receiver_evidence e;
        if (rs_receivers_get(r->analysis->watchers.receivers, id, &e) &&
            (e.culprit == RS_CULPRIT_RECEIVER || e.culprit == RS_CULPRIT_BOTH) &&
            g_hash_table_add(told,
                             GUINT_TO_POINTER(rs_summary_group(r->summary, id))) &&
            n++ < limit) {
            add_slow(r, table, roce_tracker_stream(r->analysis->tracker, id), &e);
        }
    }
    if (n > 0) {
        rs_text_heading(r, "Receiver or network");
        rs_table_print(table, r->out, r->width);
        rs_text_say_more(r, n, MIN(n, limit));
    }
}

/* ---- spreading ---- */

/* clang-format off */
static const rs_column pair_columns[] = {
    {"from", FALSE, 0, FALSE}, {"to", FALSE, 0, FALSE}, {"QPs", TRUE, 0, FALSE},
    {"source ports", TRUE, 0, FALSE}, {"entropy", TRUE, 1, FALSE},
    {"possible", TRUE, 1, FALSE}, {"Jain", TRUE, 0, FALSE}, {"least", TRUE, 2, FALSE},
    {"most", TRUE, 2, FALSE},
};
/* clang-format on */

/* Whether its queue pairs share anything but an address. */
static gboolean
is_worth_a_row(const rs_address_pair *pair)
{
    return pair->siblings != NULL || rs_address_pair_n_shared(pair) > 0;
}

static void
add_pair(const rs_text *r, rs_table *table, const rs_address_pair *pair)
{
    const rs_hosts *hosts = r->analysis->told->hosts;
    const rs_siblings *s = pair->siblings;
    rs_table_add(table, rs_hosts_label(hosts, &pair->src));
    rs_table_add(table, rs_hosts_label(hosts, &pair->dst));
    rs_text_add_count(table, pair->n_streams);
    rs_text_add_count(table, pair->ports);
    rs_table_add(table, g_strdup_printf("%.1f bits", pair->entropy_bits));
    rs_table_add(table, g_strdup_printf("%.1f bits", pair->possible_bits));
    rs_table_add(table, s != NULL ? g_strdup_printf("%.2f", s->jain) : g_strdup("?"));
    rs_table_add(table, s != NULL ? rs_format_bytes(s->least_bytes) : g_strdup("?"));
    rs_table_add(table, s != NULL ? rs_format_bytes(s->most_bytes) : g_strdup("?"));
}

static void
print_pairs(const rs_text *r, const GPtrArray *pairs)
{
    g_autoptr(rs_table) table = rs_table_new(pair_columns, G_N_ELEMENTS(pair_columns));
    guint n = 0;
    guint limit = rs_text_rows_shown(r, G_MAXUINT);
    for (guint i = 0; i < pairs->len; i++) {
        const rs_address_pair *pair = g_ptr_array_index(pairs, i);
        if (is_worth_a_row(pair) && n++ < limit) {
            add_pair(r, table, pair);
        }
    }
    if (n > 0) {
        rs_table_print(table, r->out, r->width);
        rs_text_say_more(r, n, MIN(n, limit));
    }
}

static void
print_elephants(const rs_text *r)
{
    rs_elephants e;
    rs_elephants_find(&e, r->analysis, r->summary);
    if (e.streams < 2) {
        return; /* there is nothing that it is larger than */
    }
    g_autofree char *n = rs_format_count(e.streams);
    g_autofree char *one = rs_format_share(e.top[RS_ELEPHANTS_1].bytes, e.bytes);
    g_autofree char *ten = rs_format_share(e.top[RS_ELEPHANTS_10].bytes, e.bytes);
    g_autofree char *text =
        e.streams > 10
            ? g_strdup_printf(
                  "Of %s streams with data the largest carries %s of it, the "
                  "ten largest %s.",
                  n, one, ten)
            : g_strdup_printf("Of %s streams with data the largest carries %s of it.",
                              n, one);
    rs_text_wrapped(r, text, 2);
}

/* What a hash is expected to make of the flows. */
static void
print_prediction(const rs_text *r, const rs_spread_flows *flows)
{
    GString *text = g_string_new(NULL);
    g_autofree char *n = rs_format_count(flows->flows);
    gboolean more = rs_ports_omitted(r->analysis->watchers.ports) > 0;
    g_string_printf(text,
                    "Predicted, of %s%s flows that a hash spreads over equal links, "
                    "share a link:",
                    n, more ? " and more" : "");
    for (guint links = 2; links <= 64; links *= 2) {
        g_string_append_printf(text, " %.1f on %u%s",
                               rs_ecmp_sharing(flows->flows, links), links,
                               links < 64 ? "," : ".");
    }
    rs_text_wrapped(r, text->str, 2);
    g_string_free(text, TRUE);
}

/* How late late packets are, and what a flowlet gap would have to be. */
static void
print_order(const rs_text *r, const rs_flowlet_sum *sum)
{
    guint rung = rs_flowlet_rung_above(sum->lateness_ns);
    if (rung == RS_FLOWLET_RUNGS) {
        return;
    }
    g_autofree char *latest = rs_format_duration(sum->lateness_ns, 0);
    g_autofree char *gap = rs_format_duration(rs_flowlet_rung_ns(rung), 0);
    g_autofree char *after = rs_format_share(sum->late_after[rung], sum->late_timed);
    g_autofree char *text = g_strdup_printf(
        "Late packets are late by at most %s.  Flowlets of %s and more would reorder "
        "nothing; %s of the late ones were passed by a packet behind such a gap.",
        latest, gap, after);
    rs_text_wrapped(r, text, 2);
}

static void
print_spreading(const rs_text *r)
{
    const GPtrArray *pairs = r->summary->pairs;
    rs_spread_flows flows;
    rs_spreading_flows(&flows, r->analysis, pairs);
    guint worth = 0;
    for (guint i = 0; i < pairs->len; i++) {
        worth += is_worth_a_row(g_ptr_array_index(pairs, i)) ? 1 : 0;
    }
    rs_flowlet_sum order;
    rs_spreading_flowlets(&order, r->analysis, r->summary);
    if (worth == 0 && flows.flows < LEAST_FLOWS && order.late_timed == 0) {
        return;
    }
    rs_text_heading(r, "Load spreading");
    if (flows.flows >= LEAST_FLOWS) {
        print_elephants(r);
        print_prediction(r, &flows);
    }
    if (order.late_timed > 0) {
        print_order(r, &order);
    }
    print_pairs(r, pairs);
}

/* ---- bursts ---- */

/* clang-format off */
static const rs_column burst_columns[] = {
    {"at", TRUE, 4, RS_COLUMN_UNLESS_EMPTY}, {"to", FALSE, 0, FALSE},
    {"faster than", TRUE, 1, FALSE},
    {"bursts", TRUE, 0, FALSE}, {"longest", TRUE, 0, FALSE}, {"peak", TRUE, 0, FALSE},
    {"bytes in bursts", TRUE, 1, FALSE}, {"of all", TRUE, 2, FALSE},
};
/* clang-format on */

static void
add_bursts(const rs_text *r, rs_table *table, const rs_burst_target *t)
{
    rs_table_add(table, rs_text_point(r, t->at.point));
    rs_table_add(table, rs_hosts_label(r->analysis->told->hosts, &t->at.host.addr));
    rs_table_add(table, rs_format_speed(t->rate_bps));
    rs_text_add_count(table, t->n_bursts);
    rs_table_add(table, rs_format_duration(t->longest_ns, 0));
    guint64 peak_bps = rs_burst_bps(t->peak_bytes);
    rs_table_add(table, rs_format_speed(peak_bps - peak_bps % 100000000));
    rs_table_add(table, rs_format_bytes(t->burst_bytes));
    rs_table_add(table, rs_format_share(t->burst_bytes, t->bytes));
}

static void
print_bursts(const rs_text *r)
{
    const rs_bursts *bursts = r->analysis->watchers.bursts;
    g_autoptr(rs_table) table =
        rs_table_new(burst_columns, G_N_ELEMENTS(burst_columns));
    guint n = 0;
    guint limit = rs_text_rows_shown(r, G_MAXUINT);
    for (guint i = 0; rs_bursts_known(bursts) && i < rs_bursts_n_targets(bursts); i++) {
        const rs_burst_target *t = rs_bursts_target_at(bursts, i);
        if (t->n_bursts > 0 && n++ < limit) {
            add_bursts(r, table, t);
        }
    }
    if (n > 0) {
        rs_text_heading(r, "Micro-bursts");
        rs_table_print(table, r->out, r->width);
        rs_text_say_more(r, n, MIN(n, limit));
    }
}

void
rs_text_load(const rs_text *r)
{
    print_incast(r);
    print_slow(r);
    print_spreading(r);
    print_bursts(r);
}
