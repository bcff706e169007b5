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

/* Logarithms of factorials, so that large ones fit. */
static void
fill_log_factorials(double *log_factorial, guint n)
{
    log_factorial[0] = 0;
    for (guint i = 1; i <= n; i++) {
        log_factorial[i] = log_factorial[i - 1] + log(i);
    }
}

/* The chance that one of j links, j > 1, has c of i flows. */
static double
binomial(const double *log_factorial, guint c, guint i, guint j)
{
    double log_choices = log_factorial[i] - log_factorial[c] - log_factorial[i - c];
    return exp(log_choices + (i - c) * log(j - 1.0) - i * log(j));
}

/* The chance that no link has more than `most` flows. */
static double
chance_of_most(const double *log_factorial, guint flows, guint links, guint most)
{
    double fit[RS_ECMP_MAX_FLOWS + 1];
    double next[RS_ECMP_MAX_FLOWS + 1];
    for (guint i = 0; i <= flows; i++) {
        fit[i] = i <= most ? 1 : 0;
    }
    for (guint j = 2; j <= links; j++) {
        for (guint i = 0; i <= flows; i++) {
            next[i] = 0;
            for (guint c = 0; c <= MIN(most, i); c++) {
                if (fit[i - c] > 0) {
                    next[i] += binomial(log_factorial, c, i, j) * fit[i - c];
                }
            }
        }
        memcpy(fit, next, (flows + 1) * sizeof *fit);
    }
    return fit[flows];
}

double
rs_ecmp_most(guint flows, guint links)
{
    double log_factorial[RS_ECMP_MAX_FLOWS + 1];
    fill_log_factorials(log_factorial, flows);
    double expected = 0;
    for (guint most = 0; most < flows; most++) {
        double exceeded = most * (guint64)links < flows
                              ? 1
                              : 1 - chance_of_most(log_factorial, flows, links, most);
        if (exceeded < NEGLIGIBLE) {
            break;
        }
        expected += exceeded;
    }
    return expected;
}
