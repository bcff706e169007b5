/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pcapng, little-endian; its layout is in reader_pcapng.c.
 *
 * Each block is made in memory first, since its length stands in front of it.
 */
#include "pcapng.h"
#include "rocescope_version.h"
#include "writer.h"

#include <string.h>

#define MAX_OPTION_BYTES 65535u

typedef struct pcapng_writer {
    rs_writer base;
    GByteArray *block;
} pcapng_writer;

/* ---- Blocks ---- */

static void
put_16(GByteArray *block, guint value)
{
    guint16 stored = GUINT16_TO_LE((guint16)value);
    g_byte_array_append(block, (const guint8 *)&stored, sizeof stored);
}

static void
put_32(GByteArray *block, guint32 value)
{
    guint32 stored = GUINT32_TO_LE(value);
    g_byte_array_append(block, (const guint8 *)&stored, sizeof stored);
}

static void
put_64(GByteArray *block, guint64 value)
{
    guint64 stored = GUINT64_TO_LE(value);
    g_byte_array_append(block, (const guint8 *)&stored, sizeof stored);
}

/* Bytes, and zeros up to a multiple of 4. */
static void
put_padded(GByteArray *block, const void *bytes, guint n_bytes)
{
    static const guint8 zeros[4];
    g_byte_array_append(block, bytes, n_bytes);
    g_byte_array_append(block, zeros, (4 - n_bytes % 4) % 4);
}

static GByteArray *
begin_block(rs_writer *writer, guint32 type)
{
    GByteArray *block = ((pcapng_writer *)writer)->block;
    g_byte_array_set_size(block, 0);
    put_32(block, type);
    put_32(block, 0); /* its length, known at its end */
    return block;
}

static void
end_block(rs_writer *writer)
{
    GByteArray *block = ((pcapng_writer *)writer)->block;
    guint32 length = block->len + 4;
    put_32(block, length);
    length = GUINT32_TO_LE(length);
    memcpy(block->data + 4, &length, sizeof length);
    (void)fwrite(block->data, 1, block->len, writer->out);
}

/* ---- Options ---- */

static void
put_option(GByteArray *block, guint code, const void *value, guint n_bytes)
{
    put_16(block, code);
    put_16(block, n_bytes);
    put_padded(block, value, n_bytes);
}

static void
put_option_64(GByteArray *block, guint code, guint64 value)
{
    guint64 stored = GUINT64_TO_LE(value);
    put_option(block, code, &stored, sizeof stored);
}

static void
put_option_8(GByteArray *block, guint code, guint value)
{
    guint8 stored = (guint8)value;
    put_option(block, code, &stored, sizeof stored);
}

/* Text, or NULL for none; of what is too long, whole characters. */
static void
put_option_text(GByteArray *block, guint code, const char *text)
{
    if (text == NULL || *text == '\0') {
        return;
    }
    gsize length = strlen(text);
    if (length > MAX_OPTION_BYTES) {
        const char *end = g_utf8_find_prev_char(text, text + MAX_OPTION_BYTES + 1);
        length = end != NULL ? (gsize)(end - text) : 0;
    }
    put_option(block, code, text, (guint)length);
}

static void
end_options(GByteArray *block)
{
    put_option(block, RS_PCAPNG_OPTION_END, "", 0);
}

/* if_tsresol: an exponent of 10, or with its highest bit set one of 2. */
static guint
resolution_code(guint64 ticks_per_second)
{
    guint exponent = 0;
    for (guint64 left = ticks_per_second; left > 1; left /= 10) {
        if (left % 10 != 0) {
            return 0x80u | (g_bit_storage((gulong)ticks_per_second) - 1);
        }
        exponent++;
    }
    return exponent;
}

/* ---- The writer ---- */

