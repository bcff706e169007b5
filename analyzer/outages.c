/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "outages.h"

#include "sorting.h"
#include "stopped.h"
#include "thresholds.h"

/* ---- which standstills ---- */

static gboolean
has_repeated_in_vain(const rs_standstill *s)
{
    return s->repeats > 1 && !s->excused;
}

static guint64
length_ns(const rs_standstill *s)
{
    return s->until_ns - s->from_ns;
}

static gint
earliest_first(gconstpointer a, gconstpointer b)
{
    const rs_standstill *x = *(const rs_standstill *const *)a;
    const rs_standstill *y = *(const rs_standstill *const *)b;
    gint order = rs_by_number(x->from_ns, y->from_ns);
    order = order != 0 ? order : rs_by_number(x->until_ns, y->until_ns);
    return order != 0 ? order : rs_by_number(x->stream, y->stream);
}

/* But for those of a packet that is too long for its way. */
static GPtrArray *
sorted(const rs_analysis *analysis, const rs_summary *summary, GHashTable *too_long)
{
    const GArray *all = rs_stalls_standstills(analysis->watchers.stalls);
    GPtrArray *list = g_ptr_array_sized_new(all->len);
    for (guint i = 0; i < all->len; i++) {
        rs_standstill *s = &g_array_index(all, rs_standstill, i);
        guint32 group = rs_summary_group(summary, s->stream);
        if (!g_hash_table_contains(too_long, GUINT_TO_POINTER(group))) {
            g_ptr_array_add(list, s);
        }
    }
    g_ptr_array_sort(list, earliest_first);
    return list;
}

static GPtrArray *
silent_ones(const GPtrArray *standstills)
{
    GPtrArray *silent = g_ptr_array_new();
    for (guint i = 0; i < standstills->len; i++) {
        rs_standstill *s = g_ptr_array_index(standstills, i);
        if (!has_repeated_in_vain(s) && !s->excused) {
            g_ptr_array_add(silent, s);
        }
    }
    return silent;
}

/* ---- one outage ---- */

static void
free_outage(gpointer data)
{
    rs_outage *outage = data;
    g_ptr_array_unref(outage->standstills);
    g_free(outage);
}

/* What is put together while they are gone through, earliest first. */
typedef struct gathering {
    const rs_analysis *analysis;
    const rs_summary *summary;
    GPtrArray *silent; /* const rs_standstill: repeats did not come by, or came late */
    guint
        first_silent; /* those before it are of an outage, or were over before this one */
    GPtrArray *outages;
    GPtrArray *members; /* const rs_standstill: repeated in vain, in the same time */
    GHashTable *groups; /* streams that stand for these */
    guint64 from_ns, until_ns; /* that all members have in common */
    guint64 shortest_ns;       /* of them */
} gathering;

static gpointer
group_of(const gathering *g, const rs_standstill *s)
{
    return GUINT_TO_POINTER(rs_summary_group(g->summary, s->stream));
}

static gboolean
has_stopped(const gathering *g, const rs_standstill *s)
{
    const rs_stall *stall = rs_stalls_of(g->analysis->watchers.stalls, s->stream);
    return stall->newest_ns == s->until_ns &&
           rs_stop_of(g->analysis, roce_tracker_stream(g->analysis->tracker,
                                                       s->stream)) != RS_WENT_ON;
}

/* Whether a standstill was under way for half of the time that the members have in common. */
static gboolean
covers(const gathering *g, const rs_standstill *s)
{
    guint64 from = MAX(g->from_ns, s->from_ns);
    guint64 until = MIN(g->until_ns, s->until_ns);
    return until > from && (until - from) * 2 >= g->until_ns - g->from_ns;
}

/* Those that may be of a later one move up to those that have not been looked at yet. */
static void
close_ranks(gathering *g, guint end)
{
    guint to = end;
    for (guint i = end; i-- > g->first_silent;) {
        gpointer one = g_ptr_array_index(g->silent, i);
        if (one != NULL) {
            g_ptr_array_index(g->silent, --to) = one;
        }
    }
    g->first_silent = to;
}

/* Each is of the first outage that it covers; no later one begins before this one. */
static void
add_silent_ones(gathering *g, rs_outage *outage)
{
    guint i = g->first_silent;
    for (; i < g->silent->len; i++) {
        const rs_standstill *s = g_ptr_array_index(g->silent, i);
        if (s->from_ns >= g->until_ns) {
            break;
        }
        gboolean joins = covers(g, s) && g_hash_table_add(g->groups, group_of(g, s));
        if (joins) {
            g_ptr_array_add(outage->standstills, (gpointer)(guintptr)s);
        }
        if (joins || s->until_ns <= g->from_ns) {
            g_ptr_array_index(g->silent, i) = NULL;
        }
    }
    close_ranks(g, i);
}

static void
measure(const gathering *g, rs_outage *outage)
{
    outage->from_ns = G_MAXUINT64;
    for (guint i = 0; i < outage->standstills->len; i++) {
        const rs_standstill *s = g_ptr_array_index(outage->standstills, i);
        if (i < outage->n_repeated) {
            outage->from_ns = MIN(outage->from_ns, s->from_ns);
            outage->tried_ns = MAX(outage->tried_ns, s->tried_ns);
        }
        outage->until_ns = MAX(outage->until_ns, s->until_ns);
        outage->n_stopped += has_stopped(g, s) ? 1 : 0;
    }
}

