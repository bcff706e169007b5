/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "twins.h"

#include "approach.h"
#include "arrays.h"
#include "data_sight.h"
#include "further.h"
#include "sorting.h"

#include <string.h>

#define ENTRIES (1u << 18)
#define PROBES 4
#define PATTERNS 1024 /* of a stream; of further ones nothing is told */
#define SIGHTINGS 64  /* of a stream; of one with more it is not told */
#define POINTS 64     /* that are told apart: those from the last on are one */

typedef struct twin {
    roce_wire_identity identity; /* narrow is 0: empty */
    guint64 points;              /* bit n: seen at point n */
    /* Of data: the points that saw it ECT with the least hop limit, and those that saw it CE
     * with the greatest: of several the last and the first are wanted. */
    guint64 ect, ce;
    guint64 frame; /* at the first point */
    guint32 age;
    guint32 stream;
    guint8 dscp;
    guint8 ect_hops, ce_hops;
    gboolean is_sequenced;
} twin;

/* Data of a stream that was seen ECT at some points, the last of which is to be found, and CE
 * at others, the first of which is. */
typedef struct pattern {
    guint64 ect, ce;
    guint64 packets;
} pattern;

/* Packets of a stream that were seen at just these points. */
typedef struct sighting {
    guint64 points, packets;
} sighting;

typedef struct stream_twins {
    guint64 only_here;
    GArray *sightings;     /* of requests and responses it saw first; NULL: none */
    gboolean is_scattered; /* some of them are not counted there */
    guint64 repeats;       /* of such that were like one before at the same point */
    guint64 marked_before;
    GArray *patterns; /* pattern, of the packets that it saw first; NULL: none */
    GArray *marked;   /* rs_marked; NULL: none */
    guint32 same;  /* + 1: another stream that is the same at another point; 0: none */
    guint32 point; /* its own */
    guint64 after; /* points of the same clock that saw some of its packets before it */
    gboolean undecided; /* nobody knows where some were marked */
    rs_rewriting rewriting;
} stream_twins;

struct rs_twins {
    const rs_points *points; /* NULL: all of one clock */
    twin *entries;
    guint32 age;
    guint64 n;
    gboolean incomplete; /* an entry had to make room for another, or never came */
    GArray *streams;     /* stream_twins by stream id */
    /* By point: those whose stamps are of one clock with its own; of the first n_clocked
     * points, 0: not asked for. */
    guint64 by_clock[POINTS];
    guint n_clocked;
};

static void
clear_stream(gpointer data)
{
    stream_twins *s = data;
    g_clear_pointer(&s->patterns, g_array_unref);
    g_clear_pointer(&s->marked, g_array_unref);
    g_clear_pointer(&s->sightings, g_array_unref);
}

