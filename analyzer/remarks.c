/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "remarks.h"

#include "sorting.h"

#include "roce/sentence.h"

/* A verdict that turned out to be wrong is not repeated on the packet that it was about;
 * where it was told, so was its end. */
typedef struct verdict_key {
    gint64 psn;
    guint32 stream;
    guint8 space, detail;
} verdict_key;

/* Something to be said of a frame. */
typedef struct note {
    guint64 frame;
    guint64 event_i;
    gboolean is_related; /* the event was seen elsewhere, and is about this frame */
} note;

struct rs_remarks {
    const rs_report *report;
    const rs_trace *trace;
    GArray *notes;         /* note, by frame and event */
    GHashTable *withdrawn; /* guint64: event_i of verdicts that were */
};

/* How the frame that an event is about is told on the frame where it was seen, and the
 * other way round.  NULL: it is not. */
static const struct {
    const char *related;
    const char *seen_in;
} links[ROCE_N_EVENTS] = {
    [ROCE_EVENT_GAP] = {"behind frame", NULL},
    [ROCE_EVENT_LATE] = {"passed by frame", NULL},
    [ROCE_EVENT_DUPLICATE] = {"of frame", "Duplicated in frame"},
    [ROCE_EVENT_RETRANSMISSION] = {"of frame", "Sent again in frame"},
    [ROCE_EVENT_ROUND] = {"answers the NAK in frame",
                          "Answered by the retransmission in frame"},
    [ROCE_EVENT_SPURIOUS_ROUND] = {"the round began in frame",
                                   "Shown to be spurious by frame"},
    [ROCE_EVENT_NAK] = {"provoked by frame", "NAK in frame"},
    [ROCE_EVENT_RNR_NAK] = {"of the request in frame",
                            "Refused by the RNR NAK in frame"},
    [ROCE_EVENT_RNR_WAIT] = {"which is frame", "Request sent again in frame"},
    [ROCE_EVENT_RESPONSE_RESENT] = {"of frame", "Response sent again in frame"},
    [ROCE_EVENT_LOSS] = {"the packet is frame", "Told by frame"},
    [ROCE_EVENT_CE_EPISODE] = {"the first is frame",
                               "CE episode known to end in frame"},
    [ROCE_EVENT_CNP] = {"answers the mark on frame", "CNP in frame"},
    [ROCE_EVENT_PAUSE_REFRESH] = {"since frame", NULL},
    [ROCE_EVENT_PAUSE_XON] = {"since frame", "Told by frame"},
    [ROCE_EVENT_PAUSE_EXPIRED] = {NULL, "Told by the clock"},
};

/* ---- Collecting ---- */

static guint
verdict_hash(gconstpointer data)
{
    const verdict_key *key = data;
    return (guint)key->psn * 2654435761u ^ key->stream * 40503u ^
           (guint)(key->space << 8 | key->detail);
}

static gboolean
verdict_equal(gconstpointer a, gconstpointer b)
{
    const verdict_key *x = a;
    const verdict_key *y = b;
    return x->psn == y->psn && x->stream == y->stream && x->space == y->space &&
           x->detail == y->detail;
}

static gboolean
is_chosen(const rs_trace *trace, guint64 frame)
{
    return frame != 0 && frame <= rs_trace_last_frame(trace) &&
           (rs_trace_at(trace, frame)->flags & RS_TRACE_CHOSEN) != 0;
}

static void
add_note(rs_remarks *remarks, guint64 frame, guint64 event_i, gboolean is_related)
{
    if (is_chosen(remarks->trace, frame)) {
        const note added = {frame, event_i, is_related};
        g_array_append_val(remarks->notes, added);
    }
}

/* Keeps in mind the verdicts about chosen frames, and which of them do not hold. */
static void
follow_verdict(rs_remarks *remarks, GHashTable *verdicts, guint64 event_i)
{
    const roce_event *event = rs_trace_event(remarks->trace, event_i);
    const verdict_key key = {event->psn, event->stream, (guint8)event->space,
                             event->detail};
    if (event->kind == ROCE_EVENT_LOSS &&
        is_chosen(remarks->trace, event->related_frame)) {
        g_hash_table_replace(verdicts, g_memdup2(&key, sizeof key),
                             g_memdup2(&event_i, sizeof event_i));
    } else if (event->kind == ROCE_EVENT_LOSS_WITHDRAWN) {
        const guint64 *wrong = g_hash_table_lookup(verdicts, &key);
        if (wrong != NULL) {
            (void)g_hash_table_add(remarks->withdrawn, g_memdup2(wrong, sizeof *wrong));
        }
    }
}

