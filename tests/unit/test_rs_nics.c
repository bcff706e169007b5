/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whose a MAC is. */
#include "nics.h"

#include "sight_maker.h"

static const guint8 mac[6] = {2, 0, 0, 0, 0, 1};
static const guint8 other_mac[6] = {2, 0, 0, 0, 0, 2};

/* A packet of a stream, as the watchers of MAC addresses and of NICs see it. */
static void
see(sight_maker *m, rs_nics *nics, rs_macs *macs, unsigned stream, uint8_t hop_limit)
{
    const rs_sight *sight = make_sight(m, stream, 0);
    memcpy(m->packet.src_mac, mac, sizeof mac);
    memcpy(m->packet.dst_mac, other_mac, sizeof other_mac);
    m->packet.hop_limit = hop_limit;
    rs_macs_learn(macs, rs_macs_get(macs, 0, mac), rs_macs_get(macs, 0, other_mac),
                  &m->packet);
    rs_nics_packet(nics, sight);
}

static gboolean
owns(const rs_nics *nics, guint32 point, const roce_addr *addr, const guint8 bytes[6])
{
    const GArray *hosts = rs_nics_hosts(nics, point, bytes);
    gboolean found = FALSE;
    for (guint i = 0; hosts != NULL && i < hosts->len; i++) {
        found |= roce_addr_equal(&g_array_index(hosts, rs_nic_host, i).addr, addr);
    }
    return found;
}

static void
check_hosts(void)
{
    /* clang-format off */
    static const struct {
        const char *name;
        uint8_t hop_limits[2]; /* of two addresses; 0: it sends nothing */
        bool first, second;
    } cases[] = {
        {"one host", {64, 0}, true, false},
        {"of two addresses", {64, 64}, true, true},
        {"a router that passes on what others send", {64, 63}, false, false},
        {"a router", {63, 62}, false, false},
    };
    /* clang-format on */
    for (size_t i = 0; i < N_ROWS(cases); i++) {
        check_row(cases[i].name);
        sight_maker m;
        sight_maker_init(&m);
        rs_nics *nics = rs_nics_new();
        rs_macs *macs = rs_macs_new();
        for (unsigned stream = 0; stream < 2; stream++) {
            if (cases[i].hop_limits[stream] != 0) {
                see(&m, nics, macs, stream, cases[i].hop_limits[stream]);
            }
        }
        rs_nics_finish(nics, macs);
        CHECK_INT(owns(nics, 0, &m.streams[0].src, mac), cases[i].first);
        CHECK_INT(owns(nics, 0, &m.streams[1].src, mac), cases[i].second);
        CHECK_INT(rs_nics_hosts(nics, 0, mac) != NULL, cases[i].first);
        CHECK(!owns(nics, 1, &m.streams[0].src, mac));
        CHECK(!owns(nics, 0, &m.streams[0].src, other_mac));
        CHECK(!owns(nics, 0, &m.streams[0].dst, mac));
        rs_macs_free(macs);
        rs_nics_free(nics);
    }
}

int
main(void)
{
    check_hosts();
    return check_status();
}
