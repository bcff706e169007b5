/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The way of a frame from its capture to the tracker.
 *
 * The one rule: nothing comes to the tracker before its point has been surveyed.  The
 * survey (roce/survey.h) holds the first frames of a point; then what it decided is
 * carried out, on those and on all that follow: second copies are left out, frames that
 * are out of order wait for their place, and points that were joined become one.
 */
#ifndef ROCE_INTAKE_H
#define ROCE_INTAKE_H

#include "roce/alloc.h"
#include "roce/error.h"
#include "roce/linkage.h"
#include "roce/packet.h"
#include "roce/survey.h"

#include <stdbool.h>
#include <stdint.h>

ROCE_BEGIN

/* All are called with `ctx` from within functions of the intake, which they must not
 * call themselves; frames and packets live until the call returns. */
typedef struct roce_intake_config {
    /* The state of a point, made with roce_survey_point_init() and kept by the caller.
     * Asked for all points up to the greatest of a frame so far: number them without
     * gaps. */
    roce_survey_point *(*point)(void *ctx, uint32_t point);
    /* Decodes a frame once more that was held or has waited. */
    void (*decode)(void *ctx, const roce_frame *frame, roce_packet *packet);
    /* Takes a frame at the end of its way.  Its point is the one that the tracker is to
     * know it by: that of its group, for a frame that is a matter of one link
     * (MAC control) its own. */
    void (*take)(void *ctx, const roce_frame *frame, const roce_packet *packet);
    /* Takes what is left out: one of two copies of a mirror that delivers twice. */
    void (*leave_out)(void *ctx, const roce_frame *frame);
    /* A survey has decided, and none of its frames goes on before this returns: points
     * that belong together for other reasons can be joined.  May be NULL. */
    void (*decided)(void *ctx);
    /* Where a mirror delivers twice, the first copy waits for the second: if that alone is
     * marked, it counts.  Else the first one always does, and goes on at once. */
    bool waits_for_copies;
    void *ctx;
} roce_intake_config;

typedef struct roce_intake roce_intake;

/* ROCE_ERROR_MEMORY. */
int
roce_intake_new(roce_intake **intake, const roce_alloc *alloc,
                const roce_intake_config *config);

/* NULL is fine; frames that are still on their way are dropped. */
void
roce_intake_free(roce_intake *intake);

/* Takes the next frame; `packet` is what it was decoded to.  ROCE_ERROR_MEMORY: frames
 * were lost, or not enough was decided; more can be added. */
int
roce_intake_add(roce_intake *intake, const roce_frame *frame,
                const roce_packet *packet);

/* Whether a frame of the point would be handed on at once and as it is, so that it need not
 * be added. */
bool
roce_intake_is_straight(const roce_intake *intake, uint32_t point);

/* Nothing more comes for now: hands on all frames that are on their way.
 * ROCE_ERROR_MEMORY as above. */
int
roce_intake_finish(roce_intake *intake);

ROCE_END

#endif
