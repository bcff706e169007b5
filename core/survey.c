/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "roce/survey.h"

#include "held.h"
#include "survey_parts.h"

#include <string.h>

#define ENOUGH_FRAMES 8192
#define ENOUGH_BYTES ((size_t)16 * 1024 * 1024)
#define LEAST_FRAMES 64
#define LEAST_BYTES ((size_t)64 * 1024)
#define SETTLED_FRAMES 256 /* of a point with fewer, later surveys know better ... */
#define MAX_SURVEYS 4      /* ... as often as this */

struct roce_survey {
    roce_alloc alloc;
    roce_held *frames;
    uint32_t n_frames, frames_capacity;
    uint8_t *bytes;
    size_t n_bytes, bytes_capacity;
};

void
roce_survey_point_init(roce_survey_point *point, uint32_t id, uint32_t file_i)
{
    *point = (roce_survey_point){.group = id, .file_i = file_i, .next = point};
}

void
roce_survey_point_join(roce_survey_point *a, roce_survey_point *b)
{
    if (a->group == b->group) {
        return;
    }
    roce_survey_point *low = a->group < b->group ? a : b;
    roce_survey_point *high = low == a ? b : a;
    for (roce_survey_point *p = high; p->group != low->group; p = p->next) {
        p->group = low->group;
    }
    roce_survey_point *behind_low = low->next;
    low->next = high->next;
    high->next = behind_low;
}

/* ---- what is held ---- */

int
roce_survey_new(roce_survey **survey, const roce_alloc *alloc)
{
    roce_survey *s = alloc->resize(alloc->ctx, NULL, sizeof *s);
    if (s == NULL) {
        return ROCE_ERROR_MEMORY;
    }
    *s = (roce_survey){.alloc = *alloc};
    *survey = s;
    return ROCE_OK;
}

static void
drop_all(roce_survey *survey)
{
    if (survey->frames != NULL) {
        survey->alloc.release(survey->alloc.ctx, survey->frames);
    }
    if (survey->bytes != NULL) {
        survey->alloc.release(survey->alloc.ctx, survey->bytes);
    }
    *survey = (roce_survey){.alloc = survey->alloc};
}

void
roce_survey_free(roce_survey *survey)
{
    if (survey != NULL) {
        drop_all(survey);
        const roce_alloc alloc = survey->alloc;
        alloc.release(alloc.ctx, survey);
    }
}

bool
roce_survey_wants(const roce_survey *survey, const roce_survey_point *point)
{
    return survey->n_frames > 0 || !point->settled;
}

/* Makes room for one frame more and its bytes. */
static bool
reserve(roce_survey *survey, uint32_t more_bytes)
{
    const roce_alloc *alloc = &survey->alloc;
    if (survey->n_frames == survey->frames_capacity) {
        uint32_t n = survey->n_frames == 0 ? LEAST_FRAMES : 2 * survey->frames_capacity;
        roce_held *frames =
            alloc->resize(alloc->ctx, survey->frames, n * sizeof *frames);
        if (frames == NULL) {
            return false;
        }
        survey->frames = frames;
        survey->frames_capacity = n;
    }
    size_t n = survey->bytes_capacity == 0 ? LEAST_BYTES : survey->bytes_capacity;
    while (n - survey->n_bytes < more_bytes) {
        n *= 2;
    }
    if (n > survey->bytes_capacity) {
        uint8_t *bytes = alloc->resize(alloc->ctx, survey->bytes, n);
        if (bytes == NULL) {
            return false;
        }
        survey->bytes = bytes;
        survey->bytes_capacity = n;
    }
    return true;
}

int
roce_survey_hold(roce_survey *survey, roce_survey_point *point, const roce_frame *frame,
                 const roce_packet *packet)
{
    if (!reserve(survey, frame->captured_bytes)) {
        return ROCE_ERROR_MEMORY;
    }
    roce_held *h = &survey->frames[survey->n_frames++];
    *h = roce_held_make(frame, packet);
    h->point = point;
    h->at = survey->n_bytes;
    if (frame->captured_bytes > 0) {
        memcpy(survey->bytes + h->at, frame->bytes, frame->captured_bytes);
        survey->n_bytes += frame->captured_bytes;
    }
    return ROCE_OK;
}

bool
roce_survey_has_enough(const roce_survey *survey)
{
    return survey->n_frames >= ENOUGH_FRAMES || survey->n_bytes >= ENOUGH_BYTES;
}

void
roce_survey_release(roce_survey *survey, roce_frame_fn take, void *ctx)
{
    for (uint32_t i = 0; i < survey->n_frames; i++) {
        roce_frame frame = survey->frames[i].frame;
        frame.bytes = survey->bytes + survey->frames[i].at;
        take(ctx, &frame);
    }
    drop_all(survey);
}

