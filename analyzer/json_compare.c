/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "json_compare.h"

#include "format.h"
#include "json_capture.h"
#include "json_parts.h"

#include "roce/opcode.h"

static json_t *
known_integer(gint64 n, gboolean known)
{
    return known ? json_integer(n) : json_null();
}

static json_t *
frames_json(const rs_frames *frames)
{
    json_t *json = json_array();
    for (guint i = 0; i < rs_frames_kept(frames); i++) {
        json_array_append_new(json, rs_json_count(frames->first[i]));
    }
    return json;
}

static json_t *
point_json(const rs_compare *compare, guint i)
{
    const rs_compare_point *point = rs_compare_point_at(compare, i);
    const rs_compare_source *source = rs_compare_source_of(compare, i);
    gboolean timed = point->packets > 0 && rs_compare_source_has_stamps(source);
    json_t *json = json_object();
    json_object_set_new(json, "id", rs_json_count(i));
    json_object_set_new(json, "name", rs_json_text(point->given));
    json_object_set_new(json, "file", rs_json_text(point->path));
    json_object_set_new(json, "interface", rs_json_text(point->interface));
    json_object_set_new(json, "format", rs_json_text(source->format));
    json_object_set_new(json, "packets", rs_json_count(point->packets));
    json_object_set_new(json, "roce_packets", rs_json_count(point->roce_packets));
    json_object_set_new(json, "bytes", rs_json_count(point->bytes));
    json_object_set_new(json, "first_ts_ns", rs_json_known(point->first_ns, timed));
    json_object_set_new(json, "last_ts_ns", rs_json_known(point->last_ns, timed));
    json_object_set_new(json, "time_steps_back", rs_json_count(point->steps_back));
    json_object_set_new(json, "dropped_by_capture",
                        rs_json_known(point->dropped, point->dropped_known));
    json_object_set_new(json, "missed", rs_json_count(compare->missed[i]));
    json_object_set_new(json, "capture_duplicates",
                        rs_json_count(point->capture_duplicates));
    json_object_set_new(json, "seen_at_several_interfaces",
                        rs_json_count(compare->path->seen_inside[i]));
    json_object_set_new(json, "damaged_at",
                        known_integer(source->damaged_at, source->damaged_at >= 0));
    json_object_set_new(json, "error", rs_json_text(source->error));
    return json;
}

/* ---- segments ---- */

static json_t *
steps_json(const rs_clock_fit *fit)
{
    json_t *json = json_array();
    for (guint i = 0; i < fit->n_steps; i++) {
        json_t *step = json_object();
        json_object_set_new(step, "time_ns", json_integer(fit->steps[i].at_ns));
        json_object_set_new(step, "by_ns", json_integer(fit->steps[i].by_ns));
        json_array_append_new(json, step);
    }
    return json;
}

static const char *
clock_source(const rs_compare_segment *segment)
{
    if (segment->one_clock) {
        return "one_file";
    }
    return !segment->clock.known      ? "unknown"
           : segment->clock.both_ways ? "both_directions"
                                      : "one_direction";
}

static json_t *
clock_json(const rs_compare_segment *segment)
{
    const rs_clock_fit *fit = &segment->clock;
    gboolean known = fit->known;
    gboolean both = known && fit->both_ways;
    json_t *json = json_object();
    json_object_set_new(json, "offset_ns", known_integer(fit->offset_ns, known));
    json_object_set_new(
        json, "offset_uncertainty_ns",
        rs_json_known(fit->uncertainty_ns, both || (known && segment->one_clock)));
    json_object_set_new(json, "drift_ppb",
                        known_integer(fit->drift_ppb, known && fit->drift_known));
    json_object_set_new(
        json, "drift_uncertainty_ppb",
        rs_json_known(fit->drift_uncertainty_ppb, known && fit->drift_known));
    json_object_set_new(json, "by", json_string(clock_source(segment)));
    json_object_set_new(json, "matches",
                        rs_json_count(fit->packets[0] + fit->packets[1]));
    json_object_set_new(json, "residual_ns", rs_json_known(fit->residual_ns, known));
    json_object_set_new(json, "least_round_trip_ns",
                        rs_json_known(fit->round_trip_ns, both));
    json_object_set_new(json, "steps", steps_json(fit));
    return json;
}

static json_t *
rewrites_json(const rs_compare_evidence *seen)
{
    json_t *json = json_array();
    for (guint from = 0; from < RS_PATH_DSCPS; from++) {
        for (guint to = 0; to < RS_PATH_DSCPS; to++) {
            if (seen->rewrites[from][to] > 0) {
                json_t *row = json_object();
                json_object_set_new(row, "from", rs_json_count(from));
                json_object_set_new(row, "to", rs_json_count(to));
                json_object_set_new(row, "packets",
                                    rs_json_count(seen->rewrites[from][to]));
                json_array_append_new(json, row);
            }
        }
    }
    return json;
}

