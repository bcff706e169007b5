/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "roce/version.h"

const char *
roce_version(void)
{
    return ROCE_VERSION_STRING;
}
