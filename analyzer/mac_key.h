/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * MAC addresses as keys of tables: an address means one port at one capture point only.
 */
#ifndef RS_MAC_KEY_H
#define RS_MAC_KEY_H

#include "roce/hash.h"

#include <glib.h>
#include <string.h>

#define RS_MAC_BYTES 6

static inline guint
rs_mac_hash(guint32 point, const guint8 mac[RS_MAC_BYTES])
{
    guint64 word = 0;
    memcpy(&word, mac, RS_MAC_BYTES);
    return (guint)roce_hash_mix(point, word);
}

static inline gboolean
rs_mac_equal(guint32 point_a, const guint8 a[RS_MAC_BYTES], guint32 point_b,
             const guint8 b[RS_MAC_BYTES])
{
    return point_a == point_b && memcmp(a, b, RS_MAC_BYTES) == 0;
}

#endif
