/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the capture readers stand on: opening, refusing, compressed files, pipes.
 *
 * The one rule: everything is seen through a reader, as the program sees it.
 */
#include "capture_maker.h"
#include "packing.h"

#include "reader.h"

#include <signal.h>
#include <string.h>
#include <sys/time.h>

/* ---- What does not open ---- */

static void
test_refused(void)
{
    static const struct {
        const char *name;
        const char *bytes;
        gsize n_bytes;
        rs_error code;
        const char *message;
    } rows[] = {
#define BYTES(literal) literal, sizeof literal - 1
        {"empty", BYTES(""), RS_ERROR_EMPTY, "is empty"},
        {"text", BYTES("hello, world"), RS_ERROR_NOT_CAPTURE,
         "is not a capture file: begins with 68 65 6c 6c"},
        {"one byte", BYTES("\xd4"), RS_ERROR_NOT_CAPTURE,
         "is not a capture file: begins with d4"},
        {"magic alone", BYTES("\xd4\xc3\xb2\xa1"), RS_ERROR_DAMAGED,
         "damaged at byte 0: the file ends within its header: 4 of 24 bytes are there"},
        {"one byte short of a header",
         BYTES("\xd4\xc3\xb2\xa1\2\0\4\0\0\0\0\0\0\0\0\0\xff\xff\0\0\1\0\0"),
         RS_ERROR_DAMAGED,
         "damaged at byte 0: the file ends within its header: 23 of 24 bytes are "
         "there"},
        {"unsupported link",
         BYTES("\xd4\xc3\xb2\xa1\2\0\4\0\0\0\0\0\0\0\0\0\xff\xff\0\0\x7f\0\0\0"),
         RS_ERROR_UNSUPPORTED,
         "has link type 127 (IEEE802_11_RADIO), which is not supported"},
        {"unknown link",
         BYTES("\xd4\xc3\xb2\xa1\2\0\4\0\0\0\0\0\0\0\0\0\xff\xff\0\0\x0f\x27\0\0"),
         RS_ERROR_UNSUPPORTED, "has link type 9999 (unknown), which is not supported"},
        {"version 3",
         BYTES("\xd4\xc3\xb2\xa1\3\0\4\0\0\0\0\0\0\0\0\0\xff\xff\0\0\1\0\0\0"),
         RS_ERROR_UNSUPPORTED,
         "is refused by libpcap: unsupported pcap savefile version 3.4"},
        {"version 1",
         BYTES("\xa1\xb2\xc3\xd4\0\1\0\4\0\0\0\0\0\0\0\0\0\0\xff\xff\0\0\0\1"),
         RS_ERROR_UNSUPPORTED, "is refused by libpcap: archaic pcap savefile format"},
        {"IXIA", BYTES("\xac\1\0\x1c"), RS_ERROR_UNSUPPORTED,
         "is a pcap of IXIA's hardware (magic 1c0001ac), which libpcap does not read; "
         "convert it first, with editcap for one"},
        {"pcapng alone", BYTES("\x0a\x0d\x0d\x0a"), RS_ERROR_DAMAGED,
         "damaged at byte 0: the file ends within a block: of its 12 bytes 4 are "
         "there"},
        {"pcapng without byte order",
         BYTES("\x0a\x0d\x0d\x0a\x1c\0\0\0\1\2\3\4........\0\0\0\0\x1c\0\0\0"),
         RS_ERROR_DAMAGED, "damaged at byte 0: a section without byte-order magic"},
        {"pcapng section too short",
         BYTES("\x0a\x0d\x0d\x0a\x10\0\0\0\x4d\x3c\x2b\x1a\x10\0\0\0"),
         RS_ERROR_DAMAGED, "damaged at byte 0: a section header that is too short"},
        {"bzip2", BYTES("BZh9"), RS_ERROR_UNSUPPORTED,
         "is compressed with bzip2, and gzip, zstd, lz4 and xz are what can be read; "
         "unpack it first, with \"bzip2 -dc\" for one"},
        {"gzip magic alone", BYTES("\x1f\x8b"), RS_ERROR_DAMAGED,
         "damaged at byte 2 of the gzip file: it ends within compressed data"},
        {"no gzip behind its magic", BYTES("\x1f\x8b\x09\0\0\0\0\0\0\0"),
         RS_ERROR_DAMAGED,
         "damaged at byte 4 of the gzip file: unknown compression method"},
        {"zstd magic alone", BYTES("\x28\xb5\x2f\xfd"), RS_ERROR_DAMAGED,
         "damaged at byte 4 of the zstd file: it ends within compressed data"},
        {"zstd that needs too much", BYTES("\x28\xb5\x2f\xfd\0\xff\1\0\0"),
         RS_ERROR_UNSUPPORTED,
         "cannot be unpacked at byte 2 of the zstd file: it refers back by more than "
         "128 MiB (zstd --long=28 and above)"},
#undef BYTES
    };
    for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
        check_row(rows[i].name);
        g_autoptr(GByteArray) bytes = g_byte_array_new();
        g_byte_array_append(bytes, (const guint8 *)rows[i].bytes,
                            (guint)rows[i].n_bytes);
        g_autofree char *path = store("refused", bytes);
        g_autoptr(GError) error = NULL;
        CHECK(rs_reader_open(path, &error) == NULL);
        check_message(error, rows[i].code, path, rows[i].message);
    }
}

