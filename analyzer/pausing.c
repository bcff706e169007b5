/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "pausing.h"

#include "alloc.h"
#include "analysis.h"
#include "byte_of.h"
#include "pausing_order.h"
#include "sorting.h"
#include "spills.h"
#include "twins.h"

#define BITS_PER_BYTE 8
#define NS_PER_S G_GUINT64_CONSTANT(1000000000)
#define NS_PER_US 1000

/* In less time than such a frame takes nothing gets through between two pauses. */
#define JOIN_BYTES 1538

#define SEVERAL (ROCE_NO_PAUSE - 1)

/* A point: which pauses come from a MAC address that no packet has, by priority; none, or
 * SEVERAL, where nobody can tell which of them stops what. */
typedef struct strangers {
    guint32 pause[ROCE_PRIORITY_GLOBAL + 1]; /* + 1; 0 none */
} strangers;

struct rs_pausing {
    const rs_analysis *analysis;
    const roce_tracker *tracker;
    rs_macs *macs;
    rs_passages *passages;
    GPtrArray *watches; /* rs_pause_watch by the tracker's number */
    GArray *strangers;  /* by point */
    GArray *marks;      /* rs_pause_marks by stream */
    GByteArray *held;   /* by stream: priorities, a bit for each */
    rs_spills *spills;
    rs_watchdog_preset presets[RS_WATCHDOG_PRESETS];
    guint n_presets;
    guint64 overflow;    /* packets of no stream that there was no room for */
    rs_pause_tree *tree; /* NULL before the end */
    GArray *orders;      /* rs_pause_order, likewise */
};

static void
free_watch(gpointer data)
{
    const roce_alloc alloc = rs_alloc_make();
    rs_pause_watch *watch = data;
    roce_histogram_clear(&watch->lengths, &alloc);
    g_ptr_array_unref(watch->passages);
    g_free(watch);
}

rs_pausing *
rs_pausing_new(const rs_analysis *analysis)
{
    rs_pausing *pausing = g_new0(rs_pausing, 1);
    pausing->analysis = analysis;
    pausing->tracker = analysis->tracker;
    pausing->macs = rs_macs_new();
    pausing->passages = rs_passages_new();
    pausing->watches = g_ptr_array_new_with_free_func(free_watch);
    pausing->strangers = g_array_new(FALSE, TRUE, sizeof(strangers));
    pausing->marks = g_array_new(FALSE, TRUE, sizeof(rs_pause_marks));
    pausing->held = g_byte_array_new();
    pausing->spills = rs_spills_new();
    pausing->n_presets = rs_watchdog_presets(analysis->options, pausing->presets);
    return pausing;
}

void
rs_pausing_free(rs_pausing *pausing)
{
    if (pausing == NULL) {
        return;
    }
    rs_pause_tree_free(pausing->tree);
    g_clear_pointer(&pausing->orders, g_array_unref);
    rs_macs_free(pausing->macs);
    rs_passages_free(pausing->passages);
    g_ptr_array_unref(pausing->watches);
    g_array_unref(pausing->strangers);
    g_array_unref(pausing->marks);
    g_byte_array_unref(pausing->held);
    rs_spills_free(pausing->spills);
    g_free(pausing);
}

/* Element i, all 0 when it is first asked for. */
static gpointer
element(GArray *array, guint i)
{
    if (i >= array->len) {
        g_array_set_size(array, i + 1);
    }
    return array->data + (gsize)i * g_array_get_element_size(array);
}

/* ---- pause frames ---- */

static guint64
wire_ns(guint64 bytes, guint64 bps)
{
    return bytes * BITS_PER_BYTE * NS_PER_S / bps + 1;
}

static guint64
stamp_ns(const rs_pause_watch *watch)
{
    return watch->is_fine ? 1 : NS_PER_US;
}

static void
take_interval(rs_pausing *pausing, rs_pause_watch *watch, const roce_pause_source *p)
{
    if (p->n_intervals == watch->n_taken) {
        return;
    }
    watch->n_taken = p->n_intervals;
    if (!p->speed_known) {
        return;
    }
    const roce_alloc alloc = rs_alloc_make();
    guint64 join_ns = MAX(wire_ns(JOIN_BYTES, p->link_speed_bps), stamp_ns(watch));
    roce_histogram_add(&watch->lengths, &alloc, p->newest.end_ns - p->newest.start_ns);
    rs_holds_add(&watch->holds, pausing->presets, pausing->n_presets,
                 p->newest.start_ns, p->newest.end_ns, watch->xoff_frame, join_ns);
}

