/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Counters of NICs as the tools print them, and what is none. */
#include "check.h"
#include "counters.h"
#include "error.h"

/* In each "packet_seq_err" is 12 in all. */
static const struct {
    const char *name, *text;
    guint n, n_devices;
} files[] = {
    {"rdma statistic show",
     "link mlx5_0/1 packet_seq_err 12 out_of_sequence 0 rnr_nak_retry_err 3 \n", 3, 1},
    {"two links",
     "link mlx5_0/1 packet_seq_err 5 out_of_sequence 0\n"
     "link mlx5_1/1 packet_seq_err 7 out_of_sequence 1\n",
     2, 2},
    {"a link whose counters stand below it",
     "link rxeA/1\n    packet_seq_err 12\n\tsent_pkts 9 rcvd_pkts 8\n", 3, 1},
    {"no end of line", "link rxeA/1 packet_seq_err 12", 1, 1},
    {"end of line as on other systems", "link rxeA/1 packet_seq_err 12\r\n", 1, 1},
    {"ethtool -S",
     "NIC statistics:\n     rx_packets: 18446744073709551615\n     packet_seq_err: "
     "12\n     [0]: tx_bytes: 4\n",
     3, 1},
    {"comments and blanks", "# host a\n\n packet_seq_err: 12 \n", 1, 1},
    {"grep in sysfs",
     "/sys/class/infiniband/mlx5_0/ports/1/hw_counters/packet_seq_err:4\n"
     "/sys/class/infiniband/mlx5_0/ports/2/hw_counters/packet_seq_err:8\n"
     "/sys/class/infiniband/mlx5_0/ports/1/hw_counters/lifespan:10\n",
     2, 2},
    {"rdma -j statistic show",
     "[{\"ifindex\":3,\"ifname\":\"mlx5_0\",\"port\":1,\"packet_seq_err\":12,"
     "\"out_of_sequence\":0}]",
     2, 1},
    {"rdma -jp statistic show, two links",
     "[ {\n \"ifindex\": 0,\n \"ifname\": \"a\",\n \"port\": 1,\n"
     " \"packet_seq_err\": 11\n },{\n \"ifname\": \"a\",\n \"port\": 2,\n"
     " \"packet_seq_err\": 1\n } ]\n",
     1, 2},
    {"names of sysfs", "{\"packet_seq_err\": 12, \"np_cnp_sent\": 7}", 2, 1},
    {"names of sysfs, nested",
     "{\"mlx5_0\":{\"ports\":{\"1\":{\"hw_counters\":{\"packet_seq_err\":12},"
     "\"counters\":{\"port_rcv_packets\":9}}}}}",
     2, 1},
    {"numbers as sysfs gives them",
     "{\"packet_seq_err\": \"12\\n\", \"mode\": \"off\"}", 1, 1},
    {"what stands there twice counts once", "packet_seq_err: 3\npacket_seq_err: 12\n",
     1, 1},
    {"what is no counter is passed over",
     "{\"packet_seq_err\":12,\"a\":null,\"b\":true,\"c\":[1,2],\"d\":[]}", 1, 1},
};

static const struct {
    const char *name, *text, *message;
} refused[] = {
    {"text", "packet_seq_err\n", "f: line 1: \"packet_seq_err\" is no counter"},
    {"no text", "\xff\x02", "f: line 1: \"\\xff\\x02\" is no counter"},
    {"on the second line", "a: 1\nb c d\n", "f: line 2: \"b c d\" is no counter"},
    {"a name without value", "link a/1 x 1 y\n", "f: line 1: \"y\" has no value"},
    {"a word for a number", "link a/1 x one\n",
     "f: line 1: \"x\" is followed by what is no number"},
    {"a number below 0", "x: -1\n",
     "f: line 1: \"x\" is followed by what is no number"},
    {"the greatest number and one", "x: 18446744073709551616\n",
     "f: line 1: \"x\" is followed by what is no number"},
    {"headings alone", "NIC statistics:\n",
     "f: has no counters, as \"rdma statistic show\" or \"ethtool -S\" prints them"},
    {"nothing in JSON", "{}",
     "f: has no counters, as \"rdma statistic show\" or \"ethtool -S\" prints them"},
    {"JSON, cut", "{\"a\": 1",
     "f: line 1, column 7: is no JSON: '}' expected near end of file"},
    {"JSON, with an end of line in a string", "{\"a\": \"1\n\"}",
     "f: line 1, column 8: is no JSON: unexpected newline near '\"1'"},
    {"JSON, below 0", "{\"a\": -1}", "f: \"a\" is below 0"},
    {"JSON, a fraction", "{\"a\": 1.5}", "f: \"a\" is no integer"},
};

