/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Findings about outages: what several queue pairs that stood still at once have in common,
 * and what of all that was sent again comes of it.
 *
 * The one rule: each place is told once, however often it happened there.
 */
#include "findings_parts.h"
#include "format.h"
#include "outages.h"
#include "pairs.h"

#define PAIRS_NAMED 4

/* ---- where ---- */

static const roce_stream *
stream_of(const rs_findings *all, const rs_standstill *s)
{
    return roce_tracker_stream(all->analysis->tracker, s->stream);
}

/* Of two directions one stands for both. */
static rs_pair
pair_of(const roce_stream *s)
{
    gboolean swap = roce_addr_compare(&s->src, &s->dst) > 0;
    return (rs_pair){
        .tenant = s->tenant,
        .src = swap ? s->dst : s->src,
        .dst = swap ? s->src : s->dst,
    };
}

/* Hosts between which something stood still, rs_pair, in the order of the standstills. */
static GPtrArray *
pairs_of(const rs_findings *all, const rs_outage *outage)
{
    GPtrArray *pairs = g_ptr_array_new_with_free_func(g_free);
    g_autoptr(GHashTable) known = g_hash_table_new(rs_pair_hash, rs_pair_equal);
    for (guint i = 0; i < outage->standstills->len; i++) {
        const rs_pair pair =
            pair_of(stream_of(all, g_ptr_array_index(outage->standstills, i)));
        if (!g_hash_table_contains(known, &pair)) {
            rs_pair *kept = g_memdup2(&pair, sizeof pair);
            g_ptr_array_add(pairs, kept);
            g_hash_table_add(known, kept);
        }
    }
    return pairs;
}

/* What the queue pairs of an outage have in common. */
typedef struct place {
    gboolean one_pair; /* these two hosts alone */
    gboolean one_host; /* `host`, with several others */
    roce_tenant tenant;
    roce_addr host, other;
    guint n_pairs; /* of hosts */
} place;

static gboolean
all_have(const GPtrArray *pairs, const roce_tenant *tenant, const roce_addr *host)
{
    guint i = 0;
    while (i < pairs->len) {
        const rs_pair *pair = g_ptr_array_index(pairs, i);
        if (!roce_tenant_equal(&pair->tenant, tenant) ||
            (!roce_addr_equal(&pair->src, host) &&
             !roce_addr_equal(&pair->dst, host))) {
            break;
        }
        i++;
    }
    return i == pairs->len;
}

static place
place_of(const GPtrArray *pairs)
{
    const rs_pair *first = g_ptr_array_index(pairs, 0);
    gboolean src = all_have(pairs, &first->tenant, &first->src);
    gboolean dst = all_have(pairs, &first->tenant, &first->dst);
    return (place){
        .one_pair = src && dst,
        .one_host = src != dst,
        .tenant = first->tenant,
        .host = src ? first->src : first->dst,
        .other = src ? first->dst : first->src,
        .n_pairs = pairs->len,
    };
}

/* The second half of the id; NULL: nothing in common. */
static char *
name_of(const place *where)
{
    g_autofree char *host = rs_format_addr(&where->host);
    g_autofree char *other = rs_format_addr(&where->other);
    return where->one_pair   ? g_strdup_printf("%s-%s", host, other)
           : where->one_host ? g_steal_pointer(&host)
                             : NULL;
}

static char *
place_words(const rs_findings *all, const place *where)
{
    g_autofree char *host = rs_findings_label_in(all, &where->tenant, &where->host);
    g_autofree char *other = rs_findings_label_in(all, &where->tenant, &where->other);
    g_autofree char *hosts = rs_finding_count(where->n_pairs, "host", "hosts");
    g_autofree char *pairs =
        rs_finding_count(where->n_pairs, "pair of hosts", "pairs of hosts");
    return where->one_pair   ? g_strdup_printf("between %s and %s", host, other)
           : where->one_host ? g_strdup_printf("between %s and %s", host, hosts)
                             : g_strdup_printf("between %s", pairs);
}

/* ---- what is said ---- */

/* The outages at one place. */
typedef struct series {
    place where;            /* as the worst of them has it */
    GPtrArray *outages;     /* const rs_outage, in the order of time */
    const rs_outage *worst; /* the one that lasted longest */
} series;

static guint64
length_ns(const rs_outage *outage)
{
    return outage->tried_ns - outage->from_ns;
}

static gboolean
carries_data(const rs_findings *all, const roce_stream *s)
{
    (void)all;
    return s->payload_bytes > 0;
}

/* Whether it was there all the while. */
static gboolean
spans(const rs_outage *outage, const roce_stream *s)
{
    return s->first_time_ns <= outage->from_ns && s->last_time_ns >= outage->until_ns;
}

/* Streams between hosts of which some stood still, that had begun before and went on
 * afterwards, and were not among them. */
