/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "output.h"

#include "error.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MOST_LINKS 40 /* as of Linux */

struct rs_output {
    char *path;      /* as it was given */
    char *target;    /* what it leads to; NULL when written in place */
    char *temporary; /* likewise */
    FILE *stream;
};

static void
set_error(GError **error, const char *path, int code)
{
    g_set_error(error, RS_ERROR, RS_ERROR_IO, "%s: cannot be written: %s",
                g_str_equal(path, "-") ? "standard output" : path, g_strerror(code));
}

gboolean
rs_output_put(int fd, const char *bytes, gsize n_bytes)
{
    while (n_bytes > 0) {
        gssize n = write(fd, bytes, n_bytes);
        if (n > 0) {
            bytes += n;
            n_bytes -= (gsize)n;
        } else if (n < 0 && errno == EAGAIN) {
            struct pollfd room = {.fd = fd, .events = POLLOUT};
            (void)poll(&room, 1, -1);
        } else if (n == 0) {
            errno = EIO;
            return FALSE;
        } else if (errno != EINTR) {
            return FALSE;
        }
    }
    return TRUE;
}

static gboolean
is_special(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && !S_ISREG(status.st_mode) &&
           !S_ISDIR(status.st_mode);
}

char *
rs_output_follow(const char *path)
{
    char *at = g_strdup(path);
    for (guint i = 0; i < MOST_LINKS; i++) {
        g_autofree char *to = g_file_read_link(at, NULL);
        if (to == NULL) {
            return at;
        }
        g_autofree char *directory = g_path_get_dirname(at);
        g_free(at);
        at = g_path_is_absolute(to) ? g_steal_pointer(&to)
                                    : g_build_filename(directory, to, NULL);
    }
    g_free(at);
    errno = ELOOP;
    return NULL;
}

/* The rights of the file that is going to be replaced.  What a group could do that it does
 * not go to is nobody's right. */
static void
keep_rights(int fd, const struct stat *old)
{
    mode_t mode = old->st_mode & 0777;
    if (fchown(fd, old->st_uid, old->st_gid) != 0 &&
        fchown(fd, (uid_t)-1, old->st_gid) != 0) {
        mode &= ~(mode_t)S_IRWXG;
    }
    (void)fchmod(fd, mode);
}

/* A temporary file beside the target, with its mode, or the one that open() would have
 * given. */
static int
open_beside(rs_output *output)
{
    struct stat old;
    output->target = rs_output_follow(output->path);
    if (output->target == NULL) {
        return -1;
    }
    output->temporary = g_strdup_printf("%s.XXXXXX", output->target);
    int fd = g_mkstemp_full(output->temporary, O_WRONLY | O_CLOEXEC, 0600);
    if (fd >= 0 && stat(output->target, &old) == 0) {
        keep_rights(fd, &old);
    } else if (fd >= 0) {
        mode_t mask = umask(0);
        umask(mask);
        (void)fchmod(fd, 0666 & ~mask);
    }
    return fd;
}

rs_output *
rs_output_open(const char *path, GError **error)
{
    rs_output *output = g_new0(rs_output, 1);
    output->path = g_strdup(path);
    if (g_str_equal(path, "-")) {
        output->stream = stdout;
        return output;
    }
    gboolean special = is_special(path);
    int fd = special ? open(path, O_WRONLY | O_CLOEXEC) : -1;
    if (fd < 0 && g_file_test(path, G_FILE_TEST_IS_DIR)) {
        errno = EISDIR;
    } else if (fd < 0 && !special) {
        fd = open_beside(output);
    }
    output->stream = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (output->stream == NULL) {
        set_error(error, path, errno);
        g_clear_pointer(&output->temporary, g_free);
        rs_output_abandon(output);
        return NULL;
    }
    return output;
}

/* A FIFO is not opened: whoever reads it would see its end. */
gboolean
rs_output_probe(const char *path, GError **error)
{
    if (g_str_equal(path, "-")) {
        return TRUE;
    }
    if (is_special(path)) {
        gboolean good = access(path, W_OK) == 0;
        if (!good) {
            set_error(error, path, errno);
        }
        return good;
    }
    rs_output *output = rs_output_open(path, error);
    rs_output_abandon(output);
    return output != NULL;
}

FILE *
rs_output_stream(rs_output *output)
{
    return output->stream;
}

gboolean
rs_output_is_in_place(const rs_output *output)
{
    return output->temporary == NULL;
}

static void
free_output(rs_output *output)
{
    g_free(output->path);
    g_free(output->target);
    g_free(output->temporary);
    g_free(output);
}

gboolean
rs_output_commit(rs_output *output, GError **error)
{
    FILE *stream = output->stream;
    gboolean good = fflush(stream) == 0 && !ferror(stream);
    int code = errno;
    if (stream != stdout) {
        if (good && output->temporary != NULL) {
            good = fsync(fileno(stream)) == 0;
            code = errno;
        }
        if (fclose(stream) != 0 && good) {
            good = FALSE;
            code = errno;
        }
    }
    if (good && output->temporary != NULL) {
        good = g_rename(output->temporary, output->target) == 0;
        code = errno;
    }
    if (!good) {
        set_error(error, output->path, code);
        if (output->temporary != NULL) {
            (void)g_unlink(output->temporary);
        }
    }
    free_output(output);
    return good;
}

void
rs_output_abandon(rs_output *output)
{
    if (output == NULL) {
        return;
    }
    if (output->stream != NULL && output->stream != stdout) {
        (void)fclose(output->stream);
    }
    if (output->temporary != NULL) {
        (void)g_unlink(output->temporary);
    }
    free_output(output);
}
