/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Findings about load at its ends: incast, and receivers that are slow themselves. */
#include "findings_filter.h"
#include "findings_pause.h"

#include "format.h"
#include "loss_places.h"
#include "thresholds.h"

/* ---- incast ---- */

static gboolean
saw_more(const rs_incast_receiver *a, const rs_incast_receiver *b)
{
    return a->max_degree != b->max_degree ? a->max_degree > b->max_degree
                                          : a->inside_ns > b->inside_ns;
}

/* The receiver at the point that saw most of what meets there; of equal ones the first. */
static guint
told_of(const rs_incast *incast, guint i)
{
    const rs_tenant_addr *host = &rs_incast_receiver_at(incast, i)->at.host;
    guint most = i;
    for (guint j = 0; j < rs_incast_n_receivers(incast); j++) {
        const rs_incast_receiver *other = rs_incast_receiver_at(incast, j);
        const rs_incast_receiver *best = rs_incast_receiver_at(incast, most);
        if (rs_tenant_addr_equal(host, &other->at.host) &&
            (saw_more(other, best) || (j < most && !saw_more(best, other)))) {
            most = j;
        }
    }
    return most;
}

/* "CE marks on 12 of 100 data packets inside, 0 of 50 outside" */
static char *
sign_text(const rs_incast_receiver *r, rs_incast_sign sign)
{
    const rs_incast_share *s = &r->signs[sign];
    g_autofree char *inside = rs_format_count(s->inside);
    g_autofree char *outside = rs_format_count(s->outside);
    g_autofree char *of_inside = rs_format_count(s->of_inside);
    g_autofree char *of_outside = rs_format_count(s->of_outside);
    g_autofree char *inside_time = rs_format_duration(s->of_inside, 0);
    g_autofree char *outside_time = rs_format_duration(s->of_outside, 0);
    switch (sign) {
    case RS_INCAST_CE:
        return g_strdup_printf("CE marks on %s of %s data packets inside, on %s of %s "
                               "outside",
                               inside, of_inside, outside, of_outside);
    case RS_INCAST_CNP:
        return g_strdup_printf("%s CNPs about %s data packets inside, %s about %s "
                               "outside",
                               inside, of_inside, outside, of_outside);
    case RS_INCAST_PAUSE:
        return g_strdup_printf("%s pauses in %s inside, %s in %s outside", inside,
                               inside_time, outside, outside_time);
    case RS_INCAST_N_SIGNS:
        break;
    }
    return g_strdup("");
}

/* Says of each sign that there was. */
static void
add_signs(const rs_incast_receiver *r, GString *text)
{
    for (guint i = 0; i < RS_INCAST_N_SIGNS; i++) {
        if (r->signs[i].inside + r->signs[i].outside > 0) {
            g_autofree char *sign = sign_text(r, (rs_incast_sign)i);
            g_string_append_printf(text, "  %s.", sign);
        }
    }
}

/* The weightiest answer of the signs that count. */
static rs_coincidence
weigh_signs(const rs_incast_receiver *r)
{
    rs_coincidence most = RS_COINCIDENCE_ABSENT;
    for (guint i = 0; i < RS_INCAST_N_SIGNS; i++) {
        rs_coincidence one = rs_incast_judge(r, (rs_incast_sign)i);
        if (rs_incast_counts(r, (rs_incast_sign)i) &&
            (one == RS_COINCIDENCE_YES || most == RS_COINCIDENCE_ABSENT ||
             (one == RS_COINCIDENCE_UNDECIDABLE && most == RS_COINCIDENCE_NO))) {
            most = one;
        }
    }
    return most;
}

/* Whether a sign met nearly all who could show it, as where the queue is the one in front of
 * the receiver. */
