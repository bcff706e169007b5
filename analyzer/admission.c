/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "admission.h"

#include "sorting.h"

/* A unit of data, or a signal. */
typedef struct unit {
    guint64 start_ns, end_ns;
    guint64 first_frame;
    guint64 bytes;
} unit;

/* What is set against one another. */
typedef struct match {
    const rs_edges *edges;
    const rs_rhythm *rhythm; /* or NULL */
    const roce_tracker *tracker;
    const rs_edge *back; /* the edge of the signals */
    const rs_edge *data;
    GArray *signals; /* unit, by end */
    GArray *units;   /* unit, by start */
} match;

static const rs_message *
message_at(const GArray *messages, guint i)
{
    return &g_array_index(messages, rs_message, i);
}

static const unit *
unit_at(const GArray *units, guint64 i)
{
    return &g_array_index(units, unit, i);
}

/* ---- streams ---- */

/* The streams of an edge that have signals, at least so many, or that have data; the first
 * RS_ADMISSION_STREAMS of them, guint32, ascending. */
static GArray *
streams_with(const rs_edge *edge, guint32 flag, guint least)
{
    GArray *streams = g_array_new(FALSE, FALSE, sizeof(guint32));
    g_autoptr(GHashTable) counts = g_hash_table_new(NULL, NULL);
    for (guint i = 0; i < edge->messages->len; i++) {
        const rs_message *message = message_at(edge->messages, i);
        if ((message->flags & RS_MESSAGE_SIGNAL) != flag) {
            continue;
        }
        gpointer key = GUINT_TO_POINTER(message->stream + 1);
        guint n = GPOINTER_TO_UINT(g_hash_table_lookup(counts, key)) + 1;
        g_hash_table_insert(counts, key, GUINT_TO_POINTER(n));
        if (n == least && streams->len < RS_ADMISSION_STREAMS) {
            g_array_append_val(streams, message->stream);
        }
    }
    g_array_sort(streams, rs_by_u32);
    return streams;
}

static gboolean
has(GArray *streams, guint32 stream)
{
    return g_array_binary_search(streams, &stream, rs_by_u32, NULL);
}

/* ---- signals and units ---- */

static gint
by_end(gconstpointer a, gconstpointer b)
{
    const unit *x = a;
    const unit *y = b;
    return rs_by_number(x->end_ns, y->end_ns);
}

static gint
by_start(gconstpointer a, gconstpointer b)
{
    const unit *x = a;
    const unit *y = b;
    return rs_by_number(x->start_ns, y->start_ns);
}

static unit
unit_of(const rs_message *message)
{
    return (unit){
        .start_ns = message->start_ns,
        .end_ns = message->end_ns,
        .first_frame = message->first_frame,
        .bytes = message->bytes,
    };
}

static GArray *
signals_of(const rs_edge *edge, GArray *streams)
{
    GArray *signals = g_array_new(FALSE, FALSE, sizeof(unit));
    for (guint i = 0; i < edge->messages->len; i++) {
        const rs_message *message = message_at(edge->messages, i);
        if ((message->flags & RS_MESSAGE_SIGNAL) != 0 &&
            has(streams, message->stream)) {
            const unit signal = unit_of(message);
            g_array_append_val(signals, signal);
        }
    }
    g_array_sort(signals, by_end);
    return signals;
}

static gboolean
ends_with_immediate(const rs_edge *edge, GArray *streams)
{
    guint with = 0;
    guint all = 0;
    for (guint i = 0; i < edge->messages->len; i++) {
        const rs_message *message = message_at(edge->messages, i);
        if ((message->flags & RS_MESSAGE_SIGNAL) == 0 &&
            has(streams, message->stream)) {
            all++;
            with += (message->flags & RS_MESSAGE_IMMEDIATE) != 0 ? 1 : 0;
        }
    }
    return with * 3 >= all; /* a WRITE and its immediate data may be two messages */
}

/* A unit of a stream that has not ended yet. */
typedef struct open_unit {
    gboolean open;
    unit unit;
} open_unit;

/* Takes a message of data in; adds its unit once it has ended. */
static void
add_to_unit(open_unit *open, const rs_message *message, gboolean immediate,
            GArray *units)
{
    if (!open->open) {
        open->unit = unit_of(message);
        open->unit.bytes = 0;
    }
    open->unit.end_ns = message->end_ns;
    open->unit.bytes += message->bytes;
    open->open = immediate && (message->flags & RS_MESSAGE_IMMEDIATE) == 0;
    if (!open->open) {
        g_array_append_val(units, open->unit);
    }
}

static GArray *
units_of(const rs_edge *edge, GArray *streams)
{
    GArray *units = g_array_new(FALSE, FALSE, sizeof(unit));
    gboolean immediate = ends_with_immediate(edge, streams);
    g_autofree open_unit *open = g_new0(open_unit, streams->len);
    for (guint i = 0; i < edge->messages->len; i++) {
        const rs_message *message = message_at(edge->messages, i);
        guint at;
        if ((message->flags & RS_MESSAGE_SIGNAL) == 0 &&
            g_array_binary_search(streams, &message->stream, rs_by_u32, &at)) {
            add_to_unit(&open[at], message, immediate, units);
        }
    }
    g_array_sort(units, by_start);
    return units;
}

