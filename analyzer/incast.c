/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Of each receiver, its active senders are in a row, the longest silent one first: each
 * packet moves its sender to the end.  Time only goes forward: where stamps step back, the
 * newest one holds.
 */
#include "incast.h"

#include "approach.h"
#include "xoffs.h"

#include "roce/hash.h"

#define MAX_RECEIVERS 4096
#define MAX_SENDERS 65536  /* over all receivers */
#define MAX_SPANS 262144   /* likewise of episodes, for comparing pauses with them */
#define NOBODY G_MAXUINT32 /* in place of a sender's number */

#define LEAST_EXPECTED 3 /* see rs_incast_judge() */
#define LEAST_RATIO 2

typedef struct sender_key {
    guint32 receiver;
    roce_addr addr;
} sender_key;

typedef struct receiver receiver;

struct rs_incast_sender {
    rs_incast_sender *before, *behind; /* in the row; NULL: none */
    receiver *receiver;
    guint64 newest_ns;           /* its newest packet */
    guint64 episode;             /* the newest that names it, counted from 1 */
    guint64 outside, ce_outside; /* its data in no episode, and that of it with marks */
    gboolean active;
    gboolean markable, marked; /* some of its data, in an episode */
    gboolean complained;       /* of its data, by CNPs then */
    sender_key key;
};

typedef struct span {
    guint64 start_ns, end_ns;
} span;

struct receiver {
    rs_incast_receiver pub;
    rs_incast_sender *oldest, *newest; /* the ends of the row; NULL: it is empty */
    guint n_active;                    /* senders in it */
    guint64 quiet_until_ns;            /* nobody falls silent before */
    guint64 clock_ns;
    gboolean inside;  /* an episode goes on */
    guint64 ended_ns; /* the episode before */
    rs_incast_episode episode;
    GArray *spans; /* span: all episodes */
};

/* What is outside of episodes at a point. */
typedef struct point_sum {
    guint64 data, ce, cnps;
    guint n;           /* senders to receivers */
    roce_addr ends[2]; /* of the first of them */
    gboolean all[2];   /* whether each is an end of all of them */
    guint64 own;       /* data of the one that is: see add_own() */
    gboolean own_marked;
} point_sum;

struct rs_incast {
    rs_destinations *destinations;
    GPtrArray *receivers; /* receiver, by destination */
    GPtrArray *senders;   /* rs_incast_sender */
    GHashTable *by_key;   /* sender_key -> index in senders + 1 */
    GArray *of_stream;    /* guint32 by stream: likewise; 0 not asked for yet, NOBODY */
    guint64 first_ns, last_ns; /* of all data; valid once a receiver is there */
    rs_xoffs *xoffs;
    guint n_spans;
    gboolean spans_omitted;
    guint64 senders_omitted; /* streams of theirs */
    gboolean known;
};

static guint
hash_sender(gconstpointer data)
{
    const sender_key *key = data;
    return (guint)roce_hash_addr(key->receiver, &key->addr);
}

static gboolean
same_sender(gconstpointer a, gconstpointer b)
{
    const sender_key *x = a;
    const sender_key *y = b;
    return x->receiver == y->receiver && roce_addr_equal(&x->addr, &y->addr);
}

static void
free_receiver(gpointer data)
{
    receiver *r = data;
    g_array_unref(r->pub.degree_ns);
    g_array_unref(r->pub.episodes);
    g_array_unref(r->spans);
    g_free(r);
}

rs_incast *
rs_incast_new(void)
{
    rs_incast *incast = g_new0(rs_incast, 1);
    incast->first_ns = G_MAXUINT64;
    incast->destinations = rs_destinations_new(MAX_RECEIVERS);
    incast->receivers = g_ptr_array_new_with_free_func(free_receiver);
    incast->senders = g_ptr_array_new_with_free_func(g_free);
    incast->by_key = g_hash_table_new(hash_sender, same_sender);
    incast->of_stream = g_array_new(FALSE, TRUE, sizeof(guint32));
    incast->xoffs = rs_xoffs_new();
    return incast;
}

