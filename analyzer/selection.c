/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "selection.h"

#include "error.h"
#include "findings.h"
#include "keys.h"
#include "withdrawn.h"

#include <string.h>

/* What is wanted of a stream. */
enum wanted {
    WANTED_WHOLE = 1, /* all of its packets */
    WANTED_CNPS = 2,  /* those about its data: its connection is wanted */
};

/* A selection as it is made. */
typedef struct selecting {
    const rs_wish *wish;
    const rs_report *report;
    rs_trace *trace;
    guint8 *wanted; /* by stream: enum wanted */
} selecting;

/* ---- What the user asks for ---- */

void
rs_wish_init(rs_wish *wish)
{
    *wish = (rs_wish){
        .streams = g_array_new(FALSE, FALSE, sizeof(guint64)),
        .connections = g_array_new(FALSE, FALSE, sizeof(guint64)),
        .findings = g_ptr_array_new_with_free_func(g_free),
        .frames = g_array_new(FALSE, FALSE, sizeof(guint64)),
        .context = {.packets = RS_CONTEXT_PACKETS},
    };
}

void
rs_wish_clear(rs_wish *wish)
{
    g_array_unref(wish->streams);
    g_array_unref(wish->connections);
    g_ptr_array_unref(wish->findings);
    g_array_unref(wish->frames);
}

gboolean
rs_context_parse(const char *text, rs_context *context)
{
    static const struct {
        const char *name;
        double ns;
    } units[] = {{"ns", 1}, {"us", 1e3}, {"µs", 1e3}, {"ms", 1e6}, {"s", 1e9}};
    *context = (rs_context){0};
    if (g_ascii_string_to_unsigned(text, 10, 0, G_MAXUINT32, &context->packets, NULL)) {
        return TRUE;
    }
    char *unit;
    double value = g_ascii_strtod(text, &unit);
    for (gsize i = 0; i < G_N_ELEMENTS(units); i++) {
        if (g_ascii_isdigit(*text) && g_str_equal(unit, units[i].name) &&
            value * units[i].ns < 1e18) {
            context->by_time = TRUE;
            context->ns = (guint64)(value * units[i].ns + 0.5);
            return TRUE;
        }
    }
    return FALSE;
}

/* ---- Frames and streams that are wanted ---- */

static void
mark(const selecting *s, guint64 frame, guint32 flags)
{
    if (frame != 0 && frame <= rs_trace_last_frame(s->trace)) {
        rs_trace_row *row = rs_trace_at(s->trace, frame);
        row->flags |= row->flags != 0 ? flags : 0;
    }
}

static void
choose(const selecting *s, guint64 frame)
{
    mark(s, frame, RS_TRACE_CHOSEN);
}

static void
name_frame(const selecting *s, guint64 frame)
{
    mark(s, frame, RS_TRACE_NAMED | RS_TRACE_CHOSEN);
}

static gboolean
is_wanted(const selecting *s, guint32 stream, enum wanted how)
{
    return stream != ROCE_NO_STREAM && (s->wanted[stream] & how) != 0;
}

/* All packets of streams, and CNPs about the data of connections, which a switch may have
 * sent. */
static void
choose_wanted(const selecting *s)
{
    for (guint64 i = 1; i <= rs_trace_last_frame(s->trace); i++) {
        rs_trace_row *row = rs_trace_at(s->trace, i);
        if ((row->flags & RS_TRACE_TRACKED) != 0 &&
            is_wanted(s, row->stream, WANTED_WHOLE)) {
            row->flags |= RS_TRACE_CHOSEN;
        }
    }
    for (guint64 i = 0; i < rs_trace_n_events(s->trace); i++) {
        const roce_event *event = rs_trace_event(s->trace, i);
        if (event->kind == ROCE_EVENT_CNP && is_wanted(s, event->stream, WANTED_CNPS)) {
            choose(s, event->frame);
        }
    }
}

/* ---- Streams and connections ---- */

static gboolean
unknown(GError **error, const char *option, guint64 id, const char *what, guint64 n)
{
    g_set_error(error, RS_ERROR, RS_ERROR_USAGE,
                "%s %" G_GUINT64_FORMAT
                ": there is no such %s; the report has %" G_GUINT64_FORMAT
                " of them, counted from 0",
                option, id, what, n);
    return FALSE;
}

