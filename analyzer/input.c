/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Bytes of a file or of standard input, unpacked if they are compressed.
 *
 * Three layers, each of which knows only the one below:
 *
 *   raw_read()       one read() of the file; short reads are passed on, so that a live
 *                    pipe shows its packets as they come, not when a buffer is full
 *   unpacked_read()  the same, or what an unpacker makes of it
 *   peek and skip    a window over the unpacked bytes
 *
 * Where a thread reads ahead the lower two are its own, and the window lies in a piece that
 * it has read, in front of which what was left of the one before has been put.  Only what
 * is too long for that, a record of many kilobytes, is put together in the buffer.
 *
 * Each read returns the number of bytes, and 0 for ever once the input has ended;
 * `error` tells why.  A read that fails after it has produced something returns that
 * first.
 */
#include "input.h"

#include "ahead.h"
#include "error.h"
#include "format.h"
#include "unpack.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

/* As much as is read at once.  Large enough that system calls do not count, small enough
 * to stay in the cache from which it is read right after. */
#define WINDOW_BYTES ((gsize)512 * 1024)

/* How much of a file that is not in the page cache is asked for ahead of where it is read:
 * more than the kernel does by itself, so that a disk that answers late is kept busy. */
#define AHEAD_BYTES ((off_t)4 * 1024 * 1024)

struct rs_input {
    char *name;
    int fd;
    gboolean fd_ours; /* to close */
    gboolean ended;   /* nothing more can be read, for a good or a bad reason */
    gboolean ahead;   /* a file of which more can be asked for ahead */
    GError *error;
    guint64 file_bytes;
    guint64 position; /* bytes read from fd */

    guint64 offset; /* unpacked, of window[start] */
    guint8 *window; /* the buffer, or memory of a piece that was read ahead */
    gsize start, end;
    guint8 *buffer;
    gsize capacity;

    rs_unpacker *unpacker; /* NULL: the bytes are as they are in the file */

    rs_ahead *reading_ahead;    /* NULL: nobody does */
    gboolean took_last;         /* of its pieces */
    guint64 position_of_window; /* bytes of the file behind it */
};

/* ---- Reading ---- */

static void
fail_read(rs_input *input, int why)
{
    if (why == EINTR) {
        g_set_error(&input->error, RS_ERROR, RS_ERROR_INTERRUPTED,
                    "%s: interrupted at byte %" G_GUINT64_FORMAT, input->name,
                    input->position);
        return;
    }
    g_set_error(&input->error, RS_ERROR, RS_ERROR_IO,
                "%s: cannot be read at byte %" G_GUINT64_FORMAT ": %s", input->name,
                input->position, g_strerror(why));
}

/* read(), which first asks for what is behind it if it would have to wait.  Nothing, of
 * preadv2(), may be no end: Linux 5.9 and 5.10 say so where they would have to wait. */
static gssize
read_ahead(rs_input *input, guint8 *into, gsize n_bytes)
{
    struct iovec piece = {.iov_base = into, .iov_len = n_bytes};
    gssize n_read = -1;
    if (input->ahead) {
        n_read = preadv2(input->fd, &piece, 1, -1, RWF_NOWAIT);
        input->ahead = n_read >= 0 || errno == EAGAIN;
    }
    if (n_read > 0) {
        return n_read;
    }
    if (input->ahead) {
        off_t here = lseek(input->fd, 0, SEEK_CUR);
        (void)posix_fadvise(input->fd, here, AHEAD_BYTES, POSIX_FADV_WILLNEED);
    }
    return read(input->fd, into, n_bytes);
}

/* A signal ends the read for good: whoever pressed Ctrl-C wants the report, and
 * handlers that mean nothing by it are installed with SA_RESTART. */
static gsize
raw_read(rs_input *input, guint8 *into, gsize n_bytes)
{
    for (;;) {
        gssize n_read = read_ahead(input, into, n_bytes);
        if (n_read > 0) {
            input->position += (guint64)n_read;
            return (gsize)n_read;
        }
        if (n_read == 0) {
            return 0;
        }
        if (errno !=
            EAGAIN) { /* a terminal's other user may have made it non-blocking */
            fail_read(input, errno);
            return 0;
        }
        struct pollfd waiting = {.fd = input->fd, .events = POLLIN};
        if (poll(&waiting, 1, -1) < 0) {
            fail_read(input, errno);
            return 0;
        }
    }
}

static gsize
packed_read(gpointer ctx, guint8 *into, gsize n_bytes)
{
    return raw_read(ctx, into, n_bytes);
}

