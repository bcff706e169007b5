/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "html_compare.h"

#include "compare_words.h"
#include "html_table.h"
#include "json_compare.h"

#define MOST_ROWS 2000 /* of a table: the page stays small */
#define COLUMNS(table) table, G_N_ELEMENTS(table)

/* clang-format off */

static const rs_html_column point_columns[] = {
    {"", "letter", RS_HTML_TEXT, RS_HTML_ALWAYS, NULL, NULL},
    {"Point", "name", RS_HTML_TEXT, RS_HTML_ALWAYS, NULL, NULL},
    {"Packets", "packets", RS_HTML_COUNT, RS_HTML_ALWAYS, "Captured there", NULL},
    {"RoCE", "roce_packets", RS_HTML_COUNT, RS_HTML_ALWAYS, NULL, NULL},
    {"Dropped", "dropped_by_capture", RS_HTML_COUNT, RS_HTML_IF_ANY, "By the capture, as the file says", "the file does not say"},
    {"Missed", "missed", RS_HTML_COUNT, RS_HTML_IF_ANY, "By the capture, as other points prove", NULL},
    {"Twice", "capture_duplicates", RS_HTML_COUNT, RS_HTML_IF_ANY, "Second copies of a mirror, left out", NULL},
    {"Several interfaces", "seen_at_several_interfaces", RS_HTML_COUNT, RS_HTML_IF_ANY, "Seen by a further interface of the point, or on the other side of a router", NULL},
    {"Steps back", "time_steps_back", RS_HTML_COUNT, RS_HTML_IF_ANY, "Stamps earlier than the one before", NULL},
    {"Problem", "error", RS_HTML_TEXT, RS_HTML_IF_ANY, NULL, "none"},
};

#define NOTHING "nothing was matched on this segment"

static const rs_html_column segment_columns[] = {
    {"Segment", "arrow", RS_HTML_TEXT, RS_HTML_ALWAYS, NULL, NULL},
    {"Matched", "matched", RS_HTML_COUNT, RS_HTML_ALWAYS, "Seen at both", NULL},
    {"Lost", "lost", RS_HTML_COUNT, RS_HTML_ALWAYS, "Copies seen at the first and not at the second", NOTHING},
    {"Lost round first", "lost_round", RS_HTML_COUNT, RS_HTML_IF_ANY, "Of these: of streams that do not come by the first, lost anywhere between a point before it and the second", NOTHING},
    {"Marked", "marked", RS_HTML_COUNT, RS_HTML_ALWAYS, "ECT became CE", NOTHING},
    {"Reordered", "reordered", RS_HTML_COUNT, RS_HTML_ALWAYS, "Came behind a packet that had been behind them", NOTHING},
    {"Duplicated", "duplicated", RS_HTML_COUNT, RS_HTML_ALWAYS, "Copies more at the second", NOTHING},
    {"DSCP", "dscp_rewritten", RS_HTML_COUNT, RS_HTML_IF_ANY, "Rewritten", NOTHING},
    {"Corrupted", "corrupted", RS_HTML_COUNT, RS_HTML_IF_ANY, "The ICRC or IPv4 header fits at the first alone", NOTHING},
    {"Hop limit rose", "hop_limit_rose", RS_HTML_COUNT, RS_HTML_IF_ANY, "More is left at the second: if this is so of most, the points are not in the order of the path", NOTHING},
    {"Missed by first", "missed_by_capture.from", RS_HTML_COUNT, RS_HTML_IF_ANY, "By the capture at the first", NOTHING},
    {"Missed by second", "missed_by_capture.to", RS_HTML_COUNT, RS_HTML_IF_ANY, "By the capture at the second", NOTHING},
    {"Undecidable", "undecidable+duplicated_or_missed", RS_HTML_COUNT, RS_HTML_IF_ANY, "One or the other", NOTHING},
    {"Outside", "outside_common_time", RS_HTML_COUNT, RS_HTML_IF_ANY, "Of the time in which both captures ran", NOTHING},
    {"Slipped", "slipped_out_of_window", RS_HTML_COUNT, RS_HTML_IF_ANY, "Out of the window in which packets wait", NOTHING},
    {"Least delay", "least_delay_ns", RS_HTML_DURATION, RS_HTML_IF_ANY, "One way", "two clocks: only its variation is known"},
    {"Delay above least: p50", "delay_variation_ns.p50", RS_HTML_DURATION, RS_HTML_ALWAYS, "One-way delay above the least", NOTHING},
    {"p99", "delay_variation_ns.p99", RS_HTML_DURATION, RS_HTML_ALWAYS, NULL, NOTHING},
    {"Max", "delay_variation_ns.max", RS_HTML_DURATION, RS_HTML_ALWAYS, NULL, NOTHING},
};

