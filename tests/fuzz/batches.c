/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "batches.h"

#include "reader.h"

#include <assert.h>
#include <string.h>

#define MOST_RECORDS 5 /* of a batch */

/* Asks each byte, so that the sanitizer sees whether it is there. */
static void
check_record(const rs_record *record, const rs_record *again)
{
    assert(record->offset == again->offset);
    assert(record->frame.captured_bytes == again->frame.captured_bytes);
    assert(record->frame.wire_bytes == again->frame.wire_bytes);
    assert(record->frame.time_ns == again->frame.time_ns);
    assert(record->frame.link == again->frame.link);
    assert(record->frame.direction == again->frame.direction);
    assert(record->interface == again->interface);
    assert(record->flags == again->flags);
    assert(record->ticks == again->ticks);
    assert(g_strcmp0(record->comment, again->comment) == 0);
    assert(record->frame.captured_bytes == 0 ||
           memcmp(record->frame.bytes, again->frame.bytes,
                  record->frame.captured_bytes) == 0);
}

void
batches_check(const char *path)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(GError) error_again = NULL;
    g_autoptr(rs_reader) batches = rs_reader_open(path, &error);
    g_autoptr(rs_reader) singles = rs_reader_open(path, &error_again);
    assert((batches == NULL) == (singles == NULL));
    assert((batches == NULL) == (error != NULL));
    for (int n = 1; batches != NULL && n > 0;) {
        rs_record records[MOST_RECORDS];
        n = rs_reader_next_batch(batches, records, MOST_RECORDS, &error);
        for (int i = 0; i < MAX(n, 1); i++) {
            rs_record record;
            int status = rs_reader_next(singles, &record, &error_again);
            assert(status == MIN(n, 1));
            if (status > 0) {
                check_record(&records[i], &record);
            }
        }
        assert((n < 0) == (error != NULL));
    }
    assert(g_strcmp0(error ? error->message : NULL,
                     error_again ? error_again->message : NULL) == 0);
}
