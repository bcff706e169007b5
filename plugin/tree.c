/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The analysis in the tree of a packet: its stream, what it belongs to, how long things
 * took, and (events.c) what happened.
 *
 * The one rule: everything here is computed, and shown in brackets.
 */
#include "events.h"
#include "stats.h"
#include "words.h"

#define PREFIX "rocev2.analysis."
#define MOST_NOTES 10000 /* of a packet are shown */

/* clang-format off */
typedef enum field {
    F_ANALYSIS, F_SECOND, F_STREAM, F_PEER, F_CONNECTION, F_SRC_QPN, F_PAIRED_BY, F_EXPECTED,
    F_REQUEST, F_RESPONSE, F_RESPONSE_LAST, F_ACK,
    F_ACKED, F_ACKED_PSN,
    F_MORE, F_MESSAGE, F_FIRST_FRAME, F_LAST_FRAME, F_BYTES, F_COMPLETION, F_COMPLETED_IN,
    N_FIELDS,
} field;

static int hf[N_FIELDS];
static int hf_latency[ROCE_N_LATENCIES];
static gint ett_analysis = -1, ett_message = -1, ett_acked = -1;

#define FIELD(id, text, name, type, base, strings)                                     \
    {&hf[id], {text, PREFIX name, FT_##type, BASE_##base, strings, 0, NULL, HFILL}}
#define LINK(id, text, name, kind)                                                     \
    FIELD(id, text, name, FRAMENUM, NONE, FRAMENUM_TYPE(FT_FRAMENUM_##kind))
/* clang-format on */

/* Names of the report's latencies without "_ns"; a field has its own unit. */
static const struct {
    const char *name, *title;
} latencies[ROCE_N_LATENCIES] = {
    [ROCE_LATENCY_MESSAGE_COMPLETION] = {"message_completion",
                                         "Completes a message that took"},
    [ROCE_LATENCY_ACK] = {"ack_latency", "ACK latency"},
    [ROCE_LATENCY_READ_FIRST] = {"read_first", "READ latency to the first response"},
    [ROCE_LATENCY_READ] = {"read_latency", "READ latency"},
    [ROCE_LATENCY_NAK_GENERATION] = {"nak_generation", "Time from the gap to the NAK"},
    [ROCE_LATENCY_NAK_REACTION] = {"nak_reaction",
                                   "Time from the NAK to the retransmission"},
    [ROCE_LATENCY_RECOVERY] = {"recovery", "Time of recovery from a loss"},
    [ROCE_LATENCY_CNP_DELAY] = {"cnp_delay", "Time from the CE mark to the CNP"},
    [ROCE_LATENCY_CNP_INTERVAL] = {"cnp_interval", "Time since the CNP before"},
};

static void
add_uint(proto_tree *tree, tvbuff_t *tvb, field id, uint32_t value)
{
    proto_item_set_generated(proto_tree_add_uint(tree, hf[id], tvb, 0, 0, value));
}

static void
add_link(proto_tree *tree, tvbuff_t *tvb, field id, uint32_t frame)
{
    uint32_t number = memory_number(frame);
    if (number != 0) {
        add_uint(tree, tvb, id, number);
    }
}

/* ---- what the packet belongs to ---- */

static void
add_stream(proto_tree *tree, tvbuff_t *tvb, const packet_record *record)
{
    const roce_stream *s = roce_tracker_stream(analysis_tracker(), record->stream);
    uint32_t connection = memory_stream(s->id)->connection;
    add_uint(tree, tvb, F_STREAM, s->id);
    if (s->peer != ROCE_NO_STREAM) {
        add_uint(tree, tvb, F_PEER, s->peer);
        add_uint(tree, tvb, F_PAIRED_BY, s->paired_by);
    }
    if (connection != ANALYSIS_NONE) {
        add_uint(tree, tvb, F_CONNECTION, connection);
    }
    if (s->has_src_qpn) {
        add_uint(tree, tvb, F_SRC_QPN, s->src_qpn);
    }
}

static void
add_acked(proto_tree *tree, tvbuff_t *tvb, const packet_record *record)
{
    if (record->n_acked == 0) {
        return;
    }
    uint32_t first = record->acked_psn24;
    uint32_t last = (first + record->n_acked - 1) & ROCE_PSN_MASK;
    proto_item *item =
        proto_tree_add_uint(tree, hf[F_ACKED], tvb, 0, 0, record->n_acked);
    proto_item_set_generated(item);
    if (first == last) {
        proto_item_append_text(item, " (%u)", first);
    } else {
        proto_item_append_text(item, " (%u to %u)", first, last);
    }
    add_uint(proto_item_add_subtree(item, ett_acked), tvb, F_ACKED_PSN, first);
}

static void
add_message(proto_tree *tree, tvbuff_t *tvb, packet_info *pinfo,
            const packet_record *record)
{
    const message_record *m = memory_message(record->message);
    if (m == NULL) {
        return;
    }
    proto_item *item = proto_tree_add_item(tree, hf[F_MESSAGE], tvb, 0, 0, ENC_NA);
    proto_item_set_generated(item);
    if (m->bytes_known) {
        proto_item_set_text(item, "Message of %" G_GUINT64_FORMAT " bytes", m->bytes);
    }
    if (m->completed_by != 0) {
        proto_item_append_text(item, ", complete after %s",
                               info_of_duration(m->completion_ns, pinfo->pool));
    }
    proto_tree *sub = proto_item_add_subtree(item, ett_message);
    add_link(sub, tvb, F_FIRST_FRAME, m->first_frame);
    add_link(sub, tvb, F_LAST_FRAME, m->end != 0 ? m->last_frame : 0);
    if (m->bytes_known) {
        proto_item_set_generated(
            proto_tree_add_uint64(sub, hf[F_BYTES], tvb, 0, 0, m->bytes));
    }
    if (m->completed_by != 0) {
        add_link(sub, tvb, F_COMPLETED_IN, m->completed_by);
        events_add_duration(sub, hf[F_COMPLETION], tvb, m->completion_ns);
    }
}

static void
add_links(proto_tree *tree, tvbuff_t *tvb, const packet_record *record)
{
    add_link(tree, tvb, F_REQUEST, record->request);
    add_link(tree, tvb, F_RESPONSE, record->answer_first);
    if (record->answer_last != record->answer_first) {
        add_link(tree, tvb, F_RESPONSE_LAST, record->answer_last);
    }
    add_link(tree, tvb, F_ACK, record->covered_by);
}

/* What an analysis is called when it is folded. */
static void
add_summary(proto_item *item, const packet_record *record)
{
    if (record->stream != ROCE_NO_STREAM) {
        proto_item_append_text(item, ", stream %u", record->stream);
    }
}

/* What happened, and how long things took; not without end, for a tree has one. */
static void
add_notes(proto_tree *tree, tvbuff_t *tvb, packet_info *pinfo,
          const packet_record *record)
{
    uint32_t n_notes = 0;
    for (const note *n = memory_note(record->first_note); n != NULL;
         n = memory_note(n->next)) {
        if (++n_notes > MOST_NOTES) {
            continue;
        }
        if (n->role == NOTE_SAMPLE) {
            const sample_record *sample = memory_sample(n->index);
            events_add_duration(tree, hf_latency[sample->latency], tvb,
                                sample->duration_ns);
        } else {
            events_add(tree, tvb, pinfo, n);
        }
    }
    if (n_notes > MOST_NOTES) {
        add_uint(tree, tvb, F_MORE, n_notes - MOST_NOTES);
    }
}

void
tree_add_analysis(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree,
                  const packet_record *record)
{
    proto_item *item = proto_tree_add_item(tree, hf[F_ANALYSIS], tvb, 0, 0, ENC_NA);
    proto_item_set_generated(item);
    add_summary(item, record);
    proto_tree *sub = proto_item_add_subtree(item, ett_analysis);
    if (record->is_second_copy) {
        proto_item_set_generated(
            proto_tree_add_item(sub, hf[F_SECOND], tvb, 0, 0, ENC_NA));
    }
    if (record->stream != ROCE_NO_STREAM) {
        add_stream(sub, tvb, record);
        conversations_add_fields(
            sub, tvb, pinfo, roce_tracker_stream(analysis_tracker(), record->stream));
    }
    if (record->expected_known) {
        add_uint(sub, tvb, F_EXPECTED, record->expected24);
    }
    add_notes(sub, tvb, pinfo, record);
    add_links(sub, tvb, record);
    add_acked(sub, tvb, record);
    add_message(sub, tvb, pinfo, record);
}

/* ---- registration ---- */

static void
register_latencies(int proto)
{
    static hf_register_info fields[ROCE_N_LATENCIES];
    for (unsigned i = 0; i < ROCE_N_LATENCIES; i++) {
        const header_field_info info = {
            latencies[i].title,
            wmem_strdup_printf(wmem_epan_scope(), PREFIX "%s", latencies[i].name),
            FT_RELATIVE_TIME,
            BASE_NONE,
            NULL,
            0,
            NULL,
            HFILL};
        fields[i] = (hf_register_info){&hf_latency[i], info};
    }
    proto_register_field_array(proto, fields, (int)G_N_ELEMENTS(fields));
}

void
tree_register(int proto, expert_module_t *experts)
{
    /* clang-format off */
    static hf_register_info fields[] = {
        {&hf[F_ANALYSIS], {"Analysis", "rocev2.analysis", FT_NONE, BASE_NONE, NULL, 0,
                           NULL, HFILL}},
        FIELD(F_SECOND, "One of two copies by the mirror: not analysed", "second_copy", NONE,
              NONE, NULL),
        FIELD(F_STREAM, "Stream", "stream", UINT32, DEC, NULL),
        FIELD(F_PEER, "Stream of the other direction", "peer_stream", UINT32, DEC, NULL),
        FIELD(F_CONNECTION, "Connection", "connection", UINT32, DEC, NULL),
        FIELD(F_SRC_QPN, "Source Queue Pair", "src_qpn", UINT24, HEX, NULL),
        FIELD(F_PAIRED_BY, "Paired by", "paired_by", UINT8, DEC, NULL),
        FIELD(F_EXPECTED, "Expected PSN", "expected_psn", UINT24, DEC, NULL),
        LINK(F_REQUEST, "Request in", "request_in", REQUEST),
        LINK(F_RESPONSE, "Response in", "response_in", RESPONSE),
        LINK(F_RESPONSE_LAST, "Last response in", "last_response_in", RESPONSE),
        LINK(F_ACK, "First acknowledged in", "acked_in", ACK),
        FIELD(F_ACKED, "PSNs acknowledged for the first time", "acked", UINT32, DEC,
              NULL),
        FIELD(F_ACKED_PSN, "From PSN", "acked.psn", UINT24, DEC, NULL),
        FIELD(F_MORE, "Not shown: further events", "more", UINT32, DEC, NULL),
        FIELD(F_MESSAGE, "Message", "message", NONE, NONE, NULL),
        LINK(F_FIRST_FRAME, "First packet", "message.first_frame", NONE),
        LINK(F_LAST_FRAME, "Last packet", "message.last_frame", NONE),
        FIELD(F_BYTES, "Bytes", "message.bytes", UINT64, DEC, NULL),
        FIELD(F_COMPLETION, "Completion time", "message.completion", RELATIVE_TIME,
              NONE, NULL),
        LINK(F_COMPLETED_IN, "Complete with", "message.completed_in", NONE),
    };
    /* clang-format on */
    fields[F_PAIRED_BY].hfinfo.strings = events_pairing_names();
    static gint *const subtrees[] = {&ett_analysis, &ett_message, &ett_acked};
    _Static_assert(sizeof fields / sizeof fields[0] == N_FIELDS, "one row per field");
    proto_register_field_array(proto, fields, (int)G_N_ELEMENTS(fields));
    register_latencies(proto);
    proto_register_subtree_array(subtrees, (int)G_N_ELEMENTS(subtrees));
    events_register(proto, experts);
}