static rs_counter_set *
parse(const char *text, GError **error)
{
    return rs_counter_set_parse(text, strlen(text), "f", error);
}

static void
check_files(void)
{
    for (gsize i = 0; i < G_N_ELEMENTS(files); i++) {
        g_autoptr(GError) error = NULL;
        check_row(files[i].name);
        g_autoptr(rs_counter_set) set = parse(files[i].text, &error);
        CHECK_STR(error != NULL ? error->message : NULL, NULL);
        guint64 value = 0;
        if (CHECK(set != NULL)) {
            CHECK(rs_counter_set_get(set, "packet_seq_err", &value));
            CHECK_INT(value, 12);
            CHECK(!rs_counter_set_get(set, "packet_seq", &value));
            CHECK_INT(rs_counter_set_n(set), files[i].n);
            CHECK_INT(rs_counter_set_n_devices(set), files[i].n_devices);
        }
    }
    check_row(NULL);
}

static void
check_refused(void)
{
    for (gsize i = 0; i < G_N_ELEMENTS(refused); i++) {
        g_autoptr(GError) error = NULL;
        check_row(refused[i].name);
        g_autoptr(rs_counter_set) set = parse(refused[i].text, &error);
        CHECK(set == NULL);
        CHECK(g_error_matches(error, RS_ERROR, RS_ERROR_DAMAGED));
        CHECK_STR(error != NULL ? error->message : NULL, refused[i].message);
    }
    check_row(NULL);
}

static void
check_increase(void)
{
    static const struct {
        const char *name, *before, *after;
        rs_counter_state state;
        guint64 increase;
    } rows[] = {
        {"nothing", "x: 5\n", "x: 5\n", RS_COUNTER_COUNTED, 0},
        {"some", "x: 5\n", "x: 12\n", RS_COUNTER_COUNTED, 7},
        {"beyond 32 bits", "x: 4294967290\n", "x: 4294967300\n", RS_COUNTER_COUNTED,
         10},
        {"wrapped", "x: 4294967290\n", "x: 4\n", RS_COUNTER_WRAPPED, 10},
        {"wrapped, from the least that can", "x: 2147483648\n", "x: 2147483647\n",
         RS_COUNTER_WRAPPED, 4294967295},
        {"one below it: reset", "x: 2147483647\n", "x: 0\n", RS_COUNTER_RESET, 0},
        {"more than 32 bits: reset", "x: 4294967296\n", "x: 0\n", RS_COUNTER_RESET, 0},
        {"not before", "y: 1\n", "x: 1\n", RS_COUNTER_MISSING, 0},
        {"not after", "x: 1\n", "y: 1\n", RS_COUNTER_MISSING, 0},
        {"two devices, one wrapped", "link a/1 x 4294967290\nlink a/2 x 1\n",
         "link a/2 x 3\nlink a/1 x 4\n", RS_COUNTER_WRAPPED, 12},
        {"another device", "link a/1 x 1\n", "link a/2 x 3\n", RS_COUNTER_MISSING, 0},
        {"a device more", "link a/1 x 1\n", "link a/1 x 1\nlink a/2 x 3\n",
         RS_COUNTER_MISSING, 0},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
        check_row(rows[i].name);
        g_autoptr(rs_counter_set) before = parse(rows[i].before, NULL);
        g_autoptr(rs_counter_set) after = parse(rows[i].after, NULL);
        guint64 increase = 0;
        CHECK_INT(rs_counter_increase(before, after, "x", &increase), rows[i].state);
        CHECK_INT(increase, rows[i].increase);
    }
    check_row(NULL);
}

int
main(void)
{
    check_files();
    check_refused();
    check_increase();
    return check_status();
}
