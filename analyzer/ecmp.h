/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What hashing flows over equal links comes to (ECMP, LAG).
 *
 * The one rule: a prediction, exact over all hash functions: each flow takes each link
 * with the same chance, independently of the others.  What one switch does with one seed
 * is one draw of it.
 */
#ifndef RS_ECMP_H
#define RS_ECMP_H

#include <glib.h>

#define RS_ECMP_MAX_FLOWS 256 /* of which the most loaded link is reckoned */

/* Flows that share their link with another one, of `flows` over `links` > 0. */
double
rs_ecmp_sharing(guint64 flows, guint links);

/* Links that carry any flow. */
double
rs_ecmp_used(guint64 flows, guint links);

/* Flows on the link that has most; `flows` is at most RS_ECMP_MAX_FLOWS. */
double
rs_ecmp_most(guint flows, guint links);

/* How many times its fair share the link carries that a byte takes, on average over
 * bytes, where the squares of the flows' bytes sum up to `squares` and the bytes to
 * `bytes` > 0. */
double
rs_ecmp_load(double squares, double bytes, guint links);

#endif
