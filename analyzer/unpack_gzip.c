/* SPDX-License-Identifier: GPL-2.0-or-later */
/* gzip (RFC 1952) by zlib, which checks each member against its CRC. */
#include "unpack.h"

#define ZLIB_CONST /* it does not write to what it reads */
#include <zlib.h>

static gpointer
gzip_open(void)
{
    const int gzip_only = 16;
    z_stream *inflater = g_new0(z_stream, 1);
    if (inflateInit2(inflater, gzip_only + MAX_WBITS) != Z_OK) {
        g_free(inflater);
        return NULL;
    }
    return inflater;
}

static gboolean
gzip_begin(gpointer state)
{
    return inflateReset(state) == Z_OK;
}

static rs_unpack_status
gzip_run(gpointer state, rs_unpack_io *io, const char **why)
{
    z_stream *inflater = state;
    const uInt n_in = (uInt)MIN(io->n_in, (gsize)G_MAXINT);
    const uInt n_out = (uInt)MIN(io->n_out, (gsize)G_MAXINT);
    inflater->next_in = io->in;
    inflater->avail_in = n_in;
    inflater->next_out = io->out;
    inflater->avail_out = n_out;
    int status = inflate(inflater, Z_NO_FLUSH);
    rs_unpack_done(io, n_in - inflater->avail_in, n_out - inflater->avail_out);
    switch (status) {
    case Z_STREAM_END:
        return RS_UNPACK_MEMBER_END;
    case Z_OK:
    case Z_BUF_ERROR:
        return RS_UNPACK_GOES_ON;
    case Z_MEM_ERROR:
        *why = "there is no memory for it";
        return RS_UNPACK_MEMBER_REFUSED;
    default:
        *why = inflater->msg != NULL ? inflater->msg : "invalid compressed data";
        return RS_UNPACK_MEMBER_BAD;
    }
}

static void
gzip_close(gpointer state)
{
    inflateEnd(state);
    g_free(state);
}

const rs_codec rs_codec_gzip = {
    .name = "gzip",
    .n_magic_bytes = 2,
    .magic = {0x1f, 0x8b},
    .takes_long = TRUE,
    .open = gzip_open,
    .begin = gzip_begin,
    .run = gzip_run,
    .close = gzip_close,
};
