/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counters of a NIC beside what the capture shows of its host.
 *
 * The one rule: a counter is compared only with what it counts, and only where it is known
 * whose it is.  It covers the time between its two readings, which is longer than the
 * capture: that it counted more than was captured says that the capture missed something
 * or that it happened outside its time, and no more.
 */
#ifndef RS_COUNTER_CHECK_H
#define RS_COUNTER_CHECK_H

#include "summary.h"

#include <glib.h>

/* How a counter relates to what a capture at its NIC shows, when nothing was missed. */
typedef enum rs_counter_relation {
    RS_COUNTER_EQUAL,
    RS_COUNTER_AT_LEAST, /* it counts the same events and others */
    RS_COUNTER_AT_MOST,  /* it counts some of them */
} rs_counter_relation;

typedef enum rs_counter_verdict {
    RS_COUNTER_AGREES,
    RS_COUNTER_MORE,    /* than was captured */
    RS_COUNTER_FEWER,   /* than was captured */
    RS_COUNTER_UNKNOWN, /* its increase is not known, or whose it is */
} rs_counter_verdict;

typedef struct rs_counter_row {
    char *name;
    const char *compared_with; /* "naks_received", ... */
    const char *words;         /* "sequence NAKs received" */
    rs_counter_relation relation;
    gboolean is_error; /* what it counts is a fault, and no traffic */
    rs_counter_state state;
    guint64 increase; /* valid for RS_COUNTER_COUNTED and WRAPPED */
    guint64 captured; /* valid if it is known whose it is */
    rs_counter_verdict verdict;
    guint64 difference; /* between the two, for MORE and FEWER */
} rs_counter_row;

/* Whether a capture was taken at the host's NIC, as far as --captured-at says. */
typedef enum rs_counter_place {
    RS_COUNTER_PLACE_UNKNOWN,
    RS_COUNTER_THERE,
    RS_COUNTER_ELSEWHERE,
} rs_counter_place;

typedef struct rs_counter_check {
    const rs_told_counters *told;
    GArray *addrs;    /* roce_addr: of the host; empty: it is not known */
    const char *from; /* "user", "captured_at", "common"; NULL: not known */
    rs_counter_place place;
    guint n_streams; /* of it that were captured; 0: nothing to compare with */
    GArray *rows;    /* rs_counter_row: counters that are in a file, and understood */
    guint n_others;  /* counters of the second file that are compared with nothing */
} rs_counter_check;

/* One for each pair of files that was given; elements are rs_counter_check. */
GPtrArray *
rs_counter_checks_new(const rs_analysis *analysis, const rs_summary *summary);

/* Whether an address is the host's. */
gboolean
rs_counter_check_has(const rs_counter_check *check, const roce_addr *addr);

/* "equal", "at_least", "at_most". */
const char *
rs_counter_relation_name(rs_counter_relation relation);

/* "agrees", "more", "fewer", "unknown". */
const char *
rs_counter_verdict_name(rs_counter_verdict verdict);

#endif
