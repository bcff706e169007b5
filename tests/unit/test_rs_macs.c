/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whose MAC addresses are whose, by the IP packets between them. */
#include "check.h"
#include "macs.h"

#include <string.h>

#define MOST 4

/* A packet: MAC addresses and hosts by number; multicast is MAC address 0xff. */
typedef struct sent {
    guint8 src_mac, dst_mac, src, dst, hop_limit;
    roce_class class;
    roce_transport transport;
} sent;

#define RC ROCE_CLASS_ROCE, ROCE_TRANSPORT_RC
#define CNP ROCE_CLASS_ROCE, ROCE_TRANSPORT_CNP
#define TCP ROCE_CLASS_OTHER, ROCE_TRANSPORT_UNKNOWN

/* What MAC address 1 is, and which one a port of the network stops there that no packet has
 * (0: unclear). */
/* clang-format off */
static const struct {
    const char *name;
    sent packets[MOST]; /* hop limit 0 behind the last */
    rs_sender sender;
    rs_sender_evidence evidence;
    guint8 stopped;
} rows[] = {
    {"nothing was seen", {{0}}, RS_SENDER_UNKNOWN, RS_SENDER_BY_NOTHING, 0},
    {"it sends as hosts do", {{1, 2, 1, 2, 64, RC}},
     RS_SENDER_HOST, RS_SENDER_BY_OWN_PACKETS, 0},
    {"to several, over bridges", {{1, 2, 1, 2, 64, RC}, {1, 3, 1, 3, 64, RC}},
     RS_SENDER_HOST, RS_SENDER_BY_OWN_PACKETS, 1},
    {"hop limits of 255, 128 and 1", {{1, 2, 1, 2, 255, RC}, {1, 2, 1, 2, 128, RC}, {1, 2, 1, 2, 1, RC}},
     RS_SENDER_HOST, RS_SENDER_BY_OWN_PACKETS, 0},
    {"CNPs alone: a switch sends some", {{1, 2, 1, 2, 64, CNP}},
     RS_SENDER_UNKNOWN, RS_SENDER_BY_NOTHING, 0},
    {"no RoCE: a router may talk", {{1, 2, 1, 2, 64, TCP}},
     RS_SENDER_UNKNOWN, RS_SENDER_BY_NOTHING, 0},
    {"lower than what the other end sends", {{1, 2, 1, 2, 63, RC}, {2, 1, 2, 1, 64, RC}},
     RS_SENDER_NETWORK, RS_SENDER_BY_FORWARDING, 2},
    {"between routers", {{1, 2, 1, 2, 63, RC}, {1, 2, 3, 2, 63, RC}, {2, 1, 2, 1, 62, RC}, {2, 1, 2, 3, 62, RC}},
     RS_SENDER_NETWORK, RS_SENDER_BY_FORWARDING, 0},
    {"of several hosts", {{1, 2, 1, 2, 63, RC}, {1, 2, 3, 2, 63, RC}},
     RS_SENDER_NETWORK, RS_SENDER_BY_FORWARDING, 0},
    {"CNPs of its own beside", {{1, 2, 1, 2, 63, RC}, {1, 2, 9, 2, 64, CNP}},
     RS_SENDER_NETWORK, RS_SENDER_BY_FORWARDING, 0},
    {"an odd hop limit, and nothing to compare", {{1, 2, 1, 2, 63, RC}, {2, 1, 2, 1, 63, RC}},
     RS_SENDER_UNKNOWN, RS_SENDER_BY_NOTHING, 0},
    {"it only takes", {{2, 1, 2, 1, 64, RC}},
     RS_SENDER_UNKNOWN, RS_SENDER_BY_NOTHING, 0},
    {"it forwards to several", {{1, 2, 1, 2, 63, RC}, {1, 3, 2, 3, 63, RC}},
     RS_SENDER_AMBIGUOUS, RS_SENDER_BY_PARTNERS, 1},
    {"it is in nothing", {{2, 3, 1, 2, 64, RC}},
     RS_SENDER_NETWORK, RS_SENDER_BY_ABSENCE, 0},
    {"it is in nothing, nor is RoCE", {{2, 3, 1, 2, 64, TCP}},
     RS_SENDER_UNKNOWN, RS_SENDER_BY_NOTHING, 0},
    {"behind a bridge's port one host and the others",
     {{2, 3, 2, 3, 64, RC}, {4, 2, 4, 2, 64, RC}, {2, 4, 2, 4, 64, RC}},
     RS_SENDER_NETWORK, RS_SENDER_BY_ABSENCE, 2},
    {"nobody is in all", {{2, 3, 2, 3, 64, RC}, {4, 5, 4, 5, 64, RC}, {2, 3, 2, 3, 64, RC}},
     RS_SENDER_NETWORK, RS_SENDER_BY_ABSENCE, 0},
    {"multicast has no other end", {{2, 0xff, 2, 3, 64, RC}, {2, 3, 2, 3, 64, RC}, {4, 2, 4, 2, 64, RC}},
     RS_SENDER_NETWORK, RS_SENDER_BY_ABSENCE, 2},
};
/* clang-format on */

static rs_mac *
mac_of(rs_macs *macs, guint32 point, guint8 number)
{
    const guint8 bytes[6] = {number == 0xff ? 1 : 2, 0, 0, 0, 0, number};
    return rs_macs_get(macs, point, bytes);
}

static void
take(rs_macs *macs, const sent *s)
{
    const roce_packet packet = {
        .kind = s->class,
        .transport = s->transport,
        .has_bth = s->class == ROCE_CLASS_ROCE,
        .hop_limit = s->hop_limit,
        .src = {.family = 4, .bytes = {10, 0, 0, s->src}},
        .dst = {.family = 4, .bytes = {10, 0, 0, s->dst}},
    };
    rs_macs_learn(macs, mac_of(macs, 0, s->src_mac), mac_of(macs, 0, s->dst_mac),
                  &packet);
}

static void
check_rows(void)
{
    for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
        check_row(rows[i].name);
        rs_macs *macs = rs_macs_new();
        for (guint k = 0; k < MOST && rows[i].packets[k].hop_limit != 0; k++) {
            take(macs, &rows[i].packets[k]);
        }
        rs_sender_evidence evidence;
        CHECK_INT(rs_macs_sender(macs, mac_of(macs, 0, 1), &evidence), rows[i].sender);
        CHECK_INT(evidence, rows[i].evidence);
        const rs_mac *stopped = rs_macs_stopped_end(macs, 0);
        CHECK_INT(stopped != NULL ? stopped->bytes[5] : 0, rows[i].stopped);
        rs_macs_free(macs);
    }
    check_row(NULL);
}

/* The same bytes at two points are two; beyond its room there is none. */
static void
check_room(void)
{
    rs_macs *macs = rs_macs_new();
    CHECK(mac_of(macs, 0, 1) != mac_of(macs, 1, 1));
    CHECK(mac_of(macs, 0, 1) == mac_of(macs, 0, 1));
    CHECK_INT(rs_macs_n(macs), 2);
    for (guint32 i = 0; i < RS_MACS; i++) {
        guint8 bytes[6] = {2, 1};
        memcpy(bytes + 2, &i, sizeof i);
        (void)rs_macs_get(macs, 0, bytes);
    }
    CHECK_INT(rs_macs_n(macs), RS_MACS);
    CHECK(mac_of(macs, 0, 7) == NULL);
    rs_macs_free(macs);
}

int
main(void)
{
    check_rows();
    check_room();
    return check_status();
}
