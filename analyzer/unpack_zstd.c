/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Frames of zstd (RFC 8878) by libzstd, which checks those that have a checksum.
 *
 * A call that fails tells neither how far it read nor what it wrote.  So each call gets
 * one piece of the frame, a header or a block, and none while unpacked data that had no
 * room is waiting.
 */
#include "unpack.h"

#include <zstd.h>
#include <zstd_errors.h>

#define BLOCK_HEADER_BYTES 3

typedef struct zstd_state {
    ZSTD_DCtx *context;
    gsize hint;       /* bytes that it wants next */
    gboolean waiting; /* it may have unpacked more than there was room for */
} zstd_state;

static void
zstd_close(gpointer data)
{
    zstd_state *state = data;
    ZSTD_freeDCtx(state->context);
    g_free(state);
}

static gpointer
zstd_open(void)
{
    zstd_state *state = g_new0(zstd_state, 1);
    state->context = ZSTD_createDCtx();
    if (state->context == NULL ||
        ZSTD_isError(ZSTD_DCtx_setParameter(state->context, ZSTD_d_windowLogMax,
                                            RS_UNPACK_WINDOW_LOG))) {
        zstd_close(state);
        return NULL;
    }
    return state;
}

static gboolean
zstd_begin(gpointer data)
{
    zstd_state *state = data;
    state->hint = ZSTD_initDStream(state->context);
    state->waiting = FALSE;
    return !ZSTD_isError(state->hint);
}

static rs_unpack_status
failure(size_t status, const char **why)
{
    ZSTD_ErrorCode code = ZSTD_getErrorCode(status);
    if (code == ZSTD_error_frameParameter_windowTooLarge) {
        *why = "it refers back by more than 128 MiB (zstd --long=28 and above)";
        return RS_UNPACK_MEMBER_REFUSED;
    }
    if (code == ZSTD_error_dictionary_wrong) {
        *why = "it was compressed with a dictionary";
        return RS_UNPACK_MEMBER_REFUSED;
    }
    if (code == ZSTD_error_memory_allocation) {
        *why = "there is no memory for it";
        return RS_UNPACK_MEMBER_REFUSED;
    }
    *why = code == ZSTD_error_corruption_detected ? "invalid compressed data"
           : code == ZSTD_error_checksum_wrong    ? "incorrect data check"
                                                  : ZSTD_getErrorName(status);
    return RS_UNPACK_MEMBER_BAD;
}

static rs_unpack_status
step(zstd_state *state, rs_unpack_io *io, gsize n_in, const char **why)
{
    ZSTD_inBuffer in = {io->in, n_in, 0};
    ZSTD_outBuffer out = {io->out, io->n_out, 0};
    size_t status = ZSTD_decompressStream(state->context, &out, &in);
    if (ZSTD_isError(status)) {
        return failure(status, why);
    }
    rs_unpack_done(io, in.pos, out.pos);
    state->hint = status;
    state->waiting = io->n_out == 0;
    return status == 0 ? RS_UNPACK_MEMBER_END : RS_UNPACK_GOES_ON;
}

static rs_unpack_status
zstd_run(gpointer data, rs_unpack_io *io, const char **why)
{
    zstd_state *state = data;
    if (state->waiting) {
        rs_unpack_status status = step(state, io, 0, why);
        if (status != RS_UNPACK_GOES_ON || state->waiting) {
            return status;
        }
    }
    return step(state, io, rs_unpack_portion(io, state->hint, BLOCK_HEADER_BYTES), why);
}

const rs_codec rs_codec_zstd = {
    .name = "zstd",
    .n_magic_bytes = 4,
    .magic = {0x28, 0xb5, 0x2f, 0xfd},
    .open = zstd_open,
    .begin = zstd_begin,
    .run = zstd_run,
    .close = zstd_close,
};
