/* SPDX-License-Identifier: GPL-2.0-or-later */
/* CHECK_SANITIZED: AddressSanitizer has the memory in place of the C library. */
#ifndef SANITIZED_H
#define SANITIZED_H

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define CHECK_SANITIZED
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define CHECK_SANITIZED
#endif

#endif