static rs_pause_watch *
watch_of(rs_pausing *pausing, guint32 pause)
{
    while (pause >= pausing->watches->len) {
        rs_pause_watch *watch = g_new0(rs_pause_watch, 1);
        watch->held.pause = ROCE_NO_PAUSE;
        watch->passages = g_ptr_array_new();
        g_ptr_array_add(pausing->watches, watch);
    }
    return g_ptr_array_index(pausing->watches, pause);
}

/* Whether a source stops any of these priorities. */
static gboolean
are_stopped(guint8 priorities, const roce_pause_source *p)
{
    return p->priority == ROCE_PRIORITY_GLOBAL ? priorities != 0
                                               : (priorities & 1u << p->priority) != 0;
}

/* Notes whose pause it is, the first time that it is seen.  Points that share streams
 * between them are one to the tracker, but for pauses. */
static void
meet(rs_pausing *pausing, rs_pause_watch *watch, guint32 pause,
     const roce_pause_source *p, guint32 point)
{
    rs_mac *mac = rs_macs_get(pausing->macs, point, p->src_mac);
    if (mac == NULL || mac->pauses[p->priority] != ROCE_NO_PAUSE) {
        return;
    }
    mac->pauses[p->priority] = pause;
    watch->mac = mac;
    watch->held.any = are_stopped(mac->takes, p);
    strangers *here = element(pausing->strangers, point);
    guint32 *stranger = &here->pause[p->priority];
    if (!mac->in_ip) {
        *stranger = *stranger == 0 ? pause + 1 : SEVERAL;
    }
}

static void
take_frame(rs_pausing *pausing, const rs_sight *sight, guint32 pause)
{
    const roce_pause_source *p = roce_tracker_pause(pausing->tracker, pause);
    gboolean is_new = pause >= pausing->watches->len;
    rs_pause_watch *watch = watch_of(pausing, pause);
    if (is_new) {
        meet(pausing, watch, pause, p, sight->group);
    }
    watch->is_fine |= sight->frame->time_ns % NS_PER_US != 0;
    watch->frames_in += sight->packet->direction == ROCE_DIRECTION_IN ? 1 : 0;
    watch->frames_out += sight->packet->direction == ROCE_DIRECTION_OUT ? 1 : 0;
    take_interval(pausing, watch, p);
    if (p->paused && p->xoff_frame == sight->frame->number) {
        watch->xoff_frame = p->xoff_frame;
        rs_frames_keep(&watch->xoff, p->xoff_frame);
        if (watch->xoff.total == 1) {
            watch->first_start_ns = p->start_ns;
        }
    }
}

static void
take_pause(rs_pausing *pausing, const rs_sight *sight)
{
    const roce_packet *packet = sight->packet;
    gboolean global = packet->kind == ROCE_CLASS_PAUSE;
    guint priorities = global ? 1u << ROCE_PRIORITY_GLOBAL : packet->pause.enabled;
    for (guint8 i = 0; i <= ROCE_PRIORITY_GLOBAL; i++) {
        if ((priorities & 1u << i) == 0 || (!global && i == ROCE_PRIORITY_GLOBAL)) {
            continue;
        }
        guint32 pause = roce_tracker_find_pause(pausing->tracker, sight->frame->point,
                                                packet->src_mac, i);
        if (pause != ROCE_NO_PAUSE) {
            take_frame(pausing, sight, pause);
        }
    }
}

/* ---- what they stop ---- */

static gboolean
is_opposite(const rs_pause_watch *watch, roce_direction direction)
{
    return direction == ROCE_DIRECTION_IN ? watch->frames_out > 0
                                          : watch->frames_in > 0;
}

/* A packet on its way from one MAC address to another, NULL where that is of none alone. */
typedef struct leg {
    rs_mac *src, *dst;
    guint8 priority;
    roce_direction direction;
    roce_vantage vantage; /* of its stream; unknown where it has none */
} leg;

