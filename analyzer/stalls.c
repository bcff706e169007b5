/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "stalls.h"

struct rs_stalls {
    GHashTable *streams; /* id -> rs_stall: the tracker's table of streams has a cap */
};

rs_stalls *
rs_stalls_new(void)
{
    rs_stalls *stalls = g_new0(rs_stalls, 1);
    stalls->streams = g_hash_table_new_full(NULL, NULL, NULL, g_free);
    return stalls;
}

void
rs_stalls_free(rs_stalls *stalls)
{
    if (stalls == NULL) {
        return;
    }
    g_hash_table_unref(stalls->streams);
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

static void
add_timeout(rs_stall *stall, const roce_event *event)
{
    if (event->psn != stall->psn) {
        stall->psn = event->psn;
        stall->repeats = 0;
        stall->since_ns = event->time_ns;
    }
    stall->repeats++;
    stall->newest_ns = event->time_ns;
    stall->waited_ns = event->duration_ns;
    stall->n++;
    stall->longest_ns = MAX(stall->longest_ns, event->duration_ns);
    stall->sum_ns += event->duration_ns;
}

void
rs_stalls_event(rs_stalls *stalls, const roce_event *event)
{
    if (event->kind == ROCE_EVENT_ROUND && event->detail == ROCE_CAUSE_TIMEOUT) {
        add_timeout(stall_of(stalls, event->stream), event);
    }
}

const rs_stall *
rs_stalls_of(const rs_stalls *stalls, guint32 stream)
{
    return g_hash_table_lookup(stalls->streams, GUINT_TO_POINTER(stream));
}
