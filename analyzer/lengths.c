/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lengths.h"

#include "thresholds.h"

#include "roce/aeth.h"

#include <string.h>

#define IPV4_BYTES 20
#define IPV6_BYTES 40
#define IP_VERSION_4 4

struct rs_lengths {
    GArray *streams; /* rs_lengths_stream, by stream */
};

rs_lengths *
rs_lengths_new(void)
{
    rs_lengths *lengths = g_new0(rs_lengths, 1);
    lengths->streams = g_array_new(FALSE, TRUE, sizeof(rs_lengths_stream));
    return lengths;
}

void
rs_lengths_free(rs_lengths *lengths)
{
    if (lengths != NULL) {
        g_array_unref(lengths->streams);
        g_free(lengths);
    }
}

/* NULL: of streams that are not watched. */
static rs_lengths_stream *
stream_of(rs_lengths *lengths, guint32 id)
{
    if (id >= RS_LENGTHS_STREAMS) {
        return NULL;
    }
    if (id >= lengths->streams->len) {
        g_array_set_size(lengths->streams, id + 1);
    }
    return &g_array_index(lengths->streams, rs_lengths_stream, id);
}

static guint32
ip_bytes(const roce_stream *stream, guint32 udp_bytes)
{
    return udp_bytes + (stream->src.family == IP_VERSION_4 ? IPV4_BYTES : IPV6_BYTES);
}

static void
add_step(rs_lengths_stream *of, gint64 psn, guint32 bytes)
{
    if (of->n_steps == RS_LENGTHS_STEPS) {
        memmove(of->steps, of->steps + 1, sizeof of->steps - sizeof of->steps[0]);
        of->n_steps--;
    }
    of->steps[of->n_steps++] = (rs_length_step){.psn = psn, .bytes = bytes};
}

/* Where a longer one comes late, those behind it count as shorter ones. */
static void
take(rs_lengths_stream *of, gint64 psn, guint32 bytes)
{
    if (of->n_steps == 0) {
        of->first_psn = psn;
        of->acked_until = of->nak_psn = ROCE_NO_PSN;
        of->least_bytes = bytes;
    } else if (bytes < of->least_bytes) {
        of->least_bytes = bytes;
        return;
    } else if (bytes <= of->steps[of->n_steps - 1].bytes) {
        return;
    }
    while (of->n_steps > 0 && of->steps[of->n_steps - 1].psn >= psn) {
        of->n_steps--;
    }
    add_step(of, psn, bytes);
}

static gboolean
is_of_message(roce_role role)
{
    return role == ROCE_ROLE_SEND || role == ROCE_ROLE_WRITE;
}

void
rs_lengths_step(rs_lengths *lengths, const rs_sight *sight)
{
    const roce_sighting *sighting = sight->sighting;
    if (sight->stream == NULL || !sighting->sequenced || sighting->corrupt ||
        sighting->space != ROCE_SPACE_REQUESTS || !sight->packet->has_bth ||
        sight->packet->udp_length == 0 || !roce_stream_is_reliable(sight->stream) ||
        !is_of_message(sight->info->role)) {
        return;
    }
    rs_lengths_stream *of = stream_of(lengths, sight->stream->id);
    if (of != NULL) {
        take(of, sighting->psn, ip_bytes(sight->stream, sight->packet->udp_length));
    }
}

