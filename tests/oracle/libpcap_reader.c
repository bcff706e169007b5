/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * libpcap cuts a record that is longer than the file's snap length and goes on, and takes
 * the header of another file for a record.  Which of these are believed, and that a wire
 * length has a limit, are the analyzer's own rules; they are applied here to what libpcap
 * delivers.
 */
#include "libpcap_reader.h"

#include <errno.h>
#include <pcap/pcap.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>

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

typedef struct libpcap_reader {
    rs_reader base;
    pcap_t *pcap;
    gboolean big_endian;
    guint64 next_offset;
    guint record_header_bytes;
} libpcap_reader;

typedef struct file_header {
    const variant *variant;
    guint32 snaplen;
    guint32 link_type;
    guint fcs_bytes;
    gboolean big_endian;
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

static gboolean
read_header(libpcap_reader *self, file_header *header, GError **error)
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
    header->big_endian = big_endian;
    return TRUE;
}

static gboolean
check_link(const libpcap_reader *self, guint32 link_type, GError **error)
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

static ssize_t
stream_read(void *cookie, char *into, size_t n_bytes)
{
    rs_input *input = cookie;
    const guint8 *bytes;
    gsize n_there = rs_input_peek(input, 1, &bytes);
    if (n_there == 0 && rs_input_error(input) != NULL) {
        errno = EIO;
        return -1;
    }
    gsize n_read = MIN(n_bytes, n_there);
    memcpy(into, bytes, n_read);
    rs_input_skip(input, n_read);
    return (ssize_t)n_read;
}

/* Answers "where are you", which is all that ftello() asks. */
static int
stream_seek(void *cookie, off64_t *offset, int whence)
{
    const rs_input *input = cookie;
    if (*offset != 0 || whence != SEEK_CUR) {
        errno = ESPIPE;
        return -1;
    }
    *offset = (off64_t)rs_input_offset(input);
    return 0;
}

static pcap_t *
open_stream(rs_input *input, char *why)
{
    const cookie_io_functions_t functions = {.read = stream_read, .seek = stream_seek};
    FILE *stream = fopencookie(input, "r", functions);
    g_assert(stream != NULL);
    pcap_t *pcap = pcap_fopen_offline_with_tstamp_precision(
        stream, PCAP_TSTAMP_PRECISION_NANO, why);
    if (pcap == NULL) {
        fclose(stream);
    }
    return pcap;
}

pcap_t *
libpcap_open(rs_input *input)
{
    char why[PCAP_ERRBUF_SIZE];
    return open_stream(input, why);
}

static gboolean
open_pcap(libpcap_reader *self, GError **error)
{
    char why[PCAP_ERRBUF_SIZE] = "";
    self->pcap = open_stream(self->base.input, why);
    if (!self->pcap) {
        g_set_error(error, RS_ERROR, RS_ERROR_UNSUPPORTED,
                    "%s: is refused by libpcap: %s", rs_input_name(self->base.input),
                    why);
        return FALSE;
    }
    self->next_offset = (guint64)ftello(pcap_file(self->pcap));
    return TRUE;
}

static const rs_reader_class libpcap_class;

