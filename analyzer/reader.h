/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Capture files as a sequence of frames, whatever their format.
 *
 * The one rule: what stands before damage is delivered.  A reader hands out frame after
 * frame; only when the next one cannot be had does it say why, in one line with the
 * file and the byte, and then it is at its end.
 *
 * The first half is for whoever reads captures; the second for whoever adds a format.
 */
#ifndef RS_READER_H
#define RS_READER_H

#include "error.h"
#include "input.h"

#include "roce/packet.h"

#include <glib.h>

/* One interface of a capture.  A classic file has exactly one; of a pcapng file those
 * of all sections are numbered on, in file order. */
typedef struct rs_interface {
    char *name;        /* NULL unknown; valid UTF-8 without control characters */
    char *description; /* the same */
    int link_type;     /* LINKTYPE_ value, as the file has it */
    roce_link link;
    guint32 snaplen;   /* 0: no limit */
    guint64 speed_bps; /* 0 unknown */
    guint64 ticks_per_second;
    gint64 ts_offset_s;     /* added to every time stamp */
    guint64 packets;        /* delivered so far */
    guint64 dropped;        /* by the capture, as far as the file said so up to here */
    gboolean dropped_known; /* whether it said anything */
    guint fcs_bytes; /* at the end of each frame; cut off before it is delivered */
    guint
        section; /* of a pcapng that has several: more than that of those before it ... */
    guint section_number; /* ... and as Wireshark counts, from 1; 0: there are none */
    guint64 unstamped;    /* of the packets that were delivered, without a time */
} rs_interface;

/* A frame and where it stood.  Valid until the next call for the same reader. */
typedef struct rs_record {
    roce_frame frame; /* `number` and `point` are 0: they are the caller's to give */
    guint interface;
    guint64 offset;      /* of the record in the file, unpacked */
    const char *comment; /* NULL none; several are joined by newlines; valid UTF-8 */
    /* As the file has them, for whoever writes the record to another one: lengths with the
     * FCS, time in ticks of the interface, without its offset, and pcapng's flags or 0. */
    guint32 stored_bytes, stored_wire_bytes;
    guint64 ticks;
    guint32 flags;
} rs_record;

typedef struct rs_reader rs_reader;

/* Opens a capture; "-" is standard input.  The format is known from the first bytes,
 * never from the name. */
rs_reader *
rs_reader_open(const char *path, GError **error);

/* As rs_input_read_ahead(), for what it reads. */
gboolean
rs_reader_read_ahead(rs_reader *reader);

/* Whether to unpack the file takes longer than to analyze what it has. */
gboolean
rs_reader_takes_long(const rs_reader *reader);

/* NULL is fine. */
void
rs_reader_close(rs_reader *reader);

/* The next frame: 1; the end: 0; damage, a failure to read, or an end behind which nothing
 * could be decoded (RS_ERROR_NOT_DECODED): -1 with `error` set, after which it is 0 forever.
 * A simple packet block has no stamp: it gets the time of the frame before it. */
int
rs_reader_next(rs_reader *reader, rs_record *record, GError **error);

/* The next frames, at most `max`, which is at least 1: how many; else as
 * rs_reader_next().  All of them, with their bytes and comments, are valid until the
 * next call.  Only the first may have to be waited for: the others are what has been
 * read already, so that a live pipe is not held up. */
int
rs_reader_next_batch(rs_reader *reader, rs_record *records, guint max, GError **error);

/* "pcap", "pcap-ns", "pcap-modified" or "pcapng"; static. */
const char *
rs_reader_format(const rs_reader *reader);

/* Interfaces met so far: a pcapng file may bring more at any time.  Pointers hold until
 * the reader is closed. */
guint
rs_reader_n_interfaces(const rs_reader *reader);

const rs_interface *
rs_reader_interface(const rs_reader *reader, guint interface_i);

/* The resolution of frames without time stamps: nothing can be told from their times. */
#define RS_NO_STAMPS_NS ((guint64)1 << 48)

/* How exact times are: the coarsest time stamp resolution of the interfaces that delivered
 * frames (of all, if none did), in ns and at least 1, or, if that is more, how far apart
 * the stamps are that frames without one stand between; 0 when there is no interface;
 * RS_NO_STAMPS_NS if some have no stamp before or behind them. */
guint64
rs_reader_resolution_ns(const rs_reader *reader);

/* Of the frames delivered so far, how many had no time stamp. */
guint64
rs_reader_unstamped(const rs_reader *reader);

/* Where the newest record begins, unpacked; after -1, where the damage is. */
guint64
rs_reader_offset(const rs_reader *reader);

/* Whether a section so far is an extract of `rocescope extract` that left packets out between
 * others of their connection. */
