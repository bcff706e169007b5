/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether a point delivers every packet twice.
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
 */
#include "sort.h"
#include "survey_parts.h"

#define REPEAT_FRAMES 1024 /* a second copy is no further behind */
#define REPEAT_NS ((uint64_t)100 * 1000 * 1000)
#define REPEAT_LEAST_NS ((uint64_t)50 * 1000)
#define SOONER_THAN_TIMEOUT_NS ((uint64_t)1000 * 1000)
#define REPEAT_LEAST 8 /* packets, to say anything */
#define REPEAT_PERCENT 90
#define SENDER_LEAST 4 /* packets of one sender, to ask it as well */
#define SENDER_PERCENT 75
#define TELLING_PERCENT 50
#define MAX_SENDERS 64 /* of more, these stand for all */

/* What one address sends of one class. */
typedef struct sender {
    uint64_t address;
    roce_held_class class;
    uint16_t ipv4_ident; /* of its first packet here */
    uint32_t packets, repeated;
    uint32_t
        telling; /* packets that it would not have sent with the same bytes again */
} sender;

typedef struct repeat_count {
    sender senders[MAX_SENDERS];
    uint32_t n_senders;
    uint64_t *lags_ns; /* of second copies behind their first */
    uint32_t n_lags;
} repeat_count;

/* NULL when there are too many. */
static sender *
sender_of(repeat_count *count, const roce_held *h)
{
    for (uint32_t i = 0; i < count->n_senders; i++) {
        sender *s = &count->senders[i];
        if (s->address == h->sender && s->class == h->class) {
            return s;
        }
    }
    if (count->n_senders == MAX_SENDERS) {
        return NULL;
    }
    sender *s = &count->senders[count->n_senders++];
    *s = (sender){.address = h->sender, .class = h->class, .ipv4_ident = h->ipv4_ident};
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
is_second_copy(const roce_held *first, const roce_held *second)
{
    return roce_held_by_identity(first, second) == 0 &&
           second->frame.number - first->frame.number <= REPEAT_FRAMES &&
           distance_ns(first, second) <= REPEAT_NS;
}

static void
count_repeats(const roce_held_slice *slice, repeat_count *count)
{
    for (uint32_t i = slice->begin; i < slice->end; i++) {
        const roce_held *h = roce_held_nth(slice, i);
        sender *s = h->has_identity ? sender_of(count, h) : NULL;
        if (s == NULL) {
            continue;
        }
        s->packets++;
        s->telling +=
            h->class == ROCE_HELD_UNRELIABLE || h->ipv4_ident != s->ipv4_ident ? 1 : 0;
        if (i + 1 < slice->end && is_second_copy(h, roce_held_nth(slice, i + 1))) {
            count->lags_ns[count->n_lags++] =
                distance_ns(h, roce_held_nth(slice, i + 1));
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

static bool
is_telling(const sender *s)
{
    return roce_reaches(s->telling, s->packets, TELLING_PERCENT);
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
        if (!is_telling(s) && s->class != ROCE_HELD_RELIABLE) {
            continue;
        }
        if (s->packets >= least &&
            !roce_reaches(s->repeated, s->packets, SENDER_PERCENT)) {
            return false;
        }
        packets += s->packets;
        repeated += s->repeated;
        n++;
    }
    return n >= least_senders && packets >= REPEAT_LEAST &&
           roce_reaches(repeated, packets, REPEAT_PERCENT);
}

void
roce_decide_on_repeats(roce_survey_point *point, const roce_held_slice *by_identity,
                       roce_survey_desk *desk)
{
    repeat_count count = {.lags_ns = desk->lags_ns};
    count_repeats(by_identity, &count);
    uint64_t usual_ns = usual_lag_ns(&count, desk);
    bool twice =
        count_telling(&count) >= REPEAT_LEAST
            ? everything_repeats(&count, SENDER_LEAST, 1)
            : usual_ns < SOONER_THAN_TIMEOUT_NS && everything_repeats(&count, 1, 2);
    if (twice) {
        point->delivers_twice = true;
        point->repeat_within_ns =
            4 * usual_ns > REPEAT_LEAST_NS ? 4 * usual_ns : REPEAT_LEAST_NS;
    }
}
