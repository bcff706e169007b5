/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of hosts: lines of a file, and what they name. */
#include "check.h"
#include "error.h"
#include "format.h"
#include "hosts.h"

#define LONG_WORD "12345678901234567890123456789012345678901234567890123456789012345"

/* One file, and the label of one address by it. */
static const struct {
    const char *name, *text, *addr, *label;
} labels[] = {
    {"address and name", "10.0.0.1 gpu01\n", "10.0.0.1", "gpu01"},
    {"another address", "10.0.0.1 gpu01\n", "10.0.0.2", "10.0.0.2"},
    {"with a rail", "10.0.0.1 gpu01 rail3", "10.0.0.1", "gpu01/rail3"},
    {"a rail that is a number", "10.0.0.1 gpu01 3", "10.0.0.1", "gpu01/rail3"},
    {"with rail and port", "10.0.0.1\tgpu01  3 1", "10.0.0.1", "gpu01/rail3/port1"},
    {"no rail, but a port", "10.0.0.1 leaf1 - swp7", "10.0.0.1", "leaf1/swp7"},
    {"commas", "10.0.0.1,gpu01,3,1", "10.0.0.1", "gpu01/rail3/port1"},
    {"commas and blanks", " 10.0.0.1 , gpu01 , 3 , 1 ", "10.0.0.1",
     "gpu01/rail3/port1"},
    {"commas, no rail", "10.0.0.1,gpu01,,1", "10.0.0.1", "gpu01/port1"},
    {"commas, a name with a blank", "10.0.0.1,GPU node 1", "10.0.0.1", "GPU node 1"},
    {"comments and empty lines", "# names\n\n10.0.0.1 gpu01 # first\n  \n", "10.0.0.1",
     "gpu01"},
    {"lines of Windows", "10.0.0.1 gpu01\r\n10.0.0.2 gpu02\r\n", "10.0.0.2", "gpu02"},
    {"no newline at the end", "10.0.0.1 gpu01\n10.0.0.2 gpu02", "10.0.0.2", "gpu02"},
    {"IPv6", "fd00:0:0:0::1 gpu01", "fd00::1", "gpu01"},
    {"the GID of an IPv4 address", "::ffff:10.0.0.1 gpu01", "10.0.0.1", "gpu01"},
    {"MAC", "02:00:00:00:0A:01 leaf1 - swp7", "02:00:00:00:0a:01", "leaf1/swp7"},
    {"MAC with hyphens", "02-00-00-00-0a-01 leaf1", "02:00:00:00:0a:01", "leaf1"},
    {"a MAC address is no IPv6 address", "02:00:00:00:0a:01 leaf1", "200::a:1",
     "200::a:1"},
    {"twice: the first counts", "10.0.0.1 a\n10.0.0.1 b", "10.0.0.1", "a"},
    {"/etc/hosts: alias with domain", "10.0.0.1 gpu01 gpu01.example.org", "10.0.0.1",
     "gpu01"},
    {"/etc/hosts: alias without domain", "10.0.0.1 gpu01.example.org gpu01 node1 www",
     "10.0.0.1", "gpu01.example.org"},
    {"a terminal's escape", "10.0.0.1 \033[31mred", "10.0.0.1", "\\x1b[31mred"},
    {"no UTF-8", "10.0.0.1 a\xff", "10.0.0.1", "a\\xff"},
};

static const struct {
    const char *name, *text, *message;
} refused[] = {
    {"no address", "10.0.0.1 a\n10.0.0.300 b\n",
     "f: line 2 does not begin with an IPv4, IPv6 or MAC address"},
    {"a name first", "gpu01 10.0.0.1",
     "f: line 1 does not begin with an IPv4, IPv6 or MAC address"},
    {"commas only", ",,,",
     "f: line 1 does not begin with an IPv4, IPv6 or MAC address"},
    {"no name", "\n\n10.0.0.1 # gpu01", "f: line 3 has no name behind the address"},
    {"the name is nothing", "10.0.0.1,,3", "f: line 1 has no name behind the address"},
    {"too much", "10.0.0.1 gpu01 3 1 x",
     "f: line 1 has more than address, host, rail and port"},
    {"MAC, one digit short", "02:00:00:00:0a:1 leaf1",
     "f: line 1 does not begin with an IPv4, IPv6 or MAC address"},
    {"a long word", "10.0.0.1 " LONG_WORD LONG_WORD LONG_WORD LONG_WORD,
     "f: line 1 has a word of more than 255 bytes"},
};

