/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "roce/sentence.h"

#include "roce/aeth.h"
#include "roce/psn.h"

#include <stdbool.h>
#include <string.h>

#define PAUSE_OF_ALL 8 /* detail of 802.3x pauses */

/* Text as it is written. */
typedef struct text {
    char *out;
    size_t room; /* left, with that for the NUL */
} text;

static text
text_begin(char *out, size_t size)
{
    *out = '\0';
    return (text){out, size};
}

static void
put_char(text *t, char c)
{
    if (t->room > 1) {
        *t->out++ = c;
        *t->out = '\0';
        t->room--;
    }
}

static void
put(text *t, const char *words)
{
    for (; *words != '\0'; words++) {
        put_char(t, *words);
    }
}

/* "lost before capture" of "lost_before_capture". */
static void
put_spaced(text *t, const char *name)
{
    for (; *name != '\0'; name++) {
        put_char(t, *name == '_' ? ' ' : *name);
    }
}

static void
put_number(text *t, uint64_t n)
{
    char digits[20];
    size_t i = sizeof digits;
    do {
        digits[--i] = (char)('0' + n % 10);
        n /= 10;
    } while (n > 0);
    for (; i < sizeof digits; i++) {
        put_char(t, digits[i]);
    }
}

/* ---- Durations ---- */

static unsigned
count_digits(uint64_t n)
{
    unsigned digits = 1;
    for (; n >= 10; n /= 10) {
        digits++;
    }
    return digits;
}

/* A number of units with so many digits that count, and no zeros behind the point. */
static void
put_units(text *t, uint64_t ns, uint64_t unit_ns, unsigned n_digits)
{
    uint64_t scale = 1;
    for (unsigned n = count_digits(ns / unit_ns); n < n_digits; n++) {
        scale *= 10; /* ns * scale stays below unit_ns * 10^n_digits */
    }
    uint64_t scaled = ns / unit_ns * scale + ns % unit_ns * scale / unit_ns;
    scaled += ns % unit_ns * scale % unit_ns >= unit_ns / 2 ? 1 : 0;
    put_number(t, scaled / scale);
    uint64_t rest = scaled % scale;
    if (rest > 0) {
        put_char(t, '.');
    }
    for (; rest > 0; rest = rest * 10 % scale) {
        put_char(t, (char)('0' + rest * 10 / scale));
    }
}

static void
put_duration(text *t, uint64_t ns)
{
    if (ns < 1000) {
        put_number(t, ns);
        put(t, " ns");
    } else if (ns < 1000000) {
        put_units(t, ns, 1000, 4);
        put(t, " µs");
    } else {
        put_units(t, ns, 1000000, 6);
        put(t, " ms");
    }
}

const char *
roce_duration_text(uint64_t duration_ns, char *out, size_t size)
{
    text t = text_begin(out, size);
    put_duration(&t, duration_ns);
    return out;
}

/* ---- Parts of sentences ---- */

static void
put_psn(text *t, const roce_event *e)
{
    put_number(t, roce_psn_wrap(e->psn));
}

/* The detail of an event, where it has one. */
static void
put_detail(text *t, const roce_event *e)
{
    const char *name = roce_event_detail_name(e);
    put_spaced(t, name != NULL ? name : "");
}

static void
put_evidence(text *t, const roce_event *e)
{
    put_spaced(t, e->evidence == ROCE_EVIDENCE_NONE ? "no evidence"
                                                    : roce_evidence_name(e->evidence));
}

static void
put_codepoint(text *t, unsigned codepoint)
{
    static const char *const names[] = {"Not-ECT", "ECT(1)", "ECT(0)", "CE"};
    put(t, names[codepoint & 3u]);
}

/* "Pause of priority 3" */
static void
put_pause(text *t, const roce_event *e)
{
    if (e->detail == PAUSE_OF_ALL) {
        put(t, "Pause (802.3x)");
    } else {
        put(t, "Pause of priority ");
        put_number(t, e->detail);
    }
}

/* ---- Sentences ---- */

/* An event and where it was seen. */
typedef struct saying {
    const roce_event *e;
    uint32_t carrier;
} saying;

static void
say_gap(text *t, const saying *s)
{
    put(t, "Gap: ");
    put_number(t, s->e->count);
    put(t, s->e->count == 1 ? " PSN missing from " : " PSNs missing from ");
    put_psn(t, s->e);
    put(t, " on");
}

