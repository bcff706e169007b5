/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "loss_places.h"

#include "further.h"
#include "sorting.h"
#include "stopped.h"
#include "twins.h"

/* A stream at one of its points. */
typedef struct stop {
    const roce_stream *stream;
    guint64 lost_before; /* packets that never came, and were asked for or sent again */
    guint64 again; /* that came and were sent again: at most so many were lost behind */
} stop;

/* What nobody acknowledges is not judged: it is missing. */
static guint64
lost_before(const roce_stream *s)
{
    if (!roce_stream_is_reliable(s)) {
        return roce_stream_trouble_of(s)
            ->losses[ROCE_SPACE_REQUESTS][ROCE_VERDICT_UNKNOWN];
    }
    return rs_verdicts_of(s, ROCE_VERDICT_LOST_BEFORE_CAPTURE);
}

/* Where nothing is ever sent again, that says nothing. */
static guint64
sent_again(const roce_stream *s)
{
    const roce_stream_trouble *trouble = roce_stream_trouble_of(s);
    if (!roce_stream_is_reliable(s)) {
        return G_MAXUINT64;
    }
    return trouble->retransmissions.packets +
           trouble->disorder[ROCE_SPACE_RESPONSES].resent;
}

/* What came before one point came before all behind it. */
static gint
along_way(gconstpointer a, gconstpointer b)
{
    const stop *x = a;
    const stop *y = b;
    gint order = rs_by_number(x->lost_before, y->lost_before);
    order = order != 0 ? order : rs_further(x->stream, y->stream);
    return order != 0 ? order : rs_by_number(x->stream->id, y->stream->id);
}

/* The points of a stream in the order of its way; but those that see only some of its paths
 * prove no loss. */
static GArray *
way_of(const rs_analysis *analysis, const GArray *members)
{
    GArray *way = g_array_new(FALSE, FALSE, sizeof(stop));
    for (guint i = 0; i < members->len; i++) {
        const roce_stream *s =
            roce_tracker_stream(analysis->tracker, g_array_index(members, guint32, i));
        const stop one = {
            .stream = s, .lost_before = lost_before(s), .again = sent_again(s)};
        if (!s->partial_path) {
            g_array_append_val(way, one);
        }
    }
    g_array_sort(way, along_way);
    return way;
}

static stop *
at(const GArray *way, guint i)
{
    return &g_array_index(way, stop, i);
}

/* The place of a stream on the way; its length, if it has none. */
static guint
index_of(const GArray *way, guint32 stream)
{
    guint i = 0;
    while (i < way->len && at(way, i)->stream->id != stream) {
        i++;
    }
    return i;
}

/* Where packets that are sent again are like the first ones, so many, at most, did not come
 * from one point to the other: no more than the one saw more, and the other saw alone. */
static guint64
missing_of_equal(const rs_analysis *analysis, const GArray *members,
                 const roce_stream *from, const roce_stream *to, guint64 missing)
{
    guint64 repeats = rs_twins_repeats(analysis->twins, from->id);
    guint64 alone = rs_twins_missing(analysis->twins, members, to->point, from->point);
    if (repeats == 0 || alone == G_MAXUINT64) {
        return missing + repeats;
    }
    guint64 fewer = from->packets - MIN(from->packets, to->packets);
    return MIN(missing + repeats, MAX(missing, fewer + alone));
}

/* So many packets, at most, were seen at the one point and did not come to the other: those
 * that were lost in a place between them have been told. */
static guint64
left_between(const rs_analysis *analysis, const GArray *members, const GArray *places,
             const GArray *way, guint from, guint to)
{
    const roce_stream *s = at(way, from)->stream;
    if (analysis->twins == NULL) {
        return G_MAXUINT64;
    }
    guint64 missing = rs_twins_missing(analysis->twins, members, s->point,
                                       at(way, to)->stream->point);
    if (missing == G_MAXUINT64) {
        return missing;
    }
    guint64 told = 0;
    for (guint i = 0; i < places->len; i++) {
        const rs_loss_place *one = &g_array_index(places, rs_loss_place, i);
        told += index_of(way, one->from) >= from && index_of(way, one->to) <= to
                    ? one->lost
                    : 0;
    }
    guint64 most = missing_of_equal(analysis, members, s, at(way, to)->stream, missing);
    return most - MIN(told, most);
}

/* Where what did not come to the i-th was seen last, among those up to `from`: further on than
 * all that are known to stand before. */
static guint
seen_last(const GArray *way, guint from)
{
    guint i = from;
    while (i > 0 && at(way, i - 1)->lost_before == at(way, from)->lost_before &&
           rs_further(at(way, i - 1)->stream, at(way, i)->stream) == 0) {
        i--;
    }
    return i;
}

