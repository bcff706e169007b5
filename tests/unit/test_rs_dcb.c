/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Ports by their LLDP: what they said last, the ends of a link, and the table's bounds. */
#include "check.h"
#include "dcb.h"

#include <string.h>

/* clang-format off */
#define CHASSIS_MAC "\x02\x07\x04\x02\x00\x00\x00\x00\x11"
#define CHASSIS_IPV4 "\x02\x06\x05\x01\x0a\x00\x00\x01"
#define PORT "\x04\x05\x05" "swp1"
#define TTL "\x06\x02\x00\x78"
#define NO_TTL "\x06\x02\x00\x00"
#define PFC(priorities) "\xfe\x06\x00\x80\xc2\x0b\x08" priorities
#define APP "\xfe\x08\x00\x80\xc2\x0c\x00\x63\x12\xb7" /* UDP 4791 in 3 */
#define CEE_PFC_4 "\xfe\x0c\x00\x1b\x21\x02" "\x06\x06\x00\x00\x80\x00\x10\x08"
#define END "\x00\x00"
#define LLDPDU(literal) (const guint8 *)(literal), sizeof(literal) - 1
/* clang-format on */

static const guint8 nearest[6] = {0x01, 0x80, 0xc2, 0x00, 0x00, 0x0e};
static const guint8 customer[6] = {0x01, 0x80, 0xc2, 0x00, 0x00, 0x00};

/* A frame from the MAC that ends in `port`, of which `cut` bytes were not captured. */
static void
say(rs_dcb *dcb, guint32 point, guint16 port, const guint8 *to, const guint8 *bytes,
    gsize n, guint32 cut)
{
    static guint64 number;
    guint8 frame_bytes[256] = {0};
    memcpy(frame_bytes + 14, bytes, n);
    const roce_frame frame = {
        .bytes = frame_bytes,
        .captured_bytes = (uint32_t)(14 + n) - cut,
        .wire_bytes = (uint32_t)(14 + n),
        .number = ++number,
        .point = point,
    };
    roce_packet packet = {.lldp_offset = 14, .ethertype = ROCE_ETHERTYPE_LLDP};
    packet.src_mac[4] = (guint8)(port >> 8);
    packet.src_mac[5] = (guint8)port;
    memcpy(packet.dst_mac, to, 6);
    const rs_sight sight = {.frame = &frame, .packet = &packet, .n = 1};
    rs_dcb_packet(dcb, &sight);
}

static void
check_last_word(void)
{
    static const struct {
        const char *name;
        const guint8 *bytes;
        gsize n;
        guint32 cut;
        rs_dcbx version;
        int pfc; /* -1: it does not say */
        guint64 changes;
    } rows[] = {
        {"the first word", LLDPDU(CHASSIS_MAC PORT TTL PFC("\x08") END), 0,
         RS_DCBX_IEEE, 0x08, 0},
        {"the same again", LLDPDU(CHASSIS_MAC PORT TTL PFC("\x08") END), 0,
         RS_DCBX_IEEE, 0x08, 0},
        {"another", LLDPDU(CHASSIS_MAC PORT TTL PFC("\x10") END), 0, RS_DCBX_IEEE, 0x10,
         1},
        {"cut in front of it: what was said stays",
         LLDPDU(CHASSIS_MAC PORT TTL APP PFC("\x20") END), 5, RS_DCBX_IEEE, 0x10, 2},
        {"malformed: not heard", LLDPDU(CHASSIS_MAC TTL PFC("\x40") END), 0,
         RS_DCBX_IEEE, 0x10, 2},
        {"both languages: IEEE's counts",
         LLDPDU(CHASSIS_MAC PORT TTL CEE_PFC_4 PFC("\x08") END), 0, RS_DCBX_IEEE, 0x08,
         3},
        {"CEE alone", LLDPDU(CHASSIS_MAC PORT TTL CEE_PFC_4 END), 0, RS_DCBX_CEE, 0x10,
         4},
        {"nothing more", LLDPDU(CHASSIS_MAC PORT TTL END), 0, RS_DCBX_NONE, -1, 5},
        {"again", LLDPDU(CHASSIS_MAC PORT TTL PFC("\x08") END), 0, RS_DCBX_IEEE, 0x08,
         6},
        {"taken back", LLDPDU(CHASSIS_MAC PORT NO_TTL PFC("\x08") END), 0, RS_DCBX_NONE,
         -1, 7},
    };
    rs_dcb *dcb = rs_dcb_new();
    for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
        check_row(rows[i].name);
        say(dcb, 0, 1, nearest, rows[i].bytes, rows[i].n, rows[i].cut);
        rs_dcb_finish(dcb);
        const rs_dcb_port *port = rs_dcb_port_at(dcb, 0);
        guint8 pfc = 0;
        gboolean says = rs_dcb_port_pfc(port, &pfc);
        CHECK_INT(says ? pfc : -1, rows[i].pfc);
        CHECK_INT(port->version, rows[i].version);
        CHECK_INT(port->changes, rows[i].changes);
        CHECK_INT(port->frames, i + 1);
    }
    check_row(NULL);
    CHECK_INT(rs_dcb_port_at(dcb, 0)->truncated, 1);
    CHECK_INT(rs_dcb_port_at(dcb, 0)->malformed, 1);
    rs_dcb_free(dcb);
}

