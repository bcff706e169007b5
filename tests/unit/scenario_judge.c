/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Judges what the tracker made of a script: the counters that a row wants, the strict
 * ones that it does not name, the events, and what must hold for any capture.
 */
#include "scenario_judge.h"

#include <stdarg.h>

#define ABSURD                                                                         \
    ((uint64_t)1 << 62) /* no counter and no duration gets there: it wrapped */

typedef enum when_unnamed {
    MAY_BE_ANYTHING,
    MUST_BE_0,
} when_unnamed;

/* Where it stands. */
typedef enum part {
    OF_ITSELF,
    OF_KINDS,
    OF_TROUBLE,
    OF_CONGESTION,
    OF_CONTROL,
} part;

/* What a stream keeps in fields of some bits, which have no offset. */
typedef struct stream_kinds {
    uint32_t recovery, vantage, ecn_source, paired_by, transport;
} stream_kinds;

typedef struct metric {
    const char *name;
    part part;
    size_t offset, size;
    when_unnamed unnamed;
} metric;

#define FIELD(name, field, unnamed)                                                    \
    {                                                                                  \
        name, OF_ITSELF, offsetof(roce_stream, field),                                 \
            sizeof(((const roce_stream *)0)->field), unnamed                           \
    }
#define KIND(name, field, unnamed)                                                     \
    {                                                                                  \
        name, OF_KINDS, offsetof(stream_kinds, field),                                 \
            sizeof(((const stream_kinds *)0)->field), unnamed                          \
    }
#define TROUBLE(name, field, unnamed)                                                  \
    {                                                                                  \
        name, OF_TROUBLE, offsetof(roce_stream_trouble, field),                        \
            sizeof(((const roce_stream_trouble *)0)->field), unnamed                   \
    }
#define CONGESTION(name, field, unnamed)                                               \
    {                                                                                  \
        name, OF_CONGESTION, offsetof(roce_stream_congestion, field),                  \
            sizeof(((const roce_stream_congestion *)0)->field), unnamed                \
    }
#define CONTROL(name, field, unnamed)                                                  \
    {                                                                                  \
        name, OF_CONTROL, offsetof(roce_stream_control, field),                        \
            sizeof(((const roce_stream_control *)0)->field), unnamed                   \
    }
#define REQUESTS disorder[ROCE_SPACE_REQUESTS]
#define RESPONSES disorder[ROCE_SPACE_RESPONSES]
#define LOST losses[ROCE_SPACE_REQUESTS]
#define R_LOST losses[ROCE_SPACE_RESPONSES]

