/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * index.html: captures and streams of a batch, the worst first.
 *
 * However many captures there are, the page stays one that opens at once: tables end after
 * so many rows, and say where the others are.
 */
#include "batch_files.h"

#include "database_schema.h"
#include "format.h"
#include "html_page.h"
#include "html_table.h"

#define CAPTURES 2000
#define STREAMS 200
#define KINDS 200
#define FAILURES 500
#define NO_CAPTURES 200
#define LINKS 200
#define PAIRS 200
#define RAILS 256
#define DAYS 1000

static const char rule[] =
    "<p>Captures are ranked by their findings: the number of critical ones counts "
    "first, then that of warnings. Where these are the same, it is the share of "
    "packets that did not arrive, then that of requests sent again, then the share of "
    "time for which the source that paused longest paused its link, then the number "
    "of notes, then the name. Streams are ranked by the worst finding about them, "
    "then by their packets that did not arrive, requests sent again and marks.</p>\n"
    "<p>Links and hosts are ranked by their packets that did not arrive, then by "
    "requests sent again, the time that pauses held them, and marks. What several "
    "captures or points saw of a stream at the same time counts once: of each number "
    "the greatest.</p>\n";

static const rs_html_column captures[] = {
    {"rank", "rank", RS_HTML_NUMBER, RS_HTML_ALWAYS, NULL, NULL},
    {"capture", "report", RS_HTML_REPORT, RS_HTML_ALWAYS, NULL, "there is no report"},
    {"critical", "critical", RS_HTML_COUNT, RS_HTML_ALWAYS, "findings of this severity",
     "there is no report"},
    {"warnings", "warning", RS_HTML_COUNT, RS_HTML_ALWAYS, "findings of this severity",
     "there is no report"},
    {"notes", "note", RS_HTML_COUNT, RS_HTML_ALWAYS, "findings of this severity",
     "there is no report"},
    {"lost", "lost_share", RS_HTML_SHARE, RS_HTML_ALWAYS,
     "packets that did not arrive, of those of streams", "there is no stream"},
    {"sent again", "resent_share", RS_HTML_SHARE, RS_HTML_ALWAYS,
     "requests sent again, of packets of streams", "there is no stream"},
    {"paused", "paused_share", RS_HTML_SHARE, RS_HTML_IF_ANY,
     "of the time, by the source that paused longest", "no pause was seen"},
    {"worst finding", "title", RS_HTML_TEXT, RS_HTML_ALWAYS, NULL, "nothing was found"},
    {"packets", "packets", RS_HTML_COUNT, RS_HTML_ALWAYS, "read", "there is no report"},
    {"files", "n_files", RS_HTML_COUNT, RS_HTML_ALWAYS, "more than one: a rotated set",
     NULL},
    {"size", "file_bytes", RS_HTML_BYTES, RS_HTML_ALWAYS, "of the files as they are",
     NULL},
    {"status", "status", RS_HTML_TEXT, RS_HTML_ALWAYS, NULL, NULL},
};

static const rs_html_column streams[] = {
    {"rank", "rank", RS_HTML_NUMBER, RS_HTML_ALWAYS, NULL, NULL},
    {"severity", "severity", RS_HTML_SEVERITY, RS_HTML_ALWAYS,
     "of the worst finding about it", "no finding is about it"},
    {"source", "src", RS_HTML_TEXT, RS_HTML_ALWAYS, NULL, NULL},
    {"destination", "dst", RS_HTML_TEXT, RS_HTML_ALWAYS, NULL, NULL},
    {"queue pair", "dst_qpn", RS_HTML_HEX, RS_HTML_ALWAYS, "at the destination", NULL},
    {"transport", "transport", RS_HTML_TEXT, RS_HTML_ALWAYS, NULL, NULL},
    {"lost", "lost", RS_HTML_COUNT, RS_HTML_ALWAYS, "packets that did not arrive",
     NULL},
    {"sent again", "resent", RS_HTML_COUNT, RS_HTML_ALWAYS, "requests", NULL},
    {"CE", "ce", RS_HTML_COUNT, RS_HTML_ALWAYS, "data packets marked", NULL},
    {"CNPs", "cnps", RS_HTML_COUNT, RS_HTML_ALWAYS, "that its data caused",
     "its other direction is not known"},
    {"packets", "packets", RS_HTML_COUNT, RS_HTML_ALWAYS, NULL, NULL},
    {"stream", "stream", RS_HTML_NUMBER, RS_HTML_ALWAYS, "its number in the report",
     NULL},
    {"capture", "report", RS_HTML_REPORT, RS_HTML_ALWAYS, NULL, NULL},
};

