/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The version of the library: of these headers, and of what was linked.
 *
 * The one rule: both have to be the same release, since structures are open and grow.
 * A program that wants to be sure compares roce_version() with ROCE_VERSION_STRING.
 */
#ifndef ROCE_VERSION_H
#define ROCE_VERSION_H

#include "roce/linkage.h"

ROCE_BEGIN

/* The build and the packages take the project's version from these three lines. */
#define ROCE_VERSION_MAJOR 0
#define ROCE_VERSION_MINOR 1
#define ROCE_VERSION_PATCH 0

/* One number that grows with each release, for #if: 1002003 is 1.2.3. */
#define ROCE_VERSION                                                                   \
    (ROCE_VERSION_MAJOR * 1000000 + ROCE_VERSION_MINOR * 1000 + ROCE_VERSION_PATCH)

#define ROCE_VERSION_TEXT(x) #x
#define ROCE_VERSION_DOTTED(major, minor, patch)                                       \
    ROCE_VERSION_TEXT(major) "." ROCE_VERSION_TEXT(minor) "." ROCE_VERSION_TEXT(patch)
#define ROCE_VERSION_STRING                                                            \
    ROCE_VERSION_DOTTED(ROCE_VERSION_MAJOR, ROCE_VERSION_MINOR, ROCE_VERSION_PATCH)

/* ROCE_VERSION_STRING of the library that was linked: "0.1.0". */
const char *
roce_version(void);

ROCE_END

#endif
