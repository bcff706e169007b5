/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sentences for the tree, and labels for the Info column.
 *
 * The one rule: words are those of the report, with spaces for underscores, so that what
 * is read here is found there.
 */
#include "words.h"

#include "roce/aeth.h"

static const char *const codepoints[] = {"Not-ECT", "ECT(1)", "ECT(0)", "CE"};

const char *
words_codepoint(unsigned codepoint)
{
    return codepoints[codepoint & 3u];
}

const char *
words_spaced(const char *name, wmem_allocator_t *scope)
{
    char *text = wmem_strdup(scope, name);
    return g_strdelimit(text, "_", ' ');
}

/* The detail of an event, where it has one. */
static const char *
detail_of(const roce_event *e, wmem_allocator_t *scope)
{
    const char *name = roce_event_detail_name(e);
    return name == NULL ? "" : words_spaced(name, scope);
}

static const char *
evidence_of(const roce_event *e, wmem_allocator_t *scope)
{
    return e->evidence == ROCE_EVIDENCE_NONE
               ? "no evidence"
               : words_spaced(roce_evidence_name(e->evidence), scope);
}

static unsigned
psn_of(const roce_event *e)
{
    return roce_psn_wrap(e->psn);
}

/* "PSN 12 lost before capture", of this packet's copy or of another's. */
static const char *
loss_sentence(const event_record *record, wmem_allocator_t *scope)
{
    const roce_event *e = &record->event;
    const char *what = e->space == ROCE_SPACE_REQUESTS ? "request" : "response";
    const char *copies =
        e->count == 1
            ? ""
            : wmem_strdup_printf(scope, ", %" G_GUINT64_FORMAT " copies", e->count);
    return wmem_strdup_printf(scope, "Verdict: %s PSN %u %s%s (%s)", what, psn_of(e),
                              detail_of(e, scope), copies, evidence_of(e, scope));
}

/* An unknown what? */
static const char *
fate_label(const roce_event *e, wmem_allocator_t *scope)
{
    return e->detail == ROCE_VERDICT_UNKNOWN ? "fate unknown" : detail_of(e, scope);
}

static const char *
loss_label(const event_record *record, wmem_allocator_t *scope)
{
    const roce_event *e = &record->event;
    const char *of =
        memory_number(e->related_frame) == 0
            ? ""
            : wmem_strdup_printf(scope, " of #%u", memory_number(e->related_frame));
    return wmem_strdup_printf(scope, "PSN %u%s %s", psn_of(e), of,
                              fate_label(e, scope));
}

static const char *
withdrawn_sentence(const event_record *record, wmem_allocator_t *scope)
{
    const roce_event *e = &record->event;
    return wmem_strdup_printf(scope, "Verdict about PSN %u withdrawn: %s", psn_of(e),
                              detail_of(e, scope));
}

static const char *
round_sentence(const event_record *record, wmem_allocator_t *scope)
{
    const roce_event *e = &record->event;
    /* A PSN of which no copy was captured counts from the gap that it left. */
    return wmem_strdup_printf(scope,
                              "Round of retransmissions begins with PSN %u (%s), %s "
                              "after it was last seen, or missed",
                              psn_of(e), detail_of(e, scope),
                              info_of_duration(e->duration_ns, scope));
}

static const char *
retransmission_sentence(const event_record *record, wmem_allocator_t *scope)
{
    return wmem_strdup_printf(scope, "Retransmission (%s)",
                              detail_of(&record->event, scope));
}

static const char *
retransmission_label(const event_record *record, wmem_allocator_t *scope)
{
    return wmem_strdup_printf(scope, "retransmission: %s",
                              detail_of(&record->event, scope));
}

static const char *
reissue_sentence(const event_record *record, wmem_allocator_t *scope)
{
    return wmem_strdup_printf(scope,
                              "READ asked for again: %" G_GUINT64_FORMAT " bytes",
                              record->event.count);
}

static const char *
gap_sentence(const event_record *record, wmem_allocator_t *scope)
{
    const roce_event *e = &record->event;
    return wmem_strdup_printf(scope,
                              "Gap: %" G_GUINT64_FORMAT " PSN%s missing from %u on",
                              e->count, e->count == 1 ? "" : "s", psn_of(e));
}

static const char *
gap_label(const event_record *record, wmem_allocator_t *scope)
{
    return wmem_strdup_printf(scope, "gap: %" G_GUINT64_FORMAT " missing",
                              record->event.count);
}

static const char *
late_sentence(const event_record *record, wmem_allocator_t *scope)
{
    return wmem_strdup_printf(scope, "Late original: overtaken on the way (told by %s)",
                              evidence_of(&record->event, scope));
}

static const char *
nak_sentence(const event_record *record, wmem_allocator_t *scope)
{
    const roce_event *e = &record->event;
    return wmem_strdup_printf(
        scope, "NAK for PSN %u: %s%s", psn_of(e), detail_of(e, scope),
        e->detail == ROCE_NAK_PSN_SEQUENCE ? ", everything before it arrived"
                                           : ", the queue pair goes to error");
}

