/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Findings about retransmission, refusals, and what came more than once or late. */
#include "findings_held.h"
#include "format.h"
#include "stopped.h"
#include "thresholds.h"

#include "roce/aeth.h"

#define STOPPED_NAMED 4
#define MTU_HEADERS 84 /* bytes: IPv6 40, UDP 8, BTH 12, RETH 16, immediate 4, ICRC 4 */
#define ALL_TWICE_PERCENT 90
#define MOST_ASKED 64      /* streams of a flow, whether anything answered them */
#define MOST_STREAMS 16384 /* among which answers are looked for */

static guint64
measure_timeouts(const roce_stream *s)
{
    return roce_stream_trouble_of(s)->retransmissions.by_cause[ROCE_CAUSE_TIMEOUT];
}

static const rs_stall *
stall_at(const rs_flow *flow, guint i)
{
    return rs_stalls_of(flow->all->analysis->watchers.stalls,
                        g_array_index(flow->streams, guint32, i));
}

/* For how long its queue pairs stood still. */
static void
append_silence(GString *text, const rs_flow *flow)
{
    rs_stall sum = {0};
    for (guint i = 0; i < flow->streams->len; i++) {
        const rs_stall *stall = stall_at(flow, i);
        if (stall != NULL) {
            sum.n += stall->n;
            sum.sum_ns += stall->sum_ns;
            sum.longest_ns = MAX(sum.longest_ns, stall->longest_ns);
        }
    }
    g_autofree char *longest = rs_format_duration(sum.longest_ns, 0);
    g_autofree char *all = rs_format_duration(sum.sum_ns, 0);
    g_string_append(text, "The requester sent again without a NAK, after a time of "
                          "silence; each timeout stalls its queue pair for that long");
    if (sum.n > 1) {
        g_string_append_printf(text, ": %s at the longest, %s in all", longest, all);
    } else if (sum.n == 1) {
        g_string_append_printf(text, ": %s", longest);
    }
    /* Rounds may turn out to be timeouts only when the other direction is known. */
    g_string_append(text, sum.n == 0        ? ", which was not measured."
                          : sum.n < flow->n ? ", as far as is known."
                                            : ".");
}

/* "  2 queue pairs stopped after up to 7 unanswered repeats" */
static void
append_repeats(GString *text, guint n, const char *words, gboolean up_to, guint most)
{
    g_autofree char *pairs = rs_finding_count(n, "queue pair", "queue pairs");
    g_string_append_printf(text, "  %s %s %s%u unanswered repeats", pairs, words,
                           up_to ? "up to " : "", most);
}

/* "  2 queue pairs stopped after up to 7 unanswered repeats (to QP 0x11, 0x12)." */
static void
append_outcome(GString *text, const rs_flow *flow, rs_stop what, const char *words)
{
    const rs_analysis *a = flow->all->analysis;
    g_autoptr(GString) names = g_string_new(NULL);
    guint n = 0;
    guint least = G_MAXUINT;
    guint most = 0;
    for (guint i = 0; i < flow->streams->len; i++) {
        const roce_stream *s = rs_flow_stream(flow, i);
        if (rs_stop_of(a, s) != what) {
            continue;
        }
        const rs_stall *stall = stall_at(flow, i);
        if (n++ < STOPPED_NAMED) {
            g_string_append_printf(names, "%s0x%x", n > 1 ? ", " : "", s->dst_qpn);
        }
        least = MIN(least, stall->repeats);
        most = MAX(most, stall->repeats);
    }
    if (n > 0) {
        append_repeats(text, n, words, least < most, most);
        g_string_append_printf(text, " (to QP %s%s).", names->str,
                               n > STOPPED_NAMED ? " …" : "");
    }
}

/* Since when a flow repeats in vain; G_MAXUINT64: it does not. */
static guint64
stopped_since_ns(const rs_flow *flow)
{
    guint64 since_ns = G_MAXUINT64;
    for (guint i = 0; i < flow->streams->len; i++) {
        if (rs_stop_of(flow->all->analysis, rs_flow_stream(flow, i)) != RS_WENT_ON) {
            since_ns = MIN(since_ns, stall_at(flow, i)->since_ns);
        }
    }
    return since_ns;
}

