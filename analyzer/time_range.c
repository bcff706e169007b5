/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "time_range.h"

#include <string.h>

#define NS_PER_S ((guint64)1000000000)
#define NS_DIGITS 9

/* ".25" in ns, of up to nine digits; "" is 0.  FALSE: anything else. */
static gboolean
parse_fraction(const char *text, guint64 *ns)
{
    *ns = 0;
    if (*text == '\0') {
        return TRUE;
    }
    gsize n = strlen(text + 1);
    if (*text != '.' || n < 1 || n > NS_DIGITS) {
        return FALSE;
    }
    for (gsize i = 1; i <= NS_DIGITS; i++) {
        char digit = i <= n ? text[i] : '0';
        if (!g_ascii_isdigit(digit)) {
            return FALSE;
        }
        *ns = *ns * 10 + (guint64)(digit - '0');
    }
    return TRUE;
}

/* "12.25": seconds. */
static gboolean
parse_seconds(const char *text, rs_time_point *point)
{
    gsize whole = strspn(text, "0123456789");
    g_autofree char *digits = g_strndup(text, whole);
    guint64 seconds;
    guint64 rest_ns;
    if (!g_ascii_string_to_unsigned(digits, 10, 0, G_MAXINT64 / NS_PER_S - 1, &seconds,
                                    NULL) ||
        !parse_fraction(text + whole, &rest_ns)) {
        return FALSE;
    }
    *point = (rs_time_point){.given = TRUE,
                             .relative = seconds < RS_TIME_EPOCH_S,
                             .ns = seconds * NS_PER_S + rest_ns};
    return TRUE;
}

/* Where the fraction of the seconds begins and ends in "2026-11-21T22:00:00.5+01:00". */
static void
find_fraction(const char *text, const char **begin, const char **end)
{
    const char *point = strchr(text, '.');
    *begin = point != NULL ? point : text + strlen(text);
    *end = *begin + (point != NULL ? 1 + strspn(point + 1, "0123456789") : 0);
}

/* A date and a time; GDateTime has no more than microseconds, so the rest is ours. */
static gboolean
parse_iso(const char *text, rs_time_point *point)
{
    const char *begin;
    const char *end;
    find_fraction(text, &begin, &end);
    g_autofree char *fraction = g_strndup(begin, (gsize)(end - begin));
    g_autofree char *whole = g_strdup_printf("%.*s%s", (int)(begin - text), text, end);
    gsize length = strlen(whole);
    if (length > 4 && g_str_equal(whole + length - 4, " UTC")) {
        whole[length - 4] = 'Z'; /* as the report prints times */
        whole[length - 3] = '\0';
    }
    g_autoptr(GTimeZone) utc = g_time_zone_new_utc();
    g_autoptr(GDateTime) time = g_date_time_new_from_iso8601(whole, utc);
    guint64 rest_ns;
    if (time == NULL || !parse_fraction(fraction, &rest_ns)) {
        return FALSE;
    }
    gint64 seconds = g_date_time_to_unix(time);
    if (seconds < 0 || (guint64)seconds >= G_MAXINT64 / NS_PER_S) {
        return FALSE;
    }
    *point =
        (rs_time_point){.given = TRUE, .ns = (guint64)seconds * NS_PER_S + rest_ns};
    return TRUE;
}

/* An end; nothing is an open one. */
static gboolean
parse_point(const char *text, rs_time_point *point)
{
    *point = (rs_time_point){0};
    return *text == '\0' || parse_seconds(text, point) || parse_iso(text, point);
}

/* Dates have dashes, too: the first dash with something that can be read on both sides
 * stands between the ends. */
gboolean
rs_time_range_parse(const char *text, rs_time_range *range)
{
    for (const char *dash = strchr(text, '-'); dash != NULL;
         dash = strchr(dash + 1, '-')) {
        g_autofree char *from = g_strndup(text, (gsize)(dash - text));
        if (!parse_point(from, &range->from) || !parse_point(dash + 1, &range->to)) {
            continue;
        }
        gboolean comparable = range->from.given && range->to.given &&
                              range->from.relative == range->to.relative;
        return !comparable || range->from.ns <= range->to.ns;
    }
    return FALSE;
}

static guint64
resolve(const rs_time_point *point, guint64 first_ns, guint64 open_ns)
{
    if (!point->given) {
        return open_ns;
    }
    if (!point->relative) {
        return point->ns;
    }
    return point->ns > G_MAXUINT64 - first_ns ? G_MAXUINT64 : first_ns + point->ns;
}

void
rs_time_range_of(const rs_time_range *range, guint64 first_ns, guint64 *from_ns,
                 guint64 *to_ns)
{
    *from_ns = resolve(&range->from, first_ns, 0);
    *to_ns = resolve(&range->to, first_ns, G_MAXUINT64);
}
