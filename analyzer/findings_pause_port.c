/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What findings about pauses are made of: sources of pauses, the ports that they are of, and
 * what is said of these. */
#include "findings_pause.h"

#include "findings_filter.h"
#include "format.h"
#include "thresholds.h"

/* ---- sources ---- */

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

gboolean
rs_pause_is_one_port(const rs_findings *all, guint32 pause)
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
rs_pause_add_frames(const rs_findings *all, rs_finding *f, const rs_pause_port *port,
                    guint most)
{
    const roce_pause_source *p = rs_pause_source(all, port->first);
    const rs_frames *xoff = &rs_pause_watch_of(all, port->first)->xoff;
    rs_finding_add_frames(f, xoff->first, MIN(rs_frames_kept(xoff), most),
                          p->xoff + p->refresh + p->xon);
    rs_finding_add_filter(f, rs_filter_of_pauses(all, p, port->priorities));
}

/* ---- ports ---- */

static guint8
bit_of(const rs_findings *all, guint32 pause)
{
    guint8 priority = rs_pause_source(all, pause)->priority;
    return (guint8)(priority == ROCE_PRIORITY_GLOBAL ? 0u : 1u << priority);
}

rs_pause_port
rs_pause_port_begin(const rs_findings *all, guint32 pause)
{
    return (rs_pause_port){
        .first = pause,
        .priorities = bit_of(all, pause),
        .much = rs_pause_is_much(all, pause, rs_pause_paused_ns(all, pause)),
    };
}

void
rs_pause_port_add(const rs_findings *all, rs_pause_port *port, guint32 pause,
                  guint64 (*measure)(const rs_findings *all, guint32 pause))
{
    guint64 n = measure(all, pause);
    guint64 most = measure(all, port->first);
    gboolean is_more = n > most;
    gboolean is_earlier = n == most && pause < port->first;
    port->priorities |= bit_of(all, pause);
    port->much |= rs_pause_is_much(all, pause, rs_pause_paused_ns(all, pause));
    port->first = is_more || is_earlier ? pause : port->first;
}

rs_pause_port
rs_pause_port_of(const rs_findings *all, const rs_pause_rule *rule, guint32 pause)
{
    const rs_mac *mac = rs_pause_watch_of(all, pause)->mac;
    rs_pause_port port = rs_pause_port_begin(all, pause);
    for (guint8 i = 0; mac != NULL && port.priorities != 0 && i < ROCE_PRIORITY_GLOBAL;
         i++) {
        guint32 its = mac->pauses[i];
        if (its != ROCE_NO_PAUSE && its != pause && rule->is_found(all, its)) {
            rs_pause_port_add(all, &port, its, rule->measure);
        }
    }
    return port;
}

gboolean
rs_pause_port_has_several(const rs_pause_port *port)
{
    return (port->priorities & (port->priorities - 1)) != 0;
}

guint32
rs_pause_port_source(const rs_findings *all, const rs_pause_port *port, guint priority)
{
    const rs_mac *mac = rs_pause_watch_of(all, port->first)->mac;
    if ((port->priorities & 1u << priority) == 0) {
        return ROCE_NO_PAUSE;
    }
    return rs_pause_source(all, port->first)->priority == priority
               ? port->first
               : mac->pauses[priority];
}

/* ---- in words ---- */

/* "  It is the NIC of 10.0.0.1", if one host alone sends by it. */
static void
append_host(const rs_findings *all, GString *text, guint32 pause)
{
    const roce_pause_source *p = rs_pause_source(all, pause);
    const GArray *hosts =
        rs_nics_hosts(all->analysis->watchers.nics, p->point, p->src_mac);
    if (hosts == NULL || hosts->len != 1) {
        g_string_append(text, "  It is a host's NIC");
        return;
    }
    const rs_nic_host *host = &g_array_index(hosts, rs_nic_host, 0);
    g_autofree char *name = rs_findings_label(all, &host->addr);
    g_string_append_printf(text, "  It is the NIC of %s", name);
}

/* What a MAC address has paused, a bit for each priority and for 802.3x. */
static guint
paused_by(const rs_findings *all, const rs_mac *mac)
{
    guint paused = 0;
    for (guint i = 0; i <= ROCE_PRIORITY_GLOBAL; i++) {
        guint32 its = mac->pauses[i];
        if (its != ROCE_NO_PAUSE && rs_pause_source(all, its)->xoff > 0) {
            paused |= 1u << i;
        }
    }
    return paused;
}

/* "  The other end of the link paused it for 2 ms.", if of its pauses there were some. */
static void
append_partner(const rs_findings *all, GString *text, const rs_mac *partner,
               guint priority)
{
    guint paused = paused_by(all, partner);
    g_string_append(text, "  ");
    if ((paused & 1u << priority) != 0) {
        guint64 total_ns = rs_pause_source(all, partner->pauses[priority])->total_ns;
        g_autofree char *total = rs_format_duration(total_ns, 0);
        /* None, where an XON has the stamp of its XOFF. */
        g_string_append_printf(text, "The other end of the link paused it %s%s.",
                               total_ns > 0 ? "for " : "too",
                               total_ns > 0 ? total : "");
    } else if (paused == 0) {
        g_string_append(text, "No pause of the other end of the link was seen.");
    } else if ((paused & 1u << ROCE_PRIORITY_GLOBAL) != 0) {
        g_string_append(text,
                        "The other end of the link paused it as a whole (802.3x).");
    } else {
        g_autofree char *list = rs_format_priorities((guint8)paused);
        g_string_append_printf(text, "The other end of the link paused %s %s alone.",
                               (paused & (paused - 1)) != 0 ? "priorities" : "priority",
                               list);
    }
}

