/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "passages.h"

#include "data_sight.h"
#include "keys.h"
#include "sorting.h"

#include "roce/opcode.h"

#include <string.h>

#define GROUP_BIT 1 /* of a MAC address's first byte */

struct rs_passages {
    GHashTable *by_key; /* rs_passage, by rs_passage_key() */
    GPtrArray *all;
    GPtrArray *newest; /* by stream, the passage of its newest packet */
    guint64 overflow;
};

guint64
rs_passage_key(const rs_passage *p)
{
    guint64 to = p->dst != NULL ? p->dst->id : G_MAXUINT16;
    return ((guint64)p->stream << 40) ^ ((guint64)p->src->id << 24) ^ to << 8 ^
           p->hop_limit;
}

static guint
hash_passage(gconstpointer data)
{
    guint64 key = rs_passage_key(data);
    return rs_key_hash(&key);
}

static gboolean
same_passage(gconstpointer a, gconstpointer b)
{
    return rs_passage_key(a) == rs_passage_key(b);
}

static void
free_passage(gpointer data)
{
    rs_passage *passage = data;
    for (guint i = 0; i < RS_N_STOPPERS; i++) {
        g_free(passage->stops[i]);
    }
    g_free(passage);
}

rs_passages *
rs_passages_new(void)
{
    rs_passages *passages = g_new0(rs_passages, 1);
    passages->by_key = g_hash_table_new(hash_passage, same_passage);
    passages->all = g_ptr_array_new_with_free_func(free_passage);
    passages->newest = g_ptr_array_new();
    return passages;
}

void
rs_passages_free(rs_passages *passages)
{
    if (passages != NULL) {
        g_hash_table_unref(passages->by_key);
        g_ptr_array_unref(passages->all);
        g_ptr_array_unref(passages->newest);
        g_free(passages);
    }
}

/* ---- held ---- */

static guint64
ended_at(const roce_pause_source *p, guint64 time_ns)
{
    return p->n_intervals + (p->paused && !roce_pause_is_on(p, time_ns) ? 1 : 0);
}

void
rs_held_packet(rs_held *held, const roce_tracker *tracker, guint32 pause,
               guint64 time_ns)
{
    gboolean in_gap = held->any;
    held->any = TRUE;
    if (pause == ROCE_NO_PAUSE) {
        return;
    }
    const roce_pause_source *p = roce_tracker_pause(tracker, pause);
    guint64 total_ns = roce_pause_total_at(p, time_ns);
    guint64 ended = ended_at(p, time_ns);
    /* One that was unknown so far had not stopped anything before. */
    gboolean goes_on = held->pause == pause || held->pause == ROCE_NO_PAUSE;
    if (in_gap && goes_on && ended > held->last_ended &&
        total_ns > held->last_total_ns) {
        held->held_ns += total_ns - held->last_total_ns;
        held->stops++;
    }
    held->pause = pause;
    held->last_total_ns = total_ns;
    held->last_ended = ended;
}

gboolean
rs_pause_lasts(const roce_pause_source *p)
{
    return p->lasts;
}

void
rs_held_begin_behind(rs_held *held, const roce_pause_source *p, guint32 pause)
{
    if (held->pause == ROCE_NO_PAUSE && rs_pause_lasts(p)) {
        held->pause = pause;
        held->last_total_ns = p->total_ns - (p->newest.end_ns - p->newest.start_ns);
    }
}

void
rs_held_end(rs_held *held, const roce_tracker *tracker)
{
    if (held->pause == ROCE_NO_PAUSE) {
        return;
    }
    const roce_pause_source *p = roce_tracker_pause(tracker, held->pause);
    if (rs_pause_lasts(p) && p->total_ns > held->last_total_ns) {
        held->held_ns += p->total_ns - held->last_total_ns;
        held->stops++;
    }
}

/* ---- streams ---- */

gint
rs_stream_compare(const roce_stream *a, const roce_stream *b)
{
    gint order = rs_by_number(a->tenant.kind, b->tenant.kind);
    order = order != 0 ? order : rs_by_number(a->tenant.id, b->tenant.id);
    order = order != 0 ? order : roce_addr_compare(&a->src, &b->src);
    order = order != 0 ? order : roce_addr_compare(&a->dst, &b->dst);
    return order != 0 ? order : rs_by_number(a->dst_qpn, b->dst_qpn);
}

/* ---- passages ---- */

static gboolean
is_passage_of(const rs_passage *passage, const roce_packet *packet)
{
    return passage != NULL && passage->dst != NULL &&
           passage->hop_limit == packet->hop_limit &&
           memcmp(passage->src->bytes, packet->src_mac, 6) == 0 &&
           memcmp(passage->dst->bytes, packet->dst_mac, 6) == 0;
}

static rs_passage *
search(rs_passages *passages, rs_macs *macs, const rs_sight *sight, guint32 point)
{
    const roce_packet *packet = sight->packet;
    gboolean to_one = (packet->dst_mac[0] & GROUP_BIT) == 0;
    rs_mac *src = rs_macs_get(macs, point, packet->src_mac);
    rs_mac *dst = to_one ? rs_macs_get(macs, point, packet->dst_mac) : NULL;
    if (src == NULL || (to_one && dst == NULL)) {
        return NULL;
    }
    const rs_passage fresh = {
        .stream = sight->stream->id,
        .src = src,
        .dst = dst,
        .hop_limit = packet->hop_limit,
        .first_ns = sight->frame->time_ns,
    };
    rs_passage *passage = g_hash_table_lookup(passages->by_key, &fresh);
    if (passage != NULL || passages->all->len == RS_PASSAGES) {
        return passage;
    }
    passage = g_memdup2(&fresh, sizeof fresh);
    g_ptr_array_add(passages->all, passage);
    g_hash_table_add(passages->by_key, passage);
    rs_macs_learn(macs, src, dst, packet);
    return passage;
}

