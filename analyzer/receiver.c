/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ACK times are looked at in groups of consecutive ones, of which the fastest counts: a
 * single slow ACK is chance.  There are CELLS groups at most; when they are full, every two
 * become one.
 *
 * Credits: an ACK with code 0 says that no further receive is posted (IBTA 9.7.7.2).  The
 * wait begins with it if the sender sends nothing until an ACK with credits comes, and
 * counts, up to its next request, if that follows soon.
 *
 * What a stream rarely has is made when it has it; what its counters tell is looked up when
 * it is asked for.
 */
#include "receiver.h"

#include "approach.h"
#include "byte_of.h"
#include "data_sight.h"

#include "roce/aeth.h"

#include <string.h>

#define MAX_STREAMS 65536
#define CELLS 32
#define LEAST_CELLS 2 /* room for; doubled as they fill, up to CELLS */
#define LEAST_OF_CELL 4

typedef struct cell {
    guint64 n, fastest_ns;
    guint64 ce; /* marked data while it was filled */
} cell;

typedef enum credit_state {
    CREDITS_THERE,
    CREDITS_OUT,      /* and nothing was sent since */
    CREDITS_RETURNED, /* likewise, and then there were some */
} credit_state;

/* What held a sender up, as in rs_receiver_evidence, and where its credits are. */
typedef struct hold {
    guint64 rnr_wait_ns;
    guint64 acks_with_credits, credits_out, credit_waits, credit_wait_ns, credit_frame;
    credit_state credits;
    guint64 out_ns, out_frame, returned_ns;
} hold;

/* Of a stream that was acknowledged, or told to wait. */
typedef struct state {
    cell *cells;     /* n_cells of them; NULL before the first ACK */
    guint16 n_cells; /* of which those behind the one that is being filled are 0 */
    guint16 n_full;  /* cells before the one that is being filled */
    guint64 of_cell; /* samples that fill one */
    guint64 ack_samples;
    guint64 counted_ns; /* their sum */
    guint64 counted_ce;
    hold *hold; /* NULL: nothing */
} state;

struct rs_receivers {
    const roce_tracker *tracker;
    GPtrArray *of_stream;   /* state, or NULL */
    GByteArray *priorities; /* by stream: bit n, it has packets in priority n */
    GByteArray *waiting;    /* by stream: whether it has no credits */
    guint64 omitted;
    rs_host_pauses *pauses; /* NULL before the end */
};

static void
free_state(gpointer data)
{
    state *s = data;
    if (s != NULL) {
        g_free(s->cells);
        g_free(s->hold);
        g_free(s);
    }
}

rs_receivers *
rs_receivers_new(const roce_tracker *tracker)
{
    rs_receivers *receivers = g_new0(rs_receivers, 1);
    receivers->tracker = tracker;
    receivers->of_stream = g_ptr_array_new_with_free_func(free_state);
    receivers->priorities = g_byte_array_new();
    receivers->waiting = g_byte_array_new();
    return receivers;
}

void
rs_receivers_free(rs_receivers *receivers)
{
    if (receivers != NULL) {
        g_ptr_array_unref(receivers->of_stream);
        g_byte_array_unref(receivers->priorities);
        g_byte_array_unref(receivers->waiting);
        rs_host_pauses_free(receivers->pauses);
        g_free(receivers);
    }
}

static guint8
byte_of(const GByteArray *of_stream, guint32 stream)
{
    return stream < of_stream->len ? of_stream->data[stream] : 0;
}

static const state *
state_at(const rs_receivers *receivers, guint32 stream)
{
    return stream < receivers->of_stream->len ? receivers->of_stream->pdata[stream]
                                              : NULL;
}

/* NULL beyond the bound. */
static state *
state_of(rs_receivers *receivers, guint32 stream)
{
    if (stream >= MAX_STREAMS) {
        return NULL;
    }
    if (stream >= receivers->of_stream->len) {
        g_ptr_array_set_size(receivers->of_stream, (gint)stream + 1);
    }
    gpointer *found = &receivers->of_stream->pdata[stream];
    if (*found == NULL) {
        state *added = g_new0(state, 1);
        added->of_cell = LEAST_OF_CELL;
        *found = added;
    }
    return *found;
}

static hold *
hold_of(state *s)
{
    if (s->hold == NULL) {
        s->hold = g_new0(hold, 1);
    }
    return s->hold;
}

