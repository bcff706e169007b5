/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Findings about the capture as a whole: how far to trust it, and what else stands on the
 * RoCE port.
 */
#include "findings_parts.h"
#include "format.h"
#include "thresholds.h"

/* A finding about frames that are odd in themselves; NULL if there are none. */
static rs_finding *
add_odd(rs_findings *all, const rs_finding_row *row, rs_oddity kind, guint64 n,
        const char *filter)
{
    if (n == 0) {
        return NULL;
    }
    const rs_frames *frames = &all->analysis->watchers.odd_frames.kinds[kind];
    rs_finding *f = rs_finding_add(all, row, row->worst);
    f->weight = n;
    rs_finding_add_kept(f, frames);
    if (filter != NULL) {
        rs_finding_add_filter(f, g_strdup(filter));
    }
    return f;
}

void
rs_find_clock_steps(rs_findings *all, const rs_finding_row *row)
{
    const rs_analysis *a = all->analysis;
    if (a->steps_back == 0) {
        return;
    }
    rs_finding *f = rs_finding_add(all, row, RS_SEVERITY_NOTE);
    guint64 largest = 0;
    for (guint i = 0; i < rs_points_n(a->points); i++) {
        const rs_point *point = rs_analysis_point(a, i);
        largest = MAX(largest, point->largest_step_ns);
        rs_finding_add_kept(f, &point->stepped);
    }
    g_autofree char *step = rs_format_duration(largest, a->resolution_ns);
    g_autofree char *times = rs_format_count(a->steps_back);
    rs_finding_say(
        f,
        a->steps_back == 1 ? g_strdup("Time stamps step back once")
                           : g_strdup_printf("Time stamps step back %s times", times),
        g_strdup_printf("By at most %s; no duration is reckoned across a step back.",
                        step));
}

void
rs_find_truncated(rs_findings *all, const rs_finding_row *row)
{
    guint64 n = all->analysis->snaplen_truncated;
    guint64 sliced = all->analysis->sliced;
    rs_finding *f = add_odd(all, row, RS_ODD_CUT, n,
                            sliced == 0 ? "frame.cap_len < frame.len" : NULL);
    if (f == NULL) {
        return;
    }
    g_autofree char *packets = rs_finding_count(n, "packet was", "packets were");
    g_autofree char *shorter = rs_format_count(sliced);
    g_autofree char *before =
        sliced == 0
            ? g_strdup("")
            : g_strdup_printf("  %s came shorter than %s IP and UDP headers say: a "
                              "tap aggregator or packet broker cuts packets, or a "
                              "tool did.",
                              shorter, sliced == 1 ? "its" : "their");
    rs_finding_say(
        f,
        g_strdup_printf("%s cut %s", packets,
                        sliced == n ? "before they were captured"
                        : sliced > 0
                            ? "by the snap length, or before they were captured"
                            : "by the snap length"),
        g_strdup_printf("Their ICRC cannot be checked, and identical packets "
                        "are told apart by headers alone.%s",
                        before));
}

void
rs_find_mirror_cut(rs_findings *all, const rs_finding_row *row)
{
    guint64 n = roce_tracker_totals_get(all->analysis->tracker)->mirror_cut_packets;
    rs_finding *f = add_odd(all, row, RS_ODD_MIRROR_CUT, n, NULL);
    if (f != NULL) {
        g_autofree char *packets = rs_finding_count(n, "packet was", "packets were");
        rs_finding_say(
            f, g_strdup_printf("%s cut by a mirror", packets),
            g_strdup("Their own headers say that they were longer than what the mirror "
                     "carried.  On their way they were whole."));
    }
}

