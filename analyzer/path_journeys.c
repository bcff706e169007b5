/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "path_journeys.h"

#include "path_storm.h"
#include "path_time.h"
#include "sorting.h"

#define MOST_APART_NS ((gint64)1000 * 1000 * 1000 * 1000) /* more is no worse */
#define MOST_PAIRS 4000000 /* of equal copies, of which the best are sought */
#define NO_MISSES 64 /* tolerances, for going round a point that missed nothing else */
#define STORM_REACH                                                                    \
    2048               /* CNPs among which the counterpart of one is sought at first, */
#define STORM_NEAR 64  /* and once it is known how long they take, */
#define STORM_TRIES 16 /* or once so many found nothing: they come at even distances */

static void
begin_journey(const rs_decision *d, guint i, guint32 at)
{
    rs_journey j = {.last = i};
    for (guint k = 0; k < d->n_points; k++) {
        j.at[k] = k == i ? at : RS_NO_SIGHTING;
    }
    g_array_append_val(d->path->journeys, j);
}

gint64
rs_usual_between(const rs_decision *d, guint a, guint b)
{
    gint64 sum_ns = 0;
    for (guint k = MIN(a, b); k < MAX(a, b); k++) {
        const rs_flow_segment *n = &d->flow->segment[k];
        gboolean own = rs_is_storm(d) && n->storm_known;
        sum_ns =
            rs_time_add(sum_ns, own ? n->storm_ns : d->path->usual_ns[k][d->flow->way]);
    }
    return sum_ns;
}

static const rs_sighting *
last_of(const rs_decision *d, guint i)
{
    const rs_journey *j = rs_journey_at(d, i);
    return rs_sighting_at(d, j->at[j->last]);
}

static const rs_sighting *
here_at(const rs_decision *d, guint i)
{
    return rs_sighting_at(d, g_array_index(d->path->here, guint32, i));
}

/* By how much the time from a copy to a sighting at the next point is unusual. */
static gint64
apart(const rs_decision *d, guint i, guint here_i)
{
    const rs_sighting *here = here_at(d, here_i);
    const rs_sighting *last = last_of(d, i);
    gint64 took_ns = rs_time_apart(here->at_ns, last->at_ns);
    return rs_time_size(
        rs_time_apart(took_ns, rs_usual_between(d, last->point, here->point)),
        MOST_APART_NS);
}

/* Whether the capture of a point has been on and read at a time. */
static gboolean
is_covered(const rs_decision *d, guint point, gint64 at_ns)
{
    const rs_path_span *span = &d->path->span[point];
    return span->begun && at_ns >= span->first_ns && at_ns <= span->last_ns;
}

/* Whether a copy can have been seen when it came to a point. */
static gboolean
may_go_on(const rs_decision *d, guint i, guint point)
{
    const rs_sighting *last = last_of(d, i);
    return is_covered(
        d, point, rs_time_add(last->at_ns, rs_usual_between(d, last->point, point)));
}

/* What it costs that a copy came by points before the i-th that did not see it, though they
 * could.  Where nothing else that they missed is known, it is likelier that it did not come by
 * there, and that what did took an unusual time. */
static gint64
round_cost(const rs_decision *d, guint journey, guint i)
{
    gint64 most_ns = 0;
    for (guint k = rs_journey_at(d, journey)->last + 1; k < i; k++) {
        guint point = rs_path_travel(d->path, d->flow->way, k);
        if (may_go_on(d, journey, point)) {
            gboolean may_miss = rs_is_storm(d) || d->flow->point[point].passed_over > 0;
            gint64 tolerance_ns = d->path->tolerance_ns;
            most_ns = MAX(most_ns, may_miss ? tolerance_ns : NO_MISSES * tolerance_ns);
        }
    }
    return most_ns;
}

/* Some that follow each other. */
typedef struct range {
    guint first, n;
} range;

/* Copies so far and sightings at the next point, in their order; of one of both there
 * are fewer, and each of these has a partner. */
typedef struct pairing {
    const rs_decision *d;
    guint i; /* that point, in the direction of travel */
    gboolean copies_are_fewer;
    range copies, here; /* among all */
    guint n_few, n_more;
    guint *partner; /* of each of the fewer: its place among the more */
} pairing;

static gint64
misfit(const pairing *p, guint few, guint more)
{
    return p->copies_are_fewer
               ? apart(p->d, p->copies.first + few, p->here.first + more)
               : apart(p->d, p->copies.first + more, p->here.first + few);
}

/* The same, and for a copy that went round a point what that costs. */
static gint64
cost(const pairing *p, guint few, guint more)
{
    guint copy = p->copies.first + (p->copies_are_fewer ? few : more);
    return misfit(p, few, more) + round_cost(p->d, copy, p->i);
}

/* As pair_by_time(), where there are very many: each has the first behind that of the one
 * before it, behind which the next fits worse. */
static void
pair_one_by_one(const pairing *p)
{
    guint width = p->n_more - p->n_few + 1;
    guint w = 0;
    for (guint k = 0; k < p->n_few; k++) {
        while (w + 1 < width && cost(p, k, k + w + 1) < cost(p, k, k + w)) {
            w++;
        }
        p->partner[k] = k + w;
    }
}