void
rs_lengths_train(rs_lengths *lengths, const rs_train_sight *train)
{
    if (train->space != ROCE_SPACE_REQUESTS ||
        !roce_stream_is_reliable(train->stream)) {
        return;
    }
    rs_lengths_stream *of = stream_of(lengths, train->stream->id);
    for (guint i = 0; of != NULL && i < train->n; i++) {
        take(of, train->psn + i, ip_bytes(train->stream, train->cars[i].udp_bytes));
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
    rs_lengths_stream *of = stream_of(lengths, sight->peer);
    if (of == NULL || of->n_steps == 0) {
        return;
    }
    of->acked_until = MAX(of->acked_until, sighting->acked_until);
    if (of->rounds > 0 && of->stuck_psn < of->acked_until) {
        of->rounds = of->asked_for = 0;
    }
}

static void
add_round(rs_lengths_stream *of, const roce_event *event)
{
    if (of->rounds == 0 || of->stuck_psn != event->psn) {
        of->rounds = of->asked_for = 0;
        of->stuck_psn = event->psn;
        of->newest_ns = event->time_ns;
        of->waited_ns = 0;
    }
    of->waited_ns =
        MAX(of->waited_ns, event->time_ns - MIN(event->time_ns, of->newest_ns));
    of->newest_ns = event->time_ns;
    of->rounds++;
    of->asked_for += event->detail == ROCE_CAUSE_NAK_SEQUENCE ? 1 : 0;
}

void
rs_lengths_event(rs_lengths *lengths, const roce_event *event)
{
    const gboolean is_nak =
        event->kind == ROCE_EVENT_NAK && event->detail == ROCE_NAK_PSN_SEQUENCE;
    if (event->stream == ROCE_NO_STREAM ||
        (!is_nak && event->kind != ROCE_EVENT_ROUND &&
         event->kind != ROCE_EVENT_STREAM_RESTART)) {
        return;
    }
    rs_lengths_stream *of = stream_of(lengths, event->stream);
    if (of == NULL) {
        return;
    }
    if (is_nak) {
        of->nak_psn = event->psn;
    } else if (event->kind == ROCE_EVENT_STREAM_RESTART) {
        of->restarted = TRUE;
    } else if (event->detail == ROCE_CAUSE_RNR) {
        of->rounds = of->asked_for = 0; /* it has come */
    } else {
        add_round(of, event);
    }
}

const rs_lengths_stream *
rs_lengths_of(const rs_lengths *lengths, guint32 stream)
{
    return stream < lengths->streams->len
               ? &g_array_index(lengths->streams, rs_lengths_stream, stream)
               : NULL;
}

/* Whether its rounds begin with one packet to the last, and with the first that did not come. */
static gboolean
is_at_an_end(const rs_lengths_stream *of, const roce_stream *stream)
{
    return !of->restarted && of->rounds >= RS_STOPPED_REPEATS &&
           (of->acked_until == of->stuck_psn || of->nak_psn == of->stuck_psn) &&
           stream->last_time_ns <= of->newest_ns + of->waited_ns;
}

/* The step at which it is stuck; RS_LENGTHS_STEPS: at none. */
static guint
step_of(const rs_lengths_stream *of)
{
    guint i = 0;
    while (i < of->n_steps && of->steps[i].psn != of->stuck_psn) {
        i++;
    }
    /* What stood before the first one that is known may have been longer. */
    gboolean is_known = i > 0 || of->stuck_psn == of->first_psn;
    return i < of->n_steps && is_known ? i : RS_LENGTHS_STEPS;
}

gboolean
rs_lengths_are_stuck(const rs_lengths *lengths, const roce_stream *stream,
                     rs_stuck *stuck)
{
    const rs_lengths_stream *of = rs_lengths_of(lengths, stream->id);
    if (of == NULL || !roce_stream_is_paired(stream) || stream->partial_path ||
        !is_at_an_end(of, stream)) {
        return FALSE;
    }
    guint step = step_of(of);
    if (step == RS_LENGTHS_STEPS) {
        return FALSE;
    }
    *stuck = (rs_stuck){
        .bytes = of->steps[step].bytes,
        .came_bytes = step > 0 ? of->steps[step - 1].bytes : 0,
        .came = (guint64)(of->stuck_psn - of->first_psn),
    };
    gboolean others_came =
        of->asked_for > 0 && stuck->bytes >= of->least_bytes + RS_LONGER_BYTES;
    return stuck->bytes >= stuck->came_bytes + RS_LONGER_BYTES &&
           (stuck->came >= RS_SHORTER_PACKETS || others_came);
}

guint32
rs_lengths_came(const rs_lengths_stream *of)
{
    guint32 bytes = 0;
    for (guint i = 0; i < of->n_steps && !of->restarted; i++) {
        bytes = of->steps[i].psn < of->acked_until ? of->steps[i].bytes : bytes;
    }
    return bytes;
}
