/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Streams of xz by liblzma, which checks each block. */
#include "unpack.h"

#include <lzma.h>

#define MEMORY_BYTES ((guint64)1 << RS_UNPACK_WINDOW_LOG)

static gpointer
xz_open(void)
{
    static const lzma_stream begun = LZMA_STREAM_INIT;
    lzma_stream *stream = g_new(lzma_stream, 1);
    *stream = begun;
    return stream;
}

static gboolean
xz_begin(gpointer state)
{
    return lzma_stream_decoder(state, MEMORY_BYTES, 0) == LZMA_OK;
}

static rs_unpack_status
xz_run(gpointer state, rs_unpack_io *io, const char **why)
{
    lzma_stream *stream = state;
    stream->next_in = io->in;
    stream->avail_in = io->n_in;
    stream->next_out = io->out;
    stream->avail_out = io->n_out;
    lzma_ret status = lzma_code(stream, LZMA_RUN);
    rs_unpack_done(io, io->n_in - stream->avail_in, io->n_out - stream->avail_out);
    switch ((int)status) { /* later versions may know more */
    case LZMA_STREAM_END:
        return RS_UNPACK_MEMBER_END;
    case LZMA_OK:
    case LZMA_BUF_ERROR:
        return RS_UNPACK_GOES_ON;
    case LZMA_MEMLIMIT_ERROR:
        *why = "it needs more than 128 MiB of memory to be unpacked";
        return RS_UNPACK_MEMBER_REFUSED;
    case LZMA_MEM_ERROR:
        *why = "there is no memory for it";
        return RS_UNPACK_MEMBER_REFUSED;
    case LZMA_OPTIONS_ERROR:
        *why = "it was compressed in a way that liblzma does not know";
        return RS_UNPACK_MEMBER_REFUSED;
    default:
        *why = "invalid compressed data";
        return RS_UNPACK_MEMBER_BAD;
    }
}

static void
xz_close(gpointer state)
{
    lzma_end(state);
    g_free(state);
}

const rs_codec rs_codec_xz = {
    .name = "xz",
    .n_magic_bytes = 6,
    .magic = {0xfd, '7', 'z', 'X', 'Z', 0},
    .takes_long = TRUE,
    .open = xz_open,
    .begin = xz_begin,
    .run = xz_run,
    .close = xz_close,
};
