/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tree of counts.
 *
 * The one rule: everything is counted by packet, so that a filter takes what its packets
 * show: what a packet says by itself, and the events on it as they stand when all is
 * decided.  Without a filter their sums are the counters of the streams.
 */
#include "stats.h"

#include "words.h"

#include "roce/aeth.h"

#include <epan/stats_tree.h>

#define OPCODES "Opcodes"
#define ECN_DATA "ECN of data"
#define ECN_CONTROL "ECN of control packets"
#define NAKS "NAKs"
#define CNPS "CNPs"
#define ROUNDS "Rounds of retransmission"
#define LOST_REQUESTS "Verdicts on requests"
#define LOST_RESPONSES "Verdicts on responses"
#define RESENT "Retransmitted packets"

typedef struct tree_state {
    stats_tree *tree;
    int resent, rounds, losses[ROCE_N_SPACES]; /* nodes */
    int opcodes, ecn_data, ecn_control, naks, cnps;
    GHashTable *sums; /* name of a node that events make -> its count */
} tree_state;

static GHashTable *trees; /* stats_tree -> tree_state */

/* ---- nodes ---- */

static void
free_state(gpointer data)
{
    tree_state *state = data;
    g_hash_table_destroy(state->sums);
    g_free(state);
}

static void
init(stats_tree *tree)
{
    if (trees == NULL) {
        trees = g_hash_table_new_full(NULL, NULL, NULL, free_state);
    }
    tree_state *state = g_new0(tree_state, 1);
    state->tree = tree;
    state->sums = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    state->opcodes = stats_tree_create_pivot(tree, OPCODES, 0);
    state->ecn_data = stats_tree_create_pivot(tree, ECN_DATA, 0);
    state->ecn_control = stats_tree_create_pivot(tree, ECN_CONTROL, 0);
    state->naks = stats_tree_create_pivot(tree, NAKS, 0);
    state->cnps = stats_tree_create_node(tree, CNPS, 0, STAT_DT_INT, TRUE);
    state->resent = stats_tree_create_node(tree, RESENT, 0, STAT_DT_INT, FALSE);
    state->rounds = stats_tree_create_node(tree, ROUNDS, 0, STAT_DT_INT, TRUE);
    state->losses[ROCE_SPACE_REQUESTS] =
        stats_tree_create_node(tree, LOST_REQUESTS, 0, STAT_DT_INT, TRUE);
    state->losses[ROCE_SPACE_RESPONSES] =
        stats_tree_create_node(tree, LOST_RESPONSES, 0, STAT_DT_INT, TRUE);
    g_hash_table_insert(trees, tree, state);
}

static void
cleanup(stats_tree *tree)
{
    if (trees != NULL) {
        g_hash_table_remove(trees, tree);
    }
}

/* ---- what happened ---- */

/* What a node has, with so much more.  Wireshark adds up as well, but takes what is added for
 * something that happens now, which its columns of rates and bursts then show. */
static int
sum_up(tree_state *state, const char *parent_name, const char *name, int n)
{
    char *key = g_strdup_printf("%s/%s", parent_name, name);
    int sum = GPOINTER_TO_INT(g_hash_table_lookup(state->sums, key)) + n;
    g_hash_table_insert(state->sums, key, GINT_TO_POINTER(sum));
    return sum;
}

/* Adds to a node and to the one below it that has this name; NULL: there is none below. */
static void
add(tree_state *state, const char *parent_name, int parent, const char *name, int n)
{
    if (name != NULL) {
        int sum = sum_up(state, parent_name, name, n);
        set_stat_node(state->tree, name, parent, FALSE, sum);
    }
    int sum = sum_up(state, parent_name, "", n);
    set_stat_node(state->tree, parent_name, 0, name != NULL, sum);
}

/* A stream that was tracked before the capture was analysed anew may be none by now. */
static const char *
stream_label(uint32_t id, wmem_allocator_t *scope)
{
    if (id >= roce_tracker_n_streams(analysis_tracker())) {
        return "about an unknown stream";
    }
    const roce_stream *s = roce_tracker_stream(analysis_tracker(), id);
    return wmem_strdup_printf(scope, "about stream %u: %s to %s", id,
                              conversations_address(&s->src, scope),
                              conversations_destination(s, scope));
}

/* A CNP is of the stream whose data was marked.  Where that was not known when it came, its
 * event is of the stream that carries it, and it is about that one's other direction. */
static uint32_t
stream_of_cnp(const roce_event *e, const packet_record *record)
{
    if (e->stream != record->stream || e->stream == ROCE_NO_STREAM) {
        return e->stream;
    }
    return roce_tracker_stream(analysis_tracker(), e->stream)->peer;
}

