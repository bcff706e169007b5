/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Directories are looked at one after the other and closed again, since there may be more
 * of them than files that can be open; then those that something is taken of are opened
 * once more.
 */
#include "batch_merge.h"

#include "batch_work.h"
#include "console.h"
#include "digest.h"
#include "error.h"
#include "format.h"
#include "part.h"
#include "sorting.h"

#include <jansson.h>
#include <string.h>

#define MOST_NAMED 20u /* captures that no part has */

/* What one directory has of a capture. */
typedef struct source {
    guint path_i;
    char *digest;  /* of its part; NULL: there is none that is whole */
    gboolean told; /* that there is none */
    rs_batch_result result;
    GPtrArray *files; /* char *: reports and part */
} source;

typedef struct merge {
    rs_batch_outcome *outcome;
    const char *const *paths;
    GHashTable *sources; /* char *, name of the capture -> source, the best so far */
    GPtrArray *taken;    /* GPtrArray of source, for each path: what comes from there */
    rs_batch_record *record;
    GHashTable *missing; /* char *: captures that no part has */
    guint n_read;        /* directories that could be read */
    guint n_lacking;     /* batches of which shares are missing */
} merge;

static void
free_source(gpointer data)
{
    source *s = data;
    g_free(s->digest);
    g_ptr_array_unref(s->files);
    g_free(s);
}

static void
free_list(gpointer data)
{
    g_ptr_array_unref(data);
}

/* Something is left out: the merge goes on without. */
static void
leave_out(merge *m, const char *why)
{
    m->outcome->told_in_part = TRUE;
    rs_complain(why);
}

/* ---- one capture of one directory ---- */

static gboolean
report_is_whole(const rs_batch_dir *dir, const json_t *report, source *s)
{
    const char *file = json_string_value(json_object_get(report, "file"));
    if (file == NULL) {
        return FALSE;
    }
    g_autofree char *path = rs_batch_dir_path(dir, file);
    g_autofree char *digest = rs_digest_file(path, NULL, NULL);
    g_ptr_array_add(s->files, g_strdup(file));
    return g_strcmp0(digest, json_string_value(json_object_get(report, "digest"))) == 0;
}

/* Whether a report is of this capture: a part might name any file. */
static gboolean
are_own_reports(const json_t *reports, const char *name)
{
    gboolean own =
        json_array_size(reports) == 0 || json_array_size(reports) == RS_BATCH_FORMS;
    for (gsize i = 0; own && i < json_array_size(reports); i++) {
        g_autofree char *wanted = rs_batch_dir_report(name, rs_batch_extensions[i]);
        const json_t *file = json_object_get(json_array_get(reports, i), "file");
        own = g_strcmp0(json_string_value(file), wanted) == 0;
    }
    return own;
}

/* Takes what the part says; NULL, or a line that tells what is wrong with it. */
static char *
take_part(const rs_batch_dir *dir, const char *name, const rs_part *part, source *s)
{
    const json_t *head = rs_part_head(part);
    const json_t *reports = json_object_get(head, "reports");
    if (g_strcmp0(json_string_value(json_object_get(head, "name")), name) != 0 ||
        !are_own_reports(reports, name)) {
        return g_strdup("its part is of another capture");
    }
    for (gsize i = 0; i < json_array_size(reports); i++) {
        if (!report_is_whole(dir, json_array_get(reports, i), s)) {
            return g_strdup("a report of it is missing or damaged");
        }
    }
    s->digest = g_strdup(rs_part_digest(part));
    s->result = rs_batch_result_of(head);
    return NULL;
}

/* What a directory has of a capture.  A part that is not there is that of a capture that
 * the batch did not come to, and so is that of one which is `due`. */
static source *
look_at_capture(merge *m, const rs_batch_dir *dir, guint path_i, const char *name,
                gboolean due)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *file = rs_batch_dir_part(name);
    g_autofree char *path = rs_batch_dir_path(dir, file);
    source *s = g_new0(source, 1);
    s->path_i = path_i;
    s->files = g_ptr_array_new_with_free_func(g_free);
    if (due) {
        return s;
    }
    g_autoptr(rs_part) part = rs_part_open(path, &error);
    g_autofree char *problem = part != NULL ? take_part(dir, name, part, s) : NULL;
    s->told = part == NULL && g_file_test(path, G_FILE_TEST_EXISTS);
    if (problem != NULL) {
        g_autofree char *line =
            g_strdup_printf("%s: %s: %s", m->paths[path_i], name, problem);
        leave_out(m, line);
        s->told = TRUE;
    } else if (s->told) {
        leave_out(m, error->message);
    } else if (part != NULL) {
        g_ptr_array_add(s->files, g_steal_pointer(&file));
    }
    return s;
}

