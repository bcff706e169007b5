/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where cars wait, and when they are handed on.
 *
 * Each stream whose packets come in trains has a platform: the mould that frames are held
 * against, and what the next car has to be.  Its cars wait on a siding, of which there are
 * so many for all streams together.
 *
 *   guess     bytes of a frame and its point make a key, and the shelf of that key has a
 *             platform.  It may be another stream's, or have lost its place to one.
 *   board     if the frame fits the mould and is next in sequence, it is a car.  If not, it
 *             goes by itself, the long way.
 *   hand on   the tracker takes the cars that wait, and then the watchers: when there is no
 *             room for another one, of which the tracker says how much there is; when
 *             another stream wants a siding, and none is free; and before a packet goes by
 *             itself that has to do with the stream (rs_trains_make_way()).
 *   follow    a packet that has gone by itself, and that others may be like, opens the
 *             platform of its stream, with a mould of its bytes if they do not fit the one
 *             that is there: behind it a train may begin.  One that is none of those, and
 *             does not stand beside them, closes it.
 *
 * Most frames come no further than boarding, which therefore asks nobody but the platform.
 */
#include "trains.h"

#include "approach.h"
#include "byte_of.h"
#include "frames.h"
#include "priorities.h"
#include "runs.h"

#include "roce/aeth.h"
#include "roce/psn.h"

#include <string.h>

/* Of so many packets of one priority at a point each is looked at by itself, because each
 * may be named in a finding; see rs_priorities_only_count(). */
#define LEAST_OF_CLASS RS_FRAMES
#define N_CLASSES (8u << 6 << 1) /* by priority, DSCP, and whether there is a tag */
/* Of streams whose cars wait at once, and one where frames become cars: all together take
 * some MB, and stay near. */
#ifdef RS_LITTLE_ROOM /* for tests: most platforms lose their places, and trains end early */
#define LEAST_SHELVES 2u
#define MOST_SHELVES 2u
#define N_SIDINGS 4u
#else
#define LEAST_SHELVES 64u
#define MOST_SHELVES (1u << 15)
#define N_SIDINGS 4097u
#endif
#define SHELF_PLACES 5           /* a line of memory full */
#define POINT_FACTOR 0x9e3779b1u /* points of one packet are far from each other */
#define MAX_POINTS 1024          /* of more none has trains */

typedef struct siding {
    rs_platform *platform;            /* whose cars they are; NULL: nobody's */
    roce_car cars[RS_TRAIN_CARS + 1]; /* and one that may board */
} siding;

struct rs_platform {
    roce_mould mould; /* first: with the next few, what each frame is held against */
    gint64 psn;       /* of its next car */
    siding *siding;   /* where its cars wait; NULL: none do */
    guint64 way;      /* what they are noted by; 0: they are not */
    gint64 una;       /* see roce_train_room */
    const roce_stream *stream;
    rs_face *face;      /* of the stream */
    rs_counted counted; /* of the stream, but for the cars that wait */
    guint32 point;
    guint32 peer;     /* of the stream, while cars wait */
    guint waiting_at; /* among those that have cars */
    guint16 ident;    /* of its newest packet in its space */
    guint8 n, room;   /* cars that wait, and may; no room: the tracker is to be asked */
    guint8 icrc;      /* roce_icrc_status of each packet */
    guint8 space;     /* roce_space of the mould; valid if open */
    guint8 priority;
    bool open : 1;    /* the packet with data before was like the mould */
    bool began : 1;   /* the stream is among those that have */
    bool moulded : 1; /* there is a mould */
};
G_STATIC_ASSERT(sizeof(rs_platform) == 4 * RS_CACHE_LINE_BYTES);
G_STATIC_ASSERT(RS_TRAIN_CARS <= G_MAXUINT8);

/* Where platforms are found by their keys: as many shelves as platforms, up to a bound, so that
 * those of few streams stay near.  When a shelf is full, one more takes the place of one that
 * is there: that one's stream puts it back with its next packet. */
