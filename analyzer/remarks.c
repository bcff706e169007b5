/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "remarks.h"

#include "sorting.h"
#include "withdrawn.h"

#include "roce/sentence.h"

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
    GHashTable *withdrawn; /* see rs_withdrawn_of() */
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
    remarks->withdrawn = rs_withdrawn_of(trace);
    for (guint64 i = 0; i < rs_trace_n_events(trace); i++) {
        const roce_event *event = rs_trace_event(trace, i);
        add_note(remarks, event->frame, i, FALSE);
        if (links[event->kind].seen_in != NULL &&
            event->related_frame != event->frame) {
            add_note(remarks, event->related_frame, i, TRUE);
        }
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
append_seen(const roce_event *event, const char *sentence, gboolean taken_back,
            GString *text)
{
    const char *related = links[event->kind].related;
    g_string_append_printf(text, "\n%s", sentence);
    if (related != NULL && event->related_frame != 0) {
        g_string_append_printf(text, ", %s %" G_GUINT64_FORMAT, related,
                               event->related_frame);
    }
    if (taken_back) {
        g_string_append(text, "; taken back later");
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
    gboolean taken_back = g_hash_table_contains(remarks->withdrawn, &n->event_i);
    if (!n->is_related) {
        append_seen(event, sentence, taken_back, text);
    } else if (!taken_back) {
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
