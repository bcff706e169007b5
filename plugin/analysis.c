/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Feeds the tracker, once per packet and in the order of the capture, and keeps what it
 * says where the packets are found again.
 *
 * The one rule: the tracker sees what the analyzer would show it, and nothing is kept
 * that it did not say.
 *
 *  1. A frame that was not visited before goes to the tracker.  Its events, relations
 *     and latencies come back by callback while it is there, and become notes on its
 *     record and on those of the earlier packets that they name.
 *  2. The first frames are held as well, until they tell whether the capture delivers
 *     packets twice, was merged out of order, or has one link in two interfaces
 *     (roce/survey.h).  If so everything is tracked anew, put right; and so is what
 *     follows.  Frames of others go the same way: the survey asks about them too, and
 *     pauses end on their time.
 *  3. When the capture was read to its end, Wireshark says so (the post-sequence
 *     routine), and the tracker decides what is still open.
 *  4. A capture that is dissected anew, since a preference has changed, begins anew.
 *
 * Limitations: in a single pass tshark shows a packet before what comes later is known,
 * and asks for no decision at the end.  Points that appear behind the first 8,192
 * frames are not surveyed.
 */
#include "analysis.h"

#include "points.h"

#include "roce/decode.h"
#include "roce/intake.h"

/* A verdict that is withdrawn is looked for among so many newer ones. */
#define LOSSES_LOOKED_AT 4096

/* Whether the capture has its packets once, and in order. */
typedef enum analysis_state {
    STATE_NEW,       /* no frame came yet */
    STATE_SURVEYING, /* nobody knows yet: they are tracked as they come, and held */
    STATE_PLAIN,     /* it has */
    STATE_CORRECTED, /* it has not: they are tracked as the survey puts them right */
} analysis_state;

/* Of the open capture. */
static analysis_state state;
static roce_tracker *tracker; /* NULL: no packet came yet */
static roce_intake *intake;   /* NULL: frames need not wait */
static roce_ports ports;      /* that packets came to */
static bool has_finished;
static uint32_t n_frames;      /* that came so far: the serial number of the newest */
static uint64_t resolution_ns; /* of the coarsest stamps among them */
static uint64_t newest_ns;     /* the newest stamp */

/* What tells one frame of a capture file from another. */
typedef struct frame_place {
    uint32_t number;
    gint64 offset;
    nstime_t time;
    uint32_t bytes;
} frame_place;

#define NS_DIGITS 9
#define MOST_IGNORED 64 /* frames in a row */

static frame_place newest;
/* The last frame of the capture that was finished last: Wireshark does not say that a
 * capture has ended when it dissects it anew. */
static frame_place known_end;
static bool end_is_known;
static uint32_t n_connections;
static GHashTable *connections; /* roce_ends -> number + 1 */

static void *
resize(void *ctx, void *old, size_t size)
{
    (void)ctx;
    return g_try_realloc(old, size);
}

static void *
zeroed(void *ctx, size_t size)
{
    (void)ctx;
    return g_try_malloc0(size);
}

static void
release(void *ctx, void *old)
{
    (void)ctx;
    g_free(old);
}

static const roce_alloc alloc = {
    .resize = resize, .release = release, .zeroed = zeroed};

/* ---- what the tracker says ---- */

/* A connection has one number at all points that see it. */
static uint32_t
number_connection(const roce_stream *s)
{
    roce_ends ends;
    roce_stream_ends(s, &ends);
    GBytes *key = g_bytes_new(&ends, sizeof ends);
    if (connections == NULL) {
        connections = g_hash_table_new_full(g_bytes_hash, g_bytes_equal,
                                            (GDestroyNotify)g_bytes_unref, NULL);
    }
    uint32_t number = GPOINTER_TO_UINT(g_hash_table_lookup(connections, key));
    if (number != 0) {
        g_bytes_unref(key);
        return number - 1;
    }
    g_hash_table_insert(connections, key, GUINT_TO_POINTER(++n_connections));
    return n_connections - 1;
}

