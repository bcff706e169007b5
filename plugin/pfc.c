/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Protocol pfc: priority-based flow control (IEEE 802.1Q clause 36) and, told apart by
 * `pfc.kind`, the pause of a whole link (IEEE 802.3 annex 31B).
 *
 * The one rule: bit n of the class-enable vector is priority n; a time counts only
 * where its bit is set.
 *
 * Limitations: a frame does not tell the speed of its link, and Wireshark does not tell
 * dissectors what the capture says of it, so it is the preferences'.  Other MAC control
 * (EPON, ...) is left to the built-in alone.
 */
#include "events.h"
#include "pauses.h"
#include "points.h"
#include "taps.h"

#include "roce/decode.h"
#include "roce/pause.h"

#include <string.h>

#define N_PRIORITIES 8
#define OPCODE_BYTES 2
#define VECTOR_BYTES 2
#define QUANTA_BYTES 2
#define VECTOR_OFFSET OPCODE_BYTES
#define QUANTA_OFFSET (VECTOR_OFFSET + VECTOR_BYTES)
#define PAUSE_OFFSET OPCODE_BYTES
#define MAX_GBPS 100000u

typedef enum pause_kind {
    KIND_XON,
    KIND_XOFF,
    KIND_PAUSE,
    KIND_RESUME,
    KIND_REFRESH,
    KIND_PAUSE_REFRESH,
} pause_kind;
static const value_string kind_names[] = {
    {KIND_XON, "XON"},
    {KIND_XOFF, "XOFF"},
    {KIND_PAUSE, "802.3x pause"},
    {KIND_RESUME, "802.3x resume"},
    {KIND_REFRESH, "XOFF refresh"},
    {KIND_PAUSE_REFRESH, "802.3x pause refresh"},
    {0, NULL},
};

static const value_string opcode_names[] = {
    {0x0001, "PAUSE (802.3x)"},
    {0x0101, "PFC"},
    {0, NULL},
};

static int proto_pfc;
static int hf_opcode, hf_cev, hf_quanta, hf_time, hf_kind;
static int hf_cev_of[N_PRIORITIES], hf_quanta_of[N_PRIORITIES];
static gint ett_pfc = -1, ett_cev = -1, ett_priority = -1;
static expert_field ei_truncated = EI_INIT;
static expert_field ei_malformed = EI_INIT;

static guint pref_gbps = 0; /* nobody knows */
static const char *pref_gbps_by_interface = "";
static compat_bool pref_readable_info = true;
static compat_bool pref_show_builtin = false;

static dissector_handle_t handle_pfc;
static int tap_pfc;

static bool
is_between_entries(char c)
{
    return c == ',' || c == ';' || g_ascii_isspace(c);
}

/* Whether an entry of the list may begin here: at its start, behind a comma or semicolon, or
 * behind a blank if an entry ends there.  "Ethernet 2=100" is not about "2". */
static bool
begins_entry(const char *list, const char *at)
{
    const char *end = at;
    while (end > list && g_ascii_isspace(end[-1])) {
        end--;
    }
    if (end == list || end[-1] == ',' || end[-1] == ';') {
        return true;
    }
    const char *value = end;
    while (value > list && value[-1] != '=' && !is_between_entries(value[-1])) {
        value--;
    }
    while (value > list && g_ascii_isspace(value[-1])) {
        value--;
    }
    return end < at && value > list && value[-1] == '=';
}

static const char *
skip_blanks(const char *text)
{
    while (g_ascii_isspace(*text)) {
        text++;
    }
    return text;
}

/* "100", "2.5" or "100G", to the next entry; 0, not known, for what is no speed. */
static double
parse_gbps(const char *text)
{
    gchar *end = NULL;
    double gbps = g_ascii_isdigit(text[0]) ? g_ascii_strtod(text, &end) : 0;
    if (end != NULL && end[0] == 'G') {
        end++;
    }
    bool is_all = end != NULL && (end[0] == '\0' || is_between_entries(end[0]));
    return is_all && gbps <= MAX_GBPS ? gbps : 0;
}