static gboolean
is_of_all(const rs_incast_receiver *r, rs_incast_sign sign)
{
    switch (sign) {
    case RS_INCAST_CE:
        return r->n_marked * 100 >= r->n_markable * RS_INCAST_COMMON_PERCENT;
    case RS_INCAST_CNP:
        return r->n_complained * 100 >= r->n_met * RS_INCAST_COMMON_PERCENT;
    case RS_INCAST_PAUSE:
    case RS_INCAST_N_SIGNS:
        break;
    }
    return TRUE; /* whom pauses stop is not known here */
}

/* Whether there would be a warning if it came of the incast. */
static gboolean
is_much(const rs_findings *all, const rs_incast_receiver *r, rs_incast_sign sign)
{
    const rs_incast_share *s = &r->signs[sign];
    return sign == RS_INCAST_PAUSE
               ? rs_findings_paused_much(all)
               : s->inside * 100 >= s->of_inside * RS_WARNING_CE_PERCENT;
}

/* Whether marks on the data of nearly everybody who met say, with nothing outside to compare
 * with, that the queue is the one in front of the receiver. */
static gboolean
is_common(const rs_findings *all, const rs_incast_receiver *r)
{
    return rs_incast_judge(r, RS_INCAST_CE) == RS_COINCIDENCE_UNDECIDABLE &&
           is_much(all, r, RS_INCAST_CE) && r->n_marked >= RS_INCAST_SENDERS &&
           is_of_all(r, RS_INCAST_CE);
}

/* Whether what comes with the incast would be worth a warning by itself. */
static gboolean
is_heavy(const rs_findings *all, const rs_incast_receiver *r)
{
    for (guint i = 0; i < RS_INCAST_N_SIGNS; i++) {
        rs_incast_sign sign = (rs_incast_sign)i;
        if (rs_incast_counts(r, sign) && is_much(all, r, sign) && is_of_all(r, sign) &&
            rs_incast_judge(r, sign) == RS_COINCIDENCE_YES) {
            return TRUE;
        }
    }
    return FALSE;
}

/* How severe what comes with the incast makes it. */
static rs_severity
severity_of(const rs_findings *all, const rs_incast_receiver *r)
{
    rs_coincidence coincidence = weigh_signs(r);
    gboolean congested =
        (coincidence == RS_COINCIDENCE_YES && is_heavy(all, r)) ||
        (coincidence == RS_COINCIDENCE_UNDECIDABLE && is_common(all, r));
    return congested ? RS_SEVERITY_WARNING : RS_SEVERITY_NOTE;
}

/* Whether nearly all marks were made while the senders met. */
static gboolean
has_nearly_all_marks(const rs_incast_receiver *r)
{
    const rs_incast_share *s = &r->signs[RS_INCAST_CE];
    return s->inside * 100 >= (s->inside + s->outside) * RS_COMMON_PERCENT;
}

gboolean
rs_incast_tells_of_marks(const rs_findings *all, const roce_stream *stream)
{
    const rs_incast *incast = all->analysis->watchers.incast;
    guint32 i = rs_incast_receiver_of(incast, stream);
    if (i >= rs_incast_n_receivers(incast)) {
        return FALSE;
    }
    const rs_incast_receiver *told = rs_incast_receiver_at(incast, told_of(incast, i));
    rs_coincidence of_marks = rs_incast_judge(told, RS_INCAST_CE);
    return told->n_episodes > 0 && severity_of(all, told) == RS_SEVERITY_WARNING &&
           of_marks == weigh_signs(told) && is_much(all, told, RS_INCAST_CE) &&
           is_of_all(told, RS_INCAST_CE) &&
           has_nearly_all_marks(rs_incast_receiver_at(incast, i));
}

