/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The pacing of CNPs, from the gaps between them.
 *
 * Whoever sends CNPs about marks that come densely sends them an interval apart, and a
 * little more: until the next mark.  So gaps within the scope of the interval pile up
 * right above it, and none is much shorter.  Of a source at a point three kinds of gaps
 * are kept (include/roce/pacing.h), and from them
 *
 *   1. the interval is taken from the least gaps between CNPs of one queue pair, which
 *      hold in every scope;
 *   2. the pair of addresses, and then the port, is found to be a scope if gaps between
 *      CNPs of its different members are never shorter either, and ruled out if several
 *      are shorter than half.  Where those pile up themselves, members may take turns in
 *      a scope with a shorter interval: it is that if one member has had it several times
 *      in a row, and else nobody knows;
 *   3. where the scope is wide, one queue pair seldom gets two CNPs in a row, and the
 *      least gap of its scope is the interval;
 *   4. it counts for something only if the gaps do pile up, and if marks that found no
 *      CNP show that one was held back, where the point sees marks at all.
 *
 * The least gap is the lowest fiftieth, since stamps jitter.  A CNP right behind a NAK of
 * its sender, as some NICs send it, answers no mark: gaps before and behind it are left
 * out.
 *
 * Limitations: a source is known by its address.  A port with several is several sources,
 * and a pair of addresses is not told from a destination address.
 */
#include "roce/hash.h"
#include "track.h"

#define MAX_NOTIFIERS 1024
#define MAX_WAYS 16384

#define LEAST_PERMILLE 20
#define LEAST_GAPS 8      /* of a kind, to say anything of it */
#define LEAST_CONTRARY 3  /* gaps that contradict a scope */
#define LEAST_HELD_BACK 8 /* marks */
#define HELD_BACK_PART 4  /* of marks, for each gap that is nearly the least */
#define PILE_PERMILLE 200 /* of gaps that are nearly the least one */
#define PILE_SURELY_PERMILLE 600
#define SHORTER_PERMILLE 5
#define SHORTEST_NS 1000 /* no device has a shorter interval: 4 us is the least known */
#define BEHIND_NAK_NS 10000
#define LOOK_ALWAYS 256 /* CNPs, and then now and then */
#define LOOK_EVERY 32

/* CNPs from a source to one address. */
struct roce_cnp_way {
    uint32_t notifier;
    roce_addr dst;
    uint32_t newest; /* stream that carried the newest */
    uint64_t newest_ns;
};

struct roce_notifier_state {
    roce_notifier pub; /* first, so that a roce_notifier is a state */
    bool
        sees_others; /* marks of which it is not known whether CNPs are about their data */
    uint32_t newest_way;
    uint64_t newest_ns;
};

typedef struct roce_cnp_way cnp_way;
typedef struct roce_notifier_state notifier;

#define SCOPE(name) (1u << ROCE_PACING_##name)

/* ---- what the gaps say ---- */

static uint64_t
least_of(const roce_histogram *gaps)
{
    return roce_histogram_quantile(gaps, LEAST_PERMILLE);
}

/* Gaps that are nearly `interval_ns`, or shorter. */
static uint64_t
count_near(const roce_histogram *gaps, uint64_t interval_ns)
{
    return roce_histogram_count_up_to(gaps, interval_ns + interval_ns / 2);
}

/* Whether so many of a thousand, and LEAST_GAPS, are. */
static bool
piles_up(const roce_histogram *gaps, uint64_t interval_ns, unsigned permille)
{
    uint64_t n = count_near(gaps, interval_ns);
    return n >= LEAST_GAPS && n * 1000 >= gaps->count * permille;
}

typedef enum scope_verdict {
    SCOPE_OPEN,
    SCOPE_HOLDS,
    SCOPE_RULED_OUT,
    SCOPE_AMBIGUOUS, /* a short interval in this scope, or a longer one in a narrower */
} scope_verdict;

/* Whether CNPs to different addresses keep a distance that none of the others falls short of:
 * then it may be that of the port, in which all take turns. */
static bool
take_turns_at_port(const roce_notifier *n)
{
    const roce_histogram *between = &n->gaps[ROCE_GAP_OTHER_PAIR];
    if (between->count < LEAST_GAPS) {
        return false;
    }
    uint64_t least_ns = least_of(between);
    bool kept = least_ns >= SHORTEST_NS;
    for (unsigned gap = 0; gap < ROCE_N_PACING_GAPS && kept; gap++) {
        kept = n->gaps[gap].count == 0 ||
               least_of(&n->gaps[gap]) >= least_ns - least_ns / 5;
    }
    return kept && piles_up(between, least_ns, PILE_SURELY_PERMILLE);
}