static const rs_html_column kinds[] = {
    {"severity", "severity", RS_HTML_SEVERITY, RS_HTML_ALWAYS, NULL, NULL},
    {"kind", "kind", RS_HTML_TEXT, RS_HTML_ALWAYS, NULL, NULL},
    {"captures", "captures", RS_HTML_COUNT, RS_HTML_ALWAYS, "in which it was found",
     NULL},
    {"findings", "findings", RS_HTML_COUNT, RS_HTML_ALWAYS, NULL, NULL},
};

/* clang-format off */
/* What is counted of hosts, links, rails and days. */
#define MEASURES \
    {"streams", "streams", RS_HTML_COUNT, RS_HTML_ALWAYS, "each once a day", NULL}, \
    {"packets", "packets", RS_HTML_COUNT, RS_HTML_ALWAYS, NULL, NULL}, \
    {"payload", "payload_bytes", RS_HTML_BYTES, RS_HTML_ALWAYS, NULL, NULL}, \
    {"lost", "lost", RS_HTML_COUNT, RS_HTML_ALWAYS, "packets that did not arrive", NULL}, \
    {"sent again", "resent", RS_HTML_COUNT, RS_HTML_ALWAYS, "requests", NULL}, \
    {"CE", "ce", RS_HTML_COUNT, RS_HTML_ALWAYS, "data packets marked", NULL}, \
    {"CE share", "ce/data_packets", RS_HTML_SHARE, RS_HTML_ALWAYS, "of data packets", "there is no data"}, \
    {"CNPs", "cnps", RS_HTML_COUNT, RS_HTML_ALWAYS, "that the data caused, where its other direction is known", NULL}, \
    {"held", "held_ns", RS_HTML_DURATION, RS_HTML_IF_ANY, "by pauses, added up over streams", NULL}

static const rs_html_column links[] = {
    {"address", "addr", RS_HTML_TEXT, RS_HTML_ALWAYS, NULL, NULL},
    {"host", "host", RS_HTML_TEXT, RS_HTML_IF_ANY, NULL, "--hosts does not have it"},
    {"rail", "rail", RS_HTML_TEXT, RS_HTML_IF_ANY, NULL, "--hosts does not have it"},
    {"port", "port", RS_HTML_TEXT, RS_HTML_IF_ANY, NULL, "--hosts does not have it"},
    {"way", "way", RS_HTML_TEXT, RS_HTML_ALWAYS, NULL, NULL},
    MEASURES,
};

static const rs_html_column pairs[] = {
    {"from", "src", RS_HTML_TEXT, RS_HTML_ALWAYS, NULL, NULL},
    {"to", "dst", RS_HTML_TEXT, RS_HTML_ALWAYS, NULL, NULL},
    MEASURES,
};

static const rs_html_column rails[] = {
    {"from rail", "src_rail", RS_HTML_TEXT, RS_HTML_ALWAYS, NULL, NULL},
    {"to rail", "dst_rail", RS_HTML_TEXT, RS_HTML_ALWAYS, NULL, NULL},
    MEASURES,
};

static const rs_html_column days[] = {
    {"day", "day", RS_HTML_TEXT, RS_HTML_ALWAYS, "UTC", NULL},
    {"captures", "captures", RS_HTML_COUNT, RS_HTML_ALWAYS, "that began on it", NULL},
    {"critical", "critical", RS_HTML_COUNT, RS_HTML_ALWAYS, "findings of these", NULL},
    {"warnings", "warning", RS_HTML_COUNT, RS_HTML_ALWAYS, "findings of these", NULL},
    MEASURES,
};
/* clang-format on */

static const rs_html_column failures[] = {
    {"file", "path", RS_HTML_TEXT, RS_HTML_ALWAYS, "the capture's first", NULL},
    {"status", "status", RS_HTML_TEXT, RS_HTML_ALWAYS, NULL, NULL},
    {"reason", "reason", RS_HTML_TEXT, RS_HTML_ALWAYS, NULL, NULL},
    {"size", "file_bytes", RS_HTML_BYTES, RS_HTML_ALWAYS, NULL, NULL},
};

static const rs_html_column no_captures[] = {
    {"file", "path", RS_HTML_TEXT, RS_HTML_ALWAYS, NULL, NULL},
    {"reason", "reason", RS_HTML_TEXT, RS_HTML_ALWAYS, NULL, NULL},
    {"size", "bytes", RS_HTML_BYTES, RS_HTML_ALWAYS, NULL, NULL},
};

