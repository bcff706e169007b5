/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "edges.h"

#include "approach.h"
#include "blocks.h"

#include "roce/hash.h"

#include <string.h>

#define NO_EDGE G_MAXUINT32

/* A message that has begun. */
typedef struct open_message {
    gboolean open;
    rs_message message;
} open_message;

/* What is known of a stream. */
struct rs_edge_follower {
    gboolean known; /* `edge` was looked for */
    guint32 edge;
    guint32 repeats;      /* what came more than once, so far */
    guint64 bytes;        /* of data, that are not yet its edge's */
    open_message request; /* SEND or WRITE */
    open_message *answer; /* READ response; NULL before the first one */
};

struct rs_edges {
    rs_blocks followers; /* rs_edge_follower, by stream id */
    GPtrArray *edges;
    GHashTable *edge_of; /* rs_edge, by its ends and its point -> number + 1 */
    GPtrArray *nodes;
    GHashTable *node_of; /* rs_tenant_addr -> number + 1 */
    guint64 messages;
    guint32 n_points;
    rs_edges_omitted omitted;
};

static guint
hash_edge(gconstpointer data)
{
    const rs_edge *edge = data;
    guint64 ends = (guint64)edge->src << 32 | edge->dst;
    return (guint)roce_hash_mix(roce_hash_mix(edge->point, ends), 0);
}

static gboolean
same_edge(gconstpointer a, gconstpointer b)
{
    const rs_edge *x = a;
    const rs_edge *y = b;
    return x->point == y->point && x->src == y->src && x->dst == y->dst;
}

static void
free_edge(gpointer data)
{
    rs_edge *edge = data;
    g_array_unref(edge->messages);
    g_free(edge);
}

rs_edges *
rs_edges_new(void)
{
    rs_edges *edges = g_new0(rs_edges, 1);
    edges->followers = rs_blocks_make(sizeof(rs_edge_follower));
    edges->edges = g_ptr_array_new_with_free_func(free_edge);
    edges->edge_of = g_hash_table_new(hash_edge, same_edge);
    edges->nodes = g_ptr_array_new_with_free_func(g_free);
    edges->node_of = g_hash_table_new(rs_tenant_addr_hash, rs_tenant_addr_equal);
    return edges;
}

void
rs_edges_free(rs_edges *edges)
{
    if (edges == NULL) {
        return;
    }
    g_hash_table_unref(edges->node_of);
    g_hash_table_unref(edges->edge_of);
    g_ptr_array_unref(edges->nodes);
    g_ptr_array_unref(edges->edges);
    for (guint i = 0; i < rs_blocks_n(&edges->followers); i++) {
        const rs_edge_follower *f = rs_blocks_find(&edges->followers, i);
        g_free(f != NULL ? f->answer : NULL);
    }
    rs_blocks_clear(&edges->followers);
    g_free(edges);
}

static guint32
node_of(rs_edges *edges, const roce_tenant *tenant, const roce_addr *addr)
{
    const rs_tenant_addr key = {*tenant, *addr};
    guint found = GPOINTER_TO_UINT(g_hash_table_lookup(edges->node_of, &key));
    if (found == 0) {
        rs_tenant_addr *node = g_memdup2(&key, sizeof key);
        g_ptr_array_add(edges->nodes, node);
        found = edges->nodes->len;
        g_hash_table_insert(edges->node_of, node, GUINT_TO_POINTER(found));
    }
    return found - 1;
}

/* The edge of a stream; NO_EDGE where there is no room for one more. */
G_NO_INLINE static guint32
edge_of(rs_edges *edges, const roce_stream *s)
{
    if (edges->edges->len >= RS_EDGES) {
        edges->omitted.streams++;
        return NO_EDGE;
    }
    const rs_edge key = {
        .point = s->point,
        .src = node_of(edges, &s->tenant, &s->src),
        .dst = node_of(edges, &s->tenant, &s->dst),
    };
    guint found = GPOINTER_TO_UINT(g_hash_table_lookup(edges->edge_of, &key));
    if (found == 0) {
        rs_edge *edge = g_memdup2(&key, sizeof key);
        edge->messages = g_array_new(FALSE, FALSE, sizeof(rs_message));
        edge->id = edges->edges->len;
        edges->n_points = MAX(edges->n_points, s->point + 1);
        g_ptr_array_add(edges->edges, edge);
        found = edges->edges->len;
        g_hash_table_insert(edges->edge_of, edge, GUINT_TO_POINTER(found));
    }
    return found - 1;
}

rs_edge_follower *
rs_edges_follower(rs_edges *edges, const roce_stream *s)
{
    if (s->id >= RS_EDGES_STREAMS) {
        return NULL;
    }
    rs_edge_follower *f = rs_blocks_get(&edges->followers, s->id);
    if (!f->known) {
        f->known = TRUE;
        f->edge = edge_of(edges, s);
    }
    return f->edge == NO_EDGE ? NULL : f;
}

guint32
rs_edges_edge_of(const rs_edge_follower *follower)
{
    return follower->edge;
}

static gboolean
carries_data(roce_role role)
{
    return role == ROCE_ROLE_SEND || role == ROCE_ROLE_WRITE ||
           role == ROCE_ROLE_READ_RESPONSE;
}

/* What is to be known of a packet. */
typedef struct parcel {
    const roce_stream *stream;
    const roce_opcode_info *info;
    guint64 time_ns, frame;
    guint32 payload_bytes, repeats;
} parcel;

static inline gboolean
is_signal(const parcel *p)
{
    return p->info->part == ROCE_PART_ONLY && p->info->role == ROCE_ROLE_WRITE &&
           (p->info->headers & ROCE_HEADER_IMMDT) == 0 &&
           p->payload_bytes <= RS_SIGNAL_BYTES;
}

