/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tracker's events as fields: on the packet that each was seen on, and on the earlier
 * packet that it is about as well.
 *
 * The one rule: a row of the table says everything about a kind of event; names are
 * those of the report's events, so rocev2.analysis.gap is what JSON calls "gap".
 *
 * Of a kind named K the fields are rocev2.analysis.K, whose value is what the row says;
 * below it K.stream, K.psn, K.last_psn, K.count, K.duration and K.evidence where the row has
 * them, and K.<link> for the earlier packet.  That packet gets the row's `back` field, with
 * the time from it to the event below.
 */
#include "events.h"

#include "words.h"

#include "roce/aeth.h"

#include <string.h>

#define PREFIX "rocev2.analysis."
#define MAX_NAMES 64 /* of an enumeration, one more for the end */

/* What the value of a kind's field is. */
typedef enum value_kind {
    VALUE_NONE, /* that it is there says all */
    VALUE_DETAIL,
    VALUE_COUNT,
    VALUE_DURATION,
} value_kind;

enum leaf_bit {
    LEAF_PSN = 1 << 0,
    LEAF_COUNT = 1 << 1,
    LEAF_DURATION = 1 << 2,
    LEAF_EVIDENCE = 1 << 3,
    LEAF_LAST_PSN = 1 << 4,
};

typedef enum leaf {
    AT_PSN,
    AT_COUNT,
    AT_DURATION,
    AT_EVIDENCE,
    AT_LAST_PSN, /* of `count` from `psn` on */
    AT_STREAM,   /* every kind has it */
    N_LEAVES,
} leaf;

typedef struct event_row {
    const char *title;
    const char *count_title; /* NULL: "Count" */
    value_kind value;
    unsigned leaves;
    const char *link, *link_title; /* the earlier packet; NULL: there is none */
    enum ft_framenum_type link_type;
    const char *back, *back_title; /* on that one; NULL: nothing */
    enum ft_framenum_type back_type;
    int group, severity; /* of its expert info; 0: it has none */
    const char *summary; /* of that; NULL: the title says it */
} event_row;

