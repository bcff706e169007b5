/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Load in the text report: sections that are there where they have something to say. */
#ifndef RS_TEXT_LOAD_H
#define RS_TEXT_LOAD_H

#include "text.h"

/* Who sends to one receiver at once; who holds senders up; how load spreads; bursts. */
void
rs_text_load(const rs_text *r);

#endif
