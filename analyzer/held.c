/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "held.h"

typedef struct sorting {
    const GArray *frames;
    rs_held_compare compare;
} sorting;

static gint
compare_indices(gconstpointer a, gconstpointer b, gpointer data)
{
    const sorting *how = data;
    guint i = *(const guint *)a;
    guint k = *(const guint *)b;
    gint order = how->compare(&g_array_index(how->frames, rs_held, i),
                              &g_array_index(how->frames, rs_held, k));
    return order != 0 ? order : i < k ? -1 : i > k; /* else as they came */
}

GArray *
rs_held_sorted(const GArray *frames, rs_held_compare compare)
{
    GArray *order = g_array_sized_new(FALSE, FALSE, sizeof(guint), frames->len);
    for (guint i = 0; i < frames->len; i++) {
        g_array_append_val(order, i);
    }
    sorting how = {.frames = frames, .compare = compare};
    g_array_sort_with_data(order, compare_indices, &how);
    return order;
}

static gint
by_point(const rs_held *a, const rs_held *b)
{
    return rs_compare_u64(a->frame.point, b->frame.point);
}

gint
rs_held_by_identity(const rs_held *a, const rs_held *b)
{
    gint order = by_point(a, b);
    order = order != 0 ? order : rs_compare_u64(a->identity.narrow, b->identity.narrow);
    return order != 0 ? order : rs_compare_u64(a->identity.icrc, b->identity.icrc);
}

gint
rs_held_by_time(const rs_held *a, const rs_held *b)
{
    gint order = by_point(a, b);
    return order != 0 ? order : rs_compare_u64(a->frame.time_ns, b->frame.time_ns);
}

gint
rs_held_by_arrival(const rs_held *a, const rs_held *b)
{
    gint order = by_point(a, b);
    return order != 0 ? order : rs_compare_u64(a->frame.number, b->frame.number);
}

guint64
rs_held_largest_step_ns(const rs_held_slice *slice)
{
    guint64 newest = 0;
    guint64 largest = 0;
    for (guint i = slice->begin; i < slice->end; i++) {
        guint64 time_ns = rs_held_nth(slice, i)->frame.time_ns;
        newest = MAX(newest, time_ns);
        largest = MAX(largest, newest - time_ns);
    }
    return largest;
}
