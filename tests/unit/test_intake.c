/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The way of frames to the tracker: held, left out, put in their place, joined.
 *
 * The one rule: frames have numbers in the order in which they come; what comes out is
 * compared by them.
 */
#include "survey_maker.h"

#include "roce/intake.h"

#define ENOUGH_FRAMES 8192u /* as survey.c has it */
#define MAX_FRAMES 10000
#define US_NS UINT64_C(1000)
#define T0_NS (UINT64_C(1700000000) * 1000000 * US_NS)

/* What came out. */
typedef struct arrival {
    uint64_t number;
    uint32_t point;
    uint32_t psn24;
    roce_tenant_kind tenant;
} arrival;

typedef struct bench {
    failing_alloc memory;
    roce_intake *intake;
    roce_survey_point points[MAX_POINTS];
    roce_packet packets[MAX_FRAMES]; /* by number - 1 */
    uint64_t n_frames;
    arrival taken[MAX_FRAMES];
    uint32_t n_taken, n_left_out, n_decided, n_decoded;
    uint32_t join[2]; /* of points, when a survey has decided */
} bench;

static roce_survey_point *
point(void *ctx, uint32_t id)
{
    bench *b = ctx;
    return &b->points[id];
}

static void
decode_again(void *ctx, const roce_frame *frame, roce_packet *packet)
{
    bench *b = ctx;
    CHECK_INT(frame->bytes[0], (uint8_t)frame->number);
    *packet = b->packets[frame->number - 1];
    b->n_decoded++;
}

static void
take(void *ctx, const roce_frame *frame, const roce_packet *packet)
{
    bench *b = ctx;
    CHECK_INT(packet->bth.psn24, b->packets[frame->number - 1].bth.psn24);
    CHECK_INT(frame->bytes[0], (uint8_t)frame->number);
    b->taken[b->n_taken++] = (arrival){.number = frame->number,
                                       .point = frame->point,
                                       .psn24 = packet->bth.psn24,
                                       .tenant = packet->tenant.kind};
}

static void
leave_out(void *ctx, const roce_frame *frame)
{
    bench *b = ctx;
    (void)frame;
    b->n_left_out++;
}

static void
decided(void *ctx)
{
    bench *b = ctx;
    b->n_decided++;
    roce_survey_point_join(&b->points[b->join[0]], &b->points[b->join[1]]);
}

/* One at a time: it is large. */
static bench *
bench_of(uint64_t fail_from)
{
    static bench b;
    b = (bench){.memory = {.fail_from = fail_from, .fail_until = fail_from + 1}};
    for (uint32_t i = 0; i < MAX_POINTS; i++) {
        roce_survey_point_init(&b.points[i], i, 0);
    }
    const roce_intake_config config = {
        .point = point,
        .decode = decode_again,
        .take = take,
        .leave_out = leave_out,
        .decided = decided,
        .waits_for_copies = true,
        .ctx = &b,
    };
    const roce_alloc alloc = failing_alloc_make(&b.memory);
    int error = roce_intake_new(&b.intake, &alloc, &config);
    CHECK_INT(error, fail_from < 2 ? ROCE_ERROR_MEMORY : ROCE_OK);
    return &b;
}

static void
bench_clear(bench *b)
{
    roce_intake_free(b->intake);
    CHECK_INT(b->memory.n_live, 0);
}

static int
add(bench *b, uint32_t id, uint64_t time_ns, const roce_packet *packet)
{
    b->packets[b->n_frames++] = *packet;
    uint8_t byte = (uint8_t)b->n_frames;
    const roce_frame frame = {
        .bytes = &byte,
        .captured_bytes = 1,
        .time_ns = time_ns,
        .number = b->n_frames,
        .point = id,
    };
    int error = roce_intake_add(b->intake, &frame, packet);
    byte = 0; /* whoever needs it later has its own copy */
    return error;
}

static roce_packet
request(uint32_t psn24)
{
    return packet_from(HOST_1, RC_WRITE_ONLY, psn24, (uint16_t)psn24);
}

static void
add_requests(bench *b, uint32_t id, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        roce_packet p = request((uint32_t)b->n_frames);
        CHECK_INT(add(b, id, T0_NS + b->n_frames * US_NS, &p), ROCE_OK);
    }
}

