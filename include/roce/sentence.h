/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the tracker says, in sentences: the same wherever a packet is shown.
 *
 * The one rule: words are those of the report, with spaces for underscores, so that what
 * is read in one place is found in the other.
 */
#ifndef ROCE_SENTENCE_H
#define ROCE_SENTENCE_H

#include "roce/event.h"
#include "roce/linkage.h"

#include <stddef.h>
#include <stdint.h>

ROCE_BEGIN

/* Room for any sentence and any duration, with the NUL. */
#define ROCE_SENTENCE_BYTES 192

/* Writes what an event says, as UTF-8 and without a full stop; what does not fit into
 * `size` bytes, at least one, is left out.  `carrier` is the stream of the packet that it
 * was seen on, or ROCE_NO_STREAM.  Returns `out`. */
const char *
roce_event_sentence(const roce_event *event, uint32_t carrier, char *out, size_t size);

/* Writes "17 ns", "3.25 µs", "1.5 ms": at most four digits that count of microseconds, six
 * of milliseconds.  As above. */
const char *
roce_duration_text(uint64_t duration_ns, char *out, size_t size);

ROCE_END

#endif
