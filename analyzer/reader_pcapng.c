/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pcapng files (draft-ietf-opsawg-pcapng), read block by block.
 *
 * libpcap reads pcapng too, but refuses interfaces whose link types or snap lengths
 * differ and hides drop counters, link speeds, directions and comments, which are
 * wanted here.
 *
 * The one rule: bytes are read through a cursor that cannot leave its block.  A read
 * beyond the end gives zeros and marks the cursor bad, which is asked about once, when
 * the block has been read.
 *
 * A file is a row of sections, each of which begins with a section header and has its
 * own byte order and its own interfaces, numbered from 0.  Here interfaces are numbered
 * on through all sections.  Every block:
 *
 *   type 4, length 4 (of all of it, a multiple of 4), body, length 4 again
 *
 *   section header   byte-order magic 4, major 2, minor 2, section length 8, options
 *   interface        see pcapng_interface.h
 *   statistics       the same
 *   enhanced packet  interface 4, time high 4, low 4, captured 4, wire 4, bytes, options
 *   old packet       interface 2, drops 2, and the same from there
 *   simple packet    wire 4, bytes; of interface 0, and without a time
 *
 * Packet bytes are padded to a multiple of 4.  Other blocks are passed over.  The section
 * length is not used: it may be unknown, and sections follow one another anyway.
 *
 * Most packets are plain: enhanced, without options, whole in the window.  They take a
 * short way, which only asks for what it needs; all others, and the end, the general one.
 */
#include "cursor.h"
#include "pcapng.h"
#include "pcapng_interface.h"
#include "pcapng_option.h"
#include "reader.h"

#include <string.h>

#define MIN_BLOCK_BYTES 12u
#define PACKET_HEADER_BYTES 28u /* of an enhanced packet, in front of its bytes */
#define PLAIN_BLOCK_BYTES 32u   /* and behind them, without options */
#define MAX_BLOCK_BYTES (64u * 1024u * 1024u)
#define MAX_INTERFACES 65536u
#define UNKNOWN_DROPS_16 0xffffu

typedef struct rs_reader_pcapng {
    rs_reader base;
    gint byte_order;       /* of this section */
    guint first_interface; /* of this section */
    guint n_sections;
    guint64 newest_ns;   /* the newest stamp */
    gboolean has_stamps; /* there is one */
    GString *comment;
} rs_reader_pcapng;

typedef struct ng_block {
    guint64 offset;
    guint32 type;
    rs_cursor body;
} ng_block;

typedef struct packet_fields {
    guint32 local; /* interface, as its section counts */
    guint drops;
    guint64 ticks;
    guint32 captured;
    guint32 wire;
} packet_fields;

/* What the options of a packet say. */
typedef struct packet_options {
    guint32 flags;
    guint fcs_bytes;
    const char *comment;
} packet_options;

/* What a block meant to whoever asked for a packet. */
typedef enum ng_outcome {
    OUTCOME_DAMAGE = -1,
    OUTCOME_NOTHING = 0,
    OUTCOME_FRAME = 1,
} ng_outcome;

/* ---- Blocks ---- */

static ng_outcome
damage(rs_reader_pcapng *self, const ng_block *in, const char *what, GError **error)
{
    rs_reader_damage(&self->base, in->offset, error, "%s", what);
    return OUTCOME_DAMAGE;
}

/* Fewer bytes than a block needs. */
static ng_outcome
end_within_block(rs_reader_pcapng *self, const ng_block *in, gsize n_bytes,
                 gsize wanted, GError **error)
{
    if (!rs_reader_input_failed(&self->base, error)) {
        rs_reader_damage(&self->base, in->offset, error,
                         "the file ends within a block: of its %" G_GSIZE_FORMAT
                         " bytes %" G_GSIZE_FORMAT " are there",
                         wanted, n_bytes);
    }
    return OUTCOME_DAMAGE;
}

/* The byte order of a section that begins here. */
static gboolean
set_byte_order(rs_reader_pcapng *self, const guint8 *header)
{
    const guint8 *magic = header + 8;
    gboolean big = rs_load_u32(magic, G_BIG_ENDIAN) == RS_PCAPNG_BYTE_ORDER_MAGIC;
    self->byte_order = big ? G_BIG_ENDIAN : G_LITTLE_ENDIAN;
    return rs_load_u32(magic, self->byte_order) == RS_PCAPNG_BYTE_ORDER_MAGIC;
}

