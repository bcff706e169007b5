/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "background.h"

#include "no_memory.h"
#include "sorting.h"

#if ROCESCOPE_NDPI

#include "roce/hash.h"

#include <ndpi/ndpi_api.h>
#include <string.h>

#define MAX_FLOWS 65536
#define PACKETS_TO_LOOK_AT 16

typedef struct flow_key {
    roce_tenant tenant;
    roce_addr addr[2]; /* the lower first */
    guint16 port[2];
    guint8 protocol;
    guint32 point;
} flow_key;

typedef struct flow {
    flow_key key;
    struct ndpi_flow_struct *detection; /* NULL once decided */
    ndpi_protocol protocol;
    guint looked_at;
    guint64 packets, bytes;
    struct {
        guint64 packets, bytes, first_frame;
    } by_priority[8];
    gboolean stands;              /* no other point saw more of it */
    const rs_background_row *row; /* that it counts for, once decided */
} flow;

struct rs_background {
    struct ndpi_detection_module_struct *ndpi; /* made for the first packet */
    GHashTable *flows;
    flow beyond; /* packets of flows that found no place */
    flow not_ip;
    GPtrArray *rows;
};

static guint
hash_key(gconstpointer data)
{
    const flow_key *key = data;
    guint64 ports = (guint64)key->port[0] << 32 | (guint64)key->port[1] << 8;
    guint64 hash = roce_hash_mix(roce_hash_tenant(key->protocol, &key->tenant), ports);
    return (guint)roce_hash_addr(roce_hash_addr(hash, &key->addr[0]), &key->addr[1]);
}

/* At whatever point. */
static gboolean
same_flow(gconstpointer a, gconstpointer b)
{
    const flow_key *x = a;
    const flow_key *y = b;
    return x->protocol == y->protocol && x->port[0] == y->port[0] &&
           x->port[1] == y->port[1] && roce_tenant_equal(&x->tenant, &y->tenant) &&
           roce_addr_equal(&x->addr[0], &y->addr[0]) &&
           roce_addr_equal(&x->addr[1], &y->addr[1]);
}

static gboolean
equal_keys(gconstpointer a, gconstpointer b)
{
    const flow_key *x = a;
    const flow_key *y = b;
    return x->point == y->point && same_flow(a, b);
}

static void
free_flow(gpointer data)
{
    flow *f = data;
    if (f->detection != NULL) {
        ndpi_free_flow(f->detection);
    }
    g_free(f);
}

static void
free_row(gpointer data)
{
    rs_background_row *row = data;
    g_free(row->protocol);
    g_free(row->category);
    g_free(row);
}

rs_background *
rs_background_new(void)
{
    rs_background *background = g_new0(rs_background, 1);
    background->flows = g_hash_table_new_full(hash_key, equal_keys, NULL, free_flow);
    background->rows = g_ptr_array_new_with_free_func(free_row);
    return background;
}

void
rs_background_free(rs_background *background)
{
    if (background == NULL) {
        return;
    }
    g_hash_table_unref(background->flows);
    g_ptr_array_unref(background->rows);
    if (background->ndpi != NULL) {
        ndpi_exit_detection_module(background->ndpi);
    }
    g_free(background);
}

/* More than the tables take: 6 MB of nDPI 4.2. */
#define NDPI_ROOM_BYTES ((gsize)16 * 1024 * 1024)

/* Of this process: what rs_background_prepare() has built and nobody has taken yet. */
static struct ndpi_detection_module_struct *prepared;

static struct ndpi_detection_module_struct *
build_ndpi(void)
{
    set_ndpi_malloc(rs_no_memory_or_allocate);
    struct ndpi_detection_module_struct *ndpi =
        ndpi_init_detection_module(ndpi_no_prefs);
    NDPI_PROTOCOL_BITMASK all;
    NDPI_BITMASK_SET_ALL(all);
    ndpi_set_protocol_detection_bitmask2(ndpi, &all);
    ndpi_finalize_initialization(ndpi);
    return ndpi;
}

/* Where there is no memory for nDPI's tables, only who needs them should find out. */
void
rs_background_prepare(void)
{
    gpointer room = g_try_malloc(NDPI_ROOM_BYTES);
    g_free(room);
    if (room != NULL && prepared == NULL) {
        prepared = build_ndpi();
    }
}

/* nDPI's tables take a while to build: only captures with something to classify pay.  It
 * remembers what it has seen, so that no two analyses may share them. */
static void
start_ndpi(rs_background *background)
{
    if (background->ndpi == NULL) {
        background->ndpi = prepared != NULL ? g_steal_pointer(&prepared) : build_ndpi();
    }
}

