/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "path_fates.h"

#include "path_storm.h"
#include "path_time.h"
#include "sorting.h"

#define MOST_APART_NS ((gint64)1000 * 1000 * 1000 * 1000) /* more is no worse */
#define MOST_PAIRS 4000000 /* of equal copies, of which the best are sought */
#define USUAL_OF 16        /* packets that a usual time is the mean of, about */
#define EARLY_MARGIN 4     /* tolerances after which nothing more can be expected */
#define LEAST_MARGIN_NS 10000000
#define STORM_REACH                                                                    \
    2048               /* CNPs among which the counterpart of one is sought at first, */
#define STORM_NEAR 64  /* and once it is known how long they take, */
#define STORM_TRIES 16 /* or once so many found nothing: they come at even distances */

/* An entry while it is decided on. */
typedef struct decision {
    rs_path *path;
    const rs_match_entry *entry;
    rs_flow *flow;
    guint n_points;
} decision;

static rs_journey *
journey(const decision *d, guint i)
{
    return &g_array_index(d->path->journeys, rs_journey, i);
}

static rs_sighting *
sighting(const decision *d, guint32 at)
{
    return rs_match_sighting(d->path->table, at);
}

/* ---- journeys ---- */

static void
begin_journey(const decision *d, guint i, guint32 at)
{
    rs_journey j = {.last = i};
    for (guint k = 0; k < d->n_points; k++) {
        j.at[k] = k == i ? at : RS_NO_SIGHTING;
    }
    g_array_append_val(d->path->journeys, j);
}

/* CNPs that are equal: as many as a queue pair gets. */
static gboolean
is_storm(const decision *d)
{
    return d->entry->opcode == ROCE_OPCODE_CNP && !d->flow->cnps.numbered;
}

/* How long packets of this kind usually take from one point to another. */
static gint64
usual_between(const decision *d, guint a, guint b)
{
    gint64 sum_ns = 0;
    for (guint k = MIN(a, b); k < MAX(a, b); k++) {
        const rs_flow_segment *n = &d->flow->segment[k];
        gboolean own = is_storm(d) && n->storm_known;
        sum_ns =
            rs_time_add(sum_ns, own ? n->storm_ns : d->path->usual_ns[k][d->flow->way]);
    }
    return sum_ns;
}

static const rs_sighting *
last_of(const decision *d, guint i)
{
    const rs_journey *j = journey(d, i);
    return sighting(d, j->at[j->last]);
}

static const rs_sighting *
here_at(const decision *d, guint i)
{
    return sighting(d, g_array_index(d->path->here, guint32, i));
}

/* By how much the time from a copy to a sighting at the next point is unusual. */
static gint64
apart(const decision *d, guint i, guint here_i)
{
    const rs_sighting *here = here_at(d, here_i);
    const rs_sighting *last = last_of(d, i);
    gint64 took_ns = rs_time_apart(here->at_ns, last->at_ns);
    return rs_time_size(
        rs_time_apart(took_ns, usual_between(d, last->point, here->point)),
        MOST_APART_NS);
}

/* Some that follow each other. */
typedef struct range {
    guint first, n;
} range;

/* Copies so far and sightings at the next point, in their order; of one of both there
 * are fewer, and each of these has a partner. */
typedef struct pairing {
    const decision *d;
    gboolean copies_are_fewer;
    range copies, here; /* among all */
    guint n_few, n_more;
    guint *partner; /* of each of the fewer: its place among the more */
} pairing;

static gint64
cost(const pairing *p, guint few, guint more)
{
    return p->copies_are_fewer
               ? apart(p->d, p->copies.first + few, p->here.first + more)
               : apart(p->d, p->copies.first + more, p->here.first + few);
}

/* Likewise, where there are very many: each has the first behind that of the one before
 * it, behind which the next fits worse. */
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
            gint64 worse = cost(p, k, m) - cost(p, k, chosen);
            if (m != chosen && worse <= p->d->path->tolerance_ns && !is_partner(p, m)) {
                journey(p->d, p->copies.first + m)->ambiguous = TRUE;
            }
        }
    }
}

