/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Packets above some length that never come through, while shorter ones do: an MTU on the way
 * that is too small.
 *
 * The one rule: a queue pair counts that stopped with the first packet of a length, which was
 * sent again and again and never acknowledged; chance is ruled out by how many shorter ones came
 * before, or by how many copies of it were lost while NAKs show that something behind it came.
 * All those between two hosts have to agree: what came is shorter than what did not.  Of
 * responses to READs, which nobody acknowledges, the READ that asks for one again says so.
 * Behind such a port, of messages of several packets the last ones alone come.
 */
#include "findings_parts.h"
#include "format.h"
#include "pairs.h"
#include "thresholds.h"

#define NAMED 4

/* Of all queue pairs between two hosts that are stuck. */
typedef struct too_long {
    guint least_bytes;    /* the shortest that does not come */
    guint most_bytes;     /* the longest that came; 0: none before them */
    guint64 came, copies; /* packets before; copies of what does not come */
    guint64 asked_for;    /* by NAKs, or READs at once */
    guint n_reads;        /* queue pairs of which responses to READs do not come */
    const roce_stream
        *other; /* of which as long ones came, by another path; NULL: none */
} too_long;

static gboolean
is_stuck(const rs_findings *all, const roce_stream *s)
{
    rs_stuck stuck;
    return rs_lengths_are_stuck(all->analysis->watchers.lengths, s, &stuck);
}

static void
add_stuck(const rs_findings *all, too_long *sum, const roce_stream *s)
{
    rs_stuck stuck = {0};
    (void)rs_lengths_are_stuck(all->analysis->watchers.lengths, s, &stuck);
    sum->least_bytes = MIN(sum->least_bytes, stuck.bytes);
    sum->most_bytes = MAX(sum->most_bytes, stuck.came_bytes);
    sum->came += stuck.came;
    sum->copies += stuck.rounds + 1;
    sum->asked_for += stuck.asked_for;
    sum->n_reads += stuck.space == ROCE_SPACE_RESPONSES ? 1 : 0;
}

static too_long
sum_of(const rs_findings *all, const rs_pair *pair)
{
    const roce_tracker *tracker = all->analysis->tracker;
    too_long sum = {.least_bytes = G_MAXUINT};
    for (guint i = 0; i < pair->streams->len; i++) {
        guint32 id = g_array_index(pair->streams, guint32, i);
        add_stuck(all, &sum, roce_tracker_stream(tracker, id));
    }
    return sum;
}

/* The source ports of the queue pairs; NULL: not all have one. */
static GHashTable *
ports_of(const rs_findings *all, const rs_pair *pair)
{
    g_autoptr(GHashTable) ports = g_hash_table_new(NULL, NULL);
    for (guint i = 0; i < pair->streams->len; i++) {
        const roce_stream *s = roce_tracker_stream(
            all->analysis->tracker, g_array_index(pair->streams, guint32, i));
        if (s->n_udp_src_ports != 1) {
            return NULL;
        }
        g_hash_table_add(ports, GUINT_TO_POINTER(s->udp_src_port[0]));
    }
    return g_steal_pointer(&ports);
}

static gboolean
has_come(const rs_findings *all, const roce_stream *s)
{
    return rs_lengths_came(all->analysis->watchers.lengths, s->id) > 0;
}

/* A queue pair between the same hosts of which packets came that are as long, by another source
 * port. */
static const roce_stream *
find_other(const rs_findings *all, GHashTable *came, const rs_pair *pair, guint bytes)
{
    const rs_pair *others = g_hash_table_lookup(came, pair);
    g_autoptr(GHashTable) ports = others != NULL ? ports_of(all, pair) : NULL;
    for (guint i = 0; ports != NULL && i < others->streams->len; i++) {
        guint32 id = g_array_index(others->streams, guint32, i);
        const roce_stream *s = roce_tracker_stream(all->analysis->tracker, id);
        if (rs_lengths_came(all->analysis->watchers.lengths, id) >= bytes &&
            s->n_udp_src_ports == 1 &&
            !g_hash_table_contains(ports, GUINT_TO_POINTER(s->udp_src_port[0]))) {
            return s;
        }
    }
    return NULL;
}

/* Whether what came is shorter than what did not, and that is no chance. */
static gboolean
is_certain(const too_long *sum)
{
    return sum->least_bytes >= sum->most_bytes + RS_LONGER_BYTES &&
           (sum->came >= RS_SHORTER_PACKETS || sum->copies >= RS_LONGER_COPIES);
}

