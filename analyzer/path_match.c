/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "path_match.h"

#include "match_table.h"
#include "path_again.h"
#include "path_fates.h"
#include "path_journeys.h"
#include "path_learn.h"
#include "path_time.h"

#include "roce/hash.h"
#include "roce/wire_identity.h"

#define MAX_FLOWS 65536
#define MANY_COPIES 1024 /* of one packet, at all points */

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
    g_free(flow->leg);
    g_free(flow);
}

static guint
rewrite_hash(gconstpointer data)
{
    const rs_path_rewrite *r = data;
    guint dscps = (guint)(r->dscp[0] << 6 | r->dscp[1]);
    return (r->flow << 16 ^ (guint)r->from << 12 ^ dscps) * 0x9e3779b1u;
}

static gboolean
rewrite_equal(gconstpointer a, gconstpointer b)
{
    const rs_path_rewrite *x = a;
    const rs_path_rewrite *y = b;
    return x->flow == y->flow && x->from == y->from && x->dscp[0] == y->dscp[0] &&
           x->dscp[1] == y->dscp[1];
}

static rs_path_evidence *
new_evidence(void)
{
    rs_path_evidence *seen = g_new0(rs_path_evidence, 1);
    for (guint kind = 0; kind < RS_N_TRACES; kind++) {
        seen->traces[kind] = g_array_new(FALSE, FALSE, sizeof(rs_path_trace));
    }
    seen->far_rewrites =
        g_hash_table_new_full(rewrite_hash, rewrite_equal, g_free, g_free);
    return seen;
}

static void
free_evidence(rs_path_evidence *seen)
{
    for (guint kind = 0; kind < RS_N_TRACES; kind++) {
        g_array_unref(seen->traces[kind]);
    }
    g_hash_table_unref(seen->far_rewrites);
    g_free(seen);
}

rs_path *
rs_path_new(const rs_path_config *config)
{
    rs_path *path = g_new0(rs_path, 1);
    path->config = *config;
    path->table = rs_match_table_new(config->n_points, config->max_sightings);
    path->ways = rs_ways_new();
    path->unsure = g_array_new(FALSE, FALSE, sizeof(rs_path_unsure));
    path->flows = g_ptr_array_new_with_free_func(free_flow);
    path->by_key = g_hash_table_new(flow_hash, flow_equal);
    path->losses = g_array_new(FALSE, FALSE, sizeof(rs_path_loss));
    path->journeys = g_array_new(FALSE, FALSE, sizeof(rs_journey));
    path->here = g_array_new(FALSE, FALSE, sizeof(guint32));
    path->again = rs_path_again_new();
    for (guint i = 0; i < config->n_points; i++) {
        path->suspects[i] = g_array_new(FALSE, FALSE, sizeof(rs_path_suspect));
    }
    for (guint i = 0; i + 1 < config->n_points; i++) {
        path->clock[i] = rs_clock_new();
        for (guint way = 0; way < RS_N_WAYS; way++) {
            path->evidence[i][way] = new_evidence();
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
            free_evidence(path->evidence[i][way]);
        }
    }
    g_array_unref(path->losses);
    g_array_unref(path->unsure);
    g_array_unref(path->journeys);
    g_array_unref(path->here);
    rs_path_again_free(path->again);
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
    flow->leg = g_new0(rs_flow_leg, rs_n_legs(n));
    flow->id = path->flows->len;
    flow->route = rs_ways_route(path->ways, &packet->src, &packet->dst);
    g_ptr_array_add(path->flows, flow);
    g_hash_table_add(path->by_key, flow);
    return flow;
}

static rs_numbering *
numbering_of(rs_flow *flow, const roce_packet *packet)
{
    return packet->bth.opcode == ROCE_OPCODE_CNP ? &flow->cnps : &flow->data;
}

gboolean
rs_path_is_numbered(const rs_flow *flow, guint8 opcode)
{
    return opcode == ROCE_OPCODE_CNP ? flow->cnps.numbered : flow->data.numbered;
}