static void
pcapng_begin(rs_writer *writer, const rs_source *first)
{
    (void)first;
    GByteArray *block = begin_block(writer, RS_PCAPNG_SECTION);
    put_32(block, RS_PCAPNG_BYTE_ORDER_MAGIC);
    put_16(block, 1); /* version 1.0 */
    put_16(block, 0);
    put_64(block, G_MAXUINT64); /* of unknown length */
    if (writer->has_gaps) {
        put_option_text(block, RS_PCAPNG_OPTION_COMMENT,
                        RS_PCAPNG_GAPS_COMMENT
                        "packets were left out between others of their connection; "
                        "comments on packets say what the analysis of all of them "
                        "said");
    }
    put_option_text(block, RS_PCAPNG_SECTION_APPLICATION,
                    "rocescope " ROCESCOPE_VERSION);
    end_options(block);
    end_block(writer);
}

static void
pcapng_declare(rs_writer *writer, const rs_source *source)
{
    const rs_interface *i = source->interface;
    GByteArray *block = begin_block(writer, RS_PCAPNG_INTERFACE);
    put_16(block, (guint)i->link_type);
    put_16(block, 0);
    put_32(block, i->snaplen);
    put_option_text(block, RS_PCAPNG_IF_NAME, i->name != NULL ? i->name : source->name);
    put_option_text(block, RS_PCAPNG_IF_DESCRIPTION, i->description);
    if (i->speed_bps != 0) {
        put_option_64(block, RS_PCAPNG_IF_SPEED, i->speed_bps);
    }
    put_option_8(block, RS_PCAPNG_IF_TSRESOL, resolution_code(i->ticks_per_second));
    if (i->fcs_bytes != 0) {
        put_option_8(block, RS_PCAPNG_IF_FCSLEN, i->fcs_bytes);
    }
    if (i->ts_offset_s != 0) {
        put_option_64(block, RS_PCAPNG_IF_TSOFFSET, (guint64)i->ts_offset_s);
    }
    end_options(block);
    end_block(writer);
}

static gboolean
pcapng_add(rs_writer *writer, guint interface_i, const rs_record *record,
           const char *remark, GError **error)
{
    (void)error;
    GByteArray *block = begin_block(writer, RS_PCAPNG_ENHANCED_PACKET);
    put_32(block, interface_i);
    put_32(block, (guint32)(record->ticks >> 32));
    put_32(block, (guint32)record->ticks);
    put_32(block, record->stored_bytes);
    put_32(block, record->stored_wire_bytes);
    put_padded(block, record->frame.bytes, record->stored_bytes);
    put_option_text(block, RS_PCAPNG_OPTION_COMMENT, record->comment);
    put_option_text(block, RS_PCAPNG_OPTION_COMMENT, remark);
    if (record->flags != 0) {
        guint32 flags = GUINT32_TO_LE(record->flags);
        put_option(block, RS_PCAPNG_PACKET_FLAGS, &flags, sizeof flags);
    }
    if (record->comment != NULL || remark != NULL || record->flags != 0) {
        end_options(block);
    }
    end_block(writer);
    return TRUE;
}

static void
pcapng_drops(rs_writer *writer, guint interface_i, guint64 ticks, guint64 dropped)
{
    GByteArray *block = begin_block(writer, RS_PCAPNG_STATISTICS);
    put_32(block, interface_i);
    put_32(block, (guint32)(ticks >> 32));
    put_32(block, (guint32)ticks);
    put_option_64(block, RS_PCAPNG_STATISTICS_IFDROP, dropped);
    end_options(block);
    end_block(writer);
}

static void
pcapng_clear(rs_writer *writer)
{
    g_byte_array_unref(((pcapng_writer *)writer)->block);
}

rs_writer *
rs_pcapng_writer_new(FILE *out)
{
    static const rs_writer_class class = {
        .begin = pcapng_begin,
        .declare = pcapng_declare,
        .add = pcapng_add,
        .drops = pcapng_drops,
        .clear = pcapng_clear,
        .max_interfaces = G_MAXUINT,
    };
    pcapng_writer *self = g_new0(pcapng_writer, 1);
    rs_writer_init(&self->base, &class, out);
    self->block = g_byte_array_new();
    return &self->base;
}
