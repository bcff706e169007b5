/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Incast: when a sender is active, what an episode is, and what coincidence proves. */
#include "incast.h"

#include "sight_maker.h"

#include <string.h>

#define W RS_INCAST_WINDOW_NS
#define MOST_PACKETS 8

/* An incast that sees what a maker makes. */
typedef struct watch {
    sight_maker m;
    rs_incast *incast;
    rs_nics *nics;
} watch;

static void
watch_begin(watch *w)
{
    sight_maker_init(&w->m);
    w->incast = rs_incast_new();
    w->nics = rs_nics_new();
}

static void
watch_end(const watch *w)
{
    rs_nics_free(w->nics);
    rs_incast_free(w->incast);
}

/* ---- degrees and episodes ---- */

static void
check_degrees(void)
{
    /* clang-format off */
    static const struct {
        const char *name;
        struct {
            unsigned stream;
            uint64_t at_ns;
        } packets[MOST_PACKETS];
        unsigned n_packets;
        unsigned max_degree;
        uint64_t n_episodes, inside_ns;
    } cases[] = {
        {"one sender", {{0, 0}, {0, 10}}, 2, 1, 0, 0},
        {"two senders", {{0, 0}, {1, 10}, {0, 20}}, 3, 2, 0, 0},
        {"three in the window's last ns", {{0, 0}, {1, 0}, {2, W - 1}}, 3, 3, 1, 1},
        {"three, one ns later", {{0, 0}, {1, 1}, {2, W}}, 3, 2, 0, 0},
        {"all at once", {{0, 0}, {1, 0}, {2, 0}, {3, 0}}, 4, 4, 1, W},
        {"until the third last falls silent", {{0, 0}, {1, 5}, {2, 9}, {3, 20}}, 4, 4, 1, W - 4},
        {"held up", {{0, 0}, {1, 0}, {2, 0}, {0, W - 1}, {1, W - 1}, {2, W - 1}}, 6, 3, 1,
         2 * W - 1},
        {"two episodes", {{0, 0}, {1, 0}, {2, 0}, {0, W}, {1, W}, {2, W}}, 6, 3, 2, 2 * W},
        {"the clock steps back: the newest stamp holds",
         {{0, 100}, {1, 100}, {2, 50}}, 3, 3, 1, W},
        {"as far as a clock may without being set",
         {{0, ROCE_SET_BACK_NS}, {1, ROCE_SET_BACK_NS}, {2, 0}}, 3, 3, 1, W},
        {"the clock is set back: what comes then does not come at once",
         {{0, ROCE_SET_BACK_NS + 1}, {1, ROCE_SET_BACK_NS + 1}, {0, 0}, {2, 0}, {0, W}, {1, W}}, 6, 2,
         0, 0},
        {"one alone is late by as much, and another one",
         {{0, ROCE_SET_BACK_NS + 1}, {1, ROCE_SET_BACK_NS + 1}, {0, 0}, {1, ROCE_SET_BACK_NS + 2},
          {2, 0}}, 5, 3, 1, W - 1},
        {"the clock is set back in an episode",
         {{0, 2 * ROCE_SET_BACK_NS}, {1, 2 * ROCE_SET_BACK_NS}, {2, 2 * ROCE_SET_BACK_NS}, {0, 0},
          {3, 0}}, 5, 3, 1, W},
        {"the last stamps that there are",
         {{0, UINT64_MAX}, {1, UINT64_MAX}, {2, UINT64_MAX}}, 3, 3, 1, W},
    };
    /* clang-format on */
    for (size_t i = 0; i < N_ROWS(cases); i++) {
        check_row(cases[i].name);
        watch w;
        watch_begin(&w);
        for (unsigned p = 0; p < cases[i].n_packets; p++) {
            rs_incast_packet(w.incast, make_sight(&w.m, cases[i].packets[p].stream,
                                                  cases[i].packets[p].at_ns));
        }
        rs_incast_finish(w.incast, w.nics, 1);
        CHECK_INT(rs_incast_n_receivers(w.incast), 1);
        const rs_incast_receiver *r = rs_incast_receiver_at(w.incast, 0);
        CHECK_INT(r->max_degree, cases[i].max_degree);
        CHECK_INT(r->n_episodes, cases[i].n_episodes);
        CHECK_INT(r->inside_ns, cases[i].inside_ns);
        watch_end(&w);
    }
}

