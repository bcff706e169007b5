/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sight.h"

#include "data_sight.h"

guint8
rs_priority_of(const roce_packet *packet, const rs_options *options)
{
    const roce_queued_by by = roce_packet_queued_by(packet);
    if (by.is_tagged && !(by.has_dscp && options->dscp_map_given)) {
        return by.pcp;
    }
    return by.has_dscp ? options->dscp_map[by.dscp] : 0;
}

rs_counted
rs_counted_of(const roce_stream *s)
{
    const uint64_t *ecn = s->ecn.codepoint;
    const roce_stream_trouble *trouble = roce_stream_trouble_of(s);
    uint64_t resent = trouble->retransmissions.packets;
    uint64_t repeats = resent + trouble->disorder[ROCE_SPACE_REQUESTS].duplicates +
                       trouble->disorder[ROCE_SPACE_RESPONSES].duplicates +
                       trouble->disorder[ROCE_SPACE_RESPONSES].resent;
    return (rs_counted){
        .packets = (guint32)s->packets,
        .data = (guint32)(ecn[0] + ecn[1] + ecn[2] + ecn[3]),
        .ce = (guint32)ecn[ROCE_ECN_CE],
        .cnps = (guint32)roce_stream_congestion_of(s)->cnps_sent,
        .resent = (guint32)resent,
        .repeats = (guint32)repeats,
    };
}

void
rs_sight_complete(rs_sight *sight)
{
    const roce_packet *p = sight->packet;
    const roce_stream *s = sight->stream;
    sight->info = roce_opcode_get(p->bth.opcode);
    sight->is_counted = s != NULL && s->last_frame == sight->frame->number;
    sight->is_data =
        sight->is_counted && s->dst_qpn != ROCE_GSI_QPN && rs_packet_has_data(p);
    sight->n = 1;
    sight->peer = s != NULL ? s->peer : ROCE_NO_STREAM;
    sight->vantage = s != NULL ? s->vantage : ROCE_VANTAGE_UNKNOWN;
    if (s != NULL) {
        sight->counted = rs_counted_of(s);
    }
    sight->payload_bytes = p->payload_bytes;
    sight->wire_bytes = roce_packet_wire_bytes(p, sight->frame);
}

void
rs_sight_take_peer(rs_sight *sight, const roce_stream *peer)
{
    const roce_histogram *h = roce_stream_latency(peer, ROCE_LATENCY_ACK);
    sight->ack_times = (rs_ack_times){
        .n = h != NULL ? h->count : 0,
        .sum_ns = h != NULL ? h->sum[0] : 0,
        .ce = peer->ecn.codepoint[ROCE_ECN_CE],
    };
}
