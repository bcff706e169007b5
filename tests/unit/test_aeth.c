/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The AETH syndrome: what bits 6:5 and the five bits below them say. */
#include "check.h"

#include "roce/aeth.h"

#include <stddef.h>

#define N(rows) (sizeof(rows) / sizeof(rows)[0])

static void
test_syndromes(void)
{
    static const struct {
        const char *name;
        uint8_t syndrome;
        roce_aeth_kind kind;
        unsigned value;
    } cases[] = {
        {"ACK without credits", 0x00, ROCE_AETH_ACK, 0},
        {"ACK of hardware, 6 credits", 0x05, ROCE_AETH_ACK, 5},
        {"ACK, most credits", 0x1e, ROCE_AETH_ACK, 30},
        {"ACK, credits unlimited", 0x1f, ROCE_AETH_ACK, 31},
        {"RNR NAK, longest wait", 0x20, ROCE_AETH_RNR_NAK, 0},
        {"RNR NAK, shortest wait", 0x21, ROCE_AETH_RNR_NAK, 1},
        {"RNR NAK, last code", 0x3f, ROCE_AETH_RNR_NAK, 31},
        {"reserved, first", 0x40, ROCE_AETH_RESERVED, 0},
        {"reserved, last", 0x5f, ROCE_AETH_RESERVED, 31},
        {"NAK, PSN sequence error", 0x60, ROCE_AETH_NAK, 0},
        {"NAK, invalid request", 0x61, ROCE_AETH_NAK, 1},
        {"NAK, remote access error", 0x62, ROCE_AETH_NAK, 2},
        {"NAK, remote operational error", 0x63, ROCE_AETH_NAK, 3},
        {"NAK, invalid RD request", 0x64, ROCE_AETH_NAK, 4},
        {"NAK, last code", 0x7f, ROCE_AETH_NAK, 31},
        {"bit 7 says nothing, ACK", 0x80, ROCE_AETH_ACK, 0},
        {"bit 7 says nothing, NAK", 0xe0, ROCE_AETH_NAK, 0},
        {"bit 7 says nothing, last", 0xff, ROCE_AETH_NAK, 31},
    };
    for (size_t i = 0; i < N(cases); i++) {
        check_row(cases[i].name);
        CHECK_INT(roce_aeth_get_kind(cases[i].syndrome), cases[i].kind);
        CHECK_INT(roce_aeth_get_value(cases[i].syndrome), cases[i].value);
    }
}

static void
test_credits(void)
{
    static const uint32_t credits[31] = {
        0,    1,    2,    3,    4,    6,     8,     12,    16,    24,   32,
        48,   64,   96,   128,  192,  256,   384,   512,   768,   1024, 1536,
        2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768,
    };
    check_row("credits");
    for (unsigned code = 0; code < N(credits); code++) {
        CHECK_INT(roce_aeth_credits(code), credits[code]);
    }
    check_row("no limit");
    CHECK_INT(roce_aeth_credits(31), ROCE_AETH_CREDITS_UNLIMITED);
}

static void
test_rnr_timers(void)
{
    static const struct {
        const char *name;
        unsigned code;
        uint64_t ns;
    } cases[] = {
        {"0: 655.36 ms", 0, 655360000},   {"1: 0.01 ms", 1, 10000},
        {"2: 0.02 ms", 2, 20000},         {"3: 0.03 ms", 3, 30000},
        {"4: 0.04 ms", 4, 40000},         {"5: 0.06 ms", 5, 60000},
        {"6: 0.08 ms", 6, 80000},         {"7: 0.12 ms", 7, 120000},
        {"8: 0.16 ms", 8, 160000},        {"9: 0.24 ms", 9, 240000},
        {"10: 0.32 ms", 10, 320000},      {"11: 0.48 ms", 11, 480000},
        {"12: 0.64 ms", 12, 640000},      {"13: 0.96 ms", 13, 960000},
        {"14: 1.28 ms", 14, 1280000},     {"15: 1.92 ms", 15, 1920000},
        {"16: 2.56 ms", 16, 2560000},     {"17: 3.84 ms", 17, 3840000},
        {"18: 5.12 ms", 18, 5120000},     {"19: 7.68 ms", 19, 7680000},
        {"20: 10.24 ms", 20, 10240000},   {"21: 15.36 ms", 21, 15360000},
        {"22: 20.48 ms", 22, 20480000},   {"23: 30.72 ms", 23, 30720000},
        {"24: 40.96 ms", 24, 40960000},   {"25: 61.44 ms", 25, 61440000},
        {"26: 81.92 ms", 26, 81920000},   {"27: 122.88 ms", 27, 122880000},
        {"28: 163.84 ms", 28, 163840000}, {"29: 245.76 ms", 29, 245760000},
        {"30: 327.68 ms", 30, 327680000}, {"31: 491.52 ms", 31, 491520000},
    };
    CHECK_INT(N(cases), 32);
    for (size_t i = 0; i < N(cases); i++) {
        check_row(cases[i].name);
        CHECK_INT(roce_aeth_rnr_timer_ns(cases[i].code), cases[i].ns);
        CHECK_INT(roce_aeth_wait_ns((uint8_t)(0x20 | cases[i].code)), cases[i].ns);
        CHECK_INT(roce_aeth_wait_ns((uint8_t)cases[i].code), 0);          /* ACK */
        CHECK_INT(roce_aeth_wait_ns((uint8_t)(0x60 | cases[i].code)), 0); /* NAK */
    }
}

static void
test_nak_names(void)
{
    static const struct {
        unsigned code;
        const char *name;
    } cases[] = {
        {0, "PSN sequence error"},         {1, "invalid request"},
        {2, "remote access error"},        {3, "remote operational error"},
        {4, "invalid RD request"},         {5, "reserved NAK code"},
        {31, "reserved NAK code"},         {32, "reserved NAK code"},
        {UINT32_MAX, "reserved NAK code"},
    };
    for (size_t i = 0; i < N(cases); i++) {
        check_row(cases[i].name);
        CHECK_STR(roce_nak_code_name(cases[i].code), cases[i].name);
    }
}

int
main(void)
{
    test_syndromes();
    test_credits();
    test_rnr_timers();
    test_nak_names();
    return check_status();
}
