/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Passages: by which MAC addresses, and with which hop limit, the packets of a stream
 * pass a capture point; and for how long pauses held them there.
 *
 * The one rule: what has the same stream, MAC addresses and hop limit is one passage.  At
 * a mirror of a whole switch a stream has several, one for each link.
 */
#ifndef RS_PASSAGES_H
#define RS_PASSAGES_H

#include "macs.h"

#include "roce/tracker.h"

#include <glib.h>

#define RS_PASSAGES 262144 /* further ones are counted, no more */

/* What pauses did to a sequence of packets.  A gap between two of them in which a pause
 * ended is a stop; as long as it was paused in that gap, they were held. */
typedef struct rs_held {
    gboolean any;  /* packet came before, so that the next one ends a gap */
    guint32 pause; /* the tracker's, that may stop the next; ROCE_NO_PAUSE */
    guint64 last_total_ns, last_ended; /* of the pause, when the newest packet came */
    guint64 held_ns, stops;
} rs_held;

/* A packet came, which `pause` may stop; ROCE_NO_PAUSE: nothing does. */
void
rs_held_packet(rs_held *held, const roce_tracker *tracker, guint32 pause,
               guint64 time_ns);

/* Whether the capture ended in a pause; the tracker has finished. */
gboolean
rs_pause_lasts(const roce_pause_source *p);

/* Nothing came that a pause may have stopped, but for the one that lasts to the end. */
void
rs_held_begin_behind(rs_held *held, const roce_pause_source *p, guint32 pause);

/* The capture ends in a pause, and there was more to come. */
void
rs_held_end(rs_held *held, const roce_tracker *tracker);

/* By what packets are stopped: PFC of their priority, and 802.3x, which is of all. */
typedef enum rs_stopper {
    RS_STOPPER_PFC,
    RS_STOPPER_LINK,
    RS_N_STOPPERS,
} rs_stopper;

/* The tracker's pauses that may stop a packet, of each kind; ROCE_NO_PAUSE: none. */
typedef struct rs_stoppers {
    guint32 pause[RS_N_STOPPERS];
} rs_stoppers;

/* PSNs of data, of requests and of responses, each while it is known. */
typedef struct rs_data_psns {
    guint32 psn24[ROCE_N_SPACES];
    guint8 known[ROCE_N_SPACES];
} rs_data_psns;

/* What pauses did to a passage. */
typedef struct rs_passage_stop {
    rs_held held;
    guint64 packets;     /* that a pause may have stopped */
    rs_data_psns before; /* the newest before the pause that may have stopped it */
} rs_passage_stop;

typedef struct rs_passage {
    guint32 stream;
    rs_data_psns newest;
    rs_mac *src, *dst; /* dst NULL: multicast */
    guint64 packets;
    guint64 first_ns;
    rs_passage_stop *stops[RS_N_STOPPERS]; /* NULL: none may have stopped any of it */
    guint8 hop_limit;
    guint8 priority, direction; /* of the newest packet; a roce_direction */
    guint8 is_first;   /* of its stream at this point; see rs_passages_find_firsts() */
    guint8 in_message; /* the newest packet with data was not the last of its message */
} rs_passage;

/* A number that orders passages, no two of which have the same. */
guint64
rs_passage_key(const rs_passage *passage);

/* What one pause did to it; NULL: it may have stopped none of it. */
const rs_passage_stop *
rs_passage_stop_by(const rs_passage *passage, guint32 pause);
const rs_held *
rs_passage_held(const rs_passage *passage, guint32 pause);
const rs_data_psns *
rs_passage_before(const rs_passage *passage, guint32 pause);

/* The passage ends, and `pause` began behind its last packet. */
void
rs_passage_stop_behind(rs_passage *passage, const roce_tracker *tracker,
                       rs_stopper stopper, guint32 pause);

/* Orders streams by what they are at all points: 0 for the same one. */
gint
rs_stream_compare(const roce_stream *a, const roce_stream *b);

/* Whether a packet carries data, and if so of which PSN space. */
gboolean
rs_carries_data(const roce_packet *packet, roce_space *space);

typedef struct rs_passages rs_passages;

rs_passages *
rs_passages_new(void);

void
rs_passages_free(rs_passages *passages);

/* The passage of a packet of a stream with MAC addresses, new if need be, and then
 * learned from; NULL where there is no room for it.  rs_passage_packet() counts it. */
rs_passage *
rs_passages_get(rs_passages *passages, rs_macs *macs, const rs_sight *sight,
                guint32 point);

/* A packet of the passage, and what may stop it. */
void
rs_passage_packet(rs_passage *passage, const roce_tracker *tracker,
                  const rs_sight *sight, const rs_stoppers *by);

/* Notes of each stream which of its passages is the first on its way: the one with the greatest
 * hop limit, and of several with that the one that was seen first. */
void
rs_passages_find_firsts(rs_passages *passages);

guint
rs_passages_n(const rs_passages *passages);
rs_passage *
rs_passages_at(const rs_passages *passages, guint i);

/* Packets without a passage for want of room. */
guint64
rs_passages_overflow(const rs_passages *passages);

#endif
