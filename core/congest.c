/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ECN marks and CNPs.  Data is what carries payload in either direction; requests
 * without payload, ACKs and NAKs have a marking of their own, which switches rarely
 * change.  A CNP is carried by the stream towards the sender whose data was marked, and
 * belongs to the stream of that data: the other direction of the pair.
 */
#include "track.h"

#define ANSWER_WITHIN_NS 200000 /* a later CNP answers something else */
#define CNP_LOOKUPS 16          /* tries to find the pair of a CNP that a switch sent */
#define CNP_SEARCHES 4096       /* in all */

static void
keep_episode(roce_tracker *t, roce_congestion *c, uint64_t duration_ns)
{
    uint32_t i = c->pub.n_episodes_kept;
    if (i == ROCE_CE_EPISODES ||
        !roce_track_reserve(t, (void **)&c->pub.episodes, &c->episodes_capacity, i,
                            sizeof *c->pub.episodes)) {
        return;
    }
    c->pub.episodes[i] = (roce_ce_episode){
        .start_ns = c->episode_start_ns,
        .end_ns = c->episode_start_ns + duration_ns,
        .marked = c->episode_marked,
        .data_packets = c->episode_data,
        .first_frame = c->episode_frame,
    };
    c->pub.n_episodes_kept++;
}

static void
end_episode(roce_tracker *t, roce_stream_state *s, const roce_arrival *a)
{
    if (!roce_congestion_of(s)->in_episode) {
        return;
    }
    roce_congestion *c = roce_congestion_make(t, s);
    c->in_episode = false;
    roce_event e = roce_track_event(ROCE_EVENT_CE_EPISODE, s, a);
    e.related_frame = c->episode_frame;
    e.count = c->episode_marked;
    e.duration_ns = roce_since_ns(c->episode_last_ns, c->episode_start_ns);
    roce_track_emit(t, &e);
    keep_episode(t, c, e.duration_ns);
}

/* How long a mark waits for its CNP. */
static uint64_t
patience_ns(const roce_tracker *t, const roce_stream_state *s)
{
    uint64_t twice = 2 * roce_pacing_interval_ns(t, s);
    return twice > ANSWER_WITHIN_NS ? twice : ANSWER_WITHIN_NS;
}

/* The marks that wait need wait no longer. */
static void
settle_marks(roce_congestion *c, roce_ce_answer due, roce_ce_answer paced)
{
    c->pub.ce_answers[due] += c->waiting_due;
    c->pub.ce_answers[paced] += c->waiting_paced;
    c->waiting_due = c->waiting_paced = 0;
    c->unanswered_ce_frame = 0;
}

/* No CNP came for them.  Another one's may have been sent in their stead; whether there
 * is an interval at all may be known only later. */
static void
give_up_marks(const roce_tracker *t, const roce_stream_state *s, roce_congestion *c)
{
    uint64_t newest_ns;
    if (c->cnp_seen && roce_pacing_least_gap_ns(t, s) == 0) {
        uint64_t since_ns = roce_since_ns(c->newest_ce_ns, c->last_cnp_ns);
        c->early_marks += c->waiting_due;
        c->waiting_due = 0;
        c->early_longest_ns =
            since_ns > c->early_longest_ns ? since_ns : c->early_longest_ns;
    }
    bool in_its_stead =
        roce_pacing_newest(t, s, &newest_ns) && newest_ns >= c->unanswered_ce_ns;
    if (!roce_stream_is_paired(&s->pub) && c->complainer == 0) {
        settle_marks(c, ROCE_CE_OPEN, ROCE_CE_OPEN);
    } else {
        settle_marks(c, in_its_stead ? ROCE_CE_PACED : ROCE_CE_UNANSWERED,
                     ROCE_CE_PACED);
    }
}

/* A mark begins to wait, or joins those that do. */
static void
await_cnp(roce_tracker *t, const roce_stream_state *s, roce_congestion *c,
          const roce_arrival *a)
{
    uint64_t now = a->frame->time_ns;
    roce_pacing_mark(t, s, now);
    if (c->unanswered_ce_frame != 0 && now > c->unanswered_ce_ns + patience_ns(t, s)) {
        give_up_marks(t, s, c);
    }
    if (c->unanswered_ce_frame == 0) {
        c->unanswered_ce_frame = a->frame->number;
        c->unanswered_ce_ns = now;
    }
    uint64_t newest_ns;
    bool paced = roce_pacing_newest(t, s, &newest_ns) &&
                 roce_since_ns(now, newest_ns) < roce_pacing_least_gap_ns(t, s);
    c->newest_ce_ns = now;
    c->waiting_paced += paced ? 1 : 0;
    c->waiting_due += paced ? 0 : 1;
}

