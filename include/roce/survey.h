/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the first frames of a capture point tell about the point itself.
 *
 * The one rule: it looks before anything is counted.  Frames are held until enough of
 * them are there, then it is decided for each new point whether
 *
 *   - it delivers every packet twice, or every one between some hosts: nearly every
 *     packet comes again soon, those of every sender, so that no network can have made
 *     the copies;
 *   - its frames are in the order of their stamps rather than of the file: two queues
 *     were merged, so that PSNs step back and ACKs stand before their requests where in
 *     the order of the stamps they do not;
 *   - it shares streams with another point that has none of its packets: a bond's other
 *     member, another path, the file of the other direction.  Those points are joined;
 *
 * and the frames are handed on.  What is decided holds to the end of the capture; of a
 * point with few frames among them, the next survey may decide more.
 */
#ifndef ROCE_SURVEY_H
#define ROCE_SURVEY_H

#include "roce/alloc.h"
#include "roce/error.h"
#include "roce/linkage.h"
#include "roce/packet.h"
#include "roce/reorder.h"

#include <stdbool.h>
#include <stdint.h>

ROCE_BEGIN

#define ROCE_TWICE_HOSTS 64

/* In what order a point's frames come to the tracker. */
typedef enum roce_order {
    ROCE_ORDER_FILE,  /* as they stand in the file, for clocks step back */
    ROCE_ORDER_CLOCK, /* likewise, but put among those of other points by their stamps */
    ROCE_ORDER_STAMP, /* by their stamps, for the file was merged out of order */
} roce_order;

/* What is decided about a capture point.  It belongs to whoever surveys, and stays where
 * it is from its first frame on. */
typedef struct roce_survey_point {
    uint32_t file_i; /* the owner's: points of one file come in its order, those of
                      * several in the order of time */
    uint32_t group;  /* the least of the points it is joined with; its own, if alone */
    roce_order order;
    uint64_t horizon_ns;       /* how far frames are out of order; 0 with ORDER_FILE */
    uint64_t clock_ns;         /* newest stamp that came; but with ORDER_FILE */
    bool delivers_twice;       /* second copies are the capture's ... */
    uint64_t repeat_within_ns; /* ... that come within this time ... */
    bool repeat_at_any_time;   /* ... or, of senders that number packets, ever ... */
    uint32_t
        n_twice_hosts; /* ... and, unless this is 0, whose source and destination */
    uint64_t twice_hosts[ROCE_TWICE_HOSTS]; /* are both among these, by hashes */
    bool
        in_and_out; /* one copy is in a tunnel that names a tenant, the other in none */
    bool is_at_host;    /* the owner's: it was captured there, as the user says */
    bool settled;       /* nothing more is decided; set before: nothing at all */
    uint32_t n_surveys; /* that it had frames in, until it was settled */
    struct roce_survey_point *next; /* of its group, round and round */
} roce_survey_point;

/* `id` is what frames of the point have for `point`. */
void
roce_survey_point_init(roce_survey_point *point, uint32_t id, uint32_t file_i);

/* Whether the point delivers a packet with these addresses twice. */
bool
roce_survey_is_twice(const roce_survey_point *point, const roce_packet *packet);

/* Whether a tenant of the packet is only known of one of its copies: whichever of them
 * comes first, it is of the network outside. */
bool
roce_survey_is_in_and_out(const roce_survey_point *point, const roce_packet *packet);

/* How far the second copy of a packet that comes twice may be behind the first. */
uint64_t
roce_survey_copy_within_ns(const roce_survey_point *point, const roce_packet *packet);

/* Makes one of two: both get the lesser group. */
void
roce_survey_point_join(roce_survey_point *a, roce_survey_point *b);

typedef struct roce_survey roce_survey;

/* ROCE_ERROR_MEMORY. */
int
roce_survey_new(roce_survey **survey, const roce_alloc *alloc);

/* NULL is fine; what is held is dropped. */
void
roce_survey_free(roce_survey *survey);

/* Whether this point's next frame has to be held: some point is new. */
bool
roce_survey_wants(const roce_survey *survey, const roce_survey_point *point);

/* Holds a copy of a frame of `point`; `packet` is what roce_decode() says of it.
 * ROCE_ERROR_MEMORY: it is not held, all others are. */
int
roce_survey_hold(roce_survey *survey, roce_survey_point *point, const roce_frame *frame,
                 const roce_packet *packet);

/* Whether enough is held to decide: 8,192 frames, or 16 MiB. */
bool
roce_survey_has_enough(const roce_survey *survey);

/* Decides on the points that are new, by what is held, and writes it to them.
 * ROCE_ERROR_MEMORY: some may be undecided; it can be tried again. */
int
roce_survey_decide(roce_survey *survey);

/* Hands the frames held to `take` in the order in which they came, and holds none.
 * `take` must not call the survey. */
void
roce_survey_release(roce_survey *survey, roce_frame_fn take, void *ctx);

ROCE_END

#endif
