/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An LLDPDU is a row of TLVs: 7 bits of type, 9 of length, the value (802.1AB 8.4).
 * Chassis, port and time to live come first and in this order; a frame without them is
 * to be thrown away (8.2), and is malformed here.  The End TLV may be left out where the
 * frame ends; what stands behind it is padding.
 *
 * TLV 127 is an organisation's: OUI, subtype, value.
 *
 *   00-80-C2   9 ETS configuration, 10 ETS recommendation, 11 PFC, 12 application
 *              priority, 16 application VLAN (802.1Q annex D.2)
 *   00-1B-21   2: DCBX before IEEE's.  Inside it the same TLVs once more, each a feature:
 *              version, highest version, enable/willing/error bits, subtype, value
 *
 * IEEE's PFC, for instance:
 *
 *   fe 06        type 127, 6 bytes
 *   00 80 c2 0b  OUI, subtype
 *   80           willing 7, MBC 6, capability 3:0
 *   08           enabled, bit n is priority n
 */
#include "roce/lldp.h"

#include "cursor.h"

#define TLV_END 0
#define TLV_CHASSIS 1
#define TLV_PORT 2
#define TLV_TTL 3
#define TLV_SYSTEM_NAME 5
#define TLV_ORGANISATION 127

#define OUI_8021 0x0080c2
#define OUI_CEE 0x001b21

#define IEEE_ETS 9
#define IEEE_ETS_RECOMMENDED 10
#define IEEE_PFC 11
#define IEEE_APPS 12
#define IEEE_APP_VLANS 16

#define CEE_SUBTYPE 2
#define CEE_GROUPS 2
#define CEE_PFC 3
#define CEE_APPS 4

#define CEE_ENABLE 0x80
#define CEE_WILLING 0x40
#define CEE_SELECTOR_PORT 1

typedef struct tlv {
    uint8_t type;
    roce_cursor value; /* of exactly its length */
} tlv;

/* Takes the next TLV whole.  FALSE at the end, for which the cursor's outcome says
 * why. */
static bool
next_tlv(roce_cursor *c, tlv *next)
{
    if (c->at == c->wire) {
        return false;
    }
    uint16_t head = roce_cursor_u16(c);
    uint32_t length = head & 0x1ffu;
    if (!roce_cursor_have(c, length)) {
        return false;
    }
    next->type = (uint8_t)(head >> 9);
    next->value = roce_cursor_make(c->bytes + c->at, length, length);
    c->at += length;
    return true;
}

static uint32_t
left(const roce_cursor *c)
{
    return c->wire - c->at;
}

/* ---- what both versions share ---- */

static void
read_classes(roce_cursor *c, roce_dcb_ets *ets)
{
    uint32_t classes = roce_cursor_u32(c);
    for (unsigned i = 0; i < 8; i++) {
        ets->class_of_priority[i] = classes >> (28 - 4 * i) & 0xf;
    }
    roce_cursor_copy(c, ets->bandwidth_percent, 8);
}

static uint8_t
count_of_classes(uint8_t field)
{
    return field == 0 ? 8 : field;
}

static void
add_app(roce_dcb *dcb, roce_dcb_app app)
{
    if (dcb->n_apps < ROCE_DCB_APPS) {
        dcb->apps[dcb->n_apps] = app;
    }
    dcb->n_apps++;
}

/* ---- IEEE ---- */

static void
read_ieee_ets(roce_cursor *c, roce_dcb *dcb)
{
    roce_dcb_ets ets = {.present = true, .on = true};
    uint8_t bits = roce_cursor_u8(c);
    ets.willing = (bits & 0x80) != 0;
    ets.credit_shaper = (bits & 0x40) != 0;
    ets.max_classes = count_of_classes(bits & 7);
    read_classes(c, &ets);
    roce_cursor_copy(c, ets.algorithm, 8);
    if (c->outcome == ROCE_DECODED) {
        dcb->ets = ets;
        dcb->present = true;
    }
}

static void
read_ieee_recommendation(roce_cursor *c, roce_dcb *dcb)
{
    roce_dcb_ets ets = {.present = true, .on = true, .max_classes = 8};
    roce_cursor_skip(c, 1); /* reserved */
    read_classes(c, &ets);
    roce_cursor_copy(c, ets.algorithm, 8);
    if (c->outcome == ROCE_DECODED) {
        dcb->ets_recommended = ets;
        dcb->present = true;
    }
}

static void
read_ieee_pfc(roce_cursor *c, roce_dcb *dcb)
{
    uint8_t bits = roce_cursor_u8(c);
    uint8_t enabled = roce_cursor_u8(c);
    if (c->outcome != ROCE_DECODED) {
        return;
    }
    dcb->pfc = (roce_dcb_pfc){
        .present = true,
        .on = true,
        .willing = (bits & 0x80) != 0,
        .mbc = (bits & 0x40) != 0,
        .capability = bits & 0xf,
        .enabled = enabled,
    };
    dcb->present = true;
}

