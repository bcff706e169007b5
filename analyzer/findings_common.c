/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What all losses, or all marks, have in common: one end of their way, or one class.
 *
 * The one rule: it is said only where the evidence tells it from chance.  By far most of
 * what was lost or marked is there, and as much was sent elsewhere that it would have met
 * many packets at the same rate, but met hardly any.  A pair of hosts has both ends in
 * common: so several others have to be met at the end that is named, and none that sent or
 * got enough there may have been spared.  Classes are compared only where they share a
 * sender or a receiver.
 *
 * What was lost or marked in front of a point from which a router takes it on was so neither
 * at the receiver nor on its link, wherever it goes: the end of the way is not where to look.
 *
 * What may have been lost either way, data or its ACK, and what CNPs tell of marks that nobody
 * saw, counts elsewhere as if it had been met there, and nowhere else.
 */
#include "findings_parts.h"
#include "format.h"
#include "onward.h"
#include "pairs.h"
#include "priorities.h"
#include "thresholds.h"

/* Packets sent, and those of them that were lost or marked. */
typedef struct tally {
    guint64 sent, met;
    guint64 certain;  /* of the latter: what is lost or late behind a point is not */
    guint64 doubtful; /* others that may have been */
    guint64 early;    /* of the certain ones, where a router had yet to take them on */
} tally;

/* What can be in common. */
typedef struct trouble {
    const char *name;               /* in ids */
    const char *done, *done_or_not; /* "lost", "lost or late" */
    guint64 (*measure)(const roce_stream *stream);
    guint64 (*certain)(const roce_stream *stream); /* so by the time it came by here */
    void (*add)(tally *sum, const roce_stream *stream);
    rs_severity (*severity)(const tally *there);
    guint evidence[2]; /* RS_EVIDENCE_KINDs; 0: none */
} trouble;

/* ---- losses ---- */

static guint64
count_lost(const roce_stream *s)
{
    return rs_flow_verdicts(s, ROCE_VERDICT_LOST_BEFORE_CAPTURE) +
           rs_flow_verdicts(s, ROCE_VERDICT_UNDELIVERED_AFTER_CAPTURE);
}

static guint64
count_lost_before(const roce_stream *s)
{
    return rs_flow_verdicts(s, ROCE_VERDICT_LOST_BEFORE_CAPTURE);
}

/* Where nothing is sent again, and where one path of several was seen, nobody knows. */
static void
add_losses(tally *sum, const roce_stream *s)
{
    if (!roce_stream_is_reliable(s) || s->partial_path) {
        return;
    }
    guint64 lost = count_lost(s);
    sum->sent += s->space[ROCE_SPACE_REQUESTS].packets +
                 s->space[ROCE_SPACE_RESPONSES].unique_psns + lost;
    sum->met += lost;
    sum->certain += count_lost_before(s);
    sum->doubtful += rs_flow_verdicts(s, ROCE_VERDICT_ACK_LOST) +
                     rs_flow_verdicts(s, ROCE_VERDICT_DATA_OR_ACK_LOST);
}

static rs_severity
losses_severity(const tally *there)
{
    return there->certain * 100 >= there->sent * RS_CRITICAL_LOSS_PERCENT
               ? RS_SEVERITY_CRITICAL
               : RS_SEVERITY_WARNING;
}

/* ---- marks ---- */

static guint64
count_marks(const roce_stream *s)
{
    return s->ecn.codepoint[ROCE_ECN_CE];
}

/* What is not ECN-capable is never marked.  A mark that is made behind the point shows by its
 * CNP alone: where those are not seen either, nobody knows. */
static void
add_marks(tally *sum, const roce_stream *s)
{
    const guint64 *n = s->ecn.codepoint;
    guint64 marks = n[ROCE_ECN_CE];
    guint64 cnps = roce_stream_congestion_of(s)->cnps_received;
    if (marks > 0 || s->vantage == ROCE_VANTAGE_RESPONDER || roce_stream_is_paired(s)) {
        sum->sent += n[1] + n[2] + n[3];
        sum->met += marks;
        sum->certain += marks;
        sum->doubtful += cnps - MIN(cnps, marks);
    }
}

static rs_severity
marks_severity(const tally *there)
{
    return there->met * 100 >= there->sent * RS_WARNING_CE_PERCENT ? RS_SEVERITY_WARNING
                                                                   : RS_SEVERITY_NOTE;
}

