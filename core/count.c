/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is counted of frames, of packets and of streams, whatever they mean to the rules.
 */
#include "checksum.h"
#include "track.h"

void
roce_count_frame(roce_tracker *t, const roce_packet *p)
{
    roce_tracker_totals *n = &t->totals;
    n->truncated_packets += p->outcome == ROCE_TRUNCATED ? 1 : 0;
    n->malformed_packets += p->outcome == ROCE_MALFORMED ? 1 : 0;
    n->tunnelled_packets += p->n_tunnels != 0 ? 1 : 0;
    n->mirrored_packets += p->mirror.kind != ROCE_MIRROR_NONE ? 1 : 0;
    n->mirror_cut_packets += p->mirror.cut ? 1 : 0;
    switch (p->kind) {
    case ROCE_CLASS_OTHER:
    case ROCE_CLASS_MAC_CONTROL:
        n->other_packets++;
        break;
    case ROCE_CLASS_NOT_IB:
        n->not_ib_on_roce_port++;
        break;
    case ROCE_CLASS_FRAGMENT:
        n->fragments++;
        break;
    case ROCE_CLASS_PFC:
        n->pfc_frames++;
        break;
    case ROCE_CLASS_PAUSE:
        n->pause_frames++;
        break;
    case ROCE_CLASS_ROCE:
        n->roce_packets++;
        n->cnp_packets += p->transport == ROCE_TRANSPORT_CNP ? 1 : 0;
        n->bth_cut_packets += !p->has_bth && p->outcome == ROCE_TRUNCATED ? 1 : 0;
        break;
    }
}

void
roce_count_damaged(roce_tracker *t, const roce_frame *frame, const roce_packet *p)
{
    roce_tracker_totals *n = &t->totals;
    if (p->kind == ROCE_CLASS_FRAGMENT && roce_checksum_denies_fragment(frame, p)) {
        n->damaged_fragments++;
    }
    if (p->outcome == ROCE_MALFORMED && roce_checksum_denies_length(frame, p)) {
        n->damaged_lengths++;
    }
}

/* Beyond the first few: room for as many as the next power of two. */
static void
count_other_opcode(roce_tracker *t, roce_stream *s, uint8_t opcode, uint32_t packets)
{
    uint16_t n = s->n_other_opcodes;
    for (unsigned i = 0; i < n; i++) {
        if (s->other_opcodes[i].opcode == opcode) {
            s->other_opcodes[i].packets += packets;
            return;
        }
    }
    if ((n & (n - 1)) == 0) {
        size_t room = n == 0 ? 1 : 2 * (size_t)n;
        roce_opcode_count *more =
            roce_track_resize(t, s->other_opcodes, room * sizeof *more);
        if (more == NULL) {
            return;
        }
        s->other_opcodes = more;
    }
    s->other_opcodes[n] = (roce_opcode_count){.opcode = opcode, .packets = packets};
    s->n_other_opcodes++;
}

void
roce_count_opcode(roce_tracker *t, roce_stream *s, uint8_t opcode, uint32_t packets)
{
    for (unsigned i = 0; i < s->n_opcodes; i++) {
        if (s->opcode[i] == opcode) {
            s->opcode_packets[i] += packets;
            return;
        }
    }
    if (s->n_opcodes < ROCE_STREAM_OPCODES) {
        s->opcode[s->n_opcodes] = opcode;
        s->opcode_packets[s->n_opcodes++] = packets;
        return;
    }
    count_other_opcode(t, s, opcode, packets);
}

uint64_t
roce_stream_opcode_packets(const roce_stream *s, uint8_t opcode)
{
    for (unsigned i = 0; i < s->n_opcodes; i++) {
        if (s->opcode[i] == opcode) {
            return s->opcode_packets[i];
        }
    }
    for (unsigned i = 0; i < s->n_other_opcodes; i++) {
        if (s->other_opcodes[i].opcode == opcode) {
            return s->other_opcodes[i].packets;
        }
    }
    return 0;
}

static void
note_port(roce_stream *s, uint16_t port)
{
    for (unsigned i = 0; i < s->n_udp_src_ports; i++) {
        if (s->udp_src_port[i] == port) {
            return;
        }
    }
    if (s->n_udp_src_ports < ROCE_STREAM_PORTS) {
        s->udp_src_port[s->n_udp_src_ports++] = port;
    }
}

static void
note_vlan(roce_stream *s, const roce_packet *p)
{
    if (p->n_vlans == 0) {
        return;
    }
    uint16_t id = p->vlan_tci[0] & 0x0fff;
    for (unsigned i = 0; i < s->n_vlans; i++) {
        if (s->vlan[i] == id) {
            return;
        }
    }
    if (s->n_vlans < ROCE_STREAM_VLANS) {
        s->vlan[s->n_vlans++] = id;
    }
}

void
roce_count_packet(roce_tracker *t, roce_stream_state *s, const roce_arrival *a)
{
    roce_stream *pub = &s->pub;
    const roce_packet *p = a->packet;
    pub->packets++;
    pub->wire_bytes += roce_packet_wire_bytes(p, a->frame);
    pub->payload_bytes += p->payload_bytes;
    pub->last_frame = a->frame->number;
    if (a->frame->time_ns > pub->last_time_ns) {
        pub->last_time_ns = a->frame->time_ns;
    }
    if (a->frame->time_ns < pub->first_time_ns) {
        pub->first_time_ns = a->frame->time_ns;
    }
    pub->dscps |= (uint64_t)1 << (p->traffic_class >> 2);
    if (pub->transport == ROCE_TRANSPORT_CNP && p->transport != ROCE_TRANSPORT_CNP) {
        pub->transport = p->transport; /* the stream began with a CNP */
    }
    if (!p->is_grh) {
        note_port(pub, p->src_port);
    }
    note_vlan(pub, p);
    roce_count_opcode(t, pub, p->bth.opcode, 1);
    s->directions = (uint8_t)(s->directions | p->direction);
}

void
roce_count_icrc(roce_tracker *t, roce_stream_state *s, const roce_arrival *a)
{
    switch (a->icrc) {
    case ROCE_ICRC_UNCHECKED:
        break;
    case ROCE_ICRC_TRUNCATED:
        s->pub.icrc_truncated++;
        break;
    case ROCE_ICRC_GOOD:
        s->pub.icrc_checked++;
        break;
    case ROCE_ICRC_BAD:
        s->pub.icrc_checked++;
        if (a->info->role == ROCE_ROLE_CNP) {
            roce_trouble_make(t, s)->pub.icrc_cnp_bad++;
        } else if (a->info->role == ROCE_ROLE_FLUSH) {
            roce_trouble_make(t, s)->pub.icrc_flush_bad++;
        }
        break;
    }
}

void
roce_count_unattributed(roce_tracker *t)
{
    for (uint32_t i = 0; i < t->n_streams; i++) {
        const roce_stream *s = &roce_state_at(t, i)->pub;
        if (roce_stream_is_paired(s)) {
            continue;
        }
        const roce_stream_congestion *congestion = roce_stream_congestion_of(s);
        const uint64_t *naks_sent = roce_stream_trouble_of(s)->naks_sent;
        t->totals.unattributed_acks += roce_stream_control_of(s)->acks_sent;
        t->totals.unattributed_cnps +=
            congestion->cnps_sent - congestion->cnps_attributed;
        t->totals.unattributed_rnr += naks_sent[ROCE_NAKS_RNR];
        for (unsigned k = 0; k < ROCE_N_NAKS; k++) {
            t->totals.unattributed_naks += k == ROCE_NAKS_RNR ? 0 : naks_sent[k];
        }
    }
}
