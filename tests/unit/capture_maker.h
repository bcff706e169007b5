/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Capture files made in memory, and a directory to keep them in, for tests of readers.
 *
 * The one rule: every byte of a frame is its own index in the frame, so that a shift by
 * one shows.
 */
#ifndef CAPTURE_MAKER_H
#define CAPTURE_MAKER_H

#include "check.h"

#include "error.h"

#include <glib.h>
#include <glib/gstdio.h>
#include <unistd.h>

/* The time of most frames. */
#define T0_S 1700000000u
#define T0_NS UINT64_C(1700000000000000000)
#define T0_US (T0_NS / 1000)

typedef struct maker {
    GByteArray *out;
    gboolean big;
} maker;

static inline void
put_bytes(maker *m, const void *bytes, gsize n_bytes)
{
    g_byte_array_append(m->out, bytes, (guint)n_bytes);
}

static inline void
put_16(maker *m, guint value)
{
    guint16 stored = (guint16)value;
    stored = (guint16)(m->big ? GUINT16_TO_BE(stored) : GUINT16_TO_LE(stored));
    put_bytes(m, &stored, sizeof stored);
}

static inline void
put_32(maker *m, guint32 value)
{
    guint32 stored = m->big ? GUINT32_TO_BE(value) : GUINT32_TO_LE(value);
    put_bytes(m, &stored, sizeof stored);
}

static inline void
put_64(maker *m, guint64 value)
{
    guint64 stored = m->big ? GUINT64_TO_BE(value) : GUINT64_TO_LE(value);
    put_bytes(m, &stored, sizeof stored);
}

static inline void
put_frame(maker *m, gsize n_bytes)
{
    guint begun = m->out->len;
    g_byte_array_set_size(m->out, begun + (guint)n_bytes);
    for (gsize i = 0; i < n_bytes; i++) {
        m->out->data[begun + i] = (guint8)i;
    }
}

static inline void
put_padding(maker *m)
{
    while (m->out->len % 4 != 0) {
        put_bytes(m, "", 1);
    }
}

static inline void
put_pcap_version(maker *m, guint32 magic, guint major, guint minor, guint32 snaplen,
                 guint32 link)
{
    put_32(m, magic);
    put_16(m, major);
    put_16(m, minor);
    put_32(m, 0);
    put_32(m, 0);
    put_32(m, snaplen);
    put_32(m, link);
}

static inline void
put_pcap(maker *m, guint32 magic, guint32 snaplen, guint32 link)
{
    put_pcap_version(m, magic, 2, 4, snaplen, link);
}

static inline void
put_record(maker *m, guint32 fraction, guint32 captured, guint32 wire)
{
    put_32(m, T0_S);
    put_32(m, fraction);
    put_32(m, captured);
    put_32(m, wire);
    put_frame(m, captured);
}

/* Returns where the block begins, for end_block(). */
static inline guint
begin_block(maker *m, guint32 type)
{
    guint begun = m->out->len;
    put_32(m, type);
    put_32(m, 0);
    return begun;
}

static inline void
end_block(maker *m, guint begun)
{
    put_padding(m);
    guint32 length = m->out->len - begun + 4;
    put_32(m, length);
    guint32 stored = m->big ? GUINT32_TO_BE(length) : GUINT32_TO_LE(length);
    memcpy(m->out->data + begun + 4, &stored, sizeof stored);
}

static inline void
put_option(maker *m, guint code, const void *value, guint length)
{
    put_16(m, code);
    put_16(m, length);
    put_bytes(m, value, length);
    put_padding(m);
}

static inline void
put_option_64(maker *m, guint code, guint64 value)
{
    put_16(m, code);
    put_16(m, 8);
    put_64(m, value);
}

static inline void
put_section(maker *m)
{
    guint begun = begin_block(m, 0x0a0d0d0a);
    put_32(m, 0x1a2b3c4d);
    put_16(m, 1);
    put_16(m, 0);
    put_64(m, G_MAXUINT64);
    end_block(m, begun);
}

static inline guint
begin_interface(maker *m, guint link, guint32 snaplen)
{
    guint begun = begin_block(m, 1);
    put_16(m, link);
    put_16(m, 0);
    put_32(m, snaplen);
    return begun;
}

static inline void
put_interface(maker *m, guint link, guint32 snaplen)
{
    end_block(m, begin_interface(m, link, snaplen));
}

static inline guint
begin_packet(maker *m, guint32 interface, guint64 ticks, guint32 captured, guint32 wire)
{
    guint begun = begin_block(m, 6);
    put_32(m, interface);
    put_32(m, (guint32)(ticks >> 32));
    put_32(m, (guint32)ticks);
    put_32(m, captured);
    put_32(m, wire);
    put_frame(m, captured);
    put_padding(m);
    return begun;
}

static inline void
put_packet(maker *m, guint32 interface, guint64 ticks, guint32 captured, guint32 wire)
{
    end_block(m, begin_packet(m, interface, ticks, captured, wire));
}

/* A classic file of two frames, 180 bytes long. */
static inline void
put_pcap_us(maker *m)
{
    put_pcap(m, 0xa1b2c3d4, 65535, 1);
    put_record(m, 5, 60, 60);
    put_record(m, 7, 64, 1500);
}

static inline GByteArray *
build(void (*put)(maker *m))
{
    maker m = {g_byte_array_new(), FALSE};
    put(&m);
    return m.out;
}

static char *directory; /* where the files of this test are */

/* Writes a file into the directory; its path. */
static inline char *
store(const char *name, const GByteArray *bytes)
{
    char *path = g_build_filename(directory, name, NULL);
    CHECK(
        g_file_set_contents(path, (const char *)bytes->data, (gssize)bytes->len, NULL));
    return path;
}

/* Whether what is read is compressed: then bytes are of what it unpacks to. */
static gboolean is_packed;

/* The same message about a file that is compressed. */
static inline char *
packed_message(const char *message)
{
    static const char prefix[] = "damaged at byte ";
    if (!g_str_has_prefix(message, prefix)) {
        return g_strdup(message);
    }
    const char *rest = message + strlen(prefix);
    rest += strspn(rest, "0123456789");
    return g_strdup_printf("%.*s of what it unpacks to%s", (int)(rest - message),
                           message, rest);
}

/* The file a message is about begins it. */
static inline void
check_message(const GError *error, rs_error code, const char *file, const char *message)
{
    if (!CHECK(error != NULL)) {
        return;
    }
    g_autofree char *said = is_packed ? packed_message(message) : g_strdup(message);
    g_autofree char *want = g_strdup_printf("%s: %s", file, said);
    CHECK_STR(error->message, want);
    CHECK(g_error_matches(error, RS_ERROR, (int)code));
    CHECK(strchr(error->message, '\n') == NULL);
}

static inline void
replace_stdin(int fd)
{
    dup2(fd, STDIN_FILENO);
    close(fd);
}

/* Makes the directory; to be called first. */
static inline bool
make_directory(void)
{
    directory = g_dir_make_tmp("rocescope-XXXXXX", NULL);
    return CHECK(directory != NULL) && CHECK(g_chmod(directory, 0755) == 0);
}

/* Removes it with the files that were stored in it. */
static inline void
remove_directory(void)
{
    check_row(NULL);
    GDir *listing = g_dir_open(directory, 0, NULL);
    for (const char *name; (name = g_dir_read_name(listing)) != NULL;) {
        g_autofree char *path = g_build_filename(directory, name, NULL);
        g_remove(path);
    }
    g_dir_close(listing);
    CHECK_INT(g_rmdir(directory), 0);
    g_free(directory);
}

#endif
