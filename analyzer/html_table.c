/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Cells are made when a row is added and written when all are there: which columns are
 * worth showing is known only then.
 */
#include "html_table.h"

#include "format.h"
#include "options.h"

#include <string.h>

#define CANNOT_TELL "cannot be told from here"

/* Of a row beside its cells, of a cell beside its text, of an attribute beside its value. */
#define ROW_MARKUP_BYTES 48
#define CELL_MARKUP_BYTES 32
#define ATTRIBUTE_MARKUP_BYTES 13

typedef enum cell_state {
    CELL_KNOWN,
    CELL_EMPTY, /* 0, "" or an empty list */
    CELL_NULL,
} cell_state;

typedef struct cell {
    cell_state state;
    char *text;    /* as it is shown, with no markup */
    char *sort;    /* what it is sorted by, or NULL: its text */
    char *title;   /* shown on hovering, or NULL */
    json_t *value; /* of cells that are links */
} cell;

typedef struct row {
    char *id; /* or NULL */
    cell cells[];
} row;

struct rs_html_table {
    const rs_html_table_style *style;
    const rs_html_column *columns;
    guint n_columns;
    GPtrArray *rows; /* row */
    gsize size;
};

static void
free_row(rs_html_table *table, row *r)
{
    for (guint i = 0; i < table->n_columns; i++) {
        g_free(r->cells[i].text);
        g_free(r->cells[i].sort);
        g_free(r->cells[i].title);
        json_decref(r->cells[i].value);
    }
    g_free(r->id);
    g_free(r);
}

rs_html_table *
rs_html_table_new(const rs_html_table_style *style, const rs_html_column *columns,
                  guint n_columns)
{
    rs_html_table *table = g_new0(rs_html_table, 1);
    table->style = style;
    table->columns = columns;
    table->n_columns = n_columns;
    table->rows = g_ptr_array_new();
    return table;
}

void
rs_html_table_free(rs_html_table *table)
{
    if (table == NULL) {
        return;
    }
    for (guint i = 0; i < table->rows->len; i++) {
        free_row(table, g_ptr_array_index(table->rows, i));
    }
    g_ptr_array_unref(table->rows);
    g_free(table);
}

/* ---- values ---- */

/* A part of a column's path. */
typedef struct words {
    const char *text;
    gsize length;
} words;

/* Takes the first word off, up to a separator or to the end. */
static words
take_word(words *from, char separator)
{
    const char *end = memchr(from->text, separator, from->length);
    gsize length = end != NULL ? (gsize)(end - from->text) : from->length;
    const words first = {from->text, length};
    gsize taken = length + (end != NULL ? 1 : 0);
    *from = (words){from->text + taken, from->length - taken};
    return first;
}

/* The member at "a.b", borrowed; NULL for none and for null. */
static json_t *
member(const json_t *object, words path)
{
    words name = take_word(&path, '.');
    json_t *at = json_object_getn(object, name.text, name.length);
    while (path.length > 0) {
        name = take_word(&path, '.');
        at = json_object_getn(at, name.text, name.length);
    }
    return json_is_null(at) ? NULL : at;
}

/* One path's value, or the sum of several: a new reference; NULL for null. */
static json_t *
sum_of(words terms, const json_t *object)
{
    words path = take_word(&terms, '+');
    if (terms.length == 0) {
        return json_incref(member(object, path));
    }
    json_int_t sum = 0;
    for (;; path = take_word(&terms, '+')) {
        const json_t *value = member(object, path);
        if (value == NULL) {
            return NULL;
        }
        sum += json_integer_value(value);
        if (terms.length == 0) {
            return json_integer(sum);
        }
    }
}

/* A sum, or one divided by another, which is null where that is 0. */
static json_t *
quotient_of(words terms, const json_t *object)
{
    json_t *value = sum_of(take_word(&terms, '/'), object);
    if (terms.length == 0 || value == NULL) {
        return value;
    }
    json_t *whole = sum_of(terms, object);
    gboolean known = whole != NULL && json_number_value(whole) != 0;
    json_t *quotient =
        known ? json_real(json_number_value(value) / json_number_value(whole)) : NULL;
    json_decref(value);
    json_decref(whole);
    return quotient;
}

/* What a column shows of a row: a new reference; NULL for null. */
static json_t *
value_of(const rs_html_column *column, const json_t *object)
{
    words choices = {column->path, strlen(column->path)};
    json_t *value = NULL;
    while (value == NULL && choices.length > 0) {
        value = quotient_of(take_word(&choices, '|'), object);
    }
    return value;
}