/* Whether a packet leaves the end of the link that such a MAC address is not. */
static gboolean
leaves_other_end(const rs_pausing *pausing, const rs_pause_watch *watch, const leg *l)
{
    roce_direction direction = l->direction;
    if (direction != ROCE_DIRECTION_UNKNOWN &&
        (watch->frames_in > 0) != (watch->frames_out > 0)) {
        return is_opposite(watch, direction);
    }
    const rs_mac *stopped = rs_macs_stopped_end(pausing->macs, l->src->point);
    if (stopped != NULL) {
        return stopped == l->src;
    }
    /* Two hosts alone: the one at whose NIC this was captured. */
    return rs_macs_is_common(pausing->macs, l->src) &&
           l->vantage == ROCE_VANTAGE_REQUESTER;
}

/* The pause of a MAC address that no packet has, if it stops this one. */
static guint32
stranger_of(const rs_pausing *pausing, const leg *l, guint8 priority)
{
    if (l->src->point >= pausing->strangers->len) {
        return ROCE_NO_PAUSE;
    }
    const strangers *here =
        &g_array_index(pausing->strangers, strangers, l->src->point);
    guint32 pause = here->pause[priority];
    if (pause == 0 || pause == SEVERAL) {
        return ROCE_NO_PAUSE;
    }
    const rs_pause_watch *watch = g_ptr_array_index(pausing->watches, pause - 1);
    return !watch->mac->in_ip && leaves_other_end(pausing, watch, l) ? pause - 1
                                                                     : ROCE_NO_PAUSE;
}

/* The pauses that may stop a packet. */
static rs_stoppers
stoppers_of(const rs_pausing *pausing, const leg *l)
{
    rs_stoppers by = {{ROCE_NO_PAUSE, ROCE_NO_PAUSE}};
    for (guint i = 0; pausing->watches->len > 0 && i < RS_N_STOPPERS; i++) {
        guint8 class = i == RS_STOPPER_PFC ? l->priority : ROCE_PRIORITY_GLOBAL;
        guint32 pause = l->dst != NULL ? l->dst->pauses[class] : ROCE_NO_PAUSE;
        if (pause == ROCE_NO_PAUSE) {
            pause = stranger_of(pausing, l, class);
        }
        gboolean is_timed = pause != ROCE_NO_PAUSE &&
                            roce_tracker_pause(pausing->tracker, pause)->speed_known;
        if (is_timed) {
            by.pause[i] = pause;
        }
    }
    return by;
}

/* A packet that came while its priority was paused: had it still to come? */
static void
take_late(rs_pause_watch *watch, const roce_pause_source *p, const roce_frame *frame)
{
    watch->most_ns = RS_PAUSE_REACTION_NS + RS_PAUSE_CABLE_NS + RS_PAUSE_PHY_NS +
                     wire_ns(RS_PAUSE_FRAME_BYTES, p->link_speed_bps) + stamp_ns(watch);
    if (!roce_pause_is_on(p, frame->time_ns) ||
        frame->time_ns <= p->start_ns + watch->most_ns) {
        return;
    }
    rs_frames_keep(&watch->late, frame->number);
    watch->latest_ns = MAX(watch->latest_ns, frame->time_ns - p->start_ns);
}

/* A packet, and what its source has sent before it. */
static void
take_stopped(rs_pausing *pausing, const rs_sight *sight, guint32 pause, guint8 sent)
{
    rs_pause_watch *watch = g_ptr_array_index(pausing->watches, pause);
    const roce_pause_source *p = roce_tracker_pause(pausing->tracker, pause);
    if (watch->packets == 0 && !watch->mac->in_ip) {
        watch->held.any = are_stopped(sent, p);
    }
    watch->packets++;
    rs_held_packet(&watch->held, pausing->tracker, pause, sight->frame->time_ns);
    take_late(watch, p, sight->frame);
    if (sight->stream != NULL) {
        gboolean is_on = roce_pause_is_on(p, sight->frame->time_ns);
        rs_spills_packet(pausing->spills, sight->sighting, sight->frame->number,
                         is_on ? pause : ROCE_NO_PAUSE);
    }
}

/* Looks for what may stop a packet, and notes whom it is from and for. */
static rs_stoppers
take_leg(rs_pausing *pausing, const rs_sight *sight, const leg *l)
{
    const rs_stoppers by = stoppers_of(pausing, l);
    const guint8 bit = (guint8)(1u << l->priority);
    for (guint i = 0; i < RS_N_STOPPERS; i++) {
        if (by.pause[i] != ROCE_NO_PAUSE) {
            take_stopped(pausing, sight, by.pause[i], l->src->sends);
        }
    }
    l->src->sends |= bit;
    if (l->dst != NULL) {
        l->dst->takes |= bit;
    }
    return by;
}

