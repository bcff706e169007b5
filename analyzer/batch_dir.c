/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "batch_dir.h"

#include "batch_names.h"
#include "digest.h"
#include "error.h"
#include "output.h"
#include "sorting.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define OWN ".rocescope"
#define LOCK OWN "/lock"
#define LOCK_WAIT_US ((gint64)3 * G_USEC_PER_SEC)
#define LOCK_STEP_US (G_USEC_PER_SEC / 50)
#define MANIFEST OWN "/manifest"
#define RECORD OWN "/batch.json"
#define DUE OWN "/due"
#define DRAFTS OWN "/tmp"
#define PARTS OWN "/parts/"
#define PART_EXTENSION ".jsonl"
#define REPORTS "captures/"
#define DIRECTORY_MODE 0777
#define COPY_BYTES 65536

const char *const rs_batch_common_names[] = {
    [RS_BATCH_INDEX] = "index.html",
    [RS_BATCH_SUMMARY_CSV] = "summary.csv",
    [RS_BATCH_SUMMARY_JSON] = "summary.json",
    [RS_BATCH_DATABASE] = "rocescope.sqlite",
};
_Static_assert(G_N_ELEMENTS(rs_batch_common_names) == RS_N_BATCH_COMMON,
               "each has a name");

typedef enum purpose {
    TO_READ,
    TO_WRITE
} purpose;

struct rs_batch_dir {
    char *path;
    purpose purpose;
    int lock;             /* -1: not held */
    GHashTable *manifest; /* char *: files that batches made */
};

static gboolean
fail(GError **error, rs_error code, const char *path, const char *what)
{
    g_set_error(error, RS_ERROR, (int)code, "%s: %s", path, what);
    return FALSE;
}

/* ---- names ---- */

char *
rs_batch_dir_report(const char *name, const char *extension)
{
    return g_strconcat(REPORTS, name, extension, NULL);
}

char *
rs_batch_dir_part(const char *name)
{
    return g_strconcat(PARTS, name, PART_EXTENSION, NULL);
}

char *
rs_batch_dir_path(const rs_batch_dir *dir, const char *file)
{
    return g_build_filename(dir->path, file, NULL);
}

char *
rs_batch_dir_draft(const rs_batch_dir *dir, const char *file)
{
    g_autoptr(rs_digest) digest = rs_digest_new();
    rs_digest_add(digest, file, strlen(file));
    g_autofree char *digits = rs_digest_text(digest);
    return g_build_filename(dir->path, DRAFTS, digits, NULL);
}

/* Whether a batch can have made a file: the manifest lies in a directory of the user's. */
static gboolean
is_ours(const char *file)
{
    for (guint i = 0; i < RS_N_BATCH_COMMON; i++) {
        if (g_str_equal(file, rs_batch_common_names[i])) {
            return TRUE;
        }
    }
    const char *name = g_str_has_prefix(file, REPORTS) ? file + strlen(REPORTS)
                       : g_str_has_prefix(file, PARTS) ? file + strlen(PARTS)
                                                       : "";
    return rs_batch_name_is_safe(name);
}

/* ---- the manifest ---- */

/* Adds the entries of a directory of parts, and to `below` the directories in it. */
static void
add_parts_in(rs_batch_dir *dir, const char *parts, GPtrArray *below)
{
    g_autofree char *path = rs_batch_dir_path(dir, parts);
    GDir *entries = g_dir_open(path, 0, NULL);
    if (entries == NULL) {
        return;
    }
    for (const char *name; (name = g_dir_read_name(entries)) != NULL;) {
        g_autofree char *file = g_strconcat(parts, name, NULL);
        g_autofree char *full = rs_batch_dir_path(dir, file);
        struct stat status;
        if (lstat(full, &status) != 0) {
            continue;
        }
        if (S_ISDIR(status.st_mode)) {
            g_ptr_array_add(below, g_strconcat(file, "/", NULL));
        } else if (g_str_has_suffix(file, PART_EXTENSION) && is_ours(file)) {
            g_hash_table_add(dir->manifest, g_steal_pointer(&file));
        }
    }
    g_dir_close(entries);
}

