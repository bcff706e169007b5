/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "verdict.h"

#include "format.h"
#include "point_names.h"
#include "reader.h"

/* Whether some stream has PSNs that tell what is missing. */
static gboolean
shows_losses(const roce_tracker *tracker)
{
    for (guint32 id = 0; id < roce_tracker_n_streams(tracker); id++) {
        roce_transport transport = roce_tracker_stream(tracker, id)->transport;
        if (transport != ROCE_TRANSPORT_UD && transport != ROCE_TRANSPORT_CNP) {
            return TRUE;
        }
    }
    return FALSE;
}

/* XONs alone pause nothing. */
static gboolean
any_pause(const roce_tracker *tracker)
{
    guint32 i = 0;
    while (i < roce_tracker_n_pauses(tracker) &&
           roce_tracker_pause(tracker, i)->xoff == 0) {
        i++;
    }
    return i < roce_tracker_n_pauses(tracker);
}

/* What can be said not to be there: of loss, retransmission and congestion. */
static char *
absent(const rs_analysis *analysis, const rs_summary *summary)
{
    const rs_counters *n = &summary->totals;
    guint64 lost = 0;
    guint64 missing = 0;
    for (guint space = 0; space < ROCE_N_SPACES; space++) {
        lost += rs_losses_of(n->losses[space]) + n->losses[space][ROCE_VERDICT_UNKNOWN];
        missing += n->space[space].missing_psns;
    }
    guint64 again = n->retransmissions.packets + n->space[ROCE_SPACE_RESPONSES].resent;
    gboolean congested = n->ecn.codepoint[ROCE_ECN_CE] > 0 ||
                         n->ecn_control[ROCE_ECN_CE] > 0 || n->cnps_sent > 0 ||
                         any_pause(analysis->tracker);
    GString *text = g_string_new(NULL);
    gboolean shown = shows_losses(analysis->tracker);
    g_string_append(text, shown && lost + missing == 0 ? ", no loss" : "");
    g_string_append(text, shown && again == 0 ? ", no retransmission" : "");
    g_string_append(text, congested ? "" : ", no congestion");
    g_string_erase(text, 0, text->len > 0 ? 2 : 0);
    return g_string_free(text, FALSE);
}

rs_health
rs_verdict(const rs_analysis *analysis, const rs_summary *summary, const char **label,
           char **words)
{
    const roce_tracker_totals *n = roce_tracker_totals_get(analysis->tracker);
    if (n->roce_packets == 0) {
        *label = "Nothing to judge";
        *words = g_strdup(analysis->filtered_out > 0
                              ? "no RoCE packet passes the filter."
                              : "there is no RoCE packet in this capture.");
        return RS_HEALTH_NOTHING;
    }
    if (roce_tracker_n_streams(analysis->tracker) == 0) {
        *label = "Nothing to judge";
        *words = g_strdup("no RoCE packet in this capture shows its queue pair.");
        return RS_HEALTH_NOTHING;
    }
    if (analysis->has_gaps) {
        *label = "Nothing to judge";
        *words = g_strdup("this is an extract, which leaves packets out.");
        return RS_HEALTH_NOTHING;
    }
    g_autofree char *packets = rs_format_things(n->roce_packets - n->bth_cut_packets,
                                                "RoCE packet", "RoCE packets");
    g_autofree char *cut = rs_format_things(n->bth_cut_packets, "packet", "packets");
    g_autofree char *unseen = n->bth_cut_packets > 0
                                  ? g_strdup_printf("; of %s the BTH was cut off", cut)
                                  : g_strdup("");
    g_autofree char *none = absent(analysis, summary);
    gboolean all = g_str_equal(none, "no loss, no retransmission, no congestion") &&
                   n->bth_cut_packets == 0;
    *label = all ? "Healthy" : "No warning";
    g_autofree char *streams = rs_format_things(
        roce_tracker_n_streams(analysis->tracker), "stream", "streams");
    *words = g_strdup_printf(
        "%s in %s of %s%s%s.", *none != '\0' ? none : "nothing that needs one", packets,
        streams, analysis->incomplete ? ", in what could be read" : "", unseen);
    return all ? RS_HEALTH_HEALTHY : RS_HEALTH_NO_WARNING;
}

