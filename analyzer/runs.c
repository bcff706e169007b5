/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "runs.h"

#include "approach.h"
#include "data_sight.h"

#include "roce/aeth.h"

#include <string.h>

/* That wait: a few lines of memory, written one after the other.  Of streams beyond the
 * first ones fewer do, for the sake of memory: all runs together take some MB.  Those whose
 * packets all come as cars of trains have none. */
#define MOST_STEPS 16
#define FEWER_STEPS 4
#define STREAMS_WITH_MOST 4096

/* What packets have to share.  No byte is left unset, so that memcmp() compares. */
typedef struct likeness {
    guint8 src_mac[6], dst_mac[6];
    guint16 src_port, p_key, vlan_tci;
    guint8 n_vlans, traffic_class, hop_limit, priority;
    guint8 direction, transport, role, outcome;
    guint8 icrc, migration, has_payload, is_data;
    guint8 sequenced, space, span, zero;
    guint16 zeros;
    guint32 point;
} likeness;
G_STATIC_ASSERT(sizeof(likeness) == 40);

/* What they differ in. */
typedef struct step {
    guint64 time_ns, frame;
    gint64 psn;
    guint64 address; /* of its RETH */
    guint32 payload_bytes, udp_bytes;
    guint32 psn24;
    guint16 headers;
    guint8 opcode;
} step;

typedef struct run {
    gboolean open;
    guint n_steps;  /* that wait */
    guint n_since;  /* packets that have come since any were told to wait no longer */
    gboolean alone; /* before that it was one: the next one need not wait for others */
    likeness like;
    rs_counted counted; /* with the newest packet */
    rs_counted grows;   /* with each packet */
    guint64 n;          /* packets that are to be counted */
    guint64 beside; /* frame that came behind all of them, and was counted; 0: none */
    guint64 payload_bytes, wire_bytes;
    const roce_stream *stream;
    step newest; /* of those that were told */
    step *steps; /* room for most_steps(); NULL: none has waited yet */
} run;

struct rs_runs {
    rs_runs_listener listener;
    GPtrArray *of_stream; /* run; NULL: none yet */
};

static void
free_run(gpointer data)
{
    run *r = data;
    if (r != NULL) {
        g_free(r->steps);
        g_free(r);
    }
}

rs_runs *
rs_runs_new(const rs_runs_listener *listener)
{
    rs_runs *runs = g_new0(rs_runs, 1);
    runs->listener = *listener;
    runs->of_stream = g_ptr_array_new_with_free_func(free_run);
    return runs;
}

void
rs_runs_free(rs_runs *runs)
{
    if (runs != NULL) {
        g_ptr_array_unref(runs->of_stream);
        g_free(runs);
    }
}

void
rs_runs_approach(const rs_runs *runs, guint32 stream)
{
    rs_approach_pointed(runs->of_stream, stream, sizeof(run));
}

static run *
run_of(const rs_runs *runs, guint32 stream)
{
    return stream < runs->of_stream->len ? runs->of_stream->pdata[stream] : NULL;
}

static guint
most_steps(guint32 stream)
{
    return stream < STREAMS_WITH_MOST ? MOST_STEPS : FEWER_STEPS;
}

/* ---- what is alike ---- */

/* Only plain packets come in runs: nothing but a mirror is around them, no NAK or CNP is
 * one, and each takes no more than one PSN. */
static gboolean
comes_in_runs(const rs_sight *sight)
{
    const roce_packet *p = sight->packet;
    roce_role role = sight->info->role;
    gboolean is_nak = (p->headers & ROCE_HEADER_AETH) != 0 &&
                      roce_aeth_get_kind(p->aeth_syndrome) != ROCE_AETH_ACK;
    return sight->is_counted && sight->sighting->span <= 1 &&
           sight->icrc != ROCE_ICRC_BAD &&
           p->n_tunnels == (p->mirror.kind != ROCE_MIRROR_NONE ? 1 : 0) &&
           p->has_macs && !p->is_grh && p->n_vlans <= 1 && !is_nak &&
           (role == ROCE_ROLE_SEND || role == ROCE_ROLE_WRITE ||
            role == ROCE_ROLE_READ_RESPONSE || role == ROCE_ROLE_ACK);
}

