/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which packets are one message.
 *
 * The one rule: a message begins with a packet that says so (First, Only, a READ
 * Request), and runs to the one that ends it; of a message whose first packet was not
 * captured nothing is said.  Its first and last frames are those that were the first to
 * carry these packets, whatever is sent again later.
 *
 * Limitations: where the end of one message and the beginning of the next both went
 * unseen, packets of the second are taken for the first's if they are of its kind.
 */
#include "analysis.h"

#include "roce/opcode.h"

typedef struct message_entry {
    int64_t psn;
    uint32_t message;
} message_entry;

/* Index of the first entry of a higher PSN; the newest is looked at first, since that is
 * where most packets belong. */
static guint
upper_bound(const GArray *entries, int64_t psn)
{
    guint low = 0;
    guint high = entries->len;
    if (high > 0 && g_array_index(entries, message_entry, high - 1).psn <= psn) {
        return high;
    }
    while (low < high) {
        guint middle = low + (high - low) / 2;
        if (g_array_index(entries, message_entry, middle).psn <= psn) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static GArray *
entries_of(uint32_t stream)
{
    stream_record *s = memory_stream(stream);
    if (s->messages == NULL) {
        s->messages = g_array_new(FALSE, FALSE, sizeof(message_entry));
    }
    return s->messages;
}

static uint32_t
begin_message(GArray *entries, guint at, const packet_record *record,
              const roce_packet *packet)
{
    const roce_opcode_info *opcode = roce_opcode_get(packet->bth.opcode);
    const message_record message = {
        .psn = record->psn,
        .first_frame = record->frame,
        .packet_bytes = packet->payload_bytes,
        .role = (uint8_t)opcode->role,
    };
    const message_entry entry = {record->psn, memory_add_message(&message)};
    g_array_insert_val(entries, at, entry);
    return entry.message;
}

/* A WRITE and a READ state their length; all packets of a SEND but the last are of one
 * size (IBTA 9.7.2). */
static void
learn_bytes(message_record *m, const packet_record *record, const roce_packet *packet,
            const roce_opcode_info *opcode)
{
    if ((packet->headers & ROCE_HEADER_RETH) != 0) {
        if (!m->bytes_known) {
            m->bytes = packet->reth.length_bytes;
            m->bytes_known = true;
        }
    } else if (opcode->role == ROCE_ROLE_SEND && roce_part_ends(opcode->part)) {
        m->bytes =
            (uint64_t)(record->psn - m->psn) * m->packet_bytes + packet->payload_bytes;
        m->bytes_known = true;
    }
}

void
messages_add_request(packet_record *record, const roce_packet *packet,
                     const roce_sighting *sighting)
{
    const roce_opcode_info *opcode = roce_opcode_get(packet->bth.opcode);
    GArray *entries = entries_of(record->stream);
    guint at = upper_bound(entries, record->psn);
    const message_entry *before =
        at > 0 ? &g_array_index(entries, message_entry, at - 1) : NULL;
    message_record *m = before != NULL ? memory_message(before->message) : NULL;
    bool inside = m != NULL && (m->end == 0 || record->psn < m->end) &&
                  m->role == (uint8_t)opcode->role;
    bool starts = roce_part_starts(opcode->part);
    uint32_t index;
    if (inside && (!starts || record->psn == m->psn || m->end != 0)) {
        index = before->message;
    } else if (starts) {
        index = begin_message(entries, at, record, packet);
        m = memory_message(index);
    } else {
        return;
    }
    record->message = index;
    learn_bytes(m, record, packet, opcode);
    if (roce_part_ends(opcode->part) && m->end == 0) {
        m->last_frame = record->frame;
        m->end = record->psn + sighting->span;
    }
}

void
messages_add_answer(packet_record *record, const roce_packet *packet,
                    const packet_record *request)
{
    const roce_opcode_info *opcode = roce_opcode_get(packet->bth.opcode);
    record->message = request->message;
    message_record *m = memory_message(request->message);
    if (m != NULL && !m->is_answered && opcode->role != ROCE_ROLE_ACK &&
        roce_part_ends(opcode->part)) {
        m->last_frame = record->frame;
        m->is_answered = true;
    }
}

void
messages_restart(uint32_t stream)
{
    g_array_set_size(entries_of(stream), 0);
}
