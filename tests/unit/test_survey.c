/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the survey decides, each decision where it is just made and where just not.
 *
 * The one rule: a row says what is captured; packets and their stamps are made from it.
 */
#include "survey_maker.h"

#include "roce/survey.h"

#define ENOUGH_FRAMES 8192u /* as survey.c has them */
#define ENOUGH_BYTES (16u * 1024 * 1024)
#define SETTLED_FRAMES 256
#define MAX_SURVEYS 4

#define US_NS UINT64_C(1000)
#define MS_NS (1000 * US_NS)
#define T0_NS (UINT64_C(1700000000) * 1000 * MS_NS)

typedef struct bench {
    failing_alloc memory;
    roce_survey *survey;
    roce_survey_point points[MAX_POINTS];
    uint64_t number; /* of the newest frame */
} bench;

static void
bench_init(bench *b)
{
    *b = (bench){.memory = {.fail_from = UINT64_MAX}};
    const roce_alloc alloc = failing_alloc_make(&b->memory);
    CHECK_INT(roce_survey_new(&b->survey, &alloc), ROCE_OK);
    for (uint32_t i = 0; i < MAX_POINTS; i++) {
        roce_survey_point_init(&b->points[i], i, 0);
    }
}

static void
bench_clear(bench *b)
{
    roce_survey_free(b->survey);
    CHECK_INT(b->memory.n_live, 0);
}

static int
hold(bench *b, uint32_t point, uint64_t time_ns, const roce_packet *packet)
{
    uint8_t byte = (uint8_t)++b->number;
    const roce_frame frame = {
        .bytes = &byte,
        .captured_bytes = 1,
        .time_ns = time_ns,
        .number = b->number,
        .point = point,
    };
    int error = roce_survey_hold(b->survey, &b->points[point], &frame, packet);
    byte = 0; /* the survey has its own copy */
    return error;
}

static void
ignore(void *ctx, const roce_frame *frame)
{
    (void)ctx;
    (void)frame;
}

/* ---- whether a point delivers every packet twice ---- */

/* How the identification goes. */
typedef enum idents {
    IDENTS_MOVE,
    IDENTS_STAND,
} idents;

typedef struct sending {
    host from;
    uint8_t opcode;
    idents idents;
    uint32_t n_packets;
    uint32_t n_repeated; /* the first of them */
    uint64_t lag_ns;
} sending;

static void
hold_sending(bench *b, const sending *s)
{
    for (uint32_t i = 0; i < s->n_packets; i++) {
        uint64_t time_ns = T0_NS + i * 200 * MS_NS;
        roce_packet p = packet_from(s->from, s->opcode, i,
                                    (uint16_t)(s->idents == IDENTS_MOVE ? i : 7));
        CHECK_INT(hold(b, 0, time_ns, &p), ROCE_OK);
        if (i < s->n_repeated) {
            CHECK_INT(hold(b, 0, time_ns + s->lag_ns, &p), ROCE_OK);
        }
    }
}

