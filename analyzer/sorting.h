/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Orders of numbers and texts, for sorting and searching.
 *
 * The one rule: numbers are compared, never subtracted.
 */
#ifndef RS_SORTING_H
#define RS_SORTING_H

#include <glib.h>
#include <string.h>

/* Less than 0, 0, more than 0: a before b, the same, b before a. */
static inline gint
rs_by_number(guint64 a, guint64 b)
{
    return a < b ? -1 : a > b;
}

/* Of elements of arrays of numbers: the least first. */
static inline gint
rs_by_u32(gconstpointer a, gconstpointer b)
{
    return rs_by_number(*(const guint32 *)a, *(const guint32 *)b);
}

static inline gint
rs_by_u64(gconstpointer a, gconstpointer b)
{
    return rs_by_number(*(const guint64 *)a, *(const guint64 *)b);
}

static inline gint
rs_by_i64(gconstpointer a, gconstpointer b)
{
    gint64 x = *(const gint64 *)a;
    gint64 y = *(const gint64 *)b;
    return x < y ? -1 : x > y;
}

/* Of texts, byte by byte. */
static inline gint
rs_by_text(gconstpointer a, gconstpointer b)
{
    return strcmp(a, b);
}

/* Of elements of arrays of texts. */
static inline gint
rs_by_text_element(gconstpointer a, gconstpointer b)
{
    return rs_by_text(*(const char *const *)a, *(const char *const *)b);
}

/* The number that would be at `k` < n if the n numbers were put in order; they are moved
 * about. */
guint64
rs_select_u64(guint64 *numbers, gsize n, gsize k);

/* The number with which n > 0 of them, from the greatest down, come to `sum` or more for the
 * first time; where all do not, the least.  They are moved about. */
guint64
rs_select_sum_u64(guint64 *numbers, gsize n, guint64 sum);

/* Puts numbers in order, the least first: many times as fast as what asks a function of
 * each two. */
void
rs_sort_u64(guint64 *numbers, gsize n);

/* The same of an array of them. */
static inline void
rs_sort_array_u64(GArray *numbers)
{
    rs_sort_u64((guint64 *)(gpointer)numbers->data, numbers->len);
}

#endif
