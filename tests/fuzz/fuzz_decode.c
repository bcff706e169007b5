/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Any bytes as a frame of any link layer: decoding, the ICRC and CM messages, and what
 * holds of them whatever the bytes are.
 *
 *   0    link layer; bit 7: more ports than 4791
 *   1    how many more bytes the frame had on the wire
 *   2    how many of the captured bytes are left out of a second, cut look
 *   3..  the frame
 */
#include "traffic.h"

#include "roce/aeth.h"
#include "roce/cm.h"
#include "roce/decode.h"
#include "roce/icrc.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define SETTINGS 3

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Decodes over rubbish, which must not show. */
static void
decode(const roce_frame *frame, const roce_ports *ports, roce_packet *p)
{
    roce_packet other;
    memset(p, 0xa5, sizeof *p);
    memset(&other, 0x5a, sizeof other);
    roce_decode(frame, ports, p);
    roce_decode(frame, ports, &other);
    assert(memcmp(p, &other, sizeof other) == 0);
}

static void
check_around(const roce_packet *p, uint32_t captured)
{
    bool mirrored = p->mirror.kind != ROCE_MIRROR_NONE;
    assert(p->n_tunnels <= ROCE_MAX_TUNNELS && p->outer_ecn <= 3);
    assert(p->n_tunnels > 0 || (p->tenant.kind == ROCE_TENANT_NONE && !mirrored));
    assert(p->n_tunnels > 0 || p->outer_ecn == 0);
    assert(p->tenant.kind < ROCE_N_TENANTS && p->tenant.id <= 0xffffff);
    assert(p->tenant.kind != ROCE_TENANT_NONE || p->tenant.id == 0);
    assert(p->mirror.kind < ROCE_N_MIRRORS);
    assert(roce_packet_ecn(p) <= 3);
    assert(!p->mirror.cut || mirrored);
    if (!mirrored) {
        static const roce_mirror none;
        assert(memcmp(&p->mirror, &none, sizeof none) == 0);
        return;
    }
    assert(p->mirror.source.family != 0);
    assert(p->mirror.frame_offset <= captured);
    assert(p->ip_offset == 0 || p->ip_offset >= p->mirror.frame_offset);
    assert(p->mirror.granularity <= 3);
}

static void
check_packet(const roce_packet *p, uint32_t captured, uint32_t wire)
{
    bool mirrored = p->mirror.kind != ROCE_MIRROR_NONE;
    uint32_t length = p->uncut_bytes != 0 ? p->uncut_bytes : wire;
    assert(length >= wire && (p->uncut_bytes == 0 || length > wire));
    assert(p->n_vlans <= ROCE_MAX_VLANS);
    assert(p->lldp_offset <= captured);
    assert(p->lldp_offset == 0 || p->kind == ROCE_CLASS_OTHER);
    assert(p->transport < ROCE_N_TRANSPORTS);
    assert(roce_opcode_name(p->bth.opcode, p->transport) != NULL);
    assert(captured < length || p->outcome != ROCE_TRUNCATED || mirrored);
    assert(p->has_bth || p->headers == 0);
    assert(!p->has_bth || p->kind == ROCE_CLASS_ROCE || p->kind == ROCE_CLASS_NOT_IB);
    if (p->kind == ROCE_CLASS_ROCE) {
        assert(p->outcome != ROCE_NOT_OURS);
        assert(p->src.family != 0 && p->dst.family == p->src.family);
        assert(p->ip_offset < p->bth_offset && p->bth_offset < p->end_offset);
        assert(p->end_offset <= length || p->mirror.cut);
    }
    if (p->kind == ROCE_CLASS_ROCE && p->has_bth && p->outcome != ROCE_MALFORMED) {
        assert(p->payload_offset + p->payload_bytes + p->bth.pad_bytes + 4 ==
               p->end_offset);
        assert(p->outcome != ROCE_DECODED || p->payload_offset <= captured);
    }
    if ((p->headers & ROCE_HEADER_AETH) != 0) {
        unsigned value = roce_aeth_get_value(p->aeth_syndrome);
        assert(roce_aeth_get_kind(p->aeth_syndrome) <= ROCE_AETH_NAK && value < 32);
        assert(roce_aeth_rnr_timer_ns(value) != 0);
        assert(roce_nak_code_name(value) != NULL);
    }
}