static rs_reader *
open_input(rs_input *input, GError **error)
{
    libpcap_reader *self = g_new0(libpcap_reader, 1);
    g_autoptr(rs_reader) reader = &self->base;
    rs_reader_init(reader, &libpcap_class, NULL, input);
    file_header header;
    if (!read_header(self, &header, error) ||
        !check_link(self, header.link_type, error) || !open_pcap(self, error)) {
        return NULL;
    }
    reader->format = header.variant->format;
    self->record_header_bytes = header.variant->record_header_bytes;
    self->big_endian = header.big_endian;
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
report_damage(libpcap_reader *self, GError **error)
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

/* Seconds are unsigned in the file, though older versions of libpcap sign them.  Of the
 * fraction libpcap says either, by the byte order; signed is what we have. */
static guint64
time_ns(const struct timeval *stamp, guint64 ticks_per_second)
{
    gint64 ns_per_tick = NS_PER_S / (gint64)ticks_per_second;
    gint32 fraction = (gint32)(stamp->tv_usec / ns_per_tick);
    gint64 ns = (gint64)(guint32)stamp->tv_sec * NS_PER_S + fraction * ns_per_tick;
    return ns < 0 ? 0 : (guint64)ns;
}

/* As the file has it. */
static guint32
fraction_of(const struct timeval *stamp, guint64 ticks_per_second)
{
    return (guint32)(stamp->tv_usec / (NS_PER_S / (gint64)ticks_per_second));
}

/* Whether what libpcap took for an empty record is the header of another file: magic and
 * version stand where the time does, zeros where the lengths do. */
static gboolean
is_file_header(const libpcap_reader *self, const struct pcap_pkthdr *header)
{
    const rs_interface *interface = rs_reader_interface(&self->base, 0);
    const guint32 words[] = {(guint32)header->ts.tv_sec,
                             fraction_of(&header->ts, interface->ticks_per_second)};
    guint8 bytes[sizeof words];
    for (gsize i = 0; i < sizeof bytes; i++) {
        guint shift = (guint)(self->big_endian ? 3 - i % 4 : i % 4) * 8;
        bytes[i] = (guint8)(words[i / 4] >> shift);
    }
    gboolean big;
    const variant *found = find_variant(bytes, &big);
    guint version = big ? load_32(bytes + 4, TRUE)
                        : (guint)bytes[5] << 24 | (guint)bytes[4] << 16 |
                              (guint)bytes[7] << 8 | bytes[6];
    return header->caplen == 0 && header->len == 0 && found != NULL &&
           found->record_header_bytes > 0 &&
           ((version >= 0x20000 && version <= 0x20004) || version == 0x21f0000);
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
next_record(rs_reader *reader, rs_record *records, guint max, GError **error)
{
    libpcap_reader *self = (libpcap_reader *)reader;
    rs_interface *interface = g_ptr_array_index(reader->interfaces, 0);
    (void)max; /* one at a time */
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
    if (is_file_header(self, header)) {
        return rs_reader_damage(reader, reader->offset, error, RS_ANOTHER_CAPTURE);
    }
    self->next_offset = (guint64)ftello(pcap_file(self->pcap));
    guint64 stored = self->next_offset - reader->offset - self->record_header_bytes;
    if (!believable(stored, header->len, interface->snaplen)) {
        return rs_reader_damage(reader, reader->offset, error,
                                "a record claims %" G_GUINT64_FORMAT
                                " captured bytes of %u, with a snap length of %u",
                                stored, header->len, interface->snaplen);
    }
    guint64 ns = time_ns(&header->ts, interface->ticks_per_second);
    rs_record_fill(&records[0],
                   &(rs_stored){
                       .bytes = bytes,
                       .captured_bytes = header->caplen,
                       .wire_bytes = header->len,
                       .fcs_bytes = interface->fcs_bytes,
                       .link = interface->link,
                       .time_ns = ns,
                       .ticks = ns / (NS_PER_S / interface->ticks_per_second),
                       .offset = reader->offset,
                   });
    interface->packets++;
    return 1;
}

static void
clear(rs_reader *reader)
{
    libpcap_reader *self = (libpcap_reader *)reader;
    if (self->pcap) {
        pcap_close(self->pcap);
    }
}

static const rs_reader_class libpcap_class = {next_record, clear};

rs_reader *
libpcap_reader_open(const char *path, GError **error)
{
    g_autoptr(rs_input) input = rs_input_open(path, error);
    if (input == NULL) {
        return NULL;
    }
    const guint8 *magic;
    gboolean big_endian;
    if (rs_input_peek(input, 4, &magic) < 4 || !find_variant(magic, &big_endian)) {
        return NULL;
    }
    return open_input(g_steal_pointer(&input), error);
}
