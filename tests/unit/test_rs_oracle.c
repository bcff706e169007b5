/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The analyzer's reader of classic captures against libpcap, on captures that exist, that
 * are made, that are cut at every byte and that are damaged.
 *
 * The one rule: a difference is a failure; the few that are wanted stand in difference.h.
 *
 * Reads the samples of the source directory, or what is below the directories that are
 * named on the command line.
 */
#include "capture_maker.h"
#include "seeded.h"

#include "difference.h"
#include "reader.h"

#include <string.h>

#define N_MADE SEEDED_TIMES(12000)
#define LONG_FILE_BYTES (3u * 1024 * 1024) /* several times what is read at once */

#define MODIFIED 0xa1b2cd34u
#define FCS_OF_4 (0x04000000u | 2u << 28)
#define FCS_OF_30 (0x04000000u | 15u << 28)

/* ---- Captures that are made ---- */

/* What a header may say, the usual first. */
static const guint32 magics[] = {0xa1b2c3d4, 0xa1b23c4d, MODIFIED};
static const guint32 versions[] = {/* major and minor */
                                   2u << 16 | 4,   2u << 16 | 3, 2u << 16 | 2,
                                   2u << 16,       2u << 16 | 5, 543u << 16,
                                   543u << 16 | 1, 1u << 16 | 9, 3u << 16};
static const guint32 snaplens[] = {
    65535,  262144,     0,          64,         1,          262130,    262143,
    262145, 0x40000000, 0x7ffffff5, 0x7fffffff, 0x80000000, 0xffffffff};
static const guint32 links[] = {1,   1 | FCS_OF_4, 1 | FCS_OF_30, 1 | 2u << 28,
                                113, 276,          101,           12,
                                228, 127,          1 | 1u << 17};
static const guint32 seconds[] = {T0_S, 0, 1, 0x7fffffff, 0x80000000, 0xffffffff};
static const guint32 fractions[] = {5,          0,          999999,     1000000,
                                    999999999,  1000000000, 0x7fffffff, 0x80000000,
                                    0xffffffff, 0xfffffc18};
static const guint32 wires[] = {64, 0, 1, 16u * 1024 * 1024, 16u * 1024 * 1024 + 1};

#define USUAL 8 /* one time in so many it is not the first */

static guint32
draw(seeded *s, const guint32 *values, gsize n_values)
{
    return seeded_below(s, USUAL) > 0 ? values[0]
                                      : values[seeded_below(s, (guint32)n_values)];
}
#define DRAW(s, values) draw(s, values, G_N_ELEMENTS(values))

/* A length about the limits of the file that it stands in. */
static guint32
draw_length(seeded *s, guint32 snaplen)
{
    const guint32 around[] = {60,           snaplen,      snaplen + 1,
                              snaplen + 14, snaplen + 15, 65601};
    guint32 length = around[seeded_below(s, G_N_ELEMENTS(around))];
    return length > 70000 && seeded_below(s, 20) > 0 ? seeded_below(s, 200) : length;
}

static void
put_stored(maker *m, seeded *s, guint32 magic, guint32 snaplen)
{
    guint32 captured = draw_length(s, snaplen);
    guint32 wire = seeded_below(s, 2) > 0 ? captured : DRAW(s, wires);
    put_32(m, DRAW(s, seconds));
    put_32(m, DRAW(s, fractions));
    put_32(m, captured);
    put_32(m, wire);
    if (magic == MODIFIED) {
        put_64(m, seeded_next(s));
    }
    put_frame(m, MIN(captured, 262145));
}

static void
put_made(maker *m, seeded *s)
{
    guint32 magic = magics[seeded_below(s, G_N_ELEMENTS(magics))];
    guint32 version = DRAW(s, versions);
    guint32 snaplen = snaplens[seeded_below(s, G_N_ELEMENTS(snaplens))];
    m->big = seeded_below(s, 2) > 0;
    put_pcap_version(m, magic, version >> 16, version & 0xffff, snaplen,
                     DRAW(s, links));
    for (guint n = seeded_below(s, 6); n > 0; n--) {
        put_stored(m, s, magic, snaplen);
    }
    if (seeded_below(s, 20) == 0) { /* another one behind it */
        m->big = seeded_below(s, 2) > 0;
        version = DRAW(s, versions);
        put_pcap_version(m, magics[seeded_below(s, G_N_ELEMENTS(magics))],
                         version >> 16, version & 0xffff, snaplen, DRAW(s, links));
    }
}

