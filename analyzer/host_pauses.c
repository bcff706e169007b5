/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "host_pauses.h"

#include "arrays.h"

/* What pauses of each kind did to a stream. */
typedef struct stops {
    guint32 pause[RS_N_STOPPERS]; /* + 1; 0: none did */
    guint64 held_ns[RS_N_STOPPERS];
    guint64 until_ns; /* of the pause that it ended in; 0: in none */
} stops;

struct rs_host_pauses {
    const roce_tracker *tracker;
    /* rs_nic_host of the NICs -> GArray of guint32: the numbers of the pauses that its NIC
     * asked for */
    GHashTable *by_host;
    GArray *stops; /* by stream */
};

static void
add_pause(rs_host_pauses *pauses, rs_nic_host *host, guint32 pause)
{
    GArray *of_host = g_hash_table_lookup(pauses->by_host, host);
    if (of_host == NULL) {
        of_host = g_array_new(FALSE, FALSE, sizeof(guint32));
        g_hash_table_insert(pauses->by_host, host, of_host);
    }
    g_array_append_val(of_host, pause);
}

static void
add_stop(rs_host_pauses *pauses, const rs_passage *passage, rs_stopper stopper)
{
    const rs_held *held = &passage->stops[stopper]->held;
    if (passage->stream >= pauses->stops->len) {
        g_array_set_size(pauses->stops, passage->stream + 1);
    }
    stops *s = &g_array_index(pauses->stops, stops, passage->stream);
    const roce_pause_source *p = roce_tracker_pause(pauses->tracker, held->pause);
    s->pause[stopper] = held->pause + 1;
    s->held_ns[stopper] += held->held_ns;
    if (passage->in_message && rs_pause_lasts(p)) {
        s->until_ns = MAX(s->until_ns, p->newest.end_ns);
    }
}

/* Of the streams that are bound for a host whose NIC pauses. */
static void
add_stops(rs_host_pauses *pauses, const rs_nic_host *host, guint32 pause,
          const rs_pause_watch *watch)
{
    for (guint i = 0; i < watch->passages->len; i++) {
        const rs_passage *passage = g_ptr_array_index(watch->passages, i);
        const roce_stream *s = roce_tracker_stream(pauses->tracker, passage->stream);
        const rs_nic_host receiver = {.point = s->point, .addr = s->dst};
        for (guint k = 0; k < RS_N_STOPPERS; k++) {
            if (passage->stops[k] != NULL && passage->stops[k]->held.pause == pause &&
                rs_nic_host_equal(host, &receiver)) {
                add_stop(pauses, passage, (rs_stopper)k);
            }
        }
    }
}

rs_host_pauses *
rs_host_pauses_new(const rs_nics *nics, const rs_pausing *pausing,
                   const roce_tracker *tracker)
{
    rs_host_pauses *pauses = g_new0(rs_host_pauses, 1);
    pauses->tracker = tracker;
    pauses->by_host = g_hash_table_new_full(rs_nic_host_hash, rs_nic_host_equal, NULL,
                                            rs_unref_array);
    pauses->stops = g_array_new(FALSE, TRUE, sizeof(stops));
    for (guint32 i = 0; i < roce_tracker_n_pauses(tracker); i++) {
        const roce_pause_source *p = roce_tracker_pause(tracker, i);
        const GArray *hosts = rs_nics_hosts(nics, p->point, p->src_mac);
        for (guint h = 0; hosts != NULL && p->xoff > 0 && h < hosts->len; h++) {
            rs_nic_host *host = &g_array_index(hosts, rs_nic_host, h);
            add_pause(pauses, host, i);
            add_stops(pauses, host, i, rs_pausing_watch(pausing, i));
        }
    }
    return pauses;
}

void
rs_host_pauses_free(rs_host_pauses *pauses)
{
    if (pauses != NULL) {
        g_hash_table_unref(pauses->by_host);
        g_array_unref(pauses->stops);
        g_free(pauses);
    }
}

/* ---- of one stream ---- */

/* Whether pauses beyond those that are kept belong to a time: if the last that is kept began
 * in it. */
static gboolean
goes_on(const roce_pause_source *p, guint64 until_ns)
{
    guint64 n = p->n_listed;
    return p->n_intervals > n && p->intervals[n - 1].start_ns <= until_ns;
}

static guint64
count_within(const roce_pause_source *p, guint64 from_ns, guint64 until_ns)
{
    guint64 n = goes_on(p, until_ns) ? p->n_intervals - p->n_listed : 0;
    n += p->paused && p->start_ns <= until_ns ? 1 : 0; /* until nobody knows when */
    for (guint64 i = 0; i < p->n_listed; i++) {
        const roce_pause_interval *at = &p->intervals[i];
        n += at->start_ns <= until_ns && at->end_ns >= from_ns ? 1 : 0;
    }
    return n;
}

