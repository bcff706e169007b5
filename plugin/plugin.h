/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the files of the plugin know of each other.
 *
 * The one rule: what outlives registration is preferences, the ids that Wireshark hands
 * out, and the analysis of the open capture (analysis.h); a packet's facts live in a
 * `plugin_packet` on the stack.
 *
 *   plugin.c   the exported symbols
 *   hook.c     takes the built-in dissectors' places and gives them back
 *   rocev2.c   protocol rocev2: preferences, one packet from start to end
 *   fields.c   protocol rocev2: fields, and the tree
 *   network.c  the frame below the BTH, and the ICRC over it
 *   crc.c      CRC-32 for the ICRC
 *   info.c     the Info column
 *   builtin.c  runs the built-in dissector under ours, and repairs what it shows
 *   pfc.c      protocol pfc
 *   taps.c     what statistics are made of
 *   stats.c    statistics (stats.h)
 */
#ifndef ROCESCOPE_PLUGIN_H
#define ROCESCOPE_PLUGIN_H

#include "compat.h"

#include "roce/icrc.h"
#include "roce/packet.h"

/* The places that built-in dissectors hold and that we take over. */
typedef enum hook_place {
    HOOK_UDP,         /* RoCEv2: infiniband on a UDP port */
    HOOK_GRH,         /* RoCEv1: infiniband on ethertype 0x8915 */
    HOOK_MAC_CONTROL, /* macc on ethertype 0x8808 */
    HOOK_N_PLACES,
} hook_place;

/* Whether the name of the built-in protocol has still to be added to the packet's
 * layers: not when its place was taken over (our wrapper bears its name), but when we
 * were called by our own. */
typedef enum hook_naming {
    HOOK_NAMED_ALREADY,
    HOOK_NAME_IT,
} hook_naming;

typedef struct packet_record packet_record; /* analysis.h */

/* Everything read of one packet. */
typedef struct plugin_packet {
    roce_packet roce; /* offsets count from the start of the tvb */
    /* The frame that it came in; all zero where that is not known, as of what was put together
     * from fragments, and valid if it can be tracked. */
    bool is_trackable;
    roce_frame frame;
    roce_packet whole; /* offsets count from the start of the frame */
    roce_icrc_status icrc;
    uint32_t icrc_want; /* as `roce_icrc_compute` says; set when `icrc` is bad */
    hook_place place;
} plugin_packet;

/* Registers the table that keeps the built-in dissectors, in the name of a protocol. */
void
hook_register(int proto);

/* Takes the places: `ours[place]` dissects a packet in front of the built-in, and
 * returns 0 to leave it to the built-in alone.  Once, at handoff. */
void
hook_take_places(const dissector_handle_t ours[HOOK_N_PLACES]);

/* A handle beside the wrappers through which a UDP port may be ours (Decode As). */
void
hook_add_udp_handle(dissector_handle_t handle);

/* Runs the built-in dissector of a place; 0 when it is disabled or refuses. */
int
hook_call_builtin(hook_place place, hook_naming naming, tvbuff_t *tvb,
                  packet_info *pinfo, proto_tree *tree, void *data);

/* The id of the built-in protocol of a place. */
int
hook_builtin_proto(hook_place place);

/* Registration, and handles to dissect with (see hook_take_places). */
void
rocev2_register(void);
void
rocev2_handoff(dissector_handle_t ours[HOOK_N_PLACES]);
void
pfc_register(void);
void
pfc_handoff(dissector_handle_t ours[HOOK_N_PLACES]);

/* Speed of an interface's link in bit/s, as the preferences have it; 0 unknown.  `name`
 * may be NULL. */
uint64_t
pfc_speed_bps(const char *interface_name);

/* Registers fields, subtrees and expert infos of rocev2. */
void
fields_register(int proto);

/* Whether anybody looks at the tree of a protocol or at its expert infos: else it need
 * not be built.  A window has no tree while it reads a capture, and still lights its
 * lamp by the worst expert info of then; so what something happened on is wanted. */
bool
fields_are_wanted(const packet_info *pinfo, proto_tree *tree, int proto,
                  const plugin_packet *packet, const packet_record *record);

/* Adds the tree of a packet, and its expert infos.  `tree` may be NULL; `record` is what
 * the analysis has of it, or NULL. */
void
fields_add_packet(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree, int proto,
                  const plugin_packet *packet, const packet_record *record);

/* Decodes the bytes of a tvb that holds a UDP payload, or a GRH and what follows, and
 * checks the ICRC.  False: no InfiniBand transport. */
bool
network_decode_udp(tvbuff_t *tvb, const packet_info *pinfo, plugin_packet *packet);
bool
network_decode_grh(tvbuff_t *tvb, const packet_info *pinfo, plugin_packet *packet);

/* Checks the ICRC of a frame, unless the preferences are against it. */
roce_icrc_status
network_check_icrc(const roce_frame *frame, const roce_packet *packet);

/* Whether the preferences want ICRCs checked. */
bool
rocev2_checks_icrc(void);

/* Decodes a tvb that begins behind the ethertype of MAC control.  False: no pause. */
bool
network_decode_pause(tvbuff_t *tvb, const packet_info *pinfo, plugin_packet *packet);

/* The frame that is being dissected; `tvb` holds its bytes, NULL: none are wanted. */
void
network_frame(tvbuff_t *tvb, const packet_info *pinfo, roce_frame *frame);

/* The bytes of a tvb that were captured; NULL when there are none.  They live as long
 * as the packet's dissection. */
const uint8_t *
network_bytes(tvbuff_t *tvb);

/* Core's roce_crc32(), faster; crc_register() comes first. */
void
crc_register(void);
uint32_t
crc_crc32(uint32_t crc, const uint8_t *bytes, size_t size);

/* What the Info column says of a packet, and of its record unless that is NULL; of
 * `scope`. */
const char *
info_of_packet(const plugin_packet *packet, const packet_record *record,
               wmem_allocator_t *scope);

/* Nanoseconds as a field has them. */
static inline nstime_t
info_time(uint64_t duration_ns)
{
    return (nstime_t){.secs = (time_t)(duration_ns / 1000000000u),
                      .nsecs = (int)(duration_ns % 1000000000u)};
}

/* Nanoseconds as "335.5 µs"; of `scope`. */
const char *
info_of_duration(uint64_t duration_ns, wmem_allocator_t *scope);

/* What of the built-in's output is to change. */
typedef struct builtin_repair {
    const char *info;      /* the new Info column; NULL: as the built-in has it */
    bool has_qpn;          /* the built-in's own text ends with the queue pair: what
                            * follows is of upper layers and stays */
    bool other_info_stays; /* text without that end is of upper layers */
    bool hide_tree;        /* what of the built-in's tree is in ours as well */
    bool hide_unknown;     /* likewise its dump of what it does not know */
    bool keep_source;      /* it must not replace the source address */
    bool has_remark;       /* it may say of a NAK what it is, in brackets */
    roce_part send_part;   /* of a SEND whose heuristics are to be limited; else NONE */
    uint32_t send_bytes;   /* its payload */
    bool is_misread;       /* it looks for headers that the packet does not have */
} builtin_repair;

/* Runs the built-in dissector of a place, whatever it throws. */
int
builtin_dissect(hook_place place, hook_naming naming, const builtin_repair *repair,
                tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree, void *data);

/* Looks up the heuristic dissectors to keep off small payloads.  Once, at handoff. */
void
builtin_handoff(void);

#endif
