/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "small_file.h"

#include "error.h"
#include "format.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define PIECE_BYTES 65536
#define BYTE_ORDER_MARK "\xef\xbb\xbf" /* some editors begin UTF-8 with it */

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
    if (g_str_has_prefix(content->str, BYTE_ORDER_MARK)) {
        g_string_erase(content, 0, strlen(BYTE_ORDER_MARK));
    }
    *size = content->len;
    return g_string_free(g_steal_pointer(&content), FALSE);
}

json_t *
rs_small_file_json(const char *path, const char *text, gsize size, GError **error)
{
    json_error_t problem;
    json_t *json = json_loadb(text, size, 0, &problem);
    if (json == NULL) {
        g_autofree char *what = rs_format_safe(problem.text); /* it quotes the file */
        g_set_error(error, RS_ERROR, RS_ERROR_DAMAGED,
                    "%s: line %d, column %d: is no JSON: %s", path, problem.line,
                    problem.column, what);
    }
    return json;
}

char *
rs_small_file_line(const char **at, const char *end, gboolean *is_text)
{
    if (*at >= end) {
        return NULL;
    }
    const char *stop = memchr(*at, '\n', (gsize)(end - *at));
    gsize length = (gsize)((stop != NULL ? stop : end) - *at);
    char *line = g_strndup(*at, length);
    *is_text = memchr(*at, '\0', length) == NULL;
    *at += length + (stop != NULL ? 1 : 0);
    return line;
}
