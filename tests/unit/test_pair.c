/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which streams are the directions of one queue pair: by the user, by CM, by PSNs. */
#include "scenario.h"

/* Each side names the PSN that it will receive first: a begins with 500, b with 600. */
#define CM_SETUP                                                                       \
    "a cm.req comm=1 qpn=0x100 psn=600; b cm.rep comm=2 rcomm=1 qpn=0x200 psn=500;"    \
    "a cm.rtu comm=1 rcomm=2; "

/* clang-format off */
static const scenario by_psn[] = {
    {.name = "an ACK carries a PSN that was just sent",
     .script = "a write 1000..1003; b ack 1003", .pairs = SCENARIO_PAIRS_UNKNOWN,
     .want = "A: paired=psn has_src_qpn=yes src_qpn=0x100 B: paired=psn src_qpn=0x200",
     .events = "connected detail=psn"},
    {.name = "an ACK that covers several",
     .script = "a write 1000..1003; b ack 1001", .pairs = SCENARIO_PAIRS_UNKNOWN,
     .want = "A: paired=psn B: paired=psn"},
    {.name = "an ACK for what nobody sent",
     .script = "a write 1000..1003; b ack 1004", .pairs = SCENARIO_PAIRS_UNKNOWN,
     .want = "A: paired=none has_src_qpn=no B: paired=none T: unattributed_acks=1",
     .events = "no connected"},
    {.name = "one direction only",
     .script = "a write 1000..1003", .pairs = SCENARIO_PAIRS_UNKNOWN,
     .want = "A: paired=none"},
    {.name = "by a response",
     .script = "a read 1000; b resp 1000", .pairs = SCENARIO_PAIRS_UNKNOWN,
     .want = "A: paired=psn B: paired=psn r.unique=1"},
    {.name = "not by a response to what is no READ",
     .script = "a write 1000; b resp 1000", .pairs = SCENARIO_PAIRS_UNKNOWN,
     .want = "A: paired=none B: paired=none", .events = "no connected"},
    {.name = "nor by one that has not the PSN of its READ, but that of another request",
     .script = "a read 1001 len=1024; b resp.middle 1001 len=1024",
     .pairs = SCENARIO_PAIRS_UNKNOWN,
     .want = "A: paired=none B: paired=none", .events = "no connected"},
    {.name = "by a NAK for a PSN that was seen",
     .script = "a write 1000..1003; b nak 1002; a write 1002..1003; b ack 1003",
     .pairs = SCENARIO_PAIRS_UNKNOWN,
     .want = "A: paired=psn naks=1 again=2 repeats=2 rounds=1 by_nak=1 undelivered=1"},
    {.name = "by a NAK for a PSN that was not seen, behind one that was",
     .script = "a write 1000..1003; a write 1004 drop; a write 1005; b nak 1004; "
               "a write 1004..1005;"
               "b ack 1005",
     .pairs = SCENARIO_PAIRS_UNKNOWN,
     .want = "A: paired=psn naks=1 gaps=1 missing=1 again=2 repeats=1 rounds=1 "
               "by_nak=1 lost_before=1"},
    {.name = "IPv6", .script = "a write 1000..1003; b ack 1003",
     .pairs = SCENARIO_PAIRS_UNKNOWN,
     .ident = SCENARIO_IDENT_IPV6, .want = "A: paired=psn B: paired=psn"},
    {.name = "duplex, both directions at the same PSNs",
     .script = "a write 0..3; b write 0..3; b ack 3; a ack 3",
     .pairs = SCENARIO_PAIRS_UNKNOWN,
     .want = "A: paired=psn unique=4 B: paired=psn unique=4"},
    {.name = "ambiguous: two queue pairs at the same PSN stay unpaired",
     .script = "a write 1000; a2 write 1000; b ack 1000; b2 ack 1000",
     .pairs = SCENARIO_PAIRS_UNKNOWN,
     .want = "A: paired=none A2: paired=none B: paired=none B2: paired=none T: "
               "unattributed_acks=2",
     .events = "no connected"},
    {.name = "ambiguous, but the source ports agree",
     .script = "a write 1000 port=0xc008; a2 write 1000 port=0xc60c; "
               "b ack 1000 port=0xc008; b2 ack 1000 port=0xc60c",
     .pairs = SCENARIO_PAIRS_UNKNOWN,
     .want = "A: paired=psn A2: paired=psn B: paired=psn B2: paired=psn"},
    {.name = "ambiguous: ports of one direction alone prove nothing",
     .script = "a write 1000 port=0xc008; a2 write 1000 port=0xc60c; "
               "b ack 1000 port=0xc009; b2 ack 1000 port=0xc60d",
     .pairs = SCENARIO_PAIRS_UNKNOWN,
     .want = "A: paired=none A2: paired=none T: unattributed_acks=2"},
    {.name = "ambiguous: equal ports that are not made of the QPNs prove nothing",
     .script = "a write 1000 port=0xc111; a2 write 1000 port=0xc222; "
               "b ack 1000 port=0xc111; b2 ack 1000 port=0xc222",
     .pairs = SCENARIO_PAIRS_UNKNOWN,
     .want = "A: paired=none A2: paired=none T: unattributed_acks=2"},
    {.name = "ambiguous: the ports agree, the PSN was not sent yet",
     .script = "a write 1000 port=0xc008; a2 write 1000 port=0xc60c; "
               "b ack 1001 port=0xc008",
     .pairs = SCENARIO_PAIRS_UNKNOWN,
     .want = "A: paired=none A2: paired=none T: unattributed_acks=1"},
    {.name = "the ports agree, and the PSN was sent before the capture began",
     .script = "a write 1000 port=0xc008; a2 write 1000 port=0xc60c; "
               "b ack 999 port=0xc008; b2 ack 990 port=0xc60c",
     .pairs = SCENARIO_PAIRS_UNKNOWN,
     .want = "A: paired=psn ports_agree=yes A2: paired=psn B2: paired=psn"},
    {.name = "the ports agree, and another one has sent that PSN since",
     .script = "a write 1000..1003 port=0xc008; a2 write 1004 port=0xc60c; "
               "b2 ack 1003 port=0xc60c; b ack 1003 port=0xc008",
     .pairs = SCENARIO_PAIRS_UNKNOWN,
     .want = "A: paired=psn A2: paired=psn"},
    {.name = "another one has sent that PSN, but has not that port",
     .script = "a write 1000..1003 port=0xc111; a2 write 1004 port=0xc222; +6000; "
               "b2 ack 1003 port=0xc222; a2 write 1005 port=0xc222; "
               "b2 ack 1005 port=0xc222",
     .pairs = SCENARIO_PAIRS_UNKNOWN,
     .want = "A: paired=none A2: paired=psn B2: paired=psn"},
    {.name = "ports say so for long, and all PSNs another thing",
     .script = "a write 1000..1003 port=0xc111; a2 write 1004 port=0xc222; +6000; "
               "a write 1004..1040 port=0xc111; b2 ack 1004..1040 port=0xc222",
     .pairs = SCENARIO_PAIRS_UNKNOWN,
     .want = "A: paired=psn A2: paired=none B2: paired=psn T: unattributed_acks=*"},
    {.name = "a capture has just begun: another one may have sent that PSN before",
     .script = "a write 1000..1003 port=0xc111; a2 write 1010 port=0xc222; "
               "b ack 1003 port=0xc333",
     .pairs = SCENARIO_PAIRS_UNKNOWN,
     .want = "A: paired=none A2: paired=none T: unattributed_acks=1"},
    {.name = "it began long ago",
     .script = "a write 1000..1003 port=0xc111; a2 write 1010 port=0xc222; +6000; "
               "a write 1004 port=0xc111; b ack 1004 port=0xc333",
     .pairs = SCENARIO_PAIRS_UNKNOWN, .want = "A: paired=psn A2: paired=none"},
    {.name = "it has just begun, and the others are far",
     .script = "a write 1000..1003 port=0xc111; a2 write 9000 port=0xc222; "
               "b ack 1003 port=0xc333",
     .pairs = SCENARIO_PAIRS_UNKNOWN, .want = "A: paired=psn A2: paired=none"},
    {.name = "it has just begun, and the one that may have comes afterwards",
     .script = "a write 1000..1003 port=0xc111; b ack 1003 port=0xc333; "
               "a2 write 1010 port=0xc222; b ack 1010 port=0xc333",
     .pairs = SCENARIO_PAIRS_UNKNOWN,
     .want = "A: paired=none A2: paired=psn B: paired=psn",
     .events = "connected A; disconnected; connected A2"},
    {.name = "it comes afterwards, and all have one port",
     .script = "all port=0xc111; a write 1000..1003; b ack 1003; a2 write 1010; b ack 1010",
     .pairs = SCENARIO_PAIRS_UNKNOWN,
     .want = "A: paired=none A2: paired=psn B: paired=psn",
     .events = "connected A; disconnected; connected A2"},
    {.name = "ambiguous between three, of which one has been paired since",
     .script = "all port=0xc111; a write 1000; a2 write 1000; +6000; a2 write 1001; "
               "b2 ack 1001; a3 write 1000; b ack 1000",
     .pairs = SCENARIO_PAIRS_UNKNOWN,
     .want = "A: paired=none A2: paired=psn A3: paired=none B: paired=none "
               "T: unattributed_acks=1"},
    {.name = "what was sent while it was paired makes a PSN ambiguous when it no longer is",
     .script = "all port=0xc111; a write 1000..1003; b ack 1003; a write 1004; "
               "a2 write 1010; a3 write 1004; b ack 1004",
     .pairs = SCENARIO_PAIRS_UNKNOWN,
     .want = "A: paired=none A2: paired=none A3: paired=none B: paired=none "
               "T: unattributed_acks=2"},
    {.name = "it comes afterwards, and its ports say that it belongs to another",
     .script = "a write 1000..1003 port=0xc111; b ack 1003 port=0xc111; "
               "a2 write 1010 port=0xc222; b2 ack 1010 port=0xc222",
     .pairs = SCENARIO_PAIRS_UNKNOWN, .want = "A: paired=psn A2: paired=psn"},
    {.name = "it comes afterwards, and has the ports",
     .script = "a write 1000..1003 port=0xc111; b2 ack 1003 port=0xc60c; +6000; "
               "a2 write 1004 port=0xc60c; b2 ack 1004 port=0xc60c",
     .pairs = SCENARIO_PAIRS_UNKNOWN,
     .want = "A: paired=none A2: paired=psn ports_agree=yes B2: paired=psn"},
    {.name = "ambiguous: what they carry is nobody's",
     .script = "a write 1000..1009; a2 write 1000..1009; b nak 1005; b2 rnr 1005; "
               "b cnp",
     .pairs = SCENARIO_PAIRS_UNKNOWN,
     .want = "A: naks=0 A2: rnrs=0 B: naks_sent=1 cnps_sent=1 B2: rnrs_sent=1"
             " T: unattributed_naks=1 unattributed_rnr=1 unattributed_cnps=1"},
    {.name = "no longer ambiguous once the PSNs drift apart",
     .script = "a write 1000; a2 write 1000; b ack 1000; a write 1001..1005; "
               "b ack 1005;"
               "a2 write 1001..1002; b2 ack 1002",
     .pairs = SCENARIO_PAIRS_UNKNOWN, .want = "A: paired=psn A2: paired=psn"},
    {.name = "ambiguous: three at one PSN, one of them repeats it",
     .script = "a write 1000; a2 write 1000; a write 1000 copy; b ack 1000",
     .pairs = SCENARIO_PAIRS_UNKNOWN,
     .want = "A: paired=none duplicates=* repeats=1 again=* rounds=* by_unknown=* "
               "unknown=*"
             " B: paired=none T: unattributed_acks=1"},
    {.name = "ambiguous: the one that came second repeats it",
     .script = "a write 1000; a2 write 1000; a2 write 1000; b ack 1000",
     .pairs = SCENARIO_PAIRS_UNKNOWN,
     .want = "A: paired=none A2: paired=none again=1 repeats=1 rounds=1 by_unknown=1 "
               "unknown=1 B: paired=none T: unattributed_acks=1"},
    {.name = "not ambiguous: the other one is at another point",
     .script = "a write 1000; a write 1000 copy point=1; b ack 1000; "
               "b ack 1000 copy point=1",
     .pairs = SCENARIO_PAIRS_UNKNOWN,
     .want = "A: paired=psn B: paired=psn A@1: paired=psn B@1: paired=psn"},
    {.name = "a NAK before the pairing is the cause of the round that it asks for",
     .script = "a write 1000..1003; a2 write 1000..1003; b nak 1002; a write 1002..1004; "
               "b ack 1004",
     .pairs = SCENARIO_PAIRS_UNKNOWN,
     .want = "A: paired=psn naks=1 again=2 repeats=2 rounds=1 by_nak=1 undelivered=1",
     .events = "loss A psn=1002 rel=3 detail=verdict_unknown; loss_withdrawn A psn=1002; "
               "loss A psn=1002 rel=3 detail=undelivered"},
    {.name = "what may have been answered before they are paired stays unknown",
     .script = "a write 1000..1003; a2 write 1000..1003; b ack 1003; +100000; "
               "a write 1000..1003; a write 1004; b ack 1004",
     .pairs = SCENARIO_PAIRS_UNKNOWN,
     .want = "A: paired=psn again=4 repeats=4 rounds=1 by_timeout=1 unknown=1 "
             "data_or_ack_lost=0"},
    {.name = "and so does what the round repeats behind it, once they are",
     .script = "a write 1000..1003; a2 write 1000..1003; b ack 1003; +100000; a write 1000; "
               "b write 5000; a ack 5000; a write 1001..1003; a write 1004; b ack 1004",
     .pairs = SCENARIO_PAIRS_UNKNOWN,
     .want = "A: paired=psn again=4 repeats=4 rounds=1 by_timeout=1 unknown=1 "
             "data_or_ack_lost=0"},
    {.name = "likewise where responses had come",
     .script = "a read 1000; a2 read 1000; b resp 1000; +100000; a read 1000; "
               "a write 1001; b ack 1001",
     .pairs = SCENARIO_PAIRS_UNKNOWN,
     .want = "A: paired=psn again=1 repeats=1 rounds=1 by_timeout=1 unknown=1 "
             "data_or_ack_lost=0"},
    {.name = "where only what was before it was answered, the timeout tells",
     .script = "a write 1000..1003; a2 write 1000..1003; b ack 1002; +100000; "
               "a write 1003..1004; b ack 1004",
     .pairs = SCENARIO_PAIRS_UNKNOWN,
     .want = "A: paired=psn again=1 repeats=1 rounds=1 by_timeout=1 unknown=0 "
             "data_or_ack_lost=1"},
    {.name = "what they are paired in the midst of is told once",
     .script = "a write.first 1000; a write.middle 1001..1003; a write.last 1004; +100000; "
               "a write.first 1000; a write.middle 1001; b ack 1001; "
               "a write.middle 1002..1003; a write.last 1004; b ack 1004",
     .pairs = SCENARIO_PAIRS_UNKNOWN,
     .want = "A: paired=psn again=5 repeats=5 rounds=1 by_timeout=1 unknown=0 "
             "data_or_ack_lost=1",
     .events = "loss A psn=1000 detail=verdict_unknown; loss_withdrawn A psn=1000; "
               "loss A psn=1004"},
    {.name = "and of one that begins behind the pairing, before all that was seen",
     .script = "b write 5000; a write 1000 drop; a write 1001..1003; b nak 1000; a ack 5000; "
               "a write 1000..1003; b ack 1003",
     .pairs = SCENARIO_PAIRS_UNKNOWN,
     .want = "A: paired=psn naks=1 again=4 repeats=3 rounds=1 by_nak=1",
     .events = "nak psn=1000; connected; round A psn=1000 rel=5 detail=nak_sequence"},
    {.name = "nor if that has come before the NAK",
     .script = "b write 5000; a write 1001..1003; a write 1000; b nak 1000; a ack 5000; "
               "a write 1001..1003; b ack 1003",
     .pairs = SCENARIO_PAIRS_UNKNOWN,
     .want = "A: paired=psn naks=1 again=3 repeats=3 rounds=1 by_unknown=1 undelivered=*"},
    {.name = "so is an RNR NAK, whatever NAK follows in its wake",
     .script = "a send 1000..1003; a2 send 1000..1003; b rnr 1002; b nak 1002; +20; "
               "a send 1002..1004; b ack 1004",
     .pairs = SCENARIO_PAIRS_UNKNOWN,
     .want = "A: paired=psn naks=1 rnrs=1 again=2 repeats=2 rounds=1 by_rnr=1",
     .events = "loss A psn=1002 detail=verdict_unknown; loss_withdrawn A psn=1002; no loss A "
               "detail=undelivered"},
    {.name = "not of one from another PSN on",
     .script = "a write 1000..1003; a2 write 1000..1003; b nak 1002; a write 1001..1004; "
               "b ack 1004",
     .pairs = SCENARIO_PAIRS_UNKNOWN,
     .want = "A: paired=psn naks=1 again=3 repeats=3 rounds=1 by_unknown=1 unknown=1"},
    {.name = "nor of one that began before it",
     .script = "a write 1000..1003; a2 write 1000..1003; a write 1002..1003; b nak 1002; "
               "a write 1004; b ack 1004",
     .pairs = SCENARIO_PAIRS_UNKNOWN,
     .want = "A: paired=psn naks=1 again=2 repeats=2 rounds=1 by_unknown=1 unknown=1"},
    {.name = "nor of a second one, as the first has answered it",
     .script = "a write 1000..1003; a2 write 1000..1003; b nak 1002; a write 1002..1003; "
               "a write 1002..1004; b ack 1004",
     .pairs = SCENARIO_PAIRS_UNKNOWN,
     .want = "A: paired=psn naks=1 again=4 repeats=4 rounds=2 by_unknown=2 unknown=2"},
    {.name = "nor of one that comes too late for an answer",
     .script = "a write 1000..1003; a2 write 1000..1003; b nak 1002; +90000; "
               "a write 1002..1004; b ack 1004",
     .pairs = SCENARIO_PAIRS_UNKNOWN,
     .want = "A: paired=psn naks=1 again=2 repeats=2 rounds=1 by_unknown=1 unknown=1"},
    {.name = "what was carried before the pairing is booked",
     .script = "b nak 900; b cnp; a write 1000..1003; b ack 1003",
     .pairs = SCENARIO_PAIRS_UNKNOWN,
     .want = "A: paired=psn naks=1 cnps=1 B: naks_sent=1 cnps_sent=1"},
    {.name = "UC and UD are never paired",
     .script = "a uc.write 1000; b uc.write 1000; a2 ud.send 5; b2 ud.send 5",
     .pairs = SCENARIO_PAIRS_UNKNOWN, .want = "A: paired=none B: paired=none",
     .events = "no connected"},
    {.name = "an ACK for the PSN of a UC stream is not its",
     .script = "a uc.write 1000; b ack 1000", .pairs = SCENARIO_PAIRS_UNKNOWN,
     .want = "A: paired=none B: paired=none T: unattributed_acks=1",
     .events = "no connected"},
    {.name = "contradicted: four ACKs that fit nothing",
     .script = "a write 1000..1003; b ack 1003; b ack 500000..500003; a write 1004; "
               "b nak 500010",
     .pairs = SCENARIO_PAIRS_UNKNOWN,
     .want = "A: paired=none naks=0 has_src_qpn=no B: paired=none naks_sent=1 T: "
               "unattributed_acks=5"
             " unattributed_naks=1",
     .events = "connected; disconnected"},
    {.name = "contradicted: what was booked is taken back",
     .script = "a write 1000..1003; b ack 1003; a write 1004..1005 ce; b cnp; "
               "b nak 1004; b ack 500000..500003",
     .pairs = SCENARIO_PAIRS_UNKNOWN,
     .want = "A: paired=none naks=0 cnps=0 undelivered=1 ce=2 transitions=1 episodes=1 "
               "B: naks_sent=1 cnps_sent=1 T: unattributed_acks=5 unattributed_naks=1 "
               "unattributed_cnps=*",
     .events = "connected; disconnected"},
    {.name = "contradicted: three are not enough, then one agrees",
     .script = "a write 1000..1003; b ack 1003; b ack 500000..500002; a write 1004; "
               "b ack 1004;"
               "b ack 500000..500002",
     .pairs = SCENARIO_PAIRS_UNKNOWN, .want = "A: paired=psn",
     .events = "no disconnected"},
    {.name = "contradicted: READs asked again between two NAKs, and nobody who would answer",
     .script = "a read 1000..1007; b nak 1002; b nak 1006; b ack 500000..500003; "
               "a read 1004..1007",
     .pairs = SCENARIO_PAIRS_UNKNOWN,
     .want = "A: paired=none naks=0 again=4 repeats=4 rounds=1 by_nak=1 undelivered=1 B: naks_sent=2 "
               "T: unattributed_acks=* unattributed_naks=*",
     .events = "connected; disconnected; round A"},
    {.name = "contradicted: never what the user said",
     .script = "a write 1000..1003; b ack 1003; b ack 500000..500009",
     .want = "A: paired=user B: paired=user contradicted=yes"},
    {.name = "what the user said, contradicted three times: no more than an accident",
     .script = "a write 1000..1003; b ack 1003; b ack 500000..500002; b ack 1003",
     .want = "A: paired=user B: paired=user contradicted=no"},
    {.name = "contradicted: then paired anew with the right one",
     .script = "a write 1000..1003; b ack 1003; b ack 500000..500003; "
               "a2 write 500004; b ack 500004",
     .pairs = SCENARIO_PAIRS_UNKNOWN,
     .want = "A: paired=none A2: paired=psn B: paired=psn"},
    {.name = "succeeded: the peer was made anew with another number, and the PSNs of before",
     .script = "a write 1000..1009; b ack 1004; b nak 1005; a write 1005..1009; b ack 1009; "
               "+100000; a2 write 1000..1009; b ack 1004; b ack 1009; a2 write 1010..1012; "
               "b nak 1011; a2 write 1011..1012; b ack 1012",
     .pairs = SCENARIO_PAIRS_UNKNOWN,
     .want = "A: paired=none again=5 repeats=5 rounds=1 by_nak=1 undelivered=1 "
             "A2: paired=psn naks=1 again=2 repeats=2 rounds=1 by_nak=1 undelivered=1 "
             "B: paired=psn src_qpn=0x202 naks_sent=2",
     .events = "connected A; disconnected B; connected A2"},
    {.name = "succeeded: of READs alone",
     .script = "a read 1000..1003; b resp 1000..1003; +100000; a2 read 1000..1003; "
               "b resp 1000..1003; a2 read 1004; b resp 1004",
     .pairs = SCENARIO_PAIRS_UNKNOWN,
     .want = "A: paired=none A2: paired=psn B: paired=psn src_qpn=0x202 r.unique=* r.again=*",
     .events = "connected A; disconnected B; connected A2"},
    {.name = "not succeeded: by one that has answers of its own",
     .script = "a write 1000..1009; b ack 1009; +100000; a2 write 1000..1009; b2 ack 1004; "
               "b ack 1009; b ack 1009; b2 ack 1009; a write 1010; b ack 1010",
     .pairs = SCENARIO_PAIRS_UNKNOWN, .want = "A: paired=psn A2: paired=psn B2: paired=psn"},
    {.name = "not succeeded: some of it may still be answered",
     .script = "a write 1000..1009; b ack 1004; +100000; a2 write 1000..1009; b ack 1005..1009",
     .pairs = SCENARIO_PAIRS_UNKNOWN, .want = "A: paired=psn A2: paired=none"},
    {.name = "not succeeded: it has just been sent",
     .script = "a write 1000..1009; b ack 1009; a2 write 1000..1009; b ack 1005..1009",
     .pairs = SCENARIO_PAIRS_UNKNOWN, .want = "A: paired=psn A2: paired=none"},
    {.name = "not succeeded: the other one was there before",
     .script = "a2 write 900..902; a write 1000..1009; b ack 1009; +100000; a2 write 1000..1009; "
               "b ack 1005..1009",
     .pairs = SCENARIO_PAIRS_UNKNOWN,
     .want = "A: paired=psn A2: paired=none gaps=1 missing=* unknown=*"},
    {.name = "source ports as Linux chooses them raise trust",
     .script = "all port=0xc008; a write 1000..1003; b ack 1003",
     .pairs = SCENARIO_PAIRS_UNKNOWN,
     .want = "A: paired=psn ports_agree=yes B: ports_agree=yes"},
    {.name = "other source ports prove nothing",
     .script = "a write 1000..1003; b ack 1003", .pairs = SCENARIO_PAIRS_UNKNOWN,
     .want = "A: paired=psn ports_agree=no"},
    {.name = "the ICRC was cut", .script = "all weak; a write 1000..1003; b ack 1003",
     .pairs = SCENARIO_PAIRS_UNKNOWN, .want = "A: paired=psn"},
    {.name = "the AETH was cut: an ACK says nothing",
     .script = "a write 1000..1003; b ack 1003 cut", .pairs = SCENARIO_PAIRS_UNKNOWN,
     .want = "A: paired=none T: untracked=*"},
};

