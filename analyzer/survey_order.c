/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether a point's frames are in the order of their stamps rather than of the file.
 *
 * In the true order PSNs step back only where something was sent again or overtaken, and
 * an answer never stands before its request.  A file whose two queues were merged has
 * far more of both than the order of its stamps has.
 */
#include "survey_parts.h"

#include "roce/hash.h"
#include "roce/psn.h"

#define DISORDER_LEAST 8 /* PSNs that step back, and ACKs before their requests */
#define DISORDER_FACTOR 2

static gpointer
psn_key(guint64 way, guint32 psn24)
{
    guint64 h = roce_hash_mix(way, psn24);
    return GSIZE_TO_POINTER((gsize)(h | 1));
}

/* Whether the PSN of this frame lies behind the one before of its stream and kind. */
static gboolean
steps_back(GHashTable *last, const rs_held *h)
{
    gpointer lane = psn_key(h->stream, (guint32)h->kind);
    guint before = GPOINTER_TO_UINT(g_hash_table_lookup(last, lane));
    g_hash_table_insert(last, lane, GUINT_TO_POINTER(h->psn24 + 1));
    return before != 0 && roce_psn_expand(h->psn24, before - 1) < (gint64)before - 1;
}

/* PSNs that step back in their stream, and requests that stand behind their own
 * acknowledgement, when a point's frames are taken in this order. */
static guint
disorder_in(const rs_held_slice *slice)
{
    g_autoptr(GHashTable) last = g_hash_table_new(NULL, NULL); /* lane -> PSN + 1 */
    g_autoptr(GHashTable) asked = g_hash_table_new(NULL, NULL);
    g_autoptr(GHashTable) early = g_hash_table_new(NULL, NULL); /* answers not asked */
    guint n = 0;
    for (guint i = slice->begin; i < slice->end; i++) {
        const rs_held *h = rs_held_nth(slice, i);
        if (h->kind == RS_HELD_OTHER) {
            continue;
        }
        n += steps_back(last, h) ? 1 : 0;
        if (h->kind == RS_HELD_REQUEST) {
            gpointer key = psn_key(h->way, h->psn24);
            n += g_hash_table_remove(early, key) ? 1 : 0;
            (void)g_hash_table_add(asked, key);
        } else if (!g_hash_table_contains(asked, psn_key(h->back, h->psn24))) {
            (void)g_hash_table_add(early, psn_key(h->back, h->psn24));
        }
    }
    return n;
}

void
rs_decide_on_order(rs_point *point, const rs_held_slice *by_arrival,
                   const rs_held_slice *by_time)
{
    guint64 step_ns = rs_held_largest_step_ns(by_arrival);
    if (step_ns == 0) {
        return; /* both orders are one */
    }
    guint in_file = disorder_in(by_arrival);
    guint in_time = disorder_in(by_time);
    if (in_file >= in_time + DISORDER_LEAST && in_time * DISORDER_FACTOR <= in_file) {
        point->order = RS_ORDER_STAMP;
        point->horizon_ns =
            step_ns < RS_MAX_HORIZON_NS / 2 ? 2 * step_ns : RS_MAX_HORIZON_NS;
    }
}
