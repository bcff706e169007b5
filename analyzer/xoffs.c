/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "xoffs.h"

#include <string.h>

#define MAX_XOFFS 65536

typedef struct xoff {
    guint64 time_ns, frame;
    guint32 point;
    guint8 mac[6];
} xoff;

struct rs_xoffs {
    GArray *all; /* xoff */
    guint64 omitted;
};

rs_xoffs *
rs_xoffs_new(void)
{
    rs_xoffs *xoffs = g_new0(rs_xoffs, 1);
    xoffs->all = g_array_new(FALSE, TRUE, sizeof(xoff));
    return xoffs;
}

void
rs_xoffs_free(rs_xoffs *xoffs)
{
    if (xoffs != NULL) {
        g_array_unref(xoffs->all);
        g_free(xoffs);
    }
}

void
rs_xoffs_event(rs_xoffs *xoffs, const roce_event *event)
{
    if (event->kind != ROCE_EVENT_PAUSE_XOFF) {
        return;
    }
    if (xoffs->all->len == MAX_XOFFS) {
        xoffs->omitted++;
        return;
    }
    const xoff x = {
        .time_ns = event->time_ns, .frame = event->frame, .point = event->point};
    g_array_append_val(xoffs->all, x);
}

/* Events do not say who sent their frame: that frame comes right behind them. */
void
rs_xoffs_packet(rs_xoffs *xoffs, const rs_sight *sight)
{
    for (guint i = xoffs->all->len; i > 0; i--) {
        xoff *x = &g_array_index(xoffs->all, xoff, i - 1);
        if (x->frame != sight->frame->number) {
            return;
        }
        memcpy(x->mac, sight->packet->src_mac, sizeof x->mac);
    }
}

static gint
by_time(gconstpointer a, gconstpointer b)
{
    const xoff *x = a;
    const xoff *y = b;
    if (x->time_ns != y->time_ns) {
        return x->time_ns < y->time_ns ? -1 : 1;
    }
    return x->frame < y->frame ? -1 : x->frame > y->frame;
}

void
rs_xoffs_finish(rs_xoffs *xoffs)
{
    g_array_sort(xoffs->all, by_time);
}

gboolean
rs_xoffs_complete(const rs_xoffs *xoffs)
{
    return xoffs->omitted == 0;
}

/* Index of the first that is not before a time. */
static guint
first_from(const rs_xoffs *xoffs, guint64 time_ns)
{
    guint low = 0;
    guint high = xoffs->all->len;
    while (low < high) {
        guint middle = low + (high - low) / 2;
        if (g_array_index(xoffs->all, xoff, middle).time_ns < time_ns) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

guint64
rs_xoffs_not_by(const rs_xoffs *xoffs, const rs_nics *nics, const roce_addr *addr,
                guint64 from_ns, guint64 until_ns)
{
    guint64 n = 0;
    for (guint i = first_from(xoffs, from_ns); i < xoffs->all->len; i++) {
        const xoff *x = &g_array_index(xoffs->all, xoff, i);
        if (x->time_ns >= until_ns) {
            break;
        }
        n += rs_nics_owns(nics, x->point, addr, x->mac) ? 0 : 1;
    }
    return n;
}
