/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The files that a command was asked to write.
 *
 * The one rule: none of them is a file that is read, and no two of them are the same.
 */
#ifndef RS_TARGETS_H
#define RS_TARGETS_H

#include "options.h"

#include <glib.h>

typedef struct rs_target {
    const char *option; /* "--json" */
    const char *path;   /* "-": standard output; NULL: not asked for */
} rs_target;

/* Checks them before anything is read, also through links.  What is read are `captures`,
 * ended by NULL, and the tables that the options name; what is no regular file is nobody's.
 * FALSE with an RS_ERROR_USAGE. */
gboolean
rs_targets_check(const rs_target *targets, guint n, const rs_options *options,
                 const char *const *captures, GError **error);

/* Whether each of them can be written, so that nothing is read in vain.  FALSE with an
 * RS_ERROR_IO. */
gboolean
rs_targets_probe(const rs_target *targets, guint n, GError **error);

#endif
