/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sentences about events, and durations. */
#include "check.h"

#include "roce/aeth.h"
#include "roce/sentence.h"

static void
test_durations(void)
{
    static const struct {
        uint64_t ns;
        const char *want;
    } rows[] = {
        {0, "0 ns"},
        {999, "999 ns"},
        {1000, "1 µs"},
        {1001, "1.001 µs"},
        {1500, "1.5 µs"},
        {12344, "12.34 µs"},
        {12346, "12.35 µs"},
        {100040, "100 µs"},
        {100060, "100.1 µs"},
        {999949, "999.9 µs"},
        {999951, "1000 µs"},
        {999999, "1000 µs"},
        {1000000, "1 ms"},
        {1000001, "1 ms"},
        {1000010, "1.00001 ms"},
        {123456499, "123.456 ms"},
        {123456501, "123.457 ms"},
        {999999499999, "999999 ms"},
        {1234567000000, "1234567 ms"},
        {UINT64_MAX, "18446744073710 ms"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char out[ROCE_SENTENCE_BYTES];
        check_row(rows[i].want);
        CHECK_STR(roce_duration_text(rows[i].ns, out, sizeof out), rows[i].want);
    }
}

static void
test_sentences(void)
{
    static const struct {
        roce_event event;
        uint32_t carrier;
        const char *want;
    } rows[] = {
        /* clang-format off */
        {{.kind = ROCE_EVENT_GAP, .psn = 12, .count = 1}, 0, "Gap: 1 PSN missing from 12 on"},
        {{.kind = ROCE_EVENT_GAP, .psn = 0x1000000, .count = 2}, 0, "Gap: 2 PSNs missing from 0 on"},
        {{.kind = ROCE_EVENT_LOSS, .psn = 7, .count = 1, .detail = ROCE_VERDICT_LOST_BEFORE_CAPTURE,
          .evidence = ROCE_EVIDENCE_ASKED_FOR}, 0,
         "Verdict: request PSN 7 lost before capture (asked for)"},
        {{.kind = ROCE_EVENT_LOSS, .space = ROCE_SPACE_RESPONSES, .psn = 7, .count = 3,
          .detail = ROCE_VERDICT_UNKNOWN}, 0,
         "Verdict: response PSN 7 unknown, 3 copies (no evidence)"},
        {{.kind = ROCE_EVENT_NAK, .psn = 9, .detail = ROCE_NAK_PSN_SEQUENCE}, 0,
         "NAK for PSN 9: PSN sequence error, everything before it arrived"},
        {{.kind = ROCE_EVENT_RNR_WAIT, .duration_ns = 1500, .count = 1}, 0,
         "Waited 1.5 µs after the RNR NAK, no shorter than it asked for"},
        {{.kind = ROCE_EVENT_RNR_WAIT, .duration_ns = 1500}, 0,
         "Waited 1.5 µs after the RNR NAK, shorter than it asked for"},
        {{.kind = ROCE_EVENT_ECN_TRANSITION, .detail = 2 << 2 | 3}, 0,
         "ECN transition: from ECT(0) to CE"},
        {{.kind = ROCE_EVENT_CNP, .stream = 3}, 4, "CNP about stream 3"},
        {{.kind = ROCE_EVENT_CNP, .stream = 3}, 3,
         "CNP; which stream it is about was not known by then"},
        {{.kind = ROCE_EVENT_CNP, .stream = ROCE_NO_STREAM}, 3,
         "CNP; which stream it is about was not known by then"},
        {{.kind = ROCE_EVENT_PAUSE_XOFF, .detail = 3, .count = 65535}, ROCE_NO_STREAM,
         "Pause of priority 3 begins: 65535 quanta"},
        {{.kind = ROCE_EVENT_PAUSE_XON, .detail = 8, .duration_ns = 2000, .related_frame = 1},
         ROCE_NO_STREAM, "Pause (802.3x) ends after 2 µs"},
        {{.kind = ROCE_EVENT_PAUSE_XON, .detail = 0}, ROCE_NO_STREAM,
         "Pause of priority 0 is ended by this, which nothing seen here had begun"},
        /* clang-format on */
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char out[ROCE_SENTENCE_BYTES];
        check_row(rows[i].want);
        CHECK_STR(roce_event_sentence(&rows[i].event, rows[i].carrier, out, sizeof out),
                  rows[i].want);
    }
}

/* What does not fit is left out, and nothing is written behind the end. */
static void
test_room(void)
{
    check_row("room");
    const roce_event gap = {.kind = ROCE_EVENT_GAP, .psn = 12, .count = 34};
    for (size_t size = 1; size < 40; size++) {
        char out[41];
        memset(out, 'x', sizeof out);
        roce_event_sentence(&gap, 0, out, size);
        const char want[] = "Gap: 34 PSNs missing from 12 on";
        size_t length = size - 1 < sizeof want - 1 ? size - 1 : sizeof want - 1;
        CHECK_INT(strlen(out), length);
        CHECK_INT(memcmp(out, want, length), 0);
        CHECK_INT(out[size], 'x');
    }
}

/* The longest that each kind can say fits. */
static void
test_longest(void)
{
    for (int kind = 0; kind < ROCE_N_EVENTS; kind++) {
        check_row(roce_event_kind_name((roce_event_kind)kind));
        const roce_event e = {.kind = (roce_event_kind)kind,
                              .stream = UINT32_MAX - 1,
                              .related_frame = 1,
                              .evidence = ROCE_EVIDENCE_NO_ACKNOWLEDGEMENTS,
                              .psn = 0xffffff,
                              .detail = 1,
                              .duration_ns = UINT64_MAX,
                              .count = UINT64_MAX};
        char out[2 * ROCE_SENTENCE_BYTES];
        size_t length = strlen(roce_event_sentence(&e, 0, out, sizeof out));
        CHECK(length > 0 && length < ROCE_SENTENCE_BYTES);
    }
}

int
main(void)
{
    test_durations();
    test_sentences();
    test_room();
    test_longest();
    check_row(NULL);
    return check_status();
}
