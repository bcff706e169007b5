/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Findings about what many hosts do together: who keeps the others waiting.
 */
#include "findings_parts.h"
#include "format.h"
#include "thresholds.h"

static char *
label_of(const rs_findings *all, const rs_edges *edges, guint32 node)
{
    const rs_tenant_addr *host = rs_edges_node(edges, node);
    return rs_findings_label_in(all, &host->tenant, &host->addr);
}

static void
about_host(const rs_edges *edges, guint32 node, rs_finding *finding)
{
    const rs_tenant_addr *host = rs_edges_node(edges, node);
    g_autofree char *addr = rs_format_addr(&host->addr);
    rs_finding_about(finding, addr);
    rs_finding_in(finding, &host->tenant);
}

/* ---- straggler ---- */

/* Whether a host was last nearly always, and by what counts. */
static gboolean
is_late(const rs_rhythm *rhythm, const rs_performer *one, rs_last_kind kind)
{
    const rs_lastness *last = &one->last[kind];
    return one->iterations >= RS_STRAGGLER_ITERATIONS &&
           last->times * 100 >= one->iterations * RS_STRAGGLER_SHARE_PERCENT &&
           last->by.p50 * 100 >= rhythm->length.p50 * RS_STRAGGLER_LATE_PERCENT;
}

#define HOST_ADVICE                                                                    \
    "Look at the host: its GPUs' clocks and temperature, its input pipeline, other "   \
    "load."
#define LINK_ADVICE                                                                    \
    "Look at its link speed and width, its PCIe, and the errors of its cables."

static void
say_straggler(rs_findings *all, const rs_finding_row *row, const rs_performer *one,
              rs_last_kind kind)
{
    const rs_collective *collective = all->analysis->watchers.collective;
    const rs_edges *edges = rs_collective_edges(collective);
    const rs_rhythm *rhythm = rs_collective_rhythm(collective);
    const rs_group *group =
        g_ptr_array_index(rs_collective_groups(collective), one->group);
    const rs_lastness *last = &one->last[kind];
    g_autofree char *who = label_of(all, edges, one->node);
    g_autofree char *by = rs_format_duration(last->by.p50, 0);
    g_autofree char *most = rs_format_duration(last->by.max, 0);
    g_autofree char *length = rs_format_duration(rhythm->length.p50, 0);
    gboolean begins = kind == RS_LAST_TO_BEGIN;
    rs_finding *f = rs_finding_add(all, row, RS_SEVERITY_WARNING);
    about_host(edges, one->node, f);
    f->weight = last->times;
    f->advice = g_strdup(begins ? HOST_ADVICE : LINK_ADVICE);
    rs_finding_add_kept(f, &last->frames);
    rs_finding_say(
        f,
        g_strdup_printf("%s %s last in %u of %u iterations, by %s", who,
                        begins ? "begins" : "ends", last->times, one->iterations, by),
        g_strdup_printf(
            "Behind the last but one of %u hosts (%s); at most %s, in bursts of %s.  "
            "%s",
            group->nodes->len, rs_shape_name(group->kind), most, length,
            begins
                ? "Its first data came late: the host itself was, with its "
                  "computation or in handing data to its NIC."
                : "It began with the others and took longer: its link, its path, its "
                  "NIC, or the host that it waits for."));
}

static const rs_hop *
own_hop(const rs_edges *edges, const rs_group *group, guint32 node)
{
    const rs_hop *own = NULL;
    for (guint i = 0; i < group->steps.hops->len; i++) {
        const rs_hop *hop = &g_array_index(group->steps.hops, rs_hop, i);
        own = rs_edges_at(edges, hop->edge)->src == node ? hop : own;
    }
    return own;
}

static guint64
transfer_of(const rs_hop *hop)
{
    return hop->transfer.p50;
}

static guint64
turnaround_of(const rs_hop *hop)
{
    return hop->turnaround.p50;
}

