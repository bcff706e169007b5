/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RS_TEXT_PATHS_H
#define RS_TEXT_PATHS_H

#include "text.h"

/* How much traffic crosses rails; nothing where --hosts names none. */
void
rs_text_paths(const rs_text *r);

#endif
