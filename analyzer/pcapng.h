/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Numbers of the pcapng format (draft-ietf-opsawg-pcapng) that are read or written.
 *
 * The one rule: what an option's code means depends on the block that it stands in.
 */
#ifndef RS_PCAPNG_H
#define RS_PCAPNG_H

#define RS_PCAPNG_BYTE_ORDER_MAGIC 0x1a2b3c4du

typedef enum rs_pcapng_block {
    RS_PCAPNG_SECTION = 0x0a0d0d0a, /* the same in both byte orders */
    RS_PCAPNG_INTERFACE = 1,
    RS_PCAPNG_OLD_PACKET = 2,
    RS_PCAPNG_SIMPLE_PACKET = 3,
    RS_PCAPNG_STATISTICS = 5,
    RS_PCAPNG_ENHANCED_PACKET = 6,
} rs_pcapng_block;

/* The same in every block. */
#define RS_PCAPNG_OPTION_END 0
#define RS_PCAPNG_OPTION_COMMENT 1

#define RS_PCAPNG_SECTION_APPLICATION 4

/* How the comment on a section begins that `rocescope extract` wrote, where it left packets
 * out between others of their connection. */
#define RS_PCAPNG_GAPS_COMMENT "rocescope extract with gaps: "

#define RS_PCAPNG_IF_NAME 2
#define RS_PCAPNG_IF_DESCRIPTION 3
#define RS_PCAPNG_IF_SPEED 8
#define RS_PCAPNG_IF_TSRESOL 9
#define RS_PCAPNG_IF_FCSLEN 13
#define RS_PCAPNG_IF_TSOFFSET 14

#define RS_PCAPNG_PACKET_FLAGS 2
#define RS_PCAPNG_PACKET_DROPS 4

#define RS_PCAPNG_STATISTICS_IFDROP 5
#define RS_PCAPNG_STATISTICS_OSDROP 7

#endif
