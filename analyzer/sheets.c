/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sheets.h"

#include <string.h>

#define SEPARATOR ' '

const rs_sheet *
rs_sheet_find(const char *name)
{
    for (guint i = 0; i < rs_n_sheets; i++) {
        if (g_str_equal(rs_sheets[i].name, name)) {
            return &rs_sheets[i];
        }
    }
    return NULL;
}

const char *
rs_value_type_name(rs_value_type type)
{
    static const char *const names[] = {
        [RS_VALUE_NULL] = "null",       [RS_VALUE_INTEGER] = "integer",
        [RS_VALUE_REAL] = "real",       [RS_VALUE_TEXT] = "text",
        [RS_VALUE_BOOLEAN] = "boolean",
    };
    return names[type];
}

/* What one word of a path leads to, or NULL. */
static const json_t *
step(const json_t *from, const char *word, gsize length)
{
    if (json_is_array(from)) {
        guint64 i = g_ascii_strtoull(word, NULL, 10);
        return g_ascii_isdigit(*word) ? json_array_get(from, i) : NULL;
    }
    return json_object_getn(from, word, length);
}

/* Follows a path as far as a null or a "*", and says what is left of it.  NULL if it
 * leads nowhere. */
static const json_t *
follow(const json_t *from, const char **path)
{
    while (from != NULL && !json_is_null(from) && **path != '\0' && **path != '*') {
        gsize length = strcspn(*path, ".");
        from = step(from, *path, length);
        *path += length + ((*path)[length] == '.' ? 1 : 0);
    }
    return from;
}

static gboolean
append_text(GString *text, const json_t *value)
{
    if (json_is_string(value)) {
        g_string_append(text, json_string_value(value));
    } else if (json_is_integer(value)) {
        g_string_append_printf(text, "%" JSON_INTEGER_FORMAT,
                               json_integer_value(value));
    } else {
        return FALSE;
    }
    return TRUE;
}

/* Appends what `rest` leads to in each element: "", or "*" and a path behind it. */
static gboolean
append_all(GString *text, const json_t *array, const char *rest)
{
    rest += strspn(rest, "*.");
    for (gsize i = 0; i < json_array_size(array); i++) {
        const char *way = rest;
        const json_t *value = follow(json_array_get(array, i), &way);
        if (i > 0) {
            g_string_append_c(text, SEPARATOR);
        }
        if (value == NULL || !append_text(text, value)) {
            return FALSE;
        }
    }
    return TRUE;
}

static char *
text_of(const json_t *value, const char *rest)
{
    g_autoptr(GString) text = g_string_new(NULL);
    gboolean good =
        json_is_array(value) ? append_all(text, value, rest) : append_text(text, value);
    return good ? g_strdup(text->str) : NULL;
}

static gboolean
take(rs_value *value, rs_value_type type, const json_t *found, const char *rest)
{
    switch (type) {
    case RS_VALUE_INTEGER:
        value->integer = json_integer_value(found);
        return json_is_integer(found);
    case RS_VALUE_REAL:
        value->real = json_number_value(found);
        return json_is_number(found);
    case RS_VALUE_BOOLEAN:
        value->integer = json_is_true(found) ? 1 : 0;
        return json_is_boolean(found);
    case RS_VALUE_TEXT:
        value->text = text_of(found, rest);
        return value->text != NULL;
    case RS_VALUE_NULL:
        break;
    }
    return FALSE;
}

gboolean
rs_column_read(const rs_sheet_column *column, const json_t *row, rs_value *value)
{
    const char *rest = column->path;
    const json_t *found = follow(row, &rest);
    *value = (rs_value){.type = RS_VALUE_NULL};
    if (json_is_null(found)) {
        return TRUE;
    }
    if (found == NULL || !take(value, column->type, found, rest)) {
        return FALSE;
    }
    value->type = column->type;
    return TRUE;
}

void
rs_value_clear(rs_value *value)
{
    g_clear_pointer(&value->text, g_free);
}
