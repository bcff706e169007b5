/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Findings about a NIC's counters beside what was captured of its host. */
#include "counter_check.h"
#include "findings_parts.h"
#include "format.h"
#include "thresholds.h"

/* "gpu01", "10.0.0.1 and 2 other addresses" */
static char *
host_label(const rs_findings *all, const rs_counter_check *check)
{
    const roce_addr *first = &g_array_index(check->addrs, roce_addr, 0);
    const rs_host *host = rs_hosts_find(all->analysis->told->hosts, first);
    if (host != NULL) {
        return rs_format_safe(host->name);
    }
    g_autofree char *addr = rs_format_addr(first);
    g_autofree char *others =
        rs_finding_count(check->addrs->len - 1, "other address", "other addresses");
    return check->addrs->len == 1 ? g_steal_pointer(&addr)
                                  : g_strdup_printf("%s and %s", addr, others);
}

static void
add_streams(const rs_findings *all, rs_finding *f, const rs_counter_check *check)
{
    const roce_tracker *tracker = all->analysis->tracker;
    for (guint32 id = 0; id < roce_tracker_n_streams(tracker); id++) {
        const roce_stream *s = roce_tracker_stream(tracker, id);
        if (rs_summary_stands(all->summary, id) &&
            (rs_counter_check_has(check, &s->src) ||
             rs_counter_check_has(check, &s->dst))) {
            g_array_append_val(f->streams, id);
        }
    }
}

/* ---- counters that disagree with the capture ---- */

static gboolean
disagrees(const rs_counter_row *row)
{
    return row->verdict == RS_COUNTER_MORE || row->verdict == RS_COUNTER_FEWER;
}

/* Whether the capture holds fewer faults than there were, by more than a few. */
static gboolean
is_grave(const rs_counter_row *row)
{
    return row->is_error && row->verdict == RS_COUNTER_MORE &&
           row->difference >= RS_WARNING_COUNTER_EVENTS &&
           row->difference * 100 >= row->increase * RS_WARNING_COUNTER_PERCENT;
}

/* The row to be named first: a grave one, else the greatest difference. */
static gboolean
is_worse(const rs_counter_row *row, const rs_counter_row *than)
{
    if (than == NULL || is_grave(row) != is_grave(than)) {
        return than == NULL || is_grave(row);
    }
    return row->difference > than->difference;
}

/* "packet_seq_err 120, captured 100 sequence NAKs received: 20 missed" */
static char *
row_words(const rs_counter_row *row)
{
    g_autofree char *counted = rs_format_count(row->increase);
    g_autofree char *captured = rs_format_count(row->captured);
    g_autofree char *difference = rs_format_count(row->difference);
    return g_strdup_printf("%s rose by %s, the capture holds %s %s: %s %s%s", row->name,
                           counted, captured, row->words, difference,
                           row->verdict == RS_COUNTER_MORE ? "more" : "fewer",
                           row->state == RS_COUNTER_WRAPPED
                               ? " (the counter passed the end of its 32 bits)"
                               : "");
}

/* What a difference can mean, by where the capture was taken. */
static const char *
meaning(const rs_counter_check *check, const rs_counter_row *worst)
{
    gboolean there = check->place == RS_COUNTER_THERE;
    if (worst->verdict == RS_COUNTER_FEWER) {
        return there ? "What the NIC did not count was not its own, or of "
                       "before or behind the readings."
                     : "What was captured may not have reached that NIC.";
    }
    return there
               ? "What is more was missed by the capture, or happened outside its time."
               : "What is more was missed by the capture, happened outside its time, "
                 "or on the way between the NIC and the capture point.";
}

