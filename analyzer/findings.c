/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "findings.h"

#include "findings_files.h"
#include "findings_filter.h"
#include "findings_held.h"
#include "format.h"
#include "outages.h"
#include "sorting.h"

#define FRAMES_KEPT RS_FRAMES
#define SENDERS_NAMED 4

static void
free_finding(gpointer data)
{
    rs_finding *finding = data;
    g_free(finding->id);
    g_free(finding->place);
    g_free(finding->title);
    g_free(finding->detail);
    g_free(finding->advice);
    g_free(finding->filter);
    g_free(finding->filter_all);
    g_ptr_array_unref(finding->filters);
    g_ptr_array_unref(finding->files);
    g_array_unref(finding->streams);
    g_array_unref(finding->frames);
    g_array_unref(finding->shown_by);
    g_array_unref(finding->kinds);
    g_free(finding);
}

rs_finding *
rs_finding_add(rs_findings *all, const rs_finding_row *row, rs_severity severity)
{
    rs_finding *finding = g_new0(rs_finding, 1);
    finding->row = row;
    finding->look = row->look;
    finding->id = g_strdup(row->id);
    finding->severity = severity;
    finding->streams = g_array_new(FALSE, FALSE, sizeof(guint32));
    finding->frames = g_array_new(FALSE, FALSE, sizeof(guint64));
    finding->shown_by = g_array_new(FALSE, FALSE, sizeof(guint64));
    finding->kinds = g_array_new(FALSE, FALSE, sizeof(guint));
    finding->files = rs_finding_files_new();
    finding->filters = g_ptr_array_new_with_free_func(g_free);
    finding->weight = 1;
    g_ptr_array_add(all->list, finding);
    return finding;
}

void
rs_finding_about(rs_finding *finding, const char *what)
{
    g_free(finding->id);
    finding->id = g_strdup_printf("%s:%s", finding->row->id, what);
}

void
rs_finding_at(rs_finding *finding, guint32 point)
{
    g_free(finding->place);
    finding->place = g_strdup_printf("@point-%u", point);
}

void
rs_finding_in(rs_finding *finding, const roce_tenant *tenant)
{
    g_clear_pointer(&finding->place, g_free);
    if (tenant->kind != ROCE_TENANT_NONE) {
        finding->place =
            g_strdup_printf("@%s-%u", roce_tenant_kind_name(tenant->kind), tenant->id);
    }
}

void
rs_finding_say(rs_finding *finding, char *title, char *detail)
{
    finding->title = title;
    finding->detail = detail;
}

void
rs_findings_take_back(rs_findings *all)
{
    g_ptr_array_remove_index(all->list, all->list->len - 1);
}

void
rs_finding_add_frame(rs_finding *finding, guint64 frame)
{
    if (frame != 0) {
        g_array_append_val(finding->frames, frame);
    }
}

void
rs_finding_add_frames(rs_finding *finding, const guint64 *frames, guint n,
                      guint64 total)
{
    g_array_append_vals(finding->frames, frames, n);
    finding->more_frames |= total > n;
}

void
rs_finding_add_kept(rs_finding *finding, const rs_frames *frames)
{
    rs_finding_add_frames(finding, frames->first, rs_frames_kept(frames),
                          frames->total);
}

/* The requests that NAKs refused, if all of them are known. */
static void
add_refused(const rs_findings *all, rs_finding *finding, guint32 stream, guint kind)
{
    const rs_evidence *refused =
        rs_evidence_get(all->analysis->evidence, stream, RS_EVIDENCE_REFUSED | kind);
    if (refused != NULL && !refused->more) {
        rs_finding_add_frames(finding, refused->frames, refused->n, 0);
    }
}

/* The frames of events of a kind about a stream; but a round of which the cause became
 * known is shown as of that alone. */
static gboolean
add_events_of(const rs_findings *all, rs_finding *finding, guint32 stream, guint kind)
{
    const rs_evidence *evidence =
        rs_evidence_get(all->analysis->evidence, stream, kind);
    const roce_stream_trouble *trouble =
        roce_stream_trouble_of(roce_tracker_stream(all->analysis->tracker, stream));
    guint64 turned_out = trouble->reconsidered_frame;
    gboolean any = FALSE;
    for (guint i = 0; evidence != NULL && i < evidence->n; i++) {
        if (kind != ROUND(UNKNOWN) || evidence->frames[i] != turned_out) {
            rs_finding_add_frame(finding, evidence->frames[i]);
            any = TRUE;
        }
    }
    finding->more_frames |= evidence != NULL && evidence->more;
    if (kind == ROUND(TIMEOUT) && turned_out != 0 &&
        trouble->reconsidered_cause == ROCE_CAUSE_TIMEOUT) {
        rs_finding_add_frame(finding, turned_out);
    }
    return any;
}

