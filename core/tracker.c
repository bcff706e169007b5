/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The door of the tracker: has a frame counted, finds the stream of its packet, and calls the
 * rules in order.  A frame that pauses goes to stop.c, and no further.  A packet that was
 * damaged is noted, a CNP goes to congest.c; of any other identity and marks are followed first,
 * then it is a request, or answers some, and on QP 1 it may be CM's.
 */
#include "roce/tracker.h"

#include "checksum.h"
#include "roce/aeth.h"
#include "track.h"

#include <string.h>

void
roce_tracker_config_init(roce_tracker_config *config)
{
    *config = (roce_tracker_config){
        .max_streams = 1u << 20,
        .max_history_packets = 4096,
        .history_room_packets = 1u << 20,   /* 52 MiB */
        .histogram_room_buckets = 1u << 22, /* 32 MiB */
        .ce_episode_pause_ns = 1000000,
        .path_delay_ns = 1000000,
    };
}

void
roce_track_evicted(roce_tracker *t, roce_table table, const roce_stream_state *s,
                   const roce_arrival *a)
{
    uint64_t n = ++t->totals.evicted[table];
    if ((n & (n - 1)) != 0) {
        return; /* told at the first, the second, the fourth, ... */
    }
    roce_event e = roce_track_event(ROCE_EVENT_EVICTED, s, a);
    e.detail = (uint8_t)table;
    e.count = n;
    roce_track_emit(t, &e);
}

void *
roce_track_resize(roce_tracker *t, void *old, size_t size)
{
    return t->alloc.resize(t->alloc.ctx, old, size);
}

void *
roce_track_zeroed(roce_tracker *t, size_t size)
{
    if (t->alloc.zeroed != NULL) {
        return t->alloc.zeroed(t->alloc.ctx, size);
    }
    void *memory = roce_track_resize(t, NULL, size);
    if (memory != NULL) {
        memset(memory, 0, size);
    }
    return memory;
}

bool
roce_track_reserve(roce_tracker *t, void **array, uint32_t *capacity, uint32_t n,
                   size_t element)
{
    if (n < *capacity) {
        return true;
    }
    uint32_t more = *capacity == 0 ? 16 : *capacity * 2;
    void *grown = roce_track_resize(t, *array, more * element);
    if (grown == NULL) {
        return false;
    }
    *array = grown;
    *capacity = more;
    return true;
}

int
roce_tracker_new(roce_tracker **tracker, const roce_alloc *alloc,
                 const roce_tracker_config *config)
{
    if (config->max_streams == 0 || config->max_history_packets < 64) {
        return ROCE_ERROR_INVALID;
    }
    roce_tracker *t = alloc->resize(alloc->ctx, NULL, sizeof *t);
    if (t == NULL) {
        return ROCE_ERROR_MEMORY;
    }
    *t = (roce_tracker){
        .alloc = *alloc,
        .config = *config,
        .last = {.stream = ROCE_NO_STREAM},
    };
    roce_room_init(t);
    if (roce_pair_init(t) != ROCE_OK || roce_source_port_init(t) != ROCE_OK) {
        roce_tracker_free(t);
        return ROCE_ERROR_MEMORY;
    }
    *tracker = t;
    return ROCE_OK;
}

static void
release(roce_tracker *t, void *array)
{
    if (array != NULL) {
        t->alloc.release(t->alloc.ctx, array);
    }
}

void
roce_tracker_free(roce_tracker *t)
{
    if (t == NULL) {
        return;
    }
    roce_table_clear(t);
    for (uint32_t i = 0; i < t->n_pauses; i++) {
        release(t, t->pauses[i].pub.intervals);
    }
    release(t, t->pauses);
    roce_index_clear(&t->pause_index, &t->alloc);
    release(t, t->connections);
    release(t, t->refusals);
    release(t, t->user_pairs);
    roce_user_clear(t);
    release(t, t->pairs);
    release(t, t->ways);
    release(t, t->port_ways);
    release(t, t->tallies);
    roce_pacing_clear(t);
    t->alloc.release(t->alloc.ctx, t);
}

void
roce_track_emit(roce_tracker *t, const roce_event *event)
{
    if (t->config.event != NULL) {
        t->config.event(t->config.ctx, event);
    }
}

void
roce_track_relate(roce_tracker *t, const roce_stream_state *s, const roce_arrival *a,
                  roce_relation_kind kind, uint64_t to)
{
    if (t->config.relation != NULL && to != 0) {
        const roce_relation relation = {
            .kind = kind,
            .stream = s->pub.id,
            .frame = a->seen_frame,
            .to = to,
        };
        t->config.relation(t->config.ctx, &relation);
    }
}