char *
rs_flow_silence(const rs_flow *flow, gboolean *alone)
{
    const rs_last_heard *heard = flow->all->heard;
    guint64 since_ns = stopped_since_ns(flow);
    guint64 last_ns;
    *alone = FALSE;
    if (since_ns == G_MAXUINT64 ||
        !rs_last_heard_at(heard, &flow->tenant, &flow->dst, &last_ns) ||
        last_ns >= since_ns) {
        return NULL;
    }
    g_autofree char *dst = rs_findings_label(flow->all, &flow->dst);
    g_autofree char *since = rs_format_time(last_ns);
    g_autofree char *src = rs_findings_label(flow->all, &flow->src);
    /* Of several hosts that were heard of before. */
    *alone = rs_last_heard_alone(heard, &flow->src, &flow->dst, since_ns);
    g_autofree char *others =
        *alone
            ? g_strdup_printf("  Nor did any other host but %s, from when it began to "
                              "repeat.",
                              src)
            : g_strdup("");
    return g_strdup_printf("%s has sent no RoCE packet since %s.%s", dst, since,
                           others);
}

#define PATH_ADVICE                                                                    \
    "See whether one of several paths loses what goes by it, which the UDP source "    \
    "port chooses; "
#define MTU_TOO_SMALL "where large ones do not (an MTU on the way that is too small)"
#define WHERE_UP_ADVICE "whether small packets arrive there " MTU_TOO_SMALL "."
#define MTU_ADVICE                                                                     \
    "see whether small packets arrive " MTU_TOO_SMALL                                  \
    ", and whether that queue pair is up at the receiver."

static void
append_mtu(GString *text, const roce_stream *s)
{
    if (s->pmtu_bytes > 0) {
        g_string_append_printf(text, "  The path MTU of QP 0x%x is %u bytes.",
                               s->dst_qpn, s->pmtu_bytes);
    }
}

/* Of queue pairs that stopped: whether the host that they asked is gone, or they alone; `alone`
 * as rs_flow_silence() has it. */
static void
add_stop(const rs_flow *flow, rs_finding *f, GString *text, const char *silence,
         gboolean alone)
{
    gboolean stopped = FALSE;
    for (guint i = 0; i < flow->streams->len && !stopped; i++) {
        stopped =
            rs_stop_of(flow->all->analysis, rs_flow_stream(flow, i)) == RS_STOPPED;
    }
    g_autofree char *dst = rs_findings_label(flow->all, &flow->dst);
    if (silence != NULL) {
        g_autofree char *src = rs_findings_label(flow->all, &flow->src);
        g_autofree char *own =
            alone ? g_strdup_printf(
                        "  And whether %s gets anything: nobody was heard any "
                        "more.",
                        src)
                  : g_strdup("");
        g_string_append_printf(text, "  %s", silence);
        g_free(f->advice);
        f->advice = g_strdup_printf("See whether %s is up, its NIC and its link: "
                                    "queue pairs wait for it in vain.%s  Where "
                                    "it is: " WHERE_UP_ADVICE,
                                    dst, own);
    } else if (stopped) {
        g_string_append_printf(text, "  %s was heard of later.", dst);
        append_mtu(text, rs_flow_stream(flow, 0));
        g_free(f->advice);
        f->advice = g_strdup(PATH_ADVICE MTU_ADVICE);
    }
    if (stopped || silence != NULL) {
        f->severity = RS_SEVERITY_CRITICAL;
    }
}

static void
append_needless(GString *text, guint64 n)
{
    g_autofree char *rounds = rs_finding_count(n, "was", "were");
    g_string_append_printf(
        text,
        "  %s needless: what %s repeated was late and came.  Whoever "
        "answers, or the way, was slower than the ACK timeout.",
        rounds, n == 1 ? "it" : "they");
}

