/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the capture readers stand on: opening, refusing, gzip, pipes.
 *
 * The one rule: everything is seen through a reader, as the program sees it.
 */
#include "capture_maker.h"

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
        {"zstd", BYTES("\x28\xb5\x2f\xfd rest"), RS_ERROR_UNSUPPORTED,
         "is compressed with zstd, which is not supported; unpack it first, with "
         "\"zstd -dc\" for one"},
        {"lz4", BYTES("\x04\x22\x4d\x18 rest"), RS_ERROR_UNSUPPORTED,
         "is compressed with lz4, which is not supported; unpack it first, with "
         "\"lz4 -dc\" for one"},
        {"xz",
         BYTES("\xfd"
               "7zXZ\0 rest"),
         RS_ERROR_UNSUPPORTED,
         "is compressed with xz, which is not supported; unpack it first, with "
         "\"xz -dc\" for one"},
        {"bzip2", BYTES("BZh9"), RS_ERROR_UNSUPPORTED,
         "is compressed with bzip2, which is not supported; unpack it first, with "
         "\"bzip2 -dc\" for one"},
        {"gzip magic alone", BYTES("\x1f\x8b"), RS_ERROR_DAMAGED,
         "damaged at byte 2 of the gzip file: it ends within compressed data"},
        {"no gzip behind its magic", BYTES("\x1f\x8b\x09\0\0\0\0\0\0\0"),
         RS_ERROR_DAMAGED,
         "damaged at byte 4 of the gzip file: unknown compression method"},
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

static void
test_packed_empty(void)
{
    check_row("empty when unpacked");
    g_autoptr(GByteArray) nothing = g_byte_array_new();
    g_autoptr(GByteArray) packed = pack(nothing);
    g_autofree char *path = store("refused", packed);
    g_autoptr(GError) error = NULL;
    CHECK(rs_reader_open(path, &error) == NULL);
    check_message(error, RS_ERROR_EMPTY, path, "is empty");
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
        {"directory", directory, "is a directory"},
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

/* ---- gzip ---- */

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

/* Frames that a file delivers before its end, which has to be as `message` says. */
static guint64
count_long(const GByteArray *bytes, rs_error code, const char *message)
{
    g_autofree char *path = store("long.gz", bytes);
    g_autoptr(GError) error = NULL;
    g_autoptr(rs_reader) reader = rs_reader_open(path, &error);
    if (!CHECK(reader != NULL)) {
        return 0;
    }
    CHECK_INT(rs_reader_file_bytes(reader), bytes->len);
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

static void
test_gzip_members(void)
{
    g_autoptr(GByteArray) plain = build_long();
    g_autoptr(GByteArray) packed = g_byte_array_new();
    guint half = plain->len / 2 + 3;
    append_packed(packed, plain->data, half);
    append_packed(packed, plain->data, 0);
    append_packed(packed, plain->data + half, plain->len - half);
    check_row("members");
    CHECK_INT(count_long(packed, 0, NULL), N_LONG);

    check_row("zeros behind");
    guint length = packed->len;
    g_byte_array_set_size(packed, length + 512);
    memset(packed->data + length, 0, 512);
    CHECK_INT(count_long(packed, 0, NULL), N_LONG);

    check_row("rubbish behind");
    g_autofree char *message = g_strdup_printf(
        "damaged at byte %u of the gzip file: incorrect header check", length + 514);
    g_byte_array_append(packed, (const guint8 *)"rubbish", 7);
    CHECK_INT(count_long(packed, RS_ERROR_DAMAGED, message), N_LONG);
}

/* Wherever a file was cut: each frame that was there in full is delivered. */
static void
test_gzip_cut(void)
{
    check_row("cut gzip");
    g_autoptr(GByteArray) plain = build_long();
    g_autoptr(GByteArray) packed = pack(plain);
    guint length = packed->len;
    guint64 most = 0;
    for (guint cut = length / 7; cut < length; cut += length / 7) {
        g_byte_array_set_size(packed, cut);
        g_autofree char *message = g_strdup_printf(
            "damaged at byte %u of the gzip file: it ends within compressed data", cut);
        guint64 n_frames = count_long(packed, RS_ERROR_DAMAGED, message);
        CHECK(n_frames > most && n_frames <= N_LONG);
        most = n_frames;
        g_byte_array_unref(packed);
        packed = pack(plain);
    }

    check_row("trailer cut off");
    g_byte_array_set_size(packed, length - 1);
    g_autofree char *message = g_strdup_printf(
        "damaged at byte %u of the gzip file: it ends within compressed data",
        length - 1);
    CHECK_INT(count_long(packed, RS_ERROR_DAMAGED, message), N_LONG);

    check_row("wrong checksum");
    g_byte_array_unref(packed);
    packed = pack(plain);
    packed->data[length - 8] ^= 1;
    g_free(message);
    message = g_strdup_printf(
        "damaged at byte %u of the gzip file: incorrect data check", length - 4);
    CHECK_INT(count_long(packed, RS_ERROR_DAMAGED, message), N_LONG);
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
    rs_record record;
    CHECK_INT(rs_reader_next(reader, &record, &error), 1);
    CHECK_INT(rs_reader_next(reader, &record, &error), 1);
    CHECK_INT(rs_reader_file_bytes(reader), 0);
    CHECK_INT(rs_reader_position(reader), bytes->len);

    const struct sigaction action = {.sa_handler = nothing_done};
    sigaction(SIGALRM, &action, NULL);
    const struct itimerval soon = {{0, 20000}, {0, 20000}}; /* repeats: no race */
    const struct itimerval never = {{0, 0}, {0, 0}};
    setitimer(ITIMER_REAL, &soon, NULL);
    CHECK_INT(rs_reader_next(reader, &record, &error), -1);
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
    test_gzip_members();
    test_gzip_cut();
    test_live();
    remove_directory();
    return check_status();
}