static const trouble troubles[] = {
    {"lost",
     "lost",
     "lost or late",
     count_lost,
     count_lost_before,
     add_losses,
     losses_severity,
     {LOSS(LOST_BEFORE_CAPTURE), LOSS(UNDELIVERED_AFTER_CAPTURE)}},
    {"marked",
     "marked CE",
     "marked CE",
     count_marks,
     count_marks,
     add_marks,
     marks_severity,
     {KIND(CE_EPISODE)}},
};

/* ---- evidence ---- */

/* So many of `sent` packets would have been met at the rate of `there`. */
static guint64
expected(const tally *there, guint64 sent)
{
    return there->sent == 0
               ? 0
               : (guint64)((double)there->met * (double)sent / (double)there->sent);
}

static guint64
met_or_doubtful(const tally *sum)
{
    return sum->met + sum->doubtful;
}

/* Whether it is there and not elsewhere. */
static gboolean
tells(const tally *there, const tally *elsewhere, guint64 met_in_all)
{
    guint64 expectation = expected(there, elsewhere->sent);
    return there->met >= RS_COMMON_LEAST &&
           there->met * 100 >= met_in_all * RS_COMMON_PERCENT &&
           expectation >= RS_COMMON_EXPECTED &&
           met_or_doubtful(elsewhere) * 100 <= expectation * (100 - RS_COMMON_PERCENT);
}

/* The streams that are counted, each once: of those that several points saw the one that speaks
 * of it.  const roce_stream *. */
static GPtrArray *
speakers_of(const rs_findings *all, const trouble *of)
{
    const roce_tracker *tracker = all->analysis->tracker;
    GPtrArray *speakers = g_ptr_array_new();
    for (guint32 id = 0; id < roce_tracker_n_streams(tracker); id++) {
        if (rs_summary_stands(all->summary, id)) {
            guint32 most = rs_finding_most_at(all, id, of->measure);
            g_ptr_array_add(speakers,
                            (gpointer)(guintptr)roce_tracker_stream(tracker, most));
        }
    }
    return speakers;
}

static void
show(const rs_findings *all, rs_finding *f, const trouble *of)
{
    for (guint i = 0; i < G_N_ELEMENTS(of->evidence) && of->evidence[i] != 0; i++) {
        rs_finding_add_events(all, f, of->evidence[i]);
    }
}

/* "All 24 packets lost were", "24 of 25 packets lost were" */
static char *
how_many(const trouble *of, const tally *there, guint64 met_in_all)
{
    g_autofree char *n = rs_format_count(there->met);
    g_autofree char *whole = rs_format_count(met_in_all);
    const char *done = there->certain == there->met ? of->done : of->done_or_not;
    return there->met == met_in_all
               ? g_strdup_printf("All %s packets %s were", n, done)
               : g_strdup_printf("%s of %s packets %s were", n, whole, done);
}

/* "1.2 % of what was sent there.  Of 5,000 packets elsewhere none was, and at that rate 60
 * would have been." */
static char *
comparison(const tally *there, const tally *elsewhere, const char *where)
{
    g_autofree char *share = rs_format_share(there->met, there->sent);
    g_autofree char *sent = rs_finding_packets(elsewhere->sent);
    g_autofree char *met = rs_format_count(met_or_doubtful(elsewhere));
    g_autofree char *at_rate = rs_format_count(expected(there, elsewhere->sent));
    return g_strdup_printf("%s of what was sent there.  Of %s %s it was %s; at that "
                           "rate it would have been %s.",
                           share, sent, where,
                           met_or_doubtful(elsewhere) == 0 ? "none" : met, at_rate);
}

/* ---- one end of their way ---- */

typedef enum side {
    TOWARDS, /* all that goes to a host */
    FROM,
} side;

/* All streams from one host to another. */
typedef struct pair_tally {
    rs_pair pair; /* without its streams */
    tally sum;
} pair_tally;

static const roce_addr *
end_of(const rs_pair *pair, side which)
{
    return which == TOWARDS ? &pair->dst : &pair->src;
}

static gboolean
is_at(const rs_pair *pair, side which, const rs_pair *host)
{
    return roce_tenant_equal(&pair->tenant, &host->tenant) &&
           roce_addr_equal(end_of(pair, which), end_of(host, which));
}

