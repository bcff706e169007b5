/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Communication management MADs, field by field (IBTA Vol. 1, 12.6.5
 * to 12.6.14, 12.11). */
#include "packet_maker.h"

#include "roce/cm.h"

#define MAD_SIZE 256
#define UD_SEND_ONLY 0x64
#define RUBBISH 0x5a /* what is in a message before it is read */

/* clang-format off */
/* Base version, class, class version, Send, status, class-specific; transaction id;
 * attribute, reserved, modifier: 24 bytes. */
#define MAD_WITH(base, class, version, attribute)                                       \
    base class version "\x03" "\x00\x00" "\x00\x00" "\x00\x00\x00\x0a\x11\x22\x33\x44"  \
    attribute "\x00\x00" "\x00\x00\x00\x00"
#define MAD(attribute) MAD_WITH("\x01", "\x07", "\x02", attribute)
#define TRANSACTION 0x0000000a11223344

#define REQ_HEAD                                                                        \
    "\xa1\xa2\xa3\xa4"                 /*  0 local communication id */                  \
    "\xee\xee\xee\xee"                 /*  4 reserved */                                \
    "\x00\x00\x00\x00\x01\x06\x12\xb7" /*  8 service id */                              \
    "\xee\xee\xee\xee\xee\xee\xee\xee" /* 16 local CA GUID */                           \
    "\xee\xee\xee\xee"                 /* 24 reserved */                                \
    "\xee\xee\xee\xee"                 /* 28 local Q_Key */                             \
    "\x00\x00\x11" "\x10"              /* 32 local QPN, responder resources 16 */       \
    "\xee\xee\xee" "\x08"              /* 36 local EECN, initiator depth 8 */
#define REQ_PATHS                                                                       \
    "\xee\xee" "\xee\xee"              /* 52 primary local LID, remote LID */           \
    "\xfd\xee\xee\xee\xee\xee\xee\xee\xee\xee\xee\xee\xee\xee\xee\x01" /* 56 local GID */ \
    "\xfd\xee\xee\xee\xee\xee\xee\xee\xee\xee\xee\xee\xee\xee\xee\x02" /* 72 remote GID */ \
    "\xee\xee\xee\xee"                 /* 88 flow label, reserved, packet rate */       \
    "\xee" "\xee" "\xee"               /* 92 traffic class, hop limit, SL */
#define REP_HEAD                                                                        \
    "\xb1\xb2\xb3\xb4"                 /*  0 local communication id */                  \
    "\xa1\xa2\xa3\xa4"                 /*  4 remote communication id */                 \
    "\xee\xee\xee\xee"                 /*  8 local Q_Key */                             \
    "\x00\x00\x22" "\xee"              /* 12 local QPN, reserved */                     \
    "\xee\xee\xee" "\xee"              /* 16 local EECN, reserved */                    \
    "\x6d\x6e\x6f" "\xee"              /* 20 starting PSN, reserved */                  \
    "\x10" "\x08" "\xee"               /* 24 resources, depth, target ACK delay */
#define IDS "\xb1\xb2\xb3\xb4" /* 0 local */ "\xa1\xa2\xa3\xa4" /* 4 remote */

