/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What pauses have to do with what was lost or waited for.
 *
 * A packet that waits in a switch for longer than the ACK timeout is sent again, and comes all
 * the same; one that waits for longer than a watchdog does is dropped.  Both look like loss to
 * whoever sees neither the pause nor the way behind it.
 *
 * The one rule: a pause explains a silence if it held the stream itself, for half of that
 * silence or more by one clock, and what timers waited for in all is no more than twice that;
 * and losses, if they lie in front of the paused link, and all of them were missed and told
 * between the time at which a watchdog would have fired and the end of the pause, or soon after
 * that.
 */
#include "findings_held.h"

#include "format.h"
#include "loss_places.h"
#include "thresholds.h"

#define MOST_SHARE 2              /* half */
#define TOLD_WITHIN_NS 1000000000 /* a loss, by timers as they usually are */

static const rs_holds *
holds_of(const rs_findings *all, guint32 pause)
{
    return &rs_pause_watch_of(all, pause)->holds;
}

/* The source that held a stream there for the longest; ROCE_NO_PAUSE: none did. */
static guint32
holder_of(const rs_findings *all, guint32 stream)
{
    gpointer found = g_hash_table_lookup(all->holders, GUINT_TO_POINTER(stream));
    return found != NULL ? GPOINTER_TO_UINT(found) - 1 : ROCE_NO_PAUSE;
}

/* The same of those that held it where it came to its point, in front of which all was missed that
 * was missed there. */
static guint32
first_holder_of(const rs_findings *all, guint32 stream)
{
    gpointer found = g_hash_table_lookup(all->first_holders, GUINT_TO_POINTER(stream));
    return found != NULL ? GPOINTER_TO_UINT(found) - 1 : ROCE_NO_PAUSE;
}

static void
add_holder(const rs_findings *all, GHashTable *holders, guint32 stream, guint32 pause)
{
    gpointer key = GUINT_TO_POINTER(stream);
    gpointer found = g_hash_table_lookup(holders, key);
    if (found == NULL || holds_of(all, pause)->longest_ns >
                             holds_of(all, GPOINTER_TO_UINT(found) - 1)->longest_ns) {
        g_hash_table_insert(holders, key, GUINT_TO_POINTER(pause + 1));
    }
}

GHashTable *
rs_findings_holders(const rs_findings *all, rs_held_where where)
{
    GHashTable *holders = g_hash_table_new(NULL, NULL);
    for (guint32 i = 0; i < roce_tracker_n_pauses(all->analysis->tracker); i++) {
        const rs_pause_watch *watch = rs_pause_watch_of(all, i);
        if (watch->holds.longest_ns == 0 ||
            !rs_pausing_is_one_port(all->analysis->watchers.pausing, i)) {
            continue;
        }
        for (guint k = 0; k < watch->passages->len; k++) {
            const rs_passage *passage = g_ptr_array_index(watch->passages, k);
            if (where == RS_HELD_ANYWHERE || passage->is_first) {
                add_holder(all, holders, passage->stream, i);
            }
        }
    }
    return holders;
}

/* "the NIC of ..." is told where pauses are; here who pauses is enough. */
static char *
place_of(const rs_findings *all, guint32 pause)
{
    g_autofree char *who = rs_pause_who(all, pause);
    g_autofree char *what = rs_pause_what(all, pause);
    return g_strdup_printf("%s paused %s", who, what);
}

/* ---- what was late ---- */

/* For how long the longest pause of a source lay in a time. */
static guint64
overlap_ns(const rs_holds *holds, guint64 from_ns, guint64 until_ns)
{
    guint64 begin = MAX(holds->longest_start_ns, from_ns);
    guint64 end = MIN(holds->longest_start_ns + holds->longest_ns, until_ns);
    return end > begin ? end - begin : 0;
}

/* The source that held a stream, at its own or at another point, for most of a silence. */
static guint32
holder_in(const rs_findings *all, guint32 stream, guint64 from_ns, guint64 until_ns,
          guint64 *held_ns)
{
    const roce_tracker *tracker = all->analysis->tracker;
    const GArray *members = rs_summary_members_with(all->summary, stream);
    const guint32 point = roce_tracker_stream(tracker, stream)->point;
    guint32 best = ROCE_NO_PAUSE;
    *held_ns = 0;
    for (guint i = 0; i < (members != NULL ? members->len : 1); i++) {
        guint32 id = members != NULL ? g_array_index(members, guint32, i) : stream;
        guint32 pause =
            rs_analysis_share_file(all->analysis,
                                   roce_tracker_stream(tracker, id)->point, point)
                ? holder_of(all, id)
                : ROCE_NO_PAUSE;
        guint64 its = pause != ROCE_NO_PAUSE
                          ? overlap_ns(holds_of(all, pause), from_ns, until_ns)
                          : 0;
        if (its > *held_ns) {
            *held_ns = its;
            best = pause;
        }
    }
    return *held_ns * MOST_SHARE >= until_ns - from_ns ? best : ROCE_NO_PAUSE;
}

