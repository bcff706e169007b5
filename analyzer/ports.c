/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ports.h"

#include "data_sight.h"

#define MAX_STREAMS (1u << 20)
#define MAX_PORTS 256 /* of one stream: a sender that takes another for each packet */

/* Of nearly every stream one port is all. */
typedef struct uses {
    rs_port_use first; /* no packets: none yet */
    GArray *others;    /* rs_port_use; NULL without */
} uses;

struct rs_ports {
    GArray *of_stream; /* uses */
    guint64 omitted;
};

static void
clear_uses(gpointer data)
{
    uses *u = data;
    if (u->others != NULL) {
        g_array_unref(u->others);
    }
}

rs_ports *
rs_ports_new(void)
{
    rs_ports *ports = g_new0(rs_ports, 1);
    ports->of_stream = g_array_new(FALSE, TRUE, sizeof(uses));
    g_array_set_clear_func(ports->of_stream, clear_uses);
    return ports;
}

void
rs_ports_free(rs_ports *ports)
{
    if (ports != NULL) {
        g_array_unref(ports->of_stream);
        g_free(ports);
    }
}

static uses *
uses_of(rs_ports *ports, guint32 stream)
{
    if (stream >= ports->of_stream->len) {
        g_array_set_size(ports->of_stream, stream + 1);
    }
    return &g_array_index(ports->of_stream, uses, stream);
}

/* Nearly always the first one, or the one of the packet before. */
static rs_port_use *
use_of(uses *u, guint16 port)
{
    if (u->first.packets == 0 || u->first.port == port) {
        u->first.port = port;
        return &u->first;
    }
    if (u->others == NULL) {
        u->others = g_array_new(FALSE, FALSE, sizeof(rs_port_use));
    }
    for (guint i = u->others->len; i > 0; i--) {
        rs_port_use *use = &g_array_index(u->others, rs_port_use, i - 1);
        if (use->port == port) {
            return use;
        }
    }
    if (u->others->len == MAX_PORTS - 1) {
        return NULL;
    }
    const rs_port_use added = {.port = port};
    g_array_append_val(u->others, added);
    return &g_array_index(u->others, rs_port_use, u->others->len - 1);
}

void
rs_ports_packet(rs_ports *ports, const rs_sight *sight)
{
    if (!sight->is_data || sight->packet->is_grh) {
        return;
    }
    guint32 stream = sight->stream->id;
    rs_port_use *use = stream < MAX_STREAMS
                           ? use_of(uses_of(ports, stream), sight->packet->src_port)
                           : NULL;
    if (use == NULL) {
        ports->omitted += sight->n;
        return;
    }
    use->packets += sight->n;
    use->bytes += sight->payload_bytes;
}

guint
rs_ports_n(const rs_ports *ports, guint32 stream)
{
    if (stream >= ports->of_stream->len) {
        return 0;
    }
    const uses *u = &g_array_index(ports->of_stream, uses, stream);
    return (u->first.packets > 0 ? 1 : 0) + (u->others != NULL ? u->others->len : 0);
}

const rs_port_use *
rs_ports_at(const rs_ports *ports, guint32 stream, guint i)
{
    const uses *u = &g_array_index(ports->of_stream, uses, stream);
    return i == 0 ? &u->first : &g_array_index(u->others, rs_port_use, i - 1);
}

guint64
rs_ports_omitted(const rs_ports *ports)
{
    return ports->omitted;
}
