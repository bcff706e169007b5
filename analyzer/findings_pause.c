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

/* ---- what findings about pauses share ---- */

const roce_pause_source *
rs_pause_source(const rs_findings *all, guint32 pause)
{
    return roce_tracker_pause(all->analysis->tracker, pause);
}

const rs_pause_watch *
rs_pause_watch_of(const rs_findings *all, guint32 pause)
{
    return rs_pausing_watch(all->analysis->watchers.pausing, pause);
}

const rs_pause_node *
rs_pause_node_of(const rs_findings *all, guint32 pause)
{
    return rs_pause_tree_node(rs_pausing_tree(all->analysis->watchers.pausing), pause);
}

gboolean
rs_pause_stands(const rs_findings *all, guint32 pause)
{
    return rs_pause_node_of(all, pause)->same_as == pause;
}

/* Whether it is to be looked at: once for each link, and of one port alone. */
static gboolean
is_one_port(const rs_findings *all, guint32 pause)
{
    return rs_pause_stands(all, pause) &&
           rs_pausing_is_one_port(all->analysis->watchers.pausing, pause);
}

guint64
rs_pause_paused_ns(const rs_findings *all, guint32 pause)
{
    const roce_pause_source *p = rs_pause_source(all, pause);
    return p->speed_known ? p->total_ns : p->least_ns;
}

gboolean
rs_pause_is_much(const rs_findings *all, guint32 pause, guint64 paused_ns)
{
    guint64 span = rs_pause_watch_of(all, pause)->span_ns;
    guint64 sure_ns = MIN(paused_ns, rs_pause_paused_ns(all, pause));
    return sure_ns >= RS_HELD_LEAST_US * 1000 &&
           sure_ns * 100 >= span * RS_WARNING_PAUSED_PERCENT;
}

char *
rs_pause_who(const rs_findings *all, guint32 pause)
{
    return rs_hosts_label_mac(all->analysis->told->hosts,
                              rs_pause_source(all, pause)->src_mac);
}

char *
rs_pause_what(const rs_findings *all, guint32 pause)
{
    guint8 priority = rs_pause_source(all, pause)->priority;
    return priority == ROCE_PRIORITY_GLOBAL ? g_strdup("its whole link")
                                            : g_strdup_printf("priority %u", priority);
}

void
rs_pause_about(const rs_findings *all, rs_finding *f, guint32 pause)
{
    const roce_pause_source *p = rs_pause_source(all, pause);
    g_autofree char *mac = rs_format_mac(p->src_mac);
    g_autofree char *what = p->priority == ROCE_PRIORITY_GLOBAL
                                ? g_strdup(mac)
                                : g_strdup_printf("%s:%u", mac, p->priority);
    rs_finding_about(f, what);
    rs_finding_at(f, p->point);
}

void
rs_pause_add_frames(const rs_findings *all, rs_finding *f, guint32 pause)
{
    const roce_pause_source *p = rs_pause_source(all, pause);
    const rs_frames *xoff = &rs_pause_watch_of(all, pause)->xoff;
    g_autofree char *mac = rs_format_mac(p->src_mac);
    rs_finding_add_frames(f, xoff->first, rs_frames_kept(xoff),
                          p->xoff + p->refresh + p->xon);
    rs_finding_add_filter(f,
                          g_strdup_printf("eth.src == %s && eth.type == 0x8808", mac));
}

/* ---- pauses ---- */

/* "  Its MAC address is a host's: ..." */
static void
append_sender(const rs_findings *all, GString *text, guint32 pause)
{
    static const char *const words[] = {
        [RS_SENDER_UNKNOWN] = "",
        [RS_SENDER_HOST] = "  It is a host's NIC: the switch in front of it stops.",
        [RS_SENDER_NETWORK] =
            "  It is a port of the network: the host or switch in front of it stops.",
        [RS_SENDER_AMBIGUOUS] =
            ("  Several ports have this MAC address here and nothing tells them apart: "
             "counts are sums over them, and times are those of no port."),
    };
    const rs_pausing *pausing = all->analysis->watchers.pausing;
    rs_sender_evidence evidence;
    g_string_append(text, words[rs_pausing_sender(pausing, pause, &evidence)]);
    const rs_mac *partner = rs_pausing_partner(pausing, pause);
    if (partner == NULL || !rs_pause_source(all, pause)->speed_known) {
        return;
    }
    guint32 its = partner->pauses[rs_pause_source(all, pause)->priority];
    guint64 total_ns = its != ROCE_NO_PAUSE ? rs_pause_source(all, its)->total_ns : 0;
    g_autofree char *total = rs_format_duration(total_ns, 0);
    g_autofree char *back =
        total_ns > 0 ? g_strdup_printf("for %s", total) : g_strdup("not once");
    g_string_append_printf(text, "  The other end of the link paused it %s.", back);
}