static void
test_twice(void)
{
    static const struct {
        const char *name;
        sending of[2];
        uint64_t within_ns; /* 0: does not deliver twice */
    } rows[] = {
        {"nothing", {{0}}, 0},
        {"eight packets",
         {{HOST_1, RC_WRITE_ONLY, IDENTS_MOVE, 8, 8, US_NS}},
         50 * US_NS},
        {"seven packets", {{HOST_1, RC_WRITE_ONLY, IDENTS_MOVE, 7, 7, US_NS}}, 0},
        {"nine in ten, and one whose second copy may still come",
         {{HOST_1, RC_WRITE_ONLY, IDENTS_MOVE, 11, 9, US_NS}},
         50 * US_NS},
        {"not as many", {{HOST_1, RC_WRITE_ONLY, IDENTS_MOVE, 20, 17, US_NS}}, 0},
        {"a longer lag",
         {{HOST_1, RC_WRITE_ONLY, IDENTS_MOVE, 8, 8, MS_NS}},
         4 * MS_NS},
        {"the longest lag",
         {{HOST_1, RC_WRITE_ONLY, IDENTS_MOVE, 8, 8, 100 * MS_NS}},
         400 * MS_NS},
        {"too long a lag",
         {{HOST_1, RC_WRITE_ONLY, IDENTS_MOVE, 8, 8, 100 * MS_NS + 1}},
         0},
        {"another sender who does not repeat",
         {{HOST_1, RC_WRITE_ONLY, IDENTS_MOVE, 80, 80, US_NS},
          {HOST_2, RC_ACKNOWLEDGE, IDENTS_MOVE, 4, 0, 0}},
         0},
        {"of whom there is too little",
         {{HOST_1, RC_WRITE_ONLY, IDENTS_MOVE, 80, 80, US_NS},
          {HOST_2, RC_ACKNOWLEDGE, IDENTS_MOVE, 3, 0, 0}},
         50 * US_NS},
        {"CNPs", {{HOST_1, CNP, IDENTS_STAND, 20, 20, US_NS}}, 0},
        {"CNPs that do not repeat, beside what does",
         {{HOST_1, RC_WRITE_ONLY, IDENTS_MOVE, 8, 8, US_NS},
          {HOST_2, CNP, IDENTS_STAND, 20, 0, 0}},
         50 * US_NS},
        {"unreliable, identification stands",
         {{HOST_1, UC_WRITE_ONLY, IDENTS_STAND, 8, 8, US_NS}},
         50 * US_NS},
        {"reliable, identification stands, one direction",
         {{HOST_1, RC_WRITE_ONLY, IDENTS_STAND, 80, 80, US_NS}},
         0},
        {"both directions, soon",
         {{HOST_1, RC_WRITE_ONLY, IDENTS_STAND, 40, 40, MS_NS - 1},
          {HOST_2, RC_ACKNOWLEDGE, IDENTS_STAND, 40, 40, MS_NS - 1}},
         4 * (MS_NS - 1)},
        {"both directions, as late as a timeout",
         {{HOST_1, RC_WRITE_ONLY, IDENTS_STAND, 40, 40, MS_NS},
          {HOST_2, RC_ACKNOWLEDGE, IDENTS_STAND, 40, 40, MS_NS}},
         0},
    };
    for (size_t i = 0; i < N_ROWS(rows); i++) {
        check_row(rows[i].name);
        bench b;
        bench_init(&b);
        hold_sending(&b, &rows[i].of[0]);
        hold_sending(&b, &rows[i].of[1]);
        CHECK_INT(roce_survey_decide(b.survey), ROCE_OK);
        CHECK_INT(b.points[0].delivers_twice, rows[i].within_ns != 0);
        CHECK_INT(b.points[0].repeat_within_ns, rows[i].within_ns);
        CHECK_INT(b.points[0].order, ROCE_ORDER_FILE);
        bench_clear(&b);
    }
}

/* The captures of two points, merged by time: a packet each microsecond. */
static void
test_merged(void)
{
    static const struct {
        const char *name;
        uint32_t n_packets; /* that are held; of the second copies those up to then */
        uint32_t n_between; /* packets between the two copies */
        uint32_t n_once;    /* of those that come twice all but so many */
        bool delivers_twice;
    } rows[] = {
        {"close together", 1000, 20, 0, true},
        {"many between", 4000, 1600, 0, true},
        {"and one in ten of the others comes once", 4000, 1600, 200, true},
        {"but not more", 4000, 1600, 260, false},
        {"half of all still to come", 4000, 2000, 0, true},
        {"more than half", 4000, 2001, 0, false},
    };
    for (size_t i = 0; i < N_ROWS(rows); i++) {
        check_row(rows[i].name);
        bench b;
        bench_init(&b);
        for (uint32_t k = 0; k < rows[i].n_packets; k++) {
            uint32_t second = k - rows[i].n_between;
            roce_packet p = packet_from(HOST_1, RC_WRITE_ONLY, k, (uint16_t)k);
            CHECK_INT(hold(&b, 0, T0_NS + k * US_NS, &p), ROCE_OK);
            if (k >= rows[i].n_between && second >= rows[i].n_once) {
                p = packet_from(HOST_1, RC_WRITE_ONLY, second, (uint16_t)second);
                CHECK_INT(hold(&b, 0, T0_NS + k * US_NS, &p), ROCE_OK);
            }
        }
        CHECK_INT(roce_survey_decide(b.survey), ROCE_OK);
        CHECK_INT(b.points[0].delivers_twice, rows[i].delivers_twice);
        bench_clear(&b);
    }
}

