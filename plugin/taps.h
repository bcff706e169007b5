/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What statistics are made of: the taps "rocev2" and "pfc". */
#ifndef ROCESCOPE_TAPS_H
#define ROCESCOPE_TAPS_H

#include "analysis.h"

#include <epan/tap.h>

/* What both taps give for each packet of their protocol; good until the packet is
 * done. */
typedef struct tapped_packet {
    const plugin_packet *packet;
    const packet_record *record; /* NULL: it is not analysed */
    bool is_new; /* dissected for the first time; listeners cannot tell from `pinfo` */
} tapped_packet;

/* Gives a packet to those who listen. */
void
taps_queue(int tap, packet_info *pinfo, const plugin_packet *packet,
           const packet_record *record);

#endif