void
rs_incast_free(rs_incast *incast)
{
    if (incast == NULL) {
        return;
    }
    g_hash_table_unref(incast->by_key);
    g_ptr_array_unref(incast->senders);
    g_ptr_array_unref(incast->receivers);
    rs_destinations_free(incast->destinations);
    g_array_unref(incast->of_stream);
    rs_xoffs_free(incast->xoffs);
    g_free(incast);
}

/* ---- who sends to whom ---- */

static receiver *
receiver_of(rs_incast *incast, const roce_stream *stream)
{
    guint32 i = rs_destinations_of(incast->destinations, stream);
    if (i == RS_NO_DESTINATION) {
        return NULL;
    }
    if (i == incast->receivers->len) {
        receiver *r = g_new0(receiver, 1);
        r->pub.at = *rs_destinations_at(incast->destinations, i);
        r->pub.degree_ns = g_array_new(FALSE, TRUE, sizeof(guint64));
        r->pub.episodes = g_array_new(FALSE, FALSE, sizeof(rs_incast_episode));
        r->spans = g_array_new(FALSE, FALSE, sizeof(span));
        g_ptr_array_add(incast->receivers, r);
    }
    return g_ptr_array_index(incast->receivers, i);
}

static rs_incast_sender *
sender_at(const rs_incast *incast, guint32 i)
{
    return g_ptr_array_index(incast->senders, i);
}

/* The number of a sender, counted from 1, made if need be; NOBODY beyond the bounds. */
G_NO_INLINE static guint32
find_sender(rs_incast *incast, const roce_stream *stream)
{
    receiver *r = receiver_of(incast, stream);
    if (r == NULL) {
        return NOBODY;
    }
    const sender_key key = {
        .receiver = rs_destinations_of(incast->destinations, stream),
        .addr = stream->src,
    };
    guint32 number = GPOINTER_TO_UINT(g_hash_table_lookup(incast->by_key, &key));
    if (number != 0) {
        return number;
    }
    if (incast->senders->len == MAX_SENDERS) {
        incast->senders_omitted++;
        return NOBODY;
    }
    rs_incast_sender *added = g_new0(rs_incast_sender, 1);
    added->key = key;
    added->receiver = r;
    g_ptr_array_add(incast->senders, added);
    number = incast->senders->len;
    g_hash_table_insert(incast->by_key, &added->key, GUINT_TO_POINTER(number));
    r->pub.n_senders++;
    return number;
}

rs_incast_sender *
rs_incast_sender_of(rs_incast *incast, const roce_stream *stream)
{
    if (stream->id >= incast->of_stream->len) {
        g_array_set_size(incast->of_stream, stream->id + 1);
    }
    guint32 *number = &g_array_index(incast->of_stream, guint32, stream->id);
    if (*number == 0) {
        *number = find_sender(incast, stream);
    }
    return *number == NOBODY ? NULL : sender_at(incast, *number - 1);
}

/* ---- the row of active senders ---- */

static inline void
take_out(receiver *r, rs_incast_sender *s)
{
    *(s->before != NULL ? &s->before->behind : &r->oldest) = s->behind;
    *(s->behind != NULL ? &s->behind->before : &r->newest) = s->before;
}

static inline void
put_last(receiver *r, rs_incast_sender *s)
{
    s->before = r->newest;
    s->behind = NULL;
    *(r->newest != NULL ? &r->newest->behind : &r->oldest) = s;
    r->newest = s;
}

/* ---- episodes ---- */

G_NO_INLINE static void
open_episode(receiver *r, guint64 frame)
{
    r->inside = TRUE;
    r->pub.n_episodes++;
    r->episode = (rs_incast_episode){
        .start_ns = r->clock_ns,
        .frame = frame,
    };
}

static void
close_episode(rs_incast *incast, receiver *r)
{
    r->inside = FALSE;
    r->episode.end_ns = r->ended_ns = r->clock_ns;
    r->pub.inside_ns += r->episode.end_ns - r->episode.start_ns;
    if (r->pub.episodes->len < RS_INCAST_EPISODES) {
        g_array_append_val(r->pub.episodes, r->episode);
    }
    if (incast->n_spans == MAX_SPANS) {
        incast->spans_omitted = TRUE;
        return;
    }
    incast->n_spans++;
    const span s = {r->episode.start_ns, r->episode.end_ns};
    g_array_append_val(r->spans, s);
}

