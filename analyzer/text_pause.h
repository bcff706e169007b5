/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Pauses in the text report. */
#ifndef RS_TEXT_PAUSE_H
#define RS_TEXT_PAUSE_H

#include "text.h"

void
rs_text_pauses(const rs_text *r);

#endif
