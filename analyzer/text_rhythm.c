/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "text_rhythm.h"

#include "format.h"
#include "sorting.h"
#include "table.h"

#define INDENT 2
#define HOSTS_NAMED 16
#define BESIDE_PERCENT 90 /* of the data: then the rhythm is not worth a section */

static char *
label_of(const rs_text *r, guint32 node)
{
    const rs_edges *edges = rs_collective_edges(r->analysis->watchers.collective);
    return rs_hosts_label(r->analysis->told->hosts, &rs_edges_node(edges, node)->addr);
}

/* ---- rhythm ---- */

static void
print_rhythm(const rs_text *r, const rs_rhythm *rhythm)
{
    g_autofree char *period = rs_format_duration(rhythm->period.p50, 0);
    g_autofree char *slow = rs_format_duration(rhythm->period.p90, 0);
    g_autofree char *stddev = rs_format_duration(rhythm->period.stddev, 0);
    g_autofree char *length = rs_format_duration(rhythm->length.p50, 0);
    g_autofree char *bytes = rs_format_bytes(rhythm->bytes.p50);
    g_autofree char *idle = rs_format_share(rhythm->idle_ns, rhythm->span_ns);
    g_autofree char *other =
        rs_format_share(rhythm->bytes_out, rhythm->bytes_in + rhythm->bytes_out);
    g_autofree char *missing =
        rhythm->missing > 0
            ? g_strdup_printf(", %" G_GUINT64_FORMAT " left out", rhythm->missing)
            : g_strdup("");
    g_autofree char *text = g_strdup_printf(
        "%u iterations%s, one every %s (90 %% within %s, standard deviation %s): "
        "bursts of %s, %s each; idle %s of the time.  %s of the data is beside the "
        "rhythm.%s",
        rhythm->iterations->len, missing, period, slow, stddev, length, bytes, idle,
        other,
        rhythm->whole ? ""
                      : "  Seen at the beginning of the capture, which is looked at "
                        "more closely.");
    rs_text_wrapped(r, text, INDENT);
}

/* clang-format off */
static const rs_column host_columns[] = {
    {"host", FALSE, 0, FALSE}, {"iterations", TRUE, 1, FALSE},
    {"begins last", TRUE, 0, FALSE}, {"by", TRUE, 1, FALSE},
    {"ends last", TRUE, 0, FALSE}, {"by", TRUE, 1, FALSE},
};
/* clang-format on */

static void
add_lastness(rs_table *table, const rs_lastness *last)
{
    rs_text_add_count(table, last->times);
    rs_table_add(table,
                 last->times > 0 ? rs_format_duration(last->by.p50, 0) : g_strdup(""));
}

static gint
more_often_last(gconstpointer a, gconstpointer b)
{
    const rs_performer *x = a;
    const rs_performer *y = b;
    guint of_x = x->last[RS_LAST_TO_BEGIN].times + x->last[RS_LAST_TO_END].times;
    guint of_y = y->last[RS_LAST_TO_BEGIN].times + y->last[RS_LAST_TO_END].times;
    if (of_x != of_y) {
        return of_x > of_y ? -1 : 1;
    }
    return rs_by_number(x->node, y->node);
}

static GArray *
copy_of(const GArray *performers)
{
    GArray *copy = g_array_new(FALSE, FALSE, sizeof(rs_performer));
    return g_array_append_vals(copy, performers->data, performers->len);
}

static void
print_hosts(const rs_text *r, const GArray *performers)
{
    if (performers->len < 2) {
        return;
    }
    g_autoptr(GArray) sorted = copy_of(performers);
    g_array_sort(sorted, more_often_last);
    g_autoptr(rs_table) table = rs_table_new(host_columns, G_N_ELEMENTS(host_columns));
    guint shown = rs_text_rows_shown(r, sorted->len);
    for (guint i = 0; i < shown; i++) {
        const rs_performer *one = &g_array_index(sorted, rs_performer, i);
        rs_table_add(table, label_of(r, one->node));
        rs_text_add_count(table, one->iterations);
        add_lastness(table, &one->last[RS_LAST_TO_BEGIN]);
        add_lastness(table, &one->last[RS_LAST_TO_END]);
    }
    rs_table_print(table, r->out, r->width);
    rs_text_say_more(r, sorted->len, shown);
}

/* ---- shapes ---- */

static void
append_hosts(const rs_text *r, GString *text, const GArray *nodes, const char *between)
{
    for (guint i = 0; i < MIN(nodes->len, HOSTS_NAMED); i++) {
        g_autofree char *label = label_of(r, g_array_index(nodes, guint32, i));
        g_string_append_printf(text, "%s%s", i > 0 ? between : "", label);
    }
    if (nodes->len > HOSTS_NAMED) {
        g_string_append(text, " …");
    }
}

