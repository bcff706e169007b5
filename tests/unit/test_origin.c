/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where a packet says that it was captured.
 *
 * The one rule: a row changes one thing of a packet from a mirror's session or from one
 * interface of several, and says whether it still has the same origin.
 */
#include "check.h"

#include "roce/origin.h"

#define N_ROWS(rows) (sizeof(rows) / sizeof(rows)[0])

static roce_packet
mirrored(void)
{
    return (roce_packet){
        .sll2_ifindex = 3,
        .mirror = {.kind = ROCE_MIRROR_ERSPAN_III,
                   .direction = ROCE_MIRROR_INGRESS,
                   .source = {.bytes = {192, 0, 2, 1}, .family = 4},
                   .session = 7,
                   .hardware_id = 5,
                   .port = 9,
                   .time = 1000,
                   .has_time = true},
    };
}

static void
other_session(roce_packet *p)
{
    p->mirror.session++;
}

static void
other_direction(roce_packet *p)
{
    p->mirror.direction = ROCE_MIRROR_EGRESS;
}

static void
other_switch(roce_packet *p)
{
    p->mirror.source.bytes[3]++;
}

static void
other_kind(roce_packet *p)
{
    p->mirror.kind = ROCE_MIRROR_ERSPAN_II;
}

static void
other_port_and_time(roce_packet *p)
{
    p->mirror.hardware_id++;
    p->mirror.port++;
    p->mirror.time++;
    p->mirror.cut = true;
}

static void
other_ifindex(roce_packet *p)
{
    p->sll2_ifindex++;
}

static void
no_mirror(roce_packet *p)
{
    p->mirror = (roce_mirror){0};
}

static void
nothing(roce_packet *p)
{
    (void)p;
}

static void
test_mirrored(void)
{
    static const struct {
        const char *name;
        void (*change)(roce_packet *p);
        bool same;
    } rows[] = {
        {"nothing", nothing, true},
        {"what the header says beside", other_port_and_time, true},
        {"where the mirror was captured", other_ifindex, true},
        {"session", other_session, false},
        {"direction", other_direction, false},
        {"switch", other_switch, false},
        {"kind", other_kind, false},
        {"not mirrored", no_mirror, false},
    };
    for (size_t i = 0; i < N_ROWS(rows); i++) {
        check_row(rows[i].name);
        roce_packet p = mirrored();
        roce_origin a = roce_origin_of(&p);
        rows[i].change(&p);
        roce_origin b = roce_origin_of(&p);
        CHECK_INT(roce_origin_equal(&a, &b), rows[i].same);
        CHECK_INT(roce_origin_hash(1, &a) == roce_origin_hash(1, &b), rows[i].same);
        CHECK_INT(a.kind, ROCE_ORIGIN_MIRROR);
    }
}

static void
test_others(void)
{
    const roce_origin itself = {0};
    static const struct {
        const char *name;
        uint32_t ifindex;
        roce_origin_kind kind;
    } rows[] = {
        {"no interface index", 0, ROCE_ORIGIN_INTERFACE},
        {"the first", 1, ROCE_ORIGIN_IFINDEX},
        {"the last", UINT32_MAX, ROCE_ORIGIN_IFINDEX},
    };
    for (size_t i = 0; i < N_ROWS(rows); i++) {
        check_row(rows[i].name);
        const roce_packet p = {.sll2_ifindex = rows[i].ifindex};
        roce_origin origin = roce_origin_of(&p);
        CHECK_INT(origin.kind, rows[i].kind);
        CHECK_INT(origin.number, rows[i].ifindex);
        CHECK_INT(roce_origin_equal(&origin, &itself),
                  rows[i].kind == ROCE_ORIGIN_INTERFACE);
        CHECK(!roce_origin_has_session(&origin));
    }
}

static void
test_sessions(void)
{
    static const bool has_session[ROCE_N_MIRRORS] = {
        [ROCE_MIRROR_ERSPAN_II] = true,
        [ROCE_MIRROR_ERSPAN_III] = true,
        [ROCE_MIRROR_ARISTA] = true,
    };
    for (roce_mirror_kind kind = ROCE_MIRROR_NONE; kind < ROCE_N_MIRRORS; kind++) {
        check_row(roce_mirror_kind_name(kind));
        roce_packet p = mirrored();
        p.mirror.kind = kind;
        roce_origin origin = roce_origin_of(&p);
        CHECK_INT(roce_origin_has_session(&origin), has_session[kind]);
    }
}

int
main(void)
{
    test_mirrored();
    test_others();
    test_sessions();
    return check_status();
}