/* clang-format off */
static const event_row rows[ROCE_N_EVENTS] = {
    [ROCE_EVENT_STREAM_START] = {.title = "First packet of the stream"},
    [ROCE_EVENT_STREAM_RESTART] = {
        .title = "PSNs begin anew", .leaves = LEAF_PSN,
        .group = PI_SEQUENCE, .severity = PI_NOTE},
    [ROCE_EVENT_GAP] = {
        .title = "Gap: PSNs missing", .value = VALUE_COUNT,
        .leaves = LEAF_PSN | LEAF_LAST_PSN,
        .link = "behind", .link_title = "Behind", .group = PI_SEQUENCE,
        .severity = PI_WARN},
    [ROCE_EVENT_LATE] = {
        .title = "Late original", .leaves = LEAF_PSN | LEAF_EVIDENCE,
        .link = "passed_by", .link_title = "Passed by",
        .group = PI_SEQUENCE, .severity = PI_NOTE},
    [ROCE_EVENT_DUPLICATE] = {
        .title = "Duplicate made by the network",
        .link = "of", .link_title = "Earlier copy", .back = "duplicated_in",
        .back_title = "Duplicated in", .group = PI_SEQUENCE, .severity = PI_NOTE},
    [ROCE_EVENT_RETRANSMISSION] = {
        .title = "Retransmission", .value = VALUE_DETAIL, .leaves = LEAF_PSN,
        .link = "of", .link_title = "Earlier copy",
        .link_type = FT_FRAMENUM_RETRANS_PREV, .back = "retransmitted_in",
        .back_title = "Sent again in", .back_type = FT_FRAMENUM_RETRANS_NEXT,
        .group = PI_SEQUENCE, .severity = PI_NOTE},
    [ROCE_EVENT_ROUND] = {
        .title = "Round of retransmissions", .value = VALUE_DETAIL,
        .leaves = LEAF_PSN | LEAF_DURATION, .link = "nak", .link_title = "Answers NAK",
        .back = "nak.answered_in", .back_title = "Answered by the retransmission in",
        .group = PI_SEQUENCE, .severity = PI_WARN},
    [ROCE_EVENT_SPURIOUS_ROUND] = {
        .title = "Round was spurious", .leaves = LEAF_PSN,
        .link = "round", .link_title = "The round", .back = "spurious_round_by",
        .back_title = "Shown to be spurious by", .group = PI_SEQUENCE,
        .severity = PI_NOTE},
    [ROCE_EVENT_NAK] = {
        .title = "NAK", .value = VALUE_DETAIL, .leaves = LEAF_PSN,
        .link = "provoked_by", .link_title = "Provoked by", .back = "nak_in",
        .back_title = "NAK in", .group = PI_SEQUENCE, .severity = PI_WARN},
    [ROCE_EVENT_RNR_NAK] = {
        .title = "RNR NAK: wait asked for", .value = VALUE_DURATION, .leaves = LEAF_PSN,
        .link = "request", .link_title = "Request refused", .back = "rnr_nak_in",
        .back_title = "Refused by the RNR NAK in", .group = PI_SEQUENCE,
        .severity = PI_WARN, .summary = "RNR NAK: the receiver was not ready"},
    [ROCE_EVENT_RNR_WAIT] = {
        .title = "Wait taken after the RNR NAK", .count_title = "As long as asked",
        .value = VALUE_DURATION, .leaves = LEAF_COUNT, .link = "nak", .link_title = "The RNR NAK",
        .back = "rnr_nak.answered_in", .back_title = "Request sent again in"},
    [ROCE_EVENT_READ_REISSUE] = {
        .title = "READ asked for again: bytes", .value = VALUE_COUNT, .leaves = LEAF_PSN,
        .group = PI_SEQUENCE, .severity = PI_NOTE, .summary = "READ asked for again"},
    [ROCE_EVENT_RESPONSE_RESENT] = {
        .title = "Response sent again", .leaves = LEAF_PSN,
        .link = "of", .link_title = "Earlier copy",
        .link_type = FT_FRAMENUM_RETRANS_PREV, .back = "response_resent_in",
        .back_title = "Response sent again in", .back_type = FT_FRAMENUM_RETRANS_NEXT,
        .group = PI_SEQUENCE, .severity = PI_NOTE},
    [ROCE_EVENT_LOSS] = {
        .title = "Loss verdict", .value = VALUE_DETAIL,
        .leaves = LEAF_PSN | LEAF_COUNT | LEAF_EVIDENCE,
        .link = "packet", .link_title = "The packet"},
    [ROCE_EVENT_LOSS_WITHDRAWN] = {
        .title = "Verdict withdrawn", .value = VALUE_DETAIL, .leaves = LEAF_PSN,
        .group = PI_SEQUENCE, .severity = PI_CHAT},
    [ROCE_EVENT_ECN_TRANSITION] = {
        .title = "ECN transition", .value = VALUE_DETAIL, .group = PI_SEQUENCE,
        .severity = PI_CHAT},
    [ROCE_EVENT_CE_EPISODE] = {
        .title = "CE episode ended: packets marked", .value = VALUE_COUNT,
        .leaves = LEAF_DURATION, .link = "first", .link_title = "First marked packet",
        .back = "ce_episode_ends_in", .back_title = "CE episode known to end in"},
    [ROCE_EVENT_CNP] = {
        .title = "Congestion notification", .link = "ce_packet",
        .link_title = "First marked packet that it answers", .back = "cnp_in",
        .back_title = "CNP in", .group = PI_SEQUENCE, .severity = PI_NOTE},
    [ROCE_EVENT_ICRC_BAD] = {.title = "Bad ICRC", .leaves = LEAF_PSN},
    [ROCE_EVENT_IP_CHECKSUM_BAD] = {
        .title = "Bad IPv4 header checksum", .leaves = LEAF_PSN,
        .group = PI_CHECKSUM, .severity = PI_WARN},
    [ROCE_EVENT_PSN_BAD] = {
        .title = "Damaged PSN", .leaves = LEAF_PSN,
        .group = PI_CHECKSUM, .severity = PI_WARN},
    [ROCE_EVENT_CONNECTED] = {
        .title = "Paired by", .count_title = "With stream", .value = VALUE_DETAIL,
        .leaves = LEAF_COUNT,
        .group = PI_ASSUMPTION, .severity = PI_CHAT, .summary = "Two streams paired"},
    [ROCE_EVENT_DISCONNECTED] = {
        .title = "Pairing undone", .value = VALUE_DETAIL,
        .group = PI_ASSUMPTION, .severity = PI_NOTE},
    [ROCE_EVENT_CM] = {.title = "Connection management", .value = VALUE_DETAIL},
    [ROCE_EVENT_EVICTED] = {
        .title = "No more room to remember", .value = VALUE_DETAIL,
        .leaves = LEAF_COUNT, .group = PI_UNDECODED, .severity = PI_NOTE},
};

