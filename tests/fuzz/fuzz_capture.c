/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Any bytes as a capture file, through the whole analyzer to its reports (reports.h).
 *
 * Compressed ones are left to fuzz_unpack: what little unpacks to much would be measured
 * here, and not what is made of it.
 */
#include "difference.h"
#include "reports.h"
#include "unpack.h"

#include <stdint.h>
#include <unistd.h>

#define MOST_BYTES 65536

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > MOST_BYTES || rs_unpack_recognise(data, size)) {
        return 0;
    }
    int fd;
    g_autofree char *path = bytes_as_file(data, size, &fd);
    reports_check(path, NULL);
    close(fd);
    return 0;
}
