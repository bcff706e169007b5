/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "small_file.h"

#include "error.h"

#include <errno.h>
#include <stdio.h>

#define PIECE_BYTES 65536

static char *
fail(GError **error, rs_error code, const char *path, const char *what)
{
    g_set_error(error, RS_ERROR, (gint)code, "%s: %s", path, what);
    return NULL;
}

char *
rs_small_file_read(const char *path, gsize *size, GError **error)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        return fail(error, RS_ERROR_OPEN, path, g_strerror(errno));
    }
    g_autoptr(GString) content = g_string_new(NULL);
    char piece[PIECE_BYTES];
    gsize got;
    while (content->len <= RS_SMALL_FILE_BYTES &&
           (got = fread(piece, 1, sizeof piece, file)) > 0) {
        g_string_append_len(content, piece, (gssize)got);
    }
    int failure = ferror(file) != 0 ? errno : 0;
    (void)fclose(file);
    if (failure != 0) {
        return fail(error, RS_ERROR_IO, path, g_strerror(failure));
    }
    if (content->len == 0) {
        return fail(error, RS_ERROR_EMPTY, path, "is empty");
    }
    if (content->len > RS_SMALL_FILE_BYTES) {
        return fail(error, RS_ERROR_UNSUPPORTED, path, "is longer than 64 MiB");
    }
    *size = content->len;
    return g_string_free(g_steal_pointer(&content), FALSE);
}
