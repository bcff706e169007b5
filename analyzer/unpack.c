/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unpack.h"

#include <string.h>

#define BUFFER_BYTES ((gsize)1024 * 1024)

static const rs_codec *const codecs[] = {
    &rs_codec_gzip, &rs_codec_zstd, &rs_codec_lz4, &rs_codec_xz, &rs_codec_skippable,
};
#define N_CODECS G_N_ELEMENTS(codecs)

/* Compressors whose files people have, and what unpacks them to standard output. */
static const struct {
    const char *name;
    const char *command;
    guint8 n_magic_bytes;
    guint8 magic[RS_UNPACK_MAGIC_BYTES];
} refused[] = {
    {"bzip2", "bzip2 -dc", 3, {'B', 'Z', 'h'}},
    {"lz4 -l, the format of old", "lz4 -dc", 4, {0x02, 0x21, 0x4c, 0x18}},
    {"lzip", "lzip -dc", 4, {'L', 'Z', 'I', 'P'}},
    {"compress", "gzip -dc", 2, {0x1f, 0x9d}},
    {"zip", "unzip -p", 4, {'P', 'K', 3, 4}},
    {"7z", "7z x -so", 6, {'7', 'z', 0xbc, 0xaf, 0x27, 0x1c}},
};

static const char ends_within[] = "it ends within compressed data";

struct rs_unpacker {
    rs_unpack_source source;
    gpointer source_ctx;
    gboolean source_ended;
    guint8 *buffer; /* of packed bytes; `io` points into it */
    rs_unpack_io io;
    guint64 n_read;           /* packed bytes put into the buffer so far */
    gpointer state[N_CODECS]; /* of each codec that was needed */
    gsize codec_i;            /* of the newest member */
    gboolean in_member;
    gboolean ended;
    rs_unpack_end end; /* valid when it has ended */
    const char *why;   /* NULL for a good end */
};

/* Whether these bytes, which are no more than its magic and at least one, begin it. */
static gboolean
magic_begins(const rs_codec *codec, const guint8 *bytes, gsize n_bytes)
{
    guint8 all = (guint8)~codec->any_bits;
    return (bytes[0] & all) == (codec->magic[0] & all) &&
           memcmp(bytes + 1, codec->magic + 1, n_bytes - 1) == 0;
}

/* The codec of a member that begins with these bytes; N_CODECS if there is none. */
static gsize
find_codec(const guint8 *bytes, gsize n_bytes)
{
    gsize i = 0;
    while (i < N_CODECS &&
           (n_bytes < codecs[i]->n_magic_bytes ||
            !magic_begins(codecs[i], bytes, codecs[i]->n_magic_bytes))) {
        i++;
    }
    return i;
}

/* Whether these bytes, at least one, are not even the magic of a member, but the
 * beginning of one. */
static gboolean
is_cut_magic(const guint8 *bytes, gsize n_bytes)
{
    for (gsize i = 0; i < N_CODECS; i++) {
        if (n_bytes < codecs[i]->n_magic_bytes &&
            magic_begins(codecs[i], bytes, n_bytes)) {
            return TRUE;
        }
    }
    return FALSE;
}

gboolean
rs_unpack_recognise(const guint8 *bytes, gsize n_bytes)
{
    return find_codec(bytes, n_bytes) < N_CODECS;
}

char *
rs_unpack_refusal(const guint8 *bytes, gsize n_bytes)
{
    for (gsize i = 0; i < G_N_ELEMENTS(refused); i++) {
        if (n_bytes >= refused[i].n_magic_bytes &&
            memcmp(bytes, refused[i].magic, refused[i].n_magic_bytes) == 0) {
            return g_strdup_printf("is compressed with %s, and gzip, zstd, lz4 and xz "
                                   "are what can be read; unpack it first, with \"%s\" "
                                   "for one",
                                   refused[i].name, refused[i].command);
        }
    }
    return NULL;
}

rs_unpacker *
rs_unpacker_new(rs_unpack_source source, gpointer ctx, const guint8 *begun,
                gsize n_begun)
{
    rs_unpacker *unpacker = g_new0(rs_unpacker, 1);
    unpacker->source = source;
    unpacker->source_ctx = ctx;
    unpacker->buffer = g_malloc(MAX(n_begun, BUFFER_BYTES));
    if (n_begun > 0) {
        memcpy(unpacker->buffer, begun, n_begun);
    }
    unpacker->io.in = unpacker->buffer;
    unpacker->io.n_in = n_begun;
    unpacker->n_read = n_begun;
    return unpacker;
}

void
rs_unpacker_free(rs_unpacker *unpacker)
{
    if (unpacker == NULL) {
        return;
    }
    for (gsize i = 0; i < N_CODECS; i++) {
        if (unpacker->state[i] != NULL) {
            codecs[i]->close(unpacker->state[i]);
        }
    }
    g_free(unpacker->buffer);
    g_free(unpacker);
}