struct rs_shelf {
    guint32 keys[SHELF_PLACES]; /* 0: none */
    rs_platform *platforms[SHELF_PLACES];
};
G_STATIC_ASSERT(sizeof(rs_shelf) == RS_CACHE_LINE_BYTES);

struct rs_trains {
    roce_tracker *tracker;
    gboolean crowded; /* the tracker, since a packet went by itself or had room made */
    rs_icrc_check *icrc;
    rs_blocks *faces;
    rs_trains_take_fn take;
    gpointer ctx;
    rs_shelf *shelves;
    guint n_shelves; /* a power of two */
    rs_blocks platforms;
    guint n_platforms;
    GPtrArray *of_stream; /* rs_platform, or NULL */
    siding *sidings; /* N_SIDINGS, written from the first one on as they are wanted */
    guint n_sidings; /* that were */
    guint next_to_clear;
    GPtrArray *free_sidings; /* the newest is the nearest */
    siding *spare;           /* where a frame that may be a first car becomes one */
    /* By stream: one that begins a message has gone by itself, and from the first such
     * packet on rates are followed, see reaction.h. */
    GByteArray *began;
    GPtrArray *waiting;   /* rs_platform: those that have cars */
    GByteArray *of_class; /* packets, up to LEAST_OF_CLASS, by point and class */
    /* Some receiver has had none left: from then on each AETH may tell that there are some
     * again, see receiver.c, and so responses that have one go by themselves. */
    gboolean credits_ran_out;
    /* The newest frame that was like a platform's mould and did not board all the same; no two
     * frames have one number. */
    const rs_platform *alike;
    guint64 alike_frame;
};

static void
build_shelves(rs_trains *trains, guint n)
{
    trains->shelves = g_aligned_alloc0(n, sizeof(rs_shelf), RS_CACHE_LINE_BYTES);
    trains->n_shelves = n;
}

/* One that was never wanted before, while there are such. */
static siding *
make_siding(rs_trains *trains)
{
    siding *made = &trains->sidings[trains->n_sidings++];
    made->platform = NULL;
    return made;
}

rs_trains *
rs_trains_new(roce_tracker *tracker, rs_icrc_check *icrc, rs_blocks *faces,
              rs_trains_take_fn take, gpointer ctx)
{
    rs_trains *trains = g_new0(rs_trains, 1);
    trains->tracker = tracker;
    trains->icrc = icrc;
    trains->faces = faces;
    trains->take = take;
    trains->ctx = ctx;
    build_shelves(trains, LEAST_SHELVES);
    trains->platforms = rs_blocks_make(sizeof(rs_platform));
    trains->of_stream = g_ptr_array_new();
    trains->sidings =
        g_aligned_alloc(N_SIDINGS, sizeof *trains->sidings, RS_CACHE_LINE_BYTES);
    trains->free_sidings = g_ptr_array_new();
    trains->spare = make_siding(trains);
    trains->began = g_byte_array_new();
    trains->waiting = g_ptr_array_new();
    trains->of_class = g_byte_array_new();
    return trains;
}

void
rs_trains_free(rs_trains *trains)
{
    if (trains != NULL) {
        g_byte_array_unref(trains->of_class);
        g_ptr_array_unref(trains->waiting);
        g_byte_array_unref(trains->began);
        g_ptr_array_unref(trains->of_stream);
        g_ptr_array_unref(trains->free_sidings);
        g_aligned_free(trains->sidings);
        rs_blocks_clear(&trains->platforms);
        g_aligned_free(trains->shelves);
        g_free(trains);
    }
}

/* ---- platforms ---- */

guint32
rs_trains_key(guint32 hash, guint32 point)
{
    return (hash + point * POINT_FACTOR) | 1;
}

static rs_shelf *
shelf_of(const rs_trains *trains, guint32 key)
{
    return &trains->shelves[key / 2 & (trains->n_shelves - 1)];
}

const rs_shelf *
rs_trains_approach_shelf(const rs_trains *trains, guint32 key)
{
    const rs_shelf *at = shelf_of(trains, key);
    rs_approach(at, sizeof *at);
    return at;
}

