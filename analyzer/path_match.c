/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "path_match.h"

#include "match_table.h"
#include "path_fates.h"
#include "path_time.h"

#include "roce/hash.h"
#include "roce/wire_identity.h"

#define MAX_FLOWS 65536
#define MAX_COPIES 1024 /* of one packet, at all points */

static guint
flow_hash(gconstpointer data)
{
    const rs_flow *f = data;
    guint64 h = roce_hash_addr(roce_hash_addr(f->dst_qpn, &f->src), &f->dst);
    return (guint)(h >> 32);
}

static gboolean
flow_equal(gconstpointer a, gconstpointer b)
{
    const rs_flow *x = a;
    const rs_flow *y = b;
    return x->dst_qpn == y->dst_qpn && roce_addr_equal(&x->src, &y->src) &&
           roce_addr_equal(&x->dst, &y->dst);
}

static void
free_flow(gpointer data)
{
    rs_flow *flow = data;
    g_free(flow->first_frame);
    g_free(flow->point);
    g_free(flow->segment);
    g_free(flow);
}

rs_path *
rs_path_new(const rs_path_config *config)
{
    rs_path *path = g_new0(rs_path, 1);
    path->config = *config;
    path->table = rs_match_table_new(config->n_points, config->max_sightings);
    path->ways = rs_ways_new();
    path->flows = g_ptr_array_new_with_free_func(free_flow);
    path->by_key = g_hash_table_new(flow_hash, flow_equal);
    path->losses = g_array_new(FALSE, FALSE, sizeof(rs_path_loss));
    path->journeys = g_array_new(FALSE, FALSE, sizeof(rs_journey));
    path->here = g_array_new(FALSE, FALSE, sizeof(guint32));
    for (guint i = 0; i < config->n_points; i++) {
        path->suspects[i] = g_array_new(FALSE, FALSE, sizeof(rs_path_suspect));
    }
    for (guint i = 0; i + 1 < config->n_points; i++) {
        path->clock[i] = rs_clock_new();
        for (guint way = 0; way < RS_N_WAYS; way++) {
            path->evidence[i][way] = g_new0(rs_path_evidence, 1);
        }
    }
    return path;
}

void
rs_path_free(rs_path *path)
{
    if (path == NULL) {
        return;
    }
    for (guint i = 0; i < path->config.n_points; i++) {
        g_array_unref(path->suspects[i]);
    }
    for (guint i = 0; i + 1 < path->config.n_points; i++) {
        rs_clock_free(path->clock[i]);
        for (guint way = 0; way < RS_N_WAYS; way++) {
            g_free(path->evidence[i][way]);
        }
    }
    g_array_unref(path->losses);
    g_array_unref(path->journeys);
    g_array_unref(path->here);
    g_hash_table_unref(path->by_key);
    g_ptr_array_unref(path->flows);
    rs_ways_free(path->ways);
    rs_match_table_free(path->table);
    g_free(path);
}

gboolean
rs_flow_is_compared(const rs_flow *flow, guint n_points)
{
    for (guint i = 0; i < n_points; i++) {
        if (flow->point[i].shared > 0) {
            return TRUE;
        }
    }
    return FALSE;
}

/* ---- a packet comes ---- */

/* NULL: there are too many. */
static rs_flow *
flow_of(rs_path *path, const roce_packet *packet)
{
    rs_flow key = {0};
    key.src = packet->src;
    key.dst = packet->dst;
    key.dst_qpn = packet->bth.dest_qpn;
    rs_flow *flow = g_hash_table_lookup(path->by_key, &key);
    if (flow != NULL || path->flows->len >= MAX_FLOWS) {
        return flow;
    }
    guint n = path->config.n_points;
    flow = g_memdup2(&key, sizeof key);
    flow->first_frame = g_new0(guint64, n);
    flow->point = g_new0(rs_flow_point, n);
    flow->segment = g_new0(rs_flow_segment, n - 1);
    flow->id = path->flows->len;
    flow->route = rs_ways_route(path->ways, &packet->src, &packet->dst);
    flow->ident = packet->ipv4_ident;
    g_ptr_array_add(path->flows, flow);
    g_hash_table_add(path->by_key, flow);
    return flow;
}

static guint8
flags_of(const rs_path_sight *sight, const roce_wire_identity *identity)
{
    const roce_sighting *t = sight->tracked;
    gboolean first =
        t != NULL && t->sequenced && t->expected_known && t->psn >= t->expected;
    return (guint8)((identity->has_icrc ? 0 : RS_SIGHTING_WEAK) |
                    (sight->icrc == ROCE_ICRC_BAD ? RS_SIGHTING_CORRUPT : 0) |
                    (first ? RS_SIGHTING_FIRST : 0));
}