/* The median of what the other hops of a ring take; 0 where there are none. */
static guint64
of_others(const rs_edges *edges, const rs_group *group, guint32 node,
          guint64 (*measure)(const rs_hop *))
{
    g_autoptr(GArray) others = g_array_new(FALSE, FALSE, sizeof(guint64));
    for (guint i = 0; i < group->steps.hops->len; i++) {
        const rs_hop *hop = &g_array_index(group->steps.hops, rs_hop, i);
        if (rs_edges_at(edges, hop->edge)->src != node) {
            guint64 ns = measure(hop);
            g_array_append_val(others, ns);
        }
    }
    rs_dist spread;
    rs_dist_of(others, &spread);
    return spread.p50;
}

/* The hop of a host in its ring, if it takes clearly longer than the median of the others.
 * NULL: it does not, or nothing is known of steps. */
static const rs_hop *
slow_hop(const rs_edges *edges, const rs_group *group, guint32 node, guint64 *others_ns)
{
    const rs_hop *own = own_hop(edges, group, node);
    *others_ns = of_others(edges, group, node, transfer_of);
    return own != NULL && *others_ns > 0 &&
                   own->transfer.count >= RS_STRAGGLER_ITERATIONS &&
                   own->transfer.p50 * 100 >= *others_ns * RS_STRAGGLER_HOP_PERCENT
               ? own
               : NULL;
}

/* The hop of a host that takes so much longer to pass on what it has received that its steps
 * do as well; NULL: it does not.  *others_ns is what it takes the others. */
static const rs_hop *
slow_turn(const rs_edges *edges, const rs_group *group, guint32 node,
          guint64 *others_ns)
{
    const rs_hop *own = own_hop(edges, group, node);
    guint64 transfer_ns = of_others(edges, group, node, transfer_of);
    *others_ns = of_others(edges, group, node, turnaround_of);
    guint64 step_ns = transfer_ns + *others_ns;
    return own != NULL && transfer_ns > 0 &&
                   own->turnaround.count >= RS_STRAGGLER_ITERATIONS &&
                   (own->turnaround.p50 + transfer_ns) * 100 >=
                       step_ns * RS_STRAGGLER_HOP_PERCENT
               ? own
               : NULL;
}

static void
add_messages(rs_finding *f, const rs_edge *edge)
{
    rs_frames frames = {0};
    for (guint i = 0; i < edge->messages->len; i++) {
        const rs_message *message = &g_array_index(edge->messages, rs_message, i);
        if ((message->flags & RS_MESSAGE_SIGNAL) == 0) {
            rs_frames_keep(&frames, message->last_frame);
        }
    }
    rs_finding_add_kept(f, &frames);
}

/* About the host that sends along a hop; `measured` was that many times. */
static rs_finding *
add_hop(rs_findings *all, const rs_finding_row *row, const rs_edges *edges,
        const rs_edge *edge, const rs_dist *measured, const char *advice)
{
    rs_finding *f = rs_finding_add(all, row, RS_SEVERITY_WARNING);
    about_host(edges, edge->src, f);
    f->weight = measured->count;
    f->advice = g_strdup(advice);
    add_messages(f, edge);
    return f;
}

static void
say_slow_hop(rs_findings *all, const rs_finding_row *row, const rs_hop *hop,
             guint64 others_ns)
{
    const rs_edges *edges = rs_collective_edges(all->analysis->watchers.collective);
    const rs_edge *edge = rs_edges_at(edges, hop->edge);
    g_autofree char *from = label_of(all, edges, edge->src);
    g_autofree char *to = label_of(all, edges, edge->dst);
    g_autofree char *own = rs_format_duration(hop->transfer.p50, 0);
    g_autofree char *others = rs_format_duration(others_ns, 0);
    g_autofree char *steps = rs_format_count(hop->transfer.count);
    rs_finding_say(
        add_hop(all, row, edges, edge, &hop->transfer, LINK_ADVICE),
        g_strdup_printf("%s to %s is the slowest hop of its ring: %s a step, where "
                        "others take %s",
                        from, to, own, others),
        g_strdup_printf("Medians of %s steps, from the first packet to the last, "
                        "against the other hops.  All steps of the ring take as long "
                        "as this one: its link, its path, its NIC, or what else it "
                        "sends.",
                        steps));
}