static gboolean
is_empty(const json_t *value)
{
    switch (json_typeof(value)) {
    case JSON_INTEGER:
    case JSON_REAL:
        return json_number_value(value) == 0;
    case JSON_STRING:
        return json_string_length(value) == 0;
    case JSON_ARRAY:
        return json_array_size(value) == 0;
    case JSON_OBJECT:
        return json_object_size(value) == 0;
    case JSON_FALSE:
    case JSON_NULL:
        return TRUE;
    case JSON_TRUE:
        return FALSE;
    }
    return TRUE;
}

/* A string or a number as it is; lists with commas. */
static char *
plain_text(const json_t *value)
{
    GString *text = g_string_new(NULL);
    if (json_is_array(value)) {
        for (gsize i = 0; i < json_array_size(value); i++) {
            g_autofree char *one = plain_text(json_array_get(value, i));
            g_string_append_printf(text, "%s%s", i > 0 ? ", " : "", one);
        }
    } else if (json_is_string(value)) {
        g_string_append(text, json_string_value(value));
    } else if (json_is_integer(value)) {
        g_string_append_printf(text, "%" JSON_INTEGER_FORMAT,
                               json_integer_value(value));
    } else if (json_is_boolean(value)) {
        g_string_append(text, json_is_true(value) ? "yes" : "no");
    } else if (json_is_real(value)) {
        g_string_append_printf(text, "%.6g", json_real_value(value));
    }
    return g_string_free(text, FALSE);
}

/* "+1.234567 s" from the origin on, which may lie later. */
static char *
relative_time(const rs_html_table_style *style, guint64 ns)
{
    gboolean before = ns < style->origin_ns;
    guint64 away_ns = before ? style->origin_ns - ns : ns - style->origin_ns;
    return g_strdup_printf("%s%" G_GUINT64_FORMAT ".%06" G_GUINT64_FORMAT " s",
                           before ? "−" : "", away_ns / 1000000000,
                           away_ns % 1000000000 / 1000);
}

/* Of cells whose text does not sort as its value does. */
static char *
number_text(const rs_html_table_style *style, rs_html_cell kind, guint64 n)
{
    switch (kind) {
    case RS_HTML_COUNT:
        return rs_format_count(n);
    case RS_HTML_HEX:
        return g_strdup_printf("0x%" G_GINT64_MODIFIER "x", n);
    case RS_HTML_BYTES:
        return rs_format_bytes(n);
    case RS_HTML_DURATION:
        return rs_format_duration(n, style->resolution_ns);
    case RS_HTML_TIME:
        return relative_time(style, n);
    case RS_HTML_SPEED:
        return rs_format_rate(n);
    case RS_HTML_TEXT:
    case RS_HTML_NUMBER:
    case RS_HTML_SHARE:
    case RS_HTML_SEVERITY:
    case RS_HTML_REPORT:
    case RS_HTML_STREAMS:
        return NULL;
    }
    return NULL;
}

/* Severities sort by how bad they are; NULL: not one of them. */
static char *
severity_rank(const json_t *value)
{
    for (guint i = RS_SEVERITY_NOTE; i < RS_SEVERITY_NEVER; i++) {
        if (g_strcmp0(json_string_value(value), rs_severity_name((rs_severity)i)) ==
            0) {
            return g_strdup_printf("%u", i);
        }
    }
    return NULL;
}

static gboolean
is_number(rs_html_cell kind)
{
    return kind != RS_HTML_TEXT && kind != RS_HTML_SEVERITY && kind != RS_HTML_REPORT &&
           kind != RS_HTML_STREAMS;
}

static gboolean
is_link(rs_html_cell kind)
{
    return kind == RS_HTML_REPORT || kind == RS_HTML_STREAMS;
}

static void
fill_cell(const rs_html_table_style *style, const rs_html_column *column,
          const json_t *object, cell *c)
{
    json_t *value = value_of(column, object);
    if (value == NULL) {
        c->state = CELL_NULL;
        return;
    }
    c->state = is_empty(value) ? CELL_EMPTY : CELL_KNOWN;
    if (json_is_integer(value)) {
        guint64 n = (guint64)json_integer_value(value);
        c->text = number_text(style, column->cell, n);
        if (c->text != NULL && column->cell != RS_HTML_COUNT) {
            c->sort = plain_text(value);
        }
        if (column->cell == RS_HTML_TIME) {
            /* scripts' numbers do not hold ns since 1970 */
            gint64 away_ns = (gint64)(n - style->origin_ns);
            g_free(c->sort);
            c->sort = g_strdup_printf("%" G_GINT64_FORMAT, away_ns);
            c->title = rs_format_time(n);
        }
    }
    if (column->cell == RS_HTML_SHARE) {
        c->text = g_strdup_printf("%.3g %%", 100 * json_number_value(value));
        c->sort = plain_text(value);
    }
    if (column->cell == RS_HTML_SEVERITY) {
        c->sort = severity_rank(value);
    }
    if (c->text == NULL) {
        c->text = plain_text(value);
    }
    if (is_link(column->cell)) {
        c->value = json_incref(value);
    }
    json_decref(value);
}

