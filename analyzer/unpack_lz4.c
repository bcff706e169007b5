/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Frames of lz4 by liblz4 (its LZ4_Frame_format.md), which checks those that have
 * checksums.  No block is longer than 4 MiB.
 *
 * As with zstd a call that fails tells neither how far it read nor what it wrote; see
 * there.
 */
#include "unpack.h"

#include <lz4frame.h>

#define BLOCK_HEADER_BYTES 4

typedef struct lz4_state {
    LZ4F_dctx *context;
    gsize hint;       /* bytes that it wants next */
    gboolean waiting; /* it may have unpacked more than there was room for */
} lz4_state;

static gpointer
lz4_open(void)
{
    lz4_state *state = g_new0(lz4_state, 1);
    if (LZ4F_isError(LZ4F_createDecompressionContext(&state->context, LZ4F_VERSION))) {
        g_free(state);
        return NULL;
    }
    return state;
}

static gboolean
lz4_begin(gpointer data)
{
    lz4_state *state = data;
    LZ4F_resetDecompressionContext(state->context);
    state->hint = LZ4F_HEADER_SIZE_MIN;
    state->waiting = FALSE;
    return TRUE;
}

static rs_unpack_status
failure(size_t status, const char **why)
{
    static const struct {
        const char *name; /* the library's: its codes are no part of its interface */
        const char *why;
    } known[] = {
        {"ERROR_headerChecksum_invalid", "incorrect header check"},
        {"ERROR_blockChecksum_invalid", "incorrect data check"},
        {"ERROR_contentChecksum_invalid", "incorrect data check"},
        {"ERROR_decompressionFailed", "invalid compressed data"},
        {"ERROR_maxBlockSize_invalid", "invalid block length"},
        {"ERROR_frameSize_wrong", "incorrect length check"},
    };
    const char *name = LZ4F_getErrorName(status);
    *why = name;
    for (gsize i = 0; i < G_N_ELEMENTS(known); i++) {
        if (g_str_equal(name, known[i].name)) {
            *why = known[i].why;
        }
    }
    return RS_UNPACK_MEMBER_BAD;
}

static rs_unpack_status
step(lz4_state *state, rs_unpack_io *io, gsize n_in, const char **why)
{
    size_t n_consumed = n_in;
    size_t n_filled = io->n_out;
    size_t status =
        LZ4F_decompress(state->context, io->out, &n_filled, io->in, &n_consumed, NULL);
    if (LZ4F_isError(status)) {
        return failure(status, why);
    }
    rs_unpack_done(io, n_consumed, n_filled);
    state->hint = status;
    state->waiting = io->n_out == 0;
    return status == 0 ? RS_UNPACK_MEMBER_END : RS_UNPACK_GOES_ON;
}

static rs_unpack_status
lz4_run(gpointer data, rs_unpack_io *io, const char **why)
{
    lz4_state *state = data;
    if (state->waiting) {
        rs_unpack_status status = step(state, io, 0, why);
        if (status != RS_UNPACK_GOES_ON || state->waiting) {
            return status;
        }
    }
    return step(state, io, rs_unpack_portion(io, state->hint, BLOCK_HEADER_BYTES), why);
}

static void
lz4_close(gpointer data)
{
    lz4_state *state = data;
    LZ4F_freeDecompressionContext(state->context);
    g_free(state);
}

const rs_codec rs_codec_lz4 = {
    .name = "lz4",
    .n_magic_bytes = 4,
    .magic = {0x04, 0x22, 0x4d, 0x18},
    .open = lz4_open,
    .begin = lz4_begin,
    .run = lz4_run,
    .close = lz4_close,
};
