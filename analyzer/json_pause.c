/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "json_pause.h"

#include "format.h"
#include "json_parts.h"
#include "pausing.h"
#include "pausing_order.h"

#define STREAMS_LISTED 64 /* of those that one source held, the longest held */

static json_t *
pause_id(guint32 pause)
{
    return rs_json_known(pause, pause != ROCE_NO_PAUSE);
}

/* Whether it is known for how long it paused. */
static gboolean
is_timed(const rs_analysis *a, const roce_pause_source *p)
{
    return p->speed_known && rs_analysis_has_stamps(a);
}

static json_t *
intervals_json(const rs_analysis *a, const roce_pause_source *p,
               const rs_pause_node *node)
{
    static const char *const ends[] = {
        [ROCE_PAUSE_XON] = "xon",
        [ROCE_PAUSE_EXPIRED] = "expired",
        [ROCE_PAUSE_CAPTURE_END] = "capture_end",
    };
    json_t *intervals = json_array();
    guint64 kept = p->n_listed;
    for (guint64 i = 0; i < kept; i++) {
        json_t *one = json_object();
        json_object_set_new(one, "start_ns", rs_json_time(a, p->intervals[i].start_ns));
        json_object_set_new(one, "end_ns", rs_json_time(a, p->intervals[i].end_ns));
        json_object_set_new(one, "end", json_string(ends[p->intervals[i].end]));
        json_object_set_new(
            one, "caused_by",
            pause_id(i < node->n_kept ? node->caused_by[i] : ROCE_NO_PAUSE));
        json_array_append_new(intervals, one);
    }
    return intervals;
}

/* Who it is that pauses. */
static void
set_sender(json_t *json, const rs_analysis *a, guint32 pause)
{
    const roce_pause_source *p = roce_tracker_pause(a->tracker, pause);
    const rs_pausing *pausing = a->watchers.pausing;
    const rs_pause_watch *watch = rs_pausing_watch(pausing, pause);
    g_autofree char *mac = rs_format_mac(p->src_mac);
    rs_sender_evidence evidence;
    rs_sender sender = rs_pausing_sender(pausing, pause, &evidence);
    const char *way = watch->frames_out == 0  ? watch->frames_in > 0 ? "in" : NULL
                      : watch->frames_in == 0 ? "out"
                                              : NULL;
    json_object_set_new(json, "src_mac", json_string(mac));
    json_object_set_new(json, "src_host",
                        rs_json_host(rs_hosts_find_mac(a->told->hosts, p->src_mac)));
    json_object_set_new(json, "direction", rs_json_text(rs_sender_name(sender)));
    json_object_set_new(json, "direction_by",
                        rs_json_text(rs_sender_evidence_name(evidence)));
    json_object_set_new(json, "captured", rs_json_text(way));
}

/* The other end of the link, and how much it pauses itself. */
static void
set_partner(json_t *json, const rs_analysis *a, guint32 pause)
{
    const rs_mac *partner = rs_pausing_partner(a->watchers.pausing, pause);
    guint8 priority = roce_tracker_pause(a->tracker, pause)->priority;
    g_autofree char *mac = partner != NULL ? rs_format_mac(partner->bytes) : NULL;
    json_object_set_new(json, "partner_mac", rs_json_text(mac));
    guint64 total_ns = 0;
    gboolean known = partner != NULL;
    if (known && partner->pauses[priority] != ROCE_NO_PAUSE) {
        const roce_pause_source *its =
            roce_tracker_pause(a->tracker, partner->pauses[priority]);
        total_ns = its->total_ns;
        known = is_timed(a, its);
    }
    json_object_set_new(json, "partner_total_ns", rs_json_known(total_ns, known));
}

