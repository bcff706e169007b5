/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Findings about how pauses go on: from port to port, in a circle, over those who have
 * nothing to do with it; and about what should have come before them. */
#include "findings_pause.h"

#include "format.h"
#include "pausing_order.h"
#include "sorting.h"
#include "thresholds.h"

#define PORTS_NAMED 8
#define STREAMS_NAMED 4
#define MOST_PERCENT 90 /* of what a port paused */

static guint32
n_pauses(const rs_findings *all)
{
    return roce_tracker_n_pauses(all->analysis->tracker);
}

/* "h7 at leaf1:h7" */
static char *
place_of(const rs_findings *all, guint32 pause)
{
    g_autofree char *who = rs_pause_who(all, pause);
    g_autofree char *where =
        rs_point_name(all->analysis, rs_pause_source(all, pause)->point);
    return g_strdup_printf("%s at %s", who, where);
}

/* ---- from port to port ---- */

/* What comes of one source. */
typedef struct spread {
    const rs_findings *all;
    guint32 root;
    GArray *pauses; /* guint32: others, by hops from it */
    guint hops;     /* most */
    gboolean is_much;
} spread;

static gint
by_hops(gconstpointer a, gconstpointer b, gpointer data)
{
    guint32 x = *(const guint32 *)a;
    guint32 y = *(const guint32 *)b;
    guint hops_x = rs_pause_node_of(data, x)->hops;
    guint hops_y = rs_pause_node_of(data, y)->hops;
    return hops_x != hops_y ? (hops_x < hops_y ? -1 : 1) : rs_by_number(x, y);
}

static void
gather(rs_findings *all, guint32 root, spread *s)
{
    *s = (spread){
        .all = all, .root = root, .pauses = g_array_new(FALSE, FALSE, sizeof(guint32))};
    for (guint32 i = 0; i < n_pauses(all); i++) {
        const rs_pause_node *node = rs_pause_node_of(all, i);
        if (i != root && node->root == root && node->same_as == i) {
            g_array_append_val(s->pauses, i);
            s->hops = MAX(s->hops, node->hops);
            s->is_much |= rs_pause_is_much(all, i, rs_pause_paused_ns(all, i));
        }
    }
    g_array_sort_with_data(s->pauses, by_hops, all);
}

static gboolean
is_root(const rs_findings *all, guint32 pause)
{
    return rs_pause_node_of(all, pause)->root == pause && rs_pause_stands(all, pause);
}

/* Whether none of the others paused earlier, for a reason of its own. */
static gboolean
root_was_first(const spread *s)
{
    guint64 root_ns = rs_pause_watch_of(s->all, s->root)->first_start_ns;
    for (guint i = 0; i < s->pauses->len; i++) {
        guint32 pause = g_array_index(s->pauses, guint32, i);
        if (rs_pause_watch_of(s->all, pause)->first_start_ns < root_ns) {
            return FALSE;
        }
    }
    return TRUE;
}

/* How much of what a port paused comes of a source. */
static void
sum_caused(const rs_findings *all, guint32 root, guint32 pause, guint64 *n,
           guint64 *caused_ns)
{
    const rs_pause_node *node = rs_pause_node_of(all, pause);
    *n = 0;
    *caused_ns = 0;
    for (guint i = 0; i < node->causes->len; i++) {
        const rs_pause_cause *cause = &g_array_index(node->causes, rs_pause_cause, i);
        if (rs_pause_node_of(all, cause->pause)->root == root) {
            *n += cause->intervals;
            *caused_ns += cause->paused_ns;
        }
    }
}

guint32
rs_pause_all_caused_by(const rs_findings *all, guint32 pause)
{
    const rs_pause_node *node = rs_pause_node_of(all, pause);
    guint64 n, caused_ns;
    if (node->root == pause || node->root == ROCE_NO_PAUSE) {
        return ROCE_NO_PAUSE;
    }
    sum_caused(all, node->root, pause, &n, &caused_ns);
    return n > 0 && n == node->n_kept ? node->root : ROCE_NO_PAUSE;
}

/* ", of 358 (2.39 ms) in all": of the later ones it is not known what they come of.  Empty where
 * there are none. */
static char *
later_ones(const rs_findings *all, guint32 pause)
{
    const roce_pause_source *source = rs_pause_source(all, pause);
    if (source->n_intervals <= rs_pause_node_of(all, pause)->n_kept) {
        return g_strdup("");
    }
    g_autofree char *n = rs_format_count(source->n_intervals);
    g_autofree char *length = rs_format_duration(rs_pause_paused_ns(all, pause), 0);
    return g_strdup_printf(", of %s (%s) in all", n, length);
}

