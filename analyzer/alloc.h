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

#endif