/* All of the capture is looked at, from its first packet on: at 0 like at any other time. */
static void
check_first(void)
{
    static const uint64_t starts[] = {0, 1, 1000000000};
    for (size_t i = 0; i < N_ROWS(starts); i++) {
        watch w;
        watch_begin(&w);
        for (unsigned stream = 0; stream < 3; stream++) {
            rs_incast_packet(w.incast, make_sight(&w.m, stream, starts[i]));
        }
        rs_incast_packet(w.incast, make_sight(&w.m, 0, starts[i] + 10 * W));
        rs_incast_finish(w.incast, w.nics, 1);
        const rs_incast_receiver *r = rs_incast_receiver_at(w.incast, 0);
        CHECK_INT(r->signs[RS_INCAST_PAUSE].of_inside, W);
        CHECK_INT(r->signs[RS_INCAST_PAUSE].of_outside, 10 * W);
        watch_end(&w);
    }
}

/* By a clock that was set back nobody knows which pauses began in episodes. */
static void
check_set_back(void)
{
    static const struct {
        const char *name;
        uint64_t second_ns;
        unsigned n;
        bool known;
    } cases[] = {
        {"it goes on", 10 * ROCE_SET_BACK_NS, 2, true},
        {"it steps back", ROCE_SET_BACK_NS, 2, true},
        {"one is late", ROCE_SET_BACK_NS - 1, 1, true},
        {"it is set back", ROCE_SET_BACK_NS - 1, 2, false},
    };
    for (size_t i = 0; i < N_ROWS(cases); i++) {
        check_row(cases[i].name);
        watch w;
        watch_begin(&w);
        for (unsigned stream = 0; stream < 3; stream++) {
            rs_incast_packet(w.incast, make_sight(&w.m, stream, 2 * ROCE_SET_BACK_NS));
        }
        for (unsigned n = 0; n < cases[i].n; n++) {
            rs_incast_packet(w.incast, make_sight(&w.m, 0, cases[i].second_ns));
        }
        rs_incast_finish(w.incast, w.nics, 1);
        const rs_incast_receiver *r = rs_incast_receiver_at(w.incast, 0);
        CHECK_INT(r->pauses_known, cases[i].known);
        watch_end(&w);
    }
}

/* What is nobody's load. */
static void
check_others(void)
{
    static const struct {
        const char *name;
        uint32_t dst_qpn;
        uint8_t opcode;
        uint32_t payload_bytes;
        bool counted;
        unsigned receivers;
    } cases[] = {
        {"data", 0x100, RC_SEND_ONLY, 1, true, 1},
        {"no payload", 0x100, RC_SEND_ONLY, 0, true, 0},
        {"an ACK", 0x100, 0x11, 1, true, 0},
        {"management", 1, RC_SEND_ONLY, 1, true, 0},
        {"a bad ICRC", 0x100, RC_SEND_ONLY, 1, false, 0},
    };
    for (size_t i = 0; i < N_ROWS(cases); i++) {
        check_row(cases[i].name);
        watch w;
        watch_begin(&w);
        w.m.streams[0].dst_qpn = cases[i].dst_qpn;
        rs_sight *sight = make_sight(&w.m, 0, 0);
        w.m.packet.bth.opcode = cases[i].opcode;
        w.m.packet.payload_bytes = cases[i].payload_bytes;
        w.m.streams[0].last_frame -= cases[i].counted ? 0 : 1;
        rs_sight_complete(&w.m.sight);
        rs_incast_packet(w.incast, sight);
        rs_incast_finish(w.incast, w.nics, 1);
        CHECK_INT(rs_incast_n_receivers(w.incast), cases[i].receivers);
        watch_end(&w);
    }
}

/* What the receiver itself sends, where it is an end of everything, is no measure; a host of
 * another network that has its address is not it. */