static char *
label_of(const rs_hosts *hosts, const char *text)
{
    roce_addr addr;
    guint mac[6];
    if (rs_hosts_parse_addr(text, &addr)) {
        return rs_hosts_label(hosts, &addr);
    }
    (void)sscanf(text, "%2x:%2x:%2x:%2x:%2x:%2x", &mac[0], &mac[1], &mac[2], &mac[3],
                 &mac[4], &mac[5]);
    guint8 bytes[6];
    for (guint i = 0; i < 6; i++) {
        bytes[i] = (guint8)mac[i];
    }
    return rs_hosts_label_mac(hosts, bytes);
}

static void
check_labels(void)
{
    for (gsize i = 0; i < G_N_ELEMENTS(labels); i++) {
        g_autoptr(GError) error = NULL;
        check_row(labels[i].name);
        g_autoptr(rs_hosts) hosts =
            rs_hosts_parse(labels[i].text, strlen(labels[i].text), "f", &error);
        if (CHECK(hosts != NULL)) {
            g_autofree char *label = label_of(hosts, labels[i].addr);
            CHECK_STR(label, labels[i].label);
        }
        g_autofree char *bare = label_of(NULL, "10.9.9.9");
        CHECK_STR(bare, "10.9.9.9");
    }
    check_row(NULL);
}

static void
check_refused(void)
{
    for (gsize i = 0; i < G_N_ELEMENTS(refused); i++) {
        g_autoptr(GError) error = NULL;
        check_row(refused[i].name);
        g_autoptr(rs_hosts) hosts =
            rs_hosts_parse(refused[i].text, strlen(refused[i].text), "f", &error);
        CHECK(hosts == NULL && g_error_matches(error, RS_ERROR, RS_ERROR_DAMAGED));
        CHECK_STR(error != NULL ? error->message : NULL, refused[i].message);
    }
    g_autoptr(GError) error = NULL;
    static const char binary[] = "10.0.0.1 a\n10.0.0.2 b\0c\n";
    check_row("a NUL");
    CHECK(rs_hosts_parse(binary, sizeof binary - 1, "f", &error) == NULL);
    CHECK_STR(error != NULL ? error->message : NULL, "f: line 2 is no text");
    g_clear_error(&error);
    check_row("no file");
    CHECK(rs_hosts_read("/nonexistent/hosts", &error) == NULL);
    CHECK(g_error_matches(error, RS_ERROR, RS_ERROR_OPEN));
    g_clear_error(&error);
    check_row("a directory");
    CHECK(rs_hosts_read("/", &error) == NULL);
    CHECK(g_error_matches(error, RS_ERROR, RS_ERROR_IO));
    g_clear_error(&error);
    check_row("nothing in it");
    CHECK(rs_hosts_read("/dev/null", &error) == NULL);
    CHECK(g_error_matches(error, RS_ERROR, RS_ERROR_EMPTY));
    g_clear_error(&error);
    check_row("without end");
    CHECK(rs_hosts_read("/dev/zero", &error) == NULL);
    CHECK(g_error_matches(error, RS_ERROR, RS_ERROR_UNSUPPORTED));
    check_row(NULL);
}

/* Lists of addresses and names: how many addresses; -1 refused. */
static const struct {
    const char *list;
    int n;
} lists[] = {
    {"10.0.0.1", 1},
    {"10.0.0.1,10.0.0.2", 2},
    {"10.0.0.1,fd00::1,::ffff:10.0.0.9", 3},
    {"gpu01", 2},
    {"gpu01,10.0.0.9", 3},
    {"leaf1", -1}, /* has a MAC address only */
    {"gpu02", -1},
    {"", -1},
    {"10.0.0.1,", -1},
    {"10.0.0.1 ", -1},
};

static void
check_lists(void)
{
    static const char text[] =
        "10.0.0.1 gpu01 0\n10.0.0.2 gpu01 1\n02:00:00:00:00:01 leaf1\n";
    g_autoptr(rs_hosts) hosts = rs_hosts_parse(text, sizeof text - 1, "f", NULL);
    for (gsize i = 0; i < G_N_ELEMENTS(lists); i++) {
        g_autoptr(GError) error = NULL;
        check_row(lists[i].list);
        g_autoptr(GArray) addrs =
            rs_hosts_parse_list(hosts, "--x", lists[i].list, &error);
        CHECK_INT(addrs != NULL ? (int)addrs->len : -1, lists[i].n);
        CHECK_INT(g_error_matches(error, RS_ERROR, RS_ERROR_USAGE), lists[i].n < 0);
    }
    check_row(NULL);
}

int
main(void)
{
    check_labels();
    check_refused();
    check_lists();
    return check_status();
}
