/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format.h"

#include <arpa/inet.h>
#include <string.h>

char *
rs_format_addr(const roce_addr *addr)
{
    char text[INET6_ADDRSTRLEN] = "?";
    if (addr->family == 4) {
        inet_ntop(AF_INET, addr->bytes, text, sizeof text);
    } else if (addr->family == 6) {
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
    g_autofree char *plain = g_strdup_printf("%" G_GUINT64_FORMAT, n);
    GString *text = g_string_new(NULL);
    gsize length = strlen(plain);
    for (gsize i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0) {
            g_string_append_c(text, ',');
        }
        g_string_append_c(text, plain[i]);
    }
    return g_string_free(text, FALSE);
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

char *
rs_format_safe(const char *text)
{
    g_autofree char *valid = g_utf8_make_valid(text, -1);
    GString *safe = g_string_new(NULL);
    for (char *at = valid; *at != '\0'; at = g_utf8_next_char(at)) {
        gunichar c = g_utf8_get_char(at);
        if (rs_format_shows_itself(c)) {
            g_string_append_unichar(safe, c);
        } else {
            g_string_append_printf(safe, "\\x%02x", c);
        }
    }
    return g_string_free(safe, FALSE);
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
        g_string_append_printf(text, "%s%" G_GUINT64_FORMAT, i > 0 ? ", " : "",
                               frames[i]);
    }
    g_string_append_c(text, '}');
    return g_string_free(text, FALSE);
}
