/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What was seen at each point, known again when a file begins with it.
 *
 * The one rule: the n-th packet is the same wherever it is made.
 */
#include "packet_maker.h"

#include "recall.h"

#include <glib.h>
#include <glib/gstdio.h>

#define COMES_ROUND (UINT64_C(1) << 23) /* as recall.c has it */

/* Part of a packet's number: it is from another host, or from one that numbers none. */
#define OF_OTHER (UINT32_C(1) << 23)
#define UNNUMBERED (UINT32_C(1) << 22)

/* A SEND Only of 4 bytes, or with `cnp` a CNP. */
static packet_maker
nth_packet(uint32_t n, bool cnp)
{
    packet_maker m = {.n = 0};
    put_ethernet_ipv4_udp(&m, 20);
    m.bytes[14 + 4] = (uint8_t)(n & UNNUMBERED ? 0 : n >> 8);
    m.bytes[14 + 5] = (uint8_t)(n & UNNUMBERED ? 0 : n);
    m.bytes[14 + 15] ^= n & OF_OTHER ? 1 : 0;
    put_bytes(&m, cnp ? "\x81" : "\x04", 1);
    put_bytes(&m, "\x40\xff\xff\x00\x00\x00\x11", 7);
    put_number(&m, 4, cnp ? 0 : n & 0xffffff);
    put_number(&m, 4, n);
    put_bytes(&m, ICRC, 4);
    return m;
}

/* Every other one as a car. */
static void
add(rs_recall *recall, guint point, uint32_t n, uint64_t number)
{
    packet_maker m = nth_packet(n, false);
    const roce_frame frame = {
        .bytes = m.bytes, .captured_bytes = m.n, .wire_bytes = m.n, .number = number};
    roce_ports ports;
    roce_ports_init(&ports);
    roce_packet packet;
    roce_decode(&frame, &ports, &packet);
    roce_wire_identity identity;
    CHECK(roce_wire_identity_of(&frame, &packet, &identity));
    if (n % 2 == 0) {
        rs_recall_add(recall, point, &frame, &packet);
    } else {
        rs_recall_note(recall, point, number, &identity);
    }
}

static GByteArray *
new_capture(void)
{
    static const guint32 header[] = {0xa1b23c4d, 0x00040002, 0, 0, 65535, 1};
    return g_byte_array_append(g_byte_array_new(), (const guint8 *)header,
                               sizeof header);
}

static void
append(GByteArray *capture, uint32_t n, bool cnp)
{
    packet_maker m = nth_packet(n, cnp);
    const guint32 record[] = {1, n, m.n, m.n};
    g_byte_array_append(capture, (const guint8 *)record, sizeof record);
    g_byte_array_append(capture, m.bytes, m.n);
}

static rs_beginning *
read_beginning(const GByteArray *capture)
{
    g_autofree char *path = NULL;
    gint file = g_file_open_tmp("rocescope-XXXXXX", &path, NULL);
    CHECK(file >= 0 && g_close(file, NULL));
    CHECK(g_file_set_contents(path, (const char *)capture->data, capture->len, NULL));
    roce_ports ports;
    roce_ports_init(&ports);
    rs_beginning *beginning = rs_beginning_read(path, &ports);
    g_unlink(path);
    return beginning;
}

/* A classic capture of packets first..end-1. */
static rs_beginning *
beginning_of(uint32_t first, uint32_t end, bool cnp)
{
    g_autoptr(GByteArray) capture = new_capture();
    for (uint32_t n = first; n < end; n++) {
        append(capture, n, cnp);
    }
    return read_beginning(capture);
}