static flow_key
key_of(const roce_packet *p, guint32 point)
{
    int order = roce_addr_compare(&p->src, &p->dst);
    gboolean forward = order < 0 || (order == 0 && p->src_port <= p->dst_port);
    return (flow_key){
        .tenant = p->tenant,
        .addr = {forward ? p->src : p->dst, forward ? p->dst : p->src},
        .port = {forward ? p->src_port : p->dst_port,
                 forward ? p->dst_port : p->src_port},
        .protocol = p->ip_protocol,
        .point = point,
    };
}

static flow *
flow_of(rs_background *background, const roce_packet *p, guint32 point)
{
    flow_key key = key_of(p, point);
    flow *f = g_hash_table_lookup(background->flows, &key);
    if (f != NULL) {
        return f;
    }
    if (g_hash_table_size(background->flows) >= MAX_FLOWS) {
        return &background->beyond;
    }
    f = g_new0(flow, 1);
    f->key = key;
    f->detection = ndpi_flow_malloc(SIZEOF_FLOW_STRUCT);
    if (f->detection != NULL) {
        memset(f->detection, 0, SIZEOF_FLOW_STRUCT);
    }
    g_hash_table_insert(background->flows, &f->key, f);
    return f;
}

static void
decide(rs_background *background, flow *f)
{
    guint8 guessed = 0;
    f->protocol = ndpi_detection_giveup(background->ndpi, f->detection, 1, &guessed);
    ndpi_free_flow(f->detection);
    f->detection = NULL;
}

static void
look(rs_background *background, flow *f, const roce_frame *frame, const roce_packet *p)
{
    if (f->detection == NULL) {
        return;
    }
    guint32 left = frame->captured_bytes - p->ip_offset;
    f->protocol = ndpi_detection_process_packet(
        background->ndpi, f->detection, frame->bytes + p->ip_offset,
        (unsigned short)MIN(left, G_MAXUINT16), frame->time_ns / 1000000);
    if (++f->looked_at >= PACKETS_TO_LOOK_AT) {
        decide(background, f);
    }
}

static void
count(flow *f, const rs_sight *sight)
{
    guint64 bytes = roce_packet_wire_bytes(sight->packet, sight->frame);
    f->packets++;
    f->bytes += bytes;
    if (f->by_priority[sight->priority].packets++ == 0) {
        f->by_priority[sight->priority].first_frame = sight->frame->number;
    }
    f->by_priority[sight->priority].bytes += bytes;
}

void
rs_background_packet(rs_background *background, const rs_sight *sight)
{
    const roce_packet *packet = sight->packet;
    if (packet->kind != ROCE_CLASS_OTHER) {
        return;
    }
    if (packet->src.family == 0 || packet->is_grh) {
        count(&background->not_ip, sight);
        return;
    }
    start_ndpi(background);
    flow *f = flow_of(background, packet, sight->frame->point);
    count(f, sight);
    look(background, f, sight->frame, packet);
}

static rs_background_row *
row_of(rs_background *background, GHashTable *index, const char *protocol,
       const char *category)
{
    rs_background_row *row = g_hash_table_lookup(index, protocol);
    if (row == NULL) {
        row = g_new0(rs_background_row, 1);
        row->protocol = g_strdup(protocol);
        row->category = g_strdup(category);
        g_ptr_array_add(background->rows, row);
        g_hash_table_insert(index, row->protocol, row);
    }
    return row;
}

static void
add_to_row(rs_background_row *row, const flow *f, guint flows)
{
    row->flows += flows;
    row->packets += f->packets;
    row->bytes += f->bytes;
    for (guint i = 0; i < 8; i++) {
        row->by_priority[i] += f->by_priority[i].packets;
    }
}

static gint
by_bytes(gconstpointer a, gconstpointer b)
{
    const rs_background_row *x = *(rs_background_row *const *)a;
    const rs_background_row *y = *(rs_background_row *const *)b;
    if (x->bytes != y->bytes) {
        return x->bytes > y->bytes ? -1 : 1;
    }
    return g_strcmp0(x->protocol, y->protocol);
}

/* Has each flow stand at the point that saw most of it; the lower one, of two alike. */
static void
elect(rs_background *background)
{
    g_autoptr(GHashTable) best = g_hash_table_new(hash_key, same_flow);
    GHashTableIter iter;
    gpointer value;
    g_hash_table_iter_init(&iter, background->flows);
    while (g_hash_table_iter_next(&iter, NULL, &value)) {
        flow *f = value;
        flow *other = g_hash_table_lookup(best, &f->key);
        gboolean more =
            other == NULL || f->packets > other->packets ||
            (f->packets == other->packets && f->key.point < other->key.point);
        f->stands = more;
        if (more && other != NULL) {
            other->stands = FALSE;
        }
        if (more) {
            g_hash_table_replace(best, &f->key, f);
        }
    }
}

