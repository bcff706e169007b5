/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "help.h"

#include <string.h>

#define WIDTH 80
#define NAME_INDENT 2
#define WHAT_COLUMN 25 /* where the second column begins */

/* Prints words from column `at` on, and in further lines from column `indent` on. */
static void
print_words(FILE *out, const char *text, glong indent, glong at)
{
    g_auto(GStrv) words = g_strsplit(text, " ", -1);
    glong start = at;
    for (guint i = 0; words[i] != NULL; i++) {
        glong width = g_utf8_strlen(words[i], -1);
        if (at > start && at + 1 + width > WIDTH) {
            fprintf(out, "\n%*s", (int)indent, "");
            start = at = indent;
        }
        fprintf(out, "%s%s", at > start ? " " : "", words[i]);
        at += width + (at > start ? 1 : 0);
    }
    (void)fputc('\n', out);
}

void
rs_help_text(FILE *out, const char *text)
{
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    for (guint i = 0; lines[i] != NULL; i++) {
        print_words(out, lines[i], 0, 0);
    }
}

void
rs_help_heading(FILE *out, const char *text)
{
    fprintf(out, "\n%s:\n", text);
}

void
rs_help_row(FILE *out, const char *name, const char *what)
{
    glong end = NAME_INDENT + g_utf8_strlen(name, -1);
    fprintf(out, "%*s%s", NAME_INDENT, "", name);
    if (end + 1 > WHAT_COLUMN) {
        (void)fputc('\n', out);
        end = 0;
    }
    fprintf(out, "%*s", (int)(WHAT_COLUMN - end), "");
    print_words(out, what, WHAT_COLUMN, WHAT_COLUMN);
}

char *
rs_help_option_name(const GOptionEntry *entry)
{
    char letter[] = {'-', entry->short_name, ',', ' ', '\0'};
    return g_strconcat(entry->short_name != '\0' ? letter : "    ", "--",
                       entry->long_name, entry->arg_description != NULL ? "=" : "",
                       entry->arg_description, NULL);
}
