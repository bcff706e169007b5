/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "match_table.h"

#include "approach.h"

#define FIRST_CAPACITY 1024
#define NONE G_MAXUINT32

/* Places of sightings in a circle, oldest first. */
typedef struct queue {
    guint32 *items;
    guint capacity, head, n;
} queue;

struct rs_match_table {
    GArray *sightings, *entries;       /* rs_sighting, rs_match_entry: used or free */
    guint32 free_sighting, free_entry; /* chained by `next` and `chain` */
    guint32 *buckets;
    guint n_buckets;        /* a power of two */
    guint32 *frame_buckets; /* sightings that have not left, by point and frame */
    guint n_frame_buckets;  /* a power of two */
    guint n_entries, n_sightings, max_sightings;
    queue *queues; /* by point */
    guint n_points;
};

static guint32 *
new_frame_buckets(guint n)
{
    guint32 *buckets = g_new(guint32, n);
    memset(buckets, 0xff, n * sizeof *buckets);
    return buckets;
}

rs_match_table *
rs_match_table_new(guint n_points, guint max_sightings)
{
    rs_match_table *t = g_new0(rs_match_table, 1);
    t->sightings = g_array_new(FALSE, FALSE, sizeof(rs_sighting));
    t->entries = g_array_new(FALSE, FALSE, sizeof(rs_match_entry));
    t->free_sighting = t->free_entry = NONE;
    t->max_sightings = max_sightings;
    t->n_buckets = FIRST_CAPACITY;
    t->buckets = g_new(guint32, t->n_buckets);
    memset(t->buckets, 0xff, t->n_buckets * sizeof *t->buckets);
    t->queues = g_new0(queue, n_points);
    t->n_points = n_points;
    t->n_frame_buckets = FIRST_CAPACITY;
    t->frame_buckets = new_frame_buckets(t->n_frame_buckets);
    return t;
}

void
rs_match_table_free(rs_match_table *t)
{
    if (t == NULL) {
        return;
    }
    for (guint i = 0; i < t->n_points; i++) {
        g_free(t->queues[i].items);
    }
    g_free(t->queues);
    g_free(t->buckets);
    g_free(t->frame_buckets);
    g_array_unref(t->sightings);
    g_array_unref(t->entries);
    g_free(t);
}

gboolean
rs_match_table_is_full(const rs_match_table *t)
{
    return t->n_sightings >= t->max_sightings;
}

rs_sighting *
rs_match_sighting(const rs_match_table *t, guint32 sighting)
{
    return &g_array_index(t->sightings, rs_sighting, sighting);
}

rs_match_entry *
rs_match_entry_of(const rs_match_table *t, guint32 entry)
{
    return &g_array_index(t->entries, rs_match_entry, entry);
}

/* ---- entries by identity ---- */

static guint32 *
bucket_of(const rs_match_table *t, guint64 narrow)
{
    return &t->buckets[(narrow ^ narrow >> 32) & (t->n_buckets - 1)];
}

static void
grow_buckets(rs_match_table *t)
{
    g_autofree guint32 *old = t->buckets;
    guint n_old = t->n_buckets;
    t->n_buckets *= 2;
    t->buckets = g_new(guint32, t->n_buckets);
    memset(t->buckets, 0xff, t->n_buckets * sizeof *t->buckets);
    for (guint i = 0; i < n_old; i++) {
        for (guint32 at = old[i], next; at != NONE; at = next) {
            rs_match_entry *e = rs_match_entry_of(t, at);
            next = e->chain;
            guint32 *bucket = bucket_of(t, e->identity.narrow);
            e->chain = *bucket;
            *bucket = at;
        }
    }
}

void
rs_match_approach(const rs_match_table *t, const roce_wire_identity *identity)
{
    rs_approach(bucket_of(t, identity->narrow), sizeof(guint32));
}

void
rs_match_approach_entry(const rs_match_table *t, const roce_wire_identity *identity)
{
    guint32 at = *bucket_of(t, identity->narrow);
    if (at != NONE) {
        rs_approach(rs_match_entry_of(t, at), sizeof(rs_match_entry));
    }
}

/* The first of this identity in a chain. */
static guint32
find_from(const rs_match_table *t, guint32 at, const roce_wire_identity *identity)
{
    while (at != NONE) {
        const rs_match_entry *e = rs_match_entry_of(t, at);
        if (roce_wire_identity_equal(&e->identity, identity)) {
            return at;
        }
        at = e->chain;
    }
    return RS_NO_ENTRY;
}

/* Whether some other point has more sightings of an entry. */
static gboolean
is_awaited(const rs_match_table *t, guint32 entry, guint point)
{
    guint n[G_MAXUINT8 + 1] = {0};
    for (guint32 at = rs_match_entry_of(t, entry)->first; at != RS_NO_SIGHTING;) {
        const rs_sighting *s = rs_match_sighting(t, at);
        n[s->point]++;
        at = s->next;
    }
    for (guint i = 0; i < t->n_points; i++) {
        if (n[i] > n[point]) {
            return TRUE;
        }
    }
    return FALSE;
}

