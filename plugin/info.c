/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The Info column: operation, queue pair, PSN, length; and in brackets what is wrong,
 * worst first.
 *
 * The one rule: names come from core's tables; "QP=0x00001a" is written as the built-in
 * writes it, since people search for that.
 */
#include "words.h"

#include "roce/aeth.h"
#include "roce/sentence.h"

static void
append_aeth(wmem_strbuf_t *text, const roce_packet *p)
{
    unsigned value = roce_aeth_get_value(p->aeth_syndrome);
    switch (roce_aeth_get_kind(p->aeth_syndrome)) {
    case ROCE_AETH_ACK:
        return;
    case ROCE_AETH_RNR_NAK:
        wmem_strbuf_append_printf(
            text, " RNR NAK (wait %s)",
            info_of_duration(roce_aeth_rnr_timer_ns(value), text->allocator));
        return;
    case ROCE_AETH_RESERVED:
        wmem_strbuf_append_printf(text, " reserved syndrome 0x%02x", p->aeth_syndrome);
        return;
    case ROCE_AETH_NAK:
        wmem_strbuf_append_printf(text, " NAK (%s)", roce_nak_code_name(value));
        return;
    }
}

static void
append_numbers(wmem_strbuf_t *text, const roce_packet *p)
{
    const roce_opcode_info *opcode = roce_opcode_get(p->bth.opcode);
    if (opcode->role == ROCE_ROLE_CNP) {
        wmem_strbuf_append_printf(text, " QP=0x%06x", p->bth.dest_qpn);
        wmem_strbuf_append(text, p->bth.fecn ? " FECN" : "");
        wmem_strbuf_append(text, p->bth.becn ? " BECN" : "");
        return;
    }
    wmem_strbuf_append_printf(text, " QP=0x%06x PSN=%u", p->bth.dest_qpn, p->bth.psn24);
    if ((p->headers & ROCE_HEADER_AETH) != 0) {
        wmem_strbuf_append_printf(text, " MSN=%u", p->aeth_msn);
    }
    if ((p->headers & ROCE_HEADER_RETH) != 0) {
        wmem_strbuf_append_printf(text, " DMA=%u", p->reth.length_bytes);
    }
    if (opcode->role != ROCE_ROLE_ACK && p->outcome != ROCE_MALFORMED) {
        wmem_strbuf_append_printf(text, " Len=%u", p->payload_bytes);
    }
}

const char *
info_of_packet(const plugin_packet *packet, const packet_record *record,
               wmem_allocator_t *scope)
{
    const roce_packet *p = &packet->roce;
    wmem_strbuf_t *text = wmem_strbuf_new(scope, "");
    if (p->has_bth) {
        wmem_strbuf_append(text, roce_opcode_name(p->bth.opcode, p->transport));
        if (roce_opcode_get(p->bth.opcode)->role == ROCE_ROLE_UNKNOWN) {
            wmem_strbuf_append_printf(text, " 0x%02x", p->bth.opcode);
        }
        if ((p->headers & ROCE_HEADER_AETH) != 0) {
            append_aeth(text, p);
        }
        append_numbers(text, p);
    } else {
        wmem_strbuf_append(text, "RoCE");
    }
    if (p->outcome == ROCE_MALFORMED) {
        wmem_strbuf_append(text, " [malformed]");
    }
    if (packet->icrc == ROCE_ICRC_BAD) {
        wmem_strbuf_append(text, " [bad ICRC]");
    }
    if (record != NULL) {
        wmem_strbuf_append(text, words_info(record, scope));
    }
    if (packet->is_trackable && roce_packet_ecn(&packet->whole) == ROCE_ECN_CE) {
        wmem_strbuf_append(text, " [CE]");
    }
    if (p->outcome == ROCE_TRUNCATED) {
        wmem_strbuf_append(text, " [headers cut off]");
    }
    return wmem_strbuf_get_str(text);
}

const char *
info_of_duration(uint64_t duration_ns, wmem_allocator_t *scope)
{
    char text[ROCE_SENTENCE_BYTES];
    return wmem_strdup(scope, roce_duration_text(duration_ns, text, sizeof text));
}
