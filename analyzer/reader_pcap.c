/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Classic capture files, read where they stand in the input's window.
 *
 *   file       magic 4 (in the byte order of all that follows), major 2, minor 2,
 *              time zone 4, accuracy 4, snap length 4, link type 4, then records
 *   link type  bits 25:0 number, 26 FCS length known, 31:28 FCS length in 16-bit words
 *   record     seconds 4, fraction 4, captured 4, wire 4, 8 more in the "modified"
 *              format of Kuznetzov's patches, captured bytes
 *
 * The one rule: the same records as libpcap's, to which the tests compare.  Its rules:
 *
 *   versions   2.0 to 2.4; 543.0 of DG/UX.  Before 2.3 and in 543.0 the two lengths of a
 *              record are swapped; in 2.3 where the first is the larger one.
 *   lengths    no record is longer than RS_MAX_CAPTURED_BYTES.  What is longer than the
 *              file's snap length is cut to it; in the modified format with Ethernet the
 *              limit is 14 bytes higher, for the header that its patches made up.
 *
 * Files with records beyond the snap length exist (a wrong snap length in the header),
 * but so does damage that looks like it, which would be delivered as a frame and followed
 * by more.  Hence, beyond libpcap: such a record is believed if it is no longer than any
 * IP packet and than its own wire length, and no record is if its wire length is beyond
 * RS_MAX_WIRE_BYTES.
 *
 * Nearly all records are plain: whole in the window and within the snap length.  They take
 * a short way; all others, and the end, the general one.
 *
 * Limitation: the direction that the modified format holds is not used.
 */
#include "cursor.h"
#include "reader.h"

#include <string.h>

#define FILE_HEADER_BYTES 24
#define RECORD_HEADER_BYTES 16
#define MODIFIED_HEADER_BYTES 24
#define MADE_UP_HEADER_BYTES 14
#define MAX_IP_FRAME_BYTES 65600u /* 65535, and room for link headers */
#define NS_PER_S G_GUINT64_CONSTANT(1000000000)
#define LINK_TYPE_MASK 0x03ffffffu
#define LINK_TYPE_ETHERNET 1
#define FCS_KNOWN_BIT 0x04000000u
#define FCS_WORDS_SHIFT 28

typedef struct variant {
    guint32 magic;
    const char *format;
    gint64 ticks_per_second;
    guint record_header_bytes; /* 0: nothing libpcap reads */
} variant;

static const variant variants[] = {
    {0xa1b2c3d4, "pcap", 1000000, RECORD_HEADER_BYTES},
    {0xa1b23c4d, "pcap-ns", 1000000000, RECORD_HEADER_BYTES},
    {0xa1b2cd34, "pcap-modified", 1000000, MODIFIED_HEADER_BYTES},
    {0xa1b234cd, "a modified pcap of F. Mesquita's", 0, 0},
    {0xa12b3c4d, "a pcap of Navtel's", 0, 0},
    {0x1c0001ac, "a pcap of IXIA's hardware", 0, 0},
    {0x1c0001ab, "a pcap of IXIA's software", 0, 0},
};

/* In which order a record's two lengths stand. */
typedef enum length_order {
    CAPTURED_FIRST,
    WIRE_FIRST,
    SMALLER_FIRST,
} length_order;

typedef struct file_header {
    const variant *variant;
    gint byte_order; /* G_LITTLE_ENDIAN or G_BIG_ENDIAN */
    guint major, minor;
    guint32 snaplen;
    guint32 link_type;
    guint fcs_bytes;
} file_header;

/* What holds for all records of a file. */
typedef struct file_rules {
    gint byte_order;
    length_order length_order;
    guint record_header_bytes;
    guint fcs_bytes;
    guint32 most_kept_bytes; /* of a record; the rest is cut off */
    guint32
        most_plain_bytes; /* a plain record has captured 1 to so many; 0: none is plain */
    gint64 ticks_per_second;
    guint64 ns_per_tick;
    roce_link link;
} file_rules;

typedef struct rs_reader_pcap {
    rs_reader base;
    rs_interface *interface; /* the only one; of base.interfaces */
    file_rules rules;
} rs_reader_pcap;

/* ---- Opening ---- */

static const variant *
find_variant(const guint8 magic[4], gint *byte_order)
{
    static const gint orders[] = {G_LITTLE_ENDIAN, G_BIG_ENDIAN};
    for (gsize i = 0; i < G_N_ELEMENTS(variants) * G_N_ELEMENTS(orders); i++) {
        const variant *candidate = &variants[i / G_N_ELEMENTS(orders)];
        *byte_order = orders[i % G_N_ELEMENTS(orders)];
        if (rs_load_u32(magic, *byte_order) == candidate->magic) {
            return candidate;
        }
    }
    return NULL;
}

