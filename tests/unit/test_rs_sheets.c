/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sheets: what a path leads to in a row, and the tables of columns themselves. */
#include "check.h"
#include "sheets.h"

static const char row_text[] =
    "{'id': 7, 'big': 9223372036854775807, 'share': 0.25, 'whole': 1, 'yes': true,"
    " 'no': false, 'name': 'eth0', 'empty': '', 'none': null, 'ids': [3, 1, 2],"
    " 'nobody': [], 'words': ['a', 'b'], 'mixed': [1, null], 'half': [0.5],"
    " 'deep': {'er': {'n': 5}},"
    " 'list': [{'n': 1, 'in': {'x': 'p'}}, {'n': 2, 'in': {'x': 'q'}}], '0': 9}";

#define FAILS "(fails)"

/* Of integers, reals and booleans `want` is how they print; NULL is null. */
static const struct {
    const char *name, *path;
    rs_value_type type;
    const char *want;
} reads[] = {
    {"an integer", "id", RS_VALUE_INTEGER, "7"},
    {"the greatest integer", "big", RS_VALUE_INTEGER, "9223372036854775807"},
    {"a real", "share", RS_VALUE_REAL, "0.25"},
    {"a real that is whole", "whole", RS_VALUE_REAL, "1"},
    {"true", "yes", RS_VALUE_BOOLEAN, "1"},
    {"false", "no", RS_VALUE_BOOLEAN, "0"},
    {"a text", "name", RS_VALUE_TEXT, "eth0"},
    {"an empty text is not null", "empty", RS_VALUE_TEXT, ""},
    {"a number in a column of texts", "id", RS_VALUE_TEXT, "7"},
    {"null", "none", RS_VALUE_INTEGER, NULL},
    {"what lies behind a null", "none.at.all", RS_VALUE_TEXT, NULL},
    {"null, of all elements", "none.*.n", RS_VALUE_TEXT, NULL},
    {"deep", "deep.er.n", RS_VALUE_INTEGER, "5"},
    {"integers joined", "ids", RS_VALUE_TEXT, "3 1 2"},
    {"texts joined", "words", RS_VALUE_TEXT, "a b"},
    {"an empty array is not null", "nobody", RS_VALUE_TEXT, ""},
    {"an index", "ids.1", RS_VALUE_INTEGER, "1"},
    {"an index and a key", "list.1.n", RS_VALUE_INTEGER, "2"},
    {"all elements", "list.*.n", RS_VALUE_TEXT, "1 2"},
    {"all elements, deep", "list.*.in.x", RS_VALUE_TEXT, "p q"},
    {"a key that looks like an index", "0", RS_VALUE_INTEGER, "9"},
    {"an index beyond the end", "ids.3", RS_VALUE_INTEGER, FAILS},
    {"a key in an array", "ids.x", RS_VALUE_INTEGER, FAILS},
    {"no such key", "nothing", RS_VALUE_INTEGER, FAILS},
    {"no such key, in the deep", "deep.er.m", RS_VALUE_INTEGER, FAILS},
    {"part of a key", "nam", RS_VALUE_TEXT, FAILS},
    {"a key of a number", "id.n", RS_VALUE_INTEGER, FAILS},
    {"an object", "deep", RS_VALUE_TEXT, FAILS},
    {"objects joined", "list", RS_VALUE_TEXT, FAILS},
    {"null among them", "mixed", RS_VALUE_TEXT, FAILS},
    {"reals joined", "half", RS_VALUE_TEXT, FAILS},
    {"no such key in all elements", "list.*.m", RS_VALUE_TEXT, FAILS},
    {"a text in a column of integers", "name", RS_VALUE_INTEGER, FAILS},
    {"a real in a column of integers", "share", RS_VALUE_INTEGER, FAILS},
    {"an array in a column of integers", "ids", RS_VALUE_INTEGER, FAILS},
    {"an integer in a column of booleans", "id", RS_VALUE_BOOLEAN, FAILS},
    {"a boolean in a column of texts", "yes", RS_VALUE_TEXT, FAILS},
    {"a text in a column of reals", "name", RS_VALUE_REAL, FAILS},
};

static char *
print(const rs_value *value)
{
    switch (value->type) {
    case RS_VALUE_NULL:
        return NULL;
    case RS_VALUE_INTEGER:
    case RS_VALUE_BOOLEAN:
        return g_strdup_printf("%" G_GINT64_FORMAT, value->integer);
    case RS_VALUE_REAL:
        return g_strdup_printf("%g", value->real);
    case RS_VALUE_TEXT:
        break;
    }
    return g_strdup(value->text);
}

