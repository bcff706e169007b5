/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "reaction.h"

#include "approach.h"

#include "roce/opcode.h"

#define BURST_GAP_NS 200000
#define STALE_NS 10000000 /* a rate this old says nothing of now */
#define STOP_FACTOR 8     /* a single interval this long is a stop, no rate */
#define LEAST_FOR_STOP 4  /* intervals, to tell one */
#define RECOVERED_PERCENT 95
#define LEAST_TICKS 20 /* of the capture's resolution in a window */
#define NS_PER_S 1000000000u
#define BITS_PER_BYTE 8

/* From a packet's predecessor in its message to it. */
typedef struct interval {
    guint64 start_ns;
    guint64 duration_ns;
    guint64 bits;
} interval;

/* The newest RS_RATE_PACKETS of them. */
typedef struct window {
    guint n, next;
    guint zeros; /* of no duration */
    guint64 duration_ns, bits;
    guint64 end_ns;
    interval ring[RS_RATE_PACKETS];
} window;

/* An interval while nobody asks for rates; a duration of seconds is as long as can be. */
typedef struct brief {
    guint64 end_ns;
    guint32 duration_ns, bits;
} brief;

/* What is measured of a stream from its first CNP on. */
typedef struct measure {
    guint64 bits;  /* of data, since the newest burst began */
    interval held; /* may be a stop; duration 0: none */
    window window;
    GArray *bursts; /* rs_cnp_burst, NULL before the first one has ended */
    guint64 n_bursts;
    rs_cnp_burst burst; /* the newest; valid if n_bursts > 0 */
} measure;

/* Of a stream, when a CNP came that may be about it: nobody knew.  Packets that came before that
 * may be told of later, so that the rate is taken when the first one from behind it is. */
typedef struct early_rate {
    guint64 time_ns, bps;
    gboolean is_due;
} early_rate;

typedef struct follower {
    guint32 point;
    roce_tenant tenant;
    roce_addr src, dst;
    early_rate early; /* time 0: there was none */
    roce_space space; /* of the newest data packet */
    gint64 psn;
    guint64 time_ns;
    gboolean goes_on;                /* the message of that packet */
    guint64 n_intervals;             /* so far */
    measure *measure;                /* NULL before the first CNP */
    brief intervals[RS_RATE_MEMORY]; /* a ring; of no use once there is a measure */
} follower;

/* The newest CNPs of a carrier of which nobody knows what data they are about, as many as make a
 * burst. */
typedef struct open_cnps {
    guint64 n, start_ns, end_ns, frame;
} open_cnps;

struct rs_reactions {
    GHashTable
        *open; /* open_cnps by carrier, of which the tracker has so many at most */
    GPtrArray *followers;
    GArray *follower_of; /* guint16 by stream: index + 1, 0 none, NOT_FOLLOWED */
    guint64 not_followed;
};

#define NOT_FOLLOWED G_MAXUINT16
G_STATIC_ASSERT(RS_REACTION_STREAMS < NOT_FOLLOWED);

static void
free_follower(gpointer data)
{
    follower *f = data;
    if (f->measure != NULL && f->measure->bursts != NULL) {
        g_array_unref(f->measure->bursts);
    }
    g_free(f->measure);
    g_free(f);
}

rs_reactions *
rs_reactions_new(void)
{
    rs_reactions *reactions = g_new0(rs_reactions, 1);
    reactions->open = g_hash_table_new_full(NULL, NULL, NULL, g_free);
    reactions->followers = g_ptr_array_new_with_free_func(free_follower);
    reactions->follower_of = g_array_new(FALSE, TRUE, sizeof(guint16));
    return reactions;
}

void
rs_reactions_free(rs_reactions *reactions)
{
    if (reactions != NULL) {
        g_hash_table_unref(reactions->open);
        g_ptr_array_unref(reactions->followers);
        g_array_unref(reactions->follower_of);
        g_free(reactions);
    }
}

static follower *
find_follower(const rs_reactions *reactions, guint32 stream)
{
    if (stream >= reactions->follower_of->len) {
        return NULL;
    }
    guint16 number = g_array_index(reactions->follower_of, guint16, stream);
    return number == 0 || number == NOT_FOLLOWED
               ? NULL
               : g_ptr_array_index(reactions->followers, number - 1u);
}

