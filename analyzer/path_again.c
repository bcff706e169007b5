/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "path_again.h"

#include "path_time.h"

#define PLACES 4096 /* by flow and PSN; a power of two */

/* A copy that counts as come. */
typedef struct came {
    gboolean used;
    gint64 at_ns;
    rs_path_suspect suspect;
    rs_path_loss loss;
} came;

/* A copy that some points have not seen. */
typedef struct appeared {
    guint32 before; /* which, bits; 0: none is kept here */
    guint32 flow, psn24;
    guint8 opcode;
    guint8 point; /* where it was seen first */
    gint64 at_ns;
} appeared;

struct rs_path_again {
    came came[PLACES];
    appeared appeared[PLACES];
};

rs_path_again *
rs_path_again_new(void)
{
    return g_new0(rs_path_again, 1);
}

void
rs_path_again_free(rs_path_again *again)
{
    g_free(again);
}

/* Whether it is sent again at all, by itself; what acknowledges and notifies is not. */
static gboolean
may_be_again(const rs_decision *d)
{
    roce_role role = roce_opcode_get(d->entry->opcode)->role;
    return roce_role_is_request(role) || roce_role_is_response_data(role);
}

/* Requests and responses have PSNs of their own. */
static roce_space
space_of(guint8 opcode)
{
    roce_role role = roce_opcode_get(opcode)->role;
    return roce_role_is_request(role) ? ROCE_SPACE_REQUESTS : ROCE_SPACE_RESPONSES;
}

static guint
place_of(const rs_decision *d)
{
    guint of = d->flow->id * ROCE_N_SPACES + space_of(d->entry->opcode);
    return (of * 0x9e3779b1u + d->entry->psn24) & (PLACES - 1);
}

/* Whether a copy that point `b` saw was sent behind one that point `a` in front of it saw,
 * and soon enough for it. */
static gboolean
came_behind(const rs_decision *d, guint a, gint64 a_ns, guint b, gint64 b_ns)
{
    gint64 there_ns = rs_time_add(a_ns, rs_usual_between(d, a, b));
    gint64 later_ns = rs_time_apart(b_ns, there_ns);
    return later_ns > 0 && later_ns <= (gint64)d->path->config.window_ns;
}

/* Whether what was kept is of the same PSN of the flow. */
static gboolean
is_same(const rs_decision *d, guint32 flow, guint32 psn24, guint8 opcode)
{
    return flow == d->flow->id && psn24 == d->entry->psn24 &&
           space_of(opcode) == space_of(d->entry->opcode);
}

guint8
rs_path_again_known(guint8 known)
{
    return (guint8)((known & ~(RS_KNOWN_ACKED | RS_KNOWN_GOT)) | RS_KNOWN_RESENT);
}

/* What the point knows of the copy, which may have left and been summed up. */
static void
know_it_again(const rs_path *path, const came *c)
{
    guint32 at = rs_match_of_frame(path->table, c->loss.point, c->suspect.frame);
    if (at != RS_NO_SIGHTING) {
        rs_sighting *s = rs_match_sighting(path->table, at);
        s->known = rs_path_again_known(s->known);
        return;
    }
    rs_flow_point *n = &rs_path_flow(path, c->loss.flow)->point[c->loss.point];
    n->came -= n->came > 0 ? 1 : 0; /* it may have been known later than that */
    n->resent++;
}

/* It has not come, as it turns out.  What is not final may be known better by now. */
static void
take_back(rs_path *path, came *c)
{
    rs_path_suspect *s = &c->suspect;
    c->used = FALSE;
    if (!rs_known_is_final(s->known)) {
        GArray *list = path->suspects[c->loss.point];
        guint place = rs_path_suspect_place(path, c->loss.point, s->frame);
        if (place == list->len ||
            g_array_index(list, rs_path_suspect, place).frame != s->frame) {
            return;
        }
        *s = g_array_index(list, rs_path_suspect, place);
        g_array_remove_index(list, place);
    }
    rs_loss_state before = rs_known_state(s->known, s->ambiguous);
    if (before == RS_LOSS_CAME) {
        s->known = rs_path_again_known(s->known);
        know_it_again(path, c);
    }
    c->loss.state = rs_known_state(s->known, s->ambiguous);
    rs_path_move_state(path, c->loss.point, s, before, c->loss.state);
    if (s->loss == G_MAXUINT32) {
        (void)rs_path_list_loss(path, &c->loss);
    } else {
        g_array_index(path->losses, rs_path_loss, s->loss).state = c->loss.state;
    }
}

void
rs_path_again_appear(const rs_decision *d, const rs_sighting *first, guint32 before)
{
    if (!may_be_again(d)) {
        return;
    }
    rs_path_again *again = d->path->again;
    guint place = place_of(d);
    again->appeared[place] = (appeared){
        .before = before,
        .flow = d->flow->id,
        .psn24 = d->entry->psn24,
        .opcode = d->entry->opcode,
        .point = first->point,
        .at_ns = first->at_ns,
    };
    came *c = &again->came[place];
    if (c->used && is_same(d, c->loss.flow, c->loss.psn24, c->loss.opcode) &&
        (before & 1u << c->loss.point) != 0 &&
        came_behind(d, c->loss.point, c->at_ns, first->point, first->at_ns)) {
        take_back(d->path, c);
    }
}

gboolean
rs_path_again_is_known(const rs_decision *d, const rs_sighting *last)
{
    const appeared *a = &d->path->again->appeared[place_of(d)];
    return (a->before & 1u << last->point) != 0 &&
           is_same(d, a->flow, a->psn24, a->opcode) &&
           came_behind(d, last->point, last->at_ns, a->point, a->at_ns);
}

void
rs_path_again_keep(const rs_decision *d, const rs_path_suspect *suspect,
                   const rs_path_loss *loss, gint64 at_ns)
{
    d->path->again->came[place_of(d)] =
        (came){.used = TRUE, .at_ns = at_ns, .suspect = *suspect, .loss = *loss};
}
