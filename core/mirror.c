/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Mirrors: copies of frames that a switch sends in GRE.
 *
 * The GRE type and its sequence bit ought to tell the header that follows, and do not
 * always.  For each there is a row of headers, likeliest first; the first one fits that
 * has the right version and a frame of a sane type behind it.  If none has, the first one
 * of the right version is taken.
 *
 *   0x88be, no sequence   ERSPAN I: no header (draft-foschiano-erspan-03, 4.1).  What
 *                         SONiC on Broadcom and EOS send; EOS lets the user choose the
 *                         type, and may put a key, of the user's or of its own metadata
 *   0x88be, sequence      ERSPAN II: 8 bytes (4.2).  NX-OS, IOS, SONiC on Cisco 8000
 *   0x22eb                ERSPAN III: 12 bytes, and 8 more if the O bit is set (4.3).
 *                         NX-OS with, SONiC on Tofino without a sequence number
 *   0x8949                SONiC and Cumulus on Spectrum: 22 bytes that NVIDIA does not
 *                         document; the length as in sonic-mgmt, everflow tests
 *   0x6558                Linux on Spectrum (mlxsw mirrors to a gretap), hypervisors
 *   0xd28b                EOS, DzGRE: subtypes as in Wireshark's packet-avsp.c
 *   another               the frame and nothing else, if its type is IP's and IP follows
 *
 * NX-OS sends a marker packet each second beside ERSPAN III, which ties its time stamps
 * to UTC: UDP of its own, other traffic to us, as are EOS's telemetry postcards, which
 * hold pieces of packets (0xd28b, subtype 4).
 *
 * In a mirror the frame's own length is the only one that counts: mirrors cut frames
 * (ERSPAN says so by its T bit, or does not), and some leave the FCS on.
 */
#include "walk.h"

#include <string.h>

#define GRE_ERSPAN 0x88be
#define GRE_ERSPAN_III 0x22eb
#define GRE_SPECTRUM 0x8949

#define ETHERTYPE_ARP 0x0806
#define ETHERTYPE_SLOW 0x8809 /* LACP */
#define ETHERTYPE_LLDP 0x88cc
#define ETHERTYPE_PTP 0x88f7

#define ERSPAN_II_BYTES 8
#define ERSPAN_III_BYTES 12
#define SUBHEADER_BYTES 8
#define SPECTRUM_BYTES 22
#define VLAN_TAG_BYTES 4

#define ERSPAN_II_TAGGED 2 /* "originally 802.1Q encapsulated": the tag was taken off */
#define ERSPAN_III_IP 2    /* frame type; 0 is Ethernet */

#define MAX_KINDS 3

/* A header that may stand here. */
typedef struct mirror_header {
    roce_mirror_kind kind;
    uint32_t bytes;
    roce_layer inside;
} mirror_header;

/* Of the GRE header. */
typedef enum sequence {
    SEQUENCE_NONE,
    SEQUENCE_PRESENT,
    SEQUENCE_OR_NONE,
} sequence;

/* clang-format off */
static const struct {
    uint16_t protocol;
    sequence sequence;
    roce_mirror_kind kinds[MAX_KINDS]; /* likeliest first */
} rows[] = {
    {GRE_ERSPAN, SEQUENCE_NONE,
     {ROCE_MIRROR_ERSPAN_I, ROCE_MIRROR_ERSPAN_II, ROCE_MIRROR_ERSPAN_III}},
    {GRE_ERSPAN, SEQUENCE_PRESENT,
     {ROCE_MIRROR_ERSPAN_II, ROCE_MIRROR_ERSPAN_III, ROCE_MIRROR_ERSPAN_I}},
    {GRE_ERSPAN_III, SEQUENCE_OR_NONE,
     {ROCE_MIRROR_ERSPAN_III, ROCE_MIRROR_ERSPAN_II, ROCE_MIRROR_ERSPAN_I}},
    {GRE_SPECTRUM, SEQUENCE_OR_NONE, {ROCE_MIRROR_SPECTRUM, ROCE_MIRROR_GRE}},
    {ROCE_ETHERTYPE_BRIDGING, SEQUENCE_OR_NONE, {ROCE_MIRROR_GRE}},
    {ROCE_ETHERTYPE_ARISTA, SEQUENCE_OR_NONE, {ROCE_MIRROR_ARISTA}},
};