static void
find_likeness(likeness *like, const rs_sight *sight)
{
    const roce_packet *p = sight->packet;
    *like = (likeness){
        .src_port = p->src_port,
        .p_key = p->bth.p_key,
        .vlan_tci = p->n_vlans > 0 ? p->vlan_tci[0] : 0,
        .n_vlans = p->n_vlans,
        .traffic_class = p->traffic_class,
        .hop_limit = p->hop_limit,
        .priority = sight->priority,
        .direction = (guint8)p->direction,
        .transport = (guint8)p->transport,
        .role = (guint8)sight->info->role,
        .outcome = (guint8)p->outcome,
        .icrc = (guint8)sight->icrc,
        .migration = p->bth.migration ? 1 : 0,
        .has_payload = p->payload_bytes > 0 ? 1 : 0,
        .is_data = sight->is_data ? 1 : 0,
        .sequenced = sight->sighting->sequenced ? 1 : 0,
        .space = (guint8)sight->sighting->space,
        .span = (guint8)sight->sighting->span,
        .point = sight->frame->point,
    };
    memcpy(like->src_mac, p->src_mac, sizeof like->src_mac);
    memcpy(like->dst_mac, p->dst_mac, sizeof like->dst_mac);
}

/* What the counters of a stream grow by with each packet like this one, unless something
 * else happens. */
static rs_counted
growth_of(const rs_sight *sight)
{
    guint32 data = rs_packet_has_data(sight->packet) ? 1 : 0;
    gboolean marked = roce_packet_ecn(sight->packet) == ROCE_ECN_CE;
    return (rs_counted){.packets = 1, .data = data, .ce = marked ? data : 0};
}

static void
grow(rs_counted *counted, const rs_counted *by)
{
    counted->packets += by->packets;
    counted->data += by->data;
    counted->ce += by->ce;
}

/* Whether the counters grew by that, and by nothing else. */
static gboolean
grew(const rs_counted *now, const rs_counted *before, const rs_counted *by)
{
    rs_counted grown = *before;
    grow(&grown, by);
    return rs_counted_equal(now, &grown);
}

/* ---- telling ---- */

/* A packet of the run, as those who are told have seen it. */
typedef struct rebuilt {
    roce_frame frame;
    roce_packet packet;
    roce_sighting sighting;
    rs_sight sight;
} rebuilt;

static void
rebuild(const run *r, rebuilt *all)
{
    const likeness *like = &r->like;
    *all = (rebuilt){
        .frame = {.point = like->point},
        .packet =
            {
                .kind = ROCE_CLASS_ROCE,
                .outcome = like->outcome,
                .has_macs = true,
                .direction = like->direction,
                .n_vlans = like->n_vlans,
                .vlan_tci = {like->vlan_tci},
                .src = r->stream->src,
                .dst = r->stream->dst,
                .traffic_class = like->traffic_class,
                .hop_limit = like->hop_limit,
                .src_port = like->src_port,
                .has_bth = true,
                .transport = like->transport,
                .bth =
                    {
                        .migration = like->migration != 0,
                        .p_key = like->p_key,
                        .dest_qpn = r->stream->dst_qpn,
                    },
            },
        .sighting =
            {
                .stream = r->stream->id,
                .sequenced = like->sequenced != 0,
                .space = like->space,
                .span = like->span,
            },
        .sight =
            {
                .frame = &all->frame,
                .packet = &all->packet,
                .stream = r->stream,
                .sighting = &all->sighting,
                .icrc = like->icrc,
                .priority = like->priority,
                .is_counted = TRUE,
                .is_data = like->is_data != 0,
                .n = 1,
            },
    };
    memcpy(all->packet.src_mac, like->src_mac, sizeof like->src_mac);
    memcpy(all->packet.dst_mac, like->dst_mac, sizeof like->dst_mac);
}

