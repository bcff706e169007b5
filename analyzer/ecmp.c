/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The most loaded link.  Let P(k) be the chance that no link has more than k of n flows.
 * If each of m links had a number of flows of its own, as Poisson has it with the mean n/m,
 * then those numbers, where they come to n, would be just as hashing has them; and so
 *
 *     P(k) = [x^n] (sum over c = 0..k of p(c; n/m) x^c)^m / p(n; n)
 *
 * where p(c; mean) = mean^c / c!, since Poisson's e^-mean is above as often as below.  No
 * term is negative, so that nothing is lost by adding them up, and none is beyond e^n.  The
 * expected maximum is the sum of 1 - P(k) over k = 0, 1, ...
 */
#include "ecmp.h"

#include <math.h>

/* A further term no longer changes what is printed. */
#define NEGLIGIBLE 1e-9

double
rs_ecmp_sharing(guint64 flows, guint links)
{
    double alone = flows > 0 ? pow(1 - 1.0 / links, (double)(flows - 1)) : 0;
    return (double)flows * (1 - alone);
}

double
rs_ecmp_used(guint64 flows, guint links)
{
    return links * (1 - pow(1 - 1.0 / links, (double)flows));
}

double
rs_ecmp_load(double squares, double bytes, guint links)
{
    return 1 + (links - 1) * squares / (bytes * bytes);
}

/* The first terms of a power series, up to that of x^degree; all others are 0, or nobody
 * asks for them. */
typedef struct series {
    guint degree; /* at most RS_ECMP_MAX_FLOWS */
    double at[RS_ECMP_MAX_FLOWS + 1];
} series;

/* p(c; mean) for c up to `degree`. */
static series
poisson(double mean, guint degree)
{
    series p = {.degree = degree, .at = {1}};
    for (guint c = 1; c <= degree; c++) {
        p.at[c] = p.at[c - 1] * mean / c;
    }
    return p;
}

/* to[0..n-1] += factor * from[0..n-1]; the two have nothing in common. */
static void
add_multiple(double *restrict to, const double *restrict from, guint n, double factor)
{
    for (guint i = 0; i < n; i++) {
        to[i] += factor * from[i];
    }
}

/* *a times *b, but for terms beyond x^most. */
static series
product_of(const series *a, const series *b, guint most)
{
    series product = {.degree = MIN(a->degree + b->degree, most)};
    for (guint i = 0; i <= a->degree; i++) {
        add_multiple(&product.at[i], b->at, MIN(b->degree, product.degree - i) + 1,
                     a->at[i]);
    }
    return product;
}

/* The term of x^degree alone, of which neither has terms beyond. */
static double
term_of_product(const series *a, const series *b, guint degree)
{
    double term = 0;
    for (guint i = 0; i <= degree; i++) {
        term += a->at[i] * b->at[degree - i];
    }
    return term;
}

/* The n-th power of `some`, n > 0. */
static series
power_of(const series *some, guint n, guint most)
{
    if (n == 1) {
        return *some;
    }
    const series half = power_of(some, n / 2, most);
    const series even = product_of(&half, &half, most);
    return n % 2 != 0 ? product_of(&even, some, most) : even;
}

/* The chance that no link, of 2 at least, has more than `most` flows, times p(n; n). */
static double
share_of_most(guint flows, guint links, guint most)
{
    const series one = poisson((double)flows / links, most);
    const series half = power_of(&one, links / 2, flows);
    const series other = links % 2 != 0 ? product_of(&half, &one, flows) : half;
    return term_of_product(&half, &other, flows);
}

double
rs_ecmp_most(guint flows, guint links)
{
    const double all = poisson(flows, flows).at[flows];
    double expected = 0;
    for (guint most = 0; most < flows; most++) {
        double exceeded = most * (guint64)links < flows
                              ? 1
                              : 1 - share_of_most(flows, links, most) / all;
        if (exceeded < NEGLIGIBLE) {
            break;
        }
        expected += exceeded;
    }
    return expected;
}
