/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Numbers and addresses as a person reads them.
 *
 * The one rule: what comes from a capture is made safe here before it reaches a
 * terminal: control characters are shown, never sent.
 */
#ifndef RS_FORMAT_H
#define RS_FORMAT_H

#include "roce/packet.h"

#include <glib.h>

/* Returned strings are the caller's to g_free(). */

char *
rs_format_addr(const roce_addr *addr);

/* "vxlan 100"; "" without a tenant. */
char *
rs_format_tenant(const roce_tenant *tenant);

/* "10.0.0.1>10.0.0.2" */
char *
rs_format_ends(const roce_addr *src, const roce_addr *dst);

/* "02:00:00:00:01:01" */
char *
rs_format_mac(const guint8 mac[6]);

/* "1234567", behind other text: many times as fast as g_string_append_printf(). */
void
rs_format_append_number(GString *text, guint64 n);

/* "1,234,567" */
char *
rs_format_count(guint64 n);

/* "1 packet", "1,234,567 packets" */
char *
rs_format_things(guint64 n, const char *one, const char *many);

/* "12.3 ms", not finer than `resolution_ns` (0: as fine as it is); "?" with RS_NO_STAMPS_NS. */
char *
rs_format_duration(guint64 ns, guint64 resolution_ns);

/* "100 Gb/s" */
char *
rs_format_speed(guint64 bps);

/* A rate that was measured, to three digits: "31.4 Gb/s"; g_free(). */
char *
rs_format_rate(guint64 bps);

/* "1.2 MB" */
char *
rs_format_bytes(guint64 bytes);

/* "2026-11-21 03:12:45.123456789 UTC" */
char *
rs_format_time(guint64 ns);

/* Bit n of a set is n: "3", "3 and 4", "0, 3 and 4", "none". */
char *
rs_format_priorities(guint8 priorities);

/* "0.5 %", "12 %", "<0.1 %" */
char *
rs_format_share(guint64 part, guint64 whole);

/* What Wireshark shows these frames by: "frame.number in {3, 17}". */
char *
rs_format_frame_filter(const guint64 *frames, guint n_frames);

/* Whether a character is seen and does nothing else.  Those that separate lines and
 * paragraphs (U+2028, U+2029) are printable for GLib, and begin a line for some who read
 * what we write. */
gboolean
rs_format_shows_itself(gunichar c);

/* Valid UTF-8 of characters that show themselves; "\x1b" stands for another one, and for a
 * byte that belongs to none. */
char *
rs_format_safe(const char *text);

/* The same of a text of several lines. */
char *
rs_format_safe_lines(const char *text);

#endif
