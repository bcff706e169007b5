/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Findings about the capture as a whole and about its ports: how far to trust it, who
 * paused whom, and what else stands on the RoCE port.
 */
#include "background.h"
#include "findings.h"
#include "format.h"

#define INCAST_SENDERS 8
#define WARNING_PAUSED_PERCENT 1

static void
say(rs_finding *f, const char *advice, char *title, char *detail)
{
    f->title = title;
    f->detail = detail;
    f->advice = g_strdup(advice);
}

static void
find_clock_steps(rs_findings *all)
{
    const rs_analysis *a = all->analysis;
    guint64 largest = 0;
    for (guint i = 0; i < rs_points_n(a->points); i++) {
        largest = MAX(largest, rs_analysis_point(a, i)->largest_step_ns);
    }
    if (a->steps_back == 0) {
        return;
    }
    g_autofree char *step = rs_format_duration(largest, a->resolution_ns);
    rs_finding *f = rs_finding_add(all, "clock_steps_back", RS_SEVERITY_NOTE);
    say(f, "Nothing to do: file order is the order of arrival at a point, and is used.",
        a->steps_back == 1
            ? g_strdup("Time stamps step back once")
            : g_strdup_printf("Time stamps step back %" G_GUINT64_FORMAT " times",
                              a->steps_back),
        g_strdup_printf("By at most %s; no duration is reckoned across a step back.",
                        step));
}

static void
find_truncation(rs_findings *all)
{
    const rs_analysis *a = all->analysis;
    const roce_tracker_totals *n = roce_tracker_totals_get(a->tracker);
    if (a->snaplen_truncated > 0) {
        rs_finding *f = rs_finding_add(all, "truncated", RS_SEVERITY_NOTE);
        say(f,
            "Headers suffice for sequence and congestion; to check ICRCs capture whole "
            "packets.",
            g_strdup_printf("%" G_GUINT64_FORMAT " packets were cut by the snap length",
                            a->snaplen_truncated),
            g_strdup(
                "Their ICRC cannot be checked, and identical packets are told apart "
                "by headers alone."));
    }
    if (n->mirror_cut_packets > 0) {
        rs_finding *f = rs_finding_add(all, "mirror_cut", RS_SEVERITY_NOTE);
        say(f,
            "Headers suffice for sequence and congestion; to check ICRCs have whole "
            "packets mirrored, through a network whose MTU takes the headers on top.",
            g_strdup_printf("%" G_GUINT64_FORMAT " packets were cut by a mirror",
                            n->mirror_cut_packets),
            g_strdup("Their own headers say that they were longer than what the mirror "
                     "carried. On their way they were whole."));
    }
    if (n->malformed_packets > 0) {
        rs_finding *f = rs_finding_add(all, "malformed", RS_SEVERITY_WARNING);
        f->weight = n->malformed_packets;
        say(f, "Something on this network, or the capture itself, damages packets.",
            g_strdup_printf("%" G_GUINT64_FORMAT " malformed packets",
                            n->malformed_packets),
            g_strdup("Their headers promise more than the frame had on the wire."));
        f->filter = g_strdup("_ws.malformed");
    }
    if (n->fragments > 0) {
        rs_finding *f = rs_finding_add(all, "fragments", RS_SEVERITY_WARNING);
        f->weight = n->fragments;
        say(f,
            "RoCEv2 packets must not be fragmented: raise the IP MTU along the path "
            "above the RoCE path MTU, or lower the latter.",
            g_strdup_printf("%" G_GUINT64_FORMAT " IP fragments", n->fragments),
            g_strdup("Of the RoCE port, or later fragments of some UDP packet."));
        f->filter = g_strdup("ip.flags.mf == 1 || ip.frag_offset > 0");
    }
}

