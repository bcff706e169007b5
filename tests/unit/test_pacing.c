/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pacing of CNPs, inferred from those that a notification point sends which keeps its
 * interval in one of the scopes.  Marked data of several queue pairs of several senders
 * comes to it in a seeded order; who is next may send a CNP, 1 us later.
 */
#include "check.h"
#include "failing_alloc.h"
#include "seeded.h"

#include "roce/tracker.h"

#define MAX_SENDERS 4
#define QPS_EACH 2
#define ANSWER_NS 1000
#define CNP_OPCODE 0x81
#define WRITE_ONLY 0x0a
#define NAK_SYNDROME 0x60
#define ACK_OPCODE 0x11
#define SCOPE(name) (1u << ROCE_PACING_##name)
#define ALL (SCOPE(QP) | SCOPE(PAIR) | SCOPE(DESTINATION) | SCOPE(PORT))

typedef enum sights {
    SEES_BOTH,
    SEES_CNPS,      /* the data is marked behind the point */
    SEES_STRANGERS, /* of which queue pairs the CNPs are about is not known */
} sights;

typedef enum answers {
    ANSWERS_MARKS,
    ANSWERS_WITH_NAK, /* each CNP goes with a NAK instead */
    ANSWERS_AT_RANDOM,
    ANSWERS_IN_TURN, /* marks come from one queue pair after the other */
    ANSWERS_LATE,    /* each mark, when the next one has nearly come */
    ANSWERS_SPARSE,  /* marks that come densely at first, and then seldom */
} answers;

static const struct {
    const char *name;
    roce_pacing_scope scope; /* of the notification point */
    uint64_t interval_ns;
    unsigned senders, qps; /* with QPs each */
    uint64_t mark_every_ns;
    unsigned cnps; /* then it ends */
    sights sights;
    answers answers;
    /* wanted */
    bool known;
    unsigned scopes;
    uint64_t off_ns; /* by how much the interval may be too long */
} rows[] = {
    {"queue pairs", ROCE_PACING_QP, 50000, 3, 2, 300, 200, SEES_BOTH, ANSWERS_MARKS,
     true, SCOPE(QP), 1000},
    {"queue pairs, marks unseen", ROCE_PACING_QP, 50000, 3, 2, 300, 200, SEES_CNPS,
     ANSWERS_MARKS, true, SCOPE(QP), 1000},
    {"address pairs", ROCE_PACING_PAIR, 4000, 3, 2, 90, 200, SEES_BOTH, ANSWERS_MARKS,
     true, SCOPE(PAIR) | SCOPE(DESTINATION), 500},
    {"the port", ROCE_PACING_PORT, 4000, 4, 2, 90, 300, SEES_BOTH, ANSWERS_MARKS, true,
     SCOPE(PORT), 500},
    {"the port, a long interval", ROCE_PACING_PORT, 500000, 4, 2, 2000, 300, SEES_BOTH,
     ANSWERS_MARKS, true, SCOPE(PORT), 10000},
    {"one queue pair: any scope", ROCE_PACING_QP, 50000, 1, 1, 300, 40, SEES_BOTH,
     ANSWERS_MARKS, true, ALL, 1000},
    {"one queue pair of each sender: no pair has two", ROCE_PACING_QP, 50000, 3, 1, 300,
     100, SEES_BOTH, ANSWERS_MARKS, true, ALL & ~SCOPE(PORT), 1000},
    {"one sender: the port is the pair", ROCE_PACING_PORT, 4000, 1, 2, 90, 60,
     SEES_BOTH, ANSWERS_MARKS, true, ALL & ~SCOPE(QP), 500},
    {"just enough gaps", ROCE_PACING_QP, 50000, 1, 1, 300, 9, SEES_BOTH, ANSWERS_MARKS,
     true, ALL, 1000},
    {"one gap too few", ROCE_PACING_QP, 50000, 1, 1, 300, 8, SEES_BOTH, ANSWERS_MARKS,
     false, ALL, 0},
    {"each mark has its CNP: nothing is held back", ROCE_PACING_QP, 4000, 1, 1, 20000,
     60, SEES_BOTH, ANSWERS_MARKS, false, ALL, 0},
    {"each mark has its CNP, though late", ROCE_PACING_QP, 1, 1, 1, 3000, 100,
     SEES_BOTH, ANSWERS_LATE, false, ALL, 0},
    {"few are held back: the other gaps are those of the marks", ROCE_PACING_QP, 10000,
     1, 1, 20000, 300, SEES_BOTH, ANSWERS_SPARSE, false, ALL, 0},
    {"unseen marks, at even distances that were shorter before", ROCE_PACING_QP, 10000,
     1, 1, 20000, 300, SEES_CNPS, ANSWERS_SPARSE, false, ALL, 0},
    {"few are near the least, and none is shorter", ROCE_PACING_QP, 2000, 1, 1, 20000,
     100, SEES_CNPS, ANSWERS_SPARSE, false, ALL, 0},
    {"so as marks of others", ROCE_PACING_QP, 4000, 1, 1, 20000, 60, SEES_STRANGERS,
     ANSWERS_MARKS, false, ALL, 0},
    {"with NAKs", ROCE_PACING_QP, 4000, 1, 1, 20000, 60, SEES_CNPS, ANSWERS_WITH_NAK,
     false, ALL, 0},
    {"at random", ROCE_PACING_QP, 4000, 1, 1, 20000, 200, SEES_CNPS, ANSWERS_AT_RANDOM,
     false, ALL, 0},
    {"at random, and many: some are always near the least", ROCE_PACING_QP, 4000, 1, 1,
     20000, 2000, SEES_CNPS, ANSWERS_AT_RANDOM, false, ALL, 0},
    {"two that take turns exactly: twice the interval of one, or that of the pair",
     ROCE_PACING_PAIR, 4000, 1, 2, 3000, 100, SEES_BOTH, ANSWERS_IN_TURN, false, ALL,
     0},
    {"six that take turns at the port: six times its interval, or that of each",
     ROCE_PACING_PORT, 50000, 3, 2, 3000, 200, SEES_BOTH, ANSWERS_IN_TURN, false, ALL,
     0},
    {"three of them, each now and then twice in a row", ROCE_PACING_PAIR, 50000, 2, 2,
     300, 200, SEES_BOTH, ANSWERS_MARKS, true, SCOPE(PAIR) | SCOPE(DESTINATION), 1000},
    {"shorter than any device has it", ROCE_PACING_QP, 800, 1, 1, 90, 60, SEES_BOTH,
     ANSWERS_MARKS, false, ALL, 0},
};

