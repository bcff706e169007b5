/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Values of the JSON report as they are written, and lists that can be long: their elements
 * are made, written and freed some at a time by each thread, so that memory follows the
 * number of threads and not their length.
 *
 * The one rule: the bytes are the same with any number of threads.
 */
#ifndef RS_JSON_LIST_H
#define RS_JSON_LIST_H

#include <glib.h>
#include <jansson.h>
#include <stdio.h>

typedef struct rs_json_list {
    /* Makes one element, a new reference; several threads may be in it at once. */
    json_t *(*element)(gconstpointer ctx, guint i);
    gconstpointer ctx;
    guint n;
} rs_json_list;

/* Writes a value, which is taken; write errors stay in the stream. */
void
rs_json_put(FILE *out, json_t *value);

/* The same of a list, by up to `n_threads` threads, at least 1, this one among them. */
void
rs_json_put_list(FILE *out, const rs_json_list *list, guint n_threads);

#endif
