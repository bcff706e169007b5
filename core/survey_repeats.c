/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether a point delivers every packet twice, or every one of some hosts.
 *
 *  1. Copies are paired off: the first with the second, the third with the fourth.
 *  2. A copy is evidence only if its sender would not have sent the same bytes again.
 *     That is so where its IPv4 identification moves, and on UC and UD, which send
 *     nothing again.  It is not so of a CNP, which is like the one before, nor of what a
 *     stranger repeats: those are left out.
 *  3. Nearly all of the evidence has to repeat, and most packets of every sender, so that
 *     no network can have made the copies.
 *  4. Reliable senders whose identification tells nothing (IPv6, devices that never
 *     change it) repeat by themselves when packets are lost.  Where there is nothing
 *     else, both directions have to repeat to the last sender, and sooner than any
 *     timeout would make them.
 *  5. Of a switch of which some ports are mirrored both ways, those packets come twice that
 *     enter by one of them and leave by another.  So there are hosts, both directions of
 *     each two of which repeat, while all that others take part in does not.
 *     At a host there is no such switch.
 *  6. A second copy follows as soon as nearly all others do: later, it may have been sent
 *     again.  But where all senders number their packets nothing ever is with the same bytes,
 *     and while a pause holds the way out of a switch second copies wait for as long.
 *  7. Where the captures of two points were merged, many frames lie between two copies.  What
 *     came so late among those held that its second copy may stand behind them is no
 *     evidence; but no more may be so than are known to have come twice.
 *  8. Where a tunnel begins or ends, one copy is inside of it and one outside, and which of
 *     them comes first depends on the direction.  So they are all taken as those outside.
 */
#include "sort.h"
#include "survey_parts.h"

#include <string.h>

#define REPEAT_NS ((uint64_t)100 * 1000 * 1000)
#define REPEAT_LEAST_NS ((uint64_t)50 * 1000)
#define SOONER_THAN_TIMEOUT_NS ((uint64_t)1000 * 1000)
#define REPEAT_LEAST 8 /* packets, to say anything */
#define REPEAT_PERCENT 90
#define SOME_LEAST 16   /* packets of the hosts that repeat, and of those that do not */
#define ONCE_PERCENT 10 /* repeat at most of what comes once */
#define SENDER_LEAST 4  /* packets of one sender, to ask it as well */
#define SENDER_PERCENT 75
#define TELLING_PERCENT 50
#define MAX_SENDERS 64 /* of more, these stand for all */
#define MAX_WAYS 512

/* What one host sends of one class, or sends to one other. */
typedef struct sender {
    uint64_t host, to; /* their keys; 0: to whomever */
    roce_held_class class;
    uint16_t ipv4_ident; /* of its first packet here */
    uint32_t packets, repeated;
    uint32_t
        telling; /* packets that it would not have sent with the same bytes again */
} sender;

typedef struct repeat_count {
    sender senders[MAX_WAYS];
    uint32_t n_senders;
    bool by_way;       /* what a host sends to each other one is counted by itself */
    uint64_t *lags_ns; /* of second copies behind their first */
    uint32_t n_lags;
    uint32_t in_and_out; /* of these, with one copy in a tunnel */
    uint64_t until_ns;   /* second copies of what came later need not be here */
    uint32_t n_open;     /* of which there is none */
} repeat_count;

/* NULL when there are too many. */
static sender *
sender_of(repeat_count *count, const roce_held *h)
{
    uint64_t to = count->by_way ? h->recipient : 0;
    for (uint32_t i = 0; i < count->n_senders; i++) {
        sender *s = &count->senders[i];
        if (s->host == h->sender && s->to == to && s->class == h->class) {
            return s;
        }
    }
    if (count->n_senders == (count->by_way ? MAX_WAYS : MAX_SENDERS)) {
        return NULL;
    }
    sender *s = &count->senders[count->n_senders++];
    *s = (sender){
        .host = h->sender, .to = to, .class = h->class, .ipv4_ident = h->ipv4_ident};
    return s;
}

static uint64_t
distance_ns(const roce_held *a, const roce_held *b)
{
    uint64_t x = a->frame.time_ns;
    uint64_t y = b->frame.time_ns;
    return x > y ? x - y : y - x;
}

static bool
is_near(const roce_held *first, const roce_held *second)
{
    return distance_ns(first, second) <= REPEAT_NS;
}

/* Whether its sender would not send the same bytes again. */
static bool
tells(const sender *s, const roce_held *h)
{
    return h->class == ROCE_HELD_UNRELIABLE || h->ipv4_ident != s->ipv4_ident;
}

static bool
is_in_and_out(const roce_held *a, const roce_held *b)
{
    return (a->tunnel == ROCE_TENANT_NONE) != (b->tunnel == ROCE_TENANT_NONE);
}