/* Of packets from both hosts that come twice, the second copies of some are held. */
static void
test_held(void)
{
    static const struct {
        const char *name;
        idents idents[2]; /* of either host */
        uint32_t n_held;
        bool delivers_twice, ever;
    } rows[] = {
        {"senders that number their packets",
         {IDENTS_MOVE, IDENTS_MOVE},
         20,
         true,
         true},
        {"all of one are held", {IDENTS_MOVE, IDENTS_MOVE}, 80, true, true},
        {"one does not", {IDENTS_MOVE, IDENTS_STAND}, 4, true, false},
        {"nor are those that are held left out",
         {IDENTS_MOVE, IDENTS_STAND},
         20,
         false,
         false},
    };
    for (size_t i = 0; i < N_ROWS(rows); i++) {
        check_row(rows[i].name);
        bench b;
        bench_init(&b);
        for (uint32_t n = 0; n < 160; n++) {
            host from = n % 2 == 0 ? HOST_1 : HOST_2;
            uint8_t opcode = from == HOST_1 ? RC_WRITE_ONLY : RC_ACKNOWLEDGE;
            bool held = from == HOST_2 && n / 2 < rows[i].n_held;
            roce_packet p =
                packet_from(from, opcode, n,
                            (uint16_t)(rows[i].idents[from] == IDENTS_MOVE ? n : 7));
            uint64_t time_ns = T0_NS + n * US_NS;
            CHECK_INT(hold(&b, 0, time_ns, &p), ROCE_OK);
            CHECK_INT(hold(&b, 0, time_ns + (held ? 150 * MS_NS : 1), &p), ROCE_OK);
        }
        CHECK_INT(roce_survey_decide(b.survey), ROCE_OK);
        const roce_packet data = packet_from(HOST_1, RC_WRITE_ONLY, 0, 1);
        const roce_packet cnp = packet_from(HOST_2, CNP, 0, 1);
        uint64_t soon_ns = rows[i].delivers_twice ? 50 * US_NS : 0;
        CHECK_INT(b.points[0].delivers_twice, rows[i].delivers_twice);
        CHECK_INT(roce_survey_copy_within_ns(&b.points[0], &data),
                  rows[i].ever ? UINT64_MAX : soon_ns);
        CHECK_INT(roce_survey_copy_within_ns(&b.points[0], &cnp), soon_ns);
        bench_clear(&b);
    }
}

/* What one host sends to another, of which each packet comes once or twice. */
typedef struct way {
    uint8_t from, to;
    uint32_t n_packets;
    uint32_t n_repeated; /* the first of them */
    idents idents;
} way;

static void
hold_way(bench *b, const way *w, uint64_t lag_ns)
{
    for (uint32_t i = 0; i < w->n_packets; i++) {
        uint64_t time_ns = T0_NS + i * 20 * MS_NS;
        roce_packet p = packet_from(HOST_1, RC_WRITE_ONLY, i,
                                    (uint16_t)(w->idents == IDENTS_MOVE ? i : 7));
        p.src.bytes[3] = w->from;
        p.dst.bytes[3] = w->to;
        CHECK_INT(hold(b, 0, time_ns, &p), ROCE_OK);
        if (i < w->n_repeated) {
            CHECK_INT(hold(b, 0, time_ns + lag_ns, &p), ROCE_OK);
        }
    }
}

