/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "batch_names.h"

#include "digest.h"

#include <string.h>

#define WORD_BYTES 180 /* with an extension behind it, below the 255 of file systems */
#define CUT_BYTES 140
#define NAME_BYTES 3000 /* with a directory before it, below the 4096 of Linux */
#define PLAIN "._+=,@-"

static const char *const report_extensions[] = {".json", ".html", ".jsonl"};

static gboolean
is_plain(char c)
{
    return g_ascii_isalnum(c) || (c != '\0' && strchr(PLAIN, c) != NULL);
}

static void
append_escaped(GString *text, char c)
{
    g_string_append_printf(text, "~%02X", (guint8)c);
}

static void
append_digest(GString *text, const char *of)
{
    g_autoptr(rs_digest) digest = rs_digest_new();
    rs_digest_add(digest, of, strlen(of));
    g_autofree char *digits = rs_digest_text(digest);
    g_string_append_printf(text, "~~%s", digits);
}

/* Where the extension of a report begins in a word, or NULL. */
static const char *
report_extension(const char *word)
{
    for (guint i = 0; i < G_N_ELEMENTS(report_extensions); i++) {
        if (g_str_has_suffix(word, report_extensions[i])) {
            return word + strlen(word) - strlen(report_extensions[i]);
        }
    }
    return NULL;
}

static void
append_word(GString *name, const char *word, gboolean is_directory)
{
    g_autoptr(GString) safe = g_string_new(NULL);
    const char *extension = is_directory ? report_extension(word) : NULL;
    for (const char *c = word; *c != '\0'; c++) {
        gboolean leads = c == word && (*c == '.' || *c == '-');
        if (is_plain(*c) && !leads && c != extension) {
            g_string_append_c(safe, *c);
        } else {
            append_escaped(safe, *c);
        }
    }
    if (safe->len > WORD_BYTES) {
        g_string_truncate(safe, CUT_BYTES);
        append_digest(safe, word);
    }
    g_string_append(name, safe->str);
}

static void
append_path(GString *name, const char *tidy, gboolean is_directory)
{
    g_auto(GStrv) words = g_strsplit(tidy, "/", -1);
    for (guint i = 0; words[i] != NULL; i++) {
        if (*words[i] != '\0') {
            append_word(name, words[i], is_directory || words[i + 1] != NULL);
        } else if (i == 0) {
            g_string_append_c(name, '~'); /* from the root */
        }
        if (words[i + 1] != NULL) {
            g_string_append_c(name, '/');
        }
    }
}

char *
rs_batch_name(const char *label, const char *path)
{
    g_autofree char *tidy = rs_batch_path_tidy(path);
    g_autofree char *tidy_label = label != NULL ? rs_batch_path_tidy(label) : NULL;
    g_autoptr(GString) name = g_string_new(NULL);
    if (tidy_label != NULL) {
        append_path(name, tidy_label, TRUE);
        g_string_append_c(name, '/');
    }
    append_path(name, tidy, FALSE);
    if (name->len > NAME_BYTES) {
        g_autofree char *whole = g_strdup(name->str);
        g_string_truncate(name, 0);
        append_digest(name, tidy_label != NULL ? whole : tidy);
    }
    return g_strdup(name->str);
}

gboolean
rs_batch_name_is_safe(const char *name)
{
    g_auto(GStrv) words = g_strsplit(name, "/", -1);
    for (guint i = 0; words[i] != NULL; i++) {
        if (*words[i] == '\0' || *words[i] == '.' || *words[i] == '-') {
            return FALSE;
        }
        for (const char *c = words[i]; *c != '\0'; c++) {
            if (!is_plain(*c) && *c != '~') {
                return FALSE;
            }
        }
    }
    return words[0] != NULL;
}

char *
rs_batch_path_tidy(const char *path)
{
    g_auto(GStrv) words = g_strsplit(path, "/", -1);
    g_autoptr(GString) tidy = g_string_new(*path == '/' ? "/" : NULL);
    for (guint i = 0; words[i] != NULL; i++) {
        if (*words[i] == '\0' || g_str_equal(words[i], ".")) {
            continue;
        }
        if (tidy->len > 0 && tidy->str[tidy->len - 1] != '/') {
            g_string_append_c(tidy, '/');
        }
        g_string_append(tidy, words[i]);
    }
    return g_strdup(tidy->len > 0 ? tidy->str : ".");
}