static const struct {
    const char *name;
    const char *bytes; /* of the MAD, as far as fields are read */
    uint32_t n;
    roce_cm_message want;
} cases[] = {
    {"REQ",
     BYTES(MAD("\x00\x10") REQ_HEAD
           "\xee\xee\xee" "\xa1"       /* 40 remote EECN; timeout 20, RC, flow control */
           "\x5a\x5b\x5c" "\xa7"       /* 44 starting PSN; timeout 20, retry count 7 */
           "\xff\xff"                  /* 48 P_Key */
           "\x37"                      /* 50 path MTU 1024, no RDC, RNR retries 7 */
           "\xf0"                      /* 51 CM retries, no SRQ */
           REQ_PATHS
           "\x70"),                    /* 95 local ACK timeout 14 */
     {.kind = ROCE_CM_REQ, .transaction_id = TRANSACTION, .local_comm_id = 0xa1a2a3a4,
      .qpn = 0x11, .starting_psn = 0x5a5b5c, .service_id = 0x010612b7,
      .path_mtu_bytes = 1024, .retry_count = 7, .rnr_retry_count = 7, .ack_timeout = 14,
      .transport_type = 0, .responder_resources = 16, .initiator_depth = 8}},
    {"REQ, UC, least values",
     BYTES(MAD("\x00\x10") REQ_HEAD
           "\xee\xee\xee" "\xfb"       /* 40 remote EECN; timeout 31, UC, flow control */
           "\x00\x00\x00" "\xf8"       /* 44 starting PSN; timeout 31, retry count 0 */
           "\x80\x01"                  /* 48 P_Key */
           "\x18"                      /* 50 path MTU 256, RDC exists, RNR retries 0 */
           "\xff"                      /* 51 CM retries, SRQ, extended type 7 */
           REQ_PATHS
           "\x07"),                    /* 95 local ACK timeout 0: infinite */
     {.kind = ROCE_CM_REQ, .transaction_id = TRANSACTION, .local_comm_id = 0xa1a2a3a4,
      .qpn = 0x11, .service_id = 0x010612b7, .path_mtu_bytes = 256, .transport_type = 1,
      .responder_resources = 16, .initiator_depth = 8}},
    {"REQ, XRC, greatest values",
     BYTES(MAD("\x00\x10") REQ_HEAD
           "\xee\xee\xee" "\x06"       /* 40 remote EECN; timeout 0, extended, none */
           "\xff\xff\xff" "\x07"       /* 44 starting PSN; timeout 0, retry count 7 */
           "\xff\xff"                  /* 48 P_Key */
           "\x57"                      /* 50 path MTU 4096, no RDC, RNR retries 7 */
           "\x01"                      /* 51 no CM retries, no SRQ, XRC */
           REQ_PATHS
           "\xff"),                    /* 95 local ACK timeout 31 */
     {.kind = ROCE_CM_REQ, .transaction_id = TRANSACTION, .local_comm_id = 0xa1a2a3a4,
      .qpn = 0x11, .starting_psn = 0xffffff, .service_id = 0x010612b7,
      .path_mtu_bytes = 4096, .retry_count = 7, .rnr_retry_count = 7, .ack_timeout = 31,
      .transport_type = 3, .responder_resources = 16, .initiator_depth = 8}},
    {"REQ, path MTU code 0 is reserved",
     BYTES(MAD("\x00\x10") REQ_HEAD "\xee\xee\xee\x00" "\x00\x00\x00\x00" "\xff\xff"
           "\x00" "\x00" REQ_PATHS "\x00"),
     {.kind = ROCE_CM_REQ, .transaction_id = TRANSACTION, .local_comm_id = 0xa1a2a3a4,
      .qpn = 0x11, .service_id = 0x010612b7, .path_mtu_bytes = 0,
      .responder_resources = 16, .initiator_depth = 8}},
    {"REQ, path MTU code 6 is reserved",
     BYTES(MAD("\x00\x10") REQ_HEAD "\xee\xee\xee\x00" "\x00\x00\x00\x00" "\xff\xff"
           "\x60" "\x00" REQ_PATHS "\x00"),
     {.kind = ROCE_CM_REQ, .transaction_id = TRANSACTION, .local_comm_id = 0xa1a2a3a4,
      .qpn = 0x11, .service_id = 0x010612b7, .path_mtu_bytes = 0,
      .responder_resources = 16, .initiator_depth = 8}},
    {"REQ, path MTU code 15 is reserved",
     BYTES(MAD("\x00\x10") REQ_HEAD "\xee\xee\xee\x00" "\x00\x00\x00\x00" "\xff\xff"
           "\xf0" "\x00" REQ_PATHS "\x00"),
     {.kind = ROCE_CM_REQ, .transaction_id = TRANSACTION, .local_comm_id = 0xa1a2a3a4,
      .qpn = 0x11, .service_id = 0x010612b7, .path_mtu_bytes = 0,
      .responder_resources = 16, .initiator_depth = 8}},
    {"REP",
     BYTES(MAD("\x00\x13") REP_HEAD
           "\xe0"),                    /* 27 RNR retries 7, no SRQ */
     {.kind = ROCE_CM_REP, .transaction_id = TRANSACTION, .local_comm_id = 0xb1b2b3b4,
      .remote_comm_id = 0xa1a2a3a4, .qpn = 0x22, .starting_psn = 0x6d6e6f,
      .rnr_retry_count = 7, .responder_resources = 16, .initiator_depth = 8}},
    {"REP, no RNR retries",
     BYTES(MAD("\x00\x13") REP_HEAD
           "\x1f"),                    /* 27 RNR retries 0, SRQ */
     {.kind = ROCE_CM_REP, .transaction_id = TRANSACTION, .local_comm_id = 0xb1b2b3b4,
      .remote_comm_id = 0xa1a2a3a4, .qpn = 0x22, .starting_psn = 0x6d6e6f,
      .responder_resources = 16, .initiator_depth = 8}},
    {"RTU", BYTES(MAD("\x00\x14") IDS),
     {.kind = ROCE_CM_RTU, .transaction_id = TRANSACTION, .local_comm_id = 0xb1b2b3b4,
      .remote_comm_id = 0xa1a2a3a4}},
    {"MRA", BYTES(MAD("\x00\x11") IDS),
     {.kind = ROCE_CM_MRA, .transaction_id = TRANSACTION, .local_comm_id = 0xb1b2b3b4,
      .remote_comm_id = 0xa1a2a3a4}},
    {"REJ",
     BYTES(MAD("\x00\x12") IDS
           "\x3f" "\xff"               /*  8 message rejected, length of information */
           "\x00\x1c"),                /* 10 reason: consumer */
     {.kind = ROCE_CM_REJ, .transaction_id = TRANSACTION, .local_comm_id = 0xb1b2b3b4,
      .remote_comm_id = 0xa1a2a3a4, .reject_reason = 28}},
    {"REJ, greatest reason", BYTES(MAD("\x00\x12") IDS "\x00\x00" "\xff\xff"),
     {.kind = ROCE_CM_REJ, .transaction_id = TRANSACTION, .local_comm_id = 0xb1b2b3b4,
      .remote_comm_id = 0xa1a2a3a4, .reject_reason = 0xffff}},
    {"DREQ",
     BYTES(MAD("\x00\x15") IDS
           "\xff\xff\x33"),            /*  8 remote QPN */
     {.kind = ROCE_CM_DREQ, .transaction_id = TRANSACTION, .local_comm_id = 0xb1b2b3b4,
      .remote_comm_id = 0xa1a2a3a4, .qpn = 0xffff33}},
    {"DREP", BYTES(MAD("\x00\x16") IDS),
     {.kind = ROCE_CM_DREP, .transaction_id = TRANSACTION, .local_comm_id = 0xb1b2b3b4,
      .remote_comm_id = 0xa1a2a3a4}},
    {"SIDR_REQ",
     BYTES(MAD("\x00\x17")
           "\xc1\xc2\xc3\xc4"                   /* 0 request id */
           "\xff\xff" "\xee\xee"                /* 4 P_Key, reserved */
           "\x00\x00\x00\x00\x01\x06\x12\xb8"), /* 8 service id */
     {.kind = ROCE_CM_SIDR_REQ, .transaction_id = TRANSACTION,
      .local_comm_id = 0xc1c2c3c4, .service_id = 0x010612b8}},
    {"SIDR_REP",
     BYTES(MAD("\x00\x18")
           "\xc1\xc2\xc3\xc4"                   /*  0 request id */
           "\x02" "\xee" "\xee\xee"             /*  4 status, length, reserved */
           "\x00\x00\x44" "\xee"                /*  8 QPN, reserved */
           "\x00\x00\x00\x00\x01\x06\x12\xb8"), /* 12 service id */
     {.kind = ROCE_CM_SIDR_REP, .transaction_id = TRANSACTION,
      .local_comm_id = 0xc1c2c3c4, .qpn = 0x44, .service_id = 0x010612b8,
      .sidr_status = 2}},
};
/* clang-format on */

