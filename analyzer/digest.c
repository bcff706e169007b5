/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "digest.h"

#include "error.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

#define BLOCK_BYTES ((gsize)1024 * 1024)

struct rs_digest {
    XXH3_state_t *state;
};

rs_digest *
rs_digest_new(void)
{
    rs_digest *digest = g_new0(rs_digest, 1);
    digest->state = XXH3_createState();
    if (digest->state == NULL) {
        g_error("out of memory");
    }
    (void)XXH3_128bits_reset(digest->state);
    return digest;
}

void
rs_digest_free(rs_digest *digest)
{
    if (digest != NULL) {
        (void)XXH3_freeState(digest->state);
        g_free(digest);
    }
}

void
rs_digest_add(rs_digest *digest, const void *bytes, gsize size)
{
    (void)XXH3_128bits_update(digest->state, bytes, size);
}

void
rs_digest_add_value(rs_digest *digest, const char *name, const char *value)
{
    g_autofree char *head =
        value != NULL ? g_strdup_printf("%s=%" G_GSIZE_FORMAT ":", name, strlen(value))
                      : g_strdup_printf("%s:", name);
    rs_digest_add(digest, head, strlen(head));
    if (value != NULL) {
        rs_digest_add(digest, value, strlen(value));
    }
}

char *
rs_digest_text(const rs_digest *digest)
{
    XXH128_hash_t hash = XXH3_128bits_digest(digest->state);
    return g_strdup_printf("%016" G_GINT64_MODIFIER "x%016" G_GINT64_MODIFIER "x",
                           (guint64)hash.high64, (guint64)hash.low64);
}

static gboolean
add_content(rs_digest *digest, int fd, guint64 *size)
{
    g_autofree guint8 *block = g_malloc(BLOCK_BYTES);
    for (;;) {
        gssize n = read(fd, block, BLOCK_BYTES);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n <= 0) {
            return n == 0;
        }
        rs_digest_add(digest, block, (gsize)n);
        *size += (guint64)n;
    }
}

char *
rs_digest_file(const char *path, guint64 *size, GError **error)
{
    g_autoptr(rs_digest) digest = rs_digest_new();
    guint64 n_bytes = 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    gboolean good = fd >= 0 && add_content(digest, fd, &n_bytes);
    int code = errno;
    if (fd >= 0) {
        (void)close(fd);
    }
    if (!good) {
        g_set_error(error, RS_ERROR, RS_ERROR_IO, "%s: cannot be read: %s", path,
                    g_strerror(code));
        return NULL;
    }
    if (size != NULL) {
        *size = n_bytes;
    }
    return rs_digest_text(digest);
}