/* Arista's DzGRE: switch, port and policy, each where it is. */
static const struct {
    uint16_t subtype;
    uint8_t bytes;
} dzgre[] = {{7, 12}, {8, 8}, {9, 20}};
/* clang-format on */

bool
roce_mirror_is_sure(roce_mirror_kind kind, uint16_t protocol, bool has_sequence)
{
    if (kind == ROCE_MIRROR_ERSPAN_II || kind == ROCE_MIRROR_ERSPAN_III) {
        return true; /* by its version; what else may be looked at is as near as MACs */
    }
    sequence found = has_sequence ? SEQUENCE_PRESENT : SEQUENCE_NONE;
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (rows[i].protocol == protocol &&
            (rows[i].sequence == found || rows[i].sequence == SEQUENCE_OR_NONE)) {
            return rows[i].kinds[0] == kind;
        }
    }
    return kind == ROCE_MIRROR_GRE;
}

/* Types of frames that networks of today carry, other than IP. */
static bool
is_sane_type(uint16_t type)
{
    static const uint16_t others[] = {
        ETHERTYPE_ARP, ETHERTYPE_SLOW,        ETHERTYPE_LLDP,
        ETHERTYPE_PTP, ROCE_ETHERTYPE_ARISTA,
    };
    for (unsigned i = 0; i < sizeof others / sizeof others[0]; i++) {
        if (others[i] == type) {
            return true;
        }
    }
    return roce_layer_of_ethertype(type) != ROCE_LAYER_END;
}

static roce_sight
sight_of(const roce_cursor *look, bool fits)
{
    if (look->outcome == ROCE_TRUNCATED) {
        return ROCE_SIGHT_CUT;
    }
    return look->outcome == ROCE_DECODED && fits ? ROCE_SIGHT_YES : ROCE_SIGHT_NO;
}

typedef enum wanted {
    WANTED_IP, /* and its version where it ought to be */
    WANTED_ANY_SANE,
} wanted;

/* Whether an Ethernet frame, tagged or not, begins `ahead` bytes behind the cursor. */
static roce_sight
sees_frame(const roce_walk *w, uint32_t ahead, wanted types)
{
    roce_cursor look = w->c;
    roce_cursor_skip(&look, ahead + 12);
    uint16_t type = roce_cursor_u16(&look);
    for (unsigned i = 0; i < ROCE_MAX_VLANS && roce_is_vlan_type(type); i++) {
        roce_cursor_skip(&look, 2);
        type = roce_cursor_u16(&look);
    }
    if (type == ROCE_ETHERTYPE_IPV4 || type == ROCE_ETHERTYPE_IPV6) {
        uint8_t version = roce_cursor_u8(&look) >> 4;
        return sight_of(&look, version == (type == ROCE_ETHERTYPE_IPV4 ? 4 : 6));
    }
    return sight_of(&look, types == WANTED_ANY_SANE && is_sane_type(type));
}

roce_sight
roce_mirror_sees_ethernet(const roce_walk *w, uint32_t ahead)
{
    return sees_frame(w, ahead, WANTED_ANY_SANE);
}

static uint32_t
dzgre_bytes(uint16_t subtype)
{
    for (unsigned i = 0; i < sizeof dzgre / sizeof dzgre[0]; i++) {
        if (dzgre[i].subtype == subtype) {
            return dzgre[i].bytes;
        }
    }
    return 0;
}

/* ERSPAN III may have a subheader, and IP in place of a frame. */
static void
look_at_erspan_iii(roce_cursor *look, mirror_header *h)
{
    roce_cursor_skip(look, 9);
    uint16_t flags = roce_cursor_u16(look);
    h->bytes = ERSPAN_III_BYTES + ((flags & 1) != 0 ? SUBHEADER_BYTES : 0);
    if ((flags >> 10 & 0x1f) == ERSPAN_III_IP) {
        h->inside = ROCE_LAYER_IP;
    }
}