/* ---- which one is taken ---- */

/* Statuses from bad to good; what has no part is worse than all. */
static int
goodness(const source *s)
{
    if (s->digest == NULL) {
        return 0;
    }
    switch (s->result.status) {
    case RS_BATCH_FAILED:
        return 1;
    case RS_BATCH_UNREADABLE:
        return 2;
    case RS_BATCH_NO_CAPTURE:
        return 3;
    case RS_BATCH_INCOMPLETE:
        return 4;
    case RS_BATCH_COMPLETE:
        return 5;
    }
    return 0;
}

static int
compare_sources(const source *a, const source *b)
{
    int difference = goodness(a) - goodness(b);
    return difference != 0 ? difference : g_strcmp0(a->digest, b->digest);
}

/* Two directories tell different things of one capture, and neither is just an attempt
 * that failed. */
static gboolean
contradict(const source *a, const source *b)
{
    return a->digest != NULL && b->digest != NULL &&
           a->result.status != RS_BATCH_FAILED && b->result.status != RS_BATCH_FAILED &&
           !g_str_equal(a->digest, b->digest);
}

/* Takes a source over. */
static void
offer(merge *m, const char *name, source *s)
{
    source *other = g_hash_table_lookup(m->sources, name);
    if (other == NULL) {
        g_hash_table_insert(m->sources, g_strdup(name), s);
        return;
    }
    const source *better = compare_sources(s, other) > 0 ? s : other;
    if (contradict(s, other)) {
        g_autofree char *line = g_strdup_printf(
            "%s: %s and %s have it, and not the same; that of %s is taken", name,
            m->paths[other->path_i], m->paths[s->path_i], m->paths[better->path_i]);
        leave_out(m, line);
    }
    if (better == s) {
        g_hash_table_replace(m->sources, g_strdup(name), s);
    } else {
        free_source(s);
    }
}

/* ---- directories ---- */

static void
look_at_captures(merge *m, const rs_batch_dir *dir, guint path_i, GHashTable *due)
{
    g_autoptr(GPtrArray) names = rs_batch_dir_captures(dir);
    for (guint i = 0; i < names->len; i++) {
        const char *name = g_ptr_array_index(names, i);
        offer(m, name,
              look_at_capture(m, dir, path_i, name, g_hash_table_contains(due, name)));
    }
}

static void
look_at_directory(merge *m, guint path_i)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(rs_batch_dir) dir = rs_batch_dir_look(m->paths[path_i], &error);
    g_autoptr(rs_batch_record) record =
        dir != NULL ? rs_batch_dir_read_record(dir, &error) : NULL;
    g_autoptr(GHashTable) due =
        record != NULL ? rs_batch_dir_read_due(dir, &error) : NULL;
    if (due == NULL) {
        m->outcome->extent.parts_missing = TRUE;
        leave_out(m, error->message);
        return;
    }
    m->n_read++;
    rs_batch_record_merge(m->record, record);
    look_at_captures(m, dir, path_i, due);
}

static void
tell_lack(const rs_batch_lack *lack, void *ctx)
{
    merge *m = ctx;
    g_autoptr(GString) line =
        g_string_new(lack->numbers->len == 1 ? "share" : "shares");
    for (guint i = 0; i < lack->numbers->len; i++) {
        g_string_append_printf(line, "%s %u", i > 0 ? "," : "",
                               g_array_index(lack->numbers, guint, i));
    }
    g_autofree char *n = rs_format_count(lack->size.inputs);
    g_autofree char *bytes = rs_format_bytes(lack->size.bytes);
    g_string_append_printf(line, " of %u %s missing: %s of the batch's inputs, %s",
                           lack->of, lack->numbers->len == 1 ? "is" : "are", n, bytes);
    leave_out(m, line->str);
    m->outcome->extent.parts_missing = TRUE;
    m->outcome->extent.n_inputs_missing += lack->size.inputs;
    m->n_lacking++;
}

/* Shares that lack each other may be all there are, and not of one batch. */
static void
tell_lacks(merge *m)
{
    rs_batch_record_lacks(m->record, tell_lack, m);
    if (m->n_lacking > 1) {
        g_autofree char *line =
            g_strdup_printf("these are shares of %u batches, none of them whole: "
                            "shares are of one batch if "
                            "they found the same files, of the same sizes, with the "
                            "same options and program",
                            m->n_lacking);
        rs_complain(line);
    }
}

/* ---- taking them over ---- */