void
rs_background_finish(rs_background *background)
{
    g_autoptr(GHashTable) index = g_hash_table_new(g_str_hash, g_str_equal);
    GHashTableIter iter;
    gpointer value;
    elect(background);
    g_hash_table_iter_init(&iter, background->flows);
    while (g_hash_table_iter_next(&iter, NULL, &value)) {
        flow *f = value;
        if (f->detection != NULL) {
            decide(background, f);
        }
        if (!f->stands) {
            continue;
        }
        char name[64];
        ndpi_protocol2name(background->ndpi, f->protocol, name, sizeof name);
        const char *category = ndpi_category_get_name(
            background->ndpi, ndpi_get_proto_category(background->ndpi, f->protocol));
        rs_background_row *row = row_of(background, index, name, category);
        add_to_row(row, f, 1);
        f->row = row;
    }
    if (background->beyond.packets > 0) {
        add_to_row(row_of(background, index, "more flows than fit", "Unspecified"),
                   &background->beyond, 0);
    }
    if (background->not_ip.packets > 0) {
        add_to_row(row_of(background, index, "not IP", "Unspecified"),
                   &background->not_ip, 0);
    }
    g_ptr_array_sort(background->rows, by_bytes);
}

guint
rs_background_n_rows(const rs_background *background)
{
    return background->rows->len;
}

const rs_background_row *
rs_background_row_at(const rs_background *background, guint i)
{
    return g_ptr_array_index(background->rows, i);
}

static gint
more_bytes(gconstpointer a, gconstpointer b)
{
    const rs_background_flow *x = a;
    const rs_background_flow *y = b;
    if (x->bytes != y->bytes) {
        return x->bytes > y->bytes ? -1 : 1;
    }
    return rs_by_number(x->first_frame, y->first_frame);
}

/* What of a flow rides in these priorities. */
static rs_background_flow
part_of(const flow *f, guint8 priorities)
{
    rs_background_flow part = {
        .protocol = f->row != NULL ? f->row->protocol : NULL,
        .ip_protocol = f->key.protocol,
        .addr = {f->key.addr[0], f->key.addr[1]},
        .port = {f->key.port[0], f->key.port[1]},
    };
    for (guint i = 0; i < 8; i++) {
        if ((priorities & 1u << i) == 0 || f->by_priority[i].packets == 0) {
            continue;
        }
        guint64 first = f->by_priority[i].first_frame;
        part.packets += f->by_priority[i].packets;
        part.bytes += f->by_priority[i].bytes;
        part.first_frame = part.first_frame == 0 ? first : MIN(part.first_frame, first);
    }
    return part;
}

void
rs_background_share_of(const rs_background *background, guint8 priorities,
                       guint max_flows, rs_background_share *share)
{
    *share = (rs_background_share){
        .flows = g_array_new(FALSE, FALSE, sizeof(rs_background_flow)),
    };
    rs_background_flow beyond = part_of(&background->beyond, priorities);
    share->packets = beyond.packets;
    share->bytes = beyond.bytes;
    GHashTableIter iter;
    gpointer value;
    g_hash_table_iter_init(&iter, background->flows);
    while (g_hash_table_iter_next(&iter, NULL, &value)) {
        const flow *f = value;
        rs_background_flow part = part_of(f, priorities);
        if (f->stands && part.packets > 0) {
            share->packets += part.packets;
            share->bytes += part.bytes;
            share->n_flows++;
            g_array_append_val(share->flows, part);
        }
    }
    g_array_sort(share->flows, more_bytes);
    g_array_set_size(share->flows, MIN(share->flows->len, max_flows));
}

const char *
rs_background_ndpi_version(void)
{
    return ndpi_revision();
}

#else

void
rs_background_prepare(void)
{
}

rs_background *
rs_background_new(void)
{
    return NULL;
}

void
rs_background_free(rs_background *background)
{
    (void)background;
}

void
rs_background_packet(rs_background *background, const rs_sight *sight)
{
    (void)background;
    (void)sight;
}

void
rs_background_finish(rs_background *background)
{
    (void)background;
}

guint
rs_background_n_rows(const rs_background *background)
{
    (void)background;
    return 0;
}

const rs_background_row *
rs_background_row_at(const rs_background *background, guint i)
{
    (void)background;
    (void)i;
    return NULL;
}

void
rs_background_share_of(const rs_background *background, guint8 priorities,
                       guint max_flows, rs_background_share *share)
{
    (void)background;
    (void)priorities;
    (void)max_flows;
    *share = (rs_background_share){
        .flows = g_array_new(FALSE, FALSE, sizeof(rs_background_flow)),
    };
}

const char *
rs_background_ndpi_version(void)
{
    return NULL;
}

#endif

void
rs_background_share_clear(rs_background_share *share)
{
    if (share->flows != NULL) {
        g_array_unref(share->flows);
        share->flows = NULL;
    }
}
