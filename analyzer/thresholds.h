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

/* Of the time of a stream.  A receiver that holds its sender up for less does not show in
 * the throughput; one RNR NAK while a connection is set up is nothing. */
#define RS_SLOW_RECEIVER_PERCENT 1

/* Queue pairs between two addresses from which on their source ports are expected to
 * differ, and the share of the entropy possible for so many: at half of it, 16 queue pairs
 * have four five-tuples. */
#define RS_LOW_ENTROPY_QUEUE_PAIRS 4
#define RS_LOW_ENTROPY_PERCENT 50

/* Jain's index, in hundredths: two queue pairs that share 3 : 1 have 80. */
#define RS_UNFAIR_JAIN_PERCENT 80

#endif
