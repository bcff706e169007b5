/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which files are one capture: names raise the question, stamps answer it. */
#include "rotation.h"

#include "check.h"

#define MAX_FILES 8
#define N_ROWS(table) (sizeof(table) / sizeof(table)[0])

#define MS ((guint64)1000 * 1000)

/* A file: its name and its stamps in ms; "last" 0: it has none. */
typedef struct file_row {
    const char *path;
    guint64 first_ms, last_ms;
} file_row;

typedef struct set_case {
    const char *name;
    file_row files[MAX_FILES];
    const char *want; /* numbers of files; a blank between captures */
} set_case;

/* clang-format off */
static const set_case cases[] = {
    /* tcpdump -C */
    {"tcpdump -C", {{"x.pcap", 10, 20}, {"x.pcap1", 20, 30}, {"x.pcap2", 31, 40}}, "012"},
    {"ten and more", {{"x.pcap9", 10, 20}, {"x.pcap10", 20, 30}, {"x.pcap11", 31, 40}}, "012"},
    {"a file alone", {{"x.pcap", 10, 20}}, "0"},
    {"two names", {{"x.pcap", 10, 20}, {"y.pcap1", 20, 30}}, "0 1"},
    {"two directories", {{"a/x.pcap", 10, 20}, {"b/x.pcap1", 20, 30}}, "0 1"},
    {"a directory", {{"a/x.pcap", 10, 20}, {"a/x.pcap1", 20, 30}}, "01"},
    {"a number is missing", {{"x.pcap", 10, 20}, {"x.pcap1", 20, 30}, {"x.pcap3", 40, 50}, {"x.pcap4", 50, 60}}, "01 23"},
    {"without its first", {{"x.pcap3", 40, 50}, {"x.pcap4", 50, 60}}, "01"},
    {"no ring: it begins without a number", {{"x.pcap", 30, 40}, {"x.pcap1", 10, 20}, {"x.pcap2", 20, 30}}, "0 12"},
    {"the number is before the extension", {{"x1.pcap", 10, 20}, {"x2.pcap", 20, 30}}, "0 1"},
    {"extension in capitals", {{"X.CAP", 10, 20}, {"X.CAP1", 20, 30}}, "01"},
    /* times */
    {"begins when the one before ends", {{"x.pcap", 10, 20}, {"x.pcap1", 20, 30}}, "01"},
    {"steps back by the tolerance", {{"x.pcap", 10, 20}, {"x.pcap1", 15, 30}}, "01"},
    {"steps back by more", {{"x.pcap", 10, 21}, {"x.pcap1", 15, 30}}, "0 1"},
    {"inside the one before", {{"x.pcap", 10, 100}, {"x.pcap1", 40, 60}}, "0 1"},
    {"two step back", {{"x.pcap", 10, 100}, {"x.pcap1", 96, 97}, {"x.pcap2", 96, 120}}, "012"},
    {"in the wrong order", {{"x.pcap", 50, 60}, {"x.pcap1", 10, 20}}, "0 1"},
    {"no packet", {{"x.pcap", 10, 20}, {"x.pcap1", 0, 0}, {"x.pcap2", 20, 30}, {"x.pcap3", 30, 40}}, "0 1 23"},
    {"no packet at the end", {{"x.pcap", 10, 20}, {"x.pcap1", 20, 30}, {"x.pcap2", 0, 0}}, "01 2"},
    {"stamp 0", {{"x.pcap", 0, 20}, {"x.pcap1", 20, 30}}, "01"},
    /* tcpdump -C -W */
    {"tcpdump -W", {{"x.pcap00", 10, 20}, {"x.pcap01", 20, 30}, {"x.pcap02", 30, 40}}, "012"},
    {"fewer than ten", {{"x.pcap0", 10, 20}, {"x.pcap1", 20, 30}}, "01"},
    {"wrapped", {{"x.pcap0", 40, 50}, {"x.pcap1", 50, 60}, {"x.pcap2", 20, 30}, {"x.pcap3", 30, 40}}, "2301"},
    {"wrapped, two digits", {{"x.pcap00", 40, 50}, {"x.pcap01", 20, 30}, {"x.pcap02", 30, 40}}, "120"},
    {"wrapped at its first", {{"x.pcap00", 30, 40}, {"x.pcap01", 20, 30}}, "10"},
    {"wrapped, with a gap", {{"x.pcap0", 40, 50}, {"x.pcap1", 50, 60}, {"x.pcap3", 30, 40}}, "01 2"},
    {"the ring's seam overlaps", {{"x.pcap0", 40, 50}, {"x.pcap1", 20, 30}, {"x.pcap2", 30, 46}}, "0 12"},
    {"part of a ring", {{"x.pcap03", 10, 20}, {"x.pcap04", 20, 30}}, "01"},
    {"from 09 to 10", {{"x.pcap09", 10, 20}, {"x.pcap10", 20, 30}}, "01"},
    {"widths differ", {{"x.pcap01", 10, 20}, {"x.pcap002", 20, 30}}, "0 1"},
    {"a ring beside a file of its name", {{"x.pcap", 1, 10}, {"x.pcap0", 10, 20}, {"x.pcap1", 20, 30}}, "0 12"},
    {"the same number twice", {{"x.pcap", 10, 20}, {"x.pcap1", 20, 30}, {"x.pcap1.gz", 20, 30}, {"x.pcap2", 30, 40}}, "01 23"},
    /* names without an extension */
    {"no extension", {{"trace", 10, 20}, {"trace1", 20, 30}}, "01"},
    {"no extension, a ring", {{"trace00", 10, 20}, {"trace01", 20, 30}}, "01"},
    {"no extension, no beginning", {{"run1", 10, 20}, {"run2", 20, 30}}, "0 1"},
    {"no extension, a second set", {{"t", 10, 20}, {"t1", 20, 30}, {"t3", 30, 40}, {"t4", 40, 50}}, "01 2 3"},
    {"only numbers", {{"0", 10, 20}, {"1", 20, 30}, {"2", 30, 40}}, "0 1 2"},
    {"only numbers in a directory", {{"d/00", 10, 20}, {"d/01", 20, 30}}, "0 1"},
    {"only numbers, compressed", {{"1.gz", 10, 20}, {"2.gz", 20, 30}}, "0 1"},
    {"a number too long to count files", {{"x.pcap1000000000", 10, 20}, {"x.pcap1000000001", 20, 30}}, "0 1"},
    {"a long number that counts", {{"x.pcap999999998", 10, 20}, {"x.pcap999999999", 20, 30}}, "01"},
    /* dumpcap -b */
    {"dumpcap", {{"x_00001_20261121100000.pcapng", 10, 20}, {"x_00002_20261121100100.pcapng", 20, 30}}, "01"},
    {"dumpcap, the time first", {{"x_20261121100000_00001.pcapng", 10, 20}, {"x_20261121100100_00002.pcapng", 20, 30}}, "01"},
    {"dumpcap, both", {{"x_00001_20261121100000.pcapng", 10, 20}, {"x_20261121100100_00002.pcapng", 20, 30}}, "0 1"},
    {"dumpcap, its oldest are gone", {{"x_00041_20261121100000.pcap", 10, 20}, {"x_00042_20261121100100.pcap", 20, 30}}, "01"},
    {"dumpcap, a number is missing", {{"x_00001_20261121100000.pcapng", 10, 20}, {"x_00003_20261121100100.pcapng", 20, 30}}, "0 1"},
    {"dumpcap, other names", {{"x_00001_20261121100000.pcapng", 10, 20}, {"y_00002_20261121100100.pcapng", 20, 30}}, "0 1"},
    {"dumpcap, other extensions", {{"x_00001_20261121100000.pcapng", 10, 20}, {"x_00002_20261121100100.pcap", 20, 30}}, "0 1"},
    {"dumpcap, two runs", {{"x_00001_20261121100000.pcapng", 10, 20}, {"x_00001_20261121110000.pcapng", 50, 60}, {"x_00002_20261121100100.pcapng", 20, 30}, {"x_00002_20261121110100.pcapng", 60, 70}}, "02 13"},
    {"dumpcap, numbers begin again", {{"x_00000_20261121100100.pcapng", 30, 40}, {"x_00001_20261121100200.pcapng", 40, 50}, {"x_99998_20261121095900.pcapng", 10, 20}, {"x_99999_20261121100000.pcapng", 20, 30}}, "2301"},
    {"dumpcap, the clock was set back", {{"x_00001_20261025025900.pcapng", 10, 20}, {"x_00002_20261025020000.pcapng", 20, 30}}, "01"},
    {"dumpcap, no date", {{"x_00001_20261321100000.pcapng", 10, 20}, {"x_00002_20261321100100.pcapng", 20, 30}}, "0 1"},
    {"dumpcap, four digits", {{"x_0001_20261121100000.pcapng", 10, 20}, {"x_0002_20261121100100.pcapng", 20, 30}}, "0 1"},
    {"dumpcap, a name with underscores", {{"a_b_00001_20261121100000.pcapng", 10, 20}, {"a_b_00002_20261121100100.pcapng", 20, 30}}, "01"},
    /* compressed */
    {"compressed", {{"x.pcap.gz", 10, 20}, {"x.pcap1.gz", 20, 30}}, "01"},
    {"the newest is not yet compressed", {{"x.pcap.zst", 10, 20}, {"x.pcap1.zst", 20, 30}, {"x.pcap2", 30, 40}}, "012"},
    {"dumpcap, compressed", {{"x_00001_20261121100000.pcapng.lz4", 10, 20}, {"x_00002_20261121100100.pcapng.xz", 20, 30}}, "01"},
    {"compressed by what is not read", {{"x.pcap.Z", 10, 20}, {"x.pcap1.Z", 20, 30}}, "0 1"},
};
/* clang-format on */