static const char *
rnr_nak_sentence(const event_record *record, wmem_allocator_t *scope)
{
    const roce_event *e = &record->event;
    return wmem_strdup_printf(scope,
                              "RNR NAK for PSN %u: the receiver was not ready, wait %s",
                              psn_of(e), info_of_duration(e->duration_ns, scope));
}

static const char *
rnr_wait_sentence(const event_record *record, wmem_allocator_t *scope)
{
    const roce_event *e = &record->event;
    return wmem_strdup_printf(scope,
                              "Waited %s after the RNR NAK, %s than it asked for",
                              info_of_duration(e->duration_ns, scope),
                              e->count != 0 ? "no shorter" : "shorter");
}

static const char *
rnr_wait_label(const event_record *record, wmem_allocator_t *scope)
{
    return wmem_strdup_printf(scope, "waited %s",
                              info_of_duration(record->event.duration_ns, scope));
}

/* Of what answers to a packet: which one. */
static const char *
link_label(const event_record *record, wmem_allocator_t *scope)
{
    uint32_t number = memory_number(record->event.related_frame);
    static const char *const whats[ROCE_N_EVENTS] = {
        [ROCE_EVENT_NAK] = "provoked by",
        [ROCE_EVENT_RNR_NAK] = "refuses",
        [ROCE_EVENT_CNP] = "answers the CE of",
    };
    return number == 0
               ? NULL
               : wmem_strdup_printf(scope, "%s #%u", whats[record->event.kind], number);
}

static const char *
transition_sentence(const event_record *record, wmem_allocator_t *scope)
{
    unsigned detail = record->event.detail;
    return wmem_strdup_printf(scope, "ECN transition: from %s to %s",
                              words_codepoint(detail >> 2), words_codepoint(detail));
}

static const char *
episode_sentence(const event_record *record, wmem_allocator_t *scope)
{
    const roce_event *e = &record->event;
    return wmem_strdup_printf(
        scope, "The CE episode has ended: %" G_GUINT64_FORMAT " marked within %s",
        e->count, info_of_duration(e->duration_ns, scope));
}

static const char *
cnp_sentence(const event_record *record, wmem_allocator_t *scope)
{
    const roce_event *e = &record->event;
    const packet_record *cnp = memory_find(e->frame);
    /* As long as it is not paired, the event is the carrier's own. */
    bool is_known =
        e->stream != ROCE_NO_STREAM && cnp != NULL && cnp->stream != e->stream;
    return is_known ? wmem_strdup_printf(scope, "CNP about stream %u", e->stream)
                    : "CNP; which stream it is about was not known by then";
}

static const char *
connected_sentence(const event_record *record, wmem_allocator_t *scope)
{
    const roce_event *e = &record->event;
    return wmem_strdup_printf(scope,
                              "Streams %u and %" G_GUINT64_FORMAT
                              " are the two directions of a connection (known by %s)",
                              e->stream, e->count, detail_of(e, scope));
}

static const char *
disconnected_sentence(const event_record *record, wmem_allocator_t *scope)
{
    return wmem_strdup_printf(scope, "The pairing by %s is contradicted, and undone",
                              detail_of(&record->event, scope));
}

static const char *
cm_sentence(const event_record *record, wmem_allocator_t *scope)
{
    return wmem_strdup_printf(scope, "Connection management: %s",
                              detail_of(&record->event, scope));
}

static const char *
evicted_sentence(const event_record *record, wmem_allocator_t *scope)
{
    return wmem_strdup_printf(scope, "No more room to remember (%s)",
                              detail_of(&record->event, scope));
}

typedef const char *(*wording)(const event_record *record, wmem_allocator_t *scope);

/* What is said of each kind of event: words that are always the same, or words to be
 * made.  Labels stand in the order of their ranks; a kind without one is in the tree
 * alone. */
typedef struct kind_words {
    const char *fixed_sentence;
    wording sentence;
    const char *fixed_label;
    wording label;
    unsigned rank;
} kind_words;

/* The rank of what a later packet tells of this one. */
#define RANK_FATE 1
#define MOST_LABELS 3 /* of a rank are shown */
#define N_RANKS 12

