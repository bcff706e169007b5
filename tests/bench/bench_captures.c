/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes the captures that speed is measured with, always the same ones:
 *
 *   bench_captures KIND [--packets N] [--qps N] [--mtu BYTES] [--hosts N]
 *                  [--first-host N] [--truth] FILE
 *
 * KIND is one of the table below.  A file is a classic pcap with stamps in nanoseconds.
 * --truth prints what is in it, as JSON.
 */
#include "frame.h"
#include "traffic.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SNAP_HEADERS 128 /* tcpdump -s 128 */
#define SNAP_WHOLE 65535
#define OUT_BUFFER_BYTES (1u << 20)
#define PCAP_MAGIC_NS 0xa1b23c4du
#define LINKTYPE_ETHERNET 1u

/* What each makes unless options say otherwise. */
/* clang-format off */
static const struct {
    const char *name;
    uint32_t snap_bytes;
    traffic_plan plan;
} kinds[] = {
    {"headers", SNAP_HEADERS,
     {.requests = REQUESTS_WRITE, .n_hosts = 32, .n_qps = 1024, .n_packets = 10000000,
      .mtu_bytes = 4096, .message_pkts = 16, .burst_pkts = 4}},
    {"many", SNAP_HEADERS,
     {.requests = REQUESTS_WRITE, .n_hosts = 256, .n_qps = 65000, .n_packets = 5000000,
      .mtu_bytes = 4096, .message_pkts = 16, .burst_pkts = 4}},
    {"full", SNAP_WHOLE,
     {.requests = REQUESTS_WRITE, .n_hosts = 32, .n_qps = 1024, .n_packets = 1000000,
      .mtu_bytes = 1024, .message_pkts = 64, .burst_pkts = 8}},
    {"jumbo", SNAP_WHOLE,
     {.requests = REQUESTS_WRITE, .n_hosts = 32, .n_qps = 1024, .n_packets = 1000000,
      .mtu_bytes = 4096, .message_pkts = 16, .burst_pkts = 4}},
    {"lossy", SNAP_HEADERS,
     {.requests = REQUESTS_WRITE, .n_hosts = 16, .n_qps = 256, .n_packets = 1000000,
      .mtu_bytes = 4096, .message_pkts = 16, .burst_pkts = 16,
      .lost_of_65536 = 262, .marked_of_256 = 64}},
    {"reads", SNAP_HEADERS,
     {.requests = REQUESTS_READ, .n_hosts = 32, .n_qps = 1024, .n_packets = 1000000,
      .mtu_bytes = 4096, .message_pkts = 16, .burst_pkts = 4}},
    {"mixed", SNAP_HEADERS,
     {.requests = REQUESTS_WRITE, .n_hosts = 32, .n_qps = 1024, .n_packets = 1000000,
      .mtu_bytes = 4096, .message_pkts = 16, .burst_pkts = 4, .others_of_256 = 32}},
    {"missed", SNAP_HEADERS,
     {.requests = REQUESTS_WRITE, .n_hosts = 32, .n_qps = 1024, .n_packets = 1000000,
      .mtu_bytes = 4096, .message_pkts = 16, .burst_pkts = 4, .missed_of_256 = 3}},
    {"missed-reads", SNAP_HEADERS,
     {.requests = REQUESTS_READ, .n_hosts = 32, .n_qps = 1024, .n_packets = 1000000,
      .mtu_bytes = 4096, .message_pkts = 16, .burst_pkts = 4, .missed_of_256 = 3}},
    {"small", SNAP_HEADERS,
     {.requests = REQUESTS_WRITE, .n_hosts = 32, .n_qps = 1024, .n_packets = 1000000,
      .mtu_bytes = 4096, .message_pkts = 2, .burst_pkts = 4}},
    {"sprayed", SNAP_HEADERS,
     {.requests = REQUESTS_WRITE, .n_hosts = 32, .n_qps = 1024, .n_packets = 1000000,
      .mtu_bytes = 4096, .message_pkts = 16, .burst_pkts = 4, .overtaken_of_256 = 64}},
    {"sprayed-reads", SNAP_HEADERS,
     {.requests = REQUESTS_READ, .n_hosts = 32, .n_qps = 1024, .n_packets = 1000000,
      .mtu_bytes = 4096, .message_pkts = 16, .burst_pkts = 4, .overtaken_of_256 = 64}},
};
/* clang-format on */
#define N_KINDS (sizeof kinds / sizeof kinds[0])

/* A capture being written. */
typedef struct capture {
    FILE *file;
    uint32_t snap_bytes;
    frame_bytes frame;
} capture;

static _Noreturn void
usage(void)
{
    fprintf(stderr, "usage: bench_captures KIND [--packets N] [--qps N] [--mtu BYTES] "
                    "[--hosts N] [--first-host N] "
                    "[--truth] FILE\nkinds:");
    for (size_t i = 0; i < N_KINDS; i++) {
        fprintf(stderr, " %s", kinds[i].name);
    }
    fprintf(stderr, "\n");
    exit(2);
}