/* Says whose data shows what coincides, if it is that of some senders alone. */
static gboolean
add_some(const rs_incast_receiver *r, GString *text)
{
    rs_incast_sign sign =
        rs_incast_counts(r, RS_INCAST_CNP) ? RS_INCAST_CNP : RS_INCAST_CE;
    gboolean marks = sign == RS_INCAST_CE;
    if (is_of_all(r, sign) || rs_incast_judge(r, sign) != RS_COINCIDENCE_YES) {
        return FALSE;
    }
    g_string_append_printf(text,
                           "  But %s data of %u of %u senders alone: of a queue on the "
                           "way that these have "
                           "in common, not of the one in front of the receiver.",
                           marks ? "marks are on" : "CNPs are about",
                           marks ? r->n_marked : r->n_complained,
                           marks ? r->n_markable : r->n_met);
    return TRUE;
}

/* Says what to make of the signs. */
static void
add_conclusion(const rs_incast_receiver *r, gboolean congested, GString *text)
{
    switch (weigh_signs(r)) {
    case RS_COINCIDENCE_YES:
        if (!congested && !add_some(r, text)) {
            g_string_append(text, "  It is more frequent with it than without, and "
                                  "rare all the same.");
        }
        break;
    case RS_COINCIDENCE_UNDECIDABLE:
        g_string_append(text, "  There is too little outside to compare with");
        if (congested) {
            g_string_append_printf(
                text,
                "; but data of %u of the %u senders that met was marked, as by a queue "
                "that they have in common.",
                r->n_marked, r->n_met);
            return;
        }
        g_string_append(text, ": whether congestion comes from it cannot be told.");
        break;
    case RS_COINCIDENCE_NO:
        g_string_append(text,
                        "  So congestion is no more frequent with it than without.");
        break;
    case RS_COINCIDENCE_ABSENT:
    case RS_N_COINCIDENCES:
        g_string_append(text, "  No sign of congestion came with it.");
        break;
    }
}

static void
add_episode_frames(rs_finding *f, const rs_incast_receiver *r)
{
    for (guint i = 0; i < r->episodes->len; i++) {
        const rs_incast_episode *e = &g_array_index(r->episodes, rs_incast_episode, i);
        rs_finding_add_frame(f, e->frame);
        rs_finding_add_frame(f, e->ce_frame);
        f->more_frames |= e->ce > 1;
    }
    f->more_frames |= r->n_episodes > r->episodes->len;
}

static rs_finding *
report_incast(rs_findings *all, const rs_finding_row *row, const rs_incast_receiver *r)
{
    g_autofree char *who =
        rs_findings_label_in(all, &r->at.host.tenant, &r->at.host.addr);
    g_autofree char *about = rs_format_addr(&r->at.host.addr);
    g_autofree char *inside = rs_format_duration(r->inside_ns, 0);
    g_autofree char *episodes = rs_finding_count(r->n_episodes, "episode", "episodes");
    GString *detail = g_string_new(NULL);
    g_string_printf(detail,
                    "%s of %u and more senders within %u µs, %s in all; %u senders "
                    "over the whole capture.",
                    episodes, RS_INCAST_SENDERS, RS_INCAST_WINDOW_NS / 1000, inside,
                    r->n_senders);
    rs_severity severity = severity_of(all, r);
    gboolean congested = severity == RS_SEVERITY_WARNING;
    add_signs(r, detail);
    add_conclusion(r, congested, detail);
    rs_finding *f = rs_finding_add(all, row, severity);
    rs_finding_about(f, about);
    rs_finding_in(f, &r->at.host.tenant);
    f->weight = r->max_degree;
    rs_finding_say(f,
                   g_strdup_printf("Up to %u senders at once to %s%s", r->max_degree,
                                   who, congested ? ", and congestion with them" : ""),
                   g_string_free(detail, FALSE));
    add_episode_frames(f, r);
    return f;
}

