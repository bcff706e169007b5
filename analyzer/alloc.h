/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Memory for core's objects, from GLib.
 *
 * The one rule: it may fail, as core expects, where GLib's own functions abort.
 */
#ifndef RS_ALLOC_H
#define RS_ALLOC_H

#include "roce/alloc.h"

roce_alloc
rs_alloc_make(void);

/* Ends the program where core says that there was no memory, as GLib does: an analyzer
 * without memory has nothing to tell. */
void
rs_must(int error);

#endif
