/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The analysis of pauses: what each pause frame did, and how it ended. */
#ifndef ROCESCOPE_PAUSES_H
#define ROCESCOPE_PAUSES_H

#include "analysis.h"

/* What a pause frame did to one priority, as far as it is known by now. */
typedef struct pause_view {
    bool is_known;        /* nothing else holds unless */
    roce_event_kind kind; /* PAUSE_XOFF, PAUSE_REFRESH or PAUSE_XON */
    uint32_t since;       /* frame that began the pause; 0: there was none */
    bool has_ended;       /* `end` holds: how it ended */
    roce_pause_end end;
    uint32_t ended_in; /* of an XOFF: frame of the XON; 0: there was none */
    bool has_length;   /* `length_ns` holds: all of it, */
    bool has_least; /* or what it lasted at least, since nobody knows when it ran out */
    uint64_t length_ns;
} pause_view;

/* `record` may be NULL; `priority` is 0 to 7 or ROCE_PRIORITY_GLOBAL; `speed_bps` is that of
 * the link, 0 if it is not known. */
pause_view
pauses_view(const packet_record *record, unsigned priority, uint64_t speed_bps);

/* Adds the view to the tree of its priority. */
void
pauses_add(proto_tree *tree, tvbuff_t *tvb, packet_info *pinfo, const pause_view *view);

/* What the Info column says of it, in brackets; "" if nothing.  Of `scope`. */
const char *
pauses_info(const pause_view *view, wmem_allocator_t *scope);

void
pauses_register(int proto, expert_module_t *experts);

#endif
