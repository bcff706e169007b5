/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Packets of captures as a capture of their own, whatever its format.
 *
 * The one rule: what was read is written as it was: bytes with their FCS, both lengths,
 * ticks of time, flags and comments, each packet on an interface like its own.  Only what
 * is said about a packet comes to it.
 *
 * The first half is for whoever writes captures; the second for whoever adds a format.
 */
#ifndef RS_WRITER_H
#define RS_WRITER_H

#include "reader.h"

#include <glib.h>
#include <stdio.h>

/* An interface of the captures that are read.  Packets of equal `place` are of one. */
typedef struct rs_source {
    guint64 place;
    const rs_interface *interface;
    const char *name; /* for an interface that has none; NULL: it stays without */
} rs_source;

typedef struct rs_writer rs_writer;

/* Classic pcap, in ns where the interface's clock is finer than a microsecond.  It has
 * room for one interface and for no comments. */
rs_writer *
rs_pcap_writer_new(FILE *out);

/* pcapng: one section with all interfaces. */
rs_writer *
rs_pcapng_writer_new(FILE *out);

/* NULL is fine. */
void
rs_writer_free(rs_writer *writer);

/* Says of the capture, before anything of it is written, that packets were left out between
 * others of their connection; a format without comments cannot say it. */
void
rs_writer_tell_gaps(rs_writer *writer);

/* Writes a packet; `remark`, or NULL, is a further comment on it.  Fails for what the
 * format has no room for; write errors stay in the stream. */
gboolean
rs_writer_add(rs_writer *writer, const rs_source *source, const rs_record *record,
              const char *remark, GError **error);

/* Writes an interface, unless it has been, or the format has room for those of packets
 * alone: one without packets, too, is part of a capture. */
void
rs_writer_declare(rs_writer *writer, const rs_source *source);

/* What the capture dropped at an interface as its file ends, if the file says so; adds up
 * over the files of a place.  It is of all of the capture, whatever was written of it. */
void
rs_writer_drops(rs_writer *writer, const rs_source *source);

/* Packets written so far. */
guint64
rs_writer_packets(const rs_writer *writer);

/* Makes a whole file of it, even if there was no packet. */
void
rs_writer_finish(rs_writer *writer);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(rs_writer, rs_writer_free)

/* ---- For implementers ---- */

typedef struct rs_writer_class {
    /* Writes the beginning of the file: once, for the first interface, or for NULL if
     * there is none. */
    void (*begin)(rs_writer *writer, const rs_source *first);
    /* Writes an interface, behind the beginning. */
    void (*declare)(rs_writer *writer, const rs_source *source);
    /* Writes a packet of the interface with this number. */
    gboolean (*add)(rs_writer *writer, guint interface_i, const rs_record *record,
                    const char *remark, GError **error);
    /* Writes how many packets the capture dropped at an interface, by the time of these
     * ticks. */
    void (*drops)(rs_writer *writer, guint interface_i, guint64 ticks, guint64 dropped);
    /* Frees what the implementation holds. */
    void (*clear)(rs_writer *writer);
    guint max_interfaces;
} rs_writer_class;

/* First member of every writer.  Allocated with g_new0. */
struct rs_writer {
    const rs_writer_class *class;
    FILE *out;
    GArray *interfaces; /* of what has been written: see writer.c */
    gboolean begun;
    gboolean has_gaps; /* rs_writer_tell_gaps() */
    guint64 packets;
};

/* Fills in a fresh writer. */
void
rs_writer_init(rs_writer *writer, const rs_writer_class *class, FILE *out);

#endif
