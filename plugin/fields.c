/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Protocol rocev2: its fields and its tree.
 *
 * The one rule: values are core's, out of a roce_packet; a row here only says where on
 * the wire a value stood and how it is shown.  Names and bases are those of
 * infiniband.*, so that a filter is carried over by its prefix.
 *
 * The ICRC is shown in the order of its bytes on the wire, as infiniband.invariant.crc
 * is.
 *
 * Limitations: headers of DC packets are not public and are not shown.
 */
#include "words.h"

#include <epan/tap.h>

#include "roce/aeth.h"

#include <stddef.h>

#define BTH_BYTES 12
#define ICRC_BYTES 4
#define N_CODES 32     /* of an AETH's low five bits */
#define N_CODEPOINTS 4 /* of ECN */

/* clang-format off */
typedef enum field {
    F_BTH, F_OPCODE, F_SE, F_M, F_PADCNT, F_TVER, F_P_KEY, F_FECN, F_BECN, F_DESTQP,
    F_A, F_PSN, F_BTH_RESERVED6, F_BTH_RESERVED7,
    F_RDETH, F_EECNXT,
    F_DETH, F_Q_KEY, F_SRCQP,
    F_XRCETH, F_XRC_SRQ,
    F_FETH, F_FETH_SEL, F_FETH_PLT,
    F_RETH, F_RETH_VA, F_RETH_R_KEY, F_DMALEN,
    F_ATOMICETH, F_ATOMIC_VA, F_ATOMIC_R_KEY, F_SWAPDT, F_CMPDT,
    F_AETH, F_SYNDROME, F_SYNDROME_RESERVED, F_AETH_KIND, F_CREDITS, F_TIMER, F_NAK_CODE, F_AETH_RESERVED,
    F_MSN,
    F_ATOMICACK, F_ORIGREMDT,
    F_IMMDT, F_IMMDT_DATA,
    F_IETH, F_IETH_R_KEY,
    F_CNP,
    F_ECN, F_DSCP, F_QUEUE_DSCP, F_QUEUE_PCP, F_TENANT,
    F_PAYLOAD_LENGTH, F_PAD, F_ICRC, F_ICRC_STATUS, F_ICRC_WANT,
    N_FIELDS,
} field;
/* clang-format on */

typedef enum subtree {
    TREE_ROCE,
    TREE_BTH,
    TREE_HEADER,
    TREE_SYNDROME,
    TREE_ICRC,
    N_SUBTREES,
} subtree;

/* Ids that Wireshark hands out at registration. */
static int hf[N_FIELDS];
static gint ett[N_SUBTREES] = {-1, -1, -1, -1, -1};
_Static_assert(N_SUBTREES == 5, "each subtree starts as -1 (4.0 wants it)");
static expert_field ei_icrc_bad = EI_INIT;
static expert_field ei_icrc_odd = EI_INIT;
static expert_field ei_malformed = EI_INIT;
static expert_field ei_truncated = EI_INIT;

/* Filled from core's tables at registration, one more each for the end. */
static value_string opcode_names[256 + 1];
static value_string credit_names[N_CODES + 1];
static value_string timer_names[N_CODES + 1];
static value_string nak_names[N_CODES + 1];
static value_string ecn_names[N_CODEPOINTS + 1];

static const value_string aeth_kind_names[] = {
    {ROCE_AETH_ACK, "ACK"},
    {ROCE_AETH_RNR_NAK, "RNR NAK"},
    {ROCE_AETH_RESERVED, "Reserved"},
    {ROCE_AETH_NAK, "NAK"},
    {0, NULL},
};

/* The numbers of Wireshark's own checksum fields. */
typedef enum icrc_shown {
    ICRC_SHOWN_BAD = 0,
    ICRC_SHOWN_GOOD = 1,
    ICRC_SHOWN_UNCHECKED = 2,
} icrc_shown;
static const value_string icrc_names[] = {
    {ICRC_SHOWN_BAD, "Bad"},
    {ICRC_SHOWN_GOOD, "Good"},
    {ICRC_SHOWN_UNCHECKED, "Unchecked"},
    {0, NULL},
};

/* Annex A19: what a FLUSH covers, in the bits where captures/02k_allops has it (a FLUSH
 * of 4,096 bytes has 0, one of the whole region 0x10); Wireshark 4.4 reads others. */
static const value_string feth_sel_names[] = {
    {0, "memory region range"},
    {1, "memory region"},
    {0, NULL},
};

