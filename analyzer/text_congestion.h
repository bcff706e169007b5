/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who marked, who sent CNPs, and what senders made of them, in the text report. */
#ifndef RS_TEXT_CONGESTION_H
#define RS_TEXT_CONGESTION_H

#include "text.h"

void
rs_text_congestion(const rs_text *r);

#endif