/* Both streams are of one connection, or of none any more. */
static void
note_pairing(const roce_event *e)
{
    const roce_stream *s = roce_tracker_stream(tracker, e->stream);
    uint32_t number =
        e->kind == ROCE_EVENT_CONNECTED ? number_connection(s) : ANALYSIS_NONE;
    memory_stream(s->id)->connection = number;
    if (e->count != ROCE_NO_STREAM) {
        memory_stream((uint32_t)e->count)->connection = number;
    }
}

/* The newest verdict like this one that stands is withdrawn. */
static void
withdraw(const roce_event *e)
{
    uint32_t at = memory_stream(e->stream)->last_loss;
    for (unsigned i = 0; i < LOSSES_LOOKED_AT && at != ANALYSIS_NONE; i++) {
        event_record *loss = memory_event(at);
        if (loss->undone_by == 0 && loss->event.psn == e->psn &&
            loss->event.space == e->space && loss->event.detail == e->detail) {
            loss->undone_by = (uint32_t)e->frame;
            return;
        }
        at = loss->loss_before;
    }
}

/* What was taken for late or for a duplicate was sent again after all. */
static void
correct(const packet_record *record, const roce_event *again)
{
    for (const note *n = memory_note(record->first_note); n != NULL;
         n = memory_note(n->next)) {
        event_record *kept = memory_event(n->index);
        if (n->role == NOTE_EVENT && kept->event.psn == again->psn &&
            (kept->event.kind == ROCE_EVENT_LATE ||
             kept->event.kind == ROCE_EVENT_DUPLICATE)) {
            kept->undone_by = (uint32_t)again->frame;
        }
    }
}

/* What an event means for the stream that it is about, and it for the event. */
static void
follow_stream(event_record *kept, uint32_t index)
{
    const roce_event *e = &kept->event;
    if (e->stream == ROCE_NO_STREAM) {
        return;
    }
    stream_record *s = memory_stream(e->stream);
    if (e->kind == ROCE_EVENT_LOSS) {
        kept->loss_before = s->last_loss;
        s->last_loss = index;
    } else if (e->kind == ROCE_EVENT_LOSS_WITHDRAWN) {
        withdraw(e);
    } else if (e->kind == ROCE_EVENT_ROUND) {
        s->nak = (uint32_t)e->related_frame;
    } else if (e->kind == ROCE_EVENT_RETRANSMISSION) {
        kept->nak = s->nak;
    } else if (e->kind == ROCE_EVENT_STREAM_RESTART) {
        messages_restart(e->stream);
    } else if (e->kind == ROCE_EVENT_CONNECTED || e->kind == ROCE_EVENT_DISCONNECTED) {
        note_pairing(e);
    }
}

static void
take_event(void *ctx, const roce_event *e)
{
    (void)ctx;
    const event_record fresh = {.event = *e, .loss_before = ANALYSIS_NONE};
    uint32_t index = memory_add_event(&fresh);
    follow_stream(memory_event(index), index);
    packet_record *here = memory_find(e->frame);
    if (here != NULL) {
        if (e->kind == ROCE_EVENT_RETRANSMISSION) {
            correct(here, e);
        }
        memory_add_note(here, NOTE_EVENT, index);
    }
    packet_record *related =
        e->related_frame != e->frame ? memory_find(e->related_frame) : NULL;
    if (related != NULL) {
        memory_add_note(related, NOTE_RELATED, index);
    }
}

static void
take_sample(const roce_relation *r, packet_record *record)
{
    const sample_record sample = {
        .duration_ns = r->duration_ns,
        .from = (uint32_t)r->to,
        .latency = (uint8_t)r->latency,
    };
    memory_add_sample(record, &sample);
    const packet_record *from = memory_find(r->to);
    if (r->latency == ROCE_LATENCY_MESSAGE_COMPLETION && from != NULL &&
        from->message != ANALYSIS_NONE) {
        message_record *message = memory_message(from->message);
        message->completion_ns = r->duration_ns;
        message->completed_by = record->frame;
    }
}