/* clang-format off */
static const metric metrics[] = {
    FIELD("packets", packets, MAY_BE_ANYTHING),
    FIELD("requests", space[ROCE_SPACE_REQUESTS].packets, MAY_BE_ANYTHING),
    FIELD("unique", space[ROCE_SPACE_REQUESTS].unique_psns, MAY_BE_ANYTHING),
    TROUBLE("gaps", REQUESTS.gaps, MUST_BE_0),
    TROUBLE("missing", REQUESTS.missing_psns, MUST_BE_0),
    TROUBLE("reordered", REQUESTS.reordered, MUST_BE_0),
    TROUBLE("duplicates", REQUESTS.duplicates, MUST_BE_0),
    TROUBLE("repeats", REQUESTS.capture_repeats, MUST_BE_0),
    TROUBLE("again", REQUESTS.resent, MUST_BE_0),
    TROUBLE("again_bytes", retransmissions.bytes, MAY_BE_ANYTHING),
    TROUBLE("asked_bytes", retransmissions.requested_bytes, MAY_BE_ANYTHING),
    TROUBLE("rounds", retransmissions.rounds, MUST_BE_0),
    TROUBLE("spurious", retransmissions.spurious_rounds, MUST_BE_0),
    TROUBLE("by_nak", retransmissions.by_cause[ROCE_CAUSE_NAK_SEQUENCE], MUST_BE_0),
    TROUBLE("by_rnr", retransmissions.by_cause[ROCE_CAUSE_RNR], MUST_BE_0),
    TROUBLE("by_timeout", retransmissions.by_cause[ROCE_CAUSE_TIMEOUT], MUST_BE_0),
    TROUBLE("by_reissue", retransmissions.by_cause[ROCE_CAUSE_READ_REISSUE], MUST_BE_0),
    TROUBLE("by_unknown", retransmissions.by_cause[ROCE_CAUSE_UNKNOWN], MUST_BE_0),
    TROUBLE("lost_before", LOST[ROCE_VERDICT_LOST_BEFORE_CAPTURE], MUST_BE_0),
    TROUBLE("undelivered", LOST[ROCE_VERDICT_UNDELIVERED_AFTER_CAPTURE], MUST_BE_0),
    TROUBLE("ack_lost", LOST[ROCE_VERDICT_ACK_LOST], MUST_BE_0),
    TROUBLE("data_or_ack_lost", LOST[ROCE_VERDICT_DATA_OR_ACK_LOST], MUST_BE_0),
    TROUBLE("not_captured", LOST[ROCE_VERDICT_NOT_CAPTURED], MUST_BE_0),
    TROUBLE("corrupt", LOST[ROCE_VERDICT_CORRUPT], MUST_BE_0),
    TROUBLE("unknown", LOST[ROCE_VERDICT_UNKNOWN], MUST_BE_0),
    FIELD("responses", space[ROCE_SPACE_RESPONSES].packets, MAY_BE_ANYTHING),
    FIELD("r.unique", space[ROCE_SPACE_RESPONSES].unique_psns, MAY_BE_ANYTHING),
    TROUBLE("r.gaps", RESPONSES.gaps, MUST_BE_0),
    TROUBLE("r.missing", RESPONSES.missing_psns, MUST_BE_0),
    TROUBLE("r.reordered", RESPONSES.reordered, MUST_BE_0),
    TROUBLE("r.duplicates", RESPONSES.duplicates, MUST_BE_0),
    TROUBLE("r.again", RESPONSES.resent, MUST_BE_0),
    TROUBLE("r.lost_before", R_LOST[ROCE_VERDICT_LOST_BEFORE_CAPTURE], MUST_BE_0),
    TROUBLE("r.undelivered", R_LOST[ROCE_VERDICT_UNDELIVERED_AFTER_CAPTURE], MUST_BE_0),
    TROUBLE("r.ack_lost", R_LOST[ROCE_VERDICT_ACK_LOST], MUST_BE_0),
    TROUBLE("r.data_or_ack_lost", R_LOST[ROCE_VERDICT_DATA_OR_ACK_LOST], MUST_BE_0),
    TROUBLE("r.not_captured", R_LOST[ROCE_VERDICT_NOT_CAPTURED], MUST_BE_0),
    TROUBLE("r.corrupt", R_LOST[ROCE_VERDICT_CORRUPT], MUST_BE_0),
    TROUBLE("r.unknown", R_LOST[ROCE_VERDICT_UNKNOWN], MUST_BE_0),
    TROUBLE("restarts", restarts, MUST_BE_0),
    FIELD("partial", partial_path, MUST_BE_0),
    TROUBLE("waits_kept", rnr_waits_kept, MUST_BE_0),
    TROUBLE("waits_broken", rnr_waits_broken, MUST_BE_0),
    KIND("recovery", recovery, MAY_BE_ANYTHING),
    KIND("vantage", vantage, MAY_BE_ANYTHING),
    FIELD("pmtu", pmtu_bytes, MAY_BE_ANYTHING),
    KIND("ecn_source", ecn_source, MAY_BE_ANYTHING),
    KIND("paired", paired_by, MAY_BE_ANYTHING),
    FIELD("contradicted", table_contradicted, MUST_BE_0),
    FIELD("ports_agree", paired_ports_agree, MAY_BE_ANYTHING),
    FIELD("connection", connection, MAY_BE_ANYTHING),
    FIELD("src_qpn", src_qpn, MAY_BE_ANYTHING),
    FIELD("has_src_qpn", has_src_qpn, MAY_BE_ANYTHING),
    KIND("transport", transport, MAY_BE_ANYTHING),
    TROUBLE("naks", naks_received[ROCE_NAKS_PSN_SEQUENCE], MAY_BE_ANYTHING),
    TROUBLE("invalids", naks_received[ROCE_NAKS_INVALID_REQUEST], MAY_BE_ANYTHING),
    TROUBLE("accesses", naks_received[ROCE_NAKS_REMOTE_ACCESS], MAY_BE_ANYTHING),
    TROUBLE("operationals", naks_received[ROCE_NAKS_REMOTE_OPERATIONAL], MAY_BE_ANYTHING),
    TROUBLE("rnrs", naks_received[ROCE_NAKS_RNR], MAY_BE_ANYTHING),
    TROUBLE("naks_sent", naks_sent[ROCE_NAKS_PSN_SEQUENCE], MAY_BE_ANYTHING),
    TROUBLE("rnrs_sent", naks_sent[ROCE_NAKS_RNR], MAY_BE_ANYTHING),
    CONTROL("acks_sent", acks_sent, MAY_BE_ANYTHING),
    CONGESTION("cnps", cnps_received, MUST_BE_0),
    CONGESTION("cnps_sent", cnps_sent, MUST_BE_0),
    FIELD("notect", ecn.codepoint[0], MAY_BE_ANYTHING),
    FIELD("ect1", ecn.codepoint[1], MAY_BE_ANYTHING),
    FIELD("ect0", ecn.codepoint[2], MAY_BE_ANYTHING),
    FIELD("ce", ecn.codepoint[3], MUST_BE_0),
    CONGESTION("transitions", transitions, MUST_BE_0),
    CONGESTION("episodes", n_episodes, MUST_BE_0),
    CONGESTION("answered", ce_answers[ROCE_CE_ANSWERED], MAY_BE_ANYTHING),
    CONGESTION("paced", ce_answers[ROCE_CE_PACED], MAY_BE_ANYTHING),
    CONGESTION("unanswered", ce_answers[ROCE_CE_UNANSWERED], MAY_BE_ANYTHING),
    CONGESTION("open", ce_answers[ROCE_CE_OPEN], MAY_BE_ANYTHING),
    CONTROL("control.ect0", ecn[2], MAY_BE_ANYTHING),
    CONTROL("control.ce", ecn[3], MUST_BE_0),
    FIELD("checked", icrc_checked, MAY_BE_ANYTHING),
    TROUBLE("bad", icrc_bad, MUST_BE_0),
    TROUBLE("psn_bad", psn_bad, MUST_BE_0),
    TROUBLE("broken", messages_broken, MAY_BE_ANYTHING),
    TROUBLE("cnp_bad", icrc_cnp_bad, MUST_BE_0),
    TROUBLE("flush_bad", icrc_flush_bad, MUST_BE_0),
    FIELD("unchecked", icrc_truncated, MAY_BE_ANYTHING),
    FIELD("messages", messages_completed, MAY_BE_ANYTHING),
    FIELD("message_bytes", message_bytes, MAY_BE_ANYTHING),
    FIELD("payload", payload_bytes, MAY_BE_ANYTHING),
};