/* ---- how far to trust it ---- */

/* With what --icrc passed over, if it did, and what another checksum told. */
static char *
icrc_text(const rs_analysis *a, const rs_counters *c)
{
    static const char *const modes[] = {
        [RS_ICRC_ALL] = "all", [RS_ICRC_SAMPLE] = "sample", [RS_ICRC_OFF] = "off"};
    g_autofree char *checked = rs_format_count(c->icrc.checked);
    g_autofree char *bad = rs_format_count(c->icrc.bad);
    g_autofree char *unread = rs_format_count(a->icrc.passed_over);
    g_autofree char *headers = rs_format_count(c->ip_checksum_bad);
    g_autofree char *psns = rs_format_count(c->psn_bad);
    g_autofree char *passed_over = a->icrc.passed_over > 0
                                       ? g_strdup_printf(", %s passed over (--icrc %s)",
                                                         unread, modes[a->icrc.mode])
                                       : g_strdup("");
    g_autofree char *by_header =
        c->ip_checksum_bad > 0
            ? g_strdup_printf(".  Bad IPv4 header checksums: %s", headers)
            : g_strdup("");
    g_autofree char *by_psn =
        c->psn_bad > 0 ? g_strdup_printf(".  Damaged PSNs without it: %s", psns)
                       : g_strdup("");
    return g_strdup_printf("%s checked, %s bad%s%s%s", checked, bad, passed_over,
                           by_header, by_psn);
}

/* Which packets have one stamp in common. */
static char *
still_text(const rs_analysis *a)
{
    g_autofree char *packets = rs_format_count(a->still->packets);
    g_autofree char *name = rs_point_name(a, a->still->id);
    gboolean is_only = rs_points_n(a->points) == 1;
    return g_strdup_printf(
        "Time stamps: all %s packets%s%s have the same one: nothing is "
        "known of times, rates and latencies.",
        packets, is_only ? "" : " at ", is_only ? "" : name);
}

static char *
stamps_text(const rs_analysis *a)
{
    if (a->unstamped == a->packets && a->unstamped > 0) {
        return g_strdup("Packets have no time stamps (pcapng, Simple Packet Blocks): "
                        "nothing is known of times, rates and latencies.");
    }
    if (a->still != NULL) {
        return still_text(a);
    }
    if (!rs_analysis_has_stamps(a)) {
        g_autofree char *packets = rs_format_things(a->unstamped, "packet", "packets");
        return g_strdup_printf(
            "Time stamps: none on %s (pcapng, Simple Packet Blocks), and nothing shows "
            "when %s came: nothing is known of times, rates and latencies.",
            packets, a->unstamped == 1 ? "it" : "they");
    }
    g_autofree char *resolution = rs_format_duration(a->resolution_ns, 0);
    g_autofree char *without = rs_format_things(a->unstamped, "packet", "packets");
    g_autofree char *unstamped =
        a->unstamped > 0 ? g_strdup_printf(", none on %s", without) : g_strdup("");
    g_autofree char *steps = rs_format_things(a->steps_back, "step", "steps");
    return g_strdup_printf("Time stamps to %s%s, %s back.", resolution, unstamped,
                           steps);
}

static void
add_stamps(GPtrArray *lines, const rs_analysis *a, const rs_counters *c)
{
    guint64 dropped = 0;
    gboolean known = FALSE;
    for (guint i = 0; i < rs_points_n(a->points); i++) {
        dropped += rs_analysis_point(a, i)->dropped;
        known = known || rs_analysis_point(a, i)->dropped_known;
    }
    g_autofree char *stamps = stamps_text(a);
    g_autofree char *drops = known ? rs_format_count(dropped) : g_strdup("not known");
    g_autofree char *icrcs = icrc_text(a, c);
    g_autofree char *cut = rs_format_count(a->snaplen_truncated);
    g_ptr_array_add(lines, g_strdup_printf("%s  Cut packets: %s.  Dropped by the "
                                           "capture: %s.  ICRC: %s.",
                                           stamps, cut, drops, icrcs));
}