static gboolean
length_possible(guint32 length)
{
    return length >= MIN_BLOCK_BYTES && length <= MAX_BLOCK_BYTES && length % 4 == 0;
}

/* Reads the block that begins with the `n_bytes` at `header`. */
static ng_outcome
read_block_here(rs_reader_pcapng *self, const guint8 *header, ng_block *into,
                GError **error)
{
    into->type = rs_load_u32(header, self->byte_order);
    if (rs_pcap_recognise(header)) { /* no block has such a type */
        return damage(self, into, RS_ANOTHER_CAPTURE, error);
    }
    if (into->type == RS_PCAPNG_SECTION && !set_byte_order(self, header)) {
        return damage(self, into, "a section without byte-order magic", error);
    }
    guint32 length = rs_load_u32(header + 4, self->byte_order);
    if (!length_possible(length)) {
        rs_reader_damage(&self->base, into->offset, error,
                         "a block of type %u claims %u bytes", into->type, length);
        return OUTCOME_DAMAGE;
    }
    const guint8 *bytes;
    gsize n_bytes = rs_input_peek(self->base.input, length, &bytes);
    if (n_bytes < length) {
        return end_within_block(self, into, n_bytes, length, error);
    }
    guint32 repeated = rs_load_u32(bytes + length - 4, self->byte_order);
    if (repeated != length) {
        rs_reader_damage(
            &self->base, into->offset, error,
            "a block begins with a length of %u bytes and ends with one of %u", length,
            repeated);
        return OUTCOME_DAMAGE;
    }
    into->body =
        (rs_cursor){bytes + 8, length - MIN_BLOCK_BYTES, self->byte_order, FALSE};
    rs_input_skip(self->base.input, length);
    return OUTCOME_FRAME;
}

/* OUTCOME_NOTHING is the good end of the file. */
static ng_outcome
read_block(rs_reader_pcapng *self, ng_block *into, GError **error)
{
    const guint8 *header;
    into->offset = self->base.offset = rs_input_offset(self->base.input);
    gsize n_bytes = rs_input_peek(self->base.input, MIN_BLOCK_BYTES, &header);
    if (n_bytes >= MIN_BLOCK_BYTES) {
        return read_block_here(self, header, into, error);
    }
    if (n_bytes == 0 && !rs_input_error(self->base.input)) {
        return OUTCOME_NOTHING;
    }
    return end_within_block(self, into, n_bytes, MIN_BLOCK_BYTES, error);
}

/* ---- Sections and interfaces ---- */

/* Options that are damaged are none: nothing that is needed stands in them. */
static void
read_section_options(rs_reader_pcapng *self, ng_block *section)
{
    for (rs_pcapng_option option; rs_pcapng_next_option(&section->body, &option);) {
        if (option.code == RS_PCAPNG_OPTION_COMMENT) {
            g_autofree char *text = rs_pcapng_option_text(&option);
            self->base.has_gaps |= g_str_has_prefix(text, RS_PCAPNG_GAPS_COMMENT);
        }
    }
}

static ng_outcome
begin_section(rs_reader_pcapng *self, ng_block *section, GError **error)
{
    rs_cursor_u32(&section->body); /* the byte-order magic, known already */
    guint major = rs_cursor_u16(&section->body);
    guint minor = rs_cursor_u16(&section->body);
    rs_cursor_u64(&section->body); /* section length */
    if (section->body.bad) {
        return damage(self, section, "a section header that is too short", error);
    }
    if (major != 1) {
        g_set_error(error, RS_ERROR, RS_ERROR_UNSUPPORTED,
                    "%s: is pcapng of version %u.%u at byte %" G_GUINT64_FORMAT
                    ", which is not supported",
                    rs_input_name(self->base.input), major, minor, section->offset);
        return OUTCOME_DAMAGE;
    }
    self->first_interface = self->base.interfaces->len;
    self->n_sections++;
    read_section_options(self, section);
    return OUTCOME_NOTHING;
}