/* Whether a header of this kind can stand at the cursor, by its version alone. */
static roce_sight
sees_header(const roce_walk *w, roce_mirror_kind kind, mirror_header *h)
{
    roce_cursor look = w->c;
    *h = (mirror_header){.kind = kind, .inside = ROCE_LAYER_ETHERNET};
    bool fits = true;
    switch (kind) {
    case ROCE_MIRROR_ERSPAN_I:
    case ROCE_MIRROR_GRE:
        break;
    case ROCE_MIRROR_ERSPAN_II:
        fits = roce_cursor_u8(&look) >> 4 == 1;
        h->bytes = ERSPAN_II_BYTES;
        break;
    case ROCE_MIRROR_ERSPAN_III:
        fits = roce_cursor_u8(&look) >> 4 == 2;
        if (fits) {
            look_at_erspan_iii(&look, h);
        }
        break;
    case ROCE_MIRROR_SPECTRUM:
        h->bytes = SPECTRUM_BYTES;
        break;
    case ROCE_MIRROR_ARISTA:
        h->bytes = dzgre_bytes(roce_cursor_u16(&look));
        fits = h->bytes != 0;
        break;
    case ROCE_MIRROR_NONE:
    case ROCE_N_MIRRORS:
        fits = false;
        break;
    }
    return sight_of(&look, fits);
}

static roce_sight
sees_inside(const roce_walk *w, const mirror_header *h)
{
    if (h->inside != ROCE_LAYER_IP) {
        return roce_mirror_sees_ethernet(w, h->bytes);
    }
    roce_cursor look = w->c;
    roce_cursor_skip(&look, h->bytes);
    uint8_t version = roce_cursor_u8(&look) >> 4;
    return sight_of(&look, version == 4 || version == 6);
}

/* The header that fits best of a row; its kind is NONE when none can stand here, or when
 * what would tell was cut off. */
static mirror_header
choose(roce_walk *w, const roce_mirror_kind kinds[MAX_KINDS])
{
    mirror_header best = {.kind = ROCE_MIRROR_NONE};
    for (unsigned i = 0; i < MAX_KINDS; i++) {
        mirror_header h;
        roce_sight sight = sees_header(w, kinds[i], &h);
        if (sight == ROCE_SIGHT_YES) {
            best = best.kind == ROCE_MIRROR_NONE ? h : best;
            sight = sees_inside(w, &h);
            if (sight == ROCE_SIGHT_YES) {
                return h;
            }
        }
        if (sight == ROCE_SIGHT_CUT) {
            w->c.outcome = ROCE_TRUNCATED;
            return (mirror_header){.kind = ROCE_MIRROR_NONE};
        }
    }
    return best;
}

/* Version 4, VLAN 12 | COS 3, En 2, T 1, session 10 | reserved 12, index 20 */
static void
read_erspan_ii(roce_cursor *c, roce_packet *p)
{
    uint16_t vlan = roce_cursor_u16(c) & 0x0fff;
    uint16_t word = roce_cursor_u16(c);
    p->mirror.says_truncated = (word & 0x0400) != 0;
    p->mirror.session = word & 0x03ff;
    p->mirror.port = roce_cursor_u32(c) & 0xfffff;
    if ((word >> 11 & 3) == ERSPAN_II_TAGGED) {
        p->vlan_tci[p->n_vlans++] = (uint16_t)((word & 0xe000) | vlan);
    }
}

/* The port in a platform's subheader, by the platform's ID in bits 31:26 of `high`. */
static uint32_t
subheader_port(uint32_t high, uint32_t low)
{
    switch (high >> 26) {
    case 0: /* used in place of 7 */
    case 7:
        return high & 0xfffff;
    case 1:
        return low;
    case 3:
        return high & 0x3fff;
    case 5:
    case 6:
        return high & 0xffff;
    default: /* a number off the wire, not an enumeration */
        return 0;
    }
}

/* Version 4, VLAN 12 | COS 3, BSO 2, T 1, session 10 | time 32 | security group 16 |
 * P 1, frame type 5, hardware 6, D 1, granularity 2, O 1 | platform's subheader 64 */
static void
read_erspan_iii(roce_cursor *c, roce_mirror *m)
{
    roce_cursor_skip(c, 2);
    uint16_t word = roce_cursor_u16(c);
    m->says_truncated = (word & 0x0400) != 0;
    m->session = word & 0x03ff;
    m->time = roce_cursor_u32(c);
    m->has_time = true;
    roce_cursor_skip(c, 2);
    uint16_t flags = roce_cursor_u16(c);
    m->hardware_id = flags >> 4 & 0x3f;
    m->direction = (flags & 8) != 0 ? ROCE_MIRROR_EGRESS : ROCE_MIRROR_INGRESS;
    m->granularity = flags >> 1 & 3;
    if ((flags & 1) != 0) {
        uint32_t high = roce_cursor_u32(c);
        m->port = subheader_port(high, roce_cursor_u32(c));
    }
}

