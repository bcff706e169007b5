/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "survey.h"

#include "identity.h"

#include "roce/aeth.h"
#include "roce/hash.h"
#include "roce/opcode.h"
#include "roce/psn.h"

#include <string.h>

#define ENOUGH_FRAMES 8192
#define ENOUGH_BYTES ((gsize)16 * 1024 * 1024)

/* A mirror that delivers twice. */
#define REPEAT_FRAMES 1024 /* a second copy is no further behind */
#define REPEAT_NS ((guint64)100 * 1000 * 1000)
#define REPEAT_LEAST_NS ((guint64)50 * 1000)
#define REPEAT_LEAST 8 /* packets, to say anything */
#define REPEAT_PERCENT 90
#define SENDER_LEAST 4 /* packets of one sender, to ask it as well */
#define SENDER_PERCENT 75
#define MAX_SENDERS 64

/* The order of the stamps. */
#define DISORDER_LEAST 8 /* steps back of PSNs, and ACKs before their requests */
#define DISORDER_FACTOR 4
#define MAX_HORIZON_NS ((guint64)1000 * 1000 * 1000)

/* Points to be joined. */
#define MEETINGS_LEAST 8 /* packets of one stream that stand side by side */
#define MEETING_PSNS 1024
#define TWIN_PERCENT 1
#define MAX_JOINED_POINTS 256
#define JOINED_HORIZON_NS ((guint64)1000 * 1000) /* interfaces of one file */

typedef enum held_kind {
    HELD_OTHER,
    HELD_REQUEST,
    HELD_RESPONSE, /* with data, or of an atomic */
    HELD_ACK,
} held_kind;

typedef struct held {
    roce_frame frame; /* its bytes are at `at` */
    gsize at;
    rs_identity identity;
    gboolean has_identity;
    guint64 sender; /* hash of the source address */
    guint64 stream; /* hash of addresses and destination QPN; 0 none */
    guint64 way;    /* hash of addresses, from source to destination */
    guint64 back;   /* the same of the other direction */
    guint32 psn24;
    held_kind kind;
} held;

/* What two points have to do with each other. */
typedef struct relation {
    guint a, b;
    guint twins, meetings, answers;
} relation;

struct rs_survey {
    rs_points *points;
    GArray *frames; /* held */
    GByteArray *bytes;
};

rs_survey *
rs_survey_new(rs_points *points)
{
    rs_survey *survey = g_new0(rs_survey, 1);
    survey->points = points;
    survey->frames = g_array_new(FALSE, FALSE, sizeof(held));
    survey->bytes = g_byte_array_new();
    return survey;
}

void
rs_survey_free(rs_survey *survey)
{
    if (survey == NULL) {
        return;
    }
    g_array_unref(survey->frames);
    g_byte_array_unref(survey->bytes);
    g_free(survey);
}

gboolean
rs_survey_wants(const rs_survey *survey, const rs_point *point)
{
    return survey->frames->len > 0 || !point->surveyed;
}

static held *
held_at(const rs_survey *survey, guint i)
{
    return &g_array_index(survey->frames, held, i);
}

static held_kind
kind_of(const roce_packet *p)
{
    roce_role role = roce_opcode_get(p->bth.opcode)->role;
    if (roce_role_is_request(role)) {
        return HELD_REQUEST;
    }
    if (role == ROCE_ROLE_ACK) {
        /* A NAK names what did not come, and that comes behind it. */
        return roce_aeth_get_kind(p->aeth_syndrome) == ROCE_AETH_ACK ? HELD_ACK
                                                                     : HELD_OTHER;
    }
    return roce_role_is_response_data(role) || role == ROCE_ROLE_ATOMIC_ACK
               ? HELD_RESPONSE
               : HELD_OTHER;
}

