/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The analysis of pauses, on the frames that began, refreshed or ended them.
 *
 * The one rule: a pause is known by the frame that began it; how long it took is the
 * tracker's word, by the speed of the link (core/stop.c).  Where that is not known, a pause
 * that an XON follows may have run out long before: what each of its frames asked for has
 * gone on until the next one, or for as long as it takes at the fastest link.
 */
#include "pauses.h"

#include "events.h"

#define PREFIX "pfc.analysis."

static const value_string end_names[] = {
    {ROCE_PAUSE_XON, "xon"},
    {ROCE_PAUSE_EXPIRED, "expired"},
    {ROCE_PAUSE_CAPTURE_END, "capture_end"},
    {0, NULL},
};

static int hf_analysis, hf_since, hf_for, hf_at_least, hf_end, hf_ended_in;
static gint ett_analysis = -1;
static expert_field ei_xoff = EI_INIT;
static expert_field ei_expired = EI_INIT;

/* An event on the frame itself. */
static void
take_event(pause_view *view, const roce_event *e)
{
    view->is_known = true;
    view->kind = e->kind;
    view->since = memory_number(e->related_frame);
    if (e->kind == ROCE_EVENT_PAUSE_XOFF) {
        view->since = memory_number(e->frame);
    } else if (e->kind == ROCE_EVENT_PAUSE_XON && view->since != 0) {
        view->has_ended = view->has_length = true;
        view->end = ROCE_PAUSE_XON;
        view->length_ns = e->duration_ns;
    }
}

/* The end of the pause that the frame began. */
static void
take_end(pause_view *view, const roce_event *e)
{
    if (e->kind == ROCE_EVENT_PAUSE_XON) {
        view->end = ROCE_PAUSE_XON;
        view->ended_in = memory_number(e->frame);
    } else if (e->kind == ROCE_EVENT_PAUSE_EXPIRED) {
        view->end = e->evidence == ROCE_EVIDENCE_CAPTURE_END ? ROCE_PAUSE_CAPTURE_END
                                                             : ROCE_PAUSE_EXPIRED;
    } else {
        return;
    }
    view->has_ended = view->has_length = true;
    view->length_ns = e->duration_ns;
}

static bool
is_of_pause(const roce_event *e)
{
    return e->kind == ROCE_EVENT_PAUSE_XOFF || e->kind == ROCE_EVENT_PAUSE_REFRESH ||
           e->kind == ROCE_EVENT_PAUSE_XON || e->kind == ROCE_EVENT_PAUSE_EXPIRED;
}

/* The record of the frame that began the pause which an event on a frame is of, or NULL. */
static const packet_record *
begin_of(const packet_record *record, const roce_event *e)
{
    return e->kind == ROCE_EVENT_PAUSE_XOFF ? record : memory_find(e->related_frame);
}

/* What of a pause is sure without the speed of its link. */
typedef struct sure_part {
    uint64_t least_ns;
    bool is_all; /* it did not run out between its frames */
} sure_part;

/* From the event of the frame that began a pause, and those of the frames that held on to
 * it or ended it. */
static sure_part
sure_part_of(const packet_record *begin, unsigned priority)
{
    sure_part sure = {.is_all = true};
    uint64_t asked_ns = 0;
    uint64_t asked_for_ns = 0;
    for (const note *n = memory_note(begin->first_note); n != NULL;
         n = memory_note(n->next)) {
        const roce_event *e = &memory_event(n->index)->event;
        if (n->role == NOTE_SAMPLE || e->detail != priority || !is_of_pause(e)) {
            continue;
        }
        uint64_t since_ns = e->time_ns > asked_ns ? e->time_ns - asked_ns : 0;
        bool begins = e->kind == ROCE_EVENT_PAUSE_XOFF;
        sure.least_ns += begins ? 0 : MIN(since_ns, asked_for_ns);
        sure.is_all &= begins || since_ns <= asked_for_ns;
        asked_ns = e->time_ns;
        asked_for_ns = roce_quanta_to_ns((uint32_t)e->count, ROCE_FASTEST_LINK_BPS);
    }
    return sure;
}

/* Leaves of the view of a pause what is sure. */
static void
keep_sure_part(pause_view *view, const packet_record *begin, unsigned priority)
{
    const sure_part sure = sure_part_of(begin, priority);
    view->has_length = view->has_ended && sure.is_all;
    view->has_ended = view->has_length;
    view->has_least = !view->has_length && sure.least_ns > 0;
    view->length_ns = view->has_length ? view->length_ns : sure.least_ns;
}

