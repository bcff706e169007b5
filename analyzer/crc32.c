/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where processors multiply without carry 32 or 64 bytes at a time, by folding: what is
 * behind is added to what was, times a power of x, modulo the polynomial.  Registers have
 * bits in the order of the CRC, reflected, so that the first of 8 bytes is of the highest
 * powers (V. Gopal et al., Fast CRC Computation for Generic Polynomials Using PCLMULQDQ
 * Instruction, Intel, 2009).  libdeflate 1.14, which takes 16 bytes at a time, does all the
 * rest: what is short, and the last bytes.
 */
#include "crc32.h"

#include <libdeflate.h>

#include <string.h>

static uint32_t
by_libdeflate(uint32_t crc, const uint8_t *bytes, size_t size)
{
    return libdeflate_crc32(crc, bytes, size);
}

#if defined(__x86_64__)
#include <immintrin.h>

#define BY_16 "pclmul"
#define BY_32 "avx2,vpclmulqdq," BY_16
#define BY_64 "avx512f,avx512vl," BY_32
#define LEAST_BY_32 ((size_t)4 * 32) /* as many bytes as are begun with */
#define LEAST_BY_64 ((size_t)4 * 64)

/* What 16 bytes are multiplied by to be moved on by so many bits: the last 8 of them by
 * x^(bits - 32), and the first ones by x^(bits + 32), which stands behind it; modulo the
 * polynomial, reflected, and one bit to the left since a product of reflected numbers is one
 * bit short. */
#define BY_2048_BITS 0x1322d1430, 0x11542778a
#define BY_1024_BITS 0x14a7fe880, 0x1e88ef372
#define BY_512_BITS 0x1c6e41596, 0x154442bd4
#define BY_256_BITS 0x15a546366, 0x0f1da05aa
#define BY_128_BITS 0x0ccaa009e, 0x1751997d0

/* ---- 16 bytes at a time ---- */

__attribute__((target(BY_16))) static inline __m128i
load_16(const uint8_t *at)
{
    return _mm_loadu_si128((const __m128i *)at);
}

/* Moves `sum` on, and adds what is there. */
__attribute__((target(BY_16))) static inline __m128i
fold_16(__m128i sum, __m128i factors, __m128i there)
{
    return _mm_xor_si128(_mm_xor_si128(_mm_clmulepi64_si128(sum, factors, 0x00),
                                       _mm_clmulepi64_si128(sum, factors, 0x11)),
                         there);
}

/* The CRC of what has been folded and of less than 32 bytes behind. */
__attribute__((target(BY_16))) static inline uint32_t
end_16(__m128i sum, const uint8_t *at, size_t size)
{
    const __m128i factors = _mm_set_epi64x(BY_128_BITS);
    if (size >= sizeof sum) {
        sum = fold_16(sum, factors, load_16(at));
        at += sizeof sum;
        size -= sizeof sum;
    }
    uint8_t last[2 * sizeof sum];
    _mm_storeu_si128((__m128i *)last, sum);
    memcpy(last + sizeof sum, at, size);
    /* It begins with the complement of what it is given, and nothing is to be added. */
    return libdeflate_crc32(UINT32_MAX, last, sizeof sum + size);
}

/* ---- 32 bytes at a time ---- */

__attribute__((target(BY_32))) static inline __m256i
load_32(const uint8_t *at)
{
    return _mm256_loadu_si256((const __m256i *)at);
}

__attribute__((target(BY_32))) static inline __m256i
fold_32(__m256i sum, __m256i factors, __m256i there)
{
    return _mm256_xor_si256(
        _mm256_xor_si256(_mm256_clmulepi64_epi128(sum, factors, 0x00),
                         _mm256_clmulepi64_epi128(sum, factors, 0x11)),
        there);
}

/* The same of less than 64 bytes behind. */
__attribute__((target(BY_32))) static inline uint32_t
end_32(__m256i sum, const uint8_t *at, size_t size)
{
    const __m256i factors = _mm256_broadcastsi128_si256(_mm_set_epi64x(BY_256_BITS));
    if (size >= sizeof sum) {
        sum = fold_32(sum, factors, load_32(at));
        at += sizeof sum;
        size -= sizeof sum;
    }
    return end_16(fold_16(_mm256_castsi256_si128(sum), _mm_set_epi64x(BY_128_BITS),
                          _mm256_extracti128_si256(sum, 1)),
                  at, size);
}

