/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "points.h"

#include "roce/hash.h"

#define FOLLOW_ON_TOLERANCE_NS ((guint64)5 * 1000 * 1000) /* what stamps step back */
#define MAX_PARTS                                                                      \
    4096 /* of all interfaces: beyond, frames go to the interface itself */

typedef struct point_key {
    guint file_i, interface_i;
    rs_part part;
} point_key;

struct rs_points {
    const rs_options *options;
    GPtrArray *list;    /* rs_point */
    GHashTable *by_key; /* point_key -> rs_point */
    GArray *ended;      /* gboolean by file */
    guint n_parts;
    point_key last_key; /* of the frame before: most often the same */
    rs_point *last;
};

static gboolean
same_part(const rs_part *a, const rs_part *b)
{
    return a->kind == b->kind && a->number == b->number &&
           a->direction == b->direction && roce_addr_equal(&a->source, &b->source);
}

static gboolean
key_equal(gconstpointer a, gconstpointer b)
{
    const point_key *x = a;
    const point_key *y = b;
    return x->file_i == y->file_i && x->interface_i == y->interface_i &&
           same_part(&x->part, &y->part);
}

static guint
key_hash(gconstpointer data)
{
    const point_key *key = data;
    guint64 h = roce_hash_mix(key->file_i, key->interface_i);
    h = roce_hash_mix(h, (guint64)key->part.number << 8 | key->part.direction);
    return (guint)(roce_hash_addr(h, &key->part.source) >> 32);
}

static void
free_point(gpointer data)
{
    rs_point *point = data;
    g_free(point->interface);
    g_free(point);
}

rs_points *
rs_points_new(const rs_options *options)
{
    rs_points *points = g_new0(rs_points, 1);
    points->options = options;
    points->list = g_ptr_array_new_with_free_func(free_point);
    points->by_key = g_hash_table_new_full(key_hash, key_equal, g_free, NULL);
    points->ended = g_array_new(FALSE, TRUE, sizeof(gboolean));
    return points;
}

void
rs_points_free(rs_points *points)
{
    if (points == NULL) {
        return;
    }
    g_hash_table_unref(points->by_key);
    g_ptr_array_unref(points->list);
    g_array_unref(points->ended);
    g_free(points);
}

guint
rs_points_n(const rs_points *points)
{
    return points->list->len;
}

rs_point *
rs_points_at(const rs_points *points, guint id)
{
    return g_ptr_array_index(points->list, id);
}

gboolean
rs_points_file_ended(const rs_points *points, guint file_i)
{
    return file_i < points->ended->len &&
           g_array_index(points->ended, gboolean, file_i);
}

static gboolean
same_place(const rs_point *a, const rs_point *b)
{
    return a->link_type == b->link_type && same_part(&a->part, &b->part) &&
           g_strcmp0(a->interface, b->interface) == 0;
}

gboolean
rs_point_follows(const rs_points *points, const rs_point *before, const rs_point *next,
                 guint64 next_first_ns)
{
    return before->last_file_i != next->file_i && same_place(before, next) &&
           rs_points_file_ended(points, before->last_file_i) &&
           next_first_ns + FOLLOW_ON_TOLERANCE_NS >= before->newest_ns;
}

/* A point for this part of an interface: of an earlier file, if this one follows on. */
static rs_point *
make_point(rs_points *points, const point_key *key, const rs_interface *interface,
           guint64 time_ns)
{
    rs_point *point = g_new0(rs_point, 1);
    point->file_i = point->last_file_i = key->file_i;
    point->interface = g_strdup(interface->name);
    point->part = key->part;
    point->link_type = interface->link_type;
    point->link = interface->link;
    for (guint i = 0; i < points->list->len; i++) {
        rs_point *before = rs_points_at(points, i);
        if (rs_point_follows(points, before, point, time_ns)) {
            free_point(point);
            before->file_i = before->packets == 0 ? key->file_i : before->file_i;
            before->last_file_i = key->file_i;
            return before;
        }
    }
    point->id = point->group = points->list->len;
    point->speed_bps = interface->speed_bps;
    if (points->options->link_speed_bps != 0) {
        point->speed_bps = points->options->link_speed_bps;
        point->speed_from_user = TRUE;
    }
    g_ptr_array_add(points->list, point);
    return point;
}