/* Where all came further on, or each round was needless: what ended in timeouts was late. */
static void
add_late(const rs_flow *flow, rs_finding *f, GString *text, const char *silence)
{
    const roce_retransmission_counters *n = &flow->sum.retransmissions;
    gboolean any_needless =
        n->spurious_rounds > 0 && n->rounds == n->by_cause[ROCE_CAUSE_TIMEOUT];
    gboolean all_needless = any_needless && n->spurious_rounds == n->rounds;
    rs_place place = 0;
    gboolean all_came = rs_flow_lost_nothing(flow, &place);
    if (any_needless) {
        append_needless(text, n->spurious_rounds);
    }
    if (all_came) {
        g_autofree char *name = rs_place_name(flow->all->analysis, place);
        g_string_append_printf(text, "  All that was sent came to %s%s.", name,
                               silence == NULL && !all_needless
                                   ? ": it or its ACKs were late, or ACKs were lost"
                                   : "");
    }
    if (all_came || all_needless) {
        f->advice = g_strdup(
            "Look for what holds packets up for longer than the ACK timeout (pauses, a "
            "receiver that is slow to answer) and whether that is too short "
            "(NCCL_IB_TIMEOUT); and at the way of ACKs back.");
    }
}

/* Where a pause held a queue pair up meanwhile. */
static void
add_pause(const rs_flow *flow, rs_finding *f, GString *text)
{
    rs_hold_up held;
    if (rs_flow_was_held(flow, &held)) {
        g_autofree char *words = rs_hold_up_words(flow->all, &held);
        g_string_append_printf(text, "  %s.", words);
        g_free(f->advice);
        f->advice = g_strdup(
            "Look at why the port that paused did so: what waits behind it for longer "
            "than the ACK timeout is sent again, lost or not.");
    }
}

static gboolean
write_timeouts(const rs_flow *flow, rs_finding *f)
{
    g_autofree char *n = rs_finding_count(flow->n, "timeout", "timeouts");
    g_autofree char *who = rs_flow_ends(flow);
    GString *text = g_string_new(NULL);
    append_silence(text, flow);
    append_outcome(text, flow, RS_STOPPED, "stopped after");
    append_outcome(text, flow, RS_CAPTURE_ENDS, "had, when the capture ended,");
    f->title = g_strdup_printf("%s from %s", n, who);
    f->severity = RS_SEVERITY_WARNING;
    gboolean alone;
    g_autofree char *silence = rs_flow_silence(flow, &alone);
    add_late(flow, f, text, silence);
    add_stop(flow, f, text, silence, alone);
    add_pause(flow, f, text);
    f->detail = g_string_free(text, FALSE);
    return TRUE;
}

static guint64
measure_unknown_rounds(const roce_stream *s)
{
    return roce_stream_trouble_of(s)->retransmissions.by_cause[ROCE_CAUSE_UNKNOWN];
}

/* What came back to the sender of a stream, at its point. */
typedef enum heard {
    HEARD_NOTHING, /* or what may have been about it */
    HEARD_APART,   /* nothing that acknowledges: datagrams, as those of CM */
    HEARD_OTHERS,  /* answers to other queue pairs */
} heard;

/* Whether what goes the other way may be about a stream: what acknowledges others is known to
 * do so, and CM or a table may say whose answers are not this one's. */
static gboolean
may_answer(const roce_stream *back, const roce_stream *s)
{
    gboolean is_others =
        roce_stream_is_paired(back) || (s->has_src_qpn && back->dst_qpn != s->src_qpn);
    return !is_others && back->transport != ROCE_TRANSPORT_UD &&
           back->transport != ROCE_TRANSPORT_UC;
}

/* How the receiver was heard at the point of this stream, if nothing answered it. */
static heard
how_heard(const rs_findings *all, const roce_stream *s)
{
    const roce_tracker *tracker = all->analysis->tracker;
    heard so_far = HEARD_NOTHING;
    if (roce_stream_is_paired(s) || roce_tracker_n_streams(tracker) > MOST_STREAMS ||
        !rs_stalls_is_stuck(all->analysis->watchers.stalls, s)) {
        return HEARD_NOTHING;
    }
    for (guint32 id = 0; id < roce_tracker_n_streams(tracker); id++) {
        const roce_stream *back = roce_tracker_stream(tracker, id);
        if (back->point == s->point && roce_tenant_equal(&back->tenant, &s->tenant) &&
            roce_addr_equal(&back->src, &s->dst) &&
            roce_addr_equal(&back->dst, &s->src)) {
            if (may_answer(back, s)) {
                return HEARD_NOTHING;
            }
            so_far =
                MAX(so_far, roce_stream_is_reliable(back) ? HEARD_OTHERS : HEARD_APART);
        }
    }
    return so_far;
}

