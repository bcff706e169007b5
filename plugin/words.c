/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Labels for the Info column; the sentences of the tree are core's (roce/sentence.h).
 *
 * The one rule: words are those of the report, with spaces for underscores, so that what
 * is read here is found there.
 */
#include "words.h"

#include "roce/sentence.h"

static const char *const codepoints[] = {"Not-ECT", "ECT(1)", "ECT(0)", "CE"};

const char *
words_codepoint(unsigned codepoint)
{
    return codepoints[codepoint & 3u];
}

const char *
words_tenant(const roce_tenant *tenant, wmem_allocator_t *scope)
{
    return tenant->kind == ROCE_TENANT_NONE
               ? ""
               : wmem_strdup_printf(scope, "%s %u", roce_tenant_kind_name(tenant->kind),
                                    tenant->id);
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

static unsigned
psn_of(const roce_event *e)
{
    return roce_psn_wrap(e->psn);
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
retransmission_label(const event_record *record, wmem_allocator_t *scope)
{
    return wmem_strdup_printf(scope, "retransmission: %s",
                              detail_of(&record->event, scope));
}

static const char *
gap_label(const event_record *record, wmem_allocator_t *scope)
{
    return wmem_strdup_printf(scope, "gap: %" G_GUINT64_FORMAT " missing",
                              record->event.count);
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

typedef const char *(*wording)(const event_record *record, wmem_allocator_t *scope);

/* What the Info column says of each kind of event: words that are always the same, or words
 * to be made, in the order of their ranks; a kind without any is in the tree alone. */
typedef struct kind_label {
    const char *fixed;
    wording make;
    unsigned rank;
} kind_label;

/* The rank of what a later packet tells of this one. */
#define RANK_FATE 1
#define MOST_LABELS 3 /* of a rank are shown */
#define N_RANKS 12

/* clang-format off */
static const kind_label kinds[ROCE_N_EVENTS] = {
    [ROCE_EVENT_LOSS] = {.make = loss_label, .rank = 0},
    [ROCE_EVENT_RNR_WAIT] = {.make = rnr_wait_label, .rank = 2},
    [ROCE_EVENT_RETRANSMISSION] = {.make = retransmission_label, .rank = 3},
    [ROCE_EVENT_RESPONSE_RESENT] = {.fixed = "response sent again", .rank = 4},
    [ROCE_EVENT_GAP] = {.make = gap_label, .rank = 5},
    [ROCE_EVENT_SPURIOUS_ROUND] = {.fixed = "round was spurious", .rank = 6},
    [ROCE_EVENT_LATE] = {.fixed = "late", .rank = 7},
    [ROCE_EVENT_DUPLICATE] = {.fixed = "duplicate", .rank = 8},
    [ROCE_EVENT_STREAM_RESTART] = {.fixed = "PSNs begin anew", .rank = 9},
    [ROCE_EVENT_IP_CHECKSUM_BAD] = {.fixed = "bad IPv4 checksum", .rank = 9},
    [ROCE_EVENT_PSN_BAD] = {.fixed = "damaged PSN", .rank = 9},
    [ROCE_EVENT_NAK] = {.make = link_label, .rank = 10},
    [ROCE_EVENT_RNR_NAK] = {.make = link_label, .rank = 10},
    [ROCE_EVENT_CNP] = {.make = link_label, .rank = 11},
};
/* clang-format on */

const char *
words_sentence(const event_record *record, wmem_allocator_t *scope)
{
    const packet_record *packet = memory_find(record->event.frame);
    char sentence[ROCE_SENTENCE_BYTES];
    return wmem_strdup(
        scope, roce_event_sentence(&record->event,
                                   packet != NULL ? packet->stream : ROCE_NO_STREAM,
                                   sentence, sizeof sentence));
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
    const kind_label *label = &kinds[record->event.kind];
    if (record->undone_by != 0) {
        return;
    }
    if (n->role == NOTE_EVENT) {
        append_label(labels, label->rank,
                     label->make != NULL ? label->make(record, labels->scope)
                                         : label->fixed);
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
        wmem_strbuf_append(text, " [copy by the mirror]");
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
