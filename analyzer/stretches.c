/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "stretches.h"

/* Of one stream. */
typedef struct losses {
    rs_stretch_sum sum;
    guint64 first_ns, last_ns; /* the first was told, and the last */
    gboolean taken_back, of_requests;
    struct {
        gint64 next; /* PSN that goes on with it */
        guint64 length;
    } newest[ROCE_N_SPACES];
} losses;

struct rs_stretches {
    GHashTable *streams; /* id -> losses: the tracker's table of streams has a cap */
};

rs_stretches *
rs_stretches_new(void)
{
    rs_stretches *stretches = g_new0(rs_stretches, 1);
    stretches->streams = g_hash_table_new_full(NULL, NULL, NULL, g_free);
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

/* Several copies of one packet are told of at once, and no stretch. */
static void
add_loss(losses *of, const roce_event *event)
{
    gboolean goes_on = of->newest[event->space].next == event->psn;
    guint64 length = (goes_on ? of->newest[event->space].length : 0) + 1;
    of->newest[event->space].next = event->psn + 1;
    of->newest[event->space].length = length;
    if (of->first_ns == 0 || event->time_ns < of->first_ns) {
        of->first_ns = event->time_ns;
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