/* Whether gaps between members keep the distance that a member keeps by itself. */
static scope_verdict
judge(const roce_notifier *n, roce_pacing_gap gap, uint64_t interval_ns)
{
    const roce_histogram *between = &n->gaps[gap];
    const roce_histogram *same = &n->gaps[ROCE_GAP_SAME_QP];
    if (between->count < LEAST_GAPS) {
        return SCOPE_OPEN;
    }
    uint64_t least_ns = least_of(between);
    if (least_ns >= interval_ns - interval_ns / 5) {
        return piles_up(between, least_ns < interval_ns ? least_ns : interval_ns,
                        PILE_PERMILLE)
                   ? SCOPE_HOLDS
                   : SCOPE_OPEN;
    }
    if (least_ns >= SHORTEST_NS && piles_up(between, least_ns, PILE_SURELY_PERMILLE)) {
        uint64_t repeats = roce_histogram_count_up_to(same, least_ns + least_ns / 4);
        return repeats >= LEAST_CONTRARY ? SCOPE_HOLDS : SCOPE_AMBIGUOUS;
    }
    uint64_t shorter = roce_histogram_count_up_to(between, interval_ns / 2);
    if (shorter >= LEAST_CONTRARY) {
        return take_turns_at_port(n) ? SCOPE_AMBIGUOUS : SCOPE_RULED_OUT;
    }
    return SCOPE_OPEN;
}

/* Marks of data of which it is known that CNPs are about it. */
static uint64_t
marks_seen(const roce_notifier *n)
{
    return n->marks_held_back + n->marks_later;
}

/* Whether marks found no CNP, or none are seen here: more of them than there were CNPs, and
 * not fewer than a part of the gaps that are said to come of it.  Where marks are as far apart
 * as the CNPs that answer them, those gaps are theirs. */
static bool
held_back(const notifier *state, uint64_t near)
{
    const roce_notifier *n = &state->pub;
    uint64_t marks = marks_seen(n);
    return (marks == 0 && !state->sees_others) ||
           (n->marks_held_back >= LEAST_HELD_BACK &&
            n->marks_held_back * HELD_BACK_PART >= near &&
            marks >= n->gaps[ROCE_GAP_SAME_QP].count + LEAST_HELD_BACK);
}

/* The gaps that an interval rests on. */
typedef struct support {
    uint64_t interval_ns;
    uint64_t near, n;
    uint64_t shorter; /* by more than stamps that jitter explain */
} support;

static void
lean_on(support *s, const roce_histogram *gaps)
{
    uint64_t least_ns = least_of(gaps);
    s->interval_ns = s->n == 0 || least_ns < s->interval_ns ? least_ns : s->interval_ns;
    s->n += gaps->count;
}

/* Whether hardly any gap is shorter, where gaps have to do: those of regular data pile up as
 * well, and at less than that. */
static bool
has_edge(const roce_notifier *n, const support *s)
{
    return marks_seen(n) > 0 || s->shorter * 1000 <= s->n * SHORTER_PERMILLE;
}

