/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Findings about pauses, port by port: who stops whom, for how long, and who does not
 * stop. */
#include "findings_pause.h"

#include "format.h"
#include "thresholds.h"

static gboolean
any_roce(const rs_findings *all)
{
    return roce_tracker_totals_get(all->analysis->tracker)->roce_packets > 0;
}

/* ---- pauses ---- */

/* Without durations it may be a note, of which the text report has the title alone. */
static char *
hint_of(const roce_pause_source *p, gboolean much)
{
    if (p->speed_known) {
        return g_strdup("");
    }
    if (!much) {
        return g_strdup("; for how long is not known without --link-speed");
    }
    g_autofree char *least = rs_format_duration(p->least_ns, 0);
    return g_strdup_printf(" for %s at least; for how long is not known without "
                           "--link-speed",
                           least);
}

static char *
title_of(const rs_findings *all, const rs_pause_port *port)
{
    const roce_pause_source *p = rs_pause_source(all, port->first);
    g_autofree char *hint = hint_of(p, port->much);
    if (p->priority == ROCE_PRIORITY_GLOBAL) {
        g_autofree char *who = rs_pause_who(all, port->first);
        return g_strdup_printf("%s stops its whole link by 802.3x pause%s", who, hint);
    }
    g_autofree char *title = rs_pause_port_title(all, port);
    return g_strconcat(title, hint, NULL);
}

static void
find_pause(rs_findings *all, const rs_finding_row *row, guint32 pause)
{
    static const rs_pause_rule rule = {rs_pause_is_untold, rs_pause_paused_ns};
    const roce_pause_source *p = rs_pause_source(all, pause);
    const rs_pause_port port = rs_pause_port_of(all, &rule, pause);
    gboolean global = p->priority == ROCE_PRIORITY_GLOBAL;
    gboolean bad = (global && any_roce(all)) || port.much;
    if (port.first != pause) {
        return;
    }
    rs_finding *f =
        rs_finding_add(all, row, bad ? RS_SEVERITY_WARNING : RS_SEVERITY_NOTE);
    rs_pause_about(all, f, pause);
    f->weight = p->xoff + p->refresh;
    GString *detail = g_string_new(NULL);
    rs_pause_port_tell(all, &port, detail);
    rs_finding_say(f, title_of(all, &port), g_string_free(detail, FALSE));
    rs_pause_add_frames(all, f, &port, RS_FRAMES);
}

static void
find_pauses(rs_findings *all, const rs_finding_row *row, gboolean global)
{
    guint32 n = roce_tracker_n_pauses(all->analysis->tracker);
    for (guint32 i = 0; i < n; i++) {
        gboolean is_global = rs_pause_source(all, i)->priority == ROCE_PRIORITY_GLOBAL;
        if (is_global == global && rs_pause_is_untold(all, i)) {
            find_pause(all, row, i);
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

/* ---- who does not stop ---- */

/* A pause without an XON may have been shorter than it seems. */
static char *
ignored_detail(const rs_findings *all, guint32 pause)
{
    const rs_pause_watch *watch = rs_pause_watch_of(all, pause);
    guint64 expired = rs_pause_source(all, pause)->expired;
    g_autofree char *most = rs_format_duration(watch->most_ns, 0);
    g_autofree char *latest = rs_format_duration(watch->latest_ns, 0);
    GString *text = g_string_new(NULL);
    g_string_append_printf(text,
                           "More than %s after the pause began, which reaction, cable "
                           "and a frame on its way explain; the last one %s after.",
                           most, latest);
    if (expired > 0) {
        g_autofree char *pauses = rs_finding_count(expired, "pause", "pauses");
        g_string_append_printf(text,
                               "  %s ran out without an XON: if there was one and the "
                               "capture missed it, what came behind it is in order.",
                               pauses);
    }
    return g_string_free(text, FALSE);
}

void
rs_find_pause_ignored(rs_findings *all, const rs_finding_row *row)
{
    guint32 n = roce_tracker_n_pauses(all->analysis->tracker);
    for (guint32 i = 0; i < n; i++) {
        const rs_pause_watch *watch = rs_pause_watch_of(all, i);
        if (watch->late.total < RS_IGNORED_PACKETS || !rs_pause_is_one_port(all, i)) {
            continue;
        }
        g_autofree char *who = rs_pause_who(all, i);
        g_autofree char *what = rs_pause_what(all, i);
        g_autofree char *late = rs_finding_packets(watch->late.total);
        rs_finding *f = rs_finding_add(all, row, RS_SEVERITY_WARNING);
        rs_pause_about(all, f, i);
        f->weight = watch->late.total;
        rs_finding_say(
            f, g_strdup_printf("%s came although %s paused %s", late, who, what),
            ignored_detail(all, i));
        rs_finding_add_kept(f, &watch->late);
    }
}
