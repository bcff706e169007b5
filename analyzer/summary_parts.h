/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the files of summary.h share: each of them makes one part of a summary.
 *
 * The one rule: nobody else includes it.
 */
#ifndef RS_SUMMARY_PARTS_H
#define RS_SUMMARY_PARTS_H

#include "summary.h"

#include <glib.h>

static inline const roce_stream *
rs_summary_stream(const rs_analysis *analysis, guint32 id)
{
    return roce_tracker_stream(analysis->tracker, id);
}

/* summary_groups.c: makes `group`, `members` and `later`. */
void
rs_summary_find_groups(rs_summary *summary, const rs_analysis *analysis);

/* summary_links.c: makes `links` and `link_of`. */
void
rs_summary_find_links(rs_summary *summary, const rs_analysis *analysis);

#endif
