/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "batch_share.h"

#include "error.h"
#include "rotation.h"
#include "sorting.h"

#include <string.h>

/* Files that stay together. */
typedef struct unit {
    guint first; /* the least number of its files */
    guint64 bytes;
} unit;

/* ---- which share is wanted ---- */

static gboolean
fail(GError **error, const char *what)
{
    g_set_error(error, RS_ERROR, RS_ERROR_USAGE, "--shard: %s", what);
    return FALSE;
}

/* A variable of Slurm's; FALSE: it is not set, or not to a number. */
static gboolean
read_variable(const char *name, guint64 *value)
{
    const char *text = g_getenv(name);
    return text != NULL &&
           g_ascii_string_to_unsigned(text, 10, 0, G_MAXUINT32, value, NULL);
}

/* Arrays may begin anywhere, and go in steps. */
static gboolean
take_slurm(rs_batch_share *share, GError **error)
{
    guint64 id, least, greatest, count;
    guint64 step = 1;
    (void)read_variable("SLURM_ARRAY_TASK_STEP", &step);
    if (!read_variable("SLURM_ARRAY_TASK_ID", &id) ||
        !read_variable("SLURM_ARRAY_TASK_MIN", &least) ||
        !read_variable("SLURM_ARRAY_TASK_MAX", &greatest) ||
        !read_variable("SLURM_ARRAY_TASK_COUNT", &count)) {
        return fail(error, "this is no task of a Slurm array");
    }
    if (step == 0 || id < least || id > greatest || (id - least) % step != 0 ||
        (greatest - least) / step + 1 != count) {
        return fail(error,
                    "this Slurm array has gaps, so that it does not say how many "
                    "shares there are: give I/N");
    }
    if (count > RS_BATCH_MAX_SHARES) {
        return fail(error, "at most 4096 shares");
    }
    *share = (rs_batch_share){(guint)((id - least) / step) + 1, (guint)count};
    return TRUE;
}

gboolean
rs_batch_share_parse(const char *text, rs_batch_share *share, GError **error)
{
    if (g_str_equal(text, "slurm")) {
        return take_slurm(share, error);
    }
    guint64 number = 0;
    guint64 of = 0;
    g_auto(GStrv) words = g_strsplit(text, "/", 3);
    if (g_strv_length(words) != 2 ||
        !g_ascii_string_to_unsigned(words[1], 10, 1, RS_BATCH_MAX_SHARES, &of, NULL) ||
        !g_ascii_string_to_unsigned(words[0], 10, 1, of, &number, NULL)) {
        return fail(error,
                    "I/N wanted, with I from 1 to N and N at most 4096, or slurm");
    }
    *share = (rs_batch_share){(guint)number, (guint)of};
    return TRUE;
}

/* ---- what is in each ---- */

static gint
by_bytes(gconstpointer a, gconstpointer b)
{
    const unit *x = a;
    const unit *y = b;
    if (x->bytes != y->bytes) {
        return x->bytes > y->bytes ? -1 : 1;
    }
    return rs_by_number(x->first, y->first);
}

/* Units, the largest first; `unit_of` has the least number of each file's unit. */
static GArray *
list_units(const GPtrArray *files, const guint *unit_of)
{
    GArray *units = g_array_new(FALSE, FALSE, sizeof(unit));
    g_autofree guint *at = g_new(guint, MAX(files->len, 1));
    for (guint i = 0; i < files->len; i++) {
        const rs_batch_file *file = g_ptr_array_index(files, i);
        if (unit_of[i] == i) {
            const unit new = {.first = i};
            at[i] = units->len;
            g_array_append_val(units, new);
        }
        g_array_index(units, unit, at[unit_of[i]]).bytes += file->bytes;
    }
    g_array_sort(units, by_bytes);
    return units;
}

/* Whether share `a` is to get the next unit rather than `b`. */
static gboolean
is_before(const rs_batch_share_size *sizes, guint a, guint b)
{
    if (sizes[a].bytes != sizes[b].bytes) {
        return sizes[a].bytes < sizes[b].bytes;
    }
    return sizes[a].inputs != sizes[b].inputs ? sizes[a].inputs < sizes[b].inputs
                                              : a < b;
}

/* The first of a heap of shares has got more: puts it where it belongs. */
static void
sink(guint *heap, guint n, const rs_batch_share_size *sizes)
{
    guint at = 0;
    for (guint child = 1; child < n; child = 2 * at + 1) {
        if (child + 1 < n && is_before(sizes, heap[child + 1], heap[child])) {
            child++;
        }
        if (is_before(sizes, heap[at], heap[child])) {
            return;
        }
        guint up = heap[child];
        heap[child] = heap[at];
        heap[at] = up;
        at = child;
    }
}

guint *
rs_batch_share_divide(const GPtrArray *files, guint of, rs_batch_share_size *sizes)
{
    g_autofree const char **paths = g_new(const char *, files->len + 1);
    for (guint i = 0; i < files->len; i++) {
        paths[i] = ((const rs_batch_file *)g_ptr_array_index(files, i))->path;
    }
    g_autofree guint *unit_of = rs_rotation_units(paths, files->len);
    g_autoptr(GArray) units = list_units(files, unit_of);
    g_autofree guint *heap = g_new(guint, of);
    guint *share_of = g_new0(guint, MAX(files->len, 1));
    memset(sizes, 0, of * sizeof *sizes);
    for (guint i = 0; i < of; i++) {
        heap[i] = i; /* all are empty */
    }
    for (guint i = 0; i < units->len; i++) {
        const unit *u = &g_array_index(units, unit, i);
        share_of[u->first] = heap[0];
        sizes[heap[0]].inputs++;
        sizes[heap[0]].bytes += u->bytes;
        sink(heap, of, sizes);
    }
    for (guint i = 0; i < files->len; i++) {
        share_of[i] = share_of[unit_of[i]];
    }
    return share_of;
}
