/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Frames of RoCEv2 as NICs put them on the wire: Ethernet, IPv4, UDP, BTH and what its
 * opcode carries, payload and ICRC (IBTA Vol. 1, 9.2 to 9.3 and annex A17); and of TCP.
 *
 * The one rule: the same values give the same bytes, and only the bytes that a capture
 * keeps are made.
 */
#ifndef FRAME_H
#define FRAME_H

#include <stdbool.h>
#include <stdint.h>

/* No frame is longer: headers, 4096 bytes of payload, ICRC. */
#define FRAME_MAX_BYTES 4352

#define TOS_DATA 0x6a /* DSCP 26, ECT(0) */
#define TOS_CNP 0xc0  /* DSCP 48, not ECT */
#define TOS_CE 0x03   /* or'ed to the others: marked */

/* Opcodes, and the rows of the opcode table that frame_init() finds. */
typedef enum opcode_kind {
    WRITE_FIRST,
    WRITE_MIDDLE,
    WRITE_LAST,
    WRITE_ONLY,
    READ_REQUEST,
    RESPONSE_FIRST,
    RESPONSE_MIDDLE,
    RESPONSE_LAST,
    RESPONSE_ONLY,
    ACKNOWLEDGE,
    CNP,
    N_OPCODE_KINDS,
} opcode_kind;

typedef enum bth_flags {
    BTH_NO_FLAGS = 0,
    BTH_ACK_REQUEST = 1 << 0,
    BTH_BECN = 1 << 1,
} bth_flags;

/* What a frame says.  Fields of headers that the opcode does not carry are not read, and of
 * TCP no field behind payload_bytes. */
typedef struct frame_values {
    bool is_tcp;
    opcode_kind kind;
    bth_flags flags;
    uint32_t src_host, dst_host; /* below 2^24 - 1; addresses are made of them */
    uint16_t src_port;
    uint16_t identification;
    uint8_t tos;
    uint32_t psn24;          /* of TCP, the sequence number */
    uint32_t payload_bytes;  /* 0 to 4096 */
    uint32_t dst_qpn;        /* 24 bits */
    uint64_t remote_address; /* RETH */
    uint32_t dma_bytes;      /* RETH */
    uint8_t syndrome;        /* AETH */
    uint32_t msn;            /* AETH, 24 bits */
} frame_values;

/* Bytes of a frame. */
typedef struct frame_bytes {
    uint32_t wire_bytes;
    uint32_t captured_bytes; /* as many of them were made */
    uint8_t bytes[FRAME_MAX_BYTES];
} frame_bytes;

/* To be called first; aborts if the opcode table lacks a name. */
void
frame_init(void);

/* Makes a frame of which a capture keeps at most `snap_bytes`. */
void
frame_make(const frame_values *values, uint32_t snap_bytes, frame_bytes *to);

#endif
