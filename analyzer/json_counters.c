/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "json_counters.h"

#include "counter_check.h"
#include "format.h"
#include "json_parts.h"

static json_t *
row_json(const rs_counter_row *row, gboolean has_streams)
{
    gboolean counted =
        row->state == RS_COUNTER_COUNTED || row->state == RS_COUNTER_WRAPPED;
    json_t *json = json_object();
    json_object_set_new(json, "name", json_string(row->name));
    json_object_set_new(json, "state", json_string(rs_counter_state_name(row->state)));
    json_object_set_new(json, "increase", rs_json_known(row->increase, counted));
    json_object_set_new(json, "compared_with", json_string(row->compared_with));
    json_object_set_new(json, "relation",
                        json_string(rs_counter_relation_name(row->relation)));
    json_object_set_new(json, "captured", rs_json_known(row->captured, has_streams));
    json_object_set_new(json, "verdict",
                        json_string(rs_counter_verdict_name(row->verdict)));
    json_object_set_new(
        json, "missed",
        rs_json_known(row->verdict == RS_COUNTER_MORE ? row->difference : 0,
                      row->verdict != RS_COUNTER_UNKNOWN &&
                          row->relation != RS_COUNTER_AT_LEAST));
    return json;
}

static json_t *
addrs_json(const GArray *addrs)
{
    json_t *json = json_array();
    for (guint i = 0; i < addrs->len; i++) {
        g_autofree char *addr = rs_format_addr(&g_array_index(addrs, roce_addr, i));
        json_array_append_new(json, json_string(addr));
    }
    return json;
}

static json_t *
devices_json(const rs_counter_set *set)
{
    json_t *json = json_array();
    for (guint i = 0; i < rs_counter_set_n_devices(set); i++) {
        if (*rs_counter_set_device(set, i) != '\0') {
            json_array_append_new(json, rs_json_text(rs_counter_set_device(set, i)));
        }
    }
    return json;
}

static json_t *
check_json(const rs_counter_check *check)
{
    gboolean placed = check->addrs->len > 0;
    json_t *rows = json_array();
    for (guint i = 0; i < check->rows->len; i++) {
        json_array_append_new(rows,
                              row_json(&g_array_index(check->rows, rs_counter_row, i),
                                       check->n_streams > 0));
    }
    json_t *json = json_object();
    json_object_set_new(json, "before", rs_json_text(check->told->before_path));
    json_object_set_new(json, "after", rs_json_text(check->told->after_path));
    json_object_set_new(json, "devices", devices_json(check->told->after));
    json_object_set_new(json, "addresses",
                        placed ? addrs_json(check->addrs) : json_null());
    json_object_set_new(json, "host_from",
                        check->from != NULL ? json_string(check->from) : json_null());
    json_object_set_new(json, "captured_there",
                        check->place == RS_COUNTER_PLACE_UNKNOWN
                            ? json_null()
                            : json_boolean(check->place == RS_COUNTER_THERE));
    json_object_set_new(json, "counters", rows);
    json_object_set_new(json, "other_counters", rs_json_count(check->n_others));
    return json;
}

json_t *
rs_json_counters(const rs_analysis *analysis, const rs_summary *summary)
{
    g_autoptr(GPtrArray) checks = rs_counter_checks_new(analysis, summary);
    if (checks->len == 0) {
        return json_null();
    }
    json_t *json = json_array();
    for (guint i = 0; i < checks->len; i++) {
        json_array_append_new(json, check_json(g_ptr_array_index(checks, i)));
    }
    return json;
}