static void
append_victims(const rs_findings *all, GString *text, guint32 pause)
{
    const rs_pause_watch *watch = rs_pause_watch_of(all, pause);
    if (watch->held.stops == 0 || !is_one_port(all, pause)) {
        return;
    }
    g_autofree char *held = rs_format_duration(watch->held.held_ns, 0);
    g_autofree char *stops = rs_finding_count(watch->held.stops, "stop", "stops");
    g_string_append_printf(text, "  What it stops was silent for %s of that, in %s.",
                           held, stops);
}

/* "XOFF 12, refresh 3, XON 12, expired 0; paused for 2 ms (1 %), at most 1 ms at once." */
static void
append_counts(const rs_findings *all, GString *text, guint32 pause)
{
    const roce_pause_source *p = rs_pause_source(all, pause);
    g_string_append_printf(text,
                           "XOFF %" G_GUINT64_FORMAT ", refresh %" G_GUINT64_FORMAT
                           ", XON %" G_GUINT64_FORMAT,
                           p->xoff, p->refresh, p->xon);
    if (p->speed_known) {
        g_autofree char *share =
            rs_format_share(p->total_ns, rs_pause_watch_of(all, pause)->span_ns);
        g_autofree char *total = rs_format_duration(p->total_ns, 0);
        g_autofree char *longest = rs_format_duration(p->longest_ns, 0);
        g_string_append_printf(text,
                               ", expired %" G_GUINT64_FORMAT
                               "; paused for %s (%s), at most %s at once.",
                               p->expired, total, share, longest);
    } else {
        g_autofree char *share =
            rs_format_share(p->least_ns, rs_pause_watch_of(all, pause)->span_ns);
        g_autofree char *least = rs_format_duration(p->least_ns, 0);
        g_autofree char *fastest = rs_format_rate(ROCE_FASTEST_LINK_BPS);
        g_string_append_printf(
            text,
            "; %" G_GUINT64_FORMAT
            " quanta asked for: paused for %s (%s) and more, were the link of "
            "%s.  Its speed is not known: give --link-speed for durations.",
            p->total_quanta, least, share, fastest);
    }
}

/* What is found of one port: its pauses of all priorities are of one sender, often in the
 * same frames.  But of 802.3x, which is found apart. */
typedef struct port_pauses {
    guint32 first;     /* the one with most, which names the finding */
    guint8 priorities; /* bit n: of these */
    gboolean much;     /* one of them pauses for much of the time */
} port_pauses;

/* What is found of it. */
typedef struct port_rule {
    gboolean (*is_found)(const rs_findings *all, guint32 pause);
    guint64 (*measure)(const rs_findings *all, guint32 pause);
} port_rule;

static char *
detail_of(const rs_findings *all, const port_pauses *port, const rs_mac *mac)
{
    GString *text = g_string_new(NULL);
    append_counts(all, text, port->first);
    append_sender(all, text, port->first);
    append_victims(all, text, port->first);
    for (guint i = 0; mac != NULL && i < ROCE_PRIORITY_GLOBAL; i++) {
        if ((port->priorities & 1u << i) != 0 && mac->pauses[i] != port->first) {
            g_string_append_printf(text, "  Priority %u: ", i);
            append_counts(all, text, mac->pauses[i]);
        }
    }
    return g_string_free(text, FALSE);
}

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

/* Whether a source is to be found by itself.  Of what only comes of another port's pauses the
 * cascade tells, with that port first. */
static gboolean
is_found(const rs_findings *all, guint32 pause)
{
    return rs_pause_source(all, pause)->xoff > 0 && rs_pause_stands(all, pause) &&
           (rs_pause_source(all, pause)->priority == ROCE_PRIORITY_GLOBAL ||
            rs_pause_all_caused_by(all, pause) == ROCE_NO_PAUSE);
}