/* Nothing comes out before its point has been surveyed, all in its order. */
static void
test_held(void)
{
    check_row("held");
    bench *b = bench_of(UINT64_MAX);
    add_requests(b, 0, ENOUGH_FRAMES - 1);
    CHECK_INT(b->n_taken, 0);
    add_requests(b, 0, 1);
    CHECK_INT(b->n_taken, ENOUGH_FRAMES);
    add_requests(b, 0, 1);
    CHECK_INT(b->n_taken, ENOUGH_FRAMES + 1);
    CHECK_INT(b->n_decoded, ENOUGH_FRAMES); /* the last had not to wait */
    CHECK_INT(b->n_decided, 1);
    add_requests(b, 1, 10); /* a new point: all wait */
    add_requests(b, 0, 10);
    CHECK_INT(b->n_taken, ENOUGH_FRAMES + 1);
    CHECK_INT(roce_intake_finish(b->intake), ROCE_OK);
    CHECK_INT(b->n_taken, b->n_frames);
    for (uint32_t i = 0; i < b->n_taken; i++) {
        CHECK_INT(b->taken[i].number, i + 1);
        bool of_1 = i > ENOUGH_FRAMES && i <= ENOUGH_FRAMES + 10;
        CHECK_INT(b->taken[i].point, of_1 ? 1 : 0);
    }
    check_row("more after the end");
    add_requests(b, 0, 1);
    CHECK_INT(b->n_taken, b->n_frames);
    CHECK_INT(b->n_left_out, 0);
    bench_clear(b);
}

/* Every packet twice: its first copy comes out. */
static void
test_repeats(void)
{
    check_row("repeats");
    bench *b = bench_of(UINT64_MAX);
    for (uint32_t psn24 = 0; psn24 < 300; psn24++) {
        roce_packet p = request(psn24);
        CHECK_INT(add(b, 0, T0_NS + psn24 * 1000 * US_NS, &p), ROCE_OK);
        CHECK_INT(add(b, 0, T0_NS + psn24 * 1000 * US_NS + 1, &p), ROCE_OK);
    }
    CHECK_INT(roce_intake_finish(b->intake), ROCE_OK);
    roce_packet late = request(300);
    CHECK_INT(add(b, 0, T0_NS + 400000 * US_NS, &late), ROCE_OK);
    CHECK_INT(add(b, 0, T0_NS + 400050 * US_NS, &late), ROCE_OK);
    CHECK_INT(b->n_left_out, 301);
    CHECK_INT(add(b, 0, T0_NS + 400060 * US_NS, &late), ROCE_OK); /* a third */
    CHECK_INT(b->n_left_out, 301);
    CHECK_INT(roce_intake_finish(b->intake), ROCE_OK);
    CHECK_INT(b->n_taken, 302);
    for (uint32_t i = 0; i < 301; i++) {
        CHECK_INT(b->taken[i].psn24, i);
        CHECK_INT(b->taken[i].number, 2 * i + 1);
    }
    bench_clear(b);
}

/* Where a tunnel begins each packet comes once inside of it and once outside, now the one and
 * now the other first: all come out as of the network outside.  Two tenants stay two. */
static void
test_tunnel_ends(void)
{
    static const struct {
        const char *name;
        roce_tenant_kind copies[2], wanted;
    } rows[] = {
        {"a tunnel begins", {ROCE_TENANT_VXLAN, ROCE_TENANT_NONE}, ROCE_TENANT_NONE},
        {"inside of one", {ROCE_TENANT_VXLAN, ROCE_TENANT_VXLAN}, ROCE_TENANT_VXLAN},
    };
    for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
        check_row(rows[r].name);
        bench *b = bench_of(UINT64_MAX);
        for (uint32_t psn24 = 0; psn24 < 300; psn24++) {
            roce_packet p = request(psn24);
            p.tenant = (roce_tenant){.kind = rows[r].copies[psn24 % 2], .id = 5000};
            CHECK_INT(add(b, 0, T0_NS + psn24 * 1000 * US_NS, &p), ROCE_OK);
            p.tenant.kind = rows[r].copies[1 - psn24 % 2];
            CHECK_INT(add(b, 0, T0_NS + psn24 * 1000 * US_NS + 1, &p), ROCE_OK);
        }
        CHECK_INT(roce_intake_finish(b->intake), ROCE_OK);
        CHECK_INT(b->n_taken, 300);
        for (uint32_t i = 0; i < b->n_taken; i++) {
            CHECK_INT(b->taken[i].tenant, rows[r].wanted);
        }
        bench_clear(b);
    }
}

/* A switch marks packets between its two copies: the marked ones come out, in the place and
 * at the time of the others. */
