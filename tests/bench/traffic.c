/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * PSNs are unwrapped here: they count on from a start of less than 2^24, and the frame
 * has their low 24 bits.  The message that a PSN belongs to, and its place there,
 * follow from the distance to the start.
 */
#include "traffic.h"

#include "seeded.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#define START_NS UINT64_C(1700000000000000000)
#define SLOT_NS 100
#define REPLY_NS 3000 /* until an answer is made, and until it has come back */
#define CNP_INTERVAL_NS 50000
#define CONGESTED_NS 200000 /* a host after the other is congested for so long */
#define TCP_PAYLOAD_BYTES 1448
#define NONE UINT32_MAX
#define PSN_MASK 0xffffffu

typedef enum answer {
    ANSWER_CNP = 1 << 0,
    ANSWER_NAK = 1 << 1,
    ANSWER_ACK = 1 << 2,
    ANSWER_READ = 1 << 3,
} answer;

typedef struct queue_pair {
    uint32_t host;
    uint32_t qpn;
    uint32_t peer;         /* index */
    uint32_t next_on_host; /* index; the last one leads to the first */
    uint16_t src_port;
    uint16_t identification; /* of the next frame */
    bool has_sent;

    /* as requester */
    uint64_t start_psn, next_psn;
    uint64_t seen_psn;      /* next that was never captured */
    uint32_t n_unseen_lost; /* since something of it was captured */
    uint64_t go_back_psn;   /* what a NAK asks for, once it has come back */
    uint64_t go_back_ns;    /* 0: none on the way */
    bool is_round_start;
    bool waits;        /* for a READ response */
    bool is_overtaken; /* the packet before the newest, and has not come yet */
    uint16_t overtaken_identification;

    /* as responder to its peer */
    uint64_t expected_psn;
    uint64_t response_psn, response_end_psn;
    bool is_answer_overtaken; /* likewise */
    uint16_t overtaken_answer_identification;
    uint64_t answer_ready_ns;
    uint64_t last_cnp_ns;
    uint32_t next_answering; /* on this host, NONE at the end */
    uint8_t answers;         /* bits of answer */
    bool has_asked;          /* by a NAK that nothing has followed yet */
} queue_pair;

typedef struct host {
    uint32_t first_qp; /* NONE: it has none */
    uint32_t turn;     /* the queue pair whose turn it is */
    uint32_t turn_pkts;
    uint32_t first_answering, last_answering; /* oldest first; NONE: empty */
    uint32_t n_qps;
} host;

typedef struct traffic {
    const traffic_plan *plan;
    host *hosts;
    queue_pair *qps;
    seeded random;
    uint64_t now_ns;
    traffic_sink sink;
    void *context;
    traffic_truth *truth;
} traffic;

/* ---- Making hosts and queue pairs ---- */

static void *
zeroed(size_t n, size_t size)
{
    void *memory = calloc(n, size);
    if (memory == NULL) {
        fprintf(stderr, "out of memory\n");
        exit(EXIT_FAILURE);
    }
    return memory;
}

/* What Linux makes of two QPNs where no flow label is set (rdma_calc_flow_label,
 * rdma_flow_label_to_udp_sport). */
static uint16_t
source_port(uint32_t a_qpn, uint32_t b_qpn)
{
    uint64_t label = (uint64_t)a_qpn * b_qpn;
    label ^= label >> 20;
    label ^= label >> 40;
    label &= 0xfffff;
    return (uint16_t)(((label & 0x3fff) ^ (label & 0xfc000) >> 14) | 0xc000);
}

static void
add_queue_pair(traffic *t, uint32_t qp_i, uint32_t host_i)
{
    host *h = &t->hosts[host_i];
    queue_pair *qp = &t->qps[qp_i];
    qp->host = host_i;
    qp->qpn = 0x100 + h->n_qps++;
    qp->start_psn = seeded_below(&t->random, 1u << 24);
    qp->next_psn = qp->seen_psn = qp->start_psn;
    qp->identification = (uint16_t)seeded_next(&t->random);
    qp->next_answering = NONE;
    if (h->first_qp == NONE) {
        h->first_qp = h->turn = qp_i;
        qp->next_on_host = qp_i;
        return;
    }
    qp->next_on_host = t->qps[h->first_qp].next_on_host;
    t->qps[h->first_qp].next_on_host = qp_i;
}

/* Connection i goes from host i to the next one, after a round of all hosts to the one
 * behind that, and so on: all-to-all. */