void
rs_find_incast(rs_findings *all, const rs_finding_row *row)
{
    const rs_incast *incast = all->analysis->watchers.incast;
    guint n = rs_incast_n_receivers(incast);
    g_autoptr(GPtrArray) found =
        g_ptr_array_new(); /* rs_finding by receiver, or NULL */
    g_ptr_array_set_size(found, (gint)n);
    for (guint i = 0; i < n; i++) {
        const rs_incast_receiver *r = rs_incast_receiver_at(incast, i);
        if (r->n_episodes > 0 && told_of(incast, i) == i) {
            found->pdata[i] = report_incast(all, row, r);
        }
    }
    const roce_tracker *tracker = all->analysis->tracker;
    for (guint32 id = 0; id < roce_tracker_n_streams(tracker); id++) {
        guint32 i = rs_incast_receiver_of(incast, roce_tracker_stream(tracker, id));
        rs_finding *f = i < n ? found->pdata[i] : NULL;
        if (f != NULL && roce_tracker_stream(tracker, id)->payload_bytes > 0) {
            g_array_append_val(f->streams, id);
        }
    }
}

/* ---- slow receivers ---- */

/* Of its NIC's; the other frames of the finding are more telling. */
#define FIRST_XOFFS (RS_FRAMES / 2)

/* What is known of one receiver, over the streams to it. */
typedef struct slow_receiver {
    rs_tenant_addr host; /* the first member: a key is one without the rest */
    GArray *streams;     /* guint32 */
    guint n_streams;     /* of all queue pairs with data to it, these and others */
    GArray *pauses;      /* guint32: the sources of its own NIC's, each once */
    rs_receiver_evidence sum;
    guint64 held_ns,
        duration_ns;  /* of the stream that was held up for the most of it */
    gboolean network; /* and something speaks of the network */
} slow_receiver;

static void
free_slow(gpointer data)
{
    slow_receiver *r = data;
    g_array_unref(r->streams);
    g_array_unref(r->pauses);
    g_free(r);
}

/* Whether the first was held up for a larger part of its time than the second. */
static gboolean
is_held_more(guint64 held_ns, guint64 of_ns, guint64 other_ns, guint64 of_other_ns)
{
    return of_other_ns == 0 ||
           (double)held_ns * (double)of_other_ns > (double)other_ns * (double)of_ns;
}

/* As the one that stands for its link. */
static void
add_source(const rs_findings *all, slow_receiver *r, guint32 pause)
{
    guint32 stands = rs_pause_node_of(all, pause)->same_as;
    guint i = 0;
    while (i < r->pauses->len && g_array_index(r->pauses, guint32, i) != stands) {
        i++;
    }
    if (i == r->pauses->len) {
        g_array_append_val(r->pauses, stands);
    }
}

static void
add_evidence(const rs_findings *all, slow_receiver *r, guint32 stream,
             const rs_receiver_evidence *e)
{
    g_array_append_val(r->streams, stream);
    for (guint i = 0; i < e->n_paused_by; i++) {
        add_source(all, r, e->paused_by[i]);
    }
    guint64 held_ns = rs_receiver_held_ns(e);
    if (is_held_more(held_ns, e->duration_ns, r->held_ns, r->duration_ns)) {
        r->held_ns = held_ns;
        r->duration_ns = e->duration_ns;
    }
    r->sum.rnr_naks += e->rnr_naks;
    r->sum.rnr_wait_ns += e->rnr_wait_ns;
    r->sum.credit_waits += e->credit_waits;
    r->sum.credit_wait_ns += e->credit_wait_ns;
    /* The same pauses stop all streams to it. */
    r->sum.host_pauses = MAX(r->sum.host_pauses, e->host_pauses);
    r->sum.host_pause_ns = MAX(r->sum.host_pause_ns, e->host_pause_ns);
    r->sum.host_pause_known = e->host_pause_known;
    r->sum.at_receiver |= e->at_receiver;
    r->sum.slow_acks += e->at_receiver ? e->slow_acks - e->slow_acks_marked : 0;
}

/* Whether the finding tells of one: pfc does of what has no duration here. */
static gboolean
is_to_tell(const rs_findings *all, guint32 pause)
{
    const roce_pause_source *p = rs_pause_source(all, pause);
    return p->priority != ROCE_PRIORITY_GLOBAL && p->speed_known &&
           rs_pause_is_untold(all, pause);
}

