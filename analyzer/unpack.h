/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Compressed files, unpacked as they are read.
 *
 * A compressed file is a row of members: gzip's members, the frames of zstd and lz4, the
 * streams of xz.  Zeros between or behind them are padding.  Which format a member has
 * is known from its first bytes, never from a name.
 *
 * The one rule: everything that can be unpacked is handed out before anything is said
 * about damage, and then the byte of the packed file is said as well.  Memory is bounded
 * by RS_UNPACK_WINDOW_LOG whatever a file claims to need.
 *
 * The first half is for whoever reads compressed files; the second for whoever adds a
 * format.
 */
#ifndef RS_UNPACK_H
#define RS_UNPACK_H

#include <glib.h>

/* The longest beginning that a format is known by. */
#define RS_UNPACK_MAGIC_BYTES 6

/* How far back packed data may refer, as a power of two: 128 MiB, as the commands of
 * these formats allow without being asked. */
#define RS_UNPACK_WINDOW_LOG 27

typedef struct rs_unpacker rs_unpacker;

/* Where packed bytes come from: reads at most `n_bytes`; 0 is the end, for a good or a
 * bad reason. */
typedef gsize (*rs_unpack_source)(gpointer ctx, guint8 *into, gsize n_bytes);

/* Whether a file that begins with these bytes can be unpacked here. */
gboolean
rs_unpack_recognise(const guint8 *bytes, gsize n_bytes);

/* Why a file that begins with these bytes cannot be read although it is compressed, in a
 * few words that follow its name; the caller's to g_free().  NULL: it is nothing that is
 * known to be compressed. */
char *
rs_unpack_refusal(const guint8 *bytes, gsize n_bytes);

/* Unpacks `begun`, which has been read already and is copied, and then what `source`
 * gives. */
rs_unpacker *
rs_unpacker_new(rs_unpack_source source, gpointer ctx, const guint8 *begun,
                gsize n_begun);

/* NULL is fine. */
void
rs_unpacker_free(rs_unpacker *unpacker);

/* Unpacks at most `n_bytes`, at least one, and returns how many; 0 for ever at the end,
 * good or bad.  Reads no more than is needed for the first of them. */
gsize
rs_unpacker_read(rs_unpacker *unpacker, guint8 *into, gsize n_bytes);

/* What a file that ended was found to be. */
typedef enum rs_unpack_end {
    RS_UNPACK_GOOD,
    RS_UNPACK_DAMAGED,
    RS_UNPACK_REFUSED, /* it may be whole, but is not to be unpacked here */
} rs_unpack_end;

/* Why rs_unpacker_read() returned 0; `why` is set unless that was a good end, and lives
 * as long as the unpacker. */
rs_unpack_end
rs_unpacker_end(const rs_unpacker *unpacker, const char **why);

/* Packed bytes unpacked so far; at a bad end, where that is. */
guint64
rs_unpacker_position(const rs_unpacker *unpacker);

/* The format of the newest member: "gzip"; static. */
const char *
rs_unpacker_format(const rs_unpacker *unpacker);

/* Whether that is one which takes long to unpack. */
gboolean
rs_unpacker_takes_long(const rs_unpacker *unpacker);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(rs_unpacker, rs_unpacker_free)

/* ---- For implementers ---- */

/* What a step consumes and fills: all four move on. */
typedef struct rs_unpack_io {
    const guint8 *in;
    gsize n_in;
    guint8 *out;
    gsize n_out;
} rs_unpack_io;

typedef enum rs_unpack_status {
    RS_UNPACK_GOES_ON,
    RS_UNPACK_MEMBER_END,
    RS_UNPACK_MEMBER_BAD,
    RS_UNPACK_MEMBER_REFUSED, /* it may be good, and needs what is not to be had here */
} rs_unpack_status;

/* How one kind of member is unpacked. */
typedef struct rs_codec {
    const char *name;
    guint8 n_magic_bytes;
    guint8 any_bits; /* of the first byte, that may be anything */
    guint8 magic[RS_UNPACK_MAGIC_BYTES];
    gboolean takes_long; /* longer than what is unpacked takes to be analyzed */
    /* What it keeps from one step to the next; NULL if there is no memory for it. */
    gpointer (*open)(void);
    /* Gets ready for a member, the first or another; FALSE if there is no memory. */
    gboolean (*begin)(gpointer state);
    /* Goes on with it.  `io->n_out` is never 0; a step that neither consumes nor fills
     * anything asks for more input.  What was unpacked in front of damage is filled in
     * by the step that tells of it, or by one before.  `why` is set to static text, or
     * text of the state's, when the answer is bad. */
    rs_unpack_status (*run)(gpointer state, rs_unpack_io *io, const char **why);
    void (*close)(gpointer state);
} rs_codec;

extern const rs_codec rs_codec_gzip;
extern const rs_codec rs_codec_zstd;
extern const rs_codec rs_codec_lz4;
extern const rs_codec rs_codec_xz;
extern const rs_codec rs_codec_skippable; /* frames of zstd and lz4 without content */

/* How much to give a library that returned `hint`: what it needs next and
 * `n_header_bytes` of what comes then.  Some lose what they unpacked of the one when the
 * other is bad, and say no place but where the call began; so each comes by itself. */
static inline gsize
rs_unpack_portion(const rs_unpack_io *io, gsize hint, gsize n_header_bytes)
{
    return MIN(io->n_in, hint > n_header_bytes ? hint - n_header_bytes : hint);
}

/* Moves on. */
static inline void
rs_unpack_done(rs_unpack_io *io, gsize n_consumed, gsize n_filled)
{
    io->in += n_consumed;
    io->n_in -= n_consumed;
    io->out += n_filled;
    io->n_out -= n_filled;
}

#endif
