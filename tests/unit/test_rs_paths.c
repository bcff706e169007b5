/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What packets tell of their path: times to live, MigReq, P_Keys. */
#include "check.h"
#include "paths.h"

typedef struct seen {
    guint8 ttl;
    guint16 p_key;
    guint8 opcode_transport; /* roce_transport */
} seen;

static void
add(rs_paths *paths, const roce_stream *stream, const seen *one)
{
    static guint64 number;
    const roce_frame frame = {.number = ++number};
    const roce_packet packet = {
        .kind = ROCE_CLASS_ROCE,
        .has_bth = true,
        .transport = (roce_transport)one->opcode_transport,
        .hop_limit = one->ttl,
        .bth = {.dest_qpn = 0x11, .p_key = one->p_key},
    };
    const rs_sight sight = {
        .frame = &frame, .packet = &packet, .stream = stream, .n = 1};
    rs_paths_packet(paths, &sight);
}

/* `runs` stretches of `length` packets, alternating between two values. */
static rs_ttl_pattern
pattern_of(guint runs, guint length, guint64 copies)
{
    rs_paths *paths = rs_paths_new();
    roce_stream_trouble trouble = {0};
    roce_stream stream = {.id = 3, .trouble = &trouble};
    trouble.disorder[ROCE_SPACE_REQUESTS].duplicates = copies;
    for (guint i = 0; i < runs * length; i++) {
        const seen one = {(guint8)(63 - i / length % 2), 0xffff, ROCE_TRANSPORT_RC};
        add(paths, &stream, &one);
    }
    rs_ttl_pattern pattern = rs_ttl_pattern_of(rs_paths_stream(paths, 3), &stream);
    rs_paths_free(paths);
    return pattern;
}

static void
check_patterns(void)
{
    static const struct {
        const char *name;
        guint runs, length;
        guint64 copies;
        rs_ttl_pattern pattern;
    } rows[] = {
        {"one value", 1, 50, 0, RS_TTL_CONSTANT},
        {"two, once", 2, 50, 0, RS_TTL_CHANGED},
        {"two, and back", 3, 50, 0, RS_TTL_MIXED},
        {"by the packet", 40, 1, 0, RS_TTL_SPRAYED},
        {"eight to a stretch, and the last one", 100, 7, 0, RS_TTL_SPRAYED},
        {"more than eight", 100, 9, 0, RS_TTL_MIXED},
        {"one copy fewer than packets of the rarer value", 40, 1, 19, RS_TTL_SPRAYED},
        {"as many copies", 40, 1, 20, RS_TTL_COPIES},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
        check_row(rows[i].name);
        CHECK_INT(pattern_of(rows[i].runs, rows[i].length, rows[i].copies),
                  rows[i].pattern);
    }
    check_row(NULL);
}

/* Four values are told apart, a fifth is not. */
static void
check_values(void)
{
    rs_paths *paths = rs_paths_new();
    const roce_stream stream = {.id = 0};
    for (guint8 ttl = 60; ttl < 65; ttl++) {
        const seen one = {ttl, 0xffff, ROCE_TRANSPORT_RC};
        add(paths, &stream, &one);
        CHECK_INT(rs_paths_stream(paths, 0)->more_ttls, ttl == 64);
    }
    const rs_stream_path *path = rs_paths_stream(paths, 0);
    CHECK_INT(path->n_ttls, 4);
    CHECK_INT(rs_path_changes_of(path)->ttl_changes, 4);
    CHECK_INT(rs_path_changes_of(path)->at_change,
              rs_path_changes_of(path)->before_change + 1);
    CHECK_INT(rs_ttl_pattern_of(path, &stream), RS_TTL_SPRAYED);
    rs_paths_free(paths);
}

/* What plays no part leaves no trace. */
static void
check_left_out(void)
{
    const seen cnp = {1, 0x8001, ROCE_TRANSPORT_CNP};
    const seen good = {64, 0xffff, ROCE_TRANSPORT_RC};
    rs_paths *paths = rs_paths_new();
    const roce_stream stream = {.id = 0};
    add(paths, &stream, &cnp);
    CHECK(rs_paths_stream(paths, 0) == NULL);
    add(paths, &stream, &good);
    add(paths, &stream, &cnp);
    CHECK_INT(rs_path_changes_of(rs_paths_stream(paths, 0))->ttl_changes, 0);
    CHECK_INT(rs_path_changes_of(rs_paths_stream(paths, 0))->other_p_key_frame, 0);
    rs_paths_free(paths);
    paths = rs_paths_new();
    const roce_stream last = {.id = RS_PATHS_STREAMS - 1};
    const roce_stream beyond = {.id = RS_PATHS_STREAMS};
    add(paths, &last, &good);
    add(paths, &beyond, &good);
    CHECK(rs_paths_stream(paths, RS_PATHS_STREAMS - 1) != NULL);
    CHECK(rs_paths_stream(paths, RS_PATHS_STREAMS) == NULL);
    rs_paths_free(paths);
}

static void
check_p_keys(void)
{
    static const struct {
        guint16 a, b;
        gboolean match;
    } rows[] = {
        {0xffff, 0xffff, TRUE},  {0xffff, 0x7fff, TRUE},  {0x7fff, 0xffff, TRUE},
        {0x7fff, 0x7fff, FALSE}, {0x8001, 0x8002, FALSE}, {0x8001, 0x0001, TRUE},
        {0x0001, 0x8002, FALSE},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
        CHECK_INT(rs_p_keys_match(rows[i].a, rows[i].b), rows[i].match);
    }
}

int
main(void)
{
    check_patterns();
    check_values();
    check_left_out();
    check_p_keys();
    return check_status();
}
