/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whose a MAC is. */
#include "nics.h"

#include "sight_maker.h"

static const guint8 mac[6] = {2, 0, 0, 0, 0, 1};
static const guint8 other_mac[6] = {2, 0, 0, 0, 0, 2};

static void
check_hop_limits(void)
{
    static const struct {
        const char *name;
        uint8_t hop_limit;
        bool has_macs;
        bool owns;
    } cases[] = {
        {"63: a router passed it on", 63, true, false},
        {"64", 64, true, true},
        {"65", 65, true, false},
        {"127", 127, true, false},
        {"128", 128, true, true},
        {"254", 254, true, false},
        {"255", 255, true, true},
        {"no MACs in this capture", 64, false, false},
    };
    for (size_t i = 0; i < N_ROWS(cases); i++) {
        check_row(cases[i].name);
        sight_maker m;
        sight_maker_init(&m);
        rs_nics *nics = rs_nics_new();
        rs_sight *sight = make_sight(&m, 0, 0);
        memcpy(m.packet.src_mac, mac, sizeof mac);
        m.packet.hop_limit = cases[i].hop_limit;
        m.packet.has_macs = cases[i].has_macs;
        rs_nics_packet(nics, sight);
        CHECK_INT(rs_nics_owns(nics, 0, &m.streams[0].src, mac), cases[i].owns);
        rs_nics_free(nics);
    }
}

/* Two addresses on one NIC. */
static void
check_hosts(void)
{
    sight_maker m;
    sight_maker_init(&m);
    rs_nics *nics = rs_nics_new();
    for (unsigned stream = 0; stream < 2; stream++) {
        rs_sight *sight = make_sight(&m, stream, stream);
        memcpy(m.packet.src_mac, mac, sizeof mac);
        rs_nics_packet(nics, sight);
    }
    check_row("both are its hosts");
    CHECK_INT(rs_nics_hosts(nics, 0, mac)->len, 2);
    CHECK(rs_nics_owns(nics, 0, &m.streams[1].src, mac));
    check_row("and nobody else");
    CHECK(!rs_nics_owns(nics, 0, &m.streams[0].dst, mac));
    CHECK(!rs_nics_owns(nics, 0, &m.streams[0].src, other_mac));
    CHECK(!rs_nics_owns(nics, 1, &m.streams[0].src, mac));
    CHECK(rs_nics_hosts(nics, 0, other_mac) == NULL);
    rs_nics_free(nics);
}

int
main(void)
{
    check_hop_limits();
    check_hosts();
    return check_status();
}
