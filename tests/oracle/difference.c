/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "difference.h"

#include "libpcap_reader.h"
#include "reader.h"

#include <pcap/pcap.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define MOST_RECORDS 64 /* of a batch */
#define NS_PER_S 1000000000
#define SLL_HEADER_BYTES 16
#define SLL2_HEADER_BYTES 20
#define CAN_ID_BYTES 4

/* ---- What a reader says but for its records ---- */

static char *
error_difference(const char *when, const GError *ours, const GError *theirs)
{
    const char *our_words = ours != NULL ? ours->message : "no error";
    const char *their_words = theirs != NULL ? theirs->message : "no error";
    gboolean same = strcmp(our_words, their_words) == 0 &&
                    (ours == NULL || theirs == NULL || ours->code == theirs->code);
    return same ? NULL
                : g_strdup_printf("%s: \"%s\", and not \"%s\"", when, our_words,
                                  their_words);
}

/* Numbers by name; the first that differ are told. */
typedef struct pair {
    const char *name;
    guint64 ours, theirs;
} pair;

static char *
number_difference(const char *of, const pair *pairs, gsize n_pairs)
{
    for (gsize i = 0; i < n_pairs; i++) {
        if (pairs[i].ours != pairs[i].theirs) {
            return g_strdup_printf("%s: %s is %" G_GUINT64_FORMAT
                                   ", and not %" G_GUINT64_FORMAT,
                                   of, pairs[i].name, pairs[i].ours, pairs[i].theirs);
        }
    }
    return NULL;
}

static char *
interface_difference(const rs_reader *ours, const rs_reader *theirs)
{
    const rs_interface *a = rs_reader_interface(ours, 0);
    const rs_interface *b = rs_reader_interface(theirs, 0);
    const pair pairs[] = {
        {"offset of the end", rs_reader_offset(ours), rs_reader_offset(theirs)},
        {"number of interfaces", rs_reader_n_interfaces(ours), 1},
        {"format", (guint64)strcmp(rs_reader_format(ours), rs_reader_format(theirs)),
         0},
        {"resolution", rs_reader_resolution_ns(ours), rs_reader_resolution_ns(theirs)},
        {"link type", (guint64)a->link_type, (guint64)b->link_type},
        {"link", a->link, b->link},
        {"snap length", a->snaplen, b->snaplen},
        {"ticks per second", a->ticks_per_second, b->ticks_per_second},
        {"packets", a->packets, b->packets},
        {"FCS", a->fcs_bytes, b->fcs_bytes},
    };
    return number_difference("reader", pairs, G_N_ELEMENTS(pairs));
}

/* ---- Records ---- */

/* Where a CAN identifier stands in a frame, which libpcap puts into this machine's order; 0
 * if it has none. */
static guint32
can_id_at(const roce_frame *frame)
{
    static const struct {
        roce_link link;
        guint32 header_bytes, protocol_at;
    } cooked[] = {
        {ROCE_LINK_SLL, SLL_HEADER_BYTES, 14},
        {ROCE_LINK_SLL2, SLL2_HEADER_BYTES, 0},
    };
    for (guint i = 0; i < G_N_ELEMENTS(cooked); i++) {
        const guint8 *protocol = frame->bytes + cooked[i].protocol_at;
        if (frame->link == cooked[i].link &&
            frame->captured_bytes >= cooked[i].header_bytes && protocol[0] == 0 &&
            (protocol[1] == 0x0c || protocol[1] == 0x0d)) {
            return cooked[i].header_bytes;
        }
    }
    return 0;
}

static gboolean
same_bytes(const roce_frame *frame, const guint8 *theirs)
{
    const guint32 can_id = can_id_at(frame);
    for (guint32 i = 0; i < frame->captured_bytes; i++) {
        gboolean left_out = can_id > 0 && i >= can_id && i < can_id + CAN_ID_BYTES;
        if (frame->bytes[i] != theirs[i] && !left_out) {
            return FALSE;
        }
    }
    return TRUE;
}

static char *
record_difference(const rs_record *ours, const rs_record *theirs)
{
    const pair pairs[] = {
        {"offset", ours->offset, theirs->offset},
        {"captured", ours->frame.captured_bytes, theirs->frame.captured_bytes},
        {"on the wire", ours->frame.wire_bytes, theirs->frame.wire_bytes},
        {"time", ours->frame.time_ns, theirs->frame.time_ns},
        {"ticks", ours->ticks, theirs->ticks},
        {"number", ours->frame.number, theirs->frame.number},
        {"point", ours->frame.point, theirs->frame.point},
        {"link", ours->frame.link, theirs->frame.link},
        {"direction", ours->frame.direction, theirs->frame.direction},
        {"interface", ours->interface, theirs->interface},
        {"comment", ours->comment != NULL, theirs->comment != NULL},
        {"stored", ours->stored_bytes, theirs->stored_bytes},
        {"stored wire length", ours->stored_wire_bytes, theirs->stored_wire_bytes},
        {"flags", ours->flags, theirs->flags},
    };
    g_autofree char *of = g_strdup_printf("record at %" G_GUINT64_FORMAT, ours->offset);
    char *difference = number_difference(of, pairs, G_N_ELEMENTS(pairs));
    if (difference == NULL && !same_bytes(&ours->frame, theirs->frame.bytes)) {
        difference = g_strdup_printf("%s: bytes", of);
    }
    return difference;
}

