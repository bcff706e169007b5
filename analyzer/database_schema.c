/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "database_schema.h"

#include <string.h>

/* clang-format off */

const rs_database_head_column rs_database_head_columns[] = {
    {"id", "INTEGER PRIMARY KEY", "number of the capture, by the order of names"},
    {"name", "TEXT NOT NULL UNIQUE", "of the capture; its reports are captures/NAME.json and captures/NAME.html"},
    {"path", "TEXT NOT NULL", "of its first file"},
    {"n_files", "INTEGER NOT NULL", "files; more than one: a rotated set"},
    {"file_bytes", "INTEGER NOT NULL", "bytes of its files as they are, packed or not"},
    {"status", "TEXT NOT NULL", "complete, incomplete: not all could be read, unreadable: nothing could, failed: its worker came to no end"},
    {"reason", "TEXT", "why it is not complete"},
    {"critical", "INTEGER", "findings of this severity; null without a report"},
    {"warning", "INTEGER", "findings of this severity; null without a report"},
    {"note", "INTEGER", "findings of this severity; null without a report"},
};

const guint rs_database_n_head_columns = G_N_ELEMENTS(rs_database_head_columns);

/* Columns of the tables that are about all captures; fleet.c fills them in this order. */
#define MEASURES \
    "  streams INTEGER, -- streams, each once a day\n" \
    "  packets INTEGER, -- packets\n" \
    "  payload_bytes INTEGER, -- bytes of messages in them\n" \
    "  lost INTEGER, -- packets that did not arrive, by the verdicts\n" \
    "  resent INTEGER, -- requests sent again\n" \
    "  data_packets INTEGER, -- data packets\n" \
    "  ce INTEGER, -- of them, marked with CE\n" \
    "  cnps INTEGER, -- CNPs that the data caused, as far as the other direction was found\n" \
    "  held_ns INTEGER -- for how long pauses held streams, added up over streams\n"

const char rs_database_tables[] =
    "CREATE TABLE no_captures ( -- Files in directories that are no captures\n"
    "  path TEXT NOT NULL, -- of the file\n"
    "  bytes INTEGER NOT NULL, -- its size\n"
    "  reason TEXT -- what it was taken for\n"
    ");\n"
    "CREATE TABLE host_pairs ( -- What hosts sent to each other, over all captures, each packet once\n"
    "  src TEXT, -- host that sends, by `--hosts`, else its address\n"
    "  dst TEXT, -- host that receives\n" MEASURES ");\n"
    "CREATE TABLE links ( -- What each NIC port sent and received, over all captures, each packet once\n"
    "  addr TEXT, -- its address\n"
    "  host TEXT, -- its host, by `--hosts`\n"
    "  rail TEXT, -- its rail\n"
    "  port TEXT, -- its port\n"
    "  way TEXT, -- `sends` or `receives`\n" MEASURES ");\n"
    "CREATE TABLE rail_pairs ( -- What went from rail to rail, by `--hosts`, over all captures, each packet once\n"
    "  src_rail TEXT, -- that it came from\n"
    "  dst_rail TEXT, -- that it went to\n" MEASURES ");\n"
    "CREATE TABLE days ( -- What was seen on each day, over all captures, each packet once\n"
    "  day TEXT, -- of the first packet that a capture has of a stream, UTC\n" MEASURES ");\n";

/* Verdicts that mean that something did not arrive: rs_losses_of() has the rule. */
#define LOST(p) \
    "(" p "losses_requests_lost_before_capture + " p "losses_requests_undelivered_after_capture" \
    " + " p "losses_requests_ack_lost + " p "losses_requests_data_or_ack_lost + " p "losses_requests_corrupt" \
    " + " p "losses_responses_lost_before_capture + " p "losses_responses_undelivered_after_capture" \
    " + " p "losses_responses_ack_lost + " p "losses_responses_data_or_ack_lost + " p "losses_responses_corrupt)"

#define SHARE(part, whole) "round(CAST(" part " AS REAL) / nullif(" whole ", 0), 6)"

/* Columns of the view of captures that are computed. */
static const struct {
    const char *name, *sql, *what;
} rates[] = {
    {"lost", LOST("c.totals_"), "packets that did not arrive, by the verdicts"},
    {"lost_share", SHARE(LOST("c.totals_"), "c.totals_packets"), "of packets of streams, 0 to 1"},
    {"resent", "c.totals_retransmissions_packets", "requests sent again"},
    {"resent_share", SHARE("c.totals_retransmissions_packets", "c.totals_packets"), "of packets of streams, 0 to 1"},
    {"paused_share", "(SELECT round(max(p.paused_share), 6) FROM pauses p WHERE p.capture = c.id)", "of the time, by the source that paused longest"},
};