static void
count_repeats(const roce_held_slice *slice, repeat_count *count)
{
    for (uint32_t i = slice->begin; i < slice->end; i++) {
        const roce_held *h = roce_held_nth(slice, i);
        const roce_held *next = i + 1 < slice->end ? roce_held_nth(slice, i + 1) : NULL;
        sender *s = h->has_identity ? sender_of(count, h) : NULL;
        if (s == NULL) {
            continue;
        }
        bool has_copy = next != NULL && roce_held_by_identity(h, next) == 0;
        bool is_copied = has_copy && is_near(h, next);
        if (has_copy && !is_copied && tells(s, h)) {
            i++; /* a pause may have held the second copy: no evidence */
            continue;
        }
        if (!has_copy && h->frame.time_ns > count->until_ns) {
            count->n_open++;
            continue;
        }
        s->packets++;
        s->telling += tells(s, h) ? 1 : 0;
        if (is_copied) {
            count->lags_ns[count->n_lags++] = distance_ns(h, next);
            count->in_and_out += is_in_and_out(h, next) ? 1 : 0;
            s->repeated++;
            i++;
        }
    }
}

static int
by_value(const void *array, uint32_t a, uint32_t b)
{
    const uint64_t *values = array;
    return roce_compare_u64(values[a], values[b]);
}

/* The lag that few are longer than. */
static uint64_t
usual_lag_ns(const repeat_count *count, const roce_survey_desk *desk)
{
    if (count->n_lags == 0) {
        return 0;
    }
    roce_sort(desk->order, desk->scratch, count->n_lags, by_value, count->lags_ns);
    return count->lags_ns[desk->order[count->n_lags * 19 / 20]];
}

/* Up to when second copies have to be here that come as late as nearly all others do, and a
 * quarter of that later. */
static uint64_t
copied_until_ns(const roce_held_slice *slice, uint64_t usual_ns)
{
    uint64_t newest_ns = 0;
    for (uint32_t i = slice->begin; i < slice->end; i++) {
        uint64_t time_ns = roce_held_nth(slice, i)->frame.time_ns;
        newest_ns = time_ns > newest_ns ? time_ns : newest_ns;
    }
    uint64_t lag_ns = usual_ns + usual_ns / 4;
    return newest_ns > lag_ns ? newest_ns - lag_ns : 0;
}

static bool
is_telling(const sender *s)
{
    return roce_reaches(s->telling, s->packets, TELLING_PERCENT);
}

static bool
can_be_asked(const sender *s)
{
    return is_telling(s) || s->class == ROCE_HELD_RELIABLE;
}

static bool
comes_twice(const sender *s)
{
    return roce_reaches(s->repeated, s->packets, SENDER_PERCENT);
}

static uint32_t
count_telling(const repeat_count *count)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < count->n_senders; i++) {
        n += is_telling(&count->senders[i]) ? count->senders[i].packets : 0;
    }
    return n;
}

/* Whether none of the senders would send the same bytes again. */
static bool
all_are_telling(const repeat_count *count)
{
    for (uint32_t i = 0; i < count->n_senders; i++) {
        const sender *s = &count->senders[i];
        if (can_be_asked(s) && s->packets >= SENDER_LEAST && !is_telling(s)) {
            return false;
        }
    }
    return true;
}

/* Whether the senders that may be asked repeat nearly everything, and each of them that
 * sent as much as `least`. */
static bool
everything_repeats(const repeat_count *count, uint32_t least, uint32_t least_senders)
{
    uint32_t packets = 0;
    uint32_t repeated = 0;
    uint32_t n = 0;
    for (uint32_t i = 0; i < count->n_senders; i++) {
        const sender *s = &count->senders[i];
        if (!can_be_asked(s)) {
            continue;
        }
        if (s->packets >= least && !comes_twice(s)) {
            return false;
        }
        packets += s->packets;
        repeated += s->repeated;
        n++;
    }
    return n >= least_senders && packets >= REPEAT_LEAST &&
           count->n_open <= count->n_lags &&
           roce_reaches(repeated, packets, REPEAT_PERCENT);
}

/* ---- some hosts ---- */

static bool
is_asked(const sender *way)
{
    return way->packets >= SENDER_LEAST && can_be_asked(way);
}

static bool
comes_once(const sender *way)
{
    return roce_reaches(way->packets - way->repeated, way->packets, 100 - ONCE_PERCENT);
}

static bool
is_among(const roce_survey_point *point, uint64_t host)
{
    uint32_t i = 0;
    while (i < point->n_twice_hosts && point->twice_hosts[i] != host) {
        i++;
    }
    return i < point->n_twice_hosts;
}

static bool
both_among(const roce_survey_point *point, uint64_t from, uint64_t to)
{
    return is_among(point, from) && is_among(point, to);
}

/* False when there are too many. */
static bool
add_host(roce_survey_point *point, uint64_t host)
{
    if (is_among(point, host)) {
        return true;
    }
    if (point->n_twice_hosts == ROCE_TWICE_HOSTS) {
        return false;
    }
    point->twice_hosts[point->n_twice_hosts++] = host;
    return true;
}