static void
take_marks(rs_pausing *pausing, const rs_sight *sight)
{
    roce_space space;
    if (roce_packet_ecn(sight->packet) != ROCE_ECN_CE || sight->sighting->corrupt ||
        !rs_carries_data(sight->packet, &space)) {
        return;
    }
    rs_pause_marks *marks = element(pausing->marks, sight->stream->id);
    if (marks->ce.known[space]) {
        return;
    }
    marks->ce.known[space] = TRUE;
    marks->ce.psn24[space] = sight->packet->bth.psn24;
    if (marks->ce_frame == 0) {
        marks->ce_frame = sight->frame->number;
        marks->ce_ns = sight->frame->time_ns;
    }
}

static void
take_stream(rs_pausing *pausing, const rs_sight *sight)
{
    take_marks(pausing, sight);
    rs_passage *passage =
        rs_passages_get(pausing->passages, pausing->macs, sight, sight->stream->point);
    if (passage == NULL) {
        return;
    }
    const leg l = {
        .src = passage->src,
        .dst = passage->dst,
        .priority = sight->priority,
        .direction = sight->packet->direction,
        .vantage = sight->vantage,
    };
    const rs_stoppers by = take_leg(pausing, sight, &l);
    rs_passage_packet(passage, pausing->tracker, sight, &by);
}

/* What is of no stream: other protocols, for the most part. */
static void
take_other(rs_pausing *pausing, const rs_sight *sight)
{
    const roce_packet *packet = sight->packet;
    guint32 point = sight->group;
    rs_mac *src = rs_macs_get(pausing->macs, point, packet->src_mac);
    rs_mac *dst = rs_macs_get(pausing->macs, point, packet->dst_mac);
    if (src == NULL || dst == NULL) {
        pausing->overflow++;
        return;
    }
    if (packet->src.family != 0) {
        rs_macs_learn(pausing->macs, src, dst, packet);
    }
    const leg l = {
        .src = src,
        .dst = dst,
        .priority = sight->priority,
        .direction = packet->direction,
        .vantage = ROCE_VANTAGE_UNKNOWN,
    };
    (void)take_leg(pausing, sight, &l);
}

void
rs_pausing_packet(rs_pausing *pausing, const rs_sight *sight)
{
    const roce_packet *packet = sight->packet;
    if (roce_packet_is_pause(packet)) {
        take_pause(pausing, sight);
    } else if (!packet->has_macs || packet->tenant.kind != ROCE_TENANT_NONE ||
               packet->kind == ROCE_CLASS_MAC_CONTROL) {
        return; /* the MAC addresses of a tenant's network are not those of the link */
    } else if (sight->stream != NULL) {
        take_stream(pausing, sight);
    } else {
        take_other(pausing, sight);
    }
}

void
rs_pausing_event(rs_pausing *pausing, const roce_event *event)
{
    rs_spills_event(pausing->spills, event);
    if (event->kind == ROCE_EVENT_CNP && event->stream != ROCE_NO_STREAM) {
        rs_pause_marks *marks = element(pausing->marks, event->stream);
        if (marks->cnp_frame == 0) {
            marks->cnp_frame = event->frame;
            marks->cnp_ns = event->time_ns;
        }
    }
}

static gint
longest_held_first(gconstpointer a, gconstpointer b, gpointer pause)
{
    const rs_passage *x = *(rs_passage *const *)a;
    const rs_passage *y = *(rs_passage *const *)b;
    guint64 held_ns = rs_passage_held(x, *(guint32 *)pause)->held_ns;
    guint64 other_ns = rs_passage_held(y, *(guint32 *)pause)->held_ns;
    if (held_ns != other_ns) {
        return held_ns > other_ns ? -1 : 1;
    }
    return rs_by_number(rs_passage_key(x), rs_passage_key(y));
}

/* What lasts to the end of the capture and began behind the last packet of a passage, which
 * has more to send. */
