/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What differs between the plugin interfaces of Wireshark 4.0, 4.4 and 4.6.
 *
 * The one rule: no other file of the plugin asks which Wireshark it is built for.
 *
 * Limitations: built and tested on 4.0.17, 4.4.18 and 4.6.9; versions between are taken
 * to be like the one before.
 */
#ifndef ROCESCOPE_COMPAT_H
#define ROCESCOPE_COMPAT_H

#include <ws_version.h>

#include <epan/column-utils.h>
#include <epan/epan.h>
#include <epan/exceptions.h>
#include <epan/expert.h>
#include <epan/packet.h>
#include <epan/prefs.h>
#include <epan/proto.h>
#include <epan/tap.h>
#include <epan/tvbuff.h>
#include <wiretap/wtap.h>

#include <stdbool.h>

#define WIRESHARK_AT_LEAST(major, minor)                                               \
    (WIRESHARK_VERSION_MAJOR > (major) ||                                              \
     (WIRESHARK_VERSION_MAJOR == (major) && WIRESHARK_VERSION_MINOR >= (minor)))

/* "4.0.17": the one that this is built with. */
#define COMPAT_TEXT(x) #x
#define COMPAT_DOTTED(major, minor, micro)                                             \
    COMPAT_TEXT(major) "." COMPAT_TEXT(minor) "." COMPAT_TEXT(micro)
#define COMPAT_VERSION                                                                 \
    COMPAT_DOTTED(WIRESHARK_VERSION_MAJOR, WIRESHARK_VERSION_MINOR,                    \
                  WIRESHARK_VERSION_MICRO)

/* What a boolean preference is stored in. */
#if WIRESHARK_AT_LEAST(4, 4)
typedef bool compat_bool;
#else
typedef gboolean compat_bool;
#endif

/* plugin_describe(): asked for from 4.2 on, which also has a header that names the bit;
 * 4.0 has neither. */
#if WIRESHARK_AT_LEAST(4, 2)
#define COMPAT_HAS_DESCRIBE 1
#define COMPAT_DESCRIBE_DISSECTOR 1u
#else
#define COMPAT_HAS_DESCRIBE 0
#endif

/* Calls what stands at `key` of a table, without adding its name to the packet's
 * layers; 0 when nothing stands there, it is disabled, or it refuses the packet. */
static inline int
compat_try_uint_unnamed(dissector_table_t table, uint32_t key, tvbuff_t *tvb,
                        packet_info *pinfo, proto_tree *tree, void *data)
{
#if WIRESHARK_AT_LEAST(4, 6)
    return dissector_try_uint_with_data(table, key, tvb, pinfo, tree, false, data);
#else
    return dissector_try_uint_new(table, key, tvb, pinfo, tree, false, data);
#endif
}

/* The name of an interface of the capture, or NULL. */
static inline const char *
compat_interface_name(const struct epan_session *session, uint32_t interface,
                      uint32_t section)
{
#if WIRESHARK_AT_LEAST(4, 4)
    return epan_get_interface_name(session, interface, section);
#else
    (void)section;
    return epan_get_interface_name(session, interface);
#endif
}

/* Where statistics stand in the window's Statistics menu: a menu of their own. */
#if WIRESHARK_AT_LEAST(4, 4)
#define COMPAT_TREE_MENU "RoCEv2//"
#else
#define COMPAT_TREE_MENU "RoCEv2/"
#endif
#define COMPAT_TABLE_MENU "RoCEv2 "

/* The flow graph.  libwireshark exports what makes one, and its packages leave out the
 * header, so what we use of it is told here: the beginning of two structs, which are the
 * same in all versions but for what a boolean is. */
typedef struct compat_flow_item {
    uint32_t frame;
    address src;
    uint16_t src_port;
    address dst;
    uint16_t dst_port;
    char *label; /* freed with g_free(), like the other texts */
    char *time;
    char *comment;
    uint16_t conversation;
    unsigned foreground, background;
    compat_bool is_coloured;
    compat_bool is_shown;
    unsigned src_node, dst_node;
    uint16_t line_width;
    /* More follows: only Wireshark makes one. */
} compat_flow_item;

typedef struct compat_flow {
    const char *name;
    compat_bool any_address;
    int n_conversations;
    GQueue *items; /* compat_flow_item */
    /* More follows. */
} compat_flow;

WS_DLL_PUBLIC void
register_seq_analysis(const char *name, const char *ui_name, const int proto,
                      const char *tap, unsigned tap_flags, tap_packet_cb packet);
WS_DLL_PUBLIC compat_flow_item *
sequence_analysis_create_sai_with_addresses(packet_info *pinfo, compat_flow *flow);
WS_DLL_PUBLIC void
sequence_analysis_use_color_filter(packet_info *pinfo, compat_flow_item *item);

/* Registers a flow graph made of the tap of the same name. */
static inline void
compat_flow_register(const char *name, const char *ui_name, int proto,
                     tap_packet_cb packet)
{
    register_seq_analysis(name, ui_name, proto, NULL, TL_REQUIRES_NOTHING, packet);
}

/* An arrow with the time, the addresses and the colours of a packet; NULL if it has no
 * addresses. */
static inline compat_flow_item *
compat_flow_item_new(packet_info *pinfo, compat_flow *flow)
{
    compat_flow_item *item = sequence_analysis_create_sai_with_addresses(pinfo, flow);
    if (item != NULL) {
        sequence_analysis_use_color_filter(pinfo, item);
    }
    return item;
}

#endif