rs_platform *
rs_trains_guess(const rs_shelf *at, guint32 key)
{
    for (guint i = 0; i < SHELF_PLACES && at->keys[i] != 0; i++) {
        if (at->keys[i] == key) {
            return at->platforms[i];
        }
    }
    return NULL;
}

static void
shelve(const rs_trains *trains, guint32 key, rs_platform *platform)
{
    rs_shelf *at = shelf_of(trains, key);
    guint i = 0;
    while (i < SHELF_PLACES && at->keys[i] != 0 && at->keys[i] != key) {
        i++;
    }
    if (i == SHELF_PLACES) {
        i = key / 2 / trains->n_shelves % SHELF_PLACES;
    }
    at->keys[i] = key;
    at->platforms[i] = platform;
}

/* Four times as many shelves, with what was on the old ones. */
static void
add_shelves(rs_trains *trains)
{
    rs_shelf *old = trains->shelves;
    const guint n = trains->n_shelves;
    build_shelves(trains, MIN(4 * n, MOST_SHELVES));
    for (guint k = 0; k < n; k++) {
        for (guint i = 0; i < SHELF_PLACES && old[k].keys[i] != 0; i++) {
            shelve(trains, old[k].keys[i], old[k].platforms[i]);
        }
    }
    g_aligned_free(old);
}

void
rs_trains_approach(const rs_platform *platform)
{
    rs_approach(platform, sizeof *platform);
}

void
rs_trains_approach_car(const rs_trains *trains, const rs_platform *p)
{
    if (p->n > 0) {
        rs_approach(&p->siding->cars[p->n], sizeof(roce_car));
    }
    if (p->way != 0) {
        roce_tracker_approach_note(trains->tracker, p->way, roce_psn_wrap(p->psn));
    }
}

gboolean
rs_trains_approach_full(const rs_trains *trains, const rs_platform *p)
{
    gboolean is_full = p->n > 0 && p->n == p->room;
    if (is_full) {
        roce_tracker_approach_stream(trains->tracker, p->stream->id);
    }
    return is_full;
}

void
rs_trains_approach_train(const rs_trains *trains, const rs_platform *p)
{
    roce_tracker_approach_train(trains->tracker, p->stream->id, p->space, p->n);
}

static rs_platform *
platform_of(const rs_trains *trains, guint32 stream)
{
    return stream < trains->of_stream->len ? trains->of_stream->pdata[stream] : NULL;
}

static void
approach_cars(const rs_trains *trains, guint32 stream)
{
    const rs_platform *p = platform_of(trains, stream);
    if (p != NULL && p->n > 0) {
        rs_approach(p->siding->cars, p->n * sizeof(roce_car));
        roce_tracker_approach_train(trains->tracker, stream, p->space, p->n);
    }
}

void
rs_trains_approach_way(const rs_trains *trains, guint32 stream)
{
    guint32 peer = roce_tracker_stream(trains->tracker, stream)->peer;
    approach_cars(trains, stream);
    if (peer != ROCE_NO_STREAM) {
        approach_cars(trains, peer);
    }
}

static rs_platform *
make_platform(rs_trains *trains, const roce_stream *stream)
{
    if (trains->n_platforms >= trains->n_shelves && trains->n_shelves < MOST_SHELVES) {
        add_shelves(trains);
    }
    rs_platform *p = rs_blocks_get(&trains->platforms, trains->n_platforms++);
    p->stream = stream;
    p->face = rs_blocks_get(trains->faces, stream->id);
    if (stream->id >= trains->of_stream->len) {
        g_ptr_array_set_size(trains->of_stream, (gint)stream->id + 1);
    }
    trains->of_stream->pdata[stream->id] = p;
    return p;
}

/* ---- handing on ---- */

