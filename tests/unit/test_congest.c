/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ECN transitions, CE episodes, and whose data a CNP complains of. */
#include "scenario.h"

/* clang-format off */
static const scenario ecn[] = {
    {.name = "no transition", .script = "a write 0..9; b ack 9",
     .want = "A: ect0=10 B: control.ect0=1"},
    {.name = "the first packet is no transition",
     .script = "a write 0 ce; b ack 0", .want = "A: ce=1 episodes=1"},
    {.name = "there and back again",
     .script = "a write 0; a write 1 ce; a write 2; b ack 2",
     .want = "A: ce=1 ect0=2 transitions=2 episodes=1",
     .events = "ecn_transition A frame=2 detail=11; "
               "ecn_transition A frame=3 detail=14"},
    {.name = "every codepoint counts",
     .script = "a write 0 notect; a write 1 ect1; a write 2 ect0; a write 3 ce",
     .want = "A: notect=1 ect1=1 ect0=1 ce=1 transitions=3 episodes=1"},
    {.name = "requests without payload and ACKs have a marking of their own",
     .script = "a read 0 ce; b resp 0; a write 1; b ack 1 ce",
     .want = "A: ce=0 ect0=1 control.ce=1 B: ce=0 control.ce=1"},
    {.name = "response data is data",
     .script = "a read 0 len=128; b resp 0 ce; a read 1 len=128; b resp 1",
     .want = "B: ce=1 ect0=1 transitions=1 episodes=1"},
    {.name = "a response without payload is none",
     .script = "a flush 0; b resp 0 len=0 ce", .want = "B: control.ce=1"},
    {.name = "requests and responses of one stream stand in one row",
     .script = "a read 0; b resp 0; b write 100 ce; a ack 100",
     .want = "B: ce=1 ect0=1 transitions=1 episodes=1"},
    {.name = "streams apart",
     .script = "a write 0; a2 write 0 ce; a write 1; a2 write 1 ce; b ack 1; b2 ack 1",
     .want = "A: ect0=2 A2: ce=2 episodes=1"},
    {.name = "a packet with a bad ICRC has no say",
     .script = "a write 0; a write 1 ce bad; a write 1; b ack 1",
     .want = "A: ect0=2 bad=1 gaps=* again=*"},
    {.name = "a cut packet has",
     .script = "a write 0 weak; a write 1 ce weak; b ack 1",
     .want = "A: ce=1 transitions=1 episodes=1"},
    {.name = "UD data is data", .script = "a ud.send 0 ce",
     .want = "A: ce=1 episodes=1"},
    {.name = "one direction only", .script = "a write 0..3 ce",
     .want = "A: ce=4 episodes=1"},
};

static const scenario episodes[] = {
    {.name = "an episode goes on up to the interval",
     .script = "a write 0 ce; +999; a write 1 ce", .want = "A: ce=2 episodes=1",
     .events = "ce_episode A n=2 us=1000 rel=1"},
    {.name = "an episode ends beyond the interval",
     .script = "a write 0 ce; +1000; a write 1 ce", .want = "A: ce=2 episodes=2",
     .events = "ce_episode A n=1 us=0 rel=1; ce_episode A n=1 us=0 rel=2"},
    {.name = "unmarked packets within it do not end it",
     .script = "a write 0 ce; a write 1..9; a write 10 ce",
     .want = "A: ce=2 episodes=1 transitions=2",
     .events = "ce_episode A n=2 us=10"},
    {.name = "an interval of one's own",
     .script = "a write 0 ce; +100; a write 1 ce", .ce_episode_pause_us = 50,
     .want = "A: ce=2 episodes=2"},
    {.name = "the clock steps back in an episode",
     .script = "t=5000; a write 0 ce; t=1000; a write 1 ce; t=1500; a write 2 ce",
     .want = "A: ce=3 episodes=1", .events = "ce_episode A n=3"},
    {.name = "no CE, no episode", .script = "a write 0..9", .want = "",
     .events = "no ce_episode"},
};

/* Ten marks, and 150 us later their CNP: n is the tens digit of the PSNs. */
#define MARKS(n) "a write " #n "0.." #n "9 ce; +139; b cnp; "
#define PACED                                                                          \
    "b ack 9; " MARKS(1) MARKS(2) MARKS(3) MARKS(4) MARKS(5) MARKS(6) MARKS(7) MARKS(8)   \
        MARKS(9) MARKS(10)