static const struct {
    const char *name, *title;
    enum ftenum type;
} leaf_rows[N_LEAVES] = {
    [AT_PSN] = {"psn", "PSN", FT_UINT24},
    [AT_COUNT] = {"count", "Count", FT_UINT64},
    [AT_DURATION] = {"duration", "Duration", FT_RELATIVE_TIME},
    [AT_EVIDENCE] = {"evidence", "Evidence", FT_UINT8},
    [AT_LAST_PSN] = {"last_psn", "Last PSN", FT_UINT24},
    [AT_STREAM] = {"stream", "Of stream", FT_UINT32},
};

/* A verdict is as bad as what it says. */
static const struct {
    int severity;
    const char *summary;
} verdict_rows[ROCE_N_VERDICTS] = {
    [ROCE_VERDICT_LOST_BEFORE_CAPTURE] = {PI_WARN, "Lost before the capture point"},
    [ROCE_VERDICT_UNDELIVERED_AFTER_CAPTURE] = {
        PI_WARN, "Undelivered behind the capture point: lost or late"},
    [ROCE_VERDICT_ACK_LOST] = {PI_WARN, "The acknowledgement was lost"},
    [ROCE_VERDICT_DATA_OR_ACK_LOST] = {PI_WARN, "Data or acknowledgement lost"},
    [ROCE_VERDICT_NOT_CAPTURED] = {PI_NOTE, "Delivered, but not captured"},
    [ROCE_VERDICT_CORRUPT] = {PI_ERROR, "Damaged on its way, and asked for again"},
    [ROCE_VERDICT_UNKNOWN] = {PI_NOTE, "What became of it cannot be known"},
};
/* clang-format on */

/* Ids that Wireshark hands out. */
static int hf_value[ROCE_N_EVENTS], hf_link[ROCE_N_EVENTS], hf_back[ROCE_N_EVENTS];
static int hf_leaf[ROCE_N_EVENTS][N_LEAVES];
static int hf_nak, hf_withdrawn, hf_fate, hf_fate_in, hf_delta;
static gint ett_event = -1;
static expert_field ei_event[ROCE_N_EVENTS];
static expert_field ei_verdict[ROCE_N_VERDICTS];
static expert_field ei_fate[ROCE_N_VERDICTS]; /* on the packet itself, if it was seen */
static expert_field ei_fatal = EI_INIT;
static expert_field ei_marked = EI_INIT;

/* Filled at registration, one more each for the end. */
static value_string cause_names[MAX_NAMES], verdict_names[MAX_NAMES],
    evidence_names[MAX_NAMES], pairing_names[MAX_NAMES], table_names[MAX_NAMES],
    nak_names[MAX_NAMES], cm_names[256 + 1], transition_names[16 + 1];

