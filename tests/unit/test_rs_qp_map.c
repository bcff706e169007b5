/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tables of queue pairs as iproute2 prints them, and what is no such table. */
#include "check.h"
#include "error.h"
#include "hosts.h"
#include "qp_map.h"

#define HEAD "{\"ifindex\":0,\"ifname\":\"mlx5_0\",\"port\":1,"
#define TAIL "\"sq-psn\":9,\"path-mig-state\":\"MIGRATED\",\"pdn\":3}"

/* Whether local QPN 5 with peer 9 is in the table, by its process "x" (7). */
static const struct {
    const char *name, *text;
    gboolean known;
} tables[] = {
    {"one row",
     "[" HEAD "\"lqpn\":5,\"rqpn\":9,\"type\":\"RC\",\"state\":\"RTS\",\"pid\":7,"
     "\"comm\":\"x\"," TAIL "]",
     TRUE},
    {"pretty",
     "[ {\n \"lqpn\": 5,\n \"rqpn\": 9,\n \"type\": \"RC\",\n \"pid\": 7,\n"
     " \"comm\": \"x\"\n } ]\n",
     TRUE},
    {"arrays in arrays",
     "[[{\"lqpn\":5,\"rqpn\":9,\"type\":\"RC\",\"pid\":7,"
     "\"comm\":\"x\"}],[]]",
     TRUE},
    {"one object alone",
     "{\"lqpn\":5,\"rqpn\":9,\"type\":\"RC\",\"pid\":7,\"comm\":\"x\"}", TRUE},
    {"no type, no state", "[{\"lqpn\":5,\"rqpn\":9,\"pid\":7,\"comm\":\"x\"}]", TRUE},
    {"UC", "[{\"lqpn\":5,\"rqpn\":9,\"type\":\"UC\",\"pid\":7,\"comm\":\"x\"}]", TRUE},
    {"XRC", "[{\"lqpn\":5,\"rqpn\":9,\"type\":\"XRC_INI\",\"pid\":7,\"comm\":\"x\"}]",
     TRUE},
    {"in the error state",
     "[{\"lqpn\":5,\"rqpn\":9,\"type\":\"RC\",\"state\":\"ERR\",\"pid\":7,\"comm\":"
     "\"x\"}]",
     TRUE},
    {"twice",
     "[{\"lqpn\":5,\"rqpn\":9,\"pid\":7,\"comm\":\"x\"},"
     "{\"lqpn\":5,\"rqpn\":9,\"pid\":7,\"comm\":\"x\"}]",
     TRUE},
    {"twice, of two processes: nobody can tell which",
     "[{\"lqpn\":5,\"rqpn\":9,\"pid\":7,\"comm\":\"x\"},"
     "{\"lqpn\":5,\"rqpn\":9,\"pid\":8,\"comm\":\"x\"}]",
     FALSE},
    {"two devices, told apart by their peers",
     "[{\"lqpn\":5,\"rqpn\":8,\"pid\":8,\"comm\":\"y\"},"
     "{\"lqpn\":5,\"rqpn\":9,\"pid\":7,\"comm\":\"x\"}]",
     TRUE},
    {"keys of other versions",
     "[{\"lqpn\":5,\"rqpn\":9,\"pid\":7,\"comm\":\"x\",\"drv_sq\":{\"a\":[1]},\"z\":1."
     "5}]",
     TRUE},
    {"nothing", "[]", FALSE},
    {"another QPN", "[{\"lqpn\":6,\"rqpn\":9,\"pid\":7,\"comm\":\"x\"}]", FALSE},
    {"no peer", "[{\"lqpn\":5,\"type\":\"RC\",\"pid\":7,\"comm\":\"x\"}]", FALSE},
    {"peer null", "[{\"lqpn\":5,\"rqpn\":null,\"pid\":7,\"comm\":\"x\"}]", FALSE},
    {"UD", "[{\"lqpn\":5,\"rqpn\":9,\"type\":\"UD\",\"pid\":7,\"comm\":\"x\"}]", FALSE},
    {"GSI", "[{\"lqpn\":1,\"type\":\"GSI\",\"comm\":\"ib_core\"}]", FALSE},
    {"not yet connected",
     "[{\"lqpn\":5,\"rqpn\":9,\"type\":\"RC\",\"state\":\"INIT\",\"pid\":7,\"comm\":"
     "\"x\"}]",
     FALSE},
    {"the process is not known", "[{\"lqpn\":5,\"rqpn\":9,\"comm\":null}]", FALSE},
};