/* How long a text can become as markup. */
static gsize
markup_size(const char *text)
{
    gsize size = 0;
    for (const char *at = text; at != NULL && *at != '\0'; at++) {
        size += g_ascii_isalnum(*at) || *at == ' ' ? 1 : 6;
    }
    return size;
}

static gsize
cell_size(const rs_html_column *column, const cell *c)
{
    gsize n_links = is_link(column->cell) ? 1 + json_array_size(c->value) : 0;
    gsize size = CELL_MARKUP_BYTES + markup_size(c->text);
    size += c->sort != NULL ? ATTRIBUTE_MARKUP_BYTES + strlen(c->sort) : 0;
    size += c->title != NULL ? ATTRIBUTE_MARKUP_BYTES + strlen(c->title) : 0;
    return size + n_links * (2 * ATTRIBUTE_MARKUP_BYTES + markup_size(c->text));
}

void
rs_html_table_add(rs_html_table *table, const json_t *object)
{
    row *r = g_malloc0(sizeof *r + table->n_columns * sizeof r->cells[0]);
    table->size += ROW_MARKUP_BYTES;
    if (table->style->row_id != NULL) {
        const words path = {table->style->row_id, strlen(table->style->row_id)};
        const json_t *id = member(object, path);
        r->id = id != NULL ? plain_text(id) : NULL;
    }
    for (guint i = 0; i < table->n_columns; i++) {
        cell *c = &r->cells[i];
        fill_cell(table->style, &table->columns[i], object, c);
        table->size += cell_size(&table->columns[i], c);
    }
    g_ptr_array_add(table->rows, r);
}

guint
rs_html_table_n_rows(const rs_html_table *table)
{
    return table->rows->len;
}

gsize
rs_html_table_size(const rs_html_table *table)
{
    return table->size;
}

/* ---- markup ---- */

static gboolean
is_shown(const rs_html_table *table, guint column)
{
    if (table->columns[column].use == RS_HTML_ALWAYS) {
        return TRUE;
    }
    for (guint i = 0; i < table->rows->len; i++) {
        const row *r = g_ptr_array_index(table->rows, i);
        if (r->cells[column].state == CELL_KNOWN) {
            return TRUE;
        }
    }
    return FALSE;
}

static gboolean
any_null(const rs_html_table *table, guint column)
{
    for (guint i = 0; i < table->rows->len; i++) {
        const row *r = g_ptr_array_index(table->rows, i);
        if (r->cells[column].state == CELL_NULL) {
            return TRUE;
        }
    }
    return FALSE;
}

static const char *
null_reason(const rs_html_column *column)
{
    return column->null != NULL ? column->null : CANNOT_TELL;
}

static void
write_heading(const rs_html_column *column, rs_html *page)
{
    rs_html_markup(page, is_number(column->cell) ? "<th scope=\"col\" class=\"n\""
                                                 : "<th scope=\"col\"");
    if (column->what != NULL) {
        rs_html_printf(page, " title=\"%s\"", column->what);
    }
    rs_html_printf(page, " data-null=\"%s\">%s</th>", null_reason(column),
                   column->heading);
}

/* "./" and escapes, so that no name of a file can be the address of anything else. */
static void
write_report(const char *name, rs_html *page)
{
    g_autofree char *escaped = g_uri_escape_string(name, "/", FALSE);
    rs_html_printf(page, "<a href=\"./captures/%s.html\">%s</a>", escaped, name);
}

static void
write_streams(const json_t *value, rs_html *page)
{
    gsize n = json_is_array(value) ? json_array_size(value) : 1;
    for (gsize i = 0; i < n; i++) {
        const json_t *id = json_is_array(value) ? json_array_get(value, i) : value;
        rs_html_printf(page,
                       "%s<a href=\"#streams-%" JSON_INTEGER_FORMAT
                       "\">%" JSON_INTEGER_FORMAT "</a>",
                       i > 0 ? ", " : "", json_integer_value(id),
                       json_integer_value(id));
    }
}

static void
write_content(const rs_html_column *column, const cell *c, rs_html *page)
{
    if (c->state == CELL_NULL) {
        rs_html_markup(page, "–");
    } else if (column->cell == RS_HTML_REPORT && json_is_string(c->value)) {
        write_report(json_string_value(c->value), page);
    } else if (column->cell == RS_HTML_STREAMS) {
        write_streams(c->value, page);
    } else if (column->cell == RS_HTML_SEVERITY) {
        rs_html_printf(page, "<span class=\"severity %s\">%s</span>", c->text, c->text);
    } else {
        rs_html_text(page, c->text);
    }
}