/* Of those that there are. */
G_NO_INLINE static void
hand_on_cars(rs_trains *trains, rs_platform *p)
{
    guint n = p->n;
    siding *from = p->siding;
    rs_platform *last =
        g_ptr_array_steal_index_fast(trains->waiting, trains->waiting->len - 1);
    if (last != p) {
        trains->waiting->pdata[p->waiting_at] = last;
        last->waiting_at = p->waiting_at;
    }
    p->n = 0;
    trains->icrc->passed_over += p->icrc == ROCE_ICRC_UNCHECKED ? n : 0;
    p->counted.packets += n;
    p->counted.data += n;
    roce_tracker_take_train(trains->tracker, p->stream->id, p->space, p->icrc,
                            from->cars, n);
    const rs_train train = {
        .stream = p->stream, .space = p->space, .psn = p->psn - n, .n = (guint16)n};
    trains->take(trains->ctx, &train, from->cars);
    p->siding = NULL;
    from->platform = NULL;
    g_ptr_array_add(trains->free_sidings, from);
}

static inline void
hand_on(rs_trains *trains, rs_platform *p)
{
    p->room = 0;
    if (p->n > 0) {
        hand_on_cars(trains, p);
    }
}

void
rs_trains_clear(rs_trains *trains)
{
    while (trains->waiting->len > 0) {
        hand_on(trains, g_ptr_array_index(trains->waiting, trains->waiting->len - 1));
    }
}

void
rs_trains_end(rs_trains *trains)
{
    rs_trains_clear(trains);
    for (guint i = 0; i < trains->of_stream->len; i++) {
        rs_platform *p = trains->of_stream->pdata[i];
        if (p != NULL) {
            p->open = FALSE;
        }
    }
}

/* ---- boarding ---- */

/* Whether a stream has counted nothing since but its trains, and what stood beside. */
static gboolean
is_undisturbed(const rs_platform *p)
{
    const rs_counted now = rs_counted_of(p->stream);
    return rs_counted_equal(&now, &p->counted);
}

static roce_train_room
ask_for_room(const rs_trains *trains, const rs_platform *p)
{
    return roce_tracker_train_room(trains->tracker, p->stream->id, p->space,
                                   RS_TRAIN_CARS);
}

/* Hands on what waits, and asks for room for more: whether there is some, or may be. */
static gboolean
begin(rs_trains *trains, rs_platform *p)
{
    hand_on(trains, p);
    if (!is_undisturbed(p)) {
        p->open = FALSE;
        return FALSE;
    }
    const roce_train_room room = ask_for_room(trains, p);
    p->room = (guint8)room.n;
    p->psn = room.psn;
    p->ident = room.ident;
    p->una = room.una;
    p->peer = p->stream->peer;
    p->way = roce_tracker_note_way(trains->tracker, p->stream->id);
    return p->room > 0 || room.may_grow;
}

/* For a car that comes next. */
static gboolean
make_room(rs_trains *trains, rs_platform *p)
{
    if (!roce_tracker_grow_room(trains->tracker, p->stream->id, p->space)) {
        return FALSE;
    }
    trains->crowded = roce_tracker_is_crowded(trains->tracker);
    p->room = (guint8)ask_for_room(trains, p).n;
    return p->room > 0;
}

/* The last response of a READ. */
static gboolean
ends_answer(const rs_platform *p, const roce_car *car)
{
    return p->space == ROCE_SPACE_RESPONSES &&
           roce_part_ends(roce_opcode_get(car->opcode)->part);
}

static gboolean
has_aeth(const roce_car *car)
{
    return (roce_opcode_get(car->opcode)->headers & ROCE_HEADER_AETH) != 0;
}

static gboolean
is_next(const rs_trains *trains, const rs_platform *p, const roce_frame *frame,
        const roce_car *car)
{
    return car->psn24 == roce_psn_wrap(p->psn) &&
           (p->began || roce_opcode_get(car->opcode)->part != ROCE_PART_FIRST) &&
           (guint16)(car->ident - p->ident) < 0x8000 &&
           !(trains->credits_ran_out && has_aeth(car)) &&
           rs_icrc_check_car(trains->icrc, frame, &p->mould, car) == p->icrc;
}