static void
test_known(void)
{
    static const struct {
        const char *name;
        guint point;
        uint32_t first,
            end; /* of the file that begins; 100..199 were seen at point 0 */
        bool cnp;
        guint interface_i;
        bool known;
    } rows[] = {
        {"the same", 0, 100, 200, false, 0, true},
        {"from the middle on", 0, 150, 200, false, 0, true},
        {"one packet", 0, 100, 101, false, 0, true},
        {"at another point", 1, 100, 200, false, 0, false},
        {"of another interface", 0, 100, 200, false, 1, false},
        {"what follows", 0, 200, 300, false, 0, false},
        {"half of it", 0, 150, 250, false, 0, false},
        {"one more than half", 0, 149, 249, false, 0, true},
        {"half of it, and not the first", 0, 0, 200, false, 0, false},
        {"nothing", 0, 100, 100, false, 0, false},
        {"CNPs tell nothing", 0, 100, 200, true, 0, false},
    };
    rs_recall *recall = rs_recall_new();
    for (uint32_t n = 100; n < 200; n++) {
        add(recall, 0, n, n);
    }
    for (size_t i = 0; i < N_ROWS(rows); i++) {
        check_row(rows[i].name);
        rs_beginning *beginning = beginning_of(rows[i].first, rows[i].end, rows[i].cnp);
        CHECK_INT(
            rs_recall_knows(recall, rows[i].point, beginning, rows[i].interface_i),
            rows[i].known);
        rs_beginning_free(beginning);
    }
    rs_recall_free(recall);
    rs_recall_free(NULL);
    rs_beginning_free(NULL);
}

/* A file that began before the other one has packets in front that are not known. */
static void
test_began_before(void)
{
    static const struct {
        const char *name;
        guint point; /* 0 saw 1000..4999, 1 a third of them */
        uint32_t first, end;
        bool known;
    } rows[] = {
        {"long before", 0, 300, 1257, true},
        {"one less than a round and one", 0, 300, 1256, false},
        {"a round that is sent again", 0, 4900, 5500, false},
        {"and in front of it", 0, 700, 2000, true},
        {"a part", 1, 300, 5300, true},
        {"a smaller part", 1, 300, 4000, false},
        {"nothing of it", 1, 5000, 9000, false},
    };
    rs_recall *recall = rs_recall_new();
    for (uint32_t n = 1000; n < 5000; n++) {
        add(recall, 0, n, n);
        if (n % 3 == 0) {
            add(recall, 1, n, n);
        }
    }
    for (size_t i = 0; i < N_ROWS(rows); i++) {
        check_row(rows[i].name);
        rs_beginning *beginning = beginning_of(rows[i].first, rows[i].end, false);
        CHECK_INT(rs_recall_knows(recall, rows[i].point, beginning, 0), rows[i].known);
        rs_beginning_free(beginning);
    }
    rs_recall_free(recall);
}

/* What one of two hosts sends was seen, and nothing of the other, as in a file of one direction
 * beside one of both. */
static void
test_one_direction(void)
{
    static const struct {
        const char *name;
        uint32_t kind;
        uint32_t first, end; /* 1000..4999 of one host were seen */
        bool known;
    } rows[] = {
        {"eight packets", 0, 1000, 1008, true},
        {"seven", 0, 1000, 1007, false},
        {"half of them", 0, 980, 1020, false},
        {"one more than half", 0, 981, 1021, true},
        {"what follows", 0, 5000, 6000, false},
        {"not numbered, as many as may be sent again", UNNUMBERED, 1000, 1256, false},
        {"one more", UNNUMBERED, 1000, 1257, true},
    };
    for (size_t i = 0; i < N_ROWS(rows); i++) {
        check_row(rows[i].name);
        rs_recall *recall = rs_recall_new();
        for (uint32_t n = 1000; n < 5000; n++) {
            add(recall, 0, n | rows[i].kind | OF_OTHER, n);
        }
        g_autoptr(GByteArray) capture = new_capture();
        for (uint32_t n = rows[i].first; n < rows[i].end; n++) {
            append(capture, n | rows[i].kind, false);
            append(capture, n | rows[i].kind | OF_OTHER, false);
        }
        rs_beginning *beginning = read_beginning(capture);
        CHECK_INT(rs_recall_knows(recall, 0, beginning, 0), rows[i].known);
        rs_beginning_free(beginning);
        rs_recall_free(recall);
    }
}

