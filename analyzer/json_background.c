/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "json_background.h"

#include "background.h"
#include "json_parts.h"
#include "lossless.h"

/* Packets of a background protocol that ride in a priority known to be lossless. */
static json_t *
in_lossless(const rs_background_row *row, guint8 lossless)
{
    guint64 packets = 0;
    for (guint i = 0; i < 8; i++) {
        packets += (lossless & 1u << i) != 0 ? row->by_priority[i] : 0;
    }
    return rs_json_known(packets, lossless != 0);
}

json_t *
rs_json_background(const rs_analysis *a)
{
    if (a->watchers.background == NULL) {
        return json_null();
    }
    guint8 lossless = rs_lossless_anywhere(a);
    json_t *rows = json_array();
    for (guint i = 0; i < rs_background_n_rows(a->watchers.background); i++) {
        const rs_background_row *row = rs_background_row_at(a->watchers.background, i);
        json_t *json = json_object();
        json_object_set_new(json, "protocol", json_string(row->protocol));
        json_object_set_new(json, "category", json_string(row->category));
        json_object_set_new(json, "flows", rs_json_count(row->flows));
        json_object_set_new(json, "packets", rs_json_count(row->packets));
        json_object_set_new(json, "bytes", rs_json_count(row->bytes));
        json_object_set_new(json, "in_lossless_priority", in_lossless(row, lossless));
        json_array_append_new(rows, json);
    }
    return rows;
}
