/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Latencies: which pairs of packets are a sample, and which are none.  The scripts are
 * those of scenario.h; each packet comes 1 us after the one before it.
 */
#include "scenario.h"

/* What one latency of a stream must hold. */
typedef struct measure {
    const char *name;
    const char *script;
    roce_latency latency;
    const char *stream;
    uint64_t count, min_us, max_us; /* the last two count if there are samples */
    scenario_ident ident;
    scenario_pairs pairs;
} measure;

/* First and last of a WRITE teach the path MTU: 1024. */
#define TEACH "all len=1024; a write.first 0; a write.last 1; b ack 1; "
#define READ_3 TEACH "a read 2 len=3072; "
/* 10 is lost before this point, 11 and 12 come, NAK, and all three again. */
#define LOST_10 "a write 8..9; b ack 9; a write 10 drop; a write 11..12; "

#define ACK ROCE_LATENCY_ACK, "A"
#define MESSAGE ROCE_LATENCY_MESSAGE_COMPLETION, "A"
#define READ_FIRST ROCE_LATENCY_READ_FIRST, "A"
#define READ_LAST ROCE_LATENCY_READ, "A"
#define GENERATION ROCE_LATENCY_NAK_GENERATION, "A"
#define REACTION ROCE_LATENCY_NAK_REACTION, "A"
#define RECOVERY ROCE_LATENCY_RECOVERY, "A"
#define DELAY ROCE_LATENCY_CNP_DELAY, "A"
#define INTERVAL ROCE_LATENCY_CNP_INTERVAL, "A"

/* clang-format off */
static const measure acks[] = {
    {.name = "each request has its ACK",
     "a write 0; +9; b ack 0; a write 1; +4; b ack 1", ACK, 2, 5, 10},
    {.name = "a coalesced ACK is timed from the newest request that it covers",
     "a write 0..3; +9; b ack 3", ACK, 1, 10, 10},
    {.name = "an ACK inside a message",
     "a write.first 0; a write.middle 1; +1; b ack 1; "
     "a write.last 2; +2; b ack 2", ACK, 2, 2, 3},
    {.name = "the second ACK for a request is none",
     "a write 0; b ack 0; +9; b ack 0 ident=9000",
     ACK, 1, 1, 1},
    {.name = "an older ACK that was overtaken is none",
     "a write 0..1; b ack 1; b ack 0", ACK, 1, 1, 1},
    {.name = "a request that was never seen",
     "a write 0; b ack 0; a write 1 drop; b ack 1", ACK, 1, 1, 1},
    {.name = "a request sent again",
     "a write 0; b ack 0; a write 1; +100000; a write 1; b ack 1; "
     "a write 2; b ack 2", ACK, 2, 1, 1},
    {.name = "a request in a round, before it is sent again itself",
     "a write 0; b ack 0; a write 1..3; +100000; a write 1; b ack 3", ACK, 1, 1, 1},
    {.name = "a request whose second copy went unseen: a timeout",
     "a write 0; b ack 0; a write 1..3; +100000; a write 1 drop; a write 2..3; b ack 1",
     ACK, 1, 1, 1},
    {.name = "a request whose second copy went unseen: inside a round",
     "a write 0; b ack 0; a write 1..3; b nak 1; a write 1; a write 2 drop; a write 3; "
     "b ack 2", ACK, 1, 1, 1},
    {.name = "a request of the round before the newest",
     "a send 0; b ack 0; a send 1..4; b rnr 1; +20; a send 1..4; +10; a send 3..4; b ack 1",
     ACK, 1, 1, 1},
    {.name = "the first request behind a round",
     "a write 0; b ack 0; a write 1..3; +100000; "
     "a write 1..3; b ack 3; a write 4; b ack 4", ACK, 2, 1, 1},
    {.name = "a duplicate made by the network",
     "a write 0; b ack 0; a write 1; a write 1 copy; "
     "b ack 1", ACK, 1, 1, 1},
    {.name = "a late original",
     "a write 0..1; a write 2 drop; a write 3; a write 2 copy; b ack 2; "
     "b ack 3", ACK, 1, 3, 3},
    {.name = "an ACK does not answer a READ", "a read 0; b ack 0", ACK, 0, 0, 0},
    {.name = "the stamps step back",
     "t=100; a write 0; t=50; b ack 0; a write 1; b ack 1", ACK, 1, 1, 1},
    {.name = "the same stamp is a sample of 0",
     "t=100; a write 0; t=100; b ack 0", ACK, 1, 0, 0},
    {.name = "one direction only", "a write 0..9", ACK, 0, 0, 0},
    {.name = "paired late: who acknowledged what came before, and when, nobody knows",
     "a write 0; a2 write 0; b ack 0; b2 ack 0; +900; a write 1; b ack 1", MESSAGE, 1, 1, 1,
     .pairs = SCENARIO_PAIRS_UNKNOWN},
    {.name = "unpaired", "a write 0..3; b ack 500", ACK, 0, 0, 0,
     .pairs = SCENARIO_PAIRS_UNKNOWN},
    {.name = "the ACK that pairs", "a write 0..3; +9; b ack 3", ACK, 1, 10, 10,
     .pairs = SCENARIO_PAIRS_UNKNOWN},
    {.name = "mid-stream", "b ack 5; a write 6; +1; b ack 6", ACK, 1, 2, 2},
    {.name = "IPv6",
     "a write 0; +1; b ack 0", ACK, 1, 2, 2, .ident = SCENARIO_IDENT_IPV6},
    {.name = "the ICRC of the ACK is bad",
     "a write 0; b ack 0 bad; +9; b ack 0", ACK, 1, 11, 11},
    {.name = "the ACK's syndrome was cut off", "a write 0; b ack 0 cut", ACK, 0, 0, 0},
    {.name = "the QPN is used again",
     "a write 0; b ack 0; a write 5000000; +2; b ack 5000000",
     ACK, 2, 1, 3},
};

