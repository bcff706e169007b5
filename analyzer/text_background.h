/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What else is on the wire, in the text report. */
#ifndef RS_TEXT_BACKGROUND_H
#define RS_TEXT_BACKGROUND_H

#include "text.h"

void
rs_text_background(const rs_text *r);

#endif
