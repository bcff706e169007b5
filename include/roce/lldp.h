/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * LLDP (IEEE 802.1AB) as far as it tells who a port is and how it treats priorities: the
 * identity TLVs, and data centre bridging exchange, both IEEE's (802.1Q annex D.2, "DCBX
 * IEEE 802.1Qaz") and the one before it (CEE, "DCB Capability Exchange Protocol Base
 * Specification Rev 1.01").
 *
 * The one rule: a TLV is taken whole or not at all.  What a frame says up to where it was
 * cut, or goes wrong, holds.
 */
#ifndef ROCE_LLDP_H
#define ROCE_LLDP_H

#include "roce/linkage.h"
#include "roce/packet.h"

#include <stdbool.h>
#include <stdint.h>

ROCE_BEGIN

#define ROCE_ETHERTYPE_LLDP 0x88cc
#define ROCE_DCB_APPS 32      /* kept of one frame; others are counted */
#define ROCE_DCB_APP_VLANS 16 /* likewise */

/* A string or identifier in the frame; borrowed from it. */
typedef struct roce_lldp_text {
    const uint8_t *bytes; /* NULL: not there */
    uint16_t n_bytes;     /* 0..511 */
    uint8_t subtype;      /* of chassis and port: what kind of identifier; else 0 */
} roce_lldp_text;

/* Subtypes of identifiers that are no text (802.1AB 8.5.2.2, 8.5.3.2). */
#define ROCE_LLDP_CHASSIS_MAC 4
#define ROCE_LLDP_CHASSIS_ADDRESS 5
#define ROCE_LLDP_PORT_MAC 3
#define ROCE_LLDP_PORT_ADDRESS 4

/* How a traffic class is served (802.1Q table D-4). */
typedef enum roce_dcb_algorithm {
    ROCE_DCB_STRICT = 0,
    ROCE_DCB_CREDIT_SHAPER = 1,
    ROCE_DCB_ETS = 2,
    ROCE_DCB_VENDOR = 255,
} roce_dcb_algorithm;

#define ROCE_DCB_GROUP_STRICT 15 /* CEE: this priority group is served first */

/* Enhanced transmission selection: 802.1Q D.2.8 and D.2.9; CEE: the priority groups take
 * the place of traffic classes. */
typedef struct roce_dcb_ets {
    bool present;
    bool on; /* IEEE: always; CEE: the feature's own enable bit */
    bool willing;
    bool credit_shaper;           /* IEEE */
    uint8_t max_classes;          /* 1..8 */
    uint8_t class_of_priority[8]; /* 0..15 */
    uint8_t bandwidth_percent[8]; /* by class */
    uint8_t algorithm[8];         /* by class, roce_dcb_algorithm; CEE: all ETS */
} roce_dcb_ets;

/* Priority flow control: 802.1Q D.2.10. */
typedef struct roce_dcb_pfc {
    bool present;
    bool on; /* IEEE: always; CEE: the feature's own enable bit */
    bool willing;
    bool mbc;           /* IEEE: MACsec bypass capable */
    uint8_t capability; /* how many classes can have it at once, as the wire says it */
    uint8_t enabled;    /* bit n: priority n */
} roce_dcb_pfc;

/* What the protocol of an application is a number of (802.1Q table D-9); CEE knows
 * the first and the fourth. */
typedef enum roce_dcb_selector {
    ROCE_DCB_ETHERTYPE = 1, /* 0: all else */
    ROCE_DCB_TCP_PORT = 2,  /* or SCTP */
    ROCE_DCB_UDP_PORT = 3,  /* or DCCP */
    ROCE_DCB_ANY_PORT = 4,
    ROCE_DCB_DSCP = 5,
} roce_dcb_selector;

/* 802.1Q D.2.11. */
typedef struct roce_dcb_app {
    uint8_t selector;   /* roce_dcb_selector, or a value that is reserved */
    uint8_t priorities; /* bit n: priority n; IEEE names one */
    uint16_t protocol;
} roce_dcb_app;

/* 802.1Qcd, now 802.1Q D.2.14. */
typedef struct roce_dcb_app_vlan {
    uint16_t vid; /* 12 bits */
    uint16_t selector;
    uint16_t protocol;
} roce_dcb_app_vlan;

/* What one version of DCBX says. */
typedef struct roce_dcb {
    bool present; /* any of the following is */
    roce_dcb_ets ets, ets_recommended;
    roce_dcb_pfc pfc;
    bool apps_willing, apps_on; /* CEE; IEEE: false, true */
    uint16_t n_apps;            /* of which the first ROCE_DCB_APPS are kept */
    roce_dcb_app apps[ROCE_DCB_APPS];
    uint16_t n_app_vlans; /* of which the first ROCE_DCB_APP_VLANS are kept */
    roce_dcb_app_vlan app_vlans[ROCE_DCB_APP_VLANS];
} roce_dcb;

typedef struct roce_lldp {
    roce_outcome outcome; /* decoded, truncated or malformed */
    roce_lldp_text chassis, port, system_name;
    bool has_ttl;
    uint16_t ttl_s; /* 0: the port takes back what it said */
    roce_dcb ieee, cee;
} roce_lldp;

/* Decodes an LLDPDU: `captured` bytes at `bytes`, behind the ethertype, of `wire`.  Every
 * field of *lldp is set; texts point into `bytes`. */
void
roce_lldp_decode(const uint8_t *bytes, uint32_t captured, uint32_t wire,
                 roce_lldp *lldp);

/* Whether a decoded packet is LLDP, in or out of a mirror or tunnel; then decodes it from
 * its frame. */
bool
roce_lldp_of_frame(const roce_frame *frame, const roce_packet *packet, roce_lldp *lldp);

ROCE_END

#endif
