/* SPDX-License-Identifier: GPL-2.0-or-later */
/* summary.csv and summary.json: docs/batch.md says what is in them. */
#include "batch_files.h"

#include "csv.h"
#include "database_schema.h"
#include "json_capture.h"
#include "json_parts.h"

#include <stdlib.h>

#define SCHEMA_VERSION 1
#define MANY 1000 /* rows of long lists; the database has the others */
#define DIGITS 15 /* what a double holds of decimals */

/* ---- CSV ---- */

static void
put_field(rs_csv *csv, const json_t *value)
{
    if (json_is_integer(value)) {
        rs_csv_integer(csv, json_integer_value(value));
    } else if (json_is_real(value)) {
        rs_csv_real(csv, json_real_value(value));
    } else if (json_is_string(value)) {
        rs_csv_text(csv, json_string_value(value));
    } else {
        rs_csv_null(csv);
    }
}

static gboolean
put_record(const json_t *row, void *ctx)
{
    rs_csv *csv = ctx;
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(guintptr)row, key, value)
    {
        put_field(csv, value);
    }
    rs_csv_end_record(csv);
    return TRUE;
}

gboolean
rs_batch_summary_csv(FILE *out, rs_database *database, const rs_batch_extent *extent,
                     GError **error)
{
    static const char sql[] = "SELECT * FROM ranked_captures ORDER BY rank";
    (void)extent;
    rs_csv csv;
    rs_csv_init(&csv, out);
    g_auto(GStrv) columns = rs_database_columns(database, sql, error);
    if (columns == NULL) {
        return FALSE;
    }
    for (guint i = 0; columns[i] != NULL; i++) {
        rs_csv_text(&csv, columns[i]);
    }
    rs_csv_end_record(&csv);
    return rs_database_ask(database, sql, 0, put_record, &csv, error);
}

/* ---- JSON ---- */

/* A list while it is written. */
typedef struct list {
    FILE *out;
    guint n;
} list;

static void
put(FILE *out, const json_t *value)
{
    (void)json_dumpf(value, out, JSON_COMPACT | JSON_REAL_PRECISION(DIGITS));
}

static gboolean
put_element(const json_t *row, void *ctx)
{
    list *l = ctx;
    fputs(l->n++ > 0 ? ",\n" : "\n", l->out);
    put(l->out, row);
    return TRUE;
}

/* A member whose value is the only row of the answer. */
static gboolean
put_only(const json_t *row, void *ctx)
{
    put(ctx, row);
    return FALSE;
}

/* Members of the summary, each an answer. */
static const struct {
    const char *name;
    enum {
        ROWS,
        ONE_ROW
    } form;
    const char *sql;
} members[] = {
    /* clang-format off */
    {"captures_by_status", ONE_ROW,
     "SELECT count(*) AS 'all', coalesce(sum(status = 'complete'), 0) AS complete, "
     "coalesce(sum(status = 'incomplete'), 0) AS incomplete, "
     "coalesce(sum(status = 'unreadable'), 0) AS unreadable, "
     "coalesce(sum(status = 'failed'), 0) AS failed FROM captures"},
    {"captures_by_worst_finding", ONE_ROW,
     "SELECT coalesce(sum(critical > 0), 0) AS critical, "
     "coalesce(sum(critical = 0 AND warning > 0), 0) AS warning, "
     "coalesce(sum(critical = 0 AND warning = 0 AND note > 0), 0) AS note, "
     "coalesce(sum(critical = 0 AND warning = 0 AND note = 0), 0) AS none FROM captures"},
    {"findings", ONE_ROW,
     "SELECT coalesce(sum(critical), 0) AS critical, coalesce(sum(warning), 0) AS warning, "
     "coalesce(sum(note), 0) AS note FROM captures"},
    {"kinds", ROWS,
     "SELECT kind, severity, count(DISTINCT capture) AS captures, count(*) AS findings "
     "FROM findings GROUP BY kind, severity "
     "ORDER BY severity = 'critical' DESC, severity = 'warning' DESC, captures DESC, "
     "findings DESC, kind"},
    {"captures", ROWS,
     "SELECT rank, name, path, n_files, file_bytes, status, reason, "
     "critical, warning, note, lost, lost_share, resent, resent_share, paused_share, "
     "packets, first_ts_ns, last_ts_ns FROM ranked_captures ORDER BY rank"},
    {"streams", ROWS,
     "SELECT * FROM ranked_streams ORDER BY rank LIMIT ?"},
    {"host_pairs", ROWS, "SELECT * FROM host_pairs ORDER BY " RS_DATABASE_WORST ", src, dst LIMIT ?"},
    {"links", ROWS, "SELECT * FROM links ORDER BY " RS_DATABASE_WORST ", addr, way LIMIT ?"},
    {"rail_pairs", ROWS, "SELECT * FROM rail_pairs ORDER BY src_rail, dst_rail LIMIT ?"},
    {"days", ROWS, "SELECT * FROM ranked_days ORDER BY day"},
    {"no_captures", ROWS, "SELECT path, bytes, reason FROM no_captures ORDER BY path"},
    /* clang-format on */
};

static gboolean
put_member(FILE *out, rs_database *database, guint i, GError **error)
{
    fprintf(out, ",\n\"%s\":", members[i].name);
    if (members[i].form == ONE_ROW) {
        return rs_database_ask(database, members[i].sql, 0, put_only, out, error);
    }
    list l = {.out = out};
    fputc('[', out);
    gboolean good =
        rs_database_ask(database, members[i].sql, MANY, put_element, &l, error);
    fputc(']', out);
    return good;
}

gboolean
rs_batch_summary_json(FILE *out, rs_database *database, const rs_batch_extent *extent,
                      GError **error)
{
    json_t *tool = rs_json_tool();
    fprintf(out, "{\"schema_version\":%d,\n\"tool\":", SCHEMA_VERSION);
    put(out, tool);
    json_decref(tool);
    gboolean complete = extent->n_missing == 0 && !extent->parts_missing;
    fprintf(out, ",\n\"complete\":%s", complete ? "true" : "false");
    fprintf(out, ",\n\"captures_missing\":%u", extent->n_missing);
    fprintf(out, ",\n\"inputs_missing\":%" G_GUINT64_FORMAT, extent->n_inputs_missing);
    for (guint i = 0; i < G_N_ELEMENTS(members); i++) {
        if (!put_member(out, database, i, error)) {
            return FALSE;
        }
    }
    fputs("}\n", out);
    return TRUE;
}