/* The next batch against as many single records; its length in `n`. */
static char *
batch_difference(rs_reader *ours, rs_reader *theirs, guint max, int *n)
{
    g_autoptr(GError) our_error = NULL;
    g_autoptr(GError) their_error = NULL;
    rs_record records[MOST_RECORDS];
    *n = rs_reader_next_batch(ours, records, max, &our_error);
    for (int i = 0; i < MAX(*n, 1); i++) {
        rs_record record;
        int status = rs_reader_next(theirs, &record, &their_error);
        if (status != MIN(*n, 1)) {
            return g_strdup_printf("%d records, and %d after %d of them", *n, status,
                                   i);
        }
        char *difference = status > 0 ? record_difference(&records[i], &record) : NULL;
        if (difference != NULL) {
            return difference;
        }
    }
    return error_difference("end", our_error, their_error);
}

char *
difference_at(const char *path)
{
    g_autoptr(GError) our_error = NULL;
    g_autoptr(GError) their_error = NULL;
    g_autoptr(rs_reader) theirs = libpcap_reader_open(path, &their_error);
    if (theirs == NULL && their_error == NULL) {
        return NULL;
    }
    g_autoptr(rs_reader) ours = rs_reader_open(path, &our_error);
    if (ours == NULL || theirs == NULL) {
        return error_difference("opening", our_error, their_error);
    }
    char *difference = NULL;
    int n = 1;
    for (guint max = 1; difference == NULL && n > 0; max = max % MOST_RECORDS + 1) {
        difference = batch_difference(ours, theirs, max, &n);
    }
    return difference != NULL ? difference : interface_difference(ours, theirs);
}

/* Whether libpcap's time can be compared: others are brought to the nearest that there is
 * in ns; where ticks are very short its product overflows; and of simple packets, which
 * have none, it says 0. */
static gboolean
is_comparable(const struct timeval *time, const rs_interface *interface)
{
    return time->tv_sec >= 0 && time->tv_sec < G_MAXINT64 / NS_PER_S &&
           (time->tv_sec != 0 || time->tv_usec != 0) &&
           interface->ticks_per_second <= G_MAXUINT64 / NS_PER_S;
}

static char *
frames_difference(rs_reader *ours, pcap_t *theirs)
{
    struct pcap_pkthdr *header;
    const u_char *bytes;
    while (pcap_next_ex(theirs, &header, &bytes) == 1) {
        rs_record record;
        g_autoptr(GError) error = NULL;
        if (rs_reader_next(ours, &record, &error) <= 0) {
            return error != NULL
                       ? g_strconcat(DIFFERENCE_OVERLOOKED, error->message, NULL)
                       : g_strdup("libpcap reads more frames");
        }
        const pair pairs[] = {
            {"captured", record.stored_bytes, header->caplen},
            {"on the wire", record.stored_wire_bytes, header->len},
            {"seconds", record.frame.time_ns / NS_PER_S, (guint64)header->ts.tv_sec},
            {"ns", record.frame.time_ns % NS_PER_S, (guint64)header->ts.tv_usec},
        };
        const rs_interface *from = rs_reader_interface(ours, record.interface);
        guint n_pairs =
            G_N_ELEMENTS(pairs) - (is_comparable(&header->ts, from) ? 0 : 2);
        g_autofree char *of =
            g_strdup_printf("record at %" G_GUINT64_FORMAT, record.offset);
        char *difference = number_difference(of, pairs, n_pairs);
        if (difference != NULL) {
            return difference;
        }
        if (!same_bytes(&record.frame, bytes)) {
            return g_strdup_printf("%s: bytes", of);
        }
    }
    return NULL;
}

char *
pcapng_difference_at(const char *path)
{
    g_autoptr(rs_reader) ours = rs_reader_open(path, NULL);
    if (ours == NULL || strcmp(rs_reader_format(ours), "pcapng") != 0) {
        return NULL;
    }
    g_autoptr(rs_input) input = rs_input_open(path, NULL);
    pcap_t *theirs = libpcap_open(input);
    if (theirs == NULL) {
        return g_strdup(DIFFERENCE_NOT_OPENED);
    }
    char *difference = frames_difference(ours, theirs);
    pcap_close(theirs);
    return difference;
}

char *
bytes_as_file(const guint8 *bytes, gsize n_bytes, int *fd)
{
    *fd = memfd_create("capture", MFD_CLOEXEC);
    g_assert(*fd >= 0);
    for (gsize done = 0; done < n_bytes;) {
        gssize n_written = write(*fd, bytes + done, n_bytes - done);
        g_assert(n_written > 0);
        done += (gsize)n_written;
    }
    return g_strdup_printf("/proc/self/fd/%d", *fd);
}

char *
difference_of(const guint8 *bytes, gsize n_bytes)
{
    int fd;
    g_autofree char *path = bytes_as_file(bytes, n_bytes, &fd);
    char *difference = difference_at(path);
    close(fd);
    return difference;
}
