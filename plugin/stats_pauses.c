/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The table of pauses: a row for each interface, source MAC address and priority, with
 * the numbers of the analyzer's report.
 *
 * The one rule: without the speed of the link times are unknown, never 0.
 *
 * A filter shows what the sources of the frames that it matches stop.
 */
#include "stats_table.h"

#include "points.h"

#include <stddef.h>

static const char *
unknown_without_speed(const void *row, const stats_column *column,
                      wmem_allocator_t *scope)
{
    const roce_pause_source *p = row;
    return p->speed_known ? stats_table_number(row, column, scope)
                          : STATS_TABLE_UNKNOWN;
}

static const char *
interface_of(const void *row, const stats_column *column, wmem_allocator_t *scope)
{
    (void)column, (void)scope;
    const roce_pause_source *p = row;
    const char *name = points_name(p->point);
    return name != NULL ? name : STATS_TABLE_UNKNOWN;
}

static const char *
mac_of(const void *row, const stats_column *column, wmem_allocator_t *scope)
{
    (void)column;
    const roce_pause_source *p = row;
    const uint8_t *m = p->src_mac;
    return wmem_strdup_printf(scope, "%02x:%02x:%02x:%02x:%02x:%02x", m[0], m[1], m[2],
                              m[3], m[4], m[5]);
}

static const char *
priority_of(const void *row, const stats_column *column, wmem_allocator_t *scope)
{
    (void)column;
    const roce_pause_source *p = row;
    return p->priority == ROCE_PRIORITY_GLOBAL
               ? "802.3x"
               : wmem_strdup_printf(scope, "%u", p->priority);
}

/* clang-format off */
#define NUMBER(title, member) \
    {title, stats_table_number, offsetof(roce_pause_source, member), 0, 0, false}
#define TIMED(title, member) \
    {title, unknown_without_speed, offsetof(roce_pause_source, member), 0, 14, false}

static const stats_column columns[] = {
    {"interface", interface_of, 0, 0, 0, true},
    {"source", mac_of, 0, 0, 17, true},
    {"priority", priority_of, 0, 0, 0, false},
    TIMED("link bit/s", link_speed_bps),
    NUMBER("XOFF", xoff),
    NUMBER("refresh", refresh),
    NUMBER("XON", xon),
    TIMED("expired", expired),
    NUMBER("intervals", n_intervals),
    TIMED("paused ns", total_ns),
    TIMED("longest ns", longest_ns),
    NUMBER("quanta", total_quanta),
};
/* clang-format on */

static const void *
pause_row(uint32_t id)
{
    const roce_tracker *tracker = analysis_tracker();
    return tracker != NULL && id < roce_tracker_n_pauses(tracker)
               ? roce_tracker_pause(tracker, id)
               : NULL;
}

/* What its source stops, in the tracker's order. */
static void
take_packet(void *table, const taken_packet *packet)
{
    const roce_tracker *tracker = analysis_tracker();
    if (tracker == NULL) {
        return;
    }
    uint32_t rows[ROCE_PRIORITY_GLOBAL + 1];
    unsigned n = 0;
    for (uint8_t priority = 0; priority <= ROCE_PRIORITY_GLOBAL; priority++) {
        uint32_t row =
            roce_tracker_find_pause(tracker, packet->point, packet->src_mac, priority);
        unsigned at = n;
        for (; at > 0 && rows[at - 1] > row; at--) {
            rows[at] = rows[at - 1];
        }
        rows[at] = row; /* ROCE_NO_PAUSE stays last, and is overwritten */
        n += row != ROCE_NO_PAUSE ? 1 : 0;
    }
    for (unsigned i = 0; i < n; i++) {
        stats_table_take(table, packet, rows[i]);
    }
}

void
pause_table_register(void)
{
    static stats_table table = {
        .ui = {.title = COMPAT_TABLE_MENU "Pauses",
               .tap_name = "pfc",
               .cli_string = "pfc,pauses"},
        .columns = columns,
        .n_columns = G_N_ELEMENTS(columns),
        .take = take_packet,
        .row = pause_row,
    };
    stats_table_register(&table);
}
