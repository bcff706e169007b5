/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What many hosts do together, in the text report. */
#ifndef RS_TEXT_RHYTHM_H
#define RS_TEXT_RHYTHM_H

#include "text.h"

/* The section, where there is something to say. */
void
rs_text_rhythm(const rs_text *r);

#endif
