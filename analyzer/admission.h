/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Receivers that clear senders to send.
 *
 * A library of collectives may let the receiver drive: for each receive that it posts, it
 * WRITEs a few bytes into a queue in the sender's memory, and the sender sends one unit
 * of data for each.  NCCL does so (clear-to-send, 32 or 64 bytes for each of up to 8
 * receives, in one packet without immediate data), most often on the same queue pair
 * whose other direction carries the data; a unit ends with immediate data there, and may
 * be cut up over several queue pairs.
 *
 *   1. Signals (see RS_SIGNAL_BYTES) of a host to another are set against the units of
 *      data that come back at the same point: on the same queue pair; with those that
 *      have no signals, where one has signals alone; else on all others together.  A unit
 *      ends with a message that has immediate data where most have; else a message is a
 *      unit.
 *   2. Unit j goes with signal j - o, where o, the signals before the capture, is the
 *      least number with which no unit begins before its signal.
 *   3. It is an admission if the two keep step: RS_ADMISSION_LEAST pairs at least, no
 *      more than RS_ADMISSION_WINDOW signals ever ahead of their units, and as many pairs
 *      as the square of that.  What is unrelated drifts apart with the square root.
 *   4. Of each pair the delay is the time from signal to unit.  If the signal came before
 *      the sender had ended the unit before, it waited for nothing (ahead).  Else it was
 *      idle: until the signal, which it was waiting for if it then began at once
 *      (waited); where it did not, it had nothing to send yet (unready).
 *
 * The one rule: a sender waits for its receiver only where it answers the signal at once
 * after an idle time that is long against the answer.
 */
#ifndef RS_ADMISSION_H
#define RS_ADMISSION_H

#include "dist.h"
#include "edges.h"
#include "frames.h"
#include "rhythm.h"

#include "roce/tracker.h"

#include <glib.h>

#define RS_ADMISSION_LEAST 8
#define RS_ADMISSION_WINDOW 64
#define RS_ADMISSION_PARTS 8     /* queue pairs that a unit may be cut up over */
#define RS_ADMISSION_STREAMS 256 /* of two hosts that are looked at, each way */
/* A sender that polls answers within microseconds of the round trip: "at once" is up to
 * four times the fastest answer and 5 us, never more than 100 us. */
#define RS_ADMISSION_PROMPT_TIMES 4
#define RS_ADMISSION_PROMPT_FLOOR_NS 5000
#define RS_ADMISSION_PROMPT_NS 100000
/* An idle time counts from so many times that on. */
#define RS_ADMISSION_IDLE_TIMES 2

typedef struct rs_admission {
    guint32 point;
    guint32 receiver, sender; /* nodes */
    guint32 stream;           /* of the signals; the first of several */
    guint streams;            /* of signals */
    guint parts;              /* queue pairs that each unit is cut up over */
    guint64 signals, units, pairs;
    guint64 before; /* units whose signal came before the capture */
    guint window;   /* signals ahead of units, at most */
    guint64 signal_bytes_min, signal_bytes_max;
    rs_dist delay;                         /* ns, of pairs */
    guint64 prompt_ns;                     /* what "at once" is here */
    guint64 ahead, waited, unready, other; /* pairs; `other`: idle for too short a time,
                                              or between two iterations */
    rs_dist wait; /* ns, of those that waited: from the unit before to the signal */
    guint64 waited_ns, span_ns; /* all of them; from the first unit to the last */
    rs_frames frames; /* signals that were waited for, and what they admitted */
} rs_admission;

/* By sender, receiver and stream; rs_admission. */
GArray *
rs_admissions_new(const rs_edges *edges, const rs_rhythm *rhythm,
                  const roce_tracker *tracker);

#endif
