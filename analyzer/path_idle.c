/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Points whose files go on without them: an interface that shows nothing for a while may
 * have ended, or all was lost in front of it.  Its next frame tells, or the file's end.
 */
#include "path_fates.h"
#include "path_match.h"

/* What is idle in front of a point has been lost there, or has not. */
static void
settle_idle(const rs_flow *flow, guint before, guint point, gboolean has_run)
{
    rs_flow_leg *leg = rs_flow_leg_of(flow, before, point);
    const rs_leg_ends idle = leg->idle;
    leg->idle = (rs_leg_ends){0};
    if (has_run) {
        leg->ended.ambiguous += idle.ambiguous;
    }
    for (guint state = 0; state < RS_N_LOSS_STATES; state++) {
        *(has_run ? &leg->ended.n[state] : &leg->outside[0]) += idle.n[state];
    }
}

/* The same for what is kept of single packets. */
static void
settle_bits(guint32 *behind, guint32 *idle, guint32 bit, gboolean has_run)
{
    *behind &= has_run || (*idle & bit) == 0 ? G_MAXUINT32 : ~bit;
    *idle &= ~bit;
}

static void
settle_point(rs_path *path, guint point, gboolean has_run)
{
    guint32 bit = 1u << point;
    guint n_flows = (path->idle & bit) != 0 ? path->flows->len : 0;
    guint n_losses = n_flows > 0 ? path->losses->len : 0;
    for (guint i = 0; i < n_flows; i++) {
        const rs_flow *flow = rs_path_flow(path, i);
        gboolean forward = flow->way == RS_WAY_FORWARD;
        for (guint k = 0; k < path->config.n_points; k++) {
            if (forward ? k < point : k > point) {
                settle_idle(flow, k, point, has_run);
            }
        }
    }
    for (guint i = 0; i < n_losses; i++) {
        rs_path_loss *loss = &g_array_index(path->losses, rs_path_loss, i);
        settle_bits(&loss->behind, &loss->idle, bit, has_run);
    }
    for (guint k = 0; n_flows > 0 && k < path->config.n_points; k++) {
        for (guint i = 0; i < path->suspects[k]->len; i++) {
            rs_path_suspect *s = &g_array_index(path->suspects[k], rs_path_suspect, i);
            settle_bits(&s->behind, &s->idle, bit, has_run);
        }
    }
    path->idle &= ~bit;
}

void
rs_path_wake(rs_path *path, guint point)
{
    settle_point(path, point, TRUE);
}

void
rs_path_end(rs_path *path, guint point)
{
    settle_point(path, point, FALSE);
}
