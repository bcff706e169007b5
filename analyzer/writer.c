/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What all formats share: which interfaces have been written. */
#include "writer.h"

/* An interface of the file that is written, and what of it must not differ. */
typedef struct written_interface {
    guint64 place;
    int link_type;
    guint fcs_bytes;
    guint32 snaplen;
    guint64 ticks_per_second;
    gint64 ts_offset_s;
    guint64 newest_ticks; /* of its packets */
    guint64 dropped;
    gboolean dropped_known;
} written_interface;

void
rs_writer_init(rs_writer *writer, const rs_writer_class *class, FILE *out)
{
    writer->class = class;
    writer->out = out;
    writer->interfaces = g_array_new(FALSE, FALSE, sizeof(written_interface));
}

void
rs_writer_free(rs_writer *writer)
{
    if (writer == NULL) {
        return;
    }
    writer->class->clear(writer);
    g_array_unref(writer->interfaces);
    g_free(writer);
}

static gboolean
is_written(const written_interface *w, const rs_source *source)
{
    const rs_interface *i = source->interface;
    return w->place == source->place && w->link_type == i->link_type &&
           w->fcs_bytes == i->fcs_bytes && w->snaplen == i->snaplen &&
           w->ticks_per_second == i->ticks_per_second &&
           w->ts_offset_s == i->ts_offset_s;
}

/* The number of an interface in the file, the newest if it has several; or how many there
 * are, if it has none. */
static guint
find_interface(const rs_writer *writer, const rs_source *source)
{
    for (guint i = writer->interfaces->len; i-- > 0;) {
        if (is_written(&g_array_index(writer->interfaces, written_interface, i),
                       source)) {
            return i;
        }
    }
    return writer->interfaces->len;
}

/* Writes an interface that has not been written. */
static void
declare(rs_writer *writer, const rs_source *source)
{
    if (!writer->begun) {
        writer->begun = TRUE;
        writer->class->begin(writer, source);
    }
    writer->class->declare(writer, source);
    const rs_interface *interface = source->interface;
    const written_interface written = {
        .place = source->place,
        .link_type = interface->link_type,
        .fcs_bytes = interface->fcs_bytes,
        .snaplen = interface->snaplen,
        .ticks_per_second = interface->ticks_per_second,
        .ts_offset_s = interface->ts_offset_s,
    };
    g_array_append_val(writer->interfaces, written);
}

void
rs_writer_declare(rs_writer *writer, const rs_source *source)
{
    if (writer->class->max_interfaces > 1 &&
        find_interface(writer, source) == writer->interfaces->len) {
        declare(writer, source);
    }
}

void
rs_writer_tell_gaps(rs_writer *writer)
{
    writer->has_gaps = TRUE;
}

gboolean
rs_writer_add(rs_writer *writer, const rs_source *source, const rs_record *record,
              const char *remark, GError **error)
{
    const guint interface_i = find_interface(writer, source);
    if (interface_i >= writer->class->max_interfaces) {
        g_set_error(error, RS_ERROR, RS_ERROR_USAGE,
                    "these packets are of several interfaces, and this format has room "
                    "for one: write a .pcapng file");
        return FALSE;
    }
    if (interface_i == writer->interfaces->len) {
        declare(writer, source);
    }
    if (!writer->class->add(writer, interface_i, record, remark, error)) {
        return FALSE;
    }
    written_interface *written =
        &g_array_index(writer->interfaces, written_interface, interface_i);
    written->newest_ticks = MAX(written->newest_ticks, record->ticks);
    writer->packets++;
    return TRUE;
}

void
rs_writer_drops(rs_writer *writer, const rs_source *source)
{
    const guint interface_i = find_interface(writer, source);
    if (interface_i < writer->interfaces->len && source->interface->dropped_known) {
        written_interface *written =
            &g_array_index(writer->interfaces, written_interface, interface_i);
        written->dropped += source->interface->dropped;
        written->dropped_known = TRUE;
    }
}

guint64
rs_writer_packets(const rs_writer *writer)
{
    return writer->packets;
}

void
rs_writer_finish(rs_writer *writer)
{
    if (!writer->begun) {
        writer->begun = TRUE;
        writer->class->begin(writer, NULL);
    }
    for (guint i = 0; i < writer->interfaces->len; i++) {
        const written_interface *written =
            &g_array_index(writer->interfaces, written_interface, i);
        if (written->dropped_known) {
            writer->class->drops(writer, i, written->newest_ticks, written->dropped);
        }
    }
}
