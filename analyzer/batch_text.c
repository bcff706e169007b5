/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "batch_text.h"

#include "format.h"

/* clang-format off */
static const rs_column columns[] = {
    {"critical", TRUE, 0, FALSE}, {"warnings", TRUE, 0, FALSE}, {"lost", TRUE, 1, TRUE},
    {"sent again", TRUE, 1, TRUE}, {"capture", FALSE, 0, FALSE},
};

static const char sql[] =
    "SELECT critical, warning, lost, resent, name FROM ranked_captures "
    "WHERE critical > 0 OR warning > 0 ORDER BY rank LIMIT ?";
/* clang-format on */

void
rs_batch_count(rs_batch_counts *counts, const rs_batch_result *results,
               guint n_captures)
{
    *counts = (rs_batch_counts){0};
    for (guint i = 0; i < n_captures; i++) {
        const rs_batch_result *result = &results[i];
        if (!result->ended) {
            counts->missing++;
            continue;
        }
        counts->by_status[result->status]++;
        counts->reused += result->reused ? 1 : 0;
        if (result->has_finding) {
            counts->critical += result->worst == RS_SEVERITY_CRITICAL ? 1 : 0;
            counts->warning += result->worst == RS_SEVERITY_WARNING ? 1 : 0;
        }
    }
}

static void
add_count(rs_table *table, const json_t *row, const char *key)
{
    guint64 n = (guint64)json_integer_value(json_object_get(row, key));
    rs_table_add(table, rs_format_count(n));
}

static gboolean
add_row(const json_t *row, void *ctx)
{
    const char *name = json_string_value(json_object_get(row, "name"));
    add_count(ctx, row, "critical");
    add_count(ctx, row, "warning");
    add_count(ctx, row, "lost");
    add_count(ctx, row, "resent");
    rs_table_add(ctx, rs_format_safe(name != NULL ? name : ""));
    return TRUE;
}

rs_table *
rs_batch_text_worst(rs_database *database, guint top, GError **error)
{
    rs_table *table = rs_table_new(columns, G_N_ELEMENTS(columns));
    gint64 limit = top > 0 ? (gint64)top : -1; /* as SQLite has it */
    if (!rs_database_ask(database, sql, limit, add_row, table, error)) {
        g_clear_pointer(&table, rs_table_free);
    }
    return table;
}

/* Captures of which nothing more is to be said are not mentioned. */
static void
print_count(FILE *out, guint n, const char *what)
{
    if (n > 0) {
        g_autofree char *number = rs_format_count(n);
        fprintf(out, "  %s %s\n", number, what);
    }
}

void
rs_batch_text(FILE *out, const rs_batch_counts *c, const rs_batch_extent *extent,
              const rs_table *worst, guint width, const char *where)
{
    guint n = c->missing;
    for (int i = 0; i < RS_BATCH_STATUSES; i++) {
        n += i != RS_BATCH_NO_CAPTURE ? c->by_status[i] : 0;
    }
    g_autofree char *number = rs_format_count(n);
    fprintf(out, "%s %s\n", number, n == 1 ? "capture" : "captures");
    print_count(out, c->reused, "done before");
    print_count(out, c->critical, "with critical findings");
    print_count(out, c->warning, "with warnings");
    print_count(out, c->by_status[RS_BATCH_INCOMPLETE], "not read in full");
    print_count(out, c->by_status[RS_BATCH_UNREADABLE], "that could not be read");
    print_count(out, c->by_status[RS_BATCH_FAILED], "given up");
    print_count(out, c->missing,
                extent->merged ? "missing: no part has them"
                               : "missing: interrupted; the same command goes on");
    print_count(out, (guint)extent->n_inputs_missing,
                "inputs missing with their shares");
    print_count(out, c->by_status[RS_BATCH_NO_CAPTURE], "no capture (other files)");
    if (worst != NULL && c->critical + c->warning > 0) {
        fputc('\n', out);
        rs_table_print(worst, out, width);
        fputc('\n', out);
    }
    g_autofree char *safe = rs_format_safe(where);
    fprintf(out, "%s\n", safe);
}