/* The same, of what a stream sent or of what answers it. */
static rs_hold_up
hold_up_of(const rs_findings *all, guint32 stream, const rs_stall *stall)
{
    const roce_stream *s = roce_tracker_stream(all->analysis->tracker, stream);
    guint64 from_ns = stall->longest_until_ns - stall->longest_ns;
    rs_hold_up found = {.silence_ns = stall->longest_ns};
    found.pause =
        holder_in(all, stream, from_ns, stall->longest_until_ns, &found.held_ns);
    if (found.pause == ROCE_NO_PAUSE && s->peer != ROCE_NO_STREAM) {
        found.pause =
            holder_in(all, s->peer, from_ns, stall->longest_until_ns, &found.held_ns);
    }
    return found;
}

gboolean
rs_flow_was_held(const rs_flow *flow, rs_hold_up *most)
{
    const rs_stalls *stalls = flow->all->analysis->watchers.stalls;
    guint64 all_ns = 0;
    *most = (rs_hold_up){.pause = ROCE_NO_PAUSE};
    for (guint i = 0; i < flow->streams->len; i++) {
        guint32 id = g_array_index(flow->streams, guint32, i);
        const rs_stall *stall = rs_stalls_of(stalls, id);
        all_ns += stall != NULL ? stall->sum_ns : 0;
        if (stall != NULL && stall->longest_ns > most->silence_ns) {
            *most = hold_up_of(flow->all, id, stall);
        }
    }
    return most->pause != ROCE_NO_PAUSE && most->silence_ns * MOST_SHARE >= all_ns;
}

char *
rs_hold_up_words(const rs_findings *all, const rs_hold_up *hold_up)
{
    g_autofree char *where = place_of(all, hold_up->pause);
    g_autofree char *held = rs_format_duration(hold_up->held_ns, 0);
    g_autofree char *silence = rs_format_duration(hold_up->silence_ns, 0);
    return g_strdup_printf("%s for %s of the longest silence, %s", where, held,
                           silence);
}

static void
append(rs_finding *f, const char *words)
{
    g_autofree char *before = g_steal_pointer(&f->detail);
    f->detail = g_strconcat(before, "  ", words, NULL);
}

void
rs_flow_tell_pause(const rs_flow *flow, rs_finding *f)
{
    rs_hold_up held;
    guint64 fired_ns;
    if (!rs_flow_was_held(flow, &held)) {
        return;
    }
    g_autofree char *words = rs_hold_up_words(flow->all, &held);
    g_autofree char *text =
        g_strdup_printf("%s%s.", words,
                        rs_pause_would_fire(flow->all, held.pause, &fired_ns)
                            ? ": a pause watchdog of the port that it stops drops what "
                              "waits there"
                            : "");
    append(f, text);
}

/* ---- what a watchdog may have dropped ---- */

/* Whether all that was missed of a stream was missed from then on, and told until its pauses
 * were over, or soon after. */
static gboolean
were_lost_in(const rs_findings *all, guint32 stream, guint32 pause, guint64 from_ns)
{
    return rs_stretches_lie_within(all->analysis->watchers.stretches, stream, from_ns,
                                   holds_of(all, pause)->end_ns + TOLD_WITHIN_NS);
}

/* Whether a watchdog would have fired at the link at which a stream was paused before anything
 * of it was missed there. */
static gboolean
may_be_dropped(const rs_findings *all, guint32 stream, guint32 pause)
{
    guint64 fired_ns;
    return pause != ROCE_NO_PAUSE && rs_pause_would_fire(all, pause, &fired_ns) &&
           were_lost_in(all, stream, pause, fired_ns);
}

guint64
rs_pause_dropped(const rs_findings *all, guint32 pause)
{
    const GPtrArray *passages = rs_pause_watch_of(all, pause)->passages;
    g_autoptr(GHashTable) seen = g_hash_table_new(NULL, NULL);
    guint64 n = 0;
    for (guint i = 0; i < passages->len; i++) {
        const rs_passage *passage = g_ptr_array_index(passages, i);
        /* What was missed was missed in front of all its passages. */
        if (passage->is_first &&
            g_hash_table_add(seen, GUINT_TO_POINTER(passage->stream)) &&
            may_be_dropped(all, passage->stream, pause)) {
            n += rs_flow_verdicts(
                roce_tracker_stream(all->analysis->tracker, passage->stream),
                ROCE_VERDICT_LOST_BEFORE_CAPTURE);
        }
    }
    return n;
}