static uint64_t
number(const char *text, uint64_t least, uint64_t most)
{
    char *end;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    if (errno != 0 || end == text || *end != '\0' || value < least || value > most) {
        fprintf(stderr, "%s: not a number from %" PRIu64 " to %" PRIu64 "\n", text,
                least, most);
        exit(2);
    }
    return value;
}

static void
put_32(capture *c, const uint32_t *values, size_t n)
{
    fwrite(values, sizeof *values, n, c->file);
}

/* Numbers of the file are in the order of this machine, as the magic one tells. */
static void
begin_file(capture *c)
{
    const uint16_t version[] = {2, 4};
    const uint32_t rest[] = {0, 0, c->snap_bytes, LINKTYPE_ETHERNET};
    put_32(c, &(uint32_t){PCAP_MAGIC_NS}, 1);
    fwrite(version, sizeof version, 1, c->file);
    put_32(c, rest, 4);
}

static void
write_frame(void *context, uint64_t time_ns, const frame_values *values)
{
    capture *c = context;
    frame_make(values, c->snap_bytes, &c->frame);
    const uint32_t record[] = {
        (uint32_t)(time_ns / 1000000000u),
        (uint32_t)(time_ns % 1000000000u),
        c->frame.captured_bytes,
        c->frame.wire_bytes,
    };
    put_32(c, record, 4);
    fwrite(c->frame.bytes, 1, c->frame.captured_bytes, c->file);
}

static void
print_truth(const traffic_truth *t)
{
    const struct {
        const char *name;
        uint64_t value;
    } rows[] = {
        {"packets", t->n_packets},
        {"missed", t->n_missed},
        {"others", t->n_others},
        {"senders", t->n_senders},
        {"lost", t->n_lost},
        {"lost_unseen", t->n_lost_unseen},
        {"retransmitted", t->n_retransmitted},
        {"naks", t->n_naks},
        {"overtaken", t->n_overtaken},
        {"ce", t->n_ce},
        {"cnps", t->n_cnps},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        printf("%s\"%s\": %" PRIu64, i == 0 ? "{" : ", ", rows[i].name, rows[i].value);
    }
    printf("}\n");
}

/* Returns what main() is to return. */
static int
write_capture(const char *path, uint32_t snap_bytes, const traffic_plan *plan,
              traffic_truth *truth)
{
    static capture c;
    c.snap_bytes = snap_bytes;
    c.file = fopen(path, "wb");
    if (c.file == NULL) {
        perror(path);
        return EXIT_FAILURE;
    }
    setvbuf(c.file, NULL, _IOFBF, OUT_BUFFER_BYTES);
    begin_file(&c);
    frame_init();
    traffic_run(plan, write_frame, &c, truth);
    bool failed = ferror(c.file) != 0;
    if (fclose(c.file) != 0 || failed) {
        perror(path);
        return EXIT_FAILURE;
    }
    return EXIT_SUCCESS;
}

static size_t
find_kind(const char *name)
{
    for (size_t i = 0; i < N_KINDS; i++) {
        if (strcmp(kinds[i].name, name) == 0) {
            return i;
        }
    }
    usage();
}

int
main(int argc, char **argv)
{
    static const struct option options[] = {
        {"packets", required_argument, NULL, 'n'},
        {"qps", required_argument, NULL, 'q'},
        {"mtu", required_argument, NULL, 'm'},
        {"hosts", required_argument, NULL, 'h'},
        {"first-host", required_argument, NULL, 'f'},
        {"truth", no_argument, NULL, 't'},
        {NULL, 0, NULL, 0},
    };
    if (argc < 3) {
        usage();
    }
    size_t kind_i = find_kind(argv[1]);
    traffic_plan plan = kinds[kind_i].plan;
    plan.seed = kind_i + 1;
    bool wants_truth = false;
    optind = 2;
    for (int option; (option = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        switch (option) {
        case 'n':
            plan.n_packets = number(optarg, 1, UINT32_MAX);
            break;
        case 'q':
            plan.n_qps = (uint32_t)number(optarg, 2, 1u << 22) & ~1u;
            break;
        case 'm':
            plan.mtu_bytes = (uint32_t)number(optarg, 4, 4096) & ~3u;
            break;
        case 'h':
            plan.n_hosts = (uint32_t)number(optarg, 2, 65534);
            break;
        case 'f':
            plan.first_host = (uint32_t)number(optarg, 0, 0xff0000);
            break;
        case 't':
            wants_truth = true;
            break;
        default:
            usage();
        }
    }
    if (optind + 1 != argc) {
        usage();
    }
    traffic_truth truth;
    int status = write_capture(argv[optind], kinds[kind_i].snap_bytes, &plan, &truth);
    if (status == EXIT_SUCCESS && wants_truth) {
        print_truth(&truth);
    }
    return status;
}
