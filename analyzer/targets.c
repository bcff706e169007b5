/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "targets.h"

#include "error.h"
#include "output.h"

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

/* Whether both lead to one name in one directory, of files that need not be there. */
static gboolean
are_one_name(const char *a, const char *b)
{
    g_autofree char *end_a = rs_output_follow(a);
    g_autofree char *end_b = rs_output_follow(b);
    if (end_a == NULL || end_b == NULL) {
        return FALSE; /* and neither can be written */
    }
    g_autofree char *name_a = g_path_get_basename(end_a);
    g_autofree char *name_b = g_path_get_basename(end_b);
    g_autofree char *directory_a = g_path_get_dirname(end_a);
    g_autofree char *directory_b = g_path_get_dirname(end_b);
    struct stat x;
    struct stat y;
    return g_str_equal(name_a, name_b) && stat(directory_a, &x) == 0 &&
           stat(directory_b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

static gboolean
is_special(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && !S_ISREG(status.st_mode);
}

static gboolean
is_among(const char *path, const GPtrArray *pairs)
{
    for (guint i = 0; i < pairs->len; i++) {
        const rs_option_pair *pair = g_ptr_array_index(pairs, i);
        if (pair->path != NULL && is_same_file(path, pair->path)) {
            return TRUE;
        }
    }
    return FALSE;
}

/* Whether it is a table that the options name. */
static gboolean
is_table(const char *path, const rs_options *options)
{
    return (options->hosts_path != NULL && is_same_file(path, options->hosts_path)) ||
           is_among(path, options->qp_maps) ||
           is_among(path, options->counters_before) ||
           is_among(path, options->counters_after);
}

static gboolean
is_read(const char *path, const rs_options *options, const char *const *captures)
{
    for (guint i = 0; captures[i] != NULL; i++) {
        if (is_same_file(path, captures[i])) {
            return TRUE;
        }
    }
    return is_table(path, options);
}

static gboolean
check_one(const rs_target *target, const rs_options *options,
          const char *const *captures, GError **error)
{
    if (*target->path == '\0') {
        return refuse(target, "a name is wanted", error);
    }
    if (!g_str_equal(target->path, "-") && is_read(target->path, options, captures)) {
        return refuse(target, "is one of the files that are read", error);
    }
    return TRUE;
}

gboolean
rs_targets_check(const rs_target *targets, guint n, const rs_options *options,
                 const char *const *captures, GError **error)
{
    for (guint i = 0; i < n; i++) {
        const char *path = targets[i].path;
        if (path == NULL) {
            continue;
        }
        if (!check_one(&targets[i], options, captures, error)) {
            return FALSE;
        }
        for (guint k = 0; k < i; k++) {
            const char *other = targets[k].path;
            if (other != NULL && ((are_one_name(path, other) && !is_special(path)) ||
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

gboolean
rs_targets_probe(const rs_target *targets, guint n, GError **error)
{
    for (guint i = 0; i < n; i++) {
        if (targets[i].path != NULL && !rs_output_probe(targets[i].path, error)) {
            return FALSE;
        }
    }
    return TRUE;
}
