/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Findings about the connections that CM messages told of. */
#include "findings_parts.h"
#include "format.h"
#include "tenant_addr.h"

/* Connections of one host, in one tenant network, that ended alike, whoever was at their other
 * ends: a host that is down is one, and not as many as ask it. */
typedef struct ended {
    const roce_connection *first;
    guint n, n_given_up;
    guint64 n_requests;
    guint64 from_ns, until_ns; /* of their REQs */
    GArray *frames;            /* guint64: the first REQ of each */
    GHashTable *others;        /* rs_tenant_addr: the hosts at their other ends */
    GPtrArray *names;          /* char *: of the first of these */
} ended;

#define OTHERS_NAMED 2

static void
free_ended(gpointer data)
{
    ended *one = data;
    g_array_unref(one->frames);
    g_hash_table_unref(one->others);
    g_ptr_array_unref(one->names);
    g_free(one);
}

/* Whose finding it is: the side that was asked, or the one that gave up what was answered. */
static guint
side_of(const roce_connection *c)
{
    return c->given_up && c->answered ? 0 : 1;
}

static guint
hash_end(gconstpointer data)
{
    const roce_connection *c = ((const ended *)data)->first;
    guint64 hash = roce_hash_tenant(0, &c->tenant);
    return (guint)roce_hash_addr(hash, &c->addr[side_of(c)]);
}

static gboolean
ended_at_one(gconstpointer a, gconstpointer b)
{
    const roce_connection *x = ((const ended *)a)->first;
    const roce_connection *y = ((const ended *)b)->first;
    guint side = side_of(x);
    return side == side_of(y) && roce_tenant_equal(&x->tenant, &y->tenant) &&
           roce_addr_equal(&x->addr[side], &y->addr[side]);
}

static gboolean
were_rejected_alike(gconstpointer a, gconstpointer b)
{
    return ended_at_one(a, b) && ((const ended *)a)->first->reject_reason ==
                                     ((const ended *)b)->first->reject_reason;
}

static void
add_connection(const rs_findings *all, ended *one, const roce_connection *c)
{
    const roce_addr *addr = &c->addr[1 - side_of(c)];
    if (rs_tenant_addr_set_add(one->others, &c->tenant, addr) &&
        one->names->len < OTHERS_NAMED) {
        g_ptr_array_add(one->names, rs_findings_label(all, addr));
    }
    one->n++;
    one->n_given_up += c->given_up ? 1 : 0;
    one->n_requests += c->n_requests;
    one->from_ns = MIN(one->from_ns, c->request_time_ns);
    one->until_ns = MAX(one->until_ns, c->latest_request_ns);
    g_array_append_val(one->frames, c->request_frame);
}

static ended *
ended_new(const roce_connection *c)
{
    ended *one = g_new0(ended, 1);
    one->first = c;
    one->from_ns = c->request_time_ns;
    one->frames = g_array_new(FALSE, FALSE, sizeof(guint64));
    one->others = rs_tenant_addr_set_new();
    one->names = g_ptr_array_new_with_free_func(g_free);
    return one;
}

/* Those that `applies` to, together where they are `alike`, in their order. */
static GPtrArray *
collect(const rs_findings *all, gboolean (*applies)(const roce_connection *),
        GEqualFunc alike)
{
    const roce_tracker *tracker = all->analysis->tracker;
    GPtrArray *list = g_ptr_array_new_with_free_func(free_ended);
    g_autoptr(GHashTable) known = g_hash_table_new(hash_end, alike);
    for (guint32 i = 0; i < roce_tracker_n_connections(tracker); i++) {
        const roce_connection *c = roce_tracker_connection(tracker, i);
        if (!applies(c)) {
            continue;
        }
        const ended key = {.first = c};
        ended *one = g_hash_table_lookup(known, &key);
        if (one == NULL) {
            one = ended_new(c);
            g_ptr_array_add(list, one);
            g_hash_table_add(known, one);
        }
        add_connection(all, one, c);
    }
    return list;
}

/* "a connection", "3 connections" */
static char *
count_of(const ended *one)
{
    return one->n == 1 ? g_strdup("a connection")
                       : rs_finding_count(one->n, "", "connections");
}

/* A finding about them; its id has the host, and what else is given. */
static rs_finding *
add_about(rs_findings *all, const rs_finding_row *row, const ended *one,
          rs_severity severity, const char *what)
{
    const roce_connection *c = one->first;
    g_autofree char *host = rs_format_addr(&c->addr[side_of(c)]);
    g_autofree char *about = g_strdup_printf("%s%s", host, what);
    rs_finding *f = rs_finding_add(all, row, severity);
    rs_finding_about(f, about);
    rs_finding_in(f, &c->tenant);
    return f;
}

/* ---- nothing answers ---- */

/* Who asks again has heard nothing, whatever was captured of the other direction. */
static gboolean
is_unanswered(const roce_connection *c)
{
    return !c->answered && (c->n_requests > 1 || c->given_up);
}