roce_event
roce_track_event(roce_event_kind kind, const roce_stream_state *s,
                 const roce_arrival *a)
{
    roce_event e = {
        .kind = kind,
        .stream = ROCE_NO_STREAM,
        .psn = ROCE_NO_PSN,
    };
    if (s != NULL) {
        e.stream = s->pub.id;
        e.point = s->pub.point;
        e.frame = s->pub.last_frame;
        e.time_ns = s->pub.last_time_ns;
    }
    if (a != NULL) {
        e.point = a->frame->point;
        e.frame = a->frame->number;
        e.time_ns = a->frame->time_ns;
    }
    return e;
}

roce_stream_state *
roce_track_peer(const roce_tracker *t, const roce_stream_state *s)
{
    return s->pub.peer == ROCE_NO_STREAM ? NULL : roce_state_at(t, s->pub.peer);
}

/* An acknowledgement that the network delivered twice. */
static bool
is_repeated_ack(roce_tracker *t, roce_stream_state *s, const roce_arrival *a)
{
    roce_carried *carried = roce_carried_make(t, s);
    if (roce_ident_mode_of(s) != ROCE_IDENT_CONSTANT) {
        for (unsigned i = 0; i < ROCE_RECENT_ACKS; i++) {
            if ((carried->valid >> i & 1) != 0 &&
                carried->recent_acks[i].identity.check == a->identity.check &&
                carried->recent_acks[i].identity.ident == a->identity.ident &&
                carried->recent_acks[i].psn24 == a->packet->bth.psn24) {
                return true;
            }
        }
    }
    unsigned at = carried->recent_ack;
    carried->recent_acks[at].identity = a->identity;
    carried->recent_acks[at].psn24 = a->packet->bth.psn24;
    carried->valid = (uint8_t)(carried->valid | 1u << at);
    carried->recent_ack = (uint8_t)((at + 1) % ROCE_RECENT_ACKS);
    return false;
}

/* Index among roce_nak_kind of an AETH, or -1 for what is no NAK. */
static int
nak_kind(uint8_t syndrome)
{
    static const int8_t kinds[] = {
        [ROCE_NAK_PSN_SEQUENCE] = ROCE_NAKS_PSN_SEQUENCE,
        [ROCE_NAK_INVALID_REQUEST] = ROCE_NAKS_INVALID_REQUEST,
        [ROCE_NAK_REMOTE_ACCESS] = ROCE_NAKS_REMOTE_ACCESS,
        [ROCE_NAK_REMOTE_OPERATIONAL] = ROCE_NAKS_REMOTE_OPERATIONAL,
    };
    roce_aeth_kind kind = roce_aeth_get_kind(syndrome);
    unsigned value = roce_aeth_get_value(syndrome);
    if (kind == ROCE_AETH_RNR_NAK) {
        return ROCE_NAKS_RNR;
    }
    if (kind == ROCE_AETH_NAK && value < sizeof kinds) {
        return kinds[value];
    }
    return -1;
}

/* Remembers a NAK until it is known whose requests it is about.  The sequence NAK in the
 * wake of an RNR NAK is its consequence. */
static void
note_unheard(roce_tracker *t, roce_stream_state *by, const roce_arrival *a, int kind)
{
    roce_unheard_nak *nak = &roce_trouble_make(t, by)->unheard_nak;
    uint32_t psn24 = a->packet->bth.psn24;
    bool rnr = kind == ROCE_NAKS_RNR;
    if ((!rnr && kind != ROCE_NAKS_PSN_SEQUENCE) ||
        (!rnr && nak->state == ROCE_NAK_RNR && nak->psn24 == psn24)) {
        return;
    }
    *nak = (roce_unheard_nak){
        .state = rnr ? ROCE_NAK_RNR : ROCE_NAK_SEQUENCE,
        .psn24 = psn24,
        .time_ns = a->frame->time_ns,
        .frame = a->frame->number,
        .wait_ns = roce_aeth_wait_ns(a->packet->aeth_syndrome),
    };
}