static gboolean
want_streams(const selecting *s, GError **error)
{
    const guint32 n = roce_tracker_n_streams(s->report->analysis->tracker);
    for (guint i = 0; i < s->wish->streams->len; i++) {
        guint64 id = g_array_index(s->wish->streams, guint64, i);
        if (id >= n) {
            return unknown(error, "--stream", id, "stream", n);
        }
        s->wanted[id] |= WANTED_WHOLE;
    }
    return TRUE;
}

/* Whether a message is of the exchange that set a connection up or took it down. */
static gboolean
is_of_exchange(const rs_trace_cm *cm, const roce_connection *c)
{
    if (roce_addr_equal(&cm->src, &c->addr[0]) &&
        roce_addr_equal(&cm->dst, &c->addr[1]) && cm->local_comm_id == c->comm_id[0]) {
        return TRUE;
    }
    return roce_addr_equal(&cm->src, &c->addr[1]) &&
           roce_addr_equal(&cm->dst, &c->addr[0]) &&
           cm->remote_comm_id == c->comm_id[0];
}

static void
choose_exchange(const selecting *s, const roce_connection *connection)
{
    const GArray *cms = rs_trace_cms(s->trace);
    for (guint i = 0; i < cms->len; i++) {
        const rs_trace_cm *cm = &g_array_index(cms, rs_trace_cm, i);
        if (is_of_exchange(cm, connection)) {
            choose(s, cm->frame);
        }
    }
}

static void
want_link(const selecting *s, const rs_link *link)
{
    /* One without streams was never more than its set-up. */
    gboolean known = link->streams->len > 0;
    for (guint i = 0; i < link->streams->len; i++) {
        guint32 id = g_array_index(link->streams, guint32, i);
        known = known && is_wanted(s, id, WANTED_CNPS);
        s->wanted[id] |= WANTED_WHOLE | WANTED_CNPS;
    }
    if (!known && link->cm != NULL) {
        choose_exchange(s, link->cm);
    }
}

static gboolean
want_connections(const selecting *s, GError **error)
{
    const GPtrArray *links = s->report->summary->links;
    for (guint i = 0; i < s->wish->connections->len; i++) {
        guint64 id = g_array_index(s->wish->connections, guint64, i);
        if (id >= links->len) {
            return unknown(error, "--connection", id, "connection", links->len);
        }
        want_link(s, g_ptr_array_index(links, id));
    }
    return TRUE;
}

/* ---- Findings, and around a frame ---- */

static gboolean
array_has(const GArray *numbers, guint32 wanted)
{
    for (guint i = 0; i < numbers->len; i++) {
        if (g_array_index(numbers, guint32, i) == wanted) {
            return TRUE;
        }
    }
    return FALSE;
}

/* The frames of events that show the finding: all of them, not only those that were
 * kept. */
static void
name_events(const selecting *s, const rs_finding *finding)
{
    g_autoptr(GHashTable) streams = g_hash_table_new(NULL, NULL);
    for (guint i = 0; i < finding->streams->len; i++) {
        guint32 id = g_array_index(finding->streams, guint32, i);
        (void)g_hash_table_add(streams, GUINT_TO_POINTER(id));
    }
    g_autoptr(GHashTable) withdrawn = rs_withdrawn_of(s->trace);
    for (guint64 i = 0; i < rs_trace_n_events(s->trace); i++) {
        const roce_event *event = rs_trace_event(s->trace, i);
        if (!g_hash_table_contains(withdrawn, &i) &&
            array_has(finding->kinds, rs_evidence_kind_of(event)) &&
            g_hash_table_contains(streams, GUINT_TO_POINTER(event->stream))) {
            name_frame(s, event->frame);
            name_frame(s, event->related_frame);
        }
    }
}

static void
want_streams_of(const selecting *s, const rs_finding *finding)
{
    const rs_summary *summary = s->report->summary;
    for (guint i = 0; i < finding->streams->len; i++) {
        guint32 id = g_array_index(finding->streams, guint32, i);
        guint32 link = g_array_index(summary->link_of, guint32, id);
        if (link != G_MAXUINT32) {
            want_link(s, g_ptr_array_index(summary->links, link));
        }
        s->wanted[id] |= WANTED_WHOLE;
    }
}

