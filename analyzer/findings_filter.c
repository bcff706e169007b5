/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "findings_filter.h"

#include "format.h"
#include "sorting.h"

#include "roce/aeth.h"

#include <string.h>

#define ENDS_IN_FILTER 32 /* keeps the filter within what Wireshark takes */

/* Whether the plugin gives streams the numbers that the report gives them: if it sees the
 * same packets, and takes none for damaged that nobody has looked at. */
static gboolean
same_numbers(const rs_analysis *a)
{
    return a->files->len == 1 && a->filtered_out == 0 &&
           a->options->icrc == RS_ICRC_ALL;
}

/* "1, 3..5" */
static char *
set_of_streams(const rs_finding *finding)
{
    g_autoptr(GArray) ids = g_array_copy(finding->streams);
    g_array_sort(ids, rs_by_u32);
    GString *text = g_string_new(NULL);
    for (guint i = 0; i < ids->len;) {
        guint32 first = g_array_index(ids, guint32, i);
        guint32 last = first;
        while (++i < ids->len && g_array_index(ids, guint32, i) == last + 1) {
            last++;
        }
        g_string_append(text, text->len > 0 ? ", " : "");
        rs_format_append_number(text, first);
        if (last > first) {
            g_string_append(text, "..");
            rs_format_append_number(text, last);
        }
    }
    return g_string_free(text, FALSE);
}

/* " && vxlan.vni == 100": what tells a stream from one of another tenant network, where
 * Wireshark has a field for it. */
static char *
filter_of_tenant(const roce_tenant *tenant)
{
    const char *field = tenant->kind == ROCE_TENANT_VXLAN    ? "vxlan.vni"
                        : tenant->kind == ROCE_TENANT_GENEVE ? "geneve.vni"
                                                             : NULL;
    return field == NULL ? g_strdup("")
                         : g_strdup_printf(" && %s == %u", field, tenant->id);
}

/* "ip.src == 10.0.0.1 && ip.dst == 10.0.0.2 && infiniband.bth.destqp == 0x11" */
static char *
filter_of_ends(const roce_stream *s)
{
    g_autofree char *tenant = filter_of_tenant(&s->tenant);
    g_autofree char *src = rs_format_addr(&s->src);
    g_autofree char *dst = rs_format_addr(&s->dst);
    gboolean grh = s->n_udp_src_ports == 0;
    const char *from = grh                  ? "infiniband.grh.sgid"
                       : s->src.family == 6 ? "ipv6.src"
                                            : "ip.src";
    const char *to = grh                  ? "infiniband.grh.dgid"
                     : s->src.family == 6 ? "ipv6.dst"
                                          : "ip.dst";
    return g_strdup_printf("%s == %s && %s == %s && infiniband.bth.destqp == 0x%x%s",
                           from, src, to, dst, s->dst_qpn, tenant);
}

/* Of the streams of a finding, or the first of them. */
static char *
filter_of_all_ends(const rs_findings *all, const rs_finding *finding)
{
    GString *text = g_string_new(NULL);
    for (guint i = 0; i < MIN(finding->streams->len, ENDS_IN_FILTER); i++) {
        guint32 id = g_array_index(finding->streams, guint32, i);
        g_autofree char *one =
            filter_of_ends(roce_tracker_stream(all->analysis->tracker, id));
        g_string_append_printf(text, "%s(%s)", i > 0 ? " || " : "", one);
    }
    return g_string_free(text, FALSE);
}

char *
rs_finding_stream_filter(const rs_findings *all, const rs_finding *finding)
{
    if (same_numbers(all->analysis)) {
        g_autofree char *set = set_of_streams(finding);
        return g_strdup_printf("rocev2.analysis.stream in {%s}", set);
    }
    return filter_of_all_ends(all, finding);
}

/* Marked data.  A copy that was left out has no stream with the plugin, and may be the marked
 * one. */
static char *
filter_of_marks(const rs_findings *all, const rs_finding *finding)
{
    g_autofree char *streams = finding->streams->len <= ENDS_IN_FILTER
                                   ? filter_of_all_ends(all, finding)
                                   : rs_finding_stream_filter(all, finding);
    return g_strdup_printf("rocev2.ecn == %u && rocev2.payload_length > 0 && (%s)",
                           ROCE_ECN_CE, streams);
}