static void
end(rs_unpacker *unpacker, rs_unpack_end how, const char *why)
{
    unpacker->ended = TRUE;
    unpacker->end = how;
    unpacker->why = why;
}

/* Reads something behind what is left of the packed bytes; FALSE if there is nothing. */
static gboolean
refill(rs_unpacker *unpacker)
{
    rs_unpack_io *io = &unpacker->io;
    if (unpacker->source_ended) {
        return FALSE;
    }
    memmove(unpacker->buffer, io->in, io->n_in);
    io->in = unpacker->buffer;
    gsize n_read = unpacker->source(unpacker->source_ctx, unpacker->buffer + io->n_in,
                                    BUFFER_BYTES - io->n_in);
    unpacker->source_ended = n_read == 0;
    io->n_in += n_read;
    unpacker->n_read += n_read;
    return n_read > 0;
}

static void
skip_padding(rs_unpacker *unpacker)
{
    rs_unpack_io *io = &unpacker->io;
    do {
        while (io->n_in > 0 && *io->in == 0) {
            io->in++;
            io->n_in--;
        }
    } while (io->n_in == 0 && refill(unpacker));
}

/* Where no member begins: ends. */
static void
end_between(rs_unpacker *unpacker)
{
    rs_unpack_io *io = &unpacker->io;
    if (io->n_in == 0) {
        end(unpacker, RS_UNPACK_GOOD, NULL);
    } else if (is_cut_magic(io->in, io->n_in)) {
        rs_unpack_done(io, io->n_in, 0);
        end(unpacker, RS_UNPACK_DAMAGED, ends_within);
    } else {
        end(unpacker, RS_UNPACK_DAMAGED,
            "neither compressed data nor padding follows what was compressed");
    }
}

/* Between members: begins the next one, or ends. */
static void
next_member(rs_unpacker *unpacker)
{
    const rs_unpack_io *io = &unpacker->io;
    skip_padding(unpacker);
    gsize i = find_codec(io->in, io->n_in);
    while (i == N_CODECS && io->n_in > 0 && io->n_in < RS_UNPACK_MAGIC_BYTES &&
           refill(unpacker)) {
        i = find_codec(io->in, io->n_in);
    }
    if (i == N_CODECS) {
        end_between(unpacker);
        return;
    }
    if (unpacker->state[i] == NULL) {
        unpacker->state[i] = codecs[i]->open();
    }
    unpacker->codec_i = i;
    unpacker->in_member = TRUE;
    if (unpacker->state[i] == NULL || !codecs[i]->begin(unpacker->state[i])) {
        end(unpacker, RS_UNPACK_REFUSED, "there is no memory for it");
    }
}

/* Inside a member: a step of its codec. */
static void
go_on(rs_unpacker *unpacker)
{
    rs_unpack_io *io = &unpacker->io;
    const rs_unpack_io before = *io;
    const char *why = NULL;
    gpointer state = unpacker->state[unpacker->codec_i];
    switch (codecs[unpacker->codec_i]->run(state, io, &why)) {
    case RS_UNPACK_GOES_ON:
        if (io->n_in == before.n_in && io->n_out == before.n_out && !refill(unpacker)) {
            end(unpacker, RS_UNPACK_DAMAGED, ends_within);
        }
        break;
    case RS_UNPACK_MEMBER_END:
        unpacker->in_member = FALSE;
        break;
    case RS_UNPACK_MEMBER_BAD:
        end(unpacker, RS_UNPACK_DAMAGED, why);
        break;
    case RS_UNPACK_MEMBER_REFUSED:
        end(unpacker, RS_UNPACK_REFUSED, why);
        break;
    }
}

gsize
rs_unpacker_read(rs_unpacker *unpacker, guint8 *into, gsize n_bytes)
{
    unpacker->io.out = into;
    unpacker->io.n_out = n_bytes;
    while (unpacker->io.n_out == n_bytes && !unpacker->ended) {
        if (unpacker->in_member) {
            go_on(unpacker);
        } else {
            next_member(unpacker);
        }
    }
    return n_bytes - unpacker->io.n_out;
}

rs_unpack_end
rs_unpacker_end(const rs_unpacker *unpacker, const char **why)
{
    *why = unpacker->why;
    return unpacker->end;
}

guint64
rs_unpacker_position(const rs_unpacker *unpacker)
{
    return unpacker->n_read - unpacker->io.n_in;
}

const char *
rs_unpacker_format(const rs_unpacker *unpacker)
{
    return codecs[unpacker->codec_i]->name;
}

gboolean
rs_unpacker_takes_long(const rs_unpacker *unpacker)
{
    return codecs[unpacker->codec_i]->takes_long;
}