static void
read_ieee_apps(roce_cursor *c, roce_dcb *dcb)
{
    roce_cursor_skip(c, 1); /* reserved */
    while (c->outcome == ROCE_DECODED && left(c) > 0) {
        uint8_t bits = roce_cursor_u8(c);
        uint16_t protocol = roce_cursor_u16(c);
        if (c->outcome == ROCE_DECODED) {
            add_app(dcb, (roce_dcb_app){
                             .selector = bits & 7,
                             .priorities = (uint8_t)(1u << (bits >> 5)),
                             .protocol = protocol,
                         });
        }
    }
    dcb->apps_on = true;
    dcb->present = true;
}

static void
read_ieee_app_vlans(roce_cursor *c, roce_dcb *dcb)
{
    while (c->outcome == ROCE_DECODED && left(c) > 0) {
        uint16_t bits = roce_cursor_u16(c);
        uint16_t protocol = roce_cursor_u16(c);
        if (c->outcome != ROCE_DECODED) {
            break;
        }
        if (dcb->n_app_vlans < ROCE_DCB_APP_VLANS) {
            dcb->app_vlans[dcb->n_app_vlans] = (roce_dcb_app_vlan){
                .vid = bits >> 4,
                .selector = bits & 7,
                .protocol = protocol,
            };
        }
        dcb->n_app_vlans++;
    }
    dcb->present = true;
}

static void
read_ieee(roce_cursor *c, uint8_t subtype, roce_dcb *dcb)
{
    if (subtype == IEEE_ETS) {
        read_ieee_ets(c, dcb);
    } else if (subtype == IEEE_ETS_RECOMMENDED) {
        read_ieee_recommendation(c, dcb);
    } else if (subtype == IEEE_PFC) {
        read_ieee_pfc(c, dcb);
    } else if (subtype == IEEE_APPS) {
        read_ieee_apps(c, dcb);
    } else if (subtype == IEEE_APP_VLANS) {
        read_ieee_app_vlans(c, dcb);
    }
}

/* ---- CEE ---- */

static void
read_cee_groups(roce_cursor *c, uint8_t bits, roce_dcb *dcb)
{
    roce_dcb_ets ets = {
        .present = true,
        .on = (bits & CEE_ENABLE) != 0,
        .willing = (bits & CEE_WILLING) != 0,
        .algorithm = {ROCE_DCB_ETS, ROCE_DCB_ETS, ROCE_DCB_ETS, ROCE_DCB_ETS,
                      ROCE_DCB_ETS, ROCE_DCB_ETS, ROCE_DCB_ETS, ROCE_DCB_ETS},
    };
    read_classes(c, &ets);
    ets.max_classes = count_of_classes(roce_cursor_u8(c) & 0xf);
    if (c->outcome == ROCE_DECODED) {
        dcb->ets = ets;
        dcb->present = true;
    }
}

static void
read_cee_pfc(roce_cursor *c, uint8_t bits, roce_dcb *dcb)
{
    uint8_t enabled = roce_cursor_u8(c);
    uint8_t capability = roce_cursor_u8(c);
    if (c->outcome != ROCE_DECODED) {
        return;
    }
    dcb->pfc = (roce_dcb_pfc){
        .present = true,
        .on = (bits & CEE_ENABLE) != 0,
        .willing = (bits & CEE_WILLING) != 0,
        .capability = capability,
        .enabled = enabled,
    };
    dcb->present = true;
}

/* Protocol, six bits of OUI, two of selector, the rest of the OUI, a map of priorities. */
static void
read_cee_apps(roce_cursor *c, uint8_t bits, roce_dcb *dcb)
{
    while (c->outcome == ROCE_DECODED && left(c) > 0) {
        uint16_t protocol = roce_cursor_u16(c);
        uint8_t selector = roce_cursor_u8(c) & 3;
        roce_cursor_skip(c, 2);
        uint8_t priorities = roce_cursor_u8(c);
        if (c->outcome == ROCE_DECODED) {
            add_app(dcb,
                    (roce_dcb_app){
                        .selector = selector == CEE_SELECTOR_PORT ? ROCE_DCB_ANY_PORT
                                    : selector == 0               ? ROCE_DCB_ETHERTYPE
                                                                  : 0,
                        .priorities = priorities,
                        .protocol = protocol,
                    });
        }
    }
    dcb->apps_on = (bits & CEE_ENABLE) != 0;
    dcb->apps_willing = (bits & CEE_WILLING) != 0;
    dcb->present = true;
}

