/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Findings about pauses that last for as long as a watchdog waits. */
#include "findings_held.h"

#include "format.h"

/* Beside those that began the longest pauses, which must not be crowded out. */
#define FIRST_FRAMES (RS_FRAMES - ROCE_PRIORITY_GLOBAL)

/* The watchdog that decides: the one that the user named, else who fires first. */
static guint
deciding(const rs_findings *all)
{
    gint chosen = rs_watchdog_chosen(all->analysis->options);
    if (chosen >= 0) {
        return (guint)chosen;
    }
    guint n;
    guint first = 0;
    const rs_watchdog_preset *presets =
        rs_pausing_presets(all->analysis->watchers.pausing, &n);
    for (guint i = 1; i < n; i++) {
        first = presets[i].detect_ns < presets[first].detect_ns ? i : first;
    }
    return first;
}

/* "  sonic (SONiC, ...; detects after 200 ms): 1 time, first at ...;" */
static void
append_rating(GString *text, const rs_watchdog_preset *preset,
              const rs_watchdog_rating *rating)
{
    g_autofree char *detect = rs_format_duration(preset->detect_ns, 0);
    g_string_append_printf(text, "  %s (%s; detects after %s): ", preset->name,
                           preset->source, detect);
    if (rating->fired == 0) {
        g_string_append(text, "never.");
        return;
    }
    g_autofree char *when = rs_format_time(rating->first_fired_ns);
    g_autofree char *times = rs_finding_count(rating->fired, "time", "times");
    g_string_append_printf(text, "%s, first at %s.", times, when);
}

/* Whether a watchdog is to be told of: all of them, or the one that the user named. */
static gboolean
is_told(const rs_findings *all, guint preset)
{
    gint chosen = rs_watchdog_chosen(all->analysis->options);
    return chosen < 0 || (guint)chosen == preset;
}

/* "Held from ... on.  Watchdogs would have fired: ..."; of several priorities of a port, which. */
static void
append_first_hold(const rs_findings *all, GString *text, const rs_pause_port *port)
{
    const rs_holds *holds = &rs_pause_watch_of(all, port->first)->holds;
    guint n;
    const rs_watchdog_preset *presets =
        rs_pausing_presets(all->analysis->watchers.pausing, &n);
    g_autofree char *since = rs_format_time(holds->longest_start_ns);
    if (rs_pause_port_has_several(port)) {
        g_string_append_printf(text, "Priority %u held from ",
                               rs_pause_source(all, port->first)->priority);
    } else {
        g_string_append(text, "Held from ");
    }
    g_string_append_printf(text, "%s on.  Watchdogs would have fired:", since);
    for (guint i = 0; i < n; i++) {
        if (is_told(all, i)) {
            append_rating(text, &presets[i], &holds->ratings[i]);
        }
    }
}

/* "  Priority 3 held for 250 ms, from ... on: sonic 1 time, mlx5 never." */
static void
append_other_hold(const rs_findings *all, GString *text, guint32 pause)
{
    const rs_holds *holds = &rs_pause_watch_of(all, pause)->holds;
    guint n;
    const rs_watchdog_preset *presets =
        rs_pausing_presets(all->analysis->watchers.pausing, &n);
    g_autofree char *since = rs_format_time(holds->longest_start_ns);
    g_autofree char *length = rs_format_duration(holds->longest_ns, 0);
    g_string_append_printf(text, "  Priority %u held for %s, from %s on",
                           rs_pause_source(all, pause)->priority, length, since);
    const char *separator = ":";
    for (guint i = 0; i < n; i++) {
        guint64 fired = holds->ratings[i].fired;
        g_autofree char *times =
            fired > 0 ? rs_finding_count(fired, "time", "times") : g_strdup("never");
        if (is_told(all, i)) {
            g_string_append_printf(text, "%s %s %s", separator, presets[i].name, times);
            separator = ",";
        }
    }
    g_string_append_c(text, '.');
}

gboolean
rs_pause_would_fire(const rs_findings *all, guint32 pause, guint64 *first_ns)
{
    const rs_watchdog_rating *rating =
        &rs_pause_watch_of(all, pause)->holds.ratings[deciding(all)];
    *first_ns = rating->first_fired_ns;
    return rating->fired > 0;
}

/* Whether a watchdog in front of it would have fired. */
static gboolean
is_storm(const rs_findings *all, guint32 pause)
{
    guint64 first_ns;
    return pause != ROCE_NO_PAUSE && rs_pause_is_one_port(all, pause) &&
           rs_pause_would_fire(all, pause, &first_ns);
}

/* Of what is only passed on the cascade tells. */
static gboolean
is_storm_of_its_own(const rs_findings *all, guint32 pause)
{
    return is_storm(all, pause) && !is_storm(all, rs_pause_all_caused_by(all, pause));
}

static guint64
longest_ns(const rs_findings *all, guint32 pause)
{
    return rs_pause_watch_of(all, pause)->holds.longest_ns;
}