static const scenario by_cm[] = {
    {.name = "REQ, REP and RTU",
     .script = CM_SETUP "a write 500..503; b ack 503", .pairs = SCENARIO_PAIRS_UNKNOWN,
     .want = "A: paired=cm connection=0 src_qpn=0x100 B: paired=cm connection=0",
     .events = "cm; cm; cm; stream_start B; connected A detail=cm frame=8"},
    {.name = "found with the first packet of the active side's stream",
     .script = CM_SETUP "b write 600; a ack 600", .pairs = SCENARIO_PAIRS_UNKNOWN,
     .want = "A: paired=cm connection=0 B: paired=cm connection=0",
     .events = "stream_start A; connected A detail=cm frame=5"},
    {.name = "by CM: what a stream begins with was lost",
     .script = CM_SETUP "a write 500 drop; a write 501; b nak 500; a write 500..501; "
                        "b ack 501",
     .pairs = SCENARIO_PAIRS_UNKNOWN,
     .want = "A: paired=cm gaps=1 missing=1 lost_before=1 again=2 repeats=1 rounds=1 "
             "by_nak=1 naks=1 B: paired=cm"},
    {.name = "by CM: and nothing before it",
     .script = CM_SETUP "a write 500; b ack 500; b write 600; a ack 600",
     .pairs = SCENARIO_PAIRS_UNKNOWN, .want = "A: paired=cm B: paired=cm"},
    {.name = "by CM: who begins with the PSN that he has named himself has begun",
     .script = CM_SETUP "a write 600; b ack 600; b write 500; a ack 500",
     .pairs = SCENARIO_PAIRS_UNKNOWN, .want = "A: paired=cm B: paired=cm"},
    {.name = "by CM: the stream goes on far from there",
     .script = CM_SETUP "a write 900000; b ack 900000",
     .pairs = SCENARIO_PAIRS_UNKNOWN, .want = "A: paired=cm"},
    {.name = "CM decides what PSNs cannot",
     .script = CM_SETUP "a write 500; a2 write 500; b ack 500; b2 ack 500",
     .pairs = SCENARIO_PAIRS_UNKNOWN,
     .want = "A: paired=cm A2: paired=none B: paired=cm B2: paired=none T: "
               "unattributed_acks=1"},
    {.name = "REQ without REP: PSNs must do",
     .script = "a cm.req comm=1 qpn=0x100 psn=500; a write 500..503; b ack 503",
     .pairs = SCENARIO_PAIRS_UNKNOWN, .want = "A: paired=psn"},
    {.name = "REP without REQ: PSNs must do",
     .script = "b cm.rep comm=2 rcomm=1 qpn=0x200 psn=600; a write 500..503; b ack 503",
     .pairs = SCENARIO_PAIRS_UNKNOWN, .want = "A: paired=psn"},
    {.name = "REP that answers another REQ",
     .script = "a cm.req comm=1 qpn=0x100 psn=500; "
               "b cm.rep comm=2 rcomm=7 qpn=0x200 psn=600;"
               "a write 500..503; b ack 503",
     .pairs = SCENARIO_PAIRS_UNKNOWN, .want = "A: paired=psn"},
    {.name = "CM messages cut short: PSNs must do",
     .script = "a cm.req comm=1 qpn=0x100 psn=500 cut; "
               "b cm.rep comm=2 rcomm=1 qpn=0x200 cut;"
               "a write 500..503; b ack 503",
     .pairs = SCENARIO_PAIRS_UNKNOWN, .want = "A: paired=psn T: untracked=*"},
    {.name = "the exchange is seen after the data began",
     .script = "a write 500; " CM_SETUP "b ack 500", .pairs = SCENARIO_PAIRS_UNKNOWN,
     .want = "A: paired=cm B: paired=cm"},
    {.name = "paired by PSN first, then CM knows better",
     .script = "a write 500; b ack 500; " CM_SETUP "a write 501; b ack 501",
     .pairs = SCENARIO_PAIRS_UNKNOWN, .want = "A: paired=cm B: paired=cm"},
    {.name = "a wrong pairing by PSN is undone by CM",
     .script = "a write 500; b2 ack 500; " CM_SETUP "b ack 500; a write 501; b ack 501",
     .pairs = SCENARIO_PAIRS_UNKNOWN,
     .want = "A: paired=cm B: paired=cm B2: paired=none T: unattributed_acks=1",
     .events = "connected; disconnected; connected"},
    {.name = "a wrong pairing of the other side is undone by CM as well",
     .script = "a2 write 500; b ack 500; " CM_SETUP "a write 500; b ack 500",
     .pairs = SCENARIO_PAIRS_UNKNOWN,
     .want = "A: paired=cm B: paired=cm A2: paired=none",
     .events = "connected A2; disconnected; connected"},
    {.name = "CM contradicted by ACKs stays",
     .script = CM_SETUP "a write 500..503; b ack 503; b ack 500000..500009",
     .pairs = SCENARIO_PAIRS_UNKNOWN, .want = "A: paired=cm"},
    {.name = "CM's word counts more than the user's",
     .script = CM_SETUP "a write 500..503; b ack 503",
     .want = "A: paired=cm contradicted=no"},
    {.name = "the user's word first, and then CM's of others",
     .script = "a write 500; b ack 500; a cm.req comm=1 qpn=0x101 psn=500; "
               "b cm.rep comm=2 rcomm=1 qpn=0x200 psn=600; a2 write 9; b2 ack 9; "
               "b write 7 dqpn=0x101",
     .want = "A: paired=cm contradicted=yes B: paired=none B1: paired=cm"
             " A2: paired=user contradicted=no T: unattributed_acks=1"},
    {.name = "CM's word first, and then the user's of others",
     .script = "a cm.req comm=1 qpn=0x100 psn=500; "
               "b cm.rep comm=2 rcomm=1 qpn=0x201 psn=600; a write 500 dqpn=0x201; "
               "b write 600; a write 7; b ack 500",
     .want = "A: paired=none A1: paired=cm B: paired=cm contradicted=yes",
     .events = "connected detail=cm; no disconnected"},
    {.name = "the path MTU of the connection is known before any packet tells",
     .script = CM_SETUP "a write 500; b ack 500", .pairs = SCENARIO_PAIRS_UNKNOWN,
     .want = "A: paired=cm pmtu=1024 B: pmtu=1024"},
    {.name = "REQ and REP sent again are one connection",
     .script = "a cm.req comm=1 qpn=0x100 psn=500; a cm.req comm=1 qpn=0x100 psn=500;"
               "b cm.rep comm=2 rcomm=1 qpn=0x200 psn=600; "
               "b cm.rep comm=2 rcomm=1 qpn=0x200 psn=600;"
               "a write 500; b ack 500",
     .pairs = SCENARIO_PAIRS_UNKNOWN, .want = "A: paired=cm connection=0"},
    {.name = "the path MTU of the connection gives READs their span",
     .script = CM_SETUP "a read 500 len=4096; b resp.first 500 len=1024; "
               "b resp.middle 501..502 len=1024;"
               "b resp.last 503 len=1024; a write 504; b ack 504",
     .pairs = SCENARIO_PAIRS_UNKNOWN,
     .want = "A: paired=cm pmtu=1024 unique=2 B: r.unique=4"},
};
/* clang-format on */