/* In words: "all of its pauses (250 ms)", "66 of its 97 pauses (3.28 ms of 4.71 ms)", "all of
 * its first 256 pauses (1.7 ms), of 357 (2.25 ms) in all". */
static char *
consequence_of(const spread *s, guint32 pause)
{
    const rs_pause_node *node = rs_pause_node_of(s->all, pause);
    guint64 n, caused_ns;
    sum_caused(s->all, s->root, pause, &n, &caused_ns);
    g_autofree char *caused = rs_format_duration(caused_ns, 0);
    g_autofree char *all = rs_format_duration(node->kept_ns, 0);
    g_autofree char *of_all = rs_format_count(node->n_kept);
    g_autofree char *count = rs_format_count(n);
    g_autofree char *later = later_ones(s->all, pause);
    const char *first = *later != '\0' ? "first " : "";
    if (n < node->n_kept) {
        return g_strdup_printf("%s of its %s%s pauses (%s of %s)%s", count, first,
                               of_all, caused, all, later);
    }
    return g_strdup_printf("all of its %s%s%spauses (%s)%s", first,
                           *first != '\0' ? of_all : "", *first != '\0' ? " " : "", all,
                           later);
}

static GString *
chain_text(const spread *s)
{
    g_autofree char *first = place_of(s->all, s->root);
    g_autofree char *since =
        rs_format_time(rs_pause_watch_of(s->all, s->root)->first_start_ns);
    GString *text = g_string_new(NULL);
    g_string_append_printf(text, "%s paused%s, from %s on.  In consequence:", first,
                           root_was_first(s) ? " first" : "", since);
    for (guint i = 0; i < MIN(s->pauses->len, PORTS_NAMED); i++) {
        guint32 pause = g_array_index(s->pauses, guint32, i);
        const rs_pause_node *node = rs_pause_node_of(s->all, pause);
        g_autofree char *place = place_of(s->all, pause);
        g_autofree char *consequence = consequence_of(s, pause);
        g_string_append_printf(text, "%s hop %u: %s, %s", i > 0 ? ";" : "", node->hops,
                               place, consequence);
    }
    if (s->pauses->len > PORTS_NAMED) {
        g_string_append_printf(text, "; and %u more", s->pauses->len - PORTS_NAMED);
    }
    g_string_append_c(text, '.');
    return text;
}

static void
add_first_frame(const spread *s, rs_finding *f, guint32 pause)
{
    const rs_frames *xoff = &rs_pause_watch_of(s->all, pause)->xoff;
    if (xoff->total > 0) {
        rs_finding_add_frame(f, xoff->first[0]);
    }
}

/* Whether a port paused for hardly any longer than that. */
static gboolean
is_most_of(const rs_findings *all, guint32 pause, guint64 told_ns)
{
    return told_ns * 100 >= rs_pause_paused_ns(all, pause) * MOST_PERCENT;
}

/* Adds what is known of the source, unless some finding told it already, and notes that all is
 * told of it and of what hardly pauses on its own account: where the finding is no less severe
 * than one of each alone would be. */
static void
tell_ports(rs_findings *all, const spread *s, GString *text)
{
    const rs_pause_port port = rs_pause_port_begin(all, s->root);
    if (rs_pause_source(all, s->root)->priority == ROCE_PRIORITY_GLOBAL ||
        (port.much && !s->is_much)) {
        return;
    }
    if (!g_hash_table_contains(all->told, GUINT_TO_POINTER(s->root))) {
        g_string_append(text, "  The first of them: ");
        rs_pause_port_tell(all, &port, text);
    }
    for (guint i = 0; i < s->pauses->len; i++) {
        guint32 pause = g_array_index(s->pauses, guint32, i);
        guint64 n, caused_ns;
        sum_caused(all, s->root, pause, &n, &caused_ns);
        if (is_most_of(all, pause, caused_ns)) {
            g_hash_table_add(all->told, GUINT_TO_POINTER(pause));
        }
    }
}

