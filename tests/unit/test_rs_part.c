/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parts: what was written is read, and damage anywhere is seen. */
#include "part.h"

#include "check.h"

#include <glib/gstdio.h>
#include <unistd.h>

static const char *const columns[] = {"id", "name", "share"};

/* Writes a part with rows of two sheets, one in between the other's. */
static void
write_part(const char *path)
{
    g_autoptr(GError) error = NULL;
    rs_part_writer *writer = rs_part_writer_new(
        path, json_pack("{s:s,s:n}", "name", "x.pcap", "key"), &error);
    CHECK(writer != NULL);
    rs_part_writer_add(writer, "streams", columns, 3,
                       json_pack("[i,s,f]", 7, "end\n{\"end\":1}", 0.25));
    rs_part_writer_add(writer, "others", columns, 1, json_pack("[n]"));
    rs_part_writer_add(writer, "streams", columns, 3, json_pack("[i,n,n]", 8));
    CHECK(rs_part_writer_commit(writer, &error));
}

static void
check_rows(const char *path)
{
    static const struct {
        const char *name, *sheet;
        guint n_columns;
        int id; /* 0: null */
    } rows[] = {{"first", "streams", 3, 7},
                {"other", "others", 1, 0},
                {"last", "streams", 3, 8}};
    g_autoptr(rs_part) part = rs_part_open(path, NULL);
    if (!CHECK(part != NULL)) {
        return;
    }
    const json_t *head = rs_part_head(part);
    CHECK_STR(json_string_value(json_object_get(head, "name")), "x.pcap");
    CHECK_INT(json_integer_value(json_object_get(head, "rocescope_part")), 1);
    rs_part_row row;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        check_row(rows[i].name);
        if (!CHECK(rs_part_next(part, &row))) {
            return;
        }
        CHECK_STR(row.sheet, rows[i].sheet);
        CHECK_INT(json_array_size(row.columns), rows[i].n_columns);
        CHECK_INT(json_array_size(row.values), rows[i].n_columns);
        CHECK_INT(json_integer_value(json_array_get(row.values, 0)), rows[i].id);
    }
    check_row("end");
    CHECK(!rs_part_next(part, &row));
}

static gboolean
opens(const char *path, const char *content, gsize size)
{
    CHECK(g_file_set_contents(path, content, (gssize)size, NULL));
    g_autoptr(rs_part) part = rs_part_open(path, NULL);
    return part != NULL;
}

static void
check_damage(const char *path)
{
    g_autofree char *content = NULL;
    gsize size = 0;
    CHECK(g_file_get_contents(path, &content, &size, NULL));
    for (gsize i = 0; i < size; i++) {
        g_autofree char *name = g_strdup_printf("byte %" G_GSIZE_FORMAT, i);
        check_row(name);
        content[i] ^= 1;
        CHECK(!opens(path, content, size));
        content[i] ^= 1;
        CHECK(!opens(path, content, i)); /* cut before it */
    }
    check_row("whole again");
    CHECK(opens(path, content, size));
    check_row("with something behind it");
    g_autofree char *longer = g_strconcat(content, "{}\n", NULL);
    CHECK(!opens(path, longer, strlen(longer)));
}

int
main(void)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *folder = g_dir_make_tmp("rocescope-XXXXXX", &error);
    CHECK(folder != NULL);
    g_autofree char *path = g_build_filename(folder, "part", NULL);
    CHECK(rs_part_open(path, NULL) == NULL);
    write_part(path);
    check_rows(path);
    check_damage(path);
    (void)g_unlink(path);
    (void)g_rmdir(folder);
    return check_status();
}