static void
take_relation(void *ctx, const roce_relation *r)
{
    (void)ctx;
    packet_record *here = memory_find(r->frame);
    packet_record *to = memory_find(r->to);
    if (here == NULL || (to == NULL && r->kind != ROCE_RELATION_TAKES)) {
        return;
    }
    switch (r->kind) {
    case ROCE_RELATION_COVERS:
        to->covered_by = here->frame;
        break;
    case ROCE_RELATION_NAMES:
        here->request = to->frame;
        break;
    case ROCE_RELATION_ANSWERS:
        here->request = to->frame;
        to->answer_first = to->answer_first == 0 ? here->frame : to->answer_first;
        to->answer_last = here->frame;
        break;
    case ROCE_RELATION_TAKES:
        take_sample(r, here);
        break;
    case ROCE_RELATION_FOLLOWS:
        break;
    }
}

/* ---- what the tracker is told ---- */

static uint64_t
link_speed(void *ctx, uint32_t point)
{
    (void)ctx;
    return points_speed_bps(point);
}

/* Where the packet stands, from the tracker's view. */
static void
keep_sighting(packet_record *record, const roce_packet *packet)
{
    const roce_sighting *at = roce_tracker_last_sighting(tracker);
    record->stream = at->stream;
    if (at->stream == ROCE_NO_STREAM || !at->sequenced) {
        return;
    }
    record->psn = at->psn;
    record->expected_known = at->expected_known;
    record->expected24 = at->expected_known ? roce_psn_wrap(at->expected) : 0;
    if (at->acked_until > at->acked_from) {
        record->acked_psn24 = roce_psn_wrap(at->acked_from);
        record->n_acked = (uint32_t)(at->acked_until - at->acked_from);
    }
    const packet_record *request = memory_find(record->request);
    if (at->space == ROCE_SPACE_REQUESTS) {
        messages_add_request(record, packet, at);
    } else if (request != NULL) {
        messages_add_answer(record, packet, request);
    }
}

static void
start_tracker(void)
{
    roce_tracker_config config;
    roce_tracker_config_init(&config);
    config.event = take_event;
    config.relation = take_relation;
    config.link_speed_bps = link_speed;
    if (roce_tracker_new(&tracker, &alloc, &config) != ROCE_OK) {
        tracker = NULL;
    }
}

/* Whether core takes a frame for something that is tracked. */
static bool
is_tracked(const roce_packet *packet)
{
    return packet->kind == ROCE_CLASS_ROCE || roce_packet_is_pause(packet);
}

static void
track(const roce_frame *frame, const roce_packet *packet, roce_icrc_status icrc)
{
    bool is_ours = is_tracked(packet);
    if (tracker == NULL && is_ours) {
        start_tracker();
    }
    if (tracker == NULL) {
        return;
    }
    if (is_ours) {
        memory_make((uint32_t)frame->number)->time_ns = frame->time_ns;
    }
    (void)roce_tracker_add(tracker, frame, packet, icrc);
    if (is_ours) {
        keep_sighting(memory_find(frame->number), packet);
    }
}

/* ---- what the first frames tell of the capture itself ---- */

static roce_survey_point *
survey_point(void *ctx, uint32_t point)
{
    (void)ctx;
    return points_survey(point);
}

static void
decode_again(void *ctx, const roce_frame *frame, roce_packet *packet)
{
    (void)ctx;
    roce_decode(frame, &ports, packet);
}

/* A frame at the end of its way; those that were tracked when they came are not tracked
 * once more. */
static void
take_frame(void *ctx, const roce_frame *frame, const roce_packet *packet)
{
    (void)ctx;
    if (state == STATE_CORRECTED) {
        track(frame, packet, network_check_icrc(frame, packet));
    }
}

static void
leave_out(void *ctx, const roce_frame *frame)
{
    (void)ctx;
    memory_make((uint32_t)frame->number)->is_second_copy = true;
}

static void
forget_packets(void)
{
    roce_tracker_free(tracker);
    tracker = NULL;
    n_connections = 0;
    if (connections != NULL) {
        g_hash_table_destroy(connections);
        connections = NULL;
    }
    memory_clear_packets();
}

/* The survey has decided: all that was tracked is tracked anew, or stands. */
static void
decide(void *ctx)
{
    (void)ctx;
    if (state != STATE_SURVEYING) {
        return;
    }
    state = STATE_PLAIN;
    if (!points_are_plain()) {
        forget_packets();
        state = STATE_CORRECTED;
    }
    points_settle();
}