/* How the receiver was heard where nothing answered any of these streams, though it would have
 * been seen. */
static heard
heard_of_all(const rs_flow *flow)
{
    heard least = flow->streams->len > 0 ? HEARD_OTHERS : HEARD_NOTHING;
    for (guint i = 0; i < MIN(flow->streams->len, MOST_ASKED); i++) {
        least = MIN(least, how_heard(flow->all, rs_flow_stream(flow, i)));
    }
    return least;
}

/* "QP 0x11 (UDP source port 50000), QP 0x12 (UDP source port 50001) and 3 more" */
static char *
name_with_ports(const rs_flow *flow)
{
    g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
    for (guint i = 0; i < MIN(flow->streams->len, STOPPED_NAMED); i++) {
        const roce_stream *s = rs_flow_stream(flow, i);
        g_ptr_array_add(names, s->n_udp_src_ports != 1
                                   ? g_strdup_printf("QP 0x%x", s->dst_qpn)
                                   : g_strdup_printf("QP 0x%x (UDP source port %u)",
                                                     s->dst_qpn, s->udp_src_port[0]));
    }
    return rs_finding_list(names, flow->streams->len);
}

/* ---- a path MTU that does not get through ---- */

/* Path MTUs of queue pairs that one host sends by or another one receives by. */
typedef struct mtus {
    guint32 least_dead; /* of those that nothing answered; 0: some is not known */
    guint32 most_alive; /* of those that were answered; 0: there are none */
} mtus;

/* Whether nothing ever answered what a stream sent again and again. */
static gboolean
is_dead(const rs_findings *all, const roce_stream *s)
{
    return !roce_stream_is_paired(s) && s->pmtu_bytes > 0 &&
           rs_stalls_is_stuck(all->analysis->watchers.stalls, s) &&
           roce_stream_trouble_of(s)->retransmissions.rounds >= RS_STOPPED_REPEATS;
}

/* Whether a stream begins or ends where those of a flow do, and its answers were seen at the
 * same point. */
static gboolean
is_alive_beside(const rs_flow *flow, const roce_stream *s)
{
    return s->point == rs_flow_stream(flow, 0)->point && roce_stream_is_paired(s) &&
           roce_tenant_equal(&s->tenant, &flow->tenant) &&
           (roce_addr_equal(&s->src, &flow->src) ||
            roce_addr_equal(&s->dst, &flow->dst)) &&
           roce_stream_latency(s, ROCE_LATENCY_ACK) != NULL;
}

static mtus
mtus_of(const rs_flow *flow)
{
    const roce_tracker *tracker = flow->all->analysis->tracker;
    mtus found = {.least_dead = G_MAXUINT32};
    if (roce_tracker_n_streams(tracker) > MOST_STREAMS) {
        return (mtus){0};
    }
    for (guint i = 0; i < flow->streams->len; i++) {
        const roce_stream *s = rs_flow_stream(flow, i);
        found.least_dead =
            MIN(found.least_dead, is_dead(flow->all, s) ? s->pmtu_bytes : 0);
    }
    for (guint32 id = 0; id < roce_tracker_n_streams(tracker); id++) {
        const roce_stream *s = roce_tracker_stream(tracker, id);
        if (is_alive_beside(flow, s)) {
            guint32 mtu =
                s->pmtu_bytes > 0 ? s->pmtu_bytes : G_MAXUINT32; /* who knows */
            found.most_alive = MAX(found.most_alive, mtu);
        }
    }
    return found;
}

