/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The values that decide on findings and their severity, each with its reason.
 *
 * The one rule: a threshold stands here and is named in the row of findings_table.c that
 * it decides about.
 */
#ifndef RS_THRESHOLDS_H
#define RS_THRESHOLDS_H

/* Of what was sent.  A go-back-N requester that loses one packet in a hundred spends most
 * of its time on sending again. */
#define RS_CRITICAL_LOSS_PERCENT 1

/* Of the data.  DCQCN keeps a queue near its marking threshold, and marks a few packets in
 * a thousand there (Zhu et al. 2015: Pmax 1 %). */
#define RS_WARNING_CE_PERCENT 1

/* Of the time.  Below it a pause absorbs a burst; above it somebody waits for a reason. */
#define RS_WARNING_PAUSED_PERCENT 1

/* Senders to one receiver: as many as a server has GPUs. */
#define RS_MANY_SENDERS 8

#endif