/* Ports of some hosts are mirrored both ways. */
static void
test_some_twice(void)
{
    static const struct {
        const char *name;
        way ways[6];
        uint64_t lag_ns;
        uint32_t n_hosts; /* between which all comes twice; 0: nothing is decided */
    } rows[] = {
        {"two of three hosts",
         {{1, 2, 8, 8, IDENTS_MOVE},
          {2, 1, 8, 8, IDENTS_MOVE},
          {1, 3, 16, 0, IDENTS_MOVE}},
         US_NS,
         2},
        {"one packet less",
         {{1, 2, 8, 8, IDENTS_MOVE},
          {2, 1, 7, 7, IDENTS_MOVE},
          {1, 3, 16, 0, IDENTS_MOVE}},
         US_NS,
         0},
        {"one packet less that comes once",
         {{1, 2, 8, 8, IDENTS_MOVE},
          {2, 1, 8, 8, IDENTS_MOVE},
          {1, 3, 15, 0, IDENTS_MOVE}},
         US_NS,
         0},
        {"three of four, two of which do not talk to each other",
         {{1, 2, 20, 20, IDENTS_MOVE},
          {2, 1, 20, 19, IDENTS_MOVE},
          {2, 3, 20, 20, IDENTS_MOVE},
          {3, 2, 20, 20, IDENTS_MOVE},
          {4, 3, 20, 2, IDENTS_MOVE}},
         US_NS,
         3},
        {"but if they do, it comes twice",
         {{1, 2, 20, 20, IDENTS_MOVE},
          {2, 1, 20, 20, IDENTS_MOVE},
          {2, 3, 20, 20, IDENTS_MOVE},
          {3, 2, 20, 20, IDENTS_MOVE},
          {1, 3, 20, 0, IDENTS_MOVE},
          {4, 3, 20, 0, IDENTS_MOVE}},
         US_NS,
         0},
        {"one direction alone, which a network can do",
         {{1, 2, 40, 40, IDENTS_MOVE},
          {2, 1, 40, 0, IDENTS_MOVE},
          {1, 3, 40, 0, IDENTS_MOVE}},
         US_NS,
         0},
        {"nothing of the other direction",
         {{1, 2, 40, 40, IDENTS_MOVE}, {1, 3, 40, 0, IDENTS_MOVE}},
         US_NS,
         0},
        {"something that others send comes twice",
         {{1, 2, 40, 40, IDENTS_MOVE},
          {2, 1, 40, 40, IDENTS_MOVE},
          {1, 3, 40, 0, IDENTS_MOVE},
          {4, 3, 40, 5, IDENTS_MOVE}},
         US_NS,
         0},
        {"not all between the two",
         {{1, 2, 40, 29, IDENTS_MOVE},
          {2, 1, 40, 40, IDENTS_MOVE},
          {1, 3, 40, 0, IDENTS_MOVE}},
         US_NS,
         0},
        {"identification stands, soon",
         {{1, 2, 40, 40, IDENTS_STAND},
          {2, 1, 40, 40, IDENTS_STAND},
          {1, 3, 40, 0, IDENTS_STAND}},
         MS_NS - 1,
         2},
        {"identification stands, as late as a timeout",
         {{1, 2, 40, 40, IDENTS_STAND},
          {2, 1, 40, 40, IDENTS_STAND},
          {1, 3, 40, 0, IDENTS_STAND}},
         MS_NS,
         0},
    };
    for (size_t i = 0; i < N_ROWS(rows); i++) {
        check_row(rows[i].name);
        bench b;
        bench_init(&b);
        for (size_t k = 0; k < N_ROWS(rows[i].ways); k++) {
            hold_way(&b, &rows[i].ways[k], rows[i].lag_ns);
        }
        CHECK_INT(roce_survey_decide(b.survey), ROCE_OK);
        CHECK_INT(b.points[0].delivers_twice, rows[i].n_hosts > 0);
        CHECK_INT(b.points[0].n_twice_hosts, rows[i].n_hosts);
        for (uint8_t from = 1; from <= 4; from++) {
            roce_packet p = packet_from(HOST_1, RC_WRITE_ONLY, 0, 0);
            p.src.bytes[3] = from;
            p.dst.bytes[3] = 2;
            CHECK_INT(roce_survey_is_twice(&b.points[0], &p), from <= rows[i].n_hosts);
        }
        bench_clear(&b);
    }
}

/* ---- in what order its frames are ---- */

/* How stamps grow: with PSNs, as the file goes, against it, or not. */
typedef enum stamps {
    BY_PSN,
    BY_FILE,
    BACKWARDS,
    ONE_TIME,
} stamps;