/* Where all that are answered have smaller packets than those that are not. */
static void
add_mtu(const rs_flow *flow, rs_finding *f)
{
    const mtus found = mtus_of(flow);
    if (found.most_alive == 0 || found.least_dead <= found.most_alive) {
        return;
    }
    g_autofree char *src = rs_findings_label(flow->all, &flow->src);
    g_autofree char *dst = rs_findings_label(flow->all, &flow->dst);
    g_autofree char *before = g_steal_pointer(&f->detail);
    f->detail = g_strdup_printf(
        "%s  Their path MTU is %u bytes.  Queue pairs from %s or to %s that are "
        "answered here have no more than %u.",
        before, found.least_dead, src, dst, found.most_alive);
    g_free(f->advice);
    f->advice = g_strdup_printf(
        "Look first for a port on the way whose MTU is too small: packets of a path "
        "MTU of %u bytes take up to %u bytes of IP, with headers.  Then see whether "
        "these queue pairs are up at the receiver.",
        found.least_dead, found.least_dead + MTU_HEADERS);
}

/* "  2 queue pairs stopped after up to 7 unanswered repeats.", if some gave up. */
static void
add_given_up(const rs_flow *flow, rs_finding *f, GString *text)
{
    guint n = 0;
    guint most = 0;
    for (guint i = 0; i < flow->streams->len; i++) {
        guint repeats =
            rs_stop_unanswered_repeats(flow->all->analysis, rs_flow_stream(flow, i));
        most = MAX(most, repeats);
        n += repeats > 0 ? 1 : 0;
    }
    if (n > 0) {
        append_repeats(text, n, "stopped after", n > 1, most);
        g_string_append_c(text, '.');
        f->severity = RS_SEVERITY_CRITICAL;
    }
}

static void
write_unanswered(const rs_flow *flow, rs_finding *f, heard how, const char *n,
                 const char *who)
{
    g_autofree char *dst = rs_findings_label(flow->all, &flow->dst);
    g_autofree char *pairs = name_with_ports(flow);
    f->title =
        g_strdup_printf("%s of retransmission from %s that nothing answered", n, who);
    GString *text = g_string_new(NULL);
    g_string_append_printf(text, "%s %s %s.", dst,
                           how == HEARD_OTHERS
                               ? "answered other queue pairs here, and not"
                               : "was heard here, and did not answer",
                           pairs);
    append_mtu(text, rs_flow_stream(flow, 0));
    add_given_up(flow, f, text);
    f->detail = g_string_free(text, FALSE);
    f->advice = g_strdup("Its packets do not arrive, or no answer comes "
                         "back.  " PATH_ADVICE MTU_ADVICE);
}

static gboolean
write_unknown_rounds(const rs_flow *flow, rs_finding *f)
{
    g_autofree char *n = rs_finding_count(flow->n, "round", "rounds");
    g_autofree char *who = rs_flow_ends(flow);
    f->severity = RS_SEVERITY_WARNING;
    heard how = heard_of_all(flow);
    if (how != HEARD_NOTHING) {
        write_unanswered(flow, f, how, n, who);
        add_mtu(flow, f);
        return TRUE;
    }
    f->title =
        g_strdup_printf("%s of retransmission from %s without a visible cause", n, who);
    if (flow->sum.paired_streams < flow->sum.streams) {
        f->detail = g_strdup(RS_OTHER_NOT_KNOWN "What it said cannot be heard.");
        add_mtu(flow, f);
        return TRUE;
    }
    f->detail = g_strdup("No NAK that asks for it was captured, nor can a timeout be "
                         "told: it came too soon, or had begun before the capture.");
    f->advice = g_strdup("Capture at the requester's own NIC, from before its traffic "
                         "begins on, and without drops: a NAK that asked for it is "
                         "seen there.");
    return TRUE;
}

static guint64
measure_reordered(const roce_stream *s)
{
    const roce_stream_trouble *trouble = roce_stream_trouble_of(s);
    return trouble->disorder[ROCE_SPACE_REQUESTS].reordered +
           trouble->disorder[ROCE_SPACE_RESPONSES].reordered;
}

/* Whether nobody asked for what came late to a stream, nor sent it again; too little of it
 * may have been late to say what its receiver is made for. */
