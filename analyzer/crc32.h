/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * CRC-32 as fast as the processor has it, for ICRCs: they are over all bytes of packets, and
 * so take most of the time where those are long.
 *
 * The one rule: whatever the processor has, it is zlib's polynomial and conventions, see
 * roce_crc32_fn.
 */
#ifndef RS_CRC32_H
#define RS_CRC32_H

#include "roce/icrc.h"

#include <glib.h>

uint32_t
rs_crc32(uint32_t crc, const uint8_t *bytes, size_t size);

/* The ways to compute it that this processor has, at most `n` of them, the fastest first,
 * which is the one that rs_crc32() takes; how many there are. */
guint
rs_crc32_ways(roce_crc32_fn *ways, guint n);

#endif
