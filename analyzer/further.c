/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "further.h"

#include "sorting.h"

/* From the sender to the receiver. */
static guint
rank_of(const roce_stream *s)
{
    static const guint ranks[] = {
        [ROCE_VANTAGE_REQUESTER] = 0,
        [ROCE_VANTAGE_UNKNOWN] = 1,
        [ROCE_VANTAGE_MIDDLE] = 1,
        [ROCE_VANTAGE_RESPONDER] = 2,
    };
    return ranks[s->vantage];
}

/* How long answers took at the least; 0: none was timed. */
static guint64
fastest_ns(const roce_stream *s, roce_latency latency)
{
    const roce_histogram *h = roce_stream_latency(s, latency);
    return h != NULL && h->count > 0 ? MAX(h->min_ns, 1) : 0;
}

gint
rs_further(const roce_stream *a, const roce_stream *b)
{
    static const roce_latency answers[] = {ROCE_LATENCY_ACK, ROCE_LATENCY_READ_FIRST,
                                           ROCE_LATENCY_MESSAGE_COMPLETION};
    gint order = rs_by_number(rank_of(a), rank_of(b));
    for (guint i = 0; i < G_N_ELEMENTS(answers) && order == 0; i++) {
        guint64 of_a = fastest_ns(a, answers[i]);
        guint64 of_b = fastest_ns(b, answers[i]);
        if (of_a != 0 && of_b != 0) {
            return rs_by_number(of_b, of_a);
        }
    }
    guint64 of_a = fastest_ns(a, ROCE_LATENCY_NAK_REACTION); /* the requester's */
    guint64 of_b = fastest_ns(b, ROCE_LATENCY_NAK_REACTION);
    return order != 0 || of_a == 0 || of_b == 0 ? order : rs_by_number(of_a, of_b);
}
