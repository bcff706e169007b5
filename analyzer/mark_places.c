/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "mark_places.h"

#include "sorting.h"
#include "twins.h"

GArray *
rs_mark_places_new(void)
{
    return g_array_new(FALSE, FALSE, sizeof(rs_mark_place));
}

static void
add_packets(GArray *places, rs_place from, rs_place to, guint64 packets)
{
    for (guint i = 0; i < places->len; i++) {
        rs_mark_place *known = &g_array_index(places, rs_mark_place, i);
        if (known->from == from && known->to == to) {
            known->packets += packets;
            return;
        }
    }
    const rs_mark_place fresh = {.from = from, .to = to, .packets = packets};
    g_array_append_val(places, fresh);
}

void
rs_mark_places_add(GArray *places, const rs_analysis *analysis, guint32 stream)
{
    const GArray *marked =
        analysis->twins != NULL ? rs_twins_marked(analysis->twins, stream) : NULL;
    for (guint i = 0; marked != NULL && i < marked->len; i++) {
        const rs_marked *one = &g_array_index(marked, rs_marked, i);
        add_packets(places, rs_stream_place(analysis, one->from_stream),
                    rs_stream_place(analysis, stream), one->packets);
    }
}

static gint
most_first(gconstpointer a, gconstpointer b)
{
    const rs_mark_place *x = a;
    const rs_mark_place *y = b;
    gint order = rs_by_number(y->packets, x->packets);
    order = order != 0 ? order : rs_by_number(x->from, y->from);
    return order != 0 ? order : rs_by_number(x->to, y->to);
}

void
rs_mark_places_sort(GArray *places)
{
    g_array_sort(places, most_first);
}
