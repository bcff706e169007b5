/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "roce/intake.h"

#include "roce/decode.h"
#include "roce/reorder.h"
#include "roce/repeats.h"
#include "roce/wire_identity.h"

#include <stdbool.h>

struct roce_intake {
    roce_alloc alloc;
    roce_intake_config config;
    roce_survey *survey;
    roce_repeats *repeats;   /* NULL while no point delivers twice */
    roce_reorder **reorders; /* by group of points, or NULL */
    uint32_t n_reorders;
    uint32_t n_points; /* that frames came from, and those before them */
    bool lost;         /* a frame, for lack of memory, since the last call */
};

int
roce_intake_new(roce_intake **intake, const roce_alloc *alloc,
                const roce_intake_config *config)
{
    roce_intake *in = alloc->resize(alloc->ctx, NULL, sizeof *in);
    if (in == NULL) {
        return ROCE_ERROR_MEMORY;
    }
    *in = (roce_intake){.alloc = *alloc, .config = *config};
    if (roce_survey_new(&in->survey, alloc) != ROCE_OK) {
        roce_intake_free(in);
        return ROCE_ERROR_MEMORY;
    }
    *intake = in;
    return ROCE_OK;
}

void
roce_intake_free(roce_intake *intake)
{
    if (intake == NULL) {
        return;
    }
    const roce_alloc alloc = intake->alloc;
    for (uint32_t i = 0; i < intake->n_reorders; i++) {
        roce_reorder_free(intake->reorders[i]);
    }
    if (intake->reorders != NULL) {
        alloc.release(alloc.ctx, intake->reorders);
    }
    roce_repeats_free(intake->repeats);
    roce_survey_free(intake->survey);
    alloc.release(alloc.ctx, intake);
}

static roce_survey_point *
point_of(const roce_intake *intake, uint32_t point)
{
    return intake->config.point(intake->config.ctx, point);
}

/* ---- a frame at the end of its way ---- */

static void
hand_on(const roce_intake *intake, const roce_frame *frame, const roce_packet *packet)
{
    const roce_survey_point *point = point_of(intake, frame->point);
    roce_frame tracked = *frame;
    tracked.member = frame->point;
    /* Pauses are a matter of one link, whatever else its point was joined with. */
    if (packet->ethertype != ROCE_ETHERTYPE_MAC_CONTROL) {
        tracked.point = point->group;
    }
    roce_packet outside;
    if (roce_survey_is_in_and_out(point, packet)) {
        outside = *packet;
        outside.tenant = (roce_tenant){.kind = ROCE_TENANT_NONE};
        packet = &outside;
    }
    intake->config.take(intake->config.ctx, &tracked, packet);
}

static void
hand_on_waited(void *ctx, const roce_frame *frame)
{
    const roce_intake *intake = ctx;
    roce_packet packet;
    intake->config.decode(intake->config.ctx, frame, &packet);
    hand_on(intake, frame, &packet);
}

/* ---- what the survey found out ---- */

/* Whether the frame is the second copy of one that came before, and was left out.  Of two
 * of which one was marked, by the switch that mirrors both, that one counts. */
static bool
leave_out(const roce_intake *intake, const roce_survey_point *point,
          roce_reorder *reorder, const roce_frame *frame, const roce_packet *packet)
{
    const roce_copy copy = {
        .time_ns = frame->time_ns,
        .number = frame->number,
        .is_marked = roce_packet_ecn(packet) == ROCE_ECN_CE,
    };
    roce_copy first;
    roce_wire_identity identity;
    if (intake->repeats == NULL || !roce_survey_is_twice(point, packet) ||
        !roce_wire_identity_of(frame, packet, &identity) ||
        !roce_repeats_is_second(intake->repeats, frame->point, &identity, &copy,
                                roce_survey_copy_within_ns(point, packet), &first)) {
        return false;
    }
    bool wanted = copy.is_marked && !first.is_marked && reorder != NULL;
    if (!wanted ||
        !roce_reorder_replace(reorder, first.number, frame, intake->config.leave_out,
                              intake->config.ctx)) {
        intake->config.leave_out(intake->config.ctx, frame);
    }
    return true;
}

static void
admit(roce_intake *intake, const roce_frame *frame, const roce_packet *packet)
{
    roce_survey_point *point = point_of(intake, frame->point);
    roce_reorder *reorder =
        point->group < intake->n_reorders ? intake->reorders[point->group] : NULL;
    roce_reorder *waits = intake->config.waits_for_copies ? reorder : NULL;
    if (leave_out(intake, point, waits, frame, packet)) {
        return;
    }
    if (reorder == NULL) {
        hand_on(intake, frame, packet);
        return;
    }
    point->clock_ns = roce_reorder_follow(reorder, point->clock_ns, frame->time_ns);
    uint64_t key_ns =
        point->order == ROCE_ORDER_STAMP ? frame->time_ns : point->clock_ns;
    intake->lost |= roce_reorder_push(reorder, frame, key_ns) != ROCE_OK;
}

