/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tables of the text report: streams, connections, what is measured on them. */
#ifndef RS_TEXT_STREAMS_H
#define RS_TEXT_STREAMS_H

#include "text.h"

void
rs_text_streams(const rs_text *r);

void
rs_text_connections(const rs_text *r);

void
rs_text_ecn(const rs_text *r);

void
rs_text_latencies(const rs_text *r);

#endif