/* Puts the parts of units together: so many that follow one another are one. */
static void
join_parts(GArray *units, guint parts)
{
    guint n = 0;
    for (guint i = 0; i < units->len; i++) {
        const unit part = *unit_at(units, i);
        if (i % parts == 0) {
            g_array_index(units, unit, n++) = part;
            continue;
        }
        unit *whole = &g_array_index(units, unit, n - 1);
        whole->end_ns = MAX(whole->end_ns, part.end_ns);
        whole->bytes += part.bytes;
    }
    g_array_set_size(units, n);
}

/* ---- do they keep step? ---- */

/* Finds how many units come before the first signal's, and how far signals are ahead. */
static gboolean
keep_step(const match *m, rs_admission *a)
{
    guint64 seen = 0;
    gint64 before = 0;
    gint64 furthest = 0;
    for (guint j = 0; j < m->units->len; j++) {
        guint64 start = unit_at(m->units, j)->start_ns;
        while (seen < m->signals->len && unit_at(m->signals, seen)->end_ns <= start) {
            seen++;
        }
        gint64 ahead = (gint64)seen - (gint64)j;
        before = MAX(before, 1 - ahead);
        furthest = MAX(furthest, ahead);
    }
    furthest += before;
    if (furthest > RS_ADMISSION_WINDOW || before >= m->units->len) {
        return FALSE;
    }
    a->before = (guint64)before;
    a->window = (guint)furthest;
    a->pairs = MIN(m->units->len - a->before, m->signals->len);
    guint64 left = m->signals->len - a->pairs;
    return a->pairs >= RS_ADMISSION_LEAST && left <= RS_ADMISSION_WINDOW &&
           a->pairs >= (guint64)a->window * a->window;
}

/* Signals admit more than they are: many units may be empty, all together are not. */
static gboolean
admit_more(const match *m)
{
    guint64 data = 0;
    guint64 signals = 0;
    for (guint i = 0; i < m->units->len; i++) {
        data += unit_at(m->units, i)->bytes;
    }
    for (guint i = 0; i < m->signals->len; i++) {
        signals += unit_at(m->signals, i)->bytes;
    }
    return data > signals;
}

/* ---- who waits for whom ---- */

static guint64
prompt_of(const GArray *delays)
{
    guint64 least = G_MAXUINT64;
    for (guint i = 0; i < delays->len; i++) {
        least = MIN(least, g_array_index(delays, guint64, i));
    }
    return MIN(least, RS_ADMISSION_PROMPT_NS) * RS_ADMISSION_PROMPT_TIMES +
           RS_ADMISSION_PROMPT_FLOOR_NS;
}

/* Whether a new iteration begins in between: then nobody had anything to send. */
static gboolean
is_between_iterations(const rs_rhythm *rhythm, guint64 from_ns, guint64 until_ns)
{
    for (guint i = 0; rhythm != NULL && i < rhythm->iterations->len; i++) {
        guint64 start = rs_rhythm_iteration(rhythm, i)->start_ns;
        if (start > from_ns && start <= until_ns) {
            return TRUE;
        }
    }
    return FALSE;
}

static void
judge(const match *m, rs_admission *a)
{
    g_autoptr(GArray) waits = g_array_new(FALSE, FALSE, sizeof(guint64));
    guint64 ended = 0;
    for (guint64 j = 0; j < a->before + a->pairs; j++) {
        const unit *data = unit_at(m->units, j);
        if (j >= a->before && ended > 0) {
            const unit *signal = unit_at(m->signals, j - a->before);
            guint64 wait = signal->end_ns > ended ? signal->end_ns - ended : 0;
            if (wait == 0) {
                a->ahead++;
            } else if (wait < a->prompt_ns * RS_ADMISSION_IDLE_TIMES ||
                       is_between_iterations(m->rhythm, ended, data->start_ns)) {
                a->other++;
            } else if (data->start_ns - signal->end_ns > a->prompt_ns) {
                a->unready++;
            } else {
                a->waited++;
                a->waited_ns += wait;
                g_array_append_val(waits, wait);
                rs_frames_keep(&a->frames, signal->first_frame);
                rs_frames_keep(&a->frames, data->first_frame);
            }
        }
        ended = MAX(ended, data->end_ns);
    }
    rs_dist_of(waits, &a->wait);
}

static void
measure(const match *m, rs_admission *a)
{
    g_autoptr(GArray) delays = g_array_new(FALSE, FALSE, sizeof(guint64));
    a->signal_bytes_min = G_MAXUINT64;
    for (guint64 i = 0; i < m->signals->len; i++) {
        guint64 bytes = unit_at(m->signals, i)->bytes;
        a->signal_bytes_min = MIN(a->signal_bytes_min, bytes);
        a->signal_bytes_max = MAX(a->signal_bytes_max, bytes);
    }
    for (guint64 i = 0; i < a->pairs; i++) {
        guint64 delay =
            unit_at(m->units, a->before + i)->start_ns - unit_at(m->signals, i)->end_ns;
        g_array_append_val(delays, delay);
    }
    a->prompt_ns = MIN(prompt_of(delays), RS_ADMISSION_PROMPT_NS);
    judge(m, a);
    rs_dist_of(delays, &a->delay);
    a->span_ns =
        unit_at(m->units, m->units->len - 1)->end_ns - unit_at(m->units, 0)->start_ns;
}