/* Says why unpacking ended, unless it did because the file could not be read. */
static void
end_unpacking(rs_input *input)
{
    const char *why;
    rs_unpack_end end = rs_unpacker_end(input->unpacker, &why);
    if (end == RS_UNPACK_GOOD || input->error != NULL) {
        return;
    }
    gboolean damaged = end == RS_UNPACK_DAMAGED;
    g_set_error(&input->error, RS_ERROR,
                (gint)(damaged ? RS_ERROR_DAMAGED : RS_ERROR_UNSUPPORTED),
                "%s: %s at byte %" G_GUINT64_FORMAT " of the %s file: %s", input->name,
                damaged ? "damaged" : "cannot be unpacked",
                rs_unpacker_position(input->unpacker),
                rs_unpacker_format(input->unpacker), why);
}

static gsize
unpacked_read(rs_input *input, guint8 *into, gsize n_bytes)
{
    if (input->ended) {
        return 0;
    }
    gsize n_read = input->unpacker != NULL
                       ? rs_unpacker_read(input->unpacker, into, n_bytes)
                       : raw_read(input, into, n_bytes);
    if (n_read == 0) {
        input->ended = TRUE;
        if (input->unpacker != NULL) {
            end_unpacking(input);
        }
    }
    return n_read;
}

/* ---- The window ---- */

/* Makes room in the buffer for `wanted` bytes, more than are left: these move to its front,
 * so that what a pipe gives in small pieces stays in the cache as well. */
static void
make_room(rs_input *input, gsize wanted)
{
    gsize n_left = input->end - input->start;
    gboolean is_own = input->window == input->buffer;
    if (is_own) {
        memmove(input->buffer, input->buffer + input->start, n_left);
    }
    if (input->capacity < wanted) {
        input->capacity = wanted + WINDOW_BYTES;
        input->buffer = g_realloc(input->buffer, input->capacity);
    }
    if (!is_own) {
        memcpy(input->buffer, input->window + input->start, n_left);
    }
    input->window = input->buffer;
    input->start = 0;
    input->end = n_left;
}

/* The window goes on with the next piece that was read ahead; FALSE: there is none. */
static gboolean
take_piece(rs_input *input)
{
    rs_piece *piece = input->took_last ? NULL : rs_ahead_next(input->reading_ahead);
    if (piece == NULL || piece->n == 0) {
        input->took_last = TRUE;
        return FALSE;
    }
    input->position_of_window = piece->position;
    gsize n_left = input->end - input->start;
    if (n_left > RS_AHEAD_ROOM) {
        make_room(input, n_left + piece->n);
        memcpy(input->buffer + n_left, piece->bytes, piece->n);
    } else {
        guint8 *begin = piece->bytes - n_left;
        memcpy(begin, input->window + input->start, n_left);
        input->window = begin;
        input->start = 0;
    }
    input->end = n_left + piece->n;
    return TRUE;
}

/* The same with what is read now, for which there is room. */
static gboolean
read_on(rs_input *input)
{
    gsize room = MIN(input->capacity - input->end, WINDOW_BYTES);
    gsize n_read = unpacked_read(input, input->buffer + input->end, room);
    input->end += n_read;
    return n_read > 0;
}

gsize
rs_input_peek(rs_input *input, gsize wanted, const guint8 **bytes)
{
    if (input->end - input->start < wanted && input->reading_ahead == NULL) {
        make_room(input, wanted);
    }
    while (input->end - input->start < wanted &&
           (input->reading_ahead != NULL ? take_piece(input) : read_on(input))) {
    }
    *bytes = input->window + input->start;
    return input->end - input->start;
}

void
rs_input_skip(rs_input *input, gsize n_bytes)
{
    g_assert(n_bytes <= input->end - input->start);
    input->start += n_bytes;
    input->offset += n_bytes;
}

/* ---- Opening ---- */

static const char *
open_failure(int why)
{
    switch (why) {
    case ENOENT:
        return "does not exist";
    case EACCES:
        return "permission denied";
    default:
        return g_strerror(why);
    }
}

static gboolean
open_stdin(rs_input *input, GError **error)
{
    input->name = g_strdup("standard input");
    input->fd = STDIN_FILENO;
    if (isatty(STDIN_FILENO)) {
        g_set_error(error, RS_ERROR, RS_ERROR_OPEN,
                    "%s: is a terminal, and a capture has to come through a pipe",
                    input->name);
        return FALSE;
    }
    return TRUE;
}

static gboolean
open_path(rs_input *input, const char *path, GError **error)
{
    input->name = rs_format_safe(path); /* messages steer no terminal */
    input->fd = open(path, O_RDONLY | O_CLOEXEC);
    if (input->fd < 0) {
        g_set_error(error, RS_ERROR, RS_ERROR_OPEN, "%s: %s", input->name,
                    open_failure(errno));
        return FALSE;
    }
    input->fd_ours = TRUE;
    return TRUE;
}