static follower *
follow(rs_reactions *reactions, const roce_stream *s)
{
    const guint32 stream = s->id;
    follower *f = find_follower(reactions, stream);
    if (f != NULL) {
        return f;
    }
    if (stream >= reactions->follower_of->len) {
        g_array_set_size(reactions->follower_of, stream + 1);
    }
    guint16 *number = &g_array_index(reactions->follower_of, guint16, stream);
    if (*number == NOT_FOLLOWED) {
        return NULL;
    }
    if (reactions->followers->len == RS_REACTION_STREAMS) {
        *number = NOT_FOLLOWED;
        reactions->not_followed++;
        return NULL;
    }
    f = g_new0(follower, 1);
    f->point = s->point;
    f->tenant = s->tenant;
    f->src = s->src;
    f->dst = s->dst;
    g_ptr_array_add(reactions->followers, f);
    *number = (guint16)reactions->followers->len;
    return f;
}

/* ---- rates ---- */

static inline void
add_interval(window *w, const interval *one)
{
    interval *slot = &w->ring[w->next];
    if (w->n == RS_RATE_PACKETS) {
        w->duration_ns -= slot->duration_ns;
        w->bits -= slot->bits;
        w->zeros -= slot->duration_ns == 0 ? 1 : 0;
    } else {
        w->n++;
    }
    *slot = *one;
    w->next = (w->next + 1) % RS_RATE_PACKETS;
    w->duration_ns += one->duration_ns;
    w->bits += one->bits;
    w->zeros += one->duration_ns == 0 ? 1 : 0;
    w->end_ns = one->start_ns + one->duration_ns;
}

/* 0 while it cannot be told. */
static guint64
rate_of(const window *w)
{
    if (w->n < RS_RATE_PACKETS || w->zeros * 2 > w->n || w->duration_ns == 0) {
        return 0;
    }
    return w->bits * NS_PER_S / w->duration_ns;
}

static guint64
start_of(const window *w)
{
    return w->ring[w->n == RS_RATE_PACKETS ? w->next : 0].start_ns;
}

/* What the newest window says of the newest burst, of which there is one. */
G_NO_INLINE static void
take_rate(measure *m)
{
    rs_cnp_burst *burst = &m->burst;
    const window *w = &m->window;
    guint64 rate = rate_of(w);
    if (rate == 0 || start_of(w) < burst->start_ns) {
        return;
    }
    burst->windows++;
    if (burst->lowest_bps == 0 || rate < burst->lowest_bps) {
        burst->lowest_bps = rate;
    }
    if (burst->cnps == 1) {
        burst->lowest_before_second_bps = burst->lowest_bps;
    }
    burst->shortest_window_ns = MIN(burst->shortest_window_ns, w->duration_ns);
    gboolean fell = burst->lowest_bps * 100 < burst->before_bps * RECOVERED_PERCENT;
    gboolean is_back = rate * 100 >= burst->before_bps * RECOVERED_PERCENT;
    if (burst->recovery_ns == 0 && fell && is_back && start_of(w) >= burst->end_ns) {
        burst->recovery_ns = w->end_ns - burst->start_ns;
    }
}

/* One interval that is much longer than those before it is held back: if the next one is
 * long as well the sender has become slow, else it had stopped. */
static inline void
take_interval(measure *m, const interval *one)
{
    const window *w = &m->window;
    gboolean is_long = w->n >= LEAST_FOR_STOP &&
                       one->duration_ns * w->n > STOP_FACTOR * w->duration_ns;
    if (is_long && m->held.duration_ns == 0) {
        m->held = *one;
        return;
    }
    if (is_long) {
        add_interval(&m->window, &m->held);
    }
    m->held.duration_ns = 0;
    add_interval(&m->window, one);
    if (m->n_bursts > 0) {
        take_rate(m);
    }
}

static gboolean
is_sequenced_data(const rs_sight *sight)
{
    const roce_packet *p = sight->packet;
    return sight->stream != NULL && p->has_bth && p->payload_bytes > 0 &&
           sight->sighting->sequenced;
}

void
rs_reactions_meet(rs_reactions *reactions, const rs_sight *sight)
{
    if (is_sequenced_data(sight) && sight->info->part == ROCE_PART_FIRST) {
        (void)follow(reactions, sight->stream);
    }
}

/* Whether a packet is the one behind the newest. */
static inline gboolean
follows(const follower *f, roce_space space, gint64 psn)
{
    return f->space == space && f->psn + 1 == psn;
}

