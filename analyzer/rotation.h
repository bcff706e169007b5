/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which files are one capture that its program has cut into pieces.
 *
 *   tcpdump -C        x.pcap x.pcap1 x.pcap2 …
 *   tcpdump -C -W     x.pcap00 x.pcap01 …, as many digits as the last needs
 *   dumpcap -b        x_00001_20261121031245.pcapng …, or number and time the other way
 *                     round (-b nametimenum:2)
 *
 * each of them also compressed (.gz .zst .lz4 .xz).  Names only raise the question; it is
 * the stamps that answer it.  Files go together as long as
 *
 *   1. they are in one directory and their names differ in the number alone (dumpcap: and
 *      in the time),
 *   2. in the order of their first stamps, each number is the next one.  Rings begin again:
 *      those of tcpdump with 0 behind the greatest number, where all from 0 on are there;
 *      those of dumpcap with 0 behind 99999,
 *   3. no file begins before the end of the one before it; stamps may step back by
 *      RS_FOLLOW_ON_TOLERANCE_NS.
 *
 * Where one of these fails, another capture begins.  What cannot be told is no set: a name
 * that is only a number; a file that has no packet or could not be read; and, where the
 * name has no extension of a capture ("run1", "run2"), numbers without their beginning.
 *
 * The one rule: nobody's captures are thrown together for their names.
 */
#ifndef RS_ROTATION_H
#define RS_ROTATION_H

#include <glib.h>

/* Stamps of the packets of a file: the first one's, and the greatest. */
typedef struct rs_span {
    guint64 first_ns;
    guint64 last_ns;
} rs_span;

/* Tells the stamps of file `file_i`; FALSE: it has none. */
typedef gboolean
rs_rotation_span(void *ctx, guint file_i, rs_span *span);

/* Which of the files may belong to a set by their names, so that their stamps will be asked
 * for: one flag for each; g_free(). */
gboolean *
rs_rotation_candidates(const char *const *paths, guint n_paths);

/* Of each file the least number of those that its set is decided with: whoever has all files
 * of such a number has what rs_rotation_group() says of them, without any other file.
 * g_free(). */
guint *
rs_rotation_units(const char *const *paths, guint n_paths);

/* Captures, as arrays (GArray) of the numbers of their files (guint) in the order of
 * time; every file is in exactly one, and captures stand in the order of their least
 * number.  g_ptr_array_unref(). */
GPtrArray *
rs_rotation_group(const char *const *paths, guint n_paths, rs_rotation_span *span,
                  void *ctx);

#endif