static const measure messages[] = {
    {.name = "from the first packet to the ACK of the last",
     "a write.first 0; +3; a write.middle 1; a write.last 2; +4; b ack 2", MESSAGE,
     1, 10, 10},
    {.name = "one packet", "a write 0; +6; b ack 0", MESSAGE, 1, 7, 7},
    {.name = "an ACK in the middle completes nothing",
     "a write.first 0; a write.middle 1; b ack 1; a write.last 2", MESSAGE, 0, 0, 0},
    {.name = "acknowledged in two steps",
     "a write.first 0; a write.middle 1; b ack 1; a write.last 2; b ack 2", MESSAGE,
     1, 4, 4},
    {.name = "several at once",
     "a write 0; a write.first 1; a write.last 2; a write 3; b ack 3",
     MESSAGE, 3, 1, 4},
    {.name = "the first packet was not seen",
     "a write.middle 1; a write.last 2; b ack 2",
     MESSAGE, 0, 0, 0},
    {.name = "a packet in the middle was not seen",
     "a write.first 0; a write.middle 1 drop; a write.last 2; b ack 2",
     MESSAGE, 0, 0, 0},
    {.name = "a packet in the middle was sent again",
     "a write 8; b ack 8; a write.first 9; a write.middle 10; a write.last 11; "
     "+100000; "
     "a write.middle 10; a write.last 11; b ack 11", MESSAGE, 1, 1, 1},
    {.name = "two packets changed places", "a write.first 0; a write.middle 1 drop; "
     "a write.last 2; a write.middle 1 copy; b ack 2; a write 3; b ack 3", MESSAGE,
     1, 1, 1},
    {.name = "a NAK covers the message before",
     "a write 0; a write 1; a write 2 drop; a write 3; "
     "b nak 2", MESSAGE, 2, 3, 4},
    {.name = "a response covers the WRITE before it",
     "a write 0; a read 1; +7; b resp 1", MESSAGE, 2, 8, 9},
    {.name = "an atomic is complete with its answer",
     "a cas 0; +7; b atomack 0", MESSAGE, 1, 8, 8},
    {.name = "a FLUSH", "a flush 0; +7; b resp 0 len=0", MESSAGE, 1, 8, 8},
    {.name = "an ACK beyond a READ completes it not",
     "a read 0; a write 1; b ack 1", MESSAGE, 1, 1, 1},
    {.name = "not acknowledged", "a write 0; b ack 0; a write 1", MESSAGE, 1, 1, 1},
};

