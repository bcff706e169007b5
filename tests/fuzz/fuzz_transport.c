/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Any bytes as a BTH and what follows it, without a network around them: the table of
 * opcodes decides, and cutting bytes off takes away and changes nothing.
 *
 *   0    how many more bytes there were on the wire
 *   1    how many of the captured bytes are left out of a second, cut look
 *   2..  the bytes
 */
#include "traffic.h"

#include "roce/decode.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define SETTINGS 2
#define BTH_BYTES 12
#define ICRC_BYTES 4

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Extension headers that were read are those of the opcode, in their order; but DC's are
 * not public. */
static void
check_headers(const roce_packet *p, uint32_t captured)
{
    const roce_opcode_info *info = roce_opcode_get(p->bth.opcode);
    if (p->transport == ROCE_TRANSPORT_DC) {
        assert(info->transport == ROCE_TRANSPORT_RD && p->headers == 0);
        return;
    }
    uint32_t at = BTH_BYTES;
    bool all = true;
    for (unsigned i = 0; i < ROCE_N_HEADERS; i++) {
        roce_header header = (roce_header)(1u << i);
        if ((info->headers & header) != 0) {
            bool is_read = (p->headers & header) != 0;
            assert(all || !is_read);
            all = is_read;
            at += roce_header_size(header);
            assert(!is_read || at <= captured);
        }
    }
    assert((p->headers & ~(unsigned)info->headers) == 0);
    assert(p->outcome != ROCE_DECODED || all);
}

static void
check(const roce_packet *p, uint32_t captured, uint32_t wire)
{
    assert(p->outcome != ROCE_TRUNCATED || captured < wire);
    assert(p->transport < ROCE_N_TRANSPORTS);
    assert(roce_opcode_name(p->bth.opcode, p->transport) != NULL);
    assert(p->has_bth || p->headers == 0);
    if (!p->has_bth) {
        return;
    }
    assert(captured >= BTH_BYTES);
    assert(p->bth.pad_bytes <= 3 && p->bth.psn24 <= 0xffffff);
    assert(p->bth.dest_qpn <= 0xffffff && p->aeth_msn <= 0xffffff);
    assert(p->deth_src_qpn <= 0xffffff && p->rdeth_ee <= 0xffffff);
    if (p->kind == ROCE_CLASS_ROCE && p->outcome != ROCE_MALFORMED) {
        check_headers(p, captured);
        assert(p->end_offset <= wire);
        assert(p->payload_offset + p->payload_bytes + p->bth.pad_bytes + ICRC_BYTES ==
               p->end_offset);
    }
}

/* The first `captured` bytes of `wire`, out of memory that ends there. */
static void
look(const uint8_t *data, uint32_t captured, uint32_t wire, roce_packet *p)
{
    uint8_t *bytes = traffic_copy(data, captured);
    memset(p, 0, sizeof *p);
    roce_decode_transport(bytes, captured, wire, p);
    check(p, captured, wire);
    free(bytes);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < SETTINGS || size > 70000) {
        return 0;
    }
    uint32_t captured = (uint32_t)size - SETTINGS;
    uint32_t wire = captured + data[0];
    uint32_t fewer = data[1] < captured ? captured - data[1] : 0;
    roce_packet whole, cut;
    look(data + SETTINGS, captured, wire, &whole);
    look(data + SETTINGS, fewer, wire, &cut);
    /* The snap length makes nothing malformed, and what it leaves is the same. */
    assert(whole.outcome == ROCE_MALFORMED || cut.outcome != ROCE_MALFORMED);
    /* But where what tells RD from DC was cut off. */
    bool is_dc = whole.transport == ROCE_TRANSPORT_DC;
    if (whole.outcome == ROCE_DECODED && cut.has_bth && !is_dc) {
        assert(memcmp(&whole.bth, &cut.bth, sizeof cut.bth) == 0);
        assert(whole.kind == cut.kind && whole.transport == cut.transport);
        assert((cut.headers & ~(unsigned)whole.headers) == 0);
        assert(whole.payload_bytes == cut.payload_bytes);
    }
    return 0;
}
