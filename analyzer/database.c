/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Everything happens in one transaction without a journal: a database that was not
 * finished is thrown away.
 */
#include "database.h"

#include "database_schema.h"
#include "error.h"
#include "sheets.h"

#include <sqlite3.h>

struct rs_database {
    char *path;
    sqlite3 *handle;
    sqlite3_stmt **inserts; /* by sheet */
    const json_t *columns;  /* of the newest row, of the part that is being added; */
    const rs_sheet *sheet;  /* and whose they are */
    GHashTable *puts;       /* char *, table that is no sheet -> sqlite3_stmt */
    gint64 n_captures;
};

static gboolean
fail(const rs_database *db, GError **error)
{
    g_set_error(error, RS_ERROR, RS_ERROR_IO, "%s: %s", db->path,
                sqlite3_errmsg(db->handle));
    return FALSE;
}

static gboolean
run(const rs_database *db, const char *sql, GError **error)
{
    return sqlite3_exec(db->handle, sql, NULL, NULL, NULL) == SQLITE_OK ||
           fail(db, error);
}

static gboolean
prepare(const rs_database *db, const char *sql, sqlite3_stmt **statement,
        GError **error)
{
    return sqlite3_prepare_v2(db->handle, sql, -1, statement, NULL) == SQLITE_OK ||
           fail(db, error);
}

/* ---- making ---- */

static gboolean
make_tables(rs_database *db, GError **error)
{
    g_autofree char *begin =
        g_strdup_printf("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; "
                        "PRAGMA locking_mode = EXCLUSIVE; "
                        "PRAGMA user_version = %d; BEGIN;",
                        RS_DATABASE_VERSION);
    if (!run(db, begin, error)) {
        return FALSE;
    }
    for (guint i = 0; i < rs_n_sheets; i++) {
        g_autofree char *table = rs_database_table(&rs_sheets[i]);
        g_autofree char *insert =
            rs_database_insert(rs_sheets[i].name, rs_database_n_columns(&rs_sheets[i]));
        if (!rs_database_keeps(&rs_sheets[i])) {
            continue;
        }
        if (!run(db, table, error) || !prepare(db, insert, &db->inserts[i], error)) {
            return FALSE;
        }
    }
    return run(db, rs_database_tables, error);
}

static void
free_statement(gpointer statement)
{
    (void)sqlite3_finalize(statement);
}

rs_database *
rs_database_new(const char *path, GError **error)
{
    g_autoptr(rs_database) db = g_new0(rs_database, 1);
    db->path = g_strdup(path);
    db->inserts = g_new0(sqlite3_stmt *, rs_n_sheets);
    db->puts = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, free_statement);
    /* The caller's thread alone has to do with it. */
    const int how = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
    if (sqlite3_open_v2(path, &db->handle, how, NULL) != SQLITE_OK) {
        fail(db, error);
        return NULL;
    }
    return make_tables(db, error) ? g_steal_pointer(&db) : NULL;
}

void
rs_database_free(rs_database *db)
{
    if (db == NULL) {
        return;
    }
    for (guint i = 0; i < rs_n_sheets; i++) {
        (void)sqlite3_finalize(db->inserts[i]);
    }
    g_hash_table_unref(db->puts);
    (void)sqlite3_close(db->handle);
    g_free(db->inserts);
    g_free(db->path);
    g_free(db);
}

/* ---- adding ---- */

/* The value outlives the row. */
static void
bind(sqlite3_stmt *statement, guint at, const json_t *value)
{
    int i = (int)at;
    switch (json_typeof(value)) {
    case JSON_STRING:
        (void)sqlite3_bind_text(statement, i, json_string_value(value),
                                (int)json_string_length(value), SQLITE_STATIC);
        break;
    case JSON_INTEGER:
        (void)sqlite3_bind_int64(statement, i, json_integer_value(value));
        break;
    case JSON_REAL:
        (void)sqlite3_bind_double(statement, i, json_real_value(value));
        break;
    case JSON_TRUE:
        (void)sqlite3_bind_int(statement, i, 1);
        break;
    case JSON_FALSE:
        (void)sqlite3_bind_int(statement, i, 0);
        break;
    case JSON_OBJECT:
    case JSON_ARRAY:
    case JSON_NULL:
        (void)sqlite3_bind_null(statement, i);
        break;
    }
}