void
rs_find_pause_cascade(rs_findings *all, const rs_finding_row *row)
{
    for (guint32 i = 0; i < n_pauses(all); i++) {
        spread s;
        if (!is_root(all, i)) {
            continue;
        }
        gather(all, i, &s);
        if (s.pauses->len > 0) {
            g_autofree char *who = rs_pause_who(all, i);
            g_autofree char *ports =
                rs_finding_count(s.pauses->len, "other port", "other ports");
            g_autofree char *hops = rs_finding_count(s.hops, "hop", "hops");
            rs_finding *f = rs_finding_add(
                all, row, s.is_much ? RS_SEVERITY_WARNING : RS_SEVERITY_NOTE);
            rs_pause_about(all, f, i);
            f->weight = s.pauses->len;
            GString *text = chain_text(&s);
            tell_ports(all, &s, text);
            rs_finding_say(f,
                           g_strdup_printf("Pauses of %s make %s pause, up to %s away",
                                           who, ports, hops),
                           g_string_free(text, FALSE));
            add_first_frame(&s, f, i);
            for (guint k = 0; k < s.pauses->len; k++) {
                add_first_frame(&s, f, g_array_index(s.pauses, guint32, k));
            }
        }
        g_array_unref(s.pauses);
    }
}

/* ---- over others ---- */

/* Those that are held for the sake of one host. */
typedef struct bystanders {
    GArray *streams; /* guint32 */
    guint64 longest_ns;
    gboolean is_much;
    guint n_ports;
} bystanders;

static void
gather_bystanders(const spread *s, bystanders *b, rs_finding *f)
{
    for (guint i = 0; i < s->pauses->len; i++) {
        guint32 pause = g_array_index(s->pauses, guint32, i);
        const GPtrArray *held = rs_pause_node_of(s->all, pause)->bystanders;
        for (guint k = 0; k < held->len; k++) {
            const rs_passage *passage = g_ptr_array_index(held, k);
            g_array_append_val(b->streams, passage->stream);
            guint64 held_ns = rs_passage_held(passage, pause)->held_ns;
            b->longest_ns = MAX(b->longest_ns, held_ns);
            b->is_much |= rs_pause_is_much(s->all, pause, held_ns);
        }
        if (held->len > 0) {
            b->n_ports++;
            add_first_frame(s, f, pause);
        }
    }
}

/* Streams, each once however many points it was held at: guint32; g_array_unref(). */
static GArray *
each_once(const rs_findings *all, const GArray *streams)
{
    GArray *once = g_array_new(FALSE, FALSE, sizeof(guint32));
    g_autoptr(GHashTable) groups = g_hash_table_new(NULL, NULL);
    for (guint i = 0; i < streams->len; i++) {
        guint32 id = g_array_index(streams, guint32, i);
        guint32 group = rs_summary_group(all->summary, id);
        if (g_hash_table_add(groups, GUINT_TO_POINTER(group))) {
            g_array_append_val(once, id);
        }
    }
    return once;
}

/* "h1 to h5 (QP 0x11), h2 to h6 (QP 0x12) and 3 more" */
static char *
name_streams(const rs_findings *all, const GArray *streams)
{
    g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
    for (guint i = 0; i < MIN(streams->len, STREAMS_NAMED); i++) {
        const roce_stream *s = roce_tracker_stream(all->analysis->tracker,
                                                   g_array_index(streams, guint32, i));
        g_autofree char *ends = rs_findings_ends(all, &s->tenant, &s->src, &s->dst);
        g_ptr_array_add(names, g_strdup_printf("%s (QP 0x%x)", ends, s->dst_qpn));
    }
    return rs_finding_list(names, streams->len);
}

static void
say_bystanders(const spread *s, const bystanders *b, rs_finding *f)
{
    g_autoptr(GArray) once = each_once(s->all, b->streams);
    g_autofree char *who = rs_pause_who(s->all, s->root);
    g_autofree char *streams = rs_finding_count(once->len, "stream is", "streams are");
    g_autofree char *names = name_streams(s->all, once);
    g_autofree char *longest = rs_format_duration(b->longest_ns, 0);
    g_autofree char *ports =
        rs_finding_count(b->n_ports, "port that pauses", "ports that pause");
    rs_finding_say(f,
                   g_strdup_printf("%s held because %s pauses, though not bound for it",
                                   streams, who),
                   g_strdup_printf("At %s in consequence, for %s at most: %s.", ports,
                                   longest, names));
}

