/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The opcode table, code point by code point. */
#include "check.h"
#include "opcode_rows.h"

#include <stddef.h>

#define N(rows) (sizeof(rows) / sizeof(rows)[0])

static void
test_defined(void)
{
    for (size_t i = 0; i < N(opcode_rows); i++) {
        const opcode_row *row = &opcode_rows[i];
        check_row(row->name);
        const roce_opcode_info *info = roce_opcode_get(row->opcode);
        CHECK_STR(info->name, row->name);
        CHECK_INT(info->transport, row->transport);
        CHECK_INT(info->role, row->role);
        CHECK_INT(info->part, row->part);
        unsigned bits = 0;
        unsigned bytes = 0;
        for (const char *letter = row->headers; *letter != '\0'; letter++) {
            unsigned bit = (unsigned)header_row_of(*letter)->bit;
            CHECK(bit > bits); /* ascending bits are the order on the wire */
            bits |= bit;
            bytes += header_row_of(*letter)->size;
        }
        CHECK_INT(info->headers, bits);
        CHECK_INT(info->headers_bytes, bytes);
        CHECK_STR(roce_opcode_name(row->opcode, row->transport), row->name);
    }
}

/* Every code point without a row, by the service that its top three bits name. */
static void
test_undefined(void)
{
    static const struct {
        const char *name;
        roce_transport transport;
    } services[8] = {
        {"unknown RC opcode", ROCE_TRANSPORT_RC},
        {"unknown UC opcode", ROCE_TRANSPORT_UC},
        {"unknown RD or DC opcode", ROCE_TRANSPORT_RD},
        {"unknown UD opcode", ROCE_TRANSPORT_UD},
        {"unknown opcode", ROCE_TRANSPORT_UNKNOWN},
        {"unknown XRC opcode", ROCE_TRANSPORT_XRC},
        {"vendor opcode", ROCE_TRANSPORT_VENDOR},
        {"vendor opcode", ROCE_TRANSPORT_VENDOR},
    };
    unsigned n_undefined = 0;
    for (unsigned opcode = 0; opcode < 256; opcode++) {
        if (opcode_row_of((uint8_t)opcode) != NULL) {
            continue;
        }
        char name[16];
        snprintf(name, sizeof name, "0x%02x", opcode);
        check_row(name);
        n_undefined++;
        const roce_opcode_info *info = roce_opcode_get((uint8_t)opcode);
        CHECK_STR(info->name, services[opcode >> 5].name);
        CHECK_INT(info->transport, services[opcode >> 5].transport);
        CHECK_INT(info->role, ROCE_ROLE_UNKNOWN);
        CHECK_INT(info->part, ROCE_PART_NONE);
        CHECK_INT(info->headers, 0);
        CHECK_INT(info->headers_bytes, 0);
    }
    check_row(NULL);
    CHECK_INT(n_undefined + N(opcode_rows), 256);
}

static void
test_header_sizes(void)
{
    CHECK_INT(N(header_rows), ROCE_N_HEADERS);
    for (size_t i = 0; i < N(header_rows); i++) {
        check_row(header_rows[i].name);
        CHECK_INT(roce_header_size(header_rows[i].bit), header_rows[i].size);
    }
    check_row("no header");
    CHECK_INT(roce_header_size((roce_header)0), 0);
    CHECK_INT(roce_header_size((roce_header)(1u << ROCE_N_HEADERS)), 0);
    check_row("two headers");
    CHECK_INT(roce_header_size((roce_header)(ROCE_HEADER_RETH | ROCE_HEADER_AETH)), 0);
}

/* DC shares the code points of RD, and nothing of it is ever called RD. */
static void
test_dc_names(void)
{
    for (unsigned opcode = 0x40; opcode < 0x60; opcode++) {
        const opcode_row *row = opcode_row_of((uint8_t)opcode);
        const char *got = roce_opcode_name((uint8_t)opcode, ROCE_TRANSPORT_DC);
        char name[16];
        snprintf(name, sizeof name, "DC 0x%02x", opcode);
        check_row(name);
        if (row == NULL || row->role == ROCE_ROLE_RESYNC) {
            CHECK_STR(got, "unknown RD or DC opcode");
            continue;
        }
        CHECK(strncmp(got, "DC ", 3) == 0);
        CHECK_STR(got + 3, row->name + 3);
    }
}

static void
test_parts(void)
{
    static const struct {
        const char *name;
        roce_part part;
        bool starts, ends;
    } cases[] = {
        {"none", ROCE_PART_NONE, false, false},
        {"first", ROCE_PART_FIRST, true, false},
        {"middle", ROCE_PART_MIDDLE, false, false},
        {"last", ROCE_PART_LAST, false, true},
        {"only", ROCE_PART_ONLY, true, true},
    };
    for (size_t i = 0; i < N(cases); i++) {
        check_row(cases[i].name);
        CHECK_INT(roce_part_starts(cases[i].part), cases[i].starts);
        CHECK_INT(roce_part_ends(cases[i].part), cases[i].ends);
    }
}

static void
test_transport_names(void)
{
    static const struct {
        roce_transport transport;
        const char *name;
    } cases[] = {
        {ROCE_TRANSPORT_RC, "RC"},           {ROCE_TRANSPORT_UC, "UC"},
        {ROCE_TRANSPORT_RD, "RD"},           {ROCE_TRANSPORT_UD, "UD"},
        {ROCE_TRANSPORT_DC, "DC"},           {ROCE_TRANSPORT_XRC, "XRC"},
        {ROCE_TRANSPORT_CNP, "CNP"},         {ROCE_TRANSPORT_VENDOR, "vendor"},
        {ROCE_TRANSPORT_UNKNOWN, "unknown"},
    };
    CHECK_INT(N(cases), ROCE_N_TRANSPORTS);
    for (size_t i = 0; i < N(cases); i++) {
        check_row(cases[i].name);
        CHECK_STR(roce_transport_name(cases[i].transport), cases[i].name);
    }
}

static void
test_roles(void)
{
    static const struct {
        const char *name;
        roce_role role;
        bool request, wants_response, response_data;
    } cases[] = {
        {"unknown", ROCE_ROLE_UNKNOWN, false, false, false},
        {"SEND", ROCE_ROLE_SEND, true, false, false},
        {"WRITE", ROCE_ROLE_WRITE, true, false, false},
        {"READ request", ROCE_ROLE_READ_REQUEST, true, true, false},
        {"READ response", ROCE_ROLE_READ_RESPONSE, false, false, true},
        {"acknowledge", ROCE_ROLE_ACK, false, false, false},
        {"atomic", ROCE_ROLE_ATOMIC, true, true, false},
        {"atomic acknowledge", ROCE_ROLE_ATOMIC_ACK, false, false, true},
        {"FLUSH", ROCE_ROLE_FLUSH, true, true, false},
        {"ATOMIC WRITE", ROCE_ROLE_ATOMIC_WRITE, true, true, false},
        {"RESYNC", ROCE_ROLE_RESYNC, true, false, false},
        {"CNP", ROCE_ROLE_CNP, false, false, false},
    };
    for (size_t i = 0; i < N(cases); i++) {
        check_row(cases[i].name);
        CHECK_INT(roce_role_is_request(cases[i].role), cases[i].request);
        CHECK_INT(roce_role_wants_response(cases[i].role), cases[i].wants_response);
        CHECK_INT(roce_role_is_response_data(cases[i].role), cases[i].response_data);
    }
}

int
main(void)
{
    test_defined();
    test_undefined();
    test_header_sizes();
    test_dc_names();
    test_transport_names();
    test_roles();
    test_parts();
    return check_status();
}