/* A UD packet to `qpn` with the MAD in it, padded with rubbish to `mad_size`. */
static void
make_frame(packet_maker *m, uint8_t opcode, uint32_t qpn, const char *mad, uint32_t n,
           uint32_t mad_size)
{
    put_ethernet_ipv4_udp(m, 12 + 8 + mad_size + 4);
    put_number(m, 1, opcode);
    put_bytes(m, "\x40\xff\xff\x00", 4);
    put_number(m, 3, qpn);
    put_bytes(m, "\x00\x00\x00\x07", 4);
    put_bytes(m, "\x80\x01\x00\x00\x00\x00\x00\x01", 8); /* DETH */
    put_bytes(m, mad, n < mad_size ? n : mad_size);
    for (uint32_t i = n; i < mad_size; i++) {
        put_number(m, 1, 0xee);
    }
    put_bytes(m, ICRC, 4);
}

/* Reads the MAD into a message that held rubbish. */
static roce_outcome
decode_cm(const packet_maker *m, uint32_t captured, roce_cm_message *message)
{
    memset(message, RUBBISH, sizeof *message);
    roce_packet p;
    decode(ROCE_LINK_ETHERNET, m->bytes, captured, m->n, &p);
    uint8_t *copy = malloc(captured + 1);
    if (copy == NULL) {
        abort();
    }
    memcpy(copy + 1, m->bytes, captured); /* ends with the memory */
    roce_outcome outcome = roce_cm_decode(copy + 1, captured, &p, message);
    free(copy);
    return outcome;
}

