/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The AETH syndrome (IBTA Vol. 1, 9.7.5.1.2 table 43 and following).
 *
 * The one rule: only bits 6:5 tell an ACK from a NAK; the low five bits mean something
 * different for each kind.
 */
#ifndef ROCE_AETH_H
#define ROCE_AETH_H

#include "roce/linkage.h"

#include <stdint.h>

ROCE_BEGIN

typedef enum roce_aeth_kind {
    ROCE_AETH_ACK = 0,
    ROCE_AETH_RNR_NAK = 1,
    ROCE_AETH_RESERVED = 2,
    ROCE_AETH_NAK = 3,
} roce_aeth_kind;

typedef enum roce_nak_code {
    ROCE_NAK_PSN_SEQUENCE = 0,
    ROCE_NAK_INVALID_REQUEST = 1,
    ROCE_NAK_REMOTE_ACCESS = 2,
    ROCE_NAK_REMOTE_OPERATIONAL = 3,
    ROCE_NAK_INVALID_RD_REQUEST = 4,
} roce_nak_code;

#define ROCE_AETH_CREDITS_UNLIMITED UINT32_MAX

roce_aeth_kind
roce_aeth_get_kind(uint8_t syndrome);

/* The low five bits: credit code, RNR timer code or NAK code. */
unsigned
roce_aeth_get_value(uint8_t syndrome);

/* Receive credits of a credit code 0..31; 31 is ROCE_AETH_CREDITS_UNLIMITED. */
uint32_t
roce_aeth_credits(unsigned code);

/* Nanoseconds that an RNR timer code 0..31 asks the requester to wait at least. */
uint64_t
roce_aeth_rnr_timer_ns(unsigned code);
/* The same that an AETH asks for: 0, unless it is an RNR NAK. */
uint64_t
roce_aeth_wait_ns(uint8_t syndrome);

/* "PSN sequence error", ...; "reserved NAK code" for the others. */
const char *
roce_nak_code_name(unsigned code);

ROCE_END

#endif