/* RoCE packets that opened no stream, and why. */
static void
find_untracked(rs_findings *all)
{
    const roce_tracker_totals *n = roce_tracker_totals_get(all->analysis->tracker);
    if (n->icrc_orphans > 0) {
        rs_finding *f = rs_finding_add(all, "icrc_orphans", RS_SEVERITY_WARNING);
        f->weight = n->icrc_orphans;
        say(f,
            "If something rewrote the packets after they were captured (anonymised "
            "addresses, say), look again with --icrc off.",
            g_strdup_printf("%" G_GUINT64_FORMAT
                            " packets with a bad ICRC belong to no known stream",
                            n->icrc_orphans),
            g_strdup("A packet with a bad ICRC proves nothing: it opens no stream, and "
                     "what it says is not counted."));
    }
    guint64 cut = n->untracked_packets - n->icrc_orphans;
    if (cut > 0 && n->truncated_packets > 0) {
        rs_finding *f = rs_finding_add(all, "headers_cut", RS_SEVERITY_NOTE);
        say(f,
            "Capture at least 128 bytes of each packet, 64 more inside a tunnel or "
            "mirror.",
            g_strdup_printf("The headers of %" G_GUINT64_FORMAT " packets were cut",
                            MIN(cut, n->truncated_packets)),
            g_strdup("ACKs without their syndrome and the like: what they said is not "
                     "known."));
    }
}

static void
find_capture_drops(rs_findings *all)
{
    const rs_analysis *a = all->analysis;
    guint64 dropped = 0;
    for (guint i = 0; i < rs_points_n(a->points); i++) {
        dropped += rs_analysis_point(a, i)->dropped;
    }
    if (dropped == 0) {
        return;
    }
    rs_finding *f = rs_finding_add(all, "capture_drops", RS_SEVERITY_WARNING);
    f->weight = dropped;
    say(f, "Capture headers only, or with a larger buffer.",
        g_strdup_printf("The capture itself dropped %" G_GUINT64_FORMAT " packets",
                        dropped),
        g_strdup("By its own counters.  What it missed looks like loss to nobody here, "
                 "but counts are lower bounds."));
}

/* What the survey found out about the points. */
static void
find_odd_points(rs_findings *all)
{
    const rs_analysis *a = all->analysis;
    guint by_stamp = 0;
    for (guint i = 0; i < rs_points_n(a->points); i++) {
        by_stamp += rs_analysis_point(a, i)->survey.order == ROCE_ORDER_STAMP ? 1 : 0;
    }
    if (a->capture_duplicates > 0) {
        rs_finding *f = rs_finding_add(all, "capture_duplicates", RS_SEVERITY_NOTE);
        say(f,
            "Mirror a port in one direction, or ingress alone; capture one interface "
            "of "
            "a bond.",
            g_strdup("The capture holds every packet twice"),
            g_strdup_printf(
                "%" G_GUINT64_FORMAT " second copies were left out.  Those of "
                "every sender came again, so the network did not make them.",
                a->capture_duplicates));
    }
    if (by_stamp > 0) {
        rs_finding *f = rs_finding_add(all, "merged_queues", RS_SEVERITY_NOTE);
        say(f, "Nothing to do, as long as the stamps are right.",
            g_strdup("The file is out of order: its frames were put in the order of "
                     "their time stamps"),
            g_strdup("In the order of the file PSNs step back and ACKs stand before "
                     "their requests; by the stamps they do not.  Several queues or "
                     "files were merged."));
    }
}

static void
find_limits(rs_findings *all)
{
    const rs_analysis *a = all->analysis;
    const roce_tracker_totals *n = roce_tracker_totals_get(a->tracker);
    guint64 evicted = 0;
    GString *which = g_string_new(NULL);
    for (guint i = 0; i < ROCE_N_TABLES; i++) {
        evicted += n->evicted[i];
        if (n->evicted[i] > 0) {
            g_string_append_printf(which, " %s %" G_GUINT64_FORMAT,
                                   roce_table_name((roce_table)i), n->evicted[i]);
        }
    }
    if (evicted > 0) {
        rs_finding *f = rs_finding_add(all, "tables_full", RS_SEVERITY_NOTE);
        say(f, "Split the capture or filter it.",
            g_strdup("Some tables were full, and their oldest entries were given up"),
            g_strdup_printf("Given up:%s.", which->str));
    }
    g_string_free(which, TRUE);
    if (a->overlapping) {
        rs_finding *f = rs_finding_add(all, "overlapping_files", RS_SEVERITY_NOTE);
        say(f, "Look at files of several points one by one.",
            g_strdup(
                "The files do not follow one another: they are several capture points"),
            g_strdup(
                "A file begins before the one in front of it ends, or has its packets "
                "once more."));
    }
}

