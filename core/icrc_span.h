/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where in a frame the bytes stand that an ICRC is over.
 *
 * The one rule: whoever made it has seen that they were captured.
 */
#ifndef ROCE_CORE_ICRC_SPAN_H
#define ROCE_CORE_ICRC_SPAN_H

#include "roce/icrc.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct roce_icrc_span {
    uint32_t ip_at,
        bth_at;   /* at most ROCE_ICRC_MAX_HEADERS from one to behind the other */
    uint32_t end; /* one beyond the ICRC */
    bool is_ipv4;
    bool is_grh; /* RoCEv1: no UDP */
} roce_icrc_span;

/* IPv6 with every extension that decoding walks may be longer. */
#define ROCE_ICRC_MAX_HEADERS 512

/* icrc.c: the ICRC that ought to stand there, in host order. */
uint32_t
roce_icrc_of_span(const uint8_t *frame, const roce_icrc_span *span,
                  roce_crc32_fn crc32);

#endif
