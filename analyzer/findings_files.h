/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * In which files the frames of findings stand.
 *
 * The one rule: what is told of a file is what Wireshark shows when that file is opened.
 */
#ifndef RS_FINDINGS_FILES_H
#define RS_FINDINGS_FILES_H

#include "findings_parts.h"

/* Of rs_finding_file. */
GPtrArray *
rs_finding_files_new(void);

/* Tells of all findings in which files their frames stand. */
void
rs_findings_place(const rs_findings *all);

#endif