/* The newest sighting of the entry at another point. */
static const rs_sighting *
elsewhere(const rs_path *path, const rs_match_entry *e, guint point)
{
    if (e->last == RS_NO_SIGHTING) {
        return NULL;
    }
    const rs_sighting *last = rs_match_sighting(path->table, e->last);
    if (last->point != point) {
        return last;
    }
    return e->other != RS_NO_SIGHTING ? rs_match_sighting(path->table, e->other) : NULL;
}

/* Whether the point has it already, from another of its interfaces. */
static gboolean
is_inside(const rs_path *path, const rs_match_entry *e, const rs_path_sight *sight)
{
    if (!path->several_places[sight->point]) {
        return FALSE;
    }
    for (guint32 at = e->first; at != RS_NO_SIGHTING;) {
        const rs_sighting *s = rs_match_sighting(path->table, at);
        if (s->point == sight->point) {
            return s->place != sight->place;
        }
        at = s->next;
    }
    return FALSE;
}

/* Both points of a segment were on here. */
static void
share(rs_flow *flow, const rs_sighting *low, const rs_sighting *high)
{
    rs_flow_segment *n = &flow->segment[low->point];
    const guint64 frames[2] = {low->frame, high->frame};
    for (guint i = 0; i < 2; i++) {
        n->first_shared[i] =
            n->first_shared[i] == 0 ? frames[i] : MIN(n->first_shared[i], frames[i]);
        n->last_shared[i] = MAX(n->last_shared[i], frames[i]);
    }
}

static void
learn(rs_path *path, rs_flow *flow, const rs_sighting *a, const rs_sighting *b)
{
    const rs_sighting *low = a->point < b->point ? a : b;
    const rs_sighting *high = a->point < b->point ? b : a;
    const rs_way_pair pair = {
        .low = low->point,
        .high = high->point,
        .at_ns = rs_time_of_stamp(low->stamp_ns),
        .difference_ns = rs_time_apart(rs_time_of_stamp(high->stamp_ns),
                                       rs_time_of_stamp(low->stamp_ns)),
        .low_hops = low->hops,
        .high_hops = high->hops,
        .one_clock =
            path->config.clock_of[low->point] == path->config.clock_of[high->point],
    };
    if (pair.low + 1 == pair.high) {
        share(flow, low, high);
    }
    rs_ways_add(path->ways, flow->route, &flow->src, &pair);
    path->config.matched(path->config.ctx, pair.low, pair.high, pair.difference_ns);
}

static void
retire_oldest(rs_path *path);

/* What is wrong with a packet may be its ICRC, so that no longer tells it from others. */
static gboolean
identify(const rs_path_sight *sight, roce_wire_identity *identity)
{
    if (!sight->packet->has_bth ||
        !roce_wire_identity_of(sight->frame, sight->packet, identity)) {
        return FALSE;
    }
    if (sight->icrc == ROCE_ICRC_BAD) {
        identity->has_icrc = false;
    }
    return TRUE;
}

static void
follow_places(rs_path *path, const rs_path_sight *sight)
{
    guint32 *first = &path->first_place[sight->point];
    *first = *first == 0 ? sight->place + 1 : *first;
    path->several_places[sight->point] |= sight->place + 1 != *first;
}

/* The entry that a packet belongs to.  One with very many sightings is decided on before
 * another comes. */
static guint32
entry_of(rs_path *path, const roce_wire_identity *identity)
{
    guint32 at = rs_match_find(path->table, identity);
    if (at != RS_NO_ENTRY && rs_match_entry_of(path->table, at)->n_ever >= MAX_COPIES) {
        rs_path_resolve(path, at);
        at = RS_NO_ENTRY;
    }
    return at;
}

static void
note_flow(rs_flow *flow, const rs_path_sight *sight)
{
    const roce_packet *packet = sight->packet;
    flow->numbered |= packet->src.family == 4 && packet->ipv4_ident != flow->ident;
    flow->point[sight->point].packets++;
    if (flow->first_frame[sight->point] == 0) {
        flow->first_frame[sight->point] = sight->frame->number;
    }
}

static void
add(rs_path *path, rs_flow *flow, guint32 at, const rs_path_sight *sight,
    const roce_wire_identity *identity)
{
    const roce_packet *packet = sight->packet;
    const rs_sighting fresh = {
        .frame = sight->frame->number,
        .stamp_ns = sight->frame->time_ns,
        .at_ns = sight->at_ns,
        .entry = at,
        .place = sight->place,
        .point = (guint8)sight->point,
        .dscp = packet->traffic_class >> 2,
        .ecn = (guint8)roce_packet_ecn(packet),
        .hops = packet->hop_limit,
        .flags = flags_of(sight, identity),
    };
    rs_match_entry *e = rs_match_entry_of(path->table, at);
    e->flow = flow->id;
    e->psn24 = packet->bth.psn24;
    e->opcode = packet->bth.opcode;
    const rs_sighting *other = elsewhere(path, e, sight->point);
    if (other != NULL) {
        const rs_sighting before = *other; /* clocks that move, move it */
        learn(path, flow, &before, &fresh);
    }
    (void)rs_match_add(path->table, &fresh);
}

