/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RS_TEXT_DCB_H
#define RS_TEXT_DCB_H

#include "text.h"

/* What ports say of their priorities in LLDP; nothing without DCBX. */
void
rs_text_dcb(const rs_text *r);

#endif