static void
test_marked_copies(void)
{
    check_row("marked copies");
    bench *b = bench_of(UINT64_MAX);
    for (uint32_t psn24 = 0; psn24 < 300; psn24++) {
        roce_packet p = request(psn24);
        p.traffic_class = psn24 % 3 == 1 ? ROCE_ECN_CE : 2;
        CHECK_INT(add(b, 0, T0_NS + psn24 * 100 * US_NS, &p), ROCE_OK);
        p.traffic_class = psn24 % 3 == 0 ? 2 : ROCE_ECN_CE;
        CHECK_INT(add(b, 0, T0_NS + psn24 * 100 * US_NS + 1, &p), ROCE_OK);
        if (psn24 == 200) {
            CHECK_INT(roce_intake_finish(b->intake), ROCE_OK);
        }
    }
    CHECK_INT(roce_intake_finish(b->intake), ROCE_OK);
    CHECK_INT(b->n_left_out, 300);
    CHECK_INT(b->n_taken, 300);
    for (uint32_t i = 0; i < b->n_taken; i++) {
        CHECK_INT(b->taken[i].psn24, i);
        CHECK_INT(b->taken[i].number, 2 * i + (i % 3 == 2 ? 2 : 1));
    }
    bench_clear(b);
}

/* Two queues, merged: they come out by their stamps. */
static void
test_stamps(void)
{
    check_row("stamps");
    bench *b = bench_of(UINT64_MAX);
    for (uint32_t k = 0; k < 600; k++) {
        roce_packet p = request(k ^ 1);
        CHECK_INT(add(b, 0, T0_NS + (k ^ 1) * US_NS, &p), ROCE_OK);
        if (k == 400) {
            CHECK_INT(roce_intake_finish(b->intake), ROCE_OK);
            CHECK_INT(b->n_taken, k + 1);
        }
    }
    CHECK(b->n_taken < 600); /* the newest wait */
    CHECK_INT(roce_intake_finish(b->intake), ROCE_OK);
    CHECK_INT(b->n_taken, 600);
    uint32_t n_back = 0;
    for (uint32_t i = 1; i < b->n_taken; i++) {
        n_back += b->taken[i].psn24 < b->taken[i - 1].psn24 ? 1 : 0;
    }
    CHECK_INT(n_back, 1); /* where it was finished between the two of a pair */
    bench_clear(b);
}

/* Two points that share a stream: the tracker knows them as one, but for pauses, and
 * their frames are put in the order of time. */
static void
test_joined(void)
{
    check_row("joined");
    bench *b = bench_of(UINT64_MAX);
    for (uint32_t k = 0; k < 100; k++) {
        roce_packet p = request(k);
        CHECK_INT(add(b, k % 2, T0_NS + k * US_NS, &p), ROCE_OK);
    }
    roce_packet pause = {.ethertype = ROCE_ETHERTYPE_MAC_CONTROL};
    CHECK_INT(add(b, 1, T0_NS + 100 * US_NS, &pause), ROCE_OK);
    CHECK_INT(roce_intake_finish(b->intake), ROCE_OK);
    CHECK_INT(b->n_taken, 101);
    for (uint32_t i = 0; i < b->n_taken; i++) {
        CHECK_INT(b->taken[i].number, i + 1);
        CHECK_INT(b->taken[i].point, i < 100 ? 0 : 1);
    }
    check_row("joined, one behind the other");
    roce_packet last = request(101);
    roce_packet first = request(100);
    CHECK_INT(add(b, 1, T0_NS + 102 * US_NS, &last), ROCE_OK);
    CHECK_INT(add(b, 0, T0_NS + 101 * US_NS, &first), ROCE_OK);
    CHECK_INT(roce_intake_finish(b->intake), ROCE_OK);
    CHECK_INT(b->taken[101].psn24, 100);
    CHECK_INT(b->taken[102].psn24, 101);
    CHECK_INT(b->taken[102].point, 0);
    check_row("joined, stamps of one step back");
    for (uint32_t k = 0; k < 4; k++) {
        static const uint32_t at_us[] = {110, 105, 106, 111};
        roce_packet p = request(110 + k);
        CHECK_INT(add(b, 0, T0_NS + at_us[k] * US_NS, &p), ROCE_OK);
    }
    CHECK_INT(roce_intake_finish(b->intake), ROCE_OK);
    for (uint32_t k = 0; k < 4; k++) {
        CHECK_INT(b->taken[103 + k].psn24, 110 + k); /* its own are as in the file */
    }
    bench_clear(b);
}

