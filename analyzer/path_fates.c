/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "path_fates.h"

#include "path_again.h"
#include "path_journeys.h"
#include "path_time.h"

#define USUAL_OF 16     /* packets that a usual time is the mean of, about */
#define MOST_DOUBTFUL 4 /* packets in a row that may each be two copies */
#define EARLY_MARGIN 4  /* tolerances after which nothing more can be expected */
#define LEAST_MARGIN_NS 10000000

/* ---- what may be concluded ---- */

/* Both points of a leg were on here. */
void
rs_path_share(rs_flow *flow, const rs_sighting *a, const rs_sighting *b)
{
    rs_flow_leg *n = rs_flow_leg_of(flow, a->point, b->point);
    gboolean up = a->point < b->point;
    const guint64 frames[2] = {up ? a->frame : b->frame, up ? b->frame : a->frame};
    for (guint i = 0; i < 2; i++) {
        guint64 there = frames[1 - i];
        if (n->first_there[i] == 0 || there < n->first_there[i]) {
            n->first_there[i] = there;
            n->first_shared[i] = frames[i];
        }
        if (there >= n->last_there[i]) {
            n->last_there[i] = there;
            n->last_shared[i] = frames[i];
        }
    }
}

/* A copy was seen at point i, and perhaps before it. */
static void
share(const rs_decision *d, const rs_journey *j, guint i)
{
    const rs_sighting *here = rs_sighting_at(d, j->at[i]);
    for (guint k = 0; k < i; k++) {
        if (j->at[k] != RS_NO_SIGHTING) {
            rs_path_share(d->flow, rs_sighting_at(d, j->at[k]), here);
        }
    }
}

/* Which copies of several are the same is known only now. */
static void
share_all(const rs_decision *d)
{
    for (guint k = 0; k < d->path->journeys->len; k++) {
        const rs_journey *j = rs_journey_at(d, k);
        for (guint i = 1; i <= j->last; i++) {
            if (j->at[i] != RS_NO_SIGHTING) {
                share(d, j, i);
            }
        }
    }
}

/* Whether it is known on all segments between two points how long equal CNPs take. */
static gboolean
is_storm_known(const rs_flow *flow, guint a, guint b)
{
    for (guint k = MIN(a, b); k < MAX(a, b); k++) {
        if (!flow->segment[k].storm_known) {
            return FALSE;
        }
    }
    return TRUE;
}

/* When a copy that was seen here has to have come by another point. */
static gint64
time_there(const rs_decision *d, guint point, const rs_sighting *seen)
{
    gboolean behind = (d->flow->way == RS_WAY_FORWARD) == (seen->point < point);
    gint64 took_ns = rs_usual_between(d, seen->point, point);
    return rs_time_add(seen->at_ns, behind ? took_ns : -took_ns);
}

/* How wrong that may be. */
static gint64
slack_of(const rs_decision *d, guint point, const rs_sighting *seen)
{
    /* Which of many equal ones a capture has begun or ended with is no better known than
     * how long they take. */
    gboolean is_vague = rs_is_storm(d) && !is_storm_known(d->flow, point, seen->point);
    return is_vague ? MAX(d->path->tolerance_ns, LEAST_MARGIN_NS)
                    : d->path->tolerance_ns;
}

/* Whether the capture of another point was on when a copy that was seen here has to have
 * come by there. */
static gboolean
was_on(const rs_decision *d, guint point, const rs_sighting *seen)
{
    const rs_path_span *span = &d->path->span[point];
    const rs_flow_leg *n = rs_flow_leg_of(d->flow, point, seen->point);
    guint side = seen->point < point ? 0 : 1;
    gint64 there_ns = time_there(d, point, seen);
    gint64 slack = slack_of(d, point, seen);
    gboolean begun = n->first_shared[side] != 0 && n->first_shared[side] < seen->frame;
    gboolean goes_on = n->last_shared[side] > seen->frame;
    return span->begun && (begun || there_ns - slack > span->first_ns) &&
           (goes_on || !span->ended || there_ns + slack < span->last_ns);
}

