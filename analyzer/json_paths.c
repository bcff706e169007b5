/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "json_paths.h"

#include "json_parts.h"
#include "rails.h"

#define CROSSINGS_LISTED 1000

static json_t *
crossing_json(const rs_rail_crossing *crossing)
{
    json_t *json = json_object();
    json_object_set_new(json, "src", rs_json_host(crossing->src));
    json_object_set_new(json, "dst", rs_json_host(crossing->dst));
    json_object_set_new(json, "packets", rs_json_count(crossing->packets));
    json_object_set_new(json, "bytes", rs_json_count(crossing->bytes));
    return json;
}

static json_t *
rails_json(const rs_rails *rails)
{
    if (!rails->known) {
        return json_null();
    }
    json_t *crossings = json_array();
    guint n = MIN(rails->crossings->len, CROSSINGS_LISTED);
    for (guint i = 0; i < n; i++) {
        json_array_append_new(crossings,
                              crossing_json(g_ptr_array_index(rails->crossings, i)));
    }
    json_t *json = json_object();
    json_object_set_new(json, "within_bytes", rs_json_count(rails->within_bytes));
    json_object_set_new(json, "across_bytes", rs_json_count(rails->across_bytes));
    json_object_set_new(json, "within_host_bytes",
                        rs_json_count(rails->within_host_bytes));
    json_object_set_new(json, "unknown_bytes", rs_json_count(rails->unknown_bytes));
    json_object_set_new(json, "n_crossings", rs_json_count(rails->crossings->len));
    json_object_set_new(json, "crossings", crossings);
    return json;
}

/* How many streams have each path MTU. */
static json_t *
mtus_json(const rs_analysis *a, const rs_summary *summary)
{
    static const guint32 mtus[] = {256, 512, 1024, 2048, 4096};
    json_t *json = json_array();
    for (guint i = 0; i < G_N_ELEMENTS(mtus); i++) {
        guint64 n = 0;
        for (guint32 id = 0; id < roce_tracker_n_streams(a->tracker); id++) {
            gboolean has = roce_tracker_stream(a->tracker, id)->pmtu_bytes == mtus[i];
            n += has && rs_summary_stands(summary, id) ? 1 : 0;
        }
        if (n > 0) {
            json_t *one = json_object();
            json_object_set_new(one, "mtu", rs_json_count(mtus[i]));
            json_object_set_new(one, "streams", rs_json_count(n));
            json_array_append_new(json, one);
        }
    }
    return json;
}

json_t *
rs_json_paths(const rs_analysis *analysis, const rs_summary *summary)
{
    g_autoptr(rs_rails) rails = rs_rails_new(analysis, summary);
    json_t *json = json_object();
    json_object_set_new(json, "mtus", mtus_json(analysis, summary));
    json_object_set_new(json, "rails", rails_json(rails));
    return json;
}

static json_t *
migration_json(guint8 seen)
{
    json_t *json = json_array();
    for (guint i = 0; i < 2; i++) {
        if ((seen & 1u << i) != 0) {
            json_array_append_new(json, json_integer((json_int_t)i));
        }
    }
    return json;
}

static json_t *
ttls_json(const rs_stream_path *path)
{
    json_t *json = json_array();
    for (guint i = 0; i < path->n_ttls; i++) {
        json_t *one = json_object();
        json_object_set_new(one, "ttl", rs_json_count(path->ttls[i]));
        json_object_set_new(one, "packets", rs_json_count(path->ttl_packets[i]));
        json_array_append_new(json, one);
    }
    return json;
}

static json_t *
path_json(const rs_stream_path *path, const roce_stream *s)
{
    if (path == NULL) {
        return json_null();
    }
    const char *pattern = rs_ttl_pattern_name(rs_ttl_pattern_of(path, s));
    const rs_path_changes *changes = rs_path_changes_of(path);
    json_t *json = json_object();
    json_object_set_new(json, "ttls", ttls_json(path));
    json_object_set_new(json, "ttl_changes", rs_json_count(changes->ttl_changes));
    json_object_set_new(json, "ttl_pattern", json_string(pattern));
    json_object_set_new(json, "mig_req", migration_json(path->migration));
    json_object_set_new(json, "p_key", rs_json_count(path->p_key));
    json_object_set_new(
        json, "other_p_key",
        rs_json_known(changes->other_p_key, changes->other_p_key_frame != 0));
    return json;
}

void
rs_json_set_stream_path(json_t *json, const rs_analysis *analysis, guint32 stream)
{
    json_object_set_new(json, "path",
                        path_json(rs_paths_stream(analysis->watchers.paths, stream),
                                  roce_tracker_stream(analysis->tracker, stream)));
}