static void
mark(roce_tracker *t, roce_stream_state *s, const roce_arrival *a)
{
    uint64_t now = a->frame->time_ns;
    roce_congestion *c = roce_congestion_make(t, s);
    if (c->in_episode && now > c->episode_last_ns + t->config.ce_episode_pause_ns) {
        end_episode(t, s, a);
    }
    if (!c->in_episode) {
        c->in_episode = true;
        c->episode_frame = a->frame->number;
        c->episode_start_ns = now;
        c->episode_marked = 0;
        c->episode_since = 1;
        c->pub.n_episodes++;
    }
    c->episode_marked++;
    c->episode_last_ns = now;
    c->episode_data = c->episode_since;
    await_cnp(t, s, c, a);
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
        roce_carried_make(t, s)->pub.ecn[ecn]++;
        return;
    }
    s->pub.ecn.codepoint[ecn]++;
    if (s->pub.congestion != NULL) {
        roce_congestion_make(t, s)->episode_since++;
    }
    if (s->last_ecn >= 0 && s->last_ecn != (int8_t)ecn) {
        roce_congestion_make(t, s)->pub.transitions++;
        roce_event e = roce_track_event(ROCE_EVENT_ECN_TRANSITION, s, a);
        e.detail = (uint8_t)((unsigned)s->last_ecn << 2 | ecn);
        roce_track_emit(t, &e);
    }
    s->last_ecn = (int8_t)ecn;
    if (ecn == ROCE_ECN_CE) {
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
        const roce_stream_state *other = roce_state_at(t, i);
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
    roce_congestion *c = roce_congestion_make(t, s);
    if (c->complained_of != 0) {
        return roce_state_at(t, c->complained_of - 1);
    }
    /* Looked for a few times only, and not at all in a crowd: it walks all streams. */
    if (c->lookups == CNP_LOOKUPS || t->cnp_searches > CNP_SEARCHES) {
        return NULL;
    }
    c->lookups++;
    t->cnp_searches++;
    peer = search_pair(t, s);
    c->complained_of = peer != NULL ? peer->pub.id + 1 : 0;
    return peer;
}

/* The first CE that no CNP has answered, if this CNP may be its answer. */
static uint64_t
answered_ce(roce_tracker *t, roce_stream_state *s, const roce_arrival *a)
{
    roce_congestion *c = roce_congestion_make(t, s);
    uint64_t frame = c->unanswered_ce_frame;
    if (frame == 0) {
        return 0;
    }
    if (a->frame->time_ns > c->unanswered_ce_ns + patience_ns(t, s)) {
        give_up_marks(t, s, c);
        return 0;
    }
    settle_marks(c, ROCE_CE_ANSWERED, ROCE_CE_ANSWERED);
    roce_measure_add(t, s, a, ROCE_LATENCY_CNP_DELAY, c->unanswered_ce_ns, frame);
    return frame;
}

/* The time since the CNP before about the same data. */
static void
measure_interval(roce_tracker *t, roce_stream_state *s, const roce_arrival *a)
{
    roce_congestion *c = roce_congestion_make(t, s);
    if (c->cnp_seen) {
        roce_measure_add(t, s, a, ROCE_LATENCY_CNP_INTERVAL, c->last_cnp_ns, 0);
    }
    c->cnp_seen = true;
    c->last_cnp_ns = a->seen_ns;
}

void
roce_congest_cnp(roce_tracker *t, roce_stream_state *s, const roce_arrival *a)
{
    roce_congestion_make(t, s)->pub.cnps_sent++;
    roce_carried_make(t, s)->pub.ecn[take_ecn(s, a->packet)]++;
    roce_stream_state *cause = complained_of(t, s);
    if (cause != NULL) {
        roce_congestion_make(t, cause)->complainer = s->pub.id + 1;
    }
    roce_event e = roce_track_event(ROCE_EVENT_CNP, s, a);
    if (cause != NULL) {
        roce_congestion_make(t, cause)->pub.cnps_received++;
        roce_congestion_make(t, s)->pub.cnps_attributed++;
        e.stream = cause->pub.id;
        e.related_frame = answered_ce(t, cause, a);
        measure_interval(t, cause, a);
    }
    roce_pacing_cnp(t, s, a);
    roce_track_emit(t, &e);
}

/* Decides on marks that wait, and on what waited for the interval to be known. */
static void
finish_marks(roce_tracker *t, roce_stream_state *s)
{
    const roce_stream_state *peer = roce_track_peer(t, s);
    roce_congestion *c = roce_congestion_make(t, s);
    uint64_t last_ns = s->pub.last_time_ns;
    if (peer != NULL && peer->pub.last_time_ns > last_ns) {
        last_ns = peer->pub.last_time_ns;
    }
    if (last_ns > c->unanswered_ce_ns + patience_ns(t, s)) {
        give_up_marks(t, s, c);
    } else {
        settle_marks(c, ROCE_CE_OPEN, ROCE_CE_OPEN);
    }
    uint64_t interval_ns = roce_pacing_interval_ns(t, s);
    bool early_paced = c->early_longest_ns < interval_ns;
    c->pub.ce_answers[early_paced ? ROCE_CE_PACED : ROCE_CE_UNANSWERED] +=
        c->early_marks;
    if (interval_ns == 0) { /* the least gap turned out to be none */
        c->pub.ce_answers[ROCE_CE_UNANSWERED] += c->pub.ce_answers[ROCE_CE_PACED];
        c->pub.ce_answers[ROCE_CE_PACED] = 0;
    }
}

void
roce_congest_finish(roce_tracker *t, roce_stream_state *s)
{
    if (s->pub.congestion != NULL) {
        end_episode(t, s, NULL);
        finish_marks(t, s);
    }
}