#define LOOKED_AT 64 /* of equal ones */

guint32
rs_match_find(const rs_match_table *t, const roce_wire_identity *identity, guint point)
{
    guint32 first = find_from(t, *bucket_of(t, identity->narrow), identity);
    if (first == RS_NO_ENTRY || identity->has_icrc) {
        return first;
    }
    guint32 next = find_from(t, rs_match_entry_of(t, first)->chain, identity);
    guint32 found =
        next != RS_NO_ENTRY && is_awaited(t, first, point) ? first : RS_NO_ENTRY;
    for (guint n = 1; next != RS_NO_ENTRY && n < LOOKED_AT;
         n++, next = find_from(t, rs_match_entry_of(t, next)->chain, identity)) {
        found = is_awaited(t, next, point) ? next : found; /* older ones stand behind */
    }
    return found != RS_NO_ENTRY ? found : first;
}

void
rs_match_doubt(rs_match_table *t, const roce_wire_identity *identity)
{
    guint32 at = identity->has_icrc
                     ? RS_NO_ENTRY
                     : find_from(t, *bucket_of(t, identity->narrow), identity);
    if (at == RS_NO_ENTRY) {
        return;
    }
    guint32 next = find_from(t, rs_match_entry_of(t, at)->chain, identity);
    for (guint n = 0; next != RS_NO_ENTRY && n < LOOKED_AT; n++) {
        rs_match_entry_of(t, at)->vague = rs_match_entry_of(t, next)->vague = TRUE;
        at = next;
        next = find_from(t, rs_match_entry_of(t, at)->chain, identity);
    }
}

guint32
rs_match_open(rs_match_table *t, const roce_wire_identity *identity)
{
    guint32 at = t->free_entry;
    if (at == NONE) {
        at = t->entries->len;
        g_array_set_size(t->entries, at + 1);
    } else {
        t->free_entry = rs_match_entry_of(t, at)->chain;
    }
    if (++t->n_entries > t->n_buckets) {
        grow_buckets(t);
    }
    guint32 *bucket = bucket_of(t, identity->narrow);
    *rs_match_entry_of(t, at) = (rs_match_entry){
        .identity = *identity,
        .first = RS_NO_SIGHTING,
        .last = RS_NO_SIGHTING,
        .other = RS_NO_SIGHTING,
        .chain = *bucket,
    };
    *bucket = at;
    return at;
}

void
rs_match_resolve(rs_match_table *t, guint32 entry)
{
    rs_match_entry *e = rs_match_entry_of(t, entry);
    guint32 *at = bucket_of(t, e->identity.narrow);
    while (*at != entry) {
        at = &rs_match_entry_of(t, *at)->chain;
    }
    *at = e->chain;
    e->resolved = TRUE;
}

static void
free_entry(rs_match_table *t, guint32 entry)
{
    rs_match_entry *e = rs_match_entry_of(t, entry);
    if (!e->resolved) {
        rs_match_resolve(t, entry);
    }
    e->chain = t->free_entry;
    t->free_entry = entry;
    t->n_entries--;
}

/* ---- sightings ---- */

static void
push(queue *q, guint32 item)
{
    if (q->n == q->capacity) {
        guint capacity = MAX(q->capacity * 2, FIRST_CAPACITY);
        guint32 *items = g_new(guint32, capacity);
        for (guint i = 0; i < q->n; i++) {
            items[i] = q->items[(q->head + i) % q->capacity];
        }
        g_free(q->items);
        q->items = items;
        q->capacity = capacity;
        q->head = 0;
    }
    q->items[(q->head + q->n++) % q->capacity] = item;
}

static guint32
allot_sighting(rs_match_table *t)
{
    guint32 at = t->free_sighting;
    if (at == NONE) {
        at = t->sightings->len;
        g_array_set_size(t->sightings, at + 1);
    } else {
        t->free_sighting = rs_match_sighting(t, at)->next;
    }
    t->n_sightings++;
    return at;
}

static void
append(rs_match_table *t, guint32 entry, guint32 at)
{
    rs_match_entry *e = rs_match_entry_of(t, entry);
    rs_sighting *s = rs_match_sighting(t, at);
    s->entry = entry;
    s->next = RS_NO_SIGHTING;
    if (e->first == RS_NO_SIGHTING) {
        e->first = at;
        e->newest_ns = s->at_ns;
    } else {
        rs_sighting *last = rs_match_sighting(t, e->last);
        last->next = at;
        e->other = last->point != s->point ? e->last : e->other;
        e->newest_ns = MAX(e->newest_ns, s->at_ns);
    }
    e->last = at;
    e->n++;
}

/* ---- sightings by frame ---- */