/* ---- decisions ---- */

/* All that it takes to decide on points one by one, so that nothing stops half-way. */
typedef struct deciding {
    uint64_t *memory; /* of all arrays here */
    uint32_t *by_identity, *by_arrival, *by_time, *begins;
    roce_survey_desk desk;
} deciding;

static void
end_deciding(deciding *d, const roce_alloc *alloc)
{
    if (d->memory != NULL) {
        alloc->release(alloc->ctx, d->memory);
    }
    for (uint32_t i = 0; i < ROCE_DESK_MAPS; i++) {
        roce_key_map_clear(&d->desk.maps[i], alloc);
    }
}

static bool
begin_deciding(deciding *d, const roce_alloc *alloc, uint32_t n)
{
    size_t size = n * sizeof *d->desk.lags_ns + (6 * (size_t)n + 1) * sizeof *d->begins;
    *d = (deciding){.memory = alloc->resize(alloc->ctx, NULL, size)};
    bool good = d->memory != NULL;
    for (uint32_t i = 0; i < ROCE_DESK_MAPS && good; i++) {
        good = roce_key_map_init(&d->desk.maps[i], alloc, n);
    }
    if (!good) {
        end_deciding(d, alloc);
        return false;
    }
    d->desk.lags_ns = d->memory;
    uint32_t *indices = (uint32_t *)(d->memory + n);
    d->by_identity = indices;
    d->by_arrival = indices + n;
    d->by_time = indices + 2 * (size_t)n;
    d->desk.order = indices + 3 * (size_t)n;
    d->desk.scratch = indices + 4 * (size_t)n;
    d->begins = indices + 5 * (size_t)n;
    return true;
}

/* Finds where each point's frames begin, and tells them their place. */
static uint32_t
find_places(const deciding *d, roce_held *frames, uint32_t n)
{
    uint32_t n_places = 0;
    for (uint32_t i = 0; i < n; i++) {
        roce_held *h = &frames[d->by_arrival[i]];
        const roce_held *before = i > 0 ? &frames[d->by_arrival[i - 1]] : NULL;
        if (before == NULL || before->frame.point != h->frame.point) {
            d->begins[n_places++] = i;
        }
        h->place = n_places - 1;
    }
    d->begins[n_places] = n;
    return n_places;
}

static void
decide_on_point(const roce_survey_frames *all, uint32_t place, deciding *d)
{
    roce_survey_point *point = roce_survey_point_at(all, place);
    if (!point->settled) {
        roce_held_slice copies = roce_survey_slice(all, d->by_identity, place);
        roce_held_slice arrived = roce_survey_slice(all, d->by_arrival, place);
        roce_held_slice stamped = roce_survey_slice(all, d->by_time, place);
        roce_decide_on_repeats(point, &copies, &d->desk);
        roce_decide_on_order(point, &arrived, &stamped, &d->desk);
    }
}

static void
count_survey(const roce_survey_frames *all, uint32_t place)
{
    roce_survey_point *point = roce_survey_point_at(all, place);
    if (!point->settled) {
        point->n_surveys++;
        point->settled =
            all->begins[place + 1] - all->begins[place] >= SETTLED_FRAMES ||
            point->n_surveys >= MAX_SURVEYS;
    }
}

int
roce_survey_decide(roce_survey *survey)
{
    uint32_t n = survey->n_frames;
    deciding d;
    if (n == 0) {
        return ROCE_OK;
    }
    if (!begin_deciding(&d, &survey->alloc, n)) {
        return ROCE_ERROR_MEMORY;
    }
    /* All three go by point first, so that a point's frames lie at one place in them. */
    roce_held_sort(d.by_identity, d.desk.scratch, survey->frames, n,
                   roce_held_by_identity);
    roce_held_sort(d.by_arrival, d.desk.scratch, survey->frames, n,
                   roce_held_by_arrival);
    roce_held_sort(d.by_time, d.desk.scratch, survey->frames, n, roce_held_by_time);
    const roce_survey_frames all = {
        .frames = survey->frames,
        .by_arrival = d.by_arrival,
        .begins = d.begins,
        .n_frames = n,
        .n_places = find_places(&d, survey->frames, n),
    };
    for (uint32_t place = 0; place < all.n_places; place++) {
        decide_on_point(&all, place, &d);
    }
    bool joined = roce_decide_on_joins(&all, &d.desk, &survey->alloc);
    for (uint32_t place = 0; place < all.n_places && joined; place++) {
        count_survey(&all, place);
    }
    end_deciding(&d, &survey->alloc);
    return joined ? ROCE_OK : ROCE_ERROR_MEMORY;
}