static void
stop_behind(rs_pausing *pausing, rs_passage *passage)
{
    const leg l = {
        .src = passage->src,
        .dst = passage->dst,
        .priority = passage->priority,
        .direction = (roce_direction)passage->direction,
        .vantage = roce_tracker_stream(pausing->tracker, passage->stream)->vantage,
    };
    const rs_stoppers by = stoppers_of(pausing, &l);
    for (guint i = 0; i < RS_N_STOPPERS; i++) {
        guint32 pause = passage->stops[i] == NULL ? by.pause[i] : ROCE_NO_PAUSE;
        if (pause != ROCE_NO_PAUSE &&
            rs_pause_lasts(roce_tracker_pause(pausing->tracker, pause))) {
            rs_passage_stop_behind(passage, pausing->tracker, (rs_stopper)i, pause);
        }
    }
}

/* What was still paused when the capture ended. */
static void
finish_passage(rs_pausing *pausing, rs_passage *passage)
{
    if (passage->in_message) {
        stop_behind(pausing, passage);
    }
    for (guint i = 0; i < RS_N_STOPPERS; i++) {
        if (passage->stops[i] == NULL) {
            continue;
        }
        rs_held *held = &passage->stops[i]->held;
        rs_pause_watch *watch = watch_of(pausing, held->pause);
        g_ptr_array_add(watch->passages, passage);
        if (passage->in_message) {
            rs_held_end(held, pausing->tracker);
            watch->in_message = TRUE;
        }
        if (held->stops > 0) {
            guint8 class = roce_tracker_pause(pausing->tracker, held->pause)->priority;
            guint bits = class == ROCE_PRIORITY_GLOBAL ? 0xff : 1u << class;
            guint8 *known = rs_byte_of(pausing->held, passage->stream);
            *known = (guint8)(*known | bits);
        }
    }
}

/* From the first packet to the last of all points of its file. */
static guint64
find_span_ns(const rs_pausing *pausing, const roce_pause_source *p)
{
    const rs_points *points = pausing->analysis->points;
    guint file_i = rs_points_at(points, p->point)->file_i;
    guint64 first_ns = G_MAXUINT64;
    guint64 newest_ns = p->n_intervals > 0 ? p->newest.end_ns : 0;
    for (guint i = 0; i < rs_points_n(points); i++) {
        const rs_point *point = rs_points_at(points, i);
        if (point->file_i == file_i && point->packets > 0) {
            first_ns = MIN(first_ns, point->first_ns);
            newest_ns = MAX(newest_ns, point->newest_ns);
        }
    }
    guint64 span_ns = newest_ns > first_ns ? newest_ns - first_ns : 0;
    return MAX(span_ns, p->total_ns); /* a clock may step back */
}

void
rs_pausing_finish(rs_pausing *pausing)
{
    guint32 n = roce_tracker_n_pauses(pausing->tracker);
    for (guint32 i = 0; i < n; i++) {
        rs_pause_watch *watch = watch_of(pausing, i);
        const roce_pause_source *p = roce_tracker_pause(pausing->tracker, i);
        take_interval(pausing, watch, p);
        watch->span_ns = find_span_ns(pausing, p);
        rs_holds_end(&watch->holds, pausing->presets, pausing->n_presets);
    }
    rs_passages_find_firsts(pausing->passages);
    for (guint i = 0; i < rs_passages_n(pausing->passages); i++) {
        finish_passage(pausing, rs_passages_at(pausing->passages, i));
    }
    for (guint32 i = 0; i < n; i++) {
        rs_pause_watch *watch = watch_of(pausing, i);
        g_ptr_array_sort_with_data(watch->passages, longest_held_first, &i);
        if (watch->in_message) {
            rs_held_begin_behind(&watch->held, roce_tracker_pause(pausing->tracker, i),
                                 i);
            rs_held_end(&watch->held, pausing->tracker);
        }
    }
    pausing->tree = rs_pause_tree_new(pausing, pausing->tracker);
    pausing->orders = rs_pause_orders_new(pausing, pausing->tracker);
}

/* ---- what was found ---- */

const rs_pause_watch *
rs_pausing_watch(const rs_pausing *pausing, guint32 pause)
{
    return g_ptr_array_index(pausing->watches, pause);
}

rs_sender
rs_pausing_sender(const rs_pausing *pausing, guint32 pause,
                  rs_sender_evidence *evidence)
{
    const rs_pause_watch *watch = rs_pausing_watch(pausing, pause);
    *evidence = RS_SENDER_BY_NOTHING;
    return watch->mac == NULL ? RS_SENDER_UNKNOWN
                              : rs_macs_sender(pausing->macs, watch->mac, evidence);
}