/* All packets of its streams, without what answers them. */
static void
want_whole(const selecting *s, const rs_finding *finding)
{
    for (guint i = 0; i < finding->streams->len; i++) {
        s->wanted[g_array_index(finding->streams, guint32, i)] |= WANTED_WHOLE;
    }
}

static void
want_finding(const selecting *s, const rs_finding *finding)
{
    for (guint i = 0; i < finding->shown_by->len; i++) {
        name_frame(s, g_array_index(finding->shown_by, guint64, i));
    }
    if (finding->kinds->len > 0) {
        name_events(s, finding);
    }
    if (finding->shown_by->len == 0) {
        want_streams_of(s, finding);
    } else if (finding->kinds->len == 0 && finding->not_all_kept) {
        want_whole(s, finding); /* no event tells which others show it */
    }
}

static const rs_finding *
find_finding(const rs_report *report, const char *id)
{
    for (guint i = 0; i < report->findings->len; i++) {
        const rs_finding *finding = g_ptr_array_index(report->findings, i);
        if (g_str_equal(finding->id, id)) {
            return finding;
        }
    }
    return NULL;
}

static gboolean
want_findings(const selecting *s, GError **error)
{
    for (guint i = 0; i < s->wish->findings->len; i++) {
        const char *id = g_ptr_array_index(s->wish->findings, i);
        const rs_finding *finding = find_finding(s->report, id);
        if (finding == NULL) {
            g_set_error(error, RS_ERROR, RS_ERROR_USAGE,
                        "--finding %s: there is no such finding; reports have the "
                        "id of each",
                        id);
            return FALSE;
        }
        want_finding(s, finding);
    }
    return TRUE;
}

static gboolean
want_frames(const selecting *s, GError **error)
{
    const guint64 last = s->report->analysis->packets;
    for (guint i = 0; i < s->wish->frames->len; i++) {
        guint64 frame = g_array_index(s->wish->frames, guint64, i);
        if (frame == 0 || frame > last) {
            g_set_error(error, RS_ERROR, RS_ERROR_USAGE,
                        "--around %" G_GUINT64_FORMAT
                        ": there is no such frame; they count from 1 to "
                        "%" G_GUINT64_FORMAT,
                        frame, last);
            return FALSE;
        }
        name_frame(s, frame);
    }
    return TRUE;
}

/* ---- Near what was named ---- */

/* What a frame belongs to: the same number for all frames that are near one another. */
static guint64
group_of(const selecting *s, const rs_trace_row *row)
{
    enum {
        LINK,
        STREAM,
        POINT
    };
    if (row->stream == ROCE_NO_STREAM) {
        return rs_key_of(POINT, row->point);
    }
    guint32 link = g_array_index(s->report->summary->link_of, guint32, row->stream);
    return link != G_MAXUINT32 ? rs_key_of(LINK, link) : rs_key_of(STREAM, row->stream);
}

/* A group of which something was named: how much is still near to it. */
typedef struct vicinity {
    guint64 packets;
    guint64 named_ns;
} vicinity;

static gboolean
is_near(const rs_context *context, vicinity *v, guint64 time_ns)
{
    if (context->by_time) {
        return MAX(time_ns, v->named_ns) - MIN(time_ns, v->named_ns) <= context->ns;
    }
    if (v->packets == 0) {
        return FALSE;
    }
    v->packets--;
    return TRUE;
}

static void
pass_frame(const selecting *s, GHashTable *groups, rs_trace_row *row)
{
    if ((row->flags & (RS_TRACE_TRACKED | RS_TRACE_NAMED)) == 0) {
        return;
    }
    const rs_context *context = &s->wish->context;
    guint64 group = group_of(s, row);
    vicinity *v = rs_keys_find(groups, group);
    if ((row->flags & RS_TRACE_NAMED) != 0) {
        if (v == NULL) {
            v = g_new0(vicinity, 1);
            (void)rs_keys_insert(groups, group, v);
        }
        *v = (vicinity){context->packets, row->time_ns};
    } else if (v != NULL && is_near(context, v, row->time_ns)) {
        row->flags |= RS_TRACE_CHOSEN;
    }
}

