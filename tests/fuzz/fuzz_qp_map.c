/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Any bytes as a host's table of queue pairs (--qp-map): it is taken whole or not at all,
 * and what is taken can be told to a tracker and asked for.
 *
 *   0    local QPN that is asked for, above the two that are reserved
 *   1..  the file
 */
#include "alloc.h"
#include "hosts.h"
#include "qp_map.h"

#include <assert.h>
#include <stdint.h>
#include <string.h>

#define SETTINGS 1

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static gboolean
take(rs_qp_maps *maps, const char *address, const char *text, gsize size)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(GArray) addrs = rs_hosts_parse_list(NULL, "--qp-map", address, &error);
    assert(addrs != NULL);
    gboolean taken = rs_qp_maps_parse(maps, addrs, text, size, "f", &error);
    assert(taken == (error == NULL));
    if (!taken) {
        assert(g_str_has_prefix(error->message, "f: "));
        assert(strchr(error->message, '\n') == NULL);
    }
    return taken;
}

/* Tables that were taken are no news to a tracker that it could refuse. */
static void
tell(const rs_qp_maps *maps)
{
    roce_alloc alloc = rs_alloc_make();
    roce_tracker_config config;
    roce_tracker_config_init(&config);
    roce_tracker *tracker;
    int result = roce_tracker_new(&tracker, &alloc, &config);
    assert(result == ROCE_OK);
    result = rs_qp_maps_tell(maps, tracker);
    assert(result == ROCE_OK);
    roce_tracker_free(tracker);
}

static void
ask(const rs_qp_maps *maps, const char *address, guint32 lqpn, gboolean taken)
{
    roce_addr addr;
    gboolean is_address = rs_hosts_parse_addr(address, &addr);
    assert(is_address);
    rs_process process = {0};
    if (rs_qp_maps_process(maps, &addr, lqpn, NULL, &process)) {
        assert(taken);
        assert(process.pid >= -1 && process.pid <= G_MAXINT32);
        assert(process.comm == NULL || strlen(process.comm) < G_MAXINT32);
    }
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < SETTINGS || size > 70000) {
        return 0;
    }
    gsize n = size - SETTINGS;
    g_autofree char *text = g_malloc(n + 1);
    memcpy(text, data + SETTINGS, n);
    text[n] = '\0';
    g_autoptr(rs_qp_maps) maps = rs_qp_maps_new();
    gboolean taken = take(maps, "10.0.0.1,fd00::1", text, n);
    gboolean taken_again = take(maps, "fd00::1", text, n); /* rows add up */
    gboolean taken_there = take(maps, "10.0.0.2", text, n);
    assert(taken_again == taken && taken_there == taken);
    guint32 lqpn = data[0] + 2u;
    ask(maps, "10.0.0.1", lqpn, taken);
    ask(maps, "fd00::1", lqpn, taken);
    if (taken) {
        tell(maps);
    }
    return 0;
}