/* Whether the newest car is the first to acknowledge what is before `psn`. */
static gboolean
acknowledges(const rs_platform *p, gint64 psn)
{
    return p->space == ROCE_SPACE_RESPONSES && psn > p->una;
}

static siding *
siding_behind(const rs_trains *trains, guint n)
{
    return &trains->sidings[(trains->next_to_clear + n) % N_SIDINGS];
}

/* What handing on the cars of those to be cleared next asks for, step by step. */
static void
approach_sidings(const rs_trains *trains)
{
    const rs_platform *p = siding_behind(trains, 2)->platform;
    if (p != NULL) {
        rs_approach(p, sizeof *p);
    }
    p = siding_behind(trains, 1)->platform;
    if (p != NULL) {
        roce_tracker_approach_stream(trains->tracker, p->stream->id);
    }
    p = siding_behind(trains, 0)->platform;
    if (p != NULL) {
        roce_tracker_approach_train(trains->tracker, p->stream->id, p->space, p->n);
    }
}

/* One that is free.  If none is, the cars of another stream are handed on: of all that wait,
 * each in its turn, so that those of a stream that has just begun to wait stay. */
static siding *
find_siding(rs_trains *trains)
{
    GPtrArray *free_ones = trains->free_sidings;
    if (free_ones->len == 0 && trains->n_sidings < N_SIDINGS) {
        return make_siding(trains);
    }
    while (free_ones->len == 0) {
        const siding *next = siding_behind(trains, 0);
        trains->next_to_clear = (trains->next_to_clear + 1) % N_SIDINGS;
        if (next->platform != NULL) {
            hand_on(trains, next->platform);
        }
        approach_sidings(trains);
    }
    return g_ptr_array_steal_index_fast(free_ones, free_ones->len - 1);
}

/* The spare siding, which has the first car of a platform, is the platform's. */
static void
begin_to_wait(rs_trains *trains, rs_platform *p)
{
    siding *taken = trains->spare;
    trains->spare = find_siding(trains);
    taken->platform = p;
    p->siding = taken;
    p->waiting_at = trains->waiting->len;
    g_ptr_array_add(trains->waiting, p);
}

static roce_car *
place_of_next(const rs_trains *trains, const rs_platform *p)
{
    return p->n > 0 ? &p->siding->cars[p->n] : trains->spare->cars;
}

static const roce_car *
turn_away(rs_trains *trains, const rs_platform *p, const roce_frame *frame)
{
    trains->alike = p;
    trains->alike_frame = frame->number;
    return NULL;
}

/* Whether that happened to the frame just now, at its point. */
static gboolean
was_turned_away(const rs_trains *trains, const roce_frame *frame)
{
    return trains->alike_frame == frame->number && trains->alike->point == frame->point;
}

const roce_car *
rs_trains_board(rs_trains *trains, rs_platform *p, const roce_frame *frame)
{
    roce_car *car = place_of_next(trains, p);
    if (!p->open || trains->crowded || frame->point != p->point ||
        !roce_mould_fits(&p->mould, frame, car)) {
        return NULL;
    }
    if (p->n == p->room) {
        const roce_car one = *car;
        if (!begin(trains, p)) {
            return turn_away(trains, p, frame);
        }
        car = trains->spare->cars;
        *car = one;
    }
    if (!is_next(trains, p, frame, car)) {
        p->room = p->n == 0 ? 0 : p->room;
        return turn_away(trains, p, frame);
    }
    if (p->room == 0 && !make_room(trains, p)) {
        return turn_away(trains, p, frame);
    }
    if (p->n == 0) {
        begin_to_wait(trains, p);
    }
    p->n++;
    roce_tracker_see_car(trains->tracker, p->point);
    if (p->way != 0) {
        roce_tracker_note_car(trains->tracker, p->way, p->stream->id, car->psn24);
    }
    p->ident = car->ident;
    p->psn++;
    if (ends_answer(p, car)) {
        p->room = p->n;
    }
    return car;
}