static gboolean
tell_span(void *ctx, guint file_i, rs_span *span)
{
    const set_case *c = ctx;
    span->first_ns = c->files[file_i].first_ms * MS;
    span->last_ns = c->files[file_i].last_ms * MS;
    return c->files[file_i].last_ms > 0;
}

static char *
show_sets(const GPtrArray *sets)
{
    GString *shown = g_string_new(NULL);
    for (guint i = 0; i < sets->len; i++) {
        const GArray *set = g_ptr_array_index(sets, i);
        g_string_append(shown, i > 0 ? " " : "");
        for (guint k = 0; k < set->len; k++) {
            g_string_append_printf(shown, "%u", g_array_index(set, guint, k));
        }
    }
    return g_string_free(shown, FALSE);
}

static guint
list_paths(const set_case *c, const char **paths)
{
    guint n = 0;
    while (n < MAX_FILES && c->files[n].path != NULL) {
        paths[n] = c->files[n].path;
        n++;
    }
    return n;
}

static void
check_sets(void)
{
    for (size_t i = 0; i < N_ROWS(cases); i++) {
        check_row(cases[i].name);
        const char *paths[MAX_FILES];
        guint n = list_paths(&cases[i], paths);
        g_autoptr(GPtrArray) sets =
            rs_rotation_group(paths, n, tell_span, (void *)(guintptr)&cases[i]);
        g_autofree char *shown = show_sets(sets);
        CHECK_STR(shown, cases[i].want);
    }
}

