/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Room for rows is reserved on the disk before it is mapped: a write to a mapped page that
 * the disk has no room for would end the program by a signal.
 */
#include "spool.h"

#include "error.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define COPY_BYTES ((gsize)1024 * 1024)
#define FIRST_BYTES ((gsize)1024 * 1024)

struct rs_spooled_rows {
    int fd;
    guint8 *mapped;
    gsize mapped_bytes;
    gsize row_bytes;
    guint64 n;
};

static off_t stdin_begun_at; /* of the one standard input that there is */

static gboolean
fail(GError **error, const char *what, int why)
{
    g_set_error(error, RS_ERROR, RS_ERROR_IO, "%s: %s", what, g_strerror(why));
    return FALSE;
}

static const char *
spool_directory(void)
{
    const char *given = g_getenv("TMPDIR");
    return given != NULL && *given != '\0' ? given : "/var/tmp";
}

/* What is in the way is the directory's: its disk is full, or a limit was reached. */
static gboolean
fail_temporary(GError **error, int why)
{
    g_autofree char *what =
        g_strdup_printf("a temporary file in %s", spool_directory());
    return fail(error, what, why);
}

/* -1 with `error` set. */
static int
open_spool(GError **error)
{
    const char *directory = spool_directory();
    int fd = open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd < 0 && (errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL)) {
        /* a file system that has no files without a name */
        g_autofree char *path = g_build_filename(directory, "rocescope-XXXXXX", NULL);
        fd = g_mkstemp_full(path, O_RDWR | O_CLOEXEC, 0600);
        if (fd >= 0) {
            (void)unlink(path);
        }
    }
    if (fd < 0) {
        g_autofree char *what =
            g_strdup_printf("no temporary file can be made in %s", directory);
        (void)fail(error, what, errno);
    }
    return fd;
}

/* ---- Standard input ---- */

/* Everything to the end, or to an interrupt, which ends the copy. */
static gboolean
copy_stdin(int to, GError **error)
{
    g_autofree guint8 *buffer = g_malloc(COPY_BYTES);
    for (;;) {
        ssize_t n = read(STDIN_FILENO, buffer, COPY_BYTES);
        if (n < 0 && errno == EINTR) {
            return rs_fail_interrupted(error);
        }
        if (n <= 0) {
            return n == 0 || fail(error, "standard input", errno);
        }
        for (ssize_t done = 0; done < n;) {
            ssize_t written = write(to, buffer + done, (gsize)(n - done));
            if (written < 0) {
                return fail_temporary(error, errno);
            }
            done += written;
        }
    }
}

gboolean
rs_spool_stdin(GError **error)
{
    struct stat status;
    stdin_begun_at = 0;
    if (isatty(STDIN_FILENO)) {
        return TRUE; /* which whoever reads it has a word for */
    }
    if (fstat(STDIN_FILENO, &status) == 0 && S_ISREG(status.st_mode)) {
        stdin_begun_at = lseek(STDIN_FILENO, 0, SEEK_CUR);
        return TRUE;
    }
    int fd = open_spool(error);
    if (fd < 0) {
        return FALSE;
    }
    gboolean good = copy_stdin(fd, error);
    if (good && dup2(fd, STDIN_FILENO) < 0) {
        good = fail(error, "standard input", errno);
    }
    (void)close(fd);
    return good && rs_spool_rewind_stdin(error);
}

gboolean
rs_spool_rewind_stdin(GError **error)
{
    return lseek(STDIN_FILENO, stdin_begun_at, SEEK_SET) >= 0 || isatty(STDIN_FILENO) ||
           fail(error, "standard input", errno);
}

/* ---- Rows ---- */

rs_spooled_rows *
rs_spooled_rows_new(gsize row_bytes, GError **error)
{
    int fd = open_spool(error);
    if (fd < 0) {
        return NULL;
    }
    rs_spooled_rows *rows = g_new0(rs_spooled_rows, 1);
    rows->fd = fd;
    rows->row_bytes = row_bytes;
    return rows;
}

void
rs_spooled_rows_free(rs_spooled_rows *rows)
{
    if (rows == NULL) {
        return;
    }
    if (rows->mapped != NULL) {
        (void)munmap(rows->mapped, rows->mapped_bytes);
    }
    (void)close(rows->fd);
    g_free(rows);
}

guint64
rs_spooled_rows_n(const rs_spooled_rows *rows)
{
    return rows->n;
}

/* Maps at least so much, twice as much as before. */
static gboolean
grow(rs_spooled_rows *rows, gsize wanted_bytes, GError **error)
{
    gsize bytes = MAX(rows->mapped_bytes, FIRST_BYTES);
    while (bytes < wanted_bytes) {
        bytes *= 2;
    }
    int why = posix_fallocate(rows->fd, 0, (off_t)bytes);
    if (why != 0) {
        return fail_temporary(error, why);
    }
    if (rows->mapped != NULL) {
        (void)munmap(rows->mapped, rows->mapped_bytes);
    }
    void *mapped = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, rows->fd, 0);
    rows->mapped = mapped != MAP_FAILED ? mapped : NULL;
    rows->mapped_bytes = rows->mapped != NULL ? bytes : 0;
    return rows->mapped != NULL || fail_temporary(error, errno);
}

gpointer
rs_spooled_rows_make(rs_spooled_rows *rows, guint64 number, GError **error)
{
    if (number >= G_MAXINT64 / rows->row_bytes - 1) {
        (void)fail_temporary(error, EFBIG);
        return NULL;
    }
    gsize wanted = (gsize)(number + 1) * rows->row_bytes;
    if (wanted > rows->mapped_bytes && !grow(rows, wanted, error)) {
        return NULL;
    }
    rows->n = MAX(rows->n, number + 1);
    return rows->mapped + number * rows->row_bytes;
}

gpointer
rs_spooled_rows_at(const rs_spooled_rows *rows, guint64 number)
{
    g_assert(number < rows->n);
    return rows->mapped + number * rows->row_bytes;
}
