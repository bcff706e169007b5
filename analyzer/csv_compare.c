/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "csv_compare.h"

#include "csv.h"
#include "error.h"
#include "json_compare.h"
#include "output.h"
#include "sheets.h"

#include <errno.h>
#include <glib/gstdio.h>

/* clang-format off */

#define COUNTS                                                                  \
    {"matched", "matched", RS_VALUE_INTEGER, "", NULL},                         \
    {"lost", "lost", RS_VALUE_INTEGER, "", NULL},                               \
    {"lost_sent_again", "lost_sent_again", RS_VALUE_INTEGER, "", NULL},         \
    {"undecidable", "undecidable", RS_VALUE_INTEGER, "", NULL},                 \
    {"marked", "marked", RS_VALUE_INTEGER, "", NULL},                           \
    {"reordered", "reordered", RS_VALUE_INTEGER, "", NULL},                     \
    {"duplicated", "duplicated", RS_VALUE_INTEGER, "", NULL},                   \
    {"dscp_rewritten", "dscp_rewritten", RS_VALUE_INTEGER, "", NULL},           \
    {"corrupted", "corrupted", RS_VALUE_INTEGER, "", NULL},                     \
    {"missed_by_from", "missed_by_capture.from", RS_VALUE_INTEGER, "", NULL},   \
    {"missed_by_to", "missed_by_capture.to", RS_VALUE_INTEGER, "", NULL}

static const rs_sheet_column segment_columns[] = {
    {"from", "from_name", RS_VALUE_TEXT, "", NULL},
    {"to", "to_name", RS_VALUE_TEXT, "", NULL},
    COUNTS,
    {"clock_offset_ns", "clock.offset_ns", RS_VALUE_INTEGER, "", NULL},
    {"clock_offset_uncertainty_ns", "clock.offset_uncertainty_ns", RS_VALUE_INTEGER, "", NULL},
    {"clock_drift_ppb", "clock.drift_ppb", RS_VALUE_INTEGER, "", NULL},
    {"delay_variation_p50_ns", "delay_variation_ns.p50", RS_VALUE_INTEGER, "", NULL},
    {"delay_variation_p99_ns", "delay_variation_ns.p99", RS_VALUE_INTEGER, "", NULL},
    {"delay_variation_max_ns", "delay_variation_ns.max", RS_VALUE_INTEGER, "", NULL},
};

static const rs_sheet_column loss_columns[] = {
    {"from", "of.from_name", RS_VALUE_TEXT, "", NULL},
    {"to", "of.to_name", RS_VALUE_TEXT, "", NULL},
    {"frame", "item.frame", RS_VALUE_INTEGER, "", NULL},
    {"time_ns", "item.time_ns", RS_VALUE_INTEGER, "", NULL},
    {"stream", "item.stream", RS_VALUE_INTEGER, "", NULL},
    {"src", "item.src", RS_VALUE_TEXT, "", NULL},
    {"dst", "item.dst", RS_VALUE_TEXT, "", NULL},
    {"dst_qpn", "item.dst_qpn", RS_VALUE_INTEGER, "", NULL},
    {"psn", "item.psn", RS_VALUE_INTEGER, "", NULL},
    {"opcode", "item.opcode", RS_VALUE_TEXT, "", NULL},
    {"sent_again", "item.sent_again", RS_VALUE_BOOLEAN, "", NULL},
    {"ambiguous", "item.ambiguous", RS_VALUE_BOOLEAN, "", NULL},
};

