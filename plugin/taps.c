/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What statistics are made of.
 *
 * The one rule: nothing is copied unless somebody listens.
 */
#include "taps.h"

void
taps_queue(int tap, packet_info *pinfo, const plugin_packet *packet,
           const packet_record *record)
{
    if (!have_tap_listener(tap)) {
        return;
    }
    /* Listeners are called when the packet's dissection has ended. */
    tapped_packet *tapped = wmem_new(pinfo->pool, tapped_packet);
    tapped->packet = wmem_memdup(pinfo->pool, packet, sizeof *packet);
    tapped->record = record;
    tapped->is_new = !PINFO_FD_VISITED(pinfo);
    tap_queue_packet(tap, pinfo, tapped);
}
