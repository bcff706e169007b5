/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Unpacking, without a file.
 *
 * The one rule: what was in front of damage is unpacked, whatever the damage, and however
 * small the pieces are in which packed bytes come and unpacked ones are asked for.
 */
#include "packing.h"
#include "seeded.h"

#include "unpack.h"

#define N_BYTES 20000
#define BLOCK_BYTES 1500
#define STEP (N_BYTES / SEEDED_TIMES(4000)) /* from place to place where it is harmed */

/* Packed bytes that come in pieces. */
typedef struct trickle {
    const GByteArray *packed;
    gsize at;
    gsize piece_bytes;
} trickle;

static gsize
trickle_read(gpointer ctx, guint8 *into, gsize n_bytes)
{
    trickle *t = ctx;
    gsize n = MIN(MIN(n_bytes, t->piece_bytes), t->packed->len - t->at);
    memcpy(into, t->packed->data + t->at, n);
    t->at += n;
    return n;
}

/* What became of packed bytes. */
typedef struct outcome {
    GByteArray *out;
    rs_unpack_end end;
    const char *format;
    char *why; /* NULL for a good end */
    guint64 position;
} outcome;

static void
outcome_clear(outcome *o)
{
    g_byte_array_unref(o->out);
    g_free(o->why);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(outcome, outcome_clear)

/* Sizes of pieces and rooms; 0 is all at once. */
static outcome
unpack_by(const GByteArray *packed, gsize piece_bytes, gsize room_bytes)
{
    trickle t = {packed, 0, piece_bytes > 0 ? piece_bytes : packed->len};
    g_autoptr(rs_unpacker) unpacker = rs_unpacker_new(trickle_read, &t, NULL, 0);
    outcome got = {.out = g_byte_array_new()};
    const gsize room = room_bytes > 0 ? room_bytes : 4 * N_BYTES;
    g_autofree guint8 *into = g_malloc(room);
    for (gsize n; (n = rs_unpacker_read(unpacker, into, room)) > 0;) {
        CHECK(n <= room);
        g_byte_array_append(got.out, into, (guint)n);
    }
    CHECK_INT(rs_unpacker_read(unpacker, into, room), 0);
    const char *why;
    got.end = rs_unpacker_end(unpacker, &why);
    got.why = g_strdup(why);
    got.format = rs_unpacker_format(unpacker);
    got.position = rs_unpacker_position(unpacker);
    CHECK((got.end == RS_UNPACK_GOOD) == (why == NULL));
    return got;
}

/* Bytes that are equal from the beginning on. */
static gsize
common_bytes(const GByteArray *a, const GByteArray *b)
{
    gsize n = 0;
    while (n < a->len && n < b->len && a->data[n] == b->data[n]) {
        n++;
    }
    return n;
}

static void
check_good(const GByteArray *packed, const GByteArray *want)
{
    static const struct {
        gsize piece_bytes;
        gsize room_bytes;
    } ways[] = {{0, 0}, {1, 0}, {0, 1}, {7, 13}, {1, 1}, {1000, 100}};
    for (gsize i = 0; i < G_N_ELEMENTS(ways); i++) {
        g_auto(outcome) got =
            unpack_by(packed, ways[i].piece_bytes, ways[i].room_bytes);
        CHECK_STR(got.why, NULL);
        CHECK_INT(got.out->len, want->len);
        CHECK_INT(common_bytes(got.out, want), want->len);
        CHECK_INT(got.position, packed->len);
    }
}

static void
check_bad(const GByteArray *packed, guint64 n_bytes, rs_unpack_end end,
          guint64 position, const char *why)
{
    g_auto(outcome) got = unpack_by(packed, 0, 0);
    CHECK_INT(got.out->len, n_bytes);
    CHECK_INT(got.end, end);
    CHECK_INT(got.position, position);
    CHECK_STR(got.why, why);
}

/* Half of it compresses, half of it does not. */
static GByteArray *
make_plain(void)
{
    GByteArray *plain = g_byte_array_new();
    guint32 random = 1;
    for (guint i = 0; i < N_BYTES; i++) {
        random = random * 1664525 + 1013904223;
        guint8 byte = i / 64 % 2 == 0 ? (guint8)(random >> 24) : (guint8)(i / 256);
        g_byte_array_append(plain, &byte, 1);
    }
    return plain;
}

/* Names a row after its format. */
static void
row(gsize i, const char *what)
{
    g_autofree char *name = g_strdup_printf("%s: %s", packings[i].name, what);
    check_row(name);
}

static void
test_members(gsize i)
{
    g_autoptr(GByteArray) plain = make_plain();
    g_autoptr(GByteArray) nothing = g_byte_array_new();
    row(i, "one member");
    g_autoptr(GByteArray) packed = pack(i, plain);
    CHECK(packed->len < plain->len);
    check_good(packed, plain);

    row(i, "nothing in it");
    g_autoptr(GByteArray) empty = pack(i, nothing);
    check_good(empty, nothing);

    row(i, "members, one empty, with padding between and behind");
    g_autoptr(GByteArray) several = g_byte_array_new();
    append_packed(several, i, plain->data, 3);
    memset(grow(several, 4), 0, 4);
    append_packed(several, i, NULL, 0);
    append_packed(several, i, plain->data + 3, plain->len - 3);
    memset(grow(several, 512), 0, 512);
    check_good(several, plain);
}

/* Whatever else may stand between two members of a format. */
static void
test_mixed(void)
{
    check_row("members of all formats");
    g_autoptr(GByteArray) plain = make_plain();
    g_autoptr(GByteArray) packed = g_byte_array_new();
    const guint part = N_BYTES / G_N_ELEMENTS(packings);
    pack_nothing(packed, 0);
    for (guint i = 0; i < G_N_ELEMENTS(packings); i++) {
        append_packed(packed, i, plain->data + i * part, part);
        pack_nothing(packed, 70000 * i + 1);
    }
    check_good(packed, plain);

    check_row("cut in what is passed over");
    const guint length = packed->len - 1;
    g_byte_array_set_size(packed, length);
    check_bad(packed, N_BYTES, RS_UNPACK_DAMAGED, length,
              "it ends within compressed data");
}

static void
test_rubbish(gsize i)
{
    row(i, "rubbish behind");
    g_autoptr(GByteArray) plain = make_plain();
    g_autoptr(GByteArray) packed = pack(i, plain);
    const guint length = packed->len;
    memset(grow(packed, 5), 0, 5);
    g_byte_array_append(packed, (const guint8 *)"rubbish", 7);
    check_bad(packed, N_BYTES, RS_UNPACK_DAMAGED, length + 5,
              "neither compressed data nor padding follows what was compressed");

    row(i, "the next is cut");
    g_byte_array_set_size(packed, length);
    append_packed(packed, i, plain->data, plain->len);
    for (guint n = 1; n < 20; n++) {
        g_byte_array_set_size(packed, length + n);
        check_bad(packed, N_BYTES, RS_UNPACK_DAMAGED, length + n,
                  "it ends within compressed data");
    }
}

/* Bytes of the blocks that end at or before `at`. */
static gsize
whole_blocks(const GArray *ends, gsize at)
{
    gsize n = 0;
    while (n < ends->len && g_array_index(ends, guint, n) <= at) {
        n++;
    }
    return MIN(n * BLOCK_BYTES, N_BYTES);
}

/* Wherever a file is cut: what could be unpacked was, and the end is told. */
static void
test_cut(gsize i)
{
    row(i, "cut");
    g_autoptr(GByteArray) plain = make_plain();
    g_autoptr(GByteArray) packed = g_byte_array_new();
    g_autoptr(GArray) ends = g_array_new(FALSE, FALSE, sizeof(guint));
    packing p = {packed, plain->data, plain->len, BLOCK_BYTES, ends};
    packings[i].pack(&p);
    check_good(packed, plain);
    for (guint cut = packed->len - 1; cut >= RS_UNPACK_MAGIC_BYTES;
         cut -= MIN(cut, STEP)) {
        g_byte_array_set_size(packed, cut);
        g_auto(outcome) got = unpack_by(packed, 0, cut % 3 == 0 ? 10 : 0);
        CHECK_STR(got.why, "it ends within compressed data");
        CHECK_STR(got.format, packings[i].name);
        CHECK_INT(got.end, RS_UNPACK_DAMAGED);
        CHECK_INT(got.position, cut);
        CHECK_INT(common_bytes(got.out, plain), got.out->len);
        CHECK(got.out->len >= whole_blocks(ends, cut));
        CHECK(got.out->len <= whole_blocks(ends, cut) + BLOCK_BYTES);
    }
}

/* Whatever byte is wrong: blocks in front of it are delivered, nothing wrong is taken for
 * good, and the place that is told is not in front of its block. */
static void
test_flipped(gsize i)
{
    row(i, "a wrong byte");
    g_autoptr(GByteArray) plain = make_plain();
    g_autoptr(GByteArray) packed = g_byte_array_new();
    g_autoptr(GArray) ends = g_array_new(FALSE, FALSE, sizeof(guint));
    packing p = {packed, plain->data, plain->len, BLOCK_BYTES, ends};
    packings[i].pack(&p);
    for (guint at = 0; at < packed->len; at += at < 40 ? 1 : STEP) {
        packed->data[at] ^= (guint8)(1u << at % 8);
        g_auto(outcome) got = unpack_by(packed, 0, at % 3 == 0 ? 10 : 0);
        packed->data[at] ^= (guint8)(1u << at % 8);
        const gsize before = whole_blocks(ends, at);
        CHECK(common_bytes(got.out, plain) >= before);
        if (got.end == RS_UNPACK_GOOD) {
            CHECK_INT(common_bytes(got.out, plain), plain->len);
        }
        const guint block_i = (guint)(before / BLOCK_BYTES);
        const guint block_at = block_i > 0 && before < N_BYTES
                                   ? g_array_index(ends, guint, block_i - 1)
                                   : 0;
        CHECK(got.position >= block_at && got.position <= packed->len);
    }
}

/* The last byte of the content's check. */
static void
test_checks(gsize i)
{
    if (packings[i].n_check_bytes == 0) {
        return;
    }
    row(i, "wrong checksum");
    g_autoptr(GByteArray) plain = make_plain();
    g_autoptr(GByteArray) packed = pack(i, plain);
    packed->data[packed->len - packings[i].n_check_bytes] ^= 1;
    g_auto(outcome) got = unpack_by(packed, 0, 0);
    CHECK_STR(got.why, "incorrect data check");
    CHECK_INT(common_bytes(got.out, plain), N_BYTES);
    CHECK(got.position >= packed->len - packings[i].n_check_bytes);
}

/* What asks for more memory than there shall be. */
static void
test_windows(void)
{
    static const struct {
        const char *name;
        int window_log;
        const char *why; /* NULL: it can be unpacked */
    } rows[] = {
        {"the widest window", RS_UNPACK_WINDOW_LOG, NULL},
        {"a wider window", RS_UNPACK_WINDOW_LOG + 1,
         "it refers back by more than 128 MiB (zstd --long=28 and above)"},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
        check_row(rows[i].name);
        /* magic; a descriptor without a size; the window; one raw block, the last */
        const guint8 frame[] = {
            0x28, 0xb5, 0x2f, 0xfd, 0, (guint8)((rows[i].window_log - 10) << 3),
            0x09, 0,    0,    'x'};
        g_autoptr(GByteArray) packed = g_byte_array_new();
        g_byte_array_append(packed, frame, sizeof frame);
        g_auto(outcome) got = unpack_by(packed, 0, 0);
        CHECK_STR(got.why, rows[i].why);
        CHECK_INT(got.end, rows[i].why == NULL ? RS_UNPACK_GOOD : RS_UNPACK_REFUSED);
        CHECK_INT(got.out->len, rows[i].why == NULL ? 1 : 0);
    }
}

static void
test_dictionaries(void)
{
    static const struct {
        const char *name;
        guint32 bytes;
        const char *why;
    } rows[] = {
        {"the dictionary of xz -9", 64u << 20, NULL},
        {"a larger dictionary", 256u << 20,
         "it needs more than 128 MiB of memory to be unpacked"},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
        check_row(rows[i].name);
        lzma_options_lzma options;
        CHECK(!lzma_lzma_preset(&options, 0));
        options.dict_size = rows[i].bytes;
        lzma_filter filters[] = {{LZMA_FILTER_LZMA2, &options},
                                 {LZMA_VLI_UNKNOWN, NULL}};
        guint8 out[256];
        size_t length = 0;
        CHECK_INT(lzma_stream_buffer_encode(filters, LZMA_CHECK_CRC64, NULL,
                                            (const guint8 *)"x", 1, out, &length,
                                            sizeof out),
                  LZMA_OK);
        g_autoptr(GByteArray) packed = g_byte_array_new();
        g_byte_array_append(packed, out, (guint)length);
        g_auto(outcome) got = unpack_by(packed, 0, 0);
        CHECK_STR(got.why, rows[i].why);
        CHECK_INT(got.end, rows[i].why == NULL ? RS_UNPACK_GOOD : RS_UNPACK_REFUSED);
    }
}

static void
test_recognised(void)
{
    static const struct {
        const char *name;
        guint8 bytes[7];
        guint n_bytes;
        gboolean recognised;
        const char *refusal; /* how it begins, or NULL */
    } rows[] = {
        /* clang-format off */
        {"gzip", {0x1f, 0x8b}, 2, TRUE, NULL},
        {"half of gzip", {0x1f}, 1, FALSE, NULL},
        {"nothing", {0}, 0, FALSE, NULL},
        {"zstd", {0x28, 0xb5, 0x2f, 0xfd}, 4, TRUE, NULL},
        {"most of zstd", {0x28, 0xb5, 0x2f}, 3, FALSE, NULL},
        {"zstd, one bit off", {0x28, 0xb5, 0x2f, 0xfc}, 4, FALSE, NULL},
        {"lz4", {0x04, 0x22, 0x4d, 0x18}, 4, TRUE, NULL},
        {"old lz4", {0x02, 0x21, 0x4c, 0x18}, 4, FALSE, "is compressed with lz4 -l"},
        {"xz", {0xfd, '7', 'z', 'X', 'Z', 0}, 6, TRUE, NULL},
        {"most of xz", {0xfd, '7', 'z', 'X', 'Z'}, 5, FALSE, NULL},
        {"skippable, the first", {0x50, 0x2a, 0x4d, 0x18}, 4, TRUE, NULL},
        {"skippable, the last", {0x5f, 0x2a, 0x4d, 0x18}, 4, TRUE, NULL},
        {"before skippable", {0x4f, 0x2a, 0x4d, 0x18}, 4, FALSE, NULL},
        {"behind skippable", {0x60, 0x2a, 0x4d, 0x18}, 4, FALSE, NULL},
        {"bzip2", {'B', 'Z', 'h', '9'}, 4, FALSE, "is compressed with bzip2, and gzip, "
         "zstd, lz4 and xz are what can be read; unpack it first, with \"bzip2 -dc\" for one"},
        {"zip", {'P', 'K', 3, 4}, 4, FALSE, "is compressed with zip"},
        {"pcap", {0xd4, 0xc3, 0xb2, 0xa1}, 4, FALSE, NULL},
        /* clang-format on */
    };
    for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
        check_row(rows[i].name);
        CHECK_INT(rs_unpack_recognise(rows[i].bytes, rows[i].n_bytes),
                  rows[i].recognised);
        g_autofree char *refusal = rs_unpack_refusal(rows[i].bytes, rows[i].n_bytes);
        CHECK_INT(refusal != NULL, rows[i].refusal != NULL);
        CHECK(refusal == NULL || g_str_has_prefix(refusal, rows[i].refusal));
    }
}

int
main(void)
{
    test_recognised();
    for (gsize i = 0; i < G_N_ELEMENTS(packings); i++) {
        test_members(i);
        test_rubbish(i);
        test_cut(i);
        test_flipped(i);
        test_checks(i);
    }
    test_mixed();
    test_windows();
    test_dictionaries();
    check_row(NULL);
    return check_status();
}
