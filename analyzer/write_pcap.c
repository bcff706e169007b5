/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Classic pcap, little-endian; its layout is in reader_pcap.c.
 *
 * The header speaks for all packets, so it is written with the first interface, and there
 * is no room for another one.
 */
#include "writer.h"

#define NS_PER_S 1000000000u
#define MAGIC_US 0xa1b2c3d4u
#define MAGIC_NS 0xa1b23c4du
#define FCS_KNOWN_BIT 0x04000000u
#define FCS_WORDS_SHIFT 28
#define LINK_TYPE_ETHERNET 1u
#define SNAPLEN_ANY 262144u

typedef struct pcap_writer {
    rs_writer base;
    guint32 ticks_per_second; /* of the file */
} pcap_writer;

static void
put_32(FILE *out, guint32 value)
{
    guint32 stored = GUINT32_TO_LE(value);
    (void)fwrite(&stored, sizeof stored, 1, out);
}

static void
pcap_begin(rs_writer *writer, const rs_source *first)
{
    static const rs_interface none = {.link_type = LINK_TYPE_ETHERNET,
                                      .ticks_per_second = NS_PER_S};
    pcap_writer *self = (pcap_writer *)writer;
    const rs_interface *interface = first != NULL ? first->interface : &none;
    const gboolean fine = interface->ticks_per_second > 1000000;
    const guint32 fcs_words = interface->fcs_bytes / 2;
    self->ticks_per_second = fine ? NS_PER_S : 1000000;
    put_32(writer->out, fine ? MAGIC_NS : MAGIC_US);
    put_32(writer->out, 4 << 16 | 2); /* version 2.4 */
    put_32(writer->out, 0);
    put_32(writer->out, 0);
    put_32(writer->out, interface->snaplen != 0 ? interface->snaplen : SNAPLEN_ANY);
    put_32(writer->out,
           (guint32)interface->link_type |
               (fcs_words > 0 ? FCS_KNOWN_BIT | fcs_words << FCS_WORDS_SHIFT : 0));
}

/* The header has told of it. */
static void
pcap_declare(rs_writer *writer, const rs_source *source)
{
    (void)writer;
    (void)source;
}

static gboolean
pcap_add(rs_writer *writer, guint interface_i, const rs_record *record,
         const char *remark, GError **error)
{
    (void)interface_i;
    (void)remark;
    const pcap_writer *self = (const pcap_writer *)writer;
    const guint64 seconds = record->frame.time_ns / NS_PER_S;
    const guint64 rest_ns = record->frame.time_ns % NS_PER_S;
    if (seconds > G_MAXUINT32) {
        g_set_error(error, RS_ERROR, RS_ERROR_USAGE,
                    "this format has no room for time stamps beyond 2106: write a "
                    ".pcapng file");
        return FALSE;
    }
    put_32(writer->out, (guint32)seconds);
    put_32(writer->out, (guint32)(rest_ns / (NS_PER_S / self->ticks_per_second)));
    put_32(writer->out, record->stored_bytes);
    put_32(writer->out, record->stored_wire_bytes);
    (void)fwrite(record->frame.bytes, 1, record->stored_bytes, writer->out);
    return TRUE;
}

/* There is no place for it. */
static void
pcap_drops(rs_writer *writer, guint interface_i, guint64 ticks, guint64 dropped)
{
    (void)writer;
    (void)interface_i;
    (void)ticks;
    (void)dropped;
}

static void
pcap_clear(rs_writer *writer)
{
    (void)writer;
}

rs_writer *
rs_pcap_writer_new(FILE *out)
{
    static const rs_writer_class class = {
        .begin = pcap_begin,
        .declare = pcap_declare,
        .add = pcap_add,
        .drops = pcap_drops,
        .clear = pcap_clear,
        .max_interfaces = 1,
    };
    pcap_writer *self = g_new0(pcap_writer, 1);
    rs_writer_init(&self->base, &class, out);
    return &self->base;
}
