/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "twins.h"

#include "approach.h"
#include "data_sight.h"
#include "sorting.h"

#define ENTRIES (1u << 18)
#define PROBES 4

typedef struct twin {
    roce_wire_identity identity; /* narrow is 0: empty */
    guint64 points;              /* bit n: seen at point n (from 63 on together) */
    guint64 age;
    guint64 frame; /* at the first point */
    guint32 stream;
    guint8 dscp;
    /* Of data: the last point that saw it ECT, + 1, the first stream that saw it CE, + 1,
     * and the hop limits that it had there; 0 none. */
    guint32 ect_point, ce_stream;
    guint8 ect_hops, ce_hops;
} twin;

typedef struct stream_twins {
    guint64 only_here;
    guint64 marked_before;
    GArray *marked; /* rs_marked; NULL: none */
    rs_rewriting rewriting;
} stream_twins;

struct rs_twins {
    twin *entries;
    guint64 age;
    guint64 n;
    gboolean incomplete; /* an entry had to make room for another, or never came */
    GArray *streams;     /* stream_twins by stream id */
};

static void
clear_stream(gpointer data)
{
    stream_twins *s = data;
    if (s->marked != NULL) {
        g_array_unref(s->marked);
    }
}

rs_twins *
rs_twins_new(void)
{
    rs_twins *twins = g_new0(rs_twins, 1);
    twins->entries = g_new0(twin, ENTRIES);
    twins->streams = g_array_new(FALSE, TRUE, sizeof(stream_twins));
    g_array_set_clear_func(twins->streams, clear_stream);
    return twins;
}

void
rs_twins_free(rs_twins *twins)
{
    if (twins == NULL) {
        return;
    }
    g_free(twins->entries);
    g_array_unref(twins->streams);
    g_free(twins);
}

static stream_twins *
of_stream(rs_twins *twins, guint32 stream)
{
    if (stream >= twins->streams->len) {
        g_array_set_size(twins->streams, stream + 1);
    }
    return &g_array_index(twins->streams, stream_twins, stream);
}

static gint
by_point(gconstpointer a, gconstpointer b)
{
    const rs_marked *x = a;
    const rs_marked *y = b;
    return rs_by_number(x->from, y->from);
}

static void
count_marked(stream_twins *s, guint from)
{
    if (s->marked == NULL) {
        s->marked = g_array_new(FALSE, FALSE, sizeof(rs_marked));
    }
    guint i = 0;
    while (i < s->marked->len && g_array_index(s->marked, rs_marked, i).from != from) {
        i++;
    }
    if (i == s->marked->len) {
        const rs_marked fresh = {.from = from};
        g_array_append_val(s->marked, fresh);
    }
    g_array_index(s->marked, rs_marked, i).packets++;
}

/* What an entry has to say when it leaves the table. */
static void
retire(rs_twins *twins, const twin *entry)
{
    if (entry->identity.narrow == 0) {
        return;
    }
    gboolean lone = (entry->points & (entry->points - 1)) == 0;
    if (lone) {
        of_stream(twins, entry->stream)->only_here++;
    } else if (entry->ce_stream != 0 && entry->ect_point == 0) {
        of_stream(twins, entry->ce_stream - 1)->marked_before++;
    } else if (entry->ce_stream != 0 && entry->ect_hops >= entry->ce_hops) {
        count_marked(of_stream(twins, entry->ce_stream - 1), entry->ect_point - 1);
    }
}

/* What is to be known of a packet at a point. */
typedef struct copy {
    guint64 frame;
    guint32 stream, point;
    guint8 ecn, dscp, hops;
    gboolean has_data;
} copy;

/* Follows where data was last seen ECT, and first CE. */
static void
follow_mark(twin *entry, const copy *c)
{
    if (!c->has_data) {
        return;
    }
    switch (c->ecn) {
    case ROCE_ECN_CE:
        if (entry->ce_stream == 0 || c->hops > entry->ce_hops) {
            entry->ce_stream = c->stream + 1;
            entry->ce_hops = c->hops;
        }
        break;
    case ROCE_ECN_NOT_ECT:
        break; /* it is never marked */
    default:   /* ECT(0), ECT(1): a number, no enumeration */
        if (entry->ect_point == 0 || c->hops <= entry->ect_hops) {
            entry->ect_point = c->point + 1;
            entry->ect_hops = c->hops;
        }
    }
}

/* The entry of this identity, or the oldest of those that it may take. */
static twin *
entry_for(rs_twins *twins, const roce_wire_identity *identity)
{
    twin *oldest = NULL;
    for (guint i = 0; i < PROBES; i++) {
        twin *entry = &twins->entries[(identity->narrow + i) & (ENTRIES - 1)];
        if (roce_wire_identity_equal(&entry->identity, identity)) {
            return entry;
        }
        if (oldest == NULL || entry->age < oldest->age) {
            oldest = entry;
        }
    }
    return oldest;
}

