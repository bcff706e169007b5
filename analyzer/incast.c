/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Of each receiver, its active senders are in a row, the longest silent one first: each
 * packet moves its sender to the end.  Time only goes forward: where stamps step back, the
 * newest one holds.  Where two packets step back by more than a clock may, and none between them
 * is newer, the clock was set: everybody has fallen silent, and begins anew, for what it shows
 * until it is again where it was did not come all at once.
 */
#include "incast_parts.h"

#include "approach.h"

#include "roce/hash.h"

#define MAX_RECEIVERS 4096
#define MAX_SENDERS 65536  /* over all receivers */
#define MAX_SPANS 262144   /* likewise of episodes, for comparing pauses with them */
#define NOBODY G_MAXUINT32 /* in place of a sender's number */

static guint
hash_sender(gconstpointer data)
{
    const rs_incast_sender_key *key = data;
    return (guint)roce_hash_addr(key->receiver, &key->addr);
}

static gboolean
same_sender(gconstpointer a, gconstpointer b)
{
    const rs_incast_sender_key *x = a;
    const rs_incast_sender_key *y = b;
    return x->receiver == y->receiver && roce_addr_equal(&x->addr, &y->addr);
}

static void
free_receiver(gpointer data)
{
    rs_incast_watch *r = data;
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

static rs_incast_watch *
receiver_of(rs_incast *incast, const roce_stream *stream)
{
    guint32 i = rs_destinations_of(incast->destinations, stream);
    if (i == RS_NO_DESTINATION) {
        return NULL;
    }
    if (i == incast->receivers->len) {
        rs_incast_watch *r = g_new0(rs_incast_watch, 1);
        r->pub.at = *rs_destinations_at(incast->destinations, i);
        r->pub.degree_ns = g_array_new(FALSE, TRUE, sizeof(guint64));
        r->pub.episodes = g_array_new(FALSE, FALSE, sizeof(rs_incast_episode));
        r->spans = g_array_new(FALSE, FALSE, sizeof(rs_incast_span));
        g_ptr_array_add(incast->receivers, r);
    }
    return g_ptr_array_index(incast->receivers, i);
}

/* The number of a sender, which is made if need be; NOBODY beyond the bounds. */
G_NO_INLINE static guint32
find_sender(rs_incast *incast, const roce_stream *stream)
{
    rs_incast_watch *r = receiver_of(incast, stream);
    if (r == NULL) {
        return NOBODY;
    }
    const rs_incast_sender_key key = {
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
    return *number == NOBODY ? NULL : rs_incast_sender_at(incast, *number - 1);
}

/* ---- the row of active senders ---- */

static inline void
take_out(rs_incast_watch *r, rs_incast_sender *s)
{
    *(s->before != NULL ? &s->before->behind : &r->oldest) = s->behind;
    *(s->behind != NULL ? &s->behind->before : &r->newest) = s->before;
}

static inline void
put_last(rs_incast_watch *r, rs_incast_sender *s)
{
    s->before = r->newest;
    s->behind = NULL;
    *(r->newest != NULL ? &r->newest->behind : &r->oldest) = s;
    r->newest = s;
}

/* ---- episodes ---- */

G_NO_INLINE static void
open_episode(rs_incast_watch *r, guint64 frame)
{
    r->inside = TRUE;
    r->pub.n_episodes++;
    r->episode = (rs_incast_episode){
        .start_ns = r->clock_ns,
        .frame = frame,
    };
}

static void
close_episode(rs_incast *incast, rs_incast_watch *r)
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
    const rs_incast_span s = {r->episode.start_ns, r->episode.end_ns};
    g_array_append_val(r->spans, s);
}

/* Names a sender in the episode that goes on. */
static void
join_episode(rs_incast_watch *r, rs_incast_sender *s)
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
join_all(rs_incast_watch *r)
{
    for (rs_incast_sender *s = r->oldest; s != NULL; s = s->behind) {
        join_episode(r, s);
    }
}

/* ---- time ---- */

/* Counts for how long there were so many active, before there are others. */
static void
settle_degree(rs_incast_watch *r)
{
    if (r->n_active > 0) {
        g_array_index(r->pub.degree_ns, guint64, r->n_active) +=
            r->clock_ns - r->settled_ns;
    }
    r->settled_ns = r->clock_ns;
}

/* Lets those fall silent whose window has passed by then. */
G_NO_INLINE static void
fall_silent(rs_incast *incast, rs_incast_watch *r, guint64 time_ns)
{
    for (rs_incast_sender *s = r->oldest; s != NULL; s = r->oldest) {
        r->quiet_until_ns = s->newest_ns + RS_INCAST_WINDOW_NS;
        if (r->quiet_until_ns > time_ns) {
            return;
        }
        r->clock_ns = r->quiet_until_ns;
        settle_degree(r);
        take_out(r, s);
        r->n_active--;
        s->active = FALSE;
        if (r->inside && r->n_active < RS_INCAST_SENDERS) {
            close_episode(incast, r);
        }
    }
}

static inline void
advance(rs_incast *incast, rs_incast_watch *r, guint64 time_ns)
{
    if (time_ns >= r->quiet_until_ns) {
        fall_silent(incast, r, time_ns);
    }
    r->clock_ns = MAX(r->clock_ns, time_ns);
}

/* What the clock showed before says nothing of what it shows from now on. */
static void
set_back(rs_incast *incast, rs_incast_watch *r, guint64 time_ns)
{
    incast->is_set_back = TRUE;
    advance(incast, r, r->clock_ns + RS_INCAST_WINDOW_NS);
    r->clock_ns = time_ns;
    r->quiet_until_ns = r->ended_ns = 0;
}

/* A packet was stamped long before the newest one.  Only if another one is as well, before one
 * is newer, the clock was set: one alone was late, or has a broken stamp. */
G_NO_INLINE static void
come_behind(rs_incast *incast, rs_incast_watch *r, guint64 time_ns)
{
    if (r->behind_ns == r->clock_ns) {
        set_back(incast, r, time_ns);
    } else {
        r->behind_ns = r->clock_ns;
    }
}

/* The time of a packet: but for a clock that was set never before another one, nor so late
 * that windows behind it do not end, as a broken stamp may be. */
static inline guint64
take_time(rs_incast *incast, rs_incast_watch *r, guint64 time_ns)
{
    guint64 now_ns = MIN(time_ns, G_MAXUINT64 - 2 * RS_INCAST_WINDOW_NS);
    if (roce_is_set_back(now_ns, r->clock_ns)) {
        come_behind(incast, r, now_ns);
    }
    now_ns = MAX(now_ns, r->clock_ns);
    advance(incast, r, now_ns);
    return now_ns;
}

G_NO_INLINE static void
rise(rs_incast_watch *r)
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
count_data(rs_incast_watch *r, rs_incast_sender *s, guint64 frame, guint ecn)
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
        rs_incast_approach_sender(is_known ? rs_incast_sender_at(incast, number - 1)
                                           : NULL);
    }
}