/* Whether that capture has shown nothing since, though its file goes on. */
static gboolean
is_idle(const rs_decision *d, guint point, const rs_sighting *seen)
{
    const rs_path_span *span = &d->path->span[point];
    const rs_flow_leg *n = rs_flow_leg_of(d->flow, point, seen->point);
    return !span->ended && span->last_ns < span->now_ns &&
           n->last_shared[seen->point < point ? 0 : 1] <= seen->frame &&
           time_there(d, point, seen) + slack_of(d, point, seen) >= span->last_ns;
}

/* Whether a point has been read so far that a copy of this time would have come. */
static gboolean
is_read_beyond(const rs_decision *d, guint point, gint64 at_ns)
{
    const rs_path_span *span = &d->path->span[point];
    gint64 margin = MAX(EARLY_MARGIN * d->path->tolerance_ns, LEAST_MARGIN_NS);
    return span->ended || at_ns + margin < span->now_ns;
}

static guint
segment_before(const rs_decision *d, guint i)
{
    guint a = rs_path_travel(d->path, d->flow->way, i - 1);
    guint b = rs_path_travel(d->path, d->flow->way, i);
    return MIN(a, b);
}

/* ---- between two points ---- */

static void
keep_trace(const rs_decision *d, guint i, rs_trace_kind kind, guint64 frame,
           guint32 from)
{
    GArray *traces =
        d->path->evidence[segment_before(d, i)][d->flow->way]->traces[kind];
    const rs_path_trace trace = {.frame = frame, .flow = d->flow->id, .from = from};
    if (from != 0 && traces->len < RS_PATH_TRACES) {
        g_array_append_val(traces, trace);
    }
}

/* Counts a rewritten DSCP; what changed in front of a point before this one may not. */
static void
count_rewrite(const rs_decision *d, guint i, const rs_sighting *from,
              const rs_sighting *to)
{
    rs_path_evidence *seen = d->path->evidence[segment_before(d, i)][d->flow->way];
    if (from->point == rs_path_travel(d->path, d->flow->way, i - 1)) {
        seen->rewrites[from->dscp][to->dscp]++;
        return;
    }
    const rs_path_rewrite key = {
        .flow = d->flow->id, .from = from->point, .dscp = {from->dscp, to->dscp}};
    guint64 *n = g_hash_table_lookup(seen->far_rewrites, &key);
    if (n == NULL && g_hash_table_size(seen->far_rewrites) < RS_PATH_TRACES) {
        n = g_new0(guint64, 1);
        g_hash_table_insert(seen->far_rewrites, g_memdup2(&key, sizeof key), n);
    }
    if (n != NULL) {
        ++*n;
    }
}

/* Keeps the frame that shows a change since the copy was seen last. */
static void
show(const rs_decision *d, guint i, const rs_sighting *from, const rs_sighting *to,
     rs_trace_kind kind)
{
    rs_path_evidence *seen = d->path->evidence[segment_before(d, i)][d->flow->way];
    if (from->point == rs_path_travel(d->path, d->flow->way, i - 1)) {
        rs_frames_keep_lowest(&seen->frames[kind], to->frame);
    } else {
        keep_trace(d, i, kind, to->frame, 1u << from->point);
    }
}

/* The copy was seen at i, and before it last as `from`.  What was damaged in between tells of
 * neither marks nor priority.  What was damaged before does: its header may be whole, as
 * where addresses were changed in all captures and no ICRC fits any more. */
static void
compare_headers(const rs_decision *d, guint i, const rs_sighting *from,
                const rs_sighting *to)
{
    rs_flow_leg *n = rs_flow_leg_of(d->flow, from->point, to->point);
    guint8 corrupt = RS_SIGHTING_CORRUPT;
    if ((to->flags & corrupt) != 0 && (from->flags & corrupt) == 0) {
        n->corrupted++;
        show(d, i, from, to, RS_TRACE_CORRUPTED);
        return;
    }
    if (to->ecn == ROCE_ECN_CE && from->ecn != ROCE_ECN_CE &&
        from->ecn != ROCE_ECN_NOT_ECT) {
        n->marked++;
        show(d, i, from, to, RS_TRACE_MARKED);
    } else if (to->ecn != from->ecn) {
        n->ecn_other++;
    }
    n->hops_rose += to->hops > from->hops ? 1 : 0;
    if (to->dscp != from->dscp) {
        n->rewritten++;
        count_rewrite(d, i, from, to);
        show(d, i, from, to, RS_TRACE_REWRITTEN);
    }
}

