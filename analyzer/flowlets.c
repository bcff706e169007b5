/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Each PSN space of a stream keeps its newest holes: what PSNs were passed over, when, and
 * how long the stream had been idle before the packet that did so.  A late original is
 * looked up in the holes; a hole that was given up for a newer one leaves its late ones
 * without a time.
 *
 * A WRITE Only packet continues its neighbours where its address minus what its PSN would
 * take at its length is the same: so chains are known in whatever order they come.
 *
 * Most streams of a capture with many are short and in order: what the others need is
 * made when they need it.
 */
#include "flowlets.h"

#include "approach.h"
#include "data_sight.h"

#include <string.h>

#define MAX_STREAMS 65536
#define HOLES 32
#define FIRST_GAPS 11 /* kept one by one, before there are counts */
#define NO_PSN G_MININT64

typedef struct hole {
    gint64 psn, end;
    guint64 time_ns, idle_ns;
} hole;

typedef struct holes {
    guint64 n;
    hole newest[HOLES]; /* the oldest is overwritten */
} holes;

typedef struct lane {
    gint64 next;  /* behind the highest PSN so far; NO_PSN before the first */
    holes *holes; /* NULL: none */
} lane;

/* Of originals that others had passed; as in rs_flowlet_stream. */
typedef struct lateness {
    guint64 late, timed, longest_ns, after[RS_FLOWLET_RUNGS];
} lateness;

typedef struct state {
    guint64 newest_ns;
    guint64 packets, data_packets;
    lane lanes[ROCE_N_SPACES];
    guint64 chained_writes;
    guint64 chain_base; /* of the newest WRITE Only */
    guint32 chain_bytes;
    guint8 n_first, first[FIRST_GAPS]; /* rungs of the first gaps */
    guint64 *gaps;  /* of all, at their highest rung alone; NULL: all are in `first` */
    lateness *late; /* NULL: none */
} state;

struct rs_flowlets {
    GPtrArray *of_stream; /* state, or NULL */
    guint64 omitted;
};

static void
free_state(gpointer data)
{
    state *s = data;
    for (guint space = 0; s != NULL && space < ROCE_N_SPACES; space++) {
        g_free(s->lanes[space].holes);
    }
    if (s != NULL) {
        g_free(s->gaps);
        g_free(s->late);
    }
    g_free(s);
}

rs_flowlets *
rs_flowlets_new(void)
{
    rs_flowlets *flowlets = g_new0(rs_flowlets, 1);
    flowlets->of_stream = g_ptr_array_new_with_free_func(free_state);
    return flowlets;
}

void
rs_flowlets_free(rs_flowlets *flowlets)
{
    if (flowlets != NULL) {
        g_ptr_array_unref(flowlets->of_stream);
        g_free(flowlets);
    }
}

static state *
new_state(void)
{
    state *s = g_new0(state, 1);
    for (guint space = 0; space < ROCE_N_SPACES; space++) {
        s->lanes[space].next = NO_PSN;
    }
    return s;
}

/* `packets` of the stream have come. */
static state *
state_of(rs_flowlets *flowlets, guint32 id, guint32 packets)
{
    if (id >= MAX_STREAMS) {
        flowlets->omitted += packets == 1 ? 1 : 0;
        return NULL;
    }
    if (id >= flowlets->of_stream->len) {
        g_ptr_array_set_size(flowlets->of_stream, (gint)id + 1);
    }
    gpointer *found = &flowlets->of_stream->pdata[id];
    if (*found == NULL) {
        *found = new_state();
    }
    return *found;
}

/* ---- gaps ---- */

/* The longest rung that is no longer than a time of RS_FLOWLET_LEAST_NS or more. */
static guint
highest_rung(guint64 ns)
{
    guint rung = 63u - (guint)__builtin_clzll(ns / RS_FLOWLET_LEAST_NS);
    return MIN(rung, RS_FLOWLET_RUNGS - 1);
}