static const measure reads[] = {
    {.name = "first response",
     READ_3 "+9; b resp.first 2; b resp.middle 3; b resp.last 4",
     READ_FIRST, 1, 10, 10},
    {.name = "last response",
     READ_3 "+9; b resp.first 2; b resp.middle 3; b resp.last 4",
     READ_LAST, 1, 12, 12},
    {.name = "a READ is a message",
     READ_3 "+9; b resp.first 2; b resp.middle 3; b resp.last 4",
     MESSAGE, 2, 2, 12},
    {.name = "a single response is both, first",
     "a read 0; b resp 0", READ_FIRST, 1, 1, 1},
    {.name = "a single response is both, last",
     "a read 0; b resp 0", READ_LAST, 1, 1, 1},
    {.name = "two READs at once",
     TEACH "a read 2 len=1024; a read 3 len=2048; b resp 2; "
     "b resp.first 3; b resp.last 4", READ_LAST, 2, 2, 3},
    {.name = "the last response is not seen",
     READ_3 "b resp.first 2; b resp.middle 3; b resp.last 4 drop", READ_LAST, 0, 0, 0},
    {.name = "the first response is not seen, first",
     READ_3 "b resp.first 2 drop; b resp.middle 3; b resp.last 4", READ_FIRST, 0, 0, 0},
    {.name = "the first response is not seen, last",
     READ_3 "b resp.first 2 drop; b resp.middle 3; b resp.last 4", READ_LAST, 0, 0, 0},
    {.name = "asked again",
     READ_3 "b resp.first 2; b resp.middle 3 drop; b resp.last 4; "
     "a read 3 len=2048; b resp.first 3; b resp.last 4", READ_LAST, 0, 0, 0},
    {.name = "a READ behind a response that is missing may be discarded",
     TEACH "a read 2 len=1024; a read 3 len=1024; b resp 2 drop; b resp 3", READ_LAST,
     0, 0, 0},
    {.name = "until it has come",
     TEACH "a read 2 len=1024; a read 3 len=1024; b resp 2 drop; b resp 3; "
     "a read 2 len=1024; a read 3 len=1024; b resp 2; b resp 3; a read 4 len=1024; "
     "b resp 4",
     READ_LAST, 1, 1, 1},
    {.name = "or up to 16 path delays",
     TEACH "a read 2 len=1024; a read 3 len=1024; b resp 2 drop; b resp 3; "
     "+15998; a read 4 len=1024; b resp 4", READ_LAST, 0, 0, 0},
    {.name = "and no longer",
     TEACH "a read 2 len=1024; a read 3 len=1024; b resp 2 drop; b resp 3; "
     "+15999; a read 4 len=1024; b resp 4", READ_LAST, 1, 1, 1},
    {.name = "responses change places",
     READ_3 "b resp.first 2; b resp.middle 3 drop; b resp.last 4; b resp.middle 3 copy",
     READ_LAST, 0, 0, 0},
    {.name = "the READ Request is not seen",
     TEACH "a read 2 len=1024 drop; b resp 2", READ_LAST, 0, 0, 0},
    {.name = "an atomic is no READ", "a cas 0; b atomack 0", READ_LAST, 0, 0, 0},
    {.name = "a FLUSH is no READ", "a flush 0; b resp 0 len=0", READ_FIRST, 0, 0, 0},
    {.name = "the stamps step back",
     "t=100; a read 0; t=50; b resp 0", READ_LAST, 0, 0, 0},
};