static void
infer(notifier *state)
{
    roce_notifier *n = &state->pub;
    const unsigned narrow = SCOPE(QP);
    const unsigned pair = SCOPE(PAIR) | SCOPE(DESTINATION);
    n->pacing = (roce_pacing){.scopes = narrow | pair | SCOPE(PORT)};
    const roce_histogram *same = &n->gaps[ROCE_GAP_SAME_QP];
    if (same->count == 0) {
        return;
    }
    const struct {
        roce_pacing_gap gap;
        unsigned narrower, wider; /* scopes that fall if it holds, if it does not */
    } steps[] = {
        {ROCE_GAP_OTHER_QP, narrow, pair | SCOPE(PORT)},
        {ROCE_GAP_OTHER_PAIR, narrow | pair, SCOPE(PORT)},
    };
    const roce_histogram *used[ROCE_N_PACING_GAPS] = {same};
    unsigned n_used = 1;
    support rests_on = {0};
    lean_on(&rests_on, same);
    scope_verdict verdict = SCOPE_OPEN;
    for (unsigned i = 0; i < sizeof steps / sizeof *steps; i++) {
        const roce_histogram *between = &n->gaps[steps[i].gap];
        verdict = judge(n, steps[i].gap, rests_on.interval_ns);
        if (verdict == SCOPE_HOLDS) {
            n->pacing.scopes &= ~steps[i].narrower;
            lean_on(&rests_on, between);
            used[n_used++] = between;
        } else if (verdict == SCOPE_RULED_OUT) {
            n->pacing.scopes &= ~steps[i].wider;
        }
        if (verdict == SCOPE_RULED_OUT || verdict == SCOPE_AMBIGUOUS) {
            break;
        }
    }
    for (unsigned i = 0; i < n_used; i++) {
        rests_on.near += count_near(used[i], rests_on.interval_ns);
        rests_on.shorter += roce_histogram_count_up_to(
            used[i], rests_on.interval_ns - rests_on.interval_ns / 5);
    }
    n->pacing.interval_ns = rests_on.interval_ns;
    n->pacing.known = verdict != SCOPE_AMBIGUOUS && rests_on.near >= LEAST_GAPS &&
                      rests_on.near * 1000 >= rests_on.n * PILE_PERMILLE &&
                      rests_on.interval_ns >= SHORTEST_NS && has_edge(n, &rests_on) &&
                      held_back(state, rests_on.near);
}

roce_pacing_scope
roce_pacing_scope_of(const roce_pacing *pacing)
{
    if (!pacing->known) {
        return ROCE_N_PACING_SCOPES;
    }
    switch (pacing->scopes) {
    case SCOPE(QP):
        return ROCE_PACING_QP;
    case SCOPE(PAIR):
    case SCOPE(PAIR) | SCOPE(DESTINATION):
        return ROCE_PACING_PAIR;
    case SCOPE(PORT):
        return ROCE_PACING_PORT;
    default: /* a set of bits, no enumeration */
        return ROCE_N_PACING_SCOPES;
    }
}

/* ---- sources of CNPs, and their ways ---- */

static uint64_t
hash_notifier(const roce_stream *s, const roce_addr *addr)
{
    return roce_hash_addr(roce_hash_tenant(s->point, &s->tenant), addr);
}

/* The source with this address where `s` was seen; ROCE_INDEX_END when there is none. */
static uint32_t
find_notifier(const roce_tracker *t, const roce_stream *s, const roce_addr *addr)
{
    const roce_index *index = &t->notifier_index;
    uint32_t i = roce_index_first(index, hash_notifier(s, addr));
    while (i != ROCE_INDEX_END) {
        const roce_notifier *n = &t->notifiers[i].pub;
        if (n->point == s->point && roce_tenant_equal(&n->tenant, &s->tenant) &&
            roce_addr_equal(&n->addr, addr)) {
            break;
        }
        i = roce_index_next(index, i);
    }
    return i;
}

static uint32_t
find_way(const roce_tracker *t, uint32_t notifier_i, const roce_addr *dst)
{
    const roce_index *index = &t->cnp_way_index;
    uint32_t i = roce_index_first(index, roce_hash_addr(notifier_i, dst));
    while (i != ROCE_INDEX_END && (t->cnp_ways[i].notifier != notifier_i ||
                                   !roce_addr_equal(&t->cnp_ways[i].dst, dst))) {
        i = roce_index_next(index, i);
    }
    return i;
}

static uint32_t
make_notifier(roce_tracker *t, const roce_stream_state *s, const roce_arrival *a)
{
    uint32_t i = t->n_notifiers;
    if (i == MAX_NOTIFIERS ||
        !roce_track_reserve(t, (void **)&t->notifiers, &t->notifiers_capacity, i,
                            sizeof *t->notifiers) ||
        !roce_index_add(&t->notifier_index, &t->alloc,
                        hash_notifier(&s->pub, &s->pub.src))) {
        roce_track_evicted(t, ROCE_TABLE_NOTIFIERS, s, a);
        return ROCE_INDEX_END;
    }
    t->notifiers[i] = (notifier){
        .pub =
            {
                .point = s->pub.point,
                .tenant = s->pub.tenant,
                .addr = s->pub.src,
                .first_frame = a->frame->number,
            },
        .newest_way = ROCE_INDEX_END,
    };
    t->n_notifiers++;
    return i;
}