/* Batches alone put parts where they are: those that a manifest does not name, since it is
 * lost or damaged, are theirs as well. */
static void
add_parts(rs_batch_dir *dir)
{
    g_autoptr(GPtrArray) below = g_ptr_array_new_with_free_func(g_free);
    g_ptr_array_add(below, g_strdup(PARTS));
    while (below->len > 0) {
        g_autofree char *parts = g_ptr_array_steal_index(below, below->len - 1);
        add_parts_in(dir, parts, below);
    }
}

static gboolean
read_manifest(rs_batch_dir *dir, GError **error)
{
    add_parts(dir);
    g_autofree char *path = rs_batch_dir_path(dir, MANIFEST);
    g_autofree char *text = NULL;
    g_autoptr(GError) problem = NULL;
    if (!g_file_get_contents(path, &text, NULL, &problem)) {
        return g_error_matches(problem, G_FILE_ERROR, G_FILE_ERROR_NOENT) ||
               fail(error, RS_ERROR_IO, path, "cannot be read");
    }
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    for (guint i = 0; lines[i] != NULL; i++) {
        if (is_ours(lines[i])) {
            g_hash_table_add(dir->manifest, g_strdup(lines[i]));
        }
    }
    return TRUE;
}

/* A file of the names of a set, sorted, one in a line, each behind `mark`. */
static gboolean
write_names(const rs_batch_dir *dir, const char *file, GHashTable *names,
            const char *mark, GError **error)
{
    g_autofree char *draft = rs_batch_dir_draft(dir, file);
    rs_output *output = rs_output_open(draft, error);
    if (output == NULL) {
        return FALSE;
    }
    GList *sorted = g_list_sort(g_hash_table_get_keys(names), rs_by_text);
    for (const GList *at = sorted; at != NULL; at = at->next) {
        fprintf(rs_output_stream(output), "%s%s\n", mark, (const char *)at->data);
    }
    g_list_free(sorted);
    return rs_output_commit(output, error) &&
           rs_batch_dir_publish(dir, draft, file, error);
}

/* Removes a file that does not hold any more, if it is there, and directories that become
 * empty. */
static void
withdraw(const rs_batch_dir *dir, const char *file)
{
    g_autofree char *path = rs_batch_dir_path(dir, file);
    (void)g_unlink(path);
    g_autofree char *parent = g_path_get_dirname(file);
    while (!g_str_equal(parent, ".") && !g_str_equal(parent, OWN)) {
        g_autofree char *full = rs_batch_dir_path(dir, parent);
        if (g_rmdir(full) != 0) {
            return; /* something else is in it */
        }
        char *above = g_path_get_dirname(parent);
        g_free(parent);
        parent = above;
    }
}

static gboolean
write_manifest(const rs_batch_dir *dir, GError **error)
{
    return write_names(dir, MANIFEST, dir->manifest, "", error);
}

gboolean
rs_batch_dir_expect(rs_batch_dir *dir, GHashTable *files, GError **error)
{
    GHashTableIter iter;
    gpointer file;
    g_hash_table_iter_init(&iter, files);
    while (g_hash_table_iter_next(&iter, &file, NULL)) {
        g_hash_table_add(dir->manifest, g_strdup(file));
    }
    return write_manifest(dir, error);
}

gboolean
rs_batch_dir_settle(rs_batch_dir *dir, GHashTable *files, GError **error)
{
    GHashTableIter iter;
    gpointer file;
    g_hash_table_iter_init(&iter, dir->manifest);
    while (g_hash_table_iter_next(&iter, &file, NULL)) {
        if (!g_hash_table_contains(files, file)) {
            withdraw(dir, file);
            g_hash_table_iter_remove(&iter);
        }
    }
    return rs_batch_dir_expect(dir, files, error);
}

