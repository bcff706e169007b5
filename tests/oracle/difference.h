/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Two readings of one capture, side by side: the analyzer's and libpcap's.
 *
 * The one rule: everything is compared that a reader says: whether and why a file does not
 * open, each record with its bytes, the end, the byte that is named there, the interface.
 *
 * Where libpcap is not followed, for a reason:
 *
 *   fraction   of a second that is 2^31 or more, which only damage makes: libpcap takes it
 *              for negative or not, by whether the file has the byte order of the machine;
 *              here it is negative in both.
 *   CAN        in a Linux cooked capture of the other byte order: libpcap turns the
 *              identifier of a CAN frame around; here bytes are what the file has.
 */
#ifndef DIFFERENCE_H
#define DIFFERENCE_H

#include <glib.h>

/* What the two say differently of a classic capture, in a line that is the caller's to
 * g_free(); NULL if nothing.  The analyzer's records are taken in batches of all sizes. */
char *
difference_at(const char *path);

/* The same of a pcapng capture: bytes, lengths and times of as many frames as libpcap
 * reads, which refuses files whose interfaces differ.  Of a file that it does not even open
 * the first of these is all that is said; the second begins what is said of damage that it
 * reads over, as that of options, at which it does not look. */
#define DIFFERENCE_NOT_OPENED "libpcap does not open it"
#define DIFFERENCE_OVERLOOKED "libpcap overlooks: "
char *
pcapng_difference_at(const char *path);

/* difference_at() for a file of these bytes. */
char *
difference_of(const guint8 *bytes, gsize n_bytes);

/* Puts bytes into a file that goes when it is closed; a path to it.  The caller closes
 * `fd`, and frees the path. */
char *
bytes_as_file(const guint8 *bytes, gsize n_bytes, int *fd);

#endif
