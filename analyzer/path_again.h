/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Copies that a point saw acknowledged, or got, and did not see sent again, because it missed
 * that as well: another point shows it.
 *
 * The one rule: another copy of these PSNs that came by another point later on, and not by
 * the one that saw the first, takes back that the first one came.  It does so within the window
 * of the path (rs_path_config): what is sent again later tells nothing.  Of each flow, PSN space
 * and PSN the newest is kept, and of several in one place of the table as well.
 */
#ifndef RS_PATH_AGAIN_H
#define RS_PATH_AGAIN_H

#include "path_fates.h"
#include "path_journeys.h"

typedef struct rs_path_again rs_path_again;

rs_path_again *
rs_path_again_new(void);

void
rs_path_again_free(rs_path_again *again);

/* A copy was seen first at a point behind some others, whose captures were on: bits. */
void
rs_path_again_appear(const rs_decision *d, const rs_sighting *first, guint32 before);

/* Whether that is known of a later copy of what a point saw last. */
gboolean
rs_path_again_is_known(const rs_decision *d, const rs_sighting *last);

/* What is known of a copy that was sent again, as others show. */
guint8
rs_path_again_known(guint8 known);

/* A copy that was not seen behind some point counts as come until another one shows up. */
void
rs_path_again_keep(const rs_decision *d, const rs_path_suspect *suspect,
                   const rs_path_loss *loss, gint64 at_ns);

#endif
