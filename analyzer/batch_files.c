/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "batch_files.h"

#include "error.h"
#include "fleet.h"
#include "output.h"
#include "parts_ahead.h"
#include "workers.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <unistd.h>

/* Threads that read parts ahead: as many as keep up with the database that is made of them. */
#define MOST_READERS 3u

/* Those that are made of the database, and appear behind it.  The index comes last: who
 * sees it finds the others. */
static const struct {
    rs_batch_common file;
    rs_batch_writer write;
} files[] = {
    {RS_BATCH_SUMMARY_CSV, rs_batch_summary_csv},
    {RS_BATCH_SUMMARY_JSON, rs_batch_summary_json},
    {RS_BATCH_INDEX, rs_batch_index},
};

void
rs_batch_files_names(GHashTable *names)
{
    for (guint i = 0; i < RS_N_BATCH_COMMON; i++) {
        g_hash_table_add(names, g_strdup(rs_batch_common_names[i]));
    }
}

static gboolean
add_parts(rs_database *database, const rs_batch_dir *dir, const GPtrArray *names,
          GError **error)
{
    g_autoptr(GPtrArray) paths = g_ptr_array_new_with_free_func(g_free);
    for (guint i = 0; i < names->len; i++) {
        g_autofree char *file = rs_batch_dir_part(g_ptr_array_index(names, i));
        g_ptr_array_add(paths, rs_batch_dir_path(dir, file));
    }
    guint n_others = rs_workers_n_processors() - 1;
    g_autoptr(rs_parts_ahead) parts =
        rs_parts_ahead_new(paths, MIN(n_others, MOST_READERS));
    for (guint i = 0; i < paths->len; i++) {
        if (!rs_database_add(database, parts, error)) {
            return FALSE;
        }
    }
    g_clear_pointer(&parts, rs_parts_ahead_free);
    return rs_database_index(database, error) && rs_fleet_fill(database, error) &&
           rs_database_finish(database, error);
}

static char *
draft_of(const rs_batch_dir *dir, rs_batch_common file)
{
    return rs_batch_dir_draft(dir, rs_batch_common_names[file]);
}

static gboolean
publish(const rs_batch_dir *dir, rs_batch_common file, GError **error)
{
    g_autofree char *draft = draft_of(dir, file);
    return rs_batch_dir_publish(dir, draft, rs_batch_common_names[file], error);
}

static gboolean
write_draft(const rs_batch_dir *dir, rs_database *database, guint i,
            const rs_batch_extent *extent, GError **error)
{
    g_autofree char *draft = draft_of(dir, files[i].file);
    rs_output *output = rs_output_open(draft, error);
    if (output == NULL) {
        return FALSE;
    }
    if (!files[i].write(rs_output_stream(output), database, extent, error)) {
        rs_output_abandon(output);
        return FALSE;
    }
    return rs_output_commit(output, error);
}

/* SQLite was told not to wait for the disk, since nobody sees the draft. */
static gboolean
put_on_disk(const char *path, GError **error)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    gboolean good = fd >= 0 && fsync(fd) == 0;
    if (!good) {
        g_set_error(error, RS_ERROR, RS_ERROR_IO, "%s: cannot be written: %s", path,
                    g_strerror(errno));
    }
    if (fd >= 0) {
        (void)close(fd);
    }
    return good;
}

gboolean
rs_batch_files_write(const rs_batch_dir *dir, const GPtrArray *names,
                     const rs_batch_extent *extent, rs_batch_asker ask, void *ctx,
                     GError **error)
{
    g_autofree char *draft = draft_of(dir, RS_BATCH_DATABASE);
    (void)g_unlink(draft);
    rs_database *database = rs_database_new(draft, error);
    gboolean good = database != NULL && add_parts(database, dir, names, error);
    for (guint i = 0; good && i < G_N_ELEMENTS(files); i++) {
        good = write_draft(dir, database, i, extent, error);
    }
    good = good && ask(database, ctx, error);
    rs_database_free(database);
    good = good && put_on_disk(draft, error) && publish(dir, RS_BATCH_DATABASE, error);
    for (guint i = 0; good && i < G_N_ELEMENTS(files); i++) {
        good = publish(dir, files[i].file, error);
    }
    return good;
}
