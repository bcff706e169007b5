/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parts that threads read ahead: the same rows, in the same order, with any number of them,
 * wherever who asks stops. */
#include "parts_ahead.h"

#include "check.h"

#include <glib/gstdio.h>

static const char *const columns[] = {"part", "row"};

/* More rows than readers hold, none, few, and just as many as a batch has. */
static const guint n_rows[] = {5000, 0, 3, 256, 1, 3000, 257};
#define N_PARTS G_N_ELEMENTS(n_rows)
#define DAMAGED 4u

static void
write_part(const char *path, guint part)
{
    rs_part_writer *writer =
        rs_part_writer_new(path, json_pack("{s:i}", "number", (int)part), NULL);
    if (!CHECK(writer != NULL)) {
        return;
    }
    for (guint i = 0; i < n_rows[part]; i++) {
        rs_part_writer_add(writer, i % 3 == 0 ? "streams" : "others", columns, 2,
                           json_pack("[i,i]", (int)part, (int)i));
    }
    CHECK(rs_part_writer_commit(writer, NULL));
}

static GPtrArray *
write_parts(const char *folder)
{
    GPtrArray *paths = g_ptr_array_new_with_free_func(g_free);
    for (guint i = 0; i < N_PARTS; i++) {
        char *path = g_strdup_printf("%s/%u", folder, i);
        write_part(path, i);
        g_ptr_array_add(paths, path);
    }
    return paths;
}

static gboolean
opens(rs_parts_ahead *ahead, guint part)
{
    const json_t *head = rs_parts_ahead_open(ahead, NULL);
    return CHECK(head != NULL) &&
           CHECK_INT(json_integer_value(json_object_get(head, "number")), part);
}

/* The first `n` rows of the part that was opened. */
static void
check_rows(rs_parts_ahead *ahead, guint part, guint n)
{
    for (guint i = 0; i < n; i++) {
        rs_part_row row;
        if (!CHECK(rs_parts_ahead_next(ahead, &row))) {
            return;
        }
        CHECK_STR(row.sheet, i % 3 == 0 ? "streams" : "others");
        CHECK_STR(json_string_value(json_array_get(row.columns, 1)), columns[1]);
        CHECK_INT(json_integer_value(json_array_get(row.values, 0)), part);
        CHECK_INT(json_integer_value(json_array_get(row.values, 1)), i);
    }
}

static void
check_all(const GPtrArray *paths, guint n_threads)
{
    g_autoptr(rs_parts_ahead) ahead = rs_parts_ahead_new(paths, n_threads);
    for (guint part = 0; part < N_PARTS; part++) {
        rs_part_row row;
        if (!opens(ahead, part)) {
            return;
        }
        check_rows(ahead, part, n_rows[part]);
        CHECK(!rs_parts_ahead_next(ahead, &row));
        CHECK(!rs_parts_ahead_next(ahead, &row));
    }
}

/* Who asks takes few rows of each, and none of what comes behind `last`. */
static void
check_some(const GPtrArray *paths, guint n_threads, guint last)
{
    g_autoptr(rs_parts_ahead) ahead = rs_parts_ahead_new(paths, n_threads);
    for (guint part = 0; part < last && opens(ahead, part); part++) {
        check_rows(ahead, part, MIN(n_rows[part], 2));
    }
}

static void
check_damage(const GPtrArray *paths, guint n_threads)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(rs_parts_ahead) ahead = rs_parts_ahead_new(paths, n_threads);
    for (guint part = 0; part < DAMAGED && opens(ahead, part); part++) {
        check_rows(ahead, part, n_rows[part]);
    }
    CHECK(rs_parts_ahead_open(ahead, &error) == NULL);
    CHECK(error != NULL);
}

int
main(void)
{
    g_autofree char *folder = g_dir_make_tmp("rocescope-XXXXXX", NULL);
    CHECK(folder != NULL);
    g_autoptr(GPtrArray) paths = write_parts(folder);
    for (guint n_threads = 0; n_threads <= N_PARTS + 1; n_threads++) {
        g_autofree char *name = g_strdup_printf("%u threads", n_threads);
        check_row(name);
        check_all(paths, n_threads);
        for (guint last = 0; last <= N_PARTS; last++) {
            check_some(paths, n_threads, last);
        }
    }
    CHECK(g_file_set_contents(g_ptr_array_index(paths, DAMAGED), "{}\n", -1, NULL));
    for (guint n_threads = 0; n_threads <= 3; n_threads++) {
        g_autofree char *name = g_strdup_printf("damaged, %u threads", n_threads);
        check_row(name);
        check_damage(paths, n_threads);
    }
    for (guint i = 0; i < N_PARTS; i++) {
        (void)g_unlink(g_ptr_array_index(paths, i));
    }
    (void)g_rmdir(folder);
    return check_status();
}
