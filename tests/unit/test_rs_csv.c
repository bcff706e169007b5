/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Comma-separated values: what a field and a record become. */
#include "check.h"
#include "csv.h"

static const struct {
    const char *name, *text, *want;
} texts[] = {
    {"plain", "eth0", "eth0"},
    {"empty", "", ""},
    {"a comma", "a,b", "\"a,b\""},
    {"a quote", "a\"b", "\"a\"\"b\""},
    {"nothing but a quote", "\"", "\"\"\"\""},
    {"blanks stay", " a b ", " a b "},
    {"a line feed does not end the record", "a\nb", "a\\x0ab"},
    {"nor does a carriage return", "a\r\nb", "a\\x0d\\x0ab"},
    {"a terminal's escape", "\033[31mred", "\\x1b[31mred"},
    {"what turns the direction of text", "a\u202eb", "a\\x202eb"},
    {"no UTF-8", "a\xff", "a\\xff"},
    {"other letters", "häuser", "häuser"},
    {"a formula", "=1+1", "'=1+1"},
    {"a formula with a comma", "=A(1,2)", "\"'=A(1,2)\""},
    {"plus", "+1", "'+1"},
    {"minus", "-1", "'-1"},
    {"at", "@A1", "'@A1"},
    {"a wide equals sign", "＝1", "'＝1"},
    {"a tab before it", "\t=1", "\\x09=1"},
    {"not at the beginning", "a=1", "a=1"},
    {"an apostrophe stays", "'a", "'a"},
};

static const struct {
    const char *name;
    double x;
    const char *want;
} reals[] = {
    {"zero", 0, "0"},
    {"a tenth", 0.1, "0.1"},
    {"a third", 1.0 / 3, "0.3333333333333333"},
    {"needs all digits", 0.1 + 0.2, "0.30000000000000004"},
    {"whole", 12, "12"},
    {"negative", -2.5, "-2.5"},
    {"small", 1e-9, "1e-09"},
};

static const struct {
    const char *name;
    gint64 n;
    const char *want;
} integers[] = {
    {"zero", 0, "0"},
    {"a time", 1795000000000000590, "1795000000000000590"},
    {"greatest", G_MAXINT64, "9223372036854775807"},
    {"least", G_MININT64, "-9223372036854775808"},
};

/* What was written to a stream since it was opened; g_free(). */
typedef struct sink {
    char *text;
    size_t length;
    FILE *stream;
} sink;

static rs_csv
open_sink(sink *s)
{
    rs_csv csv;
    s->stream = open_memstream(&s->text, &s->length);
    rs_csv_init(&csv, s->stream);
    return csv;
}

static void
check_sink(sink *s, const char *want)
{
    fclose(s->stream);
    CHECK_STR(s->text, want);
    free(s->text);
}

static void
check_fields(void)
{
    for (guint i = 0; i < G_N_ELEMENTS(texts); i++) {
        sink s;
        rs_csv csv = open_sink(&s);
        rs_csv_text(&csv, texts[i].text);
        check_row(texts[i].name);
        check_sink(&s, texts[i].want);
    }
    for (guint i = 0; i < G_N_ELEMENTS(integers); i++) {
        sink s;
        rs_csv csv = open_sink(&s);
        rs_csv_integer(&csv, integers[i].n);
        check_row(integers[i].name);
        check_sink(&s, integers[i].want);
    }
}

static void
check_reals(void)
{
    for (guint i = 0; i < G_N_ELEMENTS(reals); i++) {
        sink s;
        rs_csv csv = open_sink(&s);
        rs_csv_real(&csv, reals[i].x);
        check_row(reals[i].name);
        check_sink(&s, reals[i].want);
    }
}

static void
check_records(void)
{
    sink s;
    rs_csv csv = open_sink(&s);
    rs_csv_text(&csv, "a");
    rs_csv_text(&csv, "b");
    rs_csv_end_record(&csv);
    rs_csv_null(&csv);
    rs_csv_boolean(&csv, TRUE);
    rs_csv_null(&csv);
    rs_csv_boolean(&csv, FALSE);
    rs_csv_end_record(&csv);
    rs_csv_null(&csv);
    rs_csv_end_record(&csv);
    check_row("records");
    check_sink(&s, "a,b\n,true,,false\n\n");
}

int
main(void)
{
    check_fields();
    check_reals();
    check_records();
    return check_status();
}
