/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ICRC over a packet as it lies in a frame.  The headers are copied and masked, the
 * rest is read in place.  RoCEv2: eight bytes of ones stand for the LRH, then IP, UDP,
 * BTH with the variable fields as ones (IBTA A17.3.3).  RoCEv1: likewise with the GRH
 * (A16.4.2).
 */
#include "icrc_span.h"

#include "bytes.h"
#include "roce/error.h"

#include <string.h>

#define LRH_BYTES 8
#define BTH_BYTES 12
#define ICRC_BYTES 4

static void
mask_ipv4(uint8_t *ip)
{
    ip[1] = 0xff;           /* type of service */
    ip[8] = 0xff;           /* time to live */
    ip[10] = ip[11] = 0xff; /* header checksum */
}

static void
mask_ipv6(uint8_t *ip)
{
    ip[0] |= 0x0f; /* traffic class, flow label */
    ip[1] = ip[2] = ip[3] = 0xff;
    ip[7] = 0xff; /* hop limit */
}

uint32_t
roce_icrc_of_span(const uint8_t *frame, const roce_icrc_span *span, roce_crc32_fn crc32)
{
    uint32_t headers = span->bth_at + BTH_BYTES - span->ip_at;
    uint8_t masked[LRH_BYTES + ROCE_ICRC_MAX_HEADERS];
    memset(masked, 0xff, LRH_BYTES);
    uint8_t *ip = masked + LRH_BYTES;
    memcpy(ip, frame + span->ip_at, headers);
    if (span->is_ipv4) {
        mask_ipv4(ip);
    } else {
        mask_ipv6(ip);
    }
    uint8_t *bth = ip + headers - BTH_BYTES;
    if (!span->is_grh) {
        bth[-2] = bth[-1] = 0xff; /* UDP checksum */
    }
    bth[4] = 0xff; /* FECN, BECN and the six bits beside them */
    uint32_t rest = span->bth_at + BTH_BYTES;
    uint32_t crc = crc32(0, masked, LRH_BYTES + headers);
    return crc32(crc, frame + rest, span->end - ICRC_BYTES - rest);
}

int
roce_icrc_compute(const uint8_t *frame, uint32_t captured_bytes,
                  const roce_packet *packet, roce_crc32_fn crc32, uint32_t *icrc)
{
    if (packet->kind != ROCE_CLASS_ROCE ||
        !roce_packet_has_icrc(packet, captured_bytes) ||
        packet->end_offset < packet->bth_offset + BTH_BYTES + ICRC_BYTES ||
        packet->bth_offset < packet->ip_offset + 28 ||
        packet->bth_offset + BTH_BYTES > packet->ip_offset + ROCE_ICRC_MAX_HEADERS) {
        return ROCE_ERROR_INVALID;
    }
    const roce_icrc_span span = {
        .ip_at = packet->ip_offset,
        .bth_at = packet->bth_offset,
        .end = packet->end_offset,
        .is_ipv4 = packet->src.family == 4,
        .is_grh = packet->is_grh,
    };
    *icrc = roce_icrc_of_span(frame, &span, crc32);
    return ROCE_OK;
}

roce_icrc_status
roce_icrc_check(const uint8_t *frame, uint32_t captured_bytes,
                const roce_packet *packet, roce_crc32_fn crc32)
{
    uint32_t want;
    if (roce_icrc_compute(frame, captured_bytes, packet, crc32, &want) != ROCE_OK) {
        return ROCE_ICRC_TRUNCATED;
    }
    uint32_t got = roce_le32(frame + packet->end_offset - ICRC_BYTES);
    return got == want ? ROCE_ICRC_GOOD : ROCE_ICRC_BAD;
}