/* Those of one port, from one that is to tell on. */
static rs_pause_port
port_from(const rs_findings *all, const slow_receiver *r, guint first)
{
    guint32 pause = g_array_index(r->pauses, guint32, first);
    const rs_mac *mac = rs_pause_watch_of(all, pause)->mac;
    rs_pause_port port = rs_pause_port_begin(all, pause);
    for (guint i = first + 1; mac != NULL && i < r->pauses->len; i++) {
        guint32 other = g_array_index(r->pauses, guint32, i);
        if (rs_pause_watch_of(all, other)->mac == mac && is_to_tell(all, other)) {
            rs_pause_port_add(all, &port, other, rs_pause_paused_ns);
        }
    }
    return port;
}

/* All that is known of its NIC's pauses; of a storm pause_storm has told. */
static void
tell_pauses(rs_findings *all, rs_finding *f, const slow_receiver *r, GString *text)
{
    for (guint i = 0; i < r->pauses->len; i++) {
        if (is_to_tell(all, g_array_index(r->pauses, guint32, i))) {
            const rs_pause_port port = port_from(all, r, i);
            g_autofree char *title = rs_pause_port_title(all, &port);
            g_string_append_printf(text, "%s: ", title);
            rs_pause_port_tell(all, &port, text);
            g_string_append(text, "  ");
            rs_pause_add_frames(all, f, &port, FIRST_XOFFS);
        }
    }
}

/* The filters of its NIC's pauses that it does not tell of one by one. */
static void
add_other_pauses(const rs_findings *all, rs_finding *f, const slow_receiver *r)
{
    for (guint i = 0; i < r->pauses->len; i++) {
        guint32 pause = g_array_index(r->pauses, guint32, i);
        if (f->severity < RS_SEVERITY_WARNING || !is_to_tell(all, pause)) {
            const rs_pause_port alone = rs_pause_port_begin(all, pause);
            rs_finding_add_filter(f,
                                  rs_filter_of_pauses(all, rs_pause_source(all, pause),
                                                      alone.priorities));
        }
    }
}

static GString *
slow_evidence(const slow_receiver *r)
{
    const rs_receiver_evidence *e = &r->sum;
    g_autofree char *rnr = rs_format_duration(e->rnr_wait_ns, 0);
    g_autofree char *credit = rs_format_duration(e->credit_wait_ns, 0);
    g_autofree char *pause = e->host_pause_known
                                 ? rs_format_duration(e->host_pause_ns, 0)
                                 : g_strdup("a time that is not known");
    g_autofree char *over =
        r->streams->len > 1
            ? g_strdup_printf(", added up over %u queue pairs", r->streams->len)
            : g_strdup("");
    GString *text = g_string_new(NULL);
    if (e->rnr_naks > 0) {
        g_autofree char *n = rs_format_count(e->rnr_naks);
        g_string_append_printf(text, "RNR NAKs: %s, waits of %s%s.  ", n, rnr, over);
    }
    if (e->credit_waits > 0) {
        g_autofree char *n = rs_finding_count(e->credit_waits, "time", "times");
        g_string_append_printf(
            text, "Credits ran out and the sender waited for more: %s, %s%s.  ", n,
            credit, over);
    }
    if (e->host_pauses > 0) {
        g_autofree char *n = rs_finding_count(e->host_pauses, "pause", "pauses");
        g_string_append_printf(text, "Its own NIC asked for %s, for %s.  ", n, pause);
    }
    if (e->slow_acks > 0) {
        g_autofree char *n = rs_finding_count(e->slow_acks, "ACK", "ACKs");
        g_string_append_printf(
            text, "At its NIC, %s took much longer than the fastest.  ", n);
    }
    return text;
}