/* Names a row after a format. */
static void
row(gsize i, const char *what)
{
    g_autofree char *name = g_strdup_printf("%s: %s", packings[i].name, what);
    check_row(name);
}

static void
test_packed_empty(void)
{
    for (gsize i = 0; i < G_N_ELEMENTS(packings); i++) {
        row(i, "empty when unpacked");
        g_autoptr(GByteArray) nothing = g_byte_array_new();
        g_autoptr(GByteArray) packed = pack(i, nothing);
        g_autofree char *path = store("refused", packed);
        g_autoptr(GError) error = NULL;
        CHECK(rs_reader_open(path, &error) == NULL);
        check_message(error, RS_ERROR_EMPTY, path, "is empty");
    }
}

static void
test_unopened(void)
{
    g_autoptr(GByteArray) bytes = build(put_pcap_us);
    g_autofree char *forbidden = store("forbidden", bytes);
    g_autofree char *missing = g_build_filename(directory, "missing", NULL);
    g_chmod(forbidden, 0);
    const struct {
        const char *name;
        const char *path;
        const char *message;
    } rows[] = {
        {"missing", missing, "does not exist"},
        {"directory", directory,
         "is a directory: give the files in it, or have rocescope batch look through "
         "it"},
        {"forbidden", forbidden, "permission denied"},
        {"no directory", "/dev/null/x", "Not a directory"},
    };
    uid_t root = geteuid();
    if (root == 0) { /* who may read everything */
        CHECK(seteuid(65534) == 0);
    }
    for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
        check_row(rows[i].name);
        g_autoptr(GError) error = NULL;
        CHECK(rs_reader_open(rows[i].path, &error) == NULL);
        check_message(error, RS_ERROR_OPEN, rows[i].path, rows[i].message);
    }
    CHECK(seteuid(root) == 0);
}

/* ---- Compressed files ---- */

#define N_LONG 4000
#define LONG_BYTES 1000

/* Longer than any buffer; compresses to something, as its bytes are not regular. */
static GByteArray *
build_long(void)
{
    maker m = {g_byte_array_new(), FALSE};
    guint32 random = 1;
    put_pcap(&m, 0xa1b23c4d, 65535, 1);
    for (guint32 i = 0; i < N_LONG; i++) {
        put_32(&m, T0_S);
        put_32(&m, i);
        put_32(&m, LONG_BYTES - 16);
        put_32(&m, LONG_BYTES - 16);
        for (guint k = 16; k < LONG_BYTES; k += 4) {
            random = random * 1664525 + 1013904223;
            put_32(&m, k % 3 == 0 ? random : 0);
        }
    }
    return m.out;
}

/* What follows is the same whether another thread reads ahead or not. */
typedef enum way {
    AS_IT_COMES,
    AHEAD,
} way;

static void
go(rs_reader *reader, way how)
{
    CHECK(how == AS_IT_COMES || rs_reader_read_ahead(reader));
}

/* Who writes it may cut it meanwhile: that is an end as any other. */
static void
test_shrinking(way how)
{
    check_row(how == AHEAD ? "shrinking, ahead" : "shrinking");
    const guint n_left = 2000;
    g_autoptr(GByteArray) bytes = build_long();
    g_autofree char *path = store("shrinking", bytes);
    g_autoptr(GError) error = NULL;
    g_autoptr(rs_reader) reader = rs_reader_open(path, &error);
    CHECK_INT(truncate(path, 24 + n_left * LONG_BYTES + 20), 0);
    go(reader, how);
    rs_record records[7];
    guint n_frames = 0;
    int n;
    while ((n = rs_reader_next_batch(reader, records, 7, &error)) > 0) {
        n_frames += (guint)n;
    }
    CHECK_INT(n_frames, n_left);
    check_message(error, RS_ERROR_DAMAGED, path,
                  "damaged at byte 2000024: the file ends within a packet: of its 984 "
                  "bytes 4 are there");
}

