/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The capture readers; test_rs_input.c has what is below them.
 *
 * The one rule: a capture reads the same wherever it comes from.  Each row of the table
 * is built in memory and read as it is and packed, each from a file, in batches of several
 * sizes, and from a pipe that trickles, and each way has to give the same frames, the same
 * end and the same offset.
 */
#include "capture_maker.h"
#include "packing.h"

#include "reader.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>

#define MAX_FRAMES 3
#define MAX_BATCH 8

/* ---- Captures, good and bad ---- */

static void
pcap_us_big(maker *m)
{
    m->big = TRUE;
    put_pcap_us(m);
}

static void
pcap_ns(maker *m)
{
    put_pcap(m, 0xa1b23c4d, 262144, 113);
    put_record(m, 999999999, 60, 60);
}

static void
pcap_ns_big(maker *m)
{
    m->big = TRUE;
    pcap_ns(m);
}

static void
pcap_modified(maker *m)
{
    put_pcap(m, 0xa1b2cd34, 65535, 1);
    for (guint32 i = 0; i < 2; i++) {
        put_32(m, T0_S);
        put_32(m, i);
        put_32(m, 20);
        put_32(m, 30);
        put_64(m, 0); /* interface index, protocol, packet type */
        put_frame(m, 20);
    }
}

/* Two records that store 20 bytes of 30, in a version of the format that has a record's
 * lengths the other way round, or has them so as their writer liked. */
static void
pcap_version(maker *m, guint major, guint minor, guint32 first, guint32 second)
{
    put_pcap_version(m, 0xa1b2c3d4, major, minor, 65535, 1);
    for (guint32 i = 0; i < 2; i++) {
        put_32(m, T0_S);
        put_32(m, i);
        put_32(m, i == 0 ? first : second);
        put_32(m, i == 0 ? 50 - first : 50 - second);
        put_frame(m, 20);
    }
}

static void
pcap_version_2_2(maker *m)
{
    pcap_version(m, 2, 2, 30, 30);
}

static void
pcap_version_2_3(maker *m)
{
    pcap_version(m, 2, 3, 20, 30);
}

static void
pcap_version_543(maker *m)
{
    m->big = TRUE;
    pcap_version(m, 543, 0, 30, 30);
}

static void
pcap_no_frames(maker *m)
{
    put_pcap(m, 0xa1b2c3d4, 65535, 276);
}

static void
pcap_fcs(maker *m)
{
    put_pcap(m, 0xa1b2c3d4, 65535, 1 | 0x04000000u | 2u << 28);
    put_record(m, 0, 64, 64);
    put_record(m, 0, 62, 64);
    put_record(m, 0, 60, 64);
}

/* Another capture behind one of 180 bytes. */
static void
pcap_twice(maker *m)
{
    put_pcap_us(m);
    put_pcap_us(m);
}

static void
pcap_twice_other_order(maker *m)
{
    put_pcap_us(m);
    m->big = TRUE;
    put_pcap(m, 0xa1b23c4d, 65535, 113);
}

static void
pcap_twice_old_version(maker *m)
{
    put_pcap_us(m);
    put_pcap_version(m, 0xa1b2cd34, 2, 0, 65535, 1);
}

static void
pcap_twice_header_cut(maker *m)
{
    put_pcap_us(m);
    put_pcap(m, 0xa1b2c3d4, 65535, 1);
    g_byte_array_set_size(m->out, m->out->len - 8);
}

/* Records of the year 2055, of which the first is empty, and neither is a file's header. */
static void
pcap_of_2055(maker *m)
{
    put_pcap(m, 0xa1b2c3d4, 65535, 1);
    put_32(m, 0xa1b2c3d4);
    put_32(m, 5u << 16 | 2); /* no version */
    put_32(m, 0);
    put_32(m, 0);
    put_32(m, 0xa1b2c3d4);
    put_32(m, 4u << 16 | 2);
    put_32(m, 1);
    put_32(m, 60);
    put_frame(m, 1);
}

static void
pcap_longer_than_wire(maker *m)
{
    put_pcap(m, 0xa1b2c3d4, 65535, 101);
    put_record(m, 0, 60, 40);
}

static void
pcap_after_2038(maker *m)
{
    put_pcap(m, 0xa1b23c4d, 65535, 1);
    put_32(m, 0xffffffff);
    put_32(m, 1);
    put_32(m, 0);
    put_32(m, 60);
}

static void
pcap_beyond_snaplen(maker *m)
{
    put_pcap(m, 0xa1b2c3d4, 50, 1);
    put_record(m, 0, 51, 51);
    put_record(m, 0, 65600, 65600);
    put_record(m, 0, 65601, 65601);
}

static void
pcap_beyond_snaplen_and_wire(maker *m)
{
    put_pcap(m, 0xa1b2c3d4, 50, 1);
    put_record(m, 0, 51, 51);
    put_record(m, 0, 51, 50);
}

static void
pcap_longest(maker *m)
{
    put_pcap(m, 0xa1b2c3d4, 0, 1);
    put_record(m, 0, 262144, 262144);
    put_record(m, 0, 262145, 262145);
}

static void
pcap_absurd_length(maker *m)
{
    put_pcap_us(m);
    put_32(m, T0_S);
    put_32(m, 0);
    put_32(m, 0x7fffffff);
    put_32(m, 0x7fffffff);
    put_frame(m, 100);
}

static void
pcap_absurd_wire(maker *m)
{
    put_pcap(m, 0xa1b2c3d4, 65535, 1);
    put_record(m, 0, 60, 16 * 1024 * 1024);
    put_record(m, 0, 60, 16 * 1024 * 1024 + 1);
}

static void
pcap_cut_packet(maker *m)
{
    put_pcap_us(m);
    put_record(m, 0, 1064, 1064);
    g_byte_array_set_size(m->out, m->out->len - 964);
}

static void
pcap_cut_header(maker *m)
{
    put_pcap_us(m);
    put_64(m, 0);
}

/* Two interfaces that differ in everything that an interface has. */
static void
ng_interfaces(maker *m)
{
    put_section(m);
    guint begun = begin_interface(m, 1, 96);
    put_option(m, 2, "swp1", 4);
    put_option(m, 3, "to \033[1mspine\0", 14);
    put_option_64(m, 8, UINT64_C(100000000000));
    put_option(m, 9, "\x09", 1);
    put_option(m, 0, "", 0);
    end_block(m, begun);
    begun = begin_interface(m, 276, 0);
    put_option(m, 2, "any\xff", 4);
    put_option(m, 9, "\x94", 1); /* 2^-20 s */
    end_block(m, begun);
}

