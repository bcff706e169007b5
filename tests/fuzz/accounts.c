/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "accounts.h"

#include "roce/aeth.h"
#include "roce/hash.h"
#include "roce/pacing.h"
#include "roce/psn.h"

#include <assert.h>
#include <string.h>

#define SANE (UINT64_C(1) << 40) /* no counter gets there but by running below 0 */
#define RNR_MAX_NS 655360000     /* what an RNR NAK may ask for */

void
accounts_open(accounts *a, uint32_t max_streams)
{
    assert(max_streams <= ACCOUNTS_STREAMS);
    memset(a, 0, offsetof(accounts, of));
    memset(a->of, 0, max_streams * sizeof a->of[0]);
    a->first_ns = UINT64_MAX;
}

uint64_t
accounts_note_frame(accounts *a, uint32_t point, uint64_t time_ns)
{
    assert(a->n_frames < ACCOUNTS_FRAMES);
    a->n_frames++;
    a->seen_ns[a->n_frames] = time_ns;
    a->point[a->n_frames] = (uint8_t)point;
    a->is_set_back |= a->n_frames > 1 && time_ns < a->last_ns &&
                      a->last_ns - time_ns > ROCE_SET_BACK_NS;
    a->first_ns = time_ns < a->first_ns ? time_ns : a->first_ns;
    a->last_ns = time_ns > a->last_ns ? time_ns : a->last_ns;
    return a->n_frames;
}

static void
digest(accounts *a, uint64_t value)
{
    a->digest = roce_hash_mix(a->digest, value);
}

/* ---- events ---- */

static bool
is_of_pause(roce_event_kind kind)
{
    return kind == ROCE_EVENT_PAUSE_XOFF || kind == ROCE_EVENT_PAUSE_REFRESH ||
           kind == ROCE_EVENT_PAUSE_XON || kind == ROCE_EVENT_PAUSE_EXPIRED;
}

static void
check_detail(const accounts *a, const roce_event *e)
{
    if (e->kind == ROCE_EVENT_RETRANSMISSION || e->kind == ROCE_EVENT_ROUND ||
        e->kind == ROCE_EVENT_SPURIOUS_ROUND) {
        assert(e->detail < ROCE_N_CAUSES);
        assert(roce_cause_name((roce_cause)e->detail) != NULL);
    } else if (e->kind == ROCE_EVENT_LOSS || e->kind == ROCE_EVENT_LOSS_WITHDRAWN) {
        assert(e->detail < ROCE_N_VERDICTS);
        assert(roce_verdict_name((roce_verdict)e->detail) != NULL);
    } else if (e->kind == ROCE_EVENT_CONNECTED) {
        assert(e->detail <= ROCE_PAIRING_CM);
        assert(roce_pairing_name((roce_pairing)e->detail) != NULL);
        assert(e->count < roce_tracker_n_streams(a->tracker) && e->count != e->stream);
    } else if (e->kind == ROCE_EVENT_EVICTED) {
        assert(e->detail < ROCE_N_TABLES);
        assert(roce_table_name((roce_table)e->detail) != NULL);
    } else if (e->kind == ROCE_EVENT_ECN_TRANSITION) {
        assert(e->detail < 16 && e->detail >> 2 != (e->detail & 3));
    } else if (is_of_pause(e->kind)) {
        assert(e->detail <= ROCE_PRIORITY_GLOBAL);
    }
}

/* Frames that an event speaks of have come, in this order, and here. */
static void
check_frames(const accounts *a, const roce_event *e)
{
    assert(e->frame <= a->n_frames && e->related_frame <= a->n_frames);
    assert(e->frame != 0 || e->kind == ROCE_EVENT_PAUSE_EXPIRED);
    assert(e->related_frame <= e->frame || e->frame == 0);
    assert(e->frame == 0 || a->point[e->frame] == e->point);
    assert(e->related_frame == 0 || a->point[e->related_frame] == e->point);
}

