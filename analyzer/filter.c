/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "filter.h"

#include "error.h"
#include "reader.h"

#include <pcap/pcap.h>

#define LINKTYPE_RAW 101
#define FAMILY_BYTES 4 /* of an address family, in front of IP */

struct rs_filter {
    char *expression;
    GHashTable *programs; /* link type + 1 -> struct bpf_program */
};

static void
free_program(gpointer data)
{
    pcap_freecode(data);
    g_free(data);
}

/* Of what went over a loopback the IP packet alone is asked: libpcap compares its address
 * family with that of the machine that it runs on, and in that one's byte order. */
static guint32
skipped_bytes(int link_type)
{
    return rs_link_from_type((guint32)link_type) == ROCE_LINK_LOOPBACK ? FAMILY_BYTES
                                                                       : 0;
}

static int
link_type_to_dlt(int link_type)
{
    return link_type == LINKTYPE_RAW || skipped_bytes(link_type) > 0 ? DLT_RAW
                                                                     : link_type;
}

static struct bpf_program *
compile(const char *expression, int link_type, GError **error)
{
    pcap_t *dead = pcap_open_dead(link_type_to_dlt(link_type), G_MAXINT32);
    g_autofree struct bpf_program *program = g_new0(struct bpf_program, 1);
    int failed = pcap_compile(dead, program, expression, 1, PCAP_NETMASK_UNKNOWN);
    if (failed != 0) {
        g_set_error(error, RS_ERROR, RS_ERROR_USAGE, "--filter '%s': %s", expression,
                    pcap_geterr(dead));
    }
    pcap_close(dead);
    return failed != 0 ? NULL : g_steal_pointer(&program);
}

static struct bpf_program *
program_for(rs_filter *filter, int link_type, GError **error)
{
    gpointer key = GINT_TO_POINTER(link_type + 1);
    struct bpf_program *program = g_hash_table_lookup(filter->programs, key);
    if (program == NULL) {
        program = compile(filter->expression, link_type, error);
        if (program != NULL) {
            g_hash_table_insert(filter->programs, key, program);
        }
    }
    return program;
}

rs_filter *
rs_filter_new(const char *expression, GError **error)
{
    g_autoptr(rs_filter) filter = g_new0(rs_filter, 1);
    filter->expression = g_strdup(expression);
    filter->programs = g_hash_table_new_full(NULL, NULL, NULL, free_program);
    if (program_for(filter, DLT_EN10MB, error) == NULL) {
        return NULL;
    }
    return g_steal_pointer(&filter);
}

void
rs_filter_free(rs_filter *filter)
{
    if (filter == NULL) {
        return;
    }
    g_hash_table_unref(filter->programs);
    g_free(filter->expression);
    g_free(filter);
}

rs_filter_answer
rs_filter_ask(rs_filter *filter, const roce_frame *frame, int link_type, GError **error)
{
    if (filter == NULL) {
        return RS_FILTER_PASSES;
    }
    struct bpf_program *program = program_for(filter, link_type, error);
    if (program == NULL) {
        return RS_FILTER_FAILS;
    }
    guint32 skipped = MIN(skipped_bytes(link_type), frame->captured_bytes);
    struct pcap_pkthdr header = {
        .caplen = frame->captured_bytes - skipped,
        .len = frame->wire_bytes - MIN(skipped, frame->wire_bytes),
    };
    const guint8 *bytes = frame->bytes + skipped;
    return pcap_offline_filter(program, &header, bytes) != 0 ? RS_FILTER_PASSES
                                                             : RS_FILTER_DROPS;
}