#define RANKS_CAPTURES \
    "row_number() OVER (ORDER BY critical DESC, warning DESC, lost_share DESC,\n" \
    "  resent_share DESC, paused_share DESC, note DESC, name) AS rank"

const char rs_database_views[] =
    "CREATE VIEW ranked_days AS -- Days, with the captures that began on them\n"
    "SELECT d.day, count(c.id) AS captures, ifnull(sum(c.critical), 0) AS critical, ifnull(sum(c.warning), 0) AS warning, -- their findings\n"
    "  d.streams, d.packets, d.payload_bytes, d.lost, d.resent, d.data_packets, d.ce, d.cnps, d.held_ns\n"
    "FROM days d LEFT JOIN captures c ON date(c.first_ts_ns / 1000000000, 'unixepoch') = d.day\n"
    "GROUP BY d.day ORDER BY d.day;\n"
    "CREATE INDEX findings_id ON findings (capture, id);\n"
    "CREATE INDEX findings_severity ON findings (severity, kind);\n"
    "CREATE INDEX finding_streams_stream ON finding_streams (capture, stream);\n"
    "CREATE INDEX streams_id ON streams (capture, id);\n"
    "CREATE INDEX streams_hosts ON streams (src, dst);\n"
    "CREATE INDEX connections_id ON connections (capture, id);\n"
    "CREATE INDEX pauses_id ON pauses (capture, id);\n"
    "CREATE INDEX pauses_source ON pauses (src_mac, priority);\n"
    "CREATE VIEW ranked_streams AS -- Streams of all captures, the worst first, at each point that saw them\n"
    "SELECT row_number() OVER (ORDER BY worst DESC, lost DESC, resent DESC, ce DESC, name, stream) AS rank,\n"
    "  name, capture, stream, point, src, dst, dst_qpn, transport, severity, packets, payload_bytes, lost, resent, ce, cnps\n"
    "FROM (SELECT s.worst, c.name, s.capture, s.id AS stream, s.point, s.src, s.dst, s.dst_qpn, s.transport, -- which\n"
    "  CASE s.worst WHEN 3 THEN 'critical' WHEN 2 THEN 'warning' WHEN 1 THEN 'note' END AS severity, -- of the worst finding about it\n"
    "  s.packets, s.payload_bytes, -- seen\n"
    "  " LOST("s.") " AS lost, -- packets that did not arrive, by the verdicts\n"
    "  s.retransmissions_packets AS resent, -- requests sent again\n"
    "  s.ecn_ce AS ce, -- data packets with CE\n"
    "  s.cnps_received AS cnps -- CNPs that it caused; null: not known\n"
    "FROM (SELECT t.*, (SELECT max(CASE f.severity WHEN 'critical' THEN 3 WHEN 'warning' THEN 2 ELSE 1 END)\n"
    "    FROM finding_streams fs JOIN findings f ON f.capture = fs.capture AND f.id = fs.finding\n"
    "    WHERE fs.capture = t.capture AND fs.stream = t.id) AS worst FROM streams t) s\n"
    "JOIN captures c ON c.id = s.capture)\n"
    "ORDER BY rank;\n";

const char rs_database_sightings[] =
    "SELECT ifnull(s.tenant_kind, '') || char(10) || ifnull(s.tenant_id, '') || char(10) || s.src || char(10) ||\n"
    "  s.dst || char(10) || s.dst_qpn || char(10) || s.transport || char(10) ||\n"
    "  ifnull(CASE s.transport WHEN 'UD' THEN s.src_qpn END, '') AS key,\n"
    "  date(s.first_ts_ns / 1000000000, 'unixepoch') AS day,\n"
    "  s.src, s.dst, s.src_host_name AS src_name, s.dst_host_name AS dst_name,\n"
    "  ifnull(s.src_host_name, s.src) AS src_host, ifnull(s.dst_host_name, s.dst) AS dst_host,\n"
    "  s.src_host_rail AS src_rail, s.dst_host_rail AS dst_rail,\n"
    "  s.src_host_port AS src_port, s.dst_host_port AS dst_port,\n"
    "  s.first_ts_ns, s.last_ts_ns, s.packets, s.payload_bytes, " LOST("s.") " AS lost,\n"
    "  s.retransmissions_packets AS resent,\n"
    "  s.ecn_not_ect + s.ecn_ect0 + s.ecn_ect1 + s.ecn_ce AS data_packets,\n"
    "  s.ecn_ce AS ce, s.cnps_received AS cnps, h.held_ns\n"
    "FROM streams s LEFT JOIN (\n"
    "  SELECT v.capture, v.stream, sum(v.held_ns) AS held_ns FROM pause_victims v\n"
    "  JOIN pauses p ON p.capture = v.capture AND p.id = v.pause\n"
    "  WHERE p.same_as = p.id GROUP BY v.capture, v.stream) h\n"
    "ON h.capture = s.capture AND h.stream = s.id\n"
    "ORDER BY key, s.first_ts_ns, s.last_ts_ns, s.capture, s.id";