static gboolean
is_left_alone(const roce_stream *s)
{
    const roce_stream_trouble *trouble = roce_stream_trouble_of(s);
    return roce_stream_is_reliable(s) &&
           trouble->naks_received[ROCE_NAKS_PSN_SEQUENCE] == 0 &&
           trouble->retransmissions.packets == 0 &&
           trouble->disorder[ROCE_SPACE_RESPONSES].resent == 0;
}

/* Whether the receivers of all these streams take packets out of order. */
static gboolean
all_taken(const rs_flow *flow)
{
    const rs_analysis *a = flow->all->analysis;
    guint i = 0;
    while (i < flow->streams->len) {
        const roce_stream *s = rs_flow_stream(flow, i);
        if (!rs_is_sprayed(a, s->id) && !is_left_alone(s)) {
            break;
        }
        i++;
    }
    return i == flow->streams->len;
}

/* Whether spraying tells of all of these streams. */
static gboolean
all_sprayed(const rs_flow *flow)
{
    const rs_findings *all = flow->all;
    for (guint i = 0; i < flow->streams->len; i++) {
        guint32 id = rs_summary_group(all->summary, rs_flow_stream(flow, i)->id);
        if (!rs_is_sprayed(all->analysis, id)) {
            return FALSE;
        }
    }
    return TRUE;
}

/* Of UC, whose receivers ask for nothing (IBTA 9.8.2.2). */
static void
write_reordered_messages(const rs_flow *flow, rs_finding *f)
{
    guint64 n = rs_flow_messages_cut(flow);
    g_autofree char *cut = rs_finding_count(n, "message", "messages");
    g_free(f->detail);
    if (n == 0) {
        f->severity = RS_SEVERITY_NOTE;
        f->detail =
            g_strdup("Originals that others overtook.  The service is UC, whose "
                     "receivers take messages of one packet in any order.");
        f->advice = g_strdup("Nothing to do as long as messages have one packet: of "
                             "longer ones all packets have to come in order.");
        return;
    }
    f->detail = g_strdup_printf(
        "Originals that others overtook.  The service is UC: its receivers drop a "
        "message "
        "of which a packet comes out of order, or into which another one comes, and "
        "nobody sends it again.  %s or more %s not whole and in order here.",
        cut, n == 1 ? "was" : "were");
}

static gboolean
write_reordered(const rs_flow *flow, rs_finding *f)
{
    if (all_sprayed(flow)) {
        return FALSE;
    }
    g_autofree char *n = rs_finding_packets(flow->n);
    g_autofree char *who = rs_flow_ends(flow);
    guint64 spurious = flow->sum.retransmissions.spurious_rounds;
    g_autofree char *rounds = rs_finding_count(spurious, "round", "rounds");
    g_autofree char *wake =
        spurious == 0
            ? g_strdup("")
            : g_strdup_printf(
                  "  %s of retransmission %s spurious: what was repeated came.", rounds,
                  spurious == 1 ? "was" : "were");
    f->title = g_strdup_printf("%s from %s arrived late, out of order", n, who);
    f->detail = g_strdup_printf(
        "Originals that others overtook; nothing of them was lost.%s", wake);
    f->severity = RS_SEVERITY_WARNING;
    if (rs_flow_is_unacknowledged(flow)) {
        write_reordered_messages(flow, f);
        return TRUE;
    }
    if (all_taken(flow)) {
        f->severity = RS_SEVERITY_NOTE;
        f->advice = g_strdup("Nothing to do as long as nobody asks for such packets "
                             "again: a go-back-N NIC would, and needs one path per "
                             "flow.");
    }
    return TRUE;
}

static guint64
measure_duplicates(const roce_stream *s)
{
    const roce_stream_trouble *trouble = roce_stream_trouble_of(s);
    return trouble->disorder[ROCE_SPACE_REQUESTS].duplicates +
           trouble->disorder[ROCE_SPACE_RESPONSES].duplicates;
}

/* Whether nearly all data came twice, so that the capture may have made the copies. */
static gboolean
nearly_all(const rs_flow *flow)
{
    guint64 packets = flow->sum.space[ROCE_SPACE_REQUESTS].packets +
                      flow->sum.space[ROCE_SPACE_RESPONSES].packets;
    return 2 * flow->n * 100 >= packets * ALL_TWICE_PERCENT;
}