/* How long those that are not kept were. */
static guint64
rest_ns(const roce_pause_source *p)
{
    guint64 rest = p->total_ns;
    for (guint64 i = 0; i < p->n_listed; i++) {
        rest -= p->intervals[i].end_ns - p->intervals[i].start_ns;
    }
    return rest;
}

/* How long any of some sources paused in a time, what overlaps counted once. */
static guint64
paused_within(const roce_pause_source *const *sources, guint n, guint64 from_ns,
              guint64 until_ns)
{
    guint64 next[RS_HOST_SOURCES] = {0};
    guint64 paused_ns = 0;
    guint64 covered_ns = from_ns;
    for (;;) {
        guint first = n;
        for (guint i = 0; i < n; i++) {
            if (next[i] < sources[i]->n_listed &&
                (first == n || sources[i]->intervals[next[i]].start_ns <
                                   sources[first]->intervals[next[first]].start_ns)) {
                first = i;
            }
        }
        if (first == n) {
            break;
        }
        const roce_pause_interval *at = &sources[first]->intervals[next[first]++];
        guint64 start_ns = MAX(at->start_ns, covered_ns);
        guint64 end_ns = MIN(at->end_ns, until_ns);
        if (end_ns > start_ns) {
            paused_ns += end_ns - start_ns;
            covered_ns = end_ns;
        }
    }
    for (guint i = 0; i < n; i++) {
        paused_ns += goes_on(sources[i], until_ns) ? rest_ns(sources[i]) : 0;
    }
    return MIN(paused_ns, until_ns - from_ns);
}

/* Those of a NIC that stop a stream with these priorities. */
static guint
sources_of(const rs_host_pauses *pauses, const rs_nic_host *host, guint8 priorities,
           const roce_pause_source *sources[RS_HOST_SOURCES],
           guint32 numbers[RS_HOST_SOURCES])
{
    const GArray *of_host = g_hash_table_lookup(pauses->by_host, host);
    guint n = 0;
    for (guint i = 0; of_host != NULL && i < of_host->len && n < RS_HOST_SOURCES; i++) {
        guint32 number = g_array_index(of_host, guint32, i);
        const roce_pause_source *p = roce_tracker_pause(pauses->tracker, number);
        if (p->priority == ROCE_PRIORITY_GLOBAL ||
            (priorities & 1u << p->priority) != 0) {
            numbers[n] = number;
            sources[n++] = p;
        }
    }
    return n;
}

/* By both kinds of pauses together, less what they have in common at most. */
static guint64
held_ns(const rs_host_pauses *pauses, const stops *s, guint64 from_ns, guint64 until_ns)
{
    guint64 pfc_ns = s->held_ns[RS_STOPPER_PFC];
    guint64 link_ns = s->held_ns[RS_STOPPER_LINK];
    if (pfc_ns == 0 || link_ns == 0) {
        return pfc_ns + link_ns;
    }
    const roce_pause_source *both[RS_N_STOPPERS];
    guint64 common_ns = 0;
    for (guint i = 0; i < RS_N_STOPPERS; i++) {
        both[i] = roce_tracker_pause(pauses->tracker, s->pause[i] - 1);
        common_ns += paused_within(&both[i], 1, from_ns, until_ns);
    }
    common_ns -= MIN(common_ns, paused_within(both, RS_N_STOPPERS, from_ns, until_ns));
    common_ns = MIN(common_ns, MIN(pfc_ns, link_ns));
    return pfc_ns + link_ns - common_ns;
}

rs_host_pause
rs_host_pauses_of(const rs_host_pauses *pauses, const roce_stream *stream,
                  guint8 priorities)
{
    static const stops not_stopped;
    const stops *s = stream->id < pauses->stops->len
                         ? &g_array_index(pauses->stops, stops, stream->id)
                         : &not_stopped;
    const rs_nic_host receiver = {.point = stream->point, .addr = stream->dst};
    const roce_pause_source *sources[RS_HOST_SOURCES];
    guint32 numbers[RS_HOST_SOURCES];
    guint n = sources_of(pauses, &receiver, priorities, sources, numbers);
    guint64 from_ns = stream->first_time_ns;
    rs_host_pause found = {
        .known = TRUE,
        .until_ns = MAX(stream->last_time_ns, s->until_ns),
    };
    for (guint i = 0; i < n; i++) {
        const roce_pause_source *p = sources[i];
        guint64 here = count_within(p, from_ns, found.until_ns);
        found.pauses += here;
        found.known &= here == 0 || p->speed_known;
        if (here == 0) {
            continue;
        }
        found.by[found.n_by++] = numbers[i];
        if (found.frame == 0 || p->first_frame < found.frame) {
            found.frame = p->first_frame;
        }
    }
    found.paused_ns =
        found.pauses > 0 ? paused_within(sources, n, from_ns, found.until_ns) : 0;
    /* By several passages the same pause holds it once. */
    found.held_ns = MIN(held_ns(pauses, s, from_ns, found.until_ns), found.paused_ns);
    return found;
}