/* ---- how long ACKs take ---- */

static void
halve_cells(state *s)
{
    for (guint i = 0; i < CELLS / 2; i++) {
        const cell *a = &s->cells[2 * i];
        const cell *b = &s->cells[2 * i + 1];
        s->cells[i] = (cell){
            .n = a->n + b->n,
            .fastest_ns = MIN(a->fastest_ns, b->fastest_ns),
            .ce = a->ce + b->ce,
        };
    }
    memset(&s->cells[CELLS / 2], 0, CELLS / 2 * sizeof *s->cells);
    s->n_full = CELLS / 2;
    s->of_cell *= 2;
}

static void
add_cells(state *s)
{
    guint16 more = s->n_cells == 0 ? LEAST_CELLS : (guint16)(2 * s->n_cells);
    s->cells = g_renew(cell, s->cells, more);
    memset(&s->cells[s->n_cells], 0, (more - s->n_cells) * sizeof *s->cells);
    s->n_cells = more;
}

/* Takes the sample that the tracker has just added to the distribution, if it has: sums
 * of distributions are exact.  Where a stream has lost its peer the distribution has begun
 * anew. */
static void
take_ack_time(state *s, const rs_ack_times *times)
{
    if (times->n < s->ack_samples ||
        (times->n == s->ack_samples && times->sum_ns != s->counted_ns)) {
        s->ack_samples = s->counted_ns = 0;
    }
    gboolean is_sample = times->n == s->ack_samples + 1;
    guint64 sample_ns = times->sum_ns - s->counted_ns;
    s->counted_ns = times->sum_ns;
    s->ack_samples = times->n;
    if (!is_sample) {
        return;
    }
    if (s->n_full == s->n_cells) {
        add_cells(s);
    }
    cell *c = &s->cells[s->n_full];
    c->fastest_ns = c->n == 0 ? sample_ns : MIN(c->fastest_ns, sample_ns);
    c->n++;
    c->ce += times->ce - s->counted_ce;
    s->counted_ce = times->ce;
    if (c->n == s->of_cell && ++s->n_full == CELLS) {
        halve_cells(s);
    }
}

static void
judge_ack_times(const state *s, rs_receiver_evidence *e)
{
    guint64 fastest_ns = G_MAXUINT64;
    for (guint i = 0; i < s->n_cells && s->cells[i].n > 0; i++) {
        fastest_ns = MIN(fastest_ns, s->cells[i].fastest_ns);
    }
    for (guint i = 0; i < s->n_full; i++) {
        const cell *c = &s->cells[i];
        if (c->fastest_ns >= fastest_ns * RS_SLOW_ACK_RATIO &&
            c->fastest_ns >= fastest_ns + RS_SLOW_ACK_NS) {
            e->slow_acks += c->n;
            e->slow_acks_marked += c->ce > 0 ? c->n : 0;
        }
    }
    e->ack_samples = s->ack_samples;
    e->fastest_ack_ns = s->ack_samples > 0 ? fastest_ns : 0;
}

/* ---- credits ---- */

static void
take_credits(state *s, const rs_sight *sight)
{
    unsigned code = roce_aeth_get_value(sight->packet->aeth_syndrome);
    guint32 credits = roce_aeth_credits(code);
    if (credits == ROCE_AETH_CREDITS_UNLIMITED && s->hold == NULL) {
        return;
    }
    hold *h = hold_of(s);
    h->acks_with_credits += credits != ROCE_AETH_CREDITS_UNLIMITED ? 1 : 0;
    if (credits == 0 && h->credits == CREDITS_THERE) {
        h->credits = CREDITS_OUT;
        h->out_ns = sight->frame->time_ns;
        h->out_frame = sight->frame->number;
        h->credits_out++;
    } else if (credits == 0 && h->credits == CREDITS_RETURNED) {
        h->credits = CREDITS_OUT; /* gone again before anything was sent */
    } else if (credits > 0 && h->credits == CREDITS_OUT) {
        h->credits = CREDITS_RETURNED;
        h->returned_ns = sight->frame->time_ns;
    }
}

/* The sender sends a request. */
static void
end_credit_wait(hold *h, guint64 time_ns)
{
    if (h->credits == CREDITS_RETURNED && time_ns >= h->returned_ns &&
        time_ns - h->returned_ns <= RS_CREDIT_RESUME_NS && time_ns > h->out_ns) {
        h->credit_frame = h->credit_waits == 0 ? h->out_frame : h->credit_frame;
        h->credit_waits++;
        h->credit_wait_ns += time_ns - h->out_ns;
    }
    h->credits = CREDITS_THERE;
}