typedef struct play {
    roce_tracker *tracker;
    uint64_t frames;
    uint32_t psn;
} play;

static roce_addr
host(unsigned number)
{
    return (roce_addr){.family = 4, .bytes = {10, 0, 0, (uint8_t)number}};
}

#define RECEIVER 1u
#define SENDER(i) (10u + (i))
#define QPN(i) (0x100u + (i))
#define STRANGER (MAX_SENDERS * QPS_EACH) /* from here on queue pairs are not known */

static void
see(play *p, roce_packet *packet, uint64_t now_ns)
{
    const roce_frame frame = {.number = ++p->frames, .time_ns = now_ns};
    packet->outcome = ROCE_DECODED;
    packet->kind = ROCE_CLASS_ROCE;
    packet->has_bth = true;
    packet->ipv4_ident = (uint16_t)p->frames;
    (void)roce_tracker_add(p->tracker, &frame, packet, ROCE_ICRC_UNCHECKED);
}

static void
see_mark(play *p, unsigned qp, uint64_t now_ns)
{
    roce_packet packet = {
        .src = host(SENDER(qp / QPS_EACH)),
        .dst = host(RECEIVER),
        .traffic_class = ROCE_ECN_CE,
        .transport = ROCE_TRANSPORT_RC,
        .payload_bytes = 64,
        .bth = {.opcode = WRITE_ONLY, .dest_qpn = QPN(qp), .psn24 = p->psn++},
    };
    see(p, &packet, now_ns);
}

static void
see_answer(play *p, unsigned qp, uint8_t opcode, uint64_t now_ns)
{
    roce_packet packet = {
        .src = host(RECEIVER),
        .dst = host(SENDER(qp / QPS_EACH)),
        .transport = opcode == CNP_OPCODE ? ROCE_TRANSPORT_CNP : ROCE_TRANSPORT_RC,
        .headers = opcode == CNP_OPCODE ? ROCE_HEADER_CNP : ROCE_HEADER_AETH,
        .aeth_syndrome = NAK_SYNDROME,
        .bth = {.opcode = opcode, .dest_qpn = QPN(qp), .psn24 = p->psn},
    };
    see(p, &packet, now_ns);
}