/* Gbit/s of an interface in "eth0=100, swp12 = 400"; `otherwise` if it is not among
 * them. */
static double
find_gbps(const char *list, const char *name, double otherwise)
{
    const size_t n = strlen(name);
    double gbps = otherwise;
    const char *at = n > 0 ? strstr(list, name) : NULL;
    for (; at != NULL; at = strstr(at + 1, name)) {
        const char *equals = skip_blanks(at + n);
        if (begins_entry(list, at) && *equals == '=') {
            gbps = parse_gbps(skip_blanks(equals + 1));
        }
    }
    return gbps;
}

uint64_t
pfc_speed_bps(const char *interface_name)
{
    double gbps = MIN(pref_gbps, MAX_GBPS);
    if (interface_name != NULL && pref_gbps_by_interface[0] != '\0') {
        gbps = find_gbps(pref_gbps_by_interface, interface_name, gbps);
    }
    return (uint64_t)(gbps * 1e9);
}

/* A frame on its way through this file. */
typedef struct pause_frame {
    plugin_packet packet;
    const packet_record *record; /* NULL: it is not analysed */
    uint64_t speed_bps;          /* 0 unknown */
} pause_frame;

static void
append_time(wmem_strbuf_t *text, const pause_frame *frame, uint16_t quanta)
{
    wmem_strbuf_append_printf(text, "%u quanta", quanta);
    if (frame->speed_bps != 0) {
        uint64_t ns = roce_quanta_to_ns(quanta, frame->speed_bps);
        wmem_strbuf_append_printf(text, ", %s", info_of_duration(ns, text->allocator));
    }
}

static void
append_analysis(wmem_strbuf_t *text, const pause_frame *frame, unsigned priority)
{
    const pause_view view = pauses_view(frame->record, priority, frame->speed_bps);
    wmem_strbuf_append(text, pauses_info(&view, text->allocator));
}

static bool
is_refresh(const pause_frame *frame, unsigned priority)
{
    const pause_view view = pauses_view(frame->record, priority, frame->speed_bps);
    return view.is_known && view.kind == ROCE_EVENT_PAUSE_REFRESH;
}

static void
append_priority(wmem_strbuf_t *text, const pause_frame *frame, unsigned priority)
{
    uint16_t quanta = frame->packet.roce.pause.quanta[priority];
    bool again = is_refresh(frame, priority);
    if (quanta == 0) {
        wmem_strbuf_append_printf(text, " XON p%u", priority);
    } else {
        wmem_strbuf_append_printf(text, " XOFF%s p%u (", again ? " refresh" : "",
                                  priority);
        append_time(text, frame, quanta);
        wmem_strbuf_append(text, ")");
    }
    append_analysis(text, frame, priority);
}

/* "PFC XOFF p3 (65535 quanta, 335.5 µs) XON p4" */
static const char *
info_of_pause(const pause_frame *frame, wmem_allocator_t *scope)
{
    const roce_packet *p = &frame->packet.roce;
    const roce_pause *pause = &p->pause;
    wmem_strbuf_t *text = wmem_strbuf_new(scope, "");
    if (p->outcome != ROCE_DECODED) {
        wmem_strbuf_append(text, p->kind == ROCE_CLASS_PFC ? "PFC" : "PAUSE");
        wmem_strbuf_append(text,
                           p->outcome == ROCE_MALFORMED ? " [malformed]" : " [cut]");
        return wmem_strbuf_get_str(text);
    }
    if (p->kind == ROCE_CLASS_PAUSE) {
        bool again = is_refresh(frame, ROCE_PRIORITY_GLOBAL);
        wmem_strbuf_append_printf(text, "PAUSE%s of all priorities (",
                                  again ? " refresh" : "");
        append_time(text, frame, pause->quanta[0]);
        wmem_strbuf_append(text, pause->quanta[0] == 0 ? "): resume" : ")");
        append_analysis(text, frame, ROCE_PRIORITY_GLOBAL);
        return wmem_strbuf_get_str(text);
    }
    wmem_strbuf_append(text, "PFC");
    for (unsigned i = 0; i < N_PRIORITIES; i++) {
        if ((pause->enabled & 1u << i) != 0) {
            append_priority(text, frame, i);
        }
    }
    if ((pause->enabled & 0xff) == 0) {
        wmem_strbuf_append(text, " for no priority");
    }
    return wmem_strbuf_get_str(text);
}

