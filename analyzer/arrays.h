/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Arrays that are elements of tables and of other arrays. */
#ifndef RS_ARRAYS_H
#define RS_ARRAYS_H

#include <glib.h>

/* A GDestroyNotify for a GArray; NULL is fine.  g_array_unref() itself is none: C allows no
 * call of a function by another type than it has. */
static inline void
rs_unref_array(gpointer array)
{
    if (array != NULL) {
        g_array_unref(array);
    }
}

#endif