/* So few packets that it could not be decided whether the capture has each twice. */
static gboolean
all_of_few(const rs_flow *flow)
{
    return flow->n < RS_DUPLICATED_LEAST && 2 * flow->n >= flow->sum.packets;
}

/* Who made the copies, where that is not known. */
static const char *
who_copied(const rs_flow *flow)
{
    if (all_of_few(flow)) {
        return "  All of so few packets did: the capture may have made the copies.";
    }
    return nearly_all(flow)
               ? "  Nearly all packets did: the network made the copies, or "
                 "the capture, as where those of two points were merged."
               : NULL;
}

static gboolean
write_duplicates(const rs_flow *flow, rs_finding *f)
{
    g_autofree char *n = rs_finding_packets(flow->n);
    g_autofree char *who = rs_flow_ends(flow);
    const char *undecided = who_copied(flow);
    gboolean numbered = flow->src.family == 4;
    f->title = g_strdup_printf("%s from %s %s", n, who,
                               undecided != NULL || !numbered
                                   ? "came twice"
                                   : "delivered twice by the network");
    f->detail = g_strdup_printf(
        "The same packet came again, unasked for%s%s",
        numbered ? ", and with the IPv4 identification of the first where packets have "
                   "one of their own."
                 : ".  IPv6 has no identification, which would tell a copy that the "
                   "network made from one that the sender sent again.",
        undecided != NULL ? undecided : "");
    f->severity = all_of_few(flow) ? RS_SEVERITY_NOTE : RS_SEVERITY_WARNING;
    return TRUE;
}

/* ---- refusals ---- */

static guint64
measure_fatal(const roce_stream *s)
{
    const roce_stream_trouble *trouble = roce_stream_trouble_of(s);
    return trouble->naks_received[ROCE_NAKS_INVALID_REQUEST] +
           trouble->naks_received[ROCE_NAKS_REMOTE_ACCESS] +
           trouble->naks_received[ROCE_NAKS_REMOTE_OPERATIONAL];
}

/* "5 remote access error, 1 invalid request", of those that there were. */
static void
append_naks(GString *text, guint64 n, const char *name)
{
    if (n > 0) {
        g_autofree char *naks = rs_finding_count(n, name, name);
        g_string_append_printf(text, "%s%s", text->len > 0 ? ", " : "", naks);
    }
}

/* Where all of them are errors of one kind. */
static void
advise_about_refusal(const rs_flow *flow, rs_finding *f)
{
    guint64 of_host = flow->sum.naks[ROCE_NAKS_REMOTE_OPERATIONAL];
    if (of_host == 0) {
        f->advice = g_strdup(
            "An application error: a wrong or stale rkey, an address beyond the memory "
            "region, missing access rights, or a receive buffer that is too small.  "
            "The network is not to blame.");
    } else if (of_host == flow->n) {
        f->advice = g_strdup("An error inside the receiving host: look at its NIC and "
                             "its logs.  The network is not to blame.");
    }
}

static gboolean
write_fatal(const rs_flow *flow, rs_finding *f)
{
    g_autofree char *n = rs_finding_count(flow->n, "request", "requests");
    g_autofree char *who = rs_flow_ends(flow);
    f->severity = RS_SEVERITY_CRITICAL;
    f->title = g_strdup_printf("%s from %s refused for good", n, who);
    g_autoptr(GString) naks = g_string_new(NULL);
    append_naks(naks, flow->sum.naks[ROCE_NAKS_REMOTE_ACCESS], "remote access error");
    append_naks(naks, flow->sum.naks[ROCE_NAKS_INVALID_REQUEST], "invalid request");
    append_naks(naks, flow->sum.naks[ROCE_NAKS_REMOTE_OPERATIONAL],
                "remote operational error");
    f->detail = g_strdup_printf(
        "NAKs: %s.  Each puts its queue pair into the error state.", naks->str);
    advise_about_refusal(flow, f);
    return TRUE;
}