/* Frames that a file delivers before its end, which has to be as `message` says. */
static guint64
count_long_in(const GByteArray *bytes, way how, rs_error code, const char *message)
{
    g_autofree char *path = store("long", bytes);
    g_autoptr(GError) error = NULL;
    g_autoptr(rs_reader) reader = rs_reader_open(path, &error);
    if (!CHECK(reader != NULL)) {
        return 0;
    }
    CHECK_INT(rs_reader_file_bytes(reader), bytes->len);
    go(reader, how);
    rs_record record;
    int status;
    guint64 n_frames = 0;
    while ((status = rs_reader_next(reader, &record, &error)) == 1) {
        CHECK_INT(record.frame.time_ns, T0_NS + n_frames);
        CHECK_INT(record.offset, 24 + n_frames * LONG_BYTES);
        n_frames++;
    }
    CHECK_INT(status, message ? -1 : 0);
    CHECK_INT(rs_reader_offset(reader), 24 + n_frames * LONG_BYTES);
    if (message) {
        check_message(error, code, path, message);
    } else {
        CHECK_INT(rs_reader_position(reader), bytes->len);
    }
    return n_frames;
}

static guint64
count_long(const GByteArray *bytes, rs_error code, const char *message)
{
    guint64 n_frames = count_long_in(bytes, AS_IT_COMES, code, message);
    CHECK_INT(count_long_in(bytes, AHEAD, code, message), n_frames);
    return n_frames;
}

static char *
damage(gsize i, guint at, const char *what)
{
    return g_strdup_printf("damaged at byte %u of the %s file: %s", at,
                           packings[i].name, what);
}

static void
test_packed_members(gsize i)
{
    g_autoptr(GByteArray) plain = build_long();
    g_autoptr(GByteArray) packed = g_byte_array_new();
    guint half = plain->len / 2 + 3;
    append_packed(packed, i, plain->data, half);
    append_packed(packed, i, NULL, 0);
    append_packed(packed, i, plain->data + half, plain->len - half);
    row(i, "members");
    CHECK_INT(count_long(packed, 0, NULL), N_LONG);

    row(i, "rubbish behind");
    guint length = packed->len;
    g_byte_array_append(packed, (const guint8 *)"\0\0rubbish", 9);
    g_autofree char *message =
        damage(i, length + 2,
               "neither compressed data nor padding follows what was compressed");
    CHECK_INT(count_long(packed, RS_ERROR_DAMAGED, message), N_LONG);
}

/* Wherever a file was cut: each frame that was there in full is delivered. */
static void
test_packed_cut(gsize i)
{
    row(i, "cut");
    g_autoptr(GByteArray) plain = build_long();
    g_autoptr(GByteArray) packed = pack(i, plain);
    guint64 least = N_LONG;
    for (guint part = 6; part > 0; part--) {
        g_byte_array_set_size(packed, packed->len / (part + 1) * part);
        g_autofree char *message =
            damage(i, packed->len, "it ends within compressed data");
        guint64 n_frames = count_long(packed, RS_ERROR_DAMAGED, message);
        CHECK(n_frames > 0 && n_frames < least);
        least = n_frames;
    }
}

/* The content was there in full, and is delivered. */
static void
test_packed_check_cut(gsize i)
{
    row(i, "check cut off");
    g_autoptr(GByteArray) plain = build_long();
    g_autoptr(GByteArray) packed = pack(i, plain);
    g_byte_array_set_size(packed, packed->len - 1);
    g_autofree char *message = damage(i, packed->len, "it ends within compressed data");
    CHECK_INT(count_long(packed, RS_ERROR_DAMAGED, message), N_LONG);
}

/* ---- Reading ahead ---- */

#define N_MIXED 60

/* Records of all lengths, many of which lie across two pieces of what is read ahead, and
 * some of which are longer than what may be left of one. */
static GByteArray *
build_mixed(void)
{
    maker m = {g_byte_array_new(), FALSE};
    put_pcap(&m, 0xa1b23c4d, 262144, 1);
    for (guint32 i = 0; i < N_MIXED; i++) {
        guint32 length = i % 3 == 0 ? 16 : i * 7919 % 250000;
        put_32(&m, T0_S);
        put_32(&m, i);
        put_32(&m, length);
        put_32(&m, length);
        for (guint32 k = 0; k < length; k++) {
            const guint8 byte = (guint8)(i + k * k);
            g_byte_array_append(m.out, &byte, 1);
        }
    }
    return m.out;
}

