/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "csv_compare.h"

#include "csv_sheet.h"
#include "json_compare.h"

#define INTEGER RS_VALUE_INTEGER
#define TEXT RS_VALUE_TEXT
#define BOOLEAN RS_VALUE_BOOLEAN

/* clang-format off */

static const rs_sheet_column segments[] = {
    {"from_point", "from_name", TEXT, "where it begins, as the point was given", NULL},
    {"to_point", "to_name", TEXT, "where it ends", NULL},
    {"matched", "matched", INTEGER, "copies seen at both", NULL},
    {"matched_weakly", "matched_weakly", INTEGER, "of them, copies matched without the ICRC", NULL},
    {"lost", "lost", INTEGER, "copies that never came by the end, nor behind it", NULL},
    {"lost_sent_again", "lost_sent_again", INTEGER, "of them, copies that the sender sent again", NULL},
    {"lost_round", "lost_round", INTEGER, "of those lost, copies of streams that do not come by its beginning", NULL},
    {"undecidable", "undecidable", INTEGER, "lost, or missed by the capture", NULL},
    {"marked", "marked", INTEGER, "ECT where it begins, CE where it ends", NULL},
    {"ecn_changed_otherwise", "ecn_changed_otherwise", INTEGER, "other changes of the codepoint", NULL},
    {"reordered", "reordered", INTEGER, "copies overtaken on it", NULL},
    {"duplicated", "duplicated", INTEGER, "copies more at its end", NULL},
    {"duplicated_or_missed", "duplicated_or_missed", INTEGER, "either, and which is not known", NULL},
    {"dscp_rewritten", "dscp_rewritten", INTEGER, "copies with another DSCP at its end", NULL},
    {"corrupted", "corrupted", INTEGER, "copies whose ICRC or IPv4 header checksum fits at its beginning alone", NULL},
    {"hop_limit_rose", "hop_limit_rose", INTEGER, "copies with a greater hop limit at its end", NULL},
    {"missed_by_from", "missed_by_capture.from", INTEGER, "copies that the capture at its beginning missed", NULL},
    {"missed_by_to", "missed_by_capture.to", INTEGER, "copies that the capture at its end missed", NULL},
    {"outside_common_time", "outside_common_time", INTEGER, "copies seen while the other capture was not running", NULL},
    {"slipped_out_of_window", "slipped_out_of_window", INTEGER, "copies that were decided on too early to count", NULL},
    {"ambiguous", "ambiguous", INTEGER, "lost or missed, and which of several equal copies is not known", NULL},
    {"clock_offset_ns", "clock.offset_ns", INTEGER, "of the clock at its end against that at its beginning", NULL},
    {"clock_offset_uncertainty_ns", "clock.offset_uncertainty_ns", INTEGER, "how wrong that can be at most", NULL},
    {"clock_drift_ppb", "clock.drift_ppb", INTEGER, "by how much the clock at its end is faster", NULL},
    {"delay_variation_p50_ns", "delay_variation_ns.p50", INTEGER, "delay above the least, median", NULL},
    {"delay_variation_p99_ns", "delay_variation_ns.p99", INTEGER, "delay above the least, 99 of 100 are no longer", NULL},
    {"delay_variation_max_ns", "delay_variation_ns.max", INTEGER, "delay above the least, greatest", NULL},
};

static const rs_sheet_column lost_packets[] = {
    {"from_point", "of.from_name", TEXT, "the last point that saw it, as it was given", NULL},
    {"to_point", "of.to_name", TEXT, "the first point that did not", NULL},
    {"frame", "item.frame", INTEGER, "where it was seen last", NULL},
    {"time_ns", "item.time_ns", INTEGER, "its stamp there", NULL},
    {"stream", "item.stream", INTEGER, "number of its stream", NULL},
    {"src", "item.src", TEXT, "source address", NULL},
    {"dst", "item.dst", TEXT, "destination address", NULL},
    {"dst_qpn", "item.dst_qpn", INTEGER, "destination queue pair", NULL},
    {"psn", "item.psn", INTEGER, "as on the wire", NULL},
    {"opcode", "item.opcode", TEXT, "name of its opcode", NULL},
    {"sent_again", "item.sent_again", BOOLEAN, "the sender sent it again", NULL},
    {"ambiguous", "item.ambiguous", BOOLEAN, "it may be another one of several that are equal", NULL},
};