static void
set_counts(json_t *json, const rs_analysis *a, guint32 pause)
{
    const roce_pause_source *p = roce_tracker_pause(a->tracker, pause);
    const rs_pause_tree *tree = rs_pausing_tree(a->watchers.pausing);
    guint64 span = rs_pausing_watch(a->watchers.pausing, pause)->span_ns;
    gboolean known = is_timed(a, p);
    json_object_set_new(json, "xoff", rs_json_count(p->xoff));
    json_object_set_new(json, "refresh", rs_json_count(p->refresh));
    json_object_set_new(json, "xon", rs_json_count(p->xon));
    json_object_set_new(json, "expired", rs_json_known(p->expired, known));
    json_object_set_new(json, "intervals",
                        intervals_json(a, p, rs_pause_tree_node(tree, pause)));
    json_object_set_new(json, "n_intervals", rs_json_count(p->n_intervals));
    json_object_set_new(json, "total_ns", rs_json_known(p->total_ns, known));
    json_object_set_new(json, "longest_ns", rs_json_known(p->longest_ns, known));
    json_object_set_new(json, "total_quanta", rs_json_count(p->total_quanta));
    json_object_set_new(json, "paused_share",
                        known && span > 0
                            ? json_real((double)p->total_ns / (double)span)
                            : json_null());
}

static json_t *
watchdogs_json(const rs_pausing *pausing, const rs_holds *holds)
{
    guint n;
    const rs_watchdog_preset *presets = rs_pausing_presets(pausing, &n);
    json_t *all = json_array();
    for (guint i = 0; i < n; i++) {
        const rs_watchdog_rating *rating = &holds->ratings[i];
        json_t *json = json_object();
        json_object_set_new(json, "name", json_string(presets[i].name));
        json_object_set_new(json, "source", json_string(presets[i].source));
        json_object_set_new(json, "detect_ns", rs_json_count(presets[i].detect_ns));
        json_object_set_new(json, "restore_ns", rs_json_count(presets[i].restore_ns));
        json_object_set_new(json, "fired", rs_json_count(rating->fired));
        json_object_set_new(json, "first_fired_ns",
                            rs_json_known(rating->first_fired_ns, rating->fired > 0));
        json_array_append_new(all, json);
    }
    return all;
}

static void
set_lengths(json_t *json, const rs_analysis *a, guint32 pause)
{
    const rs_pause_watch *watch = rs_pausing_watch(a->watchers.pausing, pause);
    const rs_holds *holds = &watch->holds;
    gboolean known = is_timed(a, roce_tracker_pause(a->tracker, pause));
    json_object_set_new(json, "lengths_ns",
                        rs_json_dist(&watch->lengths, a->resolution_ns));
    json_object_set_new(json, "holds", rs_json_known(holds->n, known));
    json_object_set_new(json, "longest_hold_ns",
                        rs_json_known(holds->longest_ns, known));
    json_object_set_new(json, "longest_hold_start_ns",
                        rs_json_known(holds->longest_start_ns, known && holds->n > 0));
    json_object_set_new(json, "watchdogs",
                        known ? watchdogs_json(a->watchers.pausing, holds)
                              : json_null());
}

static json_t *
passages_json(const GPtrArray *passages, guint32 pause)
{
    json_t *streams = json_array();
    guint n = MIN(passages->len, STREAMS_LISTED);
    for (guint i = 0; i < n; i++) {
        const rs_passage *passage = g_ptr_array_index(passages, i);
        const rs_passage_stop *stop = rs_passage_stop_by(passage, pause);
        const rs_held *held = rs_passage_held(passage, pause);
        json_t *json = json_object();
        json_object_set_new(json, "stream", rs_json_count(passage->stream));
        json_object_set_new(json, "packets",
                            rs_json_count(stop != NULL ? stop->packets : 0));
        json_object_set_new(json, "stops", rs_json_count(held->stops));
        json_object_set_new(json, "held_ns", rs_json_count(held->held_ns));
        json_array_append_new(streams, json);
    }
    return streams;
}

/* What it stops; null where that is not known, or nothing of it was seen. */
static json_t *
victims_json(const rs_pausing *pausing, guint32 pause)
{
    const rs_pause_watch *watch = rs_pausing_watch(pausing, pause);
    if (!rs_pausing_knows_victims(pausing, pause)) {
        return json_null();
    }
    json_t *json = json_object();
    json_object_set_new(json, "packets", rs_json_count(watch->packets));
    json_object_set_new(json, "stops", rs_json_count(watch->held.stops));
    json_object_set_new(json, "held_ns", rs_json_count(watch->held.held_ns));
    json_object_set_new(json, "late_packets", rs_json_count(watch->late.total));
    json_object_set_new(json, "late_after_ns", rs_json_count(watch->most_ns));
    json_object_set_new(json, "latest_ns",
                        rs_json_known(watch->latest_ns, watch->late.total > 0));
    json_object_set_new(json, "n_streams", rs_json_count(watch->passages->len));
    json_object_set_new(json, "streams", passages_json(watch->passages, pause));
    return json;
}

