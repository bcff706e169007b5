/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "reorder.h"

#include <string.h>

#define MAX_FRAMES 65536u
#define MAX_BYTES ((gsize)64 * 1024 * 1024)
#define SET_BACK_HORIZONS 4 /* a longer step back is no matter of order */

typedef struct waiting {
    guint64 key_ns;
    guint64 n; /* order of arrival */
    roce_frame frame;
    guint8 *bytes;
} waiting;

struct rs_reorder {
    guint64 horizon_ns;
    rs_frame_fn take;
    void *ctx;
    GArray *heap; /* waiting; the oldest first */
    guint64 newest_ns, n;
    gsize bytes;
};

rs_reorder *
rs_reorder_new(guint64 horizon_ns, rs_frame_fn take, void *ctx)
{
    rs_reorder *reorder = g_new0(rs_reorder, 1);
    reorder->horizon_ns = horizon_ns;
    reorder->take = take;
    reorder->ctx = ctx;
    reorder->heap = g_array_new(FALSE, FALSE, sizeof(waiting));
    return reorder;
}

void
rs_reorder_free(rs_reorder *reorder)
{
    if (reorder == NULL) {
        return;
    }
    for (guint i = 0; i < reorder->heap->len; i++) {
        g_free(g_array_index(reorder->heap, waiting, i).bytes);
    }
    g_array_unref(reorder->heap);
    g_free(reorder);
}

static waiting *
at(const rs_reorder *reorder, guint i)
{
    return &g_array_index(reorder->heap, waiting, i);
}

static gboolean
is_before(const waiting *a, const waiting *b)
{
    return a->key_ns != b->key_ns ? a->key_ns < b->key_ns : a->n < b->n;
}

static void
swap(waiting *a, waiting *b)
{
    waiting kept = *a;
    *a = *b;
    *b = kept;
}

static void
sift_up(rs_reorder *reorder, guint i)
{
    while (i > 0 && is_before(at(reorder, i), at(reorder, (i - 1) / 2))) {
        swap(at(reorder, i), at(reorder, (i - 1) / 2));
        i = (i - 1) / 2;
    }
}

static void
sift_down(rs_reorder *reorder)
{
    guint n = reorder->heap->len;
    for (guint i = 0, child = 1; child < n; child = 2 * i + 1) {
        if (child + 1 < n && is_before(at(reorder, child + 1), at(reorder, child))) {
            child++;
        }
        if (is_before(at(reorder, i), at(reorder, child))) {
            return;
        }
        swap(at(reorder, i), at(reorder, child));
        i = child;
    }
}

static void
hand_on_oldest(rs_reorder *reorder)
{
    waiting oldest = *at(reorder, 0);
    *at(reorder, 0) = *at(reorder, reorder->heap->len - 1);
    g_array_set_size(reorder->heap, reorder->heap->len - 1);
    sift_down(reorder);
    reorder->bytes -= oldest.frame.captured_bytes;
    oldest.frame.bytes = oldest.bytes;
    reorder->take(reorder->ctx, &oldest.frame);
    g_free(oldest.bytes);
}

guint64
rs_reorder_follow(const rs_reorder *reorder, guint64 clock_ns, guint64 time_ns)
{
    gboolean set_back = time_ns < clock_ns &&
                        clock_ns - time_ns > SET_BACK_HORIZONS * reorder->horizon_ns;
    return set_back ? time_ns : MAX(clock_ns, time_ns);
}

void
rs_reorder_extend(rs_reorder *reorder, guint64 horizon_ns)
{
    reorder->horizon_ns = MAX(reorder->horizon_ns, horizon_ns);
}

static gboolean
is_due(const rs_reorder *reorder)
{
    return reorder->heap->len > 0 &&
           (reorder->heap->len > MAX_FRAMES || reorder->bytes > MAX_BYTES ||
            reorder->newest_ns - at(reorder, 0)->key_ns > reorder->horizon_ns);
}

void
rs_reorder_push(rs_reorder *reorder, const roce_frame *frame, guint64 key_ns)
{
    guint64 newest_ns = rs_reorder_follow(reorder, reorder->newest_ns, key_ns);
    if (newest_ns < reorder->newest_ns) {
        rs_reorder_flush(reorder);
    }
    reorder->newest_ns = newest_ns;
    waiting entry = {
        .key_ns = key_ns,
        .n = reorder->n++,
        .frame = *frame,
        .bytes = g_memdup2(frame->bytes, frame->captured_bytes),
    };
    g_array_append_val(reorder->heap, entry);
    sift_up(reorder, reorder->heap->len - 1);
    reorder->bytes += frame->captured_bytes;
    while (is_due(reorder)) {
        hand_on_oldest(reorder);
    }
}

void
rs_reorder_flush(rs_reorder *reorder)
{
    while (reorder->heap->len > 0) {
        hand_on_oldest(reorder);
    }
}
