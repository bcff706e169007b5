/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tree of counts.
 *
 * The one rule: what a packet says by itself is counted by packet; retransmissions and
 * verdicts, which later packets decide and may take back, are the counters of the
 * streams of the packets that were taken, brought up to date with each of them and at
 * the end.
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

/* What of a stream's counters a tree has by now. */
typedef struct counted {
    uint64_t open_cnps;  /* that it carried, */
    uint32_t cnps_about; /* and of which stream they are, or ROCE_NO_STREAM */
    uint64_t resent;
    uint64_t rounds[ROCE_N_CAUSES];
    uint64_t losses[ROCE_N_SPACES][ROCE_N_VERDICTS];
} counted;

typedef struct tree_state {
    stats_tree *tree;
    int resent, rounds, losses[ROCE_N_SPACES]; /* nodes */
    int opcodes, ecn_data, ecn_control, naks, cnps;
    GHashTable *counted; /* stream id -> counted */
    GHashTable *sums;    /* name of a node that streams' counters make -> its count */
} tree_state;

static GHashTable *trees; /* stats_tree -> tree_state */

/* ---- nodes ---- */

static void
free_state(gpointer data)
{
    tree_state *state = data;
    g_hash_table_destroy(state->counted);
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
    state->counted = g_hash_table_new_full(NULL, NULL, NULL, g_free);
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

/* ---- what streams count ---- */

/* What a node has, with so much more.  Wireshark adds up as well, but takes what is added for
 * something that happens now, which its columns of rates and bursts then show. */
static int
sum_up(tree_state *state, const char *parent_name, const char *name, int gain)
{
    char *key = g_strdup_printf("%s/%s", parent_name, name);
    int sum = GPOINTER_TO_INT(g_hash_table_lookup(state->sums, key)) + gain;
    g_hash_table_insert(state->sums, key, GINT_TO_POINTER(sum));
    return sum;
}

/* Adds what a counter has gained, or lost, to a node and to the one below it that has
 * this name; NULL: there is none below. */
static void
add_gain(tree_state *state, const char *parent_name, int parent, const char *name,
         uint64_t now, uint64_t *before)
{
    int gain = (int)(int64_t)(now - *before);
    *before = now;
    if (gain == 0) {
        return;
    }
    if (name != NULL) {
        int sum = sum_up(state, parent_name, name, gain);
        set_stat_node(state->tree, name, parent, FALSE, sum);
    }
    int sum = sum_up(state, parent_name, "", gain);
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

/* CNPs that no stream was known for when they came are of the pair's other stream, once
 * that is found. */
static void
take_open_cnps(tree_state *state, const roce_stream *s, counted *c,
               wmem_allocator_t *scope)
{
    const roce_stream_congestion *congestion = roce_stream_congestion_of(s);
    uint64_t open_cnps = congestion->cnps_sent - congestion->cnps_attributed;
    if (open_cnps == c->open_cnps && (open_cnps == 0 || c->cnps_about == s->peer)) {
        return;
    }
    if (c->cnps_about != s->peer) {
        add_gain(state, CNPS, state->cnps, stream_label(c->cnps_about, scope), 0,
                 &c->open_cnps);
        c->cnps_about = s->peer;
    }
    add_gain(state, CNPS, state->cnps, stream_label(s->peer, scope), open_cnps,
             &c->open_cnps);
}

static counted *
counted_of(tree_state *state, uint32_t id)
{
    counted *c = g_hash_table_lookup(state->counted, GUINT_TO_POINTER(id));
    if (c == NULL) {
        c = g_new0(counted, 1);
        c->cnps_about = ROCE_NO_STREAM;
        g_hash_table_insert(state->counted, GUINT_TO_POINTER(id), c);
    }
    return c;
}

static void
take_retransmissions(tree_state *state, const roce_stream *s, counted *c,
                     wmem_allocator_t *scope)
{
    const roce_retransmission_counters *n = &roce_stream_trouble_of(s)->retransmissions;
    add_gain(state, RESENT, state->resent, NULL, n->packets, &c->resent);
    for (unsigned i = 0; i < ROCE_N_CAUSES; i++) {
        uint64_t now = n->by_cause[i];
        if (now != c->rounds[i]) {
            add_gain(state, ROUNDS, state->rounds,
                     words_spaced(roce_cause_name((roce_cause)i), scope), now,
                     &c->rounds[i]);
        }
    }
}

static void
take_verdicts(tree_state *state, const roce_stream *s, counted *c,
              wmem_allocator_t *scope)
{
    static const char *const names[ROCE_N_SPACES] = {LOST_REQUESTS, LOST_RESPONSES};
    for (unsigned space = 0; space < ROCE_N_SPACES; space++) {
        for (unsigned i = 0; i < ROCE_N_VERDICTS; i++) {
            uint64_t now = roce_stream_trouble_of(s)->losses[space][i];
            if (now != c->losses[space][i]) {
                add_gain(state, names[space], state->losses[space],
                         words_spaced(roce_verdict_name((roce_verdict)i), scope), now,
                         &c->losses[space][i]);
            }
        }
    }
}

static void
take_counters(tree_state *state, uint32_t id, wmem_allocator_t *scope)
{
    const roce_stream *s = roce_tracker_stream(analysis_tracker(), id);
    counted *c = counted_of(state, id);
    take_open_cnps(state, s, c, scope);
    take_retransmissions(state, s, c, scope);
    take_verdicts(state, s, c, scope);
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

/* A CNP is of the stream whose data was marked.  While that is not known, its event is
 * of the stream that carries it, whose counters have it. */
static void
take_cnp(tree_state *state, const packet_record *record, wmem_allocator_t *scope)
{
    for (const note *n = memory_note(record->first_note); n != NULL;
         n = memory_note(n->next)) {
        const event_record *e = n->role == NOTE_EVENT ? memory_event(n->index) : NULL;
        if (e != NULL && e->event.kind == ROCE_EVENT_CNP &&
            e->event.stream != record->stream) {
            uint64_t before = 0;
            add_gain(state, CNPS, state->cnps, stream_label(e->event.stream, scope), 1,
                     &before);
        }
    }
}

/* What the analysis says of a packet, and of its stream. */
static void
take_analysis(void *tree, const taken_packet *packet)
{
    tree_state *state = g_hash_table_lookup(trees, tree);
    const packet_record *record = memory_at(packet->frame);
    if (state == NULL || record == NULL || record->stream == ROCE_NO_STREAM) {
        return;
    }
    wmem_allocator_t *scope = wmem_allocator_new(WMEM_ALLOCATOR_SIMPLE);
    take_cnp(state, record, scope);
    take_counters(state, record->stream, scope);
    wmem_destroy_allocator(scope);
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
    ending_take(take_analysis, tree, pinfo, data);
    return TAP_PACKET_REDRAW;
}

void
counts_register(void)
{
    stats_tree_register_plugin("rocev2", "rocev2", COMPAT_TREE_MENU "Counts", 0, take,
                               init, cleanup);
}