static void
ng_two(maker *m)
{
    ng_interfaces(m);
    put_packet(m, 0, T0_NS + 1, 61, 1064);
    put_packet(m, 1, ((guint64)T0_S << 20) + 1, 48, 48);
    guint begun = begin_block(m, 5);
    put_32(m, 0);
    put_64(m, 0);
    put_option_64(m, 5, 3);
    put_option_64(m, 7, 4);
    end_block(m, begun);
}

static void
ng_two_big(maker *m)
{
    m->big = TRUE;
    ng_two(m);
}

static void
ng_options(maker *m)
{
    put_section(m);
    put_interface(m, 1, 0);
    guint begun = begin_packet(m, 0, T0_US, 60, 60);
    put_option(m, 1, "first", 5);
    put_option(m, 2, m->big ? "\0\0\0\1" : "\1\0\0\0", 4);
    put_option(m, 1, "s\xffn", 3);
    put_option_64(m, 4, 2);
    put_option(m, 0, "", 0);
    put_frame(m, 8); /* behind the end of the list: no options any more */
    end_block(m, begun);
    begun = begin_packet(m, 0, T0_US, 60, 60);
    put_option(m, 2, "\2\0\0\0", 4);
    put_option_64(m, 4, 3);
    end_block(m, begun);
    put_packet(m, 0, T0_US, 60, 60);
}

/* As some writers do: the last value fills the block without padding of its own. */
static void
ng_simple_and_old(maker *m)
{
    put_section(m);
    put_interface(m, 228, 50);
    guint begun = begin_block(m, 2);
    put_16(m, 0);
    put_16(m, 6); /* drops */
    put_32(m, (guint32)(T0_US >> 32));
    put_32(m, (guint32)T0_US);
    put_32(m, 40);
    put_32(m, 40);
    put_frame(m, 40);
    put_option(m, 2, "\2\0\0\0", 4);
    end_block(m, begun);
    begun = begin_block(m, 3);
    put_32(m, 49);
    put_frame(m, 49);
    end_block(m, begun);
    begun = begin_block(m, 3);
    put_32(m, 51);
    put_frame(m, 50);
    end_block(m, begun);
}

static void
put_simple(maker *m)
{
    guint begun = begin_block(m, 3);
    put_32(m, 40);
    put_frame(m, 40);
    end_block(m, begun);
}

/* Two packets without a stamp between two that have one, and another between two. */
static void
ng_simple_between(maker *m)
{
    put_section(m);
    put_interface(m, 228, 0);
    put_packet(m, 0, T0_US, 40, 40);
    put_simple(m);
    put_simple(m);
    put_packet(m, 0, T0_US + 5000, 40, 40);
    put_packet(m, 0, T0_US + 90000, 40, 40);
    put_simple(m);
    put_packet(m, 0, T0_US + 90300, 40, 40);
}

/* Two stamps between which there is one without are the same. */
static void
ng_simple_at_once(maker *m)
{
    put_section(m);
    put_interface(m, 228, 0);
    put_packet(m, 0, T0_US, 40, 40);
    put_simple(m);
    put_packet(m, 0, T0_US, 40, 40);
}

/* What follows a step back: that far apart are the stamps all the same. */
static void
ng_simple_step_back(maker *m)
{
    put_section(m);
    put_interface(m, 228, 0);
    put_packet(m, 0, T0_US + 5000, 40, 40);
    put_simple(m);
    put_packet(m, 0, T0_US, 40, 40);
}

static void
ng_simple_first(maker *m)
{
    put_section(m);
    put_interface(m, 228, 0);
    put_simple(m);
    put_packet(m, 0, T0_US, 40, 40);
    put_packet(m, 0, T0_US, 40, 40);
}

static void
ng_simple_last(maker *m)
{
    put_section(m);
    put_interface(m, 228, 0);
    put_packet(m, 0, T0_US, 40, 40);
    put_simple(m);
}

static void
ng_sections(maker *m)
{
    put_section(m);
    put_interface(m, 1, 0);
    put_packet(m, 0, T0_US, 60, 60);
    m->big = TRUE;
    put_section(m);
    put_interface(m, 101, 0);
    put_packet(m, 0, T0_US + 1, 40, 40);
}

static void
ng_sections_reset(maker *m)
{
    put_section(m);
    put_interface(m, 1, 0);
    put_interface(m, 1, 0);
    put_packet(m, 1, T0_US, 60, 60);
    put_section(m);
    put_interface(m, 1, 0);
    put_packet(m, 1, T0_US, 60, 60);
}

static void
ng_skips_others(maker *m)
{
    static const guint32 others[] = {4, 9, 10, 0xbad, 0x40000bad, 0x80000001, 0};
    put_section(m);
    put_interface(m, 147, 0);
    for (gsize i = 0; i < G_N_ELEMENTS(others); i++) {
        guint begun = begin_block(m, others[i]);
        put_frame(m, 4 * i);
        end_block(m, begun);
    }
    put_packet(m, 0, T0_US, 60, 60);
}

static void
ng_unsupported_is_silent(maker *m)
{
    put_section(m);
    put_interface(m, 127, 0);
}

static void
ng_silent_beside_unsupported(maker *m)
{
    put_section(m);
    put_interface(m, 127, 0);
    put_interface(m, 1, 0);
    put_packet(m, 0, T0_US, 60, 60);
}

static void
ng_some_unsupported(maker *m)
{
    ng_silent_beside_unsupported(m);
    put_packet(m, 1, T0_US, 60, 60);
}

static void
ng_fcs(maker *m)
{
    put_section(m);
    guint begun = begin_interface(m, 1, 0);
    put_option(m, 13, "\x20", 1); /* bits */
    end_block(m, begun);
    begun = begin_interface(m, 1, 0);
    put_option(m, 13, "\x04", 1); /* bytes */
    end_block(m, begun);
    put_packet(m, 0, T0_US, 64, 64);
    put_packet(m, 1, T0_US, 64, 64);
    begun = begin_packet(m, 0, T0_US, 64, 64);
    put_option(m, 2, "\x40\0\0\0", 4); /* two bytes, for this one */
    end_block(m, begun);
}

static void
ng_start(maker *m)
{
    put_section(m);
    put_interface(m, 1, 0);
    put_packet(m, 0, T0_US, 60, 60);
}

static void
ng_cut_header(maker *m)
{
    ng_start(m);
    put_frame(m, 11);
}

