/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ECN marks and CNPs.  Data is what carries payload in either direction; requests
 * without payload, ACKs and NAKs have a marking of their own, which switches rarely
 * change.  A CNP is carried by the stream towards the sender whose data was marked, and
 * belongs to the stream of that data: the other direction of the pair.
 */
#include "track.h"

#define ECN_CE 3
/* A later CNP answers something else.  Twice the pacing interval, where that is longer,
 * is to be added once pacing is inferred. */
#define ANSWER_WITHIN_NS 200000
#define CNP_LOOKUPS 16    /* tries to find the pair of a CNP that a switch sent */
#define CNP_SEARCHES 4096 /* in all */

static void
end_episode(roce_tracker *t, roce_stream_state *s, const roce_arrival *a)
{
    if (!s->in_episode) {
        return;
    }
    s->in_episode = false;
    roce_event e = roce_track_event(ROCE_EVENT_CE_EPISODE, s, a);
    e.related_frame = s->episode_frame;
    e.count = s->episode_marked;
    e.duration_ns = s->episode_last_ns > s->episode_start_ns
                        ? s->episode_last_ns - s->episode_start_ns
                        : 0;
    roce_track_emit(t, &e);
}

static void
mark(roce_tracker *t, roce_stream_state *s, const roce_arrival *a)
{
    uint64_t now = a->frame->time_ns;
    if (s->in_episode && now > s->episode_last_ns + t->config.ce_episode_pause_ns) {
        end_episode(t, s, a);
    }
    if (!s->in_episode) {
        s->in_episode = true;
        s->episode_frame = a->frame->number;
        s->episode_start_ns = now;
        s->episode_marked = 0;
        s->pub.ecn.ce_episodes++;
    }
    s->episode_marked++;
    s->episode_last_ns = now;
    if (s->unanswered_ce_frame == 0) {
        s->unanswered_ce_frame = a->frame->number;
        s->unanswered_ce_ns = now;
    }
}

/* The codepoint that counts, and a note of where it was read. */
static unsigned
take_ecn(roce_stream_state *s, const roce_packet *p)
{
    roce_ecn_source source = roce_packet_ecn_source(p);
    if (source > s->pub.ecn_source) {
        s->pub.ecn_source = source;
    }
    return roce_packet_ecn(p);
}

void
roce_congest_packet(roce_tracker *t, roce_stream_state *s, const roce_arrival *a)
{
    unsigned ecn = take_ecn(s, a->packet);
    bool response = roce_role_is_response_data(a->info->role);
    bool request = roce_role_is_request(a->info->role);
    if (a->packet->payload_bytes == 0 || !(response || request)) {
        s->pub.ecn_control[ecn]++;
        return;
    }
    s->pub.ecn.codepoint[ecn]++;
    if (s->last_ecn >= 0 && s->last_ecn != (int8_t)ecn) {
        s->pub.ecn.transitions++;
        roce_event e = roce_track_event(ROCE_EVENT_ECN_TRANSITION, s, a);
        e.detail = (uint8_t)((unsigned)s->last_ecn << 2 | ecn);
        roce_track_emit(t, &e);
    }
    s->last_ecn = (int8_t)ecn;
    if (ecn == ECN_CE) {
        mark(t, s, a);
    }
}

/* A switch may send CNPs: the queue pair by its own address and QPN, if it is one, in the
 * tenant's network that the switch belongs to. */
static roce_stream_state *
search_pair(const roce_tracker *t, const roce_stream_state *s)
{
    roce_stream_state *found = NULL;
    for (uint32_t i = 0; i < t->n_streams; i++) {
        const roce_stream_state *other = t->streams[i];
        if (other != s && other->pub.point == s->pub.point &&
            other->pub.dst_qpn == s->pub.dst_qpn &&
            roce_tenant_equal(&other->pub.tenant, &s->pub.tenant) &&
            roce_addr_equal(&other->pub.dst, &s->pub.dst) &&
            roce_stream_is_paired(&other->pub)) {
            if (found != NULL) {
                return NULL; /* ambiguous */
            }
            found = roce_track_peer(t, other);
        }
    }
    return found;
}

/* The stream whose data a CNP from `s`'s source complains of. */
static roce_stream_state *
complained_of(roce_tracker *t, roce_stream_state *s)
{
    roce_stream_state *peer = roce_track_peer(t, s);
    if (peer != NULL || s->pub.transport != ROCE_TRANSPORT_CNP) {
        return peer;
    }
    if (s->complained_of != 0) {
        return t->streams[s->complained_of - 1];
    }
    /* Looked for a few times only, and not at all in a crowd: it walks all streams. */
    if (s->lookups == CNP_LOOKUPS || t->cnp_searches > CNP_SEARCHES) {
        return NULL;
    }
    s->lookups++;
    t->cnp_searches++;
    peer = search_pair(t, s);
    s->complained_of = peer != NULL ? peer->pub.id + 1 : 0;
    return peer;
}

/* The first CE that no CNP has answered, if this CNP may be its answer. */
static uint64_t
answered_ce(roce_tracker *t, roce_stream_state *s, const roce_arrival *a)
{
    uint64_t frame = s->unanswered_ce_frame;
    bool soon = a->frame->time_ns <= s->unanswered_ce_ns + ANSWER_WITHIN_NS;
    s->unanswered_ce_frame = 0;
    if (frame == 0 || !soon) {
        return 0;
    }
    roce_measure_add(t, s, a, ROCE_LATENCY_CNP_DELAY, s->unanswered_ce_ns, frame);
    return frame;
}

/* The time since the CNP before about the same data. */
static void
measure_interval(roce_tracker *t, roce_stream_state *s, const roce_arrival *a)
{
    if (s->cnp_seen) {
        roce_measure_add(t, s, a, ROCE_LATENCY_CNP_INTERVAL, s->last_cnp_ns, 0);
    }
    s->cnp_seen = true;
    s->last_cnp_ns = a->seen_ns;
}

void
roce_congest_cnp(roce_tracker *t, roce_stream_state *s, const roce_arrival *a)
{
    s->pub.cnps_sent++;
    s->pub.ecn_control[take_ecn(s, a->packet)]++;
    roce_stream_state *cause = complained_of(t, s);
    roce_event e = roce_track_event(ROCE_EVENT_CNP, s, a);
    if (cause != NULL) {
        cause->pub.cnps_received++;
        s->pub.cnps_attributed++;
        e.stream = cause->pub.id;
        e.related_frame = answered_ce(t, cause, a);
        measure_interval(t, cause, a);
    }
    roce_track_emit(t, &e);
}

void
roce_congest_finish(roce_tracker *t, roce_stream_state *s)
{
    end_episode(t, s, NULL);
}
