/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * READs that were asked for again, but not to their end, as requesters do that keep what lies
 * beyond a gap: each such request is answered only as far as it asks.  Of a stream the newest
 * ROCE_ASKED_PARTS are remembered.
 */
#include "track.h"

#include <string.h>

bool
roce_asked_part_is(const roce_slot *slot, int64_t end)
{
    return slot != NULL && (slot->flags & ROCE_SLOT_READS) != 0 &&
           end < slot->psn + slot->span;
}

void
roce_asked_part_note(roce_tracker *t, roce_stream_state *s, const roce_slot *slot,
                     int64_t end)
{
    roce_trouble *trouble = roce_trouble_had(s);
    if (!roce_asked_part_is(slot, end)) {
        return;
    }
    if (trouble != NULL && trouble->asked_parts == NULL) {
        trouble->asked_parts =
            roce_track_zeroed(t, ROCE_ASKED_PARTS * sizeof *trouble->asked_parts);
    }
    if (trouble == NULL || trouble->asked_parts == NULL) {
        return;
    }
    trouble->asked_parts[trouble->asked_part] =
        (roce_asked_part){.end = end, .tx = s->requests.tx};
    trouble->asked_part = (uint8_t)((trouble->asked_part + 1) % ROCE_ASKED_PARTS);
}

void
roce_asked_part_forget(roce_trouble *trouble)
{
    if (trouble->asked_parts != NULL) {
        memset(trouble->asked_parts, 0,
               ROCE_ASKED_PARTS * sizeof *trouble->asked_parts);
    }
}

uint32_t
roce_asked_part_count(const roce_stream_state *s, const roce_slot *slot, int64_t psn,
                      uint64_t before_tx)
{
    const roce_asked_part *parts = roce_trouble_of(s)->asked_parts;
    uint32_t n = 0;
    for (unsigned i = 0; parts != NULL && i < ROCE_ASKED_PARTS; i++) {
        bool of_it = parts[i].tx > 0 && parts[i].end > slot->psn;
        n += of_it && parts[i].end <= psn && parts[i].tx <= before_tx ? 1 : 0;
    }
    return n;
}

int64_t
roce_asked_part_end(const roce_stream_state *s, int64_t from, int64_t until)
{
    const roce_asked_part *parts = roce_trouble_of(s)->asked_parts;
    for (unsigned i = 0; parts != NULL && i < ROCE_ASKED_PARTS; i++) {
        if (parts[i].tx > 0 && parts[i].end > from && parts[i].end < until) {
            until = parts[i].end;
        }
    }
    return until;
}
