/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Findings about what did not arrive, and where it went. */
#include "findings_headroom.h"
#include "findings_held.h"
#include "format.h"
#include "loss_places.h"
#include "sorting.h"
#include "thresholds.h"

#define PLACES_TOLD 3 /* in a title */

/* ---- how they lie together ---- */

/* "  In 12 stretches, at most 980 packets in a row."; "" where that is not known of all n. */
static char *
stretch_words(const rs_stretch_sum *sum, guint64 n)
{
    g_autofree char *stretches = rs_format_count(sum->n);
    g_autofree char *longest = rs_finding_packets(sum->longest);
    return sum->lost != n || n < 2 ? g_strdup("")
           : sum->longest == 1     ? g_strdup("  No two of them in a row.")
           : sum->n == 1           ? g_strdup("  All of them in a row.")
                         : g_strdup_printf("  In %s stretches, at most %s in a row.",
                                           stretches, longest);
}

/* ---- where, if several points saw it ---- */

/* Between two points, of all streams of a flow. */
typedef struct location {
    rs_place from, to;
    guint64 lost;
} location;

/* On one side of the points that stand for the streams. */
typedef struct located {
    GArray *places; /* location, most first */
    guint64 lost;   /* in all of them */
    guint64 late;   /* came late at another point, of what is not lost at any of them */
    guint64
        sent; /* of how many: what was lost in front of the point was not seen there */
    guint32 late_at;
    rs_stretch_sum stretches; /* as the points behind have them, of what they have */
} located;