/* Four sums, since each product takes some cycles, and others are begun meanwhile. */
__attribute__((target(BY_32))) static uint32_t
by_32(uint32_t crc, const uint8_t *bytes, size_t size)
{
    if (size < LEAST_BY_32) {
        return by_libdeflate(crc, bytes, size);
    }
    const __m256i factors = _mm256_broadcastsi128_si256(_mm_set_epi64x(BY_1024_BITS));
    const __m256i together = _mm256_broadcastsi128_si256(_mm_set_epi64x(BY_256_BITS));
    const __m256i begin = _mm256_zextsi128_si256(_mm_cvtsi32_si128((int)~crc));
    __m256i a = _mm256_xor_si256(load_32(bytes), begin);
    __m256i b = load_32(bytes + 32);
    __m256i c = load_32(bytes + 64);
    __m256i d = load_32(bytes + 96);
    size_t at = LEAST_BY_32;
    for (; size - at >= LEAST_BY_32; at += LEAST_BY_32) {
        a = fold_32(a, factors, load_32(bytes + at));
        b = fold_32(b, factors, load_32(bytes + at + 32));
        c = fold_32(c, factors, load_32(bytes + at + 64));
        d = fold_32(d, factors, load_32(bytes + at + 96));
    }
    d = fold_32(fold_32(fold_32(a, together, b), together, c), together, d);
    for (; size - at >= sizeof d; at += sizeof d) {
        d = fold_32(d, together, load_32(bytes + at));
    }
    return end_32(d, bytes + at, size - at);
}

/* ---- 64 bytes at a time ---- */

__attribute__((target(BY_64))) static inline __m512i
load_64(const uint8_t *at)
{
    return _mm512_loadu_si512(at);
}

__attribute__((target(BY_64))) static inline __m512i
fold_64(__m512i sum, __m512i factors, __m512i there)
{
    enum {
        XOR_OF_THREE = 0x96
    };
    return _mm512_ternarylogic_epi64(_mm512_clmulepi64_epi128(sum, factors, 0x00),
                                     _mm512_clmulepi64_epi128(sum, factors, 0x11),
                                     there, XOR_OF_THREE);
}

__attribute__((target(BY_64))) static uint32_t
by_64(uint32_t crc, const uint8_t *bytes, size_t size)
{
    if (size < LEAST_BY_64) {
        return by_32(crc, bytes, size);
    }
    const __m512i factors = _mm512_broadcast_i32x4(_mm_set_epi64x(BY_2048_BITS));
    const __m512i together = _mm512_broadcast_i32x4(_mm_set_epi64x(BY_512_BITS));
    const __m512i begin = _mm512_zextsi128_si512(_mm_cvtsi32_si128((int)~crc));
    __m512i a = _mm512_xor_si512(load_64(bytes), begin);
    __m512i b = load_64(bytes + 64);
    __m512i c = load_64(bytes + 128);
    __m512i d = load_64(bytes + 192);
    size_t at = LEAST_BY_64;
    for (; size - at >= LEAST_BY_64; at += LEAST_BY_64) {
        a = fold_64(a, factors, load_64(bytes + at));
        b = fold_64(b, factors, load_64(bytes + at + 64));
        c = fold_64(c, factors, load_64(bytes + at + 128));
        d = fold_64(d, factors, load_64(bytes + at + 192));
    }
    d = fold_64(fold_64(fold_64(a, together, b), together, c), together, d);
    for (; size - at >= sizeof d; at += sizeof d) {
        d = fold_64(d, together, load_64(bytes + at));
    }
    const __m256i halves = _mm256_broadcastsi128_si256(_mm_set_epi64x(BY_256_BITS));
    return end_32(
        fold_32(_mm512_castsi512_si256(d), halves, _mm512_extracti64x4_epi64(d, 1)),
        bytes + at, size - at);
}

static inline gboolean
has_32(void)
{
    return __builtin_cpu_supports("vpclmulqdq") && __builtin_cpu_supports("avx2") &&
           __builtin_cpu_supports("pclmul");
}

static inline gboolean
has_64(void)
{
    return has_32() && __builtin_cpu_supports("avx512f") &&
           __builtin_cpu_supports("avx512vl");
}

#endif

/* Each way leaves what is too short for it to the next one. */
uint32_t
rs_crc32(uint32_t crc, const uint8_t *bytes, size_t size)
{
#if defined(__x86_64__)
    if (has_64()) {
        return by_64(crc, bytes, size);
    }
    if (has_32()) {
        return by_32(crc, bytes, size);
    }
#endif
    return by_libdeflate(crc, bytes, size);
}

guint
rs_crc32_ways(roce_crc32_fn *ways, guint n)
{
    guint found = 0;
#if defined(__x86_64__)
    if (has_64() && found < n) {
        ways[found++] = by_64;
    }
    if (has_32() && found < n) {
        ways[found++] = by_32;
    }
#endif
    if (found < n) {
        ways[found++] = by_libdeflate;
    }
    return found;
}