#define TOTAL(name, field, unnamed)                                                    \
    {name, OF_ITSELF, offsetof(roce_tracker_totals, field),                                       \
     sizeof(((const roce_tracker_totals *)0)->field), unnamed}
static const metric totals_metrics[] = {
    TOTAL("roce", roce_packets, MAY_BE_ANYTHING),
    TOTAL("cnp", cnp_packets, MAY_BE_ANYTHING),
    TOTAL("pfc", pfc_frames, MAY_BE_ANYTHING),
    TOTAL("pause", pause_frames, MAY_BE_ANYTHING),
    TOTAL("truncated", truncated_packets, MAY_BE_ANYTHING),
    TOTAL("icrc_bad", icrc_bad, MAY_BE_ANYTHING),
    TOTAL("unattributed_naks", unattributed_naks, MUST_BE_0),
    TOTAL("unattributed_rnr", unattributed_rnr, MUST_BE_0),
    TOTAL("unattributed_cnps", unattributed_cnps, MUST_BE_0),
    TOTAL("unattributed_acks", unattributed_acks, MUST_BE_0),
    TOTAL("untracked", untracked_packets, MUST_BE_0),
    TOTAL("evicted_streams", evicted[ROCE_TABLE_STREAMS], MUST_BE_0),
    TOTAL("evicted_history", evicted[ROCE_TABLE_HISTORY], MUST_BE_0),
    TOTAL("evicted_missing", evicted[ROCE_TABLE_MISSING], MUST_BE_0),
    TOTAL("evicted_pauses", evicted[ROCE_TABLE_PAUSES], MUST_BE_0),
};