static ng_outcome
add_interface(rs_reader_pcapng *self, ng_block *described, GError **error)
{
    if (self->base.interfaces->len >= MAX_INTERFACES) {
        return damage(self, described, "more interfaces than any capture has", error);
    }
    rs_pcapng_interface *added = g_new0(rs_pcapng_interface, 1);
    g_ptr_array_add(self->base.interfaces, added);
    const char *wrong = rs_pcapng_interface_describe(added, &described->body);
    added->base.section = self->first_interface;
    added->base.section_number = self->n_sections;
    return wrong ? damage(self, described, wrong, error) : OUTCOME_NOTHING;
}

/* By its number in this section; NULL if there is none. */
static rs_pcapng_interface *
find_interface(const rs_reader_pcapng *self, guint32 local)
{
    guint n_local = self->base.interfaces->len - self->first_interface;
    if (local >= n_local) {
        return NULL;
    }
    return g_ptr_array_index(self->base.interfaces, self->first_interface + local);
}

static ng_outcome
missing_interface(rs_reader_pcapng *self, const ng_block *in, guint32 local,
                  GError **error)
{
    rs_reader_damage(&self->base, in->offset, error,
                     "a block belongs to interface %u, and the section has %u so far",
                     local, self->base.interfaces->len - self->first_interface);
    return OUTCOME_DAMAGE;
}

static ng_outcome
read_statistics(rs_reader_pcapng *self, ng_block *statistics, GError **error)
{
    rs_cursor *body = &statistics->body;
    guint32 local = rs_cursor_u32(body);
    rs_cursor_u64(body); /* when they were taken */
    rs_pcapng_interface *of = find_interface(self, local);
    if (!of && !body->bad) {
        return missing_interface(self, statistics, local, error);
    }
    const char *wrong = rs_pcapng_interface_count(of, body); /* none, if it is bad */
    return wrong ? damage(self, statistics, wrong, error) : OUTCOME_NOTHING;
}

/* ---- Time ---- */

/* One or several packets have stamps: those without one that came before them came between
 * the newest stamp and the first of these. */
static void
take_stamps(rs_reader_pcapng *self, guint64 first_ns, guint64 last_ns)
{
    rs_reader *base = &self->base;
    if (base->unstamped_is_open) {
        guint64 apart_ns =
            MAX(first_ns, self->newest_ns) - MIN(first_ns, self->newest_ns);
        base->unstamped_ns = MAX(base->unstamped_ns, MIN(apart_ns, RS_NO_STAMPS_NS));
        base->unstamped_is_open = FALSE;
    }
    self->newest_ns = last_ns;
    self->has_stamps = TRUE;
}

/* A packet has none.  Of what comes before the first stamp nothing says when it came. */
static void
miss_stamp(rs_reader_pcapng *self)
{
    self->base.unstamped_is_open = TRUE;
    if (!self->has_stamps) {
        self->base.unstamped_ns = RS_NO_STAMPS_NS;
    }
}

/* ---- Packets ---- */

/* Bits 1:0 direction, 8:5 FCS length in bytes or 0. */
static roce_direction
direction_of(guint32 flags)
{
    static const roce_direction directions[] = {
        ROCE_DIRECTION_UNKNOWN,
        ROCE_DIRECTION_IN,
        ROCE_DIRECTION_OUT,
        ROCE_DIRECTION_UNKNOWN,
    };
    return directions[flags & 3];
}

static void
add_comment(rs_reader_pcapng *self, packet_options *into,
            const rs_pcapng_option *option)
{
    g_autofree char *text = rs_pcapng_option_text(option);
    if (into->comment) {
        g_string_append_c(self->comment, '\n');
    } else {
        g_string_truncate(self->comment, 0);
    }
    g_string_append(self->comment, text);
    into->comment = self->comment->str;
}

