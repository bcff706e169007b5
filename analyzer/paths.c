/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "paths.h"

/* Packets of one time to live in a row, on average, up to which paths alternate by the
 * packet rather than by the burst: flowlets and rerouting keep a window's worth, dozens,
 * on one path. */
#define SPRAYED_RUN_PACKETS 8

struct rs_paths {
    GArray *streams; /* rs_stream_path, by stream */
};

static void
clear_stream(gpointer data)
{
    rs_stream_path *path = data;
    g_free(path->changed);
}

rs_paths *
rs_paths_new(void)
{
    rs_paths *paths = g_new0(rs_paths, 1);
    paths->streams = g_array_new(FALSE, TRUE, sizeof(rs_stream_path));
    g_array_set_clear_func(paths->streams, clear_stream);
    return paths;
}

void
rs_paths_free(rs_paths *paths)
{
    if (paths != NULL) {
        g_array_unref(paths->streams);
        g_free(paths);
    }
}

static void
count_ttl(rs_stream_path *path, guint8 ttl, guint64 n)
{
    guint i = 0;
    while (i < path->n_ttls && path->ttls[i] != ttl) {
        i++;
    }
    if (i == RS_PATHS_TTLS) {
        path->more_ttls = TRUE;
        return;
    }
    path->n_ttls = (guint8)MAX(path->n_ttls, i + 1);
    path->ttls[i] = ttl;
    path->ttl_packets[i] += n;
}

static rs_path_changes *
changes_of(rs_stream_path *path)
{
    if (path->changed == NULL) {
        path->changed = g_new0(rs_path_changes, 1);
    }
    return path->changed;
}

static void
follow_ttl(rs_stream_path *path, const rs_sight *sight)
{
    guint8 ttl = sight->packet->hop_limit;
    if (path->n_ttls > 0 && ttl != path->newest_ttl) {
        rs_path_changes *c = changes_of(path);
        c->ttl_changes++;
        if (c->at_change == 0) {
            c->before_change = path->newest_frame;
            c->at_change = sight->frame->number;
        }
    }
    path->newest_ttl = ttl;
    path->newest_frame = sight->beside != 0 ? sight->beside : sight->frame->number;
    count_ttl(path, ttl, sight->n);
}

static void
follow_header(rs_stream_path *path, const rs_sight *sight)
{
    const roce_bth *bth = &sight->packet->bth;
    path->migration |= bth->migration ? 2 : 1;
    if (path->first_frame == 0) {
        path->first_frame = sight->frame->number;
        path->p_key = bth->p_key;
    } else if (bth->p_key != path->p_key && changes_of(path)->other_p_key_frame == 0) {
        path->changed->other_p_key = bth->p_key;
        path->changed->other_p_key_frame = sight->frame->number;
    }
}

void
rs_paths_packet(rs_paths *paths, const rs_sight *sight)
{
    const roce_packet *p = sight->packet;
    if (sight->stream == NULL || p->kind != ROCE_CLASS_ROCE || !p->has_bth ||
        p->transport == ROCE_TRANSPORT_CNP || p->bth.dest_qpn <= ROCE_GSI_QPN ||
        sight->stream->id >= RS_PATHS_STREAMS) {
        return;
    }
    guint32 id = sight->stream->id;
    if (id >= paths->streams->len) {
        g_array_set_size(paths->streams, id + 1);
    }
    rs_stream_path *path = &g_array_index(paths->streams, rs_stream_path, id);
    follow_header(path, sight);
    follow_ttl(path, sight);
}

const rs_stream_path *
rs_paths_stream(const rs_paths *paths, guint32 stream)
{
    if (stream >= paths->streams->len) {
        return NULL;
    }
    const rs_stream_path *path = &g_array_index(paths->streams, rs_stream_path, stream);
    return path->n_ttls > 0 ? path : NULL;
}

const rs_path_changes *
rs_path_changes_of(const rs_stream_path *path)
{
    static const rs_path_changes none;
    return path->changed != NULL ? path->changed : &none;
}

gboolean
rs_p_keys_match(guint16 a, guint16 b)
{
    return (a & 0x7fff) == (b & 0x7fff) && ((a | b) & 0x8000) != 0;
}

rs_ttl_pattern
rs_ttl_pattern_of(const rs_stream_path *path, const roce_stream *stream)
{
    guint64 changes = rs_path_changes_of(path)->ttl_changes;
    if (changes == 0) {
        return RS_TTL_CONSTANT;
    }
    guint64 packets = 0;
    guint64 most = 0;
    for (guint i = 0; i < path->n_ttls; i++) {
        packets += path->ttl_packets[i];
        most = MAX(most, path->ttl_packets[i]);
    }
    const roce_disorder_counters *disorder = roce_stream_trouble_of(stream)->disorder;
    guint64 copies = disorder[ROCE_SPACE_REQUESTS].duplicates +
                     disorder[ROCE_SPACE_RESPONSES].duplicates;
    if (copies > 0 && copies >= packets - most) {
        return RS_TTL_COPIES;
    }
    if (changes < path->n_ttls && !path->more_ttls) {
        return RS_TTL_CHANGED;
    }
    return packets <= SPRAYED_RUN_PACKETS * changes ? RS_TTL_SPRAYED : RS_TTL_MIXED;
}

const char *
rs_ttl_pattern_name(rs_ttl_pattern pattern)
{
    static const char *const names[] = {
        [RS_TTL_CONSTANT] = "constant", [RS_TTL_CHANGED] = "changed",
        [RS_TTL_MIXED] = "mixed",       [RS_TTL_SPRAYED] = "sprayed",
        [RS_TTL_COPIES] = "copies",
    };
    return names[pattern];
}