/* In the order of their first streams. */
static GPtrArray *
tally_pairs(const rs_findings *all, const GPtrArray *speakers, const trouble *of)
{
    const roce_tracker *tracker = all->analysis->tracker;
    g_autoptr(GArray) onward = rs_onward_streams(all->analysis, all->summary);
    GPtrArray *pairs = g_ptr_array_new_with_free_func(g_free);
    g_autoptr(GHashTable) index = g_hash_table_new(rs_pair_hash, rs_pair_equal);
    for (guint i = 0; i < speakers->len; i++) {
        const roce_stream *s = g_ptr_array_index(speakers, i);
        const pair_tally key = {
            .pair = {.tenant = s->tenant, .src = s->src, .dst = s->dst}};
        pair_tally *one = g_hash_table_lookup(index, &key);
        if (one == NULL) {
            one = g_memdup2(&key, sizeof key);
            g_hash_table_add(index, one);
            g_ptr_array_add(pairs, one);
        }
        of->add(&one->sum, s);
        one->sum.early +=
            rs_onward_most(onward, all->summary, tracker, s->id, of->certain);
    }
    return pairs;
}

static void
add_tally(tally *sum, const tally *one)
{
    sum->sent += one->sent;
    sum->met += one->met;
    sum->certain += one->certain;
    sum->doubtful += one->doubtful;
    sum->early += one->early;
}

/* The only host that can have more than half of it: whoever is left when what others have is
 * set off against it.  NULL: nothing was met at all. */
static const rs_pair *
candidate(const GPtrArray *pairs, side which)
{
    const rs_pair *host = NULL;
    guint64 lead = 0;
    for (guint i = 0; i < pairs->len; i++) {
        const pair_tally *one = g_ptr_array_index(pairs, i);
        guint64 met = one->sum.met;
        if (host != NULL && is_at(&one->pair, which, host)) {
            lead += met;
        } else if (met > lead) {
            host = &one->pair;
            lead = met - lead;
        } else {
            lead -= met;
        }
    }
    return host;
}

/* Traffic by what it has to do with a host: what goes the other way shares its link, but not
 * its direction, and says nothing. */
typedef struct split {
    tally there, elsewhere;
    guint64 met_in_all;
    guint partners;  /* hosts at the other end whose packets were met */
    gboolean spared; /* one of them sent enough, and was not */
} split;

/* Whether it would have been met, at the rate of all others there. */
static gboolean
is_spared(const tally *one, const tally *there)
{
    const tally others = {.sent = there->sent - one->sent, .met = there->met};
    return one->met == 0 && expected(&others, one->sent) >= RS_COMMON_EXPECTED;
}

static split
split_at(const GPtrArray *pairs, side which, const rs_pair *host)
{
    split parts = {0};
    const rs_pair other_way = {
        .tenant = host->tenant, .src = host->dst, .dst = host->src};
    side other = which == TOWARDS ? FROM : TOWARDS;
    for (guint i = 0; i < pairs->len; i++) {
        const pair_tally *one = g_ptr_array_index(pairs, i);
        parts.met_in_all += one->sum.met;
        if (is_at(&one->pair, which, host)) {
            add_tally(&parts.there, &one->sum);
            parts.partners += one->sum.met > 0 ? 1 : 0;
        } else if (!is_at(&one->pair, other, &other_way)) {
            add_tally(&parts.elsewhere, &one->sum);
        }
    }
    for (guint i = 0; i < pairs->len && !parts.spared; i++) {
        const pair_tally *one = g_ptr_array_index(pairs, i);
        parts.spared =
            is_at(&one->pair, which, host) && is_spared(&one->sum, &parts.there);
    }
    return parts;
}

/* Adds the streams there that were met. */
static void
add_streams_at(rs_finding *f, const trouble *of, const GPtrArray *speakers, side which,
               const rs_pair *host)
{
    for (guint i = 0; i < speakers->len; i++) {
        const roce_stream *s = g_ptr_array_index(speakers, i);
        const rs_pair pair = {.tenant = s->tenant, .src = s->src, .dst = s->dst};
        if (of->measure(s) > 0 && is_at(&pair, which, host)) {
            g_array_append_val(f->streams, s->id);
        }
    }
}

