/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "survey.h"

#include "held.h"
#include "survey_parts.h"

#include "roce/aeth.h"
#include "roce/hash.h"
#include "roce/opcode.h"

#define ENOUGH_FRAMES 8192
#define ENOUGH_BYTES ((gsize)16 * 1024 * 1024)
#define SETTLED_FRAMES 256 /* of a point with fewer, later surveys know better ... */
#define MAX_SURVEYS 4      /* ... as often as this */

struct rs_survey {
    rs_points *points;
    GArray *frames; /* rs_held */
    GByteArray *bytes;
};

rs_survey *
rs_survey_new(rs_points *points)
{
    rs_survey *survey = g_new0(rs_survey, 1);
    survey->points = points;
    survey->frames = g_array_new(FALSE, FALSE, sizeof(rs_held));
    survey->bytes = g_byte_array_new();
    return survey;
}

void
rs_survey_free(rs_survey *survey)
{
    if (survey == NULL) {
        return;
    }
    g_array_unref(survey->frames);
    g_byte_array_unref(survey->bytes);
    g_free(survey);
}

gboolean
rs_survey_wants(const rs_survey *survey, const rs_point *point)
{
    return survey->frames->len > 0 || !point->surveyed;
}

static rs_held_kind
kind_of(const roce_packet *p)
{
    roce_role role = roce_opcode_get(p->bth.opcode)->role;
    if (roce_role_is_request(role)) {
        return RS_HELD_REQUEST;
    }
    if (role == ROCE_ROLE_ACK) {
        /* A NAK names what did not come, and that comes behind it. */
        return roce_aeth_get_kind(p->aeth_syndrome) == ROCE_AETH_ACK ? RS_HELD_ACK
                                                                     : RS_HELD_OTHER;
    }
    return roce_role_is_response_data(role) || role == ROCE_ROLE_ATOMIC_ACK
               ? RS_HELD_RESPONSE
               : RS_HELD_OTHER;
}

static rs_held_class
class_of(const roce_packet *p)
{
    switch (p->transport) {
    case ROCE_TRANSPORT_UC:
    case ROCE_TRANSPORT_UD:
        return RS_HELD_UNRELIABLE;
    case ROCE_TRANSPORT_CNP:
        return RS_HELD_CNP;
    case ROCE_TRANSPORT_RC:
    case ROCE_TRANSPORT_RD:
    case ROCE_TRANSPORT_XRC:
    case ROCE_TRANSPORT_DC:
    case ROCE_TRANSPORT_VENDOR:
    case ROCE_TRANSPORT_UNKNOWN:
    case ROCE_N_TRANSPORTS:
        break;
    }
    return RS_HELD_RELIABLE;
}

gboolean
rs_survey_hold(rs_survey *survey, const roce_frame *frame, const roce_packet *p)
{
    rs_held h = {
        .frame = *frame, .at = survey->bytes->len, .ipv4_ident = p->ipv4_ident};
    h.has_identity = roce_wire_identity_of(frame, p, &h.identity);
    h.sender = roce_hash_addr(0, &p->src);
    h.way = roce_hash_addr(h.sender, &p->dst);
    h.back = roce_hash_addr(roce_hash_addr(0, &p->dst), &p->src);
    if (p->class == ROCE_CLASS_ROCE && p->has_bth) {
        h.stream = roce_hash_mix(h.way, p->bth.dest_qpn) | 1;
        h.psn24 = p->bth.psn24;
        h.kind = kind_of(p);
        h.class = class_of(p);
    }
    g_byte_array_append(survey->bytes, frame->bytes, frame->captured_bytes);
    g_array_append_val(survey->frames, h);
    return survey->frames->len >= ENOUGH_FRAMES || survey->bytes->len >= ENOUGH_BYTES;
}

/* A file that began a little before the one before it ended, and goes on with it. */
static void
join_rotated(const rs_survey *survey, const rs_point *next)
{
    const rs_point *before = rs_points_before(survey->points, next, next->first_ns);
    if (before != NULL) {
        rs_points_join(survey->points, before->id, next->id);
    }
}

/* The part of an order that begins at `begin` and holds one point's frames. */
static rs_held_slice
slice_at(const rs_survey *survey, const GArray *order, guint begin)
{
    rs_held_slice slice = {
        .frames = survey->frames, .order = order, .begin = begin, .end = begin};
    guint point = rs_held_nth(&slice, begin)->frame.point;
    while (slice.end < order->len &&
           rs_held_nth(&slice, slice.end)->frame.point == point) {
        slice.end++;
    }
    return slice;
}

void
rs_survey_decide(rs_survey *survey)
{
    g_autoptr(GArray) by_identity = rs_held_sorted(survey->frames, rs_held_by_identity);
    g_autoptr(GArray) by_arrival = rs_held_sorted(survey->frames, rs_held_by_arrival);
    g_autoptr(GArray) by_time = rs_held_sorted(survey->frames, rs_held_by_time);
    /* All three go by point first, so that a point's frames lie at one place in them. */
    for (guint begin = 0, end = 0; begin < by_arrival->len; begin = end) {
        rs_held_slice arrived = slice_at(survey, by_arrival, begin);
        end = arrived.end;
        guint id = rs_held_nth(&arrived, begin)->frame.point;
        rs_point *point = rs_points_at(survey->points, id);
        if (!point->surveyed) {
            rs_held_slice copies = slice_at(survey, by_identity, begin);
            rs_held_slice stamped = slice_at(survey, by_time, begin);
            rs_decide_on_repeats(point, &copies);
            rs_decide_on_order(point, &arrived, &stamped);
            if (point->n_surveys++ == 0) {
                join_rotated(survey, point);
            }
        }
    }
    rs_held_slice all = {
        .frames = survey->frames, .order = by_arrival, .end = by_arrival->len};
    rs_decide_on_joins(survey->points, &all);
    for (guint begin = 0; begin < by_arrival->len;) {
        rs_held_slice arrived = slice_at(survey, by_arrival, begin);
        guint id = rs_held_nth(&arrived, begin)->frame.point;
        rs_point *point = rs_points_at(survey->points, id);
        point->surveyed |= arrived.end - arrived.begin >= SETTLED_FRAMES ||
                           point->n_surveys >= MAX_SURVEYS;
        begin = arrived.end;
    }
}

void
rs_survey_release(rs_survey *survey, roce_frame_fn take, void *ctx)
{
    for (guint i = 0; i < survey->frames->len; i++) {
        const rs_held *h = &g_array_index(survey->frames, rs_held, i);
        roce_frame frame = h->frame;
        frame.bytes = survey->bytes->data + h->at;
        take(ctx, &frame);
    }
    g_array_set_size(survey->frames, 0);
    g_byte_array_set_size(survey->bytes, 0);
}
