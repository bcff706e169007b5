/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the analysis says of each selected frame, as text for a comment on it.
 *
 * The one rule: what is said is core's sentence about an event (roce/sentence.h), on the
 * frame where it was seen; and on the frame that it is about, where it was seen.
 */
#ifndef RS_REMARKS_H
#define RS_REMARKS_H

#include "report.h"
#include "trace.h"

#include <glib.h>

typedef struct rs_remarks rs_remarks;

/* About the frames that are chosen.  Both are to outlive the remarks. */
rs_remarks *
rs_remarks_new(const rs_report *report, const rs_trace *trace);

/* NULL is fine. */
void
rs_remarks_free(rs_remarks *remarks);

/* Appends what there is to say of a frame: its stream and connection, and a line for each
 * thing that was seen on it or told of it. */
void
rs_remarks_append(const rs_remarks *remarks, guint64 frame, GString *text);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(rs_remarks, rs_remarks_free)

#endif