static guint
first_of(const rs_journey *j)
{
    guint i = 0;
    while (j->at[i] == RS_NO_SIGHTING) {
        i++;
    }
    return i;
}

/* Whether a single copy came to point i: order and times of several may be those of
 * others.  Of two that the network made of one the first is that one where packets are
 * numbered; else it may have been missed before, and the second is another one.  Without an
 * ICRC a sighting may be of a packet that is not equal. */
static gboolean
is_only_one(const rs_decision *d, guint i)
{
    guint n = d->entry->parted || d->entry->vague ? 1 : 0;
    guint before = rs_path_is_numbered(d->flow, d->entry->opcode) ? i : i + 1;
    for (guint k = 0; k < d->path->journeys->len; k++) {
        n += first_of(rs_journey_at(d, k)) < before ? 1 : 0;
    }
    return n == 1;
}

static void
add_to_clock(const rs_decision *d, guint segment, const rs_sighting *from,
             const rs_sighting *to)
{
    gboolean forward = d->flow->way == RS_WAY_FORWARD;
    const rs_sighting *low = forward ? from : to;
    const rs_sighting *high = forward ? to : from;
    gint64 low_ns = rs_time_of_stamp(low->stamp_ns);
    const rs_clock_pair pair = {
        .at_ns = low_ns,
        .difference_ns = rs_time_apart(rs_time_of_stamp(high->stamp_ns), low_ns),
        .frame = {low->frame, high->frame},
    };
    rs_clock_add(d->path->clock[segment],
                 forward ? RS_CLOCK_FORWARD : RS_CLOCK_BACKWARD, &pair);
}

/* Whether a packet came sooner than any can, since what comes back would have to come before
 * it was sent: two equal copies were taken for one, of which each point missed the other.
 * But several in a row are those behind a clock that was set. */
static gboolean
is_doubtful(const rs_decision *d, guint segment, gint64 took_ns)
{
    if (rs_path_is_numbered(d->flow, d->entry->opcode)) {
        return FALSE;
    }
    rs_way way = d->flow->way;
    gint64 back_ns = /* 0: none has come back */
        d->path->usual_ns[segment]
                         [way == RS_WAY_FORWARD ? RS_WAY_BACKWARD : RS_WAY_FORWARD];
    guint *n = &d->path->n_doubtful[segment][way];
    *n = back_ns != 0 && took_ns < -back_ns ? *n + 1 : 0;
    return *n > 0 && *n <= MOST_DOUBTFUL;
}

/* The copy was seen at i - 1 and at i. */
static void
match(const rs_decision *d, guint i, const rs_sighting *from, rs_sighting *to)
{
    guint segment = segment_before(d, i);
    rs_way way = d->flow->way;
    rs_flow_segment *n = &d->flow->segment[segment];
    n->matched++;
    n->weak += ((from->flags | to->flags) & RS_SIGHTING_WEAK) != 0 ? 1 : 0;
    if (!is_only_one(d, i)) {
        return; /* of equal copies it is not sure enough which is which */
    }
    gint64 *usual_ns = &d->path->usual_ns[segment][way];
    gint64 now_ns = rs_time_apart(to->at_ns, from->at_ns);
    gint64 off_ns = rs_time_apart(now_ns, *usual_ns);
    if (is_doubtful(d, segment, now_ns)) {
        return;
    }
    to->from_order = from->order;
    gint64 most_ns = EARLY_MARGIN * d->path->tolerance_ns;
    *usual_ns += CLAMP(off_ns, -most_ns, most_ns) / USUAL_OF; /* one may be very late */
    add_to_clock(d, segment, from, to);
}

/* ---- where a journey begins and ends ---- */