G_NO_INLINE static void
keep(rs_edges *edges, rs_edge *edge, const rs_message *message)
{
    if (edge->messages->len >= RS_EDGE_MESSAGES ||
        edges->messages >= RS_EDGES_MESSAGES) {
        edge->not_kept++;
        edges->omitted.messages++;
        return;
    }
    g_array_append_vals(edge->messages, message, 1);
    edge->signals_kept += (message->flags & RS_MESSAGE_SIGNAL) != 0 ? 1 : 0;
    edges->messages++;
}

static open_message *
open_of(rs_edge_follower *f, const roce_opcode_info *info)
{
    if (info->role != ROCE_ROLE_READ_RESPONSE) {
        return &f->request;
    }
    if (f->answer == NULL) {
        f->answer = g_new0(open_message, 1);
    }
    return f->answer;
}

static inline void
add_to_message(rs_edges *edges, rs_edge_follower *f, const parcel *p)
{
    open_message *open = open_of(f, p->info);
    rs_message *message = &open->message;
    gboolean starts = roce_part_starts(p->info->part);
    if (starts || !open->open) {
        *message = (rs_message){
            .start_ns = p->time_ns,
            .first_frame = p->frame,
            .stream = p->stream->id,
            .flags = starts ? 0 : RS_MESSAGE_CUT,
        };
        open->open = TRUE;
    }
    message->bytes += p->payload_bytes;
    message->packets++;
    if (!roce_part_ends(p->info->part)) {
        return;
    }
    message->end_ns = MAX(p->time_ns, message->start_ns);
    message->last_frame = p->frame;
    open->open = FALSE;
    if ((p->info->headers & ROCE_HEADER_IMMDT) != 0) {
        message->flags |= RS_MESSAGE_IMMEDIATE;
    }
    if (is_signal(p)) {
        message->flags |= RS_MESSAGE_SIGNAL;
    }
    keep(edges, g_ptr_array_index(edges->edges, f->edge), message);
}

void
rs_edges_approach(const rs_edge_follower *follower)
{
    rs_approach(follower, sizeof *follower);
}

static const rs_load no_load = {RS_LOAD_NONE, NO_EDGE, 0};

static inline rs_load
take(rs_edges *edges, rs_edge_follower *f, const parcel *p)
{
    if ((gint32)(p->repeats - f->repeats) > 0) {
        f->repeats = p->repeats;
        return (rs_load){RS_LOAD_RESENT, f->edge, 0};
    }
    add_to_message(edges, f, p);
    if (p->payload_bytes == 0 || is_signal(p)) {
        return no_load;
    }
    f->bytes += p->payload_bytes;
    return (rs_load){RS_LOAD_DATA, f->edge, p->payload_bytes};
}

void
rs_edges_omit(rs_edges *edges, const roce_stream *stream)
{
    edges->omitted.packets += stream->id >= RS_EDGES_STREAMS ? 1 : 0;
}

rs_load
rs_edges_packet(rs_edges *edges, const rs_sight *sight)
{
    const roce_packet *packet = sight->packet;
    if (sight->stream == NULL || !packet->has_bth ||
        packet->bth.dest_qpn == ROCE_GSI_QPN || !carries_data(sight->info->role)) {
        return no_load;
    }
    rs_edge_follower *f = rs_edges_follower(edges, sight->stream);
    if (f == NULL) {
        rs_edges_omit(edges, sight->stream);
        return no_load;
    }
    const parcel p = {
        .stream = sight->stream,
        .info = sight->info,
        .time_ns = sight->frame->time_ns,
        .frame = sight->frame->number,
        .payload_bytes = packet->payload_bytes,
        .repeats = sight->counted.repeats,
    };
    return take(edges, f, &p);
}

rs_load
rs_edges_glimpse(rs_edges *edges, rs_edge_follower *follower, const rs_glimpse *glimpse)
{
    const parcel p = {
        .stream = glimpse->stream,
        .info = roce_opcode_get(glimpse->opcode),
        .time_ns = glimpse->time_ns,
        .frame = glimpse->frame,
        .payload_bytes = glimpse->payload_bytes,
        .repeats = glimpse->repeats,
    };
    return take(edges, follower, &p);
}

void
rs_edges_finish(rs_edges *edges)
{
    for (guint i = 0; i < rs_blocks_n(&edges->followers); i++) {
        rs_edge_follower *f = rs_blocks_find(&edges->followers, i);
        if (f != NULL && f->bytes > 0) {
            rs_edge *edge = g_ptr_array_index(edges->edges, f->edge);
            edge->bytes += f->bytes;
            f->bytes = 0;
        }
    }
}

guint
rs_edges_n(const rs_edges *edges)
{
    return edges->edges->len;
}

const rs_edge *
rs_edges_at(const rs_edges *edges, guint i)
{
    return g_ptr_array_index(edges->edges, i);
}

guint
rs_edges_n_nodes(const rs_edges *edges)
{
    return edges->nodes->len;
}

const rs_tenant_addr *
rs_edges_node(const rs_edges *edges, guint i)
{
    return g_ptr_array_index(edges->nodes, i);
}

const rs_edge *
rs_edges_find(const rs_edges *edges, guint32 point, guint32 src, guint32 dst)
{
    const rs_edge key = {.point = point, .src = src, .dst = dst};
    guint found = GPOINTER_TO_UINT(g_hash_table_lookup(edges->edge_of, &key));
    return found > 0 ? rs_edges_at(edges, found - 1) : NULL;
}

guint32
rs_edges_n_points(const rs_edges *edges)
{
    return edges->n_points;
}

const rs_edges_omitted *
rs_edges_get_omitted(const rs_edges *edges)
{
    return &edges->omitted;
}
