/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lengths.h"

#include "thresholds.h"

#include "roce/aeth.h"

#include <string.h>

#define IPV4_BYTES 20
#define IPV6_BYTES 40

#define STEPS 3 /* of each stream: the newest ones */

/* Of a stream that sent something again. */
typedef struct rounds {
    guint n;         /* in a row that begin with one packet, not acknowledged since */
    guint asked_for; /* of these by a NAK */
    gint64 psn;      /* that packet; valid if n > 0 */
    gint64 nak_psn;  /* the newest sequence NAK asked for it; ROCE_NO_PSN: none */
    guint64 newest_ns,
        waited_ns; /* the newest began, at most so long after one before */
} rounds;

/* A packet that was longer than all before it. */
typedef struct longer {
    gint64 psn;
    guint32 n_before; /* packets */
    guint16 bytes;    /* of IP */
} longer;

/* Of one stream at its point, of its requests or its responses. */
typedef struct lengths_of_one {
    longer steps[STEPS]; /* the newest at the end */
    guint32 n;           /* of all packets */
    guint16 least_bytes; /* the shortest of all; valid if n_steps > 0 */
    guint8 n_steps;
    guint8 restarted;   /* its PSNs began anew: nothing is said */
    gint64 first_psn;   /* of the first packet */
    gint64 newest_psn;  /* the greatest of all */
    gint64 acked_until; /* the newest acknowledgement came so far; ROCE_NO_PSN: none */
    rounds *rounds;     /* NULL: none */
} lengths_of_one;

struct rs_lengths {
    GArray *streams[ROCE_N_SPACES]; /* lengths_of_one, by stream */
    guint64 round_frame;            /* that began the newest round of all */
    roce_cause round_cause;
};

static void
clear_one(gpointer data)
{
    lengths_of_one *of = data;
    g_free(of->rounds);
}

rs_lengths *
rs_lengths_new(void)
{
    rs_lengths *lengths = g_new0(rs_lengths, 1);
    for (guint i = 0; i < ROCE_N_SPACES; i++) {
        lengths->streams[i] = g_array_new(FALSE, TRUE, sizeof(lengths_of_one));
        g_array_set_clear_func(lengths->streams[i], clear_one);
    }
    return lengths;
}

void
rs_lengths_free(rs_lengths *lengths)
{
    if (lengths != NULL) {
        g_array_unref(lengths->streams[ROCE_SPACE_REQUESTS]);
        g_array_unref(lengths->streams[ROCE_SPACE_RESPONSES]);
        g_free(lengths);
    }
}

/* NULL: of streams that are not watched. */
static lengths_of_one *
stream_of(rs_lengths *lengths, guint32 id, roce_space space)
{
    GArray *streams = lengths->streams[space];
    if (id >= RS_LENGTHS_STREAMS) {
        return NULL;
    }
    if (id >= streams->len) {
        g_array_set_size(streams, id + 1);
    }
    return &g_array_index(streams, lengths_of_one, id);
}

static guint32
header_bytes(const roce_stream *stream)
{
    return stream->src.family == 4 ? IPV4_BYTES : IPV6_BYTES;
}

static guint16
ip_bytes(const roce_stream *stream, guint32 udp_bytes)
{
    return (guint16)MIN(udp_bytes + header_bytes(stream), G_MAXUINT16);
}

/* The longest datagram of which ip_bytes() is no more than `bytes`, which is one of those. */
static guint32
most_udp_bytes_of(const roce_stream *stream, guint16 bytes)
{
    return bytes == G_MAXUINT16 ? G_MAXUINT32 : bytes - header_bytes(stream);
}

static void
add_step(lengths_of_one *of, gint64 psn, guint16 bytes)
{
    if (of->n_steps == STEPS) {
        memmove(of->steps, of->steps + 1, sizeof of->steps - sizeof *of->steps);
        of->n_steps--;
    }
    of->steps[of->n_steps++] = (longer){psn, of->n - 1, bytes};
}