/* What is found together with a source. */
static port_pauses
port_of(const rs_findings *all, const port_rule *rule, guint32 pause)
{
    const rs_mac *mac = rs_pause_watch_of(all, pause)->mac;
    guint8 own = rs_pause_source(all, pause)->priority;
    port_pauses port = {
        .first = pause,
        .much = rs_pause_is_much(all, pause, rs_pause_paused_ns(all, pause)),
    };
    for (guint8 i = 0; i < ROCE_PRIORITY_GLOBAL && own != ROCE_PRIORITY_GLOBAL; i++) {
        guint32 its = i == own ? pause : mac != NULL ? mac->pauses[i] : ROCE_NO_PAUSE;
        if (its == ROCE_NO_PAUSE || !rule->is_found(all, its)) {
            continue;
        }
        guint64 n = rule->measure(all, its);
        guint64 most = rule->measure(all, port.first);
        gboolean is_more = n > most;
        gboolean is_earlier = n == most && its < port.first;
        port.priorities |= (guint8)(1u << i);
        port.much |= rs_pause_is_much(all, its, rs_pause_paused_ns(all, its));
        port.first = is_more || is_earlier ? its : port.first;
    }
    return port;
}

static gboolean
are_several(const port_pauses *port)
{
    return (port->priorities & (port->priorities - 1)) != 0;
}

static char *
title_of(const rs_findings *all, const port_pauses *port)
{
    const roce_pause_source *p = rs_pause_source(all, port->first);
    g_autofree char *who = rs_pause_who(all, port->first);
    g_autofree char *hint = hint_of(p, port->much);
    g_autofree char *list = rs_format_priorities(port->priorities);
    return p->priority == ROCE_PRIORITY_GLOBAL
               ? g_strdup_printf("%s stops its whole link by 802.3x pause%s", who, hint)
               : g_strdup_printf("%s pauses %s %s%s", who,
                                 are_several(port) ? "priorities" : "priority", list,
                                 hint);
}

static void
find_pause(rs_findings *all, const rs_finding_row *row, guint32 pause)
{
    static const port_rule rule = {is_found, rs_pause_paused_ns};
    const roce_pause_source *p = rs_pause_source(all, pause);
    const rs_mac *mac = rs_pause_watch_of(all, pause)->mac;
    const port_pauses port = port_of(all, &rule, pause);
    gboolean global = p->priority == ROCE_PRIORITY_GLOBAL;
    gboolean bad = (global && any_roce(all)) || port.much;
    if (port.first != pause) {
        return;
    }
    rs_finding *f =
        rs_finding_add(all, row, bad ? RS_SEVERITY_WARNING : RS_SEVERITY_NOTE);
    rs_pause_about(all, f, pause);
    f->weight = p->xoff + p->refresh;
    rs_finding_say(f, title_of(all, &port), detail_of(all, &port, mac));
    rs_pause_add_frames(all, f, pause);
}