/* PSNs 1, 0, 3, 2 ...: so many steps back in the file. */
static void
test_order(void)
{
    static const struct {
        const char *name;
        uint32_t n_steps;
        stamps stamps;
        uint32_t n_true_steps; /* behind them, whose stamps go as the file */
        uint64_t apart_ns;
        roce_order order;
        uint64_t horizon_ns;
    } rows[] = {
        {"eight steps", 8, BY_PSN, 0, US_NS, ROCE_ORDER_STAMP, 2 * US_NS},
        {"seven steps", 7, BY_PSN, 0, US_NS, ROCE_ORDER_FILE, 0},
        {"as many that are true", 8, BY_PSN, 8, US_NS, ROCE_ORDER_STAMP, 2 * US_NS},
        {"more that are true", 8, BY_PSN, 9, US_NS, ROCE_ORDER_FILE, 0},
        {"far apart", 8, BY_PSN, 0, 400 * MS_NS, ROCE_ORDER_STAMP, 800 * MS_NS},
        {"farther apart", 8, BY_PSN, 0, 600 * MS_NS, ROCE_ORDER_STAMP, 1000 * MS_NS},
        {"stamps as the file", 80, BY_FILE, 0, US_NS, ROCE_ORDER_FILE, 0},
        {"stamps no better", 80, BACKWARDS, 0, US_NS, ROCE_ORDER_FILE, 0},
        {"one stamp", 80, ONE_TIME, 0, US_NS, ROCE_ORDER_FILE, 0},
    };
    for (size_t i = 0; i < N_ROWS(rows); i++) {
        check_row(rows[i].name);
        bench b;
        bench_init(&b);
        for (uint32_t k = 0; k < 2 * (rows[i].n_steps + rows[i].n_true_steps); k++) {
            uint32_t psn24 = k ^ 1;
            stamps how = k < 2 * rows[i].n_steps ? rows[i].stamps : BY_FILE;
            const uint64_t n[] = {[BY_PSN] = psn24,
                                  [BY_FILE] = k,
                                  [BACKWARDS] = 1000 - k,
                                  [ONE_TIME] = 0};
            uint64_t time_ns = T0_NS + n[how] * rows[i].apart_ns;
            roce_packet p = packet_from(HOST_1, RC_WRITE_ONLY, psn24, (uint16_t)psn24);
            CHECK_INT(hold(&b, 0, time_ns, &p), ROCE_OK);
        }
        CHECK_INT(roce_survey_decide(b.survey), ROCE_OK);
        CHECK_INT(b.points[0].order, rows[i].order);
        CHECK_INT(b.points[0].horizon_ns, rows[i].horizon_ns);
        bench_clear(&b);
    }
}

/* Answers that stand before their requests in the file, not in time. */
static void
test_answers_first(void)
{
    static const struct {
        const char *name;
        uint32_t n_answers;
        uint8_t syndrome;
        uint32_t n_requests; /* of each PSN */
        roce_order order;
    } rows[] = {
        {"eight ACKs", 8, 0x1f, 1, ROCE_ORDER_STAMP},
        {"seven ACKs", 7, 0x1f, 1, ROCE_ORDER_FILE},
        {"seven ACKs, requests sent again", 7, 0x1f, 2, ROCE_ORDER_FILE},
        {"NAKs", 80, 0x60, 1, ROCE_ORDER_FILE},
    };
    for (size_t i = 0; i < N_ROWS(rows); i++) {
        check_row(rows[i].name);
        bench b;
        bench_init(&b);
        for (uint32_t psn24 = 0; psn24 < rows[i].n_answers; psn24++) {
            uint64_t time_ns = T0_NS + psn24 * 10 * US_NS;
            roce_packet answer = packet_from(HOST_2, RC_ACKNOWLEDGE, psn24, 1);
            roce_packet request = packet_from(HOST_1, RC_WRITE_ONLY, psn24, 1);
            answer.aeth_syndrome = rows[i].syndrome;
            CHECK_INT(hold(&b, 0, time_ns + US_NS, &answer), ROCE_OK);
            for (uint32_t k = 0; k < rows[i].n_requests; k++) {
                CHECK_INT(hold(&b, 0, time_ns, &request), ROCE_OK);
            }
        }
        CHECK_INT(roce_survey_decide(b.survey), ROCE_OK);
        CHECK_INT(b.points[0].order, rows[i].order);
        bench_clear(&b);
    }
}

/* A file of batches, in each of which one direction stands first: what was sent again
 * stands before the NAK that asks for it. */