static char *
slow_detail(rs_findings *all, rs_finding *f, const slow_receiver *r)
{
    GString *text = slow_evidence(r);
    if (f->severity >= RS_SEVERITY_WARNING) {
        tell_pauses(all, f, r, text);
    }
    if (r->network) {
        g_string_append_printf(
            text,
            "Packets to it were marked, lost or late as well: %sthe network has its "
            "part.",
            r->sum.host_pauses > 0 ? "in queues that its pauses fill, or " : "");
    } else {
        g_string_append(text, "Nothing speaks of the network.");
    }
    return g_string_free(text, FALSE);
}

static char *
slow_title(const rs_findings *all, const slow_receiver *r, gboolean long_held)
{
    g_autofree char *who = rs_findings_label_in(all, &r->host.tenant, &r->host.addr);
    g_autofree char *share = rs_format_share(r->held_ns, r->duration_ns);
    if (!long_held) {
        return g_strdup_printf("%s is slow itself", who);
    }
    if (r->streams->len < r->n_streams) {
        return g_strdup_printf(
            "%s holds its senders up in %u of %u queue pairs, for %s "
            "of the time",
            who, r->streams->len, r->n_streams, share);
    }
    return g_strdup_printf("%s holds its senders up, for %s of the time", who, share);
}

static void
report_slow(rs_findings *all, const rs_finding_row *row, const slow_receiver *r)
{
    gboolean long_held = r->held_ns >= RS_HELD_LEAST_US * 1000 &&
                         r->held_ns * 100 >= r->duration_ns * RS_SLOW_RECEIVER_PERCENT;
    gboolean untimed =
        r->sum.slow_acks > 0 || (r->sum.host_pauses > 0 && !r->sum.host_pause_known);
    if (!long_held && !untimed) {
        return;
    }
    g_autofree char *about = rs_format_addr(&r->host.addr);
    rs_finding *f =
        rs_finding_add(all, row, long_held ? RS_SEVERITY_WARNING : RS_SEVERITY_NOTE);
    rs_finding_about(f, about);
    rs_finding_in(f, &r->host.tenant);
    f->weight = r->held_ns;
    add_other_pauses(all, f, r);
    rs_finding_say(f, slow_title(all, r, long_held), slow_detail(all, f, r));
    for (guint i = 0; i < r->streams->len; i++) {
        guint32 id = g_array_index(r->streams, guint32, i);
        rs_receiver_evidence e;
        g_array_append_val(f->streams, id);
        if (rs_receivers_get(all->analysis->watchers.receivers, id, &e)) {
            rs_finding_add_frame(f, e.credit_frame);
            rs_finding_add_frame(f, e.pause_frame);
            f->more_frames |= e.credit_waits > 1 || e.host_pauses > 1;
        }
    }
    rs_finding_add_events(all, f, KIND(RNR_NAK));
    if (r->sum.credit_waits > 0) {
        g_ptr_array_set_size(f->filters, 0); /* none finds the ACKs that began them */
    }
}

/* Of the points that saw a stream, which stands for all, the one that has the strongest
 * evidence against the receiver, as its stream there; ROCE_NO_STREAM: none has any. */
static guint32
strongest_at(const rs_findings *all, guint32 stream)
{
    const GArray *members = rs_summary_members(all->summary, stream);
    guint n = members != NULL ? members->len : 1;
    guint32 best = ROCE_NO_STREAM;
    guint64 best_ns = 0;
    for (guint i = 0; i < n; i++) {
        guint32 id = members != NULL ? g_array_index(members, guint32, i) : stream;
        rs_receiver_evidence e;
        if (!rs_receivers_get(all->analysis->watchers.receivers, id, &e) ||
            (e.culprit != RS_CULPRIT_RECEIVER && e.culprit != RS_CULPRIT_BOTH)) {
            continue;
        }
        if (best == ROCE_NO_STREAM || rs_receiver_held_ns(&e) > best_ns) {
            best = id;
            best_ns = rs_receiver_held_ns(&e);
        }
    }
    return best;
}