/* A section: a table of the rows that `sql` gives, of which `limit` at most are shown. */
typedef struct section {
    const char *id, *heading, *caption;
    const rs_html_column *columns;
    guint n_columns, limit;
    const char *sql;      /* its "?" is the limit */
    const char *how_many; /* gives "n", of all of them */
    const char *others;   /* where they are */
} section;

#define COLUMNS(table) table, G_N_ELEMENTS(table)

static const section sections[] = {
    /* clang-format off */
    {"captures", "Captures", "Captures, worst first", COLUMNS(captures), CAPTURES,
     "SELECT r.rank, r.critical, r.warning, r.note, r.lost_share, r.resent_share, r.paused_share, "
     "r.packets, r.n_files, r.file_bytes, r.status, "
     "CASE WHEN r.critical IS NOT NULL THEN name END AS report, "
     "(SELECT f.title FROM findings f WHERE f.capture = r.id ORDER BY f.rowid LIMIT 1) AS title "
     "FROM ranked_captures r ORDER BY r.rank LIMIT ?",
     "SELECT count(*) AS n FROM captures", "summary.csv has all of them"},
    {"failures", "Not read in full", "Captures that could not be read in full", COLUMNS(failures), FAILURES,
     "SELECT path, status, reason, file_bytes FROM captures WHERE status != 'complete' ORDER BY name LIMIT ?",
     "SELECT count(*) AS n FROM captures WHERE status != 'complete'", "summary.csv has all of them"},
    {"streams", "Streams", "Streams of all captures, worst first", COLUMNS(streams), STREAMS,
     "SELECT *, name AS report FROM ranked_streams ORDER BY rank LIMIT ?",
     "SELECT count(*) AS n FROM streams", "rocescope.sqlite has all of them"},
    {"days", "Days", "Days, what was seen on each", COLUMNS(days), DAYS,
     "SELECT * FROM ranked_days WHERE (SELECT count(*) FROM days) > 1 ORDER BY day DESC LIMIT ?",
     "SELECT count(*) AS n FROM days", "rocescope.sqlite has all of them"},
    {"links", "Links", "NIC ports and what went over their links, worst first", COLUMNS(links), LINKS,
     "SELECT * FROM links ORDER BY " RS_DATABASE_WORST ", addr, way LIMIT ?",
     "SELECT count(*) AS n FROM links", "rocescope.sqlite has all of them"},
    {"pairs", "Hosts", "Hosts that send to each other, worst first", COLUMNS(pairs), PAIRS,
     "SELECT * FROM host_pairs ORDER BY " RS_DATABASE_WORST ", src, dst LIMIT ?",
     "SELECT count(*) AS n FROM host_pairs", "rocescope.sqlite has all of them"},
    {"rails", "Rails", "From rail to rail", COLUMNS(rails), RAILS,
     "SELECT * FROM rail_pairs ORDER BY src_rail, dst_rail LIMIT ?",
     "SELECT count(*) AS n FROM rail_pairs", "rocescope.sqlite has all of them"},
    {"kinds", "What was found", "Kinds of findings", COLUMNS(kinds), KINDS,
     "SELECT kind, severity, count(DISTINCT capture) AS captures, count(*) AS findings "
     "FROM findings GROUP BY kind, severity "
     "ORDER BY severity = 'critical' DESC, severity = 'warning' DESC, captures DESC, "
     "findings DESC, kind LIMIT ?",
     "SELECT 0 AS n", ""},
    {"no-captures", "No captures", "Files in directories that are no captures", COLUMNS(no_captures), NO_CAPTURES,
     "SELECT path, reason, bytes FROM no_captures ORDER BY path LIMIT ?",
     "SELECT count(*) AS n FROM no_captures", "summary.json has all of them"},
    /* clang-format on */
};

static gboolean
take_row(const json_t *row, void *ctx)
{
    rs_html_table_add(ctx, row);
    return TRUE;
}