/* What is remembered is measured. */
static measure *
measure_memory(const follower *f)
{
    measure *m = g_new0(measure, 1);
    guint64 n = MIN(f->n_intervals, RS_RATE_MEMORY);
    for (guint64 i = f->n_intervals - n; i != f->n_intervals; i++) {
        const brief *kept = &f->intervals[i % RS_RATE_MEMORY];
        const interval one = {
            .start_ns = kept->end_ns - kept->duration_ns,
            .duration_ns = kept->duration_ns,
            .bits = kept->bits,
        };
        take_interval(m, &one);
    }
    return m;
}

static guint64
rate_at(const measure *m, guint64 time_ns)
{
    return m->window.end_ns + STALE_NS >= time_ns ? rate_of(&m->window) : 0;
}

G_NO_INLINE static void
settle_early_rate(follower *f)
{
    g_autofree measure *m = measure_memory(f);
    f->early.bps = rate_at(m, f->early.time_ns);
    f->early.is_due = FALSE;
}

static inline gboolean
is_one_of(roce_part part, guint parts)
{
    return (parts >> part & 1u) != 0;
}

/* Behind which packets of its message come, and before which some came. */
#define PARTS_THAT_GO_ON (1u << ROCE_PART_FIRST | 1u << ROCE_PART_MIDDLE)
#define PARTS_THAT_FOLLOW (1u << ROCE_PART_MIDDLE | 1u << ROCE_PART_LAST)

static inline brief
brief_of(guint64 start_ns, guint64 end_ns, guint64 bits)
{
    return (brief){
        .end_ns = end_ns,
        .duration_ns = (guint32)MIN(end_ns - start_ns, G_MAXUINT32),
        .bits = (guint32)bits,
    };
}

/* A data packet of a stream that is followed; `behind` the newest. */
static inline void
take_data(follower *f, gboolean behind, roce_part part, guint64 time_ns, guint64 bits)
{
    gboolean inside = is_one_of(part, PARTS_THAT_FOLLOW);
    if (f->measure != NULL) {
        f->measure->bits += bits;
    } else if (f->early.is_due && time_ns > f->early.time_ns) {
        settle_early_rate(f);
    }
    if (inside && behind && f->goes_on && time_ns >= f->time_ns) {
        if (f->measure != NULL) {
            const interval one = {
                .start_ns = f->time_ns,
                .duration_ns = time_ns - f->time_ns,
                .bits = bits,
            };
            take_interval(f->measure, &one);
        } else {
            f->intervals[f->n_intervals++ % RS_RATE_MEMORY] =
                brief_of(f->time_ns, time_ns, bits);
        }
    }
    f->goes_on = is_one_of(part, PARTS_THAT_GO_ON);
    f->time_ns = time_ns;
}

static void
take_cars(follower *f, gboolean behind, const rs_train_sight *train)
{
    for (guint i = 0; i < train->n; i++) {
        const roce_car *car = &train->cars[i];
        take_data(f, behind || i > 0, roce_opcode_get(car->opcode)->part, car->time_ns,
                  (guint64)car->udp_bytes * BITS_PER_BYTE);
    }
}

/* As take_cars(), while nobody asks for rates: of nearly all. */
static void
remember_cars(follower *f, gboolean behind, const rs_train_sight *train)
{
    guint64 n_intervals = f->n_intervals;
    guint64 before_ns = f->time_ns;
    gboolean goes_on = behind && f->goes_on;
    for (guint i = 0; i < train->n; i++) {
        const roce_car *car = &train->cars[i];
        roce_part part = roce_opcode_get(car->opcode)->part;
        if (goes_on && is_one_of(part, PARTS_THAT_FOLLOW) &&
            car->time_ns >= before_ns) {
            f->intervals[n_intervals++ % RS_RATE_MEMORY] = brief_of(
                before_ns, car->time_ns, (guint64)car->udp_bytes * BITS_PER_BYTE);
        }
        goes_on = is_one_of(part, PARTS_THAT_GO_ON);
        before_ns = car->time_ns;
    }
    f->n_intervals = n_intervals;
    f->time_ns = before_ns;
    f->goes_on = goes_on;
}

