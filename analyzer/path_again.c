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

static guint
place_of(const rs_decision *d)
{
    return (d->flow->id * 0x9e3779b1u + d->entry->psn24) & (PLACES - 1);
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

guint8
rs_path_again_known(guint8 known)
{
    return (guint8)((known & ~(RS_KNOWN_ACKED | RS_KNOWN_GOT)) | RS_KNOWN_RESENT);
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
    s->known = before == RS_LOSS_CAME ? rs_path_again_known(s->known) : s->known;
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
    rs_path_again *again = d->path->again;
    guint place = place_of(d);
    again->appeared[place] = (appeared){
        .before = before,
        .flow = d->flow->id,
        .psn24 = d->entry->psn24,
        .point = first->point,
        .at_ns = first->at_ns,
    };
    came *c = &again->came[place];
    if (c->used && c->loss.flow == d->flow->id && c->loss.psn24 == d->entry->psn24 &&
        (before & 1u << c->loss.point) != 0 &&
        came_behind(d, c->loss.point, c->at_ns, first->point, first->at_ns)) {
        take_back(d->path, c);
    }
}

gboolean
rs_path_again_is_known(const rs_decision *d, const rs_sighting *last)
{
    const appeared *a = &d->path->again->appeared[place_of(d)];
    return (a->before & 1u << last->point) != 0 && a->flow == d->flow->id &&
           a->psn24 == d->entry->psn24 &&
           came_behind(d, last->point, last->at_ns, a->point, a->at_ns);
}

void
rs_path_again_keep(const rs_decision *d, const rs_path_suspect *suspect,
                   const rs_path_loss *loss, gint64 at_ns)
{
    d->path->again->came[place_of(d)] =
        (came){.used = TRUE, .at_ns = at_ns, .suspect = *suspect, .loss = *loss};
}