static void
say_late(text *t, const saying *s)
{
    put(t, "Late original: overtaken on the way (told by ");
    put_evidence(t, s->e);
    put(t, ")");
}

static void
say_retransmission(text *t, const saying *s)
{
    put(t, "Retransmission (");
    put_detail(t, s->e);
    put(t, ")");
}

/* A PSN of which no copy was captured counts from the gap that it left. */
static void
say_round(text *t, const saying *s)
{
    put(t, "Round of retransmissions begins with PSN ");
    put_psn(t, s->e);
    put(t, " (");
    put_detail(t, s->e);
    put(t, "), ");
    put_duration(t, s->e->duration_ns);
    put(t, " after it was last seen, or missed");
}

static void
say_nak(text *t, const saying *s)
{
    put(t, "NAK for PSN ");
    put_psn(t, s->e);
    put(t, ": ");
    put_detail(t, s->e);
    put(t, s->e->detail == ROCE_NAK_PSN_SEQUENCE ? ", everything before it arrived"
                                                 : ", the queue pair goes to error");
}

static void
say_rnr_nak(text *t, const saying *s)
{
    put(t, "RNR NAK for PSN ");
    put_psn(t, s->e);
    put(t, ": the receiver was not ready, wait ");
    put_duration(t, s->e->duration_ns);
}

static void
say_rnr_wait(text *t, const saying *s)
{
    put(t, "Waited ");
    put_duration(t, s->e->duration_ns);
    put(t, " after the RNR NAK, ");
    put(t, s->e->count != 0 ? "no shorter" : "shorter");
    put(t, " than it asked for");
}

static void
say_read_reissue(text *t, const saying *s)
{
    put(t, "READ asked for again: ");
    put_number(t, s->e->count);
    put(t, " bytes");
}

/* "Verdict: request PSN 12 lost before capture (asked for)" */
static void
say_loss(text *t, const saying *s)
{
    put(t, "Verdict: ");
    put(t, s->e->space == ROCE_SPACE_REQUESTS ? "request" : "response");
    put(t, " PSN ");
    put_psn(t, s->e);
    put(t, " ");
    put_detail(t, s->e);
    if (s->e->count != 1) {
        put(t, ", ");
        put_number(t, s->e->count);
        put(t, " copies");
    }
    put(t, " (");
    put_evidence(t, s->e);
    put(t, ")");
}

static void
say_loss_withdrawn(text *t, const saying *s)
{
    put(t, "Verdict about PSN ");
    put_psn(t, s->e);
    put(t, " withdrawn: ");
    put_detail(t, s->e);
}

static void
say_ecn_transition(text *t, const saying *s)
{
    put(t, "ECN transition: from ");
    put_codepoint(t, s->e->detail >> 2);
    put(t, " to ");
    put_codepoint(t, s->e->detail);
}

static void
say_ce_episode(text *t, const saying *s)
{
    put(t, "The CE episode has ended: ");
    put_number(t, s->e->count);
    put(t, " marked within ");
    put_duration(t, s->e->duration_ns);
}

/* As long as it is not paired, the event is the carrier's own. */
static void
say_cnp(text *t, const saying *s)
{
    if (s->e->stream == ROCE_NO_STREAM || s->carrier == ROCE_NO_STREAM ||
        s->carrier == s->e->stream) {
        put(t, "CNP; which stream it is about was not known by then");
        return;
    }
    put(t, "CNP about stream ");
    put_number(t, s->e->stream);
}

static void
say_connected(text *t, const saying *s)
{
    put(t, "Streams ");
    put_number(t, s->e->stream);
    put(t, " and ");
    put_number(t, s->e->count);
    put(t, " are the two directions of a connection (known by ");
    put_detail(t, s->e);
    put(t, ")");
}

static void
say_disconnected(text *t, const saying *s)
{
    put(t, "The pairing by ");
    put_detail(t, s->e);
    put(t, " is contradicted, and undone");
}

static void
say_cm(text *t, const saying *s)
{
    put(t, "Connection management: ");
    put_detail(t, s->e);
}

static void
say_evicted(text *t, const saying *s)
{
    put(t, "No more room to remember (");
    put_detail(t, s->e);
    put(t, ")");
}