static void
ng_then_classic(maker *m)
{
    ng_start(m);
    m->big = TRUE;
    put_pcap(m, 0xa1b2c3d4, 65535, 1);
}

static void
ng_cut_block(maker *m)
{
    ng_start(m);
    put_packet(m, 0, T0_US, 60, 60);
    g_byte_array_set_size(m->out, m->out->len - 1);
}

/* Puts 64 bytes as a block that claims `length`, whose end repeats it. */
static void
ng_length(maker *m, guint32 length)
{
    ng_start(m);
    put_32(m, 6);
    put_32(m, length);
    put_frame(m, 52);
    put_32(m, length);
}

static void
ng_length_8(maker *m)
{
    ng_length(m, 8);
}

static void
ng_length_62(maker *m)
{
    ng_length(m, 62);
}

static void
ng_length_huge(maker *m)
{
    ng_length(m, 64 * 1024 * 1024 + 4);
}

static void
ng_length_largest(maker *m)
{
    ng_length(m, 64 * 1024 * 1024);
}

static void
ng_trailer(maker *m)
{
    ng_start(m);
    put_packet(m, 0, T0_US, 60, 60);
    m->out->data[m->out->len - 4] = 96;
}

static void
ng_no_interface(maker *m)
{
    ng_start(m);
    put_packet(m, 1, T0_US, 60, 60);
}

static void
ng_statistics_of_nothing(maker *m)
{
    ng_start(m);
    guint begun = begin_block(m, 5);
    put_32(m, 7);
    put_64(m, 0);
    end_block(m, begun);
}

static void
ng_simple_of_nothing(maker *m)
{
    put_section(m);
    guint begun = begin_block(m, 3);
    put_32(m, 4);
    put_frame(m, 4);
    end_block(m, begun);
}

static void
ng_simple_overrun(maker *m)
{
    ng_start(m);
    guint begun = begin_block(m, 3);
    put_32(m, 5);
    put_frame(m, 4);
    end_block(m, begun);
}

static void
ng_packet_overrun(maker *m)
{
    ng_start(m);
    guint begun = begin_block(m, 6);
    for (guint i = 0; i < 3; i++) {
        put_32(m, 0);
    }
    put_32(m, 65);
    put_32(m, 65);
    put_frame(m, 64);
    end_block(m, begun);
}

static void
ng_packet_short(maker *m)
{
    ng_start(m);
    guint begun = begin_block(m, 6);
    put_frame(m, 16);
    end_block(m, begun);
}

static void
ng_longest(maker *m)
{
    put_section(m);
    put_interface(m, 1, 0);
    put_packet(m, 0, T0_US, 262144, 262144);
    put_packet(m, 0, T0_US, 262145, 262145);
}

static void
ng_longest_unsupported(maker *m)
{
    put_section(m);
    put_interface(m, 231, 0);
    put_packet(m, 0, T0_US, 262145, 262145);
}

static void
ng_absurd_wire(maker *m)
{
    ng_start(m);
    put_packet(m, 0, T0_US, 60, 16 * 1024 * 1024 + 1);
}

static void
ng_option_overrun(maker *m)
{
    ng_start(m);
    guint begun = begin_packet(m, 0, T0_US, 60, 60);
    put_16(m, 1);
    put_16(m, 5);
    put_32(m, 0);
    end_block(m, begun);
}

static void
ng_interface_overrun(maker *m)
{
    ng_start(m);
    guint begun = begin_interface(m, 1, 0);
    put_16(m, 2);
    put_16(m, 1);
    end_block(m, begun);
}

static void
ng_resolution(maker *m, const char *resolution)
{
    put_section(m);
    guint begun = begin_interface(m, 1, 0);
    put_option(m, 9, resolution, 1);
    end_block(m, begun);
}

static void
ng_resolution_finest(maker *m)
{
    ng_resolution(m, "\x13");
}

static void
ng_resolution_beyond(maker *m)
{
    ng_resolution(m, "\x14");
}

static void
ng_resolution_binary_finest(maker *m)
{
    ng_resolution(m, "\xbf");
}

static void
ng_resolution_binary_beyond(maker *m)
{
    ng_resolution(m, "\xc0");
}

static void
ng_section_no_order(maker *m)
{
    ng_start(m);
    guint begun = begin_block(m, 0x0a0d0d0a);
    put_frame(m, 16);
    end_block(m, begun);
}

static void
ng_section_version(maker *m)
{
    ng_start(m);
    guint begun = m->out->len;
    put_section(m);
    m->out->data[begun + 12] = 2;
}

typedef struct want_frame {
    guint64 time_ns;
    guint64 offset;
    guint32 captured;
    guint32 wire;
    guint interface;
    roce_link link;
    roce_direction direction;
    const char *comment;
} want_frame;

typedef struct capture_case {
    const char *name;
    void (*build)(maker *m);
    const char *format;
    guint64 resolution_ns;
    guint n_interfaces; /* at the end */
    guint n_frames;
    want_frame frames[MAX_FRAMES];
    const char *message; /* behind the name of the file; NULL for a good end */
    rs_error code;
    guint64 offset; /* of the end */
} capture_case;

/* The frame that ng_start() has, and what is behind it, begins at byte 140. */
#define NG_START                                                                       \
    {                                                                                  \
        T0_NS, 48, 60, 60, 0, ROCE_LINK_ETHERNET, 0, NULL                              \
    }