static void
admit_held(void *ctx, const roce_frame *frame)
{
    roce_intake *intake = ctx;
    roce_packet packet;
    intake->config.decode(intake->config.ctx, frame, &packet);
    admit(intake, frame, &packet);
}

/* ---- the survey ---- */

static bool
reserve_reorders(roce_intake *intake)
{
    if (intake->n_reorders >= intake->n_points) {
        return true;
    }
    roce_reorder **reorders = intake->alloc.resize(
        intake->alloc.ctx, intake->reorders, intake->n_points * sizeof(roce_reorder *));
    if (reorders == NULL) {
        return false;
    }
    intake->reorders = reorders;
    while (intake->n_reorders < intake->n_points) {
        intake->reorders[intake->n_reorders++] = NULL;
    }
    return true;
}

static bool
waits_for_copies(const roce_intake *intake, const roce_survey_point *point)
{
    return point->delivers_twice && intake->config.waits_for_copies;
}

/* Gives the point's group the buffer that its frames have to wait in. */
static bool
make_reorder(roce_intake *intake, const roce_survey_point *point)
{
    roce_reorder **reorder = &intake->reorders[point->group];
    uint64_t horizon_ns = point->horizon_ns;
    if (waits_for_copies(intake, point) && point->repeat_within_ns > horizon_ns) {
        horizon_ns = point->repeat_within_ns; /* first copies wait for their second */
    }
    if (*reorder == NULL && roce_reorder_new(reorder, &intake->alloc, horizon_ns,
                                             hand_on_waited, intake) != ROCE_OK) {
        return false;
    }
    roce_reorder_extend(*reorder, horizon_ns);
    return true;
}

/* Makes what it takes to carry the decisions out. */
static bool
prepare(roce_intake *intake)
{
    bool good = reserve_reorders(intake);
    for (uint32_t i = 0; i < intake->n_points && good; i++) {
        const roce_survey_point *point = point_of(intake, i);
        if (intake->reorders[i] != NULL && point->group != i) {
            roce_reorder_flush(intake->reorders[i]); /* joined with others since */
            roce_reorder_free(intake->reorders[i]);
            intake->reorders[i] = NULL;
        }
        if (point->delivers_twice && intake->repeats == NULL) {
            good = roce_repeats_new(&intake->repeats, &intake->alloc) == ROCE_OK;
        }
        if (point->order != ROCE_ORDER_FILE || waits_for_copies(intake, point)) {
            good = good && make_reorder(intake, point);
        }
    }
    return good;
}

/* Frames go on even if there was no memory to decide on all: what is held is bounded. */
static int
end_survey(roce_intake *intake)
{
    int error = roce_survey_decide(intake->survey);
    if (intake->config.decided != NULL) {
        intake->config.decided(intake->config.ctx);
    }
    if (!prepare(intake)) {
        error = ROCE_ERROR_MEMORY;
    }
    roce_survey_release(intake->survey, admit_held, intake);
    return error;
}

/* ---- a frame at the beginning of its way ---- */

/* Whether frames were lost that nobody has been told of. */
static int
tell_lost(roce_intake *intake)
{
    int error = intake->lost ? ROCE_ERROR_MEMORY : ROCE_OK;
    intake->lost = false;
    return error;
}

bool
roce_intake_is_straight(const roce_intake *intake, uint32_t point)
{
    const roce_survey_point *at = point_of(intake, point);
    return !roce_survey_wants(intake->survey, at) && !at->delivers_twice &&
           at->group == point && point < intake->n_points &&
           (point >= intake->n_reorders || intake->reorders[point] == NULL);
}

int
roce_intake_add(roce_intake *intake, const roce_frame *frame, const roce_packet *packet)
{
    if (roce_intake_is_straight(intake, frame->point)) {
        intake->config.take(intake->config.ctx, frame, packet);
        return tell_lost(intake);
    }
    roce_survey_point *point = point_of(intake, frame->point);
    if (frame->point >= intake->n_points) {
        intake->n_points = frame->point + 1;
    }
    int error = ROCE_OK;
    if (!roce_survey_wants(intake->survey, point)) {
        admit(intake, frame, packet);
    } else {
        error = roce_survey_hold(intake->survey, point, frame, packet);
        if (error == ROCE_OK && roce_survey_has_enough(intake->survey)) {
            error = end_survey(intake);
        }
    }
    return error != ROCE_OK ? error : tell_lost(intake);
}

int
roce_intake_finish(roce_intake *intake)
{
    int error = end_survey(intake);
    for (uint32_t i = 0; i < intake->n_reorders; i++) {
        if (intake->reorders[i] != NULL) {
            roce_reorder_flush(intake->reorders[i]);
        }
    }
    return error != ROCE_OK ? error : tell_lost(intake);
}