/* clang-format on */

/* What no table is made of. */
static const char *const left_out[] = {"events", "timeline", NULL};

/* Tables that rs_database_views has an index of that begins with the capture. */
static const char *const indexed[] = {"findings",    "finding_streams", "streams",
                                      "connections", "pauses",          NULL};

gboolean
rs_database_keeps(const rs_sheet *sheet)
{
    return !g_strv_contains(left_out, sheet->name);
}

static const char *
type_name(rs_value_type type)
{
    switch (type) {
    case RS_VALUE_INTEGER:
    case RS_VALUE_BOOLEAN:
        return "INTEGER";
    case RS_VALUE_REAL:
        return "REAL";
    case RS_VALUE_TEXT:
    case RS_VALUE_NULL:
        break;
    }
    return "TEXT";
}

static void
append_column(GString *sql, const char *name, const char *type, const char *what,
              const char *end)
{
    g_string_append_printf(sql, "  %s %s%s -- %s\n", name, type, end, what);
}

/* All of `captures`, and rates, the worst first. */
char *
rs_database_captures_view(void)
{
    const rs_sheet *sheet = rs_sheet_find("captures");
    g_autoptr(GString) sql = g_string_new("CREATE VIEW ranked_captures AS"
                                          " -- Captures, the worst first\n"
                                          "SELECT " RANKS_CAPTURES ", *\n"
                                          "FROM (SELECT\n");
    for (guint i = 0; i < rs_database_n_head_columns; i++) {
        g_string_append_printf(sql, "  c.%s,\n", rs_database_head_columns[i].name);
    }
    for (guint i = 0; i < G_N_ELEMENTS(rates); i++) {
        g_string_append_printf(sql, "  %s AS %s, -- %s\n", rates[i].sql, rates[i].name,
                               rates[i].what);
    }
    for (guint i = 0; i < sheet->n_columns; i++) {
        g_string_append_printf(sql, "  c.%s%s\n", sheet->columns[i].name,
                               i + 1 < sheet->n_columns ? "," : "");
    }
    g_string_append(sql, "FROM captures c)\nORDER BY rank;\n");
    return g_strdup(sql->str);
}

static void
append_sheet_columns(GString *sql, const rs_sheet *sheet)
{
    for (guint i = 0; i < sheet->n_columns; i++) {
        const rs_sheet_column *column = &sheet->columns[i];
        g_autofree char *what =
            column->type == RS_VALUE_BOOLEAN
                ? g_strdup_printf("%s (0 or 1)", column->what)
            : column->refers != NULL
                ? g_strdup_printf("%s (id in %s)", column->what, column->refers)
                : g_strdup(column->what);
        append_column(sql, column->name, type_name(column->type), what,
                      i + 1 < sheet->n_columns ? "," : "");
    }
}

char *
rs_database_table(const rs_sheet *sheet)
{
    gboolean heads = g_str_equal(sheet->name, "captures");
    g_autoptr(GString) sql = g_string_new(NULL);
    g_string_append_printf(sql, "CREATE TABLE %s ( -- %s\n", sheet->name, sheet->what);
    if (heads) {
        for (guint i = 0; i < rs_database_n_head_columns; i++) {
            const rs_database_head_column *column = &rs_database_head_columns[i];
            append_column(sql, column->name, column->type, column->what, ",");
        }
    } else {
        append_column(sql, "capture", "INTEGER NOT NULL REFERENCES captures (id)",
                      "whose row it is", ",");
    }
    append_sheet_columns(sql, sheet);
    g_string_append(sql, ");\n");
    if (!heads && !g_strv_contains(indexed, sheet->name)) {
        g_string_append_printf(sql, "CREATE INDEX %s_capture ON %s (capture);\n",
                               sheet->name, sheet->name);
    }
    return g_strdup(sql->str);
}

gsize
rs_database_n_columns(const rs_sheet *sheet)
{
    gboolean heads = g_str_equal(sheet->name, "captures");
    return sheet->n_columns + (heads ? rs_database_n_head_columns : 1);
}

char *
rs_database_insert(const char *table, gsize n_columns)
{
    g_autoptr(GString) sql = g_string_new(NULL);
    g_string_append_printf(sql, "INSERT INTO %s VALUES (?", table);
    for (gsize i = 1; i < n_columns; i++) {
        g_string_append(sql, ",?");
    }
    g_string_append(sql, ")");
    return g_strdup(sql->str);
}