void
rs_find_malformed(rs_findings *all, const rs_finding_row *row)
{
    const roce_tracker_totals *totals = roce_tracker_totals_get(all->analysis->tracker);
    guint64 n = totals->malformed_packets;
    rs_finding *f = add_odd(all, row, RS_ODD_MALFORMED, n, NULL);
    if (f == NULL) {
        return;
    }
    g_autofree char *damaged = rs_finding_count(totals->damaged_lengths, "was", "were");
    g_autofree char *why =
        totals->damaged_lengths == 0
            ? g_strdup("")
            : g_strdup_printf("  %s damaged: the checksum of the IPv4 header "
                              "is right with the length that UDP says.",
                              damaged);
    rs_finding_say(f, rs_finding_count(n, "malformed packet", "malformed packets"),
                   g_strdup_printf("%s headers promise more than the frame had on the "
                                   "wire.%s",
                                   n == 1 ? "Its" : "Their", why));
}

#define NO_FRAGMENTS                                                                   \
    "the checksum of the IPv4 header is right without the bits that make a fragment "  \
    "of it."

/* Damaged packets, all of them, which their receivers discard. */
static void
write_no_fragments(rs_finding *f, guint64 n)
{
    rs_finding_say(
        f,
        rs_finding_count(n, "damaged packet looks like an IP fragment",
                         "damaged packets look like IP fragments"),
        g_strdup_printf("%s none: " NO_FRAGMENTS, n == 1 ? "It is" : "They are"));
    f->look = NULL;
    f->advice =
        g_strdup("No MTU is to blame.  Look for a device before this point that "
                 "damages packets: error counters of its links, its memory.");
}

void
rs_find_fragments(rs_findings *all, const rs_finding_row *row)
{
    const roce_tracker_totals *totals = roce_tracker_totals_get(all->analysis->tracker);
    guint64 n = totals->fragments;
    guint64 n_damaged = totals->damaged_fragments;
    rs_finding *f = add_odd(all, row, RS_ODD_FRAGMENT, n,
                            "ip.flags.mf == 1 || ip.frag_offset > 0 || "
                            "ipv6.fraghdr");
    if (f == NULL) {
        return;
    }
    if (n_damaged == n) {
        write_no_fragments(f, n);
        return;
    }
    g_autofree char *others =
        rs_finding_count(n_damaged, "is a damaged packet", "are damaged packets");
    g_autofree char *damaged =
        n_damaged == 0 ? g_strdup("")
                       : g_strdup_printf("  %s and no fragment: " NO_FRAGMENTS, others);
    rs_finding_say(f, rs_finding_count(n, "IP fragment", "IP fragments"),
                   g_strdup_printf("Of the RoCE port, or later fragments of some UDP "
                                   "packet.%s",
                                   damaged));
}

void
rs_find_icrc_orphans(rs_findings *all, const rs_finding_row *row)
{
    guint64 n = roce_tracker_totals_get(all->analysis->tracker)->icrc_orphans;
    rs_finding *f = add_odd(all, row, RS_ODD_ORPHAN, n, NULL);
    if (f != NULL) {
        g_autofree char *packets = rs_finding_packets(n);
        rs_finding_say(f,
                       g_strdup_printf("%s with a bad ICRC %s to no known stream",
                                       packets, n == 1 ? "belongs" : "belong"),
                       g_strdup("A packet with a bad ICRC proves nothing: it opens no "
                                "stream, and what it says is not counted."));
    }
}

void
rs_find_headers_cut(rs_findings *all, const rs_finding_row *row)
{
    const roce_tracker_totals *n = roce_tracker_totals_get(all->analysis->tracker);
    guint64 others = n->truncated_packets - n->bth_cut_packets;
    guint64 cut =
        MIN(n->untracked_packets - n->icrc_orphans, others) + n->bth_cut_packets;
    rs_finding *f = add_odd(all, row, RS_ODD_HEADERS_CUT, cut, NULL);
    if (f == NULL) {
        return;
    }
    g_autofree char *packets = rs_finding_packets(cut);
    g_autofree char *nothing = rs_format_count(n->bth_cut_packets);
    char *title = g_strdup_printf("The headers of %s were cut", packets);
    if (n->bth_cut_packets == 0) {
        rs_finding_say(f, title,
                       g_strdup("ACKs without their syndrome and the like: what they "
                                "said is not known."));
        return;
    }
    rs_finding_say(
        f, title,
        g_strdup_printf("Of %s not even the BTH is there: whether any of them was lost "
                        "or sent again cannot be told.",
                        nothing));
}

