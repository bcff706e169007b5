/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Error codes of the core library.
 *
 * The one rule: a function that can fail returns 0 or one of these, and leaves its
 * out-parameters untouched when it fails.  What a captured packet looks like is never
 * an error; it is an outcome (see roce/packet.h).
 */
#ifndef ROCE_ERROR_H
#define ROCE_ERROR_H

#include "roce/linkage.h"

ROCE_BEGIN

typedef enum roce_error {
    ROCE_OK = 0,
    ROCE_ERROR_MEMORY = -1,  /* the allocator handed in returned NULL */
    ROCE_ERROR_INVALID = -2, /* the caller's configuration is out of its range */
} roce_error;

ROCE_END

#endif