/* clang-format off */
static const kind_words kinds[ROCE_N_EVENTS] = {
    [ROCE_EVENT_LOSS] = {.sentence = loss_sentence, .label = loss_label, .rank = 0},
    [ROCE_EVENT_RNR_WAIT] = {.sentence = rnr_wait_sentence, .label = rnr_wait_label,
                             .rank = 2},
    [ROCE_EVENT_RETRANSMISSION] = {.sentence = retransmission_sentence,
                                   .label = retransmission_label, .rank = 3},
    [ROCE_EVENT_RESPONSE_RESENT] = {.fixed_sentence = "Response sent again",
                                    .fixed_label = "response sent again", .rank = 4},
    [ROCE_EVENT_GAP] = {.sentence = gap_sentence, .label = gap_label, .rank = 5},
    [ROCE_EVENT_SPURIOUS_ROUND] = {
        .fixed_sentence = "The round of retransmissions was spurious: this came late, "
                          "and was not lost",
        .fixed_label = "round was spurious", .rank = 6},
    [ROCE_EVENT_LATE] = {.sentence = late_sentence, .fixed_label = "late", .rank = 7},
    [ROCE_EVENT_DUPLICATE] = {
        .fixed_sentence = "Duplicate: the same packet again, made by the network",
        .fixed_label = "duplicate", .rank = 8},
    [ROCE_EVENT_STREAM_RESTART] = {
        .fixed_sentence = "PSNs begin anew: the queue pair number is used again",
        .fixed_label = "PSNs begin anew", .rank = 9},
    [ROCE_EVENT_NAK] = {.sentence = nak_sentence, .label = link_label, .rank = 10},
    [ROCE_EVENT_RNR_NAK] = {.sentence = rnr_nak_sentence, .label = link_label,
                            .rank = 10},
    [ROCE_EVENT_CNP] = {.sentence = cnp_sentence, .label = link_label, .rank = 11},
    [ROCE_EVENT_LOSS_WITHDRAWN] = {.sentence = withdrawn_sentence},
    [ROCE_EVENT_ROUND] = {.sentence = round_sentence},
    [ROCE_EVENT_READ_REISSUE] = {.sentence = reissue_sentence},
    [ROCE_EVENT_ECN_TRANSITION] = {.sentence = transition_sentence},
    [ROCE_EVENT_CE_EPISODE] = {.sentence = episode_sentence},
    [ROCE_EVENT_ICRC_BAD] = {.fixed_sentence = "Bad ICRC: the packet moves nothing"},
    [ROCE_EVENT_STREAM_START] = {.fixed_sentence = "First packet of the stream"},
    [ROCE_EVENT_CONNECTED] = {.sentence = connected_sentence},
    [ROCE_EVENT_DISCONNECTED] = {.sentence = disconnected_sentence},
    [ROCE_EVENT_CM] = {.sentence = cm_sentence},
    [ROCE_EVENT_EVICTED] = {.sentence = evicted_sentence},
};
/* clang-format on */

const char *
words_sentence(const event_record *record, wmem_allocator_t *scope)
{
    const kind_words *words = &kinds[record->event.kind];
    if (words->sentence != NULL) {
        return words->sentence(record, scope);
    }
    return words->fixed_sentence != NULL ? words->fixed_sentence
                                         : roce_event_kind_name(record->event.kind);
}

/* ---- Info ---- */

/* Labels of a packet, by rank. */
typedef struct label_list {
    wmem_allocator_t *scope;
    wmem_strbuf_t *text[N_RANKS]; /* NULL: none */
    uint32_t n[N_RANKS];          /* that there are, shown or not */
} label_list;

static void
append_label(label_list *labels, unsigned rank, const char *text)
{
    if (text == NULL || labels->n[rank]++ >= MOST_LABELS) {
        return;
    }
    if (labels->text[rank] == NULL) {
        labels->text[rank] = wmem_strbuf_new(labels->scope, "");
    }
    wmem_strbuf_append_printf(labels->text[rank], " [%s]", text);
}

static void
append_note(label_list *labels, const note *n)
{
    const event_record *record = memory_event(n->index);
    const kind_words *words = &kinds[record->event.kind];
    if (record->undone_by != 0) {
        return;
    }
    if (n->role == NOTE_EVENT) {
        append_label(labels, words->rank,
                     words->label != NULL ? words->label(record, labels->scope)
                                          : words->fixed_label);
    } else if (n->role == NOTE_RELATED && record->event.kind == ROCE_EVENT_LOSS) {
        append_label(labels, RANK_FATE, fate_label(&record->event, labels->scope));
    }
}

const char *
words_info(const packet_record *record, wmem_allocator_t *scope)
{
    if (record->first_note == ANALYSIS_NONE && !record->is_second_copy) {
        return ""; /* most have nothing to say */
    }
    label_list labels = {.scope = scope};
    for (const note *n = memory_note(record->first_note); n != NULL;
         n = memory_note(n->next)) {
        if (n->role != NOTE_SAMPLE) {
            append_note(&labels, n);
        }
    }
    wmem_strbuf_t *text = wmem_strbuf_new(scope, "");
    if (record->is_second_copy) {
        wmem_strbuf_append(text, " [second copy by the mirror]");
    }
    for (unsigned i = 0; i < N_RANKS; i++) {
        if (labels.text[i] != NULL) {
            wmem_strbuf_append(text, wmem_strbuf_get_str(labels.text[i]));
        }
        if (labels.n[i] > MOST_LABELS) {
            wmem_strbuf_append_printf(text, " [and %u more]",
                                      labels.n[i] - MOST_LABELS);
        }
    }
    return wmem_strbuf_get_str(text);
}
