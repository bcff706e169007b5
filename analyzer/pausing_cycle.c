/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "pausing_cycle.h"

#include <string.h>

/* More sources than these that may wait for each other are not looked at: of so many
 * nobody could read anything. */
#define MOST_IN_CYCLES 512

/* Takes out, again and again, what no other one leads to or what leads to no other one:
 * only circles are left, and what lies between them. */
static guint
trim(const rs_pause_ways *ways, gboolean *is_in)
{
    g_autofree guint8 *has = g_new(guint8, ways->n);
    for (gboolean changed = TRUE; changed;) {
        changed = FALSE;
        memset(has, 0, ways->n);
        for (guint i = 0; i < ways->all->len; i++) {
            const rs_pause_way *w = &g_array_index(ways->all, rs_pause_way, i);
            if (is_in[w->from] && is_in[w->to]) {
                has[w->from] |= 1;
                has[w->to] |= 2;
            }
        }
        for (guint32 i = 0; i < ways->n; i++) {
            if (is_in[i] && has[i] != 3) {
                is_in[i] = FALSE;
                changed = TRUE;
            }
        }
    }
    guint n = 0;
    for (guint32 i = 0; i < ways->n; i++) {
        n += is_in[i] ? 1 : 0;
    }
    return n;
}

/* One circle among those left: from the least on, always to the least. */
static GArray *
circle_of(const rs_pause_ways *ways, const gboolean *is_in)
{
    g_autofree guint *place = g_new0(guint, ways->n);
    GArray *pauses = g_array_new(FALSE, FALSE, sizeof(guint32));
    guint32 at = 0;
    while (!is_in[at]) {
        at++;
    }
    while (place[at] == 0) {
        g_array_append_val(pauses, at);
        place[at] = pauses->len;
        const rs_pause_way *to;
        guint n = rs_pause_ways_to(ways, at, &to);
        for (guint i = 0; i < n; i++) {
            if (is_in[to[i].from]) {
                at = to[i].from;
                break;
            }
        }
    }
    g_array_remove_range(pauses, 0, place[at] - 1);
    for (guint i = 0; i < pauses->len / 2; i++) { /* from cause to consequence */
        guint32 *a = &g_array_index(pauses, guint32, i);
        guint32 *b = &g_array_index(pauses, guint32, pauses->len - 1 - i);
        guint32 other = *a;
        *a = *b;
        *b = other;
    }
    return pauses;
}

/* While all of a circle pause, if they do at this time. */
static rs_pause_cycle *
cycle_at(const rs_pause_ways *ways, GArray *pauses, guint64 time_ns)
{
    rs_pause_cycle *cycle = g_new0(rs_pause_cycle, 1);
    cycle->pauses = pauses;
    cycle->end_ns = G_MAXUINT64;
    for (guint i = 0; i < pauses->len; i++) {
        guint32 pause = g_array_index(pauses, guint32, i);
        const roce_pause_interval *interval =
            rs_pause_interval_at(roce_tracker_pause(ways->tracker, pause), time_ns);
        cycle->start_ns = MAX(cycle->start_ns, interval->start_ns);
        cycle->end_ns = MIN(cycle->end_ns, interval->end_ns);
    }
    return cycle;
}

/* The longer one of two; frees the other.  `a` may be NULL. */
static rs_pause_cycle *
longer(rs_pause_cycle *a, rs_pause_cycle *b)
{
    if (a == NULL || b->end_ns - b->start_ns > a->end_ns - a->start_ns) {
        rs_pause_cycle_free(a);
        return b;
    }
    rs_pause_cycle_free(b);
    return a;
}

static const roce_pause_interval *
longest_kept(const roce_pause_source *p)
{
    const roce_pause_interval *longest = NULL;
    for (guint64 i = 0; i < rs_pause_n_kept(p); i++) {
        const roce_pause_interval *at = &p->intervals[i];
        if (longest == NULL ||
            at->end_ns - at->start_ns > longest->end_ns - longest->start_ns) {
            longest = at;
        }
    }
    return longest;
}

/* Looked at as each one's longest pause begins. */
rs_pause_cycle *
rs_pause_cycle_find(const rs_pause_ways *ways)
{
    if (ways->all->len == 0) {
        return NULL;
    }
    g_autofree gboolean *may_be = g_new(gboolean, ways->n);
    for (guint32 i = 0; i < ways->n; i++) {
        may_be[i] = ways->same_as[i] == i;
    }
    guint n = trim(ways, may_be);
    rs_pause_cycle *longest = NULL;
    g_autofree gboolean *is_in = g_new(gboolean, ways->n);
    for (guint32 i = 0; n > 0 && n <= MOST_IN_CYCLES && i < ways->n; i++) {
        const roce_pause_interval *own =
            may_be[i] ? longest_kept(roce_tracker_pause(ways->tracker, i)) : NULL;
        if (own == NULL) {
            continue;
        }
        for (guint32 k = 0; k < ways->n; k++) {
            const roce_pause_source *p = roce_tracker_pause(ways->tracker, k);
            is_in[k] = may_be[k] && rs_pause_interval_at(p, own->start_ns) != NULL;
        }
        if (trim(ways, is_in) > 0) {
            longest =
                longer(longest, cycle_at(ways, circle_of(ways, is_in), own->start_ns));
        }
    }
    return longest;
}

void
rs_pause_cycle_free(rs_pause_cycle *cycle)
{
    if (cycle != NULL) {
        g_array_unref(cycle->pauses);
        g_free(cycle);
    }
}
