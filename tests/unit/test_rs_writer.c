/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Captures that are written, as the readers read them; tests/extract has whole ones.
 */
#include "capture_maker.h"

#include "spool.h"
#include "writer.h"

#include <string.h>

/* A file that is being written. */
static FILE *
open_written(const char *name, char **path)
{
    *path = g_build_filename(directory, name, NULL);
    return fopen(*path, "wb");
}

static rs_interface
ethernet(const char *name)
{
    static char shown[16];
    g_strlcpy(shown, name, sizeof shown);
    return (rs_interface){
        .name = shown, .link_type = 1, .ticks_per_second = 1000000000};
}

static rs_record
record_of(const guint8 *bytes, guint32 n_bytes, guint64 time_ns)
{
    return (rs_record){
        .frame = {.bytes = bytes,
                  .captured_bytes = n_bytes,
                  .wire_bytes = n_bytes,
                  .time_ns = time_ns},
        .stored_bytes = n_bytes,
        .stored_wire_bytes = n_bytes,
        .ticks = time_ns,
    };
}

/* What is too long for an option is cut between characters. */
static void
test_long_comment(void)
{
    static const guint lengths[] = {65534, 65535, 65536, 65537, 200001};
    static const guint8 frame[60];
    for (guint i = 0; i < G_N_ELEMENTS(lengths); i++) {
        g_autofree char *row = g_strdup_printf("comment of %u bytes", lengths[i]);
        check_row(row);
        g_autoptr(GString) remark = g_string_new(lengths[i] % 2 != 0 ? "x" : "");
        while (remark->len < lengths[i]) {
            g_string_append(remark, "é");
        }
        g_autofree char *path = NULL;
        FILE *out = open_written("long.pcapng", &path);
        const rs_interface interface = ethernet("eth0");
        const rs_source source = {0, &interface, NULL};
        const rs_record record = record_of(frame, sizeof frame, T0_NS);
        g_autoptr(rs_writer) writer = rs_pcapng_writer_new(out);
        CHECK(rs_writer_add(writer, &source, &record, remark->str, NULL));
        rs_writer_finish(writer);
        CHECK_INT(fclose(out), 0);

        g_autoptr(rs_reader) reader = rs_reader_open(path, NULL);
        rs_record got;
        if (CHECK(reader != NULL) && CHECK_INT(rs_reader_next(reader, &got, NULL), 1)) {
            gsize longest = 65535 - (65535 - lengths[i] % 2) % 2;
            CHECK_INT(strlen(got.comment), MIN(lengths[i], longest));
            CHECK(g_utf8_validate(got.comment, -1, NULL));
            CHECK(g_str_has_prefix(remark->str, got.comment));
        }
    }
}

static void
test_pcap_limits(void)
{
    static const guint8 frame[60];
    const struct {
        const char *name;
        guint64 place, time_ns;
        gboolean good;
    } rows[] = {
        {"the same place", 0, T0_NS, TRUE},
        {"another place", 1, T0_NS, FALSE},
        {"the last second", 0, UINT64_C(4294967295999999999), TRUE},
        {"beyond it", 0, UINT64_C(4294967296000000000), FALSE},
    };
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        check_row(rows[i].name);
        g_autofree char *path = NULL;
        FILE *out = open_written("limits.pcap", &path);
        const rs_interface interface = ethernet("eth0");
        const rs_source first = {0, &interface, NULL};
        const rs_source second = {rows[i].place, &interface, NULL};
        rs_record record = record_of(frame, sizeof frame, T0_NS);
        g_autoptr(rs_writer) writer = rs_pcap_writer_new(out);
        CHECK(rs_writer_add(writer, &first, &record, "lost", NULL));
        record.frame.time_ns = rows[i].time_ns;
        g_autoptr(GError) error = NULL;
        CHECK_INT(rs_writer_add(writer, &second, &record, NULL, &error), rows[i].good);
        CHECK_INT(error == NULL, rows[i].good);
        CHECK_INT(rs_writer_packets(writer), rows[i].good ? 2 : 1);
        rs_writer_declare(writer, &second);
        rs_writer_finish(writer);
        CHECK_INT(ftell(out), 24 + (16 + 60) * (rows[i].good ? 2 : 1));
        CHECK_INT(fclose(out), 0);
    }
}

/* An interface that changes what its packets are read by is another one. */
static void
test_changed_interface(void)
{
    check_row("a changed interface");
    static const guint8 frame[60];
    g_autofree char *path = NULL;
    FILE *out = open_written("changed.pcapng", &path);
    const rs_interface before = ethernet("eth0");
    rs_interface after = before;
    after.ticks_per_second = 1000000;
    rs_record record = record_of(frame, sizeof frame, T0_NS);
    g_autoptr(rs_writer) writer = rs_pcapng_writer_new(out);
    CHECK(rs_writer_add(writer, &(rs_source){5, &before, NULL}, &record, NULL, NULL));
    record.ticks = T0_US;
    CHECK(rs_writer_add(writer, &(rs_source){5, &after, NULL}, &record, NULL, NULL));
    record.ticks = T0_NS;
    CHECK(rs_writer_add(writer, &(rs_source){5, &before, NULL}, &record, NULL, NULL));
    rs_writer_finish(writer);
    CHECK_INT(fclose(out), 0);

    g_autoptr(rs_reader) reader = rs_reader_open(path, NULL);
    static const guint interfaces[] = {0, 1, 0};
    for (guint i = 0; i < G_N_ELEMENTS(interfaces); i++) {
        rs_record got;
        CHECK_INT(rs_reader_next(reader, &got, NULL), 1);
        CHECK_INT(got.interface, interfaces[i]);
        CHECK_INT(got.frame.time_ns, T0_NS);
    }
}

/* ---- Rows on the disk ---- */

static void
test_rows(void)
{
    check_row("rows");
    g_autoptr(rs_spooled_rows) rows = rs_spooled_rows_new(24, NULL);
    if (!CHECK(rows != NULL)) {
        return;
    }
    CHECK_INT(rs_spooled_rows_n(rows), 0);
    static const guint64 numbers[] = {0, 1, 43690, 43691, 1000000, 7};
    for (guint i = 0; i < G_N_ELEMENTS(numbers); i++) {
        guint64 *row = rs_spooled_rows_make(rows, numbers[i], NULL);
        if (!CHECK(row != NULL)) {
            return;
        }
        CHECK_INT(row[0] | row[1] | row[2], 0);
        row[0] = row[2] = numbers[i] + 1;
    }
    CHECK_INT(rs_spooled_rows_n(rows), 1000001);
    for (guint i = 0; i < G_N_ELEMENTS(numbers); i++) {
        const guint64 *row = rs_spooled_rows_at(rows, numbers[i]);
        CHECK_INT(row[0], numbers[i] + 1);
        CHECK_INT(row[2], numbers[i] + 1);
    }
    CHECK_INT(*(const guint64 *)rs_spooled_rows_at(rows, 2), 0);

    check_row("more rows than any disk has");
    g_autoptr(GError) error = NULL;
    CHECK(rs_spooled_rows_make(rows, G_MAXUINT64, &error) == NULL);
    CHECK(error != NULL);
}

int
main(void)
{
    if (!make_directory()) {
        return check_status();
    }
    test_long_comment();
    test_pcap_limits();
    test_changed_interface();
    test_rows();
    remove_directory();
    return check_status();
}