static void
say_xoff(text *t, const saying *s)
{
    put_pause(t, s->e);
    put(t, " begins: ");
    put_number(t, s->e->count);
    put(t, " quanta");
}

static void
say_refresh(text *t, const saying *s)
{
    put_pause(t, s->e);
    put(t, " goes on: ");
    put_number(t, s->e->count);
    put(t, " quanta");
}

static void
say_xon(text *t, const saying *s)
{
    put_pause(t, s->e);
    if (s->e->related_frame == 0) {
        put(t, " is ended by this, which nothing seen here had begun");
        return;
    }
    put(t, " ends after ");
    put_duration(t, s->e->duration_ns);
}

static void
say_expired(text *t, const saying *s)
{
    put_pause(t, s->e);
    put(t, s->e->evidence == ROCE_EVIDENCE_CAPTURE_END
               ? " has not ended with the capture, after "
               : " expired after ");
    put_duration(t, s->e->duration_ns);
}

/* Of each kind: words that are always the same, or words to be made. */
static const struct {
    const char *fixed;
    void (*say)(text *t, const saying *s);
} kinds[] = {
    [ROCE_EVENT_STREAM_START] = {.fixed = "First packet of the stream"},
    [ROCE_EVENT_STREAM_RESTART] = {.fixed = "PSNs begin anew: the queue pair number is "
                                            "used again"},
    [ROCE_EVENT_GAP] = {.say = say_gap},
    [ROCE_EVENT_LATE] = {.say = say_late},
    [ROCE_EVENT_DUPLICATE] = {.fixed = "Duplicate: the same packet again, made by the "
                                       "network"},
    [ROCE_EVENT_RETRANSMISSION] = {.say = say_retransmission},
    [ROCE_EVENT_ROUND] = {.say = say_round},
    [ROCE_EVENT_SPURIOUS_ROUND] = {.fixed =
                                       "The round of retransmissions was spurious: "
                                       "this came late, and was not lost"},
    [ROCE_EVENT_NAK] = {.say = say_nak},
    [ROCE_EVENT_RNR_NAK] = {.say = say_rnr_nak},
    [ROCE_EVENT_RNR_WAIT] = {.say = say_rnr_wait},
    [ROCE_EVENT_READ_REISSUE] = {.say = say_read_reissue},
    [ROCE_EVENT_RESPONSE_RESENT] = {.fixed = "Response sent again"},
    [ROCE_EVENT_LOSS] = {.say = say_loss},
    [ROCE_EVENT_LOSS_WITHDRAWN] = {.say = say_loss_withdrawn},
    [ROCE_EVENT_ECN_TRANSITION] = {.say = say_ecn_transition},
    [ROCE_EVENT_CE_EPISODE] = {.say = say_ce_episode},
    [ROCE_EVENT_CNP] = {.say = say_cnp},
    [ROCE_EVENT_ICRC_BAD] = {.fixed = "Bad ICRC: the packet moves nothing"},
    [ROCE_EVENT_IP_CHECKSUM_BAD] = {.fixed = "Bad IPv4 header checksum: the packet "
                                             "moves nothing"},
    [ROCE_EVENT_PSN_BAD] = {.fixed = "Damaged PSN: the packet moves nothing"},
    [ROCE_EVENT_CONNECTED] = {.say = say_connected},
    [ROCE_EVENT_DISCONNECTED] = {.say = say_disconnected},
    [ROCE_EVENT_CM] = {.say = say_cm},
    [ROCE_EVENT_PAUSE_XOFF] = {.say = say_xoff},
    [ROCE_EVENT_PAUSE_REFRESH] = {.say = say_refresh},
    [ROCE_EVENT_PAUSE_XON] = {.say = say_xon},
    [ROCE_EVENT_PAUSE_EXPIRED] = {.say = say_expired},
    [ROCE_EVENT_EVICTED] = {.say = say_evicted},
};
_Static_assert(sizeof kinds / sizeof kinds[0] == ROCE_N_EVENTS, "each says something");

const char *
roce_event_sentence(const roce_event *event, uint32_t carrier, char *out, size_t size)
{
    text t = text_begin(out, size);
    const saying s = {event, carrier};
    if (kinds[event->kind].say != NULL) {
        kinds[event->kind].say(&t, &s);
    } else {
        put(&t, kinds[event->kind].fixed);
    }
    return out;
}
