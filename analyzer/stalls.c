/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "stalls.h"

/* Rounds of a queue pair whose cause is not known. */
typedef struct unknown {
    gint64 psn; /* all of them began with it */
    guint n;
    gboolean went_on; /* but not so */
    guint64 newest_ns, waited_ns;
} unknown;

struct rs_stalls {
    GHashTable *streams; /* id -> rs_stall: the tracker's table of streams has a cap */
    GHashTable *unknown; /* id -> unknown; likewise */
    GArray *standstills; /* rs_standstill */
};

rs_stalls *
rs_stalls_new(void)
{
    rs_stalls *stalls = g_new0(rs_stalls, 1);
    stalls->streams = g_hash_table_new_full(NULL, NULL, NULL, g_free);
    stalls->unknown = g_hash_table_new_full(NULL, NULL, NULL, g_free);
    stalls->standstills = g_array_new(FALSE, TRUE, sizeof(rs_standstill));
    return stalls;
}

void
rs_stalls_free(rs_stalls *stalls)
{
    if (stalls == NULL) {
        return;
    }
    g_hash_table_unref(stalls->streams);
    g_hash_table_unref(stalls->unknown);
    g_array_unref(stalls->standstills);
    g_free(stalls);
}

static rs_stall *
stall_of(rs_stalls *stalls, guint32 stream)
{
    rs_stall *stall = g_hash_table_lookup(stalls->streams, GUINT_TO_POINTER(stream));
    if (stall == NULL) {
        stall = g_new0(rs_stall, 1);
        stall->psn = ROCE_NO_PSN;
        g_hash_table_insert(stalls->streams, GUINT_TO_POINTER(stream), stall);
    }
    return stall;
}

/* NULL: none is under way, or there were too many. */
static rs_standstill *
under_way(const rs_stalls *stalls, const rs_stall *stall)
{
    return stall == NULL || stall->standstill == 0
               ? NULL
               : &g_array_index(stalls->standstills, rs_standstill,
                                stall->standstill - 1);
}

static void
begin_standstill(rs_stalls *stalls, rs_stall *stall, const roce_event *event)
{
    guint64 from_ns = event->time_ns - MIN(event->duration_ns, event->time_ns);
    stall->standstill = 0;
    if (stalls->standstills->len < RS_STANDSTILLS) {
        const rs_standstill fresh = {
            .stream = event->stream,
            .from_ns = from_ns,
            .tried_ns = from_ns,
            .first_frame = event->frame,
        };
        g_array_append_val(stalls->standstills, fresh);
        stall->standstill = stalls->standstills->len;
    }
}

static void
repeat(rs_standstill *standstill, const roce_event *event)
{
    if (standstill->repeats > 0) {
        standstill->tried_ns = MAX(standstill->tried_ns, standstill->until_ns);
    }
    standstill->until_ns = event->time_ns;
    standstill->last_frame = event->frame;
    standstill->repeats++;
}

static void
add_timeout(rs_stalls *stalls, const roce_event *event)
{
    rs_stall *stall = stall_of(stalls, event->stream);
    if (event->psn != stall->psn) {
        stall->psn = event->psn;
        stall->repeats = 0;
        stall->since_ns = event->time_ns;
        stall->standstill = 0;
    }
    if (stall->standstill == 0) { /* the first one, or something was answered since */
        begin_standstill(stalls, stall, event);
    }
    stall->repeats++;
    stall->newest_ns = event->time_ns;
    stall->waited_ns = event->duration_ns;
    stall->n++;
    if (event->duration_ns > stall->longest_ns) {
        stall->longest_ns = event->duration_ns;
        stall->longest_until_ns = event->time_ns;
    }
    stall->sum_ns += event->duration_ns;
    rs_standstill *standstill = under_way(stalls, stall);
    if (standstill != NULL) {
        repeat(standstill, event);
    }
}

static unknown *
unknown_of(const rs_stalls *stalls, guint32 stream)
{
    return g_hash_table_lookup(stalls->unknown, GUINT_TO_POINTER(stream));
}

