/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Overlay networks: the same addresses and QPNs in two of them are strangers. */
#include "scenario.h"

/* clang-format off */
static const scenario apart[] = {
    {.name = "the same queue pairs in two networks, and in none",
     .script = "a write 0..3 vni=1; a write 0..4 vni=2; a write 0..5",
     .want = "A%1: packets=4 A%2: packets=5 A: packets=6"},
    {.name = "a gap in one is none in the other",
     .script = "a write 0..1 vni=1; a write 0..3 vni=2; a write 2..3 vni=1",
     .want = "A%1: packets=4 A%2: packets=4"},
    {.name = "UD by its source, too",
     .script = "a ud.send 0 vni=1; a ud.send 0 vni=2", .want = "A%1: packets=1 A%2: packets=1"},
    {.name = "network 0 is one, too",
     .script = "a write 0..3 vni=0; a write 0..3", .want = "A%0: packets=4 A: packets=4"},
};

static const scenario pairs[] = {
    {.name = "an ACK pairs inside its network",
     .script = "a write 1000..1003 vni=1; b ack 1003 vni=1", .pairs = SCENARIO_PAIRS_UNKNOWN,
     .want = "A%1: paired=psn B%1: paired=psn"},
    {.name = "an ACK of another network pairs nobody",
     .script = "a write 1000..1003 vni=1; b ack 1003 vni=2", .pairs = SCENARIO_PAIRS_UNKNOWN,
     .want = "A%1: paired=none B%2: paired=none T: unattributed_acks=1",
     .events = "no connected"},
    {.name = "equal PSNs in two networks are not ambiguous",
     .script = "a write 1000..1003 vni=1; a write 1000..1003 vni=2; b ack 1003 vni=1; "
               "b ack 1003 vni=2",
     .pairs = SCENARIO_PAIRS_UNKNOWN,
     .want = "A%1: paired=psn B%1: paired=psn A%2: paired=psn B%2: paired=psn"},
    {.name = "the user's pairs hold in every network",
     .script = "a write 0..3 vni=1; b ack 3 vni=1; a write 0..3; b ack 3",
     .want = "A%1: paired=user B%1: paired=user A: paired=user B: paired=user"},
    {.name = "CM inside one network",
     .script = "a cm.req comm=1 qpn=0x100 psn=500 vni=1; "
               "b cm.rep comm=2 rcomm=1 qpn=0x200 psn=600 vni=1; "
               "a write 500 vni=1; b write 600 vni=1; a write 500 vni=2; b write 600 vni=2",
     .pairs = SCENARIO_PAIRS_UNKNOWN,
     .want = "A%1: paired=cm B%1: paired=cm A%2: paired=none B%2: paired=none"},
    {.name = "a reply of another network answers nobody",
     .script = "a cm.req comm=1 qpn=0x100 psn=500 vni=1; "
               "b cm.rep comm=2 rcomm=1 qpn=0x200 psn=600 vni=2; "
               "a write 500 vni=1; b write 600 vni=1",
     .pairs = SCENARIO_PAIRS_UNKNOWN, .want = "A%1: paired=none B%1: paired=none"},
    {.name = "a CNP sent by a switch of the network",
     .script = "a write 0 ce vni=1; b ack 0 vni=1; x cnp vni=1",
     .want = "A%1: ce=1 episodes=1 cnps=1 X%1: cnps_sent=1"},
    {.name = "a CNP sent by a switch of another",
     .script = "a write 0 ce vni=1; b ack 0 vni=1; x cnp vni=2",
     .want = "A%1: ce=1 episodes=1 X%2: cnps_sent=1 T: unattributed_cnps=1"},
};

static const scenario ecn[] = {
    {.name = "no tunnel", .script = "a write 0 ce; b ack 0",
     .want = "A: ce=1 episodes=1 ecn_source=ip B: ecn_source=ip"},
    {.name = "a mark inside an overlay",
     .script = "a write 0 vni=1; a write 1 ce vni=1; b ack 1 vni=1",
     .want = "A%1: ce=1 ect0=1 transitions=1 episodes=1 ecn_source=inner"},
    {.name = "a mark on the underlay",
     .script = "a write 0 vni=1; a write 1 vni=1 around=3; a write 2 vni=1; b ack 2 vni=1",
     .want = "A%1: ce=1 ect0=2 transitions=2 episodes=1 ecn_source=outer B%1: ecn_source=inner"},
    {.name = "a mark on the underlay around Not-ECT is none",
     .script = "a write 0 notect vni=1 around=3; b ack 0 vni=1",
     .want = "A%1: notect=1 ecn_source=inner"},
    {.name = "a mark on the underlay of what carries no data",
     .script = "a write 0 vni=1; b ack 0 vni=1 around=3",
     .want = "B%1: control.ce=1 ecn_source=outer"},
    {.name = "a CNP marked on the underlay",
     .script = "b ack 9 vni=1; a write 0 ce vni=1; b cnp vni=1 around=3; b ack 0 vni=1",
     .want = "A%1: ce=1 episodes=1 cnps=1 B%1: control.ce=1 cnps_sent=1 ecn_source=outer"},
};
/* clang-format on */

int
main(void)
{
    SCENARIO_CHECK(apart);
    SCENARIO_CHECK(pairs);
    SCENARIO_CHECK(ecn);
    return check_status();
}