gboolean
rs_reader_has_gaps(const rs_reader *reader);

/* For progress, in bytes of the file as it is, packed or not: read so far; in all, or 0
 * for a pipe. */
guint64
rs_reader_position(const rs_reader *reader);

guint64
rs_reader_file_bytes(const rs_reader *reader);

/* libpcap's name of a LINKTYPE_ value ("EN10MB"), or NULL. */
const char *
rs_link_type_name(int link_type);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(rs_reader, rs_reader_close)

/* ---- For implementers ---- */

/* No frame of the link layers we decode is longer; as libpcap has it. */
#define RS_MAX_CAPTURED_BYTES (256u * 1024u)
/* Nor was on any wire; far above what offloading engines build. */
#define RS_MAX_WIRE_BYTES (16u * 1024u * 1024u)

typedef struct rs_reader_class {
    /* As rs_reader_next_batch(), which never asks again after the end.  Counts the
     * packets of interfaces. */
    int (*next_batch)(rs_reader *reader, rs_record *records, guint max, GError **error);
    /* Frees what the implementation holds, before the input is closed. */
    void (*clear)(rs_reader *reader);
} rs_reader_class;

/* First member of every reader.  Allocated with g_new0, freed by rs_reader_close(). */
struct rs_reader {
    const rs_reader_class *class;
    rs_input *input;
    const char *format;
    GPtrArray *interfaces; /* of rs_interface, or of structs that begin with one */
    guint64 offset;
    gboolean ended;
    guint64 unstamped_ns; /* the longest time that frames without a stamp came in */
    gboolean unstamped_is_open; /* no stamp has followed the newest of them */
    gboolean has_gaps;          /* rs_reader_has_gaps() */
};

/* Fills in a fresh reader, which takes `input` over. */
void
rs_reader_init(rs_reader *reader, const rs_reader_class *class, const char *format,
               rs_input *input);

/* The link layer behind a LINKTYPE_ value. */
roce_link
rs_link_from_type(guint32 link_type);

/* A frame as a file has it. */
typedef struct rs_stored {
    const guint8 *bytes;
    guint32 captured_bytes, wire_bytes; /* with the FCS */
    guint fcs_bytes;                    /* declared for it */
    guint interface;
    roce_link link;
    guint64 time_ns;
    guint64 ticks;
    guint64 offset;
} rs_stored;

/* Fills in a record without direction, flags and comment.  A wire length shorter than
 * what was captured is wrong, and a declared FCS is no part of the frame.  Each field is
 * named, as compilers clear the whole in a slow way if one is left out. */
static inline void
rs_record_fill(rs_record *record, const rs_stored *stored)
{
    guint32 wire_bytes = MAX(stored->wire_bytes, stored->captured_bytes);
    if (wire_bytes > stored->fcs_bytes) {
        wire_bytes -= stored->fcs_bytes;
    }
    *record = (rs_record){
        .frame = {.bytes = stored->bytes,
                  .captured_bytes = MIN(stored->captured_bytes, wire_bytes),
                  .wire_bytes = wire_bytes,
                  .time_ns = stored->time_ns,
                  .number = 0,
                  .point = 0,
                  .link = stored->link,
                  .direction = ROCE_DIRECTION_UNKNOWN,
                  .member = 0},
        .interface = stored->interface,
        .offset = stored->offset,
        .comment = NULL,
        .stored_bytes = stored->captured_bytes,
        .stored_wire_bytes = stored->wire_bytes,
        .ticks = stored->ticks,
        .flags = 0,
    };
}

/* What is wrong where the next record ought to be and another file begins. */
#define RS_ANOTHER_CAPTURE                                                             \
    "another capture begins here; files are to be given one by one"

/* Reports damage at `offset`; -1. */
int
rs_reader_damage(rs_reader *reader, guint64 offset, GError **error, const char *format,
                 ...) G_GNUC_PRINTF(4, 5);

/* Reports a link layer that is not known here, with one of the codes for that; FALSE. */
gboolean
rs_reader_refuse_link(const rs_reader *reader, guint32 link_type, rs_error code,
                      GError **error);

/* Reports why the input ended badly, or FALSE if it did not. */
gboolean
rs_reader_input_failed(const rs_reader *reader, GError **error);

/* The readers.  Each is asked whether it knows the first four bytes, then to open.  It
 * takes the input over, also when it fails. */
gboolean
rs_pcap_recognise(const guint8 magic[4]);

rs_reader *
rs_pcap_open(rs_input *input, GError **error);

gboolean
rs_pcapng_recognise(const guint8 magic[4]);

rs_reader *
rs_pcapng_open(rs_input *input, GError **error);

#endif