static packet_options
read_packet_options(rs_reader_pcapng *self, ng_block *packet, rs_pcapng_interface *at)
{
    packet_options options = {.fcs_bytes = at->base.fcs_bytes};
    for (rs_pcapng_option option; rs_pcapng_next_option(&packet->body, &option);) {
        if (option.code == RS_PCAPNG_OPTION_COMMENT) {
            add_comment(self, &options, &option);
        } else if (option.code == RS_PCAPNG_PACKET_FLAGS && option.value.n_left == 4) {
            options.flags = rs_cursor_u32(&option.value);
            guint declared = (options.flags >> 5) & 15;
            options.fcs_bytes = declared > 0 ? declared : options.fcs_bytes;
        } else if (option.code == RS_PCAPNG_PACKET_DROPS && option.value.n_left == 8 &&
                   packet->type == RS_PCAPNG_ENHANCED_PACKET) {
            rs_pcapng_interface_drop(at, rs_cursor_u64(&option.value));
        }
    }
    return options;
}

/* Lengths that cannot be, in words; NULL if they can. */
static const char *
impossible_lengths(const rs_interface *interface, guint32 captured, guint32 wire)
{
    if (interface->link == ROCE_LINK_UNSUPPORTED) {
        return NULL; /* some of those do have frames of many megabytes */
    }
    if (captured > RS_MAX_CAPTURED_BYTES) {
        return "a packet claims more captured bytes than any frame has";
    }
    if (wire > RS_MAX_WIRE_BYTES) {
        return "a packet claims more bytes on the wire than any frame has";
    }
    return NULL;
}

/* The fields before the bytes.  The old block differs in its first four bytes alone. */
static packet_fields
take_packet_fields(ng_block *packet)
{
    rs_cursor *body = &packet->body;
    packet_fields fields = {.drops = UNKNOWN_DROPS_16};
    if (packet->type == RS_PCAPNG_OLD_PACKET) {
        fields.local = rs_cursor_u16(body);
        fields.drops = rs_cursor_u16(body);
    } else {
        fields.local = rs_cursor_u32(body);
    }
    fields.ticks = (guint64)rs_cursor_u32(body) << 32;
    fields.ticks |= rs_cursor_u32(body);
    fields.captured = rs_cursor_u32(body);
    fields.wire = rs_cursor_u32(body);
    return fields;
}

static ng_outcome
read_packet(rs_reader_pcapng *self, ng_block *packet, rs_record *record, GError **error)
{
    rs_cursor *body = &packet->body;
    const packet_fields fields = take_packet_fields(packet);
    rs_pcapng_interface *at = find_interface(self, fields.local);
    if (body->bad) {
        return damage(self, packet, "a packet block that is too short", error);
    }
    if (!at) {
        return missing_interface(self, packet, fields.local, error);
    }
    const char *impossible =
        impossible_lengths(&at->base, fields.captured, fields.wire);
    if (impossible) {
        return damage(self, packet, impossible, error);
    }
    const guint8 *bytes = rs_cursor_take(body, fields.captured);
    rs_pcapng_take_padding(body, fields.captured);
    packet_options options = {0};
    if (!body->bad) {
        options = read_packet_options(self, packet, at);
    }
    if (body->bad) {
        return damage(self, packet, "a packet that overruns its block", error);
    }
    if (fields.drops != UNKNOWN_DROPS_16) {
        rs_pcapng_interface_drop(at, fields.drops);
    }
    at->base.packets++;
    guint64 time_ns = rs_pcapng_interface_time_ns(at, fields.ticks);
    take_stamps(self, time_ns, time_ns);
    rs_record_fill(record, &(rs_stored){
                               .bytes = bytes,
                               .captured_bytes = fields.captured,
                               .wire_bytes = fields.wire,
                               .fcs_bytes = options.fcs_bytes,
                               .interface = self->first_interface + fields.local,
                               .link = at->base.link,
                               .time_ns = time_ns,
                               .ticks = fields.ticks,
                               .offset = packet->offset,
                           });
    record->flags = options.flags;
    record->frame.direction = direction_of(options.flags);
    record->comment = options.comment;
    return OUTCOME_FRAME;
}