static uint32_t
make_way(roce_tracker *t, const roce_stream_state *s, const roce_arrival *a,
         uint32_t notifier_i)
{
    uint32_t i = t->n_cnp_ways;
    if (i == MAX_WAYS ||
        !roce_track_reserve(t, (void **)&t->cnp_ways, &t->cnp_ways_capacity, i,
                            sizeof *t->cnp_ways) ||
        !roce_index_add(&t->cnp_way_index, &t->alloc,
                        roce_hash_addr(notifier_i, &s->pub.dst))) {
        roce_track_evicted(t, ROCE_TABLE_NOTIFIERS, s, a);
        return ROCE_INDEX_END;
    }
    t->cnp_ways[i] =
        (cnp_way){.notifier = notifier_i, .dst = s->pub.dst, .newest = ROCE_NO_STREAM};
    t->n_cnp_ways++;
    return i;
}

/* The way of the CNPs that `s` carries, found or made; NULL beyond the bounds. */
static cnp_way *
way_of(roce_tracker *t, roce_stream_state *s, const roce_arrival *a)
{
    uint32_t known = roce_congestion_of(s)->cnp_way;
    if (known != 0) {
        return &t->cnp_ways[known - 1];
    }
    uint32_t notifier_i = find_notifier(t, &s->pub, &s->pub.src);
    if (notifier_i == ROCE_INDEX_END) {
        notifier_i = make_notifier(t, s, a);
    }
    if (notifier_i == ROCE_INDEX_END) {
        return NULL;
    }
    uint32_t i = find_way(t, notifier_i, &s->pub.dst);
    if (i == ROCE_INDEX_END) {
        i = make_way(t, s, a, notifier_i);
    }
    if (i == ROCE_INDEX_END) {
        return NULL;
    }
    roce_congestion_make(t, s)->cnp_way = i + 1;
    return &t->cnp_ways[i];
}

/* ---- CNPs and marks ---- */

static void
add_gap(roce_tracker *t, roce_notifier *n, roce_pacing_gap kind, uint64_t from_ns,
        uint64_t now_ns)
{
    if (now_ns >= from_ns) {
        roce_histogram_add(&n->gaps[kind], &t->alloc, now_ns - from_ns);
    }
}

void
roce_pacing_nak(roce_tracker *t, roce_stream_state *s, const roce_arrival *a)
{
    roce_trouble *trouble = roce_trouble_make(t, s);
    trouble->carried_nak = true;
    trouble->carried_nak_ns = a->frame->time_ns;
}

/* Whether a CNP seems to go with a NAK: one with each. */
static bool
goes_with_nak(roce_stream_state *s, uint64_t now_ns)
{
    roce_trouble *trouble = roce_trouble_had(s);
    if (trouble == NULL || !trouble->carried_nak) {
        return false;
    }
    trouble->carried_nak = false;
    return now_ns >= trouble->carried_nak_ns &&
           now_ns - trouble->carried_nak_ns <= BEHIND_NAK_NS;
}

void
roce_pacing_cnp(roce_tracker *t, roce_stream_state *s, const roce_arrival *a)
{
    cnp_way *way = way_of(t, s, a);
    if (way == NULL) {
        return;
    }
    notifier *n = &t->notifiers[way->notifier];
    uint64_t now = a->frame->time_ns;
    uint32_t way_i = (uint32_t)(way - t->cnp_ways);
    roce_congestion *c = roce_congestion_make(t, s);
    n->pub.cnps++;
    if (goes_with_nak(s, now)) {
        c->carried_cnp = false;
        way->newest = ROCE_NO_STREAM;
        n->newest_way = ROCE_INDEX_END;
        return;
    }
    if (c->carried_cnp) {
        add_gap(t, &n->pub, ROCE_GAP_SAME_QP, c->carried_cnp_ns, now);
    }
    if (way->newest != ROCE_NO_STREAM && way->newest != s->pub.id) {
        add_gap(t, &n->pub, ROCE_GAP_OTHER_QP, way->newest_ns, now);
    }
    if (n->newest_way != ROCE_INDEX_END && n->newest_way != way_i) {
        add_gap(t, &n->pub, ROCE_GAP_OTHER_PAIR, n->newest_ns, now);
    }
    c->carried_cnp = true;
    c->carried_cnp_ns = way->newest_ns = n->newest_ns = now;
    way->newest = s->pub.id;
    n->newest_way = way_i;
    if (n->pub.cnps < LOOK_ALWAYS || n->pub.cnps % LOOK_EVERY == 0) {
        infer(n);
    }
}

