/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A binary heap, the oldest frame first. */
#include "roce/reorder.h"

#include <string.h>

#define MAX_FRAMES 65536u
#define MAX_BYTES ((size_t)64 * 1024 * 1024)
#define LEAST_CAPACITY 64u
#define SET_BACK_HORIZONS 4 /* a longer step back is no matter of order */

typedef struct waiting {
    uint64_t key_ns;
    uint64_t n;       /* order of arrival */
    roce_frame frame; /* its bytes are our own copy; NULL if it has none */
    uint8_t *bytes;
} waiting;

struct roce_reorder {
    roce_alloc alloc;
    uint64_t horizon_ns;
    roce_frame_fn take;
    void *ctx;
    waiting *heap;
    uint32_t n_waiting, capacity;
    uint64_t newest_ns, n_pushed;
    size_t bytes;
};

int
roce_reorder_new(roce_reorder **reorder, const roce_alloc *alloc, uint64_t horizon_ns,
                 roce_frame_fn take, void *ctx)
{
    roce_reorder *r = alloc->resize(alloc->ctx, NULL, sizeof *r);
    if (r == NULL) {
        return ROCE_ERROR_MEMORY;
    }
    *r = (roce_reorder){
        .alloc = *alloc, .horizon_ns = horizon_ns, .take = take, .ctx = ctx};
    *reorder = r;
    return ROCE_OK;
}

static void
release(const roce_reorder *reorder, void *old)
{
    if (old != NULL) {
        reorder->alloc.release(reorder->alloc.ctx, old);
    }
}

void
roce_reorder_free(roce_reorder *reorder)
{
    if (reorder == NULL) {
        return;
    }
    for (uint32_t i = 0; i < reorder->n_waiting; i++) {
        release(reorder, reorder->heap[i].bytes);
    }
    release(reorder, reorder->heap);
    const roce_alloc alloc = reorder->alloc;
    alloc.release(alloc.ctx, reorder);
}

/* ---- the heap ---- */

static bool
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
sift_up(waiting *heap, uint32_t i)
{
    while (i > 0 && is_before(&heap[i], &heap[(i - 1) / 2])) {
        swap(&heap[i], &heap[(i - 1) / 2]);
        i = (i - 1) / 2;
    }
}

static void
sift_down(waiting *heap, uint32_t n)
{
    for (uint32_t i = 0, child = 1; child < n; child = 2 * i + 1) {
        if (child + 1 < n && is_before(&heap[child + 1], &heap[child])) {
            child++;
        }
        if (is_before(&heap[i], &heap[child])) {
            return;
        }
        swap(&heap[i], &heap[child]);
        i = child;
    }
}

static bool
reserve(roce_reorder *reorder)
{
    if (reorder->n_waiting < reorder->capacity) {
        return true;
    }
    uint32_t more = reorder->capacity == 0 ? LEAST_CAPACITY : 2 * reorder->capacity;
    waiting *heap =
        reorder->alloc.resize(reorder->alloc.ctx, reorder->heap, more * sizeof *heap);
    if (heap == NULL) {
        return false;
    }
    reorder->heap = heap;
    reorder->capacity = more;
    return true;
}

/* ---- frames in and out ---- */

static void
hand_on_oldest(roce_reorder *reorder)
{
    waiting oldest = reorder->heap[0];
    reorder->heap[0] = reorder->heap[--reorder->n_waiting];
    sift_down(reorder->heap, reorder->n_waiting);
    reorder->bytes -= oldest.frame.captured_bytes;
    reorder->take(reorder->ctx, &oldest.frame);
    release(reorder, oldest.bytes);
}

uint64_t
roce_reorder_follow(const roce_reorder *reorder, uint64_t clock_ns, uint64_t time_ns)
{
    bool set_back = time_ns < clock_ns &&
                    clock_ns - time_ns > SET_BACK_HORIZONS * reorder->horizon_ns;
    return set_back || time_ns > clock_ns ? time_ns : clock_ns;
}

void
roce_reorder_extend(roce_reorder *reorder, uint64_t horizon_ns)
{
    if (horizon_ns > reorder->horizon_ns) {
        reorder->horizon_ns = horizon_ns;
    }
}

static bool
is_due(const roce_reorder *reorder)
{
    return reorder->n_waiting > 0 &&
           (reorder->n_waiting > MAX_FRAMES || reorder->bytes > MAX_BYTES ||
            reorder->newest_ns - reorder->heap[0].key_ns > reorder->horizon_ns);
}

/* Our own copy of a frame's bytes, NULL if it has none.  False for lack of memory. */
static bool
copy_bytes(const roce_reorder *reorder, const roce_frame *frame, uint8_t **bytes)
{
    *bytes = NULL;
    if (frame->captured_bytes > 0) {
        *bytes = reorder->alloc.resize(reorder->alloc.ctx, NULL, frame->captured_bytes);
        if (*bytes == NULL) {
            return false;
        }
        memcpy(*bytes, frame->bytes, frame->captured_bytes);
    }
    return true;
}

/* Puts our own copy of a frame into the heap. */
static bool
add(roce_reorder *reorder, const roce_frame *frame, uint64_t key_ns)
{
    uint8_t *bytes;
    if (!reserve(reorder) || !copy_bytes(reorder, frame, &bytes)) {
        return false;
    }
    waiting *entry = &reorder->heap[reorder->n_waiting];
    *entry = (waiting){
        .key_ns = key_ns, .n = reorder->n_pushed++, .frame = *frame, .bytes = bytes};
    entry->frame.bytes = bytes;
    sift_up(reorder->heap, reorder->n_waiting++);
    reorder->bytes += frame->captured_bytes;
    return true;
}

int
roce_reorder_push(roce_reorder *reorder, const roce_frame *frame, uint64_t key_ns)
{
    uint64_t newest_ns = roce_reorder_follow(reorder, reorder->newest_ns, key_ns);
    if (newest_ns < reorder->newest_ns) {
        roce_reorder_flush(reorder);
    }
    if (!add(reorder, frame, key_ns)) {
        return ROCE_ERROR_MEMORY;
    }
    reorder->newest_ns = newest_ns;
    while (is_due(reorder)) {
        hand_on_oldest(reorder);
    }
    return ROCE_OK;
}

void
roce_reorder_flush(roce_reorder *reorder)
{
    while (reorder->n_waiting > 0) {
        hand_on_oldest(reorder);
    }
}

bool
roce_reorder_replace(roce_reorder *reorder, uint64_t number, const roce_frame *frame,
                     roce_frame_fn left_out, void *ctx)
{
    uint32_t i = reorder->n_waiting;
    while (i > 0 && (reorder->heap[i - 1].frame.number != number ||
                     reorder->heap[i - 1].frame.point != frame->point)) {
        i--;
    }
    uint8_t *bytes;
    if (i == 0 || !copy_bytes(reorder, frame, &bytes)) {
        return false;
    }
    waiting *entry = &reorder->heap[i - 1];
    waiting old = *entry;
    entry->bytes = bytes;
    entry->frame = *frame;
    entry->frame.bytes = bytes;
    entry->frame.time_ns = old.frame.time_ns;
    reorder->bytes += frame->captured_bytes;
    reorder->bytes -= old.frame.captured_bytes;
    left_out(ctx, &old.frame);
    release(reorder, old.bytes);
    return true;
}
