/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Prints each packet of a classic capture that was lost, then its streams.  Frames go
 * straight to the tracker: a mirror that delivers twice wants roce/intake.h in between.
 */
#include <roce/decode.h>
#include <roce/icrc.h>
#include <roce/psn.h>
#include <roce/tracker.h>

#include <arpa/inet.h> /* inet_ntop() */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define MAGIC_MICROSECONDS 0xa1b2c3d4u
#define MAGIC_NANOSECONDS 0xa1b23c4du
#define LINK_TYPE_ETHERNET 1

typedef struct file_header {
    uint32_t magic, version, zone, accuracy, snap_length, link_type;
} file_header; /* in this machine's byte order */
typedef struct record_header {
    uint32_t seconds, fraction, captured_bytes, wire_bytes;
} record_header;

/* The library takes its memory from whoever uses it. */
static void *
resize(void *ctx, void *old, size_t size)
{
    (void)ctx;
    return realloc(old, size);
}

static void
release(void *ctx, void *old)
{
    (void)ctx;
    free(old);
}

/* A verdict is an event; so is its withdrawal, when later packets prove it wrong. */
static void
print_loss(void *out, const roce_event *event)
{
    if (event->kind == ROCE_EVENT_LOSS || event->kind == ROCE_EVENT_LOSS_WITHDRAWN) {
        fprintf(out, "%s: stream %" PRIu32 ", %s of PSN %" PRIu32 ", %s\n",
                roce_event_kind_name(event->kind), event->stream,
                event->space == ROCE_SPACE_REQUESTS ? "request" : "response",
                roce_psn_wrap(event->psn), roce_event_detail_name(event));
    }
}

static void
print_stream(const roce_stream *stream)
{
    char src[INET6_ADDRSTRLEN], dst[INET6_ADDRSTRLEN];
    int family = stream->src.family == 4 ? AF_INET : AF_INET6;
    printf("stream %" PRIu32 ": %s to %s, QP %" PRIu32 ", %" PRIu64 " packets\n",
           stream->id, inet_ntop(family, stream->src.bytes, src, sizeof src),
           inet_ntop(family, stream->dst.bytes, dst, sizeof dst), stream->dst_qpn,
           stream->packets);
}

static int
track(FILE *file, uint64_t unit_ns, roce_tracker *tracker)
{
    static uint8_t bytes[262144]; /* no reader takes longer frames */
    roce_frame frame = {.bytes = bytes, .link = ROCE_LINK_ETHERNET};
    roce_ports ports;
    roce_ports_init(&ports);
    for (record_header record; fread(&record, sizeof record, 1, file) == 1;) {
        uint32_t n = record.captured_bytes;
        if (n > sizeof bytes || fread(bytes, 1, n, file) != n) {
            return EXIT_FAILURE;
        }
        frame.number++;
        frame.captured_bytes = n;
        frame.wire_bytes = record.wire_bytes;
        frame.time_ns = record.seconds * 1000000000ull + record.fraction * unit_ns;
        roce_packet packet;
        roce_decode(&frame, &ports, &packet);
        roce_icrc_status icrc = roce_icrc_check(bytes, n, &packet, roce_crc32);
        if (roce_tracker_add(tracker, &frame, &packet, icrc) != ROCE_OK) {
            return EXIT_FAILURE;
        }
    }
    roce_tracker_finish(tracker);
    return EXIT_SUCCESS;
}

int
main(int argc, char **argv)
{
    FILE *file = argc == 2 ? fopen(argv[1], "rb") : NULL;
    file_header header;
    if (file == NULL || fread(&header, sizeof header, 1, file) != 1 ||
        (header.magic != MAGIC_MICROSECONDS && header.magic != MAGIC_NANOSECONDS) ||
        header.link_type != LINK_TYPE_ETHERNET) {
        fputs("usage: losses CAPTURE.pcap\n", stderr);
        return EXIT_FAILURE;
    }
    const roce_alloc alloc = {.resize = resize, .release = release};
    roce_tracker_config config;
    roce_tracker_config_init(&config);
    config.event = print_loss;
    config.ctx = stdout;
    roce_tracker *tracker;
    if (roce_tracker_new(&tracker, &alloc, &config) != ROCE_OK) {
        return EXIT_FAILURE;
    }
    int status = track(file, header.magic == MAGIC_NANOSECONDS ? 1 : 1000, tracker);
    for (uint32_t i = 0; i < roce_tracker_n_streams(tracker); i++) {
        print_stream(roce_tracker_stream(tracker, i));
    }
    roce_tracker_free(tracker);
    fclose(file);
    return status;
}
