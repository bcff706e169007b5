/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ECN beyond the tracker's counters: who sent CNPs and with what, in which priorities data
 * and its answers travel, where marks were put, what senders made of it.
 *
 * The one rule: of each stream at its own point; whoever reads it decides which point
 * stands for a packet that several saw.
 */
#ifndef RS_CONGESTION_H
#define RS_CONGESTION_H

#include "occurrence.h"
#include "reaction.h"
#include "sight.h"

#include "roce/tracker.h"

#include <glib.h>

/* Packets whose priorities are compared. */
typedef enum rs_class_of {
    RS_CLASS_DATA,
    RS_CLASS_ACKS,
    RS_CLASS_NAKS,
    RS_CLASS_CNPS,
    RS_N_CLASSES,
} rs_class_of;

/* CNPs by what was seen with them. */
typedef struct rs_cnp_counts {
    guint64 answering; /* a CE mark waited for it */
    guint64 with_nak;  /* none did, and a NAK of its sender was next to it */
    guint64 alone;     /* neither */
} rs_cnp_counts;

/* CNPs of a stream: those that it carries, and those about its data. */
typedef struct rs_stream_cnps {
    rs_cnp_counts carried;
    rs_cnp_counts foreign; /* about its data, and not by its receiver: by a switch */
    guint8 foreign_priorities; /* bit n: they had priority n */
    /* Of packets that it carries, for the counts. */
    guint64 nak_ns, alone_ns; /* the newest NAK, the newest CNP that is `alone` */
    gboolean nak_seen, alone_open;
} rs_stream_cnps;

typedef struct rs_stream_congestion {
    guint8 priorities[RS_N_CLASSES]; /* bit n: priority n, of what it carries */
    guint64 not_ect_frame; /* first data packet that was not ECN-capable; 0: none */
    rs_stream_cnps *cnps;  /* NULL: it has to do with no CNP, and carries no NAK */
} rs_stream_congestion;

typedef struct rs_congestion rs_congestion;

/* `tracker` outlives it. */
rs_congestion *
rs_congestion_new(const roce_tracker *tracker);

/* NULL is fine. */
void
rs_congestion_free(rs_congestion *congestion);

/* What each of these is told is said in watchers.h. */
void
rs_congestion_meet(rs_congestion *congestion, const rs_sight *sight);
void
rs_congestion_step(rs_congestion *congestion, const rs_sight *sight);
void
rs_congestion_train(rs_congestion *congestion, const rs_train_sight *train);
void
rs_congestion_packet(rs_congestion *congestion, const rs_sight *sight);

/* A train of this stream will come soon, see approach.h; and once that has come near. */
void
rs_congestion_approach(const rs_congestion *congestion, guint32 stream);
void
rs_congestion_approach_more(const rs_congestion *congestion, guint32 stream);

void
rs_congestion_event(rs_congestion *congestion, const rs_occurrence *occurrence);

void
rs_congestion_finish(rs_congestion *congestion, guint64 resolution_ns);

/* What is known of a stream; all zero where nothing is. */
const rs_stream_congestion *
rs_congestion_of(const rs_congestion *congestion, guint32 stream);

/* The CNPs about the data of a stream: those of its receiver, and those of others.  FALSE
 * where nobody knows which they are. */
gboolean
rs_congestion_cnps(const rs_congestion *congestion, guint32 stream,
                   rs_cnp_counts *receivers, rs_cnp_counts *others);

/* The priorities of the CNPs about its data, and of the ACKs and NAKs for it; of none
 * where they are not known. */
guint8
rs_congestion_priorities(const rs_congestion *congestion, guint32 stream,
                         rs_class_of what);

const rs_reactions *
rs_congestion_reactions(const rs_congestion *congestion);

#endif