/* What was lost in one place was lost in no other. */
static void
place(GArray *places, const GArray *way, guint from, guint to, guint64 lost)
{
    const rs_loss_place one = {
        .from = at(way, from)->stream->id, .to = at(way, to)->stream->id, .lost = lost};
    g_array_append_val(places, one);
    for (guint i = 0; i <= from; i++) {
        at(way, i)->again -= MIN(lost, at(way, i)->again);
    }
}

static void
mark_behind(GArray *places, const GArray *way, guint32 stream)
{
    guint stands_at = index_of(way, stream);
    for (guint i = 0; i < places->len; i++) {
        rs_loss_place *one = &g_array_index(places, rs_loss_place, i);
        one->behind = index_of(way, one->to) > stands_at;
    }
}

/* So many PSNs, at most, were repeated until their queue pair stopped, and may have come
 * nowhere. */
static guint64
given_up(const rs_analysis *analysis, const roce_stream *s)
{
    if (rs_stop_of(analysis, s) == RS_WENT_ON) {
        return 0;
    }
    return roce_stream_trouble_of(s)->retransmissions.packets /
           rs_stalls_of(analysis->watchers.stalls, s->id)->repeats;
}

/* Whether it is known of each packet at which points it was seen, and all of these saw the
 * same PSNs, but for those that were given up: what did not come to one of them was sent
 * again, and that came. */
static gboolean
knows_twins(const rs_analysis *analysis, const GArray *way)
{
    const roce_stream *first = at(way, 0)->stream;
    guint64 most = rs_summary_n_psns(first);
    guint64 least = most - MIN(most, given_up(analysis, first));
    gboolean known = analysis->twins != NULL && rs_twins_complete(analysis->twins);
    for (guint i = 0; i < way->len && known; i++) {
        const roce_stream *s = at(way, i)->stream;
        guint64 n = rs_summary_n_psns(s);
        known =
            rs_twins_repeats(analysis->twins, s->id) == 0 && n <= most && n >= least;
    }
    return known;
}

/* Whether none of the points shows that its capture missed anything. */
static gboolean
missed_nothing(const GArray *way)
{
    guint64 n = 0;
    for (guint i = 0; i < way->len; i++) {
        n += rs_verdicts_of(at(way, i)->stream, ROCE_VERDICT_NOT_CAPTURED);
    }
    return n == 0;
}

/* Whether a NIC sends again what was lost, and none of the points heard why. */
static gboolean
is_unheard(const GArray *way)
{
    for (guint i = 0; i < way->len; i++) {
        const roce_stream *s = at(way, i)->stream;
        if (roce_stream_is_paired(s) || !roce_stream_is_reliable(s)) {
            return FALSE;
        }
    }
    return way->len > 0;
}

/* What no point missed by itself, and did not come to the next one all the same: a timeout is
 * told of the packet that it begins with, and those behind it in the same round were lost as
 * well; and of what was lost, what asked for it or was sent for it may have been lost again.
 * No more was lost than was sent again, or given up. */
static void
place_rest(const rs_analysis *analysis, const GArray *members, GArray *places,
           const GArray *way, guint stands_at)
{
    const stop *standing = at(way, stands_at);
    gboolean by_timeout =
        rs_verdicts_of(standing->stream, ROCE_VERDICT_DATA_OR_ACK_LOST) > 0;
    gboolean asked_for =
        rs_verdicts_of(standing->stream, ROCE_VERDICT_UNDELIVERED_AFTER_CAPTURE) > 0 &&
        missed_nothing(way);
    gboolean unheard =
        rs_verdicts_of(standing->stream, ROCE_VERDICT_UNKNOWN) > 0 && is_unheard(way);
    if ((!by_timeout && !asked_for && !unheard) || !knows_twins(analysis, way)) {
        return;
    }
    guint last = way->len - 1;
    guint64 left = left_between(analysis, members, places, way, stands_at, last);
    /* Where two points stand side by side, what was lost behind both is told of one. */
    left = MIN(left, left_between(analysis, members, places, way, 0, last));
    guint64 most = standing->again + given_up(analysis, standing->stream);
    if (left > most) { /* something of it is no loss */
        return;
    }
    for (guint to = stands_at + 1; to <= last && left > 0; to++) {
        guint64 here = left_between(analysis, members, places, way, to - 1, to);
        const rs_loss_place one = {
            .from = at(way, to - 1)->stream->id,
            .to = at(way, to)->stream->id,
            .lost = MIN(here, left),
            .by_timeout = by_timeout,
        };
        left -= one.lost;
        if (one.lost > 0) {
            g_array_append_val(places, one);
        }
    }
}

/* Whether what nobody acknowledges may be missing at a point further on since the capture there
 * missed it: that is known of others, or that point is the nearer one to the sender, or each
 * of both lacks some that the other has. */