/* clang-format off */
static const capture_case cases[] = {
    {"us", put_pcap_us, "pcap", 1000, 1, 2,
     {{T0_NS + 5000, 24, 60, 60, 0, ROCE_LINK_ETHERNET, 0, NULL},
      {T0_NS + 7000, 100, 64, 1500, 0, ROCE_LINK_ETHERNET, 0, NULL}}, NULL, 0, 180},
    {"us, big endian", pcap_us_big, "pcap", 1000, 1, 2,
     {{T0_NS + 5000, 24, 60, 60, 0, ROCE_LINK_ETHERNET, 0, NULL},
      {T0_NS + 7000, 100, 64, 1500, 0, ROCE_LINK_ETHERNET, 0, NULL}}, NULL, 0, 180},
    {"ns", pcap_ns, "pcap-ns", 1, 1, 1,
     {{T0_NS + 999999999, 24, 60, 60, 0, ROCE_LINK_SLL, 0, NULL}}, NULL, 0, 100},
    {"ns, big endian", pcap_ns_big, "pcap-ns", 1, 1, 1,
     {{T0_NS + 999999999, 24, 60, 60, 0, ROCE_LINK_SLL, 0, NULL}}, NULL, 0, 100},
    {"modified", pcap_modified, "pcap-modified", 1000, 1, 2,
     {{T0_NS, 24, 20, 30, 0, ROCE_LINK_ETHERNET, 0, NULL},
      {T0_NS + 1000, 68, 20, 30, 0, ROCE_LINK_ETHERNET, 0, NULL}}, NULL, 0, 112},
    {"version 2.2", pcap_version_2_2, "pcap", 1000, 1, 2,
     {{T0_NS, 24, 20, 30, 0, ROCE_LINK_ETHERNET, 0, NULL},
      {T0_NS + 1000, 60, 20, 30, 0, ROCE_LINK_ETHERNET, 0, NULL}}, NULL, 0, 96},
    {"version 2.3", pcap_version_2_3, "pcap", 1000, 1, 2,
     {{T0_NS, 24, 20, 30, 0, ROCE_LINK_ETHERNET, 0, NULL},
      {T0_NS + 1000, 60, 20, 30, 0, ROCE_LINK_ETHERNET, 0, NULL}}, NULL, 0, 96},
    {"version of DG/UX", pcap_version_543, "pcap", 1000, 1, 2,
     {{T0_NS, 24, 20, 30, 0, ROCE_LINK_ETHERNET, 0, NULL},
      {T0_NS + 1000, 60, 20, 30, 0, ROCE_LINK_ETHERNET, 0, NULL}}, NULL, 0, 96},
    {"no frames", pcap_no_frames, "pcap", 1000, 1, 0, {{0}}, NULL, 0, 24},
    {"FCS whole, cut and away", pcap_fcs, "pcap", 1000, 1, 3,
     {{T0_NS, 24, 60, 60, 0, ROCE_LINK_ETHERNET, 0, NULL},
      {T0_NS, 104, 60, 60, 0, ROCE_LINK_ETHERNET, 0, NULL},
      {T0_NS, 182, 60, 60, 0, ROCE_LINK_ETHERNET, 0, NULL}}, NULL, 0, 258},
    {"more captured than sent", pcap_longer_than_wire, "pcap", 1000, 1, 1,
     {{T0_NS, 24, 60, 60, 0, ROCE_LINK_RAW, 0, NULL}}, NULL, 0, 100},
    {"seconds are unsigned", pcap_after_2038, "pcap-ns", 1, 1, 1,
     {{UINT64_C(4294967295000000001), 24, 0, 60, 0, ROCE_LINK_ETHERNET, 0, NULL}},
     NULL, 0, 40},
    {"longer than the snap length", pcap_beyond_snaplen, "pcap", 1000, 1, 2,
     {{T0_NS, 24, 50, 51, 0, ROCE_LINK_ETHERNET, 0, NULL},
      {T0_NS, 91, 50, 65600, 0, ROCE_LINK_ETHERNET, 0, NULL}},
     "damaged at byte 65707: a record claims 65601 captured bytes of 65601, with a snap "
     "length of 50", RS_ERROR_DAMAGED, 65707},
    {"longer than snap length and wire", pcap_beyond_snaplen_and_wire, "pcap", 1000, 1, 1,
     {{T0_NS, 24, 50, 51, 0, ROCE_LINK_ETHERNET, 0, NULL}},
     "damaged at byte 91: a record claims 51 captured bytes of 50, with a snap length of "
     "50", RS_ERROR_DAMAGED, 91},
    {"longest frame", pcap_longest, "pcap", 1000, 1, 1,
     {{T0_NS, 24, 262144, 262144, 0, ROCE_LINK_ETHERNET, 0, NULL}},
     "damaged at byte 262184: a record claims 262145 captured bytes, more than any frame "
     "has", RS_ERROR_DAMAGED, 262184},
    {"absurd length", pcap_absurd_length, "pcap", 1000, 1, 2,
     {{T0_NS + 5000, 24, 60, 60, 0, ROCE_LINK_ETHERNET, 0, NULL},
      {T0_NS + 7000, 100, 64, 1500, 0, ROCE_LINK_ETHERNET, 0, NULL}},
     "damaged at byte 180: a record claims 2147483647 captured bytes, more than any "
     "frame has", RS_ERROR_DAMAGED, 180},
    {"absurd wire length", pcap_absurd_wire, "pcap", 1000, 1, 1,
     {{T0_NS, 24, 60, 16777216, 0, ROCE_LINK_ETHERNET, 0, NULL}},
     "damaged at byte 100: a record claims 60 captured bytes of 16777217, with a snap "
     "length of 65535", RS_ERROR_DAMAGED, 100},
    {"cut packet", pcap_cut_packet, "pcap", 1000, 1, 2,
     {{T0_NS + 5000, 24, 60, 60, 0, ROCE_LINK_ETHERNET, 0, NULL},
      {T0_NS + 7000, 100, 64, 1500, 0, ROCE_LINK_ETHERNET, 0, NULL}},
     "damaged at byte 180: the file ends within a packet: of its 1064 bytes 100 are there",
     RS_ERROR_DAMAGED, 180},
    {"cut record header", pcap_cut_header, "pcap", 1000, 1, 2,
     {{T0_NS + 5000, 24, 60, 60, 0, ROCE_LINK_ETHERNET, 0, NULL},
      {T0_NS + 7000, 100, 64, 1500, 0, ROCE_LINK_ETHERNET, 0, NULL}},
     "damaged at byte 180: the file ends within a record's header: of its 16 bytes 8 are "
     "there", RS_ERROR_DAMAGED, 180},

    {"another capture behind it", pcap_twice, "pcap", 1000, 1, 2,
     {{T0_NS + 5000, 24, 60, 60, 0, ROCE_LINK_ETHERNET, 0, NULL},
      {T0_NS + 7000, 100, 64, 1500, 0, ROCE_LINK_ETHERNET, 0, NULL}},
     "damaged at byte 180: " RS_ANOTHER_CAPTURE, RS_ERROR_DAMAGED, 180},
    {"another, in ns and of the other byte order", pcap_twice_other_order, "pcap", 1000, 1, 2,
     {{T0_NS + 5000, 24, 60, 60, 0, ROCE_LINK_ETHERNET, 0, NULL},
      {T0_NS + 7000, 100, 64, 1500, 0, ROCE_LINK_ETHERNET, 0, NULL}},
     "damaged at byte 180: " RS_ANOTHER_CAPTURE, RS_ERROR_DAMAGED, 180},
    {"another, modified and of an old version", pcap_twice_old_version, "pcap", 1000, 1, 2,
     {{T0_NS + 5000, 24, 60, 60, 0, ROCE_LINK_ETHERNET, 0, NULL},
      {T0_NS + 7000, 100, 64, 1500, 0, ROCE_LINK_ETHERNET, 0, NULL}},
     "damaged at byte 180: " RS_ANOTHER_CAPTURE, RS_ERROR_DAMAGED, 180},
    {"another, cut in its header", pcap_twice_header_cut, "pcap", 1000, 1, 2,
     {{T0_NS + 5000, 24, 60, 60, 0, ROCE_LINK_ETHERNET, 0, NULL},
      {T0_NS + 7000, 100, 64, 1500, 0, ROCE_LINK_ETHERNET, 0, NULL}},
     "damaged at byte 180: " RS_ANOTHER_CAPTURE, RS_ERROR_DAMAGED, 180},
    {"nearly another", pcap_of_2055, "pcap", 1000, 1, 2,
     {{UINT64_C(2712847316327682000), 24, 0, 0, 0, ROCE_LINK_ETHERNET, 0, NULL},
      {UINT64_C(2712847316262146000), 40, 1, 60, 0, ROCE_LINK_ETHERNET, 0, NULL}},
     NULL, 0, 57},

    {"ng: a classic capture behind it", ng_then_classic, "pcapng", 1000, 1, 1, {NG_START},
     "damaged at byte 140: " RS_ANOTHER_CAPTURE, RS_ERROR_DAMAGED, 140},
    {"ng: two interfaces", ng_two, "pcapng", 954, 2, 2,
     {{T0_NS + 1, 136, 61, 1064, 0, ROCE_LINK_ETHERNET, 0, NULL},
      {T0_NS + 953, 232, 48, 48, 1, ROCE_LINK_SLL2, 0, NULL}}, NULL, 0, 360},
    {"ng: two interfaces, big endian", ng_two_big, "pcapng", 954, 2, 2,
     {{T0_NS + 1, 136, 61, 1064, 0, ROCE_LINK_ETHERNET, 0, NULL},
      {T0_NS + 953, 232, 48, 48, 1, ROCE_LINK_SLL2, 0, NULL}}, NULL, 0, 360},
    {"ng: options of packets", ng_options, "pcapng", 1000, 1, 3,
     {{T0_NS, 48, 60, 60, 0, ROCE_LINK_ETHERNET, ROCE_DIRECTION_IN, "first\ns\xef\xbf\xbdn"},
      {T0_NS, 192, 60, 60, 0, ROCE_LINK_ETHERNET, ROCE_DIRECTION_OUT, NULL},
      {T0_NS, 304, 60, 60, 0, ROCE_LINK_ETHERNET, 0, NULL}}, NULL, 0, 396},
    {"ng: simple and old packets", ng_simple_and_old, "pcapng", RS_NO_STAMPS_NS, 1, 3,
     {{T0_NS, 48, 40, 40, 0, ROCE_LINK_RAW, ROCE_DIRECTION_OUT, NULL},
      {T0_NS, 128, 49, 49, 0, ROCE_LINK_RAW, 0, NULL},
      {T0_NS, 196, 50, 51, 0, ROCE_LINK_RAW, 0, NULL}}, NULL, 0, 264},
    {"ng: sections of both byte orders", ng_sections, "pcapng", 1000, 2, 2,
     {{T0_NS, 48, 60, 60, 0, ROCE_LINK_ETHERNET, 0, NULL},
      {T0_NS + 1000, 188, 40, 40, 1, ROCE_LINK_RAW, 0, NULL}}, NULL, 0, 260},
    {"ng: sections count their own interfaces", ng_sections_reset, "pcapng", 1000, 3, 1,
     {{T0_NS, 68, 60, 60, 1, ROCE_LINK_ETHERNET, 0, NULL}},
     "damaged at byte 208: a block belongs to interface 1, and the section has 1 so far",
     RS_ERROR_DAMAGED, 208},
    {"ng: other blocks, unsupported link", ng_skips_others, "pcapng", 1000, 1, 1,
     {{T0_NS, 216, 60, 60, 0, ROCE_LINK_UNSUPPORTED, 0, NULL}},
     "has link type 147 (unknown), which is not supported", RS_ERROR_NOT_DECODED, 308},
    {"ng: an unsupported link beside another", ng_some_unsupported, "pcapng", 1000, 2, 2,
     {{T0_NS, 68, 60, 60, 0, ROCE_LINK_UNSUPPORTED, 0, NULL},
      {T0_NS, 160, 60, 60, 1, ROCE_LINK_ETHERNET, 0, NULL}}, NULL, 0, 252},
    {"ng: all links that have packets unsupported", ng_silent_beside_unsupported, "pcapng",
     1000, 2, 1, {{T0_NS, 68, 60, 60, 0, ROCE_LINK_UNSUPPORTED, 0, NULL}},
     "has link type 127 (IEEE802_11_RADIO), which is not supported", RS_ERROR_NOT_DECODED,
     160},
    {"ng: unsupported links without packets", ng_unsupported_is_silent, "pcapng", 1000, 1, 0,
     {{0}}, NULL, 0, 48},
    {"ng: FCS", ng_fcs, "pcapng", 1000, 2, 3,
     {{T0_NS, 84, 60, 60, 0, ROCE_LINK_ETHERNET, 0, NULL},
      {T0_NS, 180, 60, 60, 1, ROCE_LINK_ETHERNET, 0, NULL},
      {T0_NS, 276, 62, 62, 0, ROCE_LINK_ETHERNET, 0, NULL}}, NULL, 0, 380},
    {"ng: cut block header", ng_cut_header, "pcapng", 1000, 1, 1, {NG_START},
     "damaged at byte 140: the file ends within a block: of its 12 bytes 11 are there",
     RS_ERROR_DAMAGED, 140},
    {"ng: cut block", ng_cut_block, "pcapng", 1000, 1, 1, {NG_START},
     "damaged at byte 140: the file ends within a block: of its 92 bytes 91 are there",
     RS_ERROR_DAMAGED, 140},
    {"ng: block too short", ng_length_8, "pcapng", 1000, 1, 1, {NG_START},
     "damaged at byte 140: a block of type 6 claims 8 bytes", RS_ERROR_DAMAGED, 140},
    {"ng: length no multiple of 4", ng_length_62, "pcapng", 1000, 1, 1, {NG_START},
     "damaged at byte 140: a block of type 6 claims 62 bytes", RS_ERROR_DAMAGED, 140},
    {"ng: block too long", ng_length_huge, "pcapng", 1000, 1, 1, {NG_START},
     "damaged at byte 140: a block of type 6 claims 67108868 bytes", RS_ERROR_DAMAGED, 140},
    {"ng: longest block, cut", ng_length_largest, "pcapng", 1000, 1, 1, {NG_START},
     "damaged at byte 140: the file ends within a block: of its 67108864 bytes 64 are "
     "there", RS_ERROR_DAMAGED, 140},
    {"ng: lengths differ", ng_trailer, "pcapng", 1000, 1, 1, {NG_START},
     "damaged at byte 140: a block begins with a length of 92 bytes and ends with one of "
     "96", RS_ERROR_DAMAGED, 140},
    {"ng: no such interface", ng_no_interface, "pcapng", 1000, 1, 1, {NG_START},
     "damaged at byte 140: a block belongs to interface 1, and the section has 1 so far",
     RS_ERROR_DAMAGED, 140},
    {"ng: statistics of no interface", ng_statistics_of_nothing, "pcapng", 1000, 1, 1,
     {NG_START},
     "damaged at byte 140: a block belongs to interface 7, and the section has 1 so far",
     RS_ERROR_DAMAGED, 140},
    {"ng: simple packet of no interface", ng_simple_of_nothing, "pcapng", 0, 0, 0, {{0}},
     "damaged at byte 28: a block belongs to interface 0, and the section has 0 so far",
     RS_ERROR_DAMAGED, 28},
    {"ng: simple packet overruns", ng_simple_overrun, "pcapng", 1000, 1, 1, {NG_START},
     "damaged at byte 140: a packet that overruns its block", RS_ERROR_DAMAGED, 140},
    {"ng: packet overruns", ng_packet_overrun, "pcapng", 1000, 1, 1, {NG_START},
     "damaged at byte 140: a packet that overruns its block", RS_ERROR_DAMAGED, 140},
    {"ng: packet block too short", ng_packet_short, "pcapng", 1000, 1, 1, {NG_START},
     "damaged at byte 140: a packet block that is too short", RS_ERROR_DAMAGED, 140},
    {"ng: longest frame", ng_longest, "pcapng", 1000, 1, 1,
     {{T0_NS, 48, 262144, 262144, 0, ROCE_LINK_ETHERNET, 0, NULL}},
     "damaged at byte 262224: a packet claims more captured bytes than any frame has",
     RS_ERROR_DAMAGED, 262224},
    {"ng: longer, of no concern", ng_longest_unsupported, "pcapng", 1000, 1, 1,
     {{T0_NS, 48, 262145, 262145, 0, ROCE_LINK_UNSUPPORTED, 0, NULL}},
     "has link type 231 (DBUS), which is not supported", RS_ERROR_NOT_DECODED, 262228},
    {"ng: absurd wire length", ng_absurd_wire, "pcapng", 1000, 1, 1, {NG_START},
     "damaged at byte 140: a packet claims more bytes on the wire than any frame has",
     RS_ERROR_DAMAGED, 140},
    {"ng: option overruns", ng_option_overrun, "pcapng", 1000, 1, 1, {NG_START},
     "damaged at byte 140: a packet that overruns its block", RS_ERROR_DAMAGED, 140},
    {"ng: interface overruns", ng_interface_overrun, "pcapng", 1000, 2, 1, {NG_START},
     "damaged at byte 140: an interface description that overruns its block",
     RS_ERROR_DAMAGED, 140},
    {"ng: finest resolution", ng_resolution_finest, "pcapng", 1, 1, 0, {{0}}, NULL, 0, 56},
    {"ng: resolution too fine", ng_resolution_beyond, "pcapng", 0, 1, 0, {{0}},
     "damaged at byte 28: a time stamp resolution beyond 64 bits", RS_ERROR_DAMAGED, 28},
    {"ng: finest binary resolution", ng_resolution_binary_finest, "pcapng", 1, 1, 0, {{0}},
     NULL, 0, 56},
    {"ng: binary resolution too fine", ng_resolution_binary_beyond, "pcapng", 0, 1, 0,
     {{0}}, "damaged at byte 28: a time stamp resolution beyond 64 bits",
     RS_ERROR_DAMAGED, 28},
    {"ng: section without byte order", ng_section_no_order, "pcapng", 1000, 1, 1,
     {NG_START}, "damaged at byte 140: a section without byte-order magic",
     RS_ERROR_DAMAGED, 140},
    {"ng: section of another version", ng_section_version, "pcapng", 1000, 1, 1,
     {NG_START}, "is pcapng of version 2.0 at byte 140, which is not supported",
     RS_ERROR_UNSUPPORTED, 140},
};
/* clang-format on */