/* Names a sender in the episode that goes on. */
static void
join_episode(receiver *r, rs_incast_sender *s)
{
    if (s->episode == r->pub.n_episodes) {
        return;
    }
    r->pub.n_met += s->episode == 0 ? 1 : 0;
    s->episode = r->pub.n_episodes;
    if (r->episode.n_senders < RS_INCAST_EPISODE_SENDERS) {
        r->episode.senders[r->episode.n_senders] = s->key.addr;
    }
    r->episode.n_senders++;
}

/* Everybody who is active when an episode begins, the longest silent one first. */
G_NO_INLINE static void
join_all(receiver *r)
{
    for (rs_incast_sender *s = r->oldest; s != NULL; s = s->behind) {
        join_episode(r, s);
    }
}

/* ---- time ---- */

/* The time of a packet: never before another one, nor so late that windows behind it do
 * not end, as a broken stamp may be. */
static guint64
clock_at(const receiver *r, guint64 time_ns)
{
    return MAX(r->clock_ns, MIN(time_ns, G_MAXUINT64 - 2 * RS_INCAST_WINDOW_NS));
}

static void
go_on(receiver *r, guint64 time_ns)
{
    if (r->n_active > 0) {
        g_array_index(r->pub.degree_ns, guint64, r->n_active) += time_ns - r->clock_ns;
    }
    r->clock_ns = time_ns;
}

/* Lets those fall silent whose window has passed by then. */
G_NO_INLINE static void
fall_silent(rs_incast *incast, receiver *r, guint64 time_ns)
{
    for (rs_incast_sender *s = r->oldest; s != NULL; s = r->oldest) {
        r->quiet_until_ns = s->newest_ns + RS_INCAST_WINDOW_NS;
        if (r->quiet_until_ns > time_ns) {
            return;
        }
        go_on(r, r->quiet_until_ns);
        take_out(r, s);
        r->n_active--;
        s->active = FALSE;
        if (r->inside && r->n_active < RS_INCAST_SENDERS) {
            close_episode(incast, r);
        }
    }
}

static inline void
advance(rs_incast *incast, receiver *r, guint64 time_ns)
{
    if (time_ns >= r->quiet_until_ns) {
        fall_silent(incast, r, time_ns);
    }
    if (time_ns > r->clock_ns) {
        go_on(r, time_ns);
    }
}

G_NO_INLINE static void
rise(receiver *r)
{
    if (r->n_active <= r->pub.max_degree) {
        return;
    }
    r->pub.max_degree = r->n_active;
    r->pub.max_degree_ns = r->clock_ns;
    g_array_set_size(r->pub.degree_ns, r->n_active + 1);
}

/* ---- packets and events ---- */

static inline void
count_data(receiver *r, rs_incast_sender *s, guint64 frame, guint ecn)
{
    rs_incast_share *ce = &r->pub.signs[RS_INCAST_CE];
    gboolean marked = ecn == ROCE_ECN_CE;
    if (!r->inside) {
        s->outside++;
        s->ce_outside += marked ? 1 : 0;
        return;
    }
    ce->of_inside++;
    r->episode.data_packets++;
    if (!s->markable && ecn != ROCE_ECN_NOT_ECT) {
        s->markable = TRUE;
        r->pub.n_markable++;
    }
    if (!marked) {
        return;
    }
    ce->inside++;
    r->pub.n_marked += s->marked ? 0 : 1;
    s->marked = TRUE;
    if (r->episode.ce++ == 0) {
        r->episode.ce_frame = frame;
    }
}

void
rs_incast_approach_sender(const rs_incast_sender *sender)
{
    rs_approach(sender, sizeof *sender);
}

void
rs_incast_approach(const rs_incast *incast, guint32 stream)
{
    if (stream < incast->of_stream->len) {
        guint32 number = g_array_index(incast->of_stream, guint32, stream);
        gboolean is_known = number != 0 && number != NOBODY;
        rs_incast_approach_sender(is_known ? sender_at(incast, number - 1) : NULL);
    }
}