/* ---- the search ---- */

/* Sets signals against data; adds an admission if they are one. */
static gboolean
try_match(match *m, GArray *signalling, GArray *sending, GArray *found)
{
    if (signalling->len == 0 || sending->len == 0) {
        return FALSE;
    }
    g_autoptr(GArray) signals = signals_of(m->back, signalling);
    g_autoptr(GArray) units = units_of(m->data, sending);
    m->signals = signals;
    m->units = units;
    guint parts = (units->len + signals->len / 2) / MAX(signals->len, 1);
    rs_admission a = {
        .point = m->back->point,
        .receiver = m->back->src,
        .sender = m->back->dst,
        .stream = g_array_index(signalling, guint32, 0),
        .streams = signalling->len,
        .parts = parts,
    };
    if (parts == 0 || parts > MIN(RS_ADMISSION_PARTS, sending->len)) {
        return FALSE;
    }
    join_parts(units, parts);
    if (!keep_step(m, &a) || !admit_more(m)) {
        return FALSE;
    }
    a.signals = signals->len;
    a.units = units->len;
    measure(m, &a);
    g_array_append_val(found, a);
    return TRUE;
}

static void
remove_stream(GArray *streams, guint32 stream)
{
    guint at;
    if (g_array_binary_search(streams, &stream, rs_by_u32, &at)) {
        g_array_remove_index(streams, at);
    }
}

/* The streams of data on whose queue pair nobody signals. */
static GArray *
without_signals(const match *m, const GArray *sending, GArray *signalling)
{
    GArray *streams = g_array_new(FALSE, FALSE, sizeof(guint32));
    for (guint i = 0; i < sending->len; i++) {
        guint32 stream = g_array_index(sending, guint32, i);
        if (!has(signalling, roce_tracker_stream(m->tracker, stream)->peer)) {
            g_array_append_val(streams, stream);
        }
    }
    return streams;
}

/* Each queue pair by itself; then what is left together. */
static void
look_one_by_one(match *m, GArray *signalling, GArray *sending, GArray *found)
{
    g_autoptr(GArray) all = g_array_copy(signalling);
    for (guint i = 0; i < all->len; i++) {
        guint32 stream = g_array_index(all, guint32, i);
        guint32 peer = roce_tracker_stream(m->tracker, stream)->peer;
        g_autoptr(GArray) one = g_array_new(FALSE, FALSE, sizeof(guint32));
        g_autoptr(GArray) other = g_array_new(FALSE, FALSE, sizeof(guint32));
        g_array_append_val(one, stream);
        if (peer != ROCE_NO_STREAM && has(sending, peer)) {
            g_array_append_val(other, peer);
        }
        if (try_match(m, one, other, found)) {
            remove_stream(signalling, stream);
            remove_stream(sending, peer);
        }
    }
    (void)try_match(m, signalling, sending, found);
}

static void
look_between(match *m, GArray *found)
{
    g_autoptr(GArray) signalling =
        streams_with(m->back, RS_MESSAGE_SIGNAL, RS_ADMISSION_LEAST);
    g_autoptr(GArray) sending = streams_with(m->data, 0, 1);
    g_autoptr(GArray) others = without_signals(m, sending, signalling);
    gboolean alone =
        signalling->len == 1 && sending->len > 1 && others->len + 1 >= sending->len;
    if (!alone || !try_match(m, signalling, sending, found)) {
        look_one_by_one(m, signalling, sending, found);
    }
}

/* Whether another point saw more messages between the same hosts. */
static gboolean
is_seen_better(const rs_edges *edges, const rs_edge *edge)
{
    for (guint32 point = 0; point < rs_edges_n_points(edges); point++) {
        const rs_edge *other = rs_edges_find(edges, point, edge->src, edge->dst);
        if (other != NULL &&
            (other->signals_kept > edge->signals_kept ||
             (other->signals_kept == edge->signals_kept && point < edge->point))) {
            return TRUE;
        }
    }
    return FALSE;
}

GArray *
rs_admissions_new(const rs_edges *edges, const rs_rhythm *rhythm,
                  const roce_tracker *tracker)
{
    GArray *found = g_array_new(FALSE, FALSE, sizeof(rs_admission));
    for (guint i = 0; i < rs_edges_n(edges); i++) {
        const rs_edge *back = rs_edges_at(edges, i);
        if (back->signals_kept < RS_ADMISSION_LEAST || is_seen_better(edges, back)) {
            continue;
        }
        match m = {
            .edges = edges,
            .rhythm = rhythm,
            .tracker = tracker,
            .back = back,
            .data = rs_edges_find(edges, back->point, back->dst, back->src),
        };
        if (m.data != NULL) {
            look_between(&m, found);
        }
    }
    return found;
}