static const rs_sheet_column streams[] = {
    {"stream", "of.id", INTEGER, "number of the stream", NULL},
    {"src", "of.src", TEXT, "source address", NULL},
    {"dst", "of.dst", TEXT, "destination address", NULL},
    {"dst_qpn", "of.dst_qpn", INTEGER, "destination queue pair", NULL},
    {"direction", "of.direction", TEXT, "`forward` as points were given, or `backward`", NULL},
    {"direction_by", "of.direction_by", TEXT, "what shows that", NULL},
    {"from_id", "item.from", INTEGER, "number of the point where the segment begins", NULL},
    {"to_id", "item.to", INTEGER, "number of the point where it ends", NULL},
    {"matched", "item.matched", INTEGER, "its copies seen at both", NULL},
    {"lost", "item.lost", INTEGER, "its copies that were lost there", NULL},
    {"marked", "item.marked", INTEGER, "its copies that were marked there", NULL},
    {"reordered", "item.reordered", INTEGER, "its copies overtaken there", NULL},
    {"duplicated", "item.duplicated", INTEGER, "its copies more at the end", NULL},
};

#define COLUMNS(table) table, G_N_ELEMENTS(table)

const rs_sheet rs_compare_sheets[] = {
    {"segments", "Stretches of the path, in each direction", NULL, NULL, COLUMNS(segments)},
    {"lost_packets", "The first packets that were lost on each", "segments", "lost_packets", COLUMNS(lost_packets)},
    {"streams", "What became of each stream on each stretch", "streams", "segments", COLUMNS(streams)},
};

/* clang-format on */

const guint rs_n_compare_sheets = G_N_ELEMENTS(rs_compare_sheets);

static void
write_list(rs_csv *csv, const rs_sheet *sheet, json_t *of)
{
    json_t *item;
    gsize i;
    json_array_foreach(json_object_get(of, sheet->list), i, item)
    {
        json_t *row = json_object();
        json_object_set(row, "of", of);
        json_object_set(row, "item", item);
        rs_csv_row(csv, sheet, row);
        json_decref(row);
    }
}

static void
write_rows(rs_csv *csv, const rs_sheet *sheet, const json_t *report)
{
    const char *array = sheet->of != NULL ? sheet->of : sheet->name;
    json_t *element;
    gsize i;
    json_array_foreach(json_object_get(report, array), i, element)
    {
        if (sheet->of != NULL) {
            write_list(csv, sheet, element);
        } else {
            rs_csv_row(csv, sheet, element);
        }
    }
}

static gboolean
write_sheet(const char *directory, const rs_sheet *sheet, const json_t *report,
            GError **error)
{
    rs_csv csv;
    rs_output *output = rs_csv_open(directory, sheet, &csv, error);
    if (output == NULL) {
        return FALSE;
    }
    write_rows(&csv, sheet, report);
    return rs_output_commit(output, error);
}

gboolean
rs_compare_csv(const char *directory, const rs_compare *compare, GError **error)
{
    if (!rs_csv_make_directory(directory, error)) {
        return FALSE;
    }
    json_t *report = rs_json_compare(compare);
    gboolean good = TRUE;
    for (guint i = 0; i < rs_n_compare_sheets && good; i++) {
        good = write_sheet(directory, &rs_compare_sheets[i], report, error);
    }
    json_decref(report);
    return good;
}

gboolean
rs_compare_csv_probe(const char *directory, GError **error)
{
    return rs_csv_probe(directory, &rs_compare_sheets[0], error);
}