static const struct {
    const char *name, *text, *message;
} refused[] = {
    {"cut", "[{\"lqpn\":5,\n\"rqpn\"",
     "f: line 2, column 6: is no JSON: ':' expected near end of file"},
    {"text", "lqpn 5 rqpn 9",
     "f: line 1, column 4: is no JSON: '[' or '{' expected near 'lqpn'"},
    {"something behind it", "[] []",
     "f: line 1, column 4: is no JSON: end of file expected near '['"},
    {"a QPN in quotes", "[{\"lqpn\":2,\"rqpn\":3},{\"lqpn\":\"5\"}]",
     "f: queue pair 2: \"lqpn\" is no integer"},
    {"a QPN with a fraction", "[{\"lqpn\":5.0}]",
     "f: queue pair 1: \"lqpn\" is no integer"},
    {"the highest QPN and one more", "[{\"lqpn\":16777215,\"rqpn\":16777216}]",
     "f: queue pair 1: \"rqpn\" is out of range"},
    {"below 0", "[{\"lqpn\":-1}]", "f: queue pair 1: \"lqpn\" is out of range"},
    {"a type that is none", "[{\"lqpn\":5,\"type\":2}]",
     "f: queue pair 1: \"type\" is no string"},
    {"a name that is none", "[{\"lqpn\":5,\"comm\":{}}]",
     "f: queue pair 1: \"comm\" is no string"},
    {"another table of the same tool",
     "[{\"ifindex\":0,\"ifname\":\"mlx5_0\",\"pd\":5}]",
     "f: queue pair 1: \"lqpn\" is missing; is this what \"rdma -j resource show qp\" "
     "prints?"},
    {"numbers", "[5,9]",
     "f: is no array of queue pairs, as \"rdma -j resource show qp\" prints it"},
    {"nested too deep", "[[[[[[[[[]]]]]]]]]",
     "f: is no array of queue pairs, as \"rdma -j resource show qp\" prints it"},
};

static GArray *
addrs_of(const char *list)
{
    return rs_hosts_parse_list(NULL, "--x", list, NULL);
}

static gboolean
parse(rs_qp_maps *maps, const char *list, const char *text, GError **error)
{
    g_autoptr(GArray) addrs = addrs_of(list);
    return rs_qp_maps_parse(maps, addrs, text, strlen(text), "f", error);
}

static gboolean
knows(const rs_qp_maps *maps, const char *address)
{
    roce_addr addr;
    rs_process process = {.pid = -1};
    guint32 rqpn = 9;
    CHECK(rs_hosts_parse_addr(address, &addr));
    gboolean known = rs_qp_maps_process(maps, &addr, 5, &rqpn, &process);
    if (known) {
        CHECK_STR(process.comm, "x");
        CHECK_INT(process.pid, 7);
    }
    return known;
}

static void
check_tables(void)
{
    for (gsize i = 0; i < G_N_ELEMENTS(tables); i++) {
        g_autoptr(GError) error = NULL;
        g_autoptr(rs_qp_maps) maps = rs_qp_maps_new();
        check_row(tables[i].name);
        CHECK(parse(maps, "10.0.0.1,::ffff:10.0.0.2,fd00::1", tables[i].text, &error));
        CHECK_STR(error != NULL ? error->message : NULL, NULL);
        CHECK_INT(knows(maps, "10.0.0.1"), tables[i].known);
        CHECK_INT(knows(maps, "10.0.0.2"), tables[i].known);
        CHECK_INT(knows(maps, "fd00::1"), tables[i].known);
        CHECK(!knows(maps, "10.0.0.3"));
    }
    check_row(NULL);
}

static void
check_refused(void)
{
    for (gsize i = 0; i < G_N_ELEMENTS(refused); i++) {
        g_autoptr(GError) error = NULL;
        g_autoptr(rs_qp_maps) maps = rs_qp_maps_new();
        check_row(refused[i].name);
        CHECK(!parse(maps, "10.0.0.1", refused[i].text, &error));
        CHECK(g_error_matches(error, RS_ERROR, RS_ERROR_DAMAGED));
        CHECK_STR(error != NULL ? error->message : NULL, refused[i].message);
    }
    check_row(NULL);
}

/* A table with so many peers of one QPN. */
static gboolean
takes_peers(guint n)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(rs_qp_maps) maps = rs_qp_maps_new();
    g_autoptr(GString) text = g_string_new("[");
    for (guint i = 0; i < n; i++) {
        g_string_append_printf(text, "%s{\"lqpn\":5,\"rqpn\":%u}", i > 0 ? "," : "",
                               1000 - i);
    }
    g_string_append(text, ",{\"lqpn\":5,\"rqpn\":1000},{\"lqpn\":6,\"rqpn\":1000}]");
    return parse(maps, "10.0.0.1", text->str, &error);
}

static void
check_hosts(void)
{
    static const char text[] = "[{\"lqpn\":5,\"rqpn\":9,\"pid\":7,\"comm\":\"x\"}]";
    static const char none[] = "[{\"lqpn\":6,\"rqpn\":9}]";
    g_autoptr(GError) error = NULL;
    g_autoptr(rs_qp_maps) maps = rs_qp_maps_new();
    CHECK(parse(maps, "10.0.0.1", text, NULL));
    CHECK(parse(maps, "10.0.0.2", none, NULL));
    CHECK(knows(maps, "10.0.0.1") && !knows(maps, "10.0.0.2"));
    CHECK(parse(maps, "10.0.0.2,10.0.0.3", text, NULL)); /* tables of a host add up */
    CHECK(knows(maps, "10.0.0.2") && knows(maps, "10.0.0.3"));
    CHECK(!parse(maps, "10.0.0.2,10.0.0.2", "[", NULL)); /* what was there stays */
    CHECK(knows(maps, "10.0.0.2"));
    CHECK(!parse(maps, "10.0.0.1,10.0.0.2", text, &error));
    CHECK(g_error_matches(error, RS_ERROR, RS_ERROR_USAGE));
    CHECK(takes_peers(ROCE_MAX_PEERS_OF_QPN - 1) && takes_peers(ROCE_MAX_PEERS_OF_QPN));
    CHECK(!takes_peers(ROCE_MAX_PEERS_OF_QPN + 1));
}

int
main(void)
{
    check_tables();
    check_refused();
    check_hosts();
    return check_status();
}