static void
add_carried(GPtrArray *lines, const rs_analysis *a)
{
    const roce_tracker_totals *n = roce_tracker_totals_get(a->tracker);
    if (n->tunnelled_packets > 0) {
        g_autofree char *tunnelled =
            rs_format_things(n->tunnelled_packets, "packet", "packets");
        g_autofree char *mirrored = rs_format_count(n->mirrored_packets);
        g_autofree char *cut = rs_format_count(n->mirror_cut_packets);
        g_ptr_array_add(lines, g_strdup_printf("Inside tunnels: %s; of those in "
                                               "mirrors: %s, cut by the mirror: %s.",
                                               tunnelled, mirrored, cut));
    }
}

/* Streams by what the captures can tell of them. */
typedef struct sights {
    guint64 by_vantage[4];
    guint64 unpaired;
    guint64 unsequenced;
} sights;

static void
count_sights(sights *n, const roce_tracker *tracker)
{
    for (guint32 id = 0; id < roce_tracker_n_streams(tracker); id++) {
        const roce_stream *s = roce_tracker_stream(tracker, id);
        n->unsequenced +=
            s->transport == ROCE_TRANSPORT_UD && s->dst_qpn != ROCE_GSI_QPN ? 1 : 0;
        if (roce_stream_is_reliable(s) && s->space[ROCE_SPACE_REQUESTS].packets > 0) {
            n->by_vantage[s->vantage]++;
            n->unpaired += roce_stream_is_paired(s) ? 0 : 1;
        }
    }
}

static void
add_vantages(GPtrArray *lines, const sights *n)
{
    g_autoptr(GString) text = g_string_new("Vantage:");
    for (guint i = 0; i < G_N_ELEMENTS(n->by_vantage); i++) {
        if (n->by_vantage[i] > 0) {
            g_autofree char *streams =
                rs_format_things(n->by_vantage[i], "stream", "streams");
            g_string_append_printf(text, " %s for %s,",
                                   roce_vantage_name((roce_vantage)i), streams);
        }
    }
    if (text->str[text->len - 1] == ',') {
        text->str[text->len - 1] = '.';
        g_ptr_array_add(lines, g_strdup(text->str));
    }
}

static void
add_unseen(GPtrArray *lines, const sights *n)
{
    if (n->unpaired > 0) {
        g_autofree char *have =
            rs_format_things(n->unpaired, "stream has", "streams have");
        g_ptr_array_add(lines,
                        g_strdup_printf("%s no other direction here: what was said "
                                        "about %s requests is not known.",
                                        have, n->unpaired == 1 ? "its" : "their"));
    }
    if (n->unsequenced > 0) {
        g_autofree char *streams =
            rs_format_things(n->unsequenced, "UD stream", "UD streams");
        g_ptr_array_add(lines, g_strdup_printf("%s: PSNs are not checked there, so "
                                               "loss cannot be seen.",
                                               streams));
    }
}

/* Whether a stream is from or to one of the addresses. */
static gboolean
is_met(const roce_tracker *tracker, const GArray *addrs)
{
    for (guint32 id = 0; id < roce_tracker_n_streams(tracker); id++) {
        const roce_stream *s = roce_tracker_stream(tracker, id);
        for (guint i = 0; i < addrs->len; i++) {
            const roce_addr *addr = &g_array_index(addrs, roce_addr, i);
            if (roce_addr_equal(addr, &s->src) || roce_addr_equal(addr, &s->dst)) {
                return TRUE;
            }
        }
    }
    return FALSE;
}

