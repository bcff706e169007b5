/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "part.h"

#include "digest.h"
#include "error.h"
#include "output.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct rs_part_writer {
    rs_output *output;
    rs_digest *digest;
    GHashTable *sheets; /* whose columns have been told */
    guint64 n_lines;
};

struct rs_part {
    char *path;
    FILE *file;
    json_t *head;
    char *digest;       /* of its lines but the last */
    json_t *line;       /* the newest */
    GHashTable *sheets; /* char * -> json_t: its columns */
    char *text;
    size_t text_size;
};

/* ---- writing ---- */

/* Writes a line; takes `value` over. */
static void
put(rs_part_writer *writer, json_t *value)
{
    char *text = json_dumps(value, JSON_COMPACT);
    json_decref(value);
    g_assert(text != NULL);
    FILE *out = rs_output_stream(writer->output);
    fputs(text, out);
    fputc('\n', out);
    rs_digest_add(writer->digest, text, strlen(text));
    rs_digest_add(writer->digest, "\n", 1);
    writer->n_lines++;
    free(text);
}

rs_part_writer *
rs_part_writer_new(const char *path, json_t *head, GError **error)
{
    rs_output *output = rs_output_open(path, error);
    if (output == NULL) {
        json_decref(head);
        return NULL;
    }
    rs_part_writer *writer = g_new0(rs_part_writer, 1);
    writer->output = output;
    writer->digest = rs_digest_new();
    writer->sheets = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    json_t *first = json_object();
    json_object_set_new(first, "rocescope_part", json_integer(RS_PART_VERSION));
    json_object_update(first, head);
    json_decref(head);
    put(writer, first);
    return writer;
}

static void
put_columns(rs_part_writer *writer, const char *sheet, const char *const *columns,
            guint n_columns)
{
    json_t *names = json_array();
    for (guint i = 0; i < n_columns; i++) {
        json_array_append_new(names, json_string(columns[i]));
    }
    json_t *line = json_object();
    json_object_set_new(line, "sheet", json_string(sheet));
    json_object_set_new(line, "columns", names);
    put(writer, line);
}

void
rs_part_writer_add(rs_part_writer *writer, const char *sheet,
                   const char *const *columns, guint n_columns, json_t *values)
{
    g_assert(json_array_size(values) == n_columns);
    if (g_hash_table_add(writer->sheets, g_strdup(sheet))) {
        put_columns(writer, sheet, columns, n_columns);
    }
    json_t *line = json_object();
    json_object_set_new(line, sheet, values);
    put(writer, line);
}

gboolean
rs_part_writer_commit(rs_part_writer *writer, GError **error)
{
    json_t *end = json_object();
    g_autofree char *digest = rs_digest_text(writer->digest);
    json_object_set_new(end, "lines", json_integer((json_int_t)writer->n_lines));
    json_object_set_new(end, "digest", json_string(digest));
    json_t *line = json_object();
    json_object_set_new(line, "end", end);
    put(writer, line);
    gboolean good = rs_output_commit(writer->output, error);
    rs_digest_free(writer->digest);
    g_hash_table_unref(writer->sheets);
    g_free(writer);
    return good;
}

/* ---- reading ---- */

/* The next line as an object; NULL at the end, or for what is no object. */
static json_t *
next_line(rs_part *part)
{
    gssize n = getline(&part->text, &part->text_size, part->file);
    if (n <= 0 || part->text[n - 1] != '\n') {
        return NULL;
    }
    json_t *line = json_loadb(part->text, (size_t)n - 1, JSON_REJECT_DUPLICATES, NULL);
    if (line != NULL && !json_is_object(line)) {
        g_clear_pointer(&line, json_decref);
    }
    return line;
}

static gboolean
says_end(const json_t *line, guint64 n_lines, const char *digest)
{
    const json_t *end = json_object_get(line, "end");
    return json_integer_value(json_object_get(end, "lines")) == (json_int_t)n_lines &&
           g_strcmp0(json_string_value(json_object_get(end, "digest")), digest) == 0;
}