static gboolean
insert(const rs_database *db, sqlite3_stmt *statement, GError **error)
{
    gboolean good = sqlite3_step(statement) == SQLITE_DONE;
    if (!good) {
        fail(db, error);
    }
    (void)sqlite3_reset(statement);
    (void)sqlite3_clear_bindings(statement);
    return good;
}

static const json_t *
first_file(const json_t *head)
{
    return json_array_get(json_object_get(head, "files"), 0);
}

static gint64
bytes_of_files(const json_t *head)
{
    gint64 sum = 0;
    gsize i;
    json_t *file;
    json_array_foreach(json_object_get(head, "files"), i, file)
    {
        sum += json_integer_value(json_object_get(file, "bytes"));
    }
    return sum;
}

/* A member that may be missing: then it is null. */
static void
bind_member(sqlite3_stmt *statement, guint at, const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    if (value != NULL) {
        bind(statement, at, value);
    }
}

/* In the order of rs_database_head_columns. */
static void
bind_head(const rs_database *db, sqlite3_stmt *statement, const json_t *head)
{
    const json_t *findings = json_object_get(head, "findings");
    gsize n_files = json_array_size(json_object_get(head, "files"));
    (void)sqlite3_bind_int64(statement, 1, db->n_captures);
    bind_member(statement, 2, head, "name");
    bind_member(statement, 3, first_file(head), "path");
    (void)sqlite3_bind_int64(statement, 4, (gint64)n_files);
    (void)sqlite3_bind_int64(statement, 5, bytes_of_files(head));
    bind_member(statement, 6, head, "status");
    bind_member(statement, 7, head, "reason");
    bind_member(statement, 8, findings, "critical");
    bind_member(statement, 9, findings, "warning");
    bind_member(statement, 10, findings, "note");
}

static gboolean
are_columns_of(const rs_sheet *sheet, const json_t *columns)
{
    gboolean same = json_array_size(columns) == sheet->n_columns;
    for (guint i = 0; same && i < sheet->n_columns; i++) {
        const char *name = json_string_value(json_array_get(columns, i));
        same = g_strcmp0(name, sheet->columns[i].name) == 0;
    }
    return same;
}

/* The table of a row, if its columns are those that we know; else NULL. */
static const rs_sheet *
sheet_of(rs_database *db, const rs_part_row *row)
{
    if (row->columns != db->columns) {
        const rs_sheet *sheet = rs_sheet_find(row->sheet);
        gboolean is_ours = sheet != NULL && rs_database_keeps(sheet) &&
                           are_columns_of(sheet, row->columns);
        db->columns = row->columns;
        db->sheet = is_ours ? sheet : NULL;
    }
    return db->sheet;
}

static gboolean
add_row(rs_database *db, const json_t *head, const rs_part_row *row, GError **error)
{
    const rs_sheet *sheet = sheet_of(db, row);
    if (sheet == NULL) {
        g_set_error(error, RS_ERROR, RS_ERROR_DAMAGED,
                    "the part of %s has rows of another version of rocescope",
                    json_string_value(json_object_get(head, "name")));
        return FALSE;
    }
    sqlite3_stmt *statement = db->inserts[sheet - rs_sheets];
    gboolean heads = g_str_equal(sheet->name, "captures");
    guint first = heads ? rs_database_n_head_columns + 1 : 2;
    if (heads) {
        bind_head(db, statement, head);
    } else {
        (void)sqlite3_bind_int64(statement, 1, db->n_captures);
    }
    for (guint i = 0; i < sheet->n_columns; i++) {
        bind(statement, first + i, json_array_get(row->values, i));
    }
    return insert(db, statement, error);
}

/* A capture without a report has the head alone. */
static gboolean
add_head(const rs_database *db, const json_t *head, GError **error)
{
    const rs_sheet *sheet = rs_sheet_find("captures");
    sqlite3_stmt *statement = db->inserts[sheet - rs_sheets];
    bind_head(db, statement, head);
    return insert(db, statement, error);
}

static void
append_member(json_t *values, const json_t *object, const char *key)
{
    json_t *value = json_object_get(object, key);
    json_array_append_new(values, value != NULL ? json_incref(value) : json_null());
}

static gboolean
add_no_capture(rs_database *db, const json_t *head, GError **error)
{
    json_t *values = json_array();
    append_member(values, first_file(head), "path");
    append_member(values, first_file(head), "bytes");
    append_member(values, head, "reason");
    gboolean good = rs_database_put(db, "no_captures", values, error);
    json_decref(values);
    return good;
}