static void
rebuild_step(const step *s, rebuilt *all)
{
    const roce_opcode_info *info = roce_opcode_get(s->opcode);
    all->frame.number = s->frame;
    all->frame.time_ns = s->time_ns;
    all->packet.payload_bytes = s->payload_bytes;
    all->packet.udp_length = s->udp_bytes;
    all->packet.headers = s->headers;
    all->packet.reth.address = s->address;
    all->packet.bth.opcode = s->opcode;
    all->packet.bth.psn24 = s->psn24;
    all->sighting.psn = s->psn;
    all->sight.info = info;
    all->sight.payload_bytes = s->payload_bytes;
}

/* The counters before the first of the steps that wait. */
static rs_counted
counted_before(const run *r)
{
    rs_counted before = r->counted;
    before.packets -= r->n_steps * r->grows.packets;
    before.data -= r->n_steps * r->grows.data;
    before.ce -= r->n_steps * r->grows.ce;
    return before;
}

static void
tell_steps(const rs_runs *runs, run *r)
{
    if (r->n_since > 0) {
        r->alone = r->n_since == 1;
        r->n_since = 0;
    }
    if (r->n_steps == 0) {
        return;
    }
    rebuilt all;
    rebuild(r, &all);
    rs_counted counted = counted_before(r);
    for (guint i = 0; i < r->n_steps; i++) {
        grow(&counted, &r->grows);
        rebuild_step(&r->steps[i], &all);
        all.sight.counted = counted;
        runs->listener.step(runs->listener.ctx, &all.sight);
    }
    r->newest = r->steps[r->n_steps - 1];
    r->n_steps = 0;
}

/* The newest packet of a run, which has told its steps, for all that are to be counted. */
static void
tell_counts(const rs_runs *runs, run *r)
{
    if (r->n == 0) {
        return;
    }
    rebuilt all;
    rebuild(r, &all);
    rebuild_step(&r->newest, &all);
    all.sight.n = r->n;
    all.sight.beside = r->beside;
    all.sight.payload_bytes = r->payload_bytes;
    all.sight.wire_bytes = r->wire_bytes;
    runs->listener.count(runs->listener.ctx, &all.sight);
    r->n = r->payload_bytes = r->wire_bytes = r->beside = 0;
}

static void
tell(const rs_runs *runs, run *r)
{
    tell_steps(runs, r);
    tell_counts(runs, r);
}

static void
end(const rs_runs *runs, run *r)
{
    tell(runs, r);
    r->open = FALSE;
}

/* ---- packets ---- */

/* For one step more. */
static void
make_room(const rs_runs *runs, run *r)
{
    guint most = most_steps(r->stream->id);
    if (r->steps == NULL) {
        r->steps = g_new(step, most);
    }
    if (r->n_steps == most) {
        tell_steps(runs, r);
    }
}

static step
step_of_packet(const rs_sight *sight)
{
    const roce_packet *p = sight->packet;
    return (step){
        .time_ns = sight->frame->time_ns,
        .frame = sight->frame->number,
        .psn = sight->sighting->psn,
        .address = p->reth.address,
        .payload_bytes = p->payload_bytes,
        .udp_bytes = p->udp_length,
        .psn24 = p->bth.psn24,
        .headers = p->headers,
        .opcode = p->bth.opcode,
    };
}

static void
add(const rs_runs *runs, run *r, const rs_sight *sight)
{
    if (r->alone && r->n_since == 0) {
        runs->listener.step(runs->listener.ctx, sight);
        r->newest = step_of_packet(sight);
    } else {
        make_room(runs, r);
        r->steps[r->n_steps++] = step_of_packet(sight);
    }
    r->n_since++;
    r->counted = sight->counted;
    r->n++;
    r->beside = 0;
    r->payload_bytes += sight->payload_bytes;
    r->wire_bytes += sight->wire_bytes;
}

