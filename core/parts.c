/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "track.h"

const roce_stream_trouble roce_no_trouble = {0};
const roce_stream_congestion roce_no_congestion = {0};
const roce_trouble roce_untroubled = {0};
const roce_congestion roce_uncongested = {0};
const roce_heard roce_unheard = {0};
const roce_answers roce_unanswered = {.response_message_next = ROCE_NO_PSN};

/* Memory for a part; for lack of it that is told, and NULL returned. */
static void *
new_part(roce_tracker *t, const roce_stream_state *s, size_t size)
{
    void *part = roce_track_resize(t, NULL, size);
    if (part == NULL) {
        roce_track_evicted(t, ROCE_TABLE_STREAMS, s, NULL);
    }
    return part;
}

roce_trouble *
roce_trouble_make(roce_tracker *t, roce_stream_state *s)
{
    if (s->pub.trouble != NULL) {
        return (roce_trouble *)s->pub.trouble;
    }
    roce_trouble *made = new_part(t, s, sizeof *made);
    s->pub.trouble = made != NULL ? &made->pub : NULL;
    made = made != NULL ? made : &t->nowhere.trouble;
    *made = roce_untroubled;
    return made;
}

roce_congestion *
roce_congestion_make(roce_tracker *t, roce_stream_state *s)
{
    if (s->pub.congestion != NULL) {
        return (roce_congestion *)s->pub.congestion;
    }
    roce_congestion *made = new_part(t, s, sizeof *made);
    s->pub.congestion = made != NULL ? &made->pub : NULL;
    made = made != NULL ? made : &t->nowhere.congestion;
    *made = roce_uncongested;
    return made;
}

roce_heard *
roce_heard_make(roce_tracker *t, roce_stream_state *s)
{
    if (s->heard != NULL) {
        return s->heard;
    }
    s->heard = new_part(t, s, sizeof *s->heard);
    roce_heard *made = s->heard != NULL ? s->heard : &t->nowhere.heard;
    *made = roce_unheard;
    return made;
}

roce_carried *
roce_carried_make(roce_tracker *t, roce_stream_state *s)
{
    if (s->carried == NULL) {
        s->carried = new_part(t, s, sizeof *s->carried);
        if (s->carried != NULL) {
            *s->carried = (roce_carried){0};
        }
    }
    return s->carried;
}

roce_answers *
roce_answers_make(roce_tracker *t, roce_stream_state *s)
{
    if (s->answers == NULL) {
        s->answers = new_part(t, s, sizeof *s->answers);
        if (s->answers != NULL) {
            *s->answers = roce_unanswered;
        }
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
    release(t, s->pub.trouble);
    release(t, s->pub.other_opcodes);
    release(t, s->heard);
    release(t, s->carried);
    release(t, s->answers);
}