gboolean
rs_pcap_recognise(const guint8 magic[4])
{
    gint byte_order;
    return find_variant(magic, &byte_order) != NULL;
}

static gboolean
take_header(rs_reader *reader, file_header *header, GError **error)
{
    const guint8 *bytes;
    gsize n_bytes = rs_input_peek(reader->input, FILE_HEADER_BYTES, &bytes);
    gint order;
    header->variant = find_variant(bytes, &order);
    if (header->variant->record_header_bytes == 0) {
        g_set_error(error, RS_ERROR, RS_ERROR_UNSUPPORTED,
                    "%s: is %s (magic %08x), which libpcap does not read; convert it "
                    "first, with editcap for one",
                    rs_input_name(reader->input), header->variant->format,
                    header->variant->magic);
        return FALSE;
    }
    if (n_bytes < FILE_HEADER_BYTES) {
        if (!rs_reader_input_failed(reader, error)) {
            rs_reader_damage(
                reader, 0, error,
                "the file ends within its header: %u of %d bytes are there",
                (guint)n_bytes, FILE_HEADER_BYTES);
        }
        return FALSE;
    }
    guint32 link = rs_load_u32(bytes + 20, order);
    header->byte_order = order;
    header->major = rs_load_u16(bytes + 4, order);
    header->minor = rs_load_u16(bytes + 6, order);
    header->snaplen = rs_load_u32(bytes + 16, order);
    header->link_type = link & LINK_TYPE_MASK;
    header->fcs_bytes = link & FCS_KNOWN_BIT ? (link >> FCS_WORDS_SHIFT) * 2 : 0;
    rs_input_skip(reader->input, FILE_HEADER_BYTES);
    return TRUE;
}

static gboolean
check_link(const rs_reader *reader, guint32 link_type, GError **error)
{
    return rs_link_from_type(link_type) != ROCE_LINK_UNSUPPORTED ||
           rs_reader_refuse_link(reader, link_type, RS_ERROR_UNSUPPORTED, error);
}

static gboolean
is_known_version(guint major, guint minor)
{
    return (major == 2 && minor <= 4) || (major == 543 && minor == 0);
}

static gboolean
check_version(const rs_reader *reader, const file_header *header, GError **error)
{
    const char *name = rs_input_name(reader->input);
    if (header->major < 2) {
        g_set_error(error, RS_ERROR, RS_ERROR_UNSUPPORTED,
                    "%s: is refused by libpcap: archaic pcap savefile format", name);
        return FALSE;
    }
    gboolean known = is_known_version(header->major, header->minor);
    if (!known) {
        g_set_error(error, RS_ERROR, RS_ERROR_UNSUPPORTED,
                    "%s: is refused by libpcap: unsupported pcap savefile version "
                    "%u.%u",
                    name, header->major, header->minor);
    }
    return known;
}

static length_order
order_of_lengths(const file_header *header)
{
    if (header->major != 2 || header->minor < 3) {
        return WIRE_FIRST;
    }
    return header->minor == 3 ? SMALLER_FIRST : CAPTURED_FIRST;
}

static guint32
most_kept(const file_header *header)
{
    guint32 most = header->snaplen;
    if (most == 0 || most > RS_MAX_CAPTURED_BYTES) {
        return RS_MAX_CAPTURED_BYTES;
    }
    gboolean modified = header->variant->record_header_bytes == MODIFIED_HEADER_BYTES;
    return modified && header->link_type == LINK_TYPE_ETHERNET
               ? most + MADE_UP_HEADER_BYTES
               : most;
}

static file_rules
rules_of(const file_header *header)
{
    file_rules rules = {
        .byte_order = header->byte_order,
        .length_order = order_of_lengths(header),
        .record_header_bytes = header->variant->record_header_bytes,
        .fcs_bytes = header->fcs_bytes,
        .most_kept_bytes = most_kept(header),
        .ticks_per_second = header->variant->ticks_per_second,
        .ns_per_tick = NS_PER_S / (guint64)header->variant->ticks_per_second,
        .link = rs_link_from_type(header->link_type),
    };
    if (rules.length_order == CAPTURED_FIRST) {
        guint32 snaplen = header->snaplen ? header->snaplen : G_MAXUINT32;
        rules.most_plain_bytes = MIN(snaplen, RS_MAX_CAPTURED_BYTES);
    }
    return rules;
}