/* One more is active. */
G_NO_INLINE static void
become_active(rs_incast_watch *r, rs_incast_sender *s, guint64 frame)
{
    s->active = TRUE;
    put_last(r, s);
    settle_degree(r);
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
be_active(rs_incast_watch *r, rs_incast_sender *s, guint64 frame)
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
    rs_incast_watch *r = s->receiver;
    guint64 now_ns = take_time(incast, r, time_ns);
    incast->first_ns = MIN(incast->first_ns, now_ns);
    incast->last_ns = MAX(incast->last_ns, now_ns);
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
    const rs_incast_sender_key key = {
        .receiver = to,
        .addr = is_carried(o) ? o->stream->dst : o->stream->src,
    };
    guint32 number = GPOINTER_TO_UINT(g_hash_table_lookup(incast->by_key, &key));
    return number != 0 ? rs_incast_sender_at(incast, number - 1) : NULL;
}

static void
count_complained(rs_incast_watch *r, rs_incast_sender *s)
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
    rs_incast_watch *r = g_ptr_array_index(incast->receivers, to);
    (void)take_time(incast, r, o->event.time_ns);
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

void
rs_incast_finish(rs_incast *incast, const rs_nics *nics, guint64 resolution_ns)
{
    incast->known = resolution_ns * RS_INCAST_STAMPS <= RS_INCAST_WINDOW_NS;
    rs_xoffs_finish(incast->xoffs, nics);
    for (guint i = 0; i < incast->receivers->len; i++) {
        rs_incast_watch *r = g_ptr_array_index(incast->receivers, i);
        advance(incast, r, r->clock_ns + RS_INCAST_WINDOW_NS);
        if (r->pub.n_episodes > 0) {
            rs_incast_compare_pauses(incast, r);
        }
    }
    rs_incast_compare_with_points(incast);
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
    return &((const rs_incast_watch *)g_ptr_array_index(incast->receivers, i))->pub;
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