/* ---- Ways to read them ---- */

typedef struct trickle {
    int fd;
    const GByteArray *bytes;
} trickle;

/* In pieces that end within headers first, then as fast as it goes. */
static gpointer
write_trickle(gpointer data)
{
    const trickle *t = data;
    gsize at = 0;
    while (at < t->bytes->len) {
        gsize piece = at < 600 ? 7 : 100000;
        gssize n = write(t->fd, t->bytes->data + at, MIN(piece, t->bytes->len - at));
        if (n < 0) {
            break; /* the reader has seen enough */
        }
        at += (gsize)n;
    }
    close(t->fd);
    return NULL;
}

static void
check_frame(const rs_record *got, const want_frame *want)
{
    CHECK_INT(got->frame.time_ns, want->time_ns);
    CHECK_INT(got->offset, want->offset);
    CHECK_INT(got->frame.captured_bytes, want->captured);
    CHECK_INT(got->frame.wire_bytes, want->wire);
    CHECK_INT(got->interface, want->interface);
    CHECK_INT(got->frame.link, want->link);
    CHECK_INT(got->frame.direction, want->direction);
    CHECK_INT(got->frame.number, 0);
    CHECK_STR(got->comment, want->comment);
    for (guint32 i = 0; i < got->frame.captured_bytes; i++) {
        if (got->frame.bytes[i] != (guint8)i) {
            CHECK_INT(got->frame.bytes[i], (guint8)i);
            break;
        }
    }
}