static void
take_ack(roce_tracker *t, roce_stream_state *by, roce_arrival *a)
{
    if (is_repeated_ack(t, by, a)) {
        roce_trouble_make(t, by)->pub.disorder[ROCE_SPACE_RESPONSES].duplicates++;
        roce_event e = roce_track_event(ROCE_EVENT_DUPLICATE, by, a);
        e.space = ROCE_SPACE_RESPONSES;
        roce_track_emit(t, &e);
        return;
    }
    int kind = nak_kind(a->packet->aeth_syndrome);
    roce_stream_state *s = roce_track_peer(t, by);
    if (s != NULL && roce_leap_is_held(s, ROCE_SPACE_REQUESTS)) {
        roce_leap_hear(t, s, a);
    }
    roce_carried_make(t, by)->pub.acks_sent += kind < 0 ? 1 : 0;
    if (kind >= 0) {
        roce_pacing_nak(t, by, a);
        roce_trouble_make(t, by)->pub.naks_sent[kind]++;
        if (s != NULL) {
            roce_trouble_make(t, s)->pub.naks_received[kind]++;
        }
    }
    bool is_told = s != NULL && roce_acknowledge(t, s, by, a);
    if (s == NULL && kind >= 0) {
        note_unheard(t, by, a, kind);
    }
    if (!is_told && kind >= 0) {
        roce_event e = roce_track_event(
            kind == ROCE_NAKS_RNR ? ROCE_EVENT_RNR_NAK : ROCE_EVENT_NAK, by, a);
        e.detail = (uint8_t)roce_aeth_get_value(a->packet->aeth_syndrome);
        e.psn = a->packet->bth.psn24;
        e.duration_ns = roce_aeth_wait_ns(a->packet->aeth_syndrome);
        roce_track_emit(t, &e);
    }
}

/* Services whose packets are sequenced per destination queue pair. */
static bool
has_sequence(roce_transport transport)
{
    return transport == ROCE_TRANSPORT_RC || transport == ROCE_TRANSPORT_UC ||
           transport == ROCE_TRANSPORT_XRC;
}

static void
take_response(roce_tracker *t, roce_stream_state *s, roce_arrival *a)
{
    s->pub.space[ROCE_SPACE_RESPONSES].packets++;
    roce_pair_try(t, s, a);
    if (a->info->role == ROCE_ROLE_ACK) {
        take_ack(t, s, a);
    } else {
        roce_respond(t, s, a);
    }
}

static void
take_request(roce_tracker *t, roce_stream_state *s, roce_arrival *a)
{
    s->pub.space[ROCE_SPACE_REQUESTS].packets++;
    if (has_sequence(s->pub.transport)) {
        roce_misses_saw(t, s->pub.point);
        roce_pair_note_request(t, s, a->packet->bth.psn24);
        roce_sequence_request(t, s, a);
    }
}

/* Packets whose ICRC proves nothing: soft-RoCE's FLUSH, and CNPs of some devices. */
static bool
is_exempt(const roce_opcode_info *info)
{
    return info->role == ROCE_ROLE_FLUSH || info->role == ROCE_ROLE_CNP;
}

/* What the ICRC has found does not count once more. */
static void
look_at_checksum(roce_tracker *t, roce_stream_state *s, roce_arrival *a)
{
    if (!a->corrupt &&
        roce_checksum_proves_damage(&s->checksum_credits, a->frame, a->packet)) {
        a->corrupt = true;
        a->by_checksum = true;
        t->totals.ip_checksum_bad++;
    }
    t->last.corrupt = a->corrupt;
}

/* Everything that needs the stream. */
static void
track(roce_tracker *t, roce_stream_state *s, roce_arrival *a)
{
    look_at_checksum(t, s, a);
    roce_count_icrc(t, s, a);
    if (a->corrupt) {
        roce_loss_note_bad(t, s, a, a->packet->bth.psn24,
                           a->by_checksum ? ROCE_EVIDENCE_BAD_IP_CHECKSUM
                                          : ROCE_EVIDENCE_BAD_ICRC);
        return;
    }
    roce_count_packet(t, s, a);
    if (a->info->role == ROCE_ROLE_CNP) {
        roce_congest_cnp(t, s, a);
        return;
    }
    roce_ident_follow(s, &a->identity);
    roce_congest_packet(t, s, a);
    if (roce_role_is_request(a->info->role)) {
        take_request(t, s, a);
    } else if (a->info->role != ROCE_ROLE_UNKNOWN && has_sequence(s->pub.transport)) {
        take_response(t, s, a);
    }
    if (a->packet->transport == ROCE_TRANSPORT_UD &&
        a->packet->bth.dest_qpn == ROCE_GSI_QPN) {
        roce_connection_cm(t, a);
    }
}

/* Where headers beyond the BTH were cut off, order is known all the same; but an ACK
 * without its syndrome or UD without its source says nothing that can be tracked.  What is
 * in an acknowledgement of DC is not public, and nothing is made of it but a count. */
static bool
is_usable(const roce_arrival *a)
{
    unsigned needed = 0;
    if (a->info->role == ROCE_ROLE_ACK) {
        needed = a->packet->transport != ROCE_TRANSPORT_DC ? ROCE_HEADER_AETH : 0;
    } else if (a->packet->transport == ROCE_TRANSPORT_UD) {
        needed = ROCE_HEADER_DETH;
    }
    return (needed & ~(unsigned)a->packet->headers) == 0;
}

