/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "mark_places.h"

#include "sorting.h"
#include "twins.h"

GArray *
rs_mark_places_new(void)
{
    return g_array_new(FALSE, FALSE, sizeof(rs_mark_place));
}

void
rs_mark_places_add(GArray *places, const rs_analysis *analysis, guint32 stream)
{
    const GArray *marked =
        analysis->twins != NULL ? rs_twins_marked(analysis->twins, stream) : NULL;
    for (guint i = 0; marked != NULL && i < marked->len; i++) {
        const rs_marked *one = &g_array_index(marked, rs_marked, i);
        const rs_mark_place place = {
            .from = rs_stream_place(analysis, one->from_stream),
            .to = rs_stream_place(analysis, stream),
            .packets = one->packets,
        };
        g_array_append_val(places, place);
    }
}

static gint
by_place(gconstpointer a, gconstpointer b)
{
    const rs_mark_place *x = a;
    const rs_mark_place *y = b;
    gint order = rs_by_number(x->from, y->from);
    return order != 0 ? order : rs_by_number(x->to, y->to);
}

/* Each place becomes one. */
static void
merge(GArray *places)
{
    guint n = 0;
    g_array_sort(places, by_place);
    for (guint i = 0; i < places->len; i++) {
        const rs_mark_place one = g_array_index(places, rs_mark_place, i);
        rs_mark_place *newest =
            n > 0 ? &g_array_index(places, rs_mark_place, n - 1) : NULL;
        if (newest != NULL && by_place(newest, &one) == 0) {
            newest->packets += one.packets;
        } else {
            g_array_index(places, rs_mark_place, n++) = one;
        }
    }
    g_array_set_size(places, n);
}

static gint
most_first(gconstpointer a, gconstpointer b)
{
    const rs_mark_place *x = a;
    const rs_mark_place *y = b;
    gint order = rs_by_number(y->packets, x->packets);
    return order != 0 ? order : by_place(a, b);
}

void
rs_mark_places_sort(GArray *places)
{
    merge(places);
    g_array_sort(places, most_first);
}