guint
rs_path_suspect_place(const rs_path *path, guint point, guint64 frame)
{
    const GArray *list = path->suspects[point];
    guint low = 0;
    guint high = list->len;
    while (low < high) {
        guint i = low + (high - low) / 2;
        if (g_array_index(list, rs_path_suspect, i).frame < frame) {
            low = i + 1;
        } else {
            high = i;
        }
    }
    return low;
}

/* They are decided on in the order of time, and frames of several queues are in another. */
static void
suspect(rs_path *path, guint point, const rs_path_suspect *s)
{
    GArray *list = path->suspects[point];
    if (list->len >= RS_PATH_SUSPECTS) {
        g_array_remove_range(list, 0, RS_PATH_SUSPECTS / 2);
    }
    g_array_insert_val(list, rs_path_suspect_place(path, point, s->frame), *s);
}

void
rs_path_move_state(const rs_path *path, guint point, const rs_path_suspect *s,
                   rs_loss_state before, rs_loss_state now)
{
    for (guint to = 0; to < path->config.n_points; to++) {
        if ((s->behind & 1u << to) != 0) {
            rs_flow_leg *leg = rs_flow_leg_of(rs_path_flow(path, s->flow), point, to);
            rs_leg_ends *n = (s->idle & 1u << to) != 0 ? &leg->idle : &leg->ended;
            n->n[before]--;
            n->n[now]++;
        }
    }
}

guint32
rs_path_list_loss(rs_path *path, const rs_path_loss *loss)
{
    gboolean strange =
        !rs_flow_is_compared(rs_path_flow(path, loss->flow), path->config.n_points);
    if (path->losses->len >= (strange ? RS_PATH_LISTED / 2 : RS_PATH_LISTED)) {
        path->losses_unlisted++;
        return G_MAXUINT32;
    }
    g_array_append_vals(path->losses, loss, 1);
    return path->losses->len - 1;
}

static rs_path_loss
loss_of(const rs_decision *d, const rs_journey *j, guint32 behind, guint32 idle)
{
    const rs_sighting *last = rs_sighting_at(d, j->at[j->last]);
    rs_path_loss loss = {
        .flow = d->flow->id,
        .point = last->point,
        .behind = behind,
        .idle = idle,
        .ambiguous = j->ambiguous,
        .stamp_ns = last->stamp_ns,
        .psn24 = d->entry->psn24,
        .opcode = d->entry->opcode,
    };
    for (guint i = 0; i < d->n_points; i++) {
        if (j->at[i] != RS_NO_SIGHTING) {
            const rs_sighting *s = rs_sighting_at(d, j->at[i]);
            loss.frames[s->point] = s->frame;
        }
    }
    return loss;
}

/* What the last point learned of a copy; that it was sent again another one may have seen
 * alone, which the last one then knows by that. */
static guint8
known_of(const rs_decision *d, const rs_journey *j)
{
    rs_sighting *last = rs_sighting_at(d, j->at[j->last]);
    if (rs_known_state(last->known, j->ambiguous) != RS_LOSS_CAME ||
        (last->known & RS_KNOWN_AFTER) != 0) {
        return last->known;
    }
    gboolean again = rs_path_again_is_known(d, last);
    for (guint i = 0; i < j->last && !again; i++) {
        again = j->at[i] != RS_NO_SIGHTING &&
                (rs_sighting_at(d, j->at[i])->known & RS_KNOWN_RESENT) != 0;
    }
    last->known = again ? rs_path_again_known(last->known) : last->known;
    return last->known;
}

/* A copy did not come to some points behind the last that saw it, or to some of them not if
 * they are only idle. */
static void
lose(const rs_decision *d, const rs_journey *j, guint32 behind, guint32 idle)
{
    const rs_sighting *last = rs_sighting_at(d, j->at[j->last]);
    guint8 known = known_of(d, j);
    rs_loss_state state = rs_known_state(known, j->ambiguous);
    for (guint to = 0; to < d->n_points; to++) {
        if ((behind & 1u << to) != 0) {
            rs_flow_leg *leg = rs_flow_leg_of(d->flow, last->point, to);
            rs_leg_ends *n = (idle & 1u << to) != 0 ? &leg->idle : &leg->ended;
            n->n[state]++;
            n->ambiguous += j->ambiguous ? 1 : 0;
        }
    }
    rs_path_loss loss = loss_of(d, j, behind, idle);
    loss.state = state;
    const rs_path_suspect s = {
        .frame = last->frame,
        .flow = d->flow->id,
        .behind = behind,
        .idle = idle,
        .loss = state == RS_LOSS_CAME ? G_MAXUINT32 : rs_path_list_loss(d->path, &loss),
        .known = known,
        .ambiguous = j->ambiguous,
    };
    if (!rs_known_is_final(s.known)) {
        suspect(d->path, last->point, &s);
    }
    if (state == RS_LOSS_CAME && idle == 0) {
        rs_path_again_keep(d, &s, &loss, last->at_ns);
    }
}