static void
check_times(const accounts *a, const roce_event *e)
{
    uint64_t length_ns = a->last_ns - a->first_ns;
    if (is_of_pause(e->kind)) {
        return; /* a pause that has begun may expire behind the newest frame */
    }
    assert(e->time_ns >= a->first_ns && e->time_ns <= a->last_ns);
    if (e->kind == ROCE_EVENT_RNR_NAK) {
        assert(e->duration_ns <= RNR_MAX_NS);
    } else {
        assert(e->duration_ns <= length_ns);
    }
}

/* A restart that names an earlier frame says that the round or the gap that was told there is
 * none, and that nothing was sent again in that round. */
static void
take_back(accounts *a, account *of, const roce_event *restart)
{
    uint64_t frame = restart->related_frame;
    if (frame == 0) {
        return;
    }
    if (of->round_frame == frame) {
        of->by_cause[of->round_cause]--;
        of->events[ROCE_EVENT_ROUND]--;
        of->events[ROCE_EVENT_RETRANSMISSION] = of->resent_before;
        return;
    }
    assert(a->gap_at[frame] > 0);
    of->of_space[ROCE_SPACE_REQUESTS][ROCE_EVENT_GAP]--;
    of->missing[ROCE_SPACE_REQUESTS] -= a->gap_at[frame];
}

static void
add_up(accounts *a, const roce_event *e)
{
    if (e->stream == ROCE_NO_STREAM) {
        a->pauses[e->kind] += is_of_pause(e->kind) ? 1 : 0;
        return;
    }
    account *of = &a->of[e->stream];
    of->events[e->kind]++;
    of->of_space[e->space][e->kind]++;
    if (e->kind == ROCE_EVENT_GAP) {
        of->missing[e->space] += e->count;
        a->gap_at[e->frame] = e->space == ROCE_SPACE_REQUESTS ? e->count : 0;
    } else if (e->kind == ROCE_EVENT_STREAM_RESTART) {
        take_back(a, of, e);
    } else if (e->kind == ROCE_EVENT_LOSS) {
        of->losses[e->space][e->detail] += (int64_t)e->count;
    } else if (e->kind == ROCE_EVENT_LOSS_WITHDRAWN) {
        of->losses[e->space][e->detail] -= (int64_t)e->count;
        assert(of->losses[e->space][e->detail] >= 0);
    } else if (e->kind == ROCE_EVENT_ROUND) {
        of->by_cause[e->detail]++;
        of->round_frame = e->frame;
        of->round_cause = e->detail;
        of->resent_before = of->events[ROCE_EVENT_RETRANSMISSION];
    } else if (e->kind == ROCE_EVENT_CONNECTED) {
        a->n_pairings++;
    } else if (e->kind == ROCE_EVENT_DISCONNECTED) {
        a->n_partings++;
    } else if (e->kind == ROCE_EVENT_CNP) {
        a->n_cnps++;
    } else if (e->kind == ROCE_EVENT_RNR_NAK ||
               (e->kind == ROCE_EVENT_NAK &&
                e->detail <=
                    ROCE_NAK_REMOTE_OPERATIONAL)) { /* others are not counted */
        a->n_naks++;
    }
}

void
accounts_take_event(void *ctx, const roce_event *e)
{
    accounts *a = ctx;
    assert(e->kind < ROCE_N_EVENTS && roce_event_kind_name(e->kind) != NULL);
    assert(e->space < ROCE_N_SPACES);
    assert(e->evidence < ROCE_N_EVIDENCES && roce_evidence_name(e->evidence) != NULL);
    assert(e->stream == ROCE_NO_STREAM ||
           e->stream < roce_tracker_n_streams(a->tracker));
    assert(e->psn == ROCE_NO_PSN ||
           (e->psn > -(int64_t)SANE && e->psn < (int64_t)SANE));
    assert(e->count < SANE);
    check_frames(a, e);
    check_times(a, e);
    check_detail(a, e);
    add_up(a, e);
    digest(a, (uint64_t)e->kind << 48 | (uint64_t)e->evidence << 40 |
                  (uint64_t)e->detail << 32 | (uint64_t)e->space << 24 | e->point);
    digest(a, e->frame << 32 | e->stream);
    digest(a, e->related_frame << 32 ^ e->time_ns);
    digest(a, e->duration_ns ^ (uint64_t)e->psn << 20);
    digest(a, e->count);
}