gboolean
rs_carries_data(const roce_packet *packet, roce_space *space)
{
    roce_role role = roce_opcode_get(packet->bth.opcode)->role;
    *space =
        roce_role_is_response_data(role) ? ROCE_SPACE_RESPONSES : ROCE_SPACE_REQUESTS;
    return rs_packet_has_data(packet);
}

static void
take_data(rs_passage *passage, const roce_packet *packet, roce_space space)
{
    passage->in_message = !roce_part_ends(roce_opcode_get(packet->bth.opcode)->part);
    passage->newest.known[space] = TRUE;
    passage->newest.psn24[space] = packet->bth.psn24;
}

static void
set_newest(rs_passages *passages, guint32 stream, rs_passage *passage)
{
    if (stream >= passages->newest->len) {
        g_ptr_array_set_size(passages->newest, (gint)stream + 1);
    }
    passages->newest->pdata[stream] = passage;
}

rs_passage *
rs_passages_get(rs_passages *passages, rs_macs *macs, const rs_sight *sight,
                guint32 point)
{
    guint32 stream = sight->stream->id;
    rs_passage *passage =
        stream < passages->newest->len ? passages->newest->pdata[stream] : NULL;
    if (!is_passage_of(passage, sight->packet)) {
        passage = search(passages, macs, sight, point);
        if (passage == NULL) {
            passages->overflow += sight->n;
            return NULL;
        }
        set_newest(passages, stream, passage);
    }
    rs_macs_learn_own(passage->src, sight->packet);
    return passage;
}

/* None of the packets so far was stopped. */
static rs_passage_stop *
make_stop(const rs_passage *passage)
{
    rs_passage_stop *stop = g_new0(rs_passage_stop, 1);
    stop->held.any = passage->packets > 0;
    stop->held.pause = ROCE_NO_PAUSE;
    stop->before = passage->newest;
    return stop;
}

static void
take_stopper(rs_passage *passage, rs_stopper stopper, const roce_tracker *tracker,
             const rs_sight *sight, guint32 pause)
{
    rs_passage_stop *stop = passage->stops[stopper];
    if (stop == NULL) {
        return;
    }
    rs_held_packet(&stop->held, tracker, pause, sight->frame->time_ns);
    if (pause == ROCE_NO_PAUSE) {
        stop->before = passage->newest;
    } else {
        stop->packets += sight->n;
    }
}

void
rs_passage_packet(rs_passage *passage, const roce_tracker *tracker,
                  const rs_sight *sight, const rs_stoppers *by)
{
    for (guint i = 0; i < RS_N_STOPPERS; i++) {
        if (by->pause[i] != ROCE_NO_PAUSE && passage->stops[i] == NULL) {
            passage->stops[i] = make_stop(passage);
        }
    }
    passage->packets += sight->n;
    passage->priority = sight->priority;
    passage->direction = (guint8)sight->packet->direction;
    roce_space space;
    if (rs_carries_data(sight->packet, &space)) {
        take_data(passage, sight->packet, space);
    }
    for (guint i = 0; i < RS_N_STOPPERS; i++) {
        take_stopper(passage, (rs_stopper)i, tracker, sight, by->pause[i]);
    }
}

void
rs_passage_stop_behind(rs_passage *passage, const roce_tracker *tracker,
                       rs_stopper stopper, guint32 pause)
{
    passage->stops[stopper] = make_stop(passage);
    rs_held_begin_behind(&passage->stops[stopper]->held,
                         roce_tracker_pause(tracker, pause), pause);
}

const rs_passage_stop *
rs_passage_stop_by(const rs_passage *passage, guint32 pause)
{
    for (guint i = 0; i < RS_N_STOPPERS; i++) {
        if (passage->stops[i] != NULL && passage->stops[i]->held.pause == pause) {
            return passage->stops[i];
        }
    }
    return NULL;
}

const rs_held *
rs_passage_held(const rs_passage *passage, guint32 pause)
{
    static const rs_held not_held = {.pause = ROCE_NO_PAUSE};
    const rs_passage_stop *stop = rs_passage_stop_by(passage, pause);
    return stop != NULL ? &stop->held : &not_held;
}

const rs_data_psns *
rs_passage_before(const rs_passage *passage, guint32 pause)
{
    const rs_passage_stop *stop = rs_passage_stop_by(passage, pause);
    return stop != NULL ? &stop->before : &passage->newest;
}

static gboolean
comes_before(const rs_passage *passage, const rs_passage *other)
{
    return passage->hop_limit != other->hop_limit
               ? passage->hop_limit > other->hop_limit
               : passage->first_ns < other->first_ns;
}

void
rs_passages_find_firsts(rs_passages *passages)
{
    g_autoptr(GHashTable) firsts = g_hash_table_new(NULL, NULL);
    for (guint i = 0; i < passages->all->len; i++) {
        rs_passage *passage = g_ptr_array_index(passages->all, i);
        gpointer key = GUINT_TO_POINTER(passage->stream);
        rs_passage *first = g_hash_table_lookup(firsts, key);
        passage->is_first = first == NULL || comes_before(passage, first);
        if (passage->is_first) {
            if (first != NULL) {
                first->is_first = FALSE;
            }
            g_hash_table_insert(firsts, key, passage);
        }
    }
}

guint
rs_passages_n(const rs_passages *passages)
{
    return passages->all->len;
}

rs_passage *
rs_passages_at(const rs_passages *passages, guint i)
{
    return g_ptr_array_index(passages->all, i);
}

guint64
rs_passages_overflow(const rs_passages *passages)
{
    return passages->overflow;
}