/* clang-format off */
static const scenario by_table[] = {
    {.name = "a table decides what PSNs cannot",
     .script = "a write 0; a2 write 0; b ack 0; b2 ack 0", .pairs = SCENARIO_PAIRS_TABLE,
     .want = "A: paired=user A2: paired=user B: paired=user B2: paired=user",
     .events = "connected detail=user frame=3; connected detail=user frame=4"},
    {.name = "what was carried before the pairing is booked",
     .script = "b nak 900; b cnp; a write 1000..1003; b ack 1003",
     .pairs = SCENARIO_PAIRS_TABLE,
     .want = "A: paired=user naks=1 cnps=1 B: naks_sent=1 cnps_sent=1"},
    {.name = "no pairing by PSN against the table; four times is a contradiction",
     .script = "a write 1000..1003; b ack 1000..1003",
     .pairs = SCENARIO_PAIRS_WRONG_TABLE,
     .want = "A: paired=none contradicted=yes B: paired=none contradicted=yes T: "
               "unattributed_acks=4",
     .events = "no connected"},
    {.name = "three times may be an accident",
     .script = "a write 1000..1003; b ack 1000..1002",
     .pairs = SCENARIO_PAIRS_WRONG_TABLE,
     .want = "A: paired=none B: paired=none T: unattributed_acks=3"},
    {.name = "the table pairs wrongly, and ACKs say so",
     .script = "a write 1000..1003; a9 write 500000..500003; b ack 1003; b9 ack 500003; "
               "b ack 1000..1003; b9 ack 500000..500003",
     .pairs = SCENARIO_PAIRS_WRONG_TABLE,
     .want = "A: paired=user A9: paired=user B: paired=user contradicted=yes"
             " B9: paired=user contradicted=yes"},
    {.name = "CM counts more than the table, and says so",
     .script = CM_SETUP "a write 500..503; b ack 503", .pairs = SCENARIO_PAIRS_WRONG_TABLE,
     .want = "A: paired=cm contradicted=yes B: paired=cm contradicted=yes"},
    {.name = "CM and the table agree",
     .script = CM_SETUP "a write 500..503; b ack 503", .pairs = SCENARIO_PAIRS_TABLE,
     .want = "A: paired=cm B: paired=cm"},
    {.name = "the table first, and then CM says the same",
     .script = "a write 500; b ack 500; " CM_SETUP "a write 501; b ack 501",
     .pairs = SCENARIO_PAIRS_TABLE, .want = "A: paired=cm B: paired=cm"},
    {.name = "UD is never paired", .script = "a ud.send 5; b ud.send 5",
     .pairs = SCENARIO_PAIRS_TABLE, .want = "A: paired=none B: paired=none"},
    {.name = "UC is, by a table", .script = "a uc.write 5; b uc.write 5",
     .pairs = SCENARIO_PAIRS_TABLE, .want = "A: paired=user B: paired=user"},
};
/* clang-format on */