void
rs_reactions_packet(rs_reactions *reactions, const rs_sight *sight)
{
    if (!is_sequenced_data(sight)) {
        return;
    }
    follower *f = find_follower(reactions, sight->stream->id);
    if (f == NULL) {
        return;
    }
    roce_space space = sight->sighting->space;
    gint64 psn = sight->sighting->psn;
    take_data(f, follows(f, space, psn), sight->info->part, sight->frame->time_ns,
              (guint64)sight->packet->udp_length * BITS_PER_BYTE);
    f->space = space;
    f->psn = psn;
}

void
rs_reactions_train(rs_reactions *reactions, const rs_train_sight *train)
{
    follower *f = find_follower(reactions, train->stream->id);
    if (f == NULL) {
        return;
    }
    gboolean behind = follows(f, train->space, train->psn);
    if (f->measure == NULL && !f->early.is_due) {
        remember_cars(f, behind, train);
    } else {
        take_cars(f, behind, train);
    }
    f->space = train->space;
    f->psn = train->psn + train->n - 1;
}

void
rs_reactions_approach(const rs_reactions *reactions, guint32 stream)
{
    const follower *f = find_follower(reactions, stream);
    rs_approach(f, offsetof(follower, intervals));
}

void
rs_reactions_approach_intervals(const rs_reactions *reactions, guint32 stream)
{
    const follower *f = find_follower(reactions, stream);
    if (f == NULL) {
        return;
    }
    if (f->measure != NULL) {
        rs_approach(f->measure, sizeof *f->measure);
    } else {
        rs_approach(&f->intervals[f->n_intervals % RS_RATE_MEMORY],
                    4 * RS_CACHE_LINE_BYTES);
    }
}

/* ---- bursts ---- */

static guint64
burst_gap_ns(const rs_occurrence *cnp)
{
    return MAX(BURST_GAP_NS, 4 * cnp->cnp_interval_ns);
}

static void
keep_burst(measure *m)
{
    if (m->n_bursts == 0 || m->n_bursts > RS_CNP_BURSTS) {
        return;
    }
    if (m->bursts == NULL) {
        m->bursts = g_array_new(FALSE, FALSE, sizeof(rs_cnp_burst));
    }
    g_array_append_val(m->bursts, m->burst);
}

static void
begin_burst(measure *m, const roce_event *event)
{
    keep_burst(m);
    m->n_bursts++;
    m->bits = 0;
    m->burst = (rs_cnp_burst){
        .start_ns = event->time_ns,
        .first_frame = event->frame,
        .before_bps = rate_at(m, event->time_ns),
        .shortest_window_ns = G_MAXUINT64,
    };
    m->burst.heard_bps = m->burst.before_bps;
    if (m->burst.before_bps != 0) {
        m->burst.shortest_window_ns = m->window.duration_ns;
    }
}

/* Notes how fast those were that a carrier may answer. */
static void
note_rates(const rs_reactions *reactions, const roce_stream *carrier, guint64 now)
{
    for (guint i = 0; i < reactions->followers->len; i++) {
        follower *f = g_ptr_array_index(reactions->followers, i);
        if (f->measure == NULL && f->point == carrier->point &&
            roce_addr_equal(&f->src, &carrier->dst) &&
            roce_addr_equal(&f->dst, &carrier->src) &&
            roce_tenant_equal(&f->tenant, &carrier->tenant)) {
            f->early = (early_rate){.time_ns = now, .is_due = TRUE};
        }
    }
}

/* NULL: there are too many. */
static open_cnps *
open_of(rs_reactions *reactions, guint32 carrier)
{
    gpointer key = GUINT_TO_POINTER(carrier);
    open_cnps *open = g_hash_table_lookup(reactions->open, key);
    if (open == NULL && g_hash_table_size(reactions->open) < RS_REACTION_STREAMS) {
        open = g_new0(open_cnps, 1);
        g_hash_table_insert(reactions->open, key, open);
    }
    return open;
}

void
rs_reactions_open_cnp(rs_reactions *reactions, const rs_occurrence *cnp)
{
    guint64 now = cnp->event.time_ns;
    open_cnps *open = open_of(reactions, cnp->carrier);
    if (open == NULL) {
        return;
    }
    gboolean is_first = open->n == 0;
    if (is_first || now < open->end_ns || now - open->end_ns > burst_gap_ns(cnp)) {
        *open = (open_cnps){.start_ns = now, .frame = cnp->event.frame};
    }
    if (is_first && cnp->stream != NULL) {
        note_rates(reactions, cnp->stream, now);
    }
    open->n++;
    open->end_ns = now;
}