static void
connect_hosts(traffic *t)
{
    const uint32_t n_hosts = t->plan->n_hosts;
    for (uint32_t i = 0; i < t->plan->n_qps / 2; i++) {
        uint32_t from = i % n_hosts;
        uint32_t distance = 1 + i / n_hosts % (n_hosts - 1);
        add_queue_pair(t, 2 * i, from);
        add_queue_pair(t, 2 * i + 1, (from + distance) % n_hosts);
        queue_pair *a = &t->qps[2 * i];
        queue_pair *b = &t->qps[2 * i + 1];
        a->peer = 2 * i + 1;
        b->peer = 2 * i;
        a->expected_psn = b->start_psn;
        b->expected_psn = a->start_psn;
        a->src_port = b->src_port = source_port(a->qpn, b->qpn);
    }
}

static void
make_hosts(traffic *t)
{
    t->hosts = zeroed(t->plan->n_hosts, sizeof *t->hosts);
    t->qps = zeroed(t->plan->n_qps, sizeof *t->qps);
    for (uint32_t i = 0; i < t->plan->n_hosts; i++) {
        host *h = &t->hosts[i];
        h->first_qp = h->turn = h->first_answering = h->last_answering = NONE;
    }
    connect_hosts(t);
}

/* ---- What all frames have ---- */

/* Packets of messages that ended before this PSN of a requester. */
static uint64_t
messages_before(const traffic *t, const queue_pair *requester, uint64_t psn)
{
    return (psn - requester->start_psn) / t->plan->message_pkts;
}

static uint32_t
place_in_message(const traffic *t, const queue_pair *requester, uint64_t psn)
{
    return (uint32_t)((psn - requester->start_psn) % t->plan->message_pkts);
}

/* The values of a frame from this queue pair to its peer. */
static frame_values
frame_from(const traffic *t, const queue_pair *qp, opcode_kind kind, uint64_t psn)
{
    const queue_pair *peer = &t->qps[qp->peer];
    return (frame_values){
        .kind = kind,
        .src_host = qp->host,
        .dst_host = peer->host,
        .src_port = qp->src_port,
        .identification = qp->identification,
        .tos = TOS_DATA,
        .dst_qpn = peer->qpn,
        .psn24 = (uint32_t)psn & PSN_MASK,
    };
}

static void
put_on_wire(traffic *t, const frame_values *values)
{
    if (t->plan->missed_of_256 > 0 &&
        seeded_below(&t->random, 256) < t->plan->missed_of_256) {
        t->truth->n_missed++;
        return;
    }
    t->truth->n_packets++;
    frame_values numbered = *values;
    numbered.src_host += t->plan->first_host;
    numbered.dst_host += t->plan->first_host;
    t->sink(t->context, t->now_ns, &numbered);
}

static void
emit(traffic *t, queue_pair *qp, const frame_values *values)
{
    qp->identification++;
    if (!qp->has_sent) {
        qp->has_sent = true;
        t->truth->n_senders++;
    }
    put_on_wire(t, values);
}

/* ---- Congestion and loss ---- */

/* Whether this data packet comes marked. */
static bool
is_marked(traffic *t, uint32_t to_host)
{
    if (t->plan->marked_of_256 == 0) {
        return false;
    }
    uint64_t period = (t->now_ns - START_NS) / CONGESTED_NS;
    return to_host == period % t->plan->n_hosts &&
           seeded_below(&t->random, 256) < t->plan->marked_of_256;
}

/* Whether anything may happen to a packet, of what this queue pair requests or asked for.
 * First messages come through, so that the point has seen each stream; so does what is sent
 * last: nothing is left to repair. */
static bool
is_exposed(const traffic *t, const queue_pair *qp, uint64_t psn)
{
    return messages_before(t, qp, psn) > 0 &&
           t->truth->n_packets <= t->plan->n_packets / 10 * 9;
}

/* Whether this request packet is lost. */
static bool
is_lost(traffic *t, const queue_pair *qp)
{
    return t->plan->lost_of_65536 > 0 && !qp->is_round_start &&
           is_exposed(t, qp, qp->next_psn) &&
           seeded_below(&t->random, 65536) < t->plan->lost_of_65536;
}

/* Whether this packet of a WRITE or of an answer is overtaken by the next one, which is not
 * the last of their message: that one asks for an acknowledgement, or ends the answer. */