/* How often was asked, and whether anything answered. */
static const struct {
    const char *name, *script;
    uint32_t n;
    bool answered;
} requests[] = {
    {"once", "a cm.req 7 comm=1 qpn=0x100", 1, false},
    {"three times",
     "a cm.req 7 comm=1 qpn=0x100; a cm.req 8 comm=1 qpn=0x100; a cm.req 9 comm=1 "
     "qpn=0x100",
     3, false},
    {"copies", "a cm.req 7 comm=1 qpn=0x100; a cm.req 7 comm=1 qpn=0x100", 1, false},
    {"seen at two points",
     "a cm.req 7 comm=1 qpn=0x100 point=0; a cm.req 7 comm=1 qpn=0x100 point=1; "
     "a cm.req 8 comm=1 qpn=0x100 point=1; a cm.req 8 comm=1 qpn=0x100 point=0",
     2, false},
    {"given up", "a cm.req 7 comm=1 qpn=0x100; a cm.rej 8 comm=1 reason=4", 1, false},
    {"rejected", "a cm.req 7 comm=1 qpn=0x100; b cm.rej 8 rcomm=1 reason=8", 1, true},
    {"a reply", "a cm.req 7 comm=1 qpn=0x100; b cm.rep comm=2 rcomm=1 qpn=0x200", 1,
     true},
    {"the reply was missed", "a cm.req 7 comm=1 qpn=0x100; a cm.rtu comm=1 rcomm=2", 1,
     true},
    {"all but the end was missed",
     "a cm.req 7 comm=1 qpn=0x100; a cm.dreq comm=1 rcomm=2 qpn=0x200", 1, true},
};