void
accounts_take_relation(void *ctx, const roce_relation *r)
{
    accounts *a = ctx;
    assert(r->kind <= ROCE_RELATION_FOLLOWS);
    assert(r->stream < roce_tracker_n_streams(a->tracker));
    assert(r->frame >= 1 && r->frame <= a->n_frames && r->to <= r->frame);
    assert(r->to == 0 || a->point[r->to] == a->point[r->frame]);
    if (r->kind == ROCE_RELATION_TAKES) {
        assert(r->latency < ROCE_N_LATENCIES && roce_latency_name(r->latency) != NULL);
        assert(r->duration_ns <= a->last_ns - a->first_ns);
        a->of[r->stream].samples[r->latency]++;
    } else {
        assert(r->to != 0);
    }
    digest(a, (uint64_t)r->kind << 8 | (uint64_t)r->latency);
    digest(a, r->frame << 32 | r->stream);
    digest(a, r->to << 32 ^ r->duration_ns);
}

void
accounts_check_sighting(accounts *a, const roce_packet *packet)
{
    uint32_t stream = roce_tracker_last_stream(a->tracker);
    const roce_sighting *s = roce_tracker_last_sighting(a->tracker);
    assert(s->stream == stream);
    digest(a, stream);
    if (stream == ROCE_NO_STREAM) {
        return;
    }
    assert(stream < roce_tracker_n_streams(a->tracker));
    const roce_stream *of = roce_tracker_stream(a->tracker, stream);
    assert(of->point == a->point[a->n_frames]);
    assert(of->dst_qpn == packet->bth.dest_qpn);
    assert(roce_addr_equal(&of->src, &packet->src));
    assert(roce_addr_equal(&of->dst, &packet->dst));
    if (s->sequenced) {
        assert(s->space < ROCE_N_SPACES);
        assert(roce_psn_wrap(s->psn) == packet->bth.psn24);
        assert(s->span >= 1 ||
               s->space == ROCE_SPACE_RESPONSES); /* an ACK takes none */
        assert(s->acked_from <= s->acked_until);
        digest(a, (uint64_t)s->psn << 32 | s->span);
        digest(a, s->expected_known ? (uint64_t)s->expected : 0);
    }
}

/* ---- at the end ---- */

static void
check_space(const roce_stream *s, const account *of, roce_space space)
{
    const roce_space_counters *c = &s->space[space];
    const roce_stream_trouble *trouble = roce_stream_trouble_of(s);
    const roce_disorder_counters *d = &trouble->disorder[space];
    const uint64_t *events = of->of_space[space];
    assert(c->packets <= s->packets && c->unique_psns <= c->packets);
    assert(d->duplicates <= c->packets && d->reordered <= c->packets);
    assert(d->resent <= c->packets && d->capture_repeats <= c->packets);
    assert(d->gaps == events[ROCE_EVENT_GAP] && d->gaps < SANE);
    assert(d->missing_psns == of->missing[space] && d->missing_psns < SANE);
    /* What was in doubt may turn out to have been sent again. */
    assert(d->reordered <= events[ROCE_EVENT_LATE]);
    assert(d->duplicates <= events[ROCE_EVENT_DUPLICATE]);
    for (unsigned v = 0; v < ROCE_N_VERDICTS; v++) {
        assert(trouble->losses[space][v] < SANE);
        assert((int64_t)trouble->losses[space][v] == of->losses[space][v]);
    }
}

