/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What --version prints: the version, how it was built, with which libraries, and under
 * which licences.
 *
 * The one rule: the first line is "rocescope VERSION", for programs; and nothing of it
 * depends on when or where it was built.
 */
#ifndef RS_VERSION_H
#define RS_VERSION_H

#include <stdio.h>

void
rs_version_print(FILE *out);

#endif