/* A later survey finds frames to be further out of order. */
static void
test_horizon(void)
{
    check_row("horizon");
    bench *b = bench_of(UINT64_MAX);
    for (uint32_t k = 0; k < 100; k++) {
        roce_packet p = request(k ^ 1);
        CHECK_INT(add(b, 0, T0_NS + (k ^ 1) * US_NS, &p), ROCE_OK);
    }
    CHECK_INT(roce_intake_finish(b->intake), ROCE_OK);
    CHECK_INT(b->points[0].horizon_ns, 2 * US_NS);
    b->points[0].horizon_ns = 50 * US_NS;
    b->points[0].settled = true;
    CHECK_INT(roce_intake_finish(b->intake), ROCE_OK);
    for (uint32_t k = 100; k <= 151; k++) {
        CHECK_INT(b->n_taken, 100);
        roce_packet p = request(k);
        CHECK_INT(add(b, 0, T0_NS + k * US_NS, &p), ROCE_OK);
    }
    CHECK_INT(b->n_taken, 101);
    bench_clear(b);
}

/* A point that has a buffer of its own is joined with another later on. */
static void
test_joined_later(void)
{
    check_row("joined later");
    bench *b = bench_of(UINT64_MAX);
    for (uint32_t k = 0; k < 300; k++) {
        roce_packet p = request(k ^ 1);
        CHECK_INT(add(b, 1, T0_NS + (k ^ 1) * US_NS, &p), ROCE_OK);
    }
    CHECK_INT(roce_intake_finish(b->intake), ROCE_OK);
    CHECK_INT(b->points[1].order, ROCE_ORDER_STAMP);
    roce_packet waits = request(301);
    CHECK_INT(add(b, 1, T0_NS + 301 * US_NS, &waits), ROCE_OK);
    CHECK_INT(b->n_taken, 300);
    b->join[0] = 1;
    roce_packet other = packet_from(HOST_2, UC_WRITE_ONLY, 0, 1);
    CHECK_INT(add(b, 0, T0_NS + 302 * US_NS, &other), ROCE_OK);
    CHECK_INT(roce_intake_finish(b->intake), ROCE_OK);
    CHECK_INT(b->n_taken, 302);
    CHECK_INT(b->taken[299].point, 1);
    CHECK_INT(b->taken[300].number, 301);
    CHECK_INT(b->taken[300].point, 0);
    CHECK_INT(b->taken[301].point, 0);
    bench_clear(b);
}

/* Every packet twice, and merged: all that takes memory. */
static uint32_t
add_all(bench *b)
{
    uint32_t n_errors = 0;
    for (uint32_t k = 0; k < 600; k++) {
        uint32_t psn24 = (k / 2) ^ 1;
        roce_packet p = request(psn24);
        n_errors += add(b, 0, T0_NS + psn24 * 10 * US_NS + k % 2, &p) != ROCE_OK;
        if (k == 300) {
            n_errors += roce_intake_finish(b->intake) != ROCE_OK;
        }
    }
    return n_errors + (roce_intake_finish(b->intake) != ROCE_OK);
}

/* From one allocation on there is never memory again: it is told, and no frame comes out
 * twice. */
static void
test_memory_ends(uint64_t n_calls)
{
    static bool seen[MAX_FRAMES + 1];
    for (uint64_t fail = 2; fail < n_calls; fail++) {
        bench *b = bench_of(fail);
        b->memory.fail_until = UINT64_MAX;
        CHECK(add_all(b) > 0);
        CHECK(b->n_taken + b->n_left_out <= 600);
        memset(seen, 0, sizeof seen);
        for (uint32_t i = 0; i < b->n_taken; i++) {
            CHECK(!seen[b->taken[i].number]);
            seen[b->taken[i].number] = true;
        }
        bench_clear(b);
    }
}

static void
test_memory(void)
{
    check_row("no memory");
    bench *b = bench_of(UINT64_MAX);
    CHECK_INT(add_all(b), 0);
    CHECK(b->n_left_out > 290); /* what follows would prove nothing */
    CHECK_INT(b->n_taken + b->n_left_out, 600);
    uint64_t n_calls = b->memory.n_calls;
    bench_clear(b);
    for (uint64_t fail = 0; fail < n_calls; fail++) {
        b = bench_of(fail);
        if (b->intake == NULL) {
            CHECK_INT(b->memory.n_live, 0);
            continue;
        }
        CHECK_INT(add_all(b), 1);
        CHECK(b->n_taken + b->n_left_out >= 599); /* at most the one frame is lost */
        bench_clear(b);
    }
    check_row("no memory any more");
    test_memory_ends(n_calls);
    roce_intake_free(NULL);
}

int
main(void)
{
    test_held();
    test_repeats();
    test_tunnel_ends();
    test_marked_copies();
    test_stamps();
    test_joined();
    test_horizon();
    test_joined_later();
    test_memory();
    return check_status();
}
