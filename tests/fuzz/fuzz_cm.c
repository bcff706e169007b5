/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Any bytes as a MAD on QP 1, in a UD packet that is as it should be: what holds of the
 * message read from it, and that a shorter capture of it reads the same or nothing.
 *
 *   0    destination QP 1 but for bit 7; bits 0-1: pad bytes
 *   1    how many bytes of the payload were captured less than there were
 *   2..  the payload
 */
#include "traffic.h"

#include "roce/cm.h"
#include "roce/decode.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define SETTINGS 2
#define HEADERS 20 /* BTH and DETH */
#define MAX_PAYLOAD 4096

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
check(const roce_cm_message *m)
{
    assert(m->kind >= ROCE_CM_REQ && m->kind <= ROCE_CM_SIDR_REP);
    assert(strcmp(roce_cm_kind_name(m->kind), "?") != 0);
    assert(roce_cm_reject_name(m->reject_reason) != NULL);
    assert(m->qpn <= 0xffffff && m->starting_psn <= 0xffffff);
    assert(m->retry_count <= 7 && m->rnr_retry_count <= 7);
    assert(m->ack_timeout <= 31 && m->transport_type <= 3);
    assert(m->path_mtu_bytes <= 4096 && m->path_mtu_bytes % 256 == 0);
    assert(m->kind == ROCE_CM_REQ || m->path_mtu_bytes == 0);
    assert(m->kind == ROCE_CM_REJ || m->reject_reason == 0);
}

/* Decodes over rubbish, which must not show. */
static roce_outcome
read_message(const uint8_t *packet, uint32_t captured, const roce_packet *p,
             roce_cm_message *m)
{
    roce_cm_message untouched;
    memset(m, 0xa5, sizeof *m);
    memset(&untouched, 0xa5, sizeof untouched);
    uint8_t *bytes = traffic_copy(packet, captured);
    roce_outcome outcome = roce_cm_decode(bytes, captured, p, m);
    free(bytes);
    if (outcome == ROCE_DECODED) {
        assert(p->bth.dest_qpn == ROCE_GSI_QPN);
        check(m);
    } else {
        assert(memcmp(m, &untouched, sizeof untouched) == 0);
    }
    return outcome;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < SETTINGS || size > MAX_PAYLOAD) {
        return 0;
    }
    uint8_t packet[HEADERS + MAX_PAYLOAD + 4] = {
        0x64, (uint8_t)((data[0] & 3) << 4),     0xff, 0xff, 0, 0,
        0,    data[0] < 0x80 ? ROCE_GSI_QPN : 2,
    };
    uint32_t n = (uint32_t)size - SETTINGS;
    memcpy(packet + HEADERS, data + SETTINGS, n);
    uint32_t wire = HEADERS + n + 4;
    uint32_t captured = wire - (data[1] < wire ? data[1] : wire);
    roce_packet p = {0};
    roce_decode_transport(packet, wire, wire, &p);
    roce_cm_message whole, cut;
    roce_outcome outcome = read_message(packet, wire, &p, &whole);
    roce_outcome cut_outcome = read_message(packet, captured, &p, &cut);
    assert(outcome != ROCE_TRUNCATED);
    if (outcome == ROCE_DECODED && cut_outcome == ROCE_DECODED) {
        assert(whole.kind == cut.kind && whole.qpn == cut.qpn);
        assert(whole.local_comm_id == cut.local_comm_id);
        assert(whole.ack_timeout == cut.ack_timeout);
    } else {
        assert(cut_outcome == outcome || cut_outcome == ROCE_TRUNCATED);
    }
    return 0;
}