void
rs_finding_add_events(const rs_findings *all, rs_finding *finding, guint kind)
{
    gboolean any = FALSE;
    g_array_append_val(finding->kinds, kind);
    for (guint i = 0; i < finding->streams->len; i++) {
        guint32 id = g_array_index(finding->streams, guint32, i);
        any |= add_events_of(all, finding, id, kind);
        add_refused(all, finding, id, kind);
    }
    if (any) {
        rs_finding_add_filter(finding, rs_filter_of_events(all, finding, kind));
    }
}

void
rs_finding_add_filter(rs_finding *finding, char *filter)
{
    g_ptr_array_add(finding->filters, filter);
}

char *
rs_findings_label(const rs_findings *all, const roce_addr *addr)
{
    return rs_hosts_label(all->analysis->told->hosts, addr);
}

char *
rs_findings_label_in(const rs_findings *all, const roce_tenant *tenant,
                     const roce_addr *addr)
{
    g_autofree char *label = rs_findings_label(all, addr);
    if (!all->several_tenants || tenant->kind == ROCE_TENANT_NONE) {
        return g_steal_pointer(&label);
    }
    g_autofree char *name = rs_format_tenant(tenant);
    return g_strdup_printf("%s in %s", label, name);
}

char *
rs_findings_ends(const rs_findings *all, const roce_tenant *tenant,
                 const roce_addr *src, const roce_addr *dst)
{
    g_autofree char *from = rs_findings_label(all, src);
    g_autofree char *to = rs_findings_label_in(all, tenant, dst);
    return g_strdup_printf("%s to %s", from, to);
}

char *
rs_finding_list(const GPtrArray *names, guint n)
{
    GString *text = g_string_new(NULL);
    for (guint i = 0; i < names->len; i++) {
        const char *between = i == 0 ? "" : i + 1 == n ? " and " : ", ";
        g_string_append(text, between);
        g_string_append(text, g_ptr_array_index(names, i));
    }
    if (names->len < n) {
        g_string_append_printf(text, " and %u more", n - names->len);
    }
    return g_string_free(text, FALSE);
}

char *
rs_findings_senders(const rs_findings *all, const GArray *streams)
{
    g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
    g_autoptr(GHashTable) known = rs_tenant_addr_set_new();
    for (guint i = 0; i < streams->len; i++) {
        const roce_stream *s = roce_tracker_stream(all->analysis->tracker,
                                                   g_array_index(streams, guint32, i));
        if (rs_tenant_addr_set_add(known, &s->tenant, &s->src) &&
            names->len < SENDERS_NAMED) {
            g_ptr_array_add(names, rs_findings_label_in(all, &s->tenant, &s->src));
        }
    }
    return rs_finding_list(names, g_hash_table_size(known));
}

/* ---- the list ---- */

/* Each frame once, in order, and not too many. */
static void
tidy_frames(rs_finding *finding)
{
    GArray *frames = finding->frames;
    rs_sort_array_u64(frames);
    guint n = 0;
    for (guint i = 0; i < frames->len; i++) {
        guint64 frame = g_array_index(frames, guint64, i);
        if (n == 0 || g_array_index(frames, guint64, n - 1) != frame) {
            g_array_index(frames, guint64, n++) = frame;
        }
    }
    g_array_append_vals(finding->shown_by, frames->data, n);
    finding->not_all_kept = finding->more_frames;
    finding->more_frames |= n > FRAMES_KEPT;
    g_array_set_size(frames, MIN(n, FRAMES_KEPT));
}

/* "a || b" of the filters for all frames; NULL without any. */
static char *
join_filters(const rs_finding *finding)
{
    GPtrArray *filters = finding->filters;
    if (filters->len <= 1) {
        return filters->len == 0 ? NULL : g_strdup(g_ptr_array_index(filters, 0));
    }
    GString *text = g_string_new(NULL);
    for (guint i = 0; i < filters->len; i++) {
        g_string_append_printf(text, "%s(%s)", i > 0 ? " || " : "",
                               (const char *)g_ptr_array_index(filters, i));
    }
    return g_string_free(text, FALSE);
}

/* Wireshark opens one file: of several each has its filter of its own, see findings_files.c,
 * and what stands for all is by what packets are. */
static void
set_filters(const rs_findings *all, rs_finding *finding)
{
    gboolean one_file = all->analysis->files->len == 1;
    finding->filter_all = join_filters(finding);
    if (!one_file) {
        g_array_set_size(finding->frames, 0);
    }
    if (finding->frames->len > 0) {
        const rs_finding_file *part = g_ptr_array_index(finding->files, 0);
        finding->filter = g_strdup(part->filter);
    } else if (finding->filter_all != NULL) {
        finding->filter = g_strdup(finding->filter_all);
    } else {
        finding->filter = finding->streams->len > 0
                              ? rs_finding_stream_filter(all, finding)
                              : g_strdup("");
    }
    if (!finding->more_frames && one_file) {
        g_clear_pointer(&finding->filter_all, g_free);
    }
}