static void
check_rounds(const accounts *a, const roce_stream *s, const account *of)
{
    const roce_stream_trouble *trouble = roce_stream_trouble_of(s);
    const roce_retransmission_counters *r = &trouble->retransmissions;
    uint64_t rounds = 0;
    for (unsigned cause = 0; cause < ROCE_N_CAUSES; cause++) {
        rounds += r->by_cause[cause];
        /* The round that runs when a pairing is found may turn out to be a timeout's. */
        uint64_t told = of->by_cause[cause];
        assert(r->by_cause[cause] <= told + a->n_pairings);
        assert(told <= r->by_cause[cause] + a->n_pairings);
    }
    assert(rounds == r->rounds && r->rounds == of->events[ROCE_EVENT_ROUND]);
    assert(r->spurious_rounds == of->events[ROCE_EVENT_SPURIOUS_ROUND]);
    assert(r->spurious_rounds <= r->rounds);
    assert(r->packets == of->events[ROCE_EVENT_RETRANSMISSION]);
    assert(r->packets == trouble->disorder[ROCE_SPACE_REQUESTS].resent);
    assert(r->packets <= s->packets && r->bytes <= s->payload_bytes);
    assert(trouble->disorder[ROCE_SPACE_RESPONSES].resent ==
           of->events[ROCE_EVENT_RESPONSE_RESENT]);
}

static void
check_marks(const roce_stream *s, const account *of)
{
    const roce_stream_congestion *c = roce_stream_congestion_of(s);
    uint64_t answers = 0;
    uint64_t packets = 0;
    for (unsigned i = 0; i < ROCE_N_CE_ANSWERS; i++) {
        answers += c->ce_answers[i];
    }
    for (unsigned i = 0; i < 4; i++) {
        packets += s->ecn.codepoint[i] + roce_stream_control_of(s)->ecn[i];
    }
    assert(packets == s->packets);
    assert(answers == s->ecn.codepoint[ROCE_ECN_CE]);
    assert(c->transitions == of->events[ROCE_EVENT_ECN_TRANSITION]);
    assert(c->n_episodes == of->events[ROCE_EVENT_CE_EPISODE]);
    assert(c->n_episodes_kept <= ROCE_CE_EPISODES);
    assert(c->n_episodes_kept <= c->n_episodes);
    for (uint32_t i = 0; i < c->n_episodes_kept; i++) {
        const roce_ce_episode *e = &c->episodes[i];
        assert(e->start_ns <= e->end_ns && e->marked <= e->data_packets);
        assert(e->marked >= 1 && e->first_frame >= 1);
    }
}

static uint64_t
n_samples(const roce_stream *s, roce_latency latency)
{
    const roce_histogram *h = roce_stream_latency(s, latency);
    return h != NULL ? h->count : 0;
}

static void
check_latencies(const accounts *a, const roce_stream *s, const account *of)
{
    /* What is undone takes its samples along, and memory may fail. */
    const roce_tracker_totals *totals = roce_tracker_totals_get(a->tracker);
    bool complete = totals->evicted[ROCE_TABLE_LATENCIES] == 0 && a->n_partings == 0;
    for (unsigned i = 0; i < ROCE_N_LATENCIES; i++) {
        const roce_histogram *h = roce_stream_latency(s, (roce_latency)i);
        assert(n_samples(s, (roce_latency)i) <= of->samples[i]);
        assert(!complete || n_samples(s, (roce_latency)i) == of->samples[i]);
        if (h == NULL) {
            continue;
        }
        assert(roce_stream_is_paired(s));
        assert(h->count > 0 && h->count <= a->n_frames && h->unplaced <= h->count);
        assert(h->min_ns <= h->max_ns && h->max_ns <= a->last_ns - a->first_ns);
        assert(roce_histogram_quantile(h, 500) <= roce_histogram_quantile(h, 990));
        assert(roce_histogram_mean(h) >= h->min_ns);
        assert(roce_histogram_stddev(h) <= h->max_ns - h->min_ns);
    }
    const roce_stream_trouble *trouble = roce_stream_trouble_of(s);
    assert(n_samples(s, ROCE_LATENCY_NAK_GENERATION) <=
           trouble->naks_received[ROCE_NAKS_PSN_SEQUENCE]);
    assert(n_samples(s, ROCE_LATENCY_NAK_REACTION) <= trouble->retransmissions.rounds);
    assert(n_samples(s, ROCE_LATENCY_RECOVERY) <= trouble->retransmissions.rounds);
}

