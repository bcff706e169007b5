/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Capture files as a sequence of frames: what all readers share.
 *
 * The one rule is reader.h's: what stands before damage is delivered.  The end, good or
 * bad, is kept here, so that no reader is ever asked again once it has ended.
 */
#include "reader.h"

#include <pcap/pcap.h>
#include <string.h>

#define MAGIC_BYTES 4
#define NS_PER_S 1000000000u

static const struct {
    gboolean (*recognise)(const guint8 magic[4]);
    rs_reader *(*open)(rs_input *input, GError **error);
} formats[] = {
    {rs_pcap_recognise, rs_pcap_open},
    {rs_pcapng_recognise, rs_pcapng_open},
};

/* LINKTYPE_ values from the registry that libpcap and the pcapng drafts share.  12 and
 * 14 are raw IP as old versions of libpcap wrote it on some systems. */
static const struct {
    guint32 type;
    roce_link link;
} links[] = {
    {1, ROCE_LINK_ETHERNET},   {113, ROCE_LINK_SLL}, {276, ROCE_LINK_SLL2},
    {101, ROCE_LINK_RAW},      {228, ROCE_LINK_RAW}, {229, ROCE_LINK_RAW},
    {12, ROCE_LINK_RAW},       {14, ROCE_LINK_RAW},  {0, ROCE_LINK_LOOPBACK},
    {108, ROCE_LINK_LOOPBACK}, {9, ROCE_LINK_PPP},   {50, ROCE_LINK_PPP},
};

/* ---- For implementers ---- */

static void
free_interface(gpointer data)
{
    rs_interface *interface = data;
    g_free(interface->name);
    g_free(interface->description);
    g_free(interface);
}

void
rs_reader_init(rs_reader *reader, const rs_reader_class *class, const char *format,
               rs_input *input)
{
    reader->class = class;
    reader->format = format;
    reader->input = input;
    reader->interfaces = g_ptr_array_new_with_free_func(free_interface);
}

roce_link
rs_link_from_type(guint32 link_type)
{
    for (gsize i = 0; i < G_N_ELEMENTS(links); i++) {
        if (links[i].type == link_type) {
            return links[i].link;
        }
    }
    return ROCE_LINK_UNSUPPORTED;
}

int
rs_reader_damage(rs_reader *reader, guint64 offset, GError **error, const char *format,
                 ...)
{
    va_list arguments;
    va_start(arguments, format);
    g_autofree char *what = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    reader->offset = offset;
    g_set_error(error, RS_ERROR, RS_ERROR_DAMAGED,
                "%s: damaged at byte %" G_GUINT64_FORMAT "%s: %s",
                rs_input_name(reader->input), offset,
                rs_input_is_packed(reader->input) ? " of what it unpacks to" : "",
                what);
    return -1;
}

gboolean
rs_reader_refuse_link(const rs_reader *reader, guint32 link_type, rs_error code,
                      GError **error)
{
    const char *name = rs_link_type_name((int)link_type);
    g_set_error(error, RS_ERROR, (gint)code,
                "%s: has link type %u (%s), which is not supported",
                rs_input_name(reader->input), link_type, name ? name : "unknown");
    return FALSE;
}

gboolean
rs_reader_input_failed(const rs_reader *reader, GError **error)
{
    const GError *why = rs_input_error(reader->input);
    if (!why) {
        return FALSE;
    }
    g_propagate_error(error, g_error_copy(why));
    return TRUE;
}

/* ---- For everybody ---- */

static void
refuse_unknown(const rs_input *input, const guint8 *bytes, gsize n_bytes,
               GError **error)
{
    g_autoptr(GString) shown = g_string_new(NULL);
    for (gsize i = 0; i < MIN(n_bytes, MAGIC_BYTES); i++) {
        g_string_append_printf(shown, " %02x", bytes[i]);
    }
    g_set_error(error, RS_ERROR, RS_ERROR_NOT_CAPTURE,
                "%s: is not a capture file: begins with%s", rs_input_name(input),
                shown->str);
}

