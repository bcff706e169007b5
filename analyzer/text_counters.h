/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RS_TEXT_COUNTERS_H
#define RS_TEXT_COUNTERS_H

#include "text.h"

/* Counters of NICs beside what was captured; nothing without --counters-before. */
void
rs_text_counters(const rs_text *r);

#endif
