/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What scenario_judge.c and scenario_told.c share; nobody else includes it. */
#ifndef SCENARIO_JUDGE_H
#define SCENARIO_JUDGE_H

#include "scenario.h"

/* Collects what is wrong. */
typedef struct scenario_verdict {
    char *text;
    size_t size, used;
    unsigned n;
} scenario_verdict;

__attribute__((format(printf, 2, 3))) void
scenario_complain(scenario_verdict *v, const char *format, ...);

/* "A", "B2", "X@1": who sends, the queue pair, the point. */
void
scenario_label(const roce_stream *s, char label[16]);

/* A number or one of the words that stand for one. */
bool
scenario_number(const char *text, uint64_t *value);

/* The next word of a list of them; false at its end. */
bool
scenario_word(const char **at, char word[64]);

/* The events that the row wants, in their order. */
void
scenario_judge_events(scenario_verdict *v, const scenario *row,
                      const scenario_outcome *out);

/* What must hold for any capture. */
void
scenario_judge_invariants(scenario_verdict *v, const scenario_outcome *out);

/* Lists the first events, for who has to find out what went wrong. */
void
scenario_list_events(scenario_verdict *v, const scenario_outcome *out);

#endif
