/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * When hosts were heard of for the last time: by the newest RoCE packet that each sent, at any
 * point.
 *
 * The one rule: all streams are looked at once, for all who ask.
 */
#ifndef RS_LAST_HEARD_H
#define RS_LAST_HEARD_H

#include "analysis.h"

#include <glib.h>

typedef struct rs_last_heard rs_last_heard;

rs_last_heard *
rs_last_heard_new(const rs_analysis *analysis);

/* NULL is fine. */
void
rs_last_heard_free(rs_last_heard *heard);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(rs_last_heard, rs_last_heard_free)

/* Whether a host was heard of, and when for the last time. */
gboolean
rs_last_heard_at(const rs_last_heard *heard, const roce_tenant *tenant,
                 const roce_addr *host, guint64 *last_ns);

/* Whether there are others than these two, and of all but `host` none was heard of since. */
gboolean
rs_last_heard_alone(const rs_last_heard *heard, const roce_addr *host,
                    const roce_addr *other, guint64 since_ns);

#endif