static ng_outcome
read_simple_packet(rs_reader_pcapng *self, ng_block *packet, rs_record *record,
                   GError **error)
{
    rs_cursor *body = &packet->body;
    guint32 wire = rs_cursor_u32(body);
    rs_pcapng_interface *at = find_interface(self, 0);
    if (!at) {
        return missing_interface(self, packet, 0, error);
    }
    guint32 snaplen = at->base.snaplen ? at->base.snaplen : G_MAXUINT32;
    guint32 captured = MIN(wire, snaplen);
    const char *impossible = impossible_lengths(&at->base, captured, wire);
    if (impossible) {
        return damage(self, packet, impossible, error);
    }
    const guint8 *bytes = rs_cursor_take(body, captured);
    if (body->bad) {
        return damage(self, packet, "a packet that overruns its block", error);
    }
    at->base.packets++;
    at->base.unstamped++;
    miss_stamp(self);
    rs_record_fill(record, &(rs_stored){
                               .bytes = bytes,
                               .captured_bytes = captured,
                               .wire_bytes = wire,
                               .fcs_bytes = at->base.fcs_bytes,
                               .interface = self->first_interface,
                               .link = at->base.link,
                               .time_ns = self->newest_ns,
                               .ticks = rs_pcapng_interface_ticks(at, self->newest_ns),
                               .offset = packet->offset,
                           });
    return OUTCOME_FRAME;
}

/* ---- Plain packets ---- */

/* What packets are looked up in, which no record can be a part of. */
typedef struct section_view {
    rs_pcapng_interface *const *interfaces; /* of all sections */
    guint first_interface;
    guint n_local; /* in this one */
} section_view;

/* A packet in an enhanced block without options, all of it in the window and nothing
 * odd about it, if that begins here: how long its block is; else 0. */
static inline G_ALWAYS_INLINE gsize
take_plain(const section_view *section, gint byte_order, const guint8 *at, gsize n_left,
           guint64 offset, rs_record *record)
{
    if (n_left < PLAIN_BLOCK_BYTES ||
        rs_load_u32(at, byte_order) != RS_PCAPNG_ENHANCED_PACKET) {
        return 0;
    }
    const guint32 length = rs_load_u32(at + 4, byte_order);
    const guint32 local = rs_load_u32(at + 8, byte_order);
    const guint32 captured = rs_load_u32(at + 20, byte_order);
    const guint32 wire = rs_load_u32(at + 24, byte_order);
    if (captured > RS_MAX_CAPTURED_BYTES || wire > RS_MAX_WIRE_BYTES ||
        length != PLAIN_BLOCK_BYTES + (captured + 3) / 4 * 4 || length > n_left ||
        local >= section->n_local ||
        rs_load_u32(at + length - 4, byte_order) != length) {
        return 0;
    }
    rs_pcapng_interface *from = section->interfaces[section->first_interface + local];
    const guint64 ticks = (guint64)rs_load_u32(at + 12, byte_order) << 32 |
                          rs_load_u32(at + 16, byte_order);
    if (ticks >= from->end_of_plain_ticks) {
        return 0;
    }
    from->base.packets++;
    rs_record_fill(record, &(rs_stored){
                               .bytes = at + PACKET_HEADER_BYTES,
                               .captured_bytes = captured,
                               .wire_bytes = wire,
                               .fcs_bytes = from->base.fcs_bytes,
                               .interface = section->first_interface + local,
                               .link = from->base.link,
                               .time_ns = ticks * from->ns_per_tick,
                               .ticks = ticks,
                               .offset = offset,
                           });
    return length;
}

/* Takes the plain packets that stand in the window in a row. */
static inline G_ALWAYS_INLINE guint
take_plain_row(rs_reader_pcapng *self, gint byte_order, rs_record *records, guint max)
{
    const GPtrArray *all = self->base.interfaces;
    const section_view section = {
        .interfaces = (rs_pcapng_interface *const *)all->pdata,
        .first_interface = self->first_interface,
        .n_local = all->len - self->first_interface,
    };
    const guint8 *at;
    gsize n_left = rs_input_peek(self->base.input, 0, &at);
    guint64 offset = rs_input_offset(self->base.input);
    const guint64 begin = offset;
    guint n = 0;
    for (; n < max; n++) {
        gsize length =
            take_plain(&section, byte_order, at, n_left, offset, &records[n]);
        if (length == 0) {
            break;
        }
        at += length;
        n_left -= length;
        offset += length;
    }
    rs_input_skip(self->base.input, (gsize)(offset - begin));
    return n;
}