static void
append_steps(const rs_text *r, GString *text, const rs_steps *steps)
{
    const rs_edges *edges = rs_collective_edges(r->analysis->watchers.collective);
    if (steps->n == 0) {
        return;
    }
    const rs_hop *slowest = rs_steps_slowest(steps);
    g_autofree char *step = rs_format_duration(steps->step.p50, 0);
    g_string_append_printf(text, "  %u steps of %s", steps->n, step);
    if (rs_steps_are_alike(steps)) {
        g_string_append(text, ", of all hops alike.");
        return;
    }
    g_autofree char *transfer = rs_format_duration(slowest->transfer.p50, 0);
    g_autofree char *from = label_of(r, rs_edges_at(edges, slowest->edge)->src);
    g_autofree char *to = label_of(r, rs_edges_at(edges, slowest->edge)->dst);
    g_string_append_printf(text, "; slowest hop %s to %s, %s.", from, to, transfer);
}

static void
append_trees(const rs_text *r, GString *text, const rs_group *group)
{
    g_string_append_printf(
        text, "%s of %u hosts:", group->trees->len > 1 ? "Two trees" : "Tree",
        group->nodes->len);
    for (guint i = 0; i < group->trees->len; i++) {
        const rs_tree *tree = g_ptr_array_index(group->trees, i);
        g_autofree char *root = label_of(r, tree->root);
        g_string_append_printf(text, "%s root %s", i > 0 ? "," : "", root);
    }
    g_string_append(text, group->up && group->down ? "; up and down."
                          : group->up              ? "; towards the root."
                                                   : "; from the root.");
}

static void
append_ring(const rs_text *r, GString *text, const rs_group *group)
{
    if (group->n_rings == 1) {
        g_string_append_printf(text, "Ring of %u hosts: ", group->nodes->len);
    } else {
        g_string_append_printf(text, "%u rings of %u hosts", group->n_rings,
                               group->nodes->len);
        g_string_append(text, group->rings->len > 0
                                  ? ": "
                                  : ", in an order that cannot be told from here.");
    }
    for (guint i = 0; i < group->rings->len; i++) {
        g_string_append(text, i > 0 ? "; " : "");
        append_hosts(r, text, g_ptr_array_index(group->rings, i), " → ");
    }
    g_string_append(text, group->rings->len > 0 ? "." : "");
    append_steps(r, text, &group->steps);
}

static void
append_group(const rs_text *r, GString *text, const rs_group *group,
             const rs_rhythm *rhythm)
{
    g_autofree char *center =
        group->center != RS_NO_NODE ? label_of(r, group->center) : g_strdup("");
    guint others = group->nodes->len - 1;
    switch (group->kind) {
    case RS_SHAPE_RING:
        append_ring(r, text, group);
        break;
    case RS_SHAPE_TREE:
        append_trees(r, text, group);
        break;
    case RS_SHAPE_ALL_TO_ALL:
        g_string_append_printf(text, "All to all, %u hosts.", group->nodes->len);
        break;
    case RS_SHAPE_CHAIN:
        g_string_append_printf(text,
                               "Chain of %u hosts: each sends to the next; a ring of "
                               "which the rest is not seen looks the same.",
                               group->nodes->len);
        break;
    case RS_SHAPE_PARAMETER_SERVER:
        g_string_append_printf(text, "%u hosts send to %s, and it to them.", others,
                               center);
        break;
    case RS_SHAPE_INCAST:
        g_string_append_printf(text, "%u hosts send to %s.", others, center);
        break;
    case RS_SHAPE_FAN_OUT:
        g_string_append_printf(text, "%s sends to %u hosts.", center, others);
        break;
    case RS_SHAPE_ONE_HOST:
        g_string_append_printf(text,
                               "%s is sent or received by %s: the shape cannot be "
                               "told from here, since nothing is seen of what its %u "
                               "neighbours do among themselves.",
                               rhythm != NULL && !rhythm->all_edges
                                   ? "All data that keeps the rhythm"
                                   : "All data",
                               center, others);
        break;
    case RS_SHAPE_OTHER:
        g_string_append_printf(text, "%u hosts, in no shape that is known.",
                               group->nodes->len);
        break;
    case RS_SHAPE_PAIR:
    case RS_N_SHAPES:
        break;
    }
}