/* ---- tree ---- */

/* Whether a time starts a pause or refreshes one takes memory. */
static pause_kind
kind_of(const pause_frame *frame, const pause_view *view, uint16_t quanta)
{
    bool refreshes = view->is_known && view->kind == ROCE_EVENT_PAUSE_REFRESH;
    if (frame->packet.roce.kind == ROCE_CLASS_PAUSE) {
        return quanta == 0 ? KIND_RESUME : refreshes ? KIND_PAUSE_REFRESH : KIND_PAUSE;
    }
    return quanta == 0 ? KIND_XON : refreshes ? KIND_REFRESH : KIND_XOFF;
}

static pause_kind
add_kind_and_time(proto_tree *tree, tvbuff_t *tvb, packet_info *pinfo, gint offset,
                  const pause_frame *frame, unsigned priority, uint16_t quanta)
{
    const pause_view view = pauses_view(frame->record, priority, frame->speed_bps);
    pause_kind kind = kind_of(frame, &view, quanta);
    proto_item *item =
        proto_tree_add_uint(tree, hf_kind, tvb, offset, QUANTA_BYTES, (uint32_t)kind);
    proto_item_set_generated(item);
    if (frame->speed_bps != 0) {
        uint64_t ns = roce_quanta_to_ns(quanta, frame->speed_bps);
        const nstime_t time = info_time(ns);
        item = proto_tree_add_time(tree, hf_time, tvb, offset, QUANTA_BYTES, &time);
        proto_item_set_generated(item);
    }
    pauses_add(tree, tvb, pinfo, &view);
    return kind;
}

static void
add_priority(proto_tree *tree, tvbuff_t *tvb, packet_info *pinfo, unsigned priority,
             const pause_frame *frame)
{
    const roce_pause *pause = &frame->packet.roce.pause;
    gint offset = (gint)(QUANTA_OFFSET + priority * QUANTA_BYTES);
    uint16_t quanta = pause->quanta[priority];
    proto_item *item = proto_tree_add_uint(tree, hf_quanta_of[priority], tvb, offset,
                                           QUANTA_BYTES, quanta);
    if ((pause->enabled & 1u << priority) == 0) {
        proto_item_append_text(item, " quanta, not enabled");
        return;
    }
    proto_tree *sub = proto_item_add_subtree(item, ett_priority);
    proto_item *any =
        proto_tree_add_uint(sub, hf_quanta, tvb, offset, QUANTA_BYTES, quanta);
    proto_item_set_hidden(any);
    pause_kind kind =
        add_kind_and_time(sub, tvb, pinfo, offset, frame, priority, quanta);
    proto_item_append_text(item, " quanta: %s",
                           val_to_str_const((uint32_t)kind, kind_names, ""));
}

static void
add_pfc(proto_tree *tree, tvbuff_t *tvb, packet_info *pinfo, const pause_frame *frame)
{
    const roce_pause *pause = &frame->packet.roce.pause;
    proto_item *item = proto_tree_add_uint(tree, hf_cev, tvb, VECTOR_OFFSET,
                                           VECTOR_BYTES, pause->enabled);
    proto_tree *sub = proto_item_add_subtree(item, ett_cev);
    for (unsigned i = N_PRIORITIES; i-- > 0;) {
        proto_tree_add_boolean(sub, hf_cev_of[i], tvb, VECTOR_OFFSET, VECTOR_BYTES,
                               pause->enabled);
    }
    for (unsigned i = 0; i < N_PRIORITIES; i++) {
        add_priority(tree, tvb, pinfo, i, frame);
    }
}