static void
find_disagreement(rs_findings *all, const rs_finding_row *row,
                  const rs_counter_check *check)
{
    guint n = 0;
    const rs_counter_row *worst = NULL;
    g_autoptr(GString) words = g_string_new(NULL);
    for (guint i = 0; i < check->rows->len; i++) {
        const rs_counter_row *one = &g_array_index(check->rows, rs_counter_row, i);
        if (disagrees(one)) {
            g_autofree char *text = row_words(one);
            n++;
            worst = is_worse(one, worst) ? one : worst;
            g_string_append_printf(words, "%s.  ", text);
        }
    }
    if (worst == NULL) {
        return;
    }
    rs_finding *f = rs_finding_add(
        all, row, is_grave(worst) ? RS_SEVERITY_WARNING : RS_SEVERITY_NOTE);
    g_autofree char *host = host_label(all, check);
    g_autofree char *addr = rs_format_addr(&g_array_index(check->addrs, roce_addr, 0));
    g_autofree char *counted = rs_format_count(worst->increase);
    g_autofree char *captured = rs_format_count(worst->captured);
    g_autofree char *others =
        n == 1   ? g_strdup("")
        : n == 2 ? g_strdup("; 1 more counter disagrees")
                 : g_strdup_printf("; %u more counters disagree", n - 1);
    rs_finding_about(f, addr);
    f->weight = worst->difference;
    rs_finding_say(
        f,
        g_strdup_printf("The NIC of %s counted %s %s, the capture holds %s%s", host,
                        counted, worst->words, captured, others),
        g_strdup_printf("%s%s", words->str, meaning(check, worst)));
    add_streams(all, f, check);
}

void
rs_find_counters(rs_findings *all, const rs_finding_row *row)
{
    g_autoptr(GPtrArray) checks = rs_counter_checks_new(all->analysis, all->summary);
    for (guint i = 0; i < checks->len; i++) {
        find_disagreement(all, row, g_ptr_array_index(checks, i));
    }
}

/* ---- counters that cannot be compared ---- */

static void
find_unplaced(rs_findings *all, const rs_finding_row *row,
              const rs_counter_check *check)
{
    gboolean known = check->addrs->len > 0;
    g_autofree char *path = rs_format_safe(check->told->after_path);
    rs_finding *f = rs_finding_add(all, row, RS_SEVERITY_NOTE);
    rs_finding_about(f, path);
    if (known) {
        g_autofree char *host = host_label(all, check);
        rs_finding_say(
            f, g_strdup_printf("Nothing of %s was captured", host),
            g_strdup_printf("The counters in %s were compared with nothing.", path));
        return;
    }
    gboolean empty = roce_tracker_n_streams(all->analysis->tracker) == 0;
    rs_finding_say(
        f, g_strdup_printf("Nobody can tell whose counters are in %s", path),
        g_strdup(empty ? "There is no RoCE stream in the capture."
                       : "Nobody said where the capture was taken, and no one host is "
                         "an end of all that was captured."));
}

void
rs_find_counters_unplaced(rs_findings *all, const rs_finding_row *row)
{
    g_autoptr(GPtrArray) checks = rs_counter_checks_new(all->analysis, all->summary);
    for (guint i = 0; i < checks->len; i++) {
        const rs_counter_check *check = g_ptr_array_index(checks, i);
        if (check->n_streams == 0) {
            find_unplaced(all, row, check);
        }
    }
}

void
rs_find_counters_reset(rs_findings *all, const rs_finding_row *row)
{
    g_autoptr(GPtrArray) checks = rs_counter_checks_new(all->analysis, all->summary);
    for (guint i = 0; i < checks->len; i++) {
        const rs_counter_check *check = g_ptr_array_index(checks, i);
        g_autoptr(GString) names = g_string_new(NULL);
        guint n = 0;
        for (guint k = 0; k < check->rows->len; k++) {
            const rs_counter_row *one = &g_array_index(check->rows, rs_counter_row, k);
            if (one->state == RS_COUNTER_RESET) {
                g_string_append_printf(names, "%s%s", n++ > 0 ? ", " : "", one->name);
            }
        }
        if (n == 0) {
            continue;
        }
        g_autofree char *path = rs_format_safe(check->told->after_path);
        g_autofree char *count = rs_finding_count(n, "counter is", "counters are");
        rs_finding *f = rs_finding_add(all, row, RS_SEVERITY_NOTE);
        rs_finding_about(f, path);
        f->weight = n;
        rs_finding_say(
            f, g_strdup_printf("%s lower after the capture, in %s", count, path),
            g_strdup_printf("%s: set to zero in between, or the files were "
                            "given the wrong way round.",
                            names->str));
    }
}
