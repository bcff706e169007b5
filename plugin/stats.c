/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "stats.h"

void
stats_register(int proto_rocev2)
{
    ending_register();
    conversations_register(proto_rocev2);
    counts_register();
    response_register(proto_rocev2);
    queue_pairs_register();
    pause_table_register();
    flow_register(proto_rocev2);
}
