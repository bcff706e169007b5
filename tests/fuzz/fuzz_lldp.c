/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Any bytes as an LLDPDU: what holds of what is decoded, whatever the bytes are.
 *
 *   0    how many more bytes the frame had on the wire
 *   1    how many of the captured bytes are left out of a second, cut look
 *   2..  the LLDPDU
 */
#include "traffic.h"

#include "roce/lldp.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define SETTINGS 2

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
check_text(const roce_lldp_text *text, const uint8_t *bytes, uint32_t captured)
{
    if (text->bytes == NULL) {
        assert(text->n_bytes == 0 && text->subtype == 0);
        return;
    }
    assert(text->bytes >= bytes && text->n_bytes <= 511);
    assert((size_t)(text->bytes - bytes) + text->n_bytes <= captured);
}

static void
check_ets(const roce_dcb_ets *ets)
{
    static const roce_dcb_ets none;
    assert(ets->present || memcmp(ets, &none, sizeof none) == 0);
    for (unsigned i = 0; i < 8; i++) {
        assert(ets->class_of_priority[i] <= 15);
    }
}

static void
check_dcb(const roce_dcb *dcb)
{
    check_ets(&dcb->ets);
    check_ets(&dcb->ets_recommended);
    assert(dcb->pfc.present || dcb->pfc.enabled == 0);
    assert(dcb->present || (!dcb->ets.present && !dcb->pfc.present &&
                            dcb->n_apps == 0 && dcb->n_app_vlans == 0));
    for (unsigned i = 0; i < dcb->n_app_vlans && i < ROCE_DCB_APP_VLANS; i++) {
        assert(dcb->app_vlans[i].vid <= 0xfff);
    }
}

/* The first `captured` of the bytes, out of memory that ends there. */
static roce_outcome
look(const uint8_t *data, uint32_t captured, uint32_t wire)
{
    uint8_t *bytes = traffic_copy(data, captured);
    roce_lldp lldp;
    memset(&lldp, 0xa5, sizeof lldp);
    roce_lldp_decode(bytes, captured, wire, &lldp);
    assert(lldp.outcome != ROCE_NOT_OURS);
    assert(captured < wire || lldp.outcome != ROCE_TRUNCATED);
    assert(lldp.outcome != ROCE_DECODED ||
           (lldp.has_ttl && lldp.chassis.bytes != NULL && lldp.port.bytes != NULL));
    check_text(&lldp.chassis, bytes, captured);
    check_text(&lldp.port, bytes, captured);
    check_text(&lldp.system_name, bytes, captured);
    check_dcb(&lldp.ieee);
    check_dcb(&lldp.cee);
    free(bytes);
    return lldp.outcome;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < SETTINGS || size > 70000) {
        return 0;
    }
    uint32_t captured = (uint32_t)size - SETTINGS;
    uint32_t wire = captured + data[0];
    roce_outcome outcome = look(data + SETTINGS, captured, wire);
    uint32_t cut = data[1] < captured ? captured - data[1] : 0;
    roce_outcome cut_outcome = look(data + SETTINGS, cut, wire);
    /* The snap length makes nothing malformed. */
    assert(outcome == ROCE_MALFORMED || cut_outcome != ROCE_MALFORMED);
    return 0;
}
