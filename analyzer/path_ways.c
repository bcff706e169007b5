/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "path_ways.h"

#include "path_time.h"

#include "roce/hash.h"

#define MAX_ROUTES 65536
#define NEWEST_OF 1024      /* differences: an older one of the other way is no help */
#define SET_NS 50000000     /* and one so far off comes from before a clock was set */
#define CLIP_NS 1000000     /* no single packet says more than this */
#define SURE 8              /* deviations that a sum has to be off from 0 */
#define TOGETHER_NS 1000000 /* of both directions: clocks drift meanwhile */

/* The newest packet of one direction. */
typedef struct newest {
    gboolean known;
    guint low, high;
    gint64 at_ns, difference_ns;
} newest;

/* What packets of both directions that follow each other differ by, and the time from the
 * one to the other. */
typedef struct together {
    gint64 signs, sum_ns, sizes_ns;
    double squares, from_b_to_a_ns;
} together;

/* How much differences change from a packet to the next of its direction, in all the time
 * from the one to the other: clocks that run alike change them by what packets wait for. */
typedef struct pace {
    double change_ns, time_ns;
} pace;

/* Positive: what the lesser address sends goes forward. */
typedef struct route {
    roce_addr a, b; /* the lesser first */
    gint64 hops, one_clock_ns, far_apart_ns;
    together both_ways;
    pace pace;
    gint64 packets;   /* from a more than from b */
    gint64 first;     /* of whom the first was: 1 from a, -1 from b */
    newest newest[2]; /* from a, from b */
} route;

struct rs_ways {
    GPtrArray *routes;
    GHashTable *by_addrs; /* route -> number + 1 */
};

const char *
rs_way_by_name(rs_way_by by)
{
    static const char *const names[] = {
        [RS_WAY_BY_HOPS] = "hop_limit",
        [RS_WAY_BY_ONE_CLOCK] = "one_clock",
        [RS_WAY_BY_BOTH_WAYS] = "both_directions",
        [RS_WAY_BY_ORDER_GIVEN] = "order_given",
    };
    return names[by];
}

static guint
route_hash(gconstpointer data)
{
    const route *r = data;
    return (guint)(roce_hash_addr(roce_hash_addr(0, &r->a), &r->b) >> 32);
}

static gboolean
route_equal(gconstpointer a, gconstpointer b)
{
    const route *x = a;
    const route *y = b;
    return roce_addr_equal(&x->a, &y->a) && roce_addr_equal(&x->b, &y->b);
}

rs_ways *
rs_ways_new(void)
{
    rs_ways *ways = g_new0(rs_ways, 1);
    ways->routes = g_ptr_array_new_with_free_func(g_free);
    ways->by_addrs = g_hash_table_new(route_hash, route_equal);
    return ways;
}

void
rs_ways_free(rs_ways *ways)
{
    if (ways == NULL) {
        return;
    }
    g_hash_table_unref(ways->by_addrs);
    g_ptr_array_unref(ways->routes);
    g_free(ways);
}

guint32
rs_ways_route(rs_ways *ways, const roce_addr *a, const roce_addr *b)
{
    gboolean in_order = roce_addr_compare(a, b) <= 0;
    const route key = {.a = in_order ? *a : *b, .b = in_order ? *b : *a};
    gpointer known = g_hash_table_lookup(ways->by_addrs, &key);
    if (known != NULL) {
        return GPOINTER_TO_UINT(known) - 1;
    }
    if (ways->routes->len >= MAX_ROUTES) {
        return G_MAXUINT32;
    }
    route *r = g_memdup2(&key, sizeof key);
    g_ptr_array_add(ways->routes, r);
    g_hash_table_insert(ways->by_addrs, r, GUINT_TO_POINTER(ways->routes->len));
    return ways->routes->len - 1;
}

gboolean
rs_both_ways_middle(rs_both_ways *both, rs_way way, gint64 *difference_ns)
{
    rs_way back = way == RS_WAY_FORWARD ? RS_WAY_BACKWARD : RS_WAY_FORWARD;
    both->n++;
    both->newest[way].known = TRUE;
    both->newest[way].n = both->n;
    both->newest[way].difference_ns = *difference_ns;
    gint64 apart_ns = rs_time_apart(both->newest[back].difference_ns, *difference_ns);
    gboolean helps = both->newest[back].known &&
                     both->n - both->newest[back].n <= NEWEST_OF &&
                     rs_time_size(apart_ns, RS_TIME_LIMIT_NS) <= SET_NS;
    *difference_ns = rs_time_add(*difference_ns, helps ? apart_ns / 2 : 0);
    return helps;
}

static gint64
sign_of(gint64 n)
{
    return n < 0 ? -1 : n > 0;
}