void
rs_path_see(rs_path *path, const rs_path_sight *sight)
{
    roce_wire_identity identity;
    if (!identify(sight, &identity)) {
        return;
    }
    rs_flow *flow = flow_of(path, sight->packet);
    if (flow == NULL) {
        path->untracked_packets++;
        return;
    }
    while (rs_match_table_is_full(path->table)) {
        retire_oldest(path);
    }
    guint32 at = entry_of(path, &identity);
    follow_places(path, sight);
    if (at != RS_NO_ENTRY &&
        is_inside(path, rs_match_entry_of(path->table, at), sight)) {
        path->seen_inside[sight->point]++;
        return;
    }
    note_flow(flow, sight);
    at = at != RS_NO_ENTRY ? at : rs_match_open(path->table, &identity);
    add(path, flow, at, sight, &identity);
}

/* ---- what is learned of a frame later ---- */

static rs_path_suspect *
find_suspect(const rs_path *path, guint point, guint64 frame)
{
    const GArray *list = path->suspects[point];
    guint low = 0;
    guint high = list->len;
    while (low < high) {
        guint i = low + (high - low) / 2;
        if (g_array_index(list, rs_path_suspect, i).frame < frame) {
            low = i + 1;
        } else {
            high = i;
        }
    }
    rs_path_suspect *s =
        low < list->len ? &g_array_index(list, rs_path_suspect, low) : NULL;
    return s != NULL && s->frame == frame ? s : NULL;
}

/* Puts right what was decided before this was known. */
static void
revise(rs_path *path, guint point, guint64 frame, rs_loss_state state)
{
    rs_path_suspect *s = find_suspect(path, point, frame);
    if (s == NULL) {
        return;
    }
    rs_flow_point *n = &rs_path_flow(path, s->flow)->point[point];
    n->ended_open--;
    n->ended_resent += state == RS_LOSS_RESENT ? 1 : 0;
    n->ended_acked += state == RS_LOSS_ACKED ? 1 : 0;
    if (s->loss != G_MAXUINT32) {
        g_array_index(path->losses, rs_path_loss, s->loss).state = state;
    }
    g_array_remove_index(
        path->suspects[point],
        (guint)(s - &g_array_index(path->suspects[point], rs_path_suspect, 0)));
}

void
rs_path_acknowledged(rs_path *path, guint point, guint64 frame)
{
    guint32 at = rs_match_of_frame(path->table, point, frame);
    if (at == RS_NO_SIGHTING) {
        revise(path, point, frame, RS_LOSS_ACKED);
        return;
    }
    rs_sighting *s = rs_match_sighting(path->table, at);
    if ((s->flags & RS_SIGHTING_FIRST) != 0 && (s->flags & RS_SIGHTING_RESENT) == 0) {
        s->flags |= RS_SIGHTING_ACKED;
        if (rs_match_entry_of(path->table, s->entry)->resolved) {
            revise(path, point, frame, RS_LOSS_ACKED);
        }
    }
}

void
rs_path_resent(rs_path *path, guint point, guint64 frame)
{
    guint32 at = rs_match_of_frame(path->table, point, frame);
    if (at == RS_NO_SIGHTING) {
        revise(path, point, frame, RS_LOSS_RESENT);
        return;
    }
    rs_sighting *s = rs_match_sighting(path->table, at);
    if ((s->flags & RS_SIGHTING_ACKED) == 0) {
        s->flags |= RS_SIGHTING_RESENT;
        if (rs_match_entry_of(path->table, s->entry)->resolved) {
            revise(path, point, frame, RS_LOSS_RESENT);
        }
    }
}

/* ---- packets leave ---- */

/* Counts what arrived behind a later one of its flow, in the order of this point. */
static void
follow_order(rs_path *path, const rs_sighting *s)
{
    if (s->from_frame == 0) {
        return;
    }
    rs_flow *flow = rs_path_flow(path, rs_match_entry_of(path->table, s->entry)->flow);
    guint segment = flow->way == RS_WAY_FORWARD ? s->point - 1u : s->point;
    rs_flow_segment *n = &flow->segment[segment];
    if (s->from_frame < n->newest_from_frame) {
        n->reordered++;
        rs_frames_keep(&path->evidence[segment][flow->way]->reordered, s->frame);
    } else {
        n->newest_from_frame = s->from_frame;
    }
}

