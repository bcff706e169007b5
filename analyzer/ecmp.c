/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The most loaded link.  Let P(k) be the chance that no link has more than k of n flows:
 * the number of flows on the last of j links, of i that these j have among them, is
 * binomial with chance 1/j, and the others are a smaller problem of the same kind, so
 *
 *     fit[j][i] = sum over c = 0..min(k, i) of B(c; i, 1/j) * fit[j - 1][i - c]
 *
 * and P(k) = fit[m][n].  The expected maximum is the sum of 1 - P(k) over k = 0, 1, ...
 */
#include "ecmp.h"

#include <math.h>
#include <string.h>

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

/* One link more, the j-th: what fits on the others, and what on all of them. */
static void
add_link(double *fit, guint flows, guint j, guint most)
{
    double next[RS_ECMP_MAX_FLOWS + 1];
    double none = 1; /* B(0; i, 1/j): at least 2^-256, no underflow */
    for (guint i = 0; i <= flows; i++) {
        double chance = none;
        next[i] = 0;
        for (guint c = 0; c <= MIN(most, i); c++) {
            next[i] += chance * fit[i - c];
            chance *= (double)(i - c) / ((c + 1.0) * (j - 1.0)); /* B(c + 1; i, 1/j) */
        }
        none *= (j - 1.0) / j;
    }
    memcpy(fit, next, (flows + 1) * sizeof *fit);
}

/* The chance that no link has more than `most` flows. */
static double
chance_of_most(guint flows, guint links, guint most)
{
    double fit[RS_ECMP_MAX_FLOWS + 1];
    for (guint i = 0; i <= flows; i++) {
        fit[i] = i <= most ? 1 : 0;
    }
    for (guint j = 2; j <= links; j++) {
        add_link(fit, flows, j, most);
    }
    return fit[flows];
}

double
rs_ecmp_most(guint flows, guint links)
{
    double expected = 0;
    for (guint most = 0; most < flows; most++) {
        double exceeded =
            most * (guint64)links < flows ? 1 : 1 - chance_of_most(flows, links, most);
        if (exceeded < NEGLIGIBLE) {
            break;
        }
        expected += exceeded;
    }
    return expected;
}
