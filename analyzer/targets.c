/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "targets.h"

#include "error.h"

#include <sys/stat.h>

static gboolean
refuse(const rs_target *target, const char *why, GError **error)
{
    g_set_error(error, RS_ERROR, RS_ERROR_USAGE, "%s %s: %s", target->option,
                target->path, why);
    return FALSE;
}

/* Of files that are there. */
static gboolean
is_same_file(const char *a, const char *b)
{
    struct stat x;
    struct stat y;
    return stat(a, &x) == 0 && stat(b, &y) == 0 && S_ISREG(x.st_mode) &&
           x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

static gboolean
is_special(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && !S_ISREG(status.st_mode);
}

static gboolean
check_one(const rs_target *target, const char *const *inputs, GError **error)
{
    if (*target->path == '\0') {
        return refuse(target, "a name is wanted", error);
    }
    for (guint i = 0; inputs[i] != NULL; i++) {
        if (!g_str_equal(target->path, "-") && is_same_file(target->path, inputs[i])) {
            return refuse(target, "is one of the files that are read", error);
        }
    }
    return TRUE;
}

gboolean
rs_targets_check(const rs_target *targets, guint n, const char *const *inputs,
                 GError **error)
{
    for (guint i = 0; i < n; i++) {
        const char *path = targets[i].path;
        if (path == NULL) {
            continue;
        }
        if (!check_one(&targets[i], inputs, error)) {
            return FALSE;
        }
        for (guint k = 0; k < i; k++) {
            const char *other = targets[k].path;
            if (other != NULL && ((g_str_equal(path, other) && !is_special(path)) ||
                                  is_same_file(path, other))) {
                g_set_error(error, RS_ERROR, RS_ERROR_USAGE,
                            "%s and %s cannot both have %s", targets[k].option,
                            targets[i].option,
                            g_str_equal(path, "-") ? "standard output" : path);
                return FALSE;
            }
        }
    }
    return TRUE;
}
