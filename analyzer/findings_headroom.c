/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "findings_headroom.h"

#include "findings_pause.h"
#include "format.h"
#include "thresholds.h"

#define MOST_SHARE 2 /* half */

/* Of all streams that one source of pauses may have stopped. */
typedef struct headroom {
    guint32 pause;
    rs_spilled spilled;
    double by_chance; /* so many of them would have come behind an XOFF, on average */
} headroom;

struct rs_headrooms {
    GArray *ports;  /* headroom */
    guint32 newest; /* the stream at the first point of the newest place */
};

rs_headrooms *
rs_headrooms_new(void)
{
    rs_headrooms *headrooms = g_new(rs_headrooms, 1);
    headrooms->ports = g_array_new(FALSE, TRUE, sizeof(headroom));
    headrooms->newest = ROCE_NO_STREAM;
    return headrooms;
}

void
rs_headrooms_free(rs_headrooms *headrooms)
{
    if (headrooms != NULL) {
        g_array_unref(headrooms->ports);
        g_free(headrooms);
    }
}

static headroom *
headroom_of(GArray *headrooms, guint32 pause)
{
    for (guint i = 0; i < headrooms->len; i++) {
        if (g_array_index(headrooms, headroom, i).pause == pause) {
            return &g_array_index(headrooms, headroom, i);
        }
    }
    const headroom fresh = {.pause = pause};
    g_array_append_val(headrooms, fresh);
    return &g_array_index(headrooms, headroom, headrooms->len - 1);
}

/* Of `n` packets `came` did so behind an XOFF. */
static void
add(rs_headrooms *headrooms, guint32 pause, const rs_spilled *spilled, guint64 came,
    guint64 n)
{
    if (spilled->lost == 0 || n == 0) {
        return;
    }
    headroom *of = headroom_of(headrooms->ports, pause);
    of->spilled.lost += spilled->lost;
    of->spilled.behind += MIN(spilled->behind, spilled->lost);
    of->by_chance += (double)spilled->lost * (double)came / (double)n;
}

/* What came of a stream behind the XOFFs of a port that is known to obey them; NULL: nothing. */
static const rs_spill *
spill_of(const rs_findings *all, const roce_stream *s)
{
    const rs_pausing *pausing = all->analysis->watchers.pausing;
    const rs_spill *spill = rs_spills_of(rs_pausing_spills(pausing), s->id);
    return spill != NULL && !s->partial_path &&
                   rs_pausing_is_one_port(pausing, spill->pause) &&
                   rs_pause_watch_of(all, spill->pause)->late.total < RS_IGNORED_PACKETS
               ? spill
               : NULL;
}

/* What a stream lost behind its point, by the word of that point. */
static void
add_behind(rs_headrooms *headrooms, const rs_findings *all, const roce_stream *s)
{
    const rs_spill *spill = spill_of(all, s);
    if (spill != NULL) {
        guint64 lost = rs_flow_verdicts(s, ROCE_VERDICT_UNDELIVERED_AFTER_CAPTURE);
        const rs_spilled spilled = {MIN(spill->lost, lost), spill->undelivered};
        add(headrooms, spill->pause, &spilled, spill->came, spill->n);
    }
}

/* Whether all that a stream lost behind the first point of a place was lost there, as far as the
 * second one tells. */
static gboolean
is_last(const rs_findings *all, const rs_loss_place *place)
{
    const roce_stream *s = roce_tracker_stream(all->analysis->tracker, place->to);
    return rs_flow_verdicts(s, ROCE_VERDICT_UNDELIVERED_AFTER_CAPTURE) == 0;
}

/* Of packets that were lost one behind the other the first point tells of the first alone, and
 * the second one tells of first copies alone: by the word of the one that tells of more. */