gboolean
rs_survey_hold(rs_survey *survey, const roce_frame *frame, const roce_packet *p)
{
    held h = {.frame = *frame, .at = survey->bytes->len};
    h.has_identity = rs_identity_of(frame, p, &h.identity);
    h.sender = roce_hash_addr(0, &p->src);
    h.way = roce_hash_addr(h.sender, &p->dst);
    h.back = roce_hash_addr(roce_hash_addr(0, &p->dst), &p->src);
    if (p->class == ROCE_CLASS_ROCE && p->has_bth) {
        h.stream = roce_hash_mix(h.way, p->bth.dest_qpn) | 1;
        h.psn24 = p->bth.psn24;
        h.kind = kind_of(p);
    }
    g_byte_array_append(survey->bytes, frame->bytes, frame->captured_bytes);
    g_array_append_val(survey->frames, h);
    return survey->frames->len >= ENOUGH_FRAMES || survey->bytes->len >= ENOUGH_BYTES;
}

/* Indices of the frames, sorted. */
typedef gint (*held_compare)(const held *a, const held *b);

typedef struct sorting {
    const rs_survey *survey;
    held_compare compare;
} sorting;

static gint
compare_indices(gconstpointer a, gconstpointer b, gpointer data)
{
    const sorting *how = data;
    guint i = *(const guint *)a;
    guint k = *(const guint *)b;
    gint order = how->compare(held_at(how->survey, i), held_at(how->survey, k));
    return order != 0 ? order : i < k ? -1 : i > k; /* else as they came */
}

static GArray *
sorted(const rs_survey *survey, held_compare compare)
{
    GArray *order = g_array_sized_new(FALSE, FALSE, sizeof(guint), survey->frames->len);
    for (guint i = 0; i < survey->frames->len; i++) {
        g_array_append_val(order, i);
    }
    sorting how = {.survey = survey, .compare = compare};
    g_array_sort_with_data(order, compare_indices, &how);
    return order;
}

static held *
nth(const rs_survey *survey, const GArray *order, guint i)
{
    return held_at(survey, g_array_index(order, guint, i));
}

static gint
compare_u64(guint64 a, guint64 b)
{
    return a < b ? -1 : a > b;
}

/* ---- every packet twice ---- */

static gint
by_identity(const held *a, const held *b)
{
    if (a->frame.point != b->frame.point) {
        return a->frame.point < b->frame.point ? -1 : 1;
    }
    gint order = compare_u64(a->identity.narrow, b->identity.narrow);
    return order != 0 ? order : compare_u64(a->identity.icrc, b->identity.icrc);
}

typedef struct sender_count {
    guint64 sender;
    guint packets, repeated;
} sender_count;

/* Packets of one point: how many there are, and of how many a second copy came soon. */
typedef struct repeat_count {
    guint packets, repeated;
    sender_count senders[MAX_SENDERS];
    guint n_senders;
    GArray *lags_ns; /* guint64 */
} repeat_count;

static sender_count *
count_of_sender(repeat_count *count, guint64 sender)
{
    for (guint i = 0; i < count->n_senders; i++) {
        if (count->senders[i].sender == sender) {
            return &count->senders[i];
        }
    }
    if (count->n_senders == MAX_SENDERS) {
        return &count->senders[MAX_SENDERS - 1];
    }
    count->senders[count->n_senders].sender = sender;
    return &count->senders[count->n_senders++];
}

static guint64
distance_ns(const held *a, const held *b)
{
    guint64 x = a->frame.time_ns;
    guint64 y = b->frame.time_ns;
    return x > y ? x - y : y - x;
}

static gboolean
is_second_copy(const held *first, const held *second)
{
    return by_identity(first, second) == 0 &&
           second->frame.number - first->frame.number <= REPEAT_FRAMES &&
           distance_ns(first, second) <= REPEAT_NS;
}

/* Pairs copies off: the first with the second, the third with the fourth. */
static void
count_repeats(const rs_survey *survey, guint point, const GArray *order,
              repeat_count *count)
{
    for (guint i = 0; i < order->len; i++) {
        const held *h = nth(survey, order, i);
        if (h->frame.point != point || !h->has_identity) {
            continue;
        }
        sender_count *sender = count_of_sender(count, h->sender);
        count->packets++;
        sender->packets++;
        const held *next = i + 1 < order->len ? nth(survey, order, i + 1) : NULL;
        if (next != NULL && is_second_copy(h, next)) {
            guint64 lag = distance_ns(h, next);
            g_array_append_val(count->lags_ns, lag);
            count->repeated++;
            sender->repeated++;
            i++;
        }
    }
}

