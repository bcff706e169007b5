/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The first frames of something, and how many there were: what a finding points at.
 */
#ifndef RS_FRAMES_H
#define RS_FRAMES_H

#include <glib.h>

#define RS_FRAMES 20

/* All 0: none yet. */
typedef struct rs_frames {
    guint64 total;
    guint64 first[RS_FRAMES]; /* MIN(total, RS_FRAMES) of them */
} rs_frames;

/* Frame numbers count from 1; 0 is no frame. */
static inline void
rs_frames_keep(rs_frames *frames, guint64 number)
{
    if (number == 0) {
        return;
    }
    if (frames->total < RS_FRAMES) {
        frames->first[frames->total] = number;
    }
    frames->total++;
}

/* The same for frames that are told of in any order: the lowest stay, in order. */
static inline void
rs_frames_keep_lowest(rs_frames *frames, guint64 number)
{
    guint n = (guint)MIN(frames->total, RS_FRAMES);
    if (number == 0) {
        return;
    }
    frames->total++;
    guint i = n;
    while (i > 0 && frames->first[i - 1] > number) {
        if (i < RS_FRAMES) {
            frames->first[i] = frames->first[i - 1];
        }
        i--;
    }
    if (i < RS_FRAMES) {
        frames->first[i] = number;
    }
}

/* Takes n >= 1 frames, of which only the newest is named: the others are known only where
 * there is no room for them. */
static inline void
rs_frames_keep_newest(rs_frames *frames, guint64 number, guint64 n)
{
    frames->total += n - 1;
    rs_frames_keep(frames, number);
}

static inline gboolean
rs_frames_are_full(const rs_frames *frames)
{
    return frames->total >= RS_FRAMES;
}

static inline guint
rs_frames_kept(const rs_frames *frames)
{
    return (guint)MIN(frames->total, RS_FRAMES);
}

#endif