static void
report_end(rs_findings *all, const rs_finding_row *row, const trouble *of,
           const GPtrArray *speakers, side which, const rs_pair *host,
           const split *parts)
{
    rs_finding *f = rs_finding_add(all, row, of->severity(&parts->there));
    const roce_addr *addr = end_of(host, which);
    g_autofree char *name = rs_format_addr(addr);
    g_autofree char *what =
        g_strdup_printf("%s:%s-%s", of->name, which == TOWARDS ? "to" : "from", name);
    g_autofree char *label = rs_findings_label_in(all, &host->tenant, addr);
    g_autofree char *n = how_many(of, &parts->there, parts->met_in_all);
    g_autofree char *compared =
        comparison(&parts->there, &parts->elsewhere, "between other hosts");
    rs_finding_about(f, what);
    rs_finding_in(f, &host->tenant);
    f->weight = parts->there.met;
    rs_finding_say(
        f,
        g_strdup_printf("%s %s %s", n, which == TOWARDS ? "on their way to" : "from",
                        label),
        g_strdup_printf("%s %u hosts; %s  What they have in common is the %s of their "
                        "way, at %s.",
                        which == TOWARDS ? "From" : "To", parts->partners, compared,
                        which == TOWARDS ? "end" : "beginning", label));
    add_streams_at(f, of, speakers, which, host);
    show(all, f, of);
}

/* Whether what was met there can have been met at that end, but for few. */
static gboolean
may_be_at(const tally *there, side which)
{
    return which == FROM ||
           there->early * 100 <= there->met * (100 - RS_COMMON_PERCENT);
}

static void
find_end(rs_findings *all, const rs_finding_row *row, const trouble *of,
         const GPtrArray *speakers, const GPtrArray *pairs, side which)
{
    const rs_pair *host = candidate(pairs, which);
    if (host == NULL) {
        return;
    }
    split parts = split_at(pairs, which, host);
    if (parts.partners >= RS_COMMON_PARTNERS && !parts.spared &&
        may_be_at(&parts.there, which) &&
        tells(&parts.there, &parts.elsewhere, parts.met_in_all)) {
        report_end(all, row, of, speakers, which, host, &parts);
    }
}

/* Whether enough was lost, or marked, to ask. */
static gboolean
is_enough(const GPtrArray *speakers, const trouble *of)
{
    guint64 n = 0;
    for (guint i = 0; i < speakers->len && n < RS_COMMON_LEAST; i++) {
        n += of->measure(g_ptr_array_index(speakers, i));
    }
    return n >= RS_COMMON_LEAST;
}

void
rs_find_one_link(rs_findings *all, const rs_finding_row *row)
{
    for (guint i = 0; i < G_N_ELEMENTS(troubles); i++) {
        g_autoptr(GPtrArray) speakers = speakers_of(all, &troubles[i]);
        if (is_enough(speakers, &troubles[i])) {
            g_autoptr(GPtrArray) pairs = tally_pairs(all, speakers, &troubles[i]);
            find_end(all, row, &troubles[i], speakers, pairs, TOWARDS);
            find_end(all, row, &troubles[i], speakers, pairs, FROM);
        }
    }
}

/* ---- one class ---- */

#define N_CLASSES (RS_N_DSCPS * 8) /* DSCPs, each in a priority */

/* The class of all data of a stream; FALSE: it has none, or several. */
static gboolean
class_of(const rs_findings *all, const roce_stream *s, guint *class)
{
    const rs_stream_priorities *p =
        rs_priorities_stream(all->analysis->watchers.priorities, s->id);
    if (p == NULL || p->n_dscps != 1 || p->more_dscps ||
        (p->priorities & (p->priorities - 1)) != 0) {
        return FALSE;
    }
    *class = p->dscps[0] * 8u + (guint)g_bit_nth_msf(p->priorities, -1);
    return TRUE;
}

/* "DSCP 26 (priority 3)" */
static char *
class_words(guint class)
{
    return g_strdup_printf("DSCP %u (priority %u)", class / 8, class % 8);
}

/* All data, by class. */
typedef struct class_tallies {
    tally of[N_CLASSES];
    guint64 met_in_all;
    guint worst; /* where most was met */
} class_tallies;

static void
tally_classes(const rs_findings *all, const trouble *of, const GPtrArray *speakers,
              class_tallies *sums)
{
    for (guint i = 0; i < speakers->len; i++) {
        const roce_stream *s = g_ptr_array_index(speakers, i);
        guint class;
        sums->met_in_all += of->measure(s);
        if (class_of(all, s, &class)) {
            of->add(&sums->of[class], s);
            if (sums->of[class].met > sums->of[sums->worst].met) {
                sums->worst = class;
            }
        }
    }
}

/* Hosts at the ends of streams: rs_tenant_addr, by the end that they are. */
typedef struct end_sets {
    GHashTable *senders, *receivers;
} end_sets;

