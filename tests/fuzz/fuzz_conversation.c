/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Any bytes as a conversation (traffic.h), captured at several interfaces in a pcapng
 * file, through the whole analyzer to its reports (reports.h).  ICRCs are right where they
 * are to be, times are where they may be, and who captured it has names that no report may
 * print as they are.
 *
 *   0    interfaces that say their speed (bits 0-2), options (3-5), one interface or all
 *        (6)
 *   1..  steps
 */
#include "difference.h"
#include "reports.h"
#include "traffic_file.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SETTINGS 1
#define MAX_STEPS 400

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* An option that names a file of this text, which stays until the process ends. */
static const char *
option_of_file(const char *begin, const char *text)
{
    int fd;
    g_autofree char *path = bytes_as_file((const guint8 *)text, strlen(text), &fd);
    return g_strconcat(begin, path, NULL);
}

/* What the user tells of hosts, with names that are not to be printed as they are. */
static const char *const *
told_by_files(void)
{
    static const char *options[6];
    if (options[0] == NULL) {
        static const char *const table =
            "[{\"lqpn\":16,\"rqpn\":17,\"pid\":7,\"comm\":\"\\u001b<script>alert(1)\"},"
            "{\"lqpn\":18,\"rqpn\":18}]";
        options[0] = option_of_file("--hosts=", "10.0.0.0 " REPORTS_CANARY " 1 2\n"
                                                "10.0.0.1 b " REPORTS_CANARY "\n"
                                                "02:00:00:00:00:02 c - -\n");
        options[1] = option_of_file("--qp-map=10.0.0.0=", table);
        options[2] = option_of_file("--counters-before=10.0.0.1=",
                                    "link x/1 packet_seq_err 1 rx_prio3_pause 2\n");
        options[3] = option_of_file("--counters-after=10.0.0.1=",
                                    "link x/1 packet_seq_err 9 rx_prio3_pause 1\n");
        options[4] = "--captured-at=b";
    }
    return options;
}

/* What the user may say of the network. */
static const char *const *
options_of(guint which)
{
    static const char *const options[][7] = {
        {NULL},
        {"--captured-at", "10.0.0.1", "--link-speed", "100G", NULL},
        {"--captured-at", "network", "--dscp-map", "26:3,48:6", NULL},
        {"--watchdog", "sonic", "--icrc", "sample", "--top", "1", NULL},
        {"--icrc", "off", "--events", "3", "--max-streams", "1", NULL},
        {"--port", "53,4789", "--burst", "1M", "--watchdog", "1", NULL},
        {"--filter", "udp or ether proto 0x8808", NULL},
    };
    which &= 7;
    return which < G_N_ELEMENTS(options) ? options[which] : told_by_files();
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static traffic t; /* too large for a stack */
    if (size < SETTINGS) {
        return 0;
    }
    const guint n_points = (data[0] & 0x40) != 0 ? TRAFFIC_POINTS : 1;
    g_autoptr(GByteArray) file = traffic_file_new(n_points, data[0]);
    traffic_init(&t);
    const uint8_t *at = data + SETTINGS;
    for (guint i = 0; i < MAX_STEPS && at + TRAFFIC_STEP_BYTES <= data + size; i++) {
        const traffic_step step = traffic_read(at);
        at += TRAFFIC_STEP_BYTES;
        if (traffic_take(&t, &step) == TRAFFIC_FRAME) {
            traffic_seal(&t);
            traffic_file_add(file, &t, t.point < n_points ? t.point : 0, t.now_ns);
        }
    }
    int fd;
    g_autofree char *path = bytes_as_file(file->data, file->len, &fd);
    reports_check(path, options_of(data[0] >> 3));
    close(fd);
    return 0;
}