static void
start_survey(void)
{
    state = STATE_SURVEYING;
    const roce_intake_config config = {
        .point = survey_point,
        .decode = decode_again,
        .take = take_frame,
        .leave_out = leave_out,
        .decided = decide,
    };
    if (roce_intake_new(&intake, &alloc, &config) != ROCE_OK) {
        intake = NULL;
        state = STATE_PLAIN;
    }
}

static void
stop_intake(void)
{
    roce_intake_free(intake);
    intake = NULL;
}

/* A port that carries RoCE, for frames that are decoded once more. */
static void
note_port(uint16_t port)
{
    if (port == 0) { /* of RoCEv1, and of pauses */
        return;
    }
    for (unsigned i = 0; i < ports.n_ports; i++) {
        if (ports.port[i] == port) {
            return;
        }
    }
    if (ports.n_ports < ROCE_MAX_PORTS) {
        ports.port[ports.n_ports++] = port;
    }
}

/* A frame without a stamp (pcapng, Simple Packet Block) came no earlier than what stands before
 * it: the analyzer takes it for that, too. */
static void
give_time(const packet_info *pinfo, roce_frame *frame)
{
    if (pinfo->fd->has_ts) {
        newest_ns = frame->time_ns;
    } else {
        frame->time_ns = newest_ns;
    }
}

/* The next frame of the capture, on its way to the tracker. */
static void
add_frame(const packet_info *pinfo, roce_frame *frame, const roce_packet *packet,
          roce_icrc_status icrc)
{
    frame->number = n_frames;
    give_time(pinfo, frame);
    if (state == STATE_NEW) {
        start_survey();
    }
    frame->point = points_of(pinfo, packet);
    if (state != STATE_CORRECTED) {
        track(frame, packet, icrc);
    }
    if (intake != NULL) {
        points_survey(frame->point)->settled |= state != STATE_SURVEYING;
        (void)roce_intake_add(intake, frame, packet);
    }
    if (state == STATE_PLAIN) {
        stop_intake();
    }
}

/* ---- the capture ---- */

static frame_place
place_of(const packet_info *pinfo)
{
    return (frame_place){
        .number = pinfo->num,
        .offset = pinfo->fd->file_off,
        .time = pinfo->abs_ts,
        .bytes = pinfo->fd->cap_len,
    };
}

/* The number does not count: what a read filter drops hands it on. */
static bool
is_same_place(const frame_place *a, const frame_place *b)
{
    return a->offset == b->offset && a->time.secs == b->time.secs &&
           a->time.nsecs == b->time.nsecs && a->bytes == b->bytes;
}

/* Of a frame's stamp: by how many digits of a second it has. */
static uint64_t
stamp_resolution_ns(const packet_info *pinfo)
{
    uint64_t ns = 1;
    for (int digits = pinfo->rec->tsprec; digits >= 0 && digits < NS_DIGITS; digits++) {
        ns *= 10;
    }
    return ns;
}

/* Whether this is the next frame of the capture: if so it gets its serial number.  Some
 * frames that the user has Wireshark ignore are passed over, as those of a capture that has
 * them no more.  One that stands before the newest, or far behind it, was left over when
 * Wireshark was stopped: nothing more can be said. */
static bool
is_next(const packet_info *pinfo)
{
    frame_place place = place_of(pinfo);
    bool is_same =
        n_frames > 0 && place.number == newest.number && is_same_place(&place, &newest);
    if (PINFO_FD_VISITED(pinfo) || has_finished || is_same) {
        return false;
    }
    bool is_near = place.number >= newest.number &&
                   place.number - newest.number <= MOST_IGNORED + 1;
    if (n_frames > 0 && !is_near) {
        has_finished = true;
        return false;
    }
    newest = place;
    memory_show(pinfo->num, ++n_frames);
    resolution_ns = MAX(resolution_ns, stamp_resolution_ns(pinfo));
    return true;
}

/* What core says of a frame that Wireshark shows as somebody else's.  Core may still take
 * it for RoCE: then it loses its bytes, so that it is tracked at no time. */
