/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Any bytes as a conversation (traffic.h), captured at several interfaces in a pcapng
 * file, through the whole analyzer to its reports (reports.h).  ICRCs are right where they
 * are to be, times are where they may be, and who captured it has names that no report may
 * print as they are.
 *
 *   0    interfaces that say their speed (bits 0-2), options (3-5), one interface or all
 *        (6)
 *   1..  steps
 */
#include "difference.h"
#include "reports.h"
#include "traffic.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SETTINGS 1
#define MAX_STEPS 400
#define SECTION 0x0a0d0d0a
#define INTERFACE 1
#define PACKET 6

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* ---- pcapng ---- */

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

static void
put_frame(GByteArray *out, const traffic *t)
{
    g_autoptr(GByteArray) body = g_byte_array_new();
    put(body, 4, t->point);
    put(body, 4, t->now_ns >> 32);
    put(body, 4, t->now_ns & 0xffffffff);
    put(body, 4, t->captured_bytes);
    put(body, 4, t->wire_bytes);
    put_padded(body, t->bytes, t->captured_bytes);
    put_block(out, PACKET, body);
}

/* ---- the input ---- */

/* What the user may say of the network. */
static const char *const *
options_of(guint which)
{
    static const char *const options[][7] = {
        {NULL},
        {"--captured-at", "10.0.0.1", "--link-speed", "100G", NULL},
        {"--captured-at", "network", "--dscp-map", "26:3,48:6", NULL},
        {"--watchdog", "sonic", "--icrc", "sample", "--top", "1", NULL},
        {"--icrc", "off", "--events", "3", "--max-streams", "1", NULL},
        {"--port", "53,4789", "--burst", "1k", "--watchdog", "1", NULL},
        {"--filter", "udp or ether proto 0x8808", NULL},
        {"--link-speed", "1", "--dscp-map", "0:7", NULL},
    };
    return options[which & 7];
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static traffic t; /* too large for a stack */
    if (size < SETTINGS) {
        return 0;
    }
    g_autoptr(GByteArray) file = g_byte_array_new();
    const guint n_points = (data[0] & 0x40) != 0 ? TRAFFIC_POINTS : 1;
    put_section(file);
    for (guint i = 0; i < n_points; i++) {
        put_interface(file, i, (data[0] >> i & 1) != 0);
    }
    traffic_init(&t);
    const uint8_t *at = data + SETTINGS;
    for (guint i = 0; i < MAX_STEPS && at + TRAFFIC_STEP_BYTES <= data + size; i++) {
        const traffic_step step = traffic_read(at);
        at += TRAFFIC_STEP_BYTES;
        if (traffic_take(&t, &step) == TRAFFIC_FRAME) {
            t.point = t.point < n_points ? t.point : 0;
            traffic_seal(&t);
            put_frame(file, &t);
        }
    }
    int fd;
    g_autofree char *path = bytes_as_file(file->data, file->len, &fd);
    reports_check(path, options_of(data[0] >> 3));
    close(fd);
    return 0;
}