static const measure naks[] = {
    {.name = "from the request beyond the gap",
     LOST_10 "+4; b nak 10; +9; a write 10..12; b ack 12",
     GENERATION, 1, 6, 6},
    {.name = "to the request that was asked for",
     LOST_10 "b nak 10; +9; a write 10..12; b ack 12",
     REACTION, 1, 10, 10},
    {.name = "the NAK comes twice, generation",
     LOST_10 "b nak 10; b nak 10; a write 10..12; b ack 12",
     GENERATION, 1, 2, 2},
    {.name = "the NAK comes twice, reaction",
     LOST_10 "b nak 10; b nak 10; a write 10..12; b ack 12",
     REACTION, 1, 2, 2},
    {.name = "lost behind this point: what provoked the NAK is not known",
     "a write 8..12; b nak 10; a write 10..12; b ack 12", GENERATION, 0, 0, 0},
    {.name = "lost behind this point: the reaction is",
     "a write 8..12; b nak 10; a write 10..12; b ack 12", REACTION, 1, 1, 1},
    {.name = "the round begins unseen",
     LOST_10 "b nak 10; a write 10 drop; a write 11..12; "
     "b nak 10 ident=9000; a write 10..12; b ack 12", REACTION, 1, 1, 1},
    {.name = "a NAK that no round answered, and a later one that a round does",
     LOST_10 "b nak 10; a write 10 copy; b ack 12; a write 13 drop; a write 14; "
     "b nak 13; +9; a write 13..14; b ack 14", REACTION, 1, 10, 10},
    {.name = "an RNR NAK is another matter, generation",
     "a write 0; b rnr 0; +9; a write 0; b ack 0",
     GENERATION, 0, 0, 0},
    {.name = "an RNR NAK is another matter, reaction",
     "a write 0; b rnr 0; +9; a write 0; b ack 0",
     REACTION, 0, 0, 0},
    {.name = "the sequence NAK in the wake of an RNR NAK",
     "a write 0..1; b rnr 0; b nak 0; +9; a write 0..1; b ack 1", GENERATION, 0, 0, 0},
    {.name = "a refusal for good", "a write 0..1; b access 0", GENERATION, 0, 0, 0},
    {.name = "two losses, two NAKs",
     LOST_10 "b nak 10; a write 10..13; b ack 13; a write 14 drop; "
     "a write 15; +2; b nak 14; a write 14..15; b ack 15", GENERATION, 2, 2, 3},
    {.name = "the first copy sent again is lost as well",
     LOST_10 "b nak 10; a write 10 drop; a write 11; +2; b nak 10; a write 10..12; "
     "b ack 12",
     GENERATION, 2, 2, 3},
    {.name = "nobody has sent again", LOST_10 "b nak 10", REACTION, 0, 0, 0},
    {.name = "the stamps step back, generation",
     "t=100; " LOST_10 "t=50; b nak 10", GENERATION, 0, 0, 0},
    {.name = "the stamps step back, reaction",
     "t=100; " LOST_10 "b nak 10; t=50; a write 10..12",
     REACTION, 0, 0, 0},
    {.name = "no identification: the answer is timed all the same",
     LOST_10 "b nak 10; +9; a write 10; +5; a write 11..12; b ack 12",
     REACTION, 1, 10, 10,
     .ident = SCENARIO_IDENT_IPV6},
    {.name = "no identification: a NAK behind the copy that turns out to be an answer",
     LOST_10 "b nak 10; t=500; a write 10; t=500; b nak 10 ident=9000; t=500; "
     "a write 11..12; b ack 12",
     REACTION, 0, 0, 0, .ident = SCENARIO_IDENT_IPV6},
    {.name = "unpaired", LOST_10, GENERATION, 0, 0, 0, .pairs = SCENARIO_PAIRS_UNKNOWN},
};

