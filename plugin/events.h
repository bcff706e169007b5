/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The tracker's events as fields of protocol rocev2. */
#ifndef ROCESCOPE_EVENTS_H
#define ROCESCOPE_EVENTS_H

#include "analysis.h"

/* Registers the fields and expert infos of all kinds of events. */
void
events_register(int proto, expert_module_t *experts);

/* Adds what a note of the roles EVENT or RELATED says of the packet. */
void
events_add(proto_tree *tree, tvbuff_t *tvb, packet_info *pinfo, const note *n);

/* Adds what a frame that is no RoCE packet shows of tables that were full: of pauses, that is
 * a pause frame. */
void
events_add_evicted(proto_tree *tree, tvbuff_t *tvb, packet_info *pinfo,
                   const packet_record *record);

/* Whether the tree that is being made wants that. */
bool
events_evicted_is_wanted(proto_tree *tree);

/* Adds a generated time. */
void
events_add_duration(proto_tree *tree, int field, tvbuff_t *tvb, uint64_t duration_ns);

/* The names of roce_pairing, for a field. */
const value_string *
events_pairing_names(void);

#endif