static bool
check_message(const roce_cm_message *got, const roce_cm_message *want)
{
    unsigned n_failed = check_state.n_failed;
    CHECK_INT(got->kind, want->kind);
    CHECK_INT(got->transaction_id, want->transaction_id);
    CHECK_INT(got->local_comm_id, want->local_comm_id);
    CHECK_INT(got->remote_comm_id, want->remote_comm_id);
    CHECK_INT(got->qpn, want->qpn);
    CHECK_INT(got->starting_psn, want->starting_psn);
    CHECK_INT(got->service_id, want->service_id);
    CHECK_INT(got->path_mtu_bytes, want->path_mtu_bytes);
    CHECK_INT(got->retry_count, want->retry_count);
    CHECK_INT(got->rnr_retry_count, want->rnr_retry_count);
    CHECK_INT(got->ack_timeout, want->ack_timeout);
    CHECK_INT(got->transport_type, want->transport_type);
    CHECK_INT(got->responder_resources, want->responder_resources);
    CHECK_INT(got->initiator_depth, want->initiator_depth);
    CHECK_INT(got->reject_reason, want->reject_reason);
    return check_state.n_failed == n_failed;
}

/* Nothing was written. */
static bool
check_untouched(const roce_cm_message *message)
{
    const uint8_t *bytes = (const uint8_t *)message;
    size_t n_written = 0;
    for (size_t i = 0; i < sizeof *message; i++) {
        n_written += bytes[i] != RUBBISH ? 1 : 0;
    }
    return CHECK_INT(n_written, 0);
}

static void
test_messages(void)
{
    for (size_t i = 0; i < N_ROWS(cases); i++) {
        check_row(cases[i].name);
        packet_maker m = {0};
        make_frame(&m, UD_SEND_ONLY, 1, cases[i].bytes, cases[i].n, MAD_SIZE);
        roce_cm_message message;
        CHECK_INT(decode_cm(&m, m.n, &message), ROCE_DECODED);
        check_message(&message, &cases[i].want);
    }
}