/* Whether packets of a stream were marked on their way to the receiver, or lost. */
static gboolean
speaks_of_network(const rs_receivers *receivers, const roce_stream *s)
{
    rs_receiver_evidence e;
    return rs_receivers_get(receivers, s->id, &e) &&
           (e.culprit == RS_CULPRIT_NETWORK || e.culprit == RS_CULPRIT_BOTH);
}

/* Whether some were lost behind this point, or late. */
static gboolean
was_undelivered(const roce_stream *s)
{
    const guint64 *losses = roce_stream_trouble_of(s)->losses[ROCE_SPACE_REQUESTS];
    return !s->partial_path && s->vantage != ROCE_VANTAGE_RESPONDER &&
           losses[ROCE_VERDICT_UNDELIVERED_AFTER_CAPTURE] > 0;
}

/* Whether some were seen at one point, and did not come to another. */
static gboolean
was_lost_between(const rs_findings *all, guint32 id)
{
    g_autoptr(GArray) places = rs_summary_stands(all->summary, id)
                                   ? rs_loss_places(all->analysis, all->summary, id)
                                   : g_array_new(FALSE, FALSE, sizeof(rs_loss_place));
    return places->len > 0;
}

static gboolean
carries_data(const roce_stream *s)
{
    return s->payload_bytes > 0 && s->dst_qpn != ROCE_GSI_QPN;
}

/* The receiver of a stream, if it is one of them. */
static slow_receiver *
slow_at(GHashTable *by_addr, const roce_stream *s)
{
    const rs_tenant_addr key = {.tenant = s->tenant, .addr = s->dst};
    return g_hash_table_lookup(by_addr, &key);
}

static slow_receiver *
slow_of(GPtrArray *all, GHashTable *by_addr, const roce_stream *s)
{
    slow_receiver *r = slow_at(by_addr, s);
    if (r == NULL) {
        r = g_new0(slow_receiver, 1);
        r->host = (rs_tenant_addr){.tenant = s->tenant, .addr = s->dst};
        r->streams = g_array_new(FALSE, FALSE, sizeof(guint32));
        r->pauses = g_array_new(FALSE, FALSE, sizeof(guint32));
        g_ptr_array_add(all, r);
        g_hash_table_add(by_addr, r);
    }
    return r;
}

void
rs_find_slow_receiver(rs_findings *all, const rs_finding_row *row)
{
    const rs_analysis *a = all->analysis;
    g_autoptr(GPtrArray) slow = g_ptr_array_new_with_free_func(free_slow);
    g_autoptr(GHashTable) by_addr =
        g_hash_table_new(rs_tenant_addr_hash, rs_tenant_addr_equal);
    for (guint32 id = 0; id < roce_tracker_n_streams(a->tracker); id++) {
        guint32 at = rs_summary_stands(all->summary, id) ? strongest_at(all, id)
                                                         : ROCE_NO_STREAM;
        rs_receiver_evidence e;
        if (at != ROCE_NO_STREAM && rs_receivers_get(a->watchers.receivers, at, &e)) {
            const roce_stream *s = roce_tracker_stream(a->tracker, at);
            add_evidence(all, slow_of(slow, by_addr, s), at, &e);
        }
    }
    for (guint32 id = 0; id < roce_tracker_n_streams(a->tracker); id++) {
        const roce_stream *s = roce_tracker_stream(a->tracker, id);
        slow_receiver *r = slow_at(by_addr, s);
        if (r != NULL) {
            /* What its own pauses hold up is late, and sent again all the same. */
            r->network |= speaks_of_network(a->watchers.receivers, s) ||
                          was_lost_between(all, id) ||
                          (r->sum.host_pauses == 0 && was_undelivered(s));
            r->n_streams +=
                carries_data(s) && rs_summary_stands(all->summary, id) ? 1 : 0;
        }
    }
    for (guint i = 0; i < slow->len; i++) {
        report_slow(all, row, g_ptr_array_index(slow, i));
    }
}