/* Marks of ANSWERS_SPARSE that come one so soon behind the other. */
#define DENSE_MARKS 50
#define DENSE_NS 500
#define LATE_NS 100 /* before the next mark */

/* Which of the times of the newest CNP counts for a queue pair. */
static unsigned
slot_of(roce_pacing_scope scope, unsigned qp)
{
    switch (scope) {
    case ROCE_PACING_QP:
        return qp;
    case ROCE_PACING_PAIR:
    case ROCE_PACING_DESTINATION:
        return qp / QPS_EACH;
    case ROCE_PACING_PORT:
    case ROCE_N_PACING_SCOPES:
        break;
    }
    return 0;
}

static void
run(play *p, size_t row)
{
    uint64_t newest[MAX_SENDERS * QPS_EACH] = {0};
    seeded random = {.state = row};
    uint64_t now = 1000000000;
    unsigned n_marks = 0;
    unsigned n_seen = 0;
    for (unsigned sent = 0; sent < rows[row].cnps;) {
        unsigned turn = rows[row].answers == ANSWERS_IN_TURN
                            ? n_marks++
                            : (unsigned)seeded_below(&random, 1u << 16);
        unsigned qp =
            turn / rows[row].qps % rows[row].senders * QPS_EACH + turn % rows[row].qps;
        uint64_t every_ns = rows[row].mark_every_ns;
        bool at_random = rows[row].answers == ANSWERS_AT_RANDOM;
        if (rows[row].answers == ANSWERS_SPARSE && n_seen++ < DENSE_MARKS) {
            every_ns = DENSE_NS;
        }
        now += at_random ? 2000 + seeded_below(&random, (uint32_t)(50 * every_ns))
                         : every_ns;
        if (rows[row].answers == ANSWERS_LATE) {
            see_answer(p, qp, CNP_OPCODE, now - LATE_NS);
            see_mark(p, qp, now);
            sent++;
            continue;
        }
        if (rows[row].sights != SEES_CNPS) {
            see_mark(p, qp + (rows[row].sights == SEES_STRANGERS ? STRANGER : 0), now);
        }
        uint64_t *last = &newest[slot_of(rows[row].scope, qp)];
        if (now - *last < rows[row].interval_ns) {
            continue;
        }
        *last = now;
        if (rows[row].answers == ANSWERS_WITH_NAK) {
            see_answer(p, qp, ACK_OPCODE, now);
        }
        now += at_random || every_ns < ANSWER_NS ? 0 : ANSWER_NS;
        see_answer(p, qp, CNP_OPCODE, now);
        sent++;
    }
    roce_tracker_finish(p->tracker);
}

static void
check(const play *p, size_t row)
{
    check_row(rows[row].name);
    if (!CHECK_INT(roce_tracker_n_notifiers(p->tracker), 1)) {
        return;
    }
    const roce_notifier *n = roce_tracker_notifier(p->tracker, 0);
    CHECK_INT(n->cnps, rows[row].cnps);
    CHECK_INT(n->pacing.known, rows[row].known);
    CHECK_INT(n->pacing.scopes, rows[row].scopes);
    if (rows[row].known) {
        uint64_t slack_ns = rows[row].interval_ns / 100; /* of the histogram */
        CHECK(n->pacing.interval_ns + slack_ns >= rows[row].interval_ns);
        CHECK(n->pacing.interval_ns <= rows[row].interval_ns + rows[row].off_ns);
    }
}

int
main(void)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        failing_alloc memory = {.fail_from = UINT64_MAX, .fail_until = UINT64_MAX};
        const roce_alloc alloc = failing_alloc_make(&memory);
        roce_tracker_config config;
        roce_tracker_config_init(&config);
        play p = {0};
        (void)roce_tracker_new(&p.tracker, &alloc, &config);
        const roce_addr receiver = host(RECEIVER);
        for (unsigned qp = 0; qp < MAX_SENDERS * QPS_EACH; qp++) {
            const roce_addr sender = host(SENDER(qp / QPS_EACH));
            (void)roce_tracker_add_pair(p.tracker, &sender, QPN(qp), &receiver,
                                        QPN(qp));
        }
        run(&p, i);
        check(&p, i);
        roce_tracker_free(p.tracker);
    }
    return check_status();
}