static guint
count_others(const rs_findings *all, GHashTable *by_pair, const rs_outage *outage)
{
    g_autoptr(GHashTable) known = g_hash_table_new(NULL, NULL);
    g_autoptr(GHashTable) members = g_hash_table_new(NULL, NULL);
    guint n = 0;
    for (guint i = 0; i < outage->standstills->len; i++) {
        const rs_standstill *one = g_ptr_array_index(outage->standstills, i);
        g_hash_table_add(members,
                         GUINT_TO_POINTER(rs_summary_group(all->summary, one->stream)));
    }
    for (guint i = 0; i < outage->standstills->len; i++) {
        const roce_stream *s =
            stream_of(all, g_ptr_array_index(outage->standstills, i));
        const rs_pair pair = {.tenant = s->tenant, .src = s->src, .dst = s->dst};
        const rs_pair *data = g_hash_table_lookup(by_pair, &pair);
        if (data == NULL || !g_hash_table_add(known, (gpointer)(guintptr)data)) {
            continue;
        }
        for (guint k = 0; k < data->streams->len; k++) {
            guint32 id = g_array_index(data->streams, guint32, k);
            n += spans(outage, roce_tracker_stream(all->analysis->tracker, id)) &&
                         !g_hash_table_contains(members, GUINT_TO_POINTER(id))
                     ? 1
                     : 0;
        }
    }
    return n;
}

/* "  They are of gpu01 with gpu02, gpu01 with gpu03 and 2 more." */
static void
append_pairs(const rs_findings *all, const rs_outage *outage, GString *text)
{
    g_autoptr(GPtrArray) pairs = pairs_of(all, outage);
    g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
    for (guint i = 0; i < MIN(pairs->len, PAIRS_NAMED); i++) {
        const rs_pair *pair = g_ptr_array_index(pairs, i);
        g_autofree char *src = rs_findings_label(all, &pair->src);
        g_autofree char *dst = rs_findings_label_in(all, &pair->tenant, &pair->dst);
        g_ptr_array_add(names, g_strdup_printf("%s with %s", src, dst));
    }
    g_autofree char *list = rs_finding_list(names, pairs->len);
    if (pairs->len > 1) {
        g_string_append_printf(text, "  They are of %s.", list);
    }
}

static void
append_others(const rs_findings *all, GHashTable *by_pair, const rs_outage *outage,
              GString *text)
{
    guint n = count_others(all, by_pair, outage);
    g_autofree char *others =
        rs_finding_count(n, "other queue pair", "other queue pairs");
    if (n > 0) {
        g_string_append_printf(text,
                               "  %s between the same hosts had no timeout at that "
                               "time: it may be one of several paths, which the UDP "
                               "source port chooses.",
                               others);
    } else {
        g_string_append(text, "  No other queue pair in use between these hosts went "
                              "without a timeout at that time.");
    }
}

static void
append_kinds(const rs_outage *outage, GString *text)
{
    guint n_silent = outage->standstills->len - outage->n_repeated;
    if (n_silent > 0) {
        g_autofree char *repeated = rs_format_count(outage->n_repeated);
        g_autofree char *silent = rs_format_count(n_silent);
        g_autofree char *others = n_silent == 1 ? g_strdup("other one")
                                                : g_strdup_printf("%s others", silent);
        g_string_append_printf(text,
                               "  %s of them repeated here in vain; of the %s no "
                               "repeat came by in that time.",
                               repeated, others);
    }
    if (outage->n_stopped > 0) {
        g_autofree char *pairs =
            rs_finding_count(outage->n_stopped, "queue pair", "queue pairs");
        g_string_append_printf(text, "  %s did not go on.", pairs);
    }
}

static void
write_series(const rs_findings *all, GHashTable *by_pair, rs_finding *f,
             const series *s)
{
    const rs_outage *worst = s->worst;
    g_autofree char *pairs =
        rs_finding_count(worst->standstills->len, "queue pair", "queue pairs");
    g_autofree char *where = place_words(all, &s->where);
    g_autofree char *length = rs_format_duration(length_ns(worst), 0);
    g_autofree char *from = rs_format_time(worst->from_ns);
    g_autofree char *stalled = rs_format_duration(worst->until_ns - worst->from_ns, 0);
    g_autofree char *n_times = rs_format_count(s->outages->len);
    g_autofree char *times =
        s->outages->len == 1 ? g_strdup("")
                             : g_strdup_printf(", the longest of %s times", n_times);
    GString *text = g_string_new(NULL);
    g_string_append_printf(
        text,
        "Nothing answered what they sent from %s on, nor what they repeated until %s "
        "later: something that they have in common brought nothing through for as "
        "long.  "
        "They stood still for %s, until their timers went off again.",
        from, length, stalled);
    append_pairs(all, worst, text);
    append_kinds(worst, text);
    append_others(all, by_pair, worst, text);
    rs_finding_say(
        f,
        g_strdup_printf("Nothing answered %s %s for %s or longer, all at once%s", pairs,
                        where, length, times),
        g_string_free(text, FALSE));
}