/* CNPs of a queue pair have nothing else that differs.  Other packets that are equal were
 * sent again, or answer such packets, and are few. */
gboolean
rs_path_may_be_one(const rs_path *path, const rs_match_entry *e)
{
    return !e->parted &&
           (e->opcode != ROCE_OPCODE_CNP || rs_path_flow(path, e->flow)->cnps.numbered);
}

static gboolean
is_damaged(const rs_path_sight *sight)
{
    return sight->icrc == ROCE_ICRC_BAD ||
           (sight->tracked != NULL && sight->tracked->corrupt);
}

static guint8
flags_of(const rs_path_sight *sight, const roce_wire_identity *identity)
{
    return (guint8)((identity->has_icrc ? 0 : RS_SIGHTING_WEAK) |
                    (is_damaged(sight) ? RS_SIGHTING_CORRUPT : 0));
}

/* Whether the sender had not sent these PSNs before. */
static gboolean
is_first(const rs_path_sight *sight)
{
    const roce_sighting *t = sight->tracked;
    return t != NULL && t->sequenced && t->expected_known && t->psn >= t->expected;
}

static gboolean
is_one_so_far(const rs_path *path, const rs_match_entry *e, guint point)
{
    gboolean seen[RS_PATH_MAX_POINTS] = {FALSE};
    seen[point] = TRUE;
    for (guint32 at = e->first; at != RS_NO_SIGHTING;) {
        const rs_sighting *s = rs_match_sighting(path->table, at);
        if (seen[s->point]) {
            return FALSE;
        }
        seen[s->point] = TRUE;
        at = s->next;
    }
    return TRUE;
}

/* The newest sighting at another point of a packet that no point saw twice. */
static const rs_sighting *
elsewhere(const rs_path *path, const rs_match_entry *e, guint point)
{
    if (e->last == RS_NO_SIGHTING || !rs_path_may_be_one(path, e) ||
        !is_one_so_far(path, e, point)) {
        return NULL;
    }
    const rs_sighting *last = rs_match_sighting(path->table, e->last);
    if (last->point != point) {
        return last;
    }
    return e->other != RS_NO_SIGHTING ? rs_match_sighting(path->table, e->other) : NULL;
}

/* Whether another point saw it, or an equal copy. */
static gboolean
is_elsewhere(const rs_path *path, const rs_match_entry *e, guint point)
{
    return e->last != RS_NO_SIGHTING &&
           (rs_match_sighting(path->table, e->last)->point != point ||
            e->other != RS_NO_SIGHTING);
}

/* Whether the point has it already, from another of its interfaces, or from the other side of
 * a router that it shows both sides of.  What is sent again may come another way, and have
 * another hop limit; but where packets are numbered it is not the same. */
