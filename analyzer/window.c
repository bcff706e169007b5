/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "window.h"

void
rs_window_init(rs_window *window, gboolean told_elsewhere)
{
    window->told_elsewhere = told_elsewhere;
    window->n = window->n_packets = 0;
    window->n_glimpses = window->n_trains = window->n_cars = 0;
    window->has_identities = FALSE;
    window->events = g_array_new(FALSE, FALSE, sizeof(rs_occurrence));
    window->bytes = g_byte_array_new();
}

void
rs_window_clear(rs_window *window)
{
    g_array_unref(window->events);
    g_byte_array_unref(window->bytes);
}

void
rs_window_empty(rs_window *window)
{
    window->n = window->n_packets = 0;
    window->n_glimpses = window->n_trains = window->n_cars = 0;
    window->has_identities = FALSE;
    g_array_set_size(window->events, 0);
    g_byte_array_set_size(window->bytes, 0);
}

/* What is not RoCE is classified by what it carries, and of RoCE connection management
 * and nothing else is read once more. */
static gboolean
is_read_again(const roce_packet *packet)
{
    return packet->kind != ROCE_CLASS_ROCE || packet->bth.dest_qpn == ROCE_GSI_QPN;
}

static gboolean
is_own(const rs_window *window, const roce_packet *packet)
{
    return packet >= window->packets && packet < window->packets + window->n_packets;
}

rs_slot *
rs_window_add(rs_window *window, const roce_frame *frame, const roce_packet *packet)
{
    rs_slot *slot = &window->slots[window->n];
    if (!is_own(window, packet)) {
        window->copies[window->n] = *packet;
        packet = &window->copies[window->n];
    }
    window->n++;
    rs_window_approach_slot(window);
    slot->frame = *frame;
    slot->sight = (rs_sight){
        .frame = &slot->frame, .packet = packet, .sighting = &slot->sighting};
    slot->has_identity = FALSE;
    slot->has_bytes = is_read_again(packet) && frame->captured_bytes > 0;
    if (slot->has_bytes) {
        slot->bytes_at = window->bytes->len;
        g_byte_array_append(window->bytes, frame->bytes, frame->captured_bytes);
    }
    return slot;
}

void
rs_window_close(rs_window *window)
{
    for (guint i = 0; i < window->n; i++) {
        rs_slot *slot = &window->slots[i];
        slot->frame.bytes =
            slot->has_bytes ? window->bytes->data + slot->bytes_at : NULL;
    }
}
