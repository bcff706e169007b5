/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Any bytes as frames of a few points on their way to the tracker.  Whatever the survey
 * decides, each frame arrives once, is left out once, or is said to be lost.
 *
 *   0    memory: 0 never fails; n: every n-th request
 *   1..  steps of 4 bytes, see take_step()
 */
#include "roce/decode.h"
#include "roce/intake.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define SETTINGS 1
#define STEP 4
#define MAX_FRAMES 20000 /* more than one survey holds */
#define POINTS 4
#define IPV4_BYTES 20
#define FRAME_BYTES (IPV4_BYTES + 8 + 12 + 4 + 4)
#define START_NS UINT64_C(1700000000000000000)

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct world {
    uint64_t n_calls, n_live, every; /* of memory */
    roce_intake *intake;
    roce_survey_point points[POINTS];
    uint64_t now_ns;
    uint32_t n_frames, n_taken, n_left_out;
    uint32_t n_errors; /* as told */
    uint8_t bytes[FRAME_BYTES];
    uint8_t arrived[MAX_FRAMES + 1]; /* by number */
} world;

/* ---- memory ---- */

static void
release(void *ctx, void *old)
{
    world *w = ctx;
    assert(old != NULL);
    w->n_live--;
    free(old);
}

static void *
resize(void *ctx, void *old, size_t size)
{
    world *w = ctx;
    assert(size > 0);
    w->n_calls++;
    if (w->every != 0 && w->n_calls % w->every == 0) {
        return NULL;
    }
    void *fresh = realloc(old, size);
    if (fresh == NULL) {
        abort();
    }
    w->n_live += old == NULL ? 1 : 0;
    return fresh;
}

/* ---- what the intake asks and tells ---- */

static roce_survey_point *
point_of(void *ctx, uint32_t point)
{
    world *w = ctx;
    assert(point < POINTS);
    return &w->points[point];
}

static void
decode(void *ctx, const roce_frame *frame, roce_packet *packet)
{
    (void)ctx;
    roce_ports ports;
    roce_ports_init(&ports);
    roce_decode(frame, &ports, packet);
}

static void
arrive(world *w, const roce_frame *frame)
{
    assert(frame->number >= 1 && frame->number <= w->n_frames);
    assert(w->arrived[frame->number] == 0);
    w->arrived[frame->number] = 1;
    assert(frame->captured_bytes <= FRAME_BYTES);
}

static void
take(void *ctx, const roce_frame *frame, const roce_packet *packet)
{
    world *w = ctx;
    (void)packet;
    arrive(w, frame);
    w->n_taken++;
    assert(frame->point < POINTS);
}

static void
leave_out(void *ctx, const roce_frame *frame)
{
    world *w = ctx;
    arrive(w, frame);
    w->n_left_out++;
    assert(w->points[frame->point].delivers_twice);
}

static void
decided(void *ctx)
{
    const world *w = ctx;
    for (uint32_t i = 0; i < POINTS; i++) {
        const roce_survey_point *p = &w->points[i];
        assert(p->group <= i && w->points[p->group].group == p->group);
        assert((p->order == ROCE_ORDER_FILE) == (p->horizon_ns == 0));
        assert(p->delivers_twice == (p->repeat_within_ns != 0));
    }
}

/* ---- frames ---- */

static void
put(world *w, uint32_t at, unsigned n_bytes, uint64_t value)
{
    for (unsigned i = 0; i < n_bytes; i++) {
        w->bytes[at + i] = (uint8_t)(value >> (8 * (n_bytes - 1 - i)));
    }
}