static rs_part
part_of(const rs_points *points, const roce_packet *packet)
{
    rs_part part = {.kind = RS_PART_WHOLE};
    if (packet == NULL || points->n_parts >= MAX_PARTS) {
        return part;
    }
    return part;
}

rs_point *
rs_points_of(rs_points *points, guint file_i, const rs_reader *reader,
             guint interface_i, const roce_packet *packet, guint64 time_ns)
{
    const point_key key = {
        .file_i = file_i,
        .interface_i = interface_i,
        .part = part_of(points, packet),
    };
    if (points->last != NULL && key_equal(&key, &points->last_key)) {
        return points->last;
    }
    rs_point *point = g_hash_table_lookup(points->by_key, &key);
    if (point == NULL) {
        const rs_interface *interface = rs_reader_interface(reader, interface_i);
        point = make_point(points, &key, interface, time_ns);
        points->n_parts += key.part.kind != RS_PART_WHOLE ? 1 : 0;
        g_hash_table_insert(points->by_key, g_memdup2(&key, sizeof key), point);
    }
    points->last_key = key;
    points->last = point;
    return point;
}

/* Whether some frame of the interface has made a point of a part of it. */
static gboolean
has_points(const rs_points *points, guint file_i, guint interface_i)
{
    GHashTableIter iter;
    gpointer data;
    g_hash_table_iter_init(&iter, points->by_key);
    while (g_hash_table_iter_next(&iter, &data, NULL)) {
        const point_key *key = data;
        if (key->file_i == file_i && key->interface_i == interface_i) {
            return TRUE;
        }
    }
    return FALSE;
}

void
rs_points_end_file(rs_points *points, guint file_i, const rs_reader *reader)
{
    if (points->ended->len <= file_i) {
        g_array_set_size(points->ended, file_i + 1);
    }
    g_array_index(points->ended, gboolean, file_i) = TRUE;
    guint n = reader != NULL ? rs_reader_n_interfaces(reader) : 0;
    for (guint i = 0; i < n; i++) {
        const rs_interface *interface = rs_reader_interface(reader, i);
        if (has_points(points, file_i, i) && !interface->dropped_known) {
            continue;
        }
        rs_point *point =
            rs_points_of(points, file_i, reader, i, NULL, G_MAXUINT64 / 2);
        point->dropped += interface->dropped;
        point->dropped_known |= interface->dropped_known;
    }
}

void
rs_points_join(rs_points *points, guint a, guint b)
{
    guint32 from = rs_points_at(points, a)->group;
    guint32 to = rs_points_at(points, b)->group;
    guint32 low = MIN(from, to);
    guint32 high = MAX(from, to);
    for (guint i = 0; i < points->list->len; i++) {
        rs_point *point = rs_points_at(points, i);
        point->group = point->group == high ? low : point->group;
    }
}

gboolean
rs_points_overlap(const rs_points *points)
{
    for (guint i = 0; i < points->list->len; i++) {
        for (guint k = 0; k < i; k++) {
            const rs_point *a = rs_points_at(points, k);
            const rs_point *b = rs_points_at(points, i);
            if (a->file_i != b->file_i && a->packets > 0 && b->packets > 0 &&
                a->group != b->group && same_place(a, b)) {
                return TRUE;
            }
        }
    }
    return FALSE;
}

guint64
rs_point_follow_time(rs_point *point, guint64 time_ns)
{
    guint64 step = 0;
    if (point->packets == 0) {
        point->first_ns = point->newest_ns = time_ns;
    } else if (time_ns < point->last_ns) {
        step = point->last_ns - time_ns;
        point->steps_back++;
        point->largest_step_ns = MAX(point->largest_step_ns, step);
    }
    point->packets++;
    point->last_ns = time_ns;
    point->newest_ns = MAX(point->newest_ns, time_ns);
    return step;
}
