/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Any bytes as a classic capture file: frames come the same one by one and in batches, and
 * as libpcap reads it.  What begins as another format is left to the others. */
#include "batches.h"
#include "difference.h"
#include "reader.h"
#include "unpack.h"

#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (rs_unpack_recognise(data, size) || (size >= 4 && rs_pcapng_recognise(data))) {
        return 0;
    }
    int fd;
    g_autofree char *path = bytes_as_file(data, size, &fd);
    batches_check(path);
    g_autofree char *difference = difference_at(path);
    if (difference != NULL) {
        g_printerr("%s\n", difference);
        abort();
    }
    close(fd);
    return 0;
}
