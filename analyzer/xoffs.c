/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "xoffs.h"

#include "arrays.h"
#include "hosts.h"
#include "sorting.h"

#include <string.h>

#define MAX_XOFFS 65536

typedef struct xoff {
    guint64 time_ns, frame;
    guint32 point;
    guint8 mac[6];
} xoff;

struct rs_xoffs {
    GArray *all; /* xoff */
    GHashTable
        *by_owner; /* roce_addr -> guint of all that its NIC asked for, ascending */
    guint64 omitted;
};

rs_xoffs *
rs_xoffs_new(void)
{
    rs_xoffs *xoffs = g_new0(rs_xoffs, 1);
    xoffs->all = g_array_new(FALSE, TRUE, sizeof(xoff));
    xoffs->by_owner =
        g_hash_table_new_full(rs_addr_hash, rs_addr_equal, g_free, rs_unref_array);
    return xoffs;
}

void
rs_xoffs_free(rs_xoffs *xoffs)
{
    if (xoffs != NULL) {
        g_array_unref(xoffs->all);
        g_hash_table_unref(xoffs->by_owner);
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
    return rs_by_number(x->frame, y->frame);
}

static void
add_owner(rs_xoffs *xoffs, const roce_addr *addr, guint i)
{
    GArray *own = g_hash_table_lookup(xoffs->by_owner, addr);
    if (own == NULL) {
        own = g_array_new(FALSE, FALSE, sizeof(guint));
        g_hash_table_insert(xoffs->by_owner, g_memdup2(addr, sizeof *addr), own);
    }
    g_array_append_val(own, i);
}

void
rs_xoffs_finish(rs_xoffs *xoffs, const rs_nics *nics)
{
    g_array_sort(xoffs->all, by_time);
    for (guint i = 0; i < xoffs->all->len; i++) {
        const xoff *x = &g_array_index(xoffs->all, xoff, i);
        const GArray *hosts = rs_nics_hosts(nics, x->point, x->mac);
        for (guint h = 0; hosts != NULL && h < hosts->len; h++) {
            add_owner(xoffs, &g_array_index(hosts, rs_nic_host, h).addr, i);
        }
    }
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

/* How many of ascending numbers are less than `limit`. */
static guint
count_below(const GArray *numbers, guint limit)
{
    guint low = 0;
    guint high = numbers->len;
    while (low < high) {
        guint middle = low + (high - low) / 2;
        if (g_array_index(numbers, guint, middle) < limit) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

guint64
rs_xoffs_not_by(const rs_xoffs *xoffs, const roce_addr *addr, guint64 from_ns,
                guint64 until_ns)
{
    guint from = first_from(xoffs, from_ns);
    guint until = MAX(from, first_from(xoffs, until_ns));
    const GArray *own = g_hash_table_lookup(xoffs->by_owner, addr);
    guint n_own = own != NULL ? count_below(own, until) - count_below(own, from) : 0;
    return until - from - n_own;
}