static const value_string *
names_of(roce_event_kind kind)
{
    static const value_string *const by_kind[ROCE_N_EVENTS] = {
        [ROCE_EVENT_RETRANSMISSION] = cause_names,
        [ROCE_EVENT_ROUND] = cause_names,
        [ROCE_EVENT_NAK] = nak_names,
        [ROCE_EVENT_LOSS] = verdict_names,
        [ROCE_EVENT_LOSS_WITHDRAWN] = verdict_names,
        [ROCE_EVENT_ECN_TRANSITION] = transition_names,
        [ROCE_EVENT_CONNECTED] = pairing_names,
        [ROCE_EVENT_DISCONNECTED] = pairing_names,
        [ROCE_EVENT_CM] = cm_names,
        [ROCE_EVENT_EVICTED] = table_names,
    };
    return by_kind[kind];
}

const value_string *
events_pairing_names(void)
{
    return pairing_names;
}

/* ---- on a packet ---- */

static void
add_frame(proto_tree *tree, int field, tvbuff_t *tvb, uint64_t frame)
{
    uint32_t number = memory_number(frame);
    if (number != 0) {
        proto_item_set_generated(proto_tree_add_uint(tree, field, tvb, 0, 0, number));
    }
}

void
events_add_duration(proto_tree *tree, int field, tvbuff_t *tvb, uint64_t duration_ns)
{
    const nstime_t time = info_time(duration_ns);
    proto_item_set_generated(proto_tree_add_time(tree, field, tvb, 0, 0, &time));
}

static void
add_delta(proto_tree *tree, tvbuff_t *tvb, uint64_t from, uint64_t to)
{
    uint64_t delta_ns;
    if (analysis_delta_ns((uint32_t)from, (uint32_t)to, &delta_ns)) {
        events_add_duration(tree, hf_delta, tvb, delta_ns);
    }
}

static proto_item *
add_value(proto_tree *tree, tvbuff_t *tvb, const roce_event *e)
{
    int field = hf_value[e->kind];
    const nstime_t time = info_time(e->duration_ns);
    switch (rows[e->kind].value) {
    case VALUE_NONE:
        break;
    case VALUE_DETAIL:
        return proto_tree_add_uint(tree, field, tvb, 0, 0, e->detail);
    case VALUE_COUNT:
        return proto_tree_add_uint64(tree, field, tvb, 0, 0, e->count);
    case VALUE_DURATION:
        return proto_tree_add_time(tree, field, tvb, 0, 0, &time);
    }
    return proto_tree_add_item(tree, field, tvb, 0, 0, ENC_NA);
}

static void
add_leaves(proto_tree *tree, tvbuff_t *tvb, const roce_event *e)
{
    const int *field = hf_leaf[e->kind];
    unsigned leaves = rows[e->kind].leaves;
    if (e->stream != ROCE_NO_STREAM) {
        proto_item_set_generated(
            proto_tree_add_uint(tree, field[AT_STREAM], tvb, 0, 0, e->stream));
    }
    if ((leaves & LEAF_PSN) != 0 && e->psn != ROCE_NO_PSN) {
        proto_item_set_generated(
            proto_tree_add_uint(tree, field[AT_PSN], tvb, 0, 0, roce_psn_wrap(e->psn)));
    }
    if ((leaves & LEAF_LAST_PSN) != 0) {
        uint32_t last24 = roce_psn_wrap(e->psn + (int64_t)e->count - 1);
        proto_item_set_generated(
            proto_tree_add_uint(tree, field[AT_LAST_PSN], tvb, 0, 0, last24));
    }
    if ((leaves & LEAF_COUNT) != 0) {
        proto_item_set_generated(
            proto_tree_add_uint64(tree, field[AT_COUNT], tvb, 0, 0, e->count));
    }
    if ((leaves & LEAF_DURATION) != 0) {
        events_add_duration(tree, field[AT_DURATION], tvb, e->duration_ns);
    }
    if ((leaves & LEAF_EVIDENCE) != 0 && e->evidence != ROCE_EVIDENCE_NONE) {
        proto_item_set_generated(
            proto_tree_add_uint(tree, field[AT_EVIDENCE], tvb, 0, 0, e->evidence));
    }
}