static const scenario pacing[] = {
    {.name = "a mark waits for twice the pacing interval if that is long",
     .script = PACED "a write 110 ce; +299; b cnp; b ack 110",
     .want = "A: ce=101 cnps=11 episodes=1 answered=101 B: cnps_sent=11",
     .events = "cnp A frame=113 rel=112"},
    {.name = "and no longer", .script = PACED "a write 110 ce; +300; b cnp; b ack 110",
     .want = "A: ce=101 cnps=11 episodes=1 answered=100 paced=1 B: cnps_sent=11",
     .events = "cnp A frame=113 rel=0"},
    {.name = "a mark that waits in vain behind a CNP is paced",
     .script = PACED "a write 110 ce; +1000; b ack 110",
     .want = "A: ce=101 cnps=10 episodes=1 answered=100 paced=1 B: cnps_sent=10"},
    {.name = "not so one that comes an interval later",
     .script = PACED "+150; a write 110 ce; +1000; b ack 110",
     .want = "A: ce=101 cnps=10 episodes=1 answered=100 unanswered=1 B: cnps_sent=10"},
};

static const scenario cnps[] = {
    {.name = "a CNP belongs to the stream whose data was marked",
     .script = "b ack 99; a write 0..3 ce; b cnp; b ack 3",
     .want = "A: ce=4 episodes=1 cnps=1 B: cnps_sent=1",
     .events = "cnp A frame=6 rel=2"},
    {.name = "the second CNP answers what was marked since the first",
     .script = "b ack 99; a write 0..3 ce; b cnp; a write 4 ce; b cnp; b ack 4",
     .want = "A: ce=5 episodes=1 cnps=2 B: cnps_sent=2",
     .events = "cnp A rel=2; cnp A rel=7"},
    {.name = "a CNP without a CE that it answers",
     .script = "b ack 99; a write 0..3; b cnp; b ack 3",
     .want = "A: cnps=1 B: cnps_sent=1",
     .events = "cnp A rel=0"},
    {.name = "a CNP whose QP no data was seen for",
     .script = "b cnp",
     .want = "B: cnps_sent=1 transport=cnp T: unattributed_cnps=1 cnp=1"},
    {.name = "a CNP of an unpaired stream",
     .script = "a write 0..3 ce; b cnp; b ack 500", .pairs = SCENARIO_PAIRS_UNKNOWN,
     .want = "A: ce=4 episodes=1 paired=none B: cnps_sent=1 T: unattributed_cnps=1 "
               "unattributed_acks=1"},
    {.name = "a CNP seen before its stream was paired is booked once",
     .script = "a write 0..3 ce; b cnp; b ack 3", .pairs = SCENARIO_PAIRS_UNKNOWN,
     .want = "A: ce=4 episodes=1 cnps=1 paired=psn B: cnps_sent=1 transport=rc"},
    {.name = "a CNP moves no PSN",
     .script = "a write 100..103; b cnp 0; b write 200; b cnp 0; b write 201; "
               "b ack 103; a ack 201",
     .want = "A: cnps=2 B: unique=2 cnps_sent=2"},
    {.name = "a CNP sent by a switch",
     .script = "a write 0..3 ce; b ack 3; x cnp", .want =
     "A: ce=4 episodes=1 cnps=1 X: cnps_sent=1", .events = "cnp A frame=6 rel=1"},
    {.name = "many CNPs sent by a switch: all of them",
     .script = "a write 0..3 ce; b ack 3; x cnp 0..19",
     .want = "A: ce=4 episodes=1 cnps=20 X: cnps_sent=20"},
    {.name = "a CNP sent by a switch for nobody that is known",
     .script = "a write 0..3 ce; b ack 3; x cnp dqpn=0x999",
     .want = "A: ce=4 episodes=1 T: unattributed_cnps=1 X153: cnps_sent=1"},
    {.name = "a CNP sent by a switch, the pair unknown",
     .script = "a write 0..3 ce; x cnp", .pairs = SCENARIO_PAIRS_UNKNOWN,
     .want = "A: ce=4 episodes=1 X: cnps_sent=1 T: unattributed_cnps=1"},
    {.name = "a CNP sent by a switch, seen at another point than the data",
     .script = "a write 0..3 ce; b ack 3; x cnp point=1",
     .want = "A: ce=4 episodes=1 X@1: cnps_sent=1 T: unattributed_cnps=1"},
    {.name = "a CNP from another source port",
     .script = "b ack 99; a write 0..3 ce; b cnp port=0; b ack 3",
     .want = "A: ce=4 episodes=1 cnps=1 B: cnps_sent=1"},
    {.name = "a CNP with an ICRC of its own counts all the same",
     .script = "b ack 99; a write 0..3 ce; b cnp bad; b ack 3",
     .want = "A: ce=4 episodes=1 cnps=1 B: cnps_sent=1 cnp_bad=1 bad=0 T: icrc_bad=0"},
    {.name = "a CNP itself marked CE is no marked data",
     .script = "b ack 99; a write 0..3; b cnp ce; b ack 3",
     .want = "A: cnps=1 B: cnps_sent=1 control.ce=1"},
    {.name = "the CNPs of two queue pairs apart",
     .script = "a write 0 ce; b ack 0; a2 write 0 ce; b2 ack 0; b cnp; b2 cnp; b2 cnp",
     .want = "A: ce=1 episodes=1 cnps=1 A2: ce=1 episodes=1 cnps=2 B: cnps_sent=1 B2: "
               "cnps_sent=2"},
    {.name = "an old CE is not what a CNP answers",
     .script = "b ack 99; a write 0 ce; +1000000; a write 1; b cnp; b ack 1",
     .want = "A: ce=1 episodes=1 transitions=1 cnps=1 unanswered=1 B: cnps_sent=1",
     .events = "cnp A rel=0"},
    {.name = "a newer CE is, when nobody waits for the old one any more",
     .script = "b ack 99; a write 0 ce; +200000; a write 1 ce; b cnp; b ack 1",
     .want = "A: ce=2 episodes=2 cnps=1 unanswered=1 answered=1 B: cnps_sent=1",
     .events = "cnp A rel=3"},
    {.name = "the last CE that waits together with the first",
     .script = "b ack 99; a write 0 ce; +199; a write 1 ce; b cnp; b ack 1",
     .want = "A: ce=2 episodes=1 cnps=1 unanswered=2 B: cnps_sent=1",
     .events = "cnp A rel=0"},
    {.name = "and one microsecond sooner",
     .script = "b ack 99; a write 0 ce; +198; a write 1 ce; b cnp; b ack 1",
     .want = "A: ce=2 episodes=1 cnps=1 answered=2 B: cnps_sent=1",
     .events = "cnp A rel=2"},
    {.name = "a CE that the capture does not outlive",
     .script = "b ack 99; a write 0 ce; +198; b ack 0",
     .want = "A: ce=1 episodes=1 open=1"},
    {.name = "a CE that it does",
     .script = "b ack 99; a write 0 ce; +200; b ack 0",
     .want = "A: ce=1 episodes=1 unanswered=1"},
    {.name = "a CE of no pair",
     .script = "a write 0 ce; +300; a write 1", .pairs = SCENARIO_PAIRS_UNKNOWN,
     .want = "A: ce=1 episodes=1 transitions=1 open=1 paired=none"},
};
/* clang-format on */

/* What is kept of an episode: from the first mark to the last, and the data there. */
static void
check_episode(void)
{
    const scenario row = {
        .name = "what is kept of an episode",
        .script = "a write 0; a write 1 ce; a write 2..4; a write 5 ce; a write 6..9",
    };
    scenario_outcome out;
    scenario_play(&row, &out);
    check_row(row.name);
    const roce_stream *s = scenario_stream(&out, "A");
    const roce_stream_congestion *c = roce_stream_congestion_of(s);
    if (CHECK_INT(c->n_episodes_kept, 1)) {
        const roce_ce_episode *e = &c->episodes[0];
        CHECK_INT(e->marked, 2);
        CHECK_INT(e->data_packets, 5);
        CHECK_INT(e->first_frame, 2);
        CHECK_INT(e->start_ns - out.first_ns, 1000);
        CHECK_INT(e->end_ns - out.first_ns, 5000);
    }
    scenario_outcome_clear(&out);
    check_row(NULL);
}

int
main(void)
{
    SCENARIO_CHECK(ecn);
    SCENARIO_CHECK(episodes);
    SCENARIO_CHECK(cnps);
    SCENARIO_CHECK(pacing);
    check_episode();
    return check_status();
}