static gboolean
is_inside(const rs_path *path, const rs_flow *flow, const rs_match_entry *e,
          const rs_path_sight *sight)
{
    gboolean by_hops = rs_path_is_numbered(flow, e->opcode) && !is_damaged(sight);
    if (!by_hops && !path->several_places[sight->point]) {
        return FALSE;
    }
    for (guint32 at = e->first; at != RS_NO_SIGHTING;) {
        const rs_sighting *s = rs_match_sighting(path->table, at);
        if (s->point == sight->point) {
            return s->place != sight->place ||
                   (by_hops && s->hops != sight->packet->hop_limit &&
                    (s->flags & RS_SIGHTING_CORRUPT) == 0);
        }
        at = s->next;
    }
    return FALSE;
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

/* The entry that a packet belongs to.  Of one with very many sightings as many as can be
 * are decided on before another comes. */
static guint32
entry_of(rs_path *path, const roce_wire_identity *identity, guint point)
{
    guint32 at = rs_match_find(path->table, identity, point);
    guint n = at != RS_NO_ENTRY ? rs_match_entry_of(path->table, at)->n : 0;
    if (n == 0 || n % MANY_COPIES != 0 || !path->clocks_known) {
        return at;
    }
    return rs_path_settle(path, at) ? rs_match_find(path->table, identity, point) : at;
}

static void
note_flow(rs_flow *flow, const rs_path_sight *sight)
{
    const roce_packet *packet = sight->packet;
    rs_numbering *n = numbering_of(flow, packet);
    n->numbered |=
        packet->src.family == 4 && n->known && packet->ipv4_ident != n->ident;
    n->ident = n->known ? n->ident : packet->ipv4_ident;
    n->known = TRUE;
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
        .order = ++path->n_seen[sight->point],
        .stamp_ns = sight->frame->time_ns,
        .at_ns = sight->at_ns,
        .entry = at,
        .place = sight->place,
        .point = (guint8)sight->point,
        .dscp = packet->traffic_class >> 2,
        .ecn = (guint8)roce_packet_ecn(packet),
        .hops = packet->hop_limit,
        .flags = flags_of(sight, identity),
        .known = is_first(sight) ? RS_KNOWN_FIRST : 0,
    };
    rs_match_entry *e = rs_match_entry_of(path->table, at);
    e->flow = flow->id;
    e->psn24 = packet->bth.psn24;
    e->opcode = packet->bth.opcode;
    if (is_elsewhere(path, e, sight->point)) {
        rs_ways_count(path->ways, flow->route, &flow->src);
    }
    const rs_sighting *other = elsewhere(path, e, sight->point);
    if (!rs_path_is_numbered(flow, e->opcode)) {
        rs_path_learn_later(path, e, &fresh);
    } else if (other != NULL) {
        const rs_sighting before = *other; /* clocks that move, move it */
        rs_path_share(flow, &before, &fresh);
        rs_path_learn_of_one(path, flow, &before, &fresh);
    }
    (void)rs_match_add(path->table, &fresh);
}

void
rs_path_approach(const rs_path *path, const roce_frame *frame,
                 const roce_packet *packet)
{
    roce_wire_identity identity;
    if (packet->has_bth && roce_wire_identity_of(frame, packet, &identity)) {
        rs_match_approach(path->table, &identity);
    }
}

void
rs_path_see(rs_path *path, const rs_path_sight *sight)
{
    roce_wire_identity identity;
    if (!identify(sight, &identity)) {
        return;
    }
    rs_match_approach_entry(path->table, &identity);
    rs_flow *flow = flow_of(path, sight->packet);
    if (flow == NULL) {
        path->untracked_packets++;
        return;
    }
    while (rs_match_table_is_full(path->table)) {
        retire_oldest(path);
    }
    guint32 at = entry_of(path, &identity, sight->point);
    follow_places(path, sight);
    if (at != RS_NO_ENTRY &&
        is_inside(path, flow, rs_match_entry_of(path->table, at), sight)) {
        path->seen_inside[sight->point]++;
        return;
    }
    note_flow(flow, sight);
    rs_match_doubt(path->table, &identity);
    at = at != RS_NO_ENTRY ? at : rs_match_open(path->table, &identity);
    add(path, flow, at, sight, &identity);
}

/* ---- what is learned of a frame later ---- */

/* Puts right what was decided before this was known. */
static void
revise(rs_path *path, guint point, guint64 frame, guint8 bits)
{
    GArray *list = path->suspects[point];
    guint place = rs_path_suspect_place(path, point, frame);
    if (place == list->len ||
        g_array_index(list, rs_path_suspect, place).frame != frame) {
        return;
    }
    rs_path_suspect *s = &g_array_index(list, rs_path_suspect, place);
    if (s->ambiguous && (bits & RS_KNOWN_RESENT) == 0) {
        return; /* an equal copy may have come, and is what was acknowledged */
    }
    rs_loss_state before = rs_known_state(s->known, s->ambiguous);
    s->known = rs_known_with(s->known, bits);
    rs_loss_state now = rs_known_state(s->known, s->ambiguous);
    rs_path_move_state(path, point, s, before, now);
    if (s->loss != G_MAXUINT32) {
        g_array_index(path->losses, rs_path_loss, s->loss).state = now;
    }
    if (rs_known_is_final(s->known)) {
        g_array_remove_index(list, place);
    }
}

