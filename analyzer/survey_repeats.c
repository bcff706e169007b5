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
#include "survey_parts.h"

#include "roce/hash.h"

#define REPEAT_FRAMES 1024 /* a second copy is no further behind */
#define REPEAT_NS ((guint64)100 * 1000 * 1000)
#define REPEAT_LEAST_NS ((guint64)50 * 1000)
#define SOONER_THAN_TIMEOUT_NS ((guint64)1000 * 1000)
#define REPEAT_LEAST 8 /* packets, to say anything */
#define REPEAT_PERCENT 90
#define SENDER_LEAST 4 /* packets of one sender, to ask it as well */
#define SENDER_PERCENT 75
#define TELLING_PERCENT 50
#define MAX_SENDERS 64 /* of more, these stand for all */

/* What one address sends of one class. */
typedef struct sender {
    guint64 address;
    rs_held_class class;
    guint16 ipv4_ident; /* of its first packet here */
    guint packets, repeated;
    guint telling; /* packets that it would not have sent with the same bytes again */
} sender;

typedef struct repeat_count {
    sender senders[MAX_SENDERS];
    guint n_senders;
    GArray *lags_ns; /* guint64 */
} repeat_count;

/* NULL when there are too many. */
static sender *
sender_of(repeat_count *count, const rs_held *h)
{
    for (guint i = 0; i < count->n_senders; i++) {
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

static guint64
distance_ns(const rs_held *a, const rs_held *b)
{
    guint64 x = a->frame.time_ns;
    guint64 y = b->frame.time_ns;
    return x > y ? x - y : y - x;
}

static gboolean
is_second_copy(const rs_held *first, const rs_held *second)
{
    return rs_held_by_identity(first, second) == 0 &&
           second->frame.number - first->frame.number <= REPEAT_FRAMES &&
           distance_ns(first, second) <= REPEAT_NS;
}

static void
count_repeats(const rs_held_slice *slice, repeat_count *count)
{
    for (guint i = slice->begin; i < slice->end; i++) {
        const rs_held *h = rs_held_nth(slice, i);
        sender *s = h->has_identity ? sender_of(count, h) : NULL;
        if (s == NULL) {
            continue;
        }
        s->packets++;
        s->telling +=
            h->class == RS_HELD_UNRELIABLE || h->ipv4_ident != s->ipv4_ident ? 1 : 0;
        if (i + 1 < slice->end && is_second_copy(h, rs_held_nth(slice, i + 1))) {
            guint64 lag = distance_ns(h, rs_held_nth(slice, i + 1));
            g_array_append_val(count->lags_ns, lag);
            s->repeated++;
            i++;
        }
    }
}

static gint
by_value(gconstpointer a, gconstpointer b)
{
    return rs_compare_u64(*(const guint64 *)a, *(const guint64 *)b);
}

/* The lag that few are longer than. */
static guint64
usual_lag_ns(const repeat_count *count)
{
    g_array_sort(count->lags_ns, by_value);
    guint n = count->lags_ns->len;
    return n == 0 ? 0 : g_array_index(count->lags_ns, guint64, n * 19 / 20);
}

static gboolean
is_telling(const sender *s)
{
    return rs_reaches(s->telling, s->packets, TELLING_PERCENT);
}

static guint
count_telling(const repeat_count *count)
{
    guint n = 0;
    for (guint i = 0; i < count->n_senders; i++) {
        n += is_telling(&count->senders[i]) ? count->senders[i].packets : 0;
    }
    return n;
}

/* Whether the senders that may be asked repeat nearly everything, and each of them that
 * sent as much as `least`. */
static gboolean
everything_repeats(const repeat_count *count, guint least, guint least_senders)
{
    guint packets = 0;
    guint repeated = 0;
    guint n = 0;
    for (guint i = 0; i < count->n_senders; i++) {
        const sender *s = &count->senders[i];
        if (!is_telling(s) && s->class != RS_HELD_RELIABLE) {
            continue;
        }
        if (s->packets >= least &&
            !rs_reaches(s->repeated, s->packets, SENDER_PERCENT)) {
            return FALSE;
        }
        packets += s->packets;
        repeated += s->repeated;
        n++;
    }
    return n >= least_senders && packets >= REPEAT_LEAST &&
           rs_reaches(repeated, packets, REPEAT_PERCENT);
}

void
rs_decide_on_repeats(rs_point *point, const rs_held_slice *by_identity)
{
    repeat_count count = {.lags_ns = g_array_new(FALSE, FALSE, sizeof(guint64))};
    count_repeats(by_identity, &count);
    guint64 usual_ns = usual_lag_ns(&count);
    gboolean twice =
        count_telling(&count) >= REPEAT_LEAST
            ? everything_repeats(&count, SENDER_LEAST, 1)
            : usual_ns < SOONER_THAN_TIMEOUT_NS && everything_repeats(&count, 1, 2);
    if (twice) {
        point->delivers_twice = TRUE;
        point->repeat_within_ns = MAX(4 * usual_ns, REPEAT_LEAST_NS);
    }
    g_array_unref(count.lags_ns);
}