/* The frames, at most `max` at a time; how it ended. */
static int
check_frames(const capture_case *want, rs_reader *reader, guint max, GError **error)
{
    rs_record records[MAX_BATCH];
    guint n_frames = 0;
    int n;
    while ((n = rs_reader_next_batch(reader, records, max, error)) > 0) {
        CHECK(n <= (int)max);
        for (int i = 0; i < n && n_frames + (guint)i < want->n_frames; i++) {
            check_frame(&records[i], &want->frames[n_frames + (guint)i]);
        }
        n_frames += (guint)n;
    }
    CHECK_INT(n_frames, want->n_frames);
    return n;
}

static void
check_capture(const capture_case *want, const char *path, const char *name, guint max)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(rs_reader) reader = rs_reader_open(path, &error);
    if (!CHECK(reader != NULL)) {
        fprintf(stderr, "    %s\n", error->message);
        return;
    }
    int status = check_frames(want, reader, max, &error);
    CHECK_STR(rs_reader_format(reader), want->format);
    CHECK_INT(rs_reader_n_interfaces(reader), want->n_interfaces);
    CHECK_INT(rs_reader_resolution_ns(reader), want->resolution_ns);
    CHECK_INT(rs_reader_offset(reader), want->offset);
    if (want->message) {
        CHECK_INT(status, -1);
        check_message(error, want->code, name, want->message);
    } else {
        CHECK_INT(status, 0);
        CHECK(error == NULL);
    }
    rs_record record;
    CHECK_INT(rs_reader_next(reader, &record, NULL), 0);
}