/* Which of the more stay alone, so that the times fit best.  The k-th of the fewer can
 * have the k-th of the more or one of as many behind it as there are more. */
static void
pair_by_time(const pairing *p)
{
    guint width = p->n_more - p->n_few + 1;
    if ((guint64)p->n_few * width > MOST_PAIRS) {
        pair_one_by_one(p);
        return;
    }
    g_autofree gint64 *best = g_new(gint64, (gsize)p->n_few * width);
    for (guint k = 0; k < p->n_few; k++) {
        for (guint w = 0; w < width; w++) {
            gint64 before = k > 0 ? best[(k - 1) * width + w] : 0;
            gint64 with = before + cost(p, k, k + w);
            gint64 *at = &best[k * width + w];
            *at = w > 0 ? MIN(at[-1], with) : with;
        }
    }
    /* What the network makes two of comes first as it was: the later is the copy. */
    gboolean only_first = p->copies_are_fewer && p->n_few == 1 &&
                          rs_path_is_numbered(p->d->flow, p->d->entry->opcode);
    guint w = only_first ? 0 : width - 1;
    for (guint k = p->n_few; k-- > 0;) {
        while (w > 0 && best[k * width + w] == best[k * width + w - 1]) {
            w--;
        }
        p->partner[k] = k + w;
    }
}

static gboolean
is_partner(const pairing *p, guint more)
{
    guint low = 0; /* partners rise */
    for (guint high = p->n_few; low < high;) {
        guint k = low + (high - low) / 2;
        if (p->partner[k] < more) {
            low = k + 1;
        } else {
            high = k;
        }
    }
    return low < p->n_few && p->partner[low] == more;
}

/* Copies that stay alone although a neighbour's partner would fit them about as well. */
static void
find_ambiguous(const pairing *p)
{
    for (guint k = 0; k < p->n_few; k++) {
        guint chosen = p->partner[k];
        for (guint m = chosen > 0 ? chosen - 1 : 0; m <= chosen + 1 && m < p->n_more;
             m++) {
            gint64 worse = misfit(p, k, m) - misfit(p, k, chosen);
            if (m != chosen && worse <= p->d->path->tolerance_ns && !is_partner(p, m)) {
                rs_journey_at(p->d, p->copies.first + m)->ambiguous = TRUE;
                rs_journey_at(p->d, p->copies.first + chosen)->unsure = TRUE;
            }
        }
    }
}

/* Whether what is seen at the i-th point can have been seen before it. */
static gboolean
may_have_come(const rs_decision *d, guint here_i, guint i)
{
    const rs_sighting *here = here_at(d, here_i);
    for (guint k = 0; k < i; k++) {
        guint point = rs_path_travel(d->path, d->flow->way, k);
        gint64 took_ns = rs_usual_between(d, point, here->point);
        if (is_covered(d, point, rs_time_apart(here->at_ns, took_ns))) {
            return TRUE;
        }
    }
    return FALSE;
}

/* How long equal CNPs take on a segment, by the times between them. */
static void
follow_storm(const rs_decision *d, guint i)
{
    guint point = rs_path_travel(d->path, d->flow->way, i);
    guint before = rs_path_travel(d->path, d->flow->way, i - 1);
    g_autoptr(GArray) from = g_array_new(FALSE, FALSE, sizeof(gint64));
    g_autoptr(GArray) to = g_array_new(FALSE, FALSE, sizeof(gint64));
    for (guint k = 0; k < d->path->journeys->len; k++) {
        if (last_of(d, k)->point == before) {
            g_array_append_val(from, last_of(d, k)->at_ns);
        }
    }
    for (guint k = 0; k < d->path->here->len; k++) {
        g_array_append_val(to, here_at(d, k)->at_ns);
    }
    const rs_storm there = {(const gint64 *)(void *)from->data, from->len};
    const rs_storm here = {(const gint64 *)(void *)to->data, to->len};
    rs_flow_segment *n = &d->flow->segment[MIN(point, before)];
    gboolean near = n->storm_known || n->storm_tries++ >= STORM_TRIES;
    guint reach = near ? STORM_NEAR : STORM_REACH;
    n->storm_known |= rs_storm_delay(&there, &here, rs_usual_between(d, before, point),
                                     reach, &n->storm_ns);
}

/* Of equal CNPs come as many as like in the time in which one capture was on and the other
 * was not, or has not been read: these have no partner.  While nothing is known of what they
 * take, so many stay that there are as many on both sides, if there were. */