/* clang-format off */
#define ROCE "rocev2."
#define MASKED(id, text, name, type, base, strings, mask)                              \
    {&hf[id], {text, ROCE name, FT_##type, BASE_##base, strings, mask, NULL, HFILL}}
#define FIELD(id, text, name, type, base) MASKED(id, text, name, type, base, NULL, 0)
#define HEADER(id, text, name) FIELD(id, text, name, BYTES, NONE)
#define FLAG(id, text, name, mask)                                                     \
    {&hf[id], {text, ROCE name, FT_BOOLEAN, 8, NULL, mask, NULL, HFILL}}

static hf_register_info fields[] = {
    HEADER(F_BTH, "Base Transport Header", "bth"),
    MASKED(F_OPCODE, "Opcode", "bth.opcode", UINT8, DEC, VALS(opcode_names), 0),
    FLAG(F_SE, "Solicited Event", "bth.se", 0x80),
    FLAG(F_M, "MigReq", "bth.m", 0x40),
    MASKED(F_PADCNT, "Pad Count", "bth.padcnt", UINT8, DEC, NULL, 0x30),
    MASKED(F_TVER, "Header Version", "bth.tver", UINT8, DEC, NULL, 0x0f),
    FIELD(F_P_KEY, "Partition Key", "bth.p_key", UINT16, DEC_HEX),
    FLAG(F_FECN, "FECN", "bth.fecn", 0x80),
    FLAG(F_BECN, "BECN", "bth.becn", 0x40),
    FIELD(F_DESTQP, "Destination Queue Pair", "bth.destqp", UINT24, HEX),
    FLAG(F_A, "Acknowledge Request", "bth.a", 0x80),
    MASKED(F_BTH_RESERVED6, "Reserved (6 bits)", "bth.reserved6", UINT8, HEX, NULL, 0x3f),
    MASKED(F_BTH_RESERVED7, "Reserved (7 bits)", "bth.reserved7", UINT8, HEX, NULL, 0x7f),
    FIELD(F_PSN, "Packet Sequence Number", "bth.psn", UINT24, DEC),

    HEADER(F_RDETH, "RDETH - Reliable Datagram Extended Transport Header", "rdeth"),
    FIELD(F_EECNXT, "E2E Context", "rdeth.eecnxt", UINT24, DEC),
    HEADER(F_DETH, "DETH - Datagram Extended Transport Header", "deth"),
    FIELD(F_Q_KEY, "Queue Key", "deth.q_key", UINT32, HEX),
    FIELD(F_SRCQP, "Source Queue Pair", "deth.srcqp", UINT24, HEX),
    HEADER(F_XRCETH, "XRCETH - XRC Extended Transport Header", "xrceth"),
    FIELD(F_XRC_SRQ, "XRC Shared Receive Queue", "xrceth.srq", UINT24, HEX),
    HEADER(F_FETH, "FETH - FLUSH Extended Transport Header", "feth"),
    MASKED(F_FETH_SEL, "Selectivity Level", "feth.sel", UINT32, DEC,
           VALS(feth_sel_names), 0x30),
    MASKED(F_FETH_PLT, "Placement Type", "feth.plt", UINT32, HEX, NULL, 0x0f),
    HEADER(F_RETH, "RETH - RDMA Extended Transport Header", "reth"),
    FIELD(F_RETH_VA, "Virtual Address", "reth.va", UINT64, HEX),
    FIELD(F_RETH_R_KEY, "Remote Key", "reth.r_key", UINT32, HEX),
    FIELD(F_DMALEN, "DMA Length", "reth.dmalen", UINT32, DEC_HEX),
    HEADER(F_ATOMICETH, "AtomicETH - Atomic Extended Transport Header", "atomiceth"),
    FIELD(F_ATOMIC_VA, "Virtual Address", "atomiceth.va", UINT64, HEX),
    FIELD(F_ATOMIC_R_KEY, "Remote Key", "atomiceth.r_key", UINT32, HEX),
    FIELD(F_SWAPDT, "Swap (Or Add) Data", "atomiceth.swapdt", UINT64, DEC),
    FIELD(F_CMPDT, "Compare Data", "atomiceth.cmpdt", UINT64, DEC),
    HEADER(F_AETH, "AETH - ACK Extended Transport Header", "aeth"),
    FIELD(F_SYNDROME, "Syndrome", "aeth.syndrome", UINT8, DEC),
    MASKED(F_SYNDROME_RESERVED, "Reserved", "aeth.syndrome.reserved", UINT8, DEC, NULL,
           0x80),
    MASKED(F_AETH_KIND, "OpCode", "aeth.syndrome.opcode", UINT8, DEC,
           VALS(aeth_kind_names), 0x60),
    MASKED(F_CREDITS, "Credit Count", "aeth.syndrome.credit_count", UINT8, DEC,
           VALS(credit_names), 0x1f),
    MASKED(F_TIMER, "Timer", "aeth.syndrome.timer", UINT8, DEC, VALS(timer_names),
           0x1f),
    MASKED(F_NAK_CODE, "Error Code", "aeth.syndrome.error_code", UINT8, DEC,
           VALS(nak_names), 0x1f),
    MASKED(F_AETH_RESERVED, "Reserved", "aeth.syndrome.reserved_value", UINT8, DEC,
           NULL, 0x1f),
    FIELD(F_MSN, "Message Sequence Number", "aeth.msn", UINT24, DEC),
    HEADER(F_ATOMICACK, "AtomicAckETH - Atomic ACK Extended Transport Header",
           "atomicack"),
    FIELD(F_ORIGREMDT, "Original Remote Data", "atomicack.origremdt", UINT64, DEC),
    HEADER(F_IMMDT, "ImmDt - Immediate Data", "immdt"),
    FIELD(F_IMMDT_DATA, "Data", "immdt.data", UINT32, HEX),
    HEADER(F_IETH, "IETH - Invalidate Extended Transport Header", "ieth"),
    FIELD(F_IETH_R_KEY, "Remote Key", "ieth.r_key", UINT32, HEX),
    HEADER(F_CNP, "Congestion Notification: reserved", "cnp"),

    {&hf[F_ECN], {"ECN", ROCE "ecn", FT_UINT8, BASE_DEC, VALS(ecn_names), 0,
                  "As the packet arrives: of its own IP header and of tunnels around it, "
                  "but not of a mirror's headers", HFILL}},
    {&hf[F_DSCP], {"DSCP", ROCE "dscp", FT_UINT8, BASE_DEC, NULL, 0,
                   "Of the packet's own IP header, not of headers around it", HFILL}},
    {&hf[F_QUEUE_DSCP], {"DSCP that it is queued by", ROCE "queue.dscp", FT_UINT8, BASE_DEC,
                         NULL, 0, "Of the outermost IP header, but for those of mirrors",
                         HFILL}},
    {&hf[F_QUEUE_PCP], {"PCP that it is queued by", ROCE "queue.pcp", FT_UINT8, BASE_DEC,
                        NULL, 0, "Of the outermost VLAN tag, but for those of mirrors",
                        HFILL}},
    {&hf[F_TENANT], {"Tenant", ROCE "tenant", FT_STRING, BASE_NONE, NULL, 0,
                     "The overlay network that the packet runs in", HFILL}},
    FIELD(F_PAYLOAD_LENGTH, "Payload Length", "payload_length", UINT32, DEC),
    HEADER(F_PAD, "Pad", "pad"),
    FIELD(F_ICRC, "Invariant CRC", "icrc", UINT32, HEX),
    MASKED(F_ICRC_STATUS, "ICRC Status", "icrc.status", UINT8, NONE,
           VALS(icrc_names), 0),
    FIELD(F_ICRC_WANT, "Calculated ICRC", "icrc.calculated", UINT32, HEX),
};
_Static_assert(sizeof fields / sizeof fields[0] == N_FIELDS, "one row per field");
/* clang-format on */

/* How a value is kept in a roce_packet. */
typedef enum member_kind {
    MEMBER_BOOL,
    MEMBER_U8,
    MEMBER_U16,
    MEMBER_U32,
    MEMBER_U64,
} member_kind;

/* One value in a header. */
typedef struct leaf {
    field field;
    uint8_t offset, size; /* bytes, from the start of its header */
    uint8_t shift;        /* bits that the field's mask is moved by */
    member_kind kind;
    size_t member; /* where in a roce_packet */
} leaf;

/* One extension header.  A syndrome has a subtree besides. */
typedef struct header_row {
    field field;
    uint8_t n_leaves;
    leaf leaves[4];
} header_row;

/* clang-format off */
#define KIND(of)                                                                       \
    _Generic(((roce_packet *)NULL)->of, bool: MEMBER_BOOL, uint8_t: MEMBER_U8,         \
             uint16_t: MEMBER_U16, uint32_t: MEMBER_U32, uint64_t: MEMBER_U64)
#define BITS(id, at, bytes, bits, of)                                                  \
    {.field = id, .offset = at, .size = bytes, .shift = bits, .kind = KIND(of),        \
     .member = offsetof(roce_packet, of)}
#define LEAF(id, at, bytes, of) BITS(id, at, bytes, 0, of)

/* All but the opcode, whose name takes the transport. */
static const leaf bth_leaves[] = {
    BITS(F_SE, 1, 1, 7, bth.solicited),
    BITS(F_M, 1, 1, 6, bth.migration),
    BITS(F_PADCNT, 1, 1, 4, bth.pad_bytes),
    LEAF(F_TVER, 1, 1, bth.version),
    LEAF(F_P_KEY, 2, 2, bth.p_key),
    BITS(F_FECN, 4, 1, 7, bth.fecn),
    BITS(F_BECN, 4, 1, 6, bth.becn),
    LEAF(F_DESTQP, 5, 3, bth.dest_qpn),
    BITS(F_A, 8, 1, 7, bth.ack_request),
    LEAF(F_PSN, 9, 3, bth.psn24),
};

static const header_row header_rows[] = {
    {F_RDETH, 1, {LEAF(F_EECNXT, 1, 3, rdeth_ee)}},
    {F_DETH, 2, {LEAF(F_Q_KEY, 0, 4, deth_q_key), LEAF(F_SRCQP, 5, 3, deth_src_qpn)}},
    {F_XRCETH, 1, {LEAF(F_XRC_SRQ, 1, 3, xrceth_srq)}},
    {F_FETH, 2, {LEAF(F_FETH_SEL, 0, 4, feth), LEAF(F_FETH_PLT, 0, 4, feth)}},
    {F_RETH, 3, {LEAF(F_RETH_VA, 0, 8, reth.address),
                 LEAF(F_RETH_R_KEY, 8, 4, reth.r_key),
                 LEAF(F_DMALEN, 12, 4, reth.length_bytes)}},
    {F_ATOMICETH, 4, {LEAF(F_ATOMIC_VA, 0, 8, atomic_address),
                      LEAF(F_ATOMIC_R_KEY, 8, 4, atomic_r_key),
                      LEAF(F_SWAPDT, 12, 8, atomic_swap_add),
                      LEAF(F_CMPDT, 20, 8, atomic_compare)}},
    {F_AETH, 1, {LEAF(F_MSN, 1, 3, aeth_msn)}},
    {F_ATOMICACK, 1, {LEAF(F_ORIGREMDT, 0, 8, atomic_original)}},
    {F_IMMDT, 1, {LEAF(F_IMMDT_DATA, 0, 4, immediate)}},
    {F_IETH, 1, {LEAF(F_IETH_R_KEY, 0, 4, ieth_r_key)}},
    {F_CNP, 0, {{0}}},
};
/* clang-format on */
_Static_assert(sizeof header_rows / sizeof header_rows[0] == ROCE_N_HEADERS,
               "one row per header");
_Static_assert(ROCE_HEADER_RDETH == 1 << 0 && ROCE_HEADER_AETH == 1 << 6 &&
                   ROCE_HEADER_CNP == 1 << 10,
               "rows stand in the order of the bits");

static uint64_t
value_of(const roce_packet *p, const leaf *l)
{
    const void *at = (const char *)p + l->member;
    switch (l->kind) {
    case MEMBER_BOOL:
        return *(const bool *)at ? 1 : 0;
    case MEMBER_U8:
        return *(const uint8_t *)at;
    case MEMBER_U16:
        return *(const uint16_t *)at;
    case MEMBER_U32:
        return *(const uint32_t *)at;
    case MEMBER_U64:
        break;
    }
    return *(const uint64_t *)at;
}

static void
add_leaf(proto_tree *tree, tvbuff_t *tvb, uint32_t header, const roce_packet *p,
         const leaf *l)
{
    uint64_t value = value_of(p, l) << l->shift;
    gint offset = (gint)(header + l->offset);
    switch (l->kind) {
    case MEMBER_U64:
        proto_tree_add_uint64(tree, hf[l->field], tvb, offset, l->size, value);
        return;
    case MEMBER_BOOL:
        proto_tree_add_boolean(tree, hf[l->field], tvb, offset, l->size,
                               (uint32_t)value);
        return;
    case MEMBER_U8:
    case MEMBER_U16:
    case MEMBER_U32:
        break;
    }
    proto_tree_add_uint(tree, hf[l->field], tvb, offset, l->size, (uint32_t)value);
}

static void
add_bth(proto_tree *tree, tvbuff_t *tvb, const roce_packet *p)
{
    gint offset = (gint)p->bth_offset;
    const char *name = roce_opcode_name(p->bth.opcode, p->transport);
    proto_item *item =
        proto_tree_add_item(tree, hf[F_BTH], tvb, offset, BTH_BYTES, ENC_NA);
    proto_item_set_text(item, "Base Transport Header: %s", name);
    proto_tree *bth = proto_item_add_subtree(item, ett[TREE_BTH]);
    proto_tree_add_uint_format_value(bth, hf[F_OPCODE], tvb, offset, 1, p->bth.opcode,
                                     "%s (%u)", name, p->bth.opcode);
    for (size_t i = 0; i < G_N_ELEMENTS(bth_leaves); i++) {
        add_leaf(bth, tvb, p->bth_offset, p, &bth_leaves[i]);
    }
    proto_tree_add_item(bth, hf[F_BTH_RESERVED6], tvb, offset + 4, 1, ENC_NA);
    proto_tree_add_item(bth, hf[F_BTH_RESERVED7], tvb, offset + 8, 1, ENC_NA);
}

static void
add_syndrome(proto_tree *tree, tvbuff_t *tvb, uint32_t header, uint8_t syndrome)
{
    static const field by_kind[] = {
        [ROCE_AETH_ACK] = F_CREDITS,
        [ROCE_AETH_RNR_NAK] = F_TIMER,
        [ROCE_AETH_RESERVED] = F_AETH_RESERVED,
        [ROCE_AETH_NAK] = F_NAK_CODE,
    };
    gint at = (gint)header;
    proto_item *item = proto_tree_add_uint(tree, hf[F_SYNDROME], tvb, at, 1, syndrome);
    proto_tree *sub = proto_item_add_subtree(item, ett[TREE_SYNDROME]);
    roce_aeth_kind kind = roce_aeth_get_kind(syndrome);
    proto_item_append_text(item, ", %s", aeth_kind_names[kind].strptr);
    proto_tree_add_uint(sub, hf[F_SYNDROME_RESERVED], tvb, at, 1, syndrome);
    proto_tree_add_uint(sub, hf[F_AETH_KIND], tvb, at, 1, syndrome);
    proto_tree_add_uint(sub, hf[by_kind[kind]], tvb, at, 1, syndrome);
}

static void
add_headers(proto_tree *tree, tvbuff_t *tvb, const roce_packet *p)
{
    uint32_t at = p->bth_offset + BTH_BYTES;
    for (unsigned i = 0; i < ROCE_N_HEADERS; i++) {
        roce_header header = (roce_header)(1u << i);
        if ((p->headers & (unsigned)header) == 0) {
            continue;
        }
        const header_row *row = &header_rows[i];
        unsigned size = roce_header_size(header);
        proto_item *item = proto_tree_add_item(tree, hf[row->field], tvb, (gint)at,
                                               (gint)size, ENC_NA);
        proto_tree *sub = proto_item_add_subtree(item, ett[TREE_HEADER]);
        if (header == ROCE_HEADER_AETH) {
            add_syndrome(sub, tvb, at, p->aeth_syndrome);
        }
        for (unsigned j = 0; j < row->n_leaves; j++) {
            add_leaf(sub, tvb, at, p, &row->leaves[j]);
        }
        at += size;
    }
}

/* What fills the payload up to a multiple of four bytes. */
static void
add_pad(proto_tree *tree, tvbuff_t *tvb, const roce_packet *p)
{
    uint32_t at = p->payload_offset + p->payload_bytes;
    uint32_t size = p->bth.pad_bytes;
    if (size > 0 && at + size <= tvb_captured_length(tvb)) {
        proto_tree_add_item(tree, hf[F_PAD], tvb, (gint)at, (gint)size, ENC_NA);
    }
}

static icrc_shown
shown_status(roce_icrc_status status)
{
    switch (status) {
    case ROCE_ICRC_GOOD:
        return ICRC_SHOWN_GOOD;
    case ROCE_ICRC_BAD:
        return ICRC_SHOWN_BAD;
    case ROCE_ICRC_UNCHECKED:
    case ROCE_ICRC_TRUNCATED:
        break;
    }
    return ICRC_SHOWN_UNCHECKED;
}

/* Some devices send CNPs with an ICRC of their own, and soft-RoCE computes that of
 * FLUSH wrongly: no sign of damage. */
static bool
is_often_odd(const roce_packet *p)
{
    roce_role role = roce_opcode_get(p->bth.opcode)->role;
    return role == ROCE_ROLE_CNP || role == ROCE_ROLE_FLUSH;
}

static void
add_icrc(proto_tree *tree, tvbuff_t *tvb, packet_info *pinfo,
         const plugin_packet *packet)
{
    const roce_packet *p = &packet->roce;
    gint offset = (gint)(p->end_offset - ICRC_BYTES);
    proto_tree *sub = tree;
    proto_item *item = NULL;
    bool is_there = p->end_offset <= tvb_captured_length(tvb);
    if (is_there) {
        item = proto_tree_add_item(tree, hf[F_ICRC], tvb, offset, ICRC_BYTES,
                                   ENC_BIG_ENDIAN);
        sub = proto_item_add_subtree(item, ett[TREE_ICRC]);
    }
    icrc_shown status = shown_status(packet->icrc);
    proto_item *status_item =
        proto_tree_add_uint(sub, hf[F_ICRC_STATUS], tvb, is_there ? offset : 0,
                            is_there ? ICRC_BYTES : 0, (uint32_t)status);
    proto_item_set_generated(status_item);
    if (is_there) {
        proto_item_append_text(item, " [%s]", icrc_names[status].strptr);
    }
    if (packet->icrc == ROCE_ICRC_BAD) {
        proto_item *want =
            proto_tree_add_uint(sub, hf[F_ICRC_WANT], tvb, offset, ICRC_BYTES,
                                GUINT32_SWAP_LE_BE(packet->icrc_want));
        proto_item_set_generated(want);
        expert_add_info(pinfo, item, is_often_odd(p) ? &ei_icrc_odd : &ei_icrc_bad);
    }
}

/* What switches queue it by; shown where its own IP header does not say so. */
static void
add_queue(proto_tree *tree, tvbuff_t *tvb, const roce_packet *p)
{
    const roce_queued_by by = roce_packet_queued_by(p);
    proto_item *dscp = proto_tree_add_uint(tree, hf[F_QUEUE_DSCP], tvb, 0, 0, by.dscp);
    proto_item_set_generated(dscp);
    if (by.dscp == p->traffic_class >> 2) {
        proto_item_set_hidden(dscp);
    }
    if (by.is_tagged) {
        proto_item_set_generated(
            proto_tree_add_uint(tree, hf[F_QUEUE_PCP], tvb, 0, 0, by.pcp));
    }
}

/* What the IP header, or GRH, says of how to forward the packet, and the overlay that it is
 * in; where the header was not found (network.c), nobody knows. */
static void
add_network(proto_tree *tree, tvbuff_t *tvb, packet_info *pinfo, const roce_packet *p)
{
    if (p->src.family == 0) {
        return;
    }
    proto_item_set_generated(
        proto_tree_add_uint(tree, hf[F_ECN], tvb, 0, 0, roce_packet_ecn(p)));
    proto_item_set_generated(
        proto_tree_add_uint(tree, hf[F_DSCP], tvb, 0, 0, p->traffic_class >> 2));
    add_queue(tree, tvb, p);
    if (p->tenant.kind != ROCE_TENANT_NONE) {
        const char *tenant = words_tenant(&p->tenant, pinfo->pool);
        proto_item_set_generated(
            proto_tree_add_string(tree, hf[F_TENANT], tvb, 0, 0, tenant));
    }
}

/* Whether a packet that is read for the first time has something to tell. */
static bool
is_news(const packet_info *pinfo, const plugin_packet *packet,
        const packet_record *record)
{
    if (PINFO_FD_VISITED(pinfo)) {
        return false;
    }
    uint32_t first = record != NULL ? record->first_note : ANALYSIS_NONE;
    for (const note *n = memory_note(first); n != NULL; n = memory_note(n->next)) {
        if (n->role == NOTE_EVENT) {
            return true;
        }
    }
    return packet->roce.outcome != ROCE_DECODED || packet->icrc == ROCE_ICRC_BAD;
}

bool
fields_are_wanted(const packet_info *pinfo, proto_tree *tree, int proto,
                  const plugin_packet *packet, const packet_record *record)
{
    static int expert_tap;
    if (expert_tap == 0) {
        expert_tap = find_tap_id("expert");
    }
    return proto_field_is_referenced(tree, proto) ||
           proto_field_is_referenced(tree, proto_expert) ||
           have_tap_listener(expert_tap) || is_news(pinfo, packet, record);
}

void
fields_add_packet(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree, int proto,
                  const plugin_packet *packet, const packet_record *record)
{
    const roce_packet *p = &packet->roce;
    gint length = (gint)MIN(p->end_offset, tvb_captured_length(tvb));
    gint start = (gint)MIN(p->bth_offset, (uint32_t)length);
    proto_item *item =
        proto_tree_add_item(tree, proto, tvb, start, length - start, ENC_NA);
    proto_tree *sub = proto_item_add_subtree(item, ett[TREE_ROCE]);
    if (p->has_bth) {
        proto_item_append_text(item, ", %s, QP 0x%06x, PSN %u",
                               roce_opcode_name(p->bth.opcode, p->transport),
                               p->bth.dest_qpn, p->bth.psn24);
        add_bth(sub, tvb, p);
        add_headers(sub, tvb, p);
    }
    add_network(sub, tvb, pinfo, p);
    if (p->outcome == ROCE_DECODED) {
        proto_item *payload =
            proto_tree_add_uint(sub, hf[F_PAYLOAD_LENGTH], tvb, 0, 0, p->payload_bytes);
        proto_item_set_generated(payload);
        add_pad(sub, tvb, p);
    }
    add_icrc(sub, tvb, pinfo, packet);
    if (record != NULL) {
        tree_add_analysis(tvb, pinfo, sub, record);
    }
    if (p->outcome == ROCE_MALFORMED) {
        expert_add_info(pinfo, item, &ei_malformed);
    } else if (p->outcome == ROCE_TRUNCATED) {
        expert_add_info(pinfo, item, &ei_truncated);
    }
}

static void
fill_names(void)
{
    wmem_allocator_t *scope = wmem_epan_scope();
    for (unsigned i = 0; i < 256; i++) {
        opcode_names[i] = (value_string){i, roce_opcode_get((uint8_t)i)->name};
    }
    for (unsigned i = 0; i < N_CODES; i++) {
        uint32_t credits = roce_aeth_credits(i);
        const char *credit_name =
            credits == ROCE_AETH_CREDITS_UNLIMITED
                ? "no credit limit"
                : wmem_strdup_printf(scope, "%u credits", credits);
        credit_names[i] = (value_string){i, credit_name};
        timer_names[i] =
            (value_string){i, info_of_duration(roce_aeth_rnr_timer_ns(i), scope)};
        nak_names[i] = (value_string){i, roce_nak_code_name(i)};
    }
    for (unsigned i = 0; i < N_CODEPOINTS; i++) {
        ecn_names[i] = (value_string){i, words_codepoint(i)};
    }
}

void
fields_register(int proto)
{
    static gint *subtrees[N_SUBTREES];
    static ei_register_info experts[] = {
        {&ei_icrc_bad,
         {ROCE "icrc.bad", PI_CHECKSUM, PI_WARN, "Bad ICRC: damaged on its way",
          EXPFILL}},
        {&ei_icrc_odd,
         {ROCE "icrc.odd", PI_CHECKSUM, PI_NOTE,
          "ICRC does not verify, as of some devices for this operation", EXPFILL}},
        {&ei_malformed,
         {ROCE "malformed", PI_MALFORMED, PI_ERROR,
          "The packet is shorter than its headers", EXPFILL}},
        {&ei_truncated,
         {ROCE "truncated", PI_UNDECODED, PI_NOTE,
          "Headers were cut off, by the snap length of the capture or on their way to "
          "it",
          EXPFILL}},
    };
    fill_names();
    for (unsigned i = 0; i < N_SUBTREES; i++) {
        subtrees[i] = &ett[i];
    }
    proto_register_field_array(proto, fields, (int)G_N_ELEMENTS(fields));
    proto_register_subtree_array(subtrees, (int)G_N_ELEMENTS(subtrees));
    expert_module_t *module = expert_register_protocol(proto);
    expert_register_field_array(module, experts, (int)G_N_ELEMENTS(experts));
    tree_register(proto, module);
}
