/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names of hosts and ports by their addresses (--hosts).
 *
 *   ADDRESS HOST [RAIL [PORT]]
 *
 * One line for each IPv4, IPv6 or MAC address; words stand apart by blanks or commas, "-"
 * or nothing between two commas is no word, and "#" begins a comment.  Lines of
 * /etc/hosts will do: aliases are passed over.  Of an address that stands there twice the
 * first line counts.
 *
 * The one rule: a name is for people.  Whatever is compared, filtered by or made a key of
 * stays an address.
 */
#ifndef RS_HOSTS_H
#define RS_HOSTS_H

#include "roce/packet.h"

#include <glib.h>

typedef struct rs_hosts rs_hosts;

typedef struct rs_host {
    char *name;
    char *rail, *port; /* NULL: not told */
    char *label;       /* "gpu07/rail3", safe for a terminal */
} rs_host;

/* Reads a file of names; NULL with `error` set, which names file and line. */
rs_hosts *
rs_hosts_read(const char *path, GError **error);

/* The same from memory; `path` is for errors. */
rs_hosts *
rs_hosts_parse(const char *text, gsize size, const char *path, GError **error);

void
rs_hosts_free(rs_hosts *hosts);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(rs_hosts, rs_hosts_free)

/* In all of the following `hosts` may be NULL: then nobody has a name. */

/* NULL: not in the file. */
const rs_host *
rs_hosts_find(const rs_hosts *hosts, const roce_addr *addr);
const rs_host *
rs_hosts_find_mac(const rs_hosts *hosts, const guint8 mac[6]);

/* The label, else the address; g_free(). */
char *
rs_hosts_label(const rs_hosts *hosts, const roce_addr *addr);
char *
rs_hosts_label_mac(const rs_hosts *hosts, const guint8 mac[6]);

/* "10.0.0.1", "fd00::1"; "::ffff:10.0.0.1", the GID of an IPv4 address, is that address.
 * FALSE: no address. */
gboolean
rs_hosts_parse_addr(const char *text, roce_addr *addr);

/* A list of addresses and names of hosts, which stand for all addresses of theirs, with
 * commas between them, as roce_addr; NULL with `error` set, in which `option` names what
 * the list was given for.  g_array_unref(). */
GArray *
rs_hosts_parse_list(const rs_hosts *hosts, const char *option, const char *text,
                    GError **error);

/* For hash tables with roce_addr keys. */
guint
rs_addr_hash(gconstpointer addr);
gboolean
rs_addr_equal(gconstpointer a, gconstpointer b);

#endif