static void
add_unknown(rs_stalls *stalls, const roce_event *event)
{
    unknown *u = unknown_of(stalls, event->stream);
    if (u == NULL) {
        u = g_new0(unknown, 1);
        u->psn = event->psn;
        g_hash_table_insert(stalls->unknown, GUINT_TO_POINTER(event->stream), u);
    }
    u->n++;
    u->went_on |= event->psn != u->psn;
    u->newest_ns = event->time_ns;
    u->waited_ns = event->duration_ns;
}

static void
add_loss(rs_standstill *standstill, const roce_event *event)
{
    guint64 *n = &standstill->losses[event->detail];
    if (event->kind == ROCE_EVENT_LOSS) {
        *n += 1;
    } else {
        *n -= *n > 0 ? 1 : 0;
    }
}

/* Whether what was sent again in vain was late and came, or was not sent again, or nobody was
 * there to answer. */
static gboolean
excuses(const rs_standstill *standstill, const roce_event *event)
{
    guint64 round = event->related_frame;
    return (event->kind == ROCE_EVENT_STREAM_RESTART && event->count == 0) ||
           (round >= standstill->first_frame && round <= standstill->last_frame);
}

/* What is said of a stream that stands still, or did a moment ago. */
static void
go_on(rs_stalls *stalls, const roce_event *event)
{
    rs_stall *stall =
        g_hash_table_lookup(stalls->streams, GUINT_TO_POINTER(event->stream));
    rs_standstill *standstill = under_way(stalls, stall);
    if (standstill == NULL) {
        return;
    }
    if (event->kind == ROCE_EVENT_ROUND) {
        stall->standstill = 0;
    } else if (event->kind == ROCE_EVENT_SPURIOUS_ROUND ||
               event->kind == ROCE_EVENT_STREAM_RESTART) {
        standstill->excused |= excuses(standstill, event);
    } else if (event->kind == ROCE_EVENT_LOSS ||
               event->kind == ROCE_EVENT_LOSS_WITHDRAWN) {
        add_loss(standstill, event);
    }
}

void
rs_stalls_event(rs_stalls *stalls, const roce_event *event)
{
    if (event->kind == ROCE_EVENT_ROUND && event->detail == ROCE_CAUSE_TIMEOUT) {
        add_timeout(stalls, event);
        return;
    }
    if (event->kind == ROCE_EVENT_ROUND && event->detail == ROCE_CAUSE_UNKNOWN) {
        add_unknown(stalls, event);
    } else if (event->kind == ROCE_EVENT_STREAM_RESTART) {
        g_hash_table_remove(stalls->unknown, GUINT_TO_POINTER(event->stream));
    }
    if (stalls->standstills->len > 0) {
        go_on(stalls, event);
    }
}

const rs_stall *
rs_stalls_of(const rs_stalls *stalls, guint32 stream)
{
    return g_hash_table_lookup(stalls->streams, GUINT_TO_POINTER(stream));
}

guint
rs_stalls_stuck_for(const rs_stalls *stalls, const roce_stream *stream,
                    guint64 *waited_ns)
{
    const unknown *u = unknown_of(stalls, stream->id);
    if (u == NULL || u->n < 2 || u->went_on ||
        stream->last_time_ns >= u->newest_ns + u->waited_ns) {
        return 0;
    }
    *waited_ns = u->waited_ns;
    return u->n;
}

gint64
rs_stalls_stuck_at(const rs_stalls *stalls, guint32 stream)
{
    const unknown *u = unknown_of(stalls, stream);
    return u != NULL ? u->psn : ROCE_NO_PSN;
}

gboolean
rs_stalls_is_stuck(const rs_stalls *stalls, const roce_stream *stream)
{
    guint64 waited_ns;
    return rs_stalls_stuck_for(stalls, stream, &waited_ns) > 0;
}

const GArray *
rs_stalls_standstills(const rs_stalls *stalls)
{
    return stalls->standstills;
}