rs_twins *
rs_twins_new(const rs_points *points)
{
    rs_twins *twins = g_new0(rs_twins, 1);
    twins->points = points;
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

/* ---- streams that are the same ---- */

/* The one that stands for those that are the same. */
static guint32
root_of(rs_twins *twins, guint32 stream)
{
    for (;;) {
        stream_twins *s = of_stream(twins, stream);
        if (s->same == 0) {
            return stream;
        }
        guint32 further = of_stream(twins, s->same - 1)->same;
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
        of_stream(twins, MAX(a, b))->same = MIN(a, b) + 1;
    }
}

/* ---- marks ---- */

static void
count_pattern(stream_twins *s, const pattern *seen)
{
    if (s->patterns == NULL) {
        s->patterns = g_array_new(FALSE, FALSE, sizeof(pattern));
    }
    for (guint i = 0; i < s->patterns->len; i++) {
        pattern *known = &g_array_index(s->patterns, pattern, i);
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
count_sighting(stream_twins *s, guint64 points)
{
    if (s->sightings == NULL) {
        s->sightings = g_array_new(FALSE, FALSE, sizeof(sighting));
    }
    guint i = 0;
    while (i < s->sightings->len &&
           g_array_index(s->sightings, sighting, i).points != points) {
        i++;
    }
    if (i == s->sightings->len && i == SIGHTINGS) {
        s->is_scattered = TRUE;
        return;
    }
    if (i == s->sightings->len) {
        const sighting fresh = {.points = points};
        g_array_append_val(s->sightings, fresh);
    }
    g_array_index(s->sightings, sighting, i).packets++;
}

/* What an entry has to say when it leaves the table. */
static void
retire(rs_twins *twins, const twin *entry)
{
    if (entry->identity.narrow == 0) {
        return;
    }
    if (entry->is_sequenced) {
        count_sighting(of_stream(twins, entry->stream), entry->points);
    }
    gboolean lone = (entry->points & (entry->points - 1)) == 0;
    if (lone) {
        of_stream(twins, entry->stream)->only_here++;
    } else if (entry->ce != 0 &&
               (entry->ect == 0 || entry->ect_hops >= entry->ce_hops)) {
        const pattern seen = {.ect = entry->ect, .ce = entry->ce, .packets = 1};
        count_pattern(of_stream(twins, entry->stream), &seen);
    }
}

/* What is to be known of a packet at a point. */
typedef struct copy {
    guint64 frame;
    guint32 stream, point;
    guint8 ecn, dscp, hops;
    gboolean has_data;
    gboolean is_sequenced; /* a request or a response: no acknowledgement, no CNP */
} copy;

static guint64
bit_of(guint point)
{
    return (guint64)1 << MIN(point, POINTS - 1);
}

/* Follows where data was last seen ECT, and first CE. */
static void
follow_mark(twin *entry, const copy *c)
{
    if (!c->has_data) {
        return;
    }
    guint64 bit = bit_of(c->point);
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

/* Those whose stamps are of one clock with a point's. */
static guint64
points_of_clock(rs_twins *twins, guint point)
{
    if (twins->points == NULL || point >= POINTS - 1) {
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
    for (guint i = 0; i < MIN(rs_points_n(twins->points), POINTS - 1); i++) {
        guint64 bit = rs_points_at(twins->points, i)->file_i == file_i ? bit_of(i) : 0;
        *known |= bit;
    }
    return *known;
}

/* A copy of what was seen at another point. */
static void
take_twin(rs_twins *twins, const twin *entry, const copy *c)
{
    stream_twins *s = of_stream(twins, c->stream);
    s->after |= entry->points & points_of_clock(twins, c->point);
    s->point = c->point;
    join(twins, entry->stream, c->stream);
    twins->n++;
    compare_dscps(twins, entry, c);
}

static gboolean
add(rs_twins *twins, const roce_wire_identity *identity, const copy *c)
{
    guint64 bit = bit_of(c->point);
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
            .is_sequenced = c->is_sequenced,
        };
        of_stream(twins, c->stream)->point = c->point;
        follow_mark(entry, c);
        return FALSE;
    }
    gboolean is_twin = (entry->points & bit) == 0;
    if (is_twin) {
        take_twin(twins, entry, c);
    } else if (c->is_sequenced) {
        of_stream(twins, c->stream)->repeats++;
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
    rs_approach(&twins->entries[identity->narrow & (ENTRIES - 1)], sizeof(twin));
}

/* ---- between which points ---- */

/* A stream at its points. */
typedef struct way {
    rs_twins *twins;
    const roce_tracker *tracker; /* NULL: it tells nothing */
    guint32 root;
    guint32 at[POINTS];    /* the stream at a point, + 1 */
    guint64 later[POINTS]; /* of a point: those that saw CE where it saw ECT */
    guint64 several;       /* bits that are of several of its points */
} way;

/* Below 0: the stream comes to p first; above 0, to q; 0: nobody can tell. */
static gint
compare_points(const way *w, guint p, guint q)
{
    if (w->at[p] == 0 || w->at[q] == 0) {
        return 0;
    }
    gboolean p_after = (of_stream(w->twins, w->at[p] - 1)->after & bit_of(q)) != 0;
    gboolean q_after = (of_stream(w->twins, w->at[q] - 1)->after & bit_of(p)) != 0;
    if (p_after != q_after) {
        return q_after ? -1 : 1;
    }
    gboolean q_later = (w->later[p] & bit_of(q)) != 0;
    gboolean p_later = (w->later[q] & bit_of(p)) != 0;
    if (p_later != q_later) {
        return q_later ? -1 : 1;
    }
    return w->tracker == NULL
               ? 0
               : rs_further(roce_tracker_stream(w->tracker, w->at[p] - 1),
                            roce_tracker_stream(w->tracker, w->at[q] - 1));
}

/* The first of some points on the way, or the last; POINTS: nobody can tell. */
static guint
extreme_of(const way *w, guint64 points, gboolean last)
{
    for (guint p = 0; p < POINTS; p++) {
        gboolean is_it = (points & bit_of(p)) != 0;
        for (guint q = 0; q < POINTS && is_it; q++) {
            if (q != p && (points & bit_of(q)) != 0) {
                gint order = compare_points(w, p, q);
                is_it = last ? order > 0 : order < 0;
            }
        }
        if (is_it) {
            return p;
        }
    }
    return POINTS;
}

static void
count_marked(stream_twins *s, guint from, guint64 packets)
{
    if (s->marked == NULL) {
        s->marked = g_array_new(FALSE, FALSE, sizeof(rs_marked));
    }
    for (guint i = 0; i < s->marked->len; i++) {
        rs_marked *known = &g_array_index(s->marked, rs_marked, i);
        if (known->from == from) {
            known->packets += packets;
            return;
        }
    }
    const rs_marked fresh = {.from = from, .packets = packets};
    g_array_append_val(s->marked, fresh);
}

static void
decide(const way *w, const pattern *seen)
{
    guint from = seen->ect != 0 ? extreme_of(w, seen->ect, TRUE) : POINTS;
    guint to = extreme_of(w, seen->ce, FALSE);
    gboolean known = to != POINTS && w->at[to] != 0 &&
                     (seen->ect == 0 || (from != POINTS && w->at[from] != 0)) &&
                     ((seen->ect | seen->ce) & w->several) == 0;
    if (!known) {
        of_stream(w->twins, w->root)->undecided = TRUE;
        return;
    }
    stream_twins *s = of_stream(w->twins, w->at[to] - 1);
    if (seen->ect == 0) {
        s->marked_before += seen->packets;
    } else {
        count_marked(s, of_stream(w->twins, w->at[from] - 1)->point, seen->packets);
    }
}

static void
take_patterns(way *w, const GArray *patterns)
{
    for (guint i = 0; i < patterns->len; i++) {
        const pattern *seen = &g_array_index(patterns, pattern, i);
        for (guint p = 0; p < POINTS; p++) {
            w->later[p] |= (seen->ect & bit_of(p)) != 0 ? seen->ce : 0;
        }
    }
}

/* Of the streams that are the same as `root`, which has been asked for none yet. */
static void
find_marks(rs_twins *twins, const roce_tracker *tracker, guint32 root,
           const GArray *members)
{
    way w = {.twins = twins, .tracker = tracker, .root = root};
    for (guint i = 0; i < members->len; i++) {
        guint32 stream = g_array_index(members, guint32, i);
        const stream_twins *s = of_stream(twins, stream);
        guint at = MIN(s->point, POINTS - 1);
        w.several |= w.at[at] != 0 ? bit_of(at) : 0;
        w.at[at] = stream + 1;
        if (s->patterns != NULL) {
            take_patterns(&w, s->patterns);
        }
    }
    for (guint i = 0; i < members->len; i++) {
        const GArray *patterns =
            of_stream(twins, g_array_index(members, guint32, i))->patterns;
        for (guint k = 0; patterns != NULL && k < patterns->len; k++) {
            decide(&w, &g_array_index(patterns, pattern, k));
        }
    }
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

static gint
by_point(gconstpointer a, gconstpointer b)
{
    const rs_marked *x = a;
    const rs_marked *y = b;
    return rs_by_number(x->from, y->from);
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
        find_marks(twins, tracker, GPOINTER_TO_UINT(root), members);
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

gboolean
rs_twins_marks_known(const rs_twins *twins, guint32 stream)
{
    return stream >= twins->streams->len ||
           !g_array_index(twins->streams, stream_twins, stream).undecided;
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

guint64
rs_twins_missing(const rs_twins *twins, const GArray *members, guint from, guint to)
{
    guint64 n = 0;
    if (from >= POINTS - 1 || to >= POINTS - 1) {
        return G_MAXUINT64;
    }
    for (guint i = 0; i < members->len; i++) {
        guint32 id = g_array_index(members, guint32, i);
        if (id >= twins->streams->len) {
            continue;
        }
        const stream_twins *s = &g_array_index(twins->streams, stream_twins, id);
        if (s->is_scattered) {
            return G_MAXUINT64;
        }
        for (guint k = 0; s->sightings != NULL && k < s->sightings->len; k++) {
            const sighting *seen = &g_array_index(s->sightings, sighting, k);
            gboolean at_first_alone =
                (seen->points & bit_of(from)) != 0 && (seen->points & bit_of(to)) == 0;
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
               ? g_array_index(twins->streams, stream_twins, stream).repeats
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
