/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The short way of decoding against the long one, over every capture of the tree. */
#include "two_ways.h"

#include "reader.h"

typedef struct tally {
    guint64 frames, taken, files;
} tally;

static gboolean
read_capture(const char *path, const roce_ports *ports, tally *t)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(rs_reader) reader = rs_reader_open(path, &error);
    check_row(path);
    if (!CHECK(reader != NULL)) {
        return FALSE;
    }
    rs_record record;
    while (rs_reader_next(reader, &record, &error) == 1) {
        bool taken;
        t->frames++;
        if (!two_ways_agree(&record.frame, ports, &taken)) {
            return FALSE;
        }
        t->taken += taken ? 1 : 0;
    }
    t->files++;
    return TRUE;
}

static gboolean
read_captures_of(const char *directory, const roce_ports *ports, tally *t)
{
    g_autoptr(GDir) dir = g_dir_open(directory, 0, NULL);
    const char *name;
    gboolean good = TRUE;
    while (dir != NULL && good && (name = g_dir_read_name(dir)) != NULL) {
        g_autofree char *path = g_build_filename(directory, name, NULL);
        if (strstr(name, ".pcap") != NULL) {
            good = read_capture(path, ports, t);
        } else if (g_file_test(path, G_FILE_TEST_IS_DIR)) {
            good = read_captures_of(path, ports, t);
        }
    }
    return good;
}

int
main(void)
{
    g_autofree char *captures =
        g_build_filename(g_getenv("ROCESCOPE_SOURCE"), "captures", NULL);
    roce_ports ports;
    roce_ports_init(&ports);
    tally t = {0};
    read_captures_of(captures, &ports, &t);
    check_row("captures");
    CHECK(t.files > 20);
    CHECK(t.taken > t.frames / 2);
    CHECK(t.taken < t.frames);
    return check_status();
}