/* Frames follow one another, and so do their buckets. */
static guint32 *
frame_bucket(const rs_match_table *t, guint point, guint64 frame)
{
    return &t->frame_buckets[(frame * t->n_points + point) & (t->n_frame_buckets - 1)];
}

static void
chain_frame(rs_match_table *t, guint32 at)
{
    rs_sighting *s = rs_match_sighting(t, at);
    guint32 *bucket = frame_bucket(t, s->point, s->frame);
    s->same_bucket = *bucket;
    *bucket = at;
}

static void
unchain_frame(rs_match_table *t, guint32 sighting)
{
    const rs_sighting *s = rs_match_sighting(t, sighting);
    guint32 *at = frame_bucket(t, s->point, s->frame);
    while (*at != sighting) {
        at = &rs_match_sighting(t, *at)->same_bucket;
    }
    *at = s->same_bucket;
}

static void
grow_frame_buckets(rs_match_table *t)
{
    g_free(t->frame_buckets);
    t->n_frame_buckets *= 2;
    t->frame_buckets = new_frame_buckets(t->n_frame_buckets);
    for (guint point = 0; point < t->n_points; point++) {
        for (guint i = 0; i < t->queues[point].n; i++) {
            chain_frame(t, rs_match_nth(t, point, i));
        }
    }
}

guint32
rs_match_add(rs_match_table *t, const rs_sighting *sighting)
{
    guint32 at = allot_sighting(t);
    *rs_match_sighting(t, at) = *sighting;
    append(t, sighting->entry, at);
    push(&t->queues[sighting->point], at);
    chain_frame(t, at);
    if (t->n_sightings > t->n_frame_buckets) {
        grow_frame_buckets(t);
    }
    return at;
}

/* An entry for further sightings of another, of which this leaves none. */
static guint32
open_beside(rs_match_table *t, guint32 entry)
{
    const rs_match_entry old = *rs_match_entry_of(t, entry);
    guint32 at = rs_match_open(t, &old.identity);
    rs_match_entry *e = rs_match_entry_of(t, at);
    e->flow = old.flow;
    e->psn24 = old.psn24;
    e->opcode = old.opcode;
    e->parted = TRUE;
    e->vague = old.vague;
    return at;
}

void
rs_match_part(rs_match_table *t, guint32 entry)
{
    rs_match_resolve(t, entry);
    rs_match_entry *e = rs_match_entry_of(t, entry);
    guint32 rest = RS_NO_ENTRY;
    guint32 at = e->first;
    e->first = e->last = e->other = RS_NO_SIGHTING;
    e->n = 0;
    for (guint32 next; at != RS_NO_SIGHTING; at = next) {
        const rs_sighting *s = rs_match_sighting(t, at);
        next = s->next;
        if ((s->flags & RS_SIGHTING_SETTLED) != 0) {
            append(t, entry, at);
            continue;
        }
        if (rest == RS_NO_ENTRY) {
            rest = open_beside(t, entry);
        }
        append(t, rest, at);
    }
}

guint
rs_match_n(const rs_match_table *t, guint point)
{
    return t->queues[point].n;
}

guint32
rs_match_nth(const rs_match_table *t, guint point, guint i)
{
    const queue *q = &t->queues[point];
    return q->items[(q->head + i) % q->capacity];
}

guint32
rs_match_oldest(const rs_match_table *t, guint point)
{
    return t->queues[point].n > 0 ? rs_match_nth(t, point, 0) : RS_NO_SIGHTING;
}

/* Places of a sighting are used again only when its whole entry is gone, since the chain
 * of the entry goes through them. */
static void
free_sightings(rs_match_table *t, const rs_match_entry *e)
{
    for (guint32 at = e->first, next; at != RS_NO_SIGHTING; at = next) {
        rs_sighting *s = rs_match_sighting(t, at);
        next = s->next;
        s->next = t->free_sighting;
        t->free_sighting = at;
        t->n_sightings--;
    }
}

void
rs_match_drop_oldest(rs_match_table *t, guint point)
{
    queue *q = &t->queues[point];
    guint32 oldest = rs_match_nth(t, point, 0);
    guint32 entry = rs_match_sighting(t, oldest)->entry;
    unchain_frame(t, oldest);
    rs_match_entry *e = rs_match_entry_of(t, entry);
    q->head = (q->head + 1) % q->capacity;
    q->n--;
    if (--e->n == 0) {
        free_sightings(t, e);
        free_entry(t, entry);
    }
}

guint32
rs_match_of_frame(const rs_match_table *t, guint point, guint64 frame)
{
    guint32 at = *frame_bucket(t, point, frame);
    while (at != RS_NO_SIGHTING) {
        const rs_sighting *s = rs_match_sighting(t, at);
        if (s->frame == frame && s->point == point) {
            break;
        }
        at = s->same_bucket;
    }
    return at;
}