/* What its pauses come from. */
static void
set_causes(json_t *json, guint32 pause, const rs_pause_node *node)
{
    json_t *causes = json_array();
    for (guint i = 0; i < node->causes->len; i++) {
        const rs_pause_cause *cause = &g_array_index(node->causes, rs_pause_cause, i);
        json_t *one = json_object();
        json_object_set_new(one, "pause", rs_json_count(cause->pause));
        json_object_set_new(one, "intervals", rs_json_count(cause->intervals));
        json_object_set_new(one, "paused_ns", rs_json_count(cause->paused_ns));
        json_array_append_new(causes, one);
    }
    json_object_set_new(json, "same_as", rs_json_count(node->same_as));
    json_object_set_new(json, "causes", causes);
    json_object_set_new(json, "root", pause_id(node->root));
    json_object_set_new(json, "hops",
                        rs_json_known(node->hops, node->root != ROCE_NO_PAUSE));
    json_object_set_new(json, "bystanders", passages_json(node->bystanders, pause));
}

static json_t *
order_json(const rs_analysis *a, const rs_pause_order *order)
{
    gboolean has_stamps = rs_analysis_has_stamps(a);
    json_t *json = json_object();
    json_object_set_new(json, "first", rs_json_text(rs_first_name(order->first)));
    json_object_set_new(json, "unknown",
                        rs_json_text(rs_order_unknown_name(order->unknown)));
    json_object_set_new(
        json, "pause_ns",
        rs_json_known(order->pause_ns,
                      order->unknown != RS_ORDER_NO_PAUSE && has_stamps));
    json_object_set_new(
        json, "mark_ns",
        rs_json_known(order->mark_ns, order->mark_frame != 0 && has_stamps));
    return json;
}

json_t *
rs_json_pause_cycle(const rs_analysis *a)
{
    const rs_pause_cycle *cycle =
        rs_pause_tree_cycle(rs_pausing_tree(a->watchers.pausing));
    if (cycle == NULL) {
        return json_null();
    }
    json_t *pauses = json_array();
    for (guint i = 0; i < cycle->pauses->len; i++) {
        json_array_append_new(pauses,
                              rs_json_count(g_array_index(cycle->pauses, guint32, i)));
    }
    json_t *json = json_object();
    json_object_set_new(json, "pauses", pauses);
    json_object_set_new(json, "start_ns", rs_json_count(cycle->start_ns));
    json_object_set_new(json, "end_ns", rs_json_count(cycle->end_ns));
    return json;
}

json_t *
rs_json_pause(const rs_analysis *a, guint32 pause)
{
    const roce_pause_source *p = roce_tracker_pause(a->tracker, pause);
    const rs_point *point = rs_analysis_point(a, p->point);
    gboolean global = p->priority == ROCE_PRIORITY_GLOBAL;
    const char *source = !p->speed_known          ? "unknown"
                         : point->speed_from_user ? "user"
                                                  : "capture";
    json_t *json = json_object();
    json_object_set_new(json, "id", rs_json_count(pause));
    json_object_set_new(json, "point", rs_json_count(p->point));
    json_object_set_new(json, "kind", json_string(global ? "802.3x" : "pfc"));
    set_sender(json, a, pause);
    json_object_set_new(json, "priority", rs_json_known(p->priority, !global));
    json_object_set_new(json, "link_speed_bps",
                        rs_json_known(p->link_speed_bps, p->speed_known));
    json_object_set_new(json, "link_speed_source", json_string(source));
    set_partner(json, a, pause);
    set_counts(json, a, pause);
    set_lengths(json, a, pause);
    json_object_set_new(json, "victims", victims_json(a->watchers.pausing, pause));
    json_object_set_new(json, "order",
                        order_json(a, rs_pausing_order(a->watchers.pausing, pause)));
    set_causes(json, pause,
               rs_pause_tree_node(rs_pausing_tree(a->watchers.pausing), pause));
    return json;
}