int
roce_tracker_add_found(roce_tracker *t, uint32_t stream, const roce_frame *frame,
                       const roce_packet *packet, roce_icrc_status icrc)
{
    t->last = (roce_sighting){.stream = ROCE_NO_STREAM};
    t->latest_ns = frame->time_ns > t->latest_ns ? frame->time_ns : t->latest_ns;
    roce_count_frame(t, packet);
    if (packet->outcome == ROCE_DECODED && roce_packet_is_pause(packet)) {
        return roce_stop_packet(t, frame, packet);
    }
    if (!roce_packet_is_of_stream(packet)) {
        roce_count_damaged(t, frame, packet);
        return ROCE_OK;
    }
    roce_arrival a = {
        .frame = frame,
        .packet = packet,
        .seen_ns = frame->time_ns,
        .seen_frame = frame->number,
        .info = roce_opcode_get(packet->bth.opcode),
        .identity = roce_ident_of(frame, packet),
        .icrc = icrc,
    };
    a.corrupt = icrc == ROCE_ICRC_BAD && !is_exempt(a.info);
    t->totals.icrc_bad += a.corrupt ? 1 : 0;
    uint32_t before = t->n_streams;
    if (roce_room_is_over(t)) {
        roce_room_make(t);
    }
    roce_stream_state *s = NULL;
    if (is_usable(&a)) {
        s = stream != ROCE_NO_STREAM ? roce_state_at(t, stream) : roce_table_get(t, &a);
    }
    if (s == NULL) {
        bool wanted =
            is_usable(&a) && !a.corrupt && t->n_streams < t->config.max_streams;
        t->totals.untracked_packets++;
        t->totals.icrc_orphans += a.corrupt ? 1 : 0;
        return wanted ? ROCE_ERROR_MEMORY : ROCE_OK;
    }
    t->last.stream = s->pub.id;
    if (t->n_streams > before) {
        roce_event e = roce_track_event(ROCE_EVENT_STREAM_START, s, &a);
        roce_track_emit(t, &e);
        roce_pair_new_stream(t, s, &a);
    }
    track(t, s, &a);
    return ROCE_OK;
}

int
roce_tracker_add(roce_tracker *t, const roce_frame *frame, const roce_packet *packet,
                 roce_icrc_status icrc)
{
    return roce_tracker_add_found(t, ROCE_NO_STREAM, frame, packet, icrc);
}

void
roce_tracker_finish(roce_tracker *t)
{
    roce_pacing_finish(t);
    for (uint32_t i = 0; i < t->n_streams; i++) {
        roce_leap_finish(t, roce_state_at(t, i));
    }
    for (uint32_t i = 0; i < t->n_streams; i++) {
        roce_respond_finish(t, roce_state_at(t, i));
    }
    for (uint32_t i = 0; i < t->n_streams; i++) {
        roce_sequence_finish(t, roce_state_at(t, i));
        roce_congest_finish(t, roce_state_at(t, i));
    }
    roce_stop_finish(t);
    roce_count_unattributed(t);
}

uint32_t
roce_tracker_last_stream(const roce_tracker *t)
{
    return t->last.stream;
}

const roce_sighting *
roce_tracker_last_sighting(const roce_tracker *t)
{
    return &t->last;
}

uint32_t
roce_tracker_n_streams(const roce_tracker *t)
{
    return t->n_streams;
}

const roce_stream *
roce_tracker_stream(const roce_tracker *t, uint32_t id)
{
    return &roce_state_at(t, id)->pub;
}

int64_t
roce_tracker_first_psn(const roce_tracker *t, uint32_t id)
{
    const roce_lane *lane = &roce_state_at(t, id)->requests;
    return lane->started ? lane->first : ROCE_NO_PSN;
}

uint32_t
roce_tracker_n_connections(const roce_tracker *t)
{
    return t->n_connections;
}

const roce_connection *
roce_tracker_connection(const roce_tracker *t, uint32_t i)
{
    return &t->connections[i];
}

uint32_t
roce_tracker_n_refusals(const roce_tracker *t)
{
    return t->n_refusals;
}

const roce_refusal *
roce_tracker_refusal(const roce_tracker *t, uint32_t i)
{
    return &t->refusals[i];
}

uint32_t
roce_tracker_n_pauses(const roce_tracker *t)
{
    return t->n_pauses;
}

const roce_pause_source *
roce_tracker_pause(const roce_tracker *t, uint32_t i)
{
    return &t->pauses[i].pub;
}

const roce_tracker_totals *
roce_tracker_totals_get(const roce_tracker *t)
{
    return &t->totals;
}