static json_t *
loss_json(const rs_compare *compare, const rs_path_loss *loss)
{
    const rs_flow *flow = g_ptr_array_index(compare->path->flows, loss->flow);
    g_autofree char *src = rs_format_addr(&flow->src);
    g_autofree char *dst = rs_format_addr(&flow->dst);
    gboolean timed =
        rs_compare_source_has_stamps(rs_compare_source_of(compare, loss->point));
    json_t *frames = json_array();
    for (guint i = 0; i < compare->points->len; i++) {
        json_array_append_new(frames,
                              rs_json_known(loss->frames[i], loss->frames[i] != 0));
    }
    json_t *json = json_object();
    json_object_set_new(json, "stream", rs_json_count(loss->flow));
    json_object_set_new(json, "src", json_string(src));
    json_object_set_new(json, "dst", json_string(dst));
    json_object_set_new(json, "dst_qpn", rs_json_count(flow->dst_qpn));
    json_object_set_new(json, "psn", rs_json_count(loss->psn24));
    json_object_set_new(json, "opcode",
                        json_string(roce_opcode_get(loss->opcode)->name));
    json_object_set_new(json, "last_seen_at", rs_json_count(loss->point));
    json_object_set_new(json, "frame", rs_json_count(loss->frames[loss->point]));
    json_object_set_new(json, "frames", frames);
    json_object_set_new(json, "time_ns", rs_json_known(loss->stamp_ns, timed));
    json_object_set_new(json, "sent_again",
                        json_boolean(rs_loss_was_resent(loss->state)));
    json_object_set_new(json, "ambiguous", json_boolean(loss->ambiguous));
    return json;
}

static json_t *
losses_json(const rs_compare *compare, const rs_compare_segment *segment)
{
    g_autoptr(GPtrArray) losses =
        rs_compare_losses(compare, segment, RS_COMPARE_LOSSES);
    json_t *json = json_array();
    for (guint i = 0; i < losses->len; i++) {
        json_array_append_new(json, loss_json(compare, g_ptr_array_index(losses, i)));
    }
    return json;
}

static void
set_counts(json_t *json, const rs_compare_segment *s)
{
    const struct {
        const char *name;
        guint64 n;
        gboolean known;
    } counts[] = {
        {"lost", s->lost, s->loss_known},
        {"lost_sent_again", s->lost_resent, s->loss_known},
        {"lost_round", s->lost_round, s->loss_known},
        {"undecidable", s->undecidable, s->loss_known},
        {"ambiguous", s->ambiguous, s->known},
        {"marked", s->marked, s->known},
        {"ecn_changed_otherwise", s->ecn_other, s->known},
        {"reordered", s->reordered, s->known},
        {"duplicated", s->duplicated, s->known},
        {"duplicated_or_missed", s->duplicated_or_missed, s->known},
        {"dscp_rewritten", s->rewritten, s->known},
        {"corrupted", s->corrupted, s->known},
        {"hop_limit_rose", s->hops_rose, s->known},
        {"outside_common_time", s->outside, s->loss_known},
        {"slipped_out_of_window", s->slipped, s->loss_known},
    };
    json_object_set_new(json, "matched", rs_json_count(s->matched));
    json_object_set_new(json, "matched_weakly", rs_json_count(s->weak));
    for (guint i = 0; i < G_N_ELEMENTS(counts); i++) {
        json_object_set_new(json, counts[i].name,
                            rs_json_known(counts[i].n, counts[i].known));
    }
    json_t *missed = json_object();
    json_object_set_new(missed, "from", rs_json_known(s->missed_from, s->known));
    json_object_set_new(missed, "to", rs_json_known(s->missed_to, s->loss_known));
    json_object_set_new(json, "missed_by_capture", missed);
}

static json_t *
evidence_json(const rs_compare_evidence *seen)
{
    const struct {
        const char *name;
        const rs_frames *frames;
    } rows[] = {
        {"marked", &seen->frames[RS_TRACE_MARKED]},
        {"reordered", &seen->reordered},
        {"duplicated", &seen->frames[RS_TRACE_DUPLICATED]},
        {"dscp_rewritten", &seen->frames[RS_TRACE_REWRITTEN]},
        {"corrupted", &seen->frames[RS_TRACE_CORRUPTED]},
        {"missed_by_from", &seen->frames[RS_TRACE_APPEARED]},
    };
    json_t *json = json_object();
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        json_object_set_new(json, rows[i].name, frames_json(rows[i].frames));
    }
    return json;
}

static json_t *
segment_json(const rs_compare *compare, const rs_compare_segment *s)
{
    rs_compare_evidence seen;
    rs_compare_evidence_of(compare, s, &seen);
    g_autofree char *filter = rs_compare_filter_of_losses(compare, s);
    json_t *json = json_object();
    json_object_set_new(json, "from", rs_json_count(s->from));
    json_object_set_new(json, "to", rs_json_count(s->to));
    json_object_set_new(json, "from_name",
                        rs_json_text(rs_compare_point_at(compare, s->from)->given));
    json_object_set_new(json, "to_name",
                        rs_json_text(rs_compare_point_at(compare, s->to)->given));
    set_counts(json, s);
    json_object_set_new(json, "clock", clock_json(s));
    json_object_set_new(json, "delay_variation_ns", rs_json_spread(&s->variation));
    gint64 edge_ns = s->clock.edge_ns[s->way == RS_WAY_FORWARD ? 0 : 1];
    gint64 least_ns = s->way == RS_WAY_FORWARD ? edge_ns : -edge_ns;
    json_object_set_new(
        json, "least_delay_ns",
        known_integer(least_ns, s->one_clock && s->clock.known && s->matched > 0));
    json_object_set_new(json, "dscp_rewrites", rewrites_json(&seen));
    json_object_set_new(json, "lost_packets", losses_json(compare, s));
    json_object_set_new(json, "lost_filter", rs_json_text(filter));
    json_object_set_new(json, "frames_at_to", evidence_json(&seen));
    return json;
}