/* The same for each byte order by itself, so that no packet asks for it. */
static guint
take_plain_packets(rs_reader_pcapng *self, rs_record *records, guint max)
{
    guint n = self->byte_order == G_LITTLE_ENDIAN
                  ? take_plain_row(self, G_LITTLE_ENDIAN, records, max)
                  : take_plain_row(self, G_BIG_ENDIAN, records, max);
    if (n > 0) {
        self->base.offset = records[n - 1].offset;
        take_stamps(self, records[0].frame.time_ns, records[n - 1].frame.time_ns);
    }
    return n;
}

/* ---- The reader ---- */

static ng_outcome
handle_block(rs_reader_pcapng *self, ng_block *met, rs_record *record, GError **error)
{
    switch (met->type) {
    case RS_PCAPNG_SECTION:
        return begin_section(self, met, error);
    case RS_PCAPNG_INTERFACE:
        return add_interface(self, met, error);
    case RS_PCAPNG_ENHANCED_PACKET:
    case RS_PCAPNG_OLD_PACKET:
        return read_packet(self, met, record, error);
    case RS_PCAPNG_SIMPLE_PACKET:
        return read_simple_packet(self, met, record, error);
    case RS_PCAPNG_STATISTICS:
        return read_statistics(self, met, error);
    default: /* a number from the file, not an enum: there are many more */
        return OUTCOME_NOTHING;
    }
}

/* A good end, unless all packets are of link layers that are not known here: a classic file
 * of those is not even opened.  Which of its interfaces have packets a pcapng file does not
 * say before. */
static ng_outcome
end_file(const rs_reader_pcapng *self, GError **error)
{
    const rs_interface *unknown = NULL;
    for (guint i = 0; i < self->base.interfaces->len; i++) {
        const rs_interface *interface = rs_reader_interface(&self->base, i);
        if (interface->packets > 0 && interface->link != ROCE_LINK_UNSUPPORTED) {
            return OUTCOME_NOTHING;
        }
        unknown = unknown == NULL && interface->packets > 0 ? interface : unknown;
    }
    if (unknown == NULL) {
        return OUTCOME_NOTHING;
    }
    (void)rs_reader_refuse_link(&self->base, (guint32)unknown->link_type,
                                RS_ERROR_NOT_DECODED, error);
    return OUTCOME_DAMAGE;
}

/* Any packet, behind whatever other blocks. */
static int
take_packet(rs_reader_pcapng *self, rs_record *record, GError **error)
{
    ng_outcome outcome = OUTCOME_NOTHING;
    while (outcome == OUTCOME_NOTHING) {
        ng_block met;
        outcome = read_block(self, &met, error);
        if (outcome == OUTCOME_NOTHING) {
            outcome = end_file(self, error);
            break;
        }
        if (outcome == OUTCOME_DAMAGE) {
            break;
        }
        outcome = handle_block(self, &met, record, error);
    }
    return (int)outcome;
}

static int
pcapng_next_batch(rs_reader *reader, rs_record *records, guint max, GError **error)
{
    rs_reader_pcapng *self = (rs_reader_pcapng *)reader;
    guint n = take_plain_packets(self, records, max);
    return n > 0 ? (int)n : take_packet(self, records, error);
}

static void
pcapng_clear(rs_reader *reader)
{
    rs_reader_pcapng *self = (rs_reader_pcapng *)reader;
    g_string_free(self->comment, TRUE);
}

static const rs_reader_class pcapng_class = {pcapng_next_batch, pcapng_clear};

gboolean
rs_pcapng_recognise(const guint8 magic[4])
{
    static const guint8 section[4] = {0x0a, 0x0d, 0x0d, 0x0a};
    return memcmp(magic, section, sizeof section) == 0;
}

/* The first section is read here, so that what is no pcapng at all fails to open. */
rs_reader *
rs_pcapng_open(rs_input *input, GError **error)
{
    rs_reader_pcapng *self = g_new0(rs_reader_pcapng, 1);
    g_autoptr(rs_reader) reader = &self->base;
    rs_reader_init(reader, &pcapng_class, "pcapng", input);
    self->comment = g_string_new(NULL);
    ng_block first;
    if (read_block(self, &first, error) != OUTCOME_FRAME ||
        begin_section(self, &first, error) != OUTCOME_NOTHING) {
        return NULL;
    }
    return g_steal_pointer(&reader);
}