void
rs_trains_glimpse(const rs_platform *p, const roce_car *car, guint16 behind,
                  rs_glimpse *glimpse)
{
    *glimpse = (rs_glimpse){
        .stream = p->stream,
        .face = p->face,
        .time_ns = car->time_ns,
        .frame = car->frame,
        .repeats = p->counted.repeats,
        .payload_bytes = car->payload_bytes,
        .wire_bytes = car->wire_bytes,
        .behind = behind,
        .opcode = car->opcode,
        .traffic_class = p->mould.traffic_class,
        .hop_limit = p->mould.hop_limit,
        .cut = car->cut,
        .has_identity = FALSE,
    };
}

void
rs_trains_glance(const rs_platform *p, const roce_car *car, rs_glance *glance)
{
    gint64 psn = p->psn - 1;
    gint64 acked_until = psn + (ends_answer(p, car) ? 1 : 0);
    *glance = (rs_glance){
        .psn = psn,
        .acked_until = acked_until,
        .acknowledges = acknowledges(p, acked_until) ? p->peer : ROCE_NO_STREAM,
        .space = p->space,
        .priority = p->priority,
        .direction = (guint8)p->mould.direction,
        .vantage = (guint8)p->stream->vantage,
    };
    const guint8 *macs = p->mould.bytes;
    memcpy(glance->dst_mac, macs, sizeof glance->dst_mac);
    memcpy(glance->src_mac, macs + sizeof glance->dst_mac, sizeof glance->src_mac);
}

void
rs_trains_identify(const rs_platform *p, const roce_frame *frame, const roce_car *car,
                   roce_wire_identity *identity)
{
    roce_mould_wire_identity(&p->mould, frame, car, &p->stream->src, &p->stream->dst,
                             identity);
}

/* ---- packets that go by themselves ---- */

static void
hand_on_of(rs_trains *trains, guint32 stream)
{
    rs_platform *p = platform_of(trains, stream);
    if (p != NULL) {
        hand_on(trains, p);
    }
}

static guint32
find_stream(const rs_trains *trains, const roce_frame *frame, const roce_packet *packet)
{
    return was_turned_away(trains, frame)
               ? trains->alike->stream->id
               : roce_tracker_find(trains->tracker, frame->point, packet);
}

guint32
rs_trains_make_way(rs_trains *trains, const roce_frame *frame,
                   const roce_packet *packet)
{
    if (trains->waiting->len == 0 || !roce_packet_is_of_stream(packet)) {
        return ROCE_NO_STREAM;
    }
    const roce_tracker *tracker = trains->tracker;
    guint32 stream = find_stream(trains, frame, packet);
    if (stream != ROCE_NO_STREAM && !trains->crowded) {
        guint32 partner = roce_tracker_partner(tracker, stream, packet);
        hand_on_of(trains, stream);
        if (partner != ROCE_NO_STREAM) {
            hand_on_of(trains, partner);
        }
        if (roce_tracker_is_plain(tracker, stream, packet)) {
            return stream;
        }
    }
    rs_trains_clear(trains);
    return stream;
}

/* Whether it is of a stream that may have trains, and in sequence. */
static gboolean
is_candidate(const rs_sight *sight)
{
    return sight->stream != NULL && sight->stream->id < RS_RUNS_STREAMS &&
           sight->is_data && sight->sighting->sequenced;
}

static gboolean
may_lead(const rs_sight *sight)
{
    return is_candidate(sight) && sight->counted.packets >= RS_RUNS_LEAST_PACKETS &&
           sight->icrc != ROCE_ICRC_BAD;
}

static void
note_beginning(const rs_trains *trains, const rs_sight *sight)
{
    if (is_candidate(sight) && sight->info->part == ROCE_PART_FIRST &&
        sight->packet->payload_bytes > 0) {
        *rs_byte_of(trains->began, sight->stream->id) = TRUE;
    }
}