/* "QP 0x11 (UDP source port 50000) and QP 0x12 (UDP source port 50001)" */
static char *
names_of(const rs_findings *all, const rs_pair *pair)
{
    g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
    for (guint i = 0; i < MIN(pair->streams->len, NAMED); i++) {
        const roce_stream *s = roce_tracker_stream(
            all->analysis->tracker, g_array_index(pair->streams, guint32, i));
        g_ptr_array_add(names, s->n_udp_src_ports != 1
                                   ? g_strdup_printf("QP 0x%x", s->dst_qpn)
                                   : g_strdup_printf("QP 0x%x (UDP source port %u)",
                                                     s->dst_qpn, s->udp_src_port[0]));
    }
    return rs_finding_list(names, pair->streams->len);
}

static char *
detail_of(const rs_findings *all, const rs_pair *pair, const too_long *sum)
{
    g_autofree char *names = names_of(all, pair);
    g_autofree char *copies = rs_finding_count(sum->copies, "time", "times");
    g_autofree char *naks = rs_finding_count(sum->asked_for, "time", "times");
    g_autofree char *bytes = rs_format_count(sum->least_bytes);
    const gboolean only_reads = sum->n_reads == pair->streams->len;
    GString *text = g_string_new(NULL);
    g_string_append_printf(
        text,
        "%s stopped with the first %s that has %s bytes of IP "
        "or more: sent %s in all, it %s",
        names, only_reads ? "response to a READ" : "packet", bytes, copies,
        only_reads ? "was asked for again each time" : "was never acknowledged");
    if (sum->came > 0) {
        g_autofree char *came = rs_finding_packets(sum->came);
        g_autofree char *most = rs_format_count(sum->most_bytes);
        g_string_append_printf(text, ", and %s of up to %s bytes before it %s%s", came,
                               most, sum->came == 1 ? "was" : "were",
                               only_reads ? " not" : "");
    }
    g_string_append_c(text, '.');
    if (sum->asked_for > 0) {
        g_string_append_printf(text,
                               "  %s asked for it %s: what was sent behind it came.",
                               sum->n_reads == 0 ? "NAKs"
                               : only_reads      ? "READs at once"
                                                 : "NAKs, or READs at once,",
                               naks);
    }
    if (sum->other != NULL) {
        g_string_append_printf(
            text,
            "  Of QP 0x%x (UDP source port %u) as long ones came: one "
            "of several paths has the smaller MTU.",
            sum->other->dst_qpn, sum->other->udp_src_port[0]);
    }
    return g_string_free(text, FALSE);
}

#define READ_ADVICE                                                                    \
    "  Nothing behind it is known to have come: where that path was taken down then, " \
    "it looks the same."
#define UNHEARD_ADVICE                                                                 \
    "  Nothing was heard of these queue pairs since: where they were taken down "      \
    "then, "                                                                           \
    "or their path, it looks the same."

static void
report_lengths(rs_findings *all, const rs_finding_row *row, const rs_pair *pair,
               const too_long *sum)
{
    g_autofree char *ends = rs_pair_label(all, pair);
    g_autofree char *bytes = rs_format_count(sum->least_bytes);
    gboolean heard = sum->asked_for > 0;
    rs_finding *f =
        rs_finding_add(all, row, heard ? RS_SEVERITY_CRITICAL : RS_SEVERITY_WARNING);
    rs_pair_name(f, pair);
    f->weight = sum->copies;
    g_array_append_vals(f->streams, pair->streams->data, pair->streams->len);
    rs_finding_say(
        f,
        g_strdup_printf("Packets of %s bytes and more from %s do not come "
                        "through%s, and shorter ones do",
                        bytes, ends,
                        sum->other != NULL ? " by one of several paths" : ""),
        detail_of(all, pair, sum));
    f->advice = g_strdup_printf(
        "Look for a port on the way whose MTU is smaller than %s bytes of IP%s.%s",
        bytes,
        sum->other != NULL ? ", on the path that these UDP source ports take" : "",
        heard                                ? ""
        : sum->n_reads == pair->streams->len ? READ_ADVICE
                                             : UNHEARD_ADVICE);
    rs_finding_add_events(all, f, ROUND(NAK_SEQUENCE));
    rs_finding_add_events(all, f, ROUND(TIMEOUT));
    rs_finding_add_events(all, f, ROUND(UNKNOWN));
    if (sum->n_reads > 0) {
        rs_finding_add_events(all, f, LOSS(UNDELIVERED_AFTER_CAPTURE));
    }
}