static gboolean
write_section(rs_html *page, rs_database *database, const section *s, GError **error)
{
    const rs_html_table_style style = {.id = s->id, .caption = s->caption};
    g_autoptr(rs_html_table) table =
        rs_html_table_new(&style, s->columns, s->n_columns);
    guint64 n;
    if (!rs_database_ask(database, s->sql, s->limit, take_row, table, error) ||
        !rs_database_count(database, s->how_many, &n, error)) {
        return FALSE;
    }
    if (rs_html_table_n_rows(table) == 0) {
        return TRUE;
    }
    rs_html_section(page, s->id, s->heading);
    rs_html_table_write(table, page);
    if (n > s->limit) {
        g_autofree char *more = rs_format_count(n - s->limit);
        rs_html_printf(page, "<p class=\"more\">… and %s more: %s.</p>\n", more,
                       s->others);
    }
    rs_html_end_section(page);
    return TRUE;
}

static gboolean
write_fact(rs_html *page, rs_database *database, const char *label, const char *sql,
           GError **error)
{
    guint64 n;
    if (!rs_database_count(database, sql, &n, error)) {
        return FALSE;
    }
    g_autofree char *text = rs_format_count(n);
    rs_html_printf(page, "<div><dt>%s</dt><dd>%s</dd></div>\n", label, text);
    return TRUE;
}

static gboolean
write_facts(rs_html *page, rs_database *database, GError **error)
{
    /* clang-format off */
    static const struct {
        const char *label, *sql;
    } facts[] = {
        {"captures", "SELECT count(*) AS n FROM captures"},
        {"with critical findings", "SELECT count(*) AS n FROM captures WHERE critical > 0"},
        {"with warnings only", "SELECT count(*) AS n FROM captures WHERE critical = 0 AND warning > 0"},
        {"not read in full", "SELECT count(*) AS n FROM captures WHERE status != 'complete'"},
        {"streams", "SELECT count(*) AS n FROM streams"},
        {"RoCE packets", "SELECT coalesce(sum(roce_packets), 0) AS n FROM captures"},
    };
    /* clang-format on */
    rs_html_markup(page, "<dl class=\"facts\">\n");
    for (guint i = 0; i < G_N_ELEMENTS(facts); i++) {
        if (!write_fact(page, database, facts[i].label, facts[i].sql, error)) {
            return FALSE;
        }
    }
    rs_html_markup(page, "</dl>\n");
    return TRUE;
}

static void
write_missing(rs_html *page, const rs_batch_extent *extent)
{
    g_autofree char *n_captures =
        rs_format_things(extent->n_missing, "capture", "captures");
    g_autofree char *are_missing =
        rs_format_things(extent->n_missing, "capture is", "captures are");
    g_autofree char *n_inputs =
        rs_format_things(extent->n_inputs_missing, "input", "inputs");
    if (extent->parts_missing) {
        rs_html_printf(page,
                       "<p><strong>Parts are missing: %s known of, and %s of the parts "
                       "that are here.</strong> Merged once "
                       "more with them, this is whole.</p>\n",
                       n_inputs, n_captures);
    } else if (extent->n_missing > 0) {
        rs_html_printf(page, "<p><strong>%s missing: %s.</strong></p>\n", are_missing,
                       extent->merged
                           ? "no part has them"
                           : "this batch was interrupted. The same command goes on");
    }
}

/* Everything of the page between its shell. */
static gboolean
write_contents(rs_html *page, rs_database *database, const rs_batch_extent *extent,
               GError **error)
{
    write_missing(page, extent);
    if (!write_facts(page, database, error)) {
        return FALSE;
    }
    for (guint i = 0; i < G_N_ELEMENTS(sections); i++) {
        gboolean matrix_goes_before = g_str_equal(sections[i].id, "links");
        gboolean trend_goes_before = g_str_equal(sections[i].id, "days");
        if ((matrix_goes_before && !rs_batch_matrix(page, database, error)) ||
            (trend_goes_before && !rs_batch_trend(page, database, error)) ||
            !write_section(page, database, &sections[i], error)) {
            return FALSE;
        }
    }
    rs_html_section(page, "rule", "How this is ranked");
    rs_html_markup(page, rule);
    rs_html_end_section(page);
    return TRUE;
}

gboolean
rs_batch_index(FILE *out, rs_database *database, const rs_batch_extent *extent,
               GError **error)
{
    guint64 n;
    if (!rs_database_count(database, "SELECT count(*) AS n FROM captures", &n, error)) {
        return FALSE;
    }
    g_autofree char *number = rs_format_count(n);
    g_autofree char *title =
        g_strdup_printf("%s %s", number, n == 1 ? "capture" : "captures");
    const rs_html_head head = {
        .kind = "Batch", .title = title, .charts = RS_HTML_MATRIX};
    rs_html *page = rs_html_open(out, &head);
    gboolean good = write_contents(page, database, extent, error);
    rs_html_close(page);
    return good;
}