/* ---- packets and events ---- */

static void
note_waiting(rs_receivers *receivers, guint32 stream, const state *s)
{
    gboolean waits = s->hold != NULL && s->hold->credits != CREDITS_THERE;
    if (waits || byte_of(receivers->waiting, stream) != 0) {
        *rs_byte_of(receivers->waiting, stream) = waits ? 1 : 0;
    }
}

/* An acknowledgement, alone or with response data, on the peer of the stream that it is
 * about. */
static void
take_acknowledgement(rs_receivers *receivers, const rs_sight *sight)
{
    if ((sight->packet->headers & ROCE_HEADER_AETH) == 0 ||
        sight->peer == ROCE_NO_STREAM ||
        roce_aeth_get_kind(sight->packet->aeth_syndrome) != ROCE_AETH_ACK) {
        return;
    }
    state *s = state_of(receivers, sight->peer);
    if (s != NULL) {
        take_credits(s, sight);
        note_waiting(receivers, sight->peer, s);
        if (sight->info->role == ROCE_ROLE_ACK) {
            take_ack_time(s, &sight->ack_times);
        }
    }
}

static void
take_request(rs_receivers *receivers, guint32 stream, guint64 time_ns)
{
    const state *s =
        byte_of(receivers->waiting, stream) != 0 ? state_at(receivers, stream) : NULL;
    if (s != NULL && s->hold != NULL) {
        end_credit_wait(s->hold, time_ns);
        *rs_byte_of(receivers->waiting, stream) = 0;
    }
}

/* NULL: it is about none. */
static const state *
acknowledged_by(const rs_receivers *receivers, const rs_sight *sight)
{
    gboolean is_about = (sight->packet->headers & ROCE_HEADER_AETH) != 0 &&
                        sight->peer != ROCE_NO_STREAM;
    return is_about ? state_at(receivers, sight->peer) : NULL;
}

void
rs_receivers_approach(const rs_receivers *receivers, const rs_sight *sight)
{
    rs_approach(acknowledged_by(receivers, sight), sizeof(state));
}

void
rs_receivers_approach_times(const rs_receivers *receivers, const rs_sight *sight)
{
    const state *s = acknowledged_by(receivers, sight);
    if (s != NULL && s->cells != NULL) {
        rs_approach(&s->cells[s->n_full], sizeof(cell));
    }
}

void
rs_receivers_meet(rs_receivers *receivers, const rs_sight *sight)
{
    if (!sight->is_counted) {
        return;
    }
    if (!roce_role_is_request(sight->info->role)) {
        take_acknowledgement(receivers, sight);
        return;
    }
    take_request(receivers, sight->stream->id, sight->frame->time_ns);
}

void
rs_receivers_train(rs_receivers *receivers, const rs_train_sight *train)
{
    if (train->space == ROCE_SPACE_REQUESTS) {
        take_request(receivers, train->stream->id, train->cars[0].time_ns);
    }
}

void
rs_receivers_packet(rs_receivers *receivers, const rs_sight *sight)
{
    roce_role role = sight->info->role;
    if (!sight->is_counted ||
        !(roce_role_is_request(role) || roce_role_is_response_data(role))) {
        return;
    }
    guint32 id = sight->stream->id;
    receivers->omitted += id >= MAX_STREAMS && sight->counted.packets == 1 ? 1 : 0;
    if (id < MAX_STREAMS) {
        guint bits = byte_of(receivers->priorities, id) | 1u << sight->priority;
        *rs_byte_of(receivers->priorities, id) = (guint8)bits;
    }
}

static gboolean
is_known(const rs_receivers *receivers, guint32 stream)
{
    return byte_of(receivers->priorities, stream) != 0 ||
           state_at(receivers, stream) != NULL;
}

void
rs_receivers_event(rs_receivers *receivers, const roce_event *event)
{
    state *s = event->kind == ROCE_EVENT_RNR_WAIT && is_known(receivers, event->stream)
                   ? state_of(receivers, event->stream)
                   : NULL;
    if (s != NULL) {
        hold_of(s)->rnr_wait_ns += event->duration_ns;
    }
}

/* ---- at the end ---- */