/* Whose requests are repeated for a stream that is stuck: its own, or those of the one that asks
 * it for responses. */
static guint32
asking(const rs_findings *all, guint32 id)
{
    const roce_stream *s = roce_tracker_stream(all->analysis->tracker, id);
    rs_stuck stuck;
    gboolean responds =
        rs_lengths_are_stuck(all->analysis->watchers.lengths, s, &stuck) &&
        stuck.space == ROCE_SPACE_RESPONSES && roce_stream_is_paired(s);
    return responds ? s->peer : id;
}

/* How a stream is stuck whose requests are repeated: with what it sends, or with what it asks
 * for. */
static gboolean
is_asking_in_vain(const rs_findings *all, const roce_stream *s, rs_stuck *stuck)
{
    const rs_lengths *lengths = all->analysis->watchers.lengths;
    if (rs_lengths_are_stuck(lengths, s, stuck) &&
        stuck->space == ROCE_SPACE_REQUESTS) {
        return TRUE;
    }
    return roce_stream_is_paired(s) &&
           rs_lengths_are_stuck(
               lengths, roce_tracker_stream(all->analysis->tracker, s->peer), stuck) &&
           stuck->space == ROCE_SPACE_RESPONSES;
}

GHashTable *
rs_findings_too_long(const rs_findings *all)
{
    g_autoptr(GPtrArray) pairs = rs_pairs_of(all, RS_PAIRS_AT_ANY, is_stuck);
    GHashTable *groups = g_hash_table_new(NULL, NULL);
    for (guint i = 0; i < pairs->len; i++) {
        const rs_pair *pair = g_ptr_array_index(pairs, i);
        const too_long sum = sum_of(all, pair);
        for (guint k = 0; k < pair->streams->len && is_certain(&sum); k++) {
            guint32 id = asking(all, g_array_index(pair->streams, guint32, k));
            g_hash_table_add(groups,
                             GUINT_TO_POINTER(rs_summary_group(all->summary, id)));
        }
    }
    return groups;
}

/* Timeouts of those streams of a flow, at the point that speaks of each. */
static guint64
count_too_long(const rs_flow *flow)
{
    const rs_findings *all = flow->all;
    guint64 n = 0;
    for (guint i = 0; i < flow->streams->len; i++) {
        const roce_stream *s = rs_flow_stream(flow, i);
        guint32 group = rs_summary_group(all->summary, s->id);
        rs_stuck stuck;
        if (g_hash_table_contains(all->too_long, GUINT_TO_POINTER(group)) &&
            is_asking_in_vain(all, s, &stuck)) {
            n += stuck.rounds - stuck.asked_for;
        }
    }
    return MIN(n, flow->n);
}

void
rs_flow_tell_too_long(const rs_flow *flow, rs_finding *f)
{
    guint64 n = count_too_long(flow);
    if (n == 0) {
        return;
    }
    g_autofree char *detail = g_steal_pointer(&f->detail);
    g_autofree char *some = rs_format_count(n);
    g_autofree char *which =
        flow->n == 1   ? g_strdup("It is")
        : n == flow->n ? g_strdup("All of them are")
                       : g_strdup_printf("%s of them %s", some, n == 1 ? "is" : "are");
    f->detail = g_strdup_printf("%s  %s of queue pairs that stopped with a packet too "
                                "long for its way, as is told (mtu_black_hole).",
                                detail, which);
    if (n * 2 > flow->n) {
        g_free(f->advice);
        f->advice = g_strdup("Find the port whose MTU is too small first.");
        f->look = NULL;
    }
}

/* ---- what comes behind that port ---- */

static void
count_part(guint8 opcode, guint64 packets, guint64 *last, guint64 *before)
{
    switch (roce_opcode_get(opcode)->part) {
    case ROCE_PART_FIRST:
    case ROCE_PART_MIDDLE:
        *before += packets;
        break;
    case ROCE_PART_LAST:
        *last += packets;
        break;
    case ROCE_PART_ONLY:
    case ROCE_PART_NONE:
        break;
    }
}

/* The last packets of a stream's messages of several, where none of those before them was seen;
 * a capture may begin in the midst of the first message. */