static const measure recoveries[] = {
    {.name = "from the gap",
     LOST_10 "+4; b nak 10; a write 10..12; b ack 12", RECOVERY, 1, 10, 10},
    {.name = "without identification as well", LOST_10 "+4; b nak 10; a write 10..12; "
     "b ack 12", RECOVERY, 1, 10, 10, .ident = SCENARIO_IDENT_IPV6},
    {.name = "to the first ACK that covers it",
     LOST_10 "+4; b nak 10; a write 10..12; b ack 10; "
     "b ack 12", RECOVERY, 1, 10, 10},
    {.name = "from the NAK, where it was lost behind this point",
     "a write 8..12; b nak 10; +9; a write 10..12; b ack 12", RECOVERY, 1, 13, 13},
    {.name = "from the copy before, where a timeout repairs it",
     "a write 0; b ack 0; a write 1..2; +100000; a write 1..2; b ack 2", RECOVERY,
     1, 100004, 100004},
    {.name = "the ACK was lost",
     "a write 0; b ack 0; a write 1..2; b ack 2; +100000; a write 1..2; "
     "b ack 2 ident=9000", RECOVERY, 1, 100005, 100005},
    {.name = "a copy sent again is lost as well: still the first evidence",
     LOST_10 "b nak 10; a write 10 drop; a write 11; b nak 10; a write 10..12; "
     "b ack 12",
     RECOVERY, 1, 9, 9},
    {.name = "two losses in one flight are one repair",
     "a write 8..9; b ack 9; a write 10 drop; a write 11; a write 12 drop; a write 13; "
     "b nak 10; a write 10..13; b ack 13", RECOVERY, 1, 8, 8},
    {.name = "two repairs",
     LOST_10 "b nak 10; a write 10..13; b ack 13; a write 14 drop; a write 15; "
     "b nak 14; a write 14..15; b ack 15", RECOVERY, 2, 4, 7},
    {.name = "a NAK covers it",
     LOST_10 "b nak 10; a write 10..11; a write 12 drop; a write 13; "
     "b nak 12; a write 12..13; b ack 13", RECOVERY, 2, 4, 7},
    {.name = "merely late", LOST_10 "a write 10 copy; b ack 12", RECOVERY, 0, 0, 0},
    {.name = "merely late, and sent again for nothing",
     LOST_10 "a write 10 copy; b nak 10; a write 10..12; b ack 12", RECOVERY, 0, 0, 0},
    {.name = "merely late, and behind the copy that was sent again",
     "a write 0..9; b ack 9; a write 10 drop; a write 11..12; b nak 10; a write 10..12; "
     "a write 10 copy=1; b ack 12", RECOVERY, 0, 0, 0},
    {.name = "the QPN is used again, repair",
     LOST_10 "b nak 10; a write 10..12; a write 5000000; b ack 5000000", RECOVERY,
     0, 0, 0},
    {.name = "not captured", LOST_10 "b ack 12", RECOVERY, 0, 0, 0},
    {.name = "not acknowledged any more",
     LOST_10 "b nak 10; a write 10..12", RECOVERY, 0, 0, 0},
    {.name = "RNR: nothing was lost",
     "a write 0; b rnr 0; +9; a write 0; b ack 0", RECOVERY, 0, 0, 0},
    {.name = "a READ's response: from the gap to the response",
     READ_3 "b resp.first 2; b resp.middle 3 drop; b resp.last 4; +3; "
     "a read 3 len=2048; "
     "b resp.first 3; b resp.last 4; a write 5; b ack 5", RECOVERY, 1, 5, 5},
    {.name = "a READ's response, with others of before still on their way",
     TEACH "a read 2 len=1024; a read 3 len=1024; a read 4 len=1024; b resp 2 drop; "
     "b resp 3; a read 2 len=1024; b resp 4; a read 3 len=1024; a read 4 len=1024; "
     "b resp 2; b resp 3; b resp 4", RECOVERY, 1, 5, 5},
    {.name = "a READ asked again after a timeout",
     READ_3 "+100000; a read 2 len=3072; b resp.first 2; b resp.middle 3; "
     "b resp.last 4",
     RECOVERY, 1, 100002, 100002},
    {.name = "one direction only",
     "a write 0..3; +100000; a write 1..3", RECOVERY, 0, 0, 0},
};

