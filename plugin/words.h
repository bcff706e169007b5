/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sentences for the tree, and labels for the Info column, of what the tracker says. */
#ifndef ROCESCOPE_WORDS_H
#define ROCESCOPE_WORDS_H

#include "analysis.h"

/* "Not-ECT", "ECT(1)", "ECT(0)", "CE". */
const char *
words_codepoint(unsigned codepoint);

/* "vxlan 100"; "" outside of all overlays.  Of `scope`. */
const char *
words_tenant(const roce_tenant *tenant, wmem_allocator_t *scope);

/* "lost before capture" of "lost_before_capture"; of `scope`. */
const char *
words_spaced(const char *name, wmem_allocator_t *scope);

/* What an event says, as a sentence; of `scope`. */
const char *
words_sentence(const event_record *event, wmem_allocator_t *scope);

/* What the Info column has of a record, each in brackets and worst first: "" if nothing
 * is to be said.  Of `scope`. */
const char *
words_info(const packet_record *record, wmem_allocator_t *scope);

#endif