GPtrArray *
rs_batch_dir_captures(const rs_batch_dir *dir)
{
    GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
    GHashTableIter iter;
    gpointer file;
    g_hash_table_iter_init(&iter, dir->manifest);
    while (g_hash_table_iter_next(&iter, &file, NULL)) {
        if (g_str_has_prefix(file, PARTS) && g_str_has_suffix(file, PART_EXTENSION)) {
            const char *name = (const char *)file + strlen(PARTS);
            gsize length = strlen(name) - strlen(PART_EXTENSION);
            g_ptr_array_add(names, g_strndup(name, length));
        }
    }
    g_ptr_array_sort(names, rs_by_text_element);
    return names;
}

/* ---- the record ---- */

rs_batch_record *
rs_batch_dir_read_record(const rs_batch_dir *dir, GError **error)
{
    g_autofree char *path = rs_batch_dir_path(dir, RECORD);
    return rs_batch_record_read(path, error);
}

gboolean
rs_batch_dir_write_record(const rs_batch_dir *dir, const rs_batch_record *record,
                          GError **error)
{
    g_autofree char *draft = rs_batch_dir_draft(dir, RECORD);
    rs_output *output = rs_output_open(draft, error);
    if (output == NULL) {
        return FALSE;
    }
    rs_batch_record_write(record, rs_output_stream(output));
    return rs_output_commit(output, error) &&
           rs_batch_dir_publish(dir, draft, RECORD, error);
}

/* ---- what is due ---- */

/* Lines of "+NAME", due, and of "-NAME", done since; one without an end does not count. */
GHashTable *
rs_batch_dir_read_due(const rs_batch_dir *dir, GError **error)
{
    g_autoptr(GHashTable) names =
        g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    g_autofree char *path = rs_batch_dir_path(dir, DUE);
    g_autofree char *text = NULL;
    g_autoptr(GError) problem = NULL;
    if (!g_file_get_contents(path, &text, NULL, &problem)) {
        if (!g_error_matches(problem, G_FILE_ERROR, G_FILE_ERROR_NOENT)) {
            fail(error, RS_ERROR_IO, path, "cannot be read");
            return NULL;
        }
        return g_steal_pointer(&names);
    }
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    for (guint i = 0; lines[i] != NULL && lines[i + 1] != NULL; i++) {
        const char *name = *lines[i] != '\0' ? lines[i] + 1 : "";
        if (*lines[i] == '+' && rs_batch_name_is_safe(name)) {
            g_hash_table_add(names, g_strdup(name));
        } else if (*lines[i] == '-') {
            g_hash_table_remove(names, name);
        }
    }
    return g_steal_pointer(&names);
}

gboolean
rs_batch_dir_write_due(const rs_batch_dir *dir, GHashTable *names, GError **error)
{
    if (g_hash_table_size(names) == 0) {
        withdraw(dir, DUE);
        return TRUE;
    }
    return write_names(dir, DUE, names, "+", error);
}

void
rs_batch_dir_note_done(const rs_batch_dir *dir, const char *name)
{
    g_autofree char *path = rs_batch_dir_path(dir, DUE);
    FILE *file = fopen(path, "ae");
    if (file != NULL) {
        fprintf(file, "-%s\n", name);
        (void)fclose(file);
    }
}

/* ---- files ---- */

static void
sync_directory(const char *path)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) {
        (void)fsync(fd);
        (void)close(fd);
    }
}

static gboolean
fail_to_write(GError **error, const char *path, int code)
{
    g_set_error(error, RS_ERROR, RS_ERROR_IO, "%s: cannot be written: %s", path,
                g_strerror(code));
    return FALSE;
}

/* Renames; the directory may not be on disk yet. */
static gboolean
put_in_place(const char *draft, const char *path, GError **error)
{
    g_autofree char *parent = g_path_get_dirname(path);
    if (g_mkdir_with_parents(parent, DIRECTORY_MODE) != 0 ||
        g_rename(draft, path) != 0) {
        int code = errno;
        (void)g_unlink(draft);
        return fail_to_write(error, path, code);
    }
    return TRUE;
}

