/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * libpcap's own loop over a capture file, with nothing done but counting: no program
 * that reads by libpcap is faster.
 *
 *   pcap_loop FILE
 */
#include <inttypes.h>
#include <pcap/pcap.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct sums {
    uint64_t n_packets;
    uint64_t captured_bytes;
} sums;

static void
add_packet(u_char *user, const struct pcap_pkthdr *header, const u_char *bytes)
{
    sums *s = (sums *)(void *)user;
    (void)bytes;
    s->n_packets++;
    s->captured_bytes += header->caplen;
}

int
main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: pcap_loop FILE\n");
        return 2;
    }
    char message[PCAP_ERRBUF_SIZE];
    pcap_t *pcap = pcap_open_offline_with_tstamp_precision(
        argv[1], PCAP_TSTAMP_PRECISION_NANO, message);
    if (pcap == NULL) {
        fprintf(stderr, "%s\n", message);
        return EXIT_FAILURE;
    }
    sums s = {0, 0};
    int status = pcap_loop(pcap, -1, add_packet, (u_char *)&s);
    if (status != 0) {
        fprintf(stderr, "%s\n", pcap_geterr(pcap));
    }
    pcap_close(pcap);
    printf("%" PRIu64 " packets, %" PRIu64 " bytes\n", s.n_packets, s.captured_bytes);
    return status == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