void
rs_headrooms_add(rs_headrooms *headrooms, const rs_findings *all,
                 const rs_loss_place *place)
{
    const roce_stream *s = roce_tracker_stream(all->analysis->tracker, place->from);
    const rs_spill *spill = spill_of(all, s);
    if (spill == NULL || headrooms->newest == s->id) {
        return; /* a place may be told twice, as NAKs and as timeouts tell of it */
    }
    headrooms->newest = s->id;
    const rs_spilled spilled = rs_spills_lost_before(
        rs_pausing_spills(all->analysis->watchers.pausing), place->from, place->to);
    if (spilled.lost > spill->lost || !is_last(all, place)) {
        add(headrooms, spill->pause, &spilled, spill->came_first, spill->n_first);
    } else {
        add_behind(headrooms, all, s);
    }
}

/* What ports lost that is no chance; `most` is the one with most, `known` all that it is known
 * of when it came.  NULL: there is none. */
static const headroom *
sum_up(const rs_headrooms *headrooms, rs_spilled *sum, guint64 *known)
{
    const headroom *most = NULL;
    *known = 0;
    for (guint i = 0; i < headrooms->ports->len; i++) {
        const headroom *of = &g_array_index(headrooms->ports, headroom, i);
        const rs_spilled *spilled = &of->spilled;
        *known += spilled->lost;
        if (rs_spills_is_no_chance(spilled->behind, spilled->lost, of->by_chance)) {
            sum->lost += spilled->lost;
            sum->behind += spilled->behind;
            most = most == NULL || spilled->behind > most->spilled.behind ? of : most;
        }
    }
    return most;
}

/* "12 of them", "all 12 of which it is known when they came"; g_free(). */
static char *
words_of(guint64 n, guint64 known, guint64 lost)
{
    g_autofree char *packets = rs_format_count(n);
    g_autofree char *all = rs_format_count(known);
    return known >= lost ? g_strdup_printf("%s of them", packets)
           : n == known
               ? g_strdup_printf("All %s of which it is known when they came", packets)
               : g_strdup_printf("%s of the %s of which it is known when they came",
                                 packets, all);
}

void
rs_headrooms_tell(const rs_headrooms *headrooms, const rs_findings *all, rs_finding *f,
                  guint64 lost)
{
    rs_spilled sum = {0};
    guint64 known;
    const headroom *most = sum_up(headrooms, &sum, &known);
    if (most == NULL) {
        return;
    }
    g_autofree char *packets = words_of(MIN(sum.behind, lost), known, lost);
    g_autofree char *who = rs_pause_who(all, most->pause);
    g_autofree char *what = rs_pause_what(all, most->pause);
    g_autofree char *before = g_steal_pointer(&f->detail);
    f->detail = g_strdup_printf(
        "%s  %s had come to a port right behind its XOFF, as %s paused %s, far more "
        "than "
        "come so by chance: what is on its way by then has to find room above the "
        "threshold at which it pauses (headroom).",
        before, packets, who, what);
    if (MOST_SHARE * sum.behind >= MIN(known, lost)) {
        g_free(f->advice);
        f->advice =
            g_strdup("See first whether the headroom of the port that paused is "
                     "too small for this link (its speed, length and MTU): its "
                     "drops in this priority, and the watermark of its headroom.");
    }
}

static void
add_places(rs_headrooms *headrooms, const rs_findings *all, guint32 stream,
           rs_side side)
{
    guint32 standing = rs_summary_group(all->summary, stream);
    g_autoptr(GArray) places = rs_loss_places(all->analysis, all->summary, standing);
    for (guint i = 0; i < places->len; i++) {
        const rs_loss_place *place = &g_array_index(places, rs_loss_place, i);
        if (place->behind == (side == RS_SIDE_BEHIND)) {
            rs_headrooms_add(headrooms, all, place);
        }
    }
    if (places->len == 0 && side == RS_SIDE_BEHIND) {
        add_behind(headrooms, all, roce_tracker_stream(all->analysis->tracker, stream));
    }
}

void
rs_flow_tell_headroom(const rs_flow *flow, rs_finding *f, rs_side side, guint64 lost)
{
    g_autoptr(rs_headrooms) headrooms = rs_headrooms_new();
    for (guint i = 0; i < flow->streams->len; i++) {
        add_places(headrooms, flow->all, g_array_index(flow->streams, guint32, i),
                   side);
    }
    rs_headrooms_tell(headrooms, flow->all, f, lost);
}