static void
check_pairing(const accounts *a, const roce_stream *s)
{
    assert(roce_stream_is_paired(s) == (s->peer != ROCE_NO_STREAM));
    if (s->peer != ROCE_NO_STREAM) {
        assert(s->peer < roce_tracker_n_streams(a->tracker));
        const roce_stream *peer = roce_tracker_stream(a->tracker, s->peer);
        assert(peer->peer == s->id && peer->paired_by == s->paired_by);
        assert(peer->point == s->point && peer->paired_as == s->paired_as);
        assert(roce_tenant_equal(&peer->tenant, &s->tenant));
    }
    assert(s->connection == ROCE_NO_STREAM ||
           s->connection < roce_tracker_n_connections(a->tracker));
}

static void
check_counters(const accounts *a, const roce_stream *s, const account *of)
{
    const roce_tracker_totals *totals = roce_tracker_totals_get(a->tracker);
    const roce_stream_trouble *trouble = roce_stream_trouble_of(s);
    const roce_stream_congestion *c = roce_stream_congestion_of(s);
    uint64_t opcodes = 0;
    for (unsigned i = 0; i < 256; i++) {
        opcodes += roce_stream_opcode_packets(s, (uint8_t)i);
    }
    assert(opcodes <= s->packets && totals->roce_packets >= s->packets);
    assert(s->space[ROCE_SPACE_REQUESTS].packets +
               s->space[ROCE_SPACE_RESPONSES].packets <=
           s->packets);
    assert(trouble->icrc_bad == of->events[ROCE_EVENT_ICRC_BAD]);
    assert(trouble->ip_checksum_bad == of->events[ROCE_EVENT_IP_CHECKSUM_BAD]);
    assert(trouble->psn_bad == of->events[ROCE_EVENT_PSN_BAD]);
    assert(trouble->icrc_bad + trouble->icrc_cnp_bad + trouble->icrc_flush_bad <=
           s->icrc_checked);
    assert(c->cnps_attributed <= c->cnps_sent);
    assert(trouble->restarts == of->events[ROCE_EVENT_STREAM_RESTART]);
    assert(of->events[ROCE_EVENT_STREAM_START] == 1);
    assert(s->messages_completed <= s->packets && s->message_bytes < SANE);
}

static void
check_stream(const accounts *a, uint32_t id)
{
    const roce_stream *s = roce_tracker_stream(a->tracker, id);
    const account *of = &a->of[id];
    assert(s->id == id && s->first_time_ns <= s->last_time_ns);
    assert(s->first_time_ns >= a->first_ns && s->last_time_ns <= a->last_ns);
    assert(s->first_frame >= 1 && s->first_frame <= s->last_frame);
    assert(s->last_frame <= a->n_frames);
    assert(roce_vantage_name(s->vantage) != NULL);
    assert(roce_recovery_name(s->recovery) != NULL);
    assert(roce_transport_name(s->transport) != NULL);
    assert(s->n_udp_src_ports <= ROCE_STREAM_PORTS && s->n_vlans <= ROCE_STREAM_VLANS);
    assert(s->n_opcodes <= ROCE_STREAM_OPCODES);
    check_pairing(a, s);
    if (a->memory_fails) {
        return;
    }
    check_latencies(a, s, of);
    check_marks(s, of);
    check_rounds(a, s, of);
    check_counters(a, s, of);
    check_space(s, of, ROCE_SPACE_REQUESTS);
    check_space(s, of, ROCE_SPACE_RESPONSES);
}