/* Adds the gaps that are kept one by one. */
static void
add_first(const state *s, guint64 *gaps)
{
    for (guint i = 0; i < s->n_first; i++) {
        gaps[s->first[i]]++;
    }
}

G_NO_INLINE static void
make_gaps(state *s)
{
    s->gaps = g_new0(guint64, RS_FLOWLET_RUNGS);
    add_first(s, s->gaps);
    s->n_first = 0;
}

static inline void
count_gap(state *s, guint rung)
{
    if (s->gaps == NULL && s->n_first < FIRST_GAPS) {
        s->first[s->n_first++] = (guint8)rung;
        return;
    }
    if (s->gaps == NULL) {
        make_gaps(s);
    }
    s->gaps[rung]++;
}

/* The newest stamp with one more; of a clock that was set back, that one. */
static inline guint64
newest_with(guint64 newest_ns, guint64 time_ns)
{
    return roce_is_set_back(time_ns, newest_ns) ? time_ns : MAX(newest_ns, time_ns);
}

/* How long the stream had been idle; 0 for its first packet. */
static inline guint64
take_gap(state *s, guint64 time_ns)
{
    guint64 idle_ns =
        s->packets > 0 && time_ns > s->newest_ns ? time_ns - s->newest_ns : 0;
    if (idle_ns >= RS_FLOWLET_LEAST_NS) {
        count_gap(s, highest_rung(idle_ns));
    }
    s->packets++;
    s->newest_ns = newest_with(s->newest_ns, time_ns);
    return idle_ns;
}

/* ---- order ---- */

G_NO_INLINE static void
add_hole(lane *l, const hole *added)
{
    if (l->holes == NULL) {
        l->holes = g_new0(holes, 1);
    }
    l->holes->newest[l->holes->n++ % HOLES] = *added;
}

static inline void
take_order(lane *l, gint64 psn, guint32 span, guint64 time_ns, guint64 idle_ns)
{
    if (l->next != NO_PSN && psn > l->next) {
        const hole passed = {l->next, psn, time_ns, idle_ns};
        add_hole(l, &passed);
    }
    l->next = MAX(l->next, psn + span);
}

static const hole *
find_hole(const lane *l, gint64 psn)
{
    for (guint i = 0; l->holes != NULL && i < MIN(l->holes->n, HOLES); i++) {
        const hole *h = &l->holes->newest[i];
        if (h->psn <= psn && psn < h->end) {
            return h;
        }
    }
    return NULL;
}

void
rs_flowlets_event(rs_flowlets *flowlets, const roce_event *event)
{
    if (event->kind != ROCE_EVENT_LATE || event->stream >= flowlets->of_stream->len ||
        flowlets->of_stream->pdata[event->stream] == NULL) {
        return;
    }
    state *s = flowlets->of_stream->pdata[event->stream];
    if (s->late == NULL) {
        s->late = g_new0(lateness, 1);
    }
    s->late->late++;
    const hole *h = find_hole(&s->lanes[event->space], event->psn);
    if (h == NULL || event->time_ns < h->time_ns) {
        return;
    }
    s->late->timed++;
    s->late->longest_ns = MAX(s->late->longest_ns, event->time_ns - h->time_ns);
    for (guint rung = 0;
         rung < RS_FLOWLET_RUNGS && h->idle_ns >= rs_flowlet_rung_ns(rung); rung++) {
        s->late->after[rung]++;
    }
}

/* ---- WRITE Only ---- */

static gboolean
is_write_only(const roce_opcode_info *info)
{
    return info->role == ROCE_ROLE_WRITE && info->part == ROCE_PART_ONLY;
}

static void
take_write(state *s, gint64 psn, guint64 address, guint32 payload_bytes)
{
    /* Wraps around like addresses do; only equality counts. */
    guint64 before = (guint64)psn * payload_bytes;
    guint64 base = address - before;
    if (s->chain_bytes == payload_bytes && s->chain_base == base) {
        s->chained_writes++;
    }
    s->chain_base = base;
    s->chain_bytes = payload_bytes;
}

