/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The analyzer's one error domain.
 *
 * The one rule: a message is one line that stands alone and begins with the file's
 * name, so that it can be printed as it is; the code says only what kind of failure it
 * was.
 */
#ifndef RS_ERROR_H
#define RS_ERROR_H

#include <glib.h>

#define RS_ERROR (rs_error_quark())

typedef enum rs_error {
    RS_ERROR_OPEN,        /* missing, a directory, no permission */
    RS_ERROR_EMPTY,       /* opened, and not one byte in it */
    RS_ERROR_NOT_CAPTURE, /* nothing that looks like a capture file */
    RS_ERROR_DAMAGED,     /* a capture file that breaks its own format's rules */
    RS_ERROR_UNSUPPORTED, /* whole, but of a kind that is not read here */
    RS_ERROR_NOT_DECODED, /* read to its end, and no packet's link layer is known here */
    RS_ERROR_USAGE,       /* the command line asks for what cannot be */
    RS_ERROR_IO,          /* the operating system failed to read */
    RS_ERROR_INTERRUPTED, /* a signal ended a blocking read: no fault of the file */
} rs_error;

GQuark
rs_error_quark(void);

/* Says what the command line cannot mean; FALSE. */
gboolean
rs_fail_usage(GError **error, const char *what);

/* Says that a signal came before anything was written; FALSE. */
gboolean
rs_fail_interrupted(GError **error);

#endif