/* NULL: this is no news. */
static expert_field *
expert_of(const event_record *record)
{
    const roce_event *e = &record->event;
    if (record->undone_by != 0) {
        return NULL;
    }
    if (e->kind == ROCE_EVENT_LOSS) {
        return &ei_verdict[e->detail];
    }
    if (e->kind == ROCE_EVENT_NAK && e->detail != ROCE_NAK_PSN_SEQUENCE) {
        return &ei_fatal;
    }
    if (e->kind == ROCE_EVENT_ECN_TRANSITION && (e->detail & 3u) == ROCE_ECN_CE) {
        return &ei_marked;
    }
    return rows[e->kind].severity != 0 ? &ei_event[e->kind] : NULL;
}

static void
add_event(proto_tree *tree, tvbuff_t *tvb, packet_info *pinfo,
          const event_record *record)
{
    const roce_event *e = &record->event;
    if (rows[e->kind].title == NULL) {
        return; /* of another protocol */
    }
    const char *sentence = words_sentence(record, pinfo->pool);
    proto_item *item = add_value(tree, tvb, e);
    proto_item_set_text(item, "%s%s", sentence,
                        record->undone_by != 0 ? "; taken back later" : "");
    proto_item_set_generated(item);
    proto_tree *sub = proto_item_add_subtree(item, ett_event);
    add_leaves(sub, tvb, e);
    if (rows[e->kind].link != NULL) {
        add_frame(sub, hf_link[e->kind], tvb, e->related_frame);
    }
    if (e->kind == ROCE_EVENT_RETRANSMISSION) {
        add_frame(sub, hf_nak, tvb, record->nak);
    }
    if (e->kind == ROCE_EVENT_LOSS) {
        add_frame(sub, hf_withdrawn, tvb, record->undone_by);
    }
    expert_field *expert = expert_of(record);
    if (expert != NULL) {
        expert_add_info(pinfo, item, expert);
    }
}

/* What became of this packet's copy. */
static void
add_fate(proto_tree *tree, tvbuff_t *tvb, packet_info *pinfo,
         const event_record *record)
{
    const roce_event *e = &record->event;
    if (record->undone_by != 0) {
        return;
    }
    proto_item *item = proto_tree_add_uint(tree, hf_fate, tvb, 0, 0, e->detail);
    proto_item_set_generated(item);
    proto_tree *sub = proto_item_add_subtree(item, ett_event);
    add_frame(sub, hf_fate_in, tvb, e->frame);
    expert_add_info(pinfo, item, &ei_fate[e->detail]);
}

static void
add_related(proto_tree *tree, tvbuff_t *tvb, packet_info *pinfo,
            const event_record *record)
{
    const roce_event *e = &record->event;
    if (e->kind == ROCE_EVENT_LOSS) {
        add_fate(tree, tvb, pinfo, record);
        return;
    }
    uint32_t number = memory_number(e->frame);
    if (rows[e->kind].back == NULL || number == 0) {
        return;
    }
    proto_item *item = proto_tree_add_uint(tree, hf_back[e->kind], tvb, 0, 0, number);
    proto_item_set_generated(item);
    add_delta(proto_item_add_subtree(item, ett_event), tvb, e->related_frame, e->frame);
}

void
events_add(proto_tree *tree, tvbuff_t *tvb, packet_info *pinfo, const note *n)
{
    const event_record *record = memory_event(n->index);
    if (n->role == NOTE_EVENT) {
        add_event(tree, tvb, pinfo, record);
    } else {
        add_related(tree, tvb, pinfo, record);
    }
}

void
events_add_evicted(proto_tree *tree, tvbuff_t *tvb, packet_info *pinfo,
                   const packet_record *record)
{
    uint32_t first = record != NULL ? record->first_note : ANALYSIS_NONE;
    for (const note *n = memory_note(first); n != NULL; n = memory_note(n->next)) {
        if (n->role == NOTE_EVENT &&
            memory_event(n->index)->event.kind == ROCE_EVENT_EVICTED) {
            events_add(tree, tvb, pinfo, n);
        }
    }
}

bool
events_evicted_is_wanted(proto_tree *tree)
{
    int field = hf_value[ROCE_EVENT_EVICTED];
    return proto_field_is_referenced(tree, proto_registrar_get_parent(field));
}