static bool
becomes_overtaken(traffic *t, const queue_pair *qp, uint64_t psn)
{
    return t->plan->overtaken_of_256 > 0 && is_exposed(t, qp, psn) &&
           place_in_message(t, qp, psn) + 2 < t->plan->message_pkts &&
           seeded_below(&t->random, 256) < t->plan->overtaken_of_256;
}

/* ---- Responding ---- */

/* Queues the queue pair for an answer to its peer. */
static void
answer_later(traffic *t, uint32_t qp_i, answer what)
{
    queue_pair *qp = &t->qps[qp_i];
    host *h = &t->hosts[qp->host];
    if (qp->answers == 0) {
        qp->answer_ready_ns = t->now_ns + REPLY_NS;
        if (h->last_answering == NONE) {
            h->first_answering = qp_i;
        } else {
            t->qps[h->last_answering].next_answering = qp_i;
        }
        h->last_answering = qp_i;
    }
    qp->answers |= (uint8_t)what;
}

static void
notice_mark(traffic *t, uint32_t qp_i)
{
    queue_pair *qp = &t->qps[qp_i];
    t->truth->n_ce++;
    if (qp->last_cnp_ns == 0 || t->now_ns - qp->last_cnp_ns >= CNP_INTERVAL_NS) {
        qp->last_cnp_ns = t->now_ns;
        answer_later(t, qp_i, ANSWER_CNP);
    }
}

/* A WRITE packet has come to its responder.  Go-back-N never sends what was taken. */
static void
receive_write(traffic *t, uint32_t qp_i, uint64_t psn)
{
    queue_pair *qp = &t->qps[qp_i];
    const queue_pair *requester = &t->qps[qp->peer];
    if (psn != qp->expected_psn) {
        if (!qp->has_asked) {
            qp->has_asked = true;
            answer_later(t, qp_i, ANSWER_NAK);
        }
        return;
    }
    qp->expected_psn++;
    qp->has_asked = false;
    if (place_in_message(t, requester, psn) == t->plan->message_pkts - 1) {
        answer_later(t, qp_i, ANSWER_ACK);
    }
}

static void
send_cnp(traffic *t, queue_pair *qp)
{
    frame_values v = frame_from(t, qp, CNP, 0);
    v.tos = TOS_CNP;
    v.flags = BTH_BECN;
    t->truth->n_cnps++;
    emit(t, qp, &v);
}

/* An ACK of all that came in order, or the NAK that asks for what did not. */
static void
send_acknowledge(traffic *t, queue_pair *qp, answer what)
{
    queue_pair *requester = &t->qps[qp->peer];
    uint64_t psn = what == ANSWER_NAK ? qp->expected_psn : qp->expected_psn - 1;
    frame_values v = frame_from(t, qp, ACKNOWLEDGE, psn);
    v.syndrome = what == ANSWER_NAK ? 0x60 : 0x1f; /* PSN sequence error; no limit */
    v.msn = (uint32_t)messages_before(t, requester, qp->expected_psn) & PSN_MASK;
    if (what == ANSWER_NAK) {
        t->truth->n_naks++;
        requester->go_back_psn = psn;
        requester->go_back_ns = t->now_ns + REPLY_NS;
    }
    emit(t, qp, &v);
}

static frame_values
response_of(const traffic *t, const queue_pair *qp, uint64_t psn)
{
    const queue_pair *requester = &t->qps[qp->peer];
    opcode_kind kind = RESPONSE_MIDDLE;
    if (place_in_message(t, requester, psn) == 0) {
        kind = RESPONSE_FIRST;
    } else if (psn + 1 == qp->response_end_psn) {
        kind = RESPONSE_LAST;
    }
    frame_values v = frame_from(t, qp, kind, psn);
    v.payload_bytes = t->plan->mtu_bytes;
    v.syndrome = 0x1f;
    v.msn = (uint32_t)(messages_before(t, requester, psn) + 1) & PSN_MASK;
    return v;
}

/* As overtake() and send_overtaken(), of a READ response. */
static void
overtake_response(traffic *t, queue_pair *qp)
{
    qp->overtaken_answer_identification = qp->identification++;
    frame_values v = response_of(t, qp, qp->response_psn + 1);
    emit(t, qp, &v);
    qp->response_psn += 2;
    qp->is_answer_overtaken = true;
    t->truth->n_overtaken++;
}

static void
send_overtaken_response(traffic *t, queue_pair *qp)
{
    frame_values v = response_of(t, qp, qp->response_psn - 2);
    v.identification = qp->overtaken_answer_identification;
    put_on_wire(t, &v);
    qp->is_answer_overtaken = false;
}