static void
retire(rs_path *path, guint point)
{
    const rs_sighting *s =
        rs_match_sighting(path->table, rs_match_oldest(path->table, point));
    if (!rs_match_entry_of(path->table, s->entry)->resolved) {
        rs_path_resolve(path, s->entry);
    }
    follow_order(path, s);
    rs_match_drop_oldest(path->table, point);
}

/* The point whose oldest is the oldest of all; RS_PATH_MAX_POINTS: nothing waits. */
static guint
oldest_point(const rs_path *path)
{
    guint best = RS_PATH_MAX_POINTS;
    gint64 oldest = 0;
    for (guint i = 0; i < path->config.n_points; i++) {
        guint32 at = rs_match_oldest(path->table, i);
        if (at == RS_NO_SIGHTING) {
            continue;
        }
        gint64 time = rs_match_sighting(path->table, at)->at_ns;
        if (best == RS_PATH_MAX_POINTS || time < oldest) {
            best = i;
            oldest = time;
        }
    }
    return best;
}

/* The table is full. */
static void
retire_oldest(rs_path *path)
{
    path->early++;
    retire(path, oldest_point(path));
}

/* How far all points have been read. */
static gint64
read_by_all(const rs_path *path)
{
    gint64 least = RS_TIME_LIMIT_NS;
    for (guint i = 0; i < path->config.n_points; i++) {
        const rs_path_span *span = &path->span[i];
        if (!span->ended) {
            least = MIN(least, span->begun ? span->now_ns : G_MININT64);
        }
    }
    return least;
}

void
rs_path_advance(rs_path *path)
{
    gint64 read = read_by_all(path);
    gint64 window = (gint64)path->config.window_ns;
    if (read == G_MININT64) {
        return;
    }
    for (guint i = 0; i < path->config.n_points; i++) {
        for (;;) {
            guint32 at = rs_match_oldest(path->table, i);
            if (at == RS_NO_SIGHTING) {
                break;
            }
            const rs_sighting *s = rs_match_sighting(path->table, at);
            const rs_match_entry *e = rs_match_entry_of(path->table, s->entry);
            if (!e->resolved && rs_time_apart(read, e->newest_ns) <= window) {
                break;
            }
            retire(path, i);
        }
    }
}

void
rs_path_finish(rs_path *path)
{
    for (guint point = oldest_point(path); point != RS_PATH_MAX_POINTS;
         point = oldest_point(path)) {
        retire(path, point);
    }
}

/* ---- clocks ---- */

void
rs_path_refresh(rs_path *path)
{
    for (guint p = 0; p < path->config.n_points; p++) {
        for (guint i = 0; i < rs_match_n(path->table, p); i++) {
            const rs_sighting *s =
                rs_match_sighting(path->table, rs_match_nth(path->table, p, i));
            rs_match_entry_of(path->table, s->entry)->newest_ns = -RS_TIME_LIMIT_NS;
        }
    }
    for (guint p = 0; p < path->config.n_points; p++) {
        for (guint i = 0; i < rs_match_n(path->table, p); i++) {
            const rs_sighting *s =
                rs_match_sighting(path->table, rs_match_nth(path->table, p, i));
            rs_match_entry *e = rs_match_entry_of(path->table, s->entry);
            e->newest_ns = MAX(e->newest_ns, s->at_ns);
        }
    }
}

void
rs_path_retime(rs_path *path, guint point, gint64 offset_ns)
{
    for (guint i = 0; i < rs_match_n(path->table, point); i++) {
        rs_sighting *s =
            rs_match_sighting(path->table, rs_match_nth(path->table, point, i));
        s->at_ns = rs_time_apart(rs_time_of_stamp(s->stamp_ns), offset_ns);
    }
    rs_path_refresh(path);
}

GArray *
rs_path_differences(const rs_path *path, guint low, guint high)
{
    GArray *out = g_array_new(FALSE, FALSE, sizeof(gint64));
    for (guint i = 0; i < rs_match_n(path->table, low); i++) {
        const rs_sighting *s =
            rs_match_sighting(path->table, rs_match_nth(path->table, low, i));
        const rs_match_entry *e = rs_match_entry_of(path->table, s->entry);
        guint n[2] = {0, 0};
        guint64 stamp = 0;
        for (guint32 at = e->first; at != RS_NO_SIGHTING;) {
            const rs_sighting *o = rs_match_sighting(path->table, at);
            n[0] += o->point == low ? 1 : 0;
            n[1] += o->point == high ? 1 : 0;
            stamp = o->point == high ? o->stamp_ns : stamp;
            at = o->next;
        }
        if (n[0] == 1 && n[1] == 1) {
            gint64 difference =
                rs_time_apart(rs_time_of_stamp(stamp), rs_time_of_stamp(s->stamp_ns));
            g_array_append_val(out, difference);
        }
    }
    return out;
}