/* The n-th capture that no part has. */
static void
tell_missing(const merge *m, const source *s, const char *name, guint n)
{
    if (!s->told && n <= MOST_NAMED) {
        g_autofree char *line =
            g_strdup_printf("%s: %s: no part has it: the batch did not come to it, or "
                            "its part is missing",
                            m->paths[s->path_i], name);
        rs_complain(line);
    }
}

static void
fill_outcome(merge *m)
{
    guint n_missing = 0;
    g_autoptr(GPtrArray) names = g_ptr_array_new();
    GHashTableIter iter;
    gpointer name;
    g_hash_table_iter_init(&iter, m->sources);
    while (g_hash_table_iter_next(&iter, &name, NULL)) {
        g_ptr_array_add(names, name);
    }
    g_ptr_array_sort(names, rs_by_text_element);
    for (guint i = 0; i < names->len; i++) {
        source *s = g_hash_table_lookup(m->sources, names->pdata[i]);
        rs_batch_outcome_add(m->outcome, names->pdata[i], &s->result);
        if (s->digest != NULL) {
            g_ptr_array_add(m->taken->pdata[s->path_i], s);
        } else {
            n_missing += s->told ? 0 : 1;
            g_hash_table_add(m->missing, g_strdup(names->pdata[i]));
            tell_missing(m, s, names->pdata[i], n_missing);
        }
    }
    if (n_missing > MOST_NAMED) {
        g_autofree char *line =
            g_strdup_printf("… and %u more", n_missing - MOST_NAMED);
        rs_complain(line);
    }
}

/* Takes everything over that is to come from one directory. */
static gboolean
adopt_from(const merge *m, guint path_i, GError **error)
{
    const GPtrArray *taken = m->taken->pdata[path_i];
    g_autoptr(rs_batch_dir) from =
        taken->len > 0 ? rs_batch_dir_look(m->paths[path_i], error) : NULL;
    if (from == NULL) {
        return taken->len == 0;
    }
    for (guint i = 0; i < taken->len; i++) {
        const GPtrArray *files = ((const source *)taken->pdata[i])->files;
        for (guint k = 0; k < files->len; k++) {
            if (!rs_batch_dir_adopt(m->outcome->dir, from, files->pdata[k], error)) {
                return FALSE;
            }
        }
    }
    return TRUE;
}

static gboolean
adopt_all(const merge *m, GError **error)
{
    for (guint i = 0; i < m->taken->len; i++) {
        if (!adopt_from(m, i, error)) {
            return FALSE;
        }
    }
    return rs_batch_dir_sync(m->outcome->dir, error);
}

/* Until everything has been taken over, what is there may be of an earlier merge. */
static gboolean
write_all_due(const merge *m, GError **error)
{
    g_autoptr(GHashTable) due =
        g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    g_autoptr(GPtrArray) names = rs_batch_dir_captures(m->outcome->dir);
    for (guint i = 0; i < names->len; i++) {
        g_hash_table_add(due, g_strdup(names->pdata[i]));
    }
    return rs_batch_dir_write_due(m->outcome->dir, due, error);
}

static gboolean
merge_all(merge *m, GError **error)
{
    for (guint i = 0; m->paths[i] != NULL; i++) {
        g_ptr_array_add(m->taken, g_ptr_array_new());
        look_at_directory(m, i);
    }
    if (m->n_read == 0) {
        g_set_error(error, RS_ERROR, RS_ERROR_OPEN, "there is nothing to merge");
        return FALSE;
    }
    if (rs_batch_record_n_options(m->record) > 1) {
        rs_complain("the parts were made with different options or programs: their "
                    "numbers may not compare");
    }
    tell_lacks(m);
    fill_outcome(m);
    return rs_batch_outcome_expect(m->outcome, error) && write_all_due(m, error) &&
           rs_batch_dir_write_record(m->outcome->dir, m->record, error) &&
           adopt_all(m, error) &&
           rs_batch_dir_write_due(m->outcome->dir, m->missing, error);
}

gboolean
rs_batch_merge(rs_batch_outcome *outcome, const char *const *paths, GError **error)
{
    merge m = {
        .outcome = outcome,
        .paths = paths,
        .sources = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, free_source),
        .taken = g_ptr_array_new_with_free_func(free_list),
        .record = rs_batch_record_new(),
        .missing = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
    };
    outcome->extent.merged = TRUE;
    gboolean good = merge_all(&m, error);
    g_ptr_array_unref(m.taken);
    g_hash_table_unref(m.sources);
    rs_batch_record_free(m.record);
    g_hash_table_unref(m.missing);
    return good;
}