/* Neighbours nearly always have one opcode. */
static void
take_writes(state *s, const rs_train_sight *train)
{
    guint opcode = G_MAXUINT; /* of the car before */
    gboolean writes = FALSE;
    for (guint i = 0; i < train->n; i++) {
        const roce_car *car = &train->cars[i];
        if (car->opcode != opcode) {
            opcode = car->opcode;
            writes = is_write_only(roce_opcode_get(car->opcode));
        }
        if (writes) {
            take_write(s, train->psn + i, car->address, car->payload_bytes);
        }
    }
}

void
rs_flowlets_packet(rs_flowlets *flowlets, const rs_sight *sight)
{
    if (!sight->is_counted) {
        return;
    }
    roce_role role = sight->info->role;
    state *s = role == ROCE_ROLE_CNP
                   ? NULL
                   : state_of(flowlets, sight->stream->id, sight->counted.packets);
    if (s == NULL) {
        return;
    }
    guint64 idle_ns = take_gap(s, sight->frame->time_ns);
    gboolean numbered = roce_role_is_request(role) || roce_role_is_response_data(role);
    if (numbered && sight->sighting->sequenced) {
        const roce_sighting *at = sight->sighting;
        take_order(&s->lanes[at->space], at->psn, at->span, sight->frame->time_ns,
                   idle_ns);
    }
    if (!sight->is_data) {
        return;
    }
    const roce_packet *p = sight->packet;
    s->data_packets++;
    if (is_write_only(sight->info) && (p->headers & ROCE_HEADER_RETH) != 0 &&
        sight->sighting->sequenced) {
        take_write(s, sight->sighting->psn, p->reth.address, p->payload_bytes);
    }
}

void
rs_flowlets_train(rs_flowlets *flowlets, const rs_train_sight *train)
{
    state *s = state_of(flowlets, train->stream->id, train->before.packets + 1);
    if (s == NULL) {
        return;
    }
    const roce_car *cars = train->cars;
    guint64 first_idle_ns = take_gap(s, cars[0].time_ns);
    take_order(&s->lanes[train->space], train->psn, train->n, cars[0].time_ns,
               first_idle_ns); /* none is missing between those of a train */
    guint64 newest_ns = s->newest_ns;
    for (guint i = 1; i < train->n; i++) {
        guint64 time_ns = cars[i].time_ns;
        if (time_ns > newest_ns && time_ns - newest_ns >= RS_FLOWLET_LEAST_NS) {
            count_gap(s, highest_rung(time_ns - newest_ns));
        }
        newest_ns = newest_with(newest_ns, time_ns);
    }
    s->newest_ns = newest_ns;
    s->packets += train->n - 1;
    s->data_packets += train->n;
    take_writes(s, train);
}

void
rs_flowlets_approach(const rs_flowlets *flowlets, guint32 stream)
{
    rs_approach_pointed(flowlets->of_stream, stream, sizeof(state));
}

void
rs_flowlets_approach_gaps(const rs_flowlets *flowlets, guint32 stream)
{
    const state *s =
        stream < flowlets->of_stream->len ? flowlets->of_stream->pdata[stream] : NULL;
    if (s != NULL) {
        rs_approach(s->gaps, RS_FLOWLET_RUNGS * sizeof *s->gaps);
    }
}

/* ---- what it comes to ---- */

static void
fill_gaps(const state *s, guint64 *gaps)
{
    if (s->gaps != NULL) {
        memcpy(gaps, s->gaps, RS_FLOWLET_RUNGS * sizeof *gaps);
    }
    add_first(s, gaps);
    for (guint rung = RS_FLOWLET_RUNGS - 1; rung > 0; rung--) {
        gaps[rung - 1] += gaps[rung];
    }
}