/* The first cell is the row's heading. */
static void
write_cell(const rs_html_column *column, const cell *c, guint position, rs_html *page)
{
    rs_html_markup(page, position == 0 ? "<th scope=\"row\"" : "<td");
    if (c->state == CELL_NULL) {
        rs_html_markup(page, is_number(column->cell) ? " class=\"n null\""
                                                     : " class=\"null\"");
    } else if (is_number(column->cell)) {
        rs_html_markup(page,
                       c->state == CELL_EMPTY ? " class=\"n zero\"" : " class=\"n\"");
    }
    if (c->sort != NULL) {
        rs_html_markup(page, " data-sort=\"");
        rs_html_text(page, c->sort);
        rs_html_markup(page, "\"");
    }
    if (c->title != NULL) {
        rs_html_markup(page, " title=\"");
        rs_html_text(page, c->title);
        rs_html_markup(page, "\"");
    }
    rs_html_markup(page, ">");
    write_content(column, c, page);
    rs_html_markup(page, position == 0 ? "</th>" : "</td>");
}

static void
write_row(const rs_html_table *table, const gboolean *shown, const row *r,
          rs_html *page)
{
    if (r->id != NULL) {
        rs_html_printf(page, "<tr id=\"%s-%s\">", table->style->id, r->id);
    } else {
        rs_html_markup(page, "<tr>");
    }
    guint position = 0;
    for (guint i = 0; i < table->n_columns; i++) {
        if (shown[i]) {
            write_cell(&table->columns[i], &r->cells[i], position++, page);
        }
    }
    rs_html_markup(page, "</tr>\n");
}

static void
append_item(GString *list, const char *separator, const char *item)
{
    g_string_append_printf(list, "%s%s", list->len > 0 ? separator : "", item);
}

/* The headings of columns with values that are not known for one reason. */
static char *
unknown_for(const rs_html_table *table, const gboolean *shown, const char *reason)
{
    GString *headings = g_string_new(NULL);
    for (guint i = 0; i < table->n_columns; i++) {
        const rs_html_column *column = &table->columns[i];
        if (shown[i] && any_null(table, i) &&
            g_str_equal(null_reason(column), reason)) {
            append_item(headings, ", ", column->heading);
        }
    }
    return g_string_free(headings, FALSE);
}

/* Why some cells are not known: each reason once, where its first column stands. */
static void
write_reasons(const rs_html_table *table, const gboolean *shown, rs_html *page)
{
    g_autoptr(GHashTable) said = g_hash_table_new(g_str_hash, g_str_equal);
    g_autoptr(GString) text = g_string_new(NULL);
    for (guint i = 0; i < table->n_columns; i++) {
        const char *reason = null_reason(&table->columns[i]);
        if (shown[i] && any_null(table, i) &&
            g_hash_table_add(said, (gpointer)(gsize)reason)) {
            g_autofree char *headings = unknown_for(table, shown, reason);
            append_item(text, "; ", headings);
            g_string_append_printf(text, ": %s", reason);
        }
    }
    if (text->len > 0) {
        rs_html_printf(page, "<p class=\"legend\">– not known.  %s.</p>\n", text->str);
    }
}

static void
write_left_out(const rs_html_table *table, const gboolean *shown, rs_html *page)
{
    g_autoptr(GString) headings = g_string_new(NULL);
    for (guint i = 0; i < table->n_columns; i++) {
        if (!shown[i]) {
            append_item(headings, ", ", table->columns[i].heading);
        }
    }
    if (headings->len > 0) {
        rs_html_printf(page,
                       "<p class=\"legend\">Nothing but 0 or unknown, and left "
                       "out: %s.</p>\n",
                       headings->str);
    }
}

void
rs_html_table_write(const rs_html_table *table, rs_html *page)
{
    if (table->rows->len == 0) {
        return;
    }
    g_autofree gboolean *shown = g_new0(gboolean, table->n_columns);
    rs_html_printf(page,
                   "<div class=\"table\" tabindex=\"0\" role=\"region\" "
                   "aria-label=\"%s\">\n<table id=\"%s-table\" class=\"sortable\">\n"
                   "<caption>%s</caption>\n<thead><tr>",
                   table->style->caption, table->style->id, table->style->caption);
    for (guint i = 0; i < table->n_columns; i++) {
        shown[i] = is_shown(table, i);
        if (shown[i]) {
            write_heading(&table->columns[i], page);
        }
    }
    rs_html_markup(page, "</tr></thead>\n<tbody>\n");
    for (guint i = 0; i < table->rows->len; i++) {
        write_row(table, shown, g_ptr_array_index(table->rows, i), page);
    }
    rs_html_markup(page, "</tbody>\n</table>\n</div>\n");
    write_reasons(table, shown, page);
    write_left_out(table, shown, page);
}
