/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where captures were taken, as the user says (--captured-at).
 *
 * The one rule: what is said of a file counts more than what is said of all.
 */
#ifndef RS_VANTAGE_H
#define RS_VANTAGE_H

#include "hosts.h"

#include "roce/stream.h"

#include <glib.h>

typedef struct rs_vantages rs_vantages;

rs_vantages *
rs_vantages_new(void);

void
rs_vantages_free(rs_vantages *vantages);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(rs_vantages, rs_vantages_free)

/* Takes one --captured-at: `where` is "network" or a list of the addresses and names of
 * one host, `path` the capture file it is said of, or NULL for all.  What is said twice
 * adds up.  FALSE with `error` set for what cannot be. */
gboolean
rs_vantages_add(rs_vantages *vantages, const rs_hosts *hosts, const char *where,
                const char *path, GError **error);

/* Where the capture file stands to what `src` sends to `dst`; ROCE_VANTAGE_UNKNOWN: not
 * told, as of streams between other hosts or from a host to itself. */
roce_vantage
rs_vantages_find(const rs_vantages *vantages, const char *path, const roce_addr *src,
                 const roce_addr *dst);

/* Whether the user says that the capture file was taken at a host. */
gboolean
rs_vantages_is_host(const rs_vantages *vantages, const char *path);

#endif