static void
say_slow_turn(rs_findings *all, const rs_finding_row *row, const rs_hop *hop,
              guint64 others_ns)
{
    const rs_edges *edges = rs_collective_edges(all->analysis->watchers.collective);
    const rs_edge *edge = rs_edges_at(edges, hop->edge);
    g_autofree char *who = label_of(all, edges, edge->src);
    g_autofree char *own = rs_format_duration(hop->turnaround.p50, 0);
    g_autofree char *others = rs_format_duration(others_ns, 0);
    g_autofree char *steps = rs_format_count(hop->turnaround.count);
    rs_finding_say(
        add_hop(all, row, edges, edge, &hop->turnaround, HOST_ADVICE),
        g_strdup_printf("%s takes longest in its ring to pass on what it has received: "
                        "%s a step, where others take %s",
                        who, own, others),
        g_strdup_printf("Medians of %s steps, from the last packet that it received to "
                        "the first that it sends, against the other hosts.  All steps "
                        "of the ring wait for it: the host itself, its GPU, or how its "
                        "data gets to the NIC.",
                        steps));
}

/* Whether the point of an edge sees anything that its sender receives. */
static gboolean
sees_what_comes_to(const rs_findings *all, const rs_edges *edges, const rs_edge *edge)
{
    const roce_tracker *tracker = all->analysis->tracker;
    const rs_tenant_addr *host = rs_edges_node(edges, edge->src);
    for (guint32 id = 0; id < roce_tracker_n_streams(tracker); id++) {
        const roce_stream *s = roce_tracker_stream(tracker, id);
        if (s->point == edge->point && roce_addr_equal(&s->dst, &host->addr) &&
            roce_tenant_equal(&s->tenant, &host->tenant)) {
            return TRUE;
        }
    }
    return FALSE;
}

/* Hosts that send to one and receive from nobody do the same if they send the same amount.  Where
 * what comes to them would not be seen, they may be hosts of a tree, which wait for one another. */
static gboolean
send_alike(const rs_findings *all, const rs_edges *edges, const rs_group *group)
{
    guint64 least = G_MAXUINT64;
    guint64 most = 0;
    for (guint i = 0; i < group->edges->len; i++) {
        const rs_edge *edge =
            rs_edges_at(edges, g_array_index(group->edges, guint32, i));
        if (!sees_what_comes_to(all, edges, edge)) {
            return FALSE;
        }
        least = MIN(least, edge->bytes);
        most = MAX(most, edge->bytes);
    }
    return most * 100 <= least * RS_RING_EVEN_PERCENT;
}

/* Whether all that send in a group were heard in the rhythm, whose point may see but some of
 * them: of some, the last one is not the last of all. */
static gboolean
all_heard(const rs_edges *edges, const GArray *performers, const rs_group *group)
{
    g_autoptr(GHashTable) heard = g_hash_table_new(NULL, NULL);
    for (guint i = 0; i < performers->len; i++) {
        guint32 node = g_array_index(performers, rs_performer, i).node;
        g_hash_table_add(heard, GUINT_TO_POINTER(node + 1));
    }
    for (guint i = 0; i < group->edges->len; i++) {
        guint32 edge = g_array_index(group->edges, guint32, i);
        guint32 node = rs_edges_at(edges, edge)->src;
        if (!g_hash_table_contains(heard, GUINT_TO_POINTER(node + 1))) {
            return FALSE;
        }
    }
    return TRUE;
}