static step
step_of(const roce_car *car, gint64 psn)
{
    return (step){
        .time_ns = car->time_ns,
        .frame = car->frame,
        .psn = psn,
        .address = car->address,
        .payload_bytes = car->payload_bytes,
        .udp_bytes = car->udp_bytes,
        .psn24 = car->psn24,
        .headers = roce_opcode_get(car->opcode)->headers,
        .opcode = car->opcode,
    };
}

void
rs_runs_train(rs_runs *runs, const rs_train *train, const roce_car *cars)
{
    run *r = run_of(runs, train->stream->id);
    g_assert(r != NULL && r->open);
    tell_steps(runs, r);
    const rs_train_sight sight = {
        .stream = train->stream,
        .cars = cars,
        .n = train->n,
        .psn = train->psn,
        .space = train->space,
        .before = r->counted,
    };
    runs->listener.train(runs->listener.ctx, &sight);
    for (guint i = 0; i < train->n; i++) {
        r->payload_bytes += cars[i].payload_bytes;
        r->wire_bytes += cars[i].wire_bytes;
    }
    r->n += train->n;
    r->beside = 0;
    r->counted.packets += train->n;
    r->counted.data += train->n;
    r->newest = step_of(&cars[train->n - 1], train->psn + train->n - 1);
}

/* Whether what stands beside a run has of what is followed from packet to packet the same:
 * then it does not matter which of them is counted first. */
static gboolean
is_like_beside(const likeness *like, const rs_sight *sight)
{
    const roce_packet *p = sight->packet;
    guint16 tci = p->n_vlans > 0 ? p->vlan_tci[0] : 0;
    return p->hop_limit == like->hop_limit && p->bth.p_key == like->p_key &&
           p->traffic_class >> 2 == like->traffic_class >> 2 &&
           p->n_vlans == like->n_vlans && tci == like->vlan_tci &&
           sight->priority == like->priority && sight->frame->point == like->point;
}

gboolean
rs_runs_join(rs_runs *runs, const rs_sight *sight)
{
    run *r = sight->stream != NULL ? run_of(runs, sight->stream->id) : NULL;
    if (r == NULL || !r->open) {
        return FALSE;
    }
    if (sight->is_beside) {
        tell_steps(runs, r);
        if (is_like_beside(&r->like, sight)) {
            r->beside = sight->frame->number;
        } else {
            tell_counts(runs, r);
        }
        r->counted = sight->counted;
        return FALSE;
    }
    likeness like;
    if (comes_in_runs(sight) && grew(&sight->counted, &r->counted, &r->grows)) {
        find_likeness(&like, sight);
        if (memcmp(&like, &r->like, sizeof like) == 0) {
            add(runs, r, sight);
            return TRUE;
        }
    }
    end(runs, r);
    return FALSE;
}

void
rs_runs_begin(rs_runs *runs, const rs_sight *sight)
{
    if (sight->stream == NULL || sight->stream->id >= RS_RUNS_STREAMS ||
        sight->counted.packets < RS_RUNS_LEAST_PACKETS || !comes_in_runs(sight)) {
        return;
    }
    guint32 id = sight->stream->id;
    if (id >= runs->of_stream->len) {
        g_ptr_array_set_size(runs->of_stream, (gint)id + 1);
    }
    if (runs->of_stream->pdata[id] == NULL) {
        runs->of_stream->pdata[id] = g_new0(run, 1);
    }
    run *r = runs->of_stream->pdata[id];
    r->open = TRUE;
    r->stream = sight->stream;
    r->counted = sight->counted;
    r->grows = growth_of(sight);
    find_likeness(&r->like, sight);
}

void
rs_runs_tell_steps(rs_runs *runs, guint32 stream)
{
    run *r = run_of(runs, stream);
    if (r != NULL) {
        tell_steps(runs, r);
    }
}

void
rs_runs_end(rs_runs *runs)
{
    for (guint i = 0; i < runs->of_stream->len; i++) {
        run *r = runs->of_stream->pdata[i];
        if (r != NULL) {
            end(runs, r);
        }
    }
}
