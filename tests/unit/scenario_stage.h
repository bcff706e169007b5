/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What scenario.c and scenario_packet.c share; nobody else includes it. */
#ifndef SCENARIO_STAGE_H
#define SCENARIO_STAGE_H

#include "scenario.h"

#define SCENARIO_MAX_SENT 200000
#define SCENARIO_MAD_BYTES 256
#define SCENARIO_ICRC_BYTES 4
#define SCENARIO_READ_BYTES 56 /* before its ICRC */

typedef enum act_kind {
    ACT_PACKET,
    ACT_CM,
    ACT_PFC,
    ACT_PAUSE,
} act_kind;

typedef struct script_act {
    const char *what;
    act_kind kind;
    uint8_t opcode;
    uint8_t syndrome;
    uint16_t cm; /* roce_cm_kind */
} script_act;

typedef enum flag {
    FLAG_DROP = 1 << 0,
    FLAG_BAD = 1 << 1,
    FLAG_CUT = 1 << 2,
    FLAG_WEAK = 1 << 3,
} flag;

typedef enum option_key {
    OPTION_LEN,
    OPTION_COPY,
    OPTION_TIMER,
    OPTION_QUANTA,
    OPTION_POINT,
    OPTION_DQPN,
    OPTION_PORT,
    OPTION_QPN,
    OPTION_PSN,
    OPTION_COMM,
    OPTION_RCOMM,
    OPTION_REASON,
    OPTION_ECN,
    OPTION_IDENT,
    OPTION_VNI,
    OPTION_AROUND,
    OPTION_VA,
    OPTION_MSN,
    N_OPTIONS,
} option_key;

typedef struct options {
    unsigned flags;
    bool given[N_OPTIONS];
    uint32_t value[N_OPTIONS];
} options;

/* A packet that was sent, for copies of it. */
typedef struct sent {
    char who;
    uint8_t queue_pair, opcode;
    uint32_t psn24;
    uint16_t ident;
} sent;

typedef struct stage {
    const scenario *row;
    scenario_outcome *out;
    roce_tracker *tracker;
    uint64_t now_ns;
    uint64_t frames;
    options all;
    sent *sent;
    size_t n_sent;
    uint16_t next_ident[3][10]; /* of a, b and x */
    uint32_t noise;
    uint8_t bytes[SCENARIO_MAD_BYTES + SCENARIO_ICRC_BYTES];
} stage;

/* Notes that the script is wrong, the first time. */
void
scenario_trouble(stage *g, const char *what, const char *where);

/* The address of a host, by the last byte: 1 is a, 2 is b. */
roce_addr
scenario_host(const stage *g, uint8_t number);

/* Sends one packet, and lets the tracker see it. */
void
scenario_play_packet(stage *g, const script_act *act, char who, unsigned qp,
                     uint32_t psn24, const options *o);

/* Sends one pause frame. */
void
scenario_play_pause(stage *g, act_kind kind, unsigned mac, uint16_t enabled,
                    const options *o);

#endif