void
rs_twins_miss(rs_twins *twins)
{
    twins->incomplete = TRUE;
}

/* The DSCP is no part of the identity: switches may set it. */
static void
compare_dscps(rs_twins *twins, const twin *entry, const copy *c)
{
    if (c->dscp == entry->dscp) {
        return;
    }
    rs_rewriting *rewriting = &of_stream(twins, c->stream)->rewriting;
    if (rewriting->packets == 0) {
        *rewriting = (rs_rewriting){
            .other_stream = entry->stream,
            .dscp_there = entry->dscp,
            .dscp_here = c->dscp,
            .frame_there = entry->frame,
            .frame_here = c->frame,
        };
    }
    rewriting->packets++;
}

static gboolean
add(rs_twins *twins, const roce_wire_identity *identity, const copy *c)
{
    guint64 bit = (guint64)1 << MIN(c->point, 63);
    twin *entry = entry_for(twins, identity);
    if (!roce_wire_identity_equal(&entry->identity, identity)) {
        twins->incomplete |= entry->identity.narrow != 0;
        retire(twins, entry);
        *entry = (twin){
            .identity = *identity,
            .points = bit,
            .age = ++twins->age,
            .frame = c->frame,
            .stream = c->stream,
            .dscp = c->dscp,
        };
        follow_mark(entry, c);
        return FALSE;
    }
    gboolean is_twin = (entry->points & bit) == 0;
    entry->points |= bit;
    follow_mark(entry, c);
    if (is_twin) {
        twins->n++;
        compare_dscps(twins, entry, c);
    }
    return is_twin;
}

gboolean
rs_twins_add(rs_twins *twins, const roce_wire_identity *identity, const rs_sight *sight)
{
    const roce_packet *p = sight->packet;
    const copy c = {
        .frame = sight->frame->number,
        .stream = sight->stream->id,
        .point = sight->frame->point,
        .ecn = (guint8)roce_packet_ecn(p),
        .dscp = p->traffic_class >> 2,
        .hops = p->hop_limit,
        .has_data = rs_packet_has_data(p),
    };
    return add(twins, identity, &c);
}

gboolean
rs_twins_glimpse(rs_twins *twins, const roce_wire_identity *identity,
                 const rs_glimpse *glimpse)
{
    const copy c = {
        .frame = glimpse->frame,
        .stream = glimpse->stream->id,
        .point = glimpse->stream->point,
        .ecn = glimpse->traffic_class & 3,
        .dscp = glimpse->traffic_class >> 2,
        .hops = glimpse->hop_limit,
        .has_data = TRUE,
    };
    return add(twins, identity, &c);
}

void
rs_twins_approach(const rs_twins *twins, const roce_wire_identity *identity)
{
    rs_approach(&twins->entries[identity->narrow & (ENTRIES - 1)], sizeof(twin));
}

void
rs_twins_finish(rs_twins *twins)
{
    for (guint i = 0; i < ENTRIES; i++) {
        retire(twins, &twins->entries[i]);
        twins->entries[i].identity.narrow = 0;
    }
    for (guint i = 0; i < twins->streams->len; i++) {
        const stream_twins *s = &g_array_index(twins->streams, stream_twins, i);
        if (s->marked != NULL) {
            g_array_sort(s->marked, by_point);
        }
    }
}

const GArray *
rs_twins_marked(const rs_twins *twins, guint32 stream)
{
    return stream < twins->streams->len
               ? g_array_index(twins->streams, stream_twins, stream).marked
               : NULL;
}

guint64
rs_twins_marked_before(const rs_twins *twins, guint32 stream)
{
    return stream < twins->streams->len
               ? g_array_index(twins->streams, stream_twins, stream).marked_before
               : 0;
}

guint64
rs_twins_count(const rs_twins *twins)
{
    return twins->n;
}

gboolean
rs_twins_complete(const rs_twins *twins)
{
    return !twins->incomplete;
}

guint64
rs_twins_only_here(const rs_twins *twins, guint32 stream)
{
    return stream < twins->streams->len
               ? g_array_index(twins->streams, stream_twins, stream).only_here
               : 0;
}

const rs_rewriting *
rs_twins_rewriting(const rs_twins *twins, guint32 stream)
{
    if (twins == NULL || stream >= twins->streams->len) {
        return NULL;
    }
    const rs_rewriting *rewriting =
        &g_array_index(twins->streams, stream_twins, stream).rewriting;
    return rewriting->packets > 0 ? rewriting : NULL;
}
