/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The table of packets by their wire identity, and what is kept of streams when packets leave
 * it.
 *
 * An identity has its place among PROBES entries.  The first copy of a packet takes the
 * oldest of them, and what that one had to say is added to its stream: at how many points it
 * was seen, and where it was ECT and where CE.  Further copies add their point to the entry,
 * and make their streams and that of the first copy the same one.  At the end all entries
 * leave, and twins_marks.c decides where marks were made.
 */
#include "twins_parts.h"

#include "approach.h"
#include "arrays.h"
#include "data_sight.h"

#include <string.h>

#define ENTRIES (1u << 18)
#define PROBES 4
#define PATTERNS 1024 /* of a stream; of further ones nothing is told */
#define SIGHTINGS 64  /* of a stream; of one with more it is not told */

struct rs_twin {
    roce_wire_identity identity; /* narrow is 0: empty */
    guint64 points;              /* set: seen there */
    /* Of data, sets: of the points that saw it ECT those with the least hop limit, of those
     * that saw it CE those with the greatest. */
    guint64 ect, ce;
    guint64 frame; /* at the first point */
    guint32 age;   /* the greatest is the youngest */
    guint32 stream;
    guint8 dscp;
    guint8 ect_hops, ce_hops;
    gboolean is_sequenced;
};

static void
clear_stream(gpointer data)
{
    rs_twin_stream *s = data;
    g_clear_pointer(&s->patterns, g_array_unref);
    g_clear_pointer(&s->marked, g_array_unref);
    g_clear_pointer(&s->sightings, g_array_unref);
}