static void
check_icrc(const uint8_t *bytes, uint32_t captured, const roce_packet *p)
{
    roce_icrc_status status = roce_icrc_check(bytes, captured, p, roce_crc32);
    uint32_t want;
    int result = roce_icrc_compute(bytes, captured, p, roce_crc32, &want);
    assert((status == ROCE_ICRC_TRUNCATED) == (result != 0));
    if (result == 0) {
        assert(p->kind == ROCE_CLASS_ROCE && p->end_offset <= captured);
        const uint8_t *end = bytes + p->end_offset - 4;
        uint32_t got = (uint32_t)end[0] | (uint32_t)end[1] << 8 |
                       (uint32_t)end[2] << 16 | (uint32_t)end[3] << 24;
        assert((status == ROCE_ICRC_GOOD) == (got == want));
    }
}

static void
check_cm(const uint8_t *bytes, uint32_t captured, const roce_packet *p)
{
    roce_cm_message message = {.kind = ROCE_CM_NONE};
    if (roce_cm_decode(bytes, captured, p, &message) != ROCE_DECODED) {
        assert(message.kind == ROCE_CM_NONE);
        return;
    }
    assert(p->bth.dest_qpn == 1);
    assert(strcmp(roce_cm_kind_name(message.kind), "?") != 0);
    assert(roce_cm_reject_name(message.reject_reason) != NULL);
    assert(message.qpn <= 0xffffff && message.starting_psn <= 0xffffff);
    assert(message.retry_count <= 7 && message.rnr_retry_count <= 7);
    assert(message.ack_timeout <= 31 && message.transport_type <= 3);
}

/* The first `captured` of the bytes, of a frame that had `wire`. */
static roce_outcome
look(const uint8_t *data, uint32_t captured, uint32_t wire, uint8_t setting)
{
    static const roce_link links[] = {ROCE_LINK_ETHERNET,    ROCE_LINK_SLL,
                                      ROCE_LINK_SLL2,        ROCE_LINK_RAW,
                                      ROCE_LINK_UNSUPPORTED, ROCE_LINK_LOOPBACK};
    roce_ports ports;
    roce_ports_init(&ports);
    if ((setting & 0x80) != 0) {
        ports = (roce_ports){.port = {4791, 0, 53, 0xffff}, .n_ports = 4};
    }
    uint8_t *bytes = traffic_copy(data, captured);
    const roce_frame frame = {
        .bytes = bytes,
        .captured_bytes = captured,
        .wire_bytes = wire,
        .number = 1,
        .link = links[(setting & 0x7f) % 6],
    };
    roce_packet p;
    decode(&frame, &ports, &p);
    check_around(&p, captured);
    check_packet(&p, captured, wire);
    check_icrc(bytes, captured, &p);
    check_cm(bytes, captured, &p);
    free(bytes);
    return p.outcome;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < SETTINGS || size > 70000) {
        return 0;
    }
    const uint8_t *frame = data + SETTINGS;
    uint32_t captured = (uint32_t)size - SETTINGS;
    uint32_t wire = captured + data[1];
    roce_outcome outcome = look(frame, captured, wire, data[0]);
    uint32_t cut = data[2] < captured ? captured - data[2] : 0;
    roce_outcome cut_outcome = look(frame, cut, wire, data[0]);
    /* The snap length makes nothing malformed. */
    assert(outcome == ROCE_MALFORMED || cut_outcome != ROCE_MALFORMED);
    return 0;
}