/* Whether the capture of a point has been on and read at a time. */
static gboolean
is_covered(const decision *d, guint point, gint64 at_ns)
{
    const rs_path_span *span = &d->path->span[point];
    return span->begun && at_ns >= span->first_ns && at_ns <= span->now_ns;
}

/* Whether a copy can have been seen when it came to a point. */
static gboolean
may_go_on(const decision *d, guint i, guint point)
{
    const rs_sighting *last = last_of(d, i);
    return is_covered(d, point,
                      rs_time_add(last->at_ns, usual_between(d, last->point, point)));
}

/* Whether what is seen at the i-th point can have been seen before it. */
static gboolean
may_have_come(const decision *d, guint here_i, guint i)
{
    const rs_sighting *here = here_at(d, here_i);
    for (guint k = 0; k < i; k++) {
        guint point = rs_path_travel(d->path, d->flow->way, k);
        gint64 took_ns = usual_between(d, point, here->point);
        if (is_covered(d, point, rs_time_apart(here->at_ns, took_ns))) {
            return TRUE;
        }
    }
    return FALSE;
}

/* How long equal CNPs take on a segment, by the times between them. */
static void
follow_storm(const decision *d, guint i)
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
    n->storm_known |= rs_storm_delay(&there, &here, usual_between(d, before, point),
                                     reach, &n->storm_ns);
}

/* Of equal CNPs come as many as like in the time in which one capture was on and the other
 * was not, or has not been read: these have no partner. */
static void
leave_out_uncovered(pairing *p, guint i)
{
    const decision *d = p->d;
    guint point = rs_path_travel(d->path, d->flow->way, i);
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
    const decision *d = ctx;
    const rs_journey *x = a;
    const rs_journey *y = b;
    const rs_sighting *s = sighting(d, x->at[x->last]);
    const rs_sighting *t = sighting(d, y->at[y->last]);
    if (s->point == t->point) {
        return rs_by_number(s->frame, t->frame);
    }
    gboolean first = x->last < y->last;
    gint64 took_ns = usual_between(d, s->point, t->point);
    gint64 s_ns = first ? rs_time_add(s->at_ns, took_ns) : s->at_ns;
    gint64 t_ns = first ? t->at_ns : rs_time_add(t->at_ns, took_ns);
    return s_ns < t_ns ? -1 : s_ns > t_ns;
}

/* Copies that a point before missed, or whose capture had not begun, stand behind all
 * others. */
static void
put_in_order(decision *d)
{
    for (guint k = 1; k < d->path->journeys->len; k++) {
        if (journey(d, k)->last != journey(d, 0)->last) {
            g_array_sort_with_data(d->path->journeys, by_order, d);
            return;
        }
    }
}

/* Copies so far with the sightings at the next point. */
static void
join(decision *d, guint i)
{
    put_in_order(d);
    pairing p = {
        .d = d,
        .copies = {.n = d->path->journeys->len},
        .here = {.n = d->path->here->len},
    };
    if (is_storm(d)) {
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
            journey(d, p.copies.first + (p.copies_are_fewer ? k : partner[k]));
        guint here = p.here.first + (p.copies_are_fewer ? partner[k] : k);
        j->at[i] = g_array_index(d->path->here, guint32, here);
        j->last = i;
    }
}

/* What most packets are: one copy so far, and one here. */
static void
go_on(const decision *d, guint i)
{
    rs_journey *j = journey(d, 0);
    j->at[i] = g_array_index(d->path->here, guint32, 0);
    j->last = i;
}