static void
check_pauses(const accounts *a)
{
    uint64_t xoff = 0, refresh = 0, xon = 0, expired = 0;
    for (uint32_t i = 0; i < roce_tracker_n_pauses(a->tracker); i++) {
        const roce_pause_source *p = roce_tracker_pause(a->tracker, i);
        assert(p->longest_ns <= p->total_ns && p->priority <= ROCE_PRIORITY_GLOBAL);
        assert(p->total_ns <= a->last_ns - a->first_ns || a->is_set_back);
        assert(p->n_intervals <= p->xoff);
        assert(roce_tracker_find_pause(a->tracker, p->point, p->src_mac, p->priority) ==
               i);
        assert(p->n_listed <= p->n_intervals && p->n_listed <= ROCE_PAUSE_INTERVALS);
        assert(p->n_intervals == 0 || p->n_listed > 0);
        for (uint64_t k = 0; k < p->n_listed; k++) {
            assert(p->intervals[k].start_ns <= p->intervals[k].end_ns);
            assert(k == 0 || p->intervals[k - 1].end_ns <= p->intervals[k].start_ns);
        }
        xoff += p->xoff;
        refresh += p->refresh;
        xon += p->xon;
        expired += p->expired;
    }
    assert(xoff == a->pauses[ROCE_EVENT_PAUSE_XOFF]);
    assert(refresh == a->pauses[ROCE_EVENT_PAUSE_REFRESH]);
    assert(xon == a->pauses[ROCE_EVENT_PAUSE_XON]);
    assert(expired == a->pauses[ROCE_EVENT_PAUSE_EXPIRED]);
}

/* Pairings, CNPs and NAKs are told of one stream and counted on two. */
static void
check_both_directions(const accounts *a)
{
    const roce_tracker_totals *n = roce_tracker_totals_get(a->tracker);
    uint64_t n_paired = 0, n_cnps = 0, n_naks = 0, n_acks_alone = 0, n_rnr_alone = 0;
    for (uint32_t i = 0; i < roce_tracker_n_streams(a->tracker); i++) {
        const roce_stream *s = roce_tracker_stream(a->tracker, i);
        const uint64_t *naks_sent = roce_stream_trouble_of(s)->naks_sent;
        bool is_paired = roce_stream_is_paired(s);
        n_paired += is_paired ? 1 : 0;
        n_cnps += roce_stream_congestion_of(s)->cnps_sent;
        n_acks_alone += is_paired ? 0 : roce_stream_control_of(s)->acks_sent;
        n_rnr_alone += is_paired ? 0 : naks_sent[ROCE_NAKS_RNR];
        for (unsigned k = 0; k < ROCE_N_NAKS; k++) {
            n_naks += naks_sent[k];
        }
    }
    assert(n_paired == 2 * (a->n_pairings - a->n_partings));
    assert(n_cnps == a->n_cnps && n_naks == a->n_naks);
    assert(n->unattributed_acks == n_acks_alone && n->unattributed_rnr == n_rnr_alone);
}

void
accounts_close(const accounts *a)
{
    const roce_tracker_totals *n = roce_tracker_totals_get(a->tracker);
    assert(n->roce_packets + n->pfc_frames + n->pause_frames + n->other_packets +
               n->not_ib_on_roce_port + n->fragments ==
           a->n_frames);
    uint64_t packets = n->untracked_packets;
    uint64_t bad = n->icrc_orphans;
    uint64_t bad_headers = 0;
    for (uint32_t i = 0; i < roce_tracker_n_streams(a->tracker); i++) {
        const roce_stream *s = roce_tracker_stream(a->tracker, i);
        const roce_stream_trouble *trouble = roce_stream_trouble_of(s);
        check_stream(a, i);
        packets += s->packets + trouble->icrc_bad + trouble->ip_checksum_bad;
        bad += trouble->icrc_bad;
        bad_headers += trouble->ip_checksum_bad;
    }
    assert(packets <= n->roce_packets && bad <= n->icrc_bad);
    assert(bad_headers == n->ip_checksum_bad);
    assert(a->memory_fails || bad == n->icrc_bad);
    check_pauses(a);
    if (!a->memory_fails) {
        check_both_directions(a);
    }
    for (uint32_t i = 0; i < roce_tracker_n_connections(a->tracker); i++) {
        const roce_connection *c = roce_tracker_connection(a->tracker, i);
        assert(c->known <= 3 && c->request_frame <= a->n_frames);
    }
}
