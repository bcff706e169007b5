/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which of the points that are taken together saw a stream: each may have some of it, or one
 * has all.
 *
 * The one rule: every packet is told of, alone or with others of its stream and point.
 */
#ifndef RS_MEMBERS_H
#define RS_MEMBERS_H

#include <glib.h>

typedef struct rs_members rs_members;

rs_members *
rs_members_new(void);

void
rs_members_free(rs_members *members);

/* Some of the stream, at this one of them. */
void
rs_members_see(rs_members *members, guint32 stream, guint32 point);

/* The one that has all of the stream; FALSE: several have, or none was told. */
gboolean
rs_members_only(const rs_members *members, guint32 stream, guint32 *point);

#endif
