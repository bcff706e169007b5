/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Frames of a capture, one by one and in batches: the same, to the last byte.
 *
 * The one rule: whatever differs ends the program, with an assert that says what.
 */
#ifndef BATCHES_H
#define BATCHES_H

/* Reads a capture file in both ways. */
void
batches_check(const char *path);

#endif
