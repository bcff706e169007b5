/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "findings.h"

#include "format.h"

#include <string.h>

#define FRAMES_KEPT 20
#define STREAMS_IN_FILTER 32 /* keeps the filter within what Wireshark takes */

static void
free_finding(gpointer data)
{
    rs_finding *finding = data;
    g_free(finding->id);
    g_free(finding->title);
    g_free(finding->detail);
    g_free(finding->advice);
    g_free(finding->filter);
    g_array_unref(finding->streams);
    g_array_unref(finding->frames);
    g_free(finding);
}

rs_finding *
rs_finding_add(rs_findings *all, const char *kind, rs_severity severity)
{
    rs_finding *finding = g_new0(rs_finding, 1);
    finding->id = g_strdup(kind);
    finding->severity = severity;
    finding->streams = g_array_new(FALSE, FALSE, sizeof(guint32));
    finding->frames = g_array_new(FALSE, FALSE, sizeof(guint64));
    finding->weight = 1;
    finding->rank = G_MAXUINT;
    g_ptr_array_add(all->list, finding);
    return finding;
}

void
rs_finding_add_frames(const rs_findings *all, rs_finding *finding, guint32 stream,
                      guint kind)
{
    const rs_evidence *evidence =
        rs_evidence_get(all->analysis->evidence, stream, kind);
    for (guint i = 0; evidence != NULL && i < evidence->n; i++) {
        g_array_append_val(finding->frames, evidence->frames[i]);
    }
    finding->more_frames |= evidence != NULL && evidence->more;
}

char *
rs_findings_label(const rs_findings *all, const roce_addr *addr)
{
    return rs_hosts_label(all->analysis->told->hosts, addr);
}

char *
rs_filter_of_stream(const roce_stream *s)
{
    g_autofree char *src = rs_format_addr(&s->src);
    g_autofree char *dst = rs_format_addr(&s->dst);
    gboolean grh = s->n_udp_src_ports == 0;
    const char *from = grh                  ? "infiniband.grh.sgid"
                       : s->src.family == 6 ? "ipv6.src"
                                            : "ip.src";
    const char *to = grh                  ? "infiniband.grh.dgid"
                     : s->src.family == 6 ? "ipv6.dst"
                                          : "ip.dst";
    return g_strdup_printf("%s == %s && %s == %s && infiniband.bth.destqp == 0x%x",
                           from, src, to, dst, s->dst_qpn);
}

static gint
by_number(gconstpointer a, gconstpointer b)
{
    guint64 x = *(const guint64 *)a;
    guint64 y = *(const guint64 *)b;
    return x < y ? -1 : x > y;
}

static void
tidy_frames(rs_finding *finding)
{
    GArray *frames = finding->frames;
    g_array_sort(frames, by_number);
    guint kept = 0;
    for (guint i = 0; i < frames->len && kept < FRAMES_KEPT; i++) {
        guint64 frame = g_array_index(frames, guint64, i);
        if (kept == 0 || g_array_index(frames, guint64, kept - 1) != frame) {
            g_array_index(frames, guint64, kept++) = frame;
        }
    }
    finding->more_frames |= kept == FRAMES_KEPT && frames->len > kept;
    g_array_set_size(frames, kept);
}

static char *
filter_of_frames(const rs_finding *finding)
{
    GString *text = g_string_new("frame.number in {");
    for (guint i = 0; i < finding->frames->len; i++) {
        g_string_append_printf(text, "%s%" G_GUINT64_FORMAT, i > 0 ? ", " : "",
                               g_array_index(finding->frames, guint64, i));
    }
    g_string_append_c(text, '}');
    return g_string_free(text, FALSE);
}

static char *
filter_of_streams(const rs_findings *all, const rs_finding *finding)
{
    GString *text = g_string_new(NULL);
    for (guint i = 0; i < finding->streams->len && i < STREAMS_IN_FILTER; i++) {
        guint32 id = g_array_index(finding->streams, guint32, i);
        g_autofree char *one =
            rs_filter_of_stream(roce_tracker_stream(all->analysis->tracker, id));
        g_string_append_printf(text, "%s(%s)", i > 0 ? " || " : "", one);
    }
    return g_string_free(text, FALSE);
}

/* Frame numbers mean something to Wireshark only when the capture is one file, and are
 * the better filter when they are all there. */
static void
set_filter(const rs_findings *all, rs_finding *finding)
{
    if (finding->filter != NULL) {
        return;
    }
    gboolean one_file = all->analysis->files->len == 1;
    if (finding->frames->len > 0 && one_file &&
        (!finding->more_frames || finding->streams->len == 0)) {
        finding->filter = filter_of_frames(finding);
    } else {
        finding->filter = filter_of_streams(all, finding);
    }
}

static gint
worse(gconstpointer a, gconstpointer b)
{
    const rs_finding *x = *(rs_finding *const *)a;
    const rs_finding *y = *(rs_finding *const *)b;
    if (x->severity != y->severity) {
        return x->severity > y->severity ? -1 : 1;
    }
    if (x->rank != y->rank) {
        return x->rank < y->rank ? -1 : 1;
    }
    if (x->weight != y->weight) {
        return x->weight > y->weight ? -1 : 1;
    }
    return g_strcmp0(x->id, y->id);
}

GPtrArray *
rs_findings_new(const rs_analysis *analysis, const rs_summary *summary)
{
    rs_findings all = {
        .analysis = analysis,
        .summary = summary,
        .list = g_ptr_array_new_with_free_func(free_finding),
    };
    rs_findings_of_streams(&all);
    rs_findings_of_capture(&all);
    for (guint i = 0; i < all.list->len; i++) {
        rs_finding *finding = g_ptr_array_index(all.list, i);
        tidy_frames(finding);
        set_filter(&all, finding);
    }
    g_ptr_array_sort(all.list, worse);
    return all.list;
}

gboolean
rs_findings_reach(const GPtrArray *findings, rs_severity severity)
{
    for (guint i = 0; i < findings->len; i++) {
        const rs_finding *finding = g_ptr_array_index(findings, i);
        if (finding->severity >= severity) {
            return TRUE;
        }
    }
    return FALSE;
}