static guint64
lasts_alone(const roce_stream *s)
{
    guint64 last = 0;
    guint64 before = 0;
    for (guint i = 0; i < s->n_opcodes; i++) {
        count_part(s->opcode[i], s->opcode_packets[i], &last, &before);
    }
    for (guint i = 0; i < s->n_other_opcodes; i++) {
        count_part(s->other_opcodes[i].opcode, s->other_opcodes[i].packets, &last,
                   &before);
    }
    return before == 0 && last > 0 ? last - 1 : 0;
}

/* Where ACKs tell what a capture missed, that tells of itself; of UC nothing does. */
static gboolean
has_lasts_alone(const rs_findings *all, const roce_stream *s)
{
    (void)all;
    gboolean is_told = roce_stream_is_paired(s) && !s->partial_path;
    return (is_told || s->transport == ROCE_TRANSPORT_UC) && lasts_alone(s) > 0;
}

#define LASTS_DETAIL                                                                   \
    "%s of messages of several packets came here, and none of those before them, "     \
    "which "                                                                           \
    "are as long as the path MTU lets them be; the longest that came has %s bytes of " \
    "IP.  A capture that leaves long packets out, as of a mirror whose own MTU is "    \
    "too "                                                                             \
    "small, would look the same."

static void
report_lasts(rs_findings *all, const rs_finding_row *row, const rs_pair *pair,
             guint64 lasts, guint bytes)
{
    g_autofree char *ends = rs_pair_label(all, pair);
    g_autofree char *n = rs_finding_count(lasts, "last packet", "last packets");
    g_autofree char *longest = rs_format_count(bytes);
    rs_finding *f = rs_finding_add(all, row, RS_SEVERITY_WARNING);
    rs_pair_name(f, pair);
    f->weight = lasts;
    g_array_append_vals(f->streams, pair->streams->data, pair->streams->len);
    rs_finding_say(f,
                   g_strdup_printf("Of messages of several packets from %s only the "
                                   "last ones come",
                                   ends),
                   g_strdup_printf(LASTS_DETAIL, n, longest));
    f->advice = g_strdup_printf("Look for a port on the way to this point whose MTU is "
                                "smaller than the path MTU of these queue pairs with "
                                "its headers: %s bytes of IP come through it.",
                                longest);
    rs_finding_add_events(all, f, KIND(GAP));
}

static void
find_lasts(rs_findings *all, const rs_finding_row *row, GHashTable *told)
{
    const roce_tracker *tracker = all->analysis->tracker;
    g_autoptr(GPtrArray) pairs = rs_pairs_of(all, RS_PAIRS_AT_ANY, has_lasts_alone);
    for (guint i = 0; i < pairs->len; i++) {
        const rs_pair *pair = g_ptr_array_index(pairs, i);
        guint64 lasts = 0;
        guint bytes = 0;
        for (guint k = 0; k < pair->streams->len; k++) {
            guint32 id = g_array_index(pair->streams, guint32, k);
            lasts += lasts_alone(roce_tracker_stream(tracker, id));
            bytes = MAX(bytes, rs_lengths_longest(all->analysis->watchers.lengths, id));
        }
        if (lasts >= RS_LONGER_COPIES && !g_hash_table_contains(told, pair)) {
            report_lasts(all, row, pair, lasts, bytes);
        }
    }
}

/* The pairs of hosts, by themselves. */
static GHashTable *
index_of(const GPtrArray *pairs)
{
    GHashTable *index = g_hash_table_new(rs_pair_hash, rs_pair_equal);
    for (guint i = 0; i < pairs->len; i++) {
        g_hash_table_add(index, g_ptr_array_index(pairs, i));
    }
    return index;
}

void
rs_find_mtu_black_hole(rs_findings *all, const rs_finding_row *row)
{
    g_autoptr(GPtrArray) pairs = rs_pairs_of(all, RS_PAIRS_AT_ANY, is_stuck);
    g_autoptr(GPtrArray) come = pairs->len > 0
                                    ? rs_pairs_of(all, RS_PAIRS_EVERYWHERE, has_come)
                                    : g_ptr_array_new();
    g_autoptr(GHashTable) came = index_of(come);
    g_autoptr(GHashTable) told = g_hash_table_new(rs_pair_hash, rs_pair_equal);
    for (guint i = 0; i < pairs->len; i++) {
        rs_pair *pair = g_ptr_array_index(pairs, i);
        too_long sum = sum_of(all, pair);
        if (is_certain(&sum)) {
            sum.other = find_other(all, came, pair, sum.least_bytes);
            report_lengths(all, row, pair, &sum);
            g_hash_table_add(told, pair);
        }
    }
    find_lasts(all, row, told);
}
