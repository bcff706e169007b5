/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Classic capture files, read by libpcap.
 *
 * The one rule: libpcap parses, and what it does not tell is read beside it: the header
 * (magic, snap length, link type) before it starts, and each record's place and its
 * size in the file from how far the stream moved.
 *
 *   file       magic 4 (in the byte order of all that follows), major 2, minor 2,
 *              time zone 4, accuracy 4, snap length 4, link type 4, then records
 *   link type  bits 25:0 number, 26 FCS length known, 31:28 FCS length in 16-bit words
 *   record     header of 16 bytes (24 in the "modified" format of Kuznetzov's patches),
 *              captured bytes
 *
 * libpcap cuts a record that is longer than the file's snap length and goes on.  Such
 * files exist (a wrong snap length in the header), but so does damage that looks like
 * it, which would be delivered as a frame and followed by more.  Hence: a record longer
 * than the snap length is believed if it is no longer than any IP packet and than its
 * own wire length.
 *
 * Limitation: the direction that the modified format holds is not passed on by libpcap.
 */
#include "reader.h"

#include <errno.h>
#include <pcap/pcap.h>
#include <stdio.h>
#include <string.h>

#define FILE_HEADER_BYTES 24
#define MAX_IP_FRAME_BYTES 65600u /* 65535, and room for link headers */
#define NS_PER_S 1000000000
#define LINK_TYPE_MASK 0x03ffffffu
#define FCS_KNOWN_BIT 0x04000000u
#define FCS_WORDS_SHIFT 28

typedef struct variant {
    guint32 magic;
    const char *format;
    guint64 ticks_per_second;
    guint record_header_bytes; /* 0: nothing libpcap reads */
} variant;

static const variant variants[] = {
    {0xa1b2c3d4, "pcap", 1000000, 16},
    {0xa1b23c4d, "pcap-ns", 1000000000, 16},
    {0xa1b2cd34, "pcap-modified", 1000000, 24},
    {0xa1b234cd, "a modified pcap of F. Mesquita's", 0, 0},
    {0xa12b3c4d, "a pcap of Navtel's", 0, 0},
    {0x1c0001ac, "a pcap of IXIA's hardware", 0, 0},
    {0x1c0001ab, "a pcap of IXIA's software", 0, 0},
};

typedef struct rs_reader_pcap {
    rs_reader base;
    pcap_t *pcap;
    FILE *stream; /* closed by pcap_close() */
    guint64 next_offset;
    guint record_header_bytes;
} rs_reader_pcap;

typedef struct file_header {
    const variant *variant;
    guint32 snaplen;
    guint32 link_type;
    guint fcs_bytes;
} file_header;

/* ---- Opening ---- */

static guint32
load_32(const guint8 *at, gboolean big_endian)
{
    guint32 value;
    memcpy(&value, at, sizeof value);
    return big_endian ? GUINT32_FROM_BE(value) : GUINT32_FROM_LE(value);
}

static const variant *
find_variant(const guint8 magic[4], gboolean *big_endian)
{
    for (gsize i = 0; i < G_N_ELEMENTS(variants); i++) {
        *big_endian = load_32(magic, TRUE) == variants[i].magic;
        if (*big_endian || load_32(magic, FALSE) == variants[i].magic) {
            return &variants[i];
        }
    }
    return NULL;
}

gboolean
rs_pcap_recognise(const guint8 magic[4])
{
    gboolean big_endian;
    return find_variant(magic, &big_endian) != NULL;
}

static gboolean
read_header(rs_reader_pcap *self, file_header *header, GError **error)
{
    const guint8 *bytes;
    gsize n_bytes = rs_input_peek(self->base.input, FILE_HEADER_BYTES, &bytes);
    gboolean big_endian;
    header->variant = find_variant(bytes, &big_endian);
    if (header->variant->record_header_bytes == 0) {
        g_set_error(error, RS_ERROR, RS_ERROR_UNSUPPORTED,
                    "%s: is %s (magic %08x), which libpcap does not read; convert it "
                    "first, with editcap for one",
                    rs_input_name(self->base.input), header->variant->format,
                    header->variant->magic);
        return FALSE;
    }
    if (n_bytes < FILE_HEADER_BYTES) {
        if (!rs_reader_input_failed(&self->base, error)) {
            rs_reader_damage(
                &self->base, 0, error,
                "the file ends within its header: %u of %d bytes are there",
                (guint)n_bytes, FILE_HEADER_BYTES);
        }
        return FALSE;
    }
    guint32 link = load_32(bytes + 20, big_endian);
    header->snaplen = load_32(bytes + 16, big_endian);
    header->link_type = link & LINK_TYPE_MASK;
    header->fcs_bytes = link & FCS_KNOWN_BIT ? (link >> FCS_WORDS_SHIFT) * 2 : 0;
    return TRUE;
}

static gboolean
check_link(const rs_reader_pcap *self, guint32 link_type, GError **error)
{
    if (rs_link_from_type(link_type) != ROCE_LINK_UNSUPPORTED) {
        return TRUE;
    }
    const char *name = rs_link_type_name((int)link_type);
    g_set_error(error, RS_ERROR, RS_ERROR_UNSUPPORTED,
                "%s: has link type %u (%s), which is not supported",
                rs_input_name(self->base.input), link_type, name ? name : "unknown");
    return FALSE;
}

static gboolean
open_pcap(rs_reader_pcap *self, GError **error)
{
    const char *name = rs_input_name(self->base.input);
    self->stream = rs_input_stdio(self->base.input);
    if (!self->stream) {
        g_set_error(error, RS_ERROR, RS_ERROR_OPEN, "%s: %s", name, g_strerror(errno));
        return FALSE;
    }
    char why[PCAP_ERRBUF_SIZE] = "";
    self->pcap = pcap_fopen_offline_with_tstamp_precision(
        self->stream, PCAP_TSTAMP_PRECISION_NANO, why);
    if (!self->pcap) {
        fclose(self->stream);
        g_set_error(error, RS_ERROR, RS_ERROR_UNSUPPORTED,
                    "%s: is refused by libpcap: %s", name, why);
        return FALSE;
    }
    self->next_offset = (guint64)ftello(self->stream);
    return TRUE;
}

static const rs_reader_class pcap_class;

rs_reader *
rs_pcap_open(rs_input *input, GError **error)
{
    rs_reader_pcap *self = g_new0(rs_reader_pcap, 1);
    g_autoptr(rs_reader) reader = &self->base;
    rs_reader_init(reader, &pcap_class, NULL, input);
    file_header header;
    if (!read_header(self, &header, error) ||
        !check_link(self, header.link_type, error) || !open_pcap(self, error)) {
        return NULL;
    }
    reader->format = header.variant->format;
    self->record_header_bytes = header.variant->record_header_bytes;
    rs_interface *interface = g_new0(rs_interface, 1);
    *interface = (rs_interface){
        .link_type = (int)header.link_type,
        .link = rs_link_from_type(header.link_type),
        .snaplen = header.snaplen,
        .ticks_per_second = header.variant->ticks_per_second,
        .fcs_bytes = header.fcs_bytes,
    };
    g_ptr_array_add(reader->interfaces, interface);
    return g_steal_pointer(&reader);
}

/* ---- Reading ---- */

/* libpcap's complaints about damage in clearer words; others are passed on. */
static const struct {
    const char *pattern; /* for sscanf(), with two numbers that `words` may use */
    const char *words;
} complaints[] = {
    {"truncated dump file; tried to read %u header bytes, only got %u",
     "the file ends within a record's header: of its %u bytes %u are there"},
    {"truncated dump file; tried to read %u captured bytes, only got %u",
     "the file ends within a packet: of its %u bytes %u are there"},
    {"invalid packet capture length %u, bigger than maximum of %u",
     "a record claims %u captured bytes, more than any frame has"},
    {"invalid packet capture length %u, bigger than snaplen of %u",
     "a record claims %u captured bytes, more than any frame has"},
};

static int
report_damage(rs_reader_pcap *self, GError **error)
{
    if (rs_reader_input_failed(&self->base, error)) {
        return -1;
    }
    const char *complaint = pcap_geterr(self->pcap);
    for (gsize i = 0; i < G_N_ELEMENTS(complaints); i++) {
        guint a, b;
        if (sscanf(complaint, complaints[i].pattern, &a, &b) == 2) {
            g_autofree char *words = g_strdup_printf(complaints[i].words, a, b);
            return rs_reader_damage(&self->base, self->base.offset, error, "%s", words);
        }
    }
    return rs_reader_damage(&self->base, self->base.offset, error, "%s", complaint);
}

/* Seconds are unsigned in the file, though older versions of libpcap sign them. */
static guint64
time_ns(const struct timeval *stamp)
{
    gint64 ns = (gint64)(guint32)stamp->tv_sec * NS_PER_S + stamp->tv_usec;
    return ns < 0 ? 0 : (guint64)ns;
}

static gboolean
believable(guint64 stored_bytes, guint32 wire_bytes, guint32 snaplen)
{
    if (wire_bytes > RS_MAX_WIRE_BYTES) {
        return FALSE;
    }
    if (snaplen == 0 || stored_bytes <= snaplen) {
        return TRUE;
    }
    return stored_bytes <= MAX_IP_FRAME_BYTES && stored_bytes <= wire_bytes;
}

static int
pcap_next_record(rs_reader *reader, rs_record *record, GError **error)
{
    rs_reader_pcap *self = (rs_reader_pcap *)reader;
    const rs_interface *interface = g_ptr_array_index(reader->interfaces, 0);
    struct pcap_pkthdr *header;
    const u_char *bytes;
    reader->offset = self->next_offset;
    int status = pcap_next_ex(self->pcap, &header, &bytes);
    if (status == PCAP_ERROR_BREAK) {
        return 0;
    }
    if (status != 1) {
        return report_damage(self, error);
    }
    self->next_offset = (guint64)ftello(self->stream);
    guint64 stored = self->next_offset - reader->offset - self->record_header_bytes;
    if (!believable(stored, header->len, interface->snaplen)) {
        return rs_reader_damage(reader, reader->offset, error,
                                "a record claims %" G_GUINT64_FORMAT
                                " captured bytes of %u, with a snap length of %u",
                                stored, header->len, interface->snaplen);
    }
    record->offset = reader->offset;
    record->frame.bytes = bytes;
    record->frame.link = interface->link;
    record->frame.time_ns = time_ns(&header->ts);
    record->ticks = record->frame.time_ns / (NS_PER_S / interface->ticks_per_second);
    rs_record_set_lengths(record, header->caplen, header->len, interface->fcs_bytes);
    return 1;
}

static void
pcap_clear(rs_reader *reader)
{
    rs_reader_pcap *self = (rs_reader_pcap *)reader;
    if (self->pcap) {
        pcap_close(self->pcap);
    }
}

static const rs_reader_class pcap_class = {pcap_next_record, pcap_clear};