void
rs_find_extract(rs_findings *all, const rs_finding_row *row)
{
    if (all->analysis->has_gaps) {
        rs_finding_say(
            rs_finding_add(all, row, RS_SEVERITY_NOTE),
            g_strdup("The capture is an extract with gaps: losses and the like are "
                     "not told"),
            g_strdup("rocescope extract left packets out between others of their "
                     "connection, which look as if they were lost.  Findings that rest "
                     "on all of them are withheld; counters, verdicts and latencies "
                     "are of what is there."));
    }
}

void
rs_find_capture_drops(rs_findings *all, const rs_finding_row *row)
{
    const rs_analysis *a = all->analysis;
    guint64 dropped = 0;
    for (guint i = 0; i < rs_points_n(a->points); i++) {
        dropped += rs_analysis_point(a, i)->dropped;
    }
    if (dropped == 0) {
        return;
    }
    rs_finding *f = rs_finding_add(all, row, RS_SEVERITY_WARNING);
    f->weight = dropped;
    g_autofree char *packets = rs_finding_packets(dropped);
    rs_finding_say(
        f, g_strdup_printf("The capture itself dropped %s", packets),
        g_strdup("By its own counters.  What it missed looks like loss to nobody here, "
                 "but counts are lower bounds."));
}

static gboolean
is_any_in_and_out(const rs_analysis *a)
{
    guint i = 0;
    while (i < rs_points_n(a->points) && !rs_analysis_point(a, i)->survey.in_and_out) {
        i++;
    }
    return i < rs_points_n(a->points);
}

/* How many hosts all packets that come twice are between; 0: of all, or of several points. */
static guint
count_twice_hosts(const rs_analysis *a)
{
    guint n_points = 0;
    guint n_hosts = 0;
    for (guint i = 0; i < rs_points_n(a->points); i++) {
        const roce_survey_point *point = &rs_analysis_point(a, i)->survey;
        if (point->delivers_twice) {
            n_points++;
            n_hosts = point->n_twice_hosts;
        }
    }
    return n_points == 1 ? n_hosts : 0;
}

void
rs_find_capture_duplicates(rs_findings *all, const rs_finding_row *row)
{
    const rs_analysis *a = all->analysis;
    if (a->capture_duplicates == 0) {
        return;
    }
    guint n_hosts = count_twice_hosts(a);
    rs_finding *f =
        rs_finding_add(all, row, n_hosts == 0 ? RS_SEVERITY_NOTE : RS_SEVERITY_WARNING);
    rs_finding_add_kept(f, &a->left_out);
    g_autofree char *copies = rs_finding_count(a->capture_duplicates, "second copy was",
                                               "second copies were");
    rs_finding_say(
        f,
        n_hosts == 0
            ? g_strdup("The capture holds every packet twice")
            : g_strdup_printf("The capture holds every packet between %u hosts twice",
                              n_hosts),
        g_strdup_printf(
            "%s left out.%s  %s", copies,
            is_any_in_and_out(a)
                ? "  One copy is in a tunnel and the other is not, as where a tunnel "
                  "begins: streams are shown as they are outside of it, with no tenant."
                : "",
            n_hosts == 0
                ? "Those of every sender came again, so the network did not make them."
                : "All that these hosts send each other came again, and nothing else "
                  "did, as where their ports are mirrored both ways.  A network that "
                  "makes two of each of their packets would look the same."));
}