/* "  It is the NIC of ...: the switch in front of it stops.  ..." */
static void
append_sender(const rs_findings *all, GString *text, guint32 pause)
{
    static const char *const words[] = {
        [RS_SENDER_UNKNOWN] = "",
        [RS_SENDER_HOST] = ": the switch in front of it stops.",
        [RS_SENDER_NETWORK] =
            "  It is a port of the network: the host or switch in front of it stops.",
        [RS_SENDER_AMBIGUOUS] =
            ("  Several ports have this MAC address here and nothing tells them apart: "
             "counts are sums over them, and times are those of no port."),
    };
    const rs_pausing *pausing = all->analysis->watchers.pausing;
    rs_sender_evidence evidence;
    rs_sender sender = rs_pausing_sender(pausing, pause, &evidence);
    if (sender == RS_SENDER_HOST) {
        append_host(all, text, pause);
    }
    g_string_append(text, words[sender]);
    const rs_mac *partner = rs_pausing_partner(pausing, pause);
    if (partner != NULL && rs_pause_source(all, pause)->speed_known) {
        append_partner(all, text, partner, rs_pause_source(all, pause)->priority);
    }
}

static void
append_victims(const rs_findings *all, GString *text, guint32 pause)
{
    const rs_pause_watch *watch = rs_pause_watch_of(all, pause);
    if (watch->held.stops == 0 || !rs_pause_is_one_port(all, pause)) {
        return;
    }
    g_autofree char *held = rs_format_duration(watch->held.held_ns, 0);
    g_autofree char *stops = rs_finding_count(watch->held.stops, "stop", "stops");
    g_string_append_printf(text, "  What it stops was silent for %s of that, in %s.",
                           held, stops);
}

/* "  Seen at leaf1_swp7.", where there are several points. */
static void
append_place(const rs_findings *all, GString *text, guint32 pause)
{
    if (rs_points_n(all->analysis->points) > 1) {
        g_autofree char *where =
            rs_point_name(all->analysis, rs_pause_source(all, pause)->point);
        g_string_append_printf(text, "  Seen at %s.", where);
    }
}

/* "XOFF 12, refresh 3, XON 12, expired 0; paused for 2 ms (1 %), at most 1 ms at once." */
static void
append_counts(const rs_findings *all, GString *text, guint32 pause)
{
    const roce_pause_source *p = rs_pause_source(all, pause);
    g_autofree char *xoff = rs_format_count(p->xoff);
    g_autofree char *refresh = rs_format_count(p->refresh);
    g_autofree char *xon = rs_format_count(p->xon);
    g_string_append_printf(text, "XOFF %s, refresh %s, XON %s", xoff, refresh, xon);
    if (p->speed_known) {
        g_autofree char *share =
            rs_format_share(p->total_ns, rs_pause_watch_of(all, pause)->span_ns);
        g_autofree char *total = rs_format_duration(p->total_ns, 0);
        g_autofree char *longest = rs_format_duration(p->longest_ns, 0);
        g_autofree char *expired = rs_format_count(p->expired);
        g_string_append_printf(text,
                               ", expired %s; paused for %s (%s), at most %s at "
                               "once%s.",
                               expired, total, share, longest,
                               rs_pause_lasts(p) ? ", and still when the capture ended"
                                                 : "");
    } else {
        g_autofree char *share =
            rs_format_share(p->least_ns, rs_pause_watch_of(all, pause)->span_ns);
        g_autofree char *least = rs_format_duration(p->least_ns, 0);
        g_autofree char *fastest = rs_format_rate(ROCE_FASTEST_LINK_BPS);
        g_autofree char *quanta = rs_format_count(p->total_quanta);
        g_string_append_printf(
            text,
            "; %s quanta asked for: paused for %s (%s) and more, were the link of %s.  "
            "Its speed is not known: give --link-speed for durations.",
            quanta, least, share, fastest);
    }
}

char *
rs_pause_port_title(const rs_findings *all, const rs_pause_port *port)
{
    g_autofree char *who = rs_pause_who(all, port->first);
    g_autofree char *list = rs_format_priorities(port->priorities);
    return g_strdup_printf("%s pauses %s %s", who,
                           rs_pause_port_has_several(port) ? "priorities" : "priority",
                           list);
}

void
rs_pause_port_tell(rs_findings *all, const rs_pause_port *port, GString *text)
{
    g_hash_table_add(all->told, GUINT_TO_POINTER(port->first));
    if (rs_pause_port_has_several(port)) {
        g_string_append_printf(
            text, "Priority %u: ", rs_pause_source(all, port->first)->priority);
    }
    append_counts(all, text, port->first);
    append_victims(all, text, port->first);
    for (guint i = 0; i < ROCE_PRIORITY_GLOBAL; i++) {
        guint32 its = rs_pause_port_source(all, port, i);
        if (its != ROCE_NO_PAUSE && its != port->first) {
            g_hash_table_add(all->told, GUINT_TO_POINTER(its));
            g_string_append_printf(text, "  Priority %u: ", i);
            append_counts(all, text, its);
            append_victims(all, text, its);
        }
    }
    append_place(all, text, port->first);
    append_sender(all, text, port->first);
}

gboolean
rs_pause_is_untold(const rs_findings *all, guint32 pause)
{
    return rs_pause_source(all, pause)->xoff > 0 && rs_pause_stands(all, pause) &&
           !g_hash_table_contains(all->told, GUINT_TO_POINTER(pause)) &&
           (rs_pause_source(all, pause)->priority == ROCE_PRIORITY_GLOBAL ||
            rs_pause_all_caused_by(all, pause) == ROCE_NO_PAUSE);
}
