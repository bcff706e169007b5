/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format.h"

#include "reader.h"

#include <arpa/inet.h>
#include <string.h>

#define MOST_DIGITS 20 /* of 64 bits */

/* Writes the digits of n so that they end before `end`; returns where they begin. */
static char *
write_digits(guint64 n, char *end)
{
    do {
        *--end = (char)('0' + n % 10);
        n /= 10;
    } while (n > 0);
    return end;
}

void
rs_format_append_number(GString *text, guint64 n)
{
    char digits[MOST_DIGITS];
    char *end = digits + sizeof digits;
    char *at = write_digits(n, end);
    g_string_append_len(text, at, end - at);
}

/* "10.0.0.1" */
static char *
format_ipv4(const guint8 bytes[4])
{
    char text[INET_ADDRSTRLEN];
    char *at = text + sizeof text;
    *--at = '\0';
    for (guint i = 4; i-- > 0;) {
        at = write_digits(bytes[i], at);
        if (i > 0) {
            *--at = '.';
        }
    }
    return g_strdup(at);
}

char *
rs_format_addr(const roce_addr *addr)
{
    char text[INET6_ADDRSTRLEN] = "?";
    if (addr->family == 4) {
        return format_ipv4(addr->bytes);
    }
    if (addr->family == 6) {
        inet_ntop(AF_INET6, addr->bytes, text, sizeof text);
    }
    return g_strdup(text);
}

char *
rs_format_tenant(const roce_tenant *tenant)
{
    return tenant->kind == ROCE_TENANT_NONE
               ? g_strdup("")
               : g_strdup_printf("%s %u", roce_tenant_kind_name(tenant->kind),
                                 tenant->id);
}

char *
rs_format_ends(const roce_addr *src, const roce_addr *dst)
{
    g_autofree char *from = rs_format_addr(src);
    g_autofree char *to = rs_format_addr(dst);
    return g_strdup_printf("%s>%s", from, to);
}

char *
rs_format_mac(const guint8 mac[6])
{
    return g_strdup_printf("%02x:%02x:%02x:%02x:%02x:%02x", mac[0], mac[1], mac[2],
                           mac[3], mac[4], mac[5]);
}

char *
rs_format_count(guint64 n)
{
    char text[MOST_DIGITS + MOST_DIGITS / 3 + 1];
    char *at = text + sizeof text;
    *--at = '\0';
    for (; n >= 1000; n /= 1000) {
        char *group = at - 3;
        at = write_digits(n % 1000, at);
        while (at > group) {
            *--at = '0';
        }
        *--at = ',';
    }
    return g_strdup(write_digits(n, at));
}

char *
rs_format_things(guint64 n, const char *one, const char *many)
{
    g_autofree char *text = rs_format_count(n);
    return g_strdup_printf("%s %s", text, n == 1 ? one : many);
}

char *
rs_format_duration(guint64 ns, guint64 resolution_ns)
{
    static const struct {
        guint64 ns;
        const char *name;
    } units[] = {
        {86400000000000, "d"}, {3600000000000, "h"}, {60000000000, "min"},
        {1000000000, "s"},     {1000000, "ms"},      {1000, "µs"},
    };
    if (resolution_ns >= RS_NO_STAMPS_NS) {
        return g_strdup("?");
    }
    for (guint i = 0; i < G_N_ELEMENTS(units); i++) {
        gboolean is_last = i == G_N_ELEMENTS(units) - 1;
        if (ns >= units[i].ns && (units[i].ns > resolution_ns || is_last)) {
            double value = (double)ns / (double)units[i].ns;
            int digits = value >= 100 || ns % units[i].ns == 0 ? 0
                         : value >= 10                         ? 1
                                                               : 2;
            digits = units[i].ns <= resolution_ns ? 0 : digits;
            return g_strdup_printf("%.*f %s", digits, value, units[i].name);
        }
    }
    return g_strdup_printf("%" G_GUINT64_FORMAT " ns", ns);
}