static void
clear_located(located *where)
{
    g_array_unref(where->places);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(located, clear_located)

static void
add_location(GArray *places, guint32 from, guint32 to, guint64 lost)
{
    for (guint i = 0; i < places->len; i++) {
        location *known = &g_array_index(places, location, i);
        if (known->from == from && known->to == to) {
            known->lost += lost;
            return;
        }
    }
    const location fresh = {.from = from, .to = to, .lost = lost};
    g_array_append_val(places, fresh);
}

static gint
most_first(gconstpointer a, gconstpointer b)
{
    const location *x = a;
    const location *y = b;
    gint order = rs_by_number(y->lost, x->lost);
    order = order != 0 ? order : rs_by_number(x->from, y->from);
    return order != 0 ? order : rs_by_number(x->to, y->to);
}

static guint32
point_of(const rs_flow *flow, guint32 stream)
{
    return roce_tracker_stream(flow->all->analysis->tracker, stream)->point;
}

static rs_place
place_of(const rs_flow *flow, guint32 stream)
{
    return rs_stream_place(flow->all->analysis, stream);
}

/* Which of the places are wanted. */
typedef enum wanted_places {
    IN_FRONT,
    BEHIND,
    BEHIND_BY_TIMEOUT,     /* of those of which the data or the ACK was lost */
    BEHIND_WHATEVER_TELLS, /* these and those before */
    ANYWHERE,
} wanted_places;

static gboolean
is_wanted(const rs_loss_place *place, wanted_places wanted)
{
    switch (wanted) {
    case IN_FRONT:
        return !place->behind && !place->by_timeout;
    case BEHIND:
        return place->behind && !place->by_timeout;
    case BEHIND_BY_TIMEOUT:
        return place->behind && place->by_timeout;
    case BEHIND_WHATEVER_TELLS:
        return place->behind;
    case ANYWHERE:
        break;
    }
    return TRUE;
}

static void
locate_stream(const rs_flow *flow, guint32 stream, wanted_places wanted, located *where)
{
    const rs_summary *summary = flow->all->summary;
    guint32 standing = rs_summary_group(summary, stream);
    g_autoptr(GArray) places = rs_loss_places(flow->all->analysis, summary, standing);
    for (guint i = 0; i < places->len; i++) {
        const rs_loss_place *one = &g_array_index(places, rs_loss_place, i);
        if (is_wanted(one, wanted)) {
            add_location(where->places, place_of(flow, one->from),
                         place_of(flow, one->to), one->lost);
            where->lost += one->lost;
            rs_stretches_add_to(
                flow->all->analysis->watchers.stretches,
                roce_tracker_stream(flow->all->analysis->tracker, one->to),
                &where->stretches);
        }
    }
    guint32 at;
    guint64 late =
        wanted == IN_FRONT
            ? 0
            : rs_loss_came_late(flow->all->analysis, flow->all->summary, stream, &at);
    if (late > 0) {
        where->late += late;
        where->late_at = place_of(flow, at);
    }
}

static located
locate(const rs_flow *flow, wanted_places wanted)
{
    located where = {
        .places = g_array_new(FALSE, FALSE, sizeof(location)),
        .sent = flow->packets + (wanted == IN_FRONT ? flow->n : 0),
    };
    for (guint i = 0; i < flow->streams->len; i++) {
        locate_stream(flow, g_array_index(flow->streams, guint32, i), wanted, &where);
    }
    g_array_sort(where.places, most_first);
    where.late = MIN(where.late, flow->n - MIN(where.lost, flow->n));
    return where;
}

static char *
between(const rs_flow *flow, const location *place)
{
    g_autofree char *from = rs_place_name(flow->all->analysis, place->from);
    g_autofree char *to = rs_place_name(flow->all->analysis, place->to);
    return g_strdup_printf("between %s and %s", from, to);
}

/* "11 packets lost between a and b, 3 between b and c, from gpu01 to gpu02" */
static char *
located_title(const rs_flow *flow, const located *where)
{
    g_autofree char *who = rs_flow_ends(flow);
    GString *title = g_string_new(NULL);
    for (guint i = 0; i < MIN(where->places->len, PLACES_TOLD); i++) {
        const location *place = &g_array_index(where->places, location, i);
        g_autofree char *n = rs_finding_packets(place->lost);
        g_autofree char *there = between(flow, place);
        g_string_append_printf(title, i == 0 ? "%s lost %s" : ", %s %s", n, there);
    }
    if (where->places->len > PLACES_TOLD) {
        g_autofree char *others = rs_finding_count(where->places->len - PLACES_TOLD,
                                                   "other place", "other places");
        g_string_append_printf(title, ", and at %s", others);
    }
    g_string_append_printf(title, ", from %s", who);
    return g_string_free(title, FALSE);
}

#define WANTED_AGAIN ", and asked for or sent again."

/* What was lost between points that were captured at, and how that is known, or came late at
 * one; what did neither is told by `rest`.  Where nothing was lost it has no title. */
static void
write_located(const rs_flow *flow, rs_finding *f, const located *where,
              const char *known_by, const char *rest)
{
    g_autoptr(GString) detail = g_string_new(NULL);
    guint64 left = flow->n - MIN(flow->n, where->lost + where->late);
    if (where->lost > 0) {
        f->severity = rs_flow_loss_severity(where->lost, where->sent);
        f->weight = where->lost;
        f->title = located_title(flow, where);
        g_autofree char *stretches = stretch_words(&where->stretches, where->lost);
        g_string_append_printf(
            detail, "Seen at the first of two points and not at the second%s%s",
            known_by, stretches);
        f->advice =
            g_strdup("Look at the queues and counters between these two points.");
    }
    if (where->late > 0) {
        g_autofree char *n = rs_finding_packets(where->late);
        g_autofree char *there = rs_place_name(flow->all->analysis, where->late_at);
        g_string_append_printf(detail, "%s%s came to %s late: overtaken, not lost.",
                               detail->len > 0 ? "  " : "", n, there);
    }
    if (left > 0) {
        g_autofree char *n = rs_finding_count(left, "more packet", "more packets");
        g_string_append_printf(detail, "  %s %s.", n, rest);
    }
    f->detail = g_strdup(detail->str);
}

/* ---- before the point ---- */

static guint64
measure_lost_before(const roce_stream *s)
{
    return rs_flow_verdicts(s, ROCE_VERDICT_LOST_BEFORE_CAPTURE);
}

static char *
stretches_of(const rs_flow *flow)
{
    rs_stretch_sum sum = {0};
    for (guint i = 0; i < flow->streams->len; i++) {
        rs_stretches_add_to(flow->all->analysis->watchers.stretches,
                            rs_flow_stream(flow, i), &sum);
    }
    return stretch_words(&sum, flow->n);
}

static gboolean
write_lost_before(const rs_flow *flow, rs_finding *f)
{
    g_autofree char *n = rs_finding_packets(flow->n);
    g_autofree char *who = rs_flow_ends(flow);
    g_autofree char *requests = rs_finding_count(
        rs_flow_requests_lost(&flow->sum)[ROCE_VERDICT_LOST_BEFORE_CAPTURE], "request",
        "requests");
    g_autofree char *responses = rs_finding_count(
        rs_flow_responses_lost(&flow->sum)[ROCE_VERDICT_LOST_BEFORE_CAPTURE],
        "response", "responses");
    g_auto(located) where = locate(flow, IN_FRONT);
    g_autofree char *share = rs_format_share(flow->n, where.sent);
    f->severity = rs_flow_loss_severity(flow->n, where.sent);
    if (where.lost > 0) {
        write_located(flow, f, &where, WANTED_AGAIN,
                      "did not come to here, which is all that is known");
        rs_flow_tell_watchdog(flow, f, where.lost);
        rs_flow_tell_headroom(flow, f, RS_SIDE_IN_FRONT, where.lost);
        return TRUE;
    }
    g_autofree char *stretches = stretches_of(flow);
    f->title =
        g_strdup_printf("%s lost on the way from %s, before the capture point", n, who);
    f->detail = g_strdup_printf(
        "Never seen here, then asked for or sent again: %s, %s; %s of what was sent.%s",
        requests, responses, share, stretches);
    rs_flow_tell_watchdog(flow, f, flow->n);
    return TRUE;
}

static guint64
measure_undelivered(const roce_stream *s)
{
    return rs_flow_verdicts(s, ROCE_VERDICT_UNDELIVERED_AFTER_CAPTURE);
}

static void
write_dropped_inside(const rs_flow *flow, rs_finding *f, const char *n, const char *who)
{
    g_autofree char *dst = rs_findings_label(flow->all, &flow->dst);
    f->title = g_strdup_printf(
        "%s from %s dropped or taken out of order inside the receiver", n, who);
    f->detail = g_strdup_printf(
        "They reached the NIC of %s, and were asked for or sent again: no link is "
        "behind this point, so that host or its NIC dropped them or took them out of "
        "order.",
        dst);
    f->advice = g_strdup("The network is not to blame.  Look at the receiving NIC's "
                         "discards and out-of-buffer counters, and at PCIe and memory "
                         "load of that host.");
}

static void
write_behind(const rs_flow *flow, rs_finding *f, const char *n, const char *who)
{
    g_autofree char *dst = rs_findings_label(flow->all, &flow->dst);
    f->title =
        g_strdup_printf("%s from %s did not arrive in order behind this point", n, who);
    f->detail = g_strdup("Seen here, then asked for or sent again: lost or late "
                         "behind the capture point; which of the two cannot be told "
                         "from here.");
    f->advice = g_strdup_printf("Capture at %s: there a lost packet stays away and a "
                                "late one arrives.",
                                dst);
}

static gboolean
write_undelivered(const rs_flow *flow, rs_finding *f)
{
    g_autofree char *n = rs_finding_packets(flow->n);
    g_autofree char *who = rs_flow_ends(flow);
    g_auto(located) where = locate(flow, BEHIND);
    f->severity = RS_SEVERITY_WARNING; /* they may have been late only */
    if (where.lost + where.late > 0) {
        write_located(flow, f, &where, WANTED_AGAIN,
                      "did not arrive in order: lost or late, which cannot be told");
        if (where.lost == 0) {
            f->title = g_strdup_printf("%s from %s did not arrive in order", n, who);
        } else {
            rs_flow_tell_watchdog(flow, f, where.lost);
            rs_flow_tell_ignored(flow, f, where.lost);
            rs_flow_tell_headroom(flow, f, RS_SIDE_BEHIND, where.lost);
        }
    } else if (rs_flow_is_at(flow, ROCE_VANTAGE_RESPONDER)) { /* no link is behind it */
        write_dropped_inside(flow, f, n, who);
    } else {
        write_behind(flow, f, n, who);
        rs_flow_tell_headroom(flow, f, RS_SIDE_BEHIND, flow->n);
    }
    return TRUE;
}

static guint64
measure_ack_lost(const roce_stream *s)
{
    return rs_flow_verdicts(s, ROCE_VERDICT_ACK_LOST);
}

static void
write_ack_lost_inside(const rs_flow *flow, rs_finding *f, const char *n,
                      const char *who)
{
    g_autofree char *src = rs_findings_label(flow->all, &flow->src);
    f->title = g_strdup_printf(
        "%s from %s sent again although acknowledgements had come", n, who);
    f->detail = g_strdup_printf(
        "What was sent again had been acknowledged when the requester timed out, and "
        "the "
        "ACKs had reached the NIC of %s: no link is behind this point, so that host or "
        "its NIC lost them, or was slow.",
        src);
    f->advice = g_strdup("The network is not to blame.  Look at the requesting NIC's "
                         "discards, and whether its timeout is too short.");
}

#define HELD_ADVICE                                                                    \
    "Look at why the port that paused did so: what waits behind it for longer than "   \
    "the ACK timeout is sent again, though it comes all the same."

/* Where a pause held the queue pair up, what came back may answer first copies that waited. */
static void
write_held(const rs_flow *flow, rs_finding *f, const rs_hold_up *held, const char *n,
           const char *who)
{
    g_autofree char *words = rs_hold_up_words(flow->all, held);
    f->title =
        g_strdup_printf("%s from %s sent again by timeout, though they came", n, who);
    f->detail =
        g_strdup_printf("ACKs cover them that answer no copy sent again: the first "
                        "copies arrived, late "
                        "for the timeout, or their ACKs were late or lost.  %s.",
                        words);
    f->advice = g_strdup(HELD_ADVICE);
}

static gboolean
write_ack_lost(const rs_flow *flow, rs_finding *f)
{
    g_autofree char *n = rs_finding_packets(flow->n);
    g_autofree char *who = rs_flow_ends(flow);
    f->severity = rs_flow_loss_severity(flow->n, flow->packets);
    if (rs_flow_is_at(flow, ROCE_VANTAGE_REQUESTER)) {
        write_ack_lost_inside(flow, f, n, who);
        return TRUE;
    }
    rs_hold_up held;
    if (rs_flow_was_held(flow, &held)) {
        f->severity = RS_SEVERITY_WARNING; /* nothing of it is known to be lost */
        write_held(flow, f, &held, n, who);
        return TRUE;
    }
    f->title = g_strdup_printf(
        "%s from %s sent again because acknowledgements were lost", n, who);
    f->detail = g_strdup(
        "What was sent again had been acknowledged when the requester timed out: "
        "the data arrived, the ACK did not.");
    return TRUE;
}

static guint64
sum_undelivered(const rs_flow *flow)
{
    guint64 n = 0;
    for (guint i = 0; i < flow->streams->len; i++) {
        n += measure_undelivered(rs_flow_stream(flow, i));
    }
    return n;
}

static guint64
measure_data_or_ack(const roce_stream *s)
{
    return rs_flow_verdicts(s, ROCE_VERDICT_DATA_OR_ACK_LOST);
}

gboolean
rs_flow_all_came(const rs_flow *flow, rs_place *place)
{
    guint32 group = 0;
    const rs_findings *all = flow->all;
    for (guint i = 0; i < flow->streams->len; i++) {
        guint32 last;
        if (!rs_loss_all_came(all->analysis, all->summary,
                              g_array_index(flow->streams, guint32, i), &last) ||
            (i > 0 && point_of(flow, last) != group)) {
            return FALSE;
        }
        group = point_of(flow, last);
        *place =
            i == 0 || *place == place_of(flow, last) ? place_of(flow, last) : group;
    }
    return TRUE;
}

gboolean
rs_flow_lost_nothing(const rs_flow *flow, rs_place *place)
{
    g_auto(located) where = locate(flow, ANYWHERE);
    return where.lost == 0 && rs_flow_all_came(flow, place);
}

/* Whether one of the points was captured at the receiver of these streams. */
static gboolean
has_receiver(const rs_flow *flow)
{
    const roce_tracker *tracker = flow->all->analysis->tracker;
    for (guint i = 0; i < flow->streams->len; i++) {
        const GArray *members = rs_summary_members(
            flow->all->summary, g_array_index(flow->streams, guint32, i));
        for (guint k = 0; members != NULL && k < members->len; k++) {
            if (roce_tracker_stream(tracker, g_array_index(members, guint32, k))
                    ->vantage == ROCE_VANTAGE_RESPONDER) {
                return TRUE;
            }
        }
    }
    return FALSE;
}

/* Whether another point saw any of these streams. */
static gboolean
has_another_point(const rs_flow *flow)
{
    for (guint i = 0; i < flow->streams->len; i++) {
        const GArray *members = rs_summary_members(
            flow->all->summary, g_array_index(flow->streams, guint32, i));
        if (members != NULL && members->len > 1) {
            return TRUE;
        }
    }
    return FALSE;
}

static void
write_came(const rs_flow *flow, rs_finding *f, const char *n, const char *who,
           rs_place place)
{
    g_autofree char *name = rs_place_name(flow->all->analysis, place);
    gboolean alone;
    g_autofree char *silence = rs_flow_silence(flow, &alone);
    if (silence != NULL) {
        f->title = g_strdup_printf("%s from %s came to %s, and nothing answered", n,
                                   who, name);
        f->detail = g_strdup_printf(
            "What was seen here was seen there as well, and sent again by timeout.  %s",
            silence);
        f->advice = g_strdup("See whether the receiver is up, its NIC and its link.");
        return;
    }
    f->title = g_strdup_printf(
        "%s from %s sent again by timeout, though they came to %s", n, who, name);
    f->detail = g_strdup(
        "What was seen here was seen there as well: their "
        "acknowledgements were lost, or they themselves were behind that point.");
    f->advice = g_strdup_printf("Look at the way of ACKs back from %s.", name);
}

/* Packets that a timeout repeated and that are told of among those that were undelivered: what
 * was asked for and lost once more. */
static guint64
lost_once_more(const rs_flow *flow, guint64 undelivered)
{
    if (undelivered == 0) {
        return 0;
    }
    g_auto(located) where = locate(flow, BEHIND);
    return where.lost - MIN(where.lost, undelivered);
}

static gboolean
write_data_or_ack(const rs_flow *whole, rs_finding *f)
{
    rs_flow rest = *whole;
    const rs_flow *flow = &rest;
    guint64 undelivered = sum_undelivered(whole);
    rest.n -= MIN(whole->n, lost_once_more(whole, undelivered));
    if (rest.n == 0) {
        return FALSE;
    }
    g_autofree char *n = rs_finding_packets(flow->n);
    g_autofree char *who = rs_flow_ends(flow);
    /* What is known by NAKs, what was undelivered has told. */
    g_auto(located) where =
        locate(flow, undelivered == 0 ? BEHIND_WHATEVER_TELLS : BEHIND_BY_TIMEOUT);
    f->severity = rs_flow_loss_severity(flow->n, flow->packets);
    if (where.lost > 0) {
        where.late = 0;
        write_located(
            flow, f, &where, WANTED_AGAIN,
            "sent again by timeout: lost, or the ACK was, which cannot be told");
        rs_flow_tell_pause(flow, f);
        rs_flow_tell_ignored(flow, f, where.lost);
        return TRUE;
    }
    rs_place place = 0;
    if (rs_flow_all_came(flow, &place)) {
        write_came(flow, f, n, who, place);
        return TRUE;
    }
    if (has_receiver(flow)) {
        f->advice = g_strdup(
            "Not all that came to the receiver's capture is known: rocescope compare "
            "follows each packet from one point to the next.");
    } else if (has_another_point(flow)) {
        f->advice = g_strdup("Another point saw some of it as well: rocescope compare "
                             "follows each packet from one point to the next.");
    }
    gboolean alone;
    g_autofree char *silence = rs_flow_silence(flow, &alone);
    f->title =
        g_strdup_printf("%s from %s sent again by timeout: data or ACK lost", n, who);
    f->detail = g_strdup_printf(
        "No NAK and no covering ACK was captured, so the data or its "
        "acknowledgement was lost behind this point, or came too late "
        "for the timeout.  Of each timeout the first packet counts: what "
        "was repeated behind it may have come.%s%s",
        silence != NULL ? "  " : "", silence != NULL ? silence : "");
    rs_flow_tell_pause(flow, f);
    return TRUE;
}

gboolean
rs_flow_write_missing(const rs_flow *flow, rs_finding *f)
{
    gboolean uc = rs_flow_is_unacknowledged(flow);
    /* What is sent again, and was lost in front of the point, has a finding of its own. */
    g_auto(located) where = locate(flow, uc ? ANYWHERE : BEHIND);
    if (where.lost == 0) {
        return FALSE;
    }
    where.late = 0;
    write_located(
        flow, f, &where,
        uc ? ".  The service does not acknowledge, and sends nothing again: what the "
             "capture of the second had missed would look the same."
           : WANTED_AGAIN,
        uc ? "missing here, which is all that is known"
           : "missing or sent again, which is all that is known");
    f->severity = RS_SEVERITY_WARNING; /* nobody waits for what is missing */
    return TRUE;
}

static guint64
measure_corrupt(const roce_stream *s)
{
    const roce_stream_trouble *trouble = roce_stream_trouble_of(s);
    return rs_flow_verdicts(s, ROCE_VERDICT_CORRUPT) + trouble->icrc_bad +
           trouble->ip_checksum_bad + trouble->psn_bad;
}

/* What shows that packets were damaged. */
static char *
name_damage(guint64 by_icrc, guint64 by_header, guint64 by_psn)
{
    const struct {
        guint64 n;
        const char *name;
    } kinds[] = {
        {by_icrc, "ICRC"}, {by_header, "IPv4 header checksum"}, {by_psn, "PSN"}};
    GString *names = g_string_new(NULL);
    for (guint i = 0; i < G_N_ELEMENTS(kinds); i++) {
        if (kinds[i].n > 0) {
            g_string_append_printf(names, "%s%s", names->len > 0 ? " or " : "",
                                   kinds[i].name);
        }
    }
    return g_string_free(names, FALSE);
}

static gboolean
write_corrupt(const rs_flow *flow, rs_finding *f)
{
    guint64 by_icrc = flow->sum.icrc.bad;
    guint64 by_header = flow->sum.ip_checksum_bad;
    guint64 by_psn = flow->sum.psn_bad;
    guint64 packets = by_icrc + by_header + by_psn;
    g_autofree char *n = rs_finding_packets(packets);
    g_autofree char *bad = name_damage(by_icrc, by_header, by_psn);
    g_autofree char *who = rs_flow_ends(flow);
    guint64 again = rs_flow_requests_lost(&flow->sum)[ROCE_VERDICT_CORRUPT] +
                    rs_flow_responses_lost(&flow->sum)[ROCE_VERDICT_CORRUPT];
    f->severity = RS_SEVERITY_WARNING;
    f->title = g_strdup_printf("%s from %s with a bad %s", n, who, bad);
    g_autofree char *asked = rs_format_count(again);
    f->detail = again > 0      ? g_strdup_printf("Asked for again: %s.", asked)
                : packets == 1 ? g_strdup("It was not asked for again.")
                               : g_strdup("None of them was asked for again.");
    return TRUE;
}

const rs_flow_row rs_flow_lost_before_capture = {
    measure_lost_before, write_lost_before, {LOSS(LOST_BEFORE_CAPTURE)}};
const rs_flow_row rs_flow_undelivered_after_capture = {
    measure_undelivered, write_undelivered, {LOSS(UNDELIVERED_AFTER_CAPTURE)}};
const rs_flow_row rs_flow_ack_lost = {
    measure_ack_lost, write_ack_lost, {LOSS(ACK_LOST)}};
const rs_flow_row rs_flow_data_or_ack_lost = {
    measure_data_or_ack, write_data_or_ack, {LOSS(DATA_OR_ACK_LOST)}};
const rs_flow_row rs_flow_corrupt = {
    measure_corrupt,
    write_corrupt,
    {KIND(ICRC_BAD), KIND(IP_CHECKSUM_BAD), KIND(PSN_BAD), LOSS(CORRUPT)}};