static void
check_tenants(void)
{
    static const struct {
        const char *name;
        roce_tenant tenant;
        unsigned of_outside;
    } cases[] = {
        {"the receiver itself", {ROCE_TENANT_NONE, 0}, 2},
        {"a host of its address", {ROCE_TENANT_VXLAN, 100}, 2 + 5},
    };
    for (size_t i = 0; i < N_ROWS(cases); i++) {
        check_row(cases[i].name);
        watch w;
        watch_begin(&w);
        w.m.streams[3].src = host_addr(100);
        w.m.streams[3].dst = host_addr(200);
        w.m.streams[3].tenant = cases[i].tenant;
        for (unsigned stream = 0; stream < 3; stream++) {
            rs_incast_packet(w.incast, make_sight(&w.m, stream, stream));
        }
        for (unsigned n = 0; n < 5; n++) {
            rs_incast_packet(w.incast, make_sight(&w.m, 3, 10 * W + n));
        }
        rs_incast_finish(w.incast, w.nics, 1);
        const rs_incast_receiver *r = rs_incast_receiver_at(w.incast, 0);
        CHECK_INT(r->signs[RS_INCAST_CE].of_outside, cases[i].of_outside);
        watch_end(&w);
    }
}

static void
check_stamps(void)
{
    static const struct {
        const char *name;
        uint64_t resolution_ns;
        bool known;
    } cases[] = {
        {"nanoseconds", 1, true},
        {"a tenth of the window", W / 10, true},
        {"one ns more", W / 10 + 1, false},
    };
    for (size_t i = 0; i < N_ROWS(cases); i++) {
        check_row(cases[i].name);
        watch w;
        watch_begin(&w);
        rs_incast_packet(w.incast, make_sight(&w.m, 0, 0));
        rs_incast_finish(w.incast, w.nics, cases[i].resolution_ns);
        CHECK_INT(rs_incast_known(w.incast), cases[i].known);
        CHECK_INT(rs_incast_n_receivers(w.incast), cases[i].known ? 1 : 0);
        watch_end(&w);
    }
}

/* ---- coincidence ---- */

static void
check_judgement(void)
{
    /* clang-format off */
    static const struct {
        const char *name;
        rs_incast_share share;
        rs_coincidence want;
    } cases[] = {
        {"none", {0, 0, 100, 100}, RS_COINCIDENCE_ABSENT},
        {"outside alone", {0, 1, 100, 100}, RS_COINCIDENCE_NO},
        {"three expected outside, none there", {3, 0, 100, 100}, RS_COINCIDENCE_YES},
        {"hardly three expected", {3, 0, 100, 99}, RS_COINCIDENCE_UNDECIDABLE},
        {"nothing outside", {50, 0, 100, 0}, RS_COINCIDENCE_UNDECIDABLE},
        {"twice as frequent", {20, 10, 100, 100}, RS_COINCIDENCE_YES},
        {"not quite twice", {20, 11, 100, 100}, RS_COINCIDENCE_NO},
        {"as frequent", {10, 10, 100, 100}, RS_COINCIDENCE_NO},
        {"few expected, and there are more", {1, 3, 100, 100}, RS_COINCIDENCE_NO},
        {"few of both", {1, 2, 100, 100}, RS_COINCIDENCE_UNDECIDABLE},
        {"shares, not counts", {10, 20, 100, 1000}, RS_COINCIDENCE_YES},
    };
    /* clang-format on */
    for (size_t i = 0; i < N_ROWS(cases); i++) {
        check_row(cases[i].name);
        rs_incast_receiver r = {.pauses_known = TRUE};
        for (unsigned sign = 0; sign < RS_INCAST_N_SIGNS; sign++) {
            r.signs[sign] = cases[i].share;
            CHECK_STR(rs_coincidence_name(rs_incast_judge(&r, (rs_incast_sign)sign)),
                      rs_coincidence_name(cases[i].want));
        }
        r.pauses_known = FALSE;
        CHECK_INT(rs_incast_judge(&r, RS_INCAST_PAUSE), RS_COINCIDENCE_UNDECIDABLE);
    }
}

/* ---- the same, said plainly ---- */

/* Who is active, by looking at all of them each time. */
typedef struct model {
    uint64_t newest_ns[MOST_STREAMS];
    unsigned
        order[MOST_STREAMS]; /* of their newest packets, counted from 1; 0 silent */
    unsigned n_packets;
    uint64_t clock_ns;
    uint64_t degree_ns[MOST_STREAMS + 1];
    unsigned n_episodes;
    unsigned met[MOST_STREAMS]; /* their order in the episode that goes on, from 1 */
    unsigned n_met;
} model;

static unsigned
count_active(const model *m)
{
    unsigned n = 0;
    for (unsigned i = 0; i < MOST_STREAMS; i++) {
        n += m->order[i] != 0 ? 1 : 0;
    }
    return n;
}