/* The next packet of a READ response. */
static void
send_response(traffic *t, queue_pair *qp)
{
    queue_pair *requester = &t->qps[qp->peer];
    if (qp->is_answer_overtaken) {
        send_overtaken_response(t, qp);
        return;
    }
    if (becomes_overtaken(t, requester, qp->response_psn)) {
        overtake_response(t, qp);
        return;
    }
    frame_values v = response_of(t, qp, qp->response_psn++);
    if (v.kind == RESPONSE_LAST) {
        requester->waits = false;
    }
    if (is_marked(t, requester->host)) {
        v.tos |= TOS_CE;
        notice_mark(t, qp->peer);
    }
    emit(t, qp, &v);
}

/* Sends one of the answers that are due, and takes it off. */
static void
send_answer(traffic *t, queue_pair *qp)
{
    if ((qp->answers & ANSWER_CNP) != 0) {
        qp->answers &= (uint8_t)~ANSWER_CNP;
        send_cnp(t, qp);
    } else if ((qp->answers & ANSWER_NAK) != 0) {
        /* It acknowledges what came before as well. */
        qp->answers &= (uint8_t) ~(ANSWER_NAK | ANSWER_ACK);
        send_acknowledge(t, qp, ANSWER_NAK);
    } else if ((qp->answers & ANSWER_ACK) != 0) {
        qp->answers &= (uint8_t)~ANSWER_ACK;
        send_acknowledge(t, qp, ANSWER_ACK);
    } else {
        send_response(t, qp);
        if (qp->response_psn == qp->response_end_psn) {
            qp->answers &= (uint8_t)~ANSWER_READ;
        }
    }
}

/* Lets the host send the oldest answer; false if none is due yet.  What a queue pair
 * still has to answer goes to the end. */
static bool
answer_next(traffic *t, host *h)
{
    uint32_t qp_i = h->first_answering;
    if (qp_i == NONE || t->qps[qp_i].answer_ready_ns > t->now_ns) {
        return false;
    }
    queue_pair *qp = &t->qps[qp_i];
    send_answer(t, qp);
    if (qp->answers != 0 && qp_i == h->last_answering) {
        return true;
    }
    h->first_answering = qp->next_answering;
    qp->next_answering = NONE;
    if (qp->answers != 0) {
        t->qps[h->last_answering].next_answering = qp_i;
        h->last_answering = qp_i;
    } else if (h->first_answering == NONE) {
        h->last_answering = NONE;
    }
    return true;
}

/* ---- Requesting ---- */

static opcode_kind
write_kind(const traffic *t, uint32_t place)
{
    if (place == 0) {
        return WRITE_FIRST;
    }
    return place == t->plan->message_pkts - 1 ? WRITE_LAST : WRITE_MIDDLE;
}

static void
go_back(const traffic *t, queue_pair *qp)
{
    if (qp->go_back_ns != 0 && qp->go_back_ns <= t->now_ns) {
        qp->go_back_ns = 0;
        qp->next_psn = qp->go_back_psn;
        qp->is_round_start = true;
        t->truth->n_lost_unseen += qp->n_unseen_lost;
        qp->n_unseen_lost = 0;
    }
}

/* A request packet was captured: what was lost before it shows by that. */
static void
note_seen(const traffic *t, queue_pair *qp, uint64_t psn)
{
    t->truth->n_lost += qp->n_unseen_lost;
    qp->n_unseen_lost = 0;
    if (psn < qp->seen_psn) {
        t->truth->n_retransmitted++;
    } else {
        qp->seen_psn = psn + 1;
    }
}

static frame_values
write_of(const traffic *t, const queue_pair *qp, uint64_t psn)
{
    frame_values v =
        frame_from(t, qp, write_kind(t, place_in_message(t, qp, psn)), psn);
    v.flags = v.kind == WRITE_LAST ? BTH_ACK_REQUEST : BTH_NO_FLAGS;
    v.payload_bytes = t->plan->mtu_bytes;
    v.dma_bytes = t->plan->message_pkts * t->plan->mtu_bytes;
    v.remote_address =
        UINT64_C(0x7f0000000000) + messages_before(t, qp, psn) * v.dma_bytes;
    return v;
}

/* Sends the packet behind the next WRITE packet, which comes in another slot. */
static void
overtake(traffic *t, queue_pair *qp)
{
    uint64_t psn = qp->next_psn + 1;
    qp->overtaken_identification = qp->identification++;
    frame_values v = write_of(t, qp, psn);
    note_seen(t, qp, psn);
    emit(t, qp, &v);
    qp->next_psn += 2;
    qp->is_overtaken = true;
    t->truth->n_overtaken++;
}