static void
check_reads(void)
{
    g_autofree char *text = g_strdelimit(g_strdup(row_text), "'", '"');
    json_t *row = json_loads(text, 0, NULL);
    for (guint i = 0; i < G_N_ELEMENTS(reads); i++) {
        const rs_sheet_column column = {
            "column", reads[i].path, reads[i].type, "a column", NULL,
        };
        g_auto(rs_value) value;
        gboolean good = rs_column_read(&column, row, &value);
        g_autofree char *got = print(&value);
        check_row(reads[i].name);
        if (g_strcmp0(reads[i].want, FAILS) == 0) {
            CHECK(!good);
            CHECK_INT(value.type, RS_VALUE_NULL);
        } else {
            CHECK(good);
            CHECK_STR(got, reads[i].want);
        }
    }
    json_decref(row);
}

/* Words that SQL keeps to itself, of those that a report may well use. */
static const char *const reserved[] = {
    "all",   "and", "as",    "case",   "check",      "default", "end",   "from",
    "group", "in",  "index", "into",   "is",         "join",    "limit", "not",
    "null",  "on",  "or",    "order",  "references", "select",  "set",   "table",
    "then",  "to",  "union", "unique", "using",      "values",  "when",  "where",
};

static gboolean
is_reserved(const char *name)
{
    for (guint i = 0; i < G_N_ELEMENTS(reserved); i++) {
        if (g_str_equal(reserved[i], name)) {
            return TRUE;
        }
    }
    return FALSE;
}

static void
check_name(const char *name)
{
    CHECK(g_ascii_islower(name[0]));
    CHECK_INT(strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_"), strlen(name));
    CHECK(!is_reserved(name));
}

/* One line, which can be a cell of a Markdown table. */
static void
check_what(const char *what)
{
    CHECK(strlen(what) > 1);
    CHECK(strpbrk(what, "|\n") == NULL);
    CHECK(!g_str_has_suffix(what, "."));
}

static const rs_sheet_column *
find_column(const rs_sheet *sheet, const char *name)
{
    for (guint i = 0; i < sheet->n_columns; i++) {
        if (g_str_equal(sheet->columns[i].name, name)) {
            return &sheet->columns[i];
        }
    }
    return NULL;
}

/* It is an `id` of another sheet, and of that one's type. */
static void
check_reference(const rs_sheet_column *column)
{
    const rs_sheet *other = rs_sheet_find(column->refers);
    const rs_sheet_column *id = other != NULL ? find_column(other, "id") : NULL;
    if (CHECK(id != NULL)) {
        CHECK_INT(column->type, id->type);
    }
}

static void
check_column(const rs_sheet *sheet, const rs_sheet_column *column)
{
    g_autofree char *row = g_strdup_printf("%s.%s", sheet->name, column->name);
    check_row(row);
    check_name(column->name);
    check_what(column->what);
    CHECK(find_column(sheet, column->name) == column);
    CHECK(column->path[0] != '\0');
    CHECK(column->type != RS_VALUE_NULL);
    if (column->refers != NULL) {
        check_reference(column);
    }
    if (strstr(column->path, "_ns") != NULL) {
        CHECK(g_str_has_suffix(column->name, "_ns") ||
              g_str_has_suffix(column->path, ".count"));
    }
}

static void
check_tables(void)
{
    for (guint i = 0; i < rs_n_sheets; i++) {
        const rs_sheet *sheet = &rs_sheets[i];
        check_row(sheet->name);
        check_name(sheet->name);
        check_what(sheet->what);
        CHECK(rs_sheet_find(sheet->name) == sheet);
        CHECK_INT(sheet->of != NULL, sheet->list != NULL);
        if (sheet->of != NULL) {
            const rs_sheet *of = rs_sheet_find(sheet->of);
            CHECK(of != NULL && of->of == NULL && of < sheet);
        }
        for (guint j = 0; j < sheet->n_columns; j++) {
            check_column(sheet, &sheet->columns[j]);
        }
    }
    check_row("find");
    CHECK(rs_sheet_find("stream") == NULL);
}

int
main(void)
{
    check_reads();
    check_tables();
    return check_status();
}