/* The sender with the least order above one, or MOST_STREAMS. */
static unsigned
next_in_order(const model *m, unsigned above)
{
    unsigned best = MOST_STREAMS;
    for (unsigned i = 0; i < MOST_STREAMS; i++) {
        if (m->order[i] > above &&
            (best == MOST_STREAMS || m->order[i] < m->order[best])) {
            best = i;
        }
    }
    return best;
}

static void
model_go_on(model *m, uint64_t time_ns)
{
    m->degree_ns[count_active(m)] += time_ns - m->clock_ns;
    m->clock_ns = time_ns;
}

static void
model_advance(model *m, uint64_t time_ns)
{
    for (unsigned i = next_in_order(m, 0);
         i < MOST_STREAMS && m->newest_ns[i] + W <= time_ns; i = next_in_order(m, 0)) {
        model_go_on(m, m->newest_ns[i] + W);
        m->order[i] = 0;
        if (count_active(m) < RS_INCAST_SENDERS) {
            memset(m->met, 0, sizeof m->met);
            m->n_met = 0;
        }
    }
    model_go_on(m, time_ns);
}

static void
model_meet(model *m, unsigned i)
{
    if (m->met[i] == 0) {
        m->met[i] = ++m->n_met;
    }
}

static void
model_packet(model *m, unsigned stream, uint64_t time_ns)
{
    m->clock_ns = m->n_packets == 0 ? time_ns : m->clock_ns;
    model_advance(m, time_ns);
    m->newest_ns[stream] = time_ns;
    m->order[stream] = ++m->n_packets;
    if (count_active(m) < RS_INCAST_SENDERS) {
        return;
    }
    if (m->n_met == 0) {
        m->n_episodes++;
        for (unsigned i = next_in_order(m, 0); i < MOST_STREAMS;
             i = next_in_order(m, m->order[i])) {
            model_meet(m, i);
        }
    }
    model_meet(m, stream);
}

/* The newest episode names those who were met, in their order. */
static void
check_met(const model *m, const rs_incast_receiver *r)
{
    CHECK_INT(r->n_episodes, m->n_episodes);
    if (m->n_met == 0 || r->episodes->len != m->n_episodes) {
        return;
    }
    const rs_incast_episode *e =
        &g_array_index(r->episodes, rs_incast_episode, r->episodes->len - 1);
    CHECK_INT(e->n_senders, m->n_met);
    for (unsigned i = 0; i < MOST_STREAMS; i++) {
        if (m->met[i] != 0) {
            CHECK_INT(e->senders[m->met[i] - 1].bytes[3], i + 1);
        }
    }
}

static void
check_like_model(guint32 seed)
{
    check_row("random packets");
    g_autoptr(GRand) random = g_rand_new_with_seed(seed);
    sight_maker m;
    sight_maker_init(&m);
    model plain = {0};
    rs_incast *incast = rs_incast_new();
    rs_nics *nics = rs_nics_new();
    uint64_t at_ns = 0;
    unsigned n = (unsigned)g_rand_int_range(random, 1, 200);
    for (unsigned p = 0; p < n; p++) {
        at_ns += (uint64_t)g_rand_int_range(random, 0, W / 3);
        unsigned stream = (unsigned)g_rand_int_range(random, 0, MOST_STREAMS);
        rs_incast_packet(incast, make_sight(&m, stream, at_ns));
        model_packet(&plain, stream, START_NS + at_ns);
    }
    const model last = plain;
    model_advance(&plain, START_NS + at_ns + W);
    rs_incast_finish(incast, nics, 1);
    const rs_incast_receiver *r = rs_incast_receiver_at(incast, 0);
    for (unsigned degree = 1; degree <= MOST_STREAMS; degree++) {
        CHECK_INT(degree <= r->max_degree ? g_array_index(r->degree_ns, guint64, degree)
                                          : 0,
                  plain.degree_ns[degree]);
    }
    check_met(&last, r);
    rs_nics_free(nics);
    rs_incast_free(incast);
}

int
main(void)
{
    check_degrees();
    for (guint32 seed = 1; seed <= 500; seed++) {
        check_like_model(seed);
    }
    check_first();
    check_set_back();
    check_tenants();
    check_others();
    check_stamps();
    check_judgement();
    return check_status();
}
