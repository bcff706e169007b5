/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Incast: several senders to one receiver at once, and whether congestion comes with it.
 *
 * A sender is active towards a receiver for RS_INCAST_WINDOW_NS from each data packet of
 * its; the degree of a receiver is how many are active.  An episode is a time in which the
 * degree does not fall below RS_INCAST_SENDERS; it reaches one window beyond the packet
 * that last held it up, so that what follows shortly after is inside.
 *
 * Stamps have to be RS_INCAST_STAMPS times finer than the window, or nothing is said: within
 * one tick of a coarser clock everybody sends at once.
 *
 * The one rule: congestion coincides with incast where it is more frequent inside episodes
 * than outside, never because it is there.  Each point is looked at by itself; only pauses
 * are looked for at all points, since those that an incast causes stop the senders' links.
 * What coincides comes of it if it meets (nearly) all senders: a queue on the way of some
 * of them is not the one in front of the receiver.
 */
#ifndef RS_INCAST_H
#define RS_INCAST_H

#include "destinations.h"
#include "glimpse.h"
#include "nics.h"
#include "occurrence.h"
#include "sight.h"

#include <glib.h>

/* What several senders send within this time meets in one queue: it is the round trip
 * of a large fabric, and a queue of 600 kB drains in it at 100 Gb/s. */
#define RS_INCAST_WINDOW_NS 50000
#define RS_INCAST_STAMPS 10
/* Two neighbours of a ring may send to a receiver at once by design; three meet. */
#define RS_INCAST_SENDERS 3

#define RS_INCAST_EPISODES 32        /* kept of each receiver, the first */
#define RS_INCAST_EPISODE_SENDERS 32 /* named of each episode */

typedef struct rs_incast rs_incast;

typedef enum rs_incast_sign {
    RS_INCAST_CE,    /* marked data to the receiver; among its data packets */
    RS_INCAST_CNP,   /* CNPs about data to it; likewise */
    RS_INCAST_PAUSE, /* pauses that it did not ask for itself; over time */
    RS_INCAST_N_SIGNS,
} rs_incast_sign;

typedef enum rs_coincidence {
    RS_COINCIDENCE_ABSENT,      /* there was none of it */
    RS_COINCIDENCE_YES,         /* more frequent inside, by far more than by chance */
    RS_COINCIDENCE_NO,          /* not more frequent inside */
    RS_COINCIDENCE_UNDECIDABLE, /* there is too little outside to compare with */
    RS_N_COINCIDENCES,
} rs_coincidence;

/* A sign inside and outside of episodes, of how many data packets or ns there. */
typedef struct rs_incast_share {
    guint64 inside, outside;
    guint64 of_inside, of_outside;
} rs_incast_share;

typedef struct rs_incast_episode {
    guint64 start_ns, end_ns;
    guint64 frame;   /* the packet that made it an episode */
    guint degree;    /* most at once */
    guint n_senders; /* at any time of it */
    roce_addr senders[RS_INCAST_EPISODE_SENDERS];
    guint64 data_packets, ce;
    guint64 cnps;   /* in it, or up to a window behind */
    guint64 pauses; /* that began in it, and that the receiver did not ask for itself */
    guint64 ce_frame; /* the first marked one; 0: none */
} rs_incast_episode;

/* A receiver at a point. */
typedef struct rs_incast_receiver {
    rs_destination at;
    guint n_senders;    /* over the whole capture */
    guint n_met;        /* of them, in episodes */
    guint n_markable;   /* of those, with data there that can carry marks */
    guint n_marked;     /* of those, some of whose data was marked there */
    guint n_complained; /* of those that met, about whose data CNPs came then */
    guint max_degree;
    guint64 max_degree_ns; /* when it was reached first */
    GArray *degree_ns;     /* guint64: how long each degree held, from 0, which is 0 */
    GArray *episodes;      /* rs_incast_episode, the first */
    guint64 n_episodes;
    guint64 inside_ns; /* all episodes together */
    rs_incast_share signs[RS_INCAST_N_SIGNS];
    gboolean pauses_known; /* all of them could be compared; valid with episodes */
} rs_incast_receiver;

rs_incast *
rs_incast_new(void);

void
rs_incast_free(rs_incast *incast);

/* The tracker has just taken this packet. */
void
rs_incast_packet(rs_incast *incast, const rs_sight *sight);

/* A packet of this stream will come soon, see approach.h. */
void
rs_incast_approach(const rs_incast *incast, guint32 stream);

/* Who sends to a receiver; as long as the incast. */
typedef struct rs_incast_sender rs_incast_sender;

/* The sender of a stream with data; NULL beyond the bounds. */
rs_incast_sender *
rs_incast_sender_of(rs_incast *incast, const roce_stream *stream);

/* A glimpse of one of its streams, and that one will come soon; NULL is fine. */
void
rs_incast_glimpse(rs_incast *incast, rs_incast_sender *sender,
                  const rs_glimpse *glimpse);
void
rs_incast_approach_sender(const rs_incast_sender *sender);

/* The tracker says this, while it takes a packet or finishes. */
void
rs_incast_event(rs_incast *incast, const rs_occurrence *occurrence);

/* The tracker has finished, and the NICs are known; stamps are no finer than that. */
void
rs_incast_finish(rs_incast *incast, const rs_nics *nics, guint64 resolution_ns);

/* Whether stamps are fine enough; if not, there are no receivers. */
gboolean
rs_incast_known(const rs_incast *incast);

/* Each receiver at each point, in the order of appearance. */
guint
rs_incast_n_receivers(const rs_incast *incast);
const rs_incast_receiver *
rs_incast_receiver_at(const rs_incast *incast, guint i);

/* The receiver of a stream; rs_incast_n_receivers() or more: none. */
guint32
rs_incast_receiver_of(const rs_incast *incast, const roce_stream *stream);

/* Streams, or senders, beyond the bounds: no degree counts them. */
guint64
rs_incast_omitted(const rs_incast *incast);

/* Whether a sign coincides: it is at least twice as frequent inside, and had it been as
 * frequent outside, at least 3 were to be expected there (of fewer, none at all is no
 * proof at 95 %: the rule of three). */
rs_coincidence
rs_incast_judge(const rs_incast_receiver *receiver, rs_incast_sign sign);

/* Whether a sign decides: where data to the receiver is marked, marks do, and not the CNPs
 * that come of them, which are paced. */
gboolean
rs_incast_counts(const rs_incast_receiver *receiver, rs_incast_sign sign);

/* "ce", "cnp", "pause". */
const char *
rs_incast_sign_name(rs_incast_sign sign);
/* "absent", "yes", "no", "undecidable". */
const char *
rs_coincidence_name(rs_coincidence coincidence);

#endif
