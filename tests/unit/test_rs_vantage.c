/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where captures were taken, as the user says. */
#include "check.h"
#include "error.h"
#include "vantage.h"

#define MAX_GIVEN 3

/* What was given as "WHERE" or "WHERE=FILE", and where file f stands to 10.0.0.1's
 * stream to 10.0.0.2; file g is there as well. */
static const struct {
    const char *name;
    const char *given[MAX_GIVEN];
    roce_vantage f, g;
} rows[] = {
    {"nothing", {NULL}, ROCE_VANTAGE_UNKNOWN, ROCE_VANTAGE_UNKNOWN},
    {"the sender", {"10.0.0.1"}, ROCE_VANTAGE_REQUESTER, ROCE_VANTAGE_REQUESTER},
    {"the receiver", {"10.0.0.2"}, ROCE_VANTAGE_RESPONDER, ROCE_VANTAGE_RESPONDER},
    {"another host", {"10.0.0.3"}, ROCE_VANTAGE_UNKNOWN, ROCE_VANTAGE_UNKNOWN},
    {"one of its addresses",
     {"10.0.0.3,10.0.0.1"},
     ROCE_VANTAGE_REQUESTER,
     ROCE_VANTAGE_REQUESTER},
    {"a host to itself",
     {"10.0.0.1,10.0.0.2"},
     ROCE_VANTAGE_UNKNOWN,
     ROCE_VANTAGE_UNKNOWN},
    {"by name", {"gpu01"}, ROCE_VANTAGE_REQUESTER, ROCE_VANTAGE_REQUESTER},
    {"network", {"network"}, ROCE_VANTAGE_MIDDLE, ROCE_VANTAGE_MIDDLE},
    {"one file", {"10.0.0.1=f"}, ROCE_VANTAGE_REQUESTER, ROCE_VANTAGE_UNKNOWN},
    {"a file each",
     {"10.0.0.1=f", "10.0.0.2=g"},
     ROCE_VANTAGE_REQUESTER,
     ROCE_VANTAGE_RESPONDER},
    {"all, and one otherwise",
     {"network", "10.0.0.2=g"},
     ROCE_VANTAGE_MIDDLE,
     ROCE_VANTAGE_RESPONDER},
    {"what is said twice adds up",
     {"10.0.0.3=f", "10.0.0.1=f"},
     ROCE_VANTAGE_REQUESTER,
     ROCE_VANTAGE_UNKNOWN},
};

static gboolean
add(rs_vantages *vantages, const rs_hosts *hosts, const char *given, GError **error)
{
    g_auto(GStrv) parts = g_strsplit(given, "=", 2);
    return rs_vantages_add(vantages, hosts, parts[0], parts[1], error);
}

int
main(void)
{
    static const char names[] = "10.0.0.1 gpu01\n10.0.0.9 gpu01\n";
    g_autoptr(rs_hosts) hosts = rs_hosts_parse(names, sizeof names - 1, "hosts", NULL);
    roce_addr src, dst;
    CHECK(rs_hosts_parse_addr("10.0.0.1", &src) &&
          rs_hosts_parse_addr("10.0.0.2", &dst));
    for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autoptr(rs_vantages) vantages = rs_vantages_new();
        check_row(rows[i].name);
        for (guint k = 0; k < MAX_GIVEN && rows[i].given[k] != NULL; k++) {
            CHECK(add(vantages, hosts, rows[i].given[k], NULL));
        }
        CHECK_INT(rs_vantages_find(vantages, "f", &src, &dst), rows[i].f);
        CHECK_INT(rs_vantages_find(vantages, "g", &src, &dst), rows[i].g);
    }
    check_row(NULL);
    g_autoptr(GError) error = NULL;
    g_autoptr(rs_vantages) vantages = rs_vantages_new();
    CHECK(!add(vantages, hosts, "gpu02", &error));
    CHECK(g_error_matches(error, RS_ERROR, RS_ERROR_USAGE));
    g_clear_error(&error);
    CHECK(add(vantages, hosts, "network=f", NULL) &&
          add(vantages, hosts, "gpu01", NULL));
    CHECK(!add(vantages, hosts, "gpu01=f", &error));
    CHECK(g_error_matches(error, RS_ERROR, RS_ERROR_USAGE));
    return check_status();
}
