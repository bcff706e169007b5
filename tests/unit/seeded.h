/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pseudo-random numbers for property tests (splitmix64).
 *
 * The one rule: the seed is a constant of the test, so that a failure comes again.
 */
#ifndef SEEDED_H
#define SEEDED_H

#include <stdint.h>

/* How often something is tried that is tried as often as time allows: under sanitizers, where
 * each takes ten times as long, an eighth of `n`; what is shipped is tried with all. */
#ifdef ROCESCOPE_SANITIZED
#define SEEDED_TIMES(n) ((n) / 8u)
#else
#define SEEDED_TIMES(n) ((n) / 1u)
#endif

typedef struct seeded {
    uint64_t state;
} seeded;

static inline uint64_t
seeded_next(seeded *s)
{
    uint64_t z = s->state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* 0 to n - 1; `n` is not 0. */
static inline uint32_t
seeded_below(seeded *s, uint32_t n)
{
    return (uint32_t)(seeded_next(s) % n);
}

#endif