static const rs_html_column clock_columns[] = {
    {"Clocks", "clocks", RS_HTML_TEXT, RS_HTML_ALWAYS, NULL, NULL},
    {"Offset", "offset", RS_HTML_TEXT, RS_HTML_ALWAYS, "As if the least delays of both directions were the same", NULL},
    {"Drift", "drift", RS_HTML_TEXT, RS_HTML_ALWAYS, NULL, NULL},
    {"Matches", "clock.matches", RS_HTML_COUNT, RS_HTML_ALWAYS, "Packets that it rests on", NULL},
    {"Residual", "clock.residual_ns", RS_HTML_DURATION, RS_HTML_ALWAYS, "Median distance from the line", NULL},
    {"Set", "n_steps", RS_HTML_COUNT, RS_HTML_IF_ANY, "How often one of both was set", NULL},
};

static const rs_html_column loss_columns[] = {
    {"Segment", "arrow", RS_HTML_TEXT, RS_HTML_ALWAYS, NULL, NULL},
    {"Frame", "frame", RS_HTML_NUMBER, RS_HTML_ALWAYS, "In the file of the last point that saw it", NULL},
    {"From", "src", RS_HTML_TEXT, RS_HTML_ALWAYS, NULL, NULL},
    {"To", "dst", RS_HTML_TEXT, RS_HTML_ALWAYS, NULL, NULL},
    {"QPN", "dst_qpn", RS_HTML_HEX, RS_HTML_ALWAYS, "Destination", NULL},
    {"PSN", "psn", RS_HTML_NUMBER, RS_HTML_ALWAYS, NULL, NULL},
    {"Opcode", "opcode", RS_HTML_TEXT, RS_HTML_ALWAYS, NULL, NULL},
    {"Sent again", "again", RS_HTML_TEXT, RS_HTML_ALWAYS, NULL, NULL},
};

static const rs_html_column stream_columns[] = {
    {"Stream", "id", RS_HTML_NUMBER, RS_HTML_ALWAYS, NULL, NULL},
    {"From", "src", RS_HTML_TEXT, RS_HTML_ALWAYS, NULL, NULL},
    {"To", "dst", RS_HTML_TEXT, RS_HTML_ALWAYS, NULL, NULL},
    {"QPN", "dst_qpn", RS_HTML_HEX, RS_HTML_ALWAYS, "Destination", NULL},
    {"Direction", "direction", RS_HTML_TEXT, RS_HTML_ALWAYS, "Along the points as given", "seen at one point only"},
    {"Known by", "direction_by", RS_HTML_TEXT, RS_HTML_ALWAYS, NULL, "seen at one point only"},
    {"Packets", "packets", RS_HTML_TEXT, RS_HTML_ALWAYS, "At each point", NULL},
    {"Lost", "lost", RS_HTML_COUNT, RS_HTML_ALWAYS, "On all segments", NULL},
    {"Marked", "marked", RS_HTML_COUNT, RS_HTML_ALWAYS, "On all segments", NULL},
    {"Reordered", "reordered", RS_HTML_COUNT, RS_HTML_ALWAYS, "On all segments", NULL},
};

/* clang-format on */

static void
write_table(rs_html *page, const char *id, const char *caption,
            const rs_html_column *columns, guint n_columns, const json_t *rows)
{
    const rs_html_table_style style = {.id = id, .caption = caption};
    g_autoptr(rs_html_table) table = rs_html_table_new(&style, columns, n_columns);
    gsize i;
    const json_t *row;
    json_array_foreach(rows, i, row)
    {
        if (i < MOST_ROWS) {
            rs_html_table_add(table, row);
        }
    }
    rs_html_table_write(table, page);
    if (json_array_size(rows) > MOST_ROWS) {
        rs_html_printf(page, "<p>The first %d of %zu.</p>\n", MOST_ROWS,
                       json_array_size(rows));
    }
}

/* A section with one table; nothing, if that has no rows. */
typedef struct page_part {
    const char *id, *heading;
    const char *table_id, *caption;
    const rs_html_column *columns;
    guint n_columns;
} page_part;

static void
write_part(rs_html *page, const page_part *p, const json_t *rows)
{
    if (json_array_size(rows) > 0) {
        rs_html_section(page, p->id, p->heading);
        write_table(page, p->table_id, p->caption, p->columns, p->n_columns, rows);
        rs_html_end_section(page);
    }
}

static void
set_text(json_t *row, const char *key, char *text)
{
    json_object_set_new(row, key, json_string(text));
    g_free(text);
}

/* ---- parts of the page ---- */

static void
write_points(rs_html *page, json_t *report)
{
    static const page_part p = {"points", "Points, in the order of the path", "point",
                                "Points", COLUMNS(point_columns)};
    json_t *points = json_object_get(report, "points");
    gsize i;
    json_t *point;
    json_array_foreach(points, i, point)
    {
        set_text(point, "letter", g_strdup_printf("%c", rs_compare_letter((guint)i)));
    }
    write_part(page, &p, points);
}

