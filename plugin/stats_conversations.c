/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Conversations and endpoints: an endpoint is a queue pair, an address and its QPN.
 *
 * The one rule: both directions of a paired connection are one conversation; where the
 * pairing is not known, who sends is an endpoint with an unknown QPN ("QP ?").  Those of two
 * tenants are different ones.
 *
 * tshark prints ports for TCP, UDP and SCTP alone, and the window asks filters for
 * none but theirs, so an endpoint is one text here, with fields of the same text to
 * filter by.
 *
 * Limitations: a pairing is found some packets into a stream; in the window, a capture
 * that is still growing shows what came before it by itself.
 */
#include "stats.h"
#include "words.h"

#include <epan/conversation.h>
#include <epan/conversation_table.h>
#include <epan/to_str.h>

#include <string.h>

#define FIELD_ANY "rocev2.analysis.endpoint"
#define FIELD_SOURCE "rocev2.analysis.endpoint.source"
#define FIELD_DESTINATION "rocev2.analysis.endpoint.destination"

static int hf_any, hf_source, hf_destination;

/* What a capture's times are relative to, as Wireshark shows them. */
static nstime_t origin;

/* ---- names ---- */

char *
conversations_address(const roce_addr *addr, wmem_allocator_t *scope)
{
    address wire;
    if (addr->family == 4) {
        set_address(&wire, AT_IPv4, 4, addr->bytes);
    } else {
        set_address(&wire, AT_IPv6, 16, addr->bytes);
    }
    return address_to_str(scope, &wire);
}

/* Behind the name of an endpoint: " in vxlan 100", or nothing. */
static const char *
tenant_of(const roce_stream *stream, wmem_allocator_t *scope)
{
    return stream->tenant.kind == ROCE_TENANT_NONE
               ? ""
               : wmem_strdup_printf(scope, " in %s",
                                    words_tenant(&stream->tenant, scope));
}

const char *
conversations_source(const roce_stream *stream, wmem_allocator_t *scope)
{
    const char *addr = conversations_address(&stream->src, scope);
    const char *tenant = tenant_of(stream, scope);
    return stream->has_src_qpn ? wmem_strdup_printf(scope, "%s QP 0x%06x%s", addr,
                                                    stream->src_qpn, tenant)
                               : wmem_strdup_printf(scope, "%s QP ?%s", addr, tenant);
}

const char *
conversations_destination(const roce_stream *stream, wmem_allocator_t *scope)
{
    return wmem_strdup_printf(scope, "%s QP 0x%06x%s",
                              conversations_address(&stream->dst, scope),
                              stream->dst_qpn, tenant_of(stream, scope));
}

static address
endpoint_of(const char *text)
{
    address endpoint;
    set_address(&endpoint, AT_STRINGZ, (int)strlen(text) + 1, text);
    return endpoint;
}

/* ---- filters ---- */

static const char *
filter_name(conv_filter_type_e type)
{
    switch (type) {
    case CONV_FT_SRC_ADDRESS:
        return FIELD_SOURCE;
    case CONV_FT_DST_ADDRESS:
        return FIELD_DESTINATION;
    case CONV_FT_ANY_ADDRESS:
        return FIELD_ANY;
    case CONV_FT_SRC_PORT:
    case CONV_FT_DST_PORT:
    case CONV_FT_ANY_PORT:
        return CONV_FILTER_INVALID;
    }
    return CONV_FILTER_INVALID;
}

static const char *
conversation_filter(conv_item_t *item, conv_filter_type_e type)
{
    (void)item;
    return filter_name(type);
}

static const char *
endpoint_filter(endpoint_item_t *item, conv_filter_type_e type)
{
    (void)item;
    return filter_name(type);
}

static void
add_field(proto_tree *tree, int field, tvbuff_t *tvb, const char *text)
{
    proto_item *item = proto_tree_add_string(tree, field, tvb, 0, 0, text);
    proto_item_set_generated(item);
    proto_item_set_hidden(item);
}