/* One more is active. */
G_NO_INLINE static void
become_active(receiver *r, rs_incast_sender *s, guint64 frame)
{
    s->active = TRUE;
    put_last(r, s);
    r->n_active++;
    rise(r);
    if (!r->inside && r->n_active >= RS_INCAST_SENDERS) {
        open_episode(r, frame);
        join_all(r);
    }
    if (r->inside) {
        r->episode.degree = MAX(r->episode.degree, r->n_active);
    }
}

/* Its packet is the newest of all. */
static inline void
be_active(receiver *r, rs_incast_sender *s, guint64 frame)
{
    if (!s->active) {
        become_active(r, s, frame);
    } else if (s != r->newest) {
        take_out(r, s);
        put_last(r, s);
    }
}

static inline void
take_data(rs_incast *incast, rs_incast_sender *s, guint64 time_ns, guint64 frame,
          guint ecn)
{
    receiver *r = s->receiver;
    guint64 now_ns = clock_at(r, time_ns);
    incast->first_ns = MIN(incast->first_ns, now_ns);
    incast->last_ns = MAX(incast->last_ns, now_ns);
    advance(incast, r, now_ns);
    s->newest_ns = now_ns;
    be_active(r, s, frame);
    if (r->inside) {
        join_episode(r, s);
    }
    count_data(r, s, frame, ecn);
}

void
rs_incast_packet(rs_incast *incast, const rs_sight *sight)
{
    rs_xoffs_packet(incast->xoffs, sight);
    rs_incast_sender *s =
        sight->is_data ? rs_incast_sender_of(incast, sight->stream) : NULL;
    if (s != NULL) {
        take_data(incast, s, sight->frame->time_ns, sight->frame->number,
                  roce_packet_ecn(sight->packet));
    }
}

void
rs_incast_glimpse(rs_incast *incast, rs_incast_sender *sender,
                  const rs_glimpse *glimpse)
{
    take_data(incast, sender, glimpse->time_ns, glimpse->frame,
              glimpse->traffic_class & 3u);
}

/* Whether a CNP's queue pair is not known, so that the event names the stream that carries
 * it.  Who sent it is then taken for the receiver if it is one: a switch is not. */
static gboolean
is_carried(const rs_occurrence *o)
{
    return o->event.stream == o->carrier;
}

/* Whose data a CNP complains of; RS_NO_DESTINATION: nobody's. */
static guint32
complaining(const rs_incast *incast, const rs_occurrence *o)
{
    return is_carried(o) ? rs_destinations_find_back(incast->destinations, o->stream)
                         : rs_destinations_find(incast->destinations, o->stream);
}

/* Who sent that data; NULL: a sender beyond the bounds. */
static rs_incast_sender *
complained_of(const rs_incast *incast, guint32 to, const rs_occurrence *o)
{
    const sender_key key = {
        .receiver = to,
        .addr = is_carried(o) ? o->stream->dst : o->stream->src,
    };
    guint32 number = GPOINTER_TO_UINT(g_hash_table_lookup(incast->by_key, &key));
    return number != 0 ? sender_at(incast, number - 1) : NULL;
}

static void
count_complained(receiver *r, rs_incast_sender *s)
{
    if (s != NULL && s->episode != 0 && !s->complained) {
        s->complained = TRUE;
        r->pub.n_complained++;
    }
}

static void
count_cnp(rs_incast *incast, const rs_occurrence *o)
{
    guint32 to = complaining(incast, o);
    if (to == RS_NO_DESTINATION) {
        return;
    }
    receiver *r = g_ptr_array_index(incast->receivers, to);
    advance(incast, r, clock_at(r, o->event.time_ns));
    rs_incast_share *cnps = &r->pub.signs[RS_INCAST_CNP];
    /* A notification point paces its CNPs: they lag behind the marks. */
    gboolean behind =
        r->ended_ns != 0 && r->clock_ns < r->ended_ns + RS_INCAST_WINDOW_NS;
    if (r->inside || behind) {
        cnps->inside++;
        count_complained(r, complained_of(incast, to, o));
    } else {
        cnps->outside++;
    }
    if (r->inside) {
        r->episode.cnps++;
    } else if (behind && r->pub.n_episodes <= RS_INCAST_EPISODES) {
        GArray *kept = r->pub.episodes;
        g_array_index(kept, rs_incast_episode, kept->len - 1).cnps++;
    }
}