/* "ip.addr == 10.0.0.1 && ip.addr == 10.0.0.2": what tells of a stream may go either way. */
static char *
filter_of_two_hosts(const roce_stream *s)
{
    g_autofree char *src = rs_format_addr(&s->src);
    g_autofree char *dst = rs_format_addr(&s->dst);
    g_autofree char *tenant = filter_of_tenant(&s->tenant);
    const char *addr = s->src.family == 6 ? "ipv6.addr" : "ip.addr";
    return g_strdup_printf("%s == %s && %s == %s%s", addr, src, addr, dst, tenant);
}

/* The same of all streams of a finding, or of the first pairs of hosts among them. */
static char *
filter_of_hosts(const rs_findings *all, const rs_finding *finding)
{
    g_autoptr(GPtrArray) pairs = g_ptr_array_new_with_free_func(g_free);
    for (guint i = 0; i < finding->streams->len && pairs->len < ENDS_IN_FILTER; i++) {
        guint32 id = g_array_index(finding->streams, guint32, i);
        g_autofree char *one =
            filter_of_two_hosts(roce_tracker_stream(all->analysis->tracker, id));
        if (!g_ptr_array_find_with_equal_func(pairs, one, g_str_equal, NULL)) {
            g_ptr_array_add(pairs, g_steal_pointer(&one));
        }
    }
    if (pairs->len == 1) {
        return g_strdup(g_ptr_array_index(pairs, 0));
    }
    g_ptr_array_add(pairs, NULL);
    g_autofree char *text = g_strjoinv(") || (", (char **)pairs->pdata);
    return g_strdup_printf("((%s))", text);
}

/* What an event of the kind says, as the plugin's field has it; NULL: no matter. */
static const char *
detail_of(guint kind)
{
    roce_event event = {.kind = (roce_event_kind)(kind >> 8), .detail = kind & 0xff};
    gboolean counts = event.kind == ROCE_EVENT_LOSS || event.kind == ROCE_EVENT_ROUND ||
                      event.kind == ROCE_EVENT_NAK;
    return counts ? roce_event_detail_name(&event) : NULL;
}

/* The verdicts that hold: where some were taken back, the plugin's remark on a packet tells,
 * which it leaves out there. */
static char *
filter_of_loss(const rs_findings *all, const char *name, const char *verdict)
{
    gboolean all_hold = all->analysis->event_totals[ROCE_EVENT_LOSS_WITHDRAWN] == 0;
    return all_hold ? g_strdup_printf("rocev2.analysis.%s == \"%s\"", name, verdict)
                    : g_strdup_printf("rocev2.analysis.%s == \"%s\" && "
                                      "rocev2.expert.%s.%s",
                                      name, verdict, name, verdict);
}

char *
rs_filter_of_events(const rs_findings *all, const rs_finding *finding, guint kind)
{
    if (kind >> 8 == ROCE_EVENT_CE_EPISODE) {
        return filter_of_marks(all, finding);
    }
    const char *name = roce_event_kind_name((roce_event_kind)(kind >> 8));
    const char *detail = detail_of(kind);
    gboolean is_loss = kind >> 8 == ROCE_EVENT_LOSS && detail != NULL;
    g_autofree char *field =
        is_loss          ? filter_of_loss(all, name, detail)
        : detail != NULL ? g_strdup_printf("rocev2.analysis.%s == \"%s\"", name, detail)
                         : g_strdup_printf("rocev2.analysis.%s", name);
    if (same_numbers(all->analysis)) {
        g_autofree char *set = set_of_streams(finding);
        return g_strdup_printf("%s && rocev2.analysis.%s.stream in {%s}", field, name,
                               set);
    }
    g_autofree char *hosts = filter_of_hosts(all, finding);
    return g_strdup_printf("%s && %s", field, hosts);
}

/* "{24..31}": the DSCPs that are queued in a priority. */
static char *
set_of_dscps(const rs_options *options, guint priority)
{
    g_autoptr(GString) set = g_string_new("{");
    for (guint first = 0; first < RS_N_DSCPS; first++) {
        guint next = first;
        while (next < RS_N_DSCPS && options->dscp_map[next] == priority) {
            next++;
        }
        if (next > first) {
            g_string_append_printf(set, "%s%u..%u", set->len > 1 ? ", " : "", first,
                                   next - 1);
            first = next;
        }
    }
    return g_strdup_printf("%s}", set->str);
}

/* Whether frames of a point are told by the number of its interface, in its section. */
static gboolean
has_interface_id(const rs_findings *all, const rs_point *point)
{
    return all->analysis->files->len == 1 &&
           point->section_number == point->first_section_number &&
           point->origin.kind == ROCE_ORIGIN_INTERFACE;
}

