/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a hash is expected to do: against numbers reckoned by hand. */
#include "ecmp.h"

#include "check.h"

#include <math.h>

#define NEAR 1e-9

static void
check_near(double got, double want)
{
    if (fabs(got - want) > NEAR) {
        CHECK(false);
        fprintf(stderr, "    %.12f, not %.12f\n", got, want);
    }
}

static void
check_flows(void)
{
    /* clang-format off */
    static const struct {
        const char *name;
        unsigned flows, links;
        double sharing, used, most;
    } cases[] = {
        {"no flow", 0, 4, 0, 0, 0},
        {"one flow", 1, 4, 0, 1, 1},
        {"one link", 5, 1, 5, 1, 5},
        {"two on two", 2, 2, 1, 1.5, 1.5},
        {"three on two", 3, 2, 2.25, 1.75, 2.25},
        /* 6 of 27 ways have one each, 18 two on one, 3 all on one. */
        {"three on three", 3, 3, 5.0 / 3, 19.0 / 9, 51.0 / 27},
        {"two on 64", 2, 64, 2.0 / 64, 2 - 1.0 / 64, 1 + 1.0 / 64},
    };
    /* clang-format on */
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        check_row(cases[i].name);
        check_near(rs_ecmp_sharing(cases[i].flows, cases[i].links), cases[i].sharing);
        check_near(rs_ecmp_used(cases[i].flows, cases[i].links), cases[i].used);
        check_near(rs_ecmp_most(cases[i].flows, cases[i].links), cases[i].most);
    }
}

/* On two links, of n flows max(k, n - k) with k binomial: summed up directly. */
static void
check_many(void)
{
    for (unsigned n = 1; n <= RS_ECMP_MAX_FLOWS; n += 51) {
        char name[32];
        snprintf(name, sizeof name, "%u on two", n);
        check_row(name);
        double expected = 0;
        for (unsigned k = 0; k <= n; k++) {
            double ways = exp(lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1));
            expected += ways * pow(0.5, n) * fmax(k, n - k);
        }
        check_near(rs_ecmp_most(n, 2) / n, expected / n);
    }
}

/* The sum of what the fullest link has, over all ways that the flows from the i-th on can
 * take. */
static double
sum_of_most(unsigned i, unsigned flows, unsigned links, unsigned *on)
{
    unsigned most = 0;
    for (unsigned j = 0; i == flows && j < links; j++) {
        most = on[j] > most ? on[j] : most;
    }
    double sum = most;
    for (unsigned j = 0; i < flows && j < links; j++) {
        on[j]++;
        sum += sum_of_most(i + 1, flows, links, on);
        on[j]--;
    }
    return sum;
}

static void
check_each_way(void)
{
    for (unsigned flows = 1; flows <= 6; flows++) {
        for (unsigned links = 2; links <= 7; links++) {
            char name[32];
            snprintf(name, sizeof name, "%u on %u", flows, links);
            check_row(name);
            unsigned on[7] = {0};
            check_near(rs_ecmp_most(flows, links),
                       sum_of_most(0, flows, links, on) / pow(links, flows));
        }
    }
}

/* Against fit[j][i] = sum over c = 0..k of B(c; i, 1/j) fit[j - 1][i - c], link by link. */
static void
check_many_on_many(void)
{
    static const struct {
        const char *name;
        unsigned flows, links;
        double most;
    } cases[] = {
        {"256 on 64", 256, 64, 9.370309827165},
        {"200 on 33", 200, 33, 11.717852641592},
        {"256 on 3", 256, 3, 93.195451191558},
        {"100 on 1000", 100, 1000, 2.138190075410},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        check_row(cases[i].name);
        check_near(rs_ecmp_most(cases[i].flows, cases[i].links), cases[i].most);
    }
}

static void
check_load(void)
{
    check_row("four equal flows on four links: itself, and three times a quarter");
    check_near(rs_ecmp_load(4.0 * 100 * 100, 400, 4), 1.75);
    check_row("one flow alone fills its link");
    check_near(rs_ecmp_load(100.0 * 100, 100, 8), 8);
    check_row("one link carries everything, as is fair");
    check_near(rs_ecmp_load(100.0 * 100, 400, 1), 1);
}

int
main(void)
{
    check_flows();
    check_each_way();
    check_many();
    check_many_on_many();
    check_load();
    return check_status();
}
