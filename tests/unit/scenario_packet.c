/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Makes the packets and pause frames of a script, and feeds them to its tracker. */
#include "scenario_stage.h"

#define STEP_NS 1000u
#define SWITCH_HOST 254
#define IPV4_BYTES 20
#define UDP_BYTES 8
#define BTH_BYTES 12

roce_addr
scenario_host(const stage *g, uint8_t number)
{
    roce_addr addr = {.bytes = {10, 0, 0, number}, .family = 4};
    if (g->row->ident == SCENARIO_IDENT_IPV6) {
        addr = (roce_addr){.bytes = {0xfd, [15] = number}, .family = 6};
    }
    return addr;
}

static uint8_t
host_of(char who)
{
    return who == 'a' ? 1 : who == 'b' ? 2 : SWITCH_HOST;
}

static unsigned
row_of(char who)
{
    return who == 'a' ? 0 : who == 'b' ? 1 : 2;
}

static uint16_t
fresh_ident(stage *g, char who, unsigned queue_pair)
{
    switch (g->row->ident) {
    case SCENARIO_IDENT_RISING:
        return g->next_ident[row_of(who)][queue_pair]++;
    case SCENARIO_IDENT_RANDOM:
        g->noise = g->noise * 1664525u + 1013904223u;
        return (uint16_t)(g->noise >> 16);
    case SCENARIO_IDENT_CONSTANT:
    case SCENARIO_IDENT_IPV6:
        break;
    }
    return 0;
}

/* The identification of a packet that is sent now, or of the copy asked for. */
static uint16_t
choose_ident(stage *g, char who, unsigned queue_pair, uint8_t opcode, uint32_t psn24,
             const options *o)
{
    if (!o->given[OPTION_COPY]) {
        if (o->given[OPTION_IDENT]) {
            g->next_ident[row_of(who)][queue_pair] = (uint16_t)o->value[OPTION_IDENT];
        }
        uint16_t ident = fresh_ident(g, who, queue_pair);
        if (g->n_sent < SCENARIO_MAX_SENT) {
            g->sent[g->n_sent++] =
                (sent){who, (uint8_t)queue_pair, opcode, psn24, ident};
        }
        return ident;
    }
    uint32_t nth = o->value[OPTION_COPY];
    const sent *found = NULL;
    for (size_t i = 0; i < g->n_sent; i++) {
        const sent *s = &g->sent[i];
        if (s->who == who && s->queue_pair == queue_pair && s->opcode == opcode &&
            s->psn24 == psn24) {
            found = s;
            if (nth != 0 && --nth == 0) {
                break;
            }
        }
    }
    if (found == NULL) {
        scenario_trouble(g, "nothing to copy", roce_opcode_get(opcode)->name);
        return 0;
    }
    return found->ident;
}

static uint32_t
check_of(const roce_packet *p)
{
    uint32_t words[] = {p->ipv4_ident,    p->bth.opcode,
                        p->bth.psn24,     p->bth.dest_qpn,
                        p->payload_bytes, p->reth.length_bytes,
                        p->aeth_syndrome, p->src_port,
                        p->src.bytes[3],  p->reth.address & 0xffffffffu};
    uint32_t h = 2166136261u;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        h = (h ^ words[i]) * 16777619u;
        h ^= h >> 15;
    }
    return h;
}

static void
put(uint8_t *at, uint32_t value, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++) {
        at[i] = (uint8_t)(value >> 8 * (bytes - 1 - i));
    }
}

static void
put_icrc(uint8_t *at, uint32_t icrc)
{
    for (unsigned i = 0; i < SCENARIO_ICRC_BYTES; i++) {
        at[i] = (uint8_t)(icrc >> 8 * i);
    }
}

/* A READ request as it is on the wire, as far as it tells one from another, with its ICRC. */
static uint32_t
lay_out_read(stage *g, roce_packet *p)
{
    p->bth_offset = IPV4_BYTES + UDP_BYTES;
    uint8_t *bth = g->bytes + p->bth_offset;
    uint8_t *reth = bth + BTH_BYTES;
    memset(g->bytes, 0, SCENARIO_READ_BYTES);
    put(g->bytes + 4, p->ipv4_ident, 2);
    put(g->bytes + IPV4_BYTES, p->src_port, 2);
    bth[0] = p->bth.opcode;
    put(bth + 5, p->bth.dest_qpn, 3);
    bth[8] = p->bth.ack_request ? 0x80 : 0;
    put(bth + 9, p->bth.psn24, 3);
    put(reth + 4, (uint32_t)p->reth.address, 4);
    put(reth + 12, p->reth.length_bytes, 4);
    p->end_offset = SCENARIO_READ_BYTES + SCENARIO_ICRC_BYTES;
    return roce_crc32(0, g->bytes, SCENARIO_READ_BYTES);
}