static void
check_requests(void)
{
    for (size_t i = 0; i < sizeof requests / sizeof requests[0]; i++) {
        scenario row = {.name = requests[i].name,
                        .script = requests[i].script,
                        .pairs = SCENARIO_PAIRS_UNKNOWN};
        scenario_outcome out;
        scenario_play(&row, &out);
        check_row(row.name);
        CHECK_STR(out.trouble, "");
        CHECK_INT(roce_tracker_n_connections(out.tracker), 1);
        const roce_connection *c = roce_tracker_connection(out.tracker, 0);
        CHECK_INT(c->n_requests, requests[i].n);
        CHECK_INT(c->answered, requests[i].answered);
        scenario_outcome_clear(&out);
    }
    check_row(NULL);
}

/* What CM tells of a connection. */
static const struct {
    const char *name, *script;
    uint32_t n;
    uint8_t known;
    bool established, rejected, disconnected;
    uint16_t reason;
    bool given_up;
} connections[] = {
    {"request alone", "a cm.req comm=1 qpn=0x100 psn=500", 1, 1, false, false, false, 0,
     false},
    {"reply", "a cm.req comm=1 qpn=0x100; b cm.rep comm=2 rcomm=1 qpn=0x200", 1, 3,
     false, false, false, 0, false},
    {"established", CM_SETUP, 1, 3, true, false, false, 0, false},
    {"rejected", "a cm.req comm=1 qpn=0x100; b cm.rej comm=2 rcomm=1 reason=28", 1, 1,
     false, true, false, 28, false},
    {"given up unanswered", "a cm.req comm=1 qpn=0x100; a cm.rej comm=1 reason=4", 1, 1,
     false, true, false, 4, true},
    {"given up when it was answered",
     "a cm.req comm=1 qpn=0x100; b cm.rep comm=2 rcomm=1 qpn=0x200; "
     "a cm.rej comm=1 rcomm=2 reason=28",
     1, 3, false, true, false, 28, true},
    {"rejected without an id", "a cm.req comm=1 qpn=0x100; b cm.rej rcomm=1 reason=8",
     1, 1, false, true, false, 8, false},
    {"disconnected by the active side", CM_SETUP "a cm.dreq comm=1 rcomm=2 qpn=0x200",
     1, 3, true, false, true, 0, false},
    {"disconnected by the passive side", CM_SETUP "b cm.dreq comm=2 rcomm=1 qpn=0x100",
     1, 3, true, false, true, 0, false},
    {"the answer to the disconnection alone", CM_SETUP "b cm.drep comm=2 rcomm=1", 1, 3,
     true, false, true, 0, false},
    {"a disconnection of something else", CM_SETUP "b cm.dreq comm=9 rcomm=8 qpn=0x1ff",
     1, 3, true, false, false, 0, false},
    {"the messages of a connection that was not seen to begin",
     "a cm.rtu comm=1 rcomm=2; a cm.dreq comm=1 rcomm=2; b cm.drep comm=2 rcomm=1", 0,
     0, false, false, false, 0, false},
    {"two connections",
     CM_SETUP "a cm.req comm=3 qpn=0x101 psn=1; b cm.rep comm=4 rcomm=3 qpn=0x201", 2,
     3, true, false, false, 0, false},
};