static rs_interface *
make_interface(const file_header *header)
{
    rs_interface *interface = g_new(rs_interface, 1);
    *interface = (rs_interface){
        .link_type = (int)header->link_type,
        .link = rs_link_from_type(header->link_type),
        .snaplen = header->snaplen,
        .ticks_per_second = (guint64)header->variant->ticks_per_second,
        .fcs_bytes = header->fcs_bytes,
    };
    return interface;
}

static const rs_reader_class pcap_class;

rs_reader *
rs_pcap_open(rs_input *input, GError **error)
{
    rs_reader_pcap *self = g_new0(rs_reader_pcap, 1);
    g_autoptr(rs_reader) reader = &self->base;
    rs_reader_init(reader, &pcap_class, NULL, input);
    file_header header;
    if (!take_header(reader, &header, error) ||
        !check_link(reader, header.link_type, error) ||
        !check_version(reader, &header, error)) {
        return NULL;
    }
    reader->format = header.variant->format;
    self->rules = rules_of(&header);
    self->interface = make_interface(&header);
    g_ptr_array_add(reader->interfaces, self->interface);
    return g_steal_pointer(&reader);
}

/* ---- Reading ---- */

/* Seconds are unsigned in the file, though older versions of libpcap sign them.  Nothing
 * but damage makes a fraction negative; libpcap says so too, but for files of the other
 * byte order. */
typedef struct record_header {
    guint32 seconds;
    gint32 fraction;
    guint32 captured;
    guint32 wire;
} record_header;

static inline G_ALWAYS_INLINE record_header
load_header(const guint8 *at, gint byte_order)
{
    return (record_header){
        .seconds = rs_load_u32(at, byte_order),
        .fraction = (gint32)rs_load_u32(at + 4, byte_order),
        .captured = rs_load_u32(at + 8, byte_order),
        .wire = rs_load_u32(at + 12, byte_order),
    };
}

/* The record of a header that stands `at`, with as many bytes as are kept of it. */
static inline G_ALWAYS_INLINE void
fill_record(const file_rules *rules, const record_header *header, guint32 kept_bytes,
            const guint8 *at, guint64 offset, rs_record *record)
{
    gint64 ticks = header->seconds * rules->ticks_per_second + header->fraction;
    ticks = MAX(ticks, 0);
    rs_record_fill(record, &(rs_stored){
                               .bytes = at + rules->record_header_bytes,
                               .captured_bytes = kept_bytes,
                               .wire_bytes = header->wire,
                               .fcs_bytes = rules->fcs_bytes,
                               .link = rules->link,
                               .time_ns = (guint64)ticks * rules->ns_per_tick,
                               .ticks = (guint64)ticks,
                               .offset = offset,
                           });
}

/* Takes the plain records that stand in the window in a row.  One that is empty is none,
 * as it may be the header of another file; 0 - 1 is more than any length. */
static inline G_ALWAYS_INLINE guint
take_plain(rs_reader_pcap *self, gint byte_order, rs_record *records, guint max)
{
    const file_rules rules = self->rules; /* which no record can be a part of */
    const guint8 *begin;
    const gsize n_bytes = rs_input_peek(self->base.input, 0, &begin);
    const guint8 *const end = begin + n_bytes;
    const guint64 offset = rs_input_offset(self->base.input);
    const guint8 *at = begin;
    guint n = 0;
    for (; n < max && (gsize)(end - at) >= rules.record_header_bytes; n++) {
        const record_header header = load_header(at, byte_order);
        const gsize length = rules.record_header_bytes + (gsize)header.captured;
        if (header.captured - 1 >= rules.most_plain_bytes ||
            header.wire > RS_MAX_WIRE_BYTES || length > (gsize)(end - at)) {
            break;
        }
        fill_record(&rules, &header, header.captured, at,
                    offset + (guint64)(at - begin), &records[n]);
        at += length;
    }
    rs_input_skip(self->base.input, (gsize)(at - begin));
    return n;
}

/* For each byte order by itself, so that no record asks for it. */
static guint
take_plain_little(rs_reader_pcap *self, rs_record *records, guint max)
{
    return take_plain(self, G_LITTLE_ENDIAN, records, max);
}

static guint
take_plain_big(rs_reader_pcap *self, rs_record *records, guint max)
{
    return take_plain(self, G_BIG_ENDIAN, records, max);
}