/* Which of the points behind it a flow passes nobody knows yet: each is judged as if it
 * were the next. */
static void
end_journey(const rs_decision *d, const rs_journey *j)
{
    const rs_sighting *last = rs_sighting_at(d, j->at[j->last]);
    guint32 behind = 0;
    guint32 idle = 0;
    for (guint i = j->last + 1; i < d->n_points; i++) {
        guint to = rs_path_travel(d->path, d->flow->way, i);
        rs_flow_leg *n = rs_flow_leg_of(d->flow, last->point, to);
        if (!is_read_beyond(d, to, last->at_ns)) {
            n->undecided[0]++;
        } else if (!was_on(d, to, last)) {
            n->outside[0]++;
        } else {
            behind |= 1u << to;
            idle |= is_idle(d, to, last) ? 1u << to : 0;
        }
    }
    d->path->idle |= idle;
    if (behind != 0) {
        lose(d, j, behind, idle);
    }
}

/* Whether some copy was seen at point k, as far as is still known. */
static gboolean
any_seen_at(const rs_decision *d, guint k)
{
    for (guint i = 0; i < d->path->journeys->len; i++) {
        if (rs_journey_at(d, i)->at[k] != RS_NO_SIGHTING) {
            return TRUE;
        }
    }
    return d->entry->parted;
}

/* The first point that saw it is not the first of the path.  Of the points before it each
 * is judged as if the flow came from there.  One that is damaged may have looked different
 * there. */
static void
appear(const rs_decision *d, guint i, const rs_sighting *first, gboolean is_extra)
{
    gboolean is_equal = is_extra && !rs_path_may_be_one(d->path, d->entry);
    /* Of copies sent again that are equal one may have come before a capture began. */
    gboolean is_sure =
        is_extra && !is_equal && rs_path_is_numbered(d->flow, d->entry->opcode);
    guint32 from[RS_N_TRACES] = {0};
    for (guint k = 0; k < i; k++) {
        guint before = rs_path_travel(d->path, d->flow->way, k);
        rs_flow_leg *n = rs_flow_leg_of(d->flow, before, first->point);
        gboolean is_from_there = is_extra && any_seen_at(d, k);
        if (is_equal && was_on(d, before, first)) {
            n->extra_equal++;
        } else if (is_from_there && (is_sure || was_on(d, before, first))) {
            n->extra++;
            from[RS_TRACE_DUPLICATED] |= 1u << before;
        } else if (!is_read_beyond(d, before, first->at_ns)) {
            n->undecided[1]++;
        } else if (!was_on(d, before, first) || is_idle(d, before, first)) {
            n->outside[1]++;
        } else if (is_extra) { /* made in front of it or behind it, or missed there */
            n->extra_equal++;
        } else if ((first->flags & RS_SIGHTING_CORRUPT) == 0) {
            n->appeared++;
            from[RS_TRACE_APPEARED] |= 1u << before;
        }
    }
    for (guint kind = 0; kind < RS_N_TRACES; kind++) {
        keep_trace(d, i, (rs_trace_kind)kind, first->frame, from[kind]);
    }
    if (from[RS_TRACE_APPEARED] != 0) {
        rs_path_again_appear(d, first, from[RS_TRACE_APPEARED]);
    }
}

/* Whether some copy came from before point i. */
static gboolean
any_from_before(const rs_decision *d, guint i)
{
    for (guint k = 0; k < d->path->journeys->len; k++) {
        if (first_of(rs_journey_at(d, k)) < i) {
            return TRUE;
        }
    }
    return FALSE;
}