static void
check_from_file(const capture_case *want, const GByteArray *bytes)
{
    g_autofree char *path = store("capture", bytes);
    for (guint max = 1; max <= MAX_BATCH; max *= 2) {
        check_capture(want, path, path, max);
    }
}

static void
check_from_pipe(const capture_case *want, const GByteArray *bytes)
{
    int ends[2];
    if (!CHECK(pipe(ends) == 0)) {
        return;
    }
    replace_stdin(ends[0]);
    trickle writer = {ends[1], bytes};
    GThread *thread = g_thread_new("trickle", write_trickle, &writer);
    check_capture(want, "-", "standard input", MAX_BATCH);
    replace_stdin(open("/dev/null", O_RDONLY)); /* so that a writer never hangs */
    g_thread_join(thread);
}

static void
test_captures(void)
{
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(GByteArray) plain = build(cases[i].build);
        check_row(cases[i].name);
        check_from_file(&cases[i], plain);
        check_from_pipe(&cases[i], plain);
        for (gsize k = 0; k < G_N_ELEMENTS(packings); k++) {
            g_autoptr(GByteArray) packed = pack(k, plain);
            is_packed = TRUE;
            check_from_file(&cases[i], packed);
            if (k == i % G_N_ELEMENTS(packings)) {
                check_from_pipe(&cases[i], packed);
            }
            is_packed = FALSE;
        }
    }
}

/* ---- Interfaces ---- */

static rs_reader *
read_all(const char *path)
{
    rs_reader *reader = rs_reader_open(path, NULL);
    rs_record record;
    while (rs_reader_next(reader, &record, NULL) == 1) {
    }
    return reader;
}

static void
test_interfaces(void)
{
    static const struct {
        const char *name;
        void (*build)(maker *m);
        guint interface;
        rs_interface want;
    } rows[] = {
        {"first of two",
         ng_two_big,
         0,
         {"swp1", "to \033[1mspine", 1, ROCE_LINK_ETHERNET, 96, UINT64_C(100000000000),
          1000000000, 0, 1, 7, TRUE, 0, 0, 1, 0}},
        {"second of two",
         ng_two,
         1,
         {"any\xef\xbf\xbd", NULL, 276, ROCE_LINK_SLL2, 0, 0, 1048576, 0, 1, 0, FALSE,
          0, 0, 1, 0}},
        {"drops between packets",
         ng_options,
         0,
         {NULL, NULL, 1, ROCE_LINK_ETHERNET, 0, 0, 1000000, 0, 3, 5, TRUE, 0, 0, 1, 0}},
        {"drops of an old packet",
         ng_simple_and_old,
         0,
         {NULL, NULL, 228, ROCE_LINK_RAW, 50, 0, 1000000, 0, 3, 6, TRUE, 0, 0, 1, 2}},
        {"of a second section",
         ng_sections,
         1,
         {NULL, NULL, 101, ROCE_LINK_RAW, 0, 0, 1000000, 0, 1, 0, FALSE, 0, 1, 2, 0}},
        {"FCS in bits",
         ng_fcs,
         0,
         {NULL, NULL, 1, ROCE_LINK_ETHERNET, 0, 0, 1000000, 0, 2, 0, FALSE, 4, 0, 1,
          0}},
        {"classic",
         pcap_fcs,
         0,
         {NULL, NULL, 1, ROCE_LINK_ETHERNET, 65535, 0, 1000000, 0, 3, 0, FALSE, 4, 0, 0,
          0}},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
        check_row(rows[i].name);
        g_autoptr(GByteArray) bytes = build(rows[i].build);
        g_autofree char *path = store("capture", bytes);
        g_autoptr(rs_reader) reader = read_all(path);
        const rs_interface *got = rs_reader_interface(reader, rows[i].interface);
        CHECK_STR(got->name, rows[i].want.name);
        CHECK_STR(got->description, rows[i].want.description);
        CHECK_INT(got->link_type, rows[i].want.link_type);
        CHECK_INT(got->link, rows[i].want.link);
        CHECK_INT(got->snaplen, rows[i].want.snaplen);
        CHECK_INT(got->speed_bps, rows[i].want.speed_bps);
        CHECK_INT(got->ticks_per_second, rows[i].want.ticks_per_second);
        CHECK_INT(got->packets, rows[i].want.packets);
        CHECK_INT(got->dropped, rows[i].want.dropped);
        CHECK_INT(got->dropped_known, rows[i].want.dropped_known);
        CHECK_INT(got->fcs_bytes, rows[i].want.fcs_bytes);
        CHECK_INT(got->section, rows[i].want.section);
        CHECK_INT(got->section_number, rows[i].want.section_number);
        CHECK_INT(got->unstamped, rows[i].want.unstamped);
    }
}

/* Packets without a stamp came between those around them that have one. */
static void
test_unstamped(void)
{
    static const struct {
        const char *name;
        void (*build)(maker *m);
        guint64 resolution_ns;
        guint64 unstamped;
    } rows[] = {
        {"all have stamps", ng_start, 1000, 0},
        {"between others", ng_simple_between, 5000 * 1000, 3},
        {"at once with others", ng_simple_at_once, 1000, 1},
        {"before a step back", ng_simple_step_back, 5000 * 1000, 1},
        {"first", ng_simple_first, RS_NO_STAMPS_NS, 1},
        {"last", ng_simple_last, RS_NO_STAMPS_NS, 1},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
        check_row(rows[i].name);
        g_autoptr(GByteArray) bytes = build(rows[i].build);
        g_autofree char *path = store("capture", bytes);
        g_autoptr(rs_reader) reader = read_all(path);
        CHECK_INT(rs_reader_resolution_ns(reader), rows[i].resolution_ns);
        CHECK_INT(rs_reader_unstamped(reader), rows[i].unstamped);
    }
}