/* Where a longer one comes late, those behind it count as shorter ones. */
static void
take(lengths_of_one *of, gint64 psn, guint16 bytes)
{
    of->n += of->n < G_MAXUINT32 ? 1 : 0;
    of->newest_psn = of->n_steps == 0 ? psn : MAX(of->newest_psn, psn);
    if (of->n_steps == 0) {
        of->first_psn = psn;
        of->acked_until = ROCE_NO_PSN;
        of->least_bytes = bytes;
    } else if (bytes <= of->steps[of->n_steps - 1].bytes) {
        of->least_bytes = MIN(of->least_bytes, bytes);
        return;
    }
    while (of->n_steps > 0 && of->steps[of->n_steps - 1].psn >= psn) {
        of->n_steps--;
    }
    add_step(of, psn, bytes);
}

static gboolean
has_length(const rs_sight *sight)
{
    roce_role role = sight->info->role;
    return sight->sighting->space == ROCE_SPACE_RESPONSES
               ? role == ROCE_ROLE_READ_RESPONSE
               : role == ROCE_ROLE_SEND || role == ROCE_ROLE_WRITE;
}

/* A requester that goes on to ask for more waits for nothing. */
static void
take_response(lengths_of_one *of, gint64 psn)
{
    if (of->rounds != NULL && psn > of->newest_psn) {
        of->rounds->n = of->rounds->asked_for = 0;
    }
}

void
rs_lengths_step(rs_lengths *lengths, const rs_sight *sight)
{
    const roce_sighting *sighting = sight->sighting;
    if (sight->stream == NULL || !sighting->sequenced || sighting->corrupt ||
        !sight->packet->has_bth || sight->packet->udp_length == 0 ||
        !has_length(sight)) {
        return;
    }
    lengths_of_one *of = stream_of(lengths, sight->stream->id, sighting->space);
    if (of == NULL) {
        return;
    }
    if (sighting->space == ROCE_SPACE_RESPONSES) {
        take_response(of, sighting->psn);
    }
    take(of, sighting->psn, ip_bytes(sight->stream, sight->packet->udp_length));
}

/* As take(), of the cars from the i-th on that are no longer than what came before: as nearly
 * all are, how many. */
static guint
count_shorter(lengths_of_one *of, const rs_train_sight *train, guint i)
{
    if (of->n_steps == 0) {
        return 0;
    }
    const roce_car *cars = &train->cars[i];
    const guint rest = train->n - i;
    const guint32 most_udp_bytes =
        most_udp_bytes_of(train->stream, of->steps[of->n_steps - 1].bytes);
    guint32 least_udp_bytes = G_MAXUINT16;
    guint n = 0;
    while (n < rest && cars[n].udp_bytes <= most_udp_bytes) {
        least_udp_bytes = MIN(least_udp_bytes, cars[n].udp_bytes);
        n++;
    }
    of->n = (guint32)MIN((guint64)of->n + n, G_MAXUINT32);
    of->newest_psn = MAX(of->newest_psn, train->psn + i + n - 1);
    of->least_bytes = MIN(of->least_bytes, ip_bytes(train->stream, least_udp_bytes));
    return n;
}

void
rs_lengths_train(rs_lengths *lengths, const rs_train_sight *train)
{
    lengths_of_one *of = stream_of(lengths, train->stream->id, train->space);
    if (of != NULL && train->space == ROCE_SPACE_RESPONSES) {
        take_response(of, train->psn + train->n - 1);
    }
    for (guint i = 0; of != NULL && i < train->n; i++) {
        i += count_shorter(of, train, i);
        if (i < train->n) {
            take(of, train->psn + i, ip_bytes(train->stream, train->cars[i].udp_bytes));
        }
    }
}