void
rs_find_pause_bystanders(rs_findings *all, const rs_finding_row *row)
{
    for (guint32 i = 0; i < n_pauses(all); i++) {
        if (!is_root(all, i)) {
            continue;
        }
        spread s;
        gather(all, i, &s);
        rs_finding *f = rs_finding_add(all, row, RS_SEVERITY_NOTE);
        bystanders b = {.streams = f->streams};
        gather_bystanders(&s, &b, f);
        if (b.streams->len == 0) {
            rs_findings_take_back(all);
        } else {
            f->severity = b.is_much ? RS_SEVERITY_WARNING : RS_SEVERITY_NOTE;
            f->weight = b.streams->len;
            rs_pause_about(all, f, i);
            say_bystanders(&s, &b, f);
        }
        g_array_unref(s.pauses);
    }
}

/* ---- in a circle ---- */

void
rs_find_pause_deadlock(rs_findings *all, const rs_finding_row *row)
{
    const rs_pause_cycle *cycle =
        rs_pause_tree_cycle(rs_pausing_tree(all->analysis->watchers.pausing));
    if (cycle == NULL ||
        cycle->end_ns - cycle->start_ns < RS_DEADLOCK_US * G_GUINT64_CONSTANT(1000)) {
        return;
    }
    rs_finding *f = rs_finding_add(all, row, RS_SEVERITY_CRITICAL);
    const spread s = {.all = all};
    GString *text = g_string_new("Each stops the next:");
    for (guint i = 0; i < cycle->pauses->len; i++) {
        guint32 pause = g_array_index(cycle->pauses, guint32, i);
        g_autofree char *place = place_of(all, pause);
        g_string_append_printf(text, "%s %s", i > 0 ? "," : "", place);
        add_first_frame(&s, f, pause);
        if (is_most_of(all, pause, cycle->end_ns - cycle->start_ns)) {
            g_hash_table_add(all->told, GUINT_TO_POINTER(pause));
        }
    }
    g_autofree char *since = rs_format_time(cycle->start_ns);
    g_autofree char *length = rs_format_duration(cycle->end_ns - cycle->start_ns, 0);
    g_string_append_printf(text, ", and the last one the first.  Since %s.", since);
    f->weight = cycle->pauses->len;
    rs_pause_about(all, f, g_array_index(cycle->pauses, guint32, 0));
    rs_finding_say(f,
                   g_strdup_printf("%u ports wait for each other in a circle, for %s",
                                   cycle->pauses->len, length),
                   g_string_free(text, FALSE));
}

/* ---- before anything was marked ---- */

static char *
order_detail(const rs_pause_order *order)
{
    g_autofree char *paused = rs_format_time(order->pause_ns);
    if (order->mark_frame == 0) {
        return g_strdup_printf("The first pause began at %s.  No packet of the streams "
                               "that it stops was ever seen with CE, and no CNP about "
                               "them, though they are ECN-capable.",
                               paused);
    }
    g_autofree char *marked = rs_format_time(order->mark_ns);
    return g_strdup_printf(
        "The first pause began at %s.  Of the streams that it stops, "
        "nothing that had passed by then was marked; the first CE or "
        "CNP was seen at %s.",
        paused, marked);
}

/* What waits for somebody else's pause, or may do so, would not have been marked in any case. */
static gboolean
waits_for_another(const rs_findings *all, guint32 pause)
{
    const rs_pause_node *node = rs_pause_node_of(all, pause);
    return node->causes->len > 0 || node->is_open;
}

void
rs_find_pause_before_ecn(rs_findings *all, const rs_finding_row *row)
{
    for (guint32 i = 0; i < n_pauses(all); i++) {
        const rs_pause_order *order =
            rs_pausing_order(all->analysis->watchers.pausing, i);
        if (order->first != RS_FIRST_PAUSE || !is_root(all, i) ||
            waits_for_another(all, i)) {
            continue;
        }
        const roce_pause_source *p = rs_pause_source(all, i);
        gboolean bad = rs_pause_is_much(all, i, rs_pause_paused_ns(all, i));
        g_autofree char *who = rs_pause_who(all, i);
        g_autofree char *what = rs_pause_what(all, i);
        rs_finding *f =
            rs_finding_add(all, row, bad ? RS_SEVERITY_WARNING : RS_SEVERITY_NOTE);
        rs_pause_about(all, f, i);
        f->weight = p->xoff;
        rs_finding_say(
            f, g_strdup_printf("%s paused %s before anything was marked", who, what),
            order_detail(order));
        rs_finding_add_frame(f, order->pause_frame);
        rs_finding_add_frame(f, order->mark_frame);
    }
}