static gboolean
may_be_missed(const rs_analysis *analysis, const rs_summary *summary,
              const GArray *members, const GArray *way, guint from, guint to)
{
    const stop *near = at(way, from);
    const stop *far = at(way, to);
    if (roce_stream_is_reliable(far->stream) || far->lost_before == 0) {
        return FALSE;
    }
    gboolean both_lack = near->lost_before > 0 && analysis->twins != NULL &&
                         rs_twins_missing(analysis->twins, members, far->stream->point,
                                          near->stream->point) > 0;
    return both_lack || rs_further(near->stream, far->stream) > 0 ||
           g_hash_table_contains(summary->missed, GUINT_TO_POINTER(far->stream->point));
}

gboolean
rs_loss_is_doubtful(const rs_analysis *analysis, const rs_summary *summary,
                    guint32 stream)
{
    const GArray *members = rs_summary_members(summary, stream);
    if (members == NULL) {
        return FALSE;
    }
    g_autoptr(GArray) way = way_of(analysis, members);
    for (guint to = 1; to < way->len; to++) {
        if (may_be_missed(analysis, summary, members, way, to - 1, to)) {
            return TRUE;
        }
    }
    return FALSE;
}

GArray *
rs_loss_places(const rs_analysis *analysis, const rs_summary *summary, guint32 stream)
{
    GArray *places = g_array_new(FALSE, FALSE, sizeof(rs_loss_place));
    const GArray *members = rs_summary_members(summary, stream);
    if (members == NULL) {
        return places;
    }
    g_autoptr(GArray) way = way_of(analysis, members);
    /* No ACK tells what a capture missed, but then it misses some of what was sent once. */
    if (is_unheard(way) && !knows_twins(analysis, way)) {
        return places;
    }
    for (guint to = 1; to < way->len; to++) {
        guint64 left = at(way, to)->lost_before - at(way, to - 1)->lost_before;
        guint from = seen_last(way, to - 1) + 1;
        if (may_be_missed(analysis, summary, members, way, from - 1, to)) {
            continue;
        }
        while (left > 0 && from-- > 0) {
            guint64 lost = MIN(left, at(way, from)->again);
            lost = MIN(lost, left_between(analysis, members, places, way, from, to));
            if (lost > 0) {
                place(places, way, from, to, lost);
                left -= lost;
            }
        }
    }
    if (index_of(way, stream) < way->len) {
        place_rest(analysis, members, places, way, index_of(way, stream));
    }
    mark_behind(places, way, stream);
    return places;
}

gboolean
rs_loss_all_came(const rs_analysis *analysis, const rs_summary *summary, guint32 stream,
                 guint32 *last)
{
    guint32 standing = rs_summary_group(summary, stream);
    const GArray *members = rs_summary_members(summary, standing);
    if (members == NULL) {
        return FALSE;
    }
    g_autoptr(GArray) places = rs_loss_places(analysis, summary, standing);
    g_autoptr(GArray) way = way_of(analysis, members);
    guint stands_at = index_of(way, stream);
    if (stands_at + 1 >= way->len || !knows_twins(analysis, way)) {
        return FALSE;
    }
    *last = at(way, way->len - 1)->stream->id;
    return left_between(analysis, members, places, way, stands_at, way->len - 1) == 0;
}

guint64
rs_loss_came_late(const rs_analysis *analysis, const rs_summary *summary,
                  guint32 stream, guint32 *at_stream)
{
    const GArray *members = rs_summary_members(summary, stream);
    guint64 most = 0;
    for (guint i = 0; members != NULL && i < members->len; i++) {
        guint32 id = g_array_index(members, guint32, i);
        const roce_stream_trouble *trouble =
            roce_stream_trouble_of(roce_tracker_stream(analysis->tracker, id));
        guint64 late = trouble->disorder[ROCE_SPACE_REQUESTS].reordered +
                       trouble->disorder[ROCE_SPACE_RESPONSES].reordered;
        if (id != stream && late > most) {
            most = late;
            *at_stream = id;
        }
    }
    return most;
}

/* ---- counting ---- */

/* Whether some point tells of a loss that another one may know more about. */
static gboolean
is_any_lost(const rs_analysis *analysis, const GArray *members)
{
    guint64 n = 0;
    for (guint i = 0; i < members->len; i++) {
        const roce_stream *s =
            roce_tracker_stream(analysis->tracker, g_array_index(members, guint32, i));
        n += rs_verdicts_of(s, ROCE_VERDICT_LOST_BEFORE_CAPTURE) +
             rs_verdicts_of(s, ROCE_VERDICT_UNDELIVERED_AFTER_CAPTURE) +
             rs_verdicts_of(s, ROCE_VERDICT_DATA_OR_ACK_LOST);
    }
    return n > 0;
}

