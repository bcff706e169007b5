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

/* How long ACKs took at the least; 0: none was timed. */
static guint64
fastest_ack_ns(const roce_stream *s)
{
    const roce_histogram *h = roce_stream_latency(s, ROCE_LATENCY_ACK);
    return h != NULL && h->count > 0 ? MAX(h->min_ns, 1) : 0;
}

gint
rs_further(const roce_stream *a, const roce_stream *b)
{
    gint order = rs_by_number(rank_of(a), rank_of(b));
    guint64 of_a = fastest_ack_ns(a);
    guint64 of_b = fastest_ack_ns(b);
    return order != 0 || of_a == 0 || of_b == 0 ? order : rs_by_number(of_b, of_a);
}
