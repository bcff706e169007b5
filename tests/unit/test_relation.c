/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Relations: which earlier packet each belongs to.  Frames are numbered from 1, and come
 * 1 us apart.
 */
#include "scenario.h"

#include <string.h>

static const struct {
    const char *name, *script, *want;
    const char *only; /* sentences with this word; NULL: all */
} rows[] = {
    {"an ACK names and covers", "a write 0; b ack 0",
     "2 names 1; 2 takes 1us from 1 as ack_latency_ns; 2 covers 1; "
     "2 takes 1us from 1 as message_completion_ns; ",
     NULL},
    {"a coalesced ACK covers all before it", "a write 0..2; b ack 2",
     "4 names 3; 4 takes 1us from 3 as ack_latency_ns; "
     "4 covers 1; 4 takes 3us from 1 as message_completion_ns; "
     "4 covers 2; 4 takes 2us from 2 as message_completion_ns; "
     "4 covers 3; 4 takes 1us from 3 as message_completion_ns; ",
     NULL},
    {"a message is completed from its first packet on",
     "a write.first 0; a write.last 1; b ack 1",
     "3 names 2; 3 takes 1us from 2 as ack_latency_ns; 3 covers 1; 3 covers 2; "
     "3 takes 2us from 1 as message_completion_ns; ",
     NULL},
    {"the second ACK covers nothing", "a write 0; b ack 0; b ack 0 ident=9000",
     "2 names 1; 2 takes 1us from 1 as ack_latency_ns; 2 covers 1; "
     "2 takes 1us from 1 as message_completion_ns; 3 names 1; ",
     NULL},
    {"responses answer their READ, the last one completes it",
     "all len=1024; a write.first 0; a write.last 1; b ack 1; a read 2 len=2048; "
     "b resp.first 2; b resp.last 3",
     "3 names 2; 3 takes 1us from 2 as ack_latency_ns; 3 covers 1; 3 covers 2; "
     "3 takes 2us from 1 as message_completion_ns; 5 answers 4; "
     "5 takes 1us from 4 as read_first_ns; 6 answers 4; "
     "6 takes 2us from 4 as read_latency_ns; "
     "6 takes 2us from 4 as message_completion_ns; 6 covers 4; ",
     NULL},
    {"a NAK names what it asks for if that was seen, and its round answers it",
     "a write 0; b ack 0; a write 1 drop; a write 2; b nak 1; a write 1..2; b ack 2",
     "2 names 1; 2 takes 1us from 1 as ack_latency_ns; 2 covers 1; "
     "2 takes 1us from 1 as message_completion_ns; "
     "4 takes 1us from 3 as nak_generation_ns; "
     "5 takes 1us from 4 as nak_reaction_ns; 7 names 6; "
     "7 takes 4us from 0 as recovery_ns; 7 covers 5; 7 covers 6; ",
     NULL},
    {"of copies the newest is covered",
     "a write 0; b ack 0; a write 1; +100000; a write 1; b ack 1",
     "2 names 1; 2 takes 1us from 1 as ack_latency_ns; 2 covers 1; "
     "2 takes 1us from 1 as message_completion_ns; 5 names 4; "
     "5 takes 100002us from 0 as recovery_ns; 5 covers 4; ",
     NULL},
    {"a requester that goes on has got what came before the newest response",
     "a read 0; b resp 0; a read 1; b resp 1; +100000; a read 2; b resp 2; +100000; "
     "a read 3; b resp 3",
     "6 follows 2; 8 follows 4; ", "follows"},
    {"one that does not wait that long may not know yet",
     "a read 0; b resp 0; a read 1; b resp 1; a read 2; b resp 2; a read 3; b resp 3",
     "", "follows"},
    {"what it asks for again it has not got, nor is that known of the copy that came "
     "then",
     "a read 0; b resp 0; a read 1; b resp 1; a read 2; b resp 2; a read 1 ident=900; "
     "b resp 1 ident=901; +100000; a read 3; b resp 3; +100000; a read 4; b resp 4",
     "10 follows 2; 12 follows 6; ", "follows"},
    {"nor anything, if the answer to that is not seen",
     "a read 0; b resp 0; a read 1; b resp 1; a read 0 ident=900; +100000; a read 2; "
     "b resp 2",
     "", "follows"},
    {"nobody who asks is seen",
     "b resp.first 0; b resp.middle 1; +100000; b resp.last 2", "", "follows"},
    {"a CNP answers the first CE", "a write 0 ce; a write 1 ce; b cnp 0",
     "3 takes 2us from 1 as cnp_delay_ns; ", NULL},
};

/* The sentences of a text that have a word in them. */
static void
keep_only(char *text, const char *word)
{
    char *to = text;
    for (char *from = text; *from != '\0';) {
        size_t n = (size_t)(strstr(from, "; ") - from) + 2;
        const char *at = strstr(from, word);
        if (at != NULL && at < from + n) {
            memmove(to, from, n);
            to += n;
        }
        from += n;
    }
    *to = '\0';
}

int
main(void)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const scenario play = {.name = rows[i].name, .script = rows[i].script};
        scenario_outcome out;
        check_row(rows[i].name);
        scenario_play(&play, &out);
        CHECK_STR(out.trouble, "");
        if (rows[i].only != NULL) {
            keep_only(out.relations, rows[i].only);
        }
        CHECK_STR(out.relations, rows[i].want);
        scenario_outcome_clear(&out);
        check_row(NULL);
    }
    return check_status();
}
