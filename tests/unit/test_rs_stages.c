/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Windows between the stages: each part of the watchers is told each packet once and in
 * order, with its events and bytes, however many threads there are and wherever windows
 * end.
 */
#include "check.h"
#include "stages.h"

#include <sched.h>

#define PACKETS 5000u
#define FRAME_BYTES 4u

static const guint thread_counts[] = {1, 2, 3, 64};

/* What a part has been told. */
typedef struct heard {
    guint64 packets, events;
    gboolean in_order, whole;
} heard;

typedef struct listener {
    heard of[RS_WATCH_EVERYTHING + 1]; /* by part */
} listener;

static void
hear(heard *h, const rs_window *window)
{
    guint event_i = 0;
    for (guint i = 0; i < window->n; i++) {
        const rs_slot *slot = &window->slots[i];
        for (; event_i < slot->n_events; event_i++) {
            const roce_event *event =
                &g_array_index(window->events, rs_occurrence, event_i).event;
            h->in_order &= event->frame == h->packets + 1;
            h->events++;
        }
        h->packets++;
        h->in_order &= slot->sight.frame->number == h->packets &&
                       slot->sight.packet->bth.psn24 == h->packets;
        const guint8 *bytes = slot->sight.frame->bytes;
        gboolean wanted = slot->sight.packet->kind != ROCE_CLASS_ROCE;
        h->whole &= wanted ? bytes != NULL && bytes[0] == (guint8)h->packets &&
                                 bytes[FRAME_BYTES - 1] == (guint8)(h->packets + 1)
                           : bytes == NULL;
    }
}

static void
tell(gpointer ctx, rs_watch_parts parts, const rs_window *window)
{
    listener *l = ctx;
    for (guint part = RS_WATCH_NETWORK; part <= RS_WATCH_STREAMS; part++) {
        if (((guint)parts & part) != 0) {
            hear(&l->of[part], window);
        }
    }
}

/* Every other packet is one of the window's own, every fifth has an event, every seventh
 * is not RoCE. */
static void
put(rs_stages *stages, guint number)
{
    roce_packet *own = number % 2 == 0 ? rs_stages_packets(stages, 1) : NULL;
    roce_packet elsewhere;
    roce_packet *packet = own != NULL ? own : &elsewhere;
    *packet = (roce_packet){
        .kind = number % 7 == 0 ? ROCE_CLASS_OTHER : ROCE_CLASS_ROCE,
        .bth = {.psn24 = number},
    };
    const guint8 bytes[FRAME_BYTES] = {(guint8)number, 0, 0, (guint8)(number + 1)};
    const roce_frame frame = {
        .number = number, .bytes = bytes, .captured_bytes = FRAME_BYTES};
    rs_window *window = rs_stages_window(stages);
    (void)rs_window_add(window, &frame, packet);
    if (number % 5 == 0) {
        const rs_occurrence occurrence = {.event = {.frame = number}};
        g_array_append_val(window->events, occurrence);
    }
    rs_window_end_packet(window);
    if (rs_window_is_full(window)) {
        rs_stages_hand_on(stages);
    }
}

static void
check_heard(const listener *l, guint packets)
{
    for (guint part = RS_WATCH_NETWORK; part <= RS_WATCH_STREAMS; part++) {
        CHECK_INT(l->of[part].packets, packets);
        CHECK_INT(l->of[part].events, packets / 5);
        CHECK(l->of[part].in_order);
        CHECK(l->of[part].whole);
    }
}

/* Behind each `every` packets stages meet, or stay together, which ends windows early. */
static void
check_telling(guint n_threads, guint every, void (*meet)(rs_stages *))
{
    listener l = {0};
    for (guint part = RS_WATCH_NETWORK; part <= RS_WATCH_STREAMS; part++) {
        l.of[part].in_order = l.of[part].whole = TRUE;
    }
    rs_stages *stages = rs_stages_new(n_threads, tell, &l);
    for (guint number = 1; number <= PACKETS; number++) {
        put(stages, number);
        if (number % every == 0) {
            meet(stages);
            check_heard(&l, number);
        }
    }
    rs_stages_meet(stages);
    check_heard(&l, PACKETS);
    rs_stages_free(stages);
}

static void
check_all(void)
{
    static const guint meetings[] = {1, 63, 64, 65, 1000, PACKETS + 1};
    for (gsize i = 0; i < G_N_ELEMENTS(thread_counts); i++) {
        for (gsize k = 0; k < G_N_ELEMENTS(meetings); k++) {
            check_row("meeting");
            check_telling(thread_counts[i], meetings[k], rs_stages_meet);
            check_row("staying");
            check_telling(thread_counts[i], meetings[k], rs_stages_stay);
        }
    }
    check_row("nothing");
    rs_stages_free(rs_stages_new(3, tell, NULL));
}

/* From here on threads share one, and wait for each other in another way. */
static void
use_one_processor(void)
{
    cpu_set_t set;
    CHECK_INT(sched_getaffinity(0, sizeof set, &set), 0);
    gsize first = 0;
    while (first + 1 < CPU_SETSIZE && !CPU_ISSET(first, &set)) {
        first++;
    }
    CPU_ZERO(&set);
    CPU_SET(first, &set);
    CHECK_INT(sched_setaffinity(0, sizeof set, &set), 0);
}

int
main(void)
{
    check_all();
    use_one_processor();
    check_all();
    return check_status();
}