/* Puts the lengths in order that old versions of the format swapped. */
static void
order_lengths(const rs_reader_pcap *self, record_header *header)
{
    gboolean swapped =
        self->rules.length_order == WIRE_FIRST ||
        (self->rules.length_order == SMALLER_FIRST && header->captured > header->wire);
    if (swapped) {
        guint32 wire = header->captured;
        header->captured = header->wire;
        header->wire = wire;
    }
}

/* The input is shorter than the record that begins where it stands; or at its end. */
static int
end_of_input(rs_reader_pcap *self, gsize n_bytes, const record_header *header,
             GError **error)
{
    rs_reader *reader = &self->base;
    if (rs_reader_input_failed(reader, error)) {
        return -1;
    }
    if (n_bytes == 0) {
        return 0;
    }
    if (header == NULL) {
        return rs_reader_damage(
            reader, reader->offset, error,
            "the file ends within a record's header: of its %u bytes %u are there",
            self->rules.record_header_bytes, (guint)n_bytes);
    }
    guint32 there = (guint32)(n_bytes - self->rules.record_header_bytes);
    guint32 kept = MIN(header->captured, self->rules.most_kept_bytes);
    return rs_reader_damage(
        reader, reader->offset, error,
        "the file ends within a packet: of its %u bytes %u are there",
        there < kept ? kept : header->captured, there);
}

/* Whether the header of another capture stands where a record's ought to be, as behind
 * "cat A B": a magic, a version that there is, and zeros, as all writers have them.  It
 * would be the header of an empty record of the year 2055 or 2082. */
static gboolean
begins_capture(const guint8 *at)
{
    static const guint8 zeros[8] = {0};
    gint order;
    const variant *found = find_variant(at, &order);
    return found != NULL && found->record_header_bytes > 0 &&
           is_known_version(rs_load_u16(at + 4, order), rs_load_u16(at + 6, order)) &&
           memcmp(at + 8, zeros, sizeof zeros) == 0;
}

static gboolean
believable(const record_header *header, guint32 snaplen)
{
    if (header->wire > RS_MAX_WIRE_BYTES) {
        return FALSE;
    }
    if (snaplen == 0 || header->captured <= snaplen) {
        return TRUE;
    }
    return header->captured <= MAX_IP_FRAME_BYTES && header->captured <= header->wire;
}

/* Any record, whatever has to be read for it. */
static int
take_record(rs_reader_pcap *self, rs_record *record, GError **error)
{
    rs_reader *reader = &self->base;
    const guint8 *bytes;
    gsize n_bytes =
        rs_input_peek(reader->input, self->rules.record_header_bytes, &bytes);
    reader->offset = rs_input_offset(reader->input);
    if (n_bytes < self->rules.record_header_bytes) {
        return end_of_input(self, n_bytes, NULL, error);
    }
    if (begins_capture(bytes)) {
        return rs_reader_damage(reader, reader->offset, error, RS_ANOTHER_CAPTURE);
    }
    record_header header = load_header(bytes, self->rules.byte_order);
    order_lengths(self, &header);
    if (header.captured > RS_MAX_CAPTURED_BYTES) {
        return rs_reader_damage(
            reader, reader->offset, error,
            "a record claims %u captured bytes, more than any frame has",
            header.captured);
    }
    gsize length = self->rules.record_header_bytes + (gsize)header.captured;
    n_bytes = rs_input_peek(reader->input, length, &bytes);
    if (n_bytes < length) {
        return end_of_input(self, n_bytes, &header, error);
    }
    if (!believable(&header, self->interface->snaplen)) {
        return rs_reader_damage(reader, reader->offset, error,
                                "a record claims %u captured bytes of %u, with a snap "
                                "length of %u",
                                header.captured, header.wire, self->interface->snaplen);
    }
    fill_record(&self->rules, &header,
                MIN(header.captured, self->rules.most_kept_bytes), bytes,
                reader->offset, record);
    rs_input_skip(reader->input, length);
    self->interface->packets++;
    return 1;
}

static int
pcap_next_batch(rs_reader *reader, rs_record *records, guint max, GError **error)
{
    rs_reader_pcap *self = (rs_reader_pcap *)reader;
    guint n = self->rules.byte_order == G_LITTLE_ENDIAN
                  ? take_plain_little(self, records, max)
                  : take_plain_big(self, records, max);
    if (n == 0) {
        return take_record(self, records, error);
    }
    reader->offset = records[n - 1].offset;
    self->interface->packets += n;
    return (int)n;
}

static void
pcap_clear(rs_reader *reader)
{
    (void)reader; /* holds nothing of its own */
}

static const rs_reader_class pcap_class = {pcap_next_batch, pcap_clear};