static void
note_credits(rs_trains *trains, const roce_packet *p)
{
    if ((p->headers & ROCE_HEADER_AETH) != 0 &&
        roce_aeth_get_kind(p->aeth_syndrome) == ROCE_AETH_ACK &&
        roce_aeth_credits(roce_aeth_get_value(p->aeth_syndrome)) == 0) {
        trains->credits_ran_out = TRUE;
    }
}

/* Counts a packet with data; whether enough like it have been looked at.  Those with a tag
 * are told apart by it, whatever the user says of their DSCP. */
static gboolean
count_class(rs_trains *trains, guint32 point, const rs_sight *sight)
{
    const roce_packet *p = sight->packet;
    gboolean is_tagged = p->n_vlans > 0;
    guint priority = is_tagged ? p->vlan_tci[0] >> 13 : sight->priority;
    guint dscp = p->traffic_class >> 2;
    guint class = (priority << 6 | dscp) << 1 | (is_tagged ? 1 : 0);
    guint8 *n = rs_byte_of(trains->of_class, point * N_CLASSES + class);
    *n = (guint8)MIN(*n + 1, LEAST_OF_CLASS);
    return *n == LEAST_OF_CLASS;
}

/* Whether trains may be made of packets like this one, whose mould is taken if need be, or
 * may go on behind it. */
static gboolean
has_mould(rs_platform *p, const roce_frame *frame, const roce_packet *packet)
{
    roce_car car;
    p->moulded = (p->moulded && (roce_mould_fits(&p->mould, frame, &car) ||
                                 roce_mould_admits(&p->mould, frame, packet))) ||
                 roce_mould_take(frame, packet, &p->mould);
    return p->moulded;
}

/* What a stream carries among its data and is in no sequence with it: acknowledgements,
 * and among READ responses the READs of the other direction. */
static gboolean
is_beside(const rs_platform *p, const rs_sight *sight)
{
    roce_role role = sight->info->role;
    return p->open && sight->is_counted &&
           (role == ROCE_ROLE_ACK ||
            (role == ROCE_ROLE_READ_REQUEST && p->space == ROCE_SPACE_RESPONSES));
}

static void
lead(const rs_trains *trains, rs_platform *p, const roce_frame *frame,
     const rs_sight *sight)
{
    gboolean is_known = was_turned_away(trains, frame) && trains->alike == p;
    p->open = is_known || has_mould(p, frame, sight->packet);
    p->point = frame->point;
    p->priority = sight->priority;
    p->began = *rs_byte_of(trains->began, sight->stream->id) != FALSE;
    p->icrc = (guint8)sight->icrc;
    p->counted = sight->counted;
    if (p->open) {
        p->space = (guint8)roce_mould_space(&p->mould);
    }
    guint32 hash = p->open && !is_known ? roce_mould_hash(frame) : 0;
    if (hash != 0) {
        shelve(trains, rs_trains_key(hash, frame->point), p);
    }
}

gboolean
rs_trains_follow(rs_trains *trains, const roce_frame *frame, const rs_sight *sight)
{
    trains->crowded = roce_tracker_is_crowded(trains->tracker);
    note_beginning(trains, sight);
    note_credits(trains, sight->packet);
    roce_role role = sight->info->role;
    gboolean is_load = (role == ROCE_ROLE_SEND || role == ROCE_ROLE_WRITE ||
                        role == ROCE_ROLE_READ_RESPONSE) &&
                       sight->is_data && rs_is_connected_data(sight->packet);
    gboolean enough = is_load && frame->point < MAX_POINTS &&
                      count_class(trains, frame->point, sight);
    rs_platform *p =
        sight->stream != NULL ? platform_of(trains, sight->stream->id) : NULL;
    if (enough && may_lead(sight)) {
        lead(trains, p != NULL ? p : make_platform(trains, sight->stream), frame,
             sight);
    } else if (p != NULL && is_beside(p, sight)) {
        p->counted = sight->counted;
        return TRUE;
    } else if (p != NULL) {
        p->open = FALSE;
    }
    return FALSE;
}