/* ---- registration ---- */

static const char *
cause_name(unsigned i)
{
    return roce_cause_name((roce_cause)i);
}

static const char *
verdict_name(unsigned i)
{
    return roce_verdict_name((roce_verdict)i);
}

static const char *
evidence_name(unsigned i)
{
    return roce_evidence_name((roce_evidence)i);
}

static const char *
pairing_name(unsigned i)
{
    return roce_pairing_name((roce_pairing)i);
}

static const char *
table_name(unsigned i)
{
    return roce_table_name((roce_table)i);
}

static const char *
transition_name(unsigned i)
{
    return wmem_strdup_printf(wmem_epan_scope(), "%s to %s", words_codepoint(i >> 2),
                              words_codepoint(i));
}

static void
fill(value_string *names, unsigned n, const char *(*name)(unsigned))
{
    for (unsigned i = 0; i < n; i++) {
        names[i] = (value_string){i, name(i)};
    }
    names[n] = (value_string){0, NULL};
}

static void
fill_names(void)
{
    fill(cause_names, ROCE_N_CAUSES, cause_name);
    fill(verdict_names, ROCE_N_VERDICTS, verdict_name);
    fill(evidence_names, ROCE_N_EVIDENCES, evidence_name);
    fill(pairing_names, ROCE_PAIRING_CM + 1, pairing_name);
    fill(table_names, ROCE_N_TABLES, table_name);
    fill(nak_names, 32, roce_nak_code_name);
    fill(transition_names, 16, transition_name);
    unsigned n = 0;
    for (unsigned i = 0; i < 256; i++) {
        const roce_event e = {.kind = ROCE_EVENT_CM, .detail = (uint8_t)i};
        const char *name = roce_event_detail_name(&e);
        if (name != NULL) {
            cm_names[n++] = (value_string){i, name};
        }
    }
}

/* Wireshark keeps what it is given: rows live for ever. */
static void
register_field(int proto, int *id, const char *title, const char *name,
               enum ftenum type, int display, const void *strings)
{
    hf_register_info *row = wmem_new0(wmem_epan_scope(), hf_register_info);
    const header_field_info info = {title,   name, type, display,
                                    strings, 0,    NULL, HFILL};
    row->p_id = id;
    row->hfinfo = info;
    proto_register_field_array(proto, row, 1);
}

static const char *
join(const char *kind, const char *name)
{
    return wmem_strdup_printf(wmem_epan_scope(), PREFIX "%s.%s", kind, name);
}

static void
register_value(int proto, roce_event_kind kind, const char *name)
{
    const event_row *row = &rows[kind];
    static const struct {
        enum ftenum type;
        int display;
    } kinds[] = {
        [VALUE_NONE] = {FT_NONE, BASE_NONE},
        [VALUE_DETAIL] = {FT_UINT8, BASE_DEC},
        [VALUE_COUNT] = {FT_UINT64, BASE_DEC},
        [VALUE_DURATION] = {FT_RELATIVE_TIME, BASE_NONE},
    };
    const value_string *names = row->value == VALUE_DETAIL ? names_of(kind) : NULL;
    register_field(proto, &hf_value[kind], row->title,
                   wmem_strdup_printf(wmem_epan_scope(), PREFIX "%s", name),
                   kinds[row->value].type, kinds[row->value].display, names);
}

static void
register_leaves(int proto, roce_event_kind kind, const char *name)
{
    for (unsigned i = 0; i < N_LEAVES; i++) {
        if (i != AT_STREAM && (rows[kind].leaves & 1u << i) == 0) {
            continue;
        }
        int display = leaf_rows[i].type == FT_RELATIVE_TIME ? BASE_NONE : BASE_DEC;
        const char *title = i == AT_COUNT && rows[kind].count_title != NULL
                                ? rows[kind].count_title
                                : leaf_rows[i].title;
        register_field(proto, &hf_leaf[kind][i], title, join(name, leaf_rows[i].name),
                       leaf_rows[i].type, display,
                       i == AT_EVIDENCE ? evidence_names : NULL);
    }
}