static void
check_connections(void)
{
    for (size_t i = 0; i < sizeof connections / sizeof connections[0]; i++) {
        scenario row = {.name = connections[i].name,
                        .script = connections[i].script,
                        .pairs = SCENARIO_PAIRS_UNKNOWN};
        scenario_outcome out;
        scenario_play(&row, &out);
        check_row(row.name);
        CHECK_STR(out.trouble, "");
        CHECK_INT(roce_tracker_n_connections(out.tracker), connections[i].n);
        if (roce_tracker_n_connections(out.tracker) > 0) {
            const roce_connection *c = roce_tracker_connection(out.tracker, 0);
            CHECK_INT(c->known, connections[i].known);
            CHECK_INT(c->established, connections[i].established);
            CHECK_INT(c->rejected, connections[i].rejected);
            CHECK_INT(c->disconnected, connections[i].disconnected);
            CHECK_INT(c->given_up, connections[i].given_up);
            CHECK_INT(c->reject_reason, connections[i].reason);
            CHECK_INT(c->qpn[0], 0x100);
            CHECK_INT(c->path_mtu_bytes, 1024);
            CHECK_INT(c->retry_count, 7);
            CHECK_INT(c->ack_timeout, 14);
        }
        scenario_outcome_clear(&out);
    }
    check_row(NULL);
}

int
main(void)
{
    SCENARIO_CHECK(by_psn);
    SCENARIO_CHECK(by_cm);
    SCENARIO_CHECK(by_table);
    check_connections();
    check_requests();
    return check_status();
}