static void
find_journeys(decision *d)
{
    GArray *here = d->path->here;
    g_array_set_size(d->path->journeys, 0);
    for (guint i = 0; i < d->n_points; i++) {
        guint point = rs_path_travel(d->path, d->flow->way, i);
        g_array_set_size(here, 0);
        for (guint32 at = d->entry->first; at != RS_NO_SIGHTING;
             at = sighting(d, at)->next) {
            if (sighting(d, at)->point == point) {
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
}

/* ---- what may be concluded ---- */

/* Both points of a segment were on here. */
void
rs_path_share(rs_flow *flow, const rs_sighting *low, const rs_sighting *high)
{
    rs_flow_segment *n = &flow->segment[low->point];
    const guint64 frames[2] = {low->frame, high->frame};
    for (guint i = 0; i < 2; i++) {
        n->first_shared[i] =
            n->first_shared[i] == 0 ? frames[i] : MIN(n->first_shared[i], frames[i]);
        n->last_shared[i] = MAX(n->last_shared[i], frames[i]);
    }
}

/* Which copies of several are the same is known only now. */
static void
share_all(const decision *d)
{
    for (guint k = 0; k < d->path->journeys->len; k++) {
        const rs_journey *j = journey(d, k);
        for (guint i = 1; i <= j->last; i++) {
            if (j->at[i - 1] != RS_NO_SIGHTING && j->at[i] != RS_NO_SIGHTING) {
                const rs_sighting *a = sighting(d, j->at[i - 1]);
                const rs_sighting *b = sighting(d, j->at[i]);
                rs_path_share(d->flow, a->point < b->point ? a : b,
                              a->point < b->point ? b : a);
            }
        }
    }
}

/* Whether the capture of a neighbour was on when a copy that was seen here has to have
 * come by there. */
static gboolean
was_on(const decision *d, guint point, const rs_sighting *seen)
{
    const rs_path_span *span = &d->path->span[point];
    const rs_flow_segment *n = &d->flow->segment[MIN(point, seen->point)];
    guint side = seen->point < point ? 0 : 1;
    gboolean behind = (d->flow->way == RS_WAY_FORWARD) == (seen->point < point);
    gint64 took_ns = usual_between(d, seen->point, point);
    gint64 there_ns = rs_time_add(seen->at_ns, behind ? took_ns : -took_ns);
    /* Which of many equal ones a capture has begun or ended with is no better known than
     * how long they take. */
    gboolean is_vague = is_storm(d) && !n->storm_known;
    gint64 slack =
        is_vague ? MAX(d->path->tolerance_ns, LEAST_MARGIN_NS) : d->path->tolerance_ns;
    gboolean begun = n->first_shared[side] != 0 && n->first_shared[side] < seen->frame;
    gboolean goes_on = n->last_shared[side] > seen->frame;
    return span->begun && (begun || there_ns - slack > span->first_ns) &&
           (goes_on || !span->ended || there_ns + slack < span->last_ns);
}

/* Whether a point has been read so far that a copy of this time would have come. */
static gboolean
is_read_beyond(const decision *d, guint point, gint64 at_ns)
{
    const rs_path_span *span = &d->path->span[point];
    gint64 margin = MAX(EARLY_MARGIN * d->path->tolerance_ns, LEAST_MARGIN_NS);
    return span->ended || at_ns + margin < span->now_ns;
}

static guint
segment_before(const decision *d, guint i)
{
    guint a = rs_path_travel(d->path, d->flow->way, i - 1);
    guint b = rs_path_travel(d->path, d->flow->way, i);
    return MIN(a, b);
}

/* ---- between two points ---- */

static void
compare_headers(const decision *d, const rs_sighting *from, const rs_sighting *to,
                guint segment)
{
    rs_flow_segment *n = &d->flow->segment[segment];
    rs_path_evidence *seen = d->path->evidence[segment][d->flow->way];
    if (to->ecn == ROCE_ECN_CE && from->ecn != ROCE_ECN_CE &&
        from->ecn != ROCE_ECN_NOT_ECT) {
        n->marked++;
        rs_frames_keep(&seen->marked, to->frame);
    } else if (to->ecn != from->ecn) {
        n->ecn_other++;
    }
    if (to->dscp != from->dscp) {
        n->rewritten++;
        seen->rewrites[from->dscp][to->dscp]++;
        rs_frames_keep(&seen->rewritten, to->frame);
    }
    guint8 corrupt = RS_SIGHTING_CORRUPT;
    if ((to->flags & corrupt) != 0 && (from->flags & corrupt) == 0) {
        n->corrupted++;
        rs_frames_keep(&seen->corrupted, to->frame);
    }
}

static guint
first_of(const rs_journey *j)
{
    guint i = 0;
    while (j->at[i] == RS_NO_SIGHTING) {
        i++;
    }
    return i;
}

/* Whether a single copy came to point i: order and times of several may be those of
 * others. */
static gboolean
is_only_one(const decision *d, guint i)
{
    guint n = d->entry->parted ? 1 : 0;
    for (guint k = 0; k < d->path->journeys->len; k++) {
        n += first_of(journey(d, k)) < i ? 1 : 0;
    }
    return n == 1;
}

static void
add_to_clock(const decision *d, guint segment, const rs_sighting *from,
             const rs_sighting *to)
{
    gboolean forward = d->flow->way == RS_WAY_FORWARD;
    const rs_sighting *low = forward ? from : to;
    const rs_sighting *high = forward ? to : from;
    gint64 low_ns = rs_time_of_stamp(low->stamp_ns);
    const rs_clock_pair pair = {
        .at_ns = low_ns,
        .difference_ns = rs_time_apart(rs_time_of_stamp(high->stamp_ns), low_ns),
        .frame = {low->frame, high->frame},
    };
    rs_clock_add(d->path->clock[segment],
                 forward ? RS_CLOCK_FORWARD : RS_CLOCK_BACKWARD, &pair);
}

/* The copy was seen at i - 1 and at i. */
static void
match(const decision *d, guint i, const rs_sighting *from, rs_sighting *to)
{
    guint segment = segment_before(d, i);
    rs_way way = d->flow->way;
    rs_flow_segment *n = &d->flow->segment[segment];
    n->matched++;
    n->weak += ((from->flags | to->flags) & RS_SIGHTING_WEAK) != 0 ? 1 : 0;
    if (!is_only_one(d, i)) {
        return; /* of equal copies it is not sure enough which is which */
    }
    to->from_frame = from->frame;
    gint64 *usual_ns = &d->path->usual_ns[segment][way];
    gint64 now_ns = rs_time_apart(to->at_ns, from->at_ns);
    *usual_ns += rs_time_apart(now_ns, *usual_ns) / USUAL_OF;
    add_to_clock(d, segment, from, to);
}

/* ---- where a journey begins and ends ---- */

static void
suspect(rs_path *path, guint point, const rs_path_suspect *s)
{
    GArray *list = path->suspects[point];
    if (list->len >= RS_PATH_SUSPECTS) {
        g_array_remove_range(list, 0, RS_PATH_SUSPECTS / 2);
    }
    g_array_append_val(list, *s);
}

/* Keeps a loss to be shown; flows that may be none of this path's cannot crowd out the
 * others. */
static guint32
list_loss(const decision *d, const rs_journey *j, guint point, rs_loss_state state)
{
    rs_path *path = d->path;
    const rs_sighting *last = sighting(d, j->at[j->last]);
    gboolean strange = !rs_flow_is_compared(d->flow, d->n_points);
    if (path->losses->len >= (strange ? RS_PATH_LISTED / 2 : RS_PATH_LISTED)) {
        path->losses_unlisted++;
        return G_MAXUINT32;
    }
    rs_path_loss loss = {
        .flow = d->flow->id,
        .point = point,
        .state = state,
        .ambiguous = j->ambiguous,
        .stamp_ns = last->stamp_ns,
        .psn24 = d->entry->psn24,
        .opcode = d->entry->opcode,
    };
    for (guint i = 0; i < d->n_points; i++) {
        if (j->at[i] != RS_NO_SIGHTING) {
            const rs_sighting *s = sighting(d, j->at[i]);
            loss.frames[s->point] = s->frame;
        }
    }
    g_array_append_val(path->losses, loss);
    return path->losses->len - 1;
}

static void
end_journey(const decision *d, const rs_journey *j)
{
    const rs_sighting *last = sighting(d, j->at[j->last]);
    guint point = last->point;
    guint next = rs_path_travel(d->path, d->flow->way, j->last + 1);
    rs_flow_point *n = &d->flow->point[point];
    if (!is_read_beyond(d, next, last->at_ns)) {
        n->undecided[0]++;
        return;
    }
    if (!was_on(d, next, last)) {
        n->outside[0]++;
        return;
    }
    gboolean acked = (last->flags & RS_SIGHTING_ACKED) != 0;
    gboolean resent = !acked && (last->flags & RS_SIGHTING_RESENT) != 0;
    rs_loss_state state = acked    ? RS_LOSS_ACKED
                          : resent ? RS_LOSS_RESENT
                                   : RS_LOSS_OPEN;
    n->ended_acked += acked ? 1 : 0;
    n->ended_resent += resent ? 1 : 0;
    n->ended_open += acked || resent ? 0 : 1;
    guint segment = MIN(point, next);
    d->flow->segment[segment].ambiguous += j->ambiguous ? 1 : 0;
    const rs_path_suspect s = {
        .frame = last->frame,
        .flow = d->flow->id,
        .loss = acked ? G_MAXUINT32 : list_loss(d, j, point, state),
    };
    if (!acked) {
        suspect(d->path, point, &s);
    }
}

/* The first point that saw it is not the first of the path. */
static void
appear(const decision *d, guint i, const rs_sighting *first, gboolean is_extra)
{
    guint point = first->point;
    guint before = rs_path_travel(d->path, d->flow->way, i - 1);
    guint segment = segment_before(d, i);
    rs_path_evidence *seen = d->path->evidence[segment][d->flow->way];
    rs_flow_point *n = &d->flow->point[point];
    gboolean is_equal = is_extra && !rs_path_may_be_one(d->path, d->entry);
    if (is_equal && was_on(d, before, first)) {
        n->extra_equal++;
    } else if (is_extra && !is_equal) {
        n->extra++;
        rs_frames_keep(&seen->duplicated, first->frame);
    } else if (!is_read_beyond(d, before, first->at_ns)) {
        n->undecided[1]++;
    } else if (!was_on(d, before, first)) {
        n->outside[1]++;
    } else {
        n->appeared++;
        rs_frames_keep(&seen->appeared, first->frame);
    }
}

/* Whether some copy came from before point i. */
static gboolean
any_from_before(const decision *d, guint i)
{
    for (guint k = 0; k < d->path->journeys->len; k++) {
        if (first_of(journey(d, k)) < i) {
            return TRUE;
        }
    }
    return FALSE;
}

/* A copy was seen at i - 1 or before it, there as `before`, and behind i, but not at i. */
static void
pass_over(const decision *d, guint i, const rs_sighting *before)
{
    guint point = rs_path_travel(d->path, d->flow->way, i);
    const rs_path_span *span = &d->path->span[point];
    gint64 there_ns =
        rs_time_add(before->at_ns, usual_between(d, before->point, point));
    gint64 slack = d->path->tolerance_ns;
    if (there_ns - slack > span->first_ns && there_ns + slack < span->now_ns) {
        d->flow->point[point].passed_over++;
    } else {
        d->flow->point[point].passed_off++;
    }
}

static void
tell(const decision *d, const rs_journey *j)
{
    guint first = first_of(j);
    rs_sighting *before = NULL;
    guint before_i = first;
    for (guint i = first; i <= j->last; i++) {
        guint point = rs_path_travel(d->path, d->flow->way, i);
        if (j->at[i] == RS_NO_SIGHTING) {
            pass_over(d, i, before);
            continue;
        }
        rs_sighting *here = sighting(d, j->at[i]);
        d->flow->point[point].shared += first < j->last ? 1 : 0;
        if (before != NULL) {
            compare_headers(d, before, here, segment_before(d, i));
            if (before_i + 1 == i) {
                match(d, i, before, here);
            }
        }
        before = here;
        before_i = i;
    }
    if (first > 0) {
        gboolean is_extra = d->entry->parted || any_from_before(d, first);
        appear(d, first, sighting(d, j->at[first]), is_extra);
    }
    if (j->last + 1 < d->n_points) {
        end_journey(d, j);
    }
}

/* ---- what has come to its end ---- */

static gboolean
is_over(const decision *d, const rs_journey *j)
{
    guint first = first_of(j);
    return (j->last + 1 >= d->n_points ||
            is_read_beyond(d, rs_path_travel(d->path, d->flow->way, j->last + 1),
                           sighting(d, j->at[j->last])->at_ns)) &&
           (first == 0 ||
            is_read_beyond(d, rs_path_travel(d->path, d->flow->way, first - 1),
                           sighting(d, j->at[first])->at_ns));
}

/* Whether a point saw it behind one of which more may come. */
static gboolean
is_behind(const decision *d, const rs_journey *j, const guint64 *open_from)
{
    for (guint i = 0; i < d->n_points; i++) {
        if (j->at[i] != RS_NO_SIGHTING && sighting(d, j->at[i])->frame > open_from[i]) {
            return TRUE;
        }
    }
    return FALSE;
}

static void
open_journey(const decision *d, rs_journey *j, guint64 *open_from)
{
    j->open = TRUE;
    for (guint i = 0; i < d->n_points; i++) {
        if (j->at[i] != RS_NO_SIGHTING) {
            open_from[i] = MIN(open_from[i], sighting(d, j->at[i])->frame);
        }
    }
}

/* Finds which journeys are still open.  Copies that come later are paired with those that
 * stay, in their order: what is behind an open one anywhere therefore stays as well.
 * Returns how many are over. */
static guint
find_open(const decision *d)
{
    guint64 open_from[RS_PATH_MAX_POINTS];
    for (guint i = 0; i < d->n_points; i++) {
        open_from[i] = G_MAXUINT64;
    }
    guint n_over = d->path->journeys->len;
    for (guint before = n_over + 1; n_over < before;) {
        before = n_over;
        for (guint k = 0; k < d->path->journeys->len; k++) {
            rs_journey *j = journey(d, k);
            if (!j->open && (!is_over(d, j) || is_behind(d, j, open_from))) {
                open_journey(d, j, open_from);
                n_over--;
            }
        }
    }
    return n_over;
}

static void
settle(const decision *d, const rs_journey *j)
{
    tell(d, j);
    for (guint i = 0; i < d->n_points; i++) {
        if (j->at[i] != RS_NO_SIGHTING) {
            sighting(d, j->at[i])->flags |= RS_SIGHTING_SETTLED;
        }
    }
}

/* ---- the ways in ---- */

static decision
decide(rs_path *path, guint32 entry)
{
    const rs_match_entry *e = rs_match_entry_of(path->table, entry);
    decision d = {
        .path = path,
        .entry = e,
        .flow = rs_path_flow(path, e->flow),
        .n_points = path->config.n_points,
    };
    rs_flow *flow = d.flow;
    rs_way_by by;
    rs_way way = rs_ways_decide(path->ways, flow->route, &flow->src, &by);
    if (!flow->way_known) {
        flow->way = way;
        flow->way_by = by;
        flow->way_known = TRUE;
    }
    find_journeys(&d);
    share_all(&d);
    return d;
}

void
rs_path_resolve(rs_path *path, guint32 entry)
{
    rs_match_resolve(path->table, entry);
    const decision d = decide(path, entry);
    for (guint i = 0; i < path->journeys->len; i++) {
        tell(&d, journey(&d, i));
    }
}

gboolean
rs_path_settle(rs_path *path, guint32 entry)
{
    const decision d = decide(path, entry);
    if (find_open(&d) == 0) {
        return FALSE;
    }
    for (guint i = 0; i < path->journeys->len; i++) {
        if (!journey(&d, i)->open) {
            settle(&d, journey(&d, i));
        }
    }
    rs_match_part(path->table, entry);
    return TRUE;
}