/* When each host was heard of for the last time: rs_tenant_addr -> guint64. */
static GHashTable *
find_heard(const roce_tracker *tracker)
{
    GHashTable *heard = g_hash_table_new_full(rs_tenant_addr_hash, rs_tenant_addr_equal,
                                              g_free, g_free);
    for (guint32 id = 0; id < roce_tracker_n_streams(tracker); id++) {
        const roce_stream *s = roce_tracker_stream(tracker, id);
        const rs_tenant_addr host = {s->tenant, s->src};
        guint64 *last_ns = g_hash_table_lookup(heard, &host);
        if (last_ns != NULL) {
            *last_ns = MAX(*last_ns, s->last_time_ns);
        } else {
            g_hash_table_insert(heard, g_memdup2(&host, sizeof host),
                                g_memdup2(&s->last_time_ns, sizeof s->last_time_ns));
        }
    }
    return heard;
}

/* "port 4420", where the service is one of IP's (IBTA annex A11), as that of RDMA-CM. */
static char *
service_text(guint64 service_id)
{
    return service_id >> 24 == 1
               ? g_strdup_printf("port %u", (guint)(service_id & 0xffff))
               : g_strdup_printf("service 0x%" G_GINT64_MODIFIER "x", service_id);
}

static char *
unanswered_text(const rs_findings *all, const ended *one, GHashTable *heard)
{
    const roce_connection *c = one->first;
    const rs_tenant_addr host = {c->tenant, c->addr[1]};
    const guint64 *last_ns = g_hash_table_lookup(heard, &host);
    g_autofree char *asked = rs_findings_label_in(all, &c->tenant, &c->addr[1]);
    g_autofree char *requests = rs_finding_count(one->n_requests, "REQ", "REQs");
    g_autofree char *service = service_text(c->service_id);
    g_autofree char *time = rs_format_duration(one->until_ns - one->from_ns, 0);
    gboolean timed = one->n_requests > 1 && rs_analysis_has_stamps(all->analysis);
    GString *text = g_string_new(NULL);
    g_string_append_printf(text, "%s%s%s, the first for %s; no REP, REJ or MRA.  ",
                           requests, timed ? " in " : "", timed ? time : "", service);
    if (one->n_given_up > 0) {
        g_autofree char *n =
            rs_finding_count(one->n_given_up, "connection was", "connections were");
        g_string_append_printf(text, "%s given up.  ", n);
    }
    g_string_append_printf(text, "%s %s.", asked,
                           last_ns == NULL ? "sent no RoCE packet that was captured"
                           : *last_ns <= one->from_ns
                               ? "has sent no RoCE packet since"
                               : "sent other RoCE packets since");
    return g_string_free(text, FALSE);
}

static void
report_unanswered(rs_findings *all, const rs_finding_row *row, const ended *one,
                  GHashTable *heard)
{
    const roce_connection *c = one->first;
    guint n_others = g_hash_table_size(one->others);
    g_autofree char *asking = rs_finding_list(one->names, n_others);
    g_autofree char *asked = rs_findings_label_in(all, &c->tenant, &c->addr[1]);
    g_autofree char *n = count_of(one);
    rs_finding *f = add_about(all, row, one, RS_SEVERITY_WARNING, "");
    f->weight = one->n_requests;
    rs_finding_add_frames(f, &g_array_index(one->frames, guint64, 0), one->frames->len,
                          one->n_requests);
    rs_finding_say(f,
                   g_strdup_printf("%s %s %s for %s, and nothing answers", asking,
                                   n_others == 1 ? "asks" : "ask", asked, n),
                   unanswered_text(all, one, heard));
}

void
rs_find_unanswered(rs_findings *all, const rs_finding_row *row)
{
    g_autoptr(GPtrArray) list = collect(all, is_unanswered, ended_at_one);
    if (list->len == 0) {
        return;
    }
    g_autoptr(GHashTable) heard = find_heard(all->analysis->tracker);
    for (guint i = 0; i < list->len; i++) {
        report_unanswered(all, row, g_ptr_array_index(list, i), heard);
    }
}

/* ---- rejected ---- */

static gboolean
is_rejected(const roce_connection *c)
{
    return c->rejected && !is_unanswered(c);
}

static void
report_rejected(rs_findings *all, const rs_finding_row *row, const ended *one)
{
    const roce_connection *c = one->first;
    guint side = side_of(c);
    const char *reason = roce_cm_reject_name(c->reject_reason);
    g_autofree char *what =
        g_strdup_printf(":%s%u", side == 0 ? "given-up-" : "", c->reject_reason);
    g_autofree char *who = rs_findings_label_in(all, &c->tenant, &c->addr[side]);
    g_autofree char *others =
        rs_finding_list(one->names, g_hash_table_size(one->others));
    g_autofree char *n = count_of(one);
    rs_finding *f = add_about(all, row, one, RS_SEVERITY_NOTE, what);
    f->weight = one->n;
    rs_finding_add_frames(f, &g_array_index(one->frames, guint64, 0), one->frames->len,
                          one->n);
    rs_finding_say(
        f,
        g_strdup_printf("%s %s %s %s %s: %s", who, side == 0 ? "gave up" : "rejected",
                        n, side == 0 ? "to" : "from", others, reason),
        g_strdup_printf("CM REJ, reason %u: %s; sent by the side that %s.",
                        c->reject_reason, reason, side == 0 ? "asked" : "was asked"));
}

