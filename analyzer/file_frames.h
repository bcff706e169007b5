/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which frame of which file a frame of the capture is, when there are several files.
 *
 * The one rule: a number is the file's own, as Wireshark counts when it opens that file, or
 * it is not told.
 *
 * Frames of all files are numbered as they are read, some of one file and then some of the
 * next whose turn it is.  What is kept is one number for each turn, of whose it was and how
 * long: a byte where two captures of one path are read side by side, packet by packet.  What
 * there is no room for is not known; the first frames of whatever is found are.
 */
#ifndef RS_FILE_FRAMES_H
#define RS_FILE_FRAMES_H

#include <glib.h>

typedef struct rs_file_frames rs_file_frames;

/* Where a frame stands. */
typedef struct rs_file_frame {
    guint file_i;
    guint64 number; /* from 1; 0: it is not known where */
} rs_file_frame;

#define RS_FILE_FRAMES_BYTES (32 * 1024 * 1024)

/* Room for so many bytes: RS_FILE_FRAMES_BYTES, but in tests. */
rs_file_frames *
rs_file_frames_new(guint n_files, gsize most_bytes);

/* NULL is fine. */
void
rs_file_frames_free(rs_file_frames *all);

/* The next `n` frames are the next of that file. */
void
rs_file_frames_count(rs_file_frames *all, guint file_i, guint64 n);

/* Where these stand, `n` of them, ascending. */
void
rs_file_frames_find(const rs_file_frames *all, const guint64 *frames, guint n,
                    rs_file_frame *found);

#endif