static bool
has_payload(const roce_opcode_info *info)
{
    return info->role == ROCE_ROLE_SEND || info->role == ROCE_ROLE_WRITE ||
           info->role == ROCE_ROLE_READ_RESPONSE;
}

static roce_direction
direction(const stage *g, char who)
{
    if (g->row->at == '\0') {
        return ROCE_DIRECTION_UNKNOWN;
    }
    return g->row->at == who ? ROCE_DIRECTION_OUT : ROCE_DIRECTION_IN;
}

/* A MAD as core/cm.c reads it (IBTA 13.4.3, 12.6.5 to 12.6.14). */
static void
write_mad(stage *g, uint16_t kind, const options *o)
{
    uint8_t *mad = g->bytes;
    uint8_t *m = mad + 24;
    memset(mad, 0, SCENARIO_MAD_BYTES);
    mad[0] = 1; /* base version */
    mad[1] = 7; /* class: CM */
    mad[2] = 2; /* class version */
    put(mad + 16, kind, 2);
    put(m, o->value[OPTION_COMM], 4);
    put(m + 4, o->value[OPTION_RCOMM], 4);
    if (kind == ROCE_CM_REQ) {
        put(m + 4, 0, 4);
        put(m + 8, 0xabcd, 8 - 4); /* service id, high half */
        put(m + 32, o->value[OPTION_QPN], 3);
        put(m + 44, o->value[OPTION_PSN], 3);
        m[47] = 7;        /* retry count */
        m[50] = 3u << 4;  /* path MTU 1024 */
        m[95] = 14u << 3; /* ACK timeout */
    } else if (kind == ROCE_CM_REP) {
        put(m + 12, o->value[OPTION_QPN], 3);
        put(m + 20, o->value[OPTION_PSN], 3);
    } else if (kind == ROCE_CM_REJ) {
        put(m + 10, o->value[OPTION_REASON], 2);
    } else if (kind == ROCE_CM_DREQ) {
        put(m + 8, o->value[OPTION_QPN], 3);
    }
}

static void
feed(stage *g, roce_frame *frame, const roce_packet *packet, roce_icrc_status icrc)
{
    frame->number = ++g->frames;
    frame->time_ns = g->now_ns;
    scenario_outcome *out = g->out;
    out->first_ns = frame->time_ns < out->first_ns ? frame->time_ns : out->first_ns;
    out->last_ns = frame->time_ns > out->last_ns ? frame->time_ns : out->last_ns;
    (void)roce_tracker_add(g->tracker, frame, packet, icrc);
}

static roce_icrc_status
icrc_status(const options *o)
{
    if ((o->flags & (FLAG_CUT | FLAG_WEAK)) != 0) {
        return ROCE_ICRC_TRUNCATED;
    }
    return (o->flags & FLAG_BAD) != 0 ? ROCE_ICRC_BAD : ROCE_ICRC_GOOD;
}

