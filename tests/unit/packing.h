/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Bytes packed in each way that the analyzer unpacks, for tests.
 *
 * The one rule: a call makes one member, with all the checks that its format has, of
 * blocks that can be unpacked before what follows them is there.  Members behind each
 * other are a file.
 */
#ifndef PACKING_H
#define PACKING_H

#include "check.h"

#include <glib.h>
#include <lz4frame.h>
#include <lzma.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

/* A member as it is made. */
typedef struct packing {
    GByteArray *to;
    const guint8 *bytes;
    gsize n_bytes;
    gsize block_bytes; /* unpacked, of each block but the last */
    GArray *ends;      /* guint: where each block ends in `to`, or NULL */
} packing;

/* Bytes of the block that begins at `at`. */
static inline gsize
block_at(const packing *p, gsize at)
{
    return MIN(p->block_bytes, p->n_bytes - at);
}

/* More than any block here can need. */
static inline gsize
packed_bound(gsize n_bytes)
{
    return 2 * n_bytes + 4096;
}

/* Makes room for a block; where it begins. */
static inline guint8 *
grow(GByteArray *to, gsize n_bytes)
{
    guint begun = to->len;
    g_byte_array_set_size(to, begun + (guint)n_bytes);
    return to->data + begun;
}

/* Cuts what has not been needed of the room, and notes the block's end. */
static inline void
end_packed(packing *p, gsize n_unused)
{
    g_byte_array_set_size(p->to, p->to->len - (guint)n_unused);
    if (p->ends != NULL) {
        g_array_append_val(p->ends, p->to->len);
    }
}

static inline void
pack_gzip(packing *p)
{
    const int gzip = 16;
    z_stream z = {0};
    deflateInit2(&z, 6, Z_DEFLATED, gzip + MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
    g_autofree guint8 *source = g_memdup2(p->bytes, p->n_bytes);
    for (gsize at = 0; at < p->n_bytes; at += block_at(p, at)) {
        const gsize bound = packed_bound(block_at(p, at));
        z.next_in = source + at;
        z.avail_in = (uInt)block_at(p, at);
        z.next_out = grow(p->to, bound);
        z.avail_out = (uInt)bound;
        CHECK_INT(deflate(&z, Z_FULL_FLUSH), Z_OK);
        end_packed(p, z.avail_out);
    }
    z.next_out = grow(p->to, packed_bound(0));
    z.avail_out = (uInt)packed_bound(0);
    CHECK_INT(deflate(&z, Z_FINISH), Z_STREAM_END);
    end_packed(p, z.avail_out);
    deflateEnd(&z);
}

static inline void
pack_zstd(packing *p)
{
    ZSTD_CCtx *context = ZSTD_createCCtx();
    ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
    for (gsize at = 0; at <= p->n_bytes; at += MAX(block_at(p, at), 1)) {
        const gsize bound = packed_bound(block_at(p, at));
        ZSTD_inBuffer in = {p->bytes + at, block_at(p, at), 0};
        ZSTD_outBuffer out = {grow(p->to, bound), bound, 0};
        CHECK_INT(ZSTD_compressStream2(context, &out, &in,
                                       at < p->n_bytes ? ZSTD_e_flush : ZSTD_e_end),
                  0);
        end_packed(p, bound - out.pos);
    }
    ZSTD_freeCCtx(context);
}

static inline void
pack_lz4(packing *p)
{
    const LZ4F_preferences_t wanted = {
        .frameInfo = {.contentChecksumFlag = LZ4F_contentChecksumEnabled,
                      .blockSizeID = LZ4F_max256KB},
        .autoFlush = 1};
    LZ4F_cctx *context;
    LZ4F_createCompressionContext(&context, LZ4F_VERSION);
    gsize length = LZ4F_compressBegin(context, grow(p->to, LZ4F_HEADER_SIZE_MAX),
                                      LZ4F_HEADER_SIZE_MAX, &wanted);
    g_byte_array_set_size(p->to, p->to->len - LZ4F_HEADER_SIZE_MAX + (guint)length);
    for (gsize at = 0; at < p->n_bytes; at += block_at(p, at)) {
        const gsize bound = LZ4F_compressBound(block_at(p, at), &wanted);
        length = LZ4F_compressUpdate(context, grow(p->to, bound), bound, p->bytes + at,
                                     block_at(p, at), NULL);
        CHECK(!LZ4F_isError(length));
        end_packed(p, bound - length);
    }
    const gsize bound = LZ4F_compressBound(0, &wanted);
    length = LZ4F_compressEnd(context, grow(p->to, bound), bound, NULL);
    CHECK(!LZ4F_isError(length));
    end_packed(p, bound - length);
    LZ4F_freeCompressionContext(context);
}

static inline void
pack_xz(packing *p)
{
    lzma_stream stream = LZMA_STREAM_INIT;
    CHECK_INT(lzma_easy_encoder(&stream, 1, LZMA_CHECK_CRC32), LZMA_OK);
    for (gsize at = 0; at <= p->n_bytes; at += MAX(block_at(p, at), 1)) {
        const gsize bound = packed_bound(block_at(p, at));
        stream.next_in = p->bytes + at;
        stream.avail_in = block_at(p, at);
        stream.next_out = grow(p->to, bound);
        stream.avail_out = bound;
        CHECK_INT(lzma_code(&stream, at < p->n_bytes ? LZMA_FULL_FLUSH : LZMA_FINISH),
                  LZMA_STREAM_END);
        end_packed(p, stream.avail_out);
    }
    lzma_end(&stream);
}

/* A frame that zstd and lz4 pass over. */
static inline void
pack_nothing(GByteArray *to, guint n_bytes)
{
    const guint8 header[] = {0x5a,
                             0x2a,
                             0x4d,
                             0x18,
                             (guint8)n_bytes,
                             (guint8)(n_bytes >> 8),
                             (guint8)(n_bytes >> 16),
                             0};
    g_byte_array_append(to, header, sizeof header);
    memset(grow(to, n_bytes), 0x28, n_bytes);
}

static const struct {
    const char *name;
    void (*pack)(packing *p);
    guint n_check_bytes; /* at the end of a member; 0: its check does not stand there */
} packings[] = {
    {"gzip", pack_gzip, 8},
    {"zstd", pack_zstd, 4},
    {"lz4", pack_lz4, 4},
    {"xz", pack_xz, 0},
};

/* Appends one member of one block. */
static inline void
append_packed(GByteArray *to, gsize packing_i, const guint8 *bytes, gsize n_bytes)
{
    const guint8 *some = bytes != NULL ? bytes : (const guint8 *)""; /* GLib has none */
    packing p = {to, some, n_bytes, MAX(n_bytes, 1), NULL};
    packings[packing_i].pack(&p);
}

static inline GByteArray *
pack(gsize packing_i, const GByteArray *plain)
{
    GByteArray *packed = g_byte_array_new();
    append_packed(packed, packing_i, plain->data, plain->len);
    return packed;
}

#endif
