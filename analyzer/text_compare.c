/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "text_compare.h"

#include "compare_words.h"
#include "format.h"
#include "json_compare.h"
#include "table.h"
#include "text.h"

#include "roce/opcode.h"

#include <stdlib.h>

static void
print_points(const rs_text *r, const rs_compare *compare)
{
    static const rs_column columns[] = {
        {"", FALSE, 0, FALSE},         {"point", FALSE, 0, FALSE},
        {"packets", TRUE, 1, FALSE},   {"RoCE", TRUE, 0, FALSE},
        {"dropped", TRUE, 2, TRUE},    {"missed", TRUE, 2, TRUE},
        {"twice", TRUE, 3, TRUE},      {"several interfaces", TRUE, 3, TRUE},
        {"steps back", TRUE, 3, TRUE},
    };
    g_autoptr(rs_table) table = rs_table_new(columns, G_N_ELEMENTS(columns));
    rs_text_heading(r, "Points, in the order of the path");
    for (guint i = 0; i < compare->points->len; i++) {
        const rs_compare_point *point = rs_compare_point_at(compare, i);
        rs_table_add(table, g_strdup_printf("%c", rs_compare_letter(i)));
        rs_table_add(table, rs_format_safe(point->given));
        rs_text_add_count(table, point->packets);
        rs_text_add_count(table, point->roce_packets);
        rs_text_add_count(table, point->dropped);
        rs_text_add_count(table, compare->missed[i]);
        rs_text_add_count(table, point->capture_duplicates);
        rs_text_add_count(table, compare->path->seen_inside[i]);
        rs_text_add_count(table, point->steps_back);
    }
    rs_table_print(table, r->out, r->width);
}

/* What counts on a segment without having come by its beginning. */
static void
print_round(const rs_text *r, const rs_compare_segment *s)
{
    if (s->lost_round == 0) {
        return;
    }
    char from = rs_compare_letter(s->from);
    g_autofree char *part = rs_format_count(s->lost_round);
    g_autofree char *all = rs_format_things(s->lost, "packet", "packets");
    gboolean is_one = s->lost_round == 1;
    g_autofree char *text = g_strdup_printf(
        "Of the %s lost from %c to %c, %s %s of streams that do not come by %c: lost "
        "anywhere between a point before %c and %c.",
        all, from, rs_compare_letter(s->to), part, is_one ? "is" : "are", from, from,
        rs_compare_letter(s->to));
    rs_text_wrapped(r, text, 2);
}

/* Points that are not in the order in which packets come by. */
static void
print_rose(const rs_text *r, const rs_compare_segment *s)
{
    if (s->hops_rose <= s->matched / 2) {
        return;
    }
    g_autofree char *arrow = rs_compare_arrow(s);
    g_autofree char *text =
        g_strdup_printf("On %s hop limits rise: packets come by %c before they come by "
                        "%c, and the points are not in the order of the path.",
                        arrow, rs_compare_letter(s->to), rs_compare_letter(s->from));
    rs_text_wrapped(r, text, 2);
}

static void
print_segments(const rs_text *r, const rs_compare *compare)
{
    static const rs_column columns[] = {
        {"segment", FALSE, 0, FALSE},      {"matched", TRUE, 0, FALSE},
        {"lost", TRUE, 0, FALSE},          {"marked", TRUE, 0, FALSE},
        {"reordered", TRUE, 1, FALSE},     {"duplicated", TRUE, 1, FALSE},
        {"DSCP", TRUE, 2, TRUE},           {"corrupted", TRUE, 2, TRUE},
        {"missed by from", TRUE, 3, TRUE}, {"missed by to", TRUE, 3, TRUE},
        {"undecidable", TRUE, 3, TRUE},    {"outside", TRUE, 4, TRUE},
        {"slipped", TRUE, 4, TRUE},
    };
    g_autoptr(rs_table) table = rs_table_new(columns, G_N_ELEMENTS(columns));
    rs_text_heading(r, "What happened between them (copies of packets)");
    for (guint i = 0; i < compare->segments->len; i++) {
        const rs_compare_segment *s = rs_compare_segment_at(compare, i);
        const struct {
            guint64 n;
            gboolean known;
        } counts[] = {
            {s->lost, s->loss_known},
            {s->marked, s->known},
            {s->reordered, s->known},
            {s->duplicated, s->known},
            {s->rewritten, s->known},
            {s->corrupted, s->known},
            {s->missed_from, s->known},
            {s->missed_to, s->loss_known},
            {s->undecidable + s->duplicated_or_missed, s->loss_known},
            {s->outside, s->loss_known},
            {s->slipped, s->loss_known},
        };
        rs_table_add(table, rs_compare_arrow(s));
        rs_text_add_count(table, s->matched);
        for (guint k = 0; k < G_N_ELEMENTS(counts); k++) {
            rs_table_add(table, counts[k].known ? rs_format_count(counts[k].n)
                                                : g_strdup("–"));
        }
    }
    rs_table_print(table, r->out, r->width);
    for (guint i = 0; i < compare->segments->len; i++) {
        print_round(r, rs_compare_segment_at(compare, i));
        print_rose(r, rs_compare_segment_at(compare, i));
    }
}

