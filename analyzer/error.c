/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The analyzer's one error domain; error.h has the rule.
 */
#include "error.h"

G_DEFINE_QUARK(rs - error - quark, rs_error)

gboolean
rs_fail_usage(GError **error, const char *what)
{
    g_set_error_literal(error, RS_ERROR, RS_ERROR_USAGE, what);
    return FALSE;
}

gboolean
rs_fail_interrupted(GError **error)
{
    g_set_error_literal(error, RS_ERROR, RS_ERROR_INTERRUPTED,
                        "interrupted; nothing has been written");
    return FALSE;
}