/* What a reader gives of the first frames, in a row. */
static GByteArray *
read_some(const char *path, way how, guint n_frames)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(rs_reader) reader = rs_reader_open(path, &error);
    GByteArray *all = g_byte_array_new();
    if (!CHECK(reader != NULL)) {
        return all;
    }
    go(reader, how);
    rs_record record;
    for (guint i = 0; i < n_frames && rs_reader_next(reader, &record, &error) == 1;
         i++) {
        g_byte_array_append(all, record.frame.bytes, record.frame.captured_bytes);
        g_byte_array_append(all, (const guint8 *)&record.offset, sizeof record.offset);
    }
    CHECK(error == NULL);
    return all;
}

/* Also where nobody wants the rest. */
static void
test_ahead(void)
{
    g_autoptr(GByteArray) plain = build_mixed();
    for (gsize i = 0; i <= G_N_ELEMENTS(packings); i++) {
        gboolean compressed = i < G_N_ELEMENTS(packings);
        check_row(compressed ? packings[i].name : "not packed");
        g_autoptr(GByteArray) packed =
            compressed ? pack(i, plain) : g_byte_array_ref(plain);
        g_autofree char *path = store("mixed", packed);
        for (guint n = 1; n < 2 * N_MIXED; n += 13) {
            g_autoptr(GByteArray) as_it_comes = read_some(path, AS_IT_COMES, n);
            g_autoptr(GByteArray) ahead = read_some(path, AHEAD, n);
            CHECK_INT(ahead->len, as_it_comes->len);
            CHECK(memcmp(ahead->data, as_it_comes->data, ahead->len) == 0);
        }
    }
}

/* Where there is nothing to read ahead, nobody does. */
static void
test_not_ahead(void)
{
    check_row("short");
    g_autoptr(GByteArray) bytes = build(put_pcap_us);
    g_autofree char *path = store("short", bytes);
    g_autoptr(GError) error = NULL;
    g_autoptr(rs_reader) reader = rs_reader_open(path, &error);
    CHECK(reader != NULL && !rs_reader_read_ahead(reader));
}

/* ---- A live pipe ---- */

static void
nothing_done(int number)
{
    (void)number;
}

/* Frames are delivered as they come, and a signal ends the wait for more. */
static void
test_live(void)
{
    check_row("live");
    g_autoptr(GByteArray) bytes = build(put_pcap_us);
    int ends[2];
    if (!CHECK(pipe(ends) == 0)) {
        return;
    }
    replace_stdin(ends[0]);
    CHECK_INT(write(ends[1], bytes->data, bytes->len), bytes->len);
    g_autoptr(GError) error = NULL;
    g_autoptr(rs_reader) reader = rs_reader_open("-", &error);
    CHECK(!rs_reader_read_ahead(reader));
    rs_record records[4];
    int n_frames =
        0; /* a batch is what is there: one that waited would wait for ever */
    while (n_frames < 2) {
        n_frames += rs_reader_next_batch(reader, records, 4, &error);
    }
    CHECK_INT(n_frames, 2);
    CHECK_INT(rs_reader_file_bytes(reader), 0);
    CHECK_INT(rs_reader_position(reader), bytes->len);

    const struct sigaction action = {.sa_handler = nothing_done};
    sigaction(SIGALRM, &action, NULL);
    const struct itimerval soon = {{0, 20000}, {0, 20000}}; /* repeats: no race */
    const struct itimerval never = {{0, 0}, {0, 0}};
    setitimer(ITIMER_REAL, &soon, NULL);
    CHECK_INT(rs_reader_next_batch(reader, records, 4, &error), -1);
    setitimer(ITIMER_REAL, &never, NULL);
    check_message(error, RS_ERROR_INTERRUPTED, "standard input",
                  "interrupted at byte 180");
    CHECK_INT(rs_reader_offset(reader), 180);
    close(ends[1]);
}

int
main(void)
{
    if (!make_directory()) {
        return check_status();
    }
    test_refused();
    test_packed_empty();
    test_unopened();
    test_shrinking(AS_IT_COMES);
    test_shrinking(AHEAD);
    for (gsize i = 0; i < G_N_ELEMENTS(packings); i++) {
        test_packed_members(i);
        test_packed_cut(i);
        test_packed_check_cut(i);
    }
    test_ahead();
    test_not_ahead();
    test_live();
    remove_directory();
    return check_status();
}