static void
fill_packet(stage *g, roce_packet *p, const script_act *act, char who, unsigned qp,
            uint32_t psn24, const options *o)
{
    const roce_opcode_info *info = roce_opcode_get(act->opcode);
    uint32_t length = o->given[OPTION_LEN] ? o->value[OPTION_LEN] : 64;
    bool cut = (o->flags & FLAG_CUT) != 0;
    bool has_reth = !cut && (info->headers & ROCE_HEADER_RETH) != 0;
    bool ends = roce_part_ends(info->part);
    uint32_t to_a = 0x100 + (uint32_t)qp;
    uint32_t to_b = 0x200 + (uint32_t)qp;
    *p = (roce_packet){
        .outcome = cut ? ROCE_TRUNCATED : ROCE_DECODED,
        .kind = ROCE_CLASS_ROCE,
        .direction = direction(g, who),
        .src = scenario_host(g, host_of(who)),
        .dst = scenario_host(g, who == 'a' ? 2 : 1),
        .src_port =
            (uint16_t)(o->given[OPTION_PORT] ? o->value[OPTION_PORT] : 0xc000 + qp),
        .dst_port = 4791,
        .has_bth = true,
        .transport = info->transport,
        .headers = cut ? 0 : info->headers,
        .payload_bytes = has_payload(info) ? length : 0,
        .end_offset = SCENARIO_ICRC_BYTES,
        .bth = {.opcode = act->opcode,
                .dest_qpn = who == 'a' ? to_b : to_a,
                .ack_request = ends && roce_role_is_request(info->role),
                .psn24 = psn24},
        .aeth_syndrome = act->syndrome,
    };
    if (o->given[OPTION_VNI]) {
        p->n_tunnels = 1;
        p->tenant = (roce_tenant){ROCE_TENANT_VXLAN, o->value[OPTION_VNI]};
        p->outer_ecn = (uint8_t)o->value[OPTION_AROUND];
    }
    p->deth_src_qpn = who == 'a' ? to_a : to_b;
    p->traffic_class =
        (uint8_t)(26u << 2 | (o->given[OPTION_ECN] ? o->value[OPTION_ECN] : 2u));
    p->reth.length_bytes = has_reth ? length : 0;
    p->reth.address = has_reth && info->role == ROCE_ROLE_READ_REQUEST ? psn24 : 0;
    if (has_reth && o->given[OPTION_VA]) {
        p->reth.address = o->value[OPTION_VA];
    }
    p->aeth_msn = o->given[OPTION_MSN] ? o->value[OPTION_MSN] : 0;
    if (act->syndrome == 0x20) {
        p->aeth_syndrome |=
            (uint8_t)(o->given[OPTION_TIMER] ? o->value[OPTION_TIMER] & 0x1fu : 1u);
    }
    if (o->given[OPTION_DQPN]) {
        p->bth.dest_qpn = o->value[OPTION_DQPN];
    }
    if (act->kind == ACT_CM) {
        p->bth.dest_qpn = p->deth_src_qpn = 1;
        p->payload_bytes = SCENARIO_MAD_BYTES;
        p->end_offset = SCENARIO_MAD_BYTES + SCENARIO_ICRC_BYTES;
    }
}

void
scenario_play_packet(stage *g, const script_act *act, char who, unsigned qp,
                     uint32_t psn24, const options *o)
{
    roce_packet p;
    fill_packet(g, &p, act, who, qp, psn24, o);
    p.ipv4_ident = choose_ident(g, who, qp, act->opcode, psn24, o);
    g->now_ns += STEP_NS;
    if ((o->flags & FLAG_DROP) != 0) {
        return;
    }
    if (act->kind == ACT_CM) {
        write_mad(g, act->cm, o);
    }
    bool reads = roce_opcode_get(act->opcode)->role == ROCE_ROLE_READ_REQUEST;
    uint32_t check = reads && p.headers != 0 ? lay_out_read(g, &p) : check_of(&p);
    check ^= (o->flags & FLAG_BAD) != 0 ? 1 : 0;
    put_icrc(g->bytes + p.end_offset - SCENARIO_ICRC_BYTES, check);
    bool cut = (o->flags & (FLAG_CUT | FLAG_WEAK)) != 0;
    roce_frame frame = {
        .bytes = g->bytes,
        .captured_bytes = cut ? p.end_offset - SCENARIO_ICRC_BYTES : p.end_offset,
        .wire_bytes = 62 + p.payload_bytes,
        .point = o->value[OPTION_POINT],
    };
    feed(g, &frame, &p, icrc_status(o));
}

void
scenario_play_pause(stage *g, act_kind kind, unsigned mac, uint16_t enabled,
                    const options *o)
{
    roce_packet p = {
        .outcome = ROCE_DECODED,
        .kind = kind == ACT_PFC ? ROCE_CLASS_PFC : ROCE_CLASS_PAUSE,
        .has_macs = true,
        .src_mac = {2, 0, 0, 0, 0, (uint8_t)mac},
        .ethertype = 0x8808,
        .pause = {.opcode = kind == ACT_PFC ? 0x0101 : 1, .enabled = enabled},
    };
    for (unsigned i = 0; i < 8; i++) {
        bool set = kind == ACT_PFC ? (enabled & 1u << i) != 0 : i == 0;
        p.pause.quanta[i] = set ? (uint16_t)o->value[OPTION_QUANTA] : 0xdead & 0xffff;
    }
    g->now_ns += STEP_NS;
    roce_frame frame = {
        .bytes = g->bytes,
        .captured_bytes = 60,
        .wire_bytes = 60,
        .point = o->value[OPTION_POINT],
    };
    feed(g, &frame, &p, ROCE_ICRC_UNCHECKED);
}