void
rs_find_merged_queues(rs_findings *all, const rs_finding_row *row)
{
    const rs_analysis *a = all->analysis;
    guint i = 0;
    while (i < rs_points_n(a->points) &&
           rs_analysis_point(a, i)->survey.order != ROCE_ORDER_STAMP) {
        i++;
    }
    if (i == rs_points_n(a->points)) {
        return;
    }
    rs_finding *f = rs_finding_add(all, row, RS_SEVERITY_NOTE);
    rs_finding_say(
        f,
        g_strdup("The file is out of order: its frames were put in the order of "
                 "their time stamps"),
        g_strdup("In the order of the file PSNs step back and ACKs stand before "
                 "their requests; by the stamps they do not.  Several queues or "
                 "files were merged."));
}

void
rs_find_tables_full(rs_findings *all, const rs_finding_row *row)
{
    const roce_tracker_totals *n = roce_tracker_totals_get(all->analysis->tracker);
    guint64 evicted = 0;
    g_autoptr(GString) which = g_string_new("Given up:");
    for (guint i = 0; i < ROCE_N_TABLES; i++) {
        evicted += n->evicted[i];
        if (n->evicted[i] > 0) {
            g_autofree char *count = rs_format_count(n->evicted[i]);
            g_string_append_printf(which, " %s %s", roce_table_name((roce_table)i),
                                   count);
        }
    }
    rs_finding *f =
        add_odd(all, row, RS_ODD_EVICTION, evicted, "rocev2.analysis.evicted");
    if (f != NULL) {
        g_string_append_c(which, '.');
        rs_finding_say(f,
                       g_strdup("Some tables were full, and their oldest entries were "
                                "given up"),
                       g_strdup(which->str));
    }
}

void
rs_find_overlapping_files(rs_findings *all, const rs_finding_row *row)
{
    if (all->analysis->overlapping) {
        rs_finding_say(
            rs_finding_add(all, row, RS_SEVERITY_NOTE),
            g_strdup("The files do not follow one another: they are several capture "
                     "points"),
            g_strdup("A file begins before the one in front of it ends, or has its "
                     "packets once more."));
    }
}

void
rs_find_strangers(rs_findings *all, const rs_finding_row *row)
{
    guint64 n = roce_tracker_totals_get(all->analysis->tracker)->not_ib_on_roce_port;
    rs_finding *f = add_odd(all, row, RS_ODD_NOT_IB, n, NULL);
    if (f != NULL) {
        g_autofree char *packets = rs_finding_packets(n);
        rs_finding_say(f,
                       g_strdup_printf("%s on a RoCE port %s no InfiniBand transport",
                                       packets, n == 1 ? "is" : "are"),
                       g_strdup("Their header version or length fits no RoCE packet."));
    }
}

void
rs_find_flush_icrc(rs_findings *all, const rs_finding_row *row)
{
    guint64 n = all->summary->totals.icrc.flush_bad;
    rs_finding *f = add_odd(all, row, RS_ODD_FLUSH_ICRC, n, NULL);
    if (f != NULL) {
        g_autofree char *packets = rs_finding_count(n, "FLUSH packet", "FLUSH packets");
        rs_finding_say(
            f, g_strdup_printf("%s with a wrong ICRC", packets),
            g_strdup("soft-RoCE reckons the ICRC of FLUSH wrongly; they are taken as "
                     "good."));
    }
}

void
rs_find_cnp_icrc(rs_findings *all, const rs_finding_row *row)
{
    guint64 n = all->summary->totals.icrc.cnp_bad;
    rs_finding *f = add_odd(all, row, RS_ODD_CNP_ICRC, n, NULL);
    if (f != NULL) {
        g_autofree char *cnps = rs_finding_count(n, "CNP", "CNPs");
        rs_finding_say(
            f,
            g_strdup_printf("%s with an ICRC of %s own", cnps,
                            n == 1 ? "its" : "their"),
            g_strdup("Some devices send CNPs whose ICRC does not verify; they are "
                     "counted all the same."));
    }
}