static void
find_strangers(rs_findings *all)
{
    const roce_tracker_totals *n = roce_tracker_totals_get(all->analysis->tracker);
    if (n->not_ib_on_roce_port == 0) {
        return;
    }
    rs_finding *f = rs_finding_add(all, "not_infiniband", RS_SEVERITY_NOTE);
    say(f, "Nothing to do; they open no stream.",
        g_strdup_printf("%" G_GUINT64_FORMAT
                        " packets on a RoCE port are no InfiniBand "
                        "transport",
                        n->not_ib_on_roce_port),
        g_strdup("Their header version or length fits no RoCE packet."));
    f->filter = g_strdup("udp.port == 4791");
}

static void
find_odd_icrc(rs_findings *all)
{
    const roce_icrc_counters *icrc = &all->summary->totals.icrc;
    if (icrc->flush_bad > 0) {
        rs_finding *f = rs_finding_add(all, "flush_icrc", RS_SEVERITY_NOTE);
        say(f, "Nothing to do.",
            g_strdup_printf("%" G_GUINT64_FORMAT " FLUSH packets with a wrong ICRC",
                            icrc->flush_bad),
            g_strdup("soft-RoCE reckons the ICRC of FLUSH wrongly; they are taken as "
                     "good."));
        f->filter = g_strdup("infiniband.bth.opcode == 0x1c");
    }
    if (icrc->cnp_bad > 0) {
        rs_finding *f = rs_finding_add(all, "cnp_icrc", RS_SEVERITY_NOTE);
        say(f, "Nothing to do.",
            g_strdup_printf("%" G_GUINT64_FORMAT " CNPs with an ICRC of their own",
                            icrc->cnp_bad),
            g_strdup("Some devices send CNPs whose ICRC does not verify; they are "
                     "counted all the same."));
        f->filter = g_strdup("infiniband.bth.opcode == 0x81");
    }
}

/* Receivers that many senders send data to. */
static void
find_incast(rs_findings *all)
{
    const roce_tracker *tracker = all->analysis->tracker;
    g_autoptr(GHashTable) senders =
        g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    g_autoptr(GHashTable) receivers =
        g_hash_table_new_full(rs_addr_hash, rs_addr_equal, NULL, NULL);
    for (guint32 id = 0; id < roce_tracker_n_streams(tracker); id++) {
        const roce_stream *s = roce_tracker_stream(tracker, id);
        if (s->payload_bytes == 0) {
            continue;
        }
        g_autofree char *src = rs_format_addr(&s->src);
        g_autofree char *dst = rs_format_addr(&s->dst);
        if (g_hash_table_add(senders, g_strdup_printf("%s>%s", src, dst))) {
            guint n = GPOINTER_TO_UINT(g_hash_table_lookup(receivers, &s->dst));
            g_hash_table_insert(receivers, (gpointer)(guintptr)&s->dst,
                                GUINT_TO_POINTER(n + 1));
        }
    }
    GHashTableIter iter;
    gpointer receiver;
    gpointer n;
    g_hash_table_iter_init(&iter, receivers);
    while (g_hash_table_iter_next(&iter, &receiver, &n)) {
        if (GPOINTER_TO_UINT(n) < INCAST_SENDERS) {
            continue;
        }
        g_autofree char *dst = rs_format_addr(receiver);
        g_autofree char *who = rs_findings_label(all, receiver);
        g_autofree char *kind = g_strdup_printf("many_senders:%s", dst);
        rs_finding *f = rs_finding_add(all, kind, RS_SEVERITY_NOTE);
        f->weight = GPOINTER_TO_UINT(n);
        say(f, "Expected in a collective; with CE or pauses it is where to look first.",
            g_strdup_printf("%u senders send to %s", GPOINTER_TO_UINT(n), who),
            g_strdup("Over the whole capture; not necessarily at the same time."));
    }
}

