/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What was lost between two places, whoever sent it.
 *
 * Each pair of hosts has a finding of its own, which says where its packets were lost.  Where
 * those of several senders and several receivers were lost between the same two places, it is
 * that part of the way which they have in common, and neither a host nor a pair.
 *
 * The one rule: places are those that rs_loss_places() knows.
 */
#include "findings_parts.h"

#include "findings_headroom.h"
#include "format.h"
#include "keys.h"
#include "loss_places.h"
#include "sorting.h"
#include "thresholds.h"

#define HOPS_TOLD 16

/* From one place to the next. */
typedef struct hop {
    rs_place from, to;
    guint64 lost;
    GArray *at_from, *at_to;         /* guint32: the streams there */
    GHashTable *senders, *receivers; /* rs_tenant_addr */
    rs_stretch_sum stretches;
    rs_headrooms *headrooms;
    guint64
        passed; /* packets that came to the first place, of streams that go to the other */
    guint64 capable,
        marked; /* of the data: that may be marked, and was between the two */
} hop;

static void
free_hop(gpointer data)
{
    hop *one = data;
    g_array_unref(one->at_from);
    g_array_unref(one->at_to);
    g_hash_table_unref(one->senders);
    g_hash_table_unref(one->receivers);
    rs_headrooms_free(one->headrooms);
    g_free(one);
}

static hop *
new_hop(rs_place from, rs_place to)
{
    hop *one = g_new0(hop, 1);
    one->from = from;
    one->to = to;
    one->at_from = g_array_new(FALSE, FALSE, sizeof(guint32));
    one->at_to = g_array_new(FALSE, FALSE, sizeof(guint32));
    one->senders = rs_tenant_addr_set_new();
    one->receivers = rs_tenant_addr_set_new();
    one->headrooms = rs_headrooms_new();
    return one;
}

static hop *
hop_of(GHashTable *hops, rs_place from, rs_place to)
{
    guint64 key = rs_key_of(from, to);
    hop *one = rs_keys_find(hops, key);
    if (one == NULL) {
        one = new_hop(from, to);
        (void)rs_keys_insert(hops, key, one);
    }
    return one;
}

/* ---- what was lost where ---- */

static void
add_stream(const rs_findings *all, GHashTable *hops, guint32 id)
{
    const rs_analysis *analysis = all->analysis;
    g_autoptr(GArray) places = rs_loss_places(analysis, all->summary, id);
    const roce_stream *s = roce_tracker_stream(analysis->tracker, id);
    for (guint i = 0; i < places->len; i++) {
        const rs_loss_place *place = &g_array_index(places, rs_loss_place, i);
        if (place->by_timeout) {
            continue; /* the ACK may have been lost instead, on its way back */
        }
        hop *one = hop_of(hops, rs_stream_place(analysis, place->from),
                          rs_stream_place(analysis, place->to));
        one->lost += place->lost;
        (void)rs_tenant_addr_set_add(one->senders, &s->tenant, &s->src);
        (void)rs_tenant_addr_set_add(one->receivers, &s->tenant, &s->dst);
        rs_stretches_add_to(analysis->watchers.stretches,
                            roce_tracker_stream(analysis->tracker, place->to),
                            &one->stretches);
        rs_headrooms_add(one->headrooms, all, place);
        g_array_append_val(one->at_from, place->from);
        g_array_append_val(one->at_to, place->to);
    }
}

static gint
most_first(gconstpointer a, gconstpointer b)
{
    const hop *x = *(const hop *const *)a;
    const hop *y = *(const hop *const *)b;
    gint order = rs_by_number(y->lost, x->lost);
    return order != 0
               ? order
               : rs_by_number(rs_key_of(x->from, x->to), rs_key_of(y->from, y->to));
}

/* Those of several senders and receivers where enough was lost: hop, of `hops`. */
static GPtrArray *
worst_of(GHashTable *hops)
{
    GPtrArray *worst = g_ptr_array_new();
    GHashTableIter at;
    gpointer value;
    g_hash_table_iter_init(&at, hops);
    while (g_hash_table_iter_next(&at, NULL, &value)) {
        const hop *one = value;
        if (one->lost >= RS_COMMON_LEAST &&
            g_hash_table_size(one->senders) >= RS_COMMON_PARTNERS &&
            g_hash_table_size(one->receivers) >= RS_COMMON_PARTNERS) {
            g_ptr_array_add(worst, value);
        }
    }
    g_ptr_array_sort(worst, most_first);
    g_ptr_array_set_size(worst, (gint)MIN(worst->len, HOPS_TOLD));
    return worst;
}

/* ---- what else goes that way ---- */

/* The stream at a place, of those of a group; NULL: it was not seen there. */
static const roce_stream *
member_at(const rs_findings *all, const GArray *members, rs_place place)
{
    for (guint i = 0; i < members->len; i++) {
        guint32 id = g_array_index(members, guint32, i);
        if (rs_stream_place(all->analysis, id) == place) {
            return roce_tracker_stream(all->analysis->tracker, id);
        }
    }
    return NULL;
}