/* Ends what was gathered. */
static void
finish(gathering *g)
{
    if (g->members->len >= RS_OUTAGE_QUEUE_PAIRS) {
        rs_outage *outage = g_new0(rs_outage, 1);
        outage->standstills = g_ptr_array_ref(g->members);
        outage->n_repeated = g->members->len;
        add_silent_ones(g, outage);
        measure(g, outage);
        if (outage->n_stopped < outage->standstills->len) {
            g_ptr_array_add(g->outages, outage);
        } else {
            free_outage(outage);
        }
    }
    g_ptr_array_unref(g->members);
    g->members = g_ptr_array_new();
    g_hash_table_remove_all(g->groups);
}

/* Whether it stood still together with all members, for half of the time of the shortest. */
static gboolean
is_together(const gathering *g, const rs_standstill *s)
{
    guint64 from = MAX(g->from_ns, s->from_ns);
    guint64 until = MIN(g->until_ns, s->until_ns);
    return until > from && (until - from) * 2 >= MIN(g->shortest_ns, length_ns(s));
}

static void
gather(gathering *g, const rs_standstill *s)
{
    if (g->members->len > 0 && !is_together(g, s)) {
        finish(g);
    }
    if (g->members->len == 0) {
        g->from_ns = 0;
        g->until_ns = G_MAXUINT64;
        g->shortest_ns = G_MAXUINT64;
    }
    if (g_hash_table_add(g->groups, group_of(g, s))) { /* else another point has it */
        g_ptr_array_add(g->members, (gpointer)(guintptr)s);
        g->from_ns = MAX(g->from_ns, s->from_ns);
        g->until_ns = MIN(g->until_ns, s->until_ns);
        g->shortest_ns = MIN(g->shortest_ns, length_ns(s));
    }
}

/* ---- all of them ---- */

GPtrArray *
rs_outages_new(const rs_analysis *analysis, const rs_summary *summary,
               GHashTable *too_long)
{
    g_autoptr(GPtrArray) standstills = sorted(analysis, summary, too_long);
    g_autoptr(GPtrArray) silent = silent_ones(standstills);
    g_autoptr(GHashTable) groups = g_hash_table_new(NULL, NULL);
    gathering g = {
        .analysis = analysis,
        .summary = summary,
        .silent = silent,
        .outages = g_ptr_array_new_with_free_func(free_outage),
        .members = g_ptr_array_new(),
        .groups = groups,
    };
    for (guint i = 0; i < standstills->len; i++) {
        const rs_standstill *s = g_ptr_array_index(standstills, i);
        if (has_repeated_in_vain(s)) {
            gather(&g, s);
        }
    }
    finish(&g);
    g_ptr_array_unref(g.members);
    return g.outages;
}

/* ---- what is of them ---- */

/* A time, and the latest end of all outages that have begun by then. */
typedef struct stretch {
    guint64 from_ns, until_ns;
} stretch;

static gint
first_stretch(gconstpointer a, gconstpointer b)
{
    return rs_by_number(((const stretch *)a)->from_ns, ((const stretch *)b)->from_ns);
}

static GArray *
stretches_of(const GPtrArray *outages)
{
    GArray *list = g_array_sized_new(FALSE, FALSE, sizeof(stretch), outages->len);
    for (guint i = 0; i < outages->len; i++) {
        const rs_outage *outage = g_ptr_array_index(outages, i);
        const stretch one = {outage->from_ns, outage->tried_ns};
        g_array_append_val(list, one);
    }
    g_array_sort(list, first_stretch);
    for (guint i = 1; i < list->len; i++) {
        stretch *one = &g_array_index(list, stretch, i);
        one->until_ns = MAX(one->until_ns, (one - 1)->until_ns);
    }
    return list;
}

/* Whether a standstill falls into one of them. */
static gboolean
falls_into(const GArray *list, const rs_standstill *s)
{
    guint low = 0;
    guint high = list->len; /* of those that begin before it is over */
    while (low < high) {
        guint middle = low + (high - low) / 2;
        if (g_array_index(list, stretch, middle).from_ns < s->until_ns) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low > 0 && g_array_index(list, stretch, low - 1).until_ns > s->from_ns;
}

GHashTable *
rs_outages_shares(const rs_analysis *analysis, const GPtrArray *outages)
{
    GHashTable *shares = g_hash_table_new_full(NULL, NULL, NULL, g_free);
    const GArray *all = rs_stalls_standstills(analysis->watchers.stalls);
    g_autoptr(GArray) list = stretches_of(outages);
    for (guint i = 0; i < all->len && list->len > 0; i++) {
        const rs_standstill *s = &g_array_index(all, rs_standstill, i);
        gpointer key = GUINT_TO_POINTER(s->stream);
        rs_outage_share *share = g_hash_table_lookup(shares, key);
        if (!falls_into(list, s)) {
            continue;
        }
        if (share == NULL) {
            share = g_new0(rs_outage_share, 1);
            g_hash_table_insert(shares, key, share);
        }
        share->rounds += s->repeats;
        for (guint k = 0; k < ROCE_N_VERDICTS; k++) {
            share->losses[k] += s->losses[k];
        }
    }
    return shares;
}
