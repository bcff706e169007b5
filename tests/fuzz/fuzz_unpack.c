/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Any bytes as a compressed file: in whatever pieces they come, the same comes out, but
 * for how far into damaged data a library gets. */
#include "unpack.h"

#include <assert.h>
#include <stdint.h>
#include <string.h>

#define MOST_BYTES ((gsize)1024 * 1024) /* what comes out; bombs are longer */

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct pieces {
    const uint8_t *bytes;
    gsize n_left;
    gsize piece_bytes;
} pieces;

static gsize
take(gpointer ctx, guint8 *into, gsize n_bytes)
{
    pieces *p = ctx;
    gsize n = MIN(MIN(n_bytes, p->n_left), p->piece_bytes);
    memcpy(into, p->bytes, n);
    p->bytes += n;
    p->n_left -= n;
    return n;
}

/* What comes out, up to the most, and how it ended if that is all. */
static GByteArray *
unpack(pieces p, gsize room_bytes, rs_unpack_end *end)
{
    const gsize size = p.n_left;
    GByteArray *out = g_byte_array_new();
    g_autofree guint8 *room = g_malloc(room_bytes);
    g_autoptr(rs_unpacker) unpacker = rs_unpacker_new(take, &p, NULL, 0);
    gsize n;
    while (out->len < MOST_BYTES &&
           (n = rs_unpacker_read(unpacker, room, room_bytes)) > 0) {
        assert(n <= room_bytes);
        g_byte_array_append(out, room, (guint)n);
    }
    const char *why;
    *end = rs_unpacker_end(unpacker, &why);
    assert(rs_unpacker_position(unpacker) <= size);
    assert(rs_unpacker_format(unpacker) != NULL);
    return out;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    rs_unpack_end end[2];
    g_autoptr(GByteArray) whole = unpack((pieces){data, size, size}, 65536, &end[0]);
    g_autoptr(GByteArray) drops = unpack((pieces){data, size, 3}, 501, &end[1]);
    if (whole->len >= MOST_BYTES || drops->len >= MOST_BYTES) {
        return 0;
    }
    assert(end[0] == end[1]);
    assert(end[0] != RS_UNPACK_GOOD || whole->len == drops->len);
    const gsize n_common = MIN(whole->len, drops->len);
    assert(n_common == 0 || memcmp(whole->data, drops->data, n_common) == 0);
    return 0;
}
