/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "traffic_file.h"

#include "reports.h"

#include <string.h>

#define SECTION 0x0a0d0d0a
#define INTERFACE 1
#define PACKET 6

static void
put(GByteArray *out, guint n_bytes, guint64 value)
{
    const guint64 stored = GUINT64_TO_LE(value);
    g_byte_array_append(out, (const guint8 *)&stored, n_bytes);
}

static void
put_padded(GByteArray *out, const void *bytes, gsize n_bytes)
{
    static const guint8 padding[3];
    g_byte_array_append(out, bytes, (guint)n_bytes);
    g_byte_array_append(out, padding, (guint)(-n_bytes & 3));
}

static void
put_option(GByteArray *out, guint code, const void *value, gsize n_bytes)
{
    put(out, 2, code);
    put(out, 2, n_bytes);
    put_padded(out, value, n_bytes);
}

/* A block around a body, whose length is a multiple of 4. */
static void
put_block(GByteArray *out, guint32 type, const GByteArray *body)
{
    guint32 length = body->len + 12;
    put(out, 4, type);
    put(out, 4, length);
    g_byte_array_append(out, body->data, body->len);
    put(out, 4, length);
}

static void
put_section(GByteArray *out)
{
    g_autoptr(GByteArray) body = g_byte_array_new();
    put(body, 4, 0x1a2b3c4d);
    put(body, 2, 1);
    put(body, 2, 0);
    put(body, 8, G_MAXUINT64);
    put_block(out, SECTION, body);
}

static void
put_interface(GByteArray *out, guint i, gboolean has_speed)
{
    static const guint8 nanoseconds = 9;
    g_autoptr(GByteArray) body = g_byte_array_new();
    g_autofree char *name = g_strdup_printf("eth%u%s", i, REPORTS_CANARY);
    put(body, 2, 1);
    put(body, 2, 0);
    put(body, 4, 0);
    put_option(body, 2, name, strlen(name));
    put_option(body, 3, REPORTS_CANARY, strlen(REPORTS_CANARY));
    put_option(body, 9, &nanoseconds, 1);
    if (has_speed) {
        guint64 speed_bps = GUINT64_TO_LE(UINT64_C(100000000000));
        put_option(body, 8, &speed_bps, sizeof speed_bps);
    }
    put_option(body, 0, "", 0);
    put_block(out, INTERFACE, body);
}

GByteArray *
traffic_file_new(guint n_interfaces, guint speeds)
{
    GByteArray *file = g_byte_array_new();
    put_section(file);
    for (guint i = 0; i < n_interfaces; i++) {
        put_interface(file, i, (speeds >> i & 1) != 0);
    }
    return file;
}

void
traffic_file_add(GByteArray *file, const traffic *t, guint interface, guint64 time_ns)
{
    g_autoptr(GByteArray) body = g_byte_array_new();
    put(body, 4, interface);
    put(body, 4, time_ns >> 32);
    put(body, 4, time_ns & 0xffffffff);
    put(body, 4, t->captured_bytes);
    put(body, 4, t->wire_bytes);
    put_padded(body, t->bytes, t->captured_bytes);
    put_block(file, PACKET, body);
}