static void
decode_stranger(roce_frame *frame, roce_packet *packet)
{
    roce_decode(frame, &ports, packet);
    if (is_tracked(packet)) {
        frame->bytes = NULL;
        frame->captured_bytes = 0;
        roce_decode(frame, &ports, packet);
    }
}

/* A frame is shown again.  Where the newest one is the last that a capture had before, that
 * is dissected anew, and this is its end: of a longer one that begins the same, as a
 * growing file opened again, frames are not shown before they all have come. */
static void
note_visit(const packet_info *pinfo)
{
    if (PINFO_FD_VISITED(pinfo) && end_is_known && is_same_place(&newest, &known_end)) {
        analysis_finish();
    }
}

void
analysis_see(tvbuff_t *tvb, const packet_info *pinfo)
{
    note_visit(pinfo);
    if (is_next(pinfo)) {
        roce_frame frame;
        roce_packet packet;
        network_frame(state != STATE_PLAIN ? tvb : NULL, pinfo, &frame);
        decode_stranger(&frame, &packet);
        add_frame(pinfo, &frame, &packet, ROCE_ICRC_UNCHECKED);
    }
}

const packet_record *
analysis_take(const packet_info *pinfo, const plugin_packet *packet)
{
    note_visit(pinfo);
    if (packet->is_trackable && is_next(pinfo)) {
        roce_frame frame = packet->frame;
        note_port(packet->whole.dst_port);
        add_frame(pinfo, &frame, &packet->whole, packet->icrc);
    }
    return packet->is_trackable ? memory_at(pinfo->num) : NULL;
}

/* Pauses that lasted to the end of the capture end without an event. */
static void
note_open_pauses(void)
{
    for (uint32_t i = 0; i < roce_tracker_n_pauses(tracker); i++) {
        const roce_pause_source *p = roce_tracker_pause(tracker, i);
        if (p->n_intervals == 0 || p->newest.end != ROCE_PAUSE_CAPTURE_END) {
            continue;
        }
        const roce_event end = {
            .kind = ROCE_EVENT_PAUSE_EXPIRED,
            .evidence = ROCE_EVIDENCE_CAPTURE_END,
            .detail = p->priority,
            .point = p->point,
            .stream = ROCE_NO_STREAM,
            .related_frame = p->xoff_frame,
            .time_ns = p->newest.end_ns,
            .duration_ns = p->newest.end_ns - p->newest.start_ns,
            .psn = ROCE_NO_PSN,
        };
        take_event(NULL, &end);
    }
}

void
analysis_finish(void)
{
    if (state == STATE_NEW || has_finished) {
        return;
    }
    if (intake != NULL) {
        (void)roce_intake_finish(intake);
        stop_intake();
    }
    has_finished = true;
    known_end = newest;
    end_is_known = true;
    if (tracker != NULL) {
        roce_tracker_finish(tracker);
        note_open_pauses();
    }
}

uint64_t
analysis_resolution_ns(void)
{
    return resolution_ns;
}

const roce_tracker *
analysis_tracker(void)
{
    return tracker;
}

bool
analysis_delta_ns(uint32_t from, uint32_t to, uint64_t *delta_ns)
{
    const packet_record *a = memory_find(from);
    const packet_record *b = memory_find(to);
    if (a == NULL || b == NULL) {
        return false;
    }
    *delta_ns = b->time_ns > a->time_ns ? b->time_ns - a->time_ns : 0;
    return true;
}

static void (*look_back)(void); /* analysis_before_forgetting() */

static void
forget(void)
{
    stop_intake();
    forget_packets();
    memory_clear();
    points_clear();
    state = STATE_NEW;
    ports.n_ports = 0;
    has_finished = false;
    n_frames = 0;
    resolution_ns = 0;
    newest_ns = 0;
}

static void
close_capture(void)
{
    if (look_back != NULL) {
        look_back();
    }
    forget();
}

void
analysis_before_forgetting(void (*call)(void))
{
    look_back = call;
}

void
analysis_register(void)
{
    register_init_routine(forget);
    register_cleanup_routine(close_capture);
    register_postseq_cleanup_routine(analysis_finish);
}