/* So many packets of those that are taken to be undelivered were not lost.  What came to the
 * last point and is undelivered there as well may be lost behind that. */
static guint64
came_after_all(const rs_analysis *analysis, const rs_summary *summary, guint32 stream,
               guint64 unplaced)
{
    guint32 other;
    if (rs_loss_all_came(analysis, summary, stream, &other)) {
        const roce_stream *last = roce_tracker_stream(analysis->tracker, other);
        guint64 behind = rs_verdicts_of(last, ROCE_VERDICT_UNDELIVERED_AFTER_CAPTURE);
        return unplaced - MIN(unplaced, behind);
    }
    return 0;
}

/* Requests and responses that came by, but for the network's copies. */
static guint64
came_by(const roce_stream *s)
{
    guint64 n = 0;
    for (guint space = 0; space < ROCE_N_SPACES; space++) {
        guint64 copies = roce_stream_trouble_of(s)->disorder[space].duplicates;
        n += s->space[space].packets - MIN(s->space[space].packets, copies);
    }
    return n;
}

/* No more can have been lost between two points, where those that are sent again are like the
 * first ones, so that it is not known of each whether it came. */
static guint64
most_lost(const rs_analysis *analysis, const roce_stream *here,
          const roce_stream *there)
{
    const rs_twins *twins = analysis->twins;
    if (twins != NULL && rs_twins_complete(twins) &&
        rs_twins_repeats(twins, here->id) == 0) {
        return G_MAXUINT64; /* places go by that */
    }
    guint64 came = came_by(there);
    return came_by(here) - MIN(came_by(here), came);
}

static guint64
responses_lost_before(const roce_stream *s)
{
    return roce_stream_trouble_of(s)
        ->losses[ROCE_SPACE_RESPONSES][ROCE_VERDICT_LOST_BEFORE_CAPTURE];
}

/* So many were undelivered from here on to there, more or fewer than was thought: responses
 * as many as were missed there and not here, and requests. */
static void
set_undelivered(rs_counters *c, const roce_stream *here, const roce_stream *there,
                guint64 n)
{
    guint64 *requests =
        &c->losses[ROCE_SPACE_REQUESTS][ROCE_VERDICT_UNDELIVERED_AFTER_CAPTURE];
    guint64 *responses =
        &c->losses[ROCE_SPACE_RESPONSES][ROCE_VERDICT_UNDELIVERED_AFTER_CAPTURE];
    guint64 missed = responses_lost_before(there);
    missed -= MIN(missed, responses_lost_before(here));
    *responses = MIN(n, MAX(*responses, missed));
    *requests = n - *responses;
}

/* So many rounds, of which nothing was heard and that are of an unknown cause here, began with
 * a packet that did not come there. */
static guint64
explained(const roce_stream *here, const roce_stream *there)
{
    guint64 unknown = rs_verdicts_of(here, ROCE_VERDICT_UNKNOWN);
    return roce_stream_is_paired(here)
               ? 0
               : unknown - MIN(unknown, rs_verdicts_of(there, ROCE_VERDICT_UNKNOWN));
}

void
rs_loss_count_known(const rs_analysis *analysis, const rs_summary *summary,
                    guint32 stream, rs_counters *c)
{
    const roce_stream *s = roce_tracker_stream(analysis->tracker, stream);
    const GArray *members = rs_summary_members(summary, stream);
    if (members == NULL || !roce_stream_is_reliable(s) ||
        !is_any_lost(analysis, members)) {
        return;
    }
    g_autoptr(GArray) places = rs_loss_places(analysis, summary, stream);
    const roce_stream *last = s;
    guint64 known = 0;
    for (guint i = 0; i < places->len; i++) {
        const rs_loss_place *one = &g_array_index(places, rs_loss_place, i);
        if (one->behind) {
            known += one->lost;
            last = roce_tracker_stream(analysis->tracker, one->to);
        }
    }
    guint64 undelivered = rs_verdicts_of(s, ROCE_VERDICT_UNDELIVERED_AFTER_CAPTURE);
    known = MIN(known, MAX(undelivered, most_lost(analysis, s, last)));
    if (known >= undelivered) {
        guint64 *either =
            &c->losses[ROCE_SPACE_REQUESTS][ROCE_VERDICT_DATA_OR_ACK_LOST];
        *either -= MIN(*either, known - undelivered);
        guint64 *unknown = &c->losses[ROCE_SPACE_REQUESTS][ROCE_VERDICT_UNKNOWN];
        *unknown -= MIN(*unknown, MIN(known, explained(s, last)));
        set_undelivered(c, s, last, known);
    } else {
        guint64 came = came_after_all(analysis, summary, stream, undelivered - known);
        set_undelivered(c, s, last, undelivered - came);
    }
}