/* " && frame.section_number == 2": sections number their interfaces each from 0; "" where there
 * is only one, or none. */
static char *
filter_of_section(const rs_findings *all, const rs_point *point)
{
    const rs_points *points = all->analysis->points;
    guint i = 0;
    while (i < rs_points_n(points) && rs_points_at(points, i)->section_number <= 1) {
        i++;
    }
    return i == rs_points_n(points) ? g_strdup("")
                                    : g_strdup_printf(" && frame.section_number == %u",
                                                      point->section_number);
}

/* " && frame.interface_id in {2, 3}": what tells the frames of a point, and of those joined with
 * it, from those of other points; "" where Wireshark has nothing for it, or there are no
 * others. */
static char *
filter_of_point(const rs_findings *all, guint32 point)
{
    const rs_points *points = all->analysis->points;
    guint32 group = rs_points_at(points, point)->survey.group;
    guint n = 0;
    const rs_point *own = rs_points_at(points, point);
    g_autoptr(GString) set = g_string_new(NULL);
    for (guint i = 0; i < rs_points_n(points); i++) {
        const rs_point *member = rs_points_at(points, i);
        if (member->survey.group != group) {
            continue;
        }
        if (++n > ENDS_IN_FILTER || !has_interface_id(all, member) ||
            member->section_number != own->section_number) {
            return g_strdup("");
        }
        g_string_append_printf(set, "%s%u", n > 1 ? ", " : "", member->number);
    }
    g_autofree char *section = filter_of_section(all, own);
    return n < rs_points_n(points)
               ? g_strdup_printf("%s && frame.interface_id in {%s}", section, set->str)
               : g_strdup("");
}

char *
rs_filter_of_data(const rs_findings *all, guint32 point, const char *what)
{
    /* Who does not check ICRCs counts what the plugin finds damaged. */
    const char *counted = all->analysis->options->icrc == RS_ICRC_ALL
                              ? "rocev2.analysis.stream"
                              : "!rocev2.analysis.second_copy";
    g_autofree char *at = filter_of_point(all, point);
    return g_strdup_printf("rocev2.payload_length > 0 && "
                           "!(rocev2.bth.opcode in {0x60..0x7f}) && %s && (%s)%s",
                           counted, what, at);
}

/* Pauses are of one link, also where points are joined. */
static char *
filter_of_link(const rs_findings *all, guint32 point)
{
    const rs_point *p = rs_points_at(all->analysis->points, point);
    g_autofree char *section = filter_of_section(all, p);
    return rs_points_n(all->analysis->points) > 1 && has_interface_id(all, p)
               ? g_strdup_printf("%s && frame.interface_id == %u", section, p->number)
               : g_strdup("");
}

/* "macc.cbfc.enbv.c3 == 1" */
static char *
filter_of_classes(guint8 priorities)
{
    g_autoptr(GString) text = g_string_new(NULL);
    for (guint i = 0; i < ROCE_PRIORITY_GLOBAL; i++) {
        if ((priorities & 1u << i) != 0) {
            g_string_append_printf(text, "%smacc.cbfc.enbv.c%u == 1",
                                   text->len > 0 ? " || " : "", i);
        }
    }
    return (priorities & (priorities - 1)) == 0 ? g_strdup(text->str)
                                                : g_strdup_printf("(%s)", text->str);
}

char *
rs_filter_of_pauses(const rs_findings *all, const roce_pause_source *pause,
                    guint8 priorities)
{
    g_autofree char *mac = rs_format_mac(pause->src_mac);
    g_autofree char *point = filter_of_link(all, pause->point);
    g_autofree char *what = priorities == 0 ? g_strdup("macc.opcode == 0x0001")
                                            : filter_of_classes(priorities);
    return g_strdup_printf("eth.src == %s && %s%s", mac, what, point);
}

char *
rs_filter_of_priority(const rs_findings *all, guint32 point, guint priority)
{
    const rs_options *options = all->analysis->options;
    g_autofree char *set = set_of_dscps(options, priority);
    g_autofree char *by_dscp = g_str_equal(set, "{}")
                                   ? g_strdup("frame.number == 0")
                                   : g_strdup_printf("rocev2.queue.dscp in %s", set);
    g_autofree char *by_both = options->dscp_map_given
                                   ? g_strdup(by_dscp)
                                   : g_strdup_printf("rocev2.queue.pcp == %u || "
                                                     "(!rocev2.queue.pcp && %s)",
                                                     priority, by_dscp);
    return rs_filter_of_data(all, point, by_both);
}
