/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "roce/aeth.h"

/* IBTA Vol. 1, 9.7.5.2.8, table 45: RNR NAK timer, in units of 10 us. */
/* clang-format off */
static const uint32_t rnr_timer_10us[32] = {
    65536, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768,
    1024, 1536, 2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152,
};

/* IBTA Vol. 1, 9.7.7.2, table 47: end-to-end flow control credits. */
static const uint32_t credits[32] = {
    0, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024,
    1536, 2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768,
    ROCE_AETH_CREDITS_UNLIMITED,
};
/* clang-format on */

static const char *const nak_names[] = {
    [ROCE_NAK_PSN_SEQUENCE] = "PSN sequence error",
    [ROCE_NAK_INVALID_REQUEST] = "invalid request",
    [ROCE_NAK_REMOTE_ACCESS] = "remote access error",
    [ROCE_NAK_REMOTE_OPERATIONAL] = "remote operational error",
    [ROCE_NAK_INVALID_RD_REQUEST] = "invalid RD request",
};

roce_aeth_kind
roce_aeth_get_kind(uint8_t syndrome)
{
    return (roce_aeth_kind)(syndrome >> 5 & 3);
}

unsigned
roce_aeth_get_value(uint8_t syndrome)
{
    return syndrome & 0x1f;
}

uint32_t
roce_aeth_credits(unsigned code)
{
    return credits[code & 0x1f];
}

uint64_t
roce_aeth_rnr_timer_ns(unsigned code)
{
    return (uint64_t)rnr_timer_10us[code & 0x1f] * 10000;
}

uint64_t
roce_aeth_wait_ns(uint8_t syndrome)
{
    return roce_aeth_get_kind(syndrome) == ROCE_AETH_RNR_NAK
               ? roce_aeth_rnr_timer_ns(roce_aeth_get_value(syndrome))
               : 0;
}

const char *
roce_nak_code_name(unsigned code)
{
    if (code >= sizeof nak_names / sizeof nak_names[0]) {
        return "reserved NAK code";
    }
    return nak_names[code];
}
