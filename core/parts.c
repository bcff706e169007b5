/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "track.h"

#include <string.h>

const roce_stream_trouble roce_no_trouble = {0};
const roce_stream_congestion roce_no_congestion = {0};
const roce_stream_control roce_no_control = {0};
const roce_trouble roce_untroubled = {0};
const roce_congestion roce_uncongested = {0};
const roce_carried roce_uncarried = {0};
const roce_heard roce_unheard = {0};
const roce_answers roce_unanswered = {.response_message_next = ROCE_NO_PSN};

/* A part that begins with what reads as nothing; for lack of memory that is told, and NULL
 * returned. */
static void *
new_part(roce_tracker *t, const roce_stream_state *s, const void *nothing, size_t size)
{
    void *part = roce_track_resize(t, NULL, size);
    if (part == NULL) {
        roce_track_evicted(t, ROCE_TABLE_STREAMS, s, NULL);
        return NULL;
    }
    return memcpy(part, nothing, size);
}

roce_trouble *
roce_trouble_make(roce_tracker *t, roce_stream_state *s)
{
    roce_trouble *trouble = roce_trouble_had(s);
    if (trouble != NULL) {
        return trouble;
    }
    trouble = new_part(t, s, &roce_untroubled, sizeof *trouble);
    if (trouble == NULL) {
        t->nowhere.trouble = roce_untroubled;
        return &t->nowhere.trouble;
    }
    s->pub.trouble = &trouble->pub;
    return trouble;
}

roce_congestion *
roce_congestion_make(roce_tracker *t, roce_stream_state *s)
{
    if (s->pub.congestion != NULL) {
        return (roce_congestion *)s->pub.congestion;
    }
    roce_congestion *congestion = new_part(t, s, &roce_uncongested, sizeof *congestion);
    if (congestion == NULL) {
        t->nowhere.congestion = roce_uncongested;
        return &t->nowhere.congestion;
    }
    s->pub.congestion = &congestion->pub;
    return congestion;
}

roce_heard *
roce_heard_make(roce_tracker *t, roce_stream_state *s)
{
    if (s->heard == NULL) {
        s->heard = new_part(t, s, &roce_unheard, sizeof *s->heard);
    }
    if (s->heard == NULL) {
        t->nowhere.heard = roce_unheard;
        return &t->nowhere.heard;
    }
    return s->heard;
}

roce_carried *
roce_carried_make(roce_tracker *t, roce_stream_state *s)
{
    if (s->pub.control != NULL) {
        return (roce_carried *)s->pub.control;
    }
    roce_carried *carried = new_part(t, s, &roce_uncarried, sizeof *carried);
    if (carried == NULL) {
        t->nowhere.carried = roce_uncarried;
        return &t->nowhere.carried;
    }
    s->pub.control = &carried->pub;
    return carried;
}

roce_answers *
roce_answers_make(roce_tracker *t, roce_stream_state *s)
{
    if (s->answers == NULL) {
        s->answers = new_part(t, s, &roce_unanswered, sizeof *s->answers);
    }
    return s->answers;
}

static void
release(roce_tracker *t, void *part)
{
    if (part != NULL) {
        t->alloc.release(t->alloc.ctx, part);
    }
}

void
roce_parts_clear(roce_tracker *t, roce_stream_state *s)
{
    roce_room_give_back(t, roce_requests(s));
    if (s->answers != NULL) {
        roce_room_give_back(t, roce_responses(s));
    }
    roce_measure_forget(t, s);
    if (s->pub.congestion != NULL) {
        release(t, s->pub.congestion->episodes);
    }
    release(t, s->pub.congestion);
    release(t, roce_trouble_of(s)->leaps[ROCE_SPACE_REQUESTS]);
    release(t, roce_trouble_of(s)->leaps[ROCE_SPACE_RESPONSES]);
    release(t, roce_trouble_of(s)->asked_parts);
    if (roce_trouble_had(s) != NULL) {
        roce_loss_forget_bad(t, roce_trouble_had(s));
    }
    release(t, s->pub.trouble);
    release(t, s->pub.other_opcodes);
    release(t, s->heard);
    release(t, s->pub.control);
    release(t, s->answers);
}