/* Once from the first frame to the last for what follows, once back for what precedes. */
static void
choose_near(const selecting *s)
{
    const guint64 last = rs_trace_last_frame(s->trace);
    for (guint direction = 0; direction < 2; direction++) {
        g_autoptr(GHashTable) groups = rs_keys_new(g_free);
        for (guint64 i = 1; i <= last; i++) {
            guint64 frame = direction == 0 ? i : last + 1 - i;
            pass_frame(s, groups, rs_trace_at(s->trace, frame));
        }
    }
}

/* ---- All together ---- */

static gboolean
names_something(const rs_wish *wish)
{
    return wish->streams->len > 0 || wish->connections->len > 0 ||
           wish->findings->len > 0 || wish->frames->len > 0;
}

/* Time cuts what was named; by itself it names everything. */
static void
cut_time(const selecting *s)
{
    guint64 from_ns;
    guint64 to_ns;
    rs_time_range_of(&s->wish->time, s->report->analysis->first_ns, &from_ns, &to_ns);
    const gboolean everything = !names_something(s->wish);
    for (guint64 i = 1; i <= rs_trace_last_frame(s->trace); i++) {
        rs_trace_row *row = rs_trace_at(s->trace, i);
        if (everything && row->flags != 0) {
            row->flags |= RS_TRACE_CHOSEN;
        }
        if (row->time_ns < from_ns || row->time_ns > to_ns) {
            row->flags &= ~(guint32)RS_TRACE_CHOSEN;
        }
    }
}

gboolean
rs_select_frames(const rs_wish *wish, const rs_report *report, rs_trace *trace,
                 GError **error)
{
    g_autofree guint8 *wanted =
        g_malloc0(roce_tracker_n_streams(report->analysis->tracker) + 1u);
    const selecting s = {wish, report, trace, wanted};
    if (!want_streams(&s, error) || !want_connections(&s, error) ||
        !want_findings(&s, error) || !want_frames(&s, error)) {
        return FALSE;
    }
    choose_wanted(&s);
    choose_near(&s);
    if (wish->has_time) {
        cut_time(&s);
    }
    return TRUE;
}

/* Messages that set connections up follow one another, and none is missed. */
static gboolean
has_sequence(const roce_tracker *tracker, guint32 stream)
{
    return stream != ROCE_NO_STREAM &&
           roce_tracker_stream(tracker, stream)->dst_qpn != ROCE_GSI_QPN;
}

/* Of which it makes a difference whether all is there: the connection of a stream, or the
 * stream where single ones are asked for, as for one direction. */
static guint32
whole_of(const rs_wish *wish, const rs_summary *summary, guint32 stream)
{
    guint32 link = g_array_index(summary->link_of, guint32, stream);
    if (wish->streams->len > 0 || link == G_MAXUINT32) {
        return stream;
    }
    const rs_link *of = g_ptr_array_index(summary->links, link);
    return g_array_index(of->streams, guint32, 0);
}

gboolean
rs_selection_has_gaps(const rs_wish *wish, const rs_report *report,
                      const rs_trace *trace)
{
    enum state {
        NOT_CHOSEN,
        CHOSEN,
        LEFT_OUT, /* behind some that are chosen */
    };
    g_autofree guint8 *states =
        g_malloc0(roce_tracker_n_streams(report->analysis->tracker) + 1u);
    for (guint64 i = 1; i <= rs_trace_last_frame(trace); i++) {
        const rs_trace_row *row = rs_trace_at(trace, i);
        if ((row->flags & RS_TRACE_TRACKED) == 0 ||
            !has_sequence(report->analysis->tracker, row->stream)) {
            continue;
        }
        guint8 *state = &states[whole_of(wish, report->summary, row->stream)];
        gboolean chosen = (row->flags & RS_TRACE_CHOSEN) != 0;
        if (chosen && *state == LEFT_OUT) {
            return TRUE;
        }
        *state = chosen ? CHOSEN : *state == CHOSEN ? LEFT_OUT : *state;
    }
    return FALSE;
}