/* Whether a source holds for as long because the port does. */
static gboolean
is_carried(const rs_findings *all, const rs_pause_port *port, guint32 pause)
{
    guint32 root = rs_pause_all_caused_by(all, pause);
    gboolean is_its = root == port->first;
    for (guint i = 0; i < ROCE_PRIORITY_GLOBAL && !is_its; i++) {
        is_its = root != ROCE_NO_PAUSE && root == rs_pause_port_source(all, port, i);
    }
    return is_its && is_storm(all, pause);
}

/* Ports of which some do. */
static guint
count_carried(const rs_findings *all, const rs_pause_port *port)
{
    g_autoptr(GHashTable) ports = g_hash_table_new(NULL, NULL);
    for (guint32 i = 0; i < roce_tracker_n_pauses(all->analysis->tracker); i++) {
        if (is_carried(all, port, i)) {
            const rs_mac *mac = rs_pause_watch_of(all, i)->mac;
            const void *which =
                mac != NULL ? (const void *)mac : rs_pause_source(all, i);
            g_hash_table_add(ports, (gpointer)(guintptr)which);
        }
    }
    return g_hash_table_size(ports);
}

/* All of its pauses; of 802.3x another finding tells. */
static void
append_port(rs_findings *all, GString *text, const rs_pause_port *port)
{
    if (rs_pause_source(all, port->first)->priority != ROCE_PRIORITY_GLOBAL) {
        rs_pause_port_tell(all, port, text);
        g_string_append(text, "  ");
    }
}

static char *
storm_detail(rs_findings *all, const rs_pause_port *port)
{
    GString *text = g_string_new(NULL);
    append_port(all, text, port);
    append_first_hold(all, text, port);
    for (guint i = 0; i < ROCE_PRIORITY_GLOBAL; i++) {
        guint32 its = rs_pause_port_source(all, port, i);
        if (its != ROCE_NO_PAUSE && its != port->first) {
            append_other_hold(all, text, its);
        }
    }
    guint n_carried = count_carried(all, port);
    if (n_carried > 0) {
        g_autofree char *ports = rs_finding_count(n_carried, "more port", "more ports");
        g_string_append_printf(text, "  %s paused for as long in consequence.", ports);
    }
    return g_string_free(text, FALSE);
}

/* Where what waits for the port that is paused is dropped, there is a watchdog. */
static void
tell_dropped(const rs_findings *all, rs_finding *f, guint32 pause)
{
    guint64 n = rs_pause_dropped(all, pause);
    if (n == 0) {
        return;
    }
    g_autofree char *packets = rs_finding_count(n, "packet", "packets");
    g_autofree char *before = g_steal_pointer(&f->detail);
    f->detail =
        g_strdup_printf("%s  %s that had to leave by the port that it stops did not "
                        "come, from then on: a watchdog seems to drop them there.",
                        before, packets);
    g_free(f->advice);
    f->advice =
        g_strdup("Find out what the pausing port waits for.  The watchdog of the "
                 "port that it stops does its part, as far as can be seen.");
}

static void
report_storm(rs_findings *all, const rs_finding_row *row, const rs_pause_port *port)
{
    g_autofree char *who = rs_pause_who(all, port->first);
    g_autofree char *what = rs_pause_what(all, port->first);
    g_autofree char *list = rs_format_priorities(port->priorities);
    g_autofree char *length = rs_format_duration(longest_ns(all, port->first), 0);
    rs_finding *f = rs_finding_add(all, row, RS_SEVERITY_CRITICAL);
    rs_pause_about(all, f, port->first);
    f->weight = longest_ns(all, port->first);
    rs_finding_say(
        f,
        rs_pause_port_has_several(port)
            ? g_strdup_printf("%s held priorities %s without a gap, for %s at most",
                              who, list, length)
            : g_strdup_printf("%s held %s for %s without a gap", who, what, length),
        storm_detail(all, port));
    tell_dropped(all, f, port->first);
    rs_finding_add_frame(f, rs_pause_watch_of(all, port->first)->holds.longest_frame);
    for (guint i = 0; i < ROCE_PRIORITY_GLOBAL; i++) {
        guint32 its = rs_pause_port_source(all, port, i);
        if (its != ROCE_NO_PAUSE) {
            rs_finding_add_frame(f, rs_pause_watch_of(all, its)->holds.longest_frame);
        }
    }
    rs_pause_add_frames(all, f, port, FIRST_FRAMES);
}

void
rs_find_pause_storm(rs_findings *all, const rs_finding_row *row)
{
    static const rs_pause_rule rule = {is_storm_of_its_own, longest_ns};
    guint32 n = roce_tracker_n_pauses(all->analysis->tracker);
    for (guint32 i = 0; i < n; i++) {
        if (!is_storm_of_its_own(all, i)) {
            continue;
        }
        const rs_pause_port port = rs_pause_port_of(all, &rule, i);
        if (port.first == i) {
            report_storm(all, row, &port);
        }
    }
}