static void
find_rejected(rs_findings *all)
{
    const roce_tracker *tracker = all->analysis->tracker;
    for (guint32 i = 0; i < roce_tracker_n_connections(tracker); i++) {
        const roce_connection *c = roce_tracker_connection(tracker, i);
        if (!c->rejected) {
            continue;
        }
        g_autofree char *from = rs_format_addr(&c->addr[0]);
        g_autofree char *to = rs_format_addr(&c->addr[1]);
        g_autofree char *kind =
            g_strdup_printf("cm_rejected:%s>%s:%x", from, to, c->qpn[0]);
        g_autofree char *asking = rs_findings_label(all, &c->addr[0]);
        g_autofree char *refusing = rs_findings_label(all, &c->addr[1]);
        rs_finding *f = rs_finding_add(all, kind, RS_SEVERITY_NOTE);
        g_array_append_val(f->frames, c->request_frame);
        say(f, "Is the service listening?  The reason is the peer's own word.",
            g_strdup_printf("%s rejected a connection from %s", refusing, asking),
            g_strdup_printf("CM REJ, reason %u: %s.", c->reject_reason,
                            roce_cm_reject_name(c->reject_reason)));
    }
}

static gboolean
any_roce(const rs_findings *all)
{
    return roce_tracker_totals_get(all->analysis->tracker)->roce_packets > 0;
}

static void
find_pause(rs_findings *all, const roce_pause_source *p)
{
    gboolean global = p->priority == ROCE_PRIORITY_GLOBAL;
    const rs_point *point = rs_analysis_point(all->analysis, p->point);
    guint64 span = MAX(point->newest_ns - point->first_ns, p->total_ns);
    g_autofree char *mac = rs_format_mac(p->src_mac);
    g_autofree char *who = rs_hosts_label_mac(all->analysis->told->hosts, p->src_mac);
    g_autofree char *share = rs_format_share(p->total_ns, span);
    g_autofree char *total = rs_format_duration(p->total_ns, 0);
    g_autofree char *longest = rs_format_duration(p->longest_ns, 0);
    g_autofree char *kind = global ? g_strdup_printf("pause_802.3x:%s", mac)
                                   : g_strdup_printf("pfc:%s:%u", mac, p->priority);
    gboolean heavy = p->speed_known && span > 0 &&
                     p->total_ns * 100 >= span * WARNING_PAUSED_PERCENT;
    gboolean bad = (global && any_roce(all)) || heavy;
    rs_finding *f =
        rs_finding_add(all, kind, bad ? RS_SEVERITY_WARNING : RS_SEVERITY_NOTE);
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
    say(f,
        global ? "802.3x pause stops every class; use PFC for the RoCE priority only."
               : "Look at what the pausing port itself waits for.",
        title, detail);
    f->filter = g_strdup_printf("eth.src == %s && eth.type == 0x8808", mac);
}

void
rs_findings_of_capture(rs_findings *all)
{
    find_clock_steps(all);
    find_truncation(all);
    find_untracked(all);
    find_capture_drops(all);
    find_odd_points(all);
    find_limits(all);
    find_strangers(all);
    find_odd_icrc(all);
    find_incast(all);
    find_rejected(all);
    const roce_tracker *tracker = all->analysis->tracker;
    for (guint32 i = 0; i < roce_tracker_n_pauses(tracker); i++) {
        find_pause(all, roce_tracker_pause(tracker, i));
    }
}