static const struct { const char *word; uint64_t value; } words[] = {
    {"yes", 1}, {"no", 0}, {"unknown", 0}, {"gbn", ROCE_RECOVERY_GO_BACK_N},
    {"selective", ROCE_RECOVERY_SELECTIVE}, {"none", ROCE_PAIRING_NONE},
    {"psn", ROCE_PAIRING_PSN}, {"cm", ROCE_PAIRING_CM}, {"user", ROCE_PAIRING_USER},
    {"requester", ROCE_VANTAGE_REQUESTER}, {"responder", ROCE_VANTAGE_RESPONDER},
    {"middle", ROCE_VANTAGE_MIDDLE}, {"rc", ROCE_TRANSPORT_RC},
    {"ud", ROCE_TRANSPORT_UD}, {"cnp", ROCE_TRANSPORT_CNP},
    {"ip", ROCE_ECN_IP}, {"inner", ROCE_ECN_INNER}, {"outer", ROCE_ECN_OUTER},
    /* Of events: what a detail says. */
    {"nak_sequence", ROCE_CAUSE_NAK_SEQUENCE}, {"rnr", ROCE_CAUSE_RNR},
    {"timeout", ROCE_CAUSE_TIMEOUT}, {"read_reissue", ROCE_CAUSE_READ_REISSUE},
    {"cause_unknown", ROCE_CAUSE_UNKNOWN},
    {"lost_before", ROCE_VERDICT_LOST_BEFORE_CAPTURE},
    {"undelivered", ROCE_VERDICT_UNDELIVERED_AFTER_CAPTURE},
    {"ack_lost", ROCE_VERDICT_ACK_LOST},
    {"data_or_ack_lost", ROCE_VERDICT_DATA_OR_ACK_LOST},
    {"not_captured", ROCE_VERDICT_NOT_CAPTURED}, {"corrupt", ROCE_VERDICT_CORRUPT},
    {"verdict_unknown", ROCE_VERDICT_UNKNOWN},
};
/* clang-format on */

void
scenario_complain(scenario_verdict *v, const char *format, ...)
{
    char line[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    v->n++;
    int written = snprintf(v->text + v->used, v->size - v->used, "    %s\n", line);
    size_t left = v->size - v->used;
    v->used += written > 0 && (size_t)written < left ? (size_t)written : left - 1;
}

static stream_kinds
kinds_of(const roce_stream *s)
{
    return (stream_kinds){
        .recovery = s->recovery,
        .vantage = s->vantage,
        .ecn_source = s->ecn_source,
        .paired_by = s->paired_by,
        .transport = s->transport,
    };
}

static uint64_t
value_of(const void *object, const metric *m)
{
    uint8_t bytes[8] = {0};
    const void *from = object;
    stream_kinds kinds;
    if (m->part == OF_KINDS) {
        kinds = kinds_of(object);
        from = &kinds;
    } else if (m->part == OF_TROUBLE) {
        from = roce_stream_trouble_of(object);
    } else if (m->part == OF_CONGESTION) {
        from = roce_stream_congestion_of(object);
    } else if (m->part == OF_CONTROL) {
        from = roce_stream_control_of(object);
    }
    memcpy(bytes, (const char *)from + m->offset, m->size);
    uint64_t u64 = 0;
    uint32_t u32 = 0;
    uint16_t u16 = 0;
    switch (m->size) {
    case 8:
        memcpy(&u64, bytes, 8);
        return u64;
    case 4:
        memcpy(&u32, bytes, 4);
        return u32;
    case 2:
        memcpy(&u16, bytes, 2);
        return u16;
    default:
        return bytes[0];
    }
}

/* What kind of host an address belongs to: 'A', 'B' or 'X'. */
static char
letter_of(const roce_addr *addr)
{
    uint8_t number = addr->bytes[addr->family == 6 ? 15 : 3];
    return number == 1 ? 'A' : number == 2 ? 'B' : 'X';
}

void
scenario_label(const roce_stream *s, char label[16])
{
    unsigned queue_pair = s->dst_qpn & 0xff;
    int n = snprintf(label, 16, "%c", letter_of(&s->src));
    if (s->dst_qpn == 1) {
        n += snprintf(label + n, (size_t)(16 - n), "gsi");
    } else if (queue_pair != 0) {
        n += snprintf(label + n, (size_t)(16 - n), "%u", queue_pair);
    }
    if (s->point != 0) {
        n += snprintf(label + n, (size_t)(16 - n), "@%u", s->point % 1000);
    }
    if (s->tenant.kind != ROCE_TENANT_NONE) {
        snprintf(label + n, (size_t)(16 - n), "%%%u", s->tenant.id % 1000);
    }
}

const roce_stream *
scenario_stream(const scenario_outcome *out, const char *label)
{
    for (uint32_t i = 0; i < roce_tracker_n_streams(out->tracker); i++) {
        const roce_stream *s = roce_tracker_stream(out->tracker, i);
        char own[16];
        scenario_label(s, own);
        if (strcmp(own, label) == 0) {
            return s;
        }
    }
    return NULL;
}

bool
scenario_number(const char *text, uint64_t *value)
{
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (strcmp(words[i].word, text) == 0) {
            *value = words[i].value;
            return true;
        }
    }
    char *end;
    *value = strtoull(text, &end, 0);
    return end != text && *end == '\0';
}

