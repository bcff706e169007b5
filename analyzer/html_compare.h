/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The comparison of points as one page of HTML. */
#ifndef RS_HTML_COMPARE_H
#define RS_HTML_COMPARE_H

#include "compare.h"

#include <stdio.h>

/* Write errors stay in the stream. */
void
rs_report_compare_html(FILE *out, const rs_compare *compare);

#endif