static void
find_pauses(rs_findings *all, const rs_finding_row *row, gboolean global)
{
    guint32 n = roce_tracker_n_pauses(all->analysis->tracker);
    for (guint32 i = 0; i < n; i++) {
        gboolean is_global = rs_pause_source(all, i)->priority == ROCE_PRIORITY_GLOBAL;
        if (is_global == global && is_found(all, i)) {
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

/* ---- storms ---- */

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

/* "Since ....  Watchdogs would have fired: ..."; of several priorities of a port, which. */
static void
append_first_hold(const rs_findings *all, GString *text, const port_pauses *port)
{
    const rs_holds *holds = &rs_pause_watch_of(all, port->first)->holds;
    guint n;
    const rs_watchdog_preset *presets =
        rs_pausing_presets(all->analysis->watchers.pausing, &n);
    g_autofree char *since = rs_format_time(holds->longest_start_ns);
    if (are_several(port)) {
        g_string_append_printf(text, "Priority %u since ",
                               rs_pause_source(all, port->first)->priority);
    } else {
        g_string_append(text, "Since ");
    }
    g_string_append_printf(text, "%s.  Watchdogs would have fired:", since);
    for (guint i = 0; i < n; i++) {
        if (is_told(all, i)) {
            append_rating(text, &presets[i], &holds->ratings[i]);
        }
    }
}

/* "  Priority 3 for 250 ms, since ...: sonic 1 time, mlx5 never." */
static void
append_other_hold(const rs_findings *all, GString *text, guint32 pause)
{
    const rs_holds *holds = &rs_pause_watch_of(all, pause)->holds;
    guint n;
    const rs_watchdog_preset *presets =
        rs_pausing_presets(all->analysis->watchers.pausing, &n);
    g_autofree char *since = rs_format_time(holds->longest_start_ns);
    g_autofree char *length = rs_format_duration(holds->longest_ns, 0);
    g_string_append_printf(text, "  Priority %u for %s, since %s",
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

/* Whether a watchdog in front of it would have fired. */
static gboolean
is_storm(const rs_findings *all, guint32 pause)
{
    return pause != ROCE_NO_PAUSE && is_one_port(all, pause) &&
           rs_pause_watch_of(all, pause)->holds.ratings[deciding(all)].fired > 0;
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

/* Its source of a priority; ROCE_NO_PAUSE: it is not of the finding. */
static guint32
source_of(const rs_findings *all, const port_pauses *port, guint priority)
{
    const rs_mac *mac = rs_pause_watch_of(all, port->first)->mac;
    if ((port->priorities & 1u << priority) == 0) {
        return ROCE_NO_PAUSE;
    }
    return rs_pause_source(all, port->first)->priority == priority
               ? port->first
               : mac->pauses[priority];
}

/* Whether a source holds for as long because the port does. */
static gboolean
is_carried(const rs_findings *all, const port_pauses *port, guint32 pause)
{
    guint32 root = rs_pause_all_caused_by(all, pause);
    gboolean is_its = root == port->first;
    for (guint i = 0; i < ROCE_PRIORITY_GLOBAL && !is_its; i++) {
        is_its = root != ROCE_NO_PAUSE && root == source_of(all, port, i);
    }
    return is_its && is_storm(all, pause);
}

/* Ports of which some do. */
static guint
count_carried(const rs_findings *all, const port_pauses *port)
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

static char *
storm_detail(const rs_findings *all, const port_pauses *port)
{
    GString *text = g_string_new(NULL);
    append_first_hold(all, text, port);
    for (guint i = 0; i < ROCE_PRIORITY_GLOBAL; i++) {
        guint32 its = source_of(all, port, i);
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

static void
report_storm(rs_findings *all, const rs_finding_row *row, const port_pauses *port)
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
        are_several(port)
            ? g_strdup_printf("%s held priorities %s without a gap, for %s at most",
                              who, list, length)
            : g_strdup_printf("%s held %s for %s without a gap", who, what, length),
        storm_detail(all, port));
    rs_finding_add_frame(f, rs_pause_watch_of(all, port->first)->holds.longest_frame);
    for (guint i = 0; i < ROCE_PRIORITY_GLOBAL; i++) {
        guint32 its = source_of(all, port, i);
        if (its != ROCE_NO_PAUSE) {
            rs_finding_add_frame(f, rs_pause_watch_of(all, its)->holds.longest_frame);
        }
    }
}

void
rs_find_pause_storm(rs_findings *all, const rs_finding_row *row)
{
    static const port_rule rule = {is_storm_of_its_own, longest_ns};
    guint32 n = roce_tracker_n_pauses(all->analysis->tracker);
    for (guint32 i = 0; i < n; i++) {
        if (!is_storm_of_its_own(all, i)) {
            continue;
        }
        const port_pauses port = port_of(all, &rule, i);
        if (port.first == i) {
            report_storm(all, row, &port);
        }
    }
}

/* ---- who does not stop ---- */

void
rs_find_pause_ignored(rs_findings *all, const rs_finding_row *row)
{
    guint32 n = roce_tracker_n_pauses(all->analysis->tracker);
    for (guint32 i = 0; i < n; i++) {
        const rs_pause_watch *watch = rs_pause_watch_of(all, i);
        if (watch->late.total < RS_IGNORED_PACKETS || !is_one_port(all, i)) {
            continue;
        }
        g_autofree char *who = rs_pause_who(all, i);
        g_autofree char *what = rs_pause_what(all, i);
        g_autofree char *late = rs_finding_packets(watch->late.total);
        g_autofree char *most = rs_format_duration(watch->most_ns, 0);
        g_autofree char *latest = rs_format_duration(watch->latest_ns, 0);
        rs_finding *f = rs_finding_add(all, row, RS_SEVERITY_WARNING);
        rs_pause_about(all, f, i);
        f->weight = watch->late.total;
        rs_finding_say(
            f, g_strdup_printf("%s came although %s paused %s", late, who, what),
            g_strdup_printf("More than %s after the pause began, which reaction, cable "
                            "and a frame on its way explain; the last one %s after.",
                            most, latest));
        rs_finding_add_kept(f, &watch->late);
    }
}