/* Every number of captured bytes: truncated until the last field is there. */
static void
test_cut(void)
{
    for (size_t i = 0; i < N_ROWS(cases); i++) {
        check_row(cases[i].name);
        packet_maker m = {0};
        make_frame(&m, UD_SEND_ONLY, 1, cases[i].bytes, cases[i].n, MAD_SIZE);
        uint32_t mad_at = m.n - 4 - MAD_SIZE;
        uint32_t bth_end = mad_at - 8;
        for (uint32_t captured = 0; captured <= m.n; captured++) {
            roce_cm_message message;
            roce_outcome got = decode_cm(&m, captured, &message);
            bool holds = true;
            if (captured < bth_end) {
                holds = CHECK_INT(got, ROCE_NOT_OURS) && check_untouched(&message);
            } else if (captured < mad_at + cases[i].n) {
                holds = CHECK_INT(got, ROCE_TRUNCATED) && check_untouched(&message);
            } else {
                holds = CHECK_INT(got, ROCE_DECODED) &&
                        check_message(&message, &cases[i].want);
            }
            if (!holds) {
                fprintf(stderr, "    with %u bytes captured\n", captured);
                break;
            }
        }
    }
}

/* A MAD that is too short on the wire is none. */
static void
test_short(void)
{
    for (size_t i = 0; i < N_ROWS(cases); i++) {
        check_row(cases[i].name);
        for (uint32_t size = 0; size <= cases[i].n; size++) {
            packet_maker m = {0};
            make_frame(&m, UD_SEND_ONLY, 1, cases[i].bytes, cases[i].n, size);
            roce_cm_message message;
            roce_outcome got = decode_cm(&m, m.n, &message);
            if (!CHECK_INT(got, size < cases[i].n ? ROCE_NOT_OURS : ROCE_DECODED)) {
                fprintf(stderr, "    with %u bytes on the wire\n", size);
                break;
            }
            if (size < cases[i].n) {
                check_untouched(&message);
            }
        }
    }
}

static void
test_others(void)
{
    static const struct {
        const char *name;
        uint8_t opcode;
        uint32_t qpn;
        const char *mad;
        uint32_t n;
        roce_outcome want;
    } rows[] = {
        {"RTU", 0x64, 1, BYTES(MAD("\x00\x14") IDS), ROCE_DECODED},
        {"with immediate data", 0x65, 1, BYTES("\0\0\0\0" MAD("\x00\x14") IDS),
         ROCE_DECODED},
        {"to QP 0", 0x64, 0, BYTES(MAD("\x00\x14") IDS), ROCE_NOT_OURS},
        {"to QP 2", 0x64, 2, BYTES(MAD("\x00\x14") IDS), ROCE_NOT_OURS},
        {"to QP 0x010001", 0x64, 0x010001, BYTES(MAD("\x00\x14") IDS), ROCE_NOT_OURS},
        {"RC to QP 1", 0x04, 1, BYTES(MAD("\x00\x14") IDS), ROCE_NOT_OURS},
        {"base version 0", 0x64, 1,
         BYTES(MAD_WITH("\x00", "\x07", "\x02", "\x00\x14") IDS), ROCE_NOT_OURS},
        {"base version 2", 0x64, 1,
         BYTES(MAD_WITH("\x02", "\x07", "\x02", "\x00\x14") IDS), ROCE_NOT_OURS},
        {"class 3, SA", 0x64, 1,
         BYTES(MAD_WITH("\x01", "\x03", "\x02", "\x00\x14") IDS), ROCE_NOT_OURS},
        {"class 6", 0x64, 1, BYTES(MAD_WITH("\x01", "\x06", "\x02", "\x00\x14") IDS),
         ROCE_NOT_OURS},
        {"class 8", 0x64, 1, BYTES(MAD_WITH("\x01", "\x08", "\x02", "\x00\x14") IDS),
         ROCE_NOT_OURS},
        {"class version 1", 0x64, 1,
         BYTES(MAD_WITH("\x01", "\x07", "\x01", "\x00\x14") IDS), ROCE_NOT_OURS},
        {"class version 3", 0x64, 1,
         BYTES(MAD_WITH("\x01", "\x07", "\x03", "\x00\x14") IDS), ROCE_NOT_OURS},
        {"attribute 0, none of ours", 0x64, 1, BYTES(MAD("\x00\x00") IDS),
         ROCE_NOT_OURS},
        {"attribute 1, ClassPortInfo", 0x64, 1, BYTES(MAD("\x00\x01") IDS),
         ROCE_NOT_OURS},
        {"attribute 0x0f", 0x64, 1, BYTES(MAD("\x00\x0f") IDS), ROCE_NOT_OURS},
        {"attribute 0x19, LAP", 0x64, 1, BYTES(MAD("\x00\x19") IDS), ROCE_NOT_OURS},
        {"attribute 0x1014", 0x64, 1, BYTES(MAD("\x10\x14") IDS), ROCE_NOT_OURS},
    };
    for (size_t i = 0; i < N_ROWS(rows); i++) {
        check_row(rows[i].name);
        packet_maker m = {0};
        make_frame(&m, rows[i].opcode, rows[i].qpn, rows[i].mad, rows[i].n, MAD_SIZE);
        roce_cm_message message;
        CHECK_INT(decode_cm(&m, m.n, &message), rows[i].want);
        if (rows[i].want != ROCE_DECODED) {
            check_untouched(&message);
        }
    }
}

