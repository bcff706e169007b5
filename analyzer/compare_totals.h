/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From flows to segments.
 *
 * The one rule: a flow counts between two points only if packets of it were seen to pass
 * both; what only one point saw is no loss of the others.
 */
#ifndef RS_COMPARE_TOTALS_H
#define RS_COMPARE_TOTALS_H

#include "compare.h"

/* Makes the segments of what was read. */
void
rs_compare_add_up(rs_compare *compare);

#endif
