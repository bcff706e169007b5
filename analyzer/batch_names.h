/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names of reports, made of the paths of captures.
 *
 *   x.pcap              x.pcap
 *   /data/x.pcap        ~/data/x.pcap      what begins at the root
 *   ../x.pcap           ~2E./x.pcap        no ".." and nothing hidden
 *   a b/-x.pcap         a~20b/~2Dx.pcap    nothing that a URL or a shell would read otherwise
 *
 * Letters, digits and "._+=,@-" stay; any other byte, and a "." or "-" that a word begins
 * with, becomes "~" and its two hexadecimal digits.  So does the last "." of a directory
 * that is called like a report ("x.json"), since it might be one's.  A word of more than
 * 180 bytes is cut, and "~~" and its digest tell it apart.
 *
 * The one rule: two paths never have the same name, and a name depends on nothing but its
 * path and the label.
 */
#ifndef RS_BATCH_NAMES_H
#define RS_BATCH_NAMES_H

#include <glib.h>

/* A relative path without ".", ".." and empty words; g_free().  A label, as that of the host
 * that has the file, stands before the path as a directory would; NULL: none. */
char *
rs_batch_name(const char *label, const char *path);

/* Whether rs_batch_name() can have made this, with an extension behind it: what may be
 * removed below a directory of ours. */
gboolean
rs_batch_name_is_safe(const char *name);

/* A path without doubled "/", words "." and a "/" at the end; ".." stays, since links may
 * lead elsewhere.  g_free(). */
char *
rs_batch_path_tidy(const char *path);

#endif