static void
add_passing(const rs_findings *all, const GArray *members, hop *one)
{
    const roce_stream *from = member_at(all, members, one->from);
    const roce_stream *to = member_at(all, members, one->to);
    if (from == NULL || to == NULL) {
        return;
    }
    const guint64 *before = from->ecn.codepoint;
    guint64 marked = to->ecn.codepoint[ROCE_ECN_CE];
    one->passed += from->space[ROCE_SPACE_REQUESTS].packets +
                   from->space[ROCE_SPACE_RESPONSES].unique_psns;
    one->capable += before[1] + before[2]; /* ECT(1), ECT(0) */
    one->marked += marked - MIN(marked, before[ROCE_ECN_CE]);
}

static void
add_all_passing(const rs_findings *all, GPtrArray *worst)
{
    const roce_tracker *tracker = all->analysis->tracker;
    for (guint32 id = 0; worst->len > 0 && id < roce_tracker_n_streams(tracker); id++) {
        const GArray *members = rs_summary_stands(all->summary, id)
                                    ? rs_summary_members(all->summary, id)
                                    : NULL;
        for (guint i = 0; members != NULL && i < worst->len; i++) {
            add_passing(all, members, g_ptr_array_index(worst, i));
        }
    }
}

/* ---- what is said ---- */

/* Whether no two of them were lost in a row, as where frames are damaged. */
static gboolean
are_single(const hop *one)
{
    return one->stretches.lost == one->lost && one->stretches.longest == 1;
}

static char *
describe(const hop *one)
{
    g_autofree char *share = rs_format_share(one->lost, one->passed);
    g_autofree char *capable = rs_finding_packets(one->capable);
    g_autofree char *n_marked =
        rs_finding_count(one->marked, "packet was marked", "packets were marked");
    const char *marked = one->marked == 0 ? "No packet was marked" : n_marked;
    GString *text = g_string_new(NULL);
    g_string_append_printf(
        text,
        "%s of what came to the first of the two and goes on to the second.  What "
        "these "
        "packets have in common is that part of their way, and neither a host nor a "
        "pair of hosts.",
        share);
    if (are_single(one)) {
        g_string_append(text, "  No two of them in a row.");
    }
    if (one->capable > 0) {
        g_string_append_printf(
            text, "  %s CE between the two, of %s that may be%s.", marked, capable,
            one->marked == 0 ? ": if queues there mark, none was full" : "");
    }
    return g_string_free(text, FALSE);
}

static guint64
count_verdicts(const rs_findings *all, const GArray *streams, roce_verdict verdict)
{
    guint64 n = 0;
    for (guint i = 0; i < streams->len; i++) {
        n += rs_flow_verdicts(roce_tracker_stream(all->analysis->tracker,
                                                  g_array_index(streams, guint32, i)),
                              verdict);
    }
    return n;
}

/* What told of them, at the end that tells of the least beside them: more may have been lost in
 * front of the first place, or behind the second. */
static void
add_frames(const rs_findings *all, rs_finding *f, const hop *one)
{
    guint64 behind =
        count_verdicts(all, one->at_from, ROCE_VERDICT_UNDELIVERED_AFTER_CAPTURE);
    guint64 before = count_verdicts(all, one->at_to, ROCE_VERDICT_LOST_BEFORE_CAPTURE);
    if (behind >= one->lost && behind < before) {
        g_array_append_vals(f->streams, one->at_from->data, one->at_from->len);
        rs_finding_add_events(all, f, LOSS(UNDELIVERED_AFTER_CAPTURE));
    } else {
        g_array_append_vals(f->streams, one->at_to->data, one->at_to->len);
        rs_finding_add_events(all, f, LOSS(LOST_BEFORE_CAPTURE));
    }
}

static void
report(rs_findings *all, const rs_finding_row *row, const hop *one)
{
    rs_finding *f =
        rs_finding_add(all, row, rs_flow_loss_severity(one->lost, one->passed));
    g_autofree char *from = rs_place_name(all->analysis, one->from);
    g_autofree char *to = rs_place_name(all->analysis, one->to);
    g_autofree char *what = g_strdup_printf("%s>%s", from, to);
    g_autofree char *n = rs_finding_packets(one->lost);
    rs_finding_about(f, what);
    f->weight = one->lost;
    rs_finding_say(f,
                   g_strdup_printf("%s from %u senders to %u receivers lost between %s "
                                   "and %s",
                                   n, g_hash_table_size(one->senders),
                                   g_hash_table_size(one->receivers), from, to),
                   describe(one));
    if (one->capable > 0 && one->marked == 0 && are_single(one)) {
        f->advice = g_strdup("Look first for damage between these two points: FCS, "
                             "symbol and FEC errors of each port, transceivers and "
                             "cables; then at drops of its queues.");
    }
    rs_headrooms_tell(one->headrooms, all, f, one->lost);
    add_frames(all, f, one);
}

void
rs_find_one_hop(rs_findings *all, const rs_finding_row *row)
{
    const roce_tracker *tracker = all->analysis->tracker;
    g_autoptr(GHashTable) hops = rs_keys_new(free_hop);
    for (guint32 id = 0; id < roce_tracker_n_streams(tracker); id++) {
        if (rs_summary_stands(all->summary, id) &&
            rs_summary_members(all->summary, id) != NULL) {
            add_stream(all, hops, id);
        }
    }
    g_autoptr(GPtrArray) worst = worst_of(hops);
    add_all_passing(all, worst);
    for (guint i = 0; i < worst->len; i++) {
        report(all, row, g_ptr_array_index(worst, i));
    }
}