pause_view
pauses_view(const packet_record *record, unsigned priority, uint64_t speed_bps)
{
    pause_view view = {0};
    const packet_record *begin = NULL;
    uint32_t first = record != NULL ? record->first_note : ANALYSIS_NONE;
    for (const note *n = memory_note(first); n != NULL; n = memory_note(n->next)) {
        const roce_event *e = &memory_event(n->index)->event;
        if (n->role == NOTE_SAMPLE || e->detail != priority || !is_of_pause(e)) {
            continue;
        }
        if (n->role == NOTE_EVENT) {
            take_event(&view, e);
            begin = begin_of(record, e);
        } else {
            take_end(&view, e);
        }
    }
    if (speed_bps == 0 && begin != NULL && view.kind != ROCE_EVENT_PAUSE_REFRESH) {
        keep_sure_part(&view, begin, priority);
    }
    return view;
}

void
pauses_add(proto_tree *tree, tvbuff_t *tvb, packet_info *pinfo, const pause_view *view)
{
    if (!view->is_known ||
        (view->since == 0 && !view->has_length && !view->has_least)) {
        return; /* an XON that ends nothing */
    }
    proto_item *item = proto_tree_add_item(tree, hf_analysis, tvb, 0, 0, ENC_NA);
    proto_item_set_generated(item);
    proto_tree *sub = proto_item_add_subtree(item, ett_analysis);
    if (view->since != 0) {
        proto_item_set_generated(
            proto_tree_add_uint(sub, hf_since, tvb, 0, 0, view->since));
    }
    if (view->has_length || view->has_least) {
        events_add_duration(sub, view->has_length ? hf_for : hf_at_least, tvb,
                            view->length_ns);
    }
    if (view->has_ended) {
        proto_item_set_generated(
            proto_tree_add_uint(sub, hf_end, tvb, 0, 0, (uint32_t)view->end));
    }
    if (view->ended_in != 0) {
        proto_item_set_generated(
            proto_tree_add_uint(sub, hf_ended_in, tvb, 0, 0, view->ended_in));
    }
    if (view->kind == ROCE_EVENT_PAUSE_XOFF) {
        bool expired = view->has_ended && view->end == ROCE_PAUSE_EXPIRED;
        expert_add_info(pinfo, item, expired ? &ei_expired : &ei_xoff);
    }
}

const char *
pauses_info(const pause_view *view, wmem_allocator_t *scope)
{
    if (!view->is_known || (!view->has_length && !view->has_least)) {
        return "";
    }
    const char *length =
        wmem_strdup_printf(scope, "%s%s", view->has_length ? "" : "at least ",
                           info_of_duration(view->length_ns, scope));
    if (view->kind == ROCE_EVENT_PAUSE_XON) {
        return wmem_strdup_printf(scope, " [was paused %s]", length);
    }
    return wmem_strdup_printf(scope, " [paused %s%s%s]", length,
                              view->has_ended ? ", " : "",
                              view->has_ended ? end_names[view->end].strptr : "");
}

void
pauses_register(int proto, expert_module_t *experts)
{
    /* clang-format off */
    static hf_register_info fields[] = {
        {&hf_analysis, {"Analysis", "pfc.analysis", FT_NONE, BASE_NONE, NULL, 0, NULL,
                        HFILL}},
        {&hf_since, {"Paused since", PREFIX "paused_since", FT_FRAMENUM, BASE_NONE,
                     NULL, 0, NULL, HFILL}},
        {&hf_for, {"Paused for", PREFIX "paused_for", FT_RELATIVE_TIME, BASE_NONE, NULL,
                   0, NULL, HFILL}},
        {&hf_at_least, {"Paused at least for", PREFIX "paused_at_least",
                        FT_RELATIVE_TIME, BASE_NONE, NULL, 0,
                        "The link's speed is not known, nor when the pause ran out",
                        HFILL}},
        {&hf_end, {"Ended by", PREFIX "ended_by", FT_UINT8, BASE_DEC, VALS(end_names),
                   0, NULL, HFILL}},
        {&hf_ended_in, {"Ended in", PREFIX "ended_in", FT_FRAMENUM, BASE_NONE, NULL, 0,
                        NULL, HFILL}},
    };
    /* clang-format on */
    static ei_register_info rows[] = {
        {&ei_xoff,
         {"pfc.expert.xoff", PI_SEQUENCE, PI_NOTE, "A pause begins", EXPFILL}},
        {&ei_expired,
         {"pfc.expert.expired", PI_SEQUENCE, PI_WARN,
          "A pause that nobody ended: it ran out", EXPFILL}},
    };
    static gint *const subtrees[] = {&ett_analysis};
    proto_register_field_array(proto, fields, (int)G_N_ELEMENTS(fields));
    proto_register_subtree_array(subtrees, (int)G_N_ELEMENTS(subtrees));
    expert_register_field_array(experts, rows, (int)G_N_ELEMENTS(rows));
}
