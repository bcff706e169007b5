/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sight.h"

guint8
rs_priority_of(const roce_packet *packet, const rs_options *options)
{
    gboolean has_dscp = packet->src.family != 0;
    if (packet->n_vlans > 0 && !(has_dscp && options->dscp_map_given)) {
        return (guint8)(packet->vlan_tci[0] >> 13);
    }
    return has_dscp ? options->dscp_map[packet->traffic_class >> 2] : 0;
}