void
rs_incast_event(rs_incast *incast, const rs_occurrence *o)
{
    rs_xoffs_event(incast->xoffs, &o->event);
    if (o->event.kind == ROCE_EVENT_CNP && o->stream != NULL) {
        count_cnp(incast, o);
    }
}

/* ---- at the end ---- */

static void
compare_pauses(const rs_incast *incast, receiver *r)
{
    rs_incast_share *pauses = &r->pub.signs[RS_INCAST_PAUSE];
    guint64 end_ns = incast->last_ns + RS_INCAST_WINDOW_NS;
    for (guint i = 0; i < r->spans->len; i++) {
        const span *s = &g_array_index(r->spans, span, i);
        guint64 n =
            rs_xoffs_not_by(incast->xoffs, &r->pub.at.addr, s->start_ns, s->end_ns);
        pauses->inside += n;
        if (i < r->pub.episodes->len) {
            g_array_index(r->pub.episodes, rs_incast_episode, i).pauses = n;
        }
    }
    guint64 all =
        rs_xoffs_not_by(incast->xoffs, &r->pub.at.addr, incast->first_ns, end_ns);
    pauses->outside = all - pauses->inside;
    pauses->of_inside = r->pub.inside_ns;
    pauses->of_outside = end_ns - incast->first_ns - r->pub.inside_ns;
    r->pub.pauses_known = !incast->spans_omitted && rs_xoffs_complete(incast->xoffs);
}

static point_sum *
sum_at(GArray *points, guint32 point)
{
    if (point >= points->len) {
        g_array_set_size(points, point + 1);
    }
    return &g_array_index(points, point_sum, point);
}

static void
add_ends(point_sum *sum, const rs_incast_sender *s)
{
    const roce_addr *const ends[2] = {&s->key.addr, &s->receiver->pub.at.addr};
    for (guint i = 0; i < 2; i++) {
        sum->ends[i] = sum->n == 0 ? *ends[i] : sum->ends[i];
        gboolean is_one = roce_addr_equal(&sum->ends[i], ends[0]) ||
                          roce_addr_equal(&sum->ends[i], ends[1]);
        sum->all[i] = is_one && (sum->n == 0 || sum->all[i]);
    }
    sum->n++;
}

/* Where one host is an end of everything, as at its NIC or its switch port, what it sends has
 * met no queue yet, if none of it is marked: it is no measure for what comes to the host. */
static void
add_own(point_sum *sum, const rs_incast_sender *s)
{
    const roce_addr *host = &sum->ends[sum->all[0] ? 0 : 1];
    if (sum->all[0] != sum->all[1] && roce_addr_equal(host, &s->key.addr)) {
        sum->own += s->outside;
        sum->own_marked |= s->marked || s->ce_outside > 0;
    }
}

/* Of each point, what is in no episode. */
static GArray *
add_up_points(const rs_incast *incast)
{
    GArray *points = g_array_new(FALSE, TRUE, sizeof(point_sum));
    for (guint i = 0; i < incast->receivers->len; i++) {
        const receiver *r = g_ptr_array_index(incast->receivers, i);
        sum_at(points, r->pub.at.point)->cnps += r->pub.signs[RS_INCAST_CNP].outside;
    }
    for (guint32 i = 0; i < incast->senders->len; i++) {
        const rs_incast_sender *s = sender_at(incast, i);
        point_sum *sum = sum_at(points, s->receiver->pub.at.point);
        sum->data += s->outside;
        sum->ce += s->ce_outside;
        add_ends(sum, s);
    }
    for (guint32 i = 0; i < incast->senders->len; i++) {
        const rs_incast_sender *s = sender_at(incast, i);
        add_own(sum_at(points, s->receiver->pub.at.point), s);
    }
    return points;
}

/* What goes to other receivers at the same point is outside as well, but for what is in
 * episodes of theirs: marks and CNPs are compared with all data of the point. */