void
conversations_add_fields(proto_tree *tree, tvbuff_t *tvb, packet_info *pinfo,
                         const roce_stream *stream)
{
    if (!proto_field_is_referenced(tree, hf_any) &&
        !proto_field_is_referenced(tree, hf_source) &&
        !proto_field_is_referenced(tree, hf_destination)) {
        return;
    }
    const char *source = conversations_source(stream, pinfo->pool);
    const char *destination = conversations_destination(stream, pinfo->pool);
    add_field(tree, hf_any, tvb, source);
    add_field(tree, hf_any, tvb, destination);
    add_field(tree, hf_source, tvb, source);
    add_field(tree, hf_destination, tvb, destination);
}

/* ---- tables ---- */

/* The stream of a packet, or NULL. */
static const roce_stream *
stream_of(const packet_record *record)
{
    return record != NULL && record->stream != ROCE_NO_STREAM
               ? roce_tracker_stream(analysis_tracker(), record->stream)
               : NULL;
}

static void
add_to_conversations(void *table, const taken_packet *packet)
{
    static ct_dissector_info_t info = {conversation_filter};
    const packet_record *record = memory_at(packet->frame);
    const roce_stream *stream = stream_of(record);
    if (stream == NULL) {
        return;
    }
    wmem_allocator_t *scope = wmem_allocator_new(WMEM_ALLOCATOR_SIMPLE);
    address src = endpoint_of(conversations_source(stream, scope));
    address dst = endpoint_of(conversations_destination(stream, scope));
    nstime_t time_abs = info_time(record->time_ns);
    nstime_t time;
    nstime_delta(&time, &time_abs, &origin);
    add_conversation_table_data(table, &src, &dst, 0, 0, 1, (int)packet->bytes, &time,
                                &time_abs, &info, CONVERSATION_IBQP);
    wmem_destroy_allocator(scope);
}

static void
add_to_endpoints(void *table, const taken_packet *packet)
{
    static et_dissector_info_t info = {endpoint_filter};
    const roce_stream *stream = stream_of(memory_at(packet->frame));
    if (stream == NULL) {
        return;
    }
    wmem_allocator_t *scope = wmem_allocator_new(WMEM_ALLOCATOR_SIMPLE);
    address src = endpoint_of(conversations_source(stream, scope));
    address dst = endpoint_of(conversations_destination(stream, scope));
    add_endpoint_table_data(table, &src, 0, TRUE, 1, (int)packet->bytes, &info,
                            ENDPOINT_IBQP);
    add_endpoint_table_data(table, &dst, 0, FALSE, 1, (int)packet->bytes, &info,
                            ENDPOINT_IBQP);
    wmem_destroy_allocator(scope);
}

static tap_packet_status
take_conversation(void *table, packet_info *pinfo, epan_dissect_t *edt,
                  const void *data, tap_flags_t flags)
{
    (void)edt;
    ((conv_hash_t *)table)->flags = flags;
    nstime_delta(&origin, &pinfo->abs_ts, &pinfo->rel_ts);
    ending_take(add_to_conversations, table, pinfo, data);
    return TAP_PACKET_REDRAW;
}

static tap_packet_status
take_endpoint(void *table, packet_info *pinfo, epan_dissect_t *edt, const void *data,
              tap_flags_t flags)
{
    (void)edt;
    ((conv_hash_t *)table)->flags = flags;
    ending_take(add_to_endpoints, table, pinfo, data);
    return TAP_PACKET_REDRAW;
}

void
conversations_register(int proto)
{
    /* clang-format off */
    static hf_register_info fields[] = {
        {&hf_any, {"Endpoint", FIELD_ANY, FT_STRING, BASE_NONE, NULL, 0,
                   "Address and queue pair of the source, and of the destination",
                   HFILL}},
        {&hf_source, {"Source endpoint", FIELD_SOURCE, FT_STRING, BASE_NONE, NULL, 0,
                      NULL, HFILL}},
        {&hf_destination, {"Destination endpoint", FIELD_DESTINATION, FT_STRING,
                           BASE_NONE, NULL, 0, NULL, HFILL}},
    };
    /* clang-format on */
    proto_register_field_array(proto, fields, (int)G_N_ELEMENTS(fields));
    register_conversation_table(proto, TRUE, take_conversation, take_endpoint);
}