/* Both directions at about the same time, whose difference is free of the offset. */
static void
compare_directions(route *r)
{
    const newest *a = &r->newest[0];
    const newest *b = &r->newest[1];
    if (!a->known || !b->known || a->low != b->low || a->high != b->high) {
        return;
    }
    gint64 delays =
        CLAMP(rs_time_apart(a->difference_ns, b->difference_ns), -CLIP_NS, CLIP_NS);
    if (rs_time_size(rs_time_apart(a->at_ns, b->at_ns), RS_TIME_LIMIT_NS) <=
        TOGETHER_NS) {
        together *t = &r->both_ways;
        t->signs += sign_of(delays); /* a clock that is set spoils few of them */
        t->sum_ns += delays;
        t->sizes_ns += ABS(delays);
        t->squares += (double)delays * (double)delays;
        t->from_b_to_a_ns += (double)rs_time_apart(a->at_ns, b->at_ns);
    } else {
        r->far_apart_ns += delays;
    }
}

/* The same direction a little later. */
static void
compare_paces(route *r, const newest *before, const newest *now)
{
    gint64 time_ns = rs_time_apart(now->at_ns, before->at_ns);
    if (!before->known || before->low != now->low || before->high != now->high ||
        time_ns < 0 || time_ns > TOGETHER_NS) {
        return;
    }
    r->pace.time_ns += (double)time_ns;
    r->pace.change_ns += (double)CLAMP(
        rs_time_apart(now->difference_ns, before->difference_ns), -CLIP_NS, CLIP_NS);
}

/* Whether the sum is more than what clocks make of it that do not run alike, as where
 * packets were sent again at another speed, or stamps are no times. */
static gboolean
is_more_than_pace(const route *r)
{
    double drift = r->pace.time_ns > 0 ? r->pace.change_ns / r->pace.time_ns : 0;
    double sum = (double)r->both_ways.sum_ns;
    double by_pace = drift * r->both_ways.from_b_to_a_ns;
    return sum > 0 ? by_pace < sum / 2 : by_pace > sum / 2;
}

/* Stamps that are made for many packets at once say that an answer took no time at all,
 * or less: then most packets may tell the contrary of what all of them sum up to.  0: they
 * do not agree, and their sum may be chance. */
static gint64
agreed(const route *r)
{
    const together *t = &r->both_ways;
    double sum = (double)t->sum_ns;
    gboolean unanimous = ABS(t->sum_ns) == t->sizes_ns;
    gboolean sure = sum * sum > SURE * SURE * t->squares;
    return (unanimous || sure) && sign_of(t->sum_ns) == sign_of(t->signs) &&
                   is_more_than_pace(r)
               ? t->signs
               : 0;
}

void
rs_ways_count(rs_ways *ways, guint32 number, const roce_addr *src)
{
    if (number == G_MAXUINT32) {
        return;
    }
    route *r = g_ptr_array_index(ways->routes, number);
    gint64 sign = roce_addr_equal(src, &r->a) ? 1 : -1;
    r->packets += sign;
    r->first = r->first == 0 ? sign : r->first;
}

void
rs_ways_add(rs_ways *ways, guint32 number, const roce_addr *src,
            const rs_way_pair *pair)
{
    if (number == G_MAXUINT32) {
        return;
    }
    route *r = g_ptr_array_index(ways->routes, number);
    gboolean from_a = roce_addr_equal(src, &r->a);
    gint64 sign = from_a ? 1 : -1;
    r->hops += sign * sign_of((gint64)pair->low_hops - pair->high_hops);
    if (pair->one_clock) {
        r->one_clock_ns += sign * CLAMP(pair->difference_ns, -CLIP_NS, CLIP_NS);
        return;
    }
    const newest now = {
        .known = TRUE,
        .low = pair->low,
        .high = pair->high,
        .at_ns = pair->at_ns,
        .difference_ns = pair->difference_ns,
    };
    newest *of_direction = &r->newest[from_a ? 0 : 1];
    compare_paces(r, of_direction, &now);
    *of_direction = now;
    compare_directions(r);
}

rs_way
rs_ways_decide(const rs_ways *ways, guint32 number, const roce_addr *src, rs_way_by *by)
{
    *by = RS_WAY_BY_ORDER_GIVEN;
    if (number == G_MAXUINT32) {
        return RS_WAY_FORWARD;
    }
    const route *r = g_ptr_array_index(ways->routes, number);
    const struct {
        gint64 says;
        rs_way_by by;
    } grounds[] = {
        {r->hops, RS_WAY_BY_HOPS},
        {r->one_clock_ns, RS_WAY_BY_ONE_CLOCK},
        {agreed(r), RS_WAY_BY_BOTH_WAYS},
        {r->both_ways.sizes_ns == 0 ? r->far_apart_ns : 0, RS_WAY_BY_BOTH_WAYS},
    };
    for (guint i = 0; i < G_N_ELEMENTS(grounds); i++) {
        if (grounds[i].says != 0) {
            gboolean a_forward = grounds[i].says > 0;
            *by = grounds[i].by;
            return roce_addr_equal(src, &r->a) == a_forward ? RS_WAY_FORWARD
                                                            : RS_WAY_BACKWARD;
        }
    }
    /* In one order no two directions go the same way. */
    gint64 most = r->packets != 0 ? r->packets : r->first;
    gboolean against_most = roce_addr_equal(src, &r->a) ? most < 0 : most > 0;
    return against_most ? RS_WAY_BACKWARD : RS_WAY_FORWARD;
}