gboolean
rs_database_add(rs_database *db, rs_parts_ahead *parts, GError **error)
{
    const json_t *head = rs_parts_ahead_open(parts, error);
    if (head == NULL) {
        return FALSE;
    }
    const char *status = json_string_value(json_object_get(head, "status"));
    if (g_strcmp0(status, "no_capture") == 0) {
        return add_no_capture(db, head, error);
    }
    db->n_captures++;
    db->columns = NULL;
    gboolean has_rows = FALSE;
    for (rs_part_row row; rs_parts_ahead_next(parts, &row);) {
        has_rows = TRUE;
        if (!add_row(db, head, &row, error)) {
            return FALSE;
        }
    }
    return has_rows || add_head(db, head, error);
}

gboolean
rs_database_index(rs_database *db, GError **error)
{
    g_autofree char *view = rs_database_captures_view();
    return run(db, rs_database_views, error) && run(db, view, error);
}

/* The statement for a table, made when its first row comes. */
static sqlite3_stmt *
put_statement(rs_database *db, const char *table, gsize n_columns, GError **error)
{
    sqlite3_stmt *statement = g_hash_table_lookup(db->puts, table);
    if (statement != NULL) {
        return statement;
    }
    g_autofree char *sql = rs_database_insert(table, n_columns);
    if (!prepare(db, sql, &statement, error)) {
        return NULL;
    }
    g_hash_table_insert(db->puts, g_strdup(table), statement);
    return statement;
}

gboolean
rs_database_put(rs_database *db, const char *table, const json_t *values,
                GError **error)
{
    gsize i;
    json_t *value;
    sqlite3_stmt *statement = put_statement(db, table, json_array_size(values), error);
    if (statement == NULL) {
        return FALSE;
    }
    json_array_foreach(values, i, value)
    {
        bind(statement, (guint)i + 1, value);
    }
    return insert(db, statement, error);
}

gboolean
rs_database_finish(rs_database *db, GError **error)
{
    return run(db, "COMMIT;", error);
}

/* ---- asking ---- */

static json_t *
column_json(sqlite3_stmt *statement, int i)
{
    switch (sqlite3_column_type(statement, i)) {
    case SQLITE_INTEGER:
        return json_integer(sqlite3_column_int64(statement, i));
    case SQLITE_FLOAT:
        return json_real(sqlite3_column_double(statement, i));
    case SQLITE_TEXT:
        return json_string((const char *)sqlite3_column_text(statement, i));
    default: /* no enumeration: null, and blobs, which there are none of */
        return json_null();
    }
}

static json_t *
row_json(sqlite3_stmt *statement)
{
    json_t *row = json_object();
    for (int i = 0; i < sqlite3_column_count(statement); i++) {
        json_object_set_new(row, sqlite3_column_name(statement, i),
                            column_json(statement, i));
    }
    return row;
}

gboolean
rs_database_ask(rs_database *db, const char *sql, gint64 limit,
                rs_database_visitor visit, void *ctx, GError **error)
{
    sqlite3_stmt *statement = NULL;
    if (!prepare(db, sql, &statement, error)) {
        return FALSE;
    }
    if (sqlite3_bind_parameter_count(statement) > 0) {
        (void)sqlite3_bind_int64(statement, 1, limit);
    }
    int step;
    gboolean going = TRUE;
    while (going && (step = sqlite3_step(statement)) == SQLITE_ROW) {
        json_t *row = row_json(statement);
        going = visit(row, ctx);
        json_decref(row);
    }
    gboolean good = !going || step == SQLITE_DONE || fail(db, error);
    (void)sqlite3_finalize(statement);
    return good;
}

static gboolean
take_number(const json_t *row, void *ctx)
{
    void *only = json_object_iter((json_t *)(guintptr)row);
    *(guint64 *)ctx = (guint64)json_integer_value(json_object_iter_value(only));
    return FALSE;
}

gboolean
rs_database_count(rs_database *db, const char *sql, guint64 *n, GError **error)
{
    *n = 0;
    return rs_database_ask(db, sql, 0, take_number, n, error);
}

GStrv
rs_database_columns(rs_database *db, const char *sql, GError **error)
{
    sqlite3_stmt *statement = NULL;
    if (!prepare(db, sql, &statement, error)) {
        return NULL;
    }
    g_autoptr(GStrvBuilder) names = g_strv_builder_new();
    for (int i = 0; i < sqlite3_column_count(statement); i++) {
        g_strv_builder_add(names, sqlite3_column_name(statement, i));
    }
    (void)sqlite3_finalize(statement);
    return g_strv_builder_end(names);
}