static void
report(rs_findings *all, const rs_finding_row *row, GHashTable *by_pair,
       const series *s)
{
    rs_finding *f = rs_finding_add(all, row, RS_SEVERITY_CRITICAL);
    g_autofree char *name = name_of(&s->where);
    g_autoptr(GHashTable) streams = g_hash_table_new(NULL, NULL);
    if (name != NULL) {
        rs_finding_about(f, name);
        rs_finding_in(f, &s->where.tenant);
    }
    write_series(all, by_pair, f, s);
    f->weight = 0;
    for (guint i = 0; i < s->outages->len; i++) {
        const rs_outage *outage = g_ptr_array_index(s->outages, i);
        f->weight += outage->standstills->len;
        for (guint j = 0; j < outage->standstills->len; j++) {
            const rs_standstill *one = g_ptr_array_index(outage->standstills, j);
            if (g_hash_table_add(streams, GUINT_TO_POINTER(one->stream))) {
                g_array_append_val(f->streams, one->stream);
            }
            rs_finding_add_frame(f, one->first_frame);
            rs_finding_add_frame(f, one->last_frame);
        }
    }
}

/* ---- all of them ---- */

static void
free_series(gpointer data)
{
    series *s = data;
    g_ptr_array_unref(s->outages);
    g_free(s);
}

/* What tells a place from others: the hosts that all of its queue pairs have in common. */
static rs_pair
key_of(const place *where)
{
    static const rs_pair nowhere;
    rs_pair key = nowhere;
    if (where->one_pair || where->one_host) {
        key.tenant = where->tenant;
        key.src = where->host;
        key.dst = where->one_pair ? where->other : nowhere.dst;
    }
    return key;
}

static series *
series_at(GPtrArray *all, GHashTable *known, const place *where)
{
    const rs_pair key = key_of(where);
    series *s = g_hash_table_lookup(known, &key);
    if (s == NULL) {
        s = g_new0(series, 1);
        s->outages = g_ptr_array_new();
        g_ptr_array_add(all, s);
        g_hash_table_insert(known, g_memdup2(&key, sizeof key), s);
    }
    return s;
}

void
rs_find_outages(rs_findings *all, const rs_finding_row *row)
{
    g_autoptr(GPtrArray) places = g_ptr_array_new_with_free_func(free_series);
    g_autoptr(GHashTable) known =
        g_hash_table_new_full(rs_pair_hash, rs_pair_equal, g_free, NULL);
    if (all->outages->len == 0) {
        return;
    }
    for (guint i = 0; i < all->outages->len; i++) {
        rs_outage *outage = g_ptr_array_index(all->outages, i);
        g_autoptr(GPtrArray) pairs = pairs_of(all, outage);
        const place where = place_of(pairs);
        series *s = series_at(places, known, &where);
        g_ptr_array_add(s->outages, outage);
        if (s->worst == NULL || length_ns(outage) > length_ns(s->worst)) {
            s->worst = outage;
            s->where = where;
        }
    }
    g_autoptr(GPtrArray) data = rs_pairs_of(all, RS_PAIRS_ONCE, carries_data);
    g_autoptr(GHashTable) by_pair = g_hash_table_new(rs_pair_hash, rs_pair_equal);
    for (guint i = 0; i < data->len; i++) {
        g_hash_table_add(by_pair, g_ptr_array_index(data, i));
    }
    for (guint i = 0; i < places->len; i++) {
        report(all, row, by_pair, g_ptr_array_index(places, i));
    }
}

/* ---- what comes of them ---- */

/* What a stream has of the events of a kind. */
static guint64
count_of(const rs_outage_share *share, guint kind)
{
    guint verdict = kind - RS_EVIDENCE_KIND(ROCE_EVENT_LOSS, 0);
    return kind == ROUND(TIMEOUT)      ? share->rounds
           : verdict < ROCE_N_VERDICTS ? share->losses[verdict]
                                       : 0;
}

/* How much of it the outages have. */
static guint64
count_in_outages(const rs_flow *flow, guint kind)
{
    guint64 n = 0;
    for (guint i = 0; i < flow->streams->len; i++) {
        gpointer key = GUINT_TO_POINTER(g_array_index(flow->streams, guint32, i));
        const rs_outage_share *share = g_hash_table_lookup(flow->all->in_outages, key);
        n += share != NULL ? count_of(share, kind) : 0;
    }
    return MIN(n, flow->n);
}

void
rs_flow_tell_outage(const rs_flow *flow, rs_finding *f, guint kind)
{
    guint64 n = flow->all->outages->len > 0 ? count_in_outages(flow, kind) : 0;
    if (n == 0) {
        return;
    }
    g_autofree char *detail = g_steal_pointer(&f->detail);
    g_autofree char *some = rs_format_count(n);
    g_autofree char *which = flow->n == 1   ? g_strdup("It")
                             : n == flow->n ? g_strdup("All of them")
                                            : g_strdup_printf("%s of them", some);
    f->detail = g_strdup_printf(
        "%s  %s %s into the time of %s told.", detail, which, n == 1 ? "falls" : "fall",
        flow->all->outages->len == 1 ? "the outage that is" : "outages that are");
    if (n * 2 > flow->n) {
        g_free(f->advice);
        f->advice = g_strdup("Find what was down at that time first.");
        f->look = NULL;
    }
}
