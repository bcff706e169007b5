/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Between which two points a packet was marked.  Point n has stream n.
 */
#include "check.h"
#include "twins.h"

#define WRITE_ONLY 0x0a
#define RC_ACK 0x11
#define MAX_SIGHTS 4
#define NOBODY 99

typedef struct look {
    guint point;
    guint8 ecn;
    guint8 hops;
} look;

#define ECT 2
#define CE ROCE_ECN_CE
#define DAMAGED 4 /* beside a codepoint */

static const struct {
    const char *name;
    look looks[MAX_SIGHTS];
    guint n_looks;
    uint8_t opcode;
    /* wanted */
    guint from, to; /* NOBODY: none */
    guint before;   /* point that saw it marked first, as did all; NOBODY: none */
} rows[] = {
    {"one point alone", {{0, CE, 64}}, 1, WRITE_ONLY, NOBODY, NOBODY, NOBODY},
    {"between two", {{0, ECT, 64}, {1, CE, 64}}, 2, WRITE_ONLY, 0, 1, NOBODY},
    {"not marked", {{0, ECT, 64}, {1, ECT, 63}}, 2, WRITE_ONLY, NOBODY, NOBODY, NOBODY},
    {"marked before both",
     {{0, CE, 64}, {1, CE, 63}},
     2,
     WRITE_ONLY,
     NOBODY,
     NOBODY,
     0},
    {"never marked is never unmarked",
     {{0, 0, 64}, {1, CE, 63}},
     2,
     WRITE_ONLY,
     NOBODY,
     NOBODY,
     1},
    {"the first of three",
     {{0, ECT, 64}, {1, CE, 63}, {2, CE, 62}},
     3,
     WRITE_ONLY,
     0,
     1,
     NOBODY},
    {"the second of three",
     {{0, ECT, 64}, {1, ECT, 63}, {2, CE, 62}},
     3,
     WRITE_ONLY,
     1,
     2,
     NOBODY},
    {"files in any order",
     {{2, CE, 62}, {1, ECT, 63}, {0, ECT, 64}},
     3,
     WRITE_ONLY,
     1,
     2,
     NOBODY},
    {"switches that do not route: by time",
     {{0, ECT, 64}, {1, ECT, 64}, {2, CE, 64}, {3, CE, 64}},
     4,
     WRITE_ONLY,
     1,
     2,
     NOBODY},
    {"a mark that was taken off is not put on",
     {{0, CE, 64}, {1, ECT, 63}},
     2,
     WRITE_ONLY,
     NOBODY,
     NOBODY,
     NOBODY},
    {"what is damaged is not marked",
     {{0, ECT, 64}, {1, CE | DAMAGED, 63}},
     2,
     WRITE_ONLY,
     NOBODY,
     NOBODY,
     NOBODY},
    {"an ACK is no data",
     {{0, ECT, 64}, {1, CE, 63}},
     2,
     RC_ACK,
     NOBODY,
     NOBODY,
     NOBODY},
};

static guint64
marked_from(const rs_twins *twins, guint point, guint from)
{
    const GArray *marked = rs_twins_marked(twins, point);
    guint64 n = 0;
    for (guint i = 0; marked != NULL && i < marked->len; i++) {
        const rs_marked *one = &g_array_index(marked, rs_marked, i);
        n += one->from == from ? one->packets : 0;
    }
    return n;
}

/* Whether a look may come as a glimpse, as unmarked data does. */
static gboolean
may_be_glimpse(gsize row, const look *one)
{
    return rows[row].opcode != RC_ACK && (one->ecn & 3) != ROCE_ECN_CE;
}

static void
check(gsize row, gboolean with_glimpses)
{
    rs_twins *twins = rs_twins_new(NULL);
    const roce_wire_identity identity = {.narrow = 7};
    for (guint i = 0; i < rows[row].n_looks; i++) {
        const look *one = &rows[row].looks[i];
        const roce_packet packet = {
            .has_bth = true,
            .payload_bytes = rows[row].opcode == RC_ACK ? 0 : 64,
            .hop_limit = one->hops,
            .traffic_class = one->ecn & 3,
            .bth = {.opcode = rows[row].opcode},
        };
        const roce_frame frame = {.number = i + 1, .point = one->point};
        const roce_stream stream = {.id = one->point, .point = one->point};
        const roce_sighting sighting = {.corrupt = (one->ecn & DAMAGED) != 0};
        const rs_sight sight = {.frame = &frame,
                                .packet = &packet,
                                .stream = &stream,
                                .sighting = &sighting};
        const rs_glimpse glimpse = {
            .stream = &stream,
            .frame = i + 1,
            .hop_limit = one->hops,
            .traffic_class = one->ecn,
        };
        if (with_glimpses && may_be_glimpse(row, one)) {
            (void)rs_twins_glimpse(twins, &identity, &glimpse);
        } else {
            (void)rs_twins_add(twins, &identity, &sight);
        }
    }
    rs_twins_finish(twins, NULL);
    check_row(rows[row].name);
    for (guint to = 0; to < MAX_SIGHTS; to++) {
        for (guint from = 0; from < MAX_SIGHTS; from++) {
            gboolean is_it = from == rows[row].from && to == rows[row].to;
            CHECK_INT(marked_from(twins, to, from), is_it ? 1 : 0);
        }
        CHECK_INT(rs_twins_marked_before(twins, to), to == rows[row].before ? 1 : 0);
    }
    rs_twins_free(twins);
}

int
main(void)
{
    for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
        check(i, FALSE);
        check(i, TRUE);
    }
    return check_status();
}