static void
compare_with_point(const rs_incast *incast)
{
    g_autoptr(GArray) points = add_up_points(incast);
    for (guint i = 0; i < incast->receivers->len; i++) {
        receiver *r = g_ptr_array_index(incast->receivers, i);
        const point_sum *sum = &g_array_index(points, point_sum, r->pub.at.point);
        rs_incast_share *ce = &r->pub.signs[RS_INCAST_CE];
        rs_incast_share *cnps = &r->pub.signs[RS_INCAST_CNP];
        ce->outside = sum->ce;
        ce->of_outside = sum->data - (sum->own_marked ? 0 : sum->own);
        cnps->outside = sum->cnps;
        cnps->of_inside = ce->of_inside;
        cnps->of_outside = sum->data;
    }
}

void
rs_incast_finish(rs_incast *incast, const rs_nics *nics, guint64 resolution_ns)
{
    incast->known = resolution_ns * RS_INCAST_STAMPS <= RS_INCAST_WINDOW_NS;
    rs_xoffs_finish(incast->xoffs, nics);
    for (guint i = 0; i < incast->receivers->len; i++) {
        receiver *r = g_ptr_array_index(incast->receivers, i);
        advance(incast, r, r->clock_ns + RS_INCAST_WINDOW_NS);
        if (r->pub.n_episodes > 0) {
            compare_pauses(incast, r);
        }
    }
    compare_with_point(incast);
}

gboolean
rs_incast_known(const rs_incast *incast)
{
    return incast->known;
}

guint
rs_incast_n_receivers(const rs_incast *incast)
{
    return incast->known ? incast->receivers->len : 0;
}

const rs_incast_receiver *
rs_incast_receiver_at(const rs_incast *incast, guint i)
{
    return &((const receiver *)g_ptr_array_index(incast->receivers, i))->pub;
}

guint32
rs_incast_receiver_of(const rs_incast *incast, const roce_stream *stream)
{
    return rs_destinations_find(incast->destinations, stream);
}

guint64
rs_incast_omitted(const rs_incast *incast)
{
    return rs_destinations_omitted(incast->destinations) + incast->senders_omitted;
}

rs_coincidence
rs_incast_judge(const rs_incast_receiver *r, rs_incast_sign sign)
{
    const rs_incast_share *s = &r->signs[sign];
    if (sign == RS_INCAST_PAUSE && !r->pauses_known) {
        return RS_COINCIDENCE_UNDECIDABLE;
    }
    if (s->inside == 0) {
        return s->outside == 0 ? RS_COINCIDENCE_ABSENT : RS_COINCIDENCE_NO;
    }
    /* As doubles: packets times nanoseconds need not fit 64 bits. */
    double per_inside = (double)s->inside / (double)s->of_inside;
    double expected = per_inside * (double)s->of_outside;
    if (MAX(expected, (double)s->outside) < LEAST_EXPECTED) {
        return RS_COINCIDENCE_UNDECIDABLE;
    }
    return expected < LEAST_RATIO * (double)s->outside ? RS_COINCIDENCE_NO
                                                       : RS_COINCIDENCE_YES;
}

gboolean
rs_incast_counts(const rs_incast_receiver *r, rs_incast_sign sign)
{
    return sign != RS_INCAST_CNP || r->signs[RS_INCAST_CE].inside == 0;
}

const char *
rs_incast_sign_name(rs_incast_sign sign)
{
    static const char *const names[RS_INCAST_N_SIGNS] = {
        [RS_INCAST_CE] = "ce",
        [RS_INCAST_CNP] = "cnp",
        [RS_INCAST_PAUSE] = "pause",
    };
    return names[sign];
}

const char *
rs_coincidence_name(rs_coincidence coincidence)
{
    static const char *const names[RS_N_COINCIDENCES] = {
        [RS_COINCIDENCE_ABSENT] = "absent",
        [RS_COINCIDENCE_YES] = "yes",
        [RS_COINCIDENCE_NO] = "no",
        [RS_COINCIDENCE_UNDECIDABLE] = "undecidable",
    };
    return names[coincidence];
}