static void
test_naks_behind_repairs(void)
{
    static const struct {
        const char *name;
        uint32_t n_naks;
        bool by_direction;
        roce_order order;
    } rows[] = {
        {"by direction", 4, true, ROCE_ORDER_STAMP},
        {"by direction, too few to tell", 3, true, ROCE_ORDER_FILE},
        {"one direction's stamps lag behind", 80, false, ROCE_ORDER_FILE},
    };
    for (size_t i = 0; i < N_ROWS(rows); i++) {
        check_row(rows[i].name);
        bench b;
        bench_init(&b);
        for (uint32_t k = 0; k < rows[i].n_naks; k++) {
            uint64_t time_ns = T0_NS + k * 100 * US_NS;
            const uint32_t psns[] = {4 * k, 4 * k + 2, 4 * k + 1, 4 * k + 2, 4 * k + 3};
            roce_packet nak = packet_from(HOST_2, RC_ACKNOWLEDGE, 4 * k + 1, 1);
            nak.aeth_syndrome = 0x60;
            for (uint32_t p = 0; p < N_ROWS(psns); p++) {
                roce_packet request =
                    packet_from(HOST_1, RC_WRITE_ONLY, psns[p], (uint16_t)(5 * k + p));
                if (p == 2 && !rows[i].by_direction) {
                    CHECK_INT(hold(&b, 0, time_ns + 50 * US_NS, &nak), ROCE_OK);
                }
                CHECK_INT(hold(&b, 0, time_ns + 10 * p * US_NS, &request), ROCE_OK);
            }
            if (rows[i].by_direction) {
                CHECK_INT(hold(&b, 0, time_ns + 15 * US_NS, &nak), ROCE_OK);
            }
        }
        CHECK_INT(roce_survey_decide(b.survey), ROCE_OK);
        CHECK_INT(b.points[0].order, rows[i].order);
        bench_clear(&b);
    }
}

/* ---- which points share streams ---- */

static void
check_joined(bench *b, bool joined)
{
    CHECK_INT(roce_survey_decide(b->survey), ROCE_OK);
    CHECK_INT(b->points[0].group, 0);
    CHECK_INT(b->points[1].group, joined ? 0 : 1);
}

/* The packets of one stream here and there. */
static void
test_back_and_forth(void)
{
    static const struct {
        const char *name;
        uint32_t n_packets;
        uint32_t n_at_both;      /* of them, the first */
        uint16_t other_src_port; /* of what is at both, there: no twin then */
        uint32_t file_1;         /* of point 1; that of point 0 is 0 */
        bool joined;
    } rows[] = {
        {"eight returns", 10, 0, 0, 0, true},
        {"seven returns", 9, 0, 0, 0, false},
        {"two files", 10, 0, 0, 1, true},
        {"twins", 100, 1, 0, 0, false},
        {"twins below one in a hundred", 110, 1, 0, 0, true},
        {"everything at both", 100, 100, 0, 0, false},
        {"every PSN at both", 100, 100, 1, 0, false},
        {"half of the PSNs", 100, 50, 1, 0, false},
        {"a third of them", 100, 33, 1, 0, true},
    };
    for (size_t i = 0; i < N_ROWS(rows); i++) {
        check_row(rows[i].name);
        bench b;
        bench_init(&b);
        b.points[1].file_i = rows[i].file_1;
        for (uint32_t k = 0; k < rows[i].n_packets; k++) {
            roce_packet p = packet_from(HOST_1, RC_WRITE_ONLY, k, 7);
            CHECK_INT(hold(&b, k % 2, T0_NS + k * US_NS, &p), ROCE_OK);
            p.src_port ^= rows[i].other_src_port;
            if (k < rows[i].n_at_both) {
                CHECK_INT(hold(&b, 1 - k % 2, T0_NS + k * US_NS, &p), ROCE_OK);
            }
        }
        check_joined(&b, rows[i].joined);
        bool clock = rows[i].joined && rows[i].file_1 == 0;
        for (uint32_t k = 0; k < 2; k++) {
            CHECK_INT(b.points[k].order, clock ? ROCE_ORDER_CLOCK : ROCE_ORDER_FILE);
            CHECK_INT(b.points[k].horizon_ns, clock ? MS_NS : 0);
        }
        bench_clear(&b);
    }
}

/* Requests here, their answers there. */
static void
test_directions(void)
{
    static const struct {
        const char *name;
        uint32_t n_answers;
        bool requests_there; /* ... come by there as well */
        bool joined;
    } rows[] = {
        {"eight answers", 8, false, true},
        {"seven answers", 7, false, false},
        {"behind each other", 80, true, false},
    };
    for (size_t i = 0; i < N_ROWS(rows); i++) {
        check_row(rows[i].name);
        bench b;
        bench_init(&b);
        for (uint32_t k = 0; k < rows[i].n_answers; k++) {
            uint64_t time_ns = T0_NS + k * 10 * US_NS;
            roce_packet request = packet_from(HOST_1, RC_WRITE_ONLY, k, (uint16_t)k);
            roce_packet ack = packet_from(HOST_2, RC_ACKNOWLEDGE, k, (uint16_t)k);
            CHECK_INT(hold(&b, 0, time_ns, &request), ROCE_OK);
            if (rows[i].requests_there) {
                CHECK_INT(hold(&b, 1, time_ns, &request), ROCE_OK);
            }
            CHECK_INT(hold(&b, 1, time_ns + US_NS, &ack), ROCE_OK);
        }
        check_joined(&b, rows[i].joined);
        bench_clear(&b);
    }
}