static gint
by_value(gconstpointer a, gconstpointer b)
{
    return compare_u64(*(const guint64 *)a, *(const guint64 *)b);
}

static gboolean
reaches(guint part, guint whole, guint percent)
{
    return (guint64)part * 100 >= (guint64)whole * percent;
}

static gboolean
every_sender_repeats(const repeat_count *count)
{
    for (guint i = 0; i < count->n_senders; i++) {
        const sender_count *sender = &count->senders[i];
        if (sender->packets >= SENDER_LEAST &&
            !reaches(sender->repeated, sender->packets, SENDER_PERCENT)) {
            return FALSE;
        }
    }
    return TRUE;
}

static void
decide_on_repeats(const rs_survey *survey, rs_point *point, const GArray *order)
{
    repeat_count count = {.lags_ns = g_array_new(FALSE, FALSE, sizeof(guint64))};
    count_repeats(survey, point->id, order, &count);
    if (count.packets >= REPEAT_LEAST && every_sender_repeats(&count) &&
        reaches(count.repeated, count.packets, REPEAT_PERCENT)) {
        g_array_sort(count.lags_ns, by_value);
        guint64 usual =
            g_array_index(count.lags_ns, guint64, count.lags_ns->len * 19 / 20);
        point->delivers_twice = TRUE;
        point->repeat_within_ns = MAX(4 * usual, REPEAT_LEAST_NS);
    }
    g_array_unref(count.lags_ns);
}

/* ---- the order of the stamps ---- */

static gint
by_time(const held *a, const held *b)
{
    return compare_u64(a->frame.time_ns, b->frame.time_ns);
}

static gint
by_arrival(const held *a, const held *b)
{
    return compare_u64(a->frame.number, b->frame.number);
}

static gpointer
psn_key(guint64 way, guint32 psn24)
{
    guint64 h = roce_hash_mix(way, psn24);
    return GSIZE_TO_POINTER((gsize)(h | 1));
}

/* Whether the PSN of this frame lies behind the one before of its stream and kind. */
static gboolean
steps_back(GHashTable *last, const held *h)
{
    gpointer lane = psn_key(h->stream, (guint32)h->kind);
    guint before = GPOINTER_TO_UINT(g_hash_table_lookup(last, lane));
    g_hash_table_insert(last, lane, GUINT_TO_POINTER(h->psn24 + 1));
    return before != 0 && roce_psn_expand(h->psn24, before - 1) < (gint64)before - 1;
}

/* PSNs that step back in their stream, and requests that stand behind their own
 * acknowledgement, when a point's frames are taken in this order. */
static guint
disorder_in(const rs_survey *survey, guint point, const GArray *order)
{
    g_autoptr(GHashTable) last = g_hash_table_new(NULL, NULL); /* lane -> PSN + 1 */
    g_autoptr(GHashTable) asked = g_hash_table_new(NULL, NULL);
    g_autoptr(GHashTable) early = g_hash_table_new(NULL, NULL); /* answers not asked */
    guint n = 0;
    for (guint i = 0; i < order->len; i++) {
        const held *h = nth(survey, order, i);
        if (h->frame.point != point || h->kind == HELD_OTHER) {
            continue;
        }
        n += steps_back(last, h) ? 1 : 0;
        if (h->kind == HELD_REQUEST) {
            gpointer key = psn_key(h->way, h->psn24);
            n += g_hash_table_remove(early, key) ? 1 : 0;
            (void)g_hash_table_add(asked, key);
        } else if (!g_hash_table_contains(asked, psn_key(h->back, h->psn24))) {
            (void)g_hash_table_add(early, psn_key(h->back, h->psn24));
        }
    }
    return n;
}

static guint64
largest_step_ns(const rs_survey *survey, guint point)
{
    guint64 newest = 0;
    guint64 largest = 0;
    for (guint i = 0; i < survey->frames->len; i++) {
        const held *h = held_at(survey, i);
        if (h->frame.point == point) {
            newest = MAX(newest, h->frame.time_ns);
            largest = MAX(largest, newest - h->frame.time_ns);
        }
    }
    return largest;
}