/* Reads everything once: TRUE if the last line says so. */
static gboolean
is_whole(rs_part *part)
{
    g_autoptr(rs_digest) digest = rs_digest_new();
    guint64 n_lines = 0;
    for (;;) {
        gssize n = getline(&part->text, &part->text_size, part->file);
        if (n <= 0 || part->text[n - 1] != '\n') {
            return FALSE;
        }
        if (g_str_has_prefix(part->text, "{\"end\":")) {
            json_t *line = json_loadb(part->text, (size_t)n, 0, NULL);
            part->digest = rs_digest_text(digest);
            gboolean good = line != NULL && says_end(line, n_lines, part->digest) &&
                            fgetc(part->file) == EOF && !ferror(part->file);
            json_decref(line);
            return good;
        }
        rs_digest_add(digest, part->text, (gsize)n);
        n_lines++;
    }
}

static gboolean
read_head(rs_part *part)
{
    if (!is_whole(part) || fseek(part->file, 0, SEEK_SET) != 0) {
        return FALSE;
    }
    part->head = next_line(part);
    const json_t *version = json_object_get(part->head, "rocescope_part");
    return json_integer_value(version) == RS_PART_VERSION;
}

static void
free_columns(gpointer columns)
{
    json_decref(columns);
}

rs_part *
rs_part_open(const char *path, GError **error)
{
    FILE *file = fopen(path, "re");
    if (file == NULL) {
        g_set_error(error, RS_ERROR, RS_ERROR_OPEN, "%s: cannot be read: %s", path,
                    g_strerror(errno));
        return NULL;
    }
    g_autoptr(rs_part) part = g_new0(rs_part, 1);
    part->path = g_strdup(path);
    part->file = file;
    part->sheets = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, free_columns);
    if (!read_head(part)) {
        g_set_error(error, RS_ERROR, RS_ERROR_DAMAGED, "%s: is no part, or damaged",
                    path);
        return NULL;
    }
    return g_steal_pointer(&part);
}

void
rs_part_close(rs_part *part)
{
    if (part == NULL) {
        return;
    }
    (void)fclose(part->file);
    json_decref(part->head);
    json_decref(part->line);
    g_hash_table_unref(part->sheets);
    free(part->text);
    g_free(part->digest);
    g_free(part->path);
    g_free(part);
}

const json_t *
rs_part_head(const rs_part *part)
{
    return part->head;
}

const char *
rs_part_digest(const rs_part *part)
{
    return part->digest;
}

/* Takes the columns of a sheet, or the row of one; TRUE for a row that fits. */
static gboolean
take_line(rs_part *part, rs_part_row *row)
{
    const char *sheet = json_string_value(json_object_get(part->line, "sheet"));
    json_t *columns = json_object_get(part->line, "columns");
    if (sheet != NULL && json_is_array(columns)) {
        if (!g_hash_table_contains(part->sheets, sheet)) { /* they are told once */
            g_hash_table_insert(part->sheets, g_strdup(sheet), json_incref(columns));
        }
        return FALSE;
    }
    void *only = json_object_iter(part->line);
    row->sheet = json_object_iter_key(only);
    row->values = json_object_iter_value(only);
    row->columns =
        row->sheet != NULL ? g_hash_table_lookup(part->sheets, row->sheet) : NULL;
    return row->columns != NULL &&
           json_array_size(row->columns) == json_array_size(row->values);
}

gboolean
rs_part_next(rs_part *part, rs_part_row *row)
{
    for (;;) {
        json_decref(part->line);
        part->line = next_line(part);
        if (part->line == NULL || json_object_get(part->line, "end") != NULL) {
            return FALSE;
        }
        if (take_line(part, row)) {
            return TRUE;
        }
    }
}

json_t *
rs_part_take(rs_part *part, rs_part_row *row)
{
    return rs_part_next(part, row) ? g_steal_pointer(&part->line) : NULL;
}
