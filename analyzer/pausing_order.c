/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "pausing_order.h"

#include "sorting.h"

#include "roce/psn.h"

/* All passages, streams one by one, whatever the point. */
typedef struct order_run {
    const rs_pausing *pausing;
    const roce_tracker *tracker;
    GArray *sorted; /* const rs_passage *, by rs_stream_compare() */
} order_run;

static const rs_passage *
passage_at(const order_run *run, guint i)
{
    return g_array_index(run->sorted, const rs_passage *, i);
}

static const roce_stream *
stream_of(const order_run *run, const rs_passage *passage)
{
    return roce_tracker_stream(run->tracker, passage->stream);
}

static gint
by_stream(gconstpointer a, gconstpointer b, gpointer tracker)
{
    const rs_passage *x = *(const rs_passage *const *)a;
    const rs_passage *y = *(const rs_passage *const *)b;
    gint order = rs_stream_compare(roce_tracker_stream(tracker, x->stream),
                                   roce_tracker_stream(tracker, y->stream));
    return order != 0 ? order : rs_by_number(rs_passage_key(x), rs_passage_key(y));
}

/* Where the passages of a stream begin. */
static guint
first_of(const order_run *run, const roce_stream *stream)
{
    guint low = 0;
    guint high = run->sorted->len;
    while (low < high) {
        guint middle = (low + high) / 2;
        if (rs_stream_compare(stream_of(run, passage_at(run, middle)), stream) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* Whether `psn24` is no later than `than`. */
static gboolean
is_by(guint32 psn24, guint32 than)
{
    gint64 reference = than + ROCE_PSN_MODULUS;
    return roce_psn_expand(psn24, reference) <= reference;
}

/* What the passages of one stream tell. */
typedef struct told {
    gboolean had_data; /* some came before the pause */
    gboolean is_capable;
    gboolean is_behind; /* what had come before was seen behind the switch as well */
    gboolean marked;    /* with CE */
    gboolean cnp_before, cnp_after; /* CNPs: before the pause; long enough after it */
    gboolean cnp_soon; /* the first after the pause: the mark may have been before it */
} told;

/* Whether what passes here is seen there behind a router. */
static gboolean
is_behind(const order_run *run, const rs_passage *here, const rs_passage *there)
{
    return there->hop_limit < here->hop_limit && there->stream != here->stream &&
           rs_pausing_shows_way(run->pausing, stream_of(run, here)) &&
           rs_pausing_shows_way(run->pausing, stream_of(run, there));
}

static void
look_at_data(const order_run *run, told *t, const rs_data_psns *before,
             const rs_passage *here, const rs_passage *there)
{
    const rs_pause_marks *marks = rs_pausing_marks(run->pausing, there->stream);
    gboolean is_further = is_behind(run, here, there);
    for (guint space = 0; space < ROCE_N_SPACES; space++) {
        if (!before->known[space]) {
            continue;
        }
        guint32 psn24 = before->psn24[space];
        t->had_data = TRUE;
        t->is_behind |= is_further && there->newest.known[space] &&
                        is_by(psn24, there->newest.psn24[space]);
        t->marked |= marks->ce.known[space] && is_by(marks->ce.psn24[space], psn24);
    }
}

static void
note_mark(rs_pause_order *order, guint64 frame, guint64 time_ns)
{
    if (frame != 0 && (order->mark_frame == 0 || time_ns < order->mark_ns)) {
        order->mark_frame = frame;
        order->mark_ns = time_ns;
    }
}

static void
look_at_cnp(const rs_pause_order *order, told *t, const rs_pause_marks *marks)
{
    if (marks->cnp_frame == 0) {
        return;
    }
    gboolean after = marks->cnp_ns > order->pause_ns;
    gboolean soon = after && marks->cnp_ns <= order->pause_ns + RS_ORDER_CNP_NS;
    t->cnp_before |= !after;
    t->cnp_soon |= soon;
    t->cnp_after |= after && !soon;
}

/* A stream that was not seen behind the switch, and about which a CNP came back soon after the
 * pause, makes unsure what others show. */
static void
add_told(told *all, const told *one)
{
    all->had_data |= one->had_data;
    all->is_capable |= one->is_capable;
    all->is_behind |= one->is_behind;
    all->marked |= one->marked;
    all->cnp_before |= one->cnp_before;
    all->cnp_after |= one->cnp_after;
    all->cnp_soon |= one->cnp_soon && one->had_data && !one->is_behind;
}

static void
look_at_stream(const order_run *run, rs_pause_order *order, told *all, guint32 pause,
               const rs_passage *here)
{
    told one = {0};
    told *t = &one;
    const roce_stream *stream = stream_of(run, here);
    for (guint i = first_of(run, stream); i < run->sorted->len; i++) {
        const rs_passage *there = passage_at(run, i);
        const roce_stream *s = stream_of(run, there);
        if (rs_stream_compare(s, stream) != 0) {
            break;
        }
        const rs_pause_marks *marks = rs_pausing_marks(run->pausing, there->stream);
        t->is_capable |=
            s->ecn.codepoint[1] + s->ecn.codepoint[2] + s->ecn.codepoint[3] > 0;
        look_at_data(run, t, rs_passage_before(here, pause), here, there);
        note_mark(order, marks->ce_frame, marks->ce_ns);
        note_mark(order, marks->cnp_frame, marks->cnp_ns);
        look_at_cnp(order, t, marks);
    }
    add_told(all, t);
}

static void
decide(rs_pause_order *order, const told *t)
{
    if (t->marked || t->cnp_before) {
        order->first = RS_FIRST_CE;
    } else if (!t->had_data) {
        order->unknown = RS_ORDER_NO_DATA;
    } else if (!t->is_capable) {
        order->unknown = RS_ORDER_NOT_CAPABLE;
    } else if (!t->cnp_soon && (t->is_behind || t->cnp_after)) {
        order->first = RS_FIRST_PAUSE;
    } else {
        order->unknown = RS_ORDER_OUT_OF_SIGHT;
    }
}

static rs_pause_order
order_of(const order_run *run, guint32 pause)
{
    static const rs_order_unknown by_sender[] = {
        [RS_SENDER_UNKNOWN] = RS_ORDER_SENDER,
        [RS_SENDER_HOST] = RS_ORDER_HOST,
        [RS_SENDER_NETWORK] = RS_ORDER_KNOWN,
        [RS_SENDER_AMBIGUOUS] = RS_ORDER_SENDER,
    };
    const rs_pause_watch *watch = rs_pausing_watch(run->pausing, pause);
    rs_sender_evidence evidence;
    rs_pause_order order = {.pause_ns = watch->first_start_ns,
                            .pause_frame = watch->xoff.first[0]};
    order.unknown = watch->xoff.total == 0
                        ? RS_ORDER_NO_PAUSE
                        : by_sender[rs_pausing_sender(run->pausing, pause, &evidence)];
    if (order.unknown == RS_ORDER_KNOWN) {
        told t = {0};
        for (guint i = 0; i < watch->passages->len; i++) {
            look_at_stream(run, &order, &t, pause,
                           g_ptr_array_index(watch->passages, i));
        }
        decide(&order, &t);
    }
    return order;
}

static GArray *
sort_passages(const rs_pausing *pausing, const roce_tracker *tracker)
{
    GArray *sorted = g_array_new(FALSE, FALSE, sizeof(const rs_passage *));
    const rs_passages *passages = rs_pausing_passages(pausing);
    for (guint i = 0; i < rs_passages_n(passages); i++) {
        const rs_passage *passage = rs_passages_at(passages, i);
        g_array_append_val(sorted, passage);
    }
    g_array_sort_with_data(sorted, by_stream, (gpointer)(guintptr)tracker);
    return sorted;
}

GArray *
rs_pause_orders_new(const rs_pausing *pausing, const roce_tracker *tracker)
{
    GArray *orders = g_array_new(FALSE, FALSE, sizeof(rs_pause_order));
    guint32 n = roce_tracker_n_pauses(tracker);
    if (n == 0) {
        return orders;
    }
    g_autoptr(GArray) sorted = sort_passages(pausing, tracker);
    const order_run run = {.pausing = pausing, .tracker = tracker, .sorted = sorted};
    for (guint32 i = 0; i < n; i++) {
        const rs_pause_order order = order_of(&run, i);
        g_array_append_val(orders, order);
    }
    return orders;
}

const char *
rs_first_name(rs_first first)
{
    static const char *const names[] = {
        [RS_FIRST_UNKNOWN] = NULL,
        [RS_FIRST_CE] = "ce",
        [RS_FIRST_PAUSE] = "pause",
    };
    return names[first];
}

const char *
rs_order_unknown_name(rs_order_unknown unknown)
{
    static const char *const names[RS_N_ORDER_UNKNOWNS] = {
        [RS_ORDER_KNOWN] = NULL,
        [RS_ORDER_NO_PAUSE] = "no_pause",
        [RS_ORDER_HOST] = "host",
        [RS_ORDER_SENDER] = "sender",
        [RS_ORDER_NO_DATA] = "no_data",
        [RS_ORDER_NOT_CAPABLE] = "not_ecn_capable",
        [RS_ORDER_OUT_OF_SIGHT] = "out_of_sight",
    };
    return names[unknown];
}
