/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the user tells beside the captures: names of hosts, tables of queue pairs, and
 * where the captures were taken.
 *
 * The one rule: a file that cannot be read is told of and left out; everything else
 * counts.
 */
#ifndef RS_TOLD_H
#define RS_TOLD_H

#include "counters.h"
#include "hosts.h"
#include "options.h"
#include "qp_map.h"
#include "vantage.h"

#include <glib.h>

/* A host's counters before and after the capture. */
typedef struct rs_told_counters {
    GArray *addrs; /* roce_addr: of the host; NULL: nobody says whose they are */
    const char *before_path, *after_path; /* the options' */
    rs_counter_set *before, *after;
} rs_told_counters;

typedef struct rs_told {
    rs_hosts *hosts; /* NULL: no names */
    rs_qp_maps *qp_maps;
    rs_vantages *vantages;
    GPtrArray *counters; /* rs_told_counters, where both files could be read */
    GPtrArray *errors;   /* char *: one line for each file that was left out */
} rs_told;

/* NULL with `error` set for what the command line cannot mean. */
rs_told *
rs_told_new(const rs_options *options, GError **error);

void
rs_told_free(rs_told *told);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(rs_told, rs_told_free)

#endif