static void
check_links(void)
{
    static const struct {
        const char *name;
        guint n;
        const guint8 *to;
        gboolean link, one_link;
    } rows[] = {
        {"nobody", 0, nearest, FALSE, FALSE},
        {"one end", 1, nearest, FALSE, TRUE},
        {"two ends", 2, nearest, TRUE, TRUE},
        {"three ports", 3, nearest, FALSE, FALSE},
        {"two that speak over bridges", 2, customer, FALSE, FALSE},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
        check_row(rows[i].name);
        rs_dcb *dcb = rs_dcb_new();
        guint first = 9;
        say(dcb, 4, 7, nearest, LLDPDU(CHASSIS_IPV4 PORT TTL PFC("\x08") END), 0);
        for (guint k = 0; k < rows[i].n; k++) {
            say(dcb, 5, (guint16)(9 - k), rows[i].to,
                LLDPDU(CHASSIS_IPV4 PORT TTL PFC("\x08") END), 0);
        }
        rs_dcb_finish(dcb);
        CHECK_INT(rs_dcb_link(dcb, 5, &first), rows[i].link);
        CHECK(!rows[i].link || first == 1);
        CHECK_INT(rs_dcb_one_link(dcb, 5), rows[i].one_link);
        CHECK(rs_dcb_one_link(dcb, 4));
        CHECK_STR(rs_dcb_port_at(dcb, 0)->chassis, "10.0.0.1");
        rs_dcb_free(dcb);
    }
    check_row(NULL);
}

static void
check_point(void)
{
    rs_dcb *dcb = rs_dcb_new();
    guint8 some = 0xff, all = 0xff;
    say(dcb, 0, 1, nearest, LLDPDU(CHASSIS_MAC PORT TTL PFC("\x18") END), 0);
    say(dcb, 0, 2, nearest, LLDPDU(CHASSIS_MAC PORT TTL PFC("\x28") END), 0);
    say(dcb, 0, 3, nearest, LLDPDU(CHASSIS_MAC PORT TTL END), 0);
    rs_dcb_finish(dcb);
    CHECK(rs_dcb_point_pfc(dcb, 0, &some, &all));
    CHECK_INT(some, 0x38);
    CHECK_INT(all, 0x08);
    CHECK(!rs_dcb_point_pfc(dcb, 1, &some, &all));
    rs_dcb_free(dcb);
}

/* The table takes 1,024 ports, and counts what comes from others. */
static void
check_bounds(void)
{
    rs_dcb *dcb = rs_dcb_new();
    for (guint i = 0; i < 1026; i++) {
        say(dcb, 0, (guint16)i, nearest, LLDPDU(CHASSIS_MAC PORT TTL END), 0);
    }
    say(dcb, 0, 0, nearest, LLDPDU(CHASSIS_MAC PORT TTL END), 0);
    rs_dcb_finish(dcb);
    CHECK_INT(rs_dcb_n_ports(dcb), 1024);
    CHECK_INT(rs_dcb_beyond(dcb), 2);
    CHECK_INT(rs_dcb_port_at(dcb, 0)->frames, 2);
    rs_dcb_free(dcb);
}

int
main(void)
{
    check_last_word();
    check_links();
    check_point();
    check_bounds();
    return check_status();
}