/* Hosts that the user named, perhaps by a slip, and of which there is nothing. */
static void
add_strangers(GPtrArray *lines, const rs_analysis *a)
{
    const GPtrArray *places = a->options->captured_at;
    for (guint i = 0; i < places->len; i++) {
        const rs_option_pair *place = g_ptr_array_index(places, i);
        g_autoptr(GArray) addrs =
            g_str_equal(place->subject, "network")
                ? NULL
                : rs_hosts_parse_list(a->told->hosts, "--captured-at", place->subject,
                                      NULL);
        if (addrs != NULL && !is_met(a->tracker, addrs)) {
            g_autofree char *who = rs_format_safe(place->subject);
            g_ptr_array_add(lines, g_strdup_printf("--captured-at %s: no stream is "
                                                   "from or to this host.",
                                                   who));
        }
    }
}

/* Interfaces of pcapng files of which others count.  Where none does, it is the file's
 * error. */
static void
add_passed_over(GPtrArray *lines, const rs_analysis *a)
{
    for (guint i = 0; i < rs_points_n(a->points); i++) {
        const rs_point *point = rs_analysis_point(a, i);
        const rs_file *file = g_ptr_array_index(a->files, point->file_i);
        if (point->link != ROCE_LINK_UNSUPPORTED || point->packets == 0 ||
            (file->error != NULL && file->damaged_at < 0)) {
            continue;
        }
        g_autofree char *path = rs_format_safe(file->path);
        g_autofree char *name =
            rs_format_safe(point->interface != NULL ? point->interface : "unnamed");
        g_autofree char *packets = rs_format_count(point->packets);
        const char *link = rs_link_type_name(point->link_type);
        g_ptr_array_add(
            lines,
            g_strdup_printf("%s: %s %s passed over: interface %u (%s) has link type %d "
                            "(%s), which is not supported.",
                            path, packets,
                            point->packets == 1 ? "packet was" : "packets were",
                            point->interface_i, name, point->link_type,
                            link != NULL ? link : "unknown"));
    }
}

GPtrArray *
rs_verdict_unused(const rs_analysis *analysis)
{
    GPtrArray *lines = g_ptr_array_new_with_free_func(g_free);
    add_strangers(lines, analysis);
    add_passed_over(lines, analysis);
    return lines;
}

const char *
rs_verdict_file(const rs_file *file)
{
    if (file->format == NULL) {
        return "could not be read";
    }
    if (file->error == NULL) {
        return NULL;
    }
    return file->damaged_at >= 0 ? "damaged" : "not supported";
}

static void
add_unread(GPtrArray *lines, const rs_analysis *a)
{
    if (a->filtered_out > 0) {
        g_autofree char *packets =
            rs_format_things(a->filtered_out, "packet", "packets");
        g_ptr_array_add(lines, g_strdup_printf("%s did not pass the filter.", packets));
    }
    if (a->interrupted) {
        g_ptr_array_add(lines, g_strdup("Interrupted: this is what was found so far."));
    }
    for (guint i = 0; i < a->told->errors->len; i++) {
        g_ptr_array_add(lines, rs_format_safe(g_ptr_array_index(a->told->errors, i)));
    }
    for (guint i = 0; i < a->files->len; i++) {
        const rs_file *file = g_ptr_array_index(a->files, i);
        if (file->error != NULL) {
            g_ptr_array_add(lines, rs_format_safe(file->error));
        }
    }
}

GPtrArray *
rs_verdict_trust(const rs_analysis *analysis, const rs_summary *summary)
{
    GPtrArray *lines = g_ptr_array_new_with_free_func(g_free);
    sights n = {0};
    count_sights(&n, analysis->tracker);
    add_stamps(lines, analysis, &summary->totals);
    add_carried(lines, analysis);
    add_vantages(lines, &n);
    add_unseen(lines, &n);
    g_ptr_array_extend_and_steal(lines, rs_verdict_unused(analysis));
    add_unread(lines, analysis);
    return lines;
}
