/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "output.h"

#include "error.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct rs_output {
    char *path;
    char *temporary; /* NULL when written in place */
    FILE *stream;
};

static void
set_error(GError **error, const char *path, int code)
{
    g_set_error(error, RS_ERROR, RS_ERROR_IO, "%s: cannot be written: %s",
                g_str_equal(path, "-") ? "standard output" : path, g_strerror(code));
}

static gboolean
is_special(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && !S_ISREG(status.st_mode) &&
           !S_ISDIR(status.st_mode);
}

/* A temporary file beside the target, with the mode that open() would have given. */
static int
open_beside(rs_output *output)
{
    output->temporary = g_strdup_printf("%s.XXXXXX", output->path);
    int fd = g_mkstemp_full(output->temporary, O_WRONLY | O_CLOEXEC, 0600);
    if (fd >= 0) {
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

FILE *
rs_output_stream(rs_output *output)
{
    return output->stream;
}

static void
free_output(rs_output *output)
{
    g_free(output->path);
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
        good = g_rename(output->temporary, output->path) == 0;
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
