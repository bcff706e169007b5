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

/* What all losses or all marks have in common: so many of them at the least, and of all that
 * there are; so many that would have been met elsewhere, and as many percent of these were not.
 * If both halves of 20 packets were alike, all of them were in one half by chance twice in a
 * million times. */
#define RS_COMMON_LEAST 10
#define RS_COMMON_PERCENT 90
#define RS_COMMON_EXPECTED 20

/* Hosts at the other end: what one pair of hosts loses may be lost anywhere between them. */
#define RS_COMMON_PARTNERS 2

/* Packets.  Of fewer that all came twice it is not known whether a network or a mirror made
 * the copies; of so many the survey of the point decides (core/survey_repeats.c). */
#define RS_DUPLICATED_LEAST 8

/* Of the data.  DCQCN keeps a queue near its marking threshold, and marks a few packets in
 * a thousand there (Zhu et al. 2015: Pmax 1 %). */
#define RS_WARNING_CE_PERCENT 1

/* Marks that waited in vain, before it is said that a receiver sends no CNPs: a
 * notification point that paces its CNPs has sent one by then. */
#define RS_NO_CNP_MARKS 16

/* CNPs about one stream, so far apart on average at most, and so much of the rate before
 * that is left at the least.  By DCQCN's own numbers (g = 1/256, a timer of 55 us) a
 * single cut is more than 10 % after 64 CNPs in a row, however small they were before;
 * after fewer, or between recoveries, a sender that reacts may seem not to. */
#define RS_REACTION_CNPS 64
#define RS_REACTION_SPACING_US 100
#define RS_REACTION_PERCENT 90

/* Rate below which a sender may have reached the least that it goes down to. */
#define RS_REACTION_LEAST_MBPS 1000

/* Of the rate inside messages that was sent on average: who sends less waits for its
 * application or for ACKs, and need not be held back by a rate. */
#define RS_REACTION_BUSY_PERCENT 50

/* Of the data of a stream, and of what answers it: where so much came by and no CNP, those
 * that were seen elsewhere did not. */
#define RS_HEARD_PERCENT 90

/* CNPs of one queue pair that came by at one point and not at the next: the last one or two may
 * come when a capture has ended.  And of all of them, before their loss is a warning: who is
 * told of nine in ten marks slows down. */
#define RS_CNP_LOST_LEAST 3
#define RS_CNP_LOST_PERCENT 10

/* Of the time.  Below it a pause absorbs a burst; above it somebody waits for a reason. */
#define RS_WARNING_PAUSED_PERCENT 1

/* In all, that somebody was held: in a capture of microseconds one pause of a moment is a
 * large part of the time.  It is 1 % of a millisecond. */
#define RS_HELD_LEAST_US 10

/* Of the time of a stream.  A receiver that holds its sender up for less does not show in
 * the throughput; one RNR NAK while a connection is set up is nothing. */
#define RS_SLOW_RECEIVER_PERCENT 1

/* Of the senders that meet in an incast.  If so many are marked there, the queue is one
 * that they have in common, and no matter of the path of some. */
#define RS_INCAST_COMMON_PERCENT 75

/* Queue pairs between two addresses from which on their source ports are expected to
 * differ, and the share of the entropy possible for so many: at half of it, 16 queue pairs
 * have four five-tuples. */
#define RS_LOW_ENTROPY_QUEUE_PAIRS 4
#define RS_LOW_ENTROPY_PERCENT 50

/* Jain's index, in hundredths: two queue pairs that share 3 : 1 have 80. */
#define RS_UNFAIR_JAIN_PERCENT 80

/* Of the bytes in a lossless priority: other traffic that can fill a buffer that pauses
 * RoCE.  Below it are the odd packets of routing and management. */
#define RS_WARNING_BACKGROUND_PERCENT 1

/* An error counter of a NIC against what the capture shows.  A counter is read a little
 * before and behind the capture, so that a few more say nothing of it. */
#define RS_WARNING_COUNTER_PERCENT 10
#define RS_WARNING_COUNTER_EVENTS 10

/* A host is late consistently, if there are so many iterations at least, if it is the last
 * in such a share of them, and if it then is behind the last but one by such a share of the
 * median burst.  Somebody is last in each; one given host of four is so in eight of ten by
 * chance four times in ten thousand. */
#define RS_STRAGGLER_ITERATIONS 5
#define RS_STRAGGLER_SHARE_PERCENT 80
#define RS_STRAGGLER_LATE_PERCENT 10

/* A hop of a ring against the others: links of half the speed or width take twice as long. */
#define RS_STRAGGLER_HOP_PERCENT 150

/* A sender waits for its receiver: so many times, of all times that it was idle when
 * cleared, and of the time from its first data to its last.  Below a tenth of the time
 * there is little to win. */
#define RS_WAITS_LEAST 8
#define RS_WAITS_SHARE_PERCENT 80
#define RS_WAITS_TIME_PERCENT 10

/* Packets, later than a pause can be at fault for.  A few come of stamps that were taken
 * late; whoever does not stop sends on and on. */
#define RS_IGNORED_PACKETS 10

/* Of one packet, by timeout: NICs repeat it three to seven times before they give up. */
#define RS_STOPPED_REPEATS 3

/* A packet that never comes is longer than those that do by so many bytes, at least: headers make
 * less of a difference.  That a way ends by chance just when the first longer one comes, or that
 * so many copies are lost and nothing else, is ruled out: so many shorter packets before, or so
 * many copies. */
#define RS_LONGER_BYTES 64
#define RS_SHORTER_PACKETS 16
#define RS_LONGER_COPIES 12

/* Each of them lost a packet and its repeat, or what answers them, in the same time.  Where one
 * packet in ten is lost that happens to a queue pair once in a hundred times, and to three at
 * once in a million. */
#define RS_OUTAGE_QUEUE_PAIRS 3

/* Pauses of a burst are over in some ten microseconds; ports in a circle do not come out
 * of it by themselves. */
#define RS_DEADLOCK_US 100

#endif
