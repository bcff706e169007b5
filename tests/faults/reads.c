/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Loaded before the C library (LD_PRELOAD), it has reads of one file go wrong.
 *
 *   FAULT_PATH   the file
 *   FAULT_AT     the byte at which it happens, when it is read for the FAULT_TIME-th time
 *                (1 unless given): each time the file is read from its beginning counts
 *   FAULT_HOW    error: reads from there on fail with EIO
 *                shrink: it is cut to FAULT_TO bytes
 *                grow: the bytes of FAULT_WITH are put behind it
 *
 * What is in front of FAULT_AT is read as it is.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

static int times_begun;
static bool happened;

static off_t
number(const char *name, off_t without)
{
    const char *text = getenv(name);
    return text != NULL ? (off_t)strtoll(text, NULL, 10) : without;
}

static bool
is_the_file(int fd)
{
    struct stat is;
    struct stat wanted;
    const char *path = getenv("FAULT_PATH");
    return path != NULL && stat(path, &wanted) == 0 && fstat(fd, &is) == 0 &&
           is.st_dev == wanted.st_dev && is.st_ino == wanted.st_ino;
}

static void
append(const char *path, const char *with)
{
    static char bytes[1 << 16];
    int from = open(with, O_RDONLY);
    int to = open(path, O_WRONLY | O_APPEND);
    if (from < 0 || to < 0) {
        abort();
    }
    for (ssize_t n; (n = read(from, bytes, sizeof bytes)) != 0;) {
        if (n < 0 || write(to, bytes, (size_t)n) != n) {
            abort();
        }
    }
    (void)close(from);
    (void)close(to);
}

/* Lets it happen.  Returns whether the read fails. */
static bool
go_wrong(const char *how)
{
    const char *path = getenv("FAULT_PATH");
    if (strcmp(how, "error") == 0) {
        return true;
    }
    if (!happened) {
        happened = true;
        if (strcmp(how, "grow") == 0) {
            append(path, getenv("FAULT_WITH"));
        } else if (truncate(path, number("FAULT_TO", 0)) != 0) {
            abort();
        }
    }
    return false;
}

/* How many of the bytes may be read; -1: none, it is an error. */
static ssize_t
allowed(int fd, size_t n_bytes)
{
    const char *how = getenv("FAULT_HOW");
    if (how == NULL || !is_the_file(fd)) {
        return (ssize_t)n_bytes;
    }
    off_t here = lseek(fd, 0, SEEK_CUR);
    off_t at = number("FAULT_AT", 0);
    times_begun += here == 0 ? 1 : 0;
    if (times_begun < number("FAULT_TIME", 1) || happened) {
        return (ssize_t)n_bytes;
    }
    if (here < at) {
        return at - here < (off_t)n_bytes ? (ssize_t)(at - here) : (ssize_t)n_bytes;
    }
    if (go_wrong(how)) {
        errno = EIO;
        return -1;
    }
    return (ssize_t)n_bytes;
}

static void *
next(const char *name)
{
    void *found = dlsym(RTLD_NEXT, name);
    if (found == NULL) {
        abort();
    }
    return found;
}

ssize_t
read(int fd, void *into, size_t n_bytes)
{
    static ssize_t (*real)(int, void *, size_t);
    if (real == NULL) {
        *(void **)&real = next("read");
    }
    ssize_t n = allowed(fd, n_bytes);
    return n < 0 ? -1 : real(fd, into, (size_t)n);
}

/* Nobody has to read ahead. */
ssize_t
preadv2(int fd, const struct iovec *pieces, int n_pieces, off_t at, int flags)
{
    (void)fd, (void)pieces, (void)n_pieces, (void)at, (void)flags;
    errno = EOPNOTSUPP;
    return -1;
}

ssize_t
preadv64v2(int fd, const struct iovec *pieces, int n_pieces, off_t at, int flags)
{
    return preadv2(fd, pieces, n_pieces, at, flags);
}
