/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Ports that wait for each other, round and round.
 *
 * The one rule: a circle counts only while all of it pause at once.
 */
#ifndef RS_PAUSING_CYCLE_H
#define RS_PAUSING_CYCLE_H

#include "pausing_tree.h"
#include "pausing_ways.h"

/* The circle in which all paused at once for the longest time; NULL: there is none.  To be
 * freed. */
rs_pause_cycle *
rs_pause_cycle_find(const rs_pause_ways *ways);

/* NULL is fine. */
void
rs_pause_cycle_free(rs_pause_cycle *cycle);

#endif
