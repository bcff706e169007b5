/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What reports for people say of clocks; all returned strings are the caller's to g_free(). */
#ifndef RS_COMPARE_WORDS_H
#define RS_COMPARE_WORDS_H

#include "compare.h"

/* 'A', 'B', …: how reports call a point. */
char
rs_compare_letter(guint point);

/* "A → B" */
char *
rs_compare_arrow(const rs_compare_segment *segment);

/* "B against A": whose clock is meant, and what it is compared with. */
char *
rs_compare_clocks(const rs_compare_segment *segment);

/* "+60 min ± 5.00 µs" */
char *
rs_compare_offset(const rs_compare_segment *segment);

/* "+1.413 ± 8.913 ppm", "unknown" */
char *
rs_compare_drift(const rs_clock_fit *fit);

/* Why nothing can be said, as sentences; NULL if something can.  Static. */
const char *
rs_compare_nothing(const rs_compare *compare);

#endif