gboolean
rs_flowlets_get(const rs_flowlets *flowlets, guint32 stream, rs_flowlet_stream *of)
{
    const state *s =
        stream < flowlets->of_stream->len ? flowlets->of_stream->pdata[stream] : NULL;
    if (s == NULL) {
        return FALSE;
    }
    *of = (rs_flowlet_stream){
        .packets = s->packets,
        .data_packets = s->data_packets,
        .chained_writes = s->chained_writes,
    };
    fill_gaps(s, of->gaps);
    if (s->late != NULL) {
        of->late = s->late->late;
        of->late_timed = s->late->timed;
        of->lateness_ns = s->late->longest_ns;
        memcpy(of->late_after, s->late->after, sizeof of->late_after);
    }
    return TRUE;
}

void
rs_flowlets_add(rs_flowlet_sum *sum, const rs_flowlet_stream *one)
{
    sum->packets += one->packets;
    sum->late += one->late;
    sum->late_timed += one->late_timed;
    sum->lateness_ns = MAX(sum->lateness_ns, one->lateness_ns);
    for (guint rung = 0; rung < RS_FLOWLET_RUNGS; rung++) {
        sum->gaps[rung] += one->gaps[rung];
        sum->late_after[rung] += one->late_after[rung];
    }
}

guint64
rs_flowlets_omitted(const rs_flowlets *flowlets)
{
    return flowlets->omitted;
}

guint
rs_flowlet_rung_above(guint64 lateness_ns)
{
    guint rung = 0;
    while (rung < RS_FLOWLET_RUNGS && rs_flowlet_rung_ns(rung) <= lateness_ns) {
        rung++;
    }
    return rung;
}

/* What NAKs and rounds come to. */
static rs_order
order_of(roce_recovery recovery)
{
    switch (recovery) {
    case ROCE_RECOVERY_GO_BACK_N:
        return RS_ORDER_GO_BACK_N;
    case ROCE_RECOVERY_SELECTIVE:
        return RS_ORDER_SELECTIVE;
    case ROCE_RECOVERY_UNKNOWN:
        break;
    }
    return RS_ORDER_UNDECIDABLE;
}

rs_order
rs_flowlet_order(const rs_flowlet_stream *flowlets, const roce_stream *stream)
{
    if (flowlets->late == 0) {
        return RS_ORDER_IN_ORDER;
    }
    const roce_stream_trouble *trouble = roce_stream_trouble_of(stream);
    const guint64 *rounds = trouble->retransmissions.by_cause;
    guint64 naks = trouble->naks_received[ROCE_NAKS_PSN_SEQUENCE];
    if (naks > 0 && rounds[ROCE_CAUSE_NAK_SEQUENCE] > 0) {
        return order_of(stream->recovery);
    }
    /* A receiver that takes packets in order alone complains of each gap. */
    gboolean heard = roce_stream_is_paired(stream) && !stream->partial_path;
    return heard && naks == 0 && rounds[ROCE_CAUSE_TIMEOUT] == 0 &&
                   flowlets->late >= RS_SPRAY_LATE
               ? RS_ORDER_OUT_OF_ORDER
               : RS_ORDER_UNDECIDABLE;
}

gboolean
rs_flowlet_writes_only(const rs_flowlet_stream *flowlets)
{
    return flowlets->chained_writes >= RS_SPRAY_WRITES &&
           flowlets->chained_writes * 100 >=
               flowlets->data_packets * RS_SPRAY_WRITE_PERCENT;
}

const char *
rs_order_name(rs_order order)
{
    static const char *const names[RS_N_ORDERS] = {
        [RS_ORDER_IN_ORDER] = "in_order",
        [RS_ORDER_OUT_OF_ORDER] = "out_of_order",
        [RS_ORDER_GO_BACK_N] = "go_back_n",
        [RS_ORDER_SELECTIVE] = "selective",
        [RS_ORDER_UNDECIDABLE] = "undecidable",
    };
    return names[order];
}
