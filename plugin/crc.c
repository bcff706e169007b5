/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The CRC-32 of core, eight bytes at a time.
 *
 * The one rule: it is a linear code, so the remainders of eight bytes, each moved by the
 * bytes behind it, add up to the remainder of all.
 */
#include "plugin.h"

#define POLYNOMIAL 0xedb88320u /* 0x04c11db7 with its bits reversed */
#define STEP 8

/* tables[n][b]: the remainder of byte b with n bytes of zeros behind it. */
static uint32_t tables[STEP][256];

void
crc_register(void)
{
    for (uint32_t b = 0; b < 256; b++) {
        uint32_t remainder = b;
        for (unsigned bit = 0; bit < 8; bit++) {
            remainder = remainder >> 1 ^ ((remainder & 1) != 0 ? POLYNOMIAL : 0);
        }
        tables[0][b] = remainder;
    }
    for (unsigned n = 1; n < STEP; n++) {
        for (unsigned b = 0; b < 256; b++) {
            uint32_t before = tables[n - 1][b];
            tables[n][b] = before >> 8 ^ tables[0][before & 0xff];
        }
    }
}

static uint32_t
load32(const uint8_t *bytes)
{
    return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
           (uint32_t)bytes[3] << 24;
}

uint32_t
crc_crc32(uint32_t crc, const uint8_t *bytes, size_t size)
{
    crc = ~crc;
    for (; size >= STEP; size -= STEP, bytes += STEP) {
        uint32_t low = load32(bytes) ^ crc;
        uint32_t high = load32(bytes + 4);
        crc = tables[7][low & 0xff] ^ tables[6][low >> 8 & 0xff] ^
              tables[5][low >> 16 & 0xff] ^ tables[4][low >> 24] ^
              tables[3][high & 0xff] ^ tables[2][high >> 8 & 0xff] ^
              tables[1][high >> 16 & 0xff] ^ tables[0][high >> 24];
    }
    for (; size > 0; size--, bytes++) {
        crc = crc >> 8 ^ tables[0][(crc ^ *bytes) & 0xff];
    }
    return ~crc;
}