static void
decide_on_order(const rs_survey *survey, rs_point *point, const GArray *by_file,
                const GArray *by_stamp)
{
    guint64 step = largest_step_ns(survey, point->id);
    if (step == 0) {
        return; /* both orders are one */
    }
    guint in_file = disorder_in(survey, point->id, by_file);
    guint in_time = disorder_in(survey, point->id, by_stamp);
    if (in_file >= DISORDER_LEAST && in_time * DISORDER_FACTOR <= in_file) {
        point->order = RS_ORDER_STAMP;
        point->horizon_ns = MIN(2 * step, MAX_HORIZON_NS);
    }
}

/* ---- points that share streams ---- */

static gint
by_narrow(const held *a, const held *b)
{
    return compare_u64(a->identity.narrow, b->identity.narrow);
}

static gint
by_stream(const held *a, const held *b)
{
    gint order = compare_u64(a->stream, b->stream);
    return order != 0 ? order : by_time(a, b);
}

static relation *
relation_of(GHashTable *relations, guint a, guint b)
{
    guint low = MIN(a, b);
    guint high = MAX(a, b);
    gint64 key = (gint64)((guint64)low << 32 | high);
    relation *r = g_hash_table_lookup(relations, &key);
    if (r == NULL) {
        r = g_new0(relation, 1);
        r->a = low;
        r->b = high;
        g_hash_table_insert(relations, g_memdup2(&key, sizeof key), r);
    }
    return r;
}

/* The same packet at two points: they stand behind each other on a path.  Snap lengths
 * may differ, so that only what every one keeps is compared. */
static void
count_twins(const rs_survey *survey, GHashTable *relations)
{
    g_autoptr(GArray) order = sorted(survey, by_narrow);
    for (guint i = 1; i < order->len; i++) {
        const held *a = nth(survey, order, i - 1);
        const held *b = nth(survey, order, i);
        if (a->has_identity && b->has_identity && a->frame.point != b->frame.point &&
            a->identity.narrow == b->identity.narrow) {
            relation_of(relations, a->frame.point, b->frame.point)->twins++;
        }
    }
}

/* Neighbours in time of one stream at two points, with PSNs near each other. */
static void
count_meetings(const rs_survey *survey, GHashTable *relations)
{
    g_autoptr(GArray) order = sorted(survey, by_stream);
    for (guint i = 1; i < order->len; i++) {
        const held *a = nth(survey, order, i - 1);
        const held *b = nth(survey, order, i);
        gint64 step = roce_psn_expand(b->psn24, a->psn24) - (gint64)a->psn24;
        if (a->stream != 0 && a->stream == b->stream &&
            a->frame.point != b->frame.point && a->kind == b->kind &&
            a->kind != HELD_OTHER && ABS(step) <= MEETING_PSNS) {
            relation_of(relations, a->frame.point, b->frame.point)->meetings++;
        }
    }
}

/* Requests at one point that are answered at another, which sees none of the first
 * direction itself: two files with one direction each. */
static void
count_answers(const rs_survey *survey, GHashTable *relations)
{
    g_autoptr(GHashTable) asked = g_hash_table_new(NULL, NULL); /* PSN -> index + 1 */
    g_autoptr(GHashTable) sees = g_hash_table_new(NULL, NULL);  /* way and point */
    for (guint i = 0; i < survey->frames->len; i++) {
        const held *h = held_at(survey, i);
        if (h->kind == HELD_REQUEST) {
            g_hash_table_insert(asked, psn_key(h->way, h->psn24),
                                GUINT_TO_POINTER(i + 1));
        }
        (void)g_hash_table_add(sees, psn_key(h->way, h->frame.point));
    }
    for (guint i = 0; i < survey->frames->len; i++) {
        const held *h = held_at(survey, i);
        gpointer found = h->kind == HELD_ACK || h->kind == HELD_RESPONSE
                             ? g_hash_table_lookup(asked, psn_key(h->back, h->psn24))
                             : NULL;
        if (found == NULL) {
            continue;
        }
        guint there = held_at(survey, GPOINTER_TO_UINT(found) - 1)->frame.point;
        gboolean apart =
            there != h->frame.point &&
            !g_hash_table_contains(sees, psn_key(h->back, h->frame.point)) &&
            !g_hash_table_contains(sees, psn_key(h->way, there));
        if (apart) {
            relation_of(relations, there, h->frame.point)->answers++;
        }
    }
}

