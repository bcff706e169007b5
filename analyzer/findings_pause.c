/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Findings about pauses: who stops whom, and for how long. */
#include "findings_parts.h"
#include "format.h"
#include "thresholds.h"

static gboolean
any_roce(const rs_findings *all)
{
    return roce_tracker_totals_get(all->analysis->tracker)->roce_packets > 0;
}

static void
find_pause(rs_findings *all, const rs_finding_row *row, const roce_pause_source *p)
{
    gboolean global = p->priority == ROCE_PRIORITY_GLOBAL;
    const rs_point *point = rs_analysis_point(all->analysis, p->point);
    guint64 span = MAX(point->newest_ns - point->first_ns, p->total_ns);
    g_autofree char *mac = rs_format_mac(p->src_mac);
    g_autofree char *who = rs_hosts_label_mac(all->analysis->told->hosts, p->src_mac);
    g_autofree char *share = rs_format_share(p->total_ns, span);
    g_autofree char *total = rs_format_duration(p->total_ns, 0);
    g_autofree char *longest = rs_format_duration(p->longest_ns, 0);
    g_autofree char *what =
        global ? g_strdup(mac) : g_strdup_printf("%s:%u", mac, p->priority);
    gboolean heavy = p->speed_known && span > 0 &&
                     p->total_ns * 100 >= span * RS_WARNING_PAUSED_PERCENT;
    gboolean bad = (global && any_roce(all)) || heavy;
    rs_finding *f =
        rs_finding_add(all, row, bad ? RS_SEVERITY_WARNING : RS_SEVERITY_NOTE);
    rs_finding_about(f, what);
    f->weight = p->xoff + p->refresh;
    char *detail =
        p->speed_known
            ? g_strdup_printf("XOFF %" G_GUINT64_FORMAT ", refresh %" G_GUINT64_FORMAT
                              ", XON %" G_GUINT64_FORMAT ", expired %" G_GUINT64_FORMAT
                              "; paused for %s (%s), at most %s at once.",
                              p->xoff, p->refresh, p->xon, p->expired, total, share,
                              longest)
            : g_strdup_printf("XOFF %" G_GUINT64_FORMAT ", refresh %" G_GUINT64_FORMAT
                              ", XON %" G_GUINT64_FORMAT "; %" G_GUINT64_FORMAT
                              " quanta asked for.  The link's speed is not known: give "
                              "--link-speed for durations.",
                              p->xoff, p->refresh, p->xon, p->total_quanta);
    char *title = global
                      ? g_strdup_printf("%s stops its whole link by 802.3x pause", who)
                      : g_strdup_printf("%s pauses priority %u", who, p->priority);
    rs_finding_say(f, title, detail);
    rs_finding_add_filter(f,
                          g_strdup_printf("eth.src == %s && eth.type == 0x8808", mac));
}

static void
find_pauses(rs_findings *all, const rs_finding_row *row, gboolean global)
{
    const roce_tracker *tracker = all->analysis->tracker;
    for (guint32 i = 0; i < roce_tracker_n_pauses(tracker); i++) {
        const roce_pause_source *p = roce_tracker_pause(tracker, i);
        if ((p->priority == ROCE_PRIORITY_GLOBAL) == global) {
            find_pause(all, row, p);
        }
    }
}

void
rs_find_pfc(rs_findings *all, const rs_finding_row *row)
{
    find_pauses(all, row, FALSE);
}

void
rs_find_global_pause(rs_findings *all, const rs_finding_row *row)
{
    find_pauses(all, row, TRUE);
}