/* Says what keeps the others waiting, if a host of a group does. */
static void
say_of(rs_findings *all, const rs_finding_row *row, const rs_group *group,
       const rs_performer *one)
{
    const rs_collective *collective = all->analysis->watchers.collective;
    const rs_edges *edges = rs_collective_edges(collective);
    const rs_rhythm *rhythm = rs_collective_rhythm(collective);
    gboolean begins_late = is_late(rhythm, one, RS_LAST_TO_BEGIN);
    gboolean ends_late = is_late(rhythm, one, RS_LAST_TO_END);
    if ((begins_late || ends_late) &&
        !all_heard(edges, rs_collective_performers(collective), group)) {
        begins_late = ends_late = FALSE;
    }
    guint64 others_ns, turns_ns;
    const rs_hop *slow = slow_hop(edges, group, one->node, &others_ns);
    const rs_hop *turn = slow_turn(edges, group, one->node, &turns_ns);
    gboolean any = begins_late || ends_late || slow != NULL || turn != NULL;
    if (!any || (group->kind == RS_SHAPE_INCAST && !send_alike(all, edges, group))) {
        return;
    }
    if (begins_late) {
        say_straggler(all, row, one, RS_LAST_TO_BEGIN);
    } else if (slow != NULL) {
        say_slow_hop(all, row, slow, others_ns);
    } else if (turn != NULL) {
        say_slow_turn(all, row, turn, turns_ns);
    } else {
        say_straggler(all, row, one, RS_LAST_TO_END);
    }
}

void
rs_find_straggler(rs_findings *all, const rs_finding_row *row)
{
    const rs_collective *collective = all->analysis->watchers.collective;
    const GArray *performers = rs_collective_performers(collective);
    for (guint i = 0; i < performers->len; i++) {
        const rs_performer *one = &g_array_index(performers, rs_performer, i);
        const rs_group *group =
            g_ptr_array_index(rs_collective_groups(collective), one->group);
        if (rs_group_plays_alike(group, one->node)) {
            say_of(all, row, group, one);
        }
    }
}

/* ---- waits_for_receiver ---- */

static gboolean
waits(const rs_admission *a)
{
    return a->waited >= RS_WAITS_LEAST &&
           a->waited * 100 >= (a->waited + a->unready) * RS_WAITS_SHARE_PERCENT &&
           a->waited_ns * 100 >= a->span_ns * RS_WAITS_TIME_PERCENT;
}

void
rs_find_waits_for_receiver(rs_findings *all, const rs_finding_row *row)
{
    const rs_collective *collective = all->analysis->watchers.collective;
    const rs_edges *edges = rs_collective_edges(collective);
    const GArray *admissions = rs_collective_admissions(collective);
    for (guint i = 0; i < admissions->len; i++) {
        const rs_admission *a = &g_array_index(admissions, rs_admission, i);
        if (!waits(a)) {
            continue;
        }
        g_autofree char *sender = label_of(all, edges, a->sender);
        g_autofree char *receiver = label_of(all, edges, a->receiver);
        g_autofree char *from = rs_format_addr(&rs_edges_node(edges, a->sender)->addr);
        g_autofree char *to = rs_format_addr(&rs_edges_node(edges, a->receiver)->addr);
        g_autofree char *about = g_strdup_printf("%s>%s:%u", from, to, a->stream);
        g_autofree char *share = rs_format_share(a->waited_ns, a->span_ns);
        g_autofree char *wait = rs_format_duration(a->wait.p50, 0);
        g_autofree char *prompt = rs_format_duration(a->prompt_ns, 0);
        g_autofree char *waited = rs_format_count(a->waited);
        g_autofree char *units =
            rs_finding_count(a->pairs, "unit of data", "units of data");
        g_autofree char *times = rs_finding_count(a->unready, "time", "times");
        g_autofree char *unready =
            a->unready == 0
                ? g_strdup("")
                : g_strdup_printf("; %s it was cleared and not ready", times);
        rs_finding *f = rs_finding_add(all, row, RS_SEVERITY_WARNING);
        rs_finding_about(f, about);
        f->weight = a->waited;
        rs_finding_add_kept(f, &a->frames);
        rs_finding_say(
            f,
            g_strdup_printf("%s waits for %s to clear it to send, %s of the time",
                            sender, receiver, share),
            g_strdup_printf(
                "%s of %s began within %s of the receiver's clear-to-send, after the "
                "sender had been idle for %s in the median%s.",
                waited, units, prompt, wait, unready));
    }
}
