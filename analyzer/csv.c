/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "csv.h"

#include "format.h"

#include <string.h>

#define MOST_DIGITS 17 /* that a double can need */
#define DIGITS_TRIED 15

void
rs_csv_init(rs_csv *csv, FILE *out)
{
    *csv = (rs_csv){.out = out};
}

static void
begin_field(rs_csv *csv)
{
    if (csv->n_fields++ > 0) {
        (void)fputc(',', csv->out);
    }
}

void
rs_csv_null(rs_csv *csv)
{
    begin_field(csv);
}

void
rs_csv_integer(rs_csv *csv, gint64 n)
{
    begin_field(csv);
    fprintf(csv->out, "%" G_GINT64_FORMAT, n);
}

void
rs_csv_real(rs_csv *csv, double x)
{
    char text[G_ASCII_DTOSTR_BUF_SIZE];
    for (int digits = DIGITS_TRIED; digits <= MOST_DIGITS; digits++) {
        char format[8];
        (void)g_snprintf(format, sizeof format, "%%.%dg", digits);
        (void)g_ascii_formatd(text, sizeof text, format, x);
        if (g_ascii_strtod(text, NULL) == x) {
            break;
        }
    }
    begin_field(csv);
    (void)fputs(text, csv->out);
}

void
rs_csv_boolean(rs_csv *csv, gboolean b)
{
    begin_field(csv);
    (void)fputs(b ? "true" : "false", csv->out);
}

/* Spreadsheets take these for the beginning of a formula, the last four in some
 * languages. */
static gboolean
begins_formula(const char *text)
{
    static const char *const beginnings[] = {"=",  "+",  "-",  "@",
                                             "＝", "＋", "－", "＠"};
    for (guint i = 0; i < G_N_ELEMENTS(beginnings); i++) {
        if (g_str_has_prefix(text, beginnings[i])) {
            return TRUE;
        }
    }
    return FALSE;
}

void
rs_csv_text(rs_csv *csv, const char *text)
{
    g_autofree char *safe = rs_format_safe(text);
    gboolean guarded = begins_formula(safe);
    gboolean quoted = strpbrk(safe, ",\"") != NULL;
    begin_field(csv);
    (void)fputs(quoted ? "\"" : "", csv->out);
    (void)fputs(guarded ? "'" : "", csv->out);
    for (const char *at = safe; *at != '\0'; at++) {
        (void)fputs(*at == '"' ? "\"" : "", csv->out);
        (void)fputc(*at, csv->out);
    }
    (void)fputs(quoted ? "\"" : "", csv->out);
}

void
rs_csv_end_record(rs_csv *csv)
{
    (void)fputc('\n', csv->out);
    csv->n_fields = 0;
}