void
rs_lengths_meet(rs_lengths *lengths, const rs_sight *sight)
{
    const roce_sighting *sighting = sight->sighting;
    if (sight->stream == NULL || sight->peer == ROCE_NO_STREAM ||
        sighting->acked_until <= sighting->acked_from) {
        return;
    }
    lengths_of_one *of = stream_of(lengths, sight->peer, ROCE_SPACE_REQUESTS);
    if (of == NULL || of->n_steps == 0) {
        return;
    }
    of->acked_until = MAX(of->acked_until, sighting->acked_until);
    if (of->rounds != NULL && of->rounds->psn < of->acked_until) {
        of->rounds->n = of->rounds->asked_for = 0;
    }
}

static rounds *
rounds_of(lengths_of_one *of)
{
    if (of->rounds == NULL) {
        of->rounds = g_new0(rounds, 1);
        of->rounds->nak_psn = ROCE_NO_PSN;
    }
    return of->rounds;
}

static void
add_round(rounds *r, const roce_event *event, gboolean asked_for)
{
    if (r->n == 0 || r->psn != event->psn) {
        r->n = r->asked_for = 0;
        r->psn = event->psn;
        r->newest_ns = event->time_ns;
        r->waited_ns = 0;
    }
    r->waited_ns =
        MAX(r->waited_ns, event->time_ns - MIN(event->time_ns, r->newest_ns));
    r->newest_ns = event->time_ns;
    r->n++;
    r->asked_for += asked_for ? 1 : 0;
}

/* Of requests. */
static void
take_event(lengths_of_one *of, const roce_event *event)
{
    if (event->kind == ROCE_EVENT_NAK) {
        rounds_of(of)->nak_psn = event->psn;
    } else if (event->kind == ROCE_EVENT_STREAM_RESTART) {
        of->restarted = TRUE;
    } else if (event->detail == ROCE_CAUSE_RNR) {
        rounds *r = rounds_of(of);
        r->n = r->asked_for = 0; /* it has come */
    } else {
        add_round(rounds_of(of), event, event->detail == ROCE_CAUSE_NAK_SEQUENCE);
    }
}

/* The first response that a round of READs asks for: it did not come, and all before it did. */
static void
take_undelivered(const rs_lengths *lengths, lengths_of_one *of, const roce_event *event)
{
    if (event->frame == lengths->round_frame) {
        add_round(rounds_of(of), event,
                  lengths->round_cause == ROCE_CAUSE_READ_REISSUE);
    }
}

static gboolean
is_undelivered_response(const roce_event *event)
{
    return event->kind == ROCE_EVENT_LOSS && event->space == ROCE_SPACE_RESPONSES &&
           event->detail == ROCE_VERDICT_UNDELIVERED_AFTER_CAPTURE;
}

/* READs may begin anew with any PSN of their stream, and its responses with it. */
static void
restart_responses(rs_lengths *lengths, guint32 stream)
{
    lengths_of_one *of = stream_of(lengths, stream, ROCE_SPACE_RESPONSES);
    if (of != NULL) {
        of->restarted = TRUE;
    }
}

void
rs_lengths_event(rs_lengths *lengths, const roce_event *event)
{
    const gboolean is_nak =
        event->kind == ROCE_EVENT_NAK && event->detail == ROCE_NAK_PSN_SEQUENCE;
    const gboolean of_responses = is_undelivered_response(event);
    if (event->stream == ROCE_NO_STREAM ||
        (!is_nak && !of_responses && event->kind != ROCE_EVENT_ROUND &&
         event->kind != ROCE_EVENT_STREAM_RESTART)) {
        return;
    }
    if (event->kind == ROCE_EVENT_ROUND) {
        lengths->round_frame = event->frame;
        lengths->round_cause = (roce_cause)event->detail;
    } else if (event->kind == ROCE_EVENT_STREAM_RESTART) {
        restart_responses(lengths, event->stream);
    }
    lengths_of_one *of =
        stream_of(lengths, event->stream,
                  of_responses ? ROCE_SPACE_RESPONSES : ROCE_SPACE_REQUESTS);
    if (of == NULL) {
        return;
    }
    if (of_responses) {
        take_undelivered(lengths, of, event);
    } else {
        take_event(of, event);
    }
}