/* ---- clocks and delays ---- */

/* Prints a table and what is to be known about it; nothing, if it has no rows. */
static void
print_explained(const rs_text *r, const char *heading, const rs_table *table,
                const char *explanation)
{
    if (!rs_table_is_empty(table)) {
        rs_text_heading(r, heading);
        rs_table_print(table, r->out, r->width);
        rs_text_wrapped(r, explanation, 2);
    }
}

static void
print_clocks(const rs_text *r, const rs_compare *compare)
{
    static const rs_column columns[] = {
        {"clocks", FALSE, 0, FALSE}, {"offset", FALSE, 0, FALSE},
        {"drift", FALSE, 0, FALSE},  {"set", TRUE, 1, TRUE},
        {"matches", TRUE, 1, FALSE}, {"residual", TRUE, 2, FALSE},
    };
    g_autoptr(rs_table) table = rs_table_new(columns, G_N_ELEMENTS(columns));
    for (guint i = 0; i + 1 < compare->points->len; i++) {
        const rs_compare_segment *s = rs_compare_segment_at(compare, i);
        if (s->one_clock || !s->clock.known) {
            continue;
        }
        rs_table_add(table, rs_compare_clocks(s));
        rs_table_add(table, rs_compare_offset(s));
        rs_table_add(table, rs_compare_drift(&s->clock));
        rs_text_add_count(table, s->clock.n_steps);
        rs_text_add_count(table, s->clock.packets[0] + s->clock.packets[1]);
        rs_table_add(table, rs_format_duration(s->clock.residual_ns, 0));
    }
    print_explained(r, "Clocks", table,
                    "An offset is taken as if the least delays of both directions "
                    "were the same; it cannot be wrong by more than is said.");
}

static void
print_delays(const rs_text *r, const rs_compare *compare)
{
    static const rs_column columns[] = {
        {"segment", FALSE, 0, FALSE}, {"least", TRUE, 1, TRUE}, {"p50", TRUE, 0, FALSE},
        {"p90", TRUE, 1, FALSE},      {"p99", TRUE, 0, FALSE},  {"max", TRUE, 0, FALSE},
    };
    g_autoptr(rs_table) table = rs_table_new(columns, G_N_ELEMENTS(columns));
    for (guint i = 0; i < compare->segments->len; i++) {
        const rs_compare_segment *s = rs_compare_segment_at(compare, i);
        if (s->variation.count == 0) {
            continue;
        }
        const guint64 values[] = {s->variation.p50, s->variation.p90, s->variation.p99,
                                  s->variation.max};
        gint64 edge_ns = ABS(s->clock.edge_ns[s->way == RS_WAY_FORWARD ? 0 : 1]);
        rs_table_add(table, rs_compare_arrow(s));
        rs_table_add(table, s->one_clock ? rs_format_duration((guint64)edge_ns, 0)
                                         : g_strdup(""));
        for (guint k = 0; k < G_N_ELEMENTS(values); k++) {
            rs_table_add(table, rs_format_duration(values[k], 0));
        }
    }
    print_explained(r, "One-way delay above the least", table,
                    "The least delay itself is known only where one clock stamps both "
                    "points.");
}

/* ---- packets ---- */

static char *
frames_text(const rs_compare *compare, const rs_path_loss *loss)
{
    GString *text = g_string_new(NULL);
    for (guint i = 0; i < compare->points->len; i++) {
        g_string_append_printf(text, "%s%c ", i > 0 ? "  " : "", rs_compare_letter(i));
        if (loss->frames[i] != 0) {
            g_string_append_printf(text, "%" G_GUINT64_FORMAT, loss->frames[i]);
        } else {
            g_string_append(text, "–");
        }
    }
    return g_string_free(text, FALSE);
}

static void
print_losses_of(const rs_text *r, const rs_compare *compare,
                const rs_compare_segment *s)
{
    static const rs_column columns[] = {
        {"frame", FALSE, 0, FALSE},
        {"stream", FALSE, 1, FALSE},
        {"QPN", TRUE, 1, FALSE},
        {"PSN", TRUE, 0, FALSE},
        {"opcode", FALSE, 1, FALSE},
        {"sent again", FALSE, 2, FALSE},
        {"which of equals", FALSE, 3, TRUE},
    };
    guint top = compare->options->top;
    g_autoptr(GPtrArray) losses =
        rs_compare_losses(compare, s, top == 0 ? G_MAXINT : top);
    g_autoptr(rs_table) table = rs_table_new(columns, G_N_ELEMENTS(columns));
    g_autofree char *title = g_strdup_printf(
        "Lost from %c to %c", rs_compare_letter(s->from), rs_compare_letter(s->to));
    rs_text_heading(r, title);
    for (guint i = 0; i < losses->len; i++) {
        const rs_path_loss *loss = g_ptr_array_index(losses, i);
        const rs_flow *flow = g_ptr_array_index(compare->path->flows, loss->flow);
        g_autofree char *src = rs_format_addr(&flow->src);
        g_autofree char *dst = rs_format_addr(&flow->dst);
        rs_table_add(table, frames_text(compare, loss));
        rs_table_add(table, g_strdup_printf("%s → %s", src, dst));
        rs_table_add(table, g_strdup_printf("%u", flow->dst_qpn));
        rs_table_add(table, g_strdup_printf("%u", loss->psn24));
        rs_table_add(table, g_strdup(roce_opcode_get(loss->opcode)->name));
        rs_table_add(table, g_strdup(rs_loss_was_resent(loss->state) ? "yes" : "no"));
        rs_table_add(table, g_strdup(loss->ambiguous ? "unknown" : ""));
    }
    rs_table_print(table, r->out, r->width);
    if (s->lost > losses->len) {
        fprintf(r->out, "  … and %" G_GUINT64_FORMAT " more; --top 0 shows all\n",
                s->lost - losses->len);
    }
    g_autofree char *filter = rs_compare_filter_of_losses(compare, s);
    if (filter != NULL) {
        g_autofree char *name =
            rs_format_safe(rs_compare_point_at(compare, s->from)->path);
        fprintf(r->out, "  in Wireshark, %s: %s\n", name, filter);
    }
}

