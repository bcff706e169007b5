/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether congestion comes with incast: marks, CNPs and pauses inside of episodes against
 * those outside.
 */
#include "incast_parts.h"

#define LEAST_EXPECTED 3 /* see rs_incast_judge() */
#define LEAST_RATIO 2

/* What is outside of episodes at a point. */
typedef struct point_sum {
    guint64 data, ce, cnps;
    guint n;                /* senders to receivers */
    rs_tenant_addr ends[2]; /* of the first of them */
    gboolean all[2];        /* whether each is an end of all of them */
    guint64 own;            /* data of the one that is: see add_own() */
    gboolean own_marked;
} point_sum;

void
rs_incast_compare_pauses(const rs_incast *incast, rs_incast_watch *r)
{
    rs_incast_share *pauses = &r->pub.signs[RS_INCAST_PAUSE];
    guint64 end_ns = incast->last_ns + RS_INCAST_WINDOW_NS;
    for (guint i = 0; i < r->spans->len; i++) {
        const rs_incast_span *s = &g_array_index(r->spans, rs_incast_span, i);
        guint64 n = rs_xoffs_not_by(incast->xoffs, &r->pub.at.host.addr, s->start_ns,
                                    s->end_ns);
        pauses->inside += n;
        if (i < r->pub.episodes->len) {
            g_array_index(r->pub.episodes, rs_incast_episode, i).pauses = n;
        }
    }
    guint64 all =
        rs_xoffs_not_by(incast->xoffs, &r->pub.at.host.addr, incast->first_ns, end_ns);
    guint64 span_ns = end_ns - incast->first_ns;
    pauses->outside = all - MIN(all, pauses->inside);
    pauses->of_inside = r->pub.inside_ns;
    pauses->of_outside = span_ns - MIN(span_ns, r->pub.inside_ns);
    r->pub.pauses_known = !incast->spans_omitted && !incast->is_set_back &&
                          rs_xoffs_complete(incast->xoffs);
}

static point_sum *
sum_at(GArray *points, guint32 point)
{
    if (point >= points->len) {
        g_array_set_size(points, point + 1);
    }
    return &g_array_index(points, point_sum, point);
}

/* A sender is of the same network as its receiver. */
static rs_tenant_addr
sender_of(const rs_incast_sender *s)
{
    return (rs_tenant_addr){s->receiver->pub.at.host.tenant, s->key.addr};
}

static void
add_ends(point_sum *sum, const rs_incast_sender *s)
{
    const rs_tenant_addr ends[2] = {sender_of(s), s->receiver->pub.at.host};
    for (guint i = 0; i < 2; i++) {
        sum->ends[i] = sum->n == 0 ? ends[i] : sum->ends[i];
        gboolean is_one = rs_tenant_addr_equal(&sum->ends[i], &ends[0]) ||
                          rs_tenant_addr_equal(&sum->ends[i], &ends[1]);
        sum->all[i] = is_one && (sum->n == 0 || sum->all[i]);
    }
    sum->n++;
}

/* Where one host is an end of everything, as at its NIC or its switch port, what it sends has
 * met no queue yet, if none of it is marked: it is no measure for what comes to the host. */
static void
add_own(point_sum *sum, const rs_incast_sender *s)
{
    const rs_tenant_addr *host = &sum->ends[sum->all[0] ? 0 : 1];
    const rs_tenant_addr sender = sender_of(s);
    if (sum->all[0] != sum->all[1] && rs_tenant_addr_equal(host, &sender)) {
        sum->own += s->outside;
        sum->own_marked |= s->marked || s->ce_outside > 0;
    }
}

/* Of each point, what is in no episode. */
static GArray *
add_up_points(const rs_incast *incast)
{
    GArray *points = g_array_new(FALSE, TRUE, sizeof(point_sum));
    for (guint i = 0; i < incast->receivers->len; i++) {
        const rs_incast_watch *r = g_ptr_array_index(incast->receivers, i);
        sum_at(points, r->pub.at.point)->cnps += r->pub.signs[RS_INCAST_CNP].outside;
    }
    for (guint32 i = 0; i < incast->senders->len; i++) {
        const rs_incast_sender *s = rs_incast_sender_at(incast, i);
        point_sum *sum = sum_at(points, s->receiver->pub.at.point);
        sum->data += s->outside;
        sum->ce += s->ce_outside;
        add_ends(sum, s);
    }
    for (guint32 i = 0; i < incast->senders->len; i++) {
        const rs_incast_sender *s = rs_incast_sender_at(incast, i);
        add_own(sum_at(points, s->receiver->pub.at.point), s);
    }
    return points;
}

/* What goes to other receivers at the same point is outside as well, but for what is in
 * episodes of theirs: marks and CNPs are compared with all data of the point. */
void
rs_incast_compare_with_points(const rs_incast *incast)
{
    g_autoptr(GArray) points = add_up_points(incast);
    for (guint i = 0; i < incast->receivers->len; i++) {
        rs_incast_watch *r = g_ptr_array_index(incast->receivers, i);
        const point_sum *sum = &g_array_index(points, point_sum, r->pub.at.point);
        rs_incast_share *ce = &r->pub.signs[RS_INCAST_CE];
        rs_incast_share *cnps = &r->pub.signs[RS_INCAST_CNP];
        ce->outside = sum->ce;
        ce->of_outside = sum->data - (sum->own_marked ? 0 : sum->own);
        cnps->outside = sum->cnps;
        cnps->of_inside = ce->of_inside;
        cnps->of_outside = sum->data;
    }
}

rs_coincidence
rs_incast_judge(const rs_incast_receiver *r, rs_incast_sign sign)
{
    const rs_incast_share *s = &r->signs[sign];
    if (sign == RS_INCAST_PAUSE && !r->pauses_known) {
        return RS_COINCIDENCE_UNDECIDABLE;
    }
    if (s->inside == 0) {
        return s->outside == 0 ? RS_COINCIDENCE_ABSENT : RS_COINCIDENCE_NO;
    }
    /* As doubles: packets times nanoseconds need not fit 64 bits. */
    double per_inside = (double)s->inside / (double)s->of_inside;
    double expected = per_inside * (double)s->of_outside;
    if (MAX(expected, (double)s->outside) < LEAST_EXPECTED) {
        return RS_COINCIDENCE_UNDECIDABLE;
    }
    return expected < LEAST_RATIO * (double)s->outside ? RS_COINCIDENCE_NO
                                                       : RS_COINCIDENCE_YES;
}

gboolean
rs_incast_counts(const rs_incast_receiver *r, rs_incast_sign sign)
{
    return sign != RS_INCAST_CNP || r->signs[RS_INCAST_CE].inside == 0;
}

const char *
rs_incast_sign_name(rs_incast_sign sign)
{
    static const char *const names[RS_INCAST_N_SIGNS] = {
        [RS_INCAST_CE] = "ce",
        [RS_INCAST_CNP] = "cnp",
        [RS_INCAST_PAUSE] = "pause",
    };
    return names[sign];
}

const char *
rs_coincidence_name(rs_coincidence coincidence)
{
    static const char *const names[RS_N_COINCIDENCES] = {
        [RS_COINCIDENCE_ABSENT] = "absent",
        [RS_COINCIDENCE_YES] = "yes",
        [RS_COINCIDENCE_NO] = "no",
        [RS_COINCIDENCE_UNDECIDABLE] = "undecidable",
    };
    return names[coincidence];
}