static const rs_sheet_column stream_columns[] = {
    {"stream", "of.id", RS_VALUE_INTEGER, "", NULL},
    {"src", "of.src", RS_VALUE_TEXT, "", NULL},
    {"dst", "of.dst", RS_VALUE_TEXT, "", NULL},
    {"dst_qpn", "of.dst_qpn", RS_VALUE_INTEGER, "", NULL},
    {"direction", "of.direction", RS_VALUE_TEXT, "", NULL},
    {"direction_by", "of.direction_by", RS_VALUE_TEXT, "", NULL},
    {"from", "item.from", RS_VALUE_INTEGER, "", NULL},
    {"to", "item.to", RS_VALUE_INTEGER, "", NULL},
    {"matched", "item.matched", RS_VALUE_INTEGER, "", NULL},
    {"lost", "item.lost", RS_VALUE_INTEGER, "", NULL},
    {"marked", "item.marked", RS_VALUE_INTEGER, "", NULL},
    {"reordered", "item.reordered", RS_VALUE_INTEGER, "", NULL},
    {"duplicated", "item.duplicated", RS_VALUE_INTEGER, "", NULL},
};

/* A table: the rows of `array`, or for each of these those of `list`. */
static const struct {
    const char *file;
    const char *array, *list;
    const rs_sheet_column *columns;
    guint n_columns;
} tables[] = {
    {"segments.csv", "segments", NULL, segment_columns, G_N_ELEMENTS(segment_columns)},
    {"lost_packets.csv", "segments", "lost_packets", loss_columns, G_N_ELEMENTS(loss_columns)},
    {"streams.csv", "streams", "segments", stream_columns, G_N_ELEMENTS(stream_columns)},
};

/* clang-format on */

static void
write_value(rs_csv *csv, const rs_value *value)
{
    switch (value->type) {
    case RS_VALUE_NULL:
        rs_csv_null(csv);
        break;
    case RS_VALUE_INTEGER:
        rs_csv_integer(csv, value->integer);
        break;
    case RS_VALUE_REAL:
        rs_csv_real(csv, value->real);
        break;
    case RS_VALUE_BOOLEAN:
        rs_csv_boolean(csv, value->integer != 0);
        break;
    case RS_VALUE_TEXT:
        rs_csv_text(csv, value->text);
        break;
    }
}

static void
write_row(rs_csv *csv, guint table, const json_t *row)
{
    for (guint i = 0; i < tables[table].n_columns; i++) {
        g_auto(rs_value) value;
        (void)rs_column_read(&tables[table].columns[i], row, &value);
        write_value(csv, &value);
    }
    rs_csv_end_record(csv);
}

static void
write_rows(rs_csv *csv, guint table, const json_t *report)
{
    gsize i;
    const json_t *row;
    for (guint k = 0; k < tables[table].n_columns; k++) {
        rs_csv_text(csv, tables[table].columns[k].name);
    }
    rs_csv_end_record(csv);
    json_array_foreach(json_object_get(report, tables[table].array), i, row)
    {
        if (tables[table].list == NULL) {
            write_row(csv, table, row);
            continue;
        }
        gsize n = json_array_size(json_object_get(row, tables[table].list));
        for (gsize k = 0; k < n; k++) {
            json_t *item = json_array_get(json_object_get(row, tables[table].list), k);
            json_t *both = json_object();
            json_object_set_new(both, "of",
                                json_copy(json_array_get(
                                    json_object_get(report, tables[table].array), i)));
            json_object_set(both, "item", item);
            write_row(csv, table, both);
            json_decref(both);
        }
    }
}

gboolean
rs_compare_csv(const char *directory, const rs_compare *compare, GError **error)
{
    if (g_mkdir_with_parents(directory, 0777) != 0) {
        g_set_error(error, RS_ERROR, RS_ERROR_IO, "%s: cannot be made a directory: %s",
                    directory, g_strerror(errno));
        return FALSE;
    }
    json_t *report = rs_json_compare(compare);
    gboolean good = TRUE;
    for (guint i = 0; i < G_N_ELEMENTS(tables) && good; i++) {
        g_autofree char *path = g_build_filename(directory, tables[i].file, NULL);
        rs_output *output = rs_output_open(path, error);
        if (output == NULL) {
            good = FALSE;
            break;
        }
        rs_csv csv;
        rs_csv_init(&csv, rs_output_stream(output));
        write_rows(&csv, i, report);
        good = rs_output_commit(output, error);
    }
    json_decref(report);
    return good;
}
