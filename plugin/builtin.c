/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs Wireshark's own dissector behind ours, so that old filters match and upper
 * layers decode, and repairs what it shows.
 *
 * The one rule: whatever the built-in throws passes through, after everything that was
 * set aside is back in its place.
 *
 * 1. Info.  The built-in writes its text and upper layers write behind it.  Ours takes
 *    the place of the former; the latter stays.  What stood before (a tunnel's) too.
 * 2. Heuristics.  A SEND Only shorter than a protocol's smallest message is not shown
 *    to that protocol's heuristic, which would throw on it or claim it.  A SEND Last must
 *    be: it may complete a message.  But where its First was not captured, the
 *    heuristic takes a short Last for all of it; running off its end is then forgiven.
 *    So is what it does with RD and DC, all of which it takes for DC with a header that
 *    READs and atomics then have no room for.
 * 3. Tree.  What ours shows as well is hidden, which filters do not see; MADs and CM
 *    messages stay.
 * 4. Source address.  On CM messages the built-in replaces it by a LID that RoCE does
 *    not have.
 *
 * Limitations: what a heuristic appended to Info before it threw stays.  That the
 * built-in's text ends with the queue pair was seen on 4.0; where another version's
 * does not, both texts show.
 */
#include "plugin.h"

#include <string.h>

/* Protocols that claim SENDs by a heuristic, by their filter names. */
typedef struct smallest_message {
    const char *protocol;
    uint32_t bytes;
} smallest_message;

static const smallest_message smallest_messages[] = {
    {"rpcordma", 16},        /* RFC 8166, 4.2.1: xid, version, credits, procedure */
    {"smb_direct", 20},      /* MS-SMBD 2.2.1 and 2.2.3 */
    {"infiniband.eoib", 18}, /* its own header, and Ethernet's */
};
#define N_HEURISTICS (sizeof smallest_messages / sizeof smallest_messages[0])

/* Looked up once, at handoff; NULL: this Wireshark has none. */
static heur_dtbl_entry_t *heuristics[N_HEURISTICS];

/* What the built-in has in its tree and ours has too. */
static const char *const covered_fields[] = {
    "infiniband.bth",           "infiniband.rdeth",        "infiniband.deth",
    "infiniband.reth",          "infiniband.atomiceth",    "infiniband.aeth",
    "infiniband.atomicacketh",  "infiniband.immdt",        "infiniband.ieth",
    "infiniband.invariant.crc", "infiniband.feth",         "macc.opcode",
    "macc.pause_time",          "macc.cbfc.enbv",          "macc.cbfc.pause_time.c0",
    "macc.cbfc.pause_time.c1",  "macc.cbfc.pause_time.c2", "macc.cbfc.pause_time.c3",
    "macc.cbfc.pause_time.c4",  "macc.cbfc.pause_time.c5", "macc.cbfc.pause_time.c6",
    "macc.cbfc.pause_time.c7",
};
static const char *const unknown_fields[] = {
    "infiniband.vendor",
    "infiniband.rawdata",
};

/* Their ids, looked up at handoff; of those that this Wireshark has. */
static GArray *covered, *unknown;

/* What the built-in's own text ends with, and the number. */
#define QPN_TEXT "QP=0x"

/* What the built-in says of a packet that the snap length cut. */
#define CUT_PACKET_TEXT "Invalid Packet Length from LRH!"

/* What is set aside while the built-in runs. */
typedef struct guard {
    const builtin_repair *repair;
    packet_info *pinfo;
    proto_tree *tree;
    proto_node *last; /* of the tree before */
    size_t prefix;    /* bytes of Info that stood before and cannot be cleared */
    address src;
    const char *current_proto;
    int proto; /* the built-in's */
    bool was_enabled[N_HEURISTICS];
    bool has_thrown;
} guard;

static size_t
info_length(packet_info *pinfo)
{
    const char *text = col_get_text(pinfo->cinfo, COL_INFO);
    return text == NULL ? 0 : strlen(text);
}

static void
keep_heuristics_off(guard *g)
{
    for (size_t i = 0; i < N_HEURISTICS; i++) {
        heur_dtbl_entry_t *entry = heuristics[i];
        if (entry == NULL) {
            continue;
        }
        g->was_enabled[i] = entry->enabled;
        if (g->repair->send_part == ROCE_PART_ONLY &&
            g->repair->send_bytes < smallest_messages[i].bytes) {
            entry->enabled = FALSE;
        }
    }
}

static void
restore_heuristics(const guard *g)
{
    for (size_t i = 0; i < N_HEURISTICS; i++) {
        if (heuristics[i] != NULL) {
            heuristics[i]->enabled = g->was_enabled[i];
        }
    }
}

static void
set_aside(guard *g)
{
    g->last = g->tree == NULL ? NULL : g->tree->last_child;
    g->src = g->pinfo->src;
    g->current_proto = g->pinfo->current_proto;
    if (g->repair->info != NULL) {
        col_clear(g->pinfo->cinfo, COL_INFO);
        g->prefix = info_length(g->pinfo);
    }
    keep_heuristics_off(g);
}

/* What stands behind "[PSN Sequence Error]", which the built-in adds to its own text. */
static const char *
skip_remark(const char *text)
{
    const char *remark = text + strspn(text, " ");
    const char *end = remark[0] == '[' ? strchr(remark, ']') : NULL;
    return end != NULL ? end + 1 : text;
}

/* What upper layers added to Info, of what the built-in left there. */
static const char *
upper_info(const guard *g, const char *text)
{
    const char *own = g->repair->has_qpn ? strstr(text, QPN_TEXT) : NULL;
    if (own != NULL) {
        own += strlen(QPN_TEXT);
        text = own + strspn(own, "0123456789abcdef");
        text = g->repair->has_remark ? skip_remark(text) : text;
    } else if (!g->repair->other_info_stays ||
               g_str_has_prefix(text, CUT_PACKET_TEXT)) {
        return "";
    }
    return text + strspn(text, " ");
}

static void
repair_info(const guard *g)
{
    column_info *cinfo = g->pinfo->cinfo;
    const char *now = col_get_text(cinfo, COL_INFO);
    if (g->repair->info == NULL || now == NULL || !col_get_writable(cinfo, COL_INFO)) {
        return;
    }
    const char *prefix = wmem_strndup(g->pinfo->pool, now, g->prefix);
    const char *added = strlen(now) > g->prefix ? now + g->prefix : "";
    const char *upper = wmem_strdup(g->pinfo->pool, upper_info(g, added));
    col_clear_fence(cinfo, COL_INFO);
    col_add_fstr(cinfo, COL_INFO, "%s%s%s%s%s", prefix, g->repair->info,
                 upper[0] == '\0' ? "" : " | ", upper,
                 g->has_thrown ? " " : ""); /* Wireshark appends what was thrown */
    col_set_fence(cinfo, COL_INFO);
}

static bool
is_one_of(int id, const GArray *ids)
{
    for (guint i = 0; i < ids->len; i++) {
        if (g_array_index(ids, int, i) == id) {
            return true;
        }
    }
    return false;
}

/* Hides what of one item's children our tree has as well; whether that was all. */
static bool
hide_children(proto_node *item, bool hide_unknown)
{
    bool is_all = true;
    for (proto_node *child = item->first_child; child != NULL; child = child->next) {
        if (child->finfo == NULL) {
            continue;
        }
        int id = child->finfo->hfinfo->id;
        if (is_one_of(id, covered) || (hide_unknown && is_one_of(id, unknown)) ||
            (id == hf_text_only && child->first_child != NULL &&
             hide_children(child, hide_unknown))) {
            proto_item_set_hidden(child);
        } else {
            is_all = false;
        }
    }
    return is_all;
}

static void
hide_tree(const guard *g)
{
    if (g->tree == NULL || !PTREE_DATA(g->tree)->visible) {
        return; /* nobody will see it */
    }
    proto_node *item = g->last == NULL ? g->tree->first_child : g->last->next;
    for (; item != NULL; item = item->next) {
        if (item->finfo != NULL && item->finfo->hfinfo->id == g->proto &&
            hide_children(item, g->repair->hide_unknown)) {
            proto_item_set_hidden(item);
        }
    }
}

static void
put_back(guard *g)
{
    restore_heuristics(g);
    repair_info(g);
    if (g->repair->hide_tree) {
        hide_tree(g);
    }
    if (g->repair->keep_source && g->pinfo->src.type != g->src.type) {
        g->pinfo->src = g->src;
    }
}

/* Whether reading beyond the payload's end can only be a heuristic's doing: core has
 * read all headers, and no protocol's message is that short. */
static bool
is_short_tail(const builtin_repair *repair)
{
    uint32_t shortest = UINT32_MAX;
    for (size_t i = 0; i < N_HEURISTICS; i++) {
        shortest = MIN(shortest, smallest_messages[i].bytes);
    }
    return repair->send_part == ROCE_PART_LAST && repair->send_bytes < shortest;
}

static int
call_guarded(guard *g, hook_place place, hook_naming naming, tvbuff_t *tvb, void *data)
{
    volatile int used = 0;
    TRY
    {
        used = hook_call_builtin(place, naming, tvb, g->pinfo, g->tree, data);
    }
    CATCH(ReportedBoundsError)
    {
        if (!is_short_tail(g->repair) && !g->repair->is_misread) {
            g->has_thrown = true;
            RETHROW;
        }
        g->pinfo->current_proto = g->current_proto;
        used = (int)tvb_captured_length(tvb);
    }
    CATCH_ALL
    {
        g->has_thrown = true;
        RETHROW;
    }
    FINALLY
    {
        put_back(g);
    }
    ENDTRY;
    return used;
}

int
builtin_dissect(hook_place place, hook_naming naming, const builtin_repair *repair,
                tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree, void *data)
{
    guard g = {
        .repair = repair,
        .pinfo = pinfo,
        .tree = tree,
        .proto = hook_builtin_proto(place),
    };
    set_aside(&g);
    return call_guarded(&g, place, naming, tvb, data);
}

static void
find_heuristic(const char *table, heur_dtbl_entry_t *entry, void *user_data)
{
    (void)table;
    (void)user_data;
    const char *name = proto_get_protocol_filter_name(proto_get_id(entry->protocol));
    for (size_t i = 0; i < N_HEURISTICS; i++) {
        if (strcmp(name, smallest_messages[i].protocol) == 0) {
            heuristics[i] = entry;
        }
    }
}

static GArray *
find_ids(const char *const *names, size_t n)
{
    GArray *ids = g_array_new(FALSE, FALSE, sizeof(int));
    for (size_t i = 0; i < n; i++) {
        int id = proto_registrar_get_id_byname(names[i]);
        if (id != -1) {
            g_array_append_val(ids, id);
        }
    }
    return ids;
}

void
builtin_handoff(void)
{
    covered = find_ids(covered_fields, G_N_ELEMENTS(covered_fields));
    unknown = find_ids(unknown_fields, G_N_ELEMENTS(unknown_fields));
    heur_dissector_table_foreach("infiniband.payload", find_heuristic, NULL);
}