/* Whether the time between two sightings is such that they are of the same one of several
 * equal copies: another one may have been made two and this one lost since. */
static gboolean
fits_in_time(const rs_decision *d, const rs_sighting *before, const rs_sighting *behind)
{
    if (d->path->journeys->len < 2 && !d->entry->parted) {
        return TRUE;
    }
    gint64 took_ns = rs_time_apart(behind->at_ns, before->at_ns);
    gint64 usual_ns = rs_usual_between(d, before->point, behind->point);
    return rs_time_size(rs_time_apart(took_ns, usual_ns), RS_TIME_LIMIT_NS) <=
           d->path->tolerance_ns;
}

/* A copy that was seen before point i and behind it was not seen at i, whose capture was
 * on. */
static void
count_over(const rs_decision *d, const rs_journey *j, guint i)
{
    guint point = rs_path_travel(d->path, d->flow->way, i);
    d->flow->point[point].passed_over++;
    for (guint k = i + 1; k <= j->last; k++) {
        if (j->at[k] != RS_NO_SIGHTING) {
            guint behind = rs_path_travel(d->path, d->flow->way, k);
            rs_flow_leg_of(d->flow, point, behind)->over++;
        }
    }
}

/* Likewise, but the capture was not on. */
static void
count_off(const rs_decision *d, const rs_journey *j, guint i)
{
    guint point = rs_path_travel(d->path, d->flow->way, i);
    for (guint k = 0; k <= j->last; k++) {
        if (j->at[k] != RS_NO_SIGHTING) {
            guint other = rs_path_travel(d->path, d->flow->way, k);
            rs_flow_leg_of(d->flow, point, other)->outside[k < i ? 0 : 1]++;
        }
    }
}

/* Where a journey that has passed by point i was seen next. */
static const rs_sighting *
next_seen(const rs_decision *d, const rs_journey *j, guint i)
{
    while (j->at[i] == RS_NO_SIGHTING) {
        i++;
    }
    return rs_sighting_at(d, j->at[i]);
}

/* A copy was seen at i - 1 or before it, there as `before`, and behind i, but not at i.  If
 * an equal copy may have been the one, that proves nothing. */
static void
pass_over(const rs_decision *d, const rs_journey *j, guint i, const rs_sighting *before)
{
    guint point = rs_path_travel(d->path, d->flow->way, i);
    const rs_path_span *span = &d->path->span[point];
    gint64 there_ns =
        rs_time_add(before->at_ns, rs_usual_between(d, before->point, point));
    gint64 slack = d->path->tolerance_ns;
    if (there_ns - slack <= span->first_ns || there_ns + slack >= span->last_ns) {
        count_off(d, j, i);
    } else if (!j->ambiguous && !j->unsure &&
               fits_in_time(d, before, next_seen(d, j, i))) {
        count_over(d, j, i);
    }
}

static void
tell(const rs_decision *d, const rs_journey *j)
{
    guint first = first_of(j);
    rs_sighting *before = rs_sighting_at(d, j->at[first]);
    guint before_i = first;
    if (first < j->last) {
        d->flow->point[rs_path_travel(d->path, d->flow->way, first)].shared++;
    }
    for (guint i = first + 1; i <= j->last; i++) {
        guint point = rs_path_travel(d->path, d->flow->way, i);
        if (j->at[i] == RS_NO_SIGHTING) {
            pass_over(d, j, i, before);
            continue;
        }
        rs_sighting *here = rs_sighting_at(d, j->at[i]);
        d->flow->point[point].shared++;
        compare_headers(d, i, before, here);
        if (before_i + 1 == i) {
            match(d, i, before, here);
        }
        before = here;
        before_i = i;
    }
    if (first > 0) {
        gboolean is_extra = d->entry->parted || any_from_before(d, first);
        appear(d, first, rs_sighting_at(d, j->at[first]), is_extra);
    }
    if (j->last + 1 < d->n_points) {
        end_journey(d, j);
    }
}

/* ---- what has come to its end ---- */

