/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "stretches.h"

#define GAPS 16 /* of a stream that are remembered until what they lack is told of */

typedef struct gap {
    roce_space space;
    gint64 psn;
    guint64 n_psns, time_ns;
} gap;

/* Of one stream. */
typedef struct losses {
    rs_stretch_sum sum;
    guint64 first_ns; /* the first was missed, */
    guint64 last_ns;  /* and the last was told */
    GArray *gaps;     /* the newest GAPS of them; NULL: none yet */
    guint oldest_gap; /* among them, once there are as many */
    guint64
        forgotten_ns; /* the first that is not among them opened; 0: there is none */
    gboolean taken_back, of_requests;
    struct {
        gint64 next; /* PSN that goes on with it */
        guint64 length;
    } newest[ROCE_N_SPACES];
} losses;

struct rs_stretches {
    GHashTable *streams; /* id -> losses: the tracker's table of streams has a cap */
};

static void
free_losses(gpointer data)
{
    losses *of = data;
    g_clear_pointer(&of->gaps, g_array_unref);
    g_free(of);
}

rs_stretches *
rs_stretches_new(void)
{
    rs_stretches *stretches = g_new0(rs_stretches, 1);
    stretches->streams = g_hash_table_new_full(NULL, NULL, NULL, free_losses);
    return stretches;
}

void
rs_stretches_free(rs_stretches *stretches)
{
    if (stretches == NULL) {
        return;
    }
    g_hash_table_unref(stretches->streams);
    g_free(stretches);
}

static losses *
losses_of(rs_stretches *stretches, guint32 stream)
{
    losses *of = g_hash_table_lookup(stretches->streams, GUINT_TO_POINTER(stream));
    if (of == NULL) {
        of = g_new0(losses, 1);
        for (guint i = 0; i < ROCE_N_SPACES; i++) {
            of->newest[i].next = ROCE_NO_PSN;
        }
        g_hash_table_insert(stretches->streams, GUINT_TO_POINTER(stream), of);
    }
    return of;
}

static void
add_gap(losses *of, const roce_event *event)
{
    const gap fresh = {event->space, event->psn, event->count, event->time_ns};
    if (of->gaps == NULL) {
        of->gaps = g_array_new(FALSE, FALSE, sizeof(gap));
    }
    if (of->gaps->len < GAPS) {
        g_array_append_val(of->gaps, fresh);
        return;
    }
    gap *oldest = &g_array_index(of->gaps, gap, of->oldest_gap);
    if (of->forgotten_ns == 0) {
        of->forgotten_ns = oldest->time_ns;
    }
    *oldest = fresh;
    of->oldest_gap = (of->oldest_gap + 1) % GAPS;
}

/* When a packet of which a loss was told had not come: when the one behind it did, if it left a
 * gap.  What left none, and was sent again, is missed by then. */
static guint64
missed_ns(const losses *of, const roce_event *event)
{
    for (guint i = 0; of->gaps != NULL && i < of->gaps->len; i++) {
        const gap *one = &g_array_index(of->gaps, gap, i);
        if (one->space == event->space && event->psn >= one->psn &&
            (guint64)(event->psn - one->psn) < one->n_psns) {
            return one->time_ns;
        }
    }
    return of->forgotten_ns != 0 ? of->forgotten_ns : event->time_ns;
}

/* Several copies of one packet are told of at once, and no stretch. */
static void
add_loss(losses *of, const roce_event *event)
{
    const guint64 since_ns = missed_ns(of, event);
    gboolean goes_on = of->newest[event->space].next == event->psn;
    guint64 length = (goes_on ? of->newest[event->space].length : 0) + 1;
    of->newest[event->space].next = event->psn + 1;
    of->newest[event->space].length = length;
    if (of->first_ns == 0 || since_ns < of->first_ns) {
        of->first_ns = since_ns;
    }
    of->last_ns = MAX(of->last_ns, event->time_ns);
    of->of_requests |= event->space == ROCE_SPACE_REQUESTS;
    of->sum.lost += event->count;
    of->sum.n += goes_on ? 0 : 1;
    of->sum.longest = MAX(of->sum.longest, length);
}

void
rs_stretches_event(rs_stretches *stretches, const roce_event *event)
{
    gboolean is_loss = event->kind == ROCE_EVENT_LOSS;
    if (event->kind == ROCE_EVENT_GAP) {
        add_gap(losses_of(stretches, event->stream), event);
        return;
    }
    if ((!is_loss && event->kind != ROCE_EVENT_LOSS_WITHDRAWN) ||
        event->detail != ROCE_VERDICT_LOST_BEFORE_CAPTURE) {
        return;
    }
    losses *of = losses_of(stretches, event->stream);
    if (is_loss) {
        add_loss(of, event);
    } else {
        of->taken_back = TRUE;
    }
}

/* READs take a PSN for each response: two in a row are not known by theirs. */
static gboolean
asks(const roce_stream *stream)
{
    guint64 n = 0;
    for (guint opcode = 0; opcode <= G_MAXUINT8 && n == 0; opcode++) {
        if (roce_opcode_get((guint8)opcode)->role == ROCE_ROLE_READ_REQUEST) {
            n += roce_stream_opcode_packets(stream, (guint8)opcode);
        }
    }
    return n > 0;
}

gboolean
rs_stretches_lie_within(const rs_stretches *stretches, guint32 stream, guint64 from_ns,
                        guint64 until_ns)
{
    const losses *of =
        g_hash_table_lookup(stretches->streams, GUINT_TO_POINTER(stream));
    return of != NULL && of->first_ns >= from_ns && of->first_ns > 0 &&
           of->last_ns <= until_ns;
}

void
rs_stretches_add_to(const rs_stretches *stretches, const roce_stream *stream,
                    rs_stretch_sum *sum)
{
    const losses *of =
        g_hash_table_lookup(stretches->streams, GUINT_TO_POINTER(stream->id));
    if (of != NULL && !of->taken_back && !(of->of_requests && asks(stream))) {
        sum->lost += of->sum.lost;
        sum->n += of->sum.n;
        sum->longest = MAX(sum->longest, of->sum.longest);
    }
}