void
rs_find_rejected(rs_findings *all, const rs_finding_row *row)
{
    g_autoptr(GPtrArray) list = collect(all, is_rejected, were_rejected_alike);
    for (guint i = 0; i < list->len; i++) {
        report_rejected(all, row, g_ptr_array_index(list, i));
    }
}

/* ---- services refused ---- */

/* What one host refused for one reason, whoever asked, and for whichever service. */
typedef struct refused {
    const roce_refusal *first;
    guint64 n;
    GArray *frames;     /* guint64: the first and the last of each */
    GHashTable *askers; /* rs_tenant_addr */
    GPtrArray *names;   /* char *: of the first of these */
    GHashTable *services;
} refused;

static void
free_refused(gpointer data)
{
    refused *one = data;
    g_array_unref(one->frames);
    g_hash_table_unref(one->askers);
    g_hash_table_unref(one->services);
    g_ptr_array_unref(one->names);
    g_free(one);
}

static guint
hash_refuser(gconstpointer data)
{
    const roce_refusal *r = ((const refused *)data)->first;
    guint64 hash = roce_hash_mix(roce_hash_tenant(0, &r->tenant), r->status);
    return (guint)roce_hash_addr(hash, &r->refuser);
}

static gboolean
refused_alike(gconstpointer a, gconstpointer b)
{
    const roce_refusal *x = ((const refused *)a)->first;
    const roce_refusal *y = ((const refused *)b)->first;
    return x->status == y->status && roce_tenant_equal(&x->tenant, &y->tenant) &&
           roce_addr_equal(&x->refuser, &y->refuser);
}

static refused *
refused_new(const roce_refusal *r)
{
    refused *one = g_new0(refused, 1);
    one->first = r;
    one->frames = g_array_new(FALSE, FALSE, sizeof(guint64));
    one->askers = rs_tenant_addr_set_new();
    one->names = g_ptr_array_new_with_free_func(g_free);
    one->services = g_hash_table_new(g_int64_hash, g_int64_equal);
    return one;
}

static void
add_refusal(const rs_findings *all, refused *one, const roce_refusal *r)
{
    if (rs_tenant_addr_set_add(one->askers, &r->tenant, &r->asker) &&
        one->names->len < OTHERS_NAMED) {
        g_ptr_array_add(one->names, rs_findings_label(all, &r->asker));
    }
    g_hash_table_add(one->services, (gpointer)(guintptr)&r->service_id);
    g_array_append_val(one->frames, r->first_frame);
    if (r->last_frame != r->first_frame) {
        g_array_append_val(one->frames, r->last_frame);
    }
    one->n += r->n;
}

static void
report_refused(rs_findings *all, const rs_finding_row *row, const refused *one)
{
    const roce_refusal *r = one->first;
    const char *reason = roce_cm_sidr_status_name(r->status);
    g_autofree char *host = rs_format_addr(&r->refuser);
    g_autofree char *about = g_strdup_printf("%s:%u", host, r->status);
    g_autofree char *who = rs_findings_label_in(all, &r->tenant, &r->refuser);
    g_autofree char *askers =
        rs_finding_list(one->names, g_hash_table_size(one->askers));
    g_autofree char *n = rs_finding_count(one->n, "request", "requests");
    g_autofree char *service = service_text(r->service_id);
    g_autofree char *services =
        rs_finding_count(g_hash_table_size(one->services), "service", "services");
    gboolean several = g_hash_table_size(one->services) > 1;
    rs_finding *f = rs_finding_add(all, row, RS_SEVERITY_NOTE);
    rs_finding_about(f, about);
    rs_finding_in(f, &r->tenant);
    f->weight = one->n;
    rs_finding_add_frames(f, &g_array_index(one->frames, guint64, 0), one->frames->len,
                          one->n);
    rs_finding_say(f,
                   g_strdup_printf("%s refused %s from %s for %s: %s", who, n, askers,
                                   several ? services : service, reason),
                   g_strdup_printf("CM SIDR REP, status %u: %s; the first was for %s.",
                                   r->status, reason, service));
}

void
rs_find_refused_services(rs_findings *all, const rs_finding_row *row)
{
    const roce_tracker *tracker = all->analysis->tracker;
    g_autoptr(GPtrArray) list = g_ptr_array_new_with_free_func(free_refused);
    g_autoptr(GHashTable) known = g_hash_table_new(hash_refuser, refused_alike);
    for (guint32 i = 0; i < roce_tracker_n_refusals(tracker); i++) {
        const roce_refusal *r = roce_tracker_refusal(tracker, i);
        const refused key = {.first = r};
        refused *one = g_hash_table_lookup(known, &key);
        if (one == NULL) {
            one = refused_new(r);
            g_ptr_array_add(list, one);
            g_hash_table_add(known, one);
        }
        add_refusal(all, one, r);
    }
    for (guint i = 0; i < list->len; i++) {
        report_refused(all, row, g_ptr_array_index(list, i));
    }
}