static guint64
measure_rnr(const roce_stream *s)
{
    return roce_stream_trouble_of(s)->naks_received[ROCE_NAKS_RNR];
}

/* Whether the requester waited for as long as RNR NAKs asked it to, as far as it is known. */
static void
append_rnr_waits(GString *text, guint64 kept, guint64 broken)
{
    g_autofree char *enough = rs_finding_count(kept, "time", "times");
    g_autofree char *less = rs_finding_count(broken, "time", "times");
    if (kept > 0) {
        g_string_append_printf(text,
                               "  The requester waited for as long as it was asked to "
                               "%s%s%s.",
                               enough, broken > 0 ? ", and for less " : "",
                               broken > 0 ? less : "");
    } else if (broken > 0) {
        g_string_append_printf(text,
                               "  The requester waited for less than it was asked "
                               "to %s.",
                               less);
    }
}

static gboolean
write_rnr(const rs_flow *flow, rs_finding *f)
{
    g_autofree char *n = rs_finding_count(flow->n, "RNR NAK", "RNR NAKs");
    g_autofree char *who = rs_flow_ends(flow);
    f->severity = RS_SEVERITY_WARNING;
    guint64 n_rounds = flow->sum.retransmissions.by_cause[ROCE_CAUSE_RNR];
    g_autofree char *rounds = rs_finding_count(n_rounds, "round", "rounds");
    GString *text = g_string_new(NULL);
    g_string_append_printf(text, "%s of retransmission followed.",
                           n_rounds > 0 ? rounds : "No round");
    append_rnr_waits(text, flow->sum.rnr_waits_kept, flow->sum.rnr_waits_broken);
    g_string_append(text, "  Sequence NAKs in the wake of an RNR NAK are its "
                          "consequence, no loss.");
    f->title =
        g_strdup_printf("%s: the receiver was not ready for requests from %s", n, who);
    f->detail = g_string_free(text, FALSE);
    return TRUE;
}

static guint64
measure_unpaired_naks(const roce_stream *s)
{
    guint64 n = 0;
    for (guint i = 0; i < ROCE_N_NAKS; i++) {
        n += roce_stream_is_paired(s) ? 0 : roce_stream_trouble_of(s)->naks_sent[i];
    }
    return n;
}

static gboolean
write_unpaired_naks(const rs_flow *flow, rs_finding *f)
{
    g_autofree char *n = rs_finding_count(flow->n, "NAK", "NAKs");
    g_autofree char *who = rs_flow_ends(flow);
    f->severity = RS_SEVERITY_WARNING;
    f->title =
        g_strdup_printf("%s from %s about requests that are not known here", n, who);
    f->detail =
        g_strdup(flow->n == 1 ? "The request that it answers was not captured, or "
                                "several queue pairs could be meant."
                              : "The requests that they answer were not captured, or "
                                "several queue pairs could be meant.");
    return TRUE;
}

const rs_flow_row rs_flow_fatal_nak = {
    measure_fatal,
    write_fatal,
    {NAK(REMOTE_ACCESS), NAK(INVALID_REQUEST), NAK(REMOTE_OPERATIONAL)}};
const rs_flow_row rs_flow_rnr = {measure_rnr, write_rnr, {KIND(RNR_NAK)}};
const rs_flow_row rs_flow_timeout = {
    measure_timeouts, write_timeouts, {ROUND(TIMEOUT)}};
const rs_flow_row rs_flow_unexplained_round = {
    measure_unknown_rounds, write_unknown_rounds, {ROUND(UNKNOWN)}};
const rs_flow_row rs_flow_reordered = {
    measure_reordered, write_reordered, {KIND(LATE)}};
const rs_flow_row rs_flow_duplicated = {
    measure_duplicates, write_duplicates, {KIND(DUPLICATE)}};
const rs_flow_row rs_flow_unattributed_nak = {measure_unpaired_naks,
                                              write_unpaired_naks,
                                              {NAK(PSN_SEQUENCE), NAK(REMOTE_ACCESS),
                                               NAK(INVALID_REQUEST),
                                               NAK(REMOTE_OPERATIONAL), KIND(RNR_NAK)}};
