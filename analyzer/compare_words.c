/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "compare_words.h"

#include "format.h"
#include "path_time.h"

char *
rs_compare_letter(guint point)
{
    return g_strdup_printf("%c", 'A' + (char)point);
}

char *
rs_compare_arrow(const rs_compare_segment *segment)
{
    return g_strdup_printf("%c → %c", 'A' + (char)segment->from,
                           'A' + (char)segment->to);
}

static char *
signed_duration(gint64 ns)
{
    g_autofree char *size =
        rs_format_duration((guint64)rs_time_size(ns, RS_TIME_LIMIT_NS), 0);
    return g_strdup_printf("%s%s", ns < 0 ? "−" : "+", size);
}

char *
rs_compare_offset(const rs_compare_segment *segment)
{
    g_autofree char *offset = signed_duration(segment->clock.offset_ns);
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

gboolean
rs_compare_has_matches(const rs_compare *compare)
{
    for (guint i = 0; i < compare->segments->len; i++) {
        if (g_array_index(compare->segments, rs_compare_segment, i).known) {
            return TRUE;
        }
    }
    return FALSE;
}