static void
print_rewrites_of(const rs_text *r, const rs_compare *compare,
                  const rs_compare_segment *s)
{
    rs_compare_evidence seen;
    rs_compare_evidence_of(compare, s, &seen);
    g_autofree char *arrow = rs_compare_arrow(s);
    for (guint from = 0; from < RS_PATH_DSCPS; from++) {
        for (guint to = 0; to < RS_PATH_DSCPS; to++) {
            if (seen.rewrites[from][to] > 0) {
                g_autofree char *n = rs_format_count(seen.rewrites[from][to]);
                fprintf(r->out, "  %s: DSCP %u became %u in %s %s\n", arrow, from, to,
                        n, seen.rewrites[from][to] == 1 ? "packet" : "packets");
            }
        }
    }
}

static void
print_packets(const rs_text *r, const rs_compare *compare)
{
    for (guint i = 0; i < compare->segments->len; i++) {
        const rs_compare_segment *s = rs_compare_segment_at(compare, i);
        if (s->lost > 0) {
            print_losses_of(r, compare, s);
        }
    }
    gboolean any = FALSE;
    for (guint i = 0; i < compare->segments->len; i++) {
        const rs_compare_segment *s = rs_compare_segment_at(compare, i);
        if (s->rewritten > 0) {
            if (!any) {
                rs_text_heading(r, "DSCPs that were rewritten");
            }
            any = TRUE;
            print_rewrites_of(r, compare, s);
        }
    }
}

/* ---- what to know about it ---- */

static void
print_alone(const rs_text *r, const rs_compare *compare)
{
    if (compare->alone_flows == 0) {
        return;
    }
    gboolean is_one = compare->alone_flows == 1;
    g_autofree char *streams =
        rs_format_things(compare->alone_flows, "stream", "streams");
    g_autofree char *packets =
        rs_format_things(compare->alone_packets, "packet", "packets");
    g_autofree char *text = g_strdup_printf(
        "%s with %s %s seen at one point only: nothing shows that %s this path, and %s "
        "nowhere above.",
        streams, packets, is_one ? "was" : "were", is_one ? "it takes" : "they take",
        is_one ? "it counts" : "they count");
    fputc('\n', r->out);
    rs_text_wrapped(r, text, 2);
}

static gboolean
any_way_guessed(const rs_compare *compare)
{
    for (guint i = 0; i < compare->path->flows->len; i++) {
        const rs_flow *flow = g_ptr_array_index(compare->path->flows, i);
        if (flow->way_by == RS_WAY_BY_ORDER_GIVEN && flow->way_known &&
            rs_flow_is_compared(flow, compare->points->len)) {
            return TRUE;
        }
    }
    return FALSE;
}

static void
print_notes(const rs_text *r, const rs_compare *compare)
{
    print_alone(r, compare);
    if (any_way_guessed(compare)) {
        rs_text_wrapped(
            r,
            "Of some streams nothing shows which way they go (one direction "
            "alone, two clocks, the same hop limit): they are taken to go "
            "from the first point to the last.",
            2);
    }
    if (compare->path->untracked_packets > 0) {
        guint64 untracked = compare->path->untracked_packets;
        g_autofree char *n =
            rs_format_things(untracked, "packet belongs", "packets belong");
        fprintf(r->out, "  %s to streams beyond those that fit.\n", n);
    }
    if (compare->interrupted) {
        fputs("  Interrupted: this is what was read until then.\n", r->out);
    }
}

void
rs_text_compare(FILE *out, const rs_compare *compare, guint width, gboolean color)
{
    const rs_text r = {.out = out, .width = width, .color = color};
    print_points(&r, compare);
    const char *nothing = rs_compare_nothing(compare);
    if (nothing != NULL) {
        fputc('\n', out);
        rs_text_wrapped(&r, nothing, 2);
        print_notes(&r, compare);
        return;
    }
    print_segments(&r, compare);
    print_clocks(&r, compare);
    print_delays(&r, compare);
    print_packets(&r, compare);
    print_notes(&r, compare);
}
