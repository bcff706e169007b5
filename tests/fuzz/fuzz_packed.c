/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Any bytes, compressed by the library of each format and unpacked here: they come out as
 * they went in; of a file that was cut, what stands in front of the cut comes out, and no
 * more; of a damaged one, nothing that would not end.
 *
 *   0    format (bits 0-1); what becomes of the file (2-3): nothing, it is cut, a bit
 *        of it is turned, or it follows one that is whole
 *   1-2  where that happens
 *   3    how often the bytes are repeated
 *   4..  the bytes
 */
#include "unpack.h"

#include <assert.h>
#include <lz4frame.h>
#include <lzma.h>
#include <stdint.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#define SETTINGS 4
#define ROOM 4093                            /* no power of two */
#define MOST_BYTES ((gsize)16 * 1024 * 1024) /* what damage may make of a file */

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef enum fate {
    WHOLE,
    CUT,
    DAMAGED,
    TWICE,
} fate;

/* ---- packing ---- */

static gsize
pack_gzip(guint8 *out, gsize room, const GByteArray *plain)
{
    z_stream stream = {0};
    int status = deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
    assert(status == Z_OK);
    stream.next_in = plain->data;
    stream.avail_in = plain->len;
    stream.next_out = out;
    stream.avail_out = (uInt)room;
    status = deflate(&stream, Z_FINISH);
    assert(status == Z_STREAM_END);
    (void)deflateEnd(&stream);
    return stream.total_out;
}

static gsize
pack_zstd(guint8 *out, gsize room, const GByteArray *plain)
{
    size_t n = ZSTD_compress(out, room, plain->data, plain->len, 3);
    assert(!ZSTD_isError(n));
    return n;
}

static gsize
pack_lz4(guint8 *out, gsize room, const GByteArray *plain)
{
    const LZ4F_preferences_t checked = {
        .frameInfo = {.contentChecksumFlag = LZ4F_contentChecksumEnabled},
    };
    size_t n = LZ4F_compressFrame(out, room, plain->data, plain->len, &checked);
    assert(!LZ4F_isError(n));
    return n;
}

static gsize
pack_xz(guint8 *out, gsize room, const GByteArray *plain)
{
    size_t n = 0;
    lzma_ret status = lzma_easy_buffer_encode(0, LZMA_CHECK_CRC32, NULL, plain->data,
                                              plain->len, out, &n, room);
    assert(status == LZMA_OK);
    return n;
}

static GByteArray *
pack(unsigned format, const GByteArray *plain)
{
    static gsize (*const packers[])(guint8 *, gsize, const GByteArray *) = {
        pack_gzip, pack_zstd, pack_lz4, pack_xz};
    gsize room = plain->len + plain->len / 16 + 4096;
    GByteArray *packed = g_byte_array_new();
    g_byte_array_set_size(packed, (guint)room);
    gsize n = packers[format](packed->data, room, plain);
    g_byte_array_set_size(packed, (guint)n);
    return packed;
}

/* ---- unpacking ---- */

typedef struct source {
    const GByteArray *packed;
    gsize at;
} source;

static gsize
take(gpointer ctx, guint8 *into, gsize n_bytes)
{
    source *s = ctx;
    gsize n = MIN(n_bytes, s->packed->len - s->at);
    memcpy(into, s->packed->data + s->at, n);
    s->at += n;
    return n;
}

static GByteArray *
unpack(const GByteArray *packed, rs_unpack_end *end)
{
    source s = {packed, 0};
    guint8 room[ROOM];
    GByteArray *out = g_byte_array_new();
    g_autoptr(rs_unpacker) unpacker = rs_unpacker_new(take, &s, NULL, 0);
    gsize n;
    while (out->len < MOST_BYTES &&
           (n = rs_unpacker_read(unpacker, room, sizeof room)) > 0) {
        g_byte_array_append(out, room, (guint)n);
    }
    const char *why = NULL;
    *end = rs_unpacker_end(unpacker, &why);
    assert(out->len >= MOST_BYTES || *end == RS_UNPACK_GOOD || why != NULL);
    assert(rs_unpacker_position(unpacker) <= packed->len);
    return out;
}

/* ---- what becomes of it ---- */

static gboolean
begins_with(const GByteArray *plain, const GByteArray *out)
{
    return out->len <= plain->len &&
           (out->len == 0 || memcmp(plain->data, out->data, out->len) == 0);
}

static void
check(fate what, GByteArray *packed, gsize at, const GByteArray *plain)
{
    guint n_before = packed->len;
    if (what == CUT) {
        g_byte_array_set_size(packed, (guint)at);
    } else if (what == DAMAGED) {
        packed->data[at] ^= (guint8)(1u << (at & 7));
    } else if (what == TWICE) {
        g_autoptr(GByteArray) copy = g_byte_array_new();
        g_byte_array_append(copy, packed->data, packed->len);
        g_byte_array_append(packed, copy->data, copy->len);
    }
    rs_unpack_end end;
    g_autoptr(GByteArray) out = unpack(packed, &end);
    if (what == WHOLE) {
        assert(end == RS_UNPACK_GOOD && out->len == plain->len);
        assert(begins_with(plain, out));
    } else if (what == TWICE) {
        assert(end == RS_UNPACK_GOOD && out->len == 2 * plain->len);
        assert(plain->len == 0 ||
               memcmp(out->data + plain->len, plain->data, plain->len) == 0);
    } else if (what == CUT) {
        assert(begins_with(plain, out));
        assert(end != RS_UNPACK_GOOD || at == 0 || at == n_before);
    }
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < SETTINGS || size > 20000) {
        return 0;
    }
    g_autoptr(GByteArray) plain = g_byte_array_new();
    for (guint i = 0; i <= data[3]; i++) {
        g_byte_array_append(plain, data + SETTINGS, (guint)size - SETTINGS);
    }
    g_autoptr(GByteArray) packed = pack(data[0] & 3, plain);
    gsize at = (gsize)(data[1] << 8 | data[2]) % packed->len;
    check((fate)(data[0] >> 2 & 3), packed, at, plain);
    return 0;
}