/* Those that a CNP goes on with; NULL: none. */
static const open_cnps *
goes_on_with(const rs_reactions *reactions, const rs_occurrence *cnp)
{
    const open_cnps *open =
        g_hash_table_lookup(reactions->open, GUINT_TO_POINTER(cnp->carrier));
    guint64 now = cnp->event.time_ns;
    return open != NULL && now >= open->end_ns &&
                   now - open->end_ns <= burst_gap_ns(cnp)
               ? open
               : NULL;
}

/* The first CNP about a stream that is known to be so: what is remembered is measured. */
static measure *
begin_first_burst(rs_reactions *reactions, follower *f, const rs_occurrence *cnp)
{
    const open_cnps *open = goes_on_with(reactions, cnp);
    if (f->early.is_due) {
        settle_early_rate(f);
    }
    measure *m = measure_memory(f);
    f->measure = m;
    begin_burst(m, &cnp->event);
    if (open != NULL) {
        gboolean noted = f->early.time_ns == open->start_ns;
        m->burst.before_bps = noted ? f->early.bps : 0;
        m->burst.unheard = open->n;
        m->burst.unheard_start_ns = open->start_ns;
        m->burst.unheard_frame = open->frame;
    }
    g_hash_table_remove(reactions->open, GUINT_TO_POINTER(cnp->carrier));
    return m;
}

void
rs_reactions_cnp(rs_reactions *reactions, const rs_occurrence *cnp)
{
    const roce_event *event = &cnp->event;
    follower *f = find_follower(reactions, event->stream);
    if (f == NULL) {
        return;
    }
    measure *m = f->measure != NULL ? f->measure : begin_first_burst(reactions, f, cnp);
    guint64 now = event->time_ns;
    if (m->burst.cnps > 0 &&
        (now < m->burst.end_ns || now - m->burst.end_ns > burst_gap_ns(cnp))) {
        begin_burst(m, event);
    }
    m->burst.cnps++;
    m->burst.end_ns = now;
    m->burst.bits = m->bits;
    m->burst.last_frame = event->frame;
    m->burst.recovery_ns = 0;
}

static void
give_up_rates(rs_cnp_burst *burst)
{
    burst->before_bps = burst->heard_bps = burst->lowest_bps = 0;
    burst->lowest_before_second_bps = burst->recovery_ns = burst->windows = 0;
}

void
rs_reactions_finish(rs_reactions *reactions, guint64 resolution_ns)
{
    for (guint i = 0; i < reactions->followers->len; i++) {
        const follower *f = g_ptr_array_index(reactions->followers, i);
        measure *m = f->measure;
        if (m == NULL) {
            continue;
        }
        keep_burst(m);
        for (guint k = 0; m->bursts != NULL && k < m->bursts->len; k++) {
            rs_cnp_burst *burst = &g_array_index(m->bursts, rs_cnp_burst, k);
            if (burst->shortest_window_ns < LEAST_TICKS * resolution_ns) {
                give_up_rates(burst);
            }
        }
    }
}

const rs_cnp_burst *
rs_reactions_bursts(const rs_reactions *reactions, guint32 stream, guint *n,
                    guint64 *n_all)
{
    const follower *f = find_follower(reactions, stream);
    const measure *m = f != NULL ? f->measure : NULL;
    *n = m != NULL && m->bursts != NULL ? m->bursts->len : 0;
    *n_all = m != NULL ? m->n_bursts : 0;
    return *n > 0 ? &g_array_index(m->bursts, rs_cnp_burst, 0) : NULL;
}

rs_cnp_burst
rs_cnp_burst_whole(const rs_cnp_burst *burst)
{
    rs_cnp_burst whole = *burst;
    if (burst->unheard == 0) {
        return whole;
    }
    whole.cnps += burst->unheard;
    whole.start_ns = burst->unheard_start_ns;
    whole.first_frame = burst->unheard_frame;
    whole.lowest_before_second_bps = 0;
    if (burst->recovery_ns != 0) {
        whole.recovery_ns += burst->start_ns - burst->unheard_start_ns;
    }
    return whole;
}

guint64
rs_reactions_not_followed(const rs_reactions *reactions)
{
    return reactions->not_followed;
}
