/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Frames that zstd and lz4 pass over (RFC 8878, 3.1.2): pzstd begins its files with one,
 * and tables for seeking are such. */
#include "unpack.h"

#define HEADER_BYTES 8 /* magic; length of what follows, little-endian */
#define MAGIC_BYTES 4

typedef struct skippable_state {
    guint n_header_bytes; /* seen so far */
    guint64 n_left;       /* bytes of the content */
} skippable_state;

static gpointer
skippable_open(void)
{
    return g_new0(skippable_state, 1);
}

static gboolean
skippable_begin(gpointer data)
{
    *(skippable_state *)data = (skippable_state){0};
    return TRUE;
}

static rs_unpack_status
skippable_run(gpointer data, rs_unpack_io *io, const char **why)
{
    (void)why;
    skippable_state *state = data;
    for (; io->n_in > 0 && state->n_header_bytes < HEADER_BYTES;
         state->n_header_bytes++) {
        if (state->n_header_bytes >= MAGIC_BYTES) {
            state->n_left |= (guint64)*io->in
                             << 8 * (state->n_header_bytes - MAGIC_BYTES);
        }
        rs_unpack_done(io, 1, 0);
    }
    if (state->n_header_bytes < HEADER_BYTES) {
        return RS_UNPACK_GOES_ON;
    }
    gsize n_skipped = (gsize)MIN(state->n_left, (guint64)io->n_in);
    rs_unpack_done(io, n_skipped, 0);
    state->n_left -= n_skipped;
    return state->n_left == 0 ? RS_UNPACK_MEMBER_END : RS_UNPACK_GOES_ON;
}

const rs_codec rs_codec_skippable = {
    .name = "zstd or lz4",
    .n_magic_bytes = 4,
    .any_bits = 0x0f,
    .magic = {0x50, 0x2a, 0x4d, 0x18},
    .open = skippable_open,
    .begin = skippable_begin,
    .run = skippable_run,
    .close = g_free,
};