static void
add_pause(proto_tree *tree, tvbuff_t *tvb, packet_info *pinfo, const pause_frame *frame)
{
    uint16_t quanta = frame->packet.roce.pause.quanta[0];
    proto_tree_add_uint(tree, hf_quanta, tvb, PAUSE_OFFSET, QUANTA_BYTES, quanta);
    (void)add_kind_and_time(tree, tvb, pinfo, PAUSE_OFFSET, frame, ROCE_PRIORITY_GLOBAL,
                            quanta);
}

static void
add_tree(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree, const pause_frame *frame,
         const char *info)
{
    const roce_packet *p = &frame->packet.roce;
    gint length = p->kind == ROCE_CLASS_PFC
                      ? QUANTA_OFFSET + N_PRIORITIES * QUANTA_BYTES
                      : PAUSE_OFFSET + QUANTA_BYTES;
    length = MIN(length, (gint)tvb_captured_length(tvb));
    proto_item *item = proto_tree_add_item(tree, proto_pfc, tvb, 0, length, ENC_NA);
    proto_item_append_text(item, ", %s", info);
    proto_tree *sub = proto_item_add_subtree(item, ett_pfc);
    proto_tree_add_uint(sub, hf_opcode, tvb, 0, OPCODE_BYTES, p->pause.opcode);
    if (p->outcome == ROCE_MALFORMED) {
        expert_add_info(pinfo, item, &ei_malformed);
    } else if (p->outcome != ROCE_DECODED) {
        expert_add_info(pinfo, item, &ei_truncated);
    } else if (p->kind == ROCE_CLASS_PFC) {
        add_pfc(sub, tvb, pinfo, frame);
    } else {
        add_pause(sub, tvb, pinfo, frame);
    }
    events_add_evicted(sub, tvb, pinfo, frame->record);
}

static int
dissect_pfc(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree, void *data)
{
    pause_frame frame;
    if (!network_decode_pause(tvb, pinfo, &frame.packet)) {
        return 0;
    }
    frame.record = analysis_take(pinfo, &frame.packet);
    frame.speed_bps = pfc_speed_bps(points_interface_name(pinfo));
    const char *info = info_of_pause(&frame, pinfo->pool);
    builtin_repair repair = {
        .info = pref_readable_info && col_get_writable(pinfo->cinfo, COL_INFO) ? info
                                                                               : NULL,
        .hide_tree = !pref_show_builtin,
    };
    if (fields_are_wanted(pinfo, tree, proto_pfc, &frame.packet, frame.record) ||
        events_evicted_is_wanted(tree)) {
        add_tree(tvb, pinfo, tree, &frame, info);
    } else {
        proto_tree_add_item(tree, proto_pfc, tvb, 0, -1, ENC_NA);
    }
    taps_queue(tap_pfc, pinfo, &frame.packet, frame.record);
    return builtin_dissect(HOOK_MAC_CONTROL, HOOK_NAMED_ALREADY, &repair, tvb, pinfo,
                           tree, data);
}

