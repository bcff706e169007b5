/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Bursts: which windows are hot, and which of them are one burst. */
#include "bursts.h"

#include "sight_maker.h"

#define W RS_BURST_WINDOW_NS
#define MOST_PACKETS 6
#define FRAME_BYTES 182 /* of 158 captured: with FCS, preamble and gap */

static void
check_windows(void)
{
    /* A window holds so much at a rate: two frames are 364 bytes, 291.2 Mb/s. */
    /* clang-format off */
    static const struct {
        const char *name;
        guint64 told_bps, speed_bps;
        uint64_t at_ns[MOST_PACKETS];
        unsigned n_packets;
        uint64_t n_bursts, longest_ns, burst_bytes;
    } cases[] = {
        {"just the rate", 291200000, 0, {0, W - 1}, 2, 1, W, 2 * FRAME_BYTES},
        {"a bit more", 291200001, 0, {0, W - 1}, 2, 0, 0, 0},
        {"across a border", 291200000, 0, {W - 1, W}, 2, 0, 0, 0},
        {"two windows, one burst", 291200000, 0, {0, 1, W, W + 1}, 4, 1, 2 * W, 4 * FRAME_BYTES},
        {"a cool one between", 291200000, 0, {0, 1, W, 2 * W, 2 * W}, 5, 2, W, 4 * FRAME_BYTES},
        {"an empty one between", 291200000, 0, {0, 1, 2 * W, 2 * W}, 4, 2, W, 4 * FRAME_BYTES},
        {"80 % of the link", 0, 364000000, {0, 1}, 2, 1, W, 2 * FRAME_BYTES},
        {"80 % of a faster one", 0, 364000200, {0, 1}, 2, 0, 0, 0},
        {"the user's word counts", 400000000, 364000000, {0, 1}, 2, 0, 0, 0},
        {"nobody knows the speed", 0, 0, {0, 1}, 2, 0, 0, 0},
        {"the clock steps back: the window goes on", 291200000, 0, {W, 0}, 2, 1, W,
         2 * FRAME_BYTES},
        {"as far as a clock may without being set", 291200000, 0, {ROCE_SET_BACK_NS, 0}, 2, 1, W,
         2 * FRAME_BYTES},
        {"one alone is late by more", 291200000, 0, {ROCE_SET_BACK_NS + W, 0, ROCE_SET_BACK_NS + W}, 3,
         1, W, 3 * FRAME_BYTES},
        {"each second one is", 291200000, 0,
         {ROCE_SET_BACK_NS + W, 0, ROCE_SET_BACK_NS + W, 1}, 4, 1, W, 4 * FRAME_BYTES},
        {"the clock is set back: the second has a window of its own", 364000001, 0,
         {ROCE_SET_BACK_NS + W, 0, 0}, 3, 0, 0, 0},
        {"and goes on from there", 291200000, 0, {ROCE_SET_BACK_NS + W, 0, 0, 1, W, W + 1}, 6, 2,
         2 * W, 6 * FRAME_BYTES},
    };
    /* clang-format on */
    for (size_t i = 0; i < N_ROWS(cases); i++) {
        check_row(cases[i].name);
        sight_maker m;
        sight_maker_init(&m);
        rs_bursts *bursts = rs_bursts_new(cases[i].told_bps);
        for (unsigned p = 0; p < cases[i].n_packets; p++) {
            rs_sight *sight = make_sight(&m, p % 2, cases[i].at_ns[p]);
            sight->link_bps = cases[i].speed_bps;
            rs_bursts_packet(bursts, sight);
        }
        rs_bursts_finish(bursts, 1);
        CHECK_INT(rs_bursts_n_targets(bursts), 1);
        const rs_burst_target *t = rs_bursts_target_at(bursts, 0);
        CHECK_INT(t->n_bursts, cases[i].n_bursts);
        CHECK_INT(t->longest_ns, cases[i].longest_ns);
        CHECK_INT(t->burst_bytes, cases[i].burst_bytes);
        CHECK_INT(t->bytes, cases[i].n_packets * FRAME_BYTES);
        rs_bursts_free(bursts);
    }
}

/* A frame shorter than Ethernet allows was captured before it was padded. */
static void
check_padding(void)
{
    sight_maker m;
    sight_maker_init(&m);
    rs_bursts *bursts = rs_bursts_new(0);
    rs_sight *sight = make_sight(&m, 0, 0);
    m.frame.wire_bytes = 58;
    rs_sight_complete(&m.sight);
    rs_bursts_packet(bursts, sight);
    rs_bursts_finish(bursts, 1);
    check_row("padded to 60 bytes, and 24 more");
    CHECK_INT(rs_bursts_target_at(bursts, 0)->bytes, 84);
    rs_bursts_free(bursts);
}

/* Of more bursts than are kept, the longest are. */
static void
check_kept(void)
{
    sight_maker m;
    sight_maker_init(&m);
    rs_bursts *bursts = rs_bursts_new(1000);
    uint64_t window = 0;
    for (unsigned length = 1; length <= RS_BURSTS_KEPT + 3; length++) {
        for (unsigned i = 0; i < length; i++) {
            rs_bursts_packet(bursts, make_sight(&m, 0, window++ * W));
        }
        window++;
    }
    rs_bursts_finish(bursts, 1);
    check_row("the longest of many");
    const rs_burst_target *t = rs_bursts_target_at(bursts, 0);
    CHECK_INT(t->n_bursts, RS_BURSTS_KEPT + 3);
    CHECK_INT(t->longest->len, RS_BURSTS_KEPT);
    const rs_burst *first = &g_array_index(t->longest, rs_burst, 0);
    CHECK_INT(first->end_ns - first->start_ns, 4 * W);
    rs_bursts_free(bursts);
}

static void
check_stamps(void)
{
    for (uint64_t resolution_ns = W / 10 - 1; resolution_ns <= W / 10 + 1;
         resolution_ns++) {
        rs_bursts *bursts = rs_bursts_new(0);
        rs_bursts_finish(bursts, resolution_ns);
        check_row("a tenth of a window, and 1 ns more or less");
        CHECK_INT(rs_bursts_known(bursts), resolution_ns <= W / 10);
        rs_bursts_free(bursts);
    }
}

int
main(void)
{
    check_windows();
    check_padding();
    check_kept();
    check_stamps();
    return check_status();
}