/* Statistics repeat: totals, of which the largest counts, whatever packets said. */
static void
test_statistics(void)
{
    static const struct {
        const char *name;
        guint64 between; /* a packet's drop count; 0 for no packet */
        guint64 counts[2];
        guint64 want;
        gboolean known;
    } rows[] = {
        {"totals, not sums", 0, {3, 5}, 5, TRUE},
        {"zero is known", 0, {0, 0}, 0, TRUE},
        {"all ones is unknown", 0, {G_MAXUINT64, G_MAXUINT64}, 0, FALSE},
        {"packets know more", 9, {3, 5}, 9, TRUE},
        {"statistics know more", 4, {3, 5}, 5, TRUE},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
        check_row(rows[i].name);
        maker m = {g_byte_array_new(), FALSE};
        put_section(&m);
        put_interface(&m, 1, 0);
        if (rows[i].between > 0) {
            guint begun = begin_packet(&m, 0, T0_US, 60, 60);
            put_option_64(&m, 4, rows[i].between);
            end_block(&m, begun);
        }
        for (gsize k = 0; k < G_N_ELEMENTS(rows[i].counts); k++) {
            guint begun = begin_block(&m, 5);
            put_32(&m, 0);
            put_64(&m, 0);
            put_option_64(&m, 5, rows[i].counts[k]);
            end_block(&m, begun);
        }
        g_autofree char *path = store("capture", m.out);
        g_autoptr(rs_reader) reader = read_all(path);
        CHECK_INT(rs_reader_interface(reader, 0)->dropped, rows[i].want);
        CHECK_INT(rs_reader_interface(reader, 0)->dropped_known, rows[i].known);
        g_byte_array_unref(m.out);
    }
}

static void
test_times(void)
{
    static const struct {
        const char *name;
        const char *resolution;
        gint64 offset_s;
        guint64 ticks;
        guint64 want_ns;
    } rows[] = {
        {"seconds", "\x00", 0, T0_S, T0_NS},
        {"ms", "\x03", 0, T0_NS / 1000000 + 1, T0_NS + 1000000},
        {"us", "\x06", 0, T0_US + 1, T0_NS + 1000},
        {"ns", "\x09", 0, T0_NS + 1, T0_NS + 1},
        {"ps", "\x0c", 0, UINT64_C(1700000000000999), 1700000000000},
        {"10^-19 s", "\x13", 0, UINT64_C(9999999999999999999), 999999999},
        {"2^-1 s", "\x81", 0, 3, 1500000000},
        {"2^-32 s", "\xa0", 0, (guint64)T0_S << 32 | 0x80000000u, T0_NS + 500000000},
        {"2^-63 s", "\xbf", 0, UINT64_C(0xffffffffffffffff), 1999999999},
        {"offset", "\x06", 1, T0_US, T0_NS + 1000000000},
        {"offset with ns", "\x09", -1, T0_NS, T0_NS - 1000000000},
        {"back to 1970", "\x09", -(gint64)T0_S, T0_NS + 5, 5},
        {"before 1970", "\x06", -(gint64)T0_S - 1, T0_US, 0},
        {"lowest offset", "\x06", G_MININT64, T0_US, 0},
        {"highest offset", "\x06", G_MAXINT64, T0_US, G_MAXINT64},
        {"last second", "\x00", 0, 9223372036, UINT64_C(9223372036000000000)},
        {"a second later", "\x00", 0, 9223372037, G_MAXINT64},
        {"highest time", "\x00", 0, G_MAXUINT64, G_MAXINT64},
        {"highest ns", "\x09", 0, G_MAXUINT64, G_MAXINT64},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
        check_row(rows[i].name);
        maker m = {g_byte_array_new(), FALSE};
        put_section(&m);
        guint begun = begin_interface(&m, 1, 0);
        put_option(&m, 9, rows[i].resolution, 1);
        put_option_64(&m, 14, (guint64)rows[i].offset_s);
        end_block(&m, begun);
        put_packet(&m, 0, rows[i].ticks, 60, 60);
        g_autofree char *path = store("capture", m.out);
        g_autoptr(rs_reader) reader = rs_reader_open(path, NULL);
        rs_record record;
        CHECK_INT(rs_reader_next(reader, &record, NULL), 1);
        CHECK_INT(record.frame.time_ns, rows[i].want_ns);
        g_byte_array_unref(m.out);
    }
}

static void
test_links(void)
{
    static const struct {
        const char *name;
        guint32 type;
        roce_link link;
        const char *pcap_name;
    } rows[] = {
        {"Ethernet", 1, ROCE_LINK_ETHERNET, "EN10MB"},
        {"cooked", 113, ROCE_LINK_SLL, "LINUX_SLL"},
        {"cooked 2", 276, ROCE_LINK_SLL2, "LINUX_SLL2"},
        {"raw", 101, ROCE_LINK_RAW, "RAW"},
        {"raw as Linux wrote it once", 12, ROCE_LINK_RAW, "RAW"},
        {"raw as OpenBSD did", 14, ROCE_LINK_RAW, NULL},
        {"IPv4", 228, ROCE_LINK_RAW, "IPV4"},
        {"IPv6", 229, ROCE_LINK_RAW, "IPV6"},
        {"radiotap", 127, ROCE_LINK_UNSUPPORTED, "IEEE802_11_RADIO"},
        {"ERF", 197, ROCE_LINK_UNSUPPORTED, "ERF"},
        {"none", 65535, ROCE_LINK_UNSUPPORTED, NULL},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
        check_row(rows[i].name);
        CHECK_INT(rs_link_from_type(rows[i].type), rows[i].link);
        if (rows[i].pcap_name) {
            CHECK_STR(rs_link_type_name((int)rows[i].type), rows[i].pcap_name);
        }
    }
}

int
main(void)
{
    signal(SIGPIPE, SIG_IGN);
    if (!make_directory()) {
        return check_status();
    }
    test_captures();
    test_interfaces();
    test_unstamped();
    test_statistics();
    test_times();
    test_links();
    remove_directory();
    return check_status();
}
