/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "compare_words.h"

#include "format.h"
#include "path_time.h"

#define NS_PER_S G_GUINT64_CONSTANT(1000000000)
#define NS_PER_US 1000

char
rs_compare_letter(guint point)
{
    return (char)('A' + point);
}

char *
rs_compare_arrow(const rs_compare_segment *segment)
{
    return g_strdup_printf("%c → %c", rs_compare_letter(segment->from),
                           rs_compare_letter(segment->to));
}

char *
rs_compare_clocks(const rs_compare_segment *segment)
{
    return g_strdup_printf("%c against %c", rs_compare_letter(segment->to),
                           rs_compare_letter(segment->from));
}

/* From a second on in seconds, and as fine as it is sure. */
static char *
signed_offset(gint64 ns, guint64 uncertainty_ns)
{
    const char *sign = ns < 0 ? "−" : "+";
    guint64 size = (guint64)rs_time_size(ns, RS_TIME_LIMIT_NS);
    if (size < NS_PER_S) {
        g_autofree char *text = rs_format_duration(size, 0);
        return g_strdup_printf("%s%s", sign, text);
    }
    guint64 seconds = size / NS_PER_S;
    guint64 rest_ns = size % NS_PER_S;
    return uncertainty_ns < NS_PER_US
               ? g_strdup_printf("%s%" G_GUINT64_FORMAT ".%09" G_GUINT64_FORMAT " s",
                                 sign, seconds, rest_ns)
               : g_strdup_printf("%s%" G_GUINT64_FORMAT ".%06" G_GUINT64_FORMAT " s",
                                 sign, seconds, rest_ns / NS_PER_US);
}

char *
rs_compare_offset(const rs_compare_segment *segment)
{
    guint64 uncertainty_ns =
        segment->clock.both_ways ? segment->clock.uncertainty_ns : NS_PER_US;
    g_autofree char *offset = signed_offset(segment->clock.offset_ns, uncertainty_ns);
    if (!segment->clock.both_ways) {
        return g_strdup_printf("%s, delay included", offset);
    }
    g_autofree char *sure = rs_format_duration(segment->clock.uncertainty_ns, 0);
    return g_strdup_printf("%s ± %s", offset, sure);
}

char *
rs_compare_drift(const rs_clock_fit *fit)
{
    if (!fit->drift_known) {
        return g_strdup("unknown");
    }
    return g_strdup_printf("%s%.3f ± %.3f ppm", fit->drift_ppb < 0 ? "−" : "+",
                           (double)ABS(fit->drift_ppb) / 1000,
                           (double)fit->drift_uncertainty_ppb / 1000);
}

static gboolean
has_matches(const rs_compare *compare)
{
    for (guint i = 0; i < compare->segments->len; i++) {
        if (rs_compare_segment_at(compare, i)->loss_known) {
            return TRUE;
        }
    }
    return FALSE;
}

const char *
rs_compare_nothing(const rs_compare *compare)
{
    if (has_matches(compare)) {
        return NULL;
    }
    for (guint i = 0; i < compare->points->len; i++) {
        if (rs_compare_point_at(compare, i)->roce_packets == 0) {
            return "Of at least one of the points no RoCE packet was read: nothing "
                   "can be said of what lies between them.";
        }
    }
    if (compare->interrupted) {
        return "Interrupted before a packet was seen at both points of a segment: "
               "nothing can be said of what lies between them.";
    }
    return "No packet was seen at both points of any segment: these captures have no "
           "RoCE traffic in common, and nothing can be said of what lies between them.";
}