char *
rs_format_speed(guint64 bps)
{
    if (bps >= 1000000000) {
        return g_strdup_printf("%g Gb/s", (double)bps / 1e9);
    }
    return g_strdup_printf("%g Mb/s", (double)bps / 1e6);
}

char *
rs_format_rate(guint64 bps)
{
    return bps >= 1000000000 ? g_strdup_printf("%.3g Gb/s", (double)bps / 1e9)
                             : g_strdup_printf("%.3g Mb/s", (double)bps / 1e6);
}

char *
rs_format_bytes(guint64 bytes)
{
    static const char *const units[] = {"B", "kB", "MB", "GB", "TB", "PB"};
    double value = (double)bytes;
    guint unit = 0;
    while (value >= 999.5 && unit + 1 < G_N_ELEMENTS(units)) {
        value /= 1000;
        unit++;
    }
    return g_strdup_printf("%.*f %s", unit == 0 || value >= 99.95 ? 0 : 1, value,
                           units[unit]);
}

char *
rs_format_time(guint64 ns)
{
    g_autoptr(GDateTime) time =
        g_date_time_new_from_unix_utc((gint64)(ns / 1000000000));
    if (time == NULL) {
        return g_strdup_printf("%" G_GUINT64_FORMAT " ns", ns);
    }
    g_autofree char *text = g_date_time_format(time, "%Y-%m-%d %H:%M:%S");
    return g_strdup_printf("%s.%09" G_GUINT64_FORMAT " UTC", text, ns % 1000000000);
}

char *
rs_format_share(guint64 part, guint64 whole)
{
    double share = whole == 0 ? 0 : 100.0 * (double)part / (double)whole;
    if (part > 0 && share < 0.01) {
        return g_strdup("<0.01 %");
    }
    return g_strdup_printf("%.*f %%", share >= 10 ? 0 : share >= 1 ? 1 : 2, share);
}

gboolean
rs_format_shows_itself(gunichar c)
{
    GUnicodeType type = g_unichar_type(c);
    return g_unichar_isprint(c) && type != G_UNICODE_LINE_SEPARATOR &&
           type != G_UNICODE_PARAGRAPH_SEPARATOR;
}

/* What shows itself and what is `kept` stays. */
static char *
make_visible(const char *text, gunichar kept)
{
    GString *visible = g_string_new(NULL);
    for (const char *at = text; *at != '\0';) {
        gunichar c = g_utf8_get_char_validated(at, -1);
        gboolean valid = (gint32)c >= 0; /* else the byte belongs to no character */
        if (valid && (c == kept || rs_format_shows_itself(c))) {
            g_string_append_unichar(visible, c);
        } else {
            g_string_append_printf(visible, "\\x%02x", valid ? c : (guchar)*at);
        }
        at += valid ? g_utf8_skip[(guchar)*at] : 1;
    }
    return g_string_free(visible, FALSE);
}

char *
rs_format_safe(const char *text)
{
    return make_visible(text, '\0');
}

char *
rs_format_safe_lines(const char *text)
{
    return make_visible(text, '\n');
}

char *
rs_format_priorities(guint8 priorities)
{
    g_autoptr(GString) words = g_string_new(NULL);
    guint left = (guint)__builtin_popcount(priorities);
    for (guint i = 0; i < 8; i++) {
        if ((priorities & 1u << i) == 0) {
            continue;
        }
        left--;
        g_string_append_printf(words, "%u%s", i,
                               left > 1    ? ", "
                               : left == 1 ? " and "
                                           : "");
    }
    return g_strdup(words->len > 0 ? words->str : "none");
}

char *
rs_format_frame_filter(const guint64 *frames, guint n_frames)
{
    GString *text = g_string_new("frame.number in {");
    for (guint i = 0; i < n_frames; i++) {
        g_string_append(text, i > 0 ? ", " : "");
        rs_format_append_number(text, frames[i]);
    }
    g_string_append_c(text, '}');
    return g_string_free(text, FALSE);
}