static void
read_cee_feature(tlv *feature, roce_dcb *dcb)
{
    roce_cursor *c = &feature->value;
    if (feature->type != CEE_GROUPS && feature->type != CEE_PFC &&
        feature->type != CEE_APPS) {
        return; /* control, logical link, or a later one */
    }
    roce_cursor_skip(c, 2); /* version, highest version */
    uint8_t bits = roce_cursor_u8(c);
    uint8_t subtype = roce_cursor_u8(c);
    if (subtype != 0 || c->outcome != ROCE_DECODED) {
        return;
    }
    if (feature->type == CEE_GROUPS) {
        read_cee_groups(c, bits, dcb);
    } else if (feature->type == CEE_PFC) {
        read_cee_pfc(c, bits, dcb);
    } else {
        read_cee_apps(c, bits, dcb);
    }
}

static void
read_cee(roce_cursor *c, roce_dcb *dcb)
{
    for (tlv feature; c->outcome == ROCE_DECODED && next_tlv(c, &feature);) {
        read_cee_feature(&feature, dcb);
        if (feature.value.outcome != ROCE_DECODED) {
            c->outcome = feature.value.outcome;
        }
    }
}

/* ---- LLDP ---- */

static void
read_text(roce_cursor *c, roce_lldp_text *text)
{
    uint32_t n = left(c);
    *text = (roce_lldp_text){.bytes = c->bytes + c->at, .n_bytes = (uint16_t)n};
}

/* A kind of identifier and the identifier, of one byte at least. */
static void
read_identifier(roce_cursor *c, roce_lldp_text *text)
{
    uint8_t subtype = roce_cursor_u8(c);
    if (roce_cursor_have(c, 1)) {
        read_text(c, text);
        text->subtype = subtype;
    }
}

static void
read_organisation(roce_cursor *c, roce_lldp *lldp)
{
    uint32_t oui = roce_cursor_u24(c);
    uint8_t subtype = roce_cursor_u8(c);
    if (c->outcome != ROCE_DECODED) {
        return;
    }
    if (oui == OUI_8021) {
        read_ieee(c, subtype, &lldp->ieee);
    } else if (oui == OUI_CEE && subtype == CEE_SUBTYPE) {
        read_cee(c, &lldp->cee);
    }
}

static void
read_tlv(tlv *t, roce_lldp *lldp)
{
    roce_cursor *c = &t->value;
    if (t->type == TLV_CHASSIS) {
        read_identifier(c, &lldp->chassis);
    } else if (t->type == TLV_PORT) {
        read_identifier(c, &lldp->port);
    } else if (t->type == TLV_TTL) {
        lldp->ttl_s = roce_cursor_u16(c);
        lldp->has_ttl = c->outcome == ROCE_DECODED;
    } else if (t->type == TLV_SYSTEM_NAME) {
        read_text(c, &lldp->system_name);
    } else if (t->type == TLV_ORGANISATION) {
        read_organisation(c, lldp);
    }
}

/* Chassis, port and time to live have to be the first three, and stand there once. */
static bool
is_in_order(uint8_t type, unsigned position)
{
    static const uint8_t first[] = {TLV_CHASSIS, TLV_PORT, TLV_TTL};
    bool mandatory = type >= TLV_CHASSIS && type <= TLV_TTL;
    return position < sizeof first ? type == first[position] : !mandatory;
}

void
roce_lldp_decode(const uint8_t *bytes, uint32_t captured, uint32_t wire,
                 roce_lldp *lldp)
{
    *lldp = (roce_lldp){.outcome = ROCE_DECODED};
    roce_cursor c = roce_cursor_make(bytes, captured, wire);
    unsigned position = 0;
    for (tlv t; next_tlv(&c, &t); position++) {
        if (!is_in_order(t.type, position)) {
            c.outcome = ROCE_MALFORMED;
            break;
        }
        if (t.type == TLV_END) {
            break;
        }
        read_tlv(&t, lldp);
        if (t.value.outcome != ROCE_DECODED) {
            c.outcome = t.value.outcome;
            break;
        }
    }
    bool complete = c.outcome != ROCE_DECODED || lldp->has_ttl;
    lldp->outcome = complete ? c.outcome : ROCE_MALFORMED;
}

bool
roce_lldp_of_frame(const roce_frame *frame, const roce_packet *packet, roce_lldp *lldp)
{
    uint32_t at = packet->lldp_offset;
    if (at == 0 || at > frame->captured_bytes) {
        return false;
    }
    /* Inside a mirror nobody tells how long the frame was. */
    uint32_t wire =
        packet->mirror.kind == ROCE_MIRROR_NONE ? frame->wire_bytes - at : UINT32_MAX;
    roce_lldp_decode(frame->bytes + at, frame->captured_bytes - at, wire, lldp);
    return true;
}