rs_twins *
rs_twins_new(const rs_points *points)
{
    rs_twins *twins = g_new0(rs_twins, 1);
    twins->points = points;
    twins->entries = g_new0(rs_twin, ENTRIES);
    twins->streams = g_array_new(FALSE, TRUE, sizeof(rs_twin_stream));
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

/* ---- streams that are the same ---- */

/* The one that stands for those that are the same. */
static guint32
root_of(rs_twins *twins, guint32 stream)
{
    for (;;) {
        rs_twin_stream *s = rs_twin_stream_of(twins, stream);
        if (s->same == 0) {
            return stream;
        }
        guint32 further = rs_twin_stream_of(twins, s->same - 1)->same;
        if (further != 0) {
            s->same = further; /* half the way for whoever asks next */
        }
        stream = s->same - 1;
    }
}

static void
join(rs_twins *twins, guint32 stream, guint32 other)
{
    guint32 a = root_of(twins, stream);
    guint32 b = root_of(twins, other);
    if (a != b) {
        rs_twin_stream_of(twins, MAX(a, b))->same = MIN(a, b) + 1;
    }
}

/* ---- marks ---- */

static void
count_pattern(rs_twin_stream *s, const rs_mark_pattern *seen)
{
    if (s->patterns == NULL) {
        s->patterns = g_array_new(FALSE, FALSE, sizeof(rs_mark_pattern));
    }
    for (guint i = 0; i < s->patterns->len; i++) {
        rs_mark_pattern *known = &g_array_index(s->patterns, rs_mark_pattern, i);
        if (known->ect == seen->ect && known->ce == seen->ce) {
            known->packets += seen->packets;
            return;
        }
    }
    if (s->patterns->len < PATTERNS) {
        g_array_append_vals(s->patterns, seen, 1);
    } else {
        s->undecided = TRUE;
    }
}

static void
count_sighting(rs_twin_stream *s, guint64 points)
{
    if (s->sightings == NULL) {
        s->sightings = g_array_new(FALSE, FALSE, sizeof(rs_twin_sighting));
    }
    guint i = 0;
    while (i < s->sightings->len &&
           g_array_index(s->sightings, rs_twin_sighting, i).points != points) {
        i++;
    }
    if (i == s->sightings->len && i == SIGHTINGS) {
        s->is_scattered = TRUE;
        return;
    }
    if (i == s->sightings->len) {
        const rs_twin_sighting fresh = {.points = points};
        g_array_append_val(s->sightings, fresh);
    }
    g_array_index(s->sightings, rs_twin_sighting, i).packets++;
}

/* What an entry has to say when it leaves the table. */
static void
retire(rs_twins *twins, const rs_twin *entry)
{
    if (entry->identity.narrow == 0) {
        return;
    }
    if (entry->is_sequenced) {
        count_sighting(rs_twin_stream_of(twins, entry->stream), entry->points);
    }
    gboolean lone = (entry->points & (entry->points - 1)) == 0;
    if (lone) {
        rs_twin_stream_of(twins, entry->stream)->only_here++;
    } else if (entry->ce != 0 &&
               (entry->ect == 0 || entry->ect_hops >= entry->ce_hops)) {
        const rs_mark_pattern seen = {.ect = entry->ect, .ce = entry->ce, .packets = 1};
        count_pattern(rs_twin_stream_of(twins, entry->stream), &seen);
    }
}

/* What is to be known of a packet at a point. */
typedef struct copy {
    guint64 frame;
    guint32 stream, point;
    guint8 ecn, dscp, hops;
    gboolean has_data;
    gboolean is_sequenced; /* a request or a response: no acknowledgement, no CNP */
    gboolean is_cnp;
    gboolean is_damaged; /* what its headers say is not believed */
} copy;

/* Follows where data was last seen ECT, and first CE. */
static void
follow_mark(rs_twin *entry, const copy *c)
{
    if (!c->has_data || c->is_damaged) {
        return;
    }
    guint64 bit = rs_twin_bit(c->point);
    switch (c->ecn) {
    case ROCE_ECN_CE:
        if (c->hops >= entry->ce_hops || entry->ce == 0) {
            entry->ce = (c->hops == entry->ce_hops ? entry->ce : 0) | bit;
            entry->ce_hops = c->hops;
        }
        break;
    case ROCE_ECN_NOT_ECT:
        break; /* it is never marked */
    default:   /* ECT(0), ECT(1): a number, no enumeration */
        if (c->hops <= entry->ect_hops || entry->ect == 0) {
            entry->ect = (c->hops == entry->ect_hops ? entry->ect : 0) | bit;
            entry->ect_hops = c->hops;
        }
    }
}

/* The entry of this identity, or the oldest of those that it may take. */
static rs_twin *
entry_for(rs_twins *twins, const roce_wire_identity *identity)
{
    rs_twin *oldest = NULL;
    for (guint i = 0; i < PROBES; i++) {
        rs_twin *entry = &twins->entries[(identity->narrow + i) & (ENTRIES - 1)];
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
compare_dscps(rs_twins *twins, const rs_twin *entry, const copy *c)
{
    if (c->dscp == entry->dscp || c->is_damaged) {
        return;
    }
    rs_rewriting *rewriting = &rs_twin_stream_of(twins, c->stream)->rewriting;
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
    rewriting->cnps += c->is_cnp ? 1 : 0;
}

/* Those whose stamps are of one clock with a point's. */
static guint64
points_of_clock(rs_twins *twins, guint point)
{
    if (twins->points == NULL || point >= RS_TWIN_POINTS - 1) {
        return twins->points == NULL ? G_MAXUINT64 : 0;
    }
    guint64 *known = &twins->by_clock[point];
    if (rs_points_n(twins->points) != twins->n_clocked) {
        memset(twins->by_clock, 0, sizeof twins->by_clock);
        twins->n_clocked = rs_points_n(twins->points);
    }
    if (*known != 0) {
        return *known;
    }
    guint file_i = rs_points_at(twins->points, point)->file_i;
    for (guint i = 0; i < MIN(rs_points_n(twins->points), RS_TWIN_POINTS - 1); i++) {
        guint64 bit =
            rs_points_at(twins->points, i)->file_i == file_i ? rs_twin_bit(i) : 0;
        *known |= bit;
    }
    return *known;
}

/* A copy of what was seen at another point. */
static void
take_twin(rs_twins *twins, const rs_twin *entry, const copy *c)
{
    rs_twin_stream *s = rs_twin_stream_of(twins, c->stream);
    s->after |= entry->points & points_of_clock(twins, c->point);
    s->point = c->point;
    join(twins, entry->stream, c->stream);
    twins->n++;
    compare_dscps(twins, entry, c);
}

static gboolean
add(rs_twins *twins, const roce_wire_identity *identity, const copy *c)
{
    guint64 bit = rs_twin_bit(c->point);
    rs_twin *entry = entry_for(twins, identity);
    if (!roce_wire_identity_equal(&entry->identity, identity)) {
        twins->incomplete |= entry->identity.narrow != 0;
        retire(twins, entry);
        *entry = (rs_twin){
            .identity = *identity,
            .points = bit,
            .age = ++twins->age,
            .frame = c->frame,
            .stream = c->stream,
            .dscp = c->dscp,
            .is_sequenced = c->is_sequenced,
        };
        rs_twin_stream_of(twins, c->stream)->point = c->point;
        follow_mark(entry, c);
        return FALSE;
    }
    gboolean is_twin = (entry->points & bit) == 0;
    if (is_twin) {
        take_twin(twins, entry, c);
    } else if (c->is_sequenced) {
        rs_twin_stream_of(twins, c->stream)->repeats++;
    }
    entry->points |= bit;
    follow_mark(entry, c);
    return is_twin;
}

static gboolean
is_sequenced(const roce_packet *p)
{
    roce_role role = roce_opcode_get(p->bth.opcode)->role;
    return roce_role_is_request(role) || roce_role_is_response_data(role);
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
        .is_sequenced = is_sequenced(p),
        .is_cnp = p->bth.opcode == ROCE_OPCODE_CNP,
        .is_damaged = sight->sighting->corrupt,
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
        .is_sequenced = TRUE,
    };
    return add(twins, identity, &c);
}

void
rs_twins_approach(const rs_twins *twins, const roce_wire_identity *identity)
{
    rs_approach(&twins->entries[identity->narrow & (ENTRIES - 1)], sizeof(rs_twin));
}

/* Streams by the one that stands for them: guint32 -> GArray of guint32. */
static GHashTable *
group_streams(rs_twins *twins)
{
    GHashTable *groups = g_hash_table_new_full(NULL, NULL, NULL, rs_unref_array);
    for (guint32 i = 0; i < twins->streams->len; i++) {
        gpointer root = GUINT_TO_POINTER(root_of(twins, i));
        GArray *members = g_hash_table_lookup(groups, root);
        if (members == NULL) {
            members = g_array_new(FALSE, FALSE, sizeof(guint32));
            g_hash_table_insert(groups, root, members);
        }
        g_array_append_val(members, i);
    }
    return groups;
}

void
rs_twins_finish(rs_twins *twins, const roce_tracker *tracker)
{
    for (guint i = 0; i < ENTRIES; i++) {
        retire(twins, &twins->entries[i]);
        twins->entries[i].identity.narrow = 0;
    }
    g_autoptr(GHashTable) groups = group_streams(twins);
    GHashTableIter iter;
    gpointer root;
    gpointer members;
    g_hash_table_iter_init(&iter, groups);
    while (g_hash_table_iter_next(&iter, &root, &members)) {
        rs_twins_find_marks(twins, tracker, GPOINTER_TO_UINT(root), members);
    }
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
               ? g_array_index(twins->streams, rs_twin_stream, stream).only_here
               : 0;
}

guint64
rs_twins_missing(const rs_twins *twins, const GArray *members, guint from, guint to)
{
    guint64 n = 0;
    if (from >= RS_TWIN_POINTS - 1 || to >= RS_TWIN_POINTS - 1) {
        return G_MAXUINT64;
    }
    for (guint i = 0; i < members->len; i++) {
        guint32 id = g_array_index(members, guint32, i);
        if (id >= twins->streams->len) {
            continue;
        }
        const rs_twin_stream *s = &g_array_index(twins->streams, rs_twin_stream, id);
        if (s->is_scattered) {
            return G_MAXUINT64;
        }
        for (guint k = 0; s->sightings != NULL && k < s->sightings->len; k++) {
            const rs_twin_sighting *seen =
                &g_array_index(s->sightings, rs_twin_sighting, k);
            gboolean at_first_alone = (seen->points & rs_twin_bit(from)) != 0 &&
                                      (seen->points & rs_twin_bit(to)) == 0;
            n += at_first_alone ? seen->packets : 0;
        }
    }
    return n;
}

gboolean
rs_twins_have_met(rs_twins *twins, guint32 a, guint32 b)
{
    return root_of(twins, a) == root_of(twins, b);
}

guint64
rs_twins_repeats(const rs_twins *twins, guint32 stream)
{
    return stream < twins->streams->len
               ? g_array_index(twins->streams, rs_twin_stream, stream).repeats
               : 0;
}

const rs_rewriting *
rs_twins_rewriting(const rs_twins *twins, guint32 stream)
{
    if (twins == NULL || stream >= twins->streams->len) {
        return NULL;
    }
    const rs_rewriting *rewriting =
        &g_array_index(twins->streams, rs_twin_stream, stream).rewriting;
    return rewriting->packets > 0 ? rewriting : NULL;
}