bool
scenario_word(const char **at, char word[64])
{
    size_t n = 0;
    while (**at == ' ' || **at == '\n') {
        (*at)++;
    }
    while (**at != '\0' && **at != ' ' && **at != '\n' && **at != ';') {
        if (n < 63) {
            word[n++] = **at;
        }
        (*at)++;
    }
    word[n] = '\0';
    return n > 0;
}

/* Whether the row's list has a section of this label; *at is what is in it. */
static bool
find_section(const char *want, const char *label, const char **at)
{
    char word[64];
    for (*at = want; scenario_word(at, word);) {
        size_t n = strlen(word);
        if (word[n - 1] == ':' && n - 1 == strlen(label) &&
            strncmp(word, label, n - 1) == 0) {
            return true;
        }
    }
    return false;
}

static const metric *
find_metric(const metric *list, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++) {
        if (strcmp(list[i].name, name) == 0) {
            return &list[i];
        }
    }
    return NULL;
}

/* One object against its section. */
static void
judge_object(scenario_verdict *v, const char *want, const char *label,
             const void *object, const metric *list, size_t n)
{
    bool named[128] = {false};
    const char *at;
    char word[64];
    if (find_section(want, label, &at)) {
        while (scenario_word(&at, word) && word[strlen(word) - 1] != ':') {
            char *equals = strchr(word, '=');
            uint64_t value = 0;
            if (equals != NULL) {
                *equals = '\0';
            }
            const metric *m = find_metric(list, n, word);
            if (m != NULL && equals != NULL && strcmp(equals + 1, "*") == 0) {
                named[m - list] = true;
                continue;
            }
            if (m == NULL || equals == NULL || !scenario_number(equals + 1, &value)) {
                scenario_complain(v, "row: cannot read \"%s\" of %s", word, label);
                continue;
            }
            named[m - list] = true;
            uint64_t is = value_of(object, m);
            if (is != value) {
                scenario_complain(v, "%s %s is %" PRIu64 ", not %" PRIu64, label,
                                  m->name, is, value);
            }
        }
    }
    for (size_t i = 0; i < n; i++) {
        uint64_t is = value_of(object, &list[i]);
        if (list[i].unnamed == MUST_BE_0 && !named[i] && is != 0) {
            scenario_complain(v, "%s %s is %" PRIu64 ", not 0", label, list[i].name,
                              is);
        }
        if (list[i].size == 8 && is > ABSURD) {
            scenario_complain(v, "%s %s wrapped around", label, list[i].name);
        }
    }
}

static void
judge_sections(scenario_verdict *v, const scenario *row, const scenario_outcome *out)
{
    const size_t n = sizeof metrics / sizeof metrics[0];
    for (uint32_t i = 0; i < roce_tracker_n_streams(out->tracker); i++) {
        const roce_stream *s = roce_tracker_stream(out->tracker, i);
        char label[16];
        scenario_label(s, label);
        judge_object(v, row->want, label, s, metrics, n);
    }
    judge_object(v, row->want, "T", roce_tracker_totals_get(out->tracker),
                 totals_metrics, sizeof totals_metrics / sizeof totals_metrics[0]);
    char word[64];
    for (const char *at = row->want; scenario_word(&at, word);) {
        size_t length = strlen(word);
        if (word[length - 1] == ':') {
            word[length - 1] = '\0';
            if (strcmp(word, "T") != 0 && scenario_stream(out, word) == NULL) {
                scenario_complain(v, "there is no stream %s", word);
            }
        }
    }
}

unsigned
scenario_judge(const scenario *row, const scenario_outcome *out, char *why, size_t size)
{
    scenario_verdict v = {.text = why, .size = size};
    why[0] = '\0';
    if (out->trouble[0] != '\0') {
        scenario_complain(&v, "%s", out->trouble);
    }
    if (out->tracker == NULL) {
        scenario_complain(&v, "there is no tracker");
        return v.n;
    }
    if (row->want != NULL) {
        judge_sections(&v, row, out);
    }
    if (row->events != NULL) {
        scenario_judge_events(&v, row, out);
    }
    scenario_judge_invariants(&v, out);
    if (v.n > 0) {
        scenario_list_events(&v, out);
    }
    return v.n;
}