/* Whether what goes the other way comes twice as well. */
static bool
comes_back_twice(const repeat_count *ways, const sender *way)
{
    bool any = false;
    for (uint32_t i = 0; i < ways->n_senders; i++) {
        const sender *back = &ways->senders[i];
        if (back->host == way->to && back->to == way->host && is_asked(back)) {
            if (!comes_twice(back)) {
                return false;
            }
            any = true;
        }
    }
    return any;
}

/* Gathers the hosts both directions of which come twice. */
static bool
find_hosts(roce_survey_point *point, const repeat_count *ways)
{
    for (uint32_t i = 0; i < ways->n_senders; i++) {
        const sender *way = &ways->senders[i];
        if (is_asked(way) && comes_twice(way) && comes_back_twice(ways, way) &&
            (!add_host(point, way->host) || !add_host(point, way->to))) {
            return false;
        }
    }
    return true;
}

/* Whether all that the hosts send each other comes twice, and nothing else does. */
static bool
hosts_explain(const roce_survey_point *point, const repeat_count *ways,
              uint64_t usual_ns)
{
    uint32_t packets[2] = {0};
    uint32_t telling = 0;
    for (uint32_t i = 0; i < ways->n_senders; i++) {
        const sender *way = &ways->senders[i];
        bool among = both_among(point, way->host, way->to);
        if (!is_asked(way)) {
            continue;
        }
        if (among ? !comes_twice(way) : !comes_once(way)) {
            return false;
        }
        packets[among ? 1 : 0] += way->packets;
        telling += among && is_telling(way) ? way->packets : 0;
    }
    return packets[0] >= SOME_LEAST && packets[1] >= SOME_LEAST &&
           (telling >= REPEAT_LEAST || usual_ns < SOONER_THAN_TIMEOUT_NS);
}

/* Whether the point delivers every packet of some hosts twice; writes down which. */
static bool
some_repeat(roce_survey_point *point, const roce_held_slice *by_identity,
            const roce_survey_desk *desk, uint64_t usual_ns)
{
    roce_survey_point guess = {0};
    repeat_count ways = {
        .lags_ns = desk->lags_ns, .by_way = true, .until_ns = UINT64_MAX};
    count_repeats(by_identity, &ways);
    bool good = find_hosts(&guess, &ways) && hosts_explain(&guess, &ways, usual_ns);
    if (good) {
        point->n_twice_hosts = guess.n_twice_hosts;
        memcpy(point->twice_hosts, guess.twice_hosts, sizeof guess.twice_hosts);
    }
    return good;
}

void
roce_decide_on_repeats(roce_survey_point *point, const roce_held_slice *by_identity,
                       roce_survey_desk *desk)
{
    repeat_count count = {.lags_ns = desk->lags_ns, .until_ns = UINT64_MAX};
    count_repeats(by_identity, &count);
    uint64_t usual_ns = usual_lag_ns(&count, desk);
    if (count.n_lags >= REPEAT_LEAST) {
        /* It is known how late they come: once more, without what came last. */
        count = (repeat_count){.lags_ns = desk->lags_ns,
                               .until_ns = copied_until_ns(by_identity, usual_ns)};
        count_repeats(by_identity, &count);
    }
    bool all =
        count_telling(&count) >= REPEAT_LEAST
            ? everything_repeats(&count, SENDER_LEAST, 1)
            : usual_ns < SOONER_THAN_TIMEOUT_NS && everything_repeats(&count, 1, 2);
    if (all) {
        point->n_twice_hosts = 0;
    } else if (point->is_at_host || count.n_lags < SOME_LEAST / 2 ||
               (point->delivers_twice && point->n_twice_hosts == 0) ||
               !some_repeat(point, by_identity, desk, usual_ns)) {
        return;
    }
    point->delivers_twice = true;
    point->repeat_within_ns =
        4 * usual_ns > REPEAT_LEAST_NS ? 4 * usual_ns : REPEAT_LEAST_NS;
    point->repeat_at_any_time = all_are_telling(&count);
    point->in_and_out = roce_reaches(count.in_and_out, count.n_lags, REPEAT_PERCENT);
}

bool
roce_survey_is_twice(const roce_survey_point *point, const roce_packet *packet)
{
    return point->delivers_twice && (point->n_twice_hosts == 0 ||
                                     both_among(point, roce_held_host_key(&packet->src),
                                                roce_held_host_key(&packet->dst)));
}

bool
roce_survey_is_in_and_out(const roce_survey_point *point, const roce_packet *packet)
{
    return point->in_and_out && packet->tenant.kind != ROCE_TENANT_NONE &&
           roce_survey_is_twice(point, packet);
}

/* CNPs may say the same again, and what others than RoCE do is not known. */
uint64_t
roce_survey_copy_within_ns(const roce_survey_point *point, const roce_packet *packet)
{
    bool may_come_again = !packet->has_bth || packet->transport == ROCE_TRANSPORT_CNP;
    return point->repeat_at_any_time && !may_come_again ? UINT64_MAX
                                                        : point->repeat_within_ns;
}
