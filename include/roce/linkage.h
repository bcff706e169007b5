/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names of the library as C has them, for programs in C++.
 *
 * The one rule: what a header declares stands between ROCE_BEGIN and ROCE_END, and
 * what it includes stands in front of them.
 */
#ifndef ROCE_LINKAGE_H
#define ROCE_LINKAGE_H

#ifdef __cplusplus
#define ROCE_BEGIN extern "C" {
#define ROCE_END }
#else
#define ROCE_BEGIN
#define ROCE_END
#endif

#endif