/* What nothing numbers looks the same when it is sent again. */
static void
test_round(void)
{
    static const struct {
        const char *name;
        uint32_t kind;
        uint32_t first, middle,
            end; /* sent again, 1000..4999 were seen; then new ones */
        bool known;
    } rows[] = {
        {"the last ones, numbered", 0, 4744, 5000, 5000, true},
        {"as many as may be sent again", UNNUMBERED, 4745, 5000, 5000, false},
        {"more, and no more than new ones", UNNUMBERED, 4600, 5000, 5145, false},
        {"all is known", UNNUMBERED, 1000, 1255, 1255, true},
        {"from the beginning on", UNNUMBERED, 1000, 5000, 9000, true},
    };
    rs_recall *recall[2] = {rs_recall_new(), rs_recall_new()};
    for (uint32_t n = 1000; n < 5000; n++) {
        add(recall[0], 0, n, n);
        add(recall[1], 0, n | UNNUMBERED, n);
    }
    for (size_t i = 0; i < N_ROWS(rows); i++) {
        check_row(rows[i].name);
        g_autoptr(GByteArray) capture = new_capture();
        for (guint times = 0; times < 3; times++) {
            for (uint32_t n = rows[i].first; n < rows[i].middle; n++) {
                append(capture, n | rows[i].kind, false);
            }
        }
        for (uint32_t n = rows[i].middle; n < rows[i].end; n++) {
            append(capture, n | rows[i].kind, false);
        }
        rs_beginning *beginning = read_beginning(capture);
        CHECK_INT(rs_recall_knows(recall[rows[i].kind != 0], 0, beginning, 0),
                  rows[i].known);
        rs_beginning_free(beginning);
    }
    rs_recall_free(recall[0]);
    rs_recall_free(recall[1]);
}

/* Numbers come round: what was seen too long ago is another packet. */
static void
test_too_long_ago(void)
{
    static const struct {
        const char *name;
        uint64_t behind;
        bool known;
    } rows[] = {
        {"one less", COMES_ROUND - 1, true},
        {"at the limit", COMES_ROUND, false},
        {"one more", COMES_ROUND + 1, false},
    };
    rs_beginning *beginning = beginning_of(7, 8, false);
    for (size_t i = 0; i < N_ROWS(rows); i++) {
        check_row(rows[i].name);
        rs_recall *recall = rs_recall_new();
        add(recall, 0, 7, 1);
        add(recall, 0, 8, 1 + rows[i].behind);
        CHECK_INT(rs_recall_knows(recall, 0, beginning, 0), rows[i].known);
        rs_recall_free(recall);
    }
    rs_beginning_free(beginning);
}

/* Far more packets than the table holds: a sample of all of them is left. */
static void
test_many(void)
{
    check_row("many");
    rs_recall *recall = rs_recall_new();
    for (uint32_t n = 0; n < 400000; n++) {
        add(recall, n % 2, n, n);
    }
    rs_beginning *whole = beginning_of(1000, 4000, false);
    rs_beginning *next = beginning_of(400000, 403000, false);
    for (guint point = 0; point < 2; point++) {
        /* Each point has one half of them, and that is not more than half. */
        CHECK(!rs_recall_knows(recall, point, next, 0));
    }
    for (uint32_t n = 0; n < 400000; n += 2) {
        add(recall, 1, n, 400000 + n);
    }
    CHECK(rs_recall_knows(recall, 1, whole, 0));
    CHECK(!rs_recall_knows(recall, 1, next, 0));
    rs_beginning_free(whole);
    rs_beginning_free(next);
    rs_recall_free(recall);
}

static void
test_unreadable(void)
{
    check_row("unreadable");
    roce_ports ports;
    roce_ports_init(&ports);
    rs_recall *recall = rs_recall_new();
    rs_beginning *beginning = rs_beginning_read("/nowhere/at/all", &ports);
    CHECK(beginning != NULL && !rs_recall_knows(recall, 0, beginning, 0));
    rs_beginning_free(beginning);
    rs_recall_free(recall);
}

int
main(void)
{
    test_known();
    test_began_before();
    test_one_direction();
    test_round();
    test_too_long_ago();
    test_many();
    test_unreadable();
    return check_status();
}