static void
refuse_empty(const rs_input *input, GError **error)
{
    const GError *why = rs_input_error(input);
    if (why) {
        g_propagate_error(error, g_error_copy(why));
        return;
    }
    g_set_error(error, RS_ERROR, RS_ERROR_EMPTY, "%s: is empty", rs_input_name(input));
}

rs_reader *
rs_reader_open(const char *path, GError **error)
{
    g_autoptr(rs_input) input = rs_input_open(path, error);
    if (!input) {
        return NULL;
    }
    const guint8 *bytes;
    gsize n_bytes = rs_input_peek(input, MAGIC_BYTES, &bytes);
    if (n_bytes == 0) {
        refuse_empty(input, error);
        return NULL;
    }
    for (gsize i = 0; n_bytes >= MAGIC_BYTES && i < G_N_ELEMENTS(formats); i++) {
        if (formats[i].recognise(bytes)) {
            return formats[i].open(g_steal_pointer(&input), error);
        }
    }
    refuse_unknown(input, bytes, n_bytes, error);
    return NULL;
}

void
rs_reader_close(rs_reader *reader)
{
    if (!reader) {
        return;
    }
    reader->class->clear(reader);
    g_ptr_array_unref(reader->interfaces);
    rs_input_close(reader->input);
    g_free(reader);
}

gboolean
rs_reader_read_ahead(rs_reader *reader)
{
    return !reader->ended && rs_input_read_ahead(reader->input);
}

gboolean
rs_reader_takes_long(const rs_reader *reader)
{
    return rs_input_takes_long(reader->input);
}

int
rs_reader_next_batch(rs_reader *reader, rs_record *records, guint max, GError **error)
{
    if (reader->ended) {
        return 0;
    }
    int n = reader->class->next_batch(reader, records, max, error);
    reader->ended = n <= 0;
    return n;
}

int
rs_reader_next(rs_reader *reader, rs_record *record, GError **error)
{
    return rs_reader_next_batch(reader, record, 1, error);
}

const char *
rs_reader_format(const rs_reader *reader)
{
    return reader->format;
}

guint
rs_reader_n_interfaces(const rs_reader *reader)
{
    return reader->interfaces->len;
}

const rs_interface *
rs_reader_interface(const rs_reader *reader, guint interface_i)
{
    g_assert(interface_i < reader->interfaces->len);
    return g_ptr_array_index(reader->interfaces, interface_i);
}

guint64
rs_reader_resolution_ns(const rs_reader *reader)
{
    guint64 slowest_used = 0;
    guint64 slowest = 0;
    if (reader->unstamped_is_open) {
        return RS_NO_STAMPS_NS;
    }
    for (guint i = 0; i < reader->interfaces->len; i++) {
        const rs_interface *interface = g_ptr_array_index(reader->interfaces, i);
        guint64 ticks = interface->ticks_per_second;
        if (slowest == 0 || ticks < slowest) {
            slowest = ticks;
        }
        if (interface->packets > 0 && (slowest_used == 0 || ticks < slowest_used)) {
            slowest_used = ticks;
        }
    }
    guint64 ticks = slowest_used ? slowest_used : slowest;
    if (ticks == 0) {
        return 0;
    }
    return MAX(NS_PER_S / ticks + (NS_PER_S % ticks != 0), reader->unstamped_ns);
}

guint64
rs_reader_unstamped(const rs_reader *reader)
{
    guint64 sum = 0;
    for (guint i = 0; i < reader->interfaces->len; i++) {
        sum += rs_reader_interface(reader, i)->unstamped;
    }
    return sum;
}

guint64
rs_reader_offset(const rs_reader *reader)
{
    return reader->offset;
}

gboolean
rs_reader_has_gaps(const rs_reader *reader)
{
    return reader->has_gaps;
}

guint64
rs_reader_position(const rs_reader *reader)
{
    return rs_input_position(reader->input);
}

guint64
rs_reader_file_bytes(const rs_reader *reader)
{
    return rs_input_file_bytes(reader->input);
}

const char *
rs_link_type_name(int link_type)
{
    const int linktype_raw = 101; /* the one of ours whose DLT_ value differs */
    return pcap_datalink_val_to_name(link_type == linktype_raw ? DLT_RAW : link_type);
}