/* Who sends CNPs about the data of `s`: who did, else the receiver; NULL: nobody has. */
static notifier *
notifier_of(const roce_tracker *t, const roce_stream_state *s)
{
    uint32_t complainer = roce_congestion_of(s)->complainer;
    if (complainer != 0) {
        uint32_t way = roce_congestion_of(roce_state_at(t, complainer - 1))->cnp_way;
        return way != 0 ? &t->notifiers[t->cnp_ways[way - 1].notifier] : NULL;
    }
    uint32_t i = find_notifier(t, &s->pub, &s->pub.dst);
    return i != ROCE_INDEX_END ? &t->notifiers[i] : NULL;
}

uint64_t
roce_pacing_interval_ns(const roce_tracker *t, const roce_stream_state *s)
{
    const notifier *n = notifier_of(t, s);
    return n != NULL && n->pub.pacing.known ? n->pub.pacing.interval_ns : 0;
}

uint64_t
roce_pacing_least_gap_ns(const roce_tracker *t, const roce_stream_state *s)
{
    const notifier *n = notifier_of(t, s);
    return n != NULL ? n->pub.pacing.interval_ns : 0;
}

void
roce_pacing_mark(roce_tracker *t, const roce_stream_state *s, uint64_t now_ns)
{
    notifier *n = notifier_of(t, s);
    const roce_congestion *c = roce_congestion_of(s);
    if (n == NULL) {
        return;
    }
    n->sees_others |= !c->cnp_seen;
    if (!c->cnp_seen || n->pub.pacing.interval_ns == 0) {
        return;
    }
    uint64_t since_ns = roce_since_ns(now_ns, c->last_cnp_ns);
    bool soon = since_ns < n->pub.pacing.interval_ns / 2;
    n->pub.marks_held_back += soon ? 1 : 0;
    n->pub.marks_later += soon ? 0 : 1;
}

bool
roce_pacing_newest(const roce_tracker *t, const roce_stream_state *s, uint64_t *time_ns)
{
    const notifier *n = notifier_of(t, s);
    if (n == NULL) {
        return false;
    }
    uint32_t way_i = find_way(t, (uint32_t)(n - t->notifiers), &s->pub.src);
    uint32_t complainer = roce_congestion_of(s)->complainer;
    uint32_t carrier = complainer != 0 ? complainer - 1 : s->pub.peer;
    switch (roce_pacing_scope_of(&n->pub.pacing)) {
    case ROCE_PACING_PORT:
        *time_ns = n->newest_ns;
        return true;
    case ROCE_PACING_PAIR:
    case ROCE_PACING_DESTINATION:
        if (way_i != ROCE_INDEX_END) {
            *time_ns = t->cnp_ways[way_i].newest_ns;
        }
        return way_i != ROCE_INDEX_END;
    case ROCE_PACING_QP:
    case ROCE_N_PACING_SCOPES: /* what is sure in any scope */
        break;
    }
    if (carrier == ROCE_NO_STREAM ||
        !roce_congestion_of(roce_state_at(t, carrier))->carried_cnp) {
        return false;
    }
    *time_ns = roce_congestion_of(roce_state_at(t, carrier))->carried_cnp_ns;
    return true;
}

void
roce_pacing_finish(roce_tracker *t)
{
    for (uint32_t i = 0; i < t->n_notifiers; i++) {
        infer(&t->notifiers[i]);
    }
}

static void
release(roce_tracker *t, void *array)
{
    if (array != NULL) {
        t->alloc.release(t->alloc.ctx, array);
    }
}

void
roce_pacing_clear(roce_tracker *t)
{
    for (uint32_t i = 0; i < t->n_notifiers; i++) {
        for (unsigned kind = 0; kind < ROCE_N_PACING_GAPS; kind++) {
            roce_histogram_clear(&t->notifiers[i].pub.gaps[kind], &t->alloc);
        }
    }
    release(t, t->notifiers);
    release(t, t->cnp_ways);
    roce_index_clear(&t->notifier_index, &t->alloc);
    roce_index_clear(&t->cnp_way_index, &t->alloc);
}

uint32_t
roce_tracker_n_notifiers(const roce_tracker *t)
{
    return t->n_notifiers;
}

const roce_notifier *
roce_tracker_notifier(const roce_tracker *t, uint32_t i)
{
    return &t->notifiers[i].pub;
}

const roce_notifier *
roce_tracker_notifier_of(const roce_tracker *t, uint32_t stream)
{
    const notifier *n = notifier_of(t, roce_state_at(t, stream));
    return n != NULL ? &n->pub : NULL;
}
