/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "runs.h"

#include "approach.h"
#include "roce/aeth.h"

#include <string.h>

/* What packets have to share.  No byte is left unset, so that memcmp() compares. */
typedef struct likeness {
    guint8 src_mac[6], dst_mac[6];
    guint16 src_port, p_key, vlan_tci;
    guint8 n_vlans, traffic_class, hop_limit, priority;
    guint8 direction, transport, role, outcome;
    guint8 icrc, migration, has_payload, is_data;
    guint16 zero;
    guint32 point;
} likeness;
G_STATIC_ASSERT(sizeof(likeness) == 36);

typedef struct run {
    gboolean open;
    likeness like;
    guint64 n; /* that nobody was told of yet */
    guint64 payload_bytes, wire_bytes;
    guint64 frame, time_ns;
    guint32 psn24;
    guint8 opcode; /* of the newest, as the three before */
    const roce_stream *stream;
} run;

struct rs_runs {
    rs_runs_tell tell;
    gpointer ctx;
    GArray *of_stream; /* run */
};

rs_runs *
rs_runs_new(rs_runs_tell tell, gpointer ctx)
{
    rs_runs *runs = g_new0(rs_runs, 1);
    runs->tell = tell;
    runs->ctx = ctx;
    runs->of_stream = g_array_new(FALSE, TRUE, sizeof(run));
    return runs;
}

void
rs_runs_free(rs_runs *runs)
{
    if (runs != NULL) {
        g_array_unref(runs->of_stream);
        g_free(runs);
    }
}

/* Only plain packets come in runs: nothing is around them, and no NAK or CNP is one. */
static gboolean
comes_in_runs(const rs_sight *sight)
{
    const roce_packet *p = sight->packet;
    roce_role role = sight->info->role;
    gboolean is_nak = (p->headers & ROCE_HEADER_AETH) != 0 &&
                      roce_aeth_get_kind(p->aeth_syndrome) != ROCE_AETH_ACK;
    return sight->is_counted && sight->icrc != ROCE_ICRC_BAD && p->n_tunnels == 0 &&
           p->has_macs && !p->is_grh && p->n_vlans <= 1 && !is_nak &&
           role != ROCE_ROLE_CNP && role != ROCE_ROLE_UNKNOWN;
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
        .point = sight->frame->point,
    };
    memcpy(like->src_mac, p->src_mac, sizeof like->src_mac);
    memcpy(like->dst_mac, p->dst_mac, sizeof like->dst_mac);
}

/* A packet like all of the run, with what is the newest one's. */
static void
rebuild(const run *r, roce_frame *frame, roce_packet *packet)
{
    const likeness *like = &r->like;
    *frame =
        (roce_frame){.number = r->frame, .time_ns = r->time_ns, .point = like->point};
    *packet = (roce_packet){
        .class = ROCE_CLASS_ROCE,
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
        .payload_bytes = like->has_payload,
        .bth =
            {
                .opcode = r->opcode,
                .migration = like->migration != 0,
                .p_key = like->p_key,
                .dest_qpn = r->stream->dst_qpn,
                .psn24 = r->psn24,
            },
    };
    memcpy(packet->src_mac, like->src_mac, sizeof packet->src_mac);
    memcpy(packet->dst_mac, like->dst_mac, sizeof packet->dst_mac);
}

static void
tell(const rs_runs *runs, run *r)
{
    if (r->n == 0) {
        return;
    }
    roce_frame frame;
    roce_packet packet;
    rebuild(r, &frame, &packet);
    const rs_sight sight = {
        .frame = &frame,
        .packet = &packet,
        .stream = r->stream,
        .info = roce_opcode_get(r->opcode),
        .icrc = r->like.icrc,
        .priority = r->like.priority,
        .is_counted = TRUE,
        .is_data = r->like.is_data != 0,
        .n = r->n,
        .payload_bytes = r->payload_bytes,
        .wire_bytes = r->wire_bytes,
    };
    runs->tell(runs->ctx, &sight);
    r->n = r->payload_bytes = r->wire_bytes = 0;
}

void
rs_runs_approach(const rs_runs *runs, guint32 stream)
{
    rs_approach_element(runs->of_stream, stream, sizeof(run));
}

gboolean
rs_runs_join(rs_runs *runs, const rs_sight *sight)
{
    if (sight->stream == NULL || sight->stream->id >= runs->of_stream->len) {
        return FALSE;
    }
    run *r = &g_array_index(runs->of_stream, run, sight->stream->id);
    if (!r->open) {
        return FALSE;
    }
    likeness like;
    if (comes_in_runs(sight)) {
        find_likeness(&like, sight);
        if (memcmp(&like, &r->like, sizeof like) == 0) {
            r->n++;
            r->payload_bytes += sight->payload_bytes;
            r->wire_bytes += sight->wire_bytes;
            r->frame = sight->frame->number;
            r->time_ns = sight->frame->time_ns;
            r->psn24 = sight->packet->bth.psn24;
            r->opcode = sight->packet->bth.opcode;
            return TRUE;
        }
    }
    tell(runs, r);
    r->open = FALSE;
    return FALSE;
}

void
rs_runs_begin(rs_runs *runs, const rs_sight *sight)
{
    if (sight->stream == NULL || sight->stream->id >= RS_RUNS_STREAMS ||
        !comes_in_runs(sight)) {
        return;
    }
    guint32 id = sight->stream->id;
    if (id >= runs->of_stream->len) {
        g_array_set_size(runs->of_stream, id + 1);
    }
    run *r = &g_array_index(runs->of_stream, run, id);
    r->open = TRUE;
    r->stream = sight->stream;
    find_likeness(&r->like, sight);
}

void
rs_runs_end(rs_runs *runs)
{
    for (guint i = 0; i < runs->of_stream->len; i++) {
        run *r = &g_array_index(runs->of_stream, run, i);
        tell(runs, r);
        r->open = FALSE;
    }
}