/* Leaves it, or cuts it, or overwrites some bytes, most of them in headers. */
static void
do_harm(GByteArray *bytes, seeded *s)
{
    static const guint8 values[] = {0, 1, 0x7f, 0x80, 0xff};
    guint kind = seeded_below(s, 3);
    if (kind == 1) {
        g_byte_array_set_size(bytes, seeded_below(s, bytes->len + 1));
    }
    for (guint n = kind == 2 ? 1 + seeded_below(s, 6) : 0; n > 0; n--) {
        guint32 span = seeded_below(s, 2) > 0 ? MIN(bytes->len, 200) : bytes->len;
        bytes->data[seeded_below(s, span)] =
            seeded_below(s, 2) > 0 ? (guint8)seeded_next(s)
                                   : values[seeded_below(s, G_N_ELEMENTS(values))];
    }
}

static void
check_same(const GByteArray *bytes)
{
    g_autofree char *difference = difference_of(bytes->data, bytes->len);
    CHECK_STR(difference, NULL);
}

static void
test_made(void)
{
    seeded s = {1};
    for (guint i = 0; i < N_MADE; i++) {
        g_autofree char *name = g_strdup_printf("made %u", i);
        check_row(name);
        maker m = {g_byte_array_new(), FALSE};
        put_made(&m, &s);
        do_harm(m.out, &s);
        check_same(m.out);
        g_byte_array_unref(m.out);
    }
}

/* ---- Captures that are cut, and long ones ---- */

static void
put_record_of(maker *m, guint32 magic, guint32 captured, guint32 wire)
{
    put_32(m, T0_S);
    put_32(m, 999999);
    put_32(m, captured);
    put_32(m, wire);
    if (magic == MODIFIED) {
        put_64(m, 0);
    }
    put_frame(m, captured);
}

static void
test_cut(void)
{
    for (gsize i = 0; i < 2 * G_N_ELEMENTS(magics); i++) {
        maker m = {g_byte_array_new(), i % 2 > 0};
        put_pcap(&m, magics[i / 2], 50, 1);
        put_record_of(&m, magics[i / 2], 40, 40);
        put_record_of(&m, magics[i / 2], 70, 80); /* libpcap cuts it */
        put_record_of(&m, magics[i / 2], 0, 60);
        for (; m.out->len > 0; g_byte_array_set_size(m.out, m.out->len - 1)) {
            g_autofree char *name = g_strdup_printf("%08x, order %u, cut at %u",
                                                    magics[i / 2], m.big, m.out->len);
            check_row(name);
            check_same(m.out);
        }
        g_byte_array_unref(m.out);
    }
}

/* Records stand across the places where reading begins anew. */
static void
test_long(void)
{
    seeded s = {2};
    for (gsize i = 0; i < 2 * G_N_ELEMENTS(magics); i++) {
        g_autofree char *name = g_strdup_printf("long %" G_GSIZE_FORMAT, i);
        check_row(name);
        maker m = {g_byte_array_new(), i % 2 > 0};
        put_pcap(&m, magics[i / 2], 65535, 1);
        while (m.out->len < LONG_FILE_BYTES) {
            guint32 captured = seeded_below(&s, seeded_below(&s, 50) > 0 ? 300 : 65536);
            put_record_of(&m, magics[i / 2], captured, captured);
        }
        check_same(m.out);
        g_byte_array_unref(m.out);
    }
}

/* ---- Captures that exist ---- */

static guint n_classic, n_pcapng;

static void
check_capture(const char *path)
{
    check_row(path);
    g_autofree char *difference = difference_at(path);
    CHECK_STR(difference, NULL);
    g_autofree char *pcapng_difference = pcapng_difference_at(path);
    CHECK_STR(pcapng_difference, NULL);
    gboolean is_pcapng = strstr(path, ".pcapng") != NULL;
    n_classic += is_pcapng ? 0 : 1;
    n_pcapng += is_pcapng ? 1 : 0;
}

static void
check_below(const char *path)
{
    g_autoptr(GDir) listing = g_dir_open(path, 0, NULL);
    const char *name;
    while (listing != NULL && (name = g_dir_read_name(listing)) != NULL) {
        g_autofree char *inside = g_build_filename(path, name, NULL);
        if (g_file_test(inside, G_FILE_TEST_IS_DIR)) {
            check_below(inside);
        } else if (strstr(name, ".pcap") != NULL) {
            check_capture(inside);
        }
    }
}

int
main(int n_arguments, char **arguments)
{
    const char *source = g_getenv("ROCESCOPE_SOURCE");
    if (n_arguments < 2 && source != NULL) {
        g_autofree char *samples = g_build_filename(source, "captures", NULL);
        check_below(samples);
    }
    for (int i = 1; i < n_arguments; i++) {
        check_below(arguments[i]);
    }
    check_row(NULL);
    CHECK((n_classic > 0 && n_pcapng > 0) || source == NULL);
    test_cut();
    test_long();
    test_made();
    return check_status();
}
