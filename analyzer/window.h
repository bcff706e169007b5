/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Packets that have been tracked, on their way to the watchers: some at a time, each with
 * what was known of it by then and with the events that it caused.
 *
 * Most packets have no place of their own: they come in trains (trains.h), of which those
 * who look at streams are told when the tracker has taken them, and those who look at what
 * streams come to together have had a glimpse of each packet when it came.
 *
 * The one rule: a window owns all that watchers are shown, but for streams.  It can be
 * told long after its packets were tracked, and elsewhere, see stages.h.
 */
#ifndef RS_WINDOW_H
#define RS_WINDOW_H

#include "approach.h"
#include "glimpse.h"
#include "occurrence.h"
#include "sight.h"

#include "roce/train.h"
#include "roce/wire_identity.h"

#include <glib.h>

#define RS_WINDOW_PACKETS 64       /* at most; as many as come at once, see feed.h */
#define RS_WINDOW_BYTES (1u << 18) /* of frames; the last one may go beyond */
#define RS_WINDOW_CARS 256         /* of all its trains; as many glimpses */
#define RS_WINDOW_AHEAD 12u /* of those, how many come near before they are filled */

/* A packet's place. */
typedef struct rs_slot {
    roce_frame frame;
    roce_sighting sighting;
    rs_sight sight; /* of the two, and of a packet of the window's */
    roce_wire_identity identity;
    gboolean has_identity; /* it is to be looked for at other points */
    guint n_events;        /* of the window, when it had been tracked */
    guint bytes_at;        /* of the window; valid if has_bytes */
    gboolean has_bytes;    /* watchers read the frame itself */
} rs_slot;

/* A train that the tracker has taken. */
typedef struct rs_train {
    const roce_stream *stream;
    gint64 psn;       /* unwrapped, of its first car */
    roce_space space; /* of that */
    guint16 first, n; /* cars of the window */
    guint16 behind;   /* so many slots of the window */
} rs_train;

typedef struct rs_window {
    roce_packet packets[RS_WINDOW_PACKETS]; /* for whoever decodes */
    roce_packet copies[RS_WINDOW_PACKETS];  /* of packets that were decoded elsewhere */
    rs_slot slots[RS_WINDOW_PACKETS];
    guint n, n_packets; /* slots and packets in use */
    rs_glimpse glimpses[RS_WINDOW_CARS];
    rs_glance glances[RS_WINDOW_CARS]; /* at the same packets, where they are wanted */
    roce_wire_identity identities[RS_WINDOW_CARS]; /* of glimpses that have one */
    rs_train trains[RS_WINDOW_CARS];
    roce_car cars[RS_WINDOW_CARS];
    guint n_glimpses, n_trains, n_cars;
    gboolean has_identities; /* some glimpse has one */
    gboolean told_elsewhere; /* by another thread than the one that fills it */
    GArray *events;          /* rs_occurrence */
    GByteArray *bytes;       /* of frames */
} rs_window;

void
rs_window_init(rs_window *window, gboolean told_elsewhere);

void
rs_window_clear(rs_window *window);

/* Makes room for other packets. */
void
rs_window_empty(rs_window *window);

static inline gboolean
rs_window_is_full(const rs_window *window)
{
    return window->n == RS_WINDOW_PACKETS || window->bytes->len >= RS_WINDOW_BYTES;
}

/* Whether one glimpse more finds its place, or a train of so many cars. */
static inline gboolean
rs_window_has_room(const rs_window *window, guint n_cars)
{
    return window->n_glimpses < RS_WINDOW_CARS &&
           window->n_cars + n_cars <= RS_WINDOW_CARS;
}

/* Where another thread tells windows, their places were its own since they were filled last.
 * Those that are filled in a moment: of a glimpse, of cars, of a packet. */
static inline void
rs_window_approach_glimpse(rs_window *window)
{
    guint i = window->n_glimpses + RS_WINDOW_AHEAD;
    if (window->told_elsewhere && i < RS_WINDOW_CARS) {
        rs_approach_to_fill(&window->glimpses[i], 1);
    }
}

static inline void
rs_window_approach_cars(rs_window *window)
{
    if (window->told_elsewhere) {
        guint n = MIN(RS_WINDOW_AHEAD, RS_WINDOW_CARS - window->n_cars);
        rs_approach_to_fill(&window->cars[window->n_cars], n * sizeof(roce_car));
    }
}

static inline void
rs_window_approach_slot(rs_window *window)
{
    if (window->told_elsewhere && window->n < RS_WINDOW_PACKETS) {
        rs_approach_to_fill(&window->slots[window->n], sizeof(rs_slot));
    }
}

static inline gboolean
rs_window_is_empty(const rs_window *window)
{
    return window->n == 0 && window->n_glimpses == 0 && window->n_trains == 0;
}

/* The place of a packet in a window that is not full: its sight has frame, sighting and
 * packet.  Neither frame nor packet need outlive the call, unless the packet is one of
 * those in use of window->packets. */
rs_slot *
rs_window_add(rs_window *window, const roce_frame *frame, const roce_packet *packet);

/* The packet that was added last has been tracked, and so have its events been added. */
static inline void
rs_window_end_packet(rs_window *window)
{
    window->slots[window->n - 1].n_events = window->events->len;
}

/* No more is added: frames of places are the window's own from here on. */
void
rs_window_close(rs_window *window);

#endif