void
rs_path_know(rs_path *path, guint point, guint64 frame, guint8 bits)
{
    guint32 at = rs_match_of_frame(path->table, point, frame);
    if (at == RS_NO_SIGHTING) {
        revise(path, point, frame, bits);
        return;
    }
    rs_sighting *s = rs_match_sighting(path->table, at);
    s->known = rs_known_with(s->known, bits);
    if (rs_match_entry_of(path->table, s->entry)->resolved) {
        revise(path, point, frame, bits);
    }
}

/* ---- packets leave ---- */

/* Counts what arrived behind a later one of its flow, in the order of this point.  Numbers of
 * frames are not that order: where a mirror shows each packet twice, the second copy may
 * stand for the first.  CNPs have a priority of their own, and are there to overtake others.
 */
static void
follow_order(rs_path *path, const rs_sighting *s)
{
    if (s->from_order == 0) {
        return;
    }
    const rs_match_entry *e = rs_match_entry_of(path->table, s->entry);
    rs_flow *flow = rs_path_flow(path, e->flow);
    guint segment = flow->way == RS_WAY_FORWARD ? s->point - 1u : s->point;
    rs_flow_segment *n = &flow->segment[segment];
    guint64 *newest = e->opcode == ROCE_OPCODE_CNP ? &n->newest_cnp_from_order
                                                   : &n->newest_from_order;
    if (s->from_order < *newest) {
        n->reordered++;
        rs_frames_keep_lowest(&path->evidence[segment][flow->way]->reordered, s->frame);
    } else {
        *newest = s->from_order;
    }
}

static gboolean
is_resolved(const rs_path *path, const rs_sighting *s)
{
    return rs_match_entry_of(path->table, s->entry)->resolved;
}

/* Counts what is known of a copy by the time it leaves. */
static void
sum_up(rs_path *path, const rs_sighting *s)
{
    guint32 flow = rs_match_entry_of(path->table, s->entry)->flow;
    rs_flow_point *n = &rs_path_flow(path, flow)->point[s->point];
    rs_loss_state state = rs_known_state(s->known, FALSE);
    n->came += state == RS_LOSS_CAME ? 1 : 0;
    n->resent += state == RS_LOSS_RESENT || state == RS_LOSS_MENDED ? 1 : 0;
    n->asked += rs_loss_is_certain(state) ? 1 : 0;
}

/* Equal copies that are newer stay, if they can do without the oldest. */
static void
retire(rs_path *path, guint point)
{
    const rs_sighting *s =
        rs_match_sighting(path->table, rs_match_oldest(path->table, point));
    if (!is_resolved(path, s)) {
        (void)rs_path_settle(path, s->entry);
    }
    if (!is_resolved(path, s)) {
        rs_path_resolve(path, s->entry);
    }
    follow_order(path, s);
    sum_up(path, s);
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

/* After the last copy of the packet; where equal ones keep coming, some time after it. */
static gint64
due_ns(const rs_path *path, const rs_sighting *s)
{
    gint64 newest_ns = rs_match_entry_of(path->table, s->entry)->newest_ns;
    return MIN(newest_ns, s->at_ns + (gint64)path->config.window_ns);
}

void
rs_path_advance(rs_path *path)
{
    gint64 read = read_by_all(path);
    gint64 window = (gint64)path->config.window_ns;
    if (read == G_MININT64) {
        return;
    }
    rs_path_learn_up_to(path, read);
    for (guint i = 0; i < path->config.n_points; i++) {
        for (;;) {
            guint32 at = rs_match_oldest(path->table, i);
            if (at == RS_NO_SIGHTING) {
                break;
            }
            const rs_sighting *s = rs_match_sighting(path->table, at);
            if (!is_resolved(path, s) &&
                rs_time_apart(read, due_ns(path, s)) <= window) {
                break;
            }
            retire(path, i);
        }
    }
}

void
rs_path_finish(rs_path *path)
{
    rs_path_learn(path);
    for (guint point = oldest_point(path); point != RS_PATH_MAX_POINTS;
         point = oldest_point(path)) {
        retire(path, point);
    }
}
