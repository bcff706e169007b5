/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Protocol rocev2: one packet from start to end.
 *
 * The one rule: decode, show ours, then run the built-in dissector behind it, which
 * decodes the payload; in that order, since the built-in changes what we look at.
 *
 * Limitations: what is no InfiniBand transport (core says so) is left to the built-in
 * alone, and `rocev2` does not match it.  RoCEv1 behind a Linux cooked header or a VLAN
 * comes the same way as any; native InfiniBand never comes here.
 */
#include "analysis.h"
#include "stats.h"

#include "roce/aeth.h"

static int proto_rocev2;

/* Preferences; defaults are what is set here. */
static compat_bool pref_check_icrc = true;
static compat_bool pref_readable_info = true;
static compat_bool pref_show_builtin = false;
static compat_bool pref_limit_heuristics = true;

static dissector_handle_t handle_named, handle_udp, handle_grh;
static int tap_rocev2;

bool
rocev2_checks_icrc(void)
{
    return pref_check_icrc;
}

static builtin_repair
repair_of(const plugin_packet *packet, const packet_record *record,
          const packet_info *pinfo)
{
    const roce_packet *p = &packet->roce;
    bool has_aeth = (p->headers & ROCE_HEADER_AETH) != 0;
    const roce_opcode_info *opcode = roce_opcode_get(p->bth.opcode);
    bool is_send =
        p->has_bth && p->outcome == ROCE_DECODED && opcode->role == ROCE_ROLE_SEND;
    builtin_repair repair = {
        .hide_tree = !pref_show_builtin,
        .hide_unknown = opcode->role != ROCE_ROLE_UNKNOWN,
        .keep_source = packet->place == HOOK_UDP,
        .has_remark = has_aeth && roce_aeth_get_kind(p->aeth_syndrome) == ROCE_AETH_NAK,
        .send_part = pref_limit_heuristics && is_send ? opcode->part : ROCE_PART_NONE,
        .send_bytes = p->payload_bytes,
        .is_misread =
            p->outcome == ROCE_DECODED &&
            (p->transport == ROCE_TRANSPORT_RD || p->transport == ROCE_TRANSPORT_DC),
    };
    if (pref_readable_info && col_get_writable(pinfo->cinfo, COL_INFO)) {
        repair.info = info_of_packet(packet, record, pinfo->pool);
        repair.has_qpn = true;
        repair.other_info_stays = p->outcome == ROCE_DECODED;
    }
    return repair;
}

/* Shows a packet; then the built-in, for the payload and for old filters. */
static int
dissect(const plugin_packet *packet, hook_naming naming, tvbuff_t *tvb,
        packet_info *pinfo, proto_tree *tree, void *data)
{
    const packet_record *record = analysis_take(pinfo, packet);
    builtin_repair repair = repair_of(packet, record, pinfo);
    if (fields_are_wanted(pinfo, tree, proto_rocev2, packet, record)) {
        fields_add_packet(tvb, pinfo, tree, proto_rocev2, packet, record);
    } else { /* hierarchies of protocols are made of these alone */
        proto_tree_add_item(tree, proto_rocev2, tvb, 0, -1, ENC_NA);
    }
    taps_queue(tap_rocev2, pinfo, packet, record);
    int used = builtin_dissect(packet->place, naming, &repair, tvb, pinfo, tree, data);
    if (used == 0) { /* InfiniBand is disabled, and we were asked for by name */
        col_set_str(pinfo->cinfo, COL_PROTOCOL, "RoCEv2");
        if (repair.info == NULL) {
            col_add_str(pinfo->cinfo, COL_INFO,
                        info_of_packet(packet, record, pinfo->pool));
        }
        return (int)tvb_captured_length(tvb);
    }
    return used;
}

static int
dissect_udp(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree, void *data)
{
    plugin_packet packet;
    if (!network_decode_udp(tvb, pinfo, &packet)) {
        return 0;
    }
    return dissect(&packet, HOOK_NAMED_ALREADY, tvb, pinfo, tree, data);
}

/* By Decode As, or on a port of our own preference. */
static int
dissect_named(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree, void *data)
{
    plugin_packet packet;
    if (!network_decode_udp(tvb, pinfo, &packet)) {
        return 0;
    }
    return dissect(&packet, HOOK_NAME_IT, tvb, pinfo, tree, data);
}

static int
dissect_grh(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree, void *data)
{
    plugin_packet packet;
    if (!network_decode_grh(tvb, pinfo, &packet)) {
        return 0;
    }
    return dissect(&packet, HOOK_NAMED_ALREADY, tvb, pinfo, tree, data);
}

/* Behind each frame, whatever it is: the analysis goes on with strangers too. */
static int
see_frame(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree, void *data)
{
    (void)tree, (void)data;
    analysis_see(tvb, pinfo);
    return 0;
}

static void
register_preferences(void)
{
    module_t *module = prefs_register_protocol(proto_rocev2, NULL);
    prefs_register_bool_preference(
        module, "check_icrc", "Check the ICRC",
        "Whether to compute the invariant CRC of packets that were captured whole",
        &pref_check_icrc);
    prefs_register_bool_preference(
        module, "readable_info", "Readable Info column",
        "Whether Info shows operation, queue pair, PSN and length, also of CNPs and of "
        "packets cut by a snap length, in place of InfiniBand's own text",
        &pref_readable_info);
    prefs_register_bool_preference(
        module, "show_builtin_tree", "Show InfiniBand's own tree",
        "Whether to show what InfiniBand's own dissector has of the same headers; "
        "filters on infiniband.* match either way",
        &pref_show_builtin);
    prefs_register_bool_preference(
        module, "limit_heuristics", "Keep heuristics off short SENDs",
        "Whether RPC-over-RDMA and SMB Direct are not tried on a SEND Only that is "
        "shorter than their smallest message",
        &pref_limit_heuristics);
}

void
rocev2_register(void)
{
    proto_rocev2 =
        proto_register_protocol("RDMA over Converged Ethernet", "RoCEv2", "rocev2");
    handle_named = register_dissector("rocev2", dissect_named, proto_rocev2);
    handle_udp = create_dissector_handle(dissect_udp, proto_rocev2);
    handle_grh = create_dissector_handle(dissect_grh, proto_rocev2);
    tap_rocev2 = register_tap("rocev2");
    fields_register(proto_rocev2);
    register_preferences();
    crc_register();
    hook_register(proto_rocev2);
    analysis_register();
    stats_register(proto_rocev2);
}

void
rocev2_handoff(dissector_handle_t ours[HOOK_N_PLACES])
{
    ours[HOOK_UDP] = handle_udp;
    ours[HOOK_GRH] = handle_grh;
    hook_add_udp_handle(handle_named);
    register_postdissector(create_dissector_handle(see_frame, proto_rocev2));
    dissector_add_for_decode_as_with_preference("udp.port", handle_named);
}