/* NULL: nothing is known of it. */
static const lengths_of_one *
find(const rs_lengths *lengths, guint32 stream, roce_space space)
{
    const GArray *streams = lengths->streams[space];
    return stream < streams->len ? &g_array_index(streams, lengths_of_one, stream)
                                 : NULL;
}

/* Whether its rounds begin with one packet to the last, and with the first that did not come,
 * as a round of READs does by itself. */
static gboolean
is_at_an_end(const lengths_of_one *of, const roce_stream *stream, roce_space space)
{
    const rounds *r = of->rounds;
    return r != NULL && !of->restarted && r->n >= RS_STOPPED_REPEATS &&
           (space == ROCE_SPACE_RESPONSES || of->acked_until == r->psn ||
            r->nak_psn == r->psn) &&
           stream->last_time_ns <= r->newest_ns + r->waited_ns;
}

/* The step at which it is stuck; STEPS: at none. */
static guint
step_of(const lengths_of_one *of)
{
    guint i = 0;
    while (i < of->n_steps && of->steps[i].psn != of->rounds->psn) {
        i++;
    }
    /* What stood before the first one that is known may have been longer. */
    gboolean is_known = i > 0 || of->rounds->psn == of->first_psn;
    return i < of->n_steps && is_known ? i : STEPS;
}

/* Packets before the one of a step, no copy of which counts. */
static guint64
came_before(const lengths_of_one *of, guint step)
{
    gint64 psns = of->steps[step].psn - of->first_psn;
    return psns > 0 ? MIN((guint64)psns, of->steps[step].n_before) : 0;
}

static gboolean
are_stuck(const lengths_of_one *of, roce_space space, rs_stuck *stuck)
{
    guint step = step_of(of);
    if (step == STEPS) {
        return FALSE;
    }
    *stuck = (rs_stuck){
        .space = space,
        .bytes = of->steps[step].bytes,
        .came_bytes = step > 0 ? of->steps[step - 1].bytes : 0,
        .came = came_before(of, step),
        .rounds = of->rounds->n,
        .asked_for = of->rounds->asked_for,
    };
    gboolean others_came = stuck->asked_for > 0 &&
                           stuck->bytes >= (guint)of->least_bytes + RS_LONGER_BYTES;
    return stuck->bytes >= stuck->came_bytes + RS_LONGER_BYTES &&
           (stuck->came >= RS_SHORTER_PACKETS || others_came);
}

gboolean
rs_lengths_are_stuck(const rs_lengths *lengths, const roce_stream *stream,
                     rs_stuck *stuck)
{
    if (!roce_stream_is_paired(stream) || stream->partial_path) {
        return FALSE;
    }
    for (guint i = 0; i < ROCE_N_SPACES; i++) {
        roce_space space = (roce_space)i;
        const lengths_of_one *of = find(lengths, stream->id, space);
        if (of != NULL && is_at_an_end(of, stream, space) &&
            are_stuck(of, space, stuck)) {
            return TRUE;
        }
    }
    return FALSE;
}

guint
rs_lengths_came(const rs_lengths *lengths, guint32 stream)
{
    const lengths_of_one *of = find(lengths, stream, ROCE_SPACE_REQUESTS);
    guint bytes = 0;
    for (guint i = 0; of != NULL && i < of->n_steps && !of->restarted; i++) {
        bytes = of->steps[i].psn < of->acked_until ? of->steps[i].bytes : bytes;
    }
    return bytes;
}

guint
rs_lengths_longest(const rs_lengths *lengths, guint32 stream)
{
    guint bytes = 0;
    for (guint i = 0; i < ROCE_N_SPACES; i++) {
        const lengths_of_one *of = find(lengths, stream, (roce_space)i);
        if (of != NULL && of->n_steps > 0) {
            bytes = MAX(bytes, of->steps[of->n_steps - 1].bytes);
        }
    }
    return bytes;
}
