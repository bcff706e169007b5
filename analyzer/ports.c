/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ports.h"

#include "data_sight.h"

#define MAX_STREAMS (1u << 20)
#define MAX_PORTS 256 /* of one stream: a sender that takes another for each packet */

struct rs_ports {
    GPtrArray *of_stream; /* GArray of rs_port_use, or NULL */
    guint64 omitted;
};

static void
free_uses(gpointer data)
{
    if (data != NULL) {
        g_array_unref(data);
    }
}

rs_ports *
rs_ports_new(void)
{
    rs_ports *ports = g_new0(rs_ports, 1);
    ports->of_stream = g_ptr_array_new_with_free_func(free_uses);
    return ports;
}

void
rs_ports_free(rs_ports *ports)
{
    if (ports != NULL) {
        g_ptr_array_unref(ports->of_stream);
        g_free(ports);
    }
}

static GArray *
uses_of(rs_ports *ports, guint32 stream)
{
    if (stream >= ports->of_stream->len) {
        g_ptr_array_set_size(ports->of_stream, (gint)stream + 1);
    }
    gpointer *uses = &ports->of_stream->pdata[stream];
    if (*uses == NULL) {
        *uses = g_array_sized_new(FALSE, FALSE, sizeof(rs_port_use), 1);
    }
    return *uses;
}

/* Nearly always the only one, or the one of the packet before. */
static rs_port_use *
use_of(GArray *uses, guint16 port)
{
    for (guint i = uses->len; i > 0; i--) {
        rs_port_use *use = &g_array_index(uses, rs_port_use, i - 1);
        if (use->port == port) {
            return use;
        }
    }
    if (uses->len == MAX_PORTS) {
        return NULL;
    }
    const rs_port_use added = {.port = port};
    g_array_append_val(uses, added);
    return &g_array_index(uses, rs_port_use, uses->len - 1);
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

const GArray *
rs_ports_of(const rs_ports *ports, guint32 stream)
{
    return stream < ports->of_stream->len ? ports->of_stream->pdata[stream] : NULL;
}

guint64
rs_ports_omitted(const rs_ports *ports)
{
    return ports->omitted;
}