static void
register_fields(void)
{
    /* clang-format off */
    static hf_register_info fields[] = {
        {&hf_opcode, {"Opcode", "pfc.opcode", FT_UINT16, BASE_HEX, VALS(opcode_names),
                      0, NULL, HFILL}},
        {&hf_cev, {"Class-Enable Vector", "pfc.cev", FT_UINT16, BASE_HEX, NULL, 0, NULL,
                   HFILL}},
        {&hf_quanta, {"Quanta", "pfc.quanta", FT_UINT16, BASE_DEC, NULL, 0,
                      "Of an enabled priority, or of the link; 512 bit times each",
                      HFILL}},
        {&hf_time, {"Time", "pfc.time", FT_RELATIVE_TIME, BASE_NONE, NULL, 0,
                    "The quanta at the link speed of the preference", HFILL}},
        {&hf_kind, {"Kind", "pfc.kind", FT_UINT8, BASE_DEC, VALS(kind_names), 0, NULL,
                    HFILL}},
    };
    /* clang-format on */
    static hf_register_info of_priority[2 * N_PRIORITIES];
    static gint *const subtrees[] = {&ett_pfc, &ett_cev, &ett_priority};
    wmem_allocator_t *scope = wmem_epan_scope();
    for (unsigned i = 0; i < N_PRIORITIES; i++) {
        const char *name = wmem_strdup_printf(scope, "Priority %u", i);
        header_field_info cev = {
            name,       wmem_strdup_printf(scope, "pfc.cev.p%u", i),
            FT_BOOLEAN, 16,
            NULL,       (uint64_t)1 << i,
            NULL,       HFILL};
        header_field_info quanta = {
            name,      wmem_strdup_printf(scope, "pfc.quanta.p%u", i),
            FT_UINT16, BASE_DEC,
            NULL,      0,
            NULL,      HFILL};
        of_priority[i] = (hf_register_info){&hf_cev_of[i], cev};
        of_priority[N_PRIORITIES + i] = (hf_register_info){&hf_quanta_of[i], quanta};
    }
    proto_register_field_array(proto_pfc, fields, (int)G_N_ELEMENTS(fields));
    proto_register_field_array(proto_pfc, of_priority, (int)G_N_ELEMENTS(of_priority));
    proto_register_subtree_array(subtrees, (int)G_N_ELEMENTS(subtrees));
}

static void
register_experts(void)
{
    static ei_register_info experts[] = {
        {&ei_malformed,
         {"pfc.malformed", PI_MALFORMED, PI_ERROR, "The frame is too short", EXPFILL}},
        {&ei_truncated,
         {"pfc.truncated", PI_UNDECODED, PI_NOTE,
          "Cut by the snap length of the capture", EXPFILL}},
    };
    expert_module_t *module = expert_register_protocol(proto_pfc);
    expert_register_field_array(module, experts, (int)G_N_ELEMENTS(experts));
    pauses_register(proto_pfc, module);
}

static void
register_preferences(void)
{
    module_t *module = prefs_register_protocol(proto_pfc, NULL);
    prefs_register_uint_preference(module, "link_speed", "Link speed in Gbit/s",
                                   "At which quanta are times, and pauses run out; 0: "
                                   "it is not known, quanta are shown as such, and of "
                                   "pauses how long they lasted at least",
                                   10, &pref_gbps);
    prefs_register_string_preference(
        module, "link_speed_by_interface",
        "Link speeds by interface (eth0=100,swp12=400)",
        "Interfaces whose links are of another speed, in Gbit/s",
        &pref_gbps_by_interface);
    prefs_register_bool_preference(module, "readable_info", "Readable Info column",
                                   "Whether Info shows which priorities a frame stops "
                                   "or resumes, and for how long, "
                                   "in place of MAC Control's own text",
                                   &pref_readable_info);
    prefs_register_bool_preference(module, "show_builtin_tree",
                                   "Show MAC Control's own tree",
                                   "Whether to show what MAC Control's own dissector "
                                   "has of the same frame; filters "
                                   "on macc.* match either way",
                                   &pref_show_builtin);
}

void
pfc_register(void)
{
    proto_pfc = proto_register_protocol("Priority-based Flow Control", "PFC", "pfc");
    handle_pfc = register_dissector("pfc", dissect_pfc, proto_pfc);
    tap_pfc = register_tap("pfc");
    register_fields();
    register_experts();
    register_preferences();
}

void
pfc_handoff(dissector_handle_t ours[HOOK_N_PLACES])
{
    ours[HOOK_MAC_CONTROL] = handle_pfc;
}