/* What is settled stays as it is, but a new point can join it. */
static void
test_new_points(void)
{
    static const struct {
        const char *name;
        bool settled[2];
        bool joined;
    } rows[] = {
        {"both new", {false, false}, true},
        {"the second new", {true, false}, true},
        {"the first new", {false, true}, true},
        {"none", {true, true}, false},
    };
    for (size_t i = 0; i < N_ROWS(rows); i++) {
        check_row(rows[i].name);
        bench b;
        bench_init(&b);
        b.points[0].settled = rows[i].settled[0];
        b.points[1].settled = rows[i].settled[1];
        for (uint32_t k = 0; k < 100; k++) {
            roce_packet p = packet_from(HOST_1, RC_WRITE_ONLY, k, (uint16_t)k);
            CHECK_INT(hold(&b, k % 2, T0_NS + k * US_NS, &p), ROCE_OK);
        }
        check_joined(&b, rows[i].joined);
        bench_clear(&b);
    }
}

/* Groups are what was joined, by whatever way, and called by their least. */
static void
test_join(void)
{
    static const struct {
        const char *name;
        uint32_t pairs[4][2]; /* a pair of 0 and 0 joins nothing */
        uint32_t groups[MAX_POINTS];
    } rows[] = {
        {"none", {{0}}, {0, 1, 2, 3}},
        {"itself", {{2, 2}}, {0, 1, 2, 3}},
        {"two", {{3, 1}}, {0, 1, 2, 1}},
        {"two and two", {{1, 2}, {3, 0}}, {0, 1, 1, 0}},
        {"two and two, then all", {{1, 2}, {3, 0}, {3, 2}}, {0, 0, 0, 0}},
        {"in a row", {{3, 2}, {2, 1}, {1, 0}}, {0, 0, 0, 0}},
        {"one after the other, again", {{1, 2}, {2, 3}, {3, 1}, {1, 3}}, {0, 1, 1, 1}},
    };
    for (size_t i = 0; i < N_ROWS(rows); i++) {
        check_row(rows[i].name);
        bench b;
        bench_init(&b);
        for (uint32_t k = 0; k < 4; k++) {
            roce_survey_point_join(&b.points[rows[i].pairs[k][0]],
                                   &b.points[rows[i].pairs[k][1]]);
        }
        for (uint32_t k = 0; k < MAX_POINTS; k++) {
            CHECK_INT(b.points[k].group, rows[i].groups[k]);
        }
        bench_clear(&b);
    }
}

/* ---- how much, and how often ---- */

static void
hold_many(bench *b, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        roce_packet p = packet_from(HOST_1, RC_WRITE_ONLY, i, (uint16_t)i);
        CHECK(roce_survey_wants(b->survey, &b->points[0]));
        CHECK_INT(hold(b, 0, T0_NS + i, &p), ROCE_OK);
    }
}

static void
end_survey(bench *b)
{
    CHECK_INT(roce_survey_decide(b->survey), ROCE_OK);
    roce_survey_release(b->survey, ignore, NULL);
}

static void
test_settled(void)
{
    bench b;
    check_row("many frames");
    bench_init(&b);
    hold_many(&b, SETTLED_FRAMES);
    end_survey(&b);
    CHECK(!roce_survey_wants(b.survey, &b.points[0]));
    CHECK(roce_survey_wants(b.survey, &b.points[1]));
    bench_clear(&b);

    check_row("few frames, again and again");
    bench_init(&b);
    for (uint32_t n = 1; n <= MAX_SURVEYS; n++) {
        hold_many(&b, SETTLED_FRAMES - 1);
        end_survey(&b);
        CHECK_INT(b.points[0].n_surveys, n);
        CHECK_INT(roce_survey_wants(b.survey, &b.points[0]), n < MAX_SURVEYS);
        CHECK_INT(roce_survey_decide(b.survey), ROCE_OK); /* on nothing */
    }
    CHECK_INT(b.points[1].n_surveys, 0);
    bench_clear(&b);

    check_row("while others are held");
    bench_init(&b);
    b.points[1].settled = true;
    CHECK(!roce_survey_wants(b.survey, &b.points[1]));
    hold_many(&b, 1);
    CHECK(roce_survey_wants(b.survey, &b.points[1]));
    bench_clear(&b);
}