/* Whether all points but those from i to k have been read beyond a time. */
static gboolean
are_read_beyond(const rs_decision *d, guint i, guint k, gint64 at_ns)
{
    for (guint at = 0; at < d->n_points; at++) {
        if ((at < i || at > k) &&
            !is_read_beyond(d, rs_path_travel(d->path, d->flow->way, at), at_ns)) {
            return FALSE;
        }
    }
    return TRUE;
}

static gboolean
is_over(const rs_decision *d, const rs_journey *j)
{
    guint first = first_of(j);
    gint64 first_ns = rs_sighting_at(d, j->at[first])->at_ns;
    gint64 last_ns = rs_sighting_at(d, j->at[j->last])->at_ns;
    return are_read_beyond(d, 0, j->last, last_ns) &&
           are_read_beyond(d, first, d->n_points, first_ns);
}

/* Whether a point saw it behind one of which more may come. */
static gboolean
is_behind(const rs_decision *d, const rs_journey *j, const guint64 *open_from)
{
    for (guint i = 0; i < d->n_points; i++) {
        if (j->at[i] != RS_NO_SIGHTING &&
            rs_sighting_at(d, j->at[i])->frame > open_from[i]) {
            return TRUE;
        }
    }
    return FALSE;
}

static void
open_journey(const rs_decision *d, rs_journey *j, guint64 *open_from)
{
    j->open = TRUE;
    for (guint i = 0; i < d->n_points; i++) {
        if (j->at[i] != RS_NO_SIGHTING) {
            open_from[i] = MIN(open_from[i], rs_sighting_at(d, j->at[i])->frame);
        }
    }
}

/* Finds which journeys are still open.  Copies that come later are paired with those that
 * stay, in their order: what is behind an open one anywhere therefore stays as well.
 * Returns how many are over. */
static guint
find_open(const rs_decision *d)
{
    guint64 open_from[RS_PATH_MAX_POINTS];
    for (guint i = 0; i < d->n_points; i++) {
        open_from[i] = G_MAXUINT64;
    }
    guint n_over = d->path->journeys->len;
    for (guint before = n_over + 1; n_over < before;) {
        before = n_over;
        for (guint k = 0; k < d->path->journeys->len; k++) {
            rs_journey *j = rs_journey_at(d, k);
            if (!j->open && (!is_over(d, j) || is_behind(d, j, open_from))) {
                open_journey(d, j, open_from);
                n_over--;
            }
        }
    }
    return n_over;
}

static void
settle(const rs_decision *d, const rs_journey *j)
{
    tell(d, j);
    for (guint i = 0; i < d->n_points; i++) {
        if (j->at[i] != RS_NO_SIGHTING) {
            rs_sighting_at(d, j->at[i])->flags |= RS_SIGHTING_SETTLED;
        }
    }
}

/* ---- the ways in ---- */

static rs_decision
decide(rs_path *path, guint32 entry)
{
    const rs_match_entry *e = rs_match_entry_of(path->table, entry);
    rs_decision d = {
        .path = path,
        .entry = e,
        .flow = rs_path_flow(path, e->flow),
        .n_points = path->config.n_points,
    };
    rs_flow *flow = d.flow;
    rs_way_by by;
    rs_way way = rs_ways_decide(path->ways, flow->route, &flow->src, &by);
    if (!flow->way_known) {
        flow->way = way;
        flow->way_by = by;
        flow->way_known = TRUE;
    }
    rs_find_journeys(&d);
    share_all(&d);
    return d;
}

void
rs_path_resolve(rs_path *path, guint32 entry)
{
    rs_match_resolve(path->table, entry);
    const rs_decision d = decide(path, entry);
    for (guint i = 0; i < path->journeys->len; i++) {
        tell(&d, rs_journey_at(&d, i));
    }
}

gboolean
rs_path_settle(rs_path *path, guint32 entry)
{
    const rs_decision d = decide(path, entry);
    if (find_open(&d) == 0) {
        return FALSE;
    }
    for (guint i = 0; i < path->journeys->len; i++) {
        if (!rs_journey_at(&d, i)->open) {
            settle(&d, rs_journey_at(&d, i));
        }
    }
    rs_match_part(path->table, entry);
    return TRUE;
}
