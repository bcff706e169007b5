/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The flow graph: an arrow for each packet, between queue pairs.
 *
 * The one rule: an arrow is labelled with what is on the wire; what the analysis says
 * of the packet stands beside it, first, since the window cuts what is long.
 *
 * What is said may change until the capture is at its end, and so may the name of the
 * sender (stats_conversations.c): in a single pass arrows are finished then.
 */
#include "stats.h"

#include "words.h"

#include <string.h>

/* Arrows whose packets were not taken yet: compat_flow -> GQueue of compat_flow_item. */
static GHashTable *unfinished;

/* "12 WRITE First": the PSN comes first, since there is room for some 20 characters. */
static char *
label_of(const plugin_packet *packet)
{
    const roce_packet *p = &packet->roce;
    const char *name = roce_opcode_name(p->bth.opcode, p->transport);
    const char *service_end = strchr(name, ' ');
    const char *operation = service_end != NULL ? service_end + 1 : name;
    operation += g_str_has_prefix(operation, "RDMA ") ? strlen("RDMA ") : 0;
    return roce_opcode_get(p->bth.opcode)->role == ROCE_ROLE_CNP
               ? g_strdup(name)
               : g_strdup_printf("%u %s", p->bth.psn24, operation);
}

static void
set_endpoint(address *endpoint, const char *text)
{
    free_address(endpoint);
    alloc_address_wmem(NULL, endpoint, AT_STRINGZ, (int)strlen(text) + 1, text);
}

/* Names the ends of an arrow, and adds what is known of its packet. */
static void
finish_arrow(compat_flow_item *item, uint32_t frame)
{
    const packet_record *record = memory_at(frame);
    const roce_tracker *tracker = analysis_tracker();
    if (record == NULL || tracker == NULL) {
        return;
    }
    wmem_allocator_t *scope = wmem_allocator_new(WMEM_ALLOCATOR_SIMPLE);
    if (record->stream != ROCE_NO_STREAM) {
        const roce_stream *s = roce_tracker_stream(tracker, record->stream);
        set_endpoint(&item->src, conversations_source(s, scope));
        set_endpoint(&item->dst, conversations_destination(s, scope));
    }
    const char *said = words_info(record, scope); /* " [a] [b]", or "" */
    if (*said != '\0') {
        char *comment = g_strconcat(said + 1, " ", item->comment, NULL);
        g_free(item->comment);
        item->comment = comment;
    }
    wmem_destroy_allocator(scope);
}

/* The packets of a graph come in the order of its arrows. */
static void
take_packet(void *flow, const taken_packet *packet)
{
    GQueue *waiting = g_hash_table_lookup(unfinished, flow);
    compat_flow_item *item = g_queue_pop_head(waiting);
    if (g_queue_is_empty(waiting)) {
        g_hash_table_remove(unfinished, flow);
        g_queue_free(waiting);
    }
    finish_arrow(item, packet->frame);
    g_queue_push_tail(((compat_flow *)flow)->items, item);
}

static void
wait_for_packet(compat_flow *flow, compat_flow_item *item)
{
    if (unfinished == NULL) {
        unfinished = g_hash_table_new(NULL, NULL);
    }
    GQueue *waiting = g_hash_table_lookup(unfinished, flow);
    if (waiting == NULL) {
        waiting = g_queue_new();
        g_hash_table_insert(unfinished, flow, waiting);
    }
    g_queue_push_tail(waiting, item);
}

static tap_packet_status
take(void *flow, packet_info *pinfo, epan_dissect_t *edt, const void *data,
     tap_flags_t flags)
{
    (void)edt, (void)flags;
    const tapped_packet *tapped = data;
    compat_flow_item *item =
        tapped->packet->roce.has_bth ? compat_flow_item_new(pinfo, flow) : NULL;
    if (item == NULL) {
        return TAP_PACKET_DONT_REDRAW;
    }
    item->frame = pinfo->num;
    item->label = label_of(tapped->packet);
    item->comment = g_strdup(info_of_packet(tapped->packet, NULL, pinfo->pool));
    item->is_shown = true;
    item->line_width = 1;
    wait_for_packet(flow, item);
    ending_take(take_packet, flow, pinfo, tapped);
    return TAP_PACKET_REDRAW;
}

void
flow_register(int proto)
{
    compat_flow_register("rocev2", "RoCEv2 Flows", proto, take);
}