static void
test_enough(void)
{
    static uint8_t bytes[64 * 1024];
    static const struct {
        const char *name;
        uint32_t frame_bytes;
        uint32_t n_frames;
    } rows[] = {
        {"frames", 0, ENOUGH_FRAMES},
        {"bytes", sizeof bytes, ENOUGH_BYTES / sizeof bytes},
    };
    for (size_t i = 0; i < N_ROWS(rows); i++) {
        check_row(rows[i].name);
        bench b;
        bench_init(&b);
        for (uint32_t n = 1; n <= rows[i].n_frames; n++) {
            const roce_frame frame = {
                .bytes = bytes, .captured_bytes = rows[i].frame_bytes, .number = n};
            const roce_packet p = packet_from(HOST_1, RC_WRITE_ONLY, n, (uint16_t)n);
            CHECK_INT(roce_survey_hold(b.survey, &b.points[0], &frame, &p), ROCE_OK);
            CHECK_INT(roce_survey_has_enough(b.survey), n == rows[i].n_frames);
        }
        end_survey(&b);
        CHECK(!roce_survey_has_enough(b.survey));
        bench_clear(&b);
    }
}

/* ---- without memory ---- */

/* What of the frames held comes out, each as it was. */
static void
take_next(void *ctx, const roce_frame *frame)
{
    uint64_t *newest = ctx;
    CHECK(frame->number > *newest);
    CHECK_INT(frame->captured_bytes, 1);
    CHECK_INT(frame->bytes[0], (uint8_t)frame->number);
    *newest = frame->number;
}

/* Whichever allocation fails, it is told, and what is decided in the end is the same. */
static void
test_memory(void)
{
    check_row("no memory");
    for (uint64_t fail = 1;; fail++) {
        bench b;
        bench_init(&b);
        b.memory.fail_from = fail;
        b.memory.fail_until = fail + 1;
        uint32_t n_held = 0;
        uint32_t n_errors = 0;
        for (uint32_t k = 0; k < 300; k++) {
            roce_packet p = packet_from(HOST_1, RC_WRITE_ONLY, k, (uint16_t)k);
            int error = hold(&b, k % 2, T0_NS + k * US_NS, &p);
            n_held += error == ROCE_OK ? 1 : 0;
            n_errors += error == ROCE_ERROR_MEMORY ? 1 : 0;
        }
        CHECK_INT(n_held + n_errors, 300);
        n_errors += roce_survey_decide(b.survey) != ROCE_OK ? 1 : 0;
        if (n_errors > 0 && n_held == 300) {
            CHECK_INT(b.points[0].n_surveys, 0);
            CHECK_INT(roce_survey_decide(b.survey), ROCE_OK);
        }
        CHECK_INT(b.points[0].n_surveys, 1);
        CHECK_INT(b.points[1].group, 0);
        uint64_t newest = 0;
        roce_survey_release(b.survey, take_next, &newest);
        CHECK_INT(newest, 300);
        CHECK_INT(n_errors, b.memory.n_calls > fail ? 1 : 0);
        bool is_last = b.memory.n_calls <= fail;
        bench_clear(&b);
        if (is_last) {
            break;
        }
    }
    failing_alloc memory = {.fail_until = 1};
    const roce_alloc alloc = failing_alloc_make(&memory);
    roce_survey *survey = NULL;
    CHECK_INT(roce_survey_new(&survey, &alloc), ROCE_ERROR_MEMORY);
    CHECK(survey == NULL);
    roce_survey_free(NULL);
}

int
main(void)
{
    test_twice();
    test_merged();
    test_held();
    test_some_twice();
    test_order();
    test_answers_first();
    test_naks_behind_repairs();
    test_back_and_forth();
    test_directions();
    test_new_points();
    test_join();
    test_settled();
    test_enough();
    test_memory();
    return check_status();
}
