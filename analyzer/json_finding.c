/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "json_finding.h"

#include "json_parts.h"

static json_t *
thresholds_json(const rs_finding_row *row)
{
    json_t *json = json_array();
    for (guint i = 0; i < RS_THRESHOLDS && row->thresholds[i].name != NULL; i++) {
        const rs_threshold *threshold = &row->thresholds[i];
        json_t *one = json_object();
        json_object_set_new(one, "name", json_string(threshold->name));
        json_object_set_new(one, "value", rs_json_count(threshold->value));
        json_object_set_new(one, "unit", json_string(threshold->unit));
        json_array_append_new(json, one);
    }
    return json;
}

static json_t *
look_json(const rs_look *look)
{
    json_t *json = json_array();
    for (guint i = 0; look != NULL && look[i].system != NULL; i++) {
        json_t *one = json_object();
        json_object_set_new(one, "system", json_string(look[i].system));
        json_object_set_new(one, "what", json_string(look[i].what));
        json_array_append_new(json, one);
    }
    return json;
}

static json_t *
frames_json(const GArray *frames)
{
    json_t *json = json_array();
    for (guint i = 0; i < frames->len; i++) {
        json_array_append_new(json, rs_json_count(g_array_index(frames, guint64, i)));
    }
    return json;
}

static json_t *
files_json(const rs_finding *f)
{
    json_t *json = json_array();
    for (guint i = 0; i < f->files->len; i++) {
        const rs_finding_file *part = g_ptr_array_index(f->files, i);
        g_autofree char *path = g_utf8_make_valid(part->file->path, -1);
        json_t *one = json_object();
        json_object_set_new(one, "file", json_string(path));
        json_object_set_new(one, "frames", frames_json(part->frames));
        json_object_set_new(one, "wireshark_filter", json_string(part->filter));
        json_array_append_new(json, one);
    }
    return json;
}

json_t *
rs_json_finding(const rs_finding *f)
{
    json_t *streams = json_array();
    for (guint i = 0; i < f->streams->len; i++) {
        json_array_append_new(streams,
                              rs_json_count(g_array_index(f->streams, guint32, i)));
    }
    json_t *json = json_object();
    json_object_set_new(json, "id", json_string(f->id));
    json_object_set_new(json, "kind", json_string(f->row->id));
    json_object_set_new(json, "severity", json_string(rs_severity_name(f->severity)));
    json_object_set_new(json, "rule", json_string(f->row->rule));
    json_object_set_new(json, "thresholds", thresholds_json(f->row));
    json_object_set_new(json, "title", json_string(f->title));
    json_object_set_new(json, "detail", json_string(f->detail));
    json_object_set_new(json, "meaning", json_string(f->row->meaning));
    json_object_set_new(json, "advice", json_string(rs_finding_advice(f)));
    json_object_set_new(json, "look_at", look_json(f->look));
    json_object_set_new(json, "streams", streams);
    json_object_set_new(json, "frames", frames_json(f->frames));
    json_object_set_new(json, "files", files_json(f));
    json_object_set_new(json, "more_frames", json_boolean(f->more_frames));
    json_object_set_new(json, "wireshark_filter", json_string(f->filter));
    json_object_set_new(json, "wireshark_filter_all", rs_json_text(f->filter_all));
    return json;
}