static void
leave_out_uncovered(pairing *p, guint i)
{
    const rs_decision *d = p->d;
    guint point = rs_path_travel(d->path, d->flow->way, i);
    guint before = rs_path_travel(d->path, d->flow->way, i - 1);
    const range copies = p->copies;
    const range here = p->here;
    while (p->copies.n > 0 && !may_go_on(d, p->copies.first, point)) {
        p->copies.first++;
        p->copies.n--;
    }
    while (p->copies.n > 0 && !may_go_on(d, p->copies.first + p->copies.n - 1, point)) {
        p->copies.n--;
    }
    while (p->here.n > 0 && !may_have_come(d, p->here.first, i)) {
        p->here.first++;
        p->here.n--;
    }
    while (p->here.n > 0 && !may_have_come(d, p->here.first + p->here.n - 1, i)) {
        p->here.n--;
    }
    if (!d->flow->segment[MIN(point, before)].storm_known && copies.n == here.n &&
        p->copies.n != p->here.n) {
        p->copies = copies;
        p->here = here;
    }
}

/* Sightings that have no partner begin a journey. */
static void
begin_others(const pairing *p, guint i)
{
    for (guint m = 0; m < p->d->path->here->len; m++) {
        gboolean paired = m >= p->here.first && m < p->here.first + p->here.n &&
                          (!p->copies_are_fewer || is_partner(p, m - p->here.first));
        if (!paired) {
            begin_journey(p->d, i, g_array_index(p->d->path->here, guint32, m));
        }
    }
}

/* Those that were seen last at the same point in its order, else by when they are due. */
static gint
by_order(gconstpointer a, gconstpointer b, gpointer ctx)
{
    const rs_decision *d = ctx;
    const rs_journey *x = a;
    const rs_journey *y = b;
    const rs_sighting *s = rs_sighting_at(d, x->at[x->last]);
    const rs_sighting *t = rs_sighting_at(d, y->at[y->last]);
    if (s->point == t->point) {
        return rs_by_number(s->frame, t->frame);
    }
    gboolean first = x->last < y->last;
    gint64 took_ns = rs_usual_between(d, s->point, t->point);
    gint64 s_ns = first ? rs_time_add(s->at_ns, took_ns) : s->at_ns;
    gint64 t_ns = first ? t->at_ns : rs_time_add(t->at_ns, took_ns);
    return s_ns < t_ns ? -1 : s_ns > t_ns;
}

/* Copies that a point before missed, or whose capture had not begun, stand behind all
 * others. */
static void
put_in_order(rs_decision *d)
{
    for (guint k = 1; k < d->path->journeys->len; k++) {
        if (rs_journey_at(d, k)->last != rs_journey_at(d, 0)->last) {
            g_array_sort_with_data(d->path->journeys, by_order, d);
            return;
        }
    }
}

/* Copies so far with the sightings at the next point. */
static void
join(rs_decision *d, guint i)
{
    put_in_order(d);
    pairing p = {
        .d = d,
        .i = i,
        .copies = {.n = d->path->journeys->len},
        .here = {.n = d->path->here->len},
    };
    if (rs_is_storm(d)) {
        follow_storm(d, i);
        leave_out_uncovered(&p, i);
    }
    p.copies_are_fewer = p.copies.n <= p.here.n;
    p.n_few = MIN(p.copies.n, p.here.n);
    p.n_more = MAX(p.copies.n, p.here.n);
    g_autofree guint *partner = g_new(guint, p.n_few);
    p.partner = partner;
    pair_by_time(&p);
    if (!p.copies_are_fewer) {
        find_ambiguous(&p);
    }
    begin_others(&p, i);
    for (guint k = 0; k < p.n_few; k++) {
        rs_journey *j =
            rs_journey_at(d, p.copies.first + (p.copies_are_fewer ? k : partner[k]));
        guint here = p.here.first + (p.copies_are_fewer ? partner[k] : k);
        j->at[i] = g_array_index(d->path->here, guint32, here);
        j->last = i;
    }
}

/* What most packets are: one copy so far, and one here. */
static void
go_on(const rs_decision *d, guint i)
{
    rs_journey *j = rs_journey_at(d, 0);
    j->at[i] = g_array_index(d->path->here, guint32, 0);
    j->last = i;
}

/* Sightings without an ICRC may be those of other packets. */
static void
doubt_all(const rs_decision *d)
{
    for (guint k = 0; k < d->path->journeys->len; k++) {
        rs_journey_at(d, k)->ambiguous = TRUE;
    }
}

void
rs_find_journeys(rs_decision *d)
{
    GArray *here = d->path->here;
    g_array_set_size(d->path->journeys, 0);
    for (guint i = 0; i < d->n_points; i++) {
        guint point = rs_path_travel(d->path, d->flow->way, i);
        g_array_set_size(here, 0);
        for (guint32 at = d->entry->first; at != RS_NO_SIGHTING;
             at = rs_sighting_at(d, at)->next) {
            if (rs_sighting_at(d, at)->point == point) {
                g_array_append_val(here, at);
            }
        }
        guint n_open = d->path->journeys->len;
        for (guint k = 0; n_open == 0 && k < here->len; k++) {
            begin_journey(d, i, g_array_index(here, guint32, k));
        }
        if (n_open == 1 && here->len == 1) {
            go_on(d, i);
        } else if (n_open > 0 && here->len > 0) {
            join(d, i);
        }
    }
    if (d->entry->vague) {
        doubt_all(d);
    }
}
