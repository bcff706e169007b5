/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Mirrors known by the bytes around their copies: which ones, where, and how many. */
#include "packet_maker.h"

#include "mirrors.h"

#define MANY 40

/* A copy that a switch of that number has made in a session. */
static packet_maker
copy_of(guint number, guint session)
{
    packet_maker in = {0};
    packet_maker m = {0};
    put_ethernet_ipv4_udp(&in, 20);
    put_bytes(&in, RC_ACK, RC_ACK_SIZE);
    put_bytes(&m, MACS IS_IPV4 "\x45\x00", 16);
    put_number(&m, 2, 20 + 16 + in.n);
    put_bytes(&m, "\x00\x07\x40\x00\x3d\x2f\xab\xcd\x0a\x09", 10);
    put_number(&m, 2, number);
    put_bytes(&m, "\x0a\x09\x00\x02\x10\x00\x88\xbe\x00\x00\x00\x09\x10\x00", 14);
    put_number(&m, 2, session);
    put_bytes(&m, "\x00\x00\x00\x03", 4);
    put_bytes(&m, in.bytes, in.n);
    return m;
}

static roce_frame
frame_of(const packet_maker *m, guint32 point)
{
    return (roce_frame){
        .bytes = m->bytes,
        .captured_bytes = m->n,
        .wire_bytes = m->n,
        .number = 1,
        .point = point,
        .link = ROCE_LINK_ETHERNET,
    };
}

static void
note(rs_mirrors *mirrors, guint file_i, guint interface, const packet_maker *m,
     guint32 point)
{
    roce_packet packet;
    const roce_frame frame = frame_of(m, point);
    decode(ROCE_LINK_ETHERNET, m->bytes, m->n, m->n, &packet);
    rs_mirrors_note(mirrors, file_i, interface, &frame, &packet);
}

/* The point that it is known by; G_MAXUINT32: it is not known. */
static guint32
point_of(const rs_mirrors *mirrors, guint file_i, guint interface,
         const packet_maker *m)
{
    roce_frame inner;
    const roce_frame frame = frame_of(m, 99);
    return rs_mirrors_open(mirrors, file_i, interface, &frame, &inner) ? inner.point
                                                                       : G_MAXUINT32;
}

static void
test_where(void)
{
    rs_mirrors *mirrors = rs_mirrors_new();
    const packet_maker one = copy_of(1, 5);
    const packet_maker other = copy_of(1, 6);
    CHECK(!rs_mirrors_any(mirrors));
    note(mirrors, 0, 0, &one, 3);
    CHECK(rs_mirrors_any(mirrors));
    note(mirrors, 0, 1, &one, 4);
    note(mirrors, 1, 0, &one, 5);
    CHECK_INT(point_of(mirrors, 0, 0, &one), 3);
    CHECK_INT(point_of(mirrors, 0, 1, &one), 4);
    CHECK_INT(point_of(mirrors, 1, 0, &one), 5);
    CHECK_INT(point_of(mirrors, 1, 1, &one), G_MAXUINT32);
    CHECK_INT(point_of(mirrors, 0, 0, &other), G_MAXUINT32);
    note(mirrors, 0, 0, &other, 6);
    CHECK_INT(point_of(mirrors, 0, 0, &one), 3);
    CHECK_INT(point_of(mirrors, 0, 0, &other), 6);
    rs_mirrors_free(mirrors);
}

static void
test_no_mirror(void)
{
    rs_mirrors *mirrors = rs_mirrors_new();
    packet_maker m = {0};
    put_ethernet_ipv4_udp(&m, 20);
    put_bytes(&m, RC_ACK, RC_ACK_SIZE);
    note(mirrors, 0, 0, &m, 3);
    CHECK(!rs_mirrors_any(mirrors));
    m.n = 8; /* nothing of it that could be looked at */
    CHECK_INT(point_of(mirrors, 0, 0, &m), G_MAXUINT32);
    rs_mirrors_free(mirrors);
}

/* Of very many, the newest ones are known. */
static void
test_many(void)
{
    rs_mirrors *mirrors = rs_mirrors_new();
    for (guint i = 0; i < MANY; i++) {
        const packet_maker m = copy_of(1, i);
        note(mirrors, 0, 0, &m, i);
        CHECK_INT(point_of(mirrors, 0, 0, &m), i);
    }
    guint n_known = 0;
    for (guint i = 0; i < MANY; i++) {
        const packet_maker m = copy_of(1, i);
        guint32 point = point_of(mirrors, 0, 0, &m);
        n_known += point != G_MAXUINT32 ? 1 : 0;
        CHECK(point == i || point == G_MAXUINT32);
    }
    CHECK(n_known >= 2 && n_known < MANY);
    rs_mirrors_free(mirrors);
    mirrors = rs_mirrors_new();
    for (guint i = 0; i < MANY; i++) { /* a fabric, each switch with a session */
        const packet_maker m = copy_of(i, 5);
        note(mirrors, 0, 0, &m, i);
    }
    n_known = 0;
    for (guint i = 0; i < MANY; i++) {
        const packet_maker m = copy_of(i, 5);
        n_known += point_of(mirrors, 0, 0, &m) == i ? 1 : 0;
    }
    CHECK(n_known > MANY * 9 / 10);
    rs_mirrors_free(mirrors);
    rs_mirrors_free(NULL);
}

int
main(void)
{
    test_where();
    test_no_mirror();
    test_many();
    return check_status();
}
