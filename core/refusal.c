/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Services that are refused: a SIDR REP (IBTA 12.11.2) gives the QPN of a datagram service, or
 * says by its status why there is none.
 *
 * The one rule: what a host refuses another one counts once for each request, however often the
 * REP is sent again, and wherever else it is seen.
 *
 * Limitation: beyond MOST_REFUSALS different ones further ones are not known.
 */
#include "track.h"

#define MOST_REFUSALS 1024

static roce_refusal *
find(const roce_tracker *t, const roce_packet *p, const roce_cm_message *m)
{
    for (uint32_t i = 0; i < t->n_refusals; i++) {
        roce_refusal *one = &t->refusals[i];
        if (one->service_id == m->service_id && one->status == m->sidr_status &&
            roce_tenant_equal(&one->tenant, &p->tenant) &&
            roce_addr_equal(&one->refuser, &p->src) &&
            roce_addr_equal(&one->asker, &p->dst)) {
            return one;
        }
    }
    return NULL;
}

/* NULL: there is no room for it. */
static roce_refusal *
add(roce_tracker *t, const roce_arrival *a, const roce_cm_message *m)
{
    const roce_packet *p = a->packet;
    if (t->n_refusals == MOST_REFUSALS) {
        roce_track_evicted(t, ROCE_TABLE_CONNECTIONS, NULL, a);
        return NULL;
    }
    if (!roce_track_reserve(t, (void **)&t->refusals, &t->refusals_capacity,
                            t->n_refusals, sizeof *t->refusals)) {
        return NULL;
    }
    roce_refusal *one = &t->refusals[t->n_refusals++];
    *one = (roce_refusal){
        .tenant = p->tenant,
        .asker = p->dst,
        .refuser = p->src,
        .service_id = m->service_id,
        .status = m->sidr_status,
        .point = a->frame->point,
        .first_frame = a->frame->number,
    };
    return one;
}

/* Whether a request is among the newest that are known to have been refused. */
static bool
is_repeat(const roce_refusal *one, uint32_t request_id)
{
    for (uint32_t i = 0; i < one->n && i < ROCE_REFUSED_REQUESTS; i++) {
        if (one->request_ids[i] == request_id) {
            return true;
        }
    }
    return false;
}

void
roce_refusal_take(roce_tracker *t, const roce_arrival *a, const roce_cm_message *m)
{
    if (m->sidr_status == 0) {
        return;
    }
    roce_refusal *one = find(t, a->packet, m);
    if (one == NULL) {
        one = add(t, a, m);
    }
    if (one == NULL || one->point != a->frame->point ||
        is_repeat(one, m->local_comm_id)) {
        return;
    }
    one->request_ids[one->n++ % ROCE_REFUSED_REQUESTS] = m->local_comm_id;
    one->last_frame = a->frame->number;
}
