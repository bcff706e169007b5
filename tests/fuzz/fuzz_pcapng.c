/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Any bytes as a pcapng file: frames come the same one by one and in batches, and as
 * libpcap reads them.
 *
 * A block has its length at both ends, which no blind mutation makes equal.  So most
 * mutations are followed by one that puts the length of each block behind it, as far as
 * it can be told where that is; the others leave the file as broken as it came out.
 */
#include "batches.h"
#include "difference.h"
#include "reader.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 4 || !rs_pcapng_recognise(data)) {
        return 0;
    }
    int fd;
    g_autofree char *path = bytes_as_file(data, size, &fd);
    batches_check(path);
    g_autofree char *difference = pcapng_difference_at(path);
    if (difference != NULL && !g_str_equal(difference, DIFFERENCE_NOT_OPENED) &&
        !g_str_has_prefix(difference, DIFFERENCE_OVERLOOKED)) {
        g_printerr("%s\n", difference);
        abort();
    }
    close(fd);
    return 0;
}

#if ROCESCOPE_LIBFUZZER

#define BLOCK_BYTES 12 /* type and both lengths */
#define SECTION 0x0a0d0d0a
#define MAGIC 0x1a2b3c4d
#define BROKEN_OF 4 /* one in so many stays so */

size_t
LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed);
size_t
LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size); /* libFuzzer's */

static guint32
number_at(const uint8_t *data, gboolean is_big)
{
    guint32 stored;
    memcpy(&stored, data, sizeof stored);
    return is_big ? GUINT32_FROM_BE(stored) : GUINT32_FROM_LE(stored);
}

/* Puts each block's length behind it, up to the first whose length cannot be. */
static void
mend_lengths(uint8_t *data, size_t size)
{
    gboolean is_big = FALSE;
    for (size_t at = 0; at + BLOCK_BYTES <= size;) {
        if (number_at(data + at, FALSE) == SECTION) {
            is_big = number_at(data + at + 8, TRUE) == MAGIC;
        }
        guint32 length = number_at(data + at + 4, is_big);
        if (length < BLOCK_BYTES || length % 4 != 0 || length > size - at) {
            return;
        }
        memcpy(data + at + length - 4, data + at + 4, 4);
        at += length;
    }
}

size_t
LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
    size_t mutated = LLVMFuzzerMutate(data, size, max_size);
    if (seed % BROKEN_OF != 0) {
        mend_lengths(data, mutated);
    }
    return mutated;
}

#endif
