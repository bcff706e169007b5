/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The user's capture filter (BPF), compiled once for each link layer.
 *
 * The one rule: an expression that means nothing for a link layer is the user's mistake,
 * not the file's.
 */
#ifndef RS_FILTER_H
#define RS_FILTER_H

#include "roce/packet.h"

#include <glib.h>

typedef struct rs_filter rs_filter;

/* NULL with `error` set for an expression that does not compile for Ethernet. */
rs_filter *
rs_filter_new(const char *expression, GError **error);

/* NULL is fine. */
void
rs_filter_free(rs_filter *filter);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(rs_filter, rs_filter_free)

typedef enum rs_filter_answer {
    RS_FILTER_PASSES,
    RS_FILTER_DROPS,
    RS_FILTER_FAILS, /* it does not compile for this link layer; `error` is set */
} rs_filter_answer;

/* A NULL filter lets everything pass. */
rs_filter_answer
rs_filter_ask(rs_filter *filter, const roce_frame *frame, int link_type,
              GError **error);

#endif