/* Subtype, version | switch, port | policy, reserved | seconds | nanoseconds; the
 * shortest has port and policy alone. */
static void
read_arista(roce_cursor *c, uint32_t bytes, roce_mirror *m)
{
    roce_cursor_skip(c, 4);
    if (bytes > 8) {
        m->hardware_id = roce_cursor_u16(c);
    }
    m->port = roce_cursor_u16(c);
    m->session = roce_cursor_u16(c);
    roce_cursor_skip(c, bytes > 8 ? 2 : 0);
    if (bytes > 12) {
        roce_cursor_skip(c, 4);
        m->time = roce_cursor_u32(c);
        m->has_time = true;
        m->granularity = 2;
    }
}

static void
read_header(roce_cursor *c, const mirror_header *h, roce_packet *p)
{
    switch (h->kind) {
    case ROCE_MIRROR_ERSPAN_II:
        read_erspan_ii(c, p);
        break;
    case ROCE_MIRROR_ERSPAN_III:
        read_erspan_iii(c, &p->mirror);
        break;
    case ROCE_MIRROR_ARISTA:
        read_arista(c, h->bytes, &p->mirror);
        break;
    case ROCE_MIRROR_SPECTRUM:
        roce_cursor_skip(c, SPECTRUM_BYTES);
        break;
    case ROCE_MIRROR_ERSPAN_I:
    case ROCE_MIRROR_GRE:
    case ROCE_MIRROR_NONE:
    case ROCE_N_MIRRORS:
        break;
    }
}

/* Steps into a mirror.  Nothing around it was ever on the way of what it carries. */
static roce_layer
enter(roce_walk *w, const mirror_header *h, uint32_t key)
{
    roce_packet *p = w->p;
    const roce_addr source = p->src;
    if (roce_tunnel_enter(w, h->inside) == ROCE_LAYER_END) {
        return ROCE_LAYER_END;
    }
    p->outer_ecn = p->outer_dscp = p->outer_pcp = 0;
    p->tenant = (roce_tenant){.kind = ROCE_TENANT_NONE};
    p->direction = ROCE_DIRECTION_UNKNOWN;
    memset(&p->mirror, 0, sizeof p->mirror);
    p->mirror.kind = h->kind;
    p->mirror.source = source;
    p->mirror.key = key;
    w->carried_end = w->c.wire < w->carried_end ? w->c.wire : w->carried_end;
    w->c.wire = w->end = UINT32_MAX;
    w->mirror_depth = p->n_tunnels;
    read_header(&w->c, h, p);
    if (w->c.outcome != ROCE_DECODED) {
        return roce_walk_stop(w);
    }
    w->taken_off = (uint8_t)(VLAN_TAG_BYTES * p->n_vlans);
    p->mirror.frame_offset = w->c.at;
    p->mirror.wire_bytes = w->carried_end - w->c.at + w->taken_off;
    return h->inside;
}

roce_layer
roce_mirror_gre(roce_walk *w, const roce_gre *gre)
{
    if (w->c.outcome != ROCE_DECODED) {
        return roce_walk_stop(w);
    }
    sequence found = gre->has_sequence ? SEQUENCE_PRESENT : SEQUENCE_NONE;
    mirror_header h = {.kind = ROCE_MIRROR_NONE};
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (rows[i].protocol == gre->protocol &&
            (rows[i].sequence == found || rows[i].sequence == SEQUENCE_OR_NONE)) {
            h = choose(w, rows[i].kinds);
            return h.kind != ROCE_MIRROR_NONE ? enter(w, &h, gre->key)
                                              : roce_walk_stop(w);
        }
    }
    roce_sight sight = sees_frame(w, 0, WANTED_IP);
    if (sight == ROCE_SIGHT_YES) {
        h = (mirror_header){.kind = ROCE_MIRROR_GRE, .inside = ROCE_LAYER_ETHERNET};
        return enter(w, &h, gre->key);
    }
    w->c.outcome = sight == ROCE_SIGHT_CUT ? ROCE_TRUNCATED : w->c.outcome;
    return roce_walk_stop(w);
}