static void
take_counters(const roce_stream *stream, rs_receiver_evidence *e)
{
    const roce_stream_trouble *trouble = roce_stream_trouble_of(stream);
    const roce_stream_congestion *congestion = roce_stream_congestion_of(stream);
    const guint64 *losses = trouble->losses[ROCE_SPACE_REQUESTS];
    e->at_receiver = stream->vantage == ROCE_VANTAGE_RESPONDER;
    e->rnr_naks = trouble->naks_received[ROCE_NAKS_RNR];
    e->ce = stream->ecn.codepoint[3];
    e->cnps = congestion->cnps_received;
    if (!stream->partial_path) {
        e->lost =
            losses[ROCE_VERDICT_LOST_BEFORE_CAPTURE] + losses[ROCE_VERDICT_CORRUPT];
    }
}

/* Pauses of the receiver's own NIC. */
static void
take_host_pauses(const rs_receivers *receivers, const roce_stream *stream,
                 rs_receiver_evidence *e)
{
    const rs_host_pause by = rs_host_pauses_of(
        receivers->pauses, stream, byte_of(receivers->priorities, stream->id));
    e->host_pauses = by.pauses;
    e->host_pause_ns = by.paused_ns;
    e->host_held_ns = by.held_ns;
    e->host_pause_known = by.known;
    e->pause_frame = by.frame;
    e->n_paused_by = by.n_by;
    memcpy(e->paused_by, by.by, sizeof e->paused_by);
    e->duration_ns = by.until_ns - stream->first_time_ns;
}

static void
take_hold(const hold *h, rs_receiver_evidence *e)
{
    e->rnr_wait_ns = h->rnr_wait_ns;
    e->acks_with_credits = h->acks_with_credits;
    e->credits_out = h->credits_out;
    e->credit_waits = h->credit_waits;
    e->credit_wait_ns = h->credit_wait_ns;
    e->credit_frame = h->credit_frame;
}

static rs_culprit
judge(const rs_receiver_evidence *e)
{
    guint64 slow_alone = e->slow_acks - e->slow_acks_marked;
    gboolean paused = e->host_pause_known ? e->host_held_ns > 0 : e->host_pauses > 0;
    gboolean receiver = e->rnr_naks > 0 || e->credit_waits > 0 || paused ||
                        (e->at_receiver && slow_alone > 0);
    gboolean network = e->ce > 0 || e->cnps > 0 || e->lost > 0;
    if (receiver || network) {
        return !network    ? RS_CULPRIT_RECEIVER
               : !receiver ? RS_CULPRIT_NETWORK
                           : RS_CULPRIT_BOTH;
    }
    return slow_alone > 0 ? RS_CULPRIT_UNDECIDABLE : RS_CULPRIT_NONE;
}

void
rs_receivers_finish(rs_receivers *receivers, const rs_nics *nics,
                    const rs_pausing *pausing)
{
    receivers->pauses = rs_host_pauses_new(nics, pausing, receivers->tracker);
}

gboolean
rs_receivers_get(const rs_receivers *receivers, guint32 stream, rs_receiver_evidence *e)
{
    if (!is_known(receivers, stream)) {
        return FALSE;
    }
    *e = (rs_receiver_evidence){0};
    const roce_stream *s = roce_tracker_stream(receivers->tracker, stream);
    take_counters(s, e);
    take_host_pauses(receivers, s, e);
    const state *answers = state_at(receivers, stream);
    if (answers != NULL) {
        judge_ack_times(answers, e);
    }
    if (answers != NULL && answers->hold != NULL) {
        take_hold(answers->hold, e);
    }
    e->culprit = judge(e);
    return TRUE;
}

guint64
rs_receiver_held_ns(const rs_receiver_evidence *e)
{
    return MIN(e->rnr_wait_ns + e->credit_wait_ns + e->host_held_ns, e->duration_ns);
}

guint64
rs_receivers_omitted(const rs_receivers *receivers)
{
    return receivers->omitted;
}

const char *
rs_culprit_name(rs_culprit culprit)
{
    static const char *const names[RS_N_CULPRITS] = {
        [RS_CULPRIT_NONE] = "none",
        [RS_CULPRIT_RECEIVER] = "receiver",
        [RS_CULPRIT_NETWORK] = "network",
        [RS_CULPRIT_BOTH] = "both",
        [RS_CULPRIT_UNDECIDABLE] = "undecidable",
    };
    return names[culprit];
}