static void
write_segments(rs_html *page, const rs_compare *compare, json_t *segments)
{
    gsize i;
    json_t *segment;
    json_array_foreach(segments, i, segment)
    {
        set_text(segment, "arrow", rs_compare_arrow(rs_compare_segment_at(compare, i)));
    }
    rs_html_section(page, "segments", "What happened between them");
    const char *nothing = rs_compare_nothing(compare);
    if (nothing != NULL) {
        rs_html_printf(page, "<p>%s</p>\n", nothing);
    }
    write_table(page, "segment", "Copies of packets, by segment and direction",
                COLUMNS(segment_columns), segments);
    json_array_foreach(segments, i, segment)
    {
        const char *filter = json_string_value(json_object_get(segment, "lost_filter"));
        const char *name = json_string_value(json_object_get(segment, "from_name"));
        if (filter != NULL) {
            g_autofree char *label = g_strconcat("Lost packets in ", name, NULL);
            rs_html_copyable(page, label, filter);
        }
    }
    rs_html_end_section(page);
}

static void
write_clocks(rs_html *page, const rs_compare *compare, const json_t *segments)
{
    static const page_part p = {"clocks", "Clocks", "clock",
                                "Offset and drift, by the packets",
                                COLUMNS(clock_columns)};
    json_t *rows = json_array();
    for (gsize i = 0; i + 1 < compare->points->len; i++) {
        const rs_compare_segment *s = rs_compare_segment_at(compare, i);
        if (s->one_clock || !s->clock.known) {
            continue;
        }
        json_t *row = json_copy(json_array_get(segments, i));
        set_text(row, "clocks", rs_compare_clocks(s));
        set_text(row, "offset", rs_compare_offset(s));
        set_text(row, "drift", rs_compare_drift(&s->clock));
        json_object_set_new(row, "n_steps", json_integer(s->clock.n_steps));
        json_array_append_new(rows, row);
    }
    write_part(page, &p, rows);
    json_decref(rows);
}

static void
write_losses(rs_html *page, const json_t *segments)
{
    static const page_part p = {"lost", "Lost packets", "loss", "Copies that were lost",
                                COLUMNS(loss_columns)};
    json_t *rows = json_array();
    gsize i;
    const json_t *segment;
    json_array_foreach(segments, i, segment)
    {
        gsize k;
        json_t *loss;
        json_array_foreach(json_object_get(segment, "lost_packets"), k, loss)
        {
            json_object_set(loss, "arrow", json_object_get(segment, "arrow"));
            gboolean again = json_is_true(json_object_get(loss, "sent_again"));
            json_object_set_new(loss, "again", json_string(again ? "yes" : "no"));
            json_array_append(rows, loss);
        }
    }
    write_part(page, &p, rows);
    json_decref(rows);
}

/* What a stream met on all its segments. */
static void
add_up(json_t *stream)
{
    static const char *const keys[] = {"lost", "marked", "reordered"};
    for (guint k = 0; k < G_N_ELEMENTS(keys); k++) {
        json_int_t sum = 0;
        gsize i;
        const json_t *part;
        json_array_foreach(json_object_get(stream, "segments"), i, part)
        {
            sum += json_integer_value(json_object_get(part, keys[k]));
        }
        json_object_set_new(stream, keys[k], json_integer(sum));
    }
}

static void
write_streams(rs_html *page, json_t *report)
{
    json_t *streams = json_object_get(report, "streams");
    gsize i;
    json_t *stream;
    json_array_foreach(streams, i, stream)
    {
        add_up(stream);
    }
    rs_html_section(page, "streams", "Streams");
    write_table(page, "stream", "Streams in order of appearance",
                COLUMNS(stream_columns), streams);
    rs_html_markup(page,
                   "<p>Streams that only one point saw count nowhere above: nothing "
                   "shows that they take this path.</p>\n");
    rs_html_end_section(page);
}

/* Both ends of the path; by their directories only if they need them. */
static char *
make_title(const rs_compare *compare)
{
    const rs_compare_point *first = rs_compare_point_at(compare, 0);
    const rs_compare_point *last =
        rs_compare_point_at(compare, compare->points->len - 1);
    g_autofree char *from = g_path_get_basename(first->path);
    g_autofree char *to = g_path_get_basename(last->path);
    return g_str_equal(from, to)
               ? g_strdup_printf("%s to %s", first->given, last->given)
               : g_strdup_printf("%s to %s", from, to);
}

void
rs_report_compare_html(FILE *out, const rs_compare *compare)
{
    g_autofree char *title = make_title(compare);
    const rs_html_head head = {
        .kind = "Points of a path", .title = title, .charts = RS_HTML_NO_CHARTS};
    json_t *report = rs_json_compare(compare);
    json_t *segments = json_object_get(report, "segments");
    rs_html *page = rs_html_open(out, &head);
    write_segments(page, compare, segments);
    write_points(page, report);
    write_clocks(page, compare, segments);
    write_losses(page, segments);
    write_streams(page, report);
    rs_html_close(page);
    json_decref(report);
}
