/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A statistic that is a table: a row for each of what the tracker numbers from 0, all
 * texts, numbers among them right-aligned, so that they sort as numbers do.
 */
#ifndef ROCESCOPE_STATS_TABLE_H
#define ROCESCOPE_STATS_TABLE_H

#include "stats.h"

#include <epan/stat_tap_ui.h>

#define STATS_TABLE_UNKNOWN "-"

struct stats_column;

/* The text of a cell, of `scope`. */
typedef const char *(*stats_cell)(const void *row, const struct stats_column *column,
                                  wmem_allocator_t *scope);

typedef struct stats_column {
    const char *title;
    stats_cell text;
    size_t offset;     /* of what stands in it, where `text` says so */
    unsigned permille; /* likewise */
    unsigned width;    /* least; the title's if that is more */
    bool is_left_aligned;
} stats_column;

/* The number at `offset` of a row, a uint64_t. */
const char *
stats_table_number(const void *row, const stats_column *column,
                   wmem_allocator_t *scope);

typedef struct stats_table {
    stat_tap_table_ui ui; /* first: Wireshark hands this out.  Titles and names are the
                           * owner's to set */
    const stats_column *columns;
    unsigned n_columns;
    ending_take_fn take; /* calls stats_table_take() for the rows of a packet */
    /* What a row is about by now; NULL: nothing (any more). */
    const void *(*row)(uint32_t id);
    GHashTable *row_of; /* id -> row number + 1 */
    uint32_t session;   /* whose ids these are */
    GPtrArray *retired; /* rows that a window may still look at */
} stats_table;

/* Completes and registers a table, which has to live as long as the program. */
void
stats_table_register(stats_table *table);

/* A packet is about a row: it is added, or brought up to date. */
void
stats_table_take(stats_table *table, const taken_packet *packet, uint32_t id);

#endif