/* Nothing that becomes a part of a set was not a candidate, and a file that has no
 * neighbour is never asked for its stamps. */
static void
check_candidates(void)
{
    /* clang-format off */
    static const struct {
        const char *name;
        const char *paths[MAX_FILES];
        const char *want; /* one digit for each: candidate or not */
    } rows[] = {
        {"nothing", {NULL}, ""},
        {"a set", {"x.pcap", "x.pcap1", "x.pcap2"}, "111"},
        {"a gap of one", {"x.pcap1", "x.pcap3"}, "00"},
        {"ends of a ring", {"x.pcap0", "x.pcap1", "x.pcap2"}, "111"},
        {"ends of no ring", {"x.pcap0", "x.pcap5"}, "00"},
        {"ends of dumpcap's ring", {"x_00000_20261121100100.pcapng", "x_99999_20261121100000.pcapng"}, "11"},
        {"the same number", {"x.pcap1", "x.pcap1.gz"}, "11"},
        {"strangers", {"a.pcap", "b.pcap", "notes.txt"}, "000"},
    };
    /* clang-format on */
    for (size_t i = 0; i < N_ROWS(rows); i++) {
        check_row(rows[i].name);
        guint n = (guint)g_strv_length((char **)(guintptr)rows[i].paths);
        g_autofree gboolean *candidate = rs_rotation_candidates(rows[i].paths, n);
        char shown[MAX_FILES + 1] = "";
        for (guint k = 0; k < n; k++) {
            shown[k] = candidate[k] ? '1' : '0';
        }
        CHECK_STR(shown, rows[i].want);
    }
}

int
main(void)
{
    check_sets();
    check_candidates();
    return check_status();
}