gboolean
rs_batch_dir_publish(const rs_batch_dir *dir, const char *draft, const char *file,
                     GError **error)
{
    g_autofree char *path = rs_batch_dir_path(dir, file);
    g_autofree char *parent = g_path_get_dirname(path);
    if (!put_in_place(draft, path, error)) {
        return FALSE;
    }
    sync_directory(parent);
    return TRUE;
}

/* Copies what is left of one file to another; 0, or what errno says. */
static int
copy_bytes(int from, int to)
{
    for (;;) {
        char bytes[COPY_BYTES];
        ssize_t n = read(from, bytes, sizeof bytes);
        if (n <= 0) {
            return n < 0 ? errno : 0;
        }
        for (ssize_t done = 0; done < n;) {
            ssize_t written = write(to, bytes + done, (size_t)(n - done));
            if (written < 0) {
                return errno;
            }
            done += written;
        }
    }
}

static gboolean
copy_file(const char *source, const char *draft, GError **error)
{
    int from = open(source, O_RDONLY | O_CLOEXEC);
    if (from < 0) {
        g_set_error(error, RS_ERROR, RS_ERROR_OPEN, "%s: cannot be read: %s", source,
                    g_strerror(errno));
        return FALSE;
    }
    int to = open(draft, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    int code = to < 0 ? errno : copy_bytes(from, to);
    (void)close(from);
    if (to >= 0 && close(to) != 0 && code == 0) {
        code = errno;
    }
    return code == 0 || fail_to_write(error, draft, code);
}

gboolean
rs_batch_dir_adopt(const rs_batch_dir *dir, const rs_batch_dir *from, const char *file,
                   GError **error)
{
    g_autofree char *source = rs_batch_dir_path(from, file);
    g_autofree char *draft = rs_batch_dir_draft(dir, file);
    g_autofree char *path = rs_batch_dir_path(dir, file);
    (void)g_unlink(draft);
    if ((link(source, draft) != 0 && !copy_file(source, draft, error)) ||
        !put_in_place(draft, path, error)) {
        return FALSE;
    }
    (void)g_unlink(draft); /* is left where both are names of one file already */
    return TRUE;
}

gboolean
rs_batch_dir_sync(const rs_batch_dir *dir, GError **error)
{
    return syncfs(dir->lock) == 0 || fail_to_write(error, dir->path, errno);
}

/* What workers left that were ended, or an earlier batch that was. */
static void
clear_drafts(const rs_batch_dir *dir)
{
    g_autofree char *path = rs_batch_dir_path(dir, DRAFTS);
    GDir *drafts = g_dir_open(path, 0, NULL);
    if (drafts == NULL) {
        return;
    }
    for (const char *name; (name = g_dir_read_name(drafts)) != NULL;) {
        g_autofree char *draft = g_build_filename(path, name, NULL);
        (void)g_unlink(draft);
    }
    g_dir_close(drafts);
}

/* ---- the directory ---- */

static gboolean
is_empty(const char *path)
{
    GDir *dir = g_dir_open(path, 0, NULL);
    gboolean empty = dir != NULL && g_dir_read_name(dir) == NULL;
    if (dir != NULL) {
        g_dir_close(dir);
    }
    return empty;
}

static gboolean
make_directory(const char *path, GError **error)
{
    if (g_mkdir_with_parents(path, DIRECTORY_MODE) != 0) {
        g_set_error(error, RS_ERROR, RS_ERROR_USAGE, "%s: cannot be made: %s", path,
                    g_strerror(errno));
        return FALSE;
    }
    return TRUE;
}

/* Only an empty directory becomes a batch's. */
static gboolean
claim(const rs_batch_dir *dir, GError **error)
{
    g_autofree char *drafts = rs_batch_dir_path(dir, DRAFTS);
    g_autofree char *own = rs_batch_dir_path(dir, OWN);
    if (!make_directory(dir->path, error)) {
        return FALSE;
    }
    if (!g_file_test(own, G_FILE_TEST_IS_DIR) && !is_empty(dir->path)) {
        return fail(error, RS_ERROR_USAGE, dir->path,
                    "is not empty, and no batch has made what is in it");
    }
    return make_directory(drafts, error);
}

/* The workers of a batch that was killed hold its lock for the moment that they take to die
 * with it.  Returns whether it is taken, with the reason in errno if not. */
static gboolean
take_lock(int fd, int how)
{
    gint64 last_us = g_get_monotonic_time() + LOCK_WAIT_US;
    while (flock(fd, how | LOCK_NB) != 0) {
        if (errno != EWOULDBLOCK || g_get_monotonic_time() >= last_us) {
            return FALSE;
        }
        g_usleep(LOCK_STEP_US);
    }
    return TRUE;
}

static gboolean
lock(rs_batch_dir *dir, GError **error)
{
    gboolean write = dir->purpose == TO_WRITE;
    g_autofree char *path = rs_batch_dir_path(dir, LOCK);
    dir->lock = open(path, O_CLOEXEC | (write ? O_RDWR | O_CREAT : O_RDONLY), 0666);
    if (dir->lock < 0) {
        g_set_error(error, RS_ERROR, RS_ERROR_USAGE, "%s: cannot be %s: %s", path,
                    write ? "written" : "read", g_strerror(errno));
        return FALSE;
    }
    if (!take_lock(dir->lock, write ? LOCK_EX : LOCK_SH)) {
        int code = errno;
        (void)close(dir->lock);
        dir->lock = -1;
        return fail(error, RS_ERROR_USAGE, dir->path,
                    code == EWOULDBLOCK ? "another batch is writing into this directory"
                                        : "this directory cannot be locked");
    }
    return TRUE;
}

static rs_batch_dir *
new_dir(const char *path, purpose what_for)
{
    rs_batch_dir *dir = g_new0(rs_batch_dir, 1);
    dir->path = g_strdup(path);
    dir->purpose = what_for;
    dir->lock = -1;
    dir->manifest = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    return dir;
}

rs_batch_dir *
rs_batch_dir_open(const char *path, GError **error)
{
    g_autoptr(rs_batch_dir) dir = new_dir(path, TO_WRITE);
    if (!claim(dir, error) || !lock(dir, error) || !read_manifest(dir, error)) {
        return NULL;
    }
    clear_drafts(dir);
    return g_steal_pointer(&dir);
}

gboolean
rs_batch_dir_is_ours(const char *path)
{
    g_autofree char *own = g_build_filename(path, OWN, NULL);
    return g_file_test(own, G_FILE_TEST_IS_DIR);
}

rs_batch_dir *
rs_batch_dir_look(const char *path, GError **error)
{
    g_autoptr(rs_batch_dir) dir = new_dir(path, TO_READ);
    if (!g_file_test(path, G_FILE_TEST_EXISTS)) {
        fail(error, RS_ERROR_OPEN, path, "there is no such directory");
        return NULL;
    }
    if (!rs_batch_dir_is_ours(path)) {
        fail(error, RS_ERROR_OPEN, path, "is no directory that a batch has made");
        return NULL;
    }
    return lock(dir, error) && read_manifest(dir, error) ? g_steal_pointer(&dir) : NULL;
}

gboolean
rs_batch_dir_is(const rs_batch_dir *dir, const char *path)
{
    struct stat a, b;
    return stat(dir->path, &a) == 0 && stat(path, &b) == 0 && a.st_dev == b.st_dev &&
           a.st_ino == b.st_ino;
}

void
rs_batch_dir_close(rs_batch_dir *dir)
{
    if (dir == NULL) {
        return;
    }
    if (dir->lock >= 0) {
        if (dir->purpose == TO_WRITE) {
            clear_drafts(dir);
        }
        (void)close(dir->lock);
    }
    g_hash_table_unref(dir->manifest);
    g_free(dir->path);
    g_free(dir);
}
