/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Findings about the connections that CM messages told of. */
#include "findings_parts.h"
#include "format.h"

/* Connections from one host to another, in one tenant network, that ended alike. */
typedef struct ended {
    const roce_connection *first;
    guint n;
    GArray *frames; /* guint64: of their REQs */
} ended;

static void
free_ended(gpointer data)
{
    ended *one = data;
    g_array_unref(one->frames);
    g_free(one);
}

static gboolean
have_same_ends(const roce_connection *a, const roce_connection *b)
{
    return roce_tenant_equal(&a->tenant, &b->tenant) &&
           roce_addr_equal(&a->addr[0], &b->addr[0]) &&
           roce_addr_equal(&a->addr[1], &b->addr[1]);
}

static guint
hash_ends(gconstpointer data)
{
    const roce_connection *c = ((const ended *)data)->first;
    guint64 hash = roce_hash_tenant(0, &c->tenant);
    return (guint)roce_hash_addr(roce_hash_addr(hash, &c->addr[0]), &c->addr[1]);
}

/* ---- rejected ---- */

static gboolean
were_rejected_alike(gconstpointer a, gconstpointer b)
{
    const roce_connection *x = ((const ended *)a)->first;
    const roce_connection *y = ((const ended *)b)->first;
    return have_same_ends(x, y) && x->given_up == y->given_up &&
           x->reject_reason == y->reject_reason;
}

/* Those that `applies` to, together where they are `alike`, in their order. */
static GPtrArray *
collect(const rs_findings *all, gboolean (*applies)(const roce_connection *),
        GEqualFunc alike)
{
    const roce_tracker *tracker = all->analysis->tracker;
    GPtrArray *list = g_ptr_array_new_with_free_func(free_ended);
    g_autoptr(GHashTable) known = g_hash_table_new(hash_ends, alike);
    for (guint32 i = 0; i < roce_tracker_n_connections(tracker); i++) {
        const roce_connection *c = roce_tracker_connection(tracker, i);
        if (!applies(c)) {
            continue;
        }
        const ended key = {.first = c};
        ended *one = g_hash_table_lookup(known, &key);
        if (one == NULL) {
            one = g_new0(ended, 1);
            one->first = c;
            one->frames = g_array_new(FALSE, FALSE, sizeof(guint64));
            g_ptr_array_add(list, one);
            g_hash_table_add(known, one);
        }
        one->n++;
        g_array_append_val(one->frames, c->request_frame);
    }
    return list;
}

static gboolean
is_rejected(const roce_connection *c)
{
    return c->rejected;
}

static void
report_rejected(rs_findings *all, const rs_finding_row *row, const ended *one)
{
    const roce_connection *c = one->first;
    const char *reason = roce_cm_reject_name(c->reject_reason);
    g_autofree char *ends = rs_format_ends(&c->addr[0], &c->addr[1]);
    g_autofree char *what = g_strdup_printf(
        "%s:%s%u", ends, c->given_up ? "given-up-" : "", c->reject_reason);
    g_autofree char *asking = rs_findings_label(all, &c->addr[0]);
    g_autofree char *asked = rs_findings_label_in(all, &c->tenant, &c->addr[1]);
    g_autofree char *n = one->n == 1 ? g_strdup("a connection")
                                     : rs_finding_count(one->n, "", "connections");
    rs_finding *f = rs_finding_add(all, row, RS_SEVERITY_NOTE);
    rs_finding_about(f, what);
    rs_finding_in(f, &c->tenant);
    f->weight = one->n;
    rs_finding_add_frames(f, &g_array_index(one->frames, guint64, 0), one->frames->len,
                          one->n);
    rs_finding_say(
        f,
        c->given_up
            ? g_strdup_printf("%s gave up %s to %s: %s", asking, n, asked, reason)
            : g_strdup_printf("%s rejected %s from %s: %s", asked, n, asking, reason),
        g_strdup_printf("CM REJ, reason %u: %s; sent by the side that %s.",
                        c->reject_reason, reason, c->given_up ? "asked" : "was asked"));
}

void
rs_find_rejected(rs_findings *all, const rs_finding_row *row)
{
    g_autoptr(GPtrArray) list = collect(all, is_rejected, were_rejected_alike);
    for (guint i = 0; i < list->len; i++) {
        report_rejected(all, row, g_ptr_array_index(list, i));
    }
}