static gboolean
examine_file(rs_input *input, GError **error)
{
    struct stat status;
    if (fstat(input->fd, &status) != 0) {
        g_set_error(error, RS_ERROR, RS_ERROR_OPEN, "%s: %s", input->name,
                    g_strerror(errno));
        return FALSE;
    }
    if (S_ISDIR(status.st_mode)) {
        g_set_error(error, RS_ERROR, RS_ERROR_OPEN,
                    "%s: is a directory: give the files in it, or have rocescope batch "
                    "look through it",
                    input->name);
        return FALSE;
    }
    if (S_ISREG(status.st_mode)) {
        /* Standard input may have been read from by somebody else before. */
        off_t begun_at = lseek(input->fd, 0, SEEK_CUR);
        if (begun_at >= 0 && begun_at < status.st_size) {
            input->file_bytes = (guint64)(status.st_size - begun_at);
        }
        (void)posix_fadvise(input->fd, 0, 0, POSIX_FADV_SEQUENTIAL);
        input->ahead = TRUE;
    } else if (S_ISFIFO(status.st_mode)) {
        /* Whoever writes may be that far ahead, if it is allowed. */
        (void)fcntl(input->fd, F_SETPIPE_SZ, (int)WINDOW_BYTES);
    }
    return TRUE;
}

/* Hands what was read so far to an unpacker, and begins a new window. */
static void
begin_unpacking(rs_input *input)
{
    input->unpacker = rs_unpacker_new(packed_read, input, input->buffer, input->end);
    input->start = input->end = 0;
    input->ended = input->error != NULL; /* a short file may have met its end already */
}

static gboolean
recognise_compression(rs_input *input, GError **error)
{
    const guint8 *bytes;
    gsize n_bytes = rs_input_peek(input, RS_UNPACK_MAGIC_BYTES, &bytes);
    if (rs_unpack_recognise(bytes, n_bytes)) {
        begin_unpacking(input);
        return TRUE;
    }
    g_autofree char *refusal = rs_unpack_refusal(bytes, n_bytes);
    if (refusal != NULL) {
        g_set_error(error, RS_ERROR, RS_ERROR_UNSUPPORTED, "%s: %s", input->name,
                    refusal);
        return FALSE;
    }
    return TRUE;
}

rs_input *
rs_input_open(const char *path, GError **error)
{
    g_autoptr(rs_input) input = g_new0(rs_input, 1);
    input->capacity = WINDOW_BYTES;
    input->window = input->buffer = g_malloc(input->capacity);
    gboolean opened = strcmp(path, "-") == 0 ? open_stdin(input, error)
                                             : open_path(input, path, error);
    if (!opened || !examine_file(input, error) ||
        !recognise_compression(input, error)) {
        return NULL;
    }
    return g_steal_pointer(&input);
}

static gsize
read_for_ahead(gpointer ctx, guint8 *into, gsize n_bytes, guint64 *position)
{
    rs_input *input = ctx;
    gsize n_read = unpacked_read(input, into, n_bytes);
    *position = input->position;
    return n_read;
}

gboolean
rs_input_read_ahead(rs_input *input)
{
    gboolean is_read = input->ended || (input->unpacker == NULL &&
                                        input->position >= input->file_bytes);
    if (input->file_bytes == 0 || is_read || input->reading_ahead != NULL) {
        return FALSE;
    }
    input->position_of_window = input->position;
    input->reading_ahead = rs_ahead_new(read_for_ahead, input);
    return input->reading_ahead != NULL;
}

void
rs_input_close(rs_input *input)
{
    if (!input) {
        return;
    }
    rs_ahead_free(input->reading_ahead);
    if (input->fd_ours) {
        close(input->fd);
    }
    rs_unpacker_free(input->unpacker);
    g_clear_error(&input->error);
    g_free(input->buffer);
    g_free(input->name);
    g_free(input);
}

/* ---- Answers ---- */

const char *
rs_input_name(const rs_input *input)
{
    return input->name;
}

gboolean
rs_input_takes_long(const rs_input *input)
{
    return input->unpacker != NULL && rs_unpacker_takes_long(input->unpacker);
}

gboolean
rs_input_is_packed(const rs_input *input)
{
    return input->unpacker != NULL;
}

guint64
rs_input_offset(const rs_input *input)
{
    return input->offset;
}

guint64
rs_input_position(const rs_input *input)
{
    return input->reading_ahead != NULL ? input->position_of_window : input->position;
}

guint64
rs_input_file_bytes(const rs_input *input)
{
    return input->file_bytes;
}

const GError *
rs_input_error(const rs_input *input)
{
    return input->error;
}
