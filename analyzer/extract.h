/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The chosen frames of captures, written to a capture of their own.
 *
 * The one rule: files are read again as the analysis has read them, so that frames have
 * the same numbers.
 */
#ifndef RS_EXTRACT_H
#define RS_EXTRACT_H

#include "remarks.h"
#include "report.h"
#include "trace.h"
#include "writer.h"

#include <glib.h>

/* Writes the frames with RS_TRACE_CHOSEN, in their order, with what `remarks` say of
 * them; rs_writer_finish() makes the file whole.  FALSE for what the format has no room
 * for. */
gboolean
rs_extract(const rs_report *report, const rs_trace *trace, const rs_remarks *remarks,
           rs_writer *writer, GError **error);

#endif