/* What was missed of a stream in front of a paused link: of the places that are known, else
 * before its point. */
static guint64
dropped_of(const rs_findings *all, guint32 stream, guint32 *by)
{
    guint32 standing = rs_summary_group(all->summary, stream);
    g_autoptr(GArray) places = rs_loss_places(all->analysis, all->summary, standing);
    const roce_stream *s = roce_tracker_stream(all->analysis->tracker, stream);
    guint64 n = 0;
    for (guint i = 0; i < places->len; i++) {
        const rs_loss_place *place = &g_array_index(places, rs_loss_place, i);
        guint32 pause = first_holder_of(all, place->to);
        if (may_be_dropped(all, place->to, pause)) {
            *by = pause;
            n += place->lost;
        }
    }
    if (places->len == 0 && may_be_dropped(all, stream, first_holder_of(all, stream))) {
        *by = first_holder_of(all, stream);
        n = rs_flow_verdicts(s, ROCE_VERDICT_LOST_BEFORE_CAPTURE);
    }
    return n;
}

/* What is counted of all streams that one source of pauses explains: `by`, that of the first of
 * them; ROCE_NO_PAUSE: nobody. */
static guint64
dropped_of_all(const rs_flow *flow, guint32 *by)
{
    guint64 n = 0;
    *by = ROCE_NO_PAUSE;
    for (guint i = 0; i < flow->streams->len; i++) {
        guint32 own = ROCE_NO_PAUSE;
        guint64 its =
            dropped_of(flow->all, g_array_index(flow->streams, guint32, i), &own);
        if (its > 0 && (*by == ROCE_NO_PAUSE || *by == own)) {
            *by = own;
            n += its;
        }
    }
    return n;
}

void
rs_flow_tell_watchdog(const rs_flow *flow, rs_finding *f, guint64 lost)
{
    guint32 by;
    guint64 n = dropped_of_all(flow, &by);
    if (n == 0) {
        return;
    }
    g_autofree char *packets = rs_format_count(MIN(n, lost));
    g_autofree char *where = place_of(flow->all, by);
    g_autofree char *length =
        rs_format_duration(holds_of(flow->all, by)->longest_ns, 0);
    g_autofree char *text = g_strdup_printf(
        "%s of them had to leave by a port that was paused for too long: %s for %s "
        "without a gap.  A pause watchdog of that port drops what waits there.",
        packets, where, length);
    append(f, text);
    g_free(f->advice);
    f->advice = g_strdup("See whether the pause watchdog of the port that was paused "
                         "dropped them; if so, what to look at is why the other end of "
                         "its link paused for so long.");
}

/* ---- what came although it was paused ---- */

/* The source whose pauses packets of a stream came in spite of, there; ROCE_NO_PAUSE: none. */
static guint32
ignored_there(const rs_findings *all, guint32 stream)
{
    guint32 pause = holder_of(all, stream);
    return pause != ROCE_NO_PAUSE &&
                   rs_pause_watch_of(all, pause)->late.total >= RS_IGNORED_PACKETS
               ? pause
               : ROCE_NO_PAUSE;
}

void
rs_flow_tell_ignored(const rs_flow *flow, rs_finding *f, guint64 lost)
{
    const rs_findings *all = flow->all;
    guint64 n = 0;
    guint32 by = ROCE_NO_PAUSE;
    for (guint i = 0; i < flow->streams->len; i++) {
        guint32 id =
            rs_summary_group(all->summary, g_array_index(flow->streams, guint32, i));
        g_autoptr(GArray) places = rs_loss_places(all->analysis, all->summary, id);
        for (guint k = 0; k < places->len; k++) {
            const rs_loss_place *place = &g_array_index(places, rs_loss_place, k);
            guint32 pause =
                place->behind ? ignored_there(all, place->from) : ROCE_NO_PAUSE;
            if (pause != ROCE_NO_PAUSE &&
                were_lost_in(all, place->to, pause,
                             holds_of(all, pause)->longest_start_ns)) {
                by = by == ROCE_NO_PAUSE ? pause : by;
                n += place->lost;
            }
        }
    }
    if (n == 0) {
        return;
    }
    g_autofree char *packets = rs_format_count(MIN(n, lost));
    g_autofree char *where = place_of(all, by);
    g_autofree char *text = g_strdup_printf(
        "%s of them had come in by a link that its far end had paused, as %s, and was "
        "sent to all the same: what there is no headroom for is dropped.",
        packets, where);
    append(f, text);
    g_free(f->advice);
    f->advice = g_strdup("See first why what is paused is sent all the same, of which "
                         "pause_ignored tells: PFC is off at the sending port, or both "
                         "ends map this traffic to different priorities.");
}