static void
test_names(void)
{
    static const struct {
        roce_cm_kind kind;
        const char *name;
    } kinds[] = {
        {ROCE_CM_NONE, "?"},
        {ROCE_CM_REQ, "REQ"},
        {ROCE_CM_MRA, "MRA"},
        {ROCE_CM_REJ, "REJ"},
        {ROCE_CM_REP, "REP"},
        {ROCE_CM_RTU, "RTU"},
        {ROCE_CM_DREQ, "DREQ"},
        {ROCE_CM_DREP, "DREP"},
        {ROCE_CM_SIDR_REQ, "SIDR_REQ"},
        {ROCE_CM_SIDR_REP, "SIDR_REP"},
        {(roce_cm_kind)0x0f, "?"},
        {(roce_cm_kind)0x19, "?"},
    };
    for (size_t i = 0; i < N_ROWS(kinds); i++) {
        check_row(kinds[i].name);
        CHECK_STR(roce_cm_kind_name(kinds[i].kind), kinds[i].name);
    }
    static const struct {
        uint16_t reason;
        const char *name;
    } reasons[] = {
        {0, "reserved"},
        {1, "no QP available"},
        {4, "timeout"},
        {6, "invalid communication ID"},
        {8, "invalid service ID"},
        {10, "stale connection"},
        {26, "invalid path MTU"},
        {28, "consumer reject"},
        {29, "RNR retry count reject"},
        {33, "invalid alternate flow label"},
        {34, "reserved"},
        {0xffff, "reserved"},
    };
    for (size_t i = 0; i < N_ROWS(reasons); i++) {
        check_row(reasons[i].name);
        CHECK_STR(roce_cm_reject_name(reasons[i].reason), reasons[i].name);
    }
    check_row("SIDR REP");
    CHECK_STR(roce_cm_sidr_status_name(0), "QPN valid");
    CHECK_STR(roce_cm_sidr_status_name(1), "service ID not supported");
    CHECK_STR(roce_cm_sidr_status_name(5), "class version not supported");
    CHECK_STR(roce_cm_sidr_status_name(6), "reserved");
    CHECK_STR(roce_cm_sidr_status_name(255), "reserved");
}

int
main(void)
{
    test_messages();
    test_cut();
    test_short();
    test_others();
    test_names();
    return check_status();
}