static gint
by_frame(gconstpointer a, gconstpointer b)
{
    const note *x = a;
    const note *y = b;
    gint order = rs_by_number(x->frame, y->frame);
    return order != 0 ? order : rs_by_number(x->event_i, y->event_i);
}

rs_remarks *
rs_remarks_new(const rs_report *report, const rs_trace *trace)
{
    rs_remarks *remarks = g_new0(rs_remarks, 1);
    remarks->report = report;
    remarks->trace = trace;
    remarks->notes = g_array_new(FALSE, FALSE, sizeof(note));
    remarks->withdrawn =
        g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
    g_autoptr(GHashTable) verdicts =
        g_hash_table_new_full(verdict_hash, verdict_equal, g_free, g_free);
    for (guint64 i = 0; i < rs_trace_n_events(trace); i++) {
        const roce_event *event = rs_trace_event(trace, i);
        add_note(remarks, event->frame, i, FALSE);
        if (links[event->kind].seen_in != NULL &&
            event->related_frame != event->frame) {
            add_note(remarks, event->related_frame, i, TRUE);
        }
        follow_verdict(remarks, verdicts, i);
    }
    g_array_sort(remarks->notes, by_frame);
    return remarks;
}

void
rs_remarks_free(rs_remarks *remarks)
{
    if (remarks == NULL) {
        return;
    }
    g_array_unref(remarks->notes);
    g_hash_table_unref(remarks->withdrawn);
    g_free(remarks);
}

/* ---- Saying ---- */

static void
append_belonging(const rs_remarks *remarks, const rs_trace_row *row, GString *text)
{
    if ((row->flags & RS_TRACE_SECOND_COPY) != 0) {
        g_string_append(text, "second copy by the mirror");
        return;
    }
    if (row->stream == ROCE_NO_STREAM) {
        g_string_append(text, "of no stream");
        return;
    }
    g_string_append_printf(text, "stream %u", row->stream);
    guint32 link =
        g_array_index(remarks->report->summary->link_of, guint32, row->stream);
    if (link != G_MAXUINT32) {
        g_string_append_printf(text, ", connection %u", link);
    }
}

/* "Retransmission (nak sequence), of frame 17" */
static void
append_seen(const roce_event *event, const char *sentence, GString *text)
{
    const char *related = links[event->kind].related;
    g_string_append_printf(text, "\n%s", sentence);
    if (related != NULL && event->related_frame != 0) {
        g_string_append_printf(text, ", %s %" G_GUINT64_FORMAT, related,
                               event->related_frame);
    }
}

/* "Sent again in frame 40"; a verdict and the end of a pause are repeated. */
static void
append_related(const roce_event *event, const char *sentence, GString *text)
{
    const gboolean repeated = event->kind == ROCE_EVENT_LOSS ||
                              event->kind == ROCE_EVENT_PAUSE_XON ||
                              event->kind == ROCE_EVENT_PAUSE_EXPIRED;
    if (repeated) {
        g_string_append_printf(text, "\n%s", sentence);
    }
    if (event->frame != 0) {
        g_string_append_printf(text, "%s%s %" G_GUINT64_FORMAT, repeated ? ". " : "\n",
                               links[event->kind].seen_in, event->frame);
    }
}

static void
append_note(const rs_remarks *remarks, const note *n, guint32 carrier, GString *text)
{
    char sentence[ROCE_SENTENCE_BYTES];
    const roce_event *event = rs_trace_event(remarks->trace, n->event_i);
    (void)roce_event_sentence(event, carrier, sentence, sizeof sentence);
    if (!n->is_related) {
        append_seen(event, sentence, text);
    } else if (!g_hash_table_contains(remarks->withdrawn, &n->event_i)) {
        append_related(event, sentence, text);
    }
}

/* The first note about a frame, or where it would stand. */
static guint
find_note(const rs_remarks *remarks, guint64 frame)
{
    guint first = 0;
    for (guint last = remarks->notes->len; first < last;) {
        guint middle = first + (last - first) / 2;
        if (g_array_index(remarks->notes, note, middle).frame < frame) {
            first = middle + 1;
        } else {
            last = middle;
        }
    }
    return first;
}

void
rs_remarks_append(const rs_remarks *remarks, guint64 frame, GString *text)
{
    const rs_trace_row *row = rs_trace_at(remarks->trace, frame);
    append_belonging(remarks, row, text);
    for (guint i = find_note(remarks, frame); i < remarks->notes->len; i++) {
        const note *n = &g_array_index(remarks->notes, note, i);
        if (n->frame != frame) {
            return;
        }
        append_note(remarks, n, row->stream, text);
    }
}