/* An IPv4 packet between two hosts, in no link header. */
static void
make_frame(world *w, uint8_t what, uint8_t psn, uint8_t ident)
{
    static const uint8_t opcodes[] = {0x0a, 0x11, 0x2a, 0x81, 0x04, 0x10, 0x0c, 0x12};
    bool back = (what & 8) != 0;
    bool stranger = (what & 0xf0) == 0xe0;
    memset(w->bytes, 0, sizeof w->bytes);
    put(w, 0, 4, 0x45000000 | FRAME_BYTES);
    put(w, 4, 2, ident);
    put(w, 8, 2, stranger ? 0x4006 : 0x4011);
    put(w, 12, 4, back ? 0x0a000002 : 0x0a000001);
    put(w, 16, 4, back ? 0x0a000001 : 0x0a000002);
    put(w, 20, 4, 0xc0000000 | ROCE_UDP_PORT);
    put(w, 24, 4, (FRAME_BYTES - IPV4_BYTES) << 16);
    put(w, 28, 4, (uint64_t)opcodes[what & 7] << 24 | 0x40ffff);
    put(w, 32, 4, back ? 0x11 : 0x22);
    put(w, 36, 4, psn);
    put(w, 40, 4, 0x1f000000);
    put(w, 44, 4, psn * UINT64_C(2654435761));
}

static void
tell(world *w, int error)
{
    assert(error == ROCE_OK || (error == ROCE_ERROR_MEMORY && w->every != 0));
    w->n_errors += error != ROCE_OK ? 1 : 0;
}

/* Hands the newest frame in, out of memory that ends where what was captured does. */
static void
add_frame(world *w, uint32_t point, uint32_t cut)
{
    uint32_t n = FRAME_BYTES - cut;
    uint8_t *bytes = malloc(n);
    if (bytes == NULL) {
        abort();
    }
    memcpy(bytes, w->bytes, n);
    const roce_frame frame = {
        .bytes = bytes,
        .captured_bytes = n,
        .wire_bytes = FRAME_BYTES,
        .time_ns = w->now_ns,
        .number = ++w->n_frames,
        .point = point,
        .link = ROCE_LINK_RAW,
    };
    roce_packet packet;
    decode(w, &frame, &packet);
    tell(w, roce_intake_add(w->intake, &frame, &packet));
    free(bytes);
}

static void
finish(world *w)
{
    tell(w, roce_intake_finish(w->intake));
    uint32_t n_there = w->n_taken + w->n_left_out;
    assert(n_there <= w->n_frames && (w->n_errors > 0 || n_there == w->n_frames));
}

/* What (0xff: all that is on its way; from 0xf0: the same frame again; else as
 * make_frame() reads it), PSN, identification, and the wait before it: 4^n ns (bits 0-3)
 * on or back (5); the frame is cut before its ICRC (4); its point (6-7). */
static void
take_step(world *w, const uint8_t step[STEP])
{
    uint8_t wait = step[3];
    uint64_t step_ns = UINT64_C(1) << 2 * (wait & 15);
    w->now_ns = (wait & 32) != 0 ? w->now_ns - step_ns : w->now_ns + step_ns;
    if (step[0] == 0xff) {
        finish(w);
        return;
    }
    if (step[0] < 0xf0) {
        make_frame(w, step[0], step[1], step[2]);
    }
    add_frame(w, wait >> 6, (wait & 16) != 0 ? 4 : 0);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < SETTINGS) {
        return 0;
    }
    static world w; /* too large for a stack */
    w = (world){.every = data[0], .now_ns = START_NS};
    for (uint32_t i = 0; i < POINTS; i++) {
        roce_survey_point_init(&w.points[i], i, i / 2); /* of two files */
    }
    const roce_intake_config config = {
        .point = point_of,
        .decode = decode,
        .take = take,
        .leave_out = leave_out,
        .decided = decided,
        .waits_for_copies = (data[0] & 1) != 0,
        .ctx = &w,
    };
    const roce_alloc alloc = {.resize = resize, .release = release, .ctx = &w};
    if (roce_intake_new(&w.intake, &alloc, &config) == ROCE_OK) {
        for (size_t at = SETTINGS; at + STEP <= size && w.n_frames < MAX_FRAMES;
             at += STEP) {
            take_step(&w, data + at);
        }
        finish(&w);
        roce_intake_free(w.intake);
    }
    assert(w.n_live == 0);
    return 0;
}
