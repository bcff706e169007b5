/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The tables of columns as a document. */
#include "csv_compare.h"
#include "database_schema.h"
#include "sheets.h"

static const char head[] =
    "# Tables\n"
    "\n"
    "The report as tables: what `--csv DIR` writes, a file for each, and what the "
    "[database](#in-the-database) of `rocescope batch` holds. This page is the "
    "program's own list, written "
    "by `rocescope --list-columns`.\n"
    "\n"
    "Each column is a path into the [JSON report](report.md), which explains what the "
    "number is, how it is computed and what it cannot show; a table cannot say "
    "anything else. The path of most tables begins at an element of the array of that "
    "name. In tables that *belong to* another one, `of` is the `id` of the row that a "
    "row belongs to, `item` is the element, and `key` is its name.\n"
    "\n"
    "Types are `integer`, `real`, `text` and `boolean`. A value that is not known is "
    "null: in CSV an empty field, as is an empty text. Times are nanoseconds, since "
    "1970-01-01 UTC or between two events. Lists are texts with blanks between their "
    "elements. A column that refers to another table has the `id` of one of its rows; "
    "rows beyond `--max-streams` are not there. Parts of the report that are no lists "
    "of like things (incast, spreading, rhythm and others) stand in the JSON report "
    "alone.\n"
    "\n"
    "CSV files are UTF-8, begin with a line of names, end lines with LF, and quote as "
    "RFC 4180 has it. A record is one line: characters that do not print are written "
    "as in the text report, `\\x1b`. A text that begins with `=`, `+`, `-` or `@` has "
    "an apostrophe in front of it, so that no spreadsheet takes it for a formula; "
    "numbers have none.\n";

static void
print_column(FILE *out, const rs_sheet_column *column)
{
    fprintf(out, "| `%s` | `%s` | %s | %s%s%s%s |\n", column->name, column->path,
            rs_value_type_name(column->type), column->what,
            column->refers != NULL ? "; refers to `" : "",
            column->refers != NULL ? column->refers : "",
            column->refers != NULL ? "`" : "");
}

static void
print_sheet(FILE *out, const char *level, const rs_sheet *sheet)
{
    fprintf(out, "\n%s `%s`\n\n%s.", level, sheet->name, sheet->what);
    if (sheet->of != NULL) {
        fprintf(out, " Belong to `%s`: the elements of `%s`.", sheet->of, sheet->list);
    }
    fputs("\n\n| column | path | type | what |\n|---|---|---|---|\n", out);
    for (guint i = 0; i < sheet->n_columns; i++) {
        print_column(out, &sheet->columns[i]);
    }
}

static void
print_database(FILE *out)
{
    const char *between = "";
    fputs("\n## In the database\n\nThe database of a batch has these tables, but not",
          out);
    for (guint i = 0; i < rs_n_sheets; i++) {
        if (!rs_database_keeps(&rs_sheets[i])) {
            fprintf(out, "%s `%s`", between, rs_sheets[i].name);
            between = " and";
        }
    }
    fputs(". In front of each row stands `capture`, the `id` of its capture, by which "
          "tables are joined together with an `id` of their own; booleans are 0 and 1. "
          "`captures` has columns of its own in front:\n"
          "\n| column | what |\n|---|---|\n",
          out);
    for (guint i = 0; i < rs_database_n_head_columns; i++) {
        fprintf(out, "| `%s` | %s |\n", rs_database_head_columns[i].name,
                rs_database_head_columns[i].what);
    }
    fputs("\n[batch.md](batch.md) has questions to ask it.\n", out);
}

static void
print_comparison(FILE *out)
{
    fputs("\n## Of a comparison\n\n`rocescope compare --csv DIR` writes these instead; "
          "their paths lead into its own report, which [compare.md](compare.md) "
          "explains. In tables that belong to another one, `of` is here the element "
          "that a row belongs to.\n",
          out);
    for (guint i = 0; i < rs_n_compare_sheets; i++) {
        print_sheet(out, "###", &rs_compare_sheets[i]);
    }
}

void
rs_sheets_print_tables(FILE *out)
{
    fputs(head, out);
    for (guint i = 0; i < rs_n_sheets; i++) {
        print_sheet(out, "##", &rs_sheets[i]);
    }
    print_database(out);
    print_comparison(out);
}
