/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Checks for unit tests.
 *
 * The one rule: a failed check prints its row and goes on; the test ends with
 * `return check_status();`.
 */
#ifndef CHECK_H
#define CHECK_H

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of this one program: the row being checked and how many checks failed in all. */
static struct {
    char row[96];
    unsigned n_failed;
} check_state;

/* Names the row of a table that the next checks belong to; NULL for none.  Copied. */
static inline void
check_row(const char *name)
{
    snprintf(check_state.row, sizeof check_state.row, "%s", name != NULL ? name : "");
}

/* Counts a failure and prints where it is; the caller prints what went wrong. */
static inline void
check_fail(const char *file, int line)
{
    check_state.n_failed++;
    fprintf(stderr, "%s:%d: ", file, line);
    if (check_state.row[0] != '\0') {
        fprintf(stderr, "[%s] ", check_state.row);
    }
}

static inline bool
check_true(bool holds, const char *text, const char *file, int line)
{
    if (!holds) {
        check_fail(file, line);
        fprintf(stderr, "%s does not hold\n", text);
    }
    return holds;
}

static inline bool
check_int(intmax_t got, intmax_t want, const char *text, const char *file, int line)
{
    if (got != want) {
        check_fail(file, line);
        fprintf(stderr, "%s is %" PRIdMAX ", not %" PRIdMAX "\n", text, got, want);
    }
    return got == want;
}

static inline bool
check_str(const char *got, const char *want, const char *text, const char *file,
          int line)
{
    bool same = got != NULL && want != NULL ? strcmp(got, want) == 0 : got == want;
    if (!same) {
        check_fail(file, line);
        fprintf(stderr, "%s is \"%s\", not \"%s\"\n", text,
                got != NULL ? got : "(null)", want != NULL ? want : "(null)");
    }
    return same;
}

/* What main() returns. */
static inline int
check_status(void)
{
    if (check_state.n_failed != 0) {
        fprintf(stderr, "%u failed\n", check_state.n_failed);
    }
    return check_state.n_failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* Each is true when the check holds. */
#define CHECK(condition) check_true((condition), #condition, __FILE__, __LINE__)
#define CHECK_INT(got, want)                                                           \
    check_int((intmax_t)(got), (intmax_t)(want), #got, __FILE__, __LINE__)
#define CHECK_STR(got, want) check_str((got), (want), #got, __FILE__, __LINE__)

#endif