/* What is no shape is worth a line where hosts have a rhythm. */
static gboolean
is_worth_a_line(const rs_group *group, const rs_rhythm *rhythm)
{
    switch (group->kind) {
    case RS_SHAPE_PAIR:
    case RS_N_SHAPES:
        return FALSE;
    case RS_SHAPE_ONE_HOST:
    case RS_SHAPE_OTHER:
        return rhythm != NULL;
    case RS_SHAPE_RING:
    case RS_SHAPE_ALL_TO_ALL:
    case RS_SHAPE_TREE:
    case RS_SHAPE_CHAIN:
    case RS_SHAPE_PARAMETER_SERVER:
    case RS_SHAPE_INCAST:
    case RS_SHAPE_FAN_OUT:
        break;
    }
    return TRUE;
}

static guint
count_lines(const GPtrArray *groups, const rs_rhythm *rhythm)
{
    guint n = 0;
    for (guint i = 0; i < groups->len; i++) {
        n += is_worth_a_line(g_ptr_array_index(groups, i), rhythm) ? 1 : 0;
    }
    return n;
}

static void
print_groups(const rs_text *r, const GPtrArray *groups, const rs_rhythm *rhythm)
{
    guint n = count_lines(groups, rhythm);
    guint limit = rs_text_rows_shown(r, n);
    guint shown = 0;
    for (guint i = 0; i < groups->len && shown < limit; i++) {
        const rs_group *group = g_ptr_array_index(groups, i);
        if (is_worth_a_line(group, rhythm)) {
            g_autoptr(GString) text = g_string_new(NULL);
            append_group(r, text, group, rhythm);
            rs_text_wrapped(r, text->str, INDENT);
            shown++;
        }
    }
    rs_text_say_more(r, n, shown);
}

/* ---- admission ---- */

/* clang-format off */
static const rs_column admission_columns[] = {
    {"receiver", FALSE, 0, FALSE}, {"clears sender", FALSE, 0, FALSE},
    {"times", TRUE, 0, FALSE}, {"ahead by", TRUE, 2, FALSE},
    {"delay", TRUE, 0, FALSE}, {"90 %", TRUE, 2, FALSE},
    {"waited for", TRUE, 0, FALSE}, {"in all", TRUE, 1, FALSE},
};
/* clang-format on */

static void
print_admissions(const rs_text *r, const GArray *admissions)
{
    if (admissions->len == 0) {
        return;
    }
    rs_text_heading(r, "Receivers that clear senders to send");
    g_autoptr(rs_table) table =
        rs_table_new(admission_columns, G_N_ELEMENTS(admission_columns));
    guint shown = rs_text_rows_shown(r, admissions->len);
    for (guint i = 0; i < shown; i++) {
        const rs_admission *a = &g_array_index(admissions, rs_admission, i);
        rs_table_add(table, label_of(r, a->receiver));
        rs_table_add(table, label_of(r, a->sender));
        rs_text_add_count(table, a->pairs);
        rs_text_add_count(table, a->window);
        rs_table_add(table, rs_format_duration(a->delay.p50, 0));
        rs_table_add(table, rs_format_duration(a->delay.p90, 0));
        rs_text_add_count(table, a->waited);
        rs_table_add(table, rs_format_duration(a->waited_ns, 0));
    }
    rs_table_print(table, r->out, r->width);
    rs_text_say_more(r, admissions->len, shown);
}

/* What a few packets do beside everything else is not what hosts do together. */
static gboolean
is_odd(const rs_rhythm *rhythm)
{
    return rhythm->bytes_out * 100 >
           (rhythm->bytes_in + rhythm->bytes_out) * BESIDE_PERCENT;
}

static void
print_together(const rs_text *r, const GPtrArray *groups, const rs_rhythm *rhythm)
{
    if (rhythm != NULL) {
        print_rhythm(r, rhythm);
    }
    print_groups(r, groups, rhythm);
    if (rhythm != NULL) {
        print_hosts(r, rs_collective_performers(r->analysis->watchers.collective));
    }
}

void
rs_text_rhythm(const rs_text *r)
{
    const rs_collective *collective = r->analysis->watchers.collective;
    const rs_rhythm *rhythm = rs_collective_rhythm(collective);
    const GPtrArray *groups = rs_collective_groups(collective);
    gboolean odd = rhythm != NULL && is_odd(rhythm);
    if (!odd && (rhythm != NULL || count_lines(groups, rhythm) > 0)) {
        rs_text_heading(r, "What hosts do together");
        print_together(r, groups, rhythm);
    }
    print_admissions(r, rs_collective_admissions(collective));
}
