/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Numbers, durations and addresses as people read them. */
#include "check.h"

#include "format.h"

#include <string.h>

#define US UINT64_C(1000)
#define MS (1000 * US)
#define S (1000 * MS)
#define MINUTE (60 * S)
#define H (60 * MINUTE)
#define D (24 * H)

static void
test_durations(void)
{
    static const struct {
        guint64 ns, resolution_ns;
        const char *text;
    } rows[] = {
        /* clang-format off */
        {0, 0, "0 ns"},
        {999, 0, "999 ns"},
        {US, 0, "1 µs"},
        {US + 500, US, "2 µs"},
        {123 * MS + 400 * US, 0, "123 ms"},
        {1500 * MS, 1, "1.50 s"},
        {MINUTE - 1, 0, "60.0 s"},
        {MINUTE, 0, "1 min"},
        {90 * S, US, "1.50 min"},
        {H - MINUTE, 0, "59 min"},
        {H, 0, "1 h"},
        {90 * MINUTE, 1, "1.50 h"},
        {D - H, 0, "23 h"},
        {D, 0, "1 d"},
        {12 * D + 12 * H, 1, "12.5 d"},
        {10000 * D + 1, 1, "10000 d"},
        /* clang-format on */
    };
    for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
        check_row(rows[i].text);
        g_autofree char *text = rs_format_duration(rows[i].ns, rows[i].resolution_ns);
        CHECK_STR(text, rows[i].text);
    }
}

static void
test_numbers(void)
{
    static const struct {
        guint64 n;
        const char *number, *count;
    } rows[] = {
        /* clang-format off */
        {0, "0", "0"},
        {9, "9", "9"},
        {10, "10", "10"},
        {999, "999", "999"},
        {1000, "1000", "1,000"},
        {10020, "10020", "10,020"},
        {999999, "999999", "999,999"},
        {1000000, "1000000", "1,000,000"},
        {G_MAXUINT64, "18446744073709551615", "18,446,744,073,709,551,615"},
        /* clang-format on */
    };
    for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
        check_row(rows[i].number);
        g_autoptr(GString) number = g_string_new("n = ");
        g_autofree char *count = rs_format_count(rows[i].n);
        rs_format_append_number(number, rows[i].n);
        CHECK_STR(number->str + strlen("n = "), rows[i].number);
        CHECK_STR(count, rows[i].count);
    }
}

static void
test_things(void)
{
    static const struct {
        guint64 n;
        const char *text;
    } rows[] = {
        {0, "0 packets"}, {1, "1 packet"}, {2, "2 packets"}, {1001, "1,001 packets"}};
    for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autofree char *text = rs_format_things(rows[i].n, "packet", "packets");
        CHECK_STR(text, rows[i].text);
    }
}

static void
test_safe(void)
{
    static const struct {
        const char *text, *safe, *safe_lines;
    } rows[] = {
        /* clang-format off */
        {"", "", ""},
        {"plain", "plain", "plain"},
        {"caf\xc3\xa9 \xe2\x82\xac", "caf\xc3\xa9 \xe2\x82\xac", "caf\xc3\xa9 \xe2\x82\xac"},
        {"a\nb\tc\x1b", "a\\x0ab\\x09c\\x1b", "a\nb\\x09c\\x1b"},
        {"a\xe2\x80\xae" "b", "a\\x202eb", "a\\x202eb"},
        {"caf\xe9", "caf\\xe9", "caf\\xe9"},                 /* ISO 8859-1 */
        {"\xff\xfe.pcap", "\\xff\\xfe.pcap", "\\xff\\xfe.pcap"},
        {"\xe2\x82", "\\xe2\\x82", "\\xe2\\x82"},           /* the last byte is missing */
        {"\xc0\xaf", "\\xc0\\xaf", "\\xc0\\xaf"},           /* longer than it need be */
        {"\xed\xa0\x80", "\\xed\\xa0\\x80", "\\xed\\xa0\\x80"}, /* half of a pair */
        /* clang-format on */
    };
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autofree char *safe = rs_format_safe(rows[i].text);
        CHECK_STR(safe, rows[i].safe);
        g_autofree char *lines = rs_format_safe_lines(rows[i].text);
        CHECK_STR(lines, rows[i].safe_lines);
    }
}

static void
test_addresses(void)
{
    static const struct {
        roce_addr addr;
        const char *text;
    } rows[] = {
        /* clang-format off */
        {{.family = 0}, "?"},
        {{.family = 4}, "0.0.0.0"},
        {{.family = 4, .bytes = {10, 0, 9, 100}}, "10.0.9.100"},
        {{.family = 4, .bytes = {255, 255, 255, 255}}, "255.255.255.255"},
        {{.family = 6, .bytes = {0xfe, 0x80, [15] = 1}}, "fe80::1"},
        /* clang-format on */
    };
    for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autofree char *text = rs_format_addr(&rows[i].addr);
        check_row(rows[i].text);
        CHECK_STR(text, rows[i].text);
    }
}

int
main(void)
{
    test_safe();
    test_numbers();
    test_things();
    test_addresses();
    test_durations();
    return check_status();
}
