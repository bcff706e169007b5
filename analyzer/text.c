/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "text.h"

#include "format.h"

const char *
rs_text_paint(const rs_text *r, const char *sequence)
{
    return r->color ? sequence : "";
}

void
rs_text_heading(const rs_text *r, const char *text)
{
    fprintf(r->out, "\n%s%s%s\n", rs_text_paint(r, "\033[1m"), text,
            rs_text_paint(r, "\033[0m"));
}

void
rs_text_wrapped(const rs_text *r, const char *text, guint indent)
{
    g_auto(GStrv) words = g_strsplit(text, " ", -1);
    guint at = 0;
    for (guint i = 0; words[i] != NULL; i++) {
        guint length = (guint)g_utf8_strlen(words[i], -1);
        if (length == 0) {
            continue; /* the second of two blanks */
        }
        if (at > 0 && at + 1 + length > r->width) {
            fputc('\n', r->out);
            at = 0;
        }
        if (at == 0) {
            at = indent;
            fprintf(r->out, "%*s%s", (int)indent, "", words[i]);
        } else {
            at += 1;
            fprintf(r->out, " %s", words[i]);
        }
        at += length;
    }
    fputc('\n', r->out);
}

guint
rs_text_rows_shown(const rs_text *r, guint n)
{
    guint top = r->analysis->options->top;
    return top == 0 ? n : MIN(n, top);
}

void
rs_text_say_more(const rs_text *r, guint n, guint shown)
{
    if (n > shown) {
        fprintf(r->out, "  … and %u more; --top 0 shows all\n", n - shown);
    }
}

char *
rs_text_point(const rs_text *r, guint32 point)
{
    return rs_points_n(r->analysis->points) > 1 ? g_strdup_printf("%u", point)
                                                : g_strdup("");
}

void
rs_text_add_count(rs_table *table, guint64 n)
{
    rs_table_add(table, rs_format_count(n));
}
