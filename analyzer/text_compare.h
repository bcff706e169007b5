/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The comparison of points as a person reads it on a terminal. */
#ifndef RS_TEXT_COMPARE_H
#define RS_TEXT_COMPARE_H

#include "compare.h"

#include <stdio.h>

/* Write errors stay in the stream. */
void
rs_text_compare(FILE *out, const rs_compare *compare, guint width, gboolean color);

#endif
