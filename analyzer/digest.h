/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Digests that tell contents apart: XXH3 of 128 bits, in 32 hexadecimal digits.
 *
 * The one rule: a digest finds out whether something is the same as before; it does not
 * withstand anyone who makes two contents of one digest on purpose.
 */
#ifndef RS_DIGEST_H
#define RS_DIGEST_H

#include <glib.h>

typedef struct rs_digest rs_digest;

rs_digest *
rs_digest_new(void);

void
rs_digest_free(rs_digest *digest);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(rs_digest, rs_digest_free)

/* Bytes as they are: those of two calls are those of one. */
void
rs_digest_add(rs_digest *digest, const void *bytes, gsize size);

/* A value with its name and length, so that neighbours cannot be confused; NULL is
 * another value than "". */
void
rs_digest_add_value(rs_digest *digest, const char *name, const char *value);

/* The digits so far; g_free(). */
char *
rs_digest_text(const rs_digest *digest);

/* Digest of a file's content; NULL with `error` set if it cannot be read. */
char *
rs_digest_file(const char *path, guint64 *size, GError **error);

#endif