/* ---- streams ---- */

static json_t *
part_json(const rs_compare_segment *part)
{
    json_t *json = json_object();
    json_object_set_new(json, "from", rs_json_count(part->from));
    json_object_set_new(json, "to", rs_json_count(part->to));
    set_counts(json, part);
    return json;
}

static json_t *
flow_json(const rs_compare *compare, const rs_flow *flow)
{
    g_autofree char *src = rs_format_addr(&flow->src);
    g_autofree char *dst = rs_format_addr(&flow->dst);
    json_t *packets = json_array();
    json_t *firsts = json_array();
    json_t *parts = json_array();
    gboolean compared = rs_flow_is_compared(flow, compare->points->len);
    for (guint i = 0; i < compare->points->len; i++) {
        guint64 first = flow->first_frame[i];
        json_array_append_new(packets, rs_json_count(flow->point[i].packets));
        json_array_append_new(firsts, rs_json_known(first, first != 0));
    }
    for (guint i = 0; compared && i < compare->segments->len; i++) {
        const rs_compare_segment *s = rs_compare_segment_at(compare, i);
        if (s->way == flow->way) {
            rs_compare_segment part;
            rs_compare_flow_segment(compare, flow, s, &part);
            json_array_append_new(parts, part_json(&part));
        }
    }
    const char *way = flow->way == RS_WAY_FORWARD ? "forward" : "backward";
    json_t *json = json_object();
    json_object_set_new(json, "id", rs_json_count(flow->id));
    json_object_set_new(json, "src", json_string(src));
    json_object_set_new(json, "dst", json_string(dst));
    json_object_set_new(json, "dst_qpn", rs_json_count(flow->dst_qpn));
    json_object_set_new(json, "compared", json_boolean(compared));
    json_object_set_new(json, "direction", rs_json_text(compared ? way : NULL));
    json_object_set_new(json, "direction_by",
                        rs_json_text(compared ? rs_way_by_name(flow->way_by) : NULL));
    json_object_set_new(json, "packets", packets);
    json_object_set_new(json, "first_frames", firsts);
    json_object_set_new(json, "segments", parts);
    return json;
}

json_t *
rs_json_compare(const rs_compare *compare)
{
    json_t *points = json_array();
    json_t *segments = json_array();
    json_t *streams = json_array();
    for (guint i = 0; i < compare->points->len; i++) {
        json_array_append_new(points, point_json(compare, i));
    }
    for (guint i = 0; i < compare->segments->len; i++) {
        json_array_append_new(segments,
                              segment_json(compare, rs_compare_segment_at(compare, i)));
    }
    for (guint i = 0; i < compare->path->flows->len; i++) {
        json_array_append_new(
            streams, flow_json(compare, g_ptr_array_index(compare->path->flows, i)));
    }
    json_t *alone = json_object();
    json_object_set_new(alone, "streams", rs_json_count(compare->alone_flows));
    json_object_set_new(alone, "packets", rs_json_count(compare->alone_packets));
    json_t *json = json_object();
    json_object_set_new(json, "schema_version", json_integer(1));
    json_object_set_new(json, "tool", rs_json_tool());
    json_object_set_new(json, "points", points);
    json_object_set_new(json, "segments", segments);
    json_object_set_new(json, "streams", streams);
    json_object_set_new(json, "seen_at_one_point_only", alone);
    json_object_set_new(json, "untracked_packets",
                        rs_json_count(compare->path->untracked_packets));
    return json;
}

void
rs_report_compare_json(FILE *out, const rs_compare *compare)
{
    json_t *json = rs_json_compare(compare);
    (void)json_dumpf(json, out, JSON_INDENT(2) | JSON_PRESERVE_ORDER);
    fputc('\n', out);
    json_decref(json);
}

char *
rs_compare_filter_of_losses(const rs_compare *compare,
                            const rs_compare_segment *segment)
{
    g_autoptr(GPtrArray) losses = rs_compare_losses(compare, segment, G_MAXINT);
    rs_frames frames = {0};
    for (guint i = 0; i < losses->len; i++) {
        const rs_path_loss *loss = g_ptr_array_index(losses, i);
        if (loss->point == segment->from) {
            rs_frames_keep(&frames, loss->frames[loss->point]);
        }
    }
    return frames.total > 0
               ? rs_format_frame_filter(frames.first, rs_frames_kept(&frames))
               : NULL;
}