static void
register_kind(int proto, roce_event_kind kind)
{
    const event_row *row = &rows[kind];
    const char *name = roce_event_kind_name(kind);
    register_value(proto, kind, name);
    register_leaves(proto, kind, name);
    if (row->link != NULL) {
        register_field(proto, &hf_link[kind], row->link_title, join(name, row->link),
                       FT_FRAMENUM, BASE_NONE, GINT_TO_POINTER((gint)row->link_type));
    }
    if (row->back != NULL) {
        register_field(proto, &hf_back[kind], row->back_title,
                       wmem_strdup_printf(wmem_epan_scope(), PREFIX "%s", row->back),
                       FT_FRAMENUM, BASE_NONE, GINT_TO_POINTER((gint)row->back_type));
    }
}

static void
register_expert(expert_module_t *module, expert_field *field, const char *name,
                int group, int severity, const char *summary)
{
    const expert_field none = EI_INIT;
    const ei_register_info info = {
        field,
        {wmem_strdup_printf(wmem_epan_scope(), "rocev2.expert.%s", name), group,
         severity, summary, EXPFILL}};
    ei_register_info *row = wmem_new(wmem_epan_scope(), ei_register_info);
    *field = none;
    *row = info;
    expert_register_field_array(module, row, 1);
}

static void
register_experts(expert_module_t *module)
{
    for (unsigned kind = 0; kind < ROCE_N_EVENTS; kind++) {
        const event_row *row = &rows[kind];
        if (row->severity != 0) {
            register_expert(module, &ei_event[kind],
                            roce_event_kind_name((roce_event_kind)kind), row->group,
                            row->severity,
                            row->summary != NULL ? row->summary : row->title);
        }
    }
    for (unsigned i = 0; i < ROCE_N_VERDICTS; i++) {
        const char *name = wmem_strdup_printf(wmem_epan_scope(), "loss.%s",
                                              roce_verdict_name((roce_verdict)i));
        register_expert(module, &ei_verdict[i], name, PI_SEQUENCE,
                        verdict_rows[i].severity, verdict_rows[i].summary);
        name = wmem_strdup_printf(wmem_epan_scope(), "fate.%s",
                                  roce_verdict_name((roce_verdict)i));
        register_expert(module, &ei_fate[i], name, PI_SEQUENCE, PI_NOTE,
                        wmem_strdup_printf(wmem_epan_scope(), "The packet itself: %s",
                                           verdict_rows[i].summary));
    }
    register_expert(module, &ei_fatal, "nak.fatal", PI_RESPONSE_CODE, PI_ERROR,
                    "NAK: the queue pair goes to error");
    register_expert(module, &ei_marked, "ecn_transition.ce", PI_SEQUENCE, PI_NOTE,
                    "Congestion: marked from here on");
}

void
events_register(int proto, expert_module_t *experts)
{
    static gint *const subtrees[] = {&ett_event};
    fill_names();
    for (unsigned kind = 0; kind < ROCE_N_EVENTS; kind++) {
        if (rows[kind].title != NULL) {
            register_kind(proto, (roce_event_kind)kind);
        }
    }
    register_field(proto, &hf_nak, "NAK that asked for it", PREFIX "retransmission.nak",
                   FT_FRAMENUM, BASE_NONE, NULL);
    register_field(proto, &hf_withdrawn, "Withdrawn in", PREFIX "loss.withdrawn_in",
                   FT_FRAMENUM, BASE_NONE, NULL);
    register_field(proto, &hf_fate, "What became of it", PREFIX "fate", FT_UINT8,
                   BASE_DEC, verdict_names);
    register_field(proto, &hf_fate_in, "Shown by", PREFIX "fate.shown_in", FT_FRAMENUM,
                   BASE_NONE, NULL);
    register_field(proto, &hf_delta, "Time until then", PREFIX "after",
                   FT_RELATIVE_TIME, BASE_NONE, NULL);
    proto_register_subtree_array(subtrees, (int)G_N_ELEMENTS(subtrees));
    register_experts(experts);
}