static const measure cnps[] = {
    {.name = "from the first CE",
     "b ack 99; a write 0 ce; a write 1 ce; +8; b cnp", DELAY, 1, 10, 10},
    {.name = "what was answered is answered",
     "b ack 99; a write 0 ce; b cnp; b cnp", DELAY, 1, 1, 1},
    {.name = "as late as 200 us",
     "b ack 99; a write 0 ce; +199; b cnp", DELAY, 1, 200, 200},
    {.name = "and no later", "b ack 99; a write 0 ce; +200; b cnp", DELAY, 0, 0, 0},
    {.name = "no CE", "b ack 99; a write 0; b cnp", DELAY, 0, 0, 0},
    {.name = "the stamps step back",
     "t=100; b ack 99; a write 0 ce; t=50; b cnp", DELAY, 0, 0, 0},
    {.name = "unpaired, delay", "a write 0 ce; b cnp", DELAY, 0, 0, 0,
     .pairs = SCENARIO_PAIRS_UNKNOWN},
    {.name = "a switch's CNP", "a write 0 ce; b ack 0; +5; x cnp", DELAY, 1, 7, 7},
    {.name = "from CNP to CNP",
     "a write 0 ce; b ack 0; b cnp; +49; b cnp; +4; b cnp", INTERVAL, 2, 5, 50},
    {.name = "one CNP has no interval",
     "a write 0 ce; b ack 0; b cnp", INTERVAL, 0, 0, 0},
    {.name = "a switch's CNP counts",
     "a write 0 ce; b ack 0; b cnp; +5; x cnp", INTERVAL, 1, 6, 6},
    {.name = "unpaired, interval", "a write 0 ce; b cnp; b cnp", INTERVAL, 0, 0, 0,
     .pairs = SCENARIO_PAIRS_UNKNOWN},
    {.name = "intervals when the stamps step back",
     "t=100; a write 0; b ack 0; b cnp; t=50; b cnp; +9; b cnp", INTERVAL, 1, 10, 10},
};
/* clang-format on */

static void
check_measure(const measure *row)
{
    static char why[16384];
    const scenario play = {.name = row->name,
                           .script = row->script,
                           .ident = row->ident,
                           .pairs = row->pairs};
    scenario_outcome out;
    check_row(row->name);
    scenario_play(&play, &out);
    if (scenario_judge(&play, &out, why, sizeof why) > 0) {
        check_fail(__FILE__, __LINE__);
        fprintf(stderr, "\n%s", why);
    }
    const roce_stream *s = scenario_stream(&out, row->stream);
    const roce_histogram *h = s != NULL ? roce_stream_latency(s, row->latency) : NULL;
    CHECK_INT(h != NULL ? h->count : 0, row->count);
    if (h != NULL) {
        CHECK_INT(h->min_ns, row->min_us * 1000);
        CHECK_INT(h->max_ns, row->max_us * 1000);
    }
    scenario_outcome_clear(&out);
    CHECK_INT(out.n_live, 0);
    check_row(NULL);
}

#define CHECK_ROWS(rows)                                                               \
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows)[0]; i++) {                      \
        check_measure(&(rows)[i]);                                                     \
    }

