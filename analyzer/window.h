/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Packets that have been tracked, on their way to the watchers: some at a time, each with
 * what was known of it by then and with the events that it caused.
 *
 * The one rule: a window owns all that watchers are shown, but for streams.  It can be
 * told long after its packets were tracked, and elsewhere, see stages.h.
 */
#ifndef RS_WINDOW_H
#define RS_WINDOW_H

#include "occurrence.h"
#include "sight.h"

#include "roce/wire_identity.h"

#include <glib.h>

#define RS_WINDOW_PACKETS 64       /* at most; as many as come at once, see feed.h */
#define RS_WINDOW_BYTES (1u << 20) /* of frames; the last one may go beyond */

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

typedef struct rs_window {
    roce_packet packets[RS_WINDOW_PACKETS]; /* for whoever decodes */
    roce_packet copies[RS_WINDOW_PACKETS];  /* of packets that were decoded elsewhere */
    rs_slot slots[RS_WINDOW_PACKETS];
    guint n, n_packets; /* slots and packets in use */
    GArray *events;     /* rs_occurrence */
    GByteArray *bytes;  /* of frames */
} rs_window;

void
rs_window_init(rs_window *window);

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