gboolean
rs_pausing_shows_way(const rs_pausing *pausing, const roce_stream *stream)
{
    const rs_twins *twins = pausing->analysis->twins;
    if (twins == NULL || !rs_twins_complete(twins)) {
        return !stream->partial_path;
    }
    return rs_twins_only_here(twins, stream->id) * 2 <= stream->packets;
}

gboolean
rs_pausing_is_one_port(const rs_pausing *pausing, guint32 pause)
{
    rs_sender_evidence evidence;
    return rs_pausing_sender(pausing, pause, &evidence) != RS_SENDER_AMBIGUOUS;
}

guint8
rs_pausing_held(const rs_pausing *pausing, guint32 stream)
{
    return stream < pausing->held->len ? pausing->held->data[stream] : 0;
}

gboolean
rs_pausing_knows_victims(const rs_pausing *pausing, guint32 pause)
{
    const rs_pause_watch *watch = rs_pausing_watch(pausing, pause);
    return (watch->packets > 0 || watch->passages->len > 0) &&
           rs_pausing_is_one_port(pausing, pause);
}

/* Of a host that bridges connect to others, all other ends are hosts as well. */
static gboolean
is_router(const rs_macs *macs, const rs_mac *mac)
{
    rs_sender_evidence evidence;
    rs_sender sender = rs_macs_sender(macs, mac, &evidence);
    return sender == RS_SENDER_NETWORK || sender == RS_SENDER_AMBIGUOUS;
}

/* The MAC address that no packet has and that pauses the same at a point; NULL: none, or
 * several. */
static const rs_mac *
stranger_at(const rs_pausing *pausing, guint32 point, const roce_pause_source *p)
{
    guint32 pause =
        point < pausing->strangers->len
            ? g_array_index(pausing->strangers, strangers, point).pause[p->priority]
            : 0;
    if (pause == 0 || pause == SEVERAL) {
        return NULL;
    }
    const rs_mac *mac = rs_pausing_watch(pausing, pause - 1)->mac;
    return mac->in_ip ? NULL : mac;
}

const rs_mac *
rs_pausing_partner(const rs_pausing *pausing, guint32 pause)
{
    const rs_mac *mac = rs_pausing_watch(pausing, pause)->mac;
    if (mac == NULL) {
        return NULL;
    }
    if (!mac->in_ip) {
        return rs_macs_stopped_end(pausing->macs, mac->point);
    }
    const rs_mac *stranger =
        stranger_at(pausing, mac->point, roce_tracker_pause(pausing->tracker, pause));
    if (stranger != NULL && rs_macs_stopped_end(pausing->macs, mac->point) == mac) {
        return stranger;
    }
    if (mac->partner == NULL || mac->several_partners) {
        return NULL;
    }
    gboolean routed =
        is_router(pausing->macs, mac) || is_router(pausing->macs, mac->partner);
    return routed ? mac->partner : NULL;
}

const rs_spills *
rs_pausing_spills(const rs_pausing *pausing)
{
    return pausing->spills;
}

const rs_pause_marks *
rs_pausing_marks(const rs_pausing *pausing, guint32 stream)
{
    static const rs_pause_marks none;
    return stream < pausing->marks->len
               ? &g_array_index(pausing->marks, rs_pause_marks, stream)
               : &none;
}

const rs_macs *
rs_pausing_macs(const rs_pausing *pausing)
{
    return pausing->macs;
}

const rs_passages *
rs_pausing_passages(const rs_pausing *pausing)
{
    return pausing->passages;
}

const rs_watchdog_preset *
rs_pausing_presets(const rs_pausing *pausing, guint *n)
{
    *n = pausing->n_presets;
    return pausing->presets;
}

const rs_pause_tree *
rs_pausing_tree(const rs_pausing *pausing)
{
    return pausing->tree;
}

const rs_pause_order *
rs_pausing_order(const rs_pausing *pausing, guint32 pause)
{
    return &g_array_index(pausing->orders, rs_pause_order, pause);
}

guint64
rs_pausing_overflow(const rs_pausing *pausing)
{
    return rs_passages_overflow(pausing->passages) + pausing->overflow;
}