static void
clear_ends(end_sets *ends)
{
    g_hash_table_unref(ends->senders);
    g_hash_table_unref(ends->receivers);
}

static void
add_ends(end_sets *ends, const roce_stream *s)
{
    (void)rs_tenant_addr_set_add(ends->senders, &s->tenant, &s->src);
    (void)rs_tenant_addr_set_add(ends->receivers, &s->tenant, &s->dst);
}

static gboolean
shares_end(const end_sets *ends, const roce_stream *s)
{
    const rs_tenant_addr from = {s->tenant, s->src};
    const rs_tenant_addr to = {s->tenant, s->dst};
    return g_hash_table_contains(ends->senders, &from) ||
           g_hash_table_contains(ends->receivers, &to);
}

/* Adds the streams of a class that were met, and their ends. */
static void
add_met(const rs_findings *all, const trouble *of, const GPtrArray *speakers,
        guint worst, GArray *streams, end_sets *ends)
{
    for (guint i = 0; i < speakers->len; i++) {
        const roce_stream *s = g_ptr_array_index(speakers, i);
        guint class;
        if (of->measure(s) > 0 && class_of(all, s, &class) && class == worst) {
            g_array_append_val(streams, s->id);
            add_ends(ends, s);
        }
    }
}

/* What shares an end with them and is of other classes; `commonest` of these. */
static tally
tally_others(const rs_findings *all, const trouble *of, const GPtrArray *speakers,
             guint worst, const end_sets *ends, guint *commonest)
{
    g_autofree tally *sums = g_new0(tally, N_CLASSES);
    tally others = {0};
    for (guint i = 0; i < speakers->len; i++) {
        const roce_stream *s = g_ptr_array_index(speakers, i);
        guint class;
        if (class_of(all, s, &class) && class != worst && shares_end(ends, s)) {
            of->add(&sums[class], s);
            of->add(&others, s);
        }
    }
    *commonest = 0;
    for (guint i = 0; i < N_CLASSES; i++) {
        *commonest = sums[i].sent > sums[*commonest].sent ? i : *commonest;
    }
    return others;
}

static void
report_class(rs_findings *all, const rs_finding_row *row, const trouble *of,
             const class_tallies *sums, const tally *others, guint commonest,
             const GArray *streams)
{
    const tally *there = &sums->of[sums->worst];
    rs_finding *f = rs_finding_add(all, row, of->severity(there));
    g_autofree char *what =
        g_strdup_printf("%s:%u:%u", of->name, sums->worst / 8, sums->worst % 8);
    g_autofree char *class = class_words(sums->worst);
    g_autofree char *other = class_words(commonest);
    g_autofree char *n = how_many(of, there, sums->met_in_all);
    g_autofree char *senders = rs_findings_senders(all, streams);
    g_autofree char *where = g_strdup_printf(
        "in other classes, most often %s, from the same senders or to the same "
        "receivers",
        other);
    g_autofree char *compared = comparison(there, others, where);
    rs_finding_about(f, what);
    f->weight = there->met;
    g_array_append_vals(f->streams, streams->data, streams->len);
    rs_finding_say(f, g_strdup_printf("%s of data with %s", n, class),
                   g_strdup_printf("Sent by %s; %s", senders, compared));
    show(all, f, of);
}

static void
find_class(rs_findings *all, const rs_finding_row *row, const trouble *of,
           const GPtrArray *speakers)
{
    g_autofree class_tallies *sums = g_new0(class_tallies, 1);
    g_autoptr(GArray) streams = g_array_new(FALSE, FALSE, sizeof(guint32));
    guint commonest;
    tally_classes(all, of, speakers, sums);
    end_sets ends = {rs_tenant_addr_set_new(), rs_tenant_addr_set_new()};
    add_met(all, of, speakers, sums->worst, streams, &ends);
    const tally others =
        tally_others(all, of, speakers, sums->worst, &ends, &commonest);
    clear_ends(&ends);
    if (tells(&sums->of[sums->worst], &others, sums->met_in_all)) {
        report_class(all, row, of, sums, &others, commonest, streams);
    }
}

void
rs_find_one_class(rs_findings *all, const rs_finding_row *row)
{
    for (guint i = 0; i < G_N_ELEMENTS(troubles); i++) {
        g_autoptr(GPtrArray) speakers = speakers_of(all, &troubles[i]);
        if (is_enough(speakers, &troubles[i])) {
            find_class(all, row, &troubles[i], speakers);
        }
    }
}