static void
send_overtaken(traffic *t, queue_pair *qp)
{
    uint64_t psn = qp->next_psn - 2;
    frame_values v = write_of(t, qp, psn);
    v.identification = qp->overtaken_identification;
    put_on_wire(t, &v);
    qp->is_overtaken = false;
    receive_write(t, qp->peer, psn);
    receive_write(t, qp->peer, psn + 1);
}

/* Sends the next WRITE packet; false if it was lost. */
static bool
send_write(traffic *t, queue_pair *qp)
{
    go_back(t, qp);
    if (qp->is_overtaken) {
        send_overtaken(t, qp);
        return true;
    }
    if (becomes_overtaken(t, qp, qp->next_psn)) {
        overtake(t, qp);
        return true;
    }
    uint64_t psn = qp->next_psn;
    frame_values v = write_of(t, qp, psn);
    bool lost = is_lost(t, qp);
    qp->is_round_start = false;
    qp->next_psn++;
    if (lost) {
        qp->n_unseen_lost++;
        qp->identification++;
        return false;
    }
    note_seen(t, qp, psn);
    if (is_marked(t, v.dst_host)) {
        v.tos |= TOS_CE;
        notice_mark(t, qp->peer);
    }
    emit(t, qp, &v);
    receive_write(t, qp->peer, psn);
    return true;
}

/* Sends a READ request for one message; false while the last one is not answered. */
static bool
send_read(traffic *t, queue_pair *qp)
{
    if (qp->waits) {
        return false;
    }
    frame_values v = frame_from(t, qp, READ_REQUEST, qp->next_psn);
    v.flags = BTH_ACK_REQUEST;
    v.dma_bytes = t->plan->message_pkts * t->plan->mtu_bytes;
    v.remote_address =
        UINT64_C(0x7f0000000000) + messages_before(t, qp, qp->next_psn) * v.dma_bytes;
    emit(t, qp, &v);
    qp->waits = true;
    queue_pair *responder = &t->qps[qp->peer];
    responder->response_psn = qp->next_psn;
    qp->next_psn += t->plan->message_pkts;
    responder->response_end_psn = qp->next_psn;
    answer_later(t, qp->peer, ANSWER_READ);
    return true;
}

/* Whether the host uses its slot for something else. */
static bool
has_other_work(traffic *t)
{
    return t->plan->others_of_256 > 0 &&
           seeded_below(&t->random, 256) < t->plan->others_of_256;
}

static void
send_tcp(traffic *t, uint32_t host_i)
{
    const frame_values v = {
        .is_tcp = true,
        .src_host = host_i,
        .dst_host = (host_i + 1) % t->plan->n_hosts,
        .src_port = 700,
        .identification = (uint16_t)t->truth->n_others,
        .psn24 = (uint32_t)t->truth->n_others * TCP_PAYLOAD_BYTES,
        .payload_bytes = TCP_PAYLOAD_BYTES,
    };
    t->truth->n_others++;
    put_on_wire(t, &v);
}

/* Lets the host send a request packet. */
static void
request_next(traffic *t, host *h)
{
    queue_pair *qp = &t->qps[h->turn];
    int sent =
        t->plan->requests == REQUESTS_WRITE ? send_write(t, qp) : send_read(t, qp);
    h->turn_pkts++;
    if (!sent || h->turn_pkts >= t->plan->burst_pkts) {
        h->turn = qp->next_on_host;
        h->turn_pkts = 0;
    }
}

void
traffic_run(const traffic_plan *plan, traffic_sink sink, void *context,
            traffic_truth *truth)
{
    *truth = (traffic_truth){0};
    traffic t = {
        .plan = plan,
        .random = {plan->seed},
        .now_ns = START_NS,
        .sink = sink,
        .context = context,
        .truth = truth,
    };
    make_hosts(&t);
    for (uint32_t host_i = 0; truth->n_packets < plan->n_packets;
         host_i = (host_i + 1) % plan->n_hosts) {
        host *h = &t.hosts[host_i];
        if (has_other_work(&t)) {
            send_tcp(&t, host_i);
        } else if (h->first_qp != NONE && !answer_next(&t, h)) {
            request_next(&t, h);
        }
        t.now_ns += SLOT_NS;
    }
    free(t.hosts);
    free(t.qps);
}