/* Whether the order of a joined group's frames can be had from the file alone. */
static void
set_order_of_joined(const rs_survey *survey, rs_point *a, rs_point *b)
{
    if (a->file_i != b->file_i) {
        return; /* the feed brings files together in time */
    }
    guint64 step = MAX(largest_step_ns(survey, a->id), largest_step_ns(survey, b->id));
    guint64 horizon = MIN(MAX(2 * step, JOINED_HORIZON_NS), MAX_HORIZON_NS);
    a->order = MAX(a->order, RS_ORDER_CLOCK);
    b->order = MAX(b->order, RS_ORDER_CLOCK);
    a->horizon_ns = MAX(a->horizon_ns, horizon);
    b->horizon_ns = MAX(b->horizon_ns, horizon);
}

static gint
by_points(gconstpointer a, gconstpointer b)
{
    const relation *x = a;
    const relation *y = b;
    return x->a != y->a ? compare_u64(x->a, y->a) : compare_u64(x->b, y->b);
}

static void
decide_on_joins(rs_survey *survey)
{
    guint n = rs_points_n(survey->points);
    if (n < 2 || n > MAX_JOINED_POINTS) {
        return;
    }
    g_autoptr(GHashTable) relations =
        g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, g_free);
    count_twins(survey, relations);
    count_meetings(survey, relations);
    count_answers(survey, relations);
    g_autoptr(GList) list = g_list_sort(g_hash_table_get_values(relations), by_points);
    for (GList *i = list; i != NULL; i = i->next) {
        const relation *r = i->data;
        rs_point *a = rs_points_at(survey->points, r->a);
        rs_point *b = rs_points_at(survey->points, r->b);
        guint shared = MAX(r->meetings, r->answers);
        gboolean fresh = !a->surveyed || !b->surveyed;
        if (fresh && shared >= MEETINGS_LEAST &&
            !(r->twins > 0 && reaches(r->twins, shared, TWIN_PERCENT))) {
            rs_points_join(survey->points, r->a, r->b);
            set_order_of_joined(survey, a, b);
        }
    }
}

/* A file that began a little before the one before it ended, and goes on with it. */
static void
join_rotated(const rs_survey *survey, const rs_point *next)
{
    for (guint i = 0; i < next->id; i++) {
        const rs_point *before = rs_points_at(survey->points, i);
        if (rs_point_follows(survey->points, before, next, next->first_ns)) {
            rs_points_join(survey->points, i, next->id);
            return;
        }
    }
}

void
rs_survey_decide(rs_survey *survey)
{
    g_autoptr(GArray) copies = sorted(survey, by_identity);
    g_autoptr(GArray) by_file = sorted(survey, by_arrival);
    g_autoptr(GArray) by_stamp = sorted(survey, by_time);
    guint n = rs_points_n(survey->points);
    for (guint i = 0; i < n; i++) {
        rs_point *point = rs_points_at(survey->points, i);
        if (!point->surveyed && point->packets > 0) {
            decide_on_repeats(survey, point, copies);
            decide_on_order(survey, point, by_file, by_stamp);
            join_rotated(survey, point);
        }
    }
    decide_on_joins(survey);
    for (guint i = 0; i < n; i++) {
        rs_point *point = rs_points_at(survey->points, i);
        point->surveyed = point->surveyed || point->packets > 0;
    }
}

void
rs_survey_release(rs_survey *survey, rs_frame_fn take, void *ctx)
{
    for (guint i = 0; i < survey->frames->len; i++) {
        roce_frame frame = held_at(survey, i)->frame;
        frame.bytes = survey->bytes->data + held_at(survey, i)->at;
        take(ctx, &frame);
    }
    g_array_set_size(survey->frames, 0);
    g_byte_array_set_size(survey->bytes, 0);
}