static void
extend_id(rs_finding *finding, const char *by)
{
    char *id = g_strconcat(finding->id, by, NULL);
    g_free(finding->id);
    finding->id = id;
}

/* Adds their places to ids that several findings have. */
static void
add_places(const GPtrArray *list)
{
    g_autoptr(GHashTable) first = g_hash_table_new(g_str_hash, g_str_equal);
    g_autoptr(GHashTable) shared = g_hash_table_new(NULL, NULL);
    for (guint i = 0; i < list->len; i++) {
        rs_finding *finding = g_ptr_array_index(list, i);
        rs_finding *other = g_hash_table_lookup(first, finding->id);
        if (other == NULL) {
            g_hash_table_insert(first, finding->id, finding);
        } else {
            g_hash_table_add(shared, other);
            g_hash_table_add(shared, finding);
        }
    }
    for (guint i = 0; i < list->len; i++) {
        rs_finding *finding = g_ptr_array_index(list, i);
        if (finding->place != NULL && g_hash_table_contains(shared, finding)) {
            extend_id(finding, finding->place);
        }
    }
}

/* Of findings in their order, those whose id an earlier one has are numbered, from 2. */
static void
number_ids(const GPtrArray *list)
{
    g_autoptr(GHashTable) n =
        g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    for (guint i = 0; i < list->len; i++) {
        rs_finding *finding = g_ptr_array_index(list, i);
        guint number = GPOINTER_TO_UINT(g_hash_table_lookup(n, finding->id)) + 1;
        g_hash_table_replace(n, g_strdup(finding->id), GUINT_TO_POINTER(number));
        if (number > 1) {
            g_autofree char *suffix = g_strdup_printf("#%u", number);
            extend_id(finding, suffix);
        }
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
    if (x->row != y->row) {
        return x->row < y->row ? -1 : 1;
    }
    if (x->weight != y->weight) {
        return x->weight > y->weight ? -1 : 1;
    }
    return g_strcmp0(x->id, y->id);
}

static gboolean
are_several_tenants(const roce_tracker *tracker)
{
    for (guint32 id = 1; id < roce_tracker_n_streams(tracker); id++) {
        if (!roce_tenant_equal(&roce_tracker_stream(tracker, id)->tenant,
                               &roce_tracker_stream(tracker, 0)->tenant)) {
            return TRUE;
        }
    }
    return FALSE;
}

GPtrArray *
rs_findings_new(const rs_analysis *analysis, const rs_summary *summary)
{
    rs_findings all = {
        .analysis = analysis,
        .summary = summary,
        .list = g_ptr_array_new_with_free_func(free_finding),
        .several_tenants = are_several_tenants(analysis->tracker),
    };
    g_autoptr(GHashTable) congested = rs_findings_congested(&all);
    all.congested = congested;
    g_autoptr(GHashTable) holders = rs_findings_holders(&all, RS_HELD_ANYWHERE);
    all.holders = holders;
    g_autoptr(GHashTable) first_holders = rs_findings_holders(&all, RS_HELD_FIRST);
    all.first_holders = first_holders;
    g_autoptr(rs_last_heard) heard = rs_last_heard_new(analysis);
    all.heard = heard;
    g_autoptr(GHashTable) told = g_hash_table_new(NULL, NULL);
    all.told = told;
    g_autoptr(GHashTable) too_long = rs_findings_too_long(&all);
    all.too_long = too_long;
    g_autoptr(GPtrArray) outages = analysis->has_gaps
                                       ? g_ptr_array_new()
                                       : rs_outages_new(analysis, summary, too_long);
    all.outages = outages;
    g_autoptr(GHashTable) in_outages = rs_outages_shares(analysis, outages);
    all.in_outages = in_outages;
    for (guint i = 0; i < rs_n_finding_rows; i++) {
        const rs_finding_row *row = &rs_finding_rows[i];
        if (!analysis->has_gaps || row->basis == RS_FRAMES_SUFFICE) {
            row->find(&all, row);
        }
    }
    for (guint i = 0; i < all.list->len; i++) {
        tidy_frames(g_ptr_array_index(all.list, i));
    }
    rs_findings_place(&all);
    for (guint i = 0; i < all.list->len; i++) {
        set_filters(&all, g_ptr_array_index(all.list, i));
    }
    g_clear_pointer(&all.traffic, g_hash_table_unref);
    add_places(all.list);
    g_ptr_array_sort(all.list, worse);
    number_ids(all.list);
    return all.list;
}

char *
rs_finding_extraction(const rs_finding *finding)
{
    if (finding->shown_by->len == 0 && finding->streams->len == 0) {
        return NULL;
    }
    g_autofree char *id = g_shell_quote(finding->id);
    return g_strconcat("--finding=", id, NULL);
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