/* A pairing that acknowledgements contradict takes its samples along. */
static void
check_wrong_pairing(void)
{
    const scenario play = {.name = "a wrong pairing",
                           .script = "a write 0; b ack 0; b ack 900000..900003",
                           .pairs = SCENARIO_PAIRS_UNKNOWN};
    scenario_outcome out;
    check_row(play.name);
    scenario_play(&play, &out);
    const roce_stream *s = scenario_stream(&out, "A");
    CHECK_INT(s->paired_by, ROCE_PAIRING_NONE);
    CHECK(roce_stream_latency(s, ROCE_LATENCY_ACK) == NULL);
    scenario_outcome_clear(&out);
    check_row(NULL);
}

static uint64_t
placed_samples(const roce_stream *s, roce_latency latency)
{
    const roce_histogram *h = roce_stream_latency(s, latency);
    return h != NULL ? h->count - h->unplaced : 0;
}

/* A sample that there is no memory for is counted: four are taken here, and for each of
 * the two latencies the histogram and its buckets are allocated, and before them what
 * points to histograms. */
static void
check_lack_of_memory(void)
{
    unsigned n_failed = 0;
    check_row("memory fails");
    for (uint64_t at = 5; at < 31; at++) { /* the tracker itself takes four */
        const scenario play = {.name = "memory fails",
                               .script = "a write 0; b ack 0; a write 1; +9; b ack 1",
                               .fail_at = at};
        scenario_outcome out;
        scenario_play(&play, &out);
        uint64_t lost =
            roce_tracker_totals_get(out.tracker)->evicted[ROCE_TABLE_LATENCIES];
        if (lost > 0) {
            const roce_stream *s = scenario_stream(&out, "A");
            CHECK_INT(placed_samples(s, ROCE_LATENCY_ACK) +
                          placed_samples(s, ROCE_LATENCY_MESSAGE_COMPLETION) + lost,
                      4);
            n_failed++;
        }
        scenario_outcome_clear(&out);
        CHECK_INT(out.n_live, 0);
    }
    CHECK_INT(n_failed, 5);
    check_row(NULL);
}

#define MANY 300

/* Requests that are answered after 1, 2, 3 us and so on: so many buckets of two
 * latencies. */
static void
write_many(char *script, size_t size)
{
    size_t n = 0;
    for (unsigned i = 0; i < MANY; i++) {
        int added =
            snprintf(script + n, size - n, "a write %u; +%u; b ack %u; ", i, i + 1, i);
        CHECK(added > 0 && (size_t)added < size - n);
        n += (size_t)added;
    }
}

/* All distributions share one room: where there is too little of it, they become coarser,
 * and no more than need be. */
static void
check_room(void)
{
    static const struct {
        uint32_t room, most, least;
    } rows[] = {
        {0, ROCE_HISTOGRAM_BUCKETS, 257},
        {768, 512, 257}, /* two of 512, of which 384 count */
        {767, 256, 129},
        {256, 256, 129},
        {255, 128, 64},
        {1, 128, 64}, /* nobody is held to fewer */
    };
    static char script[MANY * 40];
    write_many(script, sizeof script);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const scenario play = {.name = "room for distributions",
                               .script = script,
                               .histogram_room_buckets = rows[i].room};
        scenario_outcome out;
        check_row(play.name);
        scenario_play(&play, &out);
        const roce_stream *s = scenario_stream(&out, "A");
        const roce_histogram *h = roce_stream_latency(s, ROCE_LATENCY_ACK);
        CHECK(h->n <= rows[i].most && h->n >= rows[i].least);
        CHECK(h->capacity <= rows[i].most);
        CHECK_INT(h->count, MANY);
        CHECK_INT(h->unplaced, 0);
        scenario_outcome_clear(&out);
        CHECK_INT(out.n_live, 0);
    }
    check_row(NULL);
}

int
main(void)
{
    CHECK_ROWS(acks);
    CHECK_ROWS(messages);
    CHECK_ROWS(reads);
    CHECK_ROWS(naks);
    CHECK_ROWS(recoveries);
    CHECK_ROWS(cnps);
    check_wrong_pairing();
    check_lack_of_memory();
    check_room();
    return check_status();
}