/* Of a verdict about several copies one may have been taken back. */
static int
copies_lost(const event_record *record)
{
    return (int)record->event.count - (record->undone_by != 0 ? 1 : 0);
}

static void
take_verdict(tree_state *state, const event_record *event, wmem_allocator_t *scope)
{
    static const char *const names[ROCE_N_SPACES] = {LOST_REQUESTS, LOST_RESPONSES};
    const roce_event *e = &event->event;
    int n = copies_lost(event);
    if (n > 0) {
        add(state, names[e->space], state->losses[e->space],
            words_spaced(roce_verdict_name((roce_verdict)e->detail), scope), n);
    }
}

static void
take_event(tree_state *state, const event_record *event, const packet_record *record,
           wmem_allocator_t *scope)
{
    const roce_event *e = &event->event;
    if (e->kind == ROCE_EVENT_RETRANSMISSION) {
        add(state, RESENT, state->resent, NULL, 1);
    } else if (e->kind == ROCE_EVENT_ROUND) {
        add(state, ROUNDS, state->rounds,
            words_spaced(roce_cause_name((roce_cause)e->detail), scope), 1);
    } else if (e->kind == ROCE_EVENT_LOSS) {
        take_verdict(state, event, scope);
    } else if (e->kind == ROCE_EVENT_CNP) {
        add(state, CNPS, state->cnps, stream_label(stream_of_cnp(e, record), scope), 1);
    }
}

/* The events on a packet. */
static void
take_events(void *tree, const taken_packet *packet)
{
    tree_state *state = g_hash_table_lookup(trees, tree);
    const packet_record *record = memory_at(packet->frame);
    if (state == NULL || record == NULL) {
        return;
    }
    wmem_allocator_t *scope = wmem_allocator_new(WMEM_ALLOCATOR_SIMPLE);
    for (const note *n = memory_note(record->first_note); n != NULL;
         n = memory_note(n->next)) {
        if (n->role == NOTE_EVENT) {
            take_event(state, memory_event(n->index), record, scope);
        }
    }
    wmem_destroy_allocator(scope);
}

/* ---- what a packet says ---- */

static void
take_ecn(tree_state *state, const plugin_packet *packet)
{
    roce_role role = roce_opcode_get(packet->roce.bth.opcode)->role;
    bool is_data = packet->roce.payload_bytes > 0 &&
                   (roce_role_is_request(role) || roce_role_is_response_data(role));
    const char *codepoint = words_codepoint(roce_packet_ecn(&packet->whole));
    stats_tree_tick_pivot(state->tree, is_data ? state->ecn_data : state->ecn_control,
                          codepoint);
}

static void
take_nak(tree_state *state, uint8_t syndrome)
{
    if (roce_aeth_get_kind(syndrome) == ROCE_AETH_NAK) {
        stats_tree_tick_pivot(state->tree, state->naks,
                              roce_nak_code_name(roce_aeth_get_value(syndrome)));
    } else if (roce_aeth_get_kind(syndrome) == ROCE_AETH_RNR_NAK) {
        stats_tree_tick_pivot(state->tree, state->naks, "RNR NAK");
    }
}

static void
take_packet(tree_state *state, const packet_info *pinfo, const tapped_packet *tapped)
{
    const roce_packet *p = &tapped->packet->roce;
    if (!p->has_bth) {
        return;
    }
    roce_role role = roce_opcode_get(p->bth.opcode)->role;
    const char *name = roce_opcode_name(p->bth.opcode, p->transport);
    if (role == ROCE_ROLE_UNKNOWN) {
        name = wmem_strdup_printf(pinfo->pool, "%s 0x%02x", name, p->bth.opcode);
    }
    stats_tree_tick_pivot(state->tree, state->opcodes, name);
    if (tapped->packet->is_trackable) {
        take_ecn(state, tapped->packet);
    }
    if ((p->headers & ROCE_HEADER_AETH) != 0) {
        take_nak(state, p->aeth_syndrome);
    }
}

static tap_packet_status
take(stats_tree *tree, packet_info *pinfo, epan_dissect_t *edt, const void *data,
     tap_flags_t flags)
{
    (void)edt, (void)flags;
    tree_state *state = trees != NULL ? g_hash_table_lookup(trees, tree) : NULL;
    if (state == NULL) {
        return TAP_PACKET_DONT_REDRAW;
    }
    take_packet(state, pinfo, data);
    ending_take(take_events, tree, pinfo, data);
    return TAP_PACKET_REDRAW;
}

void
counts_register(void)
{
    stats_tree_register_plugin("rocev2", "rocev2", COMPAT_TREE_MENU "Counts", 0, take,
                               init, cleanup);
}
